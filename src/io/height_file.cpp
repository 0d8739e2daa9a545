// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/height_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "io/point_columns.hpp"
#include "model/nearest_points.hpp"
#include "model/node_grid.hpp"

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

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

/// Coordinates that rise or fall all along.
std::vector<double> coordinates_of(const InputFile& file, const ArrayFile& arrays, const std::string& name,
                                   const std::string& direction, std::int64_t length) {
  if (const auto lengths = arrays.shape("/" + name); lengths != std::vector<std::int64_t>{length}) {
    throw file.error(fmt::format("has {} of shape {} for {} values", name, shape_text(lengths), length));
  }
  std::vector<double> values = arrays.read("/" + name);
  if (values.empty()) throw file.error(fmt::format("has no values of {} ({})", direction, name));
  const double sign = values.front() > values.back() ? -1 : 1;
  // comparisons with NaN are false
  const auto turns = [sign](double a, double b) { return !(sign * a < sign * b); };
  if (std::adjacent_find(values.begin(), values.end(), turns) != values.end() || !std::isfinite(values.front()) ||
      !std::isfinite(values.back())) {
    throw file.error(fmt::format("has {} ({}) that neither rises nor falls all along", direction, name));
  }
  return values;
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

std::size_t node_of(const std::vector<double>& rising, double value) {
  return static_cast<std::size_t>(std::lower_bound(rising.begin(), rising.end(), value) - rising.begin());
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
  GridVariable grid;
  grid.northing_name = layout.northing;
  grid.easting_name = layout.easting;
  grid.northing = coordinates_of(file, arrays, layout.northing, "northing", layout.n_northing);
  grid.easting = coordinates_of(file, arrays, layout.easting, "easting", layout.n_easting);
  grid.values = arrays.read("/" + variable);
  if (layout.transposed) grid.values = turned(grid.values, grid.northing.size(), grid.easting.size());
  make_ascending(grid);
  return grid;
}

void make_ascending(GridVariable& grid) {
  const std::size_t n_easting = grid.easting.size(), n_northing = grid.northing.size();
  // in place: a grid of heights may be half of the memory that there is
  const auto row = [&](std::size_t j) { return grid.values.begin() + static_cast<std::ptrdiff_t>(j * n_easting); };
  if (grid.easting.front() > grid.easting.back()) {
    std::reverse(grid.easting.begin(), grid.easting.end());
    for (std::size_t j = 0; j < n_northing; ++j) std::reverse(row(j), row(j + 1));
  }
  if (grid.northing.front() > grid.northing.back()) {
    std::reverse(grid.northing.begin(), grid.northing.end());
    for (std::size_t j = 0; j < n_northing / 2; ++j) std::swap_ranges(row(j), row(j + 1), row(n_northing - 1 - j));
  }
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

void check_length_unit(const InputFile& file, const ArrayFile& arrays, const std::string& variable, double length_to_si,
                       ProblemList& problems) {
  const std::string unit = arrays.text_attribute("/" + variable, "units").value_or("");
  if (is_length_unit(unit, length_to_si)) return;
  problems.add(file.path.string(), variable, other_length_unit(unit, length_to_si));
}

namespace {

std::string no_height(double easting, double northing) {
  return fmt::format("no height at easting {}, northing {}", easting, northing);
}

/// How far each place lies beyond the file's coordinates, metres: 0 within rounding.
std::vector<double> beyond(const std::vector<double>& file, const std::vector<double>& places) {
  const auto [least, most] = std::minmax_element(file.begin(), file.end());
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(*least), std::abs(*most));
  std::vector<double> distances;
  for (const double place : places) {
    const double distance = std::max({*least - place, place - *most, 0.0});
    distances.push_back(distance > rounding ? distance : 0);
  }
  return distances;
}

/// Throws InputError with `problems` and where heights on a grid, (northing, easting), are not finite; `remedy` ends
/// each message of these.
void check_finite(const InputFile& file, const std::string& variable, const std::vector<double>& easting,
                  const std::vector<double>& northing, const std::vector<double>& heights, const char* remedy,
                  ProblemList problems = {}) {
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t n = 0; n < heights.size(); ++n) {
    if (std::isfinite(heights[n])) continue;
    limited.add("heights that are NaN or infinite", [&] {
      return Problem{file.path.string(), variable,
                     no_height(easting[n % easting.size()], northing[n / easting.size()]) + remedy};
    });
  }
  limited.finish();
  problems.throw_if_any();
}

}  // namespace

HeightSurface::HeightSurface(const InputFile& file, const std::vector<std::string>& columns)
    : m_name(file.path.string()) {
  if (is_array_file(file)) {
    read_arrays(file);
  } else {
    read_table_of(file, columns);
  }
}

