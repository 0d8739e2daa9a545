// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"
#include "case/identity_hash.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace prismfield {
namespace {

TEST(CaseHash, HashChangesWithWhatTheFieldsDependOnOnly) {
  const testing::ScratchFolder folder;
  const auto hash = [&](const std::string& more, const std::string& stations = "0,0,1\n") {
    std::ofstream(folder / "s.csv") << "easting,northing,upward\n" << stations;
    std::ofstream(folder / "c.yaml")
        << "model: {voxels: {easting: [0, 1, 1], northing: [0, 1, 1], upward: [0, 1, 1], density: 1}}\n"
           "observations: {stations: {file: s.csv}}\n"
        << more;
    return case_hash(read_case(folder / "c.yaml", {}));
  };
  const auto plain = hash("");
  EXPECT_EQ(hash("title: other\noutput: {file: x.h5}\nexecution: {slots: 7}\naxes: z_up\n# comment\n"), plain);
  EXPECT_NE(hash("fields: [gz]\n"), plain);
  EXPECT_NE(hash("execution: {kernel: corners}\n"), plain);
  EXPECT_NE(hash("", "0,0,2\n"), plain);
}

}  // namespace
}  // namespace prismfield
