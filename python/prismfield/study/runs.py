# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""One run of a study: the words and variables that start it, its measures and result, and why it has none."""

from __future__ import annotations

import math
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..field_names import MAGNETIC, NATIVE
from ..hdf5_file import open_hdf5
from .machine import EnergyMeter, Machine
from .plan import Job, Start, launch_of
from .program import Program, Stopped, run_measured
from .spec import UNITS_OF_TIME, Spec
from .study_data import FORMS, Row, RunRow
from .texts import shorter, shown

GROUP = "performance"
LOWEST, HIGHEST = -16, 0  # decades of histograms, the outermost of which are open
EOTVOS = 1e9  # per s2


class Unreadable(Exception):
    """A file that is no result, or not of this program."""


def text_of(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def open_result(file: Path) -> h5py.File:
    try:
        return open_hdf5(file)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{file}: {error}".replace("\n", " ")) from None


def take(row: RunRow, attributes: h5py.AttributeManager, names: Iterable[str]) -> None:
    """Members of the row that the result's attributes of these names have."""
    for name in names:
        value = attributes[name]
        setattr(row, name, text_of(value) if isinstance(value, (bytes, str)) else value.item())


def read_inversion(file: h5py.File, row: RunRow) -> None:
    attributes = file[GROUP].attrs
    row.method, row.field_seconds = "direct", attributes["inversion_seconds"].item()
    row.pairs = int(attributes["rows"]) * int(file.attrs["active_cells"])
    convergence = {name: file[f"convergence/{name}"][()] for name in ("chi", "phi_d", "products")}
    if not len(convergence["chi"]):
        raise Unreadable("the inversion made no solution")
    # a G that is not stored has no size
    stored = float(attributes["stored_bytes"])
    row.stored_bytes = stored if stored > 0 else math.nan
    row.chi = float(convergence["chi"][-1])
    row.residual_rms = math.sqrt(convergence["phi_d"][-1] / int(attributes["data"]))
    row.solutions = float(len(convergence["chi"]))
    row.products = float(convergence["products"][-1])
    row.pairs_per_second = row.pairs * row.products / row.field_seconds


def read_performance(result: Path, command: str, source: str, row: RunRow) -> None:
    """Facts and times of a result; `source` is the program that it has to be of. Raises Unreadable."""
    with open_result(result) as file:
        try:
            made_by = text_of(file.attrs["source"])
            if made_by != source:
                what = f"was made by {shown(made_by)}, but this is {source}: the program was replaced meanwhile"
                raise Unreadable(what)
            attributes = file[GROUP].attrs
            take(row, attributes, "space device ranks threads setup_seconds output_seconds total_seconds".split())
            if command == "invert":
                read_inversion(file, row)
                return
            take(row, attributes, "partition precision kernel method slots batch block scratch_bytes".split())
            take(row, attributes, ("pairs", "field_seconds", "pairs_per_second", *(f"pairs_{form}" for form in FORMS)))
            if command == "sensitivity":
                names = ("stored_bytes", "transposed_seconds", "anew_seconds", "pays_after")
                # a G that is not stored has no size, and one that does not pay off no number of products
                vars(row).update({name: float(attributes[name]) for name in names if name in attributes})
            busy = file[GROUP].get("rank_busy_seconds")
            if busy is not None and busy.size:
                row.busy_least, row.busy_most = float(np.min(busy)), float(np.max(busy))
        except KeyError as error:
            raise Unreadable(f"{result}: lacks {error.args[0]}") from None


def difference_of(name: str, unit: str, a: np.ndarray, b: np.ndarray) -> tuple[Row, Row]:
    """How one field differs from that of the reference, in the file's unit: rows of errors and of histograms.

    `a` and `b` have numbers at the same places.
    """
    known = ~np.isnan(b)
    a, b = a[known], b[known]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # equal infinities differ by nothing
        difference = np.where(a == b, 0.0, np.abs(a - b))
        decades = np.floor(np.log10(difference / np.abs(b)))
    decades = np.where(np.isnan(decades), HIGHEST, np.clip(decades, LOWEST - 1, HIGHEST)).astype(int) - (LOWEST - 1)
    largest = float(difference.max(initial=0))
    # an infinite reference would make every difference small
    reference = float(np.abs(b[np.isfinite(b)]).max(initial=0))
    n_decades = HIGHEST - LOWEST + 2
    error = {
        "field": name,
        "unit": unit,
        "rms_difference": float(np.sqrt(np.mean(difference.astype(np.longdouble) ** 2))) if difference.size else 0.0,
        "largest_difference": largest,
        "largest_reference": reference,
        "relative": (largest / reference if reference > 0 else inf) if largest > 0 else 0.0,
    }
    histogram = {
        "field": name,
        "lowest": LOWEST,
        "negative": np.bincount(decades[a < b], minlength=n_decades).tolist(),
        "equal": int(np.count_nonzero(a == b)),
        "positive": np.bincount(decades[a > b], minlength=n_decades).tolist(),
    }
    return error, histogram


def compare_fields(result: Path, reference: Path) -> tuple[list[tuple[Row, Row]], str]:
    """difference_of() each field, and what no tolerance allows, "" for nothing. Raises Unreadable."""
    differences, wrong = [], ""
    with open_result(result) as one, open_result(reference) as other:
        for name in ("easting", "northing", "upward"):
            if name not in one or name not in other or not np.array_equal(one[name][()], other[name][()]):
                return [], f"{name} differs from that of the reference"
        for name in (*NATIVE, *MAGNETIC):
            if name not in one and name not in other:
                continue
            if name not in one or name not in other:
                wrong = wrong or f"{name} is missing in the {'reference' if name in one else 'result'}"
                continue
            a, b = one[name][()].ravel(), other[name][()].ravel()
            for attribute in ("units", "axes"):
                if text_of(one[name].attrs.get(attribute, "")) != text_of(other[name].attrs.get(attribute, "")):
                    wrong = wrong or f"{name}: {attribute} differ from those of the reference"
            if one_nan := int(np.count_nonzero(np.isnan(a) != np.isnan(b))):
                wrong = wrong or f"{name}: {one_nan} points are NaN in one file only"
                both = np.isnan(a) | np.isnan(b)
                a, b = np.where(both, np.nan, a), np.where(both, np.nan, b)
            differences.append(difference_of(name, text_of(other[name].attrs.get("units", "")), a, b))
    return differences, wrong or ("" if differences else "the result has no fields")


def model_difference(result: Path, reference: Path) -> float:
    """max|a-b| / max|b| of two models' densities; infinite if their inactive cells differ. Raises Unreadable."""
    with open_result(result) as one, open_result(reference) as other:
        try:
            a, b = one["density"][()].ravel(), other["density"][()].ravel()
        except KeyError:
            raise Unreadable(f"{result}: holds no density") from None
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return inf
    known = ~np.isnan(b)
    return difference_of("density", "", a[known], b[known])[0]["relative"]


def busy_rows(result: Path) -> list[Row]:
    """Every busy interval."""
    names = ("rank", "slot", "begin", "end")
    with open_result(result) as file:
        if f"{GROUP}/busy_rank" not in file:
            return []
        columns = [file[f"{GROUP}/busy_{name}"][()].tolist() for name in names]
        return [dict(zip(names, values)) for values in zip(*columns)]


def trace_rows(result: Path, densities: Iterable[float | None], gravitational_constant: float) -> Iterator[Row]:
    """How far the trace of the tensor is from Poisson's equation, -4 pi G rho, Eotvos, outside and inside of prisms.

    The three components are computed independently (Moorkamp et al. 2010). On faces, where the trace jumps, the density
    is None. A row has the place, the number of points, RMS, largest deviation and the largest component, or 4 pi G rho
    where that is larger.
    """
    with open_result(result) as file:
        diagonal = np.array([file[name][()].ravel() for name in ("gxx", "gyy", "gzz")])
    density = np.array(densities, dtype=float)
    expected = -4 * math.pi * gravitational_constant * density * EOTVOS
    deviation = np.abs(diagonal.sum(axis=0) - expected)
    scale = np.maximum(np.abs(diagonal).max(axis=0), np.abs(expected))
    for where, is_there in (("outside", density == 0), ("inside", density != 0)):
        used = is_there & np.isfinite(deviation)
        if n := int(np.count_nonzero(used)):
            rms = float(np.sqrt(np.mean(deviation[used] ** 2)))
            largest, most = float(deviation[used].max()), float(scale[used].max())
            yield {"where": where, "n": n, "rms": rms, "largest": largest, "scale": most}


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
            visible = environment[name].split(",") if name in environment else map(str, range(wanted))
            environment[name] = ",".join(list(visible)[:wanted])
    return environment


def named(path: Path) -> str:
    """As a command takes it: "-x" would be an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def run_words(spec: Spec, machine: Machine, program: Program, start: Start, files: RunFiles) -> list[str]:
    words = launch_of(spec, machine, start, program.file).words
    arguments = [start.command, named(files.input), "--quiet", "--output", named(files.result), *program.kokkos]
    behind = words.index(program.file) + 1
    return words[:behind] + arguments + words[behind:]


def lines_of(log: Path) -> Iterator[str]:
    with open(log, encoding="utf-8", errors="surrogateescape") as stream:
        for _, line in zip(range(MOST_LINES), stream):
            if line := line.rstrip():
                yield line


def is_warning(line: str) -> bool:
    return line.startswith(("warning: ", "note: "))


def warnings_in(log: Path) -> list[str]:
    return [shown(line) for line in lines_of(log) if is_warning(line)]


class Runs:
    """Makes runs, each a process of its own."""

    def __init__(self, spec: Spec, machine: Machine, program: Program):
        self.spec, self.machine, self.program = spec, machine, program
        self.energy = EnergyMeter()

    def make(self, job: Job, files: RunFiles, watch: Callable[[], None]) -> RunRow:
        """A row with status, ok, failed or not run, and all that does not depend on other runs."""
        start = job.start
        row = RunRow(ranks=start.ranks, threads=start.threads, oversubscribed=start.oversubscribed)
        row.started, row.load = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), os.getloadavg()[0]
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
                outcome = run_measured(words, environment, log, end_with, look)
        except Stopped:
            for file in (files.result, files.log):
                file.unlink(missing_ok=True)
            raise
        row.energy_joules = self.energy.joules()
        row.process_seconds = outcome.seconds
        # the system counts what all ranks take but for those that a daemon starts, which are nobody's children here
        if start.ranks == 1 or (os.path.basename(words[0]) in MPIRUNS and self.machine.nodes == 1):
            row.processor_seconds = outcome.processor_seconds
            # the system says it of the largest process: ranks share the work alike
            if outcome.peak_memory_bytes > 0:
                row.peak_memory_bytes = outcome.peak_memory_bytes * start.ranks
        if outcome.code != 0:
            # the first line that is neither a warning nor a rule of mpirun's
            lines = (line for line in lines_of(files.log) if not is_warning(line) and line.strip("-="))
            reason = shorter(next(lines, ""), 300)
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
            run_measured(words, environment, log, end_with)
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
