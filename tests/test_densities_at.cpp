// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "model/extents.hpp"
#include "readers/point_fields.hpp"
#include "scratch_folder.hpp"

#include <prismfield/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace prismfield::test_densities_at {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;

/// Two prisms of 300 and -100 kg/m3 that overlap between easting 10 and 20.
struct Bodies {
  std::vector<double> west{0, 10}, east{20, 30}, south{0, 0}, north{20, 20}, bottom{-20, -20}, top{0, 0},
      density{300, -100};
  PrismList list{{west, east, south, north, bottom, top, density}};
};

std::filesystem::path write(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
                            const std::vector<std::vector<double>>& coordinates) {
  MadeHdf5 file(path);
  file.write("easting", {static_cast<std::int64_t>(coordinates[0].size())}, coordinates[0].data());
  file.write("northing", {static_cast<std::int64_t>(coordinates[1].size())}, coordinates[1].data());
  file.write("upward", shape, coordinates[2].data());
  file.write("gz", shape, coordinates[2].data());
  file.close();
  return path;
}

TEST(DensitiesAt, AreThoseInsideAndZeroOutsideAndNotKnownOnFaces) {
  const testing::ScratchFolder folder;
  // in the first, in both, above, beside, on a face, on a face to rounding
  const auto file =
      write(folder / "r.h5", {6}, {{5, 15, 5, 50, 0, 20 - 1e-14}, {5, 5, 5, 5, 5, 5}, {-5, -5, 1, -5, -5, -5}});
  EXPECT_THAT(densities_at(read_array_points({file, "", ""}), Bodies().list),
              ElementsAre(300, 200, 0, 0, IsNan(), IsNan()));
}

TEST(DensitiesAt, PointsOfAGridAreThoseOfItsFields) {
  const testing::ScratchFolder folder;
  const auto file = write(folder / "grid.h5", {2, 3}, {{5, 50, 60}, {5, 50}, std::vector<double>(6, -5.0)});
  EXPECT_THAT(densities_at(read_array_points({file, "", ""}), Bodies().list), ElementsAre(300, 0, 0, 0, 0, 0));
}

TEST(DensitiesAt, OtherFilesEndClearly) {
  const testing::ScratchFolder folder;
  const auto file = write(folder / "r.h5", {3}, {{1, 2}, {1, 2}, {1, 2, 3}});
  EXPECT_THROW(static_cast<void>(read_array_points({file, "", ""})), InputError);
}

}  // namespace
}  // namespace prismfield::test_densities_at
