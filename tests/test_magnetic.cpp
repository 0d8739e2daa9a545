// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Magnetic fields of single prisms against values of many digits (tests/reference/magnetic.csv), and properties of
// many.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <prismfield/demagnetize.hpp>
#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/prisms.hpp>

#include "engine/engine.hpp"

namespace prismfield::testing::test_magnetic {
namespace {

using Vector = std::array<double, 3>;

constexpr double nanotesla = 1e-9;

double norm(const Vector& v) { return std::hypot(v[0], v[1], v[2]); }

/// Prisms with their magnetisation, as PrismList wants them.
struct Magnets {
  std::array<std::vector<double>, 6> faces;
  std::vector<double> density;
  std::array<std::vector<double>, 3> magnetization;

  void add(const std::array<double, 6>& prism, const Vector& m, double of_density = 0) {
    for (std::size_t i = 0; i < 6; ++i) faces[i].push_back(prism[i]);
    density.push_back(of_density);
    for (std::size_t d = 0; d < 3; ++d) magnetization[d].push_back(m[d]);
  }
  [[nodiscard]] PrismList list() const {
    return PrismList({faces[0],
                      faces[1],
                      faces[2],
                      faces[3],
                      faces[4],
                      faces[5],
                      density,
                      {magnetization[0], magnetization[1], magnetization[2]}});
  }
};

struct Stations {
  std::array<std::vector<double>, 3> place;
  void add(const Vector& point) {
    for (std::size_t d = 0; d < 3; ++d) place[d].push_back(point[d]);
  }
  [[nodiscard]] PointColumns columns() const { return {place[0], place[1], place[2], {}}; }
};

/// F0 of the reference values, T.
Vector inducing_field() {
  constexpr double degree = std::numbers::pi / 180, inclination = -62.5 * degree, declination = 11.25 * degree;
  constexpr double intensity = 48250 * nanotesla;
  return {intensity * std::cos(inclination) * std::sin(declination),
          intensity * std::cos(inclination) * std::cos(declination), -intensity * std::sin(inclination)};
}

Request request_for(FieldList fields, Space space = Space::automatic) {
  Request request;
  request.fields = fields;
  request.magnetic.inducing_field = inducing_field();
  request.execution.space = space;
  return request;
}

/// A field at a point, SI.
double at(const Fields& result, Field field, std::size_t point, std::size_t n_points) {
  return result.values[static_cast<std::size_t>(result.fields.index_of(field)) * n_points + point];
}
Vector flux_density(const Fields& result, std::size_t point, std::size_t n_points) {
  return {at(result, Field::bx, point, n_points), at(result, Field::by, point, n_points),
          at(result, Field::bz, point, n_points)};
}

using Gradient = std::array<double, 6>;

constexpr std::array<Field, 6> gradient_fields = {Field::bxx, Field::byy, Field::bzz,
                                                  Field::bxy, Field::bxz, Field::byz};

Gradient gradient(const Fields& result, std::size_t point, std::size_t n_points) {
  Gradient of{};
  for (std::size_t i = 0; i < 6; ++i) of[i] = at(result, gradient_fields[i], point, n_points);
  return of;
}
/// Of the matrix.
double matrix_norm(const Gradient& g) {
  return std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + 2 * (g[3] * g[3] + g[4] * g[4] + g[5] * g[5]));
}
double relative_error(const Gradient& found, const Gradient& expected) {
  Gradient difference{};
  for (std::size_t i = 0; i < 6; ++i) difference[i] = found[i] - expected[i];
  return matrix_norm(difference) / matrix_norm(expected);
}
/// Derivatives of v . B along easting, northing and upward.
Vector product(const Gradient& g, const Vector& v) {
  return {g[0] * v[0] + g[3] * v[1] + g[4] * v[2], g[3] * v[0] + g[1] * v[1] + g[5] * v[2],
          g[4] * v[0] + g[5] * v[1] + g[2] * v[2]};
}

struct ReferenceCase {
  std::string kind;
  std::array<double, 6> prism{};
  Vector point{}, magnetization{}, b{};
  Gradient gradient{};
  double tmi, tmi_exact, amplitude;
};

std::vector<ReferenceCase> reference_cases() {
  std::ifstream file(PRISMFIELD_SOURCE_DIR "/tests/reference/magnetic.csv");
  std::vector<ReferenceCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("kind")) continue;
    std::vector<double> numbers;
    std::istringstream words(line);
    ReferenceCase one;
    std::getline(words, one.kind, ',');
    for (std::string word; std::getline(words, word, ',');) {
      numbers.push_back(word.empty() ? std::numeric_limits<double>::quiet_NaN() : std::strtod(word.c_str(), nullptr));
    }
    numbers.resize(24, std::numeric_limits<double>::quiet_NaN());
    std::copy_n(numbers.begin(), 6, one.prism.begin());
    std::copy_n(numbers.begin() + 6, 3, one.point.begin());
    std::copy_n(numbers.begin() + 9, 3, one.magnetization.begin());
    for (std::size_t d = 0; d < 3; ++d) one.b[d] = numbers[12 + d] * nanotesla;
    for (std::size_t i = 0; i < 6; ++i) one.gradient[i] = numbers[15 + i] * nanotesla;
    one.tmi = numbers[21] * nanotesla;
    one.tmi_exact = numbers[22] * nanotesla;
    one.amplitude = numbers[23] * nanotesla;
    cases.push_back(one);
  }
  return cases;
}

