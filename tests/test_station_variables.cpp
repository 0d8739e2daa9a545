// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/output_check.hpp"
#include "folder_test.hpp"
#include "result_samples.hpp"
#include "writers/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace prismfield::test_station_variables {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing_samples;

class StationVariables : public FolderTest {
protected:
  /// Writes the result at the stations of a text; what users are told of.
  std::vector<std::string> write(const std::string& text) {
    std::ofstream(path("s.csv")) << text;
    StationsFile spec(path("s.csv"));
    spec.upward = m_upward;
    std::vector<std::string> notes;
    StationColumns columns;
    const Points points = read_stations({spec.file, "", ""}, spec, notes, &columns);
    Case run = sample_case(path("out.nc"), {Field::gz});
    ResultHeader header = result_header(run);
    header.stations = &columns;
    return write_result(header, points, sample_result(points, run.fields), {});
  }
  [[nodiscard]] Hdf5File result() const { return Hdf5File::open(path("out.nc")); }

  decltype(StationsFile::upward) m_upward;
};

TEST_F(StationVariables, HoldTheColumnsOfTheFile) {
  EXPECT_THAT(write("Station id;x;y;z;CBA [mGal];gz;9th;flag;case;GZZ\n"
                    "A1;1;2;3;-12.5;.5;1;a;1;8\nB\x1b;1;2;*;1;1;1;1;1;1\n\"C;3\";4;5;6;*;.25;;7;2;9\n"),
              IsEmpty());
  const Hdf5File file = result();
  EXPECT_EQ(file.shape("Station_id"), std::vector<std::int64_t>{2});
  EXPECT_THAT(file.dimension_names("Station_id"), ElementsAre("station"));
  EXPECT_EQ(file.read("CBA")[0], -12.5);
  EXPECT_TRUE(std::isnan(file.read("CBA")[1]));
  EXPECT_EQ(file.read_text_attribute("CBA", "units"), "mGal");
  EXPECT_EQ(file.read_text_attribute("CBA", "coordinates"), "easting northing upward");
  EXPECT_EQ(file.read_text_attribute("Station_id", "long_name"), "Station id of the station file");
  EXPECT_THAT(file.read("gz_file"), ElementsAre(.5, .25));
  EXPECT_NE(file.read("gz")[0], .5);
  // a field that was not computed
  EXPECT_THAT(file.read("GZZ_file"), ElementsAre(8, 9));
  EXPECT_EQ(file.read("_9th")[0], 1);
  EXPECT_TRUE(std::isnan(file.read("_9th")[1]));
  EXPECT_THAT(file.read("case_file"), ElementsAre(1, 2));
  // the letter of the first row makes it text
  EXPECT_TRUE(file.has("flag"));
  EXPECT_ANY_THROW((void)file.read("flag"));
  for (const char* place : {"x", "y", "z"}) EXPECT_FALSE(file.has(place)) << place;
}

TEST_F(StationVariables, KeepTheHeightsThatAreNotUsed) {
  m_upward = 80.0;
  EXPECT_THAT(write("upward,x,y\n1,2,3\n4,5,6\n"), IsEmpty());
  EXPECT_THAT(result().read("upward"), ElementsAre(80, 80));
  EXPECT_THAT(result().read("upward_file"), ElementsAre(1, 4));
}

}  // namespace
}  // namespace prismfield::test_station_variables
