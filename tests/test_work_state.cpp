// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_state.hpp"

#include <gtest/gtest.h>

namespace prismfield::test_work_state {
namespace {

TEST(WorkPayload, HasTheBytesThatAreSaidOfIt) {
  const WorkPayload payload = empty_payload(3, 10);
  EXPECT_EQ(payload_bytes(3, 10), static_cast<std::int64_t>(8 * (payload.values.size() + payload.contact.size())));
  EXPECT_EQ(payload_bytes(3, 0), 0);
}

TEST(PairsDone, AreThoseOfWholeTilesAndOfTheOneAtWork) {
  Plan plan;
  plan.prism_begin = 40;
  plan.prism_end = 140;
  plan.point_begin = 3;
  plan.point_end = 15;
  RankState state;
  state.settings.tile_points = 5;
  EXPECT_EQ(pairs_done(state, plan), 0);
  state.progress.tile = 5;
  state.progress.prisms = 64;
  EXPECT_EQ(pairs_done(state, plan), 5 * 100 + 5 * 64);
  state.progress.tile = 10;
  EXPECT_EQ(pairs_done(state, plan), 10 * 100 + 2 * 64) << "the last tile is smaller";
  state.progress = {12, 0, {}};
  EXPECT_EQ(pairs_done(state, plan), 12 * 100);
}

}  // namespace
}  // namespace prismfield::test_work_state
