// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "cost_model.hpp"
#include "error.hpp"
#include "field_engine.hpp"
#include "parallel.hpp"
#include "partition.hpp"
#include "spatial_order.hpp"

namespace prismfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What a launch of prisms should hold at most: pairs, so that progress and signals are looked at several times a
/// second, and prisms, so that staging stays small.
constexpr std::int64_t pairs_per_launch_host = std::int64_t{1} << 27;
constexpr std::int64_t pairs_per_launch_corners = pairs_per_launch_host / 128;
constexpr std::int64_t pairs_per_launch_device = std::int64_t{1} << 32;
constexpr std::int64_t max_chunk_host = std::int64_t{1} << 16;
constexpr std::int64_t max_chunk_device = std::int64_t{1} << 15;

/// Prisms of one batch: a host's fit its first cache beside the points; a device's only keep the additions to scratch
/// rare. Measured with perf/.
constexpr std::int64_t batch_host = 64;
constexpr std::int64_t batch_device = 128;
constexpr std::int64_t block_device = 128;

/// A device is full when it holds this many times its concurrent threads.
constexpr std::int64_t waves_device = 8;

/// Nanoseconds of a pair on one host thread and lane vector, and on a device: only for --dry-run's estimate.
constexpr double pair_nanoseconds_host = 3.0;
constexpr double pair_nanoseconds_scalar = 25.0;
constexpr double pair_nanoseconds_corners_host = 450.0;
constexpr double pair_nanoseconds_device = 0.03;
constexpr double pair_nanoseconds_corners_device = 0.2;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

EngineTraits traits_of(const ForwardPlan& plan, bool scalar_lanes) {
  return engine_traits(plan.space, plan.precision, plan.set, plan.kernel, scalar_lanes);
}

/// Bytes that the plan takes at its peak, on the device and on the host: while the engine computes, or while rank 0
/// gathers `n_asked` fields of all points after it. Scratch has the plan's own line.
void count_memory(ForwardPlan& plan, const EngineTraits& traits, const Ensemble& ensemble, std::int64_t n_asked) {
  const EngineMemory& m = traits.memory;
  const std::int64_t shapes = ensemble.uniform_shape() ? 1 : plan.chunk_prisms;
  const std::int64_t my_points = plan.point_end - plan.point_begin;
  const std::int64_t n_computed = fields_of(plan.set).size();
  plan.scratch_bytes = plan.slots * plan.tile_points * m.per_slot_point;
  const std::int64_t engine =
      plan.scratch_bytes + plan.tile_points * m.per_point + plan.chunk_prisms * m.per_prism + shapes * m.per_shape;
  const std::int64_t beside_device = plan.tile_points * m.host_per_point + plan.chunk_prisms * m.host_per_prism;
  // the model, the points, the rank's points in their order, the block of prisms read next, fields and contacts
  const std::int64_t always = ensemble.memory_bytes() + plan.n_points * 3 * 8 + my_points * 4 * 8 +
                              plan.chunk_prisms * 7 * 8 + my_points * (n_computed + contact_columns) * 8;
  // beside the whole, a rank's part of either on its way
  const bool alone = plan.prism_parts * plan.point_parts == 1;
  const std::int64_t on_its_way = alone ? 0 : my_points * std::max<std::int64_t>(n_asked, contact_columns) * 8;
  const std::int64_t gathered = plan.n_points * (n_asked + contact_columns) * 8 + on_its_way;
  plan.device_bytes = traits.is_device ? engine : 0;
  plan.host_bytes =
      std::max(always + std::max(traits.is_device ? beside_device : engine, gathered), ensemble.peak_memory_bytes());
}

/// Fewer slots, then tiles of points, until the scratch fits the limit.
void fit_scratch(ForwardPlan& plan, const EngineTraits& traits, std::int64_t limit) {
  const std::int64_t grid = std::max<std::int64_t>(1, plan.tile_points * traits.memory.per_slot_point);
  plan.slots = std::clamp<std::int64_t>(limit / grid, 1, plan.slots);
  if (grid > limit) {
    const std::int64_t lanes = traits.lanes;
    const std::int64_t fitting = limit / traits.memory.per_slot_point / lanes * lanes;
    plan.tile_points = std::clamp<std::int64_t>(fitting, std::min(lanes, plan.tile_points), plan.tile_points);
  }
}

