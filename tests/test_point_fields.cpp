// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/point_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "model/points.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_point_fields {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Stations at the nodes of a grid, in its order.
Points nodes(std::vector<double> easting, std::vector<double> northing) {
  Points points = make_grid(std::move(easting), std::move(northing), 30.0);
  points.grid_easting.clear();
  points.grid_northing.clear();
  return points;
}

bool is_found(Points points) {
  find_grid(points);
  return points.is_grid();
}

TEST(FindGrid, OfNodesInTheOrderOfAGrid) {
  Points points = nodes({0, 0.1, 0.2, 0.3}, {5, 6, 7});
  find_grid(points);
  EXPECT_THAT(points.grid_easting, ElementsAre(0, 0.1, 0.2, 0.3));
  EXPECT_THAT(points.grid_northing, ElementsAre(5, 6, 7));
}

TEST(FindGrid, NothingOfOtherPoints) {
  EXPECT_FALSE(is_found(nodes({0, 1, 3}, {1.0}))) << "a line";
  EXPECT_FALSE(is_found(nodes({1.0}, {0, 1, 3}))) << "a line";
  EXPECT_FALSE(is_found(nodes({0, 1, 3}, {0, 1}))) << "uneven";
  EXPECT_FALSE(is_found(nodes({0, 1}, {0, 1, 3}))) << "uneven";
  Points turned = nodes({0, 1, 2}, {5, 6, 7});
  std::swap(turned.easting, turned.northing);
  EXPECT_FALSE(is_found(turned)) << "northing fastest";
  Points moved = nodes({0, 1, 2}, {5, 6, 7});
  moved.easting[4] += 0.01;
  EXPECT_FALSE(is_found(moved));
  moved = nodes({0, 1, 2}, {5, 6, 7});
  moved.easting.pop_back();
  moved.northing.pop_back();
  EXPECT_FALSE(is_found(moved)) << "a node is missing";
  EXPECT_FALSE(is_found({}));
}

TEST(PointTable, HasItsFurtherColumns) {
  const testing::ScratchFolder folder;
  const InputFile file{
      folder.write("t.csv", "x,y,z,gz [mGal],Line,bouguer_slab [mGal]\n1,2,3,4,\"L 1\",5\n2,2,3,4,7,*\n"), "", ""};
  std::vector<std::string> notes;
  const PointFields points = read_point_table(file, {}, notes);
  EXPECT_THAT(notes, IsEmpty());
  ASSERT_EQ(points.columns.size(), 2U);
  EXPECT_EQ(points.columns[0].name, "Line");
  EXPECT_THAT(points.columns[0].texts, ElementsAre("L 1", "7"));
  EXPECT_THAT(points.columns[0].numbers, IsEmpty());
  EXPECT_EQ(points.columns[1].unit, "mGal");
  EXPECT_THAT(points.columns[1].texts, IsEmpty());
  ASSERT_EQ(points.columns[1].numbers.size(), 2U);
  EXPECT_EQ(points.columns[1].numbers[0], 5);
  EXPECT_TRUE(std::isnan(points.columns[1].numbers[1]));
}

TEST(PointTable, HasTheAxesOfItsComment) {
  const testing::ScratchFolder folder;
  std::vector<std::string> notes;
  const auto read = [&](const std::string& text, std::optional<Axes> asked) {
    const InputFile file{folder.write("t.xyz", text), "", ""};
    PointTableSpec spec;
    spec.axes = asked;
    const PointFields points = read_point_table(file, spec, notes);
    return std::pair(points.axes, points.axes_are_stated);
  };
  const std::string rows = "# easting northing upward gz[mGal]\n1 2 3 4\n";
  const auto up = std::pair(Axes::z_up, true);
  EXPECT_EQ(read("# axes z_up, singular_points 0\n" + rows, std::nullopt), up);
  EXPECT_EQ(read(" # axes z_up\n" + rows, Axes::z_up), up);
  EXPECT_EQ(read(rows, Axes::z_up), up);
  for (const char* const other : {"", "# axes east\n", "# axes \n", "# the axes z_up\n"}) {
    EXPECT_EQ(read(other + rows, std::nullopt), std::pair(Axes::z_down, false)) << other;
  }
  EXPECT_THAT(testing::mistakes([&] { read("# axes z_up\n" + rows, Axes::z_down); }),
              HasSubstr("says itself that its axes are z_up; leave the option out"));
}

