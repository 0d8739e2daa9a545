// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <prismfield/communicator.hpp>

#include "base/limited_problems.hpp"
#include "base/random.hpp"
#include "io/text_table.hpp"

namespace prismfield {
namespace {

constexpr std::array<const char*, 3> direction_names = {"easting", "northing", "upward"};

std::string cell_name(const CellCounts& counts, std::int64_t cell) {
  return fmt::format("cell {} (easting {}, northing {}, upward {}, from 0)", cell, cell % counts[0],
                     cell / counts[0] % counts[1], cell / counts[0] / counts[1]);
}

/// Applies the file's unit and checks every density.
void to_kilograms(CellBackground& background, double to_si, const InputFile& file, const CellCounts& counts) {
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 0; i < background.densities.size(); ++i) {
    double& density = background.densities[i];
    density *= to_si;
    if (std::isfinite(density)) continue;
    limited.add("NaN or infinite densities", [&] {
      return Problem{file.path.string(), "density",
                     cell_name(counts, static_cast<std::int64_t>(i)) + " is NaN or infinite"};
    });
  }
  limited.finish();
  problems.throw_if_any();
}

CellBackground background_from_text(const InputFile& file, double to_si, const CellCounts& counts) {
  ProblemList problems;
  NumbersRequest request;
  request.count = counts[0] * counts[1] * counts[2];
  request.what = "density";
  Numbers numbers = read_numbers(file, request, problems);
  if (numbers.found != request.count) {
    problems.add(
        file.where, file.key,
        fmt::format("'{}' holds {} value{}, {} x {} x {} = {} cells need one each", file.path.string(), numbers.found,
                    numbers.found == 1 ? "" : "s", counts[0], counts[1], counts[2], request.count));
  }
  problems.throw_if_any();
  CellBackground background;
  background.kind = CellBackground::Kind::listed;
  background.densities = std::move(numbers.values);
  to_kilograms(background, to_si, file, counts);
  return background;
}

/// The numbering starts at the west, south, bottom corner: a file that carries coordinates running the other way would
/// be read upside down.
void check_ascending(const ArrayFile& arrays, const InputFile& file, const std::string& dataset,
                     const CellCounts& counts) {
  const std::vector<std::string> dimensions = arrays.dimension_names(dataset);
  if (dimensions.size() != 3) return;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string& name = dimensions[d];
    const std::size_t direction = 2 - d;
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != direction && name == direction_names[other]) {
        throw file.error(fmt::format("has {} of dimensions ({}); (upward, northing, easting) are needed", dataset,
                                     fmt::join(dimensions, ", ")));
      }
    }
    const std::string group = dataset.substr(0, dataset.find_last_of('/') + 1);
    if (name.empty() || !arrays.has(group + name)) continue;
    const std::vector<double> coordinates = arrays.read(group + name);
    if (coordinates.size() == static_cast<std::size_t>(counts[direction]) && coordinates.size() > 1 &&
        coordinates.front() > coordinates.back()) {
      throw file.error(
          fmt::format("has {} of coordinates {} that descend; cells are numbered from the west, south, "
                      "bottom corner",
                      dataset, name));
    }
  }
}

CellBackground background_from_arrays(const InputFile& file, const DensityFile& spec, const CellCounts& counts) {
  const ArrayFile arrays(file);
  const std::string name = spec.dataset.empty() ? "density" : spec.dataset;
  const std::string dataset = name.starts_with('/') ? name : "/" + name;
  if (!arrays.has(dataset)) {
    throw file.error(
        fmt::format("has no dataset {}; its datasets are: {}", dataset, fmt::join(arrays.dataset_names("/"), ", ")));
  }
  const std::vector<std::int64_t> shape = arrays.shape(dataset);
  const std::int64_t total = counts[0] * counts[1] * counts[2];
  const std::vector<std::int64_t> wanted = {counts[2], counts[1], counts[0]};
  if (shape != wanted && shape != std::vector<std::int64_t>{total}) {
    throw file.error(fmt::format("has {} of shape {}; (upward, northing, easting) = {} or ({}) is needed", dataset,
                                 shape_text(shape), shape_text(wanted), total));
  }
  if (shape.size() == 3) check_ascending(arrays, file, dataset, counts);
  CellBackground background;
  background.kind = CellBackground::Kind::listed;
  background.densities = arrays.read(dataset);
  to_kilograms(background, spec.to_si, file, counts);
  return background;
}

}  // namespace

