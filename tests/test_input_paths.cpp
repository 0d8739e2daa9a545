// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"
#include "case/key_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace prismfield::test_input_paths {
namespace {

using ::testing::ElementsAre;

YamlNode tree_of(const std::string& text) {
  ProblemList problems;
  YamlNode root = parse_yaml(text, "folder/case.yaml", problems);
  problems.throw_if_any();
  return root;
}

/// Keys of the files that a case names, after a look that they are those that the case itself knows.
std::vector<std::string> keys_of(const std::string& text, CaseUse use = CaseUse::forward) {
  YamlNode root = tree_of(text);
  std::vector<std::filesystem::path> found{"folder/case.yaml"};
  std::vector<std::string> keys;
  for (const InputPath& input : input_paths(root)) {
    found.push_back(std::filesystem::path("folder") / input.value->text);
    keys.push_back(input.key);
  }
  std::vector<std::filesystem::path> known = read_case(root, "folder/case.yaml", use).input_files;
  std::sort(found.begin(), found.end());
  std::sort(known.begin(), known.end());
  EXPECT_EQ(found, known);
  return keys;
}

TEST(InputPaths, AreTheFilesThatTheCaseReads) {
  const std::string grid = "observations: {grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: 1}}\n";
  EXPECT_THAT(keys_of("model: {prisms: {file: a.csv}}\nobservations: {stations: {file: s.csv}}\n"),
              ElementsAre("model.prisms.file", "observations.stations.file"));
  EXPECT_THAT(
      keys_of("model: {voxels: {easting: [0, 1, 2], northing: [0, 1, 2], upward: [0, 1, 2], density: {file: d.h5}}}\n"
              "observations: {grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: {file: h.nc}}}\n"),
      ElementsAre("model.voxels.density.file", "observations.grid.upward.file"));
  EXPECT_THAT(keys_of("model: {mesh: {easting: {file: e.txt}, northing: {file: n.txt}, upward: {file: u.txt}, density: "
                      "{file: d.txt}}}\n" +
                      grid),
              ElementsAre("model.mesh.easting.file", "model.mesh.northing.file", "model.mesh.upward.file",
                          "model.mesh.density.file"));
  EXPECT_THAT(
      keys_of("model: {terrain: {file: d.nc, density: {file: r.asc}}}\nobservations: {grid: {file: g.nc, upward: "
              "{above_terrain: 3, file: a.asc}}}\n"),
      ElementsAre("model.terrain.file", "model.terrain.density.file", "observations.grid.file",
                  "observations.grid.upward.file"));
  EXPECT_THAT(
      keys_of("model: {terrain: {file: d.nc}}\nobservations: {stations: {file: s.csv, upward: {above_terrain: 3, "
              "file: a.asc}}}\n"),
      ElementsAre("model.terrain.file", "observations.stations.file", "observations.stations.upward.file"));
  EXPECT_THAT(keys_of("model: {mesh: {ubc: {mesh: m.msh, density: m.den}}}\n" + grid),
              ElementsAre("model.mesh.ubc.mesh", "model.mesh.ubc.density"));
  EXPECT_THAT(keys_of("model: {mesh: {easting: [0, 1, 2], northing: [0, 1, 2], upward: [0, 1, 2], density: 3}}\n" +
                      grid + "output: {file: o.h5}\n"),
              ElementsAre());
}

TEST(InputPaths, AreThoseOfAnInversionToo) {
  const std::string mesh =
      "model: {mesh: {easting: {file: e.txt}, northing: [0, 1, 2], upward: [0, 1, 2], density: {file: d.h5}}}\n";
  EXPECT_THAT(keys_of(mesh + "inversion: {data: a.h5}\n", CaseUse::inversion),
              ElementsAre("model.mesh.easting.file", "model.mesh.density.file", "inversion.data"));
  EXPECT_THAT(keys_of(mesh + "inversion: {data: {file: a.h5}, topography: {file: t.nc}, reference: {file: r.h5}}\n",
                      CaseUse::inversion),
              ElementsAre("model.mesh.easting.file", "model.mesh.density.file", "inversion.data.file",
                          "inversion.topography.file", "inversion.reference.file"));
  EXPECT_THAT(
      keys_of("model: {mesh: {ubc: {mesh: m.msh}}}\ninversion: {data: [a.h5, {file: b.csv}]}\n", CaseUse::inversion),
      ElementsAre("model.mesh.ubc.mesh", "inversion.data.0", "inversion.data.1.file"));
  EXPECT_THAT(
      keys_of("model: {mesh: {ubc: {mesh: m.msh}}}\ninversion: {data: [{epochs: [a.h5, b.h5]}, {epochs: [c, d]}]}\n",
              CaseUse::inversion),
      ElementsAre("model.mesh.ubc.mesh", "inversion.data.0.epochs.0", "inversion.data.0.epochs.1",
                  "inversion.data.1.epochs.0", "inversion.data.1.epochs.1"));
}

TEST(InputPaths, ACaseOfATreeIsTheOneOfItsText) {
  const std::string text = "title: A\nmodel: {prisms: {file: a.csv}}\nobservations: {stations: {random: 3}}\n";
  const Case run = read_case(tree_of(text), "folder/case.yaml");
  EXPECT_EQ(run.title, "A");
  EXPECT_EQ(run.where("model.prisms.file"), "folder/case.yaml:2");
  ProblemList problems;
  YamlNode changed = tree_of(text);
  YamlNode slots = tree_of("7");
  slots.option = "study.yaml:9";
  set_value(changed, "execution.slots", slots, "study.yaml:9", problems);
  EXPECT_EQ(read_case(changed, "folder/case.yaml").execution.slots, 7);
  EXPECT_EQ(read_case(changed, "folder/case.yaml").where("execution.slots"), "study.yaml:9");
  set_value(changed, "title.deep", slots, "study.yaml:9", problems);
  EXPECT_THROW(problems.throw_if_any(), InputError);
}

}  // namespace
}  // namespace prismfield::test_input_paths
