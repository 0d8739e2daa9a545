// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/observed_data.hpp"

#include <prismfield/request.hpp>

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "model/axis.hpp"
#include "scratch_folder.hpp"
#include "writers/result_file.hpp"
#include "writers/write_content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace prismfield::test_observed_data {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::mistakes;
using ::testing::Not;
using testing::ScratchFolder;
using ::testing::SizeIs;

constexpr FieldList gz{Field::gz};
constexpr FieldList gz_and_gxx{Field::gz, Field::gxx};

class ObservedData : public ::testing::Test {
protected:
  DataSet read(const std::string& name) {
    m_spec.file = m_folder / name;
    return read_observed_data({m_spec.file, "case.yaml:9", "inversion.data.file"}, m_spec, m_defaults, m_notes);
  }
  DataSet of(std::string_view text, const std::string& name = "d.csv") {
    m_folder.write(name, text);
    return read(name);
  }
  std::string message(const std::string& name) {
    return m_folder.removed_from(mistakes([&] { (void)read(name); }));
  }
  std::string mistakes_of(std::string_view text, const std::string& name = "d.csv") {
    m_folder.write(name, text);
    return message(name);
  }
  void rule(const std::map<Field, double>& relative, const std::map<Field, double>& floor) {
    m_defaults.sigma = SigmaRule{relative, floor};
  }

  ScratchFolder m_folder;
  ObservedDataFile m_spec;
  ObservedDefaults m_defaults;
  std::vector<std::string> m_notes;
};

/// A result of `fields` at these points, in which every value tells its field and point, with noise.
struct Result {
  Points points;
  Fields fields;
  ResultHeader header;
};

Result result_at(const Points& points, FieldList fields, Axes axes) {
  Result result;
  result.points = points;
  result.fields.fields = fields;
  result.header.axes = axes;
  result.header.noise = NoiseSpec{};
  for (const FieldInfo& field : fields) {
    result.header.noise->sigma[field.field] = 0.5 + static_cast<double>(field.field);
    for (std::int64_t i = 0; i < points.size(); ++i) {
      result.fields.values.push_back(std::sin(static_cast<double>(i) + static_cast<double>(field.field)) / field.scale);
    }
  }
  return result;
}

Points grid() {
  Points points;
  points.grid_easting = grid_points({-1, 0.3, 14});
  points.grid_northing = grid_points({5000, 5200, 3});
  points.rounding = {rounding_of_edges(points.grid_easting), rounding_of_edges(points.grid_northing), 0};
  for (const double y : points.grid_northing) {
    for (const double x : points.grid_easting) {
      points.easting.push_back(x);
      points.northing.push_back(y);
      points.upward.push_back(0.1 * x + y);
    }
  }
  return points;
}

Points stations() {
  Points points;
  points.easting = {1, 2.5, 1, 0.1};
  points.northing = {-7, 1e6, -7, 1.0 / 3};
  points.upward = {100, 0, 100, -0.25};
  return points;
}

/// What a run writes is read as what it wrote, to the rounding of the units.
TEST_F(ObservedData, AreAResultOfARun) {
  for (const char* name : {"r.h5", "r.nc", "r.csv", "r.xyz"}) {
    for (const bool on_grid : {true, false}) {
      for (const Axes axes : {Axes::z_down, Axes::z_up}) {
        SCOPED_TRACE(std::string(name) + (on_grid ? " grid" : " stations"));
        Result result = result_at(on_grid ? grid() : stations(), FieldList::all(), axes);
        result.header.file = m_folder / name;
        write_result(result.header, result.points, result.fields, {});
        const bool is_table = std::string_view(name).ends_with("csv") || std::string_view(name).ends_with("xyz");
        // a csv does not say its axes, others do, whatever the case has
        m_defaults.axes = std::string_view(name).ends_with("csv") ? axes : Axes::z_up;
        const DataSet data = read(name);
        EXPECT_EQ(data.name, name);
        EXPECT_EQ(data.fields, FieldList::all());
        EXPECT_EQ(data.points.easting, result.points.easting);
        EXPECT_EQ(data.points.northing, result.points.northing);
        EXPECT_EQ(data.points.upward, result.points.upward);
        if (!is_table) {
          EXPECT_EQ(data.points.grid_easting, result.points.grid_easting);
          EXPECT_EQ(data.points.grid_northing, result.points.grid_northing);
          EXPECT_EQ(data.points.rounding, result.points.rounding);
        }
        ASSERT_EQ(data.size(), 10 * result.points.size());
        ASSERT_EQ(static_cast<std::int64_t>(data.values.size()), data.size());
        ASSERT_EQ(static_cast<std::int64_t>(data.sigma.size()), data.size());
        std::size_t at = 0;
        for (const FieldInfo& field : FieldList::all()) {
          const std::vector<double> written = output_values(result.header, result.fields, field.field);
          for (const double value : written) {
            // one rounding for each unit
            EXPECT_DOUBLE_EQ(data.values[at], value / output_factor(field.field, axes));
            EXPECT_DOUBLE_EQ(data.sigma[at++], (0.5 + static_cast<double>(field.field)) / field.scale);
          }
        }
      }
    }
  }
}

