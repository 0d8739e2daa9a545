# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""A study on this machine before anything is run: its cases, what has the same fields, and how each run is started."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .machine import Machine
from .program import Program
from .spec import AxisValue, Point, Spec, by_line, points_of
from .texts import InputError, Problem, Problems, counted, json_text
from .yaml_nodes import Node, join_key, numbered, plain, put_or_report, scalar, to_yaml

# what neither the fields of a run nor the model of an inversion depend on, but for rounding
NOT_OF_PROBLEM = ("title", "crs", "execution", "sensitivity", "output")
# what the runs of a command do not have, and the file of G, which nobody would read
NOT_OF_RUNS = {
    "run": ("output", "sensitivity", "inversion"),
    "sensitivity": ("output", "sensitivity.file", "inversion", "observations.noise"),
    "invert": ("output", "sensitivity.file", "observations"),
}
ON_DEVICES = ("cuda", "hip")


@dataclass
class Start:
    """How a run is started on this machine."""

    command: str = "run"
    ranks: int = 1
    threads: int = 1
    devices: int = 0  # that it may see; 0: all
    bind: str = ""  # as OMP_PROC_BIND has it, none for false; "": by the machine
    on_device: bool = False
    oversubscribed: bool = False  # more ranks x threads than cores
    hyper_threads: bool = False  # more of them than cores, yet no more than hardware threads
    why_not: str = ""  # why this machine cannot run it


@dataclass
class Job:
    case: int = 0  # in Plan.cases
    start: Start = field(default_factory=Start)


@dataclass
class StudyProblem:
    """What all runs with the same fields have in common."""

    hash: str
    reference: Job = field(default_factory=Job)


@dataclass
class PlannedPoint:
    point: Point
    problem: int  # in Plan.problems
    job: Job
    is_rounded: bool  # its fields are computed in less than double precision


@dataclass
class Case:
    tree: Node
    command: str
    facts: dict[str, Any]


class PlannedRun(NamedTuple):
    kind: str  # warmup or timed
    point: int  # in Plan.points
    repeat: int  # from 1, warm-ups counted separately


@dataclass
class Plan:
    cases: list[Case] = field(default_factory=list)  # the different ones; inputs are relative to Spec.base_file
    problems: list[StudyProblem] = field(default_factory=list)
    points: list[PlannedPoint] = field(default_factory=list)
    hash: str = ""  # of all by which a study that goes on is the same one

    def why_not(self, point: PlannedPoint) -> str:
        """Why this machine cannot run the point, or its reference; "" if it can."""
        of_reference = self.problems[point.problem].reference.start.why_not
        return point.job.start.why_not or (of_reference and f"its reference: {of_reference}")

    def schedule(self, spec: Spec) -> list[PlannedRun]:
        """The runs but for the references: warm-ups, then every repeat, each a block that holds every point once.

        So a machine that slows down slows all of them. More repeats change nothing of those before.
        """
        points = [i for i, point in enumerate(self.points) if not self.why_not(point)]
        runs = []
        for kind, repeats in (("warmup", spec.warmup), ("timed", spec.repeats)):
            for repeat in range(1, repeats + 1):
                order = list(points)
                if spec.order == "random":
                    random.Random(f"{spec.seed} {kind} {repeat}").shuffle(order)
                runs += [PlannedRun(kind, point, repeat) for point in order]
        return runs

    def text(self, spec: Spec) -> str:
        """ "12 points, 72 runs and 1 reference" """
        references = sum(not problem.reference.start.why_not for problem in self.problems)
        runs = len(self.schedule(spec))
        return f"{counted(len(self.points), 'point')}, {counted(runs, 'run')} and {counted(references, 'reference')}"


