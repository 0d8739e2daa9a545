// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/point_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include <prismfield/fields.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/cf_attributes.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

constexpr const char* depth = "depth";

/// What is wrong with the unit of a column; "" when nothing is. `key`: that of the case's length unit, "" without one.
std::string unit_mistake(const std::string& unit, const PlaceUnits& units, const std::string& key) {
  if (is_angle(unit)) {
    return fmt::format("is in {}; {}", excerpt(unit), place_columns().why_refused);
  }
  const std::optional<double> factor = metres_in(unit);
  if (!factor && !units.length_to_si) {
    return fmt::format("is in {}, no unit of length that is known; the numbers need m, km or ft: write which there{}",
                       excerpt(unit), key.empty() ? "" : fmt::format(", or state {}", key));
  }
  if (!factor || !units.length_to_si || *units.length_to_si == *factor) return {};
  return fmt::format("is in {}, which {} denies; take one of the two out", excerpt(unit),
                     key.empty() ? "the length unit asked for" : key);
}

}  // namespace

const char* length_unit(double length_to_si) { return length_to_si == 1000 ? "km" : length_to_si == foot ? "ft" : "m"; }

bool is_length_unit(const std::string& unit, double length_to_si) {
  return unit.empty() || metres_in(unit) == metres_in(length_unit(length_to_si));
}

std::string other_length_unit(const std::string& unit, double length_to_si) {
  return fmt::format("is in {}; {} is allowed here", excerpt(unit), length_unit(length_to_si));
}

TableRequest place_columns() {
  TableRequest request;
  request.needed = {"easting", "northing", "upward"};
  const auto add = [&](const char* meaning, std::string_view spellings, Spelling strength = Spelling::other) {
    for (std::string& spelling : words_of(spellings))
      request.aliases.push_back({std::move(spelling), meaning, strength});
  };
  // in UTF-8, in Latin-1, and in Chinese, too
  add("easting",
      "east eastings utmx utme utmeast utmeasting xutm eastutm eastingutm xcoord xcoordinate coordx "
      "projectionxcoordinate "
      "este leste est rechtswert ostwert \xe4\xb8\x9c\xe5\x9d\x90\xe6\xa0\x87");
  add("northing",
      "north northings utmy utmn utmnorth utmnorthing yutm northutm northingutm ycoord ycoordinate coordy "
      "projectionycoordinate norte nord hochwert nordwert \xe5\x8c\x97\xe5\x9d\x90\xe6\xa0\x87");
  add("upward",
      "elevation elev height altitude alt hgt up utmz zcoord zcoordinate coordz cota quota altitud altura hoehe "
      "h\xc3\xb6"
      "he h\xf6"
      "he \xe9\xab\x98\xe7\xa8\x8b \xe6\xb5\xb7\xe6\x8b\x94");
  add("easting", "x e", Spelling::weak);
  add("northing", "y n", Spelling::weak);
  add("upward", "z depth", Spelling::weak);
  // of a flight, the ground below it; surveyors' reduced levels
  add("upward", "dem rl h ht gpsalt gpsheight gpsz", Spelling::weakest);
  request.of_places = true;
  request.refused = {"longitude", "lon", "long", "latitude", "lat", "lng"};
  request.why_refused =
      "longitude and latitude are angles, places are needed in metres: project them first, with GMT's mapproject or "
      "PROJ's cs2cs, or name columns that hold easting and northing";
  return request;
}

std::string place_named(std::string_view name) {
  static const TableRequest places = place_columns();
  const PlaceHeading heading = place_heading(name);
  for (const std::string& known : {heading.plain, heading.without_unit, heading.bare}) {
    if (std::find(places.needed.begin(), places.needed.end(), known) != places.needed.end()) return known;
    for (const ColumnAlias& alias : places.aliases) {
      if (alias.spelling == known) return alias.name;
    }
  }
  return {};
}

bool are_angles(const std::string& name, const std::string& unit) {
  return is_angle(unit) || (unit.empty() && has_refused({name}, place_columns()));
}

void refuse_commented_unit(const TableColumns& columns, std::size_t n, const std::string& key, ProblemList& problems) {
  const auto end = columns.units.begin() + static_cast<std::ptrdiff_t>(std::min(n, columns.units.size()));
  const bool is_stated =
      std::any_of(columns.units.begin(), end, [](const std::string& unit) { return metres_in(unit).has_value(); });
  if (columns.commented_unit.empty() || is_stated) return;
  problems.add(
      columns.commented_where, "",
      fmt::format("the comment has the unit {}, the columns have none; name them with it, as in easting [{}]{}",
                  columns.commented_unit, columns.commented_unit,
                  key.empty() ? "" : fmt::format(", or state {}", key)));
}

void refuse_commented_unit(const InputFile& file, const std::string& key) {
  const std::string unit = unit_in_comment(fmt::format("{}", fmt::join(start_of_text(file, 1).comment, " ")));
  if (!unit.empty()) throw file.error(fmt::format("has the unit {} in a comment alone; state {}", unit, key));
}

