# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What a report folder holds and what the analysis makes of it. NaN, in runs -1 and "", are what is not known."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from .texts import InputError, Problem, number_text, shown

KINDS = ("reference", "warmup", "timed")
# ok; this machine cannot run it; it ended with an error; its fields differ from the reference by more than the
# tolerance, so it has no speed; the time budget was spent before its turn
STATUSES = ("ok", "not run", "failed", "wrong", "out of budget")
FORMS = ("compact", "difference_free", *(f"multipole_{order}" for order in (12, 10, 8, 6, 4, 2, 0)), "corners")


class Quantity(NamedTuple):
    """A number that points have."""

    name: str  # in FOM lines, and `y` of figures
    unit: str  # of its value in study.json
    heading: str  # of its column in tables, where it has one; of the value times `factor`
    words: str  # at the axis of a figure
    axis_unit: str = ""  # of the value times `factor`
    factor: float = 1
    digits: int = 4  # in tables
    interval: str = ""  # where it is shown: tables, or all for the terminal too
    on_terminal: bool = False
    key: str = ""  # in study.json, where it is another name

    def of(self, point: dict[str, Any]) -> Any:
        """What a point of study.json has of it: None, a number, or a part with an interval."""
        return point.get(self.key or self.name)


QUANTITIES = (
    Quantity("field_seconds", "s", "field time (s)", "Field time", "s", 1, 4, "all", True),
    Quantity("total_seconds", "s", "total time (s)", "Total time", "s"),
    Quantity("process_seconds", "s", "", "Time of the processes", "s"),
    Quantity("pairs_per_second", "1/s", "pairs/s", "Pairs per second", "", 1, 3, "", True),
    Quantity("speed_up", "1", "speed-up", "Speed-up", "", 1, 4, "all", True),
    Quantity("efficiency", "1", "efficiency (%)", "Efficiency", "%", 100, 4, "tables", True),
    Quantity("karp_flatt", "1", "Karp-Flatt (%)", "Serial fraction by Karp and Flatt", "%", 100, 4, "tables"),
    Quantity(
        "memory", "B", "peak memory (MB)", "Peak memory of the processes", "MB", 1e-6, 3, "", True, "memory_bytes"
    ),
    Quantity("scratch", "B", "", "Memory of a rank's grids", "MB", 1e-6, key="scratch_bytes"),
    Quantity("energy", "J", "energy (J)", "Energy", "J", key="energy_joules"),
    Quantity("core_seconds", "s", "core seconds", "Core seconds", "s"),
    Quantity("arithmetic_rate", "1/s", "GFLOP/s", "Arithmetic rate", "GFLOP/s", 1e-9, 3),
    Quantity("fraction_of_peak", "1", "of peak (%)", "Share of the measured peak", "%", 100, 3, "", True),
    Quantity("largest_error", "1", "largest error", "Largest error / largest value", "", 1, 2, "", True),
)
SETUP = Quantity("setup_seconds", "s", "setup (s)", "Time of the setup, G included", "s", 1, 3, "", True)
# what the commands sensitivity and invert report beside times and memory: columns of runs.csv too
MEASURES = (
    Quantity("stored_bytes", "byte", "G (MB)", "G as it is stored", "MB", 1e-6, 4, "", True),
    Quantity("transposed_seconds", "s", "G' d (s)", "Time of a product G' d", "s", 1, 4, "", True),
    Quantity("anew_seconds", "s", "G m anew (s)", "Time of a product G m computed anew", "s", 1, 4, "", True),
    Quantity("pays_after", "1", "pays after", "Products after which storing pays", "", 1, 4, "", True),
    Quantity("chi", "1", "chi", "Chi of the data", "", 1, 4, "", True),
    Quantity("residual_rms", "1", "RMS residual / sigma", "RMS of residuals over sigma", "", 1, 4, "", True),
    Quantity("solutions", "1", "solutions", "Solutions for a beta", "", 1, 4, "", True),
    Quantity("products", "1", "products", "Products with G", "", 1, 4, "", True),
)
# what the commands sensitivity and invert mean by some: heading, where it is another, and words
MEANINGS = {
    "sensitivity": {
        "field_seconds": ("G m (s)", "Time of a product G m"),
        "pairs_per_second": ("pairs/s", "Entries of G per second"),
    },
    "invert": {
        "field_seconds": ("inversion (s)", "Time of the inversion"),
        "pairs_per_second": ("pairs/s", "Entries of G in products per second"),
        "largest_error": ("largest error", "Model's error / largest density"),
    },
}


