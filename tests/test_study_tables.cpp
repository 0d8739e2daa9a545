// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/analysis.hpp"
#include "study/read_study.hpp"
#include "study/study_tables.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeStudy;
using ::testing::Not;

class StudyTables : public ::testing::Test {
protected:
  StudyTables() {
    m_study.yaml =
        "title: Threads & 100 %\nsweep:\n  execution.precision: [double, single]\n  threads: [1, 2]\nrepeats: 2\n";
    m_study.add_runs(1, {"double", "1"}, 1, {8, 8});
    m_study.add_runs(2, {"double", "2"}, 2, {4, 5});
    m_study.add_runs(3, {"single", "1"}, 1, {3, 3});
    m_study.leave_out(4, {"single", "2"}, RunStatus::not_run, "2 threads | 1 core <b>");
    m_study.write("errors.csv",
                  "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n"
                  "1,gz,mGal,1.25e-09,2e-9,4,5e-10\n1,gzz,Eotvos,0,0,4,0\n3,gz,mGal,0.5,1,4,0.25\n");
  }
  StudyData analysed() {
    m_study.write_all({"execution.precision", "threads"});
    StudyData study = read_study(m_study.folder());
    analyse(study);
    return study;
  }
  MadeStudy m_study;
};

TEST_F(StudyTables, HasARowForEveryPoint) {
  const auto tables = study_tables(analysed());
  ASSERT_EQ(tables.size(), 4U);
  const StudyTable& points = tables[0];
  EXPECT_EQ(points.title, "Points");
  ASSERT_EQ(points.rows.size(), 4U);
  for (const auto& row : points.rows) EXPECT_EQ(row.size(), points.header.size());
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto at = std::find(points.header.begin(), points.header.end(), column);
    EXPECT_NE(at, points.header.end()) << column;
    return points.rows[row][static_cast<std::size_t>(at - points.header.begin())];
  };
  EXPECT_EQ(points.n_text_columns, 2U);
  EXPECT_EQ(cell(1, "threads"), "2");
  EXPECT_EQ(cell(1, "runs"), "2");
  EXPECT_EQ(cell(1, "field time (s)"), "4.5 (4 to 5)");
  EXPECT_EQ(cell(1, "pairs/s"), "2.25e+08");
  EXPECT_EQ(cell(1, "speed-up"), "1.778 (1.6 to 2)");
  EXPECT_EQ(cell(1, "efficiency (%)"), "88.89 (80 to 100)");
  EXPECT_EQ(cell(1, "peak memory (MB)"), "100");
  EXPECT_EQ(cell(0, "largest error"), "1e-15");
  EXPECT_EQ(cell(3, "state"), "not run: 2 threads | 1 core <b>");
  EXPECT_EQ(cell(3, "field time (s)"), "");
  // a column that nobody has
  EXPECT_EQ(std::count(points.header.begin(), points.header.end(), "energy (J)"), 0);
}

TEST_F(StudyTables, HasErrorsByField) {
  const auto tables = study_tables(analysed());
  EXPECT_THAT(tables[1].header, ElementsAre("execution.precision", "threads", "gz (mGal)", "gzz (Eotvos)"));
  EXPECT_THAT(tables[1].rows,
              ElementsAre(ElementsAre("double", "1", "1.25e-09", "0"), ElementsAre("single", "1", "0.5", "")));
  EXPECT_THAT(tables[3].header, ElementsAre("execution.precision", "threads", "gz", "gzz"));
  EXPECT_THAT(tables[3].rows[1], ElementsAre("single", "1", "0.25", ""));
}

TEST(StudyTablesOfScaling, HaveSerialFractionsWhereRunsGetFaster) {
  MadeStudy made;
  made.yaml = "title: s\nsweep:\n  execution.precision: [double, single]\n  threads: [1, 2, 4]\nrepeats: 2\n";
  int id = 0;
  for (const double slower : {0.9, 1.5}) {
    double seconds = 8;
    for (const int threads : {1, 2, 4}) {
      made.add_runs(++id, {slower < 1 ? "double" : "single", std::to_string(threads)}, threads, {seconds, seconds});
      seconds *= slower;
    }
  }
  made.write_all({"execution.precision", "threads"});
  StudyData study = read_study(made.folder());
  analyse(study);
  const StudyTable fractions = study_tables(study)[1];
  EXPECT_EQ(fractions.title, "Serial fractions");
  EXPECT_THAT(fractions.rows, ElementsAre(ElementsAre("threads", "execution.precision=double", Not("no speed-up"),
                                                      Not("no speed-up"), ::testing::_, "3"),
                                          ElementsAre("threads", "execution.precision=single", "no speed-up",
                                                      "no speed-up", ::testing::_, "3")));
}

TEST_F(StudyTables, IsMarkdown) {
  const std::string text = tables_as_markdown(analysed());
  EXPECT_TRUE(text.starts_with("# Threads & 100 %\n\n- made: prismfield 1.2.3 (git abc)\n")) << text;
  EXPECT_THAT(text, HasSubstr("medians of 2 repeats after 1 warm-up"));
  EXPECT_THAT(text, HasSubstr("## Points\n\n| execution.precision | threads | runs | field time (s) |"));
  EXPECT_THAT(text, HasSubstr("|---|---|---:|---:|"));
  EXPECT_THAT(text, HasSubstr("not run: 2 threads \\| 1 core &lt;b> |"));
  EXPECT_THAT(text, HasSubstr("## Notes\n\n- 2 repeats are asked for, 5 are the rule\n"));
}

TEST_F(StudyTables, TitlesAreTextInMarkdown) {
  StudyData study = analysed();
  study.title = "![a](http://b) <script> *c* `d` e_f\\";
  EXPECT_TRUE(tables_as_markdown(study).starts_with("# !\\[a\\](http://b) \\<script\\> \\*c\\* \\`d\\` e\\_f\\\\\n\n"))
      << tables_as_markdown(study);
}

