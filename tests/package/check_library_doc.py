#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Compares docs/library.md with its examples: code with the files, output with what the programs print. And README's C++.

usage: check_library_doc.py docs/library.md docs/examples FOLDER_OF_PROGRAMS [--mpirun WORD...]
"""

import re
import subprocess
import sys


def blocks(page, kind):
    """(name, text) of every block after a comment <!-- kind: name -->."""
    pattern = r"<!-- " + kind + r": (\S+) -->\n```\w*\n(.*?)```"
    return re.findall(pattern, page, flags=re.DOTALL)


def without_licence(text):
    """A file as the page shows it."""
    lines = [line for line in text.split("\n") if "SPDX-" not in line]
    return "\n".join(lines)


def main():
    """Prints every difference; exit code 1 when there is one."""
    words = sys.argv[1:]
    mpirun = []
    if "--mpirun" in words:
        at = words.index("--mpirun")
        mpirun = words[at + 1 :]
        words = words[:at]
    page_name, examples, programs = words
    with open(page_name, encoding="utf-8") as file:
        page = file.read()
    wrong = []
    shown = blocks(page, "file")
    for name, text in shown:
        with open(f"{examples}/{name}", encoding="utf-8") as file:
            if without_licence(file.read()) != text:
                wrong.append(f"{page_name}: the code of {name} is not that of {examples}/{name}")
    with open(f"{examples}/../../README.md", encoding="utf-8") as file:
        if f"```cpp\n{dict(shown).get('three_prisms.cpp')}```" not in file.read():
            wrong.append(f"README.md: its C++ is not {examples}/three_prisms.cpp")
    printed = blocks(page, "output")
    for name, text in printed:
        by_ranks = name == "own_mpi"
        if by_ranks and not mpirun:
            continue
        command = (mpirun if by_ranks else []) + [f"{programs}/{name}"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if run.returncode != 0:
            wrong.append(f"{name}: exit code {run.returncode}: {run.stderr}")
        elif run.stdout != text:
            wrong.append(f"{page_name}: {name} prints\n{run.stdout}and not\n{text}")
    if len(shown) < 6 or len(printed) < 5:
        wrong.append(f"{page_name}: {len(shown)} files and {len(printed)} outputs found, more were expected")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
