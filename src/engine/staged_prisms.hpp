// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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

/// Prepares the shapes of a chunk.
template <class A, class Memory>
struct PrepareShapes {
  kernel::MultipoleTables tables;
  double truncation;
  /// (n_shapes, 3) edge lengths, metres
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> edges;
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> shapes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double edge[3] = {edges(i, 0), edges(i, 1), edges(i, 2)};
    kernel::prepare_shape<A>(tables, edge, shapes(i), truncation);
  }
};

/// Prepares the prisms of a chunk.
template <class A, class Memory>
struct PreparePrisms {
  Kokkos::Array<double, 3> origin;
  /// (7, n): west, east, south, north, bottom, top, density
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> columns;
  Kokkos::View<std::int32_t*, Memory> shape_index;
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> shapes;
  Kokkos::View<kernel::FarPrismIn<A, Memory>*, Memory> far;
  Kokkos::View<kernel::NearPrism<A>*, Memory> near;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double face[3][2] = {
        {columns(0, i), columns(1, i)}, {columns(2, i), columns(3, i)}, {columns(4, i), columns(5, i)}};
    const double from[3] = {origin[0], origin[1], origin[2]};
    const std::int32_t s = shape_index(i);
    kernel::prepare_prism<A>(shapes(s), s, face, from, far(i), near(i));
  }
};

/// Prepares the weights of a chunk's prisms.
template <class A, class Memory>
struct PrepareWeights {
  /// (7, n): west, east, south, north, bottom, top, density
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> columns;
  /// (n), kg/m3
  Kokkos::View<const double*, Kokkos::LayoutStride, Memory> density;
  Kokkos::View<std::int32_t*, Memory> shape_index;
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> shapes;
  Kokkos::View<kernel::PrismWeight<A>*, Memory> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double face[3][2] = {
        {columns(0, i), columns(1, i)}, {columns(2, i), columns(3, i)}, {columns(4, i), columns(5, i)}};
    kernel::prepare_weight<A>(shapes(shape_index(i)), face, density(i), weights(i));
  }
};

/// Prepares the reach of a chunk's batches, each by a team: 0.06 instead of 0.99 ms for the seven spheres on an H100.
template <class A, class Space>
struct PrepareReach {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int team_size = 32;
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> shapes;
  Kokkos::View<kernel::FarPrismIn<A, Memory>*, Memory> far;
  std::int64_t n_prisms;
  std::int64_t batch;
  Kokkos::View<kernel::BatchReach*, Memory> reach;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t b = team.league_rank();
    const std::int64_t end = Kokkos::min((b + 1) * batch, n_prisms);
    kernel::BatchReach all;
    kernel::prepare_reach<A>(shapes, far, b * batch + team.team_rank(), end, team.team_size(), all);
    for (int d = 0; d < 3; ++d) {
      team.team_reduce(Kokkos::Min<double>(all.low[d]));
      team.team_reduce(Kokkos::Max<double>(all.high[d]));
    }
    team.team_reduce(Kokkos::Max<double>(all.squared));
    Kokkos::single(Kokkos::PerTeam(team), [&]() { reach(b) = all; });
  }
};

/// A block of prisms in a space's memory, prepared for its kernels. Geometry and densities are apart: weigh() changes
/// densities and leaves all else as it is.
template <class Space, class A>
class StagedPrisms {
public:
  using Memory = typename Space::memory_space;
  using Densities = Kokkos::View<const double*, Kokkos::LayoutStride, Memory>;

  /// Of the settings origin, batch and truncation.
  explicit StagedPrisms(const EngineSettings& settings)
      : m_origin(sizeof(typename A::Coordinate) == sizeof(float) ? settings.origin : std::array<double, 3>{}),
        m_batch(settings.batch),
        m_truncation(settings.truncation),
        m_tables(kernel::multipole_tables()) {}

  [[nodiscard]] std::int64_t size() const noexcept { return m_size; }
  /// The shape that all prisms share, where a kernel may have it as a constant.
  [[nodiscard]] const kernel::PrismShapeIn<A, Memory>* one_shape() const noexcept {
    return m_edges.size() == 1 ? &m_one_shape : nullptr;
  }