TEST_F(ObservedData, TurnTheSignsOfWhatPointsAlongZ) {
  const char* const text = "easting,northing,upward,gx,gz,gxz,gzz\n1,2,3,1,2,3,4\n";
  rule({}, {{Field::gx, 1}, {Field::gz, 1}, {Field::gxz, 1}, {Field::gzz, 1}});
  EXPECT_THAT(of(text).values, ElementsAre(1e-5, -2e-5, 4e-9, -3e-9));
  m_defaults.axes = Axes::z_up;
  EXPECT_THAT(of(text).values, ElementsAre(1e-5, 2e-5, 4e-9, 3e-9));
  m_spec.axes = Axes::z_down;
  EXPECT_THAT(of(text).values, ElementsAre(1e-5, -2e-5, 4e-9, -3e-9));
}

TEST_F(ObservedData, OfATableHaveNamesAndUnits) {
  const auto expect = [&](std::string_view text) {
    const DataSet data = of(text);
    EXPECT_EQ(data.fields, gz);
    EXPECT_THAT(data.points.easting, ElementsAre(1, 10)) << text;
    EXPECT_THAT(data.points.upward, ElementsAre(3, 30)) << text;
    EXPECT_THAT(data.values, ElementsAre(-4e-5, -40e-5)) << text;
    EXPECT_THAT(data.sigma, ElementsAre(0.5e-5, 0.25e-5)) << text;
    EXPECT_FALSE(data.points.is_grid());
  };
  expect("easting,northing,upward,gz,gz_sigma\n1,2,3,4,.5\n10,20,30,40,.25\n");
  expect("X [m],Y (m),Z,name,gz [mGal],sigma_gz (mGal)\n1,2,3,a,4,.5\n10,20,30,b,40,.25\n");
  expect("sigma;elevation;gz;northing;easting;\n.5;3;4;2;1;\n.25;30;40;20;10;\n");
  expect("# observed in 2024\n# easting northing upward gz_[mGal] gz_sigma[mGal]\n1 2 3 4 .5\n10 20 30 40 .25\n");
  expect("x y height GZ [mGal] sigma\n1 2 3 4 .5\n10 20 30 40 .25\n");
  m_spec.columns = {"x", "y", "z", "-", "gz (mGal)", "-", "sigma"};
  expect("1,2,3,9,4,a,.5\n10,20,30,9,40,b,.25\n");
  expect("x,y,z,gxx,gz,b,sigma\n1,2,3,9,4,a,.5\n10,20,30,9,40,b,.25\n");
  m_spec.length_to_si = 0.1;
  EXPECT_THAT(of("1,2,3,9,4,a,.5\n10,20,30,9,40,b,.25\n").points.northing, ElementsAre(2 * 0.1, 20 * 0.1));
}

TEST_F(ObservedData, AreTheFieldsOfTheFileOrThoseAskedFor) {
  const char* const text = "x,y,z,gxx,gxx_sigma,gz,gz_sigma,gy\n1,2,3,4,5,6,7,8\n";
  m_defaults.fields = gz_and_gxx;
  const DataSet both = of(text);
  EXPECT_EQ(both.fields, gz_and_gxx);
  EXPECT_THAT(both.values, ElementsAre(-6e-5, 4e-9));
  EXPECT_THAT(both.sigma, ElementsAre(7e-5, 5e-9));
  m_spec.fields = gz;
  EXPECT_EQ(of(text).fields, gz);
  // what is not asked for may be anything
  EXPECT_EQ(of("x,y,z,gxx,gz,gz_sigma\n1,2,3,-,6,7\n").fields, gz);
  m_spec.fields = FieldList{Field::gz, Field::gyz};
  EXPECT_EQ(
      mistakes_of(text),
      "case.yaml:9: inversion.data.file: 'd.csv' has no gyz, which inversion.data.fields asks for; it has gz, gxx, "
      "gxx_sigma, gy");
  m_spec.fields.reset();
  m_defaults.fields = FieldList{Field::gyz};
  EXPECT_THAT(mistakes_of(text), HasSubstr("has no gyz, which fields (or, for this file, inversion.data.fields)"));
  m_defaults.fields.reset();
  EXPECT_THAT(mistakes_of(text),
              AllOf(HasSubstr("has no gy_sigma; add it, or state inversion.sigma"), HasSubstr("floor: {gy: 0.05}"),
                    HasSubstr("choose the fields by inversion.data")));
}

