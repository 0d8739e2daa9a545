// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

#include <prismfield/communicator.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/runtime.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

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
  return error < 1e-7 ? 0 : 1;
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
