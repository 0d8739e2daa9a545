// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/cell_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/text_table.hpp"
#include "model/axis.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {
namespace {

constexpr std::size_t z_axis = 2;
/// of a number in single precision, as a part of it
constexpr double single_rounding = 1.2e-7;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// Whether xarray or netCDF made up the name of a dimension that has none.
bool is_made_up(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits < name.size() && (name.substr(0, digits) == "dim_" || name.substr(0, digits) == "phony_dim_");
}

bool is_level(const std::string& name) {
  const std::string plain = plain_name(name);
  return plain == "lev" || plain == "level" || plain == "layer";
}

/// Along what a name says that a dimension is; nothing for others.
std::optional<std::size_t> direction_named(std::string name) {
  // CF: height_above_mean_sea_level, depth_below_geoid
  for (const char* datum : {"_above_", "_below_"}) name = name.substr(0, name.find(datum));
  name = plain_name(name);
  // numbers of cells as names
  if (name.size() == 2 && name.front() == 'n') name.erase(0, 1);
  const std::string place = is_level(name) ? direction_names[z_axis] : place_named(name);
  for (std::size_t d = 0; d < direction_names.size(); ++d) {
    if (place == direction_names[d]) return d;
  }
  return std::nullopt;
}

}  // namespace

CellAxes::CellAxes(const InputFile& file, const ArrayFile& arrays, const std::string& dataset)
    : m_file(file), m_arrays(arrays), m_dataset(dataset) {
  std::vector<std::string> names(m_dimensions.size());
  std::vector<std::int64_t> shape(m_dimensions.size(), -1);
  if (!base_name(dataset).empty()) {
    names = arrays.dimension_names(dataset);
    shape = arrays.shape(dataset);
  }
  for (; shape.size() > m_dimensions.size(); shape.erase(shape.begin()), names.erase(names.begin())) {
    if (direction_named(names.front())) {
      fail(fmt::format("has {} over {} first, which is a direction; it has to be one of the last three dimensions",
                       dataset, shown(names.front(), longest_name)));
    }
  }
  for (std::size_t k = 0; k < m_dimensions.size(); ++k) {
    Dimension& dimension = m_dimensions[k];
    if (!is_made_up(names[k])) dimension.name = names[k];
    dimension.length = shape[k];
    dimension.direction = z_axis - k;
    dimension.coordinate = coordinate_of(dimension);
    find_direction(dimension);
  }
  check_directions();
  for (Dimension& dimension : m_dimensions) read_coordinates(dimension);
}

std::string CellAxes::coordinate_of(const Dimension& dimension) const {
  for (const std::string& folder : {folder_of(m_dataset), std::string("/")}) {
    std::string by_direction;
    for (const std::string& variable :
         m_arrays.dataset_names(folder.substr(0, std::max<std::size_t>(folder.size(), 2) - 1))) {
      const std::optional<std::size_t> along = direction_named(variable);
      if (variable != dimension.name && !along) continue;
      const std::string path = folder + variable;
      const std::vector<std::int64_t> shape = m_arrays.shape(path);
      if (path == m_dataset || shape.size() != 1 || (dimension.length >= 0 && shape[0] != dimension.length)) continue;
      if (variable == dimension.name) return path;
      // on this dimension by another name, or without dimensions known by its name alone
      const bool is_here = dimension.name.empty() ? along == dimension.direction
                                                  : m_arrays.dimension_names(path).front() == dimension.name;
      if (is_here && by_direction.empty()) by_direction = path;
    }
    if (!by_direction.empty()) return by_direction;
  }
  return {};
}

