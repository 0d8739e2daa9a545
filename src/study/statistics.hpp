// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace prismfield {

/// A value and the bounds of its 95 % interval; NaN: not known.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// The value below which a part p in [0, 1] of rising values lies, linear between two of them (Hyndman and Fan's type
/// 7, the default of numpy and R); NaN of none.
[[nodiscard]] double quantile(std::span<const double> rising, double p);

/// NaN of none.
[[nodiscard]] double median(std::vector<double> values);

/// What resampling takes.
struct Bootstrap {
  /// seed of the study
  std::uint64_t seed = 1;
  std::size_t resamples = 10'000;
};

/// Medians of `resamples` samples drawn from `sample` with replacement (Efron, Annals of Statistics 7, 1979). The draws
/// depend on the seed and `series` alone, so that two quantities of the same runs are drawn together; empty where fewer
/// than two values leave nothing to draw.
[[nodiscard]] std::vector<double> resampled_medians(std::span<const double> sample, const Bootstrap& bootstrap,
                                                    std::uint64_t series);

/// A value with the 2.5 and 97.5 % quantiles of what it came to in resamples, NaN among them left out; without a bound
/// where more than a tenth is NaN or there is none.
[[nodiscard]] Estimate with_interval(double value, std::vector<double> resampled);

/// The time of n workers by Amdahl's law, T(n) = T(1) (s + (1 - s)/n).
struct AmdahlFit {
  /// s
  double serial = std::numeric_limits<double>::quiet_NaN();
  /// T(1)
  double seconds_of_one = std::numeric_limits<double>::quiet_NaN();
};

/// Both by least squares of the relative residuals over all points; NaN with fewer than two numbers of workers. Noise
/// can put s below 0.
[[nodiscard]] AmdahlFit fit_amdahl(std::span<const double> workers, std::span<const double> seconds);

/// Gustafson's serial fraction s of speed-ups S(n) = n - s (n - 1), n and S relative to the same point, by least
/// squares of the efficiencies S/n; NaN without a point of n > 1.
[[nodiscard]] double fit_gustafson(std::span<const double> workers, std::span<const double> speed_ups);

/// Karp and Flatt's experimentally determined serial fraction, (1/S - 1/n)/(1 - 1/n); NaN for n <= 1.
[[nodiscard]] double karp_flatt(double speed_up, double workers);

/// Pennycook, Sewall and Lee's performance portability: the harmonic mean of the efficiencies on all platforms, 0 when
/// there is one without support (an efficiency of 0), NaN when one is not known or there is none.
[[nodiscard]] double performance_portability(std::span<const double> efficiencies);

}  // namespace prismfield
