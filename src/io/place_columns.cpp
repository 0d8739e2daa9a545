// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/place_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/grid_variable.hpp"

namespace prismfield {
namespace {

constexpr const char* depth = "depth";

/// What is wrong with the unit of a column; "" when nothing is.
std::string unit_mistake(const std::string& unit, const PlaceUnits& units, const std::string& key) {
  const std::optional<double> factor = metres_in(unit);
  if (!factor) return fmt::format("is in {}; lengths in m, km or ft are read", excerpt(unit));
  if (!units.length_to_si || *units.length_to_si == *factor) return {};
  return fmt::format("is in {}, which {} denies; take one of the two out", excerpt(unit),
                     key.empty() ? "the length unit asked for" : key);
}

}  // namespace

TableRequest place_columns() {
  TableRequest request;
  request.needed = {"easting", "northing", "upward"};
  const auto add = [&](const char* meaning, std::initializer_list<const char*> spellings) {
    for (const char* const spelling : spellings) request.aliases.emplace_back(spelling, meaning);
  };
  add("easting",
      {"east", "eastings", "utmx", "utme", "utmeast", "utmeasting", "xutm", "eastutm", "eastingutm", "xcoord",
       "xcoordinate", "coordx", "projectionxcoordinate", "este", "leste", "rechtswert", "ostwert"});
  add("northing", {"north", "northings", "utmy", "utmn", "utmnorth", "utmnorthing", "yutm", "northutm", "northingutm",
                   "ycoord", "ycoordinate", "coordy", "projectionycoordinate", "norte", "hochwert", "nordwert"});
  add("upward",
      // a name in UTF-8 and in Latin-1, last
      {"elevation", "elev", "height", "altitude", "alt", "hgt", "up", "utmz", "zcoord", "zcoordinate", "coordz", "cota",
       "quota", "altitud", "hoehe", "h\xc3\xb6he", "h\xf6he"});
  add("easting", {"x", "e"});
  add("northing", {"y", "n"});
  add("upward", {"z", depth, "dem"});
  request.weak = {"x", "e", "y", "n", "z", depth};
  // of a flight, the ground below it
  request.weakest = {"dem"};
  request.with_units = true;
  request.loose_names = true;
  request.has_groups = true;
  request.refused = {"longitude", "lon", "long", "latitude", "lat", "lng"};
  request.why_refused =
      "longitude and latitude are angles, places are needed in metres: project them first, with GMT's mapproject or "
      "PROJ's cs2cs, or name columns that hold easting and northing";
  return request;
}

std::string place_named(std::string_view name) {
  static const TableRequest places = place_columns();
  std::string plain = plain_name(name);
  for (const std::string ending : {"", "m", "km", "ft"}) {
    if (!plain.ends_with(ending)) continue;
    const std::string bare = plain.substr(0, plain.size() - ending.size());
    if (std::find(places.needed.begin(), places.needed.end(), bare) != places.needed.end()) return bare;
    for (const auto& [spelling, meaning] : places.aliases) {
      if (spelling == bare && (ending.empty() || bare.size() > 1)) return meaning;
    }
  }
  return {};
}

std::vector<double> place_factors(const InputFile& file, const TableColumns& columns, const PlaceUnits& units,
                                  ProblemList& problems, std::vector<std::string>& notes) {
  std::vector<double> factors;
  const std::vector<std::string> names = place_columns().needed;
  const std::size_t n = std::min(names.size(), columns.at.size());
  const auto add = [&](std::size_t w, const std::string& what) {
    problems.add(columns.named_where, columns.named_key, fmt::format("column {} {}", names[w], what));
  };
  for (std::size_t w = 0; w < n; ++w) {
    const std::string& unit = columns.units[w];
    factors.push_back(units.length_to_si.value_or(1));
    if (unit.empty()) continue;
    if (const std::string error = unit_mistake(unit, units, file.key_beside("length_unit")); !error.empty()) {
      add(w, error);
    } else {
      factors.back() = *metres_in(unit);
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
    add(2, fmt::format("is {}, which grows downwards, but {} is up; take the key out or rename the column",
                       excerpt(name), key));
  } else if (units.z_down && *units.z_down && !is_depth && !is_neutral) {
    add(2, fmt::format("is {}, which grows upwards, but {} is down; take the key out or name the column by {}",
                       excerpt(name), key, file.key_beside("columns")));
  }
  if (is_depth && !units.z_down) {
    notes.push_back(fmt::format("'{}': {} is taken as the depth below height 0: upward is minus depth",
                                file.path.string(), excerpt(name)));
  }
  if (units.z_down.value_or(is_depth)) factors[2] = -factors[2];
  return factors;
}

void places_to_metres(const InputFile& file, Table& table, const PlaceUnits& units, ProblemList& problems,
                      std::vector<std::string>& notes) {
  const std::vector<double> factors = place_factors(file, table, units, problems, notes);
  for (std::size_t w = 0; w < factors.size(); ++w) {
    if (factors[w] == 1) continue;
    for (double& value : table.columns[w]) value = decimal_product(value, factors[w]);
  }
}

}  // namespace prismfield
