// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "parallel/rank_consistency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranks.hpp"

namespace prismfield {
namespace {

using ::testing::IsEmpty;

TEST(Sameness, RanksThatGiveAnotherValueThanTheFirst) {
  EXPECT_THAT(ranks_unlike_root(7, testing::ranks()), IsEmpty());
  const auto odd = static_cast<std::uint64_t>(testing::ranks().rank() % 2);
  std::vector<int> expected;
  for (int rank = 1; rank < testing::ranks().size(); rank += 2) expected.push_back(rank);
  EXPECT_EQ(ranks_unlike_root(odd, testing::ranks()), expected);
}

TEST(Sameness, RanksAreNamedUpToEight) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({1, 2}), "ranks 1 and 2");
  EXPECT_EQ(ranks_text({1, 2, 3, 4, 5, 6, 7, 8}), "ranks 1, 2, 3, 4, 5, 6, 7 and 8");
  EXPECT_EQ(ranks_text({1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

}  // namespace
}  // namespace prismfield
