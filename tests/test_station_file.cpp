// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/number_text.hpp"
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "points_test.hpp"
#include "readers/point_fields.hpp"
#include "readers/station_file.hpp"
#include "writers/write_content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>

namespace prismfield::test_station_file {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mistakes;
using testing::PointsTest;

class StationsTest : public PointsTest {
protected:
  StationsTest() { m_run.locations["observations.stations.file"] = "case.yaml:10"; }

  /// The stations of a text under a name of its own.
  StationsFile& set(const std::string& name, std::string_view text) {
    m_run.observations = StationsFile(m_folder.write(name, text));
    return std::get<StationsFile>(m_run.observations);
  }
  StationsFile& set(std::string_view text) { return set("s.csv", text); }

  /// The rows that a result carries, one a line, the columns' names first.
  std::string carried() {
    StationColumns own;
    m_notes.clear();
    const Points points = make_points(m_run, {}, {}, m_notes, nullptr, &own);
    std::string text;
    for (const std::string& name : own.names) text += name + "|";
    std::size_t n = 0;
    own.text.each([&](std::size_t station, const std::vector<std::string_view>& fields) {
      EXPECT_EQ(station, n++);
      text += "\n";
      for (const std::string_view field : fields) text += std::string(field) + "|";
    });
    EXPECT_EQ(n, points.easting.size());
    return text;
  }
  /// The notes of the last make(), without folders.
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    for (const std::string& note : m_notes) found.push_back(m_folder.removed_from(note));
    return found;
  }
};

TEST_F(StationsTest, AreReadFromATable) {
  for (const char* text :
       {"1,2,3\n4,5,-6\n", "upward;easting;northing;name\n3;1;2;A\n-6;4;5;B\n",
        "easting northing height\n1 2 3\n4 5 -6", "X\tY\tZ\n1\t2\t3\n4\t5\t-6\n", "East,North,Elev.\n1,2,3\n4,5,-6\n",
        "UTM_X UTM_Y altitude gz\n1 2 3 .5\n4 5 -6 .7\n", "# utm x, utm-y, Z\n1,2,3\n4,5,-6\n",
        "# by hand\nN;E;Height (m)\n2;1;3\n5;4;-6\n", "x,y,z,easting,northing,elevation\n9,9,9,1,2,3\n9,9,9,4,5,-6\n",
        "longitude,latitude,easting,northing,z\n-68,-22,1,2,3\n-68,-22,4,5,-6\n",
        "Punto;Este;Norte;Cota;CBA\nA;1;2;3;9\nB;4;5;-6;9\n", "Norte,Este,DEM\n2,1,3\n5,4,-6\n",
        "x,y,DEM,z\n1,2,9,3\n4,5,9,-6\n", "Rechtswert\tHochwert\tH\xc3\xb6he m\n1\t2\t3\n4\t5\t-6\n",
        "rechtswert,hochwert,\"H\xf6he\"\n1,2,3\n4,5,-6\n", "/ Este Norte Cota FAA\nLine 1\n1 2 3 9\n4 5 -6 9\n",
        "/ Este, Norte, Elev m, FAA\nLine 1\n1 2 3 9\n4 5 -6 9\n"}) {
    set(text);
    const Points p = make();
    EXPECT_FALSE(p.is_grid());
    EXPECT_THAT(p.easting, ElementsAre(1, 4)) << text;
    EXPECT_THAT(p.northing, ElementsAre(2, 5)) << text;
    EXPECT_THAT(p.upward, ElementsAre(3, -6)) << text;
    EXPECT_THAT(notes(), IsEmpty()) << text;
  }
}