class MagneticFields : public ::testing::TestWithParam<Space> {};

TEST_P(MagneticFields, AgreesWithReferences) {
  const std::vector<ReferenceCase> cases = reference_cases();
  ASSERT_EQ(cases.size(), 34U);
  double worst = 0;
  for (const ReferenceCase& one : cases) {
    Magnets magnets;
    magnets.add(one.prism, one.magnetization, 1000);
    Stations stations;
    stations.add(one.point);
    FieldList fields = FieldList::magnetic();
    for (const bool with_gravity : {false, true}) {
      if (with_gravity) fields.add(Field::gz);
      const Fields result = forward(magnets.list(), stations.columns(), request_for(fields, GetParam()));
      const Vector b = flux_density(result, 0, 1);
      const double error = norm({b[0] - one.b[0], b[1] - one.b[1], b[2] - one.b[2]}) / norm(one.b);
      EXPECT_LT(error, 1e-12) << one.kind << " at " << one.point[0] << ", " << one.point[1] << ", " << one.point[2];
      worst = std::max(worst, error);
      if (std::isnan(one.tmi)) continue;
      const double size = norm(one.b);
      EXPECT_LT(std::abs(at(result, Field::tmi, 0, 1) - one.tmi), 1e-12 * size) << one.kind;
      EXPECT_LT(std::abs(at(result, Field::tmi_exact, 0, 1) - one.tmi_exact), 1e-12 * size) << one.kind;
      EXPECT_LT(std::abs(at(result, Field::amplitude, 0, 1) - one.amplitude), 1e-12 * size) << one.kind;
    }
  }
  std::cout << "largest error of B: " << worst << '\n';
}

/// Magnets in random places of a box, of some size, and random magnetisation.
Magnets random_magnets(int n, unsigned seed) {
  std::mt19937_64 bits(seed);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(bits); };
  Magnets magnets;
  for (int i = 0; i < n; ++i) {
    const Vector low = {draw(-500, 400), draw(-500, 400), draw(-600, -200)};
    magnets.add({low[0], low[0] + draw(10, 100), low[1], low[1] + draw(10, 100), low[2], low[2] + draw(10, 100)},
                {draw(-2, 2), draw(-2, 2), draw(-2, 2)});
  }
  return magnets;
}

FieldList flux_density_fields() { return {Field::bx, Field::by, Field::bz}; }

TEST_P(MagneticFields, FarAwayIsADipole) {
  Magnets magnets;
  magnets.add({-1, 1, -2, 2, -0.5, 0.5}, {0.4, -1.2, 2});
  const double volume = 8;
  const Vector moment = {0.4 * volume, -1.2 * volume, 2 * volume};
  Stations stations;
  const std::vector<Vector> directions = {{1, 0, 0}, {0.6, 0.64, 0.48}, {-0.48, 0.6, 0.64}, {0, 0, -1}};
  constexpr double distance = 1e7;
  for (const Vector& d : directions) stations.add({distance * d[0], distance * d[1], distance * d[2]});
  const Fields result = forward(magnets.list(), stations.columns(), request_for(flux_density_fields(), GetParam()));
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Vector& d = directions[i];
    const double along = moment[0] * d[0] + moment[1] * d[1] + moment[2] * d[2];
    const double factor = 1.25663706212e-7 / (4 * std::numbers::pi / 10) / std::pow(distance, 3);
    Vector expected{};
    for (std::size_t c = 0; c < 3; ++c) expected[c] = factor * (3 * along * d[c] - moment[c]);
    const Vector b = flux_density(result, i, directions.size());
    EXPECT_LT(norm({b[0] - expected[0], b[1] - expected[1], b[2] - expected[2]}), 1e-12 * norm(expected));
  }
}

