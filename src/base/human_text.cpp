// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/human_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace prismfield {
namespace {

/// The character at the start of a text: its code and its bytes, none when the bytes are no UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t n = lead >= 0xF0 && lead < 0xF5   ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 0;
  if (n == 0 || n > text.size()) return {};
  std::uint32_t code = lead & (0xFFU >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = code << 6 | (next & 0x3FU);
  }
  // written longer than needed, half of a pair, or beyond the last one
  const bool is_none =
      (n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10FFFF)) || (code >= 0xD800 && code < 0xE000);
  return is_none ? Character{} : Character{code, n};
}

/// Characters that move the cursor, colour or hide text, or turn its direction, on a terminal or in an editor.
bool is_control(std::uint32_t code) noexcept {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 10> ranges = {{{0, 0x1F},
                                             {0x7F, 0x9F},
                                             {0x61C, 0x61C},
                                             {0x200B, 0x200B},
                                             {0x200E, 0x200F},
                                             {0x2028, 0x202E},
                                             {0x2060, 0x206F},
                                             {0xFEFF, 0xFEFF},
                                             {0xFFF9, 0xFFFB},
                                             {0xE0000, 0xE007F}}};
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return r.first <= code && code <= r.last; });
}

/// Characters of East Asia that take two columns.
bool is_wide(std::uint32_t code) noexcept {
  constexpr std::uint32_t first = 0x1100;
  return code >= first && (code <= 0x115F || (code >= 0x2E80 && code <= 0xA4CF) || (code >= 0xAC00 && code <= 0xD7A3) ||
                           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0xFE30 && code <= 0xFE6F) ||
                           (code >= 0xFF00 && code <= 0xFF60) || (code >= 0xFFE0 && code <= 0xFFE6) ||
                           (code >= 0x1F300 && code <= 0x1F64F) || (code >= 0x20000 && code <= 0x3FFFD));
}

/// The text with '?' for what is no character or a control one other than `kept`, cut before it passes `most` bytes.
std::string shown_text(std::string_view text, std::size_t most, char kept) {
  std::string result;
  while (!text.empty()) {
    const Character c = first_character(text);
    const std::size_t n = std::max<std::size_t>(c.bytes, 1);
    if (result.size() + n > most) return result + "...";
    const bool is_kept = kept != '\0' && text.front() == kept;
    if (c.bytes == 0 || (is_control(c.code) && !is_kept)) {
      result += '?';
    } else {
      result += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  return result;
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
  if (!std::isfinite(value) || std::abs(value) < 999.5) return fmt::format("{:.3g}", value);
  const std::string text = fmt::format("{:.2e}", value);
  const std::size_t e = text.find('e');
  return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

std::string place_text(double metres) {
  constexpr double parts = 100;
  if (std::abs(metres) < 1) return fmt::format("{:.4g}", metres);
  return fmt::format("{:.15g}", std::round(metres * parts) / parts);
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::size_t width_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    columns += c.bytes > 0 && is_wide(c.code) ? 2 : 1;
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return columns;
}

std::size_t bytes_of_character(std::string_view text) noexcept { return first_character(text).bytes; }

std::string shown(std::string_view text, std::size_t most) { return shown_text(text, most, '\0'); }

std::string shown_lines(std::string_view text) { return shown_text(text, text.size(), '\n'); }

std::string shown_list(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 12;
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) {
    result += (i == 0 ? "" : ", ") + shown(names[i], longest_name);
  }
  if (names.size() <= most_named) return result;
  return result + fmt::format(", ... ({} in all)", grouped(static_cast<std::int64_t>(names.size())));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 39;
  return "'" + shown_text(text, longest, '\0') + "'";
}

}  // namespace prismfield
