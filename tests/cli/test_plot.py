# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield plot from outside: what it draws, what it refuses, and figures with keys. Needs Python's standard library
alone; where no Python draws, what needs one is skipped.
"""

import argparse
import fcntl
import math
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from program_folder import CASE, ProgramFolder

DRAWS = "import matplotlib, xarray\ntry:\n    import netCDF4\nexcept ImportError:\n    import h5netcdf\n"


def drawing_python():
    for python in filter(None, (os.environ.get("PRISMFIELD_PYTHON"), "python3", "/usr/bin/python3")):
        try:
            if subprocess.run([python, "-c", DRAWS], capture_output=True).returncode == 0:
                return python
        except OSError:
            continue
    return None


CAN_DRAW = drawing_python()
STATIONS = "easting,northing,upward\n" + "".join(f"{i * 30},{i * 55},10\n" for i in range(12))
PROFILE = CASE.replace(
    """  grid:
    easting:  [0, 1000, 12]
    northing: [0, 1000, 11]
    upward: 10
""",
    "  stations: {file: line.csv}\n",
)


# A case with its south-western corner at 0 is there in UTM coordinates.
UTM = (500000, 6900000)
# How many dots of a picture, among coloured ones and away from the dark marks of stations, are paler than those two
# above and below, or left and right of them.
PALE = """
import sys, numpy, matplotlib.pyplot as plt
rgb = plt.imread(sys.argv[1])[..., :3]
grey, depth = rgb.min(axis=2), rgb.max(axis=2) - rgb.min(axis=2)
is_mark = (grey < 0.5) & (depth < 0.12)
for axis in (0, 1):
    is_mark = sum(numpy.roll(is_mark, k, axis) for k in range(-3, 4)) > 0
is_coloured = (depth > 0.4) & ~is_mark
pale = 0
for p, c in ((grey, is_coloured), (grey.T, is_coloured.T)):
    pale += ((p[2:-2] > p[:-4] + 0.08) & (p[2:-2] > p[4:] + 0.08) & c[:-4] & c[4:]).sum()
