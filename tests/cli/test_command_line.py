# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What a user types and gets: exit codes, messages, streams, files. Needs Python's standard library alone.

Usage: test_command_line.py PRISMFIELD [--source FOLDER] [--mpiexec COMMAND]
"""

import argparse
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

options = None

CASE = """\
title: Small case
model:
  voxels:
    easting:  [0, 1000, 20]
    northing: [0, 1000, 20]
    upward:   [-500, 0, 10]
    spheres:
      - {center: [500, 500, -250], radius: 200, density: 300}
observations:
  grid:
    easting:  [0, 1000, 12]
    northing: [0, 1000, 11]
    upward: 10
fields: [gz, gzz]
"""

# Minutes on any machine, so that a signal finds it running.
LONG_CASE = """\
model:
  voxels: {easting: [0, 1000, 200], northing: [0, 1000, 200], upward: [-500, 0, 100], density: 300}
observations:
  grid: {easting: [0, 1000, 400], northing: [0, 1000, 400], upward: 10}
output: {file: long.h5}
"""


class Folder(unittest.TestCase):
    """A test in a new folder, which is also the working folder of the program."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_cli_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("case.yaml", CASE)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return path

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())

    def run_program(self, *arguments, launcher=(), **keywords):
        keywords.setdefault("cwd", self.folder)
        keywords.setdefault("timeout", 300)
        keywords.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(
            [*launcher, options.program, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **keywords
        )

    def done(self, *arguments, **keywords):
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, *arguments, lines, **keywords):
        """A mistake: code 2, exactly these lines on standard error, nothing on standard output, no new file."""
        before = self.files()
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.stderr.splitlines(), lines)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.files(), before)


class Help(Folder):
    def test_help_goes_to_standard_output(self):
        for arguments in (["--help"], ["-h"], ["run", "--help"], ["compare", "--help"], ["info", "--help"]):
            result = self.done(*arguments)
            self.assertIn("prismfield", result.stdout)
            self.assertIn("130 stopped by a signal", result.stdout)
            self.assertEqual(result.stderr, "")

    def test_version(self):
        self.assertRegex(self.done("--version").stdout, r"^prismfield \d+\.\d+\.\d+ \(\S+\)\n$")

    def test_info_tells_versions_and_spaces(self):
        text = self.done("info").stdout
        labels = ("prismfield", "compiler", "Kokkos", "Kokkos Kernels", "MPI", "HDF5", "execution spaces", "host", "device")
        for label in labels:
            self.assertRegex(text, rf"(?m)^{label}s? .*\S$")
        self.assertRegex(text, r"(?m)^Kokkos +\d+\.\d+\.\d+$")
        self.assertRegex(text, r"(?m)^execution spaces .*serial")

    def test_commands_of_later_versions_are_unknown(self):
        for command in ("study", "sensitivity", "invert", "convert"):
            self.refused(
                command,
                "case.yaml",
                lines=[
                    f"'{command}' is no command of this version; there are: run, compare, info "
                    "(prismfield --help tells more)"
                ],
            )


