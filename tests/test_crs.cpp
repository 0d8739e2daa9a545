// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/cf_attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "folder_test.hpp"
#include "made_hdf5.hpp"

namespace prismfield::test_crs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(describe_crs(text));
  } catch (const InputError& error) {
    return error.problems().front().what;
  }
  return "";
}

bool has(const Crs& crs, const std::string& name) {
  return std::any_of(crs.attributes.begin(), crs.attributes.end(), [&](const auto& a) { return a.first == name; });
}

template <class T>
T value(const Crs& crs, const std::string& name) {
  for (const auto& [own, content] : crs.attributes) {
    if (own == name) return std::get<T>(content);
  }
  ADD_FAILURE() << crs.name << " has no " << name;
  return {};
}

std::string text(const Crs& crs, const std::string& name) { return value<std::string>(crs, name); }
double number(const Crs& crs, const std::string& name) { return value<double>(crs, name); }

/// What PROJ tells; skipped in a build without it.
class CrsByProj : public ::testing::Test {
protected:
  void SetUp() override {
    if (proj_version().empty()) GTEST_SKIP() << "PROJ is not built in";
  }
};

TEST(Crs, KeepsItsNameWithAndWithoutProj) {
  const Crs crs = describe_crs("EPSG:32719");
  EXPECT_EQ(crs.name, "EPSG:32719");
  EXPECT_EQ(text(crs, "name"), "EPSG:32719");
  EXPECT_EQ(text(crs, "epsg_code"), "EPSG:32719");
}

