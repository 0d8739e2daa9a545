# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Ranks that do not belong together: other commands, cases, files or builds end with code 2 and one message, and never
hang. Python's standard library alone.

Usage: test_likeness_of_ranks.py PRISMFIELD --write-prisms PROGRAM --library FULL_DISK --mpiexec COMMAND
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from rank_options import main, options

CASE = """\
model:
  voxels: {{easting: [0, 1000, {cells}], northing: [0, 1000, 10], upward: [-500, 0, 5], density: 300}}
observations:
  grid: {{easting: [0, 1000, 12], northing: [0, 1000, 11], upward: 10}}
fields: [gz]
execution: {{space: serial}}
output: {{file: out.h5}}
"""

LISTED = """\
model:
  prisms: {file: bodies.h5}
observations:
  grid: {easting: [0, 1000, 12], northing: [0, 1000, 11], upward: 10}
fields: [gz]
execution: {space: serial}
output: {file: out.h5}
"""


class Likeness(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_likeness_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("a.yaml", CASE.format(cells=10))
        self.write("b.yaml", CASE.format(cells=20))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def launch(self, *ranks):
        """Starts groups of ranks, each a number, options of mpirun and a command."""
        line = []
        for n, flags, *command in ranks:
            line += [":", "-n", str(n), *flags, *command]
        line[:1] = shlex.split(options.mpiexec)
        return subprocess.run(
            line, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
            env={**os.environ, "OMP_NUM_THREADS": "1", "ASAN_OPTIONS": "detect_leaks=0"}
        )

    def refused(self, *ranks, message):
        done = self.launch(*ranks)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("need one") + done.stderr.count("the same for all ranks"), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "out.h5").exists())

    def commands(self, *commands, message):
        """Ranks of the program with other commands each."""
        self.refused(*((1, [], options.program, *words) for words in commands), message=message)

    def test_two_cases(self):
        self.commands(
            ["run", "a.yaml"], ["run", "b.yaml"],
            message="the ranks of a run need one command: that of rank 1 is 'prismfield run b.yaml', that of rank 0 "
            "'prismfield run a.yaml'; start each run by an mpirun or srun of its own\n",
        )

    def test_other_options(self):
        for words in (["--check"], ["--dry-run"], ["--set", "fields=[gx]"], ["--output", "c.h5"], ["--resume"]):
            with self.subTest(words=words):
                self.commands(["run", "a.yaml", *words], ["run", "a.yaml"], message=f"run a.yaml {words[0]}")
                self.commands(["run", "a.yaml"], ["run", "a.yaml", *words], message=f"run a.yaml {words[0]}")

    def test_other_commands(self):
        for words in (["info"], ["compare", "a.h5", "b.h5"], ["--version"], [], ["run"], ["run", "a.yaml", "--chek"]):
            with self.subTest(words=words):
                self.commands(["run", "a.yaml"], words, message="that of rank 1 is")
                self.commands(words, ["run", "a.yaml"], message="that of rank 1 is 'prismfield run a.yaml'")

    def test_which_ranks(self):
        self.refused(
            (2, [], options.program, "run", "a.yaml"), (2, [], options.program, "info"), message="that of ranks 2 and 3 is"
        )

    def test_a_mistake_of_all_is_told_as_of_one(self):
        done = self.launch((2, [], options.program, "run", "a.yaml", "--chek"))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("--chek: is no option of prismfield run"), 1)

    def test_kokkos_options_may_differ(self):
        one = [options.program, "run", "a.yaml", "--kokkos-num-threads=1"]
        two = [options.program, "run", "a.yaml", "--kokkos-num-threads=2"]
        done = self.launch((1, [], *one), (1, [], *two))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_version(self):
        told = subprocess.run([options.program, "--version"], capture_output=True, timeout=60, check=True).stdout
        git_hash = re.search(rb"\((\S+)\)", told)[1]
        program = pathlib.Path(options.program).read_bytes()
        self.assertIn(git_hash, program)
        other = self.folder / "other"
        shutil.copy(options.program, other)
        other.write_bytes(program.replace(git_hash, b"x" * len(git_hash)))
        self.refused(
            (1, [], options.program, "run", "a.yaml"), (2, [], str(other), "run", "a.yaml"),
            message="build of prismfield: that of ranks 1 and 2 is",
        )

    def test_another_file_of_the_same_version(self):
        other = self.folder / "other"
        shutil.copy(options.program, other)
        with open(other, "ab") as file:
            file.write(b"\0")
        done = self.launch((1, [], options.program, "run", "a.yaml"), (1, [], str(other), "run", "a.yaml"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def nodes(self, *words):
        """Two ranks that see the files below a folder of their own, as nodes may."""
        return [(1, ["--wdir", str(self.folder / node)], options.program, *words) for node in ("one", "two")]

    def test_a_case_that_nodes_see_differently(self):
        self.write("one/case.yaml", CASE.format(cells=10))
        self.write("two/case.yaml", CASE.format(cells=20))
        self.refused(
            *self.nodes("run", "case.yaml"),
            message="case.yaml: is not the same for all ranks: rank 1 reads another case than rank 0",
        )

    def test_a_list_that_nodes_see_differently(self):
        info = subprocess.run([options.program, "info"], capture_output=True, text=True, timeout=60).stdout
        if not re.search(r"(?m)^ *HDF5 .*parallel", info):
            self.skipTest("this HDF5 library is serial: rank 0 alone reads lists")
        for node in ("one", "two"):
            self.write(f"{node}/case.yaml", LISTED)
        self.write_prisms("one/bodies", 300)
        shutil.copy(self.folder / "one/bodies.h5", self.folder / "two/bodies.h5")
        self.assertEqual(self.launch(*self.nodes("run", "case.yaml")).returncode, 0, "copies are as good")
        (self.folder / "one/out.h5").unlink()
        self.write_prisms("two/bodies", 301)
        message = "case.yaml:2: model.prisms.file: 'bodies.h5' is not the same for all ranks: for rank 1 it is another file"
        self.refused(*self.nodes("run", "case.yaml"), message=message)
        self.assertFalse((self.folder / "one/out.h5").exists())
        (self.folder / "two/bodies.h5").unlink()
        self.refused(*self.nodes("run", "case.yaml"), message=message)

    def write_prisms(self, stem, density):
        self.write(stem + ".txt", f"0 100 0 100 -100 0 {density}\n200 300 0 100 -100 0 {density}\n")
        subprocess.run([options.write_prisms, stem + ".txt", stem + ".h5"], cwd=self.folder, check=True, timeout=60)

    def test_results_that_nodes_see_differently_are_compared_by_the_first(self):
        for node, cells in (("one", 10), ("two", 20)):
            for name, cells_of_file in (("x", 10), ("y", cells)):
                self.write("c.yaml", CASE.format(cells=cells_of_file))
                path = self.folder / node / f"{name}.h5"
                path.parent.mkdir(exist_ok=True)
                done = subprocess.run([options.program, "run", "c.yaml", "--output", path], cwd=self.folder,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
        done = self.launch(*self.nodes("compare", "x.h5", "y.h5", "--tolerance", "0"))
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
