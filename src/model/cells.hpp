// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "io/input_file.hpp"
#include "model/ensemble.hpp"

namespace prismfield {

/// Cell edges in the directions easting, northing, upward, metres, each strictly increasing.
using CellEdges = std::array<std::vector<double>, 3>;
/// Cells in the directions easting, northing, upward.
using CellCounts = std::array<std::int64_t, 3>;

/// What fills the cells of a grid that nothing is painted over.
struct CellBackground {
  enum class Kind { constant, random, listed };
  Kind kind = Kind::constant;
  /// constant: kg/m3
  double value = 0;
  /// random: uniform on [range.min, range.max) kg/m3, a function of seed and cell number
  Range range;
  std::uint64_t seed = 1;
  /// listed: one density a cell, easting fastest, then northing, then upward, kg/m3
  std::vector<double> densities;
};

/// Consecutive cells of a row painted with one density over the background.
struct PaintedCells {
  std::int64_t first = 0;
  std::int64_t count = 0;
  double density = 0;
};

/// The cells of a rectilinear grid as an ensemble: edges, and what fills the cells. Rows (of cells along easting) that
/// look alike and follow each other are kept once, so that memory goes with the rows that differ, not with the cells.
/// Cells of density 0 are left out.
class Cells final : public Ensemble {
public:
  [[nodiscard]] std::int64_t size() const noexcept override { return m_size; }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  [[nodiscard]] bool uniform_shape() const noexcept override;
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override;
  [[nodiscard]] std::string description() const override;
  void add_warning(std::string text) { m_warnings.push_back(std::move(text)); }
  void note_peak(std::int64_t bytes) noexcept { m_peak_bytes = std::max(m_peak_bytes, bytes); }

private:
  friend class CellsBuilder;
  friend std::unique_ptr<Ensemble> share_cells(std::unique_ptr<Ensemble> cells, const Communicator& communicator);
  static constexpr std::int32_t from_background = -1;

  /// Consecutive cells of a row that the same thing fills.
  struct Run {
    std::int32_t first;
    /// prisms of the row before it
    std::int32_t before;
    /// index into m_constants, or from_background
    std::int32_t fill;
  };
  /// Consecutive rows with the same runs; rows without prisms belong to no group.
  struct Group {
    std::int64_t first_row;
    std::int64_t rows;
    /// prisms before it
    std::int64_t before;
    std::size_t first_run;
    std::int32_t runs;
    std::int32_t prisms_a_row;
  };

  [[nodiscard]] std::int32_t run_end(const Group& group, std::int32_t run) const noexcept;

  std::string m_kind;
  CellEdges m_edges;
  /// densities of kind listed are those of the prisms alone, in their order
  CellBackground m_background;
  std::vector<double> m_constants;
  std::vector<Run> m_runs;
  std::vector<Group> m_groups;
  std::int64_t m_size = 0;
  Bounds m_bounds;
};

/// Makes Cells from rows painted in ascending order.
class CellsBuilder {
public:
  /// `kind` begins the ensemble's description: "voxels" or "mesh".
  CellsBuilder(std::string kind, CellEdges edges, CellBackground background);

  /// Paints rows [first_row, first_row + rows), numbered northing fastest, then upward, all alike: `painted` in
  /// ascending order without overlaps, the cells between keep the background. Rows come in ascending order, each once.
  void add_rows(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted);

  /// The ensemble; call it once, last.
  [[nodiscard]] std::unique_ptr<Cells> build();

private:
  void add_run(std::int64_t first, std::int64_t count, std::int32_t fill);
  [[nodiscard]] std::int32_t constant(double density);
  void close_rows(std::int64_t first_row, std::int64_t rows);
  void add_listed_rows();
  void find_bounds();

  std::unique_ptr<Cells> m_cells;
  CellCounts m_counts{};
  std::int64_t m_next_row = 0;
  std::map<double, std::int32_t> m_constant_of;
  /// the row being put together: its runs and the prisms in it
  std::vector<Cells::Run> m_row;
  std::int32_t m_row_prisms = 0;
};

/// Gives every rank the Cells that rank 0 made; `cells` is not looked at elsewhere. Collective.
[[nodiscard]] std::unique_ptr<Ensemble> share_cells(std::unique_ptr<Ensemble> cells, const Communicator& communicator);

/// What a case's density key asks for: reads and validates its file. `key` is "model.voxels.density".
/// Throws InputError with every mistake found.
[[nodiscard]] CellBackground cell_background(const Case& run, const std::string& key, const DensitySpec& spec,
                                             const CellCounts& counts);

/// More cells than any survey has in one direction, few enough that a direction's edges always fit in memory.
inline constexpr std::int64_t most_cells_in_a_direction = 10'000'000;

/// Throws InputError unless the numbers of cells and their product can be counted.
void check_cell_counts(const CellCounts& counts, const std::string& where, const std::string& key);

}  // namespace prismfield
