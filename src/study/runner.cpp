// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "study/compare.hpp"
#include "study/energy.hpp"
#include "study/report_csv.hpp"
#include "study/run_table.hpp"
#include "study/schedule.hpp"
#include "study/trace.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Whether a run brought fields, which a wrong one did too.
bool has_fields(const RunRow& row) { return row.status == RunStatus::ok || row.status == RunStatus::wrong; }

constexpr const char* is_allowed = " is allowed";

/// Gives a row with an error the status and the reason that it has by the tolerance; `what` differs.
void judge_error(RunRow& row, double tolerance, const std::string& what) {
  const bool is_good = row.largest_error <= tolerance;
  row.status = is_good ? RunStatus::ok : RunStatus::wrong;
  row.why = is_good ? ""
                    : fmt::format("{} differs from the reference by {:.2g} of its largest value, {:.2g}{}", what,
                                  row.largest_error, tolerance, is_allowed);
}

/// Judges a row of runs.csv anew, as the tolerance may be another one. What no tolerance allows stays wrong.
void judge_again(RunRow& row, double tolerance) {
  const bool is_wrong = row.status == RunStatus::wrong && row.why.ends_with(is_allowed);
  if (std::isnan(row.largest_error) || (row.status != RunStatus::ok && !is_wrong)) return;
  judge_error(row, tolerance, is_wrong ? row.why.substr(0, row.why.find(" differs")) : "its result");
}

/// Judges the fields of a run.
void judge_fields(RunRow& row, const Comparison& comparison, double tolerance) {
  const FieldComparison* worst = nullptr;
  for (const FieldComparison& field : comparison.fields) {
    if (worst == nullptr || !(field.relative <= worst->relative)) worst = &field;
  }
  if (worst != nullptr) {
    row.largest_error = worst->relative;
    judge_error(row, tolerance, std::string(info(worst->field).name));
  }
  if (!comparison.too_little.empty() || !comparison.disagreements.empty()) {
    row.status = RunStatus::wrong;
    row.why = comparison.too_little.empty() ? comparison.disagreements.front() : comparison.too_little;
  }
}

/// What is known of a point from its runs until now.
struct PointState {
  int failures = 0;
  /// number of the run that was ended at the limit, or that failed last
  std::int64_t too_slow_run = 0, failed_run = 0;
  /// its one row says that it is not run
  bool is_out = false;
  bool has_fields = false;
  bool has_tables = false;
  double seconds = 0;
  int runs = 0;
};

/// The state of a study between its runs.
class Runner {
public:
  Runner(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine, const ReportFolder& folder,
         const RunnerSettings& settings, StudyObserver& observer)
      : m_spec(spec),
        m_plan(plan),
        m_machine(machine),
        m_folder(folder),
        m_settings(settings),
        m_observer(observer),
        m_points(plan.points.size()),
        m_references(plan.problems.size()) {
    for (std::size_t i = 0; i < plan.points.size(); ++i) m_point_numbers[plan.points[i].point.id] = i;
    for (std::size_t i = 0; i < plan.problems.size(); ++i) m_problem_numbers[plan.problems[i].hash] = i;
  }

  StudyOutcome run();

private:
  enum class ReferenceState { none, there, failed };
  using Key = std::pair<RunKind, std::pair<std::int64_t, int>>;

  static Key key_of(const RunRow& row) { return {row.kind, {row.point, row.repeat}}; }

  [[nodiscard]] bool has_measures() const { return m_spec.use != CaseUse::forward; }
  void load();
  bool is_kept(const RunRow& row) const;
  void open_tables();
  void note(const RunRow& row);
  void add(RunRow row, bool sync);
  void tell(const std::string& what);
  void tell_again();
  [[nodiscard]] double expected_seconds(std::size_t point) const;
  [[nodiscard]] RunRow new_row(const PlannedRun& run) const;
  void leave_out(std::size_t point, const std::string& why);
  [[nodiscard]] std::string run_text(const PlannedRun& run) const;

