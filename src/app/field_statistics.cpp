// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/field_statistics.hpp"
#include "io/cf_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace prismfield {
namespace {

/// Columns of the names, of a number, and the digits, which a sign, a point and an exponent come to.
struct StatisticsShape {
  int names = 10;
  int width = 15;
  int digits = 7;
};

/// `longest`: of the names. `columns`: of the terminal; 0: no limit.
StatisticsShape statistics_shape(std::size_t longest, std::size_t columns) {
  constexpr int units = 9, least = 9, around = 6;
  constexpr std::size_t most_columns = 1000;
  StatisticsShape shape;
  shape.names = std::max(shape.names, static_cast<int>(std::min(longest, most_columns)));
  if (columns == 0) return shape;
  const int room = (static_cast<int>(std::min(columns, most_columns)) - shape.names - units) / 3 - 1;
  shape.width = std::clamp(room, least, shape.width);
  shape.digits = std::min(shape.digits, shape.width - around);
  return shape;
}

std::string statistics_header(const StatisticsShape& shape) {
  return fmt::format("{:<{}} {:<8} {:>{}} {:>{}} {:>{}}\n", "field", shape.names, "unit", "minimum", shape.width,
                     "maximum", shape.width, "RMS", shape.width);
}

std::string statistics_row(std::string_view name, std::string_view unit, const double* values, std::int64_t n_points,
                           const StatisticsShape& shape) {
  const auto [minimum, maximum] = range_of(values, n_points);
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n_points; ++i) {
    if (std::isnan(values[i])) continue;
    squares += static_cast<long double>(values[i]) * values[i];
    ++count;
  }
  const std::string row = fmt::format("{:<{}} {:<8}", name, shape.names, unit);
  const int w = shape.width;
  const int d = shape.digits;
  if (count == 0) return fmt::format("{} {:>{}} {:>{}} {:>{}}\n", row, "-", w, "-", w, "-", w);
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  return fmt::format("{} {:>{}.{}g} {:>{}.{}g} {:>{}.{}g}\n", row, minimum, w, d, maximum, w, d, rms, w, d);
}

}  // namespace

std::string field_statistics(const FieldTable& table, std::int64_t n_points, std::size_t columns) {
  const StatisticsShape shape = statistics_shape(0, columns);
  std::string out = statistics_header(shape);
  for (const FieldInfo& field : table.fields) {
    out += statistics_row(field.name, field.unit, table.values.data() + table.fields.index_of(field.field) * n_points,
                          n_points, shape);
  }
  return out;
}

std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns) {
  std::size_t longest = 0;
  for (const PointVariable& variable : header.variables) longest = std::max(longest, variable.name.size());
  const StatisticsShape shape = statistics_shape(longest, columns);
  std::string out = statistics_header(shape);
  for (const FieldInfo& field : result.fields) {
    const auto values = output_values(header, result, field.field);
    out += statistics_row(field.name, field.unit, values.data(), static_cast<std::int64_t>(values.size()), shape);
  }
  const std::int64_t n_points = static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size());
  for (const PointVariable& variable : header.variables) {
    const std::vector<double> values = values_of(variable, n_points);
    out += statistics_row(variable.name, variable.unit, values.data(), n_points, shape);
  }
  return out;
}

}  // namespace prismfield
