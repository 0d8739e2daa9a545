// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/time_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include <prismfield/forward.hpp>
#include <prismfield/result.hpp>

#include "compute/balance.hpp"
#include "compute/partition.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Points of a sample lie in a direction that no symmetry singles out.
constexpr double aside = 0.2;

/// The form that a cube of edge 1 about the origin takes at a point this far east of its centre.
std::size_t form_at(double distance, CostSettings settings) {
  for (std::size_t form = 0; form < settings.weights.size(); ++form) {
    settings.weights[form] = static_cast<double>(form);
  }
  const PrismBlock cube{{-0.5}, {0.5}, {-0.5}, {0.5}, {-0.5}, {0.5}, {1}};
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
  const std::vector<double> low(n, -0.5), high(n, 0.5), density(n, 1);
  const PrismList cubes(PrismColumns{low, high, low, high, low, high, density});
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

}  // namespace

FormWeights measured_weights(const Request& request, const Plan& plan) {
  const bool on_device = is_device(plan.space);
  Request small;
  small.fields = request.fields;
  small.execution.space = plan.space;
  small.execution.precision = plan.precision;
  small.execution.kernel = plan.kernel;
  CostSettings settings;
  settings.precision = plan.precision;
  settings.kernel = plan.kernel;
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

double share_seconds(const FormWeights& weights, const PrismSource& ensemble, const Points& points, const Plan& plan) {
  const bool on_device = is_device(plan.space);
  const auto tile = static_cast<double>(std::max<std::int64_t>(plan.tile_points, 1));
  const auto n_points = static_cast<double>(plan.points().size());
  CostSettings settings;
  settings.precision = plan.precision;
  settings.kernel = plan.kernel;
  settings.lanes = plan.lanes;
  settings.weights = weights;
  const IndexRange readable = common(plan.prisms(), ensemble.readable());
  const IndexRange looked_at = readable.size() > 0 ? readable : ensemble.readable();
  if (looked_at.size() == 0) return 0;
  const auto n_prisms = static_cast<double>(plan.prisms().size());
  const double pairs = cost_of_share(settings, ensemble, looked_at, points, plan.points()) * n_prisms /
                       static_cast<double>(looked_at.size());
  const double staging =
      n_prisms * std::ceil(n_points / tile) * prism_weight(on_device, ensemble.uniform_shape()) / plan.threads;
  return 1e-9 * (pairs + staging) + n_points * PartitionFacts{}.point_seconds +
         grids_seconds(static_cast<double>(plan.slots), tile * static_cast<double>(plan.slot_point_bytes));
}

double estimated_seconds(const Request& request, const PrismSource& ensemble, const Points& points, const Plan& plan,
                         const Communicator& communicator) {
  double seconds = 0;
  agree(communicator, [&] { seconds = share_seconds(measured_weights(request, plan), ensemble, points, plan); });
  const std::vector<double> all = gather_everywhere(communicator, seconds);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace prismfield
