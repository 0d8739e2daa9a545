// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/hdf5_file.hpp"
#include "points_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PointsTest;

using StationsTest = PointsTest;

TEST_F(StationsTest, AreReadFromATable) {
  for (const char* text : {"1,2,3\n4,5,-6\n", "upward;easting;northing;name\n3;1;2;A\n-6;4;5;B\n",
                           "easting northing height\n1 2 3\n4 5 -6"}) {
    m_run.observations = StationsFile{m_folder.write("s.csv", text)};
    const Points p = make();
    EXPECT_FALSE(p.is_grid());
    EXPECT_THAT(p.easting, ElementsAre(1, 4));
    EXPECT_THAT(p.northing, ElementsAre(2, 5));
    EXPECT_THAT(p.upward, ElementsAre(3, -6));
  }
}

TEST_F(StationsTest, ThatAreWrongAreNamed) {
  m_run.observations = StationsFile{m_folder.write("s.csv", "easting,northing,upward\n1,2,3\n1,NaN,3\n1,2\n")};
  EXPECT_EQ(message(), "s.csv:3: northing: 'NaN' is not finite\ns.csv:4: 2 columns, 3 are needed");
  m_run.observations = StationsFile{m_folder.write("s.csv", "x,y,z\n1,2,3\n")};
  EXPECT_THAT(message(),
              HasSubstr("s.csv:1: missing columns easting, northing, upward; the columns are 'x', 'y', 'z'"));
  m_run.observations = StationsFile{m_folder / "none.csv"};
  EXPECT_EQ(message(), "case.yaml:9: observations.stations.file: 'none.csv' cannot be read: there is no such file");
  Hdf5File::create(m_folder / "s.h5").close();
  m_run.observations = StationsFile{m_folder / "s.h5"};
  EXPECT_THAT(message(), HasSubstr("is HDF5 or netCDF; stations are read from text"));
}

}  // namespace
}  // namespace prismfield
