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

/// Host memory that a device copies from and to beside its kernels; a host's own memory otherwise.
template <class Space>
using PinnedHost = std::conditional_t<is_device_space<Space>, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;

inline std::string view_label(const char* what) { return std::string("prismfield::") + what; }

/// Runs f, which allocates, and throws AllocationFailure when it cannot.
template <class F>
void allocate_or_fail(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    throw AllocationFailure(error.what());
  }
}

/// Columns of a block of prisms in a space's memory: west, east, south, north, bottom, top, density and, of magnetic
/// sets, the magnetisation along easting, northing, upward.
inline constexpr int density_column = 6;
constexpr std::size_t n_prism_columns(FieldSet set) { return has_magnetic(set) ? 10 : 7; }

/// Of a block on the host.
inline std::vector<const std::vector<double>*> columns_of(const PrismBlock& block, FieldSet set) {
  std::vector<const std::vector<double>*> columns = {&block.west,   &block.east, &block.south,  &block.north,
                                                     &block.bottom, &block.top,  &block.density};
  if (has_magnetic(set)) {
    for (const std::vector<double>& component : block.magnetization) columns.push_back(&component);
  }
  return columns;
}

/// Puts items in an order.
template <class Memory>
struct OrderColumns {
  /// (column, n)
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> from;
  /// (place) the item
  Kokkos::View<const std::int64_t*, Memory> order;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t c = 0; c < from.extent(0); ++c) to(c, i) = from(c, order(i));
  }
};

/// A block of prisms in a space's memory, prepared for its kernels. Geometry and densities are apart: weigh() changes
/// densities and leaves all else as it is. Instances are in staged_prisms.cpp.
template <class Space, class A>
class StagedPrisms {
public:
  using Memory = typename Space::memory_space;
  using Densities = Kokkos::View<const double*, Kokkos::LayoutStride, Memory>;

  /// Of the settings set, inside, origin, batch and truncation.
  explicit StagedPrisms(const EngineSettings& settings)
      : m_set(settings.set),
        m_origin(sizeof(typename A::Real) == sizeof(float) ? settings.origin : std::array<double, 3>{}),
        m_batch(settings.batch),
        m_truncation(settings.truncation),
        m_tables(kernel::multipole_tables()),
        m_inside(kernel::inside_factors<A>(settings.inside)) {}

  [[nodiscard]] std::int64_t size() const noexcept { return m_size; }
  /// The shape that all prisms share, where a kernel may have it as a constant.
  [[nodiscard]] const kernel::PrismShapeIn<A, Memory>* one_shape() const noexcept {
    return m_n_shapes == 1 ? &m_one_shape : nullptr;
  }

  /// Copies a block's columns to the space's memory, on a device beside the kernels under way; only upload() and
  /// weigh() must be done. Throws AllocationFailure.
  void stage(const Space& space, const PrismBlock& block);

  /// The same of prisms whose columns are in the space's memory, (n_prism_columns, n): the prism of place i is
  /// order(i).
  void take(const Space& space, const Kokkos::View<const double**, Kokkos::LayoutRight, Memory>& columns,
            const Kokkos::View<const std::int64_t*, Memory>& order);

  /// Prepares what was staged, with the block's own densities, of magnetic sets with amounts of 1; nothing may use the
  /// block before it any more. On a device the next block may be staged when this returns.
  void upload(const Space& space);

  /// Gives the prisms these densities, kg/m3, or these amounts of what they have of magnetic sets, (size()).
  void weigh(const Space& space, const Densities& density);

  /// Frees what only staging needs, on the host.
  void free_staging() {
    m_host_columns = {};
    m_host_shape_index = {};
    m_copies.reset();
  }

  /// Makes a launch read these prisms.
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

  /// Bytes of a prism, and of a shape, in the space's memory.
  static constexpr std::int64_t prism_bytes(FieldSet set) {
    return static_cast<std::int64_t>(sizeof(kernel::FarPrismIn<A, Memory>) + sizeof(kernel::NearPrism<A>) +
                                     sizeof(kernel::PrismWeight<A>) +
                                     (has_magnetic(set) ? sizeof(kernel::PrismMagnetization<A>) : 0) +
                                     n_prism_columns(set) * sizeof(double) + sizeof(std::int32_t));
  }
  static constexpr auto shape_bytes = static_cast<std::int64_t>(sizeof(kernel::PrismShapeIn<A, Memory>));

private:
  using IndexPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  /// An instance of the space whose copies run beside the kernels of others: of 32,768 prisms an H100 waited 0.24 ms
  /// for pageable memory, and 0.09 ms for pinned memory run beside kernels of some 5 ms.
  const Space& space_of_copies(const Space& space);

  void allocate(std::size_t n);
  void allocate_staging();

  /// Which prisms of a block share a shape.
  void find_shapes_of_block();

  /// The same in the space's memory, where each batch begins a shape unless all prisms have one.
  void find_shapes(const Space& space);
  void read_first_edge(const Space& space);

  void prepare_shapes(const Space& space);

  FieldSet m_set;
  std::array<double, 3> m_origin;
  std::int64_t m_batch;
  double m_truncation;
  kernel::MultipoleTables m_tables;
  Kokkos::Array<typename A::Real, 3> m_inside;
  /// on a device, from the first block on
  std::optional<Space> m_copies;
  std::int64_t m_size = 0;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_columns;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>> m_host_columns;
  Kokkos::View<std::int32_t*, Memory> m_shape_index;
  Kokkos::View<std::int32_t*, PinnedHost<Space>> m_host_shape_index;
  std::int64_t m_n_shapes = 0;
  Kokkos::Array<double, 3> m_first_edge{};
  bool m_near_in_double = false;
  /// on a device, of prisms that all have one shape
  kernel::PrismShapeIn<A, Memory> m_one_shape{};
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> m_shapes;
  Kokkos::View<kernel::FarPrismIn<A, Memory>*, Memory> m_far;
  Kokkos::View<kernel::NearPrism<A>*, Memory> m_near;
  Kokkos::View<kernel::PrismWeight<A>*, Memory> m_weights;
  /// of magnetic sets, and an amount of 1
  Kokkos::View<kernel::PrismMagnetization<A>*, Memory> m_magnetizations;
  Kokkos::View<double*, Memory> m_one;
  Kokkos::View<kernel::BatchReach*, Memory> m_reach;
};

}  // namespace prismfield
