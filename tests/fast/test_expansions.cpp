// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Expansions against direct sums: moments of boxes, translations and fields, for a number, as a device has them, and
// for a host's lanes.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "base/random.hpp"
#include "forward_helpers.hpp"
#include "magnets.hpp"
#include "operators/tree/far_steps.hpp"
#include "operators/tree/host_steps.hpp"

namespace prismfield::testing::test_expansions {
namespace {

using Host = Kokkos::HostSpace;
using HostRun = Kokkos::DefaultHostExecutionSpace;
using fast::FarStep;
using fast::n_terms;
using fast::term;

double uniform(std::uint64_t seed, std::uint64_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

struct Boxes {
  std::vector<Prism> prisms;
  std::vector<Point> points;
};

/// Two leaves and their parent, of which the leaves hold so many items each.
fast::Cells<Host> three_cells(std::int64_t per_leaf, const std::array<Point, 3>& centres, double radius) {
  fast::Cells<Host> cells;
  cells.centre = decltype(cells.centre)("centre", 3);
  cells.radius = decltype(cells.radius)("radius", 3);
  cells.scale = decltype(cells.scale)("scale", 3);
  cells.begin = decltype(cells.begin)("begin", 3);
  cells.end = decltype(cells.end)("end", 3);
  cells.child = decltype(cells.child)("child", 3);
  cells.parent = decltype(cells.parent)("parent", 3);
  for (int c = 0; c < 3; ++c) {
    for (int d = 0; d < 3; ++d) cells.centre(c, d) = centres[static_cast<std::size_t>(c)][static_cast<std::size_t>(d)];
    cells.radius(c) = cells.scale(c) = c == 0 ? 2 * radius : radius * (1 + 0.1 * c);
    cells.child(c) = c == 0 ? 1 : -1;
    cells.parent(c) = c == 0 ? -1 : 0;
  }
  cells.end(0) = cells.end(2) = 2 * per_leaf;
  cells.end(1) = cells.begin(2) = per_leaf;
  return cells;
}

/// Sources around the origin and points at `away` from them, each in two leaves under a root.
struct Scene {
  static constexpr int per_leaf = 13;
  static constexpr int padded = 16;
  std::vector<Prism> prisms;
  std::vector<Point> points;
  fast::FarData<Host> up, down;

  Scene(int degree, const Point& away, bool one_shape = false) {
    const std::array<Point, 3> sources = {{{0, 0, 0}, {-8, 1, 2}, {9, -1, -3}}};
    std::array<Point, 3> targets = {{{0, 0, 0}, {7, 2, -4}, {-9, 1, 3}}};
    for (Point& c : targets) {
      for (std::size_t d = 0; d < 3; ++d) c[d] += away[d];
    }
    make_items(sources, targets, one_shape);
    up.tables = fast::expansion_tables(HostRun());
    up.degree = degree;
    up.first = 1;
    up.last = 3;
    up.n_fields = n_gravity_fields;
    for (int f = 0; f < n_gravity_fields; ++f) up.field[f] = f;
    const Kokkos::View<std::int32_t*, Host> leaves("leaves", 2);
    leaves(0) = 1;
    leaves(1) = 2;
    up.leaves = leaves;
    put_items();
    down = up;
    up.to = {three_cells(per_leaf, sources, 12), Values("sources", 3, 2 * n_terms(degree))};
    down.to = {three_cells(per_leaf, targets, 11), Values("targets", 3, 2 * n_terms(degree))};
    up.from = down.to;
    down.from = up.to;
    down.points.first = Kokkos::View<std::int64_t*, Host>("first", 3);
    down.points.first(2) = padded;
    // each root takes the other
    const Kokkos::View<std::int64_t*, Host> begin("begin", 4);
    begin(1) = begin(2) = begin(3) = 1;
    const Kokkos::View<std::int32_t*, Host> partner("partner", 1), of_degree("degree", 1);
    of_degree(0) = degree;
    up.rows = down.rows = {begin, partner, of_degree};
  }

  /// Makes the prisms sources of B and its gradient by their magnetisation.
  void magnetise(const PrismSource& magnets) {
    PrismBlock block;
    magnets.read({0, magnets.size()}, block);
    up.prisms.direction = Values("direction", 3, up.prisms.mass.extent(0));
    for (std::size_t i = 0; i < prisms.size(); ++i) {
      const auto& m = block.magnetization;
      const double size = std::hypot(m[0][i], m[1][i], m[2][i]);
      up.prisms.mass(i) = size * prisms[i].volume();
      for (std::size_t d = 0; d < 3; ++d) up.prisms.direction(d, i) = m[d][i] / size;
    }
    down.prisms = up.prisms;
    for (fast::FarData<Host>* data : {&up, &down}) {
      data->n_fields = n_gravity_fields - 1;
      for (int f = 0; f < data->n_fields; ++f) data->field[f] = 1 + f;
    }
  }

  /// The way of a product: moments, exchange, fields; or of a transposed one.
  void product() {
    // two leaves
    const int at_once = in_lanes ? fast::lanes_of_host() : 1;
    run(FarStep::moments_of_prisms, up, (2 + at_once - 1) / at_once);
    run(FarStep::moments_to_parents, up, 1);
    run(FarStep::exchange, down, 3);
    run(FarStep::locals_to_children, down, 1);
    run(FarStep::fields_at_points, down, 2);
  }
  void transposed() {
    run(FarStep::moments_of_points, down, 2);
    run(FarStep::moments_to_parents, down, 1);
    run(FarStep::exchange, up, 3);
    run(FarStep::locals_to_children, up, 1);
    run(FarStep::sums_of_prisms, up, 2);
  }

  bool in_lanes = true;
  void run(FarStep step, const fast::FarData<Host>& data, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) {
      if (in_lanes) {
        fast::step_on_host(step, data, i);
      } else {
        fast::with_step(step, [&](auto of) {
          std::vector<double> room(static_cast<std::size_t>(
              fast::room_numbers<decltype(of), double>(data.degree, data.prisms.are_magnetised())));
          of.template run<double>(fast::Alone(), data, i, fast::Room<double>{room.data()});
        });
      }
    }
  }

private:
  using Values = Kokkos::View<double**, Kokkos::LayoutRight, Host>;

  void make_items(const std::array<Point, 3>& sources, const std::array<Point, 3>& targets, bool one_shape) {
    for (std::uint64_t i = 0; i < 2 * per_leaf; ++i) {
      const Point& c = sources[1 + i / per_leaf];
      const Point& t = targets[1 + i / per_leaf];
      const double x = c[0] + uniform(1, i, -5, 4), y = c[1] + uniform(2, i, -5, 4), z = c[2] + uniform(3, i, -5, 4);
      const std::uint64_t shape = one_shape ? 0 : i;
      prisms.push_back({x, x + uniform(4, shape, 0.1, 3), y, y + uniform(5, shape, 0.1, 3), z,
                        z + uniform(6, shape, 0.1, 3), uniform(7, i, -1, 2)});
      points.push_back({t[0] + uniform(8, i, -5, 5), t[1] + uniform(9, i, -5, 5), t[2] + uniform(10, i, -5, 5)});
    }
  }
  void put_items() {
    const int n = 2 * per_leaf;
    up.prisms.centre = Values("centre", 3, n + 16);
    up.prisms.half = Values("half", 3, n + 16);
    up.prisms.mass = Kokkos::View<double*, Host>("mass", n + 16);
    up.prisms.sums = Kokkos::View<double*, Host>("sums", n + 16);
    up.points.place = Values("place", 3, 2 * padded);
    up.points.values = Values("values", n_gravity_fields, 2 * padded);
    for (int i = 0; i < n; ++i) {
      const Prism& p = prisms[static_cast<std::size_t>(i)];
      const double low[3] = {p.west, p.south, p.bottom}, high[3] = {p.east, p.north, p.top};
      up.prisms.mass(i) = p.density;
      for (int d = 0; d < 3; ++d) {
        up.prisms.centre(d, i) = (low[d] + high[d]) / 2;
        up.prisms.half(d, i) = (high[d] - low[d]) / 2;
        up.prisms.mass(i) *= high[d] - low[d];
      }
    }
    for (int i = 0; i < 2 * padded; ++i) {
      const int leaf = i / padded;
      const Point& p = points[static_cast<std::size_t>(leaf * per_leaf + std::min(i % padded, per_leaf - 1))];
      for (int d = 0; d < 3; ++d) up.points.place(d, i) = p[static_cast<std::size_t>(d)];
    }
  }
};

double field_of(const Scene& scene, std::size_t f, std::size_t point) {
  const std::size_t leaf = point / Scene::per_leaf;
  return scene.down.points.values(f, leaf * Scene::padded + point % Scene::per_leaf);
}

/// Largest error of each order of derivatives, relative to its largest value.
std::array<double, 3> errors_of(const Scene& scene) {
  const std::vector<TenValues> exact = compute({}, scene.prisms, scene.points);
  std::array<double, 3> error{}, size{};
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (std::size_t f = 0; f < n_gravity_fields; ++f) {
      const auto q = static_cast<std::size_t>(native_derivatives[f].order());
      size[q] = std::max(size[q], std::abs(exact[i][f]));
      error[q] = std::max(error[q], std::abs(exact[i][f] - field_of(scene, f, i)));
    }
  }
  for (std::size_t q = 0; q < 3; ++q) error[q] /= size[q];
  return error;
}

class InLanes : public ::testing::TestWithParam<bool> {};

TEST_P(InLanes, ReachesTheFieldAsTheDegreeGrows) {
  for (const Point& away : {Point{110, 170, 90}, Point{0, 0, -200}, Point{200, 0, 0}, Point{0, -210, 1}}) {
    for (const int degree : {4, 6, 9, 12, 16, 20, 24}) {
      Scene scene(degree, away);
      scene.in_lanes = GetParam();
      scene.product();
      // (a + b)/d is 0.24 at most; the tensor has two degrees less
      const std::array<double, 3> error = errors_of(scene);
      EXPECT_LT(error[0], 1e-13 + std::pow(0.22, degree + 1)) << degree;
      EXPECT_LT(error[1], 2e-13 + degree * std::pow(0.22, degree)) << degree;
      EXPECT_LT(error[2], 4e-13 + degree * degree * std::pow(0.22, degree - 1)) << degree;
    }
  }
}

TEST_P(InLanes, TransposesToRounding) {
  for (const int degree : {2, 5, 10, 17, 24}) {
    Scene scene(degree, {60, 20, 40});
    scene.in_lanes = GetParam();
    scene.product();
    double forward_sum = 0, size = 0;
    std::vector<std::vector<double>> factor(n_gravity_fields, std::vector<double>(scene.points.size()));
    for (std::size_t f = 0; f < n_gravity_fields; ++f) {
      for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const double largest = native_derivatives[f].order() == 0 ? 1 : native_derivatives[f].order() == 1 ? 1e2 : 1e4;
        factor[f][i] = uniform(20 + f, i, -1, 1) * largest;
        forward_sum += factor[f][i] * field_of(scene, f, i);
        size += std::abs(factor[f][i] * field_of(scene, f, i));
      }
    }
    Kokkos::deep_copy(scene.up.to.values, 0.0);
    Kokkos::deep_copy(scene.down.to.values, 0.0);
    Kokkos::deep_copy(scene.down.points.values, 0.0);
    for (std::size_t f = 0; f < n_gravity_fields; ++f) {
      for (std::size_t i = 0; i < scene.points.size(); ++i) {
        scene.down.points.values(f, i / Scene::per_leaf * Scene::padded + i % Scene::per_leaf) = factor[f][i];
      }
    }
    scene.transposed();
    double transposed_sum = 0;
    for (std::size_t p = 0; p < scene.prisms.size(); ++p) {
      transposed_sum += scene.up.prisms.sums(p);
    }
    EXPECT_NEAR(forward_sum, transposed_sum, 1e-14 * size) << degree;
  }
}