/// Points whose edges' logarithms do not cancel, and points in or on prisms.
void count_contacts(const std::vector<double>& contact, std::int64_t n_points, ForwardResult& result) {
  // sums of few densities: what is left below this is rounding
  constexpr double rounding = 1e-12;
  for (std::int64_t p = 0; p < n_points; ++p) {
    const double* row = &contact[static_cast<std::size_t>(contact_columns * p)];
    if (row[7] > 0) ++result.points_inside;
    const bool diverges = std::any_of(row, row + 6, [&](double sum) { return std::abs(sum) > rounding * row[6]; });
    if (diverges) result.singular_points.push_back(p);
  }
}

}  // namespace

const char* name(Form form) noexcept {
  switch (form) {
    case Form::compact: return "compact";
    case Form::difference_free: return "difference_free";
    case Form::multipole_8: return "multipole_8";
    case Form::multipole_6: return "multipole_6";
    case Form::multipole_4: return "multipole_4";
    case Form::multipole_2: return "multipole_2";
    case Form::multipole_0: return "multipole_0";
    case Form::corners: break;
  }
  return "corners";
}

ForwardPlan plan_forward(const Case& run, const Ensemble& ensemble, const Points& points,
                         const Communicator& communicator, const Shares* shares) {
  const ExecutionSpec& wanted = run.execution;
  ForwardPlan plan;
  plan.space = wanted.space == Space::automatic ? built_spaces().front() : wanted.space;
  plan.set = smallest_set(run.fields);
  plan.precision = wanted.precision;
  plan.kernel = wanted.kernel;
  plan.n_prisms = ensemble.size();
  plan.n_points = points.size();

  const int ranks = communicator.size();
  int prism_parts = ranks;
  int point_parts = 1;
  plan.partition = wanted.partition == Partition::automatic ? Partition::prisms : wanted.partition;
  if (plan.partition == Partition::points) {
    prism_parts = 1;
    point_parts = ranks;
  } else if (plan.partition == Partition::rank_grid) {
    prism_parts = wanted.rank_grid[0];
    point_parts = wanted.rank_grid[1];
    if (prism_parts * point_parts != ranks) {
      throw InputError(run.where("execution.partition"), "execution.partition",
                       fmt::format("{} x {} ranks asked for, but the run has {}; start it with mpirun -n {}",
                                   prism_parts, point_parts, ranks, prism_parts * point_parts));
    }
  }
  plan.partition_is_auto = wanted.partition == Partition::automatic;
  plan.balance = wanted.balance;
  RankShare share = rank_share(plan.n_prisms, plan.n_points, communicator.rank(), prism_parts, point_parts);
  if (shares != nullptr) {
    share = shares->mine;
    prism_parts = shares->grid.prism_parts;
    point_parts = shares->grid.point_parts;
    if (plan.partition_is_auto && point_parts > 1) {
      plan.partition = prism_parts == 1 ? Partition::points : Partition::rank_grid;
    }
  }
  plan.prism_parts = prism_parts;
  plan.point_parts = point_parts;
  plan.prism_begin = share.prisms.begin;
  plan.prism_end = share.prisms.end;
  plan.point_begin = share.points.begin;
  plan.point_end = share.points.end;

  EngineTraits traits;
  try {
    traits = traits_of(plan, wanted.scalar_lanes);
  } catch (const InputError& error) {
    throw InputError(run.where("execution.space"), "execution.space", error.problems().front().what);
  }
  plan.device = traits.device;
  plan.threads = traits.threads;
  plan.lanes = traits.lanes;

  const std::int64_t prisms = share.prisms.size();
  plan.tile_points = share.points.size();
  const bool by_points = plan.partition == Partition::points || plan.partition == Partition::points_per_prism;

  plan.batch = wanted.batch.value_or(traits.is_device ? batch_device : batch_host);
  plan.block = 1;
  if (traits.is_device) {
    const std::int64_t warps = ceil_divide(std::max<std::int64_t>(plan.tile_points, 1), 32) * 32;
    plan.block = wanted.block.value_or(std::min(block_device, warps));
    plan.block = std::min(plan.block, traits.max_block);
  }
  if (by_points) {
    plan.slots = 1;
  } else if (wanted.slots) {
    plan.slots = *wanted.slots;
  } else if (traits.is_device) {
    plan.slots = std::max<std::int64_t>(
        1, ceil_divide(waves_device * traits.threads, std::max<std::int64_t>(plan.tile_points, 1)));
  } else {
    plan.slots = traits.threads;
  }
  if (!wanted.slots) plan.slots = std::clamp<std::int64_t>(plan.slots, 1, std::max<std::int64_t>(prisms, 1));
  // every slot gets work where there are prisms enough
  if (!wanted.batch) plan.batch = std::clamp<std::int64_t>(ceil_divide(prisms, plan.slots), 1, plan.batch);

  const std::int64_t device_share = traits.is_device ? traits.free_memory / 10 * 8 : traits.free_memory / 2;
  plan.memory_limit = wanted.memory_limit.value_or(device_share);
  fit_scratch(plan, traits, plan.memory_limit);

  const bool corners = plan.kernel == KernelKind::corners;
  const std::int64_t per_launch = traits.is_device ? pairs_per_launch_device
                                  : corners        ? pairs_per_launch_corners
                                                   : pairs_per_launch_host;
  const std::int64_t max_chunk = traits.is_device ? max_chunk_device : max_chunk_host;
  const std::int64_t round = plan.slots * plan.batch;
  std::int64_t chunk = std::clamp<std::int64_t>(per_launch / std::max<std::int64_t>(plan.tile_points, 1), 1, max_chunk);
  // whole rounds of slots, so that no launch leaves slots idle
  chunk = ceil_divide(chunk, round) * round;
  if (chunk > 4 * max_chunk) chunk = ceil_divide(max_chunk, plan.batch) * plan.batch;
  plan.chunk_prisms = std::max<std::int64_t>(1, std::min(chunk, prisms));
  count_memory(plan, traits, ensemble, run.fields.size());

  const double pair = traits.is_device ? (corners ? pair_nanoseconds_corners_device : pair_nanoseconds_device)
                      : corners        ? pair_nanoseconds_corners_host / traits.threads
                                : (traits.lanes > 1 ? pair_nanoseconds_host : pair_nanoseconds_scalar) / traits.threads;
  plan.pair_seconds = 1e-9 * pair;
  plan.slot_point_bytes = traits.memory.per_slot_point;
  plan.estimated_seconds = plan.pair_seconds * static_cast<double>(prisms) * static_cast<double>(share.points.size());
  return plan;
}

