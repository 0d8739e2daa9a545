// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"

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
  std::array<char, longest_number> text{};
  add(number_text(value, text));
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
