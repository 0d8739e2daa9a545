// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/leaf_sizes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace prismfield::fast {
namespace {

/// Of a box of these sides; one that is flat, as of a grid or of one layer, is as high as cells near it reach.
double volume(const std::array<double, 3>& sides) {
  constexpr double least = 0.05;
  const double longest = *std::max_element(sides.begin(), sides.end());
  double product = 1;
  for (const double side : sides) product *= std::max(side, least * longest);
  return product;
}

/// Between some of a column's numbers.
double extent(std::span<const double> column) {
  constexpr std::size_t most_looked_at = 1000;
  const std::size_t stride = std::max<std::size_t>(column.size() / most_looked_at, 1);
  double low = column[0], high = column[0];
  for (std::size_t i = 0; i < column.size(); i += stride) {
    low = std::min(low, column[i]);
    high = std::max(high, column[i]);
  }
  return high - low;
}

}  // namespace

double points_per_prism(const PrismSource& prisms, const PointColumns& points) {
  if (prisms.size() == 0 || points.size() == 0) return 1;
  const Bounds b = prisms.bounds();
  const double of_prisms = volume({b.east - b.west, b.north - b.south, b.top - b.bottom});
  const double of_points = volume({extent(points.easting), extent(points.northing), extent(points.upward)});
  // points at one place are dense
  constexpr double dense = 1e6;
  if (of_points <= 0) return dense;
  return static_cast<double>(points.size()) / static_cast<double>(prisms.size()) * (of_prisms / of_points);
}

LeafSizes leaf_sizes(bool on_device, double points_per_prism, std::int64_t n_prisms) {
  // measured; a device computes pairs faster beside exchanges
  if (on_device || points_per_prism < 2) return {32, 32};
  // a prism in leaves of 8 takes 2 kB where none are far
  constexpr std::int64_t most_in_least = 2000000, most_in_less = 8000000;
  if (n_prisms > most_in_less) return {32, 64};
  return {points_per_prism < 8 || n_prisms > most_in_least ? 16 : 8, 64};
}

}  // namespace prismfield::fast
