// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/child_process.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

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
  command.words = {""};
  EXPECT_EQ(run(command).outcome.code, 127);
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

TEST_F(ChildProcessTest, HasNothingToRead) { EXPECT_EQ(run(shell("cat; echo end")).output, "end\n"); }

TEST_F(ChildProcessTest, IsWatchedWhileItGoesOn) {
  const fs::path flag = m_folder / "flag";
  ChildCommand command = shell("while ! [ -e '" + flag.string() + "' ]; do sleep 0.01; done; echo seen");
  int calls = 0;
  command.watch = [&] {
    if (++calls == 2) std::ofstream(flag).flush();
  };
  EXPECT_EQ(run(command).output, "seen\n");
  EXPECT_GE(calls, 2);
}

TEST_F(ChildProcessTest, SignalsThatThisProcessIgnoresOrBlocksAreTheProgramsOwn) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t some;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &some, nullptr);
  EXPECT_EQ(run(shell("kill -PIPE $$")).outcome.text(), "was ended by signal 13 (Broken pipe)");
  EXPECT_EQ(run(shell("kill -TERM $$")).outcome.text(), "was ended by signal 15 (Terminated)");
  ::sigprocmask(SIG_UNBLOCK, &some, nullptr);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace prismfield