  [[nodiscard]] fs::path reference_file(std::size_t problem) const;
  [[nodiscard]] fs::path case_file(std::size_t number) const;
  [[nodiscard]] RunFiles files_for(std::int64_t run, std::size_t case_number);
  void tidy(const RunFiles& files, const RunRow& row);
  bool has_reference(std::size_t problem);
  void make_reference(std::size_t problem);
  void make(const PlannedRun& run);
  void judge(const PlannedRun& run, const RunFiles& files, RunRow& row);
  void judge_model(const PlannedRun& run, const RunFiles& files, RunRow& row);
  std::string keep_result(std::int64_t id, const RunFiles& files);
  void write_tables(const PlannedPoint& point, const RunFiles& files, const Comparison& comparison);
  [[nodiscard]] bool skip(const PlannedRun& run);
  [[nodiscard]] StudyOutcome outcome() const;

  const StudySpec& m_spec;
  const StudyPlan& m_plan;
  const MachineRecord& m_machine;
  const ReportFolder& m_folder;
  const RunnerSettings& m_settings;
  StudyObserver& m_observer;
  StudyProgress m_progress;
  std::chrono::steady_clock::time_point m_told;

  std::vector<PlannedRun> m_runs;
  std::vector<RunRow> m_rows;
  std::set<Key> m_done;
  std::map<std::int64_t, std::size_t> m_point_numbers;
  std::map<std::string, std::size_t> m_problem_numbers;
  std::vector<PointState> m_points;
  /// seconds and runs of all points together
  PointState m_all;
  std::vector<ReferenceState> m_references;
  std::map<std::size_t, std::string> m_reference_failures;
  std::set<std::size_t> m_cases_written;
  std::map<std::string, std::int64_t> m_warnings;
  std::unique_ptr<TableWriter> m_run_table, m_error_table, m_histogram_table, m_busy_table, m_trace_table, m_map_table;
  EnergyMeter m_energy;
  std::int64_t m_last_run = 0, m_made_now = 0;
  double m_spent = 0;
};

fs::path Runner::reference_file(std::size_t problem) const {
  const char* const folder = m_spec.keeps_results() ? "results" : "work";
  return m_folder / folder / fmt::format("reference-{}.h5", m_plan.problems[problem].hash);
}

fs::path Runner::case_file(std::size_t number) const {
  return m_folder / "cases" / fmt::format("case-{}.yaml", number + 1);
}

RunFiles Runner::files_for(std::int64_t run, std::size_t case_number) {
  const fs::path file = case_file(case_number);
  // anew, because the folder may have moved since it was written
  if (m_cases_written.insert(case_number).second) {
    const std::string text = case_text(m_spec, m_plan.cases[case_number], m_folder / "cases");
    TemporaryFile made(file);
    made.write(text.data(), text.size());
    made.move_to_target();
  }
  return {file, m_folder / "work" / fmt::format("run-{}.h5", run), m_folder / "logs" / fmt::format("run-{}.txt", run)};
}

/// Whether a row that was found stands for a run that need not be made again.
bool Runner::is_kept(const RunRow& row) const {
  // what was spent, and what can run here, is found anew; what failed is tried again
  if (row.status == RunStatus::out_of_budget || row.status == RunStatus::failed) return false;
  if (row.kind == RunKind::reference) return m_problem_numbers.count(row.problem) > 0 && has_fields(row);
  // a longer limit is another chance
  if (row.status == RunStatus::too_slow && !(row.process_seconds >= m_spec.run_limit)) return false;
  const auto number = m_point_numbers.find(row.point);
  if (number == m_point_numbers.end()) return false;
  return row.status != RunStatus::not_run || row.why == shown(why_not(m_plan, number->second));
}

void Runner::note(const RunRow& row) {
  m_last_run = std::max(m_last_run, row.run);
  if (row.process_seconds > 0) m_spent += row.process_seconds;
  if (row.kind == RunKind::reference) return;
  m_done.insert(key_of(row));
  PointState& state = m_points[m_point_numbers.at(row.point)];
  if (row.status == RunStatus::failed) {
    ++state.failures;
    state.failed_run = row.run;
  }
  if (row.status == RunStatus::too_slow && state.too_slow_run == 0) state.too_slow_run = row.run;
  if (row.status == RunStatus::not_run) state.is_out = true;
  if (!has_fields(row)) return;
  state.has_fields = true;
  state.has_tables = state.has_tables || row.kind == RunKind::timed;
  for (PointState* const counted : {&state, &m_all}) {
    counted->seconds += row.process_seconds;
    ++counted->runs;
  }
}

