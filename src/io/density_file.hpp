// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/input_file.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// Densities of shape (upward, northing, easting) or flat in that order, from HDF5, netCDF-4 or text.
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: "density". density_2 is the second epoch of a density (epoch, upward, northing,
  /// easting) too
  std::string dataset;
  /// factor from the file's unit to kg/m3
  double to_si = 1;
};

/// What NaN in arrays of densities is: a mistake, or a cell without one, as the model of an inversion has them.
enum class NanDensities { refused, kept };

/// One density a cell, easting fastest, then northing, then upward, kg/m3, from `file`, which is spec.file.
/// Throws InputError with every mistake found.
[[nodiscard]] std::vector<double> read_densities(const InputFile& file, const DensityFile& spec,
                                                 const CellCounts& counts, NanDensities nan = NanDensities::refused);

}  // namespace prismfield
