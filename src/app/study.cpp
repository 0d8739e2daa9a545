// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>

#include <prismfield/communicator.hpp>

#include "app/program_facts.hpp"
#include "app/progress.hpp"
#include "app/start.hpp"
#include "app/study_report.hpp"
#include "base/child_process.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "case/yaml_tree.hpp"
#include "parallel/agreement.hpp"
#include "study/estimate.hpp"
#include "study/machine_record.hpp"
#include "study/problem.hpp"
#include "study/report_folder.hpp"
#include "study/run_row.hpp"
#include "study/runner.hpp"
#include "study/schedule.hpp"
#include "study/study_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// This program's file, which every run starts.
fs::path own_program() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error || !fs::exists(file, error))
    throw RunError("the file of this program is not found, so no run can start it");
  return file;
}

/// Shows how far a study is.
class ShownProgress final : public StudyObserver {
public:
  explicit ShownProgress(bool quiet) : m_progress(progress_style(quiet), std::cerr) {}

  void progress(const StudyProgress& now) override {
    const double done = now.all > 0 ? static_cast<double>(now.done) / static_cast<double>(now.all) : 1;
    m_progress.show(done, [&] {
      std::string text = fmt::format("{:3.0f} %, {} of {}", 100 * done, grouped(now.done), counted(now.all, "run"));
      if (now.seconds_left > 0) text += fmt::format(", {} left", duration_text(now.seconds_left));
      if (!now.what.empty()) text += ", " + shown(now.what);
      return text;
    });
  }

private:
  Progress m_progress;
};

/// The measured limits of the machine as JSON, "" where the program does not tell them.
std::string calibrate(const StudySpec& spec, const MachineRecord& machine, const fs::path& program) {
  ChildCommand command;
  command.words = {program.string(), "info", "--calibrate"};
  RunStart all;
  all.threads = default_threads(machine, 1);
  command.environment = run_environment(spec, machine, all);
  command.own_group = true;
  command.signal_when_orphaned = SIGKILL;
  constexpr double longest = 300;
  command.most_seconds = longest;
  std::string text = output_of_child(command).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  try {
    ProblemList ignored;
    return parse_yaml(text, "", ignored).kind == YamlNode::Kind::map && text.starts_with('{') ? text : "";
  } catch (const InputError&) {
    return "";
  }
}

/// One line a reason, with the points that have it, the first of many: "points 2 (1, cuda), 4 (2, cuda): no space
/// cuda".
std::vector<std::string> grouped_by_reason(const std::vector<PointRemark>& remarks) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> points;
  for (const PointRemark& remark : remarks) {
    std::vector<std::string>& named = points[remark.why];
    if (named.empty()) reasons.push_back(remark.why);
    named.push_back(remark.who);
  }
  std::vector<std::string> lines;
  for (const std::string& reason : reasons) {
    const std::vector<std::string>& named = points[reason];
    std::string who;
    for (std::size_t i = 0; i < std::min(named.size(), most_named); ++i) who += (i == 0 ? "" : ", ") + named[i];
    if (named.size() > most_named) {
      who += fmt::format(" and {} more", grouped(static_cast<std::int64_t>(named.size() - most_named)));
    }
    lines.push_back(who + ": " + reason);
  }
  return lines;
}

/// What a study comes to: "12 points, 72 runs and 1 reference".
std::string plan_text(const StudySpec& spec, const StudyPlan& plan) {
  std::size_t references = 0;
  for (const StudyProblem& problem : plan.problems) references += problem.reference.start.why_not.empty() ? 1 : 0;
  return fmt::format("{}, {} and {}", counted(static_cast<std::int64_t>(plan.points.size()), "point"),
                     counted(static_cast<std::int64_t>(schedule(spec, plan).size()), "run"),
                     counted(static_cast<std::int64_t>(references), "reference"));
}

/// The points that this machine cannot run.
std::string not_run_text(const StudyPlan& plan) {
  std::vector<PointRemark> remarks;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (const std::string why = why_not(plan, i); !why.empty())
      remarks.push_back({point_text(plan.points[i].point), why});
  }
  std::string text;
  for (const std::string& line : grouped_by_reason(remarks)) text += "  not run: " + shown(line) + "\n";
  return text;
}

/// What the study runs beside this program.
std::string launcher_text(const StudySpec& spec) {
  if (spec.launcher.empty()) return "";
  return "  ranks are started by: " + shown(fmt::format("{}", fmt::join(spec.launcher, " "))) + "\n";
}

std::string without_blank_end(std::string line) { return line.erase(line.find_last_not_of(' ') + 1) + "\n"; }

