// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/human_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismfield {
namespace {

/// Length of the UTF-8 character at the start of `text`, 0 when the bytes are none.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t n = lead < 0x80 ? 1 : lead >= 0xF0 && lead < 0xF8 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (n == 0 || lead >= 0xF8 || n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return n;
}

}  // namespace

std::string grouped(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string size_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 would be written as 1024
  while (unit + 1 < units.size() && std::abs(amount) >= 1023.5) {
    amount /= 1024;
    ++unit;
  }
  if (unit == 0 || std::abs(amount) >= 99.95) return fmt::format("{:.0f} {}", amount, units[unit]);
  return fmt::format("{:.3g} {}", amount, units[unit]);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 1e-3) return fmt::format("{:.2g} ms", seconds * 1e3);
  if (seconds < 9.95) return fmt::format("{:.2g} s", seconds);
  constexpr double longest = 1e15;
  if (seconds > longest) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  constexpr std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
  if (whole < minute) return fmt::format("{} s", whole);
  if (whole < hour) return fmt::format("{} min {} s", whole / minute, whole % minute);
  if (whole < day) return fmt::format("{} h {} min", whole / hour, whole % hour / minute);
  return fmt::format("{} d {} h", grouped(whole / day), whole % day / hour);
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "?";
  if (std::abs(value) < 999.5) return fmt::format("{:.3g}", value);
  const std::string text = fmt::format("{:.2e}", value);
  const std::size_t e = text.find('e');
  return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  while (!text.empty()) {
    const std::size_t n = character_bytes(text);
    if (result.size() + std::max<std::size_t>(n, 1) > longest) {
      result += "...";
      break;
    }
    const auto c = static_cast<unsigned char>(text.front());
    if (n == 0 || c < 0x20 || c == 0x7F) {
      result += '?';
    } else {
      result += text.substr(0, n);
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return result + "'";
}

}  // namespace prismfield
