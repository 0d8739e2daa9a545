// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/input_file.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// Densities, or other values of cells, of shape (upward, northing, easting) or flat in that order, from HDF5, netCDF-4
/// or text; a text with a suffix of UBC's models (.den, .mod, .sus) is in UBC's order.
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: `what`. density_2 is the second epoch of a density (epoch, upward, northing,
  /// easting) too
  std::string dataset;
  /// factor from the file's unit to kg/m3; unset: 1, but that of g/cm3 for densities of UBC's models
  std::optional<double> to_si = {};
  /// what a value is called
  std::string what = "density";
  /// a text is in the order of cells here, even where its suffix is one of UBC's models
  bool is_listed = false;
};

/// What NaN in arrays of densities is: an error, or a cell without one, as the model of an inversion has them; of
/// bounds infinities are kept too.
enum class NanDensities { refused, kept, kept_with_infinities };

/// "cell 7 (easting 3, northing 1, upward 0, from 0)"
[[nodiscard]] std::string cell_name(const CellCounts& counts, std::int64_t cell);

/// Says that a text is read as a UBC model, for its suffix; "" for other files.
[[nodiscard]] std::string ubc_model_note(const InputFile& file, const DensityFile& spec);

/// One density a cell, easting fastest, then northing, then upward, kg/m3, from `file`, which is spec.file.
/// Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_densities(const InputFile& file, const DensityFile& spec,
                                                 const CellCounts& counts, NanDensities nan = NanDensities::refused);

}  // namespace prismfield
