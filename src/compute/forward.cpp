// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "compute/cost_model.hpp"
#include "compute/partition.hpp"
#include "engine/engine.hpp"
#include "engine/runtime.hpp"
#include "model/spatial_order.hpp"

namespace prismfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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
void count_memory(ForwardPlan& plan, const EngineTraits& traits, const PrismSource& ensemble,
                  const MemoryOfRange& model_memory, std::int64_t n_asked) {
  const EngineMemory& m = traits.memory;
  const std::int64_t shapes = ensemble.uniform_shape() ? 1 : plan.launch_prisms;
  const std::int64_t my_points = plan.point_end - plan.point_begin;
  const std::int64_t n_computed = fields_of(plan.set).size();
  plan.scratch_bytes = plan.slots * plan.tile_points * m.per_slot_point;
  const std::int64_t engine =
      plan.scratch_bytes + plan.tile_points * m.per_point + plan.launch_prisms * m.per_prism + shapes * m.per_shape;
  const std::int64_t beside_device = plan.tile_points * m.host_per_point + plan.launch_prisms * m.host_per_prism;
  const ModelMemory model = model_memory ? model_memory({plan.prism_begin, plan.prism_end}) : ModelMemory{};
  // the model, the points, the rank's points in their order, the block of prisms read next, fields and contacts
  const std::int64_t always = model.after + plan.n_points * 3 * 8 + my_points * 4 * 8 + plan.launch_prisms * 7 * 8 +
                              (my_points + plan.tile_points) * (n_computed + n_contact_columns) * 8;
  // beside the whole, a rank's part of either on its way
  const bool alone = plan.prism_parts * plan.point_parts == 1;
  const std::int64_t on_its_way = alone ? 0 : my_points * std::max<std::int64_t>(n_asked, n_contact_columns) * 8;
  const std::int64_t gathered = plan.n_points * (n_asked + n_contact_columns) * 8 + on_its_way;
  plan.device_bytes = traits.is_device ? engine : 0;
  const std::int64_t while_moving = model.during + plan.n_points * 3 * 8;
  plan.host_bytes =
      std::max({always + std::max(traits.is_device ? beside_device : engine, gathered), while_moving, model.peak});
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

/// Points where the tensor has no value, and points in or on prisms.
void count_contacts(const std::vector<double>& contact, std::int64_t n_points, ForwardResult& result) {
  for (std::int64_t p = 0; p < n_points; ++p) {
    const double* const row = &contact[static_cast<std::size_t>(n_contact_columns * p)];
    if (touches_prism(row)) ++result.points_inside;
    if (tensor_diverges(row)) result.singular_points.push_back(p);
  }
}

}  // namespace

ForwardPlan plan_forward(const Case& run, const PrismSource& ensemble, const Points& points,
                         const Communicator& communicator, const Shares* shares, const MemoryOfRange& model_memory) {
  const Execution& wanted = run.execution;
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

  // ranks of one node share its memory, ranks of one device the device's
  const auto n_devices = static_cast<std::int64_t>(kokkos_facts().devices.size());
  const std::int64_t sharing = traits.is_device
                                   ? ceil_divide(communicator.local_size(), std::max<std::int64_t>(n_devices, 1))
                                   : communicator.local_size();
  const std::int64_t device_share = (traits.is_device ? traits.free_memory / 10 * 8 : traits.free_memory / 2) / sharing;
  plan.memory_limit = wanted.memory_limit.value_or(device_share);
  fit_scratch(plan, traits, plan.memory_limit);

  const bool corners = plan.kernel == KernelKind::corners;
  const std::int64_t per_launch = traits.is_device ? pairs_per_launch_device
                                  : corners        ? pairs_per_launch_corners
                                                   : pairs_per_launch_host;
  const std::int64_t max_launch = traits.is_device ? max_launch_device : max_launch_host;
  // whole rounds of slots, so that no launch leaves slots idle
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
  count_memory(plan, traits, ensemble, model_memory, run.fields.size());

  const double pair = traits.is_device ? (corners ? pair_nanoseconds_corners_device : pair_nanoseconds_device)
                      : corners        ? pair_nanoseconds_corners_host / traits.threads
                                : (traits.lanes > 1 ? pair_nanoseconds_host : pair_nanoseconds_scalar) / traits.threads;
  plan.pair_seconds = 1e-9 * pair;
  plan.slot_point_bytes = traits.memory.per_slot_point;
  plan.estimated_seconds = plan.pair_seconds * static_cast<double>(prisms) * static_cast<double>(share.points.size());
  return plan;
}

