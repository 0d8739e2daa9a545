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
using testing::write_rank;
using testing_samples::content;

using CheckpointTest = testing_samples::FolderTest;

constexpr Digest our_case{42, 7};
constexpr FieldSet set = FieldSet::vector;

RankState state_of(std::int64_t n_points, double first) {
  RankState state{
      {3, 64, std::min<std::int64_t>(5, n_points), 192}, {}, empty_payload(fields_of(set).size(), n_points)};
  for (std::size_t i = 0; i < state.payload.values.size(); ++i) {
    state.payload.values[i] = first + 0.1 * static_cast<double>(i);
  }
  std::ranges::fill(state.payload.contact, 0.25);
  return state;
}

CheckpointLayout layout_of(const std::vector<RankState>& states, const Digest& hash = our_case) {
  CheckpointLayout layout;
  layout.case_hash = hash;
  for (const RankState& state : states) layout.ranks.push_back(state.settings);
  return layout;
}

/// Of a rank of a run by prisms.
Plan plan_of(std::int64_t n_points, int ranks = 1) {
  Plan plan;
  plan.computed = fields_of(set);
  plan.n_prisms = plan.prism_end = std::int64_t{1} << 60;
  plan.n_points = plan.point_end = n_points;
  plan.prism_parts = ranks;
  return plan;
}

TEST_F(CheckpointTest, GivesBackBitForBitWhatWasKept) {
  RankState first = state_of(7, 1.0 / 3);
  RankState second = state_of(7, 1e-300);
  first.progress.tile = 5;
  first.progress.prisms = 192;
  first.progress.pairs_by_form[2] = (std::int64_t{1} << 60) + 1;
  second.progress.prisms = 192 * ((std::int64_t{1} << 47) + 1);
  // less memory than when it began
  second.settings.slots = 1;
  const CheckpointLayout layout = layout_of({first, state_of(7, 0)});
  write_rank(path("c.h5"), 1, layout, second);
  write_rank(path("c.h5"), 0, layout, first);
  for (int rank = 0; rank < 2; ++rank) {
    const auto back = read_checkpoint(path("c.h5"), our_case, plan_of(7, 2), rank);
    ASSERT_TRUE(back);
    const RankState& kept = rank == 0 ? first : second;
    EXPECT_EQ(back->payload, kept.payload);
    EXPECT_EQ(back->progress, kept.progress);
    EXPECT_EQ(back->settings, kept.settings);
  }
}

TEST_F(CheckpointTest, PassesOverStatesOfAnotherLayout) {
  const RankState mine = state_of(2, 1);
  RankState other = state_of(2, 2);
  other.progress.prisms = 192;
  const CheckpointLayout layout = layout_of({mine, other});
  const auto prisms = [&] { return read_checkpoint(path("c.h5"), our_case, plan_of(2, 2), 1)->progress.prisms; };
  write_rank(path("c.h5"), 0, layout, mine);
  EXPECT_EQ(prisms(), 0) << "no file yet";
  CheckpointLayout another = layout;
  ++another.ranks[0].slots;
  write_rank(path("c.h5"), 1, another, other);
  EXPECT_EQ(prisms(), 0);
  write_rank(path("c.h5"), 1, layout, other);
  EXPECT_EQ(prisms(), 192);
}

TEST_F(CheckpointTest, RefusesWhatItCannotGoOnFrom) {
  const Plan plan = plan_of(2);
  EXPECT_FALSE(read_checkpoint(path("none.h5"), our_case, plan, 0));
  const auto message = [&](const Digest& hash) {
    return mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), hash, plan, 0)); });
  };
  std::ofstream(path("c.h5")) << "no HDF5";
  EXPECT_EQ(message(our_case), "output.checkpoint.file: " + path("c.h5").string() +
                                   " is no checkpoint of prismfield; it is not replaced; move it away, or give the "
                                   "checkpoint another name");
  fs::remove(path("c.h5"));
  const RankState mine = state_of(2, 1);
  write_rank(path("c.h5"), 0, layout_of({mine}), mine);
  EXPECT_EQ(message(our_case), "");
  const std::string before = content(path("c.h5"));
  EXPECT_THAT(message({42, 8}),
              AllOf(HasSubstr("is of another case"), HasSubstr("; it is not replaced; move it away")));
  const auto write = [&](const Digest& of) { write_rank(path("c.h5"), 0, layout_of({mine}, of), mine); };
  EXPECT_THROW(write({42, 8}), RunError);
  EXPECT_EQ(content(path("c.h5")), before);
  EXPECT_NO_THROW(write(our_case));
  fs::resize_file(path("c.h5"), fs::file_size(path("c.h5")) / 2);
  EXPECT_THAT(message(our_case), HasSubstr("is damaged; without --resume the run begins anew and replaces it"));
}

