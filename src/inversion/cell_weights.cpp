// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/cell_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

/// Weights that fall as distance^-power, the largest 1. Throws InputError where one would be infinite or 0.
std::vector<double> falling(std::vector<double> distances, double power) {
  const double least = *std::min_element(distances.begin(), distances.end());
  if (!(least > 0)) {
    throw InputError("", "inversion.weighting.z0",
                     "is 0, and a station lies at the centre of a cell, whose weight would be infinite; a length above "
                     "0 is expected");
  }
  for (double& distance : distances) distance = std::pow(least / distance, power);
  if (*std::min_element(distances.begin(), distances.end()) > 0) return distances;
  throw InputError("", "inversion.weighting.power",
                   fmt::format("is {}, by which weights of cells vanish; 2 to 4 are usual", power));
}

/// Stations in the squares of a map, by which the nearest one is found without looking at all.
class StationMap {
public:
  explicit StationMap(const Points& stations) : m_stations(stations) {
    const auto [west, east] = std::minmax_element(stations.easting.begin(), stations.easting.end());
    const auto [south, north] = std::minmax_element(stations.northing.begin(), stations.northing.end());
    m_origin = {*west, *south};
    const double area = std::max((*east - *west) * (*north - *south), 0.0);
    const auto n = static_cast<double>(stations.size());
    constexpr double stations_a_square = 2;
    m_side = std::max(std::sqrt(area * stations_a_square / n),
                      std::max(*east - *west, *north - *south) * stations_a_square / n);
    if (!(m_side > 0)) m_side = 1;
    m_columns = static_cast<std::int64_t>((*east - *west) / m_side) + 1;
    m_rows = static_cast<std::int64_t>((*north - *south) / m_side) + 1;
    m_squares.resize(static_cast<std::size_t>(m_columns * m_rows));
    for (std::size_t i = 0; i < static_cast<std::size_t>(stations.size()); ++i) {
      const auto column =
          std::min(static_cast<std::int64_t>((stations.easting[i] - m_origin[0]) / m_side), m_columns - 1);
      const auto row = std::min(static_cast<std::int64_t>((stations.northing[i] - m_origin[1]) / m_side), m_rows - 1);
      m_squares[static_cast<std::size_t>(row * m_columns + column)].push_back(i);
    }
  }

  [[nodiscard]] double nearest(const std::array<double, 3>& place) const {
    const auto column = square_of(place[0] - m_origin[0], m_columns);
    const auto row = square_of(place[1] - m_origin[1], m_rows);
    // how far the place is outside the map: a square of ring k is at least (k - 1) sides away from the map's nearest
    double best = std::numeric_limits<double>::infinity();
    const std::int64_t rings = std::max(m_columns, m_rows);
    for (std::int64_t ring = 0; ring <= rings; ++ring) {
      const double least = static_cast<double>(ring - 1) * m_side;
      if (ring > 0 && least > 0 && least * least > best) break;
      for (std::int64_t r = row - ring; r <= row + ring; ++r) {
        if (r < 0 || r >= m_rows) continue;
        const bool whole = r == row - ring || r == row + ring;
        const std::int64_t stride = whole ? 1 : std::max<std::int64_t>(2 * ring, 1);
        for (std::int64_t c = column - ring; c <= column + ring; c += stride) {
          if (c >= 0 && c < m_columns) look(static_cast<std::size_t>(r * m_columns + c), place, best);
        }
      }
    }
    return std::sqrt(best);
  }

private:
  [[nodiscard]] std::int64_t square_of(double from_origin, std::int64_t squares) const {
    const double square = std::clamp(std::floor(from_origin / m_side), 0.0, static_cast<double>(squares - 1));
    return static_cast<std::int64_t>(square);
  }
  void look(std::size_t square, const std::array<double, 3>& place, double& best) const {
    for (const std::size_t i : m_squares[square]) {
      const double x = m_stations.easting[i] - place[0];
      const double y = m_stations.northing[i] - place[1];
      const double z = m_stations.upward[i] - place[2];
      best = std::min(best, x * x + y * y + z * z);
    }
  }

