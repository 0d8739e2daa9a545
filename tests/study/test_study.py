#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Studies from end to end: runs, tables, kills and resumes, messages. The program needs a Python for reports.

    test_study.py PRISMFIELD [--kills N]
"""

import argparse
import collections
import contextlib
import csv
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import CASE as SMALL_CASE, ProgramFolder, part_of, wait_for

options = None

CASE = SMALL_CASE.replace("[gz, gzz]", "[gz, gxx, gyy, gzz]") + "output: {file: never.h5, figure: never.png}\n"

STUDY = """\
title: Small study
base: case.yaml
sweep:
  execution.slots: [1, 2]
  threads: [1, 100000]
repeats: 2
tolerance: 1e-12
"""

# A minute or more on any host by the eight-corner sum, a fraction of a second by itself. A GPU takes seconds by both.
SLOW_CASE = CASE.replace("[0, 1000, 12]", "[0, 1000, 200]").replace("[0, 1000, 20]", "[0, 1000, 60]").replace(
    "radius: 200", "radius: 450").replace("[-500, 0, 10]", "[-500, 0, 60]").replace("upward: 10\n", "upward: 9000\n")


class Folder(ProgramFolder):
    """A test in a new folder with a small case and a study of it."""

    case = CASE

    def setUp(self):
        super().setUp()
        self.environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}

    def run_program(self, *arguments, **keywords):
        return super().run_program(*arguments, **{"env": self.environment, "timeout": 600, **keywords})

    def study(self, text=STUDY, *arguments, **keywords):
        self.write("study.yaml", text)
        return self.run_program("study", "study.yaml", *arguments, **keywords)

    def begin(self, *arguments):
        return subprocess.Popen([options.program, "study", "study.yaml", *arguments], cwd=self.folder,
                                env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, text=STUDY, *arguments, **keywords):
        self.write("study.yaml", text)
        return super().done("study", "study.yaml", *arguments, **keywords)

    def refused(self, text, *arguments, lines):
        self.write("study.yaml", text)
        super().refused("study", "study.yaml", *arguments, lines=lines)

    def rows(self, name="runs.csv", folder="study"):
        with open(self.folder / folder / name, newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        for line in lines:
            self.assertEqual(len(line), len(lines[0]))
        self.assertEqual(len(set(lines[0])), len(lines[0]), "a column stands twice")
        first = {column: i for i, column in enumerate(lines[0])}
        return [{column: line[i] for column, i in first.items()} for line in lines[1:]]

    def points_jsonl(self):
        return [json.loads(line) for line in (self.folder / "study/points.jsonl").read_text().splitlines()]

    def counts(self, folder="study"):
        return collections.Counter((row["kind"], row["status"]) for row in self.rows(folder=folder))

    def write_slow_case(self):
        self.write("case.yaml", SLOW_CASE + ("execution: {space: serial}\n" if self.has_device() else ""))

    def children(self):
        """Commands of all processes whose working folder is this test's."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                if os.readlink(process / "cwd") == str(self.folder):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return found

    def expect_no_children(self):
        """No run outlives its study; what was just begun or killed may be there for a moment."""
        end = time.monotonic() + 300
        while (left := self.children()) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, [])


