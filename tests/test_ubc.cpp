// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "mesh_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_file.hpp"
#include "folder_test.hpp"
#include "model/properties.hpp"
#include "readers/exchange_files.hpp"
#include "readers/file_content.hpp"
#include "readers/find_format.hpp"
#include "writers/write_content.hpp"

namespace prismfield::test_ubc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_in;
using testing::made;

class Ubc : public testing::MeshTest {
protected:
  void ubc(std::string_view mesh, std::string_view density, double to_si = 1000) {
    m_spec.ubc = UbcFiles{m_folder.write("m.msh", mesh), m_folder.write("m.den", density), to_si};
  }
};

// 2 x 3 x 2 cells; the value names the cell: hundreds easting, tens northing, ones layer from the top
constexpr std::string_view small_mesh = "! a comment\n2 3 2\n 100 200 50 ! top south-west corner\n10 20\n2*5 30\n1 4\n";
constexpr std::string_view small_density = "! density\n111\n112\n211\n212\n121\n122\n221\n222\n131\n132\n231\n232\n";

TEST_F(Ubc, ReadsUbcFiles) {
  ubc(small_mesh, small_density);
  const auto ensemble = made(m_run, m_spec);
  const Bounds bounds = ensemble->bounds();
  EXPECT_EQ(bounds.west, 100);
  EXPECT_EQ(bounds.east, 130);
  EXPECT_EQ(bounds.south, 200);
  EXPECT_EQ(bounds.north, 240);
  EXPECT_EQ(bounds.top, 50);
  EXPECT_EQ(bounds.bottom, 45);
  PrismBlock p;
  ensemble->read({0, ensemble->size()}, p);
  ASSERT_EQ(p.size(), 12);
  for (std::size_t c = 0; c < 12; ++c) {
    const int value = static_cast<int>(p.density[c]) / 1000;
    EXPECT_EQ(p.west[c], value / 100 == 1 ? 100 : 110) << c;
    EXPECT_EQ(p.east[c], value / 100 == 1 ? 110 : 130) << c;
    const int j = value / 10 % 10;
    EXPECT_EQ(p.south[c], j == 1 ? 200 : j == 2 ? 205 : 210) << c;
    EXPECT_EQ(p.north[c], j == 1 ? 205 : j == 2 ? 210 : 240) << c;
    EXPECT_EQ(p.top[c], value % 10 == 1 ? 50 : 49) << c;
    EXPECT_EQ(p.bottom[c], value % 10 == 1 ? 49 : 45) << c;
  }
  // our own order: from the bottom, south, west
  EXPECT_THAT(p.density, ElementsAre(112000, 212000, 122000, 222000, 132000, 232000, 111000, 211000, 121000, 221000,
                                     131000, 231000));
}

TEST_F(Ubc, LeavesOutUbcCellsWithoutDensity) {
  ubc(small_mesh, "0\n0\n211\n0\n0\n0\n0\n0\n0\n0\n0\n0\n", 1);
  const PrismBlock p = read();
  EXPECT_THAT(p.density, ElementsAre(211));
  EXPECT_THAT(p.west, ElementsAre(110));
  EXPECT_THAT(p.top, ElementsAre(50));
}

TEST_F(Ubc, LeavesOutInactiveUbcCells) {
  ubc(small_mesh, "-100\n0.2\n-100\n0.3\n-100\n0\n-100\n0.1\n-100\n0.1\n-1e2\n0.1\n");
  m_spec.ubc->inactive = -100;
  EXPECT_THAT(read().density, ElementsAre(200, 300, 100, 100, 100));
  EXPECT_THAT(made(m_run, m_spec)->warnings(), IsEmpty());
  EXPECT_THAT(made(m_run, m_spec)->notes(), ElementsAre(AllOf(HasSubstr("6 of 12 cells"), HasSubstr("have -100"))));
  m_spec.ubc->inactive = 0.1;
  EXPECT_THAT(message(), HasSubstr("has -100 g/cm3"));
  ubc(small_mesh, "1\n2\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n");
  m_spec.ubc->inactive = -100;
  EXPECT_THAT(made(m_run, m_spec)->warnings(),
              ElementsAre(EndsWith("model.mesh.ubc.inactive: no cell of '" + m_spec.ubc->density.string() +
                                   "' has -100; write the number as the file has it, "
                                   "in its unit and with all its digits")));
  EXPECT_THAT(made(m_run, m_spec)->notes(), IsEmpty());
  ubc(small_mesh, "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n");
  m_spec.ubc->inactive = 1;
  EXPECT_EQ(
      message(),
      "case.yaml:1: model.mesh.ubc.inactive: is 1, which all 12 cells of 'm.den' have; write what its cells without "
      "a mass have alone");
}

