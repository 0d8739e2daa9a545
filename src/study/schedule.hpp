// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/problem.hpp"
#include "study/run_row.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// A run whose turn comes.
struct PlannedRun {
  /// warmup or timed
  RunKind kind = RunKind::timed;
  /// in StudyPlan::points
  std::size_t point = 0;
  /// from 1, warm-ups counted for themselves
  int repeat = 1;
};

/// Why this machine cannot run the point, or its reference; "" when it can.
[[nodiscard]] std::string why_not(const StudyPlan& plan, std::size_t point);

/// The runs in their order: warm-ups, then every repeat, each a block that holds every point that can be run once, so
/// that a machine that slows down slows all of them. A function of seed and points: more repeats change nothing of
/// those before. References are not among them.
[[nodiscard]] std::vector<PlannedRun> schedule(const StudySpec& spec, const StudyPlan& plan);

}  // namespace prismfield
