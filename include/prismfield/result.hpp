// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/plan.hpp>

namespace prismfield {

/// Time in which a slot of a rank (on a device, slot -1, the device) was busy, seconds since the field began.
struct RankBusy {
  int rank = 0;
  std::int64_t slot = -1;
  double begin = 0;
  double end = 0;
};

/// What came of a tolerance above the default.
struct ToleranceCheck {
  /// that was asked for
  double tolerance = default_tolerance;
  /// at which fields were compared with direct sums, drawn at random but for those where prisms are heaviest and
  /// nearest and the lowest; 0: nothing was to be compared
  std::int64_t points = 0;
  /// the largest difference of each field there, or what the sums themselves may be wrong by where that is more,
  /// relative to its largest value at all points, or to that of the vector or tensor where the field vanishes. Where
  /// few points, up to one in a thousand, have values a thousand times those of all others, it is relative to these,
  /// and at the few to their own
  std::vector<double> errors;
  /// the largest value of each field over the median of those at the points looked at
  std::vector<double> over_median;
  /// how often the fields were computed again, with a smaller tolerance; Plan::tolerance is the last one
  std::int64_t repeats = 0;
  /// of the sums and of all computations but the last
  double seconds = 0;

  [[nodiscard]] double largest() const noexcept { return errors.empty() ? 0 : *std::ranges::max_element(errors); }
  /// With this confidence fewer than this part of all points have larger errors than those found: if it were p, the
  /// chance to have drawn none of them would be (1 - p)^drawn < exp(-p drawn). 0 where all were looked at.
  static constexpr double confidence = 0.95;
  double exceeding = 0;
};

/// Fields at points and what a user should know about them.
struct Fields {
  FieldList fields;
  /// (field, point) in the order of `fields`, SI units, z up; on rank 0, empty elsewhere
  std::vector<double> values;
  /// points whose gradient tensor has no value (an edge or corner where densities do not cancel), sorted; rank 0 only
  std::vector<std::int64_t> singular_points;
  /// points inside or on a prism; rank 0 only
  std::int64_t points_inside = 0;
  /// complete on rank 0; counts of pairs, here and below, are the largest that there is where there are more
  std::array<std::int64_t, n_forms> pairs_by_form{};
  std::int64_t pairs = 0;
  /// of these, computed by this run and not by one that it goes on from; complete on rank 0
  std::int64_t pairs_now = 0;
  double setup_seconds = 0;
  double field_seconds = 0;
  /// one value a rank; rank 0 only
  std::vector<std::int64_t> rank_pairs;
  std::vector<double> rank_busy_seconds;
  std::vector<double> rank_begin, rank_end;
  /// when slots and devices were busy, by rank; rank 0 only
  std::vector<RankBusy> busy;
  /// cost of each rank's prisms and of its pairs as counted by form, by the cost model, ns; rank 0 only
  std::vector<double> rank_cost;
  Plan plan;
  /// rank 0 only
  ToleranceCheck check;
  /// the method's part of the plan, by the names that /performance has
  std::vector<std::pair<std::string, std::int64_t>> method_numbers;
};

}  // namespace prismfield
