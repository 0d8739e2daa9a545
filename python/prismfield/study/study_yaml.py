# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""study.yaml as the analysis needs it; the program checked all of its keys before it wrote the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from .problems import InputError, Problem, Problems, excerpt
from .read_tables import finite, whole
from .study_data import StudyAxis, StudyData

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


def is_case_key(key: str) -> bool:
    return key.partition(".")[0] in CASE_KEYS


def is_null(node: yaml.Node | None) -> bool:
    return node is None or node.tag == "tag:yaml.org,2002:null"


def label_of(node: yaml.Node) -> str:
    """The label of a value of an axis."""
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(map(label_of, node.value))}]"
    if isinstance(node, yaml.MappingNode):
        return "{" + ", ".join(f"{key.value}: {label_of(value)}" for key, value in node.value) + "}"
    return "null" if is_null(node) else node.value


def plain(node: yaml.Node) -> Any:
    """A value as JSON has it."""
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if is_null(node):
        return None
    text = node.value
    if node.style:
        return text
    if text in ("true", "false"):
        return text == "true"
    for read in (lambda text: whole(text, -(2**63)), finite):
        try:
            return read(text)
        except ValueError:
            pass
    return text


class StudyReader:
    """The keys of the document and their errors."""

    def __init__(self, file: Path, problems: Problems):
        self.name, self.problems = str(file), problems
        self.text = read_text(file)
        try:
            root = yaml.compose(self.text, Loader=yaml.SafeLoader)
            self.check_keys(root)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"{self.name}:{mark.line + 1}" if mark else self.name
            what = getattr(error, "problem", None) or "a character that is no text"
            raise InputError([Problem(where, "", f"this is no valid YAML: {what}")]) from None
        except RecursionError:
            raise InputError([Problem(self.name, "", "is nested too deeply")]) from None
        if not isinstance(root, yaml.MappingNode):
            raise InputError([Problem(self.name, "", "holds no map of keys")])
        self.keys = {key.value: value for key, value in reversed(root.value) if not is_null(value)}

    def check_keys(self, node: yaml.Node | None, path: str = "") -> None:
        if isinstance(node, yaml.SequenceNode):
            for i, item in enumerate(node.value):
                self.check_keys(item, f"{path}.{i}".lstrip("."))
        if not isinstance(node, yaml.MappingNode):
            return
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or is_null(key):
                key.value = ""
                self.problems.add(
                    f"{self.name}:{line}", path, "a key must be a word; a list, a map or nothing stands before the ':'"
                )
                continue
            below = f"{path}.{key.value}".lstrip(".")
            if key.value in lines:
                self.problems.add(
                    f"{self.name}:{line}", below, f"is written twice, first in line {lines[key.value]}; keep one"
                )
            lines.setdefault(key.value, line)
            self.check_keys(value, below)

    def bad(self, node: yaml.Node, key: str, expected: str) -> None:
        is_what = (
            "a list"
            if isinstance(node, yaml.SequenceNode)
            else "a map"
            if isinstance(node, yaml.MappingNode)
            else "empty"
            if is_null(node)
            else excerpt(node.value)
        )
        self.problems.add(f"{self.name}:{node.start_mark.line + 1}", key, f"is {is_what}; {expected} is expected")

    def read(self, key: str, expected: str, convert: Callable[[str], Any], default: Any) -> Any:
        """The value of a key whose text `convert` takes or refuses by ValueError."""
        if (node := self.keys.get(key)) is None:
            return default
        try:
            if isinstance(node, yaml.ScalarNode):
                return convert(node.value)
        except ValueError:
            pass
        self.bad(node, key, expected)
        return default

    def word(self, key: str, words: tuple[str, ...], default: str) -> str:
        expected = " or ".join((", ".join(words[:-1]), words[-1]))
        return self.read(key, expected, lambda text: words[words.index(text)], default)

    def map(self, key: str, expected: str) -> list[tuple[yaml.Node, yaml.Node]]:
        node = self.keys.get(key)
        if node is None or isinstance(node, yaml.MappingNode):
            return node.value if node else []
        self.bad(node, key, expected)
        return []

    def items(self, key: str) -> list[Any]:
        """The items of a list, or the value itself."""
        value = plain(self.keys[key]) if key in self.keys else []
        return value if isinstance(value, list) else [value]


def read_text(file: Path) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        what = f"cannot be read; a report folder of prismfield study has it: {error.strerror}"
    except UnicodeDecodeError as error:
        what = f"holds bytes that are not UTF-8, the first at byte {error.start}"
    raise InputError([Problem(str(file), "", what)])


def axes_of(name: str, node: yaml.Node, reader: StudyReader) -> list[StudyAxis]:
    # execution: {precision: [double, single]} is execution.precision
    if isinstance(node, yaml.MappingNode) and is_case_key(name):
        return [axis for key, value in node.value for axis in axes_of(f"{name}.{key.value}", value, reader)]
    axis = StudyAxis(name)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        reader.bad(node, f"sweep.{name}", "a list of values")
        return []
    for item in node.value:
        axis.values.append(label_of(item))
        # a map at a key of the case is that key's value, as execution.partition: [{ranks: [4, 2]}]
        if not isinstance(item, yaml.MappingNode) or is_case_key(name):
            axis.settings.append({name: label_of(item)})
            continue
        # what a map is called is no key of the case
        settings = {key.value: label_of(value) for key, value in item.value if key.value != "label"}
        axis.settings.append(settings)
        axis.keys += [key for key in settings if key not in axis.keys]
    axis.keys = axis.keys or [name]
    return [axis]


def read_study_yaml(file: Path, study: StudyData, problems: Problems) -> None:
    reader = StudyReader(file, problems)
    study.title = reader.read("title", "a title", str, study.title)
    for key, value in reader.map("sweep", "a map of axes"):
        study.axes += axes_of(key.value, value, reader)
    rules = study.rules
    rules.command = reader.word("command", ("run", "sensitivity", "invert"), rules.command)
    rules.tolerance = reader.read("tolerance", "a number of at least 0", tolerance, rules.tolerance)
    for key, least, below in (("repeats", 1, 2**63), ("warmup", 0, 2**63), ("seed", 0, 2**64)):
        value = reader.read(
            key, f"a whole number of at least {least}", lambda text: whole(text, least, below), getattr(rules, key)
        )
        setattr(rules, key, value)
    rules.order = reader.word("order", ("random", "as_written"), rules.order)
    rules.scaling = reader.word("scaling", ("threads", "ranks", "devices", "none"), rules.scaling)
    rules.weak = reader.word("weak", ("true", "false"), "false") == "true"
    baseline = reader.map("baseline", "a map of axes and values")
    rules.baseline = {key.value: label_of(value) for key, value in baseline}
    study.figures, study.compare_with = reader.items("figure"), reader.items("compare_with")
    study.hash = study.hash or hashlib.blake2b(reader.text.encode(), digest_size=16).hexdigest()


def tolerance(text: str) -> float:
    if (value := finite(text)) < 0:
        raise ValueError
    return value
