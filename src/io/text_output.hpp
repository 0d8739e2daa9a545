// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace prismfield {

/// The shortest number that reads as this double again; without an exponent where that is no longer than 17 digits and
/// some zeros.
[[nodiscard]] std::string number_text(double value);

/// A text file that is written from its beginning to its end, a piece at a time: it takes 1 MiB of memory whatever its
/// size.
class TextOutput {
public:
  /// Makes the file or empties the one of that name. Throws RunError.
  explicit TextOutput(std::filesystem::path file);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  /// Throws RunError, NoRoomError.
  void add(std::string_view text);
  void add(char c) { add(std::string_view(&c, 1)); }
  /// As number_text().
  void add(double value);
  /// Takes back everything that was added. Throws RunError.
  void clear();
  /// Writes the rest. Throws RunError, NoRoomError; without a call the file is incomplete.
  void close();

private:
  void flush();

  std::filesystem::path m_file;
  int m_descriptor = -1;
  std::string m_buffer;
};

}  // namespace prismfield
