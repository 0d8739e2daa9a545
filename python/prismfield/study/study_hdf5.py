# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study as HDF5: groups points, runs and errors, whose variables have one dimension, as in netCDF-4."""

import math

import h5py
import numpy

from .study_data import FORMS, MEASURES
from .study_json import sweep_axes
from .texts import shown


class GroupOfColumns:
    """A group whose variables have one dimension, of its own name."""

    def __init__(self, file, name, dimension, rows):
        self.rows = rows
        self.group = file.create_group(name, track_order=True)
        self.dimension = self.group.create_dataset(dimension, (len(rows),), ">f4")
        self.dimension.make_scale(f"This is a netCDF dimension but not a netCDF variable.{len(rows):10}")
        number = sum(isinstance(own, h5py.Group) for own in file.values()) - 1
        self.dimension.attrs["_Netcdf4Dimid"] = numpy.int32(number)

    def numbers(self, name, unit, value=None):
        """`value` of a row, otherwise its member of this name."""
        values = [value(row) if value else getattr(row, name) for row in self.rows]
        whole = all(isinstance(own, int) for own in values)
        kind = "i8" if whole else "f8"
        dataset = self.group.create_dataset(name, data=numpy.array(values, kind), fletcher32=True)
        dataset.dims[0].attach_scale(self.dimension)
        dataset.attrs["units"] = numpy.bytes_(unit)
        return dataset

    def words(self, name, value=None):
        """Places of words in a list of them, which is an attribute."""
        texts = [value(row) if value else getattr(row, name) for row in self.rows]
        places = {}
        for text in texts:
            places.setdefault(text, len(places))
        codes = iter(texts)
        dataset = self.numbers(name, "1", lambda row: places[next(codes)])
        dataset.attrs["flag_values"] = numpy.arange(len(places), dtype="f8")
        # meanings are told apart by blanks
        meanings = " ".join(text.replace(" ", "_") or "_" for text in places)
        dataset.attrs["flag_meanings"] = numpy.bytes_(meanings.encode("utf-8", "surrogateescape"))

    def labels(self, name, value):
        """Labels of an axis: numbers where all are, otherwise words."""
        try:
            numbers = iter([float(value(row)) for row in self.rows])
            self.numbers(name, "1", lambda row: next(numbers))
        except ValueError:
            self.words(name, value)

    def estimate(self, name, unit, value):
        for i, end in enumerate(("", "_low", "_high")):
            self.numbers(name + end, unit, lambda row: float(value(row)[i]))


def write_points(study, file):
    group = GroupOfColumns(file, "points", "point", study.points)
    group.numbers("id", "1")
    group.words("machine", lambda p: study.machines[p.machine].name)
    for a in sweep_axes(study):
        # no axis takes the name of another column
        group.labels(f"axis_{study.axes[a].name.replace('/', '_')}", lambda p: p.labels[a])
    group.words("status")
    group.numbers("oversubscribed", "1", lambda p: int(p.oversubscribed))
    group.numbers("runs", "1", lambda p: len(p.field_seconds.all))
    for name in ("problem", "space", "device", "partition", "precision", "kernel"):
        group.words(name)
    for name in ("ranks", "threads", "devices", "slots", "batch", "block", "pairs"):
        group.numbers(name, "1")
    for name in ("field_seconds", "total_seconds", "process_seconds", "processor_seconds"):
        group.estimate(name, "s", lambda p: getattr(p, name).median)
    group.estimate("pairs_per_second", "s-1", lambda p: p.pairs_per_second.median)
    for name in ("speed_up", "efficiency", "karp_flatt"):
        group.estimate(name, "1", lambda p: getattr(p, name))
    units = {"memory_bytes": "byte", "scratch_bytes": "byte", "energy_joules": "J", "largest_error": "1", "load": "1"}
    for name, unit in {**units, "core_seconds": "s"}.items():
        group.numbers(name, unit)
    if study.rules.command != "run":
        for measure in MEASURES:
            group.numbers(measure.name, measure.unit, lambda p: p.measures[measure.name])
    for name, unit in {
        "double_operations": "1",
        "single_operations": "1",
        "arithmetic_rate": "s-1",
        "fraction_of_peak": "1",
        "intensity": "byte-1",
    }.items():
        group.numbers(name, unit, lambda p: getattr(p.roofline, name))


def write_runs(study, file):
    group = GroupOfColumns(file, "runs", "run", study.runs)
    # times of fields that are not those asked for are no speed; runs.csv alone keeps them
    wrong = {point.id for point in study.points if point.status == "wrong"}

    def write(name, unit, value):
        is_speed = unit != "1" and unit != "byte"
        group.numbers(
            name,
            unit,
            lambda r: math.nan if is_speed and r.kind != "reference" and r.point in wrong else float(value(r)),
        )

    group.numbers("number", "1", lambda r: r.run)
    group.numbers("point", "1")
    group.numbers("repeat", "1")
    for name in ("kind", "status", "started"):
        group.words(name)
    for name, unit in {
        "setup_seconds": "s",
        "field_seconds": "s",
        "output_seconds": "s",
        "total_seconds": "s",
        "process_seconds": "s",
        "processor_seconds": "s",
        "busy_least": "s",
        "busy_most": "s",
        "pairs_per_second": "s-1",
        "energy_joules": "J",
        "load": "1",
        "largest_error": "1",
    }.items():
        write(name, unit, lambda r: getattr(r, name))
    if study.rules.command != "run":
        for measure in MEASURES:
            write(measure.name, measure.unit, lambda r: r.measures[measure.name])
    for name in ("peak_memory_bytes", "scratch_bytes", "pairs"):
        group.numbers(name, "1")
    for form in FORMS:
        group.numbers(f"pairs_{form}", "1", lambda r: r.pairs_by_form[form])


def write_errors(study, file):
    group = GroupOfColumns(file, "errors", "error", study.errors)
    group.numbers("point", "1")
    group.words("field")
    group.words("unit")
    for name in ("rms_difference", "largest_difference", "largest_reference", "relative"):
        group.numbers(name, "1")


def write_study_hdf5(study, text, name):
    """Writes a file of this name; `text`: that of study.json, which it holds too."""
    with h5py.File(name, "w", track_order=True) as file:
        file.attrs["title"] = shown(study.title)
        file.attrs["schema"] = numpy.bytes_("prismfield-study")
        file.attrs["version"] = 1
        for rows, write in ((study.points, write_points), (study.runs, write_runs), (study.errors, write_errors)):
            if rows:
                write(study, file)
        file["study"] = text
