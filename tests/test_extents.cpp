// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/extents.hpp"
#include "model/plausible.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace prismfield::test_extents {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Extents, AreThoseOfAllPoints) {
  Points stations;
  stations.easting = {5, -3, 4};
  stations.northing = {1, 7, 2};
  stations.upward = {10, 10, 12.5};
  EXPECT_EQ(extent_text(bounds_of(stations)), "easting -3 to 5, northing 1 to 7, upward 10 to 12.5 m");
  EXPECT_EQ(points_within_outline(stations, {0, 5, 0, 2, -100, -50}), 2);
  EXPECT_EQ(points_within_outline(stations, {6, 8, 0, 2, -100, -50}), 0);
  Points grid;
  grid.grid_easting = {0, 4649776.25};
  grid.grid_northing = {3};
  grid.easting = {0, 4649776.25};
  grid.northing = {3, 3};
  grid.upward = {9, 9};
  EXPECT_EQ(extent_text(bounds_of(grid)), "easting 0 to 4649776.25, northing 3, upward 9 m");
  EXPECT_EQ(extent_text(bounds_of(Points())), "easting 0, northing 0, upward 0 m");
}

TEST(Densities, AreToldAsARange) {
  EXPECT_EQ(density_text({-300, 500}), "-300 to 500 kg/m3");
  EXPECT_EQ(density_text({2670, 2670}), "2670 kg/m3");
}

TEST(Densities, ThatMayBeGramsACubicCentimetreAreWarnedOf) {
  EXPECT_THAT(
      density_warnings({0.1, 2.67}, true),
      ElementsAre("no density of the model is above 2.67 kg/m3; are they g/cm3? density_unit: g/cm3 beside their file "
                  "says so"));
  EXPECT_THAT(
      density_warnings({0.1, 2.67}, false),
      ElementsAre("no density of the model is above 2.67 kg/m3; are they g/cm3? Densities in the case are kg/m3: "
                  "1 g/cm3 is 1000"));
  EXPECT_THAT(density_warnings({-0.4, 0.1}, true),
              ElementsAre(HasSubstr("no density of the model is above 0.4 kg/m3")));
  EXPECT_THAT(density_warnings({-19.9, 0}, true), ElementsAre(HasSubstr("g/cm3?")));
  // one density that is large enough, or none at all
  EXPECT_THAT(density_warnings({-20, 1}, true), IsEmpty());
  EXPECT_THAT(density_warnings({0.5, 20}, true), IsEmpty());
  EXPECT_THAT(density_warnings({0, 0}, true), IsEmpty());
}

TEST(Densities, ThatStandForNoneAreWarnedOf) {
  EXPECT_THAT(density_warnings({-99999, 300}, true),
              ElementsAre("the model has a density of -99999 kg/m3, which looks like a dummy, a number that stands for "
                          "none; leave such prisms or cells out, or give them density 0"));
  EXPECT_THAT(density_warnings({0, 99999000}, true),
              ElementsAre(HasSubstr("a density of 99999 g/cm3, which looks like")));
  EXPECT_THAT(density_warnings({-9999, 300}, true),
              ElementsAre(HasSubstr("a density of -9999 kg/m3, which looks like")));
  EXPECT_THAT(density_warnings({-9998, 9999}, true), IsEmpty());
}

TEST(MagneticModels, AreToldAndWarnedOf) {
  PropertyRanges ranges;
  ranges.include({300, 0, 0, 0, 0});
  EXPECT_EQ(ranges.names(), "density");
  EXPECT_EQ(magnetic_text(ranges), "");
  EXPECT_FALSE(ranges.is_magnetic());
  ranges.include({0, 0.05, 3, 0, -4});
  EXPECT_EQ(ranges.names(), "density, susceptibility and magnetization");
  EXPECT_EQ(magnetic_text(ranges), "susceptibility 0 to 0.05 SI, remanent magnetization 0 to 5 A/m");
  Magnetic magnetic;
  magnetic.inducing_field = {0, 3e-5, -4e-5};
  EXPECT_THAT(magnetic_warnings(ranges, magnetic, false), IsEmpty());
  ranges.include({0, 2, 0, 0, 0});
  EXPECT_THAT(magnetic_warnings(ranges, magnetic, false), ElementsAre(HasSubstr("up to 2 SI; from about 0.1 on")));
  EXPECT_THAT(magnetic_warnings(ranges, magnetic, true), IsEmpty());
  ranges.include({0, 50, 0, 0, 0});
  magnetic.inducing_field[2] = -4e-4;
  EXPECT_THAT(magnetic_warnings(ranges, magnetic, true),
              ElementsAre(HasSubstr("up to 50 SI, more than magnetite"), HasSubstr("intensity is 401123 nT")));
}

