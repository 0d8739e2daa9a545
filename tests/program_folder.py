# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""A folder in which a test runs the program, and the small case in it. Needs Python's standard library alone."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

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


class ProgramFolder(unittest.TestCase):
    """A test in a new folder, which is also the working folder of the program."""

    # set by the command line of the test
    program = None
    case = CASE

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield test "))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("case.yaml", self.case)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return path

    def paths(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def files(self):
        return [path for path in self.paths() if (self.folder / path).is_file()]

    def run_program(self, *arguments, launcher=(), **keywords):
        keywords.setdefault("cwd", self.folder)
        keywords.setdefault("timeout", 300)
        keywords.setdefault("stdout", subprocess.PIPE)
        if launcher:
            # Under the address sanitizer: what MPI libraries leave behind at the end is not ours.
            keywords.setdefault("env", {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        return subprocess.run(
            [*launcher, self.program, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **keywords
        )

    def done(self, *arguments, **keywords):
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, *arguments, lines, **keywords):
        """A mistake: code 2, exactly these lines on standard error, nothing on standard output, no new file or folder."""
        before = self.paths()
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.stderr.splitlines(), lines)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.paths(), before)

    def stopped(self, number, is_ready, *arguments, **keywords):
        """A signal, sent when is_ready() says so, ends the program with code 130; no new file or folder."""
        before = self.paths()
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, **keywords)
        try:
            end = time.monotonic() + 60
            while not is_ready() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(number)
            process.wait(60)
        finally:
            process.kill()
            said = process.stderr.readline()
            process.stderr.close()
        self.assertEqual((process.returncode, said), (130, "stopped by a signal\n"))
        self.assertEqual(self.paths(), before)