  /// Copies a block's columns to the space's memory, on a device beside the kernels under way; only upload() and
  /// weigh() must be done. Throws AllocationFailure.
  void stage(const Space& space, const PrismBlock& block) {
    m_size = block.size();
    const auto n = static_cast<std::size_t>(m_size);
    if (m_host_columns.extent(1) < n) allocate(n);
    // on a host the staging area is what the kernels read
    if constexpr (!is_device_space<Space>) space.fence("prismfield: staging area free");
    const std::vector<double>* columns[7] = {&block.west,   &block.east, &block.south,  &block.north,
                                             &block.bottom, &block.top,  &block.density};
    for (std::size_t c = 0; c < 7; ++c) std::copy_n(columns[c]->data(), n, &m_host_columns(c, 0));
    find_shapes(block);
    const Space& copies = space_of_copies(space);
    Kokkos::deep_copy(copies, m_columns, m_host_columns);
    Kokkos::deep_copy(copies, m_shape_index, m_host_shape_index);
    copies.fence("prismfield: block copied");
  }

  /// Prepares what was staged, with the block's own densities; nothing may use the block before it any more. On a
  /// device the next block may be staged when this returns.
  void upload(const Space& space) {
    upload_shapes(space);
    prepare_shapes(space);
    Kokkos::parallel_for(
        "prismfield::prepare_prisms", IndexPolicy(space, 0, m_size),
        PreparePrisms<A, Memory>{
            {m_origin[0], m_origin[1], m_origin[2]}, m_columns, m_shape_index, m_shapes, m_far, m_near});
    weigh(space, Kokkos::subview(m_columns, 6, std::make_pair(std::int64_t{0}, m_size)));
    if constexpr (is_device_space<Space>) {
      using Reach = PrepareReach<A, Space>;
      const auto n_batches = static_cast<int>((m_size + m_batch - 1) / m_batch);
      Kokkos::parallel_for("prismfield::prepare_reach", typename Reach::Policy(space, n_batches, Reach::team_size),
                           Reach{m_shapes, m_far, m_size, m_batch, m_reach});
      space.fence("prismfield: block prepared");
    }
  }

  /// Gives the prisms these densities, kg/m3, (size()).
  void weigh(const Space& space, const Densities& density) {
    Kokkos::parallel_for("prismfield::prepare_weights", IndexPolicy(space, 0, m_size),
                         PrepareWeights<A, Memory>{m_columns, density, m_shape_index, m_shapes, m_weights});
  }

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
    data.reach = m_reach;
    data.prism_begin = 0;
    data.prism_end = m_size;
    data.near_in_double = m_near_in_double;
  }

  /// Bytes of a prism, and of a shape, in the space's memory.
  static constexpr std::int64_t prism_bytes =
      static_cast<std::int64_t>(sizeof(kernel::FarPrismIn<A, Memory>) + sizeof(kernel::NearPrism<A>) +
                                sizeof(kernel::PrismWeight<A>)) +
      7 * 8 + 4;
  static constexpr std::int64_t shape_bytes =
      static_cast<std::int64_t>(sizeof(kernel::PrismShapeIn<A, Memory>)) + 3 * 8;

