# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""`prismfield invert` as a user types it, and as one who means no good: models, messages, checkpoints, kills, disks.
Models are read by h5py where Python has it; else those tests are skipped.

Usage: test_invert.py PRISMFIELD --source FOLDER [--full-disk LIBRARY] [--mpiexec COMMAND]
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import BLOCK, ProgramFolder

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = None

options = None

# run makes the data of it, invert the model
CASE = "title: Small inversion\nfields: gz\n" + BLOCK + """\
observations:
  grid: {easting: [25, 575, 12], northing: [25, 575, 12], upward: 2}
  noise: {gz: 0.02, seed: 4}
inversion:
  data: {file: data.csv}
  bounds: [0, 400]
  norm: [0, 2, 2, 2]
  uncertainty: {samples: 20}
output: {file: model.h5}
"""
CELLS = (6, 12, 12)
NOTE = ("note: invert does not use model.voxels.density (case.yaml:8), model.voxels.boxes (case.yaml:9), "
        "observations (case.yaml:11)")
ROW = re.compile(r"(?m)^(cool|target|compact|beta) +(\S+) +(\S+) +(\S+) +(\S+) +(\d+) +(\S+) +(\S+) +(\S+)$")
# after every solution
CHECKPOINT = ("--set", "output.checkpoint={every: 0.000001 s, file: model.ckpt}")
# what `auto` takes is measured anew in every run, and stored sensitivities round otherwise
STORED = ("--set", "sensitivity.store=memory")
# of src/compute/checkpoint.hpp
VERSION = 8
DAMAGED = "model.ckpt is damaged; without --resume the inversion begins anew and replaces it"
ANOTHER_VERSION = ("model.ckpt was written by another version of prismfield; without --resume the inversion begins anew and "
                   "replaces it")
FOREIGN = ("is no checkpoint of prismfield; it is not replaced; move it away, or give the checkpoint another name")


class Inversion(ProgramFolder):
    case = CASE

    def setUp(self):
        super().setUp()
        self.done("run", "case.yaml", "--quiet", "--output", "data.csv")
        self.at_first = self.files()

    def invert(self, *arguments, **keywords):
        return self.run_program("invert", "case.yaml", *arguments, **keywords)

    def inverted(self, *arguments, **keywords):
        return self.done("invert", "case.yaml", *arguments, **keywords)

    def refused_line(self, line, *arguments, **keywords):
        self.refused("invert", "case.yaml", *arguments, lines=[line], **keywords)

    def model(self, name="model.h5"):
        """Densities and standard deviations, as they are in the file."""
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / name, "r") as file:
            return file["density"][...], file["density_sigma"][...]

    def assert_same_model(self, name, other):
        for a, b in zip(self.model(name), self.model(other), strict=True):
            self.assertEqual(a.tobytes(), b.tobytes(), f"{name} is not {other} bit for bit")

    def edit_data(self, name, changes, drop=()):
        """A copy of the data; changes: (line, column) -> text, both from 1."""
        rows = [row.split(",") for row in (self.folder / "data.csv").read_text().splitlines()]
        for (line, column), text in changes.items():
            rows[line - 1][column - 1] = text
        keep = [i for i, _ in enumerate(rows[0], 1) if i not in drop]
        self.write(name, "".join(",".join(row[i - 1] for i in keep) + "\n" for row in rows))
        return ["--set", f"inversion.data.file={name}"]


class Held(Inversion):
    """Inversions that get a signal at a moment of their checkpoints: moments 1 and 2 are before and after the rename of
    the first, and so on."""

    def stopped_at(self, moment, *arguments, command="invert", **keywords):
        return super().stopped_at("model.ckpt", moment, command, "case.yaml", "--quiet", *CHECKPOINT, *arguments, **keywords)

    def need_checkpoint(self, *arguments):
        self.assertEqual(self.stopped_at(4, *arguments)[0], 130)
        self.assertTrue((self.folder / "model.ckpt").exists())