std::int32_t Cells::run_end(const Group& group, std::int32_t run) const noexcept {
  const std::size_t i = group.first_run + static_cast<std::size_t>(run);
  const std::int32_t prisms_before_next = run + 1 < group.runs ? m_runs[i + 1].before : group.prisms_a_row;
  return m_runs[i].first + (prisms_before_next - m_runs[i].before);
}

void Cells::read(IndexRange range, PrismBlock& out) const {
  const auto [begin, end] = range;
  out.resize(range.size());
  if (begin >= end) return;
  const auto n_northing = static_cast<std::int64_t>(m_edges[1].size()) - 1;
  const auto n_easting = static_cast<std::int64_t>(m_edges[0].size()) - 1;
  auto group = std::upper_bound(m_groups.begin(), m_groups.end(), begin,
                                [](std::int64_t prism, const Group& g) { return prism < g.before; }) -
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
    const auto j = static_cast<std::size_t>(row_number % n_northing);
    const auto k = static_cast<std::size_t>(row_number / n_northing);
    const auto runs = m_runs.begin() + static_cast<std::ptrdiff_t>(group->first_run);
    std::int32_t run = 0;
    if (in_row > 0) {
      const auto behind =
          std::upper_bound(runs, runs + group->runs, in_row, [](std::int32_t p, const Run& r) { return p < r.before; });
      run = static_cast<std::int32_t>(behind - runs - 1);
    }
    for (; run < group->runs && prism < end; ++run) {
      const Run& r = runs[run];
      const std::int64_t first = r.first + (in_row - r.before);
      const std::int64_t count = std::min<std::int64_t>(run_end(*group, run) - first, end - prism);
      const std::int64_t at = prism - begin;
      const double* const edges = m_edges[0].data() + first;
      std::copy_n(edges, count, out.west.data() + at);
      std::copy_n(edges + 1, count, out.east.data() + at);
      std::fill_n(out.south.data() + at, count, m_edges[1][j]);
      std::fill_n(out.north.data() + at, count, m_edges[1][j + 1]);
      std::fill_n(out.bottom.data() + at, count, m_edges[2][k]);
      std::fill_n(out.top.data() + at, count, m_edges[2][k + 1]);
      double* const density = out.density.data() + at;
      if (r.fill != from_background) {
        std::fill_n(density, count, m_constants[static_cast<std::size_t>(r.fill)]);
      } else if (m_background.kind == CellBackground::Kind::listed) {
        std::copy_n(m_background.densities.data() + prism, count, density);
      } else {
        const std::int64_t cell = row_number * n_easting + first;
        fill_uniform(m_background.range.min, m_background.range.max, m_background.seed, RandomStream::cell_density,
                     static_cast<std::uint64_t>(cell), count, density);
      }
      prism += count;
      in_row += static_cast<std::int32_t>(count);
    }
    in_row = 0;
    ++row;
  }
}

bool Cells::uniform_shape() const noexcept {
  // as far apart as the rounding of coordinates leaves equal cells; the kernels decide for themselves
  constexpr double rounding = 1e-12;
  for (const std::vector<double>& edges : m_edges) {
    const double first = edges[1] - edges[0];
    for (std::size_t i = 1; i + 1 < edges.size(); ++i) {
      if (std::abs(edges[i + 1] - edges[i] - first) > rounding * first) return false;
    }
  }
  return true;
}

