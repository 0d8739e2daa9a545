// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
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

/// How a surface is read.
struct SurfaceRequest {
  /// of netCDF and HDF5, "": the variable of two dimensions; unset: the case has no key for it
  std::optional<std::string> variable = {};
  /// of a table without header, none: the default order; unset: the case has no key for them
  std::optional<std::vector<std::string>> columns = {};
  /// the values are densities, which this factor makes kg/m3; unset: heights
  std::optional<double> density_to_si = {};
};

/// Heights or densities out of a file: at the nodes of a grid, or at points that make none.
struct Surface {
  /// metres: of a grid's nodes, rising, or one a point
  std::vector<double> easting, northing;
  /// metres or kg/m3: (northing, easting), NaN in gaps; or one a point, all finite
  std::vector<double> values;
  bool is_grid = true;
  /// what users should know: numbers that were taken as no value, rows left out
  std::vector<std::string> notes;
  /// host memory while it was being read, bytes
  std::int64_t peak_bytes = 0;
};

/// Reads a surface; terrain, topography and draped grids all use it. It reads the formats of read_grid(), and text of
/// easting, northing, upward in any order: a table or, below their number, UBC's topography. Points make a grid where
/// they lie at a quarter of its nodes or more; coordinates within a thousandth of the spacing are equal. Lengths in
/// feet or kilometres, by the file's units, become metres, depths heights. Dummies (find_dummies()) become gaps, rows
/// without a place are left out; notes report both. Throws InputError with every error found, among them longitudes and
/// latitudes, which must be projected first, and a node with two values.
[[nodiscard]] Surface read_surface(const InputFile& file, const SurfaceRequest& request = {});

/// A surface that has to be a grid of two nodes or more along each direction.
struct Dem {
  NodeGrid grid;
  std::vector<std::string> notes;
  /// host memory while it was being read, bytes
  std::int64_t peak_bytes = 0;
};

/// Reads a digital elevation model or, with `density_to_si`, a grid of densities. Throws InputError as read_surface()
/// does, and where the file makes no grid.
[[nodiscard]] Dem read_dem(const InputFile& file, const std::string& variable,
                           std::optional<double> density_to_si = {});

/// Throws InputError unless `densities`, out of `file`, are on the nodes of the heights.
void check_same_nodes(const InputFile& file, const NodeGrid& densities, const NodeGrid& heights);

/// Heights at the nodes of a grid, (northing, easting), metres, from a file on the same grid. `easting` and `northing`:
/// the grid's coordinates. What users should know of the file is added to `notes`. Throws InputError where the file has
/// other nodes or gaps.
[[nodiscard]] std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                               const std::vector<double>& northing, std::vector<std::string>& notes);

/// A surface with a height everywhere. Where the file has a grid it is bilinear between the nodes, gaps filled with the
/// height of the nearest node that has one; otherwise of the height of the nearest point; beyond the file's area of the
/// nearest height inside.
class HeightSurface {
public:
  /// `columns` names a table's columns without a header. Throws InputError with every error found.
  HeightSurface(const InputFile& file, const std::vector<std::string>& columns);

  /// What of the file was taken as no height, or as a depth, and heights that the Earth does not have.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_surface.notes; }
  /// Heights on the grid of `easting` x `northing`, (northing, easting), metres. `note` says where points make no grid,
  /// how many gaps were filled, and how many places lie beyond the file's area, by how much; otherwise it becomes "".
  [[nodiscard]] std::vector<double> on_grid(const std::vector<double>& easting, const std::vector<double>& northing,
                                            std::string& note) const;
  /// Heights at points, one a point, metres.
  [[nodiscard]] std::vector<double> at(const std::vector<double>& easting, const std::vector<double>& northing) const;

private:
  void fill_gaps();

  std::string m_name;
  Surface m_surface;
  /// what became of points that make no grid and of gaps
  std::vector<std::string> m_notes;
};

}  // namespace prismfield
