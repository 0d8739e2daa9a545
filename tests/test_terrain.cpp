// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/terrain.hpp"

#include <prismfield/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "exact_prism.hpp"
#include "model/node_grid.hpp"

namespace prismfield::test_terrain {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

NodeGrid grid_of(std::vector<double> easting, std::vector<double> northing, std::vector<double> heights) {
  return {std::move(easting), std::move(northing), NodeValues(std::move(heights))};
}

TerrainContent content_of(NodeGrid heights, const TerrainMasses& masses = {}) {
  TerrainContent content;
  content.heights = std::move(heights);
  content.masses = masses;
  return content;
}

/// Mass over area between two heights.
double mass(const TerrainColumn& column, double bottom, double top) {
  double sum = 0;
  for (int p = 0; p < column.count; ++p) {
    const auto& part = column.parts[static_cast<std::size_t>(p)];
    sum += part.density * std::max(0.0, std::min(top, part.top) - std::max(bottom, part.bottom));
  }
  return sum;
}

TEST(TerrainColumn, HoldsRockAboveAndMissingRockBelowTheReference) {
  const TerrainMasses masses;
  const TerrainColumn hill = terrain_column(masses, 250, 2000);
  ASSERT_EQ(hill.count, 1);
  EXPECT_EQ(hill.parts[0].bottom, 0);
  EXPECT_EQ(hill.parts[0].top, 250);
  EXPECT_EQ(hill.parts[0].density, 2000);
  const TerrainColumn hollow = terrain_column(masses, -50, 2000);
  ASSERT_EQ(hollow.count, 1);
  EXPECT_EQ(hollow.parts[0].bottom, -50);
  EXPECT_EQ(hollow.parts[0].top, 0);
  EXPECT_EQ(hollow.parts[0].density, -2000);
  EXPECT_EQ(terrain_column(masses, 0, 2000).count, 0);
  EXPECT_EQ(terrain_column(masses, nan, 2000).count, 0);
  EXPECT_EQ(terrain_column(masses, 10, nan).count, 0);
  EXPECT_EQ(terrain_column(masses, 10, 0).count, 0);
}

TEST(TerrainColumn, OfWaterAtTheReferenceIsOnePrism) {
  TerrainMasses masses;
  masses.water_density = 1040;
  const TerrainColumn sea = terrain_column(masses, -3000, 2670);
  ASSERT_EQ(sea.count, 1);
  EXPECT_EQ(sea.parts[0].bottom, -3000);
  EXPECT_EQ(sea.parts[0].top, 0);
  EXPECT_EQ(sea.parts[0].density, 1040 - 2670);
  EXPECT_EQ(terrain_column(masses, 20, 2670).parts[0].density, 2670);
  EXPECT_EQ(terrain_column(masses, -20, 1040).count, 0) << "rock as heavy as water is no contrast";
}

// Whatever lies above what, the contrast is what is there minus rock up to the reference.
TEST(TerrainColumn, HoldsTheContrastOfEveryOrderOfHeights) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> height(-3, 3);
  for (int i = 0; i < 300; ++i) {
    TerrainMasses masses;
    masses.reference = height(random);
    masses.sea_level = height(random);
    if (i % 3 > 0) masses.water_density = 1000;
    const double surface = height(random), rock = 2500;
    const TerrainColumn column = terrain_column(masses, surface, rock);
    for (int p = 1; p < column.count; ++p) {
      EXPECT_LE(column.parts[static_cast<std::size_t>(p) - 1].top, column.parts[static_cast<std::size_t>(p)].bottom);
    }
    for (double low = -4; low < 4; ++low) {
      const double middle = low + 0.5;
      double there = middle < surface ? rock : 0;
      if (masses.water_density && middle > surface && middle < masses.sea_level) there = 1000;
      const double without = middle < masses.reference ? rock : 0;
      EXPECT_EQ(mass(column, low, low + 1), there - without)
          << surface << ' ' << masses.reference << ' ' << masses.sea_level << " at " << middle;
    }
  }
}

