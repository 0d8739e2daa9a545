// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "compute/checkpoint_file.hpp"
#include "folder_test.hpp"
#include "io/hdf5_file.hpp"
#include "kernel/contact.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <utility>

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::mistakes;

using CheckpointTest = testing_samples::FolderTest;

RankState state_of(const WorkItem& item, std::int64_t n_fields, double first) {
  RankState state;
  state.layout = {{item}, 3, 64, 5, 192, item.points};
  for (std::int64_t i = 0; i < n_fields * item.points.size(); ++i) {
    state.payload.values.push_back(first + 0.1 * static_cast<double>(i));
  }
  state.payload.contact.assign(static_cast<std::size_t>(n_contact_columns * item.points.size()), 0.25);
  return state;
}

CheckpointLayout layout_of(const std::vector<RankState>& states, std::uint64_t hash) {
  CheckpointLayout layout;
  layout.case_hash = hash;
  for (const RankState& state : states) layout.ranks.push_back(state.layout);
  return layout;
}

TEST_F(CheckpointTest, GivesBackBitForBitWhatWasKept) {
  RankState first = state_of({{0, 100}, {0, 7}, {0, 7}}, 2, 1.0 / 3);
  RankState second = state_of({{100, std::int64_t{1} << 60}, {0, 7}, {0, 7}}, 2, 1e-300);
  first.progress.tile = 5;
  first.progress.prisms = 64;
  first.progress.pairs_by_form[2] = (std::int64_t{1} << 60) + 1;
  second.progress.prisms = (std::int64_t{1} << 55) + 1;
  const CheckpointLayout layout = layout_of({first, second}, 42);
  write_rank_state(path("c.h5"), 1, layout.id(), second);
  write_checkpoint(path("c.h5"), layout, {}, first);
  for (int rank = 0; rank < 2; ++rank) {
    const auto back = read_checkpoint(path("c.h5"), 42, rank, 2);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->layout.id(), layout.id());
    ASSERT_EQ(back->states.size(), 2U);
    EXPECT_TRUE(back->before.payload.values.empty());
    const RankState& mine = back->states[static_cast<std::size_t>(rank)];
    const RankState& kept = rank == 0 ? first : second;
    EXPECT_EQ(mine.payload.values, kept.payload.values);
    EXPECT_EQ(mine.payload.contact, kept.payload.contact);
    EXPECT_EQ(mine.progress.pairs_by_form, kept.progress.pairs_by_form);
    EXPECT_EQ(mine.progress.tile, kept.progress.tile);
    EXPECT_EQ(mine.progress.prisms, kept.progress.prisms);
    EXPECT_EQ(mine.layout.slots, 3);
    EXPECT_EQ(mine.layout.chunk_prisms, 192);
    EXPECT_TRUE(back->states[static_cast<std::size_t>(1 - rank)].payload.values.empty()) << "only what is asked for";
  }
  const auto on_three = read_checkpoint(path("c.h5"), 42, 0, 3);
  ASSERT_EQ(on_three->before.payload.values.size(), first.payload.values.size()) << "added up, not kept rank by rank";
  for (std::size_t i = 0; i < first.payload.values.size(); ++i) {
    EXPECT_EQ(on_three->before.payload.values[i], first.payload.values[i] + second.payload.values[i]);
  }
  EXPECT_TRUE(on_three->states[0].payload.values.empty());
}

TEST_F(CheckpointTest, PassesOverStatesOfAnotherLayout) {
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  RankState other = state_of({{10, 20}, {0, 2}, {0, 2}}, 1, 2);
  other.progress.prisms = 4;
  const CheckpointLayout layout = layout_of({mine, other}, 1);
  write_checkpoint(path("c.h5"), layout, {}, mine);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, 1, 2)->states[1].progress.prisms, 0) << "no file yet";
  write_rank_state(path("c.h5"), 1, layout.id() + 1, other);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, 1, 2)->states[1].progress.prisms, 0);
  write_rank_state(path("c.h5"), 1, layout.id(), other);
  EXPECT_EQ(read_checkpoint(path("c.h5"), 1, 1, 2)->states[1].progress.prisms, 4);
}

