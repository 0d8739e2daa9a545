// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/grid_variable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Coordinates of a dimension.
struct Coordinates {
  std::string name;
  std::vector<double> values;
  bool falls = false;
};

/// Name of the variable with the coordinates of a dimension.
std::string coordinate_name(const InputFile& file, const ArrayFile& arrays, const std::string& dimension,
                            const Words& names, const std::string& direction) {
  if (!dimension.empty() && arrays.has("/" + dimension)) return dimension;
  for (const std::string& name : names) {
    // a file of plain HDF5 says nothing of dimensions: its coordinates are known by their names
    if (dimension.empty() && arrays.has("/" + name)) return name;
  }
  throw file.error(fmt::format("has no coordinates for {}; it needs the variable {}", direction, direction));
}

Coordinates coordinates_of(const InputFile& file, const ArrayFile& arrays, const std::string& name,
                           const std::string& direction, std::int64_t length) {
  Coordinates found;
  found.name = name;
  if (const auto lengths = arrays.shape("/" + found.name); lengths != std::vector<std::int64_t>{length}) {
    throw file.error(fmt::format("has {} of shape {} for {} values", found.name, shape_text(lengths), length));
  }
  found.values = arrays.read("/" + found.name);
  if (found.values.empty()) throw file.error(fmt::format("has no values of {} ({})", direction, found.name));
  found.falls = found.values.front() > found.values.back();
  if (found.falls) std::reverse(found.values.begin(), found.values.end());
  // comparisons with NaN are false
  const auto rises = [](double a, double b) { return !(a < b); };
  if (std::adjacent_find(found.values.begin(), found.values.end(), rises) != found.values.end() ||
      found.values.front() - found.values.front() != 0) {
    throw file.error(fmt::format("has {} ({}) that neither rises nor falls all along", direction, found.name));
  }
  return found;
}

/// How a variable of two dimensions lies in its file.
struct GridLayout {
  std::string northing, easting;
  std::int64_t n_northing = 0, n_easting = 0;
  /// easting comes first
  bool transposed = false;
};

GridLayout layout_of(const InputFile& file, const ArrayFile& arrays, const std::string& variable) {
  std::vector<std::int64_t> shape = arrays.shape("/" + variable);
  Words dimensions = arrays.dimension_names("/" + variable);
  if (!is_grid_shape(shape) || dimensions.size() != shape.size()) {
    throw file.error(fmt::format("has {} of shape {}; two dimensions, northing and easting, are needed", variable,
                                 shape_text(shape)));
  }
  // leading dimensions of one value, a date or a band
  shape.erase(shape.begin(), shape.end() - 2);
  dimensions.erase(dimensions.begin(), dimensions.end() - 2);
  GridLayout layout;
  layout.transposed = contains(easting_names, dimensions[0]) || contains(northing_names, dimensions[1]);
  if (layout.transposed) {
    std::swap(shape[0], shape[1]);
    std::swap(dimensions[0], dimensions[1]);
  }
  layout.n_northing = shape[0];
  layout.n_easting = shape[1];
  layout.northing = coordinate_name(file, arrays, dimensions[0], northing_names, "northing");
  layout.easting = coordinate_name(file, arrays, dimensions[1], easting_names, "easting");
  return layout;
}

}  // namespace

std::vector<double> turned(const std::vector<double>& values, std::size_t n_northing, std::size_t n_easting) {
  std::vector<double> result(values.size());
  for (std::size_t j = 0; j < n_northing; ++j) {
    for (std::size_t i = 0; i < n_easting; ++i) result[j * n_easting + i] = values[i * n_northing + j];
  }
  return result;
}

bool is_grid_shape(const std::vector<std::int64_t>& shape) {
  return shape.size() >= 2 && std::all_of(shape.begin(), shape.end() - 2, [](std::int64_t n) { return n == 1; });
}

std::vector<double> sorted_once(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::pair<std::string, std::string> grid_coordinates(const InputFile& file, const ArrayFile& arrays,
                                                     const std::string& variable) {
  GridLayout layout = layout_of(file, arrays, variable);
  return {std::move(layout.northing), std::move(layout.easting)};
}

GridVariable read_grid_variable(const InputFile& file, const ArrayFile& arrays, const std::string& variable) {
  const GridLayout layout = layout_of(file, arrays, variable);
  Coordinates northing = coordinates_of(file, arrays, layout.northing, "northing", layout.n_northing);
  Coordinates easting = coordinates_of(file, arrays, layout.easting, "easting", layout.n_easting);

  GridVariable grid;
  grid.values = arrays.read("/" + variable);
  const std::size_t n_northing = northing.values.size(), n_easting = easting.values.size();
  if (layout.transposed) grid.values = turned(grid.values, n_northing, n_easting);
  // in place: a grid of heights may be half of the memory that there is
  const auto row = [&](std::size_t j) { return grid.values.begin() + static_cast<std::ptrdiff_t>(j * n_easting); };
  for (std::size_t j = 0; easting.falls && j < n_northing; ++j) std::reverse(row(j), row(j + 1));
  for (std::size_t j = 0; northing.falls && j < n_northing / 2; ++j) {
    std::swap_ranges(row(j), row(j + 1), row(n_northing - 1 - j));
  }
  grid.easting_name = std::move(easting.name);
  grid.northing_name = std::move(northing.name);
  grid.easting = std::move(easting.values);
  grid.northing = std::move(northing.values);
  return grid;
}

std::string height_variable(const InputFile& file, const ArrayFile& arrays, const std::string& remedy) {
  Words candidates, named;
  for (const std::string& name : arrays.dataset_names("/")) {
    if (!is_grid_shape(arrays.shape("/" + name))) continue;
    candidates.push_back(name);
    if (contains(height_names, name)) named.push_back(name);
  }
  if (candidates.size() == 1) return candidates.front();
  if (named.size() == 1) return named.front();
  throw file.error(candidates.empty()
                       ? "has no variable of two dimensions"
                       : fmt::format("has {} variables of two dimensions ({}); one of them must be named {}{}",
                                     candidates.size(), shown_list(candidates), fmt::join(height_names, ", "), remedy));
}

std::optional<double> metres_in(std::string unit) {
  unit = lower_case(unit);
  static const Words metres = {"m", "metre", "metres", "meter", "meters"};
  static const Words kilometres = {"km", "kilometre", "kilometres", "kilometer", "kilometers"};
  static const Words feet = {"ft", "foot", "feet"};
  if (contains(metres, unit)) return 1;
  if (contains(kilometres, unit)) return 1000;
  if (contains(feet, unit)) return foot;
  return std::nullopt;
}

const char* length_unit(double length_to_si) { return length_to_si == 1000 ? "km" : length_to_si == foot ? "ft" : "m"; }

bool is_length_unit(const std::string& unit, double length_to_si) {
  return unit.empty() || metres_in(unit) == metres_in(length_unit(length_to_si));
}

std::string other_length_unit(const std::string& unit, double length_to_si) {
  return fmt::format("is in {}; {} is allowed here", excerpt(unit), length_unit(length_to_si));
}

void check_length_unit(const InputFile& file, const ArrayFile& arrays, const std::string& variable, double length_to_si,
                       ProblemList& problems) {
  const std::string unit = arrays.text_attribute("/" + variable, "units").value_or("");
  if (is_length_unit(unit, length_to_si)) return;
  problems.add(file.path.string(), variable, other_length_unit(unit, length_to_si));
}

}  // namespace prismfield
