// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/forms.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

#include "compute/method.hpp"

namespace prismfield {

/// A rectangle of work: prisms x points. The points are numbers `ordered` of the spatial order of `points`.
struct WorkItem {
  IndexRange prisms;
  IndexRange points;
  IndexRange ordered;

  bool operator==(const WorkItem&) const noexcept = default;
};

/// What a rank has to do, and all on which the order of its additions depends.
struct WorkLayout {
  std::vector<WorkItem> work;
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t tile_points = 0;
  std::int64_t chunk_prisms = 0;
  /// the points that a payload of this layout holds
  IndexRange points;

  bool operator==(const WorkLayout&) const noexcept = default;
};

/// How far a rank has come: finished are the items before `item`, in it the tiles before ordered point `tile`, of this
/// tile the first `prisms` prisms.
struct WorkProgress {
  std::int64_t item = 0;
  std::int64_t tile = 0;
  std::int64_t prisms = 0;
  std::array<std::int64_t, n_forms> pairs_by_form{};

  bool operator==(const WorkProgress&) const noexcept = default;
};

/// What a rank has computed, at the points of its layout; empty: nothing.
struct WorkPayload {
  /// (field of the computed set, point), G = 1
  std::vector<double> values;
  /// (point, n_contact_columns)
  std::vector<double> contact;

  [[nodiscard]] bool empty() const noexcept { return values.empty(); }
  bool operator==(const WorkPayload&) const noexcept = default;
};

/// What a rank has to do and has done: with it a run goes on as if it had never stopped, bit for bit.
struct RankState {
  WorkLayout layout;
  WorkProgress progress;
  WorkPayload payload;

  [[nodiscard]] bool finished() const noexcept {
    return progress.item == static_cast<std::int64_t>(layout.work.size());
  }
};

/// The share of a plan as one piece of work.
[[nodiscard]] std::vector<WorkItem> work_of(const Plan& plan);

/// The points from the first to the last that the items touch.
[[nodiscard]] IndexRange points_of(const std::vector<WorkItem>& work);
/// The prisms from the first to the last that the items touch.
[[nodiscard]] IndexRange prisms_of(const std::vector<WorkItem>& work);
[[nodiscard]] double pairs_in(const std::vector<WorkItem>& work);

/// A payload of zeros for so many fields and points.
[[nodiscard]] WorkPayload empty_payload(std::int64_t n_fields, std::int64_t n_points);

/// Adds what `from` computed, and its pairs, to `to`, which holds all points that `from` does.
void add_state(const RankState& from, RankState& to);

/// Work that the states leave to do, in the order of its prisms; what touches is one item where it can be.
[[nodiscard]] std::vector<WorkItem> remaining_work(const std::vector<RankState>& states);
/// Part `part` of `parts`: the same number of pairs for each, small items first. An item is cut, by its prisms, only
/// where two parts meet: together with remaining_work() this keeps the items few, however often work is shared anew.
[[nodiscard]] std::vector<WorkItem> share_of_work(const std::vector<WorkItem>& work, std::int64_t part,
                                                  std::int64_t parts);

/// Bytes of a payload, in memory and in a checkpoint.
[[nodiscard]] std::int64_t payload_bytes(std::int64_t n_fields, std::int64_t n_points);

/// How all ranks share the work, as a checkpoint holds it: the number of ranks, then of each its settings and items.
[[nodiscard]] std::vector<std::int64_t> numbers_of(const std::vector<WorkLayout>& ranks);
/// A state as a checkpoint holds it, on rank 0 with what ranks of earlier layouts did before.
[[nodiscard]] WorkState kept_state(const RankState& mine, const RankState* before);

/// What a checkpoint holds.
struct KeptStates {
  /// what ranks of earlier layouts did, at all points; empty payload: nothing
  RankState before;
  /// one a rank: as far as it came, at the start of its share when it kept nothing yet; payloads only where asked for
  std::vector<RankState> states;
};

/// Reads a kept run for one of n_ranks ranks, whose plan is `plan`. The payloads that are read are the rank's own, or,
/// when the run was one of another number of ranks, all of them on rank 0, added up in `before`. Throws Unusable for a
/// state that asks for more than the plan's memory. Numbers that the checksums let through are those that were kept.
[[nodiscard]] KeptStates read_states(KeptRun& kept, const Plan& plan, int rank, int n_ranks);

}  // namespace prismfield
