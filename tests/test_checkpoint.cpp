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
  EXPECT_EQ(work.done_fraction(), 0);
  EXPECT_EQ(work.prisms(), (IndexRange{0, 100}));
  guard.begin(work);
  EXPECT_EQ(work.m_state.layout.work, work_of(plan));
  EXPECT_EQ(work.m_state.progress, WorkProgress());
  EXPECT_TRUE(work.m_before.payload.empty());
  EXPECT_FALSE(guard.wants_state()) << "not yet time";
  const auto kept = read_checkpoint(folder / "c.h5", hash, plan, 0, 1);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->states[0].payload.empty());
  EXPECT_EQ(kept->states[0].layout, work.m_state.layout);
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
  EXPECT_DOUBLE_EQ(again.done_fraction(), 0.48);
  second.begin(again);
  EXPECT_EQ(again.m_state.layout, state.layout);
  EXPECT_EQ(again.m_state.progress, state.progress);
  EXPECT_EQ(again.m_state.payload, state.payload);
  EXPECT_TRUE(again.m_before.payload.empty());
}

TEST(CheckpointGuard, SharesOutAnewWhatOtherRanksLeft) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  const std::int64_t n_fields = plan.computed.size();
  std::vector<RankState> states;
  for (const IndexRange prisms : {IndexRange{0, 50}, IndexRange{50, 100}}) {
    RankState state;
    state.layout = {{{prisms, {0, n_points}, {0, n_points}}}, 2, 8, n_points, 16, {0, n_points}};
    state.progress.prisms = 16;
    state.progress.pairs_by_form[0] = 16 * n_points;
    state.payload = empty_payload(n_fields, n_points);
    state.payload.values.front() = static_cast<double>(1 + prisms.begin);
    states.push_back(state);
  }
  const testing::CheckpointLayout layout{hash, {states[0].layout, states[1].layout}};
  testing::write_checkpoint(folder / "c.h5", layout, {}, states[0]);
  testing::write_rank(folder / "c.h5", 1, layout, states[1]);

  OpenWork work(plan);
  CheckpointGuard guard({folder / "c.h5", 3600}, hash, alone);
  ASSERT_TRUE(guard.read(work));
  guard.settle(work);
  EXPECT_DOUBLE_EQ(work.done_fraction(), 0.32);
  EXPECT_EQ(work.prisms(), (IndexRange{16, 100}));
  ASSERT_FALSE(work.m_before.payload.empty());
  EXPECT_EQ(work.m_before.payload.values.front(), 52);
  guard.begin(work);
  EXPECT_DOUBLE_EQ(pairs_in(work.m_state.layout.work), 68.0 * n_points);
  // and of that too the file knows at once
  const auto kept = read_checkpoint(folder / "c.h5", hash, plan, 0, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->states.size(), 1U);
  EXPECT_EQ(kept->before.payload.values.front(), 52);
}

TEST(CheckpointGuard, RefusesAStateOfAnotherMethod) {
  const testing::ScratchFolder folder;
  const OpenWork work(plan_of(10));
  write_checkpoint(folder / "c.h5", {"tree", hash, {1, 2}}, 0, work.state());
  EXPECT_THAT(
      testing::mistakes([&] { static_cast<void>(read_checkpoint(folder / "c.h5", hash, plan_of(10), 0, 1)); }),
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