def hash_of(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode(errors="surrogateescape")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def first_threads() -> int | None:
    """The first number of OMP_NUM_THREADS, which has one for each level of threads."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def default_threads(machine: Machine, ranks: int) -> int:
    """Threads of each rank if nobody says how many: OMP_NUM_THREADS, else its share of the cores."""
    return first_threads() or max(1, min(machine.all_cores // ranks, machine.cores))


def is_of_execution(key: str) -> bool:
    """Keys that say how fields, or a model, are computed."""
    return any(f"{key}.".startswith(f"{s}.") for s in ("execution", "sensitivity"))


def drop(tree: Node, *paths: str) -> None:
    for path in paths:
        *above, key = path.split(".")
        below = tree
        for name in above:
            below = below.entries.get(name, Node())
        below.entries.pop(key, None)


def node_at(tree: Node, path: str) -> Node:
    for key in path.split("."):
        tree = tree.elements[int(key)] if tree.kind == "list" else tree.entries[key]
    return tree


def digest_of_file(path: Path, node: Node, key: str) -> str:
    """Of the content. Raises InputError by the key that names the file."""

    what = "is no regular file, and a study reads its inputs many times"
    try:
        if path.is_file() or not path.exists():
            digest = hashlib.blake2b(digest_size=16)
            with open(path, "rb") as stream:
                while piece := stream.read(1 << 20):
                    digest.update(piece)
            return digest.hexdigest()
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        what = f"cannot be read: {'there is no such file' if is_missing else error.strerror}"
    raise InputError([Problem(node.place, key, f"'{path}' {what}")])


def are_here(count: int) -> str:
    return f"there {'is' if count == 1 else 'are'} {count:,} here" if count else "there is none here"


class Launch(NamedTuple):
    """A command line that starts a run."""

    words: list[str]
    gives_cores: bool  # each rank gets cores of its own, to which OpenMP may bind its threads


def launch_of(spec: Spec, machine: Machine, start: Start, program: str) -> Launch:
    """The program alone for one rank, else the study's launcher, or what fits this machine's MPI, or srun in a job."""
    fits = not start.oversubscribed or start.hyper_threads
    if start.ranks == 1:
        return Launch([program], fits)
    fits = fits and not start.on_device
    gives_cores = False
    if spec.launcher:
        words = spec.launcher
    elif "SLURM_JOB_ID" in os.environ and shutil.which("srun"):
        words, gives_cores = ["srun", "-n", "{ranks}", "-c", "{threads}", "{program}"], fits
    elif "Open MPI" in machine.program.get("mpi", ""):
        # by itself it binds each rank to one core, or each to all
        places = ["--map-by", "slot:PE={threads}"] if fits else ["--oversubscribe", "--bind-to", "none"]
        hyper = ["--use-hwthread-cpus"] if fits and start.hyper_threads else []
        words, gives_cores = ["mpirun", "-n", "{ranks}", *hyper, *places, "{program}"], fits
    else:
        words = ["mpirun", "-n", "{ranks}", "{program}"]
    for name, value in {"{ranks}": start.ranks, "{threads}": start.threads, "{program}": program}.items():
        words = [word.replace(name, str(value)) for word in words]
    return Launch(words, gives_cores)


class Planner:
    def __init__(self, spec: Spec, machine: Machine, program: Program):
        self.spec, self.machine, self.program = spec, machine, program
        self.problems = Problems()
        self.plan = Plan()
        self.checked: dict[tuple[str, str], Case | None] = {}  # by command and text
        self.numbers: dict[int, int] = {}  # of cases in the plan, by identity
        self.digests: dict[str, str] = {}

    def tree_with(self, settings: dict[str, Node], with_execution: bool = True) -> Node:
        """The base with these keys set."""
        tree = self.spec.base.copy()
        for key, value in settings.items():
            if with_execution or not is_of_execution(key):
                put_or_report(tree, key, value, self.problems)
        drop(tree, *NOT_OF_RUNS[self.spec.command])
        return tree

    def check(self, trees: Iterable[tuple[Node, str]]) -> None:
        """Lets the program read cases that it has not seen, all of a command at once."""
        new: dict[str, dict[str, tuple[Node, list[str]]]] = {}
        for tree, command in trees:
            text, places = numbered(tree)
            if (command, text) not in self.checked:
                new.setdefault(command, {}).setdefault(text, (tree, places))
        file = self.spec.base_file
        for command, cases in new.items():
            answers = self.program.facts(file, command, cases)
            for (text, (tree, places)), facts in zip(cases.items(), answers):
                for where, key, what in facts.get("problems", ()):
                    self.problems.add(self.place_of(where, places), key, what)
                facts["partition_where"] = self.place_of(facts.get("partition_where", ""), places)
                self.checked[command, text] = None if "problems" in facts else Case(tree, command, facts)

    def place_of(self, where: str, places: list[str]) -> str:
        """Where the user wrote what the program found in a line of a text that was made here."""
        file, _, line = where.rpartition(":")
        is_of_case = file == str(self.spec.base_file) and line.isdecimal() and int(line) <= len(places)
        return (places[int(line) - 1] if is_of_case else "") or where

    def case_of(self, tree: Node, command: str) -> Case | None:
        """None for a case with errors."""
        return self.checked[command, numbered(tree)[0]]

    def number_of(self, case: Case) -> int:
        if id(case) not in self.numbers:
            self.numbers[id(case)] = len(self.plan.cases)
            self.plan.cases.append(case)
        return self.numbers[id(case)]

    def problem_text(self, case: Case) -> str:
        """What the fields depend on, but for how they are computed: names of files become what these hold."""
        tree = case.tree.copy()
        drop(tree, *NOT_OF_PROBLEM)
        for key in case.facts["inputs"]:
            if key.partition(".")[0] not in tree.entries:
                continue
            node = node_at(tree, key)
            path = self.spec.base_file.parent / node.text
            try:
                if str(path) not in self.digests:
                    self.digests[str(path)] = digest_of_file(path, node, key)
                # the suffix says how a file is read
                node.text, node.quoted = self.digests[str(path)] + path.suffix, True
            except InputError as error:
                self.problems.extend(error.problems)
        return json.dumps(plain(tree), sort_keys=True)

    def reference_tree(self, point: Point) -> Node:
        tree = self.tree_with(point.settings, with_execution=False)
        command = self.reference_command
        drop(tree, *NOT_OF_RUNS[command])
        values = {"execution.kernel": scalar("auto", "--set"), "execution.precision": scalar("double", "--set")}
        if command == "invert":
            # a model is compared with that of G in double precision, G m with fields that are summed directly
            words = {"store": scalar("auto", "--set"), "precision": scalar("double", "--set")}
            values["sensitivity"] = Node("map", place="--set", entries=words)
        for key, value in (values | self.spec.reference.settings).items():
            put_or_report(tree, key, value, self.problems)
        return tree

    @property
    def reference_command(self) -> str:
        return "invert" if self.spec.command == "invert" else "run"

    def check_fields(self, fields: list[str]) -> None:
        for name in self.spec.maps:
            if name not in fields:
                what = f"has {name}, which is not among the fields of every point"
                self.problems.add(self.spec.place_of("maps"), "maps", what)
        if self.spec.trace and not {"gxx", "gyy", "gzz"} <= set(fields):
            what = "needs gxx, gyy and gzz among the fields of every point"
            self.problems.add(self.spec.place_of("trace"), "trace", what)

    def start_of(self, placed: AxisValue, case: Case, who: str) -> Start:
        start = Start(command=case.command)
        asked = placed.placement
        self.choose_devices(placed, case.facts["space"], start)
        start.ranks = asked.get("ranks", max(1, start.devices))
        start.bind = asked.get("bind", "")
        is_serial = case.facts["space"] == "serial"
        start.threads = asked.get("threads", 1 if is_serial else default_threads(self.machine, start.ranks))
        counts = not start.on_device or "threads" in asked
        total, hardware = start.ranks * start.threads, self.machine.hardware_threads * self.machine.nodes
        start.oversubscribed = counts and total > self.machine.all_cores
        start.hyper_threads = start.oversubscribed and total <= hardware
        prisms, points = case.facts["rank_grid"] or (1, start.ranks)
        if prisms * points != start.ranks:
            example = f"{{ranks: {prisms * points}, execution.partition: {{ranks: [{prisms}, {points}]}}}}"
            what = f"{prisms} x {points} ranks asked for, but {who} {counted(start.ranks, 'rank')}"
            what += f"; an axis of maps moves both together, with values such as {example}"
            self.problems.add(case.facts["partition_where"], "execution.partition", what)
        if start.why_not:
            return start
        if counts and total > hardware and not self.spec.oversubscribe:
            size = f"{counted(start.ranks, 'rank')} x {counted(start.threads, 'thread')}"
            start.why_not = f"{size} need {total:,} hardware threads, {are_here(hardware)}"
        elif start.ranks > 1 and self.machine.program.get("mpi") in (None, "", "not built in"):
            start.why_not = "this build has no MPI, which several ranks need"
        elif start.ranks > 1:
            launcher = launch_of(self.spec, self.machine, start, "prismfield").words[0]
            if not shutil.which(launcher):
                start.why_not = f"{launcher}, which starts ranks, is not on PATH"
        return start

    def choose_devices(self, placed: AxisValue, space: str, start: Start) -> None:
        program = self.machine.program
        space = program["default_space"] if space == "default" else space
        start.on_device = space in ON_DEVICES
        if space not in program["spaces"]:
            start.why_not = f"this build has no space {space}, only {', '.join(program['spaces'])}"
            return
        there = len(self.machine.devices) * self.machine.nodes
        devices = placed.placement.get("devices")
        if devices and not start.on_device:
            start.why_not = f"the space {space} has no devices"
        elif start.on_device and (devices or 1) > there:
            start.why_not = f"{counted(devices or 1, 'device')} asked for, {are_here(there)}"
        if not devices:
            return
        start.devices = devices
        ranks = placed.placement.get("ranks", devices)
        if ranks < devices:
            what = f"{counted(devices, 'device')} with {counted(ranks, 'rank')}: a rank computes on one device"
            self.problems.add(placed.placed_at, "devices", f"{what}; leave ranks out, or have as many")

    def study_hash(self) -> str:
        spec, program = self.spec, self.machine.program
        flags = (spec.oversubscribe, spec.busy, spec.trace, spec.histogram, spec.maps)

        def computed(job: Job) -> list[Any]:
            """How; what is computed is the problem's hash."""
            entries = self.plan.cases[job.case].tree.entries
            how = (entries.get("execution"), entries.get("sensitivity"))
            return [plain(node or Node()) for node in how]

        return hash_of(
            {
                "program": [program.get("version"), program.get("git"), program.get("kokkos_options", "")],
                "axes": [axis.name for axis in spec.axes],
                "points": [
                    # runs with another number of threads are none of the same point
                    [p.point.labels, p.point.placement, self.plan.problems[p.problem].hash, computed(p.job)]
                    + ([] if "threads" in p.point.placement else [first_threads()])
                    for p in self.plan.points
                ],
                "references": [computed(problem.reference) for problem in self.plan.problems],
                "study": [spec.command, spec.reference.placement, spec.order, spec.seed, spec.launcher],
                # what a point's first timed run leaves beside its row cannot be had later
                "flags": flags,
            }
        )

    def make(self) -> Plan:
        allowed = "only keys of execution and sensitivity, threads, ranks, devices and bind"
        for key, value in self.spec.reference.settings.items():
            if not is_of_execution(key):
                what = f"would make the reference another problem; {allowed} are allowed"
                self.problems.add(value.place, join_key("reference", key), what)
        trees = [(point, self.tree_with(point.settings)) for point in points_of(self.spec.axes)]
        self.check((tree, self.spec.command) for _, tree in trees)
        found: dict[str, list[tuple[Point, Case]]] = {}  # by problem
        texts: dict[int, str] = {}
        for point, tree in trees:
            if case := self.case_of(tree, self.spec.command):
                if id(case) not in texts:
                    texts[id(case)] = self.problem_text(case)
                    self.check_fields(case.facts["fields"])
                found.setdefault(texts[id(case)], []).append((point, case))
        references = {text: self.reference_tree(points[0][0]) for text, points in found.items()}
        self.check((tree, self.reference_command) for tree in references.values())
        for text, tree in references.items():
            problem = StudyProblem(hash_of(text.encode()))
            if case := self.case_of(tree, self.reference_command):
                start = self.start_of(self.spec.reference, case, "the reference has")
                problem.reference = Job(self.number_of(case), start)
            number = len(self.plan.problems)
            self.plan.problems.append(problem)
            for point, case in found[text]:
                start = self.start_of(point, case, "points with it have")
                is_rounded = self.spec.command != "invert" and case.facts["precision"] != "double"
                job = Job(self.number_of(case), start)
                self.plan.points.append(PlannedPoint(point, number, job, is_rounded))
        self.plan.points.sort(key=lambda planned: planned.point.id)
        problems = Problems()
        # an error once, however many points have it
        problems.extend(sorted(dict.fromkeys(self.problems), key=by_line))
        problems.raise_if_any()
        self.plan.hash = self.study_hash()
        return self.plan


def plan_study(spec: Spec, machine: Machine, program: Program) -> Plan:
    """Checks every case by the program, each different one once, and finds what this machine can run.

    Reads the files that the cases name, to know them again. Raises InputError with every error.
    """
    return Planner(spec, machine, program).make()


def moved_case(spec: Spec, tree: Node, inputs: Iterable[str], folder: Path) -> Node:
    """The tree with a title and with inputs relative to `folder`."""
    tree = tree.copy()
    for key in inputs:
        node = node_at(tree, key)
        if not os.path.isabs(node.text):
            node.text = os.path.relpath(os.path.join(spec.base_file.parent, node.text), folder)
        node.quoted = True
    if "title" not in tree.entries:
        tree.entries = {"title": scalar(spec.base_file.stem, quoted=True)} | tree.entries
    return tree


def case_text(spec: Spec, case: Case, folder: Path) -> str:
    """A case as text whose inputs are relative to `folder`, without output and with a title."""
    return to_yaml(moved_case(spec, case.tree, case.facts["inputs"], folder))


def study_text(spec: Spec, program: Program, folder: Path) -> str:
    """The study as it is run, its base inside, with inputs relative to `folder`."""
    tree = spec.tree.copy()
    drop(tree, "report")
    base = spec.base.copy()
    drop(base, *NOT_OF_RUNS[spec.command])
    facts = program.facts(spec.base_file, spec.command, [to_yaml(base)])[0]
    tree.entries["base"] = moved_case(spec, base, facts.get("inputs", ()), folder)
    return to_yaml(tree)


def rules_text(spec: Spec) -> str:
    """rules.json: what the report needs to know of the study."""
    names = "title command tolerance repeats warmup order seed weak scaling baseline figure compare_with"
    axes = [
        {"name": axis.name, "values": [v.label for v in axis.values], "settings": [v.sets for v in axis.values]}
        for axis in spec.axes
    ]
    return json_text({name: getattr(spec, name) for name in names.split()} | {"axes": axes}, 1)
