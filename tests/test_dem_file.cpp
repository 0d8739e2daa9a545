// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/surface_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_dem_file {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::NanSensitiveDoubleEq;
using ::testing::SizeIs;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Heights of 3 x 2 nodes, 10 j + i, the last without one.
class DemTest : public ::testing::Test {
protected:
  [[nodiscard]] Dem read(const std::string& name, const std::string& variable = "") const {
    return read_dem({m_folder / name, "case.yaml:3", "model.terrain.file"}, variable);
  }
  [[nodiscard]] std::string message(const std::string& name, const std::string& variable = "") const {
    return m_folder.removed_from(testing::mistakes([&] { (void)read(name, variable); }));
  }
  [[nodiscard]] std::vector<std::string> told(std::vector<std::string> notes) const {
    for (std::string& note : notes) note = m_folder.removed_from(note);
    return notes;
  }
  void expect_grid(const std::string& name, double factor = 1) const {
    const Dem dem = read(name);
    EXPECT_THAT(dem.grid.easting, ElementsAre(1000, 1100, 1200)) << name;
    EXPECT_THAT(dem.grid.northing, ElementsAre(5000, 5050)) << name;
    std::vector<double> values;
    for (std::size_t i = 0; i < dem.grid.values.size(); ++i) values.push_back(dem.grid.values[i]);
    EXPECT_THAT(values, ElementsAre(0, NanSensitiveDoubleEq(1 * factor), NanSensitiveDoubleEq(2 * factor),
                                    NanSensitiveDoubleEq(10 * factor), NanSensitiveDoubleEq(11 * factor),
                                    NanSensitiveDoubleEq(nan)))
        << name;
  }

  struct Names {
    std::string northing = "northing", easting = "easting", unit, height_unit;
    std::string second;
  };
  void netcdf(const Names& names) const {
    MadeHdf5 file(m_folder / "dem.nc");
    const std::vector<double> northing = {5050, 5000}, easting = {1000, 1100, 1200}, heights = {10, 11, nan, 0, 1, 2};
    file.write("/" + names.northing, {2}, northing.data());
    file.write("/" + names.easting, {3}, easting.data());
    file.make_dimension("/" + names.northing);
    file.make_dimension("/" + names.easting);
    for (const std::string& name : {std::string("elevation"), names.second}) {
      if (name.empty()) continue;
      file.write("/" + name, {2, 3}, heights.data());
      file.attach_dimensions("/" + name, {"/" + names.northing, "/" + names.easting});
      if (!names.height_unit.empty()) file.write_attribute("/" + name, "units", names.height_unit);
    }
    if (!names.unit.empty()) file.write_attribute("/" + names.easting, "units", names.unit);
    file.close();
  }

  testing::ScratchFolder m_folder;
};

TEST_F(DemTest, NodesThatLookLikeDegreesAreRefused) {
  const auto grid = [](const char* corner, double size, double height) {
    return fmt::format("ncols 2\nnrows 2\nxllcorner {}\nyllcorner -40\ncellsize {}\n0 0\n{} -9999\n", corner, size,
                       height);
  };
  m_folder.write("dem.asc", grid("-70", 0.008, 120));
  EXPECT_EQ(
      message("dem.asc"),
      "case.yaml:3: model.terrain.file: 'dem.asc' has places that look like degrees (easting -69.996 to -69.988, "
      "northing -39.996 to -39.988, heights 0 to 120 m); prisms need metres of a map projection: project it first, "
      "e.g. "
      "gdalwarp -s_srs EPSG:4326 -t_srs EPSG:32719 -of netCDF in.asc out.nc. Coordinates whose file says that they are "
      "metres are taken as such");
  // a map projection's metres, cells of metres, and half a metre between points of a trench
  for (const std::string& text : {grid("361000", 0.008, 120), grid("-70", 1, 120), grid("-70", 0.5, 0.9)}) {
    m_folder.write("dem.asc", text);
    EXPECT_EQ(message("dem.asc"), "");
  }
  const std::string rows = "-70,-40,10\n-69.9,-40,20\n-70,-39.9,10\n-69.9,-39.9,20\n";
  m_folder.write("dem.csv", "x,y,z\n" + rows);
  EXPECT_THAT(message("dem.csv"),
              HasSubstr("look like degrees (easting -70 to -69.9, northing -40 to -39.9, heights 10"));
  m_folder.write("dem.csv", "x [m],y [m],z [m]\n" + rows);
  EXPECT_EQ(message("dem.csv"), "");
}

