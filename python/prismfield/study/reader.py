# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Values of a study as Python has them: each reader reports what is no such value and then returns None."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from .problems import Problems, allowed
from .tables import number as number_of
from .tables import whole as whole_of
from .texts import shown
from .yaml_nodes import Node, join_key

T = TypeVar("T")
UNITS_OF_TIME = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


class Reader:
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
