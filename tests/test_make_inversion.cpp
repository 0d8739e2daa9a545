// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_inversion.hpp"

#include "base/random.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"
#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

namespace prismfield::test_make_inversion {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ranks;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// 4 x 3 x 2 cells, upward from -20 to 0.
const std::string voxels =
    "model: {voxels: {easting: [0, 400, 4], northing: [0, 300, 3], upward: [-20, 0, 2], density: 7}}\n";
const std::string three_stations =
    "easting,northing,upward,gz,gz_sigma\n50,50,5,0.1,0.01\n150,250,6,0.2,0.02\n350,50,7,0.3,0.03\n";

/// A case and its files, in a folder that all ranks share.
class MakeInversion : public ::testing::Test {
protected:
  MakeInversion() {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    m_folder = std::filesystem::current_path() / fmt::format("make_inversion {} {}", ranks().size(), test->name());
    if (ranks().rank() == 0) {
      std::filesystem::remove_all(m_folder);
      std::filesystem::create_directories(m_folder);
    }
    write("a.csv", three_stations);
  }
  ~MakeInversion() override {
    barrier(ranks());
    if (ranks().rank() == 0) std::filesystem::remove_all(m_folder);
  }

  void write(const std::string& name, const std::string& text) const {
    if (ranks().rank() == 0) std::ofstream(m_folder / name, std::ios::binary) << text;
    barrier(ranks());
  }
  [[nodiscard]] InversionInputs make(const std::string& text) const {
    write("case.yaml", text);
    const Case run = read_case(m_folder / "case.yaml", {}, {}, CaseUse::inversion);
    return make_inversion(run, ranks());
  }
  /// Of voxels and these keys of the inversion.
  [[nodiscard]] InversionInputs of(const std::string& keys) const {
    return make(voxels + "inversion: {" + keys + "}\n");
  }
  /// What is wrong, without the folder; "" when nothing is. The same on every rank.
  [[nodiscard]] std::string wrong(const std::string& text) const {
    std::string said = testing::mistakes([&] { (void)make(text); });
    const std::string folder = (m_folder / "").string();
    for (auto at = said.find(folder); at != std::string::npos; at = said.find(folder)) said.erase(at, folder.size());
    return said;
  }
  [[nodiscard]] std::string wrong_of(const std::string& keys) const {
    return wrong(voxels + "inversion: {" + keys + "}\n");
  }

  std::filesystem::path m_folder;
};

TEST_F(MakeInversion, MakesCellsDataAndReference) {
  const InversionInputs inputs = of("data: a.csv, reference: 12.5");
  ASSERT_TRUE(inputs.cells);
  EXPECT_EQ(inputs.cells->size(), 24);
  EXPECT_THAT(inputs.cells->edges()[2], ElementsAre(-20, -10, 0));
  ASSERT_THAT(inputs.data, SizeIs(1));
  const DataSet& set = inputs.data[0];
  EXPECT_EQ(set.name, "a.csv");
  EXPECT_EQ(set.fields, FieldList{Field::gz});
  EXPECT_THAT(set.points.easting, ElementsAre(50, 150, 350));
  EXPECT_THAT(set.points.northing, ElementsAre(50, 250, 50));
  EXPECT_THAT(set.points.upward, ElementsAre(5, 6, 7));
  // mGal, down, to m/s2, up
  ASSERT_THAT(set.values, SizeIs(3));
  EXPECT_DOUBLE_EQ(set.values[2], -0.3e-5);
  ASSERT_THAT(set.sigma, SizeIs(3));
  EXPECT_DOUBLE_EQ(set.sigma[2], 0.03e-5);
  EXPECT_THAT(inputs.reference, AllOf(SizeIs(24), Each(12.5)));
  EXPECT_THAT(inputs.notes, IsEmpty());
  EXPECT_THAT(inputs.warnings, IsEmpty());
}

TEST_F(MakeInversion, HasTheCellsOfTheForwardModel) {
  write("e.txt", "0 100 250 500\n");
  write("m.msh", "2 1 2\n0 0 100\n10 20\n10\n2*5\n");
  write("m.den", "1\n2\n3\n4\n");
  for (const std::string& model :
       {std::string("voxels: {easting: [0.1, 0.7, 6], northing: [-0.3, 0.6, 9], upward: [-1.1, 0, 11], density: 1}"),
        std::string("mesh: {easting: {file: e.txt}, northing: {origin: 5, widths: [1, 2]}, upward: [-0.3, 0.6, 9], "
                    "density: 1}"),
        std::string("mesh: {ubc: {mesh: m.msh, density: m.den}}")}) {
    const std::string text = "model: {" + model + "}\n";
    const InversionInputs inputs = make(text + "inversion: {data: {file: a.csv, fields: gz}}\n");
    write("case.yaml", text + "observations: {stations: {random: 3}}\n");
    const Model forward = make_model(read_case(m_folder / "case.yaml", {}), ranks());
    ASSERT_EQ(inputs.cells->size(), forward.source().size()) << model;
    PrismBlock a, b;
    inputs.cells->read({0, inputs.cells->size()}, a);
    forward.source().read({0, forward.source().size()}, b);
    EXPECT_EQ(a.west, b.west);
    EXPECT_EQ(a.east, b.east);
    EXPECT_EQ(a.south, b.south);
    EXPECT_EQ(a.north, b.north);
    EXPECT_EQ(a.bottom, b.bottom);
    EXPECT_EQ(a.top, b.top);
    EXPECT_EQ(inputs.cells->rounding(), forward.source().rounding());
  }
}

TEST_F(MakeInversion, LeavesOutWhatIsAboveTheTopography) {
  // centres of cells are at -15 and -5 m
  std::string heights = "easting,northing,upward\n";
  for (const int north : {50, 150, 250}) {
    for (const int east : {50, 150, 250, 350}) heights += fmt::format("{},{},{}\n", east, north, east < 200 ? 3 : -8);
  }
  write("t.csv", heights);
  std::string densities;
  for (int cell = 0; cell < 24; ++cell) densities += fmt::format("{}\n", cell);
  write("r.txt", densities);
  const InversionInputs inputs =
      of("data: a.csv, topography: {file: t.csv}, reference: {file: r.txt}, bounds: [0, 30]");
  EXPECT_EQ(inputs.cells->size(), 18);
  EXPECT_EQ(inputs.cells->total(), 24);
  EXPECT_THAT(inputs.reference, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 20, 21));
  EXPECT_THAT(inputs.notes, ElementsAre("inversion.topography: 18 of 24 cells are below it and active"));
  EXPECT_THAT(inputs.warnings, IsEmpty());

