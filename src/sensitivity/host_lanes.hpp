// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "sensitivity/stored_number.hpp"

/// Eight columns at a time on a host. The compiler's own vectors, because entries change their kind on the way, for
/// which Kokkos' have no instruction; a compiler makes of them what the machine has.
namespace prismfield {

using EightDoubles = double __attribute__((vector_size(64)));
using EightFloats = float __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load_eight(const double* from, EightDoubles& to) {
  std::memcpy(&to, from, sizeof(to));
}
[[gnu::always_inline]] inline void load_eight(const float* from, EightDoubles& to) {
  EightFloats floats;
  std::memcpy(&floats, from, sizeof(floats));
  to = __builtin_convertvector(floats, EightDoubles);
}
[[gnu::always_inline]] inline void load_eight(const Half* from, EightDoubles& to) {
#if defined(__F16C__)
  __m128i bits;
  std::memcpy(&bits, from, sizeof(bits));
  to = __builtin_convertvector((EightFloats)_mm256_cvtph_ps(bits), EightDoubles);
#else
  for (int k = 0; k < 8; ++k) to[k] = value_of(from[k]);
#endif
}

}  // namespace prismfield