std::int64_t Cells::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + m_constants.capacity() * sizeof(double) +
                      m_background.densities.capacity() * sizeof(double) + m_runs.capacity() * sizeof(Run) +
                      m_groups.capacity() * sizeof(Group);
  for (const auto& edges : m_edges) bytes += edges.capacity() * sizeof(double);
  return static_cast<std::int64_t>(bytes);
}

std::string Cells::description() const {
  return fmt::format("{} {} x {} x {}, {} prism{} with density", m_kind, m_edges[0].size() - 1, m_edges[1].size() - 1,
                     m_edges[2].size() - 1, m_size, m_size == 1 ? "" : "s");
}

CellsBuilder::CellsBuilder(std::string kind, CellEdges edges, CellBackground background)
    : m_cells(std::make_unique<Cells>()) {
  for (std::size_t d = 0; d < 3; ++d) m_counts[d] = static_cast<std::int64_t>(edges[d].size()) - 1;
  m_cells->m_kind = std::move(kind);
  m_cells->m_edges = std::move(edges);
  m_cells->m_background = std::move(background);
}

std::int32_t CellsBuilder::constant(double density) {
  const auto [at, is_new] = m_constant_of.try_emplace(density, static_cast<std::int32_t>(m_cells->m_constants.size()));
  if (is_new) m_cells->m_constants.push_back(density);
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
    auto& groups = m_cells->m_groups;
    auto& runs = m_cells->m_runs;
    const auto alike = [&](const Cells::Group& group) {
      return group.prisms_a_row == m_row_prisms && group.runs == static_cast<std::int32_t>(m_row.size()) &&
             std::equal(m_row.begin(), m_row.end(), runs.begin() + static_cast<std::ptrdiff_t>(group.first_run),
                        [](const Cells::Run& a, const Cells::Run& b) {
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
          {first_row, rows, m_cells->m_size, first_run, static_cast<std::int32_t>(m_row.size()), m_row_prisms});
    }
    m_cells->m_size += rows * m_row_prisms;
  }
  m_row.clear();
  m_row_prisms = 0;
}