def quantities_of(command: str) -> dict[str, Quantity]:
    """Those of a command's points, by name."""
    found = {own.name: own for own in (QUANTITIES if command == "run" else (*QUANTITIES, SETUP, *MEASURES))}
    for name, (heading, words) in MEANINGS.get(command, {}).items():
        found[name] = found[name]._replace(heading=heading, words=words)
    return found


Settings = dict[str, str]
Row = dict[str, Any]  # of a table, by column, or a part of study.json


def new(factory) -> Any:
    """A member that begins as factory()."""
    return dataclasses.field(default_factory=factory)


@dataclass
class StudyAxis:
    """One axis of the sweep."""

    name: str
    values: list[str] = new(list)  # labels of the points, in the order of the study
    settings: list[Settings] = new(list)  # what each value sets: key paths, or threads, ranks, devices, bind

    @property
    def keys(self) -> list[str]:
        return list({key: 0 for own in self.settings for key in own}) or [self.name]

    def sets(self, key: str) -> bool:
        return key in self.keys

    def settings_of(self, label: str) -> Settings:
        """What a label sets; empty where the study does not say."""
        return self.settings[self.values.index(label)] if label in self.values else {}


@dataclass
class StudyRules:
    """What the study asked for and kept."""

    command: str = "run"  # run, sensitivity or invert
    tolerance: float = 1e-9
    repeats: int = 5
    warmup: int = 1
    order: str = "random"
    seed: int = 1
    scaling: str = ""  # threads, ranks, devices or none; "": the first of them that is swept
    weak: bool = False
    baseline: Settings = new(dict)  # of the point that speed-ups are relative to; {}: fewest workers
    budget_forbade: bool = False
    notes: list[str] = new(list)


# the times of a point's runs of which there are medians with intervals
SAMPLES = ("field_seconds", "total_seconds", "process_seconds", "processor_seconds", "pairs_per_second")


@dataclass
class StudyData:
    """A report folder, or several joined, and what was made of it."""

    folder: Path = Path()
    title: str = ""
    hash: str = ""
    started: str = ""
    ended: str = ""
    reduced: bool = False
    joined: bool = False
    rules: StudyRules = new(StudyRules)
    machines: list[dict[str, Any]] = new(list)  # machine.json of each, by whose name its curves are called
    axes: list[StudyAxis] = new(list)
    runs: list[RunRow] = new(list)
    errors: list[Row] = new(list)
    histograms: list[Row] = new(list)
    trace: list[Row] = new(list)
    maps: list[Row] = new(list)
    busy: list[Row] = new(list)
    # as the study wrote them: plain dicts, lists, texts, numbers, truth values and None
    figures: list[Any] = new(list)
    compare_with: list[Any] = new(list)
    # made by analysis.analyse(), as study.json has them, with NaN for a number that is not known
    points: list[Row] = new(list)
    fits: list[Row] = new(list)
    portability: list[Row] = new(list)

    def setting(self, labels: Settings, key: str) -> str:
        """What the labels of a point say that a key is; "" when they say nothing."""
        for axis in self.axes:
            if axis.sets(key) and key in (found := axis.settings_of(labels[axis.name])):
                return found[key]
        return ""


WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|nan)")


