// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/points.hpp>

#include "base/random.hpp"
#include "list_ensemble.hpp"
#include "model/points.hpp"

/// Regular meshes and points on lattices, for the tests of convolutions.
namespace prismfield::testing {

[[nodiscard]] inline double uniform(std::uint64_t seed, std::size_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

/// Cells of 50 m x 40 m from a corner on, easting fastest, densities of either sign.
struct SampleMesh {
  int nx = 7, ny = 5;
  /// bottom and top
  std::vector<std::array<double, 2>> layers = {{-120, -80}, {-80, -50}, {-50, 0}};
  double east = 0, north = 0;

  [[nodiscard]] std::vector<Prism> prisms() const {
    std::vector<Prism> all;
    for (const auto& [bottom, top] : layers) {
      for (int j = 0; j < ny; ++j) {
        for (int i = 0; i < nx; ++i) {
          all.push_back({east + 50.0 * i, east + 50.0 * (i + 1), north + 40.0 * j, north + 40.0 * (j + 1), bottom, top,
                         uniform(8, all.size(), -300, 300)});
        }
      }
    }
    return all;
  }
};

/// n coordinates from the first one on.
struct SampleAxis {
  double first, step;
  int n;
};

/// A grid whose heights are height(number of the point).
template <class Height>
[[nodiscard]] Points sample_grid(const SampleAxis& easting, const SampleAxis& northing, const Height& height) {
  Points points;
  for (int j = 0; j < northing.n; ++j) {
    for (int i = 0; i < easting.n; ++i) {
      points.upward.push_back(height(points.easting.size()));
      points.easting.push_back(easting.first + easting.step * i);
      points.northing.push_back(northing.first + northing.step * j);
    }
  }
  return points;
}
[[nodiscard]] inline Points flat_grid(const SampleAxis& easting, const SampleAxis& northing, double height) {
  return sample_grid(easting, northing, [height](std::size_t) { return height; });
}

/// The same points in another order, those whose number is a multiple of `dropped` missing, and the first one twice.
[[nodiscard]] inline Points shuffled(const Points& points, std::int64_t dropped) {
  std::vector<std::int64_t> order = {0};
  const std::int64_t n = points.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t number = i * 7 % n;
    if (number % dropped != 0 || number == 0) order.push_back(number);
  }
  return chosen_points(points, order);
}

}  // namespace prismfield::testing