  // a hole in the surface is filled, and told
  write("t.csv", "easting,northing,upward\n0,0,-4\n200,0,-9999\n400,0,-4\n0,300,-4\n200,300,-4\n400,300,-4\n");
  const InversionInputs hole = of("data: a.csv, topography: {file: t.csv}");
  EXPECT_EQ(hole.cells->size(), 24);
  EXPECT_THAT(hole.warnings,
              ElementsAre(HasSubstr("t.csv': 1 of 6 points left out: dummies, such as -9999, in line 3")));
  EXPECT_THAT(hole.notes, Contains(HasSubstr("t.csv': 1 of 6 nodes without a height get that of the nearest node")));

  write("low.csv", "easting,northing,upward\n0,0,-30\n400,0,-30\n0,300,-30\n400,300,-30\n");
  EXPECT_EQ(
      wrong_of("data: a.csv, topography: {file: low.csv}"),
      "case.yaml:2: inversion.topography: leaves no active cell: its heights, -30 to -30 m, are below the centres "
      "of all cells, which reach from -20 to 0 m; heights are upward, in metres");
}

TEST_F(MakeInversion, TakesTheFieldsOfTheDataThenOfTheCaseThenOfTheFile) {
  write("two.csv",
        "easting,northing,upward,gz,gzz,gz_sigma,gzz_sigma\n50,50,5,0.1,1,0.01,0.1\n150,50,5,0.1,1,0.01,0.1\n");
  const auto fields = [&](const std::string& before, const std::string& data) {
    return make(before + voxels + "inversion: {data: " + data + "}\n").data.at(0).fields;
  };
  EXPECT_EQ(fields("", "two.csv"), (FieldList{Field::gz, Field::gzz}));
  EXPECT_EQ(fields("fields: gzz\n", "two.csv"), FieldList{Field::gzz});
  EXPECT_EQ(fields("fields: gzz\n", "{file: two.csv, fields: gz}"), FieldList{Field::gz});
}

TEST_F(MakeInversion, TakesFieldsOfTheCaseFromSeveralFiles) {
  write("b.csv", "easting,northing,upward,gzz,gzz_sigma\n50,50,5,1,0.1\n");
  const InversionInputs inputs = make(voxels + "fields: [gz, gzz]\ninversion: {data: [a.csv, b.csv]}\n");
  ASSERT_THAT(inputs.data, SizeIs(2));
  EXPECT_EQ(inputs.data[0].fields, FieldList{Field::gz});
  EXPECT_EQ(inputs.data[1].fields, FieldList{Field::gzz});
  EXPECT_THAT(wrong(voxels + "fields: [gz, gxx]\ninversion: {data: [a.csv, a.csv]}\n"),
              HasSubstr("fields: asks for gxx, which no file of inversion.data has"));
  // a file without any of them
  EXPECT_THAT(wrong(voxels + "fields: gz\ninversion: {data: [a.csv, b.csv]}\n"),
              HasSubstr("'b.csv' has no gz, which fields"));
}

TEST_F(MakeInversion, PadsTheCells) {
  const std::string padded =
      "model: {voxels: {easting: [0, 400, 4], northing: [0, 300, 3], upward: [-20, 0, 2], "
      "padding: {cells: 2, growth: 2}}}\n";
  const InversionInputs inputs = make(padded + "inversion: {data: a.csv}\n");
  EXPECT_THAT(inputs.cells->edges()[0], ElementsAre(-600, -200, 0, 100, 200, 300, 400, 600, 1000));
  EXPECT_THAT(inputs.cells->edges()[1], ElementsAre(-600, -200, 0, 100, 200, 300, 500, 900));
  EXPECT_THAT(inputs.cells->edges()[2], ElementsAre(-80, -40, -20, -10, 0));
}

TEST_F(MakeInversion, TakesStationsUnderground) {
  write("hole.csv", "easting,northing,upward,gz,gz_sigma\n150,150,-5,0.1,0.01\n150,150,-15,0.1,0.01\n");
  EXPECT_THAT(wrong_of("data: hole.csv"),
              HasSubstr("write underground: true beside the file: {file: hole.csv, underground: true}. If"));
  const InversionInputs inputs = of("data: {file: hole.csv, underground: true}");
  EXPECT_EQ(inputs.cells->size(), 24);
  // a ground survey beside it is checked as before, and the hole's cells stay below a topography
  write("t.csv", "easting,northing,upward\n0,0,-2\n400,0,-2\n0,300,-2\n400,300,-2\n");
  EXPECT_EQ(of("data: {file: hole.csv, underground: true}, topography: {file: t.csv}").cells->size(), 24);
  EXPECT_THAT(wrong_of("data: {file: hole.csv, underground: true}, weighting: depth"),
              HasSubstr("inversion.weighting: does not look at where stations are"));
}

