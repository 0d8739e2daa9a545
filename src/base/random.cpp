// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"

#include <cmath>

namespace prismfield {
namespace {

// std::fma throughout: libm's log and a compiler's freedom to fuse products and sums differ between machines.

template <std::size_t n>
double polynomial(const std::array<double, n>& coefficients, double x) noexcept {
  double sum = coefficients[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

/// Natural logarithm of a positive normal number, relative error about 1e-16, from exactly rounded operations only.
double portable_log(double x) noexcept {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh s, |s| < 0.1716: the first term left out is below 1e-19
  static constexpr std::array<double, 13> terms = {1.0 / 1,  1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                                   1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25};
  const double s = (mantissa - 1) / (mantissa + 1);
  const double twice = 2 * s;
  return std::fma(static_cast<double>(exponent), 0.69314718055994531, twice * polynomial(terms, s * s));
}

double uniform_from_bits(double min, double max, std::uint64_t bits) noexcept {
  const double value = std::fma(static_cast<double>(bits >> 11) * 0x1p-53, max - min, min);
  return value < max ? value : std::nextafter(max, min);
}

}  // namespace

double random_uniform(double min, double max, std::uint64_t seed, RandomStream stream, std::uint64_t index) noexcept {
  return uniform_from_bits(min, max, random_bits(seed, stream, index));
}

void fill_uniform(double min, double max, std::uint64_t seed, RandomStream stream, std::uint64_t first,
                  std::int64_t count, double* out) noexcept {
  std::int64_t i = 0;
  if (first % 2 == 1 && count > 0) out[i++] = random_uniform(min, max, seed, stream, first);
  for (; i + 1 < count; i += 2) {
    const auto bits = random_bit_pair(seed, stream, (first + static_cast<std::uint64_t>(i)) / 2);
    out[i] = uniform_from_bits(min, max, bits[0]);
    out[i + 1] = uniform_from_bits(min, max, bits[1]);
  }
  if (i < count) out[i] = random_uniform(min, max, seed, stream, first + static_cast<std::uint64_t>(i));
}

double normal_quantile(double p) noexcept {
  static constexpr std::array<double, 8> a = {
      3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr std::array<double, 8> b = {1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
  static constexpr std::array<double, 8> c = {
      1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
      1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr std::array<double, 8> d = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
  static constexpr std::array<double, 8> e = {
      6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr std::array<double, 8> f = {1.0,
                                              5.99832206555887937690e-1,
                                              1.36929880922735805310e-1,
                                              1.48753612908506148525e-2,
                                              7.86869131145613259100e-4,
                                              1.84631831751005468180e-5,
                                              1.42151175831644588870e-7,
                                              2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = std::fma(-q, q, 0.180625);
    return q * (polynomial(a, r) / polynomial(b, r));
  }
  const double tail = q < 0 ? p : 1 - p;
  const double r = std::sqrt(-portable_log(tail));
  const double size =
      r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -size : size;
}

double random_normal(std::uint64_t seed, RandomStream stream, std::uint64_t index) noexcept {
  // 52 bits and a half, so that neither end of (0, 1) is reached and 1 - p is exact
  const auto bits = static_cast<double>(random_bits(seed, stream, index) >> 12);
  return normal_quantile((bits + 0.5) * 0x1p-52);
}

}  // namespace prismfield
