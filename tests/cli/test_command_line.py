# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What a user types and gets: exit codes, messages, streams, files. Needs Python's standard library alone.

Usage: test_command_line.py PRISMFIELD [--source FOLDER] [--mpiexec COMMAND]
"""

import argparse
import csv
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import CASE, ProgramFolder, has_signal, status_of, wait_for

options = None

# Minutes on any machine, so that a signal finds it running.
LONG_CASE = """\
model:
  voxels: {easting: [0, 1000, 200], northing: [0, 1000, 200], upward: [-500, 0, 100], density: 300}
observations:
  grid: {easting: [0, 1000, 400], northing: [0, 1000, 400], upward: 10}
output: {file: long.h5}
"""


class OtherPeoplesFiles(ProgramFolder):
    """What lies where the program writes, by accident or on purpose, stays as it is."""

    def checkpoint(self, name):
        return ["--set", f"output.checkpoint.file={name}"]

    def refuses(self, name, what, ranks=1, file=None):
        for more in ([], ["--resume"], ["--check"]):
            launcher = self.launcher(ranks) if ranks > 1 else ()
            result = self.run_program("run", "case.yaml", *self.checkpoint(name), *more, launcher=launcher, timeout=300)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"--set output.checkpoint.file: {file or name} {what}", result.stderr)
            self.assertFalse((self.folder / "case.h5").exists())

    def launcher(self, ranks):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        return [*options.mpiexec, "-n", str(ranks)]

    def test_a_checkpoint_replaces_nothing_else(self):
        remedy = "it is not replaced; move it away, or give the checkpoint another name"
        self.write("thesis.txt", "years of work")
        self.write("result.h5", "no HDF5 at all")
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        (self.folder / "link").symlink_to("thesis.txt")
        self.refuses("thesis.txt", f"is no checkpoint of prismfield; {remedy}")
        self.refuses("link", f"is no checkpoint of prismfield; {remedy}", file="thesis.txt")
        self.refuses("result.h5", f"is no checkpoint of prismfield; {remedy}")
        self.refuses("folder", "is a folder")
        self.refuses("pipe", "is not a regular file")
        self.refuses("/dev/null", "is not a regular file")
        self.assertEqual((self.folder / "thesis.txt").read_text(), "years of work")

    def test_nor_does_that_of_another_rank(self):
        self.write("run.ckpt.h5.rank1", "years of work")
        self.refuses("run.ckpt.h5", "is no checkpoint of prismfield", ranks=2, file="run.ckpt.h5.rank1")
        self.done("run", "case.yaml", *self.checkpoint("run.ckpt.h5"))
        self.assertEqual((self.folder / "run.ckpt.h5.rank1").read_text(), "years of work")

    def test_what_lies_there_at_the_end_is_looked_at_again(self):
        # somebody puts notes there while the program runs
        self.write("case.yaml", CASE + "execution: {chunk: 64}\n")
        python = self.write("python", f"#!/bin/sh\necho notes > '{self.folder}/run.ckpt.h5'\nexit 0\n")
        python.chmod(0o755)
        self.done("run", "case.yaml", *self.checkpoint("run.ckpt.h5"), "--set", "output.figure=f.png",
                  env={**os.environ, "PRISMFIELD_PYTHON": str(python)})
        self.assertEqual((self.folder / "run.ckpt.h5").read_text(), "notes\n")

    def test_links_that_wait_for_a_temporary_file_are_not_followed(self):
        self.write("victim", "years of work")
        names = ("case.h5", "run.ckpt.h5")
        plant = "; ".join(f"ln -s victim .{name}.part-$$" for name in names)
        result = subprocess.run(
            ["sh", "-c", f'{plant}; exec "$0" run case.yaml --set output.checkpoint.file=run.ckpt.h5', options.program],
            cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "victim").read_text(), "years of work")
        self.assertEqual(sum(".part-" in p.name for p in self.folder.iterdir()), len(names), "not ours to remove")
        self.assertFalse((self.folder / "case.h5").is_symlink())

    def test_nor_by_the_figure(self):
        self.write("victim", "years of work")
        for number in range(os.getpid(), os.getpid() + 2000):
            (self.folder / f".f.png.part-{number}").symlink_to("victim")
        self.run_program("run", "case.yaml", "--set", "output.figure=f.png")
        self.assertEqual((self.folder / "victim").read_text(), "years of work")

    def test_results_have_the_usual_permissions_or_those_before(self):
        mask = os.umask(0o027)
        try:
            self.done("run", "case.yaml")
            self.assertEqual((self.folder / "case.h5").stat().st_mode & 0o777, 0o640)
            (self.folder / "case.h5").chmod(0o600)
            self.done("run", "case.yaml")
            self.assertEqual((self.folder / "case.h5").stat().st_mode & 0o777, 0o600)
        finally:
            os.umask(mask)

    def test_two_runs_do_not_share_a_checkpoint(self):
        self.write("long.yaml", LONG_CASE)
        first = subprocess.Popen([options.program, "run", "long.yaml", *self.checkpoint("run.ckpt.h5")],
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.assertTrue(wait_for((self.folder / "run.ckpt.h5").exists, first))
            # It does not end before the second one has looked.
            first.send_signal(signal.SIGSTOP)
            second = self.run_program("run", "case.yaml", *self.checkpoint("run.ckpt.h5"))
            self.assertEqual(second.returncode, 2, second.stderr)
            self.assertIn("output.checkpoint.file: run.ckpt.h5 is used by another run", second.stderr)
        finally:
            first.kill()
            first.wait()
        # A lock goes with its process: now it is read, and is of the longer case.
        third = self.run_program("run", "case.yaml", *self.checkpoint("run.ckpt.h5"))
        self.assertEqual(third.returncode, 2, third.stderr)
        self.assertIn("run.ckpt.h5 is of another case", third.stderr)


class Help(ProgramFolder):
    def test_help_goes_to_standard_output(self):
        for arguments in (["--help"], ["-h"], ["run", "--help"], ["compare", "--help"], ["info", "--help"]):
            result = self.done(*arguments)
            self.assertIn("prismfield", result.stdout)
            self.assertIn("130 stopped by a signal", " ".join(result.stdout.split()))
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

    def test_info_tells_the_same_to_programs(self):
        text = self.done("info").stdout
        facts = json.loads(self.done("info", "--json").stdout)
        for label, key in (("compiler", "compiler"), ("Kokkos", "kokkos"), ("Kokkos Kernels", "kokkos_kernels"), ("MPI", "mpi"),
                           ("HDF5", "hdf5"), ("processor", "processor")):
            self.assertRegex(text, rf"(?m)^{label} +{re.escape(facts[key])}$")
        self.assertIn(f"{facts['version']} (git {facts['git']}), {facts['build_type']} build", text)
        self.assertIn(facts["default_space"], facts["spaces"])
        self.assertTrue(facts["kokkos_configuration"].startswith(", ".join(facts["spaces"])))
        self.assertEqual(facts["ranks"][0]["rank"], 0)
        self.assertLessEqual(set(facts["ranks"][0]["cores"]), os.sched_getaffinity(0))
        self.assertEqual(facts["ranks"][0]["threads"], facts["host_threads"])

    def test_info_of_several_ranks_is_one_document(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        facts = json.loads(self.done("info", "--json", launcher=[*options.mpiexec, "-n", "2"]).stdout)
        self.assertEqual([place["rank"] for place in facts["ranks"]], [0, 1])

    def test_results_and_info_tell_the_same_machine(self):
        facts = json.loads(self.done("info", "--json").stdout)
        self.done("run", "case.yaml")
        header = (self.folder / "case.h5").read_bytes()
        for key in ("host", "processor", "compiler", "kokkos_configuration", "hdf5"):
            self.assertIn(facts[key].encode(), header)

    def test_threads_that_openmp_binds_still_have_all_cores(self):
        cores = len(os.sched_getaffinity(0))
        for bind in ("spread", "false"):
            environment = dict(os.environ, OMP_PROC_BIND=bind, OMP_PLACES="cores", OMP_NUM_THREADS=str(cores))
            text = self.done("info", env=environment).stdout
            self.assertIn(f"on {cores} of ", text, text)
            self.assertNotIn("usable core", text)
    def test_info_calibrates(self):
        measured = json.loads(self.done("info", "--calibrate").stdout)
        self.assertIn("serial", measured)
        for space, found in measured.items():
            self.assertEqual(set(found), {"device", "threads", "peak_double", "peak_single", "bandwidth"}, space)
            self.assertGreaterEqual(found["threads"], 1)
            # slower than any machine of this century, under a sanitizer too, and faster than all
            for key, least, most in (("peak_double", 1e6, 1e15), ("peak_single", 1e6, 1e15), ("bandwidth", 1e6, 1e14)):
                self.assertTrue(least < found[key] < most, f"{space}: {key} = {found[key]}")
            self.assertGreater(found["peak_single"], 0.5 * found["peak_double"])

    def test_info_says_what_cases_are(self):
        case = (self.folder / "case.yaml").read_text()
        cases = [case, case + "execution: {precision: single, partition: {ranks: [4, 2]}}\n",
                 case.replace("[gz, gzz]", "[gz, gzzz]").replace("upward: 10\n", "upward: {file: heights.nc}\n")]
        self.write("request.json", json.dumps({"file": "a/b.yaml", "command": "run", "cases": cases}))
        plain, grid, wrong = json.loads(self.done("info", "--cases", "request.json").stdout)
        self.assertEqual(plain, {"space": "default", "precision": "double", "fields": ["gz", "gzz"], "rank_grid": None,
                                 "partition_where": "a/b.yaml:1", "inputs": [], "gravitational_constant": 6.6743e-11})
        self.assertEqual((grid["precision"], grid["rank_grid"]), ("single", [4, 2]))
        self.assertEqual(grid["partition_where"], f"a/b.yaml:{cases[1].count(chr(10))}")
        self.assertEqual(wrong["inputs"], ["observations.grid.upward.file"])
        self.assertEqual([problem[1] for problem in wrong["problems"]], ["fields.1"])
        self.assertIn("case_keys", json.loads(self.done("info", "--json").stdout))
        # what a case is to another command
        self.write("request.json", json.dumps({"command": "invert", "cases": [case]}))
        problems = json.loads(self.done("info", "--cases", "request.json").stdout)[0]["problems"]
        self.assertIn("inversion", [problem[1] for problem in problems])

    def test_info_has_densities_at_the_points_of_a_result(self):
        case = (self.folder / "case.yaml").read_text().replace("upward: 10\n", "upward: -225\n")
        # off the cells' faces
        case = case.replace("[0, 1000, 11]", "[10, 970, 11]")
        self.write("case.yaml", case)
        self.done("run", "case.yaml", "--quiet", "--output", "r.h5")
        self.write("request.json", json.dumps({"file": "case.yaml", "cases": [case], "densities_at": "r.h5"}))
        densities = json.loads(self.done("info", "--cases", "request.json").stdout)[0]["densities"]
        self.assertEqual(len(densities), 12 * 11)
        self.assertEqual({0, 300}, set(densities))

    def test_requests_that_are_none_end_clearly(self):
        for text, what in (("no JSON", "holds no JSON object with the keys file, command and cases"),
                           ("[1]", "holds no JSON object with the keys file, command and cases"),
                           ('{"cases": [1]}', "has a value of another type than file, command and cases have"),
                           ('{"cases": [], "command": "plot"}', "has a command that is none of run, sensitivity and invert")):
            self.write("request.json", text)
            self.refused("info", "--cases", "request.json", lines=[f"request.json: {what}"])

    def test_help_of_keys(self):
        self.assertEqual(self.done("help").stdout, self.done("--help").stdout)
        self.assertEqual(self.done("help", "run").stdout, self.done("run", "--help").stdout)
        text = self.done("help", "slots").stdout
        self.assertTrue(text.startswith("execution.slots\n"), text)
        self.assertIn("--set execution.slots=4", text)
        self.refused("help", "slosts", lines=["'slosts' is no key of a case or a study; did you mean execution.slots? prismfield help --keys lists all"])
        text = " ".join(self.done("help", "tmi").stdout.split())
        self.assertTrue(text.startswith("tmi is a field: total-field anomaly, along the inducing field, nT. "), text)
        self.assertIn("nT for magnetic fields, nT/m for their gradients", text)
        self.assertIn("execution.slots\n", self.done("help", "--keys").stdout)
        self.assertTrue(self.done("help", "--markdown").stdout.startswith("<!-- SPDX"))


class Mistakes(ProgramFolder):
    def test_arguments(self):
        options_of_run = "There are: --help, --set, --check, --dry-run, --resume, --quiet, --output"
        self.refused(lines=["a command is missing; there are: run, sensitivity, invert, compare, study, convert, plot, info, help (prismfield --help tells more)"])
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
                "wrong.yaml:8: model.voxels.spheres.0.radius: is '-200'; a number above 0 in m is expected",
                "wrong.yaml:14: fields.1: repeats gz, which an earlier name of the list holds already",
                "wrong.yaml:15: exection: is no known key; did you mean execution? Allowed: title, "
                "gravitational_constant, magnetic, axes, crs, model, observations, fields, execution, output, sensitivity, inversion",
                "--set execution.slots: is '1.5'; auto or a whole number from 1 to 1e9 is expected",
            ],
        )

    def test_mistakes_of_all_inputs_come_together(self):
        result = self.run_program(
            "run", "case.yaml", "--set", "execution.space=cuda", "--set", "model.voxels=null", "--set",
            "model.prisms.file=none.csv", "--set", "observations.grid.upward={file: none.nc}", "--output", "no/x.h5",
        )
        self.assertEqual(result.returncode, 2)
        for key in ("model.prisms.file", "observations.grid.upward"):
            self.assertIn(f" {key}", result.stderr)
        self.assertIn("--output: ", result.stderr)
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
        self.assertEqual(lines[-1], "and 2,900 more errors")

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
        self.assertIn("--output: ", result.stderr)
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


class Run(ProgramFolder):
    def test_check_and_dry_run_write_nothing(self):
        result = self.done("run", "case.yaml", "--check")
        self.assertEqual(result.stdout, "case.yaml: no errors found\n")
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
        self.assertIn(host + ", 1 thread;", result.stdout)

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

    def test_nodes_of_a_grid_on_faces_are_told_and_no_spikes(self):
        # 11 nodes on faces of 700 cells: the doubles of three of them are other ones than those of the faces
        self.write(
            "faces.yaml",
            "model: {voxels: {easting: [0, 22000, 700], northing: [0, 100, 1], upward: [-100, 0, 1],\n"
            "                 density: {random: [100, 3000]}}}\n"
            "observations: {grid: {easting: [0, 22000, 11], northing: [0, 0, 1], upward: -50}}\nfields: [gxy]\n",
        )
        result = self.done("run", "faces.yaml", "--quiet")
        self.assertIn("warning: 11 of 11 points lie inside or on prisms\n", result.stderr)
        self.assertIn("has no value at 11 points on edges or corners of prisms", result.stderr)
        result = self.done("run", "faces.yaml", "--set", "observations.grid.easting=[0, 22000, 701]")
        self.assertIn("has no value at 701 points on edges or corners of prisms", result.stderr)
        gxy = next(line.split() for line in result.stdout.splitlines() if line.startswith("gxy "))
        # a spike has the logarithm of an ulp, 6 times as much
        self.assertLess(max(abs(float(gxy[2])), abs(float(gxy[3]))), 2000)

    def test_where_model_and_points_are(self):
        heading = self.done("run", "case.yaml", "--set", "observations.grid.easting=[500, 2000, 12]").stdout.splitlines()
        self.assertEqual(
            heading[3:5],
            [
                "model: easting 300 to 700, northing 300 to 700, upward -450 to -50 m; 300 kg/m3",
                "points: easting 500 to 2000, northing 0 to 1000, upward 10 m; 10 within the model's outline",
            ],
        )
        table = self.done("run", "case.yaml", "--dry-run").stdout
        self.assertRegex(table, r"(?m)^  model's extent +easting 300 to 700, northing 300 to 700, upward -450 to -50 m$")
        self.assertRegex(table, r"(?m)^  densities +300 kg/m3$")
        self.assertRegex(table, r"(?m)^  points' extent +easting 0 to 1000, northing 0 to 1000, upward 10 m; \S+ within the model's outline$")

    def test_the_group_vector_says_how_to_get_the_tensor(self):
        fields = "gx, gy, gz (the group vector; [vector, tensor] adds the gradients)"
        vector = ("run", "case.yaml", "--set", "fields=vector")
        self.assertTrue(self.done(*vector).stdout.splitlines()[2].endswith(f" pairs; fields: {fields}"))
        self.assertIn(f"  fields            {fields}\n", self.done(*vector, "--dry-run").stdout)

    def warnings_of(self, *settings, arguments=("--check",)):
        options_of_set = [word for setting in settings for word in ("--set", setting)]
        result = self.done("run", "case.yaml", *arguments, *options_of_set)
        return [line for line in result.stderr.splitlines() if not line.startswith("progress: ")]

    def test_densities_in_another_unit_are_warned_of(self):
        sphere = "model.voxels.spheres.0.density={}".format
        self.assertEqual(self.warnings_of(sphere(20), sphere(-350)), [])
        for arguments in (["--check"], ["--dry-run"], ["--quiet"]):
            self.assertEqual(
                self.warnings_of(sphere(-0.35), arguments=arguments),
                ["warning: no density of the model is above 0.35 kg/m3; are they g/cm3? Densities in the case are kg/m3: "
                 "1 g/cm3 is 1000"],
            )
        self.assertEqual(
            self.warnings_of(sphere(2.67e6)),
            ["warning: the model has densities of up to 2.67e+06 kg/m3, more than any metal; is their unit right?"],
        )
        self.write("prisms.csv", "0,1000,0,1000,-500,0,2.67\n")
        prisms = ["model={prisms: {file: prisms.csv}}"]
        self.assertEqual(len(self.warnings_of(*prisms)), 1)
        self.assertEqual(self.warnings_of(*prisms, "model.prisms.density_unit=g/cm3"), [])

    def test_ubc_densities_are_grams_a_cubic_centimetre(self):
        self.write("m.msh", "2 1 1\n0 0 0\n2*500\n1000\n500\n")
        self.write("m.den", "2.67\n0\n")
        ubc = "model={mesh: {ubc: {mesh: m.msh, density: m.den}}}"
        table = self.done("run", "case.yaml", "--dry-run", "--set", ubc).stdout
        self.assertRegex(table, r"(?m)^  densities +2670 kg/m3$")
        self.assertEqual(self.warnings_of(ubc), [])
        self.assertEqual(len(self.warnings_of(ubc, "model.mesh.ubc.density_unit=kg/m3")), 1)

    def test_points_in_other_coordinates_are_warned_of(self):
        far = self.warnings_of("observations.grid.northing=[5412000, 5413000, 3]")
        self.assertEqual(len(far), 1)
        self.assertRegex(far[0], r"^warning: the points lie 5\.4113e\+06 m away from the model, 1\.35e\+04 times its size; ")
        wide = ["model.voxels.easting=[0, 30000, 20]", "model.voxels.spheres=[]", "model.voxels.density=100"]
        self.assertEqual(self.warnings_of(*wide), [])
        degrees = self.warnings_of(*wide, "observations.grid.easting=[7.5, 8.2, 12]", "observations.grid.northing=[46, 47, 5]")
        self.assertEqual(len(degrees), 1)
        self.assertRegex(degrees[0], r"^warning: the coordinates of the points look like degrees \(easting 7\.5 to 8\.2, ")
        both = [part for value in ("model.voxels={easting: [7.5, 8.2, 4], northing: [46, 47, 4], upward: [-5, 0, 2], density: 9}",
                                   "observations.grid.easting=[7.5, 8.2, 12]", "observations.grid.northing=[46, 47, 5]",
                                   "observations.grid.upward=100") for part in ("--set", value)]
        for command in ("run", "sensitivity"):
            result = self.run_program(command, "case.yaml", "--check", *both)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(result.stderr, r"^\S+ observations: the coordinates of the model and the points look like degrees "
                                            r".*gdalwarp")
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_magnetic_models(self):
        self.write("magnetic.yaml", """title: A magnetised cube