TEST(PointTable, HasDummiesNamesInCapitalsAndLengthsAsRunTakesThem) {
  const testing::ScratchFolder folder;
  std::vector<std::string> notes;
  const auto read = [&](const std::string& text) {
    return read_point_table({folder.write("t.csv", text), "", ""}, {}, notes);
  };
  const PointFields points = read("x [km],y [km],z [ft],GZ [mGal],Gzz_Sigma,gzz\n1.001,2,3,-1e32,1,*\n1,2,3,4,2,5\n");
  EXPECT_EQ(points.fields, (FieldList{Field::gz, Field::gzz}));
  EXPECT_EQ(points.points.easting[0], 1001);
  EXPECT_EQ(points.points.upward[0], 0.9144);
  EXPECT_TRUE(std::isnan(points.values[0][0]));
  EXPECT_TRUE(std::isnan(points.values[1][0]));
  EXPECT_THAT(points.sigma[1], ElementsAre(1, 2));
  EXPECT_EQ(testing::mistakes([&] { read("x,y,z,gz\n1,2,3,4\n1,2,-1e32,4\n1,*,3,4\n"); }),
            (folder / "t.csv").string() + ":3: upward: '-1e32' is a dummy; leave the row out\n" +
                (folder / "t.csv").string() + ":4: northing: '*' is a dummy; leave the row out");
}

TEST(PointTable, DummiesOfFieldsAreNoValues) {
  const testing::ScratchFolder folder;
  const auto notes_of = [&](const std::string& text, std::vector<double>& values) {
    const InputFile file{folder.write("t.csv", text), "", ""};
    std::vector<std::string> notes;
    PointFields points = read_point_table(file, {}, notes);
    drop_field_dummies(file, points);
    values = points.values[0];
    return points.notes;
  };
  std::vector<double> values;
  // as the file writes them, whatever the unit
  EXPECT_THAT(notes_of("x,y,z,gz [um/s2]\n1,2,3,15\n2,2,3,-9999\n3,2,3,-999.25\n4,2,3,17\n", values),
              ElementsAre(HasSubstr("t.csv': 2 of 4 points without gz: -9999, -999.25 stand for none")));
  EXPECT_EQ(values[0], 1.5);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
  // anomalies of iron ore
  EXPECT_TRUE(notes_of("x,y,z,tmi\n1,2,3,9000\n2,2,3,9999\n3,2,3,12000\n", values).empty());
  EXPECT_EQ(values[1], 9999);
}

TEST(PointTable, ComesInTheUnitsOfTheOutput) {
  const testing::ScratchFolder folder;
  std::vector<std::string> notes;
  const auto read = [&](const std::string& text) {
    return read_point_table({folder.write("t.csv", text), "", ""}, {}, notes);
  };
  const PointFields points = read("x,y,z,G_z [um/s2],sigma_gz [mgal],gzz [1/s2],note [foo]\n1,2,3,1.5,0.02,*,4\n");
  EXPECT_EQ(points.fields, (FieldList{Field::gz, Field::gzz}));
  EXPECT_THAT(points.values[0], ElementsAre(0.15));
  EXPECT_THAT(points.sigma[0], ElementsAre(0.02));
  EXPECT_TRUE(std::isnan(points.values[1][0]));
  EXPECT_THAT(testing::mistakes([&] { read("x,y,z,gz [furlong]\n1,2,3,4\n"); }),
              HasSubstr("t.csv:1: column gz is in 'furlong'; mGal, uGal, Gal, m/s2"));
  EXPECT_THAT(testing::mistakes([&] { read("x,y,z,gz,g_z\n1,2,3,4,5\n"); }), HasSubstr("two columns hold gz"));
}

