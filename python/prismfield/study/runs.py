# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""One run of a study: the words and variables that start it, its measures, and why it has none."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .machine import EnergyMeter, Machine, load_average
from .plan import Job, Plan, Start, launch_of
from .problems import shorter
from .program import Program, Stopped, run_measured
from .progress import duration_text
from .results import Unreadable, read_performance
from .spec import Spec
from .sweep import UNITS_OF_TIME
from .tables import RunRow
from .texts import shown

# how a run says that it found too little memory, before it began
TOO_LITTLE_MEMORY = " of memory, but there are "
MPIRUNS = ("mpirun", "mpiexec", "orterun", "prterun")
MOST_LINES = 10_000
OTHER_PLACES = ("KOKKOS_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES")
UNITS = UNITS_OF_TIME | {"d": 86400.0}


@dataclass
class RunFiles:
    input: Path
    result: Path
    log: Path


def first_devices(visible: str | None, n: int) -> str:
    """ "0,1" of the devices that this process may use."""
    return ",".join(map(str, range(n)) if visible is None else visible.split(",")[:n])


def run_environment(spec: Spec, machine: Machine, start: Start) -> dict[str, str]:
    """Threads, their places and the devices that a run may see."""
    environment = {key: value for key, value in os.environ.items() if key not in OTHER_PLACES}
    environment["OMP_NUM_THREADS"] = str(start.threads)
    gives_cores = launch_of(spec, machine, start, "prismfield").gives_cores
    bind = start.bind or ("spread" if gives_cores else "none")
    environment["OMP_PROC_BIND"] = "false" if bind == "none" else bind
    if bind != "none":
        environment["OMP_PLACES"] = "threads" if start.hyper_threads else "cores"
    wanted = -(-start.devices // machine.nodes)
    if start.on_device and 0 < wanted < len(machine.devices):
        for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
            environment[name] = first_devices(environment.get(name), wanted)
    return environment


def named(path: Path) -> str:
    """As a command takes it: "-x" would be an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def run_words(spec: Spec, machine: Machine, program: Program, start: Start, files: RunFiles) -> list[str]:
    words = launch_of(spec, machine, start, program.file).words
    arguments = [start.command, named(files.input), "--quiet", "--output", named(files.result), *program.kokkos]
    behind = words.index(program.file) + 1
    return words[:behind] + arguments + words[behind:]


def counts_all_ranks(machine: Machine, words: list[str], start: Start) -> bool:
    """Whether the system counts what all ranks take: those that a daemon starts are nobody's children here."""
    return start.ranks == 1 or (os.path.basename(words[0]) in MPIRUNS and machine.nodes == 1)


def lines_of(log: Path) -> Iterator[str]:
    with open(log, encoding="utf-8", errors="surrogateescape") as stream:
        for _, line in zip(range(MOST_LINES), stream):
            if line := line.rstrip():
                yield line


def is_warning(line: str) -> bool:
    return line.startswith(("warning: ", "note: "))


def warnings_in(log: Path) -> list[str]:
    return [shown(line) for line in lines_of(log) if is_warning(line)]


def reason_in(log: Path) -> str:
    """The line that says why a run ended: the first that is neither a warning nor a rule of mpirun's."""
    return next((shorter(line, 300) for line in lines_of(log) if not is_warning(line) and line.strip("-=")), "")


class Runs:
    """Makes runs, each a process of its own."""

    def __init__(self, spec: Spec, plan: Plan, machine: Machine, program: Program):
        self.spec, self.plan, self.machine, self.program = spec, plan, machine, program
        self.energy = EnergyMeter()

    def make(self, job: Job, files: RunFiles, watch: Callable[[], None]) -> RunRow:
        """A row with status, ok, failed, not run or too slow, and all that does not depend on other runs."""
        start = job.start
        row = RunRow(ranks=start.ranks, threads=start.threads, oversubscribed=start.oversubscribed)
        row.started, row.load = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), load_average()
        files.result.unlink(missing_ok=True)
        words = run_words(self.spec, self.machine, self.program, start, files)

        def look() -> None:
            self.energy.look()
            watch()

        # mpirun takes its ranks with it, when it is asked to
        end_with = signal.SIGKILL if start.ranks == 1 else signal.SIGTERM
        self.energy.start()
        try:
            with open(files.log, "wb") as log:
                environment = run_environment(self.spec, self.machine, start)
                outcome = run_measured(words, environment, log, self.spec.run_limit, end_with, look)
        except Stopped:
            for file in (files.result, files.log):
                file.unlink(missing_ok=True)
            raise
        row.energy_joules = self.energy.joules()
        row.process_seconds = outcome.seconds
        if counts_all_ranks(self.machine, words, start):
            row.processor_seconds = outcome.processor_seconds
            # the system says it of the largest process: ranks share the work alike
            if outcome.peak_memory_bytes > 0:
                row.peak_memory_bytes = outcome.peak_memory_bytes * start.ranks
        if outcome.out_of_time:
            row.status, row.why = "too slow", f"was ended at the limit of {duration_text(self.spec.run_limit)}"
        elif outcome.code != 0:
            reason = reason_in(files.log)
            is_short = TOO_LITTLE_MEMORY in reason
            row.status = "not run" if is_short else "failed"
            row.why = reason if is_short else f"{outcome}: {reason}" if reason else str(outcome)
        else:
            try:
                read_performance(files.result, start.command, self.machine.program["source"], row)
            except Unreadable as why:
                row.status, row.why = "failed", f"its result cannot be read: {why}"
        return row

    def estimate(self, job: Job, files: RunFiles) -> tuple[float, str]:
        """Seconds of the fields and memory of a rank, as a dry run says them; NaN and "" for not known."""
        words = run_words(self.spec, self.machine, self.program, job.start, files)
        words[words.index("--quiet")] = "--dry-run"
        with open(files.log, "wb") as log:
            environment = run_environment(self.spec, self.machine, job.start)
            end_with = signal.SIGKILL if job.start.ranks == 1 else signal.SIGTERM
            run_measured(words, environment, log, self.spec.run_limit, end_with)
        return estimate_in(files.log.read_text(encoding="utf-8", errors="replace"))


def seconds_in(text: str) -> float:
    """Seconds of a duration such as "2 h 5 min"; NaN for any other text."""
    words = text.replace(",", "").split()
    try:
        parts = [float(amount) * UNITS[unit] for amount, unit in zip(words[::2], words[1::2], strict=True)]
    except (KeyError, ValueError):
        return float("nan")
    return sum(parts) if parts else float("nan")


def estimate_in(dry_run: str) -> tuple[float, str]:
    """Reads what a dry run printed: a label and its text a line."""
    found = dict(re.findall(r"^  (estimated time|memory) {2,}(.*)$", dry_run, re.MULTILINE))
    return seconds_in(found.get("estimated time", "")), found.get("memory", "").partition(",")[0]
