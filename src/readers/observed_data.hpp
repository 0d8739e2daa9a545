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

/// A file of measurements as a case describes it.
struct ObservedDataFile {
  std::filesystem::path file;
  /// of a table without header, any spelling; "-" for a column that is not read
  std::vector<std::string> columns;
  /// along which z the file's gz, gxz, gyz point; unset: as an HDF5 file's own attribute says, else the case's
  std::optional<Axes> axes;
  /// unset: those of the case when it has them, else every field in the file that depends on the unknown
  std::optional<FieldList> fields;
  /// factor from the file's coordinates to metres; unset: metres where a table's columns name no unit
  std::optional<double> length_to_si;
  /// its points may lie in and below cells
  bool is_underground = false;
};

/// Standard deviations where files have none, or in the place of theirs: relative |d| + floor, units of the output.
struct SigmaRule {
  std::map<Field, double> relative, floor;
};

/// What goes into every file of a case alike.
struct ObservedDefaults {
  Axes axes = Axes::z_down;
  std::optional<FieldList> fields;
  /// the case has several files: one may lack some of `fields`, not all
  bool has_other_files = false;
  /// fields of others are refused, or left alone where they are not asked for
  Unknown unknown = Unknown::density;
  std::optional<SigmaRule> sigma;
  /// the case's, T, along easting, northing, upward; 0: it has none
  std::array<double, 3> inducing_field{};
  /// 1 in the unit of the output stands for every sigma that neither file nor rule states; without it they are missing
  bool sigma_may_be_unknown = false;
};

/// Measurements of a file: a result of `prismfield run` in HDF5 or netCDF, grid or stations (with <field>_sigma), a
/// table with a header or `columns` (easting, northing, upward, fields, <field>_sigma, units of the output, units in
/// brackets that differ are an error), or data below their number, see counted_points(): UBC's (E, N, elevation, gz
/// down in mGal or magnetic data in nT, sigma), Tomofast's (bx, by, bz). Throws InputError with every error found:
/// fields that are not there, values that are not finite, sigma of 0 or missing (with the remedy inversion.sigma), two
/// fields of one name, no data; an inducing field that differs from the case's and, of total-field anomalies, a case
/// without one.
[[nodiscard]] DataSet read_observed_data(const InputFile& file, const ObservedDataFile& spec,
                                         const ObservedDefaults& defaults);

}  // namespace prismfield
