// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "compute/method.hpp"
#include "compute/partition.hpp"
#include "compute/plan.hpp"
#include "compute/time_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_plan {
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

TEST(Plan, AutoOnCardsIsWhatWasFasterOnTwo) {
  // measured on two H200s by perf/studies/automatic_choices_cards.yaml
  EXPECT_EQ(chosen_on_cards(251'946, 1'000'000, 2).point_parts, 2);
  EXPECT_EQ(chosen_on_cards(1'000, 1'000'000, 2).point_parts, 2);
  EXPECT_EQ(chosen_on_cards(251'946, 15'000, 2).point_parts, 1);
  EXPECT_EQ(chosen_on_cards(1'000'000, 30, 2).point_parts, 1);
}

TEST(Plan, SlotsOfADeviceFillItAndNoMore) {
  const auto slots = [](std::int64_t n_prisms, std::int64_t n_points, Partition partition) {
    Request request;
    request.fields = fields_of(FieldSet::vector_tensor);
    request.execution.partition = partition;
    return make_plan(request, {n_prisms, n_points, true, false, {}}, cards(1), nullptr).direct.slots;
  };
  // eight times its threads
  EXPECT_EQ(slots(251'946, 15'000, Partition::prisms), 145);
  // its threads own the points and still have to be busy
  EXPECT_EQ(slots(251'946, 15'000, Partition::points), 145);
  EXPECT_EQ(slots(251'946, 4'000'000, Partition::points), 1);
  // few points: a launch has 32,768 prisms, 256 batches of 128
  EXPECT_EQ(slots(1'000'000, 30, Partition::prisms), 256);
}

/// A host with room for any plan here.
Machine host_for_tensors(int threads) {
  Machine machine;
  machine.space = Space::openmp;
  machine.engine.threads = threads;
  machine.engine.lanes = 8;
  machine.engine.free_memory = std::int64_t{100} << 30;
  machine.engine.memory.per_slot_point = 6 * 8;
  machine.host_memory = std::int64_t{200} << 30;
  return machine;
}

TEST(Plan, SlotsAreNoMoreThanBatches) {
  const auto slots = [](std::int64_t n_slots, std::optional<std::int64_t> batch) {
    const Machine machine = host_for_tensors(4);
    Request request;
    request.fields = fields_of(FieldSet::tensor);
    request.execution.slots = n_slots;
    request.execution.batch = batch;
    const Plan plan = make_plan(request, {500, 1'000, true, false, {}}, machine, nullptr);
    EXPECT_EQ(plan.direct.scratch_bytes, plan.direct.slots * 1'000 * 6 * 8);
    return plan.direct.slots;
  };
  EXPECT_EQ(slots(100'000, std::nullopt), 500);
  EXPECT_EQ(slots(100'000, 64), 8);
  EXPECT_EQ(slots(7, 64), 7);
  EXPECT_EQ(slots(3, std::nullopt), 3);
}

TEST(Plan, FewPrismsAtManyPointsShareAGridOnAHost) {
  const auto slots = [](std::int64_t n_prisms, std::int64_t n_points) {
    const Machine machine = host_for_tensors(32);
    Request request;
    request.fields = fields_of(FieldSet::tensor);
    return make_plan(request, {n_prisms, n_points, true, false, {}}, machine, nullptr).direct.slots;
  };
  // 32 grids of 1e6 points took longer than all the rest: 0.74 s, of which 0.59 s with one
  EXPECT_EQ(slots(100, 1'000'000), 1);
  EXPECT_EQ(slots(251'946, 15'000), 32);
  EXPECT_EQ(slots(1'000'000, 30), 32);
  // too few points to share
  EXPECT_EQ(slots(10, 1'000), 10);
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

/// Keys and texts of what check_request() finds.
std::vector<std::pair<std::string, std::string>> mistakes(const Request& request) {
  std::vector<std::pair<std::string, std::string>> found;
  try {
    check_request(request);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) found.emplace_back(problem.key, problem.what);
  }
  return found;
}

/// A request whose execution is changed by one assignment.
template <class Change>
Request changed(const Change& change) {
  Request request;
  change(request.execution);
  return request;
}

TEST(Plan, AcceptsTheDefaultsAndTheEndsOfEachRange) {
  Request request;
  EXPECT_TRUE(mistakes(request).empty());
  request.fields = {Field::gz};
  request.execution.partition = Partition::rank_grid;
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1'000'000'000}}) {
    request.execution.batch = request.execution.slots = request.execution.chunk = count;
    request.execution.block = std::min<std::int64_t>(count, 512);
    request.execution.memory_limit = count;
    EXPECT_TRUE(mistakes(request).empty()) << count;
  }
  request.execution.memory_limit = std::numeric_limits<std::int64_t>::max();
  request.execution.method = Method::direct;
  EXPECT_TRUE(mistakes(request).empty());
}

TEST(Plan, NamesTheKeyOfAValueThatNoRunCanHave) {
  const std::string at_most = "; unset or a whole number from 1 to 1000000000 is expected";
  const std::vector<std::pair<Request, std::pair<std::string, std::string>>> trials = {
      {{.fields = {}, .execution = {}}, {"fields", "is empty; at least one field is expected"}},
      {{.gravitational_constant = std::numeric_limits<double>::infinity(), .execution = {}},
       {"gravitational_constant", "is NaN or infinite"}},
      {{.gravitational_constant = 1e200, .execution = {}},
       {"gravitational_constant", "is 1e+200; at most 1e+100 m3 kg-1 s-2 keep results finite"}},
      {changed([](Execution& e) { e.slots = 0; }), {"execution.slots", "is 0" + at_most}},
      {changed([](Execution& e) { e.slots = 1'000'000'001; }), {"execution.slots", "is 1000000001" + at_most}},
      {changed([](Execution& e) { e.batch = 0; }), {"execution.batch", "is 0" + at_most}},
      {changed([](Execution& e) { e.chunk = -7; }), {"execution.chunk", "is -7" + at_most}},
      {changed([](Execution& e) { e.block = 513; }),
       {"execution.block", "is 513; unset or a whole number from 1 to 512 is expected"}},
      {changed([](Execution& e) { e.memory_limit = -1; }),
       {"execution.memory_limit", "is -1; unset or a whole number from 1 to 9223372036854775807 is expected"}},
      {changed([](Execution& e) { e.tolerance = std::numeric_limits<double>::quiet_NaN(); }),
       {"execution.tolerance", "is nan; a number between 0 and 1 is expected"}},
      {changed([](Execution& e) { e.tolerance = 1; }),
       {"execution.tolerance", "is 1; a number between 0 and 1 is expected"}},
      {changed([](Execution& e) { e.check_points = 9; }),
       {"execution.check_points", "is 9; a whole number from 10 to 1000000 is expected"}}};
  for (const auto& [request, mistake] : trials) {
    const auto found = mistakes(request);
    ASSERT_EQ(found.size(), 1U) << mistake.first;
    EXPECT_EQ(found.front(), mistake);
  }
}

TEST(Plan, RefusesMethodsThatAreToCome) {
  for (const Method method : {Method::mesh}) {
    const auto found = mistakes(changed([&](Execution& e) { e.method = method; }));
    ASSERT_EQ(found.size(), 1U) << name(method);
    EXPECT_EQ(found.front().first, "execution.method");
    EXPECT_EQ(found.front().second.find(std::string("is ") + name(method) + ","), 0U) << found.front().second;
  }
}

TEST(Plan, RefusesGridsOfRanksThatNoRunHas) {
  const auto of_grid = [](std::array<int, 2> grid) {
    return mistakes(changed([&](Execution& e) {
      e.partition = Partition::rank_grid;
      e.rank_grid = grid;
    }));
  };
  for (const std::array<int, 2> grid : {std::array{0, 1}, std::array{-1, -2}, std::array{1 << 16, 1 << 15}}) {
    const auto found = of_grid(grid);
    ASSERT_EQ(found.size(), 1U) << grid[0] << " x " << grid[1];
    EXPECT_EQ(found.front().first, "execution.partition");
  }
  EXPECT_TRUE(of_grid({(1 << 16) - 1, 1 << 15}).empty());
}

TEST(Plan, TellsAllMistakesOfARequestBeforeItLooksAtTheMachine) {
  Request request;
  request.fields = {};
  request.execution.slots = 0;
  request.execution.memory_limit = -1;
  const PrismList nothing(PrismColumns{});
  try {
    (void)plan_on_ranks(request, nothing, Points{}, problem_size(nothing, Points{}), Communicator());
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 3U) << error.what();
    EXPECT_EQ(error.problems()[0].key, "fields");
    EXPECT_EQ(error.problems()[1].key, "execution.slots");
    EXPECT_EQ(error.problems()[2].key, "execution.memory_limit");
  }
}

}  // namespace
}  // namespace prismfield::test_plan
