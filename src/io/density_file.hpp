// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/input_file.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// Densities, or other values of cells, of shape (upward, northing, easting) or flat in that order, from HDF5, netCDF-4
/// or text.
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: `what`. density_2 is the second epoch of a density (epoch, upward, northing,
  /// easting) too
  std::string dataset;
  /// factor from the file's unit to kg/m3
  double to_si = 1;
  /// what a value is called
  std::string what = "density";
};

/// What NaN in arrays of densities is: an error, or a cell without one, as the model of an inversion has them; of
/// bounds infinities are kept too.
enum class NanDensities { refused, kept, kept_with_infinities };

/// "cell 7 (easting 3, northing 1, upward 0, from 0)"
[[nodiscard]] std::string cell_name(const CellCounts& counts, std::int64_t cell);

/// One density a cell, easting fastest, then northing, then upward, kg/m3, from `file`, which is spec.file.
/// Throws InputError with every mistake found.
[[nodiscard]] std::vector<double> read_densities(const InputFile& file, const DensityFile& spec,
                                                 const CellCounts& counts, NanDensities nan = NanDensities::refused);

}  // namespace prismfield