private:
  using IndexPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  /// An instance of the space whose copies run beside the kernels of others: of 32,768 prisms an H100 waited 0.24 ms
  /// for pageable memory, and 0.09 ms for pinned memory run beside kernels of some 5 ms.
  const Space& space_of_copies(const Space& space) {
    if constexpr (is_device_space<Space>) {
      if (!m_copies) m_copies = Kokkos::Experimental::partition_space(space, 1).front();
      return *m_copies;
    } else {
      return space;
    }
  }

  static bool alike(double a, double b) { return std::abs(a - b) <= kernel::shape_tolerance * b; }

  template <class View>
  static void renew(View& view, const char* what, std::size_t n) {
    view = View();
    view = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label(what)), n);
  }

  void allocate(std::size_t n) {
    allocate_or_fail([&] {
      // whose length says what there is room for, last
      m_host_columns = {};
      m_columns = decltype(m_columns)();
      m_columns = decltype(m_columns)(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("columns")), 7, n);
      renew(m_shape_index, "shape_index", n);
      renew(m_far, "far", n);
      renew(m_near, "near", n);
      renew(m_weights, "weights", n);
      if constexpr (is_device_space<Space>) {
        const auto batch = static_cast<std::size_t>(m_batch);
        renew(m_reach, "reach", (n + batch - 1) / batch);
      }
      m_host_shape_index = Kokkos::create_mirror_view(PinnedHost<Space>(), m_shape_index);
      m_host_columns = Kokkos::create_mirror_view(PinnedHost<Space>(), m_columns);
    });
  }

  /// Which prisms share a shape.
  void find_shapes(const PrismBlock& block) {
    m_edges.clear();
    m_near_in_double = false;
    std::array<double, 3> last{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(m_size); ++i) {
      const std::array<double, 3> edge = {block.east[i] - block.west[i], block.north[i] - block.south[i],
                                          block.top[i] - block.bottom[i]};
      const bool same =
          !m_edges.empty() && alike(edge[0], last[0]) && alike(edge[1], last[1]) && alike(edge[2], last[2]);
      if (!same) {
        m_edges.push_back(edge);
        const auto [shortest, longest] = std::minmax_element(edge.begin(), edge.end());
        if (kernel::is_near_in_double<A>(*longest, *shortest)) m_near_in_double = true;
        last = edge;
      }
      m_host_shape_index(i) = static_cast<std::int32_t>(m_edges.size() - 1);
    }
  }

  void upload_shapes(const Space& space) {
    const std::size_t n_shapes = m_edges.size();
    if (m_device_edges.extent(0) < n_shapes) {
      allocate_or_fail([&] {
        renew(m_shapes, "shapes", n_shapes);
        renew(m_device_edges, "edges", n_shapes);
      });
    }
    const Kokkos::View<const double* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> edges(
        m_edges.front().data(), n_shapes);
    Kokkos::deep_copy(space, Kokkos::subview(m_device_edges, std::make_pair(std::size_t{0}, n_shapes), Kokkos::ALL),
                      edges);
  }

  void prepare_shapes(const Space& space) {
    const auto n_shapes = static_cast<std::int64_t>(m_edges.size());
    if (is_device_space<Space> && n_shapes == 1) {
      // the far kernel has this very shape as a constant: both passes must draw the same line between far and near
      kernel::prepare_shape<A>(m_tables, {m_edges[0][0], m_edges[0][1], m_edges[0][2]}, m_one_shape, m_truncation);
      const Kokkos::View<const kernel::PrismShapeIn<A, Memory>*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> shape(
          &m_one_shape, 1);
      Kokkos::deep_copy(space, Kokkos::subview(m_shapes, std::make_pair(std::size_t{0}, std::size_t{1})), shape);
    } else {
      Kokkos::parallel_for("prismfield::prepare_shapes", IndexPolicy(space, 0, n_shapes),
                           PrepareShapes<A, Memory>{m_tables, m_truncation, m_device_edges, m_shapes});
    }
  }

  std::array<double, 3> m_origin;
  std::int64_t m_batch;
  double m_truncation;
  kernel::MultipoleTables m_tables;
  /// on a device, from the first block on
  std::optional<Space> m_copies;
  std::int64_t m_size = 0;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_columns;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>> m_host_columns;
  Kokkos::View<std::int32_t*, Memory> m_shape_index;
  Kokkos::View<std::int32_t*, PinnedHost<Space>> m_host_shape_index;
  std::vector<std::array<double, 3>> m_edges;
  bool m_near_in_double = false;
  /// on a device, of prisms that all have one shape
  kernel::PrismShapeIn<A, Memory> m_one_shape{};
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> m_device_edges;
  Kokkos::View<kernel::PrismShapeIn<A, Memory>*, Memory> m_shapes;
  Kokkos::View<kernel::FarPrismIn<A, Memory>*, Memory> m_far;
  Kokkos::View<kernel::NearPrism<A>*, Memory> m_near;
  Kokkos::View<kernel::PrismWeight<A>*, Memory> m_weights;
  Kokkos::View<kernel::BatchReach*, Memory> m_reach;
};

}  // namespace prismfield
