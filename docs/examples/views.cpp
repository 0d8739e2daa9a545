// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/make_operator.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Operator = prismfield::Operator<Space>;
using Vector = Operator::Vector;

/// The largest eigenvalue of G'G by power iteration; the vectors never leave the space's memory.
double largest_eigenvalue(const Space& space, Operator& g, int iterations) {
  const Vector density("density", g.columns());
  const Vector fields("fields", g.rows());
  Kokkos::deep_copy(space, density, 1.0);
  double eigenvalue = 0;
  for (int i = 0; i < iterations; ++i) {
    const double size = std::sqrt(g.dot_densities(space, density, density));
    g.apply(space, 1 / size, density, 0, fields);
    eigenvalue = g.dot_fields(space, fields, fields);
    g.apply_transpose(space, fields, density);
  }
  return eigenvalue;
}

/// What two densities leave of the same data, data - G density, by one pass over G; sizes of both.
void print_residuals(const Space& space, Operator& g, const Vector& data) {
  const Operator::Vectors densities("densities", g.columns(), 2), residuals("residuals", g.rows(), 2);
  for (const int v : {0, 1}) {
    Kokkos::deep_copy(space, Kokkos::subview(densities, Kokkos::ALL, v), 100.0 * (v + 1));
    Kokkos::deep_copy(space, Kokkos::subview(residuals, Kokkos::ALL, v), data);
  }
  g.apply(space, -1, densities, 1, residuals);
  for (const int v : {0, 1}) {
    const auto residual = Kokkos::subview(residuals, Kokkos::ALL, v);
    std::printf("%d kg/m3 leave %.3e m/s2\n", 100 * (v + 1), std::sqrt(g.dot_fields(space, residual, residual)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  // a program's own Kokkos: the library needs no Runtime then
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    const std::vector<double> west{0, 100, 200}, east{100, 200, 300}, south(3, -50), north(3, 50);
    const std::vector<double> bottom{-90, -130, -110}, top(3, -50), density(3, 0);
    const prismfield::PrismList prisms({west, east, south, north, bottom, top, density});
    const prismfield::Points points{{-50, 50, 150, 250, 350}, std::vector<double>(5, 0), std::vector<double>(5, 2)};
    const Space space;
    const auto g = prismfield::make_operator(
        space, prisms, points, {.fields = {prismfield::Field::gz}},
        {.store = prismfield::Store::memory, .precision = prismfield::StoredPrecision::double_});
    std::printf("largest eigenvalue of G'G: %.6e\n", largest_eigenvalue(space, *g, 20));
    const Vector truth("truth", g->columns()), data("data", g->rows());
    Kokkos::deep_copy(space, truth, 200.0);
    g->apply(space, truth, data);
    print_residuals(space, *g, data);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
