// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>
#include <prismfield/value_range.hpp>

#include "model/properties.hpp"

// What is plausible of the numbers in cases and files: the one table of it, and the warnings of units that follow.

namespace prismfield {

/// What a number is of. `contrast` is a density that an inversion is bounded by or finds.
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
  height
};

/// A row of the table, in the unit of cases and output. Of a set of numbers the largest in size counts, of heights
/// each.
struct PlausibleRange {
  Quantity quantity;
  /// less is not worth a model or below what instruments resolve; more is nowhere on Earth
  double least, most;
  /// what is said of more than `most`: "more than any metal"
  const char* beyond = "";
  /// units that less than `least`, and more than `most`, may be in
  const char *less_in = "", *more_in = "";
  /// more is rare among rocks
  double common = most;
};
[[nodiscard]] const PlausibleRange& plausible(Quantity quantity) noexcept;
/// Of what an inversion solves for.
[[nodiscard]] const PlausibleRange& plausible(Unknown unknown) noexcept;

/// The larger size of the two.
[[nodiscard]] double largest_of(const Range& values) noexcept;
/// Whether there are numbers but 0, and none reaches the least that is plausible.
[[nodiscard]] bool are_tiny(const Range& values, const PlausibleRange& range) noexcept;

/// What a user should be told of a field that is at most `largest` in size, in the unit of the output: "gz is at most
/// 9.8e+05 mGal, more than anomalies have: is it in um/s2, or the whole field of the Earth? mGal is expected"; "" where
/// that is plausible.
[[nodiscard]] std::string field_warning(Field field, double largest);

/// What a user should be told of heights of ground, metres, that no ground on Earth has, behind "heights of "; "" where
/// there is nothing.
[[nodiscard]] std::string height_warning(const Range& heights);

/// The warning where the gravitational constant, m3 kg-1 s-2, is off by more than 1 %, as in units of cgs.
[[nodiscard]] std::vector<std::string> constant_warnings(double constant);

/// What a user should be told of a model with densities from min to max, kg/m3, that can hardly be in this unit.
/// `are_of_file`: they are not written in the case itself.
[[nodiscard]] std::vector<std::string> density_warnings(const Range& densities, bool are_of_file);

/// What is wrong with an inducing field's intensity, nT; "" when nothing is.
[[nodiscard]] std::string intensity_error(double intensity);
/// What a user should be told of susceptibilities that can hardly be in SI, or that are so large that the masses' own
/// fields count, unless these are taken into account, and of an inducing field that is none of the Earth's.
[[nodiscard]] std::vector<std::string> magnetic_warnings(const PropertyRanges& ranges, const Magnetic& magnetic,
                                                         bool demagnetizes);

}  // namespace prismfield
