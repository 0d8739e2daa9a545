// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/prisms.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <prismfield/error.hpp>

#include "base/limited_problems.hpp"

namespace prismfield {

void PrismBlock::resize(std::int64_t n) {
  for (auto* column : {&west, &east, &south, &north, &bottom, &top, &density}) {
    column->resize(static_cast<std::size_t>(n));
  }
}

namespace {

struct NamedColumn {
  const char* name;
  std::span<const double> values;
};

std::array<NamedColumn, 7> named(const PrismColumns& columns) {
  return {{{"west", columns.west},
           {"east", columns.east},
           {"south", columns.south},
           {"north", columns.north},
           {"bottom", columns.bottom},
           {"top", columns.top},
           {"density", columns.density}}};
}

void check_lengths(const PrismColumns& columns) {
  ProblemList problems;
  for (const NamedColumn& column : named(columns)) {
    if (column.values.size() == columns.west.size()) continue;
    problems.add(
        "", column.name,
        fmt::format("has {} values, west has {}; one a prism is needed", column.values.size(), columns.west.size()));
  }
  problems.throw_if_any();
}

void check_values(const PrismColumns& columns) {
  ProblemList problems;
  LimitedProblems limited(problems, "prisms");
  const auto all = named(columns);
  for (std::size_t i = 0; i < columns.west.size(); ++i) {
    for (const NamedColumn& column : all) {
      if (std::isfinite(column.values[i])) continue;
      limited.add("NaN or infinite values", [&] {
        return Problem{fmt::format("prism {}", i), column.name, "is NaN or infinite"};
      });
    }
    for (std::size_t low = 0; low < 6; low += 2) {
      const NamedColumn& from = all[low];
      const NamedColumn& to = all[low + 1];
      if (!(to.values[i] <= from.values[i])) continue;
      limited.add("inverted or flat prisms", [&] {
        return Problem{fmt::format("prism {}", i), from.name,
                       fmt::format("{} is not below {} {}", from.values[i], to.name, to.values[i])};
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
  if (columns.west.empty()) return;
  const auto least = [](std::span<const double> values) { return *std::min_element(values.begin(), values.end()); };
  const auto greatest = [](std::span<const double> values) { return *std::max_element(values.begin(), values.end()); };
  m_bounds = {least(columns.west),     greatest(columns.east), least(columns.south),
              greatest(columns.north), least(columns.bottom),  greatest(columns.top)};
}

void PrismList::read(IndexRange range, PrismBlock& out) const {
  if (!readable().contains(range)) {
    throw RunError(fmt::format("prisms {} to {} of {} were asked for", range.begin, range.end, size()));
  }
  const auto n = static_cast<std::size_t>(range.size());
  const auto copy = [&](std::span<const double> from, std::vector<double>& to) {
    const auto part = from.subspan(static_cast<std::size_t>(range.begin), n);
    to.assign(part.begin(), part.end());
  };
  copy(m_columns.west, out.west);
  copy(m_columns.east, out.east);
  copy(m_columns.south, out.south);
  copy(m_columns.north, out.north);
  copy(m_columns.bottom, out.bottom);
  copy(m_columns.top, out.top);
  copy(m_columns.density, out.density);
}

}  // namespace prismfield
