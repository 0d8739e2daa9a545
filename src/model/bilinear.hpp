// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace prismfield {

/// Where a place lies between the coordinates of a grid.
struct Between {
  std::size_t low = 0, high = 0;
  /// part of the way from low to high; 0 at a node
  double part = 0;
};

/// Between which of rising coordinates a place lies; beyond them at the nearest.
[[nodiscard]] inline Between between(const std::vector<double>& grid, double place) noexcept {
  const auto above = std::upper_bound(grid.begin(), grid.end(), place);
  if (above == grid.begin()) return {};
  const auto high = static_cast<std::size_t>(above - grid.begin());
  if (high == grid.size()) return {high - 1, high - 1, 0};
  return {high - 1, high, (place - grid[high - 1]) / (grid[high] - grid[high - 1])};
}

/// a where part is 0 and b where it is 1, exactly, whatever the other is, and never beyond them; NaN where one that
/// counts is.
[[nodiscard]] inline double mixed(double a, double b, double part) noexcept {
  if (part == 0) return a;
  if (part == 1) return b;
  const double value = a * (1 - part) + b * part;
  return value != value ? value : std::clamp(value, std::min(a, b), std::max(a, b));
}

/// Bilinear between the four nodes around a place; `value_at(j, i)`: of the node in row j along northing, column i
/// along easting.
template <class ValueAt>
[[nodiscard]] double bilinear(const Between& easting, const Between& northing, const ValueAt& value_at) {
  const auto along_row = [&](std::size_t j) {
    return mixed(value_at(j, easting.low), value_at(j, easting.high), easting.part);
  };
  return mixed(along_row(northing.low), along_row(northing.high), northing.part);
}

}  // namespace prismfield
