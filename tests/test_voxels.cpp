// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"
#include "list_ensemble.hpp"
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>

namespace prismfield::test_voxels {
namespace {

using ::testing::AllOf;
using testing::append;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::made;
using testing::mistakes;
using testing::read_all;
using testing::ScratchFolder;
using testing::voxels_case;

void expect_equal(const PrismBlock& a, const PrismBlock& b) {
  EXPECT_EQ(a.west, b.west);
  EXPECT_EQ(a.east, b.east);
  EXPECT_EQ(a.south, b.south);
  EXPECT_EQ(a.north, b.north);
  EXPECT_EQ(a.bottom, b.bottom);
  EXPECT_EQ(a.top, b.top);
  EXPECT_EQ(a.density, b.density);
}

/// Products kept in memory are rounded: no compiler fuses them with a sum.
double times(double a, double b) {
  const volatile double product = a * b;
  return product;
}

double edge(const Axis& axis, std::int64_t i) {
  if (i == axis.count) return axis.max;
  return axis.min + times(static_cast<double>(i), (axis.max - axis.min) / static_cast<double>(axis.count));
}

double center(const Axis& axis, std::int64_t i) {
  return axis.min + times(static_cast<double>(i) + 0.5, (axis.max - axis.min) / static_cast<double>(axis.count));
}

/// Every cell looked at, as the definition of model.voxels reads; `background` gives the density of a cell by its
/// number.
template <class Background>
PrismBlock cell_by_cell(const VoxelsSpec& v, const Background& background) {
  PrismBlock out;
  for (std::int64_t k = 0; k < v.upward.count; ++k) {
    for (std::int64_t j = 0; j < v.northing.count; ++j) {
      for (std::int64_t i = 0; i < v.easting.count; ++i) {
        const double x = center(v.easting, i), y = center(v.northing, j), z = center(v.upward, k);
        double density = background((k * v.northing.count + j) * v.easting.count + i);
        for (const Sphere& s : v.spheres) {
          const double dx = x - s.center[0], dy = y - s.center[1], dz = z - s.center[2];
          if ((times(dx, dx) + times(dy, dy)) + times(dz, dz) <= times(s.radius, s.radius))
            density = s.properties[density_property];
        }
        for (const Box& b : v.boxes) {
          const bool inside = b.easting.min <= x && x < b.easting.max && b.northing.min <= y && y < b.northing.max &&
                              b.upward.min <= z && z < b.upward.max;
          if (inside) density = b.properties[density_property];
        }
        if (density == 0) continue;
        append(out, edge(v.easting, i), edge(v.easting, i + 1), edge(v.northing, j), edge(v.northing, j + 1),
               edge(v.upward, k), edge(v.upward, k + 1), density);
      }
    }
  }
  return out;
}

void expect_bounds_around(const PrismBlock& prisms, const Bounds& bounds) {
  EXPECT_EQ(bounds.west, *std::min_element(prisms.west.begin(), prisms.west.end()));
  EXPECT_EQ(bounds.east, *std::max_element(prisms.east.begin(), prisms.east.end()));
  EXPECT_EQ(bounds.south, *std::min_element(prisms.south.begin(), prisms.south.end()));
  EXPECT_EQ(bounds.north, *std::max_element(prisms.north.begin(), prisms.north.end()));
  EXPECT_EQ(bounds.bottom, *std::min_element(prisms.bottom.begin(), prisms.bottom.end()));
  EXPECT_EQ(bounds.top, *std::max_element(prisms.top.begin(), prisms.top.end()));
}

VoxelsSpec seven_spheres() {
  VoxelsSpec v;
  v.easting = {0, 22000, 700};
  v.northing = {0, 22000, 700};
  v.upward = {-8000, 0, 50};
  v.spheres = {{{11000, 11000, -4000}, 1080, 300}, {{17500, 11000, -2000}, 1090, -200},
               {{14250, 16629, -2600}, 1110, 250}, {{7750, 16629, -3200}, 1130, 400},
               {{4500, 11000, -3800}, 1120, -300}, {{7750, 5371, -4400}, 1110, 500},
               {{14250, 5371, -5000}, 1110, 350}};
  return v;
}

TEST(Voxels, SevenSpheresOfThePapersHave251946Prisms) {
  const auto ensemble = made(voxels_case(), seven_spheres());
  ASSERT_EQ(ensemble->size(), 251946);
  EXPECT_EQ(ensemble->description(), "voxels 700 x 700 x 50, 251946 prisms with density");
  std::map<double, int> count;
  for (const double density : read_all(*ensemble).density) ++count[density];
  // counted by a program in Python, cell by cell
  EXPECT_EQ(count,
            (std::map<double, int>{
                {300, 33384}, {-200, 34288}, {250, 36274}, {400, 38352}, {-300, 37248}, {500, 36126}, {350, 36274}}));
  expect_bounds_around(read_all(*ensemble), ensemble->bounds());
  EXPECT_THAT(ensemble->warnings(), IsEmpty());
}

TEST(Voxels, OneSphereOfThePapersHas13997Prisms) {
  VoxelsSpec v;
  v.easting = {0, 10000, 100};
  v.northing = {0, 10000, 100};
  v.upward = {-5000, 0, 50};
  v.spheres = {{{5050, 5050, -2450}, 1497, 1000}};
  EXPECT_EQ(made(voxels_case(), v)->size(), 13997);
}

TEST(Voxels, OneCellIsTheWholeBox) {
  VoxelsSpec v;
  v.easting = {-1, 2, 1};
  v.northing = {3, 7, 1};
  v.upward = {-9, -8, 1};
  v.density = ConstantProperty{5};
  PrismBlock expected;
  append(expected, -1, 2, 3, 7, -9, -8, 5);
  expect_equal(read_all(*made(voxels_case(), v)), expected);
  EXPECT_EQ(made(voxels_case(), v)->description(), "voxels 1 x 1 x 1, 1 prism with density");
}

TEST(Voxels, NeighboursShareTheirFacesToTheLastBit) {
  VoxelsSpec v;
  v.easting = {0.1, 0.7, 7};
  v.northing = {1e5 + 0.1, 1e5 + 0.7, 11};
  v.upward = {-0.3, 1e-3, 13};
  v.density = ConstantProperty{1};
  const PrismBlock p = read_all(*made(voxels_case(), v));
  ASSERT_EQ(p.size(), 7 * 11 * 13);
  for (std::size_t c = 0; c + 1 < 7; ++c) EXPECT_EQ(p.east[c], p.west[c + 1]);
  for (std::size_t c = 0; c + 7 < 77; c += 7) EXPECT_EQ(p.north[c], p.south[c + 7]);
  for (std::size_t c = 0; c + 77 < p.top.size(); c += 77) EXPECT_EQ(p.top[c], p.bottom[c + 77]);
  EXPECT_EQ(p.east[6], 0.7);
  EXPECT_EQ(p.top.back(), 1e-3);
}

TEST(Voxels, ASphereTakesCentresOnItsSurface) {
  VoxelsSpec v;
  v.easting = v.northing = v.upward = {0, 8, 8};
  v.spheres = {{{3.5, 3.5, 3.5}, 2, 1}};
  // lattice points within 2 of the origin: 1 + 6 + 12 + 8 + 6
  EXPECT_EQ(made(voxels_case(), v)->size(), 33);
  v.spheres[0].radius = std::nextafter(2.0, 0.0);
  EXPECT_EQ(made(voxels_case(), v)->size(), 27);
}

TEST(Voxels, ABoxTakesCentresOnItsMinimumAndNotOnItsMaximum) {
  VoxelsSpec v;
  v.easting = v.northing = v.upward = {0, 8, 8};
  v.boxes = {{{1.5, 3.5}, {2.5, 3.5}, {0, 8}, 7}};
  const auto ensemble = made(voxels_case(), v);
  EXPECT_EQ(ensemble->size(), 2 * 1 * 8);
  EXPECT_EQ(ensemble->bounds().west, 1);
  EXPECT_EQ(ensemble->bounds().east, 3);
}

TEST(Voxels, LaterShapesWinAndZeroCarves) {
  VoxelsSpec v;
  v.easting = {0, 5, 5};
  v.northing = v.upward = {0, 1, 1};
  v.density = ConstantProperty{1};
  v.spheres = {{{2.5, 0.5, 0.5}, 2, 2}, {{2.5, 0.5, 0.5}, 1, 0}};
  EXPECT_THAT(read_all(*made(voxels_case(), v)).density, ElementsAre(2, 2));
  v.boxes = {{{0, 1}, {0, 1}, {0, 1}, 0}, {{2, 3}, {0, 1}, {0, 1}, 4}};
  const PrismBlock p = read_all(*made(voxels_case(), v));
  EXPECT_THAT(p.density, ElementsAre(4, 2));
  EXPECT_THAT(p.west, ElementsAre(2, 4));
}

TEST(Voxels, EqualTheCellsLookedAtOneByOne) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto between = [&](double a, double b) { return a + (b - a) * uniform(generator); };
  ScratchFolder folder;
  for (int round = 0; round < 150; ++round) {
    VoxelsSpec v;
    const auto axis = [&](double low) {
      return Axis{low, low + between(1, 50), 1 + static_cast<std::int64_t>(generator() % 17)};
    };
    v.easting = axis(-20);
    v.northing = axis(1e5);
    v.upward = axis(-40);
    const auto in = [&](const Axis& a) { return between(a.min - 5, a.max + 5); };
    const auto density = [&] { return static_cast<double>(generator() % 4); };
    for (auto n = generator() % 6; n > 0; --n) {
      v.spheres.push_back({{in(v.easting), in(v.northing), in(v.upward)}, between(0.1, 25), density()});
    }
    for (auto n = generator() % 6; n > 0; --n) {
      const auto range = [&](const Axis& a) {
        const double low = in(a);
        return Range{low, low + between(0, 30)};
      };
      v.boxes.push_back({range(v.easting), range(v.northing), range(v.upward), density()});
    }
    const std::int64_t cells = v.easting.count * v.northing.count * v.upward.count;
    PrismBlock expected;
    if (round % 4 == 0) {
      v.density = ConstantProperty{round % 8 == 0 ? 0.0 : 3.0};
      expected = cell_by_cell(v, [&](std::int64_t) { return round % 8 == 0 ? 0.0 : 3.0; });
    } else if (round % 4 == 1) {
      v.density = RandomProperty{{100, 3000}, 42};
      expected = cell_by_cell(v, [&](std::int64_t cell) {
        return random_uniform(100, 3000, 42, RandomStream::cell_density, static_cast<std::uint64_t>(cell));
      });
    } else {
      // half of them, or all but a few, 0
      std::vector<double> values;
      for (std::int64_t c = 0; c < cells; ++c)
        values.push_back(generator() % 8 < (round % 4 == 2 ? 4 : 1) ? 1.0 + static_cast<double>(c) : 0.0);
      std::string text;
      for (const double value : values) text += std::to_string(value) + "\n";
      v.density = DensityFile{folder.write("density.txt", text), "", 1};
      expected = cell_by_cell(v, [&](std::int64_t cell) { return values[static_cast<std::size_t>(cell)]; });
    }
    if (expected.size() == 0) {
      EXPECT_THAT(mistakes([&] { (void)made(voxels_case(), v); }), HasSubstr("no cell has a density"));
      continue;
    }
    const auto ensemble = made(voxels_case(), v);
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_EQ(ensemble->size(), expected.size());
    expect_equal(read_all(*ensemble), expected);
    expect_bounds_around(expected, ensemble->bounds());

    // the same in pieces, whatever they are and whatever the block held before
    PrismBlock piece, together;
    for (std::int64_t at = 0; at < ensemble->size();) {
      const std::int64_t end =
          std::min<std::int64_t>(ensemble->size(), at + 1 + static_cast<std::int64_t>(generator() % 40));
      ensemble->read({at, end}, piece);
      ASSERT_EQ(piece.size(), end - at);
      for (std::size_t i = 0; i < static_cast<std::size_t>(end - at); ++i) {
        append(together, piece.west[i], piece.east[i], piece.south[i], piece.north[i], piece.bottom[i], piece.top[i],
               piece.density[i]);
      }
      at = end;
    }
    expect_equal(together, expected);
    ensemble->read({ensemble->size(), ensemble->size()}, piece);
    EXPECT_EQ(piece.size(), 0);
  }
}

/// Cells of 3 x 2 x 1 in a row of numbers each, as they are read: easting of the cell, density, susceptibility,
/// magnetisation along upward with 1 SI magnetised to (1, 2, -3) A/m.
std::vector<std::vector<double>> magnetic_rows(const VoxelsSpec& v, ScratchFolder& folder, const std::string& text) {
  (void)folder.write("chi.txt", text);
  Case run = voxels_case();
  run.magnetic = testing::small_field();
  const auto ensemble = made(run, v);
  const PrismBlock p = read_all(*ensemble);
  std::vector<double> susceptibility;
  ensemble->model().cells()->read_susceptibilities({0, ensemble->size()}, susceptibility);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < p.west.size(); ++i) {
    rows.push_back({p.west[i], p.south[i], p.density[i], susceptibility[i], p.magnetization[2][i]});
  }
  return rows;
}

