// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

#include "sensitivity/host_lanes.hpp"
#include "sensitivity/tile_data.hpp"

/// The kernels of TileMatrix. A sum over columns is a sum for each tile first, one over rows a sum for each part of the
/// rows; these are added in their order by a second kernel.
namespace prismfield {

/// Sums of several rows that the lanes of a device reduce together.
struct RowSums {
  static constexpr int rows = 4;
  double values[rows] = {};

  KOKKOS_INLINE_FUNCTION RowSums& operator+=(const RowSums& other) {
    for (int r = 0; r < rows; ++r) values[r] += other.values[r];
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

/// Products of the rows of a part of a tile with a density, on a host.
template <class Memory, class Real>
struct HostRowProducts {
  TileData<Real, Memory> matrix;
  RowParts cut;
  /// (padded columns)
  Kokkos::View<const double*, Memory> density;
  /// (tile * rows + row)
  Kokkos::View<double*, Memory> sums;

  void operator()(std::int64_t item) const {
    const std::int64_t tile = item / cut.parts;
    const std::int64_t begin = item % cut.parts * cut.rows_per_part;
    const std::int64_t end = Kokkos::min(begin + cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    const double* const factors = density.data() + tile * TileShape::width;
    const Real* row = matrix.values.data() + matrix.shape.begin_of(tile, begin);
    for (std::int64_t r = begin; r < end; ++r, row += width) {
      sums(tile * matrix.shape.rows + r) = matrix.scale(tile, r) * product(row, factors, width);
    }
  }

  static double product(const Real* row, const double* factors, int width) {
    EightDoubles partial[4] = {};
    for (int c = 0; c < width; c += TileShape::step) {
      for (int k = 0; k < 4; ++k) {
        EightDoubles entries, with;
        load_eight(row + c + 8 * k, entries);
        load_eight(factors + c + 8 * k, with);
        partial[k] += entries * with;
      }
    }
    const EightDoubles all = (partial[0] + partial[1]) + (partial[2] + partial[3]);
    return ((all[0] + all[4]) + (all[1] + all[5])) + ((all[2] + all[6]) + (all[3] + all[7]));
  }
};

/// Sums over a part of the rows of the products of a tile's columns with factors of the rows, or of their squares, on a
/// host.
template <class Memory, class Real, bool squares>
struct HostColumnSums {
  TileData<Real, Memory> matrix;
  RowParts cut;
  /// (rows)
  Kokkos::View<const double*, Memory> factors;
  /// (part, padded columns)
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> sums;

  void operator()(std::int64_t item) const {
    const std::int64_t tile = item / cut.parts;
    const std::int64_t part = item % cut.parts;
    const std::int64_t end = Kokkos::min((part + 1) * cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    EightDoubles sum[TileShape::width / 8] = {};
    const std::int64_t begin = part * cut.rows_per_part;
    const Real* row = matrix.values.data() + matrix.shape.begin_of(tile, begin);
    // row by row, although the sums are read and written each time: one stream of memory was up to twice as fast
    for (std::int64_t r = begin; r < end; ++r, row += width) {
      const double f = factor(tile, r);
      for (int c = 0; c < width; c += 8) add(row + c, f, sum[c / 8]);
    }
    std::memcpy(&sums(part, tile * TileShape::width), sum, sizeof(double) * static_cast<std::size_t>(width));
  }

  [[nodiscard]] double factor(std::int64_t tile, std::int64_t row) const {
    const double scale = matrix.scale(tile, row);
    return factors(row) * (squares ? scale * scale : scale);
  }
  [[gnu::always_inline]] static void add(const Real* entries, double factor, EightDoubles& sum) {
    EightDoubles values;
    load_eight(entries, values);
    sum += factor * (squares ? values * values : values);
  }
};

/// The same products on a device: some rows of a part at once, by the lanes of a thread.
template <class Space, class Real>
struct DeviceRowProducts {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int threads = 8, lanes = 32;
  TileData<Real, Memory> matrix;
  RowParts cut;
  Kokkos::View<const double*, Memory> density;
  Kokkos::View<double*, Memory> sums;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t tile = team.league_rank() / cut.parts;
    const std::int64_t begin = team.league_rank() % cut.parts * cut.rows_per_part;
    const std::int64_t end = Kokkos::min(begin + cut.rows_per_part, matrix.shape.rows);
    const int packs = matrix.shape.width_of(tile) / Pack<Real>::size;
    const auto groups = static_cast<int>((end - begin + RowSums::rows - 1) / RowSums::rows);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, groups), [&](int group) {
      const std::int64_t first = begin + group * RowSums::rows;
      RowSums total;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, packs), [&](int p, RowSums& sum) { add(tile, first, p, sum); }, total);
      Kokkos::single(Kokkos::PerThread(team), [&]() {
        for (int r = 0; r < RowSums::rows && first + r < end; ++r) {
          sums(tile * matrix.shape.rows + first + r) = matrix.scale(tile, first + r) * total.values[r];
        }
      });
    });
  }