ForwardResult forward(const Case& run, const Ensemble& ensemble, const Points& points, ForwardPlan plan,
                      const Communicator& communicator, const ProgressCallback& progress) {
  const auto start = Clock::now();
  const EngineTraits traits = traits_of(plan, run.execution.scalar_lanes);
  const FieldList computed = fields_of(plan.set);
  const std::int64_t my_points = plan.point_end - plan.point_begin;
  const std::int64_t my_prisms = plan.prism_end - plan.prism_begin;

  EngineSettings settings;
  settings.set = plan.set;
  settings.kernel = plan.kernel;
  settings.scalar_lanes = run.execution.scalar_lanes;
  settings.launch_per_prism = plan.partition == Partition::points_per_prism;
  settings.block = plan.block;
  const Bounds bounds = ensemble.bounds();
  settings.origin = {0.5 * (bounds.west + bounds.east), 0.5 * (bounds.south + bounds.north),
                     0.5 * (bounds.bottom + bounds.top)};

  std::unique_ptr<FieldEngine> engine;
  while (!engine) {
    settings.slots = plan.slots;
    settings.batch = plan.batch;
    settings.tile_points = plan.tile_points;
    try {
      engine = make_engine(plan.space, plan.precision, settings);
    } catch (const AllocationFailure& failure) {
      if (plan.slots == 1 && plan.tile_points <= traits.lanes) {
        throw RunError(fmt::format("no memory even for one slot of {} points: {}", plan.tile_points, failure.what()));
      }
      fit_scratch(plan, traits, plan.slots * plan.tile_points * traits.memory.per_slot_point / 2);
    }
  }
  count_memory(plan, traits, ensemble, run.fields.size());

  const std::vector<std::int64_t> order = spatial_order(points, {plan.point_begin, plan.point_end});
  std::array<std::vector<double>, 3> ordered;
  const std::array<const std::vector<double>*, 3> columns = {&points.easting, &points.northing, &points.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    ordered[d].resize(order.size());
    std::transform(order.begin(), order.end(), ordered[d].begin(),
                   [&](std::int64_t point) { return (*columns[d])[static_cast<std::size_t>(point)]; });
  }
  const auto my_rows = static_cast<std::size_t>(computed.size());
  std::vector<double> values(my_rows * static_cast<std::size_t>(my_points));
  std::vector<double> contact(contact_columns * static_cast<std::size_t>(my_points));
  ForwardResult result;
  result.setup_seconds = seconds_since(start);

  const auto field_start = Clock::now();
  const std::int64_t my_pairs = my_points * my_prisms;
  std::int64_t done = 0;
  PrismBlock block;
  for (std::int64_t tile = 0; tile < my_points; tile += plan.tile_points) {
    const std::int64_t n = std::min(plan.tile_points, my_points - tile);
    const auto first = static_cast<std::size_t>(tile);
    engine->start_tile(&ordered[0][first], &ordered[1][first], &ordered[2][first], n);
    for (std::int64_t chunk = 0; chunk < my_prisms; chunk += plan.chunk_prisms) {
      const std::int64_t end = std::min(chunk + plan.chunk_prisms, my_prisms);
      ensemble.read(plan.prism_begin + chunk, plan.prism_begin + end, block);
      engine->add(block, chunk / plan.batch);
      done += (end - chunk) * n;
      if (progress)
        progress(static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(my_pairs, 1)), done);
    }
    engine->finish_tile(&values[static_cast<std::size_t>(tile)], my_points,
                        &contact[static_cast<std::size_t>(contact_columns * tile)]);
  }
  const double busy = seconds_since(field_start);
  const auto forms = engine->pairs();
  engine.reset();

  // rank 0 gathers: every rank adds its part of the fields at its points to zeros elsewhere
  const auto n_points = static_cast<std::size_t>(plan.n_points);
  result.fields = run.fields;
  result.values.assign(static_cast<std::size_t>(run.fields.size()) * n_points, 0.0);
  for (const FieldInfo& field : field_infos) {
    if (!run.fields.contains(field.field)) continue;
    const double* from = values.data() + static_cast<std::ptrdiff_t>(computed.index_of(field.field)) * my_points;
    double* to = result.values.data() + static_cast<std::size_t>(run.fields.index_of(field.field)) * n_points;
    for (std::size_t p = 0; p < order.size(); ++p) to[order[p]] = run.gravitational_constant * from[p];
  }
  {
    std::vector<double> everywhere(contact_columns * n_points, 0.0);
    for (std::size_t p = 0; p < order.size(); ++p) {
      std::copy_n(&contact[contact_columns * p], contact_columns,
                  &everywhere[contact_columns * static_cast<std::size_t>(order[p])]);
    }
    contact.swap(everywhere);
  }
  communicator.sum_parts_to_root(result.values.data(), run.fields.size(), plan.n_points, plan.point_begin,
                                 plan.point_end, plan.prism_parts);
  communicator.sum_parts_to_root(contact.data(), 1, contact_columns * plan.n_points, contact_columns * plan.point_begin,
                                 contact_columns * plan.point_end, plan.prism_parts);
  count_contacts(contact, plan.n_points, result);
  result.pairs_by_form = forms;
  const std::int64_t tiles = ceil_divide(my_points, std::max<std::int64_t>(plan.tile_points, 1));
  result.rank_cost = communicator.gather(cost_of_pairs(form_weights(traits.is_device), forms) +
                                         prism_weight(traits.is_device, ensemble.uniform_shape()) *
                                             static_cast<double>(my_prisms * tiles));
  communicator.sum_to_root(result.pairs_by_form.data(), n_forms);
  result.pairs = plan.n_prisms * plan.n_points;
  result.rank_pairs = communicator.gather(my_pairs);
  result.rank_busy_seconds = communicator.gather(busy);
  const double offset = std::chrono::duration<double>(field_start - start).count();
  result.rank_begin = communicator.gather(offset);
  result.rank_end = communicator.gather(offset + busy);
  result.field_seconds = seconds_since(field_start);
  result.plan = plan;
  return result;
}

}  // namespace prismfield
