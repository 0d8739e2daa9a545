// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/plan.hpp>

#include "compute/method.hpp"

namespace prismfield {

/// All of a rank's plan on which the order of its additions depends, beside its share. A device without memory makes
/// these smaller after the run has begun: a state has those that it was made with.
struct WorkSettings {
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t tile_points = 0;
  std::int64_t chunk_prisms = 0;

  bool operator==(const WorkSettings&) const noexcept = default;
};

/// How far a rank has come: finished are the tiles before point `tile` in the points' spatial order, of this tile the
/// first `prisms` prisms.
struct WorkProgress {
  std::int64_t tile = 0;
  std::int64_t prisms = 0;
  std::array<std::int64_t, n_forms> pairs_by_form{};

  bool operator==(const WorkProgress&) const noexcept = default;
};

/// What a rank has computed, at the points of its share; empty: nothing.
struct WorkPayload {
  /// (field of the computed set, point), G = 1
  std::vector<double> values;
  /// (point, n_contact_columns)
  std::vector<double> contact;

  [[nodiscard]] bool empty() const noexcept { return values.empty(); }
  bool operator==(const WorkPayload&) const noexcept = default;
};

/// What a rank has done of its share of a plan: with it a run goes on as if it had never stopped, bit for bit.
struct RankState {
  WorkSettings settings;
  WorkProgress progress;
  WorkPayload payload;
};

/// A payload of zeros for so many fields and points.
[[nodiscard]] WorkPayload empty_payload(std::int64_t n_fields, std::int64_t n_points);

/// Bytes of a payload, in memory and in a checkpoint.
[[nodiscard]] std::int64_t payload_bytes(std::int64_t n_fields, std::int64_t n_points);

/// Pairs of a plan's share that are done.
[[nodiscard]] double pairs_done(const RankState& state, const Plan& plan);

/// How all ranks share the work, as a checkpoint holds it: the number of ranks, their grid (parts of prisms, parts of
/// points), then of each rank its settings. The same on every rank. Collective.
[[nodiscard]] std::vector<std::int64_t> layout_of(const Plan& plan, const WorkSettings& mine,
                                                  const Communicator& communicator);
/// A state as a checkpoint holds it.
[[nodiscard]] WorkState kept_state(const RankState& state);

/// The state of rank `rank` of a kept run, whose plan is `plan`; that of its start where it kept nothing yet. Throws
/// Unusable for the run of another number of ranks or another grid of them, and for a state that asks for more than the
/// plan's memory. Numbers that the checksums let through are those that were kept.
[[nodiscard]] RankState read_state(KeptRun& kept, const Plan& plan, int rank);

}  // namespace prismfield
