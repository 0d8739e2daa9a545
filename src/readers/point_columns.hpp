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
#include "formats/hdf5_file.hpp"
#include "formats/heading.hpp"
#include "formats/input_file.hpp"
#include "formats/text_table.hpp"
#include "readers/file_content.hpp"

// Columns of points besides fields, in tables and in files of arrays.

namespace prismfield {

/// "m", "km" or "ft" for a factor to metres.
[[nodiscard]] const char* length_unit(double length_to_si);
/// Whether a unit, such as "m", "metre" or "", is the length with this factor to metres.
[[nodiscard]] bool is_length_unit(const std::string& unit, double length_to_si);
/// The error for a coordinate in another unit.
[[nodiscard]] std::string other_length_unit(const std::string& unit, double length_to_si);

/// What a case states of the places in a table.
struct PlaceUnits {
  /// factor to metres; unset: metres, where the columns name no unit
  std::optional<double> length_to_si = {};
  /// unset: up, except for a column depth
  std::optional<bool> z_down = {};
  /// whether the key length_unit next to the file may state the unit
  bool has_length_key = false;
};

/// The columns of a table of places: easting, northing, upward, by their usual names, units in brackets. It refuses
/// longitude and latitude.
[[nodiscard]] TableRequest place_columns();

/// Which of easting, northing and upward a column's name means, by the spellings of place_columns(); "" for none.
[[nodiscard]] std::string place_named(std::string_view name);

/// Whether coordinates are longitudes or latitudes, by their unit or, without a unit, by their name.
[[nodiscard]] bool are_angles(const std::string& name, const std::string& unit);

/// Adds a problem where a comment states a unit of length and none of the first n wanted columns does. `key`: one that
/// may state it; may be empty.
void refuse_commented_unit(const TableColumns& columns, std::size_t n, const std::string& key, ProblemList& problems);
/// Throws InputError where a comment above counted points states a unit other than metres. `key`: one that may state
/// it.
void refuse_commented_unit(const InputFile& file, const std::string& key);

/// Factors to metres with z up for the columns of places, the first two or three wanted columns. It adds problems for a
/// unit that is no length or differs from the case's, and for a direction that contradicts the column's name; a note
/// reports a depth.
[[nodiscard]] std::vector<double> place_factors(const InputFile& file, const TableColumns& columns,
                                                const PlaceUnits& units, ProblemList& problems,
                                                std::vector<std::string>& notes);
/// The same for a table that was read: its columns of places become metres with z up.
std::vector<double> places_to_metres(const InputFile& file, Table& table, const PlaceUnits& units,
                                     ProblemList& problems, std::vector<std::string>& notes);

/// Adds a problem for each dummy (find_dummy_places()) among the coordinates of points; returns what is in doubt.
/// `where`: the place where point i was read.
std::string refuse_dummies(const Points& points, const std::function<std::string(std::size_t)>& where,
                           LimitedProblems& limited);

/// "'dem.asc': 5 of 30 nodes"
[[nodiscard]] std::string some_of(const InputFile& file, std::int64_t some, std::size_t all, const char* noun);

/// Replaces dummies (find_dummies()) by NaN; returns what to note: "'dem.asc': 5 of 30 nodes without a height: -9999
/// stands for none", or possible_dummy(), "" where there are none. Infinities may stay: a field has them.
[[nodiscard]] std::string drop_dummies(const InputFile& file, std::vector<double>& values, const char* noun,
                                       const std::string& quantity, bool keeps_infinities = false);

/// The comment of a table that states the direction of z for its fields.
[[nodiscard]] std::string axes_comment(Axes axes);

/// The axes that a table's comments say as axes_comment() writes it; nothing where none does.
[[nodiscard]] std::optional<Axes> axes_said(const Table& table);

/// Whether readers take a column of this name, such as `gz [mGal]`, `GZ_sigma` or `singular`, for results of a run.
[[nodiscard]] bool is_field_name(std::string_view column);

/// Whether a run writes a variable of this name besides fields.
[[nodiscard]] bool is_variable_of_run(std::string_view name);

/// Whether a variable besides fields has the sign of gz and changes with the axes.
[[nodiscard]] bool turns_with_gz(std::string_view variable);

/// Parses a field of a carried column; NaN for a dummy. False for text and for labels in digits such as 0017.
[[nodiscard]] bool parse_carried(std::string_view text, double& value);

/// The columns of a table of points as text; results keep those of a station file.
struct StationColumns {
  /// empty: the file is no text
  std::vector<std::string> names;
  char separator = ',';
  /// index of each coordinate's column; -1: none is read
  std::array<int, 3> at{-1, -1, -1};
  /// whether a coordinate is the number in its column, under a name that all readers know
  std::array<bool, 3> is_plain{};
  std::filesystem::path file = {};
  /// a row a point
  TableText text = {};
};

/// The columns with these numbers, as numbers or, where a field is none, as text without quotes and control characters.
[[nodiscard]] std::vector<PointColumn> carried_columns(const StationColumns& own,
                                                       const std::vector<std::size_t>& numbers);

/// A variable at the points of a result; nothing where it is neither numbers nor a list of texts.
[[nodiscard]] std::optional<PointColumn> read_point_column(const Hdf5File& file, const std::string& name);

/// Writes a column as a variable on the points: float64, or text for stations only. It makes the name valid for netCDF,
/// and appends `_file` to the name of a field or of an existing variable; long_name keeps the original. Throws
/// RunError.
void write_point_column(Hdf5File& out, const PointLayout& layout, const PointColumn& column);

}  // namespace prismfield
