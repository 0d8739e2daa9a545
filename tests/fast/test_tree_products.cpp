// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Products of trees against direct sums, their transposes, and their bits on several threads; the bound of exchanges.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "engine/staged_prisms.hpp"
#include "operators/tree/tree_products.hpp"
#include "tree_cases.hpp"

namespace prismfield::testing::test_tree_products {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Products = fast::TreeProducts<Space>;
using Vector = Kokkos::View<double*, Space::memory_space>;

PrismBlock block_of(const std::vector<Prism>& prisms) {
  PrismBlock block;
  block.resize(static_cast<std::int64_t>(prisms.size()));
  for (std::size_t i = 0; i < prisms.size(); ++i) {
    const Prism& p = prisms[i];
    block.west[i] = p.west, block.east[i] = p.east, block.south[i] = p.south, block.north[i] = p.north;
    block.bottom[i] = p.bottom, block.top[i] = p.top, block.density[i] = p.density;
  }
  return block;
}

template <class AnySpace>
fast::TreeProducts<AnySpace> products_of(const AnySpace& space, const std::vector<Prism>& prisms,
                                         const PointColumns& points, const fast::TreeSettings& settings) {
  const PrismBlock block = block_of(prisms);
  return {space, PrismList(block.columns()), {0, block.size()}, points, settings};
}

Vector on_device(const std::vector<double>& values) {
  const Vector copy("values", values.size());
  Kokkos::deep_copy(copy, Kokkos::View<const double*, Kokkos::HostSpace>(values.data(), values.size()));
  return copy;
}
std::vector<double> on_host(const Vector& values) {
  std::vector<double> copy(values.extent(0));
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace>(copy.data(), copy.size()), values);
  return copy;
}

fast::TreeSettings settings_for(double tolerance, const FieldSizes& size, FieldList asked = FieldList::all()) {
  return fast::tree_settings(smallest_set(asked), asked, tolerance, size);
}

struct Case {
  std::vector<Prism> prisms;
  Points points;
  std::vector<double> exact;

  Case(Masses masses, Places places, std::size_t n_prisms, std::size_t n_points, bool both_signs, std::uint64_t seed)
      : prisms(random_prisms(masses, n_prisms, both_signs, seed)),
        points(make_station_points(random_points(places, prisms, n_points, seed))),
        exact(forward(ListEnsemble(prisms), points, make_request({})).values) {}

  [[nodiscard]] std::vector<double> densities() const {
    std::vector<double> density;
    for (const Prism& p : prisms) density.push_back(p.density);
    return density;
  }
  [[nodiscard]] std::vector<double> product(Products& products, int n_fields = n_gravity_fields) const {
    const Space space;
    const Vector fields("fields", static_cast<std::size_t>(n_fields) * points.easting.size());
    products.multiply(space, on_device(densities()), 1, fields.data());
    space.fence();
    return on_host(fields);
  }
};

using Staged = StagedPrisms<Space, fast::Arithmetic>;

/// What kernels read of each prism, and how many shapes there are.
struct Prepared {
  std::vector<double> numbers;
  int shapes = 0;

  explicit Prepared(const Staged& staged) {
    kernel::LaunchData<fast::Arithmetic, Space::memory_space> launch;
    staged.give_to(launch);
    const auto shape = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), launch.shapes);
    const auto far = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), launch.far);
    const auto near = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), launch.near);
    const auto weight = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), launch.weights);
    for (std::int64_t i = 0; i < launch.prism_end; ++i) {
      const auto& s = shape(far(i).shape);
      numbers.insert(numbers.end(), {far(i).center[0], far(i).center[1], far(i).center[2], near(i).dx, near(i).dy,
                                     near(i).dz, s.compact_squared, weight(i).mass, weight(i).density});
      shapes = std::max(shapes, far(i).shape + 1);
    }
  }
};

