// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "compute/partition.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace prismfield::test_communicator {
namespace {

const Communicator& ranks() { return testing::ranks(); }

TEST(Parallel, AllGatherBringsEveryRanksValuesToAll) {
  const std::vector<std::int64_t> all =
      gather_everywhere(ranks(), std::vector<std::int64_t>{ranks().rank(), -ranks().rank()});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(2 * ranks().size()));
  for (int rank = 0; rank < ranks().size(); ++rank) {
    EXPECT_EQ(all[static_cast<std::size_t>(2 * rank)], rank);
    EXPECT_EQ(all[static_cast<std::size_t>(2 * rank + 1)], -rank);
  }
}

TEST(Parallel, BroadcastBringsTheRootsValuesInPieces) {
  // more than one message holds
  std::vector<double> values((std::size_t{1} << 20) + 7, ranks().rank() + 1.0);
  broadcast(ranks(), values);
  EXPECT_EQ(values.front(), 1.0);
  EXPECT_EQ(values.back(), 1.0);
  std::int64_t number = ranks().rank() + 5;
  broadcast(ranks(), number);
  EXPECT_EQ(number, 5);
}

/// Sums that depend on the order of their terms, as a check that every rank gets the root's.
TEST(Parallel, SumsEverywhereAreTheRootsBitForBit) {
  const auto n = static_cast<std::size_t>(1000);
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 1.0 / (3.0 + static_cast<double>(i) + 7.0 * ranks().rank());
  std::vector<double> on_root = values;
  sum_to_root(ranks(), on_root.data(), static_cast<std::int64_t>(n));
  broadcast(ranks(), on_root);
  sum_everywhere(ranks(), values.data(), static_cast<std::int64_t>(n));
  EXPECT_EQ(values, on_root);
  double one = 1;
  sum_everywhere(ranks(), &one, 1);
  EXPECT_EQ(one, ranks().size());
}

TEST(Parallel, SumsOfCountsStopAtTheLargest) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 2> counts = {most / 2 + 1, 5};
  sum_to_root(ranks(), counts.data(), 2);
  if (ranks().rank() > 0) return;
  EXPECT_EQ(counts[0], ranks().size() == 1 ? most / 2 + 1 : most);
  EXPECT_EQ(counts[1], 5 * ranks().size());
}

TEST(Parallel, RanksOfOneColorAreACommunicatorOfTheirOwn) {
  const int color = ranks().rank() % 2;
  Communicator part = split(ranks(), color);
  EXPECT_EQ(part.size(), (ranks().size() + 1 - color) / 2);
  EXPECT_EQ(part.rank(), ranks().rank() / 2);
  const std::vector<std::int64_t> members = gather_everywhere(part, static_cast<std::int64_t>(ranks().rank()));
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(members[i], static_cast<std::int64_t>(2 * i) + color);
  // what ranks of a part tell each other is not heard by others
  announce_stop(part);
  EXPECT_FALSE(stop_announced(ranks()));
  end_announcements(part);
  const Communicator moved = std::move(part);
  EXPECT_EQ(gather_everywhere(moved, static_cast<std::int64_t>(1)).size(), members.size());
  EXPECT_THROW(static_cast<void>(split(ranks(), -1)), RunError);
}

TEST(Parallel, RanksOfOneMachineShareANode) { EXPECT_EQ(node_of(ranks()), 0); }

/// Every grid of ranks gives the sum over the parts of prisms in the columns of each part of points.
TEST(Parallel, PartsOfPointsAreSummedWhereTheyAre) {
  constexpr std::int64_t rows = 3;
  for (const std::int64_t columns : {std::int64_t{5}, (std::int64_t{1} << 20) + 11}) {
    for (int group = 1; group <= ranks().size(); ++group) {
      if (ranks().size() % group != 0) continue;
      const RankShare share = rank_share(100, columns, ranks().rank(), group, ranks().size() / group);
      const IndexRange mine = share.points;
      std::vector<double> part;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t i = mine.begin; i < mine.end; ++i) {
          part.push_back(static_cast<double>(row * columns + i) * (1 + ranks().rank() % group));
        }
      }
      std::vector<double> values(ranks().rank() == 0 ? static_cast<std::size_t>(rows * columns) : 0, 0.0);
      add_parts_to_root(ranks(), std::move(part), rows, columns, mine, group, values);
      if (ranks().rank() != 0) continue;
      const double factor = group * (group + 1) / 2.0;
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        if (values[static_cast<std::size_t>(i)] != factor * static_cast<double>(i)) ++wrong;
      }
      EXPECT_EQ(wrong, 0) << columns << " columns, groups of " << group;
    }
  }
}

}  // namespace
}  // namespace prismfield::test_communicator
