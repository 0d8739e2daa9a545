// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/field_statistics.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismfield {
namespace {

std::string statistics_header() {
  return fmt::format("{:<10} {:<8} {:>15} {:>15} {:>15}\n", "field", "unit", "minimum", "maximum", "RMS");
}

std::string statistics_row(const FieldInfo& field, const double* values, std::int64_t n_points) {
  const auto [minimum, maximum] = range_of(values, n_points);
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n_points; ++i) {
    if (std::isnan(values[i])) continue;
    squares += static_cast<long double>(values[i]) * values[i];
    ++count;
  }
  const std::string row = fmt::format("{:<10} {:<8}", field.name, field.unit);
  if (count == 0) return fmt::format("{} {:>15} {:>15} {:>15}\n", row, "-", "-", "-");
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  return fmt::format("{} {:>15.7g} {:>15.7g} {:>15.7g}\n", row, minimum, maximum, rms);
}

}  // namespace

std::string field_statistics(const FieldTable& table, std::int64_t n_points) {
  std::string out = statistics_header();
  for (const FieldInfo& field : field_infos) {
    if (!table.fields.contains(field.field)) continue;
    out += statistics_row(field, table.values.data() + table.fields.index_of(field.field) * n_points, n_points);
  }
  return out;
}

std::string field_statistics(const ResultHeader& header, const Fields& result) {
  std::string out = statistics_header();
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = output_values(header, result, field.field);
    out += statistics_row(field, values.data(), static_cast<std::int64_t>(values.size()));
  }
  return out;
}

}  // namespace prismfield
