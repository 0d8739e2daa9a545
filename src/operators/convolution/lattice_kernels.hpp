// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>

#include "engine/operator_engine.hpp"
#include "engine/staged_prisms.hpp"
#include "engine/with_arithmetic.hpp"
#include "operators/convolution/convolution_plan.hpp"
#include "operators/convolution/fft.hpp"

namespace prismfield {

/// Numbers become their squares.
template <class Memory>
struct SquareNumbers {
  Kokkos::View<double*, Memory> numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { numbers(i) *= numbers(i); }
};

/// The transformed kernels of a convolution: the fields of one cell of a layer, by the direct method, at every offset
/// that a cell and a point of a plane can have. They hold the gravitational constant, and the scale of transforms there
/// and back. As many as the plan says are kept from their first use on.
template <class Space>
class LatticeKernels {
public:
  using Memory = typename Space::memory_space;
  using Batch = typename Fft<Space>::Batch;

  /// `fft` and `plan` must outlive it. Throws AllocationFailure.
  LatticeKernels(const Fft<Space>& fft, const ConvolutionPlan& plan)
      : m_fft(fft),
        m_plan(plan),
        m_engine(make_operator_engine<Space, kernel::DoubleArithmetic>(plan.engine)),
        m_kept(static_cast<std::size_t>(plan.layout->n_planes() * n_blocks())),
        m_layers_to_keep(plan.buffers.kept_layers) {}

  /// Layers that are worked on together.
  [[nodiscard]] std::int64_t n_blocks() const noexcept {
    const std::int64_t at_once = m_plan.buffers.layers_at_once;
    return (m_plan.layout->n_layers() + at_once - 1) / at_once;
  }
  [[nodiscard]] IndexRange layers_of(std::int64_t block) const noexcept {
    const std::int64_t begin = block * m_plan.buffers.layers_at_once;
    return {begin, std::min(begin + m_plan.buffers.layers_at_once, m_plan.layout->n_layers())};
  }

  /// Frequencies, (layer of the block and field, shape.reals()), of a plane; until the next call. Throws
  /// AllocationFailure.
  Batch of(const Space& space, std::int64_t plane, std::int64_t block) {
    Batch& kept = m_kept[static_cast<std::size_t>(plane * n_blocks() + block)];
    if (kept.size() > 0) return kept;
    const bool keeps = layers_of(block).size() <= m_layers_to_keep && has_room(kept, block);
    if (keeps) m_layers_to_keep -= layers_of(block).size();
    const Batch kernels = keeps ? kept : scratch(block);
    make(space, plane, block, false, kernels);
    return kernels;
  }
  /// Of the squares of kernels; never kept.
  Batch squares(const Space& space, std::int64_t plane, std::int64_t block) {
    const Batch kernels = scratch(block);
    make(space, plane, block, true, kernels);
    return kernels;
  }

  /// What is kept, and what works, bytes.
  [[nodiscard]] std::int64_t kept_bytes() const noexcept {
    std::int64_t bytes = 0;
    for (const Batch& kernels : m_kept) bytes += static_cast<std::int64_t>(kernels.size() * sizeof(double));
    return bytes;
  }
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return static_cast<std::int64_t>(m_scratch.size() * sizeof(double));
  }
  /// For entries: points and prisms as they are.
  [[nodiscard]] OperatorEngine<Space>& engine() noexcept { return *m_engine; }

private:
  using Entries = typename OperatorEngine<Space>::Entries;

