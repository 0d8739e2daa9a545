// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/prisms.hpp>

#include "engine/engine.hpp"
#include "kernel/prepared_prism.hpp"
#include "kernel/tile.hpp"

namespace prismfield {

template <class Space>
inline constexpr bool is_device_space =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// On a device, host memory that it copies from and to during kernels; on a host, its own memory.
template <class Space>
using PinnedHost = std::conditional_t<is_device_space<Space>, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;

inline std::string view_label(const char* what) { return std::string("prismfield::") + what; }

/// Runs f, which allocates; throws AllocationFailure when f fails.
template <class F>
void allocate_or_fail(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    throw AllocationFailure(error.what());
  }
}

/// Columns of a block of prisms in a space's memory: west, east, south, north, bottom, top, density and, for magnetic
/// sets, the magnetisation along easting, northing, upward.
inline constexpr int density_column = 6;
constexpr std::size_t n_prism_columns(FieldSet set) { return has_magnetic(set) ? 10 : 7; }

/// The same columns of a block on the host.
inline std::vector<const std::vector<double>*> columns_of(const PrismBlock& block, FieldSet set) {
  std::vector<const std::vector<double>*> columns = {&block.west,   &block.east, &block.south,  &block.north,
                                                     &block.bottom, &block.top,  &block.density};
  if (has_magnetic(set)) {
    for (const std::vector<double>& component : block.magnetization) columns.push_back(&component);
  }
  return columns;
}

/// Copies columns in a new order.
template <class Memory>
struct OrderColumns {
  /// (column, n)
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> from;
  /// (place), number of the item
  Kokkos::View<const std::int64_t*, Memory> order;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t c = 0; c < from.extent(0); ++c) to(c, i) = from(c, order(i));
  }
};

/// A block of prisms in a space's memory, prepared for kernels of engines and operators. Geometry and densities are
/// separate: weigh() changes only densities. Instances are in staged_prisms.cpp.
template <class Space, class A>
class StagedPrisms {
public:
  using Memory = typename Space::memory_space;
  using Densities = Kokkos::View<const double*, Kokkos::LayoutStride, Memory>;

  /// Uses set, inside, origin, batch and truncation of `settings`.
  explicit StagedPrisms(const EngineSettings& settings)
      : m_set(settings.set),
        m_origin(sizeof(typename A::Real) == sizeof(float) ? settings.origin : std::array<double, 3>{}),
        m_batch(settings.batch),
        m_truncation(settings.truncation),
        m_tables(kernel::multipole_tables()),
        m_inside(kernel::inside_factors<A>(settings.inside)) {}

  [[nodiscard]] std::int64_t size() const noexcept { return m_size; }
  /// The shape of all prisms, where a kernel can have it as a constant; otherwise null.
  [[nodiscard]] const kernel::PrismShapeIn<A, Memory>* one_shape() const noexcept {
    return m_n_shapes == 1 ? &m_one_shape : nullptr;
  }

  /// Copies a block's columns to the space's memory, on a device during kernels that run; earlier upload() and weigh()
  /// must have ended. Throws AllocationFailure.
  void stage(const Space& space, const PrismBlock& block);

  /// The same for columns in the space's memory, (n_prism_columns, n); place i gets prism order(i).
  void take(const Space& space, const Kokkos::View<const double**, Kokkos::LayoutRight, Memory>& columns,
            const Kokkos::View<const std::int64_t*, Memory>& order);

  /// Prepares the staged block with its own densities, or amounts of 1 for magnetic sets. No work on the previous block
  /// may be pending. On a device the next block may be staged once this returns.
  void upload(const Space& space);

  /// Sets densities, kg/m3, or for magnetic sets amounts of the prisms' magnetisation, (size()).
  void weigh(const Space& space, const Densities& density);

  /// Frees the host memory of staging.
  void free_staging() {
    m_host_columns = {};
    m_host_shape_index = {};
    m_copies.reset();
  }

  /// Makes a launch use these prisms.
  void give_to(kernel::LaunchData<A, Memory>& data) const {
    data.shapes = m_shapes;
    data.far = m_far;
    data.near = m_near;
    data.weights = m_weights;
    data.magnetizations = m_magnetizations;
    data.inside = m_inside;
    data.reach = m_reach;
    data.prism_begin = 0;
    data.prism_end = m_size;
    data.near_in_double = m_near_in_double;
  }

  /// Bytes per prism, and per shape, in the space's memory.
  static constexpr std::int64_t prism_bytes(FieldSet set) {
    return static_cast<std::int64_t>(sizeof(kernel::FarPrismIn<A, Memory>) + sizeof(kernel::NearPrism<A>) +
                                     sizeof(kernel::PrismWeight<A>) +
                                     (has_magnetic(set) ? sizeof(kernel::PrismMagnetization<A>) : 0) +
                                     n_prism_columns(set) * sizeof(double) + sizeof(std::int32_t));
  }
  static constexpr auto shape_bytes = static_cast<std::int64_t>(sizeof(kernel::PrismShapeIn<A, Memory>));

private:
  using IndexPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  /// An instance of the space that copies during kernels of other instances. For 32,768 prisms an H100 waited 0.24 ms
  /// with pageable memory, 0.09 ms with pinned memory beside kernels of about 5 ms.
  const Space& space_of_copies(const Space& space);

  void allocate(std::size_t n);
  void allocate_staging();

  /// Finds which prisms of a block share a shape.
  void find_shapes_of_block();

  /// The same in the space's memory; each batch begins a shape unless all prisms have one.
  void find_shapes(const Space& space);
  void read_first_edge(const Space& space);

  void prepare_shapes(const Space& space);

  FieldSet m_set;
  std::array<double, 3> m_origin;
  std::int64_t m_batch;
  double m_truncation;
  kernel::MultipoleTables m_tables;
  Kokkos::Array<typename A::Real, 3> m_inside;
  /// on a device, once there is a block
  std::optional<Space> m_copies;
  std::int64_t m_size = 0;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_columns;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>> m_host_columns;
  Kokkos::View<std::int32_t*, Memory> m_shape_index;
  Kokkos::View<std::int32_t*, PinnedHost<Space>> m_host_shape_index;
  std::int64_t m_n_shapes = 0;
  Kokkos::Array<double, 3> m_first_edge{};
  bool m_near_in_double = false;
  /// on a device, where all prisms have one shape
  kernel::PrismShapeIn<A, Memory> m_one_shape{};
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> m_shapes;
  Kokkos::View<kernel::FarPrismIn<A, Memory>*, Memory> m_far;
  Kokkos::View<kernel::NearPrism<A>*, Memory> m_near;
  Kokkos::View<kernel::PrismWeight<A>*, Memory> m_weights;
  /// for magnetic sets; and an amount of 1
  Kokkos::View<kernel::PrismMagnetization<A>*, Memory> m_magnetizations;
  Kokkos::View<double*, Memory> m_one;
  Kokkos::View<kernel::BatchReach*, Memory> m_reach;
};

}  // namespace prismfield
