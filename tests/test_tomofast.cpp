// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/exchange_files.hpp"
#include "writers/write_content.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_file.hpp"
#include "folder_test.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_tomofast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mistakes;

class Tomofast : public ::testing::Test {
protected:
  InputFile file(std::string_view text) { return {m_folder.write("f.txt", text), "", ""}; }
  std::string grid_mistakes(std::string_view text) {
    return m_folder.removed_from(mistakes([&] { (void)read_tomofast_grid(file(text), 1); }));
  }
  template <class Write>
  InputFile written(const Write& write) {
    TemporaryFile temporary(m_folder / "out.txt");
    TextOutput out(temporary);
    write(out);
    out.flush();
    temporary.move_to_target();
    return {m_folder / "out.txt", "", ""};
  }
  testing::ScratchFolder m_folder;
};

// 2 x 1 x 2 cells: a thin layer above a thick one
constexpr std::string_view small_grid =
    "4\n0 10 5 6 0 1 1 1 1\n10 30 5 6 0 1 2 1 1\n0 10 5 6 1 4 1 1 2\n10 30 5 6 1 4 2 1 2\n";

TEST_F(Tomofast, TurnsDepthsIntoHeights) {
  const TomofastGrid grid = read_tomofast_grid(file(small_grid), 1);
  ASSERT_TRUE(grid.edges);
  EXPECT_THAT((*grid.edges)[0], ElementsAre(0, 10, 30));
  EXPECT_THAT((*grid.edges)[1], ElementsAre(5, 6));
  EXPECT_THAT((*grid.edges)[2], ElementsAre(-4, -1, 0));
  EXPECT_FALSE(std::signbit((*grid.edges)[2].back()));
  EXPECT_TRUE(grid.values.empty());
  // the first row of the file is the western cell of the top
  const std::vector<double> values = read_tomofast_values(file("4\n1\n2\n3\n4\n"), 1, 4).front();
  EXPECT_THAT(in_cell_order(grid, values), ElementsAre(3, 4, 1, 2));
}

TEST_F(Tomofast, TakesRowsInAnyOrderWithValues) {
  const TomofastGrid grid = read_tomofast_grid(
      file("4\n10 30 5 6 1 4 .4 2 1 2\n0 10 5 6 0 1 .1 1 1 1\n0 10 5 6 1 4 .3 1 1 2\n10 30 5 6 0 1 .2 2 1 1 ! last\n"),
      1000);
  ASSERT_TRUE(grid.edges);
  ASSERT_EQ(grid.values.size(), 1U);
  EXPECT_THAT(in_cell_order(grid, grid.values.front()), ElementsAre(300, 400, 100, 200));
}

TEST_F(Tomofast, KnowsGridsThatFollowTheTerrain) {
  const TomofastGrid grid = read_tomofast_grid(file("2\n0 10 0 10 0 5 1 1 1\n10 20 0 10 -2 5 2 1 1\n"), 1);
  EXPECT_FALSE(grid.edges);
  EXPECT_THAT(grid.cells.top, ElementsAre(0, 2));
  EXPECT_THAT(grid.cells.bottom, ElementsAre(-5, -5));
  EXPECT_FALSE(read_tomofast_grid(file("2\n0 10 0 10 0 5 1 1 1\n0 10 10 20 -2 5 2 1 1\n"), 1).edges);
  // digits cut off by the file are no terrain
  EXPECT_TRUE(read_tomofast_grid(file("2\n0 3.333 0 10 0 5 1 1 1\n3.3333 20 0 10 0 5 2 1 1\n"), 1).edges);
}

