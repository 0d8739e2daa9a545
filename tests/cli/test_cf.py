# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Results and models by the CF conventions, and as GDAL opens them: coordinates, units and the reference system.

Usage: test_cf.py PRISMFIELD

The conventions are checked by compliance-checker (PyPI), by the table of names that it brings: the program that
PRISMFIELD_CF_CHECKER names, else the one of PATH. GDAL's programs are those of PATH. Exit code 77: what is installed is
content, and the output names what is not.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from program_folder import ProgramFolder

CHECKER = os.environ.get("PRISMFIELD_CF_CHECKER") or shutil.which("compliance-checker")
GDAL = shutil.which("gdalinfo") and shutil.which("ogrinfo") and shutil.which("gdallocationinfo")

# A point on an edge of the body, so that `singular` is there too.
CASE = """\
title: A block in zone 19
crs: EPSG:32719
model:
  voxels:
    easting:  [500000, 501000, 5]
    northing: [7000000, 7001000, 5]
    upward:   [-500, 0, 3]
    boxes:
      - {easting: [500200, 500600], northing: [7000200, 7000600], upward: [-400, 0], density: 400}
observations:
  grid:
    easting:  [500000, 501000, 6]
    northing: [7000000, 7001000, 11]
    upward: 0
  noise: {gz: 0.01, gzz: 1, seed: 3}
fields: [potential, gz, gzz]
inversion:
  data: {file: data.h5, fields: [gz]}
  uncertainty: {samples: 10}
"""
STATIONS = "observations.stations={random: 7, easting: [500000, 501000], northing: [7000000, 7001000], upward: [50, 90], seed: 4}"
SYSTEMS = ("EPSG:32719", "EPSG:27572", "EPSG:31370", "EPSG:3031", "EPSG:3995", "EPSG:3035", "EPSG:5070", "EPSG:28992",
           "EPSG:25833+5783")


class Files(ProgramFolder):
    case = CASE

    def setUp(self):
        super().setUp()
        self.has_proj = json.loads(self.done("info", "--json").stdout)["proj"] != ""

    def crs(self):
        """Without PROJ a reference system has no projection, which CF wants."""
        return () if self.has_proj else ("--set", "crs=null")

    def grid(self, name, *more):
        self.done("run", "case.yaml", "--quiet", "--output", name, *self.crs(), *more)
        return name

    def stations(self, name, *more):
        return self.grid(name, "--set", "observations.grid=null", "--set", STATIONS, *more)

    def model(self, name):
        self.grid("data.h5")
        self.done("invert", "case.yaml", "--quiet", "--output", name, *self.crs())
        return name

    def rows(self, name):
        """A table's rows as maps."""
        head, *lines = (self.folder / name).read_text().splitlines()
        names = [word.split(" ")[0] for word in head.split(",")]
        return [dict(zip(names, map(float, line.split(",")))) for line in lines]


@unittest.skipUnless(CHECKER, "compliance-checker is not installed")
class Conventions(Files):
    def check(self, name, versions=("1.8",)):
        """What the checker prints of a file where it is not content, else nothing."""
        for version in versions:
            # This check of the checker's 6.1 looks for a dimension `time` in every group of a file that has several.
            broken = "check_invalid_same_named_dimension_across_groups"
            done = subprocess.run([CHECKER, f"--test=cf:{version}", "--criteria=strict", f"--skip-checks={broken}", name],
                                  cwd=self.folder, capture_output=True, text=True, timeout=300)
            self.assertIn("IOOS Compliance Checker Report", done.stdout, done.stderr)
            if done.returncode != 0 or "All tests passed!" not in done.stdout:
                return done.stdout + done.stderr
        return ""

    def test_of_a_grid(self):
        self.assertEqual(self.check(self.grid("grid.nc")), "")

    def test_of_a_grid_without_a_reference_system(self):
        self.assertEqual(self.check(self.grid("grid.nc", "--set", "crs=null")), "")

    def test_of_stations(self):
        self.assertEqual(self.check(self.stations("stations.nc"), ("1.6", "1.8")), "")

    def test_of_a_model(self):
        self.assertEqual(self.check(self.model("model.nc")), "")

    def test_of_other_reference_systems(self):
        if not self.has_proj:
            self.skipTest("PROJ is not built in")
        for system in SYSTEMS:
            with self.subTest(system):
                self.assertEqual(self.check(self.stations("stations.nc", "--set", f"crs={system}")), "")

    def test_the_checker_sees_a_unit_that_udunits_does_not_know(self):
        self.grid("grid.nc")
        python = pathlib.Path(CHECKER).with_name("python")
        change = "import netCDF4; netCDF4.Dataset('grid.nc', 'a')['gzz'].units = 'Eotvos'"
        subprocess.run([python if python.exists() else sys.executable, "-c", change], cwd=self.folder, check=True)
        self.assertIn("not recognized by UDUNITS", self.check("grid.nc"))


