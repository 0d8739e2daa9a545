# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""`prismfield sensitivity` as a user types it: G m against the forward run, G.h5 as other programs read it, files that
are used again, of another case and damaged, kills and full disks. G.h5 is read by h5py where Python has it; else those
tests are skipped.

Usage: test_sensitivity.py PRISMFIELD [--full-disk LIBRARY] [--mpiexec COMMAND]
"""

import argparse
import os
import pathlib
import re
import resource
import shlex
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import ProgramFolder

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = None

options = None

CASE = """\
title: Small matrix
model:
  mesh:
    easting: {edges: [0, 100, 250, 300, 500, 600]}
    northing: [0, 400, 4]
    upward: [-300, 0, 3]
    density: {random: [-100, 300], seed: 2}
observations:
  grid: {easting: [0, 600, 7], northing: [0, 400, 5], upward: 20}
fields: [gz, gxz, potential, gxx]
sensitivity: {file: G.h5}
output: {file: fields.h5}
"""
FILE = ("--set", "sensitivity={store: file, file: G.h5}")
OTHER = "; delete it, or give sensitivity.file another name"


class Sensitivity(ProgramFolder):
    case = CASE

    def sensitivity(self, *arguments, **keywords):
        return self.run_program("sensitivity", "case.yaml", *arguments, **keywords)

    def computed(self, *arguments, **keywords):
        return self.done("sensitivity", "case.yaml", *arguments, **keywords)

    def compare_with_run(self, name="fields.h5", tolerance=1e-12):
        self.done("run", "case.yaml", "--quiet", "--output", "direct.h5")
        self.done("compare", name, "direct.h5", "--quiet", "--tolerance", tolerance)

    def matrix(self, name="G.h5"):
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / name, "r") as file:
            return file["G"][...]

    def garble(self, name="G.h5"):
        """Changes a byte of G's values."""
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / name, "r") as file:
            at = file["G"].id.get_offset() + 1000
        with open(self.folder / name, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 4]))


