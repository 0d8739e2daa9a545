// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/absolute_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Cubes of space, up to `most` along its longest side.
class CellGrid {
public:
  CellGrid(const std::array<double, 3>& low, const std::array<double, 3>& high, int most) : m_low(low) {
    const double longest = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    m_edge = longest > 0 ? longest / most : 1;
    for (std::size_t d = 0; d < 3; ++d)
      m_cells[d] = std::clamp(static_cast<int>(std::ceil((high[d] - low[d]) / m_edge)), 1, most);
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(m_cells[0]) * static_cast<std::size_t>(m_cells[1] * m_cells[2]);
  }
  [[nodiscard]] double edge() const noexcept { return m_edge; }
  [[nodiscard]] std::size_t cell_of(double x, double y, double z) const noexcept {
    return static_cast<std::size_t>((place(2, z) * m_cells[1] + place(1, y)) * m_cells[0] + place(0, x));
  }

private:
  [[nodiscard]] int place(std::size_t d, double x) const noexcept {
    return std::clamp(static_cast<int>((x - m_low[d]) / m_edge), 0, m_cells[d] - 1);
  }

  std::array<double, 3> m_low;
  std::array<int, 3> m_cells{};
  double m_edge = 1;
};

constexpr int cells_of_prisms = 16;
constexpr int cells_of_points = 8;
/// Of a cell, so many points are compared.
constexpr std::int64_t compared_points = 64;

/// How many times as large as that of their sum the norm of the parts of a tensor, or of B's gradient, may be.
constexpr double of_tensor = 2.45, of_gradient = 7.75;

/// What the closed forms lose next to a prism, of its own field, and multipoles; and of the sum's parts what adding up
/// n of them loses, times the root of n.
constexpr double rounding_near = 2e-14, rounding_far = 5e-16, rounding_of_sum = 5e-18;
/// Longest edges within which no multipole is taken.
constexpr double near_edges = 10;

}  // namespace

AbsoluteSums::AbsoluteSums(const PrismSource& prisms, IndexRange mine, int ranks_of_each,
                           const Communicator& communicator) {
  enum Sum : std::size_t { mass, moment, east, north, up, n_sums };
  const Bounds box = prisms.bounds();
  const CellGrid grid({box.west, box.south, box.bottom}, {box.east, box.north, box.top}, cells_of_prisms);
  std::vector<double> sums(n_sums * grid.size()), longest(grid.size());
  PrismBlock block;
  constexpr std::int64_t at_once = 4096;
  for (std::int64_t begin = mine.begin; begin < mine.end; begin += at_once) {
    prisms.read({begin, std::min(begin + at_once, mine.end)}, block);
    const auto& m = block.magnetization;
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      const double dx = block.east[i] - block.west[i], dy = block.north[i] - block.south[i];
      const double dz = block.top[i] - block.bottom[i], volume = dx * dy * dz;
      const double x = block.west[i] + 0.5 * dx, y = block.south[i] + 0.5 * dy, z = block.bottom[i] + 0.5 * dz;
      const double of_mass = volume * std::abs(block.density[i]);
      const double of_moment = m[0].empty() ? 0 : volume * std::hypot(m[0][i], m[1][i], m[2][i]);
      const double both = of_mass + of_moment;
      double* const to = sums.data() + n_sums * grid.cell_of(x, y, z);
      to[mass] += of_mass;
      to[moment] += of_moment;
      to[east] += both * x;
      to[north] += both * y;
      to[up] += both * z;
      double& edge = longest[grid.cell_of(x, y, z)];
      edge = std::max({edge, dx, dy, dz});
    }
  }
  sum_everywhere(communicator, sums.data(), static_cast<std::int64_t>(sums.size()));
  // of all ranks, too large rather than too small
  sum_everywhere(communicator, longest.data(), static_cast<std::int64_t>(longest.size()));
  for (std::size_t cell = 0; cell < grid.size(); ++cell) {
    const double* const of = sums.data() + n_sums * cell;
    const double both = of[mass] + of[moment], near = near_edges * longest[cell];
    if (both > 0)
      m_masses.push_back({of[east] / both, of[north] / both, of[up] / both, of[mass] / ranks_of_each,
                          of[moment] / ranks_of_each, near * near});
  }
  m_rounding = rounding_far + rounding_of_sum * std::sqrt(static_cast<double>(prisms.size()));
  m_nearest = 0.25 * grid.edge() * grid.edge();
}

