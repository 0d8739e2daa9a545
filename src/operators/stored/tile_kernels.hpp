// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

#include "operators/stored/host_lanes.hpp"
#include "operators/stored/storage_choice.hpp"
#include "operators/stored/stored_number.hpp"

/// The kernels of TileMatrix. A sum over columns is a sum for each tile first, one over rows a sum for each part of the
/// rows; these are added in their order by a second kernel. Several vectors are multiplied at once, row by row of a
/// tile while it is in the nearest cache; each adds in the order that it has alone.
namespace prismfield {

/// A matrix in tiles of columns; the last tile is narrower. The rows of a tile lie one after another.
struct TileShape {
  /// columns of a tile, and what the width of the last one is a multiple of
  static constexpr int width = stored_tile;
  static constexpr int step = stored_step;

  std::int64_t rows = 0, columns = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t tiles() const { return (columns + width - 1) / width; }
  /// those of padding included, whose entries are 0
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t padded() const { return (columns + step - 1) / step * step; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int width_of(std::int64_t tile) const {
    const std::int64_t rest = padded() - tile * width;
    return rest < width ? static_cast<int>(rest) : width;
  }
  /// rows of all tiles
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t tile_rows() const { return tiles() * rows; }
  /// where a row of a tile begins
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t begin_of(std::int64_t tile, std::int64_t row) const {
    return tile * width * rows + row * width_of(tile);
  }
};

/// Entries and, for halves, what the rows' values are multiplied by: (tile * rows + row).
template <class Real, class Memory>
struct TileData {
  TileShape shape;
  Kokkos::View<Real*, Memory> values;
  Kokkos::View<double*, Memory> scales;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double scale(std::int64_t tile, std::int64_t row) const {
    if constexpr (StoredNumber<Real>::scaled) {
      return scales(tile * shape.rows + row);
    } else {
      return 1;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION const Pack<Real>& pack(std::int64_t first) const {
    return *reinterpret_cast<const Pack<Real>*>(&values(first));
  }
};

/// How the rows of tiles are cut for products, which depends on the matrix alone and not on the threads.
struct RowParts {
  std::int64_t parts = 1, rows_per_part = 1;

  /// Parts of at least `rows_at_least` rows, about `wanted` in all tiles.
  [[nodiscard]] static RowParts of(const TileShape& shape, std::int64_t wanted, std::int64_t rows_at_least) {
    const std::int64_t most = (shape.rows + rows_at_least - 1) / rows_at_least;
    const std::int64_t asked = (wanted + shape.tiles() - 1) / shape.tiles();
    RowParts cut;
    const std::int64_t n = asked < most ? asked : most;
    cut.rows_per_part = (shape.rows + n - 1) / n;
    cut.parts = (shape.rows + cut.rows_per_part - 1) / cut.rows_per_part;
    return cut;
  }
};

/// Entries of G as Operator::entries gives them, of some points of all.
template <class Memory>
struct EntryRows {
  Kokkos::View<double***, Kokkos::LayoutRight, Memory> entries;
  /// the first of these points, and how many there are in all
  std::int64_t first = 0, n_points = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t rows() const {
    return static_cast<std::int64_t>(entries.extent(0) * entries.extent(1));
  }
};

/// Sums of several rows with several vectors that the lanes of a device reduce together.
template <int vectors>
struct RowSums {
  static constexpr int rows = 4;
  double values[vectors][rows] = {};

  KOKKOS_INLINE_FUNCTION RowSums& operator+=(const RowSums& other) {
    for (int v = 0; v < vectors; ++v) {
      for (int r = 0; r < rows; ++r) values[v][r] += other.values[v][r];
    }
    return *this;
  }
};

/// Rounds and keeps rows of entries, a row of a tile by a team.
template <class Space, class Real>
struct KeepRows {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  TileData<Real, Memory> to;
  EntryRows<Memory> from;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t tile = team.league_rank() / from.rows();
    const std::int64_t f = team.league_rank() % from.rows() / static_cast<std::int64_t>(from.entries.extent(1));
    const std::int64_t i = team.league_rank() % from.rows() % static_cast<std::int64_t>(from.entries.extent(1));
    const std::int64_t row = f * from.n_points + from.first + i;
    const std::int64_t column = tile * TileShape::width;
    const int width = to.shape.width_of(tile);
    const int filled = static_cast<int>(Kokkos::min<std::int64_t>(width, to.shape.columns - column));
    double factor = 1;
    if constexpr (StoredNumber<Real>::scaled) {
      double largest = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, filled),
          [&](int c, double& most) { most = Kokkos::max(most, Kokkos::abs(from.entries(f, i, column + c))); },
          Kokkos::Max<double>(largest));
      factor = StoredNumber<Real>::factor(largest);
      Kokkos::single(Kokkos::PerTeam(team), [&]() { to.scales(tile * to.shape.rows + row) = 1 / factor; });
    }
    const std::int64_t begin = to.shape.begin_of(tile, row);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int c) {
      const double entry = c < filled ? from.entries(f, i, column + c) : 0.0;
      to.values(begin + c) = StoredNumber<Real>::from(factor * entry);
    });
  }
};

