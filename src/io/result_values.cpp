// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace prismfield {
OutputField::OutputField(const ResultHeader& header, const Fields& result, Field field)
    : m_size(static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size())),
      m_factor(output_factor(field, header.axes)) {
  m_values = result.values.data() + result.fields.index_of(field) * m_size;
  if (!header.noise || header.noise->sigma.count(field) == 0) return;
  m_sigma = header.noise->sigma.at(field);
  m_seed = header.noise->seed;
  static_assert(n_known_fields <= 16, "each field has a random stream of its own");
  m_stream =
      static_cast<RandomStream>(static_cast<std::uint32_t>(RandomStream::noise) + static_cast<std::uint32_t>(field));
}

double OutputField::operator[](std::int64_t point) const {
  // Adding 0 turns the -0 of a flipped sign into 0.
  const double value = m_values[point] * m_factor + 0.0;
  if (m_sigma == 0) return value;
  // One rounding, so that every machine writes the same bits.
  return std::fma(m_sigma, random_normal(m_seed, m_stream, static_cast<std::uint64_t>(point)), value);
}

std::vector<double> values_of(const PointVariable& variable, std::int64_t n_points) {
  std::vector<double> values(static_cast<std::size_t>(n_points));
  for (std::int64_t point = 0; point < n_points; ++point)
    values[static_cast<std::size_t>(point)] = variable.value(point);
  return values;
}

std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field) {
  const OutputField output(header, result, field);
  std::vector<double> values(static_cast<std::size_t>(output.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = output[static_cast<std::int64_t>(i)];
  return values;
}

namespace {

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

std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points, const Fields& result,
                                             const Terrain& terrain) {
  const FieldInfo& gz = info(Field::gz);
  // SI, z up: mass below the point pulls downwards; adding 0 turns -0 into 0
  const double factor = -header.gravitational_constant * output_factor(Field::gz, header.axes);
  ResultHeader plain;
  plain.axes = header.axes;
  const OutputField effect(plain, result, Field::gz);
  const std::string unit(gz.unit);
  return {{"terrain_height", "m", "height of the terrain below the point, bilinear between its nodes",
           [&points, &terrain](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return terrain.height_at(points.easting[i], points.northing[i]);
           }},
          {"bouguer_slab", unit, slab_name(terrain),
           [&points, &terrain, factor](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return 2 * std::numbers::pi * factor * mass_below(terrain, points.easting[i], points.northing[i]) + 0.0;
           }},
          {"terrain_correction", unit,
           "terrain correction, the slab cut at the edges of the elevation model minus gz (gz without noise)",
           [&points, &terrain, factor, effect](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             const double plate = terrain.plate_attraction(points.easting[i], points.northing[i], points.upward[i]);
             return factor * plate + 0.0 - effect[point];
           }}};
}

}  // namespace prismfield
