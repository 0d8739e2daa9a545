// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "case/output_check.hpp"
#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "readers/compare_results.hpp"
#include "readers/point_fields.hpp"
#include "readers/station_file.hpp"
#include "result_samples.hpp"
#include "writers/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace prismfield::test_result_table {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace testing_samples;

class ResultTableTest : public FolderTest {
protected:
  /// A case whose stations are those of a file with this text, and its points.
  Points stations(const std::string& text, const std::string& name = "stations.csv") {
    std::ofstream(path(name), std::ios::binary) << text;
    m_run.observations = StationsFile{path(name)};
    return of_file(name);
  }
  /// The stations of a file of the folder.
  Points of_file(const std::string& name) {
    std::vector<std::string> notes;
    m_columns = {};
    return read_stations({path(name), "case.yaml:3", "observations.stations.file"}, StationsFile(path(name)), notes,
                         &m_columns);
  }
  /// Writes a result of these fields to a file of the folder; what users are told of.
  std::vector<std::string> write(const std::string& name, const Points& points, FieldList fields) {
    m_run.output.file = path(name);
    m_run.fields = fields;
    ResultHeader header = result_header(m_run);
    if (!m_columns.names.empty()) header.stations = &m_columns;
    return write_result(header, points, sample_result(points, fields), {});
  }
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> found;
    std::ifstream in(path(name));
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }
  /// The numbers behind the given number of columns of a row.
  static std::vector<double> numbers(const std::string& line, int skipped, char separator) {
    std::vector<double> found;
    std::istringstream in(line);
    for (std::string word; std::getline(in, word, separator);) {
      if (skipped-- <= 0) found.push_back(std::stod(word));
    }
    return found;
  }
  [[nodiscard]] PointFields table(const std::string& name) const {
    std::vector<std::string> notes;
    return read_point_table({path(name), "", ""}, {}, notes);
  }
  [[nodiscard]] std::string refusal(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    try {
      static_cast<void>(table(name));
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  Case m_run = sample_case("");
  /// of the stations that were read last
  StationColumns m_columns;
};

TEST(ResultKinds, GoBySuffix) {
  for (const char* name : {"a.nc", "a.h5", "b.c/a.NC"}) EXPECT_EQ(result_kind(name), ResultKind::hdf5) << name;
  EXPECT_EQ(result_kind("a.csv"), ResultKind::csv);
  EXPECT_EQ(result_kind("a.CSV"), ResultKind::csv);
  EXPECT_EQ(result_kind("a.xyz"), ResultKind::xyz);
  for (const char* name : {"a", "a.txt", "a.csv.gz", ".csv", "csv", "a.nc4", "a.hdf5", "a.csv/b", "a."}) {
    EXPECT_FALSE(result_kind(name)) << name;
  }
}

TEST_F(ResultTableTest, AGridIsWrittenEastingFastest) {
  const Points points = grid_points(3, 2, 0.1);
  EXPECT_THAT(write("grid.csv", points, {Field::gz, Field::potential, Field::gxx}), IsEmpty());
  EXPECT_EQ(names(), std::set<std::string>{"grid.csv"});
  const auto rows = lines("grid.csv");
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0], "easting,northing,upward,potential [m2 s-2],gz [mGal],gxx [Eotvos]");
  EXPECT_THAT(rows[3], StartsWith("0.2,0,100,"));
  EXPECT_THAT(rows[4], StartsWith("0,0.1,100,"));
  const Fields result = sample_result(points, m_run.fields);
  const auto gz = output_values(result_header(m_run), result, Field::gz);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(numbers(rows[i + 1], 3, ',').at(1), gz[i]) << rows[i + 1];
}

