// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace prismfield {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::made;
using testing::mistakes;
using testing::ScratchFolder;

constexpr double infinity = std::numeric_limits<double>::infinity();

class Mesh : public ::testing::Test {
protected:
  Mesh() {
    for (const char* key : {"model.mesh", "model.mesh.easting.file", "model.mesh.ubc.mesh", "model.mesh.ubc.density"}) {
      m_run.locations[key] = "case.yaml:" + std::to_string(++m_lines);
    }
    m_spec.easting = EdgesList{{0, 100, 250, 500}};
    m_spec.northing = EdgesWidths{0, {100, 200}};
    m_spec.upward = Axis{-30, 0, 2};
    m_spec.density = ConstantDensity{7};
  }
  PrismBlock read() {
    const auto ensemble = made(m_run, m_spec);
    PrismBlock block;
    ensemble->read({0, ensemble->size()}, block);
    return block;
  }
  std::string message() {
    std::string text = mistakes([&] { (void)made(m_run, m_spec); });
    const std::string folder = (m_folder / "").string();
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }
  void ubc(std::string_view mesh, std::string_view density, double to_si = 1000) {
    m_spec.ubc = UbcFiles{m_folder.write("m.msh", mesh), m_folder.write("m.den", density), to_si};
  }

  ScratchFolder m_folder;
  Case m_run;
  MeshSpec m_spec;
  int m_lines = 0;
};

TEST_F(Mesh, TakesEdgesAsTheyAreWritten) {
  const PrismBlock p = read();
  ASSERT_EQ(p.size(), 3 * 2 * 2);
  EXPECT_THAT(p.west, ElementsAre(0, 100, 250, 0, 100, 250, 0, 100, 250, 0, 100, 250));
  EXPECT_THAT(p.east, ElementsAre(100, 250, 500, 100, 250, 500, 100, 250, 500, 100, 250, 500));
  EXPECT_THAT(p.south, ElementsAre(0, 0, 0, 100, 100, 100, 0, 0, 0, 100, 100, 100));
  EXPECT_THAT(p.north, ElementsAre(100, 100, 100, 300, 300, 300, 100, 100, 100, 300, 300, 300));
  EXPECT_THAT(p.bottom, ElementsAre(-30, -30, -30, -30, -30, -30, -15, -15, -15, -15, -15, -15));
  EXPECT_THAT(p.top, ElementsAre(-15, -15, -15, -15, -15, -15, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(p.density, Each(7));
  EXPECT_EQ(made(m_run, m_spec)->description(), "mesh 3 x 2 x 2, 12 prisms with density");
}

TEST_F(Mesh, TakesEdgesFromAFile) {
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "# west to east\n0\n100, 250 # two\r\n500")};
  EXPECT_THAT(read().east, ElementsAre(100, 250, 500, 100, 250, 500, 100, 250, 500, 100, 250, 500));
}

TEST_F(Mesh, DrawsWidthsUpwardFromTheOrigin) {
  m_spec.upward = EdgesRandom{{1000, 11000}, 400, -5, std::nullopt, 3};
  const auto ensemble = made(m_run, m_spec);
  EXPECT_EQ(ensemble->bounds().bottom, -5);
  PrismBlock p;
  ensemble->read({0, ensemble->size()}, p);
  double edge = -5;
  for (std::size_t k = 0; k < 400; ++k) {
    EXPECT_EQ(p.bottom[6 * k], edge);
    edge += random_uniform(1000, 11000, 3, RandomStream::mesh_width_upward, k);
    EXPECT_EQ(p.top[6 * k], edge);
  }
}

TEST_F(Mesh, DrawsWidthsDownwardFromTheTop) {
  m_spec.upward = EdgesRandom{{1000, 11000}, 20, 77, 0.0, 3};
  const auto ensemble = made(m_run, m_spec);
  EXPECT_EQ(ensemble->bounds().top, 0);
  EXPECT_LT(ensemble->bounds().bottom, -20 * 1000);
  EXPECT_GT(ensemble->bounds().bottom, -20 * 11000);
}

TEST_F(Mesh, DrawsOtherWidthsInEachDirectionOfOneSeed) {
  m_spec.easting = m_spec.northing = m_spec.upward = EdgesRandom{{1, 2}, 1, 0, std::nullopt, 3};
  const PrismBlock p = read();
  EXPECT_EQ((std::set<double>{p.east[0], p.north[0], p.top[0]}).size(), 3U);
  m_spec.easting = EdgesRandom{{4, 4}, 2, 0, std::nullopt, 3};
  EXPECT_THAT(read().east, ElementsAre(4, 8));
}

