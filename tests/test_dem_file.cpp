// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/dem_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_dem_file {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;

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
      "case.yaml:3: model.terrain.file: 'dem.asc' has nodes that look like degrees (x -69.996 to -69.988, y -39.996 to "
      "-39.988, heights 0 to 120 m); prisms need metres of a map projection: project it first, e.g. gdalwarp -s_srs "
      "EPSG:4326 -t_srs EPSG:32719 -of netCDF in.asc out.nc. netCDF with units of metres is taken as such");
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
              HasSubstr("has ncols 2 and nrows 3, but 2 lines of 3 values: the two are swapped"));
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
  EXPECT_THAT(message("two.csv"), HasSubstr("two.csv:5: easting 0, northing 1 has 4 here and 2 before"));
  std::string scattered = "x,y,z\n";
  for (int i = 0; i < 50; ++i) scattered += std::to_string(i) + ',' + std::to_string(i * i) + ",1\n";
  m_folder.write("scattered.csv", scattered);
  EXPECT_THAT(message("scattered.csv"), HasSubstr("makes no grid: its 50 points have 50 eastings and 50 northings"));
  EXPECT_THAT(message("km.csv", "z"), HasSubstr("leave out the key variable"));
}

TEST_F(DemTest, DensitiesAreOnTheSameNodes) {
  m_folder.write("rho.asc", "ncols 2\nnrows 2\nxllcenter 0\nyllcenter 0\ncellsize 10\n2.5 2.6\n2.7 2.8\n");
  const InputFile file{m_folder / "rho.asc", "case.yaml:4", "model.terrain.density.file"};
  const Dem densities = read_density_grid(file, "", 1000);
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
