# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""YAML as a tree whose values know where they were written, and can be changed by key paths."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from .texts import InputError, Problem, Problems, excerpt

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LARGEST_FILE = 16 << 20
DEEPEST = 64
TOO_DEEP = f"lists or maps are nested too deeply; {DEEPEST} levels are the most"
# aliases (*) make a large tree of a few bytes
NODES_OF_ALIASES = 100_000
# control characters, and bytes that are no UTF-8
NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]|\r(?!\n)")
TAG = "tag:yaml.org,2002:"
KNOWN_TAGS = {TAG + name for name in "null bool int float str timestamp merge value seq map".split()}
# plain text that is the same in brackets
PLAIN = re.compile(r"[\w.+/-]([\w .+/-]*[\w.+/-])?")


@dataclass
class Node:
    """One value. Aliases are expanded: every node owns what is below it."""

    kind: str = "null"  # null, scalar, list, map, or removed: an element of a list that was taken out
    text: str = ""
    quoted: bool = False  # a scalar in quotes or a block: text, never a number
    flow: bool = False  # a list or map written in brackets
    place: str = ""  # "file:line" of the value, in a map of its key, or the option that wrote it
    path: str = ""  # of keys, for messages
    elements: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)

    @property
    def items(self) -> list[Node]:
        """A list's elements, without those that were taken out."""
        return [node for node in self.elements if node.kind != "removed"]

    def find(self, key: str) -> Node | None:
        """The value of a map's key, which may be null."""
        return self.entries.get(key)

    def copy(self) -> Node:
        return copy.deepcopy(self)

    def set_path(self, path: str) -> None:
        self.path = path
        for key, node in [*enumerate(self.elements), *self.entries.items()]:
            node.set_path(join_key(path, str(key)))

    def one_or_list(self) -> list[Node]:
        return self.items if self.kind == "list" else [self]

    def kind_name(self) -> str:
        """What it is, for messages."""
        if self.kind == "scalar":
            return ("the text " if self.quoted else "") + excerpt(self.text)
        return {"list": "a list", "map": "a map"}.get(self.kind, "empty")


def scalar(text: str, place: str = "", quoted: bool = False) -> Node:
    return Node("scalar", text, quoted, place=place)


def join_key(parent: str, child: str) -> str:
    word = excerpt(child)[1:-1]
    return f"{parent}.{word}" if parent else word


