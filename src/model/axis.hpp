// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/value_range.hpp>

namespace prismfield {

/// Directions in the order of coordinates and of numbering.
inline constexpr std::array<const char*, 3> direction_names = {"easting", "northing", "upward"};

/// [min, max, count]: `count` cells between min and max, or `count` points with both ends included.
struct Axis {
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};

/// Edges of an axis' cells, metres, count + 1 of them: min + i ((max - min)/count), every operation rounded to double,
/// the last exactly max. The same on every machine.
[[nodiscard]] std::vector<double> cell_edges(const Axis& axis);

/// Centres of an axis' cells, metres, count of them: min + (i + 0.5) ((max - min)/count) in double. The same on every
/// machine.
[[nodiscard]] std::vector<double> cell_centers(const Axis& axis);

/// Points of an axis, metres, both ends included: the edges of the count - 1 cells between them, so that points and
/// edges at one place are one double where min, max and number of intervals are the same; min alone when count is 1.
[[nodiscard]] std::vector<double> grid_points(const Axis& axis);

/// How far the edges of the cells between `edges`' ends, as cell_edges() has them, are at most from the places that
/// were meant, metres, where that is beyond 2 ulp of them: next to 0, where the sum cancels. 0 for most axes. The ends
/// are taken as decimals of up to 15 digits, as people write them, else as the doubles that they are.
[[nodiscard]] double rounding_of_edges(const std::vector<double>& edges);

/// The same for coordinates of a grid that were read: as the grid of a case has it where they are those of one, else 0.
[[nodiscard]] double rounding_of_grid(const std::vector<double>& grid);

/// The product rounded to double, whatever a compiler would fuse it with: with it, sums of products come out the same
/// on machines with and without fused multiply-add.
[[nodiscard]] inline double rounded_product(double a, double b) noexcept {
  const volatile double product = a * b;
  return product;
}

}  // namespace prismfield