class WholeStudies(Folder):
    def test_every_point_every_repeat_one_row_each(self):
        result = self.done()
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("warmup", "ok"): 2, ("timed", "ok"): 4,
                                         ("timed", "not run"): 2})
        rows = self.rows()
        self.assertEqual([int(row["run"]) for row in rows], list(range(1, 10)))
        self.assertEqual({row["problem"] for row in rows}, {rows[0]["problem"]})
        for row in rows:
            if row["status"] == "not run":
                self.assertIn("1 rank x 100,000 threads need 100,000 hardware threads", row["why"])
                self.assertEqual(row["field_seconds"], "")
                continue
            self.assertEqual(row["why"], "")
            self.assertRegex(row["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertGreater(float(row["field_seconds"]), 0)
            self.assertGreater(float(row["process_seconds"]), float(row["total_seconds"]))
            self.assertGreater(float(row["processor_seconds"]), 0)
            self.assertGreater(int(row["peak_memory_bytes"]), 1e6)
            self.assertEqual(int(row["pairs"]), sum(int(row[c]) for c in row if c.startswith("pairs_") and "per" not in c))
            if row["kind"] != "reference":
                self.assertLess(float(row["largest_error"]), 1e-12)
                self.assertEqual(row["slots"], row["execution.slots"])
        errors = self.rows("errors.csv")
        self.assertEqual(sorted((row["point"], row["field"]) for row in errors),
                         sorted((point, field) for point in "13" for field in ("gz", "gxx", "gyy", "gzz")))
        machine = json.loads((self.folder / "study/machine.json").read_text())
        self.assertEqual(machine["reduced"], False)
        self.assertRegex(machine["study_hash"], "^[0-9a-f]{16}$")
        self.assertGreaterEqual(machine["cores"], 1)
        # nothing else of the study stays, and nothing of its case's output comes
        self.assertEqual([name for name in self.paths() if "never" in name or "work" in name or "logs" in name], [])
        self.assertIn("study/runs.csv: 7 runs made now; of 9 rows in all: 7 ok, 2 not run", result.stdout)
        self.assertIn("note: not run: point 2 (1, 100000), point 4 (2, 100000): ", result.stderr)

    def test_a_study_without_axes_is_one_point(self):
        self.done("base: case.yaml\nrepeats: 1\nwarmup: 0\n")
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("timed", "ok"): 1})

    def test_the_case_may_stand_in_the_study(self):
        case = "".join("  " + line + "\n" for line in CASE.splitlines())
        self.done("base:\n" + case + "repeats: 1\nwarmup: 0\n")
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("timed", "ok"): 1})

    def test_a_report_repeats_itself(self):
        self.write("data/bodies.csv", "west,east,south,north,bottom,top,density\n0,9,0,9,-9,-1,300\n")
        self.write("data/case.yaml", "model: {prisms: {file: bodies.csv}}\nobservations: {stations: {random: 3}}\n")
        self.done("base: data/case.yaml\nrepeats: 1\nwarmup: 0\n", "--output", "first report")
        self.assertNotIn(str(self.folder), (self.folder / "first report/study.yaml").read_text())
        again = self.run_program("study", "first report/study.yaml", "--output", "second")
        self.assertEqual(again.returncode, 0, again.stderr)
        first, second = (json.loads((self.folder / name / "machine.json").read_text())
                         for name in ("first report", "second"))
        self.assertEqual(first["study_hash"], second["study_hash"])

    def test_reduced_and_set(self):
        text = STUDY + "reduced: {repeats: 1, observations.grid.easting: [0, 1000, 3], sweep.threads: [1]}\n"
        self.done(text, "--reduced", "--set", "warmup=0", "--set", "sweep.execution.slots=[1]", "--set", "fields=[gz]")
        rows = self.rows()
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("timed", "ok"): 1})
        self.assertEqual(json.loads((self.folder / "study/machine.json").read_text())["reduced"], True)
        self.assertEqual({row["field"] for row in self.rows("errors.csv")}, {"gz"})
        cases = sorted((self.folder / "study/cases").iterdir())
        self.assertEqual(len(cases), 2)
        self.assertEqual(len(rows), 2)

    def test_check_and_dry_run_make_nothing(self):
        self.write("study.yaml", STUDY)
        before = self.paths()
        check = self.run_program("study", "study.yaml", "--check")
        self.assertEqual((check.returncode, check.stderr), (0, ""))
        self.assertTrue(check.stdout.startswith("study.yaml: no errors found; 4 points, 6 runs and 1 reference\n"))
        self.assertIn("  not run: point 2 (1, 100000), point 4 (2, 100000): 1 rank x 100,000 threads need", check.stdout)
        dry = self.run_program("study", "study.yaml", "--dry-run")
        self.assertEqual((dry.returncode, dry.stderr), (0, ""))
        self.assertIn("OMP_NUM_THREADS=1 ", dry.stdout)
        self.assertIn(" run CASE.yaml --quiet --output RESULT.h5", dry.stdout)
        self.assertEqual(self.paths(), before)

    def test_quiet_says_nothing(self):
        result = self.done(STUDY.replace("[1, 100000]", "[1]"), "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_results_that_are_asked_for_are_kept(self):
        self.done(STUDY + "maps: [gz]\nhistogram: true\nbusy: true\ntrace: true\n")
        kept = [name for name in self.paths() if name.startswith("study/results/")]
        self.assertEqual(len(kept), 3)
        points = sorted(self.points_jsonl(), key=lambda point: point["point"])
        self.assertEqual([point["maps"] for point in points],
                         [[{"file": f"results/point-{number}.h5", "fields": ["gz"]}] for number in (1, 3)])
        n = 12 * 11
        for point in points:
            (mine,) = [row for row in point["histograms"] if row["field"] == "gz"]
            self.assertEqual(sum(mine["negative"]) + mine["equal"] + sum(mine["positive"]), n)
            self.assertGreater(len(point["busy"]), 0)
            (trace,) = point["trace"]
            self.assertEqual((trace["where"], trace["n"]), ("outside", n))
            self.assertLess(trace["largest"], 1e-12 * trace["scale"])

    def test_ranks(self):
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        text = STUDY.replace("threads: [1, 100000]", "ranks: [1, 2]") + "oversubscribe: true\nreference: {threads: 1}\n"
        result = self.study(text)
        if "this build has no MPI" in result.stderr:
            self.skipTest("a build without MPI")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.counts()["timed", "ok"], 8, self.rows())
        for row in self.rows():
            if row["kind"] != "reference":
                self.assertEqual(row["axis.ranks"], row["ranks"])


