// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/read_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MadeStudy;
using testing::mistakes;
using ::testing::Pair;

class ReadStudy : public ::testing::Test {
protected:
  ReadStudy() {
    m_study.yaml =
        "title: Two axes\nsweep:\n  execution.precision: [double, single]\n  point:\n"
        "    - {threads: 1, execution.slots: 8}\n    - {threads: 2, execution.slots: 16, label: both}\n"
        "repeats: 3\nwarmup: 0\ntolerance: 1e-6\norder: as_written\nseed: 7\nweak: true\nscaling: threads\n"
        "baseline: {point: both}\nfigure: {x: point, y: speed_up}\ncompare_with: [{paper: A1}]\n";
    m_study.add(1, {"double", "threads=1, slots=8"}, 1, 4);
    m_study.add(2, {"double", "both"}, 2, 2);
    m_study.add(3, {"single", "threads=1, slots=8"}, 1, 3);
    m_study.add(4, {"single", "both"}, 2, 1);
  }
  void write() const { m_study.write_all({"execution.precision", "point"}); }
  std::string bad() const {
    return m_study.without_folder(mistakes([&] { (void)read_study(m_study.folder()); }));
  }

  MadeStudy m_study;
};

TEST_F(ReadStudy, TakesRulesAxesAndRuns) {
  write();
  const StudyData study = read_study(m_study.folder());
  EXPECT_EQ(study.title, "Two axes");
  EXPECT_EQ(study.rules.repeats, 3);
  EXPECT_EQ(study.rules.warmup, 0);
  EXPECT_EQ(study.rules.tolerance, 1e-6);
  EXPECT_EQ(study.rules.order, "as_written");
  EXPECT_EQ(study.rules.seed, 7U);
  EXPECT_EQ(study.rules.scaling, "threads");
  EXPECT_TRUE(study.rules.weak);
  EXPECT_THAT(study.rules.baseline, ElementsAre(Pair("point", "both")));
  EXPECT_THAT(study.rules.notes, IsEmpty());
  ASSERT_EQ(study.axes.size(), 2U);
  EXPECT_THAT(study.axes[0].keys, ElementsAre("execution.precision"));
  EXPECT_THAT(study.axes[1].keys, ElementsAre("threads", "execution.slots"));
  EXPECT_THAT(study.axes[1].values, ElementsAre("threads=1, slots=8", "both"));
  EXPECT_THAT(settings_of(study.axes[1], "both"), ElementsAre(Pair("threads", "2"), Pair("execution.slots", "16")));
  EXPECT_THAT(settings_of(study.axes[0], "single"), ElementsAre(Pair("execution.precision", "single")));
  EXPECT_THAT(settings_of(study.axes[1], "neither"), IsEmpty());
  EXPECT_EQ(study.runs.size(), 4U);
  EXPECT_EQ(study.machines.at(0).name, "made");
  EXPECT_EQ(study.machines[0].version, "1.2.3");
  EXPECT_EQ(study.started, "2026-11-22T00:00:11Z");
  EXPECT_EQ(study.ended, "2026-11-22T00:00:14Z");
  EXPECT_EQ(study.hash.size(), 32U);
  EXPECT_EQ(study.figures.size(), 1U);
  EXPECT_EQ(study.compare_with.size(), 1U);
  EXPECT_FALSE(study.reduced);
}

TEST_F(ReadStudy, HasDefaults) {
  m_study.yaml = "sweep: {execution.precision: [double], point: [{threads: 1}]}\n";
  m_study.rows.resize(1);
  write();
  const StudyData study = read_study(m_study.folder());
  EXPECT_EQ(study.title, "report");
  EXPECT_EQ(study.rules.repeats, 5);
  EXPECT_EQ(study.rules.warmup, 1);
  EXPECT_EQ(study.rules.tolerance, 1e-9);
  EXPECT_EQ(study.rules.order, "random");
  EXPECT_EQ(study.rules.seed, 1U);
  EXPECT_FALSE(study.rules.weak);
}

TEST_F(ReadStudy, TakesTheMachinesRecord) {
  m_study.machine = R"({"host": "h1", "study_hash": "h", "reduced": true,
    "calibration": {"openmp": {"peak_double": 1e11, "peak_single": 2e11, "bandwidth": 3e10, "threads": 2}, "note": 1}})";
  write();
  const StudyData study = read_study(m_study.folder());
  EXPECT_EQ(study.machines[0].name, "h1");
  EXPECT_EQ(study.hash, "h");
  EXPECT_TRUE(study.reduced);
  ASSERT_EQ(study.machines[0].peaks.size(), 1U);
  const SpacePeak& peak = study.machines[0].peaks.at("openmp");
  EXPECT_EQ(peak.peak_double, 1e11);
  EXPECT_EQ(peak.peak_single, 2e11);
  EXPECT_EQ(peak.bandwidth, 3e10);
  EXPECT_EQ(peak.threads, 2);
}

TEST_F(ReadStudy, NotesACutLine) {
  write();
  const std::string text = m_study.runs_csv({"execution.precision", "point"});
  m_study.write("runs.csv", text.substr(0, text.size() - 5));
  const StudyData study = read_study(m_study.folder());
  EXPECT_EQ(study.runs.size(), 3U);
  EXPECT_THAT(study.rules.notes, ElementsAre(HasSubstr("the last line of runs.csv is incomplete")));
}

