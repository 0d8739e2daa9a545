// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace prismfield {

/// Finds those of many points that are nearest to a place, on the map or in space: halves of halves, by turns along
/// easting, northing and upward. A surface finds its heights with it, an inversion the stations beside a station and
/// how far cells are from stations.
class NearestPoints {
public:
  /// Refers to the coordinates, which are finite. Without `upward` heights do not count.
  NearestPoints(std::span<const double> easting, std::span<const double> northing, std::span<const double> upward = {});

  /// Fills `nearest` with the numbers of as many points, the nearest first, of points equally far the first one first.
  /// There are as many points at least.
  void find(const std::array<double, 3>& place, std::span<std::size_t> nearest) const;
  /// Metres to the nearest.
  [[nodiscard]] double distance(const std::array<double, 3>& place) const;

private:
  /// (distance, number), rising
  using Found = std::vector<std::pair<double, std::size_t>>;

  void split(std::size_t begin, std::size_t end, std::size_t direction);
  void search(const std::array<double, 3>& place, std::size_t begin, std::size_t end, std::size_t direction,
              Found& found) const;

  std::array<std::span<const double>, 3> m_at;
  /// 2 or 3
  std::size_t m_directions;
  std::vector<std::size_t> m_order;
};

}  // namespace prismfield
