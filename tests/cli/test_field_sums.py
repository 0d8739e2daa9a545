# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""A field that is a sum of native ones, guv = (gyy - gxx)/2: a row of the table of fields, and no other place names it.
Each command has it, and gives what gxx and gyy give, however it is computed and kept. Figures: test_plot.py.

Usage: test_field_sums.py PRISMFIELD [--mpiexec COMMAND]
"""

import argparse
import csv
import os
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import BLOCK, ProgramFolder

options = None

CASE = "title: Sums of fields\n" + BLOCK + """\
observations:
  grid: {easting: [25, 575, 12], northing: [25, 575, 11], upward: 20}
fields: guv
sensitivity: {store: none}
inversion:
  data: {file: data.csv}
  sigma: {floor: {guv: 0.05, gxx: 0.05, gyy: 0.05}}
  bounds: [0, 400]
output: {file: fields.csv}
"""
STORED = {"none": 1e-13, "memory": 1e-13, "memory, precision: float": 1e-6, "file, file: G.h5": 1e-13,
          "auto, compression: 1e-5": 1e-4}


class FieldSums(ProgramFolder):
    case = CASE

    def columns(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return {re.split(r"[ \[]", key)[0]: [float(row[key]) for row in rows] for key in rows[0]}

    def fields(self, command, fields, *arguments, **keywords):
        name = f"{command}.csv"
        arguments = ("--set", f"fields=[{fields}]", "--output", name, *arguments)
        self.done(command, "case.yaml", "--quiet", *arguments, **keywords)
        return self.columns(name)

    def assert_near(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        size = max(map(abs, expected))
        self.assertGreater(size, 1)
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), tolerance * size)

    @staticmethod
    def sum_of(fields):
        return [(gyy - gxx) / 2 for gxx, gyy in zip(fields["gxx"], fields["gyy"])]


class Runs(FieldSums):
    def test_every_way_to_compute_it(self):
        expected = self.sum_of(self.fields("run", "gxx, gyy"))
        spaces = re.search(r"(?m)^execution spaces +(.*?)(;|$)", self.done("info").stdout).group(1)
        ways = [f"space: {space}" for space in re.findall("serial|openmp|cuda|hip", spaces)]
        ways += ["partition: points", "memory_limit: 20 KiB", "slots: 3, batch: 5"]
        for way in [*ways, "precision: single"]:
            with self.subTest(way):
                found = self.fields("run", "gz, gxx, gyy, guv", "--set", f"execution={{{way}}}")
                single = "precision" in way
                self.assert_near(found["guv"], self.sum_of(found), 1e-14)
                self.assert_near(found["guv"], expected, 1e-5 if single else 1e-13)
                alone = self.fields("run", "guv", "--set", f"execution={{{way}}}")
                self.assertEqual(set(alone) - {"easting", "northing", "upward"}, {"guv"})
                self.assert_near(alone["guv"], expected, 1e-5 if single else 1e-13)

    def test_axes_and_noise(self):
        down = self.fields("run", "guv")
        up = self.fields("run", "guv", "--set", "axes=z_up")
        self.assertEqual(up["guv"], down["guv"])
        noisy = self.fields("run", "guv", "--set", "observations.noise={guv: 0.5}")
        self.assertEqual(set(noisy["guv_sigma"]), {0.5})
        difference = [a - b for a, b in zip(noisy["guv"], down["guv"])]
        self.assertLess(abs((sum(d * d for d in difference) / len(difference)) ** 0.5 - 0.5), 0.1)

    def test_all_is_the_native_ten(self):
        self.assertNotIn("guv", self.fields("run", "all"))
        self.assertIn("guv", self.fields("run", "all, guv"))

    def test_ranks(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        expected = self.fields("run", "guv")["guv"]
        for partition in ("prisms", "points", "{ranks: [2, 1]}"):
            launcher = [*options.mpiexec, "-n", "2"]
            found = self.fields("run", "guv", "--set", f"execution.partition={partition}", launcher=launcher)
            self.assert_near(found["guv"], expected, 1e-13)
            found = self.fields("sensitivity", "guv", "--set", f"execution.partition={partition}", launcher=launcher)
            self.assert_near(found["guv"], expected, 1e-13)


class Operators(FieldSums):
    def test_every_way_to_keep_sensitivities(self):
        expected = self.fields("run", "guv")["guv"]
        for store, tolerance in STORED.items():
            with self.subTest(store):
                self.skip_compression_on_a_device(store)
                setting = ("--set", f"sensitivity={{store: {store}}}")
                self.assert_near(self.fields("sensitivity", "guv", *setting)["guv"], expected, tolerance)
                (self.folder / "G.h5").unlink(missing_ok=True)
                found = self.fields("sensitivity", "gxx, gyy, guv", *setting)
                self.assert_near(found["guv"], self.sum_of(found), 1.5 * tolerance)

    def test_an_inversion_of_it_is_that_of_its_parts(self):
        """What the models, of G kept in any way, pull by gxx and gyy is what the data say of guv."""
        self.done("run", "case.yaml", "--quiet", "--set", "fields=[guv]", "--set",
                  "observations.noise={guv: 0.05, seed: 3}", "--output", "data.csv")
        models = []
        for store in ("none", "memory, precision: float", "auto, compression: 1e-5"):
            with self.subTest(store):
                self.skip_compression_on_a_device(store)
                setting = f"sensitivity={{store: {store}}}"
                result = self.done("invert", "case.yaml", "--set", setting, "--output", "model.h5")
                self.assertRegex(result.stdout, r"(?m)^data.csv, guv: RMS of residuals over sigma (1\.0|0\.9)\d+$")
                self.done("convert", "model.h5", "values.txt", "--to", "values", "--quiet")
                values = list(map(float, (self.folder / "values.txt").read_text().split()))
                models.append(values)
                self.write("found.yaml", CASE.split("    density: 0")[0] + "    density: {file: values.txt}\n"
                           + "observations:" + CASE.split("observations:")[1].split("sensitivity:")[0])
                self.done("run", "found.yaml", "--quiet", "--set", "fields=[gxx, gyy]", "--output", "found.csv")
                found = self.sum_of(self.columns("found.csv"))
                data = self.columns("data.csv")["guv"]
                rms = (sum((a - b) ** 2 for a, b in zip(found, data)) / len(data)) ** 0.5
                self.assertLess(abs(rms / 0.05 - 1), 0.05)
        for values in models[1:]:
            self.assert_near(values, models[0], 0.02)


class Files(FieldSums):
    def test_results_tables_and_other_programs_files(self):
        expected = self.fields("run", "guv")["guv"]
        self.done("run", "case.yaml", "--quiet", "--output", "a.h5")
        steps = (("a.h5", "b.csv"), ("b.csv", "c.h5"), ("c.h5", "d.obs"), ("c.h5", "e.xyz"), ("e.xyz", "f.csv"))
        for source, to in steps:
            field = ("--field", "guv") if to == "d.obs" else ()
            self.done("convert", source, to, "--quiet", *field)
        for name in ("b.csv", "f.csv"):
            self.assert_near(self.columns(name)["guv"], expected, 1e-15)
        rows = [line.split() for line in (self.folder / "d.obs").read_text().splitlines()]
        ubc = [float(row[3]) for row in rows if len(row) == 4]
        self.assert_near(ubc, expected, 1e-8)
        self.assertRegex(self.done("compare", "a.h5", "c.h5", "--tolerance", "1e-15").stdout, r"(?m)^guv ")

    def test_help_names_it(self):
        self.assertIn("guv (Eotvos), gravity gradient", " ".join(self.done("help", "fields").stdout.split()))
        for key in ("observations.noise.guv", "inversion.sigma.floor.guv", "inversion.sigma.relative.guv"):
            self.assertIn(key.replace("guv", "FIELD"), self.done("help", key).stdout)
        said = self.run_program("run", "case.yaml", "--set", "fields=guw")
        self.assertEqual(said.returncode, 2)
        self.assertIn("guv", said.stderr)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    options.mpiexec = shlex.split(options.mpiexec)
    # so little work is slow by threads that wait for cores that others use
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    ProgramFolder.program = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