TEST_F(DemTest, OfNetcdfIsReadInAnyOrder) {
  netcdf({});
  expect_grid("dem.nc");
  netcdf({"y", "x", "m", "metres above sea level", ""});
  expect_grid("dem.nc");
}

TEST_F(DemTest, UnitsBecomeMetres) {
  netcdf({"y", "x", "m", "ft", ""});
  expect_grid("dem.nc", 0.3048);
  netcdf({"y", "x", "m", "km", ""});
  expect_grid("dem.nc", 1000);
  netcdf({"y", "x", "m", "fathom", ""});
  EXPECT_THAT(message("dem.nc"), HasSubstr("has elevation in 'fathom'; metres, km, feet or US survey feet are known"));
}

TEST_F(DemTest, InDegreesHasToBeProjected) {
  netcdf({"lat", "lon", "", "m", ""});
  EXPECT_THAT(message("dem.nc"), HasSubstr("longitudes and latitudes (lon, lat)"));
  EXPECT_THAT(message("dem.nc"), HasSubstr("gdalwarp -t_srs"));
  netcdf({"y", "x", "degrees_east", "m", ""});
  EXPECT_THAT(message("dem.nc"), HasSubstr("longitudes and latitudes"));
}

TEST_F(DemTest, VariablesAreChosenByName) {
  netcdf({"y", "x", "m", "m", "error"});
  expect_grid("dem.nc");
  EXPECT_EQ(read("dem.nc", "error").grid.values.size(), 6U);
  EXPECT_THAT(message("dem.nc", "depth"), HasSubstr("has no variable 'depth'; it has"));
  netcdf({"y", "x", "m", "m", "height"});
  EXPECT_THAT(message("dem.nc"), HasSubstr("or by the key variable"));
}

TEST_F(DemTest, OfEsriAsciiHasCornersOrCentres) {
  const std::string rows = "10 11 -9999\n0 1 2\n";
  m_folder.write("corner.asc", "NCOLS 3\nNROWS 2\nXLLCORNER 950\nYLLCORNER 4975\ndx 100\ndy 50\n" + rows);
  expect_grid("corner.asc");
  m_folder.write("centre.asc",
                 "ncols 3\r\nnrows 2\r\nxllcenter 1000\r\nyllcenter 5000\r\ndx 100\r\ndy 50\r\n"
                 "nodata_value 7\r\n10 11 7 0\r\n1 2\r\n");
  expect_grid("centre.asc");
  m_folder.write("far.asc",
                 "ncols 3\nnrows 2\nxllcenter 1000\nyllcenter 5000\ndx 100\ndy 50\nNODATA_value "
                 "-3.4028234663852886e+38\n10 11 -3.40282e+38 0 1 2\n");
  expect_grid("far.asc");
  m_folder.write("square.asc", "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 10\n1 2\n3 4\n");
  EXPECT_THAT(read("square.asc").grid.easting, ElementsAre(5, 15));
  EXPECT_EQ(read("square.asc").grid.values[0], 3);
}

