// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Numbers that other programs and papers print. Each is compared with the gravitational constant that its source uses,
// and to half a unit of the last digit that the source gives; conventions (z down, mGal, Eotvos) are applied as output
// does.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>

#include "forward_helpers.hpp"

namespace prismfield::testing::test_peers {
namespace {

class Peers : public ::testing::TestWithParam<Space> {
protected:
  void SetUp() override {
    if (const auto reason = unavailable(GetParam())) GTEST_SKIP() << *reason;
  }

  /// The ten fields in output units at each point.
  [[nodiscard]] static std::vector<TenValues> output(const std::vector<Prism>& prisms, const std::vector<Point>& points,
                                                     double gravitational_constant, Axes axes = Axes::z_down) {
    Execution execution;
    execution.space = GetParam();
    Request run = make_request(execution);
    run.gravitational_constant = gravitational_constant;
    const Fields result = run_forward(run, prisms, points);
    std::vector<TenValues> out;
    for (std::size_t i = 0; i < points.size(); ++i) {
      out.push_back(values_at(result, i));
      for (std::size_t f = 0; f < n_gravity_fields; ++f) out[i][f] *= output_factor(static_cast<Field>(f), axes);
    }
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Spaces, Peers, ::testing::Values(Space::serial, Space::openmp, Space::cuda, Space::hip),
                         [](const auto& param) { return std::string(name(param.param)); });

constexpr double codata_2018 = 6.6743e-11;

/// Li and Chouteau (1998): cube of 20 m and 1 kg/m3, centre of its top face; six digits, in m/s2.
TEST_P(Peers, LiAndChouteau) {
  const TenValues v = output({{-10, 10, -10, 10, -20, 0, 1}}, {{0, 0, 0}}, 6.67e-11)[0];
  EXPECT_NEAR(value(v, Field::gz) * 1e-5, 3.46426e-9, 0.5e-14);
}

/// GMT's prism_check: 10 km x 10 km, 0 to 5 km high, 1000 kg/m3, seen from (10, 10) km and 7 km up; seven digits.
TEST_P(Peers, GmtPrismCheck) {
  const TenValues v = output({{-5000, 5000, -5000, 5000, 0, 5000, 1000}}, {{10e3, 10e3, 7e3}}, 6.674e-11)[0];
  EXPECT_NEAR(value(v, Field::gz), 5.186362, 0.5e-6);
  EXPECT_NEAR(value(v, Field::gzz), -7.576966, 0.5e-6);
}

/// The same prism by gmt 6.4.0 gravprisms with 15 digits; its sum of corners loses a few of them, and its constant is
/// CODATA's.
TEST_P(Peers, GmtGravprisms) {
  const TenValues v = output({{-5000, 5000, -5000, 5000, 0, 5000, 1000}}, {{10e3, 10e3, 7e3}}, codata_2018)[0];
  EXPECT_NEAR(value(v, Field::gz), 5.18659531151521, 1e-11);
  EXPECT_NEAR(value(v, Field::gzz), -7.57730629103941, 1e-11);
}

/// gravmagsubs' README: 10 km x 10 km, 5 to 10 km deep, 300 kg/m3, from above the centre; seven digits.
TEST_P(Peers, Gravmagsubs) {
  const TenValues v = output({{-5000, 5000, -5000, 5000, -10000, -5000, 300}}, {{0, 0, 0}}, 6.674e-11)[0];
  EXPECT_NEAR(value(v, Field::gz), 13.17689, 0.5e-5);
}

/// Harmonica's docstring of prism_gravity: a column and a pair of opposite contrasts, five decimals in mGal.
TEST_P(Peers, HarmonicaDocstring) {
  const std::vector<Point> points{{-40, 0, 30}, {0, 0, 30}, {40, 0, 30}};
  const std::vector<TenValues> one = output({{-34, 5, -18, 14, -345, -146, 2670}}, points, codata_2018);
  const std::vector<TenValues> two =
      output({{-134, -5, -45, 45, -200, -50, -300}, {5, 134, -45, 45, -180, -30, 300}}, points, codata_2018);
  const std::vector<double> expected_one{0.06552, 0.06629, 0.06174};
  const std::vector<double> expected_two{-0.05380, 0.02908, 0.11237};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(value(one[i], Field::gz), expected_one[i], 0.5e-5);
    EXPECT_NEAR(value(two[i], Field::gz), expected_two[i], 0.5e-5);
  }
}

/// The cube [-1, 1]^3 of density 1 in polyhedral-gravity's analytic solution: potential and attraction in SI at points
/// outside, in it, on a face and on edges; 15 digits.
TEST_P(Peers, PolyhedralGravityCube) {
  struct Given {
    Point at;
    double potential, gx, gy, gz;
  };
  const std::vector<Given> given{
      {{-5, -5, -5}, 6.16562723600017e-11, 4.11088282102974e-12, 4.11088282102974e-12, 4.11088282102975e-12},
      {{-4.5, -2, -5}, 7.60869191980173e-11, 6.95308502693564e-12, 3.08920178591245e-12, 7.72636638124670e-12},
      {{-3.5, 4, -5}, 7.31741036797849e-11, 4.80997577600831e-12, -5.49745505144033e-12, 6.87279888891533e-12},
      {{-1.5, -1, -5}, 1.00444514272064e-10, 5.31952479792316e-12, 3.54577639454140e-12, 1.77727614905753e-11},
      {{-2, 3.5, 0}, 1.32443952554686e-10, 1.62420729732006e-11, -2.85454956392788e-11, 0},
      {{-1.5, -1.5, 0}, 2.52109539980711e-10, 8.44496221829573e-11, 8.44496221829573e-11, 0},
      {{0, 1.5, 0}, 3.44164091137054e-10, 0, -2.04242809384011e-10, 0},
      {{-1, 0.5, 0}, 4.55385626228538e-10, 3.23948902952739e-10, -9.45498642702209e-11, 0},
      {{1, 0, 0}, 4.78630136241924e-10, -3.46649336645396e-10, 0, 0},
      {{1, 1, 0}, 3.81038504694964e-10, -2.07129438274097e-10, -2.07129438274097e-10, 0},
      {{0.5, -0.5, 0}, 5.66653333321728e-10, -1.35104260475085e-10, 1.35104260475085e-10, 0},
      {{0, 0.5, 0}, 5.99394855744241e-10, 0, -1.48369928700749e-10, 0},
      {{0, 0, 0}, 6.35414014016349e-10, 0, 0, 0},
  };
  std::vector<Point> points;
  for (const Given& g : given) points.push_back(g.at);
  const std::vector<TenValues> v = output({{-1, 1, -1, 1, -1, 1, 1}}, points, codata_2018, Axes::z_up);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Given& g = given[i];
    // the source's own last digits differ between mirrored points by 2e-14 of a value
    EXPECT_NEAR(v[i][0], g.potential, 3e-14 * g.potential) << i;
    const double scale = std::max(std::hypot(g.gx, g.gy, g.gz), 1e-12);
    EXPECT_NEAR(value(v[i], Field::gx) * 1e-5, g.gx, 3e-14 * scale) << i;
    EXPECT_NEAR(value(v[i], Field::gy) * 1e-5, g.gy, 3e-14 * scale) << i;
    EXPECT_NEAR(value(v[i], Field::gz) * 1e-5, g.gz, 3e-14 * scale) << i;
  }
}

/// Signs that geophysicists expect with z down: excess mass below gives a positive gz and a positive gzz above it, and
/// gz grows towards it; z up turns gz, gxz and gyz around and nothing else.
TEST_P(Peers, SignsOfBothAxes) {
  const std::vector<Prism> body{{-50, 50, -50, 50, -200, -100, 400}};
  const std::vector<Point> points{{0, 0, 0}, {-80, 0, 0}, {0, -80, 0}};
  const std::vector<TenValues> down = output(body, points, codata_2018, Axes::z_down);
  const std::vector<TenValues> up = output(body, points, codata_2018, Axes::z_up);
  EXPECT_GT(value(down[0], Field::potential), 0);
  EXPECT_GT(value(down[0], Field::gz), 0);
  EXPECT_GT(value(down[0], Field::gzz), 0);
  EXPECT_LT(value(down[0], Field::gxx), 0);
  // west of the body it pulls east, and gz grows towards the east
  EXPECT_GT(value(down[1], Field::gx), 0);
  EXPECT_GT(value(down[1], Field::gxz), 0);
  // south of it, to the north
  EXPECT_GT(value(down[2], Field::gy), 0);
  EXPECT_GT(value(down[2], Field::gyz), 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const FieldInfo& f : FieldList::all()) {
      const bool turned = f.field == Field::gz || f.field == Field::gxz || f.field == Field::gyz;
      EXPECT_EQ(value(up[i], f.field), (turned ? -1 : 1) * value(down[i], f.field)) << f.name;
    }
  }
}

/// The infinite slab of 2 pi G rho t that Bouguer corrections use: 0.0419 mGal per metre and g/cm3.
TEST_P(Peers, BouguerSlab) {
  const double half_width = 1e6;
  const TenValues v =
      output({{-half_width, half_width, -half_width, half_width, -1000, 0, 1000}}, {{0, 0, 0}}, codata_2018)[0];
  const double slab = 2 * pi * codata_2018 * 1000 * 1000 * 1e5;
  EXPECT_NEAR(slab / 1000, 0.0419, 0.5e-4);
  // what lies beyond the edges is sqrt(2) t / (pi half width) of it, to third order
  EXPECT_NEAR(value(v, Field::gz), slab * (1 - std::sqrt(2.0) * 1000 / (pi * half_width)), slab * 1e-8);
}

}  // namespace
}  // namespace prismfield::testing::test_peers
