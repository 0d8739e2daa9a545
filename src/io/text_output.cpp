// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/text_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/disk.hpp"

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

TextOutput::TextOutput(std::filesystem::path file) : m_file(std::move(file)) {
  m_descriptor = ::open(m_file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (m_descriptor < 0) throw_write_error(m_file, errno, "make the file");
  m_buffer.reserve(buffer_bytes);
}

TextOutput::~TextOutput() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

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
  if (::ftruncate(m_descriptor, 0) != 0 || ::lseek(m_descriptor, 0, SEEK_SET) != 0) throw_write_error(m_file, errno);
}

void TextOutput::flush() {
  std::string_view rest = m_buffer;
  while (!rest.empty()) {
    const ssize_t n = ::write(m_descriptor, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error(m_file, errno);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  m_buffer.clear();
}

void TextOutput::close() {
  flush();
  // Some file systems report a full disk or a quota only here.
  if (::close(std::exchange(m_descriptor, -1)) != 0) throw_write_error(m_file, errno);
}

}  // namespace prismfield
