// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/input_file.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace prismfield::test_input_file {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mistakes;
using testing::ScratchFolder;

class InputFileTest : public ::testing::Test {
protected:
  static InputFile named(const std::filesystem::path& path) { return {path, "case.yaml:7", "model.file"}; }
  ScratchFolder m_folder;
};

TEST_F(InputFileTest, TellsArraysByTheirContent) {
  MadeHdf5(m_folder / "a.csv").close();
  EXPECT_TRUE(is_array_file(named(m_folder / "a.csv")));
  EXPECT_FALSE(is_array_file(named(m_folder.write("b.csv", "1,2\n"))));
  EXPECT_FALSE(is_array_file(named(m_folder.write("c.csv", ""))));
  EXPECT_THAT(mistakes([&] { (void)is_array_file(named(m_folder.write("d.nc", "1,2\n"))); }),
              HasSubstr("is no HDF5 or netCDF file"));
  EXPECT_TRUE(is_array_file(named(m_folder.write("e.grd", "CDF\x05"))));
}

TEST_F(InputFileTest, SaysThatAFileWasChangedWhileItWasRead) {
  const std::vector<double> values = {1, 2, 3};
  const auto make = [&](const char* name) {
    MadeHdf5 made(m_folder / name);
    made.write("/x", {3}, values.data());
    made.write("/y", {3}, values.data());
    made.close();
  };
  make("a.h5");
  make("b.h5");
  const ArrayFile file(named(m_folder / "a.h5"));
  EXPECT_THAT(file.read("/x"), ElementsAre(1, 2, 3));
  std::filesystem::rename(m_folder / "b.h5", m_folder / "a.h5");
  EXPECT_THAT(mistakes([&] { (void)file.read("/y"); }), HasSubstr("was changed while it was read"));
}

TEST_F(InputFileTest, TakesNothingFromAPipe) {
  const auto pipe = m_folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // opening it would wait for ever
  EXPECT_FALSE(is_array_file(named(pipe)));
}

TEST_F(InputFileTest, TurnsHdf5FailuresIntoMistakes) {
  MadeHdf5 made(m_folder / "a.h5");
  made.write_text("/words", "stone");
  made.make_group("/group");
  const std::vector<double> values = {1, 2, 3};
  made.write("/x", {3}, values.data());
  made.write("/z", {1, 3}, values.data());
  made.make_dimension("/x");
  made.make_dimension_without_values("/y", 1);
  made.attach_dimensions("/z", {"/y", "/x"});
  made.close();
  const ArrayFile file(named(m_folder / "a.h5"));
  EXPECT_THAT(file.read("/x"), ElementsAre(1, 2, 3));
  EXPECT_THAT(file.shape("/z"), ElementsAre(1, 3));
  EXPECT_THAT(file.dimension_names("/z"), ElementsAre("y", "x"));
  EXPECT_THAT(file.dimension_names("/x"), ElementsAre("x"));
  EXPECT_TRUE(file.has("/group"));
  EXPECT_FALSE(file.has("/group/x"));
  for (const char* name : {"/words", "/group", "/none"}) {
    EXPECT_THAT(mistakes([&] { (void)file.read(name); }),
                AllOf(HasSubstr("case.yaml:7: model.file: "), HasSubstr(name)));
  }
  EXPECT_THAT(mistakes([&] { (void)file.dataset_names("/none"); }), HasSubstr("has no group /none"));
  EXPECT_THAT(mistakes([&] { ArrayFile(named(m_folder.write("b.h5", "text"))); }),
              HasSubstr("case.yaml:7: model.file: "));
}

TEST(ShapeText, ListsExtents) {
  EXPECT_EQ(shape_text({50, 700, 700}), "(50, 700, 700)");
  EXPECT_EQ(shape_text({}), "()");
}

}  // namespace
}  // namespace prismfield::test_input_file