TEST_F(DemTest, MistakesInEsriAsciiAreNamed) {
  const auto of = [&](const std::string& text) {
    m_folder.write("dem.asc", text);
    return message("dem.asc");
  };
  const std::string head = "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\n";
  EXPECT_THAT(of(head + "1 2 3 4\n"), HasSubstr("lacks cellsize"));
  EXPECT_THAT(of(head + "cellsize 0\n1 2 3 4\n"), HasSubstr("has a cell size of 0"));
  EXPECT_THAT(of(head + "cellsize 1\n1 2\n3\n"), HasSubstr("cut short: it has 3 values of 2 x 2 = 4"));
  EXPECT_THAT(of(head + "cellsize 1\n1 2\n3 4\n5\n"), HasSubstr("dem.asc:8: has more values than 2 x 2"));
  EXPECT_THAT(of(head + "cellsize 1\n1 2\n3 four\n"), HasSubstr("dem.asc:7: 'four' is not a number"));
  EXPECT_THAT(of(head + "cellsize 1\nxllcenter 0\n1 2 3 4\n"), HasSubstr("has both xllcorner and xllcenter"));
  EXPECT_THAT(of("ncols 2\nncols 2\n"), HasSubstr("dem.asc:2: ncols: is given twice"));
  EXPECT_THAT(of("ncols 2\nrows 2\n"), HasSubstr("'rows' is no word of the header"));
  EXPECT_THAT(of("ncols 900000000\nnrows 2\n"), HasSubstr("ncols 9e+08"));
  EXPECT_THAT(of("ncols 9000000\nnrows 9000000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1\n"), HasSubstr("cannot hold"));
  EXPECT_THAT(of("ncols 1\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n"), HasSubstr("has 1 x 2 nodes"));
  EXPECT_THAT(of("ncols 2\n"), HasSubstr("lacks nrows"));
  EXPECT_THAT(of("ncols 2\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2 3\n4 5 6\n"),
              HasSubstr("has 2 columns and 3 rows by its header, but 2 lines of 3 values: the two are swapped"));
  EXPECT_THAT(of("ncols 2\nnrows 4\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2.25\n3 4.50\n5 6.75\n7 8.5"),
              HasSubstr("dem.asc:9: the file seems to be cut short in its last number, '8.5'"));
}

TEST_F(DemTest, OfATableHasNodesInAnyOrder) {
  m_folder.write("dem.csv", "y,x,z\n5050,1100,11\n5000,1000,0\n5000,1200,2\n5050,1000,10\n5000,1100,1\n5000,1100,1\n");
  expect_grid("dem.csv");
  m_folder.write("km.csv",
                 "easting [km],northing,elevation [ft]\n1.1,5050,11\n1,5000,0\n1.2,5000,2\n1,5050,10\n"
                 "1.1,5000,1\n");
  expect_grid("km.csv", 0.3048);
  m_folder.write("two.csv", "x,y,z\n0,0,1\n0,1,2\n1,0,3\n0,1,4\n");
  EXPECT_THAT(message("two.csv"), HasSubstr("two.csv:5: easting 0, northing 1 has 4, in line 3 it has 2"));
  std::string scattered = "x,y,z\n";
  for (int i = 0; i < 50; ++i) scattered += std::to_string(i) + ',' + std::to_string(i * i) + ",1\n";
  m_folder.write("scattered.csv", scattered);
  EXPECT_THAT(
      message("scattered.csv"),
      HasSubstr("makes no grid: its 50 points have 50 eastings and 50 northings; make a grid of them first, e.g. gmt "
                "surface in.xyz -R0/49/0/2401 -I50 -Gout.nc, or gdal_grid"));
  EXPECT_THAT(message("km.csv", "z"), HasSubstr("leave out the key variable"));
}

