// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace prismfield::test_statistics {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// 1, 2, ... n, in another order.
std::vector<double> shuffled(int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(1 + (7 * i) % n);
  return values;
}

TEST(Statistics, OfAnyNumberOfValues) {
  // whole groups of eight, and what is left of one
  for (const int n : {1, 2, 8, 9, 16, 23, 1003}) {
    SCOPED_TRACE(n);
    const std::vector<double> values = shuffled(n);
    EXPECT_EQ(range_of(values).min, 1);
    EXPECT_EQ(range_of(values).max, n);
    EXPECT_EQ(largest_magnitude(values, infinite), n);
    EXPECT_EQ(largest_magnitude(values, n - 0.5), n - 1);
    EXPECT_NEAR(root_mean_square(values), std::sqrt((n + 1.0) * (2.0 * n + 1) / 6), 1e-12 * n);
    EXPECT_EQ(median(values), n / 2 + 1);
  }
}

TEST(Statistics, NaNDoesNotCount) {
  for (std::size_t at = 0; at < 19; ++at) {
    SCOPED_TRACE(at);
    std::vector<double> values(19, -2);
    values[at] = nan;
    EXPECT_EQ(range_of(values).min, -2);
    EXPECT_EQ(range_of(values).max, -2);
    EXPECT_EQ(largest_magnitude(values, infinite), 2);
    EXPECT_EQ(root_mean_square(values), 2);
  }
}

TEST(Statistics, OfNothing) {
  for (const std::vector<double>& values : {std::vector<double>(), std::vector<double>(11, nan)}) {
    EXPECT_GT(range_of(values).min, range_of(values).max);
    EXPECT_EQ(largest_magnitude(values, infinite), 0);
    EXPECT_TRUE(std::isnan(root_mean_square(values)));
  }
}

TEST(Statistics, SquaresNeitherOverflowNorVanish) {
  for (const double size : {1e300, 1e-300, std::numeric_limits<double>::max(), 1e-320}) {
    SCOPED_TRACE(size);
    const std::vector<double> values{size, -size, size, size, -size, size, size, size, size};
    EXPECT_NEAR(root_mean_square(values) / size, 1, 1e-12);
  }
  EXPECT_EQ(root_mean_square(std::vector<double>{0, 0}), 0);
  EXPECT_EQ(root_mean_square(std::vector<double>{1, infinite}), infinite);
}

}  // namespace
}  // namespace prismfield::test_statistics
