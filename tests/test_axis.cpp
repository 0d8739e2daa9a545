// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/axis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace prismfield::test_axis {
namespace {

TEST(CellEdges, EndExactlyOnMax) {
  const std::vector<double> edges = cell_edges({0, 0.3, 3});
  ASSERT_EQ(edges.size(), 4U);
  EXPECT_EQ(edges[0], 0);
  // 0.3/3 is below 0.1 in double: three of them do not make 0.3
  EXPECT_EQ(edges[3], 0.3);
  EXPECT_EQ(edges[1], 0.3 / 3);
}

TEST(CellEdges, AreTheDoubleProductAndSum) {
  const Axis axis{-8000, 137.25, 977};
  const std::vector<double> edges = cell_edges(axis), centers = cell_centers(axis);
  // volatile stops a compiler from fusing what the definition rounds twice
  const volatile double width = (axis.max - axis.min) / 977;
  for (int i = 0; i < 977; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const volatile double below = i * width, middle = (i + 0.5) * width;
    EXPECT_EQ(edges[at], axis.min + below);
    EXPECT_EQ(centers[at], axis.min + middle);
    EXPECT_LT(edges[at], centers[at]);
    EXPECT_LT(centers[at], edges[at + 1]);
  }
}

TEST(GridPoints, HoldBothEnds) {
  const std::vector<double> points = grid_points({0, 22000, 150});
  ASSERT_EQ(points.size(), 150U);
  EXPECT_EQ(points.front(), 0);
  EXPECT_EQ(points.back(), 22000);
  EXPECT_EQ(points[1], 22000.0 / 149);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LT(points[i - 1], points[i]);
}

TEST(GridPoints, EndExactlyOnMaxWhateverTheRounding) {
  for (std::int64_t n = 2; n < 500; ++n) {
    const std::vector<double> points = grid_points({0.1, 0.7, n});
    EXPECT_EQ(points.front(), 0.1);
    EXPECT_EQ(points.back(), 0.7);
  }
}

TEST(GridPoints, AreTheEdgesOfTheCellsBetweenThem) {
  for (const Axis& axis :
       {Axis{0, 22000, 700}, Axis{-8000, 137.25, 977}, Axis{0.1, 0.7, 11}, Axis{4649776.3, 4650776.9, 99}}) {
    EXPECT_EQ(grid_points({axis.min, axis.max, axis.count + 1}), cell_edges(axis));
  }
}

TEST(GridPoints, OfOneAreTheMinimum) {
  EXPECT_EQ(grid_points({5, 5, 1}), std::vector<double>{5});
  EXPECT_EQ(grid_points({5, 9, 1}), std::vector<double>{5});
}

TEST(RoundingOfEdges, IsZeroWhereNothingCancels) {
  for (const Axis& axis : {Axis{0, 22000, 700}, Axis{0.1, 0.7, 11}, Axis{-100, 0, 10}, Axis{-8000, 0, 50},
                           Axis{4649776.3, 4650776.9, 99}, Axis{0, 1.0 / 3, 977}, Axis{5, 9, 1}}) {
    EXPECT_EQ(rounding_of_edges(cell_edges(axis)), 0) << axis.min << ' ' << axis.max << ' ' << axis.count;
  }
  EXPECT_EQ(rounding_of_edges({}), 0);
  EXPECT_EQ(rounding_of_edges({5}), 0);
}

TEST(RoundingOfEdges, IsTheLargestErrorNextToZero) {
  // -10 + 99 * 0.1 is not -0.1 by 3.6e-16, and no other edge is further off
  const std::vector<double> edges = cell_edges({-10, 0, 100});
  ASSERT_NE(edges[99], -0.1);
  double largest = 0;
  for (int i = 0; i <= 100; ++i) {
    largest = std::max(largest, std::abs(edges[static_cast<std::size_t>(i)] - (i - 100) / 10.0));
  }
  EXPECT_GT(largest, 0);
  EXPECT_NEAR(rounding_of_edges(edges), largest, std::ldexp(1.0, -53));
  // 0 itself, missed by the rounding of 5.3 and 7.9, which are no doubles
  const std::vector<double> crossing = cell_edges({-5.3, 7.9, 132});
  EXPECT_GE(rounding_of_edges(crossing), std::abs(crossing[53]));
  EXPECT_LT(rounding_of_edges(crossing), 1e-14);
}

/// An ulp of the larger of two.
double ulp_of(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return std::nextafter(larger, 1e300) - larger;
}

// The places of every subset of an axis' edges, over the whole range and over a part of it, by other doubles: what
// points and faces may be apart is 4 ulp and what the axes say of their rounding.
TEST(RoundingOfEdges, BoundsHowFarThePlacesOfTwoAxesAreApart) {
  std::mt19937_64 random(20261121);
  const auto whole = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::int64_t equal = 0, apart = 0, rounded = 0;
  const auto expect_one_place = [&](const Axis& cells, std::int64_t first, std::int64_t stride, const Axis& grid) {
    const std::vector<double> edges = cell_edges(cells), points = grid_points(grid);
    const double rounding = rounding_of_edges(edges) + rounding_of_edges(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double edge = edges[static_cast<std::size_t>(first + static_cast<std::int64_t>(i) * stride)];
      const double difference = std::abs(edge - points[i]), ulps = 4 * ulp_of(edge, points[i]);
      ASSERT_LE(difference, ulps + rounding) << cells.min << ' ' << cells.max << ' ' << cells.count << ", " << grid.min
                                             << ' ' << grid.max << ' ' << grid.count << ", " << i;
      (difference == 0 ? equal : difference <= ulps ? apart : rounded) += 1;
    }
    // next to nothing beside any cell
    ASSERT_LE(rounding, 12 * ulp_of(cells.min, cells.max));
  };
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t unit = std::array<std::int64_t, 5>{1, 2, 10, 100, 1000}[static_cast<std::size_t>(trial % 5)];
    const auto metres = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(unit); };
    const std::int64_t stride = whole(1, 7), n = whole(1, 100) * stride, length = whole(1, 30000) * unit;
    for (const std::int64_t corner : {whole(0, 50 * unit), -length, -whole(1, length), -length / 2,
                                      whole(200'000, 9'000'000) * unit + whole(0, unit)}) {
      // ends in whole units, widths not
      const Axis cells{metres(corner), metres(corner + length), n};
      expect_one_place(cells, 0, stride, {cells.min, cells.max, n / stride + 1});
      // widths in whole units: any part of the range
      const std::int64_t width = whole(1, 500), first = whole(0, n - 1), parts = (n - first) / stride;
      if (parts < 1) continue;
      expect_one_place({metres(corner), metres(corner + width * n), n}, first, stride,
                       {metres(corner + width * first), metres(corner + width * (first + parts * stride)), parts + 1});
    }
  }
  // each kind was there
  EXPECT_GT(equal, 100'000);
  EXPECT_GT(apart, 100'000);
  EXPECT_GT(rounded, 10'000);
}

TEST(RoundedProduct, IsNotFused) {
  // (1 + e)^2 = 1 + 2e + e^2: fused with the sum, e^2 would survive
  const double e = std::ldexp(1.0, -40), a = 1 + e;
  EXPECT_EQ(rounded_product(a, a) - (1 + 2 * e), 0);
}

}  // namespace
}  // namespace prismfield::test_axis
