# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Points, speed-ups, serial fractions, rooflines and performance portability of the runs of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import isnan, nan
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..field_names import NATIVE, TENSOR, VECTOR, is_field
from . import study_data
from .study_data import (
    COUNTS,
    FORMS,
    SAMPLES,
    WORDS,
    Estimate,
    Roofline,
    RunRow,
    Sample,
    StudyAxis,
    StudyData,
    StudyPoint,
    whole,
)
from .texts import grouped

WORKER_KEYS = ("threads", "ranks", "devices")
# repeats that the rules ask for
ENOUGH_REPEATS = 5
# keys that a user chooses anew on every machine; all others make another application or problem
TUNED_KEYS = {"machine", "bind", *WORKER_KEYS}
TUNED_KEYS |= {f"execution.{key}" for key in "space slots batch block partition balance memory_limit".split()}
# the sets of fields for which kernels are compiled
FIELD_SETS = {"gz": ("gz",), "vector": VECTOR, "tensor": TENSOR, "vector_tensor": VECTOR + TENSOR, "all": NATIVE}
# By precision, field set and form: floating-point operations of one pair in double and in float, counted by
# tests/test_operation_table.cpp with the source of the kernels (docs/numerics.md, Operations of a pair).
OPERATIONS: dict[str, dict[str, list[tuple[int, int]]]] = json.loads(
    Path(__file__).with_name("operations.json").read_text(encoding="utf-8")
)
RESAMPLES = 10_000


def analyse(study: StudyData) -> None:
    """Makes points, fits and portability of the runs, and notes which rules were not kept.

    The same for the same runs: resampling is seeded by the seed of the study.
    """
    make_points(study)
    set_speed_ups(study)
    # when a wrong point was busy is how fast it was
    wrong = {point.id for point in study.points if point.status == "wrong"}
    study.busy = [row for row in study.busy if row["point"] not in wrong]
    fit_laws(study)
    place_on_rooflines(study)
    rate_portability(study)
    note_rules(study)


def platform_of(study: StudyData, point: StudyPoint) -> str:
    """Where a point ran, by machine and device or space."""
    where = point.device if point.devices > 0 and point.device else point.space
    return study.machines[point.machine]["name"] + (f", {where}" if where else "")


def kept_labels(study: StudyData, point: StudyPoint) -> study_data.Settings:
    """The labels that stay the same on every platform: of axes that set more than TUNED_KEYS."""
    return {axis.name: label for axis, label in zip(study.axes, point.labels) if not TUNED_KEYS.issuperset(axis.keys)}


def fast_points(study: StudyData) -> list[StudyPoint]:
    """Those whose speed is that of what they were computed on."""
    return [point for point in study.points if point.has_speed and not point.oversubscribed]


# ---- statistics


def median(values: Sequence[float]) -> float:
    """NaN of none."""
    return float(np.median(values)) if len(values) else nan


@lru_cache(maxsize=2)
def draws(n: int, seed: int, series: int, resamples: int) -> np.ndarray:
    return np.random.default_rng([seed, series]).integers(n, size=(resamples, n))


def resampled_medians(sample: Sequence[float], seed: int, series: int, resamples: int = RESAMPLES) -> np.ndarray:
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


