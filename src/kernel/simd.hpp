// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_SIMD.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

// Kernels are functions of host and device, but nvcc refuses a host's vectors in anything that could run on a device:
// the sources that work on such vectors (engine/host_tiles.cpp) see the kernels as functions of the host alone.
// The two kinds differ, so each has an inline namespace of its own; types that pass from one kind of source to the
// other, and what these types are made of, stand outside of it.
//
// Where nothing is optimised, nothing is inlined by force: kernels in one piece took compilers minutes and gigabytes.
#if defined(PRISMFIELD_HOST_LANES)
#define PRISMFIELD_LANES host_lanes
#define PRISMFIELD_FUNCTION
#define PRISMFIELD_LARGE_FUNCTION [[gnu::noinline]]
#if defined(__OPTIMIZE__)
#define PRISMFIELD_INLINE_FUNCTION [[gnu::always_inline]] inline
#else
#define PRISMFIELD_INLINE_FUNCTION inline
#endif
#else
#define PRISMFIELD_LANES device_lanes
#define PRISMFIELD_FUNCTION KOKKOS_FUNCTION
#if defined(__CUDACC__)
// Never out of line on a device: nvcc 13.0's out-of-line copies of nested closed forms computed wrongly on an H100
// (vector_about_centre: 1e-12 instead of 1e-16, up to 4e-3 in long prisms; inlined, the same source is right).
#define PRISMFIELD_LARGE_FUNCTION KOKKOS_FORCEINLINE_FUNCTION
#else
#define PRISMFIELD_LARGE_FUNCTION [[gnu::noinline]] KOKKOS_FUNCTION
#endif
#define PRISMFIELD_INLINE_FUNCTION KOKKOS_FORCEINLINE_FUNCTION
#endif

/// Lanes: one arithmetic type for several observation points at once. A lane is a plain float or double, or on a host a
/// Kokkos SIMD vector; the kernels are written once over both. This is the only file that names Kokkos' SIMD types.
/// Lanes are compared with < and <= only: > and >= of Kokkos 4.7.00's AVX-512 double vectors take their operands in the
/// wrong order.
namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

namespace kx = Kokkos::Experimental;

#if defined(PRISMFIELD_HOST_LANES)
using std::bit_cast;
#else
using Kokkos::bit_cast;
#endif

// Kokkos' own choice of an ABI follows the default execution space, which is scalar in a build with CUDA: a host's
// vectors are named here.
#if defined(KOKKOS_ARCH_AVX512XEON)
inline constexpr int native_bits = 512;
template <int W>
using HostAbi = kx::simd_abi::avx512_fixed_size<W>;
#elif defined(KOKKOS_ARCH_AVX2)
inline constexpr int native_bits = 256;
template <int W>
using HostAbi = kx::simd_abi::avx2_fixed_size<W>;
#elif defined(KOKKOS_ARCH_ARM_NEON)
inline constexpr int native_bits = 128;
template <int W>
using HostAbi = kx::simd_abi::neon_fixed_size<W>;
#else
inline constexpr int native_bits = 0;
template <int W>
using HostAbi = kx::simd_abi::scalar;
#endif

/// Lanes that one host vector instruction works on; 1 where Kokkos knows no vector instructions of this machine.
template <class T>
inline constexpr int native_lanes = native_bits == 0 ? 1 : native_bits / (8 * static_cast<int>(sizeof(T)));

/// Value type, number of lanes and integer twin of a lane type.
template <class L>
struct LaneTraits {
  static_assert(std::is_floating_point_v<L>);
  using value_type = L;
  using bits_type = std::conditional_t<sizeof(L) == 8, std::uint64_t, std::int32_t>;
  static constexpr int lanes = 1;
};
template <class T, class Abi>
struct LaneTraits<kx::basic_simd<T, Abi>> {
  using value_type = T;
  using bits_type = kx::basic_simd<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::int32_t>, Abi>;
  static constexpr int lanes = static_cast<int>(kx::basic_simd<T, Abi>::size());
};

template <class L>
using value_t = typename LaneTraits<L>::value_type;
template <class L>
inline constexpr int lanes_v = LaneTraits<L>::lanes;

namespace detail {
template <class T, int W>
struct HostLane {
  using type = kx::basic_simd<T, HostAbi<W>>;
};
template <class T>
struct HostLane<T, 1> {
  using type = T;
};
}  // namespace detail

