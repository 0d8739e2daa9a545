// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <vector>

#include "io/input_file.hpp"

namespace prismfield {

/// Heights at the nodes of a grid, (northing, easting), metres, from a file on the same grid, netCDF or CSV. `easting`
/// and `northing`: the grid's coordinates. Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                               const std::vector<double>& northing);

}  // namespace prismfield
