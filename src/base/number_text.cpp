// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/number_text.hpp"

#include <cstddef>

namespace prismfield {
namespace {

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

}  // namespace

NumberStatus parse_number(const char*& at, const char* end, double& value) noexcept {
  const char* start = at;
  if (start != end && *start == '+') {
    ++start;
    if (start == end || *start == '-' || *start == '+') return NumberStatus::no_number;
  }
  const auto [next, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return NumberStatus::no_number;
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

}  // namespace prismfield
