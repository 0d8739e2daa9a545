// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Forward runs by trees against those of every pair. PRISMFIELD_TREE_CASES: how many random ones, of 60.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "magnets.hpp"
#include "parallel/agreement.hpp"
#include "ranks.hpp"
#include "tree_cases.hpp"

namespace prismfield::testing::test_tree_method {
namespace {

Request by(Method method, double tolerance = default_tolerance, FieldList fields = FieldList::gravity()) {
  Execution execution;
  execution.method = method;
  execution.tolerance = tolerance;
  Request request = make_request(execution, fields);
  request.magnetic.inducing_field = inducing_field_of_tests;
  request.magnetic.inside = Inside::borehole;
  return request;
}
Request by_tree(double tolerance, FieldList fields = FieldList::gravity()) {
  return by(Method::tree, tolerance, fields);
}

bool has_value(const FieldInfo& field, const Fields& exact, std::size_t point) {
  const bool is_of_tensor = std::all_of(&field.weights[0], &field.weights[4], [](double w) { return w == 0; });
  return !is_of_tensor || !std::binary_search(exact.singular_points.begin(), exact.singular_points.end(),
                                              static_cast<std::int64_t>(point));
}

/// The largest difference of a field where it has a value, relative to its largest value.
double difference(const FieldInfo& field, const Fields& computed, const Fields& exact) {
  const std::size_t n = exact.values.size() / static_cast<std::size_t>(exact.fields.size());
  const auto row = static_cast<std::size_t>(exact.fields.index_of(field.field));
  double largest = 0, difference = 0;
  for (std::size_t point = 0; point < n; ++point) {
    if (!has_value(field, exact, point)) continue;
    const double value = exact.values[row * n + point];
    largest = std::max(largest, std::abs(value));
    difference = std::max(difference, std::abs(computed.values[row * n + point] - value));
  }
  return difference / largest;
}

void expect_alike(const Fields& computed, const Fields& exact, double tolerance, const std::string& what) {
  for (const FieldInfo& field : exact.fields) {
    // the direct sum's own rounding
    EXPECT_LE(difference(field, computed, exact), tolerance + 1e-12) << what << ", " << field.name;
  }
  EXPECT_EQ(computed.points_inside, exact.points_inside) << what;
  EXPECT_EQ(computed.singular_points, exact.singular_points) << what;
}

struct Case {
  std::vector<Prism> prisms;
  std::vector<Point> points;
  Directions directions;
  double tolerance;
  std::string what;
};

Case random_case(std::uint64_t seed) {
  const Masses masses = all_masses[seed % all_masses.size()];
  const Places places = all_places[seed / all_masses.size() % all_places.size()];
  Draw draw(seed + 5000);
  Case c;
  const bool both_signs = seed / 30 % 2 == 1;
  c.directions = both_signs ? Directions::random : Directions::alike;
  c.prisms = random_prisms(masses, 1500, both_signs, seed);
  c.points = random_points(places, c.prisms, 600, seed);
  c.tolerance = std::pow(10.0, draw(-11, -3));
  c.what = "case " + std::to_string(seed) + ", masses " + std::to_string(static_cast<int>(masses)) + ", places " +
           std::to_string(static_cast<int>(places)) + ", tolerance " + std::to_string(c.tolerance);
  return c;
}

/// Errors over tolerance, sorted: the median, 99 of 100, the largest.
void print_table(std::map<int, std::vector<double>> ratios) {
  for (auto& [exponent, all] : ratios) {
    std::sort(all.begin(), all.end());
    std::cout << "1e" << exponent - 1 << " ... 1e" << exponent << ": " << all.size() << " cases, "
              << all[all.size() / 2] << ", " << all[all.size() * 99 / 100] << ", " << all.back() << "\n";
  }
}

/// Of magnetised prisms.
class TreeFields : public ::testing::TestWithParam<KindOfFields> {
protected:
  [[nodiscard]] static FieldList fields() { return GetParam().fields; }
  /// PRISMFIELD_TREE_CASES, or of gravity so many, fewer of others, and still fewer of both.
  [[nodiscard]] static int n_cases(int of_gravity) {
    const char* const text = std::getenv("PRISMFIELD_TREE_CASES");
    if (text != nullptr) return std::atoi(text);
    const bool has_both = !fields().of_density().empty() && !fields().of_magnetisation().empty();
    return fields() == FieldList::gravity() ? of_gravity : of_gravity / (has_both ? 4 : 2);
  }
  /// Of half as many as of gravity every other one has both signs.
  [[nodiscard]] static Case case_of(int i) {
    return random_case(static_cast<std::uint64_t>(fields() == FieldList::gravity() ? i : i + 30 * (i % 2)));
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, TreeFields, ::testing::ValuesIn(kinds_of_fields()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(TreeFields, KeepToTheTolerance) {
  if (ranks().size() > 1) GTEST_SKIP() << "is of one rank";
  const int n = n_cases(60);
  std::map<int, std::vector<double>> ratios;
  int repeated = 0;
  for (int i = 0; i < n; ++i) {
    const Case c = case_of(i);
    const Magnets prisms(c.prisms, c.directions);
    const Fields exact = run_forward(by(Method::direct, default_tolerance, fields()), prisms, c.points);
    const Fields computed = run_forward(by_tree(c.tolerance, fields()), prisms, c.points);
    expect_alike(computed, exact, c.tolerance, c.what);
    EXPECT_EQ(computed.check.points, 100);
    if (computed.check.repeats > 0) ++repeated;
    double worst = 0;
    for (const FieldInfo& field : exact.fields) worst = std::max(worst, difference(field, computed, exact));
    ratios[static_cast<int>(std::ceil(std::log10(c.tolerance)))].push_back(worst / c.tolerance);
  }
  print_table(ratios);
  std::cout << repeated << " of " << n << " repeated\n";
}

/// Points on faces, edges and corners of prisms, some of which weigh nothing.
struct TouchingCase {
  std::vector<Prism> prisms = random_prisms(Masses::cells, 1000, true, 3);
  std::vector<Point> points = random_points(Places::inside, prisms, 300, 4);
  TouchingCase() {
    for (std::size_t i = 0; i < prisms.size(); i += 5) prisms[i].density = 0;
    for (std::size_t i = 0; i < prisms.size(); i += 7) {
      const Prism& p = prisms[i];
      const double x = 0.5 * (p.west + p.east), y = 0.5 * (p.south + p.north);
      points.insert(points.end(), {{x, y, p.top}, {p.west, y, p.top}, {p.west, p.south, p.bottom}});
    }
    points.push_back({-1000, 0, 0});
  }
};

TEST_P(TreeFields, FindThePointsThatPrismsTouch) {
  const TouchingCase c;
  const Magnets prisms(c.prisms);
  const Fields exact = run_forward(by(Method::direct, default_tolerance, fields()), prisms, c.points);
  EXPECT_GT(exact.points_inside, 200);
  EXPECT_GT(exact.singular_points.size(), 20U);
  const Fields computed = run_forward(by_tree(1e-7, fields()), prisms, c.points);
  expect_alike(computed, exact, 1e-7, "touching");
  EXPECT_EQ(computed.plan.method, Method::tree);
}

TEST(TreeMethod, TakesFewOfEither) {
  const std::vector<Prism> prisms = random_prisms(Masses::uniform, 300, true, 5);
  const std::vector<Point> points = random_points(Places::above, prisms, 400, 6);
  const auto expect_within = [](const std::vector<Prism>& some, const std::vector<Point>& at) {
    const Fields computed = run_forward(by_tree(1e-6), some, at);
    expect_alike(computed, run_forward(by(Method::direct), some, at), 1e-6, std::to_string(at.size()));
    // of all points where there are few
    EXPECT_EQ(computed.check.points, std::min<std::int64_t>(static_cast<std::int64_t>(at.size()), 100));
    EXPECT_EQ(computed.plan.method, Method::tree);
  };
  expect_within(prisms, {points.begin(), points.begin() + 1});
  expect_within(prisms, {points.begin(), points.begin() + 90});
  expect_within({prisms.begin(), prisms.begin() + 1}, points);
  for (const double density : {0.0, 1.0}) {
    const Fields none = run_forward(by_tree(1e-6), {{0, 1, 0, 1, 0, 1, density}}, {});
    EXPECT_TRUE(none.values.empty());
  }
  const Fields zeros = run_forward(by_tree(1e-6), {{0, 1, 0, 1, 0, 1, 0}}, points);
  EXPECT_TRUE(std::all_of(zeros.values.begin(), zeros.values.end(), [](double v) { return v == 0; }));
}

TEST(TreeMethod, CountsTheSmallFieldsErrors) {
  const std::vector<Prism> prisms = random_prisms(Masses::cells, 3000, true, 8);
  const std::vector<Point> points = random_points(Places::above, prisms, 1500, 9);
  for (const FieldList asked : {FieldList{Field::gz}, FieldList{Field::guv}, FieldList{Field::potential, Field::gxy}}) {
    Fields exact = run_forward(by(Method::direct, default_tolerance, asked), prisms, points);
    expect_alike(run_forward(by_tree(1e-5, asked), prisms, points), exact, 1e-5, "some fields");
  }
  // gz alone needs fewer pairs than all fields do
  const auto near_pairs = [&](FieldList asked) {
    std::int64_t sum = 0;
    for (const std::int64_t n : run_forward(by_tree(1e-5, asked), Magnets(prisms), points).pairs_by_form) sum += n;
    return sum;
  };
  EXPECT_LT(near_pairs({Field::gz}), near_pairs(FieldList::gravity()));
  EXPECT_LT(near_pairs(FieldList::gravity()), std::int64_t{3000} * 1500 / 2);
  // B needs what the tensor needs, about
  EXPECT_LT(near_pairs(FieldList::magnetic()), near_pairs(FieldList::tensor()) * 5 / 4);
}

TEST(TreeMethod, GivesTheSameBitsAgain) {
  const std::vector<Prism> prisms = random_prisms(Masses::clustered, 2000, true, 10);
  const std::vector<Point> points = random_points(Places::on_top, prisms, 900, 11);
  EXPECT_EQ(run_forward(by_tree(1e-6), prisms, points).values, run_forward(by_tree(1e-6), prisms, points).values);
}

TEST_P(TreeFields, TakeRanksHoweverTheyShare) {
  const std::vector<Prism> prisms = random_prisms(Masses::huge_among_small, 1500, true, 12);
  const Points points = make_station_points(random_points(Places::inside, prisms, 800, 13));
  const Magnets ensemble(prisms);
  const Fields exact = forward(ensemble, points, by(Method::direct, default_tolerance, fields()), ranks());
  for (const Partition partition : {Partition::automatic, Partition::prisms, Partition::points, Partition::rank_grid}) {
    Request request = by_tree(1e-6, fields());
    request.execution.partition = partition;
    request.execution.rank_grid = {1, ranks().size()};
    const Fields computed = forward(ensemble, points, request, ranks());
    EXPECT_EQ(computed.plan.method, Method::tree);
    if (ranks().rank() == 0) expect_alike(computed, exact, 1e-6, name(partition));
  }
}

/// Trees against the direct sums, on all ranks.
Fields expect_of_ranks(const std::vector<Prism>& prisms, const std::vector<Point>& points, double tolerance,
                       const std::string& what, FieldList fields = FieldList::gravity()) {
  const Magnets ensemble(prisms);
  const Points stations = make_station_points(points);
  const Fields exact = forward(ensemble, stations, by(Method::direct, default_tolerance, fields), ranks());
  const Fields computed = forward(ensemble, stations, by_tree(tolerance, fields), ranks());
  if (ranks().rank() == 0) {
    expect_alike(computed, exact, tolerance, what);
  }
  EXPECT_EQ(forward(ensemble, stations, by_tree(tolerance, fields), ranks()).values, computed.values) << what;
  return computed;
}

TEST_P(TreeFields, KeepToTheToleranceOnRanks) {
  if (ranks().size() == 1) GTEST_SKIP() << "KeepToTheTolerance is of one rank";
  const int n = n_cases(30);
  std::int64_t repeated = 0;
  std::string which;
  for (int i = 0; i < n; ++i) {
    const Case c = case_of(i);
    const std::int64_t repeats = expect_of_ranks(c.prisms, c.points, c.tolerance, c.what, fields()).check.repeats;
    repeated += repeats;
    if (repeats > 0) which += c.what + "\n";
  }
  // few exchanges, each of half the tolerance at most, are all that far points have: of 200 cases on four ranks one
  // was repeated on a host, three on an H200, whose leaves are larger
  EXPECT_LE(repeated, 1 + n / 100) << which;
}

TEST(TreesOfRanks, ServeWhateverLiesWhere) {
  const std::vector<Prism> prisms = random_prisms(Masses::uniform, 1500, true, 31);
  const std::vector<Point> points = random_points(Places::inside, prisms, 700, 32);
  std::vector<Point> aside = points, at_one_place(500, {700, 900, -300});
  for (Point& p : aside) p[0] += 3000;
  expect_of_ranks(prisms, aside, 1e-7, "points on one side");
  expect_of_ranks(prisms, at_one_place, 1e-7, "points at one place");
  expect_of_ranks(std::vector<Prism>(500, prisms[7]), points, 1e-7, "prisms at one place");
  std::vector<Prism> some_empty = prisms;
  for (Prism& p : some_empty) {
    if (p.west < 1300) p.density = 0;
  }
  expect_of_ranks(some_empty, points, 1e-7, "a side without mass");
  std::vector<Prism> empty = prisms;
  for (Prism& p : empty) p.density = 0;
  const Fields zeros = forward(ListEnsemble(empty), make_station_points(points), by_tree(1e-6), ranks());
  EXPECT_TRUE(std::all_of(zeros.values.begin(), zeros.values.end(), [](double v) { return v == 0; }));
  if (ranks().rank() == 0) {
    EXPECT_EQ(zeros.points_inside, run_forward(by(Method::direct), empty, points).points_inside);
  }
}

TEST(TreesOfRanks, KeepToTheToleranceAtManyPoints) {
  for (const Places places : {Places::above, Places::inside, Places::far}) {
    const std::vector<Prism> prisms = random_prisms(Masses::uniform, 5000, true, 41);
    expect_of_ranks(prisms, random_points(places, prisms, 12000, 42), 1e-5, "many points");
  }
}

TEST_P(TreeFields, FindThePointsThatPrismsTouchOnRanks) {
  const TouchingCase c;
  expect_of_ranks(c.prisms, c.points, 1e-7, "touching", fields());
}

TEST(TreesOfRanks, ServeFewOfEither) {
  const std::vector<Prism> prisms = random_prisms(Masses::uniform, 300, true, 5);
  const std::vector<Point> points = random_points(Places::above, prisms, 400, 6);
  const auto expect_within = [](const std::vector<Prism>& some, const std::vector<Point>& at) {
    const ListEnsemble ensemble(some);
    const Points stations = make_station_points(at);
    const Fields exact = forward(ensemble, stations, by(Method::direct), ranks());
    const Fields computed = forward(ensemble, stations, by_tree(1e-6), ranks());
    if (ranks().rank() == 0) expect_alike(computed, exact, 1e-6, std::to_string(at.size()));
  };
  expect_within({prisms.begin(), prisms.begin() + 1}, points);
  expect_within(prisms, {points.begin(), points.begin() + 2});
  expect_within({prisms.begin(), prisms.begin() + 2}, {points.begin(), points.begin() + 1});
}

/// Cannot be read on one rank.
template <class Failure>
class FailingPrisms final : public ListEnsemble {
public:
  FailingPrisms(const std::vector<Prism>& prisms, int rank) : ListEnsemble(prisms), m_rank(rank) {}
  void read(IndexRange range, PrismBlock& out) const override {
    if (ranks().rank() == m_rank) throw Failure();
    ListEnsemble::read(range, out);
  }

private:
  int m_rank;
};
struct DiskIsGone : RunError {
  DiskIsGone() : RunError("the disk is gone") {}
};

template <class Failure>
std::string told_of_failure(int failing) {
  const std::vector<Prism> prisms = random_prisms(Masses::uniform, 1500, true, 31);
  const FailingPrisms<Failure> source(prisms, failing);
  const Points points = make_station_points(random_points(Places::inside, prisms, 700, 32));
  // some prisms are read for a plan too
  const Request request = by_tree(1e-6, FieldList::all());
  const ListEnsemble readable(prisms);
  const auto work =
      make_work(plan_on_ranks(request, readable, points, problem_size(readable, points), ranks()), ranks());
  work->expect({3e10, 3e7, 2e5});
  try {
    static_cast<void>(forward(source, points, request, *work, ranks(), nullptr));
  } catch (...) {
    return explain(std::current_exception()).message;
  }
  ADD_FAILURE() << "no failure";
  return "";
}

TEST(TreesOfRanks, FailTogether) {
  for (int failing = 0; failing < ranks().size(); ++failing) {
    const std::string disk = told_of_failure<DiskIsGone>(failing), memory = told_of_failure<std::bad_alloc>(failing);
    if (ranks().rank() != failing) continue;
    EXPECT_THAT(disk, ::testing::HasSubstr("the disk is gone"));
    EXPECT_THAT(memory, ::testing::HasSubstr("no memory for"));
  }
  expect_of_ranks(random_prisms(Masses::uniform, 600, true, 1), {200, {100, 200, 50}}, 1e-6, "after failures");
}

/// What a request is told behind "is tree, which ".
std::string problem_of(const Request& request) {
  try {
    static_cast<void>(forward(ListEnsemble({{0, 1, 0, 1, 0, 1, 1}}), make_station_points({{2, 2, 2}}), request));
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().front().key, "execution.method");
    return error.problems().front().what;
  }
  return "";
}

TEST(TreeMethod, SaysWhyItCannotServe) {
  EXPECT_EQ(problem_of(by_tree(1e-11)), "");
  EXPECT_EQ(problem_of(by_tree(default_tolerance)),
            "is tree, which needs an execution.tolerance of 1e-11 or more; direct keeps to 1e-12");
  Request request = by_tree(1e-6);
  request.execution.precision = Precision::single;
  EXPECT_EQ(problem_of(request),
            "is tree, which computes in double precision, not in single; use execution.precision: double");
  request = by_tree(1e-6);
  request.execution.kernel = KernelKind::corners;
  EXPECT_EQ(problem_of(request), "is tree, which has no kernel corners; use execution.kernel: auto");
}

}  // namespace
}  // namespace prismfield::testing::test_tree_method
