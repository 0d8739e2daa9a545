# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs a tool of the package: python3 -B FOLDER TOOL ARGUMENTS..., where FOLDER is the one of this file.

Exit codes: that of the tool, 1 for an error, 2 for no such tool, 77 if this Python cannot import what the tool needs.
The last line of standard error states the reason.
"""

import importlib
import os
import sys

TOOLS = ("figures.fields", "figures.model", "study.report", "study.finish", "study.command")
MISSING_MODULE = 77


def load(tool):
    """Imports the module of a tool."""
    # Whatever backend the user's settings name, tools draw without a display.
    os.environ["MPLBACKEND"] = "Agg"
    # While it is imported, matplotlib reads a matplotlibrc of the working folder: this must not change a figure.
    sys.path[0] = os.path.dirname(os.path.abspath(__file__))
    working_folder = os.open(".", os.O_PATH)
    os.chdir("/")
    try:
        return importlib.import_module("prismfield." + tool)
    finally:
        os.fchdir(working_folder)
        os.close(working_folder)


def report(text):
    """Prints one line on standard error."""
    print(text.replace("\n", " "), file=sys.stderr)


def main(words):
    """Runs the tool words[0] with the words after it; returns the exit code."""
    if not words or words[0] not in TOOLS:
        report("the first argument is one of " + ", ".join(TOOLS))
        return 2
    try:
        tool = load(words[0])
    except Exception as error:  # modules built for another NumPy fail in many ways
        report(str(error))
        return MISSING_MODULE
    try:
        return tool.main(words[1:])
    except ImportError as error:
        report(str(error))
        return MISSING_MODULE
    except Exception as error:
        report("{}: {}".format(type(error).__name__, error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
