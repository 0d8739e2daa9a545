// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_points.hpp"

#include <filesystem>
#include <variant>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "case/places.hpp"
#include "io/height_file.hpp"
#include "io/station_file.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {
namespace {

Points grid(const Case& run, const GridSpec& spec) {
  if (const auto* height = std::get_if<double>(&spec.upward)) return make_grid(spec.easting, spec.northing, *height);
  const InputFile file = input_file(run, std::get<std::filesystem::path>(spec.upward), "observations.grid.upward.file");
  return make_grid(spec.easting, spec.northing,
                   [&](const std::vector<double>& easting, const std::vector<double>& northing) {
                     return read_heights(file, easting, northing);
                   });
}

}  // namespace

Points make_points(const Case& run, const Bounds& bounds, std::vector<std::string>& notes) {
  const auto make = [&] {
    if (const auto* spec = std::get_if<GridSpec>(&run.observations)) return grid(run, *spec);
    if (const auto* spec = std::get_if<StationsFile>(&run.observations)) {
      return read_stations(input_file(run, spec->file, "observations.stations.file"), *spec, notes);
    }
    if (const auto* spec = std::get_if<StationsRandom>(&run.observations)) return make_random_stations(*spec, bounds);
    throw InputError("", "observations", "is missing; grid or stations is needed");
  };
  return at_places_of(run, [&] {
    Points points = make();
    check_points(points,
                 std::holds_alternative<GridSpec>(run.observations) ? "observations.grid" : "observations.stations");
    return points;
  });
}

Points make_points(const Case& run, const Bounds& bounds, const Communicator& communicator,
                   std::vector<std::string>& notes) {
  const auto* spec = std::get_if<GridSpec>(&run.observations);
  const bool read_by_root = std::holds_alternative<StationsFile>(run.observations) ||
                            (spec != nullptr && std::holds_alternative<std::filesystem::path>(spec->upward));
  Points points;
  agree_on_input(communicator, [&] {
    if (!read_by_root || communicator.rank() == 0) points = make_points(run, bounds, notes);
  });
  if (!read_by_root) return points;
  for (std::vector<double>* column :
       {&points.easting, &points.northing, &points.upward, &points.grid_easting, &points.grid_northing}) {
    broadcast(communicator, *column);
  }
  broadcast(communicator, points.rounding);
  return points;
}

}  // namespace prismfield
