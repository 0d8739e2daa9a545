// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "list_ensemble.hpp"
#include "model/prism_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

namespace prismfield::test_overlaps {
namespace {

using testing::append;

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

PrismBlock grid(int nx, int ny, int nz, double width) {
  PrismBlock prisms;
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        append(prisms, i * width, (i + 1) * width, j * width, (j + 1) * width, k * width, (k + 1) * width);
      }
    }
  }
  return prisms;
}

/// Every pair looked at: what the search must find.
Pairs all_pairs(const PrismBlock& p, double tolerance) {
  Pairs pairs;
  const auto deep = [tolerance](double low_a, double high_a, double low_b, double high_b) {
    return std::min(high_a, high_b) - std::max(low_a, low_b) > tolerance * std::min(high_a - low_a, high_b - low_b);
  };
  for (std::size_t b = 0; b < p.west.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (deep(p.west[a], p.east[a], p.west[b], p.east[b]) && deep(p.south[a], p.north[a], p.south[b], p.north[b]) &&
          deep(p.bottom[a], p.top[a], p.bottom[b], p.top[b])) {
        pairs.emplace_back(a, b);
      }
    }
  }
  return pairs;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Overlaps, OfNoneAndOne) {
  PrismBlock prisms;
  EXPECT_TRUE(find_overlaps(prisms, 1e-6, 10).pairs.empty());
  append(prisms, 0, 1, 0, 1, 0, 1);
  EXPECT_TRUE(find_overlaps(prisms, 1e-6, 10).pairs.empty());
}

TEST(Overlaps, NeedAllThreeDirections) {
  for (int direction = 0; direction < 4; ++direction) {
    PrismBlock prisms;
    append(prisms, 0, 2, 0, 2, 0, 2);
    const double x = direction == 0 ? 2 : 1, y = direction == 1 ? 2 : 1, z = direction == 2 ? 2 : 1;
    append(prisms, x, x + 2, y, y + 2, z, z + 2);
    EXPECT_EQ(find_overlaps(prisms, 1e-6, 10).pairs.size(), direction == 3 ? 1U : 0U) << direction;
  }
}

TEST(Overlaps, CountWhenDeeperThanTheTolerance) {
  // the smaller edge is 2: 2e-6 is allowed, more is not
  for (const auto& [depth, found] : {std::pair{1.9e-6, 0U}, {2.1e-6, 1U}}) {
    PrismBlock prisms;
    append(prisms, 0, 100, 0, 100, 0, 100);
    append(prisms, 100 - depth, 102 - depth, 0, 2, 0, 2);
    EXPECT_EQ(find_overlaps(prisms, 1e-6, 10).pairs.size(), found) << depth;
  }
}

TEST(Overlaps, AreFoundInsideAndAround) {
  PrismBlock prisms;
  append(prisms, 4, 5, 4, 5, 4, 5);
  append(prisms, 0, 10, 0, 10, 0, 10);
  append(prisms, 4, 5, 4, 5, 4, 5);
  EXPECT_THAT(find_overlaps(prisms, 1e-6, 10).pairs,
              ::testing::ElementsAre(::testing::Pair(0, 1), ::testing::Pair(0, 2), ::testing::Pair(1, 2)));
}

TEST(Overlaps, EqualThoseOfEveryPairLookedAt) {
  std::mt19937_64 generator(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 60; ++round) {
    PrismBlock prisms;
    const int n = 2 + round * 8;
    // sizes over e^6, crowded and thin, every shape, and some copied with shared faces
    for (int i = 0; i < n; ++i) {
      const auto edge = [&] { return std::exp(-3 + 6 * uniform(generator)) * (round % 3 == 0 ? 0.2 : 2); };
      const double x = 30 * uniform(generator), y = 30 * uniform(generator), z = 30 * uniform(generator);
      const double dx = edge(), dy = edge(), dz = edge();
      append(prisms, x, x + dx, y, y + dy, z, z + dz);
      if (i % 5 == 0) append(prisms, x + dx, x + 2 * dx, y, y + dy, z, z + dz);
    }
    const Overlaps found = find_overlaps(prisms, 1e-6, 1'000'000);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.pairs, all_pairs(prisms, 1e-6)) << "round " << round;
  }
}

