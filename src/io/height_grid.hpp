// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "io/input_file.hpp"

namespace prismfield {

/// Heights of a surface at places of the caller's, metres: (northing, easting) on the grid of `easting` x `northing`.
/// From netCDF or HDF5 (a two-dimensional variable with coordinates), or a table of easting, northing, upward in any
/// order: where its points make a whole grid, bilinear between them, else the height of the nearest point, which `note`
/// then says. Beyond the file's area the nearest height inside counts, which `note` says too, with how far. `columns`
/// names a table's columns without a header. Throws InputError with every mistake found.
[[nodiscard]] std::vector<double> read_height_grid(const InputFile& file, const std::vector<std::string>& columns,
                                                   const std::vector<double>& easting,
                                                   const std::vector<double>& northing, std::string& note);

}  // namespace prismfield
