// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/host_operator.hpp>
#include <prismfield/runtime.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

using Vector = std::vector<double>;

/// a + factor b
void add(Vector& a, double factor, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

/// Densities m of least |G m - data|^2 + damping |m|^2, by conjugate gradients (CGLS).
Vector least_squares(prismfield::HostOperator& g, const Vector& data, double damping, int iterations) {
  Vector model(static_cast<std::size_t>(g.columns())), gradient(model.size());
  Vector residual = data, image(data.size());
  g.apply_transpose(residual, gradient);
  Vector direction = gradient;
  double gamma = g.dot_densities(gradient, gradient);
  for (int i = 0; i < iterations; ++i) {
    g.apply(direction, image);
    const double step = gamma / (g.dot_fields(image, image) + damping * g.dot_densities(direction, direction));
    add(model, step, direction);
    add(residual, -step, image);
    g.apply_transpose(residual, gradient);
    add(gradient, -damping, model);
    const double next = g.dot_densities(gradient, gradient);
    for (std::size_t p = 0; p < direction.size(); ++p) direction[p] = gradient[p] + next / gamma * direction[p];
    gamma = next;
    std::printf("%2d  misfit %.3e mGal\n", i + 1,
                1e5 * std::sqrt(g.dot_fields(residual, residual) / static_cast<double>(g.rows())));
  }
  return model;
}

/// 8 x 8 x 4 cells of 100 m.
struct Cells {
  Vector west, east, south, north, bottom, top, density;
  Cells() {
    for (int i = 0; i < 256; ++i) {
      const double x = 100.0 * (i % 8), y = 100.0 * (i / 8 % 8), z = -400 + 100.0 * (i / 64);
      west.push_back(x), east.push_back(x + 100);
      south.push_back(y), north.push_back(y + 100);
      bottom.push_back(z), top.push_back(z + 100);
      density.push_back(i == 155 || i == 156 || i == 219 ? 500 : 0);
    }
  }
};

void run() {
  const prismfield::Runtime runtime;
  const Cells cells;
  const prismfield::PrismList prisms(
      {cells.west, cells.east, cells.south, cells.north, cells.bottom, cells.top, cells.density});
  prismfield::Points points;
  for (int i = 0; i < 144; ++i) {
    points.easting.push_back(70.0 * (i % 12));
    points.northing.push_back(70.0 * (i / 12));
    points.upward.push_back(20);
  }
  // 144 x 256 entries, computed once
  prismfield::StorageChoice storage;
  prismfield::HostOperator g(prisms, points, {.fields = {prismfield::Field::gz}},
                             {.store = prismfield::Store::memory, .precision = prismfield::StoredPrecision::float_}, {},
                             &storage);
  std::printf("G takes %lld bytes\n", static_cast<long long>(storage.bytes));
  Vector data(static_cast<std::size_t>(g.rows()));
  g.apply(cells.density, data);

  Vector weights(data.size(), 1), diagonal(cells.density.size());
  g.diagonal(weights, diagonal);
  const Vector model = least_squares(g, data, 1e-3 * diagonal[0], 12);
  for (const std::size_t cell : {155U, 156U, 219U, 0U}) std::printf("cell %3zu  %6.1f kg/m3\n", cell, model[cell]);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
