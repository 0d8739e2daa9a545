// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

#include <prismfield/communicator.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/runtime.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

/// A cube of 1 m and 1000 kg/m3 around the origin.
class Cube : public prismfield::PrismSource {
public:
  [[nodiscard]] std::int64_t size() const noexcept override { return 1; }
  [[nodiscard]] prismfield::Bounds bounds() const noexcept override { return {-0.5, 0.5, -0.5, 0.5, -0.5, 0.5}; }
  void read(prismfield::IndexRange range, prismfield::PrismBlock& out) const override {
    const auto n = static_cast<std::size_t>(range.size());
    for (auto* column : {&out.west, &out.south, &out.bottom}) column->assign(n, -0.5);
    for (auto* column : {&out.east, &out.north, &out.top}) column->assign(n, 0.5);
    out.density.assign(n, 1000);
  }
};

/// gz by a stored G, in half precision.
double by_stored_operator(const Cube& cube, const prismfield::Points& points, const prismfield::Request& request) {
  prismfield::StorageSettings settings;
  settings.store = prismfield::Store::memory;
  settings.precision = prismfield::StoredPrecision::float16;
  prismfield::StorageChoice choice;
  prismfield::HostOperator g(cube, points, request, settings, {}, &choice);
  std::vector<double> field(1);
  g.apply(std::vector<double>{1000}, field);
  return choice.bytes > 0 ? field[0] : 0;
}

/// gz at a point in memory of the program's own, into such memory, from forward() and from an operator.
std::vector<double> by_own_columns(const Cube& cube, const prismfield::Request& request, double height) {
  const double place[3] = {0, 0, height};
  double values[2] = {};
  const prismfield::PointColumns columns{{&place[0], 1}, {&place[1], 1}, {&place[2], 1}};
  prismfield::forward_into({&values[0], 1}, cube, columns, request);
  prismfield::HostOperator(cube, columns, request).apply(std::vector<double>{1000}, {&values[1], 1});
  return values[0] == values[1] ? std::vector<double>{values[0]} : std::vector<double>();
}

/// The density of the cube out of its gz.
double by_inversion(const prismfield::Points& points, double gz) {
  const prismfield::ActiveCells cells({{{-0.5, 0.5}, {-0.5, 0.5}, {-0.5, 0.5}}});
  prismfield::InversionInput input;
  input.cells = &cells;
  input.data.resize(1);
  input.data[0].points = points;
  input.data[0].fields = {prismfield::Field::gz};
  input.data[0].values = {gz};
  input.data[0].sigma = {1e-6 * std::abs(gz)};
  input.settings.beta = 1e-9;
  input.settings.weighting.kind = prismfield::WeightingKind::none;
  return prismfield::invert(input).model.values.at(0);
}

int run(int argc, char** argv) {
  const prismfield::Runtime runtime(argc, argv);
  const Cube cube;
  prismfield::Request request;
  request.fields = {prismfield::Field::gz};
  const double height = 100;
  prismfield::Points points;
  points.easting = {0};
  points.northing = {0};
  points.upward = {height};
  const prismfield::Fields result = prismfield::forward(cube, points, request);

  // From a hundred edges away a cube is a point mass up to the fourth power of edge over distance.
  const double expected = -request.gravitational_constant * 1000 / (height * height);
  const double error = std::abs(result.values.at(0) / expected - 1);
  std::printf("gz %.15g m/s2, point mass %.15g\n", result.values.at(0), expected);
  const bool is_same = by_own_columns(cube, request, height) == result.values;
  const double stored = by_stored_operator(cube, points, request);
  std::printf("by a stored G %.15g m/s2\n", stored);
  const double density = by_inversion(points, result.values.at(0));
  std::printf("inverted %.15g kg/m3\n", density);
  const bool is_stored_right = std::abs(stored / result.values.at(0) - 1) < 1e-3;
  return error < 1e-7 && is_same && is_stored_right && std::abs(density / 1000 - 1) < 1e-3 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
