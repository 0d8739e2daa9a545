// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/file_content.hpp"
#include "formats/input_file.hpp"
#include "formats/output_file.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// True for a file with a dataset `name` of three dimensions, or with coordinates of cells that have bounds.
[[nodiscard]] bool holds_cells(const ArrayFile& content, const std::string& name);

/// Epochs of a dataset `name` (epoch, upward, northing, easting); 0 for any other and for none.
[[nodiscard]] std::int64_t epochs_of_cells(const ArrayFile& content, const std::string& name);

/// Adds values: of epochs, which are one behind another, each by itself, named density_1, density_2, ...; 0: they have
/// none, as epochs_of_cells() counts them.
void add_values(CellModel& model, CellValues values, std::int64_t epochs);

/// The cells of an HDF5 or netCDF file: `name` first, then every other number a cell, as CellAxes finds them; units as
/// unit_of_property(), `density_to_si` for densities whose unit the file does not state. Of values with epochs each
/// epoch is there by itself, named density_1, density_2, ...; `name` can be one of these. Edges are those of the
/// coordinates' bounds; centres at equal distances do without; `edges`, when given, are those that the file has to
/// have. Throws InputError for anything else.
[[nodiscard]] CellModel read_cell_arrays(const InputFile& file, const std::string& name,
                                         std::optional<double> density_to_si, const std::optional<CellEdges>& edges);

/// The cells with a property other than 0 as prisms: the first values of the model where these are densities,
/// susceptibility and magnetisation. Inactive cells have none.
[[nodiscard]] ListedPrisms prisms_of(const CellModel& model);
/// The same of cells that are no grid, by the values of each.
[[nodiscard]] ListedPrisms prisms_of(const PrismBlock& cells, const std::vector<CellValues>& values);
/// Prisms that are the cells of a rectilinear grid, as that grid, 0 in cells without a prism; nothing for others: where
/// a prism's faces are not neighbours among all, two are the same, or cells without one are more than 20 times as many
/// as prisms.
[[nodiscard]] std::optional<CellModel> cells_of(const ListedPrisms& prisms);

/// Densities, or other values of cells, from HDF5, netCDF or text: arrays of three dimensions as CellAxes finds them,
/// or flat, easting fastest, then northing, then upward; a text with a suffix of UBC's models (.den, .mod, .sus) is in
/// UBC's order.
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: `what`. density_2 is the second epoch of a density (epoch, upward, northing,
  /// easting) too
  std::string dataset;
  /// factor from the file's unit to kg/m3; unset: by the unit that an array states, else 1, but that of g/cm3 for
  /// densities of UBC's models
  std::optional<double> to_si = {};
  /// what a value is, which says its unit too
  std::string what = "density";
  /// a text is in the order of cells here, even where its suffix is one of UBC's models
  bool is_listed = false;
};

/// What NaN in arrays of densities is: an error, or a cell without one, as the model of an inversion has them, always
/// or where the dataset says what stands for none (_FillValue, missing_value, valid_range), as those of this program
/// do; of bounds infinities are kept too.
enum class NanDensities { refused, kept, kept_where_marked, kept_with_infinities };

/// "cell 7 (easting 3, northing 1, upward 0, from 0)"
[[nodiscard]] std::string cell_name(const CellCounts& counts, std::int64_t cell);

/// Says that a text is read as a UBC model, for its suffix; "" for other files.
[[nodiscard]] std::string ubc_model_note(const InputFile& file, const DensityFile& spec);

/// One density a cell between `edges`, easting fastest, then northing, then upward, kg/m3, from `file`, which is
/// spec.file. Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_densities(const InputFile& file, const DensityFile& spec, const CellEdges& edges,
                                                 NanDensities nan = NanDensities::refused);

/// The magnetisation of every cell, A/m along easting, northing and upward, from HDF5 or netCDF-4: spec.dataset, or
/// `magnetization`, of shape (3, upward, northing, easting) or (3, cells), otherwise three datasets of that name with
/// _easting, _northing and _upward behind it, as read_densities() reads them, with NaN kept where it is marked. Throws
/// InputError.
[[nodiscard]] std::array<std::vector<double>, 3> read_magnetizations(const InputFile& file, const DensityFile& spec,
                                                                     const CellEdges& edges);

/// Cell edges of one direction, metres, from text: numbers separated by blanks, commas or line ends. Errors in single
/// numbers are added to `problems`, by line; `name` is what they are called. Throws InputError for a file that cannot
/// be read.
[[nodiscard]] std::vector<double> read_edges(const InputFile& file, const std::string& name, ProblemList& problems);

}  // namespace prismfield
