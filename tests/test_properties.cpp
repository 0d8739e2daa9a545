// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// What must hold for the fields of any prisms, whatever a table says: symmetry, derivatives, Laplace and Poisson,
// limits, cutting and adding bodies, every place where a formula is singular, and independence of how the work is laid
// out.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/kokkos_facts.hpp"
#include "forward_helpers.hpp"

namespace prismfield::testing::test_properties {
namespace {

using Values = std::vector<TenValues>;

/// Uniform numbers that are the same on every machine.
class Draw {
public:
  explicit Draw(std::uint32_t seed) : m_engine(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(m_engine()) / 4294967296.0);
  }
  Point within(const Prism& p) {
    return {uniform(p.west, p.east), uniform(p.south, p.north), uniform(p.bottom, p.top)};
  }

private:
  std::mt19937 m_engine;
};

const Prism box{-3, 5, -2, 4, -6, -1, 2.5};

/// Points about `box`: inside, near, at the distances where the kernel changes its form, far.
std::vector<Point> points_about_box() {
  Draw draw(7);
  std::vector<Point> points{{0.5, 0.25, -2.0}, {-2.75, 3.5, -5.875},  {1, 1, 0},
                            {6, 5, 1},         {-3.25, -2.5, -6.125}, {5.0625, 1, -3}};
  for (int i = 0; i < 6; ++i) points.push_back(draw.within(box));
  for (const double distance : {10.0, 30.0, 100.0, 140.0, 170.0, 300.0, 700.0, 3000.0, 6000.0, 30000.0}) {
    for (int i = 0; i < 3; ++i) {
      points.push_back(
          {distance * draw.uniform(-1, 1), distance * draw.uniform(-1, 1), distance * draw.uniform(0.3, 1)});
    }
  }
  return points;
}

bool is_inside(const Prism& p, const Point& q) {
  return p.west < q[0] && q[0] < p.east && p.south < q[1] && q[1] < p.north && p.bottom < q[2] && q[2] < p.top;
}

Prism shifted(const Prism& p, const Point& by) {
  return {p.west + by[0], p.east + by[0], p.south + by[1], p.north + by[1], p.bottom + by[2], p.top + by[2], p.density};
}

Prism scaled(const Prism& p, double by) {
  return {by * p.west, by * p.east, by * p.south, by * p.north, by * p.bottom, by * p.top, p.density};
}

Point plus(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point times(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }

template <class Transform>
auto mapped(const std::vector<Point>& points, Transform transform) {
  std::vector<Point> out;
  for (const Point& p : points) out.push_back(transform(p));
  return out;
}

/// The rectilinear cells between consecutive edges, density by cell number, easting fastest.
template <class Density>
std::vector<Prism> cells_between(const std::vector<double>& x, const std::vector<double>& y,
                                 const std::vector<double>& z, Density density) {
  std::vector<Prism> cells;
  for (std::size_t k = 0; k + 1 < z.size(); ++k) {
    for (std::size_t j = 0; j + 1 < y.size(); ++j) {
      for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        cells.push_back({x[i], x[i + 1], y[j], y[j + 1], z[k], z[k + 1], density(cells.size())});
      }
    }
  }
  return cells;
}

/// |V|, |g|, norm of T; inside and near a body at least a thousandth of what it can do, because the terms that are
/// rounded are of that size however small their sum is.
Scales scales_near(const TenValues& v, const std::vector<Prism>& body, const Point& at) {
  Scales s{std::abs(v[0]), norm_of_vector(v), norm_of_tensor(v)};
  for (const Prism& p : body) {
    if (distance_to_centre(p, at) > 3 * p.longest_edge()) continue;
    s.vector = std::max(s.vector, 2e-3 * pi * std::abs(p.density) * p.longest_edge());
    s.tensor = std::max(s.tensor, 2e-3 * pi * std::abs(p.density));
  }
  return s;
}

std::string place(const Point& q) {
  std::ostringstream out;
  out << std::setprecision(17) << "at " << q[0] << ' ' << q[1] << ' ' << q[2];
  return out.str();
}

/// Where and in which arithmetic a property is tested.
struct Manner {
  Space space;
  Precision precision;
};

std::string name_of(const Manner& manner) { return std::string(name(manner.space)) + "_" + name(manner.precision); }

void PrintTo(const Manner& manner, std::ostream* out) { *out << name_of(manner); }

/// What was built in runs: the tests below do not skip it.
TEST(Spaces, WhatWasBuiltRuns) {
  const KokkosFacts facts = kokkos_facts();
  ASSERT_FALSE(facts.spaces.empty());
  for (const Space space : {Space::serial, Space::openmp, Space::cuda, Space::hip}) {
    const bool built = std::find(facts.spaces.begin(), facts.spaces.end(), name(space)) != facts.spaces.end();
    const bool device = !is_device(space) || !facts.devices.empty();
    EXPECT_EQ(!unavailable(space).has_value(), built && device) << name(space);
  }
}

class FieldTest : public ::testing::TestWithParam<Manner> {
protected:
  void SetUp() override {
    if (const auto reason = unavailable(GetParam().space)) GTEST_SKIP() << *reason;
    m_execution.space = GetParam().space;
    m_execution.precision = GetParam().precision;
    // A unit cube held off from every edge tells by itself how well the field of one prism is known: 1e-12 is promised
    // in double; in float the forms lose some tens of roundings of 6e-8 (shared knowledge of the kernel: 3e-6 for
    // cubes, 2e-5 for slabs and needles at the distances where the multipoles do not hold yet).
    m_accuracy = in_double() ? 1e-12 : 2e-5;
  }

  [[nodiscard]] bool in_double() const { return m_execution.precision == Precision::double_; }
  /// Rounding of the arithmetic in use.
  [[nodiscard]] double epsilon() const {
    return in_double() ? std::numeric_limits<double>::epsilon()
                       : static_cast<double>(std::numeric_limits<float>::epsilon());
  }

  [[nodiscard]] Values compute(const std::vector<Prism>& prisms, const std::vector<Point>& points) const {
    return ::prismfield::testing::compute(m_execution, prisms, points);
  }

  void expect_equal(const TenValues& actual, const TenValues& expected, const Scales& scale, double tolerance,
                    const std::string& where) const {
    const Errors e = errors_of(actual, expected, scale);
    EXPECT_LE(e.potential, tolerance) << where << ", V: " << std::setprecision(17) << actual[0] << " for "
                                      << expected[0];
    EXPECT_LE(e.vector, tolerance) << where << ", g:" << digits(actual) << "\n for" << digits(expected);
    EXPECT_LE(e.tensor, tolerance) << where << ", T:" << digits(actual) << "\n for" << digits(expected);
  }

  void expect_equal(const Values& actual, const Values& expected, const std::vector<Prism>& body,
                    const std::vector<Point>& points, double tolerance) const {
    ASSERT_EQ(actual.size(), points.size());
    ASSERT_EQ(expected.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      expect_equal(actual[i], expected[i], scales_near(expected[i], body, points[i]), tolerance, place(points[i]));
    }
  }