TEST_P(InLanes, TakesMagnetisedPrisms) {
  const FieldList fields = fields_of(FieldSet::magnetic_gradient);
  const Request request = make_request({}, fields);
  // of factors, so that gradients count beside B
  const auto weight = [&](std::size_t f) { return f < 3 ? 1.0 : 1e4; };
  for (const bool one_shape : {false, true}) {
    for (const int degree : {4, 9, 16, 24}) {
      Scene scene(degree, {110, 170, 90}, one_shape);
      scene.in_lanes = GetParam();
      const Magnets magnets(scene.prisms);
      scene.magnetise(magnets);
      scene.product();
      const std::vector<double> exact = run_forward(request, magnets, scene.points).values;
      double size[2] = {}, error[2] = {}, squares = 0;
      for (std::size_t k = 0; k < exact.size(); ++k) {
        const std::size_t f = k / scene.points.size(), i = k % scene.points.size(), q = f < 3 ? 0 : 1;
        const double value = field_of(scene, f, i);
        const double expected = exact[k] / request.constant(true);
        size[q] = std::max(size[q], std::abs(expected));
        error[q] = std::max(error[q], std::abs(expected - value));
        squares += weight(f) * value * value;
      }
      EXPECT_LT(error[0], (4e-13 + std::pow(degree, 2) * std::pow(0.22, degree - 1)) * size[0]) << degree;
      EXPECT_LT(error[1], (8e-13 + std::pow(degree, 3) * std::pow(0.22, degree - 2)) * size[1]) << degree;
      // the fields as factors of the transposed product, none in padding
      for (int leaf = 0; leaf < 2; ++leaf) {
        for (int i = leaf * Scene::padded; i < (leaf + 1) * Scene::padded; ++i) {
          const bool counts = i < leaf * Scene::padded + Scene::per_leaf;
          for (std::size_t f = 0; f < 9; ++f) scene.down.points.values(f, i) *= counts ? weight(f) : 0;
        }
      }
      Kokkos::deep_copy(scene.up.to.values, 0.0);
      Kokkos::deep_copy(scene.down.to.values, 0.0);
      scene.transposed();
      double sums = 0;
      for (std::size_t p = 0; p < scene.prisms.size(); ++p) sums += scene.up.prisms.sums(p);
      EXPECT_NEAR(sums, squares, 1e-13 * squares) << degree;
    }
  }
}