  [[nodiscard]] std::size_t transforms_of(std::int64_t block) const noexcept {
    return static_cast<std::size_t>(layers_of(block).size() * m_plan.fields.size());
  }
  void allocate(Batch& batch, std::int64_t block) const {
    allocate_or_fail([&] {
      batch = Batch(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("lattice_kernels")),
                    transforms_of(block), static_cast<std::size_t>(m_plan.layout->shape.reals()));
    });
  }
  /// False, and none of any other block either, where memory is shorter than planned.
  bool has_room(Batch& kept, std::int64_t block) {
    try {
      allocate(kept, block);
    } catch (const AllocationFailure&) {
      m_layers_to_keep = 0;
    }
    return kept.size() > 0;
  }
  Batch scratch(std::int64_t block) {
    if (m_scratch.size() == 0) allocate(m_scratch, 0);
    return Kokkos::subview(m_scratch, std::make_pair(std::size_t{0}, transforms_of(block)), Kokkos::ALL);
  }

  void make(const Space& space, std::int64_t plane, std::int64_t block, bool squared, const Batch& kernels) {
    const double transforms = static_cast<double>(m_plan.layout->shape.rows * m_plan.layout->shape.columns);
    const double scale = m_plan.constant / (squared ? std::sqrt(transforms) : transforms);
    const auto of_rows = static_cast<std::size_t>(rows().size() * m_plan.layout->shape.pitch());
    const auto padding = Kokkos::subview(kernels, Kokkos::ALL, std::make_pair(of_rows, kernels.extent(1)));
    if (padding.size() > 0) Kokkos::deep_copy(space, padding, 0.0);
    compute(space, plane, block, scale, kernels);
    if (squared) {
      const Kokkos::View<double*, Memory> numbers(kernels.data(), kernels.size());
      Kokkos::parallel_for("prismfield::square_kernels",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, numbers.extent(0)),
                           SquareNumbers<Memory>{numbers});
    }
    m_fft.forward(space, kernels, rows());
  }
  [[nodiscard]] IndexRange rows() const noexcept { return m_plan.layout->kernel_rows(); }

  /// Writes `scale` times the fields of a cell of each layer, with its south-west corner at the origin. Rows are taken
  /// with what pads them, so that offsets follow one another in memory: no product reads sums of these.
  void compute(const Space& space, std::int64_t plane, std::int64_t block, double scale, const Batch& kernels) {
    m_engine->stage(space, 0, cells_of(layers_of(block)), false);
    const FftShape& shape = m_plan.layout->shape;
    const auto n_layers = static_cast<std::size_t>(layers_of(block).size());
    const auto n_fields = static_cast<std::size_t>(m_plan.fields.size());
    const auto reals = static_cast<std::size_t>(shape.reals());
    const std::int64_t end = rows().size() * shape.pitch();
    for (std::int64_t first = 0; first < end; first += m_plan.engine.tile_points) {
      const std::int64_t n = std::min(m_plan.engine.tile_points, end - first);
      place_offsets(plane, first, n);
      m_engine->start_tile(space, m_offsets[0].data(), m_offsets[1].data(), m_offsets[2].data(), n);
      m_engine->store_entries(
          space, 0, scale,
          Entries(kernels.data() + first,
                  Kokkos::LayoutStride(n_fields, reals, static_cast<std::size_t>(n), 1, n_layers, n_fields * reals)));
    }
  }
  [[nodiscard]] PrismBlock cells_of(IndexRange layers) const {
    const ConvolutionLayout& layout = *m_plan.layout;
    const auto n = static_cast<std::size_t>(layers.size());
    PrismBlock cells;
    cells.west.assign(n, 0.0);
    cells.south.assign(n, 0.0);
    cells.east.assign(n, layout.edge[0]);
    cells.north.assign(n, layout.edge[1]);
    cells.density.assign(n, 1.0);
    for (std::int64_t layer = layers.begin; layer < layers.end; ++layer) {
      const auto [bottom, top] = layout.layers[static_cast<std::size_t>(layer)];
      cells.bottom.push_back(bottom);
      cells.top.push_back(top);
      if (layout.magnetizations.empty()) continue;
      const auto& of_layer = layout.magnetizations[static_cast<std::size_t>(layer / layout.n_layers_of_prisms())];
      for (std::size_t d = 0; d < 3; ++d) cells.magnetization[d].push_back(of_layer[d]);
    }
    return cells;
  }
  void place_offsets(std::int64_t of_plane, std::int64_t begin, std::int64_t n) {
    const ConvolutionLayout& layout = *m_plan.layout;
    const ConvolutionPlane& plane = layout.planes[static_cast<std::size_t>(of_plane)];
    const std::int64_t pitch = layout.shape.pitch();
    const std::int64_t west = layout.first[0] - (layout.cells[0] - 1), south = layout.first[1] - (layout.cells[1] - 1);
    for (std::vector<double>& column : m_offsets) column.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t row = (begin + i) / pitch, column = (begin + i) % pitch;
      m_offsets[0][at] = (static_cast<double>(west + column) + plane.easting) * layout.edge[0];
      m_offsets[1][at] = (static_cast<double>(south + row) + plane.northing) * layout.edge[1];
      m_offsets[2][at] = plane.upward;
    }
  }

  const Fft<Space>& m_fft;
  const ConvolutionPlan& m_plan;
  std::unique_ptr<OperatorEngine<Space>> m_engine;
  /// (plane, block); empty: not kept, or not yet
  std::vector<Batch> m_kept;
  std::int64_t m_layers_to_keep;
  Batch m_scratch;
  /// of a tile: easting, northing, upward, metres
  std::array<std::vector<double>, 3> m_offsets;
};

}  // namespace prismfield
