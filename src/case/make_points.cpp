// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_points.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/communicator.hpp>
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

namespace prismfield {
namespace {

constexpr const char* above_terrain_key = ".upward.above_terrain";

/// Heights above a surface at places; points where it has none are one mistake, the first of them named.
class HeightsAbove {
public:
  /// `key`: that of the mistake.
  HeightsAbove(const NodeGrid& surface, double height, std::string key)
      : m_surface(surface), m_height(height), m_key(std::move(key)) {}

  void add(double easting, double northing) {
    m_heights.push_back(value_at(m_surface, easting, northing) + m_height);
    if (!std::isnan(m_heights.back())) return;
    constexpr std::int64_t most_named = 5;
    if (++m_missing <= most_named) m_named += fmt::format("{}({}, {})", m_missing > 1 ? ", " : "", easting, northing);
    if (m_missing == most_named + 1) m_named += ", ...";
  }

  std::vector<double> take() {
    if (m_missing == 0) return std::move(m_heights);
    const NodeGrid& s = m_surface;
    throw InputError(
        "", m_key,
        fmt::format("the terrain, nodes at easting {} to {}, northing {} to {}, has no height at {} of {} points: {}",
                    s.easting.front(), s.easting.back(), s.northing.front(), s.northing.back(), grouped(m_missing),
                    grouped(static_cast<std::int64_t>(m_heights.size())), m_named));
  }

private:
  const NodeGrid& m_surface;
  double m_height;
  std::string m_key;
  std::vector<double> m_heights;
  std::int64_t m_missing = 0;
  std::string m_named;
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
    } else if (nodes != nullptr) {
      m_of_others = nodes;
    } else {
      throw InputError("", section + above_terrain_key,
                       "is above which surface? Name its file beside it, {above_terrain: 80, file: dem.nc}, or have a "
                       "model.terrain");
    }
  }
  [[nodiscard]] const NodeGrid& grid() const noexcept { return m_read ? *m_read : *m_of_others; }

private:
  std::optional<NodeGrid> m_read;
  const NodeGrid* m_of_others = nullptr;
};

/// Heights of the nodes of a grid above a surface.
GridHeights heights_above(const NodeGrid& surface, double height, const std::string& key) {
  return [&surface, height, key](const std::vector<double>& easting, const std::vector<double>& northing) {
    HeightsAbove heights(surface, height, key);
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
  if (std::holds_alternative<HeightsOfGridFile>(spec.upward)) return make(heights_above(*nodes, 0, key + ".file"));
  if (const auto* above = std::get_if<AboveTerrain>(&spec.upward)) {
    const AboveSurface surface(run, *above, terrain, nodes ? &*nodes : nullptr, key);
    return make(heights_above(surface.grid(), above->height, key + above_terrain_key));
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
  HeightsAbove heights(surface.grid(), above->height, key + above_terrain_key);
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

bool points_need_terrain(const Case& run) {
  const auto of_model = [](const AboveTerrain* above) { return above != nullptr && !above->dem; };
  if (const auto* grid = std::get_if<GridSpec>(&run.observations)) {
    return of_model(std::get_if<AboveTerrain>(&grid->upward));
  }
  const auto* stations = std::get_if<StationsFile>(&run.observations);
  return stations != nullptr && of_model(std::get_if<AboveTerrain>(&stations->upward));
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