TEST(Constants, ThatAreOffAreWarnedOf) {
  EXPECT_THAT(
      constant_warnings(6.674e-8),
      ElementsAre("gravitational_constant is 6.674e-08, 1000 times the 6.6743e-11 m3 kg-1 s-2 of CODATA, and so "
                  "are all fields: it is in cgs units (cm3 g-1 s-2); m3 kg-1 s-2 is needed, which is the "
                  "default: leave the key out"));
  EXPECT_THAT(constant_warnings(6.75e-11), ElementsAre(HasSubstr("6.75e-11, 1.011 times the 6.6743e-11 m3")));
  EXPECT_THAT(constant_warnings(1), ElementsAre(HasSubstr("leave the key out if its unit is not m3 kg-1 s-2")));
  for (const double constant : {6.6743e-11, 6.67e-11, 6.672e-11, 6.73e-11, 6.62e-11}) {
    EXPECT_THAT(constant_warnings(constant), IsEmpty());
  }
}

TEST(Densities, BeyondAllMatterAreWarnedOf) {
  EXPECT_THAT(
      density_warnings({0, 2670000}, true),
      ElementsAre("the model has densities of up to 2.67e+06 kg/m3, more than any metal; is their unit right?"));
  EXPECT_THAT(density_warnings({-30001, 5}, true), ElementsAre(HasSubstr("up to 30001 kg/m3")));
  EXPECT_THAT(density_warnings({-30000, 30000}, true), IsEmpty());
}

