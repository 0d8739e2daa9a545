#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Times the seven spheres from end to end.

    seven_spheres.py build/openmp/bin/prismfield
    seven_spheres.py build/openmp/bin/prismfield --threads 2 --repeats 5 \\
        --vary execution.space=serial,openmp --vary execution.precision=double,mixed,single
    seven_spheres.py build/cuda/bin/prismfield --set fields=all --vary execution.block=64,128,256

Every combination of the --vary values is run once in each of the repeats, so that a machine that slows down slows all
of them. Times: field (kernel and reductions), total (as the result states it), process (start to end of the program).
Needs h5py or netCDF4, as Debian's python3-h5py and python3-netcdf4.
"""

import argparse
import csv
import itertools
import pathlib
import sys
import tempfile

import prismfield_runs as runs

CASE = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "seven_spheres.yaml"
TIMES = ("field_seconds", "total_seconds", "process_seconds", "cpu_seconds")
FACTS = ("space", "device", "threads", "slots", "batch", "block", "precision", "kernel", "pairs")


def axis(text):
    """`key=a,b,c` as a list of settings; a comma inside brackets does not separate."""
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise argparse.ArgumentTypeError(f"{text}: write key.path=value,value,...")
    parts, depth = [""], 0
    for letter in values:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [f"{key}={part}" for part in parts]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prismfield", type=pathlib.Path, help="the program")
    parser.add_argument("--case", type=pathlib.Path, default=CASE, help="another case than inputs/seven_spheres.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--vary", action="append", default=[], type=axis, metavar="KEY=A,B,...")
    parser.add_argument("--threads", type=int, help="OMP_NUM_THREADS of the runs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warm-up", action="store_true", help="one run before the first, not counted")
    parser.add_argument("--csv", type=pathlib.Path, default=pathlib.Path("seven_spheres_times.csv"))
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def main():
    options = arguments()
    points = list(itertools.product(*options.vary))
    rows = []
    print(f"{runs.processor()}, {runs.load_note()} at the start")
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "result.h5"
        if options.warm_up:
            runs.run(options.prismfield, options.case, options.settings + list(points[0]), output, options.threads)
        for repeat in range(options.repeats):
            for point in points:
                settings = options.settings + list(point)
                seen = runs.run(options.prismfield, options.case, settings, output, options.threads)
                row = {"repeat": repeat, "point": " ".join(point) or "as the case says"}
                row.update({name: seen[name] for name in FACTS + TIMES})
                rows.append(row)
                print(f"repeat {repeat + 1}: {row['point']}: field {row['field_seconds']:.3f} s", file=sys.stderr)
    with open(options.csv, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)

    print(f"{options.repeats} repeats; median (smallest ... largest)")
    print("| run | field s | total s | process s | CPU s | pairs/s | ns per pair |")
    print("|---|---|---|---|---|---|---|")
    for point in points:
        name = " ".join(point) or "as the case says"
        own = [row for row in rows if row["point"] == name]
        cells = [name]
        for key in TIMES:
            low, middle, high = runs.spread([row[key] for row in own])
            cells.append(f"{middle:.3f} ({low:.3f} ... {high:.3f})")
        pairs = own[0]["pairs"]
        middle = runs.spread([row["field_seconds"] for row in own])[1]
        cells += [f"{pairs / middle:.3e}", f"{1e9 * middle / pairs:.3f}"]
        print("| " + " | ".join(cells) + " |")
    first = rows[0]
    print(
        f"{first['pairs']:,} pairs; {first['space']} on {first['device']}, {first['threads']} threads, "
        f"{first['slots']} slots, batches of {first['batch']} (first run); {runs.load_note()} at the end"
    )
    print(f"every run: {options.csv}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (runs.RunFailed, OSError, ImportError) as error:
        sys.exit(f"seven_spheres.py: {error}")
