# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Makes the data files of the examples: irregular.csv, elevation.nc, stations.csv, stations_density.txt, borehole.csv,
survey_terrain.csv, survey_stations.csv.

    python3 make_data.py            # needs numpy and netCDF4; writes beside this script

The files are kept, so this is needed only to change them. They are invented, with plausible shapes and densities.
"""

import pathlib

import netCDF4
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent


def write_table(name, header, rows, comment):
    lines = [f"# {comment}", ",".join(header)]
    lines += [",".join(f"{value:g}" if abs(value) < 1e5 else f"{value:.1f}" for value in row) for row in rows]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def irregular():
    """A basin of two layers in columns of 500 m to 1 km, an intrusion of wide slabs, an ore body of small blocks."""

    def depth(easting, northing):
        bowl = ((easting - 8500) / 4200) ** 2 + ((northing - 10000) / 4500) ** 2
        return 2600 * np.exp(-0.7 * bowl) - 60

    # narrow columns at the basin's western flank, where a fault makes it steep
    edges_e = np.concatenate([np.arange(2000, 7000, 500), np.arange(7000, 20000, 1000)])
    edges_n = np.arange(0, 20001, 1000)
    rows = []
    for south, north in zip(edges_n[:-1], edges_n[1:]):
        for west, east in zip(edges_e[:-1], edges_e[1:]):
            floor = 10 * round(depth((west + east) / 2, (south + north) / 2) / 10)
            if west < 3500:
                floor = 0
            if floor < 20:
                continue
            rows.append((west, east, south, north, -min(floor, 800), 0, -450))
            if floor > 800:
                rows.append((west, east, south, north, -floor, -800, -280))
    # the intrusion, narrower upwards
    rows.append((5000, 13000, 6000, 14000, -9000, -7000, 220))
    rows.append((6000, 12000, 7000, 13000, -7000, -5500, 220))
    rows.append((7500, 10500, 8500, 11500, -5500, -4200, 260))
    # the ore body: dipping eastwards, 60 m to 200 m blocks
    for i, (width, thickness) in enumerate([(60, 60), (80, 70), (100, 90), (140, 120), (180, 150), (200, 160)]):
        west = 17200 + sum((60, 80, 100, 140, 180)[:i])
        top = -80 - sum((60, 70, 90, 120, 150)[:i])
        rows.append((west, west + width, 14900, 15300, top - thickness, top, 900))
    write_table(
        "irregular.csv",
        ("west", "east", "south", "north", "bottom", "top", "density"),
        rows,
        "A sedimentary basin, an intrusion and an ore body: metres, heights, kg/m3 against the basement",
    )


def elevation():
    """Hills of 300 m to 1200 m at the points of topography.yaml's grid."""
    easting = np.linspace(0, 20000, 81)
    northing = np.linspace(0, 16000, 65)
    e, n = np.meshgrid(easting, northing)
    height = 420 + 0.015 * e + 60 * np.sin(e / 1900) * np.cos(n / 2300)
    hills = ((5200, 11500, 480, 2600), (13800, 6800, 330, 2100), (16800, 12600, 250, 1500))
    for centre_e, centre_n, top, radius in hills:
        height += top * np.exp(-((e - centre_e) ** 2 + (n - centre_n) ** 2) / (2 * radius**2))
    # a valley from south to north
    height -= 170 * np.exp(-(((e - 9300 - 900 * np.sin(n / 3000)) / 900) ** 2))
    with netCDF4.Dataset(FOLDER / "elevation.nc", "w") as file:
        file.title = "Invented elevations for topography.yaml"
        for name, values, axis in (("northing", northing, "Y"), ("easting", easting, "X")):
            file.createDimension(name, len(values))
            variable = file.createVariable(name, "f8", (name,))
            variable.units, variable.axis = "m", axis
            variable[:] = values
        variable = file.createVariable("elevation", "f4", ("northing", "easting"), zlib=True, least_significant_digit=1)
        variable.units = "m"
        variable[:] = height


def stations():
    """Three roads over the mesh of stations.yaml, and the mesh's densities: a granite and a valley fill."""
    rows = []
    steps = np.linspace(0, 1, 40)
    for road in (
        lambda t: (431200 + 7600 * t, 5415600 + 900 * np.sin(3 * t)),
        lambda t: (434300 + 700 * np.sin(4 * t), 5412700 + 8400 * t),
        lambda t: (431500 + 7200 * t, 5420300 - 5600 * t),
    ):
        for t in steps:
            easting, northing = road(t)
            height = 260 + 60 * np.sin((easting - 430000) / 1500) * np.cos((northing - 5412000) / 1900)
            rows.append((round(easting, 1), round(northing, 1), round(float(height), 1)))
    write_table("stations.csv", ("easting", "northing", "upward"), rows, "Three roads, UTM, metres")

    widths = np.array([2000, 1000] + 8 * [500] + [1000, 2000])
    centres = np.cumsum(widths) - widths / 2
    edges = np.array([-4000, -2500, -1500, -900, -500, -200, 0, 200])
    heights = (edges[:-1] + edges[1:]) / 2
    lines = ["# g/cm3 against the host rock; 12 x 12 x 7 cells, easting fastest, then northing, then upward"]
    for height in heights:
        for northing in centres:
            for easting in centres:
                density = 0.0
                if np.hypot(easting - 4600, northing - 5400) < 2100 - 0.2 * (height + 4000) and height < -200:
                    density = -0.09
                if abs(northing - 3100 - 0.3 * easting) < 900 and height > -900:
                    density = -0.35 if height > -200 else -0.22
                lines.append(f"{density:g}")
    (FOLDER / "stations_density.txt").write_text("\n".join(lines) + "\n")


def borehole():
    write_table(
        "borehole.csv",
        ("easting", "northing", "upward"),
        [(1087.5, 1037.5, -depth) for depth in range(0, 1501, 10)],
        "A vertical hole, every 10 m, metres",
    )


def survey():
    """A ridge and a valley, and flight lines 60 m above them."""

    def height(easting, northing):
        ridge = 190 * np.exp(-(((easting - northing - 400) / 1100) ** 2))
        return 120 + ridge + 25 * np.sin(easting / 700) * np.cos(northing / 600)

    steps = np.arange(-200, 4201, 100)
    rows = [(e, n, round(float(height(e, n)), 1)) for n in steps for e in steps]
    write_table("survey_terrain.csv", ("easting", "northing", "upward"), rows, "Heights of the ground, metres")
    rows = []
    for line, northing in enumerate(np.arange(150, 3851, 185)):
        for easting in np.arange(150 + 40 * (line % 3), 3851, 185):
            e, n = float(easting), float(northing + 12 * np.sin(easting / 300))
            rows.append((round(e, 1), round(n, 1), round(float(height(e, n)) + 60, 1)))
    write_table("survey_stations.csv", ("easting", "northing", "upward"), rows, "Flight lines, metres")


if __name__ == "__main__":
    survey()
    irregular()
    elevation()
    stations()
    borehole()
