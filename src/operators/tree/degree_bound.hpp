// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "operators/tree/tree.hpp"

/// The degree that an exchange needs, by a proved bound of its error.
///
/// A source cell of radius a and a target cell of radius b at the distance d > a + b, total degree n + k <= p, and
/// P_n^2 = sum over all orders m of (n - m)! (n + m)! |M_n^m|^2: the potential (q = 0), each component of the vector
/// (1) and of the tensor (2) is exact to
///   E_q = sum over N > p of N!/(N - q)! d^-(N+1) H(N - q),   H(K) = sum over n <= K of binomial(K, n) P_n b^(K-n).
/// For what is not computed, and for densities that are not known, P_n <= sum over prisms of |mass| r^n, r the distance
/// of the furthest corner, which is at most a^(n-k) times the same of k < n, and M a^n, M the sum of |mass|. So
/// H(K) <= M (a + b)^K. Kept is h(K) = H(K)/(M (a + b)^K) at b = a 2^j; log H is convex in log b: between two b its
/// chord is above it.
///
/// Of magnetised prisms, dipoles of the moments mu, P_0 = 0 and
///   P_n^2 = (mu . grad_x)(mu . grad_y) |x|^n |y|^n P_n(cos(x, y)) at x = y,
/// n^2 |mu|^2 r^(2n-2) along x and n (n + 1)/2 of that, which is no more, across: P_n <= n |mu| r^(n-1). As
/// binomial(K + 1, n)/(K + 1) = binomial(K, n - 1)/n, H(K + 1)/(K + 1) is the H(K) of P'_n = P_(n+1)/(n + 1), for which
/// all that holds with the magnitudes |mu| as masses; and as N!/(N - q)! (N - q) = N!/(N - q - 1)!, the E_q of the
/// magnetic potential W is the E_(q+1) of P'. So magnetised prisms count as masses, and each field of theirs as one of
/// a derivative more: B (q = 1) as the tensor, the gradient of B (2) as that of the tensor.
namespace prismfield::fast {

/// 2^x from above, by a thousandth at most; below x = -126 that of -126.
KOKKOS_INLINE_FUNCTION float exp2_above(float x) {
  const float in_range = Kokkos::max(x, -126.0F);
  const int whole = static_cast<int>(in_range + 127);
  const float f = in_range - static_cast<float>(whole - 127);
  return Kokkos::bit_cast<float>(whole << 23) * (1 + f - f * (1 - f) * (0.306F + 0.072F * f));
}

/// log2 x from above, by 0.007 at most, of a normal number x > 0.
KOKKOS_INLINE_FUNCTION float log2_above(float x) {
  const auto bits = Kokkos::bit_cast<std::int32_t>(x);
  const float f = Kokkos::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1;
  return static_cast<float>((bits >> 23) - 127) + f + f * (1 - f) * (0.4428F - 0.164F * f);
}

/// Sizes of targets for which h is kept, b/a = 2^-3 ... 2^3, and the powers K of each.
inline constexpr int n_target_sizes = 7;
inline constexpr int first_target_size = -3;
inline constexpr int most_power = max_degree + 16;
inline constexpr int n_powers = most_power + 1;

/// log2 h, (cell, target size * n_powers + K).
template <class Memory>
using BoundTable = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;

/// Weights of P_n/(M a^n) in h: (n, target size * n_powers + K): binomial(K, n) (a/(a + b))^n (b/(a + b))^(K-n); the
/// last row: those of all n above `degree`.
[[nodiscard]] inline std::vector<float> bound_weights(int degree) {
  constexpr int n_columns = n_target_sizes * n_powers;
  std::vector<float> weights(static_cast<std::size_t>((degree + 2) * n_columns));
  for (int size = 0; size < n_target_sizes; ++size) {
    const double share_of_a = 1 / (1 + std::exp2(size + first_target_size));
    for (int k = 0; k <= most_power; ++k) {
      double binomial = 1;
      for (int n = 0; n <= k; ++n) {
        const double weight = binomial * std::pow(share_of_a, n) * std::pow(1 - share_of_a, k - n);
        weights[static_cast<std::size_t>(std::min(n, degree + 1) * n_columns + size * n_powers + k)] +=
            static_cast<float>(weight);
        binomial = binomial * (k - n) / (n + 1);
      }
    }
  }
  return weights;
}

/// The most prisms of a cell that sums of |mass| r^n run over; M a^n replaces sums over more.
inline constexpr std::int64_t most_summed_prisms = 4096;

/// The table's row of a cell.
template <class Memory>
struct BoundCells {
  int degree;
  /// whether the moments are those of the densities that matter, or only |mass| is; of magnetised prisms P' is known of
  /// them up to a degree less
  bool knows_moments;
  /// see bound_weights()
  Kokkos::View<const float**, Kokkos::LayoutRight, Memory> weights;
  Expansions<Memory> sources;
  TreePrisms<Memory> prisms;
  /// (cell) sum of |mass|
  Kokkos::View<const double*, Memory> mass;
  BoundTable<Memory> table;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    constexpr int n_columns = n_target_sizes * n_powers;
    // P_n/(M a^n), the last one for all that are not computed
    double power[max_degree + 2];
    for (int n = 0; n <= degree + 1; ++n) power[n] = mass(cell) > 0 ? 1 : 0;
    if (mass(cell) > 0) {
      const bool has_sums = sources.cells.end(cell) - sources.cells.begin(cell) <= most_summed_prisms;
      const int above = prisms.are_magnetised() ? 1 : 0;
      const int known = degree - above;
      if (has_sums && knows_moments) power[degree + 1] = power[degree] = sum_of_power(cell, (known + 1) / 2);
      if (has_sums && !knows_moments) sums_of_powers(cell, power);
      for (int n = 0; knows_moments && n <= known; ++n) power[n] = Kokkos::min(1.0, power_of_moments(cell, n, above));
    }
    float h[n_columns];
    for (int i = 0; i < n_columns; ++i) h[i] = 0;
    for (int n = 0; n <= degree + 1; ++n) {
      const auto factor = static_cast<float>(power[n]);
      for (int i = 0; i < n_columns; ++i) h[i] += weights(n, i) * factor;
    }
    // the floats' rounding; below the least h a bound is that
    constexpr float rounding = 1e-4F, least = 1e-37F;
    for (int i = 0; i < n_columns; ++i) {
      table(cell, i) = log2_above(Kokkos::max(h[i], least)) + rounding;
    }
  }

private:
  /// P_n/(M a^n); with `above` = 1 P'_n instead.
  [[nodiscard]] KOKKOS_FUNCTION double power_of_moments(std::int64_t cell, int n, int above) const {
    const int of = n + above;
    double sum = 0;
    for (int m = 0; m <= of; ++m) {
      const double re = sources.values(cell, term(of, m)), im = sources.values(cell, n_terms(degree) + term(of, m));
      sum += (m == 0 ? 1 : 2) * (re * re + im * im);
    }
    const double scale = sources.cells.scale(cell), of_unit = above == 0 ? 1 : scale / of;
    return Kokkos::sqrt(sum) * of_unit * Kokkos::pow(scale / sources.cells.radius(cell), n) / mass(cell);
  }
  /// (r/a)^2 of a prism, at most 1.
  [[nodiscard]] KOKKOS_FUNCTION double reach_squared(std::int64_t cell, std::int64_t p) const {
    double squared = 0;
    for (int d = 0; d < 3; ++d) {
      const double away = Kokkos::abs(prisms.centre(d, p) - sources.cells.centre(cell, d)) + prisms.half(d, p);
      squared += away * away;
    }
    return Kokkos::min(1.0, squared / (sources.cells.radius(cell) * sources.cells.radius(cell)));
  }
  /// The sum of |mass| (r/a)^(2 half)/M.
  [[nodiscard]] KOKKOS_FUNCTION double sum_of_power(std::int64_t cell, int half) const {
    double sum = 0;
    for (std::int64_t p = sources.cells.begin(cell); p < sources.cells.end(cell); ++p) {
      double power = 1, base = reach_squared(cell, p);
      for (int left = half; left > 0; left /= 2, base *= base) power *= left % 2 == 1 ? base : 1.0;
      sum += Kokkos::abs(prisms.mass(p)) * power;
    }
    return sum / mass(cell);
  }
  /// The same of all powers.
  KOKKOS_FUNCTION void sums_of_powers(std::int64_t cell, double (&power)[max_degree + 2]) const {
    for (int n = 0; n <= degree + 1; ++n) power[n] = 0;
    for (std::int64_t p = sources.cells.begin(cell); p < sources.cells.end(cell); ++p) {
      const double reach = Kokkos::sqrt(reach_squared(cell, p));
      double term = Kokkos::abs(prisms.mass(p)) / mass(cell);
      for (int n = 0; n <= degree + 1; ++n, term *= reach) power[n] += term;
    }
  }
};

