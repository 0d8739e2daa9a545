# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Values of a study as Python has them: each reader reports what is no such value and then returns None."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, TypeVar

from .problems import Problems, allowed
from .tables import number as number_of
from .tables import whole as whole_of
from .texts import shown
from .yaml_nodes import Node, join_key

T = TypeVar("T")
UNITS_OF_TIME = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


class Value(NamedTuple):
    """A value with its key path."""

    node: Node
    path: str

    def items(self) -> Iterator[Value]:
        return (Value(node, join_key(self.path, str(i))) for i, node in enumerate(self.node.items))

    def entries(self) -> Iterator[tuple[str, Value]]:
        """Those that were not taken out."""
        for key, node in self.node.entries.items():
            if node.kind != "removed":
                yield key, Value(node, join_key(self.path, key))

    def one_or_list(self) -> Iterator[Value]:
        return self.items() if self.node.kind == "list" else iter((self,))


class Reader:
    def __init__(self, problems: Problems):
        self.problems = problems

    def bad(self, value: Value, what: str) -> None:
        self.problems.add(value.node.place, value.path, what)

    def refuse(self, value: Value, rest: str) -> None:
        self.bad(value, f"is {value.node.kind_name()}{rest}")

    def is_plain(self, value: Value, expected: str) -> bool:
        if value.node.kind == "scalar" and not value.node.quoted:
            return True
        self.refuse(value, f"{' in quotes' if value.node.kind == 'scalar' else ''}; {expected} is expected")
        return False

    def is_map(self, value: Value, expected: str) -> bool:
        if value.node.kind != "map":
            self.refuse(value, f"; {expected}")
        return value.node.kind == "map"

    def number(self, value: Value, expected: str = "a number") -> float | None:
        if not self.is_plain(value, expected):
            return None
        try:
            if math.isfinite(result := number_of(value.node.text)):
                return result
            self.refuse(value, "; a finite number is expected")
        except ValueError:
            comma = ", with a decimal point and without commas" if "," in value.node.text else ""
            self.refuse(value, f"; {expected} is expected{comma}")
        return None

    def whole(self, value: Value, least: int, most: int) -> int | None:
        expected = "a whole number"
        # 1e6 and 150.0 are whole numbers too
        try:
            result: float | None = whole_of(value.node.text, -(2**63), 2**64)
            result = result if self.is_plain(value, expected) else None
        except ValueError:
            result = self.number(value, expected)
            if result is not None and (result != int(result) or abs(result) > 2**53):
                self.refuse(value, f"; {expected} is expected")
                return None
        if result is None or least <= result <= most:
            return None if result is None else int(result)
        self.refuse(value, f"; {expected} from {least} to {most} is expected")
        return None

    def words(self, value: Value, expected: str) -> str | None:
        node = value.node
        if node.kind != "scalar":
            self.refuse(value, f"; {expected} is expected")
        elif not node.text:
            self.bad(value, f"is empty; {expected} is expected")
        elif shown(node.text) != node.text:
            self.refuse(value, f", with line ends or other control characters; {expected} is expected")
        else:
            return node.text
        return None

    def choice(self, value: Value, choices: Mapping[str, T]) -> T | None:
        if value.node.kind == "scalar" and value.node.text in choices:
            return choices[value.node.text]
        self.refuse(value, allowed(value.node.text, choices))
        return None

    def word(self, value: Value, words: Collection[str]) -> str | None:
        return self.choice(value, {word: word for word in words})

    def seconds(self, value: Value, example: str) -> float | None:
        if not self.is_plain(value, example):
            return None
        units = ", ".join(UNITS_OF_TIME)
        text = value.node.text
        amount_text = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        unit = text[len(amount_text) :]
        try:
            amount = number_of(amount_text.rstrip(" "))
        except ValueError:
            amount = math.nan
        if not 0 < amount < math.inf:
            self.refuse(value, f"; a number above 0 with a unit ({units}) is expected, such as {example}")
        elif unit not in UNITS_OF_TIME:
            self.refuse(value, f", {'with an unknown' if unit else 'without a'} unit{allowed(unit, UNITS_OF_TIME)}")
        else:
            return amount * UNITS_OF_TIME[unit]
        return None

    def section(self, value: Value, known: Collection[str]) -> Section | None:
        """A map whose keys are checked; None for anything else."""
        if not self.is_map(value, f"a map with the keys {', '.join(known)} is expected"):
            return None
        for key, entry in value.entries():
            if key not in known:
                self.bad(entry, "is no known key" + allowed(key, known))
        return Section(self, value)


class Section(NamedTuple):
    reader: Reader
    map: Value

    def find(self, key: str) -> Value | None:
        """The value of a key, if it is there; a key without a value is an error."""
        if (node := self.map.node.find(key)) is None:
            return None
        value = Value(node, join_key(self.map.path, key))
        if node.kind == "null":
            self.reader.bad(value, "has no value; write one or leave the key out")
            return None
        return value

    def need(self, key: str, expected: str) -> Value | None:
        if self.map.node.find(key) is None:
            self.reader.problems.add(
                self.map.node.place, join_key(self.map.path, key), f"is missing; {expected} is expected"
            )
        return self.find(key)

    def read(self, key: str, read: Callable[[Value], T | None], default: T) -> T:
        """What `read` makes of a key's value; the default without the key, or for a value with an error."""
        value = self.find(key)
        result = None if value is None else read(value)
        return default if result is None else result
