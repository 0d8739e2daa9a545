// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "prisms_test.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismfield::test_prism_table {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::expect_two;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_in;
using testing::made;
using testing::read_all;

using PrismTable = testing::PrismsTest;

TEST_F(PrismTable, ReadTheDefaultOrder) {
  const auto ensemble = make("0,10,1,5,-9,-7,300\n10,30,2,6,-8,-1,-200\n");
  expect_two(read_all(*ensemble));
  EXPECT_EQ(ensemble->size(), 2);
  EXPECT_EQ(ensemble->description(), "2 prisms");
  EXPECT_THAT(ensemble->warnings(), IsEmpty());
  EXPECT_GE(ensemble->memory_bytes(), 2 * 7 * 8);
  EXPECT_GE(ensemble->peak_memory_bytes(), ensemble->memory_bytes());
  const Bounds bounds = ensemble->bounds();
  EXPECT_EQ(bounds.west, 0);
  EXPECT_EQ(bounds.east, 30);
  EXPECT_EQ(bounds.south, 1);
  EXPECT_EQ(bounds.north, 6);
  EXPECT_EQ(bounds.bottom, -9);
  EXPECT_EQ(bounds.top, -1);
  PrismBlock second;
  ensemble->read({1, 2}, second);
  EXPECT_THAT(second.density, ElementsAre(-200));
}

TEST_F(PrismTable, FollowTheHeader) {
  expect_two(read_all(*make("density;top;bottom;north;south;east;west\n300;-7;-9;5;1;10;0\n-200;-1;-8;6;2;30;10\n")));
  expect_two(read_all(*make("x1 y1 z1 x2 y2 z2 density\n0 1 -9 10 5 -7 300\n10 2 -8 30 6 -1 -200\n")));
  expect_two(read_all(*make("# x1 y1 z1 x2 y2 z2 density\n0 1 -9 10 5 -7 300\n10 2 -8 30 6 -1 -200\n")));
}

TEST_F(PrismTable, NumbersThatLookLikeDummiesAreWarnedOf) {
  const std::string good = "0,10,1,5,-9,-7,300\n10,30,2,6,-8,-1,-200\n";
  const auto warnings = [&](const std::string& row) {
    std::vector<std::string> told = make(good + row)->warnings();
    for (std::string& text : told) text = m_folder.removed_from(text);
    return told;
  };
  const auto of = [](const char* column, const char* number) {
    return fmt::format(
        "b.csv:3: {}: {} looks like a dummy, a number that stands for none; it is taken as it is; if it "
        "stands for none, leave such prisms out",
        column, number);
  };
  EXPECT_THAT(warnings("-9999,0,1,5,-9,-7,300\n"), ElementsAre(of("west", "-9999")));
  EXPECT_THAT(warnings("30,40,1,5,-99999,-7,300\n"), ElementsAre(of("bottom", "-99999")));
  EXPECT_THAT(warnings("30,40,1,999999,-9,-7,-999.25\n"), ElementsAre(of("north", "999999"), of("density", "-999.25")));
  EXPECT_THAT(
      make("-9999,-5000,0,100,-200,-100,300\n-5000,0,0,100,-200,-100,300\n0,5000,0,100,-200,-100,3\n")->warnings(),
      IsEmpty());
  EXPECT_THAT(warnings("-9999,-9000,1,5,-9,-7,300\n9000,9999,1,5,-9,-7,300\n"), IsEmpty());
}

