// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace prismfield::test_partition {
namespace {

TEST(Partition, SevenSpheresOverEightRanksIsThePapersTable) {
  // Couder-Castaneda 2013: q0 ... q7 end at these prisms, counted from one
  const std::int64_t ends[8] = {31494, 62988, 94481, 125974, 157467, 188960, 220453, 251946};
  std::int64_t begin = 0;
  for (int q = 0; q < 8; ++q) {
    const IndexRange part = balanced_part(251946, q, 8);
    EXPECT_EQ(part.begin, begin);
    EXPECT_EQ(part.end, ends[q]);
    begin = part.end;
  }
}

TEST(Partition, CoversEverythingOnceWithSizesThatDifferByOne) {
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{1000}, (std::int64_t{1} << 40) + 5}) {
    for (const std::int64_t parts : {1, 2, 3, 7, 64}) {
      std::int64_t begin = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        const IndexRange range = balanced_part(n, part, parts);
        EXPECT_EQ(range.begin, begin);
        EXPECT_GE(range.size(), n / parts);
        EXPECT_LE(range.size(), n / parts + 1);
        begin = range.end;
      }
      EXPECT_EQ(begin, n);
    }
  }
}

TEST(Partition, RankGridMakesEveryPairOnce) {
  constexpr int prism_parts = 4;
  constexpr int point_parts = 2;
  std::int64_t pairs = 0;
  for (int rank = 0; rank < prism_parts * point_parts; ++rank) {
    const RankShare share = rank_share(101, 33, rank, prism_parts, point_parts);
    pairs += share.prisms.size() * share.points.size();
  }
  EXPECT_EQ(pairs, 101 * 33);
  EXPECT_EQ(rank_share(101, 33, 3, prism_parts, point_parts).prisms.end, 101);
  EXPECT_EQ(rank_share(101, 33, 3, prism_parts, point_parts).points.begin, 0);
  EXPECT_EQ(rank_share(101, 33, 4, prism_parts, point_parts).points.end, 33);
}

/// Couder-Castaneda 2014, eq. 3-10 as printed: prisms p_start ... p_end of process p, counted from one.
IndexRange equations_of_2014(std::int64_t m, std::int64_t p, std::int64_t n) {
  const std::int64_t s = m / n;
  const std::int64_t r = m % n;
  std::int64_t start = p * s + 1;
  std::int64_t end = (p + 1) * s;
  if (r != 0 && p < r) {
    start += p;
    end += p + 1;
  } else if (r != 0) {
    start += r;
    end += r;
  }
  return {start - 1, end};
}

TEST(Partition, OneToTwentyFiveNodesOfEightThreadsAreTheEquationsOf2014) {
  // C3; 249,946 is how the text also prints the number of prisms
  for (const std::int64_t m : {251946, 249946, 13997, 13500000}) {
    for (std::int64_t nodes = 1; nodes <= 25; ++nodes) {
      for (const std::int64_t parts : {nodes, 8 * nodes}) {
        for (std::int64_t p = 0; p < parts; ++p) {
          const IndexRange expected = equations_of_2014(m, p, parts);
          const IndexRange part = balanced_part(m, p, parts);
          EXPECT_EQ(part.begin, expected.begin);
          EXPECT_EQ(part.end, expected.end);
        }
      }
    }
  }
}

TEST(Partition, LaunchesPerCardHaveThePapersPlateauAtSixAndSeven) {
  // A5: 14 blocks of 512 threads, one prism a thread and launch. On 1 card these are the 36 launches that the text
  // names; on 6 and 7 they are equally many, hence the equal times of Fig. 13.
  constexpr std::int64_t slots = 7168;
  const std::int64_t launches[8] = {36, 18, 12, 9, 8, 6, 6, 5};
  for (std::int64_t cards = 1; cards <= 8; ++cards) {
    for (std::int64_t card = 0; card < cards; ++card) {
      const std::int64_t n = balanced_part(251946, card, cards).size();
      EXPECT_EQ((n + slots - 1) / slots, launches[cards - 1]) << "card " << card << " of " << cards;
    }
  }
}

TEST(Partition, TwoRanksOf31494ThenSixOf31493) {
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(balanced_part(251946, rank, 8).size(), rank < 2 ? 31494 : 31493);
}

TEST(Partition, TheClustersNodesOfFigure15) {
  // A6: 29 nodes; 251,946 = 29 x 8,687 + 23
  for (int node = 0; node < 29; ++node) EXPECT_EQ(balanced_part(251946, node, 29).size(), node < 23 ? 8688 : 8687);
}

TEST(Partition, FewerPrismsThanRanksLeavesRanksWithNone) {
  for (int rank = 0; rank < 5; ++rank) {
    const IndexRange part = balanced_part(3, rank, 5);
    EXPECT_EQ(part.size(), rank < 3 ? 1 : 0);
    EXPECT_EQ(part.begin, std::min(rank, 3));
    EXPECT_EQ(balanced_part(0, rank, 5).size(), 0);
  }
}

