// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "mesh_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace prismfield {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST_F(Ubc, ReadsUbcFilesHoweverTheyAreBroken) {
  ubc("2 3\n2 100 200\n50 10 20 5\r\n5\r30\n1 4 ! end",
      "111\r\n112\r\n211\n212\n121\n122\n221\n222\n131\n132\n231\n232");
  EXPECT_EQ(read().size(), 12);
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

}  // namespace
}  // namespace prismfield
