// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// Cell edges along easting, northing, upward, metres, each strictly increasing.
using CellEdges = std::array<std::vector<double>, 3>;
/// Numbers of cells along easting, northing, upward.
using CellCounts = std::array<std::int64_t, 3>;

/// The numbers of cells between `edges`.
[[nodiscard]] CellCounts counts_of(const CellEdges& edges);

/// The active cells of a rectilinear grid, those that an inversion changes, as an ensemble of prisms of density 1
/// kg/m3. Column j of G belongs to active cell j. Cells are numbered easting fastest, then northing, then upward.
class ActiveCells final : public PrismSource {
public:
  /// All cells between `edges`, with `rounding` as PrismSource::rounding() defines it.
  explicit ActiveCells(CellEdges edges, const std::array<double, 3>& rounding = {});
  /// The cells with the numbers in `cells`, strictly increasing, at least one. Throws RunError otherwise.
  ActiveCells(CellEdges edges, const std::array<double, 3>& rounding, std::vector<std::int64_t> cells);

  [[nodiscard]] std::int64_t size() const noexcept override;
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_rounding; }
  [[nodiscard]] bool uniform_shape() const noexcept override;
  void read(IndexRange range, PrismBlock& out) const override;

  [[nodiscard]] const CellEdges& edges() const noexcept { return m_edges; }
  [[nodiscard]] CellCounts counts() const noexcept { return counts_of(m_edges); }
  /// The number of cells of the whole grid.
  [[nodiscard]] std::int64_t total() const noexcept;
  /// The number of active cell `column` in the whole grid.
  [[nodiscard]] std::int64_t cell(std::int64_t column) const noexcept;
  /// The numbers of all active cells in the whole grid.
  [[nodiscard]] std::vector<std::int64_t> cells() const;
  /// The index of the cell in each direction.
  [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t column) const noexcept;
  /// The centre of the cell, metres.
  [[nodiscard]] std::array<double, 3> center(std::int64_t column) const noexcept;
  /// The edge lengths of the cell, metres.
  [[nodiscard]] std::array<double, 3> widths(std::int64_t column) const noexcept;
  /// For each column, the column of the next active cell towards east, north or up (direction 0, 1, 2); -1 without one.
  /// Throws RunError for more cells than 32 bits can number.
  [[nodiscard]] std::vector<std::int32_t> next(std::size_t direction) const;
  /// The values of the active cells, (size()), from those of all cells, (total()). Throws RunError for another length.
  [[nodiscard]] std::vector<double> of_all(const std::vector<double>& values) const;
  /// Host memory that it occupies, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

private:
  CellEdges m_edges;
  std::array<double, 3> m_rounding;
  /// empty: all cells
  std::vector<std::int64_t> m_cells;
  Bounds m_bounds;
};

/// The numbers of the cells with their centres below the surface. `heights`: (northing, easting), metres, at the
/// centres of the columns; nothing lies below NaN. Throws RunError unless there is one height per column.
[[nodiscard]] std::vector<std::int64_t> cells_below(const CellEdges& edges, const std::vector<double>& heights);
/// Those of `cells`, strictly increasing numbers, with tops at or below the ceiling over their column. `ceilings`:
/// (northing, easting), metres, infinite for no ceiling. Throws RunError unless there is one ceiling per column.
[[nodiscard]] std::vector<std::int64_t> cells_under(const CellEdges& edges, const std::vector<double>& ceilings,
                                                    const std::vector<std::int64_t>& cells);

}  // namespace prismfield