TEST_F(Tomofast, ReadsEveryDirectionOfTheIndices) {
  const CellEdges edges{{{0, 10, 30}, {5, 6, 8, 12}, {-9, -4, -1, -0.5, 2}}};
  const CellCounts counts = counts_of(edges);
  std::vector<double> densities(24);
  for (std::size_t cell = 0; cell < densities.size(); ++cell) densities[cell] = static_cast<double>(cell) + 0.5;
  std::array<std::size_t, 3> index_of{0, 1, 2};
  do {
    for (unsigned falling = 0; falling < 8; ++falling) {
      for (const bool with_value : {true, false}) {
        std::string grid_text = "24\n", values_text = "24\n";
        // a step of 5, prime to 24: rows in no order of the cells
        for (std::int64_t row = 0; row < 24; ++row) {
          const std::int64_t cell = row * 5 % 24;
          const std::array<std::int64_t, 3> at{cell % counts[0], cell / counts[0] % counts[1],
                                               cell / counts[0] / counts[1]};
          std::array<std::int64_t, 3> ijk{};
          for (std::size_t d = 0; d < 3; ++d) {
            ijk[index_of[d]] = (falling >> d & 1U) != 0 ? counts[d] - at[d] : at[d] + 1;
          }
          const auto face = [&](std::size_t d, std::int64_t side) {
            return edges[d][static_cast<std::size_t>(at[d] + side)];
          };
          const std::string value = fmt::format("{}", densities[static_cast<std::size_t>(cell)]);
          values_text += value + "\n";
          grid_text += fmt::format("{} {} {} {} {} {} {}{} {} {}\n", face(0, 0), face(0, 1), face(1, 0), face(1, 1),
                                   -face(2, 1), -face(2, 0), with_value ? value + " " : "", ijk[0], ijk[1], ijk[2]);
        }
        SCOPED_TRACE(grid_text);
        const TomofastGrid grid = read_tomofast_grid(file(grid_text), 1);
        ASSERT_TRUE(grid.edges);
        EXPECT_EQ(*grid.edges, edges);
        const std::vector<double> values =
            with_value ? grid.values.front() : read_tomofast_values(file(values_text), 1, 24).front();
        EXPECT_EQ(in_cell_order(grid, values), densities);
      }
    }
  } while (std::next_permutation(index_of.begin(), index_of.end()));
}

TEST_F(Tomofast, FindsTheAxisOfTheOnlyIndexThatCounts) {
  // i counts northing, and all that easting has is one cell
  const TomofastGrid grid = read_tomofast_grid(file("2\n0 1 7 9 0 5 1 1 1\n0 1 4 7 0 5 2 1 1\n"), 1);
  ASSERT_TRUE(grid.edges);
  EXPECT_THAT((*grid.edges)[1], ElementsAre(4, 7, 9));
  EXPECT_THAT(in_cell_order(grid, {1, 2}), ElementsAre(2, 1));
  // gaps and overlaps are no grid, whatever the indices are
  EXPECT_FALSE(read_tomofast_grid(file("2\n0 1 7 9 0 5 1 1 1\n0 1 4 6 0 5 2 1 1\n"), 1).edges);
  EXPECT_FALSE(read_tomofast_grid(file("2\n0 1 7 9 0 5 1 1 1\n0 1 4 8 0 5 2 1 1\n"), 1).edges);
}

TEST_F(Tomofast, NamesWhatIsWrongInAGrid) {
  EXPECT_EQ(grid_mistakes("many\n"),
            "f.txt:1: 'many' is no number of cells; the number of cells alone is expected on this line");
  EXPECT_EQ(grid_mistakes("0 1 2\n"), "f.txt:1: 3 numbers; the number of cells alone is expected on this line");
  EXPECT_EQ(grid_mistakes("1\n0 1 0 1 0 x 1 1 1\n"), "f.txt:2: 'x' is not a number");
  EXPECT_EQ(grid_mistakes("1\n0 1 0 1 0 nan 1 1 1\n"), "f.txt:2: 'nan' is not finite");
  EXPECT_EQ(
      grid_mistakes("1\n0 1 0 1 0 1 1 1\n"),
      "f.txt:2: 8 columns; X1 X2 Y1 Y2 Z1 Z2 i j k, or a value or three before i, are needed, in all lines alike");
  EXPECT_EQ(grid_mistakes("1\n0 1 0 1 0 1 1 0 1\n"), "f.txt:2: i, j, k are 1, 0, 1; whole numbers from 1 are needed");
  EXPECT_EQ(grid_mistakes("1\n0 1 0 1 0 -1 1 1 1\n"),
            "f.txt:2: X2, Y2 or Z2 is not above X1, Y1 or Z1; Z is the depth, Z1 the cell's top");
  EXPECT_EQ(grid_mistakes("2\n0 1 0 1 0 1 1 1 1\n"),
            "'f.txt' says that it holds 2 cells, but has 1; correct that number or its rows");
  EXPECT_EQ(grid_mistakes("1\n0 1 0 1 0 1 9999999 9999999 9999999\n"),
            "'f.txt' has 1 row for i to 9999999, j to 9999999, k to 9999999; a row for each cell is needed");
  EXPECT_EQ(grid_mistakes("2\n0 1 0 1 0 1 2 1 1\n0 1 0 1 0 1 2 1 1\n"),
            "'f.txt' has the cell i = 2, j = 1, k = 1 twice");
}

