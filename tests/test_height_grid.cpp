// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/surface_file.hpp"

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace prismfield::test_height_grid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::mistakes;
using ::testing::Not;
using testing::ScratchFolder;
using ::testing::SizeIs;

/// A grid of 3 x 2 heights, 10 j + i at (100 i, 50 j).
constexpr const char* table =
    "0,0,0\n100,0,1\n200,0,2\n"
    "0,50,10\n100,50,11\n200,50,12\n";

class HeightGrid : public ::testing::Test {
protected:
  static InputFile named(const std::filesystem::path& path) {
    return {path, "case.yaml:5", "inversion.topography.file"};
  }
  std::vector<double> heights(const std::vector<double>& easting, const std::vector<double>& northing,
                              const std::string& name = "h.csv") {
    const HeightSurface surface(named(m_folder / name), m_columns);
    m_warnings = surface.warnings();
    return surface.on_grid(easting, northing, m_note);
  }
  std::vector<double> of(std::string_view text, const std::vector<double>& easting,
                         const std::vector<double>& northing) {
    m_folder.write("h.csv", text);
    return heights(easting, northing);
  }
  std::string mistakes_of(std::string_view text) {
    return m_folder.removed_from(mistakes([&] { (void)of(text, {0}, {0}); }));
  }
  std::string note() const { return m_folder.removed_from(m_note); }
  std::string warning() const {
    EXPECT_THAT(m_warnings, SizeIs(1));
    return m_warnings.empty() ? "" : m_folder.removed_from(m_warnings.front());
  }

  /// The grid above as HDF5, in the order that is asked for.
  void write_hdf5(const std::string& x, const std::string& y, const std::vector<double>& xs,
                  const std::vector<double>& ys, const std::vector<double>& values, bool x_first,
                  const std::string& unit = "m") {
    MadeHdf5 file(m_folder / "h.nc");
    const auto nx = static_cast<std::int64_t>(xs.size()), ny = static_cast<std::int64_t>(ys.size());
    file.write("/" + x, {nx}, xs.data());
    file.write("/" + y, {ny}, ys.data());
    file.write_attribute("/" + x, "units", unit);
    file.make_dimension("/" + x);
    file.make_dimension("/" + y);
    using Shape = std::vector<std::int64_t>;
    file.write("/z", x_first ? Shape{nx, ny} : Shape{ny, nx}, values.data());
    using Names = std::vector<std::string>;
    file.attach_dimensions("/z", x_first ? Names{"/" + x, "/" + y} : Names{"/" + y, "/" + x});
    file.close();
  }

  ScratchFolder m_folder;
  std::vector<std::string> m_columns;
  std::string m_note;
  std::vector<std::string> m_warnings;
};

TEST_F(HeightGrid, IsExactAtItsNodesAndBilinearBetween) {
  EXPECT_THAT(of(table, {0, 100, 200}, {0, 50}), ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_EQ(note(), "");
  EXPECT_THAT(of(table, {25, 150}, {12.5}), ElementsAre(2.75, 4));
  EXPECT_EQ(note(), "");
}

TEST_F(HeightGrid, ReproducesWhatIsLinearInBothDirections) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> step(0.1, 3);
  std::vector<double> xs{-7}, ys{100};
  for (int i = 0; i < 9; ++i) {
    xs.push_back(xs.back() + step(random));
    ys.push_back(ys.back() + step(random));
  }
  const auto surface = [](double x, double y) { return 3 + 2 * x - y + 0.5 * x * y; };
  std::string text = "y,x,z\n";
  for (const double x : xs) {
    for (const double y : ys) {
      text += std::to_string(y) + "," + std::to_string(x) + "," + std::to_string(surface(x, y)) + "\n";
    }
  }
  std::vector<double> at_x, at_y;
  for (int i = 0; i < 40; ++i) {
    at_x.push_back(xs.front() + (xs.back() - xs.front()) * i / 40);
    at_y.push_back(ys.front() + (ys.back() - ys.front()) * i / 40);
  }
  const std::vector<double> heights = of(text, at_x, at_y);
  EXPECT_EQ(note(), "");
  for (std::size_t j = 0; j < at_y.size(); ++j) {
    for (std::size_t i = 0; i < at_x.size(); ++i) {
      // the six decimals of the text, times the slopes
      EXPECT_NEAR(heights[j * at_x.size() + i], surface(at_x[i], at_y[j]), 1e-4);
    }
  }
}