  Execution m_execution;
  double m_accuracy = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Spaces, FieldTest,
    ::testing::Values(Manner{Space::serial, Precision::double_}, Manner{Space::serial, Precision::single},
                      Manner{Space::openmp, Precision::double_}, Manner{Space::openmp, Precision::single},
                      Manner{Space::cuda, Precision::double_}, Manner{Space::cuda, Precision::single},
                      Manner{Space::hip, Precision::double_}, Manner{Space::hip, Precision::single}),
    [](const auto& param) { return name_of(param.param); });

// ---- symmetry

/// Looking at prism and points in a mirror changes the sign of the components with one index across it.
TEST_P(FieldTest, MirrorSymmetry) {
  const std::vector<Point> points = points_about_box();
  const Values original = compute({box}, points);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Prism image = box;
    if (axis == 0) std::tie(image.west, image.east) = std::tuple(-box.east, -box.west);
    if (axis == 1) std::tie(image.south, image.north) = std::tuple(-box.north, -box.south);
    if (axis == 2) std::tie(image.bottom, image.top) = std::tuple(-box.top, -box.bottom);
    const std::vector<Point> images = mapped(points, [axis](Point p) {
      p[axis] = -p[axis];
      return p;
    });
    Values mirrored = compute({image}, images);
    for (TenValues& v : mirrored) {
      constexpr std::array<std::array<Field, 3>, 3> odd{{{Field::gx, Field::gxy, Field::gxz},
                                                         {Field::gy, Field::gxy, Field::gyz},
                                                         {Field::gz, Field::gxz, Field::gyz}}};
      for (const Field f : odd[axis]) v[static_cast<std::size_t>(f)] *= -1;
    }
    expect_equal(mirrored, original, {box}, points, 2 * m_accuracy);
  }
}

/// Renaming the axes renames the components.
TEST_P(FieldTest, AxisPermutation) {
  const std::vector<Point> points = points_about_box();
  const Values original = compute({box}, points);
  const Prism turned{box.bottom, box.top, box.west, box.east, box.south, box.north, box.density};
  const Values cyclic = compute({turned}, mapped(points, [](const Point& p) { return Point{p[2], p[0], p[1]}; }));
  const Prism swapped{box.south, box.north, box.west, box.east, box.bottom, box.top, box.density};
  const Values swap = compute({swapped}, mapped(points, [](const Point& p) { return Point{p[1], p[0], p[2]}; }));
  Values from_cyclic, from_swap;
  // order of a value: V, x, y, z, xx, yy, zz, xy, xz, yz
  for (const TenValues& v : cyclic) from_cyclic.push_back({v[0], v[2], v[3], v[1], v[5], v[6], v[4], v[9], v[7], v[8]});
  for (const TenValues& v : swap) from_swap.push_back({v[0], v[2], v[1], v[3], v[5], v[4], v[6], v[7], v[9], v[8]});
  expect_equal(from_cyclic, original, {box}, points, 2 * m_accuracy);
  expect_equal(from_swap, original, {box}, points, 2 * m_accuracy);
}

// ---- derivatives

/// g is the gradient of V and T that of g. Central differences of order 6 with steps of a fraction of the distance to
/// the surface: their own error is 36 fraction^6, and errors of the fields grow by 1.5 / fraction.
TEST_P(FieldTest, FiniteDifferences) {
  const double fraction = in_double() ? 1.0 / 256 : 1.0 / 16;
  const double tolerance = 10 * (36 * std::pow(fraction, 6) + m_accuracy * 1.5 / fraction);
  for (const Point& at : points_about_box()) {
    if (in_double() ? distance_to_centre(box, at) > 1000 : distance_to_centre(box, at) > 100) continue;
    const double step = fraction * distance_to_surface(box, at);
    std::vector<Point> points{at};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int n : {-3, -2, -1, 1, 2, 3}) {
        points.push_back(at);
        points.back()[axis] += n * step;
      }
    }
    const Values v = compute({box}, points);
    const auto derivative = [&](Field f, std::size_t axis) {
      constexpr std::array<double, 6> weights{-1, 9, -45, 45, -9, 1};
      double sum = 0;
      for (std::size_t n = 0; n < 6; ++n) sum += weights[n] * value(v[1 + 6 * axis + n], f);
      return sum / (60 * step);
    };
    const double of_vector = norm_of_vector(v[0]) + std::abs(v[0][0]) / std::hypot(distance_to_centre(box, at), 1);
    const double of_tensor = norm_of_tensor(v[0]) + norm_of_vector(v[0]) / std::hypot(distance_to_centre(box, at), 1);
    constexpr std::array<Field, 3> vector{Field::gx, Field::gy, Field::gz};
    constexpr std::array<std::array<Field, 3>, 3> tensor{{{Field::gxx, Field::gxy, Field::gxz},
                                                          {Field::gxy, Field::gyy, Field::gyz},
                                                          {Field::gxz, Field::gyz, Field::gzz}}};
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_NEAR(derivative(Field::potential, a), value(v[0], vector[a]), tolerance * of_vector)
          << place(at) << ", derivative of V along " << a;
      for (std::size_t b = 0; b < 3; ++b) {
        EXPECT_NEAR(derivative(vector[a], b), value(v[0], tensor[a][b]), tolerance * of_tensor)
            << place(at) << ", derivative of g " << a << " along " << b;
      }
    }
  }
}

double trace(const TenValues& v) { return v[4] + v[5] + v[6]; }

/// The three diagonal components are computed independently; outside they add up to nothing.
TEST_P(FieldTest, LaplaceOutside) {
  const std::vector<Point> points = points_about_box();
  const Values v = compute({box}, points);
  int outside = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_inside(box, points[i])) continue;
    ++outside;
    EXPECT_LE(std::abs(trace(v[i])), 2 * m_accuracy * norm_of_tensor(v[i])) << place(points[i]);
  }
  EXPECT_GE(outside, 30);
}

/// -4 pi G rho inside, the part of it that the body's opening holds on faces, edges and corners.
TEST_P(FieldTest, PoissonInside) {
  const auto expect_trace = [&](const std::vector<Point>& points, double expected) {
    const Values v = compute({box}, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(trace(v[i]), expected * box.density, 3 * m_accuracy * norm_of_tensor(v[i])) << place(points[i]);
    }
  };
  Draw draw(11);
  std::vector<Point> inside;
  for (int i = 0; i < 20; ++i) inside.push_back(draw.within(box));
  for (const double near : {1e-1, 1e-3, 1e-6, 1e-9}) {
    // in single such a point may be rounded onto the face
    if (m_execution.precision != Precision::single || near > 1e-4) inside.push_back({box.east - near, 1, -2});
  }
  inside.push_back({1, 1, -3.5});
  expect_trace(inside, -4 * pi);
  expect_trace({{box.west, 1, -2},
                {box.east, 0, -5},
                {1, box.south, -2},
                {2, box.north, -3},
                {0, 0, box.bottom},
                {1, 3, box.top}},
               -2 * pi);
  expect_trace({{box.west, box.south, -2},
                {box.east, box.south, -2},
                {box.west, 1, box.top},
                {box.east, 1, box.bottom},
                {0, box.north, box.top},
                {0, box.south, box.bottom}},
               -pi);
  expect_trace({{box.west, box.south, box.bottom}, {box.east, box.north, box.top}, {box.east, box.south, box.top}},
               -pi / 2);
}

