// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <prismfield/ranges.hpp>

#include "base/interrupt.hpp"
#include "operators/compressed/h_matrix.hpp"
#include "operators/stored/host_lanes.hpp"

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

  /// Lowers the rank to the smallest whose error is at most `tolerance` times the block's norm. Columns of u are
  /// orthogonal, the largest first. Lines stay, for another tolerance, until drop_lines().
  void cut(double tolerance) {
    if (is_dense) return;
    const std::int64_t n = points.size();
    std::vector<double> left_out(1, 0.0);
    rank = static_cast<std::int64_t>(u.size()) / n;
    for (std::int64_t l = rank - 1; l >= 0; --l) {
      double sum = left_out.back();
      for (std::int64_t i = l * n; i < (l + 1) * n; ++i) {
        const auto value = static_cast<double>(u[static_cast<std::size_t>(i)]);
        sum += value * value;
      }
      left_out.push_back(sum);
    }
    const double most = tolerance * tolerance * left_out.back();
    for (std::size_t k = 1; k < left_out.size() && left_out[k] <= most; ++k) --rank;
  }
  /// Drops the lines beyond the rank.
  void drop_lines() {
    if (is_dense) return;
    u.resize(static_cast<std::size_t>(rank * points.size()));
    v.resize(static_cast<std::size_t>(rank * cells.size()));
    u.shrink_to_fit();
    v.shrink_to_fit();
  }
};

/// Scalar products of lines with x: out[l] = factor * sum over i < n of line l, which begins l * stride after the
/// first. Four lines at a time, so that x is read less often. Not inlined, here and below: products of all host spaces
/// have the same bits where they run the same code.
[[gnu::noinline]] inline void dot_lines(double factor, const float* lines, std::int64_t n_lines, std::int64_t stride,
                                        const double* x, std::int64_t n, double* out) noexcept {
  for (std::int64_t first = 0; first < n_lines; first += 4) {
    const std::int64_t n_here = std::min<std::int64_t>(4, n_lines - first);
    const float* line[4];
    // lanes that are not needed repeat the last line
    for (std::int64_t k = 0; k < 4; ++k) line[k] = lines + std::min(first + k, n_lines - 1) * stride;
    EightDoubles part[4] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      EightDoubles at, value;
      load_eight(x + i, at);
      unrolled<4>([&](int k) {
        load_eight(line[k] + i, value);
        add_product(part[k], value, at);
      });
    }
    double sum[4];
    unrolled<4>([&](int k) { sum[k] = sum_of(part[k]); });
    for (; i < n; ++i) {
      for (int k = 0; k < 4; ++k) sum[k] += static_cast<double>(line[k][i]) * x[i];
    }
    for (std::int64_t k = 0; k < n_here; ++k) out[first + k] = factor * sum[k];
  }
}

/// Adds factors[l] times line l for l < n_lines, which begin `stride` apart, to y, (n).
template <int n_lines>
inline void add_some_lines(const double* factors, const float* lines, std::int64_t stride, double* y,
                           std::int64_t n) noexcept {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    EightDoubles sum, value;
    load_eight(y + i, sum);
    unrolled<n_lines>([&](int l) {
      load_eight(lines + l * stride + i, value);
      add_product(sum, factors[l], value);
    });
    std::memcpy(y + i, &sum, sizeof(sum));
  }
  for (; i < n; ++i) {
    for (int l = 0; l < n_lines; ++l) y[i] += factors[l] * static_cast<double>(lines[l * stride + i]);
  }
}

/// The same of any number of lines: eight at a time are read from memory as one after the other would be.
[[gnu::noinline]] inline void add_lines(const double* factors, const float* lines, std::int64_t n_lines,
                                        std::int64_t stride, double* y, std::int64_t n) noexcept {
  std::int64_t l = 0;
  for (; l + 8 <= n_lines; l += 8) add_some_lines<8>(factors + l, lines + l * stride, stride, y, n);
  for (; l + 2 <= n_lines; l += 2) add_some_lines<2>(factors + l, lines + l * stride, stride, y, n);
  if (l < n_lines) add_some_lines<1>(factors + l, lines + l * stride, stride, y, n);
}