TEST(Voxels, MayHaveSeveralProperties) {
  ScratchFolder folder;
  VoxelsSpec v;
  v.easting = {0, 3, 3};
  v.northing = {0, 2, 2};
  v.upward = {0, 1, 1};
  using Row = std::vector<double>;
  // constant: painted cells have nothing of the background
  v.susceptibility = ConstantProperty{0.5};
  v.boxes = {{{1, 3}, {0, 1}, {0, 1}, {300, 0, 0, 0, 7}}, {{2, 3}, {0, 1}, {0, 1}, {}}};
  EXPECT_THAT(magnetic_rows(v, folder, ""),
              ElementsAre(Row{0, 0, 0, 0.5, -1.5}, Row{1, 0, 300, 0, 7}, Row{0, 1, 0, 0.5, -1.5},
                          Row{1, 1, 0, 0.5, -1.5}, Row{2, 1, 0, 0.5, -1.5}));
  // one listed beside a constant density
  v.density = ConstantProperty{10};
  v.susceptibility = DensityFile{folder / "chi.txt", "", {}, "susceptibility"};
  EXPECT_THAT(magnetic_rows(v, folder, "1\n2\n3\n0\n5\n6\n"),
              ElementsAre(Row{0, 0, 10, 1, -3}, Row{1, 0, 300, 0, 7}, Row{0, 1, 10, 0, 0}, Row{1, 1, 10, 5, -15},
                          Row{2, 1, 10, 6, -18}));
  // listed alone: cells of 0 are left out, a box of the property that is listed is painted into the list
  v.density = ConstantProperty{};
  v.boxes = {{{1, 2}, {0, 2}, {0, 1}, {0, 4}}, {{0, 1}, {0, 1}, {0, 1}, {20}}};
  EXPECT_THAT(magnetic_rows(v, folder, "1\n2\n0\n0\n5\n6\n"),
              ElementsAre(Row{0, 0, 20, 0, 0}, Row{1, 0, 0, 4, -12}, Row{1, 1, 0, 4, -12}, Row{2, 1, 0, 6, -18}));
  // random beside it
  v.density = RandomProperty{{100, 200}, 3};
  v.boxes.clear();
  const auto rows = magnetic_rows(v, folder, "1\n2\n0\n0\n5\n6\n");
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[4], (Row{1, 1, random_uniform(100, 200, 3, RandomStream::cell_density, 4), 5, -15}));
}

