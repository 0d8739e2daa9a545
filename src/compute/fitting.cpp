// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/fitting.hpp"

#include <fmt/format.h>

#include <prismfield/error.hpp>

#include "compute/plan.hpp"

namespace prismfield {

EngineSettings engine_settings(const Plan& plan, const PrismSource& prisms, bool scalar_lanes) {
  EngineSettings settings;
  settings.set = plan.set;
  settings.kernel = plan.kernel;
  settings.scalar_lanes = scalar_lanes;
  settings.launch_per_prism = plan.partition == Partition::points_per_prism;
  settings.slots = plan.slots;
  settings.batch = plan.batch;
  settings.block = plan.block;
  settings.tile_points = plan.tile_points;
  const Bounds bounds = prisms.bounds();
  settings.origin = {0.5 * (bounds.west + bounds.east), 0.5 * (bounds.south + bounds.north),
                     0.5 * (bounds.bottom + bounds.top)};
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
