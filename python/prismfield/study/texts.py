# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Texts and numbers as messages and tables show them."""

import json
import math
import pathlib
import re

from ..new_file import new_file

# What moves the cursor, colours or hides text, or turns its direction, and bytes that are no UTF-8.
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def shown(text):
    """Text out of files as a message or table shows it."""
    return CONTROL.sub("?", text)


def counted(count, noun):
    """'1 point', '1,000 points'"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number_text(value):
    """The shortest digits that read back as the number."""
    return repr(float(value)).removesuffix(".0")


def short_text(value, digits=4):
    """A number with some digits; nothing where it is not known."""
    return f"{value:.{digits}g}" if math.isfinite(value) else ""


def json_text(value, indent):
    """The text of JSON, which has null for what is not finite, and U+FFFD for bytes of texts that are no UTF-8."""

    def clean(value):
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if isinstance(value, dict):
            return {clean(key): clean(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return list(map(clean, value))
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(clean(value), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def write_file(target, content):
    """Writes a text, or bytes, under a temporary name and renames it when complete."""
    with new_file(pathlib.Path(target)) as file:
        file.write(content if isinstance(content, bytes) else content.encode(errors="replace"))