TEST_F(CheckpointTest, SaysWhatAnotherFileIs) {
  const auto message = [&](const char* name) {
    return mistakes([&] { static_cast<void>(read_checkpoint(path(name), our_case, plan_of(1), 0)); });
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
  RankState mine = state_of(2, 1);
  mine.payload.values[0] = 1.5;
  write_rank(path("c.h5"), 0, layout_of({mine}), mine);
  const std::string file = content(path("c.h5"));
  const std::size_t sums = (3 + n_contact_columns) * 2 * sizeof(double);
  const std::size_t layout = (3 + 4) * 8;
  const std::size_t state = (4 + 2 + n_forms + 1) * 8;
  ASSERT_EQ(file.size(), 152 + layout + state + sums);
  EXPECT_EQ(file.substr(0, 24), std::string("\x89PFcheckpoint\r\n\x1a") + eight_bytes(checkpoint_version));
  EXPECT_EQ(file.substr(32, 16), eight_bytes(our_case.low) + eight_bytes(our_case.high));
  EXPECT_EQ(file.substr(48, 8), eight_bytes(layout));
  EXPECT_EQ(file.substr(72, 8), eight_bytes(state));
  EXPECT_EQ(file.substr(96, 8), eight_bytes(sums));
  EXPECT_EQ(file.substr(120, 16), "direct" + std::string(10, '\0'));
  EXPECT_EQ(file.substr(152, 32), eight_bytes(1) + eight_bytes(1) + eight_bytes(1) + eight_bytes(3))
      << "one rank of three slots";
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
  const RankState mine = state_of(2, 1);
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
    EXPECT_THAT(mistakes([&] { static_cast<void>(read_checkpoint(file, our_case, plan_of(2), 0)); }), HasSubstr(what))
        << name;
    EXPECT_THROW(write_rank(file, 0, layout, mine), RunError) << name;
    remove_checkpoint(file, our_case);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"thesis.txt", "empty", "folder", "pipe", "link", "loop"}));
  EXPECT_EQ(testing_samples::content(path("thesis.txt")), "years of work");

  // a rank's file is no link, wherever it leads
  write_rank(path("real.h5"), 0, layout, mine);
  fs::create_symlink("real.h5", path("c.h5.rank1"));
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("c.h5"), 1); }), "");
  EXPECT_THAT(mistakes([&] { check_checkpoint_place(path("c.h5"), 2); }), HasSubstr("c.h5.rank1 is a symbolic link"));
  EXPECT_THROW(write_rank(path("c.h5"), 1, layout, mine), RunError);
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("real.h5"), 1); }), "");
}

TEST_F(CheckpointTest, RefusesAnotherRanksStateAndWhatNeedsMoreMemory) {
  const RankState mine = state_of(7, 1);
  const RankState other = state_of(7, 2);
  const CheckpointLayout layout = layout_of({mine, other});
  Plan plan = plan_of(7, 2);
  plan.direct.slot_point_bytes = 1000;
  plan.memory_limit = 1'000'000'000;
  const auto message = [&](const RankState& of_second) {
    write_rank(path("c.h5"), 0, layout, mine);
    write_rank(path("c.h5"), 1, layout, of_second);
    return mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), our_case, plan, 1)); });
  };
  EXPECT_EQ(message(other), "");
  RankState large = other;
  large.settings.slots = 200'000;
  EXPECT_THAT(message(large), HasSubstr("asks for 200000 slots of 5 points"));
  write_rank(path("c.h5"), 2, layout, other);
  fs::rename(path("c.h5.rank2"), path("c.h5.rank1"));
  EXPECT_THAT(mistakes([&] { static_cast<void>(read_checkpoint(path("c.h5"), our_case, plan, 1)); }),
              HasSubstr("the state of another rank"));
}

/// Reads as the ranks of a run: what is refused, or their states.
class DamagedCheckpointTest : public CheckpointTest {
protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    m_first = state_of(7, 0.5);
    m_second = state_of(7, 3.5);
    m_first.progress.prisms = 192;
    m_first.progress.pairs_by_form[1] = 700;
    m_second.progress.tile = 5;
    m_layout = layout_of({m_first, m_second});
    write_rank(path("c.h5"), 0, m_layout, m_first);
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

  /// Whether both ranks accept what they look at. What is accepted must be what was kept.
  bool accepts() const {
    for (int rank = 0; rank < 2; ++rank) {
      try {
        const auto back = read_checkpoint(path("c.h5"), our_case, m_plan, rank);
        if (!back) return false;
        const RankState& kept = rank == 0 ? m_first : m_second;
        EXPECT_EQ(back->settings, kept.settings);
        EXPECT_EQ(back->progress, kept.progress);
        EXPECT_EQ(back->payload, kept.payload);
      } catch (const InputError&) {
        return false;
      }
    }
    return true;
  }

  RankState m_first, m_second;
  CheckpointLayout m_layout;
  Plan m_plan = plan_of(7, 2);
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
  const RankState mine = state_of(2, 1);
  RankState other = state_of(2, 2);
  other.progress.prisms = 192;
  const CheckpointLayout layout = layout_of({mine, other});
  write_rank(path("c.h5"), 0, layout, mine);
  write_rank(path("c.h5"), 1, layout, other);
  EXPECT_TRUE(fs::is_symlink(path("c.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("scratch/real.h5.rank1")));
  EXPECT_FALSE(fs::exists(path("c.h5.rank1")));
  for (const char* name : {"c.h5", "scratch/real.h5"}) {
    EXPECT_EQ(read_checkpoint(path(name), our_case, plan_of(2, 2), 1)->progress.prisms, 192) << name;
  }
  remove_checkpoint(path("c.h5"), our_case);
  EXPECT_TRUE(fs::is_empty(path("scratch")));
}

TEST_F(CheckpointTest, IsRemovedWithTheStatesOfAllRanksAndNothingElse) {
  const RankState mine = state_of(2, 1);
  write_rank(path("whole"), 0, layout_of({mine}), mine);
  write_rank(path("of another case"), 0, layout_of({mine}, {42, 8}), mine);
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
