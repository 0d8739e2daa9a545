// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

#include "formats/input_file.hpp"

// Formats of grids: what their files hold, in the files' own units.

namespace prismfield {

/// What files call the coordinates, the first that is there.
inline const std::vector<std::string> easting_names = {"easting", "x", "lon", "longitude"};
inline const std::vector<std::string> northing_names = {"northing", "y", "lat", "latitude"};
inline const std::vector<std::string> height_names = {"upward", "elevation", "height", "z"};

/// Values at the nodes of a grid, in the file's units.
struct GridVariable {
  /// what the file calls the coordinates and the values
  std::string easting_name = "x", northing_name = "y", name = {};
  /// "" where the file states none
  std::string easting_unit = {}, northing_unit = {}, unit = {};
  /// ascending, each at least one
  std::vector<double> easting = {}, northing = {};
  /// (northing, easting), NaN where the file has none
  std::vector<double> values = {};
  /// the coordinates are longitude and latitude by the file's reference system
  bool is_geographic = false;
  /// the values grow downwards
  bool is_depth = false;
  /// what is strange in the file, "" for nothing
  std::string doubt = {};
};

/// Whether a variable's values grow downwards: by its attribute positive or, without it, by its name or standard_name.
[[nodiscard]] bool is_depth(const ArrayFile& arrays, const std::string& variable);

/// Reads a variable of two dimensions, leading ones of one value left out, whatever the order of its dimensions and
/// coordinates. Throws InputError when its coordinates are missing or neither rise nor fall.
[[nodiscard]] GridVariable read_grid_variable(const InputFile& file, const ArrayFile& arrays,
                                              const std::string& variable);

/// Reads a file in a format of grids: netCDF and HDF5 (`variable`, or the one of two dimensions where it is "" or
/// unset; unset: the case has no key that names one), GeoTIFF where GDAL was built in, ESRI ASCII grid, Surfer grid
/// (DSAA, DSBB, DSRB). Nothing for any other file, which may be a table. Throws InputError.
[[nodiscard]] std::optional<GridVariable> read_grid(const InputFile& file, const std::optional<std::string>& variable);

/// Values over (easting, northing) as values over (northing, easting).
[[nodiscard]] std::vector<double> turned(const std::vector<double>& values, std::size_t n_northing,
                                         std::size_t n_easting);

/// True when an array has two dimensions beside leading ones of one value.
[[nodiscard]] bool is_grid_shape(const std::vector<std::int64_t>& shape);

/// "3.6.2", or "" where GDAL was not built in.
[[nodiscard]] std::string gdal_version();

}  // namespace prismfield
