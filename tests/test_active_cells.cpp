// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/cells.hpp>
#include <prismfield/error.hpp>

#include "model/edges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace prismfield::test_active_cells {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CellEdges uneven() { return {{{0, 10, 15, 40, 41}, {-3, 0, 7, 9}, {-100, -40, -30, -5, 0, 2.5}}}; }

/// Every cell with a probability, at least one.
std::vector<std::int64_t> some_of(std::int64_t total, double probability, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution is_active(probability);
  std::vector<std::int64_t> cells;
  for (std::int64_t cell = 0; cell < total; ++cell) {
    if (is_active(random)) cells.push_back(cell);
  }
  if (cells.empty()) cells.push_back(total / 2);
  return cells;
}

PrismBlock read(const PrismSource& source, IndexRange range) {
  PrismBlock block;
  source.read(range, block);
  return block;
}

void expect_same(const PrismBlock& a, const PrismBlock& b) {
  EXPECT_EQ(a.west, b.west);
  EXPECT_EQ(a.east, b.east);
  EXPECT_EQ(a.south, b.south);
  EXPECT_EQ(a.north, b.north);
  EXPECT_EQ(a.bottom, b.bottom);
  EXPECT_EQ(a.top, b.top);
  EXPECT_EQ(a.density, b.density);
}

/// The mesh with density 1 in these cells and 0 in the others.
std::unique_ptr<Cells> mesh_of(const CellEdges& edges, const std::vector<std::int64_t>& cells) {
  return make_mesh(edges, "model.mesh", [&](const CellEdges& of_mesh) {
    const CellCounts counts = counts_of(of_mesh);
    CellBackground background;
    background[density_property].kind = PropertyFill::Kind::listed;
    background[density_property].values.assign(static_cast<std::size_t>(counts[0] * counts[1] * counts[2]), 0);
    for (const std::int64_t cell : cells) background[density_property].values[static_cast<std::size_t>(cell)] = 1;
    return background;
  });
}

TEST(ActiveCells, AreThePrismsOfAMeshOfDensityOne) {
  for (const double probability : {1.0, 0.9, 0.5, 0.05, 0.0}) {
    const std::vector<std::int64_t> cells = some_of(60, probability, 7);
    const ActiveCells active(uneven(), {1e-9, 2e-9, 0}, cells);
    const std::unique_ptr<Cells> mesh = mesh_of(uneven(), cells);
    ASSERT_EQ(active.size(), mesh->size());
    expect_same(read(active, {0, active.size()}), read(*mesh, {0, mesh->size()}));
    const Bounds a = active.bounds(), b = mesh->bounds();
    EXPECT_THAT((std::vector{a.west, a.east, a.south, a.north, a.bottom, a.top}),
                ElementsAre(b.west, b.east, b.south, b.north, b.bottom, b.top));
    EXPECT_EQ(active.rounding()[1], 2e-9);
    EXPECT_EQ(active.cells(), cells);
  }
}

TEST(ActiveCells, AreReadFromAnyRange) {
  for (const double probability : {1.0, 0.4}) {
    const ActiveCells active(uneven(), {}, some_of(60, probability, 3));
    const PrismBlock all = read(active, {0, active.size()});
    for (std::int64_t begin = 0; begin <= active.size(); ++begin) {
      for (std::int64_t end = begin; end <= active.size(); ++end) {
        const PrismBlock part = read(active, {begin, end});
        ASSERT_EQ(part.size(), end - begin);
        for (std::int64_t i = begin; i < end; ++i) {
          const auto p = static_cast<std::size_t>(i - begin), a = static_cast<std::size_t>(i);
          ASSERT_EQ((std::array{part.west[p], part.east[p], part.south[p], part.north[p], part.bottom[p], part.top[p],
                                part.density[p]}),
                    (std::array{all.west[a], all.east[a], all.south[a], all.north[a], all.bottom[a], all.top[a],
                                all.density[a]}));
        }
      }
    }
    PrismBlock block;
    EXPECT_THROW(active.read({0, active.size() + 1}, block), RunError);
    EXPECT_THROW(active.read({-1, 1}, block), RunError);
  }
}

