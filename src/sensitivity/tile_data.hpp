// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include "sensitivity/stored_bytes.hpp"
#include "sensitivity/stored_number.hpp"

namespace prismfield {

/// A matrix cut into tiles of columns, the last of which is narrower; each tile's rows lie one behind the other.
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

  /// Parts of at least so many rows, of which there are about `wanted` in all tiles.
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

}  // namespace prismfield
