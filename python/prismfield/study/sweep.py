# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""How values of a study are read, the axes of a study, and the points that are all combinations of their values."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from .problems import InputError, Problem, Problems, allowed, shorter
from .tables import number as number_of
from .tables import whole as whole_of
from .texts import shown
from .yaml_nodes import Node, join_key

T = TypeVar("T")
UNITS_OF_TIME = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PLACEMENTS = ("threads", "ranks", "devices", "bind")
BINDINGS = ("spread", "close", "primary", "none")
MOST_POINTS, MOST_AXES, MOST_PROCESSES = 10_000, 16, 1_000_000


class Reader:
    """Each method reports what is no such value and then returns None."""

    def __init__(self, problems: Problems):
        self.problems = problems

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


def short_label(text: str) -> str:
    return shorter(text, 60)


def last_word(key: str) -> str:
    return key.rpartition(".")[2]


class SweepReader(Reader):
    """`case_keys`: paths of a case's keys on the upper two levels. `spec`, of who derives from it, has the command."""

    def __init__(self, problems: Problems, case_keys: Collection[str]):
        super().__init__(problems)
        self.case_keys = case_keys
        self.sections = {key for key in case_keys if "." not in key} - {"title"}

    def is_case_key(self, key: str) -> bool:
        return key.partition(".")[0] in self.sections

    def is_unused(self, key: str) -> bool:
        """Whether a study of this command measures nothing by a key of the case."""
        first = key.partition(".")[0]
        if first == "observations":
            return self.spec.command == "invert"
        if first == "sensitivity":
            return self.spec.command == "run" or key == "sensitivity.file"
        if first == "inversion":
            return self.spec.command != "invert"
        return first in ("output", "title")

    def may_be_swept(self, key: str, node: Node) -> bool:
        if self.is_unused(key):
            self.bad(node, f"changes nothing that a study measures; take {key.partition('.')[0]} out")
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
        result.label = short_label(result.label or ", ".join(made))
        return result

    def axis_value(self, name: str, node: Node) -> AxisValue:
        if node.kind == "null":
            self.bad(node, "has no value; write one or take it out of the list")
        elif name in PLACEMENTS or self.is_case_key(name):
            result = AxisValue(short_label(label_of(node)))
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
