#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Times prismfield beside other programs for prisms, on the same prisms, points and threads, in the same run.

    compare.py build/openmp/bin/prismfield
    compare.py build/openmp/bin/prismfield --case inputs/seven_spheres.yaml --turns 5 --threads 1 2

harmonica, choclo, SimPEG and polyhedral-gravity come from PyPI (requirements.txt) into an environment of their own
below the work folder; GMT gravprisms (Debian: gmt) and the programs of tesseroids are taken where they are on PATH.
First every program computes every component at random points of the case's grid, which have to agree with
prismfield's, the gravitational constants and axes made equal; a component that does not agree is not timed. Then they
take turns. A program computes as many points as it needs for --seconds, prismfield the whole grid; times are by
prism-point pair, each turn gives a ratio. Writes peers.md, peers.csv, peers.png and peers.svg into --output. Exit
codes: 0, 1 when answers disagree.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
ALL = "all nine"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prismfield", help="the program")
    parser.add_argument(
        "--case", type=pathlib.Path, default=ROOT / "inputs" / "one_sphere.yaml", help="voxels of spheres"
    )
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "peers", help="folder of the environment")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("peers"), help="folder of table and figure")
    parser.add_argument("--threads", type=int, nargs="+", help="default: 1 and all cores")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="about so long for a component of another program")
    parser.add_argument("--components", nargs="+", help="default: all nine, each by itself and together")
    parser.add_argument("--programs", nargs="+", help="default: all that are there")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="max|difference| of a field / its largest value")
    parser.add_argument("--seed", type=int, default=1, help="of the random points")
    return parser.parse_args()


