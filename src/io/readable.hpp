// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <limits>

#include "io/text_output.hpp"

namespace prismfield {

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