TEST_F(StationsTest, ThatAreWrongAreNamed) {
  set("easting,northing,upward\n1,2,3\n1,inf,3\n1,2\n1,x,3\n");
  EXPECT_EQ(message(),
            "s.csv:3: northing: 'inf' is not finite\ns.csv:4: 2 columns, but the header names 3; where a value is "
            "missing, keep its comma\n"
            "s.csv:5: northing: 'x' is not a number");
  set("a,b,c\n1,2,3\n");
  EXPECT_THAT(message(),
              HasSubstr("s.csv:1: missing columns easting, northing, upward; the columns are 'a', 'b', 'c'"));
  const std::string key = "observations.stations.columns: ";
  const std::string one_height =
      "; for stations of one height write observations.stations.upward: 80, or {above_terrain: 80}";
  set("Punto,Este,Norte,Kote,CBA\n1,2,3,4,5\n");
  EXPECT_EQ(message(),
            "s.csv:1: missing column upward; the columns are 'Punto', 'Este', 'Norte', 'Kote', 'CBA'; if a "
            "column holds it under another name, write upward there: " +
                key + "[\"-\", easting, northing, \"-\", \"-\"]" + one_height);
  set("easting,northing,gobs\n1,2,978000\n");
  EXPECT_EQ(message(),
            "s.csv:1: missing column upward; the columns are 'easting', 'northing', 'gobs'; if a column holds "
            "it under another name, write upward there: " +
                key + "[easting, northing, \"-\"]" + one_height);
  set("A,B,Cota\n1,2,3\n");
  EXPECT_THAT(message(), HasSubstr("if columns hold them under other names, write these names there: " + key +
                                   "[\"-\", \"-\", upward]"));
  // the unit goes with the name
  for (const char* const heading : {"ElevFt", "Z=ft", "Z/ft", "MyZ [ft]"}) {
    set(std::string("easting,northing,") + heading + "\n1,2,3\n");
    EXPECT_THAT(message(), HasSubstr("write \"upward [ft]\" there: " + key + "[easting, northing, \"-\"]")) << heading;
  }
  set("Este,Norte\n1,2\n");
  EXPECT_EQ(message(), "s.csv:1: missing column upward; the columns are 'Este', 'Norte'" + one_height);
  set("1 2\n3 4\n");
  EXPECT_EQ(message(),
            "s.csv:1: 2 columns, but without a header 3 are expected: easting, northing, upward; name the columns in a "
            "header line or by observations.stations.columns; if upward is missing, for stations of one height write "
            "observations.stations.upward: 80, or {above_terrain: 80}");
  // commas in numbers
  set("513000,00 7124000 1200\n");
  EXPECT_THAT(message(), AllOf(HasSubstr("s.csv:1: 2 columns"), HasSubstr("decimals are written with a point")));
  set("x y z\n513000,00 7124000 1200\n");
  EXPECT_EQ(message(), "s.csv:2: 2 columns, but the header names 3; decimals are written with a point");
  m_run.observations = StationsFile{m_folder / "none.csv"};
  EXPECT_EQ(message(), "case.yaml:10: observations.stations.file: 'none.csv' cannot be read: there is no such file");
  set("elevation,height,x,y\n1,2,3,4\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:1: column upward is given 2 times (elevation, height); say by "
                                   "observations.stations.columns which is meant"));
}

TEST_F(StationsTest, UnitsOfTheHeaderCount) {
  set("easting [km],northing [M],Height (ft)\n1,2,10\n");
  Points p = make();
  EXPECT_THAT(p.easting, ElementsAre(1000));
  EXPECT_THAT(p.northing, ElementsAre(2));
  EXPECT_THAT(p.upward, ElementsAre(3.048));
  set("x_km y_km z_m\n1 2 3\n");
  p = make();
  EXPECT_THAT(p.northing, ElementsAre(2000));
  EXPECT_THAT(p.upward, ElementsAre(3));
  set("x,y,z\n1,2,3\n").length_to_si = 1000;
  EXPECT_THAT(make().upward, ElementsAre(3000));
  // a unit as the last word
  for (const char* text : {"Este;Norte;Elev ft\n1;2;10\n", "/ Este Norte Elev ft\n1 2 10\n"}) {
    set(text);
    EXPECT_THAT(make().upward, ElementsAre(3.048)) << text;
  }
  // as decimals are multiplied, not doubles
  set("x_km y_km z\n513.06049 7124.33001 3\n");
  EXPECT_THAT(make().easting, ElementsAre(513060.49));
  EXPECT_THAT(make().northing, ElementsAre(7124330.01));
  set("x [m],y,z [deg]\n1,2,3\n").length_to_si = 1000;
  EXPECT_EQ(message(),
            "s.csv:1: column easting is in 'm', which observations.stations.length_unit denies; take one of the two "
            "out\ns.csv:1: column upward is in 'deg'; " +
                place_columns().why_refused);
  set("x,y,z [yd]\n1,2,3\n");
  EXPECT_EQ(
      message(),
      "s.csv:1: column upward is in 'yd', no unit of length that is known; the numbers need m, km or ft: write which "
      "there, or state observations.stations.length_unit");
  set("x,y,z [yd]\n1,2,3\n").length_to_si = 1;
  EXPECT_THAT(make().upward, ElementsAre(3));
}