TEST_F(HeightGrid, ComesInAnyOrderAndNames) {
  const std::vector<double> expected = of(table, {10, 120}, {5, 45});
  EXPECT_EQ(of("100 50 11\n0 0 0\n200 0 2\n200 50 12\n100 0 1\n0 50 10\n", {10, 120}, {5, 45}), expected);
  EXPECT_EQ(of("Z (m);Y [m];X;name\n0;0;0;a\n1;0;100;b\n2;0;200;c\n10;50;0;d\n11;50;100;e\n12;50;200;f\n", {10, 120},
               {5, 45}),
            expected);
  m_columns = {"-", "upward", "y", "x"};
  EXPECT_EQ(of("a 0 0 0\nb 1 0 100\nc 2 0 200\nd 10 50 0\ne 11 50 100\nf 12 50 200\n", {10, 120}, {5, 45}), expected);
}

TEST_F(HeightGrid, ComesFromArraysInAnyOrder) {
  const std::vector<double> expected = of(table, {10, 120}, {5, 45});
  write_hdf5("easting", "northing", {0, 100, 200}, {0, 50}, {0, 1, 2, 10, 11, 12}, false);
  EXPECT_EQ(heights({10, 120}, {5, 45}, "h.nc"), expected);
  write_hdf5("x", "y", {200, 100, 0}, {0, 50}, {2, 12, 1, 11, 0, 10}, true);
  EXPECT_EQ(heights({10, 120}, {5, 45}, "h.nc"), expected);
  EXPECT_EQ(note(), "");
}

TEST_F(HeightGrid, BeyondItsAreaIsTheNearestInside) {
  EXPECT_THAT(of(table, {-30, 50, 240}, {-10, 25, 80}), ElementsAre(0, 0.5, 2, 5, 5.5, 7, 10, 10.5, 12));
  EXPECT_EQ(note(),
            "'h.csv': 8 of 9 places lie beyond its area, by up to 50 m, the nearest height inside counts there");
  // what rounding leaves is not beyond
  (void)of(table, {0 - 1e-16, std::nextafter(200.0, 300.0)}, {0, 50});
  EXPECT_EQ(note(), "");
}

TEST_F(HeightGrid, OfALineOrAPointIsConstantAcross) {
  EXPECT_THAT(of("0 5 1\n10 5 2\n", {5}, {0, 5}), ElementsAre(1.5, 1.5));
  EXPECT_THAT(note(), HasSubstr("1 of 2 places lie beyond its area, by up to 5 m"));
  EXPECT_THAT(of("3 4 7\n", {3, 6}, {4}), ElementsAre(7, 7));
}

TEST_F(HeightGrid, WithoutAGridIsThatOfTheNearestPoint) {
  const char* const points = "0 0 0\n100 1 1\n200 -1 2\n1 50 10\n99 51 11\n";
  EXPECT_THAT(of(points, {0, 190}, {0, 49}), ElementsAre(0, 2, 10, 2));
  EXPECT_EQ(note(), "'h.csv': its points make no grid, the height of the nearest counts");
  EXPECT_THAT(of(points, {0, 290}, {0, 49}), ElementsAre(0, 2, 10, 2));
  EXPECT_EQ(note(),
            "'h.csv': its points make no grid, the height of the nearest counts; 2 of 4 places lie beyond its area, by "
            "up to 90 m, the nearest height inside counts there");
  EXPECT_EQ(mistakes_of(std::string(points) + "1 50 12\n"),
            "h.csv:6: easting 1, northing 50 has 12, in line 4 it has 10");
  EXPECT_THAT(of(std::string(points) + "-5 3 -9999\n", {-5}, {3}), ElementsAre(0));
  EXPECT_EQ(warning(), "'h.csv': 1 of 6 points left out: dummies, such as -9999, in line 6");
}

