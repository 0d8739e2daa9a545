// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "model/cells.hpp"
#include "model/inactive_mark.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// The files of a UBC mesh and its properties.
struct UbcFiles {
  std::filesystem::path mesh;
  /// two of density, susceptibility and magnetisation may be missing
  std::filesystem::path density;
  /// factor from the file's unit to kg/m3; UBC's programs write g/cm3
  double density_to_si = 1000;
  /// the value of cells without mass, such as air, in the files' units; unset: there are no such cells
  std::optional<double> inactive = {};
  std::filesystem::path susceptibility = {}, magnetization = {};
};

/// Reads cell edges of a UBC mesh: counts, top south-west corner, widths towards east and north and downwards. `3*50`
/// and `3 * 50` are three widths. Throws InputError, by line, for the first error, too many cells, other kinds of
/// meshes, and for a file with one number per line, which looks like a model.
[[nodiscard]] CellEdges read_ubc_mesh(const InputFile& file);

/// Reads the cells of a UBC OcTree mesh in the order of the file, z up, density 0. The file has counts of the smallest
/// cells, the top south-west corner, their edges, the number of cells, then `i j k size` per line, from 1, k downwards.
/// Appends a note where they do not fill the mesh. Throws InputError with every error found.
[[nodiscard]] PrismBlock read_ubc_octree(const InputFile& file, std::vector<std::string>& notes);

/// The numbers of a UBC model in the order of the file, times `to_si`. `mesh`: the file with the cells. Throws
/// InputError with every error found, or when the file looks like a mesh.
[[nodiscard]] std::vector<double> read_ubc_values(const InputFile& file, double to_si, std::int64_t cells,
                                                  const std::string& mesh, const std::string& what);

/// The densities of a UBC file, kg/m3, or other values named `what`: the file's numbers times `to_si`, converted from
/// the file's order (depth fastest, then easting, then northing) to the order of cells here. Throws InputError with
/// every error found, or when the file looks like a mesh.
[[nodiscard]] std::vector<double> read_ubc_densities(const InputFile& file, double to_si, const CellCounts& counts,
                                                     const std::string& what = "density");

/// The magnetisation, A/m, along easting, northing and upward, in the order of cells here, from a UBC vector model. The
/// file has three effective susceptibilities per line, along easting, northing and downwards, in UBC's order; `to_si`
/// converts them to A/m. Throws InputError with every error found.
[[nodiscard]] std::array<std::vector<double>, 3> read_ubc_vectors(const InputFile& file, double to_si,
                                                                  const CellCounts& counts);

/// What inactive cells have in models of UBC's magnetic programs.
inline constexpr double ubc_inactive = -100;

/// A field along a direction, z along `axes` where it depends on these.
struct Projection {
  Field field;
  Axes axes;
  double inclination, declination;
};
/// Components that UBC's magnetic data may be; declinations are east of north.
inline constexpr std::array projections = {
    Projection{Field::bx, Axes::z_down, 0, 90}, Projection{Field::by, Axes::z_down, 0, 0},
    Projection{Field::bz, Axes::z_down, 90, 0}, Projection{Field::bz, Axes::z_up, -90, 0}};

/// The third number of the second line of UBC's magnetic data.
inline constexpr double each_direction = 0, one_direction = 1, no_direction = 2;

/// mGal in a m/s2
inline constexpr double milligals = 1e5;

/// 0 - z, so that 0 does not become -0.
[[nodiscard]] inline double other_way(double z) { return 0.0 - z; }

/// Measurements of a UBC file: their number, then `E N elevation [value [sigma]]` a line, the same columns in all,
/// `!` comments. Values are those of `field`, unset: gz, in mGal or Eotvos, positive downwards unless `axes` says
/// otherwise; a file of places alone has no field. Magnetic data begin with `incl decl |F0|` and `aincl adecl idir`:
/// the inducing field, degrees and nT, and along what the anomaly is measured, which is the inducing field (tmi), an
/// axis (bx, by, bz) or, with idir 2, nothing (amplitude). Throws InputError with every error found.
[[nodiscard]] PointFields read_ubc_data(const InputFile& file, std::optional<Field> field, std::optional<Axes> axes);