TEST_P(MagneticFields, HasNoSourcesAndNoCurlsOutside) {
  const Magnets magnets = random_magnets(40, 1);
  constexpr double h = 1;
  Stations stations;
  const std::vector<Vector> places = {{0, 0, 50}, {300, -200, 20}, {-450, 480, 5}};
  for (const Vector& p : places) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (const double step : {-2 * h, -h, h, 2 * h}) {
        Vector q = p;
        q[d] += step;
        stations.add(q);
      }
    }
  }
  const std::size_t n = stations.place[0].size();
  const Fields result = forward(magnets.list(), stations.columns(), request_for(flux_density_fields(), GetParam()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    double gradient[3][3], largest = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t first = 12 * i + 4 * d;
      for (std::size_t c = 0; c < 3; ++c) {
        const auto b = [&](std::size_t k) { return flux_density(result, first + k, n)[c]; };
        gradient[c][d] = (b(0) - 8 * b(1) + 8 * b(2) - b(3)) / (12 * h);
        largest = std::max(largest, std::abs(gradient[c][d]));
      }
    }
    // what differences of the fourth order leave at some 100 steps from the masses
    const double left = 1e-6 * largest;
    EXPECT_NEAR(gradient[0][0] + gradient[1][1] + gradient[2][2], 0, left);
    EXPECT_NEAR(gradient[0][1], gradient[1][0], left);
    EXPECT_NEAR(gradient[0][2], gradient[2][0], left);
    EXPECT_NEAR(gradient[1][2], gradient[2][1], left);
  }
}

TEST_P(MagneticFields, JumpsAtFacesByTheTangentialMagnetisation) {
  constexpr double mu0 = 1.25663706212e-6, eps = 1e-9;
  const Vector m = {0.3, -0.2, 1};
  Magnets magnets;
  magnets.add({-50, 50, -50, 50, -150, -50}, m);
  // just outside, on and just inside the upper face, the eastern one
  Stations stations;
  for (const double step : {eps, 0.0, -eps}) stations.add({10, 20, -50 + step});
  for (const double step : {eps, 0.0, -eps}) stations.add({50 + step, 20, -90});
  const Fields result = forward(magnets.list(), stations.columns(), request_for(flux_density_fields(), GetParam()));
  const auto of = [&](std::size_t i) { return flux_density(result, i, 6); };
  const Vector upper = {mu0 * m[0], mu0 * m[1], 0}, eastern = {0, mu0 * m[1], mu0 * m[2]};
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(of(2)[c] - of(0)[c], upper[c], 1e-15);
    EXPECT_NEAR(of(1)[c], (of(0)[c] + of(2)[c]) / 2, 1e-15);
    EXPECT_NEAR(of(5)[c] - of(3)[c], eastern[c], 1e-15);
    EXPECT_NEAR(of(4)[c], (of(3)[c] + of(5)[c]) / 2, 1e-15);
  }
}

TEST_P(MagneticFields, IsInsideWhatIsAskedFor) {
  constexpr double mu0 = 1.25663706212e-6;
  const Vector m = {0.3, -0.2, 1};
  Magnets magnets;
  magnets.add({-50, 50, -50, 50, -150, -50}, m);
  Stations stations;
  stations.add({0, 0, -100});
  stations.add({0, 0, 30});
  const auto at_centre = [&](Inside inside, std::size_t point = 0) {
    Request request = request_for(flux_density_fields(), GetParam());
    request.magnetic.inside = inside;
    return flux_density(forward(magnets.list(), stations.columns(), request), point, 2);
  };
  // at a cube's centre H = -M/3
  const Vector share[] = {{2. / 3, 2. / 3, 2. / 3}, {-1. / 3, -1. / 3, -1. / 3}, {0, 0, 0}, {1. / 6, 1. / 6, -1. / 3}};
  int i = 0;
  for (const Inside inside : {Inside::flux_density, Inside::field_strength, Inside::cavity, Inside::borehole}) {
    const Vector b = at_centre(inside);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(b[c], share[i][c] * mu0 * m[c], 1e-15 * mu0);
    EXPECT_EQ(at_centre(inside, 1), at_centre(Inside::flux_density, 1));
    ++i;
  }
  for (const double b : at_centre(Inside::nan)) EXPECT_TRUE(std::isnan(b));
  EXPECT_EQ(at_centre(Inside::nan, 1), at_centre(Inside::flux_density, 1));
}