/// Units, what coordinates refer to and remarks, in brackets and among the words of a name.
TEST_F(StationsTest, HeadingsAreThoseThatPeopleWrite) {
  constexpr double survey_foot = 1200.0 / 3937.0;
  for (const auto& [heading, factor] : {std::pair{"Elevation (m a.s.l.)", 1.0},
                                        {"Cota (msnm)", 1.0},
                                        {"z [m, AHD]", 1.0},
                                        {"Elevation_m_AHD", 1.0},
                                        {"\"Elevation, m\"", 1.0},
                                        {"RL (m)", 1.0},
                                        {"H_msl", 1.0},
                                        {"Orthometric_Height", 1.0},
                                        {"Elev_AHD", 1.0},
                                        {"POINT_Z", 1.0},
                                        {"z_utm", 1.0},
                                        {"Height above sea level [m]", 1.0},
                                        {"Z (ft)", 0.3048},
                                        {"Z_ft_navd88", 0.3048},
                                        {"Elev feet", 0.3048},
                                        {"elevation [US survey ft]", survey_foot},
                                        {"elev (ftUS)", survey_foot},
                                        {"elev_us_ft", survey_foot},
                                        {"z [ft-us]", survey_foot},
                                        {"z (NAD83 / Texas Central ftUS)", survey_foot},
                                        {"z (NAVD88 ft)", 0.3048},
                                        {"Elevation ft (NAVD88)", 0.3048},
                                        {"z (NAVD88/ft)", 0.3048},
                                        {"z (MSL ft)", 0.3048},
                                        {"z [international feet]", 0.3048},
                                        {"z (zone 19S)", 1.0},
                                        {"z (WGS84 UTM 33N)", 1.0},
                                        {"z (Lambert 93, m)", 1.0},
                                        {"z [ft, NAVD88]", 0.3048},
                                        {"z (m E)", 1.0},
                                        {"z (Clarke 1866)", 1.0},
                                        {"\"z (m, 1 cm accuracy)\"", 1.0},
                                        {"\"z (m, false easting 500 km)\"", 1.0},
                                        {"\"z (m, converted from ft)\"", 1.0},
                                        {"z (m - 5 ft contours)", 1.0},
                                        {"z (10m DEM)", 1.0},
                                        {"z (10 m DEM)", 1.0},
                                        {"Hoehe (NHN)", 1.0},
                                        {"z (m.s.m.)", 1.0},
                                        {"z (\xd0\xbc)", 1.0},
                                        {"z (NGVD 29 ft)", 0.3048},
                                        {"z (units=ft)", 0.3048},
                                        {"z (altimeter)", 1.0},
                                        {"z [UTM zone 33N km]", 1000.0},
                                        {"z [UTM 10 km]", 1000.0},
                                        {"z [kilometers]", 1000.0},
                                        {"z [kil\xc3\xb3metros]", 1000.0},
                                        {"z [Kilom\xe8tres]", 1000.0},
                                        {"z [centimetres]", 0.01},
                                        {"z [mil\xc3\xadmetros]", 0.001},
                                        {"altitude [km]", 1000.0},
                                        {"upward [mm]", 0.001},
                                        {"GPS Height", 1.0},
                                        {"\xe9\xab\x98\xe7\xa8\x8b", 1.0}}) {
    for (const char* const of_places :
         {"x,y", "Easting (zone 19S),Northing (zone 19S)", "X (Este),Y (Norte)", "Easting_MGA94,Northing_MGA94",
          "POINT_X,POINT_Y", "x_utm_33n,y_utm_33n", "E (m UTM 33N),N [metres]", "Este (PSAD56),Norte (PSAD56)"}) {
      set(std::string(of_places) + "," + heading + "\n1,2,1000\n");
      const Points p = make();
      EXPECT_THAT(p.easting, ElementsAre(1)) << of_places;
      EXPECT_THAT(p.northing, ElementsAre(2)) << of_places;
      EXPECT_THAT(p.upward, ElementsAre(decimal_product(1000, factor))) << heading;
      EXPECT_THAT(notes(), IsEmpty()) << heading;
    }
  }
  // in geodesy x points north
  set("X (Norte);Y (Este);H\n1;2;3\n");
  EXPECT_THAT(make().northing, ElementsAre(1));
  // of several heights the one without remarks
  set("east,north,elev,h_ell\n1,2,3,55\n");
  EXPECT_THAT(make().upward, ElementsAre(3));
  set("Easting,Northing,z_1,z_2\n1,2,3,4\n");
  EXPECT_THAT(message(), HasSubstr("missing column upward"));
  for (const char* const heading :
       {"Radar altitude", "height_above_ground", "z error", "depth to basement (m)", "level"}) {
    set(std::string("x,y,") + heading + "\n1,2,3\n");
    EXPECT_THAT(message(), HasSubstr("s.csv:1: missing column upward")) << heading;
  }
  for (const char* const unit : {"yd",
                                 "fathoms",
                                 "inches",
                                 "miles",
                                 "in",
                                 "dm",
                                 "in yd",
                                 "statute miles",
                                 "decimetres",
                                 "1000 m",
                                 "1000 m, AHD",
                                 "UTM 1000 m",
                                 "x1000 m",
                                 "10 ft",
                                 "100m",
                                 "m2",
                                 "m/1000",
                                 "m*1000",
                                 "m / s2",
                                 "m s-2",
                                 "kg/m3",
                                 "kg m-3",
                                 "m or ft",
                                 "ft/m",
                                 "thousand feet",
                                 "square km",
                                 "was ft",
                                 "feet x 0.3048",
                                 "ft converted",
                                 "converted from ft",
                                 "converted from ft to m",
                                 "Clarke's ft",
                                 "m, ft",
                                 "m, converted to ft",
                                 "m, x 0.3048",
                                 "10 m above AHD",
                                 "Dezimeter",
                                 "kmeters",
                                 "m e3",
                                 "1e-3 m",
                                 "m\xc2\xb7"
                                 "10",
                                 "milli m",
                                 "ms TWT"}) {
    set(std::string("x,y,z (") + unit + ")\n1,2,3\n");
    EXPECT_THAT(message(), HasSubstr("no unit of length that is known")) << unit;
  }
  for (const char* const heading : {"z_1000_m", "Z (Cota 1000 m)"}) {
    set(std::string("x,y,") + heading + "\n1,2,3\n");
    EXPECT_THAT(message(), HasSubstr("no unit of length that is known")) << heading;
  }
  set("X (Este km),y,z\n1,2,3\n");
  EXPECT_THAT(make().easting, ElementsAre(1000));
  for (const char* const unit : {"decimal degrees", "arc-second"}) {
    set(std::string("x,y,z (") + unit + ")\n1,2,3\n");
    EXPECT_THAT(message(), HasSubstr("longitude and latitude are angles")) << unit;
  }
  for (const char* const heading :
       {"Latitude_m Longitude_m h", "Long. (deg) Lat. (deg) z", "X (Longitude) Y (Latitude) Z", "x (lon) y (lat) z"}) {
    set(std::string("# ") + heading + "\n1 2 3\n");
    EXPECT_THAT(message(), HasSubstr("longitude and latitude are angles")) << heading;
  }
}