void CellAxes::find_direction(Dimension& dimension) const {
  const std::string& coordinate = dimension.coordinate;
  const auto word = [&](const char* attribute) {
    return coordinate.empty() ? "" : lower_case(m_arrays.text_attribute(coordinate, attribute).value_or(""));
  };
  std::set<std::size_t> said;
  std::optional<bool> is_down;
  for (const std::string& name : {dimension.name, base_name(coordinate), word("standard_name")}) {
    const std::optional<std::size_t> along = direction_named(name);
    if (!along) continue;
    said.insert(*along);
    if (!is_level(name)) is_down = is_down.value_or(false) || plain_name(name).starts_with("depth");
  }
  const std::string axis = word("axis"), positive = word("positive");
  if (axis == "x" || axis == "y" || axis == "z") said.insert(static_cast<std::size_t>(axis[0] - 'x'));
  if (positive == "up" || positive == "down") {
    said.insert(z_axis);
    is_down = positive == "down";
  }
  if (said.size() > 1) {
    fail(
        fmt::format("has {} whose name and attributes (axis, standard_name, positive) say different directions; mend "
                    "the wrong one",
                    shown(coordinate, longest_name)));
  }
  if (said.empty()) return;
  dimension.is_named = true;
  dimension.direction = *said.begin();
  if (dimension.direction == z_axis) dimension.is_down = is_down;
}

void CellAxes::check_directions() const {
  std::set<std::size_t> taken;
  for (const Dimension& dimension : m_dimensions) taken.insert(dimension.direction);
  if (taken.size() == m_dimensions.size()) return;
  fail(
      fmt::format("has {} over ({}); one dimension each along upward, northing and easting is needed, by these names, "
                  "by z, y and x, or by the attribute axis of their coordinates",
                  m_dataset, names_text()));
}

double CellAxes::factor_of(const Dimension& dimension) const {
  const std::string& coordinate = dimension.coordinate;
  const std::string name = coordinate.empty() ? dimension.name : base_name(coordinate);
  std::string unit;
  if (!coordinate.empty()) unit = m_arrays.text_attribute(coordinate, "units").value_or("");
  // as a table's x_km
  if (unit.empty() && !place_named(name).empty()) unit = place_heading(name).unit;
  if (are_angles(name, unit)) {
    fail(
        fmt::format("has {} over {} in degrees; cells are needed in metres of a map projection: project the model "
                    "first, and write its easting and northing",
                    m_dataset, shown(name, longest_name)));
  }
  const std::optional<double> factor = unit.empty() ? 1 : metres_in(unit);
  if (factor) return *factor;
  fail(fmt::format("has {} in {}; lengths in m, km or ft are read", shown(name, longest_name), excerpt(unit)));
}

void CellAxes::read_coordinates(Dimension& dimension) const {
  const std::string& path = dimension.coordinate;
  const double factor = factor_of(dimension);
  if (path.empty()) return;
  const auto metres = [&](const std::string& variable) {
    std::vector<double> values = m_arrays.read(variable);
    for (double& value : values) value = factor == 1 ? value : decimal_product(value, factor);
    return values;
  };
  std::vector<double>& centers = dimension.centers = metres(path);
  dimension.length = static_cast<std::int64_t>(centers.size());
  const double sign = dimension.falls() ? -1 : 1;
  // comparisons with NaN are false
  const auto turns = [sign](double a, double b) { return !(sign * a < sign * b); };
  if (std::adjacent_find(centers.begin(), centers.end(), turns) != centers.end() ||
      !std::all_of(centers.begin(), centers.end(), [](double center) { return std::isfinite(center); })) {
    fail(fmt::format("has coordinates {} that neither rise nor fall all along", shown(path, longest_name)));
  }
  const std::string bounds =
      folder_of(path) + m_arrays.text_attribute(path, "bounds").value_or(base_name(path) + "_bounds");
  if (m_arrays.has(bounds)) {
    if (const auto shape = m_arrays.shape(bounds); shape != std::vector<std::int64_t>{dimension.length, 2}) {
      fail(fmt::format("has {} of shape {}; a lower and an upper edge a cell are needed", bounds, shape_text(shape)));
    }
    dimension.bounds = metres(bounds);
    for (std::size_t i = 0; i < dimension.bounds.size(); i += 2) {
      if (dimension.bounds[i] > dimension.bounds[i + 1]) std::swap(dimension.bounds[i], dimension.bounds[i + 1]);
      const double center = centers[i / 2], rounding = single_rounding * std::abs(center);
      if (dimension.bounds[i] - rounding <= center && center <= dimension.bounds[i + 1] + rounding) continue;
      fail(fmt::format("has {} of {} for a cell whose edges are {} and {} in {}; mend what is wrong", base_name(path),
                       centers[i / 2], dimension.bounds[i], dimension.bounds[i + 1], bounds));
    }
  }
  if (dimension.is_down == true) dimension.turn_down();
}

