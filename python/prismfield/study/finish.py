# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Analyses the runs of a report folder, writes all that follows from them, draws it and prints the tables:

study.finish FOLDER, or study.finish --join --output FOLDER FOLDER FOLDER... for a report of several machines.
"""

import argparse
import json
import os
import pathlib
import sys

from ..new_file import new_file
from .analysis import analyse
from .read_study import join, read_study
from .study_files import (
    errors_csv,
    fom_lines,
    p3_csv,
    study_json,
    tables_as_latex,
    tables_as_markdown,
    tables_as_text,
    write_study_hdf5,
)
from .texts import InputError, Problem, Progress, exit_code_of, shown, write_file

NO_FIGURES = ""
try:
    from . import report
except Exception as missing:  # modules built for another NumPy fail in many ways
    NO_FIGURES = str(missing).replace("\n", " ")


def draw(folder, quiet):
    """Why there are no figures, or "". Which figure is drawn shows as progress."""
    if NO_FIGURES:
        install = "name one in PRISMFIELD_PYTHON or install python3-matplotlib and python3-jinja2"
        return f"no Python with matplotlib and Jinja2 ({NO_FIGURES}); {install}"
    try:
        with Progress(quiet) as progress:
            report.draw(folder, progress.note)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return ""


def may_hold_joined(folder):
    """Whether the folder holds a report that --join made, or nothing."""
    if not folder.is_dir():
        return False
    try:
        with open(folder / "study.json", encoding="utf-8") as file:
            root = json.load(file)
    except (OSError, ValueError, RecursionError):
        return not any(folder.iterdir())
    return isinstance(root, dict) and root.get("schema") == "prismfield-study" and "machines" in root


def finish(options):
    folder = pathlib.Path(options.output if options.join else options.folders[0])
    study = join(options.folders) if options.join else read_study(folder)
    if options.join:
        if os.path.lexists(folder) and not may_hold_joined(folder):
            what = f"{options.output} holds something else than a joined report; name another folder"
            raise InputError([Problem("--output", "", what)])
        os.makedirs(folder, exist_ok=True)
        # maps are found from the folder of the report
        for field_map in study.maps:
            field_map["file"] = os.path.relpath(field_map["file"], folder)
    analyse(study)
    text = study_json(study, {"version": options.version, "git": options.git})
    with new_file(folder / "study.h5") as file:
        write_study_hdf5(study, text, file)
    record = json.loads(text)
    files = {
        "tables.md": tables_as_markdown(record),
        "tables.tex": tables_as_latex(record),
        "p3.csv": p3_csv(study),
        "foms.txt": fom_lines(record),
        "errors.csv": errors_csv(study),
    }
    for name, content in files.items():
        write_file(folder / name, content)
    # the report is drawn from it: it comes last
    write_file(folder / "study.json", text)
    why = draw(folder, options.quiet)
    if not options.quiet:
        print(tables_as_text(record), end="")
        if not why:
            print(f"report: {shown(str(folder / 'report.html'))}")
        sys.stdout.flush()
    if why:
        print(f"warning: no figures in {folder}: {why}", file=sys.stderr)
    return 0


def main(words):
    parser = argparse.ArgumentParser(prog="study.finish", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="the report folder of a study")
    parser.add_argument("--join", action="store_true", help="make one report of several folders")
    parser.add_argument("--output", metavar="FOLDER", help="the folder of the joined report")
    parser.add_argument("--quiet", action="store_true", help="print no tables")
    parser.add_argument("--probe", action="store_true", help="import what is needed, and nothing else")
    parser.add_argument("--need-figures", action="store_true", help="without what draws do nothing and end with 77")
    parser.add_argument("--version", default="", help="of the program that asks for the report")
    parser.add_argument("--git", default="", help="hash of that program")
    options = parser.parse_args(words)
    if options.need_figures and NO_FIGURES:
        raise ImportError(NO_FIGURES)
    if options.probe:
        return 0
    if options.join != bool(options.output) or not options.folders or (len(options.folders) > 1 and not options.join):
        parser.error("--join takes folders and --output, otherwise there is one folder")
    try:
        return exit_code_of(lambda: finish(options))
    except Exception as error:
        why = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(f"error: the report was not written: {why}", file=sys.stderr)
        return 1
