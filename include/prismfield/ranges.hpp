// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>

namespace prismfield {

/// A half-open range of prisms or points, [begin, end).
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const noexcept { return end - begin; }
  [[nodiscard]] bool contains(IndexRange other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool operator==(const IndexRange&) const noexcept = default;
};

/// The intersection of two ranges; where it is empty, it stands at the begin of the later one.
[[nodiscard]] inline IndexRange common(IndexRange a, IndexRange b) noexcept {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Part `part` of `parts` of `n` things. Sizes differ by at most one, larger parts come first. Source: balanced
/// partition of Couder-Castaneda (2013, eq. 7-10; 2014, eq. 5-8), counted from zero.
[[nodiscard]] inline IndexRange balanced_part(std::int64_t n, std::int64_t part, std::int64_t parts) noexcept {
  const std::int64_t size = n / parts;
  const std::int64_t rest = n % parts;
  const std::int64_t begin = part * size + std::min(part, rest);
  return {begin, begin + size + (part < rest ? 1 : 0)};
}

}  // namespace prismfield
