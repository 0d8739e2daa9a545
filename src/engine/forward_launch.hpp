// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include "engine/kokkos_engine.hpp"
#include "kernel/host_tile.hpp"

/// The papers' launch: a parallel_for over batches of prisms adds into scratch(slot, field, point), one grid of points
/// per concurrency slot, and a reduction over the slots follows.
namespace prismfield {

template <class Space>
inline constexpr bool is_device_space =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// Points that one device thread works on side by side: measured, see perf/.
template <class A>
inline constexpr int device_width = 1;

/// Lane groups of one work item on a host: enough that a batch of prisms, once in the first cache, is used often.
inline constexpr std::int64_t host_groups_per_item = 128;

/// Nanoseconds of the steady clock.
inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// (slot, 2): when a launch's work on a slot began and ended
template <class Memory>
using SlotTimes = Kokkos::View<std::int64_t* [2], Kokkos::LayoutRight, Memory>;

template <class A, FieldSet set, class Kernel, int W, class Shapes, class Space>
struct TileFunctor {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::LaunchBounds<512, 1>>;
  kernel::LaunchData<A, Memory> data;
  Shapes shapes;
  std::int64_t n_groups;
  std::int64_t n_tiles;
  std::int64_t groups_per_tile;
  /// on a host only
  SlotTimes<Memory> times;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t item = team.league_rank();
    const std::int64_t slot = item / n_tiles;
    const std::int64_t first = (item % n_tiles) * groups_per_tile;
    const std::int64_t last = Kokkos::min(first + groups_per_tile, n_groups);
    kernel::FormCounts counts;
    if constexpr (is_device_space<Space>) {
      kernel::accumulate_tile<kernel::Lanes<A, DeviceVector, W>, set, Kernel>(
          data, shapes, slot, first, last, team.team_rank(), team.team_size(), counts);
      for (int f = 0; f < n_forms; ++f) {
        team.team_reduce(Kokkos::Sum<std::int64_t>(counts.count[f]));
      }
      Kokkos::single(Kokkos::PerTeam(team), [&]() { add_counts(counts); });
    } else {
      const std::int64_t begin = now();
      kernel::accumulate_tile_on_host<A, set, Kernel, W>(data, slot, first, last, counts);
      add_counts(counts);
      Kokkos::atomic_min(&times(slot, 0), begin);
      Kokkos::atomic_max(&times(slot, 1), now());
    }
  }

private:
  template <class T, int Width>
  struct PackOrNumber {
    using type = kernel::Pack<T, Width>;
  };
  template <class T>
  struct PackOrNumber<T, 1> {
    using type = T;
  };
  template <class T, int Width>
  using DeviceVector = typename PackOrNumber<T, Width>::type;

  KOKKOS_FUNCTION void add_counts(const kernel::FormCounts& counts) const {
    for (int f = 0; f < n_forms; ++f) {
      if (counts.count[f] != 0) Kokkos::atomic_add(&data.pairs(f), counts.count[f]);
    }
  }
};

/// Prepares the shapes of a chunk.
template <class A, class Memory>
struct PrepareShapes {
  kernel::MultipoleTables tables;
  /// (n_shapes, 3) edge lengths, metres
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> edges;
  Kokkos::View<kernel::PrismShape<A>*, Memory> shapes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double edge[3] = {edges(i, 0), edges(i, 1), edges(i, 2)};
    kernel::prepare_shape<A>(tables, edge, shapes(i));
  }
};

/// Prepares the prisms of a chunk.
template <class A, class Memory>
struct PreparePrisms {
  Kokkos::Array<double, 3> origin;
  /// (7, n): west, east, south, north, bottom, top, density
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> columns;
  Kokkos::View<std::int32_t*, Memory> shape_index;
  Kokkos::View<kernel::PrismShape<A>*, Memory> shapes;
  Kokkos::View<kernel::FarPrism<A>*, Memory> far;
  Kokkos::View<kernel::NearPrism<A>*, Memory> near;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double face[3][2] = {
        {columns(0, i), columns(1, i)}, {columns(2, i), columns(3, i)}, {columns(4, i), columns(5, i)}};
    const double from[3] = {origin[0], origin[1], origin[2]};
    const std::int32_t s = shape_index(i);
    kernel::prepare_prism<A>(shapes(s), s, face, columns(6, i), from, far(i), near(i));
  }
};

