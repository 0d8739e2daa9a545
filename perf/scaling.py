#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Strong or weak scaling of a case over ranks (and threads), as a table, a CSV and a figure.

    scaling.py PRISMFIELD CASE.yaml --configurations 1x1 1x2 2x1 [--weak] [--set KEY=VALUE ...] [--repeats 3]
               [--mpiexec "mpirun"] [--csv FILE] [--figure FILE]

A configuration is ranks x threads; on GPUs every rank takes one card, and threads count nothing. The time is the field
time of the result (kernels and reductions), the best of the repeats; configurations take turns, so that a busy machine
slows all of them alike. --weak multiplies the points of the grid (northing) by the ranks x threads of the
configuration. Efficiency: strong T1 / (n Tn), weak T1 / Tn, against the first configuration. Needs h5py; the figure
needs matplotlib.
"""

import argparse
import csv
import os
import shlex
import subprocess
import sys
import tempfile

import h5py


def run(options, ranks, threads, folder):
    words = []
    if ranks > 1:
        words = [*shlex.split(options.mpiexec), "-n", str(ranks)]
    result = os.path.join(folder, "result.h5")
    words += [options.program, "run", options.case, "--quiet", "--output", result, "--set", "output.figure=null"]
    for assignment in options.set:
        words += ["--set", assignment]
    if options.weak:
        low, high, count = options.weak_axis
        words += ["--set", f"observations.grid.northing=[{low}, {high}, {count * ranks * threads}]"]
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
    subprocess.run(words, check=True, env=environment)
    with h5py.File(result) as file:
        performance = file["performance"]
        return {
            "seconds": float(performance.attrs["field_seconds"]),
            "pairs": int(performance.attrs["pairs"]),
            "busy": [float(v) for v in performance["rank_busy_seconds"][:]],
            "device": performance.attrs["device"],
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("case")
    parser.add_argument("--configurations", nargs="+", required=True, metavar="RANKSxTHREADS")
    parser.add_argument("--weak", nargs=3, metavar=("MIN", "MAX", "POINTS"), help="the grid's northing on one core")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mpiexec", default="mpirun --bind-to none")
    parser.add_argument("--gpus", action="store_true", help="a unit is a rank with its card, not a core")
    parser.add_argument("--title")
    parser.add_argument("--csv")
    parser.add_argument("--figure")
    options = parser.parse_args()
    options.weak_axis = (options.weak[0], options.weak[1], int(options.weak[2])) if options.weak else None

    configurations = [tuple(int(n) for n in word.split("x")) for word in options.configurations]
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.repeats):
            for configuration in configurations:
                measured = run(options, *configuration, folder)
                if configuration not in best or measured["seconds"] < best[configuration]["seconds"]:
                    best[configuration] = measured

    def units(configuration):
        ranks, threads = configuration
        return ranks if options.gpus else ranks * threads

    first = configurations[0]
    rows = []
    for configuration in configurations:
        seconds = best[configuration]["seconds"]
        speed_up = best[first]["seconds"] / seconds * (1 if not options.weak else units(configuration) / units(first))
        rows.append({
            "ranks": configuration[0],
            "threads": configuration[1],
            "seconds": round(seconds, 4),
            "pairs_per_second": f"{best[configuration]['pairs'] / seconds:.4g}",
            "speed_up": round(speed_up, 3),
            "efficiency": round(speed_up * units(first) / units(configuration), 3),
            "least_busy_rank": round(min(best[configuration]["busy"]), 4),
        })
    print(" ".join(f"{key:>16}" for key in rows[0]))
    for row in rows:
        print(" ".join(f"{value!s:>16}" for value in row.values()))
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    if options.figure:
        draw(options, rows, best[first]["device"])


def draw(options, rows, device):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.4, 4), constrained_layout=True)

    def units(row):
        return row["ranks"] if options.gpus else row["ranks"] * row["threads"]

    most = max(units(row) for row in rows)
    axes.plot([1, most], [1, most], color="0.7", label="ideal")
    line = [row for row in rows if options.gpus or row["ranks"] == 1]
    axes.plot([units(row) for row in line], [row["speed_up"] for row in line], "o-", color="C0",
              label="GPUs, one rank each" if options.gpus else "threads of one rank")
    others = [row for row in rows if row not in line]
    if others:
        axes.plot([units(row) for row in others], [row["speed_up"] for row in others], "s", color="C1", mfc="none",
                  label="ranks x threads")
    for row in rows:
        text = f"{100 * row['efficiency']:.0f} %"
        side = 1
        if row in others:
            text = f"{row['ranks']} x {row['threads']}"
            side = -1
        axes.annotate(text, (units(row), row["speed_up"]), textcoords="offset points", xytext=(6 * side, -3), fontsize=8,
                      ha="left" if side > 0 else "right")
    axes.set_xlim(0, 1.12 * most)
    axes.set_ylim(0, 1.05 * most)
    axes.set_xlabel("GPUs" if options.gpus else "cores")
    axes.set_ylabel("scaled speed-up" if options.weak else "speed-up")
    name = device.decode() if isinstance(device, bytes) else str(device)
    axes.set_title(options.title or name, fontsize=9)
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(options.figure, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