class Matrix(Sensitivity):
    def test_rows_times_model_are_the_forward_run(self):
        self.computed("--quiet")
        self.compare_with_run()
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "G.h5") as file, h5py.File(self.folder / "direct.h5") as direct:
            g, model = file["G"], file["model"][...]
            self.assertEqual(g.shape, (4, 35, 60))
            self.assertEqual(g.dtype, np.float64)
            fields = g.attrs["fields"].decode().split()
            self.assertEqual(fields, ["potential", "gz", "gxx", "gxz"])
            self.assertEqual(file.attrs["axes"].decode(), "z_down")
            self.assertRegex(file.attrs["hash"].decode(), "^[0-9a-f]{32}$")
            for i, field in enumerate(fields):
                expected = direct[field][...].ravel()
                self.assertLess(abs(g[i] @ model - expected).max(), 1e-12 * abs(expected).max(), field)
            np.testing.assert_array_equal(file["easting_edges"][...], [0, 100, 250, 300, 500, 600])
            self.assertEqual(file["upward"][0], 20)

    def test_cells_of_density_0_and_axes(self):
        one_cell = ("--set", "model={voxels: {easting: [0, 600, 6], northing: [0, 400, 4], upward: [-300, 0, 3], density: 0, "
                             "boxes: [{easting: [100, 200], northing: [0, 100], upward: [-100, 0], density: 7}]}}")
        self.computed("--quiet", *one_cell, "--set", "axes=z_up", "--output", "up.h5")
        up = self.matrix()
        # that of other axes is not replaced
        (self.folder / "G.h5").unlink()
        self.computed("--quiet", *one_cell)
        down = self.matrix()
        self.assertEqual(down.shape, (4, 35, 72))
        self.assertGreater(abs(down[1]).min(), 0)
        with h5py.File(self.folder / "G.h5") as file:
            np.testing.assert_array_equal(np.flatnonzero(file["model"][...]), [49])
        for i, sign in enumerate((1, -1, 1, -1)):
            np.testing.assert_array_equal(up[i], sign * down[i])

    def test_magnetic_rows(self):
        magnetic = ("--set", "magnetic.inducing_field={inclination: -62.5, declination: 11.25, intensity: 48250}", "--set", "fields=[bx, bz, tmi]",
                    "--set", "model.mesh.susceptibility={random: [0, 0.05], seed: 3}")
        remanent = ("--set", "model.mesh.magnetization=[0.5, -1, 2]")
        for unknown, model, columns, units in (("susceptibility", magnetic, 60, "nT, nT, nT"),
                                               ("magnetization", magnetic + remanent, 180, "nT m A-1, nT m A-1, nT m A-1")):
            with self.subTest(unknown):
                # that of other columns is not replaced
                (self.folder / "G.h5").unlink(missing_ok=True)
                for keep in ("store: memory, file: G.h5", "compression: 1e-4"):
                    self.skip_compression_on_a_device(keep)
                    text = self.computed(*model, "--set", "sensitivity={" + keep + "}").stdout
                    self.assertRegex(text, rf"(?m)^G: 105 x {columns}, ")
                    self.done("run", "case.yaml", "--quiet", "--output", "direct.h5", *model)
                    self.done("compare", "fields.h5", "direct.h5", "--quiet", "--tolerance", 1e-2 if "1e-4" in keep else 1e-12)
                if h5py is not None:
                    with h5py.File(self.folder / "G.h5") as file, h5py.File(self.folder / "direct.h5") as direct:
                        self.assertEqual(file.attrs["unknown"].decode(), unknown)
                        self.assertEqual(file["G"].attrs["units"].decode(), units)
                        self.assertAlmostEqual(file.attrs["inducing_field_inclination"], -62.5, 10)
                        for i, field in enumerate(("bx", "bz", "tmi")):
                            expected = direct[field][...].ravel()
                            self.assertLess(abs(file["G"][i] @ file["model"][...] - expected).max(), 1e-12 * abs(expected).max(), field)
                # with its own kind of columns a file is not used by the other
                result = self.sensitivity("--quiet", *FILE, *(magnetic if unknown == "magnetization" else magnetic + remanent))
                self.assertIn(f"what differs: unknown ('{unknown}', here ", result.stderr)
                result = self.sensitivity("--quiet", *FILE, *model, "--set", "magnetic.inducing_field.declination=12")
                self.assertIn("what differs: inducing field ('inclination -62.5, declination 11.25, intensity 48250 nT', here "
                              "inclination -62.5, declination 12, intensity 48250 nT)", result.stderr)
                (self.folder / "G.h5").unlink()
        self.refused("sensitivity", "case.yaml", "--quiet", *magnetic, "--set", "fields=[gz, tmi]",
                     lines=["--set fields: has fields of density and of the magnetisation; an operator multiplies one of the two"])
        self.refused("sensitivity", "case.yaml", "--quiet", *magnetic, "--set", "magnetic.inside=nan",
                     lines=["--set magnetic.inside: is nan, which leaves no number to invert or to multiply; use B, H, cavity or borehole"])
        self.refused("sensitivity", "case.yaml", "--quiet", *magnetic, "--set", "fields=magnetic",
                     lines=["--set fields: has tmi_exact and amplitude, which an operator cannot have: no linear function of the "
                            "model; write fields: [bx, by, bz, tmi]"])
        self.refused("sensitivity", "case.yaml", "--quiet", "--set", "fields=bx",
                     lines=["--set fields: has bx, but no cell of the model has a susceptibility or magnetization"])

    def test_products_by_tree_and_fft_give_the_fields(self):
        mesh = ("--set", "model={voxels: {easting: [0, 600, 6], northing: [0, 400, 4], upward: [-300, 0, 3], density: {random: "
                         "[-100, 300]}}}", "--set", "observations.grid.northing=[0, 400, 9]", "--set", "sensitivity={store: none}")
        self.done("run", "case.yaml", "--quiet", "--output", "direct.h5", *mesh)
        for method, tolerance in (("tree", 1e-4), ("tree", 1e-8), ("fft", 1e-12)):
            with self.subTest(f"{method}, {tolerance}"):
                done = self.computed(*mesh, "--set", f"execution={{method: {method}, tolerance: {tolerance}}}")
                self.assertIn(f"computed anew in every product by {method}", done.stdout)
                self.done("compare", "fields.h5", "direct.h5", "--quiet", "--tolerance", max(tolerance, 1e-11))

    def test_every_way_to_keep_it_gives_the_fields(self):
        for number, (setting, tolerance) in enumerate((("store: none", 1e-12), ("store: memory", 1e-12), ("store: auto", 1e-12),
                                                       ("store: memory, precision: float", 1e-6),
                                                       ("store: auto, precision: float16", 1e-2),
                                                       ("store: file, file: G.h5", 1e-12),
                                                       ("store: file, file: F.h5, precision: float", 1e-6),
                                                       ("compression: 1e-4", 1e-2))):
            with self.subTest(setting):
                self.skip_compression_on_a_device(setting)
                result = self.computed("--set", "sensitivity={" + setting + "}", "--output", f"{number}.h5")
                self.assertRegex(result.stdout, r"(?m)^largest difference from the direct fields at 35 points, over the largest "
                                                r"value: potential \d\.\de[-+]\d\d, gz ")
                self.compare_with_run(f"{number}.h5", tolerance)

    def test_what_is_printed(self):
        text = self.computed("--set", "sensitivity.store=memory").stdout
        for line in (r"G: 140 x 60, 8\.40e3 entries", r"sensitivities: stored (in memory|on the device) as double, .*iB.*", r"made in .*, .*entries/s",
                     r"product +kept +anew", r"G m +\S+ ms +\S+ ms", r"G' d +\S+ ms +\S+ ms",
                     r"storing (pays after [\d,]+ products?|does not pay.*)", r"G.h5: G is written, in .*", r"gz +mGal .*"):
            self.assertRegex(text, "(?m)^" + line + "$")
        self.assertEqual(self.computed("--quiet").stdout, "")

    def test_check_and_dry_run_write_nothing(self):
        before = self.files()
        self.assertIn("no errors found", self.computed("--check").stdout)
        text = self.computed("--dry-run").stdout
        for line in (r"  as double +70 KiB a rank, .* while it is made", r"  as float16 +.*", r"  file of G +G.h5, about .*"):
            self.assertRegex(text, "(?m)^" + line + "$")
        self.assertEqual(self.files(), before)

    def test_points_inside_are_told_as_run_tells_them(self):
        inside = ("--set", "observations.grid={easting: [50, 550, 3], northing: [50, 350, 3], upward: -50}")
        told = [self.done(command, "case.yaml", *inside, "--output", command + ".h5").stderr for command in ("run", "sensitivity")]
        self.assertIn("warning: 9 of 9 points lie inside or on prisms", told[0])
        self.assertIn("warning: 9 of 9 points lie inside or on prisms", told[1])
        self.done("compare", "sensitivity.h5", "run.h5", "--quiet", "--tolerance", 1e-11)


