// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <cstdint>

#include <prismfield/plan.hpp>

#include "compute/work_state.hpp"
#include "kernel/contact.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t n_prisms = 1000;
constexpr std::int64_t n_points = 1'000'000;
constexpr int n_ranks = 4;
constexpr std::int64_t n_all = n_all_fields + n_contact_columns;

/// What rank `rank` of four takes that computes a quarter of the points at all prisms, on a host without a device.
Plan plan_of(int rank, bool checkpoints = false, ModelMemory model = {}) {
  Request request;
  request.execution.partition = Partition::points;
  Machine machine;
  machine.engine.free_memory = std::int64_t{1} << 40;
  machine.engine.memory = {80, 168, 200, 600, 0, 0};
  machine.ranks = n_ranks;
  machine.rank = rank;
  return make_plan(request, {n_prisms, n_points, true, checkpoints, [=](IndexRange) { return model; }}, machine);
}

TEST(PlanMemory, OnlyTheFirstRankHoldsAllPointsFields) {
  const std::int64_t whole = n_points * n_all * 8;
  const std::int64_t others = plan_of(1).host_bytes;
  EXPECT_EQ(plan_of(2).host_bytes, others);
  EXPECT_EQ(plan_of(3).host_bytes, others);
  EXPECT_LT(others, whole);
  EXPECT_GT(plan_of(0).host_bytes, whole);
}

TEST(PlanMemory, HasRoomForTheImagesOfCheckpointsAndForWhatOtherRanksDid) {
  for (int rank = 0; rank < n_ranks; ++rank) {
    const std::int64_t image = n_points / n_ranks * n_all * 8;
    // a run that goes on on another number of ranks holds on rank 0 what those before it did, and writes it again
    const std::int64_t before = rank == 0 ? 2 * n_points * n_all * 8 : 0;
    EXPECT_EQ(plan_of(rank, true).host_bytes - plan_of(rank, false).host_bytes, image + before) << rank;
  }
}

TEST(PlanMemory, IsTheModelsWhereThatTakesMore) {
  constexpr std::int64_t much = std::int64_t{1} << 35;
  const std::int64_t without = plan_of(1).host_bytes;
  EXPECT_EQ(plan_of(1, false, {much, 0, 0}).host_bytes, without + much);
  EXPECT_EQ(plan_of(1, false, {0, much, 0}).host_bytes, much + n_points * 3 * 8);
  EXPECT_EQ(plan_of(1, false, {0, 0, much}).host_bytes, much);
}

}  // namespace
}  // namespace prismfield