SENSITIVITY = """\
base: case.yaml
command: sensitivity
sweep:
  fields: [gz, [gz, gzz]]
  storage:
    - {label: anew, sensitivity.store: none}
    - {label: kept, sensitivity.store: memory, sensitivity.precision: double}
    - {label: rounded, sensitivity.store: memory, sensitivity.precision: float}
repeats: 2
warmup: 0
tolerance: 1e-6
baseline: {storage: anew}
figure: {x: storage, y: pays_after}
"""

INVERSION = """\
base: case.yaml
command: invert
sweep:
  storage:
    - {label: anew, sensitivity.store: none}
    - {label: kept, sensitivity.store: memory, sensitivity.precision: double}
    - {label: rounded, sensitivity.store: memory, sensitivity.precision: float16}
  inversion.bounds: [[-1000, 1000], [0, 400]]
repeats: 2
warmup: 0
tolerance: 0.02
baseline: {storage: anew}
figure: {x: storage, y: chi}
"""


class OtherCommands(Folder):
    """Studies whose runs are those of sensitivity and invert."""

    case = CASE + "sensitivity: {file: never.h5}\n" + """\
inversion:
  data: {file: data/data.csv, fields: [gz]}
"""

    def setUp(self):
        super().setUp()
        (self.folder / "data").mkdir()
        self.run_program("run", "case.yaml", "--quiet", "--set", "output={file: data/data.csv}", "--set",
                         "observations.noise={gz: 0.02}")
        self.assertTrue((self.folder / "data/data.csv").exists())

    def points(self):
        return json.loads((self.folder / "study/study.json").read_text())["points"]

    def test_products_of_stored_sensitivities(self):
        self.done(SENSITIVITY)
        self.assertEqual(self.counts(), {("reference", "ok"): 2, ("timed", "ok"): 12})
        for row in self.rows():
            if row["kind"] == "reference":
                self.assertEqual((row["stored_bytes"], row["pays_after"]), ("", ""), "it is a run")
                continue
            fields = 1 if row["fields"] == "gz" else 2
            entries = fields * 12 * 11 * 20 * 20 * 10
            bytes_of = {"anew": 0, "kept": 8 * entries, "rounded": 4 * entries}[row["storage"]]
            # tiles are filled up
            self.assertTrue(bytes_of <= float(row["stored_bytes"] or 0) <= 1.2 * bytes_of, row)
            self.assertGreater(float(row["field_seconds"]), 0)
            self.assertGreater(float(row["transposed_seconds"]), 0)
            self.assertEqual(row["anew_seconds"] == "", row["storage"] == "anew")
            if row["pays_after"] != "":
                self.assertGreaterEqual(float(row["pays_after"]), 1)
            self.assertLess(float(row["largest_error"]), 1e-6 if row["storage"] == "rounded" else 1e-12)
            if row["storage"] == "rounded":
                self.assertGreater(float(row["largest_error"]), 1e-12)
        for point in self.points():
            self.assertGreater(point["speed_up"]["value"], 0)
            self.assertIn(point["labels"]["storage"], ("anew", "kept", "rounded"))
            self.assertEqual(point["chi"], None)
            self.assertEqual(point["arithmetic_rate"], None)
        self.assertEqual([name for name in self.paths() if "never" in name], [])
        text = (self.folder / "study/tables.md").read_text()
        self.assertIn("| G m (s) |", text)
        self.assertIn("| pays after |", text)
        before = self.rows()
        result = self.done(SENSITIVITY, "--resume")
        self.assertIn("0 runs made now", result.stdout)
        self.assertEqual(self.rows(), before)

    def test_inversions(self):
        self.done(INVERSION)
        self.assertEqual(self.counts(), {("reference", "ok"): 2, ("timed", "ok"): 12})
        chis = collections.defaultdict(set)
        for row in self.rows():
            self.assertAlmostEqual(float(row["residual_rms"]) ** 2, float(row["chi"]), places=9)
            self.assertLess(abs(float(row["chi"]) - 1), 0.021)
            self.assertEqual(int(row["pairs"]), 12 * 11 * 20 * 20 * 10)
            self.assertGreaterEqual(float(row["products"]), float(row["solutions"]))
            if row["kind"] == "reference":
                continue
            self.assertEqual(row["stored_bytes"] == "", row["storage"] == "anew")
            self.assertLess(float(row["largest_error"]), 0.02)
            chis[row["inversion.bounds"]].add(round(float(row["chi"]), 3))
        self.assertEqual({bounds: len(own) for bounds, own in chis.items()}, {"[-1000, 1000]": 1, "[0, 400]": 1})
        for point in self.points():
            self.assertAlmostEqual(point["chi"], 1, delta=0.021)
        self.assertIn("| inversion (s) |", (self.folder / "study/tables.md").read_text())
        # the study as it was run is one that runs
        shutil.copy(self.folder / "study/study.yaml", self.folder / "again.yaml")
        text = (self.folder / "again.yaml").read_text()
        self.assertIn("command: invert", text)

    def test_a_model_that_is_another_has_no_speed(self):
        self.done(INVERSION.replace("0.02", "1e-9"))
        statuses = {(row["storage"], row["status"]) for row in self.rows() if row["kind"] == "timed"}
        self.assertIn(("rounded", "wrong"), statuses)
        self.assertIn(("kept", "ok"), statuses)
        for row in self.rows():
            if row["status"] == "wrong":
                self.assertRegex(row["why"], r"^its model differs from the reference by \S+ of its largest value, 1e-09 is "
                                             r"allowed$")

    def test_an_inversion_that_fails_is_told(self):
        result = self.study(INVERSION.replace("[-1000, 1000]", "[-0.001, 0.001]"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("the target was not reached", result.stderr)

    def test_check_and_dry_run(self):
        for text, word in ((SENSITIVITY, "sensitivity"), (INVERSION, "invert")):
            before = self.paths()
            self.assertIn("6 points, 12 runs and 2 references", self.done(text, "--check").stdout)
            dry = self.done(text, "--dry-run").stdout
            self.assertIn(f"prismfield {word} CASE.yaml", dry)
            self.assertNotIn("nan", dry)
            self.assertEqual(self.paths(), sorted({*before, "study.yaml"}))

    def test_mistakes(self):
        self.refused("base: case.yaml\ncommand: runn\n",
                     lines=["study.yaml:2: command: is 'runn'; did you mean run? Allowed: run, sensitivity, invert"])
        no_fields = "needs the fields of a run, and an inversion has none; leave it out"
        self.refused("base: case.yaml\ncommand: invert\ntrace: true\nhistogram: true\nbusy: true\nmaps: [gz]\n",
                     lines=[f"study.yaml:3: trace: {no_fields}", f"study.yaml:4: histogram: {no_fields}",
                            "study.yaml:5: busy: needs slots, which the command run alone has",
                            f"study.yaml:6: maps: {no_fields}"])
        self.refused("base: case.yaml\nsweep: {threads: [1]}\nfigure: {x: threads, y: chi}\n",
                     lines=["study.yaml:3: figure.y: is 'chi'; allowed: field_seconds, pairs_per_second, speed_up, "
                            "efficiency, error, memory, scratch, time"])
        self.refused("base: case.yaml\ncommand: invert\nsweep: {sensitivity.store: [memory, disk]}\n",
                     lines=["study.yaml:3: sensitivity.store: is 'disk'; allowed: auto, memory, device, file, none"])
        self.refused("base: case.yaml\ncommand: invert\nsweep: {sensitivity.store: [file]}\n",
                     lines=["study.yaml:3: sensitivity.store: is file, but no file is named; write file: G.h5 beside it"])
        self.refused("base: case.yaml\ncommand: invert\nsweep: {sensitivity.file: [G.h5], observations.noise.gz: [1]}\n",
                     lines=["study.yaml:3: sweep.sensitivity.file.0: changes nothing that a study measures; take sensitivity "
                            "out", "study.yaml:3: sweep.observations.noise.gz.0: changes nothing that a study measures; take "
                            "observations out"])
        self.refused("base: case.yaml\ncommand: sensitivity\nsweep: {inversion.norm: [1, 2]}\n",
                     lines=[f"study.yaml:3: sweep.inversion.norm.{i}: changes nothing that a study measures; take inversion out"
                            for i in (0, 1)])
        (self.folder / "data/data.csv").unlink()
        self.write("study.yaml", "base: case.yaml\ncommand: invert\n")
        result = self.run_program("study", "study.yaml", "--check")
        self.assertEqual(result.returncode, 2)
        self.assertIn("inversion.data.file: 'data/data.csv' cannot be read: there is no such file", result.stderr)


class RunsThatGoWrong(Folder):
    def test_wrong_fields_have_no_place_among_the_right(self):
        result = self.done("base: case.yaml\nsweep: {execution.precision: [double, single]}\nrepeats: 1\nwarmup: 0\n")
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("timed", "ok"): 1, ("timed", "wrong"): 1})
        wrong = next(row for row in self.rows() if row["status"] == "wrong")
        self.assertRegex(wrong["why"], r"^g\w+ differs from the reference by .* of its largest value, 1e-09 is allowed$")
        self.assertGreater(float(wrong["largest_error"]), 1e-9)
        self.assertNotEqual(wrong["field_seconds"], "")
        self.assertIn("warning: no speed, beyond the tolerance: point 2 (single): ", result.stderr)

    def test_a_run_that_fails_is_told_and_kept_apart(self):
        text = ("base: case.yaml\nsweep: {ranks: [1, 2]}\nrepeats: 3\noversubscribe: true\n"
                "launcher: [sh, -c, 'echo no luck; exit 5', '{ranks}', '{program}']\n")
        result = self.study(text)
        if "this build has no MPI" in result.stderr:
            self.skipTest("a build without MPI")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.counts(), {("reference", "ok"): 1, ("warmup", "ok"): 1, ("timed", "ok"): 3,
                                         ("warmup", "failed"): 1, ("timed", "failed"): 3})
        failed = [row["why"] for row in self.rows() if row["status"] == "failed"]
        self.assertEqual(failed[:2], ["ended with 5: no luck"] * 2)
        self.assertRegex(failed[2], r"^not tried again after run \d+ failed too$")
        self.assertIn("error: failed: point 2 (2): ended with 5: no luck", result.stderr)
        self.assertIn("error: study/logs has what these runs printed", result.stderr)
        logs = sorted((self.folder / "study/logs").iterdir())
        self.assertEqual([log.read_text() for log in logs], ["no luck\n"] * 2)
        # what failed is tried again, with a new reference, and nothing else
        again = self.study(text, "--resume")
        self.assertEqual(again.returncode, 1)
        self.assertIn("3 runs made now", again.stdout)
        self.assertEqual(self.counts()["timed", "failed"], 3)

    def test_without_a_reference_nothing_is_run(self):
        self.write("bodies.csv", "west,east,south,north,bottom,top,density\n0,9,0,9,-1,-9,300\n")
        self.write("case.yaml", "model: {prisms: {file: bodies.csv}}\nobservations: {stations: {random: 3}}\n")
        result = self.study("base: case.yaml\nsweep: {threads: [1, 2]}\n")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.counts(), {("reference", "failed"): 1, ("timed", "not run"): 2})
        self.assertIn("error: failed: the reference: ended with 2: ", result.stderr)
        self.assertIn("../bodies.csv:2", self.rows()[0]["why"])

    def test_a_run_that_takes_too_much_memory_is_not_run(self):
        text = "base: case.yaml\nsweep: {observations.grid.easting: [[0, 1, 3], [0, 1, 300000000]]}\nrepeats: 1\n"
        result = self.done(text)
        counts = self.counts()
        self.assertEqual(counts["timed", "ok"], 1, self.rows())
        self.assertEqual(counts["timed", "not run"], 1, self.rows())
        self.assertIn("of memory, but there are", result.stderr)

    def test_a_budget_that_is_spent_is_told_and_can_grow(self):
        text = "base: case.yaml\nsweep: {threads: [1]}\nrepeats: 30\ntime_budget: 300 ms\n"
        result = self.done(text)
        counts = self.counts()
        self.assertGreater(counts["timed", "out of budget"], 0)
        self.assertEqual(counts["timed", "ok"] + counts["timed", "out of budget"], 30)
        self.assertIn("warning: the time budget was spent: 1 point is without all of their repeats", result.stderr)
        before = [row for row in self.rows() if row["status"] == "ok"]
        self.done(text.replace("300 ms", "1 h").replace("repeats: 30", "repeats: 31"), "--resume")
        self.assertEqual(self.counts()["timed", "ok"], 31)
        after = self.rows()
        for row in before:
            if row["kind"] != "reference":
                self.assertIn(row, after)

    def test_a_reference_may_spend_the_budget(self):
        self.done("base: case.yaml\nsweep: {threads: [1]}\ntime_budget: 1 ms\n")
        counts = self.counts()
        self.assertEqual(counts["reference", "ok"], 1)
        self.assertEqual(sum(n for (_, status), n in counts.items() if status == "out of budget"), 6)
        self.assertEqual(sum(counts.values()), 7)

    def test_axes_of_a_section_are_those_of_its_keys(self):
        self.done("base: case.yaml\nsweep:\n  execution: {slots: [1, 2], precision: [double]}\nrepeats: 1\nwarmup: 0\n")
        self.assertEqual(sorted((row["execution.slots"], row["execution.precision"]) for row in self.rows())[1:],
                         [("1", "double"), ("2", "double")])
        with open(self.folder / "study" / "study.json", encoding="utf-8") as file:
            self.assertEqual([axis["name"] for axis in json.load(file)["axes"]],
                             ["execution.slots", "execution.precision"])