  /// Adds the products of one pack of columns; rows behind the last are that once more.
  KOKKOS_INLINE_FUNCTION void add(std::int64_t tile, std::int64_t first, int p, RowSums& sum) const {
    constexpr int n = Pack<Real>::size;
    const std::int64_t last = matrix.shape.rows - 1;
    Pack<Real> entries[RowSums::rows];
    for (int r = 0; r < RowSums::rows; ++r) {
      entries[r] = matrix.pack(matrix.shape.begin_of(tile, Kokkos::min(first + r, last)) + std::int64_t{n} * p);
    }
    const double* const factors = &density(tile * TileShape::width + std::int64_t{n} * p);
    for (int k = 0; k < n; k += 2) {
      const Pack<double> two = *reinterpret_cast<const Pack<double>*>(factors + k);
      for (int r = 0; r < RowSums::rows; ++r) {
        sum.values[r] += StoredNumber<Real>::value(entries[r].values[k]) * two.values[0];
        sum.values[r] += StoredNumber<Real>::value(entries[r].values[k + 1]) * two.values[1];
      }
    }
  }
};

/// The same sums on a device: a thread has the columns of a pack.
template <class Space, class Real, bool squares>
struct DeviceColumnSums {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int threads = TileShape::width / Pack<Real>::size;
  TileData<Real, Memory> matrix;
  RowParts cut;
  Kokkos::View<const double*, Memory> factors;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> sums;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    constexpr int n = Pack<Real>::size;
    constexpr int at_once = 4;
    const std::int64_t tile = team.league_rank() / cut.parts;
    const std::int64_t part = team.league_rank() % cut.parts;
    const std::int64_t end = Kokkos::min((part + 1) * cut.rows_per_part, matrix.shape.rows);
    const int width = matrix.shape.width_of(tile);
    const int column = n * team.team_rank();
    if (column >= width) return;
    double sum[n] = {};
    std::int64_t r = part * cut.rows_per_part;
    std::int64_t at = matrix.shape.begin_of(tile, r) + column;
    for (; r + at_once <= end; r += at_once, at += std::int64_t{at_once} * width) {
      Pack<Real> entries[at_once];
      for (int q = 0; q < at_once; ++q) entries[q] = matrix.pack(at + std::int64_t{q} * width);
      for (int q = 0; q < at_once; ++q) add(entries[q], factor(tile, r + q), sum);
    }
    for (; r < end; ++r, at += width) add(matrix.pack(at), factor(tile, r), sum);
    for (int k = 0; k < n; ++k) sums(part, tile * TileShape::width + column + k) = sum[k];
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double factor(std::int64_t tile, std::int64_t row) const {
    const double scale = matrix.scale(tile, row);
    return factors(row) * (squares ? scale * scale : scale);
  }
  KOKKOS_INLINE_FUNCTION static void add(const Pack<Real>& entries, double factor, double* sum) {
    for (int k = 0; k < Pack<Real>::size; ++k) {
      const double value = StoredNumber<Real>::value(entries.values[k]);
      sum[k] += factor * (squares ? value * value : value);
    }
  }
};

/// out(k) = the sum of n parts, in their order: sums(part * stride + k).
template <class Memory>
struct AddInOrder {
  const double* sums;
  std::int64_t n, stride;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    double sum = 0;
    for (std::int64_t part = 0; part < n; ++part) sum += sums[part * stride + k];
    out(k) = sum;
  }
};

}  // namespace prismfield

template <>
struct Kokkos::reduction_identity<prismfield::RowSums> {
  KOKKOS_FORCEINLINE_FUNCTION static prismfield::RowSums sum() { return {}; }
};