class Mistakes(Folder):
    def test_arguments(self):
        options_of_run = "There are: --help, --set, --check, --dry-run, --resume, --quiet, --output"
        self.refused(lines=["a command is missing; there are: run, compare, info (prismfield --help tells more)"])
        self.refused("run", lines=["an argument is missing; write prismfield run CASE.yaml"])
        self.refused(
            "run",
            "case.yaml",
            "--dryrun",
            lines=[f"--dryrun: is no option of prismfield run; did you mean --dry-run? {options_of_run}"],
        )
        self.refused("run", "nowhere.yaml", lines=["nowhere.yaml: there is no such file"])
        self.refused("run", ".", lines=[".: is a folder; a YAML file is expected"])

    def test_every_mistake_of_a_case_is_told_with_its_line(self):
        self.write(
            "wrong.yaml",
            CASE.replace("radius: 200", "radius: -200").replace("fields: [gz, gzz]", "fields: [gz, gz]\nexection: {}"),
        )
        self.refused(
            "run",
            "wrong.yaml",
            "--set",
            "execution.slots=1.5",
            lines=[
                "wrong.yaml:8: model.voxels.spheres.0.radius: is '-200'; a number above 0 is expected",
                "wrong.yaml:14: fields.1: repeats gz, which an earlier name of the list holds already",
                "wrong.yaml:15: exection: is no known key; did you mean execution? Allowed: title, "
                "gravitational_constant, axes, model, observations, fields, execution, output, sensitivity, inversion",
                "--set execution.slots: is '1.5'; auto or a whole number is expected",
            ],
        )

    def test_mistakes_of_all_inputs_come_together(self):
        result = self.run_program(
            "run", "case.yaml", "--set", "execution.space=cuda", "--set", "model.voxels=null", "--set",
            "model.prisms.file=none.csv", "--set", "observations.grid.upward={file: none.nc}", "--output", "no/x.h5",
        )
        self.assertEqual(result.returncode, 2)
        for key in ("model.prisms.file", "observations.grid.upward", "output.file"):
            self.assertIn(f" {key}", result.stderr)
        self.assertIn("--output output.file: ", result.stderr)
        self.assertEqual(self.files(), ["case.yaml"])

    def test_a_space_that_was_not_built(self):
        spaces = re.search(r"(?m)^execution spaces +([^;]*);", self.done("info").stdout).group(1).split(", ")
        missing = next((s for s in ("hip", "cuda", "openmp", "serial") if s not in spaces), None)
        if missing is None:
            self.skipTest("every space was built")
        self.refused(
            "run",
            "case.yaml",
            "--check",
            "--set",
            f"execution.space={missing}",
            lines=[
                f"--set execution.space: is {missing}, which was not built into this prismfield; allowed: default, "
                + ", ".join(spaces)
            ],
        )

    def test_nothing_that_a_file_holds_commands_the_terminal(self):
        """Escape sequences of seven and of eight bits, and characters that turn text round, wherever text comes from."""
        escape, turn = "\x1b]0;owned\x07\x1b[2J", "\u202e\u2066\x9b2J"
        evil = self.write(f"{escape}{turn}.csv", f"west{escape},east{turn}\n1,2\n")
        named = self.write(f"case{escape}.yaml", CASE)
        stations = CASE[: CASE.index("observations:")] + "observations: {stations: {file: stations.csv}}\n"
        self.write("stations.yaml", stations)
        self.write("stations.csv", f"easting,northing,upward,{escape}{turn}\n1,2,{escape}\n3,4,5{turn}\n")
        self.write("keys.yaml", CASE.replace("fields:", '"\\x1b[2J\\u202e": 1\nfields:'))
        self.write("title.yaml", CASE.replace("Small case", '"\\e[2J\\x9b"'))
        for arguments, code in (
            (("run", "case.yaml", "--set", f"model={{prisms: {{file: '{evil.name}'}}}}"), 2),
            (("run", "case.yaml", "--set", 'model={prisms: {file: "\\e[2J.csv"}}'), 2),
            (("run", "stations.yaml"), 2),
            (("run", "keys.yaml"), 2),
            (("run", "title.yaml"), 2),
            (("run", named.name, "--check"), 0),
            (("run", named.name, "--dry-run", "--set", "title=null"), 0),
            (("run", named.name, "--set", "title=null", "--output", "out.h5"), 0),
            (("run", "case.yaml", "--output", f"{escape}.h5"), 2),
            (("run", f"none{escape}.yaml"), 2),
            (("compare", f"none{escape}.h5", evil.name), 2),
            (("run", "case.yaml", f"--{escape}"), 2),
            (("run", "case.yaml", "--set", f"{escape}{turn}"), 2),
        ):
            result = self.run_program(*arguments)
            self.assertEqual(result.returncode, code, (arguments, result.stderr))
            for character in result.stdout + result.stderr:
                printable = character == "\n" or 0x20 <= ord(character) < 0x7F or ord(character) > 0xA0
                self.assertTrue(printable and character not in "\u202e\u2066", (arguments, result.stdout, result.stderr))

    def test_a_hundred_mistakes_are_told(self):
        self.write("many.csv", "easting,northing,upward\n" + "x,y,z\n1,2\n1,2,nan\n1,2,1e999\n" * 5000)
        stations = CASE[: CASE.index("observations:")] + "observations: {stations: {file: many.csv}}\n"
        self.write("many.yaml", stations + "".join(f"wrong{i}: 1\n" for i in range(3000)))
        result = self.run_program("run", "many.yaml")
        self.assertEqual(result.returncode, 2)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 101)
        self.assertEqual(lines[-1], "and 2,900 more mistakes")

    def test_a_result_is_no_case(self):
        self.write("result.h5", b"\x89HDF\r\n\x1a\n" + bytes(100))
        self.refused(
            "run",
            "result.h5",
            lines=["result.h5:1: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"],
        )

    def test_points_beyond_the_memory_are_refused_before_they_are_made(self):
        self.refused_with("observations.grid", "--set", "observations.grid.easting=[0, 1, 3000000000]")

    def refused_with(self, key, *arguments):
        before = self.files()
        result = self.run_program("run", "case.yaml", "--check", *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(f"{key}: ", result.stderr)
        self.assertEqual(self.files(), before)

    def test_outputs_never_replace_inputs(self):
        before = (self.folder / "case.yaml").read_text()
        result = self.run_program("run", "case.yaml", "--output", "case.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output output.file: ", result.stderr)
        self.assertEqual((self.folder / "case.yaml").read_text(), before)

    def test_kokkos_options_that_kokkos_does_not_know(self):
        result = self.run_program("run", "case.yaml", "--kokkos-num-thread=2")
        self.assertEqual(result.returncode, 2)
        # Kokkos may say so too.
        self.assertEqual(
            result.stderr.splitlines()[-1], "--kokkos-num-thread=2: is no option of Kokkos; --kokkos-help lists them"
        )
        self.assertEqual(self.files(), ["case.yaml"])

    def test_mutated_cases_end_with_0_or_2(self):
        generator = random.Random(20240229)
        pieces = "[]{}:,-#&*!|>'\"% \n\t0123456789.eEabcxyz\\\u00c4"
        outcomes = {0: 0, 2: 0}
        for number in range(500):
            text = CASE
            for _ in range(generator.randint(1, 2)):
                at = generator.randrange(len(text))
                kind = generator.randrange(4)
                if kind == 0:
                    text = text[:at] + generator.choice(pieces) + text[at + 1 :]
                elif kind == 1:
                    text = text[:at] + generator.choice(pieces) + text[at:]
                elif kind == 2:
                    text = text[:at] + text[at + generator.randint(1, 15) :]
                else:
                    begin = generator.randrange(len(text))
                    text = text[:at] + text[begin : begin + generator.randint(1, 40)] + text[at:]
            self.write("mutant.yaml", text)
            result = self.run_program("run", "mutant.yaml", "--check")
            self.assertIn(result.returncode, (0, 2), f"{number}: {result.stderr}\n{text}")
            outcomes[result.returncode] += 1
            if result.returncode == 2:
                self.assertRegex(result.stderr, r"(?m)^mutant\.yaml", text)
        self.assertEqual(self.files(), ["case.yaml", "mutant.yaml"])
        self.assertGreater(min(outcomes.values()), 10, "the mutations test both outcomes")


class Run(Folder):
    def test_check_and_dry_run_write_nothing(self):
        result = self.done("run", "case.yaml", "--check")
        self.assertEqual(result.stdout, "case.yaml: no mistakes found\n")
        self.assertEqual(result.stderr, "")
        result = self.done("run", "case.yaml", "--dry-run")
        for label in ("model", "points", "fields", "pairs", "space", "partition", "slots", "tiles", "memory", "estimated time"):
            self.assertRegex(result.stdout, rf"(?m)^  {label} +\S")
        self.assertIn("132 points", result.stdout)
        self.assertEqual(self.done("run", "case.yaml", "--dry-run", "--quiet").stdout, "")
        self.assertEqual(self.files(), ["case.yaml"])

    def test_a_run_shows_what_it_does_and_writes_one_file(self):
        result = self.done("run", "case.yaml")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "Small case")
        self.assertIn("280 prisms", lines[1])
        self.assertEqual(lines[2], "grid 12 x 11, 132 points, 36,960 pairs")
        self.assertRegex(result.stdout, r"(?m)^gz +mGal +\S+ +\S+ +\S+$")
        self.assertRegex(result.stdout, r"(?m)^gzz +Eotvos +\S+ +\S+ +\S+$")
        self.assertNotRegex(result.stdout, r"(?m)^gx ")
        self.assertRegex(lines[-1], r"^case\.h5: 36,960 pairs in .*pairs/s")
        self.assertRegex(result.stderr, r"^(progress: [ 0-9]+ %.*\n)+$")
        self.assertIn("progress: 100 %", result.stderr)
        self.assertEqual(self.files(), ["case.h5", "case.yaml"])

    def test_quiet_prints_nothing(self):
        result = self.done("run", "case.yaml", "--quiet", "--output", "q.h5")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual(self.files(), ["case.yaml", "q.h5"])

    def test_output_goes_to_the_working_folder_and_inputs_come_from_the_case_s(self):
        inner = CASE.replace("upward: 10", "upward: {file: heights.csv}")
        self.write("cases/inner.yaml", inner)
        rows = ["easting,northing,upward"]
        rows += [f"{1000 * i / 11!r},{1000 * j / 10!r},10" for j in range(11) for i in range(12)]
        self.write("cases/heights.csv", "\n".join(rows) + "\n")
        self.done("run", "cases/inner.yaml", "--quiet")
        self.assertIn("inner.h5", self.files())
        self.done("run", "case.yaml", "--quiet")
        self.done("compare", "inner.h5", "case.h5", "--tolerance", "1e-12")

    def test_options_win_over_the_case(self):
        result = self.done("run", "case.yaml", "--set", "fields=[gx]", "--set", "observations.grid.easting=[0, 10, 3]")
        self.assertRegex(result.stdout, r"(?m)^gx +mGal")
        self.assertNotRegex(result.stdout, r"(?m)^gz ")
        self.assertIn("33 points", result.stdout)

    def test_kokkos_options_pass_through(self):
        host = "openmp" if "openmp" in self.done("info").stdout else "serial"
        result = self.done("run", "case.yaml", "--kokkos-num-threads=1", "--set", "execution.space=" + host)
        self.assertIn("1 thread,", result.stdout)

    def test_points_inside_and_singular_points_are_warned_of(self):
        self.write(
            "edges.yaml",
            "model: {voxels: {easting: [0, 2, 2], northing: [0, 2, 2], upward: [-2, 0, 2], density: 100}}\n"
            "observations: {grid: {easting: [0, 2, 3], northing: [0, 2, 3], upward: 0}}\n"
        )
        result = self.done("run", "edges.yaml", "--quiet")
        self.assertIn("warning: 9 of 9 points lie inside or on prisms\n", result.stderr)
        self.assertRegex(
            result.stderr,
            r"(?m)^warning: the gradient tensor has no value at 8 points on edges or corners of prisms, its finite part is "
            r"written there: \(0, 0, 0\), \(1, 0, 0\), \(2, 0, 0\), \(0, 1, 0\), \(2, 1, 0\), \.\.\.$",
        )
        self.assertEqual(len(result.stderr.splitlines()), 2)

    def test_a_full_disk_under_standard_output_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.run_program("info", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "error: standard output cannot be written\n")

    def test_shipped_inputs_have_no_mistakes(self):
        cases = sorted((pathlib.Path(options.source) / "inputs").glob("*.yaml"))
        self.assertTrue(cases)
        for case in cases:
            with self.subTest(case=case.name):
                result = self.done("run", case, "--check")
                self.assertEqual(result.stderr, "")

    def test_shipped_inputs_run(self):
        smaller = {
            "seven_spheres.yaml": [
                "--set", "observations.grid.easting=[0, 22000, 15]", "--set", "observations.grid.northing=[0, 22000, 10]",
            ],
        }
        for case in sorted((pathlib.Path(options.source) / "inputs").glob("*.yaml")):
            with self.subTest(case=case.name):
                result = self.done("run", case, *smaller.get(case.name, []))
                rows = re.findall(r"(?m)^(?:potential|g[xyz]{1,2}) +\S+(?: \S+)*? {2,}(\S+) +(\S+) +(\S+)$", result.stdout)
                self.assertTrue(rows, result.stdout)
                for row in rows:
                    self.assertTrue(all(math.isfinite(float(value)) for value in row), row)
                    self.assertGreater(float(row[2]), 0, row)
                self.done("compare", case.stem + ".h5", case.stem + ".h5")
                picture = self.folder / (case.stem + ".png")
                if "no figure" not in result.stderr:
                    self.assertGreater(picture.stat().st_size, 10_000)