TEST_F(ObservedData, HaveStandardDeviationsByTheRule) {
  const char* const text = "x,y,z,gz,gz_sigma,gxx,gxx_sigma\n1,2,3,-4,x,5,9\n1,2,3,0,0,-10,8\n";
  rule({{Field::gz, 0.5}}, {{Field::gz, 0.125}});
  // the file's, where the rule says nothing of a field
  const DataSet data = of(text);
  EXPECT_THAT(data.sigma, ElementsAre(2.125e-5, 0.125e-5, 9e-9, 8e-9));
  rule({{Field::gz, 0.5}, {Field::gxx, 0.1}}, {});
  EXPECT_EQ(
      mistakes_of(text),
      "d.csv:3: inversion.sigma: a standard deviation of 0; it must be above 0 and finite: give inversion.sigma a "
      "floor");
  // a column that nobody needs is not looked at
  rule({}, {{Field::gz, 1}, {Field::gxx, 1}});
  EXPECT_THAT(of("x,y,z,gz,gxx,sigma\n1,2,3,4,5,6\n").sigma, ElementsAre(1e-5, 1e-9));
}

TEST_F(ObservedData, OfATableAreRefusedByLine) {
  const std::string all = mistakes_of(
      "x,y,z,gz,gz_sigma\n1,2,3,nan,1\n1,2,3,4\n1,2,3,4,0\n1,2,3,4,-1\n1,2,3,a,b\n1e13,2,3,4,1\n1,2,3,4,1e-320\n");
  EXPECT_EQ(lines_in(all), 4U) << all;
  EXPECT_THAT(
      all, AllOf(HasSubstr("d.csv:2: gz: 'nan' is not finite"), HasSubstr("d.csv:3: 4 columns, but the header names 5"),
                 HasSubstr("d.csv:6: gz: 'a' is not a number"), HasSubstr("d.csv:6: gz_sigma: 'b' is")));
  const std::string values =
      mistakes_of("x,y,z,gz,gz_sigma\n1,2,3,4,0\n1,2,3,4,-1\n1e13,2,3,4,1\n1,2,3,4,1e-320\n1,2,3,4,5\n");
  EXPECT_EQ(lines_in(values), 4U) << values;
  EXPECT_THAT(values, AllOf(HasSubstr("d.csv:2: gz_sigma: a standard deviation of 0; it must be above 0"),
                            HasSubstr("d.csv:3: gz_sigma: a standard deviation of -1"), HasSubstr("d.csv:4: easting: "),
                            HasSubstr("d.csv:5: gz_sigma:")));
}

TEST_F(ObservedData, ThatStandForNoneAreRefused) {
  EXPECT_EQ(
      mistakes_of("x,y,z,gz,gz_sigma\n1,2,3,-99999,1\n1,2,3,4,99999\n1,2,3,-9999.0,1\n1,2,3,1.70141e38,1\n"),
      "d.csv:2: gz: -99999 looks like a dummy, a number that stands for none; leave the point out of the file\n"
      "d.csv:4: gz: -9999 looks like a dummy, a number that stands for none; leave the point out of the file\n"
      "d.csv:5: gz: 1.70141e+38 looks like a dummy, a number that stands for none; leave the point out of the file");
  EXPECT_THAT(of("x,y,z,gz,gz_sigma\n1,2,3,9000,1\n2,2,3,9999,1\n3,2,3,12000,1\n").values, SizeIs(3));
  EXPECT_THAT(mistakes_of("1\n1 2 3 99999 1\n", "d.obs"),
              HasSubstr("gz: point 0 (easting 1, northing 2): 99999 looks like a dummy"));
}

TEST_F(ObservedData, AreToldInAPageWhenManyAreWrong) {
  std::string text = "x,y,z,gz,gz_sigma\n";
  for (int i = 0; i < 1000; ++i) text += "1,2,3,4,0\n";
  const std::string message = mistakes_of(text);
  EXPECT_EQ(lines_in(message), 21U);
  EXPECT_THAT(message, HasSubstr("d.csv: 980 more of this kind: standard deviations that are not above 0"));
}

