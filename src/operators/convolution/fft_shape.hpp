// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include <prismfield/request.hpp>

namespace prismfield {

/// A real transform in two dimensions and how it lies in memory: row by row, each padded so that its frequencies, half
/// of them and one more, have the place of its reals.
struct FftShape {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  /// complex numbers of a row that is transformed
  [[nodiscard]] std::int64_t half() const noexcept { return columns / 2 + 1; }
  /// doubles from one row to the next
  [[nodiscard]] std::int64_t pitch() const noexcept { return 2 * half(); }
  /// complex numbers, and doubles, of a transform
  [[nodiscard]] std::int64_t frequencies() const noexcept { return rows * half(); }
  [[nodiscard]] std::int64_t reals() const noexcept { return rows * pitch(); }

  bool operator==(const FftShape&) const noexcept = default;
};

/// Transforms of one call of cuFFT: enough numbers to fill a device, few enough that what it keeps for a call is small.
[[nodiscard]] inline std::int64_t transforms_at_once(const FftShape& shape) noexcept {
  constexpr std::int64_t numbers = std::int64_t{1} << 22, most = 64;
  return std::clamp<std::int64_t>(numbers / shape.reals(), 1, most);
}
/// An estimate of the bytes of cuFFT's work areas, which only a device knows exactly: the size of the data, for its
/// plans of so many transforms and of one, forward and back.
[[nodiscard]] inline std::int64_t work_area_bytes(const FftShape& shape) noexcept {
  return 2 * (transforms_at_once(shape) + 1) * shape.reals() * 8;
}

/// The least length from n on, at least 1, that has no other factors than 2, 3, 5 and 7, for which transforms are fast.
[[nodiscard]] constexpr std::int64_t fft_length(std::int64_t n) noexcept {
  const auto is_smooth = [](std::int64_t length) {
    for (const std::int64_t factor : {2, 3, 5, 7}) {
      while (length % factor == 0) length /= factor;
    }
    return length == 1;
  };
  while (!is_smooth(n)) ++n;
  return n;
}

/// Throws InputError, as refuse_fft(), for a space that no transforms were built for.
void check_transforms(Space space);

}  // namespace prismfield
