// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "folder_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace prismfield::test_temporary_file {
namespace {

namespace fs = std::filesystem;
using testing_samples::content;

class TemporaryFileTest : public testing_samples::FolderTest {
protected:
  void write(const std::string& name, const std::string& text) const {
    TemporaryFile file(path(name));
    file.write(text.data(), text.size());
    file.move_to_target();
  }
  static mode_t mode(const fs::path& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
};

TEST_F(TemporaryFileTest, BecomesItsTargetOrGoes) {
  write("r.h5", "first");
  write("r.h5", "second");
  EXPECT_EQ(content(path("r.h5")), "second");
  {
    const TemporaryFile file(path("r.h5"));
    file.write("third", 5);
    EXPECT_EQ(file.name().parent_path(), path("r.h5").parent_path());
    EXPECT_TRUE(is_temporary_of(file.name().filename().string(), "r.h5"));
    EXPECT_EQ(names().size(), 2U);
  }
  EXPECT_EQ(names(), std::set<std::string>{"r.h5"});
  EXPECT_EQ(content(path("r.h5")), "second");
}

TEST_F(TemporaryFileTest, HasANameThatNobodyCanGuess) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(TemporaryFile(path("r.h5")).name().string());
  EXPECT_EQ(seen.size(), 100U);
}

TEST_F(TemporaryFileTest, FollowsNoLinkThatSomebodyPutThere) {
  std::ofstream(path("victim")) << "precious";
  // the name that earlier versions took
  const std::string guessed = ".r.h5.part-" + std::to_string(::getpid());
  fs::create_symlink("victim", path(guessed));
  write("r.h5", "result");
  EXPECT_EQ(content(path("victim")), "precious");
  EXPECT_TRUE(fs::is_symlink(path(guessed)));
  EXPECT_FALSE(fs::is_symlink(path("r.h5")));
  EXPECT_EQ(content(path("r.h5")), "result");
}

TEST_F(TemporaryFileTest, HasTheUsualPermissionsOrThoseOfTheFileBefore) {
  const mode_t before = ::umask(0027);
  write("r.h5", "x");
  EXPECT_EQ(mode(path("r.h5")), 0640U);
  for (const mode_t kept : {0600U, 0664U, 0444U}) {
    ::chmod(path("r.h5").c_str(), kept);
    const TemporaryFile part(path("r.h5"));
    EXPECT_EQ(mode(part.name()), kept) << "private from the beginning";
    write("r.h5", "y");
    EXPECT_EQ(mode(path("r.h5")), kept);
  }
  ::umask(before);
}

TEST_F(TemporaryFileTest, SaysWhyThereIsNone) {
  try {
    const TemporaryFile file(path("none/r.h5"));
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.what(), path("none/r.h5").string() + ": no file can be made in the folder " +
                                path("none").string() + ": No such file or directory");
  }
}

TEST_F(TemporaryFileTest, RemovesWhatKilledProcessesLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFile file(path("r.h5"));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(names().size(), 1U);
  const std::string left = *names().begin();
  ::chmod(path(left).c_str(), 0444);
  // of a living writer, of another file, and no such name
  const TemporaryFile living(path("r.h5"));
  EXPECT_FALSE(fs::exists(path(left)));
  const std::set<std::string> others{".q.h5.part-aB3dE6", ".r.h5.part-aB3dE", ".r.h5.part-folder"};
  for (const std::string& name : others) {
    if (name.ends_with("folder")) {
      fs::create_directory(path(name));
    } else {
      std::ofstream(path(name)) << "x";
    }
  }
  ASSERT_EQ(::mkfifo(path(".r.h5.part-FIFO00").c_str(), 0600), 0);
  std::ofstream(path(".r.h5.part-aB3dE6")) << "left";
  std::set<std::string> expected = others;
  expected.insert({living.name().filename().string(), ".r.h5.part-FIFO00", "r.h5"});
  write("r.h5", "x");
  EXPECT_EQ(names(), expected);
}

TEST_F(TemporaryFileTest, ASignalLeavesNothingWheneverItComes) {
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      end_at_interrupts();
      for (;;) write("r.h5", "x");
    }
    ::usleep(static_cast<useconds_t>(1000 + 211 * i));
    ::kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    fs::remove(path("r.h5"));
    EXPECT_EQ(names(), std::set<std::string>{}) << i;
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(TemporaryName, IsRecognised) {
  EXPECT_TRUE(is_temporary_of(".r.h5.part-0aZz9b", "r.h5"));
  for (const char* other : {"r.h5", ".r.h5.part-0aZz9", ".r.h5.part-0aZz9bc", ".r.h5.part-0aZz9_", "_r.h5.part-0aZz9b",
                            ".q.h5.part-0aZz9b", ".r.h5.pant-0aZz9b", ""}) {
    EXPECT_FALSE(is_temporary_of(other, "r.h5")) << other;
  }
}

}  // namespace
}  // namespace prismfield::test_temporary_file