/// A table of the points, and how the first of them is started.
std::string dry_run_text(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine,
                         const RunnerSettings& settings) {
  std::string text = fmt::format("{}\n{}\non {}: {}\n", shown(spec.title), plan_text(spec, plan), shown(machine.name),
                                 shown(machine.kind()));
  const auto labels = [&](const PlannedPoint& point) {
    return shown(fmt::format("{}", fmt::join(point.point.labels, ", ")));
  };
  std::size_t width = 6;
  for (const PlannedPoint& point : plan.points) width = std::max(width, labels(point).size());
  const std::vector<RunEstimate> estimates = estimate_runs(spec, plan, machine, settings);
  const std::string layout = "  {:>5}  {:<{}}  {:>5} {:>7}  {:>8}  {:>12}  {}";
  text += without_blank_end(
      fmt::format(fmt::runtime(layout), "point", "values", width, "ranks", "threads", "memory", "fields", ""));
  double seconds = 0;
  std::size_t first = plan.points.size();
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const PlannedPoint& point = plan.points[i];
    const RunStart& start = point.job.start;
    const RunEstimate& estimate = estimates[i];
    const std::string why = why_not(plan, i);
    if (why.empty()) {
      first = std::min(first, i);
      // sensitivity and invert say of no run how long it takes
      if (std::isfinite(estimate.seconds)) seconds += estimate.seconds * (spec.repeats + spec.warmup);
    }
    const std::string remark = !why.empty() ? "not run: " + shown(why) : start.oversubscribed ? "oversubscribed" : "";
    text += without_blank_end(fmt::format(
        fmt::runtime(layout), point.point.id, labels(point), width, start.ranks, start.threads, estimate.memory,
        why.empty() && std::isfinite(estimate.seconds) ? duration_text(estimate.seconds) : "", remark));
  }
  if (first == plan.points.size()) return text;
  if (seconds > 0) text += fmt::format("fields of all runs but references: {}\n", duration_text(seconds));
  const RunStart& start = plan.points[first].job.start;
  const Environment environment = run_environment(spec, machine, start);
  std::string variables;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"}) {
    if (const auto value = environment.find(name)) variables += fmt::format("{}={} ", name, *value);
  }
  const RunFiles files{"CASE.yaml", "RESULT.h5", ""};
  return text + fmt::format("point {} is started as\n  {}{}\n", plan.points[first].point.id, variables,
                            shown(fmt::format("{}", fmt::join(run_words(spec, machine, settings, start, files), " "))));
}

/// What became of the runs, on standard output and standard error; whether none failed.
bool tell_outcome(const StudyOutcome& outcome, const fs::path& folder, bool quiet) {
  constexpr std::size_t most_told = 10;
  const auto tell = [&](const char* kind, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < std::min(lines.size(), most_told); ++i) {
      std::cerr << kind << ": " << shown(lines[i]) << '\n';
    }
    if (lines.size() <= most_told) return;
    const auto more = static_cast<std::int64_t>(lines.size() - most_told);
    std::cerr << kind << ": and " << grouped(more) << " more like this\n";
  };
  std::vector<std::string> warnings;
  for (const auto& [text, runs] : outcome.warnings) {
    const std::string plain = text.substr(text.find(": ") + 2);
    warnings.push_back(fmt::format("in {}: {}", counted(runs, "run"), plain));
  }
  if (!quiet) {
    tell("note: not run", grouped_by_reason(outcome.not_run));
    tell("note: too slow", grouped_by_reason(outcome.too_slow));
  }
  tell("warning", warnings);
  tell("warning: no speed, beyond the tolerance", grouped_by_reason(outcome.wrong));
  if (outcome.points_out_of_budget > 0) {
    warn(fmt::format(
        "the time budget was spent: {} without all of their repeats; --resume with a larger time_budget "
        "goes on",
        counted(outcome.points_out_of_budget, "point") + (outcome.points_out_of_budget == 1 ? " is" : " are")));
  }
  tell("error: failed", grouped_by_reason(outcome.failed));
  if (!outcome.failed.empty()) {
    std::cerr << "error: " << shown((folder / "logs").string()) << " has what these runs printed\n";
  }
  std::cerr << std::flush;
  if (quiet) return outcome.failed.empty();
  std::int64_t all = 0;
  std::string counts;
  for (const auto& [status, n] : outcome.runs) {
    all += n;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", grouped(n), name(status));
  }
  std::cout << fmt::format("{}: {} made now; of {} in all: {}\n", shown((folder / "runs.csv").string()),
                           counted(outcome.made_now, "run"), counted(all, "row"), counts)
            << std::flush;
  return outcome.failed.empty();
}