/// The rows of runs.csv that count; the file then has no others, and the other tables no points without them.
void Runner::load() {
  const fs::path file = m_folder / "runs.csv";
  std::error_code error;
  std::vector<std::string> axes;
  for (const SweepAxis& axis : m_spec.axes) axes.push_back(axis.name);
  // without it the other tables may still be there: a study that was replaced is moved table by table
  const bool has_runs = fs::exists(file, error);
  ProblemList problems;
  RunTable found = has_runs ? read_runs(file, problems) : RunTable{axes, {}, {}, false};
  problems.throw_if_any();
  if (found.axes != axes) throw InputError(file.string() + ":1", "", "has other axes than the study");
  std::set<Key> seen;
  std::set<std::size_t> references;
  for (RunRow& row : found.rows) {
    if (!is_kept(row)) continue;
    if (row.kind != RunKind::reference) judge_again(row, m_spec.tolerance);
    if (row.kind == RunKind::reference) {
      if (!references.insert(m_problem_numbers.at(row.problem)).second) continue;
    } else if (!seen.insert(key_of(row)).second) {
      continue;
    }
    m_rows.push_back(std::move(row));
  }
  // a reference whose result is gone is made again where a run needs it
  std::set<std::size_t> needed;
  for (const PlannedRun& run : m_runs) {
    const Key key{run.kind, {m_plan.points[run.point].point.id, run.repeat}};
    if (seen.count(key) == 0) needed.insert(m_plan.points[run.point].problem);
  }
  std::erase_if(m_rows, [&](const RunRow& row) {
    if (row.kind != RunKind::reference) return false;
    const std::size_t problem = m_problem_numbers.at(row.problem);
    const bool is_there = fs::exists(reference_file(problem), error);
    if (is_there) m_references[problem] = ReferenceState::there;
    return !is_there && needed.count(problem) > 0;
  });
  for (const RunRow& row : m_rows) note(row);

  std::string text = run_header(axes, has_measures());
  for (const RunRow& row : m_rows) text += run_line(row, has_measures());
  TemporaryFile rewritten(file);
  rewritten.write(text.data(), text.size());
  rewritten.move_to_target();
  std::set<std::int64_t> with_tables;
  for (std::size_t i = 0; i < m_points.size(); ++i) {
    if (m_points[i].has_tables) with_tables.insert(m_plan.points[i].point.id);
  }
  for (const char* name : {"errors.csv", "histograms.csv", "busy.csv", "maps.csv", "trace.csv"}) {
    keep_points(m_folder / name, with_tables);
  }
}

void Runner::open_tables() {
  std::vector<std::string> axes;
  for (const SweepAxis& axis : m_spec.axes) axes.push_back(axis.name);
  m_run_table = std::make_unique<TableWriter>(m_folder / "runs.csv", run_header(axes, has_measures()));
  m_error_table = std::make_unique<TableWriter>(m_folder / "errors.csv", errors_header);
  if (m_spec.histogram) {
    m_histogram_table = std::make_unique<TableWriter>(m_folder / "histograms.csv", histograms_header);
  }
  if (m_spec.busy) m_busy_table = std::make_unique<TableWriter>(m_folder / "busy.csv", busy_header);
  if (m_spec.trace) m_trace_table = std::make_unique<TableWriter>(m_folder / "trace.csv", trace_header);
  if (!m_spec.maps.empty()) m_map_table = std::make_unique<TableWriter>(m_folder / "maps.csv", maps_header);
}

void Runner::add(RunRow row, bool sync) {
  row.run = ++m_last_run;
  m_run_table->append(run_line(row, has_measures()));
  if (sync) m_run_table->sync();
  note(row);
  m_rows.push_back(std::move(row));
}

