// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/station_neighbors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/statistics.hpp"
#include "model/nearest_points.hpp"

namespace prismfield {

StationNeighbors::StationNeighbors(const PointColumns& stations) {
  const std::size_t n = stations.easting.size();
  if (n <= count) return;
  const NearestPoints points(stations.easting, stations.northing);
  m_beside.resize(count * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<std::size_t, count + 1> nearest{};
    points.find({stations.easting[i], stations.northing[i], 0}, nearest);
    // the station itself is among them, unless more than eight others are at its place
    const auto own = std::find(nearest.begin(), nearest.end() - 1, i);
    std::rotate(own, own + 1, nearest.end());
    std::copy_n(nearest.begin(), count, m_beside.begin() + static_cast<std::ptrdiff_t>(count * i));
  }
}

std::vector<double> StationNeighbors::borne_out(std::span<const double> residuals) const {
  std::vector<double> sizes(residuals.size(), 0.0);
  if (m_beside.empty()) return sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::array<double, count> along{};
    for (std::size_t k = 0; k < count; ++k) {
      along[k] = std::copysign(1.0, residuals[i]) * residuals[m_beside[count * i + k]];
    }
    constexpr std::size_t third = 2;
    std::nth_element(along.begin(), along.begin() + third, along.end(), std::greater<>());
    sizes[i] = std::clamp(along[third], 0.0, std::abs(residuals[i]));
  }
  return sizes;
}

MoransI StationNeighbors::morans_i(std::span<const double> residuals) const {
  MoransI found;
  if (m_beside.empty()) return found;
  const auto n = static_cast<double>(residuals.size());
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  // of normal errors the median of their sizes is 0.6745 sigma
  const double most = 3 * median(std::move(sizes)) / 0.6745;
  std::vector<double> z;
  double mean = 0;
  for (const double r : residuals) {
    z.push_back(std::clamp(r, -most, most));
    mean += z.back() / n;
  }
  double squares = 0, products = 0, mutual = 0;
  // from and to a station
  std::vector<double> weights(residuals.size(), static_cast<double>(count));
  for (std::size_t i = 0; i < z.size(); ++i) {
    squares += (z[i] - mean) * (z[i] - mean);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t j = m_beside[count * i + k];
      products += (z[i] - mean) * (z[j] - mean);
      weights[j] += 1;
      const auto* const back = &m_beside[count * j];
      mutual += std::find(back, back + count, i) != back + count ? 0.5 : 0;
    }
  }
  if (!(squares > 0)) return found;
  const double s0 = static_cast<double>(count) * n;
  // pairs with one weight have 1, with two 4
  const double s1 = s0 + 2 * mutual;
  double s2 = 0;
  for (const double weight : weights) s2 += weight * weight;
  found.value = n / s0 * products / squares;
  found.expected = -1 / (n - 1);
  found.deviation =
      std::sqrt((n * n * s1 - n * s2 + 3 * s0 * s0) / ((n * n - 1) * s0 * s0) - found.expected * found.expected);
  return found;
}

}  // namespace prismfield