TEST_F(Tomofast, NamesWhatIsWrongInValues) {
  const auto with = [&](std::string_view text) {
    return m_folder.removed_from(mistakes([&] { (void)read_tomofast_values(file(text), 1, 2); }));
  };
  EXPECT_EQ(with("3\n1\n2\n3\n"),
            "f.txt:1: 3 values, but the grid has 2 cells; name the grid that they belong to by --mesh");
  EXPECT_EQ(with("2\n1\n"), "'f.txt' says that it holds 2 values, but has 1; correct that number or its rows");
  EXPECT_EQ(with("2\n1 2\n3\n"),
            "f.txt:2: 2 numbers; one, or three of a magnetisation, a line are needed, in all lines alike");
  EXPECT_EQ(with(""), "'f.txt' holds no numbers");
}

TEST_F(Tomofast, ReadsDataDownwards) {
  const PointFields points =
      read_tomofast_data(file("2\n50 60 -0.1 1.5e-5\n150 60 0 -2e-6\n"), Field::gz, Axes::z_down);
  EXPECT_THAT(points.points.easting, ElementsAre(50, 150));
  EXPECT_THAT(points.points.northing, ElementsAre(60, 60));
  EXPECT_THAT(points.points.upward, ElementsAre(0.1, 0));
  EXPECT_EQ(points.axes, Axes::z_down);
  ASSERT_EQ(points.fields, FieldList{Field::gz});
  EXPECT_DOUBLE_EQ(points.values[0][0], 1.5);
  EXPECT_DOUBLE_EQ(points.values[0][1], -0.2);
  EXPECT_TRUE(read_tomofast_data(file("1\n1 2 3\n"), Field::gz, Axes::z_down).fields.empty());
  EXPECT_EQ(m_folder.removed_from(
                mistakes([&] { (void)read_tomofast_data(file("2\n1 2 3 4\n1 2 3\n"), Field::gz, Axes::z_down); })),
            "f.txt:3: 3 columns; X, Y, Z and gz, or bx, by, bz, are needed, in all lines alike");
}

TEST_F(Tomofast, GridsAndValuesComeBack) {
  const CellEdges edges{{{0, 0.1, 0.30000000000000004}, {-7e6, -6999999.9}, {-1234.5678, -3, 0, 12}}};
  const std::vector<double> values{1, 2.25, 1.0 / 3, std::numeric_limits<double>::quiet_NaN(), -270, 0};
  const TomofastGrid grid = read_tomofast_grid(written([&](TextOutput& out) { write_tomofast_grid(out, edges); }), 1);
  ASSERT_TRUE(grid.edges);
  EXPECT_EQ(*grid.edges, edges);
  const InputFile file = written([&](TextOutput& out) {
    write_cell_numbers(out, CellOrder::tomofast, {{&values, 1000}}, counts_of(edges), -9);
  });
  const std::vector<double> read = in_cell_order(grid, read_tomofast_values(file, 1000, 6).front());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_EQ(read[i], -9000);
    } else {
      EXPECT_DOUBLE_EQ(read[i], values[i]);
    }
  }
}

TEST_F(Tomofast, TextComesBackAsItWas) {
  const std::string text = "3\n50 60 -0.1 0.000015\n150.25 60 0 -0.0000123456\n1 2 3 1.23456789012345e-6\n";
  const PointFields points = read_tomofast_data(file(text), Field::gz, Axes::z_down);
  const InputFile again =
      written([&](TextOutput& out) { write_tomofast_data(out, points, {Field::gz}, Axes::z_down); });
  std::ifstream in(again.path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "3\n50 60 -0.1 0.000015\n150.25 60 0 -0.0000123456\n1 2 3 1.23456789012345e-06\n");
  const PointFields up =
      read_tomofast_data(written([&](TextOutput& out) { write_tomofast_data(out, points, {Field::gz}, Axes::z_up); }),
                         Field::gz, Axes::z_down);
  EXPECT_EQ(up.values[0][0], -points.values[0][0]);
}