TEST_F(MakeInversion, ReadsSeveralDataSets) {
  write("b.csv", "0.05 0.05 0.01 1.5\n0.15 0.05 0.01 2.5\n");
  const InversionInputs inputs =
      of("data: [a.csv, {file: b.csv, columns: [easting, northing, upward, gz], axes: z_up, length_unit: km}], "
         "sigma: {relative: 0.1, floor: {gz: 0.01}}");
  ASSERT_THAT(inputs.data, SizeIs(2));
  EXPECT_EQ(inputs.data[1].name, "b.csv");
  EXPECT_THAT(inputs.data[1].points.upward, ElementsAre(10, 10));
  EXPECT_DOUBLE_EQ(inputs.data[1].values[1], 2.5e-5);
  EXPECT_NEAR(inputs.data[1].sigma[1], 0.26e-5, 1e-15);
  EXPECT_THAT(inputs.warnings, IsEmpty());
}

TEST_F(MakeInversion, ReadsEpochs) {
  std::string later = three_stations;
  later.replace(later.find("0.1,"), 3, "0.7");
  write("b.csv", later);
  const InversionInputs inputs = of("data: {epochs: [a.csv, b.csv]}");
  ASSERT_THAT(inputs.data, SizeIs(2));
  EXPECT_THAT(inputs.epochs, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(inputs.n_epochs(), 2);
  EXPECT_DOUBLE_EQ(inputs.data[0].values[0], -0.1e-5);
  EXPECT_DOUBLE_EQ(inputs.data[1].values[0], -0.7e-5);
  EXPECT_THAT(inputs.warnings, IsEmpty());
  EXPECT_THAT(of("data: {epochs: [a.csv, b.csv], labels: [2021, 2022]}").epochs, ElementsAre("2021", "2022"));
  EXPECT_THAT(of("data: {file: a.csv}").epochs, IsEmpty());
  // several data sets, whose epochs are named by the first
  EXPECT_THAT(of("data: [{epochs: [a.csv, b.csv]}, {epochs: [b.csv, b.csv]}]").epochs, ElementsAre("a.csv", "b.csv"));
  // files of one name, and the same file twice
  if (ranks().rank() == 0) std::filesystem::create_directories(m_folder / "2022");
  barrier(ranks());
  write("2022/a.csv", later);
  EXPECT_THAT(of("data: {epochs: [a.csv, 2022/a.csv]}").epochs[1], ::testing::StrEq("2022/a.csv"));
  EXPECT_THAT(of("data: {epochs: [a.csv, a.csv]}").epochs, ElementsAre("epoch 1", "epoch 2"));
  // less than a millimetre off
  std::string near = later;
  near.replace(near.find("150,"), 3, "150.0004");
  write("near.csv", near);
  EXPECT_THAT(of("data: {epochs: [a.csv, near.csv]}").data, SizeIs(2));
}

TEST_F(MakeInversion, SaysWhichStationsOfEpochsDiffer) {
  const std::string at = "case.yaml:2: inversion.data.epochs.1: 'other.csv' ";
  const auto wrong_with = [&](const std::string& stations) {
    write("other.csv", stations);
    return wrong_of("data: {epochs: [a.csv, other.csv]}");
  };
  EXPECT_EQ(wrong_with("# moved\neasting,northing,upward,gz,gz_sigma\n50,50,5,1,1\n151,250,6,1,1\n350,50,7.5,1,1\n"),
            at +
                "has another station than the first epoch: line 4 of other.csv is at easting 151, northing 250, upward "
                "6, line 3 of a.csv at easting 150, northing 250, upward 6, and 1 more differ; epochs need the same "
                "stations in the same order");
  EXPECT_EQ(wrong_with("easting,northing,upward,gz,gz_sigma\n50,50,5,1,1\n350,50,7,1,1\n"),
            at + "has another station than the first epoch: line 3 of other.csv is at easting 350, northing 50, upward "
                 "7, line 3 of a.csv at easting 150, northing 250, upward 6; other.csv has 2 stations, a.csv has 3; "
                 "epochs need the same stations in the same order");
  EXPECT_EQ(
      wrong_with("easting,northing,upward,gz,gz_sigma\n50,50,5,1,1\n"),
      at + "has another number of stations: other.csv has 1 station, a.csv has 3; epochs need the same stations in "
           "the same order");
  EXPECT_EQ(wrong_with("easting,northing,upward,gzz,gzz_sigma\n50,50,5,1,1\n150,250,6,1,1\n350,50,7,1,1\n"),
            at + "has other fields than a.csv; epochs need the same, say which by inversion.data.fields");
  // every epoch's errors, and stations in cells once
  write("low.csv", "easting,northing,upward,gz,gz_sigma\n50,50,-5,1,1\n");
  const std::string low = wrong_of("data: {epochs: [low.csv, low.csv, none.csv, other.csv]}");
  EXPECT_THAT(low, HasSubstr("inversion.data.epochs.2: 'none.csv' cannot be read"));
  EXPECT_THAT(low, HasSubstr("inversion.data.epochs.3: 'other.csv' has other fields than low.csv"));
  EXPECT_THAT(low, HasSubstr("inversion.data.epochs.0: low.csv: 1 station is in or below active cells"));
  EXPECT_EQ(low.find("inversion.data.epochs.1"), std::string::npos) << low;
}

TEST_F(MakeInversion, NamesStationsBelowTheTopOfActiveCells) {
  write("in.csv", "easting,northing,upward,gz,gz_sigma\n50,50,5,1,1\n150,250,-3,1,1\n350,50,-12,1,1\n50,50,-90,1,1\n");
  EXPECT_EQ(
      wrong_of("data: in.csv"),
      "case.yaml:2: inversion.data: in.csv: 3 stations are in or below active cells, the deepest is line 5 of in.csv "
      "(easting 50, northing 50, upward -90), 90 m below the top of the cells there. If they are in boreholes or "
      "tunnels, write underground: true beside the file: {file: in.csv, underground: true}. If they are on the ground, "
      "the cells above them are air: give inversion.topography, or mark these cells by 0 in a file inversion.active, "
      "above the deepest easting 0, northing 0, upward 0 to 1 (from 0)");
  // what the message says is enough
  write("one.csv", "easting,northing,upward,gz,gz_sigma\n150,250,-3,1,1\n");
  EXPECT_THAT(wrong_of("data: one.csv"), HasSubstr("the deepest easting 1, northing 2, upward 1 to 1 (from 0)"));
  std::string marks;
  for (int cell = 0; cell < 24; ++cell) marks += cell == 12 + 4 * 2 + 1 ? "0\n" : "1\n";
  write("active.txt", marks);
  EXPECT_EQ(wrong_of("data: one.csv, active: {file: active.txt}"), "");
  // on the top face, a rounding error below it, and beside the cells
  write("on.csv", "easting,northing,upward,gz,gz_sigma\n50,50,0,1,1\n400,300,0,1,1\n401,50,-5,1,1\n");
  EXPECT_EQ(wrong_of("data: on.csv"), "");
  const std::string above = "model: {voxels: {easting: [0, 400, 4], northing: [0, 300, 3], upward: [0, 100.1, 2]}}\n";
  write("near.csv", "easting,northing,upward,gz,gz_sigma\n50,50,100.09999999999999,1,1\n150,50,101,1,1\n");
  EXPECT_EQ(wrong(above + "inversion: {data: near.csv}\n"), "");
  // a station in a hollow of the topography, above the cells there
  write("t.csv", "easting,northing,upward\n0,0,-8\n400,0,-8\n0,300,-8\n400,300,-8\n");
  write("low.csv", "easting,northing,upward,gz,gz_sigma\n50,50,-7,1,1\n150,250,-9,1,1\n");
  EXPECT_EQ(wrong_of("data: low.csv, topography: {file: t.csv}"), "");
  EXPECT_THAT(of("data: low.csv, topography: {file: t.csv}").warnings, IsEmpty());
}

TEST_F(MakeInversion, LeavesOutCellsThatReachAboveStationsOnTheGround) {
  write("t.csv", "easting,northing,upward\n0,0,-4\n400,0,-4\n0,300,-4\n400,300,-4\n");
  // in cells whose centre is 1 m below the ground, which they reach 4 m above
  write("on.csv", "easting,northing,upward,gz,gz_sigma\n50,50,-3.5,1,1\n60,60,-2,1,1\n350,250,0,1,1\n");
  const InversionInputs on = of("data: on.csv, topography: {file: t.csv}");
  EXPECT_EQ(on.cells->size(), 23);
  EXPECT_THAT(on.cells->cells(), Not(Contains(12)));
  EXPECT_THAT(
      on.notes,
      ElementsAre("inversion.topography: 24 of 24 cells are below it; 1 of these reach above a station in their "
                  "column and are inactive"));
  EXPECT_THAT(on.warnings, IsEmpty());
  // below the ground by less than topographies are off, 10 m or a cell's height, and by more
  write("in.csv", "easting,northing,upward,gz,gz_sigma\n150,50,-13.9,1,1\n");
  const InversionInputs in = of("data: in.csv, topography: {file: t.csv}");
  EXPECT_EQ(in.cells->size(), 22);
  EXPECT_THAT(in.warnings,
              ElementsAre("in.csv: 1 point is below the topography, by up to 9.9 m; compare what its heights "
                          "and those of the topography are measured from"));
  write("deep.csv", "easting,northing,upward,gz,gz_sigma\n50,50,-3.5,1,1\n150,50,-14.1,1,1\n250,50,-17,1,1\n");
  EXPECT_EQ(
      wrong_of("data: deep.csv, topography: {file: t.csv}"),
      "case.yaml:2: inversion.data: deep.csv: 2 stations are in or below active cells, the deepest is line 4 of "
      "deep.csv "
      "(easting 250, northing 50, upward -17), 13 m below the topography. If they are in boreholes or tunnels, write "
      "underground: true beside the file: {file: deep.csv, underground: true}. If they are on the ground, check what "
      "their heights and those of the topography are measured from");
}

/// Heights of a surface of +-70 m whose slopes reach 0.5.
double relief(double easting, double northing) { return 70 * std::sin(easting / 143) * std::cos(northing / 191); }

/// How many of the points lie inside a cell.
std::int64_t points_inside(const ActiveCells& cells, const Points& points) {
  PrismBlock prisms;
  cells.read({0, cells.size()}, prisms);
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < points.easting.size(); ++i) {
    const double x = points.easting[i], y = points.northing[i], z = points.upward[i];
    for (std::size_t j = 0; j < prisms.west.size(); ++j) {
      const bool is_in = x > prisms.west[j] && x < prisms.east[j] && y > prisms.south[j] && y < prisms.north[j] &&
                         z > prisms.bottom[j] && z < prisms.top[j];
      if (is_in) ++inside;
    }
  }
  return inside;
}