/// Prepares the reach of a chunk's batches.
template <class A, class Memory>
struct PrepareReach {
  Kokkos::View<kernel::PrismShape<A>*, Memory> shapes;
  Kokkos::View<kernel::FarPrism<A>*, Memory> far;
  std::int64_t n_prisms;
  std::int64_t batch;
  Kokkos::View<kernel::BatchReach*, Memory> reach;

  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    kernel::prepare_reach<A>(shapes, far, b * batch, Kokkos::min((b + 1) * batch, n_prisms), reach(b));
  }
};

/// Adds the slots' grids in their order to the result and empties them.
template <class Sum, class Memory>
struct ReduceSlots {
  Kokkos::View<Sum***, Kokkos::LayoutRight, Memory> scratch;
  /// (field, n_padded)
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> result;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t n = static_cast<std::int64_t>(result.extent(1));
    const std::int64_t field = i / n;
    const std::int64_t point = i % n;
    Sum sum = 0;
    for (std::size_t slot = 0; slot < scratch.extent(0); ++slot) {
      sum += scratch(slot, field, point);
      scratch(slot, field, point) = Sum(0);
    }
    result(field, point) += static_cast<double>(sum);
  }
};

template <class Space, class A>
class KokkosEngine final : public FieldEngine {
public:
  using Memory = typename Space::memory_space;
  using Sum = typename A::Sum;
  using Coordinate = typename A::Coordinate;
  /// pinned where a device copies from or to it, the host's own memory otherwise
  using PinnedHost = std::conditional_t<is_device_space<Space>, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;

  KokkosEngine(const Space& space, const EngineSettings& settings)
      : m_space(space), m_settings(settings), m_tables(kernel::multipole_tables()) {
    m_n_fields = fields_of(settings.set).size();
    const std::int64_t padded = padded_points(settings.tile_points);
    m_data.slots = settings.slots;
    m_data.batch = settings.batch;
    m_busy.resize(is_device_space<Space> ? 1 : static_cast<std::size_t>(settings.slots));
    allocate([&] {
      m_data.scratch = decltype(m_data.scratch)(label("scratch"), settings.slots, m_n_fields, padded);
      m_result = decltype(m_result)(label("result"), m_n_fields, padded);
      m_data.contact = decltype(m_data.contact)(label("contact"), padded);
      m_host_result = Kokkos::create_mirror_view(PinnedHost(), m_result);
      m_host_contact = Kokkos::create_mirror_view(PinnedHost(), m_data.contact);
      if constexpr (!is_device_space<Space>) m_slot_times = SlotTimes<Memory>(label("slot_times"), settings.slots);
      m_data.pairs = decltype(m_data.pairs)("prismfield::pairs", n_forms);
      m_data.easting = decltype(m_data.easting)(label("easting"), padded);
      m_data.northing = decltype(m_data.northing)(label("northing"), padded);
      m_data.upward = decltype(m_data.upward)(label("upward"), padded);
    });
  }

