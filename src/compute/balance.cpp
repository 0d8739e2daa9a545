// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/balance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernel/contact.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Pairs that one rank looks at, prisms that it reads where all have one shape and where each has its own, points among
/// which it chooses.
constexpr double pairs_budget = 2e7;
constexpr std::int64_t most_prisms = std::int64_t{1} << 17;
constexpr std::int64_t most_shapes = std::int64_t{1} << 15;
constexpr std::int64_t most_points = std::int64_t{1} << 20;
/// Resolution of the cuts: blocks of prisms a rank, blocks of points.
constexpr std::int64_t prism_blocks_a_rank = 1024;
constexpr std::int64_t point_blocks = 8192;
/// Prisms that are read at once where not all are.
constexpr std::int64_t prisms_a_run = 8;

/// Points in groups, and which point each lane is.
struct GroupedPoints {
  CostPoints points;
  std::vector<std::int64_t> number;
};

GroupedPoints group_points(const Points& points, IndexRange range, int lanes) {
  GroupedPoints out;
  const std::int64_t n = range.size();
  if (n == 0) return out;
  if (n <= most_points) {
    out.number = spatial_order(points, range);
    while (static_cast<std::int64_t>(out.number.size()) % lanes != 0) out.number.push_back(out.number.back());
  } else {
    // points that follow each other are neighbours too
    const std::int64_t groups = most_points / lanes;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t first = range.begin + balanced_part(n, g, groups).begin;
      for (int lane = 0; lane < lanes; ++lane) out.number.push_back(std::min(first + lane, range.end - 1));
    }
  }
  out.points.groups = static_cast<std::int64_t>(out.number.size()) / lanes;
  for (const std::int64_t point : out.number) {
    const auto at = static_cast<std::size_t>(point);
    out.points.easting.push_back(points.easting[at]);
    out.points.northing.push_back(points.northing[at]);
    out.points.upward.push_back(points.upward[at]);
  }
  return out;
}

/// The prisms of an ensemble in blocks, and those that this rank estimates.
struct PrismBlocks {
  std::int64_t n_prisms = 0;
  std::int64_t blocks = 0;
  IndexRange mine;
};

/// Costs of this rank's prisms by block, and of the groups of points, at one of `point_sets` sets of points.
void estimate(const CostSettings& settings, const PrismSource& ensemble, const PrismBlocks& prisms,
              const CostPoints& points, int point_sets, double* block_cost, std::vector<double>& group_cost) {
  group_cost.assign(static_cast<std::size_t>(points.groups), 0.0);
  if (prisms.mine.size() == 0 || points.groups == 0) return;
  const std::int64_t most = ensemble.uniform_shape() ? most_prisms : most_shapes;
  const std::int64_t taken = std::min(prisms.mine.size(), std::max<std::int64_t>(most / point_sets, 1));
  const double pairs = static_cast<double>(taken) * static_cast<double>(points.groups) * settings.lanes;
  const auto stride = static_cast<std::int64_t>(std::ceil(pairs * point_sets / pairs_budget));
  PrismBlock block;
  std::vector<double> prism_cost;
  for (std::int64_t b = 0; b < prisms.blocks; ++b) {
    const IndexRange range = common(balanced_part(prisms.n_prisms, b, prisms.blocks), prisms.mine);
    const std::int64_t n = range.size();
    if (n == 0) continue;
    const double share = static_cast<double>(taken) / static_cast<double>(prisms.mine.size());
    const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(n)));
    const std::int64_t runs = wanted < n ? (wanted + prisms_a_run - 1) / prisms_a_run : 1;
    const std::int64_t length = wanted < n ? std::min(prisms_a_run, n) : n;
    const double stands_for = static_cast<double>(n) / static_cast<double>(runs * length);
    double sum = 0;
    for (std::int64_t r = 0; r < runs; ++r) {
      const std::int64_t begin = std::min(range.begin + balanced_part(n, r, runs).begin, range.end - length);
      ensemble.read({begin, begin + length}, block);
      prism_cost.assign(static_cast<std::size_t>(length), 0.0);
      add_costs(settings, block, begin, points, stride, stands_for, prism_cost.data(), group_cost.data());
      for (const double cost : prism_cost) sum += cost;
    }
    block_cost[b] += sum * stands_for;
  }
}

