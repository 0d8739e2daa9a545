// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/temporary_file.hpp"

namespace prismfield {

/// Text that is written from its beginning to its end, a piece at a time: it takes 1 MiB of memory whatever its size.
class TextOutput {
public:
  /// `file` must outlive it.
  explicit TextOutput(TemporaryFile& file);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  /// Throws RunError.
  void add(std::string_view text);
  void add(char c) { add(std::string_view(&c, 1)); }
  /// Adds the value as number_text() gives it.
  void add(double value);
  /// Writes the rest of the buffer; the file is incomplete without it. Throws RunError.
  void flush();

private:
  TemporaryFile& m_file;
  std::string m_buffer;
};

/// Runs step() and adds to its RunError that `what`, such as "the result is", was not written.
void telling(const std::filesystem::path& file, const std::string& what, const std::function<void()>& step);

/// Writes a file as a whole. `write` receives a temporary file and the final name, with links followed; the file takes
/// that name when `write` returns. `what`: the file in messages, "the result". Throws RunError, by the file's name,
/// also where the disk has less than `about_bytes` free; it then leaves no half-written file and the old file
/// unchanged.
void write_complete_file(
    const std::filesystem::path& file, const char* what,
    const std::function<void(TemporaryFile& temporary, const std::filesystem::path& target)>& write,
    std::int64_t about_bytes = 0);

}  // namespace prismfield
