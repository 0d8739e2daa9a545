// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/plan.hpp>

#include <gtest/gtest.h>

#include <prismfield/request.hpp>

#include "compute/balance.hpp"
#include "compute/partition.hpp"

namespace prismfield {
namespace {

/// One host with a card a rank, as large as an H200.
Machine cards(int ranks) {
  Machine machine;
  machine.space = Space::cuda;
  machine.engine.device = "a card";
  machine.engine.threads = 132 * 2048;
  machine.engine.is_device = true;
  machine.engine.max_block = 512;
  machine.engine.free_memory = std::int64_t{140} << 30;
  machine.engine.memory.per_slot_point = 9 * 8;
  machine.ranks = ranks;
  machine.ranks_on_node = ranks;
  machine.devices = ranks;
  return machine;
}

/// The grid that `partition: auto` takes for nine fields on cards.
RankGrid chosen_on_cards(std::int64_t n_prisms, std::int64_t n_points, int ranks) {
  Request request;
  request.fields = fields_of(FieldSet::vector_tensor);
  request.execution.partition = Partition::automatic;
  const Machine machine = cards(ranks);
  const Plan plan = make_plan(request, {n_prisms, n_points, true, false, {}}, machine, nullptr);
  return choose_partition(partition_facts(request, true, plan, ranks));
}

TEST(Plan, AutoOnCardsGoesByPointsWhereTheyAreMany) {
  // measured on four H200s: 3.6 s by points, 4.8 s by prisms, of which 2.5 s are the pairs: by prisms every rank
  // orders, copies and hands on all points
  for (const int ranks : {2, 4, 8}) {
    const RankGrid grid = chosen_on_cards(251'946, 4'000'000, ranks);
    EXPECT_EQ(grid.prism_parts, 1) << ranks;
    EXPECT_EQ(grid.point_parts, ranks) << ranks;
  }
}

TEST(Plan, AutoOnCardsGoesByPrismsWhereTheyAreMany) {
  for (const int ranks : {1, 2, 4, 8}) {
    const RankGrid grid = chosen_on_cards(16'125'556, 15'000, ranks);
    EXPECT_EQ(grid.prism_parts, ranks) << ranks;
    EXPECT_EQ(grid.point_parts, 1) << ranks;
  }
}

}  // namespace
}  // namespace prismfield
