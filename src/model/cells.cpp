// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/cells.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <prismfield/error.hpp>

#include "base/random.hpp"
#include "model/prism_check.hpp"

namespace prismfield {
namespace {

std::int32_t run_end(const CellsContent& content, const CellGroup& group, std::int32_t run) noexcept {
  const std::size_t i = group.first_run + static_cast<std::size_t>(run);
  const std::int32_t prisms_before_next = run + 1 < group.runs ? content.runs[i + 1].before : group.prisms_a_row;
  return content.runs[i].first + (prisms_before_next - content.runs[i].before);
}

/// Throws InputError for edges and densities for which results would not be finite.
void check_limits(const CellsContent& content) {
  ProblemList problems;
  const std::string key = "model." + content.kind;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = content.edges[d];
    if (std::max(std::abs(edges.front()), std::abs(edges.back())) <= max_coordinate) continue;
    problems.add("", key + "." + direction_names[d], beyond_coordinates());
  }
  const auto beyond = [](double density) { return std::abs(density) > max_density; };
  const CellBackground& background = content.background;
  if (beyond(background.value) || beyond(background.range.min) || beyond(background.range.max) ||
      std::any_of(background.densities.begin(), background.densities.end(), beyond) ||
      std::any_of(content.constants.begin(), content.constants.end(), beyond)) {
    problems.add("", key + ".density", "a density " + beyond_densities());
  }
  problems.throw_if_any();
}

}  // namespace

void Cells::read(IndexRange range, PrismBlock& out) const {
  const auto [begin, end] = range;
  out.resize(range.size());
  if (begin >= end) return;
  const auto n_northing = static_cast<std::int64_t>(m_content.edges[1].size()) - 1;
  const auto n_easting = static_cast<std::int64_t>(m_content.edges[0].size()) - 1;
  auto group = std::upper_bound(m_content.groups.begin(), m_content.groups.end(), begin,
                                [](std::int64_t prism, const CellGroup& g) { return prism < g.before; }) -
               1;
  std::int64_t row = (begin - group->before) / group->prisms_a_row;
  auto in_row = static_cast<std::int32_t>((begin - group->before) % group->prisms_a_row);
  std::int64_t prism = begin;
  while (prism < end) {
    if (row == group->rows) {
      ++group;
      row = 0;
    }
    const std::int64_t row_number = group->first_row + row;
    const auto runs = m_content.runs.begin() + static_cast<std::ptrdiff_t>(group->first_run);
    std::int32_t run = 0;
    if (in_row > 0) {
      const auto behind = std::upper_bound(runs, runs + group->runs, in_row,
                                           [](std::int32_t p, const CellRun& r) { return p < r.before; });
      run = static_cast<std::int32_t>(behind - runs - 1);
    }
    for (; run < group->runs && prism < end; ++run) {
      const CellRun& r = runs[run];
      const std::int64_t first = r.first + (in_row - r.before);
      const std::int64_t count = std::min<std::int64_t>(run_end(m_content, *group, run) - first, end - prism);
      const std::int64_t at = prism - begin;
      write_faces(m_content.edges, {first, row_number % n_northing, row_number / n_northing}, count, at, out);
      double* const density = out.density.data() + at;
      if (r.fill != CellRun::from_background) {
        std::fill_n(density, count, m_content.constants[static_cast<std::size_t>(r.fill)]);
      } else if (m_content.background.kind == CellBackground::Kind::listed) {
        std::copy_n(m_content.background.densities.data() + prism, count, density);
      } else {
        const std::int64_t cell = row_number * n_easting + first;
        fill_uniform(m_content.background.range.min, m_content.background.range.max, m_content.background.seed,
                     RandomStream::cell_density, static_cast<std::uint64_t>(cell), count, density);
      }
      prism += count;
      in_row += static_cast<std::int32_t>(count);
    }
    in_row = 0;
    ++row;
  }
}

bool Cells::uniform_shape() const noexcept { return equal_widths(m_content.edges); }

std::int64_t Cells::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + m_content.constants.capacity() * sizeof(double) +
                      m_content.background.densities.capacity() * sizeof(double) +
                      m_content.runs.capacity() * sizeof(CellRun) + m_content.groups.capacity() * sizeof(CellGroup);
  for (const auto& edges : m_content.edges) bytes += edges.capacity() * sizeof(double);
  return static_cast<std::int64_t>(bytes);
}

std::string Cells::description() const {
  return fmt::format("{} {} x {} x {}, {} prism{} with density", m_content.kind, m_content.edges[0].size() - 1,
                     m_content.edges[1].size() - 1, m_content.edges[2].size() - 1, m_content.size,
                     m_content.size == 1 ? "" : "s");
}

