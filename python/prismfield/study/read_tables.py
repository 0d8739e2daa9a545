# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The CSV tables of a report folder (RFC 4180). Rows with an error are reported by file, line and column and left out.

Each read_ function raises InputError for a file that cannot be read or has other columns.
"""

from __future__ import annotations

import csv
import math
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .problems import InputError, Problem, Problems, excerpt
from .study_data import (
    FORMS,
    KINDS,
    MEASURES,
    STATUSES,
    BusyRow,
    FieldError,
    FieldHistogram,
    FieldMap,
    RunRow,
    TraceError,
)

WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|nan)")
UNREADABLE = "values that cannot be read"


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


class Column(NamedTuple):
    """How a column is read; `read` raises ValueError, an empty field that is not needed keeps the default."""

    name: str
    read: Callable[[str], Any]
    expected: str
    needed: bool = False

    def value(self, text: str) -> Any:
        """None: the default."""
        if text:
            return self.read(text)
        if self.needed:
            raise ValueError
        return None


BY_TYPE = {
    int: (lambda text: whole(text, 0), "a whole number of at least 0"),
    float: (finite, "a finite number"),
    str: (str, "a text"),
}


def columns_of(row: type, names: str = "", needed: str = "", **special: Column) -> list[Column]:
    """Columns that hold members of a row, by default all of them, by their type; `special` replaces single ones."""
    types = typing.get_type_hints(row)
    columns = []
    for name in names.split() or types:
        if name in special:
            columns.append(special[name])
            continue
        read, expected = BY_TYPE[types[name]]
        is_needed = name in needed.split()
        columns.append(Column(name, read, expected if is_needed else f"{expected}, or nothing", is_needed))
    return columns


def count_column(name: str) -> Column:
    return Column(name, BY_TYPE[int][0], f"{BY_TYPE[int][1]}, or nothing")


def one_of(name: str, words: tuple[str, ...]) -> Column:
    return Column(name, lambda text: words[words.index(text)], "one of " + ", ".join(words), True)


def truth(text: str) -> bool:
    if text not in ("true", "false", "yes", "no", "1", "0"):
        raise ValueError
    return text in ("true", "yes", "1")


BEFORE_AXES = columns_of(
    RunRow,
    "run point repeat kind status why started problem",
    needed="run",
    repeat=Column("repeat", lambda text: whole(text, 1), "a whole number of at least 1", True),
    kind=one_of("kind", KINDS),
    status=one_of("status", STATUSES),
)
BEHIND_AXES = columns_of(
    RunRow,
    "space device ranks threads slots batch block partition precision kernel method pairs setup_seconds field_seconds "
    "output_seconds total_seconds process_seconds processor_seconds pairs_per_second peak_memory_bytes scratch_bytes "
    "energy_joules load oversubscribed largest_error busy_least busy_most",
    oversubscribed=Column("oversubscribed", truth, "true or false"),
    # infinite where the reference is 0 everywhere
    largest_error=Column("largest_error", number, "a number, or nothing"),
)
FORM_COLUMNS = [count_column(f"pairs_{form}") for form in FORMS]
MEASURE_COLUMNS = [Column(measure.name, finite, "a finite number, or nothing") for measure in MEASURES]
RUN_COLUMNS = {column.name for column in BEFORE_AXES + BEHIND_AXES + FORM_COLUMNS + MEASURE_COLUMNS}


def axis_column(axis: str) -> str:
    """The column of an axis in runs.csv: its name, or "axis.threads" where every run has a column of that name."""
    return f"axis.{axis}" if axis in RUN_COLUMNS else axis


def axis_of_column(column: str) -> str:
    axis = column.removeprefix("axis.")
    return axis if axis in RUN_COLUMNS else column


class Table:
    """The lines of a CSV file as fields, without blank lines and without a last line that has no end."""

    def __init__(self, file: Path, problems: Problems):
        self.name, self.problems = str(file), problems
        try:
            text = Path(file).read_text(encoding="utf-8-sig", errors="surrogateescape")
        except OSError as error:
            raise InputError([Problem(self.name, "", f"cannot be read: {error.strerror}")]) from None
        self.lines = text.split("\n")
        self.cut = bool(self.lines.pop())
        self.number = 0
        self.header = next(self.split_lines(), None)
        if self.header is None:
            raise InputError(
                [Problem(self.name, "", "is empty; a first line with the names of the columns is expected")]
            )

    def split_lines(self) -> Iterator[list[str]]:
        while self.number < len(self.lines):
            line = self.lines[self.number]
            self.number += 1
            try:
                if line:
                    yield next(csv.reader([line], strict=True))
            except csv.Error:
                self.bad("", "is not valid CSV: a quote is not closed, or has text behind it", "lines that are no CSV")

    def bad(self, key: str, what: str, kind: str = UNREADABLE, line: int = 0) -> None:
        self.problems.add_line(self.name, line or self.number, key, what, kind)

    def check_header(self, first: int, columns: list[Column]) -> None:
        for at, column in enumerate(columns, first):
            found = self.header[at] if at < len(self.header) else None
            if found != column.name:
                is_what = "missing" if found is None else excerpt(found)
                names = ",".join(c.name for c in columns)
                raise InputError(
                    [
                        Problem(
                            f"{self.name}:{self.number}",
                            "",
                            f"column {at + 1} is {is_what}, not {column.name}; the columns of this file are {names}",
                        )
                    ]
                )

    def rows(self) -> Iterator[list[str]]:
        """The lines below the header that have as many fields."""
        for texts in self.split_lines():
            if len(texts) == len(self.header):
                yield texts
            else:
                self.bad("", f"has {len(texts)} fields, the header has {len(self.header)}", "lines of another length")

    def read(self, texts: list[str], columns: list[Column]) -> dict[str, Any] | None:
        """What is known by name; None, with its errors reported, for fields that cannot be read."""
        values, good = {}, True
        for column, text in zip(columns, texts):
            try:
                if (value := column.value(text)) is not None:
                    values[column.name] = value
            except ValueError:
                self.bad(column.name, f"is {excerpt(text) if text else 'empty'}; {column.expected} is expected")
                good = False
        return values if good else None


def read_rows(file: Path, problems: Problems, columns: list[Column]) -> Iterator[tuple[dict[str, Any], Table]]:
    table = Table(file, problems)
    table.check_header(0, columns)
    for texts in table.rows():
        if (values := table.read(texts, columns)) is not None:
            yield values, table


@dataclass
class RunTable:
    """runs.csv; the axes are the columns between problem and space."""

    axes: list[str] = field(default_factory=list)
    rows: list[RunRow] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # line of each row, from 1
    cut: bool = False  # the last line had no end: the study was stopped while it was written


def read_runs(file: Path, problems: Problems) -> RunTable:
    table = Table(file, problems)
    behind = BEHIND_AXES + FORM_COLUMNS
    # studies of the commands sensitivity and invert have them
    if table.header[-len(MEASURES) :] == [column.name for column in MEASURE_COLUMNS]:
        behind = behind + MEASURE_COLUMNS
    table.check_header(0, BEFORE_AXES)
    begin = len(BEFORE_AXES)
    end = max(begin, len(table.header) - len(behind))
    table.check_header(end, behind)
    runs = RunTable(axes=[axis_of_column(column) for column in table.header[begin:end]], cut=table.cut)
    for texts in table.rows():
        before, after = table.read(texts, BEFORE_AXES), table.read(texts[end:], behind)
        if before is None or after is None:
            continue
        row = RunRow(values=texts[begin:end])
        for name, value in (before | after).items():
            if name in row.measures:
                row.measures[name] = value
            elif (form := name.removeprefix("pairs_")) in row.pairs_by_form:
                row.pairs_by_form[form] = value
            else:
                setattr(row, name, value)
        runs.rows.append(row)
        runs.lines.append(table.number)
    check_runs(runs, table)
    return runs


def check_runs(runs: RunTable, table: Table) -> None:
    """Runs that are there twice, and points whose runs disagree about what they are."""
    by_number: dict[int, int] = {}
    done: dict[tuple, int] = {}
    by_point: dict[int, tuple[int, list[str]]] = {}
    for row, line in zip(runs.rows, runs.lines):
        if (first := by_number.setdefault(row.run, line)) != line:
            table.bad("run", f"run {row.run} is in line {first} already", "runs that are there twice", line)
        if row.kind == "reference":
            continue
        if row.status == "ok" and (first := done.setdefault((row.point, row.kind, row.repeat), line)) != line:
            table.bad(
                "repeat",
                f"point {row.point}, {row.kind} {row.repeat} was done in line {first} already",
                "runs that count twice",
                line,
            )
        first, values = by_point.setdefault(row.point, (line, row.values))
        if values != row.values:
            table.bad(
                "point",
                f"the values of point {row.point} are {', '.join(row.values)} here and "
                f"{', '.join(values)} in line {first}",
                "points with other values",
                line,
            )


def read_errors(file: Path, problems: Problems) -> list[FieldError]:
    columns = columns_of(FieldError, needed="point field", relative=Column("relative", number, "a number, or nothing"))
    return [FieldError(**values) for values, _ in read_rows(file, problems, columns)]


def decade_of(text: str) -> str | int:
    return text if text in ("below", "equal") else whole(text, -(2**63))


def read_histograms(file: Path, problems: Problems) -> list[FieldHistogram]:
    """A decade per line: `equal` counts the values without a difference, `below` those below the first decade."""
    columns = columns_of(FieldHistogram, "point field", needed="point field") + [
        Column("decade", decade_of, "an exponent of ten, below or equal", True),
        count_column("negative"),
        count_column("positive"),
    ]
    found: list[FieldHistogram] = []
    for row, table in read_rows(file, problems, columns):
        if not found or (found[-1].point, found[-1].field) != (row["point"], row["field"]):
            found.append(FieldHistogram(row["point"], row["field"]))
        last, decade, positive = found[-1], row["decade"], row.get("positive", 0)
        if decade == "equal":
            last.equal = positive
            continue
        place = len(last.negative)
        if place == 1 and decade != "below":
            last.lowest = decade
        if decade != ("below" if place == 0 else last.lowest + place - 1):
            table.bad(
                "decade",
                f"is {decade}; below and then rising exponents without a gap are expected",
                "decades out of order",
            )
            continue
        last.negative.append(row.get("negative", 0))
        last.positive.append(positive)
    return found


def read_traces(file: Path, problems: Problems) -> list[TraceError]:
    columns = columns_of(TraceError, needed="point where n")
    return [TraceError(**values) for values, _ in read_rows(file, problems, columns)]


def some_words(text: str) -> list[str]:
    if not (words := text.split()):
        raise ValueError
    return words


def read_maps(file: Path, problems: Problems) -> list[FieldMap]:
    columns = columns_of(
        FieldMap,
        needed="point file",
        fields=Column("fields", some_words, "names of fields with blanks between them", True),
    )
    return [FieldMap(**values) for values, _ in read_rows(file, problems, columns)]


def read_busy(file: Path, problems: Problems) -> list[BusyRow]:
    columns = columns_of(
        BusyRow,
        needed="point rank begin end",
        slot=Column("slot", lambda text: whole(text, -1), "a whole number from -1 on", True),
    )
    return [BusyRow(**values) for values, _ in read_rows(file, problems, columns)]
