# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""STUDY.yaml: a study as the user described it, its axes, and the points that are all combinations of their values.

Nothing that it names is read but its base.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..field_names import MAGNETIC, NATIVE, TENSOR, VECTOR
from .study_data import MEASURES, finite
from .study_data import number as number_of
from .study_data import whole as whole_of
from .texts import InputError, Problem, Problems, allowed, excerpt, shorter, shown
from .yaml_nodes import Node, join_key, parse_yaml, put, put_or_report, read_override, read_yaml_text, scalar

T = TypeVar("T")
UNITS_OF_TIME = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PLACEMENTS = ("threads", "ranks", "devices", "bind")
BINDINGS = ("spread", "close", "primary", "none")
MOST_POINTS, MOST_AXES, MOST_PROCESSES, LONGEST_LABEL = 10_000, 16, 1_000_000, 60


@dataclass
class AxisValue:
    """What one step along an axis sets."""

    label: str = ""
    settings: dict[str, Node] = field(default_factory=dict)  # keys of the case
    placement: dict[str, int | str] = field(default_factory=dict)  # how a run is started: some of PLACEMENTS
    placed_at: str = ""  # where the placement was written
    sets: dict[str, str] = field(default_factory=dict)  # both as text


@dataclass
class Axis:
    name: str
    place: str
    values: list[AxisValue] = field(default_factory=list)


@dataclass
class Point(AxisValue):
    """One combination of the values of all axes."""

    id: int = 0  # from 1, the last axis fastest
    labels: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"point {self.id} ({', '.join(self.labels)})" if self.labels else "the one point"


def label_of(node: Node) -> str:
    if node.kind == "list":
        return f"[{', '.join(map(label_of, node.items))}]"
    if node.kind == "map":
        return "{" + ", ".join(f"{key}: {label_of(value)}" for key, value in node.entries.items()) + "}"
    return node.text if node.kind == "scalar" else "null"


def value_of(node: Node) -> Any:
    """A value as JSON has it."""
    if node.kind == "list":
        return list(map(value_of, node.items))
    if node.kind == "map":
        return {key: value_of(value) for key, value in node.entries.items()}
    if node.kind != "scalar" or node.quoted:
        return node.text if node.quoted else None
    if node.text in ("true", "false"):
        return node.text == "true"
    for read in (lambda text: whole_of(text, -(2**63)), finite):
        try:
            return read(node.text)
        except ValueError:
            pass
    return node.text


def last_word(key: str) -> str:
    return key.rpartition(".")[2]


def points_of(axes: list[Axis]) -> list[Point]:
    """Every combination. Raises InputError when there are more than anybody runs."""
    n = math.prod(len(axis.values) for axis in axes)
    if n > MOST_POINTS:
        what = f"has {n:,} points; {MOST_POINTS:,} are the most of one study"
        raise InputError([Problem(axes[0].place, "sweep", what)])
    points = []
    for number, values in enumerate(itertools.product(*(axis.values for axis in axes)), 1):
        point = Point(id=number, labels=[value.label for value in values])
        for value in values:
            point.settings |= value.settings
            point.placement |= value.placement
            point.placed_at = value.placed_at or point.placed_at
        points.append(point)
    return points


KEYS = (
    "title base command sweep repeats warmup time_budget order seed tolerance reference launcher "
    "oversubscribe baseline scaling weak trace histogram busy maps figure compare_with reduced report"
).split()
FIGURE_KEYS = ("x", "y", "curves", "log")
PAPER_KEYS = ("paper", "figure", "y", "values", "note")
COMMANDS = ("run", "sensitivity", "invert")
GROUPS = {"all": NATIVE, "vector": VECTOR, "tensor": TENSOR} | {name: (name,) for name in (*NATIVE, *MAGNETIC)}
QUANTITIES = "field_seconds pairs_per_second speed_up efficiency error memory scratch time".split()
OTHER_FIGURES = ("errors", "histogram", "share", "trace", "maps", "busy")
SCALED = ("threads", "ranks", "devices")
MOST_REPEATS = 10_000