TEST_F(HeightGrid, GapsHaveTheHeightOfTheNearestNode) {
  std::string text(table);
  text.erase(text.rfind("200"));
  for (const char* const gap : {"", "200,50,nan\n", "200,50,\n", "200,50,*\n"}) {
    EXPECT_THAT(of(text + gap, {0, 200}, {0, 50}), ElementsAre(0, 2, 10, 2));
    EXPECT_EQ(note(), "'h.csv': 1 of 6 nodes without a height get that of the nearest node");
  }
  for (const char* const number : {"-9999", "99999", "-32768"}) {
    EXPECT_THAT(of(text + "200,50," + number + "\n", {200}, {25}), ElementsAre(2));
    EXPECT_EQ(warning(), fmt::format("'h.csv': 1 of 6 points left out: dummies, such as {}, in line 6", number));
    EXPECT_EQ(note(), "'h.csv': 1 of 6 nodes without a height get that of the nearest node");
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_hdf5("x", "y", {0, 100, 200}, {0, 50}, {0, 1, 2, 10, nan, nan}, false);
  EXPECT_THAT(heights({0, 100, 200}, {50}, "h.nc"), ElementsAre(10, 1, 2));
  EXPECT_EQ(note(), "'h.nc': 2 of 6 nodes without a height get that of the nearest node");
}

/// Against all nodes that have a height.
TEST_F(HeightGrid, FillsGapsOfAnyShape) {
  constexpr int n = 24;
  std::mt19937 random(5);
  for (const int missing : {10, 200, 400}) {
    std::vector<bool> is_gap(n * n);
    for (int i = 0; i < missing; ++i) is_gap[random() % is_gap.size()] = true;
    std::string text = "ncols 24\nnrows 24\nxllcenter 0\nyllcenter 0\ndx 7\ndy 3\n";
    for (int j = n; j-- > 0;) {
      for (int i = 0; i < n; ++i) text += fmt::format("{} ", is_gap[n * j + i] ? -9999 : 1000 + n * j + i);
      text += "\n";
    }
    std::vector<double> easting, northing;
    for (int i = 0; i < n; ++i) {
      easting.push_back(7 * i);
      northing.push_back(3 * i);
    }
    m_folder.write("h.asc", text);
    const std::vector<double> found = heights(easting, northing, "h.asc");
    for (int node = 0; node < n * n; ++node) {
      int nearest = -1;
      const auto distance = [&](int other) {
        return std::hypot(7 * (node % n - other % n), 3 * (node / n - other / n));
      };
      for (int other = 0; other < n * n; ++other) {
        if (!is_gap[other] && (nearest < 0 || distance(other) < distance(nearest))) nearest = other;
      }
      ASSERT_EQ(found[node], 1000 + nearest);
    }
  }
}

TEST_F(HeightGrid, ComesFromEveryFormatAndUnit) {
  const std::vector<double> expected = of(table, {10, 120}, {5, 45});
  m_folder.write("h.asc", "ncols 3\nnrows 2\nxllcenter 0\nyllcenter 0\ndx 100\ndy 50\n10 11 12\n0 1 2\n");
  EXPECT_EQ(heights({10, 120}, {5, 45}, "h.asc"), expected);
  m_folder.write("h.grd", "DSAA\n3 2\n0 200\n0 50\n0 12\n0 1 2\n10 11 12\n");
  EXPECT_EQ(heights({10, 120}, {5, 45}, "h.grd"), expected);
  EXPECT_EQ(of("x [km],y [km],z [km]\n0,0,0\n.1,0,.001\n.2,0,.002\n0,.05,.01\n.1,.05,.011\n.2,.05,.012\n", {10, 120},
               {5, 45}),
            expected);
  write_hdf5("x", "y", {0, .1, .2}, {0, 50}, {0, 1, 2, 10, 11, 12}, false, "km");
  EXPECT_EQ(heights({10, 120}, {5, 45}, "h.nc"), expected);
  const std::string counted = "! UBC\n6\n0 0 0\n100 0 1\n200 0 2\n0 50 10\n100 50 11\n200 50 12\n";
  EXPECT_EQ(of(counted, {10, 120}, {5, 45}), expected);
  m_columns = {"easting", "northing", "upward"};
  EXPECT_EQ(of(counted, {10, 120}, {5, 45}), expected);
  m_columns = {"northing", "easting", "upward"};
  EXPECT_THAT(mistakes_of(counted),
              HasSubstr("case.yaml:5: inversion.topography.columns: 'h.csv' begins with the number of "
                        "its points, whose columns are known"));
}

/// Against all points; whole numbers, so that many are equally far.
TEST_F(HeightGrid, FindsTheNearestOfManyPoints) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> place(0, 99);
  std::vector<std::array<double, 2>> points;
  std::string text;
  std::map<std::array<double, 2>, int> first;
  for (int i = 0; i < 300; ++i) {
    const std::array<double, 2> p{static_cast<double>(place(random)), static_cast<double>(place(random))};
    if (!first.emplace(p, i).second) continue;
    text += std::to_string(p[0]) + " " + std::to_string(p[1]) + " " + std::to_string(points.size()) + "\n";
    points.push_back(p);
  }
  std::vector<double> at;
  for (double x = -5; x < 106; x += 1.5) at.push_back(x);
  const std::vector<double> heights = of(text, at, at);
  for (std::size_t j = 0; j < at.size(); ++j) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::size_t nearest = 0;
      const auto distance = [&](std::size_t p) { return std::hypot(points[p][0] - at[i], points[p][1] - at[j]); };
      for (std::size_t p = 1; p < points.size(); ++p) {
        if (distance(p) < distance(nearest)) nearest = p;
      }
      ASSERT_EQ(heights[j * at.size() + i], static_cast<double>(nearest)) << at[i] << " " << at[j];
    }
  }
}

