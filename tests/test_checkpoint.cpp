// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "compute/checkpoint.hpp"
#include "engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <set>
#include <utility>

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckpointTest : public testing::Test {
protected:
  void SetUp() override {
    m_folder = fs::temp_directory_path() / ("prismfield_checkpoint_" + std::to_string(::getpid()));
    fs::create_directories(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }
  [[nodiscard]] fs::path path(const std::string& name) const { return m_folder / name; }

  fs::path m_folder;
};

RankState state_of(const WorkItem& item, std::int64_t n_fields, double first) {
  RankState state;
  state.work = {item};
  state.slots = 3;
  state.batch = 64;
  state.tile_points = 5;
  state.chunk_prisms = 192;
  state.points = item.points;
  for (std::int64_t i = 0; i < n_fields * item.points.size(); ++i)
    state.values.push_back(first + 0.1 * static_cast<double>(i));
  state.contact.assign(static_cast<std::size_t>(n_contact_columns * item.points.size()), 0.25);
  return state;
}

CheckpointLayout layout_of(const std::vector<RankState>& states, std::uint64_t hash) {
  CheckpointLayout layout;
  layout.case_hash = hash;
  for (RankState state : states) {
    state.values.clear();
    state.contact.clear();
    state.item = state.tile = state.prisms = 0;
    state.pairs_by_form = {};
    layout.ranks.push_back(state);
  }
  return layout;
}

/// Every (prism, ordered point) of the work, each once.
std::set<std::pair<std::int64_t, std::int64_t>> pairs_of(const std::vector<WorkItem>& work) {
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const WorkItem& item : work) {
    for (std::int64_t p = item.prisms.begin; p < item.prisms.end; ++p) {
      for (std::int64_t q = item.ordered.begin; q < item.ordered.end; ++q) {
        EXPECT_TRUE(pairs.emplace(p, item.points.begin + q).second) << "a pair twice";
      }
    }
  }
  return pairs;
}

TEST(RemainingWork, IsWhatTheStatesHaveNotDone) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto draw = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    RankState state;
    state.work = {{{0, 11}, {0, 13}, {0, 13}}, {{11, 20}, {0, 13}, {2, 9}}};
    state.tile_points = 1 + draw(14);
    state.item = draw(2);
    std::set<std::pair<std::int64_t, std::int64_t>> done;
    const auto finish = [&](const WorkItem& item) { done.merge(pairs_of({item})); };
    for (std::int64_t i = 0; i < state.item; ++i) finish(state.work[static_cast<std::size_t>(i)]);
    if (!state.finished()) {
      const WorkItem& item = state.work[static_cast<std::size_t>(state.item)];
      const std::int64_t n = item.ordered.size();
      state.tile = std::min(draw(n / state.tile_points) * state.tile_points, n);
      if (state.tile < n) state.prisms = draw(item.prisms.size());
      finish({item.prisms, item.points, {item.ordered.begin, item.ordered.begin + state.tile}});
      finish({{item.prisms.begin, item.prisms.begin + state.prisms},
              item.points,
              {item.ordered.begin + state.tile, item.ordered.begin + std::min(state.tile + state.tile_points, n)}});
    }
    auto all = done;
    const auto left = pairs_of(remaining_work({state}));
    for (const auto& pair : left) EXPECT_TRUE(all.insert(pair).second) << "done and left";
    EXPECT_EQ(all.size(), 11U * 13U + 9U * 7U);
  }
}

TEST(RemainingWork, IsSharedOutWithoutGapsOrDoubles) {
  const std::vector<WorkItem> work = {{{5, 9}, {0, 4}, {0, 4}}, {{9, 40}, {0, 4}, {1, 3}}};
  for (const std::int64_t parts : {1, 2, 3, 7, 50}) {
    std::set<std::pair<std::int64_t, std::int64_t>> all;
    std::size_t n = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto mine = part_of_work(work, part, parts);
      EXPECT_EQ(mine.size(), work.size());
      auto pairs = pairs_of(mine);
      n += pairs.size();
      all.merge(pairs);
    }
    EXPECT_EQ(all, pairs_of(work));
    EXPECT_EQ(n, all.size());
  }
}

