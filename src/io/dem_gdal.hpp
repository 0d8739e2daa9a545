// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include "io/height_file.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// "3.6.2", or "" where GDAL was not built in.
[[nodiscard]] std::string gdal_version();

/// True when a readable file begins as TIFF and BigTIFF do.
[[nodiscard]] bool is_tiff(const InputFile& file);

/// A GeoTIFF's band as it is.
struct TiffGrid {
  /// at the centres of pixels, NaN where the band has no value
  GridVariable grid;
  /// what its reference system says: easting and northing are longitude and latitude; else their factor to metres
  bool is_geographic = false;
  double length_to_si = 1;
  /// of the values, "" where the file names none
  std::string unit;
};

/// Reads the band of a GeoTIFF. Throws InputError for one of several bands or of complex numbers, for a grid that is
/// turned or has no place, for a damaged file, and where this prismfield was built without GDAL.
[[nodiscard]] TiffGrid read_tiff(const InputFile& file);

}  // namespace prismfield