/// Everything of a study that is to be run.
ExitCode run_and_report(const StudyOptions& options, const StudySpec& spec, const StudyPlan& plan,
                        MachineRecord machine, const RunnerSettings& settings) {
  const ReportFolder folder(spec, plan, machine, options.resume);
  if (folder.replaces()) {
    warn(fmt::format(
        "{} has runs of this study, which are replaced; --resume goes on from them. Their tables stay in {}",
        folder.path().string(), (folder.path() / "previous").string()));
  }
  if (options.resume && !folder.goes_on() && !options.quiet) {
    std::cout << shown(folder.path().string()) << ": no runs yet, the study begins at its start\n" << std::flush;
  }
  if (!options.quiet) {
    std::cout << fmt::format("{}\n{}; to {}\n", shown(spec.title), plan_text(spec, plan), shown(folder.path().string()))
              << std::flush;
  }
  if (!folder.goes_on()) machine.calibration = calibrate(spec, machine, settings.program);
  folder.begin(spec, plan, machine);
  StudyOutcome outcome;
  {
    ShownProgress progress(options.quiet);
    outcome = run_study(spec, plan, machine, folder, settings, progress);
  }
  folder.remove_work();
  const bool all_done = tell_outcome(outcome, folder.path(), options.quiet);
  const ExitCode code = finish_study(folder.path(), options.quiet);
  return code != exit_done ? code : all_done ? exit_done : exit_failure;
}

/// Warns of points that will have no speed, before they are measured.
void warn_of_rounding(const StudySpec& spec, const StudyPlan& plan) {
  constexpr double usual_error = 1e-6, enough = 1e-5;
  const auto n = std::count_if(plan.points.begin(), plan.points.end(), [](const auto& p) { return p.is_rounded; });
  if (n == 0 || spec.tolerance >= usual_error) return;
  warn(fmt::format(
      "{} in single or mixed precision, whose errors are 1e-7 to {:g} of the largest value and more; beyond "
      "the tolerance, {:g}, a point has no speed: write tolerance: {:g}",
      counted(n, "point") + (n == 1 ? " is" : " are"), usual_error, spec.tolerance, enough));
}

/// Warns of a study that names a folder outside the working folder, where the user has not.
void warn_of_report_elsewhere(const StudyOptions& options, const StudySpec& spec) {
  if (!options.output.empty()) return;
  const fs::path folder = fs::weakly_canonical(fs::absolute(spec.report));
  const fs::path relative = folder.lexically_relative(fs::canonical(fs::current_path()));
  if (!relative.empty() && *relative.begin() != "..") return;
  warn(fmt::format("report of {} is outside the working folder: {}", options.file.string(), folder.string()));
}

ExitCode one_study(const StudyOptions& options, const std::vector<std::string>& kokkos_options) {
  const StudySpec spec = read_study_file(options.file, {options.overrides, options.output, options.reduced});
  const MachineRecord machine = record_machine(program_facts(kokkos_options), options.machine);
  const StudyPlan plan = plan_study(spec, machine);
  const RunnerSettings settings{own_program(), kokkos_options};
  static_cast<void>(look_at_folder(spec, plan, machine, options.resume));
  warn_of_rounding(spec, plan);
  warn_of_report_elsewhere(options, spec);
  if (options.dry_run) {
    if (!options.quiet) std::cout << dry_run_text(spec, plan, machine, settings) << std::flush;
    return exit_done;
  }
  if (options.check) {
    if (!options.quiet) {
      std::cout << shown(options.file.string()) << ": no errors found; " << plan_text(spec, plan) << '\n'
                << not_run_text(plan) << launcher_text(spec) << std::flush;
    }
    return exit_done;
  }
  return run_and_report(options, spec, plan, machine, settings);
}

}  // namespace

ExitCode study_command(const StudyOptions& options, const std::vector<std::string>& kokkos_options,
                       const Communicator& communicator) {
  ExitCode code = exit_done;
  agree(communicator, [&] {
    if (communicator.size() > 1) {
      throw InputError(
          "mpirun", "",
          fmt::format("started {} ranks; a study is one process, which starts the ranks of its runs itself",
                      communicator.size()));
    }
    catch_interrupts();
    if (options.join.empty()) {
      code = one_study(options, kokkos_options);
    } else {
      code = join_studies(options.join, options.output, options.quiet);
    }
  });
  return code;
}

}  // namespace prismfield
