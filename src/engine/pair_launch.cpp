// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/pair_launch.hpp"

#include <algorithm>

#include "engine/with_arithmetic.hpp"

namespace prismfield {
namespace {

/// Work items that a launch should have at least, so that every thread of today's machines gets several.
constexpr std::int64_t pair_items_wanted = 4096;
/// Points of a part at least: lane groups on a host, where a block of points stays in the first cache; points on a
/// device, for sums and for entries, which have nothing to add up. Entries of 1e6 prisms at 30 points, in launches of
/// 32,768 prisms: with one part two blocks of threads a multiprocessor, 2.3 ms on an H200.
constexpr std::int64_t groups_per_part_at_least = kernel::groups_per_pair_block;
constexpr std::int64_t points_per_part_at_least = 16, entry_points_per_part_at_least = 2;

/// How the points of a launch are cut.
struct PointParts {
  std::int64_t n_parts = 1;
  std::int64_t groups_per_part = 1;
};
PointParts point_parts(std::int64_t n_groups, std::int64_t n_prism_items, std::int64_t at_least) {
  PointParts parts;
  const std::int64_t wanted = (pair_items_wanted + n_prism_items - 1) / n_prism_items;
  const std::int64_t most = (n_groups + at_least - 1) / at_least;
  const std::int64_t n = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(most, 1));
  parts.groups_per_part = std::max<std::int64_t>((n_groups + n - 1) / n, 1);
  parts.n_parts = (n_groups + parts.groups_per_part - 1) / parts.groups_per_part;
  return parts;
}

template <class A, class Space>
struct HostPairs {
  using Memory = typename Space::memory_space;
  kernel::HostPairsOfItem<A> pairs_of_item;
  kernel::LaunchData<A, Memory> data;
  kernel::PairData<A, Memory> pairs;
  std::int64_t n_groups;
  PointParts parts;

  void operator()(std::int64_t item) const {
    const std::int64_t begin = item / parts.n_parts * kernel::prisms_per_pair_item;
    const std::int64_t part = item % parts.n_parts;
    const std::int64_t first = part * parts.groups_per_part;
    pairs_of_item(data, pairs, begin, std::min(begin + kernel::prisms_per_pair_item, data.prism_end), part, first,
                  std::min(first + parts.groups_per_part, n_groups));
  }
};

/// Threads of a block on a device, at most: with 256 a multiprocessor's registers would hold 512 threads of the far
/// kernel and not 640.
constexpr std::int64_t pair_block_at_most = 128;
/// Threads for which a device's multiprocessor has registers: the far kernel of several fields needs few enough for
/// 640.
template <FieldSet set, class Kernel>
constexpr unsigned pair_threads = kernel::passes_by<Kernel> || set == FieldSet::gz ? 512 : 640;

template <class A, FieldSet set, class Kernel, class Shapes, class Space>
struct DevicePairs {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<pair_threads<set, Kernel>, 1>>;
  kernel::LaunchData<A, Memory> data;
  kernel::PairData<A, Memory> pairs;
  Shapes shapes;
  PointParts parts;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    // Near pairs of the last prisms first: of a mesh these are the uppermost, which have most, and no other work would
    // hide them at the end. 85 in place of 97 us.
    const std::int64_t item =
        kernel::passes_by<Kernel> ? team.league_size() - 1 - team.league_rank() : team.league_rank();
    const std::int64_t first_prism = item / parts.n_parts * team.team_size();
    const std::int64_t p = first_prism + team.team_rank();
    if (p >= data.prism_end) return;
    const kernel::Warp warp =
        kernel::Warp::of(team.team_rank(), Kokkos::min<std::int64_t>(team.team_size(), data.prism_end - first_prism));
    const std::int64_t part = item % parts.n_parts;
    const std::int64_t first = part * parts.groups_per_part;
    kernel::pairs_of_prism<kernel::Lanes<A, DeviceNumber, device_width>, set, Kernel>(
        warp, team.team_rank(), data, pairs, shapes, p, part, first,
        Kokkos::min(first + parts.groups_per_part, data.n_points));
  }
};

/// out(p) += scale * the sum of a prism's parts, in their order.
template <class Memory>
struct AddParts {
  Kokkos::View<double**, Kokkos::LayoutRight, Memory, Kokkos::MemoryUnmanaged> sums;
  std::int64_t n_parts;
  double scale;
  /// (prism of the launch)
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    double sum = 0;
    for (std::int64_t part = 0; part < n_parts; ++part) sum += sums(part, p);
    out(p) += scale * sum;
  }
};

/// How a launch over a tile of points and a block of prisms is cut.
struct PairWork {
  std::int64_t block = 1;
  std::int64_t n_groups = 0;
  std::int64_t n_prism_items = 0;
  PointParts parts;
};
template <class Space, class A, class Memory>
PairWork work_of(const EngineSettings& settings, const kernel::LaunchData<A, Memory>& data, kernel::PairSink sink) {
  constexpr bool on_device = is_device_space<Space>;
  constexpr std::int64_t width = on_device ? 1 : kernel::host_width<A>;
  PairWork work;
  work.block = std::min<std::int64_t>(settings.block, pair_block_at_most);
  work.n_groups = (data.n_points + width - 1) / width;
  const std::int64_t per_item = on_device ? work.block : kernel::prisms_per_pair_item;
  work.n_prism_items = (data.prism_end + per_item - 1) / per_item;
  const std::int64_t points_at_least =
      sink == kernel::PairSink::entries ? entry_points_per_part_at_least : points_per_part_at_least;
  work.parts = point_parts(work.n_groups, work.n_prism_items, on_device ? points_at_least : groups_per_part_at_least);
  return work;
}

}  // namespace

