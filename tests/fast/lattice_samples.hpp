// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

struct Sample {
  std::string name;
  std::vector<Prism> prisms;
  Points points;
  /// asked for, and of the largest value of a field
  double tolerance = 1e-12, error = 1e-12;
  std::optional<std::int64_t> memory_limit = {};
};

/// Heights above the mass that differ from point to point.
[[nodiscard]] inline double draped(std::size_t i) { return uniform(5, i, 60, 140); }

[[nodiscard]] inline std::vector<Sample> samples() {
  const std::vector<Prism> prisms = SampleMesh().prisms();
  const SampleAxis easting{25, 50, 7}, northing{20, 40, 5};
  const Points centres = flat_grid(easting, northing, 30);
  std::vector<Sample> all = {
      {"centres", prisms, centres},
      {"corners", prisms, flat_grid({0, 50, 8}, {0, 40, 6}, 30)},
      {"offset", prisms, flat_grid({-131.5, 50, 11}, {17.25, 40, 6}, 30)},
      {"far", prisms, flat_grid({30025, 50, 5}, {-20020, 40, 5}, 100)},
      {"two_cells", prisms, flat_grid({25, 100, 4}, {0, 80, 3}, 30)},
      {"three_cells", prisms, flat_grid({-10, 150, 4}, {20, 120, 3}, 30)},
      {"half_cells", prisms, flat_grid({0, 25, 15}, {10, 20, 11}, 30)},
      {"third_of_cells", prisms, flat_grid({0, 50.0 / 3, 22}, {0, 40.0 / 3, 16}, 30)},
      {"two_thirds_of_cells", prisms, flat_grid({5, 100.0 / 3, 11}, {0, 80.0 / 3, 9}, 30)},
      {"two_spacings", prisms, flat_grid({0, 25, 15}, {-40, 80, 4}, 30)},
      {"heights", prisms,
       sample_grid(easting, northing, [](std::size_t i) { return 10 + 35 * static_cast<double>(i % 3); })},
      // on faces and corners, between and inside cells
      {"top", prisms, flat_grid({0, 25, 15}, {0, 20, 11}, 0)},
      {"between_layers", prisms, flat_grid({0, 25, 15}, {0, 20, 11}, -50)},
      {"inside", prisms,
       sample_grid(easting, northing, [](std::size_t i) { return -100 + 33 * static_cast<double>(i % 4); })},
      {"below", prisms, flat_grid(easting, northing, -300)},
      {"one_layer", SampleMesh{7, 5, {{-50, 0}}}.prisms(), centres},
      {"one_row", SampleMesh{7, 1}.prisms(), flat_grid({25, 50, 7}, {27, 40, 1}, 30)},
      {"one_column", SampleMesh{1, 9}.prisms(), flat_grid({0, 50, 2}, {0, 40, 10}, 30)},
      {"one_prism", SampleMesh{1, 1, {{-50, 0}}}.prisms(), centres},
      {"one_point", prisms, flat_grid({33, 50, 1}, {14, 40, 1}, 12)},
      {"large_coordinates", SampleMesh{7, 5, {{-90, -30}, {-30, 0}}, 500000, 7654320}.prisms(),
       flat_grid({500025, 25, 13}, {7654320, 40, 5}, 30)},
      // longer than a work item's frequencies, and than the points of a launch
      {"large", SampleMesh{70, 51, {{-50, 0}}}.prisms(), flat_grid({25, 50, 63}, {20, 40, 47}, 30)},
      {"points_anywhere", prisms, shuffled(flat_grid({0, 25, 15}, {10, 20, 11}, 30), 4)},
      {"draped", prisms, sample_grid(easting, northing, draped), 1e-8, 1e-8},
      {"draped_half_cells", prisms, sample_grid({0, 25, 15}, {0, 20, 11}, draped), 1e-5, 1e-5},
  };
  const auto change = [&](const std::string& name, auto&& f) {
    Sample sample = all.front();
    sample.name = name;
    f(sample);
    all.push_back(sample);
  };
  change("missing_cells", [](Sample& s) { std::erase_if(s.prisms, [](const Prism& p) { return p.density > 100; }); });
  change("numbered_backwards", [](Sample& s) { std::reverse(s.prisms.begin(), s.prisms.end()); });
  change("numbered_by_columns", [](Sample& s) {
    std::stable_sort(s.prisms.begin(), s.prisms.end(), [](const Prism& a, const Prism& b) {
      return std::pair(a.south, a.west) < std::pair(b.south, b.west);
    });
  });
  change("cells_twice", [](Sample& s) { s.prisms.insert(s.prisms.end(), {s.prisms[3], s.prisms[40], s.prisms[3]}); });
  return all;
}

/// A mesh with points that a convolution takes, of any kind, as the seed has it. Coordinates are small enough that
/// their rounding does not count, which differs between the lattice and the coordinates that the direct method takes.
[[nodiscard]] inline Sample random_sample(std::uint64_t seed) {
  std::size_t drawn = 0;
  const auto number = [&](double low, double high) { return uniform(seed, drawn++, low, high); };
  const auto count = [&](int most) { return 1 + static_cast<int>(number(0, most)); };
  SampleMesh mesh{count(12), count(12), {}, number(-1e3, 1e3), number(-1e3, 1e3)};
  double bottom = number(-900, -500);
  for (int layer = count(5); layer > 0; --layer) {
    const double top = bottom + std::pow(10.0, number(-0.5, 2));
    mesh.layers.push_back({bottom, top});
    bottom = top;
  }
  Sample sample{"seed " + std::to_string(seed), mesh.prisms(), {}};
  const auto axis = [&](double corner, double cell) {
    const double step = cell * count(4) / count(4);
    return SampleAxis{corner + number(-10, 10) * cell, step, count(12)};
  };
  const SampleAxis easting = axis(mesh.east, 50), northing = axis(mesh.north, 40);
  const double top = bottom, above = number(1, 100), depth = number(0, 300);
  switch (seed % 4) {
    case 0: sample.points = flat_grid(easting, northing, top + above); break;
    case 1: sample.points = flat_grid(easting, northing, top - depth); break;
    case 2:
      sample.points = sample_grid(easting, northing,
                                  [&](std::size_t i) { return top + above - depth * static_cast<double>(i % 3); });
      break;
    default:
      sample.tolerance = sample.error = std::pow(10.0, number(-11, -3));
      sample.points =
          sample_grid(easting, northing, [&](std::size_t i) { return top + above * uniform(seed + 1, i, 1, 3); });
  }
  return sample;
}

}  // namespace prismfield::testing
