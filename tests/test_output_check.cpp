// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "case/output_check.hpp"
#include "folder_test.hpp"
#include "result_samples.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace prismfield::test_output_check {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace testing_samples;

using OutputTest = FolderTest;

/// Every problem that check_output finds, one message a line.
std::string problems_of(const Case& run) {
  return testing::mistakes([&] { check_output(run); });
}

TEST(OutputFile, TakesTheNameOfTheCase) {
  Case run;
  run.file = "some/folder/seven.spheres.yaml";
  EXPECT_EQ(output_file(run), fs::path("seven.spheres.h5"));
  run.output.file = "other.nc";
  EXPECT_EQ(output_file(run), fs::path("other.nc"));
}

TEST_F(OutputTest, CheckAcceptsWhatCanBeWritten) {
  Case run = sample_case(path("r.h5"));
  EXPECT_EQ(problems_of(run), "");
  std::ofstream(path("r.h5")) << "old";
  EXPECT_EQ(problems_of(run), "");
  run.output.figure = path("r.svg");
  run.output.checkpoint = CheckpointSpec{60, path("r.ckpt.h5")};
  run.noise = NoiseSpec{{{Field::gz, 1.0}}, 1};
  EXPECT_EQ(problems_of(run), "");
  // nothing is left behind, and the old result is as it was
  EXPECT_EQ(names(), std::set<std::string>{"r.h5"});
  EXPECT_EQ(content(path("r.h5")), "old");
}

TEST_F(OutputTest, CheckNamesEveryMistake) {
  Case run = sample_case(path("none/r.h5"), {Field::gx});
  run.output.figure = path("picture.gif");
  run.output.checkpoint = CheckpointSpec{60, path("nowhere/c.h5")};
  const std::string all = problems_of(run);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n') + (all.back() == '\n' ? 0 : 1), 3) << all;
  EXPECT_THAT(all, HasSubstr("sample.yaml:7: output.file: the folder " + path("none").string() + " does not exist"));
  EXPECT_THAT(all, AllOf(HasSubstr("output.figure: "), HasSubstr(".gif"), HasSubstr(".png, .pdf, .svg")));
  EXPECT_THAT(all, HasSubstr("sample.yaml:6: output.checkpoint.file: "));
  EXPECT_TRUE(names().empty());
}

TEST_F(OutputTest, CheckRefusesUnknownKinds) {
  for (const char* name : {"r.h5", "r.nc", "r.csv", "r.xyz", "r.CSV"})
    EXPECT_EQ(problems_of(sample_case(path(name))), "");
  EXPECT_EQ(problems_of(sample_case(path("r.txt"))),
            "sample.yaml:7: output.file: no kind of result ends in '.txt'; allowed: .nc or .h5 (netCDF-4, the same "
            "file), .csv and .xyz (tables), of which prismfield convert makes others");
  EXPECT_THAT(problems_of(sample_case(path("r"))), HasSubstr("has no suffix that says what to write; allowed: .nc"));
}

TEST_F(OutputTest, CheckRefusesNamesThatAreNoFiles) {
  std::ofstream(path("file")) << "x";
  EXPECT_THAT(problems_of(sample_case(path("file/r.h5"))), HasSubstr("is not a folder"));
  fs::create_directories(path("folder"));
  EXPECT_THAT(problems_of(sample_case(path("folder"))), HasSubstr("is a folder"));
  EXPECT_THAT(problems_of(sample_case(path("folder/"))), HasSubstr("names a folder"));
  EXPECT_THAT(problems_of(sample_case("/dev/null")), HasSubstr("is not a regular file"));
  EXPECT_THAT(problems_of(sample_case(path(std::string(300, 'n')))), HasSubstr("File name too long"));
  if (fs::exists("/proc/self")) {
    EXPECT_THAT(problems_of(sample_case("/proc/r.h5")), HasSubstr("no file can be made in the folder /proc"));
  }
  EXPECT_THROW(
      write_result(result_header(sample_case("/dev/null")), grid_points(2, 2), sample_result(grid_points(2, 2)), {}),
      RunError);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputTest, CheckRefusesAFolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  fs::create_directories(path("closed"));
  fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(problems_of(sample_case(path("closed/r.h5"))), HasSubstr("Permission denied"));
  std::ofstream(path("kept.h5")) << "x";
  fs::permissions(path("kept.h5"), fs::perms::owner_read);
  EXPECT_THAT(problems_of(sample_case(path("kept.h5"))), HasSubstr("must not be replaced"));
}

