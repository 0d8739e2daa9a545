// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace prismfield {

/// Directions in the order of coordinates and of numbering.
inline constexpr std::array<const char*, 3> direction_names = {"easting", "northing", "upward"};

/// [min, max] in metres.
struct Range {
  double min = 0;
  double max = 0;
};

/// [min, max, count]: `count` cells between min and max, or `count` points with both ends included.
struct Axis {
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};

/// Edges of an axis' cells, metres, count + 1 of them: min + i ((max - min)/count) in double, the last exactly max.
/// The same on every machine.
[[nodiscard]] std::vector<double> cell_edges(const Axis& axis);

/// Centres of an axis' cells, metres, count of them: min + (i + 0.5) ((max - min)/count) in double. The same on every
/// machine.
[[nodiscard]] std::vector<double> cell_centers(const Axis& axis);

/// Points of an axis, metres, both ends included: min + i (max - min)/(count - 1) in double, the last exactly max;
/// min alone when count is 1.
[[nodiscard]] std::vector<double> grid_points(const Axis& axis);

/// The product rounded to double, whatever a compiler would fuse it with: with it, sums of products come out the same
/// on machines with and without fused multiply-add.
[[nodiscard]] inline double rounded_product(double a, double b) noexcept {
  const volatile double product = a * b;
  return product;
}

}  // namespace prismfield
