// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/lean_coefficients.hpp"
#include "kernel/simd.hpp"

/// Logarithm and arctangent for lanes: one division each, no tables, no branches, and only the ranges that a prism
/// needs.
namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

namespace detail {
template <class T, bool log>
PRISMFIELD_INLINE_FUNCTION constexpr const auto& tail() {
  if constexpr (log) {
    if constexpr (sizeof(T) == 8) {
      return log_tail_double;
    } else {
      return log_tail_float;
    }
  } else {
    if constexpr (sizeof(T) == 8) {
      return atan_tail_double;
    } else {
      return atan_tail_float;
    }
  }
}

/// Sum of c_i z^(i - first), i >= first, by Horner's rule.
template <bool log, std::size_t first, class L>
PRISMFIELD_INLINE_FUNCTION L tail_polynomial(const L& z) {
  using T = value_t<L>;
  constexpr std::size_t n = tail<T, log>().size();
  constexpr T c = tail<T, log>()[first];
  if constexpr (first + 1 == n) {
    return L(c);
  } else {
    return fma(tail_polynomial<log, first + 1>(z), z, L(c));
  }
}
}  // namespace detail

/// A logarithm as exponent ln 2 + (twice + tail), the exponent a whole number: of two that are nearly equal the
/// difference keeps digits that their values have lost.
template <class L>
struct LogParts {
  L exponent, twice, tail;

  PRISMFIELD_INLINE_FUNCTION L value() const {
    using T = value_t<L>;
    constexpr T ln2_high = sizeof(T) == 8 ? T(0x1.62e42fefa3800p-1) : T(0x1.62e400p-1);
    constexpr T ln2_low = sizeof(T) == 8 ? T(0x1.ef35793c76730p-45) : T(0x1.7f7d1cp-20);
    return fma(exponent, L(ln2_high), twice) + fma(exponent, L(ln2_low), tail);
  }
  PRISMFIELD_INLINE_FUNCTION friend L operator-(const LogParts& a, const LogParts& b) {
    return LogParts{a.exponent - b.exponent, a.twice - b.twice, a.tail - b.tail}.value();
  }
};

namespace detail {
/// 2 atanh(difference/sum) plus the exponent times ln 2, for |difference/sum| <= 0.2.
template <class L>
PRISMFIELD_INLINE_FUNCTION LogParts<L> log_of_scaled(const L& difference, const L& sum, const L& exponent) {
  const L s = difference / sum;
  const L z = s * s;
  return {exponent, s + s, s * z * tail_polynomial<true, 0>(z)};
}
}  // namespace detail

/// ln((b + d)/b) for b > 0 and b + d > 0, both normal numbers, to 2 ulp for any d/b > -1 + 1e-14.
/// Written for edges, where d/b is twice a length over a sum of distances: tiny far away, huge next to the edge.
/// The quotient is brought into [2/3, 3/2] by a power of two, then ln q = 2 atanh((q - 1)/(q + 1)).
template <class L>
PRISMFIELD_INLINE_FUNCTION LogParts<L> log1p_quotient_parts(const L& d, const L& b) {
  using T = value_t<L>;
  const L a = b + d;
  const auto q = scale_quotient(a, b);
  // without scaling the difference is d itself; with it what b + d rounded away is put back, so that either way
  // difference and sum carry one rounding
  const auto unscaled = q.exponent == L(T(0));
  const L virtual_b = a - d;
  const L lost = (d - (a - virtual_b)) + (b - virtual_b);
  const L difference = select(unscaled, d, (a - q.b_scaled) + lost);
  const L sum = select(unscaled, fma(L(T(2)), b, d), a + q.b_scaled);
  return detail::log_of_scaled(difference, sum, q.exponent);
}

template <class L>
PRISMFIELD_INLINE_FUNCTION L log1p_quotient(const L& d, const L& b) {
  return log1p_quotient_parts(d, b).value();
}

/// ln(a/b) for normal a, b > 0 whose difference d = a - b is known better than by subtraction, to 2 ulp.
template <class L>
PRISMFIELD_INLINE_FUNCTION L log_quotient(const L& a, const L& b, const L& d) {
  using T = value_t<L>;
  const auto q = scale_quotient(a, b);
  return detail::log_of_scaled(select(q.exponent == L(T(0)), d, a - q.b_scaled), a + q.b_scaled, q.exponent).value();
}

/// Angle of the point (x, y) in (-pi, pi], to 2 ulp where |x| + |y| neither over- nor underflows; 0 or pi at the
/// origin.
template <class L>
PRISMFIELD_INLINE_FUNCTION L atan2(const L& y, const L& x) {
  using T = value_t<L>;
  constexpr T tiny = sizeof(T) == 8 ? T(1e-300) : T(1e-36);
  constexpr T tan_pi_8 = T(0.41421356237309504880);
  constexpr T pi = T(3.14159265358979323846);
  // what the rounding of pi leaves over, so that the octants are joined without an error of their own
  constexpr T pi_low = sizeof(T) == 8 ? T(1.2246467991473532e-16) : T(-8.7422777e-8);
  const L ax = abs(x);
  const L ay = abs(y);
  const L large = max(ax, ay);
  const L small = min(ax, ay);
  const auto reduced = large * L(tan_pi_8) < small;
  const L t = select(reduced, small - large, small) / max(select(reduced, small + large, large), L(tiny));
  const L z = t * t;
  const L tail = t * z * detail::tail_polynomial<false, 0>(z);
  // angle = quarter (pi/4) + sign * (t + tail)
  const L zero(T(0));
  const auto steep = ax < ay;
  const auto left = x < zero;
  const L sign = select(steep, L(T(-1)), L(T(1)));
  L quarters = select(reduced, L(T(1)), zero);
  quarters = select(steep, L(T(2)) - quarters, quarters);
  quarters = select(left, L(T(4)) - quarters, quarters);
  const L direction = select(left, -sign, sign);
  const L low = fma(quarters, L(pi_low / 4), direction * tail);
  const L angle = fma(quarters, L(pi / 4), fma(direction, t, low));
  return copysign(angle, y);
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