/// Rows: field * points + point, both numbered as their owner does; the order of the clusters is inside only. Blocks
/// are first worked on one by one, then each strip of points or cells adds what its blocks have for it, in their order.
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
        m_row_strips(m_points, n_fields, 1),
        m_column_strips(m_cells, 1, cells_of_strip) {
    constexpr std::int64_t bytes_of_group = 64 << 10;
    std::int64_t group_bytes = 0;
    m_groups.push_back({0, 0});
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
      const FactorBlock& block = m_blocks[b];
      m_row_strips.add(block.field, block.points, b);
      m_column_strips.add(0, block.cells, b);
      m_first.push_back(m_buffer_size);
      m_buffer_size += block.is_dense ? block.points.size() : block.rank;
      m_first_square.push_back(m_n_squares);
      m_n_squares += block.is_dense ? 0 : block.rank * block.rank;
      group_bytes += block.bytes();
      m_groups.back().end = static_cast<std::int64_t>(b) + 1;
      if (group_bytes < bytes_of_group) continue;
      m_groups.push_back({static_cast<std::int64_t>(b) + 1, static_cast<std::int64_t>(b) + 1});
      group_bytes = 0;
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
  /// Of products, of as many vectors as there were at most.
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return static_cast<std::int64_t>((m_in.capacity() + m_parts.capacity() + m_out.capacity()) * sizeof(double));
  }

  /// fields = G density, of n vectors one behind another, each as it is alone: a block's numbers are read once for all.
  void apply(const Space& space, std::int64_t n, const double* density, double* fields) {
    to_cluster_order(space, density, m_cells, n, m_in);
    m_parts.resize(static_cast<std::size_t>(n * m_buffer_size));
    for_each_block(space, [&](std::size_t b) {
      const FactorBlock& block = m_blocks[b];
      const std::int64_t size = block.cells.size();
      const std::vector<float>& lines = block.is_dense ? block.u : block.v;
      const std::int64_t n_lines = block.is_dense ? block.points.size() : block.rank;
      for (std::int64_t v = 0; v < n; ++v) {
        const double* const in = m_in.data() + v * n_cells() + block.cells.begin;
        dot_lines(block.scale, lines.data(), n_lines, size, in, size, part_of(b, v));
      }
    });
    m_out.resize(static_cast<std::size_t>(n * m_n_fields * n_points()));
    for_each(space, m_row_strips.strips.size(), [&](std::size_t q) {
      const Strip& strip = m_row_strips.strips[q];
      for (std::int64_t v = 0; v < n; ++v) {
        double* const of_field = m_out.data() + (v * m_n_fields + strip.part) * n_points();
        std::fill(of_field + strip.range.begin, of_field + strip.range.end, 0.0);
      }
      for (const std::size_t b : strip.blocks) {
        const FactorBlock& block = m_blocks[b];
        const IndexRange points = common(strip.range, block.points);
        const std::int64_t skipped = points.begin - block.points.begin;
        for (std::int64_t v = 0; v < n; ++v) {
          const double* const part = part_of(b, v);
          double* const to = m_out.data() + (v * m_n_fields + strip.part) * n_points() + points.begin;
          if (block.is_dense) {
            for (std::int64_t i = 0; i < points.size(); ++i) to[i] += part[skipped + i];
          } else {
            add_lines(part, block.u.data() + skipped, block.rank, block.points.size(), to, points.size());
          }
        }
      }
    });
    from_cluster_order(space, m_out, m_points, n * m_n_fields, fields);
  }

  /// density = G' fields, likewise.
  void apply_transpose(const Space& space, std::int64_t n, const double* fields, double* density) {
    to_cluster_order(space, fields, m_points, n * m_n_fields, m_in);
    m_parts.resize(static_cast<std::size_t>(n * m_buffer_size));
    for_each_block(space, [&](std::size_t b) {
      const FactorBlock& block = m_blocks[b];
      const std::int64_t size = block.points.size();
      for (std::int64_t v = 0; v < n; ++v) {
        double* const out = part_of(b, v);
        const double* const in = m_in.data() + (v * m_n_fields + block.field) * n_points() + block.points.begin;
        if (block.is_dense) {
          for (std::int64_t i = 0; i < size; ++i) out[i] = block.scale * in[i];
        } else {
          dot_lines(block.scale, block.u.data(), block.rank, size, in, size, out);
        }
      }
    });
    m_out.resize(static_cast<std::size_t>(n * n_cells()));
    for_each(space, m_column_strips.strips.size(), [&](std::size_t q) {
      const IndexRange range = m_column_strips.strips[q].range;
      for (std::int64_t v = 0; v < n; ++v) std::fill_n(m_out.data() + v * n_cells() + range.begin, range.size(), 0.0);
      for (const std::size_t b : m_column_strips.strips[q].blocks) {
        const FactorBlock& block = m_blocks[b];
        const IndexRange cells = common(range, block.cells);
        const std::vector<float>& lines = block.is_dense ? block.u : block.v;
        const float* const first = lines.data() + (cells.begin - block.cells.begin);
        const std::int64_t n_lines = block.is_dense ? block.points.size() : block.rank;
        for (std::int64_t v = 0; v < n; ++v) {
          add_lines(part_of(b, v), first, n_lines, block.cells.size(), m_out.data() + v * n_cells() + cells.begin,
                    cells.size());
        }
      }
    });
    from_cluster_order(space, m_out, m_cells, n, density);
  }

  /// The diagonal of G' diag(weights) G: of a block of low rank v_j' (u' diag(weights) u) v_j for cell j.
  void diagonal(const Space& space, const double* weights, double* diagonal) {
    to_cluster_order(space, weights, m_points, m_n_fields, m_in);
    std::vector<double> squares(static_cast<std::size_t>(m_n_squares));
    for_each_block(space, [&](std::size_t b) { square_columns(b, m_in, squares.data() + m_first_square[b]); });
    m_out.resize(static_cast<std::size_t>(n_cells()));
    for_each(space, m_column_strips.strips.size(), [&](std::size_t q) {
      const Strip& strip = m_column_strips.strips[q];
      std::fill(m_out.data() + strip.range.begin, m_out.data() + strip.range.end, 0.0);
      std::vector<double> line(static_cast<std::size_t>(strip.range.size()));
      for (const std::size_t b : strip.blocks) {
        const IndexRange cells = common(strip.range, m_blocks[b].cells);
        add_squares(m_blocks[b], m_in, squares.data() + m_first_square[b], cells, line, m_out.data() + cells.begin);
      }
    });
    from_cluster_order(space, m_out, m_cells, 1, diagonal);
  }

  /// Row of one field and point, numbered as their owner does, (cells), in the owner's order of cells.
  void row(std::int64_t field, std::int64_t point, double* out) const {
    const std::int64_t at = m_place[static_cast<std::size_t>(point)];
    std::vector<double> factors, line;
    for (const std::size_t b : m_row_strips.of(field, at).blocks) {
      const FactorBlock& block = m_blocks[b];
      if (at < block.points.begin || at >= block.points.end) continue;
      const std::int64_t i = at - block.points.begin;
      const std::int64_t n = block.cells.size();
      line.assign(static_cast<std::size_t>(n), 0.0);
      if (block.is_dense) {
        add_lines(&block.scale, block.u.data() + i * n, 1, n, line.data(), n);
      } else {
        factors.clear();
        for (std::int64_t l = 0; l < block.rank; ++l) {
          const float u = block.u[static_cast<std::size_t>(l * block.points.size() + i)];
          factors.push_back(block.scale * static_cast<double>(u));
        }
        add_lines(factors.data(), block.v.data(), block.rank, n, line.data(), n);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        out[m_cells.order[static_cast<std::size_t>(block.cells.begin + j)]] = line[static_cast<std::size_t>(j)];
      }
    }
  }

  /// Calls f(i) for i < n by the space's threads, which take the next when they are done; waits.
  template <class F>
  static void for_each(const Space& space, std::size_t n, const F& f) {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
    throw_between_launches();
    Kokkos::parallel_for("prismfield::blocks", Policy(space, 0, static_cast<std::int64_t>(n), Kokkos::ChunkSize(1)),
                         [&f](std::int64_t i) { f(static_cast<std::size_t>(i)); });
    space.fence("prismfield: blocks done");
  }