/// Prisms at places 0 to n - 1, each as high as `height(place)`, prepared from columns in the reverse order: as a block
/// in the order of places is.
template <class Height>
void expect_taken(std::int64_t n, int shapes, int shapes_of_block, const Height& height) {
  std::vector<Prism> ordered;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto west = static_cast<double>(3 * i);
    ordered.push_back({west, west + 2, 5, 9, -height(i), 0, 100 + west});
  }
  const Kokkos::View<double**, Kokkos::LayoutRight, Space::memory_space> columns("columns", 7, n);
  const Kokkos::View<std::int64_t*, Space::memory_space> order("order", n);
  const auto on_host = Kokkos::create_mirror_view(columns);
  const auto order_on_host = Kokkos::create_mirror_view(order);
  for (std::int64_t i = 0; i < n; ++i) {
    const Prism& p = ordered[static_cast<std::size_t>(i)];
    order_on_host(i) = n - 1 - i;
    int c = 0;
    for (const double number : {p.west, p.east, p.south, p.north, p.bottom, p.top, p.density}) {
      on_host(c++, n - 1 - i) = number;
    }
  }
  Kokkos::deep_copy(columns, on_host);
  Kokkos::deep_copy(order, order_on_host);
  const Space space;
  EngineSettings settings;
  settings.batch = 32;
  Staged taken(settings), staged(settings);
  taken.take(space, columns, order);
  taken.upload(space);
  staged.stage(space, block_of(ordered));
  staged.upload(space);
  space.fence();
  const Prepared a(taken), b(staged);
  EXPECT_EQ(a.numbers, b.numbers);
  EXPECT_EQ(a.shapes, shapes);
  EXPECT_EQ(b.shapes, shapes_of_block);
  EXPECT_EQ(taken.one_shape() != nullptr, shapes == 1);
}

TEST(StagedPrisms, TakesPrismsInAnOrder) {
  expect_taken(1, 1, 1, [](std::int64_t) { return 4.0; });
  expect_taken(100, 1, 1, [](std::int64_t) { return 4.0; });
  // shapes change at 20, 40, 60 and 80, and batches at 32, 64 and 96
  expect_taken(100, 8, 5, [](std::int64_t i) { return i / 20 % 2 == 0 ? 4.0 : 7.0; });
  // at the end of a batch
  expect_taken(33, 2, 2, [](std::int64_t i) { return i < 32 ? 4.0 : 7.0; });
  expect_taken(70, 70, 70, [](std::int64_t i) { return 4.0 + static_cast<double>(i); });
}

TEST(TreeProducts, KeepsToTheTolerance) {
  const Space space;
  std::uint64_t seed = 0;
  double worst = 0;
  for (const Masses masses : all_masses) {
    for (const Places places : all_places) {
      for (const bool both_signs : {false, true}) {
        const Case c(masses, places, 1500, 600, both_signs, ++seed);
        const double tolerance = std::pow(10.0, -3.0 - static_cast<double>(seed % 8));
        Products products = products_of(space, c.prisms, c.points, settings_for(tolerance, smallest_sizes(c.exact)));
        const auto error = errors_of(c.product(products), c.exact);
        for (std::size_t f = 0; f < n_gravity_fields; ++f) {
          // the direct sum's own rounding
          EXPECT_LT(error[f], tolerance + 1e-12)
              << "masses " << static_cast<int>(masses) << " places " << static_cast<int>(places) << " field " << f;
          worst = std::max(worst, error[f] / tolerance);
        }
      }
    }
  }
  std::cout << "largest error over tolerance: " << worst << "\n";
}

/// What a source at the edge of its cell that is next to a point at the edge of its own, all on one line, errs by in an
/// exchange of this degree: a mass of 1, or with `above` = 1 a dipole of 1 along the line, in the q-th derivative.
double error_of_worst(double a, double b, double d, int degree, int q, int above) {
  double error = 0;
  for (int n = degree + 1; n < degree + 400; ++n) {
    double term = std::pow((a + b) / d, n - q - above) / std::pow(d, q + above + 1);
    for (int i = 0; i < q + above; ++i) term *= n - i;
    error += term;
  }
  return error;
}

// That error is the bound of cells of which nothing but the mass is known.
TEST(LeastDegree, HoldsForTheWorstAndHardlyMore) {
  const std::vector<float> log_h(fast::n_target_sizes * fast::n_powers, 0.0F);
  Draw draw(23);
  for (int i = 0; i < 3000; ++i) {
    const double a = std::pow(10, draw(-1, 3)), b = a * std::pow(2, draw(-3, 5)), d = (a + b) / draw(0.05, 0.8);
    const int q = i % 3, above = i / 3 % 2;
    fast::AllowedErrors allowed{{infinite_size, infinite_size, infinite_size}, above};
    allowed.of[q] = std::pow(10, draw(-12, 0)) / std::pow(d - a - b, q + above + 1);
    const int degree = fast::LeastDegree{allowed, fast::max_degree}(a, b, d, 1, log_h.data());
    if (degree >= 0) {
      EXPECT_LE(error_of_worst(a, b, d, degree, q, above), allowed.of[q]) << degree << " " << q << " " << above;
    }
    // chords and sums of further terms are a little above
    const int less = degree < 0 ? fast::max_degree : degree - 1;
    if (less >= 2) {
      EXPECT_GE(error_of_worst(a, b, d, less, q, above), 0.85 * allowed.of[q]) << less << " " << q << " " << above;
    }
  }
}