TEST_F(DemTest, AHeaderLineOfEsriAsciiHasOneValue) {
  const auto of = [&](const std::string& lines, const std::string& rows = "1 2\n3 4\n") {
    m_folder.write("dem.asc", "ncols 2\nnrows 2\n" + lines + "yllcorner 0\n" + rows);
    return message("dem.asc");
  };
  constexpr const char* remedy = "is not a number; decimals are written with a point, and blanks stand between numbers";
  EXPECT_EQ(of("xllcorner 0\ncellsize 1000,75\n"), fmt::format("dem.asc:4: cellsize: '1000,75' {}", remedy));
  EXPECT_EQ(of("xllcorner 361,000\ncellsize 5\n"), fmt::format("dem.asc:3: xllcorner: '361,000' {}", remedy));
  EXPECT_EQ(of("xllcorner 0 cellsize 5\n"),
            "dem.asc:3: xllcorner: has 'cellsize' behind its value; a line of the header has one value");
  EXPECT_EQ(of("xllcorner 0\ncellsize 5 1 2\n"),
            "dem.asc:4: cellsize: has '1' behind its value; a line of the header has one value");
  EXPECT_EQ(of("xllcorner 0\ncellsize\n"), "dem.asc:4: cellsize: '' is not a number");
  EXPECT_EQ(of("xllcorner 0\ncellsize 5\nNODATA_value -9999,0\n"),
            fmt::format("dem.asc:5: nodata_value: '-9999,0' {}", remedy));
  EXPECT_EQ(of("xllcorner 0\ncellsize 5\n", "1,5 2,5\n3,5 4,5\n"), fmt::format("dem.asc:6: '1,5' {}", remedy));
  EXPECT_EQ(of("xllcorner 0\ncellsize 5\n", "1,2\n3,4\n"), fmt::format("dem.asc:6: '1,2' {}", remedy));
  EXPECT_EQ(of("xllcorner 0\ncellsize 5\n", "1 2\n3 null\n"), "dem.asc:7: 'null' is not a number");
  EXPECT_EQ(of("xllcorner 0\ncellsize 5\n", "  \n"),
            "case.yaml:3: model.terrain.file: 'dem.asc' is cut short: it has 0 values of 2 x 2 = 4");
}

TEST_F(DemTest, OfEsriAsciiHasGapsWhereItSaysSo) {
  const std::string head = "xllcenter 1000\nncols 3\nnrows 2\nyllcenter 5000\ndx 100\ndy 50\n";
  for (const auto& [nodata, value] : {std::pair{"null", "null"},
                                      {"None", "none"},
                                      {"nan", "nan"},
                                      {"-9.999e3", "-9999.0"},
                                      {"5", "5"},
                                      {"1e31", "1.000000e+31"}}) {
    m_folder.write("dem.asc", head + "NODATA_VALUE\t" + nodata + "\n10 11 " + value + "\n0 1 2\n");
    expect_grid("dem.asc");
    EXPECT_THAT(read("dem.asc").notes, IsEmpty()) << nodata;
  }
  // the first value of all
  m_folder.write("dem.asc", head + "NODATA_value null\nnull 11 12\n0 1 2\n");
  EXPECT_TRUE(std::isnan(read("dem.asc").grid.values[3]));
}

TEST_F(DemTest, NumbersThatStandForNoHeightAreToldGaps) {
  const std::string head = "ncols 3\nnrows 2\nxllcenter 1000\nyllcenter 5000\ndx 100\ndy 50\n";
  for (const char* const number : {"-9999", "-32768", "99999", "-999.25", "1e+31", "-999999.99"}) {
    for (const char* const nodata : {"", "NODATA_value -12345\n"}) {
      m_folder.write("dem.asc", head + nodata + "10 11 " + number + "\n0 1 2\n");
      expect_grid("dem.asc");
      EXPECT_THAT(told(read("dem.asc").notes),
                  ElementsAre(fmt::format("'dem.asc': 1 of 6 nodes without a height: {} stands for none", number)));
    }
  }
  m_folder.write("dem.asc", head + "10 11 -9999\n0 1 99999\n");
  EXPECT_THAT(told(read("dem.asc").notes),
              ElementsAre("'dem.asc': 2 of 6 nodes without a height: -9999, 99999 stand for none"));
  // a depth among deeper ones
  m_folder.write("dem.asc", head + "-10500 11 -9999\n0 1 2\n");
  EXPECT_EQ(read("dem.asc").grid.values[5], -9999);
  EXPECT_THAT(read("dem.asc").notes, IsEmpty());
  netcdf({});
  EXPECT_THAT(read("dem.nc").notes, IsEmpty());
  m_folder.write("dem.csv",
                 "x,y,z\n1000,5000,0\n1100,5000,1\n1200,5000,2\n1000,5050,10\n1100,5050,11\n1200,5050,-9999\n");
  expect_grid("dem.csv");
  EXPECT_THAT(told(read("dem.csv").notes),
              ElementsAre("'dem.csv': 1 of 6 points left out: dummies, such as -9999, in line 7"));
  m_folder.write("none.asc", head + "-9999 -9999 -9999\n-9999 -9999 -9999\n");
  EXPECT_THAT(message("none.asc"),
              HasSubstr("'none.asc' has no height: each is missing or a number that stands for none"));
}