/// Errors allowed to an exchange, for q = 0, 1, 2; infinite where no such field is wanted.
struct AllowedErrors {
  double of[3];
  /// 0: of gravity; 1: of the magnetic potential, whose E_q is the E_(q+1) of P'
  int above = 0;
};

/// Below, floats would lose terms.
inline constexpr double least_left = 1e-30;

/// The least total degree, 0 ... most, with which an exchange keeps within the allowed errors; -1: none.
struct LeastDegree {
  AllowedErrors allowed;
  int most;

  /// `log_h`: the row of the source. mass: M.
  KOKKOS_FUNCTION int operator()(double a, double b, double d, double mass, const float* log_h) const {
    // a smaller target counts as the smallest that is kept
    constexpr double least_size = 1.0 / (1 << -first_target_size);
    const double reach = a + Kokkos::max(b, a * least_size);
    const double ratio = reach / d;
    if (ratio >= 0.95) return -1;
    // allowed sums of N!/(N - q)! ratio^(N-q) h(N - q), q from `above` on
    double left[3];
    double per_mass = (allowed.above == 0 ? d : d * d) / mass;
    for (int i = 0; i < 3; ++i, per_mass *= d) {
      left[i] = allowed.of[i] * per_mass;
      if (left[i] < least_left) return -1;
    }
    const auto log_ratio = static_cast<float>(Kokkos::log2(ratio));
    const Chord chord(log_h, static_cast<float>(b / a), log_ratio);
    // as most pairs that are looked at
    if (passes(chord, most + 1, left)) return -1;
    const int top = first_power(ratio, log_ratio, left);
    if (top < 0) return -1;
    const int above = allowed.above;
    double term[3] = {chord(top - above), chord(top - above - 1), chord(top - above - 2)};
    for (int n = top; n > 2; --n) {
      double factor[3];
      derivatives_of(n, factor);
      for (int i = 0; i < 3; ++i) left[i] -= factor[i] * term[i];
      if (left[0] < 0 || left[1] < 0 || left[2] < 0) return n <= most ? n : -1;
      term[0] = term[1];
      term[1] = term[2];
      term[2] = chord(n - above - 3);
    }
    return 2;
  }

private:
  /// n!/(n - q)! of the three q.
  KOKKOS_FUNCTION void derivatives_of(int n, double (&factor)[3]) const {
    factor[0] = allowed.above == 0 ? 1 : n;
    for (int i = 0; i < 2; ++i) factor[i + 1] = factor[i] * (n - allowed.above - i);
  }