class KilledStudies(Folder):
    TEXT = ("base: case.yaml\nsweep: {execution.slots: [1, 2, 3], threads: [1, 2, 100000]}\nrepeats: 2\n"
            "oversubscribe: false\nbusy: true\ntolerance: 1e-12\nhistogram: true\n")

    def check_table(self, undisturbed):
        rows = self.rows()
        keys = [(row["kind"], row["point"], row["repeat"], row["status"]) for row in rows]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(sorted(keys), undisturbed)
        numbers = [int(row["run"]) for row in rows]
        self.assertEqual(len(numbers), len(set(numbers)))
        points = self.points_jsonl()
        self.assertEqual(sorted(str(point["point"]) for point in points),
                         sorted({row["point"] for row in rows if row["status"] == "ok"} - {"0"}))
        for point in points:
            self.assertEqual([len(point[name]) for name in ("errors", "histograms")], [4, 4])
        keys = [(row["point"], row["field"]) for row in self.rows("errors.csv")]
        self.assertEqual(sorted(keys), sorted((str(p["point"]), e["field"]) for p in points for e in p["errors"]))

    def test_killed_at_random_moments_and_resumed(self):
        self.done(self.TEXT)
        undisturbed = sorted((row["kind"], row["point"], row["repeat"], row["status"]) for row in self.rows())
        shutil.rmtree(self.folder / "study")
        dice = random.Random(options.seed)
        print(f"seed {options.seed}", file=sys.stderr)
        runs = self.folder / "study/runs.csv"

        def n_rows():
            return len(runs.read_text(encoding="utf-8").splitlines()) if runs.exists() else 0

        for kill in range(options.kills):
            study = self.begin("--resume", "--quiet")
            # after so many rows more, at once or while the next run computes
            wanted = n_rows() + dice.randrange(5)
            wait_for(lambda: n_rows() >= wanted, study)
            if dice.random() < 0.5:
                wait_for(lambda: len(self.children()) > 1, study)
            study.kill()
            study.communicate()
            if study.returncode == 0:
                self.check_table(undisturbed)
                shutil.rmtree(self.folder / "study")
                continue
            self.assertEqual(study.returncode, -signal.SIGKILL)
            self.expect_no_children()
        result = self.study(self.TEXT, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check_table(undisturbed)
        self.assertFalse((self.folder / "study/work").exists())

    def test_signals_end_the_run_and_keep_what_was_done(self):
        self.write("study.yaml", self.TEXT)
        for which in (signal.SIGINT, signal.SIGTERM):
            study = self.begin("--output", which.name)
            runs = self.folder / which.name / "runs.csv"
            self.assertTrue(wait_for(lambda: runs.exists() and len(runs.read_text().splitlines()) > 5, study))
            study.send_signal(which)
            out, err = study.communicate(timeout=300)
            self.assertEqual(study.returncode, 130, err)
            self.assertIn(f"{which.name} holds the runs that were made, --resume goes on from them", err)
            self.expect_no_children()
            before = self.rows(folder=which.name)
            again = self.run_program("study", "study.yaml", "--output", which.name, "--resume")
            self.assertEqual(again.returncode, 0, again.stderr)
            after = self.rows(folder=which.name)
            for row in before:
                if row["status"] == "ok":
                    self.assertIn(row, after)
            self.assertEqual(self.counts(which.name)["timed", "ok"], 12 if (os.cpu_count() or 1) > 1 else 6)

    def test_a_complete_study_makes_nothing_again(self):
        self.done()
        before = self.rows()
        result = self.done(STUDY, "--resume")
        self.assertIn("0 runs made now", result.stdout)
        self.assertEqual(sorted(map(str, self.rows())), sorted(map(str, before)))
        # titles, figures and repeats may change
        self.done(STUDY.replace("Small", "Same").replace("repeats: 2", "repeats: 3"), "--resume")
        self.assertEqual(self.counts()["timed", "ok"], 6)

    def test_another_tolerance_judges_the_runs_that_there_are(self):
        text = STUDY.replace("execution.slots: [1, 2]", "execution.precision: [double, single]").replace(", 100000", "")
        warning = "warning: 1 point is in single precision, whose errors are 1e-7 to 1e-06 of the largest value"
        self.assertIn(warning, self.study(text, "--dry-run").stderr)
        self.assertIn(warning, self.done(text).stderr)
        n = self.counts()["timed", "wrong"]
        self.assertEqual((n, self.counts()["timed", "ok"]), (2, 2))
        why = {row["why"] for row in self.rows() if row["status"] == "wrong"}
        for tolerance, wrong in (("1e-4", 0), ("1e-12", 2)):
            result = self.done(text, "--resume", "--set", "tolerance=" + tolerance)
            self.assertIn("0 runs made now", result.stdout)
            self.assertEqual(warning in result.stderr, wrong > 0)
            self.assertEqual(self.counts()["timed", "wrong"], wrong)
        again = {row["why"] for row in self.rows() if row["status"] == "wrong"}
        self.assertEqual({text.split(" differs")[1] for text in again}, {text.split(" differs")[1] for text in why})

    def test_without_resume_the_old_tables_move_aside(self):
        self.done()
        before = (self.folder / "study/runs.csv").read_text()
        result = self.done()
        self.assertIn("warning: study has runs of this study, which are replaced; --resume goes on from them. Their tables "
                      "stay in study/previous", result.stderr)
        self.assertEqual((self.folder / "study/previous/runs.csv").read_text(), before)

    def test_resume_without_a_study_begins(self):
        result = self.done(STUDY, "--resume")
        self.assertIn("study: no runs yet, the study begins at its start", result.stdout)

    def test_tables_that_were_changed_end_clearly(self):
        self.done()
        runs = self.folder / "study/runs.csv"
        lines = runs.read_text().splitlines(keepends=True)
        runs.write_text("".join(lines[:2]) + "3,two\n" + lines[3])
        result = self.study(STUDY, "--resume")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.splitlines()[-1],
                         "study/runs.csv:3: cannot be read")
        self.assertEqual(runs.read_text().splitlines()[2], "3,two")

    def test_tables_without_runs_begin_anew(self):
        # as when a study is killed while it moves the tables of the one that it replaces
        self.done()
        before = self.rows("errors.csv")
        (self.folder / "study/runs.csv").unlink()
        self.done(STUDY, "--resume")
        self.assertEqual(len(self.rows("errors.csv")), len(before))

    def test_progress_cuts_no_letter_in_two(self):
        self.write("study.yaml", "base: case.yaml\nsweep:\n  point: [{label: %s, execution.slots: 1}]\n" % ("ü" * 25))
        terminal, end = os.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 71, 0, 0))
        study = subprocess.Popen([options.program, "study", "study.yaml"], cwd=self.folder, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=end)
        os.close(end)
        shown = b""
        # a terminal that nobody reads stops the program
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 1 << 16):
                shown += piece
        os.close(terminal)
        self.assertEqual(study.wait(600), 0)
        lines = shown.decode("utf-8").replace("\n", "\r").split("\r")
        self.assertTrue(any("ü" in line for line in lines))
        self.assertLess(max(len(line) for line in lines), 80)

    def test_one_study_a_folder(self):
        self.write_slow_case()
        self.write("study.yaml", "base: case.yaml\nreference: {execution.kernel: corners}\n")
        first = self.begin()
        self.assertTrue(wait_for((self.folder / "study/runs.csv").exists, first))
        others = [self.run_program("study", "study.yaml", "--resume"), self.run_program("study", "study.yaml")]
        first.terminate()
        first.communicate(timeout=300)
        for other in others:
            self.assertEqual(other.returncode, 2)
            self.assertEqual(other.stderr, "study.yaml: report: study is used by another study; wait for its end, or "
                                           "choose another folder by --output\n")


