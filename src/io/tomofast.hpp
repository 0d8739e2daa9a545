// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/file_content.hpp"
#include "io/input_file.hpp"
#include "io/output_file.hpp"

namespace prismfield {

/// A grid of Tomofast-x.
struct TomofastGrid {
  /// in the file's order, z up; density is the file's value, 0 where it has none
  PrismBlock cells;
  bool has_values = false;
  /// of a rectilinear grid; nothing of others, such as those whose layers follow the terrain
  std::optional<CellEdges> edges;
  /// with edges, for each row of the file, the number of its cell here: easting fastest, then northing, then upward
  std::vector<std::int64_t> cell_of_row;
};

/// A grid: the number of cells, then `X1 X2 Y1 Y2 Z1 Z2 [value] i j k` a line, z down, X along easting; values times
/// `to_si`. Rows may come in any order, and i, j and k may each count along any axis, either way. It is rectilinear
/// when faces of one index differ by less than a thousandth of a cell. Throws InputError with every error found.
[[nodiscard]] TomofastGrid read_tomofast_grid(const InputFile& file, double to_si);

/// Numbers of a grid's cells in the order of the grid's rows: their number, then one a line, `to_si` times what is
/// written. Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_tomofast_values(const InputFile& file, double to_si, std::int64_t cells);

/// Values in the order of the grid's rows as those of its cells, easting fastest. The grid has edges.
[[nodiscard]] std::vector<double> in_cell_order(const TomofastGrid& grid, const std::vector<double>& of_rows);

/// Data: their number, then `X Y Z gz` a line in m and m/s2, z and gz down unless `axes` says otherwise of gz; places
/// alone have no field. Throws InputError with every error found.
[[nodiscard]] PointFields read_tomofast_data(const InputFile& file, Axes axes);

/// Writes a grid with nine columns, X fastest, then Y, layers from the top. Throws RunError.
void write_tomofast_grid(TextOutput& out, const CellEdges& edges);
/// Writes one number a cell in the order of write_tomofast_grid, values over `to_si`, `inactive` for NaN. Throws
/// RunError.
void write_tomofast_values(TextOutput& out, const std::vector<double>& values, const CellCounts& counts, double to_si,
                           double inactive);
/// Writes places and gz, in m/s2 with z pointing along `axes`; 0 where there is none. Throws InputError when one is
/// NaN; RunError.
void write_tomofast_data(TextOutput& out, const PointFields& points, Axes axes);

}  // namespace prismfield
