// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/tile.hpp"

namespace prismfield::kernel {

inline namespace PRISMFIELD_LANES {

/// Lanes of a host: SIMD vectors as wide as a vector of coordinates; one float per coordinate in mixed precision.
template <class A>
inline constexpr int host_width = native_lanes<typename A::Coordinate>;

template <class T, int W>
using HostVector = HostLane<T, W>;

}  // namespace PRISMFIELD_LANES

/// accumulate_tile on a host, compiled once for Serial and OpenMP (engine/instances/host_*.cpp). W: host_width or 1.
template <class A, FieldSet set, class Kernel, int W>
void accumulate_tile_on_host(const LaunchData<A, Kokkos::HostSpace>& data, std::int64_t slot, std::int64_t first_group,
                             std::int64_t last_group, FormCounts& counts);

}  // namespace prismfield::kernel