  void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                  const double* values, const double* contact) override {
    m_data.n_points = n_points;
    const double* from[3] = {easting, northing, upward};
    decltype(m_data.easting)* to[3] = {&m_data.easting, &m_data.northing, &m_data.upward};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto mirror = Kokkos::create_mirror_view(*to[d]);
      const std::int64_t padded = static_cast<std::int64_t>(mirror.extent(0));
      for (std::int64_t i = 0; i < padded; ++i) {
        mirror(i) = static_cast<Coordinate>(from[d][std::min(i, n_points - 1)] - origin(d));
      }
      Kokkos::deep_copy(m_space, *to[d], mirror);
      m_space.fence("prismfield: points copied");
    }
    for (int f = 0; f < m_n_fields; ++f) std::copy_n(values + f * n_points, n_points, &m_host_result(f, 0));
    std::copy_n(contact, n_contact_columns * n_points, &m_host_contact(0, 0));
    Kokkos::deep_copy(m_space, m_result, m_host_result);
    Kokkos::deep_copy(m_space, m_data.contact, m_host_contact);
    Kokkos::deep_copy(m_space, m_data.scratch, Sum(0));
    m_space.fence("prismfield: tile started");
  }

  void add(const PrismBlock& block, std::int64_t first_batch) override {
    const std::int64_t n = block.size();
    if (n == 0) return;
    const Kokkos::Profiling::ScopedRegion region("prismfield: prisms to slots");
    stage(block);
    // the device may still read what the previous block left
    note_device_idle();
    upload(n);
    if constexpr (is_device_space<Space>) m_device_busy_since = now();
    m_data.prism_begin = 0;
    m_data.prism_end = n;
    m_data.first_batch = first_batch;
    if (!m_settings.launch_per_prism) {
      launch();
      return;
    }
    for (std::int64_t p = 0; p < n; ++p) {
      m_data.prism_begin = p;
      m_data.prism_end = p + 1;
      launch();
    }
  }

  void end_chunk() override {
    const Kokkos::Profiling::ScopedRegion region("prismfield: reduce slots");
    const std::int64_t padded = static_cast<std::int64_t>(m_result.extent(1));
    Kokkos::parallel_for("prismfield::reduce_slots",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(m_space, 0, m_n_fields * padded),
                         ReduceSlots<Sum, Memory>{m_data.scratch, m_result});
  }

  void read_tile(double* values, double* contact) override {
    note_device_idle();
    Kokkos::deep_copy(m_space, m_host_result, m_result);
    Kokkos::deep_copy(m_space, m_host_contact, m_data.contact);
    m_space.fence("prismfield: tile read");
    const std::int64_t n_points = m_data.n_points;
    for (int f = 0; f < m_n_fields; ++f) std::copy_n(&m_host_result(f, 0), n_points, values + f * n_points);
    std::copy_n(&m_host_contact(0, 0), n_contact_columns * n_points, contact);
  }

  void wait() override { note_device_idle(); }

  std::vector<BusyInterval> busy() override {
    note_device_idle();
    std::vector<BusyInterval> all;
    for (const auto& intervals : m_busy) all.insert(all.end(), intervals.begin(), intervals.end());
    return all;
  }

  std::array<std::int64_t, n_forms> pairs() override {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_data.pairs);
    std::array<std::int64_t, n_forms> out{};
    std::copy_n(mirror.data(), n_forms, out.begin());
    return out;
  }

  [[nodiscard]] static EngineMemory memory(FieldSet set) {
    const std::int64_t n_fields = fields_of(set).size();
    EngineMemory m;
    m.per_slot_point = n_fields * static_cast<std::int64_t>(sizeof(Sum));
    m.per_point = n_fields * 8 + n_contact_columns * 8 + 3 * static_cast<std::int64_t>(sizeof(Coordinate));
    m.per_prism = static_cast<std::int64_t>(sizeof(kernel::FarPrism<A>) + sizeof(kernel::NearPrism<A>)) + 7 * 8 + 4;
    m.per_shape = static_cast<std::int64_t>(sizeof(kernel::PrismShape<A>)) + 3 * 8;
    if (is_device_space<Space>) {
      // at most: a batch is one prism or more
      m.per_prism += static_cast<std::int64_t>(sizeof(kernel::BatchReach));
      m.host_per_point = m.per_point;
      m.host_per_prism = 7 * 8 + 4 + 3 * 8;
    }
    return m;
  }

  /// Points padded to whole lanes of every width that the engine may use.
  [[nodiscard]] static std::int64_t padded_points(std::int64_t n) {
    constexpr std::int64_t width = is_device_space<Space> ? device_width<A> : kernel::host_width<A>;
    return (n + width - 1) / width * width;
  }

