// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "case/output_check.hpp"
#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "readers/compare_results.hpp"
#include "result_samples.hpp"
#include "writers/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace prismfield::test_compare {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace testing_samples;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Stations in a row with the values of some fields, as another program may write them.
struct Sample {
  std::vector<double> easting{0, 100, 200, 300};
  std::vector<double> northing{0, 0, 0, 0};
  std::vector<double> upward{10, 20, 30, 40};
  std::map<std::string, std::vector<double>> fields;
  std::string units = "mGal";
  std::string axes = "z_down";
};

class CompareTest : public FolderTest {
protected:
  void write(const std::string& name, const Sample& sample) const {
    MadeHdf5 file(path(name));
    const auto put = [&](const std::string& variable, const std::vector<double>& values) {
      file.write(variable, {static_cast<std::int64_t>(values.size())}, values.data());
    };
    put("easting", sample.easting);
    put("northing", sample.northing);
    if (!sample.upward.empty()) put("upward", sample.upward);
    for (const auto& [field, values] : sample.fields) {
      put(field, values);
      if (!sample.units.empty()) file.write_attribute(field, "units", sample.units);
      if (!sample.axes.empty()) file.write_attribute(field, "axes", sample.axes);
    }
    file.close();
  }
  /// Compares two samples, B the reference.
  [[nodiscard]] Comparison compare(const Sample& a, const Sample& b) const {
    write("a.h5", a);
    write("b.h5", b);
    return compare_results(path("a.h5"), path("b.h5"));
  }
  [[nodiscard]] Comparison compare_gz(const std::vector<double>& a, const std::vector<double>& b) const {
    Sample sample_a, sample_b;
    sample_a.fields["gz"] = a;
    sample_b.fields["gz"] = b;
    return compare(sample_a, sample_b);
  }
  /// What compare_results says of a file that it refuses.
  [[nodiscard]] std::string refusal(const std::string& a, const std::string& b) const {
    try {
      (void)compare_results(path(a), path(b));
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
};

TEST_F(CompareTest, ComputesThePapersRms) {
  const Comparison comparison = compare_gz({1, 2, 3.5, 4}, {1, 2.25, 3, -8});
  EXPECT_EQ(comparison.points, 4);
  EXPECT_THAT(comparison.disagreements, IsEmpty());
  ASSERT_EQ(comparison.fields.size(), 1U);
  const FieldComparison& gz = comparison.fields[0];
  EXPECT_EQ(gz.field, Field::gz);
  EXPECT_EQ(gz.unit, "mGal");
  EXPECT_EQ(gz.compared, 4);
  EXPECT_DOUBLE_EQ(gz.rms_difference, std::sqrt((0.25 * 0.25 + 0.5 * 0.5 + 12.0 * 12.0) / 4));
  EXPECT_EQ(gz.largest_difference, 12);
  EXPECT_EQ(gz.largest_reference, 8);
  EXPECT_EQ(gz.relative, 1.5);
  EXPECT_THAT(gz.where, ElementsAre(300, 0, 40));
  EXPECT_TRUE(within(comparison, 1.5));
  EXPECT_FALSE(within(comparison, 1.4999999));
}

TEST_F(CompareTest, TakesBAsTheReference) {
  EXPECT_EQ(compare_gz({1, 1, 1, 1}, {2, 1, 1, 1}).fields[0].relative, 0.5);
  EXPECT_EQ(compare_gz({2, 1, 1, 1}, {1, 1, 1, 1}).fields[0].relative, 1.0);
}

TEST_F(CompareTest, EqualResultsAreWithinZero) {
  const Comparison comparison = compare_gz({0.1, -0.0, 1e19, 4}, {0.1, 0.0, 1e19, 4});
  EXPECT_EQ(comparison.fields[0].relative, 0);
  EXPECT_EQ(comparison.fields[0].rms_difference, 0);
  EXPECT_TRUE(within(comparison, 0));
  EXPECT_EQ(comparison.fields[0].histogram.equal, 4);
}

TEST_F(CompareTest, NanEqualsNanAtTheSamePlaceOnly) {
  const Comparison same = compare_gz({1, nan, 3, 4}, {1, nan, 3, 4});
  EXPECT_TRUE(within(same, 0));
  EXPECT_EQ(same.fields[0].both_nan, 1);
  EXPECT_EQ(same.fields[0].compared, 3);
  for (const auto& [a, b] : {std::pair{std::vector<double>{1, nan, 3, 4}, std::vector<double>{1, 2, 3, 4}},
                             std::pair{std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, nan, 3, 4}},
                             std::pair{std::vector<double>{nan, 2, 3, 4}, std::vector<double>{1, nan, 3, 4}}}) {
    const Comparison other = compare_gz(a, b);
    EXPECT_FALSE(within(other, 1e300));
    EXPECT_GE(other.fields[0].one_nan, 1);
    EXPECT_THAT(other.disagreements, ElementsAre(HasSubstr("NaN in one file only")));
  }
  EXPECT_TRUE(within(compare_gz({nan, nan, nan, nan}, {nan, nan, nan, nan}), 0));
}

TEST_F(CompareTest, InfinityEqualsItselfOnly) {
  EXPECT_TRUE(within(compare_gz({1, infinity, 3, 4}, {1, infinity, 3, 4}), 0));
  EXPECT_FALSE(within(compare_gz({1, infinity, 3, 4}, {1, -infinity, 3, 4}), 1e300));
  EXPECT_FALSE(within(compare_gz({1, infinity, 3, 4}, {1, 2, 3, 4}), 1e300));
  EXPECT_FALSE(within(compare_gz({1, 2, 3, 4}, {1, infinity, 3, 4}), 1e300));
  // an infinite reference elsewhere must not hide a difference of 100 %
  EXPECT_FALSE(within(compare_gz({8, infinity, 3, 4}, {4, infinity, 3, 4}), 0.5));
}

TEST_F(CompareTest, AReferenceOfZeroAllowsNothing) {
  EXPECT_TRUE(within(compare_gz({0, 0, 0, 0}, {0, 0, 0, 0}), 0));
  const Comparison comparison = compare_gz({0, 1e-300, 0, 0}, {0, 0, 0, 0});
  EXPECT_EQ(comparison.fields[0].relative, infinity);
  EXPECT_FALSE(within(comparison, 1e300));
  EXPECT_EQ(comparison.fields[0].histogram.positive.back(), 1);
}

TEST_F(CompareTest, AMissingFieldIsOutside) {
  Sample a, b;
  a.fields["gz"] = {1, 2, 3, 4};
  a.fields["gx"] = {1, 2, 3, 4};
  b.fields["gz"] = {1, 2, 3, 4};
  b.fields["gzz"] = {1, 2, 3, 4};
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.fields.size(), 1U);
  EXPECT_THAT(comparison.disagreements, UnorderedElementsAre("gx is missing in B", "gzz is missing in A"));
  EXPECT_FALSE(within(comparison, 1e300));
}

