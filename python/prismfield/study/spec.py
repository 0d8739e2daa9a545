# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""STUDY.yaml: a study as the user described it. Nothing that it names is read but its base."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .problems import InputError, Problem, Problems, allowed, excerpt
from .reader import Section, Value
from .study_data import MEASURES
from .sweep import Axis, AxisValue, SweepReader
from .texts import shown
from .yaml_nodes import Node, apply_override, parse_yaml, put, read_yaml_text, scalar

KEYS = (
    "title base command sweep repeats warmup time_budget run_limit order seed tolerance reference launcher "
    "oversubscribe baseline scaling weak keep_results trace histogram busy maps figure compare_with reduced report"
).split()
FIGURE_KEYS = ("x", "y", "curves", "log")
PAPER_KEYS = ("paper", "figure", "y", "values", "note")
COMMANDS = ("run", "sensitivity", "invert")
FIELDS = ("potential", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
GROUPS = {"all": FIELDS, "vector": FIELDS[1:4], "tensor": FIELDS[4:]} | {name: (name,) for name in FIELDS}
QUANTITIES = "field_seconds pairs_per_second speed_up efficiency error memory scratch time".split()
OTHER_FIGURES = ("errors", "histogram", "share", "trace", "maps", "busy")
SCALED = ("threads", "ranks", "devices")
TRUTH = {"true": True, "false": False}
MOST_REPEATS = 10_000
FLAGS = ("oversubscribe", "weak", "keep_results", "trace", "histogram", "busy")


@dataclass
class Spec:
    """A study. Keys that only the report needs are checked here and read again by study_yaml."""

    file: Path
    tree: Node = field(default_factory=Node)  # as it is run: what --set and `reduced` change in it done
    base: Node = field(default_factory=Node)  # the case that is varied, likewise
    base_file: Path = Path()  # names its errors; its inputs are relative to this file's folder
    title: str = ""
    command: str = "run"  # that each run is
    axes: list[Axis] = field(default_factory=list)
    repeats: int = 5  # timed runs per point
    warmup: int = 1  # runs before them that are not counted
    time_budget: float | None = None  # seconds; no run begins that will not end within them
    run_limit: float = 3600  # seconds after which a run is ended
    order: str = "random"  # of the runs of a repeat, or as_written
    seed: int = 1
    tolerance: float = 1e-9  # largest max|a-b| / max|b| of a field against the reference
    reference: AxisValue = field(default_factory=AxisValue)  # of its runs, in the place of the points' own execution
    launcher: list[str] = field(default_factory=list)  # words with {ranks}, {threads} and {program}; []: by the machine
    oversubscribe: bool = False
    weak: bool = False
    keep_results: bool = False
    trace: bool = False
    histogram: bool = False
    busy: bool = False
    maps: list[str] = field(default_factory=list)
    report: Path = Path()  # the folder that takes everything, relative to the working folder
    reduced: bool = False

    @property
    def keeps_results(self) -> bool:
        """Whether the results of a point's first timed run and the references are kept."""
        return self.keep_results or self.trace or self.histogram or bool(self.maps)

    def place_of(self, key: str) -> str:
        node = self.tree.find(key)
        return node.place if node else str(self.file)


class SpecReader(SweepReader):
    """The keys of a study but for its base and reduced."""

    def axis_named(self, value: Value, spec: Spec) -> Axis | None:
        names = {axis.name: axis for axis in spec.axes}
        if value.node.kind == "scalar" and value.node.text in names:
            return names[value.node.text]
        self.refuse(
            value,
            f", no axis of the study{allowed(value.node.text, names)}" if names else ", but the study has no axes",
        )
        return None

    def tolerance(self, value: Value) -> float | None:
        result = self.number(value)
        if result is not None and result < 0:
            self.bad(value, f"is {result:g}; a number of at least 0 is expected")
        return result

    def fields(self, value: Value) -> list[str]:
        found: list[str] = []
        if value.node.kind == "list" and not value.node.items:
            self.bad(value, "is an empty list; a field or more is expected, or all")
        for one in value.one_or_list():
            if one.node.kind != "scalar" or one.node.text not in GROUPS:
                self.refuse(one, f", no known field{allowed(one.node.text, GROUPS)}")
                continue
            if repeated := [name for name in GROUPS[one.node.text] if name in found]:
                self.bad(one, f"repeats {', '.join(repeated)}, which an earlier name of the list holds already")
            found += GROUPS[one.node.text]
        return [name for name in FIELDS if name in found]

    def launcher(self, value: Value) -> list[str] | None:
        form = "a command such as mpirun -n {ranks} {program}"
        if value.node.kind == "list":
            words = [self.words(item, "a word of a command") or "" for item in value.items()]
        elif (text := self.words(value, form)) is None:
            return None
        else:
            try:
                lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
                lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
                words = list(lexer)
            except ValueError:
                self.bad(value, "has a quote that is never closed")
                return None
        known = ("{ranks}", "{threads}", "{program}")
        for word in words:
            rest = word
            for name in known:
                rest = rest.replace(name, "")
            if "{" in rest:
                name = rest[rest.index("{") :].partition("}")
                name = name[0] + name[1]
                self.bad(value, f"has {excerpt(name)}, which stands for nothing{allowed(name, known)}")
                return None
        if words.count("{program}") != 1:
            self.bad(value, f"has to have {{program}} as a word of its own, once; {form} is expected")
        elif not any("{ranks}" in word for word in words):
            self.bad(value, f"lacks {{ranks}}, the number of processes to start; {form} is expected")
        return words

    def baseline(self, value: Value, spec: Spec) -> None:
        if not self.is_map(value, "a map of axes and values is expected, such as {threads: 1}"):
            return
        for key, entry in value.entries():
            axis = self.axis_named(Value(scalar(key, entry.node.place), entry.path), spec)
            labels = [one.label for one in axis.values] if axis else []
            if axis and entry.node.text not in labels:
                self.refuse(entry, f", no value of this axis, which has {', '.join(labels)}")

    def scaling(self, value: Value, spec: Spec) -> None:
        moved = {key for axis in spec.axes for one in axis.values for key in one.placement}
        asked = self.word(value, (*SCALED, "none"))
        if asked not in (None, "none", *moved):
            self.bad(value, f"is {asked}, which no axis of the study moves")

    def quantities(self, spec: Spec) -> list[str]:
        """What a figure can draw."""
        more = [] if spec.command == "run" else ["setup_seconds", *(measure.name for measure in MEASURES)]
        return QUANTITIES + more

    def figure(self, value: Value, spec: Spec) -> None:
        if (section := self.section(value, FIGURE_KEYS)) is None:
            return
        x = section.need("x", "an axis of the study")
        along = self.axis_named(x, spec) if x else None
        if y := section.need("y", "what is drawn"):
            self.word(y, self.quantities(spec))
        if curves := section.find("curves"):
            for one in curves.one_or_list():
                axis = self.axis_named(one, spec)
                if axis and axis is along:
                    self.bad(one, "is the axis along x")
        section.read("log", lambda log: self.word(log, ("none", "x", "y", "xy")), "")

    def paper(self, value: Value, spec: Spec) -> None:
        if (section := self.section(value, PAPER_KEYS)) is None:
            return
        for key, expected in (("figure", "the number of a figure"), ("note", "a line of text")):
            section.read(key, lambda text, expected=expected: self.words(text, expected), "")
        if paper := section.need("paper", "the experiment, such as A1"):
            self.words(paper, "the experiment, such as A1")
        section.read("y", lambda y: self.word(y, [*self.quantities(spec), *OTHER_FIGURES]), "")
        if (values := section.find("values")) is None:
            return
        expected = "a map of values of an axis and numbers is expected, or of curves with such a map each"
        if not self.is_map(values, expected):
            return
        has_curves = any(entry.node.kind == "map" for _, entry in values.entries())
        for _, entry in values.entries():
            if not has_curves:
                self.number(entry)
            elif self.is_map(entry, "a map is expected, as the other curves have"):
                for _, number in entry.entries():
                    self.number(number)

    def check_command(self, section: Section, spec: Spec) -> None:
        """What a study asks for that its command has not."""
        if spec.command == "run":
            return
        no_fields = "needs the fields of a run, and an inversion has none; leave it out"
        for key in ("busy", "trace", "histogram", "maps"):
            if getattr(spec, key) and (key == "busy" or spec.command == "invert"):
                what = "needs slots, which the command run alone has" if key == "busy" else no_fields
                self.bad(section.find(key), what)

    def read(self, spec: Spec) -> None:
        section = self.section(Value(spec.tree, ""), KEYS)
        assert section is not None
        spec.title = section.read("title", lambda value: self.words(value, "a line of text"), spec.title)
        spec.command = self.command = section.read("command", lambda value: self.word(value, COMMANDS), "run")
        spec.axes = section.read("sweep", self.sweep, [])
        for key, least in (("repeats", 1), ("warmup", 0)):
            read = section.read(
                key, lambda value, least=least: self.whole(value, least, MOST_REPEATS), getattr(spec, key)
            )
            setattr(spec, key, read)
        spec.time_budget = section.read("time_budget", lambda value: self.seconds(value, "20 min"), None)
        spec.run_limit = section.read("run_limit", lambda value: self.seconds(value, "1 h"), spec.run_limit)
        spec.order = section.read("order", lambda value: self.word(value, ("random", "as_written")), spec.order)
        spec.seed = section.read("seed", lambda value: self.whole(value, 0, 2**64 - 1), spec.seed)
        spec.tolerance = section.read("tolerance", self.tolerance, spec.tolerance)
        if (reference := section.find("reference")) and self.is_map(reference, "a map of keys of the case is expected"):
            spec.reference = self.settings(reference)
        spec.launcher = section.read("launcher", self.launcher, [])
        for key in FLAGS:
            setattr(spec, key, section.read(key, lambda value: self.choice(value, TRUTH), False))
        if baseline := section.find("baseline"):
            self.baseline(baseline, spec)
        if scaling := section.find("scaling"):
            self.scaling(scaling, spec)
        spec.maps = section.read("maps", self.fields, [])
        self.check_command(section, spec)
        for key, one in (("figure", self.figure), ("compare_with", self.paper)):
            for value in found.one_or_list() if (found := section.find(key)) else ():
                one(value, spec)
        report = section.read("report", lambda value: self.words(value, "the name of a file"), str(spec.report))
        spec.report = Path(report)


class Trees:
    """What `reduced`, --set and the base's own file come to: the trees of the study and its base."""

    def __init__(self, file: Path, reader: SweepReader):
        self.file, self.reader, self.problems = file, reader, reader.problems
        self.study = parse_yaml(read_yaml_text(file), str(file), self.problems)
        self.changes: list[tuple[str, Node | str]] = []  # of the base: a value, or an assignment
        kind = self.study.kind
        if kind == "null":
            raise InputError([Problem(f"{file}:1", "", "is empty; a study has at least base and sweep")])
        if kind != "map":
            what = f"is {self.study.kind_name()}; a study is a map with the keys {', '.join(KEYS)}"
            raise InputError([Problem(self.study.place, "", what)])
        if not {"base", "sweep"} & self.study.entries.keys() and "model" in self.study.entries:
            what = "is a case, not a study; write prismfield run, or name it as the base of a study"
            raise InputError([Problem(str(file), "", what)])

    def key_of_base(self, key: str) -> str:
        """Without "base." in front; "" for a key that is none of the base."""
        if key.startswith("base."):
            return key.removeprefix("base.")
        return key if self.reader.is_case_key(key) else ""

    def check_reduced(self) -> None:
        """The keys of `reduced`, whether or not it is asked for."""
        if (node := self.study.find("reduced")) is None:
            return
        value = Value(node, "reduced")
        if not self.reader.is_map(value, "a map of keys of the study and the case is expected, such as {repeats: 1}"):
            return
        for key, entry in value.entries():
            first = key.partition(".")[0]
            if not self.key_of_base(key) and (first not in KEYS or first == "reduced"):
                end = allowed(first, [*KEYS, *sorted(self.reader.sections)])
                self.reader.bad(entry, f"is no key of the study or the case{end}")

    def reduce(self) -> None:
        if (node := self.study.find("reduced")) is None:
            what = f"{self.file} has no key reduced, which says what a reduced study changes"
            raise InputError([Problem("--reduced", "", what)])
        del self.study.entries["reduced"]
        for key, value in node.entries.items():
            if value.kind != "removed":
                value = value.copy()
                value.kind = "removed" if value.kind == "null" else value.kind
                if base_key := self.key_of_base(key):
                    self.changes.append((base_key, value))
                elif key.partition(".")[0] in KEYS:
                    self.put(self.study, key, value)

    def put(self, tree: Node, key: str, value: Node) -> None:
        try:
            put(tree, key, value, value.place)
        except InputError as error:
            self.problems.extend(error.problems)

    def assign(self, assignment: str) -> None:
        key, equals, value = assignment.partition("=")
        if equals and (base_key := self.key_of_base(key)):
            self.changes.append((base_key, f"{base_key}={value}"))
        else:
            apply_override(self.study, assignment, self.problems)

    def take_base(self, spec: Spec) -> None:
        """The base with all that changes it, and the file that its errors name."""
        base = self.study.find("base")
        if base is None or base.kind == "null":
            what = "is missing; the name of a case, or the case itself, is expected"
            self.problems.add(f"{self.file}:1", "base", what)
            return
        if base.kind == "map":
            spec.base, spec.base_file = base.copy(), self.file
        elif base.kind == "scalar" and base.text and shown(base.text) == base.text:
            spec.base_file = Path(os.path.normpath(self.file.parent / base.text))
            try:
                spec.base = parse_yaml(read_yaml_text(spec.base_file), str(spec.base_file), self.problems)
            except InputError as error:
                for where, key, what in error.problems:
                    # an error of the file as a whole is one of the key that names it
                    of_file = where == str(spec.base_file)
                    own = (base.place, "base", f"{spec.base_file}: {what}")
                    self.problems.add(*(own if of_file else (where, key, what)))
                return
        else:
            what = f"is {base.kind_name()}; the name of a case, or the case itself, is expected"
            self.problems.add(base.place, "base", what)
            return
        for key, change in self.changes:
            if isinstance(change, str):
                apply_override(spec.base, change, self.problems)
            else:
                self.put(spec.base, key, change)

    def refuse_case_keys(self) -> None:
        """Keys of a case that are beside those of the study, which are taken out."""
        for key in [key for key in self.study.entries if self.reader.is_case_key(key)]:
            node = self.study.entries.pop(key)
            if node.kind != "removed":
                what = "belongs to the case: write it below base, or vary it below sweep, as in {sweep: "
                self.problems.add(node.place, key, what + "{execution.slots: [1, 2]}}")


def by_line(problem: Problem) -> float:
    line = problem.where.rpartition(":")[2]
    return int(line) if line.isdecimal() and not problem.where.startswith("--") else math.inf


def read_study_file(
    file: Path | str, case_keys: Iterable[str], assignments: Iterable[str] = (), output: str = "", reduced: bool = False
) -> Spec:
    """Reads and validates STUDY.yaml and the YAML of its base. Raises InputError with every error."""
    file = Path(file)
    problems = Problems()
    reader = SpecReader(problems, tuple(case_keys), "run")
    spec = Spec(file, title=file.stem, report=Path(file.stem), reduced=reduced)
    trees = Trees(file, reader)
    trees.check_reduced()
    if reduced:
        trees.reduce()
    for assignment in assignments:
        trees.assign(assignment)
    if output:
        put(trees.study, "report", scalar(output, "--output", True), "--output")
    trees.take_base(spec)
    spec.tree = trees.study
    trees.refuse_case_keys()
    reader.read(spec)
    problems.sort(key=by_line)
    problems.raise_if_any()
    return spec