TEST_F(StationsTest, AUnitInACommentIsNotPassedOver) {
  for (const char* const comment :
       {"# units: km", "% Units = mGal, km", "# length_unit: km", "# coordinates in UTM 33N, km",
        "# coordinates: UTM zone 33; km", "# km km m", "# x [km] y [km] z [m]", "/ X(km) Y(km) Z(m)",
        "# x [m] y [m] z [km]", "# easting northing elevation in km", "# Z in km"}) {
    const std::string text = std::string(comment) + "\nx,y,z\n1,2,3\n";
    set(text);
    EXPECT_EQ(message(),
              "s.csv:1: the comment has the unit km, the columns have none; name them with it, as in easting [km], or "
              "state observations.stations.length_unit")
        << comment;
    set(text).length_to_si = 1000;
    EXPECT_THAT(make().easting, ElementsAre(1000)) << comment;
    set(std::string(comment) + "\nx [m],y,z\n1,2,3\n");
    EXPECT_THAT(make().easting, ElementsAre(1)) << comment;
  }
  for (const char* const comment :
       {"# units: m (converted from ft)", "# coordinates: UTM; lines 2 km apart", "# coordinates at the foot of a hill",
        "# 2 km from town", "# units: mGal, 2 km grid", "# coords: km-grid of the national map, in m",
        "# x [m] y [m] z [m] of the foot", "# heights above the foot of a hill",
        "# elevations in feet were converted to m", "# coordinates in m, 5 ft contours"}) {
    set(std::string(comment) + "\nx,y,z\n1,2,3\n");
    EXPECT_THAT(make().easting, ElementsAre(1)) << comment;
  }
}

