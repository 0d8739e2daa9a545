# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Points, speed-ups, serial fractions, rooflines and performance portability of the runs of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import isfinite, isnan, nan
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..field_names import ANOMALY_GRADIENT, FLUX_DENSITY, FLUX_GRADIENT, MAGNETIC, NATIVE, TENSOR, VECTOR, is_field
from .study_data import FORMS, MEASURES, SAMPLES, Row, RunRow, Settings, StudyData, whole
from .texts import grouped

WORKER_KEYS = ("threads", "ranks", "devices")
# repeats that the rules ask for
ENOUGH_REPEATS = 5
# keys that a user chooses anew on every machine; all others make another application or problem
TUNED_KEYS = {"machine", "bind", *WORKER_KEYS}
TUNED_KEYS |= {f"execution.{key}" for key in "space slots batch block partition memory_limit".split()}
# the sets of fields for which kernels are compiled
FIELD_SETS = {"gz": ("gz",), "vector": VECTOR, "tensor": TENSOR, "vector_tensor": VECTOR + TENSOR, "all": NATIVE}
FIELD_SETS |= {"magnetic": FLUX_DENSITY, "magnetic_gradient": FLUX_DENSITY + FLUX_GRADIENT}
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
    wrong = {point["id"] for point in study.points if point["status"] == "wrong"}
    study.busy = [row for row in study.busy if row["point"] not in wrong]
    fit_laws(study)
    place_on_rooflines(study)
    rate_portability(study)
    note_rules(study)


def workers_of(point: Row) -> int:
    """Devices, or otherwise ranks x threads; 0: not known."""
    return point["devices"] or (point["ranks"] or 0) * (point["threads"] or 0)


def middle_of(point: Row, name: str) -> float:
    """The median of one of SAMPLES; NaN without runs."""
    return point[name]["median"] if point[name] else nan


def has_speed(point: Row) -> bool:
    """Whether the point ran and its fields are right."""
    return point["status"] == "ok" and middle_of(point, "field_seconds") > 0 and (point["pairs"] or 0) > 0


def platform_of(point: Row) -> str:
    """Where a point ran, by machine and device or space."""
    where = point["device"] if point["devices"] and point["device"] else point["space"]
    return point["machine"] + (f", {where}" if where else "")


def kept_labels(study: StudyData, point: Row) -> Settings:
    """The labels that stay the same on every platform: of axes that set more than TUNED_KEYS."""
    return {axis.name: point["labels"][axis.name] for axis in study.axes if not TUNED_KEYS.issuperset(axis.keys)}


def labels_but(study: StudyData, point: Row, free: Container[str]) -> Settings:
    """The labels of other axes than these, in a joined study with the machine."""
    labels = ({"machine": point["machine"]} if study.joined else {}) | point["labels"]
    return {name: label for name, label in labels.items() if name not in free}


def fast_points(study: StudyData) -> list[Row]:
    """Those whose speed is that of what they were computed on."""
    return [point for point in study.points if has_speed(point) and not point["oversubscribed"]]


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


def with_interval(value: float, resampled: ArrayLike) -> Row | None:
    """A value with the 2.5 and 97.5 % quantiles of its resamples, NaN among them left out; None for NaN.

    Bounds are NaN where more than a tenth is NaN or there is no resample.
    """
    if isnan(value):
        return None
    resampled = np.asarray(resampled, float)
    known = resampled[~np.isnan(resampled)]
    low = high = nan
    if known.size and 10 * known.size >= 9 * resampled.size:
        with np.errstate(invalid="ignore"):
            low, high = map(float, np.quantile(known, (0.025, 0.975)))
    return {"value": value, "low": low, "high": high}


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


def judge(runs: list[RunRow]) -> tuple[str, str]:
    """The status of a point with the reason, from all of its runs."""
    timed = [run for run in runs if run.kind == "timed"]
    ok = sum(run.status == "ok" for run in timed)
    # one wrong run makes the point wrong, whatever else happened
    bad = sorted((run for run in runs if run.status != "ok"), key=lambda run: run.status != "wrong")
    if bad and (bad[0].status == "wrong" or ok == 0):
        return bad[0].status, bad[0].why
    if ok == 0:
        return "out of budget", "no timed run yet"
    if ok == len(timed):
        return "ok", ""
    why = f": {bad[0].why}" if bad[0].why else ""
    return "ok", f"{len(timed) - ok} of {len(timed)} runs {bad[0].status}{why}"