@dataclass
class Spec:
    """A study."""

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
    order: str = "random"  # of the runs of a repeat, or as_written
    seed: int = 1
    tolerance: float = 1e-9  # largest max|a-b| / max|b| of a field against the reference
    reference: AxisValue = field(default_factory=AxisValue)  # of its runs, in the place of the points' own execution
    launcher: list[str] = field(default_factory=list)  # words with {ranks}, {threads} and {program}; []: by the machine
    oversubscribe: bool = False
    weak: bool = False
    scaling: str = ""  # threads, ranks, devices or none; "": the first of them that is swept
    baseline: dict[str, str] = field(default_factory=dict)  # axes and labels of the point that speed-ups refer to
    figure: list[Any] = field(default_factory=list)  # both as value_of() gives them
    compare_with: list[Any] = field(default_factory=list)
    trace: bool = False
    histogram: bool = False
    busy: bool = False
    maps: list[str] = field(default_factory=list)
    report: Path = Path()  # the folder that takes everything, relative to the working folder
    reduced: bool = False

    @property
    def keeps_results(self) -> bool:
        """Whether the results of a point's first timed run and the references are kept."""
        return self.trace or self.histogram or bool(self.maps)

    def place_of(self, key: str) -> str:
        node = self.tree.find(key)
        return node.place if node else str(self.file)


