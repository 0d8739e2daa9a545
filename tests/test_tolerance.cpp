// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <prismfield/forward.hpp>

#include "exact_prism.hpp"
#include "forward_helpers.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

/// The promise of execution.tolerance: no field anywhere is further off than that part of its largest value.
namespace prismfield::testing::test_tolerance {
namespace {

using Generator = std::mt19937_64;

double uniform(Generator& generator, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(generator);
}

Request within(double tolerance, FieldList fields = FieldList::gravity()) {
  Execution execution;
  execution.tolerance = tolerance;
  return make_request(execution, fields);
}

/// The largest difference of each field, relative to its largest value; on rank 0.
std::vector<double> differences(const Fields& computed, const Fields& exact) {
  std::vector<double> found;
  const std::size_t n = exact.values.size() / static_cast<std::size_t>(exact.fields.size());
  for (std::size_t begin = 0; begin < exact.values.size(); begin += n) {
    double difference = 0, largest = 0;
    for (std::size_t i = begin; i < begin + n; ++i) {
      difference = std::max(difference, std::abs(computed.values[i] - exact.values[i]));
      largest = std::max(largest, std::abs(exact.values[i]));
    }
    found.push_back(difference / largest);
  }
  return found;
}

void expect_within(double tolerance, const Fields& computed, const Fields& exact, const std::string& what) {
  const std::vector<double> found = differences(computed, exact);
  for (const FieldInfo& field : exact.fields) {
    EXPECT_LE(found[static_cast<std::size_t>(exact.fields.index_of(field.field))], tolerance)
        << what << ", " << field.name << ", " << tolerance;
  }
}

/// Prisms without a place yet, of edges from 10 to 100 m or needles and plates of up to 50:1.
Prism random_shape(Generator& generator, bool is_long) {
  Prism p;
  double* const high[3] = {&p.east, &p.north, &p.top};
  for (double* edge : high) *edge = std::pow(10.0, uniform(generator, 1, is_long ? 2.7 : 2));
  return p;
}

void move(Prism& p, double x, double y, double z) {
  p.west += x;
  p.east += x;
  p.south += y;
  p.north += y;
  p.bottom += z;
  p.top += z;
}

/// Within 2 km: cells of a grid, prisms anywhere or in clusters, of one density, of random ones, of both signs.
std::vector<Prism> random_prisms(Generator& generator, int trial, int n) {
  std::vector<Prism> prisms;
  const int layout = trial % 4, signs = trial / 4 % 3;
  for (int i = 0; i < n; ++i) {
    Prism p = layout == 0 ? Prism{0, 50, 0, 50, 0, 50} : random_shape(generator, layout == 3);
    if (layout == 0) {
      move(p, 50 * (i % 20), 50 * (i / 20 % 20), -50.0 - 50 * (i / 400));
    } else if (layout == 2) {
      const double spread = std::pow(10.0, uniform(generator, 1, 3));
      move(p, 500 * (i % 3) + uniform(generator, 0, spread), uniform(generator, 0, spread),
           -uniform(generator, 0, spread));
    } else {
      move(p, uniform(generator, 0, 2000), uniform(generator, 0, 2000), -uniform(generator, 0, 1000));
    }
    if (signs > 0) p.density = uniform(generator, signs == 1 ? 0.1 : -1, 1);
    prisms.push_back(p);
  }
  return prisms;
}

/// Above, on and inside the prisms, and far away.
std::vector<Point> random_points(Generator& generator, int trial, int n, const std::vector<Prism>& prisms) {
  std::vector<Point> points;
  const int where = trial / 12 % 4;
  for (int i = 0; i < n; ++i) {
    const double x = uniform(generator, 0, 2000), y = uniform(generator, 0, 2000);
    if (where == 0) {
      points.push_back({x, y, uniform(generator, 80, 300)});
    } else if (where == 1) {
      const Prism& p = prisms[generator() % prisms.size()];
      points.push_back({uniform(generator, p.west, p.east), uniform(generator, p.south, p.north), p.top});
    } else if (where == 2) {
      points.push_back({x, y, uniform(generator, -1000, 0)});
    } else {
      points.push_back({10 * x, 10 * y, std::pow(10.0, uniform(generator, 3, 5))});
    }
  }
  return points;
}

TEST(Tolerance, HoldsInRandomCases) {
  constexpr int n_trials = 200;
  double worst = 0;
  int repeated = 0;
  for (int trial = 0; trial < n_trials; ++trial) {
    Generator generator(static_cast<std::uint64_t>(trial));
    const std::vector<Prism> prisms = random_prisms(generator, trial, 400);
    const std::vector<Point> points = random_points(generator, trial, 300, prisms);
    const double tolerance = std::pow(10.0, uniform(generator, -11, -3));
    const Fields exact = run_forward(within(default_tolerance), prisms, points);
    const Fields computed = run_forward(within(tolerance), prisms, points);
    expect_within(tolerance, computed, exact, "trial " + std::to_string(trial));
    EXPECT_EQ(computed.check.points, 100);
    EXPECT_LE(computed.check.largest(), tolerance / 5);
    for (const double error : differences(computed, exact)) worst = std::max(worst, error / tolerance);
    if (computed.check.repeats > 0) ++repeated;
  }
  std::cout << "largest error " << worst << " tolerances, " << repeated << " of " << n_trials << " repeated\n";
}

TEST(Tolerance, TakesLowerOrders) {
  Generator generator(1);
  const std::vector<Prism> prisms = random_prisms(generator, 0, 400);
  const std::vector<Point> points = random_points(generator, 0, 300, prisms);
  const auto near_pairs = [&](double tolerance) {
    const Fields result = run_forward(within(tolerance), prisms, points);
    EXPECT_EQ(result.plan.tolerance, tolerance);
    return result.pairs_by_form[static_cast<std::size_t>(Form::difference_free)];
  };
  EXPECT_LT(near_pairs(1e-4), near_pairs(1e-8));
  EXPECT_LT(near_pairs(1e-8), near_pairs(1e-12));
}

TEST(Tolerance, ChangesNothingUpToTheDefault) {
  Generator generator(2);
  const std::vector<Prism> prisms = random_prisms(generator, 1, 200);
  const std::vector<Point> points = random_points(generator, 0, 150, prisms);
  const Fields result = run_forward(within(default_tolerance), prisms, points);
  EXPECT_EQ(result.check.points, 0);
  EXPECT_TRUE(result.check.errors.empty());
  // below it multipoles begin farther off
  const Fields finer = run_forward(within(1e-15), prisms, points);
  EXPECT_EQ(finer.check.points, 0);
  EXPECT_NE(finer.values, result.values);
  expect_within(default_tolerance, finer, result, "finer");
  // a check of all points would have computed them
  const std::vector<Point> few(points.begin(), points.begin() + 100);
  const Fields of_few = run_forward(within(1e-4), prisms, few);
  EXPECT_EQ(of_few.values, run_forward(within(default_tolerance), prisms, few).values);
  EXPECT_EQ(of_few.check.points, 0);
}

/// Cells of 1 m, n x n in so many layers below 0, of densities that change their sign from cell to cell: n_signs of
/// east, north and depth.
std::vector<Prism> alternating_cells(int n, int layers, int n_signs) {
  std::vector<Prism> prisms;
  for (int k = 0; k < layers; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const int place = k + (n_signs > 1 ? j : 0) + (n_signs > 2 ? i : 0);
        const double x = i, y = j, z = -k;
        prisms.push_back({x, x + 1, y, y + 1, z - 1, z, place % 2 == 0 ? 1.0 : -1.0});
      }
    }
  }
  return prisms;
}

