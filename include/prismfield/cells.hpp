// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// Cell edges in the directions easting, northing, upward, metres, each strictly increasing.
using CellEdges = std::array<std::vector<double>, 3>;
/// Cells in the directions easting, northing, upward.
using CellCounts = std::array<std::int64_t, 3>;

/// Cells between edges.
[[nodiscard]] CellCounts counts_of(const CellEdges& edges);

/// The cells of a rectilinear grid that an inversion may change, as an ensemble of prisms of density 1 kg/m3: column j
/// of G is active cell j. Cells of density 0 are prisms too. Cells are numbered easting fastest, then northing, then
/// upward.
class ActiveCells final : public PrismSource {
public:
  /// Every cell between `edges`. `rounding`: of the edges, see PrismSource::rounding().
  explicit ActiveCells(CellEdges edges, const std::array<double, 3>& rounding = {});
  /// Those of `cells`, numbers that rise, at least one. Throws RunError for others.
  ActiveCells(CellEdges edges, const std::array<double, 3>& rounding, std::vector<std::int64_t> cells);

  [[nodiscard]] std::int64_t size() const noexcept override;
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_rounding; }
  [[nodiscard]] bool uniform_shape() const noexcept override;
  void read(IndexRange range, PrismBlock& out) const override;

  [[nodiscard]] const CellEdges& edges() const noexcept { return m_edges; }
  [[nodiscard]] CellCounts counts() const noexcept { return counts_of(m_edges); }
  /// Cells of the whole grid.
  [[nodiscard]] std::int64_t total() const noexcept;
  /// The number of active cell `column` in the whole grid.
  [[nodiscard]] std::int64_t cell(std::int64_t column) const noexcept;
  /// All of them.
  [[nodiscard]] std::vector<std::int64_t> cells() const;
  /// The cell's place in each direction.
  [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t column) const noexcept;
  /// Its centre, metres.
  [[nodiscard]] std::array<double, 3> center(std::int64_t column) const noexcept;
  /// Its edge lengths, metres.
  [[nodiscard]] std::array<double, 3> widths(std::int64_t column) const noexcept;
  /// For every column the column of the active cell next to it towards east, north or up (direction 0, 1, 2); -1 where
  /// there is none. Throws RunError for more cells than 32 bits count.
  [[nodiscard]] std::vector<std::int32_t> next(std::size_t direction) const;
  /// Values of the active cells, (size()), out of those of the whole grid, (total()). Throws RunError for others.
  [[nodiscard]] std::vector<double> of_all(const std::vector<double>& values) const;
  /// Host memory, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

private:
  CellEdges m_edges;
  std::array<double, 3> m_rounding;
  /// empty: all
  std::vector<std::int64_t> m_cells;
  Bounds m_bounds;
};

/// Numbers of the cells whose centre is below the surface. `heights`: (northing, easting), metres, at the centres of
/// the columns of cells; nothing is below NaN. Throws RunError when they are not one a column.
[[nodiscard]] std::vector<std::int64_t> cells_below(const CellEdges& edges, const std::vector<double>& heights);
/// Those of `cells`, numbers that rise, whose top is at most the height of the ceiling over their column. `ceilings`:
/// (northing, easting), metres, infinite where there is none. Throws RunError when they are not one a column.
[[nodiscard]] std::vector<std::int64_t> cells_under(const CellEdges& edges, const std::vector<double>& ceilings,
                                                    const std::vector<std::int64_t>& cells);

}  // namespace prismfield