TEST(Overlaps, StopAtTheMostPairs) {
  PrismBlock prisms;
  for (int i = 0; i < 100; ++i) append(prisms, 0, 1, 0, 1, 0, 1);
  const Overlaps some = find_overlaps(prisms, 1e-6, 50);
  EXPECT_EQ(some.pairs.size(), 50U);
  EXPECT_FALSE(some.complete);
  const Overlaps all = find_overlaps(prisms, 1e-6, 4950);
  EXPECT_EQ(all.pairs.size(), 4950U);
  EXPECT_TRUE(all.complete);
}

TEST(Overlaps, SurviveTheRangeOfDouble) {
  PrismBlock prisms;
  for (int i = 0; i < 20; ++i) append(prisms, -1.7e308, 1.7e308, i, i + 1, 0, 1);
  append(prisms, -1e-300, 1e-300, 3.25, 3.5, 0.25, 0.5);
  EXPECT_THAT(find_overlaps(prisms, 1e-6, 10).pairs, ::testing::ElementsAre(::testing::Pair(3, 20)));
}

// The shapes below have cost other searches the square of their number. Comparing every pair of 2e5 prisms
// takes more than 10 s of a processor; the search takes 0.1 s, 0.4 s under a sanitizer.
class OverlapTime : public ::testing::Test {
protected:
  static constexpr double limit = 3;
  static void expect_quick(const PrismBlock& prisms, std::size_t pairs) {
    const double start = processor_seconds();
    EXPECT_EQ(find_overlaps(prisms, 1e-6, 1000).pairs.size(), pairs);
    EXPECT_LT(processor_seconds() - start, limit) << prisms.size() << " prisms";
  }
};

TEST_F(OverlapTime, OfARegularGrid) {
  PrismBlock prisms = grid(60, 60, 60, 1);
  expect_quick(prisms, 0);
  append(prisms, 30.5, 31, 3.25, 3.5, 4.25, 4.5);
  expect_quick(prisms, 1);
}

TEST_F(OverlapTime, OfARegularGridWhoseFacesAreRoundedApart) { expect_quick(grid(60, 60, 60, 0.1), 0); }

TEST_F(OverlapTime, OfTallColumns) {
  PrismBlock prisms;
  for (int j = 0; j < 450; ++j) {
    for (int i = 0; i < 450; ++i) append(prisms, i, i + 1, j, j + 1, -1e5, (i * 7 + j) % 100);
  }
  expect_quick(prisms, 0);
}

TEST_F(OverlapTime, OfOneColumn) {
  PrismBlock prisms;
  for (int k = 0; k < 200000; ++k) append(prisms, 0, 1, 0, 1, k, k + 1);
  expect_quick(prisms, 0);
}

TEST_F(OverlapTime, OfAThinLayer) {
  PrismBlock prisms;
  for (int j = 0; j < 450; ++j) {
    for (int i = 0; i < 450; ++i) append(prisms, i * 100, i * 100 + 100, j * 100, j * 100 + 100, 0, 0.001);
  }
  expect_quick(prisms, 0);
}

TEST_F(OverlapTime, OfManySmallAndAFewHuge) {
  PrismBlock prisms = grid(450, 450, 1, 1);
  append(prisms, -1e7, 0, -1e7, 1e7, -1e6, 1e6);
  append(prisms, 450, 1e7, -1e7, 1e7, -1e6, 1e6);
  append(prisms, 0, 450, 0, 450, -1e6, 0);
  expect_quick(prisms, 0);
  // one that covers a hundred of the small and leaves out the rest
  append(prisms, 9.5, 19.5, 9.25, 18.5, 0.5, 1e6);
  expect_quick(prisms, 110);
}

TEST_F(OverlapTime, OfClustersFarApart) {
  PrismBlock prisms;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 25000; ++i) {
      const double x = c * 1e7 + i % 158 * 1e-3, y = i / 158 * 1e-3;
      append(prisms, x, x + 5e-4, y, y + 5e-4, 0, 1e-3);
    }
  }
  expect_quick(prisms, 0);
}

TEST_F(OverlapTime, OfIdenticalPrisms) {
  PrismBlock prisms;
  for (int i = 0; i < 200000; ++i) append(prisms, 0, 1, 0, 1, 0, 1);
  expect_quick(prisms, 1000);
}

}  // namespace
}  // namespace prismfield::test_overlaps
