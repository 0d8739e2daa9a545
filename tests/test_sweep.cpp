// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "scratch_folder.hpp"
#include "study/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SweepAxis> axes_of(const std::string& text) {
  ProblemList problems;
  const YamlNode root = parse_yaml(text, "study.yaml", problems);
  const CaseReader reader("study.yaml", problems);
  std::vector<SweepAxis> axes = read_sweep(reader, {&root, "sweep", "study.yaml:1"});
  problems.throw_if_any();
  return axes;
}

std::string mistakes_of(const std::string& text) {
  return testing::mistakes([&] { static_cast<void>(axes_of(text)); });
}

std::vector<std::string> labels(const SweepAxis& axis) {
  std::vector<std::string> result;
  for (const AxisValue& value : axis.values) result.push_back(value.label);
  return result;
}

TEST(Sweep, EveryCombinationTheLastAxisFastest) {
  const auto axes = axes_of("execution.precision: [double, single]\nthreads: [1, 2, 4]\n");
  const std::vector<SweepPoint> points = points_of(axes);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_THAT(points[0].labels, ElementsAre("double", "1"));
  EXPECT_THAT(points[1].labels, ElementsAre("double", "2"));
  EXPECT_THAT(points[5].labels, ElementsAre("single", "4"));
  EXPECT_EQ(points[5].id, 6);
  EXPECT_EQ(points[5].placement.threads, 4);
  EXPECT_FALSE(points[5].placement.ranks);
  ASSERT_EQ(points[5].settings.size(), 1U);
  EXPECT_EQ(points[5].settings[0].key, "execution.precision");
  EXPECT_EQ(points[5].settings[0].value.text, "single");
}

TEST(Sweep, WithoutAxesThereIsOnePoint) {
  EXPECT_EQ(points_of({}).size(), 1U);
  EXPECT_THAT(points_of({})[0].labels, IsEmpty());
}

TEST(Sweep, MapsMoveSeveralKeys) {
  const auto axes = axes_of(
      "point:\n  - {execution.block: 32, execution.slots: 448}\n  - {label: wide, ranks: 2, threads: 1, bind: close, "
      "execution.slots: 896}\n");
  EXPECT_THAT(labels(axes[0]), ElementsAre("block=32, slots=448", "wide"));
  const std::vector<SweepPoint> points = points_of(axes);
  EXPECT_EQ(points[0].settings.size(), 2U);
  EXPECT_EQ(points[1].settings.size(), 1U);
  EXPECT_EQ(points[1].placement.ranks, 2);
  EXPECT_EQ(points[1].placement.bind, "close");
  // keys of one last word are told apart
  EXPECT_THAT(labels(axes_of("n: [{model.voxels.easting: 1, observations.grid.easting: 2}]")[0]),
              ElementsAre("model.voxels.easting=1, observations.grid.easting=2"));
}

TEST(Sweep, ValuesOfAKeyMayBeListsAndMaps) {
  const auto axes = axes_of("fields: [all, [gz, gxx]]\nexecution.partition: [prisms, {ranks: [4, 2]}]\n");
  EXPECT_THAT(labels(axes[0]), ElementsAre("all", "[gz, gxx]"));
  EXPECT_THAT(labels(axes[1]), ElementsAre("prisms", "{ranks: [4, 2]}"));
}

TEST(Sweep, NestedKeysAreKeyPaths) {
  const auto axes = axes_of("execution:\n  precision: [double]\n  slots: [1, 2]\n");
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes[0].name, "execution.precision");
  EXPECT_EQ(axes[1].name, "execution.slots");
}

TEST(Sweep, MistakesAreToldAllAtOnce) {
  EXPECT_EQ(mistakes_of("threads: [1, two]\nranks: 4\nprecision: [double]\nbind: [wide]\nexecution.slots: []\n"
                        "fields: [gz, gz]\ndevices: [0]\n"),
            "study.yaml:1: sweep.threads.1: is 'two'; a whole number is expected\n"
            "study.yaml:2: sweep.ranks: is '4'; a list of values is expected\n"
            "study.yaml:3: sweep.precision.0: is neither a key of the case nor threads, ranks, devices, bind; did you "
            "mean execution.precision?\n"
            "study.yaml:4: sweep.bind.0: is 'wide'; allowed: spread, close, primary, none\n"
            "study.yaml:5: sweep.execution.slots: is an empty list; a value or more is expected\n"
            "study.yaml:6: sweep.fields.1: is 'gz' like value 0 of this axis; take one out, or name maps by a label\n"
            "study.yaml:7: sweep.devices.0: is '0'; a whole number from 1 to 1000000 is expected");
  EXPECT_EQ(mistakes_of("[1, 2]"),
            "study.yaml:1: sweep: is a list; a map of axes is expected, such as {threads: [1, 2]}");
  EXPECT_EQ(
      mistakes_of("output.file: [a.h5]\ntitle: [a]\nthreds: [1]\nexecution.slots: [null]\n"),
      "study.yaml:1: sweep.output.file.0: changes nothing that a study measures; take output out\n"
      "study.yaml:2: sweep.title.0: changes nothing that a study measures; take title out\n"
      "study.yaml:3: sweep.threds.0: is neither a key of the case nor threads, ranks, devices, bind; did you mean "
      "threads?\n"
      "study.yaml:4: sweep.execution.slots.0: has no value; write one or take it out of the list");
}

TEST(Sweep, AxesMayNotSetWhatAnotherSets) {
  EXPECT_EQ(mistakes_of("execution.slots: [1, 2]\npoint: [{execution.slots: 4, threads: 2}]\nthreads: [1]\n"),
            "study.yaml:2: sweep.point: sets execution.slots, which the axis execution.slots sets too\n"
            "study.yaml:3: sweep.threads: sets threads, which the axis point sets too");
  EXPECT_EQ(mistakes_of("model.voxels.density: [1, 2]\nmodel: [{voxels: 1}, {voxels: 2}]\n"),
            "study.yaml:2: sweep.model: sets model as a whole behind the axis model.voxels.density, which sets "
            "model.voxels.density; write this axis above that one");
  EXPECT_EQ(mistakes_of("model: [{voxels: 1}, {voxels: 2}]\nmodel.voxels.density: [1, 2]\n"), "");
  EXPECT_EQ(mistakes_of("execution: {slots: [1]}\nexecution.slots: [2]\n"),
            "study.yaml:2: sweep.execution.slots: is an axis twice; keep one");
}

TEST(Sweep, LongListsAndManyPointsEndClearly) {
  std::string text;
  for (int axis = 0; axis < 5; ++axis) text += "execution.a" + std::to_string(axis) + ": [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  EXPECT_EQ(testing::mistakes([&] { static_cast<void>(points_of(axes_of(text))); }),
            "study.yaml:1: sweep: has 59,049 points; 10,000 are the most of one study");
  for (int axis = 5; axis < 20; ++axis) text += "execution.a" + std::to_string(axis) + ": [1]\n";
  EXPECT_EQ(mistakes_of(text), "study.yaml:1: sweep: has 20 axes; 16 are the most of one study");
}

}  // namespace
}  // namespace prismfield
