// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

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
  constexpr std::array known = {-999.25, -32768.0, -32767.0, 65535.0, -2147483648.0, -2147483647.0};
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

namespace {

/// Whether some files mark missing values by this number, which others have as a value.
bool may_be_dummy(double value) {
  constexpr std::array rare = {-999.0, -8888.0, 32767.0};
  return looks_like_dummy(value) || std::find(rare.begin(), rare.end(), value) != rare.end();
}

/// find_dummies() among the numbers that are marks.
std::vector<bool> find_apart(std::span<const double> values, bool (*is_mark)(double)) {
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
  if (!has_nan && (is_around_0 || (!is_mark(lowest) && !is_mark(highest)))) return {};
  double least = std::numeric_limits<double>::infinity(), most = -least;
  bool any = false;
  for (const double value : values) {
    if (is_mark(value)) {
      any = true;
    } else {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  std::vector<bool> found;
  if (!any) return found;
  // others may end with the same nines
  constexpr double most_ranges = 10, part_of_range = 1.0 / 3, part_of_largest = 0.1, nearly = 1.01;
  const bool has_others = least <= most;
  double second = most, last_but_one = least;
  for (const double value : values) {
    if (is_mark(value)) continue;
    if (value > least) second = std::min(second, value);
    if (value < most) last_but_one = std::max(last_but_one, value);
  }
  const double range = most - least, largest = std::max(std::fabs(least), std::fabs(most));
  const auto is_apart = [&](double value) {
    if (!(std::fabs(value) < beyond_all_numbers)) return true;
    if (!has_others) return value < 0;
    const double apart = std::max(least - value, value - most);
    // a place more in a row of steps
    if (apart <= nearly * (value < least ? second - least : most - last_but_one)) return false;
    if (apart > largest || !(range > 0)) return apart > largest;
    return apart > most_ranges * range || (apart > part_of_range * range && apart > part_of_largest * largest);
  };
  for (const double value : values) found.push_back(is_mark(value) && is_apart(value));
  if (std::find(found.begin(), found.end(), true) == found.end()) found.clear();
  return found;
}

}  // namespace

std::vector<bool> find_dummies(std::span<const double> values) {
  return find_apart(values, [](double value) { return looks_like_dummy(value); });
}

std::string possible_dummy(std::span<const double> values) {
  const std::vector<bool> found = find_apart(values, may_be_dummy);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] && !looks_like_dummy(values[i])) return dummy_text(values[i]);
  }
  return "";
}

namespace {

/// How often each finite coordinate of a column occurs, of those that look like dummies only the one in question.
class Spacing {
public:
  Spacing(const std::vector<double>& values, double asked) : m_asked(asked) {
    for (const double value : values) {
      if (value == asked || !looks_like_dummy(value)) ++m_counts[value];
      m_has_opposite = m_has_opposite || value == -asked;
    }
    m_at = m_counts.find(asked);
  }

  [[nodiscard]] bool is_once() const { return m_at->second == 1; }

  /// Whether rows or columns of a survey have about as many points each, those at this number, too.
  [[nodiscard]] bool is_shared() const {
    constexpr std::int64_t ratio = 2;
    if (m_counts.size() < 3) return false;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    for (const auto& [value, count] : m_counts) {
      least = std::min(least, count);
      most = std::max(most, count);
    }
    const auto first = m_counts.begin(), last = std::prev(m_counts.end());
    // no farther from the others than these span
    const bool is_near = m_at == first  ? std::next(first)->first - m_asked <= last->first - std::next(first)->first
                         : m_at == last ? m_asked - std::prev(last)->first <= std::prev(last)->first - first->first
                                        : true;
    return least > 1 && most <= ratio * least && is_near;
  }