  /// ratio^K h(K), h by the chord between two sizes of targets; in floats, for whose rounding h has room.
  struct Chord {
    /// the row of the size below; how far from there to the next; 0 where h = 1, else 1
    const float* log_h;
    float place, counts, log_ratio;

    KOKKOS_FUNCTION Chord(const float* row, float b_per_a, float log_of_ratio) : log_ratio(log_of_ratio) {
      const float size = Kokkos::max(Kokkos::log2(b_per_a) - static_cast<float>(first_target_size), 0.0F);
      constexpr int last = n_target_sizes - 1;
      counts = size <= last ? 1.0F : 0.0F;
      const int below = Kokkos::min(static_cast<int>(size), last - 1);
      place = size - static_cast<float>(below);
      log_h = row + below * n_powers;
    }
    KOKKOS_FUNCTION float operator()(int k) const {
      if (k <= 0) return 1;
      const float log_of_h = log_h[k] + place * (log_h[k + n_powers] - log_h[k]);
      return exp2_above(static_cast<float>(k) * log_ratio + counts * log_of_h);
    }
  };

  /// Whether the term of degree n alone is more than is left, as most are where there is no degree.
  [[nodiscard]] KOKKOS_FUNCTION bool passes(const Chord& chord, int n, const double (&left)[3]) const {
    double factor[3];
    derivatives_of(n, factor);
    const int k = n - allowed.above;
    return factor[0] * chord(k) > left[0] || factor[1] * chord(k - 1) > left[1] || factor[2] * chord(k - 2) > left[2];
  }
  /// The N from which on the sum of all further terms with h = 1 is at most a tenth of what is left, or, as far as h is
  /// kept, all of it; the sum is subtracted; -1: none.
  [[nodiscard]] KOKKOS_FUNCTION int first_power(double ratio, float log_ratio, double (&left)[3]) const {
    // where a term alone, times 1/(1 - ratio)^(q + 1), is small enough, and a few more for its factor n^q
    const float log_rest = log2_above(static_cast<float>(1 - ratio));
    float least = 4;
    for (int i = 0; i < 3; ++i) {
      const auto tenth = static_cast<float>(Kokkos::min(0.1 * left[i], 1.0));
      const auto order = static_cast<float>(allowed.above + i);
      least = Kokkos::max(least, order + (log2_above(tenth) + (order + 1) * log_rest - 4 * order) / log_ratio);
    }
    for (int n = static_cast<int>(Kokkos::min(least, static_cast<float>(most_power) - 0.5F)); n <= most_power; ++n) {
      double rest[3];
      if (!further_terms(ratio, log_ratio, n, rest)) return -1;
      const double part = n < most_power ? 0.1 : 1.0;
      if (rest[0] > part * left[0] || rest[1] > part * left[1] || rest[2] > part * left[2]) continue;
      for (int i = 0; i < 3; ++i) left[i] -= rest[i];
      return n;
    }
    return -1;
  }
  /// The sums over N > n of N!/(N - q)! ratio^(N-q): at most the first term/(1 - ratio (n + 2)/(n + 2 - q)), false
  /// where that is none.
  [[nodiscard]] KOKKOS_FUNCTION bool further_terms(double ratio, float log_ratio, int n, double (&rest)[3]) const {
    const int above = allowed.above;
    double term = exp2_above(static_cast<float>(n + 1) * log_ratio);
    if (above > 0) term *= (n + 1) / ratio;
    for (int i = 0; i < 3; ++i) {
      const int q = above + i;
      const double growth = ratio * (n + 2) / (n + 2 - q);
      if (growth >= 1) return false;
      rest[i] = term / (1 - growth);
      term *= (n + 1 - q) / ratio;
    }
    return true;
  }
};

}  // namespace prismfield::fast
