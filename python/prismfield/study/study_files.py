# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study for programs and for the page that is drawn of it: as JSON, and as HDF5."""

import json
import math

import h5py
import numpy

from .study_data import FORMS, MEASURES, SAMPLES
from .texts import shown

EFFICIENCIES = ("architectural", "application")


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
        "program": {key: getattr(study.machines[0], key) if study.machines else "" for key in ("version", "git")},
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
        "portability": [portability_json(own, kind) for own in study.portability for kind in EFFICIENCIES],
        "figures": study.figures,
        "compare_with": study.compare_with,
    }
    return json.dumps(as_text(root), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# ---- HDF5: groups points, runs and errors, whose variables have one dimension, as in netCDF-4


def columns(rows, names, unit=None):
    """(name, unit, values) of members of the rows; without a unit values are words."""
    get = (lambda row, name: row[name]) if rows and isinstance(rows[0], dict) else getattr
    return [(name, unit, [get(row, name) for row in rows]) for name in names.split()]


def estimates(points, names, unit):
    """Of members that are estimates, or samples with one."""
    found = []
    for name, _, values in columns(points, names):
        parts = zip(*(getattr(value, "median", value) for value in values))
        found += [(name + end, unit, list(map(float, part))) for end, part in zip(("", "_low", "_high"), parts)]
    return found


def labels(name, texts):
    """Labels of an axis: numbers where all are, otherwise words."""
    try:
        return name, "1", list(map(float, texts))
    except ValueError:
        return name, None, texts


def write_group(file, name, dimension, columns):
    """A group whose variables have one dimension, of its own name; words are places in a list, an attribute."""
    group = file.create_group(name, track_order=True)
    n = len(columns[0][2])
    scale = group.create_dataset(dimension, (n,), ">f4")
    scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{n:10}")
    scale.attrs["_Netcdf4Dimid"] = numpy.int32(len(file) - 1)
    for column, unit, values in columns:
        places = {text: place for place, text in enumerate(dict.fromkeys(values))}
        values = [places[text] for text in values] if unit is None else values
        kind = "i8" if all(isinstance(value, int) for value in values) else "f8"
        dataset = group.create_dataset(column, data=numpy.array(values, kind), fletcher32=True)
        dataset.dims[0].attach_scale(scale)
        dataset.attrs["units"] = numpy.bytes_(unit or "1")
        if unit is None:
            dataset.attrs["flag_values"] = numpy.arange(len(places), dtype="f8")
            # meanings are told apart by blanks
            meanings = " ".join(text.replace(" ", "_") or "_" for text in places)
            dataset.attrs["flag_meanings"] = numpy.bytes_(meanings.encode("utf-8", "surrogateescape"))


def columns_of_points(study):
    points = study.points
    rooflines = [point.roofline for point in points]
    return [
        *columns(points, "id", "1"),
        ("machine", None, [study.machines[point.machine].name for point in points]),
        # no axis takes the name of another column
        *(
            labels(f"axis_{study.axes[a].name.replace('/', '_')}", [point.labels[a] for point in points])
            for a in sweep_axes(study)
        ),
        *columns(points, "status"),
        ("oversubscribed", "1", [int(point.oversubscribed) for point in points]),
        ("runs", "1", [len(point.field_seconds.all) for point in points]),
        *columns(points, "problem space device partition precision kernel"),
        *columns(points, "ranks threads devices slots batch block pairs", "1"),
        *estimates(points, "field_seconds total_seconds process_seconds processor_seconds", "s"),
        *estimates(points, "pairs_per_second", "s-1"),
        *estimates(points, "speed_up efficiency karp_flatt", "1"),
        *columns(points, "memory_bytes scratch_bytes", "byte"),
        *columns(points, "energy_joules", "J"),
        *columns(points, "largest_error load", "1"),
        *columns(points, "core_seconds", "s"),
        *measures(study, points),
        *columns(rooflines, "double_operations single_operations", "1"),
        *columns(rooflines, "arithmetic_rate", "s-1"),
        *columns(rooflines, "fraction_of_peak", "1"),
        *columns(rooflines, "intensity", "byte-1"),
    ]


def measures(study, rows):
    of = MEASURES if study.rules.command != "run" else ()
    return [column for measure in of for column in columns(rows, measure.name, measure.unit)]


def columns_of_runs(study):
    runs = study.runs
    numbers = [
        *columns(runs, "setup_seconds field_seconds output_seconds total_seconds process_seconds", "s"),
        *columns(runs, "processor_seconds busy_least busy_most", "s"),
        *columns(runs, "pairs_per_second", "s-1"),
        *columns(runs, "energy_joules", "J"),
        *columns(runs, "load largest_error", "1"),
        *measures(study, runs),
    ]
    # times of fields that are not those asked for are no speed; runs.csv alone keeps them
    wrong = {point.id for point in study.points if point.status == "wrong"}
    hidden = [run.kind != "reference" and run.point in wrong for run in runs]
    return [
        ("number", "1", [run.run for run in runs]),
        *columns(runs, "point repeat", "1"),
        *columns(runs, "kind status started"),
        *(
            (name, unit, [math.nan if h and unit not in ("1", "byte") else float(v) for v, h in zip(values, hidden)])
            for name, unit, values in numbers
        ),
        *columns(runs, " ".join(["peak_memory_bytes scratch_bytes pairs", *(f"pairs_{form}" for form in FORMS)]), "1"),
    ]


def columns_of_errors(study):
    differences = columns(study.errors, "rms_difference largest_difference largest_reference relative", "1")
    return [*columns(study.errors, "point", "1"), *columns(study.errors, "field unit"), *differences]


def write_study_hdf5(study, text, name):
    """Writes a file of this name; `text`: that of study.json, which it holds too."""
    with h5py.File(name, "w", track_order=True) as file:
        file.attrs["title"] = shown(study.title)
        file.attrs["schema"] = numpy.bytes_("prismfield-study")
        file.attrs["version"] = 1
        of = {"point": columns_of_points, "run": columns_of_runs, "error": columns_of_errors}
        for dimension, columns_of in of.items():
            if getattr(study, f"{dimension}s"):
                write_group(file, f"{dimension}s", dimension, columns_of(study))
        file["study"] = text