std::vector<WorkItem> work_of(const ForwardPlan& plan) {
  const IndexRange points{plan.point_begin, plan.point_end};
  return {{{plan.prism_begin, plan.prism_end}, points, {0, points.size()}}};
}

namespace {

/// Does a rank's work, item by item, tile by tile, chunk by chunk.
class Worker {
public:
  Worker(const PrismSource& ensemble, const Points& points, const ForwardPlan& plan, FieldEngine& engine,
         RankState& state, const ProgressCallback& progress, RunGuard* guard)
      : m_ensemble(ensemble),
        m_points(points),
        m_plan(plan),
        m_engine(engine),
        m_state(state),
        m_progress(progress),
        m_guard(guard),
        m_pairs_before(state.pairs_by_form) {
    for (const WorkItem& item : state.work) m_pairs += item.prisms.size() * item.ordered.size();
    m_pairs_to_do = m_pairs - std::accumulate(m_pairs_before.begin(), m_pairs_before.end(), std::int64_t{0});
  }

  /// Returns before the end when the guard wants to stop.
  void work() {
    while (!m_state.finished() && !m_stopped) do_item(m_state.work[static_cast<std::size_t>(m_state.item)]);
    count_pairs();
  }

  [[nodiscard]] std::int64_t pairs() const noexcept { return m_pairs; }
  /// in this run, without those of a run that it goes on from
  [[nodiscard]] std::int64_t pairs_done() const noexcept { return m_done; }

private:
  void do_item(const WorkItem& item) {
    const std::vector<std::int64_t> order = spatial_order(m_points, item.points);
    while (m_state.tile < item.ordered.size()) {
      const std::int64_t begin = item.ordered.begin + m_state.tile;
      const std::int64_t n = std::min(m_state.tile_points, item.ordered.end - begin);
      do_tile(item, order.data() + begin, n);
      if (m_stopped) return;
      m_state.tile += n;
      m_state.prisms = 0;
    }
    ++m_state.item;
    m_state.tile = 0;
  }

  /// `numbers`: of the tile's n points.
  void do_tile(const WorkItem& item, const std::int64_t* numbers, std::int64_t n) {
    if (item.prisms.size() == 0) return;
    const auto size = static_cast<std::size_t>(n);
    std::array<std::vector<double>, 3> coordinates;
    const std::array<const std::vector<double>*, 3> columns = {&m_points.easting, &m_points.northing, &m_points.upward};
    for (std::size_t d = 0; d < 3; ++d) {
      coordinates[d].resize(size);
      std::transform(numbers, numbers + n, coordinates[d].begin(),
                     [&](std::int64_t point) { return (*columns[d])[static_cast<std::size_t>(point)]; });
    }
    m_values.resize(n_fields() * size);
    m_contact.resize(n_contact_columns * size);
    exchange(numbers, n, [](double& tile, double& all) { tile = all; });
    m_engine.start_tile(coordinates[0].data(), coordinates[1].data(), coordinates[2].data(), n, m_values.data(),
                        m_contact.data());
    while (m_state.prisms < item.prisms.size() && !m_stopped) {
      do_chunk(item, n);
      const bool at_the_end = m_state.prisms == item.prisms.size();
      const bool keep = m_guard != nullptr && m_guard->wants_state();
      m_stopped = m_guard != nullptr && m_guard->wants_stop();
      if (!at_the_end && !keep && !m_stopped) continue;
      m_engine.read_tile(m_values.data(), m_contact.data());
      exchange(numbers, n, [](double& tile, double& all) { all = tile; });
      if (!keep && !m_stopped) continue;
      count_pairs();
      m_guard->keep(m_state);
    }
  }

  void do_chunk(const WorkItem& item, std::int64_t n) {
    const std::int64_t end = std::min(m_state.prisms + m_state.chunk_prisms, item.prisms.size());
    while (m_state.prisms < end) {
      const std::int64_t next = std::min(m_state.prisms + m_plan.launch_prisms, end);
      m_ensemble.read({item.prisms.begin + m_state.prisms, item.prisms.begin + next}, m_block);
      m_engine.add(m_block, m_state.prisms / m_state.batch);
      m_done += (next - m_state.prisms) * n;
      m_state.prisms = next;
      if (m_progress) {
        m_progress(static_cast<double>(m_done) / static_cast<double>(std::max<std::int64_t>(m_pairs_to_do, 1)), m_done);
      }
    }
    m_engine.end_chunk();
  }

