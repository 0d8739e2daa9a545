// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/pair_sums.hpp"

namespace prismfield::kernel {

inline namespace PRISMFIELD_LANES {

/// Lanes of a host: of one SIMD vector.
template <class A>
inline constexpr int host_width = native_lanes<typename A::Real>;

template <class T, int W>
using HostVector = HostLane<T, W>;

}  // namespace PRISMFIELD_LANES

/// accumulate_tile on a host, compiled once for Serial and OpenMP (engine/host_tiles.cpp). W: host_width, or 1
/// for CornersForm.
template <class A, FieldSet set, class Kernel, int W>
void accumulate_tile_on_host(const LaunchData<A, Kokkos::HostSpace>& data, std::int64_t slot, std::int64_t first_group,
                             std::int64_t last_group, FormCounts& counts);

/// One of them.
template <class A>
using HostTile = void (*)(const LaunchData<A, Kokkos::HostSpace>&, std::int64_t, std::int64_t, std::int64_t,
                          FormCounts&);

/// pairs_of_item on a host, compiled once in the same way.
template <class A, FieldSet set>
void pairs_of_item_on_host(const LaunchData<A, Kokkos::HostSpace>& data, const PairData<A, Kokkos::HostSpace>& pairs,
                           std::int64_t begin, std::int64_t end, std::int64_t part, std::int64_t first,
                           std::int64_t last);
template <class A>
using HostPairsOfItem = void (*)(const LaunchData<A, Kokkos::HostSpace>&, const PairData<A, Kokkos::HostSpace>&,
                                 std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

}  // namespace prismfield::kernel
