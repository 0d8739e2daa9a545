// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/prisms.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/limited_problems.hpp"
#include "model/prism_check.hpp"

namespace prismfield {

void PrismBlock::resize(std::int64_t n) {
  for (auto* column : columns_of(*this)) column->resize(static_cast<std::size_t>(n));
}
void PrismBlock::magnetize(std::int64_t n) {
  for (auto& component : magnetization) component.resize(static_cast<std::size_t>(n));
}

namespace {

/// In the order of a list; that of the susceptibility, and those of the magnetisation where there is none, are empty.
using Spans = std::array<std::span<const double>, n_list_columns>;

/// Adds prisms behind those of a block, both with magnetisation.
void append(const PrismBlock& more, PrismBlock& out) {
  const auto to = columns_of(out);
  const auto from = columns_of(more);
  for (std::size_t c = 0; c < to.size(); ++c) to[c]->insert(to[c]->end(), from[c]->begin(), from[c]->end());
  for (std::size_t d = 0; d < 3; ++d) {
    auto& component = out.magnetization[d];
    component.insert(component.end(), more.magnetization[d].begin(), more.magnetization[d].end());
  }
}

Spans spans_of(const PrismColumns& columns) {
  const auto& [e, n, u] = columns.magnetization;
  return {columns.west,
          columns.east,
          columns.south,
          columns.north,
          columns.bottom,
          columns.top,
          columns.density,
          {},
          e,
          n,
          u};
}

void check_lengths(const Spans& all) {
  ProblemList problems;
  constexpr std::size_t n_needed = n_face_columns + 1, first_component = n_face_columns + magnetization_property;
  const bool is_magnetized =
      std::any_of(all.begin() + first_component, all.end(), [](const auto& column) { return !column.empty(); });
  for (std::size_t c = 0; c < all.size(); ++c) {
    const bool is_needed = c < n_needed || (is_magnetized && c >= first_component);
    if (!is_needed || all[c].size() == all[0].size()) continue;
    problems.add("", list_column(c),
                 fmt::format("has {} values, west has {}; one a prism is needed", all[c].size(), all[0].size()));
  }
  problems.throw_if_any();
}

void check_values(const Spans& all) {
  ProblemList problems;
  LimitedProblems limited(problems, "prisms");
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (all[c].empty()) continue;
      const std::string error = column_error(c, all[c][i]);
      if (error.empty()) continue;
      limited.add(std::isfinite(all[c][i]) ? "values beyond the limits" : "NaN or infinite values", [&] {
        return Problem{fmt::format("prism {}", i), list_column(c), error};
      });
    }
    std::array<double, n_face_columns> prism{};
    for (std::size_t c = 0; c < prism.size(); ++c) prism[c] = all[c][i];
    const bool has_size = prism[0] < prism[1] && prism[2] < prism[3] && prism[4] < prism[5];
    if (has_size && is_too_small(prism)) {
      limited.add("prisms that are too small", [&] {
        return Problem{fmt::format("prism {}", i), "", below_longest_edge()};
      });
    }
    for (std::size_t low = 0; low < prism.size(); low += 2) {
      const double from = prism[low], to = prism[low + 1];
      if (!(to <= from)) continue;
      limited.add("inverted or flat prisms", [&] {
        return Problem{fmt::format("prism {}", i), prism_columns[low],
                       fmt::format("{} is not below {} {}", from, prism_columns[low + 1], to)};
      });
    }
  }
  limited.finish();
  problems.throw_if_any();
}

}  // namespace

PrismList::PrismList(const PrismColumns& columns) : m_columns(columns) {
  const Spans all = spans_of(columns);
  check_lengths(all);
  check_values(all);
  if (columns.west.empty()) return;
  m_bounds = bounds_of(columns);
  m_is_one_shape = edge_ranges_of(columns).is_one_shape();
}

void PrismSource::require_within(IndexRange range) const {
  if (!IndexRange{0, size()}.contains(range)) {
    throw RunError(fmt::format("prisms {} to {} of {} were asked for", range.begin, range.end, size()));
  }
}

void PrismList::read(IndexRange range, PrismBlock& out) const {
  require_within(range);
  const auto begin = static_cast<std::size_t>(range.begin);
  const auto n = static_cast<std::size_t>(range.size());
  const auto part = [&](std::span<const double> from, std::vector<double>& to) {
    const auto all = from.empty() ? from : from.subspan(begin, n);
    to.assign(all.begin(), all.end());
  };
  const Spans from = spans_of(m_columns);
  const auto to = columns_of(out);
  for (std::size_t c = 0; c < to.size(); ++c) part(from[c], *to[c]);
  for (std::size_t d = 0; d < 3; ++d) part(m_columns.magnetization[d], out.magnetization[d]);
}

namespace {

void check_magnetization(std::size_t direction, double value) {
  if (std::abs(value) <= max_density) return;
  throw InputError("", magnetization_columns[direction], property_error(magnetization_property, value));
}

}  // namespace

MagnetizedPrisms::MagnetizedPrisms(const PrismSource& prisms, std::array<std::vector<double>, 3> of_each)
    : m_prisms(prisms), m_of_each(std::move(of_each)) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& component = m_of_each[d];
    if (std::ssize(component) != size()) {
      throw InputError("", magnetization_columns[d],
                       fmt::format("has {} values for {} prisms", component.size(), size()));
    }
    for (const double value : component) check_magnetization(d, value);
  }
}

MagnetizedPrisms::MagnetizedPrisms(const PrismSource& prisms, std::vector<std::array<double, 3>> magnetizations)
    : m_prisms(prisms), m_magnetizations(std::move(magnetizations)) {
  for (const std::array<double, 3>& magnetization : m_magnetizations) {
    for (std::size_t d = 0; d < 3; ++d) check_magnetization(d, magnetization[d]);
  }
}

void MagnetizedPrisms::read(IndexRange range, PrismBlock& out) const {
  if (m_magnetizations.empty()) {
    m_prisms.read(range, out);
    for (std::size_t d = 0; d < 3 && !m_of_each[0].empty(); ++d) {
      const auto first = m_of_each[d].begin();
      out.magnetization[d].assign(first + range.begin, first + range.end);
    }
    return;
  }
  require_within(range);
  const std::int64_t n = m_prisms.size();
  out.resize(0);
  out.magnetize(0);
  PrismBlock more;
  for (std::int64_t k = 0; k < blocks(); ++k) {
    const IndexRange part = common(range, {k * n, (k + 1) * n});
    if (part.size() == 0) continue;
    PrismBlock& to = out.size() == 0 ? out : more;
    m_prisms.read({part.begin - k * n, part.end - k * n}, to);
    for (std::size_t d = 0; d < 3; ++d) {
      to.magnetization[d].assign(to.west.size(), m_magnetizations[static_cast<std::size_t>(k)][d]);
    }
    if (&to == &more) append(more, out);
  }
}

}  // namespace prismfield
