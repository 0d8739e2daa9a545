// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/crash_guard.hpp"
#include "base/temporary_file.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <vector>

namespace prismfield {
namespace {

/// Runs to the end of the memory for calls, long before `most`.
int deeper(int depth, int most) {  // NOLINT(misc-no-recursion)
  volatile int here[1000] = {depth};
  return depth == most ? 0 : deeper(depth + 1, most) + here[0];
}

void fail() { throw std::bad_alloc(); }
void let_nothing_through() noexcept { fail(); }

TEST(CrashGuardDeathTest, EndsACrashWithItsMessage) {
  const auto crash = [](int signal) {
    end_crashes_clearly();
    const CrashGuard guard("a.h5: is damaged", exit_input);
    std::raise(signal);
  };
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    EXPECT_EXIT(crash(signal), ::testing::ExitedWithCode(exit_input), "^a.h5: is damaged\n$") << signal;
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST(CrashGuardDeathTest, EndsARecursionWithoutEnd) {
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        const CrashGuard guard("a.h5: is damaged", exit_input);
        std::exit(deeper(0, 1 << 30));
      },
      ::testing::ExitedWithCode(exit_input), "is damaged");
}
#endif

TEST(CrashGuardDeathTest, EndsACallOfExit) {
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        const CrashGuard guard("a.h5: is damaged", exit_input);
        std::exit(255);
      },
      ::testing::ExitedWithCode(exit_input), "is damaged");
}

TEST(CrashGuardDeathTest, TellsWhichOfSeveral) {
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        const CrashGuard first("a.h5", exit_input);
        const CrashGuard second("b.h5", exit_failure);
        first.watch();
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(exit_input), "^a.h5\n$");
}

TEST(CrashGuardDeathTest, RemovesWhatIsUnfinished) {
  const testing::ScratchFolder folder;
  const std::filesystem::path target = folder.write("a.h5", "older");
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        const TemporaryFile unfinished(target);
        const CrashGuard guard("a.h5: is not written", exit_failure);
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(exit_failure), "is not written");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "")) files.push_back(entry.path());
  EXPECT_EQ(files, std::vector{target});
}

// A sanitizer ends such crashes itself.
#ifndef __SANITIZE_ADDRESS__
TEST(CrashGuardDeathTest, LeavesOtherCrashesAlone) {
  const auto crash = [](bool wanted) {
    if (wanted) end_crashes_clearly();
    { const CrashGuard guard("a.h5", exit_input); }
    std::raise(SIGBUS);
  };
  EXPECT_EXIT(crash(true), ::testing::KilledBySignal(SIGBUS), "^$");
  EXPECT_EXIT(
      {
        const CrashGuard guard("a.h5", exit_input);
        std::raise(SIGBUS);
      },
      ::testing::KilledBySignal(SIGBUS), "^$")
      << "a program that did not ask";
}
#endif

TEST(CrashGuardDeathTest, TellsOfMemoryThatNoErrorCanTellOf) {
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        let_nothing_through();
      },
      ::testing::ExitedWithCode(exit_failure), "^error: there is not enough memory");
  EXPECT_EXIT(
      {
        end_crashes_clearly();
        std::terminate();
      },
      ::testing::ExitedWithCode(exit_failure), "^error: a library gave up");
}

}  // namespace
}  // namespace prismfield