def read_yaml_text(file: Path) -> str:
    """Content of a text file of at most 16 MiB in UTF-8."""

    data, where, what = b"", str(file), ""
    try:
        with open(file, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except IsADirectoryError:
        what = "is a folder; a YAML file is expected"
    except (FileNotFoundError, NotADirectoryError):
        what = "there is no such file"
    except OSError:
        what = "cannot be opened to read; look at its permissions"
    text = data.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    if len(data) > LARGEST_FILE:
        what = "is larger than 16 MiB; keep long lists in files of their own, which a case names"
    elif bad := NO_TEXT.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        where = f"{file}:{line}"
        what = "holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"
    if what:
        raise InputError([Problem(where, "", what)])
    return text


class Builder:
    """Turns what PyYAML composed into a tree."""

    def __init__(self, file: str, option: str, text: str, problems: Problems):
        self.file, self.option, self.problems = file, option, problems
        self.left = NODES_OF_ALIASES + 2 * len(text)
        self.text_left = (1 << 20) + 2 * len(text)

    def place(self, node: yaml.Node) -> str:
        return self.option or f"{self.file}:{node.start_mark.line + 1}"

    def build(self, found: yaml.Node, path: str, place: str = "", depth: int = 0) -> Node:
        place = place or self.place(found)
        if depth > DEEPEST:
            raise InputError([Problem(place, "", TOO_DEEP)])
        self.left -= 1
        self.text_left -= len(found.value) if isinstance(found, yaml.ScalarNode) else 0
        if self.left < 0 or self.text_left < 0:
            what = "too many values, or too long ones, once aliases (*) are expanded"
            end = "keep long lists in files of their own, which a case names"
            raise InputError([Problem(place, "", f"{what}; {end}")])
        if found.tag not in KNOWN_TAGS:
            tag = excerpt(found.tag.replace(TAG, "!!"))
            self.problems.add(place, path, f"the tag {tag} has no meaning here; leave it out")
        if isinstance(found, yaml.ScalarNode):
            if found.tag == TAG + "null" and not found.style:
                return Node(place=place, path=path)
            return Node("scalar", found.value, bool(found.style), place=place, path=path)
        kind = "list" if isinstance(found, yaml.SequenceNode) else "map"
        node = Node(kind, place=place, path=path, flow=bool(found.flow_style))
        if node.kind == "list":
            for i, item in enumerate(found.value):
                node.elements.append(self.build(item, join_key(path, str(i)), "", depth + 1))
            return node
        lines: dict[str, int] = {}
        for key, value in found.value:
            where, line = self.place(key), key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or (key.tag == TAG + "null" and not key.style):
                what = "a key must be a word; a list, a map or nothing stands before the ':'"
                self.problems.add(where, path, what)
                continue
            below = join_key(path, key.value)
            first = lines.setdefault(key.value, line)
            built = self.build(value, below, where, depth + 1)
            if key.value in node.entries:
                what = "is written twice" + ("" if self.option else f", first in line {first}") + "; keep one"
                self.problems.add(where, below, what)
                continue
            node.entries[key.value] = built
        return node


def parse_yaml(text: str, file: str, problems: Problems, option: str = "", path: str = "") -> Node:
    """The single document in `text`; `file`, or an option, names it in messages.

    Repeated keys, tags and keys that are no words are added to `problems`; the first of repeated keys counts. Raises
    InputError for what is no YAML.
    """
    builder = Builder(file, option, text, problems)
    try:
        found = yaml.compose(text, Loader=LOADER)
        return Node(place=option or f"{file}:1") if found is None else builder.build(found, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        # what is missing at the end of a file is noticed behind it
        line = min(mark.line + 1, max(1, len(text.splitlines()))) if mark else 1
        what = getattr(error, "problem", None) or getattr(error, "context", None) or "a character that is no text"
        context = getattr(error, "context", None)
        what = f"this is no valid YAML: {what}" + (f", {context}" if context and context != what else "")
    except RecursionError:
        line, what = 1, TOO_DEEP
    raise InputError([Problem(option or f"{file}:{line}", path, f"in {excerpt(text)}, {what}" if option else what)])


def put(root: Node, path: str, value: Node | None, place: str) -> None:
    """Puts a copy of a value at a key path, making missing parents; None takes out what is there.

    A list's element is named by its number from 0, a key that holds dots itself is found as it is. Raises InputError
    when a part of the path cannot hold it.
    """

    def refuse(what: str) -> InputError:
        return InputError([Problem(place, path, what)])

    keys = path.split(".")
    if "" in keys:
        raise refuse("the key has an empty part; write names joined by single dots")
    node, walked = root, ""
    while True:
        if node.kind in ("null", "removed"):
            if value is None:
                return
            node.kind, node.place = "map", place
        if node.kind == "list":
            key, keys = keys[0], keys[1:]
            if not key.isdecimal() or int(key) >= len(node.elements):
                raise refuse(f"{walked or 'the document'} is a list of {len(node.elements)}, numbered from 0")
            below, at = node.elements, int(key)
        elif node.kind == "map":
            n = max((n for n in range(1, len(keys) + 1) if ".".join(keys[:n]) in node.entries), default=1)
            key, keys = ".".join(keys[:n]), keys[n:]
            below, at = node.entries, key
            if key not in node.entries:
                if value is None:
                    return
                node.entries[key] = Node(place=place)
        else:
            raise refuse(f"{walked} is {excerpt(node.text)} there, not a map; set {walked} as a whole")
        walked = join_key(walked, key)
        if not keys:
            break
        node = below[at]
    if value is None:
        if node.kind == "list":
            below[at] = Node("removed", place=place)
        else:
            del below[at]
    else:
        below[at] = value.copy()
        below[at].set_path(walked)


def put_or_report(root: Node, path: str, value: Node, problems: Problems) -> None:
    """Puts a value where it was written for; null takes the key out."""
    try:
        put(root, path, None if value.kind == "null" else value, value.place)
    except InputError as error:
        problems.extend(error.problems)


def read_override(assignment: str, problems: Problems) -> tuple[str, Node] | None:
    """The key path and the value, which is YAML, of key.path=value; null takes the key out."""
    key, equals, content = assignment.partition("=")
    if not equals or not key:
        what = f"{excerpt(assignment)} has no key.path=value form, such as execution.slots=4"
        problems.add("--set", "", what)
    elif not content.strip(" \t"):
        problems.add("--set", key, "has no value; write key.path=value, or null as the value to take the key out")
    elif NO_TEXT.search(assignment):
        problems.add("--set", excerpt(key), "holds bytes that are no UTF-8 text")
    else:
        try:
            return key, parse_yaml(content, "--set", problems, "--set", key)
        except InputError as error:
            problems.extend(error.problems)
    return None


def to_yaml(root: Node) -> str:
    """The document as YAML text; reads back as the same tree."""
    resolver = LOADER("")

    def convert(node: Node) -> yaml.Node:
        if node.kind == "list":
            return yaml.SequenceNode(
                TAG + "seq", list(map(convert, node.items)), flow_style=node.flow or not node.items
            )
        if node.kind == "map":
            entries = [(convert(scalar(key)), convert(value)) for key, value in node.entries.items()]
            return yaml.MappingNode(TAG + "map", entries, flow_style=node.flow or not entries)
        if node.kind != "scalar":
            return yaml.ScalarNode(TAG + "null", "null")
        tag = TAG + "str" if node.quoted else resolver.resolve(yaml.ScalarNode, node.text, (True, False))
        if tag == TAG + "null":
            return yaml.ScalarNode(TAG + "str", node.text, style='"')
        return yaml.ScalarNode(tag, node.text, style='"' if node.quoted else None)

    return yaml.serialize(convert(root), Dumper=yaml.SafeDumper, allow_unicode=True, width=1 << 20)


def numbered(root: Node) -> tuple[str, list[str]]:
    """The document as YAML with a value a line, and the place where the value of each line was written."""
    lines: list[tuple[str, str]] = []

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    def emit(node: Node, before: str, after: str) -> None:
        if node.kind not in ("list", "map"):
            is_plain = not node.quoted and PLAIN.fullmatch(node.text)
            text = "null" if node.kind == "null" else node.text if is_plain else quoted(node.text)
            lines.append((before + text + after, node.place))
            return
        begin, end = "[]" if node.kind == "list" else "{}"
        below = [("", item) for item in node.items]
        below += [(f"{quoted(key)}: ", value) for key, value in node.entries.items()]
        lines.append((before + begin, node.place))
        for i, (label, value) in enumerate(below, 1):
            emit(value, label, "," if i < len(below) else "")
        lines.append((end + after, node.place))

    emit(root, "", "")
    return "".join(f"{line}\n" for line, _ in lines), [place for _, place in lines]


def plain(node: Node) -> object:
    """The same value for the same content, however it was laid out; numbers stay the text that they are."""
    if node.kind == "list":
        return list(map(plain, node.items))
    if node.kind == "map":
        return {key: plain(value) for key, value in sorted(node.entries.items())}
    return (node.quoted, node.text) if node.kind == "scalar" else None