/// On a face the tensor is the mean of both sides, to second order in their distance. The attraction across the face
/// has a kink there: its slope is 4 pi rho less inside, so its mean lies 2 pi rho times the distance off, outwards.
TEST_P(FieldTest, MeanOfBothSidesOnFaces) {
  const double step = std::ldexp(1.0, in_double() ? -20 : -9);
  const std::vector<std::pair<Point, std::size_t>> faces{{{box.west, 1, -2}, 0},  {{box.east, -1.5, -5}, 0},
                                                         {{1, box.south, -2}, 1}, {{2, box.north, -3}, 1},
                                                         {{0, 0, box.bottom}, 2}, {{4.5, 3, box.top}, 2}};
  for (const auto& [at, axis] : faces) {
    std::vector<Point> points{at, at, at};
    points[1][axis] -= step;
    points[2][axis] += step;
    const Values v = compute({box}, points);
    TenValues mean;
    for (std::size_t f = 0; f < n_gravity_fields; ++f) mean[f] = (v[1][f] + v[2][f]) / 2;
    const double outwards = is_inside(box, points[1]) ? 1 : -1;
    mean[1 + axis] -= outwards * 2 * pi * box.density * step;
    expect_equal(v[0], mean, scales_near(v[0], {box}, at), 2 * m_accuracy + 10 * step * step, place(at));
    // and the two sides differ by 4 pi rho in the component across the face alone
    EXPECT_NEAR(std::abs(v[1][4 + axis] - v[2][4 + axis]), 4 * pi * box.density, 20 * (step + m_accuracy) * box.density)
        << place(at);
  }
}

/// On edges and corners V and g are the limits, and so are the components that hold the edge's own direction. The mean
/// over eight neighbours differs by second order in their distance, times its logarithm, once the kink of g is taken
/// off: pi rho times the distance across each side of an edge, half of it at a corner.
TEST_P(FieldTest, LimitsOnEdgesAndCorners) {
  const double step = std::ldexp(1.0, in_double() ? -20 : -9);
  const double tolerance = 4 * m_accuracy + 20 * step * step * std::log(1 / step);
  struct Place {
    Point at;
    std::vector<Field> fields;
  };
  const std::vector<Field> vector{Field::potential, Field::gx, Field::gy, Field::gz};
  auto with = [&](std::vector<Field> more) {
    more.insert(more.begin(), vector.begin(), vector.end());
    return more;
  };
  const std::vector<Place> places{
      {{box.east, box.north, -2}, with({Field::gzz, Field::gxz, Field::gyz})},
      {{box.west, box.north, -5}, with({Field::gzz, Field::gxz, Field::gyz})},
      {{box.east, 1, box.top}, with({Field::gyy, Field::gxy, Field::gyz})},
      {{-1, box.south, box.top}, with({Field::gxx, Field::gxy, Field::gxz})},
      {{box.west, box.south, box.bottom}, vector},
      {{box.east, box.south, box.top}, vector},
  };
  for (const Place& p : places) {
    std::vector<Point> points{p.at};
    for (int side = 0; side < 8; ++side) {
      points.push_back(
          plus(p.at, {(side & 1) != 0 ? step : -step, (side & 2) != 0 ? step : -step, (side & 4) != 0 ? step : -step}));
    }
    const Values v = compute({box}, points);
    const std::array<double, 3> outwards{p.at[0] == box.east   ? 1.0
                                         : p.at[0] == box.west ? -1.0
                                                               : 0.0,
                                         p.at[1] == box.north   ? 1.0
                                         : p.at[1] == box.south ? -1.0
                                                                : 0.0,
                                         p.at[2] == box.top      ? 1.0
                                         : p.at[2] == box.bottom ? -1.0
                                                                 : 0.0};
    const bool corner = outwards[0] * outwards[1] * outwards[2] != 0;
    for (const Field f : p.fields) {
      double mean = 0;
      for (std::size_t side = 1; side <= 8; ++side) mean += value(v[side], f) / 8;
      const int number = static_cast<int>(f);
      if (number >= 1 && number <= 3) {
        mean -= outwards[static_cast<std::size_t>(number - 1)] * (corner ? 0.5 : 1) * pi * box.density * step;
      }
      const double scale = f == Field::potential     ? v[0][0]
                           : static_cast<int>(f) < 4 ? norm_of_vector(v[0])
                                                     : 4 * pi * box.density;
      EXPECT_NEAR(value(v[0], f), mean, tolerance * scale) << place(p.at) << ", " << info(f).name;
    }
  }
}

/// V at a cube's corner is half of that at its centre, where the tensor is -4 pi / 3 in each direction.
TEST_P(FieldTest, CubeIdentities) {
  for (const double edge : {1e-3, 2.0, 77.0, 1e6}) {
    const Prism cube{-edge / 2, edge / 2, -edge / 2, edge / 2, -edge / 2, edge / 2, 1.75};
    const Values v = compute({cube}, {{0, 0, 0}, {edge / 2, edge / 2, edge / 2}, {-edge / 2, edge / 2, -edge / 2}});
    // The number has the digits of the closed form 3 ln(2 + sqrt 3) - pi / 2.
    const double centre = (3 * std::log(2 + std::sqrt(3.0)) - pi / 2) * cube.density * edge * edge;
    EXPECT_NEAR(centre, 2.380077364 * cube.density * edge * edge, 1e-9 * centre);
    EXPECT_NEAR(v[0][0], centre, m_accuracy * centre);
    EXPECT_NEAR(v[1][0], centre / 2, m_accuracy * centre);
    EXPECT_NEAR(v[2][0], centre / 2, m_accuracy * centre);
    EXPECT_LE(norm_of_vector(v[0]), m_accuracy * 2 * pi * cube.density * edge);
    for (const std::size_t f : {4U, 5U, 6U}) EXPECT_NEAR(v[0][f], -4 * pi / 3 * cube.density, 10 * m_accuracy);
    for (const std::size_t f : {7U, 8U, 9U}) EXPECT_NEAR(v[0][f], 0, 10 * m_accuracy);
  }
}

// ---- limits

/// Attraction of a square slab above its centre by Gauss-Legendre quadrature of the square's solid angle, which is
/// smooth: nothing of the prism's formulas is in it.
double solid_angle_of_square(double half_width, double distance) {
  return 4 *
         std::atan(half_width * half_width / (distance * std::sqrt(2 * half_width * half_width + distance * distance)));
}
double attraction_of_slab(double half_width, double distance, double thickness) {
  constexpr std::array<double, 5> node{0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                       0.9739065285171717};
  constexpr std::array<double, 5> weight{0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
                                         0.0666713443086881};
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    for (const double side : {-1.0, 1.0}) {
      sum += weight[i] * solid_angle_of_square(half_width, distance + thickness * (1 + side * node[i]) / 2);
    }
  }
  return sum * thickness / 2;
}

