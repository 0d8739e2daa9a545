// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_points.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "model/points.hpp"
#include "model/terrain.hpp"
#include "parallel/agreement.hpp"
#include "readers/station_file.hpp"
#include "readers/surface_file.hpp"

namespace prismfield {
namespace {

constexpr const char* above_terrain_key = ".upward.above_terrain";

/// Reads a DEM; what users should know of it is added to `notes`.
NodeGrid read_nodes(const Case& run, const DemFile& spec, const std::string& key, std::vector<std::string>& notes) {
  Dem dem = read_dem(input_file(run, spec.file, key), spec.variable);
  notes.insert(notes.end(), dem.notes.begin(), dem.notes.end());
  return std::move(dem.grid);
}

/// A surface that points are above: read for them, the model's, or that of the points' own file.
struct GroundBelow {
  std::optional<NodeGrid> read;
  const NodeGrid* of_others = nullptr;
  /// metres: the sea level that heights count from where the surface is lower, if there is any
  double least = -std::numeric_limits<double>::infinity();
};

/// `section`: the key with observations of this kind. `terrain`: the model's, `nodes`: those of the points' own file;
/// both may be null.
GroundBelow surface_of(const Case& run, const AboveTerrain& above, const Terrain* terrain, const NodeGrid* nodes,
                       const std::string& section, std::vector<std::string>& notes) {
  GroundBelow surface;
  if (above.dem) {
    surface.read = read_nodes(run, *above.dem, section + ".upward.file", notes);
  } else if (terrain != nullptr) {
    surface.of_others = &terrain->content().heights;
    const TerrainMasses& masses = terrain->content().masses;
    if (masses.water_density) surface.least = masses.sea_level;
  } else if (nodes != nullptr) {
    surface.of_others = nodes;
  } else {
    throw InputError("", section + above_terrain_key,
                     "is above which surface? Name its file beside it, {above_terrain: 80, file: dem.nc}, or have a "
                     "model.terrain");
  }
  if (above.sea_level) surface.least = *above.sea_level;
  return surface;
}

/// Heights above a surface at n places, (easting, northing) by `place`; those outside it are one error, those in its
/// gaps another, by `key`.
template <class Place>
std::vector<double> heights_above(const GroundBelow& surface, double height, const std::string& key, std::size_t n,
                                  const Place& place) {
  const NodeGrid& s = surface.read ? *surface.read : *surface.of_others;
  std::vector<double> heights;
  heights.reserve(n);
  // how many, and the first: outside, in gaps
  std::array<std::int64_t, 2> counts{};
  std::array<std::string, 2> firsts;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [easting, northing] = place(i);
    const double ground = value_at(s, easting, northing);
    heights.push_back((ground < surface.least ? surface.least : ground) + height);
    if (!std::isnan(ground)) continue;
    const std::size_t kind = covers(s, easting, northing) ? 1 : 0;
    if (counts[kind]++ > 0) continue;
    firsts[kind] = fmt::format("point {} at ({}, {})", i, place_text(easting), place_text(northing));
  }
  const auto told = [&](std::size_t kind) {
    return fmt::format("{} of {} points, the first {}", grouped(counts[kind]), grouped(static_cast<std::int64_t>(n)),
                       firsts[kind]);
  };
  ProblemList problems;
  if (counts[0] > 0) {
    problems.add("", key,
                 fmt::format("the terrain, nodes at easting {} to {}, northing {} to {}, does not reach {}; a larger "
                             "DEM or points within it are needed",
                             place_text(s.easting.front()), place_text(s.easting.back()),
                             place_text(s.northing.front()), place_text(s.northing.back()), told(0)));
  }
  if (counts[1] > 0) {
    problems.add("", key,
                 fmt::format("the terrain has gaps, nodes without a height, at {}; fill them, e.g. with "
                             "gdal_fillnodata.py, leave such points out, or give upward a number",
                             told(1)));
  }
  problems.throw_if_any();
  return heights;
}

/// The same of the nodes of a grid.
GridHeights grid_above(const GroundBelow& surface, double height, const std::string& key) {
  return [&surface, height, key](const std::vector<double>& easting, const std::vector<double>& northing) {
    const std::size_t n = easting.size();
    return heights_above(surface, height, key, n * northing.size(), [&](std::size_t i) {
      return std::pair{easting[i % n], northing[i / n]};
    });
  };
}

Points grid(const Case& run, const GridSpec& spec, std::vector<std::string>& notes, const Terrain* terrain) {
  const std::string key = "observations.grid";
  std::optional<NodeGrid> nodes;
  if (spec.dem) nodes = read_nodes(run, *spec.dem, key + ".file", notes);
  const auto make = [&](const GridHeights& heights) {
    if (!nodes || spec.easting.count > 0) return make_grid(spec.easting, spec.northing, heights);
    return make_grid(nodes->easting, nodes->northing, heights);
  };
  if (const auto* height = std::get_if<double>(&spec.upward)) return make(*height);
  if (std::holds_alternative<HeightsOfGridFile>(spec.upward)) return make(grid_above({{}, &*nodes}, 0, key + ".file"));
  if (const auto* above = std::get_if<AboveTerrain>(&spec.upward)) {
    const GroundBelow surface = surface_of(run, *above, terrain, nodes ? &*nodes : nullptr, key, notes);
    return make(grid_above(surface, above->height, key + above_terrain_key));
  }
  const InputFile file = input_file(run, std::get<std::filesystem::path>(spec.upward), key + ".upward.file");
  return make([&](const std::vector<double>& easting, const std::vector<double>& northing) {
    return read_heights(file, easting, northing, notes);
  });
}

Points stations(const Case& run, const StationsFile& spec, std::vector<std::string>& notes, const Terrain* terrain,
                StationColumns* columns) {
  const std::string key = "observations.stations";
  StationsFile of_case = spec;
  if (!run.fields.of_magnetisation().empty()) of_case.inducing_field = run.magnetic.inducing_field;
  Points points = read_stations(input_file(run, spec.file, key + ".file"), of_case, notes, columns);
  const auto* above = std::get_if<AboveTerrain>(&spec.upward);
  if (above == nullptr) return points;
  points.upward = heights_above(surface_of(run, *above, terrain, nullptr, key, notes), above->height,
                                key + above_terrain_key, points.easting.size(), [&](std::size_t i) {
                                  return std::pair{points.easting[i], points.northing[i]};
                                });
  return points;
}

Points made_points(const Case& run, const Bounds& bounds, std::vector<std::string>& notes, const Terrain* terrain,
                   StationColumns* columns) {
  if (const auto* spec = std::get_if<GridSpec>(&run.observations)) return grid(run, *spec, notes, terrain);
  if (const auto* spec = std::get_if<StationsFile>(&run.observations))
    return stations(run, *spec, notes, terrain, columns);
  if (const auto* spec = std::get_if<StationsRandom>(&run.observations)) return make_random_stations(*spec, bounds);
  throw InputError("", "observations", "is missing; grid or stations is needed");
}

}  // namespace