/// The opposite, an entry a work item.
template <class Memory, class Real>
struct ReadRows {
  TileData<Real, Memory> from;
  EntryRows<Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t column = k % from.shape.columns;
    const std::int64_t f = k / from.shape.columns / static_cast<std::int64_t>(to.entries.extent(1));
    const std::int64_t i = k / from.shape.columns % static_cast<std::int64_t>(to.entries.extent(1));
    const std::int64_t row = f * to.n_points + to.first + i;
    const std::int64_t tile = column / TileShape::width;
    const std::int64_t at = from.shape.begin_of(tile, row) + column % TileShape::width;
    to.entries(f, i, column) = from.scale(tile, row) * StoredNumber<Real>::value(from.values(at));
  }
};

/// Products of the rows of a part of a tile with densities, on a host.
template <class Memory, class Real>
struct HostRowProducts {
  TileData<Real, Memory> matrix;
  RowParts cut;
  /// (vector, padded columns)
  Kokkos::View<const double*, Memory> density;
  /// (vector, tile * rows + row)
  Kokkos::View<double*, Memory> sums;
  int vectors;

  void operator()(std::int64_t item) const {
    const std::int64_t tile = item / cut.parts;
    const std::int64_t begin = item % cut.parts * cut.rows_per_part;
    const std::int64_t end = Kokkos::min(begin + cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    const double* const factors = density.data() + tile * TileShape::width;
    double* const to = sums.data() + tile * matrix.shape.rows;
    const Real* row = matrix.values.data() + matrix.shape.begin_of(tile, begin);
    for (std::int64_t r = begin; r < end; ++r, row += width) {
      int v = 0;
      // two vectors' sums and entries are what the 16 registers of AVX hold
      if constexpr (EightDoubles::size == 8) {
        for (; v + 4 <= vectors; v += 4) multiply<4>(tile, r, row, factors, v, to + r);
      }
      for (; v + 2 <= vectors; v += 2) multiply<2>(tile, r, row, factors, v, to + r);
      for (; v < vectors; ++v) multiply<1>(tile, r, row, factors, v, to + r);
    }
  }

  /// The products of a row with n vectors, which are added side by side: in 16 sums each, whatever the machine's lanes.
  template <int n>
  void multiply(std::int64_t tile, std::int64_t r, const Real* row, const double* factors, int first,
                double* to) const {
    const std::int64_t stride = matrix.shape.padded();
    const int width = matrix.shape.width_of(tile);
    EightDoubles partial[n][2] = {};
    for (int c = 0; c < width; c += 16) {
      prefetch_entries<16 * sizeof(Real)>(row + c);
      unrolled<2>([&](int k) {
        EightDoubles entries;
        load_eight(row + c + 8 * k, entries);
        unrolled<n>([&](int v) {
          EightDoubles with;
          load_eight(factors + (first + v) * stride + c + 8 * k, with);
          add_product(partial[v][k], entries, with);
        });
      });
    }
    unrolled<n>([&](int v) {
      unrolled<EightDoubles::vectors>([&](int k) { partial[v][0].part[k] += partial[v][1].part[k]; });
      const double sum = sum_of(partial[v][0]);
      to[(first + v) * matrix.shape.tile_rows()] = matrix.scale(tile, r) * sum;
    });
  }
};

/// Sums over a part of the rows of the products of a tile's columns with factors of the rows, or of their squares, on a
/// host.
template <class Memory, class Real, bool squares>
struct HostColumnSums {
  TileData<Real, Memory> matrix;
  RowParts cut;
  /// (vector, rows)
  Kokkos::View<const double*, Memory> factors;
  /// (vector, part, padded columns)
  Kokkos::View<double***, Kokkos::LayoutRight, Memory> sums;
  int vectors;

  void operator()(std::int64_t item) const {
    if (vectors == 1) {
      add_rows<1>(item);
    } else if (vectors == 2) {
      add_rows<2>(item);
    } else {
      add_rows<most_vectors>(item);
    }
  }

