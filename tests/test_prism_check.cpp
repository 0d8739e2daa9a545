// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "prisms_test.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield::test_prism_check {
namespace {

using ::testing::AllOf;
using testing::expect_two;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::read_all;

using PrismChecks = testing::PrismsTest;

TEST_F(PrismChecks, TurnDepthsKilometresAndGramsIntoSi) {
  m_spec.z_down = true;
  m_spec.length_to_si = 1000;
  m_spec.density_to_si = 1000;
  // the papers' z1 < z2 is the top where z points down
  expect_two(
      read_all(*make("x1,y1,z1,x2,y2,z2,density\n0,.001,.007,.01,.005,.009,.3\n.01,.002,.001,.03,.006,.008,-.2\n")));
  expect_two(read_all(*make(
      "west,east,south,north,bottom,top,density\n0,.01,.001,.005,.009,.007,.3\n.01,.03,.002,.006,.008,.001,-.2\n")));
}

TEST_F(PrismChecks, MayNameDepthsOfTopAndBottom) {
  m_spec.z_down = true;
  const std::string rows = "0,10,1,5,7,9,300\n10,30,2,6,1,8,-200\n";
  expect_two(read_all(*make("west,east,south,north,top_depth,bottom_depth,density\n" + rows)));
  expect_two(read_all(*make("west,east,south,north,Depth_Top,depth_bottom,density\n" + rows)));
  m_spec.z_down = false;
  EXPECT_EQ(
      message("west,east,south,north,top_depth,bottom_depth,density\n" + rows),
      "b.csv: bottom is above top in all prisms; with axis_z: up these are heights; for depths, write axis_z: down");
}

TEST_F(PrismChecks, OfZeroSizeAreLeftOutWithOneWarning) {
  const auto ensemble = make("0,10,1,5,-9,-7,300\n3,3,0,1,0,1,9\n10,30,2,6,-8,-1,-200\n0,1,2,2,0,1,9\n0,1,0,1,7,7,9\n");
  expect_two(read_all(*ensemble));
  ASSERT_EQ(ensemble->warnings().size(), 1U);
  EXPECT_EQ(m_folder.removed_from(ensemble->warnings()[0]),
            "b.csv: 3 prisms of zero size left out, the first at line 2");
  EXPECT_EQ(message("3,3,0,1,0,1,9\n"),
            "case.yaml:4: model.prisms.file: 'b.csv' holds no prism of more than zero size");
  // lines are those of the file, whatever was left out before
  EXPECT_THAT(message("3,3,0,1,0,1,9\n0,1,0,1,0,1,1\n\n0,1,0,1,0,1,1\n"),
              HasSubstr("b.csv:4: overlaps the prism of line 2"));
}

TEST_F(PrismChecks, OfDensityZeroStay) { EXPECT_EQ(make("0,1,0,1,0,1,0\n")->size(), 1); }

TEST_F(PrismChecks, InvertedOnesAreNamedByLine) {
  EXPECT_EQ(
      message(
          "west,east,south,north,bottom,top,density\n2,1,0,1,0,1,5\n0,1,3,2,0,1,5\n0,1,0,1,-1,-2,5\n4,3,2,1,0,1,5\n"),
      "b.csv:2: west 2 is east of east 1\n"
      "b.csv:3: south 3 is north of north 2\n"
      "b.csv:4: bottom -1 is above top -2; with axis_z: up these are heights; for depths, write axis_z: down\n"
      "b.csv:5: west 4 is east of east 3\n"
      "b.csv:5: south 2 is north of north 1");
  m_spec.z_down = true;
  EXPECT_EQ(
      message("0,1,0,1,1000,2000,5\n"),
      "b.csv:1: bottom 1000 is above top 2000; with axis_z: down these are depths; for heights, write axis_z: up");
  EXPECT_EQ(
      message("0,1,0,1,-1,0,5\n0,1,0,1,-2,-1,5\n"),
      "b.csv: bottom is above top in all prisms; with axis_z: down these are depths; for heights, write axis_z: up");
  m_spec.z_down = false;
  EXPECT_EQ(
      message("0,1,0,1,1,0,5\n0,1,0,1,2,1,5\n0,1,0,1,2,2,5\n"),
      "b.csv: bottom is above top in all prisms; with axis_z: up these are heights; for depths, write axis_z: down");
}

TEST_F(PrismChecks, NumbersWhoseResultsWouldNotBeFiniteAreMistakes) {
  m_spec.length_to_si = 1000;
  EXPECT_EQ(message("0,1e306,0,1,0,1,5\n0,1,-1.1e9,1,0,1,2e12\n0,1e9,0,1,0,1,-1e12\n-3,-2,0,1e-9,0,1e-9,1\n"),
            "b.csv:1: east: lies more than 1e+12 m from 0, the limit up to which results are finite\n"
            "b.csv:2: south: lies more than 1e+12 m from 0, the limit up to which results are finite\n"
            "b.csv:2: density: is more than 1e+12 kg/m3, the limit up to which results are finite");
  m_spec.length_to_si = 1;
  EXPECT_EQ(message("0,1e-7,0,1e-8,0,2e-7,5\n"),
            "b.csv:1: all edges are shorter than 1e-06 m, the limit down to which results are finite");
}

TEST_F(PrismChecks, OverlapsAreNamedTenAtATime) {
  EXPECT_EQ(message("0,2,0,2,0,2,1\n1,3,0.5,2,1.75,4,1\n5,6,0,1,0,1,1\n"),
            "b.csv:2: overlaps the prism of line 1 by 1 x 1.5 x 0.25 m; allow_overlap: true accepts this");
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{},0,1,0,1,1\n", i, i + 1.5);
  const std::string found = message(text);
  EXPECT_EQ(lines_in(found), 11U);
  EXPECT_THAT(found, AllOf(HasSubstr("b.csv:2: overlaps the prism of line 1 "),
                           HasSubstr("b.csv:11: overlaps the prism of line 10 "),
                           HasSubstr("b.csv: 29 more overlapping pairs")));
  m_spec.allow_overlap = true;
  EXPECT_EQ(make(text)->size(), 40);
}

TEST_F(PrismChecks, ThatShareFacesOrAreRoundedIntoEachOtherDoNotOverlap) {
  EXPECT_EQ(make("0,1,0,1,0,1,1\n1,2,0,1,0,1,1\n0,1,1,2,0,1,1\n")->size(), 3);
  EXPECT_EQ(make("0,1.0000009,0,1,0,1,1\n1,2,0,1,0,1,1\n")->size(), 2);
  EXPECT_NE(message("0,1.0000011,0,1,0,1,1\n1,2,0,1,0,1,1\n"), "");
}

TEST_F(PrismChecks, AMillionIdenticalOnesEndInAPage) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "0,1,0,1,0,1,1\n";
  const std::string found = message(text);
  EXPECT_EQ(lines_in(found), 11U);
  EXPECT_THAT(found, HasSubstr("b.csv: more than 99990 more overlapping pairs"));
}

}  // namespace
}  // namespace prismfield::test_prism_check
