// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/cell_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <prismfield/error.hpp>

#include "base/statistics.hpp"
#include "model/nearest_points.hpp"

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
    medians[d] = median(std::move(widths));
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
  const NearestPoints nearest(stations.easting, stations.northing, stations.upward);
  std::vector<double> distances(static_cast<std::size_t>(cells.size()));
  for (std::size_t j = 0; j < distances.size(); ++j) {
    distances[j] = nearest.distance(cells.center(static_cast<std::int64_t>(j))) + r0;
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
  const double s = std::max(median(all_stations(data).upward) - upward.back(), 0.0);
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
