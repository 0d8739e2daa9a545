// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/child_process.hpp"
#include "base/interrupt.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A command of the shell whose output goes to a file.
struct Shown {
  ChildOutcome outcome;
  std::string output;
};

class ChildProcessTest : public ::testing::Test {
protected:
  Shown run(ChildCommand command) const {
    const fs::path file = m_folder / "output";
    const int descriptor = ::open(file.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    command.output = descriptor;
    Shown result;
    result.outcome = run_child(command);
    ::close(descriptor);
    result.output = content(file);
    return result;
  }
  static ChildCommand shell(const std::string& text) {
    ChildCommand command;
    command.words = {"sh", "-c", text};
    return command;
  }

  testing::ScratchFolder m_folder;
};

TEST_F(ChildProcessTest, TellsHowAProgramEnded) {
  const Shown good = run(shell("echo out; echo err >&2"));
  EXPECT_TRUE(good.outcome.succeeded());
  EXPECT_EQ(good.output, "out\nerr\n");
  const Shown bad = run(shell("exit 7"));
  EXPECT_EQ(bad.outcome.code, 7);
  EXPECT_EQ(bad.outcome.text(), "ended with 7");
  const Shown killed = run(shell("kill -SEGV $$"));
  EXPECT_EQ(killed.outcome.end, ChildOutcome::End::by_signal);
  EXPECT_EQ(killed.outcome.text(), "was ended by signal 11 (Segmentation fault)");
}

TEST_F(ChildProcessTest, WordsArriveAsTheyAre) {
  ChildCommand command;
  command.words = {"printf", "%s|", "two words", "$HOME", "'", ""};
  EXPECT_EQ(run(command).output, "two words|$HOME|'||");
}

TEST_F(ChildProcessTest, TellsWhyAProgramCannotStart) {
  ChildCommand command;
  command.words = {"no_such_program_of_prismfield"};
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: No such file or directory");
  EXPECT_EQ(run(command).outcome.code, 127);
  command.words = {m_folder.write("data", "no program").string()};
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: Permission denied");
  EXPECT_EQ(run(command).outcome.code, 126);
  fs::permissions(m_folder / "data", fs::perms::owner_all);
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: Exec format error");
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("/"));
}

TEST_F(ChildProcessTest, TheEnvironmentIsWhatWasGiven) {
  ChildCommand command = shell("echo \"$PRISMFIELD_PROBE|$OMPI_COMM_WORLD_SIZE|$OMPI_ALLOW_RUN_AS_ROOT|$PMIX_RANK\"");
  command.environment.set("PRISMFIELD_PROBE", "first");
  command.environment.set("PRISMFIELD_PROBE", "second");
  command.environment.set("OMPI_COMM_WORLD_SIZE", "4");
  command.environment.set("OMPI_ALLOW_RUN_AS_ROOT", "1");
  command.environment.set("PMIX_RANK", "0");
  command.environment.remove_launcher();
  EXPECT_EQ(run(command).output, "second||1|\n");
  EXPECT_EQ(command.environment.find("PRISMFIELD_PROBE"), "second");
  EXPECT_FALSE(command.environment.find("PRISMFIELD_PROB"));
  command.environment.remove("PRISMFIELD_PROBE");
  EXPECT_FALSE(command.environment.find("PRISMFIELD_PROBE"));
}

TEST_F(ChildProcessTest, ReadsWhatItIsGivenAndNothingElse) {
  EXPECT_EQ(run(shell("cat; echo end")).output, "end\n");
  const fs::path file = m_folder.write("input", "some text\n");
  ChildCommand command = shell("cat");
  command.input = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(run(command).output, "some text\n");
  ::close(command.input);
}

TEST_F(ChildProcessTest, ReadsWhatAProgramPrints) {
  ChildCommand command;
  command.words = {"sh", "-c", "printf 'a\\nb'; exit ${1}", "sh", "0"};
  EXPECT_EQ(output_of_child(command), "a\nb");
  command.words.back() = "3";
  EXPECT_EQ(output_of_child(command), std::nullopt);
  command.words = {"no such program"};
  EXPECT_EQ(output_of_child(command), std::nullopt);
}

TEST_F(ChildProcessTest, MeasuresTimeAndMemory) {
  const ChildOutcome sleeping = run(shell("sleep 0.3")).outcome;
  EXPECT_GE(sleeping.seconds, 0.3);
  EXPECT_LT(sleeping.processor_seconds, sleeping.seconds - 0.2);
  const ChildOutcome busy = run(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).outcome;
  EXPECT_GT(busy.processor_seconds, 0.01);
  // 300 MB, which this process does not hold
  const ChildOutcome large = run(shell("head -c 300000000 /dev/zero | tail -n 1 > /dev/null")).outcome;
  EXPECT_GT(large.peak_memory_bytes, 300'000'000);
  EXPECT_LT(large.peak_memory_bytes, 1'200'000'000);
}

/// Waits for the end of the process whose number stands in a file; false where it goes on for a minute.
bool ends(const fs::path& number) {
  const fs::path status = fs::path("/proc") / std::to_string(std::stol(content(number))) / "stat";
  for (int i = 0; i < 6000; ++i) {
    const std::string text = content(status);
    // nobody may wait for it
    if (text.empty() || text.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_F(ChildProcessTest, AGroupEndsWithAllThatItStartedWhenItsTimeIsOver) {
  const fs::path number = m_folder / "number", begun = m_folder / "begun";
  ChildCommand command = shell("(trap '' TERM; echo > '" + begun.string() + "'; sleep 1000) & echo $! > '" +
                               number.string() + "'; sleep 1000");
  command.own_group = true;
  command.most_seconds = 1000;
  // its time is over when all is there
  command.watch = [&] {
    if (fs::exists(begun) && !content(number).empty()) command.most_seconds = 0.3;
  };
  EXPECT_EQ(run_child(command).end, ChildOutcome::End::out_of_time);
  EXPECT_TRUE(ends(number));
}

TEST_F(ChildProcessTest, AChildThatEndsInTimeIsNotWaitedForLonger) {
  ChildCommand command = shell("exit 3");
  command.own_group = true;
  command.most_seconds = 100;
  const ChildOutcome outcome = run(command).outcome;
  EXPECT_EQ(outcome.text(), "ended with 3");
  EXPECT_LT(outcome.seconds, command.most_seconds);
}

TEST_F(ChildProcessTest, AGroupEndsWithItsParent) {
  const fs::path number = m_folder / "number";
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ChildCommand command = shell("echo $$ > '" + number.string() + "'; exec sleep 1000");
    command.own_group = true;
    command.signal_when_orphaned = SIGKILL;
    static_cast<void>(run_child(command));
    ::_exit(0);
  }
  while (content(number).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(ends(number));
}

TEST_F(ChildProcessTest, AnInterruptEndsTheChild) {
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    catch_interrupts();
    ChildCommand command = shell("kill -TERM " + std::to_string(::getpid()) + "; sleep 100");
    command.own_group = true;
    const ChildOutcome outcome = run_child(command);
    ::_exit(outcome.end == ChildOutcome::End::interrupted ? 42 : 1);
  }
  int status = 0;
  ::waitpid(parent, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace prismfield
