// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/time_estimate.hpp"

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

/// Pairs that are looked at, prisms that are read where all have one shape and where each has its own, points among
/// which are chosen.
constexpr double pairs_budget = 2e7;
constexpr std::int64_t most_prisms = std::int64_t{1} << 17;
constexpr std::int64_t most_shapes = std::int64_t{1} << 15;
constexpr std::int64_t most_points = std::int64_t{1} << 20;
/// Prisms that are read at once where not all are.
constexpr std::int64_t prisms_a_run = 8;

CostPoints group_points(const PointColumns& points, IndexRange range, int lanes) {
  const std::int64_t n = range.size();
  if (n == 0) return {};
  std::vector<std::int64_t> numbers;
  if (n <= most_points) {
    numbers = spatial_order(points, range);
    while (static_cast<std::int64_t>(numbers.size()) % lanes != 0) numbers.push_back(numbers.back());
  } else {
    // points that follow each other are neighbours too
    const std::int64_t groups = most_points / lanes;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t first = range.begin + balanced_part(n, g, groups).begin;
      for (int lane = 0; lane < lanes; ++lane) numbers.push_back(std::min(first + lane, range.end - 1));
    }
  }
  Points chosen = chosen_points(points, numbers);
  return {std::move(chosen.easting), std::move(chosen.northing), std::move(chosen.upward),
          static_cast<std::int64_t>(numbers.size()) / lanes};
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
  return static_cast<std::size_t>(std::lround(cost_of_block(settings, cube, 0, point, 1)));
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
      plan.precision, plan.kernel, 1, {}, default_truncation, on_device, has_magnetic_gradient(plan.computed)};
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

double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms,
                     const PointColumns& points, IndexRange at) {
  const CostPoints grouped = group_points(points, at, settings.lanes);
  const std::int64_t n = prisms.size();
  if (n == 0 || grouped.groups == 0) return 0;
  const std::int64_t taken = std::min(n, ensemble.uniform_shape() ? most_prisms : most_shapes);
  const double pairs = static_cast<double>(taken) * static_cast<double>(grouped.groups) * settings.lanes;
  const auto stride = static_cast<std::int64_t>(std::ceil(pairs / pairs_budget));
  const std::int64_t runs = taken < n ? (taken + prisms_a_run - 1) / prisms_a_run : 1;
  const std::int64_t length = taken < n ? std::min(prisms_a_run, n) : n;
  PrismBlock block;
  double sum = 0;
  for (std::int64_t r = 0; r < runs; ++r) {
    const std::int64_t begin = std::min(prisms.begin + balanced_part(n, r, runs).begin, prisms.end - length);
    ensemble.read({begin, begin + length}, block);
    sum += cost_of_block(settings, block, begin, grouped, stride);
  }
  const double cost = sum * (static_cast<double>(n) / static_cast<double>(runs * length));
  // beyond most_points the groups hold some of the points
  return at.size() <= most_points ? cost : cost * static_cast<double>(at.size()) / static_cast<double>(most_points);
}

Shares direct_shares(const Plan& plan, const Request& request, const PrismSource& ensemble,
                     const Communicator& communicator) {
  Shares shares;
  // memory and threads may differ between nodes: rank 0 decides for all
  shares.grid = choose_partition(partition_facts(request, ensemble.uniform_shape(), plan, communicator.size()));
  broadcast(communicator, shares.grid);
  shares.mine =
      rank_share(plan.n_prisms, plan.n_points, communicator.rank(), shares.grid.prism_parts, shares.grid.point_parts);
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
                              truncation_of(plan),
                              on_device,
                              has_magnetic_gradient(plan.computed)};
  const auto n_prisms = static_cast<double>(plan.prisms().size());
  const double pairs = cost_of_share(settings, ensemble, plan.prisms(), points, plan.points());
  const double staging =
      n_prisms * std::ceil(n_points / tile) * prism_weight(on_device, ensemble.uniform_shape()) / plan.threads;
  return 1e-9 * (pairs + staging) + n_points * PartitionFacts{}.point_seconds +
         grids_seconds(static_cast<double>(plan.direct.slots),
                       tile * static_cast<double>(plan.direct.slot_point_bytes));
}

}  // namespace prismfield