TEST(Voxels, WithMagnetisationKnowTheirRanges) {
  VoxelsSpec v;
  v.easting = v.northing = v.upward = {0, 2, 2};
  v.boxes = {{{0, 1}, {0, 2}, {0, 2}, {0, 0.25, 3, 0, -4}}, {{1, 2}, {0, 2}, {0, 2}, {0, 0.125}}};
  const auto ensemble = made(voxels_case(), v);
  EXPECT_EQ(ensemble->description(), "voxels 2 x 2 x 2, 8 prisms with susceptibility and magnetization");
  const PropertyRanges ranges = ensemble->model().ranges();
  EXPECT_EQ(ranges.density.max, 0);
  EXPECT_EQ(ranges.susceptibility.min, 0.125);
  EXPECT_EQ(ranges.susceptibility.max, 0.25);
  EXPECT_EQ(ranges.remanence.min, 0);
  EXPECT_EQ(ranges.remanence.max, 5);
  EXPECT_TRUE(ensemble->is_magnetized());
  v.boxes = {{{0, 1}, {0, 2}, {0, 2}, {5}}};
  EXPECT_FALSE(made(voxels_case(), v)->is_magnetized());
  v.susceptibility = ConstantProperty{-2};
  EXPECT_THAT(mistakes([&] { (void)made(voxels_case(), v); }),
              HasSubstr("model.voxels.susceptibility: a susceptibility is -2; a susceptibility from -1 to 1e+06 (SI)"));
}

