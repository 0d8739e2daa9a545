// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/hdf5_file.hpp"
#include "scratch_folder.hpp"
#include "study/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace prismfield {
namespace {

constexpr double gravity = 6.6743e-11;

/// Two prisms of 300 and -100 kg/m3 that overlap between easting 10 and 20.
struct Bodies {
  std::vector<double> west{0, 10}, east{20, 30}, south{0, 0}, north{20, 20}, bottom{-20, -20}, top{0, 0},
      density{300, -100};
  PrismList list{{west, east, south, north, bottom, top, density}};
};

double poisson(double density) { return -4 * std::numbers::pi * gravity * density * 1e9; }

void write(const std::filesystem::path& path, const std::vector<std::vector<double>>& columns) {
  Hdf5File file = Hdf5File::create(path);
  const std::vector<const char*> names = {"easting", "northing", "upward", "gxx", "gyy", "gzz"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    file.write(names[i], {static_cast<std::int64_t>(columns[i].size())}, columns[i].data());
  }
  file.close();
}

TEST(Trace, PointsInsideAndOutsideAreApartAndThoseOnFacesAreInNeither) {
  const testing::ScratchFolder folder;
  const Bodies bodies;
  const double a = poisson(300) / 3, b = poisson(200) / 3;
  // in the first, in both, outside twice, on a face, on a face to rounding, without a value
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write(folder / "r.h5", {{5, 15, 5, 50, 0, 20 - 1e-14, 5},
                          {5, 5, 5, 5, 5, 5, 5},
                          {-5, -5, 1, -5, -5, -5, -5},
                          {a, b + 3, 7, 2, 9, 9, nan},
                          {a, b, -4, -1, 9, 9, 9},
                          {a, b, -3, -2, 9, 9, 9}});
  const Trace trace = trace_of(folder / "r.h5", bodies.list, gravity);
  EXPECT_EQ(trace.inside.points, 2);
  EXPECT_NEAR(trace.inside.largest, 3, 1e-12);
  EXPECT_NEAR(trace.inside.rms, 3 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(trace.inside.scale, std::fabs(poisson(300)), 1e-9);
  EXPECT_EQ(trace.outside.points, 2);
  EXPECT_EQ(trace.outside.largest, 1);
  EXPECT_EQ(trace.outside.scale, 7);
  EXPECT_THAT(trace_lines(4, trace), ::testing::StartsWith("4,outside,2,0.7071067811865476,1,7\n4,inside,2,"));
}

TEST(Trace, PointsOfAGridAreThoseOfItsFields) {
  const testing::ScratchFolder folder;
  const Bodies bodies;
  Hdf5File file = Hdf5File::create(folder / "grid.h5");
  const std::vector<double> easting{5, 50, 60}, northing{5, 50};
  const std::vector<double> heights(6, -5.0);
  std::vector<double> zero(6, 0.0), xx(6, 0.0);
  xx[0] = poisson(300);
  file.write("easting", {3}, easting.data());
  file.write("northing", {2}, northing.data());
  for (const auto& [name, values] : {std::pair{"upward", &heights}, {"gxx", &xx}, {"gyy", &zero}, {"gzz", &zero}}) {
    file.write(name, {2, 3}, values->data());
  }
  file.close();
  const Trace trace = trace_of(folder / "grid.h5", bodies.list, gravity);
  EXPECT_EQ(trace.inside.points, 1);
  EXPECT_EQ(trace.outside.points, 5);
  EXPECT_EQ(trace.inside.largest, 0);
  EXPECT_EQ(trace.outside.largest, 0);
}

TEST(Trace, OtherFilesEndClearly) {
  const testing::ScratchFolder folder;
  const Bodies bodies;
  write(folder / "r.h5", {{1, 2}, {1, 2}, {1, 2, 3}, {1, 2}, {1, 2}, {1, 2}});
  EXPECT_THROW(static_cast<void>(trace_of(folder / "r.h5", bodies.list, gravity)), RunError);
}

}  // namespace
}  // namespace prismfield