CellsBuilder::CellsBuilder(std::string kind, CellEdges edges, CellBackground background) {
  m_counts = counts_of(edges);
  m_content.kind = std::move(kind);
  m_content.edges = std::move(edges);
  m_content.background = std::move(background);
}

std::int32_t CellsBuilder::constant(double density) {
  const auto [at, is_new] = m_constant_of.try_emplace(density, static_cast<std::int32_t>(m_content.constants.size()));
  if (is_new) m_content.constants.push_back(density);
  return at->second;
}

void CellsBuilder::add_run(std::int64_t first, std::int64_t count, std::int32_t fill) {
  if (count <= 0) return;
  const bool continues =
      !m_row.empty() && m_row.back().fill == fill && m_row.back().first + (m_row_prisms - m_row.back().before) == first;
  if (!continues) m_row.push_back({static_cast<std::int32_t>(first), m_row_prisms, fill});
  m_row_prisms += static_cast<std::int32_t>(count);
}

void CellsBuilder::close_rows(std::int64_t first_row, std::int64_t rows) {
  if (m_row_prisms > 0 && rows > 0) {
    auto& groups = m_content.groups;
    auto& runs = m_content.runs;
    const auto alike = [&](const CellGroup& group) {
      return group.prisms_a_row == m_row_prisms && group.runs == static_cast<std::int32_t>(m_row.size()) &&
             std::equal(m_row.begin(), m_row.end(), runs.begin() + static_cast<std::ptrdiff_t>(group.first_run),
                        [](const CellRun& a, const CellRun& b) {
                          return a.first == b.first && a.before == b.before && a.fill == b.fill;
                        });
    };
    const bool as_last = !groups.empty() && alike(groups.back());
    if (as_last && groups.back().first_row + groups.back().rows == first_row) {
      groups.back().rows += rows;
    } else {
      const std::size_t first_run = as_last ? groups.back().first_run : runs.size();
      if (!as_last) runs.insert(runs.end(), m_row.begin(), m_row.end());
      groups.push_back(
          {first_row, rows, m_content.size, first_run, static_cast<std::int32_t>(m_row.size()), m_row_prisms});
    }
    m_content.size += rows * m_row_prisms;
  }
  m_row.clear();
  m_row_prisms = 0;
}

void CellsBuilder::add_rows(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted) {
  CellBackground& background = m_content.background;
  if (background.kind == CellBackground::Kind::listed) {
    for (std::int64_t row = first_row; row < first_row + rows; ++row) {
      for (const PaintedCells& cells : painted) {
        std::fill_n(background.densities.begin() + row * m_counts[0] + cells.first, cells.count, cells.density);
      }
    }
    return;
  }
  const bool empty = background.kind == CellBackground::Kind::constant && background.value == 0;
  const std::int32_t fill = empty || background.kind != CellBackground::Kind::constant ? CellRun::from_background
                                                                                       : constant(background.value);
  const auto add_background = [&](std::int64_t begin, std::int64_t end) {
    if (!empty) add_run(begin, end - begin, fill);
  };
  add_background(0, m_counts[0]);
  close_rows(m_next_row, first_row - m_next_row);
  std::int64_t at = 0;
  for (const PaintedCells& cells : painted) {
    add_background(at, cells.first);
    if (cells.density != 0) add_run(cells.first, cells.count, constant(cells.density));
    at = cells.first + cells.count;
  }
  add_background(at, m_counts[0]);
  close_rows(first_row, rows);
  m_next_row = first_row + rows;
}

void CellsBuilder::add_listed_rows() {
  std::vector<double>& densities = m_content.background.densities;
  std::size_t kept = 0;
  for (std::int64_t row = 0; row < m_counts[1] * m_counts[2]; ++row) {
    const double* const cells = densities.data() + row * m_counts[0];
    for (std::int64_t i = 0; i < m_counts[0];) {
      const std::int64_t first = i;
      while (i < m_counts[0] && cells[i] != 0) ++i;
      add_run(first, i - first, CellRun::from_background);
      while (i < m_counts[0] && cells[i] == 0) ++i;
    }
    for (const CellRun& run : m_row) {
      const std::int32_t next = &run == &m_row.back() ? m_row_prisms : (&run + 1)->before;
      double* const to = densities.data() + kept;
      if (to != cells + run.first) std::copy_n(cells + run.first, next - run.before, to);
      kept += static_cast<std::size_t>(next - run.before);
    }
    close_rows(row, 1);
  }
  if (kept < densities.size()) {
    const std::size_t all = densities.size();
    densities.resize(kept);
    densities.shrink_to_fit();
    m_content.peak_bytes = static_cast<std::int64_t>((all + kept) * sizeof(double));
  }
}

