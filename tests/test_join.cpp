// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/analysis.hpp"
#include "study/join.hpp"
#include "study/read_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeStudy;
using testing::mistakes;
using ::testing::Pair;

const std::string errors_header = "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n";

class Join : public ::testing::Test {
protected:
  Join() {
    m_small.yaml = "title: Small\nsweep: {threads: [1, 2]}\nrepeats: 2\n";
    m_small.machine = R"({"name": "small", "calibration": {"openmp": {"peak_double": 1e11, "threads": 2}}})";
    m_small.add_runs(1, {"1"}, 1, {8, 8});
    m_small.add_runs(2, {"2"}, 2, {4, 4});
    m_large.yaml = "title: Large\nsweep: {threads: [1, 2, 4]}\nrepeats: 2\ntolerance: 1e-6\n";
    m_large.machine = R"({"name": "large", "calibration": {"openmp": {"peak_double": 8e11, "threads": 4}}})";
    m_large.add_runs(1, {"1"}, 1, {4, 4});
    m_large.add_runs(2, {"2"}, 2, {2, 2});
    m_large.add_runs(3, {"4"}, 4, {1, 1});
  }
  void write() const {
    m_small.write_all({"threads"});
    m_large.write_all({"threads"});
    m_small.write("errors.csv", errors_header + "2,gz,mGal,0,0,1,0\n");
    m_large.write("errors.csv", errors_header + "3,gz,mGal,0,0,1,0\n");
    m_large.write("maps.csv", "point,file,fields\n3,results/3.h5,gz\n");
  }

  MadeStudy m_small, m_large{"other", m_small};
};

TEST_F(Join, NamesEachPointsMachine) {
  write();
  StudyData study = join({m_small.folder(), m_large.folder()});
  analyse(study);
  EXPECT_EQ(study.title, "Small");
  EXPECT_TRUE(study.joined);
  ASSERT_EQ(study.axes.size(), 2U);
  EXPECT_EQ(study.axes[0].name, "machine");
  EXPECT_THAT(study.axes[0].values, ElementsAre("small", "large"));
  EXPECT_THAT(study.axes[1].values, ElementsAre("1", "2", "4"));
  EXPECT_THAT(settings_of(study.axes[1], "4"), ElementsAre(Pair("threads", "4")));
  ASSERT_EQ(study.points.size(), 5U);
  EXPECT_THAT(study.points[0].labels, ElementsAre("small", "1"));
  EXPECT_THAT(study.points[4].labels, ElementsAre("large", "4"));
  EXPECT_EQ(study.points[4].machine, 1U);
  EXPECT_EQ(study.points[4].id, 5);
  // scaling is each machine's own
  EXPECT_DOUBLE_EQ(study.points[4].speed_up.value, 4);
  EXPECT_EQ(study.points[4].baseline, 3);
  ASSERT_EQ(study.fits.size(), 1U);
  EXPECT_THAT(study.fits[0].group, ElementsAre(Pair("machine", "large")));
  EXPECT_EQ(study.errors.at(1).point, 5);
  EXPECT_EQ(study.maps.at(0).file, (m_large.folder() / "results/3.h5").string());
  EXPECT_THAT(study.rules.notes, Contains("large: the tolerance is 1e-06, not 1e-09"));
}

TEST_F(Join, RatesPortabilityOverMachines) {
  write();
  StudyData study = join({m_small.folder(), m_large.folder()});
  analyse(study);
  ASSERT_EQ(study.portability.size(), 1U);
  const Portability& portability = study.portability[0];
  ASSERT_EQ(portability.platforms.size(), 2U);
  EXPECT_EQ(portability.platforms[0].name, "small, openmp");
  EXPECT_EQ(portability.platforms[0].point, 2);
  EXPECT_EQ(portability.platforms[1].point, 5);
  // 46 operations a pair, 1e9 pairs: in 4 s of 1e11/s, and in 1 s of 8e11/s
  EXPECT_DOUBLE_EQ(portability.platforms[0].architectural, 0.115);
  EXPECT_DOUBLE_EQ(portability.platforms[1].architectural, 0.0575);
  EXPECT_DOUBLE_EQ(portability.architectural, 2 / (1 / 0.115 + 1 / 0.0575));
  EXPECT_DOUBLE_EQ(portability.application, 1);
}

TEST_F(Join, TellsMachinesOfOneNameApart) {
  m_large.machine = m_small.machine;
  write();
  MadeStudy third("third", m_small);
  third.yaml = m_small.yaml;
  third.machine = m_small.machine;
  third.rows = m_small.rows;
  third.write_all({"threads"});
  const StudyData study = join({m_small.folder(), m_large.folder(), third.folder()});
  EXPECT_THAT(study.axes[0].values, ElementsAre("small", "small (2)", "small (3)"));
  EXPECT_EQ(study.runs.size(), 14U);
}

TEST_F(Join, CountsNoFolderTwice) {
  write();
  const std::filesystem::path again = m_small.folder() / ".." / "report";
  EXPECT_EQ(m_small.without_folder(mistakes([&] {
    (void)join({m_small.folder(), m_large.folder(), again});
  })),
            "--join: names report/../report twice; its runs count once");
}

TEST_F(Join, TellsOtherProblems) {
  for (RunRow& row : m_large.rows) row.problem = "p2";
  write();
  const StudyData study = join({m_small.folder(), m_large.folder()});
  EXPECT_THAT(study.rules.notes, Contains("large: none of its problems is one of the machines before it; their times "
                                          "cannot be compared"));
}

TEST_F(Join, RatesPortabilityZeroWhereNothingRan) {
  m_large.rows.clear();
  for (std::int64_t point = 1; point <= 3; ++point) {
    m_large.leave_out(point, {point == 3 ? "4" : std::to_string(point)}, RunStatus::not_run, "no such space");
  }
  m_small.write_all({"threads"});
  m_large.write_all({"threads"});
  StudyData study = join({m_small.folder(), m_large.folder()});
  analyse(study);
  ASSERT_EQ(study.portability.size(), 1U);
  EXPECT_EQ(study.portability[0].platforms.at(1).name, "large");
  EXPECT_EQ(study.portability[0].application, 0);
}

TEST_F(Join, RefusesOtherStudies) {
  m_large.yaml = "sweep: {ranks: [1, 2, 4]}\n";
  m_large.write_all({"ranks"});
  m_small.write_all({"threads"});
  const std::string said = mistakes([&] { (void)join({m_small.folder(), m_large.folder(), m_small / "none"}); });
  EXPECT_THAT(said, HasSubstr("other/study.yaml: sweep: has the axes ranks, "));
  EXPECT_THAT(said, HasSubstr("report/study.yaml has threads; only runs of one study can be joined"));
  EXPECT_THAT(said, HasSubstr("report/none: is no folder"));
  EXPECT_EQ(mistakes([] { (void)join({}); }), "--join: names no folder");
}

}  // namespace
}  // namespace prismfield