TEST_F(StationsTest, TitlesAndALineOfUnitsStandRoundTheHeader) {
  for (const char* text : {"Gravity survey of the ridge\nProjection: UTM "
                           "33N\nStation,Easting,Northing,Elevation\nA,1,2,3\nB,4,5,-6\n",
                           "Survey of 2019, 2 rows\nx,y,z\n1,2,3\n4,5,-6\n", "My survey\nx y z\n1 2 3\n4 5 -6\n",
                           "COMM with 2 rows\n% x y z\n1 2 3\n4 5 -6\n", "x,y,z\nm,m,m\n1,2,3\n4,5,-6\n",
                           "Station\tx\ty\tz\n\t[m]\t[m]\t[m]\nA\t1\t2\t3\nB\t4\t5\t-6\n",
                           "easting,northing,upward,note\n1,2,3,\n4,5,-6,hello\n"}) {
    set(text);
    const Points p = make();
    EXPECT_THAT(p.easting, ElementsAre(1, 4)) << text;
    EXPECT_THAT(p.northing, ElementsAre(2, 5)) << text;
    EXPECT_THAT(p.upward, ElementsAre(3, -6)) << text;
    EXPECT_THAT(notes(), IsEmpty()) << text;
  }
  set("Station,Easting,Northing,Elevation\n,km,km,ft\nA1,1,2,10\n");
  EXPECT_THAT(make().easting, ElementsAre(1000));
  EXPECT_THAT(make().upward, ElementsAre(3.048));
  set("x,y,z\nm,m,yd\n1,2,3\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:2: column upward is in 'yd', no unit of length that is known"));
  set("survey,of,it\n1,2,3\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:1: missing columns easting, northing, upward; the columns are 'survey'"));
  set("l00,200,30\n1,2,3\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:1: 'l00' is not a number, and no header below names the columns"));
  set("x,y,z\n100m,2,3\n");
  EXPECT_THAT(message(), HasSubstr("'100m' is not a number; units are written in the header, as in easting [m]"));
  set("x,y,z\n1,2,3\na,b,c\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:3: easting: 'a' is not a number"));
}

TEST_F(StationsTest, EmptyFieldsBetweenTabsCount) {
  set("x\ty\tz\tg\n1\t2\t3\t\n4\t\t6\t1\n7\t8\t9\t2\n");
  EXPECT_THAT(make().easting, ElementsAre(1, 7));
  EXPECT_THAT(notes(), ElementsAre("'s.csv': 1 of 3 stations left out: dummies in line 3"));
  EXPECT_EQ(carried(), "x|y|z|g|\n1|2|3||\n7|8|9|2|");
  set("Station name\tEasting\tNorthing\tElevation\nridge 1\t1\t2\t3\n\t4\t5\t6\n");
  EXPECT_THAT(make().easting, ElementsAre(1, 4));
  // tabs that only align
  set("x\t\ty\t\tz\n1\t\t2 \t3\n4 \t5\t\t6\n");
  EXPECT_THAT(make().upward, ElementsAre(3, 6));
}

TEST_F(StationsTest, WordsOfACommentAreHeeded) {
  set("# id x y\n1 300 20\n2 310 20\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:2: missing column upward; the columns are 'id', 'x', 'y'"));
  set("# y x\n1 2 3\n");
  EXPECT_THAT(message(), HasSubstr("3 columns, and the comment above names northing, easting in another order"));
  set("# time temp pressure\n1 2 3\n");
  EXPECT_THAT(make().easting, ElementsAre(1));
  EXPECT_THAT(notes(), ElementsAre("s.csv:2: the words of the comment above, time, temp, pressure, are not known as "
                                   "names of columns; they are taken as easting, northing, upward"));
  for (const char* text : {"# survey of 2019 by us\n1 2 3\n", "# made in 2019\n1 2 3\n", "# 3\n1 2 3\n"}) {
    set(text);
    EXPECT_THAT(make().easting, ElementsAre(1));
    EXPECT_THAT(notes(), IsEmpty()) << text;
  }
}

/// Whatever program wrote them, and wherever they stand.
TEST_F(StationsTest, NumbersThatStandForNoneAreNoPlaces) {
  for (const char* dummy :
       {"-9999", "99999", "-32768", "-999.25", "-999999.99", "1e31", "1.70141e38", "-1e32", "*", "", "nan"}) {
    for (int d = 0; d < 3; ++d) {
      std::array<std::string, 3> row{"150", "250", "20"};
      row.at(static_cast<std::size_t>(d)) = dummy;
      set("x,y,z,g\n100,200,20,1\n" + row[0] + "," + row[1] + "," + row[2] + ",2\n300,400,22.5,3\n");
      EXPECT_THAT(make().easting, ElementsAre(100, 300)) << dummy << " " << d;
      EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr("1 of 3 stations left out: dummies"), HasSubstr("in line 3"))));
      EXPECT_EQ(carried(), "x|y|z|g|\n100|200|20|1|\n300|400|22.5|3|");
    }
  }
  // a number that other files have as a height is named
  set("x,y,z\n1,2,50\n3,4,-999\n5,6,60\n");
  EXPECT_EQ(make().size(), 3);
  EXPECT_THAT(
      notes(),
      ElementsAre(HasSubstr("upward -999 looks like a dummy, a number that stands for none; it is taken as a place")));
  set("x,y,z\n1,2,-9999\n3,4,-9500\n5,6,-10984\n");
  EXPECT_EQ(make().size(), 3);
  set("x,y,z\n1,2,-9999\n3,4,-9999\n");
  EXPECT_THAT(message(), HasSubstr("'s.csv' has no station: there are dummies, such as -9999, in lines 2, 3"));
}