TEST(Fields, ThatCanHardlyBeInTheirUnitAreWarnedOf) {
  EXPECT_EQ(field_warning(Field::gz, 11'000),
            "gz is at most 1.1e+04 mGal, more than anomalies have: is it in um/s2, or the whole field of the Earth? "
            "mGal is expected");
  EXPECT_EQ(field_warning(Field::bzz, 1e-7),
            "bzz is at most 1e-07 nT/m, less than instruments resolve: is it in T/m? nT/m is expected");
  EXPECT_THAT(field_warning(Field::gx, 1e-5), HasSubstr("is it in m/s2? mGal"));
  EXPECT_THAT(field_warning(Field::gzz, 1e-7), HasSubstr("is it in 1/s2? Eotvos"));
  EXPECT_THAT(field_warning(Field::tmi, 1e-6), HasSubstr("is it in T? nT"));
  for (const auto& [field, size] : {std::pair{Field::gz, 1000.0}, std::pair{Field::gz, 1e-4}, std::pair{Field::gz, 0.0},
                                    std::pair{Field::tmi, 190'000.0}, std::pair{Field::potential, 1e9}}) {
    EXPECT_EQ(field_warning(field, size), "");
  }
}

TEST(HeightsOfGround, BeyondTheEarthAreWarnedOf) {
  EXPECT_EQ(height_warning({-11'000, 8'849}), "");
  EXPECT_THAT(height_warning({-32'768, 300}),
              HasSubstr("-32768 to 300 m: the ground of the Earth has -11500 to 9000 m"));
  EXPECT_THAT(height_warning({0, 9'999}), HasSubstr("in metres"));
}

TEST(HeightsOfPoints, AreThoseOfGroundAircraftOrSatellitesAlone) {
  const auto warning = [](double low, double high, std::optional<double> above_ground = {}) {
    return point_height_warning({0, 1, 0, 1, low, high}, above_ground);
  };
  for (const auto& [low, high] : {std::pair{-12'200.0, 100.0}, {0.0, 21'000.0}, {230'000.0, 500'000.0}}) {
    EXPECT_EQ(warning(low, high), "");
  }
  for (const auto& [low, high] : {std::pair{100.0, 32'767.0}, {-32'768.0, 100.0}, {0.0, 230'000.0}, {2e6, 2e6}}) {
    EXPECT_THAT(warning(low, high), HasSubstr("of stations and aircraft they are from -12500 to 30000 m"));
  }
  EXPECT_EQ(warning(0, 9'070, 80), "");
  EXPECT_EQ(warning(250'000, 250'100, 0), "");
  EXPECT_THAT(warning(0, 12'000, 80), HasSubstr("over ground they are from -11500 to 9080 m"));
}

constexpr Bounds local_model = {0, 22000, 0, 22000, -8000, 0};
constexpr Bounds utm_model = {430000, 440000, 5412000, 5422000, -4000, 200};

TEST(Places, OfModelAndPointsFarApartAreWarnedOf) {
  EXPECT_THAT(
      place_warnings(utm_model, {1000, 9000, 0, 9000, 100, 100}),
      ElementsAre("the points lie 5.41938e+06 m away from the model, 542 times its size; are both in the same "
                  "coordinates? The model: easting 430000 to 440000, northing 5412000 to 5422000, upward -4000 to "
                  "200 m; the points: easting 1000 to 9000, northing 0 to 9000, upward 100 m"));
  // ten sizes are not more than ten
  EXPECT_THAT(place_warnings(local_model, {242000, 250000, 0, 100, 0, 10}), IsEmpty());
  EXPECT_THAT(place_warnings(local_model, {242001, 250000, 0, 100, 0, 10}),
              ElementsAre(HasSubstr("10 times its size")));
  EXPECT_THAT(place_warnings(local_model, {0, 22000, 0, 22000, 250000, 250000}),
              ElementsAre(HasSubstr("250000 m away")));
}

TEST(Places, InKilometresAreWarnedOf) {
  const Bounds utm_in_km = {430, 440, 5412, 5422, -4, 0.2}, points = {425000, 445000, 5410000, 5420000, 100, 800};
  EXPECT_THAT(
      place_warnings(utm_in_km, points),
      ElementsAre("the coordinates of the model look like kilometres: times 1,000 they fit the points. Write "
                  "length_unit: km beside the file of prisms; lengths in the case itself are metres. The model: "
                  "easting 430 to 440, northing 5412 to 5422, upward -4 to 0.2 m; the points: easting 425000 to "
                  "445000, northing 5410000 to 5420000, upward 100 to 800 m"));
  EXPECT_THAT(place_warnings(utm_model, {428, 441, 5410, 5420, 0.1, 0.8}),
              ElementsAre(HasSubstr("the points look like kilometres: times 1,000 they fit the model. Write "
                                    "length_unit: km beside the file of stations")));
  // near by chance alone: of another size
  EXPECT_THAT(place_warnings({430, 430.1, 5412, 5412.1, -4, 0.2}, points), ElementsAre(HasSubstr("times its size")));
}

TEST(Places, OfModelAndPointsInDegreesAreAnError) {
  const DegreesDoubt doubt = degrees_doubt({-70.5, -69.5, -24, -23, -8000, 0}, {-71, -69, -25, -23, 100, 3000});
  EXPECT_TRUE(doubt.is_certain);
  EXPECT_EQ(doubt.text,
            "the coordinates of the model and the points look like degrees (easting -71 to -69, northing -25 to -23, "
            "upward -8000 to 3000 m); easting and northing are metres of a map projection, such as UTM: project them "
            "first, points with GMT's mapproject or PROJ's cs2cs, grids with gdalwarp. If they are metres of a local "
            "grid, put its origin into it");
  // depths in km below heights in m, a hundred metres across, the other hemisphere, longitudes to 360
  for (const auto& [model, points] :
       {std::pair{Bounds{-70.5, -68.5, -24.5, -22.7, -5, 0}, Bounds{-70, -69, -24, -23.2, 100, 100}},
        std::pair{Bounds{7.5, 7.501, 46.2, 46.201, -40, 500}, Bounds{7.5, 7.501, 46.2, 46.201, 501, 503}},
        std::pair{Bounds{140, 150, -38, -30, -40000, 0}, Bounds{141, 149, -37, -31, 0, 0}},
        std::pair{Bounds{289.5, 290.5, -24, -23, -8000, 0}, Bounds{289.6, 290.4, -23.9, -23.1, 10, 10}},
        std::pair{Bounds{36, 37, -0.5, 0.7, -6000, 1000}, Bounds{36.1, 36.9, -0.3, 0.5, 1000, 2000}}}) {
    EXPECT_TRUE(degrees_doubt(model, points).is_certain) << extent_text(model);
  }
  // points alone, far from a model in metres
  const DegreesDoubt of_points = degrees_doubt(utm_model, {289.5, 290.1, -24.5, -24, 400, 3000});
  EXPECT_TRUE(of_points.is_certain);
  EXPECT_THAT(of_points.text, HasSubstr("the coordinates of the points look like degrees (easting 289.5 to 290.1"));
}

TEST(Places, ThatMayBeInDegreesAreWarnedOf) {
  const auto expect_warning = [](const Bounds& model, const Bounds& points, const char* what) {
    EXPECT_FALSE(degrees_doubt(model, points).is_certain) << extent_text(model);
    EXPECT_THAT(place_warnings(model, points), ElementsAre(HasSubstr(what))) << extent_text(model);
  };
  // heights in km, too; a model in degrees below points in metres; a survey inside a model in metres
  expect_warning({-70.5, -68.5, -24.5, -22.7, -5, 0}, {-70, -69, -24, -23.2, 0.1, 0.1},
                 "the model and the points look");
  expect_warning({-70.5, -69.5, -24, -23, -8000, 0}, {430000, 440000, 7300000, 7310000, 0, 0}, "the model look like");
  expect_warning(local_model, {7.5, 8.1, 46.2, 47, 400, 3000}, "the points look like degrees (easting 7.5 to 8.1");
  // around the origin, where small models are; a hole
  expect_warning({-1, 1, -1, 1, -8000, 0}, {-1, 1, -1, 1, 0, 0}, "the model and the points look");
  expect_warning({7.5, 8.5, 46, 47, -8000, 0}, {8, 8, 46.5, 46.5, -2000, 0}, "the model and the points look");
}

Points points_at(std::vector<double> easting, std::vector<double> upward) {
  Points points;
  points.northing.assign(easting.size(), 500);
  points.easting = std::move(easting);
  points.upward = std::move(upward);
  return points;
}

TEST(Heights, ThatMayBeDepthsAreWarnedOf) {
  // the depths of the model as heights: all points, at and beside it, are below
  const Bounds model = {0, 1000, 0, 1000, 100, 900};
  EXPECT_THAT(
      height_warnings(model, points_at({-2000, 500}, {0, 20})),
      ElementsAre("all points lie below the top of the model and none inside it (the model: upward 100 to 900 m; "
                  "the points: upward 0 to 20 m); upward is a height: if one of the two is a depth, write upward "
                  "as minus the depth, or axis_z: down beside the file of stations or prisms"));
  EXPECT_THAT(height_warnings(model, points_at({500}, {100})), ElementsAre(HasSubstr("the points: upward 100 m")));
  // one on the top, one above it, one inside
  EXPECT_THAT(height_warnings(model, points_at({500, 500}, {0, 900})), IsEmpty());
  EXPECT_THAT(height_warnings(model, points_at({-2000, 500}, {901, 0})), IsEmpty());
  EXPECT_THAT(height_warnings(model, points_at({-2000, 500}, {0, 101})), IsEmpty());
  EXPECT_THAT(height_warnings(model, points_at({-2000, 500}, {101, 0})), ElementsAre(HasSubstr("none inside it")));
}

TEST(Places, OfSmallModelsAreNoDegrees) {
  const Bounds cube = {0, 2, 0, 2, -2, 0}, needle = {-0.5, 0.5, -0.5, 0.5, -500, 500};
  for (const Bounds& model : {cube, needle, Bounds{-50, 50, -50, 50, -100, 0}}) {
    EXPECT_THAT(place_warnings(model, {0, 2, 0, 2, 0, 0}), IsEmpty());
    EXPECT_THAT(place_warnings(model, {-10, 10, -8, 8, 0.5, 3}), IsEmpty());
  }
  // in a laboratory, off its origin, a casing and a tunnel in local grids, satellites
  EXPECT_THAT(place_warnings({1, 2.5, 0.5, 1.5, -0.6, 0}, {1, 2.4, 0.5, 1.5, 0.1, 0.1}), IsEmpty());
  EXPECT_THAT(place_warnings({40, 52, 20, 30, -6, 0}, {41, 51, 21, 29, 0.3, 0.3}), IsEmpty());
  EXPECT_THAT(place_warnings({50, 50.2, 30, 30.2, -180, 0}, {50.1, 50.1, 30.1, 30.1, -180, 0}), IsEmpty());
  EXPECT_THAT(place_warnings({100, 180, 20, 60, -90, 20}, {110, 170, 30, 50, 21, 40}), IsEmpty());
  EXPECT_THAT(place_warnings({-50, 50, -50, 50, -100, 0}, {-50, 50, -50, 50, 900, 900}), IsEmpty());
  // slender bodies in local grids may be degrees, and are not for certain
  for (const auto& [model, points] :
       {std::pair{Bounds{50, 50.2, 30, 30.2, -200, 0}, Bounds{49.5, 50.5, 29.5, 30.5, 1, 1}},
        std::pair{Bounds{100, 120, 40, 60, -800, 0}, Bounds{98, 122, 38, 62, 1, 3}},
        std::pair{Bounds{-1, 1, -1, 1, -8000, 0}, Bounds{-1, 1, -1, 1, 5000, 5000}}}) {
    EXPECT_FALSE(degrees_doubt(model, points).is_certain) << extent_text(model);
  }
  // a borehole, a profile, a small array in the corner of a large model
  EXPECT_THAT(place_warnings(local_model, {50, 50, 50, 50, -1500, 0}), IsEmpty());
  EXPECT_THAT(place_warnings(local_model, {0, 3, 50, 50, 1, 1}), IsEmpty());
  EXPECT_THAT(place_warnings(local_model, {0, 10, 0, 10, 1, 1}), IsEmpty());
}

}  // namespace
}  // namespace prismfield::test_extents
