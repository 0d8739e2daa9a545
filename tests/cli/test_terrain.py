# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""`prismfield run` with model.terrain from end to end: the same fields as lists of prisms and voxels, the slab far from
edges, points above the terrain, ranks, sizes.

Usage: test_terrain.py PRISMFIELD [--mpiexec COMMAND]
"""

import argparse
import csv
import math
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import ProgramFolder

options = None

G = 6.6743e-11
MGAL = 1e5
TIFF = ("--set", "model.terrain.file=dem.tif")
POINTS = "observations: {grid: {easting: [-100, 1900, 9], northing: [-100, 1400, 7], upward: 700}}\n"


def ascii_grid(heights, spacing=100, corner=(-50, -50), missing=None):
    """`heights`: rows from the south."""
    head = f"ncols {len(heights[0])}\nnrows {len(heights)}\nxllcorner {corner[0]}\nyllcorner {corner[1]}\n"
    rows = [" ".join("-9999" if h is None else repr(float(h)) for h in row) for row in reversed(heights)]
    return head + f"cellsize {spacing}\nNODATA_value -9999\n" + "\n".join(rows) + "\n"


def downward(x, y, z):
    """Downward attraction of a prism over G and density, metres; faces minus the point. Nagy's sum over corners."""
    total = 0.0
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            for k, c in enumerate(z):
                r = math.sqrt(a * a + b * b + c * c)
                total += (-1) ** (i + j + k + 1) * (
                    a * math.log(b + r) + b * math.log(a + r) - c * math.atan(a * b / (c * r)))
    return total


def hills(seed=1, n_easting=18, n_northing=13, low=-300, high=600):
    source = random.Random(seed)
    return [[round(source.uniform(low, high), 3) for _ in range(n_easting)] for _ in range(n_northing)]