def fit_amdahl(workers: ArrayLike, seconds: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
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


def fit_gustafson(workers: ArrayLike, speed_ups: ArrayLike) -> np.ndarray:
    """Gustafson's serial fraction s of speed-ups S(n) = n - s (n - 1), n and S relative to the same point.

    By least squares of the efficiencies S/n along the last axis of `speed_ups`; NaN without a point of n > 1.
    """
    n = np.asarray(workers, float)
    # S/n = 1 - s (1 - 1/n)
    x = 1 - 1 / n
    with np.errstate(all="ignore"):
        return np.sum((1 - np.asarray(speed_ups, float) / n) * x, axis=-1) / np.sum(x * x)


def karp_flatt(speed_up: ArrayLike, workers: float) -> np.ndarray | float:
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


# ---- points


def judge(point: StudyPoint, runs: list[RunRow]) -> None:
    """The status of a point with the reason, from all of its runs."""
    timed = [run for run in runs if run.kind == "timed"]
    ok = sum(run.status == "ok" for run in timed)
    # one wrong run makes the point wrong, whatever else happened
    bad = sorted((run for run in runs if run.status != "ok"), key=lambda run: run.status != "wrong")
    if bad and (bad[0].status == "wrong" or ok == 0):
        point.status, point.why = bad[0].status, bad[0].why
    elif ok == 0:
        point.status, point.why = "out of budget", "no timed run yet"
    elif ok < len(timed):
        why = f": {bad[0].why}" if bad[0].why else ""
        point.why = f"{len(timed) - ok} of {len(timed)} runs {bad[0].status}{why}"


def describe(point: StudyPoint, study: StudyData, runs: list[RunRow]) -> None:
    """What the runs were computed with, by the first that knows its space: a run that ended well knows more."""
    run = next((run for run in runs if run.space), runs[0])
    for name in WORDS + COUNTS:
        setattr(point, name, getattr(run, name))
    point.pairs_by_form = {form: getattr(run, f"pairs_{form}") for form in FORMS}
    for key in WORKER_KEYS:
        if getattr(point, key) < 0:
            try:
                setattr(point, key, whole(study.setting(point.labels, key), 0))
            except ValueError:
                pass
    point.space = point.space or study.setting(point.labels, "execution.space")
    if point.space in ("cuda", "hip"):
        # a rank has a device of its own
        point.devices = point.ranks if point.devices < 0 else point.devices
    elif point.space:
        point.devices = -1


def known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not isnan(value)]


def measure(point: StudyPoint, runs: list[RunRow], seed: int) -> None:
    def sample(values: Iterable[float]) -> Sample:
        of_runs = known(values)
        return Sample(with_interval(median(of_runs), resampled_medians(of_runs, seed, point.id)), of_runs)

    for name in SAMPLES:
        setattr(point, name, sample(getattr(run, name) for run in runs))
    unknown = [isnan(run.pairs_per_second) and run.pairs >= 0 and run.field_seconds > 0 for run in runs]
    rates = (run.pairs / run.field_seconds if own else run.pairs_per_second for own, run in zip(unknown, runs))
    point.pairs_per_second = sample(rates)
    for name in (*study_data.MEDIANS, *(measure.name for measure in study_data.MEASURES)):
        setattr(point, name, median(known(getattr(run, name) for run in runs)))
    seconds, of_process = point.total_seconds.median.value, point.process_seconds.median.value
    if point.workers > 0:
        point.core_seconds = point.workers * (seconds if isnan(of_process) else of_process)


def make_points(study: StudyData) -> None:
    machines = {run.point: machine for run, machine in zip(study.runs, study.run_machines)}
    by_point = grouped((run for run in study.runs if run.kind != "reference"), lambda run: run.point)
    study.points = []
    for number, runs in sorted(by_point.items()):
        point = StudyPoint(id=number, machine=machines[number], labels=runs[0].values)
        judge(point, runs)
        point.oversubscribed = any(run.oversubscribed for run in runs)
        point.largest_error = max(known(run.largest_error for run in runs), default=nan)
        timed = [run for run in runs if run.kind == "timed" and run.status == "ok"]
        judged = timed or runs
        describe(point, study, judged)
        point.load = median(known(run.load for run in judged))
        point.memory_bytes = median([run.peak_memory_bytes for run in judged if run.peak_memory_bytes >= 0])
        point.scratch_bytes = median([run.scratch_bytes for run in judged if run.scratch_bytes >= 0])
        # the fields of a wrong point are not those that were asked for: its times are no speed
        if point.status == "ok":
            measure(point, timed, study.rules.seed)
        study.points.append(point)


# ---- speed-ups


def draws_of(point: StudyPoint, seed: int) -> np.ndarray:
    return resampled_medians(point.field_seconds.all, seed, point.id)


def labels_but(point: StudyPoint, free: list[bool]) -> tuple[str, ...]:
    return tuple(label for label, is_free in zip(point.labels, free) if not is_free)