def enter_environment(work):
    """Starts this script again in the work folder's own environment, which is made where it is not there yet."""
    folder = (work / "environment").resolve()
    if pathlib.Path(sys.prefix).resolve() == folder:
        return
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    ready, python = folder / "ready.txt", folder / "bin" / "python"
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        print(f"making {folder}: some minutes", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--requirement", str(HERE / "requirements.txt")], check=True)
        ready.write_text(wanted, encoding="utf-8")
    os.execv(python, [str(python), *sys.argv])


def chosen_points(points, n, seed):
    """n random points of the grid, and their numbers."""
    import numpy as np

    numbers = np.random.default_rng(seed).permutation(points[0].size)[:n]
    return numbers, tuple(np.ascontiguousarray(c[numbers]) for c in points)


class Disagreement(Exception):
    pass


def agreement(program, ours, points, fields, scale, seed, threads):
    """{field: largest difference / largest value} between a program and prismfield at some points."""
    import numpy as np

    numbers, some = chosen_points(points, min(20, points[0].size), seed)
    found = program.compute(fields, some, threads)
    differences = {}
    for field in fields:
        values = np.asarray(found[field]) * scale
        if values.shape != numbers.shape:
            raise Disagreement(f"{program.name} gave {values.size} values of {field} at {numbers.size} points")
        worst = np.abs(values - ours[field][numbers]).max() / np.abs(ours[field]).max()
        differences[field] = float(worst) if np.isfinite(worst) else float("inf")
    return differences


def timed(program, fields, points, threads):
    """Seconds by the clock and of processors."""
    import programs as peers

    processor, begin = peers.processor_seconds(), time.perf_counter()
    program.compute(fields, points, threads)
    return time.perf_counter() - begin, peers.processor_seconds() - processor


def points_for(program, fields, points, threads, seconds, seed):
    """As many random points as take a program about so many seconds, measured after a first call that compiles."""
    seconds *= program.patience
    n = min(4, points[0].size)
    program.compute(fields, chosen_points(points, n, seed)[1], threads)
    # What a program does once a call counts less with more points, so that this takes several steps.
    for _ in range(8):
        some = chosen_points(points, n, seed)[1]
        taken, _ = timed(program, fields, some, threads)
        if taken > 0.6 * seconds or n == points[0].size:
            break
        n = min(points[0].size, max(n + 1, int(n * min(8, seconds / max(taken, 1e-6)))))
    return some


def spread(values):
    return statistics.median(values), min(values), max(values)


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def load_text():
    return f"load average {os.getloadavg()[0]:.1f}"


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def table_text(rows, programs, threads, columns, turns):
    """Markdown: nanoseconds a pair and ratios, tables for each number of threads."""
    kinds = {
        "ns_per_pair": "ns per pair by the clock",
        "ratio": "times as long as prismfield by the clock, by turn",
        "processor_ratio": "times as much processor time, by turn; of prismfield all of the program's run",
    }
    lines = []
    for n in threads:
        for key, words in kinds.items():
            lines += [f"\n{n} thread{'s' if n > 1 else ''}, {words}: median of {turns} turns [least, most]\n"]
            lines += ["| program | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
            for program in programs:
                if key != "ns_per_pair" and program == programs[0]:
                    continue
                cells = []
                for column in columns:
                    own = [r[key] for r in rows if (r["program"], r["threads"], r["component"]) == (program, n, column)]
                    cells.append("{} [{}, {}]".format(*map(number, spread(own))) if own else "")
                if any(cells):
                    lines.append(f"| {program} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(rows, programs, threads, columns, title, below, target):
    """Nanoseconds a pair of every program, a row each, at the largest number of threads that it uses."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    shown = [c for c in ("gz", "gzz", ALL) if c in columns] or columns[:3]
    figure, axes = plt.subplots(figsize=(7.4, 1.3 + 0.62 * len(programs)), layout="constrained")
    labels = []
    for row, program in enumerate(programs):
        used = max((r["threads"] for r in rows if r["program"] == program), default=None)
        labels.append(f"{program}\n{used} thread{'s' if used and used > 1 else ''}" if used else program)
        for c, column in enumerate(shown):
            own = [
                r["ns_per_pair"]
                for r in rows
                if (r["program"], r["threads"], r["component"]) == (program, used, column)
            ]
            if not own:
                continue
            middle, low, high = spread(own)
            at = row + 0.22 * (c - (len(shown) - 1) / 2)
            axes.plot([low, high], [at, at], color=COLOURS[c], linewidth=1.4)
            axes.plot([middle], [at], "os^"[c % 3], color=COLOURS[c], markersize=6, label=column if row == 0 else None)
            axes.annotate(number(middle), (high, at), (7, 0), textcoords="offset points", fontsize=7.5, va="center")
    axes.set_yticks(range(len(programs)), labels, fontsize=9)
    axes.set_ylim(len(programs) - 0.45, -0.55)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * 2)
    axes.xaxis.set_major_locator(LogLocator(base=10))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("Time per prism-point pair (ns)", fontsize=9.5)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8.5, frameon=False)
    axes.set_title(title, fontsize=11, fontweight="bold", loc="left", pad=20)
    axes.annotate(below, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=8, color="0.45")
    for kind in ("png", "svg"):
        figure.savefig(f"{target}.{kind}", dpi=170, facecolor="white", bbox_inches="tight")
    plt.close(figure)


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    enter_environment(options.work)
    sys.path.insert(0, str(HERE))
    import model as model_of
    import programs as peers

    cores = len(os.sched_getaffinity(0))
    threads = sorted(set(options.threads or [1, cores]))
    if threads[-1] > cores:
        raise ValueError(f"--threads {threads[-1]}: this process may use {cores} cores")
    # Libraries that count the cores for themselves find as many as there are threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: threads[-1]])
    components = options.components or list(peers.FIELDS)
    for name in components:
        if name not in peers.FIELDS:
            raise ValueError(f"--components {name}: allowed are {', '.join(peers.FIELDS)}")
    for name in options.programs or []:
        if name not in peers.PEERS:
            raise ValueError(f"--programs {name}: allowed are {', '.join(peers.PEERS)}")
    whole = not options.components
    columns = components + ([ALL] if whole else [])

    model, points = model_of.read_case(options.case)
    n_prisms, n_points = len(model.prisms), points[0].size
    us = peers.Prismfield(options.work, options.prismfield, options.case)
    _, _, pairs, ours = us.run(components, threads[-1])
    if pairs != n_prisms * n_points:
        raise ValueError(f"prismfield counts {pairs:,} pairs, this script {n_prisms * n_points:,}")
    head = f"{processor_name()}, {cores} cores, {load_text()} at the start; {options.case.name}: {n_prisms:,} prisms x "
    head += f"{n_points:,} points, double precision\n\n"
    versions = [f"prismfield {us.version()}"]

    chosen, notes, differences, agree = [], [], {}, True
    for name, kind in peers.PEERS.items():
        if options.programs and name not in options.programs:
            continue
        program = kind(options.work)
        why = program.missing()
        if not why and not program.threads_among(threads):
            why = "it has one thread; add 1 to --threads"
        if why:
            notes.append(f"{name}: not timed, {why}")
            continue
        try:
            program.prepare(model)
            own = [field for field in components if field in program.fields]
            scale = peers.Program.constant / program.constant
            differences[name] = agreement(program, ours, points, own, scale, options.seed, threads[-1])
        except (Disagreement, ImportError, RuntimeError) as error:
            notes.append(f"{name}: not timed, {error}")
            agree = False
            continue
        program.timed_fields = [field for field in own if differences[name][field] <= options.tolerance]
        wrong = [field for field in own if field not in program.timed_fields]
        if wrong:
            agree = False
            notes.append(f"{name}: not timed, since they disagree: {', '.join(wrong)}")
        versions.append(f"{name} {program.version()}" + (f" ({program.note})" if program.note else ""))
        print(f"{name}: agrees to {max(differences[name].values()):.1e}", file=sys.stderr)
        if program.timed_fields:
            chosen.append(program)

    # Points of each program, number of threads and column; a program that always computes all has one time for all.
    plans = {}
    for program in chosen:
        for n in program.threads_among(threads):
            sets = {field: [field] for field in program.timed_fields}
            if getattr(program, "always_all", False):
                sets = {ALL: program.timed_fields}
            elif whole and program.together and len(program.timed_fields) == len(peers.FIELDS):
                sets[ALL] = list(peers.FIELDS)
            for column, fields in sets.items():
                share = options.seconds * (2 if len(fields) > 1 else 1)
                plans[program.name, n, column] = fields, points_for(program, fields, points, n, share, options.seed)

    rows = []
    by_name = {program.name: program for program in chosen}
    for turn in range(1, options.turns + 1):
        own = {}

        def add(name, n, column, size, clock, processor):
            """A row; times are of n_prisms x size pairs."""
            ns = [1e9 * seconds / (n_prisms * size) for seconds in (clock, processor)]
            if name == us.name:
                own[n, column] = ns
            ratios = [a / b for a, b in zip(ns, own[n, column])]
            row = {"turn": turn, "program": name, "threads": n, "component": column, "prisms": n_prisms, "points": size}
            row |= {"seconds": clock, "ns_per_pair": ns[0], "ratio": ratios[0]}
            rows.append(row | {"processor_seconds": processor, "processor_ns": ns[1], "processor_ratio": ratios[1]})

        for n in threads:
            for column in columns:
                clock, processor, _, _ = us.run(list(peers.FIELDS) if column == ALL else [column], n)
                add(us.name, n, column, n_points, clock, processor)
        for (name, n, column), (fields, some) in plans.items():
            seconds = timed(by_name[name], fields, some, n)
            asked = [column]
            if getattr(by_name[name], "always_all", False):
                right = by_name[name].timed_fields
                # all nine have a time where all nine are right
                asked = [c for c in columns if c in right or (c == ALL and len(right) == len(peers.FIELDS))]
            for c in asked:
                add(name, n, c, some[0].size, *seconds)
        for program in chosen:
            # One field after the other: the nine take the sum of the nine.
            if not whole or program.together or len(program.timed_fields) != len(peers.FIELDS):
                continue
            for n in program.threads_among(threads):
                mine = [r for r in rows if (r["turn"], r["program"], r["threads"]) == (turn, program.name, n)]
                sums = [1e-9 * n_prisms * sum(r[key] for r in mine) for key in ("ns_per_pair", "processor_ns")]
                size = mine[0]["points"]
                add(program.name, n, ALL, size, *(size * seconds for seconds in sums))
        print(f"turn {turn} of {options.turns}, {load_text()}", file=sys.stderr)

    names = ["prismfield", *by_name]
    text = head + "Programs: " + "; ".join(versions) + ".\n"
    text += table_text(rows, names, threads, columns, options.turns)
    text += "\nLargest difference / largest value of the field, constants and axes made equal\n\n"
    text += "| program | " + " | ".join(components) + " |\n|---|" + "---|" * len(components) + "\n"
    for name, own in differences.items():
        text += f"| {name} | " + " | ".join(f"{own[f]:.1e}" if f in own else "" for f in components) + " |\n"
    text += "".join(f"\n{note}.\n" for note in notes) + f"\n{load_text()} at the end.\n"

    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "peers.md").write_text(text, encoding="utf-8")
    with open(options.output / "peers.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    title = f"{n_prisms:,} prisms, double precision"
    draw(
        rows,
        names,
        threads,
        columns,
        title,
        f"{processor_name()}, {options.turns} turns, median and range",
        options.output / "peers",
    )
    print(text)
    return 0 if agree else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"compare.py: {error}")
