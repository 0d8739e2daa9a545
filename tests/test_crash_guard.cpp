// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/crash_guard.hpp"
#include "base/temporary_file.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <vector>

namespace prismfield::test_crash_guard {
namespace {

/// Runs to the end of the memory for calls, long before `most`.
int deeper(int depth, int most) {  // NOLINT(misc-no-recursion)
  volatile int here[1000] = {depth};
  return depth == most ? 0 : deeper(depth + 1, most) + here[0];
}

int code_of(ErrorKind kind) { return kind == ErrorKind::input ? 20 : 10; }

void let_nothing_through(void (*fail)()) noexcept { fail(); }

/// As `ulimit -c`. A core of at most one byte is asked for, and not written.
bool limit_cores(rlim_t bytes) {
  struct rlimit core {};
  if (::getrlimit(RLIMIT_CORE, &core) != 0) return false;
  core.rlim_cur = bytes;
  return ::setrlimit(RLIMIT_CORE, &core) == 0;
}

class CrashGuardDeathTest : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(limit_cores(0)); }
};

TEST_F(CrashGuardDeathTest, EndsACrashWithItsMessage) {
  const auto crash = [](int signal) {
    end_crashes_clearly(code_of);
    const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
    std::raise(signal);
  };
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    EXPECT_EXIT(crash(signal), ::testing::ExitedWithCode(20), "^a.h5: is damaged\n$") << signal;
  }
}

TEST_F(CrashGuardDeathTest, EndsALoopWithoutEnd) {
  const auto loop = [] {
    end_crashes_clearly(code_of);
    const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
    { const LoopGuard short_call; }
    const LoopGuard loop_guard;
    volatile bool endless = true;
    while (endless) {
    }
  };
  EXPECT_EXIT(loop(), ::testing::ExitedWithCode(20), "^a.h5: is damaged\n$");
}

#ifndef __SANITIZE_ADDRESS__
TEST_F(CrashGuardDeathTest, EndsARecursionWithoutEnd) {
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
        std::exit(deeper(0, 1 << 30));
      },
      ::testing::ExitedWithCode(20), "is damaged");
}
#endif

TEST_F(CrashGuardDeathTest, EndsACallOfExit) {
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
        std::exit(255);
      },
      ::testing::ExitedWithCode(20), "is damaged");
}

TEST_F(CrashGuardDeathTest, TellsWhichOfSeveral) {
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const CrashGuard first("a.h5", ErrorKind::input);
        const CrashGuard second("b.h5", ErrorKind::failure);
        first.watch();
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(20), "^a.h5\n$");
}

TEST_F(CrashGuardDeathTest, RemovesWhatIsUnfinished) {
  const testing::ScratchFolder folder;
  const std::filesystem::path target = folder.write("a.h5", "older");
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const TemporaryFile unfinished(target);
        const CrashGuard guard("a.h5: is not written", ErrorKind::failure);
        std::raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(10), "is not written");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "")) files.push_back(entry.path());
  EXPECT_EQ(files, std::vector{target});
}

// A sanitizer ends such crashes itself.
#ifndef __SANITIZE_ADDRESS__
TEST_F(CrashGuardDeathTest, LeavesOtherCrashesAlone) {
  const auto crash = [](bool wanted) {
    if (wanted) end_crashes_clearly(code_of);
    { const CrashGuard guard("a.h5", ErrorKind::input); }
    std::raise(SIGBUS);
  };
  EXPECT_EXIT(crash(true), ::testing::KilledBySignal(SIGBUS), "^$");
  EXPECT_EXIT(
      {
        const CrashGuard guard("a.h5", ErrorKind::input);
        std::raise(SIGBUS);
      },
      ::testing::KilledBySignal(SIGBUS), "^$")
      << "a program that did not ask";
}
#endif

#ifndef __SANITIZE_ADDRESS__
TEST_F(CrashGuardDeathTest, LeavesACoreToThoseWhoAsk) {
  if (!limit_cores(1)) GTEST_SKIP() << "cores are forbidden here";
  const testing::ScratchFolder folder;
  const std::filesystem::path target = folder.write("a.h5", "older");
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const TemporaryFile unfinished(target);
        const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
        std::raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "^a.h5: is damaged\n$");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "")) files.push_back(entry.path());
  EXPECT_EQ(files, std::vector{target});
}

// What is thrown where nothing lets it through is a fault of our own, not of the file at hand.
TEST_F(CrashGuardDeathTest, TellsOfAFaultOfOurOwn) {
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        const CrashGuard guard("a.h5: is damaged", ErrorKind::input);
        let_nothing_through([] { throw std::logic_error("no such cell"); });
      },
      ::testing::KilledBySignal(SIGABRT), "^error: no such cell\n$");
}
#endif

TEST_F(CrashGuardDeathTest, TellsOfMemoryThatNoErrorCanTellOf) {
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        let_nothing_through([] { throw std::bad_alloc(); });
      },
      ::testing::ExitedWithCode(10), "^error: there is not enough memory");
  EXPECT_EXIT(
      {
        end_crashes_clearly(code_of);
        std::terminate();
      },
      ::testing::ExitedWithCode(10), "^error: a library gave up");
}

}  // namespace
}  // namespace prismfield::test_crash_guard
