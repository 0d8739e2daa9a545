# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Reads a report folder."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .problems import InputError, Problem, Problems, shorter
from .read_tables import RunTable, read_busy, read_errors, read_histograms, read_maps, read_runs, read_traces
from .study_data import SpacePeak, StudyData, StudyMachine
from .study_yaml import read_study_yaml, read_text

T = TypeVar("T")
# attribute of StudyData, file and reader of what a study need not have
TABLES = (
    ("errors", "errors.csv", read_errors),
    ("histograms", "histograms.csv", read_histograms),
    ("traces", "trace.csv", read_traces),
    ("maps", "maps.csv", read_maps),
    ("busy", "busy.csv", read_busy),
)


def read_peak(record: dict[str, Any], key: str, where: Path, problems: Problems) -> SpacePeak:
    """The peaks of one space; a value that is not a positive number is an error."""
    peak = SpacePeak()
    for name in ("peak_double", "peak_single", "bandwidth", "threads"):
        if (value := record.get(name)) is None:
            continue
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if name == "threads" and not (is_whole and value >= 1):
            expected = "a whole number of at least 1"
        elif not (is_whole or isinstance(value, float)) or not value > 0:
            expected = "a number above 0"
        else:
            setattr(peak, name, value)
            continue
        problems.add(str(where), f"{key}.{name}", f"is {shorter(json.dumps(value), 100)}; {expected} is expected")
    return peak


def refuse(constant: str) -> None:
    """JSON has no NaN."""
    raise ValueError(constant)


def read_machine(file: Path, study: StudyData, problems: Problems) -> StudyMachine:
    text = read_text(file)
    try:
        record = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([Problem(f"{file}:{line}", "", "is not valid JSON from here on")]) from None
    if not isinstance(record, dict):
        raise InputError([Problem(str(file), "", "holds no JSON object")])
    texts = {key: value for key, value in record.items() if isinstance(value, str)}
    machine = StudyMachine(
        name=texts.get("name") or texts.get("host") or "unnamed machine",
        version=texts.get("version", ""),
        git=texts.get("git", ""),
        json=record,
    )
    study.hash = texts.get("study_hash", "")
    study.reduced = record.get("reduced") is True
    calibration = record.get("calibration")
    if calibration is not None and not isinstance(calibration, dict):
        raise InputError([Problem(str(file), "calibration", "is no JSON object")])
    for space, peaks in (calibration or {}).items():
        if isinstance(peaks, dict):
            machine.peaks[space] = read_peak(peaks, f"calibration.{space}", file, problems)
    return machine


def take_labels(table: RunTable, file: Path, study: StudyData, problems: Problems) -> None:
    """Takes the labels of the values of each axis from the runs: points are numbered from 1, the last axis fastest.

    A value without runs keeps the study's own text.
    """
    seen = [[False] * len(axis.values) for axis in study.axes]
    for row, line in zip(table.rows, table.lines):
        if row.kind == "reference":
            continue
        rest, fits = row.point - 1, row.point >= 1
        for axis, label, known in reversed(list(zip(study.axes, row.values, seen))):
            rest, at = divmod(rest, len(axis.values))
            if not known[at]:
                axis.values[at], known[at] = label, True
            fits = fits and axis.values[at] == label
        if not fits or rest != 0:
            problems.add(
                f"{file}:{line}",
                "point",
                f"point {row.point} of study.yaml has other values than {', '.join(row.values)}",
            )
            return


def check_points(rows: list[Any], with_runs: set[int], n_points: int, file: Path, problems: Problems) -> list[Any]:
    """The rows of points with a run.

    The row of a run is the last that it writes, so the others are of a run that was stopped before.
    """
    for point in dict.fromkeys(row.point for row in rows):
        if point not in with_runs and not 1 <= point <= n_points:
            problems.add(str(file), "point", f"{point} is no point of the study")
    return [row for row in rows if row.point in with_runs]


def read_study(folder: Path | str) -> StudyData:
    """Reads study.yaml, machine.json and runs.csv, and the other tables that are there.

    A last line of runs.csv that was cut by the end of the study is left out and noted. Raises InputError with every
    error by file and line.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError([Problem(str(folder), "", "is no folder; the report folder of a study is expected")])
    study = StudyData(folder=folder)
    problems = Problems()

    def read(how: Callable[..., T], name: str, *rest: Any, default: T) -> T:
        try:
            return how(folder / name, *rest, problems)
        except InputError as error:
            problems.extend(error.problems)
            return default

    study.machines = [read(read_machine, "machine.json", study, default=StudyMachine())]
    read(read_study_yaml, "study.yaml", study, default=None)
    study.title = study.title or os.path.basename(os.path.abspath(folder))
    table = read(read_runs, "runs.csv", default=RunTable())
    if not problems:
        names = [axis.name for axis in study.axes]
        if names == table.axes:
            take_labels(table, folder / "runs.csv", study, problems)
        else:
            problems.add(
                f"{folder / 'runs.csv'}:1",
                "",
                f"has the axes {', '.join(table.axes)}, study.yaml beside it "
                f"has {', '.join(names)}: they are of two studies",
            )
    for attribute, name, how in TABLES:
        if (folder / name).exists():
            setattr(study, attribute, read(how, name, default=[]))
    if not problems:
        with_runs = {row.point for row in table.rows}
        n_points = math.prod(len(axis.values) for axis in study.axes)
        for attribute, name, _ in TABLES:
            setattr(
                study, attribute, check_points(getattr(study, attribute), with_runs, n_points, folder / name, problems)
            )
    problems.raise_if_any()
    if table.cut:
        study.rules.notes.append("the last line of runs.csv is incomplete: the study was stopped while it was written")
    study.runs = table.rows
    study.run_machines = [0] * len(study.runs)
    # the beginnings of the first run and of the last one
    started = [row.started for row in study.runs if row.started]
    study.started, study.ended = min(started, default=""), max(started, default="")
    return study