TEST_F(PrismTable, UnitsOfTheHeaderCount) {
  expect_two(
      read_all(*make("West (km),East [km],South (km),north_km,bottom [km],top (km),Density (g/cc)\n"
                     "0,.01,.001,.005,-.009,-.007,.3\n.01,.03,.002,.006,-.008,-.001,-.2\n")));
  expect_two(
      read_all(*make("west east south north bottom top density\nm m m m m m kg/m3\n0 10 1 5 -9 -7 300\n"
                     "10 30 2 6 -8 -1 -200\n")));
  const std::string rest = ",south,north,bottom,top,density\n0,10,1,5,-9,-7,300\n";
  EXPECT_THAT(message("west (m),east (ft)" + rest),
              HasSubstr("column east is in 'ft', other columns in another unit of length; all faces need one"));
  EXPECT_THAT(message("west,east,south,north,bottom (NAVD88 ft),top [ft],density\n0,10,1,5,-9,-7,300\n"),
              HasSubstr("bottom [NAVD88 ft], top [ft] with a unit, west, east, south, north without; name the unit of "
                        "each face, or that of all by model.prisms.length_unit"));
  EXPECT_THAT(message("west (1000 m),east" + rest), HasSubstr("column west is in '1000 m', no unit of length"));
  EXPECT_THAT(message("# units: km\nwest,east" + rest),
              HasSubstr("the comment has the unit km, the columns have none"));
  EXPECT_THAT(message("west (yd),east" + rest), HasSubstr("column west is in 'yd', no unit of length that is known"));
  EXPECT_THAT(message("west,east,south,north,bottom,top,density [%]\n0,10,1,5,-9,-7,300\n"),
              HasSubstr("column density is in '%'; kg/m3 and g/cm3 are known"));
}

TEST_F(PrismTable, MayHaveMagneticColumns) {
  m_run.magnetic = testing::small_field();
  const auto both = make(
      "west,east,south,north,bottom,top,susceptibility,magnetization_upward,magnetization_easting,density\n"
      "0,10,1,5,-9,-7,0.5,8,4,300\n10,30,2,6,-8,-1,0,1,0,-200\n");
  EXPECT_TRUE(both->is_magnetized());
  EXPECT_THAT(both->warnings(), IsEmpty());
  PrismBlock p = read_all(*both);
  expect_two(p);
  EXPECT_THAT(p.magnetization, ElementsAre(ElementsAre(4.5, 0), ElementsAre(1, 0), ElementsAre(6.5, 1)));
  both->read({1, 2}, p);
  EXPECT_THAT(p.magnetization, ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1)));
  EXPECT_GE(both->memory_bytes(), 2 * 11 * 8);

  m_spec.columns = {"susceptibility", "x1", "x2", "y1", "y2", "z1", "z2"};
  p = read_all(*make("2,0,10,1,5,-9,-7\n"));
  EXPECT_THAT(p.density, ElementsAre(0));
  EXPECT_THAT(p.magnetization, ElementsAre(ElementsAre(2), ElementsAre(4), ElementsAre(-6)));
  m_spec.columns.clear();
  const auto zero = make("# west east south north bottom top susceptibility\n0 10 1 5 -9 -7 0\n");
  EXPECT_FALSE(zero->is_magnetized());
}

TEST_F(PrismTable, RefuseMagneticNumbersThatCannotBe) {
  const std::string header = "west,east,south,north,bottom,top,susceptibility,magnetization_northing\n";
  EXPECT_EQ(message(header + "0,1,0,1,0,1,-2,0\n1,2,0,1,0,1,0,2e12\n"),
            "b.csv:2: susceptibility: is -2; a susceptibility from -1 to 1e+06 (SI) is expected\n"
            "b.csv:3: magnetization_northing: is more than 1e+12 A/m, the limit up to which results are finite");
  EXPECT_EQ(message(header + "0,1,0,1,0,1,nan,0\n"), "b.csv:2: susceptibility: 'nan' is not finite");
  const std::string columns =
      "; magnetic prisms have the columns magnetization_easting, magnetization_northing, magnetization_upward (A/m) "
      "and "
      "susceptibility (SI)";
  for (const char* const name : {"magnetisation", "chi", "mx", "magnetisation_easting"}) {
    EXPECT_EQ(message("west,east,south,north,bottom,top," + std::string(name) + "\n0,1,0,1,0,1,0\n"),
              "b.csv:1: missing column density; the columns are 'west', 'east', 'south', 'north', 'bottom', 'top', '" +
                  std::string(name) + "'" + columns);
  }
  EXPECT_EQ(message("west,east,south,north,bottom,top,susceptibility [1e-3 SI]\n0,1,0,1,0,1,0\n"),
            "b.csv:1: column susceptibility is in '1e-3 SI'; SI is needed");
  const auto both = make("west,east,south,north,bottom,top,density,chi\n0,1,0,1,0,1,0,1\n");
  ASSERT_EQ(both->warnings().size(), 1U);
  EXPECT_THAT(both->warnings()[0], HasSubstr("column ignored: 'chi'" + columns));
}