TEST_P(MagneticFields, EqualMagnetsSideBySideAreOne) {
  Magnets whole, parts;
  const Vector m = {0.5, 1, -0.7};
  whole.add({0, 200, 0, 100, -100, 0}, m);
  parts.add({0, 80, 0, 100, -100, 0}, m);
  parts.add({80, 200, 0, 40, -100, 0}, m);
  parts.add({80, 200, 40, 100, -100, 0}, m);
  Stations stations;
  // inside, on an inner face, on an inner edge and where inner edges meet, above
  for (const Vector& p :
       std::vector<Vector>{{30, 50, -50}, {80, 20, -50}, {80, 40, -50}, {100, 40, -30}, {90, 30, 10}}) {
    stations.add(p);
  }
  const Request request = request_for(FieldList::magnetic(), GetParam());
  const Fields a = forward(whole.list(), stations.columns(), request);
  const Fields b = forward(parts.list(), stations.columns(), request);
  EXPECT_TRUE(b.singular_points.empty());
  for (std::size_t k = 0; k < a.values.size(); ++k) EXPECT_NEAR(a.values[k], b.values[k], 1e-12 * 1e-6) << k;
}

TEST_P(MagneticFields, EdgesBetweenDifferentMagnetsAreSingular) {
  // of equal magnitude and of components with equal sums
  Magnets magnets;
  magnets.add({0, 100, 0, 100, -100, 0}, {1, 2, 3});
  magnets.add({100, 200, 0, 100, -100, 0}, {3, 1, 2});
  Stations stations;
  stations.add({100, 100, -50});
  stations.add({100, 50, -50});
  const Fields result = forward(magnets.list(), stations.columns(), request_for(flux_density_fields(), GetParam()));
  EXPECT_EQ(result.singular_points, std::vector<std::int64_t>{0});
  EXPECT_EQ(result.points_inside, 2);
  // what density does on an edge counts where gravity is asked for
  Magnets equal;
  equal.add({0, 100, 0, 100, -100, 0}, {1, 2, 3}, 500);
  equal.add({100, 200, 0, 100, -100, 0}, {1, 2, 3}, 700);
  equal.add({0, 100, 100, 200, -100, 0}, {1, 2, 3}, 500);
  equal.add({100, 200, 100, 200, -100, 0}, {1, 2, 3}, 500);
  const auto singular = [&](FieldList fields) {
    return forward(equal.list(), stations.columns(), request_for(fields, GetParam())).singular_points;
  };
  EXPECT_TRUE(singular(flux_density_fields()).empty());
  EXPECT_EQ(singular({Field::bz, Field::gzz}), std::vector<std::int64_t>{0});
}

TEST_P(MagneticFields, SphereOfVoxelsIsADipole) {
  constexpr int n = 24;
  constexpr double radius = 96, width = 2 * radius / n;
  const Vector m = {0.2, 0.4, -1};
  Magnets magnets;
  double volume = 0;
  for (int i = 0; i < n * n * n; ++i) {
    const Vector low = {-radius + width * (i % n), -radius + width * (i / n % n), -radius + width * (i / n / n)};
    if (std::hypot(low[0] + width / 2, low[1] + width / 2, low[2] + width / 2) > radius) continue;
    magnets.add({low[0], low[0] + width, low[1], low[1] + width, low[2], low[2] + width}, m);
    volume += width * width * width;
  }
  Stations stations;
  stations.add({0, 0, 0});
  stations.add({150, 120, 180});
  const Fields result = forward(magnets.list(), stations.columns(), request_for(flux_density_fields(), GetParam()));
  constexpr double mu0 = 1.25663706212e-6;
  const Vector inside = flux_density(result, 0, 2), outside = flux_density(result, 1, 2);
  const Vector r = {150, 120, 180};
  const double distance = norm(r), along = (m[0] * r[0] + m[1] * r[1] + m[2] * r[2]) / distance;
  for (std::size_t c = 0; c < 3; ++c) {
    // exact at the centre by the voxels' symmetry; outside the rough surface leaves a part in a thousand
    EXPECT_NEAR(inside[c], 2. / 3 * mu0 * m[c], 1e-13 * mu0);
    const double dipole =
        mu0 * volume / (4 * std::numbers::pi * std::pow(distance, 3)) * (3 * along * r[c] / distance - m[c]);
    EXPECT_NEAR(outside[c], dipole, 1e-3 * norm(outside));
  }
}

TEST_P(MagneticFields, FloatsComeNear) {
  const Magnets magnets = random_magnets(200, 2);
  Stations stations;
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> across(-600, 600), up(10, 300);
  for (int i = 0; i < 50; ++i) stations.add({across(bits), across(bits), up(bits)});
  Request request = request_for(FieldList::magnetic(), GetParam());
  const Fields exact = forward(magnets.list(), stations.columns(), request);
  request.execution.precision = Precision::single;
  const Fields rounded = forward(magnets.list(), stations.columns(), request);
  for (const FieldInfo& field : exact.fields) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      largest = std::max(largest, std::abs(at(exact, field.field, i, 50)));
      difference = std::max(difference, std::abs(at(exact, field.field, i, 50) - at(rounded, field.field, i, 50)));
    }
    EXPECT_LT(difference, 1e-5 * largest) << field.name;
  }
}