/// In which order a file has the numbers of cells: as cells are numbered here, by UBC's (depth fastest, then easting,
/// then northing), or as write_tomofast_grid() has them, layers from the top.
enum class CellOrder { own, ubc, tomofast };

/// Calls found(cell) for the number of each cell, in the order of a file.
template <class Found>
void each_cell(CellOrder order, const CellCounts& counts, const Found& found) {
  const bool is_ubc = order == CellOrder::ubc, from_top = order != CellOrder::own;
  // how often the number counts along easting, northing and upward, the outermost first
  const std::array<std::size_t, 3> loops =
      is_ubc ? std::array<std::size_t, 3>{1, 0, 2} : std::array<std::size_t, 3>{2, 1, 0};
  CellCounts at{};
  for (at[loops[0]] = 0; at[loops[0]] < counts[loops[0]]; ++at[loops[0]]) {
    for (at[loops[1]] = 0; at[loops[1]] < counts[loops[1]]; ++at[loops[1]]) {
      for (at[loops[2]] = 0; at[loops[2]] < counts[loops[2]]; ++at[loops[2]]) {
        const std::int64_t layer = from_top ? counts[2] - 1 - at[2] : at[2];
        found(static_cast<std::size_t>((layer * counts[1] + at[1]) * counts[0] + at[0]));
      }
    }
  }
}

/// Numbers of all cells in the order of a file as those of cells here.
[[nodiscard]] std::vector<double> in_cell_order(CellOrder order, const CellCounts& counts,
                                                const std::vector<double>& of_file);

/// A grid of Tomofast-x.
struct TomofastGrid {
  /// in the file's order, z up, without densities
  PrismBlock cells;
  /// the file's values in its order: none, those of one number a cell, or those of a vector, z up
  std::vector<std::vector<double>> values;
  /// of a rectilinear grid; nothing of others, such as those whose layers follow the terrain
  std::optional<CellEdges> edges;
  /// with edges, for each row of the file, the number of its cell here: easting fastest, then northing, then upward
  std::vector<std::int64_t> cell_of_row;
};

/// Boxes that are cells of a rectilinear grid.
struct BoxGrid {
  CellEdges edges;
  /// of each box its cell's number: easting fastest, then northing, then upward
  std::vector<std::int64_t> cells;
};
/// The grid that boxes are cells of, each of another one; nothing for others and of a grid of more than `most` cells.
/// Faces closer than `part` of the narrowest box differ by rounding: they are one.
[[nodiscard]] std::optional<BoxGrid> grid_of(const PrismBlock& boxes, double part, std::int64_t most);

/// A grid: the number of cells, then `X1 X2 Y1 Y2 Z1 Z2 [value] i j k` a line, or three values, of a magnetisation, z
/// down, X along easting; values times `to_si`. Rows may come in any order, and i, j and k may each count along any
/// axis, either way. It is rectilinear when faces of one index differ by less than a thousandth of a cell. Throws
/// InputError with every error found.
[[nodiscard]] TomofastGrid read_tomofast_grid(const InputFile& file, double to_si);

/// Numbers of a grid's cells in the order of the grid's rows: their number, then one a line, or three of a
/// magnetisation (easting, northing, downwards in the file, upward here), `to_si` times what is written: one list or
/// three. Throws InputError with every error found.
[[nodiscard]] std::vector<std::vector<double>> read_tomofast_values(const InputFile& file, double to_si,
                                                                    std::int64_t cells);

/// Values in the order of the grid's rows as those of its cells, easting fastest. The grid has edges.
[[nodiscard]] std::vector<double> in_cell_order(const TomofastGrid& grid, const std::vector<double>& of_rows);

/// Data: their number, then `X Y Z value` a line, the value of `field`: gz in m/s2, or tmi in nT; or `X Y Z bx by bz`
/// in nT. z is down, and gz and bz, unless `axes` says otherwise of these; places alone have no field. Throws
/// InputError with every error found.
[[nodiscard]] PointFields read_tomofast_data(const InputFile& file, Field field, Axes axes);

}  // namespace prismfield
