# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import math

import numpy as np
import pytest
from pytest import approx

from prismfield.study.analysis import (
    fit_amdahl,
    fit_gustafson,
    karp_flatt,
    median,
    performance_portability,
    resampled_medians,
    with_interval,
)


def test_medians():
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 3, 2]) == 2.5
    assert math.isnan(median([]))


def test_bootstrap_draws_medians_as_often_as_the_binomial_law_says():
    n = 100_000
    medians = resampled_medians([10, 20, 30, 40, 50, 60, 70], 3, 0, n)
    assert medians.size == n
    for k in range(1, 8):
        # the median of 7 draws is at most the k-th of 7 values when more than half of the draws are
        expected = sum(math.comb(7, j) * (k / 7) ** j * (1 - k / 7) ** (7 - j) for j in range(4, 8))
        deviation = math.sqrt(expected * (1 - expected) / n)
        assert np.mean(medians <= 10 * k) == approx(expected, abs=4 * deviation + 1e-12)


def test_bootstrap_of_five_repeats_reaches_from_the_least_to_the_most():
    # P(median of five draws is the least) = P(Bin(5, 1/5) >= 3) = 5.8 %, more than the 2.5 % that are cut off
    assert with_interval(3, resampled_medians([5, 1, 4, 2, 3], 1, 0)) == {"value": 3, "low": 1, "high": 5}


def test_bootstrap_of_many_repeats_cuts_the_tails():
    sample = range(1, 102)
    estimate = with_interval(51, resampled_medians(sample, 1, 0))
    # the standard error of the median is 1/(2 f sqrt(n)) = sqrt(101)/2 = 5.0; 1.96 of these, and one value beside
    assert estimate["low"] == approx(51 - 1.96 * 5.02, abs=1.1)
    assert estimate["high"] == approx(51 + 1.96 * 5.02, abs=1.1)


def test_bootstrap_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    sample = np.exp(np.random.default_rng(1).normal(0, 0.1, 25))
    theirs = stats.bootstrap((sample,), np.median, method="percentile", random_state=1, n_resamples=10_000)
    ours = with_interval(1, resampled_medians(sample, 1, 0))
    # both quantiles lie between neighbours of the sample, some hundredths apart
    assert (ours["low"], ours["high"]) == approx(theirs.confidence_interval, abs=0.02)


def test_bootstrap_follows_seed_and_series_only():
    sample = np.arange(1.0, 10.0)

    def drawn(values, seed, series):
        return list(resampled_medians(values, seed, series, 100))

    first = drawn(sample, 1, 0)
    assert first == drawn(sample, 1, 0)
    assert first != drawn(sample, 2, 0)
    assert first != drawn(sample, 1, 1)
    # two quantities of the same runs are drawn together
    assert [2 * value for value in first] == drawn(2 * sample, 1, 0)
    assert len(drawn(sample, 2**64 - 1, 10_000)) == 100


def test_bootstrap_has_nothing_to_draw_from_one_value():
    assert resampled_medians([3], 1, 0).size == 0
    estimate = with_interval(3, [])
    assert estimate["value"] == 3 and math.isnan(estimate["low"]) and math.isnan(estimate["high"])


def test_bootstrap_tolerates_few_undefined_resamples():
    few = np.ones(100)
    few[:10] = math.nan
    assert with_interval(1, few)["low"] == 1
    few[10] = math.nan
    assert math.isnan(with_interval(1, few)["low"])
    assert with_interval(math.nan, np.ones(100)) is None


def test_amdahl_finds_the_law_that_made_the_times():
    n = np.array([1, 2, 4, 8, 32])
    serial, one = fit_amdahl(n, 12 * (0.05 + 0.95 / n))
    assert serial == approx(0.05, abs=1e-14)
    assert one == approx(12, abs=1e-12)


def test_amdahl_is_least_squares_of_relative_residuals():
    n, seconds = np.array([1.0, 2, 4, 8]), np.array([10, 5.5, 2.9, 1.9])
    (a, b), *_ = np.linalg.lstsq(np.stack([1 / seconds, 1 / (n * seconds)], axis=1), np.ones(4), rcond=None)
    serial, one = fit_amdahl(n, seconds)
    assert serial == approx(a / (a + b), abs=1e-12)
    assert one == approx(a + b, abs=1e-11)
    # many at once
    both = fit_amdahl(n, np.stack([seconds, 2 * seconds]))
    assert both[0] == approx([serial, serial]) and both[1] == approx([one, 2 * one])


def test_amdahl_needs_two_numbers_of_workers():
    assert np.isnan(fit_amdahl([4, 4], [10, 11])).all()
    assert np.isnan(fit_amdahl([], [])).all()


def test_gustafson_finds_the_law_that_made_the_speed_ups():
    n = np.array([1.0, 2, 8, 35])
    speed_ups = n - 0.05 * (n - 1)
    assert fit_gustafson(n, speed_ups) == approx(0.05, abs=1e-14)
    # Couder-Castaneda 2014: 35 threads and a serial fraction of 0.05 are 33.30 by Gustafson's law
    assert speed_ups[3] == approx(33.30, abs=1e-12)
    assert np.isnan(fit_gustafson([1], [1]))


def test_gustafson_is_least_squares_of_efficiencies():
    # x = 1/2 and 3/4, 1 - S/n = 0.1 and 0.25: (0.05 + 0.1875)/(0.25 + 0.5625)
    assert fit_gustafson([1, 2, 4], [1, 1.8, 3]) == approx(0.2375 / 0.8125, abs=1e-15)


def test_karp_flatt_is_the_serial_fraction_of_one_point():
    # Amdahl's law inverted: S of n = 8 and s = 0.1
    assert karp_flatt(1 / (0.1 + 0.9 / 8), 8) == approx(0.1, abs=1e-15)
    # Couder-Castaneda 2014: 31.31 by 35 threads
    assert karp_flatt(31.31, 35) == approx((35 / 31.31 - 1) / 34, abs=1e-15)
    assert math.isnan(karp_flatt(1, 1))


def test_portability_is_the_harmonic_mean():
    assert performance_portability([0.5, 1.0]) == approx(2 / 3)
    assert performance_portability([0.2, 0.4, 0.4]) == approx(0.3)
    # a platform without support
    assert performance_portability([0.9, 0.0, math.nan]) == 0
    assert math.isnan(performance_portability([0.9, math.nan]))
    assert math.isnan(performance_portability([]))
