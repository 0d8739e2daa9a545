// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <charconv>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace prismfield {

// Numbers as text, the same in cases, tables, meshes and options: one sign or none, decimal digits with at most one
// point, and an exponent, e or E with digits behind or, as Fortran writes it, D with a sign and digits: 12, -.5, +3.,
// 1.5e-3, 1.5D+03. Nothing else is a number: no second sign, no 0x10, 1_000, 1,5, 1e, 1.5d3 or 1/3, no digits of other
// scripts; a locale has no say.

enum class NumberStatus { ok, no_number, too_large };

/// Reads a number at `at` and moves `at` behind it; blanks are not skipped, a value too small for double is 0. NaN and
/// infinity, written nan and inf, are numbers here: callers ask for finite ones.
[[nodiscard]] NumberStatus parse_number(const char*& at, const char* end, double& value) noexcept;

/// Reads a text that is a number from its first character to its last.
[[nodiscard]] NumberStatus parse_number(std::string_view text, double& value) noexcept;

/// Whether a value stands for none in files of many programs: -9999, 99999, -999.25, -9999.99, -32768 and the like, or
/// 1e20 and beyond.
[[nodiscard]] bool looks_like_dummy(double value) noexcept;

/// Which of the numbers of a column, places or heights, stand for none: NaN, infinity, 1e20 and beyond, and others that
/// look like dummies where they lie far from all that do not: -9999 beside heights of 100 to 300 m is none, among
/// depths of -11,000 to 0 m it is a depth, and 9999 ends a profile from 9000 on. Empty: none of them.
[[nodiscard]] std::vector<bool> find_dummies(std::span<const double> values);

/// value times factor as one multiplies the decimals that are written, rounded once: 513.06049 times 1000 is 513060.49,
/// not 513060.48999999993. The plain product where the decimals of both are too long for that; 0, not -0.
[[nodiscard]] double decimal_product(double value, double factor) noexcept;

/// Reads a text that is a whole number of digits alone, with one sign or none. `value` keeps what it was unless the
/// status is ok.
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

}  // namespace prismfield
