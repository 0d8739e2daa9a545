# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Files read once for several ranks: the same fields and the same messages as with one rank, also where nodes see other
files. Python's standard library alone.

Usage: test_inputs_of_ranks.py PRISMFIELD --write-prisms PROGRAM --library FULL_DISK --mpiexec COMMAND
"""

import os
import pathlib
import random
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from rank_options import main, options

CASE = """\
model:
  prisms: {{file: {prisms}}}
observations:
  stations: {{file: stations.csv}}
fields: all
execution: {{space: serial, partition: {partition}}}
output: {{file: {output}}}
"""

CELLS = """\
model:
  voxels: {{easting: [0, 1000, {cells}], northing: [0, 1000, 10], upward: [-500, 0, 5], density: 300}}
observations:
  grid: {{easting: [0, 1000, 12], northing: [0, 1000, 11], upward: 10}}
fields: [gz]
execution: {{space: serial}}
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


def prisms_in_rows(n, first=0):
    """Prisms side by side of different sizes, so that an exchanged one shows."""
    numbers = random.Random(1)
    rows = []
    for i in range(first, first + n):
        west, south = 100.0 * (i % 20), 100.0 * (i // 20)
        rows.append(
            [west, west + numbers.uniform(20, 100), south, south + numbers.uniform(20, 100),
             -numbers.uniform(200, 400), -numbers.uniform(0, 100), numbers.uniform(-500, 500)]
        )
    return rows


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_ranks_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        stations = random.Random(2)
        lines = ["easting,northing,upward"]
        for _ in range(53):
            lines.append(f"{stations.uniform(0, 2000)},{stations.uniform(0, 1500)},{stations.uniform(1, 300)}")
        self.write("stations.csv", "\n".join(lines) + "\n")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def write_prisms(self, stem, rows):
        """The same prisms as CSV and as HDF5."""
        lines = [" ".join(repr(float(value)) for value in row) for row in rows]
        self.write(stem + ".csv", "\n".join(line.replace(" ", ",") for line in lines) + "\n")
        self.write(stem + ".txt", "\n".join(lines) + "\n")
        subprocess.run(
            [options.write_prisms, stem + ".txt", stem + ".h5"], cwd=self.folder, check=True, timeout=300
        )

    def run_program(self, ranks, *arguments):
        launcher = [*shlex.split(options.mpiexec), "-n", str(ranks)] if ranks > 1 else []
        return subprocess.run(
            [*launcher, options.program, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )

    def run_case(self, ranks, prisms, partition, output="out.h5", **keys):
        self.write("case.yaml", CASE.format(prisms=prisms, partition=partition, output=output))
        settings = [word for key, value in keys.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
        return self.run_program(ranks, "run", "case.yaml", *settings)

    def expect_same(self, stem, cases):
        done = self.run_case(1, stem + ".csv", "prisms", "one.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        for ranks, kind, partition in cases:
            with self.subTest(ranks=ranks, kind=kind, partition=partition):
                done = self.run_case(ranks, f"{stem}.{kind}", partition)
                self.assertEqual(done.returncode, 0, done.stderr)
                compared = self.run_program(1, "compare", "out.h5", "one.h5", "--tolerance", "1e-13")
                self.assertEqual(compared.returncode, 0, compared.stdout + compared.stderr)

    def test_every_number_of_ranks_and_partition_gives_the_same_fields(self):
        self.write_prisms("bodies", prisms_in_rows(251))
        cases = [(r, k, p) for r in (1, 2, 3, 4, 7) for k in ("csv", "h5") for p in ("prisms", "points")]
        cases += [(4, kind, "{ranks: [2, 2]}") for kind in ("csv", "h5")]
        self.expect_same("bodies", cases)

    def test_a_tolerance_is_checked_by_the_prisms_that_ranks_have(self):
        self.write_prisms("bodies", prisms_in_rows(251))
        keys = {"execution__tolerance": "1e-5", "execution__check_points": 20}
        self.assertEqual(self.run_case(1, "bodies.h5", "prisms", "exact.h5").returncode, 0)
        for ranks, partition in ((1, "prisms"), (2, "prisms"), (3, "points"), (4, "{ranks: [2, 2]}")):
            with self.subTest(ranks=ranks, partition=partition):
                done = self.run_case(ranks, "bodies.h5", partition, **keys)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"(?m)^tolerance 1e-05: within \d.* at 20 points")
                compared = self.run_program(1, "compare", "out.h5", "exact.h5", "--tolerance", "1e-5")
                self.assertEqual(compared.returncode, 0, compared.stdout + compared.stderr)

    def test_fewer_prisms_than_ranks(self):
        self.write_prisms("few", prisms_in_rows(2))
        self.expect_same("few", [(3, k, p) for k in ("csv", "h5") for p in ("prisms", "points")])

    def test_prisms_of_zero_size_keep_the_numbering_and_may_be_all_that_a_rank_reads(self):
        rows = prisms_in_rows(60)
        for i in [1, 2, *range(20, 40)]:
            rows[i][1] = rows[i][0]
        self.write_prisms("gaps", rows)
        self.expect_same("gaps", [(3, kind, "prisms") for kind in ("csv", "h5")])
        for kind, number in (("csv", "line 2"), ("h5", "index 1")):
            one = self.run_case(1, f"gaps.{kind}", "prisms")
            three = self.run_case(3, f"gaps.{kind}", "prisms")
            self.assertIn(f"22 prisms of zero size left out, the first at {number}", one.stderr)
            warnings = [[x for x in done.stderr.splitlines() if x.startswith("warning: gaps")] for done in (one, three)]
            self.assertEqual(warnings[1], warnings[0])

    def expect_same_mistakes(self, prisms, *parts):
        one = self.run_case(1, prisms, "prisms")
        self.assertEqual(one.returncode, 2, one.stderr)
        for part in parts:
            self.assertIn(part, one.stderr)
        begin = time.monotonic()
        three = self.run_case(3, prisms, "prisms")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(three.returncode, 2, three.stderr)
        # Open MPI adds a word of its own about the code
        said = three.stderr[: len(one.stderr)]
        self.assertEqual(said, one.stderr)
        self.assertEqual(three.stderr.count(one.stderr.splitlines()[0]), 1)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_mistakes_are_told_once_with_their_places(self):
        rows = prisms_in_rows(60)
        rows[2][6] = float("nan")
        rows[31][0], rows[31][1] = rows[31][1], rows[31][0]
        rows[55] = list(rows[3])
        self.write_prisms("wrong", rows)
        self.expect_same_mistakes("wrong.csv", "wrong.csv:3", "wrong.csv:32", "wrong.csv:56")
        self.expect_same_mistakes("wrong.h5", "density[2]", "prism [31]", "prism [55]")

    def test_overlaps_between_ranks_are_found(self):
        rows = prisms_in_rows(60)
        rows[55] = list(rows[3])
        self.write_prisms("twice", rows)
        self.expect_same_mistakes("twice.h5", "prism [55]: overlaps the prism of index 3")
        done = self.run_case(3, "twice.h5", "prisms", model__prisms__allow_overlap="true")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_files_that_are_not_there_or_something_else(self):
        self.expect_same_mistakes("nothing.csv", "there is no such file")
        self.expect_same_mistakes("nothing.h5", "there is no such file")
        self.write("text.h5", "1 2 3\n")
        self.expect_same_mistakes("text.h5", "is no HDF5 or netCDF file")
        self.write_prisms("empty", [])
        self.expect_same_mistakes("empty.h5", "holds no prisms")
        self.write_prisms("bodies", prisms_in_rows(60))
        whole = (self.folder / "bodies.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[: len(whole) // 2])
        self.expect_same_mistakes("cut.h5", "cut.h5")

    def test_mistakes_of_model_and_stations_come_together(self):
        self.write_prisms("wrong", [[5, 4, 0, 1, -2, -1, 300]])
        self.write("stations.csv", "easting,northing,upward\n1,2,three\n")
        self.expect_same_mistakes("wrong.csv", "wrong.csv:1", "stations.csv:2")

    def writing_end(self, path):
        """The pipe, opened as soon as somebody reads from it."""
        for _ in range(600):
            try:
                end = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                os.set_blocking(end, True)
                return end
            except OSError:
                time.sleep(0.1)
        self.fail("nobody reads the file")

    def test_a_file_that_vanishes_after_the_first_reader_opened_it(self):
        # A pipe is read once: whoever comes second finds it gone.
        os.mkfifo(self.folder / "pipe.csv")
        self.write("case.yaml", CASE.format(prisms="pipe.csv", partition="prisms", output="out.h5"))
        command = [*shlex.split(options.mpiexec), "-n", "3", options.program, "run", "case.yaml"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            with os.fdopen(self.writing_end(self.folder / "pipe.csv"), "w", encoding="utf-8") as pipe:
                (self.folder / "pipe.csv").unlink()
                for row in prisms_in_rows(30):
                    pipe.write(",".join(map(repr, row)) + "\n")
            _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        # all ranks have what one of them read
        self.write_prisms("kept", prisms_in_rows(30))
        self.assertEqual(self.run_case(1, "kept.csv", "prisms", "one.h5").returncode, 0)
        compared = self.run_program(1, "compare", "out.h5", "one.h5", "--tolerance", "1e-13")
        self.assertEqual(compared.returncode, 0, compared.stdout)

    def test_cells_and_heights_from_files(self):
        numbers = random.Random(3)
        self.write("density.txt", "".join(f"{numbers.choice([0, 100, 250, -40])}\n" for _ in range(12 * 10 * 5)))
        heights = [f"{e},{n},{numbers.uniform(5, 50)}" for n in range(0, 70, 10) for e in range(0, 90, 10)]
        self.write("heights.csv", "easting,northing,upward\n" + "\n".join(heights) + "\n")
        self.write(
            "cells.yaml",
            "model:\n  voxels: {easting: [0, 80, 12], northing: [0, 60, 10], upward: [-50, 0, 5], "
            "density: {file: density.txt}}\n"
            "observations:\n  grid: {easting: [0, 80, 9], northing: [0, 60, 7], upward: {file: heights.csv}}\n"
            "execution: {space: serial}\n",
        )
        for ranks in (1, 3):
            done = self.run_program(ranks, "run", "cells.yaml", "--output", f"cells_{ranks}.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
        compared = self.run_program(1, "compare", "cells_3.h5", "cells_1.h5", "--tolerance", "1e-13")
        self.assertEqual(compared.returncode, 0, compared.stdout)
        self.write("density.txt", "1\n2\n")
        for ranks in (1, 3):
            done = self.run_program(ranks, "run", "cells.yaml")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("holds 2 values"), 1)

    def test_an_unknown_option_is_reported_once(self):
        done = self.run_program(2, "run", "case.yaml", "--chek")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("--chek: is no option of prismfield run"), 1, done.stderr)

    def run_on_nodes(self, *words):
        """Two ranks that see the files below a folder of their own, as nodes may."""
        command = shlex.split(options.mpiexec)
        for node in ("one", "two"):
            command += [":"] if node == "two" else []
            command += ["-n", "1", "--wdir", str(self.folder / node), options.program, *words]
        return subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
            env={**os.environ, "OMP_NUM_THREADS": "1"}
        )

    def test_a_list_that_nodes_see_differently(self):
        for node in ("one", "two"):
            (self.folder / node).mkdir()
            self.write(f"{node}/case.yaml", LISTED)
        self.write_prisms("one/bodies", prisms_in_rows(2))
        shutil.copy(self.folder / "one/bodies.h5", self.folder / "two/bodies.h5")
        self.assertEqual(self.run_on_nodes("run", "case.yaml").returncode, 0, "copies are as good")
        (self.folder / "one/out.h5").rename(self.folder / "first.h5")
        self.write_prisms("two/bodies", prisms_in_rows(2, first=1))
        self.assertEqual(self.run_on_nodes("run", "case.yaml").returncode, 0, "the first rank's list counts")
        done = self.run_program(1, "compare", "one/out.h5", "first.h5", "--tolerance", "1e-13")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_results_that_nodes_see_differently_are_compared_by_the_first(self):
        for node, cells in (("one", 10), ("two", 20)):
            (self.folder / node).mkdir()
            for name, cells_of_file in (("x", 10), ("y", cells)):
                self.write("cells.yaml", CELLS.format(cells=cells_of_file))
                done = self.run_program(1, "run", "cells.yaml", "--output", f"{node}/{name}.h5")
                self.assertEqual(done.returncode, 0, done.stderr)
        compared = self.run_program(1, "compare", "two/x.h5", "two/y.h5", "--tolerance", "0")
        self.assertEqual(compared.returncode, 3, "the others differ: " + compared.stderr)
        done = self.run_on_nodes("compare", "x.h5", "y.h5", "--tolerance", "0")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