TEST_F(ObservedData, OfATableComeInOtherUnitsAndSpellings) {
  const auto values_of = [&](const std::string& header) {
    const DataSet data = of(header + "\n1,2,3,0.3,0.7\n");
    return std::pair(data.values.at(0), data.sigma.at(0));
  };
  m_defaults.axes = Axes::z_up;
  for (const char* const header : {"x,y,z,gz [m/s2],gz_sigma [m/s2]", "x,y,z,G_Z (m s^-2),sigma [m/s2]",
                                   "x,y,z,g_z [M/S2],sigma_gz [m s-2]", "x,y,z,gz [m/s2],SigmaGz [m/s2]"}) {
    const auto [value, sigma] = values_of(header);
    EXPECT_DOUBLE_EQ(value, 0.3) << header;
    EXPECT_DOUBLE_EQ(sigma, 0.7) << header;
  }
  // a deviation without a unit has that of its field
  for (const char* const header : {"x,y,z,gz [m/s2],gz_sigma", "x,y,z,gz [m/s2],sigma"}) {
    EXPECT_DOUBLE_EQ(values_of(header).second, 0.7) << header;
  }
  // value and sigma may differ in their units
  const auto [value, sigma] = values_of("x,y,z,gz [gu],sigma [uGal]");
  EXPECT_DOUBLE_EQ(value, 0.3e-6);
  EXPECT_DOUBLE_EQ(sigma, 0.7e-8);
  // the unit of the output, in any spelling, changes no bit
  EXPECT_EQ(values_of("x,y,z,gz [MGAL],sigma"), values_of("x,y,z,gz,gz_sigma"));
}

TEST_F(ObservedData, OfATableAreRefusedForTheirColumns) {
  EXPECT_EQ(mistakes_of("x,y,z,gz [foo],gz_sigma (m)\n1,2,3,4,5\n"),
            "d.csv:1: column gz is in 'foo'; mGal, uGal, Gal, m/s2, um/s2 (gu) or nm/s2 is expected: change the "
            "numbers and the unit\n"
            "d.csv:1: column gz_sigma is in 'm'; mGal, uGal, Gal, m/s2, um/s2 (gu) or nm/s2 is expected: change the "
            "numbers and the unit");
  EXPECT_THAT(mistakes_of("x,y,z,gzz [mGal],sigma\n1,2,3,4,5\n"), HasSubstr("column gzz is in 'mGal'; Eotvos (E), 1"));
  EXPECT_THAT(mistakes_of("x,y,z,gz,sigma [1e-5]\n1,2,3,4,5\n"), HasSubstr("column sigma is in '1e-5'; mGal, "));
  EXPECT_THAT(mistakes_of("x [deg],y,z,gz,sigma\n1,2,3,4,5\n"),
              HasSubstr("column easting is in 'deg'; longitude and latitude are angles"));
  EXPECT_THAT(mistakes_of("longitude,latitude,height,gz,sigma\n1,2,3,4,5\n"), HasSubstr("project them first"));
  EXPECT_THAT(mistakes_of("x,y,z,gz,GZ [mGal],sigma\n1,2,3,4,4,5\n"), HasSubstr("column gz is given 2 times"));
  EXPECT_THAT(mistakes_of("x,y,z,gz,gzz,sigma\n1,2,3,4,4,5\n"),
              HasSubstr("column sigma may belong to gz, gzz; call it gz_sigma"));
  EXPECT_THAT(mistakes_of("x,y,z,gz,gz_sigma,sigma\n1,2,3,4,4,5\n"), HasSubstr("column sigma stands beside gz_sigma"));
  EXPECT_THAT(mistakes_of("x,z,gz,sigma\n1,2,3,4\n"), HasSubstr("missing column northing"));
  EXPECT_THAT(mistakes_of("x,y,z,name\n1,2,3,a\n"),
              AllOf(HasSubstr("has no measurements; potential, gx, "), HasSubstr("; it has name")));
  EXPECT_THAT(
      mistakes_of("x,y,z,boug\n1,2,3,4\n"),
      HasSubstr("; it has boug; if 'boug' is gz, write inversion.data.columns: [easting, northing, upward, gz]"));
  EXPECT_THAT(mistakes_of("name,x,y,z,boug,sigma\na,1,2,3,4,1\n"),
              HasSubstr("; if a column holds gz under another name, write gz there: inversion.data.columns: [\"-\", "
                        "easting, northing, upward, \"-\", sigma]"));
  EXPECT_EQ(mistakes_of("1,2,3,4\n"),
            "d.csv:1: 4 columns without names; name the columns in a header line or by inversion.data.columns");
  EXPECT_THAT(mistakes_of("x,y,z,gz,sigma\n"), HasSubstr("has a header but no data"));
  EXPECT_THAT(mistakes_of(""), HasSubstr("is empty"));
  m_spec.columns = {"x", "y", "z", "gz [g]", "sigma"};
  EXPECT_THAT(mistakes_of("1,2,3,4,5\n"),
              HasSubstr("case.yaml:9: inversion.data.columns: column gz is in 'g'; mGal, uGal"));
  m_spec.columns = {"x", "y", "z", "gz", "sigma"};
  EXPECT_THAT(mistakes_of("x,y,z,gz [kg],sigma\n1,2,3,4,5\n"), HasSubstr("d.csv:1: column gz is in 'kg'; mGal, uGal"));
  EXPECT_THAT(mistakes_of("y,x,z,gz,sigma\n1,2,3,4,5\n"), HasSubstr("the header calls column 1 y"));
  EXPECT_THAT(message("none.csv"), HasSubstr("there is no such file"));
}

