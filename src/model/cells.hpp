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

/// One property of all cells of a grid before painting, in its unit.
struct PropertyFill {
  enum class Kind { constant, random, listed };
  Kind kind = Kind::constant;
  /// constant
  double value = 0;
  /// random: uniform on [range.min, range.max), depends on seed and cell number only
  Range range;
  std::uint64_t seed = 1;
  /// listed: one value per cell, easting fastest, then northing, then upward
  std::vector<double> values;
};

/// All properties in the order of Properties. Either all three components of the magnetisation are listed or none.
using CellBackground = std::array<PropertyFill, property_names.size()>;

/// Consecutive cells of a row, painted over the background with the same properties.
struct PaintedCells {
  std::int64_t first = 0;
  std::int64_t count = 0;
  Properties properties{};
};

/// Consecutive cells of a row with the same fill.
struct CellRun {
  static constexpr std::int32_t from_background = -1;

  std::int32_t first;
  /// prisms of the row before this run
  std::int32_t before;
  /// index into CellsContent::constants, or from_background
  std::int32_t fill;
};

/// Consecutive rows with the same runs. Rows without prisms belong to no group.
struct CellGroup {
  std::int64_t first_row;
  std::int64_t rows;
  /// prisms before this group
  std::int64_t before;
  std::size_t first_run;
  std::int32_t runs;
  std::int32_t prisms_a_row;
};

/// The data of Cells. It is plain, so that ranks can broadcast it.
struct CellsContent {
  /// first word of the description: "voxels" or "mesh"
  std::string kind;
  CellEdges edges;
  /// lists have one value per prism in order, painted prisms included
  CellBackground background;
  /// fills of runs; listed properties in them have no effect
  std::vector<Properties> constants;
  std::vector<CellRun> runs;
  std::vector<CellGroup> groups;
  std::int64_t size = 0;
  Bounds bounds;
  PropertyRanges ranges;
  /// magnetisation of a susceptibility of 1 SI, A/m
  std::array<double, 3> induced{};
  /// rounding of the edges, see PrismSource::rounding()
  std::array<double, 3> rounding{};
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  /// host memory while they were made, bytes
  std::int64_t peak_bytes = 0;
};

/// The cells of a rectilinear grid as an ensemble, made by CellsBuilder for voxels and meshes. Equal consecutive rows
/// (cells along easting) are stored once, so that memory depends on the number of different rows. Cells with all
/// properties 0 are not prisms.
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

  /// Resizes `out` to `range` and writes the susceptibilities of its prisms there, SI.
  void read_susceptibilities(IndexRange range, std::vector<double>& out) const;
  /// Sets the magnetisation of a susceptibility of 1 SI, A/m.
  void set_induced(const std::array<double, 3>& induced) noexcept { m_content.induced = induced; }

  /// Host memory of the cells, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// Host memory at its peak, while files were read and checked, bytes.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept {
    return std::max(m_content.peak_bytes, memory_bytes());
  }
  void note_peak(std::int64_t bytes) noexcept { m_content.peak_bytes = std::max(m_content.peak_bytes, bytes); }
  /// One line, e.g. "voxels 700 x 700 x 50, 251946 prisms with density".
  [[nodiscard]] std::string description() const;
  /// The ranges of all properties; for random ones, the range that they are drawn from.
  [[nodiscard]] const PropertyRanges& ranges() const noexcept { return m_content.ranges; }
  /// Warnings for the user; the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_content.warnings; }
  void add_warning(std::string text) { m_content.warnings.push_back(std::move(text)); }
  /// Remarks for the user that are no errors.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return m_content.notes; }
  void add_note(std::string text) { m_content.notes.push_back(std::move(text)); }

  [[nodiscard]] const CellsContent& content() const noexcept { return m_content; }
  /// Moves the content out.
  [[nodiscard]] CellsContent take() && noexcept { return std::move(m_content); }

private:
  CellsContent m_content;
};

/// Makes Cells from rows painted in ascending order. make_voxels() and make_mesh() use it.
class CellsBuilder {
public:
  /// `kind`: first word of the description, "voxels" or "mesh".
  CellsBuilder(std::string kind, CellEdges edges, CellBackground background);

  /// Paints rows [first_row, first_row + rows), numbered northing fastest, then upward, all alike. `painted` is
  /// ascending and without overlaps; other cells keep the background. Rows come in ascending order, each at most once.
  void add_rows(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted);

  /// The ensemble. Call it once, last.
  [[nodiscard]] std::unique_ptr<Cells> build();

private:
  void add_run(std::int64_t first, std::int64_t count, std::int32_t fill);
  [[nodiscard]] std::int32_t constant(const Properties& properties);
  void close_rows(std::int64_t first_row, std::int64_t rows);
  /// Adds equal rows; just one where a property is listed.
  void add_alike(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted);
  void paint_lists(std::int64_t row, const std::vector<PaintedCells>& painted);
  /// Adds the row's cells whose properties are not all 0. `unlisted`: whether any unlisted property is not 0.
  void add_cells(std::int64_t row, std::int64_t first, std::int64_t count, std::int32_t fill, bool unlisted);
  void keep_listed(std::int64_t row);
  void end_lists();
  void find_bounds();
  void find_ranges();

  CellsContent m_content;
  CellCounts m_counts{};
  std::int64_t m_next_row = 0;
  std::map<Properties, std::int32_t> m_constant_of;
  /// the constants of the background, and its fill where all properties are constant
  Properties m_constants{};
  bool m_has_random = false;
  std::vector<std::size_t> m_listed;
  /// runs and number of prisms of the row in progress
  std::vector<CellRun> m_row;
  std::int32_t m_row_prisms = 0;
};

/// Exceeds any survey's cells in one direction, yet the edges of a direction still fit in memory.
inline constexpr std::int64_t most_cells_in_a_direction = 10'000'000;

/// Throws InputError, by `key` and direction, when the numbers of cells or their product are out of range.
void check_cell_counts(const CellCounts& counts, const std::string& key);
/// The error for this number of cells in one direction; "" for a valid number.
[[nodiscard]] std::string error_in_direction(std::int64_t cells);
/// The same for the product of all directions, which must fit into std::int64_t.
[[nodiscard]] std::string error_in_total(const CellCounts& counts);

/// Whether all cells have equal edges to the rounding of their coordinates.
[[nodiscard]] bool equal_widths(const CellEdges& edges) noexcept;
/// Writes the faces of `count` cells of a row, the first at `place` (easting, northing, upward), to the prisms [at, at
/// + count) of `out`.
void write_faces(const CellEdges& edges, const std::array<std::int64_t, 3>& place, std::int64_t count, std::int64_t at,
                 PrismBlock& out);

/// Makes the background once the edges are known, which files of properties need.
using MakeBackground = std::function<CellBackground(const CellEdges&)>;

}  // namespace prismfield
