#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Times of the tree by numbers of prisms and points and by tolerance: the table of docs/methods.md.

    perf/tree_table.py build/openmp/bin/prismfield                       # two cores: 1 min
    perf/tree_table.py build/cuda/bin/prismfield --set execution.space=cuda
    perf/tree_table.py PROGRAM --largest 100000

Cubes of 50 m with random densities of both signs, nine fields at random points 80 to 300 m above them or, in the last
row, between them. Seconds are those of trees, fields and check, without reading and writing; pairs by direct are not
computed but estimated from pairs timed on the machine. Beside them the largest error found.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py

PROBLEMS = ((1.0, 1.0, True), (1.0, 0.01, True), (0.008, 1.0, True), (1.0, 1.0, False))  # prisms, points, above
TOLERANCES = ("1e-4", "1e-6", "1e-8", "1e-10")


def write_case(file, prisms, points, is_above):
    n = round(prisms ** (1 / 3))
    edge = 50 * n
    upward = [80, 300] if is_above else [-edge, 0]
    file.write_text(
        f"""model:
  voxels: {{easting: [0, {edge}, {n}], northing: [0, {edge}, {n}], upward: [-{edge}, 0, {n}], density: {{random: [-500, 500]}}}}
observations:
  stations: {{random: {points}, easting: [0, {edge}], northing: [0, {edge}], upward: {json.dumps(upward)}, seed: 3}}
fields: [vector, tensor]
"""
    )
    return n**3


def run(program, *arguments):
    done = subprocess.run([program, "run", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr or done.stdout)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--largest", type=int, default=1000000, help="prisms and points of the largest problem")
    parser.add_argument("--set", action="append", default=[], help="passed to the program")
    options = parser.parse_args()
    settings = [word for setting in options.set for word in ("--set", setting)]
    print(
        f"{'prisms':>9} {'points':>9} {'where':<8}{'direct 1e-6':>12}"
        + "".join(f"{'tree ' + x:>20}" for x in TOLERANCES)
    )
    with tempfile.TemporaryDirectory() as folder:
        case, result = pathlib.Path(folder, "case.yaml"), pathlib.Path(folder, "fields.h5")
        for of_prisms, of_points, is_above in PROBLEMS:
            points = round(of_points * options.largest)
            prisms = write_case(case, of_prisms * options.largest, points, is_above)
            line = f"{prisms:>9,} {points:>9,} {'above' if is_above else 'between':<8}"
            plan = run(options.program, str(case), "--dry-run", "--set", "execution.tolerance=1e-6", *settings)
            line += f"{re.search(r'^ +direct +([^,]+),', plan, re.M)[1]:>12}"
            for tolerance in TOLERANCES if is_above else TOLERANCES[1:2]:
                method = ("--set", "execution.method=tree", "--set", f"execution.tolerance={tolerance}")
                text = run(options.program, str(case), "--output", str(result), *method, *settings)
                with h5py.File(result) as file:
                    told = file["performance"].attrs
                    seconds = sum(float(told[key]) for key in ("setup_seconds", "field_seconds", "check_seconds"))
                error = re.search(r"within (\S+) of the largest", text)[1]
                line += f"{f'{seconds:.2f} s, {error}':>20}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
