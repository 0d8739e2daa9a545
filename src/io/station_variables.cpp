// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/station_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <prismfield/fields.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/cf_attributes.hpp"
#include "io/crs.hpp"
#include "io/text_table.hpp"

namespace prismfield {
namespace {

/// A column of the station file that the result carries.
struct CarriedColumn {
  std::size_t number = 0;
  std::string name;
  bool is_text = false;
  std::vector<double> numbers;
  std::vector<std::string> texts;
};

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// A name that netCDF takes: letters, digits and `_`, no digit first.
std::string netcdf_name(const std::string& name) {
  std::string clean = name_and_unit(unquoted(name)).first;
  for (char& c : clean) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 || static_cast<unsigned char>(c) > 127) c = '_';
  }
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean.front())) != 0) clean.insert(0, 1, '_');
  return clean.substr(0, longest_name);
}

/// The name with an ending where the result has one already.
std::string free_name(const Hdf5File& out, const std::string& name) {
  // a root's variable and its group cannot have one name, and what a run may write is not for others
  const bool is_ours = name == "case" || name == "performance" || is_field_name(name);
  if (!is_ours && !out.has(name)) return name;
  std::string found = name + "_file";
  for (int i = 2; out.has(found); ++i) found = fmt::format("{}_file_{}", name, i);
  return found;
}

void write_column(Hdf5File& out, const PointLayout& layout, const CarriedColumn& column) {
  const std::string name = free_name(out, netcdf_name(column.name));
  if (column.is_text) {
    out.write_texts(name, column.texts);
  } else {
    out.write(name, layout.shape, column.numbers.data());
  }
  out.attach_dimensions(name, layout.dimensions);
  const auto [bare, unit] = name_and_unit(unquoted(column.name));
  out.write_attribute(name, "long_name", fmt::format("{} of the station file", shown(bare, longest_name)));
  if (!unit.empty()) out.write_attribute(name, "units", shown(udunits_of(unit), longest_name));
  out.write_attribute(name, "coordinates", layout.auxiliary);
  refer_to_crs(out, name);
}

}  // namespace

bool is_field_name(std::string_view column) {
  std::string name = plain_name(column);
  constexpr std::string_view sigma = "sigma";
  if (name.ends_with(sigma)) name.resize(name.size() - sigma.size());
  return name == "singular" ||
         std::any_of(field_infos.begin(), field_infos.end(), [&](const FieldInfo& f) { return f.name == name; });
}

bool parse_carried(std::string_view text, double& value) {
  text = unquoted(text);
  value = std::numeric_limits<double>::quiet_NaN();
  return is_dummy(text) || parse_number(text, value) == NumberStatus::ok;
}

std::vector<std::string> write_station_variables(Hdf5File& out, const PointLayout& layout,
                                                 const StationSource& stations, const Points& points) {
  std::vector<CarriedColumn> columns;
  const auto take_columns = [&](const StationColumns& own) {
    for (std::size_t c = 0; c < own.names.size(); ++c) {
      const bool is_place = std::find(own.at.begin(), own.at.end(), static_cast<int>(c)) != own.at.end();
      if (!is_place) columns.push_back({c, own.names[c], false, {}, {}});
    }
  };
  const std::vector<std::string> changed{
      fmt::format("{} is no longer what it was when the run began: its own columns are not in the result",
                  stations.file.path.string())};
  double value = 0;
  const bool is_same = each_station_again(stations, points, take_columns, [&](std::int64_t, const StationRow& row) {
    for (CarriedColumn& column : columns) {
      column.is_text = column.is_text || !parse_carried(row.fields[column.number], value);
    }
  });
  if (!is_same) return changed;
  if (columns.empty()) return {};
  const bool is_still = each_station_again(
      stations, points, [](const StationColumns&) {},
      [&](std::int64_t, const StationRow& row) {
        for (CarriedColumn& column : columns) {
          const std::string_view field = column.number < row.fields.size() ? row.fields[column.number] : "";
          if (column.is_text) {
            column.texts.push_back(shown(unquoted(field)));
          } else {
            static_cast<void>(parse_carried(field, value));
            column.numbers.push_back(value);
          }
        }
      });
  if (!is_still) return changed;
  for (const CarriedColumn& column : columns) write_column(out, layout, column);
  return {};
}

}  // namespace prismfield