TEST_F(DemTest, RowsWithoutAPlaceAreLeftOut) {
  m_folder.write("dem.csv",
                 "x,y,z\n1000,5000,0\n1100,5000,1\n-9999,-9999,7\n1200,5000,2\n1000,5050,10\n1100,5050,11\n"
                 "99999,5050,3\n*,5050,4\n1200,5050,\n");
  expect_grid("dem.csv");
  EXPECT_THAT(told(read("dem.csv").notes),
              ElementsAre("'dem.csv': 4 of 9 points left out: dummies, such as -9999, in lines 4, 8, 9, 10"));
  m_folder.write("dem.csv", "x,y,z\n*,0,1\n-1e32,2,3\n");
  EXPECT_THAT(message("dem.csv"), HasSubstr("has no height"));
}

TEST_F(DemTest, DepthsBecomeHeights) {
  MadeHdf5 file(m_folder / "depth.nc");
  const std::vector<double> northing = {5000, 5050}, easting = {1000, 1100, 1200}, depths = {0, -1, -2, -10, -11, nan};
  file.write("/y", {2}, northing.data());
  file.write("/x", {3}, easting.data());
  file.make_dimension("/y");
  file.make_dimension("/x");
  for (const char* const name : {"/z", "/depth_m", "/depth_up", "/bed"}) {
    file.write(name, {2, 3}, depths.data());
    file.attach_dimensions(name, {"/y", "/x"});
  }
  file.write_attribute("/z", "positive", std::string("down"));
  file.write_attribute("/depth_up", "positive", std::string("up"));
  file.write_attribute("/bed", "standard_name", std::string("sea_floor_depth_below_geoid"));
  file.close();
  expect_grid("depth.nc");
  EXPECT_THAT(told(read("depth.nc").notes),
              ElementsAre("'depth.nc': 'z' is taken as the depth below height 0: heights are minus depth"));
  EXPECT_EQ(read("depth.nc", "depth_m").grid.values[3], 10);
  EXPECT_EQ(read("depth.nc", "depth_up").grid.values[3], -10);
  EXPECT_EQ(read("depth.nc", "bed").grid.values[3], 10);
}

TEST_F(DemTest, OfUbcBeginsWithTheNumberOfItsPoints) {
  const std::string rows = "1000 5000 0 ! the first\n1000 5050 10\n1100 5000 1\n1100 5050 11\n1200 5000 2\n";
  for (const char* const name : {"t.topo", "t.txt", "t.dat", "t.xyz", "t.csv"}) {
    m_folder.write(name, "! topography\n 5 ! points\n" + rows);
    expect_grid(name);
  }
  m_folder.write("t.topo", "6\n" + rows);
  EXPECT_THAT(message("t.topo"), HasSubstr("'t.topo' says that it holds 6 points, but has 5"));
  m_folder.write("t.topo", "5\n" + rows + "1200 5050 12\n");
  EXPECT_THAT(message("t.topo"), HasSubstr("'t.topo' says that it holds 5 points, but has 6"));
  m_folder.write("t.topo", "2\n0 0 1 7\n1 0 x\n");
  EXPECT_EQ(message("t.topo"),
            "t.topo:2: has 4 numbers; easting, northing, elevation are needed\nt.topo:3: 'x' is not a number");
}

