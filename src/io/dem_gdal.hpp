// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "io/grid_variable.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// True when a readable file begins as TIFF and BigTIFF do.
[[nodiscard]] bool is_tiff(const InputFile& file);

/// The first band of a GeoTIFF, metres, at the centres of its pixels, NaN where it has no value. Throws InputError for
/// a grid that is turned, in degrees, damaged, and where this prismfield was built without GDAL.
[[nodiscard]] GridVariable read_tiff(const InputFile& file);

}  // namespace prismfield