TEST_F(ResultTableTest, KeepsTheStationFilesColumns) {
  const std::string text =
      "\xEF\xBB\xBFLine,\"station, id\",Easting,NORTHING,height,gz\r\n"
      "# a comment\r\n"
      "L1, 007 ,100.50,-2e2,30.00,0.5\r\n"
      "\r\n"
      "\"L 2\",\"a,b\",5000000,1,+2,\n"
      "L3,#3,.5,1,2,7 # seen\n";
  const Points points = stations(text);
  EXPECT_THAT(write("out.csv", points, {Field::gz, Field::gxx}),
              ElementsAre(HasSubstr("in the result they are gz_file")));
  const auto rows = lines("out.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "Line,\"station, id\",Easting,NORTHING,height,gz_file,gz [mGal],gxx [Eotvos]");
  EXPECT_THAT(rows[1], StartsWith("L1,007,100.50,-2e2,30.00,0.5,"));
  EXPECT_THAT(rows[2], StartsWith("\"L 2\",\"a,b\",5000000,1,+2,,"));
  EXPECT_THAT(rows[3], StartsWith("L3,#3,.5,1,2,7 # seen,"));
  EXPECT_EQ(numbers(rows[1], 6, ',').size(), 2U);

  // It is a station file again, of the same stations, and can be compared.
  const Points again = of_file("out.csv");
  EXPECT_EQ(again.easting, points.easting);
  EXPECT_EQ(again.upward, points.upward);
  write("out.nc", points, {Field::gz, Field::gxx});
  const Comparison comparison = compare_results(path("out.csv"), path("out.nc"));
  EXPECT_TRUE(within(comparison, 0)) << report(comparison, 0);
  EXPECT_EQ(comparison.fields.size(), 2U);
}

TEST_F(ResultTableTest, KeepsSemicolonsAndTurnsBlanksIntoCommas) {
  Points points = stations("x;easting;northing;upward\na b;1;2;3\n");
  write("out.csv", points, {Field::gz});
  EXPECT_EQ(lines("out.csv")[0], "x;easting;northing;upward;gz [mGal]");
  EXPECT_THAT(lines("out.csv")[1], StartsWith("a b;1;2;3;"));
  points = stations("# id easting northing upward\n\"a,b\" 1 2 3\na;b 4 5 6\n");
  write("out.csv", points, {Field::gz});
  EXPECT_EQ(lines("out.csv")[0], "id,easting,northing,upward,gz [mGal]");
  EXPECT_THAT(lines("out.csv")[1], StartsWith("\"a,b\",1,2,3,"));
  EXPECT_THAT(lines("out.csv")[2], StartsWith("\"a;b\",4,5,6,"));
  points = stations("1,2,3\n4,5,6\n");
  write("out.csv", points, {Field::gz});
  EXPECT_EQ(lines("out.csv")[0], "easting,northing,upward,gz [mGal]");
  EXPECT_THAT(lines("out.csv")[2], StartsWith("4,5,6,"));
}

TEST_F(ResultTableTest, XyzIsBlanksBelowComments) {
  m_run.title = "Line 1\nheight easting";
  m_run.axes = Axes::z_up;
  const Points points =
      stations("id,easting,northing,upward,my note,line,drift\nA 1,1,2,3,,10,*\n#2,4,5,6,x,1,2\n\"B\",7,8,9,y,10,\n");
  write("out.xyz", points, {Field::gz, Field::potential});
  const auto rows = lines("out.xyz");
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0], "# Line 1 height easting");
  EXPECT_THAT(rows[1], StartsWith("# prismfield "));
  EXPECT_THAT(rows[2], AllOf(StartsWith("# 2"), HasSubstr("prismfield run sample.yaml")));
  EXPECT_THAT(rows[3], StartsWith("# axes z_up, gravitational_constant "));
  EXPECT_EQ(rows[4], "# easting northing upward line drift potential[m2_s-2] gz[mGal] id my_note");
  // GMT takes what follows a text for text
  EXPECT_THAT(rows[5], AllOf(StartsWith("1 2 3 10 NaN "), EndsWith(" \"A 1\" \"\"")));
  EXPECT_THAT(rows[6], AllOf(StartsWith("7 8 9 10 NaN "), EndsWith(" \"B\" y")));
  const Points again = of_file("out.xyz");
  EXPECT_EQ(again.northing, points.northing);
  write("out.h5", points, {Field::gz, Field::potential});
  EXPECT_TRUE(within(compare_results(path("out.xyz"), path("out.h5")), 0));
}

TEST_F(ResultTableTest, EveryNumberReadsBackAsItWas) {
  Points points = station_points(12);
  const std::vector<double> hard{0.1,
                                 1.0 / 3,
                                 5e6,
                                 123456789.123456789,
                                 9007199254740994.0,
                                 1e16,
                                 1e19,
                                 -9.876543210987654e19,
                                 4.9406564584124654e-324,
                                 -2.2250738585072014e-308,
                                 1e-5,
                                 -9.999999999999999e-6};
  points.easting = hard;
  write("out.csv", points, {Field::gx});
  const auto rows = lines("out.csv");
  EXPECT_THAT(rows[3], StartsWith("5000000,"));
  EXPECT_EQ(table("out.csv").points.easting, hard);
}

