// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "forward_helpers.hpp"

/// Random ensembles and points on which fast methods are tried.
namespace prismfield::testing {

enum class Masses { uniform, clustered, cells, homogeneous_cells, needles, huge_among_small };
enum class Places { above, on_top, inside, far, on_faces };

inline constexpr std::array all_masses = {Masses::uniform,           Masses::clustered, Masses::cells,
                                          Masses::homogeneous_cells, Masses::needles,   Masses::huge_among_small};
inline constexpr std::array all_places = {Places::above, Places::on_top, Places::inside, Places::far, Places::on_faces};

/// Numbers of one case.
class Draw {
public:
  explicit Draw(std::uint64_t seed) : m_seed(seed) {}
  double operator()(double low, double high) {
    return random_uniform(low, high, m_seed, RandomStream::cell_density, m_number++);
  }

private:
  std::uint64_t m_seed, m_number = 0;
};

/// Prisms between 0 and some 2,000 m sideways and -1,000 m and 0.
inline std::vector<Prism> random_prisms(Masses masses, std::size_t n, bool both_signs, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<Prism> prisms;
  const auto density = [&] { return both_signs ? draw(-1000, 1000) : draw(100, 1000); };
  if (masses == Masses::cells || masses == Masses::homogeneous_cells) {
    const auto side = static_cast<int>(std::ceil(std::cbrt(static_cast<double>(n))));
    for (std::size_t i = 0; i < n; ++i) {
      const int x = static_cast<int>(i) % side, y = static_cast<int>(i) / side % side;
      const int z = static_cast<int>(i) / (side * side);
      prisms.push_back({50.0 * x, 50.0 * (x + 1), 50.0 * y, 50.0 * (y + 1), -50.0 * (z + 1), -50.0 * z,
                        masses == Masses::cells ? density() : 500.0});
    }
    return prisms;
  }
  for (std::size_t i = 0; i < n; ++i) {
    double x = draw(0, 2000), y = draw(0, 2000), z = draw(-1000, -100);
    if (masses == Masses::clustered) {
      const double spread = std::pow(0.02, draw(0, 1));
      x = 300 + 400 * static_cast<double>(i % 4) + spread * draw(-200, 200);
      y = 1000 + spread * draw(-200, 200);
      z = -500 + spread * draw(-200, 200);
    }
    double dx = draw(5, 60), dy = draw(5, 60), dz = draw(5, 60);
    if (masses == Masses::needles) (i % 3 == 0 ? dx : i % 3 == 1 ? dy : dz) = draw(100, 600), dz = std::min(dz, -z);
    if (masses == Masses::huge_among_small && i % 500 == 7) dx = dy = 1500;
    prisms.push_back({x, x + dx, y, y + dy, z, z + dz, density()});
  }
  return prisms;
}

inline std::vector<Point> random_points(Places places, const std::vector<Prism>& prisms, std::size_t n,
                                        std::uint64_t seed) {
  Draw draw(seed + 1000);
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = draw(-100, 2100), y = draw(-100, 2100);
    switch (places) {
      case Places::above: points.push_back({x, y, draw(80, 300)}); break;
      case Places::on_top: points.push_back({x, y, 0.5}); break;
      case Places::inside: points.push_back({x, y, draw(-900, 0)}); break;
      case Places::far: points.push_back({5 * x, 5 * y, draw(3000, 5000)}); break;
      case Places::on_faces: {
        const Prism& p = prisms[static_cast<std::size_t>(draw(0, 0.999) * static_cast<double>(prisms.size()))];
        points.push_back({draw(p.west, p.east), draw(p.south, p.north), i % 2 == 0 ? p.top : p.bottom});
        break;
      }
    }
  }
  return points;
}

/// Largest value of each native field, (field, point).
inline std::array<double, n_gravity_fields> largest_values(const std::vector<double>& values) {
  const std::size_t n = values.size() / n_gravity_fields;
  std::array<double, n_gravity_fields> size{};
  for (std::size_t f = 0; f < n_gravity_fields; ++f) {
    for (std::size_t i = 0; i < n; ++i) size[f] = std::max(size[f], std::abs(values[f * n + i]));
  }
  return size;
}

/// Errors of native fields, each relative to its largest value.
inline std::array<double, n_gravity_fields> errors_of(const std::vector<double>& values,
                                                      const std::vector<double>& exact) {
  const std::array<double, n_gravity_fields> size = largest_values(exact);
  std::vector<double> difference(values);
  for (std::size_t i = 0; i < values.size(); ++i) difference[i] -= exact[i];
  std::array<double, n_gravity_fields> error = largest_values(difference);
  for (std::size_t f = 0; f < n_gravity_fields; ++f) error[f] /= size[f];
  return error;
}

/// For each order of derivatives of gravity the largest value of its smallest component.
inline FieldSizes smallest_sizes(const std::vector<double>& exact) {
  const std::array<double, n_gravity_fields> size = largest_values(exact);
  return {size[0], *std::min_element(size.begin() + 1, size.begin() + 4),
          *std::min_element(size.begin() + 4, size.end()), infinite_size};
}

}  // namespace prismfield::testing