/// Adds up over ranks; the same numbers on all of them afterwards.
void sum_everywhere(const Communicator& communicator, std::vector<double>& values) {
  sum_to_root(communicator, values.data(), static_cast<std::int64_t>(values.size()));
  broadcast(communicator, values);
}

PrismBlocks prism_blocks(const PrismSource& ensemble, const Communicator& communicator) {
  const IndexRange own = ensemble.readable();
  const std::vector<std::int64_t> ends = gather_everywhere(communicator, {own.begin, own.end});
  std::vector<IndexRange> held;
  for (std::size_t i = 0; i < ends.size(); i += 2) held.push_back({ends[i], ends[i + 1]});
  PrismBlocks prisms;
  prisms.n_prisms = ensemble.size();
  prisms.blocks = std::min(prisms.n_prisms, prism_blocks_a_rank * communicator.size());
  prisms.mine = estimation_ranges(held, prisms.n_prisms)[static_cast<std::size_t>(communicator.rank())];
  return prisms;
}

IndexRange part_of(const std::vector<std::int64_t>& cuts, int part) {
  const auto p = static_cast<std::size_t>(part);
  return {cuts[p], cuts[p + 1]};
}

}  // namespace

PartitionFacts partition_facts(const Request& request, bool uniform_shape, const Plan& plan, int ranks) {
  const bool on_device = is_device(plan.space);
  PartitionFacts facts;
  facts.n_prisms = plan.n_prisms;
  facts.n_points = plan.n_points;
  facts.ranks = ranks;
  facts.values_of_point = request.fields.size() + n_contact_columns;
  facts.slots = request.execution.slots.value_or(on_device ? plan.slots : plan.threads);
  facts.slots_by_points = on_device ? facts.slots : 1;
  facts.lanes = plan.lanes;
  facts.slot_point_bytes = plan.slot_point_bytes;
  facts.memory_limit = plan.memory_limit;
  facts.pair_seconds = plan.pair_seconds;
  // what the host takes to read and stage a prism, which a device that has few pairs of it waits for
  constexpr double staging_nanoseconds = 30;
  facts.prism_seconds =
      1e-9 * (on_device ? staging_nanoseconds : prism_weight(on_device, uniform_shape) / plan.threads);
  constexpr double device_memory_rate = 1e12;
  if (on_device) facts.memory_rate = device_memory_rate;
  return facts;
}

std::vector<IndexRange> estimation_ranges(const std::vector<IndexRange>& held, std::int64_t n_prisms) {
  const auto ranks = static_cast<std::int64_t>(held.size());
  std::vector<IndexRange> ranges;
  bool each_its_own = true;
  for (std::int64_t r = 0; r < ranks; ++r) {
    const IndexRange part = balanced_part(n_prisms, r, ranks);
    ranges.push_back(part);
    const IndexRange& has = held[static_cast<std::size_t>(r)];
    each_its_own = each_its_own && has.begin <= part.begin && part.end <= has.end;
  }
  if (each_its_own) return ranges;
  ranges.assign(held.size(), IndexRange{});
  for (std::int64_t at = 0; at < n_prisms;) {
    const auto holder =
        std::find_if(held.begin(), held.end(), [&](const IndexRange& h) { return h.begin <= at && at < h.end; });
    if (holder != held.end()) {
      ranges[static_cast<std::size_t>(holder - held.begin())] = {at, holder->end};
      at = holder->end;
      continue;
    }
    std::int64_t next = n_prisms;
    for (const IndexRange& h : held) {
      if (h.begin > at && h.size() > 0) next = std::min(next, h.begin);
    }
    at = next;
  }
  return ranges;
}

double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms, const Points& points,
                     IndexRange at) {
  const GroupedPoints grouped = group_points(points, at, settings.lanes);
  std::vector<double> ignored;
  double cost = 0;
  estimate(settings, ensemble, {ensemble.size(), 1, prisms}, grouped.points, 1, &cost, ignored);
  // beyond most_points the groups hold some of the points
  return at.size() <= most_points ? cost : cost * static_cast<double>(at.size()) / static_cast<double>(most_points);
}