TEST_F(HeightGrid, MayNameAPlaceTwiceWithOneHeight) {
  EXPECT_THAT(of(std::string(table) + "0,0,0\n", {50}, {0}), ElementsAre(0.5));
  EXPECT_EQ(note(), "");
  EXPECT_EQ(mistakes_of(std::string(table) + "0,0,3\n"), "h.csv:7: easting 0, northing 0 has 3, in line 1 it has 0");
}

TEST_F(HeightGrid, IsRefusedWithEveryMistake) {
  const std::string several = mistakes_of("0 0 inf\n1 0 x\n2 0 1 4\n3 0 4\n");
  EXPECT_EQ(lines_in(several), 3U) << several;
  EXPECT_THAT(several, HasSubstr("h.csv:1: upward: 'inf' is not finite"));
  EXPECT_THAT(several, HasSubstr("h.csv:2: upward: 'x' is not a number"));
  EXPECT_THAT(several, HasSubstr("h.csv:3: 4 columns, "));
  EXPECT_THAT(mistakes_of("0 0\n"), HasSubstr("inversion.topography.columns"));
  EXPECT_EQ(mistakes_of("x [s],y,z\n0,0,0\n"),
            "h.csv:1: column easting is in 's', no unit of length that is known; the numbers need m, km or ft: write "
            "which there");
  EXPECT_THAT(mistakes_of(""), HasSubstr("is empty"));
  m_columns = {"x", "y"};
  EXPECT_THAT(mistakes_of(table), HasSubstr("case.yaml:5: inversion.topography.columns: missing column upward"));
}

TEST_F(HeightGrid, OfArraysIsRefusedWithEveryMistake) {
  const auto message = [&] { return m_folder.removed_from(mistakes([&] { (void)heights({0}, {0}, "h.nc"); })); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_hdf5("x", "y", {0, 100}, {0, 50}, {1, 2, 3, 4}, false, "fathom");
  EXPECT_THAT(message(), HasSubstr("'h.nc' has x in 'fathom'; metres, km, feet or US survey feet are known"));
  write_hdf5("x", "y", {0, 100}, {0, 50}, {nan, nan, nan, nan}, false);
  EXPECT_THAT(message(), HasSubstr("'h.nc' has no height"));
  write_hdf5("lon", "lat", {0, 100}, {0, 50}, {1, 2, 3, 4}, false, "degrees_east");
  EXPECT_THAT(message(), HasSubstr("has longitudes and latitudes (lon, lat)"));
  EXPECT_THAT(message(), HasSubstr("gdalwarp"));
  write_hdf5("x", "y", {0, 100, 50}, {0, 50}, {1, 2, 3, 4, 5, 6}, false);
  EXPECT_THAT(message(), HasSubstr("has easting (x) that neither rises nor falls all along"));
  write_hdf5("x", "y", {nan}, {0, 50}, {1, 2}, false);
  EXPECT_THAT(message(), HasSubstr("has easting (x) that neither rises nor falls all along"));
  EXPECT_THAT(mistakes([&] { (void)heights({0}, {0}, "none.nc"); }), HasSubstr("there is no such file"));
  m_folder.write("h.nc", table);
  EXPECT_THAT(message(), HasSubstr("is no HDF5 or netCDF file"));
}

}  // namespace
}  // namespace prismfield::test_height_grid