/// A wide slab attracts with 2 pi G rho t, less what its edges lack, wherever the point is above or below it.
TEST_P(FieldTest, SlabLimit) {
  for (const double half_width : {8.0, 50.0, 500.0}) {
    const Prism slab{-half_width, half_width, -half_width, half_width, -1, 0, 3};
    for (const double distance : {0.0, 0.25, 1.0, 4.0}) {
      const Values v = compute({slab}, {{0, 0, distance}, {0, 0, -1 - distance}});
      const double expected = attraction_of_slab(half_width, distance, 1) * slab.density;
      EXPECT_NEAR(expected, 2 * pi * slab.density, 2 * pi * slab.density * 2 * (distance + 1) / half_width);
      // aspect 1000:1 has a goal of its own
      const double tolerance = (half_width > 50 ? 5 : 1) * m_accuracy;
      EXPECT_NEAR(v[0][3], -expected, tolerance * expected) << distance << " above, half width " << half_width;
      EXPECT_NEAR(v[1][3], expected, tolerance * expected) << distance << " below, half width " << half_width;
      if (distance > 0) {
        const double gradient =
            solid_angle_of_square(half_width, distance) - solid_angle_of_square(half_width, distance + 1);
        EXPECT_NEAR(v[0][6], gradient * slab.density, 4 * pi * slab.density * tolerance) << distance;
      }
    }
  }
}

/// Far away only the mass counts: a cube has no quadrupole, so the rest is (edge / distance)^4.
TEST_P(FieldTest, PointMassLimit) {
  const Prism cube{-1, 1, -1, 1, -1, 1, 4};
  const double mass = cube.volume() * cube.density;
  for (const double distance : {2e3, 2e4, 2e5, 2e7}) {
    for (const Point& way :
         std::vector<Point>{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0.6, 0.48, 0.64}, {-0.36, 0.48, -0.8}}) {
      const Point at = times(distance, way);
      const TenValues v = compute({cube}, {at})[0];
      const double r = std::hypot(at[0], at[1], at[2]);
      const double r3 = r * r * r;
      TenValues expected{mass / r};
      for (std::size_t a = 0; a < 3; ++a) {
        expected[1 + a] = -mass * at[a] / r3;
        expected[4 + a] = mass * (3 * square(at[a] / r) - 1) / r3;
      }
      expected[7] = 3 * mass * (at[0] / r) * (at[1] / r) / r3;
      expected[8] = 3 * mass * (at[0] / r) * (at[2] / r) / r3;
      expected[9] = 3 * mass * (at[1] / r) * (at[2] / r) / r3;
      const Scales scale{expected[0], norm_of_vector(expected), norm_of_tensor(expected)};
      expect_equal(v, expected, scale, m_accuracy + 10 * std::pow(2 / distance, 4), place(at));
    }
  }
}

// ---- cutting and adding

struct Cut {
  std::string name;
  std::vector<double> x, y, z;
};

/// Uneven cuts, so that cells of different size and longest edge meet.
const std::vector<Cut> cuts{
    {"two along x", {-3, 1.5, 5}, {-2, 4}, {-6, -1}},
    {"two along y", {-3, 5}, {-2, -1.25, 4}, {-6, -1}},
    {"two along z", {-3, 5}, {-2, 4}, {-6, -5.75, -1}},
    {"eight", {-3, 0.5, 5}, {-2, 1.25, 4}, {-6, -2.5, -1}},
    {"twenty-seven", {-3, -2.5, 4.25, 5}, {-2, 0.125, 1.5, 4}, {-6, -4, -1.0625, -1}},
};

/// Every node, mid-edge, mid-face and mid-cell of the cut, and the cut's planes and lines carried on outside the body.
std::vector<Point> places_of(const Cut& cut) {
  const auto ticks = [](const std::vector<double>& edges) {
    std::vector<double> t{edges.front() - 4};
    for (std::size_t i = 0; i < edges.size(); ++i) {
      t.push_back(edges[i]);
      t.push_back(i + 1 < edges.size() ? (edges[i] + edges[i + 1]) / 2 : edges[i] + 9);
    }
    return t;
  };
  std::vector<Point> points;
  for (const double x : ticks(cut.x)) {
    for (const double y : ticks(cut.y)) {
      for (const double z : ticks(cut.z)) points.push_back({x, y, z});
    }
  }
  return points;
}

/// True on the body's own edges and corners, where the tensor has no value to compare.
bool on_edge(const Prism& p, const Point& q) {
  const bool touches =
      p.west <= q[0] && q[0] <= p.east && p.south <= q[1] && q[1] <= p.north && p.bottom <= q[2] && q[2] <= p.top;
  const int sides = (q[0] == p.west || q[0] == p.east ? 1 : 0) + (q[1] == p.south || q[1] == p.north ? 1 : 0) +
                    (q[2] == p.bottom || q[2] == p.top ? 1 : 0);
  return touches && sides >= 2;
}

/// A prism cut in pieces has the same fields, on the inner faces, edges and corners too, where infinite parts cancel.
TEST_P(FieldTest, Subdivision) {
  struct Frame {
    double scale;
    Point shift;
  };
  // The second is one of UTM coordinates in which a metre is small, the third one where it is large.
  const std::vector<Frame> frames{{1, {0, 0, 0}}, {512, {500'000, 4'649'776, -1'000}}, {1.0 / 1024, {0, 0, 0}}};
  for (const Frame& frame : frames) {
    for (const Cut& cut : cuts) {
      SCOPED_TRACE(cut.name + ", scale " + std::to_string(frame.scale));
      const auto place_prism = [&](const Prism& p) { return shifted(scaled(p, frame.scale), frame.shift); };
      std::vector<Point> places = places_of(cut);
      for (const Point& p : points_about_box()) places.push_back(p);
      const std::vector<Point> points =
          mapped(places, [&](const Point& p) { return plus(times(frame.scale, p), frame.shift); });
      std::vector<Prism> pieces = cells_between(cut.x, cut.y, cut.z, [](std::size_t) { return box.density; });
      for (Prism& p : pieces) p = place_prism(p);
      const Prism whole = place_prism(box);
      Values expected = compute({whole}, points);
      const Fields result = run_forward(m_execution, pieces, points);
      Values actual;
      std::vector<std::int64_t> singular;
      for (std::size_t i = 0; i < points.size(); ++i) {
        actual.push_back(values_at(result, i));
        if (on_edge(whole, points[i])) {
          singular.push_back(static_cast<std::int64_t>(i));
          for (std::size_t f = 4; f < n_gravity_fields; ++f) expected[i][f] = std::numeric_limits<double>::quiet_NaN();
        }
      }
      expect_equal(actual, expected, {whole}, points, 4 * m_accuracy);
      EXPECT_EQ(result.singular_points, singular);
    }
  }
}

/// A face of one cell on which two others meet: their common edge ends nowhere, and cells of different length meet on
/// an edge.
TEST_P(FieldTest, SubdivisionWithTJunctions) {
  const std::vector<Prism> pieces{{-3, 1.5, -2, 4, -6, -1, box.density},
                                  {1.5, 5, -2, 0.75, -6, -1, box.density},
                                  {1.5, 5, 0.75, 4, -6, -3.5, box.density},
                                  {1.5, 5, 0.75, 4, -3.5, -1, box.density}};
  const std::vector<Point> places{{1.5, 0.75, -2},  {1.5, 0.75, -3.5}, {1.5, 0.75, -1}, {1.5, 0.75, -6},
                                  {1.5, 2, -3.5},   {1.5, 4, -3.5},    {3, 0.75, -3.5}, {5, 0.75, -3.5},
                                  {5, 0.75, -2},    {3, 0.75, -1},     {1.5, 0.75, 2},  {1.5, 0.75, -9},
                                  {-7, 0.75, -3.5}, {1.5, 9, -3.5},    {1.5, -2, -3.5}, {1.5, -1, -3.5},
                                  {0, 0.75, -3.5},  {2, 1, -2},        {2, 0.5, -3.5},  {1.5, 0.75, -3.515625}};
  for (const double by : {1.0, 512.0, 1.0 / 1024, 1.0 / 1048576}) {
    SCOPED_TRACE("scale " + std::to_string(by));
    std::vector<Prism> cells;
    for (const Prism& p : pieces) cells.push_back(scaled(p, by));
    const Prism whole = scaled(box, by);
    const std::vector<Point> points = mapped(places, [by](const Point& p) { return times(by, p); });
    expect_equal(compute(cells, points), compute({whole}, points), {whole}, points, 4 * m_accuracy);
    EXPECT_TRUE(run_forward(m_execution, cells, points).singular_points.empty());
  }
}