TEST_F(Ubc, KnowsAMeshAndAModelThatAreExchanged) {
  ubc(small_density, small_mesh);
  EXPECT_EQ(message(),
            "case.yaml:3: model.mesh.ubc.mesh: 'm.msh' looks like a UBC model (a number a line), and a UBC mesh begins "
            "with nE nN nZ; swap mesh and density of model.mesh.ubc");
  ubc(small_mesh, small_mesh);
  EXPECT_EQ(
      message(),
      "case.yaml:4: model.mesh.ubc.density: 'm.den' looks like a UBC mesh (nE nN nZ, a corner, widths), and a UBC "
      "model is a number a line; swap mesh and density of model.mesh.ubc");
}

TEST_F(Ubc, TakesNoMarkOfInactiveCellsForAMass) {
  const auto with = [&](const std::string& mark, double to_si = 1000) {
    ubc(small_mesh, mark + "\n0.2\n" + mark + "\n0.3\n0\n0\n0\n0.1\n1\n0.1\n1\n0.1\n", to_si);
    return message();
  };
  const std::string begin = "case.yaml:4: model.mesh.ubc.density: 'm.den' has ";
  const std::string what = ", beyond any rock, in 2 of its 12 cells: if that marks inactive cells, such as air, write ";
  EXPECT_EQ(with("-100"),
            begin + "-100 g/cm3" + what + "inactive: -100 beside it; if the file is in kg/m3, density_unit: kg/m3");
  EXPECT_EQ(with("-99999"), begin + "-99999 g/cm3" + what + "inactive: -99999 beside it");
  EXPECT_EQ(with("1e8"), begin + "100000000 g/cm3" + what + "inactive: 100000000 beside it");
  EXPECT_EQ(with("-99999", 1), begin + "-99999 kg/m3" + what + "inactive: -99999 beside it");
  // a contrast of a file in kg/m3, and what no rock rules out
  EXPECT_EQ(with("-100", 1), "");
  EXPECT_EQ(with("-9"), "");
}

TEST_F(Ubc, TakesDensitiesInAnotherUnitForNoMark) {
  const auto air = [](const std::vector<double>& densities) {
    const auto mark = find_air_mark(densities, density_property, 1000);
    return mark && mark->is_certain;
  };
  EXPECT_TRUE(air({-1e5, -1e5, 0, 0}));
  EXPECT_TRUE(air({1e8, 1e8, 300, 0}));
  // a body, all cells, several values, one cell
  EXPECT_FALSE(air({3e5, 3e5, 0, 0}));
  EXPECT_FALSE(air({-3e5, -3e5, -3e5}));
  EXPECT_FALSE(air({-3e5, -3e5, -2e5, 100}));
  EXPECT_FALSE(air({-1e5, 100, 0, std::nan("")}));
}

/// `n` values from `least` to `most` and `flags` times `flag`.
std::vector<double> flagged(int n, double least, double most, int flags, double flag) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(least + (most - least) * i / (n - 1));
  values.insert(values.begin() + n / 2, static_cast<std::size_t>(flags), flag);
  return values;
}

TEST_F(Ubc, WarnsOfANumberFarBelowAllOthers) {
  const auto told = [](const std::vector<double>& values, std::size_t property, double to_si = 1) {
    const auto mark = find_air_mark(values, property, to_si);
    EXPECT_FALSE(mark && mark->is_certain);
    return mark ? mark->text : "";
  };
  EXPECT_EQ(told(flagged(80, -300, 500, 20, -9000), density_property, 1000),
            "has -9 g/cm3, far below its other values (-0.3 to 0.5), in 20 of its 100 cells");
  // beside densities of rock a smaller number does
  EXPECT_EQ(told(flagged(80, 2300, 2900, 20, -1000), density_property),
            "has -1000 kg/m3, far below its other values (2300 to 2900), in 20 of its 100 cells");
  EXPECT_EQ(told(flagged(80, 0, 0.05, 20, -1), susceptibility_property),
            "has -1, far below its other values (0 to 0.05), in 20 of its 100 cells");
  // contrasts, heavy ones too, a diamagnetic rock, a rare value, none that lies apart, 0
  EXPECT_EQ(told(flagged(80, 0, 300, 20, -2000), density_property), "");
  EXPECT_EQ(told(flagged(80, -4000, 4000, 20, -6000), density_property), "");
  EXPECT_EQ(told(flagged(80, 0, 0.05, 20, -1e-5), susceptibility_property), "");
  EXPECT_EQ(told(flagged(80, 0, 1, 20, -0.9), susceptibility_property), "");
  EXPECT_EQ(told(flagged(499, 0, 300, 2, -9000), density_property), "");
  EXPECT_EQ(told(flagged(80, 2300, 2900, 20, 0), density_property), "");
  EXPECT_EQ(told(flagged(2, 0, 0, 20, 0), density_property), "");
  EXPECT_TRUE(find_air_mark(flagged(80, 0, 0.05, 1, -100), susceptibility_property, 1)->is_certain);
}