  const Points& m_stations;
  std::array<double, 2> m_origin{};
  double m_side = 1;
  std::int64_t m_columns = 1, m_rows = 1;
  std::vector<std::vector<std::size_t>> m_squares;
};

}  // namespace

double shortest_edge(const CellEdges& edges) {
  double shortest = edges[0][1] - edges[0][0];
  for (const std::vector<double>& of : edges) {
    for (std::size_t i = 1; i < of.size(); ++i) shortest = std::min(shortest, of[i] - of[i - 1]);
  }
  return shortest;
}

std::array<double, 3> median_edges(const CellEdges& edges) {
  std::array<double, 3> medians{};
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> widths;
    for (std::size_t i = 1; i < edges[d].size(); ++i) widths.push_back(edges[d][i] - edges[d][i - 1]);
    const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
    std::nth_element(widths.begin(), middle, widths.end());
    medians[d] = *middle;
  }
  return medians;
}

std::array<double, 3> smoothing_lengths(const InversionSettings& settings, const CellEdges& edges) {
  if (settings.smoothing_lengths) return *settings.smoothing_lengths;
  if (!settings.smoothness) return median_edges(edges);
  std::array<double, 3> lengths = *settings.smoothness;
  for (double& length : lengths) length *= shortest_edge(edges);
  return lengths;
}

std::vector<double> depth_weights(const ActiveCells& cells, double power, double z0) {
  const double top = cells.edges()[2].back();
  std::vector<double> depths(static_cast<std::size_t>(cells.size()));
  for (std::size_t j = 0; j < depths.size(); ++j) {
    depths[j] = top - cells.center(static_cast<std::int64_t>(j))[2] + z0;
  }
  return falling(std::move(depths), power);
}

std::vector<double> distance_weights(const ActiveCells& cells, const Points& stations, double power, double r0) {
  const StationMap map(stations);
  std::vector<double> distances(static_cast<std::size_t>(cells.size()));
  for (std::size_t j = 0; j < distances.size(); ++j) {
    distances[j] = map.nearest(cells.center(static_cast<std::int64_t>(j))) + r0;
  }
  return falling(std::move(distances), power);
}

std::vector<double> sensitivity_weights(const ActiveCells& cells, const std::vector<double>& diagonal) {
  std::vector<double> weights(diagonal.size());
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(j));
    weights[j] = std::sqrt(diagonal[j]) / (x * y * z);
  }
  const double most = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight /= most;
  return weights;
}

double usual_power(const std::vector<DataSet>& data) noexcept {
  FieldList fields;
  for (const DataSet& set : data) fields.add(set.fields);
  constexpr int steepest = 4, of_gravity = 2;
  int power = steepest;
  // a derivative of 1/distance falls by one power more than 1/distance, and a dipole's potential is a derivative of it
  for (const FieldInfo& field : fields) power = std::min(power, 1 + field.order + (field.is_magnetic ? 1 : 0));
  // the potential hardly falls, and has no weights of its own
  return std::max(power, of_gravity);
}

double fitted_z0(const ActiveCells& cells, const std::vector<DataSet>& data) {
  const std::vector<double>& upward = cells.edges()[2];
  const double h = upward[upward.size() - 1] - upward[upward.size() - 2];
  std::vector<double> heights = all_stations(data).upward;
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  const double s = std::max(*middle - upward.back(), 0.0);
  constexpr double at_0 = 0.11, at_fifth = 0.06, fifth = 0.2, half = 0.5;
  const double part = s / h;
  if (part >= half) return s;
  if (part >= fifth) return s + at_fifth * (half - part) / (half - fifth) * h;
  return s + (at_0 + (at_fifth - at_0) * part / fifth) * h;
}

Points all_stations(const std::vector<DataSet>& data) {
  Points all;
  for (const DataSet& set : data) {
    all.easting.insert(all.easting.end(), set.points.easting.begin(), set.points.easting.end());
    all.northing.insert(all.northing.end(), set.points.northing.begin(), set.points.northing.end());
    all.upward.insert(all.upward.end(), set.points.upward.begin(), set.points.upward.end());
  }
  return all;
}

}  // namespace prismfield