class SpecReader:
    """Reads a study into `spec`; `case_keys`: paths of a case's keys on the upper two levels.

    Each method that reads a value reports what is no such value and then returns None.
    """

    def __init__(self, problems: Problems, case_keys: Iterable[str], spec: Spec):
        self.problems, self.case_keys, self.spec = problems, tuple(case_keys), spec
        self.sections = {key for key in self.case_keys if "." not in key} - {"title"}
        self.changes: list[tuple[str, Node]] = []  # of the base

    def bad(self, node: Node, what: str) -> None:
        self.problems.add(node.place, node.path, what)

    def refuse(self, node: Node, rest: str) -> None:
        self.bad(node, f"is {node.kind_name()}{rest}")

    def is_plain(self, node: Node, expected: str) -> bool:
        if node.kind == "scalar" and not node.quoted:
            return True
        self.refuse(node, f"{' in quotes' if node.kind == 'scalar' else ''}; {expected} is expected")
        return False

    def is_map(self, node: Node, expected: str) -> bool:
        if node.kind != "map":
            self.refuse(node, f"; {expected}")
        return node.kind == "map"

    def number(self, node: Node, expected: str = "a number") -> float | None:
        if not self.is_plain(node, expected):
            return None
        try:
            if math.isfinite(result := number_of(node.text)):
                return result
            self.refuse(node, "; a finite number is expected")
        except ValueError:
            comma = ", with a decimal point and without commas" if "," in node.text else ""
            self.refuse(node, f"; {expected} is expected{comma}")
        return None

    def whole(self, node: Node, least: int, most: int) -> int | None:
        expected = "a whole number"
        # 1e6 and 150.0 are whole numbers too
        try:
            result: float | None = whole_of(node.text, -(2**63), 2**64) if self.is_plain(node, expected) else None
        except ValueError:
            result = self.number(node, expected)
            if result is not None and (result != int(result) or abs(result) > 2**53):
                self.refuse(node, f"; {expected} is expected")
                return None
        if result is None or least <= result <= most:
            return None if result is None else int(result)
        self.refuse(node, f"; {expected} from {least} to {most} is expected")
        return None

    def words(self, node: Node, expected: str) -> str | None:
        if node.kind != "scalar":
            self.refuse(node, f"; {expected} is expected")
        elif not node.text:
            self.bad(node, f"is empty; {expected} is expected")
        elif shown(node.text) != node.text:
            self.refuse(node, f", with line ends or other control characters; {expected} is expected")
        else:
            return node.text
        return None

    def choice(self, node: Node, choices: Mapping[str, T]) -> T | None:
        if node.kind == "scalar" and node.text in choices:
            return choices[node.text]
        self.refuse(node, allowed(node.text, choices))
        return None

    def word(self, node: Node, words: Collection[str]) -> str | None:
        return self.choice(node, {word: word for word in words})

    def truth(self, node: Node) -> bool | None:
        return self.choice(node, {"true": True, "false": False})

    def seconds(self, node: Node, example: str) -> float | None:
        if not self.is_plain(node, example):
            return None
        units = ", ".join(UNITS_OF_TIME)
        amount_text, unit = re.fullmatch(r"(.*?) *([a-zA-Z]*)", node.text, re.DOTALL).groups()
        try:
            amount = number_of(amount_text)
        except ValueError:
            amount = math.nan
        if not 0 < amount < math.inf:
            self.refuse(node, f"; a number above 0 with a unit ({units}) is expected, such as {example}")
        elif unit not in UNITS_OF_TIME:
            self.refuse(node, f", {'with an unknown' if unit else 'without a'} unit{allowed(unit, UNITS_OF_TIME)}")
        else:
            return amount * UNITS_OF_TIME[unit]
        return None

    def is_section(self, node: Node, known: Collection[str]) -> bool:
        """Whether it is a map, whose keys are checked."""
        if not self.is_map(node, f"a map with the keys {', '.join(known)} is expected"):
            return False
        for key, entry in node.entries.items():
            if key not in known:
                self.bad(entry, "is no known key" + allowed(key, known))
        return True

    def find(self, section: Node, key: str, needed: str = "") -> Node | None:
        """The value of a key, if it is there; a key without a value is an error, so is one that is `needed`."""
        node = section.find(key)
        if node is None and needed:
            self.problems.add(section.place, join_key(section.path, key), f"is missing; {needed} is expected")
        elif node and node.kind == "null":
            self.bad(node, "has no value; write one or leave the key out")
        else:
            return node
        return None

    # ---- the sweep

    def is_case_key(self, key: str) -> bool:
        return key.partition(".")[0] in self.sections

    def may_be_swept(self, key: str, node: Node) -> bool:
        first, command = key.partition(".")[0], self.spec.command
        # by what does a study of this command measure nothing?
        unused = {"output": True, "title": True, "observations": command == "invert", "inversion": command != "invert"}
        unused["sensitivity"] = command == "run" or key == "sensitivity.file"
        if unused.get(first):
            self.bad(node, f"changes nothing that a study measures; take {first} out")
            return False
        if self.is_case_key(key):
            return True
        full = [*PLACEMENTS, *filter(self.is_case_key, self.case_keys)]
        # "precision" is meant to be execution.precision
        meant = next((path for path in full if last_word(path) == key), "")
        if not meant:
            meant = allowed(key, full).partition("did you mean ")[2].partition("?")[0]
        what = f"is neither a key of the case nor {', '.join(PLACEMENTS)}; "
        self.bad(node, what + (f"did you mean {meant}?" if meant else "a key path such as execution.slots is expected"))
        return False

    def add(self, key: str, node: Node, result: AxisValue) -> None:
        result.sets[key] = label_of(node)
        if key in PLACEMENTS:
            result.placed_at = node.place
            read = self.word(node, BINDINGS) if key == "bind" else self.whole(node, 1, MOST_PROCESSES)
            if read is not None:
                result.placement[key] = read
        elif self.may_be_swept(key, node):
            result.settings[key] = node

    def settings(self, node: Node) -> AxisValue:
        """Keys and values of a map."""
        result = AxisValue()
        words = Counter(map(last_word, node.entries))
        made = []
        for key, entry in node.entries.items():
            if key == "label":
                result.label = self.words(entry, "what tables and figures call this value") or ""
                continue
            word = last_word(key)
            made.append(f"{word if words[word] == 1 else key}={label_of(entry)}")
            self.add(key, entry, result)
        result.label = shorter(result.label or ", ".join(made), LONGEST_LABEL)
        return result

    def axis_value(self, name: str, node: Node) -> AxisValue:
        if node.kind == "null":
            self.bad(node, "has no value; write one or take it out of the list")
        elif name in PLACEMENTS or self.is_case_key(name):
            result = AxisValue(shorter(label_of(node), LONGEST_LABEL))
            self.add(name, node, result)
            return result
        elif node.kind == "map":
            return self.settings(node)
        else:
            self.may_be_swept(name, node)
        return AxisValue()

    def axis(self, name: str, node: Node, axes: list[Axis]) -> None:
        # execution: {precision: [double, single]} is execution.precision
        if node.kind == "map" and self.is_case_key(name):
            for key, entry in node.entries.items():
                self.axis(f"{name}.{key}", entry, axes)
        elif node.kind != "list":
            self.refuse(node, "; a list of values is expected")
        elif not node.items:
            self.bad(node, "is an empty list; a value or more is expected")
        elif not name or len(name) > 100 or shown(name) != name:
            self.bad(node, "is no name of an axis")
        elif any(axis.name == name for axis in axes):
            self.bad(node, "is an axis twice; keep one")
        else:
            axis = Axis(name, node.place)
            seen: dict[str, int] = {}
            for i, item in enumerate(node.items[:MOST_POINTS]):
                axis.values.append(self.axis_value(name, item))
                label = axis.values[-1].label
                if (first := seen.setdefault(label, i)) != i and label:
                    what = f"is '{label}' like value {first} of this axis; take one out, or name maps by a label"
                    self.bad(item, what)
            axes.append(axis)

    def check_overlaps(self, axes: list[Axis]) -> None:
        """Two axes may not set one key, nor a later one replace what an earlier one set."""
        keys = [{key for value in axis.values for key in value.sets} for axis in axes]
        for later, axis in enumerate(axes):
            for earlier, key in itertools.product(range(later), sorted(keys[later])):
                name = axes[earlier].name
                below = min((other for other in keys[earlier] if other.startswith(key + ".")), default="")
                if key in keys[earlier]:
                    what = f"sets {key}, which the axis {name} sets too"
                elif below:
                    what = f"sets {key} as a whole behind the axis {name}, which sets {below}"
                    what += "; write this axis above that one"
                else:
                    continue
                self.problems.add(axis.place, join_key("sweep", axis.name), what)

    def sweep(self, node: Node) -> list[Axis]:
        axes: list[Axis] = []
        if not self.is_map(node, "a map of axes is expected, such as {threads: [1, 2]}"):
            return axes
        for name, entry in node.entries.items():
            self.axis(name, entry, axes)
        if len(axes) > MOST_AXES:
            self.bad(node, f"has {len(axes)} axes; {MOST_AXES} are the most of one study")
            return []
        self.check_overlaps(axes)
        return axes

    # ---- the other keys

    def axis_named(self, node: Node) -> Axis | None:
        names = {axis.name: axis for axis in self.spec.axes}
        if node.kind == "scalar" and node.text in names:
            return names[node.text]
        of = f", no axis of the study{allowed(node.text, names)}" if names else ", but the study has no axes"
        self.refuse(node, of)
        return None

    def tolerance(self, node: Node) -> float | None:
        result = self.number(node)
        if result is not None and result < 0:
            self.bad(node, f"is {result:g}; a number of at least 0 is expected")
        return result

    def reference(self, node: Node) -> AxisValue | None:
        return self.settings(node) if self.is_map(node, "a map of keys of the case is expected") else None

    def fields(self, node: Node) -> list[str]:
        found: list[str] = []
        if node.kind == "list" and not node.items:
            self.bad(node, "is an empty list; a field or more is expected, or all")
        for one in node.one_or_list():
            if one.kind != "scalar" or one.text not in GROUPS:
                self.refuse(one, f", no known field{allowed(one.text, GROUPS)}")
                continue
            if repeated := [name for name in GROUPS[one.text] if name in found]:
                self.bad(one, f"repeats {', '.join(repeated)}, which an earlier name of the list holds already")
            found += GROUPS[one.text]
        return [name for name in (*NATIVE, *MAGNETIC) if name in found]

    def launcher(self, node: Node) -> list[str] | None:
        form = "a command such as mpirun -n {ranks} {program}"
        if node.kind == "list":
            words = [self.words(item, "a word of a command") or "" for item in node.items]
        elif (text := self.words(node, form)) is None:
            return None
        else:
            try:
                lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
                lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
                words = list(lexer)
            except ValueError:
                self.bad(node, "has a quote that is never closed")
                return None
        known = ("{ranks}", "{threads}", "{program}")
        for word in words:
            rest = re.sub("|".join(known), "", word)
            if unknown := re.search(r"{[^}]*}?", rest):
                name = unknown[0]
                self.bad(node, f"has {excerpt(name)}, which stands for nothing{allowed(name, known)}")
                return None
        if words.count("{program}") != 1:
            self.bad(node, f"has to have {{program}} as a word of its own, once; {form} is expected")
        elif not any("{ranks}" in word for word in words):
            self.bad(node, f"lacks {{ranks}}, the number of processes to start; {form} is expected")
        return words

    def baseline(self, node: Node) -> dict[str, str]:
        if not self.is_map(node, "a map of axes and values is expected, such as {threads: 1}"):
            return {}
        for key, entry in node.entries.items():
            axis = self.axis_named(Node("scalar", key, place=entry.place, path=entry.path))
            labels = [one.label for one in axis.values] if axis else []
            if axis and entry.text not in labels:
                self.refuse(entry, f", no value of this axis, which has {', '.join(labels)}")
        return {key: entry.text for key, entry in node.entries.items()}

    def scaling(self, node: Node) -> str | None:
        moved = {key for axis in self.spec.axes for one in axis.values for key in one.placement}
        asked = self.word(node, (*SCALED, "none"))
        if asked not in (None, "none", *moved):
            self.bad(node, f"is {asked}, which no axis of the study moves")
        return asked

    def quantities(self) -> list[str]:
        """What a figure can draw."""
        more = ["setup_seconds", *(measure.name for measure in MEASURES)] if self.spec.command != "run" else []
        return QUANTITIES + more

    def figure(self, node: Node) -> None:
        if not self.is_section(node, FIGURE_KEYS):
            return
        along = (x := self.find(node, "x", "an axis of the study")) and self.axis_named(x)
        if y := self.find(node, "y", "what is drawn"):
            self.word(y, self.quantities())
        for one in curves.one_or_list() if (curves := self.find(node, "curves")) else ():
            axis = self.axis_named(one)
            if axis and axis is along:
                self.bad(one, "is the axis along x")
        if log := self.find(node, "log"):
            self.word(log, ("none", "x", "y", "xy"))

    def paper(self, node: Node) -> None:
        if not self.is_section(node, PAPER_KEYS):
            return
        experiment = "the experiment, such as A1"
        for key, expected in (("figure", "the number of a figure"), ("note", "a line of text"), ("paper", experiment)):
            if found := self.find(node, key, expected if key == "paper" else ""):
                self.words(found, expected)
        if y := self.find(node, "y"):
            self.word(y, [*self.quantities(), *OTHER_FIGURES])
        values = self.find(node, "values")
        expected = "a map of values of an axis and numbers is expected, or of curves with such a map each"
        if values is None or not self.is_map(values, expected):
            return
        entries = list(values.entries.values())
        has_curves = any(entry.kind == "map" for entry in entries)
        for entry in entries:
            if not has_curves:
                self.number(entry)
            elif self.is_map(entry, "a map is expected, as the other curves have"):
                for number in entry.entries.values():
                    self.number(number)

    def read(self) -> None:
        spec = self.spec
        for key in filter(self.is_case_key, list(spec.tree.entries)):
            what = "belongs to the case: write it below base, or vary it below sweep, as in {sweep: "
            self.bad(spec.tree.entries.pop(key), what + "{execution.slots: [1, 2]}}")
        self.is_section(spec.tree, KEYS)
        for key, read in READERS.items():
            if (node := self.find(spec.tree, key)) and (value := read(self, node)) is not None:
                setattr(spec, "axes" if key == "sweep" else key, value)
        # what the study asks for that its command has not
        for key in ("busy", "trace", "histogram", "maps") if spec.command != "run" else ():
            if getattr(spec, key) and (key == "busy" or spec.command == "invert"):
                what = "needs slots, which the command run alone has"
                if key != "busy":
                    what = "needs the fields of a run, and an inversion has none; leave it out"
                self.bad(spec.tree.find(key), what)
        for key, one in (("figure", self.figure), ("compare_with", self.paper)):
            for node in found.one_or_list() if (found := self.find(spec.tree, key)) else ():
                one(node)
                getattr(spec, key).append(value_of(node))

    # ---- what `reduced`, --set and the base's own file come to

    def key_of_base(self, key: str) -> str:
        """Without "base." in front; "" for a key that is none of the base."""
        if key.startswith("base."):
            return key.removeprefix("base.")
        return key if self.is_case_key(key) else ""

    def take_reduced(self) -> None:
        """Checks the keys of `reduced`, whether or not it is asked for, and changes what they say if it is."""
        node = self.spec.tree.find("reduced")
        expected = "a map of keys of the study and the case is expected, such as {repeats: 1}"
        if node is None and self.spec.reduced:
            what = f"{self.spec.file} has no key reduced, which says what a reduced study changes"
            raise InputError([Problem("--reduced", "", what)])
        if self.spec.reduced:
            del self.spec.tree.entries["reduced"]
        if node is None or not self.is_map(node, expected):
            return
        for key, entry in node.entries.items():
            first = key.partition(".")[0]
            if not self.key_of_base(key) and (first not in KEYS or first == "reduced"):
                end = allowed(first, [*KEYS, *sorted(self.sections)])
                self.bad(entry, f"is no key of the study or the case{end}")
            elif self.spec.reduced:
                self.change(key, entry)

    def change(self, key: str, value: Node) -> None:
        if base_key := self.key_of_base(key):
            self.changes.append((base_key, value))
        else:
            put_or_report(self.spec.tree, key, value, self.problems)

    def take_base(self) -> None:
        """The base with all that changes it, and the file that its errors name."""
        spec, base = self.spec, self.spec.tree.find("base")
        if base is None or base.kind == "null":
            what = "is missing; the name of a case, or the case itself, is expected"
            self.problems.add(f"{spec.file}:1", "base", what)
            return
        if base.kind == "map":
            spec.base, spec.base_file = base.copy(), spec.file
        elif base.kind == "scalar" and base.text and shown(base.text) == base.text:
            spec.base_file = Path(os.path.normpath(spec.file.parent / base.text))
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
            put_or_report(spec.base, key, change, self.problems)