def whole(text: str, least: int, below: int = 2**63) -> int:
    """A whole number of digits. Raises ValueError."""
    if not WHOLE.fullmatch(text) or not least <= (value := int(text)) < below:
        raise ValueError
    return value


def number(text: str) -> float:
    """A decimal number, nan or inf. Raises ValueError."""
    if not NUMBER.fullmatch(text):
        raise ValueError
    return float(text)


def finite(text: str) -> float:
    if not math.isfinite(value := number(text)):
        raise ValueError
    return value


# how a formula of a spreadsheet begins, and numbers, which may begin like it
FORMULA, NUMBER = re.compile("'*[=+@-]"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_word(text: str) -> str:
    """What csv_value wrote."""
    return text[1:] if text.startswith("'") and FORMULA.match(text[1:]) else text


# by what a value of runs.csv is read, and what an empty one stands for
VALUES: dict[str, tuple[Callable[[str], Any], Any]] = {
    "tally": (int, 0),
    "repeat": (int, 1),
    "count": (int, -1),
    "number": (float, nan),
    "text": (csv_word, ""),
    "truth": (lambda text: ("false", "true").index(text) == 1, False),
    "kind": (lambda text: KINDS[KINDS.index(text)], "timed"),
    "status": (lambda text: STATUSES[STATUSES.index(text)], "ok"),
}


def columns(text: str) -> dict[str, str]:
    """The kinds of value of columns "name:kind"."""
    return dict(word.split(":") for word in text.split())


# Columns of runs.csv before and behind those of the axes. Times are in seconds. Most of those behind are what the group
# /performance of the result states; process_seconds, processor_seconds, peak_memory_bytes and energy_joules are
# measured from outside the process.
#   started: UTC, ISO 8601           problem: hash of all that the fields depend on, except how they are computed
#   field_seconds: sensitivity: a product G m; invert: the inversion without its setup
#   scratch_bytes: of the grids of a rank's slots     load: of the machine over a minute before the run
#   oversubscribed: more ranks x threads than cores   largest_error: largest max|a-b| / max|b| of a field
#   busy_least, busy_most: least and largest busy time of a rank
BEFORE_AXES = columns("run:tally point:tally repeat:repeat kind:kind status:status why:text started:text problem:text")
BEHIND_AXES = columns(
    "space:text device:text ranks:count threads:count slots:count batch:count block:count partition:text "
    "precision:text kernel:text method:text pairs:count setup_seconds:number field_seconds:number "
    "output_seconds:number total_seconds:number process_seconds:number processor_seconds:number "
    "pairs_per_second:number peak_memory_bytes:count scratch_bytes:count energy_joules:number load:number "
    "oversubscribed:truth largest_error:number busy_least:number busy_most:number "
    + " ".join(f"pairs_{form}:count" for form in FORMS)
)
MEASURE_COLUMNS = {measure.name: "number" for measure in MEASURES}
RUN_COLUMNS = BEFORE_AXES | BEHIND_AXES | MEASURE_COLUMNS


class RunRow:
    """One run, a line of runs.csv: a member for each of RUN_COLUMNS, `values`, one text per axis, and its machine."""

    def __init__(self, **members: Any):
        self.values: list[str] = []
        self.machine = ""
        vars(self).update({name: VALUES[kind][1] for name, kind in RUN_COLUMNS.items()}, **members)


# Tables that a line of points.jsonl has beside its point; in study.json each row has the point too.
#   errors: ERROR_COLUMNS; relative is infinite where the reference is 0 everywhere
#   histograms: field, lowest (the exponent of the first decade), and counts: negative and positive, the first below
#   that decade, then of each one; equal, without a difference
#   trace: where, n, rms, largest, scale, of gxx + gyy + gzz against 0 outside and -4 pi G rho inside
#   maps: file, fields
#   busy: rank, slot (-1: a whole device), begin, end, seconds after the common start of the ranks
POINT_TABLES = ("errors", "histograms", "trace", "maps", "busy")
ERROR_COLUMNS = "point field unit rms_difference largest_difference largest_reference relative".split()


def axis_column(axis: str) -> str:
    """The column of an axis in runs.csv: its name, or "axis.threads" where every run has a column of that name."""
    return f"axis.{axis}" if axis in RUN_COLUMNS else axis


def axis_of_column(column: str) -> str:
    axis = column.removeprefix("axis.")
    return axis if axis in RUN_COLUMNS else column


def read_runs(file: Path) -> tuple[list[str], list[RunRow], bool]:
    """The axes, the rows, and whether the last line was cut by the end of the study, which is left out.

    Raises InputError by the first line and column that cannot be read.
    """
    lines = file.read_text(encoding="utf-8-sig", errors="surrogateescape").split("\n")
    is_cut = bool(lines.pop())
    table, rows, column = csv.DictReader(lines, strict=True), [], ""
    try:
        names = table.fieldnames or []
        axes = [name for name in names if name not in RUN_COLUMNS]
        # studies of the commands sensitivity and invert have measures
        known = {
            name: VALUES[kind] for name, kind in RUN_COLUMNS.items() if name in names or name not in MEASURE_COLUMNS
        }
        for texts in table:
            column = ""
            if None in (*texts, *texts.values()):
                raise ValueError("another number of fields than the header")
            row = RunRow(values=[csv_word(texts[axis]) for axis in axes])
            for column, (read, default) in known.items():
                setattr(row, column, read(texts[column]) if texts[column] else default)
            rows.append(row)
    except (KeyError, ValueError, csv.Error):
        # a quote that is never closed goes on to the end of the file
        raise InputError([Problem(f"{file}:{len(rows) + 2}", column, "cannot be read")]) from None
    return list(map(axis_of_column, axes)), rows, is_cut


# ---- as runs fill them


def csv_value(value: Any) -> str:
    """Numbers by the shortest digits that read back as them; what is not known is empty. Words that a spreadsheet would
    take for a formula have an apostrophe before them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else number_text(value)
    text = shown(str(value))
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([csv_value(value) for value in row] for row in rows)
    return text.getvalue()


def run_header(axes: Iterable[str], with_measures: bool = False) -> str:
    """The header of runs.csv. `with_measures`: of a study of sensitivity or invert."""
    measures = MEASURE_COLUMNS if with_measures else ()
    return csv_lines([[*BEFORE_AXES, *map(axis_column, axes), *BEHIND_AXES, *measures]])


def run_line(row: RunRow, with_measures: bool = False) -> str:
    """A line of runs.csv. Numbers that are not known, or not finite, are empty."""

    def known(name: str) -> Any:
        value = getattr(row, name)
        is_unknown = isinstance(value, int) and value < 0 or isinstance(value, float) and not math.isfinite(value)
        return "" if is_unknown else value

    measures = MEASURE_COLUMNS if with_measures else ()
    return csv_lines([[*map(known, BEFORE_AXES), *row.values, *map(known, (*BEHIND_AXES, *measures))]])


def read_points(file: Path) -> list[Row]:
    """The lines of points.jsonl, each a point with its POINT_TABLES; a last line that was cut is left out."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    found = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            found.append({name: json.loads(line)[name] for name in ("point", *POINT_TABLES)})
        except (KeyError, TypeError, ValueError):
            raise InputError([Problem(f"{file}:{number}", "", "cannot be read")]) from None
    return found


def point_line(point: Row) -> str:
    """A line of points.jsonl."""
    return json.dumps(point) + "\n"


def append_lines(file: Path, lines: str, sync: bool = True) -> None:
    """Lets a table grow at its end. `sync`: it is on the disk, with what was appended before, when this returns."""
    with open(file, "ab") as stream:
        stream.write(lines.encode(errors="replace"))
        if sync:
            stream.flush()
            os.fsync(stream.fileno())
