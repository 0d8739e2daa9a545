# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""One line on a terminal, which is written over, or a line per tenth in a log file, on standard error."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
import unicodedata

from .texts import shown

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
