// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <prismfield/error.hpp>

#include "compute/direct_state.hpp"
#include "compute/partition.hpp"

namespace prismfield {
namespace {

/// What a launch of prisms should hold at most: pairs, so that progress and signals are looked at several times a
/// second, and prisms, so that staging stays small.
constexpr std::int64_t pairs_per_launch_host = std::int64_t{1} << 26;
constexpr std::int64_t pairs_per_launch_corners = pairs_per_launch_host / 128;
constexpr std::int64_t pairs_per_launch_device = std::int64_t{1} << 32;
constexpr std::int64_t max_launch_host = std::int64_t{1} << 16;
constexpr std::int64_t max_launch_device = std::int64_t{1} << 15;

/// Pairs of a chunk, after which the slots are reduced and a checkpoint may be taken: seconds on a laptop, and on a
/// device hundreds of times the reduction.
constexpr std::int64_t pairs_per_chunk = std::int64_t{1} << 31;
constexpr std::int64_t pairs_per_chunk_corners = pairs_per_chunk / 128;

/// Prisms of one batch: a host's fit its first cache beside the points; a device's only keep the additions to scratch
/// rare. Measured with perf/.
constexpr std::int64_t batch_host = 64;
constexpr std::int64_t batch_device = 128;
constexpr std::int64_t block_device = 128;

/// A device is full when it holds this many times its concurrent threads.
constexpr std::int64_t waves_device = 8;

/// Nanoseconds of a pair on one host thread and lane vector, and on a device: for the choice of a partition.
constexpr double pair_nanoseconds_host = 3.0;
constexpr double pair_nanoseconds_scalar = 25.0;
constexpr double pair_nanoseconds_corners_host = 450.0;
constexpr double pair_nanoseconds_device = 0.01;
constexpr double pair_nanoseconds_corners_device = 0.2;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Seconds of a pair, for `partition: auto`.
double seconds_of_pair(const EngineTraits& traits, KernelKind kernel) {
  const bool corners = kernel == KernelKind::corners;
  if (traits.is_device) return 1e-9 * (corners ? pair_nanoseconds_corners_device : pair_nanoseconds_device);
  const double of_one = traits.lanes > 1 ? pair_nanoseconds_host : pair_nanoseconds_scalar;
  const double of_thread = corners ? pair_nanoseconds_corners_host : of_one;
  return 1e-9 * (of_thread / traits.threads);
}

/// Whether zeroing and summing a grid per thread of a host takes more than a twentieth of the pairs' time, as for few
/// prisms at many points. Then all threads share one grid, each with its part of the points.
bool grids_cost_too_much(const Plan& plan, const EngineTraits& traits) {
  constexpr double most_of_pairs = 0.05;
  constexpr std::int64_t groups_per_thread = 16;
  const auto points = static_cast<double>(plan.direct.tile_points);
  if (plan.direct.tile_points < groups_per_thread * traits.threads * traits.lanes) return false;
  const double grids = grids_seconds(traits.threads, points * static_cast<double>(traits.memory.per_slot_point));
  const double pairs = static_cast<double>(plan.prisms().size()) * points * seconds_of_pair(traits, plan.kernel);
  return grids > most_of_pairs * pairs;
}

/// Slots, batch and block.
void choose_slots(Plan& plan, const Execution& wanted, const EngineTraits& traits) {
  DirectPlan& direct = plan.direct;
  const std::int64_t prisms = plan.prisms().size();
  direct.tile_points = plan.points().size();
  const std::int64_t tile = std::max<std::int64_t>(direct.tile_points, 1);
  direct.batch = wanted.batch.value_or(traits.is_device ? batch_device : batch_host);
  plan.block = 1;
  if (traits.is_device) {
    plan.block = wanted.block.value_or(std::min(block_device, ceil_divide(tile, 32) * 32));
    plan.block = std::min(plan.block, traits.max_block);
  }
  // A device has more threads than a rank may have points: owned by one thread each they would leave it idle.
  const bool one_grid =
      plan.partition == Partition::points_per_prism || (plan.partition == Partition::points && !traits.is_device);
  if (one_grid) {
    direct.slots = 1;
  } else if (wanted.slots) {
    direct.slots = *wanted.slots;
  } else if (traits.is_device) {
    // no more than one launch has batches for: at few points they would only be zeroed and reduced
    direct.slots = std::clamp<std::int64_t>(ceil_divide(waves_device * traits.threads, tile), 1,
                                            ceil_divide(max_launch_device, direct.batch));
  } else {
    direct.slots = grids_cost_too_much(plan, traits) ? 1 : traits.threads;
  }
  if (!wanted.slots) direct.slots = std::clamp<std::int64_t>(direct.slots, 1, std::max<std::int64_t>(prisms, 1));
  // every slot gets work where there are prisms enough
  if (!wanted.batch) direct.batch = std::clamp<std::int64_t>(ceil_divide(prisms, direct.slots), 1, direct.batch);
  // the others would only be zeroed and reduced
  if (wanted.slots) direct.slots = std::clamp<std::int64_t>(ceil_divide(prisms, direct.batch), 1, direct.slots);
}

/// Prisms of a launch and of a chunk: whole rounds of slots, so that no launch leaves slots idle.
void choose_chunks(Plan& plan, const Execution& wanted, const EngineTraits& traits) {
  DirectPlan& direct = plan.direct;
  const bool corners = plan.kernel == KernelKind::corners;
  const std::int64_t prisms = plan.prisms().size();
  const std::int64_t per_launch = traits.is_device ? pairs_per_launch_device
                                  : corners        ? pairs_per_launch_corners
                                                   : pairs_per_launch_host;
  const std::int64_t max_launch = traits.is_device ? max_launch_device : max_launch_host;
  const std::int64_t round = direct.slots * direct.batch;
  std::int64_t launch =
      std::clamp<std::int64_t>(per_launch / std::max<std::int64_t>(direct.tile_points, 1), 1, max_launch);
  launch = ceil_divide(launch, round) * round;
  if (launch > 4 * max_launch) launch = ceil_divide(max_launch, direct.batch) * direct.batch;
  const std::int64_t per_chunk = corners ? pairs_per_chunk_corners : pairs_per_chunk;
  std::int64_t chunk = wanted.chunk.value_or(per_chunk / std::max<std::int64_t>(plan.n_points, 1));
  chunk =
      std::clamp<std::int64_t>(ceil_divide(chunk, round), 1, std::max<std::int64_t>(1, ceil_divide(prisms, round))) *
      round;
  direct.chunk_prisms = std::max<std::int64_t>(1, chunk);
  direct.launch_prisms = std::max<std::int64_t>(1, std::min({launch, chunk, prisms}));
}

/// Fewer slots, then tiles of points, until the scratch fits the limit, bytes.
void fit_scratch(DirectPlan& direct, const EngineTraits& traits, std::int64_t limit) {
  const std::int64_t grid = std::max<std::int64_t>(1, direct.tile_points * traits.memory.per_slot_point);
  direct.slots = std::clamp<std::int64_t>(limit / grid, 1, direct.slots);
  if (grid > limit) {
    const std::int64_t lanes = traits.lanes;
    const std::int64_t fitting = limit / traits.memory.per_slot_point / lanes * lanes;
    direct.tile_points = std::clamp<std::int64_t>(fitting, std::min(lanes, direct.tile_points), direct.tile_points);
  }
  direct.scratch_bytes = direct.slots * direct.tile_points * traits.memory.per_slot_point;
}

/// All that the plan takes; of the method's own share scratch has a line of its own.
void count_direct_memory(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  const EngineTraits& traits = machine.engine;
  const EngineMemory& m = traits.memory;
  const std::int64_t launch = plan.direct.launch_prisms, tile = plan.direct.tile_points;
  const std::int64_t shapes = problem.uniform_shape ? 1 : launch;
  const std::int64_t n_computed = plan.computed.size();
  const std::int64_t engine =
      plan.direct.scratch_bytes + tile * m.per_point + launch * m.per_prism + shapes * m.per_shape;
  MethodMemory memory;
  memory.on_device = traits.is_device ? engine : 0;
  memory.while_computing = traits.is_device ? tile * m.host_per_point + launch * m.host_per_prism : engine;
  // the block of prisms read next, a tile's fields and contacts
  memory.always = launch * 7 * 8 + payload_bytes(n_computed, tile);
  if (problem.checkpoints) plan.checkpoint_bytes = payload_bytes(n_computed, plan.points().size());
  count_memory(plan, problem, memory, request.fields.size(), machine.rank);
}

/// Makes scratch that was not asked for smaller, as long as the whole passes what there is and that helps. Tiles stay
/// large enough to be worth a launch.
void fit_host(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  constexpr std::int64_t smallest_tile = 4096;
  const EngineTraits& traits = machine.engine;
  if (traits.is_device || request.execution.memory_limit) return;
  // what is free changes from one moment to the next
  const std::int64_t room = machine.host_memory - machine.host_memory / 16;
  while (plan.host_bytes_to_come > room && (plan.direct.slots > 1 || plan.direct.tile_points > smallest_tile)) {
    Plan smaller = plan;
    const std::int64_t excess = plan.host_bytes_to_come - room;
    const std::int64_t smallest = std::min(smallest_tile, plan.direct.tile_points) * traits.memory.per_slot_point;
    smaller.memory_limit = std::max({plan.direct.scratch_bytes - excess, plan.direct.scratch_bytes / 2, smallest});
    fit_scratch(smaller.direct, traits, smaller.memory_limit);
    choose_chunks(smaller, request.execution, traits);
    count_direct_memory(smaller, request, problem, machine);
    if (smaller.host_bytes_to_come >= plan.host_bytes_to_come) return;
    plan = smaller;
  }
}

/// How far points and faces at one place may be apart in the coordinates that the kernels see, beside their own ulp.
std::array<double, 3> rounding_of(const Plan& plan, const PrismSource& prisms, const PointColumns& points) {
  const Bounds bounds = prisms.bounds();
  const std::array<double, 3> largest = {std::max(std::abs(bounds.west), std::abs(bounds.east)),
                                         std::max(std::abs(bounds.south), std::abs(bounds.north)),
                                         std::max(std::abs(bounds.bottom), std::abs(bounds.top))};
  std::array<double, 3> rounding{};
  for (std::size_t d = 0; d < 3; ++d) {
    rounding[d] = prisms.rounding()[d] + points.rounding[d];
    // single precision takes coordinates relative to the centre, with other ulp than those of the input
    constexpr double ulps = 4;
    if (plan.precision == Precision::single) {
      rounding[d] += ulps * std::numeric_limits<double>::epsilon() * largest[d];
    }
  }
  return rounding;
}

}  // namespace

void plan_direct(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  choose_slots(plan, request.execution, machine.engine);
  fit_scratch(plan.direct, machine.engine, plan.memory_limit);
  choose_chunks(plan, request.execution, machine.engine);
  count_direct_memory(plan, request, problem, machine);
  fit_host(plan, request, problem, machine);
  plan.direct.pair_seconds = seconds_of_pair(machine.engine, plan.kernel);
  plan.direct.slot_point_bytes = machine.engine.memory.per_slot_point;
}

double truncation_of(const Plan& plan) noexcept {
  // the largest value is the sum of many pairs, and pairs may cancel
  constexpr double share = 0.1;
  return plan.tolerance < default_tolerance ? share * plan.tolerance
                                            : std::max(share * plan.tolerance, default_truncation);
}

EngineSettings engine_settings(const Plan& plan, const PrismSource& prisms, const PointColumns& points) {
  EngineSettings settings;
  settings.set = smallest_set(plan.computed);
  settings.inside = share_inside(plan.inside);
  settings.kernel = plan.kernel;
  settings.launch_per_prism = plan.partition == Partition::points_per_prism;
  settings.slots = plan.direct.slots;
  settings.batch = plan.direct.batch;
  settings.block = plan.block;
  settings.tile_points = plan.direct.tile_points;
  const Bounds bounds = prisms.bounds();
  settings.origin = {0.5 * (bounds.west + bounds.east), 0.5 * (bounds.south + bounds.north),
                     0.5 * (bounds.bottom + bounds.top)};
  settings.rounding = rounding_of(plan, prisms, points);
  settings.truncation = truncation_of(plan);
  return settings;
}

void make_fitting(Plan& plan, const EngineTraits& traits, bool in_a_tile,
                  const std::function<void(const Plan&)>& make) {
  while (true) {
    try {
      make(plan);
      return;
    } catch (const AllocationFailure& failure) {
      if (plan.direct.slots == 1 && plan.direct.tile_points <= traits.lanes) {
        throw RunError(
            fmt::format("no memory even for one slot of {} points: {}", plan.direct.tile_points, failure.what()));
      }
      const std::int64_t tile = plan.direct.tile_points;
      fit_scratch(plan.direct, traits, plan.direct.slots * plan.direct.tile_points * traits.memory.per_slot_point / 2);
      if (in_a_tile && plan.direct.tile_points != tile) {
        throw RunError(
            fmt::format("no memory for a tile of {} points, in the midst of which the checkpoint was taken; go on with "
                        "more memory: {}",
                        tile, failure.what()));
      }
    }
  }
}

}  // namespace prismfield
