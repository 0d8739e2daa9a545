#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Time and memory of an inversion of any size, from seeded data to the target misfit.

    perf/inversion_scale.py build/openmp/bin/prismfield                        # 2,974 stations, 1,509,748 cells, gz
    perf/inversion_scale.py PROGRAM --fields gz,gzz --set sensitivity.store=none
    perf/inversion_scale.py PROGRAM --stations 500 --cells 40,40,30 --folder small
    perf/inversion_scale.py PROGRAM --launcher "mpirun -n 2"

Stations are scattered at random heights over a mesh of 50 m cells with bodies in it; `prismfield run` makes their data
with noise, `prismfield invert` inverts them. Where --active names fewer cells than the mesh has, a corner of its top
layer is above the topography. Prints the inversion's own table and, of the whole process, seconds and peak memory.
"""

import argparse
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time


def write_case(folder, stations, cells, active, fields):
    nx, ny, nz = cells
    easting, northing, depth = 50 * nx, 50 * ny, 25 * nz
    inactive = nx * ny * nz - active
    if not 0 <= inactive < nx * ny:
        sys.exit(f"{active} active cells of {nx} x {ny} x {nz}: at most a layer of them can be inactive")
    rows = ["easting,northing,upward"]
    for j in range(ny):
        for i in range(nx):
            height = -20 if j * nx + i < inactive else 0
            rows.append(f"{50 * i + 25},{50 * j + 25},{height}")
    (folder / "terrain.csv").write_text("\n".join(rows) + "\n")
    noise = ", ".join(f"{field}: {0.02 if len(field) == 2 else 1}" for field in fields)
    (folder / "scale.yaml").write_text(
        f"""title: {stations} stations, {active} cells
fields: [{", ".join(fields)}]
model:
  voxels:
    easting: [0, {easting}, {nx}]
    northing: [0, {northing}, {ny}]
    upward: [-{depth}, 0, {nz}]
    density: 0
    spheres:
      - {{center: [{0.3 * easting}, {0.6 * northing}, -{0.3 * depth}], radius: {0.12 * depth + 150}, density: 400}}
      - {{center: [{0.7 * easting}, {0.3 * northing}, -{0.4 * depth}], radius: {0.15 * depth + 150}, density: -300}}
    boxes:
      - {{easting: [{0.5 * easting}, {0.54 * easting}], northing: [{0.4 * northing}, {0.9 * northing}],
         upward: [-{0.5 * depth}, -100], density: 250}}
observations:
  stations: {{random: {stations}, easting: [100, {easting - 100}], northing: [100, {northing - 100}],
             upward: [30, 120], seed: 5}}
  noise: {{{noise}, seed: 6}}
inversion:
  data: {{file: data.h5}}
  topography: {{file: terrain.csv}}
output: {{file: {folder / "model.h5"}}}
"""
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--stations", type=int, default=2974)
    parser.add_argument("--cells", default="124,123,99", help="cells towards easting, northing, upward")
    parser.add_argument("--active", type=int, help="default: 1,509,748 of the default mesh, else all")
    parser.add_argument("--fields", default="gz", help="such as gz,gzz")
    parser.add_argument("--folder", default="inversion_scale")
    parser.add_argument("--launcher", default="", help="before the program, such as 'mpirun -n 4'")
    parser.add_argument("--set", action="append", default=[], help="a key of the case, as of prismfield invert")
    options = parser.parse_args()
    cells = tuple(int(n) for n in options.cells.split(","))
    whole = cells[0] * cells[1] * cells[2]
    active = options.active or (1509748 if cells == (124, 123, 99) else whole)
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_case(folder, options.stations, cells, active, options.fields.split(","))
    launch = [*shlex.split(options.launcher), options.program]
    case = str(folder / "scale.yaml")
    subprocess.run([*launch, "run", case, "--quiet", "--output", str(folder / "data.h5")], check=True)
    settings = [word for key in options.set for word in ("--set", key)]
    begin = time.time()
    ended = subprocess.run([*launch, "invert", case, *settings], text=True, stdout=subprocess.PIPE)
    seconds = time.time() - begin
    print(ended.stdout, end="")
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    products = [int(n) for n in re.findall(r"([\d,]+) products", ended.stdout.replace(",", ""))]
    print(
        f"whole process: {seconds:.1f} s, processor {used.ru_utime + used.ru_stime:.1f} s, peak memory of a process "
        f"{used.ru_maxrss / 2**20:.2f} GiB, {products[-1] if products else '?'} products"
    )


if __name__ == "__main__":
    main()