TEST_F(ObservedData, OfUbcBeginWithTheirNumber) {
  const DataSet data =
      of("! by hand\n 2 ! stations\n1 2 3 -4e0 .5\n\n! E N Z gz sd\n10\t20 30 40 0.25 ! last\n", "d.obs");
  EXPECT_EQ(data.name, "d.obs");
  EXPECT_EQ(data.fields, gz);
  EXPECT_THAT(data.points.northing, ElementsAre(2, 20));
  EXPECT_THAT(data.values, ElementsAre(4e-5, -40e-5));
  EXPECT_THAT(data.sigma, ElementsAre(0.5e-5, 0.25e-5));
  // gz is down in the format, whatever the case's axes are
  m_defaults.axes = Axes::z_up;
  rule({}, {{Field::gz, 1}});
  const DataSet without = of("1\n1 2 3 4\n", "d.LOC");
  EXPECT_THAT(without.values, ElementsAre(-4e-5));
  EXPECT_THAT(without.sigma, ElementsAre(1e-5));
  // no number in front: a table of another program
  m_spec.columns = {"x", "y", "z", "gz"};
  EXPECT_THAT(of("1 2 3 4\n5 6 7 8\n", "d.obs").values, ElementsAre(4e-5, 8e-5));
}

TEST_F(ObservedData, OfUbcAreRefusedWithEveryMistake) {
  const std::string all = mistakes_of("3\n1 2 3 4 .5\n1 2 3 4\n1 2 x 4 .5\n1 2 3 4 5 6 7 8\n", "d.obs");
  EXPECT_THAT(all, AllOf(HasSubstr("d.obs:3: "), HasSubstr("d.obs:4: "), HasSubstr("d.obs:5: ")));
  EXPECT_THAT(mistakes_of("3\n1 2 3 4 5\n", "d.obs"), HasSubstr("3 stations"));
  EXPECT_THAT(mistakes_of("1\n1 2 3\n", "d.loc"), HasSubstr("has places alone"));
  EXPECT_THAT(mistakes_of("1\n1 2 3 4\n", "d.obs"), HasSubstr("has no gz_sigma; add it, or state inversion.sigma"));
  EXPECT_THAT(mistakes_of("1\n1 2 3 4 0\n", "d.obs"),
              HasSubstr("gz_sigma: point 0 (easting 1, northing 2): a standard"));
  EXPECT_THAT(mistakes_of("datacomp = gxx gyy\n1\n1 2 3 4 5\n", "d.obs"), HasSubstr("a UBC file of gradients"));
  m_spec.fields = FieldList{Field::gzz};
  EXPECT_THAT(mistakes_of("1\n1 2 3 4 5\n", "d.obs"), HasSubstr("has no gzz, which inversion.data.fields asks for; it "
                                                                "has gz"));
}

