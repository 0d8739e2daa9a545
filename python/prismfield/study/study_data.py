# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What a report folder holds and what the analysis makes of it. NaN, -1 and "" stand for a value that is not known."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("reference", "warmup", "timed")
# ok; this machine cannot run it; it ended with an error; its fields differ from the reference by more than the
# tolerance, so it has no speed; it was ended at the limit of a run; the time budget was spent before its turn
STATUSES = ("ok", "not run", "failed", "wrong", "too slow", "out of budget")
FORMS = ("compact", "difference_free", *(f"multipole_{order}" for order in (8, 6, 4, 2, 0)), "corners")


class MeasureInfo(NamedTuple):
    """What the commands sensitivity and invert report beside times and memory."""

    name: str  # column of runs.csv, key of study.json and `y` of figures
    unit: str
    heading: str  # in tables, of the value times `factor`
    factor: float
    words: str  # at the axis of a figure


MEASURES = (
    MeasureInfo("stored_bytes", "byte", "G (MB)", 1e-6, "G as it is stored"),
    MeasureInfo("transposed_seconds", "s", "G' d (s)", 1, "Time of a product G' d"),
    MeasureInfo("anew_seconds", "s", "G m anew (s)", 1, "Time of a product G m computed anew"),
    MeasureInfo("pays_after", "1", "pays after", 1, "Products after which storing pays"),
    MeasureInfo("chi", "1", "chi", 1, "Chi of the data"),
    MeasureInfo("residual_rms", "1", "RMS residual / sigma", 1, "RMS of residuals over sigma"),
    MeasureInfo("solutions", "1", "solutions", 1, "Solutions for a beta"),
    MeasureInfo("products", "1", "products", 1, "Products with G"),
)

Settings = dict[str, str]
Row = dict[str, Any]  # of a table, by column


class Estimate(NamedTuple):
    """A value and the bounds of its 95 % interval."""

    value: float = nan
    low: float = nan
    high: float = nan


def new(factory) -> Any:
    """A member that begins as factory()."""
    return dataclasses.field(default_factory=factory)


@dataclass
class SpacePeak:
    """What a small kernel reached in an execution space: `prismfield info --calibrate`."""

    peak_double: float = nan  # operations per second, a fused multiply-add counts two
    peak_single: float = nan
    bandwidth: float = nan  # bytes per second of a + s b -> c
    threads: int = 1  # threads that reached it; 1 for a device


@dataclass
class StudyMachine:
    name: str = ""  # what its curves are called
    version: str = ""
    git: str = ""
    peaks: dict[str, SpacePeak] = new(dict)  # by space
    json: dict[str, Any] = new(dict)  # machine.json as it was read


@dataclass
class StudyAxis:
    """One axis of the sweep."""

    name: str
    values: list[str] = new(list)  # labels of the points, in the order of the study
    keys: list[str] = new(list)  # key paths, or threads, ranks, devices, bind, that the values set
    settings: list[Settings] = new(list)  # what each value sets

    def sets(self, key: str) -> bool:
        return key in self.keys

    def settings_of(self, label: str) -> Settings:
        """What a label sets; empty where the study does not say."""
        at = self.values.index(label) if label in self.values else len(self.settings)
        return self.settings[at] if at < len(self.settings) else {}


@dataclass
class StudyRules:
    """What the study asked for and kept."""

    command: str = "run"  # run, sensitivity or invert
    tolerance: float = 1e-9
    repeats: int = 5
    warmup: int = 1
    order: str = "random"
    seed: int = 1
    scaling: str = ""  # threads, ranks, devices or none; "": the first of them that is swept
    weak: bool = False
    baseline: Settings = new(dict)  # of the point that speed-ups are relative to; {}: fewest workers
    budget_forbade: bool = False
    notes: list[str] = new(list)


@dataclass
class Sample:
    """The timed runs of a point: median with its interval, and all of them."""

    median: Estimate = Estimate()
    all: list[float] = new(list)


@dataclass
class Roofline:
    """Where a point stands between arithmetic and memory."""

    double_operations: float = nan  # of all pairs by the forms that they took
    single_operations: float = nan
    arithmetic_rate: float = nan  # operations per second
    fraction_of_peak: float = nan
    intensity: float = nan  # operations per byte that the kernel moves at most
    bound: str = ""  # arithmetic, memory or ""


