# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Analyses the runs of a report folder, writes all that follows from them, draws it and prints the tables."""

import argparse
import contextlib
import importlib
import json
import os
import pathlib
import sys

MISSING_MODULE = 77
PACKAGES = {
    "numpy": "python3-numpy",
    "scipy": "python3-scipy",
    "yaml": "python3-yaml",
    "h5py": "python3-h5py",
    "matplotlib": "python3-matplotlib",
}


class MissingModule(Exception):
    """Its text says which module and why."""


def require(*modules):
    """Raises MissingModule for the first that cannot be imported; one built for another NumPy fails in many ways."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            raise MissingModule(f"{error}; install {PACKAGES[name]}".replace("\n", " ")) from error


def write_report_files(study, folder, analysed_by):
    """Each under a temporary name and renamed when complete."""
    from . import study_hdf5, study_json, study_tables
    from .texts import new_file, write_file

    text = study_json.study_json(study, analysed_by)
    with new_file(folder / "study.h5") as name:
        study_hdf5.write_study_hdf5(study, text, name)
    write_file(folder / "tables.md", study_tables.tables_as_markdown(study))
    write_file(folder / "tables.tex", study_tables.tables_as_latex(study))
    write_file(folder / "p3.csv", study_tables.p3_csv(study))
    write_file(folder / "foms.txt", study_tables.fom_lines(study))
    # the report is drawn from it: it comes last
    write_file(folder / "study.json", text)


def draw(folder):
    """Why there are no figures, or "". Which figure is drawn is written to standard error."""
    try:
        require("matplotlib")
        from . import report

        with contextlib.redirect_stdout(sys.stderr):
            report.main(folder)
    except MissingModule as error:
        return f"no Python with matplotlib: {error}"
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


def join_studies(folders, output):
    """The study of several folders, each of a machine; `output` is made, or holds nothing but a joined report."""
    from .join import join
    from .problems import InputError, Problem

    study = join(folders)
    if os.path.lexists(output) and not may_hold_joined(output):
        what = f"{output} holds something else than a joined report; name another folder"
        raise InputError([Problem("--output", "", what)])
    output.mkdir(exist_ok=True)
    # maps are found from the folder of the report
    for field_map in study.maps:
        field_map.file = os.path.relpath(field_map.file, output)
    return study


def make(options):
    from .analysis import analyse
    from .read_study import read_study
    from .study_tables import tables_as_text
    from .texts import shown

    if options.join:
        folder = options.output
        study = join_studies(options.folders, folder)
    else:
        folder = options.folders[0]
        study = read_study(folder)
    analyse(study)
    write_report_files(study, folder, {"version": options.version, "git": options.git})
    why = draw(folder)
    if not options.quiet:
        text = tables_as_text(study)
        if not why:
            text += f"report: {shown(str(folder / 'report.html'))}\n"
        print(text, end="", flush=True)
    if why:
        print(f"warning: no figures in {folder}: {why}", file=sys.stderr)


def main(argv):
    parser = argparse.ArgumentParser(prog="study.report", description=__doc__)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="the report folder of a study")
    parser.add_argument("--join", action="store_true", help="make one report of several folders")
    parser.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="the folder of the joined report")
    parser.add_argument("--quiet", action="store_true", help="print no tables")
    parser.add_argument("--need-figures", action="store_true", help="do nothing without matplotlib; the exit code is 77")
    parser.add_argument("--version", default="", help="of the program that asks for the report")
    parser.add_argument("--git", default="", help="hash of that program")
    options = parser.parse_args(argv)
    if options.join != bool(options.output) or (len(options.folders) > 1 and not options.join):
        parser.error("--join takes folders and --output, otherwise there is one folder")
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.stderr.reconfigure(encoding="utf-8", errors="replace")
    try:
        require("numpy", "scipy", "yaml", "h5py", *(["matplotlib"] if options.need_figures else []))
    except MissingModule as error:
        print(error, file=sys.stderr)
        return MISSING_MODULE
    from .problems import InputError

    try:
        make(options)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename2 or error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    return 0