TEST(ActiveCells, KnowTheirPlaces) {
  const ActiveCells active(uneven(), {}, {0, 5, 59});
  EXPECT_EQ(active.total(), 60);
  EXPECT_EQ(active.counts(), (CellCounts{4, 3, 5}));
  EXPECT_THAT(active.place(0), ElementsAre(0, 0, 0));
  EXPECT_THAT(active.place(1), ElementsAre(1, 1, 0));
  EXPECT_THAT(active.place(2), ElementsAre(3, 2, 4));
  EXPECT_EQ(active.cell(1), 5);
  EXPECT_THAT(active.center(1), ElementsAre(12.5, 3.5, -70));
  EXPECT_THAT(active.widths(1), ElementsAre(5, 7, 60));
  EXPECT_THAT(active.widths(2), ElementsAre(1, 2, 2.5));
}

/// Against all pairs of cells.
TEST(ActiveCells, KnowTheCellsNextToThem) {
  for (const double probability : {1.0, 0.9, 0.5, 0.1}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const ActiveCells active(uneven(), {}, some_of(60, probability, seed));
      for (std::size_t d = 0; d < 3; ++d) {
        const std::vector<std::int32_t> next = active.next(d);
        ASSERT_EQ(static_cast<std::int64_t>(next.size()), active.size());
        for (std::int64_t a = 0; a < active.size(); ++a) {
          std::array<std::int64_t, 3> wanted = active.place(a);
          ++wanted[d];
          std::int32_t found = -1;
          for (std::int64_t b = 0; b < active.size(); ++b) {
            if (active.place(b) == wanted) found = static_cast<std::int32_t>(b);
          }
          ASSERT_EQ(next[static_cast<std::size_t>(a)], found) << "cell " << active.cell(a) << ", direction " << d;
        }
      }
    }
  }
}

TEST(ActiveCells, TakeValuesOutOfThoseOfTheGrid) {
  std::vector<double> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 2;
  EXPECT_THAT(ActiveCells(uneven(), {}, {0, 5, 59}).of_all(values), ElementsAre(0, 2.5, 29.5));
  EXPECT_EQ(ActiveCells(uneven()).of_all(values), values);
  values.pop_back();
  EXPECT_THROW((void)ActiveCells(uneven()).of_all(values), RunError);
}

/// A list of all would take 8 bytes a cell.
TEST(ActiveCells, TakeNoMemoryForAWholeGrid) {
  std::vector<double> many(2001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const ActiveCells huge(CellEdges{many, many, many});
  EXPECT_EQ(huge.size(), 8'000'000'000);
  EXPECT_LT(huge.memory_bytes(), 60'000);
  EXPECT_EQ(read(huge, {7'999'999'999, 8'000'000'000}).top.front(), 2000);
  EXPECT_THROW((void)huge.next(0), RunError);

  std::vector<std::int64_t> all(60);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  EXPECT_LT(ActiveCells(uneven(), {}, all).memory_bytes(), ActiveCells(uneven()).memory_bytes() + 60);
  EXPECT_EQ(ActiveCells(uneven(), {}, all).cells(), all);
  all.pop_back();
  EXPECT_GE(ActiveCells(uneven(), {}, all).memory_bytes(), ActiveCells(uneven()).memory_bytes() + 59 * 8);
}

TEST(ActiveCells, HaveOneShapeWhereEdgesAreEquallyFarApart) {
  EXPECT_FALSE(ActiveCells(uneven()).uniform_shape());
  EXPECT_TRUE(ActiveCells(CellEdges{{{0, 1, 2, 3}, {0, 5}, {-4, -2, 0}}}).uniform_shape());
}

TEST(ActiveCells, AreRisingNumbersOfCells) {
  using List = std::vector<std::int64_t>;
  for (const List& cells : {List{}, List{1, 1}, List{2, 1}, List{-1}, List{60}}) {
    EXPECT_THROW(ActiveCells(uneven(), {}, cells), InputError);
  }
}

TEST(ActiveCells, LieBelowASurfaceWithTheirCentres) {
  const CellEdges edges{{{0, 1, 2}, {0, 1, 2}, {-4, -2, 0, 2}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // the centres are at -3, -1 and 1; a centre on the surface is not below it
  EXPECT_THAT(cells_below(edges, {-3, -2.9, 1.5, -0.5}), ElementsAre(1, 2, 3, 6, 7, 10));
  EXPECT_THAT(cells_below(edges, {-10, -10, nan, -3}), IsEmpty());
  EXPECT_EQ(cells_below(edges, {9, 9, 9, 9}).size(), 12U);
  EXPECT_THROW((void)cells_below(edges, {0, 0, 0}), RunError);
}

}  // namespace
}  // namespace prismfield::test_active_cells
