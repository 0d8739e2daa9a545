// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/python_tool.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace prismfield::test_child_process {
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
  Shown run(const std::vector<std::string>& words) const {
    const fs::path file = m_folder / "output";
    const int descriptor = ::open(file.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    Shown result;
    result.outcome = run_child(words, descriptor, descriptor);
    ::close(descriptor);
    result.output = content(file);
    return result;
  }
  static std::vector<std::string> shell(const std::string& text) { return {"sh", "-c", text}; }

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
  EXPECT_EQ(run({"printf", "%s|", "two words", "$HOME", "'", ""}).output, "two words|$HOME|'||");
}

TEST_F(ChildProcessTest, TellsWhyAProgramCannotStart) {
  std::vector<std::string> command = {"no_such_program_of_prismfield"};
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: No such file or directory");
  EXPECT_EQ(run(command).outcome.code, 127);
  command = {m_folder.write("data", "no program").string()};
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: Permission denied");
  EXPECT_EQ(run(command).outcome.code, 126);
  fs::permissions(m_folder / "data", fs::perms::owner_all);
  EXPECT_EQ(run(command).outcome.text(), "cannot be started: Exec format error");
  command = {""};
  EXPECT_EQ(run(command).outcome.code, 127);
}

TEST_F(ChildProcessTest, IsNoRankOfThisOnes) {
  ::setenv("PRISMFIELD_PROBE", "given", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("PMIX_RANK", "0", 1);
  EXPECT_EQ(run(shell("echo \"$PRISMFIELD_PROBE|$OMPI_COMM_WORLD_SIZE|$OMPI_ALLOW_RUN_AS_ROOT|$PMIX_RANK\"")).output,
            "given||1|\n");
  for (const char* variable : {"PRISMFIELD_PROBE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) ::unsetenv(variable);
}

TEST_F(ChildProcessTest, HasNothingToRead) { EXPECT_EQ(run(shell("cat; echo end")).output, "end\n"); }

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
}  // namespace prismfield::test_child_process