/// Points above the middle of such cells, where what one does is undone by its neighbours.
std::vector<Point> points_above_the_middle(int n, double height) {
  Generator generator(3);
  std::vector<Point> points;
  for (int i = 0; i < 200; ++i) {
    points.push_back({0.5 * n + uniform(generator, -4, 4), 0.5 * n + uniform(generator, -4, 4), height});
  }
  return points;
}

TEST(Tolerance, IsKeptByRepeatsWherePrismsCancel) {
  constexpr int n = 48;
  const std::vector<Prism> prisms = alternating_cells(n, 2, 2);
  const std::vector<Point> points = points_above_the_middle(n, 4);
  const double tolerance = 1e-4;
  const Fields exact = run_forward(within(default_tolerance), prisms, points);
  const Fields computed = run_forward(within(tolerance), prisms, points);
  expect_within(tolerance, computed, exact, "dipoles");
  EXPECT_GT(computed.check.repeats, 0);
  EXPECT_LT(computed.plan.tolerance, tolerance);
  EXPECT_GT(computed.plan.tolerance, default_tolerance);
  EXPECT_LE(computed.check.largest(), tolerance / 5);
  EXPECT_GT(computed.check.seconds, 0);
}

/// Parts of a cube of `edge` around a place, n along each side.
void add_parts(std::vector<Prism>& prisms, const Point& middle, double edge, int n, double density) {
  const double part = edge / n;
  for (int i = 0; i < n * n * n; ++i) {
    const double x = middle[0] - edge / 2 + part * (i % n), y = middle[1] - edge / 2 + part * (i / n % n);
    const double z = middle[2] - edge / 2 + part * (i / n / n);
    prisms.push_back({x, x + part, y, y + part, z, z + part, density});
  }
}