void CellsBuilder::add_rows(std::int64_t first_row, std::int64_t rows, const std::vector<PaintedCells>& painted) {
  CellBackground& background = m_cells->m_background;
  if (background.kind == CellBackground::Kind::listed) {
    for (std::int64_t row = first_row; row < first_row + rows; ++row) {
      for (const PaintedCells& cells : painted) {
        std::fill_n(background.densities.begin() + row * m_counts[0] + cells.first, cells.count, cells.density);
      }
    }
    return;
  }
  const bool empty = background.kind == CellBackground::Kind::constant && background.value == 0;
  const std::int32_t fill =
      empty || background.kind != CellBackground::Kind::constant ? Cells::from_background : constant(background.value);
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
  std::vector<double>& densities = m_cells->m_background.densities;
  std::size_t kept = 0;
  for (std::int64_t row = 0; row < m_counts[1] * m_counts[2]; ++row) {
    const double* const cells = densities.data() + row * m_counts[0];
    for (std::int64_t i = 0; i < m_counts[0];) {
      const std::int64_t first = i;
      while (i < m_counts[0] && cells[i] != 0) ++i;
      add_run(first, i - first, Cells::from_background);
      while (i < m_counts[0] && cells[i] == 0) ++i;
    }
    for (const Cells::Run& run : m_row) {
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
    m_cells->note_peak(static_cast<std::int64_t>((all + kept) * sizeof(double)));
  }
}

void CellsBuilder::find_bounds() {
  if (m_cells->m_groups.empty()) return;
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  std::int64_t i_min = far, i_max = -1, j_min = far, j_max = -1;
  for (const Cells::Group& group : m_cells->m_groups) {
    i_min = std::min<std::int64_t>(i_min, m_cells->m_runs[group.first_run].first);
    i_max = std::max<std::int64_t>(i_max, m_cells->run_end(group, group.runs - 1) - 1);
    const std::int64_t first = group.first_row % m_counts[1];
    const bool wraps = first + group.rows > m_counts[1];
    j_min = std::min(j_min, wraps ? 0 : first);
    j_max = std::max(j_max, wraps ? m_counts[1] - 1 : first + group.rows - 1);
  }
  const Cells::Group& last = m_cells->m_groups.back();
  const std::int64_t k_min = m_cells->m_groups.front().first_row / m_counts[1];
  const std::int64_t k_max = (last.first_row + last.rows - 1) / m_counts[1];
  const auto edge = [&](std::size_t direction, std::int64_t i) {
    return m_cells->m_edges[direction][static_cast<std::size_t>(i)];
  };
  m_cells->m_bounds = {edge(0, i_min),     edge(0, i_max + 1), edge(1, j_min),
                       edge(1, j_max + 1), edge(2, k_min),     edge(2, k_max + 1)};
}

std::unique_ptr<Cells> CellsBuilder::build() {
  if (m_cells->m_background.kind == CellBackground::Kind::listed) {
    add_listed_rows();
  } else {
    add_rows(m_counts[1] * m_counts[2], 0, {});
  }
  m_cells->m_runs.shrink_to_fit();
  m_cells->m_groups.shrink_to_fit();
  find_bounds();
  return std::move(m_cells);
}

std::unique_ptr<Ensemble> share_cells(std::unique_ptr<Ensemble> cells, const Communicator& communicator) {
  if (communicator.size() == 1) return cells;
  std::unique_ptr<Cells> shared;
  if (communicator.rank() == 0) {
    shared.reset(dynamic_cast<Cells*>(cells.release()));
  } else {
    shared = std::make_unique<Cells>();
  }
  broadcast(communicator, shared->m_kind);
  for (std::vector<double>& edges : shared->m_edges) broadcast(communicator, edges);
  broadcast(communicator, shared->m_background.kind);
  broadcast(communicator, shared->m_background.value);
  broadcast(communicator, shared->m_background.range);
  broadcast(communicator, shared->m_background.seed);
  broadcast(communicator, shared->m_background.densities);
  broadcast(communicator, shared->m_constants);
  broadcast(communicator, shared->m_runs);
  broadcast(communicator, shared->m_groups);
  broadcast(communicator, shared->m_size);
  broadcast(communicator, shared->m_bounds);
  broadcast(communicator, shared->m_warnings);
  return shared;
}

CellBackground cell_background(const Case& run, const std::string& key, const DensitySpec& spec,
                               const CellCounts& counts) {
  CellBackground background;
  if (const auto* constant = std::get_if<ConstantDensity>(&spec)) {
    background.value = constant->value;
  } else if (const auto* random = std::get_if<RandomDensity>(&spec)) {
    if (!(random->range.min <= random->range.max)) {
      throw InputError(run.where(key + ".random"), key + ".random", "the first density is above the second");
    }
    if (random->range.min == random->range.max) {
      background.value = random->range.min;
    } else {
      background.kind = CellBackground::Kind::random;
      background.range = random->range;
      background.seed = random->seed;
    }
  } else {
    const auto& from_file = std::get<DensityFile>(spec);
    const InputFile file = input_file(run, from_file.file, key + ".file");
    background = is_array_file(file) ? background_from_arrays(file, from_file, counts)
                                     : background_from_text(file, from_file.to_si, counts);
  }
  return background;
}

void check_cell_counts(const CellCounts& counts, const std::string& where, const std::string& key) {
  double total = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (counts[d] < 1 || counts[d] > most_cells_in_a_direction) {
      throw InputError(
          where, key + "." + direction_names[d],
          fmt::format("{} cells; 1 to {} are allowed in one direction", counts[d], most_cells_in_a_direction));
    }
    total *= static_cast<double>(counts[d]);
  }
  if (total > 0x1p62) throw InputError(where, key, fmt::format("{:.3g} cells; at most 4.6e18 are allowed", total));
}

}  // namespace prismfield