TEST_F(StationsTest, DepthGrowsDownwards) {
  set("x,y,depth\n1,2,3\n4,5,0\n");
  EXPECT_THAT(make().upward, ElementsAre(-3, 0));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("'depth' is taken as the depth below height 0")));
  set("x,y,z\n1,2,3\n4,5,0\n").z_down = true;
  EXPECT_THAT(make().upward, ElementsAre(-3, 0));
  set("1,2,3\n").z_down = true;
  EXPECT_THAT(make().upward, ElementsAre(-3));
  set("x,y,depth\n1,2,3\n").z_down = true;
  EXPECT_THAT(make().upward, ElementsAre(-3));
  EXPECT_THAT(notes(), IsEmpty());
  set("x,y,depth\n1,2,3\n").z_down = false;
  EXPECT_THAT(message(), HasSubstr("which grows downwards, but observations.stations.axis_z is up"));
  set("x,y,elevation\n1,2,3\n").z_down = true;
  EXPECT_THAT(message(), HasSubstr("which grows upwards, but observations.stations.axis_z is down"));
}

TEST_F(StationsTest, ColumnsOfTheCaseCount) {
  set("7 100 0.2 35.5 12\n8 150 0.3 36 13\n").columns = {"-", "Y", "X [km]", "-", "depth"};
  const Points p = make();
  EXPECT_THAT(p.easting, ElementsAre(200, 300));
  EXPECT_THAT(p.northing, ElementsAre(100, 150));
  EXPECT_THAT(p.upward, ElementsAre(-12, -13));
  EXPECT_EQ(carried(), "column_1|Y|X [km]|column_4|depth|\n7|100|0.2|35.5|12|\n8|150|0.3|36|13|");
  // a header's own names, which may have units, stay
  set("Id;E [km];N [km];Kote;CBA\n7;0.2;0.1;35.5;12\n").columns = {"Punto", "UTM_E", "UTM_N", "elev", "CBA"};
  EXPECT_THAT(make().easting, ElementsAre(200));
  EXPECT_EQ(carried(), "Id|E [km]|N [km]|Kote|CBA|\n7|0.2|0.1|35.5|12|");
  // x of the header may be north; a word may not
  // the header has the unit that the case leaves out
  set("easting,northing,ElevFt\n1,2,10\n").columns = {"easting", "northing", "upward"};
  EXPECT_THAT(make().upward, ElementsAre(3.048));
  set("easting,northing,foot mark\n1,2,10\n").columns = {"easting", "northing", "upward"};
  EXPECT_THAT(make().upward, ElementsAre(10));
  set("x,y,z\n1,2,3\n").columns = {"northing", "easting", "upward"};
  EXPECT_THAT(make().northing, ElementsAre(1));
  set("easting,y,z\n1,2,3\n").columns = {"northing", "easting", "upward"};
  EXPECT_THAT(message(), HasSubstr("the header calls column 1 easting, observations.stations.columns calls it"));
  set("1,2\n").columns = {"x", "y"};
  EXPECT_THAT(message(), HasSubstr("observations.stations.columns: missing column upward"));
}

TEST_F(StationsTest, OneHeightForAllReplacesAColumn) {
  for (const char* text : {"x,y\n1,2\n4,5\n", "1 2\n4 5\n", "line,easting,northing\na,1,2\nb,4,5\n"}) {
    set(text).upward = 80.0;
    EXPECT_THAT(make().upward, ElementsAre(80, 80)) << text;
    EXPECT_THAT(notes(), IsEmpty()) << text;
  }
  for (const char* text : {"x,y,height\n1,2,*\n4,5,x\n", "1 2 3\n4 5 6\n", "x,y,depth\n1,2,\n4,5,6\n"}) {
    set(text).upward = 80.0;
    EXPECT_THAT(make().upward, ElementsAre(80, 80)) << text;
    EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not used, observations.stations.upward says"))) << text;
  }
  set("1,2,3,4\n").upward = 80.0;
  EXPECT_THAT(message(), HasSubstr("4 columns, but without a header 2 are expected"));
}

