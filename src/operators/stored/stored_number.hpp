// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace prismfield {

/// A number of 16 bits: sign, 5 bits of exponent, 10 of mantissa. Of its values 0 and the normal ones are used.
struct Half {
  std::uint16_t bits = 0;
};

/// Largest magnitudes are scaled to [2^14, 2^15), by a power of two: nothing is rounded by that, and what is smaller by
/// a factor of 2^28 is still a normal half.
inline constexpr double half_top = 16384;
/// The nearest half of |x| < 2^15 (to even where two are as near); below the normal halves the nearer of 0 and the
/// smallest of them. Errors: 2^-11 of x, 2^-15 below the normal halves.
KOKKOS_INLINE_FUNCTION Half nearest_half(double x) {
  constexpr std::uint64_t one = 1;
  constexpr int dropped = 42;
  constexpr std::uint64_t bias = std::uint64_t{1023 - 15} << 52;
  const auto bits = Kokkos::bit_cast<std::uint64_t>(x);
  const std::uint64_t sign = bits >> 48 & 0x8000;
  std::uint64_t magnitude = bits & ~(one << 63);
  magnitude += (one << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
  if (magnitude < bias) return {};
  const std::uint64_t rounded = magnitude < bias + (one << 52) ? 0x400 : (magnitude - bias) >> dropped;
  return {static_cast<std::uint16_t>(sign | rounded)};
}

/// Its bits moved to their places in a double, which is the half 2^-1008, a normal number, and that brought back: no
/// instruction set needs to know halves, and a device converts a quarter as fast as it multiplies.
KOKKOS_INLINE_FUNCTION double value_of(Half h) {
  const std::uint32_t bits = h.bits;
  const std::uint64_t high = (bits & 0x8000) << 16 | (bits & 0x7fff) << 10;
  return 0x1p1008 * Kokkos::bit_cast<double>(high << 32);
}

/// How entries are kept: as `Real`, by the row's largest entry within a tile where `scaled`.
template <class Real>
struct StoredNumber {
  static constexpr bool scaled = false;
  KOKKOS_INLINE_FUNCTION static Real from(double x) { return static_cast<Real>(x); }
  KOKKOS_INLINE_FUNCTION static double value(Real x) { return static_cast<double>(x); }
};
template <>
struct StoredNumber<Half> {
  static constexpr bool scaled = true;
  KOKKOS_INLINE_FUNCTION static Half from(double x) { return nearest_half(x); }
  KOKKOS_INLINE_FUNCTION static double value(Half x) { return value_of(x); }
  /// What brings entries of this largest magnitude to [2^14, 2^15): a power of two, 1 where there is nothing to scale.
  KOKKOS_INLINE_FUNCTION static double factor(double largest) {
    if (!(largest > 0x1p-900 && largest < 0x1p900)) return 1;
    constexpr std::uint64_t exponent = 0x7ff0000000000000;
    return half_top / Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(largest) & exponent);
  }
};

/// 16 bytes of entries, which a thread of a device reads at once.
template <class Real>
struct alignas(16) Pack {
  static constexpr int size = 16 / static_cast<int>(sizeof(Real));
  Real values[size];
};

}  // namespace prismfield
