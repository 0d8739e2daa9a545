// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "kernel/contact.hpp"

namespace prismfield::test_plan_memory {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::int64_t n_prisms = 1000;
constexpr std::int64_t n_points = 1'000'000;
constexpr int n_ranks = 4;
constexpr std::int64_t n_all = n_gravity_fields + n_contact_columns;

/// What rank `rank` of four takes that computes a quarter of the points at all prisms, on a host without a device.
Plan plan_of(int rank, bool checkpoints = false, ModelMemory model = {}) {
  Request request;
  request.execution.partition = Partition::points;
  Machine machine;
  machine.engine.free_memory = std::int64_t{1} << 40;
  machine.engine.memory = {8, 8, 200, 600, 0, 0};
  machine.ranks = n_ranks;
  machine.rank = rank;
  return make_plan(request, {n_prisms, n_points, true, checkpoints, model}, machine);
}

TEST(PlanMemory, OnlyTheFirstRankHoldsAllPointsFields) {
  // a point that touches prisms has its number beside its contacts
  const std::int64_t whole = n_points * (n_all + 1) * 8;
  const std::int64_t others = plan_of(1).host_bytes;
  EXPECT_EQ(plan_of(2).host_bytes, others);
  EXPECT_EQ(plan_of(3).host_bytes, others);
  EXPECT_EQ(plan_of(0).host_bytes - others, whole);
}

/// Of the program itself, which a rank holds when it plans.
std::int64_t program_bytes() { return plan_of(1).host_bytes_held - n_points * 3 * 8; }

TEST(PlanMemory, CountsTheProgramItself) {
  EXPECT_GT(program_bytes(), 16 * mib);
  EXPECT_LT(program_bytes(), 64 * mib);
}

TEST(PlanMemory, IsTheModelsWhereThatTakesMore) {
  constexpr std::int64_t much = std::int64_t{1} << 35;
  const std::int64_t without = plan_of(1).host_bytes;
  EXPECT_EQ(plan_of(1, false, {much, much}).host_bytes, without + much);
  EXPECT_EQ(plan_of(1, false, {0, much}).host_bytes, program_bytes() + much);
}

TEST(PlanMemory, WhatModelAndPointsHoldAlreadyIsNotTakenAgain) {
  constexpr std::int64_t much = std::int64_t{1} << 35;
  const std::int64_t held = program_bytes() + n_points * 3 * 8;
  const Plan without = plan_of(1);
  EXPECT_EQ(without.host_bytes_to_come, without.host_bytes - held);
  // held now, then held while it was made only
  const Plan kept = plan_of(1, false, {much, much});
  EXPECT_EQ(kept.host_bytes_held, much + held);
  EXPECT_EQ(kept.host_bytes_to_come, without.host_bytes_to_come);
  EXPECT_EQ(plan_of(1, false, {0, much}).host_bytes_to_come, without.host_bytes_to_come);
}

/// The plan of one rank with so much memory to come, and prisms enough for a grid a thread.
Plan plan_within(std::int64_t memory, std::optional<std::int64_t> memory_limit = {}) {
  Request request;
  request.execution.memory_limit = memory_limit;
  Machine machine;
  machine.engine.threads = 16;
  machine.engine.lanes = 4;
  machine.engine.free_memory = std::int64_t{1} << 40;
  machine.engine.memory = {80, 8, 200, 600, 0, 0};
  machine.host_memory = memory;
  return make_plan(request, {1000 * n_prisms, n_points, true, false, {}}, machine);
}

TEST(PlanMemory, ScratchFollowsWhatThereIs) {
  const Plan free = plan_within(std::int64_t{1} << 40);
  EXPECT_EQ(free.direct.slots, 16);
  const std::int64_t scratch = free.direct.scratch_bytes;
  const std::int64_t beside = free.host_bytes_to_come - scratch;
  const std::int64_t half = beside + scratch / 2;
  const Plan tight = plan_within(half);
  EXPECT_LT(tight.direct.slots, 16);
  EXPECT_GT(tight.direct.slots, 4);
  EXPECT_LE(tight.host_bytes_to_come, half);
  EXPECT_LE(tight.direct.scratch_bytes, tight.memory_limit);
  // one slot of all points is too much too
  const Plan tiled = plan_within(beside + scratch / 64);
  EXPECT_EQ(tiled.direct.slots, 1);
  EXPECT_LT(tiled.direct.tile_points, n_points);
  EXPECT_LE(tiled.host_bytes_to_come, beside + scratch / 64);
}

TEST(PlanMemory, ScratchStaysWhereLessWouldNotHelpOrIsNotAskedFor) {
  const Plan free = plan_within(std::int64_t{1} << 40);
  const std::int64_t too_little = (free.host_bytes_to_come - free.direct.scratch_bytes) / 3;
  const Plan least = plan_within(too_little);
  EXPECT_GT(least.host_bytes_to_come, too_little);
  EXPECT_EQ(least.direct.slots, 1);
  EXPECT_GE(least.direct.tile_points, 4096);
  EXPECT_EQ(plan_within(1, gib).direct.scratch_bytes, plan_within(100 * gib, gib).direct.scratch_bytes);
}

/// One bound for all of a node.
std::vector<MemoryLimit> machine_has(std::int64_t bytes) { return {{MemoryBound::machine, bytes, 1}}; }

TEST(MemoryNeed, IsNothingWhereNothingBoundsMemory) {
  const MemoryNeed need = tightest_need({{0, 5, 5, {}}});
  EXPECT_EQ(need.ranks, 0);
  EXPECT_EQ(memory_shortage(need, 1, false), "");
}

TEST(MemoryNeed, OfOneRank) {
  EXPECT_EQ(memory_shortage(tightest_need({{0, 50, 100, machine_has(100)}}), 1, false), "");
  const MemoryNeed need = tightest_need({{0, 512 * mib, 1536 * mib, machine_has(gib)}});
  EXPECT_EQ(
      memory_shortage(need, 1, false),
      "the run takes 2 GiB of memory, but there are 1.5 GiB (this machine's free memory); compute fewer points in "
      "a run, or ranks on more nodes");
  EXPECT_EQ(available_text(need, 1), "1.5 GiB, this machine's free memory");
}

TEST(MemoryNeed, NamesMethodsThatFit) {
  const MemoryNeed need = tightest_need({{0, 512 * mib, 1536 * mib, machine_has(gib)}});
  EXPECT_EQ(memory_shortage(need, 1, false, "direct (641 MiB)"),
            "the run takes 2 GiB of memory, but there are 1.5 GiB (this machine's free memory); use execution.method: "
            "direct (641 MiB), compute fewer points in a run, or ranks on more nodes");
}

TEST(MemoryNeed, IsTheSumOfANodesRanks) {
  const RankMemory one{0, 0, 600 * mib, machine_has(gib)};
  const RankMemory other{2, 0, 600 * mib, machine_has(gib)};
  EXPECT_EQ(memory_shortage(tightest_need({one, other}), 2, false), "") << "each has a node of its own";
  const MemoryNeed need = tightest_need({one, other, other});
  EXPECT_EQ(need.first_rank, 1);
  EXPECT_EQ(memory_shortage(need, 3, true),
            "2 ranks of one node take 1.17 GiB of memory, but there are 1 GiB (this machine's free memory); compute "
            "fewer points in a run, make execution.memory_limit smaller, start fewer ranks on a node, or ranks on more "
            "nodes");
}

TEST(MemoryNeed, OfRanksWithBoundsOfTheirOwn) {
  // containers on one machine, each with a group of its own
  const auto in_group = [](std::int64_t group, std::int64_t bytes) {
    return RankMemory{
        0, 0, 600 * mib, {{MemoryBound::machine, 64 * gib, 1}, {MemoryBound::control_group, bytes, group}}};
  };
  EXPECT_TRUE(tightest_need({in_group(7, gib), in_group(8, gib)}).fits());
  EXPECT_FALSE(tightest_need({in_group(7, gib), in_group(7, gib)}).fits());
  const MemoryNeed need = tightest_need({in_group(7, gib), in_group(8, gib / 2)});
  EXPECT_EQ(need.first_rank, 1);
  EXPECT_NE(memory_shortage(need, 2, false)
                .find("rank 1 takes 600 MiB of memory, but there are 512 MiB (the memory "
                      "limit of this batch job or container (cgroup))"),
            std::string::npos);
  const auto of_process = [](std::int64_t bytes) {
    return RankMemory{0, 0, 600 * mib, {{MemoryBound::machine, 64 * gib, 1}, {MemoryBound::address_space, bytes, 0}}};
  };
  EXPECT_TRUE(tightest_need({of_process(gib), of_process(gib)}).fits()) << "not shared";
  EXPECT_NE(memory_shortage(tightest_need({of_process(gib), of_process(mib)}), 2, false).find("raise ulimit -v"),
            std::string::npos);
}

}  // namespace
}  // namespace prismfield::test_plan_memory
