# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""study.yaml as the analysis needs it; all of its keys were checked before it was written."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from .problems import InputError, Problem, Problems
from .read_tables import finite, whole
from .reader import Value
from .spec import KEYS, Spec, SpecReader
from .study_data import StudyAxis, StudyData
from .sweep import label_of
from .yaml_nodes import Node, parse_yaml, read_yaml_text

# the sections of a case, whose keys an axis sets: those of docs/case.md without the title, which a study has too
CASE_KEYS = (
    "gravitational_constant",
    "axes",
    "crs",
    "model",
    "observations",
    "fields",
    "execution",
    "output",
    "sensitivity",
    "inversion",
)


def json_of(node: Node) -> Any:
    """A value as JSON has it."""
    if node.kind == "list":
        return [json_of(item) for item in node.items]
    if node.kind == "map":
        return {key: json_of(value) for key, value in node.entries.items()}
    if node.kind != "scalar":
        return None
    if node.quoted:
        return node.text
    if node.text in ("true", "false"):
        return node.text == "true"
    for read in (lambda text: whole(text, -(2**63)), finite):
        try:
            return read(node.text)
        except ValueError:
            pass
    return node.text


def items_of(tree: Node, key: str) -> list[Any]:
    """The items of a list, or the value itself."""
    node = tree.find(key)
    value = [] if node is None else json_of(node)
    return value if isinstance(value, list) else [value]


class ReportReader(SpecReader):
    """Leaves alone what another version may have that wrote the file: keys of the case, and what is drawn."""

    def may_be_swept(self, key: str, value: Value) -> bool:
        return True

    def figure(self, value: Value, spec: Spec) -> None:
        pass

    paper = figure

    def baseline(self, value: Value, spec: Spec) -> None:
        """It may name a key that a value of an axis sets."""
        self.is_map(value, "a map of axes and values is expected, such as {threads: 1}")


def read_study_yaml(file: Path, study: StudyData, problems: Problems) -> None:
    text = read_text(file)
    tree = parse_yaml(text, str(file), problems)
    if tree.kind != "map":
        raise InputError([Problem(str(file), "", "holds no map of keys")])
    known = {key: node for key, node in tree.entries.items() if key in KEYS and node.kind != "null"}
    spec = Spec(file, tree=Node("map", place=tree.place, entries=known), title=study.title)
    ReportReader(problems, CASE_KEYS, "run").read(spec)
    study.title = spec.title
    for axis in spec.axes:
        settings = [value.sets for value in axis.values]
        keys = list(dict.fromkeys(key for own in settings for key in own))
        study.axes.append(StudyAxis(axis.name, [value.label for value in axis.values], keys or [axis.name], settings))
    rules = study.rules
    for key in ("command", "tolerance", "repeats", "warmup", "seed", "order", "weak"):
        setattr(rules, key, getattr(spec, key))
    scaling, baseline = spec.tree.find("scaling"), spec.tree.find("baseline")
    rules.scaling = scaling.text if scaling else rules.scaling
    rules.baseline = {key: label_of(node) for key, node in baseline.entries.items()} if baseline else {}
    study.figures, study.compare_with = items_of(spec.tree, "figure"), items_of(spec.tree, "compare_with")
    study.hash = study.hash or hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_text(file: Path) -> str:
    try:
        return read_yaml_text(file)
    except InputError as error:
        (where, _, what), *_ = error.problems
        what = what.replace("there is no such file", "cannot be read; a report folder of prismfield study has it")
        raise InputError([Problem(where, "", what)]) from None
