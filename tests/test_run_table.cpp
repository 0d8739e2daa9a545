// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "scratch_folder.hpp"
#include "study/report_csv.hpp"
#include "study/run_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

RunRow full_row() {
  RunRow row;
  row.run = 12;
  row.point = 3;
  row.repeat = 2;
  row.kind = RunKind::warmup;
  row.status = RunStatus::wrong;
  row.why = "gz differs, \"much\"\nindeed";
  row.started = "2026-01-02T03:04:05Z";
  row.problem = "0123456789abcdef";
  row.values = {"double", "[gz, gxx]", " a"};
  row.space = "openmp";
  row.device = "host";
  row.partition = "prisms";
  row.precision = "double";
  row.kernel = "auto";
  row.method = "direct";
  row.ranks = 1;
  row.threads = 2;
  row.slots = 2;
  row.batch = 64;
  row.block = 1;
  row.pairs = 123456789012;
  row.pairs_by_form = {1, 2, 3, 4, 5, 6, 7, 8};
  row.setup_seconds = 0.1;
  row.field_seconds = 1.0 / 3;
  row.output_seconds = 1e-9;
  row.total_seconds = 2;
  row.pairs_per_second = 1.23e10;
  row.busy_least = 0.3;
  row.busy_most = 0.4;
  row.process_seconds = 2.5;
  row.processor_seconds = 4.5;
  row.peak_memory_bytes = 1 << 20;
  row.scratch_bytes = 1 << 18;
  row.energy_joules = 17.25;
  row.load = 0.5;
  row.oversubscribed = true;
  row.largest_error = 1e-12;
  return row;
}

const std::vector<std::string> axes = {"execution.precision", "fields", "point"};

RunTable read_back(const fs::path& file) {
  ProblemList problems;
  RunTable table = read_runs(file, problems);
  EXPECT_EQ(testing::mistakes([&] { problems.throw_if_any(); }), "");
  return table;
}

TEST(RunTable, EveryValueComesBackBitByBit) {
  const testing::ScratchFolder folder;
  const RunRow row = full_row();
  RunRow empty;
  empty.run = 13;
  empty.values = {"", "", ""};
  const fs::path file = folder.write("runs.csv", run_header(axes) + run_line(row) + run_line(empty));
  const RunTable found = read_back(file);
  EXPECT_EQ(found.axes, axes);
  EXPECT_FALSE(found.cut);
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_EQ(found.rows[0].why, "gz differs, \"much\"?indeed");
  EXPECT_EQ(found.rows[0].values, row.values);
  EXPECT_EQ(found.rows[0].field_seconds, row.field_seconds);
  EXPECT_EQ(found.rows[0].pairs_by_form, row.pairs_by_form);
  EXPECT_TRUE(found.rows[0].oversubscribed);
  EXPECT_TRUE(std::isnan(found.rows[1].field_seconds));
  EXPECT_EQ(found.rows[1].pairs, -1);
  // all else: a line that was read is the line that was written
  RunRow read = found.rows[0];
  read.why = row.why;
  EXPECT_EQ(run_line(read), run_line(row));
  EXPECT_EQ(run_line(found.rows[1]), run_line(empty));
}

TEST(RunTable, ColumnsAreThoseOfTheManual) {
  EXPECT_EQ(
      run_header({"threads"}),
      "run,point,repeat,kind,status,why,started,problem,axis.threads,space,device,ranks,threads,slots,batch,block,"
      "partition,precision,kernel,method,pairs,setup_seconds,field_seconds,output_seconds,total_seconds,"
      "process_seconds,processor_seconds,pairs_per_second,peak_memory_bytes,scratch_bytes,energy_joules,load,"
      "oversubscribed,"
      "largest_error,busy_least,busy_most,pairs_compact,pairs_difference_free,pairs_multipole_8,"
      "pairs_multipole_6,pairs_multipole_4,pairs_multipole_2,pairs_multipole_0,pairs_corners\n");
}

TEST(RunTable, StudiesOfOtherCommandsHaveMeasures) {
  RunRow row = full_row();
  for (std::size_t m = 0; m < n_measures; ++m) row.measures[m] = 0.1 * static_cast<double>(m + 1);
  row.measures[2] = not_known;
  const testing::ScratchFolder folder;
  const RunTable found = read_back(folder.write("runs.csv", run_header(axes, true) + run_line(row, true)));
  EXPECT_TRUE(found.has_measures);
  EXPECT_EQ(found.axes, axes);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(run_line(found.rows[0], true).substr(20), run_line(row, true).substr(20));
  EXPECT_TRUE(std::isnan(found.rows[0].measures[2]));
  EXPECT_EQ(found.rows[0].measures[7], row.measures[7]);
  // an axis of such a name is another column
  EXPECT_EQ(axis_of_column(axis_column("chi")), "chi");
  EXPECT_EQ(axis_column("chi"), "axis.chi");
  const RunTable without = read_back(folder.write("runs.csv", run_header({"chi", "products"})));
  EXPECT_FALSE(without.has_measures);
  EXPECT_EQ(without.axes, (std::vector<std::string>{"chi", "products"}));
}

TEST(RunTable, WhatIsNotFiniteIsEmpty) {
  RunRow row = full_row();
  row.largest_error = std::numeric_limits<double>::infinity();
  const testing::ScratchFolder folder;
  const RunTable found = read_back(folder.write("runs.csv", run_header(axes) + run_line(row)));
  EXPECT_TRUE(std::isnan(found.rows[0].largest_error));
}

TEST(RunTable, ErrorsAndHistograms) {
  Comparison comparison;
  FieldComparison field;
  field.field = Field::gz;
  field.unit = "mGal";
  field.rms_difference = 0.5;
  field.largest_difference = 1;
  field.largest_reference = 4;
  field.relative = 0.25;
  field.histogram.add(1, 1);
  field.histogram.add(1.5, 1);
  field.histogram.add(0.5, 1);
  field.histogram.add(1 + 2e-3, 1);
  comparison.fields.push_back(field);
  EXPECT_EQ(error_lines(7, comparison), "7,gz,mGal,0.5,1,4,0.25\n");
  const std::string lines = histogram_lines(7, comparison);
  EXPECT_THAT(lines, HasSubstr("7,gz,below,0,0\n7,gz,-16,0,0\n"));
  EXPECT_THAT(lines, HasSubstr("7,gz,-3,0,1\n"));
  EXPECT_THAT(lines, HasSubstr("7,gz,-1,1,1\n7,gz,0,0,0\n7,gz,equal,,1\n"));
}

TEST(RunTable, TablesKeepThePointsThatCount) {
  const testing::ScratchFolder folder;
  const fs::path file = folder.write("errors.csv", "point,field\n1,gz\n2,gz\n2,gx\n3,gz\n2,cut");
  keep_points(file, {2, 4});
  EXPECT_EQ(content(file), "point,field\n2,gz\n2,gx\n");
  keep_points(folder / "none.csv", {1});
  EXPECT_FALSE(fs::exists(folder / "none.csv"));
}

TEST(RunTable, ATableGrowsAtItsEnd) {
  const testing::ScratchFolder folder;
  {
    TableWriter table(folder / "t.csv", "a,b\n");
    table.append("1,2\n");
    table.sync();
  }
  TableWriter table(folder / "t.csv", "other\n");
  table.append("3,4\n");
  EXPECT_EQ(content(folder / "t.csv"), "a,b\n1,2\n3,4\n");
  EXPECT_THROW(TableWriter(folder / "no_folder" / "t.csv", "a\n"), RunError);
}

}  // namespace
}  // namespace prismfield
