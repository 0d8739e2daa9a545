// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Studies: the first letter says what follows, up to the end of that line, a STUDY.yaml (s) or a runs.csv (r). Of a
// study a line "#set KEY=VALUE" is an option --set, "#reduced" the option of that name; case.yaml lies beside it. What
// is read has to read back as the same from what a report keeps of it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "case/key_table.hpp"
#include "fuzz_input.hpp"
#include "study/problem.hpp"
#include "study/report_csv.hpp"
#include "study/run_table.hpp"
#include "study/schedule.hpp"
#include "study/study_file.hpp"

namespace prismfield::fuzz {
namespace {

constexpr std::string_view small_case =
    "model:\n  voxels: {easting: [0, 300, 3], northing: [0, 200, 2], upward: [-100, 0, 1], density: 300}\n"
    "observations:\n  grid: {easting: [0, 300, 4], northing: [0, 200, 3], upward: 20}\nfields: [gz, tensor]\n";

StudyOverrides overrides_in(std::string_view text) {
  constexpr std::string_view mark = "#set ";
  constexpr std::size_t most = 4;
  StudyOverrides overrides;
  overrides.reduced = text.find("#reduced") != std::string_view::npos;
  for (std::size_t at = text.find(mark); at != std::string_view::npos && overrides.assignments.size() < most;
       at = text.find(mark, at)) {
    at += mark.size();
    overrides.assignments.emplace_back(text.substr(at, text.find('\n', at) - at));
  }
  return overrides;
}

MachineRecord machine() {
  MachineRecord machine;
  machine.name = machine.processor = "a machine";
  machine.cores = machine.hardware_threads = 4;
  machine.program.version = "1";
  machine.program.spaces = {"openmp", "serial"};
  machine.program.default_space = "openmp";
  return machine;
}

/// True when no value can name a file: what lies on this disk is none of the fuzzer's business.
bool names_no_file(const StudySpec& spec) {
  YamlNode base = spec.base;
  if (!input_paths(base).empty()) return false;
  for (const SweepAxis& axis : spec.axes) {
    for (const AxisValue& value : axis.values) {
      for (const CaseSetting& setting : value.settings) {
        if (setting.key.starts_with("model") || setting.key.starts_with("observations")) return false;
      }
    }
  }
  return true;
}

void read_study(std::string_view text) {
  static InputBytes base("case.yaml");
  static InputBytes file("study.yaml");
  static InputBytes copy("copy.yaml");
  base.hold(small_case);
  StudySpec spec;
  if (!ends_clearly([&] { spec = read_study_file(file.hold(text), overrides_in(text)); })) return;
  std::vector<SweepPoint> points;
  if (!ends_clearly([&] { points = points_of(spec.axes); })) return;
  constexpr std::size_t most_points = 64;
  if (points.size() > most_points || !names_no_file(spec)) return;
  StudyPlan plan;
  if (!ends_clearly([&] { plan = plan_study(spec, machine()); })) return;
  require(plan.points.size() == points.size(), "points are missing");
  constexpr int most_repeats = 10;
  if (spec.repeats <= most_repeats && spec.warmup <= most_repeats) (void)schedule(spec, plan);
  const std::filesystem::path folder = Folder::file("study.yaml").parent_path();
  StudySpec again;
  require(ends_clearly([&] { again = read_study_file(copy.hold(study_text(spec, folder)), {}); }),
          "the study's own text is refused");
  StudyPlan same;
  require(ends_clearly([&] { same = plan_study(again, machine()); }), "the study's own text has other cases");
  require(same.hash == plan.hash, "the study's own text is another study");
}

void read_runs(std::string_view text) {
  static InputBytes file("runs.csv");
  static InputBytes copy("copy.csv");
  const auto read = [](const std::filesystem::path& path) {
    ProblemList problems;
    RunTable table = read_runs(path, problems);
    problems.throw_if_any();
    return table;
  };
  RunTable found;
  if (!ends_clearly([&] { found = read(file.hold(text)); })) return;
  std::string lines = run_header(found.axes, found.has_measures);
  for (const RunRow& row : found.rows) {
    require(row.values.size() == found.axes.size(), "a row with other axes");
    lines += run_line(row, found.has_measures);
  }
  RunTable again;
  require(ends_clearly([&] { again = read(copy.hold(lines)); }), "the table's own lines are refused");
  require(again.rows.size() == found.rows.size() && !again.cut, "rows are missing");
  std::string same = run_header(again.axes, again.has_measures);
  for (const RunRow& row : again.rows) same += run_line(row, again.has_measures);
  require(same == lines, "a row is another one when it is read again");
}

void run(Bytes bytes) {
  const unsigned kind = bytes.byte();
  (void)bytes.before("\n");
  if (kind == 's') read_study(bytes.rest());
  if (kind == 'r') read_runs(bytes.rest());
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