TEST_F(ObservedData, ThatMayBeOfUbcOrTomofastAreAskedFor) {
  rule({}, {{Field::gz, 1}});
  const std::string four = "2\n1 2 3 4\n5 6 7 8\n";
  EXPECT_EQ(
      mistakes_of(four, "d.txt"),
      "case.yaml:9: inversion.data.file: 'd.txt' begins with the number of its rows, as files of UBC (heights, mGal) "
      "and Tomofast (depths, m/s2) do: name it .obs if it is UBC's; if it is Tomofast's, prismfield convert d.txt "
      "d.csv --from tomofast-data makes a table of it (--field tmi: of nT)");
  EXPECT_THAT(mistakes_of(four, "d.csv"), HasSubstr("begins with the number of its rows"));
  for (const char* name : {"d.obs", "d.pre", "d.GRV"}) EXPECT_THAT(of(four, name).values, ElementsAre(-4e-5, -8e-5));
  // five columns are UBC's, six Tomofast's
  EXPECT_THAT(of("1\n1 2 3 4 .5\n", "d.dat").points.upward, ElementsAre(3));
  m_defaults.unknown = Unknown::magnetization;
  rule({}, {{Field::bx, 1}, {Field::by, 1}, {Field::bz, 1}});
  const DataSet components = of("1\n1 2 -3 4 5 6\n", "d.txt");
  EXPECT_EQ(components.fields, (FieldList{Field::bx, Field::by, Field::bz}));
  EXPECT_THAT(components.points.upward, ElementsAre(3));
  EXPECT_THAT(components.values,
              ElementsAre(::testing::DoubleEq(4e-9), ::testing::DoubleEq(5e-9), ::testing::DoubleEq(-6e-9)));
  m_spec.columns = {"x", "y", "z", "gz"};
  EXPECT_THAT(mistakes_of("1\n1 2 3 4\n", "d.obs"),
              HasSubstr("inversion.data.columns: 'd.obs' begins with the number of its rows, whose columns are known"));
}

constexpr std::string_view mag_rows = "2\n1 2 3 -4e0 .5\n10 20 30 40 0.25\n";

std::string mag(const std::string& anomaly, const std::string& field = "-62.5 11.25 48250") {
  return field + "\n" + anomaly + "\n" + std::string(mag_rows);
}

TEST_F(ObservedData, OfUbcSayWhichMagneticFieldTheyAre) {
  m_defaults.unknown = Unknown::susceptibility;
  m_defaults.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  for (const auto& [anomaly, field, sign] : {std::tuple{"-62.5 11.25 1", Field::tmi, 1},
                                             {"0 90 1", Field::bx, 1},
                                             {"0 0 1", Field::by, 1},
                                             {"90 0 1", Field::bz, -1},
                                             {"-90 0 1", Field::bz, 1}}) {
    const DataSet data = of(mag(anomaly), "d.mag");
    EXPECT_EQ(data.fields, FieldList{field}) << anomaly;
    // T, z up
    EXPECT_THAT(data.values, ElementsAre(sign * -4e-9, sign * 40e-9));
    EXPECT_THAT(data.sigma, ElementsAre(0.5e-9, 0.25e-9));
  }
  // as other programs round it
  EXPECT_EQ(of(mag("-62.50 11.25 1", "-62.50 11.25 48250.00"), "d.obs").fields, FieldList{Field::tmi});
  m_spec.fields = FieldList{Field::bx};
  EXPECT_THAT(mistakes_of(mag("-62.5 11.25 1"), "d.mag"), HasSubstr("has no bx, which inversion.data.fields asks for"));
}

TEST_F(ObservedData, HaveTheInducingFieldOfTheCase) {
  m_defaults.unknown = Unknown::susceptibility;
  EXPECT_THAT(mistakes_of(mag("-62.5 11.25 1"), "d.mag"),
              AllOf(HasSubstr("case.yaml:9: inversion.data.file: 'd.mag' has tmi, an anomaly along the inducing field"),
                    HasSubstr("write magnetic: {inducing_field: {inclination: -62.5, declination: 11.25, intensity: "
                              "48250}}")));
  // no anomaly along it
  EXPECT_EQ(of(mag("0 90 1"), "d.mag").fields, FieldList{Field::bx});
  m_defaults.inducing_field = vector_of(-62.5, 12, 48250e-9);
  const std::string differs =
      "states an inducing field of inclination -62.5, declination 11.25, intensity 48250 nT, but "
      "magnetic.inducing_field of the case is inclination -62.5, declination 12, intensity 48250 "
      "nT; correct one of them";
  EXPECT_THAT(mistakes_of(mag("-62.5 11.25 1"), "d.mag"), HasSubstr(differs));
  EXPECT_THAT(mistakes_of(mag("0 90 1"), "d.mag"), HasSubstr(differs));
  // in arrays, where the result of a run states it
  PointFields points;
  points.points = stations();
  points.fields = {Field::tmi};
  points.values = {{1, 2, 3, 4}};
  points.sigma = {{1, 1, 1, 1}};
  points.inducing_field = InducingField{-62.5, 11.25, 48250};
  WriteSpec write;
  write.file = m_folder / "r.h5";
  (void)write_content(write, points);
  EXPECT_THAT(message("r.h5"), HasSubstr(differs));
  m_defaults.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  EXPECT_THAT(read("r.h5").values, ElementsAre(1e-9, 2e-9, 3e-9, 4e-9));
  m_defaults.inducing_field = {};
  EXPECT_THAT(
      mistakes_of("easting,northing,upward,tmi,tmi_sigma\n1,2,3,4,5\n"),
      HasSubstr("and the case has none; write magnetic: {inducing_field: {inclination: -62.5, declination: 11.25, "
                "intensity: 48250}} with the Earth's field at the survey (degrees, nT)"));
}

