// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield::fast {

/// An item of space: where it is, metres, and its number among all.
struct PlacedItem {
  std::array<double, 3> place{};
  std::int64_t number = 0;
};

/// n numbers of a range, or all if it has fewer, rising: one at random of each of n equal parts, as what lies on a mesh
/// is not to be met in step. A function of its arguments alone.
[[nodiscard]] std::vector<std::int64_t> sampled_numbers(IndexRange range, std::int64_t n);

/// The number of items that each of `ranks` contributes to the parts of space, of its `n` items.
[[nodiscard]] std::int64_t sample_of_rank(std::int64_t n, int ranks);

/// Space, cut into parts with about equally many items each, again and again across the longest side of a part. Numbers
/// distinguish items at one place, so that every part holds items of the sample.
class SpaceParts {
public:
  /// One part.
  SpaceParts() = default;
  /// Of at least as many items as parts, in any order. `like`: cut across the same sides as these as far as a side is
  /// not much shorter than the longest, so that the parts of both lie side by side.
  SpaceParts(std::vector<PlacedItem> sample, int parts, const SpaceParts* like = nullptr);

  [[nodiscard]] int part_of(const PlacedItem& item) const noexcept;

private:
  struct Cut {
    int side = 0;
    /// the first item of the upper parts
    PlacedItem first;
    /// the next cut, or -1 - part
    int lower = -1, upper = -1;
  };
  int cut(IndexRange items, IndexRange parts);

  std::vector<PlacedItem> m_sample;
  const SpaceParts* m_like = nullptr;
  std::vector<Cut> m_cuts;
};

}  // namespace prismfield::fast