TEST_F(ReadStudy, ReadsTablesThatAreThere) {
  write();
  m_study.write("errors.csv",
                "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n2,gz,mGal,1,2,4,0.5\n");
  m_study.write("busy.csv", "point,rank,slot,begin,end\n1,0,1,0,1\n");
  const StudyData study = read_study(m_study.folder());
  EXPECT_EQ(study.errors.size(), 1U);
  EXPECT_EQ(study.busy.size(), 1U);
  EXPECT_THAT(study.histograms, IsEmpty());
  m_study.write("busy.csv", "point,rank,slot,begin,end\n9,0,1,0,1\n9,0,1,0,1\n");
  EXPECT_EQ(bad(), "report/busy.csv: point: 9 is no point of the study");
}

TEST_F(ReadStudy, LeavesOutWhatAStoppedRunWroteBeforeItsRow) {
  m_study.rows.pop_back();
  write();
  m_study.write("busy.csv", "point,rank,slot,begin,end\n3,0,1,0,1\n4,0,1,0,1\n4,0,2,0,1\n");
  const StudyData study = read_study(m_study.folder());
  ASSERT_EQ(study.busy.size(), 1U);
  EXPECT_EQ(study.busy[0].point, 3);
}

TEST_F(ReadStudy, TakesAxesAsTheStudyMayWriteThem) {
  m_study.yaml = "sweep:\n  execution: {slots: [8], partition: [prisms, {ranks: [1, 1]}]}\n  point: [{threads: 1}]\n";
  m_study.rows.clear();
  m_study.add(1, {"8", "prisms", "threads=1"}, 1, 4);
  m_study.add(2, {"8", "{ranks: [1, 1]}", "threads=1"}, 1, 2);
  m_study.write_all({"execution.slots", "execution.partition", "point"});
  const StudyData study = read_study(m_study.folder());
  ASSERT_EQ(study.axes.size(), 3U);
  EXPECT_EQ(study.axes[0].name, "execution.slots");
  EXPECT_THAT(study.axes[1].keys, ElementsAre("execution.partition")) << "its map is a value, no number of ranks";
  EXPECT_THAT(settings_of(study.axes[1], "{ranks: [1, 1]}"),
              ElementsAre(Pair("execution.partition", "{ranks: [1, 1]}")));
}

TEST_F(ReadStudy, TellsEveryMistakeAtOnce) {
  m_study.yaml =
      "title: [a]\nsweep: 3\nrepeats: 0\ntolerance: -1\norder: sorted\nseed: x\nweak: maybe\nscaling: cores\n"
      "baseline: 7\n";
  m_study.machine = "{\"name\": \"made\",\n \"cores\": }";
  write();
  EXPECT_EQ(bad(),
            "report/machine.json:2: is no JSON from here on\n"
            "report/study.yaml:1: title: is a list; a title is expected\n"
            "report/study.yaml:2: sweep: is '3'; a map of axes is expected\n"
            "report/study.yaml:4: tolerance: is '-1'; a number of at least 0 is expected\n"
            "report/study.yaml:3: repeats: is '0'; a whole number of at least 1 is expected\n"
            "report/study.yaml:6: seed: is 'x'; a whole number of at least 0 is expected\n"
            "report/study.yaml:5: order: is 'sorted'; random or as_written is expected\n"
            "report/study.yaml:8: scaling: is 'cores'; threads, ranks, devices or none is expected\n"
            "report/study.yaml:7: weak: is 'maybe'; true or false is expected\n"
            "report/study.yaml:9: baseline: is '7'; a map of axes and values is expected");
}

TEST_F(ReadStudy, RefusesWhatDoesNotBelongTogether) {
  write();
  m_study.write_all({"execution.precision", "place"});
  EXPECT_EQ(bad(),
            "report/runs.csv:1: has the axes execution.precision, place, study.yaml beside it has execution.precision, "
            "point: they are of two studies");
  m_study.rows[2].values = {"double", "both"};
  write();
  EXPECT_EQ(bad(), "report/runs.csv:4: point: point 3 of study.yaml has other values than double, both");
  m_study.rows[2].values = {"single", "threads=1, slots=8"};
  m_study.rows[2].point = 5;
  write();
  EXPECT_THAT(bad(), HasSubstr("report/runs.csv:4: point: point 5 of study.yaml has other values"));
}

TEST_F(ReadStudy, NeedsItsFiles) {
  EXPECT_EQ(m_study.without_folder(mistakes([&] { (void)read_study(m_study / "none"); })),
            "report/none: is no folder; the report folder of a study is expected");
  const std::string said = bad();
  EXPECT_THAT(said, HasSubstr("report/machine.json: cannot be read; a report folder of prismfield study has it"));
  EXPECT_THAT(said, HasSubstr("study.yaml"));
  EXPECT_THAT(said, HasSubstr("runs.csv"));
  write();
  m_study.write("machine.json", "[1]");
  EXPECT_EQ(bad(), "report/machine.json: holds no JSON object");
  m_study.write("machine.json", R"({"calibration": {"openmp": {"peak_double": 0, "bandwidth": "fast"}}})");
  EXPECT_EQ(bad(),
            "report/machine.json: calibration.openmp.peak_double: is 0; a number above 0 is expected\n"
            "report/machine.json: calibration.openmp.bandwidth: is \"fast\"; a number above 0 is expected");
  for (const std::string threads : {"0", "1.5", "1e300", "\"two\""}) {
    m_study.write("machine.json", R"({"calibration": {"openmp": {"threads": )" + threads + "}}}");
    EXPECT_THAT(bad(), HasSubstr("calibration.openmp.threads: is ")) << threads;
  }
  m_study.write("machine.json", R"({"calibration": 5})");
  EXPECT_EQ(bad(), "report/machine.json: calibration: is no JSON object");
}

}  // namespace
}  // namespace prismfield