class Models(Inversion):
    def test_the_shipped_block_is_found(self):
        inputs = pathlib.Path(options.source) / "inputs"
        result = self.done("invert", inputs / "invert_block.yaml", "--output", "block.h5", "--set", "output.figure=null")
        last = ROW.findall(result.stdout)[-1]
        self.assertLess(abs(float(last[3]) - 1), 0.02, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^invert_block.csv, gz: RMS of residuals over sigma (1\.0[01]|0\.99)\d$")
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "block.h5", "r") as file:
            density, chi = file["density"][...], file["convergence/chi"][-1]
            self.assertLess(abs(chi - 1), 0.02)
            self.assertEqual(density.shape, (12, 24, 24))
            self.assertTrue(np.isfinite(density).all() and density.min() >= 0 and density.max() <= 400)
            true = np.zeros(density.shape)
            true[6:10, 10:14, 9:15] = 400
            self.assertGreater(np.corrcoef(density.ravel(), true.ravel())[0, 1], 0.7)
            residual = file["data_1/gz_residual"][...]
            self.assertAlmostEqual(float((residual**2).mean()), float(chi), places=6)
            np.testing.assert_allclose(
                residual * file["data_1/gz_sigma"][...], file["data_1/gz"][...] - file["data_1/gz_predicted"][...], atol=1e-12)

    def test_data_that_look_like_tesla_are_warned_of(self):
        case = pathlib.Path(options.source) / "inputs" / "invert_magnetic.yaml"
        rows = [f"{x},{y},30,{1e-9 * (x + y):g},2e-9" for x in range(100, 1000, 200) for y in range(100, 1000, 200)]
        (self.folder / "tesla.csv").write_text("easting,northing,upward,tmi,tmi_sigma\n" + "\n".join(rows) + "\n")
        told = self.done("invert", case, "--check", "--set", f"inversion.data={{file: {self.folder / 'tesla.csv'}}}").stderr
        self.assertRegex(told, r"warning: tesla.csv: tmi is at most \S+ nT, less than instruments resolve: is it in T\? nT is exp")
        self.assertNotIn("resolve", self.done("invert", case, "--check").stderr)

    def test_the_shipped_remanence_is_found(self):
        """The direction of a magnetisation, which a susceptibility cannot have; where it is and in which files."""
        case = pathlib.Path(options.source) / "inputs" / "invert_magnetic.yaml"
        quick = ("--set", "output.figure=null", "--set", "output.also=[m.vtr, m.fld, m.mod]")
        result = self.done("invert", case, "--output", "m.h5", *quick)
        # amplitude is a field of results too
        self.refused("compare", "m.h5", "m.h5", lines=[
            "m.h5: is a model, and compare takes results alone, which hold fields at points"])
        self.assertRegex(result.stdout, r"(?m)^unknown magnetization, target chi 1, weighting by sensitivity, norm 0 2 2 2$")
        self.assertRegex(result.stdout, r"(?m)^magnetization: \S+ to \S+ A/m$")
        self.assertLess(abs(float(ROW.findall(result.stdout)[-1][3]) - 1), 0.02, result.stdout)
        for name in ("m.fld", "m.mod"):
            field = ("--field", "amplitude") if name == "m.mod" else ()
            self.done("convert", "m.h5", "of_" + name, *field)
            self.assertEqual((self.folder / ("of_" + name)).read_bytes(), (self.folder / name).read_bytes(), name)
        said = self.done("convert", "m.h5", "m.vtu").stdout
        self.assertRegex(said, r"_easting \S+ to \S+ A/m, \S+_northing .* A/m, \S+_upward .* A/m, amplitude \S+ to \S+ A/m")
        self.assertNotIn("A m-1", said)
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "m.h5", "r") as file:
            names = [f"magnetization_{direction}" for direction in ("easting", "northing", "upward")]
            model = np.array([file[name][...] for name in names])
            np.testing.assert_allclose(file["amplitude"][...], np.sqrt((model**2).sum(axis=0)), rtol=1e-12)
            self.assertNotIn("density", file)
            self.assertEqual(file[names[0]].attrs["units"], b"A m-1")
            self.assertEqual([float(file.attrs[f"inducing_field_{name}"]) for name in
                              ("inclination", "declination", "intensity")], [60, 10, 50000])
            weights = file["amplitude"][...] ** 2
            middle = [(weights * at).sum() / weights.sum() for at in np.meshgrid(
                *(file[along][...] for along in ("upward", "northing", "easting")), indexing="ij")]
        # smooth parts of the model lie below the block
        np.testing.assert_allclose(middle[1:], (525, 475), atol=30)
        self.assertLess(abs(middle[0] + 175), 100)
        inclination, declination = np.radians((-35, 130))
        true = np.array([np.cos(inclination) * np.sin(declination), np.cos(inclination) * np.cos(declination),
                         -np.sin(inclination)])
        found = model.sum(axis=(1, 2, 3))
        self.assertGreater(found @ true / np.linalg.norm(found), np.cos(np.radians(10)))

    def test_methods_that_compute_g_anew_find_the_same_model(self):
        self.inverted("--quiet", *STORED, "--set", "sensitivity.precision=double", "--output", "stored.h5")
        for method in ("tree", "fft"):
            told = self.inverted("--set", f"execution={{method: {method}, tolerance: 1e-10}}", "--output", "anew.h5")
            self.assertIn(f"computed anew in every product by {method}", told.stdout + told.stderr)
            for a, b in zip(self.model("anew.h5"), self.model("stored.h5"), strict=True):
                np.testing.assert_allclose(a, b, atol=0.4)

    def test_the_file_has_what_it_should(self):
        self.inverted("--quiet", "--set", "inversion.depth_of_investigation=true")
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "model.h5", "r") as file:
            for name in ("density", "density_sigma", "depth_of_investigation"):
                self.assertEqual(file[name].shape, CELLS, name)
                self.assertTrue(np.isfinite(file[name][...]).all(), name)
            self.assertEqual(file["density"].attrs["units"], b"kg m-3")
            for along, n in zip(("upward", "northing", "easting"), CELLS):
                self.assertEqual(file[along].shape, (n,))
            rows = {name: len(file["convergence"][name]) for name in (
                "stage", "beta", "phi_d", "chi", "phi_m", "products", "minimum", "maximum", "seconds")}
            self.assertEqual(len(set(rows.values())), 1, rows)
            for name in ("easting", "northing", "upward", "gz", "gz_sigma", "gz_predicted", "gz_residual"):
                self.assertEqual(file["data_1"][name].shape, (144,), name)
            self.assertIn(b"Small inversion", file.attrs["case"])
            self.assertIn(b"prismfield invert case.yaml", file.attrs["history"])

    def test_low_rank(self):
        """Standard deviations by a low rank: what is said and written."""
        low_rank = ("--set", "inversion.uncertainty={rank: 20}")
        result = self.inverted(*low_rank)
        self.assertRegex(result.stdout, r"standard deviation without bounds: \S+ to \S+ kg/m3, from 30 directions of the data, the prior's part "
                                        r"good to \S+ %\n")
        self.assertRegex(result.stdout, r"trace of the resolution matrix: \S+ \+- \S+ of 864 parameters; \S+ of them in these directions")
        for word in ("directions of the data 30 of 30", "variances of the prior"):
            self.assertIn(word, result.stderr)
        sizes = self.inverted(*low_rank, "--dry-run").stdout
        self.assertRegex(sizes, r"(?m)^  low rank +\S+ KiB a rank$")
        refused = self.invert("--set", "inversion.uncertainty={rank: 20}", "--set", "inversion.smallness=0")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("inversion.uncertainty: is by rank, which needs variances of the prior", refused.stderr)
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "model.h5") as file:
            self.assertEqual(file["density_sigma"].attrs["rank"], 30)
            self.assertLess(file["density_sigma"].attrs["relative_error"], 0.01)
            self.assertLess(file.attrs["resolution_trace_least"], file.attrs["resolution_trace"] + 1e-9)
            sigma = file["density_sigma"][...]
            self.assertTrue((sigma > 0).all())

    def test_what_is_printed(self):
        result = self.inverted()
        errors = [line for line in result.stderr.splitlines() if not line.startswith("progress: samples ")]
        self.assertEqual(errors, [NOTE])
        lines = result.stdout.splitlines()
        self.assertEqual(lines[:4], [
            "Small inversion",
            "model: 12 x 12 x 6 cells, 864 active; active cells easting 0 to 600, northing 0 to 600, upward -300 to 0 m",
            "data: data.csv: 144 stations, gz; easting 25 to 575, northing 25 to 575, upward 2 m",
            "target chi 1, weighting by sensitivity, norm 0 2 2 2, bounds 0 to 400 kg/m3",
        ])
        self.assertEqual(lines[6].split(),
                         ["stage", "beta", "phi_d", "chi", "phi_m", "products", "min", "max", "seconds"])
        rows = ROW.findall(result.stdout)
        self.assertIn(f"model.h5: {len(rows)} solutions, {rows[-1][5]} products in ", lines[-1])
        self.assertLess(max(map(len, lines[5:])), 100)
        self.assertTrue(all(len(line) <= 80 for line in lines if ROW.match(line)))
        self.assertLess(abs(float(rows[-1][3]) - 1), 0.021)
        products = [int(row[5]) for row in rows]
        self.assertEqual(products, sorted(products))

    def test_quiet_prints_nothing(self):
        result = self.inverted("--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual(self.files(), sorted([*self.at_first, "model.h5"]))

    def test_output_names_the_file(self):
        for name in ("other.nc", "other.h5"):
            self.inverted("--quiet", *STORED, "--output", name)
        self.assertEqual(self.files(), sorted([*self.at_first, "other.h5", "other.nc"]))
        self.assert_same_model("other.h5", "other.nc")

    def test_check_and_dry_run_write_nothing(self):
        result = self.inverted("--check")
        self.assertEqual((result.stdout, result.stderr), ("case.yaml: no errors found\n", NOTE + "\n"))
        result = self.inverted("--dry-run")
        self.assertEqual(result.stderr, NOTE + "\n")
        for row in (r"ranks +1 rank", r"G +144 x 864$", r"as double +\S+ KiB a rank, if stored$", r"vectors +\S+ KiB a rank$",
                    r"model +model.h5, about \S+ KiB$", r"estimated time +\S+ m?s: \S+ m?s to compute G once, \S+ m?s for each of about 900 products with it$"):
            self.assertRegex(result.stdout, "(?m)^  " + row)
        self.assertEqual(ROW.findall(result.stdout), [])
        for more in ("--check", "--dry-run"):
            self.assertEqual(self.inverted("--quiet", more).stdout, "")
        self.assertEqual(self.files(), self.at_first)

    def test_a_result_of_run_gives_the_model_of_its_table(self):
        self.done("run", "case.yaml", "--quiet", "--output", "data.nc")
        self.inverted("--quiet", "--output", "a.h5")
        self.inverted("--quiet", "--output", "b.h5", "--set", "inversion.data.file=data.nc")
        for a, b in zip(self.model("a.h5"), self.model("b.h5")):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6 * abs(a).max())

    def test_threads_find_the_same_model(self):
        for threads in (1, 2):
            self.inverted("--quiet", "--output", f"{threads}.h5", env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        for a, b in zip(self.model("1.h5"), self.model("2.h5")):
            self.assertLess(abs(a - b).max(), 1e-9 * abs(b).max())

    def test_an_earlier_model_is_a_reference(self):
        self.inverted("--quiet", "--output", "first.h5")
        result = self.invert("--quiet", "--set", "inversion.reference={file: first.h5}", "--set", "inversion.norm=2")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^error: the reference fits the data already")
        self.assertTrue((self.folder / "model.h5").exists())


class Epochs(Held):
    """The same stations at several times. The second epoch has a mass that the first has not."""

    LATER = "model.voxels.boxes=[{easting: [250, 400], northing: [200, 350], upward: [-150, -50], density: 400}, " \
            "{easting: [400, 500], northing: [400, 500], upward: [-100, -50], density: 300}]"
    BOTH = ("--set", "inversion.data={epochs: [data.csv, later.csv]}")

    def setUp(self):
        super().setUp()
        self.done("run", "case.yaml", "--quiet", "--output", "later.csv", "--set", self.LATER, "--set",
                  "observations.noise.seed=9")
        self.at_first = self.files()

    def test_written_for_paraview_too(self):
        self.inverted("--quiet", *self.BOTH, "--set", "output.also=[m.vtr, m.msh]")
        self.done("convert", "model.h5", "by_convert.vtr", "--field", "density_1")
        self.assertEqual((self.folder / "m.vtr").read_bytes(), (self.folder / "by_convert.vtr").read_bytes())
        self.refused_line("--set output.also.0: holds one epoch, of which the data have 2; leave it out: prismfield "
                          "convert with --field density_1 writes the first from output.file",
                          *self.BOTH, "--set", "output.also=[m.den]")
        self.refused_line("--set inversion.uncertainty: is by rank, which is for one epoch alone; write uncertainty: "
                          "{samples: 100}", *self.BOTH, "--set", "inversion.uncertainty={rank: 20}")

    def test_what_is_printed_and_written(self):
        result = self.inverted(*self.BOTH, "--set", "inversion.depth_of_investigation=true")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[2:6], [
            "data: data.csv: 144 stations, gz; easting 25 to 575, northing 25 to 575, upward 2 m",
            "data: later.csv: 144 stations, gz; easting 25 to 575, northing 25 to 575, upward 2 m",
            "target chi 1, weighting by sensitivity, norm 0 2 2 2, bounds 0 to 400 kg/m3",
            "epochs: 2: data.csv, later.csv; change 1"])
        self.assertEqual(len([line for line in lines if line.startswith("sensitivities: ")]), 1, "G is made once")
        for name in ("data.csv", "later.csv"):
            self.assertRegex(result.stdout, rf"(?m)^{name}, gz: RMS of residuals over sigma [01]\.\d+$")
        self.assertLess(abs(float(ROW.findall(result.stdout)[-1][3]) - 1), 0.021)
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "model.h5", "r") as file:
            self.assertEqual([name.decode() for name in file["epoch"][...]], ["data.csv", "later.csv"])
            for name in ("density", "density_sigma", "depth_of_investigation"):
                self.assertEqual(file[name].shape, (2, *CELLS), name)
                self.assertTrue(np.isfinite(file[name][...]).all(), name)
            change = file["density"][1] - file["density"][0]
            # what came has its centre at 450 m, 450 m
            came = np.clip(change, 0, None).sum(axis=0)
            for axis in (0, 1):
                centre = float((came.sum(axis=axis) * np.arange(25, 600, 50)).sum() / came.sum())
                self.assertLess(abs(centre - 450), 75)
            self.assertEqual([file[f"data_{k}"].attrs["epoch"] for k in (1, 2)], [b"data.csv", b"later.csv"])
            chi = np.mean([np.mean(file[f"data_{k}/gz_residual"][...] ** 2) for k in (1, 2)])
            self.assertAlmostEqual(float(chi), float(file["convergence/chi"][-1]), places=6)

    def test_check_and_dry_run(self):
        self.assertEqual(self.inverted("--check", *self.BOTH).stdout, "case.yaml: no errors found\n")
        result = self.inverted("--dry-run", *self.BOTH)
        self.assertRegex(result.stdout, r"(?m)^  G +144 x 864$")
        self.assertEqual(self.files(), self.at_first)

    def test_the_weight_of_the_change_is_heard(self):
        apart = []
        for change in ("0", "1", "100"):
            self.inverted("--quiet", *self.BOTH, "--set", f"inversion.change={change}", "--set", "inversion.norm=2",
                          "--set", "inversion.uncertainty=none")
            if h5py is None:
                self.skipTest("no h5py")
            with h5py.File(self.folder / "model.h5", "r") as file:
                apart.append(float(abs(file["density"][1] - file["density"][0]).max()))
        self.assertLess(apart[1], 0.9 * apart[0])
        self.assertLess(apart[2], 0.5 * apart[1])

    def test_mistakes(self):
        text = (self.folder / "later.csv").read_text().splitlines(keepends=True)
        moved = text[4].split(",")
        self.write("moved.csv", "".join([*text[:4], ",".join([moved[0], "26", *moved[2:]]), *text[5:]]))
        epochs = "--set inversion.data.epochs.1: "
        self.refused_line(
            epochs + "'moved.csv' has another station than the first epoch: line 5 of moved.csv is at easting 175, northing "
            "26, upward 2, line 5 of data.csv at easting 175, northing 25, upward 2; epochs need the same stations in the same "
            "order", "--set", "inversion.data={epochs: [data.csv, moved.csv]}")
        self.write("few.csv", "".join(text[:100]))
        self.refused_line(
            epochs + "'few.csv' has another number of stations: few.csv has 99 stations, data.csv has 144; epochs need the "
            "same stations in the same order", "--set", "inversion.data={epochs: [data.csv, few.csv]}")
        self.write("bad.csv", "".join([*text[:7], "nonsense\n", *text[8:]]))
        result = self.invert("--set", "inversion.data={epochs: [data.csv, bad.csv]}")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^bad.csv:8: ")
        self.refused_line(epochs + "'none.csv' cannot be read: there is no such file",
                          "--set", "inversion.data={epochs: [data.csv, none.csv]}")
        self.refused_line("--set inversion.change: is for several epochs; write data: {epochs: [2021.csv, 2022.csv]}, or leave "
                          "change out", "--set", "inversion.change=2")
        self.refused_line("--set inversion.change: is '-1'; a number of at least 0 is expected", *self.BOTH,
                          "--set", "inversion.change=-1")
        result = self.invert(*self.BOTH, "--output", "later.csv")
        self.assertIn("--output: would replace the input later.csv; choose another name\n", result.stderr)

    def test_stopped_it_goes_on_to_the_same_models(self):
        both = (*self.BOTH, *STORED)
        self.inverted("--quiet", *both, "--output", "whole.h5")
        for moment in (2, 3, 8, 20):
            self.assertEqual(self.stopped_at(moment, *both)[0], 130)
            # of one epoch, or with other data in one of them, it is another case
            told = "model.ckpt is of another case"
            self.assertIn(told, self.invert(*CHECKPOINT, *STORED, "--resume").stderr)
            self.assertIn(told, self.invert(*CHECKPOINT, *both, "--set", "inversion.change=2", "--resume").stderr)
            later = (self.folder / "later.csv").read_text()
            self.write("later.csv", later.replace("0.02\n", "0.03\n", 1))
            self.assertIn(told, self.invert(*CHECKPOINT, *both, "--resume").stderr)
            self.write("later.csv", later)
            self.inverted("--quiet", *CHECKPOINT, *both, "--resume")
            self.assert_same_model("model.h5", "whole.h5")

    def test_ranks_and_stores_find_the_same_models(self):
        if h5py is None:
            self.skipTest("no h5py")
        precise = [*self.BOTH, "--quiet", "--set", "inversion.beta=1e-6", "--set", "inversion.norm=2", "--set",
                   "sensitivity.precision=double"]
        self.inverted(*precise, "--output", "whole.h5")
        whole, _ = self.model("whole.h5")
        ways = [(["--set", "sensitivity.store=none"], []), (["--set", "sensitivity.store=memory"], []),
                (["--set", "sensitivity={store: file, file: G.h5, precision: double}"], [])]
        if options.mpiexec:
            ways += [(["--set", "sensitivity.store=memory"], [*options.mpiexec, "-n", str(n)]) for n in (2, 3)]
        for more, launcher in ways:
            self.inverted(*precise, *more, launcher=launcher)
            model, _ = self.model()
            self.assertLess(abs(model - whole).max(), 1e-4 * abs(whole).max(), (more, launcher))

    def test_other_commands_say_what_they_need(self):
        self.inverted("--quiet", *self.BOTH)
        result = self.run_program("convert", "model.h5", "model.den")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--field: 'model.h5' has density of 2 epochs; say which by --field density_1 (the first) to --field "
                      "density_2\n", result.stderr)
        self.done("convert", "model.h5", "first.h5", "--field", "density_1")
        self.done("convert", "model.h5", "second.vtr", "--field", "density_2")
        reference = ["--check", "--output", "other.h5", "--set"]
        self.refused_line("--set inversion.reference.file: 'model.h5' has density of 2 epochs, the first of which is dataset: "
                          "density_1; say which is meant", *reference, "inversion.reference={file: model.h5}")
        for file, dataset in (("first.h5", "density_1"), ("model.h5", "density_2")):
            self.inverted(*reference, f"inversion.reference={{file: {file}, dataset: {dataset}}}")
        for dataset in ("density_0", "density_3", "density_", "density_x"):
            result = self.invert(*reference, f"inversion.reference={{file: model.h5, dataset: {dataset}}}")
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"has no dataset /{dataset}; its datasets are: ", result.stderr)
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "model.h5", "r") as all_epochs, h5py.File(self.folder / "first.h5", "r") as first:
            for epoch in (1, 2):
                np.testing.assert_array_equal(first[f"density_{epoch}"][...], all_epochs["density"][epoch - 1])
                np.testing.assert_array_equal(first[f"density_sigma_{epoch}"][...], all_epochs["density_sigma"][epoch - 1])
        # what other programs cut out of such a file
        with h5py.File(self.folder / "model.h5", "r+") as model:
            second = model["density"][1:]
            for name in ("density", "density_sigma", "epoch"):
                del model[name]
            model["epoch"] = [2022.0]
            model["epoch"].make_scale("epoch")
            model["density"] = second
            for k, name in enumerate(("epoch", "upward", "northing", "easting")):
                model["density"].dims[k].attach_scale(model[name])
        result = self.run_program("convert", "model.h5", "model.den")
        self.assertIn("'model.h5' has density of 1 epoch; say which by --field density_1", result.stderr)
        self.done("convert", "model.h5", "one.h5", "--field", "density_1")
        self.inverted(*reference, "inversion.reference={file: model.h5, dataset: density_1}")
        with h5py.File(self.folder / "one.h5", "r") as one:
            np.testing.assert_array_equal(one["density_1"][...], second[0])

    def test_the_lines_of_the_documentation(self):
        source = pathlib.Path(options.source)
        text = (source / "docs" / "inversion.md").read_text()
        lines = re.findall(r"(?m)^prismfield .*(?:before|after)\.csv.*$", text)
        self.assertEqual(len(lines), 3)
        (self.folder / "inputs").mkdir()
        for name in ("invert_block.yaml", "invert_block.csv"):
            (self.folder / "inputs" / name).write_bytes((source / "inputs" / name).read_bytes())
        for line in lines:
            self.done(*shlex.split(line)[1:], "--set", "output.figure=null")
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "epochs.h5", "r") as file:
            change = file["density"][1] - file["density"][0]
            self.assertEqual(change.shape, (12, 24, 24))
            # most of what changed is above, below and beside where the mass came
            at = np.unravel_index(np.argmax(change.max(axis=0)), (24, 24))
            self.assertTrue(9 <= at[0] <= 14 and 15 <= at[1] <= 19, at)


