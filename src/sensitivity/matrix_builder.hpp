// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "sensitivity/block_entries.hpp"
#include "sensitivity/compressed_matrix.hpp"
#include "sensitivity/h_matrix.hpp"
#include "sensitivity/low_rank.hpp"

namespace prismfield {

/// Moves values, (n), to floats that are `scale` times smaller, a power of two.
inline std::vector<float> scaled_floats(const double* values, std::size_t n, double scale) {
  std::vector<float> floats(n);
  for (std::size_t i = 0; i < n; ++i) floats[i] = static_cast<float>(values[i] / scale);
  return floats;
}

/// The power of two that makes the largest of these values about 1; 1 where all are zero.
inline double scale_of(const double* values, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

/// Fills the blocks of a matrix, on all threads of a host space.
template <class Space>
class MatrixBuilder {
public:
  /// All must outlive it; `kernel` may be null where there are no blocks.
  MatrixBuilder(const EntryKernel<Space>* kernel, const ClusterTree& points, const ClusterTree& cells)
      : m_kernel(kernel), m_points(points), m_cells(cells), m_places(cut_into_blocks(points, cells)) {}

  /// Fills the blocks of some fields, (block, field): those whose tolerance, relative to a block's Frobenius norm, is
  /// above 0. Returns the pairs of a point and a cell that were computed.
  std::int64_t fill(const Space& space, const std::vector<double>& tolerance, std::vector<FactorBlock>& blocks) const {
    blocks.resize(m_places.size() * tolerance.size());
    std::atomic<std::int64_t> evaluated{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    CompressedMatrix<Space>::for_each(space, m_places.size(), [&](std::size_t b) {
      // no exception may leave a thread
      try {
        if (!failed) evaluated += fill_block(m_places[b], tolerance, blocks.data() + b * tolerance.size());
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    return evaluated;
  }

private:
  std::int64_t fill_block(const BlockPlace& place, const std::vector<double>& tolerance, FactorBlock* blocks) const {
    const IndexRange points = m_points.clusters[static_cast<std::size_t>(place.points)].range;
    const IndexRange cells = m_cells.clusters[static_cast<std::size_t>(place.cells)].range;
    BlockLines<Space> lines(*m_kernel, points, cells);
    for (std::size_t f = 0; f < tolerance.size(); ++f) {
      if (!(tolerance[f] > 0)) continue;
      FactorBlock block;
      block.field = static_cast<std::int64_t>(f);
      block.points = points;
      block.cells = cells;
      if (!place.admissible || !compress(lines, tolerance[f], block)) fill_dense(lines, block);
      blocks[f] = std::move(block);
    }
    return lines.evaluated();
  }

  /// False where low rank takes no less memory.
  static bool compress(BlockLines<Space>& lines, double tolerance, FactorBlock& block) {
    typename BlockLines<Space>::OfField of_field(lines, block.field);
    LowRank factors;
    // the crosses leave less than the singular values may
    if (!approximate_by_crosses(of_field, 0.3 * tolerance, factors)) return false;
    const std::int64_t rows = block.points.size();
    const std::int64_t columns = block.cells.size();
    recompress(rows, columns, 0.9 * tolerance, factors);
    if (factors.rank * (rows + columns) >= rows * columns) return false;
    block.rank = factors.rank;
    block.scale = scale_of(factors.u.data(), factors.u.size());
    block.u = scaled_floats(factors.u.data(), factors.u.size(), block.scale);
    block.v = scaled_floats(factors.v.data(), factors.v.size(), 1.0);
    return true;
  }

  static void fill_dense(BlockLines<Space>& lines, FactorBlock& block) {
    const auto n = static_cast<std::size_t>(block.points.size() * block.cells.size());
    const double* const values = lines.all() + static_cast<std::size_t>(block.field) * n;
    block.is_dense = true;
    block.scale = scale_of(values, n);
    block.u = scaled_floats(values, n, block.scale);
  }

  const EntryKernel<Space>* m_kernel;
  const ClusterTree& m_points;
  const ClusterTree& m_cells;
  std::vector<BlockPlace> m_places;
};

}  // namespace prismfield