TEST_F(MakeInversion, TakesGroundSurveysOnEveryMesh) {
  std::string heights = "easting,northing,upward\n", stations = "easting,northing,upward,gz,gz_sigma\n";
  for (int j = 0; j <= 400; j += 5) {
    for (int i = 0; i <= 400; i += 5) heights += fmt::format("{},{},{}\n", i, j, relief(i, j));
  }
  for (std::uint64_t i = 0; i < 300; ++i) {
    const double x = 400 * random_uniform(7, RandomStream::station_easting, i),
                 y = 400 * random_uniform(7, RandomStream::station_northing, i);
    stations += fmt::format("{},{},{},1,1\n", x, y, relief(x, y) + 1);
  }
  write("t.csv", heights);
  write("s.csv", stations);
  std::vector<std::string> meshes{
      "mesh: {easting: {edges: [-200, -80, -30, 0, 20, 35, 50, 80, 110, 130, 170, 200, 260, 300, 340, 400, 500]}, "
      "northing: [0, 400, 23], upward: {edges: [-120, -80, -60, -50, -40, -33, -20, -10, -4, 0, 9, 20, 33, 60, 99]}}"};
  for (const int size : {50, 25, 10, 5}) {
    meshes.push_back(
        fmt::format("voxels: {{easting: [0, 400, {0}], northing: [0, 400, {0}], upward: [-100, 100, {1}]}}", 400 / size,
                    200 / size));
  }
  for (const std::string& mesh : meshes) {
    const InversionInputs inputs = make("model: {" + mesh + "}\ninversion: {data: s.csv, topography: {file: t.csv}}\n");
    EXPECT_THAT(inputs.warnings, IsEmpty()) << mesh;
    EXPECT_EQ(points_inside(*inputs.cells, inputs.data[0].points), 0) << mesh;
    // cells are left out in the columns of stations alone, and few of these
    EXPECT_GT(inputs.cells->size(), inputs.cells->total() / 3) << mesh;
  }
}