class Mistakes(Inversion):
    def test_data_that_cannot_be(self):
        self.refused_line("nan.csv:4: gz: 'nan' is not finite", *self.edit_data("nan.csv", {(4, 4): "nan"}))
        self.refused_line("empty.csv:4: gz: is empty; a number is expected", *self.edit_data("empty.csv", {(4, 4): ""}))
        for sigma in ("0", "-1"):
            options_of = self.edit_data("sigma.csv", {(3, 5): sigma})
            result = self.invert(*options_of)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, rf"^sigma.csv:3: gz_sigma: a standard deviation of {sigma}; it must be above 0")
        self.refused_line(
            "--set inversion.data.file: 'plain.csv' has no gz_sigma; add it, or state inversion.sigma, such as "
            "{relative: 0.02, floor: {gz: 0.05}}, or choose the fields by inversion.data.fields",
            *self.edit_data("plain.csv", {}, drop=(5,)))
        self.inverted("--check", *self.edit_data("plain.csv", {}, drop=(5,)), "--set", "inversion.sigma={floor: {gz: 0.02}}")

    def test_stations_inside_cells(self):
        self.refused_line(
            "--set inversion.data.file: low.csv: 2 stations are in or below active cells, the deepest is line 9 of low.csv "
            "(easting 375, northing 25, upward -40), 40 m below the top of the cells there. If they are in boreholes or "
            "tunnels, write underground: true beside the file: {file: low.csv, underground: true}. If they are on the "
            "ground, the cells above them are air: give inversion.topography, or mark these cells by 0 in a file "
            "inversion.active, above the deepest easting 7, northing 0, upward 5 to 5 (from 0)",
            *self.edit_data("low.csv", {(4, 3): "-20", (9, 3): "-40"}))

    def test_references_that_do_not_fit(self):
        self.write("few.txt", "1\n" * 10)
        self.refused_line("--set inversion.reference.file: 'few.txt' holds 10 values, 12 x 12 x 6 = 864 cells need one each",
                          "--set", "inversion.reference={file: few.txt}")
        self.write("high.txt", "500\n" * 864)
        result = self.invert("--set", "inversion.reference={file: high.txt}")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^--set inversion.reference.file: \S+ is outside inversion.bounds in 864 active cells, "
                                        r"the first of which is cell 0 .*: 500 kg/m3, bounds \[0, 400\]; change one of the "
                                        r"two\n$")

    def test_outputs_that_are_inputs(self):
        data = (self.folder / "data.csv").read_bytes()
        result = self.invert("--output", "data.csv")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output: would replace the input data.csv; choose another name\n", result.stderr)
        (self.folder / "link.h5").symlink_to("data.csv")
        result = self.invert("--output", "link.h5")
        self.assertIn("would replace the input data.csv", result.stderr)
        result = self.invert("--set", "output.checkpoint.file=data.csv")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--set output.checkpoint.file: would replace the input data.csv; choose another name\n", result.stderr)
        self.done("run", "case.yaml", "--quiet", "--output", "model.h5")
        before = (self.folder / "model.h5").read_bytes()
        self.refused_line("case.yaml:19: output.file: would replace the input model.h5; choose another name",
                          "--set", "inversion.data.file=model.h5")
        self.assertEqual((self.folder / "model.h5").read_bytes(), before)
        self.assertEqual((self.folder / "data.csv").read_bytes(), data)

    def test_a_table_holds_no_model(self):
        self.refused_line("--output: is a table, which holds no model; write .h5 or .nc", "--output", "m.csv")

    def test_what_is_missing_or_unknown(self):
        self.refused_line("case.yaml:1: inversion: is missing; a map with data is expected", "--set", "inversion=null")
        self.refused_line("case.yaml:14: inversion.data: is missing; the name of a file of measurements, {file: name} or a "
                          "list of these is expected", "--set", "inversion.data=null")
        self.refused_line("--set inversion.data.file: 'none.csv' cannot be read: there is no such file",
                          "--set", "inversion.data.file=none.csv")
        self.refused_line("--set inversion.data.file: 'data.csv' has no gzz, which inversion.data.fields asks for; it has gz",
                          "--set", "inversion.data={file: data.csv, fields: [gz, gzz]}")
        self.refused_line("--set inversion.bounds: has min 400 and max 0; min must be less than max",
                          "--set", "inversion.bounds=[400, 0]")
        self.refused_line("--resume: the case names no checkpoint; give it output.checkpoint.file", "--resume")

    def test_all_mistakes_come_together(self):
        result = self.invert("--set", "inversion.norm=3", "--set", "inversion.boundz=[0, 1]", "--output", "no/m.h5")
        self.assertEqual(result.returncode, 2)
        for part in ("inversion.norm: is '3'", "inversion.boundz: is no known key; did you mean bounds?"):
            self.assertIn(part, result.stderr)
        self.assertEqual(self.files(), self.at_first)


