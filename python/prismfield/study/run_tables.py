# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The tables of a report folder as runs fill them: runs.csv and those beside it, whose first column is the point."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from .read_tables import BEFORE_AXES, BEHIND_AXES, FORM_COLUMNS, MEASURE_COLUMNS, axis_column
from .results import LOWEST, FieldDifference
from .study_data import RunRow
from .texts import number_text, shown, write_file

HEADERS = {
    "errors.csv": "point field unit rms_difference largest_difference largest_reference relative",
    "histograms.csv": "point field decade negative positive",
    "busy.csv": "point rank slot begin end",
    "maps.csv": "point file fields",
    "trace.csv": "point where n rms largest scale",
}


def csv_value(value: Any) -> str:
    """Numbers by the shortest digits that read back as them; what is not known is empty."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else number_text(value)
    return shown(str(value))


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([csv_value(value) for value in row] for row in rows)
    return text.getvalue()


def run_header(axes: Iterable[str], with_measures: bool = False) -> str:
    """The header of runs.csv. `with_measures`: of a study of sensitivity or invert."""
    behind = BEHIND_AXES + FORM_COLUMNS + (MEASURE_COLUMNS if with_measures else [])
    names = [column.name for column in BEFORE_AXES]
    return csv_lines([[*names, *map(axis_column, axes), *(column.name for column in behind)]])


def run_line(row: RunRow, with_measures: bool = False) -> str:
    """A line of runs.csv. Numbers that are not known, or not finite, are empty."""

    def known(value: Any) -> Any:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if is_number and (not math.isfinite(value) or (isinstance(value, int) and value < 0)) else value

    values = [getattr(row, column.name) for column in BEFORE_AXES]
    values += row.values
    values += [getattr(row, column.name) for column in BEHIND_AXES]
    values += row.pairs_by_form.values()
    values += row.measures.values() if with_measures else []
    return csv_lines([map(known, values)])


def error_lines(point: int, differences: Iterable[FieldDifference]) -> str:
    return csv_lines(
        (point, d.field, d.unit, d.rms_difference, d.largest_difference, d.largest_reference, d.relative)
        for d in differences
    )


def histogram_lines(point: int, differences: Iterable[FieldDifference]) -> str:
    """A decade of relative differences per line: those below the first one as `below`, those without as `equal`."""
    rows: list[tuple] = []
    for d in differences:
        for i, counts in enumerate(zip(d.negative, d.positive)):
            rows.append((point, d.field, LOWEST + i - 1 if i else "below", *counts))
        rows.append((point, d.field, "equal", "", d.equal))
    return csv_lines(rows)


def keep_points(table: Path, points: Collection[int]) -> None:
    """Takes the lines of all other points out of a table, and a last line without an end."""
    if not table.exists():
        return
    text = table.read_text(encoding="utf-8", errors="surrogateescape")
    header, *lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")] or [""]
    known = {str(point) for point in points}
    kept = header + "".join(line for line in lines if line.partition(",")[0] in known)
    if kept != text:
        write_file(table, kept.encode("utf-8", errors="surrogateescape"))


class TableWriter:
    """A table that grows at its end, each time on the disk when append() returns."""

    def __init__(self, file: Path, header: str):
        if not file.exists():
            write_file(file, header)
        self.descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)

    def append(self, lines: str, sync: bool = True) -> None:
        data = lines.encode(errors="replace")
        while data:
            data = data[os.write(self.descriptor, data) :]
        if sync:
            os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


def open_table(file: Path) -> TableWriter:
    """One of those beside runs.csv."""
    return TableWriter(file, csv_lines([HEADERS[file.name].split()]))
