// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/balance.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <tuple>
#include <utility>

#include <prismfield/forward.hpp>

#include "compute/direct_plan.hpp"
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

GroupedPoints group_points(const PointColumns& points, IndexRange range, int lanes) {
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
  Points chosen = chosen_points(points, out.number);
  out.points = {std::move(chosen.easting), std::move(chosen.northing), std::move(chosen.upward),
                static_cast<std::int64_t>(out.number.size()) / lanes};
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

PrismBlocks prism_blocks(const PrismSource& ensemble, const Communicator& communicator) {
  const std::vector<IndexRange> held = gather_everywhere(communicator, ensemble.readable());
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

/// Points of a sample lie in a direction that no symmetry singles out.
constexpr double aside = 0.2;

/// The form that a cube of edge 1 about the origin takes at a point this far east of its centre.
std::size_t form_at(double distance, CostSettings settings) {
  for (std::size_t form = 0; form < settings.weights.size(); ++form) {
    settings.weights[form] = static_cast<double>(form);
  }
  const PrismBlock cube{{-0.5}, {0.5}, {-0.5}, {0.5}, {-0.5}, {0.5}, {1}, {}};
  const CostPoints point{{distance}, {aside * distance}, {aside * distance}, 1};
  double cost = 0, same = 0;
  add_costs(settings, cube, 0, point, 1, 1, &cost, &same);
  return static_cast<std::size_t>(std::lround(cost));
}

/// Seconds of this process so far: of the processor on a host, which other programs on the machine do not lengthen.
double seconds_so_far(bool on_device) {
  timespec time{};
  ::clock_gettime(on_device ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of a run of such cubes and points close together at this distance: the quickest of some.
double quickest_run(double distance, const Request& request, std::int64_t n_prisms, std::int64_t n_points) {
  const auto n = static_cast<std::size_t>(n_prisms);
  const std::vector<double> low(n, -0.5), high(n, 0.5), ones(n, 1);
  const PrismList cubes(PrismColumns{low, high, low, high, low, high, ones, {ones, ones, ones}});
  Points points;
  for (std::int64_t i = 0; i < n_points; ++i) {
    points.easting.push_back(distance * (1 + 1e-3 * static_cast<double>(i) / static_cast<double>(n_points)));
  }
  for (const double easting : points.easting) points.northing.push_back(aside * easting);
  points.upward = points.northing;
  constexpr int runs = 5;
  double quickest = HUGE_VAL;
  for (int run = 0; run < runs; ++run) {
    const double begin = seconds_so_far(is_device(request.execution.space));
    static_cast<void>(forward(cubes, points, request));
    quickest = std::min(quickest, seconds_so_far(is_device(request.execution.space)) - begin);
  }
  return quickest;
}

/// See measured_weights().
FormWeights measure_weights(const Plan& plan) {
  const bool on_device = is_device(plan.space);
  Request small;
  small.fields = plan.computed;
  small.execution.space = plan.space;
  small.execution.precision = plan.precision;
  small.execution.kernel = plan.kernel;
  const CostSettings settings{
      plan.precision, plan.kernel, 1, {}, 0, default_truncation, on_device, has_magnetic_gradient(plan.computed)};
  const double threads = on_device ? 1 : plan.threads;
  FormWeights weights = form_weights(on_device);
  for (double& weight : weights) weight /= threads;
  // beyond this every prism is a point mass
  constexpr double furthest = 1e6, step = 1.1;
  const std::int64_t n_points = on_device ? 1 << 14 : 512;
  // what a run takes whatever its pairs is in all
  const double without = quickest_run(furthest, small, 1, n_points);
  std::size_t last = weights.size();
  double last_weight = HUGE_VAL;
  for (double distance = 0.6; distance < furthest; distance *= step) {
    const std::size_t form = form_at(distance, settings);
    // not so near a change that points of the sample take another
    if (form == last || form_at(distance * 1.002, settings) != form) continue;
    last = form;
    // milliseconds on a host; a device is not full with less
    const double wanted = (on_device ? 2e7 : 4e6) / weights[form];
    const auto n_prisms = std::max<std::int64_t>(8, std::llround(wanted / static_cast<double>(n_points)));
    const double more = quickest_run(distance, small, n_prisms, n_points) - without;
    const double pairs = static_cast<double>(n_prisms) * static_cast<double>(n_points);
    if (more > 0) weights[form] = 1e9 * more / pairs / threads;
    // the further, the cheaper: threads that waited for each other in one sample do not count
    weights[form] = std::min(weights[form], last_weight);
    last_weight = weights[form];
    if (form >= static_cast<std::size_t>(Form::multipole_0)) break;
  }
  return weights;
}

}  // namespace

PartitionFacts partition_facts(const Request& request, bool uniform_shape, const Plan& plan, int ranks) {
  const bool on_device = is_device(plan.space);
  PartitionFacts facts;
  facts.n_prisms = plan.n_prisms;
  facts.n_points = plan.n_points;
  facts.ranks = ranks;
  facts.values_of_point = request.fields.size() + n_contact_columns;
  facts.slots = request.execution.slots.value_or(on_device ? plan.direct.slots : plan.threads);
  facts.slots_by_points = on_device ? facts.slots : 1;
  facts.lanes = plan.lanes;
  facts.slot_point_bytes = plan.direct.slot_point_bytes;
  facts.memory_limit = plan.memory_limit;
  facts.pair_seconds = plan.direct.pair_seconds;
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
    each_its_own = each_its_own && held[static_cast<std::size_t>(r)].contains(part);
  }
  return each_its_own ? ranges : held;
}

double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms,
                     const PointColumns& points, IndexRange at) {
  const GroupedPoints grouped = group_points(points, at, settings.lanes);
  std::vector<double> ignored;
  double cost = 0;
  estimate(settings, ensemble, {ensemble.size(), 1, prisms}, grouped.points, 1, &cost, ignored);
  // beyond most_points the groups hold some of the points
  return at.size() <= most_points ? cost : cost * static_cast<double>(at.size()) / static_cast<double>(most_points);
}

RankShare cost_balanced_share(const PrismSource& ensemble, const PointColumns& points, const Plan& plan, RankGrid grid,
                              PrismCuts cuts, const Communicator& communicator) {
  const bool on_device = is_device(plan.space);
  const CostSettings settings{plan.precision,
                              plan.kernel,
                              plan.lanes,
                              form_weights(on_device),
                              prism_weight(on_device, ensemble.uniform_shape()),
                              truncation_of(plan),
                              on_device,
                              has_magnetic_gradient(plan.computed)};
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
    sum_everywhere(communicator, point_cost.data(), blocks);
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
  sum_everywhere(communicator, prism_cost.data(), static_cast<std::int64_t>(prism_cost.size()));
  std::vector<double> costs(n_blocks, 0.0);
  for (int part = 0; part < grid.point_parts; ++part) {
    if (cuts == PrismCuts::of_each_part && part != my_point_part) continue;
    const double* const there = prism_cost.data() + static_cast<std::size_t>(part) * n_blocks;
    for (std::size_t b = 0; b < n_blocks; ++b) costs[b] += there[b];
  }
  return {part_of(equal_cost_cuts(prisms.n_prisms, costs, grid.prism_parts), my_prism_part), my_points};
}

Shares direct_shares(const Plan& plan, const Request& request, const PrismSource& ensemble, const PointColumns& points,
                     PrismCuts cuts, const Communicator& communicator) {
  Shares shares;
  shares.grid = {plan.prism_parts, plan.point_parts};
  if (plan.partition_is_auto) {
    // memory and threads may differ between nodes: rank 0 decides for all
    shares.grid = choose_partition(partition_facts(request, ensemble.uniform_shape(), plan, communicator.size()));
    broadcast(communicator, shares.grid);
  }
  shares.mine = plan.balance == Balance::cost
                    ? cost_balanced_share(ensemble, points, plan, shares.grid, cuts, communicator)
                    : rank_share(plan.n_prisms, plan.n_points, communicator.rank(), shares.grid.prism_parts,
                                 shares.grid.point_parts);
  return shares;
}

FormWeights measured_weights(const Plan& plan) {
  using Key = std::tuple<Space, Precision, KernelKind, std::vector<FieldSet>, int>;
  static std::map<Key, FormWeights> measured;
  const Key key{plan.space, plan.precision, plan.kernel, sets_of(plan.computed), plan.threads};
  auto found = measured.find(key);
  if (found == measured.end()) found = measured.emplace(key, measure_weights(plan)).first;
  return found->second;
}

double share_seconds(const FormWeights& weights, const PrismSource& ensemble, const PointColumns& points,
                     const Plan& plan) {
  const bool on_device = is_device(plan.space);
  const auto tile = static_cast<double>(std::max<std::int64_t>(plan.direct.tile_points, 1));
  const auto n_points = static_cast<double>(plan.points().size());
  const CostSettings settings{plan.precision,
                              plan.kernel,
                              plan.lanes,
                              weights,
                              0,
                              truncation_of(plan),
                              on_device,
                              has_magnetic_gradient(plan.computed)};
  const IndexRange readable = common(plan.prisms(), ensemble.readable());
  const IndexRange looked_at = readable.size() > 0 ? readable : ensemble.readable();
  if (looked_at.size() == 0) return 0;
  const auto n_prisms = static_cast<double>(plan.prisms().size());
  const double pairs = cost_of_share(settings, ensemble, looked_at, points, plan.points()) * n_prisms /
                       static_cast<double>(looked_at.size());
  const double staging =
      n_prisms * std::ceil(n_points / tile) * prism_weight(on_device, ensemble.uniform_shape()) / plan.threads;
  return 1e-9 * (pairs + staging) + n_points * PartitionFacts{}.point_seconds +
         grids_seconds(static_cast<double>(plan.direct.slots),
                       tile * static_cast<double>(plan.direct.slot_point_bytes));
}

}  // namespace prismfield