TEST_F(CompareTest, MatchesPointsInAnotherOrder) {
  Sample a, b;
  a.fields["gz"] = {1, 2, 3, 4};
  b.easting = {300, 100, 0, 200};
  b.upward = {40, 20, 10, 30};
  b.fields["gz"] = {4, 2, 1, 3};
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.points, 4);
  EXPECT_TRUE(within(comparison, 0));
}

TEST_F(CompareTest, AMissingPointIsOutsideAndTheRestIsCompared) {
  Sample a, b;
  a.fields["gz"] = {1, 2, 3, 4};
  b.easting = {0, 100, 300};
  b.northing = {0, 0, 0};
  b.upward = {10, 20, 40};
  b.fields["gz"] = {1, 2.5, 4};
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.points, 3);
  EXPECT_EQ(comparison.fields[0].largest_difference, 0.5);
  EXPECT_THAT(comparison.fields[0].where, ElementsAre(100, 0, 20));
  EXPECT_THAT(comparison.disagreements, ElementsAre("1 of A's 4 points are missing in B"));
  EXPECT_EQ(comparison.too_little, "");
  EXPECT_FALSE(within(comparison, 1e300));
  EXPECT_THAT(compare(b, a).disagreements, ElementsAre("1 of B's 4 points are missing in A"));
}

