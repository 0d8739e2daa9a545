# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Texts and numbers as messages, tables and a terminal show them; progress; errors in the input, all at once."""

from __future__ import annotations

import difflib
import json
import math
import os
import pathlib
import re
import shutil
import sys
import time
import unicodedata
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


def grouped(items, key):
    """{key: its items}, each in the order of the items."""
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def counted(count, noun):
    """'1 point', '1,000 points'"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number_text(value):
    """The shortest digits that read back as the number."""
    return repr(float(value)).removesuffix(".0")


def short_text(value, digits=4, factor=1):
    """A number, times a factor, with some digits; nothing where it is not known."""
    return "" if value is None or not math.isfinite(value) else f"{value * factor:.{digits}g}"


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
    """Collects errors."""

    def add(self, where: str, key: str, what: str) -> None:
        self.append(Problem(str(where), key, what))

    def raise_if_any(self) -> None:
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


ERASE_REST = "\x1b[K"
WIDEST_BAR, NARROWEST_BAR, USUAL_TEXT = 30, 8, 44
SHORTEST_INTERVAL = 0.1  # seconds


def width_of(text: str) -> int:
    """Columns on a terminal: two for the wide characters of East Asia."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def cut(text: str, columns: int) -> str:
    if width_of(text) <= columns:
        return text
    while text and width_of(text) > columns - 3:
        text = text[:-1]
    return text + "..."


def duration_text(seconds: float) -> str:
    """ "0.12 s", "43 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "?" for what is no duration."""
    if not math.isfinite(seconds) or not 0 <= seconds <= 1e15:
        return "?"
    if seconds < 9.95:
        return f"{seconds * 1e3:.2g} ms" if seconds < 1e-3 else f"{seconds:.2g} s"
    whole = math.floor(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400:,} d {whole % 86400 // 3600} h"


class Progress:
    def __init__(self, quiet: bool):
        self.is_silent, self.on_terminal = quiet, sys.stderr.isatty()
        self.last_tenth, self.has_line = -1, False
        self.last_written = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.has_line:
            print(f"\r{ERASE_REST}\r", end="", file=sys.stderr, flush=True)
            self.has_line = False

    def show(self, done: float, text: str) -> None:
        """`done`: the part that is done, from 0 to 1."""
        done = min(1.0, max(0.0, done))
        if self.is_silent:
            return
        if not self.on_terminal:
            if (tenth := math.floor(10 * done + 1e-9)) > self.last_tenth:
                self.last_tenth = tenth
                print(f"progress: {text}", file=sys.stderr, flush=True)
            return
        if time.monotonic() - self.last_written >= SHORTEST_INTERVAL:
            self.last_written = time.monotonic()
            room = self.columns() - max(USUAL_TEXT, width_of(text)) - 3
            if room >= NARROWEST_BAR:
                width = min(WIDEST_BAR, room)
                filled = math.floor(done * width + 1e-9)
                text = f"[{'#' * filled}{'-' * (width - filled)}] {text}"
            self.note(text)

    def note(self, text: str) -> None:
        """A text on a terminal, whatever is done."""
        if self.on_terminal and not self.is_silent:
            self.has_line = True
            print(f"\r{cut(shown(text), self.columns())}{ERASE_REST}", end="", file=sys.stderr, flush=True)

    @staticmethod
    def columns() -> int:
        """One less than the terminal has, as some begin a new line in the last."""
        try:
            return max(1, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
        except OSError:
            return shutil.get_terminal_size().columns - 1