def speed_ratio(point: StudyPoint, base: StudyPoint, seconds, base_seconds):
    """Rate of `point` over that of `base`, by times and pairs, which differ in weak scaling."""
    with np.errstate(all="ignore"):
        return base_seconds / seconds * (point.pairs / base.pairs)


def set_speed_ups(study: StudyData) -> None:
    """Relative to the point that the study names, or otherwise to that with the fewest workers."""
    named = study.rules.baseline

    def is_free(axis: StudyAxis) -> bool:
        if named:
            return axis.name in named
        return len(axis.values) > 1 and any(map(axis.sets, WORKER_KEYS))

    def is_baseline(point: StudyPoint) -> bool:
        labels = {axis.name: label for axis, label in zip(study.axes, point.labels)}
        return named.items() <= labels.items()

    free = [is_free(axis) for axis in study.axes]
    if not any(free):
        return
    bases: dict[tuple[str, ...], StudyPoint] = {}
    for point in fast_points(study):
        others = labels_but(point, free)
        if named and is_baseline(point):
            bases.setdefault(others, point)
        elif not named and point.workers > 0 and (others not in bases or point.workers < bases[others].workers):
            bases[others] = point
    for point in study.points:
        if point.has_speed and (base := bases.get(labels_but(point, free))):
            set_speed_up(point, base, study.rules.seed)


def set_speed_up(point: StudyPoint, base: StudyPoint, seed: int) -> None:
    point.baseline = base.id
    value = speed_ratio(point, base, point.field_seconds.median.value, base.field_seconds.median.value)
    own, others = draws_of(point, seed), draws_of(base, seed)
    draws = speed_ratio(point, base, own, others) if own.size and others.size else np.empty(0)
    point.speed_up = Estimate(1.0, 1.0, 1.0) if point is base else with_interval(value, draws)
    # more ranks x threads than cores are no workers, and threads cannot be compared with devices
    same_kind = (point.devices > 0) == (base.devices > 0)
    if point.oversubscribed or not same_kind or point.workers <= 0 or base.workers <= 0:
        return
    n = point.workers / base.workers
    point.efficiency = Estimate(*(bound / n for bound in point.speed_up))
    if n > 1:
        point.karp_flatt = with_interval(float(karp_flatt(value, n)), karp_flatt(draws, n))


# ---- serial fractions


def scaling_axis(study: StudyData) -> tuple[str, int] | None:
    """The key that scaling is along, and the index of the axis that sets it."""
    for key in WORKER_KEYS:
        if study.rules.scaling in ("", key):
            for at, axis in enumerate(study.axes):
                if axis.sets(key) and len(axis.values) > 1:
                    return key, at
    return None


def fit_laws(study: StudyData) -> None:
    study.fits = []
    if (scaling := scaling_axis(study)) is None:
        return
    key, at = scaling
    free = [a == at for a in range(len(study.axes))]
    fast = [point for point in fast_points(study) if getattr(point, key) > 0 and point.workers > 0]

    def kind(point: StudyPoint) -> tuple:
        """Ranks that share the same cores, with fewer threads each, are no more workers."""
        return labels_but(point, free), point.devices > 0, point.workers / getattr(point, key)

    for points in grouped(fast, kind).values():
        # a law through two points is neither confirmed nor refuted
        if len({getattr(point, key) for point in points}) > 2:
            study.fits.append(fit_group(study, key, at, points))


