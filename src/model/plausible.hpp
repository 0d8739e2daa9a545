// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/value_range.hpp>

#include "model/properties.hpp"

// The one table of plausible numbers in cases and files, and the warnings about units that follow from it.

namespace prismfield {

/// The quantity of a number. `contrast`: a density that an inversion finds or is bounded by.
enum class Quantity {
  density,
  contrast,
  susceptibility,
  magnetization,
  acceleration,
  gradient,
  flux_density,
  flux_gradient,
  inducing_field,
  height,
  station
};

/// A row of the table, in the unit of cases and output. The number of largest magnitude in a set decides, but each of a
/// set of heights.
struct PlausibleRange {
  Quantity quantity;
  /// below `least`: not worth a model or not resolved by instruments; above `most`: nowhere on Earth
  double least, most;
  /// remark on numbers above `most`: "more than any metal"
  const char* beyond = "";
  /// units in which numbers below `least`, and above `most`, may be
  const char *less_in = "", *more_in = "";
  /// larger numbers are rare among rocks
  double common = most;
};
[[nodiscard]] const PlausibleRange& plausible(Quantity quantity) noexcept;
/// The row for an inversion's unknown.
[[nodiscard]] const PlausibleRange& plausible(Unknown unknown) noexcept;

/// The larger magnitude of the two ends.
[[nodiscard]] double largest_of(const Range& values) noexcept;
/// Whether some numbers are not 0 but all are below the least plausible one.
[[nodiscard]] bool are_tiny(const Range& values, const PlausibleRange& range) noexcept;

/// The warning for a field with this largest magnitude, in the unit of the output: "gz is at most 9.8e+05 mGal, more
/// than anomalies have: is it in um/s2, or the whole field of the Earth? mGal is expected"; "" for a plausible field.
[[nodiscard]] std::string field_warning(Field field, double largest);

/// The warning for heights of ground, metres, that occur nowhere on Earth, to follow "heights of "; "" for plausible
/// ones.
[[nodiscard]] std::string height_warning(const Range& heights);
/// The same for points, as high as aircraft, or all higher, as satellites. `above_ground`: the points are so many
/// metres above a surface; unset: anywhere.
[[nodiscard]] std::string point_height_warning(const Bounds& points, std::optional<double> above_ground = {});

/// The warning for a gravitational constant, m3 kg-1 s-2, that is off by more than 1 %, as in cgs units.
[[nodiscard]] std::vector<std::string> constant_warnings(double constant);

/// Warnings for a model with densities, kg/m3, that suggest another unit. `are_of_file`: they come from a file, not
/// from the case itself.
[[nodiscard]] std::vector<std::string> density_warnings(const Range& densities, bool are_of_file);

/// The error for an inducing field's intensity, nT; "" for a valid one.
[[nodiscard]] std::string intensity_error(double intensity);
/// Warnings for susceptibilities that suggest another unit than SI or, unless `demagnetizes`, for large ones that make
/// demagnetisation count, and for an inducing field unlike the Earth's.
[[nodiscard]] std::vector<std::string> magnetic_warnings(const PropertyRanges& ranges, const Magnetic& magnetic,
                                                         bool demagnetizes);

}  // namespace prismfield
