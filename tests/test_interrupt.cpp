// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "base/crash_guard.hpp"
#include "base/interrupt.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace prismfield::test_interrupt {
namespace {

/// Runs `body` in a child process, because a signal that was caught stays caught; returns the wait status.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, NothingIsStoppedWithoutASignal) {
  EXPECT_FALSE(interrupted());
  EXPECT_NO_THROW(throw_if_interrupted());
}

class InterruptSignal : public ::testing::TestWithParam<int> {};

TEST_P(InterruptSignal, AsksTheRunToStop) {
  const int status = status_of_child([] {
    catch_interrupts();
    if (interrupted()) return 1;
    ::raise(GetParam());
    if (!interrupted()) return 2;
    try {
      throw_if_interrupted();
    } catch (const Stopped&) {
      return 0;
    }
    return 3;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptSignal,
                         ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2));

TEST(Interrupt, AClosedPipeEndsNothing) {
  for (void (*const begin)() : {catch_interrupts, end_at_interrupts}) {
    const int status = status_of_child([begin] {
      begin();
      std::array<int, 2> ends{};
      if (::pipe(ends.data()) != 0) return 1;
      ::close(ends[0]);
      if (::write(ends[1], "x", 1) != -1 || errno != EPIPE) return 2;
      return interrupted() ? 3 : 0;
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST(Interrupt, ASecondSigintEndsTheProcess) {
  const int status = status_of_child([] {
    catch_interrupts();
    ::raise(SIGINT);
    ::raise(SIGINT);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupt, ASecondSigtermDoesNot) {
  const int status = status_of_child([] {
    catch_interrupts();
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    return interrupted() ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, TheFirstSignalEndsTheProcessWhereNothingIsLost) {
  const int status = status_of_child([] {
    end_crashes_clearly([](ErrorKind kind) { return kind == ErrorKind::stopped ? 30 : 10; });
    catch_interrupts();
    { const NothingToLose before; }
    ::raise(SIGUSR1);
    if (!interrupted()) return 1;
    const NothingToLose now;
    ::raise(SIGTERM);
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 30);
}

TEST(Interrupt, SighupIsIgnoredUnderNohup) {
  const int status = status_of_child([] {
    ::signal(SIGHUP, SIG_IGN);
    catch_interrupts();
    ::raise(SIGHUP);
    return interrupted() ? 1 : 0;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, CatchesEvenWhatTheParentIgnored) {
  // a shell starts background jobs with SIGINT ignored
  const int status = status_of_child([] {
    ::signal(SIGINT, SIG_IGN);
    catch_interrupts();
    ::raise(SIGINT);
    return interrupted() ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace prismfield::test_interrupt
