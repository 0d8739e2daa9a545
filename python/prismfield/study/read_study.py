# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Reads report folders: one, or those of several machines as one study."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .spec import KEYS, Spec, SpecReader, label_of
from .study_data import (
    POINT_TABLES,
    RunTable,
    SpacePeak,
    StudyAxis,
    StudyData,
    StudyMachine,
    finite,
    read_points,
    read_runs,
    whole,
)
from .texts import InputError, Problem, Problems, shorter
from .yaml_nodes import Node, parse_yaml, read_yaml_text

T = TypeVar("T")
# the sections of a case, whose keys an axis sets: those of docs/case.md without the title, which a study has too
CASE_KEYS = "gravitational_constant axes crs model observations fields execution output sensitivity inversion".split()


def read_text(file: Path) -> str:
    try:
        return read_yaml_text(file)
    except InputError as error:
        (where, _, what), *_ = error.problems
        what = what.replace("there is no such file", "cannot be read; a report folder of prismfield study has it")
        raise InputError([Problem(where, "", what)]) from None


# ---- study.yaml, all of whose keys were checked before it was written


def json_of(node: Node) -> Any:
    """A value as JSON has it."""
    if node.kind == "list":
        return [json_of(item) for item in node.items]
    if node.kind == "map":
        return {key: json_of(value) for key, value in node.entries.items()}
    if node.kind != "scalar":
        return None
    if node.quoted:
        return node.text
    if node.text in ("true", "false"):
        return node.text == "true"
    for read in (lambda text: whole(text, -(2**63)), finite):
        try:
            return read(node.text)
        except ValueError:
            pass
    return node.text


def items_of(tree: Node, key: str) -> list[Any]:
    """The items of a list, or the value itself."""
    node = tree.find(key)
    value = [] if node is None else json_of(node)
    return value if isinstance(value, list) else [value]


class ReportReader(SpecReader):
    """Leaves alone what another version may have that wrote the file: keys of the case, and what is drawn."""

    def may_be_swept(self, key: str, node: Node) -> bool:
        return True

    def figure(self, node: Node) -> None:
        pass

    paper = figure

    def baseline(self, node: Node) -> None:
        """It may name a key that a value of an axis sets."""
        self.is_map(node, "a map of axes and values is expected, such as {threads: 1}")


def read_study_yaml(file: Path, study: StudyData, problems: Problems) -> None:
    text = read_text(file)
    tree = parse_yaml(text, str(file), problems)
    if tree.kind != "map":
        raise InputError([Problem(str(file), "", "holds no map of keys")])
    known = {key: node for key, node in tree.entries.items() if key in KEYS and node.kind != "null"}
    spec = Spec(file, tree=Node("map", place=tree.place, entries=known), title=study.title)
    ReportReader(problems, CASE_KEYS, spec).read()
    study.title = spec.title
    for axis in spec.axes:
        settings = [value.sets for value in axis.values]
        keys = list(dict.fromkeys(key for own in settings for key in own))
        study.axes.append(StudyAxis(axis.name, [value.label for value in axis.values], keys or [axis.name], settings))
    rules = study.rules
    for key in ("command", "tolerance", "repeats", "warmup", "seed", "order", "weak"):
        setattr(rules, key, getattr(spec, key))
    scaling, baseline = spec.tree.find("scaling"), spec.tree.find("baseline")
    rules.scaling = scaling.text if scaling else rules.scaling
    rules.baseline = {key: label_of(node) for key, node in baseline.entries.items()} if baseline else {}
    study.figures, study.compare_with = items_of(spec.tree, "figure"), items_of(spec.tree, "compare_with")
    study.hash = study.hash or hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# ---- machine.json


def read_peak(record: dict[str, Any], key: str, where: Path, problems: Problems) -> SpacePeak:
    """The peaks of one space; a value that is not a positive number is an error."""
    peak = SpacePeak()
    for name, default in vars(peak).items():
        value = record.get(name)
        if type(value) in (int, type(default)) and value > 0:
            setattr(peak, name, value)
        elif value is not None:
            expected = "a whole number of at least 1" if name == "threads" else "a number above 0"
            problems.add(str(where), f"{key}.{name}", f"is {shorter(json.dumps(value), 100)}; {expected} is expected")
    return peak


def refuse(constant: str) -> None:
    """JSON has no NaN."""
    raise ValueError(constant)


