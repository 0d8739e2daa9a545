# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Medians with intervals, and laws of scaling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isnan, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .study_data import Estimate

RESAMPLES = 10_000
Array = NDArray[np.float64]


def median(values: Sequence[float]) -> float:
    """NaN of none."""
    return float(np.median(values)) if len(values) else nan


@lru_cache(maxsize=2)
def draws(n: int, seed: int, series: int, resamples: int) -> NDArray[np.int64]:
    return np.random.default_rng([seed, series]).integers(n, size=(resamples, n))


def resampled_medians(sample: Sequence[float], seed: int, series: int, resamples: int = RESAMPLES) -> Array:
    """Medians of samples drawn from `sample` with replacement (Efron, Annals of Statistics 7, 1979).

    The draws depend on `seed` and `series` alone, so that two quantities of the same runs are drawn together. Empty
    where fewer than two values leave nothing to draw.
    """
    if len(sample) < 2:
        return np.empty(0)
    return np.median(np.asarray(sample, float)[draws(len(sample), seed, series, resamples)], axis=1)


def with_interval(value: float, resampled: ArrayLike) -> Estimate:
    """A value with the 2.5 and 97.5 % quantiles of its resamples, NaN among them left out.

    Without a bound where more than a tenth is NaN or there is no resample.
    """
    resampled = np.asarray(resampled, float)
    known = resampled[~np.isnan(resampled)]
    if isnan(value) or known.size == 0 or 10 * known.size < 9 * resampled.size:
        return Estimate(value)
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(known, (0.025, 0.975))
    return Estimate(value, float(low), float(high))


def fit_amdahl(workers: ArrayLike, seconds: ArrayLike) -> tuple[Array, Array]:
    """Serial fraction s and T(1) of Amdahl's law, T(n) = T(1) (s + (1 - s)/n), along the last axis of `seconds`.

    By least squares of the relative residuals; NaN with fewer than two numbers of workers. Noise can put s below 0.
    """
    # T = a + b/n, so that 1 = a u + b v + residual with u = 1/T and v = 1/(n T)
    with np.errstate(all="ignore"):
        u = 1 / np.asarray(seconds, float)
        v = u / np.asarray(workers, float)
        uu, uv, vv = (np.sum(product, axis=-1) for product in (u * u, u * v, v * v))
        u, v = u.sum(axis=-1), v.sum(axis=-1)
        determinant = uu * vv - uv * uv
        # one number of workers leaves rounding
        determinant = np.where(determinant > 1e-12 * uu * vv, determinant, nan)
        a = (u * vv - v * uv) / determinant
        b = (v * uu - u * uv) / determinant
        return a / (a + b), a + b


def fit_gustafson(workers: ArrayLike, speed_ups: ArrayLike) -> Array:
    """Gustafson's serial fraction s of speed-ups S(n) = n - s (n - 1), n and S relative to the same point.

    By least squares of the efficiencies S/n along the last axis of `speed_ups`; NaN without a point of n > 1.
    """
    n = np.asarray(workers, float)
    # S/n = 1 - s (1 - 1/n)
    x = 1 - 1 / n
    with np.errstate(all="ignore"):
        return np.sum((1 - np.asarray(speed_ups, float) / n) * x, axis=-1) / np.sum(x * x)


def karp_flatt(speed_up: ArrayLike, workers: float) -> Array | float:
    """Karp and Flatt's experimentally determined serial fraction, (1/S - 1/n)/(1 - 1/n); NaN for n <= 1."""
    if not workers > 1:
        return nan
    with np.errstate(divide="ignore"):
        return (1 / np.asarray(speed_up, float) - 1 / workers) / (1 - 1 / workers)


def performance_portability(efficiencies: Sequence[float]) -> float:
    """Pennycook, Sewall and Lee's performance portability: the harmonic mean of the efficiencies on all platforms.

    0 when one platform is not supported (an efficiency of 0), NaN when one is not known or there is none.
    """
    if 0 in efficiencies:
        return 0.0
    return len(efficiencies) / sum(1 / efficiency for efficiency in efficiencies) if len(efficiencies) else nan
