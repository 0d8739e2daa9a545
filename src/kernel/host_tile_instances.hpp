// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#define PRISMFIELD_HOST_LANES
#include "kernel/host_tile.hpp"

/// Included by one source file a precision, which instantiates every field set of it.
namespace prismfield::kernel {

template <class A, FieldSet set, class Kernel, int W>
void accumulate_tile_on_host(const LaunchData<A, Kokkos::HostSpace>& data, std::int64_t slot, std::int64_t first_group,
                             std::int64_t last_group, FormCounts& counts) {
  accumulate_tile<Lanes<A, HostVector, W>, set, Kernel>(data, ShapeArray<A, Kokkos::HostSpace>{data.shapes}, slot,
                                                        first_group, last_group, 0, 1, counts);
}

template <class A, FieldSet set>
void pairs_of_item_on_host(const LaunchData<A, Kokkos::HostSpace>& data, const PairData<A, Kokkos::HostSpace>& pairs,
                           std::int64_t begin, std::int64_t end, std::int64_t part, std::int64_t first,
                           std::int64_t last) {
  pairs_of_item<Lanes<A, HostVector, host_width<A>>, set>(data, pairs, ShapeArray<A, Kokkos::HostSpace>{data.shapes},
                                                          begin, end, part, first, last);
}

/// Taking the addresses of a precision's functions instantiates them.
template <class A, FieldSet set>
struct HostTileInstances {
  static constexpr auto all = &accumulate_tile_on_host<A, set, ChooseForm<Pass::all>, host_width<A>>;
  static constexpr auto pairs = &pairs_of_item_on_host<A, set>;
};
template <class A, FieldSet set>
struct HostCornersInstances {
  static constexpr auto corners = &accumulate_tile_on_host<A, set, CornersForm, 1>;
};

}  // namespace prismfield::kernel
