// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace prismfield {

/// Many values, in single precision where that loses nothing, as in files of floats and whole metres.
class NodeValues {
public:
  NodeValues() = default;
  explicit NodeValues(std::vector<double> values);
  /// From the lists of take(), of which one is empty.
  NodeValues(std::vector<float> single, std::vector<double> full);

  /// Both lists, out of values that nobody needs any more.
  [[nodiscard]] std::pair<std::vector<float>, std::vector<double>> take() && noexcept {
    return {std::move(m_single), std::move(m_full)};
  }

  [[nodiscard]] double operator[](std::size_t i) const noexcept {
    return m_single.empty() ? m_full[i] : static_cast<double>(m_single[i]);
  }
  [[nodiscard]] std::size_t size() const noexcept { return m_single.size() + m_full.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The values in the precision that they are held in; the other list is empty.
  [[nodiscard]] const std::vector<float>& single() const noexcept { return m_single; }
  [[nodiscard]] const std::vector<double>& full() const noexcept { return m_full; }

private:
  std::vector<float> m_single;
  std::vector<double> m_full;
};

/// Values at the nodes of a rectilinear grid, such as the heights of a digital elevation model.
struct NodeGrid {
  /// metres, rising, two or more each
  std::vector<double> easting, northing;
  /// (northing, easting), NaN where there is none
  NodeValues values;

  [[nodiscard]] double value(std::size_t j, std::size_t i) const noexcept { return values[j * easting.size() + i]; }
};

/// Edges of the cells around nodes, one more than these: half-way between neighbours, the outermost as far from their
/// node as the node's other edge.
[[nodiscard]] std::vector<double> edges_around(const std::vector<double>& nodes);

/// Whether a place lies within the cells around the nodes.
[[nodiscard]] bool covers(const NodeGrid& grid, double easting, double northing) noexcept;

/// Bilinear interpolation between nodes, exact at nodes; in the outer half cell, the value at the nearest place between
/// nodes. NaN further out and where a node that counts has no value.
[[nodiscard]] double value_at(const NodeGrid& grid, double easting, double northing) noexcept;

/// Where a place lies between the coordinates of a grid.
struct Between {
  std::size_t low = 0, high = 0;
  /// part of the way from low to high; 0 at a node
  double part = 0;
};

/// Between which of rising coordinates a place lies; beyond them at the nearest.
[[nodiscard]] inline Between between(const std::vector<double>& grid, double place) noexcept {
  const auto above = std::upper_bound(grid.begin(), grid.end(), place);
  if (above == grid.begin()) return {};
  const auto high = static_cast<std::size_t>(above - grid.begin());
  if (high == grid.size()) return {high - 1, high - 1, 0};
  return {high - 1, high, (place - grid[high - 1]) / (grid[high] - grid[high - 1])};
}

/// a where part is 0 and b where it is 1, exactly, whatever the other is, and never beyond them; NaN where one that
/// counts is.
[[nodiscard]] inline double mixed(double a, double b, double part) noexcept {
  if (part == 0) return a;
  if (part == 1) return b;
  const double value = a * (1 - part) + b * part;
  return value != value ? value : std::clamp(value, std::min(a, b), std::max(a, b));
}

/// Bilinear between the four nodes around a place; `value_at(j, i)`: of the node in row j along northing, column i
/// along easting.
template <class ValueAt>
[[nodiscard]] double bilinear(const Between& easting, const Between& northing, const ValueAt& value_at) {
  const auto along_row = [&](std::size_t j) {
    return mixed(value_at(j, easting.low), value_at(j, easting.high), easting.part);
  };
  return mixed(along_row(northing.low), along_row(northing.high), northing.part);
}

}  // namespace prismfield