/// A host lane type of W values; W is 1 or a width that this machine's vector instructions have.
template <class T, int W>
using HostLane = typename detail::HostLane<T, W>::type;

template <class L>
inline constexpr bool is_scalar_lane = std::is_floating_point_v<L>;

// What the kernels ask of a lane, for plain numbers and SIMD vectors.

template <class T>
requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> select(const kx::basic_simd_mask<T, Abi>& m,
                                                         const kx::basic_simd<T, Abi>& yes,
                                                         const kx::basic_simd<T, Abi>& no) {
  return kx::condition(m, yes, no);
}

#define PRISMFIELD_LANE_FUNCTION(function)                                                                        \
  template <class T>                                                                                              \
  requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T function(T a) { return Kokkos::function(a); } \
  template <class T, class Abi>                                                                                   \
  PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> function(const kx::basic_simd<T, Abi>& a) {                   \
    return Kokkos::function(a);                                                                                   \
  }
PRISMFIELD_LANE_FUNCTION(abs)
PRISMFIELD_LANE_FUNCTION(sqrt)
#undef PRISMFIELD_LANE_FUNCTION

#if defined(__CUDA_ARCH__)
/// What CUDA's rsqrt computes, bit for bit, for numbers far from 0 and from infinity. Its branch for the others would
/// keep the compiler from working on several prisms at a time, see prisms_in_step.
__device__ inline double plain_inverse_sqrt(double a) {
  double guess;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(a));
  const double rest = ::fma(a, -(guess * guess), 1.0);
  return ::fma(::fma(rest, 0.375, 0.5), guess * rest, guess);
}
__device__ inline float plain_inverse_sqrt(float a) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a));
  return root;
}
#else
template <class T>
PRISMFIELD_INLINE_FUNCTION T plain_inverse_sqrt(T a) {
  return Kokkos::rsqrt(a);
}
#endif

/// The threads of a device's warp that work on neighbouring points in step. Where each chose its own order, a warp went
/// through those of all its threads in turn: 29 of 32 threads worked on average, and 149 instructions of double
/// precision went to a pair of nine fields, 129 with one order a warp.
struct Warp {
  std::uint32_t threads;

  static constexpr int size = 32;
  /// The warp of thread `rank` of a block; the first `working` threads of the block work on points.
  PRISMFIELD_INLINE_FUNCTION static Warp of(std::int64_t rank, std::int64_t working) {
    const std::int64_t n = working - rank / size * size;
    return {n < size ? (std::uint32_t{1} << n) - 1 : ~std::uint32_t{0}};
  }
  /// The smallest value of all these threads; every one must call it. Where a device has no such instruction, it is the
  /// thread's own value.
  PRISMFIELD_INLINE_FUNCTION std::int32_t smallest(std::int32_t value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(threads, value);
#else
    return value;
#endif
  }
  /// Bit i: whether asks(i) holds, i below `size`, asked by thread i; 1 where no thread could be asked.
  template <class Asks>
  PRISMFIELD_INLINE_FUNCTION std::uint32_t bits_of(std::int64_t rank, const Asks& asks) const {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(threads, asks(static_cast<int>(rank % size))) | ~threads;
#else
    static_cast<void>(rank), static_cast<void>(asks);
    return ~std::uint32_t{0};
#endif
  }
};

/// 1/sqrt(a) to 2 ulp for a > 0, neither denormal nor infinite. On a host the vector square root and division beat a
/// guess sharpened by Newton steps (measured: 2.9 against 3.3 ns a pair), because they run beside the multiplications.
template <class T>
requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T inverse_sqrt(T a) {
  KOKKOS_IF_ON_HOST(return T(1) / Kokkos::sqrt(a);)
  KOKKOS_IF_ON_DEVICE(return plain_inverse_sqrt(a);)
}
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> inverse_sqrt(const kx::basic_simd<T, Abi>& a) {
  return kx::basic_simd<T, Abi>(T(1)) / Kokkos::sqrt(a);
}

/// The smaller or larger of two, without the library's care for NaN: never called with one.
#define PRISMFIELD_LANE_CHOICE(function, op)                                                                      \
  template <class T>                                                                                              \
  requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T function(T a, T b) { return a op b ? a : b; } \
  template <class T, class Abi>                                                                                   \
  PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> function(const kx::basic_simd<T, Abi>& a,                     \
                                                             const kx::basic_simd<T, Abi>& b) {                   \
    return Kokkos::function(a, b);                                                                                \
  }