def read_machine(file: Path, study: StudyData, problems: Problems) -> StudyMachine:
    try:
        record = json.loads(read_text(file), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([Problem(f"{file}:{line}", "", "is not valid JSON from here on")]) from None
    if not isinstance(record, dict):
        raise InputError([Problem(str(file), "", "holds no JSON object")])
    texts = {key: value for key, value in record.items() if isinstance(value, str)}
    name = texts.get("name") or texts.get("host") or "unnamed machine"
    machine = StudyMachine(name, texts.get("version", ""), texts.get("git", ""), json=record)
    study.hash, study.reduced = texts.get("study_hash", ""), record.get("reduced") is True
    calibration = record.get("calibration") or {}
    if not isinstance(calibration, dict):
        raise InputError([Problem(str(file), "calibration", "is no JSON object")])
    for space, peaks in calibration.items():
        if isinstance(peaks, dict):
            machine.peaks[space] = read_peak(peaks, f"calibration.{space}", file, problems)
    return machine


# ---- the runs


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
            what = f"point {row.point} of study.yaml has other values than {', '.join(row.values)}"
            problems.add(f"{file}:{line}", "point", what)
            return


def read_study(folder: Path | str) -> StudyData:
    """Reads study.yaml, machine.json, runs.csv and points.jsonl.

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
            what = f"has the axes {', '.join(table.axes)}, study.yaml beside it has {', '.join(names)}"
            problems.add(f"{folder / 'runs.csv'}:1", "", f"{what}: they are of two studies")
    points = read(lambda file, _: read_points(file), "points.jsonl", default=[])
    problems.raise_if_any()
    # the row of a run is the last that it writes: points without one are of a run that was stopped before
    with_runs = {row.point for row in table.rows}
    for name in POINT_TABLES:
        rows = ({"point": p["point"]} | row for p in points if p["point"] in with_runs for row in p[name])
        setattr(study, name, list(rows))
    if table.cut:
        study.rules.notes.append("the last line of runs.csv is incomplete: the study was stopped while it was written")
    study.runs = table.rows
    study.run_machines = [0] * len(study.runs)
    # the beginnings of the first run and of the last one
    started = [row.started for row in study.runs if row.started]
    study.started, study.ended = min(started, default=""), max(started, default="")
    return study


# ---- several machines


def add_study(joined: StudyData, study: StudyData) -> None:
    """Points and runs are numbered on."""
    points_before = max((row.point for row in joined.runs), default=0)
    runs_before = max((row.run for row in joined.runs), default=0)
    notes, machine = joined.rules.notes, study.machines[0]
    taken = {machine.name for machine in joined.machines}
    candidates = itertools.chain([machine.name], (f"{machine.name} ({i})" for i in itertools.count(2)))
    machine.name = name = next(candidate for candidate in candidates if candidate not in taken)
    joined.axes[0].values.append(name)
    joined.axes[0].settings.append({"machine": name})
    for to, axis in zip(joined.axes[1:], study.axes):
        for value, settings in zip(axis.values, axis.settings):
            if value not in to.values:
                to.values.append(value)
                to.settings.append(settings)
    before, own = ({row.problem for row in data.runs} for data in (joined, study))
    if before and own and not before & own:
        notes.append(f"{name}: none of its problems is one of the machines before it; their times cannot be compared")
    for row in study.runs:
        row.run += runs_before
        row.point += points_before
        row.values = [name, *row.values]
    for row in study.maps:
        row["file"] = str(study.folder / row["file"])
    for rows in POINT_TABLES:
        getattr(joined, rows).extend(row | {"point": row["point"] + points_before} for row in getattr(study, rows))
    joined.runs += study.runs
    joined.run_machines += [len(joined.machines)] * len(study.runs)
    notes += [f"{name}: {note}" for note in study.rules.notes]
    if study.rules.tolerance != joined.rules.tolerance:
        notes.append(f"{name}: the tolerance is {study.rules.tolerance:g}, not {joined.rules.tolerance:g}")
    joined.reduced |= study.reduced
    joined.started = min(filter(None, (joined.started, study.started)), default="")
    joined.ended = max(joined.ended, study.ended)
    joined.machines.append(machine)


def join(folders: Sequence[Path | str]) -> StudyData:
    """Reads the folders as one study with a first axis `machine`, which names where each point ran.

    Raises InputError with the errors of every folder, and for studies of other axes.
    """
    given = list(map(str, folders))
    folders = [Path(folder) for folder in folders]
    problems = Problems()
    if not folders:
        problems.add("--join", "", "names no folder")
    joined = first = None
    for i, folder in enumerate(folders):
        try:
            study = read_study(folder)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if any(other.is_dir() and os.path.samefile(folder, other) for other in folders[:i]):
            problems.add("--join", "", f"names {given[i]} twice; its runs count once")
            continue
        if joined is None:
            # title, figures and rules of the first folder, and its axes without values behind the axis `machine`
            axes = [StudyAxis(axis.name, keys=axis.keys) for axis in study.axes]
            members = {key: getattr(study, key) for key in ("title", "hash", "started", "figures", "compare_with")}
            members |= {"axes": [StudyAxis("machine", keys=["machine"]), *axes]}
            joined = StudyData(joined=True, rules=dataclasses.replace(study.rules, notes=[]), **members)
            first = folder / "study.yaml"
        file, only = str(folder / "study.yaml"), "only runs of one study can be joined"
        names, others = ([axis.name for axis in axes] for axes in (study.axes, joined.axes[1:]))
        command, other = study.rules.command, joined.rules.command
        if names != others:
            problems.add(file, "sweep", f"has the axes {', '.join(names)}, {first} has {', '.join(others)}; {only}")
        elif command != other:
            problems.add(file, "command", f"is {command}, that of {first} is {other}; {only}")
        else:
            add_study(joined, study)
    problems.raise_if_any()
    return joined
