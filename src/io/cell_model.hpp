// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/crs.hpp"
#include "io/file_content.hpp"
#include "io/hdf5_file.hpp"
#include "io/input_file.hpp"
#include "io/text_output.hpp"

namespace prismfield {

/// True for a file with a dataset `name` of three dimensions, or with coordinates of cells that have bounds.
[[nodiscard]] bool holds_cells(const Hdf5File& content, const std::string& name);

/// Epochs of a dataset `name` (epoch, upward, northing, easting) of an Hdf5File or an ArrayFile; 0 for any other and
/// for none.
template <class Content>
[[nodiscard]] std::int64_t epochs_of_cells(const Content& content, const std::string& name) {
  if (!content.has(name)) return 0;
  const std::vector<std::int64_t> shape = content.shape(name);
  return shape.size() == 4 && content.dimension_names(name).front() == "epoch" ? shape.front() : 0;
}

/// Adds values: of epochs, which are one behind another, each by itself, named density_1, density_2, ...; 0: they have
/// none, as epochs_of_cells() counts them.
void add_values(CellModel& model, CellValues values, std::int64_t epochs);

/// The cells of an HDF5 or netCDF-4 file: `name` (upward, northing, easting) first, densities times `density_to_si`,
/// then every other number a cell. Of values with epochs each epoch is there by itself, named density_1, density_2,
/// ...; `name` can be one of these. Edges are those of the coordinates' bounds; centres at equal distances do without;
/// `edges`, when given, stand for the file's. Throws InputError for anything else.
[[nodiscard]] CellModel read_cell_arrays(const InputFile& file, const std::string& name, double density_to_si,
                                         const std::optional<CellEdges>& edges);

/// The bytes of an HDF5 file that netCDF-4 programs open: dimensions upward, northing, easting with centres and bounds,
/// and the values. Throws RunError.
[[nodiscard]] std::string cell_image(const CellModel& model, const std::filesystem::path& file,
                                     const std::string& title, const std::string& command,
                                     const std::optional<Crs>& crs);
/// The same of prisms: one-dimensional datasets west ... density.
[[nodiscard]] std::string prism_image(const PrismBlock& prisms, const std::filesystem::path& file,
                                      const std::string& title, const std::string& command,
                                      const std::optional<Crs>& crs);
/// Writes prisms as a table with a line of names, densities over `density_to_si`: csv, or separated by blanks below
/// comments. Throws RunError.
void write_prism_table(TextOutput& out, const PrismBlock& prisms, bool csv, double density_to_si,
                       const std::string& command);

/// The cells with a density other than 0 as prisms. Inactive ones have none. The model's first values are densities.
[[nodiscard]] PrismBlock prisms_of(const CellModel& model);
/// Prisms that are the cells of a rectilinear grid, as that grid, 0 in cells without a prism; nothing for others: where
/// a prism's faces are not neighbours among all, two are the same, or cells without one are more than 20 times as many
/// as prisms.
[[nodiscard]] std::optional<CellModel> cells_of(const PrismBlock& prisms);

}  // namespace prismfield
