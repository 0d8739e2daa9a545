// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <prismfield/ranges.hpp>

#include "sensitivity/h_matrix.hpp"

/// A hierarchical matrix of floats on a host, and its products.
namespace prismfield {

/// A block of one field: `scale` times a dense matrix, (points, cells), or the sum of rank products of a column of u,
/// (rank, points), and a row of v, (rank, cells). The scale keeps floats away from 0.
struct FactorBlock {
  /// number of the field among those that were asked for
  std::int64_t field = 0;
  IndexRange points, cells;
  bool is_dense = false;
  std::int64_t rank = 0;
  double scale = 1;
  /// a dense block's values are in u
  std::vector<float> u, v;

  [[nodiscard]] std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(4 * (u.size() + v.size())); }
};

/// With sums side by side, in one order.
inline double dot_floats(const float* a, const double* b, std::int64_t n) noexcept {
  constexpr std::int64_t width = 16;
  double part[width] = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    for (std::int64_t k = 0; k < width; ++k) part[k] += static_cast<double>(a[i + k]) * b[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  for (std::int64_t k = 0; k < width; ++k) sum += part[k];
  return sum;
}

inline void add_scaled_floats(double factor, const float* x, double* y, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * static_cast<double>(x[i]);
}

/// Adds factors[l] times line l, which begin `stride` apart, to y, (n): four at a time, so that y is read less often.
inline void add_lines(const double* factors, const float* lines, std::int64_t n_lines, std::int64_t stride, double* y,
                      std::int64_t n) noexcept {
  std::int64_t l = 0;
  for (; l + 4 <= n_lines; l += 4) {
    const float* const a = lines + l * stride;
    const float* const b = a + stride;
    const float* const c = b + stride;
    const float* const d = c + stride;
    const double fa = factors[l], fb = factors[l + 1], fc = factors[l + 2], fd = factors[l + 3];
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] += (fa * static_cast<double>(a[i]) + fb * static_cast<double>(b[i])) +
              (fc * static_cast<double>(c[i]) + fd * static_cast<double>(d[i]));
    }
  }
  for (; l < n_lines; ++l) add_scaled_floats(factors[l], lines + l * stride, y, n);
}