TEST_F(Mesh, TakesDensitiesByCell) {
  m_spec.density = RandomDensity{{100, 3000}, 7};
  const PrismBlock p = read();
  for (std::size_t c = 0; c < 12; ++c)
    EXPECT_EQ(p.density[c], random_uniform(100, 3000, 7, RandomStream::cell_density, c));
  m_spec.density = DensityFile{m_folder.write("d.txt", "1\n0\n3\n4\n5\n6\n7\n8\n9\n10\n0\n0\n"), "", 1};
  EXPECT_THAT(read().density, ElementsAre(1, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(read().west, ElementsAre(0, 250, 0, 100, 250, 0, 100, 250, 0));
}

TEST_F(Mesh, RefusesEdgesThatDoNotIncrease) {
  m_spec.easting = EdgesList{{0, 100, 100, 50, 500}};
  m_spec.northing = EdgesWidths{0, {100, 0, -5, infinity}};
  m_spec.upward = Axis{0, 0, 2};
  EXPECT_THAT(
      message(),
      AllOf(HasSubstr("model.mesh.easting.edges: edge 2, 100, is not above the one before, 100; edges must increase"),
            HasSubstr("model.mesh.easting.edges: edge 3, 50, is not above the one before, 100"),
            HasSubstr("model.mesh.northing.widths: width 1, 0, must be above 0"),
            HasSubstr("model.mesh.northing.widths: width 2, -5, must be above 0"),
            HasSubstr("model.mesh.northing.widths: width 3, inf, must be above 0"),
            HasSubstr("model.mesh.upward: edge 1")));
  m_spec.easting = EdgesList{{5}};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.edges: 1 edge; two or more are needed"));
  m_spec.easting = EdgesList{{0, 1, std::nan("")}};
  EXPECT_THAT(message(), HasSubstr("edge 2 is not finite"));
  m_spec.easting = EdgesWidths{1e300, {1, 1}};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.widths: edge 1, 1e+300, is not above the one before"));
  m_spec.easting = EdgesRandom{{0, 5}, 3, 0, std::nullopt, 1};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.random_widths: [0, 5]"));
  m_spec.easting = EdgesRandom{{1, 5}, 0, 0, std::nullopt, 1};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.cells: 0 cells"));
}

TEST_F(Mesh, NamesTheLineOfABadEdge) {
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0 1 2\n\n3 2.5\n4\n")};
  EXPECT_EQ(message(), "e.txt:3: easting: edge 4, 2.5, is not above the one before, 3; edges must increase");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0\n1\nx\n1e999\n")};
  EXPECT_EQ(message(), "e.txt:3: easting: 'x' is not a number\ne.txt:4: easting: '1e999' is too large");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0\n")};
  EXPECT_EQ(message(), "e.txt: easting: 1 edge; two or more are needed");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "")};
  EXPECT_EQ(message(), "e.txt: easting: 0 edges; two or more are needed");
  m_spec.easting = EdgesFile{m_folder / "none.txt"};
  EXPECT_EQ(message(), "case.yaml:2: model.mesh.easting.file: 'none.txt' cannot be read: there is no such file");
}

TEST_F(Mesh, RefusesAMeshWithoutDensity) {
  m_spec.density = ConstantDensity{0};
  EXPECT_EQ(message(), "case.yaml:1: model.mesh: the density of every cell is 0; at least one must have a density");
}

// 2 x 3 x 2 cells; the value names the cell: hundreds easting, tens northing, ones layer from the top
constexpr std::string_view small_mesh = "! a comment\n2 3 2\n 100 200 50 ! top south-west corner\n10 20\n2*5 30\n1 4\n";
constexpr std::string_view small_density = "! density\n111\n112\n211\n212\n121\n122\n221\n222\n131\n132\n231\n232\n";

TEST_F(Mesh, ReadsUbcFiles) {
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

TEST_F(Mesh, LeavesOutUbcCellsWithoutDensity) {
  ubc(small_mesh, "0\n0\n211\n0\n0\n0\n0\n0\n0\n0\n0\n0\n", 1);
  const PrismBlock p = read();
  EXPECT_THAT(p.density, ElementsAre(211));
  EXPECT_THAT(p.west, ElementsAre(110));
  EXPECT_THAT(p.top, ElementsAre(50));
}

TEST_F(Mesh, ReadsUbcFilesHoweverTheyAreBroken) {
  ubc("2 3\n2 100 200\n50 10 20 5\r\n5\r30\n1 4 ! end",
      "111\r\n112\r\n211\n212\n121\n122\n221\n222\n131\n132\n231\n232");
  EXPECT_EQ(read().size(), 12);
}

TEST_F(Mesh, NamesWhatIsWrongInAUbcMesh) {
  const auto with_mesh = [&](std::string_view mesh) {
    ubc(mesh, small_density);
    return message();
  };
  EXPECT_EQ(with_mesh(""), "m.msh:1: nE: the file ends here");
  EXPECT_EQ(with_mesh("2 0 2\n"), "m.msh:1: nN: '0' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3.5 2\n"), "m.msh:1: nN: '3.5' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 99999999999 2\n"), "m.msh:1: nN: '99999999999' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3 2\n0 north 0\n"), "m.msh:2: N0: 'north' is no finite number");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 nan\n"), "m.msh:2: Ztop: 'nan' is no finite number");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n10 -20\n"),
            "m.msh:3: widths along easting: a width of -20; widths must be above 0");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n3*10\n"),
            "m.msh:3: widths along easting: '3*10' brings 0 widths to 3, but there are 2 cells");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n2*5 6\n7\n"),
            "m.msh:5: widths along upward: the file ends after 1 of 2 widths");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n*10\n"), "m.msh:3: widths along easting: '' is no number of cells, 1 to 10000000");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*\n"), "m.msh:3: widths along easting: '' is no finite number");
  EXPECT_EQ(with_mesh("2 3 2\n0 0 0\n2*10\n3*5\n2*6\n\n99\n"), "m.msh:7: '99' behind the last width");
  EXPECT_THAT(with_mesh("2 3 2\n1e300 0 0\n2*10\n"), HasSubstr("too small or too large beside the corner"));
}

TEST_F(Mesh, NamesWhatIsWrongInUbcDensities) {
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

}  // namespace
}  // namespace prismfield