TEST(TreeSettings, AllowErrorsByTheSizesOfTheirKind) {
  const auto allowed = [](FieldSet set) {
    return fast::tree_settings(set, fields_of(set), 0.1, {1, 2, 3, 4, 5}).allowed;
  };
  constexpr double share = fast::share_of_exchange * 0.1;
  const fast::AllowedErrors gravity = allowed(FieldSet::all), magnetic = allowed(FieldSet::magnetic_gradient);
  EXPECT_EQ(gravity.above, 0);
  EXPECT_EQ(magnetic.above, 1);
  for (int q = 0; q < 3; ++q) {
    EXPECT_EQ(gravity.of[q], share * (1 + q));
    EXPECT_EQ(magnetic.of[q], q == 0 ? infinite_size : share * (3 + q));
    EXPECT_EQ(allowed(FieldSet::gz).of[q], q == 1 ? share * 2 : infinite_size);
  }
}

TEST(TreeProducts, UsesExchanges) {
  const Space space;
  const Case c(Masses::cells, Places::above, 8000, 4000, true, 3);
  Products products = products_of(space, c.prisms, c.points, settings_for(1e-6, smallest_sizes(c.exact)));
  const fast::TreeCounts counts = products.counts();
  EXPECT_GT(counts.exchanges, 1000);
  // of 250 x 125 pairs of leaves or more
  EXPECT_LT(counts.pairs_of_leaves, 4000);
  EXPECT_LE(counts.degree, fast::degree_for(1e-6));
}

// By some of their items, before the trees are made: what a plan says of memory. Seldom fewer, and never many more.
TEST(TreeSample, CountsTheCellsOfTrees) {
  const Space space;
  constexpr bool on_device = is_device_space<Space>;
  for (const Masses masses : all_masses) {
    for (const Places places : {Places::above, Places::inside, Places::far}) {
      const std::vector<Prism> prisms = random_prisms(masses, 30000, false, 7);
      const Points points = make_station_points(random_points(places, prisms, 40000, 7));
      fast::TreeSettings settings = settings_for(1e-6, no_sizes);
      settings.leaf_prisms = 16;
      const fast::TreeCounts counts = products_of(space, prisms, points, settings).counts();
      const fast::TreeCells cells =
          fast::TreeSample(ListEnsemble(prisms), points).cells({settings.leaf_prisms, settings.leaf_points}, on_device);
      const std::string what =
          std::to_string(static_cast<int>(masses)) + " " + std::to_string(static_cast<int>(places));
      const auto expect_about = [&](std::int64_t counted, std::int64_t there) {
        EXPECT_GT(counted, 0.75 * static_cast<double>(there)) << what;
        EXPECT_LT(counted, 1.7 * static_cast<double>(there)) << what;
      };
      expect_about(cells.of_prisms, counts.cells_of_prisms);
      expect_about(cells.of_points, counts.cells_of_points);
    }
  }
}

// A field alone asks for less: its own error alone counts.
TEST(TreeProducts, TakesASubsetOfFields) {
  const Space space;
  const Case c(Masses::uniform, Places::above, 3000, 1500, true, 5);
  const FieldSizes size = smallest_sizes(c.exact);
  fast::TreeSettings settings = settings_for(1e-6, size, {Field::gz});
  constexpr double any = std::numeric_limits<double>::infinity();
  settings.allowed = {{any, 1e-6 * size[1], any}};
  Products products = products_of(space, c.prisms, c.points, settings);
  Products of_all = products_of(space, c.prisms, c.points, settings_for(1e-6, size));
  EXPECT_LT(products.counts().exchanges + products.counts().pairs_of_leaves,
            of_all.counts().exchanges + of_all.counts().pairs_of_leaves);
  const std::vector<double> gz = c.product(products, 1);
  const std::size_t n = c.points.easting.size();
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(gz[i], c.exact[3 * n + i], 1e-6 * largest_values(c.exact)[3]);
}

std::vector<double> random_factors(const Case& c, int n_fields) {
  Draw draw(99);
  const std::array<double, n_gravity_fields> size = largest_values(c.exact);
  std::vector<double> factors;
  for (int f = 0; f < n_fields; ++f) {
    for (std::size_t i = 0; i < c.points.easting.size(); ++i) {
      factors.push_back(draw(-1, 1) / size[static_cast<std::size_t>(f % n_gravity_fields)]);
    }
  }
  return factors;
}

