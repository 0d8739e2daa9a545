# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The program as a study uses it: processes that are started, watched, measured and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

MEASURE = str(Path(__file__).with_name("measure.py"))
WATCHED = 0.2  # seconds between two looks at a run


class Stopped(BaseException):
    """A signal asked this process to stop."""


class RunError(Exception):
    """What failed while running."""


def stop_at_signals() -> None:
    """From here on a signal raises Stopped, a second one ends the process; SIGHUP stays ignored where it is."""

    def stop(*_: Any) -> None:
        for which in signals:
            signal.signal(which, signal.SIG_DFL)
        raise Stopped

    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    for which in signals:
        signal.signal(which, stop)


@dataclass
class Outcome:
    """How a command ended, and what it took."""

    code: int = 127  # the exit code, below 0 a signal's number
    seconds: float = 0  # from its start to its end, by the clock
    processor_seconds: float = 0  # of all its threads and of the children that it waited for
    peak_memory_bytes: int = -1  # the most that it, or the largest of these children, held at a time

    def __str__(self) -> str:
        if self.code >= 0:
            return f"ended with {self.code}"
        return f"was ended by signal {-self.code} ({signal.strsignal(-self.code)})"


def run_measured(
    words: list[str],
    environment: Mapping[str, str],
    log: IO[bytes] | int,
    end_with: int = signal.SIGKILL,
    watch: Callable[[], None] = lambda: None,
) -> Outcome:
    """Runs a command, which leads a process group; `end_with` is what it gets when this process is gone."""
    command = [sys.executable, "-I", "-S", MEASURE, str(os.getpid()), str(int(end_with)), *words]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
    )
    try:
        while True:
            try:
                text, _ = process.communicate(timeout=WATCHED)
                break
            except subprocess.TimeoutExpired:
                watch()
    except BaseException:
        process.terminate()
        process.communicate()
        raise
    try:
        taken = json.loads(text)
    except ValueError:
        raise RunError(f"a run was not measured: {MEASURE} ended with {process.returncode}") from None
    return Outcome(**taken)


@dataclass
class Program:
    """`prismfield`, and the options that every run gets."""

    file: str
    kokkos: list[str] = field(default_factory=list)

    def ask(
        self, *arguments: str, text: str = "", environment: Mapping[str, str] | None = None, **keywords: Any
    ) -> str:
        """What a command prints, nothing where it fails. Raises Stopped."""
        keywords |= {"input": text, "env": environment, "encoding": "utf-8", "errors": "surrogateescape"}
        done = subprocess.run([self.file, *arguments, *self.kokkos], capture_output=True, **keywords)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
            raise RunError(f"{self.file} {' '.join(arguments)}: {lines[-1].removeprefix('error: ')}")
        return done.stdout

    def info(self) -> dict[str, Any]:
        return json.loads(self.ask("info", "--json"))

    def facts(self, file: Path, command: str, cases: Iterable[str], densities_at: str = "") -> list[dict[str, Any]]:
        """What the program says of cases, whose inputs are relative to the folder of `file`."""
        request = {"file": str(file), "command": command, "cases": list(cases)}
        if densities_at:
            request["densities_at"] = densities_at
        return json.loads(self.ask("info", "--cases", "/dev/stdin", text=json.dumps(request)))
