// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/output_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"

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

void TextOutput::flush() {
  m_file.write(m_buffer.data(), m_buffer.size());
  m_buffer.clear();
}

namespace fs = std::filesystem;

void telling(const fs::path& file, const std::string& what, const std::function<void()>& step) {
  try {
    step();
  } catch (const RunError& error) {
    std::string why = error.what();
    if (const std::string prefix = file.string() + ": "; why.starts_with(prefix)) why.erase(0, prefix.size());
    throw RunError(fmt::format("{}: {} not written: {}", file.string(), what, why));
  }
}

void write_complete_file(const fs::path& file, const char* what,
                         const std::function<void(TemporaryFile& temporary, const fs::path& target)>& write,
                         std::int64_t about_bytes) {
  const fs::path target = followed(file);
  // Renaming would put the new file in the place of a device, or of a link that is not followed.
  std::error_code none;
  if (const auto there = fs::symlink_status(target, none); fs::exists(there) && !fs::is_regular_file(there)) {
    throw RunError(fmt::format("{}: {} is not written: it is not a regular file", target.string(), what));
  }
  telling(target, fmt::format("{} is", what), [&] {
    if (const auto room = free_bytes(folder_of(target)); room && *room < about_bytes) {
      throw RunError(
          fmt::format("it takes about {}, and the disk has {} free; make room or name a folder on another disk",
                      size_text(about_bytes), size_text(*room)));
    }
    TemporaryFile temporary(target);
    write(temporary, target);
    temporary.move_to_target();
  });
}

}  // namespace prismfield
