// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace prismfield {
namespace {

/// No place, no height and no field is as large.
constexpr double beyond_all_numbers = 1e20;

/// True when an out-of-range decimal number is out of range because it is small.
bool underflows(std::string_view number) noexcept {
  long leading = 0;
  bool after_point = false, significant = false;
  std::size_t i = 0;
  for (; i < number.size(); ++i) {
    const char c = number[i];
    if (c == '.') {
      after_point = true;
    } else if (c >= '0' && c <= '9') {
      if (c != '0') significant = true;
      if (!after_point && significant) ++leading;
      if (after_point && !significant) --leading;
    } else if (c == 'e' || c == 'E') {
      break;
    }
  }
  long exponent = 0;
  if (i < number.size()) {
    ++i;
    const bool negative = i < number.size() && number[i] == '-';
    for (; i < number.size(); ++i) {
      if (number[i] >= '0' && number[i] <= '9' && exponent < 100'000'000) exponent = 10 * exponent + (number[i] - '0');
    }
    if (negative) exponent = -exponent;
  }
  return leading + exponent < 0;
}

/// Where an exponent as Fortran writes it ends, D with a sign and digits; `at` where none begins there.
const char* behind_fortran_exponent(const char* at, const char* end) noexcept {
  if (end - at < 3 || (*at != 'D' && *at != 'd') || (at[1] != '+' && at[1] != '-')) return at;
  const char* const behind = std::find_if(at + 2, end, [](char c) { return c < '0' || c > '9'; });
  return behind == at + 2 ? at : behind;
}

/// Whether a number has digits and a point alone.
bool is_plain_decimal(const char* begin, const char* end) noexcept {
  return std::all_of(begin, end, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

/// A number as the shortest decimal that reads as it: digits times ten to the exponent.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

/// Of a finite number without its sign.
Decimal decimal_of(double value) noexcept {
  // 17 digits, point, e-308
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), std::fabs(value), std::chars_format::scientific);
  Decimal decimal;
  bool after_point = false;
  const char* at = text.data();
  for (; error == std::errc{} && at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    decimal.digits = 10 * decimal.digits + static_cast<std::uint64_t>(*at - '0');
    if (after_point) --decimal.exponent;
  }
  if (at == end) return decimal;
  ++at;
  if (*at == '+') ++at;
  int exponent = 0;
  static_cast<void>(std::from_chars(at, end, exponent));
  decimal.exponent += exponent;
  return decimal;
}

}  // namespace

bool looks_like_dummy(double value) noexcept {
  // of well logs, of short and long integers
  constexpr std::array known = {-999.25, -32768.0, -32767.0, -2147483648.0, -2147483647.0};
  for (const double dummy : known) {
    if (value == dummy) return true;
  }
  constexpr double least = 9999, most = 1e10, hundredth = 0.01;
  const double size = std::fabs(value);
  if (!(size < beyond_all_numbers)) return true;
  // -9999, 99999, -9999.9, -999999.99
  double nines = least;
  while (nines < most && nines + 1 <= size) nines = 10 * nines + 9;
  const double behind = size - nines;
  const double rounding = nines * std::numeric_limits<double>::epsilon();
  const auto is_behind = [&](double part) { return std::fabs(behind - part) <= rounding; };
  return nines < most && (is_behind(0) || is_behind(1 - 10 * hundredth) || is_behind(1 - hundredth));
}

std::string dummy_text(double value) {
  return number_text(value) + " looks like a dummy, a number that stands for none";
}

