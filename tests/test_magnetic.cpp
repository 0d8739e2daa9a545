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
#include <sstream>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/prisms.hpp>

#include "engine/engine.hpp"

namespace prismfield::testing {
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

struct ReferenceCase {
  std::string kind;
  std::array<double, 6> prism{};
  Vector point{}, magnetization{}, b{};
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

INSTANTIATE_TEST_SUITE_P(Spaces, MagneticFields, ::testing::ValuesIn(built_spaces()),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace
}  // namespace prismfield::testing