/// Prisms whose fields cancel: a multipole of blocks, a cube and its parts with something small aside, cells like those
/// of a chess board.
std::vector<Prism> cancelling_prisms(Generator& generator, int pattern) {
  std::vector<Prism> prisms;
  if (pattern == 0) {
    const int sides = 1 + static_cast<int>(generator() % 3);
    for (int block = 0; block < 1 << sides; ++block) {
      const Point middle = {block % 2 * 40.0, block / 2 % 2 * 40.0, block / 4 * 40.0 - 200};
      add_parts(prisms, middle, 40, 2, std::popcount(static_cast<unsigned>(block)) % 2 == 0 ? 1000 : -1000);
    }
  } else if (pattern == 1) {
    add_parts(prisms, {0, 0, -200}, 80, 1, 1000);
    add_parts(prisms, {0, 0, -200}, 80, 3 + static_cast<int>(generator() % 2), -1000);
    add_parts(prisms, {uniform(generator, 200, 1000), 0, -100}, uniform(generator, 1, 20), 1,
              std::pow(10.0, uniform(generator, -6, 3)));
  } else {
    const int n_signs = 1 + static_cast<int>(generator() % 3);
    for (const Prism& cell : alternating_cells(8, 2, n_signs)) {
      prisms.push_back({10 * cell.west, 10 * cell.east, 10 * cell.south, 10 * cell.north, 10 * cell.bottom,
                        10 * cell.top, 1000 * cell.density});
    }
  }
  return prisms;
}

/// Some near the prisms, most of them at one distance or over something aside.
std::vector<Point> points_around(Generator& generator, int n) {
  std::vector<Point> points;
  const double distance = std::pow(10.0, uniform(generator, 2, 4.5));
  for (int i = 0; i < n; ++i) {
    const bool is_near = i % 50 == 0;
    const double far = is_near ? uniform(generator, 100, 400) : distance * uniform(generator, 1, 1.06);
    const double angle = uniform(generator, 0, 6.28), up = uniform(generator, 0.1, 1);
    points.push_back({far * std::cos(angle), far * std::sin(angle), far * up});
  }
  return points;
}

/// Above cells of 80 m, at one height or at many.
std::vector<Point> points_over_cells(Generator& generator, int n) {
  std::vector<Point> points;
  const double least = uniform(generator, 5, 60),
               most = generator() % 2 == 0 ? least : least + uniform(generator, 1, 200);
  for (int i = 0; i < n; ++i) {
    const double x = 5 + 10 * static_cast<double>(generator() % 8), y = 5 + 10 * static_cast<double>(generator() % 8);
    points.push_back({x, y, most > least ? uniform(generator, least, most) : least});
  }
  return points;
}

/// The fields of prisms by sums of more digits than doubles have.
Fields exact_sums(const std::vector<Prism>& prisms, const std::vector<Point>& points, FieldList fields) {
  Fields exact;
  exact.fields = fields;
  exact.values.resize(static_cast<std::size_t>(fields.size()) * points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::array<long double, n_gravity_fields> sums{};
    for (const Prism& p : prisms) {
      const auto of_prism = exact_fields({p.west, p.east, p.south, p.north, p.bottom, p.top}, points[i]);
      for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += static_cast<long double>(p.density) * of_prism[f];
    }
    for (const FieldInfo& field : fields) {
      const auto row = static_cast<std::size_t>(fields.index_of(field.field));
      exact.values[row * points.size() + i] = static_cast<double>(sums[static_cast<std::size_t>(field.field)]);
    }
  }
  return exact;
}