TEST_F(MakeInversion, ReadsValuesOfEachCell) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> lower(24, -100), upper(24, 200), weights(24, 1), active(24, 1), start(24, 50);
  lower[3] = nan;
  upper[4] = infinity;
  upper[5] = -50;
  weights[0] = 0;
  weights[7] = 2.5;
  active[0] = 0;
  active[23] = nan;
  const auto write_file = [&](const std::string& name, const std::vector<std::pair<std::string, const double*>>& sets) {
    if (ranks().rank() == 0) {
      MadeHdf5 file(m_folder / name);
      for (const auto& [dataset, values] : sets) file.write("/" + dataset, {2, 3, 4}, values);
      file.close();
    }
    barrier(ranks());
  };
  write_file("b.h5", {{"lower", lower.data()},
                      {"upper", upper.data()},
                      {"cell_weights", weights.data()},
                      {"active", active.data()},
                      {"density", start.data()}});
  const std::string all =
      "data: a.csv, active: {file: b.h5}, cell_weights: {file: b.h5}, reference: -60, "
      "start: {file: b.h5}, bounds: {file: b.h5}";
  EXPECT_EQ(
      wrong_of(all),
      "case.yaml:2: inversion.start.file: 'b.h5' is outside inversion.bounds in 1 active cell, the first of which "
      "is cell 5 (easting 1, northing 1, upward 0, from 0): 50 kg/m3, bounds [-100, -50]; change one of the two");
  start[5] = -100;
  write_file("b.h5", {{"lower", lower.data()},
                      {"upper", upper.data()},
                      {"cell_weights", weights.data()},
                      {"active", active.data()},
                      {"density", start.data()}});
  const InversionInputs inputs = of(all);
  EXPECT_EQ(inputs.cells->size(), 22);
  EXPECT_THAT(inputs.notes, ElementsAre("inversion.active: 22 of 24 cells are active"));
  ASSERT_THAT(inputs.lower, SizeIs(22));
  ASSERT_THAT(inputs.upper, SizeIs(22));
  EXPECT_EQ(inputs.lower[0], -100);
  EXPECT_EQ(inputs.lower[2], -infinity);
  EXPECT_EQ(inputs.upper[3], infinity);
  EXPECT_EQ(inputs.upper[4], -50);
  EXPECT_EQ(inputs.cell_weights[6], 2.5);
  EXPECT_EQ(inputs.start[4], -100);
  EXPECT_THAT(inputs.reference, AllOf(SizeIs(22), Each(-60)));
  // one dataset is enough, and none is too few
  write_file("upper.h5", {{"upper", upper.data()}});
  const InversionInputs one_sided = of("data: a.csv, reference: -60, bounds: {file: upper.h5}");
  EXPECT_THAT(one_sided.lower, AllOf(SizeIs(24), Each(-infinity)));
  write_file("none.h5", {{"density", start.data()}});
  EXPECT_EQ(wrong_of("data: a.csv, bounds: {file: none.h5}"),
            "case.yaml:2: inversion.bounds.file: 'none.h5' has neither a dataset lower nor upper; its datasets are: "
            "density");
}

TEST_F(MakeInversion, SaysWhatIsWrongWithValuesOfCells) {
  std::string numbers;
  for (int cell = 0; cell < 24; ++cell) numbers += fmt::format("{}\n", cell == 5 ? 0 : 1);
  write("v.txt", numbers);
  EXPECT_EQ(of("data: a.csv, active: {file: v.txt}").cells->size(), 23);
  EXPECT_EQ(wrong_of("data: a.csv, cell_weights: {file: v.txt}"),
            "case.yaml:2: inversion.cell_weights.file: 'v.txt' has weights that are not above 0 for 1 active cell, the "
            "first of which is cell 5 (easting 1, northing 1, upward 0, from 0): 0");
  // an inactive cell needs none
  EXPECT_THAT(of("data: a.csv, cell_weights: {file: v.txt}, active: {file: v.txt}").cell_weights,
              AllOf(SizeIs(23), Each(1)));
  EXPECT_THAT(wrong_of("data: a.csv, bounds: {file: v.txt}"),
              HasSubstr("inversion.bounds.file: 'v.txt' is text, which holds one list of values"));
  write("two.txt", "2\n" + numbers.substr(2));
  EXPECT_EQ(wrong_of("data: a.csv, active: {file: two.txt}"),
            "case.yaml:2: inversion.active.file: 'two.txt' has 2 for cell 0 (easting 0, northing 0, upward 0, from 0); "
            "1, for an active cell, or 0 is expected");
  std::string zeros;
  for (int cell = 0; cell < 24; ++cell) zeros += "0\n";
  write("zeros.txt", zeros);
  EXPECT_EQ(wrong_of("data: a.csv, active: {file: zeros.txt}"),
            "case.yaml:2: inversion.active.file: 'zeros.txt' marks no cell by 1");
  if (ranks().rank() == 0) {
    const std::vector<double> lower(24, 5), upper(24, -5);
    MadeHdf5 file(m_folder / "b.h5");
    file.write("/lower", {24}, lower.data());
    file.write("/upper", {24}, upper.data());
    file.close();
  }
  barrier(ranks());
  EXPECT_EQ(
      wrong_of("data: a.csv, bounds: {file: b.h5}"),
      "case.yaml:2: inversion.bounds.file: 'b.h5' has no density between lower and upper for 24 active cells, the "
      "first of which is cell 0 (easting 0, northing 0, upward 0, from 0): lower 5, upper -5 kg/m3");
}

