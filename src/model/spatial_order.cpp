// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/spatial_order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prismfield {
namespace {

/// The lowest 21 bits of a number with two zeros between neighbours.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32U) & 0x001f00000000ffffU;
  bits = (bits | bits << 16U) & 0x001f0000ff0000ffU;
  bits = (bits | bits << 8U) & 0x100f00f00f00f00fU;
  bits = (bits | bits << 4U) & 0x10c30c30c30c30c3U;
  return (bits | bits << 2U) & 0x1249249249249249U;
}

}  // namespace

std::vector<std::int64_t> spatial_order(const Points& points, IndexRange range) {
  const auto n = static_cast<std::size_t>(range.size());
  std::vector<std::int64_t> order(n);
  if (n == 0) return order;
  const std::array<const std::vector<double>*, 3> columns = {&points.easting, &points.northing, &points.upward};
  std::array<double, 3> low{};
  double extent = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [smallest, largest] =
        std::minmax_element(columns[d]->begin() + range.begin, columns[d]->begin() + range.end);
    low[d] = *smallest;
    extent = std::max(extent, *largest - *smallest);
  }
  constexpr int bits = 20;
  const double scale = extent > 0 ? ((1 << bits) - 1) / extent : 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto point = static_cast<std::size_t>(range.begin) + i;
    std::uint64_t key = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto cell = static_cast<std::uint64_t>(((*columns[d])[point] - low[d]) * scale);
      key |= spread(cell) << d;
    }
    keys[i] = {key, static_cast<std::int64_t>(point)};
  }
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

}  // namespace prismfield
