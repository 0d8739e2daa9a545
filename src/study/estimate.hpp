// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "study/child_run.hpp"
#include "study/machine_record.hpp"
#include "study/problem.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// What a run says of itself before it computes.
struct RunEstimate {
  /// of its fields; NaN: not known
  double seconds = not_known;
  /// of a rank, as the run says it: "23 MiB", "" for not known
  std::string memory;
};

/// Asks the runs of all points that this machine can run, by `prismfield run --dry-run` or the study's command, each
/// different one once. Files that this takes are gone afterwards. Throws Stopped, RunError.
[[nodiscard]] std::vector<RunEstimate> estimate_runs(const StudySpec& spec, const StudyPlan& plan,
                                                     const MachineRecord& machine, const RunnerSettings& settings);

/// Reads what a dry run printed.
[[nodiscard]] RunEstimate estimate_in(const std::string& dry_run);

/// Seconds of a text that duration_text() made; NaN for any other.
[[nodiscard]] double seconds_in(const std::string& text);

}  // namespace prismfield