def fit_group(study: StudyData, key: str, at: int, points: list[StudyPoint]) -> study_data.StudyFit:
    base, *_ = points = sorted(points, key=lambda point: getattr(point, key))
    fit = study_data.StudyFit(study.axes[at].name, key, points=[point.id for point in points])
    fit.group = {axis.name: label for a, (axis, label) in enumerate(zip(study.axes, base.labels)) if a != at}
    workers = np.array([getattr(point, key) for point in points], float)
    seconds = np.array([point.field_seconds.median.value for point in points])
    draws = [draws_of(point, study.rules.seed) for point in points]
    drawn = np.stack(draws, axis=-1) if all(draw.size for draw in draws) else np.empty((0, len(points)))

    def gustafson(seconds: np.ndarray) -> np.ndarray:
        columns = [speed_ratio(point, base, seconds[..., i], seconds[..., 0]) for i, point in enumerate(points)]
        return fit_gustafson(workers / workers[0], np.stack(columns, axis=-1))

    # the problem of Amdahl's law stays the same, that of Gustafson's grows
    if not study.rules.weak:
        serial, seconds_of_one = fit_amdahl(workers, seconds)
        fit.amdahl = with_interval(float(serial), fit_amdahl(workers, drawn)[0])
        fit.seconds_of_one = float(seconds_of_one)
    fit.gustafson = with_interval(float(gustafson(seconds)), gustafson(drawn))
    return fit


# ---- rooflines


def smallest_set(fields: Iterable[str]) -> str:
    """The set of which a run of these fields takes the kernel."""
    # a sum of native fields has the name of such but for its letters
    wanted = {name if name in NATIVE else {2: "gx", 3: "gxx"}.get(len(name), "potential") for name in fields}
    return next((name for name, own in FIELD_SETS.items() if wanted <= set(own)), "all")


def operations_of_pair(form: str, field_set: str, precision: str) -> tuple[float, float]:
    """In double and in float; NaN for another precision than double, mixed and single.

    Sums, products, quotients and roots count one, a fused multiply-add two; comparisons, choices, signs and
    conversions none.
    """
    if precision not in OPERATIONS:
        return nan, nan
    return tuple(OPERATIONS[precision][field_set][FORMS.index(form)])


def bytes_of_pair(field_set: str, precision: str, batch: int) -> float:
    """Bytes of one pair that the kernel reads and writes beyond a batch of prisms, which stays in the nearest cache.

    For each point its coordinates, and its fields there and back, once per batch. Caches can only make it less.
    """
    if precision not in OPERATIONS or batch <= 0:
        return nan
    # coordinates and sums are floats in single precision only
    return (4 if precision == "single" else 8) * (3 + 2 * len(FIELD_SETS[field_set])) / batch


def roofline_of(point: StudyPoint, field_set: str, peak: dict[str, float]) -> Roofline:
    """Where a point stands on the roofline of its machine.

    `peak`: what `prismfield info --calibrate` found of its space, operations and bytes per second, a fused multiply-add
    counting two; {} when it was not measured. A peak measured on more threads than the point has counts in proportion.
    """
    if min(point.pairs_by_form.values()) < 0:
        return Roofline()
    counts = [operations_of_pair(form, field_set, point.precision) for form in point.pairs_by_form]
    in_double, in_float = map(float, np.array(list(point.pairs_by_form.values()), float) @ np.array(counts, float))
    seconds = point.field_seconds.median.value
    operations = in_double + in_float
    intensity = operations / (bytes_of_pair(field_set, point.precision, point.batch) * point.pairs)
    roofline = Roofline(in_double, in_float, operations / seconds, intensity=intensity)
    if not peak or point.workers <= 0:
        return roofline
    # every device has its own peak; threads share that of their machine
    share = point.workers if point.devices > 0 else min(1.0, point.workers / peak.get("threads", 1))
    kinds = ((in_double, peak.get("peak_double", nan)), (in_float, peak.get("peak_single", nan)))
    least_seconds = sum(own / (most * share) for own, most in kinds if own > 0)
    roofline.fraction_of_peak = least_seconds / seconds
    # arithmetic is the bound where memory would allow more than it
    bytes_seconds = operations / intensity / (peak.get("bandwidth", nan) * share)
    if not isnan(least_seconds) and not isnan(bytes_seconds):
        roofline.bound = "memory" if least_seconds < bytes_seconds else "arithmetic"
    return roofline


