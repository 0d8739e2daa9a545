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

/// Throws InputError for edges and properties for which results would not be finite.
void check_limits(const CellsContent& content) {
  ProblemList problems;
  const std::string key = "model." + content.kind;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = content.edges[d];
    if (std::max(std::abs(edges.front()), std::abs(edges.back())) <= max_coordinate) continue;
    problems.add("", key + "." + direction_names[d], beyond_coordinates());
  }
  std::array<std::string, property_names.size()> errors;
  const auto check = [&](std::size_t p, double value) {
    if (errors[p].empty()) errors[p] = property_error(p, value);
  };
  for (std::size_t p = 0; p < errors.size(); ++p) {
    const PropertyFill& background = content.background[p];
    for (const double value : {background.value, background.range.min, background.range.max}) check(p, value);
    for (const double value : background.values) check(p, value);
    for (const Properties& constant : content.constants) check(p, constant[p]);
    if (errors[p].empty()) continue;
    const std::string name = p < magnetization_property ? property_names[p] : "magnetization";
    problems.add("", key + "." + name, "a " + name + " " + errors[p]);
  }
  problems.throw_if_any();
}

/// Prisms next to each other in a row that the same thing fills.
struct CellSpan {
  std::int64_t prism, row, first, count;
  std::int32_t fill;
};

/// Calls visit(span) for the prisms of a range, in their order.
template <class Visit>
void for_each_span(const CellsContent& content, IndexRange range, const Visit& visit) {
  const auto [begin, end] = range;
  if (begin >= end) return;
  auto group = std::upper_bound(content.groups.begin(), content.groups.end(), begin,
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
    const auto runs = content.runs.begin() + static_cast<std::ptrdiff_t>(group->first_run);
    std::int32_t run = 0;
    if (in_row > 0) {
      const auto behind = std::upper_bound(runs, runs + group->runs, in_row,
                                           [](std::int32_t p, const CellRun& r) { return p < r.before; });
      run = static_cast<std::int32_t>(behind - runs - 1);
    }
    for (; run < group->runs && prism < end; ++run) {
      const CellRun& r = runs[run];
      const std::int64_t first = r.first + (in_row - r.before);
      const std::int64_t count = std::min<std::int64_t>(run_end(content, *group, run) - first, end - prism);
      visit(CellSpan{prism, group->first_row + row, first, count, r.fill});
      prism += count;
      in_row += static_cast<std::int32_t>(count);
    }
    in_row = 0;
    ++row;
  }
}

void write_property(const CellsContent& content, std::size_t property, const CellSpan& span, double* to) {
  const PropertyFill& background = content.background[property];
  if (background.kind == PropertyFill::Kind::listed) {
    std::copy_n(background.values.data() + span.prism, span.count, to);
  } else if (span.fill != CellRun::from_background) {
    std::fill_n(to, span.count, content.constants[static_cast<std::size_t>(span.fill)][property]);
  } else if (background.kind == PropertyFill::Kind::random) {
    const auto n_easting = static_cast<std::int64_t>(content.edges[0].size()) - 1;
    const RandomStream stream =
        property == density_property ? RandomStream::cell_density : RandomStream::cell_susceptibility;
    fill_uniform(background.range.min, background.range.max, background.seed, stream,
                 static_cast<std::uint64_t>(span.row * n_easting + span.first), span.count, to);
  } else {
    std::fill_n(to, span.count, background.value);
  }
}

}  // namespace