class MissingModules(Folder):
    """A module that a report needs is in no Python."""

    TEXT = "base: case.yaml\nsweep: {threads: [1]}\nrepeats: 1\nwarmup: 0\n"

    def hide(self, module):
        self.write(f"absent/{module}.py", f"raise ImportError('{module} is hidden')\n")
        self.environment["PYTHONPATH"] = str(self.folder / "absent")

    def test_nothing_is_made(self):
        self.hide("numpy")
        self.refused_without(self.TEXT, "NumPy, h5py and PyYAML", "numpy")
        self.write("a/study.json", "{}")
        self.refused_without(self.TEXT, "NumPy, h5py and PyYAML", "numpy", "--join", "a", "b")

    def refused_without(self, text, names, hidden, *arguments):
        self.write("study.yaml", text)
        before = self.paths()
        result = self.run_program("study", *(arguments or ("study.yaml",)))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, rf"^error: a study needs Python: no Python with {names} \(.*{hidden} is hidden.*\); "
                                        r"name one in PRISMFIELD_PYTHON or install python3-numpy, python3-h5py and "
                                        r"python3-yaml\n$")
        self.assertEqual(self.paths(), before)

    def test_without_matplotlib_there_is_all_but_figures(self):
        self.hide("matplotlib")
        result = self.done(self.TEXT)
        self.assertRegex(result.stderr, r"\nwarning: no figures in study: no Python with matplotlib and Jinja2 "
                                        r"\(matplotlib is hidden\);"
                                        r" name one in PRISMFIELD_PYTHON or install python3-matplotlib and python3-jinja2\n$")
        self.assertIn("field time (s)", result.stdout)
        for name in ("study.json", "study.h5", "tables.md", "tables.tex"):
            self.assertTrue((self.folder / "study" / name).exists(), name)
        self.assertFalse((self.folder / "study/report.html").exists())


