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

/// When a slot of a rank was busy, seconds since the field began; slot -1 is the device.
struct RankBusy {
  int rank = 0;
  std::int64_t slot = -1;
  double begin = 0;
  double end = 0;
};

/// The result of the check of a tolerance above the default, which checked_forward() makes.
struct ToleranceCheck {
  /// the tolerance of the request
  double tolerance = default_tolerance;
  /// number of points compared with direct sums: the lowest point, those at the heaviest and nearest prisms, others at
  /// random; 0: no comparison was needed
  std::int64_t points = 0;
  /// per field, the largest difference there, or the possible error of the sums where that is larger. It is relative to
  /// the field's largest value at all points, or to that of the vector or tensor for a field that vanishes. Where few
  /// points, at most one in a thousand, have values a thousand times those of all others, it is relative to the others'
  /// largest value, and at the few points to their own values
  std::vector<double> errors;
  /// per field, the largest value over the median at the compared points
  std::vector<double> over_median;
  /// how often the fields were computed again with a smaller tolerance; Plan::tolerance is the last
  std::int64_t repeats = 0;
  /// time for the sums and for all computations except the last
  double seconds = 0;

  [[nodiscard]] double largest() const noexcept { return errors.empty() ? 0 : *std::ranges::max_element(errors); }
  /// At this confidence, fewer than a part `exceeding` of all points have larger errors than those found. For a part p
  /// the chance to draw none of these points is (1 - p)^drawn < exp(-p drawn). 0 where all points were compared.
  static constexpr double confidence = 0.95;
  double exceeding = 0;
};

/// The result of forward(): fields at points, and what the run reports.
struct Fields {
  FieldList fields;
  /// (field, point) in the order of `fields`, SI units, z up; empty on ranks other than 0
  std::vector<double> values;
  /// points without a gradient tensor (on an edge or corner where densities do not cancel), sorted; rank 0 only
  std::vector<std::int64_t> singular_points;
  /// number of points inside or on a prism; rank 0 only
  std::int64_t points_inside = 0;
  /// complete on rank 0; counts of pairs, here and below, stop at the largest std::int64_t
  std::array<std::int64_t, n_forms> pairs_by_form{};
  std::int64_t pairs = 0;
  /// pairs that this run computed itself, without those of the run that it resumes; complete on rank 0
  std::int64_t pairs_now = 0;
  double setup_seconds = 0;
  double field_seconds = 0;
  /// one value per rank; rank 0 only
  std::vector<std::int64_t> rank_pairs;
  std::vector<double> rank_busy_seconds;
  std::vector<double> rank_begin, rank_end;
  /// when slots and devices were busy, by rank; rank 0 only
  std::vector<RankBusy> busy;
  /// cost by the cost model of each rank's prisms, and of its pairs as counted by form, ns; rank 0 only
  std::vector<double> rank_cost;
  Plan plan;
  /// rank 0 only
  ToleranceCheck check;
  /// the method's part of the plan, by its names in /performance
  std::vector<std::pair<std::string, std::int64_t>> method_numbers;
};

}  // namespace prismfield
