// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <prismfield/error.hpp>

#include "compute/plan.hpp"

namespace prismfield {

namespace {

/// How far points and faces at one place may be apart in the coordinates that the kernels see, beside their own ulp.
std::array<double, 3> rounding_of(const Plan& plan, const PrismSource& prisms, const Points& points) {
  const Bounds bounds = prisms.bounds();
  const std::array<double, 3> largest = {std::max(std::abs(bounds.west), std::abs(bounds.east)),
                                         std::max(std::abs(bounds.south), std::abs(bounds.north)),
                                         std::max(std::abs(bounds.bottom), std::abs(bounds.top))};
  std::array<double, 3> rounding{};
  for (std::size_t d = 0; d < 3; ++d) {
    rounding[d] = prisms.rounding()[d] + points.rounding[d];
    // single precision sees coordinates relative to the centre, whose ulp tell nothing of those before
    constexpr double ulps = 4;
    if (plan.precision == Precision::single) {
      rounding[d] += ulps * std::numeric_limits<double>::epsilon() * largest[d];
    }
  }
  return rounding;
}

}  // namespace

EngineSettings engine_settings(const Plan& plan, const PrismSource& prisms, const Points& points) {
  EngineSettings settings;
  settings.set = plan.set;
  settings.kernel = plan.kernel;
  settings.launch_per_prism = plan.partition == Partition::points_per_prism;
  settings.slots = plan.slots;
  settings.batch = plan.batch;
  settings.block = plan.block;
  settings.tile_points = plan.tile_points;
  const Bounds bounds = prisms.bounds();
  settings.origin = {0.5 * (bounds.west + bounds.east), 0.5 * (bounds.south + bounds.north),
                     0.5 * (bounds.bottom + bounds.top)};
  settings.rounding = rounding_of(plan, prisms, points);
  return settings;
}

void make_fitting(Plan& plan, const EngineTraits& traits, bool in_a_tile,
                  const std::function<void(const Plan&)>& make) {
  while (true) {
    try {
      make(plan);
      return;
    } catch (const AllocationFailure& failure) {
      if (plan.slots == 1 && plan.tile_points <= traits.lanes) {
        throw RunError(fmt::format("no memory even for one slot of {} points: {}", plan.tile_points, failure.what()));
      }
      const std::int64_t tile = plan.tile_points;
      fit_scratch(plan, traits, plan.slots * plan.tile_points * traits.memory.per_slot_point / 2);
      if (in_a_tile && plan.tile_points != tile) {
        throw RunError(
            fmt::format("no memory for a tile of {} points, in the midst of which the checkpoint was taken; go on with "
                        "more memory or on another number of ranks: {}",
                        tile, failure.what()));
      }
    }
  }
}

}  // namespace prismfield
