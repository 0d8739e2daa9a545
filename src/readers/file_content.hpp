// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "formats/cf_attributes.hpp"
#include "formats/input_file.hpp"
#include "model/cells.hpp"
#include "model/prism_check.hpp"

namespace prismfield {

/// One number per cell, easting fastest, then northing, then upward; NaN in inactive cells.
struct CellValues {
  /// density, susceptibility, magnetization_easting, _northing, _upward, amplitude (of the magnetisation), or another
  /// name
  std::string name;
  /// for the names above, that of unit_of_property(); otherwise the file's, "" where it states none
  std::string unit;
  std::vector<double> values;
};

/// A rectilinear grid of cells with its values. Readers of cell files make it; writers and `convert` use it.
struct CellModel {
  CellEdges edges;
  /// the first is the value of formats with one number per cell; empty: a mesh alone
  std::vector<CellValues> values;
  /// converts effective susceptibilities to magnetisations
  std::optional<InducingField> inducing_field = {};
};

/// Adds a prism with numbers in the order of prism_columns.
void add_prism(PrismBlock& prisms, const std::array<double, 7>& numbers);

/// A property of prisms or cells.
struct PropertyColumn {
  std::string name;
  const std::vector<double>* values;
};
/// The properties that prisms have: density (unless it is 0 everywhere and there are others), susceptibility,
/// components of the magnetisation.
[[nodiscard]] std::vector<PropertyColumn> properties_of(const ListedPrisms& prisms);

/// kg/m3, "1" for a susceptibility in SI, A/m; "" for other names.
[[nodiscard]] std::string unit_of_property(const std::string& name);
/// The factor from a file's unit to the unit of values with this name; 1 for no unit and for other names, nothing for
/// an unknown unit. Densities have kg/m3, g/cm3, g/cc or t/m3 in any spelling.
[[nodiscard]] std::optional<double> property_factor(const std::string& name, std::string unit);
/// A unit for messages: SI for "1", A/m for "A m-1".
[[nodiscard]] std::string unit_text(const std::string& unit);

/// The places in `values` of a vector's three components, where values[at] is its easting component, such as
/// magnetization_easting_2; nothing for other values or a missing component.
[[nodiscard]] std::optional<std::array<std::size_t, 3>> vector_at(const std::vector<CellValues>& values,
                                                                  std::size_t at);

/// The name of a vector, from the name of its easting component.
[[nodiscard]] std::string vector_name(std::string name);

/// A column of points that is no field: names of stations, survey lines, numbers of any meaning.
struct PointColumn {
  std::string name;
  /// in the spelling of fields; "" where the file states none
  std::string unit;
  /// "" where the file states none
  std::string long_name;
  /// whether it is a column of a station file, which tables put before the fields; variables of a run come after them
  bool is_of_stations = true;
  bool is_text = false;
  /// one per point, NaN where missing; empty for text
  std::vector<double> numbers;
  /// one per point; empty for numbers
  std::vector<std::string> texts;
};

/// Fields at points, measured or computed. Readers of point files make it; writers and `convert` use it.
struct PointFields {
  Points points;
  FieldList fields;
  /// one list per field in the order of `fields`, units and axes of the output, unchanged from most files so that they
  /// are written as the same doubles
  std::vector<std::vector<double>> values;
  /// standard deviations, in the same way; an empty list for a field without them
  std::vector<std::vector<double>> sigma;
  /// direction of z for gz, gxz and gyz
  Axes axes = Axes::z_down;
  /// whether file or user state the axes; otherwise they are the default
  bool axes_are_stated = true;
  std::vector<PointColumn> columns = {};
  /// of magnetic fields, if the file states it
  std::optional<InducingField> inducing_field = {};
  /// of numbers that look like dummies, with the file's name
  std::vector<std::string> notes = {};
};

/// The content of a file in any format: metres, kg/m3 and A/m, coordinates and vectors z up.
using FileContent = std::variant<ListedPrisms, CellModel, PointFields>;

/// Whether values of this name, such as density and density_sigma, have the unit of densities.
[[nodiscard]] inline bool is_density(const std::string& name) { return name.starts_with("density"); }

/// The name in `convert` for all three components.
inline constexpr const char* magnetization_name = "magnetization";

/// The formats of `convert`.
enum class FileFormat {
  hdf5,
  hdf5_prisms,
  csv,
  xyz,
  ubc_mesh,
  ubc_model,
  ubc_vectors,
  ubc_data,
  tomofast_grid,
  tomofast_values,
  tomofast_data,
  vtr,
  vtu,
  vtp,
  values
};

struct FormatInfo {
  FileFormat format;
  /// the word for --from and --to
  const char* name;
  const char* long_name;
  bool is_read;
  bool is_written;
  /// whether densities are in g/cm3 by default
  bool in_grams;
  /// columns and units of formats that look alike
  const char* holds = "";
};

inline constexpr std::array format_infos = {
    FormatInfo{FileFormat::hdf5, "hdf5", "HDF5 (netCDF-4)", true, true, false},
    FormatInfo{FileFormat::hdf5_prisms, "hdf5-prisms", "HDF5 list of prisms", true, true, false},
    FormatInfo{FileFormat::csv, "csv", "CSV table", true, true, false},
    FormatInfo{FileFormat::xyz, "xyz", "table separated by blanks", true, true, false},
    FormatInfo{FileFormat::ubc_mesh, "ubc-mesh", "UBC mesh", true, true, false},
    FormatInfo{FileFormat::ubc_model, "ubc-model", "UBC model", true, true, true},
    FormatInfo{FileFormat::ubc_vectors, "ubc-vectors", "UBC vector model", true, true, false},
    FormatInfo{FileFormat::ubc_data, "ubc-data", "UBC data", true, true, false, "E, N, elevation, mGal"},
    FormatInfo{FileFormat::tomofast_grid, "tomofast-grid", "Tomofast grid", true, true, false},
    FormatInfo{FileFormat::tomofast_values, "tomofast-values", "Tomofast values", true, true, false,
               "of cells, whose grid --mesh names"},
    FormatInfo{FileFormat::tomofast_data, "tomofast-data", "Tomofast data", true, true, false, "X, Y, depth, m/s2"},
    FormatInfo{FileFormat::vtr, "vtr", "VTK rectilinear grid", false, true, false},
    FormatInfo{FileFormat::vtu, "vtu", "VTK voxels", false, true, false},
    FormatInfo{FileFormat::vtp, "vtp", "VTK points", false, true, false},
    FormatInfo{FileFormat::values, "values", "list of values", true, true, false},
};

[[nodiscard]] constexpr const FormatInfo& info(FileFormat format) noexcept {
  return format_infos[static_cast<std::size_t>(format)];
}

/// The words for --from, or for --to.
[[nodiscard]] std::vector<std::string> format_names(bool to_read);

/// The format of a suffix in any case; nothing for .txt and other suffixes without a meaning.
[[nodiscard]] std::optional<FileFormat> format_of_suffix(const std::filesystem::path& file);
/// Whether a name has .loc, UBC's suffix for points without data.
[[nodiscard]] bool is_ubc_places(const std::filesystem::path& file);
/// Whether a name has .mag, UBC's suffix for magnetic data.
[[nodiscard]] bool is_ubc_magnetic(const std::filesystem::path& file);
/// The property that a model's suffix stands for: .den density, .sus susceptibility, .fld magnetization; "" for others.
[[nodiscard]] std::string property_of_suffix(const std::filesystem::path& file);
/// Why the suffix does not fit values of this name, and which suffixes do; "" where it may fit.
[[nodiscard]] std::string why_not_held(const std::filesystem::path& file, const std::string& name);
/// The suffixes with a meaning, for messages.
[[nodiscard]] std::string known_suffixes();

}  // namespace prismfield