TEST_F(StationsTest, DummiesAreLeftOutAndCounted) {
  set("x,y,z,g\n1,2,3,*\n*,2,3,1\n4,NaN,6,1\n7,8,,2\n-1e32,8,9,2\n4,5,6,\n");
  const Points p = make();
  EXPECT_THAT(p.easting, ElementsAre(1, 4));
  EXPECT_THAT(notes(), ElementsAre("'s.csv': 4 of 6 stations left out: dummies in lines 3, 4, 5, 6"));
  EXPECT_EQ(carried(), "x|y|z|g|\n1|2|3|*|\n4|5|6||");
  std::string many = "x y z\n1 2 3\n";
  for (int i = 0; i < 30; ++i) many += "* * *\n";
  set(many);
  EXPECT_EQ(make().size(), 1);
  EXPECT_THAT(notes(), ElementsAre("'s.csv': 30 of 31 stations left out: dummies in lines 3, 4, 5, 6, 7, 8, 9, 10, "
                                   "11, 12, ..."));
  set("x y z\n* 2 3\n");
  EXPECT_THAT(message(), HasSubstr("'s.csv' has no station: there are dummies in line 2"));
}

TEST_F(StationsTest, AnglesAreRefused) {
  for (const char* text : {"Longitude,Latitude,z\n-68,-22,5\n", "# lon lat height\n-68 -22 5\n",
                           "/ LON  LAT  ELEV\n-68 -22 5\n", "lat;lon;h\n1;2;3\n"}) {
    set(text);
    EXPECT_THAT(message(), HasSubstr("longitude and latitude are angles, places are needed in metres: project"))
        << text;
  }
}

TEST_F(StationsTest, LinesOfOasisMontajBecomeAColumn) {
  set("oasis.xyz",
      "/ XYZ EXPORT\n/ x y z g\n/ === === === ===\nLine 10\n1 2 3 .5\n4 * 6 .6\nTie 5.1\n7 8 9 *\nL20\n1 1 1 1\n"
      "/ a remark\n2 2 2 2\n");
  EXPECT_EQ(carried(), "x|y|z|g|line|\n1|2|3|.5|10|\n7|8|9|*|\"Tie 5.1\"|\n1|1|1|1|L20|\n2|2|2|2|L20|");
  // a header may begin with the word, and the file may have the column itself
  set("Line x y z\n1 2 3 4\n");
  EXPECT_EQ(carried(), "Line|x|y|z|\n1|2|3|4|");
  set("/ x y z LINE\nLine 1\n1 2 3 L1\nLine 2\n4 5 6 L2\n");
  EXPECT_EQ(carried(), "x|y|z|LINE|\n1|2|3|L1|\n4|5|6|L2|");
  set("x y z\n1 2 3\nLine 2\n4 5 6\n");
  EXPECT_THAT(message(), HasSubstr("s.csv:3: begins a line, but the rows above it belong to none"));
}

TEST_F(StationsTest, SegmentsOfGmtAreCounted) {
  set("> first -Z2\n1 2 3\n> \n4 5 6\n7 8 9\n>\n");
  EXPECT_EQ(carried(), "easting|northing|upward|segment|\n1|2|3|0|\n4|5|6|1|\n7|8|9|1|");
  EXPECT_EQ(make().size(), 3);
}

