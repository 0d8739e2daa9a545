// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/prisms.hpp>

#include "model/axis.hpp"
#include "model/properties.hpp"

namespace prismfield {

/// One property of the cells of a grid that nothing is painted over, in its unit.
struct PropertyFill {
  enum class Kind { constant, random, listed };
  Kind kind = Kind::constant;
  /// constant
  double value = 0;
  /// random: uniform on [range.min, range.max), a function of seed and cell number
  Range range;
  std::uint64_t seed = 1;
  /// listed: one a cell, easting fastest, then northing, then upward
  std::vector<double> values;
};

/// All properties, by their places in Properties. Of the three of the magnetisation all or none are listed.
using CellBackground = std::array<PropertyFill, property_names.size()>;

/// Consecutive cells of a row painted with the same properties over the background.
struct PaintedCells {
  std::int64_t first = 0;
  std::int64_t count = 0;
  Properties properties{};
};

/// Consecutive cells of a row that the same thing fills.
struct CellRun {
  static constexpr std::int32_t from_background = -1;

  std::int32_t first;
  /// prisms of the row before it
  std::int32_t before;
  /// index into CellsContent::constants, or from_background
  std::int32_t fill;
};

/// Consecutive rows with the same runs; rows without prisms belong to no group.
struct CellGroup {
  std::int64_t first_row;
  std::int64_t rows;
  /// prisms before it
  std::int64_t before;
  std::size_t first_run;
  std::int32_t runs;
  std::int32_t prisms_a_row;
};

/// All that Cells are made of, plain data: ranks pass it on to each other.
struct CellsContent {
  /// begins the description: "voxels" or "mesh"
  std::string kind;
  CellEdges edges;
  /// listed values are those of the prisms alone, in their order, painted ones too
  CellBackground background;
  /// of these, properties that are listed do not count
  std::vector<Properties> constants;
  std::vector<CellRun> runs;
  std::vector<CellGroup> groups;
  std::int64_t size = 0;
  Bounds bounds;
  PropertyRanges ranges;
  /// what a susceptibility of 1 SI is magnetised to, A/m
  std::array<double, 3> induced{};
  /// of the edges, see PrismSource::rounding()
  std::array<double, 3> rounding{};
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  /// host memory while they were being made, bytes
  std::int64_t peak_bytes = 0;
};

/// The cells of a rectilinear grid as an ensemble: edges, and what fills the cells. Rows (of cells along easting) that
/// look alike and follow each other are kept once, so that memory goes with the rows that differ, not with the cells.
/// Cells whose properties are all 0 are left out.
class Cells final : public PrismSource {
public:
  explicit Cells(CellsContent content) : m_content(std::move(content)) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return m_content.size; }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_content.bounds; }
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_content.rounding; }
  void set_rounding(const std::array<double, 3>& rounding) noexcept { m_content.rounding = rounding; }
  [[nodiscard]] bool uniform_shape() const noexcept override;
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] bool is_magnetized() const noexcept override { return m_content.ranges.is_magnetic(); }

  /// Writes the susceptibilities of prisms, SI, to out, resized to them.
  void read_susceptibilities(IndexRange range, std::vector<double>& out) const;
  /// What a susceptibility of 1 SI is magnetised to, A/m.
  void set_induced(const std::array<double, 3>& induced) noexcept { m_content.induced = induced; }

  /// Host memory that the cells occupy, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The same while they were being made: reading and checking files takes more than what stays.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept {
    return std::max(m_content.peak_bytes, memory_bytes());
  }
  void note_peak(std::int64_t bytes) noexcept { m_content.peak_bytes = std::max(m_content.peak_bytes, bytes); }
  /// One line, e.g. "voxels 700 x 700 x 50, 251946 prisms with density".
  [[nodiscard]] std::string description() const;
  /// What the prisms are made of; of random properties the range that they are drawn from.
  [[nodiscard]] const PropertyRanges& ranges() const noexcept { return m_content.ranges; }
  /// What the user should be told though the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_content.warnings; }
  void add_warning(std::string text) { m_content.warnings.push_back(std::move(text)); }
  /// What users should see that is no error.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return m_content.notes; }
  void add_note(std::string text) { m_content.notes.push_back(std::move(text)); }

  [[nodiscard]] const CellsContent& content() const noexcept { return m_content; }
  /// The content, out of cells that nobody needs any more.
  [[nodiscard]] CellsContent take() && noexcept { return std::move(m_content); }

private:
  CellsContent m_content;
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
  [[nodiscard]] std::int32_t constant(const Properties& properties);
  void close_rows(std::int64_t first_row, std::int64_t rows);
  /// Rows that are alike; where anything is listed, one.
  void add_alike(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted);
  void paint_lists(std::int64_t row, const std::vector<PaintedCells>& painted);
  /// Adds cells of the row but those whose properties are all 0; `unlisted`: whether any that is not listed is not 0.
  void add_cells(std::int64_t row, std::int64_t first, std::int64_t count, std::int32_t fill, bool unlisted);
  void keep_listed(std::int64_t row);
  void end_lists();
  void find_bounds();
  void find_ranges();

  CellsContent m_content;
  CellCounts m_counts{};
  std::int64_t m_next_row = 0;
  std::map<Properties, std::int32_t> m_constant_of;
  /// the background's constants, and its fill where these are all that it has
  Properties m_constants{};
  bool m_has_random = false;
  std::vector<std::size_t> m_listed;
  /// the row being put together: its runs and the prisms in it
  std::vector<CellRun> m_row;
  std::int32_t m_row_prisms = 0;
};

/// More cells than any survey has in one direction, few enough that a direction's edges always fit in memory.
inline constexpr std::int64_t most_cells_in_a_direction = 10'000'000;

/// Throws InputError, by `key` and the direction, unless the numbers of cells and their product can be counted.
void check_cell_counts(const CellCounts& counts, const std::string& key);
/// What is wrong with so many cells in one direction; "" when nothing is.
[[nodiscard]] std::string error_in_direction(std::int64_t cells);
/// The same of all directions together, whose product has to be countable.
[[nodiscard]] std::string error_in_total(const CellCounts& counts);

/// True when the cells between edges are equal to the rounding of their coordinates.
[[nodiscard]] bool equal_widths(const CellEdges& edges) noexcept;
/// Writes the faces of `count` cells of a row, the first at `place` (along easting, northing, upward), to the prisms
/// [at, at + count) of `out`.
void write_faces(const CellEdges& edges, const std::array<std::int64_t, 3>& place, std::int64_t count, std::int64_t at,
                 PrismBlock& out);

/// What fills the cells between these edges: a file of properties must know them.
using MakeBackground = std::function<CellBackground(const CellEdges&)>;

}  // namespace prismfield
