// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/text_output.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace prismfield {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// 17 digits, at most 5 zeros before them, sign and point; or 17 digits, sign, point and exponent.
constexpr std::size_t longest_number = 32;

std::string_view written(double value, std::array<char, longest_number>& text) {
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-5 && size < 1e16);
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value,
                                           plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

}  // namespace

std::string number_text(double value) {
  std::array<char, longest_number> text{};
  return std::string(written(value, text));
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

TextOutput::TextOutput(TemporaryFile& file) : m_file(file) { m_buffer.reserve(buffer_bytes); }

void TextOutput::add(std::string_view text) {
  if (m_buffer.size() + text.size() > buffer_bytes) flush();
  m_buffer += text;
}

void TextOutput::add(double value) {
  std::array<char, longest_number> text{};
  add(written(value, text));
}

void TextOutput::clear() {
  m_buffer.clear();
  m_file.clear();
}

void TextOutput::flush() {
  m_file.write(m_buffer.data(), m_buffer.size());
  m_buffer.clear();
}

}  // namespace prismfield
