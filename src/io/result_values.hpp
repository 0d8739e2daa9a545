// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/result.hpp>

#include "io/noise.hpp"

namespace prismfield {

/// What a result says of the run that made it.
struct ResultHeader {
  /// where the result goes
  std::filesystem::path file;
  std::string title;
  /// the command line's words for the history, e.g. "prismfield run seven_spheres.yaml"
  std::string command;
  Axes axes = Axes::z_down;
  double gravitational_constant = 0;
  /// the YAML as run
  std::string case_text;
  std::optional<NoiseSpec> noise;
};

/// A result as written: units and axes of the output.
struct FieldTable {
  FieldList fields;
  /// (field, point) in the order of `fields`, output units and axes
  std::vector<double> values;
};

/// Applies axes and units of the output to a result.
[[nodiscard]] FieldTable to_output_units(const Fields& result, Axes axes);

/// One field as write_result writes it: units and axes of the output, the noise added. The normal deviates
/// depend on seed, field and point number only, so that the other fields of a run never change them.
[[nodiscard]] std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field);

/// Smallest and largest of the values that are numbers; the first is the larger when there is none.
[[nodiscard]] std::pair<double, double> range_of(const double* values, std::int64_t n);

}  // namespace prismfield