def describe(study: StudyData, labels: Settings, run: RunRow) -> Row:
    """What a run was computed with."""
    found = {"space": run.space or study.setting(labels, "execution.space"), "device": run.device}
    found |= {"ranks": run.ranks, "threads": run.threads, "devices": -1}
    for key in WORKER_KEYS:
        if found[key] < 0:
            with suppress(ValueError):
                found[key] = whole(study.setting(labels, key), 0)
    if found["space"] in ("cuda", "hip"):
        # a rank has a device of its own
        found["devices"] = found["ranks"] if found["devices"] < 0 else found["devices"]
    elif found["space"]:
        found["devices"] = -1
    found |= {key: getattr(run, key) for key in "slots batch block partition precision kernel pairs".split()}
    by_form = {form: getattr(run, f"pairs_{form}") for form in FORMS}
    found = {key: None if value == -1 else value for key, value in found.items()}
    return found | {"pairs_by_form": {form: pairs for form, pairs in by_form.items() if pairs >= 0}}


def known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not isnan(value)]


def rate_of(run: RunRow) -> float:
    """Pairs per second, where the program did not report them too."""
    is_unknown = isnan(run.pairs_per_second) and run.pairs >= 0 and run.field_seconds > 0
    return run.pairs / run.field_seconds if is_unknown else run.pairs_per_second


def sample_of(values: Iterable[float], seed: int, series: int) -> Row | None:
    """The median of what is known, with its interval, and all of it; None for nothing."""
    if not (of_runs := known(values)):
        return None
    median_of, low, high = with_interval(median(of_runs), resampled_medians(of_runs, seed, series)).values()
    return {"median": median_of, "low": low, "high": high, "least": min(of_runs), "most": max(of_runs), "all": of_runs}


def point_of(study: StudyData, number: int, runs: list[RunRow]) -> Row:
    """A point of study.json; what it is beside others, and on a roofline, is not known yet."""
    status, why = judge(runs)
    timed = [run for run in runs if run.kind == "timed" and run.status == "ok"]
    judged = timed or runs
    # the fields of a wrong point are not those that were asked for: its times are no speed
    measured = timed if status == "ok" else []

    def medians(*names: str) -> Row:
        return {name: median(known(getattr(run, name) for run in measured)) for name in names}

    def size(name: str) -> float:
        return median([value for run in judged if (value := getattr(run, name)) >= 0])

    # a run that ended well knows more
    best = next((run for run in judged if run.space), judged[0])
    labels = dict(zip((axis.name for axis in study.axes), runs[0].values))
    samples = {name: [getattr(run, name) for run in measured] for name in SAMPLES}
    samples["pairs_per_second"] = list(map(rate_of, measured))
    measures = [measure.name for measure in MEASURES] if study.rules.command != "run" else []
    point = {
        "id": number,
        "machine": runs[0].machine,
        "labels": labels,
        "status": status,
        "why": why,
        "oversubscribed": any(run.oversubscribed for run in runs),
        "problem": best.problem,
        "runs": len(known(samples["field_seconds"])),
        **{name: sample_of(values, study.rules.seed, number) for name, values in samples.items()},
        **medians("setup_seconds", "output_seconds"),
        **describe(study, labels, best),
        "memory_bytes": size("peak_memory_bytes"),
        "scratch_bytes": size("scratch_bytes"),
        **medians("energy_joules"),
        "largest_error": max(known(run.largest_error for run in runs), default=nan),
        "load": median(known(run.load for run in judged)),
        **medians("busy_least", "busy_most", *measures),
        "baseline": None,
        **dict.fromkeys(("speed_up", "efficiency", "karp_flatt")),
        **dict.fromkeys(("operations", "double_operations", "single_operations"), nan),
        **dict.fromkeys(("arithmetic_rate", "fraction_of_peak"), nan),
        "roofline": None,
        "core_seconds": nan,
    }
    if workers := workers_of(point):
        seconds = (middle_of(point, name) for name in ("process_seconds", "total_seconds"))
        point["core_seconds"] = workers * next(iter(known(seconds)), nan)
    return point


