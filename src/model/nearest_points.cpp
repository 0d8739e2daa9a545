// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/nearest_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prismfield {

NearestPoints::NearestPoints(std::span<const double> easting, std::span<const double> northing,
                             std::span<const double> upward)
    : m_at{easting, northing, upward}, m_directions(upward.empty() ? 2 : 3), m_order(easting.size()) {
  std::iota(m_order.begin(), m_order.end(), std::size_t{0});
  split(0, m_order.size(), 0);
}

void NearestPoints::find(const std::array<double, 3>& place, std::span<std::size_t> nearest) const {
  Found found(nearest.size(), {std::numeric_limits<double>::infinity(), 0});
  search(place, 0, m_order.size(), 0, found);
  for (std::size_t i = 0; i < nearest.size(); ++i) nearest[i] = found[i].second;
}

double NearestPoints::distance(const std::array<double, 3>& place) const {
  Found found(1, {std::numeric_limits<double>::infinity(), 0});
  search(place, 0, m_order.size(), 0, found);
  return found.front().first;
}

void NearestPoints::split(std::size_t begin, std::size_t end, std::size_t direction) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  const std::span<const double> along = m_at[direction];
  const auto at = [&](std::size_t i) { return m_order.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(begin), at(middle), at(end),
                   [&](std::size_t a, std::size_t b) { return std::pair(along[a], a) < std::pair(along[b], b); });
  split(begin, middle, (direction + 1) % m_directions);
  split(middle + 1, end, (direction + 1) % m_directions);
}

void NearestPoints::search(const std::array<double, 3>& place, std::size_t begin, std::size_t end,
                           std::size_t direction, Found& found) const {
  if (begin == end) return;
  const std::size_t middle = begin + (end - begin) / 2, point = m_order[middle];
  double square = 0;
  for (std::size_t d = 0; d < m_directions; ++d) square += (m_at[d][point] - place[d]) * (m_at[d][point] - place[d]);
  const std::pair candidate(std::sqrt(square), point);
  if (candidate < found.back()) {
    found.pop_back();
    found.insert(std::upper_bound(found.begin(), found.end(), candidate), candidate);
  }
  const double across = place[direction] - m_at[direction][point];
  for (const bool is_low : {across < 0, across >= 0}) {
    search(place, is_low ? begin : middle + 1, is_low ? middle : end, (direction + 1) % m_directions, found);
    // points equally far may lie on the other side
    if (std::abs(across) > found.back().first) return;
  }
}

}  // namespace prismfield
