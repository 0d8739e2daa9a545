// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/station_file.hpp"

#include <utility>

namespace prismfield {

TableRequest station_columns(bool with_heights) {
  TableRequest request;
  request.needed = {"easting", "northing"};
  if (!with_heights) return request;
  request.needed.emplace_back("upward");
  request.aliases = {{"elevation", "upward"}, {"height", "upward"}};
  return request;
}

Points read_stations(const InputFile& file, bool with_heights) {
  if (is_array_file(file))
    throw file.error("is HDF5 or netCDF; stations are read from text, columns easting, northing, upward");
  ProblemList problems;
  Table table = read_table(file, station_columns(with_heights), problems);
  problems.throw_if_any();
  Points points;
  points.easting = std::move(table.columns[0]);
  points.northing = std::move(table.columns[1]);
  if (with_heights) points.upward = std::move(table.columns[2]);
  return points;
}

}  // namespace prismfield