void CellsBuilder::find_bounds() {
  if (m_content.groups.empty()) return;
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  std::int64_t i_min = far, i_max = -1, j_min = far, j_max = -1;
  for (const CellGroup& group : m_content.groups) {
    i_min = std::min<std::int64_t>(i_min, m_content.runs[group.first_run].first);
    i_max = std::max<std::int64_t>(i_max, run_end(m_content, group, group.runs - 1) - 1);
    const std::int64_t first = group.first_row % m_counts[1];
    const bool wraps = first + group.rows > m_counts[1];
    j_min = std::min(j_min, wraps ? 0 : first);
    j_max = std::max(j_max, wraps ? m_counts[1] - 1 : first + group.rows - 1);
  }
  const CellGroup& last = m_content.groups.back();
  const std::int64_t k_min = m_content.groups.front().first_row / m_counts[1];
  const std::int64_t k_max = (last.first_row + last.rows - 1) / m_counts[1];
  const auto edge = [&](std::size_t direction, std::int64_t i) {
    return m_content.edges[direction][static_cast<std::size_t>(i)];
  };
  m_content.bounds = {edge(0, i_min),     edge(0, i_max + 1), edge(1, j_min),
                      edge(1, j_max + 1), edge(2, k_min),     edge(2, k_max + 1)};
}

void CellsBuilder::find_densities() {
  constexpr double far = std::numeric_limits<double>::infinity();
  Range all{far, -far};
  const auto include = [&](double density) { all = {std::min(all.min, density), std::max(all.max, density)}; };
  bool from_background = false;
  for (const CellRun& run : m_content.runs) {
    if (run.fill == CellRun::from_background) {
      from_background = true;
    } else {
      include(m_content.constants[static_cast<std::size_t>(run.fill)]);
    }
  }
  const CellBackground& background = m_content.background;
  if (from_background && background.kind == CellBackground::Kind::random) {
    include(background.range.min);
    include(background.range.max);
  } else if (from_background) {
    for (const double density : background.densities) include(density);
  }
  if (all.min <= all.max) m_content.densities = all;
}

std::unique_ptr<Cells> CellsBuilder::build() {
  check_limits(m_content);
  if (m_content.background.kind == CellBackground::Kind::listed) {
    add_listed_rows();
  } else {
    add_rows(m_counts[1] * m_counts[2], 0, {});
  }
  m_content.runs.shrink_to_fit();
  m_content.groups.shrink_to_fit();
  find_bounds();
  find_densities();
  return std::make_unique<Cells>(std::move(m_content));
}

CellCounts counts_of(const CellEdges& edges) {
  CellCounts counts{};
  for (std::size_t d = 0; d < 3; ++d) counts[d] = static_cast<std::int64_t>(edges[d].size()) - 1;
  return counts;
}

bool equal_widths(const CellEdges& edges) noexcept {
  // as far apart as the rounding of coordinates leaves equal cells; the kernels decide for themselves
  constexpr double rounding = 1e-12;
  for (const std::vector<double>& along : edges) {
    const double first = along[1] - along[0];
    for (std::size_t i = 1; i + 1 < along.size(); ++i) {
      if (std::abs(along[i + 1] - along[i] - first) > rounding * first) return false;
    }
  }
  return true;
}

void write_faces(const CellEdges& edges, const std::array<std::int64_t, 3>& place, std::int64_t count, std::int64_t at,
                 PrismBlock& out) {
  const double* const along = edges[0].data() + place[0];
  const auto j = static_cast<std::size_t>(place[1]), k = static_cast<std::size_t>(place[2]);
  std::copy_n(along, count, out.west.data() + at);
  std::copy_n(along + 1, count, out.east.data() + at);
  std::fill_n(out.south.data() + at, count, edges[1][j]);
  std::fill_n(out.north.data() + at, count, edges[1][j + 1]);
  std::fill_n(out.bottom.data() + at, count, edges[2][k]);
  std::fill_n(out.top.data() + at, count, edges[2][k + 1]);
}

std::string error_in_direction(std::int64_t cells) {
  if (cells >= 1 && cells <= most_cells_in_a_direction) return "";
  return fmt::format("{} cells; 1 to {} are allowed in one direction", cells, most_cells_in_a_direction);
}

std::string error_in_total(const CellCounts& counts) {
  double total = 1;
  for (const std::int64_t count : counts) total *= static_cast<double>(count);
  return total > 0x1p62 ? fmt::format("{:.3g} cells; at most 4.6e18 are allowed", total) : "";
}

void check_cell_counts(const CellCounts& counts, const std::string& key) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string error = error_in_direction(counts[d]);
    if (!error.empty()) throw InputError("", key + "." + direction_names[d], error);
  }
  if (const std::string error = error_in_total(counts); !error.empty()) throw InputError("", key, error);
}

}  // namespace prismfield
