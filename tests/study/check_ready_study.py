#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Looks at a study of perf/studies: check_ready_study.py PROGRAM STUDY.yaml [--run]

Its plan is right, at full size and reduced. With --run, or where PRISMFIELD_TEST_ALL is 1, it is run reduced and all
that it leaves is looked at: every point ran or says why this machine cannot run it; numbers in study.json belong to the
rows of runs.csv; the page needs no other file. Figures are checked where a Python with matplotlib and h5py draws them.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import ALL_TESTS

program, study = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
FILES = ("study.yaml", "machine.json", "runs.csv", "errors.csv", "study.json", "study.h5", "tables.md", "tables.tex")


def expect(good, what):
    if not good:
        raise AssertionError(what)


def main():
    text = study.read_text(encoding="utf-8")
    # the header that users read before they begin
    expect(re.search(r"(?m)^# Full size on two cores: \d", text), f"{study.name} does not say how long it takes")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    for size in ([], ["--reduced"]):
        command = [program, "study", study, *size, "--check"]
        check = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        expect(check.returncode == 0 and "no errors found; " in check.stdout, f"{check.stdout}{check.stderr}")
    if ALL_TESTS or "--run" in sys.argv:
        check_run(environment)


def check_run(environment):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        command = [program, "study", study, "--reduced", "--quiet", "--output", report]
        run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        expect(run.returncode == 0, f"{study.name} ended with {run.returncode}\n{run.stdout}{run.stderr}")
        expect(run.stdout == "", f"--quiet, and yet: {run.stdout}")
        for name in FILES:
            expect((report / name).stat().st_size > 0, f"{name} is empty")
        with open(report / "runs.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            expect(row["status"] in ("ok", "not run"), f"run {row['run']} is {row['status']}: {row['why']}")
            expect(row["status"] == "ok" or row["why"], f"run {row['run']} does not say why it was not made")
        found = json.loads((report / "study.json").read_text(encoding="utf-8"))
        expect(found["schema"] == "prismfield-study" and found["version"] == 1, "another schema")
        for point in found["points"]:
            own = [
                float(row["field_seconds"])
                for row in rows
                if row["point"] == str(point["id"]) and row["kind"] == "timed" and row["status"] == "ok"
            ]
            times = (point.get("field_seconds") or {}).get("all") or []
            expect(sorted(times) == sorted(own), f"point {point['id']}: {times} in study.json, {own} in runs.csv")
        if "no figures in" in run.stderr:
            expect("no Python with" in run.stderr, run.stderr)
            print("figures not checked: no Python with matplotlib and h5py")
            return
        page = (report / "report.html").read_text(encoding="utf-8")
        expect(not re.search(r"(?:src|href)\s*=\s*[\"'](?!#|data:)", page), "the page needs other files")
        figures = list((report / "figures").iterdir())
        for figure in figures:
            begin = figure.read_bytes()[:512]
            kind = begin.startswith(b"\x89PNG") if figure.suffix == ".png" else b"<svg" in begin or b"<?xml" in begin
            expect(kind, f"{figure.name} is no {figure.suffix} file")
        names = {figure.stem for figure in figures}
        expect({f"{name}.png" for name in names} | {f"{name}.svg" for name in names} == {f.name for f in figures}, names)
        if any(row["status"] == "ok" and row["kind"] == "timed" for row in rows):
            expect(figures, "no figure")


main()
