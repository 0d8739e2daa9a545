# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study as JSON, for programs and for the page that is drawn of it."""

import json
import math

from .study_data import MEASURES, SAMPLES


def number(value):
    """None for what is not known or not finite, which JSON has no number for."""
    return value if math.isfinite(value) else None


def count(value):
    return None if value < 0 else value


def estimate(value):
    if math.isnan(value.value):
        return None
    return {"value": number(value.value), "low": number(value.low), "high": number(value.high)}


def sample(runs):
    if not runs.all:
        return None
    median, low, high = map(number, runs.median)
    return {"median": median, "low": low, "high": high, "least": min(runs.all), "most": max(runs.all), "all": runs.all}


def row(record):
    """A row of a table, its numbers as JSON has them."""
    return {key: number(value) if isinstance(value, float) else value for key, value in record.items()}


def problem_list(study):
    pairs = {}
    for point in study.points:
        if point.problem:
            pairs[point.problem] = max(point.pairs, pairs.get(point.problem, -1))
    return [{"id": problem, "hash": problem, "pairs": count(most)} for problem, most in pairs.items()]


def sweep_axes(study):
    """Places of the axes of the sweep: that which joining adds is stated by the points themselves."""
    return range(1 if study.joined else 0, len(study.axes))


def roofline_json(roofline):
    bounds = {"intensity": number(roofline.intensity), "bound": roofline.bound or None}
    return {
        "operations": number(roofline.double_operations + roofline.single_operations),
        "double_operations": number(roofline.double_operations),
        "single_operations": number(roofline.single_operations),
        "arithmetic_rate": number(roofline.arithmetic_rate),
        "fraction_of_peak": number(roofline.fraction_of_peak),
        "roofline": None if math.isnan(roofline.intensity) else bounds,
    }


def point_json(study, point):
    counts = ("ranks", "threads", "devices", "slots", "batch", "block")
    numbers = ("memory_bytes", "scratch_bytes", "energy_joules", "largest_error", "load", "busy_least", "busy_most")
    estimates = ("speed_up", "efficiency", "karp_flatt")
    measures = [measure.name for measure in MEASURES] if study.rules.command != "run" else []
    return {
        "id": point.id,
        "machine": study.machines[point.machine].name,
        "labels": {study.axes[a].name: point.labels[a] for a in sweep_axes(study)},
        "status": point.status,
        "why": point.why,
        "oversubscribed": point.oversubscribed,
        "problem": point.problem,
        "runs": len(point.field_seconds.all),
        **{key: sample(getattr(point, key)) for key in SAMPLES},
        "setup_seconds": number(point.setup_seconds),
        "output_seconds": number(point.output_seconds),
        "space": point.space,
        "device": point.device,
        **{key: count(getattr(point, key)) for key in counts},
        "partition": point.partition,
        "precision": point.precision,
        "kernel": point.kernel,
        "pairs": count(point.pairs),
        "pairs_by_form": {form: pairs for form, pairs in point.pairs_by_form.items() if pairs >= 0},
        **{key: number(getattr(point, key)) for key in (*numbers, *measures)},
        "baseline": count(point.baseline),
        **{key: estimate(getattr(point, key)) for key in estimates},
        **roofline_json(point.roofline),
        "core_seconds": number(point.core_seconds),
    }


def serial_fraction(fit):
    if math.isnan(fit.value):
        return None
    bounds = {"low": fit.low, "high": fit.high}
    return {"serial": number(fit.value), **{key: value for key, value in bounds.items() if math.isfinite(value)}}


def fit_json(fit):
    return {
        "along": fit.along,
        "key": fit.key,
        "group": fit.group,
        "amdahl": serial_fraction(fit.amdahl),
        "seconds_of_one": number(fit.seconds_of_one),
        "gustafson": serial_fraction(fit.gustafson),
        "points": fit.points,
    }


def portability_json(portability, kind):
    platforms = [
        {"platform": own.name, "point": count(own.point), "efficiency": number(getattr(own, kind))}
        for own in portability.platforms
    ]
    return {
        "efficiency": kind,
        "problem": portability.problem,
        "application": portability.kept,
        "platforms": platforms,
        "value": number(getattr(portability, kind)),
    }


def program_json(machine):
    return {"version": machine.version, "git": machine.git} if machine else {"version": "", "git": ""}


def as_text(value):
    """The same with U+FFFD in texts for bytes that are no UTF-8, such as those of names out of files."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {as_text(key): as_text(item) for key, item in value.items()}
    return [as_text(item) for item in value] if isinstance(value, (list, tuple)) else value


def study_json(study, analysed_by):
    """The text of study.json; `analysed_by`: version and git hash of the program that analysed it."""
    machines = [{**machine.json, "name": machine.name} for machine in study.machines]
    root = {
        "schema": "prismfield-study",
        "version": 1,
        "title": study.title,
        "command": study.rules.command,
        "study_hash": study.hash,
        "program": program_json(study.machines[0] if study.machines else None),
        "analysed_by": analysed_by,
        "started": study.started,
        "ended": study.ended,
        "reduced": study.reduced,
        **({"machines": machines} if study.joined else {"machine": machines[0] if machines else {"name": ""}}),
        "rules": {key: value for key, value in row(vars(study.rules)).items() if key != "command"},
        "axes": [{"name": study.axes[a].name, "values": study.axes[a].values} for a in sweep_axes(study)],
        "problems": problem_list(study),
        "points": [point_json(study, point) for point in study.points],
        "fits": [fit_json(fit) for fit in study.fits],
        **{key: list(map(row, getattr(study, key))) for key in ("errors", "histograms", "trace", "maps", "busy")},
        "portability": [
            portability_json(own, kind) for own in study.portability for kind in ("architectural", "application")
        ],
        "figures": study.figures,
        "compare_with": study.compare_with,
    }
    return json.dumps(as_text(root), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
