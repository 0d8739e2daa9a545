// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// Pairs of prisms that overlap.
struct Overlaps {
  /// (first, second) indices, first < second, ordered by second, then first
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  /// false when the search stopped at max_pairs: there are more
  bool complete = true;
  /// host memory that the search took, bytes
  std::int64_t memory_bytes = 0;
};

/// Pairs of prisms whose overlap is deeper than `tolerance` times the smaller of both edges in all three directions; at
/// most max_pairs of them. Every edge must be above 0. Time grows as n log n where few prisms touch, whatever their
/// sizes.
[[nodiscard]] Overlaps find_overlaps(const PrismBlock& prisms, double tolerance, std::size_t max_pairs);

}  // namespace prismfield