TEST_F(MakeInversion, TakesTheFieldsOfTheUnknown) {
  const std::string field = "magnetic: {inducing_field: {inclination: 60, declination: 10, intensity: 50000}}\n";
  write("both.csv",
        "easting,northing,upward,gz,gz_sigma,bz,bz_sigma,tmi,tmi_sigma,amplitude\n"
        "50,50,5,0.1,0.01,3,1,-20,2,7\n");
  EXPECT_EQ(of("data: both.csv").data[0].fields, FieldList{Field::gz});
  const InversionInputs chi = make(voxels + field + "inversion: {data: both.csv, unknown: susceptibility}\n");
  EXPECT_EQ(chi.data[0].fields, (FieldList{Field::bz, Field::tmi}));
  // nT, bz down, to T, up
  EXPECT_THAT(chi.data[0].values, ElementsAre(::testing::DoubleEq(-3e-9), ::testing::DoubleEq(-20e-9)));
  EXPECT_THAT(chi.reference, SizeIs(24));
  const InversionInputs vector =
      make(voxels + "inversion: {data: {file: both.csv, fields: bz}, unknown: magnetization}\n");
  EXPECT_EQ(vector.data[0].fields, FieldList{Field::bz});
  EXPECT_THAT(vector.reference, AllOf(SizeIs(3 * 24), Each(0.0)));

  EXPECT_EQ(wrong(voxels + field + "inversion: {data: {file: both.csv, fields: gz}, unknown: susceptibility}\n"),
            "case.yaml:3: inversion.data.file: 'both.csv' is asked for gz by inversion.data.fields, but "
            "inversion.unknown is susceptibility, of which data are bx, by, bz, bxx, byy, bzz, bxy, bxz, byz, tmi, "
            "tmi_exact, amplitude, tmi_x, tmi_y, tmi_z");
  const InversionInputs magnitude =
      make(voxels + "inversion: {data: {file: both.csv, fields: amplitude}, sigma: 1, unknown: magnetization}\n");
  EXPECT_EQ(magnitude.data[0].fields, FieldList{Field::amplitude});
  EXPECT_THAT(wrong_of("data: {file: both.csv, fields: tmi}"),
              HasSubstr("is asked for tmi by inversion.data.fields, but inversion.unknown is density"));
  EXPECT_THAT(wrong_of("data: a.csv, unknown: magnetization"),
              HasSubstr("'a.csv' has no measurements; bx, by, bz, bxx, byy, bzz, bxy, bxz, byz, tmi, tmi_exact, "
                        "amplitude, tmi_x, tmi_y, tmi_z are what it can have; it has gz"));
}

TEST_F(MakeInversion, NeedsAnInducingField) {
  write("b.csv", "easting,northing,upward,bz,bz_sigma,tmi,tmi_sigma\n50,50,5,3,1,-20,2\n");
  EXPECT_EQ(wrong_of("data: {file: b.csv, fields: bz}, unknown: magnetization"), "");
  EXPECT_EQ(
      wrong_of("data: b.csv, unknown: magnetization"),
      "case.yaml:2: inversion.data: 'b.csv' has tmi, an anomaly along the inducing field, and the case has none; write "
      "magnetic: {inducing_field: {inclination: -62.5, declination: 11.25, intensity: 48250}} with the Earth's field "
      "at the survey (degrees, nT)");
  write("gradient.csv", "easting,northing,upward,bxx,bxx_sigma,tmi_x,tmi_x_sigma\n50,50,5,3,1,-20,2\n");
  EXPECT_THAT(wrong_of("data: gradient.csv, unknown: magnetization"),
              HasSubstr("'gradient.csv' has tmi_x, an anomaly along the inducing field, and the case has none"));
  EXPECT_THAT(wrong_of("data: {file: b.csv, fields: bz}, unknown: susceptibility"),
              HasSubstr("magnetic.inducing_field: is missing; a susceptibility is magnetised by it"));
}

TEST_F(MakeInversion, TakesANumberAsSigmaOfOneField) {
  write("two.csv", "easting,northing,upward,gz,gzz\n50,50,5,0.1,1\n150,50,5,0.1,1\n");
  const InversionInputs one = of("data: {file: two.csv, fields: gzz}, sigma: 0.5");
  EXPECT_DOUBLE_EQ(one.data[0].sigma[1], 0.5e-9);
  EXPECT_EQ(wrong_of("data: two.csv, sigma: 0.5"),
            "case.yaml:2: inversion.sigma: is 0.5, which is for data of one field; these have gz, gzz: write {floor: "
            "{gz: 0.5, gzz: 0.5}} with the sigma of each, in mGal, Eotvos, nT and nT/m");
  EXPECT_THAT(wrong_of("data: [{file: two.csv, fields: gz}, {file: two.csv, fields: gzz}], sigma: 0.5"),
              HasSubstr("inversion.sigma: is 0.5, which is for data of one field"));
}

