// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>

namespace prismfield {

/// Relative differences (a - b) / |b| counted by sign and decade, as in Moorkamp et al. 2010, Fig. 6.
struct RelativeHistogram {
  /// sizes below 10^lowest and from 10^highest on share the outermost decades; a value that differs where the reference
  /// is 0 counts in the highest
  static constexpr int lowest = -16;
  static constexpr int highest = 0;
  static constexpr std::size_t n_decades = highest - lowest + 2;

  /// [0]: sizes below 10^lowest; [i]: from 10^(lowest + i - 1) to 10^(lowest + i); the last one is open
  std::array<std::int64_t, n_decades> negative{};
  std::array<std::int64_t, n_decades> positive{};
  std::int64_t equal = 0;

  void add(double a, double b);
};

/// How one field of A differs from that of B, the reference, over the points that both have. Units are the file's.
struct FieldComparison {
  Field field{};
  std::string unit;
  /// values compared: points where both files have a number
  std::int64_t compared = 0;
  /// points where both have NaN, which counts as equal
  std::int64_t both_nan = 0;
  /// points where one file alone has NaN, which no tolerance allows
  std::int64_t one_nan = 0;
  /// sqrt(mean |a - b|^2), Couder-Castaneda et al. 2013, eq. 12
  double rms_difference = 0;
  double largest_difference = 0;
  /// largest finite |b|
  double largest_reference = 0;
  /// largest_difference / largest_reference; infinite where a differs from a reference that is 0 everywhere
  double relative = 0;
  /// easting, northing, upward of the largest difference, m
  std::array<double, 3> where{};
  RelativeHistogram histogram;
};

struct Comparison {
  std::filesystem::path a, b;
  /// points that both files have
  std::int64_t points = 0;
  std::vector<FieldComparison> fields;
  /// What no tolerance allows, one sentence each: a field or point missing in one file, different coordinates, units
  /// or axes, NaN in one file only.
  std::vector<std::string> disagreements;
  /// Why the comparison means little, one sentence: no point or no field in common, or more than half of a file's
  /// points without a partner; "" otherwise.
  std::string too_little;
  /// points matched by easting and northing alone: how far their heights differ, one sentence; else ""
  std::string heights;
  /// values of either file that are dummies and compared as NaN
  std::vector<std::string> notes;
};

/// What makes a point of A and one of B the same.
enum class PointMatch {
  /// easting, northing and upward
  places,
  /// easting and northing alone
  horizontal
};

/// A field of a survey, in the unit of the output where it can be made so; "" where the file does not say.
struct SurveyField {
  std::vector<double> values;
  std::string unit, axes;
  /// of values that are dummies, which are NaN here; else ""
  std::string note;
};

/// A result to be compared: places and what reads its fields, one at a time.
struct Survey {
  std::filesystem::path file;
  /// grid nodes along easting and northing, or one value a station
  std::vector<double> easting, northing;
  /// one value a point; empty when there is none
  std::vector<double> upward;
  bool is_grid = false;
  FieldList fields;
  /// calls of a field that it has
  std::function<SurveyField(Field)> read;
  /// of dummies that are known before a field is read
  std::vector<std::string> notes;

  [[nodiscard]] std::size_t size() const { return is_grid ? easting.size() * northing.size() : easting.size(); }
  [[nodiscard]] std::array<double, 3> point(std::size_t i) const;
};

/// Compares the fields of two results, B being the reference. Points are matched by their order when coordinates agree
/// to rounding (1e-12 of the largest), else one by one by equal coordinates. Throws InputError for `horizontal` where
/// two points of a survey have the same easting and northing, and what reading fields throws.
[[nodiscard]] Comparison compare(const Survey& a, const Survey& b, PointMatch match = PointMatch::places);

/// True when nothing disagrees and max|a-b| / max|b| is at most `tolerance` for every field.
[[nodiscard]] bool within(const Comparison& comparison, double tolerance);

/// The text for the terminal: a table of the fields, the histogram, what disagrees, and the verdict when there is a
/// tolerance.
[[nodiscard]] std::string report(const Comparison& comparison, std::optional<double> tolerance);

}  // namespace prismfield