TEST_F(CompareTest, DifferentCoordinatesAreOutside) {
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {1, 2, 3, 4};
  for (double& height : b.upward) height += 0.5;
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.points, 0);
  EXPECT_THAT(comparison.disagreements,
              ElementsAre(AllOf(HasSubstr("different coordinates"), HasSubstr("heights"), HasSubstr("0.5 m"))));
  EXPECT_FALSE(within(comparison, 1e300));
  EXPECT_THAT(comparison.too_little, HasSubstr("b.h5 have no point in common, nothing was compared"));
  EXPECT_THAT(report(comparison, {}), HasSubstr("different coordinates"));

  // one point of four
  b.upward = a.upward;
  b.easting[3] = 301;
  EXPECT_FALSE(within(compare(a, b), 1e300));
  b.easting[3] = nan;
  EXPECT_FALSE(within(compare(a, b), 1e300));
}

TEST_F(CompareTest, HeightsThatDifferAreNamedWithTheRemedy) {
  const std::string remedy =
      "only heights differ, by up to 0.001 m: --horizontal matches points by easting and "
      "northing alone";
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {1, 2, 3, 4};
  b.upward = {10, 20.001, 30.001, 40.0005};
  const Comparison most = compare(a, b);
  EXPECT_EQ(most.points, 1);
  EXPECT_THAT(most.too_little, AllOf(HasSubstr("b.h5 have 1 of 4 and 4 points in common"), HasSubstr(remedy)));
  EXPECT_THAT(most.disagreements,
              ElementsAre("3 of A's 4 points are missing in B", "3 of B's 4 points are missing in A", remedy));
  b.upward[0] = 9.9995;
  EXPECT_THAT(compare(a, b).disagreements, ElementsAre("different coordinates: no point in common, " + remedy));
  EXPECT_THAT(compare(a, b).too_little, HasSubstr("nothing was compared; " + remedy));
  // half of them are enough
  b.upward = {10, 20, 30.001, 40};
  b.easting[3] = 301;
  EXPECT_EQ(compare(a, b).too_little, "");
  b.upward[1] = 21;
  EXPECT_THAT(compare(a, b).too_little, AllOf(HasSubstr("1 of 4 and 4"), Not(HasSubstr("--horizontal"))));
  // two heights at one place: the option would be no remedy
  b = a;
  a.easting[1] = b.easting[1] = 0;
  for (double& height : b.upward) height += 1;
  EXPECT_THAT(compare(a, b).too_little, Not(HasSubstr("--horizontal")));
}

TEST_F(CompareTest, MatchesPointsByEastingAndNorthingAlone) {
  Sample a, b;
  a.fields["gz"] = {1, 2, 3, 4};
  b.fields["gz"] = {1, 2, 3, 5};
  b.upward = {10, 20, 33, 40};
  const auto horizontal = [&] {
    write("a.h5", a);
    write("b.h5", b);
    return compare_results(path("a.h5"), path("b.h5"), PointMatch::horizontal);
  };
  const std::string heights = "matched by easting and northing alone: upward differs by up to ";
  Comparison comparison = horizontal();
  EXPECT_EQ(comparison.points, 4);
  EXPECT_THAT(comparison.disagreements, IsEmpty());
  EXPECT_EQ(comparison.fields[0].largest_difference, 1);
  EXPECT_EQ(comparison.heights, heights + "3 m");
  EXPECT_THAT(report(comparison, 0.5), AllOf(HasSubstr(heights), HasSubstr("within")));
  // in another order, one missing
  b.easting = {300, 200, 100, 50};
  b.fields["gz"] = {4, 3, 2, 1};
  comparison = horizontal();
  EXPECT_EQ(comparison.points, 3);
  EXPECT_EQ(comparison.fields[0].largest_difference, 0);
  EXPECT_EQ(comparison.heights, heights + "30 m");
  EXPECT_THAT(comparison.disagreements,
              ElementsAre("1 of A's 4 points are missing in B", "1 of B's 4 points are missing in A"));
  // and of one place twice nobody knows which
  b.easting[3] = 300;
  EXPECT_THROW((void)horizontal(), InputError);
}

