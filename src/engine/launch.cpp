// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/launch.hpp"

#include <algorithm>
#include <limits>

#include "engine/with_arithmetic.hpp"

/// The papers' launch: a parallel_for over batches of prisms adds into scratch(slot, field, point), one grid of points
/// per concurrency slot, and a reduction over the slots follows.
namespace prismfield {
namespace {

/// Lane groups of one work item on a host: enough that a batch of prisms, once in the first cache, is used often, but
/// no more than give every thread some items where there are fewer slots than threads.
std::int64_t host_groups_per_item(std::int64_t n_groups, std::int64_t slots, std::int64_t threads) {
  constexpr std::int64_t most = 128, least = 4, items_per_thread = 4;
  if (slots >= threads) return most;
  const std::int64_t items = items_per_thread * threads;
  return std::clamp((n_groups * slots + items - 1) / items, least, most);
}

/// Threads for which a device's multiprocessor has registers. Prisms in step need the more threads the fewer registers
/// they take: gz in double took 13.7 ms with 768 and 24.9 with 1024, nine fields in single precision 16.4 with 1024 and
/// 19.4 with 768; nine in double have no room for more than 512.
template <class A, FieldSet set, class Kernel, class Shapes>
constexpr unsigned kernel_threads = kernel::prisms_in_step<A, set, Kernel, Shapes> == 0 ? 512
                                    : sizeof(typename A::Real) == 4                     ? 1024
                                    : set == FieldSet::gz                               ? 768
                                                                                        : 512;

/// A launch on a host: items of a slot and a part of the points. The function is called by its address, so that Kokkos'
/// launch is compiled once and not for every set of fields.
template <class A, class Space>
struct HostTiles {
  using Memory = typename Space::memory_space;
  kernel::HostTile<A> accumulate;
  kernel::LaunchData<A, Memory> data;
  std::int64_t n_groups;
  std::int64_t n_tiles;
  std::int64_t groups_per_tile;
  SlotTimes<Memory> times;

  void operator()(std::int64_t item) const {
    const std::int64_t slot = item / n_tiles;
    const std::int64_t first = (item % n_tiles) * groups_per_tile;
    kernel::FormCounts counts;
    const std::int64_t begin = now();
    accumulate(data, slot, first, std::min(first + groups_per_tile, n_groups), counts);
    add_counts(data, counts);
    Kokkos::atomic_min(&times(slot, 0), begin);
    Kokkos::atomic_max(&times(slot, 1), now());
  }
};

template <class A, FieldSet set, class Kernel, class Shapes, class Space>
struct DeviceTiles {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>,
                                    Kokkos::LaunchBounds<kernel_threads<A, set, Kernel, Shapes>, 1>>;
  kernel::LaunchData<A, Memory> data;
  Shapes shapes;
  std::int64_t n_tiles;
  std::int64_t points_per_tile;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t item = team.league_rank();
    const std::int64_t first = (item % n_tiles) * points_per_tile;
    kernel::FormCounts counts;
    kernel::accumulate_tile<kernel::Lanes<A, DeviceNumber, device_width>, set, Kernel>(
        data, shapes, item / n_tiles, first, Kokkos::min(first + points_per_tile, data.n_points), team.team_rank(),
        team.team_size(), counts);
    sum_counts(team, counts);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { add_counts(data, counts); });
  }

private:
  /// Sums the counts of a team; most teams have pairs of one or two forms, or of none. With eight sums each the near
  /// kernel, whose teams mostly have none, took 2.5 instead of 1.7 ms for the seven spheres on an H100.
  KOKKOS_FUNCTION static void sum_counts(const typename Policy::member_type& team, kernel::FormCounts& counts) {
    int counted = 0;
    for (int f = 0; f < n_forms; ++f) counted |= counts.count[f] != 0 ? 1 << f : 0;
    team.team_reduce(Kokkos::BOr<int>(counted));
    for (int f = 0; f < n_forms; ++f) {
      if ((counted >> f & 1) != 0) team.team_reduce(Kokkos::Sum<std::int64_t>(counts.count[f]));
    }
  }
};

/// Adds the slots' grids in their order to the result and empties them.
template <class Real, class Memory>
struct ReduceSlots {
  Kokkos::View<Real***, Kokkos::LayoutRight, Memory> scratch;
  /// (field, n_padded)
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> result;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t n = static_cast<std::int64_t>(result.extent(1));
    const std::int64_t field = i / n;
    const std::int64_t point = i % n;
    const std::size_t slots = scratch.extent(0);
    Real sum = 0;
    // a device waits for memory: eight at a time took 0.50 instead of 1.62 ms for the seven spheres on an H100
    constexpr std::size_t at_once = 8;
    std::size_t slot = 0;
    for (; slot + at_once <= slots; slot += at_once) {
      Real part[at_once];
      for (std::size_t s = 0; s < at_once; ++s) part[s] = scratch(slot + s, field, point);
      for (std::size_t s = 0; s < at_once; ++s) {
        sum += part[s];
        scratch(slot + s, field, point) = Real(0);
      }
    }
    for (; slot < slots; ++slot) {
      sum += scratch(slot, field, point);
      scratch(slot, field, point) = Real(0);
    }
    result(field, point) += static_cast<double>(sum);
  }
};

}  // namespace

template <class Space, class A>
TileLauncher<Space, A>::TileLauncher(const EngineSettings& settings) : m_settings(settings) {
  if constexpr (!is_device_space<Space>) m_slot_times = SlotTimes<Memory>(view_label("slot_times"), settings.slots);
}

