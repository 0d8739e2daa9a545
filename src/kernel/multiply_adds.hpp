// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/simd.hpp"

namespace prismfield::kernel {

/// Sums that multiply_adds() keeps side by side: more than hide the latency of a fused multiply-add, few enough for the
/// 16 vector registers of AVX2.
inline constexpr int multiply_add_chains = 12;

inline namespace PRISMFIELD_LANES {

/// Fused multiply-adds and nothing else, multiply_add_chains times the number of lanes a round: what no kernel can
/// exceed. Returns what keeps a compiler from leaving them out.
template <class L>
PRISMFIELD_INLINE_FUNCTION value_t<L> multiply_adds(std::int64_t rounds, value_t<L> start) {
  using T = value_t<L>;
  L sum[multiply_add_chains];
  for (int c = 0; c < multiply_add_chains; ++c) sum[c] = L(start + T(c));
  const L factor(T(0.9999));
  const L term(T(0.0001));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (int c = 0; c < multiply_add_chains; ++c) sum[c] = fma(sum[c], factor, term);
  }
  for (int c = 1; c < multiply_add_chains; ++c) sum[0] = sum[0] + sum[c];
  T values[lanes_v<L>];
  store(sum[0], values);
  T total = values[0];
  for (int i = 1; i < lanes_v<L>; ++i) total += values[i];
  return total;
}

}  // namespace PRISMFIELD_LANES

/// multiply_adds() of a host's widest vectors of double or float, compiled once
/// (engine/host_calibration.cpp).
template <class T>
T multiply_adds_on_host(std::int64_t rounds, T start);

/// Lanes of these vectors.
template <class T>
int host_lanes_of();

}  // namespace prismfield::kernel
