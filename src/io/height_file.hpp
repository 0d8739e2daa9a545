// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "io/input_file.hpp"

namespace prismfield {

/// What files call the coordinates, the first that is there.
inline const std::vector<std::string> easting_names = {"easting", "x", "lon", "longitude"};
inline const std::vector<std::string> northing_names = {"northing", "y", "lat", "latitude"};
inline const std::vector<std::string> height_names = {"upward", "elevation", "height", "z"};

/// A variable of two dimensions with its coordinates, in the file's units.
struct GridVariable {
  /// what the file calls the coordinates
  std::string easting_name, northing_name;
  /// ascending, each at least one
  std::vector<double> easting, northing;
  /// (northing, easting), NaN where the file has none
  std::vector<double> values;
};

/// Reads a variable of two dimensions, leading ones of one value left out, whatever the order of its dimensions and
/// coordinates. Throws InputError when its coordinates are missing or neither rise nor fall.
[[nodiscard]] GridVariable read_grid_variable(const InputFile& file, const ArrayFile& arrays,
                                              const std::string& variable);

/// Turns rows and columns round where coordinates fall.
void make_ascending(GridVariable& grid);

/// What the file calls the coordinates of a variable, northing's and then easting's. Throws as read_grid_variable.
[[nodiscard]] std::pair<std::string, std::string> grid_coordinates(const InputFile& file, const ArrayFile& arrays,
                                                                   const std::string& variable);

/// The variable of two dimensions, the one with a height's name when there are several. Throws InputError when it
/// cannot be told; `remedy` ends the message.
[[nodiscard]] std::string height_variable(const InputFile& file, const ArrayFile& arrays,
                                          const std::string& remedy = "");

/// Values over (easting, northing) as values over (northing, easting).
[[nodiscard]] std::vector<double> turned(const std::vector<double>& values, std::size_t n_northing,
                                         std::size_t n_easting);

/// True when an array has two dimensions beside leading ones of one value.
[[nodiscard]] bool is_grid_shape(const std::vector<std::int64_t>& shape);

/// Adds a problem when a coordinate says that its unit is none of the length that `length_to_si` makes metres.
void check_length_unit(const InputFile& file, const ArrayFile& arrays, const std::string& variable, double length_to_si,
                       ProblemList& problems);
/// The number of a value among those that rise.
[[nodiscard]] std::size_t node_of(const std::vector<double>& rising, double value);
/// The values, each once, rising.
[[nodiscard]] std::vector<double> sorted_once(std::vector<double> values);

/// A surface out of a file: netCDF or HDF5 (a two-dimensional variable with coordinates), or a table of easting,
/// northing, upward in any order. Where its points make a whole grid it is bilinear between them, otherwise of the
/// height of the nearest point; beyond the file's area of the nearest height inside.
class HeightSurface {
public:
  /// `columns` names a table's columns without a header. Throws InputError with every error found.
  HeightSurface(const InputFile& file, const std::vector<std::string>& columns);

  /// Heights on the grid of `easting` x `northing`, (northing, easting), metres. `note` says where points make no grid,
  /// and how many places lie beyond the file's area, by how much; otherwise it becomes "".
  [[nodiscard]] std::vector<double> on_grid(const std::vector<double>& easting, const std::vector<double>& northing,
                                            std::string& note) const;
  /// Heights at points, one a point, metres.
  [[nodiscard]] std::vector<double> at(const std::vector<double>& easting, const std::vector<double>& northing) const;

private:
  void read_arrays(const InputFile& file);
  void read_table_of(const InputFile& file, const std::vector<std::string>& columns);
  void check_twice(const InputFile& file, const std::vector<std::int64_t>& lines, ProblemList& problems) const;
  void make_grid();
  [[nodiscard]] double height(std::size_t j, std::size_t i) const noexcept {
    return m_heights[j * m_easting.size() + i];
  }
  [[nodiscard]] std::string note_of(const std::vector<double>& easting, const std::vector<double>& northing) const;

  std::string m_name;
  /// coordinates of a grid, otherwise of points
  std::vector<double> m_easting, m_northing;
  /// (northing, easting) or (point)
  std::vector<double> m_heights;
  bool m_is_grid = false;
};

/// Heights at the nodes of a grid, (northing, easting), metres, from a file on the same grid, netCDF or CSV. `easting`
/// and `northing`: the grid's coordinates. Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                               const std::vector<double>& northing);

}  // namespace prismfield
