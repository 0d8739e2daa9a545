# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Report folders of studies that were never run."""

import csv
import io
import json
import math

from made_spec import CASE_KEYS

from prismfield.study.plan import rules_text
from prismfield.study.spec import Spec, SpecReader
from prismfield.study.study_data import (
    BEFORE_AXES,
    BEHIND_AXES,
    ERROR_COLUMNS,
    FORMS,
    MEASURE_COLUMNS,
    POINT_TABLES,
    RunRow,
    axis_column,
)
from prismfield.study.texts import InputError, Problems
from prismfield.study.yaml_nodes import parse_yaml


def errors_of(action):
    """The text of the InputError that an action raises, "" without one."""
    try:
        action()
    except InputError as error:
        return str(error)
    return ""


class MadeStudy:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.yaml = ""
        self.machine = '{"name": "made", "version": "1.2.3", "git": "abc", "cores": 4}'
        self.rows = []
        self.tables = {}  # rows by point and table

    def __truediv__(self, name):
        return self.folder / name

    def without_folder(self, text):
        return text.replace(f"{self.folder.parent}/", "")

    def add(self, point, values, threads, seconds, **changes):
        """A timed run that went well, on one rank of the space openmp: 1e9 pairs, 0.1 s beside the fields."""
        pairs = 10**9
        row = RunRow(
            run=len(self.rows) + 1,
            point=point,
            values=list(values),
            problem="p1",
            space="openmp",
            device="host",
            repeat=1 + sum(row.point == point and row.kind == "timed" for row in self.rows),
            started=f"2026-11-22T00:00:{10 + (len(self.rows) + 1) % 50}Z",
            partition="prisms",
            precision="double",
            kernel="auto",
            method="direct",
            ranks=1,
            threads=threads,
            slots=threads,
            batch=64,
            block=1,
            pairs=pairs,
            **{f"pairs_{form}": pairs if form == "multipole_4" else 0 for form in FORMS},
            field_seconds=seconds,
            total_seconds=seconds + 0.1,
            process_seconds=seconds + 0.2,
            pairs_per_second=pairs / seconds,
            peak_memory_bytes=50_000_000 * threads,
            scratch_bytes=1_000_000 * threads,
            load=0.5,
            largest_error=1e-15,
        )
        vars(row).update(changes)
        self.rows.append(row)
        return self.rows[-1]

    def add_runs(self, point, values, threads, seconds):
        for s in seconds:
            self.add(point, values, threads, s)

    def leave_out(self, point, values, status, why, **changes):
        """The row of a point without runs."""
        self.rows.append(
            RunRow(
                run=len(self.rows) + 1,
                point=point,
                values=list(values),
                status=status,
                why=why,
                problem="p1",
                **changes,
            )
        )
        return self.rows[-1]

    def add_rows(self, point, table, *rows):
        """Of points.jsonl."""
        self.tables.setdefault(point, {name: [] for name in POINT_TABLES})[table] += rows

    def add_error(self, point, field, unit, *numbers):
        self.add_rows(point, "errors", dict(zip(ERROR_COLUMNS[1:], (field, unit, *numbers))))

    def points_jsonl(self):
        return "".join(json.dumps({"point": point} | own) + "\n" for point, own in self.tables.items())

    def rules_json(self):
        """Of the study that `yaml` is, but for its base."""
        spec = Spec(self / "study.yaml", tree=parse_yaml(self.yaml, "study.yaml", Problems()), title=self.folder.name)
        SpecReader(Problems(), CASE_KEYS, spec).read()
        return rules_text(spec)

    def runs_csv(self, axes, with_measures=False):
        columns = [*BEHIND_AXES, *(MEASURE_COLUMNS if with_measures else ())]
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*BEFORE_AXES, *map(axis_column, axes), *columns])
        for row in self.rows:
            texts = {name: text_of(value) for name, value in vars(row).items()}
            writer.writerow([*(texts[name] for name in BEFORE_AXES), *row.values, *(texts[name] for name in columns)])
        return stream.getvalue()

    def write(self, name, text):
        (self.folder / name).write_bytes(text.encode())
        return self.folder / name

    def write_all(self, axes, with_measures=False):
        self.write("rules.json", self.rules_json())
        self.write("machine.json", self.machine)
        self.write("runs.csv", self.runs_csv(axes, with_measures))
        self.write("points.jsonl", self.points_jsonl())


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value).removesuffix(".0")
    return "" if value == -1 else str(value)
