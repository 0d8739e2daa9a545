// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/point_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/grid_formats.hpp"
#include "formats/text_table.hpp"
#include "model/choices.hpp"
#include "model/points.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {
namespace {

/// Sets the axes that the file says or the user, who has to say the same. Throws InputError.
void set_axes(PointFields& points, std::optional<Axes> said, std::optional<Axes> asked, const InputFile& file) {
  if (said && asked && *said != *asked) {
    throw InputError("--axes", "",
                     fmt::format("is {}, but '{}' says itself that its axes are {}; leave the option out", name(*asked),
                                 file.path.string(), name(*said)));
  }
  points.axes = said ? *said : asked.value_or(Axes::z_down);
  points.axes_are_stated = said || asked;
}

/// Whether numbers rise by equal steps but for rounding.
bool is_even(const std::vector<double>& values) {
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  double place = values.front();
  for (const double value : values) {
    if (std::fabs(value - place) > 1e-6 * step) return false;
    place = value + step;
  }
  return step > 0;
}

}  // namespace

void scale_decimals(std::vector<double>& values, double factor) {
  if (factor == 1) return;
  const std::vector<bool> dummies = find_dummies(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dummies.empty() || !dummies[i]) values[i] = decimal_product(values[i], factor);
  }
}

void drop_field_dummies(const InputFile& file, PointFields& points) {
  std::size_t f = 0;
  for (const FieldInfo& field : points.fields) {
    const std::string note = drop_dummies(file, points.values[f++], "point", std::string(field.name), true);
    if (!note.empty()) points.notes.push_back(note);
  }
}

FieldVariables::FieldVariables(const std::vector<std::string>& names) {
  for (const bool is_exact : {true, false}) {
    for (const std::string& name : names) {
      const std::optional<FieldWord> word = field_meant(name);
      if (!word) continue;
      const std::string exact = std::string(info(word->field).name) + std::string(word->is_sigma ? sigma_suffix : "");
      // the first stays
      if ((name == exact) == is_exact) (word->is_sigma ? sigma : values).emplace(word->field, name);
    }
  }
}

ColumnOfField column_of(const PointFields& points, Field field, Axes axes) {
  const auto at = static_cast<std::size_t>(points.fields.index_of(field));
  ColumnOfField column{points.values[at], points.sigma[at]};
  if (axes != points.axes && info(field).odd_in_z) {
    // 0 - x, so that 0 does not become -0
    for (double& value : column.values) value = 0.0 - value;
  }
  return column;
}

PointFields with_axes(PointFields points, Axes axes) {
  for (const FieldInfo& field : points.fields) {
    points.values[static_cast<std::size_t>(points.fields.index_of(field.field))] =
        column_of(points, field.field, axes).values;
  }
  for (PointColumn& column : points.columns) {
    if (axes == points.axes || column.is_of_stations || !turns_with_gz(column.name)) continue;
    for (double& value : column.numbers) value = 0.0 - value;
  }
  points.axes = axes;
  return points;
}

void check_no_nan(const ColumnOfField& column, Field field, const char* format) {
  for (const auto* values : {&column.values, &column.sigma}) {
    const auto n = std::count_if(values->begin(), values->end(), [](double value) { return std::isnan(value); });
    if (n == 0) continue;
    throw InputError(
        "", "",
        fmt::format("{} of {}{} {} no number, which {} cannot hold; leave out the points", grouped(n), info(field).name,
                    values == &column.sigma ? "_sigma" : "", n == 1 ? "is" : "are", format));
  }
}

TableRequest field_columns(FieldList fields, FieldList with_sigma) {
  TableRequest request = place_columns();
  for (const FieldInfo& field : fields) {
    const std::string name(field.name), plain = plain_name(name), sigma = name + std::string(sigma_suffix);
    request.optional.push_back(name);
    request.aliases.push_back({plain, name});
    if (!with_sigma.contains(field.field)) continue;
    request.optional.push_back(sigma);
    for (const std::string& spelling : {"sigma" + plain, plain + "sigma"}) request.aliases.push_back({spelling, sigma});
  }
  return request;
}

std::vector<double> take_column(Table& table, const TableRequest& request, const std::string& name, Field field,
                                ProblemList& problems) {
  const auto place_of = [&](std::string_view wanted) {
    const auto found = std::find(request.optional.begin(), request.optional.end(), wanted);
    return request.needed.size() + static_cast<std::size_t>(found - request.optional.begin());
  };
  const std::size_t at = place_of(name), of_field = place_of(info(field).name);
  if (at == table.columns.size() || table.columns[at].empty()) return {};
  const bool has_unit = !table.units[at].empty() || of_field == table.columns.size();
  const std::string& unit = table.units[has_unit ? at : of_field];
  const std::optional<double> factor = unit_factor(field, unit);
  if (!factor) problems.add(table.units_where, table.named_key, "column " + name + " " + unit_error(field, unit));
  scale_decimals(table.columns[at], factor.value_or(1));
  return std::move(table.columns[at]);
}