TEST_F(CheckpointTest, RefusesWhatItCannotGoOnFrom) {
  EXPECT_FALSE(read_checkpoint(path("none.h5"), 1, 0, 1));
  const auto message = [&](std::uint64_t hash) -> std::string {
    try {
      static_cast<void>(read_checkpoint(path("c.h5"), hash, 0, 1));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  std::ofstream(path("c.h5")) << "no HDF5";
  EXPECT_THAT(message(1), ::testing::StartsWith("output.checkpoint.file: " + path("c.h5").string()));
  EXPECT_THAT(message(1), HasSubstr("cannot be read as a checkpoint"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  write_checkpoint(path("c.h5"), layout_of({mine}, 1), {}, mine);
  EXPECT_EQ(message(1), "");
  EXPECT_THAT(message(2), HasSubstr("is of another case"));
  fs::resize_file(path("c.h5"), fs::file_size(path("c.h5")) / 2);
  EXPECT_THAT(message(1), HasSubstr("without --resume the run begins anew"));
}

TEST_F(CheckpointTest, SaysWhatAnotherFileIs) {
  const auto message = [&](const char* name) {
    return mistakes([&] { static_cast<void>(read_checkpoint(path(name), 1, 0, 1)); });
  };
  {
    Hdf5File other = Hdf5File::create(path("result.h5"));
    other.close();
    Hdf5File old = Hdf5File::create(path("old.h5"));
    old.write_attribute("/", "prismfield_checkpoint", std::int64_t{1});
    old.write_text("/layout", "1");
    old.close();
  }
  EXPECT_THAT(message("result.h5"), HasSubstr("result.h5 is no checkpoint of prismfield; without --resume"));
  EXPECT_THAT(message("old.h5"), HasSubstr("was written by another version of prismfield; without --resume"));
}

TEST_F(CheckpointTest, OpensInOtherPrograms) {
  // what makes it safe follows HDF5's own bytes
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  write_checkpoint(path("c.h5"), layout_of({mine}, 1), {}, mine);
  EXPECT_EQ(Hdf5File::open(path("c.h5")).read("/rank/values"), mine.payload.values);
}

TEST_F(CheckpointTest, RefusesStatesThatCannotBe) {
  const RankState mine = state_of({{0, 10}, {0, 7}, {0, 7}}, 1, 1);
  const RankState other = state_of({{10, 20}, {0, 7}, {0, 7}}, 1, 2);
  const CheckpointLayout layout = layout_of({mine, other}, 1);
  const auto message = [&](const std::function<void(RankState&)>& spoil) {
    RankState wrong = other;
    spoil(wrong);
    write_checkpoint(path("c.h5"), layout, {}, mine);
    write_rank_state(path("c.h5"), 1, layout.id(), wrong);
    return mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), 1, 1, 2)); });
  };
  EXPECT_EQ(message([](RankState&) {}), "");
  const std::function<void(RankState&)> spoilers[] = {
      [](RankState& s) { s.progress.item = 2; },      [](RankState& s) { s.progress.item = -1; },
      [](RankState& s) { s.progress.tile = 8; },      [](RankState& s) { s.progress.tile = -5; },
      [](RankState& s) { s.progress.prisms = 11; },   [](RankState& s) { s.layout.slots = 0; },
      [](RankState& s) { s.layout.batch = 0; },       [](RankState& s) { s.layout.chunk_prisms = 0; },
      [](RankState& s) { s.layout.points = {0, 1}; }, [](RankState& s) { s.layout.points = {7, 14}; },
  };
  for (const auto& spoil : spoilers) {
    EXPECT_NE(message(spoil), "") << &spoil - spoilers;
  }
  fs::copy_file(path("c.h5"), path("c.h5.rank1"), fs::copy_options::overwrite_existing);
  EXPECT_NE(mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), 1, 1, 2)); }), "") << "another rank's";
}

/// Reads as the ranks of a run on as many and as rank 0 of one on fewer: what is refused, or all states and what they
/// add up to.
class DamagedCheckpointTest : public CheckpointTest {
protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    m_first = state_of({{0, 100}, {0, 7}, {0, 7}}, 2, 0.5);
    m_second = state_of({{100, 200}, {0, 7}, {0, 7}}, 2, 3.5);
    m_first.progress.prisms = 64;
    m_second.progress.tile = 5;
    m_before = state_of({{200, 300}, {0, 7}, {0, 7}}, 2, 7.5);
    m_layout = layout_of({m_first, m_second}, 42);
    write_checkpoint(path("c.h5"), m_layout, m_before, m_first);
    write_rank_state(path("c.h5"), 1, m_layout.id(), m_second);
    m_files = {"c.h5", "c.h5.rank1"};
    for (const std::string& file : m_files) m_bytes.push_back(bytes(file));
  }

  [[nodiscard]] std::string bytes(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::size_t file, const std::string& content) const {
    std::ofstream(path(m_files[file]), std::ios::binary) << content;
  }

  /// Whether anything was accepted. What is must be what was kept.
  bool accepts() const {
    bool any = false;
    for (const auto& [rank, n_ranks] : {std::pair{0, 2}, std::pair{1, 2}, std::pair{0, 1}}) {
      try {
        const auto back = read_checkpoint(path("c.h5"), 42, rank, n_ranks);
        if (!back) continue;
        any = true;
        EXPECT_EQ(back->layout.id(), m_layout.id());
        EXPECT_EQ(back->states[0].progress, m_first.progress);
        EXPECT_EQ(back->states[1].progress, m_second.progress);
        if (n_ranks == 2) {
          EXPECT_EQ(back->states[static_cast<std::size_t>(rank)].payload, (rank == 0 ? m_first : m_second).payload);
        } else {
          for (std::size_t i = 0; i < m_first.payload.values.size(); ++i) {
            EXPECT_EQ(back->before.payload.values[i],
                      m_before.payload.values[i] + m_first.payload.values[i] + m_second.payload.values[i]);
          }
        }
      } catch (const InputError&) {
      } catch (const RunError&) {
      }
    }
    return any;
  }

  RankState m_first, m_second, m_before;
  CheckpointLayout m_layout;
  std::vector<std::string> m_files;
  std::vector<std::string> m_bytes;
};

