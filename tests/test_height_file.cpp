// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "points_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

namespace prismfield::test_height_file {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PointsTest;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A grid of 3 x 2 points whose heights come from a file. Height of (i, j) is 10 j + i.
class HeightTest : public PointsTest {
protected:
  HeightTest() { m_run.observations = GridSpec{{1000, 1200, 3}, {5000, 5100, 2}, m_folder / "h.nc"}; }
  void use(const std::filesystem::path& path) { std::get<GridSpec>(m_run.observations).upward = path; }

  struct Layout {
    std::vector<double> rows, columns, heights;
    std::string row_name = "northing", column_name = "easting", name = "elevation";
    bool with_dimensions = true;
    std::vector<std::int64_t> leading = {};
  };
  static Layout straight() { return {{5000, 5100}, {1000, 1100, 1200}, {0, 1, 2, 10, 11, 12}}; }

  void netcdf(const Layout& l) const {
    MadeHdf5 file(m_folder / "h.nc");
    const auto n_rows = static_cast<std::int64_t>(l.rows.size()),
               n_columns = static_cast<std::int64_t>(l.columns.size());
    file.write("/" + l.row_name, {n_rows}, l.rows.data());
    file.write("/" + l.column_name, {n_columns}, l.columns.data());
    std::vector<std::int64_t> shape = l.leading;
    std::vector<std::string> dimensions;
    for (std::size_t d = 0; d < l.leading.size(); ++d) {
      dimensions.push_back("/time" + std::to_string(d));
      file.make_dimension_without_values(dimensions.back(), l.leading[d]);
    }
    shape.push_back(n_rows);
    shape.push_back(n_columns);
    file.write("/" + l.name, shape, l.heights.data());
    if (l.with_dimensions) {
      file.make_dimension("/" + l.row_name);
      file.make_dimension("/" + l.column_name);
      dimensions.push_back("/" + l.row_name);
      dimensions.push_back("/" + l.column_name);
      file.attach_dimensions("/" + l.name, dimensions);
    }
    file.close();
  }
  void expect_heights() const { EXPECT_THAT(make().upward, ElementsAre(0, 1, 2, 10, 11, 12)); }
};

TEST_F(HeightTest, AreReadFromEveryOrderOfCoordinates) {
  Layout l = straight();
  netcdf(l);
  expect_heights();
  l.rows = {5100, 5000};
  l.heights = {10, 11, 12, 0, 1, 2};
  netcdf(l);
  expect_heights();
  l.columns = {1200, 1100, 1000};
  l.heights = {12, 11, 10, 2, 1, 0};
  netcdf(l);
  expect_heights();
}

TEST_F(HeightTest, AreReadFromATransposedVariable) {
  Layout l;
  l.rows = {1000, 1100, 1200};
  l.columns = {5000, 5100};
  l.row_name = "x";
  l.column_name = "y";
  l.heights = {0, 10, 1, 11, 2, 12};
  netcdf(l);
  expect_heights();
  l.columns = {5100, 5000};
  l.heights = {10, 0, 11, 1, 12, 2};
  netcdf(l);
  expect_heights();
}

TEST_F(HeightTest, OfASquareGridAreNotTransposedByChance) {
  std::get<GridSpec>(m_run.observations).easting = {0, 1, 2};
  std::get<GridSpec>(m_run.observations).northing = {0, 1, 2};
  Layout l;
  l.rows = l.columns = {0, 1};
  l.row_name = "easting";
  l.column_name = "northing";
  l.heights = {0, 10, 1, 11};
  netcdf(l);
  EXPECT_THAT(make().upward, ElementsAre(0, 1, 10, 11));
  std::swap(l.row_name, l.column_name);
  netcdf(l);
  EXPECT_THAT(make().upward, ElementsAre(0, 10, 1, 11));
}

TEST_F(HeightTest, MayCarryNamesOfOtherPrograms) {
  for (const auto& [row, column, name] :
       {std::tuple{"northing", "easting", "z"}, {"y", "x", "Band1"}, {"y", "x", "topo"}}) {
    Layout l = straight();
    l.row_name = row;
    l.column_name = column;
    l.name = name;
    netcdf(l);
    expect_heights();
  }
  Layout l = straight();
  l.leading = {1, 1};
  netcdf(l);
  expect_heights();
  l = straight();
  l.with_dimensions = false;
  netcdf(l);
  expect_heights();
}

TEST_F(HeightTest, AreTakenFromTheVariableOfThatName) {
  Layout l = straight();
  l.name = "upward";
  l.with_dimensions = false;
  netcdf(l);
  const auto add = [&](const std::string& name) {
    // two-dimensional neighbours, as in a result of run
    MadeHdf5 file(m_folder / "two.nc");
    const std::vector<double> other(6, -1);
    file.write("/northing", {2}, l.rows.data());
    file.write("/easting", {3}, l.columns.data());
    file.write("/gz", {2, 3}, other.data());
    file.write("/" + name, {2, 3}, l.heights.data());
    file.close();
    use(m_folder / "two.nc");
  };
  add("upward");
  expect_heights();
  add("gx");
  EXPECT_THAT(
      message(),
      HasSubstr("has 2 variables of two dimensions (gx, gz); one of them must be named upward, elevation, height, z"));
}

TEST_F(HeightTest, MayHaveCoordinatesInSinglePrecision) {
  Layout l = straight();
  std::get<GridSpec>(m_run.observations).easting = {500000.1, 500020.3, 3};
  l.columns = {500000.1, 500010.2, 500020.3};
  for (double& x : l.columns) x = static_cast<double>(static_cast<float>(x));
  netcdf(l);
  expect_heights();
}

TEST_F(HeightTest, OnAnotherGridAreRefused) {
  Layout l = straight();
  l.columns = {1050, 1150, 1250};
  netcdf(l);
  EXPECT_EQ(message(),
            "case.yaml:9: observations.grid.upward.file: 'h.nc' has 3 eastings, 1050 to 1250; the grid has 3, 1000 to "
            "1200, and heights are needed at its own points");
  l.columns = {1000, 1100, 1201};
  netcdf(l);
  EXPECT_THAT(message(), HasSubstr("1000 to 1201"));
  l = straight();
  l.rows = {5000, 5050, 5100};
  l.heights = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  netcdf(l);
  EXPECT_THAT(message(), HasSubstr("has 3 northings, 5000 to 5100; the grid has 2"));
  l = straight();
  l.row_name = "row";
  l.with_dimensions = false;
  netcdf(l);
  EXPECT_THAT(message(), HasSubstr("has no coordinates for northing"));
  l = straight();
  l.row_name = "lat";
  l.column_name = "lon";
  netcdf(l);
  EXPECT_THAT(message(), HasSubstr("has longitudes and latitudes (lon, lat)"));
}

TEST_F(HeightTest, ThatAreNanAreNamedByPoint) {
  Layout l = straight();
  l.heights[5] = nan;
  l.rows = {5100, 5000};
  netcdf(l);
  const std::string gap = "has no height at 1 of 6 points, the first at easting 1200, northing 5000";
  EXPECT_EQ(message(), "case.yaml:9: observations.grid.upward.file: 'h.nc' " + gap);
  l.heights[5] = -9999;
  netcdf(l);
  EXPECT_EQ(message(), "case.yaml:9: observations.grid.upward.file: 'h.nc' " + gap +
                           "; 'h.nc': 1 of 6 nodes without a height: -9999 stands for none");
  use(m_folder.write("h.csv", "1000 5000 0\n1100 5000 1\n1200 5000 nan\n1000 5100 10\n1100 5100 11\n1200 5100 12\n"));
  EXPECT_EQ(message(), "case.yaml:9: observations.grid.upward.file: 'h.csv' " + gap +
                           "; 'h.csv': 1 of 6 points left out: dummies in line 3");
}

TEST_F(HeightTest, WithoutAVariableOfTwoDimensionsAreRefused) {
  MadeHdf5 file(m_folder / "flat.nc");
  const std::vector<double> heights(6, 1);
  file.write("/z", {6}, heights.data());
  file.write("/cube", {2, 1, 3}, heights.data());
  file.close();
  use(m_folder / "flat.nc");
  EXPECT_THAT(message(), HasSubstr("'flat.nc' has no variable of two dimensions"));
  use(m_folder.write("old.nc", "CDF\x02 ..."));
  EXPECT_THAT(message(), HasSubstr("cut short"));
  use(m_folder / "none.nc");
  EXPECT_EQ(message(), "case.yaml:9: observations.grid.upward.file: 'none.nc' cannot be read: there is no such file");
}

TEST_F(HeightTest, OfACsvComeInAnyOrder) {
  use(m_folder.write("h.csv",
                     "elevation;northing;easting\n12;5100;1200\n0;5000;1000\n2;5000;1200.0001\n10;5100;1000\n11;5100;"
                     "1100\n1;5000;1100\n"));
  expect_heights();
  use(m_folder.write("h.csv", "1000 5000 0\n1100 5000 1\n1200 5000 2\n1000 5100 10\n1100 5100 11\n1200 5100 12\n"));
  expect_heights();
}

TEST_F(HeightTest, OfACsvCoverTheGridOnce) {
  use(m_folder.write("h.csv",
                     "1000,5000,0\n1100,5000,1\n1100,5000,1\n1150,5000,2\n1000,5100,10\n1100,5200,11\n1200,5100,12\n"));
  EXPECT_EQ(message(),
            "case.yaml:9: observations.grid.upward.file: 'h.csv' has 4 eastings, 1000 to 1200; the grid has 3, 1000 to "
            "1200, and heights are needed at its own points");
  use(m_folder.write("h.csv", "1000,5000,0\n1100,5000,1\n1100,5000,2\n1200,5000,2\n1000,5100,10\n1100,5100,11\n"));
  EXPECT_EQ(message(), "h.csv:3: easting 1100, northing 5000 has 2, in line 2 it has 1");
  use(m_folder.write("h.csv", "1000 5000 0\n1101 5003 1\n1199 5002 2\n1002 5101 10\n"));
  EXPECT_THAT(message(), HasSubstr("'h.csv' makes no grid: its 4 points have 4 eastings and 4 northings; make a grid"));
}

TEST_F(HeightTest, ComeFromEveryFormatAndUnit) {
  use(m_folder.write("h.asc", "ncols 3\nnrows 2\nxllcenter 1000\nyllcenter 5000\ncellsize 100\n10 11 12\n0 1 2\n"));
  expect_heights();
  use(m_folder.write("h.grd", "DSAA\n3 2\n1000 1200\n5000 5100\n0 12\n0 1 2\n10 11 12\n"));
  expect_heights();
  use(m_folder.write("h.txt", "6\n1000 5000 0\n1100 5000 1\n1200 5000 2\n1000 5100 10\n1100 5100 11\n1200 5100 12\n"));
  expect_heights();
  use(m_folder.write("h.csv",
                     "x [km],y,z [km]\n1,5000,0\n1.1,5000,.001\n1.2,5000,.002\n1,5100,.01\n1.1,5100,.011\n"
                     "1.2,5100,.012\n"));
  expect_heights();
}

TEST_F(HeightTest, OfAGridOfOnePoint) {
  m_run.observations = GridSpec{{7, 7, 1}, {8, 8, 1}, m_folder.write("one.csv", "7,8,55\n")};
  EXPECT_THAT(make().upward, ElementsAre(55));
}

}  // namespace
}  // namespace prismfield::test_height_file
