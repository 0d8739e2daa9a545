// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/human_text.hpp"
#include "kernel/contact.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Takes the next of the numbers that are left.
std::int64_t next(std::span<const std::int64_t>& left) {
  const std::int64_t number = left.front();
  left = left.subspan(1);
  return number;
}

/// Passes the numbers of a rank's settings, and of a state, to f in the order of the file.
template <class Settings, class F>
void each_setting(Settings& settings, const F& f) {
  for (auto* number : {&settings.slots, &settings.batch, &settings.tile_points, &settings.chunk_prisms}) f(*number);
}
template <class State, class F>
void each_number(State& state, const F& f) {
  auto& [settings, progress, payload] = state;
  each_setting(settings, f);
  f(progress.tile);
  f(progress.prisms);
  for (auto& pairs : progress.pairs_by_form) f(pairs);
}

/// The settings of rank `rank` in what layout_of() made. Throws Unusable, as read_state().
WorkSettings take_layout(std::span<const std::int64_t> in, const Plan& plan, int rank) {
  const std::int64_t ranks = next(in), prism_parts = next(in), point_parts = next(in);
  const std::int64_t ranks_now = std::int64_t{plan.prism_parts} * plan.point_parts;
  if (ranks != ranks_now) {
    throw Unusable(fmt::format("was written by {}, this run has {}", counted(ranks, "rank"), ranks_now), false,
                   fmt::format("start {}, or delete the file to begin anew", counted(ranks, "rank")));
  }
  if (prism_parts != plan.prism_parts || point_parts != plan.point_parts) {
    throw Unusable(
        fmt::format("was written by a grid of {} x {} ranks (parts of prisms x parts of points), this run has {} x {}",
                    prism_parts, point_parts, plan.prism_parts, plan.point_parts),
        false,
        fmt::format("set execution.partition to {{ranks: [{}, {}]}}, or delete the file to begin anew", prism_parts,
                    point_parts));
  }
  WorkSettings settings;
  for (int other = 0; other <= rank; ++other) each_setting(settings, [&](std::int64_t& number) { number = next(in); });
  return settings;
}

/// Throws Unusable for a state that would take far more scratch than the plan.
void require_scratch(const WorkSettings& settings, const Plan& plan) {
  // what so many threads have, or a device that has much to do with few points
  constexpr double most_slots = 512, always = 512.0 * 1024 * 1024;
  const auto scratch = [&](double slots, std::int64_t tile) {
    return slots * static_cast<double>(tile) * static_cast<double>(plan.direct.slot_point_bytes);
  };
  const double most = std::max(
      static_cast<double>(plan.direct.scratch_bytes),
      std::min(static_cast<double>(plan.memory_limit), std::max(always, scratch(most_slots, plan.direct.tile_points))));
  if (scratch(static_cast<double>(settings.slots), settings.tile_points) <= most) return;
  throw Unusable(fmt::format(
      "asks for {} slots of {} points, more than execution.memory_limit and this machine allow; go on with more memory",
      settings.slots, settings.tile_points));
}

}  // namespace

WorkPayload empty_payload(std::int64_t n_fields, std::int64_t n_points) {
  return {std::vector<double>(static_cast<std::size_t>(n_fields * n_points)),
          std::vector<double>(static_cast<std::size_t>(n_contact_columns * n_points))};
}

std::int64_t payload_bytes(std::int64_t n_fields, std::int64_t n_points) {
  return (n_fields + n_contact_columns) * n_points * static_cast<std::int64_t>(sizeof(double));
}

double pairs_done(const RankState& state, const Plan& plan) {
  const WorkProgress& progress = state.progress;
  const std::int64_t in_tile = std::min(state.settings.tile_points, plan.points().size() - progress.tile);
  return static_cast<double>(progress.tile) * static_cast<double>(plan.prisms().size()) +
         static_cast<double>(in_tile) * static_cast<double>(progress.prisms);
}

std::vector<std::int64_t> layout_of(const Plan& plan, const WorkSettings& mine, const Communicator& communicator) {
  std::vector<std::int64_t> numbers;
  each_setting(mine, [&](std::int64_t number) { numbers.push_back(number); });
  std::vector<std::int64_t> layout = {communicator.size(), plan.prism_parts, plan.point_parts};
  const std::vector<std::int64_t> of_all = gather_everywhere(communicator, numbers);
  layout.insert(layout.end(), of_all.begin(), of_all.end());
  return layout;
}

WorkState kept_state(const RankState& state) {
  WorkState kept;
  each_number(state, [&](std::int64_t number) { kept.numbers.push_back(number); });
  kept.numbers.push_back(state.payload.empty() ? 0 : 1);
  kept.sums = {state.payload.values, state.payload.contact};
  return kept;
}

RankState read_state(KeptRun& kept, const Plan& plan, int rank) {
  RankState state;
  state.settings = take_layout(kept.layout(), plan, rank);
  if (kept.open(rank)) {
    const std::vector<std::int64_t> numbers = kept.numbers();
    std::span<const std::int64_t> in(numbers);
    each_number(state, [&](std::int64_t& number) { number = next(in); });
    if (next(in) != 0) {
      state.payload = empty_payload(plan.computed.size(), plan.points().size());
      kept.read_sums({&state.payload.values, &state.payload.contact});
    }
  }
  require_scratch(state.settings, plan);
  return state;
}

}  // namespace prismfield