class Files(Sensitivity):
    def test_a_file_is_used_again(self):
        first = self.computed(*FILE).stdout
        self.assertRegex(first, r"(?m)^sensitivities: stored in G.h5 as double, .* a rank, written in ")
        written = (self.folder / "G.h5").stat()
        again = self.computed(*FILE).stdout
        self.assertRegex(again, r"(?m)^sensitivities: stored in G.h5 as double, .* a rank, which was there already$")
        self.assertEqual((self.folder / "G.h5").stat().st_mtime_ns, written.st_mtime_ns)
        self.compare_with_run()
        # other densities have the same G
        other = self.computed("--quiet", *FILE, "--set", "model.mesh.density.random=[0, 50]", "--output", "other.h5")
        self.assertEqual(other.stderr, "warning: G.h5: its dataset model does not hold the densities of this case, G is that of "
                                       "this case; delete the file to have both\n")

    def test_another_cases_file_is_refused(self):
        self.computed("--quiet", *FILE)
        before = (self.folder / "G.h5").read_bytes()
        for setting, what in (("observations.grid.upward=30", "points"), ("model.mesh.northing=[0, 400, 5]", "cells"),
                              ("gravitational_constant=6.67e-11", "gravitational constant ('6.6743e-11', here 6.67e-11)"),
                              ("axes=z_up", "axes ('z_down', here z_up)"),
                              ("execution.precision=single", "execution.precision ('double', here single)")):
            result = self.sensitivity("--quiet", *FILE, "--set", setting)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stderr, "--set sensitivity.file: G.h5 was made for another case; what differs: " + what + OTHER + "\n")
        self.assertEqual((self.folder / "G.h5").read_bytes(), before)

    def test_a_damaged_file_is_told(self):
        self.computed("--quiet", *FILE)
        self.garble()
        result = self.sensitivity("--quiet", *FILE, "--output", "out.h5")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^error: G.h5: the row of potential at point 2 is not what was written \(checksum\); "
                                        r"delete the file, and it is made again\n$")
        self.assertNotIn("out.h5", self.files())

    def test_what_is_no_such_file_is_not_replaced(self):
        self.write("G.h5", "my notes")
        for setting in ("store: file", "store: memory", "store: none"):
            result = self.sensitivity("--quiet", "--set", "sensitivity={" + setting + ", file: G.h5}")
            self.assertEqual(result.returncode, 2, setting)
            self.assertEqual(result.stderr, "--set sensitivity.file: G.h5: is not an HDF5 or netCDF-4 file" + OTHER + "\n")
            self.assertEqual((self.folder / "G.h5").read_text(), "my notes")

    def test_mistakes(self):
        for setting, line in (
            ("sensitivity={file: G.h5, precision: float16}",
             "--set sensitivity.precision: is float16, which files do not hold; write float or double, or leave sensitivity.file out"),
            ("sensitivity={file: G.h5, compression: 1e-3}",
             "--set sensitivity.compression: a compressed matrix is not written to sensitivity.file; leave one of the two out"),
            ("sensitivity={store: file}", "--set sensitivity.store: is file, but no file is named; write file: G.h5 beside it"),
            ("sensitivity.file=none/G.h5", "--set sensitivity.file: the folder none does not exist; make it first"),
            ("sensitivity.file=fields.h5", "--set sensitivity.file: is the same file as output.file; choose another name"),
        ):
            self.refused("sensitivity", "case.yaml", "--quiet", "--set", setting, lines=[line])
        self.refused("sensitivity", "case.yaml", "--resume",
                     lines=["--resume: is no option of prismfield sensitivity; there are: --help, --set, --check, --dry-run, --quiet, --output"])

    def test_invert_uses_the_file_of_sensitivity(self):
        self.done("run", "case.yaml", "--quiet", "--set", "fields=gz", "--output", "data.csv")
        inversion = ("--set", "inversion={data: {file: data.csv}, sigma: {floor: {gz: 0.001}}, target_misfit: 1, max_iterations: 1}", "--set", "fields=gz",
                     "--set", "output.file=model.h5")
        self.computed("--quiet", *FILE, "--set", "fields=gz")
        keep = ("--set", "sensitivity={store: file, file: G.h5, precision: double}")
        text = self.run_program("invert", "case.yaml", *inversion, *keep).stdout
        self.assertRegex(text, r"sensitivities: stored in G.h5 as double, .*, which was there already")

    def test_killed_it_leaves_no_half_file(self):
        # what makes its first temporary file is the look whether one can be made
        for name, moment, is_there in (("G.h5.part", 2, False), ("G.h5", 1, False), ("G.h5", 2, True)):
            code, _ = self.stopped_at(name, moment, "sensitivity", "case.yaml", "--quiet", *FILE, number=signal.SIGKILL)
            self.assertEqual((code, (self.folder / "G.h5").exists()), (-signal.SIGKILL, is_there))
        # what is there under its name is whole
        result = self.computed(*FILE)
        self.assertRegex(result.stdout, "stored in G.h5 as double, .*, which was there already")
        self.compare_with_run()

    def test_a_signal_leaves_nothing(self):
        code, errors = self.stopped_at("G.h5.part", 2, "sensitivity", "case.yaml", "--quiet", *FILE, number=signal.SIGTERM)
        self.assertEqual((code, errors), (130, "stopped by a signal; no result was written\n"))
        self.assertEqual(self.files(), ["case.yaml"])


