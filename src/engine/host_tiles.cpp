// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// What Serial and OpenMP compute, compiled once for both: every set of fields in both precisions.
#define PRISMFIELD_HOST_LANES
#include "kernel/host_tile.hpp"

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

/// Taking the addresses of functions instantiates them.
template <class A, FieldSet set>
struct OfSet {
  static constexpr auto tile = &accumulate_tile_on_host<A, set, ChooseForm<Pass::all>, host_width<A>>;
  static constexpr auto pairs = &pairs_of_item_on_host<A, set>;
};
template <class A, FieldSet set>
struct OfCorners {
  static constexpr auto tile = &accumulate_tile_on_host<A, set, CornersForm, 1>;
};

#define PRISMFIELD_INSTANCES(A)                            \
  template struct OfSet<A, FieldSet::gz>;                  \
  template struct OfSet<A, FieldSet::vector>;              \
  template struct OfSet<A, FieldSet::tensor>;              \
  template struct OfSet<A, FieldSet::vector_tensor>;       \
  template struct OfSet<A, FieldSet::all>;                 \
  template struct OfSet<A, FieldSet::magnetic>;            \
  template struct OfSet<A, FieldSet::magnetic_gradient>;   \
  template struct OfCorners<A, corners_set(FieldSet::gz)>; \
  template struct OfCorners<A, corners_set(FieldSet::magnetic)>;
PRISMFIELD_INSTANCES(DoubleArithmetic)
PRISMFIELD_INSTANCES(SingleArithmetic)

}  // namespace prismfield::kernel
