// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "kept_direct_runs.hpp"
#include "kernel/contact.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <utility>

namespace prismfield::test_checkpoint_file {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::CheckpointLayout;
using ::testing::HasSubstr;
using testing::mistakes;
using testing::read_checkpoint;
using testing::write_checkpoint;
using testing::write_rank;
using testing_samples::content;

using CheckpointTest = testing_samples::FolderTest;

constexpr Digest our_case{42, 7};
constexpr FieldSet set = FieldSet::vector;

RankState state_of(const WorkItem& item, double first) {
  RankState state;
  state.layout = {{item}, 3, 64, std::min<std::int64_t>(5, item.points.size()), 192, item.points};
  const std::int64_t n_fields = fields_of(set).size();
  for (std::int64_t i = 0; i < n_fields * item.points.size(); ++i) {
    state.payload.values.push_back(first + 0.1 * static_cast<double>(i));
  }
  state.payload.contact.assign(static_cast<std::size_t>(n_contact_columns * item.points.size()), 0.25);
  return state;
}

CheckpointLayout layout_of(const std::vector<RankState>& states, const Digest& hash = our_case) {
  CheckpointLayout layout;
  layout.case_hash = hash;
  for (const RankState& state : states) layout.ranks.push_back(state.layout);
  return layout;
}

Plan plan_of(std::int64_t n_prisms, std::int64_t n_points) {
  Plan plan;
  plan.computed = fields_of(set);
  plan.n_prisms = n_prisms;
  plan.n_points = n_points;
  return plan;
}

TEST_F(CheckpointTest, GivesBackBitForBitWhatWasKept) {
  RankState first = state_of({{0, 200}, {0, 7}, {0, 7}}, 1.0 / 3);
  RankState second = state_of({{200, std::int64_t{1} << 60}, {0, 7}, {0, 7}}, 1e-300);
  first.progress.tile = 5;
  first.progress.prisms = 192;
  first.progress.pairs_by_form[2] = (std::int64_t{1} << 60) + 1;
  second.progress.prisms = 192 * ((std::int64_t{1} << 47) + 1);
  const CheckpointLayout layout = layout_of({first, second});
  const Plan plan = plan_of(std::int64_t{1} << 60, 7);
  write_rank(path("c.h5"), 1, layout, second);
  write_checkpoint(path("c.h5"), layout, {}, first);
  for (int rank = 0; rank < 2; ++rank) {
    const auto back = read_checkpoint(path("c.h5"), our_case, plan, rank, 2);
    ASSERT_TRUE(back);
    ASSERT_EQ(back->states.size(), 2U);
    EXPECT_EQ(back->states[0].layout, layout.ranks[0]);
    EXPECT_EQ(back->states[1].layout, layout.ranks[1]);
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
  const auto on_three = read_checkpoint(path("c.h5"), our_case, plan, 0, 3);
  ASSERT_EQ(on_three->before.payload.values.size(), first.payload.values.size()) << "added up, not kept rank by rank";
  for (std::size_t i = 0; i < first.payload.values.size(); ++i) {
    EXPECT_EQ(on_three->before.payload.values[i], first.payload.values[i] + second.payload.values[i]);
  }
  EXPECT_TRUE(on_three->states[0].payload.values.empty());
}

TEST_F(CheckpointTest, PassesOverStatesOfAnotherLayout) {
  const RankState mine = state_of({{0, 192}, {0, 2}, {0, 2}}, 1);
  RankState other = state_of({{192, 400}, {0, 2}, {0, 2}}, 2);
  other.progress.prisms = 192;
  const CheckpointLayout layout = layout_of({mine, other});
  const Plan plan = plan_of(400, 2);
  const auto prisms = [&] { return read_checkpoint(path("c.h5"), our_case, plan, 1, 2)->states[1].progress.prisms; };
  write_checkpoint(path("c.h5"), layout, {}, mine);
  EXPECT_EQ(prisms(), 0) << "no file yet";
  CheckpointLayout another = layout;
  ++another.ranks[0].slots;
  write_rank(path("c.h5"), 1, another, other);
  EXPECT_EQ(prisms(), 0);
  write_rank(path("c.h5"), 1, layout, other);
  EXPECT_EQ(prisms(), 192);
}

TEST_F(CheckpointTest, RefusesWhatItCannotGoOnFrom) {
  const Plan plan = plan_of(10, 2);
  EXPECT_FALSE(read_checkpoint(path("none.h5"), our_case, plan, 0, 1));
  const auto message = [&](const Digest& hash) {
    return mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), hash, plan, 0, 1)); });
  };
  std::ofstream(path("c.h5")) << "no HDF5";
  EXPECT_EQ(message(our_case), "output.checkpoint.file: " + path("c.h5").string() +
                                   " is no checkpoint of prismfield; it is not replaced; move it away, or give the "
                                   "checkpoint another name");
  fs::remove(path("c.h5"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1);
  write_checkpoint(path("c.h5"), layout_of({mine}), {}, mine);
  EXPECT_EQ(message(our_case), "");
  const std::string before = content(path("c.h5"));
  EXPECT_THAT(message({42, 8}),
              AllOf(HasSubstr("is of another case"), HasSubstr("; it is not replaced; move it away")));
  const auto write = [&](const Digest& of) { write_checkpoint(path("c.h5"), layout_of({mine}, of), {}, mine); };
  EXPECT_THROW(write({42, 8}), RunError);
  EXPECT_EQ(content(path("c.h5")), before);
  EXPECT_NO_THROW(write(our_case));
  fs::resize_file(path("c.h5"), fs::file_size(path("c.h5")) / 2);
  EXPECT_THAT(message(our_case), HasSubstr("is damaged; without --resume the run begins anew and replaces it"));
}

