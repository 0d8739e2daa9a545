// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "case/case.hpp"
#include "case/identity_hash.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
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
    const Case run = read_case(folder / "c.yaml", {});
    const Communicator alone;
    const Model model = make_model(run, alone);
    const Points points = make_points(run, model.source().bounds(), alone);
    // what happens to a file after it was read is no matter
    std::ofstream(folder / "s.csv") << "easting,northing,upward\n7,7,7\n";
    return case_hash(run, model, points, alone);
  };
  const auto plain = hash("");
  EXPECT_EQ(hash("title: other\noutput: {file: x.h5}\nexecution: {slots: 7}\naxes: z_up\n# comment\n"), plain);
  EXPECT_NE(hash("fields: [gz]\n"), plain);
  EXPECT_NE(hash("execution: {kernel: corners}\n"), plain);
  EXPECT_NE(hash("", "0,0,2\n"), plain);
  EXPECT_NE(hash("", "0,0,1\n0,0,1\n"), plain);
  EXPECT_EQ(hash("", "# comment\n0,0,1.0\n"), plain);
}

}  // namespace
}  // namespace prismfield