def make_points(study: StudyData) -> None:
    by_point = grouped((run for run in study.runs if run.kind != "reference"), lambda run: run.point)
    study.points = [point_of(study, number, runs) for number, runs in sorted(by_point.items())]


# ---- speed-ups


def draws_of(point: Row, seed: int) -> np.ndarray:
    return resampled_medians(point["field_seconds"]["all"], seed, point["id"])


def speed_ratio(point: Row, base: Row, seconds, base_seconds):
    """Rate of `point` over that of `base`, by times and pairs, which differ in weak scaling."""
    with np.errstate(all="ignore"):
        return base_seconds / seconds * (point["pairs"] / base["pairs"])


def set_speed_ups(study: StudyData) -> None:
    """Relative to the point that the study names, or otherwise to that with the fewest workers."""
    named = study.rules.baseline
    scaled = [axis.name for axis in study.axes if len(axis.values) > 1 and any(map(axis.sets, WORKER_KEYS))]
    if not (free := list(named) or scaled):
        return

    def others(point: Row) -> tuple:
        return tuple(labels_but(study, point, free).items())

    bases: dict[tuple, Row] = {}
    for point in fast_points(study):
        workers, base = workers_of(point), bases.get(others(point))
        if named and named.items() <= point["labels"].items():
            bases.setdefault(others(point), point)
        elif not named and workers and (base is None or workers < workers_of(base)):
            bases[others(point)] = point
    for point in study.points:
        if has_speed(point) and (base := bases.get(others(point))):
            set_speed_up(point, base, study.rules.seed)


def set_speed_up(point: Row, base: Row, seed: int) -> None:
    point["baseline"] = base["id"]
    value = speed_ratio(point, base, middle_of(point, "field_seconds"), middle_of(base, "field_seconds"))
    own, others = draws_of(point, seed), draws_of(base, seed)
    draws = speed_ratio(point, base, own, others) if own.size and others.size else np.empty(0)
    point["speed_up"] = with_interval(1.0, [1.0]) if point is base else with_interval(value, draws)
    # more ranks x threads than cores are no workers, and threads cannot be compared with devices
    same_kind = bool(point["devices"]) == bool(base["devices"])
    if point["oversubscribed"] or not same_kind or not workers_of(point) or not workers_of(base):
        return
    n = workers_of(point) / workers_of(base)
    point["efficiency"] = {key: bound / n for key, bound in point["speed_up"].items()}
    if n > 1:
        point["karp_flatt"] = with_interval(float(karp_flatt(value, n)), karp_flatt(draws, n))


# ---- serial fractions


def scaling_axis(study: StudyData) -> tuple[str, str] | None:
    """The key that scaling is along, and the axis that sets it."""
    for key in WORKER_KEYS:
        if study.rules.scaling in ("", key):
            for axis in study.axes:
                if axis.sets(key) and len(axis.values) > 1:
                    return key, axis.name
    return None


def fit_laws(study: StudyData) -> None:
    study.fits = []
    if (scaling := scaling_axis(study)) is None:
        return
    key, along = scaling
    fast = [point for point in fast_points(study) if point[key] and workers_of(point)]

    def kind(point: Row) -> tuple:
        """Ranks that share the same cores, with fewer threads each, are no more workers."""
        others = tuple(labels_but(study, point, (along,)).items())
        return others, bool(point["devices"]), workers_of(point) / point[key]

    for points in grouped(fast, kind).values():
        # a law through two points is neither confirmed nor refuted
        if len({point[key] for point in points}) > 2:
            study.fits.append(fit_group(study, key, along, points))


def serial_law(found: Row | None) -> Row | None:
    """A serial fraction as study.json has it: without bounds that are not known."""
    if found is None:
        return None
    return {"serial": found["value"]} | {key: found[key] for key in ("low", "high") if isfinite(found[key])}


