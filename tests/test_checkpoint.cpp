// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "kept_direct_runs.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace prismfield::test_checkpoint {
namespace {

using testing::OpenWork;
using testing::read_checkpoint;

constexpr Digest hash{42, 7};
constexpr std::int64_t n_points = 4;

Plan plan_of(std::int64_t n_prisms) {
  Plan plan;
  plan.n_prisms = plan.prism_end = n_prisms;
  plan.n_points = plan.point_end = n_points;
  plan.direct.slots = 2;
  plan.direct.batch = 8;
  plan.direct.tile_points = n_points;
  plan.direct.chunk_prisms = 16;
  return plan;
}

TEST(CheckpointGuard, BeginsAtTheStartAndKeepsThat) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  OpenWork work(plan);
  CheckpointGuard guard({folder / "c.h5", 3600}, hash, alone);
  EXPECT_FALSE(guard.read(work));
  guard.settle(work);
  EXPECT_EQ(work.pairs_done(), 0);
  guard.begin(work);
  EXPECT_EQ(work.m_state.progress, WorkProgress());
  EXPECT_FALSE(guard.wants_state()) << "not yet time";
  const auto kept = read_checkpoint(folder / "c.h5", hash, plan, 0);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->payload.empty());
  EXPECT_EQ(kept->settings, work.m_state.settings);
}

TEST(CheckpointGuard, GoesOnWhereItWasOnTheSameRanks) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  OpenWork work(plan);
  CheckpointGuard first({folder / "c.h5", 0}, hash, alone);
  first.settle(work);
  first.begin(work);
  RankState& state = work.m_state;
  state.payload = empty_payload(plan.computed.size(), n_points);
  state.progress.prisms = 48;
  state.payload.values.front() = 1.0 / 3;
  EXPECT_TRUE(first.wants_state()) << "always, every 0 s";
  first.keep(work);
  EXPECT_EQ(first.failure(), "");

  OpenWork again(plan);
  CheckpointGuard second({folder / "c.h5", 3600}, hash, alone);
  ASSERT_TRUE(second.read(again));
  second.settle(again);
  EXPECT_EQ(again.pairs_done(), 48 * n_points);
  second.begin(again);
  EXPECT_EQ(again.m_state.settings, state.settings);
  EXPECT_EQ(again.m_state.progress, state.progress);
  EXPECT_EQ(again.m_state.payload, state.payload);
}

TEST(CheckpointGuard, RefusesTheRunOfOtherRanks) {
  const testing::ScratchFolder folder;
  const testing::CheckpointLayout layout{hash, {WorkSettings(), WorkSettings()}};
  testing::write_rank(folder / "c.h5", 0, layout, {});
  const auto message = [&](int prism_parts, int point_parts) {
    Plan plan = plan_of(100);
    plan.prism_parts = prism_parts;
    plan.point_parts = point_parts;
    return testing::mistakes([&] { static_cast<void>(read_checkpoint(folder / "c.h5", hash, plan, 0)); });
  };
  EXPECT_EQ(message(2, 1), "");
  EXPECT_THAT(message(1, 1), ::testing::EndsWith("c.h5 was written by 2 ranks, this run has 1; start 2 ranks, or "
                                                 "delete the file to begin anew"));
  EXPECT_THAT(message(3, 2), ::testing::HasSubstr("c.h5 was written by 2 ranks, this run has 6; start 2 ranks"));
  EXPECT_THAT(message(1, 2),
              ::testing::EndsWith("c.h5 was written by a grid of 2 x 1 ranks (parts of prisms x parts of points), this "
                                  "run has 1 x 2; set execution.partition to {ranks: [2, 1]}, or delete the file to "
                                  "begin anew"));
}

TEST(CheckpointGuard, RefusesAStateOfAnotherMethod) {
  const testing::ScratchFolder folder;
  const OpenWork work(plan_of(10));
  write_checkpoint(folder / "c.h5", {"tree", hash, {1, 2}}, 0, work.state());
  EXPECT_THAT(
      testing::mistakes([&] { static_cast<void>(read_checkpoint(folder / "c.h5", hash, plan_of(10), 0)); }),
      ::testing::HasSubstr("c.h5 was computed by method tree, this run's is direct; without --resume the run "));
}

TEST(CheckpointGuard, SaysWhatKeepsItFromWritingAndGoesOn) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const OpenWork work(plan_of(10));
  CheckpointGuard guard({folder / "none/c.h5", 3600}, hash, alone);
  guard.settle(work);
  guard.begin(work);
  EXPECT_THAT(guard.failure(), ::testing::HasSubstr("the checkpoint is not written: "));
}

}  // namespace
}  // namespace prismfield::test_checkpoint
