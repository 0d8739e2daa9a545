// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// What is found to be a regular mesh with points commensurate with it, and what is refused, in which words; how memory
// is divided.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

#include "lattice_samples.hpp"
#include "magnets.hpp"
#include "operators/convolution/convolution_layout.hpp"
#include "operators/convolution/convolution_plan.hpp"

namespace prismfield::testing::test_convolution_layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ConvolutionLayout found(const std::vector<Prism>& prisms, const Points& points, double tolerance = 1e-12) {
  const ListEnsemble source(prisms);
  return find_convolution(source, {0, source.size()}, points, tolerance);
}
std::string refusal(const std::vector<Prism>& prisms, const Points& points, double tolerance = 1e-12) {
  try {
    const ConvolutionLayout layout = found(prisms, points, tolerance);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const SampleAxis over_easting{25, 50, 7}, over_northing{20, 40, 5};

TEST(ConvolutionLayout, HasMeshAndPoints) {
  const ConvolutionLayout layout = found(SampleMesh().prisms(), flat_grid({75, 50, 9}, {20, 80, 3}, 30));
  EXPECT_THAT(layout.cells, ElementsAre(7, 5));
  EXPECT_THAT(layout.edge, ElementsAre(50, 40));
  EXPECT_EQ(layout.layers.size(), 3u);
  EXPECT_THAT(layout.layer_ends, ElementsAre(35, 70, 105));
  // every other row of points is none
  EXPECT_THAT(layout.window, ElementsAre(9, 5));
  EXPECT_THAT(layout.first, ElementsAre(1, 0));
  EXPECT_EQ(layout.shape, (FftShape{9, 15}));
  ASSERT_EQ(layout.planes.size(), 1u);
  EXPECT_EQ(layout.planes[0].easting, 0.5);
  EXPECT_EQ(layout.planes[0].northing, 0.5);
  EXPECT_EQ(layout.planes[0].points, (IndexRange{0, 27}));
}

TEST(ConvolutionLayout, HasLayersOfEachMagnetisation) {
  std::vector<Prism> prisms = SampleMesh().prisms();
  prisms[0].density = 0;
  std::reverse(prisms.begin() + 30, prisms.end());
  for (const Directions directions : {Directions::alike, Directions::random}) {
    const Magnets source(prisms, directions);
    const ConvolutionLayout layout = find_convolution(
        source, {0, source.size()}, flat_grid(over_easting, over_northing, 30), 1e-12, fields_of(FieldSet::magnetic));
    const std::size_t n = directions == Directions::alike ? 1 : 3;
    ASSERT_EQ(layout.magnetizations.size(), n);
    EXPECT_EQ(layout.layers.size(), 3 * n);
    EXPECT_EQ(layout.n_layers_of_prisms(), 3);
    EXPECT_EQ(layout.layer_ends.back(), static_cast<std::int64_t>(105 * n));
    EXPECT_TRUE(std::is_sorted(layout.prisms.place.begin(), layout.prisms.place.end()));
    PrismBlock block;
    source.read({0, source.size()}, block);
    for (std::size_t entry = 0; entry < layout.prisms.number.size(); ++entry) {
      const auto& of = layout.magnetizations[entry / 105];
      for (std::size_t d = 0; d < 3; ++d) {
        double& left = block.magnetization[d][static_cast<std::size_t>(layout.prisms.number[entry])];
        left -= layout.amounts[entry] * of[d];
      }
    }
    for (const auto& component : block.magnetization) {
      for (const double left : component) EXPECT_NEAR(left, 0, 1e-15);
    }
  }
}

TEST(ConvolutionLayout, HasAPlaneForEachPlaceWithinCellsAndHeight) {
  const std::vector<Prism> prisms = SampleMesh().prisms();
  EXPECT_EQ(found(prisms, flat_grid({0, 25, 9}, {0, 10, 9}, 30)).planes.size(), 2u * 4u);
  // two thirds of a cell: three places
  EXPECT_EQ(found(prisms, flat_grid({5, 100.0 / 3, 9}, {0, 40, 2}, 30)).planes.size(), 3u);
  const auto two_heights = [](std::size_t i) { return i % 3 == 0 ? -60.0 : 20.0; };
  EXPECT_EQ(found(prisms, sample_grid(over_easting, over_northing, two_heights)).planes.size(), 2u);
}

TEST(ConvolutionLayout, TakesCoordinatesAsTheyWereMeant) {
  // a third of a cell, from large coordinates on: places are off by rounding
  const SampleMesh mesh{7, 5, {{-50, 0}}, 500000.1, 7654321.3};
  const Points points = flat_grid({mesh.east, 50.0 / 3, 21}, {mesh.north, 40.0 / 3, 15}, 10);
  const ConvolutionLayout layout = found(mesh.prisms(), points);
  EXPECT_EQ(layout.planes.size(), 9u);
  EXPECT_THAT(layout.window, ElementsAre(7, 5));
}

TEST(ConvolutionLayout, PutsEntriesInTheOrderOfTheirPlaces) {
  std::vector<Prism> prisms = SampleMesh().prisms();
  std::reverse(prisms.begin(), prisms.end());
  const ConvolutionLayout layout = found(prisms, shuffled(flat_grid(over_easting, over_northing, 30), 4));
  EXPECT_TRUE(std::is_sorted(layout.prisms.place.begin(), layout.prisms.place.end()));
  EXPECT_TRUE(std::is_sorted(layout.points.place.begin(), layout.points.place.end()));
  EXPECT_EQ(layout.prisms.number.front(), 34);
}

TEST(ConvolutionLayout, TakesAsManyLevelsAsTheToleranceNeeds) {
  const std::vector<Prism> prisms = SampleMesh().prisms();
  const Points draped = sample_grid({0, 50, 10}, {0, 40, 10},
                                    [](std::size_t i) { return i == 0 ? 80. : 80 + 2.2 * static_cast<double>(i + 1); });
  // n levels from 80 to 300 m leave 2 (1 + g)(1 + g/2) 3.135^-n, g = 0.516 n; a fifth of the tolerance is to be left
  EXPECT_EQ(found(prisms, draped, 1e-4).levels.size(), 14u);
  EXPECT_EQ(found(prisms, draped, 1e-8).levels.size(), 22u);
  EXPECT_EQ(found(prisms, draped, 1e-4).planes.size(), 14u);
  // n of the gradient of B 1 + g/3 times as much
  const Magnets source(prisms);
  const auto levels = [&](FieldSet set) {
    return find_convolution(source, {0, source.size()}, draped, 1e-8, fields_of(set)).levels.size();
  };
  EXPECT_EQ(levels(FieldSet::magnetic), 22u);
  EXPECT_EQ(levels(FieldSet::magnetic_gradient), 24u);
  // nothing is saved
  const auto rising = [](std::size_t i) { return 80 + 2 * static_cast<double>(i); };
  EXPECT_TRUE(found(prisms, sample_grid({0, 50, 6}, {0, 40, 10}, rising), 1e-12).levels.empty());
}

TEST(ConvolutionLayout, SaysWhyItCannotServe) {
  const Points above = flat_grid(over_easting, over_northing, 30);
  const auto changed = [](auto&& change) {
    std::vector<Prism> prisms = SampleMesh().prisms();
    change(prisms);
    return prisms;
  };
  EXPECT_THAT(
      refusal(changed([](auto& all) { all[17].east += 1; }), above),
      HasSubstr("execution.method: fft cannot serve: prism 17 is from 150 to 201 m east, which is no cell of 50 "
                "m from 0 m on"));
  EXPECT_THAT(refusal(changed([](auto& all) { all[3].south += 1e-6; }), above), HasSubstr("prism 3 is from"));
  EXPECT_THAT(refusal(changed([](auto& all) { all[0].east = 1e-8; }), above), HasSubstr("does not divide"));
  const std::vector<Prism> prisms = SampleMesh().prisms();
  EXPECT_THAT(refusal(prisms, flat_grid({0, 50.7, 100}, over_northing, 30)),
              HasSubstr("points lie at more than 64 places within cells along easting"));
  EXPECT_THAT(refusal(prisms, flat_grid(over_easting, {0, 40.7, 100}, 30)), HasSubstr("along northing"));
  const auto from = [](double low) { return [low](std::size_t i) { return low + static_cast<double>(i); }; };
  EXPECT_THAT(refusal(prisms, sample_grid({0, 50, 10}, {0, 40, 10}, from(-7))),
              HasSubstr("points lie at more than 64 heights, the lowest at -7 m, not above all prisms, at 0 m"));
  EXPECT_THAT(refusal(prisms, sample_grid({0, 50, 10}, {0, 40, 10}, from(0.01))),
              HasSubstr("more than 64 heights, between which it interpolates; give execution.tolerance, such as 1e-6"));
  EXPECT_THAT(refusal(prisms, sample_grid({0, 50, 10}, {0, 40, 10}, from(0.01)), 1e-6),
              HasSubstr("levels for execution.tolerance 1e-06, more than 64; allow more or take points further away"));
}

TEST(ConvolutionLayout, DoesWithoutPrismsOrPoints) {
  const ListEnsemble source(SampleMesh().prisms());
  EXPECT_EQ(find_convolution(source, {5, 5}, flat_grid(over_easting, over_northing, 30), 1e-12).n_layers(), 0);
  EXPECT_EQ(find_convolution(source, {0, 105}, {}, 1e-12).n_layers(), 0);
}

TEST(ConvolutionBuffers, KeepWhatFits) {
  const ConvolutionBuffers ample = choose_buffers(std::int64_t{1} << 30, {1000, 10, 40, 3}, Products::many);
  EXPECT_TRUE(ample.keeps_all);
  EXPECT_EQ(ample.kept_layers, 120);
  EXPECT_EQ(ample.planes_at_once, 3);
  EXPECT_EQ(ample.layers_at_once, 16);
  EXPECT_EQ(ample.vectors_at_once, 1);
  for (const std::int64_t limit : {21'000, 50'000, 100'000, 500'000, 1'000'000}) {
    const ConvolutionBuffers some = choose_buffers(limit, {1000, 10, 40, 3}, Products::many);
    EXPECT_FALSE(some.keeps_all) << limit;
    EXPECT_LE(some.bytes, limit);
    EXPECT_GE(some.layers_at_once, 1);
  }
  EXPECT_THROW((void)choose_buffers(20'999, {1000, 10, 40, 3}, Products::many), InputError);
  const ConvolutionBuffers once = choose_buffers(std::int64_t{1} << 30, {1000, 10, 40, 3}, Products::one);
  EXPECT_EQ(once.kept_layers, 0);
  EXPECT_EQ(once.planes_at_once, 3);
}

TEST(ConvolutionBuffers, StandBesideWorkAreasOnADevice) {
  EngineTraits host, device;
  device.is_device = true;
  // 64 transforms at once, and one, forward and back
  const FftShape shape{20, 30};
  EXPECT_EQ(engine_bytes(shape, 100, device) - engine_bytes(shape, 100, host), 2 * (64 + 1) * 20 * 32 * 8);
  const FftShape large{4096, 4096};
  EXPECT_EQ(work_area_bytes(large), 4 * large.reals() * 8);
}

}  // namespace
}  // namespace prismfield::testing::test_convolution_layout