void Cells::read(IndexRange range, PrismBlock& out) const {
  out.resize(range.size());
  const bool magnetized = is_magnetized();
  std::vector<double> susceptibility;
  if (magnetized) {
    out.magnetize(range.size());
    read_susceptibilities(range, susceptibility);
  }
  const auto n_northing = static_cast<std::int64_t>(m_content.edges[1].size()) - 1;
  for_each_span(m_content, range, [&](const CellSpan& span) {
    const std::int64_t at = span.prism - range.begin;
    write_faces(m_content.edges, {span.first, span.row % n_northing, span.row / n_northing}, span.count, at, out);
    write_property(m_content, density_property, span, out.density.data() + at);
    for (std::size_t d = 0; d < 3 && magnetized; ++d) {
      double* const component = out.magnetization[d].data() + at;
      write_property(m_content, magnetization_property + d, span, component);
      for (std::int64_t i = 0; i < span.count; ++i) {
        component[i] += susceptibility[static_cast<std::size_t>(at + i)] * m_content.induced[d];
      }
    }
  });
}

void Cells::read_susceptibilities(IndexRange range, std::vector<double>& out) const {
  out.resize(static_cast<std::size_t>(range.size()));
  for_each_span(m_content, range, [&](const CellSpan& span) {
    write_property(m_content, susceptibility_property, span, out.data() + (span.prism - range.begin));
  });
}

bool Cells::uniform_shape() const noexcept { return equal_widths(m_content.edges); }

std::int64_t Cells::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + m_content.constants.capacity() * sizeof(Properties) +
                      m_content.runs.capacity() * sizeof(CellRun) + m_content.groups.capacity() * sizeof(CellGroup);
  for (const auto& edges : m_content.edges) bytes += edges.capacity() * sizeof(double);
  for (const PropertyFill& fill : m_content.background) bytes += fill.values.capacity() * sizeof(double);
  return static_cast<std::int64_t>(bytes);
}

std::string Cells::description() const {
  return fmt::format("{} {} x {} x {}, {} prism{} with {}", m_content.kind, m_content.edges[0].size() - 1,
                     m_content.edges[1].size() - 1, m_content.edges[2].size() - 1, m_content.size,
                     m_content.size == 1 ? "" : "s", m_content.ranges.names());
}

CellsBuilder::CellsBuilder(std::string kind, CellEdges edges, CellBackground background) {
  m_counts = counts_of(edges);
  m_content.kind = std::move(kind);
  m_content.edges = std::move(edges);
  m_content.background = std::move(background);
  for (std::size_t p = 0; p < m_constants.size(); ++p) {
    const PropertyFill& fill = m_content.background[p];
    if (fill.kind == PropertyFill::Kind::constant) m_constants[p] = fill.value;
    if (fill.kind == PropertyFill::Kind::listed) m_listed.push_back(p);
    m_has_random = m_has_random || fill.kind == PropertyFill::Kind::random;
  }
}

std::int32_t CellsBuilder::constant(const Properties& properties) {
  const auto [at, is_new] =
      m_constant_of.try_emplace(properties, static_cast<std::int32_t>(m_content.constants.size()));
  if (is_new) m_content.constants.push_back(properties);
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
  const auto add = [&](std::int64_t begin, std::int64_t end, const std::vector<PaintedCells>& cells) {
    const std::int64_t at_once = m_listed.empty() ? end - begin : 1;
    for (std::int64_t row = begin; row < end; row += at_once) add_alike(row, at_once, cells);
  };
  add(m_next_row, first_row, {});
  add(first_row, first_row + rows, painted);
  m_next_row = first_row + rows;
}

void CellsBuilder::add_alike(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted) {
  paint_lists(first_row, painted);
  const bool is_constant = m_listed.empty() && !m_has_random;
  const bool is_filled = m_has_random || m_constants != Properties{};
  const std::int32_t background = is_constant && is_filled ? constant(m_constants) : CellRun::from_background;
  std::int64_t at = 0;
  for (const PaintedCells& cells : painted) {
    add_cells(first_row, at, cells.first - at, background, is_filled);
    Properties unlisted = cells.properties;
    for (const std::size_t p : m_listed) unlisted[p] = 0;
    const bool is_painted = unlisted != Properties{};
    const bool as_background = m_listed.empty() ? !is_painted : !m_has_random && unlisted == m_constants;
    const std::int32_t fill = as_background ? CellRun::from_background : constant(unlisted);
    add_cells(first_row, cells.first, cells.count, fill, is_painted);
    at = cells.first + cells.count;
  }
  add_cells(first_row, at, m_counts[0] - at, background, is_filled);
  keep_listed(first_row);
  close_rows(first_row, rows);
}

