# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Errors in the input, all that were found at once."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .texts import shown


def excerpt(text: str, most: int = 39) -> str:
    """What a file holds, quoted for a message."""
    return f"'{shorter(text, most)}'"


def allowed(word: str, names: Iterable[str]) -> str:
    """The end of a message about a word that is none of `names`."""
    names = list(names)
    nearest = difflib.get_close_matches(word, names, 1)
    return (f"; did you mean {nearest[0]}? Allowed: " if nearest else "; allowed: ") + ", ".join(names)


def shorter(text: str, most: int) -> str:
    text = shown(text)
    return text if len(text) <= most else text[:most] + "..."


class Problem(NamedTuple):
    where: str  # "file:line", a file or an option
    key: str  # key path or column, may be empty
    what: str

    def __str__(self) -> str:
        parts = list(self)
        if self.where.startswith("--"):
            # "--set execution.slots", but "case.yaml:7: execution.slots"; another option says itself which key it is
            parts[:2] = [f"{self.where} {self.key}".strip() if self.where == "--set" else self.where]
        return ": ".join(shorter(part, 4096) for part in parts if part)


class InputError(Exception):
    """Errors in the input; its text has one line for each of the first `most_listed`."""

    most_listed = 100

    def __init__(self, problems: list[Problem]):
        self.problems = problems
        lines = [str(problem) for problem in problems[: self.most_listed]]
        if (more := len(problems) - len(lines)) > 0:
            lines.append(f"and {more:,} more error{'' if more == 1 else 's'}")
        super().__init__("\n".join(lines))


class Problems(list[Problem]):
    """Collects errors; of one kind in one file the first `most_of_a_kind`, and the number of the rest."""

    most_of_a_kind = 20

    def __init__(self):
        super().__init__()
        self.kinds: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, key: str, what: str) -> None:
        self.append(Problem(str(where), key, what))

    def add_line(self, file: str, line: int, key: str, what: str, kind: str) -> None:
        self.kinds[file, kind] += 1
        if self.kinds[file, kind] <= self.most_of_a_kind:
            self.add(f"{file}:{line}", key, what)

    def raise_if_any(self) -> None:
        for (file, kind), count in self.kinds.items():
            if count > self.most_of_a_kind:
                self.add(file, "", f"{count - self.most_of_a_kind:,} more of this kind: {kind}")
        if self:
            raise InputError(list(self))


def exit_code_of(work: Callable[[], int]) -> int:
    """Does the work of a command; its exit code, or that of its errors, which standard error has a line for."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return work()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename2 or error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
