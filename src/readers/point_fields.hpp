// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>

#include "formats/cf_attributes.hpp"
#include "formats/file_content.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/input_file.hpp"

namespace prismfield {

/// What the name of a field's standard deviation adds to the field's.
inline constexpr std::string_view sigma_suffix = "_sigma";

/// A field of points as a format with one number a point holds it.
struct ColumnOfField {
  std::vector<double> values;
  std::vector<double> sigma;
};

/// The field with z pointing along `axes`; the points have to hold it.
[[nodiscard]] ColumnOfField column_of(const PointFields& points, Field field, Axes axes);
/// All fields with z pointing along `axes`: no bit but the sign of gz, gxz and gyz changes.
[[nodiscard]] PointFields with_axes(PointFields points, Axes axes);
/// Throws InputError when a value is NaN, which `format` cannot hold.
void check_no_nan(const ColumnOfField& column, Field field, const char* format);

/// Numbers in another unit, each as decimal_product() has it; by 1 no bit changes.
void scale_decimals(std::vector<double>& values, double factor);

/// The variables of a file that hold fields and their standard deviations, whatever their spelling: of two that mean
/// one, that which is called as results call it, else the first.
struct FieldVariables {
  explicit FieldVariables(const std::vector<std::string>& names);
  std::map<Field, std::string> values, sigma;
};

/// How a table of points is read.
struct PointTableSpec {
  /// along which z its fields point; unset: as a comment says, as in `.xyz` of this program, else down
  std::optional<Axes> axes;
  /// the field in the column behind easting, northing and upward of a table without names, its standard deviation in
  /// the next
  std::optional<Field> field;
  /// columns of a table without names, 0 when it has some
  std::size_t columns_without_names = 0;
  /// columns that are neither places nor fields are not read
  bool has_fields_alone = false;
};

/// A table of points: easting, northing, upward, fields by their names, gz, `g_z [um/s2]`, and gz_sigma, which come in
/// the units of the output, and its other columns, as numbers or text. An empty field and "nan" are NaN. What users
/// should know is added to `notes`. Throws InputError with every error found, an unknown unit in brackets too.
[[nodiscard]] PointFields read_point_table(const InputFile& file, const PointTableSpec& spec,
                                           std::vector<std::string>& notes);

/// Makes stations that are the nodes of an evenly spaced grid, two or more each way and numbered as a grid's, that
/// grid.
void find_grid(Points& points);

/// A result in HDF5 or netCDF-4, grid or stations, and any file that looks like one: easting, northing, upward, fields
/// and <field>_sigma, and what else it has at its points; names of that which is neither numbers nor a list of texts
/// are added to `unread`. `axes`: where the file does not say. Throws InputError with every error found, and when the
/// file says other axes.
[[nodiscard]] PointFields read_point_arrays(const InputFile& file, std::optional<Axes> axes,
                                            std::vector<std::string>& unread);

/// The points alone of such a file. Throws InputError when it holds none.
[[nodiscard]] Points read_array_points(const InputFile& file);

/// A result to read, of any kind: HDF5 (or netCDF-4), or a table as read_point_table() reads it. A table, a file whose
/// name ends in .csv, .xyz, .txt or .dat unless it is HDF5 inside, is held in memory: its coordinates and fields as
/// variables of one dimension whose attributes are the unit and, of a field that depends on them, the axes of a
/// comment. Throws RunError, InputError.
[[nodiscard]] Hdf5File open_result(const std::filesystem::path& file);

}  // namespace prismfield
