// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace prismfield {

// Numbers in cases, tables, meshes and options have one syntax: an optional sign, decimal digits with at most one
// point, and an optional exponent. The exponent is e or E with digits, or D with sign and digits as Fortran writes it.
// Numbers: 12, -.5, +3., 1.5e-3, 1.5D+03. Not numbers: a second sign, 0x10, 1_000, 1,5, 1e, 1.5d3, 1/3, digits of other
// scripts. The locale has no effect.

enum class NumberStatus { ok, no_number, too_large };

/// Reads a number at `at` and moves `at` past it. Blanks are not skipped. A value too small for double is 0. nan and
/// inf count as numbers; callers check where they need finite ones.
[[nodiscard]] NumberStatus parse_number(const char*& at, const char* end, double& value) noexcept;

/// Reads a text that consists of one number.
[[nodiscard]] NumberStatus parse_number(std::string_view text, double& value) noexcept;

/// Whether a value is a usual mark for a missing one: -9999, 99999, -999.25, -9999.99, -32768 and the like, or 1e20 and
/// beyond.
[[nodiscard]] bool looks_like_dummy(double value) noexcept;

/// "-9999 looks like a dummy, a number that stands for none"
[[nodiscard]] std::string dummy_text(double value);

/// Which numbers of a column of places, heights or properties mark missing values: NaN, infinity, 1e20 and beyond, and
/// numbers that look like dummies apart from all others, by more than these reach from 0 or by a third of their range,
/// and by more than the gap between the nearest two. -9999 beside heights of 100 to 300 m is a mark, among depths of
/// -11,000 to 0 m a depth. 9999 ends a profile that starts at 9000, and steps of 3333 m lead there, too; -9999 goes on
/// from -9000 and -8000; -9999 and 9999 are the ends of a square around 0. Empty: no number does.
[[nodiscard]] std::vector<bool> find_dummies(std::span<const double> values);

/// "-999 looks like a dummy, a number that stands for none", for a number that marks missing values in some files only
/// and is apart from the others as find_dummies() has it; "" for none.
[[nodiscard]] std::string possible_dummy(std::span<const double> values);

/// find_dummies() for measurements: all of them, where all look like dummies.
[[nodiscard]] std::vector<bool> find_field_dummies(std::span<const double> values);

/// Dummies among coordinates of points.
struct DummyPlaces {
  /// of each column, as find_dummies() has them
  std::array<std::vector<bool>, 3> found;
  /// "easting -9999 ...": numbers at an end of a column that may be dummies or places; "" where none may
  std::string doubt;
};

/// find_dummies() for eastings, northings and, if there are three columns, heights. An easting or northing that a whole
/// row or column of a survey shares, no farther from the others than these span, is a place. The same number that looks
/// like a dummy in two coordinates of a point is a dummy unless rows, spacing or a square around 0 explain it.
[[nodiscard]] DummyPlaces find_dummy_places(std::span<const std::vector<double>* const> columns);

/// value times factor as a product of the written decimals, rounded once: 513.06049 times 1000 is 513060.49, not
/// 513060.48999999993. The plain product where the decimals are too long; 0 instead of -0.
[[nodiscard]] double decimal_product(double value, double factor) noexcept;

/// Reads a text that consists of one integer, digits with an optional sign. `value` changes only where the status is
/// ok.
template <class Integer>
[[nodiscard]] NumberStatus parse_integer(std::string_view text, Integer& value) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberStatus::no_number;
  }
  Integer result{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (status == std::errc::invalid_argument || end != text.data() + text.size()) return NumberStatus::no_number;
  if (status != std::errc{}) return NumberStatus::too_large;
  value = result;
  return NumberStatus::ok;
}

/// 17 digits, at most 5 zeros before them, sign and point; or 17 digits, sign, point and exponent.
inline constexpr std::size_t longest_number = 32;

/// The shortest number that reads as this double again; without an exponent where that is no longer than 17 digits and
/// some zeros.
[[nodiscard]] std::string number_text(double value);
/// The same in memory of one's own.
[[nodiscard]] std::string_view number_text(double value, std::array<char, longest_number>& text);

/// Bytes of these values as text, one separator each, by a thousand of them.
[[nodiscard]] std::int64_t text_bytes(const std::vector<double>& values);

/// A value in a unit of which one is `to_si`: of the quotient and its neighbours within 2 ulp the number with the
/// shortest text that times to_si is the value; the quotient where none of them is.
[[nodiscard]] double in_unit(double value, double to_si);

}  // namespace prismfield
