// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>

namespace prismfield {

/// Measurements: fields at points with their standard deviations.
struct DataSet {
  /// what messages and files call it: the file's name without folders
  std::string name;
  Points points;
  FieldList fields;
  /// (field, point) in the order of `fields`, SI units, z up
  std::vector<double> values;
  /// the same, above 0
  std::vector<double> sigma;

  [[nodiscard]] std::int64_t size() const noexcept { return fields.size() * points.size(); }
};

}  // namespace prismfield