double Runner::expected_seconds(std::size_t point) const {
  const PointState& own = m_points[point];
  if (own.runs > 0) return own.seconds / own.runs;
  return m_all.runs > 0 ? m_all.seconds / m_all.runs : not_known;
}

void Runner::tell(const std::string& what) {
  StudyProgress& progress = m_progress;
  progress = {};
  progress.what = what;
  double left = 0;
  for (const PlannedRun& run : m_runs) {
    ++progress.all;
    const PointState& state = m_points[run.point];
    const Key key{run.kind, {m_plan.points[run.point].point.id, run.repeat}};
    if (state.is_out || m_done.count(key) > 0) {
      ++progress.done;
    } else if (state.too_slow_run == 0) {
      left += expected_seconds(run.point);
    }
  }
  for (std::size_t i = 0; i < m_references.size(); ++i) {
    if (!m_plan.problems[i].reference.start.why_not.empty()) continue;
    ++progress.all;
    if (m_references[i] != ReferenceState::none) ++progress.done;
  }
  if (m_spec.time_budget) left = std::min(left, std::max(0.0, *m_spec.time_budget - m_spent));
  progress.seconds_left = left;
  m_told = std::chrono::steady_clock::now();
  m_observer.progress(progress);
}

/// The time left passes while a run goes on.
void Runner::tell_again() {
  StudyProgress progress = m_progress;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - m_told;
  progress.seconds_left = std::max(0.0, progress.seconds_left - since.count());
  if (std::isnan(m_progress.seconds_left)) progress.seconds_left = not_known;
  m_observer.progress(progress);
}

RunRow Runner::new_row(const PlannedRun& run) const {
  const PlannedPoint& point = m_plan.points[run.point];
  RunRow row;
  row.point = point.point.id;
  row.repeat = run.repeat;
  row.kind = run.kind;
  row.problem = m_plan.problems[point.problem].hash;
  row.values = point.point.labels;
  row.ranks = point.job.start.ranks;
  row.threads = point.job.start.threads;
  row.oversubscribed = point.job.start.oversubscribed;
  return row;
}

/// The one row of a point that is not run.
void Runner::leave_out(std::size_t point, const std::string& why) {
  if (m_points[point].is_out) return;
  RunRow row = new_row({RunKind::timed, point, 1});
  row.status = RunStatus::not_run;
  row.why = why;
  add(std::move(row), false);
}

std::string Runner::run_text(const PlannedRun& run) const {
  const std::string kind = run.kind == RunKind::warmup ? "warm-up" : "run";
  const int of = run.kind == RunKind::warmup ? m_spec.warmup : m_spec.repeats;
  return fmt::format("{}, {} {} of {}", point_text(m_plan.points[run.point].point), kind, run.repeat, of);
}

/// Removes what a run leaves that nobody needs.
void Runner::tidy(const RunFiles& files, const RunRow& row) {
  std::error_code error;
  fs::remove(files.result, error);
  if (!has_fields(row)) return;
  for (const std::string& warning : warnings_in(files.log)) ++m_warnings[warning];
  fs::remove(files.log, error);
}

void Runner::make_reference(std::size_t problem) {
  const StudyJob& job = m_plan.problems[problem].reference;
  tell(m_plan.problems.size() == 1 ? "the reference" : fmt::format("the reference of problem {}", problem + 1));
  const RunFiles files = files_for(m_last_run + 1, job.case_number);
  RunRow row = make_run(m_spec, m_machine, m_settings, job.start, files, m_energy, [this] { tell_again(); });
  row.kind = RunKind::reference;
  row.problem = m_plan.problems[problem].hash;
  row.values.assign(m_spec.axes.size(), "");
  if (row.status == RunStatus::ok) {
    std::error_code error;
    fs::rename(files.result, reference_file(problem), error);
    if (error) throw RunError(fmt::format("{}: {}", reference_file(problem).string(), error.message()));
    m_references[problem] = ReferenceState::there;
  } else {
    m_references[problem] = ReferenceState::failed;
    m_reference_failures[problem] = row.why;
  }
  tidy(files, row);
  ++m_made_now;
  add(std::move(row), true);
}