TEST_F(StationsTest, FilesThatBeginWithACount) {
  const char* const text = "2 ! stations\n1 2 3 .5 .1\n4 5 6 .7 .1\n";
  for (const char* name : {"s.obs", "s.LOC", "s.grv"}) {
    set(name, text);
    EXPECT_EQ(carried(), "easting|northing|upward|observed|observed_sigma|\n1|2|3|0.5|0.1|\n4|5|6|0.7|0.1|") << name;
  }
  // five columns are UBC's
  set("s.txt", text);
  EXPECT_THAT(make().upward, ElementsAre(3, 6));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("s.txt' is read as UBC data: E, N, elevation, mGal")));
  set("s.txt", "2\n1 2 3 .5\n4 5 6 .7\n");
  EXPECT_THAT(message(), HasSubstr("begins with the number of its rows, as files of UBC (heights, mGal) and Tomofast "
                                   "(depths, m/s2) do: name it .obs or .loc if it is UBC's, or say by "
                                   "observations.stations.axis_z"));
  std::get<StationsFile>(m_run.observations).z_down = false;
  EXPECT_THAT(make().upward, ElementsAre(3, 6));
  set("s.txt", "1\n1 2 3 4 5 6\n");
  EXPECT_THAT(make().upward, ElementsAre(-3));
  std::get<StationsFile>(m_run.observations).z_down = false;
  EXPECT_THAT(message(), HasSubstr("axis_z: is up, but 's.txt' is a file of Tomofast"));
  set("s.txt", "1\n0 1 0 1 0 1 1 1 1\n");
  EXPECT_THAT(message(), HasSubstr("is a Tomofast grid, and points are needed"));
  set("s.txt", "2\n1 2 3 1e-5\n4 5 6 2e-5\n").z_down = true;
  EXPECT_THAT(make().upward, ElementsAre(-3, -6));
  EXPECT_EQ(carried(), "easting|northing|upward|observed|\n1|2|-3|1|\n4|5|-6|2|");
  set("s.loc", "! units: ft\n1\n1 2 10\n");
  EXPECT_THAT(message(), HasSubstr("has the unit ft in a comment alone; state observations.stations.length_unit"));
  set("s.loc", "! units: ft\n1\n1 2 10\n").length_to_si = 0.3048;
  EXPECT_THAT(make().upward, ElementsAre(3.048));
  set("s.loc", "3\n1 2 3\n4 5 -99999\n4 5 -99999\n");
  EXPECT_THAT(message(),
              HasSubstr("has -99999 as a place, which looks like a dummy, a number that stands for none, in 2 rows"));
  set("s.obs", text).z_down = true;
  EXPECT_THAT(message(), HasSubstr("observations.stations.axis_z: is down, but 's.obs' is a file of UBC"));
  set("s.obs", text).columns = {"x", "y", "z", "-", "-"};
  EXPECT_THAT(message(), HasSubstr("observations.stations.columns: 's.obs' begins with the number of its rows"));
  set("s.obs", text).upward = 80.0;
  EXPECT_THAT(make().upward, ElementsAre(80, 80));
  set("s.obs", "datacomp=uxx\n2\n");
  EXPECT_THAT(message(), HasSubstr("is a UBC file of gradients (GG3D); it is not read"));
  set("s.obs", "1 2 3 .5\n4 5 6 .7\n").columns = {"x", "y", "z", "-"};
  EXPECT_EQ(make().size(), 2);
}

TEST_F(StationsTest, NoteAnotherInducingFieldThanTheCases) {
  set("s.mag", "60 3 50000\n60 3 1\n1\n10 20 30\n");
  const auto noted = [&](double intensity) {
    m_run.magnetic.inducing_field = vector_of(60, 3, intensity);
    (void)make();
    return notes();
  };
  EXPECT_THAT(noted(48000e-9), ::testing::IsEmpty());
  m_run.fields = {Field::tmi};
  EXPECT_THAT(noted(48000e-9),
              ElementsAre(::testing::HasSubstr("'s.mag' states an inducing field of inclination 60, declination 3, "
                                               "intensity 50000 nT, which is not read; magnetic.inducing_field of the "
                                               "case is inclination 60, declination 3, intensity 48000 nT")));
  EXPECT_THAT(noted(50000e-9), ::testing::IsEmpty());
}

TEST_F(StationsTest, OfAResultAreItsPoints) {
  PointFields fields;
  fields.points = make_grid(Axis{0, 1, 3}, {5, 6, 2}, 30.0);
  const auto path = m_folder / "r.h5";
  WriteSpec spec;
  spec.file = path;
  static_cast<void>(write_content(spec, fields));
  m_run.observations = StationsFile(path);
  Points points = make();
  EXPECT_TRUE(points.is_grid());
  EXPECT_EQ(points.easting, fields.points.easting);
  EXPECT_EQ(points.rounding, fields.points.rounding);
  StationColumns own;
  EXPECT_EQ(make_points(m_run, {}, {}, m_notes, nullptr, &own).easting, points.easting);
  EXPECT_TRUE(own.names.empty());
  std::get<StationsFile>(m_run.observations).upward = 7.0;
  EXPECT_THAT(make().upward, ::testing::Each(7));
  std::get<StationsFile>(m_run.observations).length_to_si = 1000;
  EXPECT_THAT(message(), HasSubstr("observations.stations.length_unit: is for tables; 'r.h5' says itself"));
  MadeHdf5(m_folder / "s.h5").close();
  m_run.observations = StationsFile{m_folder / "s.h5"};
  EXPECT_THAT(message(), HasSubstr("is HDF5 or netCDF, but holds no points"));
}

}  // namespace
}  // namespace prismfield::test_station_file