TEST(TreeProducts, TransposesToRounding) {
  const Space space;
  for (const Masses masses : {Masses::cells, Masses::uniform, Masses::needles}) {
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
      const Case c(masses, Places::on_top, 3000, 1500, true, 7);
      Products products = products_of(space, c.prisms, c.points, settings_for(tolerance, smallest_sizes(c.exact)));
      const std::vector<double> fields = c.product(products);
      const std::vector<double> factors = random_factors(c, n_gravity_fields);
      const Vector sums("sums", c.prisms.size());
      products.multiply_transposed(space, on_device(factors).data(), 1, sums.data());
      space.fence();
      const std::vector<double> transposed = on_host(sums), density = c.densities();
      double one = 0, other = 0, size = 0;
      for (std::size_t i = 0; i < fields.size(); ++i)
        one += factors[i] * fields[i], size += std::abs(factors[i] * fields[i]);
      for (std::size_t p = 0; p < density.size(); ++p) other += transposed[p] * density[p];
      EXPECT_NEAR(one, other, 1e-13 * size);
    }
  }
}

TEST(TreeProducts, SumsSquaresOfEveryPair) {
  const Space space;
  const Case c(Masses::uniform, Places::above, 70, 50, true, 11);
  FieldList asked = FieldList::gravity();
  fast::TreeSettings settings = settings_for(1e-4, smallest_sizes(c.exact), asked);
  settings.truncation = default_truncation;
  Products products = products_of(space, c.prisms, c.points, settings);
  const std::vector<double> factors = random_factors(c, n_known_fields);
  const Vector sums("sums", c.prisms.size());
  products.sum_squares(space, on_device(factors).data(), 2, sums.data());
  space.fence();
  const std::vector<double> squares = on_host(sums);
  const std::size_t n = c.points.easting.size();
  for (std::size_t p = 0; p < c.prisms.size(); p += 7) {
    Prism unit = c.prisms[p];
    unit.density = 1;
    const std::vector<double> fields =
        forward(ListEnsemble({unit}), c.points, make_request({}, FieldList::gravity())).values;
    double sum = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) sum += factors[i] * fields[i] * fields[i];
    EXPECT_NEAR(squares[p], 2 * sum, 1e-11 * std::abs(2 * sum)) << n;
  }
}

TEST(TreeProducts, TakesFewAndOnePlace) {
  const Space space;
  for (const std::size_t n : {1, 2, 33}) {
    const Case c(Masses::uniform, Places::far, n, n, false, 13 + n);
    Products products = products_of(space, c.prisms, c.points, settings_for(1e-8, smallest_sizes(c.exact)));
    for (const double e : errors_of(c.product(products), c.exact)) EXPECT_LT(e, 1e-8);
  }
  // prisms and points all at one place each: cut by number
  Case c(Masses::uniform, Places::far, 100, 100, false, 17);
  for (Prism& p : c.prisms) p = c.prisms[0];
  for (std::size_t i = 0; i < 100; ++i) {
    c.points.easting[i] = c.points.easting[0];
    c.points.northing[i] = c.points.northing[0];
    c.points.upward[i] = c.points.upward[0];
  }
  c.exact = forward(ListEnsemble(c.prisms), c.points, make_request({})).values;
  Products products = products_of(space, c.prisms, c.points, settings_for(1e-8, smallest_sizes(c.exact)));
  for (const double e : errors_of(c.product(products), c.exact)) EXPECT_LT(e, 1e-8);
}

#if defined(KOKKOS_ENABLE_OPENMP)
TEST(TreeProducts, HasTheSameBitsOnAnyThreads) {
  const Case c(Masses::huge_among_small, Places::on_top, 2000, 700, true, 19);
  std::vector<std::vector<double>> all;
  for (const int threads : {1, 2, 3}) {
    const Kokkos::OpenMP space(threads);
    auto products = products_of(space, c.prisms, c.points, settings_for(1e-5, smallest_sizes(c.exact)));
    const std::vector<double> density = c.densities(), factors = random_factors(c, n_gravity_fields);
    const Kokkos::View<const double*, Kokkos::HostSpace> in(density.data(), density.size());
    std::vector<double> out(c.exact.size() + density.size());
    products.multiply(space, in, 1, out.data());
    products.multiply_transposed(space, factors.data(), 1, out.data() + c.exact.size());
    space.fence();
    all.push_back(out);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}
#endif

}  // namespace
}  // namespace prismfield::testing::test_tree_products
