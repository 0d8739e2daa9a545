# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study for programs and for the page that is drawn of it: as JSON, and as HDF5."""

import math

import h5py
import numpy

from .study_data import FORMS, MEASURES, SAMPLES
from .texts import json_text, shown


def members(record, names):
    return {name: getattr(record, name) for name in names.split()}


def counts(record, names):
    """Of which those below 0 are not known."""
    return {name: None if value < 0 else value for name, value in members(record, names).items()}


def estimate(value):
    return None if math.isnan(value.value) else value._asdict()


def sample(runs):
    if not runs.all:
        return None
    median, low, high = runs.median
    return {"median": median, "low": low, "high": high, "least": min(runs.all), "most": max(runs.all), "all": runs.all}


def problem_list(study):
    pairs = {}
    for point in study.points:
        if point.problem:
            pairs[point.problem] = max(point.pairs, pairs.get(point.problem, -1))
    return [{"id": name, "hash": name, "pairs": None if most < 0 else most} for name, most in pairs.items()]


def sweep_axes(study):
    """Places of the axes of the sweep: that which joining adds is stated by the points themselves."""
    return range(1 if study.joined else 0, len(study.axes))


def point_json(study, point):
    measured = " ".join(measure.name for measure in MEASURES) if study.rules.command != "run" else ""
    roofline = point.roofline
    bounds = {"intensity": roofline.intensity, "bound": roofline.bound or None}
    return {
        "id": point.id,
        "machine": study.machines[point.machine].name,
        "labels": {study.axes[a].name: point.labels[a] for a in sweep_axes(study)},
        **members(point, "status why oversubscribed problem"),
        "runs": len(point.field_seconds.all),
        **{key: sample(getattr(point, key)) for key in SAMPLES},
        **members(point, "setup_seconds output_seconds space device"),
        **counts(point, "ranks threads devices slots batch block"),
        **members(point, "partition precision kernel"),
        **counts(point, "pairs"),
        "pairs_by_form": {form: pairs for form, pairs in point.pairs_by_form.items() if pairs >= 0},
        **members(point, "memory_bytes scratch_bytes energy_joules largest_error load busy_least busy_most"),
        **members(point, measured),
        **counts(point, "baseline"),
        **{key: estimate(getattr(point, key)) for key in ("speed_up", "efficiency", "karp_flatt")},
        "operations": roofline.double_operations + roofline.single_operations,
        **members(roofline, "double_operations single_operations arithmetic_rate fraction_of_peak"),
        "roofline": None if math.isnan(roofline.intensity) else bounds,
        "core_seconds": point.core_seconds,
    }


def serial_fraction(fit):
    bounds = {key: value for key, value in members(fit, "low high").items() if math.isfinite(value)}
    return None if math.isnan(fit.value) else {"serial": fit.value, **bounds}


def fit_json(fit):
    amdahl, gustafson = map(serial_fraction, (fit.amdahl, fit.gustafson))
    laws = {"amdahl": amdahl, "seconds_of_one": fit.seconds_of_one, "gustafson": gustafson}
    return members(fit, "along key group") | laws | {"points": fit.points}


def portability_json(own, kind):
    platforms = [
        {"platform": platform.name, **counts(platform, "point"), "efficiency": getattr(platform, kind)}
        for platform in own.platforms
    ]
    whole = {"application": own.kept, "platforms": platforms, "value": getattr(own, kind)}
    return {"efficiency": kind, "problem": own.problem, **whole}


def study_json(study, analysed_by):
    """The text of study.json; `analysed_by`: version and git hash of the program that analysed it."""
    machines = [{**machine.json, "name": machine.name} for machine in study.machines]
    efficiencies = ("architectural", "application")
    root = {
        "schema": "prismfield-study",
        "version": 1,
        "title": study.title,
        "command": study.rules.command,
        "study_hash": study.hash,
        "program": {key: getattr(study.machines[0], key) if study.machines else "" for key in ("version", "git")},
        "analysed_by": analysed_by,
        **members(study, "started ended reduced"),
        **({"machines": machines} if study.joined else {"machine": machines[0] if machines else {"name": ""}}),
        "rules": {key: value for key, value in vars(study.rules).items() if key != "command"},
        "axes": [members(study.axes[a], "name values") for a in sweep_axes(study)],
        "problems": problem_list(study),
        "points": [point_json(study, point) for point in study.points],
        "fits": [fit_json(fit) for fit in study.fits],
        **members(study, "errors histograms trace maps busy"),
        "portability": [portability_json(own, kind) for own in study.portability for kind in efficiencies],
        **members(study, "figures compare_with"),
    }
    return json_text(root, 1)


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
