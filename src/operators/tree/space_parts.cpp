// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/tree/space_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/random.hpp"

namespace prismfield::fast {
namespace {

/// Whether an item comes before another along a side.
bool is_before(const PlacedItem& a, const PlacedItem& b, int side) {
  const auto s = static_cast<std::size_t>(side);
  return a.place[s] != b.place[s] ? a.place[s] < b.place[s] : a.number < b.number;
}

/// The longest side of the box of some items, or `wanted`, of -1 none, if it is at least half as long.
int side_to_cut(const PlacedItem* begin, const PlacedItem* end, int wanted) {
  std::array<double, 3> length{};
  for (std::size_t s = 0; s < 3; ++s) {
    const auto [least, most] = std::minmax_element(
        begin, end, [&](const PlacedItem& a, const PlacedItem& b) { return a.place[s] < b.place[s]; });
    length[s] = most->place[s] - least->place[s];
  }
  const double* const longest = std::max_element(length.begin(), length.end());
  if (wanted >= 0 && length[static_cast<std::size_t>(wanted)] >= 0.5 * *longest) return wanted;
  return static_cast<int>(longest - length.begin());
}

}  // namespace

std::vector<std::int64_t> sampled_numbers(IndexRange range, std::int64_t n) {
  // another sequence than that of the points of a check
  constexpr std::uint64_t seed = 2;
  n = std::min(n, range.size());
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    const IndexRange part = balanced_part(range.size(), i, n);
    const std::uint64_t bits = random_bits(seed, RandomStream::check_point, static_cast<std::uint64_t>(i));
    const auto within = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(part.size()));
    numbers.push_back(range.begin + part.begin + within);
  }
  return numbers;
}

std::int64_t sample_of_rank(std::int64_t n, int ranks) {
  // parts then differ by some per cent, by 64 items a part at least
  constexpr std::int64_t all = 65536, least = 64;
  return std::min(n / ranks, std::max(all / ranks, least));
}

SpaceParts::SpaceParts(std::vector<PlacedItem> sample, int parts, const SpaceParts* like)
    : m_sample(std::move(sample)), m_like(like) {
  cut({0, static_cast<std::int64_t>(m_sample.size())}, {0, parts});
  m_sample = {};
  m_like = nullptr;
}

int SpaceParts::cut(IndexRange items, IndexRange parts) {
  if (parts.size() == 1) return -1 - static_cast<int>(parts.begin);
  const std::size_t number = m_cuts.size();
  PlacedItem* const begin = m_sample.data() + items.begin;
  PlacedItem* const end = m_sample.data() + items.end;
  const int side = side_to_cut(begin, end, m_like != nullptr ? m_like->m_cuts[number].side : -1);
  const std::int64_t n_lower = parts.size() / 2;
  PlacedItem* const first = begin + items.size() * n_lower / parts.size();
  std::nth_element(begin, first, end, [&](const PlacedItem& a, const PlacedItem& b) { return is_before(a, b, side); });
  m_cuts.push_back({side, *first});
  const std::int64_t middle = first - m_sample.data();
  const int lower = cut({items.begin, middle}, {parts.begin, parts.begin + n_lower});
  const int upper = cut({middle, items.end}, {parts.begin + n_lower, parts.end});
  m_cuts[number].lower = lower;
  m_cuts[number].upper = upper;
  return static_cast<int>(number);
}

int SpaceParts::part_of(const PlacedItem& item) const noexcept {
  int next = m_cuts.empty() ? -1 : 0;
  while (next >= 0) {
    const Cut& cut = m_cuts[static_cast<std::size_t>(next)];
    next = is_before(item, cut.first, cut.side) ? cut.lower : cut.upper;
  }
  return -1 - next;
}

}  // namespace prismfield::fast