def fit_group(study: StudyData, key: str, along: str, points: list[Row]) -> Row:
    """Serial fractions of points that differ in one axis only."""
    base, *_ = points = sorted(points, key=lambda point: point[key])
    workers = np.array([point[key] for point in points], float)
    seconds = np.array([middle_of(point, "field_seconds") for point in points])
    draws = [draws_of(point, study.rules.seed) for point in points]
    drawn = np.stack(draws, axis=-1) if all(draw.size for draw in draws) else np.empty((0, len(points)))

    def gustafson(seconds: np.ndarray) -> np.ndarray:
        columns = [speed_ratio(point, base, seconds[..., i], seconds[..., 0]) for i, point in enumerate(points)]
        return fit_gustafson(workers / workers[0], np.stack(columns, axis=-1))

    # the problem of Amdahl's law stays the same, that of Gustafson's grows
    serial, seconds_of_one = (nan, nan) if study.rules.weak else fit_amdahl(workers, seconds)
    return {
        "along": along,
        "key": key,
        "group": labels_but(study, base, (along,)),
        "amdahl": serial_law(with_interval(float(serial), fit_amdahl(workers, drawn)[0])),
        "seconds_of_one": float(seconds_of_one),
        "gustafson": serial_law(with_interval(float(gustafson(seconds)), gustafson(drawn))),
        "points": [point["id"] for point in points],
    }


# ---- rooflines


def sets_of(fields: Iterable[str]) -> list[str]:
    """The sets whose kernels a run of these fields takes: one, or that of density and that of magnetic fields."""

    def like(name: str) -> str:
        """A native field that takes the same: a sum of such has the name of one but for its letters."""
        if name in MAGNETIC:
            return FLUX_GRADIENT[0] if name in {*FLUX_GRADIENT, *ANOMALY_GRADIENT} else FLUX_DENSITY[0]
        return name if name in NATIVE else {2: "gx", 3: "gxx"}.get(len(name), "potential")

    wanted = set(map(like, fields))
    parts = [part for part in (wanted & set(NATIVE), wanted - set(NATIVE)) if part]
    return [next(name for name, own in FIELD_SETS.items() if part <= set(own)) for part in parts]


def operations_of_pair(form: str, field_set: str, precision: str) -> tuple[float, float]:
    """In double and in float; NaN for another precision than double and single, and sets that are not counted.

    Sums, products, quotients and roots count one, a fused multiply-add two; comparisons, choices, signs and
    conversions none.
    """
    if field_set not in OPERATIONS.get(precision, {}):
        return nan, nan
    return tuple(OPERATIONS[precision][field_set][FORMS.index(form)])


def bytes_of_pair(field_set: str, precision: str, batch: int | None) -> float:
    """Bytes of one pair that the kernel reads and writes beyond a batch of prisms, which stays in the nearest cache.

    For each point its coordinates, and its fields there and back, once per batch. Caches can only make it less.
    """
    if precision not in OPERATIONS or not batch:
        return nan
    # coordinates and sums are floats in single precision only
    return (4 if precision == "single" else 8) * (3 + 2 * len(FIELD_SETS[field_set])) / batch


def roofline_of(point: Row, field_sets: list[str], peak: dict[str, float]) -> Row:
    """Where a point stands on the roofline of its machine, between arithmetic and memory.

    `peak`: what `prismfield info --calibrate` found of its space, operations and bytes per second, a fused multiply-add
    counting two; {} when it was not measured. A peak measured on more threads than the point has counts in proportion.
    """
    if len(point["pairs_by_form"]) < len(FORMS):
        return {}
    counts = [[operations_of_pair(form, own, point["precision"]) for form in FORMS] for own in field_sets]
    in_double, in_float = map(
        float, np.array([*point["pairs_by_form"].values()], float) @ np.array(counts, float).sum(axis=0)
    )
    seconds = middle_of(point, "field_seconds")
    operations = in_double + in_float
    # per byte that the kernel moves at most
    bytes_moved = sum(bytes_of_pair(own, point["precision"], point["batch"]) for own in field_sets)
    intensity = operations / (bytes_moved * point["pairs"])
    fraction, bound = nan, None
    if peak and (workers := workers_of(point)):
        # every device has its own peak; threads share that of their machine
        share = workers if point["devices"] else min(1.0, workers / peak.get("threads", 1))
        kinds = ((in_double, peak.get("peak_double", nan)), (in_float, peak.get("peak_single", nan)))
        least_seconds = sum(own / (most * share) for own, most in kinds if own > 0)
        fraction = least_seconds / seconds
        # arithmetic is the bound where memory would allow more than it
        bytes_seconds = operations / intensity / (peak.get("bandwidth", nan) * share)
        if not isnan(least_seconds) and not isnan(bytes_seconds):
            bound = "memory" if least_seconds < bytes_seconds else "arithmetic"
    return {
        "operations": operations,
        "double_operations": in_double,
        "single_operations": in_float,
        "arithmetic_rate": operations / seconds,
        "fraction_of_peak": fraction,
        "roofline": None if isnan(intensity) else {"intensity": intensity, "bound": bound},
    }