TEST(Voxels, MayBeReadByManyThreads) {
  const auto ensemble = made(voxels_case(), seven_spheres());
  const PrismBlock all = read_all(*ensemble);
  std::vector<std::thread> threads;
  std::array<bool, 4> good{};
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      PrismBlock block;
      good[t] = true;
      for (std::int64_t at = static_cast<std::int64_t>(t) * 1000; at + 5000 < ensemble->size(); at += 7919) {
        ensemble->read({at, at + 5000}, block);
        for (std::size_t i = 0; i < 5000; ++i) {
          good[t] = good[t] && block.west[i] == all.west[static_cast<std::size_t>(at) + i] &&
                    block.density[i] == all.density[static_cast<std::size_t>(at) + i];
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(good, ElementsAre(true, true, true, true));
}

TEST(Voxels, OfABillionCellsTakeLittleMemory) {
  VoxelsSpec v;
  v.easting = v.northing = {0, 1000, 1000};
  v.upward = {-1000, 0, 1000};
  v.spheres = {{{500, 500, -500}, 400, 300}, {{300, 300, -500}, 100, 0}};
  const auto spheres = made(voxels_case(), v);
  // 4/3 pi 400^3, less the part of 100^3 that is inside, to the roughness of the surface
  EXPECT_NEAR(static_cast<double>(spheres->size()), 4.0 / 3 * 3.14159265358979 * (64e6 - 1e6), 3e5);
  EXPECT_LT(spheres->memory_bytes(), 50'000'000);
  v.density = RandomProperty{{100, 3000}, 7};
  EXPECT_LT(made(voxels_case(), v)->memory_bytes(), 50'000'000);
  v.spheres.clear();
  v.density = ConstantProperty{1};
  const auto full = made(voxels_case(), v);
  EXPECT_EQ(full->size(), 1'000'000'000);
  EXPECT_LT(full->memory_bytes(), 100'000);
  PrismBlock last;
  full->read({999'999'999, 1'000'000'000}, last);
  EXPECT_EQ(last.west[0], 999);
  EXPECT_EQ(last.top[0], 0);
  // rows of one cell: the worst for runs
  v.easting = {0, 1, 1};
  v.northing = v.upward = {0, 1, 30000};
  v.density = ConstantProperty{0};
  v.boxes = {{{0, 1}, {0, 1}, {0, 1}, 5}};
  EXPECT_EQ(made(voxels_case(), v)->size(), 900'000'000);
  EXPECT_LT(made(voxels_case(), v)->memory_bytes(), 1'000'000);
}

TEST(Voxels, RandomDensitiesDependOnCellNumberAlone) {
  VoxelsSpec v;
  v.easting = {0, 10, 10};
  v.northing = {0, 20, 20};
  v.upward = {0, 30, 30};
  v.density = RandomProperty{{100, 3000}, 9};
  const PrismBlock all = read_all(*made(voxels_case(), v));
  for (std::size_t c = 0; c < all.density.size(); ++c) {
    ASSERT_EQ(all.density[c], random_uniform(100, 3000, 9, RandomStream::cell_density, c));
  }
  // carved cells leave the others as they were
  v.boxes = {{{0, 10}, {0, 20}, {0, 29}, 0}};
  const PrismBlock rest = read_all(*made(voxels_case(), v));
  ASSERT_EQ(rest.size(), 200);
  EXPECT_EQ(rest.density[0], all.density[29 * 200]);
  v.density = RandomProperty{{5, 5}, 9};
  EXPECT_EQ(read_all(*made(voxels_case(), v)).density[0], 5);
}

TEST(Voxels, WarnOfAShapeThatCoversNoCentre) {
  VoxelsSpec v;
  v.easting = v.northing = v.upward = {0, 8, 8};
  v.density = ConstantProperty{1};
  v.spheres = {{{4, 4, 4}, 3, 2}, {{4, 4, 4}, 0.5, 3}, {{100, 4, 4}, 3, 3}};
  v.boxes = {{{0, 0.5}, {0, 8}, {0, 8}, 3}, {{0, 8}, {0, 8}, {0, 8}, 4}};
  EXPECT_THAT(made(voxels_case(), v)->warnings(), ElementsAre("model.voxels.spheres[1] covers the centre of no cell",
                                                              "model.voxels.spheres[2] covers the centre of no cell",
                                                              "model.voxels.boxes[0] covers the centre of no cell"));
}

TEST(Voxels, RefuseWhatCannotBeCells) {
  VoxelsSpec v;
  v.easting = v.northing = v.upward = {0, 8, 8};
  const auto message = [&] { return mistakes([&] { (void)made(voxels_case(), v); }); };
  EXPECT_THAT(message(), AllOf(HasSubstr("case.yaml:3: model.voxels: "), HasSubstr("no cell has a density")));
  v.density = ConstantProperty{1};
  v.easting = {8, 0, 8};
  EXPECT_THAT(message(), HasSubstr("model.voxels.easting: min 8 is not below max 0"));
  v.easting = {0, 8, 0};
  EXPECT_THAT(message(), HasSubstr("model.voxels.easting: 0 cells"));
  v.easting = {0, 1e38, 8};
  v.density = ConstantProperty{-1e20};
  EXPECT_THAT(message(), AllOf(HasSubstr("model.voxels.easting: lies more than 1e+12 m from 0"),
                               HasSubstr("model.voxels.density: a density is more than 1e+12 kg/m3, the limit")));
  v.density = ConstantProperty{1};
  v.easting = {1e16, 1e16 + 8, 100};
  EXPECT_THAT(message(), HasSubstr("thinner than double precision can tell apart"));
  v.easting = v.northing = v.upward = {0, 8, 10'000'000};
  EXPECT_THAT(message(), HasSubstr("cells; at most 4.6e18 are allowed"));
  v.easting.count = 3'000'000'000;
  EXPECT_THAT(message(), HasSubstr("3000000000 cells; 1 to 10000000 are allowed in one direction"));
}

}  // namespace
}  // namespace prismfield::test_voxels
