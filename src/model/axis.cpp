// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/axis.hpp"

namespace prismfield {

std::vector<double> cell_edges(const Axis& axis) {
  const double width = (axis.max - axis.min) / static_cast<double>(axis.count);
  std::vector<double> edges(static_cast<std::size_t>(axis.count) + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = axis.min + rounded_product(static_cast<double>(i), width);
  }
  edges.back() = axis.max;
  return edges;
}

std::vector<double> cell_centers(const Axis& axis) {
  const double width = (axis.max - axis.min) / static_cast<double>(axis.count);
  std::vector<double> centers(static_cast<std::size_t>(axis.count));
  for (std::size_t i = 0; i < centers.size(); ++i) {
    centers[i] = axis.min + rounded_product(static_cast<double>(i) + 0.5, width);
  }
  return centers;
}

std::vector<double> grid_points(const Axis& axis) {
  std::vector<double> points(static_cast<std::size_t>(axis.count));
  const double intervals = static_cast<double>(axis.count - 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = i == 0 ? axis.min : axis.min + static_cast<double>(i) * (axis.max - axis.min) / intervals;
  }
  if (points.size() > 1) points.back() = axis.max;
  return points;
}

}  // namespace prismfield
