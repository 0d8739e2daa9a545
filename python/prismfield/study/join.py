# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Report folders of several machines as one study."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from .problems import InputError, Problems
from .read_study import read_study
from .study_data import StudyAxis, StudyData


def new_name(name: str, study: StudyData) -> str:
    """A name that none of the machines has."""
    taken = {machine.name for machine in study.machines}
    candidates = itertools.chain([name], (f"{name} ({i})" for i in itertools.count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)


def begin(study: StudyData) -> StudyData:
    """Title, figures and rules of the first folder, and its axes without values behind the axis `machine`."""
    axes = [StudyAxis("machine", keys=["machine"]), *(StudyAxis(axis.name, keys=axis.keys) for axis in study.axes)]
    return StudyData(
        title=study.title,
        hash=study.hash,
        joined=True,
        started=study.started,
        axes=axes,
        rules=dataclasses.replace(study.rules, notes=[]),
        figures=study.figures,
        compare_with=study.compare_with,
    )


def add_study(joined: StudyData, study: StudyData) -> None:
    """Points and runs are numbered on."""
    points_before = max((row.point for row in joined.runs), default=0)
    runs_before = max((row.run for row in joined.runs), default=0)
    notes = joined.rules.notes
    machine = study.machines[0]
    machine.name = name = new_name(machine.name, joined)
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
        row.values = [name, *row.values]
    for row in study.maps:
        row.file = str(study.folder / row.file)
    for rows in ("runs", "errors", "histograms", "traces", "busy", "maps"):
        for row in getattr(study, rows):
            row.point += points_before
        getattr(joined, rows).extend(getattr(study, rows))
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
            joined, first = begin(study), folder / "study.yaml"
        names, others = ([axis.name for axis in axes] for axes in (study.axes, joined.axes[1:]))
        file = str(folder / "study.yaml")
        if names != others:
            problems.add(
                file,
                "sweep",
                f"has the axes {', '.join(names)}, {first} has {', '.join(others)}; only runs "
                "of one study can be joined",
            )
        elif study.rules.command != joined.rules.command:
            problems.add(
                file,
                "command",
                f"is {study.rules.command}, that of {first} is {joined.rules.command}; only "
                "runs of one study can be joined",
            )
        else:
            add_study(joined, study)
    problems.raise_if_any()
    return joined
