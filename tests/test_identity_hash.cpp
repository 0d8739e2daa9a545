// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace prismfield::test_identity_hash {
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
    std::vector<std::string> notes;
    const Points points = make_points(run, model.source().bounds(), alone, notes);
    // what happens to a file after it was read is no matter
    std::ofstream(folder / "s.csv") << "easting,northing,upward\n7,7,7\n";
    return case_hash(run, model, points);
  };
  const auto plain = hash("");
  EXPECT_EQ(hash("title: other\noutput: {file: x.h5}\nexecution: {slots: 7}\naxes: z_up\ncrs: EPSG:32719\n# comment\n"),
            plain);
  EXPECT_NE(hash("fields: [gz]\n"), plain);
  EXPECT_NE(hash("execution: {kernel: corners}\n"), plain);
  EXPECT_NE(hash("", "0,0,2\n"), plain);
  EXPECT_NE(hash("", "0,0,1\n0,0,1\n"), plain);
  EXPECT_EQ(hash("", "# comment\n0,0,1.0\n"), plain);
}

TEST(CaseHash, IsOfWhatEveryFileHolds) {
  const testing::ScratchFolder folder;
  const std::string voxels = "{easting: [0, 2, 2], northing: [0, 1, 1], upward: [0, 1, 1], density: ";
  const std::string grid = "observations: {grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: ";
  const std::string flat = "model: {voxels: " + voxels + "1}}\n" + grid;
  struct FileCase {
    std::string yaml, first, second;
  };
  const std::vector<FileCase> cases = {
      {"model: {voxels: " + voxels + "{file: f.txt}}}\n" + grid + "5}}\n", "1\n2\n", "1\n3\n"},
      {"model: {prisms: {file: f.txt}}\n" + grid + "5}}\n", "0,1,0,1,0,1,5\n", "0,1,0,1,0,1,6\n"},
      {"model: {mesh: {easting: {file: f.txt}, northing: [0, 1, 1], upward: [0, 1, 1], density: 1}}\n" + grid + "5}}\n",
       "0 1 3\n", "0 2 3\n"},
      {flat + "{file: f.txt}}}\n", "0,0,5\n0,1,5\n1,0,5\n1,1,5\n", "0,0,5\n0,1,5\n1,0,5\n1,1,6\n"},
      {"model: {terrain: {file: f.txt}}\n" + grid + "5}}\n", "0,0,5\n0,1,5\n1,0,5\n1,1,5\n",
       "0,0,5\n0,1,5\n1,0,5\n1,1,6\n"},
      {"model: {terrain: {file: f.txt}}\n" + grid + "5}}\n", "0,0,5\n0,1,5\n1,0,5\n1,1,5\n",
       "0,0,5\n0,1,5\n1.5,0,5\n1.5,1,5\n"},
      {flat + "{above_terrain: 3, file: f.txt}}}\n", "0,0,5\n0,1,5\n1,0,5\n1,1,5\n", "0,0,5\n0,1,5\n1,0,5\n1,1,6\n"},
      {flat.substr(0, flat.find("observations")) + "observations: {grid: {file: f.txt, upward: 9}}\n",
       "0,0,5\n0,1,5\n1,0,5\n1,1,5\n", "0,0,5\n0,1,5\n1.5,0,5\n1.5,1,5\n"}};
  for (const FileCase& one : cases) {
    const auto hash = [&](const std::string& content) {
      std::ofstream(folder / "f.txt") << content;
      std::ofstream(folder / "c.yaml") << one.yaml;
      const Case run = read_case(folder / "c.yaml", {});
      const Communicator alone;
      const Model model = make_model(run, alone);
      std::vector<std::string> notes;
      return case_hash(run, model, make_points(run, model.source().bounds(), alone, notes));
    };
    EXPECT_EQ(hash(one.first), hash(one.first)) << one.yaml;
    EXPECT_NE(hash(one.first), hash(one.second)) << one.yaml;
  }
}

}  // namespace
}  // namespace prismfield::test_identity_hash