/// What cells of one shape share is prepared once: the same fields as from cells prepared one by one.
TEST_P(FieldTest, CellsOfOneShape) {
  // widths that are no doubles, as of the seven spheres
  const std::vector<Prism> cells =
      cells_between({0, 22000.0 / 700, 2 * (22000.0 / 700)}, {5000, 5000 + 22000.0 / 700}, {-4160, -4000, -3840},
                    [](std::size_t n) { return 100.0 + 10 * static_cast<double>(n); });
  std::vector<Point> points;
  for (const Point& p : points_about_box()) points.push_back(plus(times(20, p), {30, 5010, -4000}));
  points.push_back({22000.0 / 700, 5010, -4000});
  const Fields apart = run_forward(make_request(m_execution), ListEnsemble(cells), points);
  const Fields shared = run_forward(make_request(m_execution), ListEnsemble(cells, true), points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TenValues expected = values_at(apart, i);
    expect_equal(values_at(shared, i), expected, scales_near(expected, cells, points[i]), 2 * m_accuracy,
                 place(points[i]));
  }
  EXPECT_EQ(shared.singular_points, apart.singular_points);
  EXPECT_EQ(shared.points_inside, apart.points_inside);
}

/// Fields add, and they are proportional to the density and to G.
TEST_P(FieldTest, SuperpositionAndLinearity) {
  std::vector<Prism> prisms{box,
                            {7, 9, -3, 0, -8, 2, -1.5},
                            {-20, -12, 6, 6.5, -3, 0, 0.25},
                            {100, 130, 40, 50, -60, -20, 1},
                            {-3000, -2500, 0, 400, -900, 0, -2}};
  const std::vector<Point> points = points_about_box();
  const Values together = compute(prisms, points);
  Values sum(points.size(), TenValues{});
  std::vector<Scales> scale(points.size(), Scales{0, 0, 0});
  for (const Prism& p : prisms) {
    const Values one = compute({p}, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t f = 0; f < n_gravity_fields; ++f) sum[i][f] += one[i][f];
      scale[i].potential += std::abs(one[i][0]);
      scale[i].vector += norm_of_vector(one[i]);
      scale[i].tensor += norm_of_tensor(one[i]);
    }
  }
  // The same numbers are added, perhaps in another precision: a rounding for each prism. In single, coordinates are
  // rounded relative to an ensemble's centre, which is another one for each prism alone.
  const double tolerance = m_execution.precision == Precision::single ? 1e-3 : 20 * epsilon();
  for (std::size_t i = 0; i < points.size(); ++i)
    expect_equal(together[i], sum[i], scale[i], tolerance, place(points[i]));

  Request run = make_request(m_execution);
  run.gravitational_constant = 6.6743e-11;
  for (Prism& p : prisms) p.density *= -3;
  const Fields result = run_forward(run, prisms, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    TenValues back = values_at(result, i);
    for (double& x : back) x /= -3 * 6.6743e-11;
    expect_equal(back, together[i], scale[i], 20 * epsilon(), place(points[i]));
  }
}

TEST_P(FieldTest, NothingGivesZero) {
  const std::vector<Point> points{{1, 1, 1}, {box.east, box.north, box.top}, {100, 2, 3}, {0, 0, -2}};
  Prism weightless = box;
  weightless.density = 0;
  for (const TenValues& v : compute({weightless}, points)) {
    for (const double x : v) EXPECT_EQ(x, 0);
  }
  for (const TenValues& v : compute({}, points)) {
    for (const double x : v) EXPECT_EQ(x, 0);
  }
  const Fields nowhere = run_forward(m_execution, {box}, {});
  EXPECT_TRUE(nowhere.values.empty());
  EXPECT_EQ(nowhere.pairs, 0);
}

// ---- coordinates

/// Coordinates of the size of UTM's lose nothing: only differences enter. The shifts are exact in double, so the
/// differences are the same and the results should be to a few roundings.
TEST_P(FieldTest, TranslationToLargeCoordinates) {
  std::vector<Point> points = points_about_box();
  // multiples of 1/64 keep the shifted coordinates exact
  for (Point& p : points) p = {std::round(p[0] * 64) / 64, std::round(p[1] * 64) / 64, std::round(p[2] * 64) / 64};
  points.insert(points.end(), {{box.east, box.north, box.top}, {box.west, 1, -3}, {box.east, box.north, 3}});
  const Values original = compute({box}, points);
  for (const Point& shift :
       std::vector<Point>{{500'000, 4'649'776, 0}, {-166'021.4375, 9'329'005.25, 8848}, {1e9, -1e9, 1e9}}) {
    const Values moved = compute({shifted(box, shift)}, mapped(points, [&](const Point& p) { return plus(p, shift); }));
    expect_equal(moved, original, {box}, points, 8 * epsilon());
  }
}

/// Kilometres or millimetres: V grows with the square of lengths, g linearly, T not at all.
TEST_P(FieldTest, Scaling) {
  const std::vector<Point> points = points_about_box();
  const Values original = compute({box}, points);
  for (const double by :
       {std::ldexp(1.0, -30), std::ldexp(1.0, -10), std::ldexp(1.0, 10), std::ldexp(1.0, 20), 1e3, 0.3}) {
    Values back = compute({scaled(box, by)}, mapped(points, [by](const Point& p) { return times(by, p); }));
    for (TenValues& v : back) {
      v[0] /= by * by;
      for (std::size_t f = 1; f < 4; ++f) v[f] /= by;
    }
    SCOPED_TRACE("scale " + std::to_string(by));
    expect_equal(back, original, {box}, points, 2 * m_accuracy);
  }
}

// ---- singular places

/// All faces', edges' and corners' places of a prism, extensions of its edges and faces, its centre, and the neighbours
/// of each, down to the next number.
std::vector<Point> hostile_places(const Prism& p) {
  const std::array<std::vector<double>, 3> ticks{
      std::vector<double>{p.west - 3 * (p.east - p.west), p.west, (p.west + p.east) / 2, p.east,
                          p.east + 1e3 * (p.east - p.west)},
      std::vector<double>{p.south - 3 * (p.north - p.south), p.south, (p.south + p.north) / 2, p.north,
                          p.north + 1e3 * (p.north - p.south)},
      std::vector<double>{p.bottom - 3 * (p.top - p.bottom), p.bottom, (p.bottom + p.top) / 2, p.top,
                          p.top + 1e3 * (p.top - p.bottom)}};
  std::vector<Point> places;
  for (const double x : ticks[0]) {
    for (const double y : ticks[1]) {
      for (const double z : ticks[2]) {
        const Point at{x, y, z};
        places.push_back(at);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          for (const double towards : {-1e300, 1e300}) {
            Point neighbour = at;
            neighbour[axis] = std::nextafter(at[axis], towards);
            places.push_back(neighbour);
            neighbour[(axis + 1) % 3] = std::nextafter(at[(axis + 1) % 3], -towards);
            places.push_back(neighbour);
          }
          Point near = at;
          near[axis] += 1e-9 * p.longest_edge();
          places.push_back(near);
        }
      }
    }
  }
  return places;
}