/// Two products of the same prisms: each as if it were alone, pairs and points counted once.
TEST_P(MagneticFields, OfBothKindsAreTwoProducts) {
  Magnets magnets = random_magnets(30, 4);
  for (std::size_t i = 0; i < magnets.density.size(); ++i) magnets.density[i] = 100.0 + static_cast<double>(i);
  Stations stations;
  for (int i = 0; i < 20; ++i) stations.add({30.0 * i - 300, 11.0 * i, 7 + i * 3.0});
  stations.add({magnets.faces[0][3], magnets.faces[2][3], magnets.faces[4][3]});
  const std::size_t n = 21;
  const FieldList both{Field::gz, Field::gxy, Field::bx, Field::tmi, Field::amplitude, Field::bxz};
  for (const KernelKind kernel : {KernelKind::automatic, KernelKind::corners}) {
    const auto run = [&](FieldList fields) {
      Request request = request_for(fields, GetParam());
      request.execution.kernel = kernel;
      return forward(magnets.list(), stations.columns(), request);
    };
    const Fields together = run(both);
    EXPECT_EQ(together.singular_points, std::vector<std::int64_t>{20});
    for (const FieldList kind : {both.of_density(), both.of_magnetisation()}) {
      const Fields alone = run(kind);
      EXPECT_EQ(together.singular_points, alone.singular_points);
      EXPECT_EQ(together.points_inside, alone.points_inside);
      for (const FieldInfo& field : kind) {
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_NEAR(at(together, field.field, i, n), at(alone, field.field, i, n),
                      1e-13 * std::abs(at(alone, field.field, i, n)))
              << field.name;
        }
      }
    }
    EXPECT_EQ(together.pairs, 30 * 21);
    EXPECT_EQ(std::accumulate(together.pairs_by_form.begin(), together.pairs_by_form.end(), std::int64_t{0}), 30 * 21);
  }
}

/// A sphere's field on itself is -M/3 everywhere: chi H0 / (1 + chi/3).
TEST(Demagnetisation, OfASphere) {
  constexpr int n = 12;
  constexpr double radius = 96, width = 2 * radius / n;
  const Vector h0 = {10, -20, 30};
  struct Expected {
    double chi, within;
  };
  for (const auto& [chi, within] : {Expected{0.1, 1e-4}, Expected{1, 5e-3}, Expected{10, 0.04}}) {
    Magnets magnets;
    for (int i = 0; i < n * n * n; ++i) {
      const Vector low = {-radius + width * (i % n), -radius + width * (i / n % n), -radius + width * (i / n / n)};
      if (std::hypot(low[0] + width / 2, low[1] + width / 2, low[2] + width / 2) > radius) continue;
      magnets.add({low[0], low[0] + width, low[1], low[1] + width, low[2], low[2] + width},
                  {chi * h0[0], chi * h0[1], chi * h0[2]});
    }
    const std::vector<double> susceptibility(magnets.density.size(), chi);
    const auto found = demagnetize(magnets.list(), susceptibility, Request{});
    EXPECT_LE(found.residual, 1e-10);
    EXPECT_LT(found.products, 40);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<double>& m = found.magnetization[d];
      const double mean = std::accumulate(m.begin(), m.end(), 0.0) / static_cast<double>(m.size());
      const double expected = chi * h0[d] / (1 + chi / 3);
      EXPECT_NEAR(mean, expected, within * std::abs(expected)) << chi;
    }
  }
}

TEST(Demagnetisation, OfOneCubeIsExact) {
  // and remanence counts: M = M0 - chi M/3
  Magnets magnets;
  magnets.add({0, 10, 0, 10, 0, 10}, {3, 1, -2});
  const auto found = demagnetize(magnets.list(), std::vector<double>{2}, Request{});
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR(found.magnetization[d][0], magnets.magnetization[d][0] / (1 + 2. / 3), 1e-12);
  }
  EXPECT_THROW(static_cast<void>(demagnetize(magnets.list(), std::vector<double>{-1}, Request{})), InputError);
  EXPECT_THROW(static_cast<void>(demagnetize(magnets.list(), std::vector<double>{1, 1}, Request{})), InputError);
}