TEST(PointTable, KeepsDigitsThatAreLabels) {
  const testing::ScratchFolder folder;
  std::vector<std::string> notes;
  const PointFields points = read_point_table(
      {folder.write("t.csv", "x,y,z,a,b,c,d\n1,2,3,0017,1234567890123456,0.5,0\n2,2,3,4,5,6,10\n"), "", ""}, {}, notes);
  EXPECT_THAT(points.columns[0].texts, ElementsAre("0017", "4"));
  EXPECT_THAT(points.columns[1].texts, ElementsAre("1234567890123456", "5"));
  EXPECT_THAT(points.columns[2].numbers, ElementsAre(0.5, 6));
  EXPECT_THAT(points.columns[3].numbers, ElementsAre(0, 10));
}

/// A grid of 3 x 2 points in HDF5.
class PointArrays : public ::testing::Test {
protected:
  PointArrays() : m_file(m_folder / "g.h5") {
    const std::vector<double> easting = {0, 1, 2}, northing = {5, 6};
    m_file.write("easting", {3}, easting.data());
    m_file.write("northing", {2}, northing.data());
    m_file.make_dimension("easting");
    m_file.make_dimension("northing");
  }
  void add(const std::string& name, const std::vector<std::string>& dimensions, const std::vector<double>& values) {
    std::vector<std::int64_t> shape;
    for (const std::string& dimension : dimensions) shape.push_back(dimension == "easting" ? 3 : 2);
    m_file.write(name, shape, values.data());
    m_file.attach_dimensions(name, dimensions);
  }
  PointFields read() {
    m_file.close();
    return read_point_arrays({m_folder / "g.h5", "", ""}, std::nullopt, m_unread);
  }

  testing::ScratchFolder m_folder;
  MadeHdf5 m_file;
  std::vector<std::string> m_unread;
};

TEST_F(PointArrays, AreTurnedWhereTheirDimensionsAre) {
  add("upward", {"easting", "northing"}, {1, 4, 2, 5, 3, 6});
  add("gz", {"easting", "northing"}, {1, 4, 2, 5, 3, 6});
  add("gzz", {"northing", "easting"}, {1, 2, 3, 4, 5, 6});
  add("other", {"easting", "northing"}, {1, 4, 2, 5, 3, 6});
  const PointFields points = read();
  for (const auto* values : {&points.points.upward, &points.values[0], &points.values[1], &points.columns[0].numbers}) {
    EXPECT_THAT(*values, ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_THAT(points.points.grid_easting, ElementsAre(0, 1, 2));
}

TEST_F(PointArrays, InOtherUnitsAreRefused) {
  add("upward", {"northing", "easting"}, {1, 2, 3, 4, 5, 6});
  m_file.write_attribute("easting", "units", std::string("km"));
  EXPECT_THAT(testing::mistakes([&] { read(); }), HasSubstr("easting: is in 'km'; m is allowed here"));
}

TEST_F(PointArrays, DeviationsWithoutAUnitHaveThatOfTheirField) {
  for (const char* const name : {"upward", "gz", "gz_sigma"}) add(name, {"northing", "easting"}, {1, 2, 3, 4, 5, 6});
  m_file.write_attribute("gz", "units", std::string("Gal"));
  EXPECT_THAT(read().sigma[0], ElementsAre(1000, 2000, 3000, 4000, 5000, 6000));
}

TEST_F(PointArrays, OfDepthsAreRefused) {
  add("upward", {"northing", "easting"}, {1, 2, 3, 4, 5, 6});
  m_file.write_attribute("upward", "positive", std::string("down"));
  EXPECT_THAT(testing::mistakes([&] { read(); }), HasSubstr("or is positive down; heights are needed"));
}

TEST_F(PointArrays, ElsewhereAreNamed) {
  add("upward", {"northing", "easting"}, {1, 2, 3, 4, 5, 6});
  add("profile", {"easting"}, {1, 2, 3});
  m_file.make_dimension_without_values("letters", 4);
  m_file.write("codes", {2, 4}, std::vector<double>(8).data());
  m_file.attach_dimensions("codes", {"northing", "letters"});
  m_file.make_group("crs");
  EXPECT_THAT(read().columns, IsEmpty());
  EXPECT_THAT(m_unread, ElementsAre("profile", "codes"));
}

}  // namespace
}  // namespace prismfield::test_point_fields