std::vector<double> HeightSurface::on_grid(const std::vector<double>& easting, const std::vector<double>& northing,
                                           std::string& note) const {
  std::vector<double> eastings, northings;
  eastings.reserve(easting.size() * northing.size());
  northings.reserve(easting.size() * northing.size());
  for (const double north : northing) {
    eastings.insert(eastings.end(), easting.begin(), easting.end());
    northings.insert(northings.end(), easting.size(), north);
  }
  note = note_of(easting, northing);
  return at(eastings, northings);
}

std::vector<double> HeightSurface::at(const std::vector<double>& easting, const std::vector<double>& northing) const {
  std::vector<double> heights;
  heights.reserve(easting.size());
  if (m_is_grid) {
    for (std::size_t p = 0; p < easting.size(); ++p) {
      heights.push_back(bilinear(between(m_easting, easting[p]), between(m_northing, northing[p]),
                                 [&](std::size_t j, std::size_t i) { return height(j, i); }));
    }
    return heights;
  }
  const NearestPoints points(m_easting, m_northing);
  for (std::size_t p = 0; p < easting.size(); ++p) {
    std::size_t nearest = 0;
    points.find({easting[p], northing[p], 0}, std::span(&nearest, 1));
    heights.push_back(m_heights[nearest]);
  }
  return heights;
}

void HeightSurface::read_arrays(const InputFile& file) {
  const ArrayFile arrays(file);
  const std::string variable = height_variable(file, arrays);
  GridVariable grid = read_grid_variable(file, arrays, variable);
  ProblemList problems;
  for (const std::string& name : {grid.easting_name, grid.northing_name, variable}) {
    check_length_unit(file, arrays, name, 1, problems);
  }
  m_easting = std::move(grid.easting);
  m_northing = std::move(grid.northing);
  m_heights = std::move(grid.values);
  m_is_grid = true;
  check_finite(file, variable, m_easting, m_northing, m_heights,
               "; fill the gap or write the file as a table without it", std::move(problems));
}

void HeightSurface::read_table_of(const InputFile& file, const std::vector<std::string>& columns) {
  TableRequest request = place_columns();
  request.columns = columns;
  request.columns_key = file.key_beside("columns");
  ProblemList problems;
  Table table = read_table(file, request, problems);
  std::vector<std::string> notes;
  places_to_metres(file, table, {}, problems, notes);
  m_easting = std::move(table.columns[0]);
  m_northing = std::move(table.columns[1]);
  m_heights = std::move(table.columns[2]);
  check_twice(file, table.lines, problems);
  problems.throw_if_any();
  make_grid();
}

