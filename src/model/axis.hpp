// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/value_range.hpp>

namespace prismfield {

/// Names of the directions, in the order of coordinates and numbering.
inline constexpr std::array<const char*, 3> direction_names = {"easting", "northing", "upward"};

/// [min, max, count] of a case: `count` cells between min and max, or `count` points including both.
struct Axis {
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};

/// Edges of an axis' cells, metres, (count + 1): min + i ((max - min)/count), each operation rounded to double, the
/// last exactly max. Equal on every machine.
[[nodiscard]] std::vector<double> cell_edges(const Axis& axis);

/// Centres of an axis' cells, metres, (count): min + (i + 0.5) ((max - min)/count) in double. Equal on every machine.
[[nodiscard]] std::vector<double> cell_centers(const Axis& axis);

/// Points of an axis, metres, both ends included: the edges of count - 1 cells, so that points and edges at one place
/// are equal doubles for equal min, max and number of intervals. For count 1, min.
[[nodiscard]] std::vector<double> grid_points(const Axis& axis);

/// The largest distance, metres, of edges made by cell_edges() from their true places, where it exceeds 2 ulp: near 0,
/// where the sum cancels. 0 for most axes. The ends count as decimals of up to 15 digits, otherwise as the doubles that
/// they are.
[[nodiscard]] double rounding_of_edges(const std::vector<double>& edges);

/// The same for coordinates from a file that equal those of an axis in a case; 0 for others.
[[nodiscard]] double rounding_of_grid(const std::vector<double>& grid);

/// The product rounded to double, which no compiler can fuse with a sum. Sums of such products are equal on machines
/// with and without fused multiply-add.
[[nodiscard]] inline double rounded_product(double a, double b) noexcept {
  const volatile double product = a * b;
  return product;
}

}  // namespace prismfield