TEST_F(DemTest, RoundedCoordinatesAreOfOneNode) {
  std::mt19937 random(3);
  for (const double part : {1e-9, 1e-6, 2e-4}) {
    std::uniform_real_distribution<double> rounding(-part, part);
    std::string text;
    for (int j = 0; j < 30; ++j) {
      for (int i = 0; i < 20; ++i) {
        if (i == 3 && j == 5) continue;
        text += fmt::format("{:.9f} {:.9f} {}\n", 1000 + 50 * (i + rounding(random)), 50 * (j + rounding(random)),
                            100 * j + i);
      }
    }
    m_folder.write("dem.xyz", text);
    const Dem dem = read("dem.xyz");
    ASSERT_EQ(dem.grid.easting.size(), 20U) << part;
    ASSERT_EQ(dem.grid.northing.size(), 30U) << part;
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_NEAR(dem.grid.easting[i], 1000.0 + 50.0 * static_cast<double>(i), 50 * part);
    EXPECT_EQ(dem.grid.value(29, 19), 2919);
    EXPECT_TRUE(std::isnan(dem.grid.value(5, 3)));
  }
  // a few rounded ones among whole ones
  m_folder.write("dem.xyz", "0 0 1\n10 0 2\n20 0 3\n0 10 4\n10.000001 10 5\n20 9.999999 6\n");
  EXPECT_EQ(read("dem.xyz").grid.values.size(), 6U);
}

TEST_F(DemTest, NodesThatAreCloseAreNotRounded) {
  // a trench of 1 m in a grid of 10 km, and a node that lies far away
  for (const std::vector<double>& eastings :
       {std::vector<double>{0, 10000, 10001, 10002, 20000}, {0, 5000000, 5000010}}) {
    std::string text;
    for (const double easting : eastings) {
      for (const double northing : {0.0, 10000.0}) text += fmt::format("{} {} {}\n", easting, northing, easting / 7);
    }
    m_folder.write("dem.xyz", text);
    EXPECT_THAT(read("dem.xyz").grid.easting, ElementsAreArray(eastings));
  }
}

