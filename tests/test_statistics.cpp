// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismfield {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Statistics, QuantilesAreThoseOfNumpy) {
  // numpy.quantile([1, 2, 4, 8, 16], p)
  const std::array<double, 5> values{1, 2, 4, 8, 16};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.025), 1.1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 0.6), 5.6);
  EXPECT_DOUBLE_EQ(quantile(values, 0.975), 15.2);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 16);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Statistics, MedianOfAnyOrder) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Bootstrap, DrawsMediansAsOftenAsTheBinomialLawSays) {
  // the median of n draws is at most the k-th of n values when more than half of the draws are: P(Bin(n, k/n) > n/2)
  const std::vector<double> sample{10, 20, 30, 40, 50, 60, 70};
  const Bootstrap bootstrap{3, 100'000};
  const auto medians = resampled_medians(sample, bootstrap, 0);
  ASSERT_EQ(medians.size(), bootstrap.resamples);
  const auto binomial = [](int n, int k) { return std::tgamma(n + 1) / (std::tgamma(k + 1) * std::tgamma(n - k + 1)); };
  for (int k = 1; k <= 7; ++k) {
    double expected = 0;
    for (int j = 4; j <= 7; ++j) {
      expected += binomial(7, j) * std::pow(k / 7.0, j) * std::pow(1 - k / 7.0, 7 - j);
    }
    const auto found = std::count_if(medians.begin(), medians.end(), [&](double m) { return m <= 10 * k; });
    // four standard deviations
    const double deviation = std::sqrt(expected * (1 - expected) / 100'000);
    EXPECT_NEAR(static_cast<double>(found) / 100'000, expected, 4 * deviation + 1e-12) << k;
  }
}

TEST(Bootstrap, IntervalsOfFiveRepeatsReachFromTheLeastToTheMost) {
  // P(median of five draws is the least) = P(Bin(5, 1/5) >= 3) = 5.8 %, more than the 2.5 % that are cut off
  const auto medians = resampled_medians(std::vector<double>{5, 1, 4, 2, 3}, Bootstrap{}, 0);
  const Estimate estimate = with_interval(3, medians);
  EXPECT_EQ(estimate.value, 3);
  EXPECT_EQ(estimate.low, 1);
  EXPECT_EQ(estimate.high, 5);
}

TEST(Bootstrap, IntervalsOfManyRepeatsCutTheTails) {
  std::vector<double> sample;
  for (int i = 1; i <= 101; ++i) sample.push_back(i);
  const Estimate estimate = with_interval(51, resampled_medians(sample, Bootstrap{}, 0));
  // the standard error of the median is 1/(2 f sqrt(n)) = sqrt(101)/2 = 5.0; 1.96 of these, and one value beside
  EXPECT_NEAR(estimate.low, 51 - 1.96 * 5.02, 1.1);
  EXPECT_NEAR(estimate.high, 51 + 1.96 * 5.02, 1.1);
}

TEST(Bootstrap, FollowsSeedAndSeriesAlone) {
  const std::vector<double> sample{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto first = resampled_medians(sample, Bootstrap{1, 100}, 0);
  EXPECT_EQ(first, resampled_medians(sample, Bootstrap{1, 100}, 0));
  EXPECT_NE(first, resampled_medians(sample, Bootstrap{2, 100}, 0));
  EXPECT_NE(first, resampled_medians(sample, Bootstrap{1, 100}, 1));
  // what is drawn together stays together
  std::vector<double> twice = sample;
  for (double& value : twice) value *= 2;
  auto doubled = resampled_medians(twice, Bootstrap{1, 100}, 0);
  for (double& value : doubled) value /= 2;
  EXPECT_EQ(first, doubled);
}

TEST(Bootstrap, HasNothingToDrawFromOneValue) {
  EXPECT_TRUE(resampled_medians(std::vector<double>{3}, Bootstrap{}, 0).empty());
  const Estimate estimate = with_interval(3, {});
  EXPECT_EQ(estimate.value, 3);
  EXPECT_TRUE(std::isnan(estimate.low) && std::isnan(estimate.high));
}

TEST(Bootstrap, ToleratesFewUndefinedResamples) {
  std::vector<double> few(100, 1.0);
  for (int i = 0; i < 10; ++i) few[static_cast<std::size_t>(i)] = nan;
  EXPECT_EQ(with_interval(1, few).low, 1);
  few[10] = nan;
  EXPECT_TRUE(std::isnan(with_interval(1, few).low));
}

TEST(Amdahl, FindsTheLawThatMadeTheTimes) {
  const std::array<double, 5> workers{1, 2, 4, 8, 32};
  std::array<double, 5> seconds{};
  for (std::size_t i = 0; i < 5; ++i) seconds[i] = 12 * (0.05 + 0.95 / workers[i]);
  const AmdahlFit fit = fit_amdahl(workers, seconds);
  EXPECT_NEAR(fit.serial, 0.05, 1e-14);
  EXPECT_NEAR(fit.seconds_of_one, 12, 1e-12);
}

TEST(Amdahl, IsLeastSquaresOfRelativeResiduals) {
  // numpy.linalg.lstsq([[1/T, 1/(n T)]], [1]) of n = 1, 2, 4, 8 and T = 10, 5.5, 2.9, 1.9: serial a/(a + b), one a + b
  const std::array<double, 4> workers{1, 2, 4, 8};
  const std::array<double, 4> seconds{10, 5.5, 2.9, 1.9};
  const AmdahlFit fit = fit_amdahl(workers, seconds);
  EXPECT_NEAR(fit.serial, 0.07019151472047612, 1e-12);
  EXPECT_NEAR(fit.seconds_of_one, 9.998409447830095, 1e-11);
}

TEST(Amdahl, NeedsTwoNumbersOfWorkers) {
  const std::array<double, 2> workers{4, 4};
  const std::array<double, 2> seconds{10, 11};
  EXPECT_TRUE(std::isnan(fit_amdahl(workers, seconds).serial));
  EXPECT_TRUE(std::isnan(fit_amdahl({}, {}).serial));
}

TEST(Gustafson, FindsTheLawThatMadeTheSpeedUps) {
  const std::array<double, 4> workers{1, 2, 8, 35};
  std::array<double, 4> speed_ups{};
  for (std::size_t i = 0; i < 4; ++i) speed_ups[i] = workers[i] - 0.05 * (workers[i] - 1);
  EXPECT_NEAR(fit_gustafson(workers, speed_ups), 0.05, 1e-14);
  // Couder-Castaneda 2014: 35 threads and a serial fraction of 0.05 are 33.30 by Gustafson's law
  EXPECT_NEAR(speed_ups[3], 33.30, 1e-12);
  const std::array<double, 1> one{1};
  EXPECT_TRUE(std::isnan(fit_gustafson(one, one)));
}

TEST(Gustafson, IsLeastSquaresOfEfficiencies) {
  // x = 1/2 and 3/4, 1 - S/n = 0.1 and 0.25: (0.05 + 0.1875)/(0.25 + 0.5625)
  const std::array<double, 3> workers{1, 2, 4};
  const std::array<double, 3> speed_ups{1, 1.8, 3};
  EXPECT_NEAR(fit_gustafson(workers, speed_ups), 0.2375 / 0.8125, 1e-15);
}

TEST(KarpFlatt, IsTheSerialFractionOfOnePoint) {
  // Amdahl's law inverted: S of n = 8 and s = 0.1
  EXPECT_NEAR(karp_flatt(1 / (0.1 + 0.9 / 8), 8), 0.1, 1e-15);
  // Couder-Castaneda 2014: 31.31 by 35 threads
  EXPECT_NEAR(karp_flatt(31.31, 35), (35 / 31.31 - 1) / 34, 1e-15);
  EXPECT_TRUE(std::isnan(karp_flatt(1, 1)));
}

TEST(Portability, IsTheHarmonicMean) {
  EXPECT_DOUBLE_EQ(performance_portability(std::array{0.5, 1.0}), 2 / 3.0);
  EXPECT_DOUBLE_EQ(performance_portability(std::array{0.2, 0.4, 0.4}), 0.3);
  EXPECT_EQ(performance_portability(std::array{0.9, 0.0, nan}), 0) << "a platform without support";
  EXPECT_TRUE(std::isnan(performance_portability(std::array{0.9, nan})));
  EXPECT_TRUE(std::isnan(performance_portability({})));
}

}  // namespace
}  // namespace prismfield
