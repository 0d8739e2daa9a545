// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/cells.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

double middle(const std::vector<double>& edges, std::int64_t i) noexcept {
  const auto at = static_cast<std::size_t>(i);
  return edges[at] + (edges[at + 1] - edges[at]) / 2;
}

std::array<std::int64_t, 3> place_of(const CellCounts& counts, std::int64_t cell) noexcept {
  const std::int64_t row = cell / counts[0];
  return {cell % counts[0], row % counts[1], row / counts[1]};
}

std::int64_t total_of(const CellCounts& counts) noexcept { return counts[0] * counts[1] * counts[2]; }

Bounds bounds_of(const CellEdges& edges, const std::vector<std::int64_t>& cells) {
  const CellCounts counts = counts_of(edges);
  std::array<std::int64_t, 3> least{}, most{};
  for (std::size_t d = 0; d < 3; ++d) most[d] = counts[d] - 1;
  if (!cells.empty()) {
    least = most = place_of(counts, cells.front());
    for (const std::int64_t cell : cells) {
      const std::array<std::int64_t, 3> place = place_of(counts, cell);
      for (std::size_t d = 0; d < 3; ++d) {
        least[d] = std::min(least[d], place[d]);
        most[d] = std::max(most[d], place[d]);
      }
    }
  }
  const auto edge = [&](std::size_t d, std::int64_t i) { return edges[d][static_cast<std::size_t>(i)]; };
  return {edge(0, least[0]),    edge(0, most[0] + 1), edge(1, least[1]),
          edge(1, most[1] + 1), edge(2, least[2]),    edge(2, most[2] + 1)};
}

}  // namespace

ActiveCells::ActiveCells(CellEdges edges, const std::array<double, 3>& rounding)
    : m_edges(std::move(edges)), m_rounding(rounding), m_bounds(bounds_of(m_edges, {})) {}

ActiveCells::ActiveCells(CellEdges edges, const std::array<double, 3>& rounding, std::vector<std::int64_t> cells)
    : m_edges(std::move(edges)), m_rounding(rounding), m_cells(std::move(cells)) {
  const std::int64_t all = total();
  const bool rises = std::adjacent_find(m_cells.begin(), m_cells.end(), std::greater_equal<>()) == m_cells.end();
  if (m_cells.empty() || !rises || m_cells.front() < 0 || m_cells.back() >= all) {
    throw InputError("", "active", "has to be numbers of cells of the grid that rise, one or more");
  }
  // a list of all says no more than none, and takes memory
  if (static_cast<std::int64_t>(m_cells.size()) == all) m_cells = {};
  m_cells.shrink_to_fit();
  m_bounds = bounds_of(m_edges, m_cells);
}

std::int64_t ActiveCells::total() const noexcept { return total_of(counts()); }

std::int64_t ActiveCells::size() const noexcept {
  return m_cells.empty() ? total() : static_cast<std::int64_t>(m_cells.size());
}

bool ActiveCells::uniform_shape() const noexcept { return equal_widths(m_edges); }

void ActiveCells::read(IndexRange range, PrismBlock& out) const {
  if (!IndexRange{0, size()}.contains(range)) throw RunError("prisms beyond the active cells were asked for");
  out.resize(range.size());
  const CellCounts counts = this->counts();
  for (std::int64_t column = range.begin; column < range.end;) {
    const std::array<std::int64_t, 3> place = place_of(counts, cell(column));
    const std::int64_t most = std::min(counts[0] - place[0], range.end - column);
    std::int64_t count = 1;
    while (count < most && cell(column + count) == cell(column) + count) ++count;
    const std::int64_t at = column - range.begin;
    write_faces(m_edges, place, count, at, out);
    std::fill_n(out.density.data() + at, count, 1.0);
    column += count;
  }
}

std::int64_t ActiveCells::cell(std::int64_t column) const noexcept {
  return m_cells.empty() ? column : m_cells[static_cast<std::size_t>(column)];
}