void CellsBuilder::paint_lists(std::int64_t row, const std::vector<PaintedCells>& painted) {
  for (const std::size_t p : m_listed) {
    const auto begin = m_content.background[p].values.begin() + row * m_counts[0];
    for (const PaintedCells& cells : painted) std::fill_n(begin + cells.first, cells.count, cells.properties[p]);
  }
}

void CellsBuilder::add_cells(std::int64_t row, std::int64_t first, std::int64_t count, std::int32_t fill,
                             bool unlisted) {
  if (unlisted) add_run(first, count, fill);
  if (unlisted || m_listed.empty()) return;
  const auto has_mass = [&](std::int64_t i) {
    const auto cell = static_cast<std::size_t>(row * m_counts[0] + i);
    return std::any_of(m_listed.begin(), m_listed.end(),
                       [&](std::size_t p) { return m_content.background[p].values[cell] != 0; });
  };
  const std::int64_t end = first + count;
  for (std::int64_t i = first; i < end;) {
    const std::int64_t begin = i;
    while (i < end && has_mass(i)) ++i;
    add_run(begin, i - begin, fill);
    while (i < end && !has_mass(i)) ++i;
  }
}

void CellsBuilder::keep_listed(std::int64_t row) {
  for (const std::size_t p : m_listed) {
    double* const values = m_content.background[p].values.data();
    const double* const cells = values + row * m_counts[0];
    for (std::size_t r = 0; r < m_row.size(); ++r) {
      const std::int32_t next = r + 1 == m_row.size() ? m_row_prisms : m_row[r + 1].before;
      double* const to = values + m_content.size + m_row[r].before;
      if (to != cells + m_row[r].first) std::copy_n(cells + m_row[r].first, next - m_row[r].before, to);
    }
  }
}

void CellsBuilder::end_lists() {
  const auto kept = static_cast<std::size_t>(m_content.size);
  for (const std::size_t p : m_listed) {
    std::vector<double>& values = m_content.background[p].values;
    const std::size_t all = values.size();
    if (kept == all) continue;
    values.resize(kept);
    values.shrink_to_fit();
    m_content.peak_bytes = static_cast<std::int64_t>((m_listed.size() * all + kept) * sizeof(double));
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

void CellsBuilder::find_ranges() {
  PropertyRanges& ranges = m_content.ranges;
  const CellBackground& background = m_content.background;
  bool from_background = false;
  for (const CellRun& run : m_content.runs) {
    from_background = from_background || run.fill == CellRun::from_background;
    if (run.fill != CellRun::from_background) ranges.include(m_content.constants[static_cast<std::size_t>(run.fill)]);
  }
  Properties lowest = m_constants, highest = m_constants;
  for (std::size_t p = 0; p < lowest.size(); ++p) {
    if (background[p].kind != PropertyFill::Kind::random) continue;
    lowest[p] = background[p].range.min;
    highest[p] = background[p].range.max;
  }
  if (from_background) ranges.include(lowest);
  if (from_background) ranges.include(highest);
  // ranges of listed properties come from the lists
  PropertyRanges listed;
  for (std::int64_t i = 0; i < m_content.size && !m_listed.empty(); ++i) {
    Properties one{};
    for (const std::size_t p : m_listed) one[p] = background[p].values[static_cast<std::size_t>(i)];
    listed.include(one);
  }
  for (const std::size_t p : m_listed) ranges.of(p) = listed.of(p);
}

std::unique_ptr<Cells> CellsBuilder::build() {
  add_rows(m_counts[1] * m_counts[2], 0, {});
  end_lists();
  check_limits(m_content);
  m_content.runs.shrink_to_fit();
  m_content.groups.shrink_to_fit();
  find_bounds();
  find_ranges();
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
