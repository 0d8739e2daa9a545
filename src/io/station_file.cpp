// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/station_file.hpp"

#include <utility>

namespace prismfield {

TableRequest station_columns() {
  TableRequest request;
  request.needed = {"easting", "northing", "upward"};
  request.aliases = {{"elevation", "upward"}, {"height", "upward"}};
  return request;
}

Points read_stations(const InputFile& file) {
  if (is_array_file(file))
    throw file.error("is HDF5 or netCDF; stations are read from text, columns easting, northing, upward");
  ProblemList problems;
  Table table = read_table(file, station_columns(), problems);
  problems.throw_if_any();
  Points points;
  points.easting = std::move(table.columns[0]);
  points.northing = std::move(table.columns[1]);
  points.upward = std::move(table.columns[2]);
  return points;
}

}  // namespace prismfield