TEST_F(MakeInversion, NeedsNoSigmaWhereBetaIsChosenWithoutIt) {
  write("none.csv", "easting,northing,upward,gz\n50,50,5,0.1\n150,50,5,0.1\n");
  EXPECT_THAT(wrong_of("data: none.csv"), HasSubstr("'none.csv' has no gz_sigma; add it, or state inversion.sigma"));
  EXPECT_THAT(wrong_of("data: none.csv, beta: 3"), HasSubstr("has no gz_sigma"));
  const InversionInputs inputs = of("data: [none.csv, a.csv], beta: gcv");
  EXPECT_TRUE(inputs.data[0].sigma_is_unknown);
  EXPECT_FALSE(inputs.data[1].sigma_is_unknown);
  EXPECT_DOUBLE_EQ(inputs.data[0].sigma[0], 1e-5);
  EXPECT_DOUBLE_EQ(inputs.data[1].sigma[0], 0.01e-5);
  EXPECT_THAT(inputs.notes,
              ElementsAre("inversion.sigma: none for none.csv; 1 mGal, 1 Eotvos, 1 m2 s-2, 1 nT or 1 nT/m stands for "
                          "each, so phi_d and chi are of no meaning"));
}

TEST_F(MakeInversion, WarnsOfDataThatAreElsewhere) {
  const auto warnings = [&](const std::string& model, const std::string& stations) {
    write("s.csv", "easting,northing,upward,gz,gz_sigma\n" + stations);
    return make("model: {voxels: {" + model + ", upward: [-20, 0, 2]}}\ninversion: {data: s.csv}\n").warnings;
  };
  const std::string utm = "easting: [480000, 500000, 4], northing: [7500000, 7520000, 3]";
  EXPECT_THAT(warnings(utm, "481000,7501000,9,1,1\n499000,7519000,9,1,1\n"), IsEmpty());
  EXPECT_THAT(warnings(utm, "481,7501,9,1,1\n499,7519,9,1,1\n"),
              ElementsAre("s.csv: has coordinates that look like kilometres; if they are, write length_unit: km beside "
                          "its file"));
  EXPECT_THAT(
      warnings(utm, "7501000,481000,9,1,1\n7519000,499000,9,1,1\n"),
      ElementsAre("s.csv: lies 9.90091e+06 m beside the model's cells (the data: easting 7501000 to 7519000, "
                  "northing 481000 to 499000; the cells: easting 480000 to 500000, northing 7500000 to 7520000); "
                  "easting and northing of the data seem to be swapped"));
  EXPECT_THAT(warnings(utm, "550000,7501000,9,1,1\n559000,7519000,9,1,1\n"),
              ElementsAre(AllOf(HasSubstr("lies 50000 m beside the model's cells"),
                                HasSubstr("are both in the same projection, zone and origin?"))));
  // a small survey in the corner of a large mesh, or degrees
  EXPECT_THAT(warnings("easting: [0, 22000, 4], northing: [0, 22000, 3]", "7.5,46.2,9,1,1\n8.1,47,9,1,1\n"),
              ElementsAre(HasSubstr("s.csv: the coordinates of the points look like degrees (easting 7.5 to 8.1")));
  // a model whose corner is 0, with stations in kilometres
  EXPECT_THAT(warnings("easting: [0, 22000, 4], northing: [0, 22000, 3]", "1,1,9,1,1\n21,20,9,1,1\n"),
              ElementsAre(HasSubstr("look like kilometres")));
  // a mesh padded far around the survey, whose fine cells it spans, and data in kilometres over the same
  const std::string padded =
      "easting: {edges: [-60000, -1000, 0, 50, 100, 150, 200, 1000, 60000]}, northing: {edges: [-60000, 0, 50, 100, "
      "60000]}";
  const auto padded_warnings = [&](const std::string& stations) {
    write("s.csv", "easting,northing,upward,gz,gz_sigma\n" + stations);
    return make("model: {mesh: {" + padded + ", upward: [-20, 0, 2]}}\ninversion: {data: s.csv}\n").warnings;
  };
  EXPECT_THAT(padded_warnings("0,10,9,1,1\n200,90,9,1,1\n"), IsEmpty());
  EXPECT_THAT(padded_warnings("-50,-50,9,1,1\n50,50,9,1,1\n"), ElementsAre(HasSubstr("look like kilometres")));
  // few metres are a survey too, one station is no survey that could be too small
  EXPECT_THAT(warnings("easting: [0, 100, 4], northing: [0, 100, 3]", "20,30,9,1,1\n25,35,9,1,1\n"), IsEmpty());
  EXPECT_THAT(warnings("easting: [0, 100000, 4], northing: [0, 100000, 3]", "20,30,9,1,1\n"), IsEmpty());
}

TEST_F(MakeInversion, RefusesDegrees) {
  const auto wrong_over = [&](const std::string& model, const std::string& stations) {
    write("s.csv", "easting,northing,upward,gz,gz_sigma\n" + stations);
    return wrong("model: {voxels: {" + model + "}}\ninversion: {data: s.csv}\n");
  };
  const std::string here = "case.yaml:2: inversion.data: s.csv: the coordinates of the ";
  const std::string degrees = "easting: [-70.5, -68.5, 4], northing: [-24.5, -22.7, 3], ";
  const std::string survey = "-70,-24,100,1,1\n-69.5,-23.5,120,1,1\n-69,-23.2,100,1,1\n";
  EXPECT_THAT(wrong_over(degrees + "upward: [-5, 0, 2]", survey),
              StartsWith(here + "model and the points look like degrees (easting -70.5 to -68.5, northing -24.5 to"));
  EXPECT_THAT(wrong_over(degrees + "upward: [-5000, 0, 2]", survey), StartsWith(here + "model and the points look"));
  // one error: that stations lie in cells says nothing where places are wrong
  const std::string in_cells = wrong_over(degrees + "upward: [-5000, 500, 2]", survey);
  EXPECT_THAT(in_cells, StartsWith(here));
  EXPECT_EQ(std::count(in_cells.begin(), in_cells.end(), '\n'), 0) << in_cells;
  const std::string utm = "easting: [480000, 500000, 4], northing: [7500000, 7520000, 3], upward: [-20, 0, 2]";
  EXPECT_THAT(wrong_over(utm, "-69.2,-22.6,9,1,1\n-69,-22.4,9,1,1\n"), StartsWith(here + "points look like degrees"));
  // metres of small grids
  EXPECT_EQ(
      wrong_over("easting: [0, 2, 4], northing: [0, 1.5, 3], upward: [-1, 0, 2]", "0.5,0.5,0.1,1,1\n1,1,0.1,1,1\n"),
      "");
  EXPECT_EQ(
      wrong_over("easting: [100, 140, 4], northing: [20, 60, 3], upward: [-30, 0, 2]", "110,30,1,1,1\n120,50,2,1,1\n"),
      "");
}