void CellAxes::Dimension::turn_down() {
  for (std::vector<double>* const list : {&centers, &bounds}) {
    for (double& value : *list) value = 0 - value;
  }
  for (std::size_t i = 0; i < bounds.size(); i += 2) std::swap(bounds[i], bounds[i + 1]);
}

bool CellAxes::Dimension::lies_in(const std::vector<double>& edges) const {
  // a part of a cell's width, the rounding of single precision, and at most a quarter of a width: neighbours differ
  constexpr double part = 1e-3, most = 0.25;
  if (edges.size() != centers.size() + 1) return false;
  for (std::size_t i = 0; i < centers.size(); ++i) {
    const double width = edges[i + 1] - edges[i];
    const auto is_near = [&](double found, double wanted) {
      return std::abs(found - wanted) <= std::min(part * width + single_rounding * std::abs(wanted), most * width);
    };
    const std::size_t at = falls() ? centers.size() - 1 - i : i;
    if (bounds.empty() ? !is_near(centers[at], edges[i] + width / 2)
                       : !is_near(bounds[2 * at], edges[i]) || !is_near(bounds[2 * at + 1], edges[i + 1])) {
      return false;
    }
  }
  return true;
}

const CellAxes::Dimension& CellAxes::along(std::size_t direction) const {
  return *std::find_if(m_dimensions.begin(), m_dimensions.end(),
                       [&](const Dimension& dimension) { return dimension.direction == direction; });
}

CellCounts CellAxes::counts() const { return {along(0).length, along(1).length, along(z_axis).length}; }

std::string CellAxes::names_text() const {
  std::vector<std::string> names;
  for (const Dimension& dimension : m_dimensions) names.push_back(dimension.name.empty() ? "?" : dimension.name);
  return shown_list(names);
}

void CellAxes::fail_as_undecided(const Dimension& dimension) const {
  fail(
      fmt::format("has {} over {}, which does not say whether it runs upwards or downwards; give it coordinates with "
                  "the attribute positive, up or down",
                  m_dataset, shown(dimension.name, longest_name)));
}

void CellAxes::check(const CellEdges& edges) {
  if (const CellCounts wanted = counts_of(edges), found = counts(); found != wanted) {
    fail(fmt::format("has {} of shape {}; (upward, northing, easting) = ({}, {}, {}) or ({}) is needed", m_dataset,
                     shape_text(m_arrays.shape(m_dataset)), wanted[2], wanted[1], wanted[0],
                     wanted[0] * wanted[1] * wanted[2]));
  }
  for (Dimension& dimension : m_dimensions) {
    const std::vector<double>& of_cells = edges[dimension.direction];
    Dimension turned = dimension;
    turned.turn_down();
    const bool lies_there = dimension.lies_in(of_cells), lies_turned = turned.lies_in(of_cells);
    const bool is_up = dimension.is_down == std::optional(false);
    if (!is_up && dimension.length > 1 &&
        (dimension.centers.empty() || (!dimension.is_down && lies_there && lies_turned))) {
      fail_as_undecided(dimension);
    }
    if (!dimension.is_down && lies_turned) {
      dimension = std::move(turned);
      continue;
    }
    if (dimension.centers.empty() || lies_there) continue;
    const auto center = [&](std::size_t i) { return (of_cells[i] + of_cells[i + 1]) / 2; };
    const auto [least, most] = std::minmax_element(dimension.centers.begin(), dimension.centers.end());
    fail(fmt::format(
        "has {} at other cells than the model's: {} is from {:.10g} to {:.10g} m, centres of cells along {} are from "
        "{:.10g} to {:.10g} m; {}",
        m_dataset, base_name(dimension.coordinate), *least, *most, direction_names[dimension.direction], center(0),
        center(of_cells.size() - 2),
        lies_turned && dimension.direction == z_axis
            ? "if it is a depth, give it the attribute positive: down"
            : "mend what is wrong, or leave the coordinates out of the file if its values are those of these cells"));
  }
  check_order(edges);
}