TEST_F(Ubc, SaysWhatSeemsToBeAirInARun) {
  ubc(small_mesh, "-9\n0.2\n-9\n0.3\n0\n0\n0\n0.1\n1\n0.1\n1\n0.1\n");
  EXPECT_THAT(
      made(m_run, m_spec)->warnings(),
      ElementsAre("model.mesh.ubc.density: 'm.den' has -9 g/cm3, far below its other values (0 to 1), in 2 of its "
                  "12 cells: if that marks inactive cells, such as air, write inactive: -9 beside it"));
  m_spec.ubc->inactive = -9;
  EXPECT_THAT(made(m_run, m_spec)->warnings(), IsEmpty());
}

TEST_F(Ubc, StarsOfAMeshMayHaveBlanks) {
  const CellEdges edges =
      read_ubc_mesh({m_folder.write("a.msh", "7 4 2\n0 0 0\n100 2*50 3*20 150\n4*100\n2*5\n"), "", ""});
  for (const char* mesh : {"7 4 2\n0 0 0\n100 2 * 50 3 * 20 150\n 4 * 100\n2 * 5\n",
                           "7 4 2\n0 0 0\n100 2* 50 3 *20 150\n4\t*\t100\n2  *  5 ! two * 5\n",
                           "7 4 2 0 0 0 100 2 * 5.0D+01 3 * 20\n150 4 * 1.0d+2\n2 *5"}) {
    EXPECT_EQ(read_ubc_mesh({m_folder.write("b.msh", mesh), "", ""}), edges) << mesh;
  }
  ubc("2 3 2\n0 0 0\n2 *\n", small_density);
  EXPECT_EQ(message(), "m.msh:3: widths along easting: '' is no finite number");
}

TEST_F(Ubc, OtherMeshesOfUbcAreNamed) {
  const auto refused = [&](std::string_view mesh) {
    ubc(mesh, small_density);
    return message();
  };
  const std::string octree = "16 16 8\n-800 -800 100\n100 100 50\n2\n1 1 1 8\n9 1 1 8\n";
  EXPECT_THAT(refused(octree), HasSubstr("'m.msh' is a UBC OcTree mesh, whose cells differ in size"));
  EXPECT_THAT(refused("! octree\n" + octree), HasSubstr("is a UBC OcTree mesh"));
  EXPECT_THAT(refused("2\n-200 -100 4\n300 8\n3\n0 50 2\n200 3\n300 1\n"), HasSubstr("is a 2-D mesh of UBC"));
  EXPECT_THAT(refused("1\n-200 300 10\n1\n0 200 5\n"), HasSubstr("is a 2-D mesh of UBC"));
  // nine cells: as many numbers as a tensor mesh of these counts has widths
  std::string nine = "16 16 8\n0 0 0\n1 1 1\n9\n";
  for (int i = 1; i <= 9; ++i) nine += std::to_string(i) + " 1 1 1\n";
  EXPECT_THAT(refused(nine), HasSubstr("is a UBC OcTree mesh"));
  // a list that is cut short
  EXPECT_THAT(refused("16 16 8\n0 0 0\n1 1 1\n90\n1 1 1 8\n9 1 1 8\n"), HasSubstr("is a UBC OcTree mesh"));
  // widths over several lines are a tensor mesh
  EXPECT_THAT(read_ubc_mesh({m_folder.write("w.msh", "4 4 4\n0 0 4\n1 1 1\n1\n1 1 1 1\n1 1 1 1\n"), "", ""})[2],
              ElementsAre(0, 1, 2, 3, 4));
  ubc("4 3 2\n0 0 0\n1 1 1\n1\n1 1 1\n2*1\n",
      "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
  EXPECT_EQ(message(), "");
}

TEST_F(Ubc, ReadsUbcFilesHoweverTheyAreBroken) {
  ubc("2 3\n2 100 200\n50 10 20 5\r\n5\r30\n1 4 ! end",
      "111\r\n112\r\n211\n212\n121\n122\n221\n222\n131\n132\n231\n232");
  EXPECT_EQ(read().size(), 12);
  // lines that go on, that hold two directions, or that a program breaks at as many numbers
  for (const char* widths :
       {"50\n10\n20 5 5\n30\n4\n", "50 10 20 5 5\n30\n1\n", "50 10 20 5\n5 30 1\n", "50 10\n20 5\n5 30\n1\n"}) {
    EXPECT_NO_THROW(
        static_cast<void>(read_ubc_mesh({m_folder.write("w.msh", std::string("2 3 2\n0 0 0\n") + widths), "", ""})))
        << widths;
  }
}

TEST_F(Ubc, NamesWhatIsWrongInAUbcMesh) {
  const auto with_mesh = [&](std::string_view mesh) {
    ubc(mesh, small_density);
    return message();
  };
  EXPECT_EQ(with_mesh(""), "m.msh:1: nE: the file ends here");
  EXPECT_EQ(with_mesh("2 0 2\n"), "m.msh:1: nN: '0' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3.5 2\n"), "m.msh:1: nN: '3.5' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 99999999999 2\n"), "m.msh:1: nN: '99999999999' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3 2\n0 north 0\n"), "m.msh:2: N0: 'north' is no finite number");
  EXPECT_EQ(with_mesh("! units km\n2 3 2\n0 0 0\n"),
            "m.msh:1: the comment has the unit km; metres are needed, in the numbers and there");
  EXPECT_EQ(with_mesh("2 3 2\n0,5 0 0\n"), "m.msh:2: '0,5' is not a number; decimals are written with a point");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 nan\n"), "m.msh:2: Ztop: 'nan' is no finite number");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n10 -20\n"),
            "m.msh:3: widths along easting: a width of -20; widths must be above 0");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n3*10\n"),
            "m.msh:3: widths along easting: '3*10' brings 0 widths to 3, but there are 2 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n3*10\n3*5\n1 4\n"),
            "m.msh:3: widths along easting: 3 widths on this line, but there are 2 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n2*5 6\n7\n"),
            "m.msh:5: widths along upward: 1 width on this line, but there are 2 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n2*5 6 7\n"),
            "m.msh:4: widths along upward: the file ends after 1 of 2 widths");
  // the line that is to blame, not the one where the numbers run out
  EXPECT_EQ(with_mesh("! a mesh\n2 3 2\n0 0 0\n10 ! one\n2*5 6\n2*7\n"),
            "m.msh:4: widths along easting: 1 width on this line, but there are 2 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n2*5\n3*7\n"),
            "m.msh:4: widths along northing: 2 widths on this line, but there are 3 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n3*5\n2*6 99\n"),
            "m.msh:5: widths along upward: 3 widths on this line, but there are 2 cells");
  // as many widths as cells in all, but not on each line
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n10\n3*5 6\n2*7\n"),
            "m.msh:3: widths along easting: 1 width on this line, but there are 2 cells");
  EXPECT_EQ(with_mesh("3 3 2\n0 0 0\n10 10\n5 5 5 6\n7\n7\n"),
            "m.msh:4: by nE nN nZ = 3 3 2, this line ends the widths of one direction and begins those of the next; "
            "begin each on a line of its own, with as many widths as cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n*10\n"), "m.msh:3: widths along easting: '' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*\n"), "m.msh:3: widths along easting: '' is no finite number");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n3*5\n2*6\n\n99\n"), "m.msh:7: '99' behind the last width");
  EXPECT_THAT(with_mesh("2 3 2\n1e300 0 0\n2*10\n"), HasSubstr("too small or too large beside the corner"));
}