class JoinedStudies(Folder):
    TEXT = "base: case.yaml\nsweep: {threads: [1]}\nrepeats: 1\nwarmup: 0\n"

    def test_folders_that_are_joined_stay_as_they_are(self):
        for folder in ("a", "b"):
            self.done(self.TEXT, "--output", folder, "--quiet")
        self.write("other/study.json", '{"schema": 3}')
        for output in ("a", "b/figures", "other", "other/study.json"):
            before = {name: (self.folder / name).stat().st_mtime_ns for name in self.paths()}
            result = self.run_program("study", "--join", "a", "b", "--output", output)
            self.assertEqual(result.stderr, f"--output: {output} holds something else than a joined report; name another "
                                            "folder\n")
            self.assertEqual(result.returncode, 2)
            self.assertEqual({name: (self.folder / name).stat().st_mtime_ns for name in self.paths()}, before)
        for _ in range(2):
            result = self.run_program("study", "--join", "a", "b", "--output", "a/joined", "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
        result = self.run_program("study", "--join", "a", "./a", "--output", "c")
        self.assertEqual((result.returncode, result.stderr), (2, "--join: names ./a twice; its runs count once\n"))
        self.assertFalse((self.folder / "c").exists())


class Mistakes(Folder):
    def test_all_at_once(self):
        self.refused("base: case.yaml\nrepeat: 3\nsweep:\n  execution.precision: [double, duoble]\n  threads: [none]\n",
                     lines=["study.yaml:2: repeat: is no known key; did you mean repeats? Allowed: title, base, "
                            "command, sweep, repeats, warmup, time_budget, order, seed, tolerance, reference, launcher, "
                            "oversubscribe, baseline, scaling, weak, trace, histogram, busy, maps, figure, "
                            "compare_with, reduced, report",
                            "study.yaml:5: sweep.threads.0: is 'none'; a whole number is expected"])
        self.refused("base: case.yaml\nsweep:\n  execution.precision: [double, duoble]\n  model.voxels.density: [many]\n",
                     lines=["study.yaml:3: execution.precision: is 'duoble'; did you mean double? Allowed: double, single",
                            "study.yaml:4: model.voxels.density: is 'many'; a number, {random: [min, max], seed: 1} or "
                            "{file: name} is expected"])

    def test_what_leaves_the_working_folder_or_starts_programs_is_said(self):
        (self.folder / "deep").mkdir()
        for report, warned in (("../elsewhere", True), ("deep/../here", False), (str(self.folder / "here"), False),
                               ("deep/../../elsewhere", True)):
            self.write("study.yaml", STUDY + f"report: {report}\nlauncher: 'mpirun -n {{ranks}} {{program}}'\n")
            result = self.run_program("study", "study.yaml", "--check")
            self.assertEqual(result.returncode, 0, result.stderr)
            outside = f"report of study.yaml is outside the working folder: {self.folder.resolve().parent / 'elsewhere'}\n"
            self.assertEqual(result.stderr, f"warning: {outside}" if warned else "")
            self.assertIn("\n  ranks are started by: mpirun -n {ranks} {program}\n", result.stdout)
        # the user's own choice
        result = self.run_program("study", "study.yaml", "--check", "--output", "../elsewhere")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_folders_of_others_stay(self):
        self.write("mine/thesis.txt", "years of work")
        self.refused(STUDY + "report: mine\n",
                     lines=["study.yaml:8: report: mine holds files that are no report of a study, and is left alone; "
                            "choose another folder by --output"])
        self.refused(STUDY, "--output", "none/study",
                     lines=["--output: none/study cannot be made: the folder none does not exist; make it first"])
        self.done()
        self.write("study.yaml", STUDY + "seed: 3\n")
        result = self.run_program("study", "study.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "study.yaml: report: study holds another study, 'Small study', or this one with "
                                        "other points, inputs, rules or OMP_NUM_THREADS; choose another folder by "
                                        "--output\n")

    def test_arguments(self):
        cases = {
            (): "an argument is missing; write prismfield study STUDY.yaml or prismfield study --join DIR DIR",
            ("study.yaml", "--join", "a", "b"): "--join: makes a report of studies that were run; leave 'study.yaml' out",
            ("--join", "a"): "--join: names one folder; two or more are expected",
            ("--join", "a", "b", "--resume"): "--resume: goes with a study that is run, not with --join",
            ("none.yaml",): "none.yaml: there is no such file",
            ("study.yaml", "--reduce"): "--reduce: is no option of prismfield study; did you mean --reduced? There are: "
                                        "--help, --set, --reduced, --check, --dry-run, --resume, --quiet, --output, "
                                        "--machine, --join",
            ("study.yaml", "--output", ""): "--output: is empty; the name of a folder is expected",
        }
        self.write("study.yaml", STUDY)
        for arguments, message in cases.items():
            result = self.run_program("study", *arguments)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", message + "\n"), arguments)

    def test_names_of_any_kind(self):
        self.write("a 'b' é.yaml", CASE)
        result = self.done("base: \"a 'b' é.yaml\"\ntitle: 'x, \"y\"'\nsweep:\n  way:\n    - {label: 'a, \"b\"', "
                           "threads: 1}\nrepeats: 1\nwarmup: 0\n", "--output", "-dash, \"quote\" é", "--machine", "m\n1")
        self.assertIn("-dash", result.stdout)
        folder = "-dash, \"quote\" é"
        self.assertEqual([row["way"] for row in self.rows(folder=folder)][1:], ["a, \"b\""])
        self.assertEqual(json.loads((self.folder / folder / "machine.json").read_text())["name"], "m?1")


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=part_of(10, 3))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options, rest = parser.parse_known_args()
    options.program = ProgramFolder.program = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
