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
#include "formats/grid_formats.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/input_file.hpp"
#include "formats/text_table.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// The suffix for the standard deviation of a field.
inline constexpr std::string_view sigma_suffix = "_sigma";

/// A field of points for formats with one number per point.
struct ColumnOfField {
  std::vector<double> values;
  std::vector<double> sigma;
};

/// The field with z along `axes`; the points must have it.
[[nodiscard]] ColumnOfField column_of(const PointFields& points, Field field, Axes axes);
/// All fields with z along `axes`; only the signs of gz, gxz and gyz change.
[[nodiscard]] PointFields with_axes(PointFields points, Axes axes);
/// Throws InputError for a NaN, which `format` cannot hold.
void check_no_nan(const ColumnOfField& column, Field field, const char* format);

/// Multiplies numbers by decimal_product(), dummies (find_dummies()) not: they keep their look. A factor of 1 changes
/// no bit.
void scale_decimals(std::vector<double>& values, double factor);

/// Dummies (find_dummies()) among the values of fields become NaN; a note a field counts them.
void drop_field_dummies(const InputFile& file, PointFields& points);

/// The variables of a file that hold fields and their standard deviations, in any spelling. Of two with one meaning,
/// the one with the name in results counts, otherwise the first.
struct FieldVariables {
  explicit FieldVariables(const std::vector<std::string>& names);
  std::map<Field, std::string> values, sigma;
};

/// The attribute `units` of a variable, "" for none.
[[nodiscard]] std::string units_of(const ArrayFile& arrays, const std::string& variable);

/// What lies at the points of an array file: stations, or the nodes of a grid, whatever the order of its dimensions and
/// coordinates, easting fastest. Errors are InputErrors of the file; those of units are added to the problems.
class PointArrays {
public:
  /// `length_to_si` makes coordinates metres. All have to outlive it.
  PointArrays(const InputFile& file, const ArrayFile& arrays, double length_to_si, ProblemList& problems)
      : m_file(file), m_arrays(arrays), m_length_to_si(length_to_si), m_problems(problems) {}

  /// The points are a grid where those of this variable are; to be said first.
  void lie_as(const std::string& variable);
  [[nodiscard]] std::vector<double> values(const std::string& variable);
  /// Of a field, or of its standard deviation by its own variable, which without a unit has the field's; in the unit of
  /// the output.
  [[nodiscard]] std::vector<double> field(Field field, const std::string& variable, const std::string& of_sigma = "");
  /// Of what was read before: the nodes of its grid, or as many stations. One height may be that of all nodes.
  [[nodiscard]] Points points();
  /// Whether arrays of this shape may lie there.
  [[nodiscard]] bool has_shape(const std::vector<std::int64_t>& shape) const;

private:
  [[nodiscard]] std::vector<double> on_grid(const std::string& variable);
  [[nodiscard]] std::vector<double> at_stations(const std::string& variable);
  void check_length_unit(const std::string& variable);
  [[nodiscard]] std::vector<double> in_metres(std::vector<double> numbers) const;
  /// Of the first of these names that the file has.
  [[nodiscard]] std::vector<double> coordinates(const std::vector<std::string>& names);

  const InputFile& m_file;
  const ArrayFile& m_arrays;
  double m_length_to_si;
  ProblemList& m_problems;
  bool m_is_grid = false;
  GridVariable m_grid;
  std::int64_t m_n_stations = -1;
};

/// The columns of a table of points: places and, where it has them, fields and the standard deviations of some.
[[nodiscard]] TableRequest field_columns(FieldList fields, FieldList with_sigma);
/// Takes a column of these, in the unit of the output, out of the table that was read; empty where it has none. A
/// standard deviation without a unit has its field's.
[[nodiscard]] std::vector<double> take_column(Table& table, const TableRequest& request, const std::string& name,
                                              Field field, ProblemList& problems);

/// How a table of points is read.
struct PointTableSpec {
  /// direction of z for its fields; unset: as a comment states (`.xyz` of this program), otherwise down
  std::optional<Axes> axes;
  /// the field in the column after easting, northing and upward of a table without names; its standard deviation may
  /// follow
  std::optional<Field> field;
  /// number of columns in a table without names; 0 for a table with names
  std::size_t columns_without_names = 0;
};

/// Reads a table of points: easting, northing, upward; fields by name, gz or `g_z [um/s2]`, and gz_sigma, converted to
/// the units of the output; other columns as numbers or text. An empty field and "nan" are NaN. Remarks for users go to
/// `notes`. Throws InputError with every error found, among them unknown units in brackets.
[[nodiscard]] PointFields read_point_table(const InputFile& file, const PointTableSpec& spec,
                                           std::vector<std::string>& notes);

/// Turns stations into a grid where they are the nodes of an evenly spaced one, numbered like a grid, with two or more
/// nodes each way.
void find_grid(Points& points);

/// Reads a result in HDF5 or netCDF-4, or a similar file: easting, northing, upward, fields and <field>_sigma, and
/// other data of its points, grid or stations. Names of data that are neither numbers nor a list of texts go to
/// `unread`. `axes`: for a file that states none. Throws InputError with every error found, and for a file that states
/// other axes.
[[nodiscard]] PointFields read_point_arrays(const InputFile& file, std::optional<Axes> axes,
                                            std::vector<std::string>& unread);

/// Reads the points of such a file; `notes` gets what of them is in doubt. Throws InputError for a file without points.
[[nodiscard]] Points read_array_points(const InputFile& file, std::vector<std::string>* notes = nullptr);

}  // namespace prismfield
