// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>

namespace prismfield {

/// Half-open range of prisms or points.
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const noexcept { return end - begin; }
  [[nodiscard]] bool contains(IndexRange other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool operator==(const IndexRange&) const noexcept = default;
};

/// What two ranges share; an empty range, at the beginning of the later one, where they share nothing.
[[nodiscard]] inline IndexRange common(IndexRange a, IndexRange b) noexcept {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace prismfield
