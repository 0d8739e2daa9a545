// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/data_set.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/inversion_settings.hpp>

#include "formats/input_file.hpp"

namespace prismfield {

/// A file of measurements in a case.
struct ObservedDataFile {
  std::filesystem::path file;
  /// of a table without header, any spelling; "-" for a column that is not read
  std::vector<std::string> columns;
  /// direction of z for the file's gz, gxz, gyz; unset: an HDF5 file's attribute, otherwise the case's
  std::optional<Axes> axes;
  /// unset: the case's fields, otherwise all fields in the file that depend on the unknown
  std::optional<FieldList> fields;
  /// factor from the file's coordinates to metres; unset: metres where a table's columns name no unit
  std::optional<double> length_to_si;
  /// whether its points may lie in and below cells
  bool is_underground = false;
};

/// Standard deviations for files without them, or instead of theirs: relative |d| + floor, units of the output.
struct SigmaRule {
  std::map<Field, double> relative, floor;
};

/// Settings that all files of a case share.
struct ObservedDefaults {
  Axes axes = Axes::z_down;
  std::optional<FieldList> fields;
  /// whether the case has several files, each of which may lack some of `fields`
  bool has_other_files = false;
  /// fields that do not depend on it are errors, or ignored where they are not requested
  Unknown unknown = Unknown::density;
  std::optional<SigmaRule> sigma;
  /// the case's, T, along easting, northing, upward; 0: none
  std::array<double, 3> inducing_field{};
  /// whether 1 in the unit of the output replaces a sigma that neither file nor rule states; otherwise it is missing
  bool sigma_may_be_unknown = false;
};

/// Measurements of a file: a result of `prismfield run` in HDF5 or netCDF, grid or stations (with <field>_sigma), a
/// table with a header or `columns` (easting, northing, upward, fields, <field>_sigma, units of the output, units in
/// brackets that differ are an error), or data below their number, see counted_points(): UBC's (E, N, elevation, gz
/// down in mGal or magnetic data in nT, sigma), Tomofast's (bx, by, bz). Throws InputError with every error found:
/// fields that are not there, values that are not finite, sigma of 0 or missing (with the remedy inversion.sigma), two
/// fields of one name, no data; an inducing field that differs from the case's and, of total-field anomalies, a case
/// without one. `notes` gets what users should know of a table.
[[nodiscard]] DataSet read_observed_data(const InputFile& file, const ObservedDataFile& spec,
                                         const ObservedDefaults& defaults, std::vector<std::string>& notes);

}  // namespace prismfield
