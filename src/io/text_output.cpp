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

}  // namespace

TextOutput::TextOutput(TemporaryFile& file) : m_file(file) { m_buffer.reserve(buffer_bytes); }

void TextOutput::add(std::string_view text) {
  if (m_buffer.size() + text.size() > buffer_bytes) flush();
  m_buffer += text;
}

void TextOutput::add(double value) {
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-5 && size < 1e16);
  // 17 digits, at most 5 zeros before them, sign and point; or 17 digits, sign, point and exponent
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value,
                                           plain ? std::chars_format::fixed : std::chars_format::scientific);
  add(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
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