# How the value of each key is read, in an order in which a key follows those that its value depends on.
READERS = {
    "title": lambda reader, node: reader.words(node, "a line of text"),
    "command": lambda reader, node: reader.word(node, COMMANDS),
    "sweep": lambda reader, node: reader.sweep(node),
    "repeats": lambda reader, node: reader.whole(node, 1, MOST_REPEATS),
    "warmup": lambda reader, node: reader.whole(node, 0, MOST_REPEATS),
    "time_budget": lambda reader, node: reader.seconds(node, "20 min"),
    "order": lambda reader, node: reader.word(node, ("random", "as_written")),
    "seed": lambda reader, node: reader.whole(node, 0, 2**64 - 1),
    "tolerance": SpecReader.tolerance,
    "reference": SpecReader.reference,
    "launcher": SpecReader.launcher,
    **dict.fromkeys("oversubscribe weak trace histogram busy".split(), SpecReader.truth),
    "baseline": SpecReader.baseline,
    "scaling": SpecReader.scaling,
    "maps": SpecReader.fields,
    "report": lambda reader, node: (name := reader.words(node, "the name of a file")) and Path(name),
}


def by_line(problem: Problem) -> float:
    line = problem.where.rpartition(":")[2]
    return int(line) if line.isdecimal() and not problem.where.startswith("--") else math.inf


