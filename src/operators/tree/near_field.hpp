// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include "engine/launch.hpp"
#include "engine/pair_launch.hpp"
#include "engine/with_arithmetic.hpp"
#include "operators/tree/interaction_lists.hpp"

/// The near field: pairs of leaves by the kernels of the direct sum.
namespace prismfield::fast {

using Arithmetic = kernel::DoubleArithmetic;

/// Leaves of points, padded, and of prisms, and the rows of one kind for the other.
template <class Memory>
struct NearData {
  kernel::LaunchData<Arithmetic, Memory> launch;
  kernel::PairData<Arithmetic, Memory> pairs;
  Cells<Memory> points, prisms;
  /// (cell of points) the first padded point of a leaf
  Kokkos::View<const std::int64_t*, Memory> first_point;
  /// (leaf of those that take) its cell, and its row; no rows: all points
  Kokkos::View<const std::int32_t*, Memory> leaves;
  Kokkos::View<const std::int64_t*, Memory> begin;
  Kokkos::View<const std::int32_t*, Memory> partner;
  /// (prism): sums of products
  Kokkos::View<double*, Memory> sums;

  /// The groups of `width` padded points of a leaf.
  KOKKOS_FUNCTION void groups_of(std::int32_t cell, int width, std::int64_t& first, std::int64_t& last) const {
    first = first_point(cell) / width;
    last = first + (points.end(cell) - points.begin(cell) + width - 1) / width;
  }
  /// Behind the last point of a leaf that is no padding.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t end_of_points(std::int32_t cell) const {
    return first_point(cell) + points.end(cell) - points.begin(cell);
  }
  KOKKOS_FUNCTION void groups_of_partner(std::int64_t i, int width, std::int64_t& first, std::int64_t& last) const {
    if (begin.extent(0) > 0) return groups_of(partner(i), width, first, last);
    first = 0;
    last = launch.n_points / width;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t row_begin(std::int32_t cell) const {
    return begin.extent(0) > 0 ? begin(cell) : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t row_end(std::int32_t cell) const {
    return begin.extent(0) > 0 ? begin(cell + 1) : 1;
  }
};

/// Adds to a leaf's points what the prisms of its row are for them, on a host.
template <class Memory>
struct HostNearFields {
  kernel::HostTile<Arithmetic> accumulate;
  NearData<Memory> data;
  void operator()(std::int64_t leaf) const {
    const std::int32_t cell = data.leaves(leaf);
    if (data.begin(cell) == data.begin(cell + 1)) return;
    kernel::LaunchData<Arithmetic, Memory> launch = data.launch;
    std::int64_t first = 0, last = 0;
    data.groups_of(cell, kernel::host_width<Arithmetic>, first, last);
    launch.n_points = data.end_of_points(cell);
    kernel::FormCounts counts;
    for (std::int64_t i = data.begin(cell); i < data.begin(cell + 1); ++i) {
      launch.prism_begin = data.prisms.begin(data.partner(i));
      launch.prism_end = data.prisms.end(data.partner(i));
      launch.batch = launch.prism_end - launch.prism_begin;
      accumulate(launch, 0, first, last, counts);
    }
    add_counts(launch, counts);
  }
};

/// The same on a device, by a team.
template <FieldSet set, class Space>
struct DeviceNearFields {
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<128, 1>>;
  NearData<typename Space::memory_space> data;
  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int32_t cell = data.leaves(team.league_rank());
    std::int64_t first = 0, last = 0;
    data.groups_of(cell, 1, first, last);
    kernel::LaunchData<Arithmetic, typename Space::memory_space> launch = data.launch;
    launch.n_points = data.end_of_points(cell);
    const kernel::ShapeArray<Arithmetic, typename Space::memory_space> shapes{launch.shapes};
    kernel::FormCounts counts;
    for (std::int64_t i = data.begin(cell); i < data.begin(cell + 1); ++i) {
      launch.prism_begin = data.prisms.begin(data.partner(i));
      launch.prism_end = data.prisms.end(data.partner(i));
      launch.batch = launch.prism_end - launch.prism_begin;
      kernel::accumulate_tile<kernel::Lanes<Arithmetic, DeviceNumber, device_width>, set,
                              kernel::ChooseForm<kernel::Pass::all>>(launch, shapes, 0, first, last, team.team_rank(),
                                                                     team.team_size(), counts);
    }
    add_counts(launch, counts);
  }
};

/// Adds to a leaf's prisms their products or squares with the points of its row, on a host.
template <class Memory>
struct HostNearSums {
  kernel::HostPairsOfItem<Arithmetic> pairs_of_item;
  NearData<Memory> data;
  void operator()(std::int64_t leaf) const {
    const std::int32_t cell = data.leaves(leaf);
    const std::int64_t begin = data.prisms.begin(cell), end = data.prisms.end(cell);
    for (std::int64_t i = data.row_begin(cell); i < data.row_end(cell); ++i) {
      std::int64_t first = 0, last = 0;
      data.groups_of_partner(i, kernel::host_width<Arithmetic>, first, last);
      pairs_of_item(data.launch, data.pairs, begin, end, 0, first, last);
      for (std::int64_t p = begin; p < end; ++p) data.sums(p) += data.pairs.sums(0, p);
    }
  }
};

/// The same on a device, by a team.
template <FieldSet set, class Space>
struct DeviceNearSums {
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<128, 1>>;
  NearData<typename Space::memory_space> data;
  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int32_t cell = data.leaves(team.league_rank());
    const kernel::ShapeArray<Arithmetic, typename Space::memory_space> shapes{data.launch.shapes};
    for (std::int64_t p = data.prisms.begin(cell) + team.team_rank(); p < data.prisms.end(cell);
         p += team.team_size()) {
      for (std::int64_t i = data.row_begin(cell); i < data.row_end(cell); ++i) {
        std::int64_t first = 0, last = 0;
        data.groups_of_partner(i, 1, first, last);
        kernel::pairs_of_prism<kernel::Lanes<Arithmetic, DeviceNumber, device_width>, set,
                               kernel::ChooseForm<kernel::Pass::all>>(kernel::Warp{}, team.team_rank(), data.launch,
                                                                      data.pairs, shapes, p, 0, first, last);
        data.sums(p) += data.pairs.sums(0, p);
      }
    }
  }
};