/// Rows: field * points + point, both numbered as their owner does; the order of the clusters is inside only. Blocks
/// are first worked on one by one, then each leaf of points or cells adds what its blocks have for it, in their order.
template <class Space>
class CompressedMatrix {
public:
  CompressedMatrix() = default;
  /// The blocks must cover every field, point and cell once.
  CompressedMatrix(ClusterTree points, ClusterTree cells, std::int64_t n_fields, std::vector<FactorBlock> blocks)
      : m_points(std::move(points)),
        m_cells(std::move(cells)),
        m_n_fields(n_fields),
        m_blocks(std::move(blocks)),
        m_row_leaves(m_points, n_fields),
        m_column_leaves(m_cells, 1) {
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
      const FactorBlock& block = m_blocks[b];
      m_row_leaves.add(block.field, block.points, b);
      m_column_leaves.add(0, block.cells, b);
      m_first.push_back(m_buffer_size);
      m_buffer_size += block.is_dense ? block.points.size() : block.rank;
      m_first_square.push_back(m_n_squares);
      m_n_squares += block.is_dense ? 0 : block.rank * block.rank;
    }
    m_place.resize(m_points.order.size());
    for (std::size_t i = 0; i < m_place.size(); ++i) {
      m_place[static_cast<std::size_t>(m_points.order[i])] = static_cast<std::int64_t>(i);
    }
  }

  [[nodiscard]] std::int64_t n_points() const noexcept { return m_points.size(); }
  [[nodiscard]] std::int64_t n_cells() const noexcept { return m_cells.size(); }
  [[nodiscard]] const std::vector<FactorBlock>& blocks() const noexcept { return m_blocks; }
  [[nodiscard]] std::vector<FactorBlock>& blocks() noexcept { return m_blocks; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    std::int64_t sum = 0;
    for (const FactorBlock& block : m_blocks) sum += block.bytes();
    return sum;
  }

  /// fields = G density.
  void apply(const Space& space, const double* density, double* fields) {
    const std::vector<double> m = in_cluster_order(density, m_cells, 1);
    std::vector<double> parts(static_cast<std::size_t>(m_buffer_size));
    for_each(space, m_blocks.size(), [&](std::size_t b) {
      const FactorBlock& block = m_blocks[b];
      double* const out = parts.data() + m_first[b];
      const double* const in = m.data() + block.cells.begin;
      const std::int64_t n = block.cells.size();
      const std::vector<float>& lines = block.is_dense ? block.u : block.v;
      const std::int64_t n_lines = block.is_dense ? block.points.size() : block.rank;
      for (std::int64_t l = 0; l < n_lines; ++l) out[l] = block.scale * dot_floats(lines.data() + l * n, in, n);
    });
    std::vector<double> y(static_cast<std::size_t>(m_n_fields * n_points()));
    for_each(space, m_row_leaves.leaves.size(), [&](std::size_t q) {
      const Leaf& leaf = m_row_leaves.leaves[q];
      double* const to = y.data() + leaf.part * n_points() + leaf.range.begin;
      for (const std::size_t b : leaf.blocks) {
        const FactorBlock& block = m_blocks[b];
        const double* const part = parts.data() + m_first[b];
        const std::int64_t skipped = leaf.range.begin - block.points.begin;
        if (block.is_dense) {
          for (std::int64_t i = 0; i < leaf.range.size(); ++i) to[i] += part[skipped + i];
          continue;
        }
        add_lines(part, block.u.data() + skipped, block.rank, block.points.size(), to, leaf.range.size());
      }
    });
    out_of_cluster_order(y, m_points, m_n_fields, fields);
  }

  /// density = G' fields.
  void apply_transpose(const Space& space, const double* fields, double* density) {
    const std::vector<double> w = in_cluster_order(fields, m_points, m_n_fields);
    std::vector<double> parts(static_cast<std::size_t>(m_buffer_size));
    for_each(space, m_blocks.size(), [&](std::size_t b) {
      const FactorBlock& block = m_blocks[b];
      double* const out = parts.data() + m_first[b];
      const double* const in = w.data() + block.field * n_points() + block.points.begin;
      const std::int64_t n = block.points.size();
      if (block.is_dense) {
        for (std::int64_t i = 0; i < n; ++i) out[i] = block.scale * in[i];
        return;
      }
      for (std::int64_t l = 0; l < block.rank; ++l) out[l] = block.scale * dot_floats(block.u.data() + l * n, in, n);
    });
    std::vector<double> x(static_cast<std::size_t>(n_cells()));
    for_each(space, m_column_leaves.leaves.size(), [&](std::size_t q) {
      const Leaf& leaf = m_column_leaves.leaves[q];
      double* const to = x.data() + leaf.range.begin;
      for (const std::size_t b : leaf.blocks) {
        const FactorBlock& block = m_blocks[b];
        const double* const part = parts.data() + m_first[b];
        const std::int64_t skipped = leaf.range.begin - block.cells.begin;
        const std::vector<float>& lines = block.is_dense ? block.u : block.v;
        const std::int64_t n_lines = block.is_dense ? block.points.size() : block.rank;
        add_lines(part, lines.data() + skipped, n_lines, block.cells.size(), to, leaf.range.size());
      }
    });
    out_of_cluster_order(x, m_cells, 1, density);
  }

  /// The diagonal of G' diag(weights) G: of a block of low rank v_j' (u' diag(weights) u) v_j for cell j.
  void diagonal(const Space& space, const double* weights, double* diagonal) {
    const std::vector<double> w = in_cluster_order(weights, m_points, m_n_fields);
    std::vector<double> squares(static_cast<std::size_t>(m_n_squares));
    for_each(space, m_blocks.size(), [&](std::size_t b) { square_columns(b, w, squares.data() + m_first_square[b]); });
    std::vector<double> x(static_cast<std::size_t>(n_cells()));
    for_each(space, m_column_leaves.leaves.size(), [&](std::size_t q) {
      const Leaf& leaf = m_column_leaves.leaves[q];
      std::vector<double> line(static_cast<std::size_t>(leaf.range.size()));
      for (const std::size_t b : leaf.blocks) {
        add_squares(m_blocks[b], w, squares.data() + m_first_square[b], leaf.range, line, x.data() + leaf.range.begin);
      }
    });
    out_of_cluster_order(x, m_cells, 1, diagonal);
  }

  /// Row of one field and point, numbered as their owner does, (cells), in the owner's order of cells.
  void row(std::int64_t field, std::int64_t point, double* out) const {
    const std::int64_t at = m_place[static_cast<std::size_t>(point)];
    const Leaf& leaf = m_row_leaves.of(field, at);
    for (const std::size_t b : leaf.blocks) {
      const FactorBlock& block = m_blocks[b];
      const std::int64_t i = at - block.points.begin;
      const std::int64_t n = block.cells.size();
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        if (block.is_dense) {
          sum = static_cast<double>(block.u[static_cast<std::size_t>(i * n + j)]);
        } else {
          for (std::int64_t l = 0; l < block.rank; ++l) {
            sum += static_cast<double>(block.u[static_cast<std::size_t>(l * block.points.size() + i)]) *
                   static_cast<double>(block.v[static_cast<std::size_t>(l * n + j)]);
          }
        }
        out[m_cells.order[static_cast<std::size_t>(block.cells.begin + j)]] = block.scale * sum;
      }
    }
  }

  /// Calls f(i) for i < n by the space's threads, which take the next when they are done; waits.
  template <class F>
  static void for_each(const Space& space, std::size_t n, const F& f) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("prismfield::blocks", Policy(space, 0, static_cast<std::int64_t>(n), Kokkos::ChunkSize(1)),
                         [&f](std::int64_t i) { f(static_cast<std::size_t>(i)); });
    space.fence("prismfield: blocks done");
  }

