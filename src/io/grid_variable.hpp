// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/input_file.hpp"

namespace prismfield {

/// What files call the coordinates, the first that is there.
inline const std::vector<std::string> easting_names = {"easting", "x", "lon", "longitude"};
inline const std::vector<std::string> northing_names = {"northing", "y", "lat", "latitude"};
inline const std::vector<std::string> height_names = {"upward", "elevation", "height", "z"};

/// A variable of two dimensions with its coordinates, in the file's units.
struct GridVariable {
  /// what the file calls the coordinates
  std::string easting_name, northing_name;
  /// ascending, each at least one
  std::vector<double> easting, northing;
  /// (northing, easting), NaN where the file has none
  std::vector<double> values;
};

/// Reads a variable of two dimensions, leading ones of one value left out, whatever the order of its dimensions and
/// coordinates. Throws InputError when its coordinates are missing or neither rise nor fall.
[[nodiscard]] GridVariable read_grid_variable(const InputFile& file, const ArrayFile& arrays,
                                              const std::string& variable);

/// What the file calls the coordinates of a variable, northing's and then easting's. Throws as read_grid_variable.
[[nodiscard]] std::pair<std::string, std::string> grid_coordinates(const InputFile& file, const ArrayFile& arrays,
                                                                   const std::string& variable);

/// The variable of two dimensions, the one with a height's name when there are several. Throws InputError when it
/// cannot be told; `remedy` ends the message.
[[nodiscard]] std::string height_variable(const InputFile& file, const ArrayFile& arrays,
                                          const std::string& remedy = "");

/// Values over (easting, northing) as values over (northing, easting).
[[nodiscard]] std::vector<double> turned(const std::vector<double>& values, std::size_t n_northing,
                                         std::size_t n_easting);

/// True when an array has two dimensions beside leading ones of one value.
[[nodiscard]] bool is_grid_shape(const std::vector<std::int64_t>& shape);

/// Adds a problem when a coordinate says that its unit is none of the length that `length_to_si` makes metres.
void check_length_unit(const InputFile& file, const ArrayFile& arrays, const std::string& variable, double length_to_si,
                       ProblemList& problems);
/// The values, each once, rising.
[[nodiscard]] std::vector<double> sorted_once(std::vector<double> values);

/// The international foot, m.
inline constexpr double foot = 0.3048;

/// Factor to metres of a unit of length, m, km or ft as people write them; nothing for any other.
[[nodiscard]] std::optional<double> metres_in(std::string unit);
/// "m", "km" or "ft" for their factors to metres.
[[nodiscard]] const char* length_unit(double length_to_si);
/// Whether a unit, such as "m" or "metre", is the length that `length_to_si` makes metres; "" is.
[[nodiscard]] bool is_length_unit(const std::string& unit, double length_to_si);
/// What is wrong with a coordinate in another unit.
[[nodiscard]] std::string other_length_unit(const std::string& unit, double length_to_si);

}  // namespace prismfield
