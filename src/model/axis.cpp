// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismfield {
namespace {

/// Edges of `parts` cells between min and max.
std::vector<double> parted(double min, double max, std::int64_t parts) {
  const double width = (max - min) / static_cast<double>(parts);
  std::vector<double> edges(static_cast<std::size_t>(parts) + 1);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = min + rounded_product(static_cast<double>(i), width);
  edges.back() = max;
  return edges;
}

/// Two numbers times a power of ten.
struct Decimals {
  double a, b, power;
};

/// Both numbers times the least power of 10 that makes them integers; times 1 where it would exceed 1e15.
Decimals decimals_of(double a, double b) {
  constexpr double most = 1e15;
  for (double power = 1; power <= most; power *= 10) {
    const Decimals d{std::nearbyint(a * power), std::nearbyint(b * power), power};
    if (std::abs(d.a) > most || std::abs(d.b) > most) break;
    if (d.a / power == a && d.b / power == b) return d;
  }
  return {a, b, 1};
}

/// (a (n - i) + b i)/(n power) to 2 ulp, however much the sum cancels: it is taken as an unevaluated sum of two
/// doubles.
double place(const Decimals& ends, double n, double i) {
  const double left = rounded_product(ends.a, n - i), right = rounded_product(ends.b, i);
  const double sum = left + right;
  const double part = sum - left;
  const double rest = (left - (sum - part)) + (right - part);
  const double lost = std::fma(ends.a, n - i, -left) + std::fma(ends.b, i, -right);
  return (sum + (rest + lost)) / (n * ends.power);
}

}  // namespace

std::vector<double> cell_edges(const Axis& axis) { return parted(axis.min, axis.max, axis.count); }

std::vector<double> cell_centers(const Axis& axis) {
  const double width = (axis.max - axis.min) / static_cast<double>(axis.count);
  std::vector<double> centers(static_cast<std::size_t>(axis.count));
  for (std::size_t i = 0; i < centers.size(); ++i) {
    centers[i] = axis.min + rounded_product(static_cast<double>(i) + 0.5, width);
  }
  return centers;
}

std::vector<double> grid_points(const Axis& axis) {
  if (axis.count < 2) return std::vector<double>(static_cast<std::size_t>(axis.count), axis.min);
  return parted(axis.min, axis.max, axis.count - 1);
}

double rounding_of_edges(const std::vector<double>& edges) {
  if (edges.size() < 2) return 0;
  const Decimals ends = decimals_of(edges.front(), edges.back());
  const double n = static_cast<double>(edges.size() - 1);
  double largest = 0;
  for (std::size_t i = 1; i + 1 < edges.size(); ++i) {
    const double meant = place(ends, n, static_cast<double>(i));
    const double error = std::abs(edges[i] - meant);
    const double ulp = std::nextafter(std::abs(meant), std::numeric_limits<double>::infinity()) - std::abs(meant);
    if (error > 2 * ulp) largest = std::max(largest, error);
  }
  return largest;
}

double rounding_of_grid(const std::vector<double>& grid) {
  const Axis axis{grid.front(), grid.back(), static_cast<std::int64_t>(grid.size())};
  const bool is_finite = std::isfinite(axis.max - axis.min);
  return is_finite && grid_points(axis) == grid ? rounding_of_edges(grid) : 0;
}

}  // namespace prismfield