RankShare cost_balanced_share(const PrismSource& ensemble, const Points& points, const Plan& plan, RankGrid grid,
                              PrismCuts cuts, const Communicator& communicator) {
  CostSettings settings;
  settings.precision = plan.precision;
  settings.kernel = plan.kernel;
  settings.lanes = plan.lanes;
  settings.weights = form_weights(is_device(plan.space));
  settings.per_prism = prism_weight(is_device(plan.space), ensemble.uniform_shape());
  const PrismBlocks prisms = prism_blocks(ensemble, communicator);
  const int my_prism_part = communicator.rank() % grid.prism_parts;
  const int my_point_part = communicator.rank() / grid.prism_parts;

  std::vector<std::int64_t> point_cuts{0, points.size()};
  std::vector<double> group_cost;
  if (grid.point_parts > 1) {
    const std::int64_t blocks = std::min(points.size(), point_blocks);
    std::vector<double> point_cost(static_cast<std::size_t>(blocks), 0.0);
    agree(communicator, [&] {
      const GroupedPoints all = group_points(points, {0, points.size()}, settings.lanes);
      std::vector<double> ignored(static_cast<std::size_t>(prisms.blocks), 0.0);
      estimate(settings, ensemble, prisms, all.points, 1, ignored.data(), group_cost);
      for (std::size_t i = 0; i < all.number.size(); ++i) {
        const auto b = static_cast<std::size_t>(part_with(points.size(), all.number[i], blocks));
        point_cost[b] += group_cost[i / static_cast<std::size_t>(settings.lanes)] / settings.lanes;
      }
    });
    sum_everywhere(communicator, point_cost);
    point_cuts = equal_cost_cuts(points.size(), point_cost, grid.point_parts);
  }
  const IndexRange my_points = part_of(point_cuts, my_point_part);
  if (grid.prism_parts == 1) return {{0, prisms.n_prisms}, my_points};

  const auto n_blocks = static_cast<std::size_t>(prisms.blocks);
  std::vector<double> prism_cost(n_blocks * static_cast<std::size_t>(grid.point_parts), 0.0);
  agree(communicator, [&] {
    for (int part = 0; part < grid.point_parts; ++part) {
      const GroupedPoints there = group_points(points, part_of(point_cuts, part), settings.lanes);
      estimate(settings, ensemble, prisms, there.points, grid.point_parts,
               prism_cost.data() + static_cast<std::size_t>(part) * n_blocks, group_cost);
    }
  });
  sum_everywhere(communicator, prism_cost);
  std::vector<double> costs(n_blocks, 0.0);
  for (int part = 0; part < grid.point_parts; ++part) {
    if (cuts == PrismCuts::of_each_part && part != my_point_part) continue;
    const double* const there = prism_cost.data() + static_cast<std::size_t>(part) * n_blocks;
    for (std::size_t b = 0; b < n_blocks; ++b) costs[b] += there[b];
  }
  return {part_of(equal_cost_cuts(prisms.n_prisms, costs, grid.prism_parts), my_prism_part), my_points};
}

Plan plan_on_ranks(const Request& request, const PrismSource& ensemble, const Points& points,
                   const ProblemSize& problem, const Communicator& communicator, PrismCuts cuts) {
  Machine machine;
  Plan plan;
  agree_on_input(communicator, [&] {
    check_request(request);
    machine = machine_here(request, communicator);
    plan = make_plan(request, problem, machine);
  });
  const bool is_chosen = request.execution.partition == Partition::automatic;
  const bool by_cost = request.execution.balance == Balance::cost;
  if (communicator.size() == 1 || !(is_chosen || by_cost)) return plan;

  Shares shares;
  shares.grid = {plan.prism_parts, plan.point_parts};
  if (is_chosen) {
    // memory and threads may differ between nodes: rank 0 decides for all
    const RankGrid chosen =
        choose_partition(partition_facts(request, problem.uniform_shape, plan, communicator.size()));
    std::array<std::int64_t, 2> parts = {chosen.prism_parts, chosen.point_parts};
    broadcast(communicator, parts);
    shares.grid = {static_cast<int>(parts[0]), static_cast<int>(parts[1])};
  }
  shares.mine = by_cost ? cost_balanced_share(ensemble, points, plan, shares.grid, cuts, communicator)
                        : rank_share(plan.n_prisms, plan.n_points, communicator.rank(), shares.grid.prism_parts,
                                     shares.grid.point_parts);
  agree(communicator, [&] { plan = make_plan(request, problem, machine, &shares); });
  return plan;
}

}  // namespace prismfield