  /// The sums of all vectors, at most n.
  template <int n>
  void add_rows(std::int64_t item) const {
    const std::int64_t tile = item / cut.parts;
    const std::int64_t part = item % cut.parts;
    const std::int64_t end = Kokkos::min((part + 1) * cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    // side by side: vectors a page apart would wait for each other's stores
    EightDoubles sum[TileShape::width / 8][n] = {};
    const std::int64_t begin = part * cut.rows_per_part;
    const Real* row = matrix.values.data() + matrix.shape.begin_of(tile, begin);
    std::int64_t r = begin;
    for (; r + 2 <= end; r += 2, row += 2 * width) add<n, 2>(tile, r, row, sum);
    if (r < end) add<n, 1>(tile, r, row, sum);
    for (int v = 0; v < vectors; ++v) {
      double* const to = &sums(v, part, tile * TileShape::width);
      for (int c = 0; c < width; c += 8) std::memcpy(to + c, &sum[c / 8][v], sizeof(EightDoubles));
    }
  }

  /// Adds some rows, each after the one before it. Two at once halve what is read and written of the sums; prefetching
  /// keeps them one stream of memory.
  template <int n, int rows>
  void add(std::int64_t tile, std::int64_t first, const Real* row, EightDoubles (&sum)[TileShape::width / 8][n]) const {
    const int width = matrix.shape.width_of(tile);
    double with[rows][n];
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < n; ++v) with[i][v] = v < vectors ? factor(v, tile, first + i) : 0;
    }
    for (int c = 0; c < width; c += 8) {
      prefetch_entries<8 * rows * sizeof(Real)>(row + rows * c);
      EightDoubles values[rows];
      unrolled<rows>([&](int i) {
        load_eight(row + i * width + c, values[i]);
        if constexpr (squares) {
          unrolled<EightDoubles::vectors>([&](int k) { values[i].part[k] *= values[i].part[k]; });
        }
      });
      unrolled<n>([&](int v) {
        EightDoubles all = sum[c / 8][v];
        unrolled<rows>([&](int i) { add_product(all, with[i][v], values[i]); });
        sum[c / 8][v] = all;
      });
    }
  }

  [[nodiscard]] double factor(int vector, std::int64_t tile, std::int64_t row) const {
    const double scale = matrix.scale(tile, row);
    return factors(vector * matrix.shape.rows + row) * (squares ? scale * scale : scale);
  }
};

/// Densities as the lanes of a device read them: the columns of a tile are 32 packs of entries, again and again, and
/// the first two columns of all these packs come first, then the next two, so that lanes read side by side:
/// G m of floats has 0.94 of an H200's bandwidth instead of 0.85.
template <class Real>
struct LaneOrder {
  static constexpr int lanes = 32;
  static constexpr int n = Pack<Real>::size;

  /// Densities of a vector, those behind the last tile's columns included.
  KOKKOS_INLINE_FUNCTION static std::int64_t length(const TileShape& shape) { return shape.tiles() * TileShape::width; }
  /// Where column k of pack p of a tile is.
  KOKKOS_INLINE_FUNCTION static int place(int p, int k) {
    return p / lanes * lanes * n + k / 2 * 2 * lanes + p % lanes * 2 + k % 2;
  }
};

/// Brings densities, a column a work item, into that order.
template <class Memory, class Real>
struct OrderForLanes {
  TileShape shape;
  /// (vector, column)
  Kokkos::View<const double*, Memory> from;
  /// (vector, tile, place)
  Kokkos::View<double*, Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    using Order = LaneOrder<Real>;
    const std::int64_t v = i / shape.columns, c = i % shape.columns;
    const std::int64_t tile = c / TileShape::width;
    const auto in_tile = static_cast<int>(c % TileShape::width);
    to(v * Order::length(shape) + tile * TileShape::width + Order::place(in_tile / Order::n, in_tile % Order::n)) =
        from(i);
  }
};