print(pale)
"""


# How many dots in the middle of a picture have the colour of the ground.
GREY_WITHIN = """
import sys, numpy, matplotlib.pyplot as plt
rgb = numpy.round(plt.imread(sys.argv[1])[..., :3] * 255)
height, width = rgb.shape[:2]
print((rgb[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3] == 0xC7).all(axis=2).sum())
"""


def stations_case(text="", fields="[gz, gzz]", south_west=(0, 0)):
    """CASE at stations of a file, moved to a place."""
    east, north = south_west
    moved = CASE.replace("easting:  [0, 1000", f"easting:  [{east}, {east + 1000}")
    moved = moved.replace("northing: [0, 1000", f"northing: [{north}, {north + 1000}")
    moved = moved.replace("[500, 500, -250]", f"[{east + 500}, {north + 500}, -250]").replace("[gz, gzz]", fields)
    begin, end = moved.index("  grid:"), moved.index("fields:")
    return moved[:begin] + f"  stations: {text}\n" + moved[end:] if text else moved


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

    def test_texts_of_other_programs_are_drawn_as_they_are(self):
        import h5py

        self.done("run", "case.yaml", "--output", "r.nc")
        with h5py.File(self.folder / "r.nc", "a") as file:
            file.attrs["title"] = r"Line 7 $\frac{ of " + "a very long survey " * 100
            for place in (file, *(group for group in file.values() if isinstance(group, h5py.Group))):
                for name in {"gz", "gzz"} & set(place):
                    place[name].attrs["units"] = "$\\frac{1}{\n" + "m" * 3000
        self.done("plot", "r.nc")
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

    def test_nothing_of_the_working_folder_changes_the_picture(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.done("plot", "r.nc", "--output", "before.png")
        self.write("matplotlibrc", "axes.facecolor: red\nimage.cmap: gray\naxes.linewidth: 5\n")
        self.done("plot", "r.nc", "--output", "after.png")
        self.assertEqual(self.picture("after.png"), self.picture("before.png"))

    def test_what_a_killed_figure_left_goes_with_the_next(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.write(".f.png.part-aB3dE6", "left")
        with open(self.write(".f.png.part-living", "in work")) as living:
            fcntl.flock(living, fcntl.LOCK_SH)
            self.done("plot", "r.nc", "--output", "f.png")
        self.assertEqual(self.files(), [".f.png.part-living", "case.yaml", "f.png", "r.nc"])

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
        thin = CASE.replace("[-500, 0, 10]", "[-200, 0, 4]").replace("-250], radius: 200", "-100], radius: 80")
        self.write("thin.yaml", thin)
        self.done("run", "thin.yaml", "--output", "data.nc", "--set", "observations.noise={gz: 0.01, gzz: 1, seed: 1}")
        inversion = thin + "inversion:\n  data: {file: data.nc, fields: [gz]}\n  max_iterations: 3\n"
        self.write("invert.yaml", inversion)
        self.run_program("invert", "invert.yaml", "--output", "m.h5", "--set", "output.figure=run.png")
        self.done("plot", "m.h5")
        self.assertEqual(self.picture("m.png"), self.picture("run.png"))
        self.done("plot", "m.h5", "--output", "m.svg")
        texts = self.texts_of(self.picture("m.svg").decode("utf-8"))
        self.assertEqual([text for text in texts if text.startswith("vertical")], [], "sections at true scale")
        self.done("plot", "m.h5", "--output", "cut.svg", "--upward", "-50", "--easting=1000")
        titles = self.texts_of(self.picture("cut.svg").decode("utf-8"))
        for title in ("Plan, height -50 to 0 m", "South–north, easting 950 to 1,000 m"):
            self.assertIn(title, titles)
        refused = self.run_program("plot", "m.h5", "--northing", "-1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("m.h5: --northing -1 is outside the model, northing 0 to 1,000 m", refused.stderr)
        self.refused("plot", "data.nc", "--northing", "5", lines=[
            "--northing: data.nc holds fields at points; sections are those of models"])
        refused = self.run_program("plot", "m.h5", "--field", "gz")
        self.assertEqual((refused.returncode, refused.stderr), (2, "--field: m.h5 is a model, which is drawn whole\n"))

    def test_fields_and_colour_maps_that_there_are_not(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.refused("plot", "r.nc", "--field", "gx", lines=["--field: r.nc holds no gx; it holds gz, gzz"])
        for wrong, hint in (("terrain_height", ""), ("gzzz", ", did you mean gzz?")):
            self.refused("plot", "r.nc", "--field", "gz," + wrong, lines=[
                f"--field: '{wrong}' is no field that plot draws{hint}; r.nc holds gz, gzz"])
        result = self.run_program("plot", "r.nc", "--colour-map", "virids")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^--colour-map: 'virids' is no colour map of matplotlib; did you mean viridis\b")
        result = self.run_program("run", "case.yaml", "--set", "output.figure={file: f.png, colour_map: virids}")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^--set output.figure.colour_map: 'virids' is no colour map of matplotlib; did you")
        self.assertEqual(self.files(), ["case.yaml", "r.nc"])

    def texts(self, case, *options):
        """What is written in the figure of a case."""
        self.write("drawn.yaml", case)
        self.done("run", "drawn.yaml", "--output", "drawn.nc")
        self.done("plot", "drawn.nc", "--output", "drawn.svg", *options)
        return self.texts_of(self.picture("drawn.svg").decode("utf-8"))

    @staticmethod
    def texts_of(svg):
        return [text.replace("−", "-") for text in re.findall(r"<!-- (.*?) -->", svg)]

    def test_long_coordinates_are_told_from_a_round_one_in_the_label(self):
        texts = self.texts(stations_case(south_west=UTM))
        self.assertIn("Northing - 6,900 km (m)", texts)
        self.assertIn("Easting - 500 km (m)", texts)
        self.assertIn("1,000", texts)
        self.assertEqual([text for text in texts if re.fullmatch(r"\d{6,}|\+.*e\d", text)], [])
        self.assertIn("Northing (m)", self.texts(stations_case()))

    def test_no_seams_between_the_levels_of_triangles(self):
        rows = (f"{500 + 450 * math.sin(7 * i * i)},{500 + 450 * math.cos(5 * i * i + i)},10\n" for i in range(300))
        self.write("area.csv", "easting,northing,upward\n" + "".join(rows))
        self.write("area.yaml", stations_case("{file: area.csv}", "[gz]"))
        self.done("run", "area.yaml", "--output", "area.nc")
        self.done("plot", "area.nc", "--contours", "none", "--no-outline", "--plain")
        self.done("plot", "area.nc", "--contours", "none", "--no-outline", "--plain", "--dpi", "110", "--output", "b.png")
        for name in ("area.png", "b.png"):
            count = subprocess.run([CAN_DRAW, "-c", PALE, name], cwd=self.folder, capture_output=True, text=True)
            self.assertLess(int(count.stdout), 1, name)
        # marks that are seen on every colour, on ground that is none of them
        self.done("plot", "area.nc", "--output", "area.svg")
        svg = self.picture("area.svg").decode("utf-8")
        for colour in ("#ffffff", "#0d0d0d"):
            self.assertEqual(len(re.findall(rf'<use [^>]*style="fill: {colour}"', svg)), 300, colour)
        self.assertIn("fill: #c7c7c7", svg)

    def test_survey_lines_are_named(self):
        lines = "/ X Y Z\n"
        for k in range(3):
            lines += f"Line L{10 * k + 100}\n" + "".join(f"{20 * i} {300 * k + 7 * (i % 5)} 60\n" for i in range(60))
        self.write("flight.xyz", lines)
        texts = self.texts(stations_case("{file: flight.xyz, columns: [easting, northing, upward]}"))
        for name in ("L100", "L110", "L120"):
            self.assertEqual(texts.count(name), 2, texts)
        self.assertTrue(any(text.startswith("180 stations on 3 lines") for text in texts), texts)

    def test_a_table_gives_the_figure_of_the_same_result_in_netcdf(self):
        survey = "easting,northing,upward,Line,company\n" + "".join(
            f"{20 * i},{300 * k + 7 * (i % 5)},60,\"Line {k}, north\",ours\n" for k in range(3) for i in range(60))
        self.write("survey.csv", survey)
        self.write("lines.yaml", stations_case("{file: survey.csv}"))
        heights = [f"{200 * i} {200 * j} {50 + (i * j) % 7}\n" for j in range(7) for i in range(7)]
        self.write("dem.xyz", "".join(heights))
        case = "model: {terrain: {file: dem.xyz, density: 2670}}\nobservations: {%s}\nfields: [gz]\n"
        self.write("stations.csv", STATIONS.replace(",10\n", ",200\n"))
        self.write("terrain.yaml", case % "stations: {file: stations.csv}")
        self.write("hills.yaml", case % "grid: {easting: [100, 900, 9], northing: [100, 900, 11], upward: 200}")
        for name in ("lines", "terrain", "hills", "case"):
            for suffix in ("nc", "csv", "xyz"):
                self.done("run", name + ".yaml", "--output", f"{name}.{suffix}", "--quiet")
                self.done("plot", f"{name}.{suffix}", "--plain", "--no-outline", "--output", suffix + ".png")
            for suffix in ("csv", "xyz"):
                self.assertTrue(self.picture(suffix + ".png") == self.picture("nc.png"), f"{name}.{suffix}")
        self.done("plot", "lines.csv", "--output", "lines.svg")
        self.assertEqual(self.picture("lines.svg").count(b"<!-- Line 1, north -->"), 2)
        self.done("plot", "hills.csv", "--output", "hills.svg", "--field", "terrain_correction")
        self.assertIn(b"9 \xc3\x97 11 points", self.picture("hills.svg"))
        self.write("words.csv", "x,y,z,gz,bouguer_slab\n0,0,0,1,high\n1,1,0,2,low\n")
        self.refused("plot", "words.csv", lines=[
            "words.csv: column bouguer_slab has text where numbers belong; correct or rename it"])

    def lines_drawn(self, fields, row):
        """The figure of four survey lines as SVG, and corners of the boxes behind their names; `row`: a place."""
        rows = (row(60 * i, 300 * k) + f",60,Line {k}\n" for k in range(4) for i in range(40))
        self.write("survey.csv", "easting,northing,upward,line\n" + "".join(rows))
        self.texts(stations_case("{file: survey.csv}", fields))
        svg = self.picture("drawn.svg").decode("utf-8")
        boxes = re.findall(r'<path d="(M [^"]*)"\s*style="fill: #ffffff; opacity: 0.45', svg)
        return svg, [self.limits_of(box) for box in boxes]

    @staticmethod
    def limits_of(path):
        numbers = [float(n) for n in re.findall(r"[\d.]+", path)]
        return min(numbers[::2]), max(numbers[::2]), min(numbers[1::2]), max(numbers[1::2])

    def test_names_of_survey_lines_lie_within_the_frame(self):
        # in panels so small that there is no room above the northern line, nor beside the eastern one
        for row in (lambda along, across: f"{along},{across}", lambda along, across: f"{across},{along}"):
            svg, boxes = self.lines_drawn("all", row)
            grounds = re.findall(r'<g id="patch_\d+">\s*<path d="(M [^"]*)"\s*style="fill: #c7c7c7', svg)
            frames = [self.limits_of(ground) for ground in grounds]
            self.assertEqual((len(frames), len(boxes)), (10, 40))
            for w, e, s, n in boxes:
                self.assertTrue(any(f[0] < w and e < f[1] and f[2] < s and n < f[3] for f in frames), (w, e, s, n))

    def test_names_of_survey_lines_hide_no_stations(self):
        for slope in (-0.3, 0.3):
            svg, boxes = self.lines_drawn("[gz]", lambda along, across: f"{along},{2 * across + slope * along}")
            places = re.findall(r'<use [^>]*x="(.*?)" y="(.*?)" style=', svg)
            stations = [(float(x), float(y)) for x, y in places]
            self.assertGreaterEqual(len(stations), 160)
            self.assertEqual(len(boxes), 4)
            for w, e, s, n in boxes:
                self.assertEqual([(x, y) for x, y in stations if w < x < e and s < y < n], [], slope)

    def test_components_that_are_nothing_are_drawn_as_0(self):
        self.write("line.csv", "easting,northing,upward\n" + "".join(f"{20 * i},500,10\n" for i in range(51)))
        texts = self.texts(stations_case("{file: line.csv}", "[gx, gy, gz, gzz, gyz]"))
        self.assertEqual(texts.count("min 0, max 0, RMS 0"), 2, texts)
        self.assertEqual([text for text in texts if re.fullmatch(r"-?0\.0000+", text)], [])

    def test_bodies_of_the_model_along_a_borehole(self):
        self.write("hole.csv", "easting,northing,upward\n" + "".join(f"600,500,{-10 * i}\n" for i in range(101)))
        texts = self.texts(stations_case("{file: hole.csv}", "[gz]"), "--contours", "none")
        self.assertTrue(any("grey: bodies of the model" in text for text in texts), texts)
        svg = self.picture("drawn.svg").decode("utf-8")
        band, = re.findall(r'<path d="(M [^"]*)"\s*(?:clip-path="[^"]*"\s*)?style="fill: #ededed', svg)
        low, high = self.limits_of(band)[2:]
        # 600, 500 is 100 m from the centre: as long as the sphere is there, of the kilometre between 0 and -1,000
        curve = re.search(r'<path d="(M [^"]*)"[^>]*stroke: #1f5a92', svg)[1]
        top, bottom = self.limits_of(curve)[2:]
        self.assertAlmostEqual((high - low) / (bottom - top), 2 * math.sqrt(200**2 - 100**2) / 1000, 3)
        self.assertAlmostEqual(((high + low) / 2 - top) / (bottom - top), 0.25, 3)

    def test_profiles_tell_their_height_and_each_panel_its_unit(self):
        self.write("line.csv", "easting,northing,upward\n" + "".join(f"{20 * i},500,10\n" for i in range(51)))
        texts = self.texts(stations_case("{file: line.csv}", "[potential, gx, gz]"))
        self.assertTrue(any("northing 500 m  ·  height 10 m" in text for text in texts), texts)
        self.assertEqual((texts.count("mGal"), texts.count("10⁻³ m² s⁻²")), (2, 1), texts)

    def test_magnetic_data_and_models(self):
        rows = "".join(f"{40 * i} {35 * k} 50 {(i - 4) * (k - 3)} {0.5 + 0.1 * i:.1f}\n" for k in range(8) for i in range(9))
        self.write("s.mag", "-62.5 11.25 48250\n-62.5 11.25 1\n72\n" + rows)
        self.done("convert", "s.mag", "s.nc")
        self.done("plot", "s.nc", "--output", "s.svg")
        texts = " ".join(self.texts_of(self.picture("s.svg").decode("utf-8")))
        self.assertIn("inducing field 48,250 nT, inclination -62.5°, declination 11.25°", texts)
        self.assertIn("σ of tmi 0.5 to 1.3 nT", texts)
        # 2 cells each way; the top layer first, downwards
        self.write("m.msh", "2 2 2\n0 0 0\n2*50\n2*50\n2*50\n")
        self.write("m.sus", "0.01\n0.05\n-100\n0.02\n" * 2)
        self.write("m.fld", "0.5 0.25 1\n0 0.1 -0.1\n-100 -100 -100\n0.1 0 0\n" * 2)
        for name, words in (("sus", "susceptibility 0.01 to 0.05 SI"), ("fld", "magnitude of the magnetization ")):
            self.done("convert", "m." + name, name + ".h5", "--mesh", "m.msh", *(
                ["--inducing-field", "-62.5,11.25,48250"] if name == "fld" else []))
            self.done("plot", name + ".h5", "--output", name + ".svg")
            self.assertIn(words, " ".join(self.texts_of(self.picture(name + ".svg").decode("utf-8"))))

    def test_sums_of_fields_have_panels(self):
        for options in ((), ("--field", "guv")):
            texts = self.texts(CASE.replace("[gz, gzz]", "[gxx, guv]"), *options)
            self.assertEqual([text for text in texts if text.startswith("$g_{")],
                             ([] if options else ["$g_{xx}$ (Eötvös)"]) + ["$g_{uv}$ (Eötvös)"])

    def test_gaps_in_a_survey_are_no_grey_holes(self):
        rows = (f"{50 * i},{50 * j},10\n" for i in range(21) for j in range(21) if max(abs(i - 10), abs(j - 10)) > 2)
        self.write("gap.csv", "easting,northing,upward\n" + "".join(rows))
        self.write("gap.yaml", stations_case("{file: gap.csv}", "[gz]"))
        self.done("run", "gap.yaml", "--output", "gap.nc")
        self.done("plot", "gap.nc", "--contours", "none", "--no-outline", "--plain")
        count = subprocess.run([CAN_DRAW, "-c", GREY_WITHIN, "gap.png"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(count.stdout, "0\n")

    def test_the_extent_of_the_model_along_an_oblique_line(self):
        grey = "grey: bodies of the model"
        rows = {"through": lambda i: (i * 20, i * 20), "beside": lambda i: (i * 20, 900 + i * 10)}
        for name, place in rows.items():
            self.write(name + ".csv", "easting,northing,upward\n" + "".join("%d,%d,10\n" % place(i) for i in range(51)))
            texts = self.texts(stations_case(f"{{file: {name}.csv}}", "[gz]"))
            self.assertEqual(any(grey in text for text in texts), name == "through", texts)

    def test_lines_of_equal_value_have_their_values(self):
        self.assertIn("0.123", self.texts(CASE, "--field", "gz", "--contours", "0.123,0.2"))

    def test_plain_figures_have_no_words_around(self):
        self.assertIn("Small case", self.texts(CASE))
        texts = self.texts(CASE, "--plain")
        self.assertEqual([text for text in texts if "Small case" in text or "points" in text or "prismfield" in text], [])
        self.assertEqual([text for text in texts if text.startswith("min ")], [])
        self.assertIn("$g_z$ (mGal)", texts)
        self.done("run", "case.yaml", "--output", "k.nc", "--set", "output.figure={file: k.svg, annotations: false}")
        self.assertNotIn(b"Small case", self.picture("k.svg"))

    def test_plain_figures_of_draped_grids_have_no_lines_of_height(self):
        heights = "".join(f"{x},{y},{10 + x / 10}\n" for y in range(0, 1001, 100) for x in range(0, 1001, 100))
        self.write("draped.csv", "easting,northing,upward\n" + heights)
        draped = CASE.replace("1000, 12]", "1000, 11]").replace("upward: 10\n", "upward: {file: draped.csv}\n")
        texts = self.texts(draped, "--no-outline")
        self.assertTrue(any("a line every 20 m" in text for text in texts), texts)
        lines = b"opacity: 0.55"
        self.assertIn(lines, self.picture("drawn.svg"))
        for has_lines, options in ((False, ["--plain"]), (False, ["--contours", "none"]), (True, ["--plain", "--contours", "6"])):
            self.done("plot", "drawn.nc", "--output", "drawn.svg", "--no-outline", *options)
            self.assertEqual(lines in self.picture("drawn.svg"), has_lines, options)

    def test_output_names_the_figure_too(self):
        (self.folder / "out").mkdir()
        for figure in ("{file: a.png, dpi: 50}", "a.png"):
            self.write("drawn.yaml", CASE + f"output: {{file: a.nc, figure: {figure}}}\n")
            self.done("run", "drawn.yaml", "--quiet")
            first = self.picture("a.png")
            self.done("run", "drawn.yaml", "--quiet", "--set", "axes=z_up", "--output", "out/b.csv")
            self.assertTrue(self.picture("out/b.png").startswith(b"\x89PNG"))
            key = "output.figure.file" if "file" in figure else "output.figure"
            done = self.done("run", "drawn.yaml", "--output", "b.csv", "--set", f"{key}=c.png")
            self.assertNotIn("note:", done.stderr)
            self.assertTrue(self.picture("c.png").startswith(b"\x89PNG"))
            self.assertEqual(self.picture("a.png"), first)
            self.assertFalse((self.folder / "b.png").exists())

    def write_by_xarray(self, code):
        """Runs statements that have numpy as np and xarray as xr."""
        command = [CAN_DRAW, "-c", "import numpy as np, xarray as xr\n" + code]
        written = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(written.returncode, 0, written.stderr)

    def test_grids_in_any_order_give_the_same_figure(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        self.write_by_xarray("""
