// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include "engine/launch.hpp"
#include "kernel/pair_sums.hpp"

/// Launches over pairs of a point and a prism that are not summed over the prisms: products with the transposed
/// operator, its squares, its entries (kernel/pair_sums.hpp). Parallel over prisms, and over parts of the points where
/// prisms are few; every sum has one fixed order, whatever the number of threads.
namespace prismfield {

/// Launches the kernels over the pairs of a tile of points and a block of prisms. Instances are in pair_launch.cpp.
template <class Space, class A>
class PairLauncher {
public:
  using Memory = typename Space::memory_space;
  using Densities = Kokkos::View<double*, Memory>;

  explicit PairLauncher(const EngineSettings& settings) : m_settings(settings) {}

  /// Adds `scale` times the prisms' products or squares (`pairs.sink`) to `out`, (prism of the launch). Throws
  /// AllocationFailure.
  void add_sums(const Space& space, const kernel::LaunchData<A, Memory>& data,
                const kernel::PrismShapeIn<A, Memory>* one_shape, kernel::PairData<A, Memory>& pairs, double scale,
                const Densities& out);

  /// Writes `pairs.scale` times the fields of every pair to `pairs.entries`.
  void store_entries(const Space& space, const kernel::LaunchData<A, Memory>& data,
                     const kernel::PrismShapeIn<A, Memory>* one_shape, kernel::PairData<A, Memory>& pairs);

private:
  void launch(const Space& space, const kernel::LaunchData<A, Memory>& data,
              const kernel::PrismShapeIn<A, Memory>* one_shape, const kernel::PairData<A, Memory>& pairs) const;
  template <FieldSet set>
  void launch_set(const Space& space, const kernel::LaunchData<A, Memory>& data,
                  const kernel::PrismShapeIn<A, Memory>* one_shape, const kernel::PairData<A, Memory>& pairs) const;
  void launch_on_host(const Space& space, const kernel::LaunchData<A, Memory>& data,
                      const kernel::PairData<A, Memory>& pairs) const requires(!is_device_space<Space>);
  template <FieldSet set, class Kernel, class Shapes>
  void launch_on_device(const Space& space, const char* name, const kernel::LaunchData<A, Memory>& data,
                        const Shapes& shapes, const kernel::PairData<A, Memory>& pairs) const;

  EngineSettings m_settings;
  /// the sums of parts of the points, of the largest launch so far
  Kokkos::View<double*, Memory> m_sums;
};

}  // namespace prismfield
