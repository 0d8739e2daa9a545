// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_points.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/case.hpp"
#include "case/places.hpp"
#include "io/dem_file.hpp"
#include "io/height_file.hpp"
#include "io/station_file.hpp"
#include "model/points.hpp"
#include "model/terrain.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

constexpr const char* above_terrain_key = ".upward.above_terrain";
constexpr double no_least = -std::numeric_limits<double>::infinity();

/// Places of a kind: how many, and the first.
class Counted {
public:
  void add(std::size_t number, double easting, double northing) {
    if (m_count++ == 0)
      m_first = fmt::format("point {} at ({}, {})", number, place_text(easting), place_text(northing));
  }
  [[nodiscard]] bool any() const noexcept { return m_count > 0; }
  /// "2 of 30 points, the first point 7 at (10, 20)"
  [[nodiscard]] std::string text(std::size_t all) const {
    return fmt::format("{} of {} points, the first {}", grouped(m_count), grouped(static_cast<std::int64_t>(all)),
                       m_first);
  }

private:
  std::int64_t m_count = 0;
  std::string m_first;
};

/// Heights above a surface at places; points outside it are one error, those in its gaps another.
class HeightsAbove {
public:
  /// `least`: metres, the surface counts as no lower than this. `key`: that of the errors.
  HeightsAbove(const NodeGrid& surface, double least, double height, std::string key)
      : m_surface(surface), m_least(least), m_height(height), m_key(std::move(key)) {}

  void add(double easting, double northing) {
    const double surface = value_at(m_surface, easting, northing);
    m_heights.push_back((surface < m_least ? m_least : surface) + m_height);
    if (!std::isnan(surface)) return;
    (covers(m_surface, easting, northing) ? m_in_gaps : m_outside).add(m_heights.size(), easting, northing);
  }

  std::vector<double> take() {
    const NodeGrid& s = m_surface;
    ProblemList problems;
    if (m_outside.any()) {
      problems.add(
          "", m_key,
          fmt::format("the terrain, nodes at easting {} to {}, northing {} to {}, does not reach {}; a larger "
                      "DEM or points within it are needed",
                      place_text(s.easting.front()), place_text(s.easting.back()), place_text(s.northing.front()),
                      place_text(s.northing.back()), m_outside.text(m_heights.size())));
    }
    if (m_in_gaps.any()) {
      problems.add("", m_key,
                   fmt::format("the terrain has gaps, nodes without a height, at {}; fill them, e.g. with "
                               "gdal_fillnodata.py, leave such points out, or give upward a number",
                               m_in_gaps.text(m_heights.size())));
    }
    problems.throw_if_any();
    return std::move(m_heights);
  }

private:
  const NodeGrid& m_surface;
  double m_least, m_height;
  std::string m_key;
  std::vector<double> m_heights;
  Counted m_outside, m_in_gaps;
};

/// The surface that points are above: read from a file, the model's, or that of the points' own file.
class AboveSurface {
public:
  /// `section`: the key with observations of this kind. `terrain`: the model's, `nodes`: those of the points' own file;
  /// both may be null.
  AboveSurface(const Case& run, const AboveTerrain& above, const Terrain* terrain, const NodeGrid* nodes,
               const std::string& section) {
    if (above.dem) {
      m_read = read_dem(input_file(run, above.dem->file, section + ".upward.file"), above.dem->variable).grid;
    } else if (terrain != nullptr) {
      m_of_others = &terrain->content().heights;
      const TerrainMasses& masses = terrain->content().masses;
      if (masses.water_density) m_least = masses.sea_level;
    } else if (nodes != nullptr) {
      m_of_others = nodes;
    } else {
      throw InputError("", section + above_terrain_key,
                       "is above which surface? Name its file beside it, {above_terrain: 80, file: dem.nc}, or have a "
                       "model.terrain");
    }
    if (above.sea_level) m_least = *above.sea_level;
  }
  [[nodiscard]] const NodeGrid& grid() const noexcept { return m_read ? *m_read : *m_of_others; }
  /// Metres: the sea level that heights count from where the surface is lower, if there is any.
  [[nodiscard]] double least() const noexcept { return m_least; }

private:
  std::optional<NodeGrid> m_read;
  const NodeGrid* m_of_others = nullptr;
  double m_least = no_least;
};

/// Heights of the nodes of a grid above a surface.
GridHeights heights_above(const NodeGrid& surface, double least, double height, const std::string& key) {
  return [&surface, least, height, key](const std::vector<double>& easting, const std::vector<double>& northing) {
    HeightsAbove heights(surface, least, height, key);
    for (const double y : northing) {
      for (const double x : easting) heights.add(x, y);
    }
    return heights.take();
  };
}

Points grid(const Case& run, const GridSpec& spec, const Terrain* terrain) {
  const std::string key = "observations.grid";
  std::optional<NodeGrid> nodes;
  if (spec.dem) nodes = read_dem(input_file(run, spec.dem->file, key + ".file"), spec.dem->variable).grid;
  const auto make = [&](const GridHeights& heights) {
    if (!nodes || spec.easting.count > 0) return make_grid(spec.easting, spec.northing, heights);
    return make_grid(nodes->easting, nodes->northing, heights);
  };
  if (const auto* height = std::get_if<double>(&spec.upward)) return make(*height);
  if (std::holds_alternative<HeightsOfGridFile>(spec.upward))
    return make(heights_above(*nodes, no_least, 0, key + ".file"));
  if (const auto* above = std::get_if<AboveTerrain>(&spec.upward)) {
    const AboveSurface surface(run, *above, terrain, nodes ? &*nodes : nullptr, key);
    return make(heights_above(surface.grid(), surface.least(), above->height, key + above_terrain_key));
  }
  const InputFile file = input_file(run, std::get<std::filesystem::path>(spec.upward), key + ".upward.file");
  return make([&](const std::vector<double>& easting, const std::vector<double>& northing) {
    return read_heights(file, easting, northing);
  });
}

Points stations(const Case& run, const StationsFile& spec, std::vector<std::string>& notes, const Terrain* terrain) {
  const std::string key = "observations.stations";
  Points points = read_stations(input_file(run, spec.file, key + ".file"), spec, notes);
  const auto* above = std::get_if<AboveTerrain>(&spec.upward);
  if (above == nullptr) return points;
  const AboveSurface surface(run, *above, terrain, nullptr, key);
  HeightsAbove heights(surface.grid(), surface.least(), above->height, key + above_terrain_key);
  for (std::size_t i = 0; i < points.easting.size(); ++i) heights.add(points.easting[i], points.northing[i]);
  points.upward = heights.take();
  return points;
}

}  // namespace

Points make_points(const Case& run, const Bounds& bounds, std::vector<std::string>& notes, const Terrain* terrain) {
  const auto make = [&] {
    if (const auto* spec = std::get_if<GridSpec>(&run.observations)) return grid(run, *spec, terrain);
    if (const auto* spec = std::get_if<StationsFile>(&run.observations)) return stations(run, *spec, notes, terrain);
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
                   std::vector<std::string>& notes, const Terrain* terrain) {
  const bool read_by_root = points_from_files(run);
  Points points;
  agree_on_input(communicator, [&] {
    if (!read_by_root || communicator.rank() == 0) points = make_points(run, bounds, notes, terrain);
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