def place_on_rooflines(study: StudyData) -> None:
    # operations of a product with a stored G are not those of the kernel
    if study.rules.command != "run":
        return
    errors = grouped((row for row in study.errors if is_field(row["field"])), lambda row: row["point"])
    for point in study.points:
        if point.has_speed and point.id in errors:
            peak = study.machines[point.machine].get("calibration", {}).get(point.space, {})
            point.roofline = roofline_of(point, smallest_set(row["field"] for row in errors[point.id]), peak)


# ---- performance portability


def rate_portability(study: StudyData) -> None:
    study.portability = []
    fast = fast_points(study)
    # platforms by name, with machine and space; "" for a machine on which nothing ran
    platforms: dict[str, tuple[int, str]] = {}
    for point in fast:
        platforms.setdefault(platform_of(study, point), (point.machine, point.space))
    for point in study.points:
        if point.machine not in {machine for machine, _ in platforms.values()}:
            platforms[study.machines[point.machine]["name"]] = point.machine, ""
    if len(platforms) < 2:
        return

    def is_on(point: StudyPoint, name: str) -> bool:
        """A run that failed may not have reported its space, nor its device."""
        machine, space = platforms[name]
        if point.machine != machine or point.has_speed:
            return point.machine == machine and platform_of(study, point) == name
        return not space or not point.space or point.space == space

    best: dict[tuple[str, str], float] = {}
    for point in fast:
        place = point.problem, platform_of(study, point)
        best[place] = max(best.get(place, 0.0), point.pairs_per_second.median.value)
    with_problem = (point for point in study.points if point.problem)
    applications = grouped(with_problem, lambda point: (point.problem, tuple(kept_labels(study, point).items())))
    for (problem, kept), points in applications.items():
        on = [
            rate_on(name, [point for point in points if is_on(point, name)], best.get((problem, name), nan))
            for name in platforms
        ]
        rated = [performance_portability([getattr(p, kind) for p in on]) for kind in ("architectural", "application")]
        study.portability.append(study_data.Portability(problem, dict(kept), on, *rated))


def rate_on(name: str, points: list[StudyPoint], best: float) -> study_data.Platform:
    """The fastest of the points of one application on a platform."""
    fast = [point for point in points if point.has_speed and not point.oversubscribed]
    if fast:
        fastest = max(fast, key=lambda point: point.pairs_per_second.median.value)
        of_best = fastest.pairs_per_second.median.value / best
        return study_data.Platform(name, fastest.id, fastest.roofline.fraction_of_peak, of_best)
    unable = any(point.status in ("failed", "wrong", "not run") for point in points)
    return study_data.Platform(name, -1, 0.0, 0.0) if unable else study_data.Platform(name)


# ---- rules


def point_list(ids: list[int]) -> str:
    """ "point 1", "points 2, 5 and 7 more" """
    most = 12
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return f"point{'' if len(ids) == 1 else 's'} {', '.join(map(str, ids[:most]))}{more}"


def note_rules(study: StudyData) -> None:
    rules = study.rules
    rules.budget_forbade = any(run.status == "out of budget" for run in study.runs)
    least = min(ENOUGH_REPEATS, rules.repeats)

    def note(what: str, applies: Callable[[StudyPoint], bool]) -> None:
        if ids := [point.id for point in study.points if applies(point)]:
            rules.notes.append(f"{point_list(ids)}: {what}")

    if rules.repeats < ENOUGH_REPEATS:
        asked = f"{rules.repeats} repeat{' is' if rules.repeats == 1 else 's are'} asked for"
        rules.notes.append(f"{asked}, {ENOUGH_REPEATS} are the rule")
    note(
        f"fewer than {least} timed runs{', the time budget was spent' if rules.budget_forbade else ''}",
        lambda point: point.status == "ok" and len(point.field_seconds.all) < least,
    )
    for status, what in {
        "not run": "not run here, left out of all fits",
        "failed": "failed",
        "wrong": "outside the tolerance, therefore without a speed",
        "too slow": "ended at the limit of a run",
        "out of budget": "not run, the time budget was spent",
    }.items():
        note(what, lambda point: point.status == status)
    note(
        "more ranks x threads than cores, left out of all fits",
        lambda point: point.oversubscribed and point.status != "not run",
    )
