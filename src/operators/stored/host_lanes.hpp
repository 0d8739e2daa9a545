// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "operators/stored/stored_number.hpp"

/// Eight columns at a time on a host, in as many vectors as this machine needs for them: one of AVX-512, two of AVX,
/// four of 16 bytes. A wider vector than the machine's is kept in memory by GCC 12. The compiler's own vectors, because
/// Kokkos' have no conversion from floats or halves.
namespace prismfield {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

using DoubleVector = double __attribute__((vector_size(vector_bytes)));
using FloatVector = float __attribute__((vector_size(vector_bytes / 2)));

struct EightDoubles {
  static constexpr int size = vector_bytes / static_cast<int>(sizeof(double));
  static constexpr int vectors = 8 / size;
  DoubleVector part[vectors];
};

/// f(0) to f(n - 1), written out: GCC 12 leaves in memory what a loop indexes that it unrolls later.
template <int n, class F>
[[gnu::always_inline]] inline void unrolled(const F& f) {
  if constexpr (n > 0) {
    unrolled<n - 1>(f);
    f(n - 1);
  }
}

/// a b + c with one rounding where the machine can: what a compiler fuses by itself depends on how many vectors a
/// function takes at a time, and each has the bits that it has alone.
[[gnu::always_inline]] inline DoubleVector multiply_add(DoubleVector a, DoubleVector b, DoubleVector c) {
#if defined(__AVX512F__)
  return (DoubleVector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX__) && defined(__FMA__)
  return (DoubleVector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

/// The same with one number for all lanes. Without a constant of a vector type, at which nvcc 13.0 breaks down.
[[gnu::always_inline]] inline DoubleVector multiply_add(double a, DoubleVector b, DoubleVector c) {
#if defined(__AVX512F__)
  return multiply_add((DoubleVector)_mm512_set1_pd(a), b, c);
#elif defined(__AVX__)
  return multiply_add((DoubleVector)_mm256_set1_pd(a), b, c);
#else
  return a * b + c;
#endif
}

/// sum += a * b
[[gnu::always_inline]] inline void add_product(EightDoubles& sum, const EightDoubles& a, const EightDoubles& b) {
  unrolled<EightDoubles::vectors>([&](int k) { sum.part[k] = multiply_add(a.part[k], b.part[k], sum.part[k]); });
}
[[gnu::always_inline]] inline void add_product(EightDoubles& sum, double a, const EightDoubles& b) {
  unrolled<EightDoubles::vectors>([&](int k) { sum.part[k] = multiply_add(a, b.part[k], sum.part[k]); });
}

/// The sum of all eight, in one order for every width.
[[gnu::always_inline]] inline double sum_of(const EightDoubles& a) {
#if defined(__AVX__)
#if defined(__AVX512F__)
  const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a.part[0]), _mm512_extractf64x4_pd(a.part[0], 1));
#else
  const __m256d four = _mm256_add_pd(a.part[0], a.part[1]);
#endif
  const __m128d two = _mm_hadd_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return two[0] + two[1];
#else
  double all[8];
  std::memcpy(all, &a, sizeof(all));
  return ((all[0] + all[4]) + (all[1] + all[5])) + ((all[2] + all[6]) + (all[3] + all[7]));
#endif
}

#if defined(__AVX__)
/// On AVX eight are loaded at once and widened by halves of the register, which is faster than four at a time.
[[gnu::always_inline]] inline void widen(__m256 floats, EightDoubles& to) {
#if defined(__AVX512F__)
  to.part[0] = (DoubleVector)_mm512_cvtps_pd(floats);
#else
  to.part[0] = (DoubleVector)_mm256_cvtps_pd(_mm256_castps256_ps128(floats));
  to.part[1] = (DoubleVector)_mm256_cvtps_pd(_mm256_extractf128_ps(floats, 1));
#endif
}
#endif

/// Asks for as many bytes as are read here, 8 KiB ahead: the stream of entries that products read. In products with
/// four vectors a core has too few reads of its own under way beside them.
template <std::size_t bytes>
[[gnu::always_inline]] inline void prefetch_entries(const void* here) {
  constexpr std::size_t ahead = 8192, line = 64;
  for (std::size_t at = 0; at < bytes; at += line) {
    __builtin_prefetch(static_cast<const char*>(here) + ahead + at);
  }
}

[[gnu::always_inline]] inline void load_eight(const double* from, EightDoubles& to) {
  unrolled<EightDoubles::vectors>(
      [&](int k) { std::memcpy(&to.part[k], from + k * EightDoubles::size, sizeof(DoubleVector)); });
}
[[gnu::always_inline]] inline void load_eight(const float* from, EightDoubles& to) {
#if defined(__AVX__)
  widen(_mm256_loadu_ps(from), to);
#else
  unrolled<EightDoubles::vectors>([&](int k) {
    FloatVector floats;
    std::memcpy(&floats, from + k * EightDoubles::size, sizeof(floats));
    to.part[k] = __builtin_convertvector(floats, DoubleVector);
  });
#endif
}
[[gnu::always_inline]] inline void load_eight(const Half* from, EightDoubles& to) {
#if defined(__F16C__)
  __m128i bits;
  std::memcpy(&bits, from, sizeof(bits));
  widen(_mm256_cvtph_ps(bits), to);
#else
  for (int k = 0; k < 8; ++k) to.part[k / EightDoubles::size][k % EightDoubles::size] = value_of(from[k]);
#endif
}

}  // namespace prismfield