template <class Space, class A>
void PairLauncher<Space, A>::add_sums(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                      const kernel::PrismShapeIn<A, Memory>* one_shape,
                                      kernel::PairData<A, Memory>& pairs, double scale, const Densities& out) {
  const PointParts parts = work_of<Space>(m_settings, data, pairs.sink).parts;
  const auto n_parts = static_cast<std::size_t>(parts.n_parts);
  const auto n_prisms = static_cast<std::size_t>(data.prism_end);
  if (m_sums.size() < n_parts * n_prisms) {
    allocate_or_fail([&] {
      m_sums = decltype(m_sums)();
      m_sums = decltype(m_sums)(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("sums_over_points")),
                                n_parts * n_prisms);
    });
  }
  pairs.sums = decltype(pairs.sums)(m_sums.data(), n_parts, n_prisms);
  launch(space, data, one_shape, pairs);
  Kokkos::parallel_for("prismfield::add_parts",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, data.prism_end),
                       AddParts<Memory>{pairs.sums, parts.n_parts, scale, out});
}

template <class Space, class A>
void PairLauncher<Space, A>::store_entries(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                           const kernel::PrismShapeIn<A, Memory>* one_shape,
                                           kernel::PairData<A, Memory>& pairs) {
  pairs.sink = kernel::PairSink::entries;
  launch(space, data, one_shape, pairs);
}

template <class Space, class A>
void PairLauncher<Space, A>::launch(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                    const kernel::PrismShapeIn<A, Memory>* one_shape,
                                    const kernel::PairData<A, Memory>& pairs) const {
  if constexpr (is_device_space<Space>) {
    with_set(m_settings.set, [&](auto set) { launch_set<decltype(set)::value>(space, data, one_shape, pairs); });
  } else {
    launch_on_host(space, data, pairs);
  }
}

template <class Space, class A>
template <FieldSet set>
void PairLauncher<Space, A>::launch_set(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                        const kernel::PrismShapeIn<A, Memory>* one_shape,
                                        const kernel::PairData<A, Memory>& pairs) const {
  using kernel::ChooseForm, kernel::Pass;
  const kernel::ShapeArray<A, Memory> shapes{data.shapes};
  if (one_shape != nullptr) {
    launch_on_device<set, ChooseForm<Pass::far>>(space, "prismfield::far_pairs", data, kernel::OneShape<A>{*one_shape},
                                                 pairs);
  } else {
    launch_on_device<set, ChooseForm<Pass::far>>(space, "prismfield::far_pairs", data, shapes, pairs);
  }
  launch_on_device<set, ChooseForm<Pass::near>>(space, "prismfield::near_pairs", data, shapes, pairs);
  if constexpr (sizeof(typename A::Real) == 4) {
    if (data.near_in_double) {
      launch_on_device<set, ChooseForm<Pass::near_in_double>>(space, "prismfield::near_pairs_in_double", data, shapes,
                                                              pairs);
    }
  }
}

template <class Space, class A>
void PairLauncher<Space, A>::launch_on_host(const Space& space, const kernel::LaunchData<A, Memory>& data,
                                            const kernel::PairData<A, Memory>& pairs) const
    requires(!is_device_space<Space>) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
  const PairWork work = work_of<Space>(m_settings, data, pairs.sink);
  const kernel::HostPairsOfItem<A> pairs_of_item = with_set(
      m_settings.set, [](auto set) -> kernel::HostPairsOfItem<A> { return &kernel::pairs_of_item_on_host<A, set()>; });
  Kokkos::parallel_for("prismfield::pairs",
                       Policy(space, 0, work.n_prism_items * work.parts.n_parts, Kokkos::ChunkSize(1)),
                       HostPairs<A, Space>{pairs_of_item, data, pairs, work.n_groups, work.parts});
}

template <class Space, class A>
template <FieldSet set, class Kernel, class Shapes>
void PairLauncher<Space, A>::launch_on_device(const Space& space, const char* name,
                                              const kernel::LaunchData<A, Memory>& data, const Shapes& shapes,
                                              const kernel::PairData<A, Memory>& pairs) const {
  using Functor = DevicePairs<A, set, Kernel, Shapes, Space>;
  const PairWork work = work_of<Space>(m_settings, data, pairs.sink);
  const typename Functor::Policy policy(space, static_cast<int>(work.n_prism_items * work.parts.n_parts),
                                        static_cast<int>(work.block));
  // as a kernel's own arguments, like those of TileLauncher
  Kokkos::parallel_for(name,
                       Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       Functor{data, pairs, shapes, work.parts});
}

#define PRISMFIELD_PAIR_LAUNCHER_IN(Space, Arithmetic) template class PairLauncher<Space, Arithmetic>;
#define PRISMFIELD_PAIR_LAUNCHERS(Space) PRISMFIELD_IN_EACH_ARITHMETIC(Space, PRISMFIELD_PAIR_LAUNCHER_IN)
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_PAIR_LAUNCHERS)

}  // namespace prismfield