  /// Calls copy(value of the tile, value of the rank) for every field and contact of the tile's points.
  template <class Copy>
  void exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy) {
    const auto all = static_cast<std::size_t>(m_state.points.size());
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(numbers[i] - m_state.points.begin);
      for (std::size_t f = 0; f < n_fields(); ++f) copy(m_values[f * size + i], m_state.values[f * all + at]);
      for (std::size_t c = 0; c < n_contact_columns; ++c) {
        copy(m_contact[n_contact_columns * i + c], m_state.contact[n_contact_columns * at + c]);
      }
    }
  }

  void count_pairs() {
    const auto now = m_engine.pairs();
    for (std::size_t f = 0; f < n_forms; ++f) m_state.pairs_by_form[f] = m_pairs_before[f] + now[f];
  }

  [[nodiscard]] std::size_t n_fields() const { return static_cast<std::size_t>(fields_of(m_plan.set).size()); }

  const PrismSource& m_ensemble;
  const Points& m_points;
  const ForwardPlan& m_plan;
  FieldEngine& m_engine;
  RankState& m_state;
  const ProgressCallback& m_progress;
  RunGuard* m_guard;
  std::array<std::int64_t, n_forms> m_pairs_before;
  std::int64_t m_pairs = 0;
  std::int64_t m_pairs_to_do = 0;
  std::int64_t m_done = 0;
  bool m_stopped = false;
  PrismBlock m_block;
  std::vector<double> m_values, m_contact;
};

/// Adds what a state holds to the fields of a result (G included) and to the contacts of all points.
void add_to_result(const RankState& state, FieldList computed, double gravitational_constant, ForwardResult& result,
                   std::vector<double>& contact) {
  const auto n_points = contact.size() / n_contact_columns;
  const auto mine = static_cast<std::size_t>(state.points.size());
  const auto begin = static_cast<std::size_t>(state.points.begin);
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const double* from = state.values.data() + static_cast<std::size_t>(computed.index_of(field.field)) * mine;
    double* to =
        result.values.data() + static_cast<std::size_t>(result.fields.index_of(field.field)) * n_points + begin;
    for (std::size_t p = 0; p < mine; ++p) to[p] += gravitational_constant * from[p];
  }
  std::transform(state.contact.begin(), state.contact.end(),
                 contact.begin() + static_cast<std::ptrdiff_t>(n_contact_columns * begin),
                 contact.begin() + static_cast<std::ptrdiff_t>(n_contact_columns * begin), std::plus<>());
  for (std::size_t f = 0; f < n_forms; ++f) result.pairs_by_form[f] += state.pairs_by_form[f];
}

/// Whether a rank's work is its share of the plan.
bool is_share_of(const std::vector<WorkItem>& work, const ForwardPlan& plan) {
  const WorkItem share = work_of(plan).front();
  return work.size() == 1 && work.front() == share;
}

/// A rank's busy times on rank 0, in seconds since `start`.
std::vector<RankBusy> gather_busy(const std::vector<BusyInterval>& mine, std::int64_t start,
                                  const Communicator& communicator) {
  std::vector<double> numbers;
  for (const BusyInterval& interval : mine) {
    numbers.push_back(static_cast<double>(interval.slot));
    numbers.push_back(1e-9 * static_cast<double>(interval.begin - start));
    numbers.push_back(1e-9 * static_cast<double>(interval.end - start));
  }
  std::vector<RankBusy> all;
  int rank = 0;
  for (const std::vector<double>& of_rank : communicator.gather(numbers)) {
    for (std::size_t i = 0; i + 2 < of_rank.size(); i += 3) {
      all.push_back({rank, static_cast<std::int64_t>(of_rank[i]), of_rank[i + 1], of_rank[i + 2]});
    }
    ++rank;
  }
  return all;
}

}  // namespace