TEST(MagneticRequests, AreRefused) {
  Magnets magnets;
  magnets.add({0, 1, 0, 1, 0, 1}, {1, 0, 0});
  Stations stations;
  stations.add({0, 0, 5});
  const auto message = [&](const PrismSource& prisms, const Request& request) {
    try {
      static_cast<void>(forward(prisms, stations.columns(), request));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Request request = request_for({Field::tmi});
  request.magnetic.inducing_field = {};
  EXPECT_NE(message(magnets.list(), request).find("magnetic.inducing_field"), std::string::npos);
  request.magnetic.inducing_field = {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  EXPECT_NE(message(magnets.list(), request).find("not finite"), std::string::npos);
  for (const double permeability : {0.0, 1e-300, 1.0}) {
    request = request_for({Field::bz});
    request.magnetic.vacuum_permeability = permeability;
    EXPECT_NE(message(magnets.list(), request).find("about 1.2566e-6 is expected"), std::string::npos);
  }
  const PrismList plain({magnets.faces[0], magnets.faces[1], magnets.faces[2], magnets.faces[3], magnets.faces[4],
                         magnets.faces[5], magnets.density});
  EXPECT_NE(message(plain, request_for({Field::bz})).find("no magnetization"), std::string::npos);
  magnets.magnetization[1].push_back(0);
  EXPECT_THROW(static_cast<void>(magnets.list()), InputError);
  magnets.magnetization[1] = {std::numeric_limits<double>::infinity()};
  EXPECT_THROW(static_cast<void>(magnets.list()), InputError);
  EXPECT_THROW(MagnetizedPrisms(plain, {0, 1e13, 0}), InputError);
}

TEST_P(MagneticFields, GradientsAgreeWithReferences) {
  double worst = 0;
  int n_compared = 0;
  const Vector f0 = inducing_field();
  const Vector along = {f0[0] / norm(f0), f0[1] / norm(f0), f0[2] / norm(f0)};
  for (const ReferenceCase& one : reference_cases()) {
    if (std::isnan(one.gradient[0])) continue;
    ++n_compared;
    Magnets magnets;
    magnets.add(one.prism, one.magnetization, 1000);
    Stations stations;
    stations.add(one.point);
    FieldList fields = FieldList::magnetic_gradient();
    for (const Field also : {Field::bx, Field::potential}) {
      fields.add(also);
      const Fields result = forward(magnets.list(), stations.columns(), request_for(fields, GetParam()));
      const double error = relative_error(gradient(result, 0, 1), one.gradient);
      EXPECT_LT(error, 2e-12) << one.kind << " at " << one.point[0] << ", " << one.point[1] << ", " << one.point[2];
      worst = std::max(worst, error);
      const Vector expected = product(one.gradient, along);
      const Vector found = {at(result, Field::tmi_x, 0, 1), at(result, Field::tmi_y, 0, 1),
                            at(result, Field::tmi_z, 0, 1)};
      EXPECT_LT(norm({found[0] - expected[0], found[1] - expected[1], found[2] - expected[2]}),
                2e-12 * matrix_norm(one.gradient));
      EXPECT_LT(std::abs(at(result, Field::bx, 0, 1) - one.b[0]), 1e-12 * norm(one.b));
    }
  }
  EXPECT_EQ(n_compared, 23);
  std::cout << "largest error of the gradient: " << worst << '\n';
}

/// Points near a prism, inside it and far away.
std::vector<Vector> points_around(const std::array<double, 6>& prism, std::mt19937& random) {
  std::uniform_real_distribution<double> in_unit(-1, 1);
  std::vector<Vector> points;
  for (const double reach : {0.4, 0.6, 1.0, 3.0, 20.0, 300.0}) {
    for (int i = 0; i < 20; ++i) {
      Vector point{};
      for (std::size_t d = 0; d < 3; ++d) {
        const double low = prism[2 * d], high = prism[2 * d + 1];
        point[d] = 0.5 * (low + high) + reach * (high - low) * in_unit(random);
      }
      points.push_back(point);
    }
  }
  return points;
}

/// Of a point to a prism's edges, the least.
double distance_to_edges(const std::array<double, 6>& prism, const Vector& point) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t f = (d + 1) % 3, s = (d + 2) % 3;
    const double beyond = std::max({prism[2 * d] - point[d], point[d] - prism[2 * d + 1], 0.0});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        least = std::min(least, norm({beyond, prism[2 * f + i] - point[f], prism[2 * s + j] - point[s]}));
      }
    }
  }
  return least;
}

