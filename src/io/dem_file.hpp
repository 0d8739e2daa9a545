// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/input_file.hpp"
#include "model/node_grid.hpp"

namespace prismfield {

/// A grid of heights or densities in a file.
struct DemFile {
  std::filesystem::path file;
  /// netCDF and HDF5 only; empty: the variable of two dimensions, the one with a height's name when there are several
  std::string variable;
};

/// Points so many metres above a surface: that of model.terrain, or of a file of their own.
struct AboveTerrain {
  double height = 0;
  std::optional<DemFile> dem;
  /// metres: where the surface is lower, heights count from here
  std::optional<double> sea_level;
};

/// What a DEM has come to.
struct Dem {
  NodeGrid grid;
  /// host memory while it was being read, bytes
  std::int64_t peak_bytes = 0;
};

/// Reads a digital elevation model, metres: netCDF (the classic formats too) or HDF5 with coordinates, in any order of
/// dimensions, rows and columns; ESRI ASCII grid; a table of easting, northing, upward that fills a grid, with gaps or
/// not; GeoTIFF where GDAL was built in. Nodes without a height (fill values, NODATA_value, gaps) are NaN. Lengths in
/// feet or kilometres, by the file's own units, become metres. Throws InputError with every error found: longitudes
/// and latitudes, which have to be projected first, too.
[[nodiscard]] Dem read_dem(const InputFile& file, const std::string& variable);

/// As read_dem, of densities: `to_si` makes them kg/m3.
[[nodiscard]] Dem read_density_grid(const InputFile& file, const std::string& variable, double to_si);

/// Throws InputError unless `densities`, out of `file`, are on the nodes of the heights.
void check_same_nodes(const InputFile& file, const NodeGrid& densities, const NodeGrid& heights);

/// "3.6.2", or "" where GDAL was not built in.
[[nodiscard]] std::string gdal_version();

}  // namespace prismfield
