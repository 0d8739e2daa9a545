// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "study/child_run.hpp"
#include "study/machine_record.hpp"
#include "study/problem.hpp"
#include "study/report_folder.hpp"
#include "study/run_row.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// How far a study is.
struct StudyProgress {
  /// runs that were made and runs that there are, references and warm-ups too
  std::int64_t done = 0, all = 0;
  /// NaN: not known yet
  double seconds_left = not_known;
  /// the run that is made: "point 3 (2, double), run 2 of 5"
  std::string what;
};

/// Is told how far a study is, now and then and before each run.
class StudyObserver {
public:
  virtual ~StudyObserver() = default;
  virtual void progress(const StudyProgress& progress) = 0;
};

/// What is told of a point, or of the reference.
struct PointRemark {
  /// "point 3 (2, double)"
  std::string who;
  std::string why;
};

/// What became of a study's runs.
struct StudyOutcome {
  /// runs of the whole study by status, and those of this call
  std::map<RunStatus, std::int64_t> runs;
  std::int64_t made_now = 0;
  /// points, and references, that failed, were wrong, too slow or not run, in their order
  std::vector<PointRemark> failed, wrong, too_slow, not_run;
  /// points that lack timed runs because the time was spent
  std::int64_t points_out_of_budget = 0;
  /// what runs that went well warned of, and how many of them did
  std::map<std::string, std::int64_t> warnings;
};

/// Makes every run of the study that its folder does not hold yet, each a process of its own, and adds a row each to
/// runs.csv: a run whose row is not there was not made. Throws Stopped when a signal arrived, RunError where the folder
/// cannot be written, InputError for a folder whose tables were changed.
[[nodiscard]] StudyOutcome run_study(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine,
                                     const ReportFolder& folder, const RunnerSettings& settings,
                                     StudyObserver& observer);

/// The point as people call it: "point 3 (2, double)".
[[nodiscard]] std::string point_text(const SweepPoint& point);

}  // namespace prismfield