TEST_F(CheckpointTest, GivesBackBitForBitWhatWasKept) {
  RankState first = state_of({{0, 100}, {0, 7}, {0, 7}}, 2, 1.0 / 3);
  RankState second = state_of({{100, std::int64_t{1} << 60}, {0, 7}, {0, 7}}, 2, 1e-300);
  first.tile = 5;
  first.prisms = 64;
  first.pairs_by_form[2] = (std::int64_t{1} << 60) + 1;
  second.prisms = (std::int64_t{1} << 55) + 1;
  const CheckpointLayout layout = layout_of({first, second}, 42);
  write_rank_state(path("c.h5"), 1, layout.id(), second);
  write_checkpoint(path("c.h5"), layout, {}, first);
  for (int rank = 0; rank < 2; ++rank) {
    const auto back = read_checkpoint(path("c.h5"), 42, "case.yaml:9", rank, 2);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->layout.id(), layout.id());
    ASSERT_EQ(back->states.size(), 2U);
    EXPECT_TRUE(back->before.values.empty());
    const RankState& mine = back->states[static_cast<std::size_t>(rank)];
    const RankState& kept = rank == 0 ? first : second;
    EXPECT_EQ(mine.values, kept.values);
    EXPECT_EQ(mine.contact, kept.contact);
    EXPECT_EQ(mine.pairs_by_form, kept.pairs_by_form);
    EXPECT_EQ(mine.tile, kept.tile);
    EXPECT_EQ(mine.prisms, kept.prisms);
    EXPECT_EQ(mine.slots, 3);
    EXPECT_EQ(mine.chunk_prisms, 192);
    EXPECT_TRUE(back->states[static_cast<std::size_t>(1 - rank)].values.empty()) << "only what is asked for";
  }
  const auto on_three = read_checkpoint(path("c.h5"), 42, "", 0, 3);
  ASSERT_EQ(on_three->before.values.size(), first.values.size()) << "added up, not kept rank by rank";
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    EXPECT_EQ(on_three->before.values[i], first.values[i] + second.values[i]);
  }
  EXPECT_TRUE(on_three->states[0].values.empty());
}

TEST_F(CheckpointTest, PassesOverStatesOfAnotherLayout) {
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  RankState other = state_of({{10, 20}, {0, 2}, {0, 2}}, 1, 2);
  other.prisms = 4;
  const CheckpointLayout layout = layout_of({mine, other}, 1);
  write_checkpoint(path("c.h5"), layout, {}, mine);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, "", 1, 2)->states[1].prisms, 0) << "no file yet";
  write_rank_state(path("c.h5"), 1, layout.id() + 1, other);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, "", 1, 2)->states[1].prisms, 0);
  write_rank_state(path("c.h5"), 1, layout.id(), other);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, "", 1, 2)->states[1].prisms, 4);
}

TEST_F(CheckpointTest, RefusesWhatItCannotGoOnFrom) {
  EXPECT_FALSE(read_checkpoint(path("none.h5"), 1, "", 0, 1));
  const auto message = [&](std::uint64_t hash) -> std::string {
    try {
      static_cast<void>(read_checkpoint(path("c.h5"), hash, "case.yaml:9", 0, 1));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  std::ofstream(path("c.h5")) << "no HDF5";
  EXPECT_THAT(message(1), HasSubstr("case.yaml:9: output.checkpoint.file: "));
  EXPECT_THAT(message(1), HasSubstr("cannot be read as a checkpoint"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  write_checkpoint(path("c.h5"), layout_of({mine}, 1), {}, mine);
  EXPECT_EQ(message(1), "");
  EXPECT_THAT(message(2), HasSubstr("is of another case"));
  fs::resize_file(path("c.h5"), fs::file_size(path("c.h5")) / 2);
  EXPECT_THAT(message(1), HasSubstr("without --resume the run begins anew"));
}

TEST_F(CheckpointTest, IsRemovedWithTheStatesOfAllRanksAndNothingElse) {
  for (const char* name : {"c.h5", "c.h5.rank1", "c.h5.rank12", "c.h5.rankings", "c.h5.rank", "d.h5.rank1",
                           ".c.h5.part-77", ".c.h5.rank3.part-78", ".d.h5.part-1", "c.h5.part-1"}) {
    std::ofstream(path(name)) << "x";
  }
  remove_checkpoint(path("c.h5"));
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(m_folder)) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"c.h5.rankings", "c.h5.rank", "d.h5.rank1", ".d.h5.part-1", "c.h5.part-1"}));
}

TEST_F(CheckpointTest, HashChangesWithWhatTheFieldsDependOnOnly) {
  const auto hash = [&](const std::string& more, const std::string& stations = "0,0,1\n") {
    std::ofstream(path("s.csv")) << "easting,northing,upward\n" << stations;
    std::ofstream(path("c.yaml"))
        << "model: {voxels: {easting: [0, 1, 1], northing: [0, 1, 1], upward: [0, 1, 1], density: 1}}\n"
           "observations: {stations: {file: s.csv}}\n"
        << more;
    return case_hash(read_case(path("c.yaml"), {}));
  };
  const auto plain = hash("");
  EXPECT_EQ(hash("title: other\noutput: {file: x.h5}\nexecution: {slots: 7}\naxes: z_up\n# comment\n"), plain);
  EXPECT_NE(hash("fields: [gz]\n"), plain);
  EXPECT_NE(hash("execution: {kernel: corners}\n"), plain);
  EXPECT_NE(hash("", "0,0,2\n"), plain);
}

}  // namespace
}  // namespace prismfield