TEST_P(MagneticFields, GradientsAreDifferencesOfB) {
  std::mt19937 random(7);
  for (const std::array<double, 6>& prism :
       {std::array<double, 6>{0, 100, -30, 50, -80, 0}, std::array<double, 6>{-5, 195, -4, 4, 3, 4},
        std::array<double, 6>{0, 100, 0, 100, -1, 0}}) {
    Magnets magnets;
    magnets.add(prism, {0.7, -1.1, 0.4});
    const std::vector<Vector> points = points_around(prism, random);
    Stations stations;
    std::vector<double> steps;
    for (const Vector& point : points) {
      // a prism's faces between the points would be differences of B itself
      double step = 2e-3 * distance_to_edges(prism, point);
      for (std::size_t d = 0; d < 3; ++d) {
        for (std::size_t i = 0; i < 2; ++i) step = std::min(step, 0.4 * std::abs(prism[2 * d + i] - point[d]));
      }
      steps.push_back(step);
      stations.add(point);
      for (std::size_t d = 0; d < 3; ++d) {
        for (const double times : {-2.0, -1.0, 1.0, 2.0}) {
          Vector beside = point;
          beside[d] += times * step;
          stations.add(beside);
        }
      }
    }
    FieldList fields = FieldList::magnetic_gradient();
    fields.add({Field::bx, Field::by, Field::bz});
    const Fields result = forward(magnets.list(), stations.columns(), request_for(fields, GetParam()));
    const std::size_t n = stations.place[0].size();
    for (std::size_t p = 0; p < points.size(); ++p) {
      const Gradient found = gradient(result, 13 * p, n);
      std::array<Vector, 3> difference{};
      for (std::size_t d = 0; d < 3; ++d) {
        std::array<Vector, 4> b{};
        for (std::size_t i = 0; i < 4; ++i) b[i] = flux_density(result, 13 * p + 1 + 4 * d + i, n);
        // what the coordinates' rounding leaves of the step
        const auto at_place = [&](std::size_t i) { return stations.place[d][13 * p + 1 + 4 * d + i]; };
        const double step = (at_place(3) - at_place(0)) / 4;
        for (std::size_t c = 0; c < 3; ++c)
          difference[d][c] = (8 * (b[2][c] - b[1][c]) - (b[3][c] - b[0][c])) / (12 * step);
      }
      const Gradient expected = {difference[0][0], difference[1][1], difference[2][2],
                                 difference[1][0], difference[0][2], difference[2][1]};
      const double rounding = 1e-14 * norm(flux_density(result, 13 * p, n)) / steps[p] / matrix_norm(found);
      EXPECT_LT(relative_error(expected, found), 1e-8 + rounding)
          << points[p][0] << ", " << points[p][1] << ", " << points[p][2];
      EXPECT_LT(std::abs(found[0] + found[1] + found[2]), 1e-14 * matrix_norm(found));
    }
  }
}

TEST_P(MagneticFields, GradientsOfADistantPrismAreADipoles) {
  Magnets magnets;
  const Vector m = {0.3, -0.8, 1.7};
  magnets.add({-1, 1, -1, 1, -1, 1}, m);
  Stations stations;
  const std::vector<Vector> directions = {{1, 0, 0}, {0.6, 0, -0.8}, {2.0 / 3, -1.0 / 3, 2.0 / 3}};
  for (const double sizes : {1e3, 3e4}) {
    for (const Vector& n : directions) stations.add({2 * sizes * n[0], 2 * sizes * n[1], 2 * sizes * n[2]});
  }
  const Fields result =
      forward(magnets.list(), stations.columns(), request_for(FieldList::magnetic_gradient(), GetParam()));
  const double moment = 8 * Magnetic{}.vacuum_permeability / (4 * std::numbers::pi);
  for (std::size_t p = 0; p < stations.place[0].size(); ++p) {
    const Vector place = {stations.place[0][p], stations.place[1][p], stations.place[2][p]};
    const double r = norm(place);
    const Vector n = {place[0] / r, place[1] / r, place[2] / r};
    const double mn = m[0] * n[0] + m[1] * n[1] + m[2] * n[2];
    const auto of = [&](std::size_t i, std::size_t k) {
      return 3 * moment / (r * r * r * r) * ((i == k ? mn : 0) + m[i] * n[k] + m[k] * n[i] - 5 * mn * n[i] * n[k]);
    };
    const Gradient expected = {of(0, 0), of(1, 1), of(2, 2), of(0, 1), of(0, 2), of(1, 2)};
    EXPECT_LT(relative_error(gradient(result, p, stations.place[0].size()), expected), 1e-12) << r;
  }
}