TEST_F(OutputTest, CheckDoesNotFollowALinkOfAnotherUserInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser can make a link of another user";
  constexpr uid_t another = 12345;
  std::ofstream(path("victim.h5")) << "precious";
  fs::create_directories(path("shared"));
  ASSERT_EQ(::chmod(path("shared").c_str(), 01777), 0);
  const fs::path link = path("shared/r.h5");
  fs::create_symlink("../victim.h5", link);
  EXPECT_EQ(problems_of(sample_case(link)), "") << "of our own";
  ASSERT_EQ(::lchown(link.c_str(), another, another), 0);
  const std::string why =
      link.string() + " is a link that is not followed: another user's in a folder that all may write";
  EXPECT_THAT(problems_of(sample_case(link)), HasSubstr("output.file: " + why));
  Case run = sample_case(path("r.h5"));
  run.output.checkpoint = CheckpointSpec{60, link};
  EXPECT_THAT(problems_of(run), HasSubstr("output.checkpoint.file: " + why));
  // made after the check
  const Points points = grid_points(2, 2);
  EXPECT_THROW(write_result(result_header(sample_case(link)), points, sample_result(points), {}), RunError);
  EXPECT_EQ(content(path("victim.h5")), "precious");
  EXPECT_TRUE(fs::is_symlink(link));
  // the folder's owner may, as may whoever made a link where only some may write
  ASSERT_EQ(::chown(path("shared").c_str(), another, another), 0);
  EXPECT_EQ(problems_of(sample_case(link)), "");
  ASSERT_EQ(::chown(path("shared").c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(path("shared").c_str(), 0777), 0);
  EXPECT_EQ(problems_of(sample_case(link)), "");
}

TEST_F(OutputTest, CheckProtectsInputs) {
  std::ofstream(path("in.h5")) << "input";
  Case run = sample_case(path("in.h5"));
  const auto is_protected = [&] { return problems_of(run).find("would replace the input") != std::string::npos; };
  EXPECT_FALSE(is_protected());
  // which keys name inputs: test_input_paths
  run.input_files = {path("case.yaml"), path("./in.h5")};
  EXPECT_TRUE(is_protected());
  fs::create_symlink("in.h5", path("alias.h5"));
  run.output.file = path("alias.h5");
  EXPECT_TRUE(is_protected());
  run.output.file = path("out.h5");
  EXPECT_FALSE(is_protected());

  Case same = sample_case(path("a.png"));
  same.output.figure = path("./a.png");
  EXPECT_THAT(problems_of(same), HasSubstr("output.figure: is the same file as output.file"));
}

TEST_F(OutputTest, CheckLooksAtWhatAnInversionWritesBeside) {
  Case run = sample_case(path("r.h5"));
  run.output.also = {path("none/m.vtr"), path("r.h5"), path("m.vtr")};
  EXPECT_EQ(problems_of(run), "") << "run writes none of them";
  EXPECT_TRUE(also_files(run).empty());
  run.use = CaseUse::inversion;
  const std::string all = problems_of(run);
  EXPECT_THAT(all, HasSubstr("output.also.0: the folder " + path("none").string() + " does not exist"));
  EXPECT_THAT(all, HasSubstr("output.also.1: is the same file as output.file"));
  EXPECT_THAT(all, HasSubstr("output.also.1: no model beside output.file ends in '.h5'"));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n') + (all.back() == '\n' ? 0 : 1), 3) << all;
  run.output.also = {path("m.vtr"), path("m.vtu"), path("m.msh"), path("m.den"), path("m.mod"), path("M.VTR")};
  EXPECT_EQ(problems_of(run), "");
  EXPECT_TRUE(names().empty());
}

TEST(ModelFormat, IsOneOfCells) {
  EXPECT_EQ(model_format("a.vtr"), FileFormat::vtr);
  EXPECT_EQ(model_format("a.DEN"), FileFormat::ubc_model);
  for (const char* name : {"a.h5", "a.csv", "a.obs", "a.vtp", "a.vtkhdf", "a", ".vtr"})
    EXPECT_FALSE(model_format(name));
}

TEST(FigureSuffixes, AreTheThree) {
  for (const char* file : {"a.png", "a.pdf", "a.svg"}) EXPECT_EQ(why_no_figure(file), "");
  EXPECT_EQ(why_no_figure("a.gif"), "no kind of figure ends in '.gif'; allowed: .png, .pdf, .svg");
}

}  // namespace
}  // namespace prismfield::test_output_check
