// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/point_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/crs.hpp"
#include "io/terrain_variables.hpp"
#include "io/text_table.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

constexpr std::string_view of_stations = " of the station file";
constexpr std::string_view of_axes = "# axes ";

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// Whether digits are a label that a number would not keep: 0017, or more of them than a double holds.
bool is_label(std::string_view text) {
  constexpr std::size_t most_digits = 15;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool begins_with_0 = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  return std::all_of(text.begin(), text.end(), is_digit) && (begins_with_0 || text.size() > most_digits);
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

std::string axes_comment(Axes axes) { return std::string(of_axes) + std::string(name(axes)); }

std::optional<Axes> axes_in_comment(std::string_view comment) {
  if (!comment.starts_with(of_axes)) return std::nullopt;
  comment.remove_prefix(of_axes.size());
  return axes_named(comment.substr(0, comment.find_first_of(", \t")));
}

bool is_field_name(std::string_view column) {
  std::string name = plain_name(column);
  constexpr std::string_view sigma = "sigma";
  if (name.ends_with(sigma)) name.resize(name.size() - sigma.size());
  return name == "singular" || field_named(name);
}

std::string carried_text(std::string_view text) { return shown(unquoted(text)); }

bool parse_carried(std::string_view text, double& value) {
  text = unquoted(text);
  value = std::numeric_limits<double>::quiet_NaN();
  return is_dummy(text) || (!is_label(text) && parse_number(text, value) == NumberStatus::ok);
}

bool is_variable_of_run(std::string_view name) { return name == "singular" || is_terrain_variable(name); }

PointColumn named_column(std::string_view text) {
  auto [name, unit] = name_and_unit(unquoted(text));
  PointColumn column;
  column.name = shown(name, longest_name);
  column.unit = shown(unit, longest_name);
  return column;
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
    if (file.has_attribute(name, "units")) {
      column.unit = shown(unit_of_udunits(file.read_text_attribute(name, "units")), longest_name);
    }
    if (file.has_attribute(name, "long_name")) column.long_name = shown(file.read_text_attribute(name, "long_name"));
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
