// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "partition.hpp"

#include <gtest/gtest.h>

namespace prismfield {
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

}  // namespace
}  // namespace prismfield