TEST(Partition, HugeCountsDoNotOverflow) {
  constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t n :
       {(std::int64_t{1} << 31) + 1, (std::int64_t{1} << 62) - 1, std::int64_t{1} << 62, large}) {
    for (const std::int64_t parts : {std::int64_t{1}, std::int64_t{3}, std::int64_t{7}, std::int64_t{1} << 31}) {
      EXPECT_EQ(balanced_part(n, 0, parts).begin, 0);
      EXPECT_EQ(balanced_part(n, parts - 1, parts).end, n);
      for (const std::int64_t part : {std::int64_t{0}, parts / 2, parts - 1}) {
        const IndexRange range = balanced_part(n, part, parts);
        EXPECT_LE(range.size() - n / parts, 1);
        EXPECT_GE(range.size(), n / parts);
        if (part + 1 < parts) {
          EXPECT_EQ(balanced_part(n, part + 1, parts).begin, range.end);
        }
      }
    }
  }
}

/// The seven spheres on cluster nodes of eight threads.
PartitionFacts seven_spheres(int ranks) {
  PartitionFacts facts;
  facts.n_prisms = 251946;
  facts.n_points = 15000;
  facts.ranks = ranks;
  facts.values_of_point = 10;
  facts.slots = 8;
  facts.lanes = 8;
  facts.slot_point_bytes = 80;
  facts.pair_seconds = 3e-9 / 8;
  return facts;
}

void expect_grid(const PartitionFacts& facts, int prism_parts, int point_parts) {
  const RankGrid grid = choose_partition(facts);
  EXPECT_EQ(grid.prism_parts, prism_parts);
  EXPECT_EQ(grid.point_parts, point_parts);
}

TEST(Partition, AutoPrefersPrisms) {
  for (const int ranks : {1, 2, 4, 7, 8, 29}) expect_grid(seven_spheres(ranks), ranks, 1);
}

TEST(Partition, AutoTakesPointsForFewPrismsAndVeryManyPoints) {
  // the grids of eight slots and their sum over ranks outweigh the pairs
  PartitionFacts facts = seven_spheres(8);
  facts.n_prisms = 100;
  facts.n_points = 100'000'000;
  expect_grid(facts, 1, 8);
  EXPECT_LT(partition_seconds(facts, {1, 8}), 0.5 * partition_seconds(facts, {8, 1}));
  // fewer prisms than ranks
  facts.n_prisms = 1;
  facts.n_points = 10'000'000;
  expect_grid(facts, 1, 8);
}

TEST(Partition, AutoTakesAGridInBetween) {
  // four prisms on eight ranks: by prisms four would idle, by points each would prepare all four, which costs much here
  PartitionFacts facts = seven_spheres(8);
  facts.n_prisms = 4;
  facts.n_points = 100'000;
  facts.pair_seconds = 1e-7;
  facts.prism_seconds = 1e-2;
  const RankGrid grid = choose_partition(facts);
  EXPECT_GT(grid.prism_parts, 1);
  EXPECT_GT(grid.point_parts, 1);
  EXPECT_EQ(grid.prism_parts * grid.point_parts, 8);
}

TEST(Partition, AutoModelIsItsFormula) {
  PartitionFacts facts;
  facts.n_prisms = 1001;
  facts.n_points = 999;
  facts.ranks = 4;
  facts.values_of_point = 3;
  facts.slots = 2;
  facts.lanes = 8;
  facts.slot_point_bytes = 24;
  facts.pair_seconds = 1e-6;
  facts.prism_seconds = 1e-3;
  facts.point_seconds = 1e-4;
  facts.memory_rate = 1e6;
  facts.network_rate = 1e5;
  facts.message_seconds = 0.01;
  // 501 prisms x 500 points, padded to 504; a tree of depth 1 over prisms, one more part of points
  const double message = 8.0 * 3 * 504 / 1e5 + 0.01;
  EXPECT_NEAR(partition_seconds(facts, {2, 2}),
              501 * 504 * 1e-6 + 501 * 1e-3 + 504 * 1e-4 + 2 * 2 * 504 * 24 / 1e6 + 2 * message, 1e-12);
  // scratch of a slot passes the limit three times: one slot, three tiles
  facts.memory_limit = 504 * 24 / 3;
  EXPECT_NEAR(partition_seconds(facts, {2, 2}),
              501 * 504 * 1e-6 + 3 * 501 * 1e-3 + 504 * 1e-4 + 2 * 504 * 24 / 1e6 + 2 * message, 1e-12);
  // by points alone there is one slot
  facts.memory_limit = std::int64_t{1} << 40;
  const double smaller = 8.0 * 3 * 256 / 1e5 + 0.01;
  EXPECT_NEAR(partition_seconds(facts, {1, 4}),
              1001 * 256 * 1e-6 + 1001 * 1e-3 + 256 * 1e-4 + 2 * 256 * 24 / 1e6 + 3 * smaller, 1e-12);
}

TEST(Partition, AutoIsAFactorisationForEveryNumberOfRanks) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    for (const std::int64_t prisms : {0, 1, 50, 1000}) {
      PartitionFacts facts = seven_spheres(ranks);
      facts.n_prisms = prisms;
      facts.n_points = 5'000'000;
      const RankGrid grid = choose_partition(facts);
      EXPECT_EQ(grid.prism_parts * grid.point_parts, ranks);
      EXPECT_TRUE(std::isfinite(partition_seconds(facts, grid)));
    }
  }
}

}  // namespace
}  // namespace prismfield::test_partition
