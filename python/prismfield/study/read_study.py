# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Reads report folders as the program writes them: one, or those of several machines as one study."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .study_data import POINT_TABLES, StudyAxis, StudyData, StudyRules, read_points, read_runs
from .texts import InputError, Problem, Problems


def read_json(file: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError([Problem(f"{file}:{getattr(error, 'lineno', 1)}", "", "cannot be read")]) from None


def read_study(folder: Path | str) -> StudyData:
    """Reads rules.json, machine.json, runs.csv and points.jsonl.

    A last line that was cut by the end of the study is left out, of runs.csv noted. Raises InputError.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError([Problem(str(folder), "", "is no folder; the report folder of a study is expected")])
    for name in ("machine.json", "runs.csv", "rules.json"):
        if not (folder / name).is_file():
            what = "there is no such file; a report folder of this version of prismfield study has it"
            raise InputError([Problem(str(folder / name), "", what)])
    machine, rules = read_json(folder / "machine.json"), read_json(folder / "rules.json")
    study = StudyData(folder, hash=machine.get("study_hash", ""), reduced=machine.get("reduced", False))
    study.machines = [machine]
    try:
        study.title, study.figures, study.compare_with = map(rules.pop, ("title", "figure", "compare_with"))
        study.axes = [StudyAxis(**axis) for axis in rules.pop("axes")]
        study.rules = StudyRules(**rules)
    except (KeyError, TypeError):
        raise InputError([Problem(str(folder / "rules.json"), "", "is of another version")]) from None
    axes, study.runs, is_cut = read_runs(folder / "runs.csv")
    names = [axis.name for axis in study.axes]
    if names != axes:
        what = f"has the axes {', '.join(axes)}, study.yaml beside it has {', '.join(names)}: they are of two studies"
        raise InputError([Problem(f"{folder / 'runs.csv'}:1", "", what)])
    # the row of a run is the last that it writes: points without one are of a run that was stopped before
    with_runs = {row.point for row in study.runs}
    points = [point for point in read_points(folder / "points.jsonl") if point["point"] in with_runs]
    for name in POINT_TABLES:
        setattr(study, name, [{"point": point["point"]} | row for point in points for row in point[name]])
    if is_cut:
        study.rules.notes.append("the last line of runs.csv is incomplete: the study was stopped while it was written")
    for row in study.runs:
        row.machine = machine["name"]
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
    taken = {machine["name"] for machine in joined.machines}
    candidates = itertools.chain([machine["name"]], (f"{machine['name']} ({i})" for i in itertools.count(2)))
    machine["name"] = name = next(candidate for candidate in candidates if candidate not in taken)
    for to, axis in zip(joined.axes, study.axes):
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
        row.machine = name
    for row in study.maps:
        row["file"] = str(study.folder / row["file"])
    for rows in POINT_TABLES:
        getattr(joined, rows).extend(row | {"point": row["point"] + points_before} for row in getattr(study, rows))
    joined.runs += study.runs
    notes += [f"{name}: {note}" for note in study.rules.notes]
    if study.rules.tolerance != joined.rules.tolerance:
        notes.append(f"{name}: the tolerance is {study.rules.tolerance:g}, not {joined.rules.tolerance:g}")
    joined.reduced |= study.reduced
    joined.started = min(filter(None, (joined.started, study.started)), default="")
    joined.ended = max(joined.ended, study.ended)
    joined.machines.append(machine)


def join(folders: Sequence[Path | str]) -> StudyData:
    """Reads the folders as one study, each point of which names its machine.

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
            # title, figures and rules of the first folder, and its axes without values
            members = {key: getattr(study, key) for key in ("title", "hash", "started", "figures", "compare_with")}
            members["axes"] = [StudyAxis(axis.name) for axis in study.axes]
            joined = StudyData(joined=True, rules=dataclasses.replace(study.rules, notes=[]), **members)
            first = folder / "study.yaml"
        file, only = str(folder / "study.yaml"), "only runs of one study can be joined"
        names, others = ([axis.name for axis in axes] for axes in (study.axes, joined.axes))
        command, other = study.rules.command, joined.rules.command
        if names != others:
            problems.add(file, "sweep", f"has the axes {', '.join(names)}, {first} has {', '.join(others)}; {only}")
        elif command != other:
            problems.add(file, "command", f"is {command}, that of {first} is {other}; {only}")
        else:
            add_study(joined, study)
    problems.raise_if_any()
    return joined
