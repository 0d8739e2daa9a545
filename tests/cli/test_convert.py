# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""`prismfield convert` from end to end: formats there and back, signs, units, axes, mistakes. VTK's files are opened by
VTK where Python has it.

Usage: test_convert.py PRISMFIELD [--mpiexec COMMAND]
"""

import argparse
import csv
import itertools
import os
import pathlib
import shlex
import signal
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import ProgramFolder

try:
    import netCDF4
    import numpy as np
except ImportError:
    netCDF4 = None
try:
    import vtk
except ImportError:
    vtk = None

options = None

# 2 x 3 x 2 cells; in the model, hundreds easting, tens northing, ones layer from the top
MESH = "2 3 2\n100 200 50\n10 20\n2*5 30\n1 4\n"
MODEL = "".join(f"0.{e}{n}{z}\n" for n in (1, 2, 3) for e in (1, 2) for z in (1, 2))
DATA = "3\n0 10 1.5 0.25 0.01\n20 10 1.25 -0.125 0.02\n40 10 1 3 0.03\n"


def classic_prisms(attributes):
    """A list of two prisms in netCDF's first classic format, byte by byte, with a variable crs of these attributes."""
    def text(value):
        raw = value.encode()
        return struct.pack(">i", len(raw)) + raw + bytes(-len(raw) % 4)

    def variable(name, dimensions, of_it, kind, size, begin):
        listed = b"".join(text(key) + (struct.pack(">i", 2) + text(value) if isinstance(value, str) else
                                       struct.pack(f">2i{len(value)}d", 6, len(value), *value)) for key, value in of_it)
        return text(name) + struct.pack(f">i{len(dimensions)}i", len(dimensions), *dimensions) + \
            struct.pack(">2i", 12 if of_it else 0, len(of_it)) + listed + struct.pack(">3i", kind, size, begin)

    columns = {"west": (0, 10), "east": (10, 20), "south": (0, 0), "north": (5, 5), "bottom": (-9, -9), "top": (0, -1),
               "density": (300, 400)}

    def header(begin):
        return b"CDF\1" + struct.pack(">3i", 0, 10, 1) + text("prism") + struct.pack(">5i", 2, 0, 0, 11, 8) + \
            b"".join(variable(name, [0], [], 6, 16, begin + 16 * i) for i, name in enumerate(columns)) + \
            variable("crs", [], attributes, 2, 4, begin + 16 * 7)

    return header(len(header(0))) + b"".join(struct.pack(">2d", *values) for values in columns.values()) + bytes(4)


