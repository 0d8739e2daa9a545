// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>

namespace prismfield::test_places {
namespace {

using testing::mistakes;

TEST(InputFileOfACase, KnowsWhereTheCaseNamesIt) {
  Case run;
  run.locations["model.prisms.file"] = "case.yaml:12";
  const InputFile file = input_file(run, "a.csv", "model.prisms.file");
  EXPECT_EQ(mistakes([&] { throw file.error("is odd"); }), "case.yaml:12: model.prisms.file: 'a.csv' is odd");
}

TEST(Places, AreThoseOfTheKeysAndOfTheMistakeBefore) {
  Case run;
  run.file = "case.yaml";
  run.locations["model.mesh.easting"] = "case.yaml:5";
  const auto step = [] {
    throw InputError({{"", "model.mesh.easting.widths", "is wrong"}, {"", "", "3 more"}, {"a.csv:3", "", "is text"}});
  };
  EXPECT_EQ(mistakes([&] { at_places_of(run, step); }),
            "case.yaml:5: model.mesh.easting.widths: is wrong\ncase.yaml:5: 3 more\na.csv:3: is text");
  EXPECT_EQ(at_places_of(run, [] { return 7; }), 7);
}

}  // namespace
}  // namespace prismfield::test_places
