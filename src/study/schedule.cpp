// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/schedule.hpp"

#include <cstdint>
#include <utility>

#include "base/random.hpp"

namespace prismfield {
namespace {

/// Shuffles by Fisher and Yates; `block` gives each block an order of its own.
void shuffle(std::vector<std::size_t>& points, std::uint64_t seed, std::uint64_t block) {
  for (std::size_t n = points.size(); n > 1; --n) {
    const double random = random_uniform(seed, RandomStream::run_order, block << 32 | n);
    std::swap(points[n - 1], points[static_cast<std::size_t>(random * static_cast<double>(n))]);
  }
}

}  // namespace

std::string why_not(const StudyPlan& plan, std::size_t point) {
  const PlannedPoint& planned = plan.points[point];
  if (!planned.job.start.why_not.empty()) return planned.job.start.why_not;
  const std::string& of_reference = plan.problems[planned.problem].reference.start.why_not;
  return of_reference.empty() ? "" : "its reference: " + of_reference;
}

std::vector<PlannedRun> schedule(const StudySpec& spec, const StudyPlan& plan) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (why_not(plan, i).empty()) points.push_back(i);
  }
  std::vector<PlannedRun> runs;
  const auto add_block = [&](RunKind kind, int repeat) {
    std::vector<std::size_t> order = points;
    const auto number = 2 * static_cast<std::uint64_t>(repeat) + (kind == RunKind::timed ? 1 : 0);
    if (spec.order == RunOrder::random) shuffle(order, spec.seed, number);
    for (const std::size_t point : order) runs.push_back({kind, point, repeat});
  };
  for (int i = 1; i <= spec.warmup; ++i) add_block(RunKind::warmup, i);
  for (int i = 1; i <= spec.repeats; ++i) add_block(RunKind::timed, i);
  return runs;
}

}  // namespace prismfield
