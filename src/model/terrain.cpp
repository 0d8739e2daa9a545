// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/terrain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t nodes_in_block = 1024;

void add(TerrainColumn& column, double bottom, double top, double density) noexcept {
  if (!(top > bottom) || !(std::abs(density) > 0)) return;
  column.parts[static_cast<std::size_t>(column.count++)] = {bottom, top, density};
}

/// Downward attraction of a prism, over G and density, metres; faces relative to the point. Nagy, Papp and Benedek
/// 2000, eq. 8, with the logarithms of an edge as one difference of asinh, which has no cancellation along the edge.
double downward_attraction(const std::array<double, 2>& x, const std::array<double, 2>& y,
                           const std::array<double, 2>& z) noexcept {
  const auto edge = [](double a, double height, const std::array<double, 2>& along) {
    const double distance = std::sqrt(a * a + height * height);
    return a == 0 ? 0 : a * (std::asinh(along[1] / distance) - std::asinh(along[0] / distance));
  };
  const auto face = [&](double height) {
    double sum = edge(x[1], height, y) - edge(x[0], height, y) + edge(y[1], height, x) - edge(y[0], height, x);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        const double distance = std::abs(height) * std::hypot(x[i], y[j], height);
        sum -= (i == j ? 1 : -1) * std::abs(height) * std::atan2(x[i] * y[j], distance);
      }
    }
    return sum;
  };
  return face(z[1]) - face(z[0]);
}

}  // namespace

TerrainColumn terrain_column(const TerrainMasses& masses, double height, double density) noexcept {
  TerrainColumn column;
  if (std::isnan(height) || std::isnan(density)) return column;
  const double reference = masses.reference, sea = masses.sea_level;
  const bool is_wet = masses.water_density && height < sea;
  const double water = masses.water_density.value_or(0);
  if (height >= reference) {
    add(column, reference, height, density);
    if (is_wet) add(column, height, sea, water);
  } else if (!is_wet) {
    add(column, height, reference, -density);
  } else {
    add(column, height, std::min(reference, sea), water - density);
    add(column, sea, reference, -density);
    add(column, reference, sea, water);
  }
  return column;
}

double mass_of(const TerrainColumn& column) noexcept {
  double mass = 0;
  for (int p = 0; p < column.count; ++p) {
    const TerrainColumn::Part& part = column.parts[static_cast<std::size_t>(p)];
    mass += part.density * (part.top - part.bottom);
  }
  return mass;
}

Terrain::Terrain(TerrainContent content)
    : m_content(std::move(content)),
      m_edges{edges_around(m_content.heights.easting), edges_around(m_content.heights.northing)} {
  check_limits();
  count_prisms();
  find_warnings();
}

TerrainColumn Terrain::column(std::size_t node) const noexcept {
  return terrain_column(m_content.masses, m_content.heights.values[node],
                        m_content.densities.empty() ? m_content.masses.density : m_content.densities[node]);
}

void Terrain::check_limits() const {
  ProblemList problems;
  const std::string key = "model.terrain";
  const TerrainMasses& masses = m_content.masses;
  const auto is_far = [](double value) { return std::abs(value) > max_coordinate; };
  const NodeValues& heights = m_content.heights.values;
  bool far_heights = false, far_densities = std::abs(masses.density) > max_density;
  for (std::size_t i = 0; i < heights.size(); ++i) far_heights = far_heights || is_far(heights[i]);
  for (std::size_t i = 0; i < m_content.densities.size(); ++i) {
    far_densities = far_densities || std::abs(m_content.densities[i]) > max_density;
  }
  bool far_edges = far_heights;
  for (const std::vector<double>& edges : m_edges) {
    far_edges = far_edges || is_far(edges.front()) || is_far(edges.back());
  }
  double widest = 0;
  for (const std::vector<double>& edges : m_edges) {
    double narrowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < edges.size(); ++i) narrowest = std::min(narrowest, edges[i] - edges[i - 1]);
    if (!(narrowest > 0))
      problems.add("", key + ".file", "has nodes that lie closer than double precision tells apart");
    widest = std::max(widest, narrowest);
  }
  if (far_edges) problems.add("", key + ".file", beyond_coordinates());
  if (widest < min_longest_edge) problems.add("", key + ".file", below_longest_edge());
  if (is_far(masses.reference)) problems.add("", key + ".reference", beyond_coordinates());
  if (is_far(masses.sea_level)) problems.add("", key + ".sea_level", beyond_coordinates());
  if (far_densities) problems.add("", key + ".density", beyond_densities());
  if (std::abs(masses.water_density.value_or(0)) > max_density) {
    problems.add("", key + ".water_density", beyond_densities());
  }
  problems.throw_if_any();
}

