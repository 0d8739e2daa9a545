# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The tool that the program runs for a report, in processes of its own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from made_study import MadeStudy

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
FILES = ("study.json", "study.h5", "tables.md", "tables.tex", "p3.csv", "foms.txt", "errors.csv")


@pytest.fixture
def report(made):
    made.yaml = "title: Threads\nsweep: {threads: [1, 2]}\nrepeats: 2\nfigure: {x: threads, y: speed_up}\n"
    made.add_runs(1, ["1"], 1, [8, 8.5])
    made.add_runs(2, ["2"], 2, [4, 5])
    made.write_all(["threads"])
    return made


def finish(folder, *words, without=()):
    """Runs the tool in a folder, without some modules."""
    for module in without:
        (folder / "absent").mkdir(exist_ok=True)
        (folder / "absent" / f"{module}.py").write_text(f"raise ImportError('{module} is absent')\n")
    return subprocess.run(
        [sys.executable, "-B", PACKAGE, "study.finish", *words],
        env=dict(os.environ, PYTHONPATH=str(folder / "absent")),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_all_files_and_the_tables(report, tmp_path):
    before = names(report.folder)
    done = finish(tmp_path, "--version=3", "--git=fed", "--", "report")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("threads  runs   field time (s)   pairs/s ")
    assert done.stdout.endswith("\nreport: report/report.html\n")
    assert all(line.startswith("drawing ") for line in done.stderr.splitlines()), done.stderr
    assert names(report.folder) == sorted([*before, *FILES, "figures", "report.html"])
    assert all((report / name).stat().st_size > 50 for name in FILES)
    study = json.loads((report / "study.json").read_text())
    assert study["analysed_by"] == {"version": "3", "git": "fed"}
    assert (report / "study.json").stat().st_mode & 0o777 == (report / "runs.csv").stat().st_mode & 0o777
    assert (report / "figures/speed_up.svg").exists() or list((report / "figures").glob("*.svg"))
    quiet = finish(tmp_path, "--quiet", "report")
    assert (quiet.returncode, quiet.stdout) == (0, "")


def test_without_matplotlib_all_else_is_written(report, tmp_path):
    done = finish(tmp_path, "report", without=["matplotlib"])
    assert done.returncode == 0
    assert done.stdout.startswith("threads  runs   field time (s)   pairs/s ")
    assert "report.html" not in done.stdout
    assert done.stderr == (
        "warning: no figures in report: no Python with matplotlib and Jinja2 (matplotlib is absent); name one in "
        "PRISMFIELD_PYTHON or install python3-matplotlib and python3-jinja2\n"
    )
    assert all((report / name).exists() for name in FILES)
    assert not (report / "report.html").exists()


@pytest.mark.parametrize("module", ["matplotlib", "jinja2", "h5py", "yaml", "numpy"])
def test_another_python_may_have_what_is_missing(report, tmp_path, module):
    before = names(report.folder)
    done = finish(tmp_path, "--need-figures", "report", without=[module])
    assert (done.returncode, done.stdout, done.stderr) == (77, "", f"{module} is absent\n")
    assert names(report.folder) == before


def test_input_errors(report, tmp_path):
    report.write("runs.csv", "run,place\n1,2\n")
    before = names(report.folder)
    done = finish(tmp_path, "report")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "report/runs.csv:2: point: cannot be read\n"
    assert names(report.folder) == before


def test_what_cannot_be_written(report, tmp_path):
    (report / "tables.tex").mkdir()
    done = finish(tmp_path, "report")
    assert (done.returncode, done.stderr) == (1, "error: report/tables.tex: Is a directory\n")
    assert not [name for name in names(report.folder) if name.startswith(".")]


def test_joined(report, tmp_path):
    other = MadeStudy(tmp_path / "other")
    other.yaml, other.rows = report.yaml, report.rows
    other.add_rows(1, "maps", {"file": "results/1.h5", "fields": ["gz"]})
    other.write_all(["threads"])
    before = names(report.folder)
    for _ in range(2):
        done = finish(tmp_path, "--join", "report", "other", "--output", "other/both")
        assert done.returncode == 0, done.stderr
    study = json.loads((tmp_path / "other/both/study.json").read_text())
    assert [machine["name"] for machine in study["machines"]] == ["made", "made (2)"]
    assert [row["file"] for row in study["maps"]] == ["../results/1.h5"]
    assert names(report.folder) == before
    done = finish(tmp_path, "--join", "report", "other", "--output", "other")
    assert (done.returncode, done.stderr) == (
        2,
        "--output: other holds something else than a joined report; name another folder\n",
    )
    done = finish(tmp_path, "--join", "report", "./report", "--output", "new")
    assert (done.returncode, done.stderr) == (2, "--join: names ./report twice; its runs count once\n")
    assert not (tmp_path / "new").exists()