TEST_F(ResultTableTest, WritesNoiseAndSingularPoints) {
  const Points points = station_points(4);
  m_run.noise = NoiseSpec{{{Field::gz, 0.25}}, 7};
  m_run.output.file = path("out.csv");
  m_run.fields = {Field::gz, Field::gzz};
  Fields result = sample_result(points, m_run.fields);
  result.singular_points = {0, 3};
  write_result(result_header(m_run), points, result, {});
  const auto rows = lines("out.csv");
  EXPECT_EQ(rows[0], "easting,northing,upward,gz [mGal],gz_sigma [mGal],gzz [Eotvos],singular");
  const auto gz = output_values(result_header(m_run), result, Field::gz);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto row = numbers(rows[i + 1], 3, ',');
    EXPECT_EQ(row.at(0), gz[i]);
    EXPECT_EQ(row.at(1), 0.25);
    EXPECT_EQ(row.at(3), i == 0 || i == 3 ? 1 : 0);
  }
}

TEST_F(ResultTableTest, AResultAsTheStationFileKeepsBoth) {
  Points points = stations("easting,northing,upward\n1,2,3\n4,5,6\n");
  write("first.csv", points, {Field::gz});
  points = stations(content(path("first.csv")), "second.csv");
  m_run.axes = Axes::z_up;
  EXPECT_THAT(write("out.csv", points, {Field::gz}), ElementsAre(HasSubstr("in the result they are gz_file [mGal]")));
  EXPECT_EQ(lines("out.csv")[0], "easting,northing,upward,gz_file [mGal],gz [mGal]");
  // what was computed last is the one that counts
  const auto gz = output_values(result_header(m_run), sample_result(points, {Field::gz}), Field::gz);
  const PointFields read = table("out.csv");
  ASSERT_EQ(read.fields, FieldList{Field::gz});
  EXPECT_EQ(read.values[0], gz);
}

TEST_F(ResultTableTest, NoColumnOfTheFileIsTakenForAField) {
  // other spellings, fields that this run has not, a second generation, names of xyz files
  const Points points =
      stations("easting,northing,upward,GZ (mGal),gz_file,gzz[Eotvos],gxx_sigma,singular,g\n1,2,3,4,5,6,7,8,9\n");
  EXPECT_THAT(write("out.csv", points, {Field::gz}),
              ElementsAre(HasSubstr("GZ_file_2 [mGal], gzz_file [Eotvos], gxx_sigma_file, singular_file")));
  EXPECT_EQ(
      lines("out.csv")[0],
      "easting,northing,upward,GZ_file_2 [mGal],gz_file,gzz_file [Eotvos],gxx_sigma_file,singular_file,g,gz [mGal]");
  EXPECT_EQ(table("out.csv").fields, FieldList{Field::gz});
}

TEST_F(ResultTableTest, AStationFileThatChangesLaterIsAsItWas) {
  const Points points = stations("id,easting,northing,upward\na,1,2,3\nb,4,5,6\n");
  std::ofstream(path("stations.csv")) << "gone\n";
  EXPECT_THAT(write("out.csv", points, {Field::gz}), IsEmpty());
  EXPECT_EQ(lines("out.csv")[0], "id,easting,northing,upward,gz [mGal]");
  EXPECT_THAT(lines("out.csv")[2], StartsWith("b,4,5,6,"));
}

TEST_F(ResultTableTest, ReadsTablesOfOtherPrograms) {
  std::ofstream(path("other.csv")) << "upward,gz,northing,easting,gx\n3,0.5,2,1,nan\n6,,5,4,7\n";
  const PointFields read = table("other.csv");
  EXPECT_THAT(read.points.easting, ElementsAre(1, 4));
  ASSERT_EQ(read.fields, (FieldList{Field::gx, Field::gz}));
  EXPECT_TRUE(std::isnan(read.values[0][0]));
  EXPECT_EQ(read.values[1][0], 0.5);
  EXPECT_TRUE(std::isnan(read.values[1][1]));
  EXPECT_EQ(refusal("bad.csv", "easting,northing,upward,gz\n1,2,3,4\n1,2,3,four\n"),
            path("bad.csv").string() + ":3: gz: 'four' is not a number");
  EXPECT_THAT(refusal("bad.csv", "easting,northing,gz\n1,2,3\n"), HasSubstr("missing column upward"));
  EXPECT_THAT(refusal("bad.xyz", ""), HasSubstr("is empty"));
}

}  // namespace
}  // namespace prismfield::test_result_table