grid = xr.load_dataset("r.nc").drop_vars("gzz")
grid["gz"] = grid["gz"] * (2000 + grid["easting"] + 2 * grid["northing"])
grid["upward"] = grid["upward"] + 0.1 * grid["easting"]
grid.to_netcdf("usual.nc")
grid.isel(northing=slice(None, None, -1)).to_netcdf("north_first.nc")
grid.isel(easting=slice(None, None, -1)).to_netcdf("east_first.nc")
grid.transpose("easting", "northing").to_netcdf("transposed.nc")
# as many nodes both ways, where a transposed field fits as well
square = grid.isel(easting=slice(0, 11))
square.to_netcdf("square.nc")
square.isel(northing=slice(None, None, -1)).transpose("easting", "northing").to_netcdf("square_transposed.nc")
""")
        names = ("usual", "north_first", "east_first", "transposed", "square", "square_transposed")
        for name in names:
            self.done("plot", name + ".nc")
        for name in names[1:4]:
            self.assertTrue(self.picture(name + ".png") == self.picture("usual.png"), name)
        self.assertTrue(self.picture("square_transposed.png") == self.picture("square.png"))

    def drawn_table(self, rows, header="easting,northing,upward,gz"):
        """The figure of a table as SVG."""
        self.write("table.csv", header + "\n" + "".join(row + "\n" for row in rows))
        self.done("plot", "table.csv", "--output", "table.svg")
        return self.picture("table.svg").decode("utf-8")

    def test_stations_without_a_value_are_hollow_rings(self):
        ring = re.compile(r'<use [^>]*style="fill: none; stroke: #737373')
        dot = re.compile(r'<use [^>]*style="fill: #[0-9a-f]{6}; stroke: #1a1a1a')
        rows = [f"{37 * i % 100},{53 * i % 70},10,{i if i % 4 else ''}" for i in range(20)]
        svg = self.drawn_table(rows)
        self.assertEqual((len(ring.findall(svg)), len(dot.findall(svg))), (5, 15))
        # so many that dots have no rims but dark ones below
        ground = re.compile('<use [^>]*style="fill: #333333"')
        rows = [f"{37 * i % 1009},{53 * i % 701},10,{i if i % 4 else ''}" for i in range(4000)]
        svg = self.drawn_table(rows)
        self.assertEqual((len(ring.findall(svg)), len(ground.findall(svg))), (1000, 3000))

    def test_stations_without_any_value_are_drawn_so(self):
        tables = {
            "area": [f"{37 * i % 100},{53 * i % 70},10," for i in range(20)],
            "line": [f"{20 * i},0,10," for i in range(20)],
        }
        for name, rows in tables.items():
            texts = self.texts_of(self.drawn_table(rows))
            self.assertIn("no values", texts, name)
            self.assertIn("Easting (m)", texts, name)

    def test_curves_without_values_at_their_ends_are_as_long_as_others(self):
        rows = [f"{10 * i},5,10,{0.1 * i if i > 3 else ''},{1 + 0.1 * i}" for i in range(10)]
        texts = self.texts_of(self.drawn_table(rows, "easting,northing,upward,gz,gzz"))
        self.assertEqual(texts.count("20"), 2, texts)

    def test_stations_with_an_empty_name_are_on_no_survey_line(self):
        for word in ("", "L"):
            rows = [f"{20 * i},{300 * k + 7 * (i % 5)},10,{i},{word + str(k + 1) if i < 37 else ''}"
                    for k in range(3) for i in range(40)]
            svg = self.drawn_table(rows, "easting,northing,upward,gz,line")
            texts = self.texts_of(svg)
            self.assertTrue(any(text.startswith("120 stations on 3 lines, 9 on none") for text in texts), texts)
            self.assertNotIn("nan", texts)
            self.assertEqual(svg.count("fill: #ffffff; opacity: 0.45"), 3)

    def test_values_of_other_files_are_not_drawn(self):
        self.done("run", "case.yaml", "--output", "r.nc")
        made = {
            "external": "del f['gz']; f.create_dataset('gz', shape, dtype='f8', external=[('gz.raw', 0, 8 * f0.size)])",
            "virtual": "del f['gz']; layout = h5py.VirtualLayout(shape, 'f8'); "
                       "layout[...] = h5py.VirtualSource('r.nc', 'gz', shape); f.create_virtual_dataset('gz', layout)",
            "link": "f['other'] = h5py.ExternalLink('r.nc', '/gz')",
            "cycle": "f.create_group('deep')['root'] = f['/']",
        }
        for name, change in made.items():
            shutil.copy(self.folder / "r.nc", self.folder / f"{name}.nc")
            self.write_by_xarray(f"import h5py\nf = h5py.File('{name}.nc', 'a')\nf0 = f['gz'][...]\nshape = f0.shape\n"
                                 f"open('gz.raw', 'wb').write(f0.tobytes())\n{change}\n")
            done = self.run_program("plot", f"{name}.nc", "--output", "f.png")
            self.assertNotEqual(done.returncode, 0, name)
            self.assertRegex(done.stderr + done.stdout, "other files|which is not opened|holds itself")
            self.assertFalse((self.folder / "f.png").exists())

    def test_files_of_other_shapes_are_refused_in_one_line(self):
        self.write_by_xarray("""
