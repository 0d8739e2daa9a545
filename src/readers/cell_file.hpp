// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "model/cells.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// Whether a file has a dataset `name` of three dimensions, or coordinates of cells with bounds.
[[nodiscard]] bool holds_cells(const ArrayFile& content, const std::string& name);

/// The shape of a dataset without dimensions of one value, as of a date, before its last n, three of cells.
[[nodiscard]] std::vector<std::int64_t> shape_of_last(std::size_t n, const ArrayFile& content, const std::string& name);

/// The number of epochs of a dataset `name` (epoch, upward, northing, easting); 0 for other datasets and none.
[[nodiscard]] std::int64_t epochs_of_cells(const ArrayFile& content, const std::string& name);

/// Adds values to a model. With epochs, one after another in `values`, each becomes an entry density_1, density_2, ...
/// `epochs`: as epochs_of_cells() counts them, 0 for none.
void add_values(CellModel& model, CellValues values, std::int64_t epochs);

/// Reads the cells of an HDF5 or netCDF file: `name` first, then all other numbers of cells, arranged by CellAxes.
/// Units are those of unit_of_property(); `density_to_si` is for densities without a unit. Each epoch becomes an entry
/// density_1, density_2, ...; `name` may be one of these. Edges come from the bounds of coordinates, or from centres at
/// equal distances; with `edges` the file must have these. Throws InputError for anything else.
[[nodiscard]] CellModel read_cell_arrays(const InputFile& file, const std::string& name,
                                         std::optional<double> density_to_si, const std::optional<CellEdges>& edges);

/// The cells with a property other than 0 as prisms, from the model's first densities, susceptibility and
/// magnetisation. Inactive cells make no prism.
[[nodiscard]] ListedPrisms prisms_of(const CellModel& model);
/// The same for cells that form no grid.
[[nodiscard]] ListedPrisms prisms_of(const PrismBlock& cells, const std::vector<CellValues>& values);
/// The grid of prisms that are cells of a rectilinear grid, with 0 in cells without a prism. Nothing for other prisms:
/// where faces of a prism are not neighbours among all, two prisms are equal, or empty cells are more than 20 times as
/// many as prisms.
[[nodiscard]] std::optional<CellModel> cells_of(const ListedPrisms& prisms);

/// A file of densities or other values of cells: HDF5 or netCDF with arrays of three dimensions (CellAxes) or flat
/// ones, easting fastest, then northing, then upward; or text, in UBC's order with a suffix of UBC's models (.den,
/// .mod, .sus).
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: `what`. density_2 also means the second epoch of a density (epoch, upward, northing,
  /// easting)
  std::string dataset;
  /// factor from the file's unit to kg/m3; unset: from the unit of an array, otherwise 1, but g/cm3 for densities of
  /// UBC's models
  std::optional<double> to_si = {};
  /// name of the values, which determines their unit
  std::string what = "density";
  /// whether a text has the order of cells here, even with a suffix of UBC's models
  bool is_listed = false;
};

/// What NaN in arrays of densities means: an error; or a cell without density, always or where the dataset states its
/// mark (_FillValue, missing_value, valid_range) as files of this program do; for bounds, infinities are valid too.
enum class NanDensities { refused, kept, kept_where_marked, kept_with_infinities };

/// "cell 7 (easting 3, northing 1, upward 0, from 0)"
[[nodiscard]] std::string cell_name(const CellCounts& counts, std::int64_t cell);

/// A note that a text is read as a UBC model because of its suffix; "" for other files.
[[nodiscard]] std::string ubc_model_note(const InputFile& file, const DensityFile& spec);

/// Reads one density per cell between `edges`, easting fastest, then northing, then upward, kg/m3. `file`: spec.file.
/// Throws InputError with every error found.
[[nodiscard]] std::vector<double> read_densities(const InputFile& file, const DensityFile& spec, const CellEdges& edges,
                                                 NanDensities nan = NanDensities::refused);

/// Reads the magnetisation of every cell, A/m along easting, northing and upward, from HDF5 or netCDF-4. The dataset is
/// spec.dataset or `magnetization`, (3, upward, northing, easting) or (3, cells); otherwise there are three datasets
/// with _easting, _northing and _upward appended, read by read_densities(), with NaN kept where it is marked. Throws
/// InputError.
[[nodiscard]] std::array<std::vector<double>, 3> read_magnetizations(const InputFile& file, const DensityFile& spec,
                                                                     const CellEdges& edges);

/// Reads cell edges of one direction, metres, from text: numbers separated by blanks, commas or line ends. Errors in
/// single numbers go to `problems`, by line; `name` is their name there. Throws InputError for an unreadable file.
[[nodiscard]] std::vector<double> read_edges(const InputFile& file, const std::string& name, ProblemList& problems);

}  // namespace prismfield
