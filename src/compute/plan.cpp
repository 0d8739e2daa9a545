// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "base/memory_limits.hpp"
#include "compute/partition.hpp"
#include "compute/work_state.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "kernel/contact.hpp"

namespace prismfield {
namespace {

/// What a launch of prisms should hold at most: pairs, so that progress and signals are looked at several times a
/// second, and prisms, so that staging stays small.
constexpr std::int64_t pairs_per_launch_host = std::int64_t{1} << 27;
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

/// Bytes that a run's host arrays take beside their numbers. An allocator maps each large one in whole pages, its own
/// header among them, and a run holds up to 32 at a time; of what was freed it keeps as much again, by default 128 KiB.
constexpr std::int64_t allocator_bytes = 2 * std::int64_t{32} * 4096;

/// Nanoseconds of a pair on one host thread and lane vector, and on a device: for the choice of a partition.
constexpr double pair_nanoseconds_host = 3.0;
constexpr double pair_nanoseconds_scalar = 25.0;
constexpr double pair_nanoseconds_corners_host = 450.0;
constexpr double pair_nanoseconds_device = 0.01;
constexpr double pair_nanoseconds_corners_device = 0.2;

/// m3 kg-1 s-2; with it the largest densities and prisms still give finite results
constexpr double max_constant = 1e100;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The grid of ranks and this rank's part of it.
void choose_share(Plan& plan, const Execution& wanted, const Machine& machine, const Shares* shares) {
  plan.partition_is_auto = wanted.partition == Partition::automatic;
  plan.partition = plan.partition_is_auto ? Partition::prisms : wanted.partition;
  plan.balance = wanted.balance;
  plan.prism_parts = machine.ranks;
  plan.point_parts = 1;
  if (plan.partition == Partition::points) {
    std::swap(plan.prism_parts, plan.point_parts);
  } else if (plan.partition == Partition::rank_grid) {
    plan.prism_parts = wanted.rank_grid[0];
    plan.point_parts = wanted.rank_grid[1];
    if (plan.prism_parts * plan.point_parts != machine.ranks) {
      throw InputError("", "execution.partition",
                       fmt::format("{} x {} ranks asked for, but the run has {}", plan.prism_parts, plan.point_parts,
                                   machine.ranks));
    }
  }
  RankShare share = rank_share(plan.n_prisms, plan.n_points, machine.rank, plan.prism_parts, plan.point_parts);
  if (shares != nullptr) {
    share = shares->mine;
    plan.prism_parts = shares->grid.prism_parts;
    plan.point_parts = shares->grid.point_parts;
    if (plan.partition_is_auto && plan.point_parts > 1) {
      plan.partition = plan.prism_parts == 1 ? Partition::points : Partition::rank_grid;
    }
  }
  plan.prism_begin = share.prisms.begin;
  plan.prism_end = share.prisms.end;
  plan.point_begin = share.points.begin;
  plan.point_end = share.points.end;
}

/// Seconds of a pair, for `partition: auto`.
double seconds_of_pair(const EngineTraits& traits, KernelKind kernel) {
  const bool corners = kernel == KernelKind::corners;
  if (traits.is_device) return 1e-9 * (corners ? pair_nanoseconds_corners_device : pair_nanoseconds_device);
  const double of_one = traits.lanes > 1 ? pair_nanoseconds_host : pair_nanoseconds_scalar;
  const double of_thread = corners ? pair_nanoseconds_corners_host : of_one;
  return 1e-9 * (of_thread / traits.threads);
}

/// Whether to zero and sum up a grid for each thread of a host takes more than a twentieth of the pairs' time, as with
/// few prisms at many points: then one grid is enough, of which each thread has a share of the points.
bool grids_cost_too_much(const Plan& plan, const EngineTraits& traits) {
  constexpr double most_of_pairs = 0.05;
  constexpr std::int64_t groups_per_thread = 16;
  const auto points = static_cast<double>(plan.tile_points);
  if (plan.tile_points < groups_per_thread * traits.threads * traits.lanes) return false;
  const double grids = grids_seconds(traits.threads, points * static_cast<double>(traits.memory.per_slot_point));
  const double pairs = static_cast<double>(plan.prisms().size()) * points * seconds_of_pair(traits, plan.kernel);
  return grids > most_of_pairs * pairs;
}

/// Slots, batch, block and the bytes that they may take.
void choose_slots(Plan& plan, const Execution& wanted, const Machine& machine) {
  const EngineTraits& traits = machine.engine;
  const std::int64_t prisms = plan.prisms().size();
  plan.tile_points = plan.points().size();
  const std::int64_t tile = std::max<std::int64_t>(plan.tile_points, 1);
  plan.batch = wanted.batch.value_or(traits.is_device ? batch_device : batch_host);
  plan.block = 1;
  if (traits.is_device) {
    plan.block = wanted.block.value_or(std::min(block_device, ceil_divide(tile, 32) * 32));
    plan.block = std::min(plan.block, traits.max_block);
  }
  // A device has more threads than a rank may have points: owned by one thread each they would leave it idle.
  const bool one_grid =
      plan.partition == Partition::points_per_prism || (plan.partition == Partition::points && !traits.is_device);
  if (one_grid) {
    plan.slots = 1;
  } else if (wanted.slots) {
    plan.slots = *wanted.slots;
  } else if (traits.is_device) {
    // no more than one launch has batches for: at few points they would only be zeroed and reduced
    plan.slots = std::clamp<std::int64_t>(ceil_divide(waves_device * traits.threads, tile), 1,
                                          ceil_divide(max_launch_device, plan.batch));
  } else {
    plan.slots = grids_cost_too_much(plan, traits) ? 1 : traits.threads;
  }
  if (!wanted.slots) plan.slots = std::clamp<std::int64_t>(plan.slots, 1, std::max<std::int64_t>(prisms, 1));
  // every slot gets work where there are prisms enough
  if (!wanted.batch) plan.batch = std::clamp<std::int64_t>(ceil_divide(prisms, plan.slots), 1, plan.batch);
  // the others would only be zeroed and reduced
  if (wanted.slots) plan.slots = std::clamp<std::int64_t>(ceil_divide(prisms, plan.batch), 1, plan.slots);

  // ranks of one node share its memory, ranks of one device the device's
  const std::int64_t sharing = traits.is_device
                                   ? ceil_divide(machine.ranks_on_node, std::max<std::int64_t>(machine.devices, 1))
                                   : machine.ranks_on_node;
  std::int64_t share = (traits.is_device ? traits.free_memory / 10 * 8 : traits.free_memory / 2) / sharing;
  if (!traits.is_device) share = std::min(share, machine.host_memory / 2);
  plan.memory_limit = wanted.memory_limit.value_or(share);
}

/// Prisms of a launch and of a chunk: whole rounds of slots, so that no launch leaves slots idle.
void choose_chunks(Plan& plan, const Execution& wanted, const EngineTraits& traits) {
  const bool corners = plan.kernel == KernelKind::corners;
  const std::int64_t prisms = plan.prisms().size();
  const std::int64_t per_launch = traits.is_device ? pairs_per_launch_device
                                  : corners        ? pairs_per_launch_corners
                                                   : pairs_per_launch_host;
  const std::int64_t max_launch = traits.is_device ? max_launch_device : max_launch_host;
  const std::int64_t round = plan.slots * plan.batch;
  std::int64_t launch =
      std::clamp<std::int64_t>(per_launch / std::max<std::int64_t>(plan.tile_points, 1), 1, max_launch);
  launch = ceil_divide(launch, round) * round;
  if (launch > 4 * max_launch) launch = ceil_divide(max_launch, plan.batch) * plan.batch;
  const std::int64_t per_chunk = corners ? pairs_per_chunk_corners : pairs_per_chunk;
  std::int64_t chunk = wanted.chunk.value_or(per_chunk / std::max<std::int64_t>(plan.n_points, 1));
  chunk =
      std::clamp<std::int64_t>(ceil_divide(chunk, round), 1, std::max<std::int64_t>(1, ceil_divide(prisms, round))) *
      round;
  plan.chunk_prisms = std::max<std::int64_t>(1, chunk);
  plan.launch_prisms = std::max<std::int64_t>(1, std::min({launch, chunk, prisms}));
}

void check_rank_grid(const Execution& wanted, ProblemList& problems) {
  if (wanted.partition != Partition::rank_grid) return;
  const auto [prism_parts, point_parts] = wanted.rank_grid;
  const std::string key = "execution.partition";
  if (prism_parts < 1 || point_parts < 1) {
    problems.add("", key, fmt::format("is {} x {} ranks; at least 1 x 1 is expected", prism_parts, point_parts));
    return;
  }
  const std::int64_t ranks = std::int64_t{prism_parts} * point_parts;
  if (ranks > std::numeric_limits<int>::max()) {
    problems.add("", key, fmt::format("asks for {} ranks, more than MPI can have", ranks));
  }
}

}  // namespace

void check_request(const Request& request) {
  const Execution& wanted = request.execution;
  ProblemList problems;
  if (request.fields.empty()) problems.add("", "fields", "is empty; at least one field is expected");
  if (!std::isfinite(request.gravitational_constant)) {
    problems.add("", "gravitational_constant", "is NaN or infinite");
  } else if (std::abs(request.gravitational_constant) > max_constant) {
    problems.add("", "gravitational_constant",
                 fmt::format("is {}; at most {:g} m3 kg-1 s-2 keep results finite", request.gravitational_constant,
                             max_constant));
  }
  check_rank_grid(wanted, problems);
  const auto within = [&](const char* key, std::optional<std::int64_t> value, std::int64_t most) {
    if (!value || (1 <= *value && *value <= most)) return;
    problems.add("", std::string("execution.") + key,
                 fmt::format("is {}; unset or a whole number from 1 to {} is expected", *value, most));
  };
  // the product of slots and batch is still a count
  constexpr std::int64_t most = 1'000'000'000;
  within("batch", wanted.batch, most);
  within("slots", wanted.slots, most);
  // for which the kernels are compiled: see TileFunctor
  within("block", wanted.block, 512);
  within("chunk", wanted.chunk, most);
  within("memory_limit", wanted.memory_limit, std::numeric_limits<std::int64_t>::max());
  if (wanted.method != Method::automatic && wanted.method != Method::direct) {
    problems.add("", "execution.method",
                 fmt::format("is {}, which this version does not have: it computes every pair directly. Allowed: auto, "
                             "direct",
                             name(wanted.method)));
  }
  if (!(0 < wanted.tolerance && wanted.tolerance < 1)) {
    problems.add("", "execution.tolerance",
                 fmt::format("is {}; a number between 0 and 1 is expected", wanted.tolerance));
  }
  problems.throw_if_any();
}

/// Fewer slots, then tiles of points, until the scratch fits the limit.
void fit_scratch(Plan& plan, const EngineTraits& traits, std::int64_t limit) {
  const std::int64_t grid = std::max<std::int64_t>(1, plan.tile_points * traits.memory.per_slot_point);
  plan.slots = std::clamp<std::int64_t>(limit / grid, 1, plan.slots);
  if (grid > limit) {
    const std::int64_t lanes = traits.lanes;
    const std::int64_t fitting = limit / traits.memory.per_slot_point / lanes * lanes;
    plan.tile_points = std::clamp<std::int64_t>(fitting, std::min(lanes, plan.tile_points), plan.tile_points);
  }
  plan.scratch_bytes = plan.slots * plan.tile_points * traits.memory.per_slot_point;
}

void count_memory(Plan& plan, const EngineTraits& traits, const ProblemSize& problem, std::int64_t n_asked, int rank) {
  const EngineMemory& m = traits.memory;
  const std::int64_t shapes = problem.uniform_shape ? 1 : plan.launch_prisms;
  const std::int64_t my_points = plan.points().size();
  const std::int64_t n_computed = fields_of(plan.set).size();
  const std::int64_t engine =
      plan.scratch_bytes + plan.tile_points * m.per_point + plan.launch_prisms * m.per_prism + shapes * m.per_shape;
  const std::int64_t beside_device = plan.tile_points * m.host_per_point + plan.launch_prisms * m.host_per_prism;
  const ModelMemory model = problem.model_memory ? problem.model_memory(plan.prisms()) : ModelMemory{};
  // the model, the points, the rank's points in their order, the block of prisms read next, fields and contacts
  const std::int64_t always = model.after + plan.n_points * 3 * 8 + my_points * 4 * 8 + plan.launch_prisms * 7 * 8 +
                              (my_points + plan.tile_points) * (n_computed + n_contact_columns) * 8 + allocator_bytes;
  // rank 0 holds the whole beside its part and one that has arrived, other ranks their part on its way
  const bool alone = plan.prism_parts * plan.point_parts == 1;
  const std::int64_t on_its_way = alone ? 0 : my_points * (n_asked + n_contact_columns) * 8;
  const std::int64_t whole = rank == 0 ? plan.n_points * (n_asked + n_contact_columns) * 8 : 0;
  plan.device_bytes = traits.is_device ? engine : 0;
  const std::int64_t while_moving = model.during + plan.n_points * 3 * 8;
  // what other ranks did before a run went on on another number of ranks, and the state of one while that is read
  const std::int64_t checkpoint = problem.checkpoints && rank == 0 ? 2 * payload_bytes(n_computed, plan.n_points) : 0;
  const std::int64_t from_now = std::max(
      always + checkpoint + std::max(traits.is_device ? beside_device : engine, whole + on_its_way), while_moving);
  plan.host_bytes = std::max(from_now, model.peak);
  plan.host_bytes_held = model.now + plan.n_points * 3 * 8;
  plan.host_bytes_to_come = std::max<std::int64_t>(from_now - plan.host_bytes_held, 0);
}

namespace {

/// Makes scratch that was not asked for smaller, as long as the whole passes what there is and that helps. Tiles stay
/// large enough to be worth a launch.
void fit_host(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  constexpr std::int64_t smallest_tile = 4096;
  const EngineTraits& traits = machine.engine;
  if (traits.is_device || request.execution.memory_limit) return;
  // what is free changes from one moment to the next
  const std::int64_t room = machine.host_memory - machine.host_memory / 16;
  while (plan.host_bytes_to_come > room && (plan.slots > 1 || plan.tile_points > smallest_tile)) {
    Plan smaller = plan;
    const std::int64_t excess = plan.host_bytes_to_come - room;
    const std::int64_t smallest = std::min(smallest_tile, plan.tile_points) * traits.memory.per_slot_point;
    smaller.memory_limit = std::max({plan.scratch_bytes - excess, plan.scratch_bytes / 2, smallest});
    fit_scratch(smaller, traits, smaller.memory_limit);
    choose_chunks(smaller, request.execution, traits);
    count_memory(smaller, traits, problem, request.fields.size(), machine.rank);
    if (smaller.host_bytes_to_come >= plan.host_bytes_to_come) return;
    plan = smaller;
  }
}

}  // namespace

Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine, const Shares* shares) {
  Plan plan;
  plan.space = machine.space;
  plan.device = machine.engine.device;
  plan.threads = machine.engine.threads;
  plan.lanes = machine.engine.lanes;
  plan.set = smallest_set(request.fields);
  plan.precision = request.execution.precision;
  plan.kernel = request.execution.kernel;
  plan.n_prisms = problem.n_prisms;
  plan.n_points = problem.n_points;
  choose_share(plan, request.execution, machine, shares);
  choose_slots(plan, request.execution, machine);
  fit_scratch(plan, machine.engine, plan.memory_limit);
  choose_chunks(plan, request.execution, machine.engine);
  count_memory(plan, machine.engine, problem, request.fields.size(), machine.rank);
  fit_host(plan, request, problem, machine);
  plan.pair_seconds = seconds_of_pair(machine.engine, plan.kernel);
  plan.slot_point_bytes = machine.engine.memory.per_slot_point;
  return plan;
}

Machine machine_here(const Request& request, const Communicator& communicator) {
  const Execution& wanted = request.execution;
  Machine machine;
  machine.space = wanted.space == Space::automatic ? built_spaces().front() : wanted.space;
  machine.engine = engine_traits(machine.space, wanted.precision, smallest_set(request.fields), wanted.kernel);
  machine.ranks = communicator.size();
  machine.rank = communicator.rank();
  machine.ranks_on_node = communicator.local_size();
  machine.devices = device_count();
  machine.host_memory = share_of(memory_limits(), machine.ranks_on_node);
  return machine;
}

ProblemSize problem_size(const PrismSource& prisms, const Points& points) {
  return {prisms.size(), points.size(), prisms.uniform_shape(), false, {}};
}

}  // namespace prismfield