TEST_F(PrismTable, NeedAnInducingFieldForASusceptibility) {
  m_run.fields = {Field::tmi};
  EXPECT_THAT(message("west,east,south,north,bottom,top,susceptibility\n0,1,0,1,0,1,0.1\n"),
              HasSubstr("magnetic.inducing_field: is missing"));
  m_run.fields = {Field::gz};
  EXPECT_NO_THROW((void)made(m_run, m_spec));
}

TEST_F(PrismTable, FollowTheOrderOfThePapers) {
  m_spec.columns = {"x1", "y1", "z1", "x2", "y2", "z2", "density"};
  expect_two(read_all(*make("0,1,-9,10,5,-7,300\n10,2,-8,30,6,-1,-200\n")));
}

TEST_F(PrismTable, WarnOfColumnsThatTheyIgnore) {
  const auto ensemble = make("name,west,east,south,north,bottom,top,density,year\nrock,0,1,0,1,0,1,5,1998\n");
  ASSERT_EQ(ensemble->warnings().size(), 1U);
  EXPECT_EQ(m_folder.removed_from(ensemble->warnings()[0]), "b.csv: columns ignored: 'name', 'year'");
}

TEST_F(PrismTable, HaveNoGroups) {
  m_spec.group = "/bodies";
  EXPECT_EQ(message("0,10,1,5,-9,-7,300\n"),
            "case.yaml:5: model.prisms.group: names a group of an HDF5 file, but 'b.csv' is text; leave it out");
}

TEST_F(PrismTable, EveryMistakeIsFoundInOneGo) {
  const std::string text = message(
      "west,east,south,north,bottom,top,density\n0,1,0,1,0,1,5\n0,x,0,1,0,1,5\nnan,1,0,1,0,1,5\n2,1,0,1,0,1,5\n0,1,0,1,"
      "0.5,2,5\n1,2\n");
  EXPECT_THAT(text,
              AllOf(HasSubstr("b.csv:3: east: 'x' is not a number"), HasSubstr("b.csv:4: west: 'nan' is not finite"),
                    HasSubstr("b.csv:5: west 2 is east of east 1"), HasSubstr("b.csv:6: overlaps the prism of line 2"),
                    HasSubstr("b.csv:7: 2 columns, ")));
  EXPECT_EQ(lines_in(text), 5U);
}

TEST_F(PrismTable, FilesThatAreNoTableAreRefused) {
  EXPECT_EQ(message(""), "case.yaml:4: model.prisms.file: 'b.csv' is empty");
  EXPECT_EQ(message("west,east,south,north,bottom,top,density\n"),
            "case.yaml:4: model.prisms.file: 'b.csv' has a header but no data");
  EXPECT_THAT(message("0,10,1,5,-9,-7\n"),
              HasSubstr("b.csv:1: 6 columns, but without a header 7 are expected: west, east"));
  EXPECT_THAT(
      message("west,east,south,north,bottom,top,densty\n0,1,0,1,0,1,1\n"),
      HasSubstr("b.csv:1: missing column density; the columns are 'west', 'east', 'south', 'north', 'bottom', 'top', "
                "'densty'; 'densty': did you mean density?"));
  m_spec.file = m_folder / "none.csv";
  EXPECT_EQ(message(), "case.yaml:4: model.prisms.file: 'none.csv' cannot be read: there is no such file");
}

}  // namespace
}  // namespace prismfield::test_prism_table
