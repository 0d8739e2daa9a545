// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace prismfield {
namespace {

/// One field of a result in the units and axes of the output.
std::vector<double> converted(const Fields& result, Field field, Axes axes) {
  const auto n_points = static_cast<std::ptrdiff_t>(result.values.size()) / std::max(1, result.fields.size());
  const auto begin = result.values.begin() + result.fields.index_of(field) * n_points;
  std::vector<double> values(begin, begin + n_points);
  const double factor = output_factor(field, axes);
  // Adding 0 turns the -0 of a flipped sign into 0.
  for (double& value : values) value = value * factor + 0.0;
  return values;
}

}  // namespace

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
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = converted(result, field.field, axes);
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field) {
  std::vector<double> values = converted(result, field, header.axes);
  if (!header.noise || header.noise->sigma.count(field) == 0) return values;
  const double sigma = header.noise->sigma.at(field);
  const auto stream =
      static_cast<RandomStream>(static_cast<std::uint32_t>(RandomStream::noise) + static_cast<std::uint32_t>(field));
  // One rounding, so that every machine writes the same bits.
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::fma(sigma, random_normal(header.noise->seed, stream, i), values[i]);
  }
  return values;
}

}  // namespace prismfield