TEST_F(Ubc, NamesWhatIsWrongInUbcDensities) {
  ubc(small_mesh, "1\n2\n");
  EXPECT_EQ(message(),
            "case.yaml:4: model.mesh.ubc.density: 'm.den' holds 2 values, the mesh of 2 x 3 x 2 has 12 cells");
  ubc(small_mesh, "1\n2\n3\n4\n5\nheavy\n7\nnan\n9\n10\n11\n12\n");
  EXPECT_EQ(message(), "m.den:6: density: 'heavy' is not a number\nm.den:8: density: 'nan' is not finite");
  ubc(small_mesh, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n1e308\n");
  EXPECT_THAT(message(), HasSubstr("too large for double precision in kg/m3"));
  m_spec.ubc = UbcFiles{m_folder / "a.msh", m_folder / "a.den", 1};
  EXPECT_EQ(lines_in(message()), 2U);
  EXPECT_THAT(message(), AllOf(HasSubstr("case.yaml:3: model.mesh.ubc.mesh: 'a.msh' cannot be read"),
                               HasSubstr("case.yaml:4: model.mesh.ubc.density: 'a.den' cannot be read")));
}

class UbcFormats : public ::testing::Test {
protected:
  InputFile file(std::string_view text) { return {m_folder.write("in.txt", text), "", ""}; }
  template <class Write>
  std::string text_of(const Write& write) {
    TemporaryFile temporary(m_folder / "out.txt");
    TextOutput out(temporary);
    write(out);
    out.flush();
    temporary.move_to_target();
    return testing_samples::content(m_folder / "out.txt");
  }
  std::string mesh_text(const CellEdges& edges) {
    return text_of([&](TextOutput& out) { write_ubc_mesh(out, edges); });
  }
  std::string data_mistakes(std::string_view text) {
    return m_folder.removed_from(testing::mistakes([&] { (void)read_ubc_data(file(text), Field::gz, Axes::z_down); }));
  }
  testing::ScratchFolder m_folder;
};

TEST_F(UbcFormats, MeshesComeBack) {
  EXPECT_EQ(mesh_text({{{0, 10, 20, 50}, {-5, 5}, {-30, -10, 0.5}}}), "3 1 2\n0 -5 0.5\n2*10 30\n10\n10.5 20\n");
  // as 1,000 steps of 0.1 round, from a far corner: no width has more digits than it needs
  std::vector<double> even, uneven;
  for (int i = 0; i <= 1000; ++i) even.push_back(500'000 + 0.1 * i);
  for (int i = 0; i <= 300; ++i) uneven.push_back(1e-3 * i * std::sqrt(1.0 + i));
  const CellEdges edges{even, uneven, {-1.0 / 3, 0, 1.0 / 7}};
  const std::string text = mesh_text(edges);
  const CellEdges again = read_ubc_mesh(file(text));
  EXPECT_LT(text.find("\n1000*0.1\n"), text.size());
  for (std::size_t d = 0; d < 3; ++d) {
    ASSERT_EQ(again[d].size(), edges[d].size());
    for (std::size_t i = 0; i < edges[d].size(); ++i) {
      EXPECT_NEAR(again[d][i], edges[d][i], 2.3e-16 * (std::fabs(edges[d][i]) + std::fabs(edges[d].back()))) << d << i;
    }
  }
  EXPECT_EQ(mesh_text(again), text);
}

TEST_F(UbcFormats, ModelsComeBack) {
  const CellCounts counts{2, 3, 2};
  const std::string text =
      "0.111\n0.112\n0.211\n0.212\n0.121\n0.122\n-0.221\n0\n1.31\n0.132\n0.231\n0.23456789012345\n";
  const std::vector<double> values = read_ubc_densities(file(text), 1000, counts);
  // the first value is that of the top south-west cell
  EXPECT_EQ(values[6], 111);
  EXPECT_EQ(values[0], 112);
  EXPECT_EQ(text_of([&](TextOutput& out) {
              write_cell_numbers(out, CellOrder::ubc, {{&values, 1000}}, counts, 0);
            }),
            text);
  std::vector<double> holes = values;
  holes[6] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(text_of([&](TextOutput& out) { write_cell_numbers(out, CellOrder::ubc, {{&holes}}, counts, -100); }),
              ::testing::StartsWith("-100\n112\n"));
  // in the unit of the values every double comes back
  std::vector<double> any;
  for (int i = 0; i < 12; ++i) any.push_back(std::sin(i) / 3);
  const std::string exact =
      text_of([&](TextOutput& out) { write_cell_numbers(out, CellOrder::ubc, {{&any}}, counts, 0); });
  EXPECT_EQ(read_ubc_densities(file(exact), 1, counts), any);
}

TEST_F(UbcFormats, DataComeBack) {
  const std::string text = "2\n-80 10.5 2.97 0.00087145 0.001\n-70 -80 2.4338 -0.82583 0.002\n";
  const PointFields points = read_ubc_data(file("! E N z gz sd\n" + text), Field::gz, Axes::z_down);
  EXPECT_THAT(points.points.easting, ElementsAre(-80, -70));
  EXPECT_THAT(points.points.northing, ElementsAre(10.5, -80));
  EXPECT_THAT(points.points.upward, ElementsAre(2.97, 2.4338));
  ASSERT_EQ(points.fields, FieldList{Field::gz});
  EXPECT_THAT(points.values[0], ElementsAre(0.00087145, -0.82583));
  EXPECT_THAT(points.sigma[0], ElementsAre(0.001, 0.002));
  const auto written = [&](Field field, Axes axes) {
    return text_of([&](TextOutput& out) { write_ubc_data(out, points, field, axes); });
  };
  EXPECT_EQ(written(Field::gz, Axes::z_down), text);
  EXPECT_EQ(written(Field::gz, Axes::z_up), "2\n-80 10.5 2.97 -0.00087145 0.001\n-70 -80 2.4338 0.82583 0.002\n");
  // places alone
  EXPECT_EQ(written(Field::gzz, Axes::z_down), "2\n-80 10.5 2.97\n-70 -80 2.4338\n");
  EXPECT_TRUE(read_ubc_data(file("1\n1 2 3\n"), Field::gz, Axes::z_down).fields.empty());
}

TEST_F(UbcFormats, VectorModelsPointDown) {
  const CellCounts counts{1, 1, 2};
  // the top cell first: east, north, down
  const std::string text = "0.5 0.25 1\n0 -2 -0.125 ! bottom\n";
  const auto vectors = read_ubc_vectors(file(text), 4, counts);
  EXPECT_THAT(vectors[0], ElementsAre(0, 2));
  EXPECT_THAT(vectors[1], ElementsAre(-8, 1));
  EXPECT_THAT(vectors[2], ElementsAre(0.5, -4));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> up{0, nan};
  EXPECT_EQ(text_of([&](TextOutput& out) {
              write_cell_numbers(out, CellOrder::ubc, {{&vectors[0], 4}, {&vectors[1], 4}, {&up, -4}}, counts, -100);
            }),
            "0.5 0.25 -100\n0 -2 0\n");
  // |F0|/mu0 in A/m
  EXPECT_NEAR(magnetization_of({0, 0, 50'000}), 39.788735772973836, 1e-7);
  const auto vector_mistakes = [&](std::string_view wrong) {
    return m_folder.removed_from(testing::mistakes([&] { (void)read_ubc_vectors(file(wrong), 1, counts); }));
  };
  EXPECT_EQ(vector_mistakes("1 2 3\n"),
            "'in.txt' holds 1 vector, but the mesh of 1 x 1 x 2 needs one for each of its 2 cells");
  EXPECT_EQ(vector_mistakes("1 2 3\n4 5\n"),
            "in.txt:2: three numbers a line are needed: along easting, northing and downwards");
  EXPECT_EQ(vector_mistakes("1 2 x\n3 4 5\n"), "in.txt:1: 'x' is not a number");
}

constexpr const char* header = "-62.5 11.25 48250\n";

TEST_F(UbcFormats, MagneticDataSayAlongWhatTheyAre) {
  const std::string rows = "2\n-80 10.5 2.97 12.5 1\n-70 -80 2.4338 -3.25 2\n";
  struct Known {
    const char* anomaly;
    Field field;
    Axes axes;
  };
  for (const auto& [anomaly, field, axes] :
       {Known{"-62.5 11.25 1\n", Field::tmi, Axes::z_down}, Known{"0 90 1\n", Field::bx, Axes::z_down},
        Known{"0 0 1\n", Field::by, Axes::z_down}, Known{"90 0 1\n", Field::bz, Axes::z_down},
        Known{"-90 0 1\n", Field::bz, Axes::z_up}, Known{"-62.5 11.25 2\n", Field::amplitude, Axes::z_down}}) {
    SCOPED_TRACE(anomaly);
    const std::string text = std::string(header) + anomaly + rows;
    const PointFields points = read_ubc_data(file(text), std::nullopt, std::nullopt);
    ASSERT_EQ(points.fields, FieldList{field});
    EXPECT_EQ(points.axes, axes);
    EXPECT_THAT(points.values[0], ElementsAre(12.5, -3.25));
    EXPECT_THAT(points.sigma[0], ElementsAre(1, 2));
    ASSERT_TRUE(points.inducing_field);
    EXPECT_EQ(points.inducing_field->intensity, 48250);
    EXPECT_EQ(text_of([&](TextOutput& out) { write_ubc_data(out, points, field, axes); }), text);
  }
  // other spellings of the directions, and idir 0 with one direction for all
  for (const char* anomaly : {"-62.5 -348.75 1\n", "-62.4999 11.25 0\n"}) {
    EXPECT_EQ(read_ubc_data(file(header + std::string(anomaly) + rows), {}, {}).fields, FieldList{Field::tmi});
  }
  EXPECT_EQ(read_ubc_data(file(header + std::string("90 33 1\n") + rows), {}, {}).fields, FieldList{Field::bz});
  PointFields down = read_ubc_data(file(header + std::string("90 0 1\n") + rows), {}, {});
  EXPECT_EQ(text_of([&](TextOutput& out) { write_ubc_data(out, down, Field::bz, Axes::z_up); }),
            header + std::string("-90 0 1\n2\n-80 10.5 2.97 -12.5 1\n-70 -80 2.4338 3.25 2\n"));
  // along the inducing field are no gradients
  PointFields gradients = down;
  gradients.fields = {Field::bxx};
  EXPECT_THAT(testing::mistakes([&] {
                (void)text_of([&](TextOutput& out) { write_ubc_data(out, gradients, Field::bxx, Axes::z_down); });
              }),
              ::testing::HasSubstr("UBC's magnetic data are bx, by, bz, tmi, tmi_exact, amplitude; for bxx choose"));
  down.inducing_field.reset();
  EXPECT_THAT(testing::mistakes(
                  [&] { (void)text_of([&](TextOutput& out) { write_ubc_data(out, down, Field::bz, Axes::z_up); }); }),
              ::testing::HasSubstr("--inducing-field INCLINATION,DECLINATION,INTENSITY"));
}

TEST_F(UbcFormats, NamesWhatIsWrongInMagneticData) {
  const auto wrong = [&](const std::string& text) {
    return m_folder.removed_from(testing::mistakes([&] { (void)read_ubc_data(file(text), {}, {}); }));
  };
  const std::string rows = "1\n1 2 3 4\n";
  EXPECT_EQ(wrong("-91 0 50000\n0 0 1\n" + rows),
            "in.txt:1: an inclination of -91 and a declination of 0; -90 to 90 and -360 to 360 degrees are allowed");
  EXPECT_EQ(wrong("60 0 0\n60 0 1\n" + rows), "in.txt:1: the inducing field is 0 nT; an intensity above 0 is expected");
  EXPECT_EQ(wrong("60 0 4.8e-5\n60 0 1\n" + rows),
            "in.txt:1: the inducing field is 4.8e-05 nT; an intensity in nT is expected, and this looks like one in T: "
            "write 48000");
  EXPECT_EQ(wrong("60 0 5e4\n60 0 3\n" + rows),
            "in.txt:2: 3 behind the anomaly's direction; 1, of two: 0, or 2, of amplitudes, are known");
  EXPECT_THAT(wrong("60 0 5e4\n30 5 1\n" + rows),
              ::testing::HasSubstr("in.txt:2: the anomaly is along inclination 30, declination 5: neither along the "
                                   "inducing field, as tmi, nor along easting (0 90), northing (0 0) or"));
  EXPECT_THAT(
      wrong("60 0 5e4\n60 0 0\n1\n1 2 3 90 0 4\n"),
      ::testing::HasSubstr("in.txt:4: 6 columns; E, N, elevation, value and standard deviation are at most five "
                           "and at least three; directions of single stations are not read"));
  EXPECT_EQ(wrong("60 0 nan\n60 0 1\n" + rows),
            "in.txt:1: 3 numbers; the number of stations alone is expected on this line");
  const InputFile named{m_folder.write("d.mag", "1\n1 2 3 4\n"), "", ""};
  EXPECT_THAT(testing::mistakes([&] { (void)read_ubc_data(named, {}, {}); }),
              ::testing::HasSubstr("does not begin as UBC's magnetic data do: inclination, declination and intensity"));
  EXPECT_THAT(formats_of(named), ElementsAre(FileFormat::ubc_data));
}

TEST_F(UbcFormats, CellsOfAnOctreeAreBoxes) {
  std::vector<std::string> notes;
  const auto octree = [&](std::string_view cells) {
    notes.clear();
    return read_ubc_octree(file("16 16 8\n-800 -800 100\n100 100 50\n" + std::string(cells)), notes);
  };
  const std::string rest = "9 1 1 8\n1 9 1 8\n13 9 1 4\n9 13 1 4\n13 13 1 4\n9 9 5 4\n13 9 5 4\n9 13 5 4\n13 13 5 4\n";
  const PrismBlock cells = octree("11 ! cells\n1 1 1 8\n9 9 1 4\n" + rest);
  ASSERT_EQ(cells.size(), 11);
  EXPECT_THAT(notes, ::testing::IsEmpty());
  const auto expect = [&](std::size_t cell, std::array<double, 6> faces) {
    EXPECT_THAT((std::array{cells.west[cell], cells.east[cell], cells.south[cell], cells.north[cell],
                            cells.bottom[cell], cells.top[cell]}),
                ::testing::ElementsAreArray(faces));
  };
  expect(0, {-800, 0, -800, 0, -300, 100});
  expect(1, {0, 400, 0, 400, -100, 100});
  expect(10, {400, 800, 400, 800, -300, -100});
  const auto wrong = [&](std::string_view text) {
    return m_folder.removed_from(testing::mistakes([&] { (void)octree(text); }));
  };
  for (const char* row : {"9 5 9 2", "0 1 1 1", "1 1 1 0", "1.5 1 1 1", "1 1 1 1e300", "1 1 1"}) {
    EXPECT_THAT(wrong("1\n" + std::string(row) + "\n"), HasSubstr("in.txt:5: no cell within 16 x 16 x 8")) << row;
  }
  EXPECT_THAT(wrong("3\n1 1 1 8\n"), HasSubstr("says that it holds 3 cells, but has 1"));
  // one missing, one of the wrong size
  EXPECT_EQ(octree("10\n1 1 1 8\n" + rest).size(), 10);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the cells fill 1984 of its 16 x 16 x 8 = 2048 smallest cells")));
  EXPECT_EQ(octree("11\n1 1 1 8\n9 9 1 2\n" + rest).size(), 11);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("fill 1992 of its 16 x 16 x 8 = 2048")));
  // one twice, one in another, one off its place
  EXPECT_EQ(wrong("11\n1 1 1 8\n1 1 1 8\n" + rest),
            "in.txt:6: this cell overlaps that of line 5; the cells of an octree lie beside each other");
  EXPECT_THAT(wrong("11\n1 1 1 8\n5 5 5 4\n" + rest), HasSubstr("in.txt:6: this cell overlaps that of line 5"));
  EXPECT_THAT(wrong("11\n1 1 1 8\n9 8 1 4\n" + rest), HasSubstr("in.txt:6: a cell of size 4 at 9, 8, 1; such cells "));
}

TEST_F(UbcFormats, WhatATextIsFollowsFromContentThenSuffix) {
  using enum FileFormat;
  const auto formats = [&](const char* name, std::string_view text) {
    return formats_of({m_folder.write(name, text), "", ""});
  };
  const std::string magnetic = "60 0 5e4\n60 0 1\n1\n1 2 3 4\n";
  for (const char* name : {"a.txt", "a.dat", "a.csv", "a.obs"})
    EXPECT_THAT(formats(name, magnetic), ElementsAre(ubc_data));
  const std::string four = "2\n1 2 3 4\n1 2 3 5\n";
  for (const char* name : {"a.obs", "a.LOC", "a.grv", "a.pre"}) EXPECT_THAT(formats(name, four), ElementsAre(ubc_data));
  for (const char* name : {"a.txt", "a", "a.dat", "a.xyz", "a.csv"}) {
    EXPECT_THAT(formats(name, four), ElementsAre(ubc_data, tomofast_data)) << name;
  }
  EXPECT_THAT(formats("a.txt", "1\n1 2 3\n"), ElementsAre(ubc_data, tomofast_data, tomofast_values));
  EXPECT_THAT(formats("a.txt", "1\n1 2 3 4 5\n"), ElementsAre(ubc_data));
  EXPECT_THAT(formats("a.txt", "1\n1 2 3 4 5 6\n"), ElementsAre(tomofast_data));
  EXPECT_THAT(formats("a.txt", "! one\n\n1\n0 1 0 1 0 1 1 1 1\n"), ElementsAre(tomofast_grid));
  EXPECT_THAT(formats("a.msh", "1\n0 1 0 1 0 1 1 1 1\n"), ElementsAre(tomofast_grid));
  EXPECT_THAT(formats("a.txt", "2\n.5\n.6\n"), ElementsAre(tomofast_values));
  EXPECT_THAT(formats("a.den", "2\n.5\n.6\n"), ElementsAre(ubc_model));
  // a table, whatever its name; a list is none
  EXPECT_THAT(formats("a.txt", "x y z gz\n1 2 3 4\n5 6 7 8\n"), ElementsAre(xyz));
  EXPECT_THAT(formats("a.dat", "station,x,y,z\np 1,1,2,3\nq,1,2,3\n"), ::testing::IsEmpty());
  EXPECT_THAT(formats("a.dat", "station,x,y,z\np1,1,2,3\n"), ElementsAre(csv));
  EXPECT_THAT(formats("a.obs", "1 2 3 .5\n4 5 6 .7\n"), ElementsAre(xyz));
  EXPECT_THAT(formats("a.txt", ".5\n.6\n"), ::testing::IsEmpty());
  EXPECT_THAT(formats("a.txt", ""), ::testing::IsEmpty());
  EXPECT_THAT(formats("a.csv", ""), ElementsAre(csv));
  // meshes; those of one cell along easting begin as magnetic data do
  EXPECT_THAT(formats("a.msh", "1 3 1\n0 0 0\n10\n5 6 7\n5\n"), ElementsAre(ubc_mesh));
  EXPECT_THAT(formats("a.txt", "1 1 2\n0 0 0\n10\n10\n2*5\n"), ElementsAre(ubc_mesh));
  EXPECT_THAT(formats("a.txt", "2 1 1\n0 0 0\n2*5\n1\n1\n"), ElementsAre(ubc_mesh));
  EXPECT_THAT(formats("a.ome", "2 2 2\n0 0 0\n1 1 1\n1\n1 1 1 2\n"), ElementsAre(ubc_mesh));
  EXPECT_THAT(formats("a.txt", "1 1 1\n2 2 2\n3 3 3\n"), ElementsAre(xyz));
}

TEST_F(UbcFormats, NamesWhatIsWrongInData) {
  EXPECT_EQ(data_mistakes("1 2 3 4\n"), "in.txt:1: 4 numbers; the number of stations alone is expected on this line");
  EXPECT_EQ(data_mistakes("3\n1 2 3 4\n1 2 3\n1 2 x 4\n"),
            "in.txt:3: 3 columns, but 4 before\nin.txt:4: 'x' is not a number");
  for (const char* row : {"100 200 67,5", "100 200 67 6,25 0,5", "100;200;67,5", "100, 200, 67,5"}) {
    EXPECT_THAT(data_mistakes("1\n" + std::string(row) + "\n"),
                AllOf(HasSubstr("in.txt:2: '6"), HasSubstr("' is not a number; decimals are written with a point")));
  }
  EXPECT_THAT(data_mistakes("1\n502,547.5 7,100,200 30\n"), HasSubstr("thousands are written without commas"));
  EXPECT_EQ(data_mistakes("2\n100,200,67\n 100.5,  200,-67.5\n"), "");
  EXPECT_EQ(data_mistakes("1\n1 2\n"),
            "in.txt:2: 2 columns; E, N, elevation, value and standard deviation are at most five and at least three");
  EXPECT_EQ(data_mistakes("1\n1 2 3 4 -1\n"), "in.txt:2: a standard deviation of -1; it is at least 0");
  EXPECT_EQ(data_mistakes("2\n1 2 3 4\n"),
            "'in.txt' says that it holds 2 stations, but has 1; correct that number or its rows");
}

}  // namespace
}  // namespace prismfield::test_ubc