/// The same products on a device: some rows of a part at once, by the lanes of a thread. `most`: vectors that registers
/// are kept for.
template <class Space, class Real, int most>
struct DeviceRowProducts {
  using Sums = RowSums<most>;
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  using Order = LaneOrder<Real>;
  static constexpr int threads = 8, lanes = Order::lanes;
  TileData<Real, Memory> matrix;
  RowParts cut;
  /// (vector, tile, place)
  Kokkos::View<const double*, Memory> density;
  Kokkos::View<double*, Memory> sums;
  int vectors;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t tile = team.league_rank() / cut.parts;
    const std::int64_t begin = team.league_rank() % cut.parts * cut.rows_per_part;
    const std::int64_t end = Kokkos::min(begin + cut.rows_per_part, matrix.shape.rows);
    const int packs = matrix.shape.width_of(tile) / Pack<Real>::size;
    const auto groups = static_cast<int>((end - begin + Sums::rows - 1) / Sums::rows);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, groups), [&](int group) {
      const std::int64_t first = begin + group * Sums::rows;
      Sums total;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, packs), [&](int p, Sums& sum) { add(tile, first, p, sum); }, total);
      Kokkos::single(Kokkos::PerThread(team), [&]() {
        for (int r = 0; r < Sums::rows && first + r < end; ++r) {
          const std::int64_t to = tile * matrix.shape.rows + first + r;
          const double scale = matrix.scale(tile, first + r);
          for (int v = 0; v < most; ++v) {
            if (v < vectors) sums(v * matrix.shape.tile_rows() + to) = scale * total.values[v][r];
          }
        }
      });
    });
  }

  /// Adds the products of one pack of columns; rows behind the last are that once more.
  KOKKOS_INLINE_FUNCTION void add(std::int64_t tile, std::int64_t first, int p, Sums& sum) const {
    constexpr int n = Pack<Real>::size;
    const std::int64_t last = matrix.shape.rows - 1;
    Pack<Real> entries[Sums::rows];
    for (int r = 0; r < Sums::rows; ++r) {
      entries[r] = matrix.pack(matrix.shape.begin_of(tile, Kokkos::min(first + r, last)) + std::int64_t{n} * p);
    }
    const double* const factors = &density(tile * TileShape::width + Order::place(p, 0));
    for (int k = 0; k < n; k += 2) {
      double values[Sums::rows][2];
      for (int r = 0; r < Sums::rows; ++r) {
        for (int j = 0; j < 2; ++j) values[r][j] = StoredNumber<Real>::value(entries[r].values[k + j]);
      }
      for (int v = 0; v < most; ++v) {
        if (v >= vectors) break;
        const auto& two =
            *reinterpret_cast<const Pack<double>*>(factors + v * Order::length(matrix.shape) + Order::place(0, k));
        for (int r = 0; r < Sums::rows; ++r) {
          for (int j = 0; j < 2; ++j) sum.values[v][r] += values[r][j] * two.values[j];
        }
      }
    }
  }
};

/// The same sums on a device: a thread has the columns of a pack. `most`: vectors that registers are kept for.
template <class Space, class Real, bool squares, int most>
struct DeviceColumnSums {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int n = Pack<Real>::size;
  static constexpr int threads = TileShape::width / n;
  TileData<Real, Memory> matrix;
  RowParts cut;
  Kokkos::View<const double*, Memory> factors;
  Kokkos::View<double***, Kokkos::LayoutRight, Memory> sums;
  int vectors;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    constexpr int at_once = 4;
    const std::int64_t tile = team.league_rank() / cut.parts;
    const std::int64_t part = team.league_rank() % cut.parts;
    const std::int64_t end = Kokkos::min((part + 1) * cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    const int column = n * team.team_rank();
    if (column >= width) return;
    double sum[most][n] = {};
    std::int64_t r = part * cut.rows_per_part;
    std::int64_t at = matrix.shape.begin_of(tile, r) + column;
    for (; r + at_once <= end; r += at_once, at += std::int64_t{at_once} * width) {
      Pack<Real> entries[at_once];
      for (int q = 0; q < at_once; ++q) entries[q] = matrix.pack(at + std::int64_t{q} * width);
      for (int q = 0; q < at_once; ++q) add(entries[q], tile, r + q, sum);
    }
    for (; r < end; ++r, at += width) add(matrix.pack(at), tile, r, sum);
    for (int v = 0; v < most; ++v) {
      if (v >= vectors) break;
      for (int k = 0; k < n; ++k) sums(v, part, tile * TileShape::width + column + k) = sum[v][k];
    }
  }

  KOKKOS_INLINE_FUNCTION void add(const Pack<Real>& entries, std::int64_t tile, std::int64_t row,
                                  double (&sum)[most][n]) const {
    const double scale = matrix.scale(tile, row);
    double values[n];
    for (int k = 0; k < n; ++k) {
      const double value = StoredNumber<Real>::value(entries.values[k]);
      values[k] = squares ? value * value : value;
    }
    for (int v = 0; v < most; ++v) {
      if (v >= vectors) break;
      const double factor = factors(v * matrix.shape.rows + row) * (squares ? scale * scale : scale);
      for (int k = 0; k < n; ++k) sum[v][k] += factor * values[k];
    }
  }
};

/// out(v * length + k) = the sum of n parts, in their order: sums((v * n + part) * stride + k).
template <class Memory>
struct AddInOrder {
  const double* sums;
  std::int64_t n, stride, length;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t v = i / length;
    const std::int64_t k = i % length;
    double sum = 0;
    for (std::int64_t part = 0; part < n; ++part) sum += sums[(v * n + part) * stride + k];
    out(i) = sum;
  }
};

}  // namespace prismfield

template <int vectors>
struct Kokkos::reduction_identity<prismfield::RowSums<vectors>> {
  KOKKOS_FORCEINLINE_FUNCTION static prismfield::RowSums<vectors> sum() { return {}; }
};