TEST_F(Tomofast, MagnetisationsPointDownInTheFile) {
  const std::string_view grid_with_vectors = "2\n0 10 5 6 0 1 0.5 1.5 2 1 1 1\n0 10 5 6 1 4 -1 0 -0.25 1 1 2\n";
  const TomofastGrid grid = read_tomofast_grid(file(grid_with_vectors), 1);
  const auto values = read_tomofast_values(file("2\n0.5 1.5 2\n-1 0 -0.25\n"), 1, 2);
  ASSERT_EQ(grid.values.size(), 3U);
  EXPECT_EQ(grid.values, values);
  // A/m, up: the first row of the file is the top
  EXPECT_THAT(in_cell_order(grid, values[0]), ElementsAre(-1, 0.5));
  EXPECT_THAT(in_cell_order(grid, values[1]), ElementsAre(0, 1.5));
  EXPECT_THAT(in_cell_order(grid, values[2]), ElementsAre(0.25, -2));
  const std::vector<double> east = in_cell_order(grid, values[0]), north = in_cell_order(grid, values[1]),
                            up = in_cell_order(grid, values[2]);
  const InputFile again = written([&](TextOutput& out) {
    write_cell_numbers(out, CellOrder::tomofast, {{&east}, {&north}, {&up, -1}}, counts_of(*grid.edges), 0);
  });
  EXPECT_EQ(testing_samples::content(again.path), "2\n0.5 1.5 2\n-1 0 -0.25\n");
}

/// A dipole of 1 A m2 that points down, made by hand: 10 m above it B is 2 mu0/(4 pi 10^3) T = 0.2 nT downwards; 10 m
/// east of it mu0/(4 pi 10^3) T = 0.1 nT upwards.
TEST_F(Tomofast, MagneticDataPointDown) {
  const std::string text = "2\n0 0 -10 0 0 0.2\n10 0 0 0 0 -0.1\n";
  const PointFields points = read_tomofast_data(file(text), Field::gz, Axes::z_down);
  ASSERT_EQ(points.fields, (FieldList{Field::bx, Field::by, Field::bz}));
  EXPECT_THAT(points.points.upward, ElementsAre(10, 0));
  EXPECT_EQ(points.axes, Axes::z_down);
  EXPECT_THAT(points.values[2], ElementsAre(0.2, -0.1));
  EXPECT_EQ(testing_samples::content(
                written([&](TextOutput& out) { write_tomofast_data(out, points, points.fields, Axes::z_down); }).path),
            text);
  EXPECT_EQ(testing_samples::content(
                written([&](TextOutput& out) { write_tomofast_data(out, points, points.fields, Axes::z_up); }).path),
            "2\n0 0 -10 0 0 -0.2\n10 0 0 0 0 0.1\n");
  // one number a point is gz in m/s2, or tmi in nT
  const PointFields tmi = read_tomofast_data(file("1\n0 0 -10 0.125\n"), Field::tmi, Axes::z_down);
  ASSERT_EQ(tmi.fields, FieldList{Field::tmi});
  EXPECT_THAT(tmi.values[0], ElementsAre(0.125));
  EXPECT_EQ(testing_samples::content(
                written([&](TextOutput& out) { write_tomofast_data(out, tmi, tmi.fields, Axes::z_down); }).path),
            "1\n0 0 -10 0.125\n");
}

TEST_F(Tomofast, RefusesNaNInData) {
  PointFields points = read_tomofast_data(file("1\n1 2 3 4\n"), Field::gz, Axes::z_down);
  points.values[0][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(mistakes([&] {
                (void)written([&](TextOutput& out) { write_tomofast_data(out, points, {Field::gz}, Axes::z_down); });
              }),
              HasSubstr("1 of gz is no number, which Tomofast data cannot hold"));
}

}  // namespace
}  // namespace prismfield::test_tomofast