places = {name: ("point", np.arange(5.0) * k) for k, name in enumerate(("upward", "easting", "northing"))}
xr.Dataset({**places, "gz": ("point", np.arange(5.0))}).to_netcdf("list.nc")
xr.Dataset({**places, "gz": (("y", "x"), np.zeros((5, 4)))}).to_netcdf("grid.nc")
xr.Dataset({"gz": ("station", np.arange(5.0)), "easting": ("station", np.arange(5.0))}).to_netcdf("nowhere.nc")
low = np.arange(4.0)
rising, falling = (("cell", "side"), np.stack([low, low + 1], 1)), (("cell", "side"), np.stack([-low, -low - 1], 1))
def write_model(name, upward, shape=(4, 4, 4)):
    bounds = {"easting_bounds": rising, "northing_bounds": rising, "upward_bounds": upward}
    density = (("k", "j", "i"), np.ones(shape))
    xr.Dataset({"density": density, **{key: value for key, value in bounds.items() if value}}).to_netcdf(name)
write_model("model.nc", rising)
write_model("falling.nc", falling)
write_model("shape.nc", rising, (4, 4, 3))
write_model("flat.nc", ("cell", low))
write_model("no_heights.nc", None)
""")
        reasons = {
            "list": "gz has the dimensions (point), where a figure needs (station); "
                    "'prismfield convert list.nc other.nc' makes a file that has it",
            "grid": "gz has the dimensions (y, x), where a figure needs (northing, easting) or (station); "
                    "write the file with those names of dimensions",
            "nowhere": "holds no northing, upward, without which the places of its fields are unknown",
            "falling": "upward_bounds do not rise; cells are numbered from the western, southern and lower end",
            "shape": "density is of shape (4, 4, 3); the bounds make (upward, northing, easting) (4, 4, 4)",
            "flat": "upward_bounds is of shape (4,); a lower and an upper edge a cell are needed",
            "no_heights": "holds no upward_bounds: the lower and the upper edge of each cell",
        }
        for name, why in reasons.items():
            result = self.run_program("plot", name + ".nc", "--quiet")
            self.assertEqual((result.returncode, result.stdout), (1, ""), name)
            self.assertEqual(result.stderr, f"error: no figure {name}.png: {name}.nc: {why}\n")
        self.done("convert", "list.nc", "other.nc")
        self.done("plot", "other.nc")
        self.done("plot", "model.nc")

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

    def test_meshes_and_densities_alone(self):
        self.write("m.msh", "1 1 2\n0 0 0\n10\n10\n2*5\n")
        self.write("m.den", "0.1\n0.2\n")
        self.refused("plot", "m.den", lines=["m.den: holds numbers without a mesh; prismfield convert m.den m.h5 --mesh "
                                             "m.msh makes a model that plot draws"])
        self.refused("plot", "m.msh", lines=["m.msh: holds a mesh alone, so there is nothing to draw; prismfield convert "
                                             "makes a model of it and a file of densities"])

    def test_a_signal_leaves_no_file_behind(self):
        self.write("r.csv", "easting,northing,upward,gz [mGal]\n" + "".join(f"{i},0,1,{i}\n" for i in range(9)))
        python = self.write("python", "#!/bin/sh\ntouch \"$MARK\"\nexec sleep 600\n")
        python.chmod(0o700)
        with tempfile.TemporaryDirectory() as elsewhere:
            mark = pathlib.Path(elsewhere) / "started"
            self.stopped(signal.SIGTERM, mark.exists, "plot", "r.csv",
                         env={**os.environ, "PRISMFIELD_PYTHON": str(python), "MARK": str(mark)})

    def test_names_of_figures(self):
        self.done("run", "case.yaml", "--output", "r.nc", "--quiet")
        self.refused("plot", "r.nc", "--output", "f.gif",
                     lines=["--output: no kind of figure ends in '.gif'; allowed: .png, .pdf, .svg"])
        self.refused("plot", "r.nc", "--output", "gone/f.png",
                     lines=["--output: the folder gone does not exist; make it first"])

    def test_without_its_drawing_programs_it_names_their_folder(self):
        program = self.folder / "other/bin/prismfield"
        program.parent.mkdir(parents=True)
        shutil.copy(self.program, program)
        self.program = str(program)
        result = self.run_program("run", "case.yaml", "--output", "r.nc", "--set", "output.figure=f.png")
        self.assertEqual(result.returncode, 0)
        warning = (f"no figure f.png: the Python package is not in {self.folder}/other/share/prismfield/python; "
                   "'cmake --install' puts it there with the program")
        self.assertEqual(result.stderr.count(warning), 1, result.stderr)
        result = self.run_program("plot", "r.nc")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(warning.replace("f.png", "r.png"), result.stderr)

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