PointFields read_point_table(const InputFile& file, const PointTableSpec& spec, std::vector<std::string>& notes) {
  TableRequest request = field_columns(FieldList::every(), FieldList::every());
  request.may_lack = true;
  request.keeps_text = true;
  if (spec.columns_without_names > 0) request.columns = request.needed;
  if (spec.columns_without_names > 3) {
    if (!spec.field) {
      throw file.error(
          fmt::format("has {} columns without names; say by --field which field stands behind easting, northing and "
                      "upward, such as "
                      "--field gz",
                      spec.columns_without_names));
    }
    const std::string name(info(*spec.field).name);
    request.columns.push_back(name);
    if (spec.columns_without_names > 4) request.columns.push_back(name + std::string(sigma_suffix));
  }
  ProblemList problems;
  Table table = read_table(file, request, problems);
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  static_cast<void>(places_to_metres(file, table, {}, problems, notes));
  PointFields result;
  for (const FieldInfo& field : field_infos) {
    const std::string name(field.name), sigma_name = name + std::string(sigma_suffix);
    std::vector<double> values = take_column(table, request, name, field.field, problems);
    std::vector<double> sigma = take_column(table, request, sigma_name, field.field, problems);
    if (values.empty() && !sigma.empty()) notes.push_back(fmt::format("{} without {} is left out", sigma_name, name));
    if (values.empty()) continue;
    result.fields.add(field.field);
    result.values.push_back(std::move(values));
    result.sigma.push_back(std::move(sigma));
  }
  std::vector<std::size_t> further;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (std::find(table.at.begin(), table.at.end(), static_cast<int>(c)) != table.at.end()) continue;
    further.push_back(c);
    if (const auto again = field_meant(name_and_unit(unquoted(table.names[c])).first)) {
      problems.add(file.path.string(), "",
                   fmt::format("two columns hold {}{}; take one out", info(again->field).name,
                               again->is_sigma ? sigma_suffix : ""));
    }
  }
  Points& points = result.points;
  points.easting = std::move(table.columns[0]);
  points.northing = std::move(table.columns[1]);
  points.upward = std::move(table.columns[2]);
  LimitedProblems limited(problems, file.path.string());
  const std::string doubt = refuse_dummies(
      points, [&](std::size_t i) { return line_of(file, table.lines[i]); }, limited);
  if (!doubt.empty()) notes.push_back(fmt::format("'{}': {}", file.path.string(), doubt));
  limited.finish();
  problems.throw_if_any();
  set_axes(result, axes_said(table), spec.axes, file);
  StationColumns own;
  own.names = std::move(table.names);
  own.text = std::move(table.text);
  result.columns = carried_columns(own, further);
  for (PointColumn& column : result.columns) column.is_of_stations = column.is_text || !is_variable_of_run(column.name);
  return result;
}

void find_grid(Points& points) {
  const std::size_t n = points.easting.size();
  std::size_t n_easting = 1;
  while (n_easting < n && points.northing[n_easting] == points.northing[0]) ++n_easting;
  if (n_easting < 2 || n_easting == n || n % n_easting != 0) return;
  const std::vector<double> easting(points.easting.begin(),
                                    points.easting.begin() + static_cast<std::ptrdiff_t>(n_easting));
  std::vector<double> northing;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % n_easting == 0) northing.push_back(points.northing[i]);
    if (points.easting[i] != easting[i % n_easting] || points.northing[i] != northing.back()) return;
  }
  if (!is_even(easting) || !is_even(northing)) return;
  points.grid_easting = easting;
  points.grid_northing = std::move(northing);
}

std::string units_of(const ArrayFile& arrays, const std::string& variable) {
  return arrays.text_attribute("/" + variable, "units").value_or("");
}

void PointArrays::lie_as(const std::string& variable) { m_is_grid = is_grid_shape(m_arrays.shape("/" + variable)); }

std::vector<double> PointArrays::values(const std::string& variable) {
  return m_is_grid ? on_grid(variable) : at_stations(variable);
}

