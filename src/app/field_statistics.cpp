// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/field_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismfield {
namespace {

/// Columns of a number and its digits, which a sign, a point and an exponent come to.
struct NumberShape {
  int width = 15;
  int digits = 7;
};

NumberShape number_shape(std::size_t columns) {
  constexpr int names = 19, least = 9, around = 6, most_columns = 1000;
  NumberShape shape;
  if (columns == 0) return shape;
  const int room = (static_cast<int>(std::min<std::size_t>(columns, most_columns)) - names) / 3 - 1;
  shape.width = std::clamp(room, least, shape.width);
  shape.digits = std::min(shape.digits, shape.width - around);
  return shape;
}

std::string statistics_header(NumberShape shape) {
  return fmt::format("{:<10} {:<8} {:>{}} {:>{}} {:>{}}\n", "field", "unit", "minimum", shape.width, "maximum",
                     shape.width, "RMS", shape.width);
}

std::string statistics_row(const FieldInfo& field, const double* values, std::int64_t n_points, NumberShape shape) {
  const auto [minimum, maximum] = range_of(values, n_points);
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n_points; ++i) {
    if (std::isnan(values[i])) continue;
    squares += static_cast<long double>(values[i]) * values[i];
    ++count;
  }
  const std::string row = fmt::format("{:<10} {:<8}", field.name, field.unit);
  const int w = shape.width;
  const int d = shape.digits;
  if (count == 0) return fmt::format("{} {:>{}} {:>{}} {:>{}}\n", row, "-", w, "-", w, "-", w);
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  return fmt::format("{} {:>{}.{}g} {:>{}.{}g} {:>{}.{}g}\n", row, minimum, w, d, maximum, w, d, rms, w, d);
}

}  // namespace

std::string field_statistics(const FieldTable& table, std::int64_t n_points, std::size_t columns) {
  const NumberShape shape = number_shape(columns);
  std::string out = statistics_header(shape);
  for (const FieldInfo& field : field_infos) {
    if (!table.fields.contains(field.field)) continue;
    out += statistics_row(field, table.values.data() + table.fields.index_of(field.field) * n_points, n_points, shape);
  }
  return out;
}

std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns) {
  const NumberShape shape = number_shape(columns);
  std::string out = statistics_header(shape);
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = output_values(header, result, field.field);
    out += statistics_row(field, values.data(), static_cast<std::int64_t>(values.size()), shape);
  }
  return out;
}

}  // namespace prismfield