TEST(Terrain, HasColumnsHalfWayBetweenNodes) {
  const Terrain terrain(content_of(grid_of({0, 10, 40}, {100, 104}, {1, -2, 0, nan, 5, 6})));
  EXPECT_EQ(terrain.size(), 4);
  PrismBlock prisms;
  terrain.read({0, 4}, prisms);
  EXPECT_THAT(prisms.west, ElementsAre(-5, 5, 5, 25));
  EXPECT_THAT(prisms.east, ElementsAre(5, 25, 25, 55));
  EXPECT_THAT(prisms.south, ElementsAre(98, 98, 102, 102));
  EXPECT_THAT(prisms.north, ElementsAre(102, 102, 106, 106));
  EXPECT_THAT(prisms.bottom, ElementsAre(0, -2, 0, 0));
  EXPECT_THAT(prisms.top, ElementsAre(1, 0, 5, 6));
  EXPECT_THAT(prisms.density, ElementsAre(2670, -2670, 2670, 2670));
  const Bounds bounds = terrain.bounds();
  EXPECT_EQ(bounds.west, -5);
  EXPECT_EQ(bounds.east, 55);
  EXPECT_EQ(bounds.bottom, -2);
  EXPECT_EQ(bounds.top, 6);
  EXPECT_EQ(terrain.densities().min, -2670);
  EXPECT_EQ(terrain.description(), "terrain 3 x 2, 4 prisms");
  EXPECT_THAT(terrain.warnings(), ElementsAre(HasSubstr("no height at 1 of 6 nodes"), HasSubstr("at 1 of 6 nodes")));
}

// Prisms are found by counts a block of nodes: every range has to be what the whole has there.
TEST(Terrain, ReadsRangesOfManyBlocksWithGaps) {
  constexpr std::size_t n = 130;
  std::mt19937 random(3);
  std::uniform_int_distribution<int> height(-4, 4);
  std::vector<double> nodes(n), heights(n * n);
  for (std::size_t i = 0; i < n; ++i) nodes[i] = 7.0 * static_cast<double>(i);
  for (double& h : heights) h = height(random);
  // whole blocks without a prism
  for (std::size_t i = 3000; i < 9000; ++i) heights[i] = i % 2 == 0 ? nan : 1;
  TerrainMasses masses;
  masses.reference = 1;
  masses.sea_level = 2;
  masses.water_density = 1000;
  for (std::size_t i = 4000; i < 8000; ++i) heights[i] = nan;
  const Terrain terrain(content_of(grid_of(nodes, nodes, heights), masses));
  PrismBlock all, part;
  terrain.read({0, terrain.size()}, all);
  std::size_t expected = 0;
  for (const double h : heights) expected += static_cast<std::size_t>(terrain_column(masses, h, 2670).count);
  ASSERT_EQ(all.west.size(), expected);
  ASSERT_GT(terrain.size(), static_cast<std::int64_t>(n * n / 2));
  for (const std::int64_t length : {1, 17, 1500}) {
    for (std::int64_t begin = 0; begin < terrain.size(); begin += length == 1 ? 37 : length) {
      const std::int64_t end = std::min(begin + length, terrain.size());
      terrain.read({begin, end}, part);
      for (std::int64_t i = begin; i < end; ++i) {
        const auto here = static_cast<std::size_t>(i - begin), there = static_cast<std::size_t>(i);
        ASSERT_EQ(part.west[here], all.west[there]) << i;
        ASSERT_EQ(part.south[here], all.south[there]) << i;
        ASSERT_EQ(part.bottom[here], all.bottom[there]) << i;
        ASSERT_EQ(part.top[here], all.top[there]) << i;
        ASSERT_EQ(part.density[here], all.density[there]) << i;
      }
    }
  }
  EXPECT_THROW(terrain.read({0, terrain.size() + 1}, part), RunError);
}

