#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Sensitivities that are stored against those that are discarded and computed anew: prints a table over numbers of cells,
8 to 1e6, at 30 stations, for gz and for the gradient tensor. Each line is one `prismfield sensitivity`.

    perf/benchmark_sensitivity.py build/openmp/bin/prismfield
    perf/benchmark_sensitivity.py build/openmp/bin/prismfield --store file --folder /scratch --csv b3.csv

Options of the program go behind --: -- --set execution.space=cuda
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

CASE = """\
model:
  voxels: {{easting: [0, 10000, {n}], northing: [0, 10000, {n}], upward: [-10000, 0, {n}], density: 100}}
observations:
  stations: {{random: {stations}, seed: 3, easting: [0, 10000], northing: [0, 10000], upward: [50, 150]}}
fields: {fields}
sensitivity: {{store: {store}, precision: {precision}{file}}}
output: {{file: fields.h5}}
"""
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
COLUMNS = ["fields", "cells", "entries", "bytes", "made_s", "entries_per_s", "kept_ms", "anew_ms", "kept_transposed_ms",
           "anew_transposed_ms", "pays_after"]


def number(pattern, text, default=""):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found.group(1).replace(",", "")) if found else default


def measure(options, fields, n, folder):
    store = options.store + (", file: G.h5" if options.store == "file" else "")
    (folder / "case.yaml").write_text(CASE.format(n=n, stations=options.stations, fields=fields, store=store,
                                                  precision=options.precision, file=""), encoding="utf-8")
    (folder / "G.h5").unlink(missing_ok=True)
    command = [str(pathlib.Path(options.program).resolve()), "sensitivity", "case.yaml", *options.rest]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    text = result.stdout
    size = re.search(r"^sensitivities: stored .*? as \w+, ([\d.]+) (\w+)", text, re.MULTILINE)
    forth = re.search(r"^G m +(\S+) ms +(\S+) ms", text, re.MULTILINE)
    back = re.search(r"^G' d +(\S+) ms +(\S+) ms", text, re.MULTILINE)
    rate = number(r"([\d.e+]+) entries/s", text)
    entries = n**3 * options.stations * (1 if fields == "gz" else 6)
    return {
        "fields": fields, "cells": n**3, "entries": entries, "bytes": float(size.group(1)) * UNITS[size.group(2)],
        "made_s": entries / rate, "entries_per_s": rate, "kept_ms": float(forth.group(1)), "anew_ms": float(forth.group(2)),
        "kept_transposed_ms": float(back.group(1)), "anew_transposed_ms": float(back.group(2)),
        "pays_after": number(r"storing pays after ([\d,]+)", text),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--store", default="memory", choices=["memory", "device", "file"])
    parser.add_argument("--precision", default="double", choices=["double", "float", "float16"])
    parser.add_argument("--stations", type=int, default=30)
    parser.add_argument("--sides", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64, 100], help="cells along an edge of the box")
    parser.add_argument("--folder", help="where files of G go; default: a temporary one")
    parser.add_argument("--csv", help="writes the table there too")
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:cut])
    options.rest = arguments[cut + 1:]
    rows = []
    print("| fields | cells | G | made | entries/s | G m kept | anew | G' d kept | anew | pays after |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for fields in ("gz", "tensor"):
            for n in options.sides:
                row = measure(options, fields, n, pathlib.Path(folder))
                rows.append(row)
                pays = f"{row['pays_after']:.0f}" if row["pays_after"] != "" else "never"
                print(f"| {fields} | {row['cells']:,} | {row['bytes'] / 2**20:.3g} MiB | {row['made_s']:.2g} s | "
                      f"{row['entries_per_s']:.2g} | {row['kept_ms']:.3g} ms | {row['anew_ms']:.3g} ms | "
                      f"{row['kept_transposed_ms']:.3g} ms | {row['anew_transposed_ms']:.3g} ms | {pays} |", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