void Terrain::count_prisms() {
  const auto n_nodes = static_cast<std::int64_t>(m_content.heights.values.size());
  const std::int64_t blocks = (n_nodes + nodes_in_block - 1) / nodes_in_block;
  m_before.reserve(static_cast<std::size_t>(blocks) + 1);
  constexpr double far = std::numeric_limits<double>::infinity();
  Range heights{far, -far}, densities{far, -far};
  const std::size_t n_easting = m_content.heights.easting.size();
  std::size_t west = n_easting, east = 0, south = n_nodes, north = 0;
  std::int64_t count = 0;
  std::size_t i = 0, j = 0;
  for (std::int64_t node = 0; node < n_nodes; ++node) {
    if (node % nodes_in_block == 0) m_before.push_back(count);
    const TerrainColumn parts = column(static_cast<std::size_t>(node));
    for (int p = 0; p < parts.count; ++p) {
      const auto& part = parts.parts[static_cast<std::size_t>(p)];
      heights = {std::min(heights.min, part.bottom), std::max(heights.max, part.top)};
      densities = {std::min(densities.min, part.density), std::max(densities.max, part.density)};
    }
    if (parts.count > 0) {
      west = std::min(west, i);
      east = std::max(east, i + 1);
      south = std::min(south, j);
      north = std::max(north, j + 1);
    }
    count += parts.count;
    if (++i == n_easting) {
      i = 0;
      ++j;
    }
  }
  m_before.push_back(count);
  if (count == 0) return;
  m_bounds = {m_edges[0][west], m_edges[0][east], m_edges[1][south], m_edges[1][north], heights.min, heights.max};
  m_density_range = densities;
}

void Terrain::find_warnings() {
  m_warnings = std::move(m_content.notes);
  const NodeValues& heights = m_content.heights.values;
  const TerrainMasses& masses = m_content.masses;
  std::int64_t without = 0, without_density = 0, below_sea = 0;
  Range all{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const double height = heights[i];
    if (std::isnan(height)) {
      ++without;
      continue;
    }
    if (!m_content.densities.empty() && std::isnan(m_content.densities[i])) ++without_density;
    if (height < masses.sea_level) ++below_sea;
    all = {std::min(all.min, height), std::max(all.max, height)};
  }
  const auto of_all = [&](std::int64_t n) {
    return fmt::format("{} of {} nodes", grouped(n), grouped(static_cast<std::int64_t>(heights.size())));
  };
  if (without > 0) {
    m_warnings.push_back(fmt::format("the terrain has no height at {}; they are left out", of_all(without)));
  }
  if (without_density > 0) {
    m_warnings.push_back(
        fmt::format("the terrain has a height but no density at {}; they are left out", of_all(without_density)));
  }
  if (const std::string doubt = height_warning(all); without < std::ssize(heights) && !doubt.empty()) {
    m_warnings.push_back("the terrain has heights of " + doubt);
  }
  if (below_sea > 0 && !masses.water_density) {
    m_warnings.push_back(fmt::format(
        "the terrain is below sea level ({:g} m) at {}, which are taken as dry; model.terrain.water_density "
        "(1040 kg/m3 in the sea) fills them with water, sea_level below them says that they are dry",
        masses.sea_level, of_all(below_sea)));
  }
}

void Terrain::read(IndexRange range, PrismBlock& out) const {
  if (range.begin < 0 || range.end > size()) throw RunError("prisms beyond those of the terrain are asked for");
  out.resize(range.size());
  if (range.begin >= range.end) return;
  const auto block = std::upper_bound(m_before.begin(), m_before.end(), range.begin) - m_before.begin() - 1;
  std::int64_t prism = m_before[static_cast<std::size_t>(block)];
  const std::size_t n_easting = m_content.heights.easting.size();
  auto node = static_cast<std::size_t>(block * nodes_in_block);
  std::size_t i = node % n_easting, j = node / n_easting;
  while (prism < range.end) {
    const TerrainColumn parts = column(node++);
    for (int p = 0; p < parts.count && prism < range.end; ++p, ++prism) {
      if (prism < range.begin) continue;
      const auto at = static_cast<std::size_t>(prism - range.begin);
      const auto& part = parts.parts[static_cast<std::size_t>(p)];
      out.west[at] = m_edges[0][i];
      out.east[at] = m_edges[0][i + 1];
      out.south[at] = m_edges[1][j];
      out.north[at] = m_edges[1][j + 1];
      out.bottom[at] = part.bottom;
      out.top[at] = part.top;
      out.density[at] = part.density;
    }
    if (++i == n_easting) {
      i = 0;
      ++j;
    }
  }
}

