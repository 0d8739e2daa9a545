#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What cmake/completion offers on the command line, by bash itself, and the man page that the program writes.

Usage: test_completion.py PROGRAM SOURCE [unittest options]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

program = source = None


def output(*command, **keywords):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **keywords).stdout


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_completion_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("case.yaml", "other.yml", "result.nc", "two words.yaml", "table.csv", "notes.txt"):
            (self.folder / name).touch()
        (self.folder / "deeper").mkdir()

    def offered(self, *words):
        """What is offered for the last of these words behind `prismfield`."""
        script = (
            'source "$1"; shift; complete -p prismfield >/dev/null || exit 9; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_prismfield; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        command = ["bash", "-c", script, "bash", str(source / "cmake/completion/prismfield.bash"), program, *words]
        return [line for line in output(*command, cwd=self.folder).splitlines() if line]

    def test_commands(self):
        commands = re.findall(r"^  prismfield (\w+)", output(program, "--help"), re.MULTILINE)
        self.assertGreater(len(commands), 7)
        self.assertEqual(self.offered(""), [*commands, "--help", "--version"])
        self.assertEqual(self.offered("inv"), ["invert"])

    def test_options(self):
        self.assertEqual(
            self.offered("run", "case.yaml", "--"),
            ["--help", "--set", "--check", "--dry-run", "--resume", "--quiet", "--output"],
        )
        self.assertEqual(self.offered("compare", "--tol"), ["--tolerance"])

    def test_keys(self):
        keys = output(program, "help", "--keys").split()
        self.assertEqual(self.offered("run", "case.yaml", "--set", ""), [key + "=" for key in keys])
        self.assertEqual(self.offered("run", "case.yaml", "--set", "execution.sl"), ["execution.slots="])
        self.assertEqual(self.offered("study", "--set", "repe"), ["repeats="])
        self.assertEqual(self.offered("help", "execution.slo"), ["execution.slots"])

    def test_files(self):
        self.assertEqual(sorted(self.offered("run", "")), ["case.yaml", "deeper", "other.yml", "two words.yaml"])
        self.assertEqual(sorted(self.offered("compare", "")), ["deeper", "result.nc", "table.csv"])
        self.assertEqual(self.offered("run", "case.yaml", "--output", "res"), ["result.nc"])
        self.assertIn("notes.txt", self.offered("convert", ""))
        self.assertEqual(self.offered("info", ""), [])

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        subprocess.run(["zsh", "-n", str(source / "cmake/completion/_prismfield")], check=True)


class ManPage(unittest.TestCase):
    def test_it_is_a_page_with_all_commands_options_codes_and_variables(self):
        page = output(program, "help", "--man")
        for section in ("NAME", "SYNOPSIS", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"):
            self.assertIn(f"\n.SH {section}\n", page)
        plain = page.replace("\\-", "-")
        for command in re.findall(r"^  prismfield (\w+)", output(program, "--help"), re.MULTILINE):
            self.assertIn(f"\n.SS prismfield {command}", plain)
            for option in re.findall(r"^  (--[a-z-]+)", output(program, command, "--help"), re.MULTILINE):
                self.assertRegex(plain, rf"\n\.B {option}\b")
        for word in ("130", "PRISMFIELD_PYTHON", "OMP_NUM_THREADS"):
            self.assertIn(f"\n.B {word}", plain)
        if shutil.which("groff"):
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww"], input=page, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("forward model: fields at points, written to a file", done.stdout)


if __name__ == "__main__":
    program, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
