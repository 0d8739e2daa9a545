// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_file.hpp"

namespace prismfield {

/// The shortest text that reads as this double again; without an exponent unless that takes more than 17 digits and a
/// few zeros.
[[nodiscard]] std::string number_text(double value);

/// Estimates the bytes of values as text, with a separator each, from a thousand of them.
[[nodiscard]] std::int64_t text_bytes(const std::vector<double>& values);

/// Writes text sequentially through a buffer of 1 MiB. Writers of text formats use it.
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

/// The number to write so that read(number) gives `value`: of `guess` and its neighbours within 2 ulp, the one with the
/// shortest text; `guess` where none fits.
template <class Read>
[[nodiscard]] double readable(double value, double guess, const Read& read) {
  // the neighbours of 0 are -0 and numbers that nobody means
  if (!std::isfinite(guess) || guess == 0) return guess;
  constexpr double up = std::numeric_limits<double>::infinity();
  double candidate = std::nextafter(std::nextafter(guess, -up), -up);
  double best = guess;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (int i = 0; i < 5; ++i, candidate = std::nextafter(candidate, up)) {
    if (read(candidate) != value) continue;
    const std::size_t length = number_text(candidate).size();
    // the guess wins among equals
    if (length > shortest || (length == shortest && candidate != guess)) continue;
    shortest = length;
    best = candidate;
  }
  return best;
}

/// A value in a unit of `to_si` SI units, chosen so that written * to_si is `value` where that is possible.
[[nodiscard]] inline double in_unit(double value, double to_si) {
  return to_si == 1 ? value : readable(value, value / to_si, [&](double written) { return written * to_si; });
}

}  // namespace prismfield
