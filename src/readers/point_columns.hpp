// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/points.hpp>

#include "base/limited_problems.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/file_content.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/heading.hpp"
#include "formats/input_file.hpp"
#include "formats/text_table.hpp"

// What points carry beside fields, in tables and in files of arrays.

namespace prismfield {

/// "m", "km" or "ft" for their factors to metres.
[[nodiscard]] const char* length_unit(double length_to_si);
/// Whether a unit, such as "m" or "metre", is the length that `length_to_si` makes metres; "" is.
[[nodiscard]] bool is_length_unit(const std::string& unit, double length_to_si);
/// What is wrong with a coordinate in another unit.
[[nodiscard]] std::string other_length_unit(const std::string& unit, double length_to_si);

/// Adds a problem when a coordinate says that its unit is none of the length that `length_to_si` makes metres.
void check_length_unit(const InputFile& file, const ArrayFile& arrays, const std::string& variable, double length_to_si,
                       ProblemList& problems);

/// What a case states of the places in a table.
struct PlaceUnits {
  /// factor to metres; unset: metres where the columns name no unit
  std::optional<double> length_to_si = {};
  /// unset: up, but for a column depth
  std::optional<bool> z_down = {};
  /// whether the key length_unit beside the file may state the unit
  bool has_length_key = false;
};

/// The columns of a table of places: easting, northing, upward, by their usual names, units in brackets; longitude and
/// latitude are refused.
[[nodiscard]] TableRequest place_columns();

/// Which of easting, northing and upward a column's name means, by the spellings of place_columns(); "" for none.
[[nodiscard]] std::string place_named(std::string_view name);

/// Whether coordinates are longitudes or latitudes, by their unit or, where that says nothing, by their name.
[[nodiscard]] bool are_angles(const std::string& name, const std::string& unit);

/// Factors from the numbers of the places' columns, the first two or three of those wanted, to metres with z up. A unit
/// that is no length, one that differs from the case's, and a direction that the column's name denies are added to
/// `problems`; a depth is told in `notes`.
[[nodiscard]] std::vector<double> place_factors(const InputFile& file, const TableColumns& columns,
                                                const PlaceUnits& units, ProblemList& problems,
                                                std::vector<std::string>& notes);
/// The same for a table that was read: its columns of places become metres with z up.
void places_to_metres(const InputFile& file, Table& table, const PlaceUnits& units, ProblemList& problems,
                      std::vector<std::string>& notes);

/// Adds a problem for each place of points that stands for none, as find_dummies() knows them; `where` says where point
/// i was read.
void refuse_dummies(const Points& points, const std::function<std::string(std::size_t)>& where,
                    LimitedProblems& limited);

/// The comment of a table that says along which z its fields point.
[[nodiscard]] std::string axes_comment(Axes axes);

/// The axes that a comment says, as axes_comment() writes it; nothing for any other.
[[nodiscard]] std::optional<Axes> axes_in_comment(std::string_view comment);

/// Whether readers would take a column of this name, `gz [mGal]`, `GZ_sigma` or `singular`, for what a run computed.
[[nodiscard]] bool is_field_name(std::string_view column);

/// Whether a run calls a variable so that it writes beside the fields.
[[nodiscard]] bool is_variable_of_run(std::string_view name);

/// Whether a variable beside the fields has the sign of gz, which turns with the axes.
[[nodiscard]] bool turns_with_gz(std::string_view variable);

/// A field of a carried column as a number, NaN for a dummy; false for text, and for digits that are a label: 0017.
[[nodiscard]] bool parse_carried(std::string_view text, double& value);

/// What a table says of each of its points, as it is written there; of a file of stations, results keep it.
struct StationColumns {
  /// none: the file is no text
  std::vector<std::string> names;
  char separator = ',';
  /// the column of each coordinate, -1: none is read
  std::array<int, 3> at{-1, -1, -1};
  /// whether a coordinate is the number in its column, by whose name any reader knows it
  std::array<bool, 3> is_plain{};
  std::filesystem::path file = {};
  /// a line a point
  std::string rows = {};

  /// Leaves only those points, if any are not kept.
  void keep(const std::vector<bool>& kept);
  /// Adds a point's fields, one a column, quotes kept.
  void add_row(const std::vector<std::string_view>& fields);
  /// Calls take(point, fields) for every point.
  void each_row(const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take) const;
};

/// The columns of these numbers: as numbers or, where a field of theirs is none, as text, without quotes and control
/// characters.
[[nodiscard]] std::vector<PointColumn> carried_columns(const StationColumns& own,
                                                       const std::vector<std::size_t>& numbers);

/// A variable at the points of a result; nothing where it is neither numbers nor a list of texts.
[[nodiscard]] std::optional<PointColumn> read_point_column(const Hdf5File& file, const std::string& name);

/// Writes a column as a variable on the points: float64, or text, of stations alone. Its name is cleaned for netCDF,
/// and ends in `_file` where it is a field's or the file has a variable of the name; the file's name is in long_name.
/// Throws RunError.
void write_point_column(Hdf5File& out, const PointLayout& layout, const PointColumn& column);

}  // namespace prismfield