TEST_F(CompareTest, RoundingOfCoordinatesIsNoDifference) {
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {1, 2, 3, 4};
  b.easting[1] = std::nextafter(b.easting[1], 1e9);
  b.easting[2] = std::nextafter(b.easting[2], -1e9);
  EXPECT_TRUE(within(compare(a, b), 0));
  // a micrometre at 300 m is no rounding of doubles
  b.easting[2] = 200 + 1e-6;
  EXPECT_FALSE(within(compare(a, b), 0));
}

TEST_F(CompareTest, StationsAtOnePlaceAreMatchedOneByOne) {
  Sample a, b;
  a.easting = {0, 0, 5};
  a.northing = a.upward = {0, 0, 0};
  a.fields["gz"] = {1, 2, 3};
  b = a;
  b.easting = {5, 0, 0};
  b.fields["gz"] = {3, 1, 2};
  EXPECT_TRUE(within(compare(a, b), 0));
  b.easting = {0, 5, 5};
  EXPECT_FALSE(within(compare(a, b), 1e300));
}

TEST_F(CompareTest, UpwardMayBeMissingInBoth) {
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {1, 2, 3, 4};
  a.upward.clear();
  EXPECT_THAT(compare(a, b).disagreements, ElementsAre("upward is missing in A"));
  b.upward.clear();
  EXPECT_TRUE(within(compare(a, b), 0));
}

TEST_F(CompareTest, UnitsAndAxesMustNotContradict) {
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {0, 0, 0, 0};
  b.units = "furlong";
  EXPECT_THAT(compare(a, b).disagreements, ElementsAre("gz: units are mGal in A, furlong in B"));
  b.units = "";
  EXPECT_TRUE(within(compare(a, b), 0));
  b.axes = "z_up";
  EXPECT_THAT(compare(a, b).disagreements, ElementsAre("gz: axes are z_down in A, z_up in B"));
}

TEST_F(CompareTest, UnitsThatConvertAreTheSame) {
  Sample a, b;
  a.fields["gz"] = {1, -2, 3.5, 0};
  b.fields["G_z"] = {1e-5, -2e-5, 3.5e-5, 0};
  b.units = "m/s2";
  const Comparison comparison = compare(a, b);
  EXPECT_TRUE(within(comparison, 0)) << report(comparison, 0);
  EXPECT_EQ(comparison.fields.at(0).unit, "mGal");
  EXPECT_EQ(comparison.fields.at(0).largest_reference, 3.5);
}

TEST_F(CompareTest, TablesMayEndInAnything) {
  Sample a;
  a.fields["gz"] = {1, 2, 3, 4};
  write("a.h5", a);
  for (const char* const name : {"b.csv", "b.xyz", "b.txt", "b.dat", "B.TXT"}) {
    std::ofstream(path(name)) << "easting northing upward g_z[um/s2] gz_sigma[mGal]\n"
                                 "0 0 10 10 9\n100 0 20 20 9\n200 0 30 30 9\n300 0 40 40 9\n";
    EXPECT_TRUE(within(compare_results(path("a.h5"), path(name)), 0)) << name;
  }
}

TEST_F(CompareTest, AxesOfATableAreThoseOfItsComment) {
  Sample a;
  a.fields["gz"] = {1, 2, 3, 4};
  a.fields["gx"] = {4, 3, 2, 1};
  write("a.h5", a);
  const auto said_of = [&](const std::string& axes) {
    std::ofstream(path("b.xyz")) << "# axes " << axes
                                 << "\n# easting northing upward gx[mGal] gz[mGal]\n"
                                    "0 0 10 4 1\n100 0 20 3 2\n200 0 30 2 3\n300 0 40 1 4\n";
    return compare_results(path("a.h5"), path("b.xyz")).disagreements;
  };
  EXPECT_THAT(said_of("z_up"), ElementsAre("gz: axes are z_down in A, z_up in B"));
  EXPECT_THAT(said_of("z_down, G 6.6743e-11"), IsEmpty());
}

TEST_F(CompareTest, EotvosHasTwoNames) {
  Sample a, b;
  a.fields["gzz"] = b.fields["gzz"] = {1, 2, 3, 4};
  a.units = "Eotvos";
  b.units = "1e-9 s-2";
  const Comparison comparison = compare(a, b);
  EXPECT_TRUE(within(comparison, 0));
  EXPECT_EQ(comparison.fields.at(0).unit, "Eotvos");
}