/// Arrays that other programs wrote, or that were changed.
class ObservedArrays : public ObservedData {
protected:
  using Shape = std::vector<std::int64_t>;
  void write(const std::string& name, const Shape& shape, const std::vector<double>& values,
             const std::string& unit = "", const std::string& axes = "") {
    m_arrays.write("/" + name, shape, values.data());
    if (!unit.empty()) m_arrays.write_attribute("/" + name, "units", unit);
    if (!axes.empty()) m_arrays.write_attribute("/" + name, "axes", axes);
  }
  std::string message() {
    m_arrays.close();
    const std::string text = ObservedData::message("a.h5");
    m_arrays = MadeHdf5(m_folder / "a.h5");
    return text;
  }
  DataSet read() {
    m_arrays.close();
    DataSet data = ObservedData::read("a.h5");
    m_arrays = MadeHdf5(m_folder / "a.h5");
    return data;
  }
  void write_places() {
    write("easting", {2}, {1, 2});
    write("northing", {2}, {3, 4});
    write("upward", {2}, {5, 6});
  }

  MadeHdf5 m_arrays{m_folder / "a.h5"};
};

TEST_F(ObservedArrays, SayTheAxesOfEachFieldThemselves) {
  write_places();
  write("gz", {2}, {1, 2}, "mGal", "z_up");
  write("gxz", {2}, {1, 2}, "Eotvos", "z_down");
  write("gyz", {2}, {1, 2}, "Eotvos");
  rule({}, {{Field::gz, 1}, {Field::gxz, 1}, {Field::gyz, 1}});
  m_defaults.axes = Axes::z_down;
  EXPECT_THAT(read().values, ElementsAre(1e-5, 2e-5, -1e-9, -2e-9, -1e-9, -2e-9));
  write_places();
  write("gz", {2}, {1, 2}, "mGal", "z_up");
  m_spec.axes = Axes::z_down;
  EXPECT_THAT(read().values, ElementsAre(-1e-5, -2e-5));
}

TEST_F(ObservedArrays, OfGradientsHaveTheirUnitByEitherName) {
  write_places();
  write("gzz", {2}, {1, 2}, "1e-9 s-2");
  rule({}, {{Field::gzz, 1}});
  EXPECT_THAT(read().values, ElementsAre(1e-9, 2e-9));
  write_places();
  write("gzz", {2}, {1, 2}, "1e-6 s-2");
  // 1e-6 s-2 are 1000 Eotvos
  EXPECT_THAT(read().values, ElementsAre(1e-6, 2e-6));
}

TEST_F(ObservedArrays, AreNamedInAnySpellingAndComeInOtherUnits) {
  write_places();
  write("G_z", {2}, {0.5, -1.25}, "um/s2");
  write("sigma_gz", {2}, {0.1, 0.3}, "gu");
  const DataSet data = read();
  EXPECT_EQ(data.fields, FieldList{Field::gz});
  EXPECT_THAT(data.values, ElementsAre(DoubleEq(-0.05e-5), DoubleEq(0.125e-5)));
  EXPECT_THAT(data.sigma, ElementsAre(DoubleEq(0.01e-5), DoubleEq(0.03e-5)));
}