// Moments about the root, whether they come from the leaves or from the prisms at once.
TEST_P(InLanes, MovesMomentsExactly) {
  for (const int degree : {2, 4, 11, 24}) {
    Scene scene(degree, {100, 0, 0});
    scene.in_lanes = GetParam();
    scene.run(FarStep::moments_of_prisms, scene.up, 2);
    scene.run(FarStep::moments_to_parents, scene.up, 1);
    Scene at_once(degree, {100, 0, 0});
    const Kokkos::View<std::int32_t*, Host> root("root", 1);
    at_once.up.leaves = root;
    at_once.run(FarStep::moments_of_prisms, at_once.up, 1);
    const int n = 2 * n_terms(degree);
    double size = 0;
    for (int i = 0; i < n; ++i) size = std::max(size, std::abs(at_once.up.to.values(0, i)));
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(scene.up.to.values(0, i), at_once.up.to.values(0, i), 3e-15 * size) << i;
    }
  }
}

// A lane's own degree is exact: a row of several degrees is the sum of rows of one degree each.
TEST_P(InLanes, KeepsEachPairsDegree) {
  const auto locals = [&](const std::vector<int>& degrees) {
    Scene scene(20, {70, 30, -20});
    scene.in_lanes = GetParam();
    scene.run(FarStep::moments_of_prisms, scene.up, 2);
    const auto n = degrees.size();
    const Kokkos::View<std::int64_t*, Host> begin("begin", 4);
    begin(1) = begin(2) = begin(3) = static_cast<std::int64_t>(n);
    const Kokkos::View<std::int32_t*, Host> partner("partner", n), degree("degree", n);
    for (std::size_t i = 0; i < n; ++i) {
      partner(i) = 1 + static_cast<std::int32_t>(i % 2);
      degree(i) = degrees[i];
    }
    scene.down.rows = {begin, partner, degree};
    scene.run(FarStep::exchange, scene.down, 1);
    return scene.down.to.values;
  };
  const std::vector<int> degrees = {3, 20, 7, 12, 2, 9, 18, 4, 5, 16, 11};
  const auto together = locals(degrees);
  for (int i = 0; i < 2 * n_terms(20); ++i) {
    double sum = 0, size = 0;
    for (std::size_t k = 0; k < degrees.size(); ++k) {
      // at the same place of the row, for its own partner
      const auto alone = locals(k % 2 == 0 ? std::vector<int>{degrees[k]} : std::vector<int>{-1, degrees[k]});
      sum += alone(0, i);
      size += std::abs(alone(0, i));
    }
    EXPECT_NEAR(together(0, i), sum, 1e-14 * size) << i;
    if (i > 4) i += 40;
  }
}

INSTANTIATE_TEST_SUITE_P(Numbers, InLanes, ::testing::Bool(),
                         [](const auto& numbers) { return numbers.param ? "lanes" : "alone"; });

}  // namespace
}  // namespace prismfield::testing::test_expansions