std::vector<double> PointArrays::on_grid(const std::string& variable) {
  GridVariable grid = read_grid_variable(m_file, m_arrays, variable);
  if (m_grid.easting.empty()) {
    m_grid = grid;
    m_grid.values.clear();
    for (const std::string& name : {grid.easting_name, grid.northing_name}) check_length_unit(name);
  } else if (grid.easting != m_grid.easting || grid.northing != m_grid.northing) {
    throw m_file.error(fmt::format("has {} on a grid of its own; all fields need the same points", variable));
  }
  return std::move(grid.values);
}

std::vector<double> PointArrays::at_stations(const std::string& variable) {
  const std::vector<std::int64_t> shape = m_arrays.shape("/" + variable);
  if (m_n_stations < 0 && shape.size() == 1) m_n_stations = shape[0];
  if (shape != std::vector<std::int64_t>{m_n_stations}) {
    throw m_file.error(fmt::format("has {} of shape {}; {}", variable, shape_text(shape),
                                   m_n_stations < 0
                                       ? "(station) or (northing, easting) is needed"
                                       : fmt::format("{} have one number each", counted(m_n_stations, "station"))));
  }
  return m_arrays.read("/" + variable);
}

std::vector<double> PointArrays::field(Field field, const std::string& variable, const std::string& of_sigma) {
  const std::string own = of_sigma.empty() ? "" : units_of(m_arrays, of_sigma);
  std::vector<double> numbers = values(of_sigma.empty() ? variable : of_sigma);
  const std::string unit = own.empty() ? units_of(m_arrays, variable) : own;
  const std::optional<double> factor = unit_factor(field, unit);
  if (!factor) m_problems.add(m_file.path.string(), own.empty() ? variable : of_sigma, unit_error(field, unit));
  scale_decimals(numbers, factor.value_or(1));
  return numbers;
}

void PointArrays::check_length_unit(const std::string& variable) {
  const std::string unit = units_of(m_arrays, variable);
  if (is_length_unit(unit, m_length_to_si)) return;
  m_problems.add(m_file.path.string(), variable, other_length_unit(unit, m_length_to_si));
}

std::vector<double> PointArrays::in_metres(std::vector<double> numbers) const {
  if (m_length_to_si != 1) {
    for (double& number : numbers) number *= m_length_to_si;
  }
  return numbers;
}

std::vector<double> PointArrays::coordinates(const std::vector<std::string>& names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return m_arrays.has("/" + name); });
  if (found == names.end()) {
    throw m_file.error(fmt::format("has no {}; the places of measurements are needed", names.front()));
  }
  check_length_unit(*found);
  if (names == height_names && is_depth(m_arrays, *found)) {
    throw m_file.error(
        fmt::format("has {} that is a depth by its standard_name or is positive down; heights are needed: change the "
                    "sign and the attribute",
                    *found));
  }
  const std::vector<std::int64_t> shape = m_arrays.shape("/" + *found);
  const bool is_one = std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n == 1; });
  if (m_grid.easting.empty() || !is_one) return in_metres(values(*found));
  return in_metres(
      std::vector<double>(m_grid.easting.size() * m_grid.northing.size(), m_arrays.read("/" + *found).at(0)));
}

Points PointArrays::points() {
  Points points;
  if (!m_is_grid) {
    points.easting = coordinates(easting_names);
    points.northing = coordinates(northing_names);
  }
  points.upward = coordinates(height_names);
  if (!m_is_grid) return points;
  points = make_grid(in_metres(m_grid.easting), in_metres(m_grid.northing),
                     [&](const auto&, const auto&) { return std::move(points.upward); });
  points.rounding = {rounding_of_grid(points.grid_easting), rounding_of_grid(points.grid_northing), 0};
  return points;
}

bool PointArrays::has_shape(const std::vector<std::int64_t>& shape) const {
  if (!m_is_grid) return shape == std::vector<std::int64_t>{m_n_stations};
  const std::int64_t n_easting = std::ssize(m_grid.easting), n_northing = std::ssize(m_grid.northing);
  return shape == std::vector<std::int64_t>{n_northing, n_easting} ||
         shape == std::vector<std::int64_t>{n_easting, n_northing};
}

