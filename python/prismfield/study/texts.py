# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Texts and numbers as messages and tables show them, and errors in the input, all that were found at once."""

from __future__ import annotations

import difflib
import json
import math
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..new_file import new_file

# What moves the cursor, colours or hides text, or turns its direction, and bytes that are no UTF-8.
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def shown(text):
    """Text out of files as a message or table shows it."""
    return CONTROL.sub("?", text)


def counted(count, noun):
    """'1 point', '1,000 points'"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number_text(value):
    """The shortest digits that read back as the number."""
    return repr(float(value)).removesuffix(".0")


def short_text(value, digits=4):
    """A number with some digits; nothing where it is not known."""
    return f"{value:.{digits}g}" if math.isfinite(value) else ""


def json_text(value, indent):
    """The text of JSON, which has null for what is not finite, and U+FFFD for bytes of texts that are no UTF-8."""

    def clean(value):
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if isinstance(value, dict):
            return {clean(key): clean(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return list(map(clean, value))
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(clean(value), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def write_file(target, content):
    """Writes a text, or bytes, under a temporary name and renames it when complete."""
    with new_file(pathlib.Path(target)) as file:
        file.write(content if isinstance(content, bytes) else content.encode(errors="replace"))


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