std::vector<std::int64_t> ActiveCells::cells() const {
  if (!m_cells.empty()) return m_cells;
  std::vector<std::int64_t> all(static_cast<std::size_t>(total()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return all;
}

std::array<std::int64_t, 3> ActiveCells::place(std::int64_t column) const noexcept {
  return place_of(counts(), cell(column));
}

std::array<double, 3> ActiveCells::center(std::int64_t column) const noexcept {
  const std::array<std::int64_t, 3> at = place(column);
  return {middle(m_edges[0], at[0]), middle(m_edges[1], at[1]), middle(m_edges[2], at[2])};
}

std::array<double, 3> ActiveCells::widths(std::int64_t column) const noexcept {
  const std::array<std::int64_t, 3> at = place(column);
  std::array<double, 3> lengths{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto i = static_cast<std::size_t>(at[d]);
    lengths[d] = m_edges[d][i + 1] - m_edges[d][i];
  }
  return lengths;
}

std::vector<std::int32_t> ActiveCells::next(std::size_t direction) const {
  const std::int64_t n = size();
  if (n > std::numeric_limits<std::int32_t>::max()) throw RunError("more than 2,147,483,647 active cells");
  const CellCounts counts = this->counts();
  const std::int64_t step = direction == 0 ? 1 : direction == 1 ? counts[0] : counts[0] * counts[1];
  const std::int64_t line = step * counts[direction];
  std::vector<std::int32_t> columns(static_cast<std::size_t>(n), -1);
  // cells rise, so that those next to them do: one walk meets them all
  std::int64_t other = 0;
  for (std::int64_t column = 0; column < n; ++column) {
    const std::int64_t wanted = cell(column) + step;
    if (cell(column) % line >= line - step) continue;
    while (other < n && cell(other) < wanted) ++other;
    if (other == n) break;
    if (cell(other) == wanted) columns[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(other);
  }
  return columns;
}

std::vector<double> ActiveCells::of_all(const std::vector<double>& values) const {
  if (static_cast<std::int64_t>(values.size()) != total()) throw RunError("values are not one a cell of the grid");
  if (m_cells.empty()) return values;
  std::vector<double> own;
  own.reserve(m_cells.size());
  for (const std::int64_t cell : m_cells) own.push_back(values[static_cast<std::size_t>(cell)]);
  return own;
}

std::int64_t ActiveCells::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + m_cells.capacity() * sizeof(std::int64_t);
  for (const auto& edges : m_edges) bytes += edges.capacity() * sizeof(double);
  return static_cast<std::int64_t>(bytes);
}

std::vector<std::int64_t> cells_below(const CellEdges& edges, const std::vector<double>& heights) {
  const CellCounts counts = counts_of(edges);
  const std::int64_t layer = counts[0] * counts[1];
  if (static_cast<std::int64_t>(heights.size()) != layer) throw RunError("heights are not one a column of cells");
  std::vector<std::int64_t> cells;
  for (std::int64_t k = 0; k < counts[2]; ++k) {
    const double center = middle(edges[2], k);
    for (std::int64_t column = 0; column < layer; ++column) {
      if (center < heights[static_cast<std::size_t>(column)]) cells.push_back(k * layer + column);
    }
  }
  return cells;
}

std::vector<std::int64_t> cells_under(const CellEdges& edges, const std::vector<double>& ceilings,
                                      const std::vector<std::int64_t>& cells) {
  const CellCounts counts = counts_of(edges);
  const std::int64_t layer = counts[0] * counts[1];
  if (static_cast<std::int64_t>(ceilings.size()) != layer) throw RunError("ceilings are not one a column of cells");
  std::vector<std::int64_t> under;
  for (const std::int64_t cell : cells) {
    const double top = edges[2][static_cast<std::size_t>(cell / layer) + 1];
    if (top <= ceilings[static_cast<std::size_t>(cell % layer)]) under.push_back(cell);
  }
  return under;
}

}  // namespace prismfield