std::vector<double> place_factors(const InputFile& file, const TableColumns& columns, const PlaceUnits& units,
                                  ProblemList& problems, std::vector<std::string>& notes) {
  std::vector<double> factors;
  const std::vector<std::string> names = place_columns().needed;
  const std::size_t n = std::min(names.size(), columns.at.size());
  const std::string unit_key = units.has_length_key ? file.key_beside("length_unit") : "";
  if (!units.length_to_si) refuse_commented_unit(columns, n, unit_key, problems);
  const auto add = [&](std::size_t w, const std::string& what, const std::string& where) {
    problems.add(where, columns.named_key, fmt::format("column {} {}", names[w], what));
  };
  for (std::size_t w = 0; w < n; ++w) {
    const std::string& unit = columns.units[w];
    factors.push_back(units.length_to_si.value_or(1));
    // (zone 19S), (Este)
    const bool is_name = words_of(unit).size() == 1 && !place_named(unit).empty();
    if (unit.empty() || !looks_like_unit(unit) || is_name) continue;
    if (const std::string error = unit_mistake(unit, units, unit_key); !error.empty()) {
      add(w, error, columns.units_where);
    } else {
      factors.back() = metres_in(unit).value_or(factors.back());
    }
  }
  if (n < names.size() || columns.at[2] < 0) return factors;
  const std::string& name = columns.names[static_cast<std::size_t>(columns.at[2])];
  const std::string plain = plain_name(name);
  const bool is_depth = plain.starts_with(depth);
  // the case's own word says which column it is, not where it points
  const bool is_neutral = !columns.are_named_by_file || plain.find('z') != std::string::npos;
  const std::string key = file.key_beside("axis_z");
  if (units.z_down && is_depth && !*units.z_down) {
    add(2,
        fmt::format("is {}, which grows downwards, but {} is up; take the key out or rename the column", excerpt(name),
                    key),
        columns.named_where);
  } else if (units.z_down && *units.z_down && !is_depth && !is_neutral) {
    add(2,
        fmt::format("is {}, which grows upwards, but {} is down; take the key out or name the column by {}",
                    excerpt(name), key, file.key_beside("columns")),
        columns.named_where);
  }
  if (is_depth && !units.z_down) {
    notes.push_back(fmt::format("'{}': {} is taken as the depth below height 0: upward is minus depth",
                                file.path.string(), excerpt(name)));
  }
  if (units.z_down.value_or(is_depth)) factors[2] = -factors[2];
  return factors;
}

std::vector<double> places_to_metres(const InputFile& file, Table& table, const PlaceUnits& units,
                                     ProblemList& problems, std::vector<std::string>& notes) {
  std::vector<double> factors = place_factors(file, table, units, problems, notes);
  for (std::size_t w = 0; w < factors.size(); ++w) {
    if (factors[w] == 1) continue;
    for (double& value : table.columns[w]) value = decimal_product(value, factors[w]);
  }
  return factors;
}

namespace {

constexpr std::string_view of_stations = " of the station file";
constexpr std::string_view of_axes = "# axes ";

/// Whether digits are a label that a number would not keep: 0017, or more of them than a double holds.
bool is_label(std::string_view text) {
  constexpr std::size_t most_digits = 15;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool begins_with_0 = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  return std::all_of(text.begin(), text.end(), is_digit) && (begins_with_0 || text.size() > most_digits);
}

/// A field as a text: without the quotes around it, and with one for every two of them inside.
std::string text_of(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text(field.substr(1, field.size() - 2));
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return text;
}

/// A name that netCDF takes: letters, digits and `_`, no digit first.
std::string netcdf_name(std::string clean) {
  for (char& c : clean) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 || static_cast<unsigned char>(c) > 127) c = '_';
  }
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean.front())) != 0) clean.insert(0, 1, '_');
  return clean.substr(0, longest_name);
}

/// The column's name, with an ending where the result has one already.
std::string free_name(const Hdf5File& out, const PointColumn& column) {
  const std::string name = netcdf_name(column.name);
  // a root's variable and its group cannot have one name, and what a run may write is not for others
  const bool is_ours =
      name == "case" || name == "performance" || name == crs_variable || (is_field_name(name) && column.is_of_stations);
  if (!is_ours && !out.has(name)) return name;
  std::string found = name + "_file";
  for (int i = 2; out.has(found); ++i) found = fmt::format("{}_file_{}", name, i);
  return found;
}

}  // namespace

std::string refuse_dummies(const Points& points, const std::function<std::string(std::size_t)>& where,
                           LimitedProblems& limited) {
  const std::array<const std::vector<double>*, 3> columns{&points.easting, &points.northing, &points.upward};
  const DummyPlaces places = find_dummy_places(columns);
  for (std::size_t d = 0; d < columns.size(); ++d) {
    const std::vector<bool>& dummies = places.found[d];
    for (std::size_t i = 0; i < dummies.size(); ++i) {
      if (!dummies[i]) continue;
      limited.add("dummies where a place belongs", [&] {
        return Problem{where(i), direction_names[d],
                       dummy_text((*columns[d])[i]) + "; leave the point out of the file"};
      });
    }
  }
  return places.doubt;
}

