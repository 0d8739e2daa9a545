# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study as HDF5: groups points, runs and errors, whose variables have one dimension, as in netCDF-4."""

import math

import h5py
import numpy

from .study_data import FORMS, MEASURES
from .study_json import sweep_axes
from .texts import shown


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
    differences = "rms_difference largest_difference largest_reference relative"
    return [
        *columns(study.errors, "point", "1"),
        *columns(study.errors, "field unit"),
        *columns(study.errors, differences, "1"),
    ]


def write_study_hdf5(study, text, name):
    """Writes a file of this name; `text`: that of study.json, which it holds too."""
    with h5py.File(name, "w", track_order=True) as file:
        file.attrs["title"] = shown(study.title)
        file.attrs["schema"] = numpy.bytes_("prismfield-study")
        file.attrs["version"] = 1
        if study.points:
            write_group(file, "points", "point", columns_of_points(study))
        if study.runs:
            write_group(file, "runs", "run", columns_of_runs(study))
        if study.errors:
            write_group(file, "errors", "error", columns_of_errors(study))
        file["study"] = text