/// A finite input never gives NaN or infinity.
TEST_P(FieldTest, FiniteAtEverySingularPlace) {
  // With sides at 0 the neighbours are the smallest numbers there are.
  const std::vector<Prism> prisms{{0, 1, 0, 1, 0, 1, 1},
                                  {-1, 0, -2, 0, -1, 0, 2},
                                  box,
                                  {-0.1, 0.7, 0.3, 0.9, -0.6, 0.2, 1},
                                  {500'000, 500'100, 4'649'776, 4'650'776, -50, 0, 300},
                                  {0, 1000, 0, 1000, -1, 0, 1},
                                  {0, 1, 0, 1, -1000, 0, 1},
                                  {0, 1e-6, 0, 1e-6, 0, 1e-6, 1},
                                  {-1e7, 1e7, -1e7, 1e7, -1e6, 0, 3000}};
  for (const Prism& p : prisms) {
    const std::vector<Point> points = hostile_places(p);
    const Values v = compute({p}, points);
    int not_finite = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t f = 0; f < n_gravity_fields; ++f) {
        if (std::isfinite(v[i][f])) continue;
        ++not_finite;
        if (not_finite < 4) {
          ADD_FAILURE() << field_infos[f].name << " is " << v[i][f] << ' ' << place(points[i]) << ", prism from "
                        << p.west << ' ' << p.south << ' ' << p.bottom << " to " << p.east << ' ' << p.north << ' '
                        << p.top;
        }
      }
    }
    EXPECT_EQ(not_finite, 0) << "values that are not finite in all";
    // one by one as well, where other code may run
    for (std::size_t i = 0; i < points.size(); i += 7) {
      const TenValues alone = compute({p}, {points[i]})[0];
      for (const double x : alone) EXPECT_TRUE(std::isfinite(x)) << place(points[i]);
    }
  }
}

/// The next number from a singular place must not be far from it: V and g have no jumps there.
TEST_P(FieldTest, ContinuousAtSingularPlaces) {
  for (const Prism& p :
       std::vector<Prism>{{0, 1, 0, 1, 0, 1, 1}, box, {500'000, 500'100, 4'649'776, 4'650'776, -50, 0, 300}}) {
    const std::vector<Point> points = hostile_places(p);
    const Values v = compute({p}, points);
    // hostile_places lists each place before its 15 neighbours
    constexpr std::size_t group = 16;
    ASSERT_EQ(points.size() % group, 0U);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t centre = i - i % group;
      const TenValues& at = v[centre];
      // neighbours lie within 2e-9 edges, over which g changes by 4 pi rho times that and a logarithm of it
      const double moved = 2e-9 * p.longest_edge();
      EXPECT_NEAR(v[i][0], at[0],
                  2 * m_accuracy * at[0] + norm_of_vector(at) * moved * 2 + 20 * p.density * moved * moved)
          << place(points[i]);
      const double scale =
          std::max(norm_of_vector(at), 2e-3 * pi * p.density * p.longest_edge() *
                                           (distance_to_centre(p, points[i]) < 3 * p.longest_edge() ? 1 : 0));
      const double change =
          moved * (distance_to_centre(p, points[i]) < 3 * p.longest_edge() ? 300 * p.density : norm_of_tensor(at));
      for (std::size_t f = 1; f < 4; ++f) {
        EXPECT_NEAR(v[i][f], at[f], 2 * m_accuracy * scale + change) << place(points[i]) << ' ' << field_infos[f].name;
      }
    }
  }
}

std::vector<std::int64_t> singular_points(const Execution& execution, const std::vector<Prism>& prisms,
                                          const std::vector<Point>& points) {
  return run_forward(execution, prisms, points).singular_points;
}

