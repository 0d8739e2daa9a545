// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/point_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/points.hpp"
#include "scratch_folder.hpp"

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Stations at the nodes of a grid, in its order.
Points nodes(std::vector<double> easting, std::vector<double> northing) {
  Points points = make_grid(std::move(easting), std::move(northing), 30.0);
  points.grid_easting.clear();
  points.grid_northing.clear();
  return points;
}

bool is_found(Points points) {
  find_grid(points);
  return points.is_grid();
}

TEST(FindGrid, OfNodesInTheOrderOfAGrid) {
  Points points = nodes({0, 0.1, 0.2, 0.3}, {5, 6, 7});
  find_grid(points);
  EXPECT_THAT(points.grid_easting, ElementsAre(0, 0.1, 0.2, 0.3));
  EXPECT_THAT(points.grid_northing, ElementsAre(5, 6, 7));
}

TEST(FindGrid, NothingOfOtherPoints) {
  EXPECT_FALSE(is_found(nodes({0, 1, 3}, {1.0}))) << "a line";
  EXPECT_FALSE(is_found(nodes({1.0}, {0, 1, 3}))) << "a line";
  EXPECT_FALSE(is_found(nodes({0, 1, 3}, {0, 1}))) << "uneven";
  EXPECT_FALSE(is_found(nodes({0, 1}, {0, 1, 3}))) << "uneven";
  Points turned = nodes({0, 1, 2}, {5, 6, 7});
  std::swap(turned.easting, turned.northing);
  EXPECT_FALSE(is_found(turned)) << "northing fastest";
  Points moved = nodes({0, 1, 2}, {5, 6, 7});
  moved.easting[4] += 0.01;
  EXPECT_FALSE(is_found(moved));
  moved = nodes({0, 1, 2}, {5, 6, 7});
  moved.easting.pop_back();
  moved.northing.pop_back();
  EXPECT_FALSE(is_found(moved)) << "a node is missing";
  EXPECT_FALSE(is_found({}));
}

TEST(PointTable, HasItsFurtherColumns) {
  const testing::ScratchFolder folder;
  const InputFile file{
      folder.write("t.csv", "x,y,z,gz [mGal],Line,bouguer_slab [mGal]\n1,2,3,4,\"L 1\",5\n2,2,3,4,7,*\n"), "", ""};
  std::vector<std::string> notes;
  const PointFields points = read_point_table(file, {}, notes);
  EXPECT_THAT(notes, IsEmpty());
  ASSERT_EQ(points.columns.size(), 2U);
  EXPECT_EQ(points.columns[0].name, "Line");
  EXPECT_THAT(points.columns[0].texts, ElementsAre("L 1", "7"));
  EXPECT_THAT(points.columns[0].numbers, IsEmpty());
  EXPECT_EQ(points.columns[1].unit, "mGal");
  EXPECT_THAT(points.columns[1].texts, IsEmpty());
  ASSERT_EQ(points.columns[1].numbers.size(), 2U);
  EXPECT_EQ(points.columns[1].numbers[0], 5);
  EXPECT_TRUE(std::isnan(points.columns[1].numbers[1]));
}

TEST(PointTable, HasTheAxesOfItsComment) {
  const testing::ScratchFolder folder;
  std::vector<std::string> notes;
  const auto read = [&](const std::string& text, std::optional<Axes> asked) {
    const InputFile file{folder.write("t.xyz", text), "", ""};
    PointTableSpec spec;
    spec.axes = asked;
    const PointFields points = read_point_table(file, spec, notes);
    return std::pair(points.axes, points.axes_are_stated);
  };
  const std::string rows = "# easting northing upward gz[mGal]\n1 2 3 4\n";
  const auto up = std::pair(Axes::z_up, true);
  EXPECT_EQ(read("# axes z_up, singular_points 0\n" + rows, std::nullopt), up);
  EXPECT_EQ(read(" # axes z_up\n" + rows, Axes::z_up), up);
  EXPECT_EQ(read(rows, Axes::z_up), up);
  for (const char* const other : {"", "# axes east\n", "# axes \n", "# the axes z_up\n"}) {
    EXPECT_EQ(read(other + rows, std::nullopt), std::pair(Axes::z_down, false)) << other;
  }
  EXPECT_THAT(testing::mistakes([&] { read("# axes z_up\n" + rows, Axes::z_down); }),
              HasSubstr("says itself that its axes are z_up; leave the option out"));
}

}  // namespace
}  // namespace prismfield
