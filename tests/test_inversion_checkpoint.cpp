// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "compute/checkpoint.hpp"
#include "folder_test.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_inversion_checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::mistakes;
using testing_samples::content;

using InversionCheckpointTest = testing_samples::FolderTest;

constexpr Digest our_case{42, 7};
constexpr const char* not_replaced = "; it is not replaced; move it away, or give the checkpoint another name";
constexpr const char* no_checkpoint = "is no checkpoint of prismfield; it is not replaced; move it away, or ";
constexpr const char* another_version = "was written by another version of prismfield; without --resume the inversion ";
constexpr const char* damaged = "is damaged; without --resume the inversion begins anew and replaces it";

/// Every member holds something that no other holds.
InversionState full_state() {
  InversionState state;
  state.phase = "samples";
  for (const double x : {1.0, 2.0}) {
    ConvergenceRow row;
    row.stage = x == 1 ? "cool" : "a stage with a name that is longer than a string keeps within itself";
    row.beta = x * 1e-8;
    row.phi_d = x / 3;
    row.chi = x / 7;
    row.phi_m = x * 1e300;
    row.products = (std::int64_t{1} << 60) + static_cast<std::int64_t>(x);
    row.minimum = -x;
    row.maximum = std::numeric_limits<double>::infinity();
    row.seconds = x * 5e-324;
    state.rows.push_back(row);
  }
  state.stored = {stored_not, stored_whole, stored_compressed};
  state.model = {1.0 / 3, -0.0, 2};
  state.beta = 3e-9;
  state.message = "m\n\0n";
  state.products = 31;
  state.seconds = 32.5;
  state.kept = {{33, 34, 35}, {36, 37, 38}};
  state.search = {{1, 2}, {3, 4}, {5, 6}};
  state.weights_model = {7, 8, 9};
  state.epsilon = {10, 11, 12, 13};
  state.first_epsilon = {14, 15, 16, 17};
  state.compact_steps = 18;
  state.last_phi_m = 19;
  state.interval_steps = 29;
  state.interval_dual = {30, 39, 40};
  state.lower = {41, 42, 43};
  state.upper = {44, 45, 46};
  state.samples = 20;
  state.squares = {21, 22, 23};
  state.trace = 24;
  state.trace_squared = 25;
  state.depth_of_investigation = {26, 27, 28};
  return state;
}

void expect_same(const InversionState& a, const InversionState& b) {
  EXPECT_EQ(a.phase, b.phase);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const ConvergenceRow &x = a.rows[i], &y = b.rows[i];
    EXPECT_EQ(x.stage, y.stage);
    EXPECT_EQ(x.products, y.products);
    for (const auto member :
         {&ConvergenceRow::beta, &ConvergenceRow::phi_d, &ConvergenceRow::chi, &ConvergenceRow::phi_m,
          &ConvergenceRow::minimum, &ConvergenceRow::maximum, &ConvergenceRow::seconds}) {
      EXPECT_EQ(x.*member, y.*member);
    }
  }
  for (const auto member : {&InversionState::model, &InversionState::weights_model, &InversionState::squares,
                            &InversionState::depth_of_investigation}) {
    EXPECT_EQ(a.*member, b.*member);
  }
  for (const auto member : {&InversionState::beta, &InversionState::seconds, &InversionState::last_phi_m,
                            &InversionState::trace, &InversionState::trace_squared}) {
    EXPECT_EQ(a.*member, b.*member);
  }
  for (const auto member : {&InversionState::products, &InversionState::compact_steps, &InversionState::samples}) {
    EXPECT_EQ(a.*member, b.*member);
  }
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.stored, b.stored);
  EXPECT_EQ(a.interval_steps, b.interval_steps);
  EXPECT_EQ(a.interval_dual, b.interval_dual);
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.upper, b.upper);
  EXPECT_EQ(a.search, b.search);
  EXPECT_EQ(a.epsilon, b.epsilon);
  EXPECT_EQ(a.first_epsilon, b.first_epsilon);
}

std::optional<InversionState> read(const fs::path& file, const Digest& hash = our_case) {
  InversionState state;
  return read_checkpoint(file, hash, state) ? std::optional(state) : std::nullopt;
}

class Kept : public InversionCheckpointTest {
protected:
  [[nodiscard]] fs::path file() const { return path("c.ckpt"); }
  [[nodiscard]] std::string refusal(const Digest& hash = our_case) const {
    return mistakes([&] { static_cast<void>(read(file(), hash)); });
  }
  void put(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }
};

TEST_F(Kept, ComesBackBitForBit) {
  const InversionState state = full_state();
  EXPECT_FALSE(read(file())) << "no file yet";
  write_checkpoint(file(), our_case, state);
  const auto back = read(file());
  ASSERT_TRUE(back);
  expect_same(*back, state);
  EXPECT_TRUE(std::signbit(back->model[1])) << "-0 stays -0";
  EXPECT_EQ(names(), (std::set<std::string>{"c.ckpt"})) << "no temporary file is left";
}