TEST_F(CrsByProj, UtmIsATransverseMercator) {
  const Crs crs = describe_crs("EPSG:32719");
  EXPECT_EQ(text(crs, "grid_mapping_name"), "transverse_mercator");
  EXPECT_EQ(number(crs, "longitude_of_central_meridian"), -69);
  EXPECT_EQ(number(crs, "latitude_of_projection_origin"), 0);
  EXPECT_EQ(number(crs, "scale_factor_at_central_meridian"), 0.9996);
  EXPECT_EQ(number(crs, "false_easting"), 500'000);
  EXPECT_EQ(number(crs, "false_northing"), 10'000'000);
  EXPECT_EQ(number(crs, "semi_major_axis"), 6'378'137);
  EXPECT_NEAR(number(crs, "inverse_flattening"), 298.257223563, 1e-9);
  EXPECT_EQ(number(crs, "longitude_of_prime_meridian"), 0);
  EXPECT_EQ(text(crs, "horizontal_datum_name"), "World_Geodetic_System_1984");
  EXPECT_EQ(text(crs, "projected_crs_name"), "WGS 84 / UTM zone 19S");
  EXPECT_THAT(text(crs, "crs_wkt"), AllOf(StartsWith("PROJCRS["), HasSubstr("32719"), ::testing::Not(HasSubstr("\n"))));
  EXPECT_EQ(text(crs, "spatial_ref"), text(crs, "crs_wkt"));
}

TEST_F(CrsByProj, OtherSpellingsAreTheSameSystem) {
  const std::string wkt = text(describe_crs("EPSG:32719"), "crs_wkt");
  for (const char* other :
       {"epsg:32719", "WGS 84 / UTM zone 19S", "wgs 84 / utm zone 19s", "urn:ogc:def:crs:EPSG::32719"}) {
    EXPECT_EQ(text(describe_crs(other), "crs_wkt"), wkt) << other;
  }
  EXPECT_EQ(text(describe_crs(wkt), "projected_crs_name"), "WGS 84 / UTM zone 19S");
  EXPECT_EQ(number(describe_crs("+proj=utm +zone=19 +south +datum=WGS84"), "false_northing"), 10'000'000);
}

TEST_F(CrsByProj, ProjectionsHaveTheNamesAndParametersOfCf) {
  EXPECT_EQ(text(describe_crs("EPSG:3395"), "grid_mapping_name"), "mercator");
  EXPECT_EQ(number(describe_crs("EPSG:3395"), "scale_factor_at_projection_origin"), 1);
  const Crs polar = describe_crs("EPSG:3031");
  EXPECT_EQ(text(polar, "grid_mapping_name"), "polar_stereographic");
  EXPECT_EQ(number(polar, "standard_parallel"), -71);
  EXPECT_EQ(number(polar, "latitude_of_projection_origin"), -90);
  EXPECT_EQ(number(polar, "straight_vertical_longitude_from_pole"), 0);
  const Crs albers = describe_crs("EPSG:5070");
  EXPECT_EQ(text(albers, "grid_mapping_name"), "albers_conical_equal_area");
  EXPECT_EQ(value<std::vector<double>>(albers, "standard_parallel"), (std::vector<double>{29.5, 45.5}));
  const Crs azimuthal = describe_crs("EPSG:3035");
  EXPECT_EQ(text(azimuthal, "grid_mapping_name"), "lambert_azimuthal_equal_area");
  EXPECT_EQ(number(azimuthal, "longitude_of_projection_origin"), 10);
  EXPECT_EQ(text(describe_crs("EPSG:28992"), "grid_mapping_name"), "stereographic");
  const Crs conic = describe_crs("EPSG:31370");
  EXPECT_EQ(text(conic, "grid_mapping_name"), "lambert_conformal_conic");
  EXPECT_EQ(value<std::vector<double>>(conic, "standard_parallel").size(), 2U);
}

TEST_F(CrsByProj, AConeOfOneScaleBecomesOneOfTwoParallels) {
  // The parallels that the French agency states for Lambert zone II: 45 53 56.108 and 47 41 45.652 degrees.
  const Crs crs = describe_crs("EPSG:27572");
  const auto parallels = value<std::vector<double>>(crs, "standard_parallel");
  ASSERT_EQ(parallels.size(), 2U);
  EXPECT_NEAR(std::min(parallels[0], parallels[1]), 45 + 53 / 60.0 + 56.108 / 3600, 1e-6);
  EXPECT_NEAR(std::max(parallels[0], parallels[1]), 47 + 41 / 60.0 + 45.652 / 3600, 1e-6);
  EXPECT_NEAR(number(crs, "longitude_of_prime_meridian"), 2.33722917, 1e-8);
}

TEST_F(CrsByProj, HeightsOfACompoundSystemHaveTheirDatum) {
  const Crs crs = describe_crs("EPSG:25833+5783");
  EXPECT_EQ(text(crs, "grid_mapping_name"), "transverse_mercator");
  EXPECT_FALSE(text(crs, "geopotential_datum_name").empty());
  EXPECT_THAT(text(crs, "crs_wkt"), StartsWith("COMPOUNDCRS["));
  EXPECT_FALSE(has(describe_crs("EPSG:25833"), "geopotential_datum_name"));
}

TEST_F(CrsByProj, AProjectionThatCfDoesNotKnowHasWktAlone) {
  const Crs crs = describe_crs("EPSG:3857");
  EXPECT_FALSE(has(crs, "grid_mapping_name"));
  EXPECT_TRUE(has(crs, "crs_wkt"));
}

TEST_F(CrsByProj, MistakesNameTheRemedy) {
  EXPECT_THAT(message_of("EPSG:4326"), AllOf(HasSubstr("in degrees"), HasSubstr("project them")));
  EXPECT_THAT(message_of("EPSG:2263"), AllOf(HasSubstr("US survey foot"), HasSubstr("convert them")));
  EXPECT_THAT(message_of("EPSG:32719+6360"), HasSubstr("US survey foot"));
  EXPECT_THAT(message_of("EPSG:2053"), HasSubstr("whose axis is Westing"));
  EXPECT_THAT(message_of("EPSG:5703"), HasSubstr("a system of heights alone"));
  EXPECT_THAT(message_of("EPSG:4978"), HasSubstr("a geocentric system"));
  EXPECT_THAT(message_of("EPSG:99999"), AllOf(HasSubstr("which PROJ"), HasSubstr("such as EPSG:32719")));
  EXPECT_THAT(message_of("foo"), HasSubstr("the nearest name that PROJ knows is"));
  for (const char* garbage : {"32719", "PROJCRS[", "PROJCRS[\"a\"]", "{}", "{\"type\": 3}", "+proj=", "+proj=utm", "\\",
                              "urn:ogc:def:crs:", "EPSG:", ":", "LOCAL_CS[\"mine\",UNIT[\"metre\",1]]"}) {
    EXPECT_NE(message_of(garbage), "") << garbage;
  }
}

class CrsFile : public testing_samples::FolderTest {};

TEST_F(CrsFile, HasNoCrsWithoutASystem) {
  MadeHdf5 file(path("a.h5"));
  const double one = 1;
  file.write("gz", {1}, &one);
  write_crs(file, std::nullopt);
  refer_to_crs(file, "gz");
  EXPECT_FALSE(file.has("crs"));
  EXPECT_FALSE(file.has_attribute("gz", "grid_mapping"));
  write_crs(file, describe_crs("EPSG:32719"));
  refer_to_crs(file, "gz");
  file.close();
  const Hdf5File read = Hdf5File::open(path("a.h5"));
  EXPECT_EQ(read.read_integers("crs"), std::vector<std::int64_t>{0});
  EXPECT_EQ(read.read_text_attribute("gz", "grid_mapping"), "crs");
}

TEST_F(CrsFile, ComesBackAsItWasWritten) {
  Crs crs;
  crs.name = "a cone";
  crs.attributes = {{"grid_mapping_name", "lambert_conformal_conic"},
                    {"standard_parallel", std::vector<double>{50.5, 51.25}},
                    {"longitude_of_central_meridian", 4.25},
                    {"name", "a cone"}};
  MadeHdf5(path("none.h5")).close();
  EXPECT_FALSE(read_crs(ArrayFile({path("none.h5"), "", ""})));
  MadeHdf5 file(path("a.h5"));
  write_crs(file, crs);
  file.close();
  const std::optional<Crs> read = read_crs(ArrayFile({path("a.h5"), "", ""}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, crs.name);
  EXPECT_EQ(read->attributes, crs.attributes);
}

}  // namespace
}  // namespace prismfield::test_crs
