// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_file.hpp"

namespace prismfield {

/// The shortest number that reads as this double again; without an exponent where that is no longer than 17 digits and
/// some zeros.
[[nodiscard]] std::string number_text(double value);

/// Bytes of these values as text, one separator each, by a thousand of them.
[[nodiscard]] std::int64_t text_bytes(const std::vector<double>& values);

/// Text that is written from its beginning to its end, a piece at a time: it takes 1 MiB of memory whatever its size.
class TextOutput {
public:
  /// `file` has to outlive it.
  explicit TextOutput(TemporaryFile& file);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  /// Throws RunError.
  void add(std::string_view text);
  void add(char c) { add(std::string_view(&c, 1)); }
  /// As number_text().
  void add(double value);
  /// Takes back everything that was added. Throws RunError.
  void clear();
  /// Writes what is left. Throws RunError; without a call the file is incomplete.
  void flush();

private:
  TemporaryFile& m_file;
  std::string m_buffer;
};

}  // namespace prismfield
