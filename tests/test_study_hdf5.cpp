// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/hdf5_file.hpp"
#include "made_study.hpp"
#include "study/analysis.hpp"
#include "study/read_study.hpp"
#include "study/report_files.hpp"
#include "study/study_hdf5.hpp"
#include "study/study_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using testing::MadeStudy;

class StudyHdf5 : public ::testing::Test {
protected:
  StudyHdf5() {
    m_study.yaml = "title: Threads\nsweep: {execution.precision: [double, single], threads: [1, 2]}\n";
    m_study.add_runs(1, {"double", "1"}, 1, {8, 8.5, 7.5});
    m_study.add_runs(2, {"double", "2"}, 2, {4, 5, 4.5});
    m_study.add_runs(3, {"single", "1"}, 1, {3});
    m_study.leave_out(4, {"single", "2"}, RunStatus::not_run, "no");
    m_study.write(
        "errors.csv",
        "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n1,gz,mGal,1,2,4,0.5\n");
  }
  StudyData analysed() {
    m_study.write_all({"execution.precision", "threads"});
    StudyData study = read_study(m_study.folder());
    analyse(study);
    return study;
  }
  MadeStudy m_study;
};

TEST_F(StudyHdf5, HoldsPointsRunsAndErrors) {
  const StudyData study = analysed();
  write_study_hdf5(study, m_study / "study.h5");
  const Hdf5File file = Hdf5File::open(m_study / "study.h5");
  EXPECT_EQ(file.read_text_attribute("/", "schema"), "prismfield-study");
  EXPECT_EQ(file.read_text("study"), study_json(study));
  EXPECT_THAT(file.read_integers("/points/id"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(file.read("/points/axis_threads"), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(file.read_integers("/points/axis_execution.precision"), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(file.read_text_attribute("/points/axis_execution.precision", "flag_meanings"), "double single");
  EXPECT_EQ(file.read_text_attribute("/points/status", "flag_meanings"), "ok not_run");
  EXPECT_THAT(file.dimension_names("/points/field_seconds"), ElementsAre("point"));
  const auto seconds = file.read("/points/field_seconds");
  EXPECT_EQ(seconds[1], 4.5);
  EXPECT_TRUE(std::isnan(seconds[3]));
  EXPECT_EQ(file.read("/points/field_seconds_low")[1], 4);
  EXPECT_EQ(file.read("/points/speed_up")[1], 8 / 4.5);
  EXPECT_EQ(file.read_text_attribute("/points/field_seconds", "units"), "s");
  EXPECT_THAT(file.read("/runs/field_seconds").size(), 8U);
  EXPECT_THAT(file.read_integers("/runs/point"), ElementsAre(1, 1, 1, 2, 2, 2, 3, 4));
  EXPECT_EQ(file.read_integers("/runs/pairs_multipole_4")[0], 1'000'000'000);
  EXPECT_THAT(file.read("/errors/relative"), ElementsAre(0.5));
}

TEST_F(StudyHdf5, GivesRunsOfAWrongPointNoTimes) {
  m_study.rows[4].status = RunStatus::wrong;
  const StudyData study = analysed();
  write_study_hdf5(study, m_study / "study.h5");
  const Hdf5File file = Hdf5File::open(m_study / "study.h5");
  for (const char* name : {"field_seconds", "total_seconds", "process_seconds", "pairs_per_second"}) {
    const std::vector<double> values = file.read(std::string("/runs/") + name);
    EXPECT_FALSE(std::isnan(values[2])) << name;
    // one of its runs is wrong, the others are its as well
    for (const std::size_t of_point : {3, 4, 5}) EXPECT_TRUE(std::isnan(values[of_point])) << name;
  }
  EXPECT_FALSE(std::isnan(file.read("/runs/largest_error")[4]));
}

TEST_F(StudyHdf5, TakesAStudyWithoutPoints) {
  m_study.rows.clear();
  std::filesystem::remove(m_study / "errors.csv");
  const StudyData study = analysed();
  write_study_hdf5(study, m_study / "study.h5");
  const Hdf5File file = Hdf5File::open(m_study / "study.h5");
  EXPECT_FALSE(file.has("/points"));
  EXPECT_TRUE(file.has("study"));
}

TEST_F(StudyHdf5, LiesBesideTheOtherFiles) {
  const StudyData study = analysed();
  write_report_files(study, m_study.folder());
  for (const char* name : {"study.json", "study.h5", "tables.md", "tables.tex", "p3.csv", "foms.txt"}) {
    EXPECT_GT(std::filesystem::file_size(m_study / name), 50U) << name;
  }
  std::ifstream json(m_study / "study.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(json), {}), study_json(study));
  for (const auto& entry : std::filesystem::directory_iterator(m_study.folder())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
  }
  EXPECT_THROW(write_report_files(study, m_study / "none"), RunError);
}

}  // namespace
}  // namespace prismfield
