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

using Spans = std::array<std::span<const double>, prism_columns.size()>;

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

bool has_magnetization(const PrismColumns& columns) {
  return std::ranges::any_of(columns.magnetization, [](const auto& component) { return !component.empty(); });
}

/// The columns in the order of their names.
Spans spans_of(const PrismColumns& columns) {
  return {columns.west, columns.east, columns.south, columns.north, columns.bottom, columns.top, columns.density};
}

void check_lengths(const PrismColumns& columns) {
  ProblemList problems;
  const Spans all = spans_of(columns);
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (all[c].size() == columns.west.size()) continue;
    problems.add("", prism_columns[c],
                 fmt::format("has {} values, west has {}; one a prism is needed", all[c].size(), columns.west.size()));
  }
  for (std::size_t d = 0; d < 3 && has_magnetization(columns); ++d) {
    const std::size_t n = columns.magnetization[d].size();
    if (n == columns.west.size()) continue;
    problems.add("", magnetization_columns[d],
                 fmt::format("has {} values, west has {}; one a prism is needed", n, columns.west.size()));
  }
  problems.throw_if_any();
}

void check_values(const PrismColumns& columns) {
  ProblemList problems;
  LimitedProblems limited(problems, "prisms");
  const Spans all = spans_of(columns);
  for (std::size_t i = 0; i < columns.west.size(); ++i) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      const bool is_density = c == 6;
      if (std::abs(all[c][i]) <= (is_density ? max_density : max_coordinate)) continue;
      const bool finite = std::isfinite(all[c][i]);
      limited.add(finite ? "values beyond the limits" : "NaN or infinite values", [&] {
        return Problem{fmt::format("prism {}", i), prism_columns[c],
                       !finite      ? "is NaN or infinite"
                       : is_density ? beyond_densities()
                                    : beyond_coordinates()};
      });
    }
    for (std::size_t d = 0; d < 3 && has_magnetization(columns); ++d) {
      const double value = columns.magnetization[d][i];
      if (std::abs(value) <= max_density) continue;
      limited.add(std::isfinite(value) ? "values beyond the limits" : "NaN or infinite values", [&] {
        return Problem{fmt::format("prism {}", i), magnetization_columns[d],
                       std::isfinite(value) ? beyond_magnetizations() : "is NaN or infinite"};
      });
    }
    std::array<double, 7> prism{};
    for (std::size_t c = 0; c < all.size(); ++c) prism[c] = all[c][i];
    const bool has_size = prism[0] < prism[1] && prism[2] < prism[3] && prism[4] < prism[5];
    if (has_size && is_too_small(prism)) {
      limited.add("prisms that are too small", [&] {
        return Problem{fmt::format("prism {}", i), "", below_longest_edge()};
      });
    }
    for (std::size_t low = 0; low < 6; low += 2) {
      const double from = all[low][i];
      const double to = all[low + 1][i];
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
  check_lengths(columns);
  check_values(columns);
  if (!columns.west.empty()) m_bounds = bounds_of(columns);
}

void PrismList::read(IndexRange range, PrismBlock& out) const {
  if (!readable().contains(range)) {
    throw RunError(fmt::format("prisms {} to {} of {} were asked for", range.begin, range.end, size()));
  }
  const auto begin = static_cast<std::size_t>(range.begin);
  const auto n = static_cast<std::size_t>(range.size());
  const Spans from = spans_of(m_columns);
  const auto to = columns_of(out);
  for (std::size_t c = 0; c < from.size(); ++c) {
    const auto part = from[c].subspan(begin, n);
    to[c]->assign(part.begin(), part.end());
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const auto part = is_magnetized() ? m_columns.magnetization[d].subspan(begin, n) : std::span<const double>();
    out.magnetization[d].assign(part.begin(), part.end());
  }
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
  if (blocks() > 1 && !prisms.readable().contains({0, prisms.size()})) {
    throw InputError("", "prisms", "are spread over ranks; columns of several magnetisations need all on each rank");
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
  if (!readable().contains(range)) {
    throw RunError(fmt::format("prisms {} to {} of {} were asked for", range.begin, range.end, size()));
  }
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