TEST_F(StudyTables, FitsATerminal) {
  const std::string text = tables_as_text(analysed());
  EXPECT_TRUE(text.starts_with("precision  threads  field time (s)  ")) << text;
  EXPECT_THAT(text, HasSubstr("\ndouble     2          4.5 (4 to 5)  "));
  EXPECT_THAT(text, HasSubstr("\nnot run: precision=single, threads=2: 2 threads | 1 core <b>\n"));
  EXPECT_THAT(text, HasSubstr("\nnote: 2 repeats are asked for, 5 are the rule\n"));
  // a point without numbers has no row
  EXPECT_THAT(text, Not(HasSubstr("\nsingle     2")));
}

TEST(StudyTablesOfManyAxes, FitATerminal) {
  const std::string long_label = "a label of a point that is longer than anybody will want to read in a table";
  MadeStudy made;
  made.yaml = "title: many\nsweep:\n  threads: [1, 2, 3, 4]\n  execution.space: [openmp]\n  mesh.name: [" + long_label +
              ", other]\nrepeats: 2\n";
  made.add_runs(1, {"1", "openmp", long_label}, 1, {8.123456, 8.234567});
  made.add_runs(2, {"1", "openmp", "other"}, 1, {4.123456, 5.234567});
  for (int point = 3; point <= 8; ++point) {
    const std::string threads = std::to_string((point + 1) / 2);
    made.leave_out(point, {threads, "openmp", point % 2 == 1 ? long_label : "other"}, RunStatus::not_run,
                   threads +
                       " threads need more hardware threads than there are on this machine, which is a reason "
                       "that fills more than one line of a terminal");
  }
  made.write_all({"threads", "execution.space", "mesh.name"});
  StudyData study = read_study(made.folder());
  analyse(study);
  const std::string text = tables_as_text(study);
  EXPECT_TRUE(text.starts_with("everywhere: space=openmp\n\nthreads  name  ")) << text;
  EXPECT_THAT(text, HasSubstr("\n1        a label of a point that is..  "));
  // reasons that differ in their numbers alone are said once
  EXPECT_THAT(text, HasSubstr("\nnot run: 6 points, the first threads=2, name=a label of a point that is..: 2\n  "));
  EXPECT_THAT(text, Not(HasSubstr("3 threads need")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  // nothing is lost: all is in the report's table
  EXPECT_THAT(tables_as_markdown(study), HasSubstr(long_label));
}

TEST(StudyTablesOfManyAxes, CutLabelsThatFillATerminalAlone) {
  const std::string label = "thirty characters of a label, ";
  MadeStudy made;
  made.yaml = "title: many\nsweep:\n";
  for (const char* axis : {"model", "fields", "mesh"}) {
    made.yaml += fmt::format("  {}: ['{}1', '{}2']\n", axis, label, label);
  }
  int id = 0;
  for (const char* a : {"1", "2"}) {
    for (const char* b : {"1", "2"}) {
      for (const char* c : {"1", "2"}) made.add_runs(++id, {label + a, label + b, label + c}, 1, {8.123456, 8.2});
    }
  }
  made.write_all({"model", "fields", "mesh"});
  StudyData study = read_study(made.folder());
  analyse(study);
  std::istringstream lines(tables_as_text(study));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(StudyTables, IsLatex) {
  const std::string text = tables_as_latex(analysed());
  EXPECT_THAT(text, HasSubstr("\\caption{Threads \\& 100 \\%: Points}"));
  EXPECT_THAT(text, HasSubstr("1.25$\\times 10^{-9}$ & 0 \\\\"));
  EXPECT_THAT(text, HasSubstr("\\begin{tabular}{llrr}"));
  EXPECT_THAT(text, Not(HasSubstr("e-09")));
  std::size_t begins = 0, ends = 0;
  for (auto at = text.find("\\begin{table}"); at != std::string::npos; at = text.find("\\begin{table}", at + 1))
    ++begins;
  for (auto at = text.find("\\end{table}"); at != std::string::npos; at = text.find("\\end{table}", at + 1)) ++ends;
  EXPECT_EQ(begins, 4U);
  EXPECT_EQ(ends, 4U);
}

TEST_F(StudyTables, GivesTheFastestPointsToP3) {
  EXPECT_EQ(p3_csv(analysed()),
            "date,fom,application,problem,platform\n"
            "2026-11-22T00:00:13Z,250000000,prismfield execution.precision=double,Threads & 100 % p1,\"made, openmp\"\n"
            "2026-11-22T00:00:14Z,200000000,prismfield execution.precision=double,Threads & 100 % p1,\"made, openmp\"\n"
            "2026-11-22T00:00:15Z,333333333.3333333,prismfield execution.precision=single,Threads & 100 % p1,\"made, "
            "openmp\"\n"
            "2026-11-22T00:00:16Z,333333333.3333333,prismfield execution.precision=single,Threads & 100 % p1,\"made, "
            "openmp\"\n");
}

TEST_F(StudyTables, SaysOneFigureOfMeritALine) {
  const std::string text = fom_lines(analysed());
  EXPECT_THAT(text, HasSubstr("FOM field_seconds[execution.precision=double,threads=2]: 4.5 s\n"));
  EXPECT_THAT(text, HasSubstr("FOM pairs_per_second[execution.precision=double,threads=2]: 225000000 1/s\n"));
  EXPECT_THAT(text, HasSubstr("FOM largest_error[execution.precision=single,threads=1]: 1e-15 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("precision=single,threads=2")));
}

}  // namespace
}  // namespace prismfield
