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

/// A number a cell, easting fastest, then northing, then upward, NaN in inactive cells.
struct CellValues {
  /// density, susceptibility, magnetization_easting, _northing and _upward, amplitude (of the magnetisation), or any
  /// other
  std::string name;
  /// what `values` are in: as unit_of_property() for these, as in a file otherwise, "" where that does not say
  std::string unit;
  std::vector<double> values;
};

/// A rectilinear grid of cells and what is known of them.
struct CellModel {
  CellEdges edges;
  /// those that a format with one number a cell holds first; empty: a mesh alone
  std::vector<CellValues> values;
  /// by which effective susceptibilities become magnetisations
  std::optional<InducingField> inducing_field = {};
};

/// Adds a prism by its numbers in the order of prism_columns.
void add_prism(PrismBlock& prisms, const std::array<double, 7>& numbers);

/// A property of prisms or cells.
struct PropertyColumn {
  std::string name;
  const std::vector<double>* values;
};
/// The properties that prisms have: the density, unless it is 0 in all and there are others, the susceptibility, the
/// components of the magnetisation.
[[nodiscard]] std::vector<PropertyColumn> properties_of(const ListedPrisms& prisms);

/// kg/m3, "1" for a susceptibility in SI, A/m; "" for names that are none of CellValues'.
[[nodiscard]] std::string unit_of_property(const std::string& name);
/// The factor from a unit that a file states to the one that values of this name have here, 1 for none and for other
/// names; nothing for one that is not known. Densities are in kg/m3, g/cm3, g/cc or t/m3, however these are written.
[[nodiscard]] std::optional<double> property_factor(const std::string& name, std::string unit);
/// A unit as texts name it: SI for "1", A/m for "A m-1".
[[nodiscard]] std::string unit_text(const std::string& unit);

/// Where among `values` the components of the vector stand of which `values[at]` is the easting component, such as
/// magnetization_easting_2; nothing where it is none or others are missing.
[[nodiscard]] std::optional<std::array<std::size_t, 3>> vector_at(const std::vector<CellValues>& values,
                                                                  std::size_t at);

/// The name of a vector by that of its easting component.
[[nodiscard]] std::string vector_name(std::string name);

/// What points have beside fields: names of stations, survey lines, numbers of any meaning.
struct PointColumn {
  std::string name;
  /// as fields name theirs, "" where none is stated
  std::string unit;
  /// "" where none is stated
  std::string long_name;
  /// a column of a station file, which tables have before the fields, else a variable of a run, behind them
  bool is_of_stations = true;
  bool is_text = false;
  /// one a point, NaN where there is none; empty of text
  std::vector<double> numbers;
  /// one a point; empty of numbers
  std::vector<std::string> texts;
};

/// Fields at points, measured or computed.
struct PointFields {
  Points points;
  FieldList fields;
  /// one list a field in the order of `fields`, units and axes of the output: kept as they stand in most files, so that
  /// what is written reads as the same doubles
  std::vector<std::vector<double>> values;
  /// standard deviations, likewise; an empty list where there are none
  std::vector<std::vector<double>> sigma;
  /// along which z gz, gxz and gyz point
  Axes axes = Axes::z_down;
  /// by the file or the user, and not by habit
  bool axes_are_stated = true;
  std::vector<PointColumn> columns = {};
  /// of magnetic fields
  std::optional<InducingField> inducing_field = {};
};

/// What files hold, whatever their format: metres, kg/m3 and A/m, coordinates and vectors z up.
using FileContent = std::variant<ListedPrisms, CellModel, PointFields>;

/// True for a name such as density and density_sigma, whose values have the unit of densities.
[[nodiscard]] inline bool is_density(const std::string& name) { return name.starts_with("density"); }

/// What `convert` calls the three components together.
inline constexpr const char* magnetization_name = "magnetization";

/// The formats that `convert` knows.
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
  /// the word of --from and --to
  const char* name;
  const char* long_name;
  bool is_read;
  bool is_written;
  /// g/cm3 where nobody says otherwise
  bool in_grams;
  /// columns and units, for those that may look alike
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

/// The words of --from, or of --to.
[[nodiscard]] std::vector<std::string> format_names(bool to_read);

/// What the suffix of a name asks for, in small letters or capitals; nothing for .txt and others that say nothing.
[[nodiscard]] std::optional<FileFormat> format_of_suffix(const std::filesystem::path& file);
/// Whether a name has the suffix of UBC's files of places alone, .loc.
[[nodiscard]] bool is_ubc_places(const std::filesystem::path& file);
/// Whether a name has the suffix of UBC's magnetic data, .mag.
[[nodiscard]] bool is_ubc_magnetic(const std::filesystem::path& file);
/// Which property the suffix of a model's file promises: .den density, .sus susceptibility, .fld magnetization; "" for
/// others.
[[nodiscard]] std::string property_of_suffix(const std::filesystem::path& file);
/// Why a file is none of values of this name, by its suffix, with the suffixes that are; "" where it may be.
[[nodiscard]] std::string why_not_held(const std::filesystem::path& file, const std::string& name);
/// The suffixes that say something, for messages.
[[nodiscard]] std::string known_suffixes();

}  // namespace prismfield