TEST_P(FieldTest, SingularPointsOfOnePrism) {
  const Point middle{1, 1, -3};
  std::vector<Point> points;
  std::vector<std::int64_t> expected;
  const auto add = [&](const Point& p, bool singular) {
    if (singular) expected.push_back(static_cast<std::int64_t>(points.size()));
    points.push_back(p);
  };
  for (const Point& shift : std::vector<Point>{{0, 0, 0}, {500'000, 4'649'776, -1000}}) {
    points.clear();
    expected.clear();
    add(plus(middle, shift), false);
    for (const double x : {box.west, middle[0], box.east, box.east + 2}) {
      for (const double y : {box.south - 3, box.south, middle[1], box.north}) {
        for (const double z : {box.bottom, middle[2], box.top, box.top + 1}) {
          add(plus({x, y, z}, shift), on_edge(box, {x, y, z}));
        }
      }
    }
    // more than 4 ulp from an edge there is a value, however large, if the coordinates tell the two apart
    const double next =
        m_execution.precision == Precision::single ? 0.125 : 5 * (std::nextafter(box.east, 10) - box.east);
    add(plus({box.east + next, box.north, -3}, shift), shift[0] != 0 && next < 0.125);
    add(plus({100, 100, 100}, shift), false);
    ASSERT_EQ(expected.size(), shift[0] != 0 && next < 0.125 ? 21U : 20U);
    EXPECT_EQ(singular_points(m_execution, {shifted(box, shift)}, points), expected);
  }
}

/// On an inner edge the logarithm's factor is the mixed difference of the four densities around it.
TEST_P(FieldTest, SingularPointsWhereDensitiesDoNotCancel) {
  const std::vector<double> edges{0, 1, 3};
  const std::vector<Point> points{{1, 1, 0.5}, {1, 1, 2}, {1, 1, 1}, {1, 0.5, 0.5}, {0.5, 1, 1}, {1, 1, 0}, {1, 1, 4}};
  const auto singular = [&](const std::array<double, 8>& density) {
    return singular_points(m_execution,
                           cells_between(edges, edges, edges, [&](std::size_t n) { return density.at(n); }), points);
  };
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(singular({1, 1, 1, 1, 1, 1, 1, 1}), List{});
  EXPECT_EQ(singular({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), List{});
  // layers along x: differences (a - b) - (a - b) that rounding must not spoil, but where the contrast comes to the
  // lower side there is nothing to take it off
  EXPECT_EQ(singular({0.1, 0.7, 0.1, 0.7, 0.1, 0.7, 0.1, 0.7}), List{5});
  // horizontal layers: the upper one's lower edges meet the lower one's upper edges
  EXPECT_EQ(singular({0.1, 0.1, 0.1, 0.1, 0.7, 0.7, 0.7, 0.7}), List{});
  // one cell of another density: singular at its own edges and its corner alone
  EXPECT_EQ(singular({2, 1, 1, 1, 1, 1, 1, 1}), (List{0, 2, 4, 5}));
  // a checkerboard, large against small
  EXPECT_EQ(singular({1, -1, -1, 1, -1, 1, 1, -1}), (List{0, 1, 2, 4, 5}));
  // only the lower half: (1, 1, 2) is on the edges of four cells without density, which are left out
  EXPECT_EQ(singular({1, 2, 3, 5, 0, 0, 0, 0}), (List{0, 2, 4, 5}));
  // a contrast in the sixth digit is no rounding
  EXPECT_EQ(singular({1.000001, 1, 1, 1, 1.000001, 1, 1, 1}), (List{0, 1, 2, 5}));
}

TEST_P(FieldTest, PointsInsideAreCounted) {
  const std::vector<Prism> prisms{box, {10, 12, 0, 2, 0, 2, 1}};
  const std::vector<Point> points{{0, 0, -3}, {4.9, 3.9, -1.1}, {11, 1, 1},   {0, 0, 0},
                                  {6, 0, -3}, {11, 1, 2.5},     {-3.1, 0, -2}};
  EXPECT_EQ(run_forward(m_execution, prisms, points).points_inside, 3);
  EXPECT_EQ(run_forward(m_execution, prisms, {{0, 0, 0}}).points_inside, 0);
}

// ---- layout of the work

/// Prisms of many sizes, each with neighbours that it touches, and points near and far.
struct Crowd {
  std::vector<Prism> prisms;
  std::vector<Point> points;
};
Crowd crowd(std::size_t n_prisms, std::size_t n_points) {
  Draw draw(2718);
  Crowd c;
  for (std::size_t i = 0; i < n_prisms; ++i) {
    const double west = static_cast<double>(i % 17) * 10;
    const double south = static_cast<double>(i / 17 % 13) * 10;
    const double bottom = -10 - static_cast<double>(i / 221) * 10;
    c.prisms.push_back({west, west + draw.uniform(1, 10), south, south + draw.uniform(1, 10), bottom,
                        bottom + draw.uniform(1, 10), draw.uniform(100, 900)});
  }
  for (std::size_t i = 0; i < n_points; ++i) {
    c.points.push_back(
        {draw.uniform(-50, 220), draw.uniform(-50, 180), i % 5 == 0 ? draw.uniform(-20, 0) : draw.uniform(0.5, 80)});
  }
  return c;
}

/// Sums of the same numbers in another order: every prism adds at most one rounding of a partial sum.
void expect_same_sum(const std::vector<double>& actual, const std::vector<double>& expected, std::size_t n_points,
                     double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t f = 0; f * n_points < expected.size(); ++f) {
    double largest = 0, worst = 0;
    for (std::size_t i = f * n_points; i < (f + 1) * n_points; ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      const double d = std::abs(actual[i] - expected[i]);
      worst = std::isfinite(d) ? std::max(worst, d) : std::numeric_limits<double>::infinity();
    }
    EXPECT_LE(worst, tolerance * largest) << what << ", field " << f;
  }
}

TEST_P(FieldTest, SameForEveryLayout) {
  const Crowd c = crowd(500, 301);
  const Fields reference = run_forward(m_execution, c.prisms, c.points);
  EXPECT_EQ(reference.pairs, 500 * 301);
  EXPECT_EQ(std::accumulate(reference.pairs_by_form.begin(), reference.pairs_by_form.end(), std::int64_t{0}),
            reference.pairs);
  // single sums floats, 500 of them
  const double tolerance = m_execution.precision == Precision::single ? 500 * epsilon() : 1e-13;
  const auto expect_same = [&](const Execution& e, const std::string& what) {
    const Fields other = run_forward(e, c.prisms, c.points);
    expect_same_sum(other.values, reference.values, c.points.size(), tolerance, what);
    EXPECT_EQ(other.singular_points, reference.singular_points) << what;
    EXPECT_EQ(other.points_inside, reference.points_inside) << what;
    EXPECT_EQ(other.pairs, reference.pairs) << what;
  };
  for (const std::int64_t slots : {1, 2, 3, 7, 64, 600}) {
    for (const std::int64_t batch : {1, 3, 16, 1000}) {
      Execution e = m_execution;
      e.slots = slots;
      e.batch = batch;
      expect_same(e, "slots " + std::to_string(slots) + ", batch " + std::to_string(batch));
    }
  }
  for (const std::int64_t block : {32, 64, 128, 256, 512}) {
    Execution e = m_execution;
    e.block = block;
    expect_same(e, "block " + std::to_string(block));
  }
  for (const Partition partition :
       {Partition::automatic, Partition::prisms, Partition::points, Partition::points_per_prism}) {
    for (const std::int64_t batch : {0, 1, 5}) {
      Execution e = m_execution;
      e.partition = partition;
      if (batch > 0) e.batch = batch;
      expect_same(e, std::string("partition ") + name(partition) + ", batch " + std::to_string(batch));
    }
  }
  {
    Execution e = m_execution;
    e.partition = Partition::rank_grid;
    expect_same(e, "partition {ranks: [1, 1]}");
  }
}

/// However little memory is allowed, the run goes on with fewer slots and then with tiles of points.
TEST_P(FieldTest, SameUnderATinyMemoryLimit) {
  const Crowd c = crowd(300, 2000);
  Execution plenty = m_execution;
  plenty.slots = 8;
  const Fields reference = run_forward(plenty, c.prisms, c.points);
  const double tolerance = m_execution.precision == Precision::single ? 300 * epsilon() : 1e-13;
  bool tiled = false;
  for (const std::int64_t limit :
       {std::int64_t{1}, std::int64_t{1} << 12, std::int64_t{1} << 16, std::int64_t{1} << 20}) {
    for (const Partition partition : {Partition::prisms, Partition::points}) {
      Execution e = plenty;
      e.memory_limit = limit;
      e.partition = partition;
      const Fields other = run_forward(e, c.prisms, c.points);
      const std::string what = "limit " + std::to_string(limit) + ", partition " + name(partition);
      expect_same_sum(other.values, reference.values, c.points.size(), tolerance, what);
      tiled = tiled || other.plan.direct.tile_points < 2000;
      if (limit >= std::int64_t{1} << 16) {
        EXPECT_LE(other.plan.direct.scratch_bytes, limit) << what;
      }
    }
  }
  EXPECT_TRUE(tiled) << "no limit led to tiles of points";
}

/// A point's values do not depend on its neighbours, nor on whether they fill a vector.
TEST_P(FieldTest, SameForEveryNumberOfPoints) {
  Crowd c = crowd(40, 70);
  c.points[3] = {c.prisms[0].east, c.prisms[0].south, c.prisms[0].top};
  c.points[11] = {1e5, 2e5, 3e5};
  for (const Partition partition : {Partition::prisms, Partition::points}) {
    Execution e = m_execution;
    e.partition = partition;
    e.slots = 2;
    const Values all = ::prismfield::testing::compute(e, c.prisms, c.points);
    for (std::size_t n = 1; n < c.points.size(); n += n < 20 ? 1 : 5) {
      const std::vector<Point> few(c.points.begin(), c.points.begin() + static_cast<std::ptrdiff_t>(n));
      const Values v = ::prismfield::testing::compute(e, c.prisms, few);
      for (std::size_t i = 0; i < n; ++i) {
        const Scales scale{std::abs(all[i][0]), norm_of_vector(all[i]), norm_of_tensor(all[i])};
        // fused and separate operations round differently, and in a vector a point takes the order that serves its
        // neighbours too: the fields of both differ by what they truncate, which is proved to be below 9.8e-13
        const double truncated = in_double() ? 9.8e-13 : 0;
        expect_equal(v[i], all[i], scale, 100 * epsilon() + truncated,
                     std::to_string(n) + " points, number " + std::to_string(i));
      }
    }
  }
}

/// Every number of prisms and batches that are not full.
TEST_P(FieldTest, SameForEveryNumberOfPrisms) {
  const Crowd c = crowd(30, 9);
  Values sum(c.points.size(), TenValues{});
  for (std::size_t n = 0; n < c.prisms.size(); ++n) {
    const Values one = compute({c.prisms[n]}, c.points);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t f = 0; f < n_gravity_fields; ++f) sum[i][f] += one[i][f];
    }
    Execution e = m_execution;
    e.slots = 3;
    e.batch = 4;
    const std::vector<Prism> few(c.prisms.begin(), c.prisms.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    const Values v = ::prismfield::testing::compute(e, few, c.points);
    const double tolerance = m_execution.precision == Precision::single ? 1e-3 : in_double() ? 1e-13 : 1e-6;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const Scales scale{std::abs(sum[i][0]), norm_of_vector(sum[i]), norm_of_tensor(sum[i])};
      expect_equal(v[i], sum[i], scale, tolerance, std::to_string(n + 1) + " prisms");
    }
  }
}

