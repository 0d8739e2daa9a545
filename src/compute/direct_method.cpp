// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.hpp"
#include "compute/direct_plan.hpp"
#include "compute/direct_work.hpp"
#include "compute/method.hpp"
#include "compute/time_estimate.hpp"

namespace prismfield {
namespace {

void check_direct(const Request& /*request*/, const PrismSource& /*ensemble*/, const PointColumns& /*points*/,
                  ProblemSize& /*problem*/) {}

double direct_seconds(const Plan& plan, const Request& /*request*/, const PrismSource& ensemble,
                      const PointColumns& points) {
  return share_seconds(measured_weights(plan), ensemble, points, plan);
}

PlanText direct_text(const Plan& plan) {
  const DirectPlan& direct = plan.direct;
  const std::int64_t points = plan.points().size();
  const std::int64_t tile = std::max<std::int64_t>(1, direct.tile_points);
  const std::string tiles =
      fmt::format("{} of {}", counted((points + tile - 1) / tile, "tile"), counted(std::min(tile, points), "point"));
  return {
      {{"slots", fmt::format("{}, batches of {}", counted(direct.slots, "slot"), counted(direct.batch, "prism"))},
       {"tiles", fmt::format("{}, {} a launch", tiles, counted(direct.launch_prisms, "prism"))},
       {"scratch", fmt::format("{} (memory limit {})", size_text(direct.scratch_bytes), size_text(plan.memory_limit))}},
      {{"slots", direct.slots}, {"batch", direct.batch}, {"scratch_bytes", direct.scratch_bytes}}};
}

std::unique_ptr<RankWork> direct_work(const Plan& plan, int rank) { return std::make_unique<DirectWork>(plan, rank); }

}  // namespace

constexpr ForwardMethod direct_method = {Method::direct, check_direct, plan_direct, direct_shares,
                                         direct_seconds, direct_text,  direct_work};

}  // namespace prismfield
