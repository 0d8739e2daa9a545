// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>

namespace prismfield {

/// Measurements: fields at points with standard deviations. invert() and its callers use it.
struct DataSet {
  /// name in messages and files: the file's name without folders
  std::string name;
  Points points;
  FieldList fields;
  /// (field, point) in the order of `fields`, SI units, z up
  std::vector<double> values;
  /// standard deviations of `values`, above 0
  std::vector<double> sigma;
  /// whether nothing states sigma, so that it is 1 mGal, Eotvos or m2/s2 and misfits have no meaning
  bool sigma_is_unknown = false;
  /// line of each point in its text file, from 1; empty: there is no text file
  std::vector<std::int64_t> lines;

  [[nodiscard]] std::int64_t size() const noexcept { return fields.size() * points.size(); }
};

/// Root mean square of values over sigma; infinite where sigma is unknown.
[[nodiscard]] inline double signal_to_noise(const DataSet& data) noexcept {
  if (data.sigma_is_unknown) return std::numeric_limits<double>::infinity();
  double squares = 0;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    squares += data.values[i] / data.sigma[i] * (data.values[i] / data.sigma[i]);
  }
  return std::sqrt(squares / static_cast<double>(data.values.size()));
}

/// The number of epochs; one where `names` is empty.
[[nodiscard]] inline std::int64_t epoch_count(const std::vector<std::string>& names) noexcept {
  return names.empty() ? 1 : static_cast<std::int64_t>(names.size());
}

}  // namespace prismfield