TEST_F(MakeInversion, WarnsOfGroundThatTheEarthHasNot) {
  write("t.csv", "easting,northing,upward\n0,0,0\n400,0,0\n0,300,0\n400,300,20000\n");
  EXPECT_THAT(of("data: a.csv, topography: {file: t.csv}").warnings,
              Contains(HasSubstr("t.csv' has heights of 0 to 20000 m: the ground of the Earth has -11500 to 9000 m")));
}

TEST_F(MakeInversion, WarnsOfDeviationsThatLookLikeDummies) {
  const auto warned = [&](const char* sigma) {
    write("s.csv", fmt::format("easting,northing,upward,gz,gz_sigma\n50,50,5,1,0.1\n150,250,6,1,{}\n350,50,7,1,0.1\n"
                               "250,150,7,1,0.2\n",
                               sigma));
    return of("data: s.csv").warnings;
  };
  EXPECT_THAT(warned("99999"), Contains("s.csv: 1 standard deviation of gz: 99999 looks like a dummy, a number that "
                                        "stands for none; it is taken as it is"));
  EXPECT_THAT(warned("1e30"), Contains(HasSubstr("s.csv: 1 standard deviation of gz: 1e+30 looks like a dummy")));
  EXPECT_THAT(warned("5"), Not(Contains(HasSubstr("dummy"))));
}

TEST_F(MakeInversion, SaysWhatIsWrongWithTheReference) {
  std::string densities;
  for (int cell = 0; cell < 24; ++cell) densities += fmt::format("{}\n", cell);
  write("r.txt", densities);
  EXPECT_EQ(
      wrong_of("data: a.csv, reference: {file: r.txt}, bounds: [0, 20]"),
      "case.yaml:2: inversion.reference.file: 'r.txt' is outside inversion.bounds in 3 active cells, the first of "
      "which is cell 21 (easting 1, northing 2, upward 1, from 0): 21 kg/m3, bounds [0, 20]; change one of the "
      "two");
  EXPECT_EQ(of("data: a.csv, reference: {file: r.txt, density_unit: g/cm3}").reference.back(), 23000);
  // depth fastest: the second value is that of the bottom of the first column
  write("r.mod", densities);
  const InversionInputs ubc = of("data: a.csv, reference: {file: r.mod, density_unit: kg/m3}");
  EXPECT_EQ(ubc.reference[0], 1);
  EXPECT_EQ(ubc.reference[1], 3);
  EXPECT_THAT(ubc.notes,
              ElementsAre("inversion.reference.file: 'r.mod' is read as a UBC model, depth fastest, in kg/m3"));
  // the model of an earlier inversion, whose cells above -10 m were inactive
  if (ranks().rank() == 0) {
    std::vector<double> values(24, 5.0);
    for (std::size_t cell = 12; cell < 24; ++cell) values[cell] = std::numeric_limits<double>::quiet_NaN();
    MadeHdf5 file(m_folder / "model.h5");
    file.write("/density", {2, 3, 4}, values.data());
    file.close();
  }
  barrier(ranks());
  EXPECT_EQ(wrong_of("data: a.csv, reference: {file: model.h5}"),
            "case.yaml:2: inversion.reference.file: 'model.h5' has NaN for 12 active cells; a reference has a density "
            "for each");
  write("t.csv", "easting,northing,upward\n0,0,-9\n400,0,-9\n0,300,-9\n400,300,-9\n");
  EXPECT_THAT(of("data: a.csv, reference: {file: model.h5}, topography: {file: t.csv}").reference,
              AllOf(SizeIs(12), Each(5.0)));
  for (const char* const dummy : {"-9999", "-999.25", "1e31"}) {
    write("d.txt", densities.substr(0, densities.size() - 3) + dummy + "\n");
    for (const char* const key : {"reference", "start"}) {
      EXPECT_THAT(wrong_of(fmt::format("data: a.csv, {}: {{file: d.txt}}", key)),
                  AllOf(HasSubstr("in 1 of its 24 cells: "), HasSubstr(" looks like a dummy")));
    }
  }
  write("short.txt", "1 2 3\n");
  EXPECT_THAT(wrong_of("data: a.csv, reference: {file: short.txt}"), HasSubstr("24"));
}

TEST_F(MakeInversion, TellsEveryMistakeAtOnce) {
  const std::string said = wrong_of("data: [none.csv, nothing.csv], topography: {file: absent.csv}");
  EXPECT_THAT(said, HasSubstr("inversion.data.0: "));
  EXPECT_THAT(said, HasSubstr("inversion.data.1: "));
  EXPECT_THAT(said, HasSubstr("inversion.topography.file: "));
  EXPECT_THAT(wrong("model: {voxels: {easting: [0, 4e4, 40000], northing: [0, 4e4, 40000], upward: [-2, 0, 2]}}\n"
                    "inversion: {data: a.csv}\n"),
              HasSubstr("case.yaml:1: model: has 3,200,000,000 cells; an inversion takes at most 2,147,483,647"));
  EXPECT_THAT(wrong("model: {voxels: {easting: [0, 4e13, 4], northing: [0, 4, 4], upward: [-2, 0, 2]}}\n"
                    "inversion: {data: a.csv}\n"),
              HasSubstr("case.yaml:1: model.voxels.easting: "));
}

}  // namespace
}  // namespace prismfield::test_make_inversion