def place_on_rooflines(study: StudyData) -> None:
    # operations of a product with a stored G are not those of the kernel
    if study.rules.command != "run":
        return
    peaks = {machine["name"]: machine.get("calibration", {}) for machine in study.machines}
    errors = grouped((row for row in study.errors if is_field(row["field"])), lambda row: row["point"])
    for point in study.points:
        if has_speed(point) and point["id"] in errors:
            peak = peaks[point["machine"]].get(point["space"], {})
            point |= roofline_of(point, sets_of(row["field"] for row in errors[point["id"]]), peak)


# ---- performance portability


def rate_portability(study: StudyData) -> None:
    study.portability = []
    fast = fast_points(study)
    # platforms by name, with machine and space; "" for a machine on which nothing ran
    platforms: dict[str, tuple[str, str]] = {}
    for point in fast:
        platforms.setdefault(platform_of(point), (point["machine"], point["space"]))
    for point in study.points:
        if point["machine"] not in {machine for machine, _ in platforms.values()}:
            platforms[point["machine"]] = point["machine"], ""
    if len(platforms) < 2:
        return

    def is_on(point: Row, name: str) -> bool:
        """A run that failed may not have reported its space, nor its device."""
        machine, space = platforms[name]
        if point["machine"] != machine or has_speed(point):
            return point["machine"] == machine and platform_of(point) == name
        return not space or not point["space"] or point["space"] == space

    best: dict[tuple[str, str], float] = {}
    for point in fast:
        place = point["problem"], platform_of(point)
        best[place] = max(best.get(place, 0.0), middle_of(point, "pairs_per_second"))
    with_problem = (point for point in study.points if point["problem"])
    applications = grouped(with_problem, lambda point: (point["problem"], tuple(kept_labels(study, point).items())))
    for (problem, kept), points in applications.items():
        rated = [
            rate_on([point for point in points if is_on(point, name)], best.get((problem, name), nan))
            for name in platforms
        ]
        for number, kind in enumerate(("architectural", "application")):
            efficiencies = [rates[number] for _, rates in rated]
            on = [
                {"platform": name, "point": fastest, "efficiency": efficiency}
                for name, (fastest, _), efficiency in zip(platforms, rated, efficiencies)
            ]
            row = {"efficiency": kind, "problem": problem, "application": dict(kept), "platforms": on}
            study.portability.append(row | {"value": performance_portability(efficiencies)})


def rate_on(points: list[Row], best: float) -> tuple[int | None, tuple[float, float]]:
    """The fastest of the points of one application on a platform, with its architectural and application efficiency."""
    if fast := [point for point in points if has_speed(point) and not point["oversubscribed"]]:
        fastest = max(fast, key=lambda point: middle_of(point, "pairs_per_second"))
        return fastest["id"], (fastest["fraction_of_peak"], middle_of(fastest, "pairs_per_second") / best)
    unable = any(point["status"] in ("failed", "wrong", "not run") for point in points)
    return None, (0.0, 0.0) if unable else (nan, nan)


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

    def note(what: str, applies: Callable[[Row], bool]) -> None:
        if ids := [point["id"] for point in study.points if applies(point)]:
            rules.notes.append(f"{point_list(ids)}: {what}")

    if rules.repeats < ENOUGH_REPEATS:
        asked = f"{rules.repeats} repeat{' is' if rules.repeats == 1 else 's are'} asked for"
        rules.notes.append(f"{asked}, {ENOUGH_REPEATS} are the rule")
    note(
        f"fewer than {least} timed runs{', the time budget was spent' if rules.budget_forbade else ''}",
        lambda point: point["status"] == "ok" and point["runs"] < least,
    )
    for status, what in {
        "not run": "not run here, left out of all fits",
        "failed": "failed",
        "wrong": "outside the tolerance, therefore without a speed",
        "out of budget": "not run, the time budget was spent",
    }.items():
        note(what, lambda point: point["status"] == status)
    note(
        "more ranks x threads than cores, left out of all fits",
        lambda point: point["oversubscribed"] and point["status"] != "not run",
    )