TEST(Terrain, MayHaveADensityAColumn) {
  TerrainContent content = content_of(grid_of({0, 1}, {0, 1}, {5, 6, 7, 8}));
  content.densities = NodeValues({2000, 0, nan, 2900.5});
  const Terrain terrain(std::move(content));
  PrismBlock prisms;
  terrain.read({0, terrain.size()}, prisms);
  EXPECT_THAT(prisms.density, ElementsAre(2000, 2900.5));
  EXPECT_THAT(terrain.warnings(), ElementsAre(HasSubstr("a height but no density at 1 of 4 nodes")));
  EXPECT_EQ(terrain.slab_at(0.9, 0.9).parts[0].density, 2900.5);
}

TEST(Terrain, IsHeldInSinglePrecisionWhereNothingIsLost) {
  EXPECT_EQ(NodeValues({1, nan, 0.25}).full().size(), 0U);
  EXPECT_EQ(NodeValues({1, 0.1}).single().size(), 0U);
  EXPECT_EQ(NodeValues({1, 0.1})[1], 0.1);
  EXPECT_EQ(NodeValues({1e300, 1})[0], 1e300);
  std::vector<double> nodes(1000);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<double>(i);
  const Terrain terrain(content_of(grid_of(nodes, nodes, std::vector<double>(1'000'000, 4))));
  EXPECT_EQ(terrain.size(), 1'000'000);
  EXPECT_LT(terrain.memory_bytes(), 4'100'000);
}

TEST(Terrain, HeightsBetweenNodesAreBilinear) {
  const NodeGrid grid = grid_of({0, 10, 40}, {100, 104}, {1, 3, 0, nan, 5, 6});
  EXPECT_EQ(value_at(grid, 10, 100), 3);
  EXPECT_EQ(value_at(grid, 5, 100), 2);
  EXPECT_EQ(value_at(grid, 10, 102), 4);
  EXPECT_THAT(value_at(grid, 25, 103), DoubleEq((1.5 + 3 * 5.5) / 4));
  EXPECT_EQ(value_at(grid, 55, 106), 6) << "the outer half cell";
  EXPECT_TRUE(std::isnan(value_at(grid, 55.1, 106)));
  EXPECT_TRUE(std::isnan(value_at(grid, -5.1, 100)));
  EXPECT_TRUE(std::isnan(value_at(grid, 5, 101))) << "a corner without a height";
  EXPECT_TRUE(covers(grid, 5, 101));
  EXPECT_TRUE(covers(grid, 55, 106));
  EXPECT_FALSE(covers(grid, 55.1, 106));
  EXPECT_FALSE(covers(grid, 5, 106.1));
}

TEST(Terrain, FindsPointsBelowTheStepsOfItsSurface) {
  const Terrain terrain(content_of(grid_of({0, 10}, {0, 10}, {0, 100, 0, 100})));
  Points points;
  points.easting = {6, 6, 4, 6, 99, 0};
  points.northing = {1, 1, 1, 1, 1, 1};
  // the surface between the nodes is at 60 m, the column's top at 100 m
  points.upward = {60, 100, 1, -5, -5, -1};
  EXPECT_THAT(terrain.points_below(points), ElementsAre(0, 3, 5));
}

// A metre of the plate is of the order of 2 pi; sums over edges 100 km long leave 1e-9 m of it at most.
TEST(Terrain, PlateReachesToTheEdgesOfTheColumns) {
  if (!testing::has_exact_fields()) GTEST_SKIP() << "no numbers of more digits than doubles";
  std::vector<double> easting(101), northing(51);
  for (std::size_t i = 0; i < easting.size(); ++i) easting[i] = 1000.0 * static_cast<double>(i);
  for (std::size_t j = 0; j < northing.size(); ++j) northing[j] = 1000.0 * static_cast<double>(j);
  TerrainMasses masses;
  masses.reference = -20;
  masses.water_density = 1040;
  for (const double height : {300.0, -20.5, -700.0}) {
    const Terrain terrain(
        content_of(grid_of(easting, northing, std::vector<double>(easting.size() * northing.size(), height)), masses));
    for (const std::array<double, 3>& point : std::vector<std::array<double, 3>>{
             {31000, 17000, height + 80}, {31000, 17000, height}, {250, 49999, height - 10}, {100499, -499, 5000}}) {
      double expected = 0;
      const TerrainColumn plate = terrain_column(masses, height, masses.density);
      for (int p = 0; p < plate.count; ++p) {
        const auto& part = plate.parts[static_cast<std::size_t>(p)];
        expected -= part.density * testing::exact_fields({-500, 100500, -500, 50500, part.bottom, part.top}, point)[3];
      }
      EXPECT_NEAR(terrain.plate_attraction(point[0], point[1], point[2]), expected, 1e-9 * 2670) << height;
    }
    // on a corner of the plate, and beyond it
    EXPECT_TRUE(std::isfinite(terrain.plate_attraction(-500, -500, height)));
    EXPECT_TRUE(std::isnan(terrain.plate_attraction(-501, 0, height)));
  }
}