AbsoluteSums::Parts AbsoluteSums::at(double easting, double northing, double upward) const {
  Parts parts;
  for (const Mass& m : m_masses) {
    const double x = m.easting - easting, y = m.northing - northing, z = m.upward - upward;
    const double s = x * x + y * y + z * z;
    const double t = 1 / std::max(s, m_nearest), inverse = std::sqrt(t);
    const FieldSizes part = {m.mass * inverse, m.mass * t, of_tensor * m.mass * t * inverse,
                             of_tensor * m.moment * t * inverse, of_gradient * m.moment * t * t};
    const double rounding = m_rounding + (s < m.near ? rounding_near : 0);
    for (std::size_t order = 0; order < part.size(); ++order) {
      parts.sums[order] += part[order];
      parts.rounding[order] += rounding * part[order];
    }
  }
  return parts;
}

double AbsoluteSums::cubes(double easting, double northing, double upward) const {
  double sum = 0;
  for (const Mass& m : m_masses) {
    const double x = m.easting - easting, y = m.northing - northing, z = m.upward - upward;
    const double s = std::max(x * x + y * y + z * z, m_nearest);
    sum += (m.mass + m.moment) / (s * std::sqrt(s));
  }
  return sum;
}

std::vector<std::int64_t> AbsoluteSums::largest_points(const PointColumns& points, std::int64_t n) const {
  const auto ends = [](std::span<const double> x) {
    const auto [low, high] = std::ranges::minmax(x);
    return std::pair(low, high);
  };
  const auto [west, east] = ends(points.easting);
  const auto [south, north] = ends(points.northing);
  const auto [bottom, top] = ends(points.upward);
  const CellGrid grid({west, south, bottom}, {east, north, top}, cells_of_points);
  const auto cell_of = [&](std::size_t i) {
    return grid.cell_of(points.easting[i], points.northing[i], points.upward[i]);
  };
  struct Cell {
    std::int64_t points = 0;
    double easting = 0, northing = 0, upward = 0;
    double largest = 0;
    std::int64_t at = -1;
  };
  std::vector<Cell> cells(grid.size());
  for (std::size_t i = 0; i < points.easting.size(); ++i) {
    Cell& cell = cells[cell_of(i)];
    ++cell.points;
    cell.easting += points.easting[i];
    cell.northing += points.northing[i];
    cell.upward += points.upward[i];
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const Cell& cell = cells[c];
    if (cell.points == 0) continue;
    const auto count = static_cast<double>(cell.points);
    order.emplace_back(-cubes(cell.easting / count, cell.northing / count, cell.upward / count), c);
  }
  std::ranges::sort(order);
  std::vector<bool> is_chosen(cells.size());
  for (std::size_t k = 0; k < std::min(order.size(), static_cast<std::size_t>(n)); ++k)
    is_chosen[order[k].second] = true;
  std::vector<std::int64_t> met(cells.size());
  for (std::size_t i = 0; i < points.easting.size(); ++i) {
    const std::size_t c = cell_of(i);
    Cell& cell = cells[c];
    if (!is_chosen[c] || met[c]++ % (cell.points / compared_points + 1) != 0) continue;
    const double sum = cubes(points.easting[i], points.northing[i], points.upward[i]);
    if (cell.at >= 0 && sum <= cell.largest) continue;
    cell.largest = sum;
    cell.at = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> numbers;
  for (const Cell& cell : cells) {
    if (cell.at >= 0) numbers.push_back(cell.at);
  }
  return numbers;
}

}  // namespace prismfield
