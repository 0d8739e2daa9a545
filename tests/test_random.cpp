// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace prismfield::test_random {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedAnswers) {
  // kat_vectors of the authors' Random123 distribution, philox4x32 with 10 rounds
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsKnownAtCompileTime) {
  static_assert(philox4x32({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
  static_assert(random_uniform(1, RandomStream::cell_density, 0) < 1);
}

TEST(RandomBits, DependOnEveryArgument) {
  const auto bits = random_bits(1, RandomStream::cell_density, 5);
  EXPECT_EQ(bits, random_bits(1, RandomStream::cell_density, 5));
  EXPECT_NE(bits, random_bits(2, RandomStream::cell_density, 5));
  EXPECT_NE(bits, random_bits(1, RandomStream::noise, 5));
  EXPECT_NE(bits, random_bits(1, RandomStream::cell_density, 4));
  // beyond 32 bits of seed and of index
  EXPECT_NE(bits, random_bits(1 + (std::uint64_t{1} << 32), RandomStream::cell_density, 5));
  EXPECT_NE(bits, random_bits(1, RandomStream::cell_density, 5 + (std::uint64_t{1} << 33)));
}

TEST(RandomBits, NeighboursShareNothing) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 100000; ++i) seen.insert(random_bits(7, RandomStream::station_easting, i));
  EXPECT_EQ(seen.size(), 100000U);
}

TEST(RandomUniform, IsWhatASeedMeansForEver) {
  // From an independent program in Python (quantiles by mpmath): a change would give every user's random model other
  // values.
  EXPECT_EQ(random_uniform(1, RandomStream::cell_density, 0), 0x1.0a0992d81c1c6p-2);
  EXPECT_EQ(random_uniform(1, RandomStream::cell_density, 1), 0x1.b68af688e4244p-2);
  EXPECT_EQ(random_uniform(100, 3000, 7, RandomStream::cell_density, 123456789), 0x1.44af6621fab3p+9);
  EXPECT_EQ(random_normal(1, RandomStream::noise, 0), 0x1.2f6a2c7c2cf78p-2);
  EXPECT_EQ(random_normal(1, RandomStream::noise, 3), -0x1.318655188fb3cp-2);
}

TEST(RandomUniform, HasTheMomentsOfAUniformDistribution) {
  constexpr int n = 200000;
  double sum = 0, squares = 0, neighbours = 0, before = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random_uniform(3, RandomStream::cell_density, static_cast<std::uint64_t>(i));
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    neighbours += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // five standard errors of each mean: the sequence is fixed, so this passes always or never
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
  EXPECT_NEAR(neighbours / n, 0, 5.0 / 12 / std::sqrt(n));
}

TEST(RandomUniform, NeverReachesTheUpperEnd) {
  // one double between min and max: half of all values would round up to max
  const double min = 1, max = std::nextafter(1.0, 2.0);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(random_uniform(min, max, 1, RandomStream::cell_density, i), min);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double v = random_uniform(-500, -100, 1, RandomStream::cell_density, i);
    EXPECT_GE(v, -500);
    EXPECT_LT(v, -100);
  }
}

TEST(FillUniform, EqualsOneByOneFromEveryStart) {
  for (const std::uint64_t first : {0U, 1U, 2U, 17U}) {
    for (const std::int64_t count : {0, 1, 2, 3, 10}) {
      std::vector<double> values(static_cast<std::size_t>(count), -1);
      fill_uniform(100, 3000, 9, RandomStream::cell_density, first, count, values.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], random_uniform(100, 3000, 9, RandomStream::cell_density, first + i));
      }
    }
  }
}

TEST(NormalQuantile, MatchesReferenceValues) {
  // sqrt(2) erfinv(2 p - 1) by mpmath with 40 digits, p taken as the double that is written here
  const std::vector<std::pair<double, double>> reference = {
      {1e-15, -7.9413453261709967713},   {1e-12, -7.0344838253011319326},      {1.3e-11, -6.6676114565107408347},
      {1.4e-11, -6.6567230915181836356}, {1e-06, -4.7534243088228989573},      {0.001, -3.0902323061678135354},
      {0.0749, -1.4402382675279636631},  {0.0751, -1.4388253927525399824},     {0.1, -1.2815515655446004353},
      {0.3, -0.52440051270804081597},    {0.4999, -0.00025066283008800749239},
  };
  for (const auto& [p, expected] : reference) {
    // the algorithm's own relative error is about 1e-16; a dozen roundings follow
    EXPECT_NEAR(normal_quantile(p), expected, 4e-15 * std::fabs(expected)) << p;
    if (p < 1e-10) continue;
    // 1 - p is rounded, which moves the quantile by up to 1.1e-16 over the density there
    EXPECT_NEAR(normal_quantile(1 - p), -expected, 1e-15 / p + 4e-15) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(RandomNormal, HasTheMomentsOfANormalDistribution) {
  constexpr int n = 200000;
  double sum = 0, squares = 0, cubes = 0, fourth = 0;
  int beyond = 0;
  for (int i = 0; i < n; ++i) {
    const double z = random_normal(5, RandomStream::noise, static_cast<std::uint64_t>(i));
    ASSERT_LT(std::fabs(z), 8.3);
    sum += z;
    squares += z * z;
    cubes += z * z * z;
    fourth += z * z * z * z;
    beyond += std::fabs(z) > 1.959963984540054 ? 1 : 0;
  }
  const double root = std::sqrt(n);
  EXPECT_NEAR(sum / n, 0, 5 / root);
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0) / root);
  EXPECT_NEAR(cubes / n, 0, 5 * std::sqrt(15.0) / root);
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0) / root);
  EXPECT_NEAR(static_cast<double>(beyond) / n, 0.05, 5 * std::sqrt(0.05 * 0.95) / root);
}

}  // namespace
}  // namespace prismfield::test_random
