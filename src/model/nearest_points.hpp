// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace prismfield {

/// Finds those of many points that are nearest to a place, in the horizontal: halves of halves, by turns along easting
/// and northing. A surface finds its heights with it, an inversion the stations beside a station.
class NearestPoints {
public:
  /// Refers to the coordinates, which are finite.
  NearestPoints(std::span<const double> easting, std::span<const double> northing);

  /// Fills `nearest` with the numbers of as many points, the nearest first, of points equally far the first one first.
  /// There are as many points at least.
  void find(double easting, double northing, std::span<std::size_t> nearest) const;

private:
  /// (distance, number), rising
  using Found = std::vector<std::pair<double, std::size_t>>;

  void split(std::size_t begin, std::size_t end, std::size_t direction);
  void search(const std::array<double, 2>& place, std::size_t begin, std::size_t end, std::size_t direction,
              Found& found) const;

  std::array<std::span<const double>, 2> m_at;
  std::vector<std::size_t> m_order;
};

}  // namespace prismfield
