// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/station_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "io/point_columns.hpp"

namespace prismfield {
namespace {

/// A column of the station file that the result carries.
struct CarriedColumn : PointColumn {
  std::size_t number = 0;
};

}  // namespace

std::vector<std::string> write_station_variables(Hdf5File& out, const PointLayout& layout,
                                                 const StationSource& stations, const Points& points) {
  std::vector<CarriedColumn> columns;
  const auto take_columns = [&](const StationColumns& own) {
    for (std::size_t c = 0; c < own.names.size(); ++c) {
      const bool is_place = std::find(own.at.begin(), own.at.end(), static_cast<int>(c)) != own.at.end();
      if (!is_place) columns.push_back({named_column(own.names[c]), c});
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
            column.texts.push_back(carried_text(field));
          } else {
            static_cast<void>(parse_carried(field, value));
            column.numbers.push_back(value);
          }
        }
      });
  if (!is_still) return changed;
  for (const CarriedColumn& column : columns) write_point_column(out, layout, column);
  return {};
}

}  // namespace prismfield
