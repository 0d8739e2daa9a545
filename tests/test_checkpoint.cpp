// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "compute/checkpoint.hpp"
#include "engine/engine.hpp"
#include "kernel/contact.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace prismfield {
namespace {

constexpr Digest hash{42, 7};
constexpr std::int64_t n_points = 4;

Plan plan_of(std::int64_t n_prisms) {
  Plan plan;
  plan.n_prisms = plan.prism_end = n_prisms;
  plan.n_points = plan.point_end = n_points;
  plan.slots = 2;
  plan.batch = 8;
  plan.tile_points = n_points;
  plan.chunk_prisms = 16;
  return plan;
}

TEST(CheckpointGuard, BeginsAtTheStartAndKeepsThat) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  CheckpointGuard guard({folder / "c.h5", 3600}, plan, hash, alone);
  EXPECT_EQ(guard.done_fraction(), 0);
  EXPECT_EQ(guard.prisms(), (IndexRange{0, 100}));
  const std::optional<RankState> begun = guard.begin();
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->layout.work, work_of(plan));
  EXPECT_EQ(begun->progress, WorkProgress());
  EXPECT_EQ(begun->payload.contact.size(), static_cast<std::size_t>(n_contact_columns * n_points));
  EXPECT_EQ(guard.done_before(), nullptr);
  EXPECT_FALSE(guard.wants_state()) << "not yet time";
  const auto kept = read_checkpoint(folder / "c.h5", hash, plan, 0, 1);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->states[0].payload.empty());
  EXPECT_EQ(kept->layout.ranks[0], begun->layout);
}

TEST(CheckpointGuard, GoesOnWhereItWasOnTheSameRanks) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  CheckpointGuard first({folder / "c.h5", 0}, plan, hash, alone);
  RankState state = *first.begin();
  state.progress.prisms = 48;
  state.payload.values.front() = 1.0 / 3;
  EXPECT_TRUE(first.wants_state()) << "always, every 0 s";
  first.keep(state);
  EXPECT_EQ(first.failure(), "");

  CheckpointGuard second({folder / "c.h5", 3600}, plan, hash, alone);
  second.resume(*read_checkpoint(folder / "c.h5", hash, plan, 0, 1), plan);
  EXPECT_DOUBLE_EQ(second.done_fraction(), 0.48);
  const auto again = second.begin();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->layout, state.layout);
  EXPECT_EQ(again->progress, state.progress);
  EXPECT_EQ(again->payload, state.payload);
  EXPECT_EQ(second.done_before(), nullptr);
}

TEST(CheckpointGuard, SharesOutAnewWhatOtherRanksLeft) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  const Plan plan = plan_of(100);
  const std::int64_t n_fields = fields_of(plan.set).size();
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
  const CheckpointLayout layout{hash, {states[0].layout, states[1].layout}};
  write_checkpoint(folder / "c.h5", layout, {}, states[0]);
  write_rank_state(folder / "c.h5", 1, layout, layout.id(), states[1]);

  CheckpointGuard guard({folder / "c.h5", 3600}, plan, hash, alone);
  guard.resume(*read_checkpoint(folder / "c.h5", hash, plan, 0, 1), plan);
  EXPECT_DOUBLE_EQ(guard.done_fraction(), 0.32);
  EXPECT_EQ(guard.prisms(), (IndexRange{16, 100}));
  ASSERT_NE(guard.done_before(), nullptr);
  EXPECT_EQ(guard.done_before()->payload.values.front(), 52);
  const auto begun = guard.begin();
  ASSERT_TRUE(begun);
  EXPECT_DOUBLE_EQ(pairs_in(begun->layout.work), 68.0 * n_points);
  // and of that too the file knows at once
  const auto kept = read_checkpoint(folder / "c.h5", hash, plan, 0, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->layout.ranks.size(), 1U);
  EXPECT_EQ(kept->before.payload.values.front(), 52);
}

TEST(CheckpointGuard, SaysWhatKeepsItFromWritingAndGoesOn) {
  const testing::ScratchFolder folder;
  const Communicator alone;
  CheckpointGuard guard({folder / "none/c.h5", 3600}, plan_of(10), hash, alone);
  EXPECT_TRUE(guard.begin());
  EXPECT_THAT(guard.failure(), ::testing::HasSubstr("the checkpoint is not written: "));
}

}  // namespace
}  // namespace prismfield