namespace {

/// Throws InputError where a coordinate is not finite or a dummy; notes what may be one.
Points finite_points(const InputFile& file, PointArrays& arrays, std::vector<std::string>& notes) {
  Points points = arrays.points();
  for (const auto* column : {&points.easting, &points.northing, &points.upward}) {
    const bool finite = std::all_of(column->begin(), column->end(), [](double x) { return std::isfinite(x); });
    if (!finite) throw file.error("has coordinates that are NaN or infinite");
  }
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  const std::string doubt = refuse_dummies(
      points, [&](std::size_t i) { return fmt::format("{}: point {}", file.path.string(), i); }, limited);
  if (!doubt.empty()) notes.push_back(fmt::format("'{}': {}", file.path.string(), doubt));
  limited.finish();
  problems.throw_if_any();
  return points;
}

/// What an HDF5 file has at its points beside coordinates, fields and their standard deviations; what it has elsewhere,
/// or cannot be read, is added to `unread`.
std::vector<std::string> further_names(const Hdf5File& content, const PointArrays& points, const FieldVariables& fields,
                                       std::vector<std::string>& unread) {
  std::vector<std::string> known{"easting", "northing", "upward"};
  for (const auto& [field, name] : fields.values) {
    known.push_back(name);
    if (const auto sigma = fields.sigma.find(field); sigma != fields.sigma.end()) known.push_back(sigma->second);
  }
  for (const std::string& dimension : content.dimension_names("upward")) known.push_back(dimension);
  std::vector<std::string> names, others;
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (const std::string& name : content.dataset_names("/", NameOrder::as_made)) {
    if (is_known(name)) continue;
    try {
      const std::vector<std::int64_t> shape = content.shape(name);
      if (points.has_shape(shape)) {
        names.push_back(name);
      } else if (!shape.empty()) {
        others.push_back(name);
      }
      for (const std::string& dimension : content.dimension_names(name)) {
        if (dimension != name) known.push_back(dimension);
      }
    } catch (const RunError&) {
      others.push_back(name);
    }
  }
  std::copy_if(others.begin(), others.end(), std::back_inserter(unread),
               [&](const std::string& name) { return !is_known(name); });
  return names;
}

/// The axes that a file or the first field that says so has.
std::optional<Axes> axes_stated(const ArrayFile& arrays, const FieldVariables& fields) {
  std::vector<std::string> places;
  if (arrays.hdf5() != nullptr) places.emplace_back("/");
  for (const auto& [field, name] : fields.values) places.push_back("/" + name);
  for (const std::string& place : places) {
    const std::optional<std::string> word = arrays.text_attribute(place, "axes");
    if (const auto said = word ? axes_named(*word) : std::nullopt) return said;
  }
  return std::nullopt;
}

}  // namespace

PointFields read_point_arrays(const InputFile& file, std::optional<Axes> axes, std::vector<std::string>& unread) {
  const ArrayFile arrays(file);
  const FieldVariables variables(arrays.dataset_names("/"));
  ProblemList problems;
  PointArrays at_points(file, arrays, 1, problems);
  at_points.lie_as(variables.values.empty() ? "upward" : variables.values.begin()->second);
  PointFields result;
  for (const auto& [field, name] : variables.values) {
    const auto sigma = variables.sigma.find(field);
    result.fields.add(field);
    result.values.push_back(at_points.field(field, name));
    result.sigma.push_back(sigma == variables.sigma.end() ? std::vector<double>()
                                                          : at_points.field(field, name, sigma->second));
  }
  if (!arrays.doubt().empty()) result.notes.push_back(fmt::format("'{}': {}", file.path.string(), arrays.doubt()));
  result.points = finite_points(file, at_points, result.notes);
  problems.throw_if_any();
  set_axes(result, axes_stated(arrays, variables), axes, file);
  if (arrays.hdf5() == nullptr) return result;
  for (const std::string& name : further_names(*arrays.hdf5(), at_points, variables, unread)) {
    auto column = read_point_column(*arrays.hdf5(), name);
    // a grid of texts, or of numbers without coordinates
    try {
      if (column && !column->is_text) column->numbers = at_points.values(name);
    } catch (const InputError&) {
      column.reset();
    }
    if (column) {
      result.columns.push_back(std::move(*column));
    } else {
      unread.push_back(name);
    }
  }
  return result;
}

Points read_array_points(const InputFile& file, std::vector<std::string>* notes) {
  const ArrayFile arrays(file);
  for (const char* name : direction_names) {
    if (arrays.has(name)) continue;
    throw file.error("is HDF5 or netCDF, but holds no points (easting, northing, upward), as a result has them");
  }
  ProblemList problems;
  PointArrays points(file, arrays, 1, problems);
  points.lie_as("upward");
  if (arrays.shape("upward").size() > 1) static_cast<void>(points.values("upward"));
  std::vector<std::string> doubts;
  Points found = finite_points(file, points, notes == nullptr ? doubts : *notes);
  problems.throw_if_any();
  return found;
}

}  // namespace prismfield