magnetic:
  inducing_field: {inclination: -60, declination: 0, intensity: 50000}
model:
  voxels:
    easting: [0, 100, 2]
    northing: [0, 100, 2]
    upward: [-100, 0, 2]
    susceptibility: 0.05
    magnetization: [0, 0, 2]
observations:
  grid: {easting: [0, 100, 3], northing: [0, 100, 3], upward: 150}
fields: [tmi, amplitude]
output: {file: magnetic.nc}
""")
        run = self.done("run", "magnetic.yaml")
        self.assertNotIn("warning", run.stderr)
        self.assertIn("voxels 2 x 2 x 2, 8 prisms with susceptibility and magnetization", run.stdout)
        self.assertIn("upward -100 to 0 m; susceptibility 0.05 SI, remanent magnetization 2 A/m", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^tmi +nT ")
        self.done("compare", "magnetic.nc", "magnetic.nc")
        self.assertRegex(self.done("run", "magnetic.yaml", "--dry-run").stdout, r"magnetic +susceptibility 0.05 SI, rem")

        def told(*settings):
            sets = [word for setting in settings for word in ("--set", setting)]
            return self.done("run", "magnetic.yaml", *sets).stderr

        self.assertIn("has susceptibilities of up to 0.5 SI; from about 0.1 on", told("model.voxels.susceptibility=0.5"))
        self.assertIn("tmi_exact does not", told("model.voxels.magnetization=[0, 0, 40]"))
        self.assertRegex(told("model.voxels.magnetization=[0, 0, 1e9]"), r"reaches \d+ nT, \d+ % of the inducing field")
        self.assertIn("the model has no density: gz is 0", told("fields=[gz, bx]"))
        self.assertIn("is 5e+06 nT; the Earth's field has", told("magnetic.inducing_field.intensity=5e6"))
        inside = told("observations.grid.upward=-30", "magnetic.inside=cavity")
        self.assertIn("magnetic fields there are mu0 (H + M/3), as magnetic.inside: cavity says", inside)
        self.assertRegex(told("observations.grid.upward=0", "magnetic.inside=nan", "model.voxels.susceptibility=0.01"),
                         "on edges or corners of prisms, NaN, as magnetic.inside says, is written there")
        # every method computes the magnetisation that was found
        strong = ("--set", "model.voxels.susceptibility=2")
        self.done("run", "magnetic.yaml", *strong, "--output", "alone.nc")
        for method in ("direct", "fft"):
            result = self.done("run", "magnetic.yaml", *strong, "--output", f"{method}.nc", "--set",
                               f"execution.method={method}", "--set", "magnetic.demagnetization=true")
            self.assertRegex(result.stdout, r"(?m)^demagnetization: [0-9]+ products, ")
            self.assertEqual(self.run_program("compare", f"{method}.nc", "alone.nc", "--tolerance", "1e-3").returncode, 3)
        self.done("compare", "fft.nc", "direct.nc", "--tolerance", "1e-8")
        for case, setting, error in (
            ("magnetic.yaml", "magnetic=null", "magnetic.inducing_field: is missing; it magnetises the susceptibility"),
            ("magnetic.yaml", "magnetic.inducing_field.intensity=5e-5", "looks like one in T: write 50000"),
            ("case.yaml", "fields=[bx]", "case.yaml:2: model: has no magnetization, which bx needs; give its prisms a"),
        ):
            refused = self.run_program("run", case, "--set", setting)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(error, refused.stderr)

    def test_a_constant_of_cgs_is_warned_of(self):
        cgs = self.warnings_of("gravitational_constant=6.674e-8")
        self.assertEqual(len(cgs), 1)
        self.assertRegex(cgs[0], r"^warning: gravitational_constant is 6\.674e-08, 1000 times .*: it is in cgs units ")

    def test_depths_given_as_heights_are_warned_of(self):
        deep = self.warnings_of("observations.grid.upward=-1200")
        self.assertEqual(len(deep), 1)
        self.assertRegex(deep[0], r"^warning: all points lie below the top of the model and none inside it .* axis_z: down ")
        self.assertEqual(self.warnings_of("observations.grid.upward=-100"), [])

    def test_a_tolerance_is_told_and_checked(self):
        exact = self.done("run", "case.yaml", "--output", "exact.h5")
        self.assertNotIn("tolerance", exact.stdout)
        told = self.done("run", "case.yaml", "--set", "execution={tolerance: 1e-5, check_points: 30}", "--output", "a.h5")
        self.assertRegex(told.stdout, r"(?m)^tolerance 1e-05: within \d\S* of the largest values at 30 points$")
        self.done("compare", "a.h5", "exact.h5", "--tolerance", "1e-5", "--quiet")
        quiet = self.done("run", "case.yaml", "--quiet", "--set", "execution.tolerance=1e-5")
        self.assertEqual(quiet.stdout, "")

    def test_methods_agree_and_auto_says_why(self):
        self.done("run", "case.yaml", "--quiet", "--output", "exact.h5")
        for method in ("direct", "tree", "fft", "auto"):
            told = self.done("run", "case.yaml", "--set", f"execution={{method: {method}, tolerance: 1e-7}}", "--output", "a.h5")
            words = r"direct \(auto: it takes little time\)" if method == "auto" else method
            self.assertRegex(told.stdout, rf"(?m); double; {words}$")
            self.done("compare", "a.h5", "exact.h5", "--tolerance", "1e-7", "--quiet")
        large = ("--set", "observations.grid={easting: [0, 1000, 501], northing: [0, 1000, 501], upward: 10}",
                 "--set", "model.voxels.density=300", "--set", "execution={space: serial, tolerance: 1e-7}")
        plan = self.done("run", "case.yaml", "--dry-run", *large).stdout
        self.assertRegex(plan, r"(?m)^  method +(tree|fft) \(auto: about \S+ (ms|s); direct .+\)$")
        for method in ("direct", "tree", "fft"):
            self.assertRegex(plan, rf"(?m)^    {method} +\S+ (ms|s|us), \S+ [KM]iB$")
        exact = self.done("run", "case.yaml", "--dry-run").stdout
        self.assertRegex(exact, r"(?m)^  method +direct \(auto: no tolerance above 1e-12 was asked for\)$")
        self.assertRegex(exact, r"(?m)^    tree +is tree, which needs an execution.tolerance of 1e-11 or more; .+$")

    def test_methods_that_cannot_serve_are_refused(self):
        self.refused("run", "case.yaml", "--set", "execution.method=tree", lines=[
            "--set execution.method: is tree, which needs an execution.tolerance of 1e-11 or more; direct "
            "keeps to 1e-12"])
        both = "execution={method: tree, tolerance: 1e-6, precision: single}"
        self.refused("run", "case.yaml", "--set", both, lines=[
            "--set execution.method: is tree, which computes in double precision, not in single; use "
            "execution.precision: double"])

    def test_keys_that_a_run_does_not_use_are_told_in_one_note(self):
        unused = ["inversion={beta: 1}", "sensitivity={store: none}"]
        note = "note: run does not use sensitivity (--set), inversion (--set)"
        for arguments in (["--check"], ["--dry-run"], []):
            self.assertEqual(self.warnings_of(*unused, arguments=arguments), [note])
        self.assertEqual(self.warnings_of(*unused, arguments=["--quiet"]), [])
        self.write("more.yaml", CASE + "sensitivity: {store: file}\n")
        self.assertEqual(self.done("run", "more.yaml", "--check").stderr, "note: run does not use sensitivity (more.yaml:15)\n")

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
                lines = case.read_text(encoding="utf-8").splitlines()
                if "inversion:" not in lines:
                    self.assertEqual(result.stderr, "")
                    continue
                note = f"note: run does not use inversion ({case}:{lines.index('inversion:') + 1})\n"
                self.assertEqual(result.stderr, note)
                # keys of run alone are told, errors and warnings are not there
                self.assertRegex(self.done("invert", case, "--check").stderr, r"^(note: [^\n]*\n)*$")

    def test_shipped_inputs_run(self):
        smaller = {
            "seven_spheres.yaml": [
                "--set", "observations.grid.easting=[0, 22000, 15]", "--set", "observations.grid.northing=[0, 22000, 10]",
            ],
        }
        for case in sorted((pathlib.Path(options.source) / "inputs").glob("*.yaml")):
            with self.subTest(case=case.name):
                result = self.done("run", case, *smaller.get(case.name, []))
                rows = re.findall(r"(?m)^(?:potential|[bg][xyz]{1,2}|tmi\w*|amplitude) +\S+(?: \S+)*? {2,}(\S+) +(\S+) +(\S+)$", result.stdout)
                self.assertTrue(rows, result.stdout)
                for row in rows:
                    self.assertTrue(all(math.isfinite(float(value)) for value in row), row)
                    self.assertGreater(float(row[2]), 0, row)
                written = next(name for name in self.files() if name in (case.stem + ".nc", case.stem + ".h5"))
                self.done("compare", written, written)
                picture = self.folder / (case.stem + ".png")
                if "no figure" not in result.stderr:
                    self.assertGreater(picture.stat().st_size, 10_000)


STATIONS = """\
line,id,easting,northing,upward,note
L1,001,100.50,200,30.00,"first, of two"
L1,002,5e2,0500,30,
"""


class Tables(ProgramFolder):
    def test_the_suffix_says_what_is_written(self):
        for name in ("grid.csv", "grid.xyz", "grid.nc"):
            self.done("run", "case.yaml", "--quiet", "--output", name)
        rows = (self.folder / "grid.csv").read_text().splitlines()
        self.assertEqual(rows[0], "easting,northing,upward,gz [mGal],gzz [Eotvos]")
        self.assertEqual(len(rows), 1 + 12 * 11)
        self.assertEqual([row.split(",")[:2] for row in (rows[1], rows[12], rows[13])],
                         [["0", "0"], ["1000", "0"], ["0", "100"]])
        below = [row for row in (self.folder / "grid.xyz").read_text().splitlines() if not row.startswith("#")]
        self.assertEqual([row.replace(",", " ") for row in rows[1:]], below)
        for name in ("grid.csv", "grid.xyz"):
            self.assertEqual(self.done("compare", name, "grid.nc", "--tolerance", "0").stderr, "")
        self.assertEqual((self.folder / "grid.nc").read_bytes()[:4], b"\x89HDF")

    def test_other_suffixes_are_refused_before_anything_is_computed(self):
        for name, what in (("grid.txt", "no kind of result ends in '.txt'"), ("grid", "has no suffix that says what to write")):
            self.refused("run", "case.yaml", "--output", name,
                         lines=[f"--output: {what}; allowed: .nc or .h5 (netCDF-4, the same file), .csv and "
                                ".xyz (tables), of which prismfield convert makes others"])

    def test_a_table_keeps_the_columns_of_the_stations(self):
        self.write("stations.csv", STATIONS)
        case = CASE[: CASE.index("observations:")] + "observations: {stations: {file: stations.csv}}\nfields: [gz]\n"
        self.write("case.yaml", case)
        self.done("run", "case.yaml", "--quiet", "--output", "out.csv")
        before, after = STATIONS.splitlines(), (self.folder / "out.csv").read_text().splitlines()
        self.assertEqual(after[0], before[0] + ",gz [mGal]")
        for old, new in zip(before[1:], after[1:], strict=True):
            self.assertRegex(new, "^" + re.escape(old) + r",-?\d+\.?\d*(e-\d+)?$")
        # the table is a station file, and its fields are those of the stations
        again = self.done("run", "case.yaml", "--quiet", "--set", "observations.stations.file=out.csv", "--output",
                          "again.csv")
        self.assertIn("out.csv has columns that are called as fields are; in the result they are gz_file [mGal]", again.stderr)
        self.done("compare", "again.csv", "out.csv", "--tolerance", "0")
        self.assertEqual(self.files(), ["again.csv", "case.yaml", "out.csv", "stations.csv"])

    def test_station_files_of_other_programs_go_in_as_they_are(self):
        folder = pathlib.Path(options.source) / "tests" / "data" / "stations"
        case = CASE[: CASE.index("observations:")] + "observations: {stations: {file: none}}\nfields: [gz]\n"
        self.write("case.yaml", case)
        # the places of each, what is said of it, and what its result has beside them
        three = ["100,200,35.5", "150,200,36", "150,250,40"]
        files = {
            "oasis.xyz": ({}, three, "1 of 4 stations left out: dummies in line 10", ["FAA", "FLAG", "line"]),
            "gmt.txt": ({}, three, "1 of 4 stations left out: dummies in line 7", ["segment"]),
            "ubc.loc": ({}, three, "", ["observed", "observed_sigma"]),
            "ubc.obs": ({}, [three[0], three[2]], "", []),
            "spreadsheet.csv": ({}, [three[0], three[2]], "1 of 3 stations left out: dummies in line 3",
                                ["Station", "CBA [mGal]", "Remark"]),
            "depth.txt": ({}, ["100,200,-35.5", "150,250,-40"], "is taken as the depth below height 0", []),
            "nameless.txt": ({"columns": '["-", x, "y [km]", z, g]'}, three[:2], "", ["column_1", "g"]),
        }
        for name, (keys, places, note, names) in files.items():
            with self.subTest(name):
                more = [f"--set=observations.stations.{key}={value}" for key, value in keys.items()]
                run = ["run", "case.yaml", f"--set=observations.stations.file={folder / name}", *more]
                result = self.done(*run, "--output", "out.csv")
                self.assertIn(note, result.stderr)
                self.assertEqual(result.stderr.count("note:"), 1 if note else 0, result.stderr)
                with open(self.folder / "out.csv", encoding="utf-8", newline="") as file:
                    text = file.read()
                rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in text else ","))
                self.assertLessEqual(set(names), set(rows[0]))
                # the result is a station file again, and its stations are these
                self.write("plain.csv", "easting,northing,upward\n" + "\n".join(places) + "\n")
                self.done("run", "case.yaml", "--quiet", "--set", "observations.stations.file=plain.csv", "--output",
                          "plain.h5")
                self.done(*run, "--quiet", "--output", "out.nc")
                for other in ("out.csv", "out.nc"):
                    self.done("compare", other, "plain.h5", "--tolerance", "1e-12")
                self.done("run", "case.yaml", "--quiet", "--set", "observations.stations.file=out.csv", "--output",
                          "again.h5")
                self.done("compare", "again.h5", "plain.h5", "--tolerance", "1e-12")
        refused = self.run_program("run", "case.yaml", f"--set=observations.stations.file={folder / 'geographic.csv'}")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("geographic.csv:1: missing columns easting, northing; the columns are", refused.stderr)
        self.assertIn("longitude and latitude are angles", refused.stderr)

    def test_a_result_is_a_file_of_its_points(self):
        self.done("run", "case.yaml", "--quiet", "--output", "grid.nc")
        case = CASE[: CASE.index("observations:")] + "observations: {stations: {file: grid.nc}}\nfields: [gz, gzz]\n"
        self.write("again.yaml", case)
        self.done("run", "again.yaml", "--quiet")
        self.done("compare", "again.h5", "grid.nc", "--tolerance", "0")

    def test_a_table_keeps_the_columns_of_stations_from_a_pipe(self):
        result = self.run_program("run", "case.yaml", "--quiet", "--output", "out.csv", "--set",
                                  "observations={stations: {file: /dev/stdin}}", input=STATIONS)
        self.assertEqual(result.returncode, 0, result.stderr)
        header = (self.folder / "out.csv").read_text(encoding="utf-8").splitlines()[0]
        self.assertTrue(header.startswith(STATIONS.splitlines()[0]), header)

    def test_a_figure_of_a_table_is_that_of_the_same_result_in_netcdf(self):
        pictures = []
        for name in ("result.nc", "result.csv"):
            result = self.done("run", "case.yaml", "--quiet", "--output", name, "--set", "output.figure=figure.png")
            if "no figure" in result.stderr:
                self.skipTest(result.stderr)
            pictures.append((self.folder / "figure.png").read_bytes())
        self.assertEqual(*pictures)
        self.assertEqual(self.files(), ["case.yaml", "figure.png", "result.csv", "result.nc"])


class Compare(ProgramFolder):
    def test_a_changed_byte_is_a_mistake_of_the_file(self):
        grid = ["--set", "observations.grid.easting=[0, 1000, 100]", "--set", "observations.grid.northing=[0, 1000, 90]"]
        self.done("run", "case.yaml", "--quiet", "--output", "a.nc", *grid)
        content = bytearray((self.folder / "a.nc").read_bytes())
        struck = 0
        for at in range(len(content) // 8, len(content), len(content) // 40):
            content[at] ^= 1
            self.write("b.nc", bytes(content))
            content[at] ^= 1
            result = self.run_program("compare", "b.nc", "a.nc", "--tolerance", "0")
            # a byte between the parts of a file, or one that says how it was run, is nobody's number
            self.assertIn(result.returncode, (0, 2), result.stdout)
            if result.returncode == 2:
                self.assertRegex(result.stderr, r"^b\.nc: .*\n$")
            struck += "its bytes are not those that were written" in result.stderr
        self.assertGreater(struck, 10)

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

    def test_results_without_a_point_or_field_in_common(self):
        for name, setting in (
            ("a.h5", "title=a"), ("far.h5", "observations.grid.upward=500"), ("few.h5", "observations.grid.easting=[1, 999, 3]"),
            ("gx.h5", "fields=[gx]"),
        ):
            self.done("run", "case.yaml", "--quiet", "--output", name, "--set", setting)
        for other, what in (("far.h5", "point"), ("few.h5", "point"), ("gx.h5", "field")):
            for arguments in ([], ["--quiet"], ["--tolerance", "1"]):
                result = self.run_program("compare", other, "a.h5", *arguments)
                self.assertEqual(result.returncode, 3)
                self.assertRegex(
                    result.stderr, f"^error: {other} and a.h5 have no {what} in common, nothing was compared(; .*)?\n$"
                )
        self.assertEqual(self.run_program("compare", "far.h5", "a.h5", "--horizontal").returncode, 0)
        self.assertIn(": --horizontal matches", self.run_program("compare", "far.h5", "a.h5", "--quiet").stderr)

    def test_files_that_are_no_results(self):
        for arguments in (("case.yaml", "case.yaml"), ("none.h5", "none.h5")):
            result = self.run_program("compare", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(arguments[0], result.stderr)
            self.assertEqual(result.stdout, "")


class Signals(ProgramFolder):
    def setUp(self):
        super().setUp()
        self.write("long.yaml", LONG_CASE)
        self.write("long.h5", "an older result")

    def start(self, *launcher, arguments=()):
        process = subprocess.Popen(
            [*launcher, options.program, "run", "long.yaml", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        # The heading comes when everything is read and the fields begin.
        for _ in range(4):
            self.assertTrue(process.stdout.readline())
        return process

    def send_and_wait(self, process, number):
        """Sends a signal and waits until the process has received it: a second one is then another."""
        process.send_signal(number)
        self.assertTrue(wait_for(lambda: not has_signal(process.pid, "ShdPnd", number), process))

    def check_nothing_changed(self):
        self.assertEqual(self.files(), ["case.yaml", "long.h5", "long.yaml"])
        self.assertEqual((self.folder / "long.h5").read_text(), "an older result")

    def test_each_signal_ends_with_130(self):
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGUSR1", "SIGUSR2"):
            number = signal.Signals[name]
            with self.subTest(signal=number.name):
                process = self.start()
                process.send_signal(number)
                _, errors = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 130)
                self.assertIn("stopped by a signal; no result was written", errors.splitlines())
                self.check_nothing_changed()

    def test_hanging_up_does_not_end_what_nohup_started(self):
        process = self.start("nohup")
        self.assertTrue(has_signal(process.pid, "SigIgn", signal.SIGHUP))
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)

    def test_the_first_signal_ends_a_read_that_waits_for_ever(self):
        os.mkfifo(self.folder / "stations.csv")
        self.write("waits.yaml", CASE[: CASE.index("  grid:")] + "  stations: {file: stations.csv}\n")
        process = subprocess.Popen(
            [options.program, "run", "waits.yaml"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.addCleanup(process.kill)
        # nobody opens the pipe; when its name is asked for, the signals are caught already
        self.assertTrue(wait_for(lambda: has_signal(process.pid, "SigCgt", signal.SIGTERM), process))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b"stopped by a signal", errors)

    def test_progress_of_more_pairs_than_can_be_counted(self):
        # 2^64 pairs, which wrap to none
        ranges = ("model.voxels.easting=[0, 1, 1048576]", "model.voxels.northing=[0, 1, 1048576]",
                  "model.voxels.upward=[-1, 0, 1048576]", "observations.grid.easting=[0, 1, 4]",
                  "observations.grid.northing=[0, 1, 4]")
        settings = [word for setting in ranges for word in ("--set", setting)]
        self.assertRegex(self.done("run", "long.yaml", *settings, "--dry-run").stdout, r"(?m)^  pairs +1\.84e19$")
        process = self.start(arguments=[*settings, "--set", "execution.chunk=1000000", "--set",
                                        "output.checkpoint={every: 0.000001 s, file: run.ckpt.h5}"])
        # the first one is of the beginning
        checkpoint = self.folder / "run.ckpt.h5"
        self.assertTrue(wait_for(checkpoint.exists, process))
        first = checkpoint.stat().st_mtime_ns
        self.assertTrue(wait_for(lambda: checkpoint.stat().st_mtime_ns != first, process))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertNotIn("progress:", errors)

    def test_a_second_interrupt_ends_at_once(self):
        process = self.start()
        self.send_and_wait(process, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        # by the signal itself, or by the orderly end if that was quicker
        self.assertIn(process.returncode, (-signal.SIGINT, 130))
        self.check_nothing_changed()


class Threads(ProgramFolder):
    """Kokkos' own check ends the process, and its pool has room for 512 threads."""

    def refused_threads(self, name, value, *arguments, **environment):
        result = self.run_program("run", "case.yaml", *arguments, env={**os.environ, **environment})
        self.assertEqual(result.returncode, 2, result.stderr)
        # OpenMP may have said something before
        self.assertRegex(
            result.stderr.splitlines()[-1], f"^{name}: is '{re.escape(value)}'; a whole number (from|of at least) 1 "
        )
        self.assertEqual(self.files(), ["case.yaml"])
        return result.stderr

    def test_junk_is_a_mistake_that_names_the_variable(self):
        for value in ("abc", "-1", "0", "1e9"):
            for name in ("OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"):
                self.refused_threads(name, value, **{name: value})
            self.refused_threads("--kokkos-num-threads", value, f"--kokkos-num-threads={value}")
        result = self.run_program("info", env={**os.environ, "KOKKOS_DEVICE_ID": "first"})
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("KOKKOS_DEVICE_ID: is 'first'; ", result.stderr)

    def test_more_than_kokkos_has_room_for(self):
        if "openmp" not in self.done("info").stdout:
            self.skipTest("no OpenMP")
        for number in ("513", "600", "99999999999"):
            for name in ("OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"):
                self.assertIn("; for more threads start several ranks", self.refused_threads(name, number, **{name: number}))
            self.refused_threads("--kokkos-num-threads", number, f"--kokkos-num-threads={number}")
        # what an option says wins
        self.done("run", "case.yaml", "--kokkos-num-threads=2", env={**os.environ, "OMP_NUM_THREADS": "600"})


    def test_fewer_threads_than_asked_for(self):
        # Kokkos waits for ever for those that OpenMP does not start
        if "openmp" not in self.done("info").stdout:
            self.skipTest("no OpenMP")
        limited = {**os.environ, "OMP_THREAD_LIMIT": "2"}
        for words, environment in (
            (["--kokkos-num-threads=4"], limited),
            ([], {**limited, "KOKKOS_NUM_THREADS": "4"}),
        ):
            result = self.run_program("run", "case.yaml", *words, env=environment, timeout=300)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(
                result.stderr, r"^\S+: is '4'; OMP_THREAD_LIMIT allows 2: raise it, or ask for fewer threads\n$"
            )
        for environment in ({"OMP_THREAD_LIMIT": "1"}, {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "4"}):
            self.done("run", "case.yaml", env={**os.environ, **environment}, timeout=300)
        self.done("run", "case.yaml", "--kokkos-num-threads=4", env={**os.environ, "OMP_DYNAMIC": "true"}, timeout=300)


