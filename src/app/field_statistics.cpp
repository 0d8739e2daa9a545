// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/field_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace prismfield {
namespace {

constexpr std::size_t least_width = 10;

/// `width`: of the names.
std::string statistics_header(std::size_t width = least_width) {
  return fmt::format("{:<{}} {:<8} {:>15} {:>15} {:>15}\n", "field", width, "unit", "minimum", "maximum", "RMS");
}

std::string statistics_row(std::string_view name, std::string_view unit, const double* values, std::int64_t n_points,
                           std::size_t width = least_width) {
  const auto [minimum, maximum] = range_of(values, n_points);
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n_points; ++i) {
    if (std::isnan(values[i])) continue;
    squares += static_cast<long double>(values[i]) * values[i];
    ++count;
  }
  const std::string row = fmt::format("{:<{}} {:<8}", name, width, unit);
  if (count == 0) return fmt::format("{} {:>15} {:>15} {:>15}\n", row, "-", "-", "-");
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  return fmt::format("{} {:>15.7g} {:>15.7g} {:>15.7g}\n", row, minimum, maximum, rms);
}

}  // namespace

std::string field_statistics(const FieldTable& table, std::int64_t n_points) {
  std::string out = statistics_header();
  for (const FieldInfo& field : field_infos) {
    if (!table.fields.contains(field.field)) continue;
    out += statistics_row(field.name, field.unit, table.values.data() + table.fields.index_of(field.field) * n_points,
                          n_points);
  }
  return out;
}

std::string field_statistics(const ResultHeader& header, const Fields& result) {
  std::size_t width = least_width;
  for (const PointVariable& variable : header.variables) width = std::max(width, variable.name.size());
  std::string out = statistics_header(width);
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = output_values(header, result, field.field);
    out += statistics_row(field.name, field.unit, values.data(), static_cast<std::int64_t>(values.size()), width);
  }
  const std::int64_t n_points = static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size());
  for (const PointVariable& variable : header.variables) {
    const std::vector<double> values = values_of(variable, n_points);
    out += statistics_row(variable.name, variable.unit, values.data(), n_points, width);
  }
  return out;
}

}  // namespace prismfield