TEST_F(CompareTest, UnitsOfAFileCommandNoTerminal) {
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = {0, 0, 0, 0};
  a.units = b.units = "\x1b[2J" + std::string(1000, 'x');
  a.axes = "\x1b]0;a\x07";
  const Comparison comparison = compare(a, b);
  const std::string text = report(comparison, 0);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
  EXPECT_EQ(text.find(std::string(200, 'x')), std::string::npos) << text;
}

TEST_F(CompareTest, ComparesResultsOfRuns) {
  const Points points = grid_points(7, 5);
  Fields result = sample_result(points);
  write_result(result_header(sample_case(path("b.h5"))), points, result, {});
  const auto at = static_cast<std::size_t>(Field::gzz) * 35 + 8;
  result.values[at] *= 1 + 1e-9;
  write_result(result_header(sample_case(path("a.h5"))), points, result, {});
  const Comparison comparison = compare_results(path("a.h5"), path("b.h5"));
  EXPECT_EQ(comparison.points, 35);
  EXPECT_EQ(comparison.fields.size(), 10U);
  EXPECT_TRUE(within(comparison, 1e-8));
  EXPECT_FALSE(within(comparison, 1e-12));
  for (const FieldComparison& field : comparison.fields) {
    if (field.field == Field::gzz) {
      // node 8 of a grid of 7 columns: the second of the second row
      EXPECT_THAT(field.where, ElementsAre(100, 100, 100));
      EXPECT_GT(field.relative, 0);
    } else {
      EXPECT_EQ(field.relative, 0);
    }
  }
}

TEST_F(CompareTest, AGridAndTheSamePointsAsStationsAgree) {
  const Points grid = grid_points(4, 4);
  Points stations = grid;
  stations.grid_easting.clear();
  stations.grid_northing.clear();
  write_result(result_header(sample_case(path("grid.h5"))), grid, sample_result(grid), {});
  write_result(result_header(sample_case(path("stations.h5"))), stations, sample_result(grid), {});
  EXPECT_TRUE(within(compare_results(path("grid.h5"), path("stations.h5")), 0));
}

TEST_F(CompareTest, NothingButNanDoesNotAgree) {
  EXPECT_THAT(compare_gz({nan, nan, nan, nan}, {nan, nan, nan, nan}).too_little, HasSubstr("nothing was compared"));
  EXPECT_THAT(compare_gz({1, nan, nan, nan}, {1, nan, nan, nan}).too_little, IsEmpty());
}

TEST_F(CompareTest, RefusesAResultWithAChangedByte) {
  const Points points = station_points(9);
  Fields fields = sample_result(points, {Field::gz, Field::gxx});
  fields.values[4] = 1.2345678e-5;
  const Case run = sample_case(path("a.h5"), fields.fields);
  write_result(result_header(run), points, fields, {});
  fs::copy_file(path("a.h5"), path("b.h5"));
  EXPECT_TRUE(within(compare_results(path("a.h5"), path("b.h5")), 0));
  ASSERT_TRUE(flip_a_bit_of(path("b.h5"), output_values(result_header(run), fields, Field::gz)[4]));
  EXPECT_THAT(refusal("a.h5", "b.h5"),
              AllOf(HasSubstr("b.h5: its bytes are not those that were written"), HasSubstr("make it again")));
  EXPECT_EQ(refusal("b.h5", "a.h5"), refusal("a.h5", "b.h5"));
}

