# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield plot from outside: what it draws, what it refuses, and figures with keys. Needs Python's standard library
alone; where no Python draws, what needs one is skipped.
"""

import argparse
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from program_folder import CASE, ProgramFolder

DRAWS = "import matplotlib, xarray\ntry:\n    import netCDF4\nexcept ImportError:\n    import h5netcdf\n"


def can_draw():
    for python in filter(None, (os.environ.get("PRISMFIELD_PYTHON"), "python3", "/usr/bin/python3")):
        try:
            if subprocess.run([python, "-c", DRAWS], capture_output=True).returncode == 0:
                return True
        except OSError:
            continue
    return False


CAN_DRAW = can_draw()
STATIONS = "easting,northing,upward\n" + "".join(f"{i * 30},{i * 55},10\n" for i in range(12))
PROFILE = CASE.replace(
    """  grid:
    easting:  [0, 1000, 12]
    northing: [0, 1000, 11]
    upward: 10
""",
    "  stations: {file: line.csv}\n",
)


def width_of_png(data):
    assert data.startswith(b"\x89PNG"), data[:8]
    return struct.unpack(">II", data[16:24])[0]


@unittest.skipUnless(CAN_DRAW, "no Python with xarray and matplotlib")
class Drawn(ProgramFolder):
    def picture(self, name):
        return (self.folder / name).read_bytes()

    def test_a_result_is_drawn_again_as_its_run_drew_it(self):
        self.done("run", "case.yaml", "--output", "sub.nc", "--set", "output.figure=run.png")
        result = self.done("plot", "sub.nc")
        self.assertRegex(result.stdout, r"^wrote sub\.png in [0-9.]+ m?s\n$")
        self.assertEqual(self.picture("sub.png"), self.picture("run.png"))
        self.assertEqual(self.files(), ["case.yaml", "run.png", "sub.nc", "sub.png"])

    def test_an_older_figure_is_replaced(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.write("r.png", "old")
        self.assertEqual(self.done("plot", "r.nc", "--quiet").stdout, "")
        self.assertTrue(self.picture("r.png").startswith(b"\x89PNG"))

    def test_options_change_the_picture_and_keys_do_the_same(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        keys = "{file: keys.png, contours: 4, colour_map: PuOr, dpi: 90, model_outline: false}"
        self.done("run", "case.yaml", "--output", "k.nc", "--set", "output.figure=" + keys)
        self.done("plot", "r.nc", "--output", "options.png", "--contours", "4", "--colour-map", "PuOr", "--dpi", "90",
                  "--no-outline")
        self.assertEqual(self.picture("keys.png"), self.picture("options.png"))
        self.done("plot", "r.nc", "--output", "plain.png", "--dpi", "90")
        self.assertNotEqual(self.picture("plain.png"), self.picture("options.png"))
        self.done("plot", "r.nc", "--output", "small.png", "--dpi", "45")
        self.assertAlmostEqual(width_of_png(self.picture("plain.png")) / width_of_png(self.picture("small.png")), 2, 1)
        self.done("plot", "r.nc", "--output", "one.png", "--field", "gzz", "--dpi", "90")
        self.assertLess(width_of_png(self.picture("one.png")), width_of_png(self.picture("plain.png")))

    def test_every_kind_of_figure(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        for suffix, begin in ((".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")):
            self.done("plot", "r.nc", "--output", "f" + suffix)
            self.assertTrue(self.picture("f" + suffix).startswith(begin), suffix)

    def test_tables_and_stations(self):
        self.write("line.csv", STATIONS)
        self.write("profile.yaml", PROFILE)
        self.done("run", "profile.yaml", "--output", "t.csv")
        self.done("run", "profile.yaml", "--output", "t.nc")
        for name in ("t.csv", "t.nc"):
            self.done("plot", name, "--output", name + ".png")
            self.assertTrue(self.picture(name + ".png").startswith(b"\x89PNG"), name)
        self.assertEqual([name for name in self.files() if "part" in name], [])

    def test_a_model_of_an_inversion(self):
        self.done("run", "case.yaml", "--output", "data.nc", "--set", "observations.noise={gz: 0.01, gzz: 1, seed: 1}")
        inversion = CASE + "inversion:\n  data: {file: data.nc, fields: [gz]}\n  max_iterations: 3\n"
        self.write("invert.yaml", inversion)
        self.run_program("invert", "invert.yaml", "--output", "m.h5", "--set", "output.figure=run.png")
        self.done("plot", "m.h5")
        self.assertEqual(self.picture("m.png"), self.picture("run.png"))
        refused = self.run_program("plot", "m.h5", "--field", "gz")
        self.assertEqual((refused.returncode, refused.stderr), (2, "--field: m.h5 is a model, which is drawn whole\n"))

    def test_fields_and_colour_maps_that_there_are_not(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.refused("plot", "r.nc", "--field", "gx", lines=["--field: r.nc holds no gx; it holds gz, gzz"])
        result = self.run_program("plot", "r.nc", "--colour-map", "virids")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^--colour-map: 'virids' is no colour map of matplotlib; did you mean viridis\b")
        result = self.run_program("run", "case.yaml", "--set", "output.figure={file: f.png, colour_map: virids}")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^--set output.figure.colour_map: 'virids' is no colour map of matplotlib; did you")
        self.assertEqual(self.files(), ["case.yaml", "r.nc"])

    def test_a_run_names_what_it_wrote(self):
        lines = self.done("run", "case.yaml", "--set", "output.figure=f.png").stdout.splitlines()
        self.assertRegex(lines[-1], r"^case\.h5: 36,960 pairs in .*\); f\.png drawn in [0-9.]+ m?s$")


class Refused(ProgramFolder):
    def test_what_is_not_there_or_holds_nothing_to_draw(self):
        self.assertEqual(self.run_program("plot", "none.nc").returncode, 2)
        self.write("words.nc", "no HDF5")
        self.assertIn(self.run_program("plot", "words.nc").returncode, (1, 2))
        self.write("bodies.csv", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n")
        result = self.run_program("plot", "bodies.csv")
        self.assertEqual(result.returncode, 2)
        self.assertIn("holds prisms, which are no result; prismfield run computes their fields", result.stderr)
        self.assertEqual(self.files(), ["bodies.csv", "case.yaml", "words.nc"])

    def test_names_of_figures(self):
        self.done("run", "case.yaml", "--output", "r.nc", "--quiet")
        self.refused("plot", "r.nc", "--output", "f.gif",
                     lines=["--output: no kind of figure ends in '.gif'; allowed: .png, .pdf, .svg"])
        self.refused("plot", "r.nc", "--output", "gone/f.png",
                     lines=["--output: the folder gone does not exist; make it first"])

    def test_without_a_python_that_draws_it_fails(self):
        self.done("run", "case.yaml", "--output", "r.nc", "--quiet")
        python = self.write("python", "#!/bin/sh\necho 'OSError: no paper' >&2\nexit 1\n")
        python.chmod(0o700)
        self.write("r.png", "old")
        result = self.run_program("plot", "r.nc", env={**os.environ, "PRISMFIELD_PYTHON": str(python)})
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no figure r.png: OSError: no paper", result.stderr)
        self.assertEqual((self.folder / "r.png").read_text(), "old")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    options, rest = parser.parse_known_args()
    ProgramFolder.program = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
