# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What the checks of structure share: the sources of the library and their text without comments and literals."""

import re
from functools import lru_cache
from pathlib import Path

SUFFIXES = (".hpp", ".h", ".cpp")

# The longest alternative first: a raw string may hold quotes, a string may hold what looks like a comment.
TOKEN = re.compile(
    r"""(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")"""
    r"""|(?P<line>//(?:\\\n|[^\n])*)"""
    r"""|(?P<block>/\*.*?\*/)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?<![0-9A-Fa-f])(?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL,
)


def sources(root):
    """Paths of all sources below src/ and include/, relative to the root, sorted."""
    found = []
    for folder in ("src", "include"):
        found += [path.relative_to(root) for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(found)


def read(path):
    return Path(path).read_text(encoding="utf-8")


@lru_cache(maxsize=None)
def blank(text, keep_strings=False):
    """The text with comments and literals replaced by spaces, so that places and lines stay what they were."""

    def spaces(match):
        if keep_strings and match.lastgroup not in ("line", "block"):
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    return TOKEN.sub(spaces, text)


def line_of(text, place):
    return text.count("\n", 0, place) + 1
