// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The stations beside each station, beside a search through all of them, and what residuals are said to be.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/nearest_points.hpp"
#include "model/station_neighbors.hpp"

namespace prismfield::testing::test_station_neighbors {
namespace {

std::vector<double> noise(std::size_t n, std::uint64_t seed) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = random_normal(seed, RandomStream::posterior_data, i);
  return values;
}

/// Stations on a grid of side x side, 10 m apart.
Points grid(std::size_t side) {
  Points points;
  for (std::size_t i = 0; i < side * side; ++i) {
    points.easting.push_back(10.0 * static_cast<double>(i % side));
    points.northing.push_back(10.0 * static_cast<double>(i / side));
    points.upward.push_back(0);
  }
  return points;
}

TEST(NearestPoints, AreThoseOfASearchThroughAll) {
  constexpr std::size_t n = 400, wanted = 9;
  std::vector<double> easting = noise(n, 1), northing = noise(n, 2);
  // some in one place, some in a row, where many are equally far
  for (std::size_t i = 0; i < 20; ++i) easting[i] = northing[i] = 0.5;
  for (std::size_t i = 20; i < 60; ++i) {
    easting[i] = 0.1 * static_cast<double>(i);
    northing[i] = -0.25;
  }
  const NearestPoints points(easting, northing);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t j = 0; j < n; ++j) {
      all.emplace_back(std::sqrt((easting[j] - easting[i]) * (easting[j] - easting[i]) +
                                 (northing[j] - northing[i]) * (northing[j] - northing[i])),
                       j);
    }
    std::sort(all.begin(), all.end());
    std::array<std::size_t, wanted> found{};
    points.find({easting[i], northing[i], 0}, found);
    for (std::size_t k = 0; k < wanted; ++k) ASSERT_EQ(found[k], all[k].second) << i << ' ' << k;
  }
  const std::vector<double> upward = noise(n, 3);
  const NearestPoints in_space(easting, northing, upward);
  for (const double height : {-30.0, 0.1, 3.0}) {
    double least = 1e300;
    for (std::size_t j = 0; j < n; ++j) {
      least = std::min(least, std::hypot(easting[j] - 0.2, northing[j] + 0.1, upward[j] - height));
    }
    EXPECT_NEAR(in_space.distance({0.2, -0.1, height}), least, 1e-14 * least);
  }
}

TEST(StationNeighbors, BearOutAnAnomalyAndNoOutliers) {
  constexpr std::size_t side = 20;
  const Points points = grid(side);
  const StationNeighbors neighbors(points);
  std::vector<double> residuals(side * side, 0.1);
  // two outliers beside each other, and a hill of 3 x 3 stations with a higher top
  residuals[45] = residuals[46] = -20;
  for (const std::size_t row : {9, 10, 11}) {
    for (const std::size_t column : {9, 10, 11}) residuals[row * side + column] = 5;
  }
  residuals[10 * side + 10] = 8;
  const std::vector<double> sizes = neighbors.borne_out(residuals);
  EXPECT_EQ(sizes[45], 0);
  EXPECT_EQ(sizes[46], 0);
  EXPECT_EQ(sizes[10 * side + 10], 5);
  EXPECT_EQ(sizes[9 * side + 9], 5);
  EXPECT_EQ(sizes[0], 0.1);
  // of white noise hardly anything is
  const std::vector<double> of_noise = neighbors.borne_out(noise(side * side, 3));
  EXPECT_LE(std::count_if(of_noise.begin(), of_noise.end(), [](double size) { return size > 2; }), 2);
}

TEST(StationNeighbors, KnowNothingOfFewStations) {
  Points points = grid(3);
  points.easting.pop_back();
  points.northing.pop_back();
  points.upward.pop_back();
  const StationNeighbors neighbors(points);
  const std::vector<double> residuals(8, 5.0);
  EXPECT_EQ(neighbors.borne_out(residuals), std::vector<double>(8, 0.0));
  EXPECT_EQ(neighbors.morans_i(residuals).deviation, 0);
}

TEST(MoransI, HasTheMeanAndDeviationThatItStatesForWhiteNoise) {
  const Points points = grid(12);
  const StationNeighbors neighbors(points);
  constexpr int repeats = 2000;
  double sum = 0, squares = 0;
  MoransI last;
  for (int i = 0; i < repeats; ++i) {
    last = neighbors.morans_i(noise(144, static_cast<std::uint64_t>(10 + i)));
    sum += last.value;
    squares += last.value * last.value;
  }
  const double mean = sum / repeats;
  const double deviation = std::sqrt(squares / repeats - mean * mean);
  // within four standard errors
  EXPECT_NEAR(mean, last.expected, 4 * last.deviation / std::sqrt(repeats));
  EXPECT_NEAR(deviation, last.deviation, 4 * last.deviation / std::sqrt(2.0 * repeats));
}

TEST(MoransI, IsLargeForSmoothResidualsAndNegativeForAlternatingOnes) {
  constexpr std::size_t side = 30;
  const Points points = grid(side);
  const StationNeighbors neighbors(points);
  std::vector<double> smooth, alternating;
  for (std::size_t i = 0; i < side * side; ++i) {
    smooth.push_back(std::sin(0.02 * points.easting[i]) + std::cos(0.015 * points.northing[i]));
    alternating.push_back((i % side) % 2 == 0 ? 1 : -1);
  }
  EXPECT_GT(neighbors.morans_i(smooth).value, 0.9);
  EXPECT_LT(neighbors.morans_i(alternating).value, -0.2);
}

}  // namespace
}  // namespace prismfield::testing::test_station_neighbors