TEST_F(CheckpointTest, SaysWhatAnotherFileIs) {
  const auto message = [&](const char* name) {
    return mistakes([&] { static_cast<void>(read_checkpoint(path(name), our_case, plan_of(1, 1), 0, 1)); });
  };
  MadeHdf5(path("result.h5")).close();
  // version 3 was HDF5 behind 512 bytes that began with the same mark
  CheckpointHeader old;
  sign(old);
  old.version = 3;
  std::string bytes(512, '\0');
  std::memcpy(bytes.data(), &old, sizeof old);
  std::ofstream(path("old.h5"), std::ios::binary) << bytes << content(path("result.h5"));
  EXPECT_THAT(message("result.h5"), HasSubstr("result.h5 is no checkpoint of prismfield; it is not replaced"));
  EXPECT_THAT(message("old.h5"), HasSubstr("old.h5 was written by another version of prismfield; without --resume"));
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("old.h5"), 1); }), "") << "ours all the same";
}

/// Bytes of an integer, the lowest first.
std::string eight_bytes(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

TEST_F(CheckpointTest, HasItsNumbersWhereTheFormatSays) {
  RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1);
  mine.payload.values[0] = 1.5;
  write_checkpoint(path("c.h5"), layout_of({mine}), {}, mine);
  const std::string file = content(path("c.h5"));
  const std::size_t sums = (3 + n_contact_columns) * 2 * sizeof(double);
  const std::size_t layout = (1 + 5 + 6) * 8;
  const std::size_t state = 2 * (9 + n_forms + 1) * 8;
  ASSERT_EQ(file.size(), 152 + layout + state + sums);
  EXPECT_EQ(file.substr(0, 24), std::string("\x89PFcheckpoint\r\n\x1a") + eight_bytes(checkpoint_version));
  EXPECT_EQ(file.substr(32, 16), eight_bytes(our_case.low) + eight_bytes(our_case.high));
  EXPECT_EQ(file.substr(48, 8), eight_bytes(layout));
  EXPECT_EQ(file.substr(72, 8), eight_bytes(state));
  EXPECT_EQ(file.substr(96, 8), eight_bytes(sums));
  EXPECT_EQ(file.substr(120, 16), "direct" + std::string(10, '\0'));
  EXPECT_EQ(file.substr(152, 16), eight_bytes(1) + eight_bytes(3)) << "one rank of three slots";
  EXPECT_EQ(file.substr(152 + layout + state, 8), eight_bytes(0x3ff8000000000000)) << "1.5";
}