TEST_F(DamagedCheckpointTest, IsAcceptedWhole) { EXPECT_TRUE(accepts()); }

TEST_F(DamagedCheckpointTest, NoChangedByteIsAccepted) {
  std::mt19937 random(3);
  for (std::size_t file = 0; file < m_files.size(); ++file) {
    const std::string& whole = m_bytes[file];
    for (int round = 0; round < 700; ++round) {
      std::string damaged = whole;
      const int flips = round % 3 == 0 ? 1 : 1 + static_cast<int>(random() % 40);
      for (int flip = 0; flip < flips; ++flip) {
        // the beginning holds most of HDF5's own structure, the end the sum
        const std::size_t within = random() % 4 == 0 ? std::min<std::size_t>(whole.size(), 2048) : whole.size();
        const std::size_t at = random() % 8 == 0 ? whole.size() - 1 - random() % 24 : random() % within;
        damaged[at] = static_cast<char>(damaged[at] ^ (1U << (random() % 8)));
      }
      if (damaged == whole) continue;
      write(file, damaged);
      ASSERT_FALSE(accepts()) << m_files[file] << ", round " << round;
    }
    write(file, whole);
  }
  EXPECT_TRUE(accepts());
}

TEST_F(DamagedCheckpointTest, NoOtherLengthIsAccepted) {
  std::mt19937 random(4);
  for (std::size_t file = 0; file < m_files.size(); ++file) {
    const std::string& whole = m_bytes[file];
    const auto refused = [&](const std::string& content) {
      write(file, content);
      EXPECT_FALSE(accepts()) << m_files[file] << " of " << content.size() << " bytes";
    };
    for (std::size_t size = 0; size < whole.size(); size += 1 + random() % 97) refused(whole.substr(0, size));
    for (std::size_t cut = 1; cut < 64; ++cut) refused(whole.substr(0, whole.size() - cut));
    refused(whole + '\0');
    refused(whole + whole);
    write(file, whole);
  }
}

TEST_F(CheckpointTest, LiesWhereALinkLeads) {
  fs::create_directories(path("scratch"));
  fs::create_symlink("scratch/real.h5", path("c.h5"));
  EXPECT_EQ(rank_file(path("c.h5"), 0), path("scratch/real.h5")) << "a link whose file is still to come too";
  EXPECT_EQ(rank_file(path("c.h5"), 2), path("scratch/real.h5.rank2"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1, 1);
  RankState other = state_of({{10, 20}, {0, 2}, {0, 2}}, 1, 2);
  other.progress.prisms = 4;
  const CheckpointLayout layout = layout_of({mine, other}, 1);
  write_checkpoint(path("c.h5"), layout, {}, mine);
  write_rank_state(path("c.h5"), 1, layout.id(), other);
  EXPECT_TRUE(fs::is_symlink(path("c.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5.rank1")));
  EXPECT_FALSE(fs::exists(path("c.h5.rank1")));
  for (const char* name : {"c.h5", "scratch/real.h5"}) {
    EXPECT_EQ(read_checkpoint(path(name), 1, 1, 2)->states[1].progress.prisms, 4) << name;
  }
  remove_checkpoint(path("c.h5"));
  EXPECT_TRUE(fs::is_empty(path("scratch")));
}

TEST_F(CheckpointTest, IsRemovedWithTheStatesOfAllRanksAndNothingElse) {
  for (const char* name : {"c.h5", "c.h5.rank1", "c.h5.rank12", "c.h5.rankings", "c.h5.rank", "d.h5.rank1",
                           ".c.h5.part-77", ".c.h5.rank3.part-78", ".d.h5.part-1", "c.h5.part-1"}) {
    std::ofstream(path(name)) << "x";
  }
  remove_checkpoint(path("c.h5"));
  EXPECT_EQ(names(),
            (std::set<std::string>{"c.h5.rankings", "c.h5.rank", "d.h5.rank1", ".d.h5.part-1", "c.h5.part-1"}));
}

}  // namespace
}  // namespace prismfield