class Disks(Sensitivity):
    def test_a_full_disk(self):
        if not options.full_disk:
            self.skipTest("no library of full disks")
        (self.folder / "out").mkdir()
        folder = self.folder.resolve()
        environment = {**os.environ, "LD_PRELOAD": options.full_disk, "PRISMFIELD_FULL": str(folder / "out"),
                       # a preloaded library is none of its business
                       "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        for store in ("file", "memory"):
            result = self.sensitivity("--quiet", "--set", f"sensitivity={{store: {store}, file: out/G.h5}}", env=environment)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stderr, r"^error: out/G.h5: the sensitivities are not written: cannot write: .*\n$")
            self.assertEqual(os.listdir(self.folder / "out"), [])
        del environment["PRISMFIELD_FULL"]
        environment["PRISMFIELD_FREE"] = f"{folder / 'out'}=50000"
        result = self.sensitivity("--quiet", "--set", "sensitivity={store: file, file: out/G.h5}", env=environment)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"they take .*, and the disk has 48\.8 KiB free; make room, name a folder on another disk or "
                                        r"take precision: float\n$")

    def test_a_limit_on_the_size_of_files(self):
        result = self.sensitivity("--quiet", *FILE,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^error: G.h5: the sensitivities are not written: cannot write: File too large\n$")
        self.assertEqual(self.files(), ["case.yaml"])


class Ranks(Sensitivity):
    def setUp(self):
        super().setUp()
        if not options.mpiexec:
            self.skipTest("no mpiexec")

    def launcher(self, ranks):
        return [*options.mpiexec, "-n", str(ranks)]

    def test_ranks_write_one_file(self):
        self.computed("--quiet", *FILE)
        one = self.matrix()
        for ranks in (2, 3):
            for store in ("file", "memory"):
                (self.folder / "G.h5").unlink()
                result = self.computed("--set", f"sensitivity={{store: {store}, file: G.h5}}", launcher=self.launcher(ranks))
                self.assertEqual(result.stdout.count("Small matrix"), 1)
                self.compare_with_run()
                many = self.matrix()
                self.assertLess(abs(many - one).max(), 1e-14 * abs(one).max())
        # a file of three ranks serves one
        self.assertIn("which was there already", self.computed(*FILE).stdout)

    def test_mistakes_are_told_once(self):
        self.computed("--quiet", *FILE)
        result = self.sensitivity("--quiet", *FILE, "--set", "axes=z_up", launcher=self.launcher(2), timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("was made for another case"), 1, result.stderr)
        self.assertNotIn("MPI_ABORT", result.stderr)
        self.garble()
        result = self.sensitivity("--quiet", *FILE, launcher=self.launcher(2), timeout=300)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(re.findall("checksum", result.stderr)), 1, result.stderr)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--full-disk", default="", help="the library that makes folders full")
    parser.add_argument("--mpiexec", default="", help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    options.mpiexec = shlex.split(options.mpiexec)
    # so little work is slow by threads that wait for cores that others use
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options.full_disk = ProgramFolder.library = options.full_disk and os.path.abspath(options.full_disk)
    ProgramFolder.program = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