std::string some_of(const InputFile& file, std::int64_t some, std::size_t all, const char* noun) {
  return fmt::format("'{}': {} of {}", file.path.string(), grouped(some),
                     counted(static_cast<std::int64_t>(all), noun));
}

std::string drop_dummies(const InputFile& file, std::vector<double>& values, const char* noun,
                         const std::string& quantity, bool keeps_infinities) {
  const std::vector<bool> are_dummies = find_dummies(values);
  constexpr std::size_t most_shown = 4;
  std::set<double> numbers;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < are_dummies.size(); ++i) {
    if (!are_dummies[i] || std::isnan(values[i]) || (keeps_infinities && std::isinf(values[i]))) continue;
    if (numbers.size() < most_shown) numbers.insert(values[i]);
    values[i] = std::numeric_limits<double>::quiet_NaN();
    ++count;
  }
  if (count == 0) {
    const std::string rare = possible_dummy(values);
    return rare.empty() ? "" : fmt::format("'{}': {}: {}; it is taken as it is", file.path.string(), quantity, rare);
  }
  return fmt::format("{} without {}: {} {} for none", some_of(file, count, values.size(), noun), quantity,
                     fmt::join(numbers, ", "), numbers.size() == 1 ? "stands" : "stand");
}

std::string axes_comment(Axes axes) { return std::string(of_axes) + std::string(name(axes)); }

std::optional<Axes> axes_said(const Table& table) {
  for (const std::string_view comment : table.comments) {
    if (!comment.starts_with(of_axes)) continue;
    const std::string_view word = comment.substr(of_axes.size());
    if (const auto said = axes_named(word.substr(0, word.find_first_of(", \t")))) return said;
  }
  return std::nullopt;
}

bool is_field_name(std::string_view column) {
  return plain_name(column) == "singular" || field_meant(name_and_unit(unquoted(column)).first);
}

bool parse_carried(std::string_view text, double& value) {
  text = unquoted(text);
  value = std::numeric_limits<double>::quiet_NaN();
  return is_dummy(text) || (!is_label(text) && parse_number(text, value) == NumberStatus::ok);
}

bool turns_with_gz(std::string_view variable) { return variable == "bouguer_slab" || variable == "terrain_correction"; }

bool is_variable_of_run(std::string_view name) {
  return name == "singular" || name == "terrain_height" || turns_with_gz(name);
}

std::vector<PointColumn> carried_columns(const StationColumns& own, const std::vector<std::size_t>& numbers) {
  std::vector<PointColumn> columns(numbers.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto [name, unit] = name_and_unit(unquoted(own.names[numbers[c]]));
    columns[c].name = shown(name, longest_name);
    columns[c].unit = shown(unit, longest_name);
  }
  own.text.each([&](std::size_t, const std::vector<std::string_view>& fields) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      PointColumn& column = columns[c];
      double value = 0;
      if (column.is_text) continue;
      column.is_text = !parse_carried(fields[numbers[c]], value);
      column.numbers.push_back(value);
      if (column.is_text) column.numbers = {};
    }
  });
  own.text.each([&](std::size_t, const std::vector<std::string_view>& fields) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].is_text) columns[c].texts.push_back(shown(text_of(fields[numbers[c]])));
    }
  });
  return columns;
}

std::optional<PointColumn> read_point_column(const Hdf5File& file, const std::string& name) {
  PointColumn column;
  column.name = shown(name, longest_name);
  try {
    column.is_text = file.is_text(name);
    if (column.is_text) {
      column.texts = file.read_texts(name);
      for (std::string& text : column.texts) text = shown(text);
    } else {
      column.numbers = file.read(name);
    }
    column.unit = shown(unit_of_udunits(file.text_attribute(name, "units").value_or("")), longest_name);
    column.long_name = shown(file.text_attribute(name, "long_name").value_or(""));
  } catch (const RunError&) {
    return std::nullopt;
  }
  const bool says_so = column.long_name.ends_with(of_stations);
  column.is_of_stations = column.is_text || says_so || !is_variable_of_run(name);
  if (says_so) {
    // as the station file called it, unless the name was another's
    std::string original = column.long_name.substr(0, column.long_name.size() - of_stations.size());
    if (netcdf_name(original) == name) column.name = std::move(original);
  }
  return column;
}

void write_point_column(Hdf5File& out, const PointLayout& layout, const PointColumn& column) {
  const std::string name = free_name(out, column);
  if (column.is_text) {
    out.write_texts(name, column.texts);
  } else {
    out.write(name, layout.shape, column.numbers.data());
  }
  out.attach_dimensions(name, layout.dimensions);
  const std::string otherwise = column.is_of_stations ? column.name + std::string(of_stations) : column.name;
  out.write_attribute(name, "long_name", column.long_name.empty() ? otherwise : column.long_name);
  if (!column.unit.empty()) out.write_attribute(name, "units", udunits_of(column.unit));
  out.write_attribute(name, "coordinates", layout.auxiliary);
  refer_to_crs(out, name);
}

}  // namespace prismfield