// 500 cases where PRISMFIELD_TEST_ALL is 1, on one rank.
TEST(Tolerance, HoldsOrIsSaidNotToWherePrismsCancel) {
  if (!has_exact_fields()) GTEST_SKIP() << "this compiler has no numbers of more digits than double's";
  const char* const all = std::getenv("PRISMFIELD_TEST_ALL");
  const bool takes_all = all != nullptr && std::string(all) == "1";
  const int n_trials = ranks().size() > 1 ? 18 : takes_all ? 500 : 60;
  const FieldList fields = FieldList::all();
  int said = 0, repeated = 0;
  double worst = 0;
  for (int trial = 0; trial < n_trials; ++trial) {
    Generator generator(static_cast<std::uint64_t>(1000 + trial));
    const std::vector<Prism> prisms = cancelling_prisms(generator, trial % 3);
    // convolutions are of cells
    const Method method = std::array{Method::direct, Method::tree, trial % 3 == 2 ? Method::fft : Method::tree}.at(
        static_cast<std::size_t>(trial / 3 % 3));
    const std::vector<Point> points =
        method == Method::fft ? points_over_cells(generator, 150) : points_around(generator, 150);
    const Fields exact = exact_sums(prisms, points, fields);
    Request request = within(std::pow(10.0, uniform(generator, -10, -4)), fields);
    request.execution.method = method;
    request.execution.check_points = 30;
    const Fields computed = run_forward(request, prisms, points);
    const std::vector<double> found = differences(computed, exact);
    for (std::size_t f = 0; f < found.size(); ++f) {
      const double allowed = std::max(request.execution.tolerance, computed.check.errors[f]);
      EXPECT_LE(found[f], allowed) << "trial " << trial << ", field " << f << ", " << request.execution.tolerance;
      worst = std::max(worst, found[f] / allowed);
    }
    if (computed.check.largest() > request.execution.tolerance) ++said;
    if (computed.check.repeats > 0) ++repeated;
  }
  std::cout << "largest error " << worst << " of what is said, " << repeated << " of " << n_trials << " repeated, "
            << said << " said not to be kept\n";
}

TEST(Tolerance, OfOnePointThatStandsApartIsThatOfTheOthers) {
  Generator generator(7);
  std::vector<Point> points;
  for (int i = 0; i < 1200; ++i) points.push_back({uniform(generator, -300, 300), uniform(generator, -300, 300), 90});
  std::vector<Prism> prisms;
  add_parts(prisms, {0, 0, -50}, 100, 4, 1);
  // the gradient of B grows as the inverse of the distance to an edge
  points[700] = {50 + 1e-9, 10, 0};
  const double tolerance = 1e-6;
  const Request request = within(tolerance, {Field::bzz, Field::bz});
  const ListEnsemble ensemble(prisms);
  const MagnetizedPrisms magnets(ensemble, {0, 0, 1});
  const Fields computed = run_forward(request, magnets, points);
  const Fields exact = run_forward(within(default_tolerance, request.fields), magnets, points);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 700) continue;
    const std::size_t bzz = points.size() + i;
    largest = std::max(largest, std::abs(exact.values[bzz]));
    difference = std::max(difference, std::abs(computed.values[bzz] - exact.values[bzz]));
  }
  EXPECT_LE(difference, tolerance * largest);
  EXPECT_LT(computed.check.over_median[0], 1e3);
  EXPECT_GT(computed.check.over_median[1], 1e3);
}

TEST(Tolerance, OfAFewPointsNearWhatCancelsIsLookedAt) {
  std::vector<Prism> prisms;
  add_parts(prisms, {0, 0, -200}, 80, 1, 3000);
  add_parts(prisms, {0, 0, -200}, 80, 4, -3000);
  add_parts(prisms, {3000, 0, -20}, 2, 1, 1);
  Generator generator(8);
  std::vector<Point> points;
  for (int i = 0; i < 5000; ++i) points.push_back({3000 + uniform(generator, -9, 9), uniform(generator, -9, 9), 5});
  for (int i = 0; i < 10; ++i) points[static_cast<std::size_t>(400 * i)] = {uniform(generator, -99, 99), 150, 100};
  const double tolerance = 1e-5;
  const Fields computed = run_forward(within(tolerance), prisms, points);
  EXPECT_GT(computed.check.repeats, 0);
  Request finest = within(1e-14);
  finest.execution.method = Method::direct;
  expect_within(tolerance, computed, run_forward(finest, prisms, points), "points that none sees");
}

TEST(Tolerance, OfAThinLayerIsKept) {
  constexpr int n = 64;
  const std::vector<Prism> prisms = alternating_cells(n, 1, 1);
  for (const double height : {3.0, 6.0}) {
    const std::vector<Point> points = points_above_the_middle(n, height);
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
      expect_within(tolerance, run_forward(within(tolerance), prisms, points),
                    run_forward(within(default_tolerance), prisms, points), "layer");
    }
  }
}

