// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "scratch_folder.hpp"
#include "study/study_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* small_case =
    "model:\n  voxels: {easting: [0, 300, 3], northing: [0, 200, 2], upward: [-100, 0, 1], density: 300}\n"
    "observations:\n  grid: {easting: [0, 300, 4], northing: [0, 200, 3], upward: 20}\n";

class StudyFileTest : public ::testing::Test {
protected:
  StudyFileTest() { m_folder.write("case.yaml", small_case); }

  StudySpec read(const std::string& text, const StudyOverrides& overrides = {}) const {
    return read_study_file(m_folder.write("study.yaml", text), overrides);
  }
  std::string refused(const std::string& text, const StudyOverrides& overrides = {}) const {
    return m_folder.removed_from(testing::mistakes([&] { static_cast<void>(read(text, overrides)); }));
  }

  testing::ScratchFolder m_folder;
};

TEST_F(StudyFileTest, DefaultsAreThoseOfTheManual) {
  const StudySpec spec = read("base: case.yaml\n");
  EXPECT_EQ(spec.title, "study");
  EXPECT_EQ(spec.repeats, 5);
  EXPECT_EQ(spec.warmup, 1);
  EXPECT_FALSE(spec.time_budget);
  EXPECT_EQ(spec.run_limit, 3600);
  EXPECT_EQ(spec.order, RunOrder::random);
  EXPECT_EQ(spec.seed, 1U);
  EXPECT_EQ(spec.tolerance, 1e-9);
  EXPECT_THAT(spec.launcher, IsEmpty());
  EXPECT_EQ(spec.scaling, "");
  EXPECT_EQ(spec.report, "study");
  EXPECT_FALSE(spec.keeps_results());
  EXPECT_NE(spec.base.find("model"), nullptr);
  EXPECT_EQ(spec.base_file, m_folder / "case.yaml");
}

TEST_F(StudyFileTest, EveryKeyIsRead) {
  const StudySpec spec = read(
      "title: Blocks\nbase: case.yaml\nsweep: {threads: [1, 2], execution.precision: [double, single]}\nrepeats: 3\n"
      "warmup: 0\ntime_budget: 20 min\nrun_limit: 90 s\norder: as_written\nseed: 7\ntolerance: 1e-12\n"
      "reference: {execution.space: serial, threads: 1}\nlauncher: srun -n {ranks} --label 'two words' {program}\n"
      "oversubscribe: true\nbaseline: {threads: 2}\nscaling: threads\nweak: true\nkeep_results: true\ntrace: true\n"
      "histogram: true\nbusy: true\nmaps: [gz, tensor]\n"
      "figure: {x: threads, y: speed_up, curves: [execution.precision], log: xy}\n"
      "compare_with: {paper: C2, figure: \"9\", values: {1: 1, 2: 1.9}, note: by eye}\nreport: c2/\n");
  EXPECT_EQ(spec.title, "Blocks");
  EXPECT_EQ(spec.axes.size(), 2U);
  EXPECT_EQ(spec.repeats, 3);
  EXPECT_EQ(spec.warmup, 0);
  EXPECT_EQ(spec.time_budget, 1200);
  EXPECT_EQ(spec.run_limit, 90);
  EXPECT_EQ(spec.order, RunOrder::as_written);
  EXPECT_EQ(spec.seed, 7U);
  EXPECT_EQ(spec.tolerance, 1e-12);
  EXPECT_EQ(spec.reference.placement.threads, 1);
  ASSERT_EQ(spec.reference.settings.size(), 1U);
  EXPECT_EQ(spec.reference.settings[0].key, "execution.space");
  EXPECT_THAT(spec.launcher, ElementsAre("srun", "-n", "{ranks}", "--label", "two words", "{program}"));
  EXPECT_TRUE(spec.oversubscribe && spec.weak && spec.keep_results && spec.trace && spec.histogram && spec.busy);
  EXPECT_THAT(spec.baseline, ElementsAre(Pair("threads", "2")));
  EXPECT_EQ(spec.scaling, "threads");
  EXPECT_TRUE(spec.maps.contains(Field::gyz) && spec.maps.contains(Field::gz) && !spec.maps.contains(Field::gx));
  ASSERT_EQ(spec.figures.size(), 1U);
  EXPECT_EQ(spec.figures[0].y, "speed_up");
  EXPECT_TRUE(spec.figures[0].log_x && spec.figures[0].log_y);
  ASSERT_EQ(spec.compare_with.size(), 1U);
  ASSERT_EQ(spec.compare_with[0].curves.size(), 1U);
  EXPECT_THAT(spec.compare_with[0].curves[0].values, ElementsAre(Pair("1", 1.0), Pair("2", 1.9)));
  EXPECT_EQ(spec.report, "c2");
}