/// Everything that a case's key may name by mistake, or somebody may put there, and what is to be said of it.
TEST_F(CheckpointTest, ReplacesNothingElse) {
  std::ofstream(path("thesis.txt")) << "years of work";
  std::ofstream(path("empty"));
  fs::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("thesis.txt", path("link"));
  fs::create_symlink("loop", path("loop"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1);
  const CheckpointLayout layout = layout_of({mine});
  const std::vector<std::pair<std::string, std::string>> others = {
      {"thesis.txt", "thesis.txt is no checkpoint of prismfield; it is not replaced"},
      {"empty", "is no checkpoint"},
      {"folder", "is a folder"},
      {"pipe", "is a pipe"},
      {"link", "thesis.txt is no checkpoint"},
      {"loop", "is a symbolic link"},
      {"/dev/null", "is a device"}};
  for (const auto& [name, what] : others) {
    const fs::path file = name.front() == '/' ? fs::path(name) : path(name);
    EXPECT_THAT(mistakes([&] { check_checkpoint_place(file, 1); }), HasSubstr(what)) << name;
    EXPECT_THAT(mistakes([&] { static_cast<void>(read_checkpoint(file, our_case, plan_of(10, 2), 0, 1)); }),
                HasSubstr(what))
        << name;
    EXPECT_THROW(write_checkpoint(file, layout, {}, mine), RunError) << name;
    remove_checkpoint(file, our_case);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"thesis.txt", "empty", "folder", "pipe", "link", "loop"}));
  EXPECT_EQ(testing_samples::content(path("thesis.txt")), "years of work");

  // a rank's file is no link, wherever it leads
  write_checkpoint(path("real.h5"), layout, {}, mine);
  fs::create_symlink("real.h5", path("c.h5.rank1"));
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("c.h5"), 1); }), "");
  EXPECT_THAT(mistakes([&] { check_checkpoint_place(path("c.h5"), 2); }), HasSubstr("c.h5.rank1 is a symbolic link"));
  EXPECT_THROW(write_rank(path("c.h5"), 1, layout, mine), RunError);
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("real.h5"), 1); }), "");
}

TEST_F(CheckpointTest, RefusesAnotherRanksStateAndWhatNeedsMoreMemory) {
  const RankState mine = state_of({{0, 200}, {0, 7}, {0, 7}}, 1);
  const RankState other = state_of({{200, 400}, {0, 7}, {0, 7}}, 2);
  const CheckpointLayout layout = layout_of({mine, other});
  Plan plan = plan_of(400, 7);
  plan.direct.slot_point_bytes = 1000;
  plan.memory_limit = 1'000'000'000;
  const auto message = [&](const RankState& of_second) {
    write_checkpoint(path("c.h5"), layout, {}, mine);
    write_rank(path("c.h5"), 1, layout, of_second);
    return mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), our_case, plan, 1, 2)); });
  };
  EXPECT_EQ(message(other), "");
  RankState large = other;
  large.layout.slots = 200'000;
  EXPECT_THAT(message(large), HasSubstr("asks for 200000 slots of 5 points"));
  write_rank(path("c.h5"), 2, layout, other);
  fs::rename(path("c.h5.rank2"), path("c.h5.rank1"));
  EXPECT_THAT(mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), our_case, plan, 1, 2)); }),
              HasSubstr("the state of another rank"));
}

/// Reads as the ranks of a run on as many and as rank 0 of one on fewer: what is refused, or all states and what they
/// add up to.
class DamagedCheckpointTest : public CheckpointTest {
protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    m_first = state_of({{0, 200}, {0, 7}, {0, 7}}, 0.5);
    m_second = state_of({{200, 400}, {0, 7}, {0, 7}}, 3.5);
    m_first.progress.prisms = 192;
    m_second.progress.tile = 5;
    m_before = state_of({{400, 500}, {0, 7}, {0, 7}}, 7.5);
    m_before.progress.pairs_by_form[1] = 700;
    m_layout = layout_of({m_first, m_second});
    write_checkpoint(path("c.h5"), m_layout, m_before, m_first);
    write_rank(path("c.h5"), 1, m_layout, m_second);
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

  /// Whether all ranks of a run accept what they look at. What is accepted must be what was kept.
  bool accepts(int n_ranks) const {
    for (int rank = 0; rank < n_ranks; ++rank) {
      try {
        const auto back = read_checkpoint(path("c.h5"), our_case, m_plan, rank, n_ranks);
        if (!back) return false;
        EXPECT_EQ(back->states[0].layout, m_layout.ranks[0]);
        EXPECT_EQ(back->states[1].layout, m_layout.ranks[1]);
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
        return false;
      }
    }
    return true;
  }
  /// On as many ranks as before, or on fewer.
  bool accepts() const { return accepts(2) || accepts(1); }

