// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/report_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeStudy;
using testing::mistakes;

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  EXPECT_TRUE(split_csv(line, fields)) << line;
  return fields;
}

TEST(Csv, SplitsAsRfc4180Says) {
  EXPECT_THAT(split(""), ElementsAre(""));
  EXPECT_THAT(split("a,b,,c"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split("a,"), ElementsAre("a", ""));
  EXPECT_THAT(split(R"("a, b",c)"), ElementsAre("a, b", "c"));
  EXPECT_THAT(split(R"("say ""no""","",x)"), ElementsAre("say \"no\"", "", "x"));
  EXPECT_THAT(split(" a , b"), ElementsAre(" a ", " b"));
  std::vector<std::string> fields;
  EXPECT_FALSE(split_csv(R"("a)", fields));
  EXPECT_FALSE(split_csv(R"("a"b,c)", fields));
}

TEST(Csv, WritesWhatItReads) {
  for (const std::string text : {"", "plain", "a, b", "say \"no\"", "\"", ",", " blanks "}) {
    EXPECT_THAT(split(csv_field(text) + ",x"), ElementsAre(text, "x"));
  }
  EXPECT_EQ(csv_field("two\nlines"), "\"two lines\"");
}

class RunsCsv : public ::testing::Test {
protected:
  /// Reads a text as runs.csv.
  RunTable read(const std::string& text) const {
    ProblemList problems;
    RunTable table = read_runs(m_study.write("runs.csv", text), problems);
    EXPECT_EQ(mistakes([&] { problems.throw_if_any(); }), "");
    return table;
  }
  /// What is wrong with a text.
  std::string bad(const std::string& text) const {
    return m_study.without_folder(mistakes([&] {
      ProblemList problems;
      (void)read_runs(m_study.write("runs.csv", text), problems);
      problems.throw_if_any();
    }));
  }
  /// The text of the rows with one thing replaced.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = m_study.runs_csv({"threads"});
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  MadeStudy m_study;
};

TEST_F(RunsCsv, ReadsEveryColumn) {
  RunRow& row = m_study.add(3, {"2", "a, b"}, 2, 0.125);
  row.setup_seconds = 1;
  row.output_seconds = 2;
  row.processor_seconds = 3;
  row.energy_joules = 4;
  row.busy_least = 5;
  row.busy_most = 6;
  row.why = "say \"no\"";
  row.oversubscribed = true;
  const std::string why = row.why;
  m_study.add(3, {"2", "a, b"}, 2, 0.25).kind = RunKind::warmup;
  const RunTable table = read(m_study.runs_csv({"threads", "point"}));
  EXPECT_THAT(table.axes, ElementsAre("threads", "point"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_FALSE(table.cut);
  const RunRow& found = table.rows[0];
  EXPECT_EQ(found.point, 3);
  EXPECT_EQ(found.repeat, 1);
  EXPECT_EQ(found.kind, RunKind::timed);
  EXPECT_EQ(found.status, RunStatus::ok);
  EXPECT_EQ(found.why, why);
  EXPECT_THAT(found.values, ElementsAre("2", "a, b"));
  EXPECT_EQ(found.space, "openmp");
  EXPECT_EQ(found.threads, 2);
  EXPECT_EQ(found.field_seconds, 0.125);
  EXPECT_EQ(found.setup_seconds, 1);
  EXPECT_EQ(found.output_seconds, 2);
  EXPECT_EQ(found.processor_seconds, 3);
  EXPECT_EQ(found.energy_joules, 4);
  EXPECT_EQ(found.busy_least, 5);
  EXPECT_EQ(found.busy_most, 6);
  EXPECT_EQ(found.peak_memory_bytes, 100'000'000);
  EXPECT_EQ(found.scratch_bytes, 2'000'000);
  EXPECT_TRUE(found.oversubscribed);
  EXPECT_EQ(found.pairs_by_form[static_cast<std::size_t>(Form::multipole_4)], 1'000'000'000);
  EXPECT_EQ(found.pairs_by_form[0], 0);
  EXPECT_EQ(table.rows[1].kind, RunKind::warmup);
  EXPECT_THAT(table.lines, ElementsAre(2, 3));
}

TEST_F(RunsCsv, LeavesACutLastLineOut) {
  m_study.add(1, {"1"}, 1, 1.0);
  m_study.add(1, {"1"}, 1, 2.0);
  std::string text = m_study.runs_csv({"threads"});
  const auto second = text.find("\n2,") + 1;
  for (std::size_t length = second + 1; length < text.size(); length += 7) {
    const RunTable table = read(text.substr(0, length));
    EXPECT_TRUE(table.cut) << length;
    EXPECT_EQ(table.rows.size(), 1U) << length;
  }
  // the last character but the line's end makes it whole to look at, not to trust
  EXPECT_EQ(read(text.substr(0, text.size() - 1)).rows.size(), 1U);
  EXPECT_EQ(read(text).rows.size(), 2U);
}

TEST_F(RunsCsv, TakesTablesOfOtherSystems) {
  m_study.add(1, {"1"}, 1, 1.0);
  std::string text = m_study.runs_csv({"threads"});
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, 1, '\r');
  EXPECT_EQ(read(text).rows.size(), 1U);
}

TEST_F(RunsCsv, TellsWhatIsWrongByLineAndColumn) {
  m_study.add(1, {"1"}, 1, 1.5);
  m_study.add(2, {"2"}, 2, 0.75);
  EXPECT_EQ(bad(""), "report/runs.csv: is empty; a first line with the names of the columns is expected");
  EXPECT_THAT(bad(with("run,point", "run,place")),
              HasSubstr("report/runs.csv:1: column 2 is 'place', not point; the columns of this file are run,point,"));
  EXPECT_THAT(bad("run,point,repeat\n"), HasSubstr("report/runs.csv:1: column 4 is missing, not kind"));
  EXPECT_EQ(bad(with(",1.5,", ",fast,")),
            "report/runs.csv:2: field_seconds: is 'fast'; a finite number, or nothing is expected");
  EXPECT_EQ(bad(with(",0.75,", ",inf,")),
            "report/runs.csv:3: field_seconds: is 'inf'; a finite number, or nothing is expected");
  EXPECT_EQ(bad(with("1,1,1,timed,ok", "1,1,0,timed,ok")),
            "report/runs.csv:2: repeat: is '0'; a whole number of at least 1 is expected");
  EXPECT_EQ(bad(with("timed,ok", "timed,fine")),
            "report/runs.csv:2: status: is 'fine'; one of ok, not run, failed, wrong, too slow, out of budget is "
            "expected");
  EXPECT_EQ(bad(with("timed", "late")),
            "report/runs.csv:2: kind: is 'late'; one of reference, warmup, timed is expected");
  EXPECT_EQ(bad(with("2,2,1,timed,ok", "2,2,1,timed,ok,more")), "report/runs.csv:3: has 45 fields, the header has 44");
  EXPECT_EQ(bad(with("1,1,1,timed", "1,1,1,\"timed")),
            "report/runs.csv:2: is no line of CSV: a quote is not closed, or has text behind it");
}

TEST_F(RunsCsv, FindsRunsThatAreThereTwice) {
  m_study.add(1, {"1"}, 1, 1.5);
  m_study.add(1, {"1"}, 1, 1.5).repeat = 1;
  EXPECT_EQ(bad(m_study.runs_csv({"threads"})),
            "report/runs.csv:3: repeat: point 1, timed 1 was done in line 2 already");
  // what failed may be run again
  m_study.rows[0].status = RunStatus::failed;
  EXPECT_EQ(bad(m_study.runs_csv({"threads"})), "");
  m_study.rows[1].run = 1;
  EXPECT_EQ(bad(m_study.runs_csv({"threads"})), "report/runs.csv:3: run: run 1 stands in line 2 already");
  m_study.rows[1].run = 2;
  m_study.rows[1].values = {"2"};
  EXPECT_EQ(bad(m_study.runs_csv({"threads"})),
            "report/runs.csv:3: point: the values of point 1 are 2 here and 1 in line 2");
}

TEST_F(RunsCsv, TellsManyMistakesShortly) {
  for (int i = 0; i < 500; ++i) m_study.add(1, {"1"}, 1, 1.0).space = "\"";
  std::string text = m_study.runs_csv({"threads"});
  for (auto at = text.find(",1,64,"); at != std::string::npos; at = text.find(",1,64,")) text.replace(at, 6, ",1,x,");
  const std::string said = bad(text);
  EXPECT_THAT(said, HasSubstr(" more of this kind: values that cannot be read"));
}

}  // namespace
}  // namespace prismfield