private:
  /// Waits for what is under way and notes how long it took.
  void note_device_idle() {
    m_space.fence("prismfield: launches done");
    if (m_device_busy_since == 0) return;
    note_busy({-1, m_device_busy_since, now()});
    m_device_busy_since = 0;
  }

  void note_busy(const BusyInterval& interval) {
    constexpr std::int64_t shortest_gap = 1'000'000;
    constexpr std::size_t most_intervals = 10'000;
    auto& intervals = m_busy[static_cast<std::size_t>(std::max<std::int64_t>(interval.slot, 0))];
    // on a device every launch is told, as long as they are few
    const bool many = intervals.size() >= std::max<std::size_t>(most_intervals / m_busy.size(), 100);
    const bool follows = !intervals.empty() && interval.begin - intervals.back().end < shortest_gap;
    const bool joined = many || (follows && !is_device_space<Space>);
    if (joined) {
      intervals.back().end = interval.end;
    } else {
      intervals.push_back(interval);
    }
  }

  static std::string label(const char* what) { return std::string("prismfield::") + what; }
  [[nodiscard]] double origin(std::size_t d) const {
    return sizeof(Coordinate) == sizeof(float) ? m_settings.origin[d] : 0.0;
  }

  template <class F>
  static void allocate(const F& f) {
    try {
      f();
    } catch (const std::exception& error) {
      throw AllocationFailure(error.what());
    }
  }

  /// Host copies of the block's columns, and which prisms share a shape.
  void stage(const PrismBlock& block) {
    const std::size_t n = static_cast<std::size_t>(block.size());
    if (m_host_columns.extent(1) < n) {
      allocate([&] {
        m_columns = decltype(m_columns)();
        m_columns = decltype(m_columns)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("columns")), 7, n);
        m_shape_index =
            decltype(m_shape_index)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("shape_index")), n);
        m_data.far = decltype(m_data.far)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("far")), n);
        m_data.near = decltype(m_data.near)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("near")), n);
        if constexpr (is_device_space<Space>) {
          const std::size_t batch = static_cast<std::size_t>(m_settings.batch);
          m_data.reach = decltype(m_data.reach)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("reach")),
                                                (n + batch - 1) / batch);
        }
        m_host_columns = Kokkos::create_mirror_view(m_columns);
        m_host_shape_index = Kokkos::create_mirror_view(m_shape_index);
      });
    }
    const std::vector<double>* columns[7] = {&block.west,   &block.east, &block.south,  &block.north,
                                             &block.bottom, &block.top,  &block.density};
    wait_if_shared();
    for (std::size_t c = 0; c < 7; ++c) std::copy_n(columns[c]->data(), n, &m_host_columns(c, 0));
    m_edges.clear();
    std::array<double, 3> last{};
    for (std::size_t i = 0; i < n; ++i) {
      const std::array<double, 3> edge = {block.east[i] - block.west[i], block.north[i] - block.south[i],
                                          block.top[i] - block.bottom[i]};
      const bool same =
          !m_edges.empty() && alike(edge[0], last[0]) && alike(edge[1], last[1]) && alike(edge[2], last[2]);
      if (!same) {
        m_edges.push_back(edge);
        last = edge;
      }
      m_host_shape_index(i) = static_cast<std::int32_t>(m_edges.size() - 1);
    }
  }
  static bool alike(double a, double b) { return std::abs(a - b) <= kernel::shape_tolerance * b; }

  /// On a host the staging area is what the kernels read.
  void wait_if_shared() {
    if constexpr (!is_device_space<Space>) m_space.fence("prismfield: staging area free");
  }

  void upload(std::int64_t n) {
    const std::size_t n_shapes = m_edges.size();
    if (m_data.shapes.extent(0) < n_shapes) {
      allocate([&] {
        m_data.shapes = decltype(m_data.shapes)();
        m_device_edges = decltype(m_device_edges)();
        m_data.shapes =
            decltype(m_data.shapes)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("shapes")), n_shapes);
        m_device_edges =
            decltype(m_device_edges)(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("edges")), n_shapes);
      });
    }
    const Kokkos::View<const double* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> edges(
        m_edges.front().data(), n_shapes);
    Kokkos::deep_copy(m_space, Kokkos::subview(m_device_edges, std::make_pair(std::size_t{0}, n_shapes), Kokkos::ALL),
                      edges);
    Kokkos::deep_copy(m_space, m_columns, m_host_columns);
    Kokkos::deep_copy(m_space, m_shape_index, m_host_shape_index);
    using IndexPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
    if (is_device_space<Space> && n_shapes == 1) {
      // the far kernel has this very shape as a constant: both passes must draw the same line between far and near
      kernel::prepare_shape<A>(m_tables, {m_edges[0][0], m_edges[0][1], m_edges[0][2]}, m_one_shape);
      const Kokkos::View<const kernel::PrismShape<A>*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> shape(&m_one_shape,
                                                                                                         1);
      Kokkos::deep_copy(m_space, Kokkos::subview(m_data.shapes, std::make_pair(std::size_t{0}, std::size_t{1})), shape);
    } else {
      Kokkos::parallel_for("prismfield::prepare_shapes", IndexPolicy(m_space, 0, static_cast<std::int64_t>(n_shapes)),
                           PrepareShapes<A, Memory>{m_tables, m_device_edges, m_data.shapes});
    }
    Kokkos::parallel_for(
        "prismfield::prepare_prisms", IndexPolicy(m_space, 0, n),
        PreparePrisms<A, Memory>{
            {origin(0), origin(1), origin(2)}, m_columns, m_shape_index, m_data.shapes, m_data.far, m_data.near});
    if constexpr (is_device_space<Space>) {
      Kokkos::parallel_for("prismfield::prepare_reach",
                           IndexPolicy(m_space, 0, (n + m_settings.batch - 1) / m_settings.batch),
                           PrepareReach<A, Memory>{m_data.shapes, m_data.far, n, m_settings.batch, m_data.reach});
      // the staging area is written again while the kernels run
      m_space.fence("prismfield: block uploaded");
    }
  }

  void launch() {
    switch (m_settings.set) {
      case FieldSet::gz: launch_set<FieldSet::gz>(); break;
      case FieldSet::vector: launch_set<FieldSet::vector>(); break;
      case FieldSet::tensor: launch_set<FieldSet::tensor>(); break;
      case FieldSet::vector_tensor: launch_set<FieldSet::vector_tensor>(); break;
      case FieldSet::all: launch_set<FieldSet::all>(); break;
    }
  }

  template <FieldSet set>
  void launch_set() {
    using ShapeArray = kernel::ShapeArray<A, Memory>;
    using kernel::Pass;
    const ShapeArray shapes{m_data.shapes};
    if (m_settings.kernel == KernelKind::corners) {
      launch_kernel<set, kernel::CornersForm, 1>("prismfield::corners", shapes);
    } else if constexpr (is_device_space<Space>) {
      launch_far<set>(shapes);
      launch_kernel<set, kernel::ChooseForm<Pass::near>, device_width<A>>("prismfield::near", shapes);
    } else if (m_settings.scalar_lanes) {
      launch_kernel<set, kernel::ChooseForm<Pass::all>, 1>("prismfield::field", shapes);
    } else {
      launch_kernel<set, kernel::ChooseForm<Pass::all>, kernel::host_width<A>>("prismfield::field", shapes);
    }
  }

  template <FieldSet set, class ShapeArray>
  void launch_far(const ShapeArray& shapes) {
    using Far = kernel::ChooseForm<kernel::Pass::far>;
    // compiled for the precision that is most used: it doubles the kernels
    if constexpr (std::is_same_v<A, kernel::DoubleArithmetic>) {
      if (m_edges.size() == 1) {
        const kernel::OneShape<A> shape{m_one_shape};
        launch_kernel<set, Far, device_width<A>>("prismfield::far", shape);
        return;
      }
    }
    launch_kernel<set, Far, device_width<A>>("prismfield::far", shapes);
  }

  template <FieldSet set, class Kernel, int W, class Shapes>
  void launch_kernel(const char* name, const Shapes& shapes) {
    using Functor = TileFunctor<A, set, Kernel, W, Shapes, Space>;
    const std::int64_t n_groups = (m_data.n_points + W - 1) / W;
    const std::int64_t per_tile = is_device_space<Space> ? m_settings.block : host_groups_per_item;
    const std::int64_t n_tiles = (n_groups + per_tile - 1) / per_tile;
    if constexpr (!is_device_space<Space>) {
      for (std::int64_t slot = 0; slot < m_settings.slots; ++slot) {
        m_slot_times(slot, 0) = std::numeric_limits<std::int64_t>::max();
        m_slot_times(slot, 1) = 0;
      }
    }
    const Functor functor{m_data, shapes, n_groups, n_tiles, per_tile, m_slot_times};
    const int team = is_device_space<Space> ? static_cast<int>(m_settings.block) : 1;
    const typename Functor::Policy policy(m_space, static_cast<int>(m_settings.slots * n_tiles), team);
    Kokkos::parallel_for(name, policy, functor);
    if constexpr (!is_device_space<Space>) {
      m_space.fence("prismfield: slots done");
      for (std::int64_t slot = 0; slot < m_settings.slots; ++slot) {
        if (m_slot_times(slot, 1) > 0) note_busy({slot, m_slot_times(slot, 0), m_slot_times(slot, 1)});
      }
    }
  }

  Space m_space;
  EngineSettings m_settings;
  kernel::MultipoleTables m_tables;
  int m_n_fields = 0;
  kernel::LaunchData<A, Memory> m_data;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_result;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost> m_host_result;
  Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, PinnedHost> m_host_contact;
  SlotTimes<Memory> m_slot_times;
  /// of each slot, of the device as a whole
  std::vector<std::vector<BusyInterval>> m_busy;
  /// since when launches are under way; 0: none is
  std::int64_t m_device_busy_since = 0;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_columns;
  typename Kokkos::View<double**, Kokkos::LayoutRight, Memory>::HostMirror m_host_columns;
  Kokkos::View<std::int32_t*, Memory> m_shape_index;
  typename Kokkos::View<std::int32_t*, Memory>::HostMirror m_host_shape_index;
  std::vector<std::array<double, 3>> m_edges;
  /// on a device, of prisms that all have one shape
  kernel::PrismShape<A> m_one_shape{};
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> m_device_edges;
};

template <class Space, class A>
std::unique_ptr<FieldEngine> make_kokkos_engine(const EngineSettings& settings) {
  return std::make_unique<KokkosEngine<Space, A>>(Space(), settings);
}

template <class Space, class A>
EngineMemory kokkos_engine_memory(FieldSet set) {
  return KokkosEngine<Space, A>::memory(set);
}

}  // namespace prismfield