std::vector<bool> find_dummies(std::span<const double> values) {
  // one that stands for none is the least or the largest, or no number
  double lowest = 0, highest = 0;
  bool has_nan = false;
  if (!values.empty()) lowest = highest = values.front();
  for (const double value : values) {
    lowest = value < lowest ? value : lowest;
    highest = value > highest ? value : highest;
    has_nan = has_nan || value != value;
  }
  const bool is_around_0 = lowest == -highest && highest < beyond_all_numbers;
  if (!has_nan && (is_around_0 || (!looks_like_dummy(lowest) && !looks_like_dummy(highest)))) return {};
  double least = std::numeric_limits<double>::infinity(), most = -least;
  bool any = false;
  for (const double value : values) {
    if (looks_like_dummy(value)) {
      any = true;
    } else {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  std::vector<bool> found;
  if (!any) return found;
  // others may end with the same nines
  constexpr double most_ranges = 10, part_of_range = 1.0 / 3, part_of_largest = 0.1, rounding = 1e-9;
  const bool has_others = least <= most;
  const double range = most - least, largest = std::max(std::fabs(least), std::fabs(most));
  const auto is_apart = [&](double value) {
    if (!(std::fabs(value) < beyond_all_numbers)) return true;
    if (!has_others) return value < 0;
    const double apart = std::max(least - value, value - most);
    if (apart > largest || !(range > 0)) return apart > largest;
    // a place more in a row of equal steps
    const double steps = range / apart;
    const bool goes_on = std::fabs(steps - std::round(steps)) < rounding;
    return apart > most_ranges * range ||
           (apart > part_of_range * range && apart > part_of_largest * largest && !goes_on);
  };
  for (const double value : values) found.push_back(looks_like_dummy(value) && is_apart(value));
  if (std::find(found.begin(), found.end(), true) == found.end()) found.clear();
  return found;
}

double decimal_product(double value, double factor) noexcept {
  // + 0 makes -0 of a flipped sign 0
  const double plain = value * factor + 0.0;
  if (!std::isfinite(plain) || plain == 0) return plain;
  const Decimal a = decimal_of(value), b = decimal_of(factor);
  if (a.digits > std::numeric_limits<std::uint64_t>::max() / b.digits) return plain;
  // 20 digits, e-616
  constexpr std::size_t most_digits = 20;
  std::array<char, 2 * most_digits> text{};
  const auto digits = std::to_chars(text.data(), text.data() + most_digits, a.digits * b.digits);
  *digits.ptr = 'e';
  const auto exponent = std::to_chars(digits.ptr + 1, text.data() + text.size(), a.exponent + b.exponent);
  double product = 0;
  if (parse_number({text.data(), static_cast<std::size_t>(exponent.ptr - text.data())}, product) != NumberStatus::ok) {
    return plain;
  }
  return std::copysign(product, plain);
}

NumberStatus parse_number(const char*& at, const char* end, double& value) noexcept {
  const char* start = at;
  if (start != end && *start == '+') {
    ++start;
    if (start == end || *start == '-' || *start == '+') return NumberStatus::no_number;
  }
  const auto [next, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return NumberStatus::no_number;
  if (const char* const fortran = behind_fortran_exponent(next, end);
      fortran != next && is_plain_decimal(start, next)) {
    // as long as no double is written
    std::array<char, 64> text{};
    const auto length = static_cast<std::size_t>(fortran - start);
    if (length < text.size()) {
      std::copy(start, fortran, text.begin());
      text[static_cast<std::size_t>(next - start)] = 'e';
      at = fortran;
      return parse_number({text.data(), length}, value);
    }
  }
  at = next;
  if (error == std::errc::result_out_of_range) {
    if (!underflows({start, static_cast<std::size_t>(next - start)})) return NumberStatus::too_large;
    value = 0;
  }
  return NumberStatus::ok;
}

NumberStatus parse_number(std::string_view text, double& value) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  const NumberStatus status = parse_number(at, end, value);
  return at == end ? status : NumberStatus::no_number;
}

std::string_view number_text(double value, std::array<char, longest_number>& text) {
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-5 && size < 1e16);
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value,
                                           plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::string number_text(double value) {
  std::array<char, longest_number> text{};
  return std::string(number_text(value, text));
}

std::int64_t text_bytes(const std::vector<double>& values) {
  const std::size_t step = std::max<std::size_t>(1, values.size() / 1000);
  double bytes = 0;
  double n = 0;
  for (std::size_t i = 0; i < values.size(); i += step, ++n) {
    bytes += static_cast<double>(number_text(values[i]).size() + 1);
  }
  return n == 0 ? 0 : static_cast<std::int64_t>(bytes / n * static_cast<double>(values.size()));
}

double in_unit(double value, double to_si) {
  if (to_si == 1) return value;
  const double guess = value / to_si;
  // the neighbours of 0 are -0 and numbers that nobody means
  if (!std::isfinite(guess) || guess == 0) return guess;
  constexpr double up = std::numeric_limits<double>::infinity();
  double candidate = std::nextafter(std::nextafter(guess, -up), -up);
  double best = guess;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (int i = 0; i < 5; ++i, candidate = std::nextafter(candidate, up)) {
    if (candidate * to_si != value) continue;
    const std::size_t length = number_text(candidate).size();
    // the guess wins among equals
    if (length > shortest || (length == shortest && candidate != guess)) continue;
    shortest = length;
    best = candidate;
  }
  return best;
}

}  // namespace prismfield