bool Runner::has_reference(std::size_t problem) {
  if (m_references[problem] == ReferenceState::none) make_reference(problem);
  return m_references[problem] == ReferenceState::there;
}

/// Moves a point's result to where it stays, and returns its name there.
std::string Runner::keep_result(std::int64_t id, const RunFiles& files) {
  std::string name = fmt::format("results/point-{}.h5", id);
  std::error_code error;
  fs::rename(files.result, m_folder / name, error);
  if (error) throw RunError(fmt::format("{}: {}", (m_folder / name).string(), error.message()));
  return name;
}

void Runner::write_tables(const PlannedPoint& point, const RunFiles& files, const Comparison& comparison) {
  const std::int64_t id = point.point.id;
  m_error_table->append(error_lines(id, comparison));
  m_error_table->sync();
  if (m_histogram_table) {
    m_histogram_table->append(histogram_lines(id, comparison));
    m_histogram_table->sync();
  }
  if (m_busy_table) {
    m_busy_table->append(busy_lines(id, files.result));
    m_busy_table->sync();
  }
  if (m_trace_table) {
    const Case run = read_case(m_plan.cases[point.job.case_number], m_spec.base_file);
    const Model model = make_model(run);
    m_trace_table->append(trace_lines(id, trace_of(files.result, model.source(), run.gravitational_constant)));
    m_trace_table->sync();
  }
  if (!m_spec.keeps_results()) return;
  const std::string name = keep_result(id, files);
  if (!m_map_table) return;
  std::string fields;
  for (const FieldInfo& field : m_spec.maps) fields += (fields.empty() ? "" : " ") + std::string(field.name);
  m_map_table->append(fmt::format("{},{},{}\n", id, name, fields));
  m_map_table->sync();
}

/// Compares an inversion's model with that of the reference.
void Runner::judge_model(const PlannedRun& run, const RunFiles& files, RunRow& row) {
  const PlannedPoint& point = m_plan.points[run.point];
  try {
    row.largest_error = model_difference(files.result, reference_file(point.problem));
  } catch (const RunError& error) {
    row.status = RunStatus::failed;
    row.why = fmt::format("its model cannot be compared: {}", error.what());
    return;
  }
  judge_error(row, m_spec.tolerance, "its model");
  if (run.kind == RunKind::timed && !m_points[run.point].has_tables && m_spec.keeps_results()) {
    keep_result(point.point.id, files);
  }
}

/// Compares a run's fields with the reference; those of a point's first timed run go to the tables.
void Runner::judge(const PlannedRun& run, const RunFiles& files, RunRow& row) {
  const PlannedPoint& point = m_plan.points[run.point];
  if (m_spec.use == CaseUse::inversion) {
    judge_model(run, files, row);
    return;
  }
  std::optional<Comparison> comparison;
  try {
    comparison = compare_results(files.result, reference_file(point.problem));
  } catch (const InputError& error) {
    row.status = RunStatus::failed;
    row.why = fmt::format("its result cannot be compared: {}", error.problems().front().message());
    return;
  }
  judge_fields(row, *comparison, m_spec.tolerance);
  if (run.kind == RunKind::timed && !m_points[run.point].has_tables) write_tables(point, files, *comparison);
}

/// Makes a run, whose row is added when all else is written.
void Runner::make(const PlannedRun& run) {
  const PlannedPoint& point = m_plan.points[run.point];
  tell(run_text(run));
  const RunFiles files = files_for(m_last_run + 1, point.job.case_number);
  RunRow row = make_run(m_spec, m_machine, m_settings, point.job.start, files, m_energy, [this] { tell_again(); });
  const RunRow planned = new_row(run);
  row.point = planned.point;
  row.repeat = planned.repeat;
  row.kind = planned.kind;
  row.problem = planned.problem;
  row.values = planned.values;
  if (row.status == RunStatus::ok) judge(run, files, row);
  // it ran before, so the machine can run it
  if (row.status == RunStatus::not_run && m_points[run.point].has_fields) row.status = RunStatus::failed;
  tidy(files, row);
  ++m_made_now;
  if (row.status == RunStatus::not_run) {
    row.kind = RunKind::timed;
    row.repeat = 1;
  }
  add(std::move(row), true);
}