/// Runs a functor over the leaves that take: on a device by teams of one warp, on a host by threads.
template <class Space, class Functor>
void for_each_leaf(const char* name, const Space& space, const Functor& functor) {
  const auto n = static_cast<std::int64_t>(functor.data.leaves.extent(0));
  if constexpr (is_device_space<Space>) {
    Kokkos::parallel_for(name, typename Functor::Policy(space, static_cast<int>(n), 32), functor);
  } else {
    using Leaves = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(name, Leaves(space, 0, n, Kokkos::ChunkSize(4)), functor);
  }
}

/// Adds what the rows' pairs are to the points' scratch, or to the prisms' sums.
template <class Space>
void add_near_fields(const Space& space, FieldSet set, const NearData<typename Space::memory_space>& data) {
  with_set(set, [&](auto of) {
    if constexpr (is_device_space<Space>) {
      for_each_leaf("prismfield::near_fields", space, DeviceNearFields<of(), Space>{data});
    } else {
      using Choice = kernel::ChooseForm<kernel::Pass::all>;
      for_each_leaf(
          "prismfield::near_fields", space,
          HostNearFields<typename Space::memory_space>{
              &kernel::accumulate_tile_on_host<Arithmetic, of(), Choice, kernel::host_width<Arithmetic>>, data});
    }
  });
}

template <class Space>
void add_near_sums(const Space& space, FieldSet set, const NearData<typename Space::memory_space>& data) {
  with_set(set, [&](auto of) {
    if constexpr (is_device_space<Space>) {
      for_each_leaf("prismfield::near_sums", space, DeviceNearSums<of(), Space>{data});
    } else {
      for_each_leaf("prismfield::near_sums", space,
                    HostNearSums<typename Space::memory_space>{&kernel::pairs_of_item_on_host<Arithmetic, of()>, data});
    }
  });
}

}  // namespace prismfield::fast
