// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "base/version.hpp"

namespace prismfield {
OutputField::OutputField(const ResultHeader& header, const Fields& result, Field field)
    : m_size(static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size())),
      m_factor(output_factor(field, header.axes)) {
  m_values = result.values.data() + result.fields.index_of(field) * m_size;
  if (!header.noise || header.noise->sigma.count(field) == 0) return;
  m_sigma = header.noise->sigma.at(field);
  m_seed = header.noise->seed;
  static_assert(n_known_fields <= 16, "each field has a random stream of its own");
  m_stream =
      static_cast<RandomStream>(static_cast<std::uint32_t>(RandomStream::noise) + static_cast<std::uint32_t>(field));
}

double OutputField::operator[](std::int64_t point) const {
  // Adding 0 turns the -0 of a flipped sign into 0.
  const double value = m_values[point] * m_factor + 0.0;
  if (m_sigma == 0) return value;
  // One rounding, so that every machine writes the same bits.
  return std::fma(m_sigma, random_normal(m_seed, m_stream, static_cast<std::uint64_t>(point)), value);
}

std::string history_line(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return fmt::format("{}: {}", text, command);
}

std::string source_line() { return fmt::format("prismfield {}", version_text); }

std::pair<double, double> range_of(const double* values, std::int64_t n) {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  for (std::int64_t i = 0; i < n; ++i) {
    minimum = std::fmin(minimum, values[i]);
    maximum = std::fmax(maximum, values[i]);
  }
  return {minimum, maximum};
}

FieldTable to_output_units(const Fields& result, Axes axes) {
  FieldTable table{result.fields, {}};
  table.values.reserve(result.values.size());
  ResultHeader header;
  header.axes = axes;
  for (const FieldInfo& field : result.fields) {
    const auto values = output_values(header, result, field.field);
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

std::vector<double> values_of(const PointVariable& variable, std::int64_t n_points) {
  std::vector<double> values(static_cast<std::size_t>(n_points));
  for (std::int64_t point = 0; point < n_points; ++point)
    values[static_cast<std::size_t>(point)] = variable.value(point);
  return values;
}

std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field) {
  const OutputField output(header, result, field);
  std::vector<double> values(static_cast<std::size_t>(output.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = output[static_cast<std::int64_t>(i)];
  return values;
}

}  // namespace prismfield