private:
  /// A block's numbers of a product with vector number v.
  [[nodiscard]] double* part_of(std::size_t b, std::int64_t v) {
    return m_parts.data() + v * m_buffer_size + m_first[b];
  }

  /// Cells whose products a thread adds up: several leaves, so that lines of large blocks are read on and on.
  static constexpr std::int64_t cells_of_strip = 512;

  /// Points of a field or cells, and the blocks that have some of them.
  struct Strip {
    std::int64_t part = 0;
    IndexRange range;
    std::vector<std::size_t> blocks;
  };

  /// The clusters of a tree that have at most `most` things, or are leaves, once for each of `parts` fields.
  struct Strips {
    Strips() = default;
    Strips(const ClusterTree& tree, std::int64_t parts, std::int64_t most) {
      std::vector<IndexRange> found = tree.cut(most);
      for (const IndexRange range : found) begins.push_back(range.begin);
      for (std::int64_t part = 0; part < parts; ++part) {
        for (const IndexRange range : found) strips.push_back({part, range, {}});
      }
    }
    [[nodiscard]] std::size_t index(std::int64_t part, std::int64_t at) const {
      const auto after = std::upper_bound(begins.begin(), begins.end(), at);
      return static_cast<std::size_t>(part) * begins.size() + static_cast<std::size_t>(after - begins.begin()) - 1;
    }
    [[nodiscard]] const Strip& of(std::int64_t part, std::int64_t at) const { return strips[index(part, at)]; }
    void add(std::int64_t part, IndexRange range, std::size_t block) {
      std::size_t q = index(part, range.begin);
      for (; q < strips.size() && strips[q].part == part && strips[q].range.begin < range.end; ++q) {
        strips[q].blocks.push_back(block);
      }
    }
    std::vector<std::int64_t> begins;
    std::vector<Strip> strips;
  };

  static void to_cluster_order(const Space& space, const double* values, const ClusterTree& tree, std::int64_t parts,
                               std::vector<double>& ordered) {
    ordered.resize(static_cast<std::size_t>(parts * tree.size()));
    for_each_place(space, tree, parts,
                   [&](std::int64_t at, std::int64_t of_owner) { ordered.data()[at] = values[of_owner]; });
  }
  static void from_cluster_order(const Space& space, const std::vector<double>& ordered, const ClusterTree& tree,
                                 std::int64_t parts, double* values) {
    for_each_place(space, tree, parts,
                   [&](std::int64_t at, std::int64_t of_owner) { values[of_owner] = ordered.data()[at]; });
  }
  /// Calls f(place in the order of the clusters, place in the owner's).
  template <class F>
  static void for_each_place(const Space& space, const ClusterTree& tree, std::int64_t parts, const F& f) {
    const std::int64_t n = tree.size();
    constexpr std::int64_t at_once = 4096;
    const std::int64_t chunks = (n + at_once - 1) / at_once;
    for_each(space, static_cast<std::size_t>(parts * chunks), [&](std::size_t k) {
      const std::int64_t first = static_cast<std::int64_t>(k) / chunks * n;
      const IndexRange range = balanced_part(n, static_cast<std::int64_t>(k) % chunks, chunks);
      for (std::int64_t i = range.begin; i < range.end; ++i)
        f(first + i, first + tree.order[static_cast<std::size_t>(i)]);
    });
  }

  /// Calls f(b) for all blocks, several at a time: taking one costs as much as a small one's product.
  template <class F>
  void for_each_block(const Space& space, const F& f) const {
    for_each(space, m_groups.size(), [&](std::size_t g) {
      for (std::int64_t b = m_groups[g].begin; b < m_groups[g].end; ++b) f(static_cast<std::size_t>(b));
    });
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
      dot_lines(1, block.u.data(), block.rank, n, weighted.data(), n, out + l * block.rank);
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
  Strips m_row_strips, m_column_strips;
  /// blocks that a thread takes together
  std::vector<IndexRange> m_groups;
  /// where each block's numbers of a product are, and those of a diagonal
  std::vector<std::int64_t> m_first, m_first_square;
  std::int64_t m_buffer_size = 0, m_n_squares = 0;
  /// of one product, kept for the next: what goes in and comes out in the order of the clusters, and the blocks' parts
  std::vector<double> m_in, m_parts, m_out;
  /// of the owner's points in the order of the clusters
  std::vector<std::int64_t> m_place;
};

}  // namespace prismfield
