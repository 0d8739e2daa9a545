// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismfield {
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

TEST(GridPoints, OfOneAreTheMinimum) {
  EXPECT_EQ(grid_points({5, 5, 1}), std::vector<double>{5});
  EXPECT_EQ(grid_points({5, 9, 1}), std::vector<double>{5});
}

TEST(RoundedProduct, IsNotFused) {
  // (1 + e)^2 = 1 + 2e + e^2: fused with the sum, e^2 would survive
  const double e = std::ldexp(1.0, -40), a = 1 + e;
  EXPECT_EQ(rounded_product(a, a) - (1 + 2 * e), 0);
}

}  // namespace
}  // namespace prismfield