/// Whether a run is not made, and adds the row that says why.
bool Runner::skip(const PlannedRun& run) {
  constexpr int most_failures = 2;
  const PointState& state = m_points[run.point];
  if (state.is_out) return true;
  RunRow row = new_row(run);
  const double expected = state.runs > 0 ? state.seconds / state.runs : 0;
  if (state.too_slow_run > 0) {
    row.status = RunStatus::too_slow;
    row.why = fmt::format("as run {}", state.too_slow_run);
  } else if (state.failures >= most_failures) {
    row.status = RunStatus::failed;
    row.why = fmt::format("not tried again after run {} failed too", state.failed_run);
  } else if (m_spec.time_budget && m_spent + expected >= *m_spec.time_budget) {
    row.status = RunStatus::out_of_budget;
    row.why = fmt::format("{} of {} were spent", duration_text(m_spent), duration_text(*m_spec.time_budget));
  } else {
    return false;
  }
  add(std::move(row), false);
  return true;
}

StudyOutcome Runner::outcome() const {
  StudyOutcome result;
  result.made_now = m_made_now;
  result.warnings = m_warnings;
  std::set<std::pair<RunStatus, std::int64_t>> told;
  std::set<std::int64_t> out_of_budget;
  for (const RunRow& row : m_rows) {
    ++result.runs[row.status];
    if (row.status == RunStatus::out_of_budget && row.kind == RunKind::timed) out_of_budget.insert(row.point);
    if (row.status == RunStatus::ok || row.status == RunStatus::out_of_budget) continue;
    if (row.kind != RunKind::reference && !told.insert({row.status, row.point}).second) continue;
    const std::string who = row.kind == RunKind::reference
                                ? "the reference"
                                : point_text(m_plan.points[m_point_numbers.at(row.point)].point);
    if (row.status == RunStatus::failed) result.failed.push_back({who, row.why});
    if (row.status == RunStatus::wrong) result.wrong.push_back({who, row.why});
    if (row.status == RunStatus::too_slow) result.too_slow.push_back({who, row.why});
    if (row.status == RunStatus::not_run) result.not_run.push_back({who, row.why});
  }
  result.points_out_of_budget = static_cast<std::int64_t>(out_of_budget.size());
  return result;
}

StudyOutcome Runner::run() {
  m_runs = schedule(m_spec, m_plan);
  load();
  open_tables();
  for (std::size_t i = 0; i < m_plan.points.size(); ++i) {
    if (const std::string why = why_not(m_plan, i); !why.empty()) leave_out(i, why);
  }
  for (const PlannedRun& run : m_runs) {
    const Key key{run.kind, {m_plan.points[run.point].point.id, run.repeat}};
    if (m_done.count(key) > 0) continue;
    throw_if_interrupted();
    if (skip(run)) continue;
    const std::size_t problem = m_plan.points[run.point].problem;
    const double spent_before = m_spent;
    if (has_reference(problem)) {
      // the reference may have taken the rest of the time
      if (m_spent > spent_before && skip(run)) continue;
      make(run);
    } else {
      leave_out(run.point, "its reference: " + m_reference_failures[problem]);
    }
  }
  m_run_table->sync();
  tell("");
  return outcome();
}

}  // namespace

std::string point_text(const SweepPoint& point) {
  if (point.labels.empty()) return "the one point";
  return fmt::format("point {} ({})", point.id, fmt::join(point.labels, ", "));
}

StudyOutcome run_study(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine,
                       const ReportFolder& folder, const RunnerSettings& settings, StudyObserver& observer) {
  try {
    return Runner(spec, plan, machine, folder, settings, observer).run();
  } catch (const Stopped&) {
    throw Stopped(fmt::format("{} holds the runs that were made, --resume goes on from them", folder.path().string()));
  }
}

}  // namespace prismfield