PRISMFIELD_LANE_CHOICE(min, <)
PRISMFIELD_LANE_CHOICE(max, >)
#undef PRISMFIELD_LANE_CHOICE

/// a b + c with one rounding.
template <class T>
requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T fma(T a, std::type_identity_t<T> b,
                                                                      std::type_identity_t<T> c) {
  return Kokkos::fma(a, b, c);
}
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> fma(const kx::basic_simd<T, Abi>& a,
                                                      const std::type_identity_t<kx::basic_simd<T, Abi>>& b,
                                                      const std::type_identity_t<kx::basic_simd<T, Abi>>& c) {
  return Kokkos::fma(a, b, c);
}

/// |magnitude| with the sign of `sign`, a signed zero included.
template <class T>
requires std::is_floating_point_v<T> PRISMFIELD_INLINE_FUNCTION T copysign(T magnitude, T sign) {
  return Kokkos::copysign(magnitude, sign);
}
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION kx::basic_simd<T, Abi> copysign(const kx::basic_simd<T, Abi>& magnitude,
                                                           const kx::basic_simd<T, Abi>& sign) {
  return Kokkos::copysign(magnitude, sign);
}

PRISMFIELD_INLINE_FUNCTION bool all(bool m) { return m; }
PRISMFIELD_INLINE_FUNCTION bool any(bool m) { return m; }
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION bool all(const kx::basic_simd_mask<T, Abi>& m) {
  return kx::all_of(m);
}
template <class T, class Abi>
PRISMFIELD_INLINE_FUNCTION bool any(const kx::basic_simd_mask<T, Abi>& m) {
  return kx::any_of(m);
}

/// Reads one lane's values from consecutive memory.
template <class L, class T>
PRISMFIELD_INLINE_FUNCTION L load(const T* from) {
  if constexpr (is_scalar_lane<L>) {
    return *from;
  } else {
    L r;
    r.copy_from(from, kx::simd_flag_default);
    return r;
  }
}

/// Writes one lane's values to consecutive memory.
template <class L, class T>
PRISMFIELD_INLINE_FUNCTION void store(const L& lane, T* to) {
  if constexpr (is_scalar_lane<L>) {
    *to = lane;
  } else {
    lane.copy_to(to, kx::simd_flag_default);
  }
}

/// The largest power of two that is not above a normal number a > 0; 0 at 0 and below the normal numbers.
template <class L>
PRISMFIELD_INLINE_FUNCTION L power_of_two_below(const L& a) {
  using B = typename LaneTraits<L>::bits_type;
  constexpr int mantissa = sizeof(value_t<L>) == 8 ? 52 : 23;
  return bit_cast<L>(B((bit_cast<B>(a) >> mantissa) << mantissa));
}

/// Numerator and denominator of a quotient brought to the same binade: the mantissa quotient's twin of frexp.
template <class L>
struct ScaledQuotient {
  /// b 2^exponent, so that a / b_scaled lies in [2/3, 3/2]
  L b_scaled;
  /// the exponent as a number of the lane's type
  L exponent;
};

/// Finds k so that a / (b 2^k) lies in [2/3, 3/2], by arithmetic on the numbers' bits; a, b positive and normal.
template <class L>
PRISMFIELD_INLINE_FUNCTION ScaledQuotient<L> scale_quotient(const L& a, const L& b) {
  using T = value_t<L>;
  // 64 bits are shifted without a sign (AVX2 has no other shift of them), 32 bits with one (Kokkos has no other
  // 32-bit vector on every machine): the bias keeps the shifted exponent positive where there is no sign
  using B = typename LaneTraits<L>::bits_type;
  using I = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::int32_t>;
  constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
  constexpr I half = I{1} << (mantissa - 1);
  constexpr I bias = sizeof(T) == 8 ? I{2048} : I{0};
  // an integer added to the bits of 1.5 2^mantissa is the same integer added to that number
  constexpr T magic = T(1.5) * static_cast<T>(I{1} << mantissa);
  const B bits_b = bit_cast<B>(b);
  const B k = (bit_cast<B>(a) - bits_b + B(static_cast<I>((bias << mantissa) + half))) >> mantissa;
  ScaledQuotient<L> q;
  q.b_scaled = bit_cast<L>(B(bits_b + ((k - B(bias)) << mantissa)));
  q.exponent = bit_cast<L>(B(k + B(bit_cast<I>(magic)))) - L(magic + static_cast<T>(bias));
  return q;
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