/// Asking for fewer fields changes their cost, not their values.
TEST_P(FieldTest, FieldsAloneEqualFieldsTogether) {
  Crowd c = crowd(60, 45);
  c.points[0] = {c.prisms[5].west, c.prisms[5].north, c.prisms[5].top};
  c.points[1] = {c.prisms[5].west, c.prisms[5].north, 30};
  for (const Point& p : points_about_box()) c.points.push_back(p);
  const Fields all = run_forward(m_execution, c.prisms, c.points);
  std::vector<FieldList> lists{FieldList::vector(),
                               FieldList::tensor(),
                               fields_of(FieldSet::vector_tensor),
                               {Field::gz, Field::gxx},
                               {Field::potential, Field::gyz},
                               {Field::gx, Field::gy},
                               {Field::gxy, Field::gxz, Field::gyz}};
  for (const FieldInfo& f : FieldList::gravity()) lists.push_back({f.field});
  for (const FieldList& list : lists) {
    const Fields some = run_forward(m_execution, c.prisms, c.points, list);
    EXPECT_EQ(some.fields, list);
    ASSERT_EQ(some.values.size(), static_cast<std::size_t>(list.size()) * c.points.size());
    for (const FieldInfo& f : list) {
      for (std::size_t i = 0; i < c.points.size(); ++i) {
        const TenValues reference = values_at(all, i);
        const int number = static_cast<int>(f.field);
        const double scale = number == 0  ? reference[0]
                             : number < 4 ? norm_of_vector(reference)
                                          : norm_of_tensor(reference);
        const double alone = some.values[static_cast<std::size_t>(list.index_of(f.field)) * c.points.size() + i];
        const double together = std::inner_product(reference.begin(), reference.end(), f.weights.begin(), 0.0);
        // 60 prisms of one sign; their tensors partly cancel
        EXPECT_NEAR(alone, together, 60 * epsilon() * scale) << f.name << ' ' << place(c.points[i]);
      }
    }
  }
}

TEST_P(FieldTest, ProgressEndsAtOneAndMayStop) {
  const Crowd c = crowd(200, 100);
  Request run = make_request(m_execution);
  run.execution.memory_limit = 1 << 12;
  const ListEnsemble ensemble(c.prisms);
  const Points stations = make_station_points(c.points);
  struct Watch final : Observer {
    void progress(double done, std::int64_t n) override {
      EXPECT_GE(done, last);
      EXPECT_GE(n, pairs);
      last = done;
      pairs = n;
    }
    double last = 0;
    std::int64_t pairs = 0;
  } watch;
  const Fields result = forward(ensemble, stations, run, {}, &watch);
  EXPECT_DOUBLE_EQ(watch.last, 1);
  EXPECT_EQ(watch.pairs, 200 * 100);
  EXPECT_GE(result.field_seconds, 0);
  struct Stop final : Observer {
    void progress(double, std::int64_t) override { throw Stopped(); }
  } stop;
  EXPECT_THROW(static_cast<void>(forward(ensemble, stations, run, {}, &stop)), Stopped);
  // and the next run is as if nothing had happened
  expect_same_sum(forward(ensemble, stations, run).values, result.values, c.points.size(), 0, "after a stop");
}

/// The same run twice gives the same bits.
TEST_P(FieldTest, Repeatable) {
  const Crowd c = crowd(500, 64);
  const Fields one = run_forward(m_execution, c.prisms, c.points);
  const Fields two = run_forward(m_execution, c.prisms, c.points);
  EXPECT_EQ(one.values, two.values);
}

// ---- threads: the number is fixed when Kokkos starts, so each one is a process of its own

constexpr const char* dump_variable = "PRISMFIELD_TEST_DUMP";

std::vector<double> values_for_threads() {
  const Crowd c = crowd(1500, 211);
  std::vector<double> all;
  for (const Precision precision : {Precision::double_, Precision::single}) {
    for (const Partition partition : {Partition::prisms, Partition::points, Partition::points_per_prism}) {
      Execution e;
      e.space = Space::openmp;
      e.precision = precision;
      e.partition = partition;
      e.slots = 5;
      e.batch = 7;
      const Fields r = run_forward(e, c.prisms, c.points);
      all.insert(all.end(), r.values.begin(), r.values.end());
    }
  }
  return all;
}

/// Runs in the processes that the next test starts.
TEST(Threads, Child) {
  const char* file = std::getenv(dump_variable);
  if (file == nullptr) GTEST_SKIP() << "part of SameBitsForEveryNumber";
  const std::vector<double> all = values_for_threads();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(double)));
  ASSERT_TRUE(out.flush());
}

TEST(Threads, SameBitsForEveryNumber) {
  if (const auto reason = unavailable(Space::openmp)) GTEST_SKIP() << *reason;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> dumps;
  for (const int threads : {1, 2, 3, 4}) {
    const std::string file = "threads_" + std::to_string(threads) + ".bin";
    const std::string command =
        std::string(dump_variable) + "='" + file + "' OMP_NUM_THREADS=" + std::to_string(threads) +
        " OMP_PROC_BIND=false OMP_DYNAMIC=false '" + program.string() +
        "' --gtest_filter=Threads.Child --kokkos-num-threads=" + std::to_string(threads) + " >'" + file + ".log' 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(file, std::ios::binary);
    dumps.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  ASSERT_EQ(dumps[0].size(), std::size_t{6} * 10 * 211 * sizeof(double));
  for (std::size_t i = 1; i < dumps.size(); ++i) {
    EXPECT_EQ(std::memcmp(dumps[0].data(), dumps[i].data(), dumps[0].size()), 0) << i + 1 << " threads differ from one";
  }
}

}  // namespace
}  // namespace prismfield::testing::test_properties