  RankState m_first, m_second, m_before;
  CheckpointLayout m_layout;
  Plan m_plan = plan_of(500, 7);
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
        // the beginning holds the header and the layout
        const std::size_t within = random() % 2 == 0 ? std::min<std::size_t>(whole.size(), 1024) : whole.size();
        const std::size_t at = random() % within;
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

TEST_F(DamagedCheckpointTest, NoOtherOrderOfBlocksIsAccepted) {
  // all eight bytes of different content are exchanged with those behind them, by a place that a sum would not see
  for (std::size_t file = 0; file < m_files.size(); ++file) {
    const std::string& whole = m_bytes[file];
    for (std::size_t at = 0; at + 16 <= whole.size(); at += 8) {
      std::string exchanged = whole;
      std::swap_ranges(exchanged.begin() + static_cast<std::ptrdiff_t>(at),
                       exchanged.begin() + static_cast<std::ptrdiff_t>(at + 8),
                       exchanged.begin() + static_cast<std::ptrdiff_t>(at + 8));
      if (exchanged == whole) continue;
      write(file, exchanged);
      EXPECT_FALSE(accepts()) << m_files[file] << ", byte " << at;
    }
    write(file, whole);
  }
  fs::rename(path("c.h5"), path("c"));
  fs::rename(path("c.h5.rank1"), path("c.h5"));
  fs::rename(path("c"), path("c.h5.rank1"));
  EXPECT_FALSE(accepts()) << "whole files";
}

TEST_F(CheckpointTest, LiesWhereALinkLeads) {
  fs::create_directories(path("scratch"));
  fs::create_symlink("scratch/real.h5", path("c.h5"));
  EXPECT_EQ(rank_file(path("c.h5"), 0), path("scratch/real.h5")) << "a link whose file is still to come too";
  EXPECT_EQ(rank_file(path("c.h5"), 2), path("scratch/real.h5.rank2"));
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1);
  RankState other = state_of({{10, 300}, {0, 2}, {0, 2}}, 2);
  other.progress.prisms = 192;
  const CheckpointLayout layout = layout_of({mine, other});
  write_checkpoint(path("c.h5"), layout, {}, mine);
  write_rank(path("c.h5"), 1, layout, other);
  EXPECT_TRUE(fs::is_symlink(path("c.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5.rank1")));
  EXPECT_FALSE(fs::exists(path("c.h5.rank1")));
  for (const char* name : {"c.h5", "scratch/real.h5"}) {
    EXPECT_EQ(read_checkpoint(path(name), our_case, plan_of(300, 2), 1, 2)->states[1].progress.prisms, 192) << name;
  }
  remove_checkpoint(path("c.h5"), our_case);
  EXPECT_TRUE(fs::is_empty(path("scratch")));
}

TEST_F(CheckpointTest, IsRemovedWithTheStatesOfAllRanksAndNothingElse) {
  const RankState mine = state_of({{0, 10}, {0, 2}, {0, 2}}, 1);
  write_checkpoint(path("whole"), layout_of({mine}), {}, mine);
  write_checkpoint(path("of another case"), layout_of({mine}, {42, 8}), {}, mine);
  const auto put = [&](const char* what, const std::vector<const char*>& places) {
    for (const char* place : places) fs::copy_file(path(what), path(place));
  };
  put("whole", {"c.h5", "c.h5.rank1", "c.h5.rank12", ".c.h5.part-a8Z0pq", ".c.h5.rank3.part-000000"});
  // killed while it was written
  std::ofstream(path(".c.h5.part-111111"));
  put("whole", {".c.h5.part-222222"});
  fs::resize_file(path(".c.h5.part-222222"), 1000);
  const std::vector<const char*> others = {"c.h5.rankings", "c.h5.rank",      "d.h5.rank1", ".d.h5.part-a8Z0pq",
                                           "c.h5.part-1",   ".c.h5.part-a8Z", "c.h5.rank01"};
  put("whole", others);
  put("of another case", {"c.h5.rank2", ".c.h5.part-b8Z0pq"});
  std::ofstream(path("c.h5.rank4")) << "somebody's notes";
  std::ofstream(path(".c.h5.part-notes0")) << "somebody's notes";
  std::ofstream(path("c.h5.rank5"));
  remove_checkpoint(path("c.h5"), our_case);
  EXPECT_EQ(names(),
            (std::set<std::string>{"whole", "of another case", "c.h5.rankings", "c.h5.rank", "d.h5.rank1",
                                   ".d.h5.part-a8Z0pq", "c.h5.part-1", ".c.h5.part-a8Z", "c.h5.rank01", "c.h5.rank2",
                                   ".c.h5.part-b8Z0pq", "c.h5.rank4", ".c.h5.part-notes0", "c.h5.rank5"}));
}

}  // namespace
}  // namespace prismfield::test_checkpoint_file
