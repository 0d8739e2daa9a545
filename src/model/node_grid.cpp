// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/node_grid.hpp"

#include <cmath>
#include <limits>

namespace prismfield {
namespace {

bool is_single(double value) noexcept {
  if (std::isnan(value)) return true;
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

/// Whether a place lies within the cells around nodes.
bool within(const std::vector<double>& nodes, double place) noexcept {
  const std::size_t n = nodes.size();
  const double first = nodes[0] - (nodes[1] - nodes[0]) / 2, last = nodes[n - 1] + (nodes[n - 1] - nodes[n - 2]) / 2;
  return place >= first && place <= last;
}

}  // namespace

NodeValues::NodeValues(std::vector<double> values) {
  if (!std::all_of(values.begin(), values.end(), is_single)) {
    m_full = std::move(values);
    return;
  }
  m_single.resize(values.size());
  std::transform(values.begin(), values.end(), m_single.begin(), [](double v) { return static_cast<float>(v); });
}

NodeValues::NodeValues(std::vector<float> single, std::vector<double> full)
    : m_single(std::move(single)), m_full(std::move(full)) {}

std::int64_t NodeValues::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(m_single.capacity() * sizeof(float) + m_full.capacity() * sizeof(double));
}

std::vector<double> edges_around(const std::vector<double>& nodes) {
  std::vector<double> edges(nodes.size() + 1);
  for (std::size_t i = 1; i < nodes.size(); ++i) edges[i] = nodes[i - 1] + (nodes[i] - nodes[i - 1]) / 2;
  edges.front() = nodes[0] - (nodes[1] - nodes[0]) / 2;
  const std::size_t last = nodes.size() - 1;
  edges.back() = nodes[last] + (nodes[last] - nodes[last - 1]) / 2;
  return edges;
}

bool covers(const NodeGrid& grid, double easting, double northing) noexcept {
  return within(grid.easting, easting) && within(grid.northing, northing);
}

double value_at(const NodeGrid& grid, double easting, double northing) noexcept {
  if (!covers(grid, easting, northing)) return std::numeric_limits<double>::quiet_NaN();
  return bilinear(between(grid.easting, easting), between(grid.northing, northing),
                  [&](std::size_t j, std::size_t i) { return grid.value(j, i); });
}

}  // namespace prismfield
