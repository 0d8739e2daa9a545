// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/terrain_variables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <prismfield/fields.hpp>

namespace prismfield {
namespace {

constexpr const char* height_variable = "terrain_height";
constexpr const char* slab_variable = "bouguer_slab";
constexpr const char* correction_variable = "terrain_correction";

/// Mass over area of the slab below a place, kg/m2; NaN outside the terrain.
double mass_below(const Terrain& terrain, double easting, double northing) noexcept {
  if (std::isnan(terrain.height_at(easting, northing))) return std::numeric_limits<double>::quiet_NaN();
  return mass_of(terrain.slab_at(easting, northing));
}

std::string slab_name(const Terrain& terrain) {
  const TerrainMasses& masses = terrain.content().masses;
  const std::string rock = terrain.content().densities.empty() ? fmt::format("{:g} kg/m3", masses.density)
                                                               : std::string("the density of the column there");
  std::string text = fmt::format(
      "infinite Bouguer slab, 2 pi G rho h, h from reference {:g} m to terrain_height, rho {}", masses.reference, rock);
  if (masses.water_density) {
    text += fmt::format(", with water of {:g} kg/m3 up to {:g} m", *masses.water_density, masses.sea_level);
  }
  return text;
}

}  // namespace

bool is_terrain_variable(std::string_view variable) { return variable == height_variable || turns_with_gz(variable); }

bool turns_with_gz(std::string_view variable) { return variable == slab_variable || variable == correction_variable; }

std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points, const Fields& result,
                                             const Terrain& terrain) {
  const FieldInfo& gz = info(Field::gz);
  // SI, z up: mass below the point pulls downwards; adding 0 turns -0 into 0
  const double factor = -header.gravitational_constant * output_factor(Field::gz, header.axes);
  ResultHeader plain;
  plain.axes = header.axes;
  const OutputField effect(plain, result, Field::gz);
  const std::string unit(gz.unit);
  return {{height_variable, "m", "height of the terrain below the point, bilinear between its nodes",
           [&points, &terrain](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return terrain.height_at(points.easting[i], points.northing[i]);
           }},
          {slab_variable, unit, slab_name(terrain),
           [&points, &terrain, factor](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return 2 * std::numbers::pi * factor * mass_below(terrain, points.easting[i], points.northing[i]) + 0.0;
           }},
          {correction_variable, unit,
           "terrain correction, the slab cut at the edges of the elevation model minus gz (gz without noise)",
           [&points, &terrain, factor, effect](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             const double plate = terrain.plate_attraction(points.easting[i], points.northing[i], points.upward[i]);
             return factor * plate + 0.0 - effect[point];
           }}};
}

}  // namespace prismfield
