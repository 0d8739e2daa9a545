// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/key_help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "case/key_table.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_key_help {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(KeyHelp, TellsAllOfAKey) {
  EXPECT_EQ(key_help("execution.slots"),
            "execution.slots\n  type     auto or a whole number from 1 to 1e9\n  default  auto\n  unit     grids\n\n"
            "  Grids of partial sums, one for each batch in work at a time. auto: on a host the threads, on a\n"
            "  device what fills it, at most the number of batches. Results for one number of slots are the same\n"
            "  bit for bit.\n\n"
            "Example:\n  execution:\n    slots: 4\n\nOn the command line:\n  --set execution.slots=4\n");
}

TEST(KeyHelp, FindsAKeyByItsLastParts) {
  for (const char* const asked : {"slots", "execution.slots"}) EXPECT_EQ(key_help(asked), key_help("execution.slots"));
  EXPECT_EQ(key_help("checkpoint.every"), key_help("output.checkpoint.every"));
  EXPECT_THAT(key_help("repeats"), StartsWith("repeats (of a study)\n"));
  EXPECT_EQ(key_help("study.repeats"), key_help("repeats"));
}

TEST(KeyHelp, TakesElementsOfListsFieldsAndSectionsAlike) {
  const std::string radius = key_help("model.voxels.spheres[].radius");
  for (const char* const asked : {"model.voxels.spheres.0.radius", "spheres.radius", "radius"}) {
    EXPECT_EQ(key_help(asked), radius) << asked;
  }
  EXPECT_THAT(radius, HasSubstr("  --set model.voxels.spheres.0.radius=250\n"));
  EXPECT_THAT(radius, HasSubstr("    spheres:\n        - radius: 250\n"));
  EXPECT_EQ(key_help("observations.noise.gzz"), key_help("observations.noise.FIELD"));
  EXPECT_EQ(key_help("model.mesh.easting.widths"), key_help("model.mesh.upward.widths"));
  EXPECT_EQ(key_help("inversion.data.0.file"), key_help("inversion.data.file"));
}

TEST(KeyHelp, ListsSeveralAndNamesOthers) {
  const std::string density = key_help("density");
  EXPECT_THAT(density, StartsWith("density may be:\n"));
  for (const char* const path : {"model.voxels.density", "model.voxels.spheres[].density", "model.mesh.ubc.density"}) {
    EXPECT_THAT(density, HasSubstr(path));
  }
  // the whole name of one, the last part of another
  EXPECT_THAT(key_help("title"), StartsWith("title\n"));
  EXPECT_THAT(key_help("title"), HasSubstr("study.title"));
}

TEST(KeyHelp, ShowsTheKeysOfASection) {
  for (const char* const section : {"model.voxels", "model.mesh.northing"}) {
    EXPECT_THAT(key_help(section), HasSubstr(std::string("Keys of ") + section + ":\n")) << section;
  }
  EXPECT_THAT(key_help("model.voxels.spheres"), HasSubstr("\n  radius "));
  // with the first sentence of each
  EXPECT_THAT(key_help("model.mesh.ubc"),
              HasSubstr("\n  mesh            name of a file  required\n      The mesh (.msh).\n"
                        "  density         name of a file  required without susceptibility and magnetization\n"
                        "      The cells' densities (.den), in UBC's order.\n"));
  EXPECT_THAT(key_help("execution.slots"), Not(HasSubstr("Keys of")));
}

TEST(KeyHelp, FitsIntoTheColumnsThatThereAre) {
  for (const std::size_t columns : {60U, 80U, 120U}) {
    for (const char* const asked : {"model.terrain", "stations", "density", "inversion", "output.figure.contours"}) {
      // examples are never broken
      std::istringstream lines(key_help(asked, columns));
      std::string line;
      for (bool is_example = false; std::getline(lines, line);) {
        if (!line.starts_with(' ')) is_example = line == "Example:" || line == "On the command line:";
        EXPECT_LE(is_example ? 0U : line.size(), columns) << asked;
      }
    }
  }
  EXPECT_THAT(key_help("model.terrain", 60), HasSubstr("\n  key "));
  const std::string narrow = key_help("model.terrain", 45);
  EXPECT_THAT(narrow, HasSubstr("\n  file\n      name of a file"));
  EXPECT_THAT(narrow, Not(HasSubstr("\n  key ")));
}

TEST(KeyHelp, TellsNearestSpellingsOfWhatIsNoKey) {
  const auto message = [](const std::string& asked) {
    return testing::mistakes([&] { static_cast<void>(key_help(asked)); });
  };
  EXPECT_EQ(message("execution.slosts"),
            "'execution.slosts' is no key of a case or a study; did you mean execution.slots? prismfield help --keys "
            "lists all");
  EXPECT_THAT(message("points"), HasSubstr("; did you mean observations.stations or observations.grid? "));
  EXPECT_EQ(message("zzzzzz"), "'zzzzzz' is no key of a case or a study; prismfield help --keys lists all");
  for (const std::string garbage : {".", "..", "a..b", "[]", "0", "model.", "\x1b[31m", "FIELD.FIELD"}) {
    EXPECT_FALSE(is_documented_key(garbage)) << garbage;
    EXPECT_THAT(message(garbage), HasSubstr(" is no key of a case or a study")) << garbage;
  }
}

TEST(KeyHelp, ListsPathsThatItKnows) {
  for (const bool of_study : {false, true}) {
    std::istringstream lines(key_paths(of_study));
    std::string path;
    int n = 0;
    for (; std::getline(lines, path); ++n) EXPECT_TRUE(is_documented_key(of_study ? "study." + path : path)) << path;
    EXPECT_GE(n, static_cast<int>((of_study ? study_key_table().rows() : case_key_table().rows()).size()));
  }
  EXPECT_THAT(key_paths(false), HasSubstr("\nobservations.noise.gzz\n"));
  EXPECT_THAT(key_paths(false), HasSubstr("\nmodel.mesh.easting.widths\n"));
  EXPECT_THAT(key_paths(false), Not(HasSubstr("FIELD")));
}

}  // namespace
}  // namespace prismfield::test_key_help
