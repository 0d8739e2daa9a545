// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "io/grid_variable.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// True when a readable file begins with a word of the header of an ESRI ASCII grid.
[[nodiscard]] bool is_ascii_grid(const InputFile& file);

/// Reads an ESRI ASCII grid: a header of ncols, nrows, the lower left corner (xllcorner, yllcorner) or node (xllcenter,
/// yllcenter), cellsize or dx and dy, NODATA_value (-9999 without it), then the rows from the north. Nodes are the
/// cells' centres; those without a value are NaN. Throws InputError with the line of the error.
[[nodiscard]] GridVariable read_ascii_grid(const InputFile& file);

}  // namespace prismfield