private:
  /// Points of a field or cells, and the blocks that they are in.
  struct Leaf {
    std::int64_t part = 0;
    IndexRange range;
    std::vector<std::size_t> blocks;
  };

  /// The leaves of a tree, once for each of `parts` fields.
  struct Leaves {
    Leaves() = default;
    Leaves(const ClusterTree& tree, std::int64_t parts) {
      const std::vector<std::int64_t> found = tree.leaves();
      for (const std::int64_t c : found) begins.push_back(tree.clusters[static_cast<std::size_t>(c)].range.begin);
      for (std::int64_t part = 0; part < parts; ++part) {
        for (const std::int64_t c : found)
          leaves.push_back({part, tree.clusters[static_cast<std::size_t>(c)].range, {}});
      }
    }
    [[nodiscard]] std::size_t index(std::int64_t part, std::int64_t at) const {
      const auto after = std::upper_bound(begins.begin(), begins.end(), at);
      return static_cast<std::size_t>(part) * begins.size() + static_cast<std::size_t>(after - begins.begin()) - 1;
    }
    [[nodiscard]] const Leaf& of(std::int64_t part, std::int64_t at) const { return leaves[index(part, at)]; }
    void add(std::int64_t part, IndexRange range, std::size_t block) {
      std::size_t q = index(part, range.begin);
      for (; q < leaves.size() && leaves[q].part == part && leaves[q].range.begin < range.end; ++q) {
        leaves[q].blocks.push_back(block);
      }
    }
    std::vector<std::int64_t> begins;
    std::vector<Leaf> leaves;
  };

  static std::vector<double> in_cluster_order(const double* values, const ClusterTree& tree, std::int64_t parts) {
    const std::int64_t n = tree.size();
    std::vector<double> ordered(static_cast<std::size_t>(parts * n));
    for (std::int64_t part = 0; part < parts; ++part) {
      double* const to = ordered.data() + part * n;
      for (std::int64_t i = 0; i < n; ++i) to[i] = values[part * n + tree.order[static_cast<std::size_t>(i)]];
    }
    return ordered;
  }
  static void out_of_cluster_order(const std::vector<double>& ordered, const ClusterTree& tree, std::int64_t parts,
                                   double* values) {
    const std::int64_t n = tree.size();
    for (std::int64_t part = 0; part < parts; ++part) {
      const double* const from = ordered.data() + part * n;
      for (std::int64_t i = 0; i < n; ++i) values[part * n + tree.order[static_cast<std::size_t>(i)]] = from[i];
    }
  }

  /// u' diag(weights) u of a block of low rank, (rank, rank), with the square of its scale.
  void square_columns(std::size_t b, const std::vector<double>& w, double* out) const {
    const FactorBlock& block = m_blocks[b];
    if (block.is_dense) return;
    const std::int64_t n = block.points.size();
    const double* const weight = w.data() + block.field * n_points() + block.points.begin;
    std::vector<double> weighted(static_cast<std::size_t>(n));
    for (std::int64_t l = 0; l < block.rank; ++l) {
      const float* const u = block.u.data() + l * n;
      for (std::int64_t i = 0; i < n; ++i) {
        weighted[static_cast<std::size_t>(i)] = block.scale * block.scale * weight[i] * static_cast<double>(u[i]);
      }
      for (std::int64_t k = 0; k < block.rank; ++k) {
        out[l * block.rank + k] = dot_floats(block.u.data() + k * n, weighted.data(), n);
      }
    }
  }

  void add_squares(const FactorBlock& block, const std::vector<double>& w, const double* squares, IndexRange cells,
                   std::vector<double>& line, double* to) const {
    const std::int64_t skipped = cells.begin - block.cells.begin;
    const std::int64_t n = cells.size();
    if (block.is_dense) {
      const double* const weight = w.data() + block.field * n_points() + block.points.begin;
      for (std::int64_t i = 0; i < block.points.size(); ++i) {
        const double factor = block.scale * block.scale * weight[i];
        const float* const values = block.u.data() + i * block.cells.size() + skipped;
        for (std::int64_t j = 0; j < n; ++j) {
          to[j] += factor * static_cast<double>(values[j]) * static_cast<double>(values[j]);
        }
      }
      return;
    }
    for (std::int64_t l = 0; l < block.rank; ++l) {
      std::fill(line.begin(), line.end(), 0.0);
      add_lines(squares + l * block.rank, block.v.data() + skipped, block.rank, block.cells.size(), line.data(), n);
      const float* const v = block.v.data() + l * block.cells.size() + skipped;
      for (std::int64_t j = 0; j < n; ++j) to[j] += static_cast<double>(v[j]) * line[static_cast<std::size_t>(j)];
    }
  }

  ClusterTree m_points, m_cells;
  std::int64_t m_n_fields = 0;
  std::vector<FactorBlock> m_blocks;
  Leaves m_row_leaves, m_column_leaves;
  /// where each block's numbers of a product are, and those of a diagonal
  std::vector<std::int64_t> m_first, m_first_square;
  std::int64_t m_buffer_size = 0, m_n_squares = 0;
  /// of the owner's points in the order of the clusters
  std::vector<std::int64_t> m_place;
};

}  // namespace prismfield
