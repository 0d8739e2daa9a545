// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/forms.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

namespace prismfield {

/// A rectangle of work: prisms x points. The points are numbers `ordered` of the spatial order of `points`.
struct WorkItem {
  IndexRange prisms;
  IndexRange points;
  IndexRange ordered;

  bool operator==(const WorkItem&) const noexcept = default;
};

/// What a rank has to do and has done: with it a run goes on as if it had never stopped, bit for bit.
struct RankState {
  std::vector<WorkItem> work;
  /// on these the order of the additions depends
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t tile_points = 0;
  std::int64_t chunk_prisms = 0;
  /// finished: items before `item`, in it the tiles before ordered point `tile`, of this tile the first `prisms` prisms
  std::int64_t item = 0;
  std::int64_t tile = 0;
  std::int64_t prisms = 0;
  /// the points that `values` and `contact` hold
  IndexRange points;
  /// (field of the computed set, point), G = 1
  std::vector<double> values;
  /// (point, n_contact_columns)
  std::vector<double> contact;
  std::array<std::int64_t, n_forms> pairs_by_form{};

  [[nodiscard]] bool finished() const noexcept { return item == static_cast<std::int64_t>(work.size()); }
};

/// The share of a plan as one piece of work.
[[nodiscard]] std::vector<WorkItem> work_of(const Plan& plan);

}  // namespace prismfield