class Compare(Folder):
    def test_codes(self):
        self.done("run", "case.yaml", "--quiet", "--output", "a.h5")
        self.done("run", "case.yaml", "--quiet", "--output", "b.h5", "--set", "execution.slots=3")
        self.done("run", "case.yaml", "--quiet", "--output", "c.h5", "--set", "model.voxels.spheres.0.density=301")
        same = self.done("compare", "a.h5", "b.h5", "--tolerance", "1e-12")
        self.assertRegex(same.stdout, r"(?m)^gz +mGal")
        other = self.run_program("compare", "c.h5", "a.h5", "--tolerance", "1e-3")
        self.assertEqual((other.returncode, other.stderr), (3, ""))
        self.assertEqual(self.run_program("compare", "c.h5", "a.h5", "--tolerance", "1e-2").returncode, 0)
        self.assertEqual(self.run_program("compare", "c.h5", "a.h5").returncode, 0)
        quiet = self.run_program("compare", "c.h5", "a.h5", "--tolerance", "1e-3", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (3, "", ""))

    def test_files_that_are_no_results(self):
        for arguments in (("case.yaml", "case.yaml"), ("none.h5", "none.h5")):
            result = self.run_program("compare", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(arguments[0], result.stderr)
            self.assertEqual(result.stdout, "")


class Signals(Folder):
    def start(self, *launcher):
        self.write("long.yaml", LONG_CASE)
        self.write("long.h5", "an older result")
        process = subprocess.Popen(
            [*launcher, options.program, "run", "long.yaml"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        # The heading comes when everything is read and the fields begin.
        for _ in range(4):
            self.assertTrue(process.stdout.readline())
        time.sleep(0.5)
        return process

    def check_nothing_changed(self):
        self.assertEqual(self.files(), ["case.yaml", "long.h5", "long.yaml"])
        self.assertEqual((self.folder / "long.h5").read_text(), "an older result")

    def test_each_signal_ends_with_130(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            with self.subTest(signal=number.name):
                process = self.start()
                process.send_signal(number)
                _, errors = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 130)
                self.assertIn("stopped by a signal; no result was written", errors.splitlines())
                self.check_nothing_changed()

    def test_a_second_interrupt_ends_at_once(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        # by the signal itself, or by the orderly end if that was quicker
        self.assertIn(process.returncode, (-signal.SIGINT, 130))
        self.check_nothing_changed()


class SlurmStep(Folder):
    """What srun sets, without an MPI plug-in, by hand."""

    def step(self, tasks, task):
        return {**os.environ, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": str(tasks), "SLURM_PROCID": str(task)}

    def test_tasks_that_mpi_does_not_join_are_refused_by_one_message(self):
        first = self.run_program("run", "case.yaml", env=self.step(3, 0))
        self.assertEqual(first.returncode, 2)
        self.assertRegex(first.stderr, r"^srun: started 3 tasks that MPI does not join to one run; [^\n]*\n$")
        other = self.run_program("run", "case.yaml", env=self.step(3, 1))
        self.assertEqual((other.returncode, other.stderr, other.stdout), (2, "", ""))
        self.assertEqual(self.files(), ["case.yaml"])

    def test_one_task_is_a_run(self):
        self.done("run", "case.yaml", env=self.step(1, 0))

    def test_ranks_of_mpirun_within_a_step_are_a_run(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        launcher = ["env", "ASAN_OPTIONS=detect_leaks=0", *options.mpiexec, "-n", "2"]
        launcher += ["env", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=3", "SLURM_PROCID=0"]
        self.assertIn("2 ranks", self.done("run", "case.yaml", launcher=launcher).stdout)


class Ranks(Folder):
    def setUp(self):
        super().setUp()
        if not options.mpiexec:
            self.skipTest("no mpiexec")

    def launcher(self, ranks):
        # Under the address sanitizer: what MPI libraries leave behind at the end is not ours.
        return ["env", "ASAN_OPTIONS=detect_leaks=0", *options.mpiexec, "-n", str(ranks)]

    def test_ranks_give_the_same_answer_and_print_once(self):
        self.done("run", "case.yaml", "--quiet", "--output", "one.h5")
        result = self.done("run", "case.yaml", "--output", "three.h5", launcher=self.launcher(3))
        self.assertEqual(result.stdout.count("Small case"), 1)
        self.assertIn("3 ranks", result.stdout)
        self.done("compare", "three.h5", "one.h5", "--tolerance", "1e-13")
        help_text = self.done("--help", launcher=self.launcher(2)).stdout
        self.assertEqual(help_text, self.done("--help").stdout)

    def test_dry_run_tells_every_rank(self):
        text = self.done("run", "case.yaml", "--dry-run", "--set", "execution.partition=prisms",
                         launcher=self.launcher(2)).stdout
        self.assertRegex(text, r"(?m)^  0 +140 +132 ")
        self.assertRegex(text, r"(?m)^  1 +140 +132 ")

    def test_partition_and_balance_are_shown(self):
        self.done("run", "case.yaml", "--quiet", "--output", "one.h5")
        result = self.done(
            "run", "case.yaml", "--output", "cost.h5", "--set", "execution.balance=cost", launcher=self.launcher(2)
        )
        self.assertRegex(result.stdout, r"by (prisms|points) \(auto\), balanced by cost, 2 ranks")
        self.done("compare", "cost.h5", "one.h5", "--tolerance", "1e-13")
        text = self.done(
            "run", "case.yaml", "--dry-run", "--set", "execution.partition=auto", launcher=self.launcher(2)
        ).stdout
        self.assertRegex(text, r"(?m)^  partition +by (prisms|points) \(auto\), 2 ranks")
        grid = "execution.partition={ranks: [1, 2]}"
        text = self.done("run", "case.yaml", "--dry-run", "--set", grid, launcher=self.launcher(2)).stdout
        self.assertIn("1 part of prisms x 2 of points, 2 ranks", text)

    def test_more_threads_than_cores_are_told_once(self):
        cores = len(os.sched_getaffinity(0))
        environment = {**os.environ, "OMP_NUM_THREADS": str(cores + 1)}
        result = self.done("run", "case.yaml", "--quiet", launcher=self.launcher(2), env=environment)
        if "threads" not in result.stderr:
            self.skipTest("the spaces that were built have no threads")
        self.assertEqual(result.stderr.count("warning: "), 1, result.stderr)
        self.assertRegex(result.stderr, r"threads (share|on) .* or set OMP_NUM_THREADS=|; set OMP_NUM_THREADS=")
        table = self.done("info", launcher=self.launcher(2), env=environment).stdout
        for label in ("rank 0 ", "rank 1 ", "advice "):
            self.assertEqual(len(re.findall(rf"(?m)^{label} ", table)), 1, table)
        self.assertIn("OMP_NUM_THREADS=", table)

    def test_mistakes_are_told_once_and_end_all_ranks(self):
        result = self.run_program("run", "case.yaml", "--set", "axes=up", launcher=self.launcher(3))
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("--set axes: is 'up'; allowed: z_down, z_up"), 1)
        wrong = self.run_program(
            "run", "case.yaml", "--set", "execution.partition={ranks: [2, 2]}", launcher=self.launcher(2)
        )
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(wrong.stderr.count("--set execution.partition: "), 1)
        self.assertEqual(self.files(), ["case.yaml"])

    def test_a_mistake_on_one_rank_ends_all(self):
        launcher = [*self.launcher(1), options.program, "run", "case.yaml", ":", "-n", "1"]
        result = self.run_program("run", "nowhere.yaml", launcher=launcher, timeout=120)
        self.assertEqual(result.returncode, 2)
        self.assertIn("rank 1: nowhere.yaml: there is no such file\n", result.stderr)
        self.assertEqual(self.files(), ["case.yaml"])


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--source", required=True)
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    options.mpiexec = shlex.split(options.mpiexec)
    options.program = os.path.abspath(options.program)
    options.source = os.path.abspath(options.source)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
