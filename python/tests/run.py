# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs the tests of this folder by the first Python that has pytest and what draws; 77 and the reason if none has.

usage: run.py [--with=MODULE,...] [OPTIONS OF PYTEST]
"""

import os
import pathlib
import subprocess
import sys

NEEDED = "import h5py, jinja2, matplotlib, numpy, pytest, yaml"


def main():
    """Replaces this process by pytest; --with: the Python must have these modules too."""
    options, needed = sys.argv[1:], NEEDED
    if options and options[0].startswith("--with="):
        needed = f"{NEEDED}, {options.pop(0).partition('=')[2]}"
    first, last = (os.environ.get(name) for name in ("PRISMFIELD_PYTHON", "PRISMFIELD_PEERS"))
    pythons = [first, sys.executable, "python3", "/usr/bin/python3", last]
    why = []
    for python in dict.fromkeys(filter(None, pythons)):
        try:
            tried = subprocess.run([python, "-c", needed], capture_output=True, text=True)
        except OSError as error:
            why.append(f"{python}: {error.strerror}")
            continue
        if tried.returncode == 0:
            folder = pathlib.Path(__file__).resolve().parent
            os.execvp(python, [python, "-B", "-m", "pytest", *options, str(folder)])
        why.append(f"{python}: {tried.stderr.strip().splitlines()[-1]}")
    print("the Python package is not tested:", "; ".join(why))
    return 77


if __name__ == "__main__":
    sys.exit(main())
