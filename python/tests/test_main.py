# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The folder as the program starts it."""

import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


def run(*words, package=PACKAGE, **keywords):
    command = [sys.executable, "-B", str(package), *words]
    return subprocess.run(command, capture_output=True, text=True, **keywords)


def test_tools_that_there_are_not():
    for words in ((), ("figures.drawing",), ("os",)):
        done = run(*words)
        assert (done.returncode, done.stdout) == (2, "")
        tools = "figures.fields, figures.model, study.report, study.finish, study.command"
        assert done.stderr == f"the first argument is one of {tools}\n"


def test_every_tool_says_in_one_line_why_it_failed(tmp_path):
    for tool in ("figures.fields", "figures.model", "study.report"):
        done = run(tool, "nowhere", str(tmp_path / "f.png"), cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith("FileNotFoundError: ")
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_is_missing_is_77(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not\\nhere')\n")
    for tool in ("figures.fields", "figures.model", "study.report"):
        done = run(tool, "nowhere", "f.png", env={**os.environ, "PYTHONPATH": str(tmp_path)})
        assert (done.returncode, done.stderr) == (77, "not here\n")


def test_nothing_of_the_working_folder_is_run(tmp_path):
    for name in ("random", "matplotlib", "numpy", "prismfield", "h5py", "netCDF4"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(5)\n")
    (tmp_path / "matplotlibrc").write_text("backend: no such\n")
    for package in (PACKAGE, os.path.relpath(PACKAGE, tmp_path)):
        done = run("figures.fields", "", "", "{}", package=package, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