# What a point has of its runs: how they were computed, samples of their times, and medians.
WORDS = ("problem", "space", "device", "partition", "precision", "kernel")
COUNTS = ("ranks", "threads", "slots", "batch", "block", "pairs")
SAMPLES = ("field_seconds", "total_seconds", "process_seconds", "processor_seconds", "pairs_per_second")
MEDIANS = ("setup_seconds", "output_seconds", "energy_joules", "busy_least", "busy_most")
OfRuns = dataclasses.make_dataclass(
    "OfRuns",
    [
        *((name, str, "") for name in WORDS),
        *((name, int, -1) for name in COUNTS),
        *((name, Sample, new(Sample)) for name in SAMPLES),
        *((name, float, nan) for name in (*MEDIANS, *(measure.name for measure in MEASURES))),
    ],
)


@dataclass
class StudyPoint(OfRuns):
    """A point of the sweep with the analysis of its runs."""

    id: int = 0
    machine: int = 0  # index in StudyData.machines
    labels: list[str] = new(list)  # one per axis
    status: str = "ok"
    why: str = ""
    oversubscribed: bool = False
    devices: int = -1
    pairs_by_form: dict[str, int] = new(dict)
    # medians
    memory_bytes: float = nan
    scratch_bytes: float = nan
    largest_error: float = nan
    load: float = nan
    baseline: int = -1  # id of the point that speed-up and efficiency are relative to
    speed_up: Estimate = Estimate()
    efficiency: Estimate = Estimate()
    karp_flatt: Estimate = Estimate()
    roofline: Roofline = new(Roofline)
    core_seconds: float = nan  # workers times the time from start to end of the process

    @property
    def workers(self) -> int:
        """Devices, or otherwise ranks x threads; -1: not known."""
        if self.devices > 0:
            return self.devices
        return self.ranks * self.threads if self.ranks > 0 and self.threads > 0 else -1

    @property
    def has_speed(self) -> bool:
        """Whether the point ran and its fields are right."""
        return self.status == "ok" and self.field_seconds.median.value > 0 and self.pairs > 0


@dataclass
class StudyFit:
    """Serial fractions of points that differ in one axis only."""

    along: str = ""  # the axis
    key: str = ""  # threads, ranks or devices
    machine: int = 0
    group: Settings = new(dict)  # axis and label of all others
    amdahl: Estimate = Estimate()
    gustafson: Estimate = Estimate()
    seconds_of_one: float = nan
    points: list[int] = new(list)


@dataclass
class Platform:
    name: str
    point: int = -1  # the fastest, -1 where none ran
    architectural: float = nan
    application: float = nan


@dataclass
class Portability:
    """One way to compute a problem on every platform."""

    problem: str
    kept: Settings = new(dict)  # axis and label of what stays the same on all of them
    platforms: list[Platform] = new(list)
    architectural: float = nan
    application: float = nan


@dataclass
class StudyData:
    """A report folder, or several joined, and what was made of it."""

    folder: Path = Path()
    title: str = ""
    hash: str = ""
    started: str = ""
    ended: str = ""
    reduced: bool = False
    joined: bool = False
    rules: StudyRules = new(StudyRules)
    machines: list[StudyMachine] = new(list)
    axes: list[StudyAxis] = new(list)
    runs: list[Any] = new(list)  # tables.RunRow
    run_machines: list[int] = new(list)  # index in machines of each run
    # as the tables have them; in histograms the counts of all decades
    errors: list[Row] = new(list)
    histograms: list[Row] = new(list)
    trace: list[Row] = new(list)
    maps: list[Row] = new(list)
    busy: list[Row] = new(list)
    # as the study wrote them: plain dicts, lists, texts, numbers, truth values and None
    figures: list[Any] = new(list)
    compare_with: list[Any] = new(list)
    # made by analysis.analyse()
    points: list[StudyPoint] = new(list)
    fits: list[StudyFit] = new(list)
    portability: list[Portability] = new(list)

    def setting(self, labels: list[str], key: str) -> str:
        """What the labels of a point say that a key is; "" when they say nothing."""
        for axis, label in zip(self.axes, labels):
            if axis.sets(key) and key in (found := axis.settings_of(label)):
                return found[key]
        return ""