template <class Space, class A>
void TileLauncher<Space, A>::launch(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                    const kernel::PrismShapeIn<A, Memory>* one_shape, const NoteBusy& note_busy) const {
  if constexpr (is_device_space<Space>) {
    if (m_settings.kernel == KernelKind::corners) {
      with_corners_set(m_settings.set, [&](auto set) {
        launch_on_device<decltype(set)::value, kernel::CornersForm>(space, "prismfield::corners", data,
                                                                    kernel::ShapeArray<A, Memory>{data.shapes});
      });
    } else {
      with_set(m_settings.set, [&](auto set) { launch_set<decltype(set)::value>(space, data, one_shape); });
    }
  } else {
    launch_on_host(space, data);
    for (std::int64_t slot = 0; slot < m_settings.slots; ++slot) {
      if (m_slot_times(slot, 1) > 0) note_busy(slot, m_slot_times(slot, 0), m_slot_times(slot, 1));
    }
  }
}

template <class Space, class A>
void TileLauncher<Space, A>::reduce(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                    const Kokkos::View<double**, Kokkos::LayoutRight, Memory>& result) const {
  Kokkos::parallel_for(
      "prismfield::reduce_slots",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, static_cast<std::int64_t>(result.size())),
      ReduceSlots<typename A::Real, Memory>{data.scratch, result});
}

template <class Space, class A>
void TileLauncher<Space, A>::launch_on_host(const Space& space, const kernel::LaunchData<A, Memory>& data) const
    requires(!is_device_space<Space>) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  const bool corners = m_settings.kernel == KernelKind::corners;
  const std::int64_t width = corners ? 1 : kernel::host_width<A>;
  const std::int64_t n_groups = (data.n_points + width - 1) / width;
  const std::int64_t per_tile = host_groups_per_item(n_groups, m_settings.slots, space.concurrency());
  const std::int64_t n_tiles = (n_groups + per_tile - 1) / per_tile;
  for (std::int64_t slot = 0; slot < m_settings.slots; ++slot) {
    m_slot_times(slot, 0) = std::numeric_limits<std::int64_t>::max();
    m_slot_times(slot, 1) = 0;
  }
  using kernel::accumulate_tile_on_host, kernel::HostTile;
  const HostTile<A> accumulate =
      corners
          ? with_corners_set(
                m_settings.set,
                [](auto set) -> HostTile<A> { return &accumulate_tile_on_host<A, set(), kernel::CornersForm, 1>; })
          : with_set(m_settings.set, [](auto set) -> HostTile<A> {
              return &accumulate_tile_on_host<A, set(), kernel::ChooseForm<kernel::Pass::all>, kernel::host_width<A>>;
            });
  Kokkos::parallel_for(corners ? "prismfield::corners" : "prismfield::field",
                       Policy(space, 0, m_settings.slots * n_tiles, Kokkos::ChunkSize(1)),
                       HostTiles<A, Space>{accumulate, data, n_groups, n_tiles, per_tile, m_slot_times});
  space.fence("prismfield: slots done");
}

template <class Space, class A>
template <FieldSet set>
void TileLauncher<Space, A>::launch_set(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                        const kernel::PrismShapeIn<A, Memory>* one_shape) const {
  using kernel::ChooseForm, kernel::Pass;
  const kernel::ShapeArray<A, Memory> shapes{data.shapes};
  if (one_shape != nullptr) {
    launch_on_device<set, ChooseForm<Pass::far>>(space, "prismfield::far", data, kernel::OneShape<A>{*one_shape});
  } else {
    launch_on_device<set, ChooseForm<Pass::far>>(space, "prismfield::far", data, shapes);
  }
  launch_on_device<set, ChooseForm<Pass::near>>(space, "prismfield::near", data, shapes);
  if constexpr (sizeof(typename A::Real) == 4) {
    if (data.near_in_double) {
      launch_on_device<set, ChooseForm<Pass::near_in_double>>(space, "prismfield::near_in_double", data, shapes);
    }
  }
}

template <class Space, class A>
template <FieldSet set, class Kernel, class Shapes>
void TileLauncher<Space, A>::launch_on_device(const Space& space, const char* name,
                                              const kernel::LaunchData<A, Memory>& data, const Shapes& shapes) const {
  using Functor = DeviceTiles<A, set, Kernel, Shapes, Space>;
  const std::int64_t n_tiles = (data.n_points + m_settings.block - 1) / m_settings.block;
  const typename Functor::Policy policy(space, static_cast<int>(m_settings.slots * n_tiles),
                                        static_cast<int>(m_settings.block));
  // As a kernel's own arguments. Kokkos would else hand a functor of this size over in a buffer that it writes again
  // only after the last kernel that reads it: to launch the near kernel it would wait for the far one, nearly all of
  // the device's time, in which the next prisms are read and staged.
  Kokkos::parallel_for(name,
                       Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       Functor{data, shapes, n_tiles, m_settings.block});
}

#define PRISMFIELD_LAUNCHER_IN(Space, Arithmetic) template class TileLauncher<Space, Arithmetic>;
#define PRISMFIELD_LAUNCHERS(Space) PRISMFIELD_IN_EACH_ARITHMETIC(Space, PRISMFIELD_LAUNCHER_IN)
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_LAUNCHERS)

}  // namespace prismfield