class Also(Inversion):
    """The model once more, as `convert` writes it."""

    NAMES = ("a.vtr", "b.VTU", "c.msh", "d.den", "e.mod")

    def also(self, *names):
        return ["--set", f"output.also=[{', '.join(names)}]"]

    @staticmethod
    def notes(result):
        return "".join(line for line in result.stderr.splitlines(True) if line.startswith("note: "))

    def some_air(self):
        self.write("heights.csv", "easting,northing,upward\n0,0,-60\n600,0,0\n0,600,0\n600,600,0\n")
        # stations stay above what is left of the mesh
        return ["--set", "inversion.topography={file: heights.csv}", "--set", "inversion.depth_of_investigation=true"]

    def test_files_are_those_of_convert(self):
        result = self.inverted(*self.also(*self.NAMES), *self.some_air())
        inactive = int(re.search(r"864 cells, (\d+) active", result.stdout.replace("x 6 cells", "864 cells")).group(1))
        self.assertTrue(0 < inactive < 864)
        for name in self.NAMES:
            written = self.done("convert", "model.h5", "of_convert" + pathlib.Path(name).suffix).stdout.splitlines()[-1]
            self.assertEqual((self.folder / name).read_bytes(),
                             (self.folder / ("of_convert" + pathlib.Path(name).suffix)).read_bytes(), name)
            line = re.sub(r"^written \S+: ", f"{name}: ", written)
            self.assertIn(line + "\n", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^d.den: UBC model, 864 cells .*; density in g/cm3, .*; \d+ inactive as 0$")
        for name in (b"density", b"density_sigma", b"depth_of_investigation", b"active"):
            self.assertIn(b'Name="' + name + b'"', (self.folder / "a.vtr").read_bytes())
        self.assertRegex(self.notes(result), r"\nnote: b.VTU: \d+ cells of density 0 or inactive left out\n$")
        self.assertNotIn("UBC", result.stderr)

    def test_they_are_read_again(self):
        self.inverted("--quiet", *self.also("m.msh", "m.den"))
        self.done("convert", "m.den", "back.h5", "--mesh", "m.msh")
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "back.h5", "r") as back:
            np.testing.assert_allclose(back["density"][...], self.model()[0], rtol=1e-15)
            self.assertEqual(back["upward_bounds"][0, 0], -300)

    def test_quiet_and_one_name(self):
        result = self.inverted("--quiet", "--set", "output.also=m.vtr")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual(self.files(), sorted([*self.at_first, "model.h5", "m.vtr"]))

    def test_a_model_without_its_mesh_is_told(self):
        told = "note: m.den: the numbers belong to a UBC mesh, which prismfield convert model.h5 m.msh writes\n"
        self.assertEqual(self.notes(self.inverted(*self.also("m.den"))), NOTE + "\n" + told)
        self.assertEqual(self.notes(self.inverted(*self.also("m.den", "other.msh"))), NOTE + "\n")
        self.assertEqual(self.inverted("--quiet", *self.also("m.den")).stderr, "")
        result = self.inverted("--set", "model={mesh: {ubc: {mesh: other.msh}}}", *self.also("m.den"))
        self.assertNotIn("belong to a UBC mesh", result.stderr)

    def test_dry_run_and_check_write_nothing(self):
        result = self.inverted("--dry-run", *self.also("m.vtr", "m.msh", "m.den"))
        for row in (r"m.vtr, VTK rectilinear grid, about \S+ KiB", r"m.msh, UBC mesh, about \S+ KiB",
                    r"m.den, UBC model, about \S+ KiB"):
            self.assertRegex(result.stdout, "(?m)^  also +" + row + "$")
        self.inverted("--check", *self.also("m.vtr", "m.msh", "m.den"))
        self.assertEqual(self.files(), self.at_first)

    def test_bytes_are_about_those_of_the_files(self):
        names = ["a.vtr", "b.vtu", "c.msh", "d.den"]
        for air in ([], self.some_air()):
            said = re.findall(r"(?m)^  also +(\S+), .*, about (\S+) KiB$", self.inverted("--dry-run", *self.also(*names),
                                                                                       *air).stdout)
            self.assertEqual([name for name, _ in said], names)
            self.inverted("--quiet", *self.also(*names), *air)
            for name, kib in said:
                size = (self.folder / name).stat().st_size
                # cells at a bound of 0 are no voxels and short in a text
                self.assertLess(size, 1024 * float(kib) * 1.1 + 100, name)
                if name == "a.vtr":
                    self.assertGreater(size, 1024 * float(kib) * 0.9 - 1000)

    def test_mistakes(self):
        key = "output.also.0"
        (self.folder / "folder.vtr").mkdir()
        for name, why in (
            ("no/m.vtr", "the folder no does not exist; make it first"),
            ("folder.vtr", "folder.vtr is a folder; give the name of a file"),
            ("m.txt", "no model beside output.file ends in '.txt'; allowed: .vtr (VTK grid), .vtu (VTK voxels), .msh (UBC "
                      "mesh), .den, .sus and .mod (UBC model), .fld (UBC vector model); output.file is the netCDF-4 file"),
            ("m.sus", "is a file of susceptibilities, by its suffix, and what is to be written is density; call it .den"),
            ("m.fld", "is a file of magnetizations, by its suffix, and what is to be written is density; call it .den"),
            ("m.obs", "no model beside output.file ends in '.obs'; "),
            ("m.csv", "no model beside output.file ends in '.csv'; "),
            ("m.h5", "no model beside output.file ends in '.h5'; "),
            ("model", "has no suffix that says what to write; "),
        ):
            for more in ([], ["--check"], ["--dry-run"]):
                before = self.paths()
                result = self.invert(*self.also(name), *more)
                self.assertEqual(result.returncode, 2, name)
                self.assertIn(f"--set {key}: {why}", result.stderr)
                self.assertEqual(self.paths(), before)
        case = pathlib.Path(options.source) / "inputs" / "invert_magnetic.yaml"
        for name, kind in (("al.den", "densities"), ("al.sus", "susceptibilities")):
            self.refused("invert", case, "--check", *self.also(name), lines=[
                f"--set output.also.0: is a file of {kind}, by its suffix, and what is to be written is magnetization; call "
                "it .fld (the vectors) or .mod (one number a cell)"])
        self.refused_line("--set output.also.1: is the same file as output.also.0; choose another name",
                          *self.also("m.vtr", "./m.vtr"))
        self.refused_line("--set output.also.1: is a map; the name of a file is expected", *self.also("m.vtr", "{a: b}"))
        self.write("in.msh", "12 12 6\n0 0 0\n12*50\n12*50\n6*50\n")
        self.refused_line("--set output.also.0: would replace the input in.msh; choose another name",
                          "--set", "model={mesh: {ubc: {mesh: in.msh}}}", *self.also("in.msh"))
        self.write("data.den", (self.folder / "data.csv").read_text())
        self.refused_line("--set output.also.0: would replace the input data.den; choose another name",
                          "--set", "inversion.data.file=data.den", *self.also("data.den"))
        self.refused_line("--set output.checkpoint.file: is the same file as output.also.0; choose another name",
                          "--set", "output.checkpoint.file=m.vtr", *self.also("m.vtr"))

    def test_other_commands_say_that_they_do_not_use_it(self):
        for command in ("run", "sensitivity"):
            result = self.run_program(command, "case.yaml", "--check", *self.also("no/such.folder"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, rf"note: {command} does not use .*output.also \(--set\)")

    def test_a_model_of_nothing(self):
        no_field = self.edit_data("none.csv", {(line, 4): "0" for line in range(2, 146)})
        result = self.invert("--quiet", *no_field, *self.also("m.vtu", "m.vtr"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(?m)^warning: the reference fits the data already.*\nerror: m.vtu: the file is not "
                                        r"written: no cell has a density, susceptibility or magnetization other than 0; there are no prisms to write; "
                                        r"model.h5 is complete\n$")
        self.assertEqual(self.files(), sorted([*self.at_first, "none.csv", "model.h5", "m.vtr"]))


class Warnings(Inversion):
    """What can hardly be meant so is done and told."""

    def warnings_of(self, *settings, arguments=("--check", "--quiet")):
        words = [word for setting in settings for word in ("--set", setting)]
        result = self.invert(*arguments, *words)
        return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]

    def test_densities_in_another_unit(self):
        self.assertEqual(self.warnings_of(), [])
        self.assertEqual(self.warnings_of("inversion.bounds=[-1000000000, 1000000000]"), [], "a word for none")
        self.assertEqual(
            self.warnings_of("inversion.bounds=[0, 0.3]"),
            ["warning: inversion.bounds are 0 to 0.3 kg/m3; are they g/cm3? 1 g/cm3 is 1000 kg/m3: write kg/m3"])
        self.assertEqual(
            self.warnings_of("inversion.reference=0.2"),
            ["warning: inversion.reference is 0.2 kg/m3; is it g/cm3? Densities in the case are kg/m3, density_unit: g/cm3 "
             "beside a file says what is in it"])
        self.write("r.txt", "-0.1\n" * 863 + "0.2\n")
        file = ["inversion.reference={file: r.txt}", "inversion.bounds=[-400, 400]"]
        self.assertEqual(len(self.warnings_of(*file)), 1)
        self.assertEqual(self.warnings_of(*file, "inversion.reference.density_unit=g/cm3"), [])

    def test_sigma_far_from_the_data(self):
        below = self.warnings_of("inversion.sigma={floor: {gz: 10}}")
        self.assertEqual(len(below), 1)
        self.assertRegex(below[0], r"^warning: data.csv: gz is 0\.0\d+ times its sigma \(RMS\), so it may hold noise alone; "
                                   r"sigma is in mGal: is it too large\?$")
        above = self.warnings_of("inversion.sigma={floor: {gz: 1e-6}}")
        self.assertEqual(len(above), 1)
        self.assertRegex(above[0], r"^warning: data.csv: gz is \S+ times its sigma \(RMS\), more than surveys reach: ")

    def test_few_stations_end_in_a_model(self):
        """One to four stations, all at one place, constant data, a second set of few: no diagnosis ends the command."""
        head = "easting,northing,upward,gz,gz_sigma\n"
        rows = ["100,100,10,1.0,0.1", "300,200,12,1.5,0.1", "200,150,12,0.4,0.1", "120,400,3,0.9,0.1"]
        files = {f"{n}.csv": rows[:n] for n in range(1, 5)}
        files["place.csv"] = [f"100,100,{10 + i},1.0,0.1" for i in range(12)]
        files["constant.csv"] = [f"{50 * i},{50 * (i % 3)},10,1,0.1" for i in range(12)]
        for name, lines in files.items():
            self.write(name, head + "\n".join(lines) + "\n")
        cases = [f"{{file: {name}}}" for name in files] + [f"[{{file: data.csv}}, {{file: {n}.csv}}]" for n in range(1, 5)]
        for data in cases:
            for more in ([], ["--set", "inversion.bounds=[0, 1]"], ["--set", "inversion.data_norm=huber"]):
                (self.folder / "model.h5").unlink(missing_ok=True)
                result = self.invert("--set", f"inversion.data={data}", "--set", "inversion.uncertainty=null",
                                     "--set", "inversion.norm=2", *more)
                # a target out of reach is told after the model is written
                self.assertIn(result.returncode, (0, 1), data + result.stderr)
                self.assertTrue((self.folder / "model.h5").exists(), data + result.stderr)
                self.assertNotIn("cannot be told", result.stderr)
                if "data.csv" not in data and "place" not in data and "constant" not in data:
                    self.assertNotIn("trend", result.stderr, data)
                self.inverted("--dry-run", "--set", f"inversion.data={data}")

    def test_a_regional_field_names_the_trend(self):
        rows = (self.folder / "data.csv").read_text().splitlines()
        column = next(i for i, name in enumerate(rows[0].split(",")) if re.match(r"gz\b(?!_)", name))
        moved = [row.split(",") for row in rows[1:]]
        for row in moved:
            row[column] = str(float(row[column]) + 20)
        self.write("moved.csv", "\n".join([rows[0], *(",".join(row) for row in moved)]) + "\n")
        fit = ["--quiet", "--set", "inversion.data.file=moved.csv", "--set", "inversion.bounds=none"]
        said = self.invert(*fit).stderr
        self.assertRegex(said, r"warning: density of \S+ to \S+ kg/m3 was found.*; mean and slope of gz in moved.csv are "
                               r"\S+ times its scatter about them \(RMS\): is there a regional field, which inversion.trend: "
                               r"constant or linear takes out\?")
        self.assertNotIn("regional", self.inverted(*fit, "--set", "inversion.trend=constant").stderr)
        self.assertNotIn("regional", self.inverted("--quiet", "--set", "inversion.bounds=none").stderr)

    def test_what_a_trend_leaves_names_the_next(self):
        rows = (self.folder / "data.csv").read_text().splitlines()
        names = [re.split(r"\W", name)[0] for name in rows[0].split(",")]
        x, column = names.index("easting"), names.index("gz")
        moved = [row.split(",") for row in rows[1:]]
        for power, trend, left, remedy in ((1, "constant", "slope", "linear"), (2, "linear", "curvature", "quadratic")):
            for row, before in zip(moved, rows[1:], strict=True):
                values = [float(value) for value in before.split(",")]
                row[column] = str(values[column] + 20 * (values[x] / 300 - 1) ** power)
            self.write("moved.csv", "\n".join([rows[0], *(",".join(row) for row in moved)]) + "\n")
            fit = ["--quiet", "--set", "inversion.data.file=moved.csv", "--set", "inversion.bounds=none", "--set"]
            self.assertRegex(self.invert(*fit, f"inversion.trend={trend}").stderr,
                             rf"the {left} of gz in moved.csv is \S+ times its scatter about it \(RMS\): is there a regional "
                             rf"field, which inversion.trend: {remedy} takes out\?")
            self.assertNotIn("regional", self.invert(*fit, f"inversion.trend={remedy}").stderr)

    def test_a_constant_at_the_margin_is_named_before_the_first_product(self):
        gzz = ("--set", "fields=gzz", "--set", "observations.noise={gzz: 1}")
        self.done("run", "case.yaml", "--quiet", *gzz, "--output", "gradient.csv")
        rows = (self.folder / "gradient.csv").read_text().splitlines()
        column = next(i for i, name in enumerate(rows[0].split(",")) if re.match(r"gzz\b(?!_)", name))
        moved = [row.split(",") for row in rows[1:]]
        for row in moved:
            row[column] = str(float(row[column]) + 30)
        self.write("moved.csv", "\n".join([rows[0], *(",".join(row) for row in moved)]) + "\n")
        of = ["fields=gzz", "inversion.data.file=moved.csv"]
        self.assertEqual(self.warnings_of(of[0], "inversion.data.file=gradient.csv"), [])
        self.assertEqual(self.warnings_of(*of, "inversion.trend=constant"), [])
        warnings = self.warnings_of(*of)
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], r"^warning: moved.csv: gzz at the margin of the survey is \S+ Eotvos \(median of \d+ "
                                      r"stations, which scatter by \S+\), \S+ times its sigma: is it a constant that no cells "
                                      r"explain, as regional fields and base levels leave\? inversion.trend: constant takes "
                                      r"it out$")

    def test_coordinates_in_another_unit(self):
        warnings = self.warnings_of("inversion.data.length_unit=km", "model.voxels.upward=[-300, 0, 6]")
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], r"^warning: data.csv: lies \S+ m beside the model's cells \(the data: easting ")
        self.assertRegex(warnings[0], r"are both in the same projection, zone and origin\?$")

    def test_a_target_that_cannot_be_met_writes_the_last_model(self):
        result = self.invert("--set", "inversion.bounds=[-1, 1]")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.splitlines()[-1],
                         r"^error: the target was not reached: chi is \S+ at beta \S+, the target is 1, .*wider bounds.* "
                         r"\(model.h5 holds the last model\)$")
        if h5py is not None:
            with h5py.File(self.folder / "model.h5", "r") as file:
                self.assertTrue((abs(file["density"][...]) <= 1).all())
                # nothing is said of the deviations of a model that does not fit
                self.assertNotIn("density_sigma", file)
        self.assertLess(len(ROW.findall(result.stdout)), 31)

    def test_too_few_iterations(self):
        result = self.invert("--quiet", "--set", "inversion.max_iterations=2")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^error: the target was not reached in 2 solutions: .*inversion.max_iterations")
        self.assertEqual(self.files(), sorted([*self.at_first, "model.h5"]))

    def test_compact_steps_that_end_before_the_model_settles(self):
        compact = ["--quiet", "--set", "inversion.norm=[0, 0, 0, 0]"]
        result = self.inverted(*compact, "--set", "inversion.max_iterations=7")
        self.assertEqual(result.stderr, "warning: the compact model had not settled after 24 steps; "
                                        "raise inversion.max_iterations\n")
        result = self.inverted(*compact[1:])
        self.assertNotIn("settled", result.stderr)
        self.assertLess(sum("compact" in row for row in ROW.findall(result.stdout)), 47)