class TerrainFolder(ProgramFolder):
    case = "model: {terrain: {file: dem.asc, water_density: 1040}}\n" + POINTS

    def setUp(self):
        super().setUp()
        self.heights = hills()
        self.write("dem.asc", ascii_grid(self.heights))

    def table(self, name):
        with open(self.folder / name, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def column(self, name, column):
        return [float(row[column]) for row in self.table(name)]

    def same(self, a, b, tolerance="1e-14"):
        self.done("compare", a, b, "--tolerance", tolerance)

    def list_of_prisms(self, parts):
        """A table of prisms; parts(height) gives (bottom, top, density) of a column."""
        rows = ["west,east,south,north,bottom,top,density"]
        for j, row in enumerate(self.heights):
            for i, height in enumerate(row):
                for part in () if height is None else parts(height):
                    place = (i * 100 - 50, i * 100 + 50, j * 100 - 50, j * 100 + 50, *part)
                    rows.append(",".join(repr(float(v)) for v in place))
        self.write("prisms.csv", "\n".join(rows) + "\n")
        self.write("prisms.yaml", "model: {prisms: {file: prisms.csv}}\n" + POINTS)


class Terrain(TerrainFolder):
    def test_the_fields_are_those_of_the_same_prisms_in_a_list(self):
        self.heights[3][4] = None
        self.heights[5][6] = 0
        self.write("dem.asc", ascii_grid(self.heights))
        self.list_of_prisms(lambda h: [(0, h, 2670)] if h > 0 else [(h, 0, 1040 - 2670)] if h < 0 else [])
        said = self.done("run", "case.yaml", "--output", "a.h5")
        self.assertIn("the terrain has no height at 1 of 234 nodes; they are left out", said.stderr)
        self.assertIn("terrain 18 x 13, 232 prisms", said.stdout)
        self.done("run", "prisms.yaml", "--output", "b.h5")
        self.same("a.h5", "b.h5")
        self.done("run", "case.yaml", "--output", "up.csv", "--set", "axes=z_up", "--set", "fields=[gz]")
        self.done("run", "case.yaml", "--output", "down.csv", "--set", "fields=[gz]")
        for up, down in zip(self.column("up.csv", "gz [mGal]"), self.column("down.csv", "gz [mGal]")):
            self.assertEqual(up, -down)

    def test_reference_and_sea_level_may_differ(self):
        def parts(h):
            found = [(100, h, 2000)] if h > 100 else []
            if h < 100:
                found.append((h, 100, (1000 if h < -50 else 0) - 2000) if h >= -50 else (h, -50, 1000 - 2000))
                if h < -50:
                    found.append((-50, 100, -2000))
            return found

        self.list_of_prisms(parts)
        self.done("run", "prisms.yaml", "--output", "b.h5")
        self.write("case.yaml", "model: {terrain: {file: dem.asc, density: 2000, reference: 100, sea_level: -50, "
                   "water_density: 1000}}\n" + POINTS)
        self.done("run", "case.yaml", "--output", "a.h5")
        self.same("a.h5", "b.h5")

    def surfaces(self):
        """The heights in files of every kind, the node that is missing as -9999 without a word where that can be."""
        nodes = [(100 * i, 100 * j, -9999 if h is None else h)
                 for j, row in enumerate(self.heights) for i, h in enumerate(row)]
        rows = "".join(f"{x} {y} {h!r}\n" for x, y, h in nodes)
        self.write("dem.xyz", rows)
        self.write("dem.topo", f"! UBC\n{len(nodes)}\n{rows}")
        self.write("shaken.xyz", "".join(f"{x + 1e-5 * (n * 7 % 5 - 2)} {y} {h!r}\n" for n, (x, y, h) in enumerate(nodes)))
        self.write("km.csv", "x [km],y [km],z [km]\n" + "".join(
            f"{x / 1000},{y / 1000},{h if h == -9999 else h / 1000!r}\n" for x, y, h in nodes))
        self.write("plain.asc", ascii_grid(self.heights).replace("NODATA_value -9999\n", ""))
        self.write("other.asc", ascii_grid(self.heights).replace("NODATA_value -9999", "NODATA_value -32768"))
        box = (0, 1700, 0, 1200, -9999, 600)
        self.write("text.grd", "DSAA\n18 13\n" + " ".join(map(str, box)) + "\n" + " ".join(repr(h) for _, _, h in nodes))
        (self.folder / "seven.grd").write_bytes(
            b"DSRB" + struct.pack("<2i", 4, 2) + b"GRID" + struct.pack("<3i8d", 72, 13, 18, 0, 0, 100, 100, *box[4:], 0, 1e38)
            + b"DATA" + struct.pack(f"<i{len(nodes)}d", 8 * len(nodes), *[h for _, _, h in nodes]))
        return ["dem.xyz", "dem.topo", "shaken.xyz", "km.csv", "plain.asc", "other.asc", "text.grd", "seven.grd"]

    def test_a_file_of_any_kind_is_the_same_surface_for_each_of_its_users(self):
        self.heights[3][4] = None
        self.write("dem.asc", ascii_grid(self.heights))
        self.done("run", "case.yaml", "--output", "reference.h5")
        self.write("above.yaml", "model: {prisms: {file: prisms.csv}}\nfields: [gz]\nobservations: "
                   "{grid: {easting: [700, 1650, 20], northing: [0, 1200, 13], upward: {above_terrain: 80, file: dem.asc}}}\n")
        self.list_of_prisms(lambda h: [(-500, h, 2670)])
        self.done("run", "above.yaml", "--output", "above.h5")
        self.write("d.csv", "easting,northing,upward,gz,gz_sigma\n850,650,700,1,1\n")
        self.write("invert.yaml", "model: {voxels: {easting: [-50, 1750, 18], northing: [-50, 1250, 13], upward: [-900, 700, 20]}}\n"
                   "inversion: {data: {file: d.csv}, topography: {file: dem.asc}}\n")
        checked = ("invert", "invert.yaml", "--check", "--set", "inversion.topography.file=")
        cells = re.search("[0-9,]+ of 4,680 cells are below it", self.done(*checked[:-1], checked[-1] + "dem.asc").stderr)[0]
        self.write("drape.yaml", "model: {prisms: {file: prisms.csv}}\nfields: [gz]\nobservations: "
                   "{grid: {easting: [0, 1700, 18], northing: [0, 1200, 13], upward: {file: dem.asc}}}\n")
        for name in self.surfaces():
            with self.subTest(name):
                nodes = "nodes" if name[-3:] in ("asc", "grd") else "points"
                line = {"xyz": 59, "csv": 60}.get(name[-3:])
                word = (f"'{name}': 1 of 234 points left out: dummies, such as -9999, in line {line}" if line
                        else f"'{name}': 1 of 234 {nodes} without a height: -9999 stands for none")
                said = self.done("run", "case.yaml", "--quiet", "--set", f"model.terrain.file={name}", "--output", "a.h5").stderr
                self.assertEqual(said.count(f"warning: {word}"), 1, said)
                self.same("a.h5", "reference.h5", "1e-6")
                said = self.done("run", "above.yaml", "--set", f"observations.grid.upward.file={name}", "--output", "b.h5").stderr
                self.assertEqual(said.count(f"note: {word}"), 1, said)
                self.same("b.h5", "above.h5", "1e-6")
                said = self.done(*checked[:-1], checked[-1] + name, "--quiet").stderr
                self.assertEqual(said.count(f"warning: inversion.topography: {word}"), 1, said)
                said = self.done(*checked[:-1], checked[-1] + name).stderr
                self.assertIn(cells, said)
                self.assertIn(f"'{name}': 1 of 234 nodes without a height get that of the nearest node", said)
                self.refused("run", "drape.yaml", "--set", f"observations.grid.upward.file={name}", lines=[
                    f"--set observations.grid.upward.file: '{name}' has no height at 1 of 234 points, the first at easting "
                    f"400, northing 300; {word}"])

    def test_a_terrain_of_blocks_has_the_fields_of_voxels(self):
        self.heights = [[300 if (i // 3 + j // 2) % 2 else 100 for i in range(18)] for j in range(13)]
        self.write("dem.asc", ascii_grid(self.heights))
        self.write("densities.txt", "\n".join(
            str(2500 if z == 0 or self.heights[j][i] == 300 else 0)
            for z in range(3) for j in range(13) for i in range(18)) + "\n")
        self.write("voxels.yaml", "model: {voxels: {easting: [-50, 1750, 18], northing: [-50, 1250, 13], "
                   "upward: [0, 300, 3], density: {file: densities.txt}}}\n" + POINTS)
        self.done("run", "voxels.yaml", "--output", "b.h5")
        self.done("run", "case.yaml", "--output", "a.h5", "--set", "model.terrain.density=2500")
        self.same("a.h5", "b.h5", "1e-12")

    def test_far_from_its_edges_a_flat_terrain_is_a_slab(self):
        self.write("dem.asc", ascii_grid([[120.0] * 41] * 41, 10000, (-205000, -205000)))
        self.write("s.csv", "easting,northing,upward\n0,0,130\n")
        self.write("case.yaml", "model: {terrain: {file: dem.asc, reference: 20, density: 2000}}\n"
                   "observations: {stations: {file: s.csv}}\nfields: [gz]\n")
        self.done("run", "case.yaml", "--output", "a.csv")
        slab = 2 * math.pi * G * 2000 * 100 * MGAL
        found = self.column("a.csv", "gz [mGal]")[0]
        # what lies beyond the square of half width a is missing: of a slab of thickness t, 2^1.5 t/(pi a)
        missing = 1 - found / slab
        expected = 2**1.5 * 60 / (math.pi * 205000)
        self.assertAlmostEqual(missing / expected, 1, delta=0.01)

    def test_densities_may_be_a_grid(self):
        densities = [[2000 + 10 * i + j for i in range(18)] for j in range(13)]
        self.write("rho.asc", ascii_grid(densities))
        self.write("case.yaml", "model: {terrain: {file: dem.asc, density: {file: rho.asc}}}\n" + POINTS)
        self.done("run", "case.yaml", "--output", "a.h5")
        at = iter([d for row in densities for d in row])
        self.list_of_prisms(lambda h: [(0, h, next(at))] if h > 0 else [(h, 0, -next(at))])
        self.done("run", "prisms.yaml", "--output", "b.h5")
        self.same("a.h5", "b.h5")
        self.write("rho.asc", ascii_grid(densities, 101))
        said = self.run_program("run", "case.yaml")
        self.assertEqual(said.returncode, 2)
        self.assertIn("case.yaml:1: model.terrain.density.file: 'rho.asc' has 18 eastings", said.stderr)

    def test_the_slab_and_the_correction_stand_beside_gz(self):
        self.write("s.csv", "name,easting,northing\na,300,400\nb,340,400\nc,1745,-45\n")
        head = "model: {terrain: {file: dem.asc, water_density: 1040}}\nobservations: {stations: {file: s.csv, upward: "
        self.write("case.yaml", head + "{above_terrain: 80}}}\nfields: [gz, gxx]\n")
        said = self.done("run", "case.yaml", "--output", "a.csv").stdout
        names = ["gz", "terrain_height", "bouguer_slab", "terrain_correction"]
        for name in names:
            self.assertRegex(said, rf"\n{name} +(m|mGal) ")
        rows = self.table("a.csv")
        self.assertEqual(list(rows[0]), ["name", "easting", "northing", "upward", "gz [mGal]", "gxx [Eotvos]",
                                         "terrain_height [m]", "bouguer_slab [mGal]", "terrain_correction [mGal]"])
        h = self.heights
        for row, height in zip(rows, (h[4][3], 0.6 * h[4][3] + 0.4 * h[4][4], h[0][17])):
            self.assertAlmostEqual(float(row["terrain_height [m]"]), height, places=9)
            self.assertAlmostEqual(float(row["upward"]), max(0, height) + 80, places=9)
            density = 2670 if height > 0 else 2670 - 1040
            slab = float(row["bouguer_slab [mGal]"])
            self.assertAlmostEqual(slab, 2 * math.pi * G * MGAL * density * height, places=10)
            plate = G * MGAL * density * downward(
                [v - float(row["easting"]) for v in (-50, 1750)], [v - float(row["northing"]) for v in (-50, 1250)],
                [v - float(row["upward"]) for v in (min(0, height), max(0, height))]) * math.copysign(1, height)
            self.assertAlmostEqual(float(row["terrain_correction [mGal]"]), plate - float(row["gz [mGal]"]), places=9)
        self.done("run", "case.yaml", "--output", "up.csv", "--set", "axes=z_up")
        for row, up in zip(rows, self.table("up.csv")):
            self.assertEqual(up["terrain_height [m]"], row["terrain_height [m]"])
            for name in ("bouguer_slab [mGal]", "terrain_correction [mGal]", "gz [mGal]"):
                self.assertEqual(float(up[name]), -float(row[name]))
        # noise is of the data, not of the terrain; without gz there is nothing to correct
        self.done("run", "case.yaml", "--output", "noisy.csv", "--set", "observations.noise.gz=1")
        noisy = self.table("noisy.csv")
        for row, other in zip(rows, noisy):
            self.assertNotEqual(row["gz [mGal]"], other["gz [mGal]"])
            self.assertEqual(row["terrain_correction [mGal]"], other["terrain_correction [mGal]"])
        said = self.done("run", "case.yaml", "--output", "b.csv", "--set", "fields=[gxx]").stdout
        self.assertNotIn("bouguer_slab", said + (self.folder / "b.csv").read_text())
        # outside the terrain there is no height and no slab
        self.write("s.csv", "easting,northing,upward\n5000,0,900\n300,400,900\n")
        self.write("case.yaml", "model: {terrain: {file: dem.asc}}\nobservations: {stations: {file: s.csv}}\n"
                   "fields: [gz]\n")
        self.done("run", "case.yaml", "--output", "c.csv")
        found = self.table("c.csv")
        for name in ("terrain_height [m]", "bouguer_slab [mGal]", "terrain_correction [mGal]"):
            self.assertTrue(math.isnan(float(found[0][name])), name)
            self.assertFalse(math.isnan(float(found[1][name])), name)

    def corrections(self, **terrain):
        self.write("case.yaml", "model: {terrain: {file: dem.asc%s}}\nobservations: {stations: {file: s.csv}}\nfields: [gz]\n"
                   % "".join(f", {key}: {value}" for key, value in terrain.items()))
        self.done("run", "case.yaml", "--output", "a.csv")
        return self.column("a.csv", "terrain_correction [mGal]")

    def test_a_flat_terrain_has_no_correction_at_any_height(self):
        self.write("s.csv", "easting,northing,upward\n" + "".join(
            f"{x},{y},{z}\n" for x, y in ((800, 600), (-40, 1240), (1700, 0)) for z in (2000, 380, 300, 299, -10, -600)))
        for height in (300, -120):
            self.write("dem.asc", ascii_grid([[height] * 18] * 13))
            for terrain in ({}, {"reference": 100}, {"water_density": 1040}, {"reference": -200, "water_density": 1000}):
                for correction in self.corrections(**terrain):
                    self.assertAlmostEqual(correction, 0, delta=1e-9)

    def test_on_the_ground_hills_and_valleys_beside_the_point_are_positive(self):
        flat = [[300.0] * 18 for _ in range(13)]
        self.write("s.csv", "easting,northing,upward\n800,600,300\n")
        for height in (500, 100, -100):
            flat[6][10] = height
            self.write("dem.asc", ascii_grid(flat))
            self.assertGreater(self.corrections()[0], 0.01)
        flat[6][8] = flat[6][9] = 500
        self.write("dem.asc", ascii_grid(flat))
        self.write("s.csv", "easting,northing,upward\n700,600,4000\n")
        self.assertLess(self.corrections()[0], 0)

    def test_the_correction_does_not_depend_on_the_reference(self):
        self.write("s.csv", "easting,northing,upward\n300,400,700\n850,650,640\n1740,-40,100\n")
        for terrain in ({}, {"water_density": 1040}, {"water_density": 1040, "sea_level": 50}):
            at_sea_level = self.corrections(**terrain)
            for reference in (-700, 250):
                for found, wanted in zip(self.corrections(reference=reference, **terrain), at_sea_level):
                    self.assertAlmostEqual(found, wanted, delta=1e-9)

    def test_points_lie_above_the_terrain(self):
        self.write("s.csv", "name,easting,northing\na,300,400\nb,350,400\nc,1745,-45\n")
        self.write("case.yaml", "model: {terrain: {file: dem.asc, water_density: 1040}}\n"
                   "observations: {stations: {file: s.csv, upward: {above_terrain: 80}}}\nfields: [gz]\n")
        self.done("run", "case.yaml", "--output", "a.xyz")
        h = self.heights
        heights = [max(0, height) + 80 for height in (h[4][3], (h[4][3] + h[4][4]) / 2, h[0][17])]
        self.done("convert", "a.xyz", "a.csv")
        for found, wanted in zip(self.column("a.csv", "upward"), heights):
            self.assertAlmostEqual(found, wanted, places=9)
        # the same of a file of its own, for any model
        self.write("other.yaml", "model: {prisms: {file: prisms.csv}}\nfields: [gz]\n"
                   "observations: {stations: {file: s.csv, upward: {above_terrain: 80, file: dem.asc}}}\n")
        self.list_of_prisms(lambda h: [(0, h, 2670)] if h > 0 else [(h, 0, 1040 - 2670)])
        self.done("run", "other.yaml", "--output", "b.h5")
        self.done("run", "case.yaml", "--output", "a.h5")
        self.same("a.h5", "b.h5")
        self.write("s.csv", "easting,northing\n300,400\n1751,0\n")
        self.refused("run", "case.yaml", lines=[
            "case.yaml:2: observations.stations.upward.above_terrain: the terrain, nodes at easting 0 to 1700, northing "
            "0 to 1200, does not reach 1 of 2 points, the first point 1 at (1751, 0); a larger DEM or points within it are "
            "needed"])
        self.write("other.yaml", "model: {prisms: {file: prisms.csv}}\n"
                   "observations: {stations: {file: s.csv, upward: {above_terrain: 80}}}\n")
        self.refused("run", "other.yaml", lines=[
            "other.yaml:2: observations.stations.upward.above_terrain: is above which surface? Name its file beside it, "
            "{above_terrain: 80, file: dem.nc}, or have a model.terrain"])

    def test_a_grid_takes_its_points_from_a_file(self):
        self.write("case.yaml", "model: {terrain: {file: dem.asc, water_density: 1040}}\n"
                   "observations: {grid: {file: dem.asc, upward: {above_terrain: 5}}}\nfields: [gz]\n")
        said = self.done("run", "case.yaml", "--output", "a.csv")
        self.assertIn("grid 18 x 13, 234 points", said.stdout)
        flat = [h for row in self.heights for h in row]
        for found, wanted in zip(self.column("a.csv", "upward"), flat):
            self.assertAlmostEqual(found, max(0, wanted) + 5, places=9)
        self.assertEqual(len(flat), len(self.table("a.csv")))
        # without upward the file's heights; a list of coordinates in the place of its nodes
        self.write("case.yaml", "model: {terrain: {file: dem.asc, water_density: 1040}}\n"
                   "observations: {grid: {file: dem.asc, easting: [50, 1650, 17], northing: [0, 1200, 13]}}\n"
                   "fields: [gz]\n")
        said = self.done("run", "case.yaml", "--output", "b.csv")
        self.assertAlmostEqual(self.column("b.csv", "upward")[0], (flat[0] + flat[1]) / 2, places=9)
        # between the nodes points lie below the steps of the columns
        below = sum(1 for j in range(13) for i in range(17)
                    if (self.heights[j][i] + self.heights[j][i + 1]) / 2 < self.heights[j][i + 1])
        self.assertIn(f"warning: {below} of 221 points lie below the surface of the terrain's columns", said.stderr)

    def test_points_above_the_sea_are_above_its_water(self):
        self.heights = [[-200.0, -200.0, 100.0, 100.0]] * 3
        self.write("dem.asc", ascii_grid(self.heights))
        case = ("model: {{terrain: {{file: dem.asc{}}}}}\nfields: [gz]\n"
                "observations: {{stations: {{file: s.csv, upward: {{above_terrain: 80{}}}}}}}\n")
        self.write("s.csv", "easting,northing\n0,100\n100,100\n225,100\n300,100\n")
        said = "a surface that is below sea level"
        for water, heights in ((", water_density: 1040", [80, 80, 180, 180]),
                               (", water_density: 1040, sea_level: -50", [30, 30, 180, 180]),
                               (", sea_level: -250", [-120, -120, 180, 180])):
            self.write("case.yaml", case.format(water, ""))
            result = self.done("run", "case.yaml", "--output", "a.csv")
            self.assertEqual(self.column("a.csv", "upward"), heights)
            self.assertNotIn(said, result.stderr)
        warning = (
            "warning: 2 of 4 points are 80 m above a surface that is below sea level (0 m), the first at (0, 100, -120): "
            "above the floor of a sea, not its water; sea_level: 0 beside above_terrain lets heights count from the water, a "
            "sea_level below the surface says that it is dry\n")
        for water, file in (("", ""), (", water_density: 1040", ", file: dem.asc")):
            self.write("case.yaml", case.format(water, file))
            result = self.done("run", "case.yaml", "--output", "a.csv")
            self.assertEqual(self.column("a.csv", "upward"), [-120, -120, 180, 180])
            self.assertEqual(result.stderr.count(warning), 1, result.stderr)

    def test_points_less_high_above_a_shallow_sea_are_told(self):
        self.heights = [[-60.0, -60.0, 100.0, 100.0]] * 3
        self.write("dem.asc", ascii_grid(self.heights))
        self.list_of_prisms(lambda h: [(-500, h, 2670)])
        self.write("s.csv", "easting,northing\n0,100\n100,100\n225,100\n300,100\n")
        prisms, terrain = "{prisms: {file: prisms.csv}}", "{terrain: {file: dem.asc}}"
        stations, grid = "{stations: {file: s.csv, upward: {", "{grid: {file: dem.asc, upward: {"
        said = " points are 80 m above a surface that is below sea level (0 m), the first at "
        for model, points, more, above, told in (
                (prisms, stations, ", file: dem.asc", [20, 20, 180, 180], "2 of 4"),
                (terrain, stations, "", [20, 20, 180, 180], "2 of 4"),
                (prisms, grid, "", [20, 20, 180, 180] * 3, "6 of 12"),
                (prisms, stations, ", file: dem.asc, sea_level: 0", [80, 80, 180, 180], None),
                (prisms, stations, ", file: dem.asc, sea_level: -10", [70, 70, 180, 180], None),
                (prisms, stations, ", file: dem.asc, sea_level: -100", [20, 20, 180, 180], None),
                (terrain, stations, ", sea_level: 0", [80, 80, 180, 180], None),
                ("{terrain: {file: dem.asc, water_density: 1040}}", stations, ", sea_level: -100", [20, 20, 180, 180], None),
                (prisms, grid, ", sea_level: 0", [80, 80, 180, 180] * 3, None)):
            with self.subTest(points + more, model=model):
                self.write("case.yaml", f"model: {model}\nobservations: {points}above_terrain: 80{more}}}}}}}\nfields: [gz]\n")
                result = self.done("run", "case.yaml", "--output", "a.csv")
                self.assertEqual(self.column("a.csv", "upward"), above)
                if told is None:
                    self.assertNotIn(said, result.stderr)
                else:
                    self.assertIn("warning: " + told + said, result.stderr)

    def test_points_outside_the_terrain_and_in_its_gaps_are_told_apart(self):
        self.heights[3][4] = None
        self.write("dem.asc", ascii_grid(self.heights))
        self.write("case.yaml", "model: {prisms: {file: prisms.csv}}\nfields: [gz]\n"
                   "observations: {grid: {file: dem.asc, upward: {above_terrain: 80}}}\n")
        self.list_of_prisms(lambda h: [(-500, h, 2670)])
        gaps = ("the terrain has gaps, nodes without a height, at 1 of 234 points, the first point 58 at (400, 300); fill "
                "them, e.g. with gdal_fillnodata.py, leave such points out, or give upward a number")
        self.refused("run", "case.yaml", lines=[f"case.yaml:3: observations.grid.upward.above_terrain: {gaps}"])
        self.write("case.yaml", "model: {prisms: {file: prisms.csv}}\nfields: [gz]\n"
                   "observations: {grid: {file: dem.asc}}\n")
        self.refused("run", "case.yaml", lines=[f"case.yaml:3: observations.grid.file: {gaps}"])
        self.write("case.yaml", "model: {terrain: {file: dem.asc}}\nfields: [gz]\n"
                   "observations: {stations: {file: s.csv, upward: {above_terrain: 80}}}\n")
        self.write("s.csv", "easting,northing\n100,0\n2000.123456789,0\n430,320\n3000,0\n")
        key = "case.yaml:3: observations.stations.upward.above_terrain: the terrain"
        self.refused("run", "case.yaml", lines=[
            f"{key}, nodes at easting 0 to 1700, northing 0 to 1200, does not reach 2 of 4 points, the first point 1 at "
            "(2000.12, 0); a larger DEM or points within it are needed",
            f"{key} has gaps, nodes without a height, at 1 of 4 points, the first point 2 at (430, 320); fill them, e.g. with "
            "gdal_fillnodata.py, leave such points out, or give upward a number"])

    def test_stations_near_the_ground_are_told_of_the_steps_in_one_warning(self):
        self.write("dem.asc", ascii_grid([[100.0, 130.0, 100.0, 130.0]] * 3))
        self.write("case.yaml", "model: {terrain: {file: dem.asc}}\nobservations: {stations: {file: s.csv}}\nfields: [gz]\n")
        head, high = "easting,northing,upward\n", "150,100,900\n"
        steps = ("up to {} m off the surface between the nodes, of the order of {} mGal in gz, at {}; resample the DEM "
                 "finer around them (gdalwarp -tr 10 10 -r bilinear -of netCDF dem.nc finer.nc), or take points at nodes\n")
        self.write("s.csv", head + "30,100,112\n" + high)
        said = self.done("run", "case.yaml", "--output", "a.csv", "--quiet").stderr
        self.assertEqual(said, "warning: 1 of 2 points are within a cell's width of the ground, where the terrain's columns, "
                         "flat around each node, are " + steps.format(9, 0.83, "(30, 100, 112)"))
        self.write("s.csv", head + "30,100,112\n60.00000012345,100,119\n" + high)
        said = self.done("run", "case.yaml", "--output", "a.csv", "--quiet").stderr
        self.assertEqual(said, "warning: 1 of 3 points lie below the surface of the terrain's columns, which is flat around "
                         "each node: (60, 100, 119); 2 of 3 points are within a cell's width of the ground, where the "
                         "columns are " + steps.format(12, 1.3, "(60, 100, 119)"))
        # at nodes, far above, where the steps are 0.6 m, and two thirds of a cell above those of 9 m
        self.write("s.csv", head + "100,100,130\n2,100,101\n30,100,170\n" + high)
        self.assertNotIn("off the surface", self.done("run", "case.yaml", "--output", "a.csv").stderr)

    def test_mistakes_are_told(self):
        for key, line in (
                ("fields=gz, gzz", "fields: is 'gz, gzz'; several fields are a list: [gz, gzz]"),
                ("fields=[gz, terrain_correction]", "fields.1: is 'terrain_correction', which is no field: it comes with gz "
                 "of model.terrain in the result"),
                ("observations={stations: s.csv}", "observations.stations: is 's.csv'; a map is expected, for a file "
                 "{file: s.csv}"),
                ("observations={grid: {file: dem.asc, upward: {file: a.nc, sea_level: 0}}}",
                 "observations.grid.upward.sea_level: goes with above_terrain only")):
            self.write("case.yaml", "model: {terrain: {file: dem.asc}}\n" + POINTS)
            said = self.run_program("run", "case.yaml", "--set", key)
            self.assertIn(line, said.stderr)
        self.write("bad.yaml", "model: {terrain: {reference: high, density: {files: a}}}\n" + POINTS)
        said = self.run_program("run", "bad.yaml")
        self.assertEqual(said.returncode, 2)
        for text in ("model.terrain.file: is missing", "model.terrain.reference: is", "model.terrain.density.files"):
            self.assertIn(text, said.stderr)
        self.refused("sensitivity", "case.yaml", lines=[
            "case.yaml:1: model.terrain: has no sensitivities: the cells of voxels or of a mesh are needed, prismfield "
            "run alone reads terrain"])
        self.refused("run", "case.yaml", "--output", "dem.asc.h5", "--set", "model.terrain.file=none.nc", lines=[
            "--set model.terrain.file: 'none.nc' cannot be read: there is no such file"])

    def test_huge_terrains_are_counted_before_they_are_computed(self):
        self.write("flat.asc", ascii_grid([[1.0] * 1000] * 1000))
        self.write("case.yaml", "model: {terrain: {file: flat.asc}}\nfields: [gz]\n" + POINTS)
        said = self.done("run", "case.yaml", "--dry-run")
        self.assertIn("terrain 1000 x 1000, 1,000,000 prisms", said.stdout)

    def test_the_result_is_the_same_on_every_number_of_ranks(self):
        if not options.mpiexec:
            self.skipTest("no mpiexec")
        self.done("run", "case.yaml", "--output", "one.h5")
        for ranks in (2, 3):
            self.done("run", "case.yaml", "--output", "many.h5", "--quiet",
                      launcher=[*shlex.split(options.mpiexec), "-n", str(ranks)])
            self.same("many.h5", "one.h5", "1e-13")


class GeoTiff(TerrainFolder):
    """Where GDAL was built in, and what is said where it was not."""

    def setUp(self):
        super().setUp()
        if shutil.which("gdal_translate") is None:
            self.skipTest("no gdal_translate")
        self.heights[3][4] = None
        self.write("dem.asc", ascii_grid(self.heights))
        self.made("dem.tif", "-a_srs", "EPSG:32719")
        if "built with GDAL" in self.run_program("run", "case.yaml", *TIFF, "--check").stderr:
            self.refused(
                "run", "case.yaml", *TIFF,
                lines=[f"--set model.terrain.file: 'dem.tif' is GeoTIFF, which this prismfield reads only when it was built "
                       "with GDAL; convert it first: gdal_translate -of netCDF in.tif out.nc, or -of AAIGrid in.tif out.asc"])
            self.skipTest("built without GDAL")

    def made(self, name, *arguments, source="dem.asc"):
        options_of_source = ["-oo", "DATATYPE=Float64"] if source.endswith(".asc") else []
        subprocess.run(["gdal_translate", "-q", *options_of_source, *arguments, source, name], cwd=self.folder, check=True)

    def refused_tiff(self, name, what):
        self.refused("run", "case.yaml", "--set", f"model.terrain.file={name}",
                     lines=[f"--set model.terrain.file: '{name}' {what}"])

    def test_is_the_same_terrain_as_the_ascii_grid(self):
        result = self.done("run", "case.yaml", *TIFF, "--output", "tiff.h5")
        self.assertIn("the terrain has no height at 1 of 234 nodes", result.stderr)
        self.done("run", "case.yaml", "--output", "ascii.h5")
        self.same("tiff.h5", "ascii.h5", "0")
        self.made("packed.tif", "-co", "COMPRESS=DEFLATE", "-co", "TILED=YES")
        self.done("run", "case.yaml", "--set", "model.terrain.file=packed.tif", "--output", "packed.h5")
        self.same("packed.h5", "ascii.h5", "0")

    def test_what_cannot_be_prisms_is_refused(self):
        self.made("degrees.tif", "-a_srs", "EPSG:4326")
        self.refused_tiff("degrees.tif", "has longitudes and latitudes (by its reference system); prisms need metres of a map "
                          "projection: project it first, e.g. gdalwarp -t_srs EPSG:32719 -of netCDF in.nc out.nc, or gmt grdproject")
        self.made("two.tif", "-b", "1", "-b", "1")
        self.refused_tiff("two.tif", "has 2 bands, heights are one; take it out: gdal_translate -b 1 in.tif out.tif")
        (self.folder / "cut.tif").write_bytes((self.folder / "dem.tif").read_bytes()[:700])
        result = self.run_program("run", "case.yaml", "--set", "model.terrain.file=cut.tif")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("'cut.tif' cannot be read as GeoTIFF: ", result.stderr)

    def test_garbled_bytes_end_clearly(self):
        whole = (self.folder / "dem.tif").read_bytes()
        source = random.Random(3)
        for _ in range(60):
            garbled = bytearray(whole)
            for _ in range(source.randint(1, 8)):
                garbled[source.randrange(min(len(garbled), 500))] = source.randrange(256)
            (self.folder / "garbled.tif").write_bytes(garbled)
            result = self.run_program("run", "case.yaml", "--check", "--set", "model.terrain.file=garbled.tif")
            self.assertIn(result.returncode, (0, 2), result.stderr)

    def test_feet_of_the_reference_system_are_metres(self):
        # New York Long Island, US survey feet
        self.made("feet.tif", "-a_srs", "EPSG:2263")
        survey_foot = 1200 / 3937
        shown = self.done("run", "case.yaml", "--set", "model.terrain.file=feet.tif", "--output", "feet.csv").stdout
        self.assertIn("terrain 18 x 13", shown)
        self.write("metres.asc", ascii_grid(self.heights, spacing=100 * survey_foot, corner=(-50 * survey_foot,) * 2))
        self.done("run", "case.yaml", "--set", "model.terrain.file=metres.asc", "--output", "metres.csv")
        self.same("feet.csv", "metres.csv", "1e-10")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mpiexec")
    options, rest = parser.parse_known_args()
    ProgramFolder.program = str(pathlib.Path(options.program).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