@unittest.skipUnless(GDAL, "GDAL's programs are not installed")
class Gdal(Files):
    def tell(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_grid_lies_where_it_belongs(self):
        self.grid("grid.nc")
        self.grid("grid.csv")
        name = 'NETCDF:"grid.nc":gz'
        told = json.loads(self.tell("gdalinfo", "-json", name))
        self.assertEqual(told["size"], [6, 11])
        # values belong to nodes: a pixel lies half a spacing around its node, the first row in the north
        self.assertEqual(told["geoTransform"], [499900, 200, 0, 7001050, 0, -100])
        self.assertEqual(told["bands"][0]["unit"], "mGal")
        for row in (0, 5, 65):
            point = self.rows("grid.csv")[row]
            seen = self.tell("gdallocationinfo", "-valonly", "-geoloc", name, str(point["easting"]), str(point["northing"]))
            self.assertAlmostEqual(float(seen), point["gz"], delta=1e-9)
        if not self.has_proj:
            self.skipTest("PROJ is not built in")
        self.assertIn("WGS 84 / UTM zone 19S", told["coordinateSystem"]["wkt"])
        self.assertIn('ID["EPSG",32719]', told["coordinateSystem"]["wkt"])

    def test_a_model_is_a_grid_a_layer(self):
        told = json.loads(self.tell("gdalinfo", "-json", f'NETCDF:"{self.model("model.nc")}":density'))
        self.assertEqual((told["size"], len(told["bands"])), ([5, 5], 3))
        self.assertEqual(told["geoTransform"], [500000, 200, 0, 7001000, 0, -200])
        if self.has_proj:
            self.assertIn('ID["EPSG",32719]', told["coordinateSystem"]["wkt"])

    def test_stations_are_a_layer_of_points(self):
        self.stations("stations.nc")
        self.stations("stations.csv")
        told = self.tell("ogrinfo", "-al", "stations.nc")
        self.assertIn("Geometry: 3D Point", told)
        self.assertIn("Feature Count: 7", told)
        for name in ("potential", "gz", "gz_sigma", "gzz", "gzz_sigma"):
            self.assertIn(f"\n{name}: Real", told)
        self.assertEqual(self.has_proj, 'ID["EPSG",32719]' in told, "the reference system")
        features = told.split("OGRFeature(")[1:]
        for feature, point in zip(features, self.rows("stations.csv"), strict=True):
            values = dict(line.strip().split(" (Real) = ") for line in feature.splitlines() if " (Real) = " in line)
            self.assertAlmostEqual(float(values["gzz"]), point["gzz"], delta=1e-9)
            place = feature.split("POINT Z (")[1].split(")")[0].split()
            for seen, wanted in zip(place, (point["easting"], point["northing"], point["upward"]), strict=True):
                self.assertAlmostEqual(float(seen), wanted, delta=1e-6)

    def test_lengths_at_stations_are_no_coordinates(self):
        """GDAL takes what is in m or km for one, and leaves it out of the layer."""
        rows = [f"{500000 + 100 * i},{7000000 + 50 * i * i},{i},{2 * i}" for i in range(6)]
        self.write("terrain.csv", "easting,northing,upward\n" + "".join(
            f"{x},{y},{x % 700}\n" for x in range(499000, 502001, 500) for y in range(6999000, 7002001, 500)))
        self.write("stations.csv", "\n".join(["easting,northing,depth_of_rock [m],offset [km]", *rows]) + "\n")
        self.grid("terrain.nc", "--set", "model={terrain: {file: terrain.csv}}", "--set",
                  "observations={stations: {file: stations.csv, upward: {above_terrain: 10}}}")
        told = self.tell("ogrinfo", "-al", "terrain.nc")
        for name in ("terrain_height", "bouguer_slab", "depth_of_rock", "offset"):
            self.assertIn(f"\n{name}: Real", told)


if __name__ == "__main__":
    ProgramFolder.program = os.path.abspath(sys.argv[1])
    outcome = unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False).result
    for test, why in outcome.skipped:
        print(f"not checked: {test}: {why}")
    sys.exit(1 if not outcome.wasSuccessful() or outcome.testsRun == 0 else 77 if outcome.skipped else 0)