TEST(Tolerance, ThatTheMethodCannotKeepIsKeptByTheDefault) {
  constexpr int n = 48;
  // what is left of them falls by e^4.4 from cell to cell
  const std::vector<Prism> prisms = alternating_cells(n, 2, 3);
  const std::vector<Point> points = points_above_the_middle(n, 4);
  const Request request = within(1e-9, {Field::gxy});
  const Fields computed = run_forward(request, prisms, points);
  // the cells cancel so far that sums with the usual truncation could not tell
  EXPECT_EQ(computed.plan.tolerance, 1e-14);
  EXPECT_GT(computed.check.repeats, 0);
  EXPECT_EQ(computed.values, run_forward(within(computed.plan.tolerance, {Field::gxy}), prisms, points).values);
}

TEST(Tolerance, BelowThatOfFloatsIsKeptByDoubles) {
  Generator generator(4);
  const std::vector<Prism> prisms = random_prisms(generator, 1, 300);
  const std::vector<Point> points = random_points(generator, 0, 200, prisms);
  Request request = within(1e-8);
  request.execution.precision = Precision::single;
  const Fields computed = run_forward(request, prisms, points);
  EXPECT_EQ(computed.plan.precision, Precision::double_);
  expect_within(1e-8, computed, run_forward(within(default_tolerance), prisms, points), "single");
  request.execution.tolerance = 1e-3;
  EXPECT_EQ(run_forward(request, prisms, points).plan.precision, Precision::single);
}

TEST(Tolerance, OfAFieldThatVanishesIsThatOfItsNorm) {
  // in the plane of symmetry of one row gx vanishes but for rounding
  std::vector<Prism> prisms;
  for (int i = 0; i < 40; ++i) prisms.push_back({-5, 5, 10.0 * i, 10.0 * i + 10, -20, -10, 1});
  std::vector<Point> points;
  for (int i = 0; i < 200; ++i) points.push_back({0, 2.0 * i, 40});
  const Fields computed = run_forward(within(1e-6, {Field::gx, Field::gz}), prisms, points);
  EXPECT_EQ(computed.check.repeats, 0);
  EXPECT_LE(computed.check.largest(), 2e-7);
}

TEST(Tolerance, HoldsOnRanksHoweverTheyShare) {
  Generator generator(5);
  const std::vector<Prism> prisms = random_prisms(generator, 1, 300);
  const Points points = make_station_points(random_points(generator, 0, 500, prisms));
  const ListEnsemble ensemble(prisms);
  const double tolerance = 1e-6;
  const Fields exact = forward(ensemble, points, within(default_tolerance), ranks());
  for (const Partition partition :
       {Partition::automatic, Partition::prisms, Partition::points, Partition::points_per_prism}) {
    Request request = within(tolerance);
    request.execution.partition = partition;
    const Fields computed = forward(ensemble, points, request, ranks());
    if (ranks().rank() > 0) continue;
    EXPECT_EQ(computed.check.points, 100) << name(partition);
    EXPECT_GT(computed.check.largest(), 0) << name(partition);
    expect_within(tolerance, computed, exact, name(partition));
  }
}

TEST(Tolerance, IsKeptByRepeatsOnRanks) {
  constexpr int n = 32;
  const std::vector<Prism> prisms = alternating_cells(n, 2, 2);
  const Points points = make_station_points(points_above_the_middle(n, 4));
  const ListEnsemble ensemble(prisms);
  Request request = within(1e-4);
  if (ranks().size() % 2 == 0) {
    request.execution.partition = Partition::rank_grid;
    request.execution.rank_grid = {2, ranks().size() / 2};
  }
  const Fields exact = forward(ensemble, points, within(default_tolerance), ranks());
  const std::size_t n_values = ranks().rank() == 0 ? exact.values.size() : 0;
  std::vector<double> values(n_values);
  const Fields computed = forward_into(values, ensemble, points, request, ranks());
  EXPECT_LT(computed.plan.tolerance, 1e-4);
  if (ranks().rank() > 0) return;
  Fields with_values = exact;
  with_values.values = values;
  expect_within(1e-4, with_values, exact, "on ranks");
  EXPECT_GT(computed.check.repeats, 0);
}

TEST(Tolerance, GivesTheSameBitsAgain) {
  Generator generator(6);
  const std::vector<Prism> prisms = random_prisms(generator, 1, 200);
  const std::vector<Point> points = random_points(generator, 0, 300, prisms);
  Request request = within(1e-5);
  const Fields once = run_forward(request, prisms, points);
  const Fields again = run_forward(request, prisms, points);
  EXPECT_EQ(once.values, again.values);
  EXPECT_EQ(once.check.errors, again.check.errors);
  request.execution.check_points = 250;
  EXPECT_EQ(run_forward(request, prisms, points).check.points, 250);
}

}  // namespace
}  // namespace prismfield::testing::test_tolerance