TEST_F(Kept, ComesBackFromTheBeginning) {
  InversionState state;
  state.model = {1, 2, 3};
  write_checkpoint(file(), our_case, state);
  const auto back = read(file());
  ASSERT_TRUE(back);
  expect_same(*back, state);
}

TEST_F(Kept, IsReplacedByTheNext) {
  InversionState state = full_state();
  write_checkpoint(file(), our_case, state);
  state.samples = 21;
  write_checkpoint(file(), our_case, state);
  EXPECT_EQ(read(file())->samples, 21);
}

TEST_F(Kept, IsRefusedWithAnyBitChanged) {
  write_checkpoint(file(), our_case, full_state());
  const std::string whole = content(file());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ mask);
      put(bytes);
      ASSERT_THAT(refusal(), AnyOf(HasSubstr(damaged), HasSubstr(no_checkpoint), HasSubstr(another_version)))
          << "byte " << at;
    }
  }
}

TEST_F(Kept, IsRefusedWhenCutOrLengthened) {
  write_checkpoint(file(), our_case, full_state());
  const std::string whole = content(file());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    put(whole.substr(0, n));
    ASSERT_THAT(refusal(), AnyOf(HasSubstr(damaged), HasSubstr(no_checkpoint))) << n << " bytes";
  }
  put(whole + '\0');
  EXPECT_THAT(refusal(), HasSubstr(damaged));
  put(whole + whole);
  EXPECT_THAT(refusal(), HasSubstr(damaged));
  put(whole);
  EXPECT_EQ(refusal(), "");
}

TEST_F(Kept, IsOfOneCase) {
  write_checkpoint(file(), our_case, full_state());
  EXPECT_EQ(refusal({42, 8}),
            "output.checkpoint.file: " + file().string() +
                " is of another case: the model, the observations, the fields, the inversion or a file that they name "
                "differ" +
                not_replaced);
  EXPECT_THAT(refusal({43, 7}), HasSubstr("is of another case"));
}

TEST_F(Kept, IsNoneOfARun) {
  write_checkpoint(file(), {"direct", our_case, {}}, 0, {});
  EXPECT_THAT(refusal(), HasSubstr("was computed by method direct, this run's is inversion; without --resume the inv"));
}

TEST_F(Kept, RefusesNumbersThatEndEarlyOrCountMoreThanThereAre) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1} << 62}) {
    write_checkpoint(file(), {"inversion", our_case, {}}, 0, {{0, 0, 0, count}, {}});
    EXPECT_THAT(refusal(), HasSubstr(damaged));
  }
}

TEST_F(InversionCheckpointTest, ReplacesNothingElse) {
  std::ofstream(path("thesis.txt"))
      << "years of work, which are longer than the header of a checkpoint, so that this is "
         "not what refuses it";
  std::ofstream(path("empty"));
  fs::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("thesis.txt", path("link"));
  fs::create_symlink("nowhere", path("dangling"));
  const std::vector<std::pair<std::string, std::string>> others = {
      {"thesis.txt", "thesis.txt is no checkpoint of prismfield"},
      {"empty", "empty is no checkpoint of prismfield"},
      {"folder", "folder is a folder"},
      {"pipe", "pipe is a pipe"},
      {"link", "thesis.txt is no checkpoint of prismfield"}};
  for (const auto& [name, what] : others) {
    const std::string told = "output.checkpoint.file: " + path(what).string() + not_replaced;
    EXPECT_EQ(mistakes([&, &name = name] { check_checkpoint_place(path(name), 1); }), told);
    EXPECT_EQ(mistakes([&, &name = name] { static_cast<void>(read(path(name))); }), told);
    remove_checkpoint(path(name), our_case);
    EXPECT_TRUE(fs::exists(path(name))) << name;
  }
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(path("dangling"), 1); }), "");
  EXPECT_FALSE(read(path("dangling")));
}

TEST_F(Kept, IsRemovedByItsOwnCaseAlone) {
  write_checkpoint(file(), our_case, full_state());
  EXPECT_EQ(mistakes([&] { check_checkpoint_place(file(), 1); }), "");
  remove_checkpoint(file(), {42, 8});
  EXPECT_TRUE(fs::exists(file()));
  remove_checkpoint(file(), our_case);
  EXPECT_FALSE(fs::exists(file()));
  remove_checkpoint(file(), our_case);
}

TEST_F(InversionCheckpointTest, TellsWhereItCannotBeWritten) {
  EXPECT_THROW(write_checkpoint(path("no folder") / "c.ckpt", our_case, full_state()), RunError);
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace prismfield::test_inversion_checkpoint