ForwardResult forward(const Case& run, const PrismSource& ensemble, const Points& points, ForwardPlan plan,
                      const Communicator& communicator, const ProgressCallback& progress, RunGuard* guard) {
  const auto start = Clock::now();
  const EngineTraits traits = traits_of(plan, run.execution.scalar_lanes);
  const FieldList computed = fields_of(plan.set);

  RankState state;
  if (auto begun = guard != nullptr ? guard->begin() : std::nullopt) {
    state = std::move(*begun);
    plan.slots = state.slots;
    plan.batch = state.batch;
    plan.tile_points = state.tile_points;
    plan.chunk_prisms = state.chunk_prisms;
    // whole batches, as in the run that it goes on from
    plan.launch_prisms = std::max<std::int64_t>(plan.launch_prisms / plan.batch, 1) * plan.batch;
    plan.launch_prisms = std::min(plan.launch_prisms, plan.chunk_prisms);
  } else {
    state.work = work_of(plan);
    state.points = {plan.point_begin, plan.point_end};
    state.values.resize(static_cast<std::size_t>(computed.size() * state.points.size()));
    state.contact.resize(static_cast<std::size_t>(n_contact_columns * state.points.size()));
  }

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
      const std::int64_t tile = plan.tile_points;
      fit_scratch(plan, traits, plan.slots * plan.tile_points * traits.memory.per_slot_point / 2);
      if (state.prisms > 0 && plan.tile_points != tile) {
        throw RunError(
            fmt::format("no memory for a tile of {} points, in the midst of which the checkpoint was taken; go on with "
                        "more memory or on another number of ranks: {}",
                        tile, failure.what()));
      }
    }
  }
  count_memory(plan, traits, ensemble, {}, run.fields.size());
  state.slots = plan.slots;
  state.batch = plan.batch;
  state.tile_points = plan.tile_points;
  state.chunk_prisms = plan.chunk_prisms;

  ForwardResult result;
  result.setup_seconds = seconds_since(start);

  // so that the ranks' times have one beginning
  communicator.barrier();
  const auto field_start = Clock::now();
  Worker worker(ensemble, points, plan, *engine, state, progress, guard);
  worker.work();
  const double busy = seconds_since(field_start);
  const bool stopped = communicator.any(!state.finished());
  if (stopped) {
    if (state.finished()) guard->keep(state);
    throw Stopped();
  }
  const std::int64_t field_start_time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(field_start.time_since_epoch()).count();
  result.busy = gather_busy(engine->busy(), field_start_time, communicator);
  engine.reset();

  // rank 0 gathers: every rank adds its part of the fields at its points to zeros elsewhere
  const auto n_points = static_cast<std::size_t>(plan.n_points);
  result.fields = run.fields;
  result.values.assign(static_cast<std::size_t>(run.fields.size()) * n_points, 0.0);
  std::vector<double> contact(n_contact_columns * n_points, 0.0);
  const RankState* const before = guard != nullptr ? guard->done_before() : nullptr;
  if (before != nullptr && communicator.rank() == 0) {
    add_to_result(*before, computed, run.gravitational_constant, result, contact);
  }
  add_to_result(state, computed, run.gravitational_constant, result, contact);
  const auto forms = state.pairs_by_form;
  std::int64_t prisms_staged = 0;
  for (const WorkItem& item : state.work) {
    prisms_staged += item.prisms.size() * ceil_divide(item.ordered.size(), std::max<std::int64_t>(plan.tile_points, 1));
  }
  // shares of a plan do not overlap; those of a run that goes on on other ranks may
  const bool as_planned = before == nullptr && is_share_of(state.work, plan);
  state = RankState();
  if (communicator.any(!as_planned)) {
    communicator.sum_to_root(result.values.data(), static_cast<std::int64_t>(result.values.size()));
    communicator.sum_to_root(contact.data(), static_cast<std::int64_t>(contact.size()));
  } else {
    communicator.sum_parts_to_root(result.values.data(), run.fields.size(), plan.n_points, plan.point_begin,
                                   plan.point_end, plan.prism_parts);
    communicator.sum_parts_to_root(contact.data(), 1, n_contact_columns * plan.n_points,
                                   n_contact_columns * plan.point_begin, n_contact_columns * plan.point_end,
                                   plan.prism_parts);
  }
  count_contacts(contact, plan.n_points, result);
  result.rank_cost = communicator.gather(cost_of_pairs(form_weights(traits.is_device), forms) +
                                         prism_weight(traits.is_device, ensemble.uniform_shape()) *
                                             static_cast<double>(prisms_staged));
  communicator.sum_to_root(result.pairs_by_form.data(), n_forms);
  result.pairs = plan.n_prisms * plan.n_points;
  result.rank_pairs = communicator.gather(worker.pairs());
  result.pairs_now = worker.pairs_done();
  communicator.sum_to_root(&result.pairs_now, 1);
  result.rank_busy_seconds = communicator.gather(busy);
  const double offset = std::chrono::duration<double>(field_start - start).count();
  result.rank_begin = communicator.gather(offset);
  result.rank_end = communicator.gather(offset + busy);
  result.field_seconds = seconds_since(field_start);
  result.plan = plan;
  return result;
}

}  // namespace prismfield
