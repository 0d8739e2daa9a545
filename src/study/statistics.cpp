// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace prismfield {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double quantile(std::span<const double> rising, double p) {
  if (rising.empty()) return nan;
  const double place = p * static_cast<double>(rising.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= rising.size()) return rising.back();
  const double part = place - static_cast<double>(below);
  // equal neighbours, infinite ones too, are their own mean
  if (rising[below] == rising[below + 1]) return rising[below];
  return rising[below] + part * (rising[below + 1] - rising[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::vector<double> resampled_medians(std::span<const double> sample, const Bootstrap& bootstrap,
                                      std::uint64_t series) {
  std::vector<double> medians;
  if (sample.size() < 2) return medians;
  medians.reserve(bootstrap.resamples);
  // draws are told apart by their number within a series, series by the bits above
  std::uint64_t draw = series << 40U;
  std::vector<double> drawn(sample.size());
  const auto n = static_cast<double>(sample.size());
  for (std::size_t b = 0; b < bootstrap.resamples; ++b) {
    for (double& value : drawn) {
      value = sample[static_cast<std::size_t>(random_uniform(bootstrap.seed, RandomStream::bootstrap, draw++) * n)];
    }
    std::sort(drawn.begin(), drawn.end());
    medians.push_back(quantile(drawn, 0.5));
  }
  return medians;
}

Estimate with_interval(double value, std::vector<double> resampled) {
  Estimate estimate;
  estimate.value = value;
  const std::size_t n = resampled.size();
  resampled.erase(std::remove_if(resampled.begin(), resampled.end(), [](double x) { return std::isnan(x); }),
                  resampled.end());
  if (resampled.empty() || 10 * resampled.size() < 9 * n || std::isnan(value)) return estimate;
  std::sort(resampled.begin(), resampled.end());
  estimate.low = quantile(resampled, 0.025);
  estimate.high = quantile(resampled, 0.975);
  return estimate;
}

AmdahlFit fit_amdahl(std::span<const double> workers, std::span<const double> seconds) {
  // T = a + b/n, so that 1 = a u + b v + residual with u = 1/T and v = 1/(n T)
  double uu = 0, uv = 0, vv = 0, u_sum = 0, v_sum = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const double u = 1 / seconds[i];
    const double v = u / workers[i];
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u_sum += u;
    v_sum += v;
  }
  const double determinant = uu * vv - uv * uv;
  // one number of workers leaves rounding
  if (!(determinant > 1e-12 * uu * vv)) return {};
  const double a = (u_sum * vv - v_sum * uv) / determinant;
  const double b = (v_sum * uu - u_sum * uv) / determinant;
  return {a / (a + b), a + b};
}

double fit_gustafson(std::span<const double> workers, std::span<const double> speed_ups) {
  double product = 0, square = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    // S/n = 1 - s (1 - 1/n)
    const double x = 1 - 1 / workers[i];
    product += (1 - speed_ups[i] / workers[i]) * x;
    square += x * x;
  }
  return square > 0 ? product / square : nan;
}

double karp_flatt(double speed_up, double workers) {
  if (!(workers > 1)) return nan;
  return (1 / speed_up - 1 / workers) / (1 - 1 / workers);
}

double performance_portability(std::span<const double> efficiencies) {
  if (efficiencies.empty()) return nan;
  double inverse = 0;
  bool unknown = false;
  for (const double efficiency : efficiencies) {
    if (efficiency == 0) return 0;
    if (std::isnan(efficiency)) unknown = true;
    inverse += 1 / efficiency;
  }
  return unknown ? nan : static_cast<double>(efficiencies.size()) / inverse;
}

}  // namespace prismfield