/// The grid of expect_grid() in each of Surfer's formats.
std::vector<std::string> surfer_grids() {
  const auto bytes = [](auto... numbers) {
    std::string text;
    (text.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
    return text;
  };
  constexpr double blank = 1.70141e38;
  const auto heights = [&](auto zero) {
    using Number = decltype(zero);
    return bytes(Number{0}, Number{1}, Number{2}, Number{10}, Number{11}, static_cast<Number>(blank));
  };
  const std::int16_t columns = 3, rows = 2;
  const std::string box = bytes(1000.0, 1200.0, 5000.0, 5050.0, 0.0, 11.0);
  const std::string grid = "GRID" + bytes(72, 2, 3, 1000.0, 5000.0, 100.0, 50.0, 0.0, 11.0, 0.0, blank);
  return {"DSAA\r\n3 2\r\n1000 1200\r\n5000 5050\r\n0 11\r\n0 1\r\n2\r\n\r\n10 11 1.70141e+038\r\n",
          "DSBB" + bytes(columns, rows) + box + heights(0.0F),
          "DSRB" + bytes(4, 2) + grid + "DATA" + bytes(48) + heights(0.0),
          "DSRB" + bytes(4, 1) + "FLTI" + bytes(3) + "abc" + grid + "DATA" + bytes(48) + heights(0.0) + "FLTI" +
              bytes(2) + "ab"};
}

TEST_F(DemTest, OfSurferIsReadInEachFormat) {
  for (const std::string& grid : surfer_grids()) {
    for (const char* const name : {"dem.grd", "dem.dat"}) {
      m_folder.write(name, grid);
      expect_grid(name);
      EXPECT_THAT(read(name).notes, IsEmpty());
      EXPECT_THAT(message(name, "z"), HasSubstr("leave out the key variable"));
    }
  }
}

TEST_F(DemTest, NumbersOfColumnsAndRowsThatMayBeSwappedAreNoted) {
  std::string grid = surfer_grids()[1];
  std::swap(grid[4], grid[6]);
  m_folder.write("dem.grd", grid);
  EXPECT_THAT(read("dem.grd").notes, IsEmpty());
  // nodes 100 m apart along both directions, with 3 columns
  const double north = 5100;
  grid = surfer_grids()[1].replace(8 + 3 * 8, 8, reinterpret_cast<const char*>(&north), 8);
  m_folder.write("dem.grd", grid);
  EXPECT_THAT(read("dem.grd").notes, IsEmpty());
  std::swap(grid[4], grid[6]);
  m_folder.write("dem.grd", grid);
  EXPECT_THAT(told(read("dem.grd").notes),
              ElementsAre("'dem.grd': its 2 columns are 200 apart and its 3 rows 50; with the two numbers swapped both "
                          "would be 100: are they right?"));
  // a row of 3 and one of 3 are no rows of 2
  const std::string header = "xllcorner 0\nyllcorner 0\ncellsize 10\n";
  m_folder.write("dem.asc", "ncols 2\nnrows 6\n" + header + "1 2 3\n4 5 6\n7 8 9\n1 2 3\n");
  EXPECT_THAT(told(read("dem.asc").notes),
              ElementsAre("'dem.asc': its lines of values do not end where rows of 2 columns do, which its header "
                          "states; the values are taken row by row"));
  m_folder.write("dem.asc", "ncols 4\nnrows 3\n" + header + "1 2 3\n4\n5 6 7\n8\n9 1 2 3\n");
  EXPECT_THAT(read("dem.asc").notes, IsEmpty());
}

TEST_F(DemTest, ValuesOutsideTheRangeOfASurferHeaderAreNoted) {
  const double most = 10.5;
  for (const std::size_t which : {1U, 2U}) {
    std::string grid = surfer_grids()[which];
    const double old = 11;
    const std::string bytes(reinterpret_cast<const char*>(&old), sizeof(old));
    grid.replace(grid.find(bytes), sizeof(most), reinterpret_cast<const char*>(&most), sizeof(most));
    m_folder.write("dem.grd", grid);
    EXPECT_THAT(told(read("dem.grd").notes),
                ElementsAre("'dem.grd': its values are from 0 to 11, by its header from 0 to 10.5: are they right?"));
  }
  m_folder.write("dem.grd", "DSAA 2 2 0 1 0 1 1 4 1 2 3 4.002\n");
  EXPECT_THAT(read("dem.grd").notes, IsEmpty());
  m_folder.write("dem.grd", "DSAA 2 2 0 1 0 1 1 4 1 2 3 5\n");
  EXPECT_THAT(read("dem.grd").notes, SizeIs(1));
}

TEST_F(DemTest, DamagedSurferGridsAreRefused) {
  std::mt19937 random(7);
  for (const std::string& grid : surfer_grids()) {
    // all but a section of faults behind
    const std::size_t whole = grid.ends_with("ab") ? grid.size() - 10 : grid.size();
    for (std::size_t n = 4; n < grid.size() - (grid.ends_with("\n") ? 14 : 0); ++n) {
      if (n == whole) continue;
      m_folder.write("dem.grd", std::string_view(grid).substr(0, n));
      EXPECT_EQ(testing::lines_in(message("dem.grd")), 1U) << n;
    }
    for (int i = 0; i < 300; ++i) {
      std::string garbled = grid;
      for (int k = 0; k < 3; ++k) garbled[4 + random() % (garbled.size() - 4)] = static_cast<char>(random());
      m_folder.write("dem.grd", garbled);
      const std::string said = message("dem.grd");
      if (said.empty()) {
        EXPECT_LE(read("dem.grd").grid.values.size(), garbled.size());
      }
    }
  }
  const auto of = [&](std::size_t which, std::size_t at, const std::string& bytes) {
    std::string grid = surfer_grids()[which];
    m_folder.write("dem.grd", grid.replace(at, bytes.size(), bytes));
    return message("dem.grd");
  };
  EXPECT_THAT(of(1, 4, "\xff\x7f\xff\x7f"), HasSubstr("'dem.grd' is a Surfer grid that is cut short or damaged"));
  EXPECT_THAT(of(2, 20, std::string("\x80\x96\x98\0\x80\x96\x98\0", 8)), HasSubstr("cut short or damaged"));
  EXPECT_THAT(of(2, 20, "\xff\xff\xff\xff"), HasSubstr("has rows -1; a whole number"));
  // the angle that it is turned by
  EXPECT_THAT(of(2, 20 + 8 + 6 * 8 + 6, "\x59\x40"), HasSubstr("is a Surfer grid that is turned"));
  // 3 columns of 2 rows, 24 or 48 bytes
  EXPECT_THAT(of(1, 4, "\2"), HasSubstr("its 2 columns and 2 rows of 4 bytes a value take 16, but 24 bytes follow"));
  EXPECT_THAT(of(1, 6, "\1"), HasSubstr("its 3 columns and 1 rows of 4 bytes a value take 12, but 24 bytes follow"));
  EXPECT_THAT(of(1, surfer_grids()[1].size(), "more"), HasSubstr("take 24, but 28 bytes follow its header"));
  EXPECT_THAT(of(2, 24, "\2"), HasSubstr("2 columns and 2 rows of 8 bytes a value take 32, but 48 bytes are in its"));
  EXPECT_THAT(of(2, 20, "\3"), HasSubstr("3 columns and 3 rows of 8 bytes a value take 72, but 48 bytes are in its"));
  EXPECT_THAT(of(2, 20 + 72 + 4, "\x28"), HasSubstr("take 48, but 40 bytes are in its section DATA"));
  EXPECT_THAT(of(2, 16, "\x40"), HasSubstr("its section GRID has 64 bytes, 72 are needed"));
  EXPECT_THAT(of(2, surfer_grids()[2].size(), std::string(16, '\0')),
              HasSubstr("16 bytes behind its section DATA are no section of faults"));
  m_folder.write("dem.grd", "DSAA 2 2 5 1 0 1 0 1 1 2 3 4");
  EXPECT_THAT(message("dem.grd"), HasSubstr("is a Surfer grid whose x goes from 5 to 1; it has to rise"));
  m_folder.write("dem.grd", "DSAA 2 2 0 1 0 1 0 1 1 2 3 4 5");
  EXPECT_THAT(message("dem.grd"), HasSubstr("dem.grd:1: has more values than 2 x 2"));
}

TEST_F(DemTest, DensitiesAreOnTheSameNodes) {
  m_folder.write("rho.asc", "ncols 2\nnrows 2\nxllcenter 0\nyllcenter 0\ncellsize 10\n2.5 2.6\n2.7 2.8\n");
  const InputFile file{m_folder / "rho.asc", "case.yaml:4", "model.terrain.density.file"};
  const Dem densities = read_dem(file, "", 1000);
  EXPECT_THAT(densities.grid.values[0], DoubleNear(2700, 1e-9));
  NodeGrid heights = densities.grid;
  check_same_nodes(file, densities.grid, heights);
  heights.northing = {0, 11};
  EXPECT_THAT(testing::mistakes([&] { check_same_nodes(file, densities.grid, heights); }),
              HasSubstr("has 2 northings, 0 to 10; the heights have 2, 0 to 11"));
}

TEST_F(DemTest, OfTiffNeedsGdal) {
  m_folder.write("dem.tif", std::string("II*\0\1\2\3\4", 8));
  EXPECT_THAT(message("dem.tif"), HasSubstr("'dem.tif' "));
}

}  // namespace
}  // namespace prismfield::test_dem_file