class Checkpoints(Held):
    def test_stopped_and_killed_it_goes_on_to_the_same_model(self):
        self.inverted("--quiet", *CHECKPOINT, *STORED, "--output", "whole.h5")
        self.assertEqual(self.files(), sorted([*self.at_first, "whole.h5"]), "checkpoint and lock are gone")
        for number in (signal.SIGUSR1, signal.SIGKILL):
            for moment in (1, 2, 3, 4, 9, 20, 40):
                with self.subTest(signal=number.name, moment=moment):
                    code, errors = self.stopped_at(moment, *STORED, number=number)
                    there = number == signal.SIGUSR1 or moment > 1
                    self.assertEqual((self.folder / "model.ckpt").exists(), there)
                    if number == signal.SIGUSR1:
                        self.assertEqual((code, errors), (130, "stopped by a signal; no result was written; model.ckpt holds "
                                                               "what was done, --resume goes on from it\n"))
                    else:
                        self.assertEqual(code, -number)
                    result = self.inverted(*CHECKPOINT, *STORED, "--resume")
                    told = r"model.ckpt: goes on after \d+ solution" if there else "model.ckpt: no checkpoint yet, the "
                    self.assertRegex(result.stdout, told)
                    self.assert_same_model("model.h5", "whole.h5")
                    self.assertFalse((self.folder / "model.ckpt").exists())
                    for left in (*self.folder.glob(".*part-*"), self.folder / "model.h5"):
                        left.unlink()

    def test_an_interrupt_is_answered_within_a_solution(self):
        # one solution of minutes, after which the state would be kept
        process = subprocess.Popen(
            [options.program, "invert", "case.yaml", "--set", "inversion.beta=1e-12", "--set", "inversion.bounds=[0, 400]",
             "--set", "model.voxels.easting=[0, 600, 120]", "--set", "model.voxels.northing=[0, 600, 120]", "--set",
             "sensitivity.store=none"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertTrue(any(line.startswith("stage") for line in process.stdout))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors.splitlines()[-2:]),
                         (130, ["stopping after this product; Ctrl-C again ends at once",
                                "stopped by a signal; no result was written"]))
        self.assertNotIn("beta ", output)
        self.assertEqual(self.files(), self.at_first)

    def test_interrupted_within_a_solution_it_goes_on_to_the_same_model(self):
        self.inverted("--quiet", *STORED, "--output", "whole.h5")
        for rows in (1, 3, 6, 12):
            process = subprocess.Popen([options.program, "invert", "case.yaml", *CHECKPOINT, *STORED], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            while rows > 0:
                rows -= ROW.match(process.stdout.readline()) is not None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 130))
            self.inverted("--quiet", *CHECKPOINT, *STORED, "--resume")
            self.assert_same_model("model.h5", "whole.h5")

    def test_every_term_goes_on_to_the_same_model(self):
        settings = [*STORED, "--set", "inversion.trend=linear", "--set", "inversion.depth_of_investigation=true", "--set",
                    "inversion.norm=[1, 0.5, 2, 0]", "--set", "inversion.weighting=depth"]
        self.inverted("--quiet", "--output", "whole.h5", *settings)
        for moment in (2, 5, 12, 24):
            self.assertEqual(self.stopped_at(moment, *settings)[0], 130)
            self.inverted("--quiet", "--resume", *CHECKPOINT, *settings)
            self.assert_same_model("model.h5", "whole.h5")

    def test_without_resume_it_is_replaced_and_said(self):
        self.need_checkpoint()
        result = self.inverted("--set", "output.checkpoint={every: 1 h, file: model.ckpt}")
        self.assertIn("warning: model.ckpt exists and will be replaced; --resume goes on from it\n", result.stderr)

    def test_of_another_case(self):
        self.need_checkpoint()
        before = (self.folder / "model.ckpt").read_bytes()
        told = ("model.ckpt is of another case: the model, the observations, the fields, the inversion or a file that they "
                "name differ; it is not replaced; move it away, or give the checkpoint another name")
        for setting in ("inversion.bounds=[0, 401]", "inversion.target_misfit=1.1", "inversion.uncertainty.seed=9",
                        "sensitivity.precision=double", "inversion.reference=1", "model.voxels.upward=[-301, 0, 6]"):
            for resume in ((), ("--resume",)):
                result = self.invert(*CHECKPOINT, *resume, "--set", setting)
                self.assertEqual(result.returncode, 2, (setting, result.stderr))
                self.assertIn(f"--set output.checkpoint.file: {told}\n", result.stderr, setting)
        data = self.write("data.csv", (self.folder / "data.csv").read_text().replace("0.02\n", "0.03\n", 1))
        self.assertIn(told, self.invert(*CHECKPOINT, "--resume").stderr)
        self.assertTrue(data.exists())
        self.assertEqual((self.folder / "model.ckpt").read_bytes(), before)

    def test_what_does_not_change_the_model_does_not_matter(self):
        self.need_checkpoint()
        result = self.inverted(*CHECKPOINT, "--resume", "--set", "title=Another", "--output", "other.h5")
        self.assertIn("model.ckpt: goes on after ", result.stdout)

    def test_damaged(self):
        self.need_checkpoint()
        whole = (self.folder / "model.ckpt").read_bytes()
        # mark, version, rank, hashes, sizes, method, the first and last of the content, and some between
        places = [0, 15, 16, 24, 32, 40, 48, 72, 80, 96, 120, 151, 152, len(whole) - 1,
                  *range(160, len(whole), len(whole) // 15)]
        for at in places:
            changed = bytearray(whole)
            changed[at] ^= 0x40
            self.write("model.ckpt", bytes(changed))
            result = self.invert(*CHECKPOINT, "--resume")
            self.assertEqual(result.returncode, 2, (at, result.stderr))
            told = f"model.ckpt {FOREIGN}" if at < 16 else ANOTHER_VERSION if at < 24 else DAMAGED
            self.assertIn(told, result.stderr, at)
            self.assertEqual((self.folder / "model.ckpt").read_bytes(), bytes(changed))
        for n in (0, 15, 16, 151, 152, len(whole) // 2, len(whole) - 1):
            self.write("model.ckpt", whole[:n])
            result = self.invert(*CHECKPOINT, "--resume")
            self.assertEqual(result.returncode, 2, (n, result.stderr))
            self.assertIn(f"model.ckpt {FOREIGN}" if n < 16 else DAMAGED, result.stderr, n)
        self.assertFalse((self.folder / "model.h5").exists())

    def test_what_is_no_checkpoint_stays(self):
        self.write("thesis.txt", "years of work\n" * 100)
        self.write("empty", "")
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        (self.folder / "link").symlink_to("thesis.txt")
        before = self.paths()
        for name in ("thesis.txt", "empty", "folder", "pipe", "link", "/dev/null"):
            for more in ([], ["--resume"], ["--check"]):
                result = self.invert("--set", f"output.checkpoint.file={name}", *more, timeout=300)
                self.assertEqual(result.returncode, 2, (name, result.stderr))
                self.assertIn("--set output.checkpoint.file: ", result.stderr)
                self.assertEqual(self.paths(), before)
        self.assertEqual((self.folder / "thesis.txt").read_text(), "years of work\n" * 100)
        result = self.invert("--set", "output.checkpoint.file=no/model.ckpt")
        self.assertIn("--set output.checkpoint.file: the folder no does not exist; make it first\n", result.stderr)

    def test_that_of_run_is_another(self):
        long = ["--set", "model.voxels.easting=[0, 600, 200]", "--set", "model.voxels.northing=[0, 600, 200]", "--set",
                "model.voxels.upward=[-300, 0, 100]", "--set", "model.voxels.density=300", "--set", "execution.chunk=4096",
                "--output", "forward.h5"]
        self.assertEqual(self.stopped_at(2, *long, number=signal.SIGKILL, command="run")[0], -signal.SIGKILL)
        for more in ([], ["--resume"]):
            result = self.invert(*CHECKPOINT, *more)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(result.stderr, r"model.ckpt is of another case: .*; it is not replaced; move it away")

    def test_that_of_an_older_program_stays(self):
        older = b"prismfield inv\r\n" + bytes(200)
        self.write("model.ckpt", older)
        for more in ([], ["--resume"]):
            self.assertIn(f"model.ckpt {FOREIGN}", self.invert(*CHECKPOINT, *more).stderr)
            self.assertEqual((self.folder / "model.ckpt").read_bytes(), older)

    def test_two_inversions_do_not_share_one(self):
        self.begin_held("model.ckpt", 2, "invert", "case.yaml", "--quiet", *CHECKPOINT)
        second = self.invert(*CHECKPOINT, "--output", "second.h5")
        self.assertEqual(second.returncode, 2, second.stderr)
        self.assertIn("output.checkpoint.file: model.ckpt is used by another run", second.stderr)


class Ranks(Held):
    def setUp(self):
        super().setUp()
        if not options.mpiexec:
            self.skipTest("no mpiexec")

    def launcher(self, ranks=2):
        return [*options.mpiexec, "-n", str(ranks)]

    def test_ranks_find_the_same_model_and_print_once(self):
        one = self.inverted("--output", "one.h5")
        two = self.inverted("--output", "two.h5", launcher=self.launcher())
        for a, b in zip(self.model("two.h5"), self.model("one.h5")):
            self.assertLess(abs(a - b).max(), 1e-6 * abs(b).max())
        rows = [[row[:8] for row in ROW.findall(result.stdout)] for result in (one, two)]
        self.assertEqual(*rows)
        self.assertEqual(two.stdout.count("Small inversion"), 1)
        self.assertEqual(two.stderr.count(NOTE), 1)
        self.assertRegex(self.inverted("--dry-run", launcher=self.launcher()).stdout, r"(?m)^  ranks +2 ranks")

    def test_one_rank_writes_the_files_beside_the_model(self):
        result = self.inverted("--set", "output.also=[m.vtr, m.msh]", launcher=self.launcher())
        self.assertEqual(result.stdout.count("m.vtr: VTK rectilinear grid, 864 cells"), 1)
        self.done("convert", "model.h5", "again.vtr")
        self.assertEqual((self.folder / "m.vtr").read_bytes(), (self.folder / "again.vtr").read_bytes())
        result = self.invert("--set", "output.also=no/m.vtr", launcher=self.launcher(), timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("the folder no does not exist"), 1)

    def test_mistakes_are_told_once(self):
        for setting, line in (
            ("inversion.norm=3", "--set inversion.norm: is '3'; a number from 0 to 2 is expected"),
            ("inversion.data.file=none.csv", "--set inversion.data.file: 'none.csv' cannot be read: there is no such file"),
        ):
            result = self.invert("--set", setting, launcher=self.launcher(), timeout=300)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count(line), 1, result.stderr)
        result = self.invert("--quiet", "--set", "inversion.bounds=[-1, 1]", launcher=self.launcher(), timeout=300)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("error: the target was not reached"), 1)

    def test_what_ends_all_ranks_alike_ends_them_in_order(self):
        result = self.invert("--set", "sensitivity={store: file}", launcher=self.launcher(), timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertNotIn("MPI_ABORT", result.stderr)
        self.assertEqual(result.stderr.count("--set sensitivity"), 1, result.stderr)

    def test_a_signal_stops_all_and_they_go_on(self):
        # as mpirun hands SIGUSR1 to its ranks
        self.inverted("--quiet", "--output", "whole.h5", *STORED, launcher=self.launcher())
        code, errors = self.stopped_at(4, *STORED, launcher=self.launcher())
        self.assertEqual(code, 130, errors)
        self.assertEqual(errors.count("model.ckpt holds what was done, --resume goes on from it"), 1, errors)
        self.assertNotIn("MPI_ABORT", errors)
        self.inverted("--quiet", "--resume", *CHECKPOINT, *STORED, launcher=self.launcher())
        self.assert_same_model("model.h5", "whole.h5")

    def test_a_checkpoint_of_one_rank_is_gone_on_from_by_two(self):
        self.inverted("--quiet", *STORED, "--output", "whole.h5")
        self.assertEqual(self.stopped_at(4, *STORED, number=signal.SIGKILL)[0], -signal.SIGKILL)
        result = self.inverted(*CHECKPOINT, *STORED, "--resume", launcher=self.launcher())
        self.assertRegex(result.stdout, "model.ckpt: goes on after ")
        for a, b in zip(self.model("model.h5"), self.model("whole.h5")):
            self.assertLess(abs(a - b).max(), 1e-6 * abs(b).max())
        self.assertFalse((self.folder / "model.ckpt").exists())

    def test_a_damaged_checkpoint_ends_all_ranks(self):
        self.write("model.ckpt", b"\x89PFcheckpoint\r\n\x1a" + VERSION.to_bytes(8, sys.byteorder) + bytes(128))
        result = self.invert(*CHECKPOINT, "--resume", launcher=self.launcher(), timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count(DAMAGED), 1, result.stderr)


class Disks(Inversion):
    """Folders without room, by a preloaded library."""

    def setUp(self):
        super().setUp()
        if not options.full_disk:
            self.skipTest("no library of full disks")
        for name in ("out", "other"):
            (self.folder / name).mkdir()

    def on_full(self, folders, *arguments, output="out/model.h5"):
        folder = self.folder.resolve()
        environment = {**os.environ, "LD_PRELOAD": options.full_disk,
                       # a preloaded library is none of its business
                       "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", ""),
                       "PRISMFIELD_FULL": ":".join(str(folder / name) for name in folders)}
        return self.invert("--quiet", "--output", output, *arguments, env=environment)

    def test_a_model_that_cannot_be_written_is_an_error_at_once(self):
        (self.folder / "out" / "model.h5").write_text("the old model")
        result = self.on_full(["out"], *STORED)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^error: out/model.h5: the \w+ is not written: cannot write: [\w ]+\n$")
        self.assertEqual((self.folder / "out" / "model.h5").read_text(), "the old model")
        self.assertEqual(self.files(), sorted([*self.at_first, "out/model.h5"]))

    def test_a_file_beside_the_model_that_cannot_be_written(self):
        (self.folder / "out" / "old.den").write_text("the old model")
        result = self.on_full(["out"], "--set", "output.also=[out/old.den, out/m.vtr, m.vtr]",
                              "--set", "output.checkpoint={every: 1 ms, file: model.ckpt}", output="model.h5")
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 2, lines)
        for line, name in zip(lines, ("old.den", "m.vtr")):
            self.assertRegex(line, rf"^error: (/.*/)?out/{name}: the file is not written: cannot write: .*; model.h5 is "
                                   rf"complete, and prismfield convert model.h5 out/{name} writes it$")
        self.assertEqual(self.files(), sorted([*self.at_first, "m.vtr", "model.h5", "out/old.den"]))
        self.assertEqual((self.folder / "out" / "old.den").read_text(), "the old model")
        for name in ("old.den", "m.vtr"):
            self.done("convert", "model.h5", f"out/{name}")
        self.assertEqual((self.folder / "out" / "m.vtr").read_bytes(), (self.folder / "m.vtr").read_bytes())

    def test_a_disk_that_is_too_small_is_refused(self):
        folder = self.folder.resolve()
        environment = {**os.environ, "LD_PRELOAD": options.full_disk, "PRISMFIELD_FREE": f"{folder / 'out'}=140000",
                       "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        told = r"about \S+ KiB, and the disk of out has 137 KiB free; make room or name a folder on another disk\n"
        before = self.paths()
        for also, line in (("[out/m.vtu]", r"^--output: the model and the files beside it take " + told),
                           ("[out/m.vtu, out/m.den]", r"^--output: the model and the files beside it take ")):
            result = self.invert("--quiet", "--output", "out/model.h5", "--set", f"output.also={also}", env=environment)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertRegex(result.stderr, line)
            self.assertEqual(self.paths(), before)
        result = self.invert("--quiet", "--output", "out/model.h5", "--set", "output.also=out/m.msh", env=environment)
        self.assertNotIn("files beside it", result.stderr)

    def test_a_checkpoint_that_cannot_be_written_does_not_end_it(self):
        result = self.on_full(["other"], "--set", "output.checkpoint={every: 1 ms, file: other/model.ckpt}")
        self.assertEqual(result.returncode, 0, result.stderr)
        warning = result.stderr.splitlines()[0]
        self.assertRegex(warning, r"^warning: other/model.ckpt: .*; the inversion goes on without it$")
        self.assertEqual([p for p in self.files() if "ckpt" in p], [])


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--source", required=True)
    parser.add_argument("--full-disk", default="", help="the library that makes folders full and holds programs")
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    options.mpiexec = shlex.split(options.mpiexec)
    # so little work is slow by threads that wait for cores that others use
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options.full_disk = ProgramFolder.library = options.full_disk and os.path.abspath(options.full_disk)
    options.program = ProgramFolder.program = os.path.abspath(options.program)
    options.source = os.path.abspath(options.source)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