  /// Whether the steps to its neighbours, or to one and on to the next, are equal, to a part.
  [[nodiscard]] bool is_even(double part) const {
    if (m_counts.size() < 3) return false;
    auto middle = m_at;
    if (m_at == m_counts.begin()) ++middle;
    if (std::next(m_at) == m_counts.end()) --middle;
    const double below = middle->first - std::prev(middle)->first, above = std::next(middle)->first - middle->first;
    return std::fabs(below - above) <= part * std::max(below, above);
  }

  [[nodiscard]] bool is_end() const { return m_at == m_counts.begin() || std::next(m_at) == m_counts.end(); }
  [[nodiscard]] bool has_opposite() const { return m_has_opposite; }

private:
  std::map<double, std::int64_t> m_counts;
  std::map<double, std::int64_t>::const_iterator m_at;
  double m_asked;
  bool m_has_opposite = false;
};

constexpr double rounding_of_steps = 1e-6, uneven_steps = 0.01;

/// Takes out of `found` what rows or columns of a survey share.
void keep_shared(const std::vector<double>& values, std::vector<bool>& found) {
  std::map<double, bool> shared;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i] || !(std::fabs(values[i]) < beyond_all_numbers)) continue;
    const auto [at, is_new] = shared.try_emplace(values[i]);
    if (is_new) at->second = Spacing(values, values[i]).is_shared();
    found[i] = !at->second;
  }
  if (std::find(found.begin(), found.end(), true) == found.end()) found.clear();
}

/// What to say of the least and the largest number of a column, if they may be dummies or places; "" otherwise.
std::string doubt_of(const std::vector<double>& values, const std::vector<bool>& found, const char* name) {
  std::string doubt = possible_dummy(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  for (const auto end : {least, most}) {
    if (end == values.end() || !looks_like_dummy(*end)) continue;
    const auto i = static_cast<std::size_t>(end - values.begin());
    const Spacing spacing(values, *end);
    if ((!found.empty() && found[i]) || !spacing.is_once() || !spacing.is_end() || spacing.has_opposite() ||
        spacing.is_even(rounding_of_steps) || values.size() < 3) {
      continue;
    }
    doubt = dummy_text(*end);
  }
  if (doubt.empty()) return doubt;
  return std::string(name) + ' ' + doubt + "; it is taken as a place: leave the point out if it is none";
}

}  // namespace

std::vector<bool> find_field_dummies(std::span<const double> values) {
  const bool are_all = !values.empty() && std::all_of(values.begin(), values.end(), looks_like_dummy);
  return are_all ? std::vector<bool>(values.size(), true) : find_dummies(values);
}

DummyPlaces find_dummy_places(std::span<const std::vector<double>* const> columns) {
  constexpr std::array names = {"easting", "northing", "upward"};
  DummyPlaces places;
  for (std::size_t d = 0; d < columns.size(); ++d) {
    places.found[d] = find_dummies(*columns[d]);
    if (d < 2) keep_shared(*columns[d], places.found[d]);
  }
  const auto is_place = [&](std::size_t d, double value) {
    if (!(std::fabs(value) < beyond_all_numbers)) return false;
    const Spacing spacing(*columns[d], value);
    return (d < 2 && (spacing.is_shared() || spacing.has_opposite())) || spacing.is_even(uneven_steps);
  };
  std::map<double, bool> is_dummy;
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) {
      const std::vector<double>&of_a = *columns[a], &of_b = *columns[b];
      is_dummy.clear();
      for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
        if (of_a[i] != of_b[i] || !looks_like_dummy(of_a[i]) || of_a.size() == 1) continue;
        const auto [at, is_new] = is_dummy.try_emplace(of_a[i]);
        if (is_new) at->second = !is_place(a, of_a[i]) || !is_place(b, of_a[i]);
        if (!at->second) continue;
        for (const std::size_t d : {a, b}) {
          places.found[d].resize(columns[d]->size());
          places.found[d][i] = true;
        }
      }
    }
  }
  for (std::size_t d = 0; d < columns.size() && places.doubt.empty(); ++d) {
    places.doubt = doubt_of(*columns[d], places.found[d], names[d]);
  }
  return places;
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