class Convert(ProgramFolder):
    case = "model: {voxels: {easting: [0, 30, 3], northing: [0, 20, 2], upward: [-10, 0, 1], density: 300}}\n" \
           "observations: {grid: {easting: [0, 30, 4], northing: [0, 20, 3], upward: 5}}\nfields: [gz, gzz]\n"

    def setUp(self):
        super().setUp()
        self.write("m.msh", MESH)
        self.write("m.den", MODEL)
        self.write("d.obs", DATA)

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def convert(self, *arguments):
        return self.done("convert", *arguments).stdout

    def test_a_ubc_model_through_every_format_of_cells(self):
        said = self.convert("m.den", "m.h5", "--mesh", "m.msh")
        self.assertIn("UBC model, 12 cells (2 x 3 x 2), density 111 to 232 kg/m3", said)
        for suffix, to in ((".h5", ()), (".nc", ())):
            self.convert("m.h5", "again" + suffix, *to)
            self.convert("again" + suffix, "again.den")
            self.assertEqual(self.read("again.den"), MODEL)
            self.convert("again" + suffix, "again.msh")
            self.assertEqual(self.read("again.msh"), MESH)
        self.convert("m.h5", "grid.txt", "--to", "tomofast-grid")
        self.convert("m.h5", "values.txt", "--to", "tomofast-values")
        # found by their first lines; the top layer first, depth downwards
        self.assertEqual(self.read("grid.txt").splitlines()[:2], ["12", "100 110 200 205 -50 -49 1 1 1"])
        self.assertEqual(self.read("values.txt").splitlines()[:3], ["12", "111", "211"])
        self.convert("values.txt", "back.den", "--mesh", "grid.txt")
        self.assertEqual(self.read("back.den"), MODEL)
        self.convert("grid.txt", "back.msh")
        self.assertEqual(self.read("back.msh"), MESH)
        self.convert("m.h5", "list.txt", "--to", "values")
        self.assertEqual(self.read("list.txt").splitlines()[:3], ["112", "212", "122"])
        self.convert("list.txt", "list.den", "--from", "values", "--mesh", "m.msh")
        self.assertEqual(self.read("list.den"), MODEL)
        self.convert("m.den", "prisms.csv", "--mesh", "grid.txt")
        self.assertEqual(self.read("prisms.csv").splitlines()[:2],
                         ["west,east,south,north,bottom,top,density", "100,110,200,205,45,49,112"])
        self.convert("prisms.csv", "prisms.h5")
        self.convert("prisms.h5", "prisms.xyz")
        self.convert("prisms.xyz", "full.den")
        self.assertEqual(self.read("full.den"), MODEL)

    def test_a_tomofast_grid_whose_i_counts_northing(self):
        # as in Tomofast-x's Hamersley example: i along Y, j along X; with a value a cell, and without, as since 2025-11
        rows = [(west, west + 10, south, south + 5, 0, 1, west + south, i, j, 1)
                for j, west in enumerate((100, 110), 1) for i, south in enumerate((200, 205, 210), 1)]
        self.write("old.txt", "6\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
        self.write("grid.txt", "6\n" + "".join(" ".join(map(str, row[:6] + row[7:])) + "\n" for row in rows))
        self.write("values.txt", "6\n" + "".join(f"{row[6]}\n" for row in rows))
        for arguments in (["old.txt", "old.den"], ["values.txt", "new.den", "--mesh", "grid.txt"]):
            self.assertIn("6 cells (2 x 3 x 1), density 300 to 320 kg/m3", self.convert(*arguments))
            # a UBC model has easting before northing
            self.assertEqual(self.read(arguments[1]).split(), ["0.3", "0.31", "0.305", "0.315", "0.31", "0.32"])
        self.convert("grid.txt", "grid.msh")
        self.assertEqual(self.read("grid.msh").splitlines()[1:4], ["100 200 0", "2*10", "3*5"])

    def test_data_through_every_format_of_points(self):
        said = self.convert("d.obs", "d.csv")
        self.assertIn("3 points, gz -0.125 to 3 mGal with sigma, axes z_down", said)
        self.assertEqual(self.read("d.csv").splitlines()[:2],
                         ["easting,northing,upward,gz [mGal],gz_sigma [mGal]", "0,10,1.5,0.25,0.01"])
        chain = ["d.csv", "d.xyz", "d.h5", "d2.csv", "back.obs"]
        for a, b in zip(chain, chain[1:]):
            self.convert(a, b)
        self.assertEqual(self.read("back.obs"), DATA)
        said = self.convert("d.h5", "data.txt", "--to", "tomofast-data")
        self.assertIn("gz in m/s2, positive downwards", said)
        self.assertEqual(self.read("data.txt"), "3\n0 10 -1.5 2.5e-06\n20 10 -1.25 -1.25e-06\n40 10 -1 0.00003\n")
        # UBC's data look the same
        self.refused("convert", "data.txt", "x.obs", lines=[
            "'data.txt' begins with the number of its rows, as several formats do; say which by --from ubc-data (E, N, "
            "elevation, mGal) or --from tomofast-data (X, Y, depth, m/s2)"])
        said = self.convert("data.txt", "back2.obs", "--from", "tomofast-data")
        self.assertIn("gz -0.125 to 3 mGal, axes z_down; gz in m/s2 in the file\n", said)
        self.assertTrue(self.convert("d.obs", "d.vtp").endswith("heights upwards in m; gz in mGal; axes z_down\n"))
        self.assertEqual(self.read("back2.obs").splitlines()[1], "0 10 1.5 0.25")

    def test_a_loc_holds_places_alone(self):
        result = self.done("convert", "d.obs", "d.loc")
        self.assertIn("3 points; E, N, elevation in m\n", result.stdout)
        self.assertEqual(result.stderr, "note: left out: gz\n")
        self.assertEqual(self.read("d.loc"), "3\n0 10 1.5\n20 10 1.25\n40 10 1\n")
        self.convert("d.loc", "again.LOC")
        self.assertEqual(self.read("again.LOC"), self.read("d.loc"))

    def test_signs_are_those_asked_for(self):
        # as SimPEG writes them: no count, gz up
        self.write("up.obs", "0 0 2 -0.5\n10 0 2 -0.25\n")
        self.convert("up.obs", "down.obs", "--axes", "z_up", "--field", "gz")
        self.assertEqual(self.read("down.obs"), "2\n0 0 2 0.5\n10 0 2 0.25\n")
        self.convert("down.obs", "up.csv", "--output-axes", "z_up")
        self.assertEqual(self.read("up.csv"), "easting,northing,upward,gz [mGal]\n0,0,2,-0.5\n10,0,2,-0.25\n")
        self.convert("up.csv", "up.h5", "--axes", "z_up")
        self.convert("up.h5", "again.obs")
        self.assertEqual(self.read("again.obs"), self.read("down.obs"))
        self.refused("convert", "up.h5", "x.csv", "--axes", "z_down",
                     lines=["--axes: is z_down, but 'up.h5' says itself that its axes are z_up; leave the option out"])

    def test_units_and_inactive_cells(self):
        self.convert("m.den", "kg.den", "--mesh", "m.msh", "--density-unit", "kg/m3", "--output-density-unit", "kg/m3")
        self.assertEqual(self.read("kg.den"), MODEL)
        self.convert("m.den", "g.csv", "--mesh", "m.msh", "--output-density-unit", "g/cm3")
        self.assertEqual(self.read("g.csv").splitlines()[1], "100,110,200,205,45,49,0.112")
        flagged = MODEL.replace("0.111", "-100").replace("0.232", "-100")
        self.write("air.den", flagged)
        said = self.convert("air.den", "air.h5", "--mesh", "m.msh", "--inactive", "-100")
        self.assertIn("density 112 to 231 kg/m3, 2 inactive; g/cm3 in the file\n", said)
        self.assertTrue(said.endswith("(upward, northing, easting), in m; density in kg/m3; inactive cells NaN\n"), said)
        self.convert("air.h5", "again.den", "--inactive", "-100")
        self.assertEqual(self.read("again.den"), flagged)
        said = self.convert("air.h5", "zero.den")
        self.assertIn("2 inactive as 0", said)
        self.assertTrue(self.read("zero.den").startswith("0\n0.112\n"))
        air = ("air.den", "clean.den", "--mesh", "m.msh", "--inactive", "-100")
        self.assertIn("2 inactive as -100", self.convert(*air))
        self.assertEqual(self.read("clean.den"), flagged)
        self.assertIn("2 inactive as 0", self.convert(*air, "--output-inactive", "0"))
        self.assertEqual(self.read("clean.den"), self.read("zero.den"))
        result = self.done("convert", "air.den", "wrong.h5", "--mesh", "m.msh")
        self.assertEqual(result.stderr, "note: 'air.den' has -100 g/cm3, beyond any rock, in 2 of its 12 cells: if that "
                                        "marks inactive cells, such as air, say --inactive -100\n")
        result = self.done("convert", "m.den", "none.h5", "--mesh", "m.msh", "--inactive", "-100")
        self.assertEqual(result.stderr, "note: --inactive: no cell has -100; give the number as the file has it, in its "
                                        "unit and with all its digits\n")
        # a mark that an active cell has, or that lies among their values
        self.refused("convert", "air.h5", "mixed.den", "--inactive", "0.112",
                     lines=["--inactive: is 0.112, which 1 active cell has as a value; choose a number that no active cell "
                            "has, such as -99999"])
        self.refused("convert", *air[:1], "mixed.den", *air[2:], "--output-inactive", "0.112",
                     lines=["--output-inactive: is 0.112, which 1 active cell has as a value; choose a number that no "
                            "active cell has, such as -99999"])
        within = ("note: {}: {} lies within the range of the active cells' values, {}; make sure that it marks inactive "
                  "cells only, or write a number outside, such as -99999\n")
        result = self.done("convert", "air.h5", "within.den", "--inactive", "0.1125")
        self.assertIn(within.format("--inactive", "0.1125", "0.112 to 0.231"), result.stderr)
        result = self.done("convert", "m.den", "twice.den", "--mesh", "m.msh", "--inactive", "0.121")
        self.assertEqual(result.stderr.count(within.format("--inactive", "0.121", "0.111 to 0.232")), 1, result.stderr)
        # the key of a case
        ubc = "model={mesh: {ubc: {mesh: m.msh, density: air.den%s}}}"
        result = self.run_program("run", "case.yaml", "--check", "--set", ubc % "")
        self.assertEqual(result.returncode, 2)
        self.assertIn("write inactive: -100 beside it", result.stderr)
        with_key = self.done("run", "case.yaml", "--dry-run", "--set", ubc % ", inactive: -100")
        self.assertIn("10 prisms with density", with_key.stdout)
        self.assertEqual(with_key.stderr.count("note: 2 of 12 cells of 'air.den' left out: they have -100, as "
                                               "model.mesh.ubc.inactive says\n"), 1, with_key.stderr)
        result = self.done("convert", "air.h5", "air.csv")
        self.assertIn("note: 2 cells of density 0 or inactive left out", result.stderr)
        # and a run takes them
        self.write("use.yaml", self.case.replace("voxels: {easting: [0, 30, 3], northing: [0, 20, 2], upward: [-10, 0, 1], "
                                                 "density: 300}", "prisms: {file: air.csv}"))
        self.done("run", "use.yaml", "--check")

    def test_magnetic_data_through_every_format_of_points(self):
        head = "-62.5 11.25 48250\n"
        survey = head + "-62.5 11.25 1\n3\n0 10 1.5 25.25 1\n20 10 1.25 -12.5 2\n40 10 1 3 1.5\n"
        self.write("s.mag", survey)
        said = self.convert("s.mag", "s.h5")
        self.assertIn("read    s.mag: UBC data, 3 points, tmi -12.5 to 25.25 nT with sigma", said)
        self.convert("s.h5", "back.mag")
        self.assertEqual(self.read("back.mag"), survey)
        # a table does not state the inducing field
        self.convert("s.h5", "s.csv")
        self.refused("convert", "s.csv", "x.mag", lines=[
            "UBC's magnetic data state the inducing field, and the input does not; say it by --inducing-field "
            "INCLINATION,DECLINATION,INTENSITY"])
        self.convert("s.csv", "table.mag", "--inducing-field", "-62.5,11.25,48250")
        self.assertEqual(self.read("table.mag"), survey)
        self.refused("convert", "s.mag", "x.h5", "--inducing-field", "60,0,48250", lines=[
            "--inducing-field: is inclination 60, declination 0, intensity 48250 nT, but 's.mag' says itself that it is "
            "inclination -62.5, declination 11.25, intensity 48250 nT; leave the option out"])
        self.refused("convert", "s.mag", "x.h5", "--inducing-field", "60,0", lines=[
            "--inducing-field: is '60,0'; inclination (-90 to 90 degrees), declination (-360 to 360) and intensity (nT, "
            "above 0) with commas are expected, such as -62.5,11.25,48250"])
        self.refused("convert", "s.mag", "x.h5", "--inducing-field", "60,0,5e-5", lines=[
            "--inducing-field: is 5e-05 nT; an intensity in nT is expected, and this looks like one in T: write 50000"])
        self.write("g.csv", "easting,northing,upward,bxx\n0,0,10,1\n")
        self.refused("convert", "g.csv", "x.mag", "--inducing-field", "60,0,50000", lines=[
            "--field: UBC's magnetic data are bx, by, bz, tmi, tmi_exact, amplitude; for bxx choose another format"])
        self.refused("convert", "d.obs", "x.mag", lines=["OUT: a .mag holds magnetic data, which the input has not"])
        # components: Tomofast's point down
        self.write("b.csv", "easting,northing,upward,bx [nT],by [nT],bz [nT]\n0,0,10,1,2,3\n5,0,10,-1,0,0.5\n")
        self.convert("b.csv", "b.txt", "--to", "tomofast-data")
        self.assertEqual(self.read("b.txt"), "2\n0 0 -10 1 2 3\n5 0 -10 -1 0 0.5\n")
        self.convert("b.csv", "up.txt", "--to", "tomofast-data", "--output-axes", "z_up")
        self.assertEqual(self.read("up.txt").splitlines()[1], "0 0 -10 1 2 -3")
        # what Tomofast's data do not hold is not written as 0
        self.convert("s.mag", "s.txt", "--to", "tomofast-data")
        self.assertEqual(self.read("s.txt"), "3\n0 10 -1.5 25.25\n20 10 -1.25 -12.5\n40 10 -1 3\n")
        self.convert("b.csv", "bx.mag", "--field", "bx", "--inducing-field", "60,10,50000")
        self.refused("convert", "bx.mag", "x.txt", "--to", "tomofast-data", lines=[
            "--to: Tomofast data are gz, tmi, or bx, by and bz together, of which the input, with bx, has none; choose "
            "another format"])
        self.write("places.csv", "easting,northing,upward\n1,2,3\n")
        self.assertEqual(self.done("convert", "places.csv", "places.txt", "--to", "tomofast-data").stderr,
                         "note: the points have no field: gz is written as 0\n")
        self.convert("b.txt", "bz.mag", "--field", "bz", "--inducing-field", "90,0,50000", "--from", "tomofast-data")
        self.assertEqual(self.read("bz.mag"), "90 0 50000\n90 0 1\n2\n0 0 10 3\n5 0 10 0.5\n")

    def test_models_of_magnetic_programs(self):
        self.write("m.sus", "0.01\n-100\n" * 6)
        said = self.convert("m.sus", "s.h5", "--mesh", "m.msh")
        self.assertIn("susceptibility 0.01 to 0.01 SI, 6 inactive\n", said)
        self.convert("s.h5", "back.sus")
        self.assertEqual(self.read("back.sus"), self.read("m.sus"))
        self.refused("convert", "m.den", "x.sus", "--mesh", "m.msh", lines=[
            "OUT: is a file of susceptibilities, by its suffix, and what is to be written is density; call it .den"])
        self.convert("s.h5", "s.csv")
        self.assertEqual(self.read("s.csv").splitlines()[:2], ["west,east,south,north,bottom,top,susceptibility",
                                                               "100,110,200,205,49,50,0.01"])
        # effective susceptibilities, z down; 40 A/m are |F0|/mu0 of 50,265.48 nT
        field = ("--inducing-field", "-62.5,11.25,50265.4824848")
        self.write("odd.sus", "0.01\n" * 11 + "99999\n")
        self.assertIn("susceptibility has 99999 in 1 of its 12 cells: 99999 looks like a dummy",
                      self.done("convert", "odd.sus", "x.h5", "--mesh", "m.msh").stderr)
        self.write("m.fld", "0.5 0.25 1\n-100 -100 -100\n" * 6)
        self.refused("convert", "m.fld", "x.h5", "--mesh", "m.msh", lines=[
            "--inducing-field: is missing: 'm.fld' holds effective susceptibilities, M over |F0|/mu0; say "
            "INCLINATION,DECLINATION,INTENSITY (degrees, nT) of the inducing field"])
        said = self.convert("m.fld", "v.h5", "--mesh", "m.msh", *field)
        self.assertIn("magnetization_easting 20 to 20 A/m, magnetization_northing 10 to 10 A/m, magnetization_upward -40 "
                      "to -40 A/m, 6 inactive; effective susceptibilities in the file\n", said)
        self.convert("v.h5", "back.fld")
        self.assertEqual(self.read("back.fld"), self.read("m.fld"))
        self.convert("v.h5", "v.txt", "--to", "tomofast-values")
        rows = [[float(word) for word in line.split()] for line in self.read("v.txt").splitlines()]
        self.assertEqual([rows[0], rows[7]], [[12], [0, 0, 0]])
        for value, expected in zip(rows[1], (20, 10, 40)):
            self.assertAlmostEqual(value, expected, 6)
        self.convert("v.h5", "grid.txt", "--to", "tomofast-grid")
        self.convert("v.txt", "again.h5", "--mesh", "grid.txt")
        self.convert("again.h5", "again.txt", "--to", "tomofast-values")
        self.assertEqual(self.read("again.txt"), self.read("v.txt"))
        # a vector is inactive where its three numbers are the mark, here and there 0 in one that is not
        self.write("z.fld", "0.01 0 0.02\n" * 11 + "0 0 0\n")
        said = self.convert("z.fld", "z.h5", "--mesh", "m.msh", "--inactive", "0", *field)
        self.assertIn("magnetization_northing 0 to 0 A/m, ", said)
        self.assertIn(", 1 inactive; ", said)
        # a dummy in one of them leaves no vector
        self.write("d.fld", "0.01 0 0.02\n" * 11 + "-9999 0 0\n")
        said = self.convert("d.fld", "d.h5", "--mesh", "m.msh", "--inactive", "-9999", *field)
        self.assertIn(", 1 inactive; ", said)
        self.refused("compare", "z.h5", "z.h5", lines=[
            "z.h5: is a model, and compare takes results alone, which hold fields at points"])
        # as a model of a case an inactive cell is empty
        result = self.done("run", "case.yaml", "--dry-run", "--set", "fields=bx", "--set", "model={mesh: {easting: {edges: "
                           "[100, 110, 130]}, northing: {edges: [200, 205, 210, 240]}, upward: {edges: [45, 49, 50]}, "
                           "magnetization: {file: z.h5}}}")
        self.assertIn("note: model.mesh.magnetization.file: 1 of 12 cells of 'z.h5' left out: they are inactive there, "
                      "NaN\n", result.stderr)
        self.convert("z.h5", "z_back.fld", "--output-inactive", "0")
        self.assertEqual(self.read("z_back.fld"), self.read("z.fld"))
        self.convert("z.h5", "z.txt", "--to", "tomofast-values")
        self.assertIn(", 1 inactive", self.convert("z.txt", "z_too.h5", "--mesh", "grid.txt",
                                                             "--inactive", "0"))
        self.refused("convert", "z.txt", "x.h5", lines=[
            "'z.txt' begins with the number of its rows, as several formats do; say which by --from ubc-data (E, N, "
            "elevation, mGal) or --from tomofast-data (X, Y, depth, m/s2) or --from tomofast-values (of cells, whose grid "
            "--mesh names)"])
        self.write("same.fld", "1 1 1\n" * 11 + "-100 -100 -100\n")
        self.convert("same.fld", "same.h5", "--mesh", "m.msh", *field)
        self.refused("convert", "same.h5", "x.fld", "--inactive", "1", lines=[
            "--inactive: is 1, which 11 active cells have as a value; choose a number that no active cell has, such as "
            "-99999"])
        for name in ("x.sus", "x.den"):
            self.refused("convert", "v.h5", name, "--field", "magnetization_upward", lines=[
                f"OUT: is a file of {'susceptibilities' if name == 'x.sus' else 'densities'}, by its suffix, and what is to "
                "be written is magnetization_upward; call it .fld (the vectors) or .mod (one number a cell)"])
        self.assertIn("; 6 inactive as -100; read as a density without --field susceptibility\n",
                      self.convert("s.h5", "s.mod"))
        self.convert("s.mod", "s_back.h5", "--mesh", "m.msh", "--field", "susceptibility")
        self.convert("s_back.h5", "s_back.sus")
        self.assertEqual(self.read("s_back.sus"), self.read("m.sus"))
        self.convert("v.h5", "up.mod", "--field", "magnetization_upward")
        self.assertAlmostEqual(float(self.read("up.mod").split()[0]), -40, 6)
        self.refused("convert", "v.h5", "x.mod", lines=[
            "OUT: UBC model holds one number a cell; choose a component by --field, such as magnetization_easting, or --to "
            "ubc-vectors (.fld)"])
        said = self.convert("v.h5", "v.vtu")
        self.assertIn("6 prisms; magnetization_easting in A/m, magnetization_northing in A/m, magnetization_upward in A/m, "
                      "heights upwards in m", said)

    def test_results_of_a_run_come_back_bit_for_bit(self):
        self.done("run", "case.yaml")
        for name in ("r.csv", "r.xyz"):
            result = self.done("convert", "case.h5", name)
            self.assertEqual(result.stderr, "")
            self.done("compare", name, "case.h5", "--tolerance", "0", "--quiet")
        self.convert("case.h5", "r.nc")
        self.done("compare", "r.nc", "case.h5", "--tolerance", "0", "--quiet")
        self.convert("r.csv", "r2.h5")
        self.done("compare", "r2.h5", "r.csv", "--tolerance", "0", "--quiet")
        result = self.done("convert", "case.h5", "r.obs")
        self.assertIn("note: left out: gzz", result.stderr)
        self.convert("case.h5", "gzz.obs", "--field", "gzz")
        self.assertEqual(len(self.read("gzz.obs").splitlines()), 13)
        self.assertNotEqual(self.read("gzz.obs"), self.read("r.obs"))

    def test_a_reference_system_goes_where_there_is_a_place_for_it(self):
        self.done("run", "case.yaml", "--set", "crs=EPSG:32719")
        result = self.done("convert", "case.h5", "r.nc")
        self.assertEqual(result.stderr, "")
        # once more, from what convert wrote: there it is still, and no table has a place for it
        for name in ("case.h5", "r.nc"):
            result = self.done("convert", name, "r.csv")
            self.assertEqual(result.stderr, "note: not carried: crs\n")

    def test_a_reference_system_of_classic_netcdf_is_carried(self):
        (self.folder / "list.nc").write_bytes(classic_prisms([
            ("grid_mapping_name", "lambert_conformal_conic"), ("standard_parallel", (50.5, 51.25)), ("name", "a cone")]))
        result = self.done("convert", "list.nc", "list.csv")
        self.assertEqual(result.stderr, "note: not carried: crs\n")
        self.assertEqual(self.read("list.csv").splitlines()[1:], ["0,10,0,5,-9,0,300", "10,20,0,5,-9,-1,400"])
        self.assertEqual(self.done("convert", "list.nc", "list.h5").stderr, "")
        self.assertEqual(self.done("convert", "list.h5", "again.csv").stderr, "note: not carried: crs\n")
        written = (self.folder / "list.h5").read_bytes()
        for part in (b"lambert_conformal_conic", struct.pack("<2d", 50.5, 51.25), b"a cone"):
            self.assertIn(part, written)

    # names with what ends fields and begins comments, a number with a unit, a dummy, a column called as a field is
    STATIONS = 'easting,northing,upward,id,Line no,gz [mGal],note\n' \
               '1,0,5,p1,7,0.5,"a, b"\n4,1,5,"p #2",7.5,0.25,\n7,2,5,p3,*,1e-3,"x; y"\n10,3,5,p4,8,2,d e\n'

    def run_at_stations(self, output, *options):
        self.write("s.csv", self.STATIONS)
        self.done("run", "case.yaml", "--output", output, "--set", "crs=EPSG:32719", "--set", "observations.grid=null",
                  "--set", "observations.stations={file: s.csv}", *options)

    def test_columns_of_stations_are_carried(self):
        self.run_at_stations("s.nc")
        self.run_at_stations("run.csv")
        # as run writes them, but for quotes that nothing needs and dummies
        self.assertEqual(self.done("convert", "s.nc", "s2.csv").stderr, "note: not carried: crs\n")
        lines = self.read("s2.csv").splitlines()
        self.assertEqual(lines[0], "easting,northing,upward,id,Line no,gz_file [mGal],note,gz [mGal],gzz [Eotvos]")
        of_run = self.read("run.csv").splitlines()
        self.assertEqual(of_run[0], lines[0])
        self.assertEqual([lines[1], lines[4]], [of_run[1], of_run[4]])
        self.assertTrue(lines[2].startswith('4,1,5,"p #2",7.5,0.25,,'), lines[2])
        self.assertTrue(lines[3].startswith('7,2,5,p3,nan,0.001,"x; y",'), lines[3])
        # through every format that has a place for them
        for name in ("again.nc", "again.h5", "again.csv", "s.xyz", "from.xyz"):
            result = self.done("convert", "s.xyz" if name == "from.xyz" else "s2.csv", name)
            self.assertEqual(result.stderr, "")
            self.convert(name, "back.csv")
            back = list(csv.reader(self.read("back.csv").splitlines()))
            if name.endswith(".xyz"):
                # blanks of names are none there, and texts come last
                self.assertEqual(back[0], ["easting", "northing", "upward", "Line_no", "gz_file [mGal]", "id", "note",
                                           "gz [mGal]", "gzz [Eotvos]"])
                back = [[row[i] for i in (0, 1, 2, 5, 3, 4, 6, 7, 8)] for row in back]
            self.assertEqual(back[1:], list(csv.reader(lines[1:])), name)
        rows = [line for line in self.read("s.xyz").splitlines() if not line.startswith("#")]
        self.assertTrue(rows[1].startswith("4 1 5 7.5 0.25 ") and rows[1].endswith(' "p #2" ""'), rows[1])
        names = [line for line in self.read("s.xyz").splitlines() if line.startswith("#")][-1]
        self.assertEqual(names, "# easting northing upward Line_no gz_file_[mGal] gz[mGal] gzz[Eotvos] id note")
        self.done("compare", "again.nc", "s.nc", "--tolerance", "0", "--quiet")

    def test_quoted_texts_come_back_as_they_were(self):
        texts = ["near road, wet", 'said "ok"', '"', '""', 'a "b", c', " blanks ", "semi;colon", "# no comment", "x #1",
                 "it's", '"whole"', "", "plain"]
        rows = [["x", "y", "z", "note", "last"]] + [[i, 5, 3, text, f"{text}!"] for i, text in enumerate(texts)]
        with open(self.folder / "s.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
        for name in ("s.nc", "s.h5", "run.csv"):
            self.done("run", "case.yaml", "--output", name, "--set", "observations.grid=null",
                      "--set", "observations.stations={file: s.csv}", "--quiet")
            for back in ("back.csv", "over.nc"):
                self.done("convert", name, back)
            self.done("convert", "over.nc", "twice.csv")
            for table in ("back.csv", "twice.csv"):
                found = list(csv.DictReader(self.read(table).splitlines()))
                self.assertEqual([row["note"] for row in found], texts, (name, table))
                self.assertEqual([row["last"] for row in found], [f"{text}!" for text in texts], (name, table))

    def test_axes_are_those_of_the_comment(self):
        for name in ("up.nc", "up.xyz"):
            self.run_at_stations(name, "--set", "axes=z_up")
        said = self.convert("up.xyz", "again.nc")
        self.assertIn(", axes z_up, columns", said)
        self.done("compare", "again.nc", "up.nc", "--tolerance", "0", "--quiet")
        self.refused("convert", "up.xyz", "x.csv", "--axes", "z_down",
                     lines=["--axes: is z_down, but 'up.xyz' says itself that its axes are z_up; leave the option out"])
        # a csv says nothing
        self.convert("up.xyz", "up.csv")
        self.assertIn(", axes z_down by default, columns", self.convert("up.csv", "x.nc"))

    def test_dummies_are_no_values(self):
        self.write("d.csv", "easting,northing,upward,GZ [mGal]\n1,2,3,4\n3,4,5,-1e32\n5,6,7,*\n")
        self.assertIn("3 points, gz 4 to 4 mGal", self.convert("d.csv", "d.nc"))
        said = self.done("compare", "d.csv", "d.nc", "--tolerance", "0").stdout
        self.assertIn(" equal everywhere  (NaN in both at 2 points)\n", said)

    def test_columns_without_a_place_are_named(self):
        self.run_at_stations("s.nc")
        for name, lost in (("s.vtp", "crs, columns id, note"), ("s.h5", ""),
                           ("s.obs", "crs, columns id, Line no, gz_file, note")):
            result = self.done("convert", "s.nc", name)
            self.assertIn(f"note: not carried: {lost}\n" if lost else "", result.stderr)
            self.assertIn(", axes z_down, columns id, Line no, gz_file, note\n", result.stdout)
        self.assertEqual(self.done("convert", "s.nc", "s.h5").stderr, "")

    def test_variables_of_a_run_are_carried_behind_the_fields(self):
        self.write("v.csv", "easting,northing,upward,gz [mGal],bouguer_slab [mGal],terrain_height [m],singular\n"
                            "0,0,1,2,3,4,0\n1,0,1,2,-5,6,1\n")
        self.convert("v.csv", "v.nc")
        self.convert("v.nc", "w.csv")
        self.assertEqual(self.read("w.csv"), self.read("v.csv"))
        # what has the sign of gz turns with it
        self.convert("v.nc", "up.csv", "--output-axes", "z_up")
        self.assertEqual(self.read("up.csv").splitlines()[1:], ["0,0,1,-2,-3,4,0", "1,0,1,-2,5,6,1"])

    def test_points_without_fields_are_told_of_without_units_of_fields(self):
        self.write("s.csv", "easting,northing,upward\n1,2,3\n")
        said = self.convert("s.csv", "s.vtp")
        self.assertIn("1 point, no fields\n", said)
        self.assertTrue(said.endswith("1 point; heights upwards in m\n"), said)

    def test_mistakes(self):
        cases = [
            (("m.den", "x.h5"), "--mesh: is missing: 'm.den' holds numbers without a mesh; name the UBC mesh, the "
                                "Tomofast grid or the HDF5 model that they belong to"),
            (("d.obs", "d.obs"), "OUT: would replace IN, which is read; choose another name"),
            (("m.den", "m.msh", "--mesh", "m.msh"), "OUT: would replace --mesh, which is read; choose another name"),
            (("d.obs", "none/x.csv"), "OUT: the folder none does not exist; make it first"),
            (("gone.obs", "x.csv"), "'gone.obs' cannot be read: there is no such file"),
            (("d.obs", "x.csv", "--mesh", "m.msh"), "--mesh: is not needed: 'd.obs' says itself where its numbers belong; "
                                                    "leave it out"),
            (("d.obs", "x.den"), "OUT: UBC model holds cells, but what was read is points; for these there are: hdf5, "
                                 "csv, xyz, ubc-data, tomofast-data, vtp"),
            (("d.obs", "x.dat", "--to", "ubc-model"), "--to: UBC model holds cells, but what was read is points; for "
             "these there are: hdf5, csv, xyz, ubc-data, tomofast-data, vtp"),
            (("m.msh", "x.obs"), "OUT: UBC data holds points, but what was read is cells; for these there are: hdf5, "
                                 "ubc-mesh, ubc-model, ubc-vectors, tomofast-grid, tomofast-values, vtr, values"),
            (("m.msh", "x.den"), "a mesh alone has no values for a UBC model; convert a model"),
            (("d.obs", "x.csv", "--field", "gzx"), "--field: 'gzx' is no field, did you mean gxz?; of points there are: "
                                                   "potential, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, bx, by, bz, bxx, byy, bzz, bxy, bxz, byz, guv, tmi, "
                                                   "tmi_exact, amplitude, tmi_x, tmi_y, tmi_z"),
            (("d.obs", "x.csv", "--axes", "z_dwn"), "--axes: is 'z_dwn', did you mean z_down? Allowed: z_down, z_up"),
            (("d.obs", "x.csv", "--inactive", "air"), "--inactive: is 'air'; a number is expected"),
        ]
        for arguments, line in cases:
            with self.subTest(arguments):
                self.refused("convert", *arguments, lines=[line])
        self.write("bad.obs", "2\n0 0 x 1\n1 2 3 4 5 6\n")
        self.refused("convert", "bad.obs", "x.csv", lines=[
            "bad.obs:2: 'x' is not a number",
            "bad.obs:3: 6 columns; E, N, elevation, value and standard deviation are at most five and at least three"])
        self.write("what.dat", "some words\n")
        result = self.run_program("convert", "what.dat", "x.csv")
        self.assertEqual(result.returncode, 2)
        self.assertIn("say it by --from: hdf5, hdf5-prisms, csv", result.stderr)
        result = self.run_program("convert", "d.obs", "x.dat")
        self.assertEqual(result.returncode, 2)
        self.assertIn("OUT: 'x.dat' has no suffix that says what to write", result.stderr)

    def test_a_mesh_of_more_cells_than_can_be_counted(self):
        self.write("of.msh", "4194304 2097152 2097152\n0 0 0\n4194304*1\n2097152*1\n2097152*1\n")
        mistake = "'of.msh' has 1.84e+19 cells; at most 4.6e18 are allowed"
        self.refused("convert", "of.msh", "of.vtr", lines=[mistake])
        self.refused("convert", "m.den", "of.h5", "--mesh", "of.msh", lines=["--mesh: " + mistake])

    def test_places_in_degrees_and_heights_in_space_are_noted(self):
        degrees, heights = "note: the coordinates of the places look like degrees", "note: the points have heights of"
        for name, text, said in (
                ("p.csv", "x,y,z,gz\n10,50,300,1\n10.1,50,310,2\n10.2,50.1,320,3\n", degrees),
                ("p.obs", "3\n10 50 300 1\n10.1 50 310 2\n10.2 50.1 320 3\n", degrees),
                ("p.csv", "west,east,south,north,bottom,top,density\n10,10.1,50,50.1,-900,-100,3\n", degrees),
                ("p.csv", "x,y,z,gz\n0,0,300,1\n900,0,32767,2\n0,900,320,3\n", heights)):
            self.write(name, text)
            self.assertIn(said, self.done("convert", name, "o.csv").stderr)
        self.write("p.csv", "x,y,z,gz\n0,0,300,1\n900,0,310,2\n0,900,320,3\n")
        self.assertEqual(self.done("convert", "p.csv", "o.csv").stderr, "")

    def test_a_damaged_file_is_refused_alike_by_every_command(self):
        (self.folder / "y.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
        said = self.run_program("convert", "y.h5", "x.csv").stderr.splitlines()
        for arguments in (("convert", "y.h5", "x.csv"), ("compare", "y.h5", "y.h5"), ("plot", "y.h5")):
            self.refused(*arguments, lines=said)

    def test_cells_of_an_octree_become_prisms(self):
        octree = "! cells\n8 16 8\n-800 -800 100\n100 100 50\n9\n1 1 1 8\n1 9 1 4\n"
        octree += "".join(f"{i} {j} {k} 4\n" for k in (1, 5) for j in (9, 13) for i in (1, 5))[len("1 9 1 4\n"):]
        remedy = ("is a UBC OcTree mesh, whose cells differ in size, and a tensor mesh is needed; prismfield convert MODEL "
                  "OUT.csv --mesh with this mesh makes prisms of it, which model.prisms takes")
        # by content, whatever it is called
        for mesh in ("o.msh", "o.txt", "o.ome"):
            self.write(mesh, octree)
            self.write("o.den", "0.1\n0\n-0.2\n" + "0\n" * 6)
            said = self.done("convert", "o.den", "o.csv", "--mesh", mesh)
            self.assertIn("cells with a density become prisms", said.stderr)
            self.assertEqual(self.read("o.csv").splitlines(), ["west,east,south,north,bottom,top,density",
                                                               "-800,0,-800,0,-300,100,100", "-400,0,0,400,-100,100,-200"])
            self.refused("convert", mesh, "x.vtr", lines=[f"'{mesh}' {remedy}"])
        self.write("use.yaml", self.case.replace("voxels: {easting: [0, 30, 3], northing: [0, 20, 2], upward: [-10, 0, 1], "
                                                 "density: 300}", "mesh: {ubc: {mesh: o.msh, density: o.den}}"))
        self.refused("run", "use.yaml", lines=[f"use.yaml:1: model.mesh.ubc.mesh: 'o.msh' {remedy}"])
        self.write("short.den", "0.1\n0\n")
        self.refused("convert", "short.den", "x.csv", "--mesh", "o.msh",
                     lines=["'short.den' holds 2 values, 'o.msh' has 9 cells"])
        self.write("twice.msh", octree.replace("5 9 1 4", "1 9 1 4"))
        self.refused("convert", "o.den", "x.csv", "--mesh", "twice.msh", lines=[
            "twice.msh:8: this cell overlaps that of line 7; the cells of an octree lie beside each other"])
        self.write("flat.msh", "2\n-200 -100 4\n300 8\n1\n0 50 2\n")
        self.refused("convert", "o.den", "x.csv", "--mesh", "flat.msh", lines=[
            "--mesh: 'flat.msh' is a 2-D mesh of UBC (as DCIP2D's: numbers of segments, their ends and cells), and one of "
            "three dimensions is needed: nE nN nZ, the top south-west corner, widths"])

    def test_foreign_formats_are_named_whatever_they_are_called(self):
        formats = ((b"DSAA\n2 2\n0 1\n0 1\n1 4\n1 2\n3 4\n", "is a Surfer grid (DSAA); it is read as a surface alone"),
                   (b"DSBB\2\0\2\0", "is a Surfer grid (DSBB)"), (b"\x1f\x8b\x08\0\0", "is compressed by gzip; unpack it"),
                   (b"PK\3\4" + bytes(22) + b"\x13\0\0\0[Content_Types].xml", "is a spreadsheet (.xlsx, .ods); save it as"),
                   (b"\x93NUMPY\1\0v\0{'descr'", "is a NumPy array (.npy); numpy.savetxt"),
                   (struct.pack("<5i", 4, 2, 3, 3, 1) + bytes(500), "is a Geosoft grid; export it from Oasis montaj"),
                   (b"<?xml version='1.0'?>\n<kml>", "is XML (KML, GML, VTK)"),
                   (b"datacomp=xx,xy\n1\n1 2 3 4 5\n", "is a UBC file of gradients (GG3D)"),
                   (bytes(range(256)) * 8, "is not a text file"))
        for raw, said in formats:
            for name in ("f.grd", "f.csv", "f.den", "f.obs", "f.dat"):
                (self.folder / name).write_bytes(raw)
                for arguments in (("convert", name, "x.h5"), ("convert", "m.den", "x.h5", "--mesh", name),
                                  ("run", "case.yaml", "--set", "observations={stations: {file: %s}}" % name),
                                  ("run", "case.yaml", "--set", "model={prisms: {file: %s}}" % name),
                                  ("run", "case.yaml", "--set", "model={mesh: {ubc: {mesh: m.msh, density: %s}}}" % name),
                                  ("run", "case.yaml", "--set", "model={mesh: {ubc: {mesh: %s, density: m.den}}}" % name),
                                  ("invert", "case.yaml", "--set", "inversion={data: {file: %s}, sigma: 1}" % name)):
                    with self.subTest(said=said, arguments=arguments):
                        before = self.paths()
                        result = self.run_program(*arguments)
                        self.assertEqual(result.returncode, 2)
                        self.assertIn(f"'{name}' {said}", result.stderr)
                        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                        self.assertEqual(self.paths(), before)
                (self.folder / name).unlink()

    def test_a_table_is_one_whatever_it_is_called(self):
        self.write("t.txt", "easting northing upward gz\n1 2 3 4\n5 6 7 8\n")
        self.assertIn("table separated by blanks, 2 points, gz 4 to 8 mGal", self.convert("t.txt", "t.h5"))
        self.write("t.dat", "easting,northing,upward,gz\n1,2,3,4\n5,6,7,8\n")
        self.assertIn("CSV table, 2 points, gz 4 to 8 mGal", self.convert("t.dat", "t.h5"))
        self.assertIn("equal everywhere", self.done("compare", "t.txt", "t.h5", "--tolerance", "0").stdout)
        self.refused("compare", "d.obs", "t.h5", lines=[
            "'d.obs' is no result and no table of one: UBC data; prismfield convert IN OUT.csv makes a table of points"])

    def test_gravity_beyond_anomalies_is_told(self):
        self.write("b.txt", "1\n0 10 -1.5 12.5\n")
        result = self.done("convert", "b.txt", "b.csv", "--from", "tomofast-data")
        self.assertIn("note: gz is at most 1.2e+06 mGal, more than anomalies have: is it in um/s2, or the whole field of the "
                      "Earth? mGal is expected; --from and --field say what a file holds\n", result.stderr)
        # of another field Tomofast's alone fits
        self.assertEqual(self.done("convert", "b.txt", "b.csv", "--field", "tmi").stderr, "")
        self.assertEqual(self.read("b.csv").splitlines()[1], "0,10,1.5,12.5")
        self.write("i.yaml", "model: {voxels: {easting: [0, 30, 3], northing: [0, 20, 2], upward: [-10, 0, 1]}}\n"
                             "inversion: {data: {file: w.csv}, sigma: 1}\noutput: {file: m.h5}\n")
        self.write("w.csv", "easting,northing,upward,gz\n5,5,1,978000\n15,5,1,978001\n25,5,1,978002\n")
        self.assertIn("w.csv: gz is at most 9.8e+05 mGal, more than anomalies have",
                      self.done("invert", "i.yaml", "--check").stderr)

    def test_air_that_nobody_declared_is_told(self):
        self.write("air.den", MODEL.replace("0.111", "-9").replace("0.232", "-9"))
        result = self.done("convert", "air.den", "x.h5", "--mesh", "m.msh")
        self.assertEqual(result.stderr, "note: 'air.den' has -9 g/cm3, far below its other values (0.112 to 0.231), in 2 of "
                                        "its 12 cells: if that marks inactive cells, such as air, say --inactive -9\n")
        self.assertEqual(self.done("convert", "air.den", "x.h5", "--mesh", "m.msh", "--inactive", "-9").stderr, "")
        self.write("air.sus", "-1\n0.01\n" * 6)
        self.assertIn("'air.sus' has -1, far below its other values (0.01 to 0.01), in 6 of its 12 cells: if that marks "
                      "inactive cells, such as air, say --inactive -1\n",
                      self.done("convert", "air.sus", "x.h5", "--mesh", "m.msh").stderr)
        # a list of a case, and an array
        self.write("list.txt", "-9000\n-9000\n300\n100\n100\n200\n")
        for name in ("list.txt", "list.h5"):
            if name == "list.h5":
                self.write("v.msh", "3 2 1\n0 0 0\n3*10\n2*10\n10\n")
                self.convert("list.txt", "list.h5", "--from", "values", "--mesh", "v.msh")
            result = self.done("run", "case.yaml", "--check", "--set", "model.voxels.density={file: %s}" % name)
            self.assertIn(f"model.voxels.density.file: '{name}' has -9000 kg/m3, far below its other values (100 to 300), "
                          "in 2 of its 6 cells: if that marks inactive cells, such as air, write 0 there\n", result.stderr)
        # a model of a list that begins with its number
        self.write("counted.txt", "6\n1\n2\n3\n4\n5\n6\n")
        result = self.run_program("run", "case.yaml", "--check", "--set", "model.voxels.density={file: counted.txt}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("; the first is their number, as in Tomofast's files", result.stderr)

    def test_a_signal_leaves_no_part_of_a_file(self):
        # some GB as a grid's text
        self.write("large.msh", "100000 1000 1\n0 0 0\n100000*1\n1000*1\n1\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.stopped(number, lambda: any(".part-" in path for path in self.paths()), "convert", "large.msh",
                             "grid.txt", "--to", "tomofast-grid")

    def test_a_field_that_the_points_do_not_have(self):
        self.write("g.csv", "Easting,Northing,Elevation,CBA [mGal],drift\n1,2,3,4,5\n")
        self.write("p.csv", "easting,northing,upward\n1,2,3\n")
        self.convert("g.csv", "g.h5")
        for start in ("g.csv", "g.h5"):
            for out in ("x.obs", "x.loc", "x.csv", "x.vtp"):
                self.refused("convert", start, out, "--field", "gz",
                             lines=["--field: the input has no 'gz'; it has no field, but CBA, drift"])
        self.refused("convert", "p.csv", "x.obs", "--field", "gz",
                     lines=["--field: the input has no 'gz'; it has places alone"])

    def test_a_mesh_and_a_model_that_are_exchanged_are_known(self):
        self.write("a.den", MESH)
        self.write("a.msh", MODEL)
        a_model = "'a.msh' looks like a UBC model (a number a line), and a UBC mesh begins with nE nN nZ; "
        a_mesh = "'{}' looks like a UBC mesh (nE nN nZ, a corner, widths), and a UBC model is a number a line; "
        self.refused("convert", "a.den", "x.h5", "--mesh", "a.msh", lines=[f"--mesh: {a_model}swap IN and --mesh"])
        self.refused("convert", "a.den", "x.h5", "--mesh", "m.msh",
                     lines=[a_mesh.format("a.den") + "swap IN and --mesh"])
        self.refused("convert", "a.msh", "x.h5",
                     lines=[a_model + "if it is a model, say --from ubc-model, and by --mesh its mesh"])
        self.refused("convert", "m.msh", "x.h5", "--mesh", "m.den",
                     lines=["--mesh: 'm.den' is a UBC model and IN, 'm.msh', a mesh; swap IN and --mesh"])
        # counts of whole numbers, as densities in kg/m3 are
        self.write("kg.den", MODEL.replace("0.", ""))
        remedy = "swap mesh and density of model.mesh.ubc"
        for mesh, model, line in (("kg.den", "m.msh", "model.mesh.ubc.mesh: " + a_model.replace("a.msh", "kg.den")),
                                  ("m.msh", "m.msh", "model.mesh.ubc.density: " + a_mesh.format("m.msh"))):
            self.refused("run", "case.yaml", "--check", "--set", f"model={{mesh: {{ubc: {{mesh: {mesh}, density: {model}}}}}}}",
                         lines=[f"--set model.mesh.ubc.{line.split(':')[0].split('.')[-1]}: {line.split(': ', 1)[1]}{remedy}"])

    def test_a_mesh_of_ubc_without_its_key_is_known(self):
        for mesh in ("{file: m.msh, density: m.den}", "{file: m.msh, density: {file: m.den, density_unit: g/cm3}}"):
            self.write("use.yaml", "model: {mesh: %s}\nobservations: {grid: {easting: [0, 30, 4], northing: [0, 20, 3], "
                                   "upward: 5}}\nfields: [gz]\n" % mesh)
            self.refused("run", "use.yaml", "--check",
                         lines=["use.yaml:1: model.mesh: names 'm.msh', a UBC mesh; write ubc: {mesh: m.msh, density: "
                                "m.den} in the place of these keys"])
        # by its content, and alone
        self.write("grid.txt", MESH)
        self.refused("run", "case.yaml", "--check", "--set", "model={mesh: grid.txt}",
                     lines=["--set model.mesh: names 'grid.txt', a UBC mesh; write ubc: {mesh: grid.txt, density: ...} in "
                            "the place of the name"])
        self.write("other.txt", "1 2\n")
        result = self.run_program("run", "case.yaml", "--check", "--set", "model={mesh: {file: other.txt}}")
        self.assertIn("--set model.mesh.file: is no known key here", result.stderr)

    def test_an_older_output_stays_until_the_new_one_is_complete(self):
        self.write("x.csv", "mine")
        self.write("nan.csv", "easting,northing,upward,gz\n0,0,0,nan\n")
        result = self.run_program("convert", "nan.csv", "x.obs")
        self.assertEqual(result.returncode, 2)
        self.assertIn("1 of gz is no number, which UBC data cannot hold", result.stderr)
        self.assertFalse((self.folder / "x.obs").exists())
        self.assertEqual([name for name in self.files() if ".part-" in name], [])
        self.convert("d.obs", "x.csv")
        self.assertTrue(self.read("x.csv").startswith("easting"))

    def test_quiet_says_nothing(self):
        self.assertEqual(self.convert("d.obs", "x.csv", "--quiet"), "")

    def test_ranks_write_one_file(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        result = self.run_program("convert", "d.obs", "x.csv", launcher=[*options.mpiexec, "-n", "2"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("written"), 1)
        result = self.run_program("convert", "gone.obs", "x.csv", launcher=[*options.mpiexec, "-n", "2"])
        self.assertEqual(result.returncode, 2, result.stderr)

    @unittest.skipUnless(vtk, "Python has no vtk")
    def test_vtk_opens_what_is_written(self):
        def opened(name, reader):
            self.assertIn("VTK", self.convert(*name))
            reader.SetFileName(str(self.folder / name[1]))
            reader.Update()
            self.assertEqual(reader.GetErrorCode(), 0)
            return reader.GetOutput()

        grid = opened(("m.den", "m.vtr", "--mesh", "m.msh"), vtk.vtkXMLRectilinearGridReader())
        self.assertEqual(grid.GetDimensions(), (3, 4, 3))
        self.assertEqual(grid.GetBounds(), (100, 130, 200, 240, 45, 50))
        density = grid.GetCellData().GetArray("density")
        self.assertEqual([density.GetValue(i) for i in range(12)],
                         [112, 212, 122, 222, 132, 232, 111, 211, 121, 221, 131, 231])
        voxels = opened(("m.den", "m.vtu", "--mesh", "m.msh"), vtk.vtkXMLUnstructuredGridReader())
        self.assertEqual(voxels.GetNumberOfCells(), 12)
        self.assertEqual(voxels.GetCell(0).GetBounds(), (100, 110, 200, 205, 45, 49))
        self.assertEqual(voxels.GetCellData().GetArray("density").GetValue(0), 112)
        points = opened(("d.obs", "d.vtp"), vtk.vtkXMLPolyDataReader())
        self.assertEqual(points.GetNumberOfVerts(), 3)
        self.assertEqual(points.GetPoint(1), (20, 10, 1.25))
        self.assertEqual(points.GetPointData().GetArray("gz").GetValue(2), 3)
        self.run_at_stations("s.nc")
        data = opened(("s.nc", "s.vtp"), vtk.vtkXMLPolyDataReader()).GetPointData()
        self.assertEqual([data.GetArray("gz_file").GetValue(i) for i in range(4)], [0.5, 0.25, 0.001, 2])
        self.assertEqual(data.GetArray("Line no").GetValue(3), 8)


@unittest.skipIf(netCDF4 is None, "no netCDF4")
class ArraysOfOthers(ProgramFolder):
    """Cells in netCDF as other programs write them: run, and convert, whose mesh is the file's."""
    case = "model: {voxels: {easting: [0, 300, 6], northing: [7100003.3, 7100153.3, 6], upward: [-300, 0, 6], " \
           "density: {file: d.nc}}}\nobservations: {stations: {file: s.csv}}\nfields: gz\n"
    CENTERS = {"x": np.arange(25.0, 300, 50), "y": np.arange(7100015.8, 7100150, 25), "z": np.arange(-275.0, 0, 50)} \
        if netCDF4 else {}

    def setUp(self):
        super().setUp()
        self.write("case.yaml", self.case)
        self.write("s.csv", "x,y,z\n225,7100040,10\n75,7100110,10\n")
        rho = np.zeros((6, 6, 6))
        rho[5, 1, 4], rho[4, 1, 4], rho[2, 3, 0] = 1000, 500, -250
        self.rho = rho
        self.array(zip("zyx", "zyx"), rho)
        self.straight = self.gz()

    def array(self, dimensions, values, attributes=(), kind="f8", of_values=(), coordinates="f8", form="NETCDF4",
              of=None):
        """Writes d.nc: `dimensions`: (name, which of CENTERS or its numbers), slowest first."""
        with netCDF4.Dataset(self.folder / "d.nc", "w", format=form) as file:
            names = []
            for (name, numbers), length in zip(dimensions, values.shape):
                names.append(name)
                file.createDimension(name, length)
                if numbers is None:
                    continue
                variable = file.createVariable(name, coordinates, (name,))
                variable[:] = self.CENTERS[numbers] if isinstance(numbers, str) else numbers
                variable.setncatts(dict(attributes).get(name, {}))
            of_values = dict(of_values)
            variable = file.createVariable(of or "density", kind, names, fill_value=of_values.pop("_FillValue", None))
            variable.set_auto_maskandscale(False)
            variable.setncatts(of_values)
            variable[:] = values

    def gz(self, *more):
        self.done("run", "case.yaml", "--quiet", "--output", "o.csv", *more)
        return [float(row["gz [mGal]"]) for row in csv.DictReader((self.folder / "o.csv").read_text().splitlines())]

    def refuses(self, *what):
        for output in ("o.csv", "o.nc"):
            result = self.run_program("run", "case.yaml", "--quiet", "--output", output)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            for part in what:
                self.assertIn(part, result.stderr)

    def test_every_order_and_direction_is_the_same_model(self):
        for order in itertools.permutations("zyx"):
            for turned in itertools.product([1, -1], repeat=3):
                for depth in (False, True):
                    values, dimensions = self.rho, []
                    for axis, (letter, step) in enumerate(zip("zyx", turned)):
                        values = np.flip(values, axis) if step < 0 else values
                    values = values.transpose(["zyx".index(letter) for letter in order])
                    for letter in order:
                        numbers = self.CENTERS[letter][::turned["zyx".index(letter)]]
                        is_depth = depth and letter == "z"
                        dimensions.append(("depth" if is_depth else letter, -numbers if is_depth else numbers))
                    form = "NETCDF3_CLASSIC" if depth else "NETCDF4"
                    self.array(dimensions, values, coordinates="f4", form=form)
                    self.assertEqual(self.gz(), self.straight, (order, turned, depth))

    def test_packed_values_are_those_that_are_meant(self):
        stored = (self.rho / 10).astype("i2")
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            self.array(zip("zyx", "zyx"), stored, kind="i2", of_values={"scale_factor": 10.0}, form=form)
            self.assertEqual(self.gz(), self.straight)
            # what is beyond the range has no value, as what is missing
            for attributes in ({"valid_max": np.int16(100)}, {"missing_value": np.array([101, 99], "i2")},
                               {"valid_range": np.array([-25, 100], "i2")}, {"_FillValue": 101}):
                wrong = np.where(stored == 0, 101, stored).astype("i2")
                self.array(zip("zyx", "zyx"), wrong, kind="i2", of_values={"scale_factor": 10.0, **attributes},
                           form=form)
                self.assertEqual(self.gz(), self.straight, attributes)
        unsigned = np.where(self.rho > 0, self.rho / 5, 0).astype("u1")
        self.array(zip("zyx", "zyx"), np.where(self.rho > 0, self.rho, 0))
        positive = self.gz()
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            self.array(zip("zyx", "zyx"), unsigned.astype("i1"), kind="i1",
                       of_values={"_Unsigned": "true", "scale_factor": 5.0}, form=form)
            self.assertEqual(self.gz(), positive)
        # a fill value in double precision beside floats
        floats = np.where(self.rho == 0, 1e20, self.rho).astype("f4")
        self.array(zip("zyx", "zyx"), floats, kind="f4", of_values={"missing_value": 1e20})
        self.assertEqual(self.gz(), self.straight)

    def test_dimensions_without_coordinates_are_read(self):
        for names in (("upward", "northing", "easting"), ("dim_0", "dim_1", "dim_2")):
            for form in ("NETCDF4", "NETCDF3_CLASSIC"):
                self.array(zip(names, [None] * 3), self.rho, form=form)
                self.assertEqual(self.gz(), self.straight, names)
        self.array([("cell", None)], self.rho.ravel())
        self.assertEqual(self.gz(), self.straight)

    def test_dimensions_of_one_value_before_those_of_cells_are_left_out(self):
        self.done("convert", "d.nc", "straight.csv")
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            self.array([("band", None), ("time", [7.0]), *zip("zyx", "zyx")], self.rho[None, None], form=form)
            self.assertEqual(self.gz(), self.straight)
            self.done("convert", "d.nc", "led.csv")
            self.assertEqual(*((self.folder / name).read_text() for name in ("led.csv", "straight.csv")))
        with netCDF4.Dataset(self.folder / "r.nc", "w") as file:
            for name, length in (("time", 1), ("northing", 2), ("easting", 3)):
                file.createDimension(name, length)
                if length > 1:
                    file.createVariable(name, "f8", (name,))[:] = np.arange(length) * 100
            for name, numbers in (("gz", np.arange(6.0)), ("upward", np.full(6, 30))):
                file.createVariable(name, "f8", ("time", "northing", "easting"))[:] = numbers.reshape(1, 2, 3)
        self.assertIn("gz", self.done("compare", "r.nc", "r.nc").stdout)
        self.array([("time", None), *zip("zyx", "zyx")], np.stack([self.rho] * 2))
        self.refuses("has /density of shape (2, 6, 6, 6)")
        self.assertIn("'d.nc' has density of shape (2, 6, 6, 6); three dimensions",
                      self.run_program("convert", "d.nc", "x.csv").stderr)

    def test_dummies_among_the_places_of_stations_are_refused(self):
        for heights, ends in (([20, -9999, 40], 2), ([20, 30, 40], 0)):
            with netCDF4.Dataset(self.folder / "p.nc", "w") as file:
                file.createDimension("station", 3)
                for name, numbers in (("easting", [0, 100, 200]), ("northing", [0, 50, 90]), ("upward", heights)):
                    file.createVariable(name, "f8", ("station",))[:] = numbers
                file.createVariable("gz", "f8", ("station",))[:] = [1, 2, 3]
            for arguments in (("convert", "p.nc", "o.csv"),
                              ("run", "case.yaml", "--output", "o.csv", "--set", "observations={stations: {file: p.nc}}")):
                result = self.run_program(*arguments)
                self.assertEqual(result.returncode, ends, result.stderr)
                if ends:
                    self.assertIn("p.nc: point 1: upward: -9999 looks like a dummy", result.stderr)

    def test_centres_lie_between_their_edges(self):
        with netCDF4.Dataset(self.folder / "d.nc", "a") as file:
            file.createDimension("two", 2)
            file.createVariable("x_bounds", "f8", ("x", "two"))[:] = \
                np.stack([self.CENTERS["x"] - 25, self.CENTERS["x"] + 25], 1)
        self.assertEqual(self.gz(), self.straight)
        with netCDF4.Dataset(self.folder / "d.nc", "a") as file:
            file["x"][2] = 160
        self.refuses("has x of 160 for a cell whose edges are 100 and 150 in /x_bounds")

    def test_what_cannot_be_placed_is_refused(self):
        elsewhere = {**self.CENTERS, "x": self.CENTERS["x"] + 500}
        self.array([(letter, elsewhere[letter]) for letter in "zyx"], self.rho)
        self.refuses("model.voxels.density.file: 'd.nc' has /density at other cells than the model's: x is from 525 to "
                     "775 m, centres of cells along easting are from 25 to 275 m")
        self.array(zip(("layer", "row", "column"), [None] * 3), self.rho)
        self.refuses("over layer, which does not say whether it runs upwards or downwards")
        self.array(zip("kji", [None] * 3), self.rho)
        self.refuses("over (k, j, i), which do not say what they are")
        self.array(zip(("z", "lat", "lon"), [None] * 3), self.rho)
        self.refuses("in degrees")
        self.array(zip("zyx", "zyx"), self.rho, of="rho")
        self.refuses("write dataset: rho beside it to read that")
        self.array(zip("zyx", "zyx"), self.rho, of_values={"units": "stone"})
        self.refuses("has /density in 'stone'; kg/m3 and g/cm3 are known")

    def test_a_damaged_list_of_dimensions_comes_to_an_end(self):
        content = bytearray((self.folder / "d.nc").read_bytes())
        # the size of a heap's first value, which leads from its head of 16 bytes back to it
        size = content.index(b"GCOL") + 24
        content[size:size + 8] = (2**64 - 16).to_bytes(8, "little")
        self.write("d.nc", bytes(content))
        result = self.run_program("convert", "d.nc", "o.csv")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^d\.nc: cannot be read: HDF5 crashed or came to no end; the file is damaged.*\n$")

    def test_convert_takes_the_file_s_own_cells(self):
        self.done("convert", "d.nc", "straight.h5")
        depth = -self.CENTERS["z"][::-1]
        self.array([("x", "x"), ("depth", depth / 1000), ("y", "y")], self.rho[::-1].transpose(2, 0, 1) / 1000,
                   attributes={"depth": {"units": "km"}}, of_values={"units": "g cm-3"})
        self.done("convert", "d.nc", "turned.h5")
        for name in ("straight", "turned"):
            self.assertEqual(self.gz("--set", f"model.voxels.density.file={name}.h5"), self.straight, name)
        result = self.run_program("convert", "d.nc", "no.h5", "--density-unit", "kg/m3")
        self.assertEqual(result.returncode, 2)
        self.assertIn("in 'g cm-3', which --density-unit denies; take one of the two out", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--mpiexec", type=shlex.split, default=[],
                        help="the launcher of ranks with its options, in one argument")
    options, rest = parser.parse_known_args()
    ProgramFolder.program = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