def read_study_file(
    file: Path | str, case_keys: Iterable[str], assignments: Iterable[str] = (), output: str = "", reduced: bool = False
) -> Spec:
    """Reads and validates STUDY.yaml and the YAML of its base. Raises InputError with every error."""
    file, problems = Path(file), Problems()
    tree = parse_yaml(read_yaml_text(file), str(file), problems)
    if tree.kind == "null":
        raise InputError([Problem(f"{file}:1", "", "is empty; a study has at least base and sweep")])
    if tree.kind != "map":
        what = f"is {tree.kind_name()}; a study is a map with the keys {', '.join(KEYS)}"
        raise InputError([Problem(tree.place, "", what)])
    if not {"base", "sweep"} & tree.entries.keys() and "model" in tree.entries:
        what = "is a case, not a study; write prismfield run, or name it as the base of a study"
        raise InputError([Problem(str(file), "", what)])
    spec = Spec(file, tree, title=file.stem, report=Path(file.stem), reduced=reduced)
    reader = SpecReader(problems, case_keys, spec)
    reader.take_reduced()
    for assignment in assignments:
        if override := read_override(assignment, problems):
            reader.change(*override)
    if output:
        put(tree, "report", scalar(output, "--output", True), "--output")
    reader.take_base()
    reader.read()
    problems.sort(key=by_line)
    problems.raise_if_any()
    return spec
