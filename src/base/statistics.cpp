// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

namespace prismfield {
namespace {

/// Figures of so many values are collected side by side: a processor works on that many in one instruction.
constexpr std::size_t n_lanes = 8;

/// Calls look(value, lane) for each value.
template <class Look>
void for_each_in_lanes(std::span<const double> values, const Look& look) {
  std::size_t i = 0;
  for (; i + n_lanes <= values.size(); i += n_lanes) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) look(values[i + lane], lane);
  }
  for (; i < values.size(); ++i) look(values[i], 0);
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Range range_of(std::span<const double> values) noexcept {
  std::array<double, n_lanes> least, greatest;
  least.fill(std::numeric_limits<double>::infinity());
  greatest.fill(-std::numeric_limits<double>::infinity());
  for_each_in_lanes(values, [&least, &greatest](double value, std::size_t lane) {
    least[lane] = value < least[lane] ? value : least[lane];
    greatest[lane] = value > greatest[lane] ? value : greatest[lane];
  });
  return {std::ranges::min(least), std::ranges::max(greatest)};
}

double largest_magnitude(std::span<const double> values, double limit) noexcept {
  std::array<double, n_lanes> largest{};
  for_each_in_lanes(values, [&largest, limit](double value, std::size_t lane) {
    const double magnitude = std::abs(value);
    largest[lane] = magnitude <= limit && magnitude > largest[lane] ? magnitude : largest[lane];
  });
  return std::ranges::max(largest);
}

double root_mean_square(std::span<const double> values) noexcept {
  const double largest = largest_magnitude(values, std::numeric_limits<double>::infinity());
  if (std::isinf(largest)) return largest;
  // squares of multiples of a power of two near the largest do not overflow
  const double unit = std::exp2(largest > 0 ? std::max(std::ilogb(largest), -1000) : 0);
  std::array<double, n_lanes> squares{}, counts{};
  for_each_in_lanes(values, [&squares, &counts, per_unit = 1 / unit](double value, std::size_t lane) {
    const double of_unit = value * per_unit;
    squares[lane] += std::isnan(value) ? 0 : of_unit * of_unit;
    counts[lane] += std::isnan(value) ? 0 : 1;
  });
  const auto sum = [](const auto& lanes) { return std::accumulate(lanes.begin(), lanes.end(), 0.0); };
  return unit * std::sqrt(sum(squares) / sum(counts));
}

}  // namespace prismfield