const AboveTerrain* above_terrain(const Case& run) {
  if (const auto* grid = std::get_if<GridSpec>(&run.observations)) return std::get_if<AboveTerrain>(&grid->upward);
  const auto* stations = std::get_if<StationsFile>(&run.observations);
  return stations == nullptr ? nullptr : std::get_if<AboveTerrain>(&stations->upward);
}

bool points_need_terrain(const Case& run) {
  const AboveTerrain* const above = above_terrain(run);
  return above != nullptr && !above->dem;
}

bool points_from_files(const Case& run) {
  if (std::holds_alternative<StationsFile>(run.observations)) return true;
  const auto* grid = std::get_if<GridSpec>(&run.observations);
  return grid != nullptr && (grid->dem || !std::holds_alternative<double>(grid->upward));
}

Points make_points(const Case& run, const Bounds& bounds, const Communicator& communicator,
                   std::vector<std::string>& notes, const Terrain* terrain, StationColumns* columns) {
  const bool read_by_root = points_from_files(run);
  Points points;
  agree_on_input(communicator, [&] {
    if (read_by_root && communicator.rank() != 0) return;
    at_places_of(run, [&] {
      points = made_points(run, bounds, notes, terrain, columns);
      check_points(points,
                   std::holds_alternative<GridSpec>(run.observations) ? "observations.grid" : "observations.stations");
    });
  });
  if (!read_by_root) return points;
  broadcast_all(communicator, points.easting, points.northing, points.upward, points.grid_easting, points.grid_northing,
                points.rounding);
  return points;
}

Digest case_hash(const Case& run, const Model& model, const Points& points) {
  Checksum checksum;
  checksum.add(std::string_view(run.identity));
  checksum.add(model.digest());
  const auto* grid = std::get_if<GridSpec>(&run.observations);
  if (std::holds_alternative<StationsFile>(run.observations) || (grid != nullptr && grid->dem)) {
    checksum.add(points.easting);
    checksum.add(points.northing);
  }
  if (points_from_files(run)) checksum.add(points.upward);
  return checksum.digest();
}

}  // namespace prismfield