void CellAxes::check_order(const CellEdges& edges) const {
  for (const Dimension& a : m_dimensions) {
    for (const Dimension& b : m_dimensions) {
      const bool can_be_either = !a.is_named && !b.is_named && !a.name.empty() && !b.name.empty() && &a != &b &&
                                 a.length == b.length && a.length > 1;
      const auto could_be = [&](const Dimension& one, const Dimension& other) {
        return one.centers.empty() || one.lies_in(edges[other.direction]);
      };
      if (!can_be_either || !could_be(a, b) || !could_be(b, a)) continue;
      fail(
          fmt::format("has {} over ({}), which do not say what they are; call them upward, northing and easting, or "
                      "z, y and x",
                      m_dataset, names_text()));
    }
  }
}

CellEdges CellAxes::edges() const {
  CellEdges edges;
  for (std::size_t d = 0; d < edges.size(); ++d) edges[d] = edges_of(along(d));
  return edges;
}

std::vector<double> CellAxes::edges_of(const Dimension& dimension) const {
  const char* const direction = direction_names[dimension.direction];
  const std::vector<double>& centers = dimension.centers;
  if (centers.empty() || (!dimension.is_named && !dimension.name.empty())) {
    fail(fmt::format("holds no {} of its cells; name their mesh by --mesh", direction));
  }
  if (!dimension.is_down) fail_as_undecided(dimension);
  const std::size_t n = centers.size();
  std::vector<double> edges;
  if (!dimension.bounds.empty()) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = 2 * (dimension.falls() ? n - 1 - i : i);
      if (i == 0) edges.push_back(dimension.bounds[at]);
      if (dimension.bounds[at] != edges.back()) {
        fail(fmt::format("has gaps between the cells along {}, by their bounds", direction));
      }
      edges.push_back(dimension.bounds[at + 1]);
    }
    if (std::adjacent_find(edges.begin(), edges.end(), [](double a, double b) { return !(a < b); }) != edges.end()) {
      fail(fmt::format("has bounds of cells along {} that do not rise", direction));
    }
    return edges;
  }
  if (n < 2) fail(fmt::format("has one cell along {} and no {}_bounds; name its mesh by --mesh", direction, direction));
  // what a spacing in single precision may differ by
  constexpr double tolerance = 1e-5;
  std::vector<double> rising = centers;
  if (dimension.falls()) std::reverse(rising.begin(), rising.end());
  const double step = (rising[n - 1] - rising[0]) / static_cast<double>(n - 1);
  edges.push_back(rising[0] - 0.5 * step);
  for (std::size_t i = 1; i < n; ++i) {
    if (std::fabs(rising[i] - rising[i - 1] - step) > tolerance * step) {
      fail(fmt::format("has centres of cells along {} at unequal distances and no {}_bounds; name their mesh by --mesh",
                       direction, direction));
    }
    edges.push_back(0.5 * (rising[i - 1] + rising[i]));
  }
  edges.push_back(rising[n - 1] + 0.5 * step);
  return edges;
}

std::vector<double> CellAxes::arranged(std::vector<double> values) const {
  std::array<std::ptrdiff_t, 3> strides{};
  std::ptrdiff_t size = 1, first = 0;
  bool is_arranged = true;
  for (std::size_t k = m_dimensions.size(); k-- > 0;) {
    const Dimension& dimension = m_dimensions[k];
    strides[dimension.direction] = dimension.falls() ? -size : size;
    if (dimension.falls()) first += size * (dimension.length - 1);
    is_arranged = is_arranged && dimension.direction == z_axis - k && !dimension.falls();
    size *= dimension.length;
  }
  if (is_arranged) return values;
  const auto [nx, ny, nz] = counts();
  std::vector<double> result;
  result.reserve(values.size());
  for (; result.size() < values.size(); first += size) {
    for (std::ptrdiff_t k = 0; k < nz; ++k) {
      for (std::ptrdiff_t j = 0; j < ny; ++j) {
        for (std::ptrdiff_t i = 0; i < nx; ++i) {
          result.push_back(values[static_cast<std::size_t>(first + i * strides[0] + j * strides[1] + k * strides[2])]);
        }
      }
    }
  }
  return result;
}

}  // namespace prismfield