class Memory(ProgramFolder):
    """Limits of the process stand for those of a machine or a batch job."""

    POINTS = ("--set", "observations.grid.easting=[0, 1000, 2000]", "--set", "observations.grid.northing=[0, 1000, 2000]",
              "--set", "fields=all")

    def setUp(self):
        super().setUp()
        text = self.done("info").stdout
        if re.search(r"(?m)^execution spaces +[^;]*(cuda|hip)|(?i:asan|tsan|sanitize)", text):
            self.skipTest("sanitizers and devices take address space without end")

    def limited(self, most, *arguments, kind=resource.RLIMIT_AS):
        return self.run_program(
            "run", "case.yaml", *arguments, env={**os.environ, "OMP_NUM_THREADS": "2"},
            preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
        )

    def test_a_plan_that_does_not_fit_is_refused_before_it_starts(self):
        for kind, name in ((resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")):
            result = self.limited(1 << 30, *self.POINTS, kind=kind)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(
                result.stderr,
                r"^case.yaml: the run takes [\d.]+ GiB of memory, but there are [\d.]+ [MG]iB \(the limit of a process's "
                rf"[a-z ]+ \({name}\)\); compute fewer points in a run, or raise {name}\n$",
            )
            self.assertEqual(result.stdout, "")
            self.assertEqual(self.files(), ["case.yaml"])

    def test_methods_that_fit_are_named(self):
        points = "observations={stations: {random: 100000, easting: [0, 900], northing: [0, 900], upward: [20, 300]}}"
        mesh = "model={voxels: {easting: [0, 900, 50], northing: [0, 900, 50], upward: [-900, 0, 50], density: 100}}"
        result = self.limited(
            110 << 20, "--set", points, "--set", mesh, "--set", "fields=[gz]",
            "--set", "execution={method: tree, tolerance: 1e-10}", kind=resource.RLIMIT_DATA,
        )
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"; use execution.method: direct \([\d.]+ MiB\), compute fewer points in a run, ")

    def test_dry_run_tells_what_there_is_and_that_it_is_too_little(self):
        result = self.limited(1 << 30, "--dry-run", *self.POINTS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^  memory +[\d.]+ GiB$")
        self.assertRegex(result.stdout, r"(?m)^  available +[\d.]+ [MG]iB, the limit of a process's address space")
        self.assertRegex(result.stderr, r"^warning: the run takes [^\n]*; without --dry-run this is refused\n$")
        fits = self.done("run", "case.yaml", "--dry-run")
        self.assertRegex(fits.stdout, r"(?m)^  available +[\d.]+ [MGT]iB, ")
        self.assertEqual(fits.stderr, "")

    def test_scratch_follows_what_there_is(self):
        # a slot of 4,000,000 points and ten fields is 305 MiB
        limit = 3 << 30
        result = self.limited(limit, "--dry-run", *self.POINTS, "--kokkos-num-threads=8")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("refused", result.stderr)
        self.assertLess(int(re.search(r"(?m)^  slots +(\d+) slot", result.stdout)[1]), 8)

    def test_points_are_counted_before_they_are_made(self):
        result = self.limited(1 << 30, "--check", "--set", "observations.grid.easting=[0, 1, 3000000]")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(
            result.stderr,
            r"observations.grid: has 3.30e7 points, whose coordinates and fields take [\d.]+ GiB of memory, but there are "
            r"[\d.]+ GiB; use fewer points\n$",
        )


class SlurmStep(ProgramFolder):
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
        launcher = [*options.mpiexec, "-n", "2", "env", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=3", "SLURM_PROCID=0"]
        self.assertIn("2 ranks", self.done("run", "case.yaml", launcher=launcher).stdout)


class Ranks(ProgramFolder):
    def setUp(self):
        super().setUp()
        if not options.mpiexec:
            self.skipTest("no mpiexec")

    def launcher(self, ranks):
        return [*options.mpiexec, "-n", str(ranks)]

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

    def test_the_partition_is_shown(self):
        self.done("run", "case.yaml", "--quiet", "--output", "one.h5")
        result = self.done("run", "case.yaml", "--output", "two.h5", launcher=self.launcher(2))
        self.assertRegex(result.stdout, r"by (prisms|points) \(auto\), 2 ranks")
        self.done("compare", "two.h5", "one.h5", "--tolerance", "1e-13")
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
        (self.folder / "elsewhere").mkdir()
        launcher = [*self.launcher(1), options.program, "run", "case.yaml", ":", "-n", "1", "--wdir"]
        result = self.run_program("run", "case.yaml", launcher=[*launcher, self.folder / "elsewhere"], timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertIn("rank 1: case.yaml: there is no such file\n", result.stderr)
        self.assertEqual(self.files(), ["case.yaml"])


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--source", required=True)
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    options.mpiexec = shlex.split(options.mpiexec)
    options.program = ProgramFolder.program = os.path.abspath(options.program)
    options.source = os.path.abspath(options.source)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