TEST_F(StudyFileTest, MistakesAreToldAllAtOnceByLine) {
  EXPECT_EQ(
      refused("base: case.yaml\nrepeat: 3\nrepeats: 0\nwarmup: many\ntime_budget: 20\norder: shuffled\n"
              "tolerance: -1\nsweep: {threads: [1, 2]}\nbaseline: {threads: 4, ranks: 1}\nscaling: ranks\n"
              "figure: {x: thread, y: speed, curves: [threads]}\nreference: double\nlauncher: mpirun {rank} {program}\n"
              "maps: [gzzz]\nexecution: {slots: 4}\nreport: [a]\n"),
      "study.yaml:2: repeat: is no known key; did you mean repeats? Allowed: title, base, command, sweep, repeats, "
      "warmup, "
      "time_budget, run_limit, order, seed, tolerance, reference, launcher, oversubscribe, baseline, scaling, weak, "
      "keep_results, trace, histogram, busy, maps, figure, compare_with, reduced, report\n"
      "study.yaml:3: repeats: is '0'; a whole number from 1 to 10000 is expected\n"
      "study.yaml:4: warmup: is 'many'; a whole number is expected\n"
      "study.yaml:5: time_budget: is '20', without a unit; allowed: ms, s, min, h\n"
      "study.yaml:6: order: is 'shuffled'; allowed: random, as_written\n"
      "study.yaml:7: tolerance: is -1; a number of at least 0 is expected\n"
      "study.yaml:9: baseline.threads: is '4', no value of this axis, which has 1, 2\n"
      "study.yaml:9: baseline.ranks: is 'ranks', no axis of the study; allowed: threads\n"
      "study.yaml:10: scaling: is ranks, which no axis of the study moves\n"
      "study.yaml:11: figure.x: is 'thread', no axis of the study; did you mean threads? Allowed: threads\n"
      "study.yaml:11: figure.y: is 'speed'; did you mean speed_up? Allowed: field_seconds, pairs_per_second, speed_up, "
      "efficiency, error, memory, scratch, time\n"
      "study.yaml:12: reference: is 'double'; a map of keys of the case is expected\n"
      "study.yaml:13: launcher: has '{rank}', which stands for nothing; did you mean {ranks}? Allowed: {ranks}, "
      "{threads}, {program}\n"
      "study.yaml:14: maps.0: is 'gzzz', no known field; did you mean gzz? Allowed: all, vector, tensor, potential, "
      "gx, "
      "gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, guv\n"
      "study.yaml:15: execution: belongs to the case: write it below base, or vary it below sweep, as in {sweep: "
      "{execution.slots: [1, 2]}}\n"
      "study.yaml:16: report: is a list; the name of a file is expected");
}

TEST_F(StudyFileTest, FilesThatAreNoStudyEndClearly) {
  EXPECT_EQ(refused(""), "study.yaml:1: is empty; a study has at least base and sweep");
  EXPECT_THAT(refused("- 1\n"), HasSubstr("study.yaml:1: is a list; a study is a map with the keys title, base"));
  EXPECT_EQ(refused(small_case),
            "study.yaml: is a case, not a study; write prismfield run, or name it as the base of a study");
  EXPECT_EQ(refused("sweep: {threads: [1]}\n"),
            "study.yaml:1: base: is missing; the name of a case, or the case itself, is expected");
  EXPECT_EQ(refused("sweep: {threads: [1]}\nbase: 7.yaml\n"), "study.yaml:2: base: 7.yaml: there is no such file");
  EXPECT_EQ(refused("base: [1]\n"),
            "study.yaml:1: base: is a list; the name of a case, or the case itself, is expected");
  EXPECT_EQ(refused("base: .\n"), "study.yaml:1: base: : is a folder; a YAML file is expected");
  m_folder.write("broken.yaml", "model: [\n");
  EXPECT_THAT(refused("base: broken.yaml\nrepeats: 0\n"), HasSubstr("broken.yaml:"));
  EXPECT_EQ(testing::mistakes([&] { static_cast<void>(read_study_file(m_folder / "none.yaml", {})); }),
            (m_folder / "none.yaml").string() + ": there is no such file");
}

TEST_F(StudyFileTest, LaunchersAreCheckedForWhatTheyNeed) {
  const std::string base = "base: case.yaml\nlauncher: ";
  EXPECT_THAT(refused(base + "mpirun -n {ranks}\n"), HasSubstr("has to have {program} as a word of its own, once"));
  EXPECT_THAT(refused(base + "mpirun -n {ranks} x{program}\n"), HasSubstr("as a word of its own"));
  EXPECT_THAT(refused(base + "mpirun {program}\n"), HasSubstr("lacks {ranks}"));
  EXPECT_THAT(refused(base + "mpirun '{ranks' {program}\n"), HasSubstr("has '{ranks', which stands for nothing"));
  EXPECT_THAT(refused(base + "\"mpirun 'a {program}\"\n"), HasSubstr("has a quote that is never closed"));
  EXPECT_THAT(read(base + "[a b, '-n{ranks}', '{program}']\n").launcher, ElementsAre("a b", "-n{ranks}", "{program}"));
}