TEST_F(CompareTest, RefusesWhatIsNoResult) {
  Sample good;
  good.fields["gz"] = {1, 2, 3, 4};
  write("good.h5", good);
  std::ofstream(path("text.csv")) << "easting,northing\n";
  EXPECT_EQ(refusal("none.h5", "good.h5"), path("none.h5").string() + ": does not exist");
  EXPECT_THAT(refusal("good.h5", "text.csv"), AllOf(HasSubstr("text.csv"), HasSubstr("missing column upward")));
  std::ofstream(path("text.h5")) << "easting,northing\n";
  EXPECT_THAT(refusal("good.h5", "text.h5"), AllOf(HasSubstr("text.h5"), HasSubstr("is no HDF5 or netCDF file")));
  EXPECT_THAT(refusal("", "good.h5"), HasSubstr("is a folder"));
  write("no field.h5", Sample{});
  EXPECT_THAT(refusal("good.h5", "no field.h5"), AllOf(HasSubstr("no field.h5"), HasSubstr("holds no field")));
  Sample odd = good;
  odd.fields["gx"] = {1, 2, 3};
  write("odd.h5", odd);
  EXPECT_THAT(refusal("odd.h5", "good.h5"), AllOf(HasSubstr("odd.h5: gx"), HasSubstr("shape")));
  odd = good;
  odd.upward = {1, 2};
  write("odd.h5", odd);
  EXPECT_THAT(refusal("odd.h5", "good.h5"), HasSubstr("odd.h5: upward"));
  {
    MadeHdf5 file(path("bare.h5"));
    file.write("gz", {4}, good.fields["gz"].data());
    file.close();
  }
  EXPECT_THAT(refusal("good.h5", "bare.h5"), AllOf(HasSubstr("bare.h5: easting"), HasSubstr("no such variable")));
}

TEST(RelativeHistogram, CountsBySignAndDecade) {
  RelativeHistogram histogram;
  const auto bin = [](int exponent) { return static_cast<std::size_t>(exponent - RelativeHistogram::lowest + 1); };
  histogram.add(1 + 3e-13, 1);
  histogram.add(1 - 3e-13, 1);
  histogram.add(-1 + 5e-7, -1);
  histogram.add(-1 - 5e-7, -1);
  histogram.add(7, 7);
  histogram.add(2, 0);
  histogram.add(-2, 0);
  histogram.add(-100, 1);
  EXPECT_EQ(histogram.positive[bin(-13)], 1);
  EXPECT_EQ(histogram.negative[bin(-13)], 1);
  EXPECT_EQ(histogram.positive[bin(-7)], 1);
  EXPECT_EQ(histogram.negative[bin(-7)], 1);
  EXPECT_EQ(histogram.equal, 1);
  EXPECT_EQ(histogram.positive.back(), 1);
  EXPECT_EQ(histogram.negative.back(), 2);
  const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); };
  EXPECT_EQ(sum(histogram.positive) + sum(histogram.negative) + histogram.equal, 8);
}

TEST_F(CompareTest, ReportsTableHistogramAndVerdict) {
  const Comparison comparison = compare_gz({1, 2 + 4e-9, 3, 4 - 8e-6}, {1, 2, 3, 4});
  const std::string text = report(comparison, {});
  EXPECT_THAT(text, AllOf(HasSubstr(path("a.h5").string()), HasSubstr(path("b.h5").string()), HasSubstr("reference")));
  EXPECT_THAT(text, AllOf(HasSubstr("4 points"), HasSubstr("8.0000e-06"), HasSubstr("2.0000e-06"),
                          HasSubstr("4.0000e-06"), HasSubstr("300, 0, 40")));
  EXPECT_THAT(text, AllOf(HasSubstr("- 1e-6 to 1e-5"), HasSubstr("+ 1e-9 to 1e-8"), HasSubstr("equal")));
  EXPECT_LT(text.find("- 1e-6 to 1e-5"), text.find("equal  "));
  EXPECT_LT(text.find("equal  "), text.find("+ 1e-9 to 1e-8"));
  EXPECT_THAT(text, Not(HasSubstr("tolerance")));
  EXPECT_THAT(report(comparison, 1e-5), HasSubstr("within the tolerance 1e-05"));
  EXPECT_THAT(report(comparison, 1e-7), AllOf(HasSubstr("OUTSIDE the tolerance 1e-07"), HasSubstr("  OUTSIDE\n")));
  // a field that is missing is shown without a tolerance too
  Sample a, b;
  a.fields["gz"] = b.fields["gz"] = b.fields["gx"] = {1, 2, 3, 4};
  EXPECT_THAT(report(compare(a, b), {}), HasSubstr("differs: gx is missing in A"));
}

}  // namespace
}  // namespace prismfield::test_compare