TEST(Terrain, TellsHowFarItsStepsAreFromTheSurfaceAtPointsNearTheGround) {
  Points points;
  points.easting = {7, 6, 6, 99, 0, 6};
  points.northing = {1, 1, 1, 1, 0, 1};
  points.upward = {72, 52, 75, 0, 0, 45};
  const Terrain terrain(content_of(grid_of({0, 10}, {0, 10}, {0, 100, 0, 100})));
  NearGround near = terrain.near_ground(points);
  EXPECT_EQ(near.count, 3) << "72 is 2 m above the surface, 52 is 8 m below, 75 and 45 are 15 m away";
  EXPECT_EQ(near.worst, 1);
  EXPECT_THAT(near.step, DoubleEq(40));
  EXPECT_THAT(near.mass, DoubleEq(40 * 2670.0));
  EXPECT_EQ(near.spacing, 10);
  // under water rock counts against water
  TerrainMasses masses;
  masses.water_density = 1040;
  const Terrain sea(content_of(grid_of({0, 10}, {0, 10}, {-100, -20, -100, -20}), masses));
  points.upward[2] = -50;
  near = sea.near_ground(points);
  EXPECT_EQ(near.count, 1);
  EXPECT_EQ(near.worst, 2);
  EXPECT_THAT(near.step, DoubleEq(32));
  // 2 m above the surface, over columns of 10 m
  EXPECT_THAT(near.mass, DoubleEq(32 * (2670.0 - 1040.0) * std::exp(-2 * std::numbers::pi * 2 / 10)));
}

TEST(Terrain, RefusesWhatCannotBeComputed) {
  const auto message = [](TerrainContent content) {
    try {
      const Terrain terrain(std::move(content));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(content_of(grid_of({0, 1}, {0, 1}, {1, 2e12, 3, 4}))), HasSubstr("model.terrain.file"));
  EXPECT_THAT(message(content_of(grid_of({0, 1e-9}, {0, 1e-9}, {1, 2, 3, 4}))), HasSubstr("shorter"));
  EXPECT_THAT(message(content_of(grid_of({1e11, std::nextafter(1e11, 1e12)}, {0, 1}, {1, 2, 3, 4}))),
              HasSubstr("closer"));
  TerrainMasses masses;
  masses.density = 1e13;
  masses.reference = 1e13;
  const std::string both = message(content_of(grid_of({0, 1}, {0, 1}, {1, 2, 3, 4}), masses));
  EXPECT_THAT(both, HasSubstr("model.terrain.density"));
  EXPECT_THAT(both, HasSubstr("model.terrain.reference"));
  EXPECT_THAT(message(content_of(grid_of({0, 1}, {0, 1}, {1, 2, 3, 4}))), IsEmpty());
}

TEST(Terrain, SaysWhatItsHeightsCanHardlyBe) {
  const Terrain terrain(content_of(grid_of({0, 1}, {0, 1}, {-32768, 2, 3, 20'000})));
  EXPECT_THAT(terrain.warnings(),
              ElementsAre(HasSubstr("the terrain has heights of -32768 to 20000 m: the ground of the Earth"),
                          HasSubstr("water_density")));
}

}  // namespace
}  // namespace prismfield::test_terrain