TEST_F(StudyFileTest, TheBaseMayBeTheCaseItself) {
  const StudySpec spec = read("base:\n  title: Inside\n  fields: [gz]\n");
  EXPECT_EQ(spec.base.find("title")->text, "Inside");
  EXPECT_EQ(spec.base_file, m_folder / "study.yaml");
  EXPECT_EQ(where_of(*spec.base.find("fields"), ""), (m_folder / "study.yaml").string() + ":3");
}

TEST_F(StudyFileTest, SetChangesStudyAndCase) {
  const std::string text = "base: case.yaml\nsweep: {execution.precision: [double, single]}\n";
  const StudySpec spec = read(text, {{"repeats=2", "fields=[gz]", "base.execution.slots=3", "sweep.threads=[1, 2]",
                                      "sweep.execution.precision=[single]"},
                                     "elsewhere",
                                     false});
  EXPECT_EQ(spec.repeats, 2);
  EXPECT_EQ(spec.base.find("fields")->items[0].text, "gz");
  EXPECT_EQ(spec.base.find("execution")->find("slots")->text, "3");
  ASSERT_EQ(spec.axes.size(), 2U);
  EXPECT_EQ(spec.axes[0].values.size(), 1U);
  EXPECT_EQ(spec.axes[0].values[0].label, "single");
  EXPECT_EQ(spec.report, "elsewhere");
  EXPECT_EQ(refused(text, {{"repeats=none", "sweep.precision=[single]", "nothing", "sweep=null"}, "", false}),
            "--set: 'nothing' has no key.path=value form, such as execution.slots=4\n"
            "--set repeats: is 'none'; a whole number is expected");
}

TEST_F(StudyFileTest, ReducedChangesStudyAndCase) {
  const std::string text =
      "base: case.yaml\nsweep: {threads: [1, 2, 4], execution.slots: [1, 2]}\nreduced:\n"
      "  observations.grid.easting: [0, 300, 2]\n  repeats: 1\n  sweep.threads: [1]\n  sweep.execution.slots: [3]\n";
  EXPECT_EQ(read(text).repeats, 5);
  const StudySpec spec = read(text, {{}, "", true});
  EXPECT_TRUE(spec.reduced);
  EXPECT_EQ(spec.repeats, 1);
  EXPECT_EQ(spec.axes[0].values.size(), 1U);
  EXPECT_EQ(spec.axes[1].values[0].label, "3");
  EXPECT_EQ(spec.base.find("observations")->find("grid")->find("easting")->items[2].text, "2");
  EXPECT_EQ(where_of(*spec.base.find("observations")->find("grid")->find("easting"), ""),
            (m_folder / "study.yaml").string() + ":4");
  EXPECT_EQ(spec.tree.find("reduced"), nullptr);
  // the command line has the last word
  EXPECT_EQ(read(text, {{"repeats=4"}, "", true}).repeats, 4);
  EXPECT_EQ(refused("base: case.yaml\n", {{}, "", true}),
            "--reduced: study.yaml has no key reduced, which says what a reduced study changes");
  EXPECT_THAT(
      refused("base: case.yaml\nreduced: {repeat: 1, observation.grid: 1}\n"),
      AllOf(HasSubstr("study.yaml:2: reduced.repeat: is no key of the study or the case; did you mean repeats?"),
            HasSubstr("reduced.observation.grid: is no key of the study or the case; did you mean "
                      "observations?")));
  EXPECT_EQ(refused("base: case.yaml\nreduced: 1\n"),
            "study.yaml:2: reduced: is '1'; a map of keys of the study and the case is expected, such as {repeats: 1}");
}

TEST_F(StudyFileTest, PapersHaveOneCurveOrSeveral) {
  const std::string base = "base: case.yaml\ncompare_with: ";
  EXPECT_EQ(read(base + "[{paper: A1}, {paper: A2, values: {double: {32: 1}, single: {32: 2}}}]\n")
                .compare_with[1]
                .curves[1]
                .name,
            "single");
  EXPECT_EQ(refused(base + "{figure: 7, values: {32: fast, single: {32: 2}}}\n"),
            "study.yaml:2: compare_with.paper: is missing; the experiment, such as A1 is expected\n"
            "study.yaml:2: compare_with.values.32: is 'fast'; a map is expected, as the other curves have");
  EXPECT_THAT(refused(base + "{paper: A1, values: [1]}\n"),
              HasSubstr("compare_with.values: is a list; a map of values"));
}

}  // namespace
}  // namespace prismfield