TEST_F(ObservedArrays, OnAGridComeInAnyOrder) {
  write("x", {3}, {30, 20, 10}, "m");
  write("y", {2}, {1, 2});
  m_arrays.make_dimension("/x");
  m_arrays.make_dimension("/y");
  write("gz", {3, 2}, {31, 32, 21, 22, 11, 12}, "mGal");
  write("gz_sigma", {2, 3}, {3, 2, 1, 6, 5, 4});
  m_arrays.attach_dimensions("/gz", {"/x", "/y"});
  m_arrays.attach_dimensions("/gz_sigma", {"/y", "/x"});
  write("elevation", {}, {80});
  m_defaults.axes = Axes::z_up;
  m_spec.length_to_si = 1;
  const DataSet data = read();
  EXPECT_THAT(data.points.grid_easting, ElementsAre(10, 20, 30));
  EXPECT_THAT(data.points.northing, ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(data.points.upward, ElementsAre(80, 80, 80, 80, 80, 80));
  EXPECT_THAT(data.values, ElementsAre(11e-5, 21e-5, 31e-5, 12e-5, 22e-5, 32e-5));
  EXPECT_THAT(data.sigma, ElementsAre(1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5));
}

TEST_F(ObservedArrays, AreRefusedWithEveryMistake) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_places();
  write("gz", {2}, {1, nan}, "mGal");
  write("gz_sigma", {2}, {0, 1});
  EXPECT_EQ(
      message(),
      "a.h5: gz_sigma: point 0 (easting 1, northing 3): a standard deviation of 0; it must be above 0 and finite\n"
      "a.h5: gz: point 1 (easting 2, northing 4): NaN or infinite; leave the point out of the file");
  write("easting", {2}, {1, 2}, "km");
  write("northing", {2}, {3, 4});
  write("upward", {2}, {5, 6});
  write("gz", {2}, {1, 2}, "m", "down");
  EXPECT_EQ(message(),
            "a.h5: gz: has the axes 'down'; z_down and z_up are known\n"
            "a.h5: gz: is in 'm'; mGal, uGal, Gal, m/s2, um/s2 (gu) or nm/s2 is expected: change the numbers and the "
            "unit\n"
            "a.h5: easting: is in 'km'; m is allowed here");
  write_places();
  write("gz", {2}, {1, 2});
  EXPECT_THAT(message(), HasSubstr("'a.h5' has no gz_sigma; add it, or state inversion.sigma"));
  write("easting", {2}, {1, nan});
  write("northing", {2}, {3, 4});
  write("upward", {2}, {5, -2e12});
  write("gz", {2}, {1, 2});
  rule({}, {{Field::gz, 1}});
  EXPECT_THAT(message(), AllOf(HasSubstr("easting: point 1 (easting nan, northing 4): NaN or infinite"),
                               HasSubstr("upward: point 1")));
}

TEST_F(ObservedArrays, AreRefusedForTheirShapes) {
  rule({}, {{Field::gz, 1}, {Field::gxx, 1}});
  write_places();
  EXPECT_THAT(message(), HasSubstr("has no measurements"));
  write("gz", {2}, {1, 2});
  EXPECT_THAT(message(), HasSubstr("has no easting; the places of measurements are needed"));
  write_places();
  write("gz", {2}, {1, 2});
  write("gxx", {1, 2}, {1, 2});
  EXPECT_THAT(message(), HasSubstr("has gxx of shape (1, 2); 2 stations have one number each"));
  write_places();
  write("gz", {}, {1});
  EXPECT_THAT(message(), HasSubstr("has gz of shape (); (station) or (northing, easting) is needed"));
  write("easting", {1}, {1});
  write("northing", {2}, {1, 2});
  write("upward", {2}, {1, 2});
  write("gz", {2}, {1, 2});
  EXPECT_THAT(message(), HasSubstr("has easting of shape (1); 2 stations have one number each"));
  write_places();
  write("gz", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(message(), HasSubstr("has gz of shape (2, 2, 2); (station) or (northing, easting) is needed"));
  write_places();
  write("gz", {0}, {});
  EXPECT_THAT(message(), HasSubstr("has easting of shape (2)"));
}

TEST_F(ObservedArrays, MayLieOnOneGridOnly) {
  rule({}, {{Field::gz, 1}, {Field::gxx, 1}});
  write("x", {2}, {10, 20});
  write("x2", {2}, {10, 21});
  write("y", {1}, {1});
  for (const char* name : {"/x", "/x2", "/y"}) m_arrays.make_dimension(name);
  write("gz", {1, 2}, {1, 2});
  write("gxx", {1, 2}, {1, 2});
  write("upward", {1, 2}, {1, 2});
  m_arrays.attach_dimensions("/gz", {"/y", "/x"});
  m_arrays.attach_dimensions("/gxx", {"/y", "/x2"});
  m_arrays.attach_dimensions("/upward", {"/y", "/x"});
  EXPECT_THAT(message(), HasSubstr("on a grid of its own; all fields need the same points"));
}

}  // namespace
}  // namespace prismfield::test_observed_data
