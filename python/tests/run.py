# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs the tests of this folder by the first Python that has pytest and what draws; 77 and the reason if none has."""

import os
import pathlib
import subprocess
import sys

NEEDED = "import h5py, jinja2, matplotlib, numpy, pytest, yaml"


def main():
    """Replaces this process by pytest; takes its options."""
    pythons = [os.environ.get("PRISMFIELD_PYTHON"), sys.executable, "python3", "/usr/bin/python3"]
    why = []
    for python in dict.fromkeys(filter(None, pythons)):
        try:
            tried = subprocess.run([python, "-c", NEEDED], capture_output=True, text=True)
        except OSError as error:
            why.append(f"{python}: {error.strerror}")
            continue
        if tried.returncode == 0:
            folder = pathlib.Path(__file__).resolve().parent
            os.execvp(python, [python, "-B", "-m", "pytest", *sys.argv[1:], str(folder)])
        why.append(f"{python}: {tried.stderr.strip().splitlines()[-1]}")
    print("the Python package is not tested:", "; ".join(why))
    return 77


if __name__ == "__main__":
    sys.exit(main())
