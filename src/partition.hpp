// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>

namespace prismfield {

/// Half-open range of prisms or points.
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const noexcept { return end - begin; }
};

/// Part `part` of `parts` of `n` things, the sizes differing by at most one, larger ones first: the papers' balanced
/// partition (Couder-Castaneda 2013, eq. 7-10; 2014, eq. 5-8), counted from zero.
[[nodiscard]] IndexRange balanced_part(std::int64_t n, std::int64_t part, std::int64_t parts) noexcept;

/// A rank's shares of prisms and points on a grid of ranks; ranks of one part of points are consecutive.
struct RankShare {
  IndexRange prisms;
  IndexRange points;
};

/// Shares of `rank` on a grid of prism_parts x point_parts ranks.
[[nodiscard]] RankShare rank_share(std::int64_t n_prisms, std::int64_t n_points, int rank, int prism_parts,
                                   int point_parts) noexcept;

}  // namespace prismfield