TEST_P(MagneticFields, GradientsOfAllPrecisionsAndKernelsAgree) {
  std::mt19937 random(3);
  const std::array<double, 6> prism = {0, 100, -30, 50, -80, 0}, slab = {0, 300, 0, 300, -1, 0};
  Magnets magnets;
  magnets.add(prism, {0.7, -1.1, 0.4});
  magnets.add(slab, {0.1, 0.2, -0.9});
  Stations stations;
  for (const Vector& point : points_around(prism, random)) stations.add(point);
  const std::size_t n = stations.place[0].size();
  Request request = request_for(FieldList::magnetic_gradient(), GetParam());
  const PrismList prisms = magnets.list();
  const Fields exact = forward(prisms, stations.columns(), request);
  const auto expect_near = [&](double tolerance, const char* what) {
    const Fields result = forward(prisms, stations.columns(), request);
    for (std::size_t p = 0; p < n; ++p) {
      EXPECT_LT(relative_error(gradient(result, p, n), gradient(exact, p, n)), tolerance) << what << ", point " << p;
    }
  };
  request.execution.precision = Precision::single;
  expect_near(1e-3, "single");
  request.execution.precision = Precision::double_;
  request.execution.kernel = KernelKind::corners;
  expect_near(3e-12, "corners");
}

TEST_P(MagneticFields, GradientsHaveTheirValueWhereEdgesCancel) {
  // the eight parts of a prism meet at a point within
  const Vector m = {0.7, -1.1, 0.4}, inner = {30, 20, -15};
  const std::array<double, 6> prism = {0, 100, 0, 80, -60, 0};
  Magnets whole, parts;
  whole.add(prism, m);
  for (int part = 0; part < 8; ++part) {
    std::array<double, 6> of = prism;
    for (std::size_t d = 0; d < 3; ++d) of[2 * d + ((part >> d & 1) != 0 ? 0 : 1)] = inner[d];
    parts.add(of, m);
  }
  Stations stations;
  stations.add(inner);
  stations.add({30, 20, -40});
  stations.add({30, 20, 0});
  stations.add({0, 80, -15});
  const Request request = request_for(FieldList::magnetic_gradient(), GetParam());
  const Fields expected = forward(whole.list(), stations.columns(), request);
  const Fields found = forward(parts.list(), stations.columns(), request);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_LT(relative_error(gradient(found, p, 4), gradient(expected, p, 4)), 1e-12) << p;
  }
  EXPECT_EQ(found.singular_points, std::vector<std::int64_t>{3});
  EXPECT_TRUE(std::isfinite(matrix_norm(gradient(found, 3, 4))));
}

TEST_P(MagneticFields, OperatorsHaveRowsOfGradients) {
  std::mt19937 random(5);
  const std::array<double, 6> prism = {0, 100, -30, 50, -80, 0};
  Magnets magnets;
  magnets.add(prism, {0.7, -1.1, 0.4});
  magnets.add({200, 230, 0, 300, -200, -20}, {0.1, 0.2, -0.9});
  Stations stations;
  for (const Vector& point : points_around(prism, random)) stations.add(point);
  const FieldList fields = {Field::bz, Field::byz, Field::tmi, Field::tmi_x, Field::tmi_y, Field::tmi_z};
  const Request request = request_for(fields, GetParam());
  const PrismList prisms = magnets.list();
  const Fields expected = forward(prisms, stations.columns(), request);
  HostOperator op(prisms, stations.columns(), request);
  std::vector<double> rows(expected.values.size()), entries(2 * rows.size());
  op.apply(std::array<double, 2>{1, 1}, rows);
  op.entries(op.points(), entries);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double size = std::abs(entries[2 * i]) + std::abs(entries[2 * i + 1]);
    EXPECT_NEAR(rows[i], expected.values[i], 1e-11 * size);
    EXPECT_NEAR(entries[2 * i] + entries[2 * i + 1], expected.values[i], 1e-11 * size);
  }
}

TEST(MagneticGradients, AreWrittenInUnitsAndAxes) {
  for (const FieldInfo& field : FieldList::magnetic_gradient()) {
    EXPECT_EQ(field.unit, "nT/m");
    EXPECT_TRUE(field.is_magnetic && field.is_linear());
    const bool is_odd = field.name == "bxz" || field.name == "byz" || field.name == "tmi_z";
    EXPECT_EQ(output_factor(field.field, Axes::z_down), is_odd ? -1e9 : 1e9) << field.name;
  }
  EXPECT_EQ(smallest_set({Field::bxx}), FieldSet::magnetic_gradient);
  EXPECT_EQ(smallest_set({Field::tmi_z, Field::tmi}), FieldSet::magnetic_gradient);
  EXPECT_EQ(smallest_set({Field::amplitude}), FieldSet::magnetic);
}

INSTANTIATE_TEST_SUITE_P(Spaces, MagneticFields, ::testing::ValuesIn(built_spaces()),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace
}  // namespace prismfield::testing::test_magnetic