/// The same place twice is an error where the heights differ.
void HeightSurface::check_twice(const InputFile& file, const std::vector<std::int64_t>& lines,
                                ProblemList& problems) const {
  std::vector<std::size_t> order(m_heights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::pair(m_northing[i], m_easting[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1], here = order[i];
    if (place(before) != place(here) || m_heights[before] == m_heights[here]) continue;
    limited.add("places with two heights", [&] {
      return Problem{line_of(file, lines[here]), "",
                     fmt::format("easting {}, northing {} has the height {}, in line {} it has {}", m_easting[here],
                                 m_northing[here], m_heights[here], lines[before], m_heights[before])};
    });
  }
  limited.finish();
}

/// Puts the points in the order of a grid where they make a whole one.
void HeightSurface::make_grid() {
  const std::vector<double> easting = sorted_once(m_easting), northing = sorted_once(m_northing);
  const std::size_t n = m_heights.size();
  // points given twice, with one height, leave the grid what it is; fewer points than nodes do not fill it
  if (easting.size() > n / northing.size()) return;
  const std::size_t nodes = easting.size() * northing.size();
  std::vector<double> heights(nodes);
  std::vector<bool> known(nodes);
  std::size_t found = 0;
  for (std::size_t p = 0; p < n; ++p) {
    const std::size_t node = node_of(northing, m_northing[p]) * easting.size() + node_of(easting, m_easting[p]);
    if (!known[node]) ++found;
    known[node] = true;
    heights[node] = m_heights[p];
  }
  if (found < nodes) return;
  m_easting = easting;
  m_northing = northing;
  m_heights = std::move(heights);
  m_is_grid = true;
}

std::string HeightSurface::note_of(const std::vector<double>& easting, const std::vector<double>& northing) const {
  std::string note;
  if (!m_is_grid) note = fmt::format("'{}': its points make no whole grid, the nearest counts", m_name);
  const std::vector<double> beyond_easting = beyond(m_easting, easting), beyond_northing = beyond(m_northing, northing);
  const auto inside = [](const std::vector<double>& distances) {
    return static_cast<std::int64_t>(std::count(distances.begin(), distances.end(), 0.0));
  };
  const auto all = static_cast<std::int64_t>(easting.size()) * static_cast<std::int64_t>(northing.size());
  const std::int64_t outside = all - inside(beyond_easting) * inside(beyond_northing);
  if (outside == 0) return note;
  const auto most = [](const std::vector<double>& distances) {
    return *std::max_element(distances.begin(), distances.end());
  };
  note += note.empty() ? fmt::format("'{}': ", m_name) : "; ";
  note += fmt::format("{} of {} lie beyond its area, by up to {:.4g} m, the nearest height inside counts there",
                      grouped(outside), counted(all, "place"), std::hypot(most(beyond_easting), most(beyond_northing)));
  return note;
}

namespace {

/// How far a file's coordinate may lie from the grid's: a thousandth of the spacing, and what single precision
/// loses, as grid files often hold coordinates in it, while that stays well below the spacing.
double grid_tolerance(const std::vector<double>& grid) {
  const double largest = std::max(std::fabs(grid.front()), std::fabs(grid.back()));
  if (grid.size() == 1) return 1e-6 * std::max(largest, 1.0);
  const double spacing = (grid.back() - grid.front()) / static_cast<double>(grid.size() - 1);
  return std::max(1e-3 * spacing, std::min(1.2e-7 * largest, 0.05 * spacing));
}

/// Throws unless a file's coordinates are the grid's.
void check_coordinates(const InputFile& file, const std::string& direction, const std::string& name,
                       const std::vector<double>& values, const std::vector<double>& grid) {
  const double tolerance = grid_tolerance(grid);
  const auto near = [tolerance](double a, double b) { return std::fabs(a - b) <= tolerance; };
  if (values.size() == grid.size() && std::equal(values.begin(), values.end(), grid.begin(), near)) return;
  throw file.error(fmt::format(
      "has {} ({}) at {} value{}, {} to {}; the grid has {}, {} to {}, and heights are needed at its own points",
      direction, name, values.size(), values.size() == 1 ? "" : "s", values.front(), values.back(), grid.size(),
      grid.front(), grid.back()));
}

/// The grid node of a coordinate, or nothing.
std::optional<std::size_t> nearest(const std::vector<double>& grid, double value, double tolerance) {
  const auto behind = std::lower_bound(grid.begin(), grid.end(), value);
  for (const auto at : {behind, behind == grid.begin() ? behind : behind - 1}) {
    if (at != grid.end() && std::fabs(*at - value) <= tolerance) return static_cast<std::size_t>(at - grid.begin());
  }
  return std::nullopt;
}

std::vector<double> heights_of_table(const InputFile& file, const std::vector<double>& grid_easting,
                                     const std::vector<double>& grid_northing) {
  ProblemList problems;
  Table table = read_table(file, place_columns(), problems);
  std::vector<std::string> notes;
  places_to_metres(file, table, {}, problems, notes);
  const bool all_read = problems.empty();
  LimitedProblems limited(problems, file.path.string());
  std::vector<double> heights(grid_easting.size() * grid_northing.size());
  std::vector<std::int64_t> line_of_node(heights.size(), 0);
  const double easting_tolerance = grid_tolerance(grid_easting);
  const double northing_tolerance = grid_tolerance(grid_northing);
  for (std::size_t r = 0; r < table.lines.size(); ++r) {
    const double easting = table.columns[0][r], northing = table.columns[1][r];
    const auto i = nearest(grid_easting, easting, easting_tolerance);
    const auto j = nearest(grid_northing, northing, northing_tolerance);
    const std::int64_t line = table.lines[r];
    const auto refuse = [&](const char* kind, const std::string& what) {
      limited.add(kind, [&] {
        return Problem{line_of(file, line), "", fmt::format("easting {}, northing {} {}", easting, northing, what)};
      });
    };
    if (!i || !j) {
      refuse("points that are not on the grid", "is no point of the grid");
      continue;
    }
    const std::size_t node = *j * grid_easting.size() + *i;
    if (line_of_node[node] > 0) {
      refuse("points given twice", fmt::format("was given in line {}", line_of_node[node]));
      continue;
    }
    line_of_node[node] = line;
    heights[node] = table.columns[2][r];
  }
  // lines with an error leave gaps that are no error of their own
  for (std::size_t n = 0; all_read && n < heights.size(); ++n) {
    if (line_of_node[n] > 0) continue;
    limited.add("grid points without a height", [&] {
      return Problem{file.path.string(), "",
                     no_height(grid_easting[n % grid_easting.size()], grid_northing[n / grid_easting.size()])};
    });
  }
  limited.finish();
  problems.throw_if_any();
  return heights;
}

}  // namespace

std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                 const std::vector<double>& northing) {
  if (!is_array_file(file)) return heights_of_table(file, easting, northing);
  const ArrayFile arrays(file);
  const std::string variable = height_variable(file, arrays);
  GridVariable grid = read_grid_variable(file, arrays, variable);
  check_coordinates(file, "northing", grid.northing_name, grid.northing, northing);
  check_coordinates(file, "easting", grid.easting_name, grid.easting, easting);
  check_finite(file, variable, easting, northing, grid.values, "");
  return std::move(grid.values);
}

}  // namespace prismfield