std::int64_t Terrain::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + m_before.capacity() * sizeof(std::int64_t);
  for (const std::vector<double>* values :
       {&m_edges[0], &m_edges[1], &m_content.heights.easting, &m_content.heights.northing}) {
    bytes += values->capacity() * sizeof(double);
  }
  return static_cast<std::int64_t>(bytes) + m_content.heights.values.memory_bytes() +
         m_content.densities.memory_bytes();
}

std::int64_t Terrain::peak_memory_bytes() const noexcept { return std::max(m_content.peak_bytes, memory_bytes()); }

std::string Terrain::description() const {
  return fmt::format("terrain {} x {}, {}", m_content.heights.easting.size(), m_content.heights.northing.size(),
                     counted(size(), "prism"));
}

std::optional<std::size_t> Terrain::node_of(double easting, double northing) const noexcept {
  std::array<std::size_t, 2> at{};
  const std::array<double, 2> place{easting, northing};
  for (std::size_t d = 0; d < 2; ++d) {
    const std::vector<double>& edges = m_edges[d];
    if (!(place[d] >= edges.front() && place[d] <= edges.back())) return std::nullopt;
    const auto above = std::upper_bound(edges.begin(), edges.end() - 1, place[d]);
    at[d] = static_cast<std::size_t>(above - edges.begin()) - 1;
  }
  return at[1] * m_content.heights.easting.size() + at[0];
}

TerrainColumn Terrain::slab_at(double easting, double northing) const noexcept {
  const std::optional<std::size_t> node = node_of(easting, northing);
  if (!node) return {};
  return terrain_column(m_content.masses, height_at(easting, northing),
                        m_content.densities.empty() ? m_content.masses.density : m_content.densities[*node]);
}

double Terrain::plate_attraction(double easting, double northing, double upward) const noexcept {
  if (std::isnan(height_at(easting, northing))) return std::numeric_limits<double>::quiet_NaN();
  const TerrainColumn plate = slab_at(easting, northing);
  double sum = 0;
  for (int p = 0; p < plate.count; ++p) {
    const TerrainColumn::Part& part = plate.parts[static_cast<std::size_t>(p)];
    sum += part.density * downward_attraction({m_edges[0].front() - easting, m_edges[0].back() - easting},
                                              {m_edges[1].front() - northing, m_edges[1].back() - northing},
                                              {part.bottom - upward, part.top - upward});
  }
  return sum;
}

std::vector<std::int64_t> Terrain::points_below(const Points& points) const {
  std::vector<std::int64_t> below;
  for (std::size_t p = 0; p < points.easting.size(); ++p) {
    const std::optional<std::size_t> node = node_of(points.easting[p], points.northing[p]);
    if (node && points.upward[p] < m_content.heights.values[*node]) below.push_back(static_cast<std::int64_t>(p));
  }
  return below;
}

NearGround Terrain::near_ground(const Points& points) const {
  NearGround near;
  const std::size_t n_easting = m_content.heights.easting.size();
  for (std::size_t p = 0; p < points.easting.size(); ++p) {
    const std::optional<std::size_t> node = node_of(points.easting[p], points.northing[p]);
    if (!node) continue;
    const double surface = height_at(points.easting[p], points.northing[p]);
    const std::size_t i = *node % n_easting, j = *node / n_easting;
    const double width = m_edges[0][i + 1] - m_edges[0][i], length = m_edges[1][j + 1] - m_edges[1][j];
    const double above = points.upward[p] - surface, longest = std::max(width, length);
    if (!(std::abs(above) <= longest)) continue;
    ++near.count;
    // upward continuation of what repeats with each column
    const double damping = std::exp(-2 * std::numbers::pi * std::max(above, 0.0) / longest);
    const double mass =
        damping * std::abs(mass_of(column(*node)) - mass_of(slab_at(points.easting[p], points.northing[p])));
    if (!(mass > near.mass)) continue;
    near.worst = static_cast<std::int64_t>(p);
    near.step = std::abs(m_content.heights.values[*node] - surface);
    near.mass = mass;
    near.spacing = std::min(width, length);
  }
  return near;
}

}  // namespace prismfield
