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
  /// Writes what is left. Throws RunError; without a call the file is incomplete.
  void flush();

private:
  TemporaryFile& m_file;
  std::string m_buffer;
};

/// Calls step(); a RunError of it says of the file that `what`, "the result is", not written.
void telling(const std::filesystem::path& file, const std::string& what, const std::function<void()>& step);

/// Has a file written as a whole: `write` gets a temporary file beside it and the name that it will have, links
/// followed; the file takes its name when `write` returns. `what`: what messages call it, "the result". Throws
/// RunError, by the file's name, also where the disk has less than `about_bytes` free, leaving neither a half-written
/// file nor a changed old one.
void write_complete_file(
    const std::filesystem::path& file, const char* what,
    const std::function<void(TemporaryFile& temporary, const std::filesystem::path& target)>& write,
    std::int64_t about_bytes = 0);

/// What to write so that a reader who computes read(what is written) gets `value`: of `guess` and its neighbours within
/// 2 ulp the one with the shortest text; `guess` where none of them will do.
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

/// A value in a unit of which one is `to_si`, such that what is written times to_si is the value, where that can be.
[[nodiscard]] inline double in_unit(double value, double to_si) {
  return to_si == 1 ? value : readable(value, value / to_si, [&](double written) { return written * to_si; });
}

}  // namespace prismfield
