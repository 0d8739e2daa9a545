// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

#include "io/input_file.hpp"

namespace prismfield {

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
