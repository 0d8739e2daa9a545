// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

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
  /// Out of single() and full() of others, one of which is empty.
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

/// Bilinear between the nodes, equal to the node's value at a node, in the outer half cell that of the nearest place
/// between nodes; NaN beyond that and where a node that counts has none.
[[nodiscard]] double value_at(const NodeGrid& grid, double easting, double northing) noexcept;

}  // namespace prismfield
