#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Which of the benchmarks became slower from one build of prismfield to another.

    perf/compare_builds.py before/bin/prismfield after/bin/prismfield
    perf/compare_builds.py BEFORE AFTER --method instructions --limit 1 --json guard.json

Each benchmark is a small case of its own, run by both programs on one thread of the space serial; their results must
agree first. --method time: runs in turns, the ratio of processor times of each turn, its median and the 95 % interval of
that by bootstrap; slower is what lies beyond the limit with its whole interval above 1. --method instructions: what
valgrind's callgrind counts, without the dynamic loader and MPI, and the functions in which it grew; one run each, nearly
free of noise. --method auto (the default): time, and instructions for what is noisier than the limit. Valgrind 3.19
knows no AVX-512: builds of `cmake/bootstrap.sh build --portable` run under it.

Exit codes: 0 nothing is slower, 1 something is slower or computes something else, 2 an error in the arguments, 3 some
benchmark could not be decided: too much noise, and no callgrind for these builds.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# Cells of 100 m and points above: far pairs, nearly all by multipoles.
VOXELS = {
    "voxels": {
        "easting": [0, 2000, 20],
        "northing": [0, 2000, 20],
        "upward": [-1600, 0, 8],
        "density": {"random": [100, 3000], "seed": 1},
    }
}
FAR = {"grid": {"easting": [0, 2000, 24], "northing": [0, 2000, 24], "upward": 3000}}
# within the cells and on their faces
NEAR = {"grid": {"easting": [0, 2000, 12], "northing": [0, 2000, 12], "upward": -300}}
FEW_CELLS = {"voxels": dict(VOXELS["voxels"], easting=[0, 1000, 10], northing=[0, 1000, 10], upward=[-600, 0, 3])}
FEW_POINTS = {"grid": {"easting": [0, 1000, 10], "northing": [0, 1000, 10], "upward": 200}}
NINE = ["vector", "tensor"]


def benchmark(model, observations, fields, **execution):
    return {"model": model, "observations": observations, "fields": fields, "execution": execution}


# Name, case and how closely the results of two builds have to agree.
BENCHMARKS = {
    "far, nine fields, double": (benchmark(VOXELS, FAR, NINE), 1e-9),
    "far, nine fields, single": (benchmark(VOXELS, FAR, NINE, precision="single"), 1e-4),
    "far, gz, double": (benchmark(VOXELS, FAR, ["gz"]), 1e-9),
    "far, vector, double": (benchmark(VOXELS, FAR, ["vector"]), 1e-9),
    "far, tensor, double": (benchmark(VOXELS, FAR, ["tensor"]), 1e-9),
    "far, all ten fields, double": (benchmark(VOXELS, FAR, "all"), 1e-9),
    "near, nine fields, double": (benchmark(FEW_CELLS, NEAR, NINE), 1e-9),
    "near, nine fields, single": (benchmark(FEW_CELLS, NEAR, NINE, precision="single"), 1e-3),
    "corners, nine fields, double": (benchmark(FEW_CELLS, FEW_POINTS, NINE, kernel="corners"), 1e-7),
    "by points, nine fields, double": (benchmark(VOXELS, FAR, NINE, partition="points"), 1e-9),
    "many small batches": (benchmark(VOXELS, FAR, ["gz"], batch=8, slots=16), 1e-9),
    "prisms of many shapes": (
        benchmark(
            {
                "mesh": {
                    "easting": {"random_widths": [50, 200], "cells": 14, "origin": 0, "seed": 1},
                    "northing": {"random_widths": [50, 200], "cells": 14, "origin": 0, "seed": 2},
                    "upward": {"random_widths": [50, 200], "cells": 8, "top": 0, "seed": 3},
                    "density": {"random": [100, 3000], "seed": 7},
                }
            },
            FAR,
            NINE,
        ),
        1e-9,
    ),
    "one prism: start, files, end": (
        benchmark({"voxels": dict(VOXELS["voxels"], easting=[0, 100, 1], northing=[0, 100, 1], upward=[-100, 0, 1])},
                  {"grid": {"easting": [0, 100, 2], "northing": [0, 100, 2], "upward": 50}}, NINE),
        1e-9,
    ),
}

# What starts a process and passes messages is no part of the build.
FOREIGN = re.compile(r"/(ld-linux|ld-musl|libmpi|libopen-|libpmix|libevent|libhwloc|mca_|libpthread|libfabric|libucx)")


class Failed(Exception):
    pass


def environment():
    own = dict(os.environ, OMP_NUM_THREADS="1", OMP_PROC_BIND="false", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", LC_ALL="C")
    return own


def run(command, folder):
    """Processor seconds of a command and what it started. Throws Failed."""
    with open(folder / "said", "wb") as said:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        text = (folder / "said").read_text(errors="replace").strip().splitlines()
        raise Failed(f"{command[0]} ended with {process.returncode}: {text[-1] if text else 'nothing was said'}")
    return usage.ru_utime + usage.ru_stime


class Bench:
    """One benchmark in a folder of its own."""

    def __init__(self, programs, name, case, tolerance, work):
        self.name, self.programs, self.tolerance = name, programs, tolerance
        self.folder = work / re.sub(r"\W+", "_", name)
        self.folder.mkdir(parents=True, exist_ok=True)
        case = dict(case, execution=dict({"space": "serial"}, **case["execution"]))
        # JSON is YAML
        (self.folder / "case.yaml").write_text(json.dumps(case))

    def command(self, which):
        return [str(self.programs[which]), "run", "case.yaml", "--quiet", "--output", f"{which}.h5"]

    def check(self):
        """Says what is different in the results, "" when they agree."""
        for which in (0, 1):
            run(self.command(which), self.folder)
        result = subprocess.run(
            [str(self.programs[1]), "compare", "1.h5", "0.h5", "--tolerance", str(self.tolerance)],
            cwd=self.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode == 0:
            return ""
        if result.returncode == 3:
            return f"the results differ by more than {self.tolerance:g} of the largest value"
        raise Failed(f"the results cannot be compared: {result.stdout.strip().splitlines()[-1:]}")

    def times(self, turns):
        """Processor seconds [(before, after)] of runs in turns, the first of each turn the other one of the last."""
        pairs = []
        for turn in range(turns):
            seconds = [0.0, 0.0]
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                seconds[which] = run(self.command(which), self.folder)
            pairs.append(tuple(seconds))
        return pairs

    def instructions(self, which):
        """{function: instructions} of the program and the libraries that compute."""
        out = self.folder / f"callgrind.{which}"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
                   "--compress-pos=no", "--error-exitcode=0", *self.command(which)]
        run(command, self.folder)
        return read_callgrind(out)


def read_callgrind(path):
    """Self cost by function of a callgrind file without compression of names."""
    costs = collections.Counter()
    binary = function = ""
    inclusive = False
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line[0].isdigit() or line[0] in "+-*":
                fields = line.split()
                # behind `calls=` stands what the callee cost
                if not inclusive and len(fields) > 1 and not FOREIGN.search(binary):
                    costs[function] += int(fields[1])
                inclusive = False
            elif line.startswith("fn="):
                function = line[3:].strip()
            elif line.startswith("ob="):
                binary = line[3:].strip()
            elif line.startswith("calls="):
                inclusive = True
    if not costs:
        raise Failed(f"{path} holds no costs")
    return costs


def short_function(name):
    """A function without the arguments of its templates and calls."""
    text, depth = "", 0
    for c in re.sub(r"\(anonymous namespace\)::|'\d+$", "", name):
        depth += (c in "<(") - (c in ">)")
        if depth == 0 and c not in ">)":
            text += c
    return text.strip() or name


def grown(before, after):
    """The functions whose own instructions grew most: [(name, by)]."""
    totals = collections.Counter()
    for costs, sign in ((before, -1), (after, 1)):
        for function, cost in costs.items():
            totals[short_function(function)] += sign * cost
    return [(name, by) for name, by in totals.most_common(3) if by > 0]


def ratio_of_times(pairs):
    """Median of after/before over the turns, and its 95 % interval by bootstrap."""
    ratios = [after / before for before, after in pairs]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[50], medians[1949]


def runs_under_callgrind(bench):
    """"" when both builds run under callgrind, else why not."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    for which in (0, 1):
        result = subprocess.run(
            ["valgrind", "--tool=none", str(bench.programs[which]), "--version"], cwd=bench.folder, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if result.returncode != 0:
            unknown = re.search(r"(?i)illegal opcode|unhandled instruction|unrecognised instruction", result.stdout)
            why = "has instructions that valgrind does not know; build it with --portable" if unknown else "fails there"
            return f"{bench.programs[which]} {why}"
    return ""


def judge(bench, options, no_callgrind):
    """{verdict, method, ratio, low, high, functions} of one benchmark; verdict: same, slower, faster, noisy, other
    results."""
    different = bench.check()
    if different:
        return {"verdict": "other results", "why": different}
    limit = options.limit / 100
    found = {}
    if options.method != "instructions":
        ratio, low, high = ratio_of_times(bench.times(options.turns))
        found = {"method": "time", "ratio": ratio, "low": low, "high": high}
        if ratio > 1 + limit and low > 1:
            found["verdict"] = "slower"
        elif ratio < 1 - limit and high < 1:
            found["verdict"] = "faster"
        else:
            # an interval that reaches beyond the limit leaves both possible
            found["verdict"] = "same" if high <= 1 + limit else "noisy"
        if options.method == "time" or found["verdict"] != "noisy" or no_callgrind:
            return found
    before, after = bench.instructions(0), bench.instructions(1)
    ratio = sum(after.values()) / sum(before.values())
    verdict = "slower" if ratio > 1 + limit else "faster" if ratio < 1 - limit else "same"
    found = {"method": "instructions", "ratio": ratio, "before": sum(before.values()), "after": sum(after.values()),
             "verdict": verdict, "functions": grown(before, after) if verdict == "slower" else []}
    return found


def row(name, found):
    if "ratio" not in found:
        return f"{name:<32} {found['verdict']}: {found['why']}"
    if found["method"] == "time":
        numbers = f"{found['ratio']:6.3f}  ({found['low']:.3f} to {found['high']:.3f})"
    else:
        numbers = f"{found['ratio']:6.3f}  {found['before']:,} -> {found['after']:,}"
    text = f"{name:<32} {found['verdict']:<7} {found['method']:<12} {numbers}"
    for function, by in found.get("functions", []):
        text += f"\n{'':<32} +{by:,} in {function}"
    return text


def program(text):
    path = pathlib.Path(text)
    if path.is_dir():
        path = path / "bin/prismfield"
    if not os.access(path, os.X_OK) or path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is no program")
    return path.resolve()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=program, help="a program, or a build folder")
    parser.add_argument("after", type=program, help="the other one")
    parser.add_argument("--method", choices=("auto", "time", "instructions"), default="auto")
    parser.add_argument("--limit", type=float, default=2, metavar="PERCENT", help="growth that is allowed (default 2)")
    parser.add_argument("--turns", type=int, default=7, help="runs of each program for its time (default 7)")
    parser.add_argument("--only", action="append", metavar="TEXT", help="benchmarks whose name has this; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write what was found")
    parser.add_argument("--list", action="store_true", help="print the names of the benchmarks")
    options = parser.parse_args()
    if options.list:
        print("\n".join(BENCHMARKS))
        return 0
    if options.limit <= 0 or options.turns < 3:
        parser.error("--limit is above 0, --turns at least 3")
    chosen = {name: b for name, b in BENCHMARKS.items() if not options.only or any(o in name for o in options.only)}
    if not chosen:
        parser.error("--only names no benchmark; --list prints them")

    results = {}
    with tempfile.TemporaryDirectory(prefix="compare_builds_") as work:
        no_callgrind = None
        for name, (case, tolerance) in chosen.items():
            bench = Bench((options.before, options.after), name, case, tolerance, pathlib.Path(work))
            if no_callgrind is None:
                no_callgrind = "" if options.method == "time" else runs_under_callgrind(bench)
                if no_callgrind:
                    print(f"no instruction counts: {no_callgrind}", file=sys.stderr)
                if no_callgrind and options.method == "instructions":
                    return 3
            try:
                results[name] = judge(bench, options, no_callgrind)
            except Failed as failure:
                results[name] = {"verdict": "failed", "why": str(failure)}
            print(row(name, results[name]), flush=True)
    bad = [name for name, found in results.items() if found["verdict"] in ("slower", "other results", "failed")]
    noisy = [name for name, found in results.items() if found["verdict"] == "noisy"]
    if options.json:
        options.json.write_text(json.dumps({"before": str(options.before), "after": str(options.after),
                                            "limit": options.limit, "benchmarks": results}, indent=2) + "\n")
    if bad:
        print(f"\nslower or wrong: {'; '.join(bad)}")
    if noisy:
        print(f"\nundecided: {'; '.join(noisy)}")
    if not bad and not noisy:
        print(f"\nnothing is slower by more than {options.limit:g} %")
    return 1 if bad else 3 if noisy else 0


if __name__ == "__main__":
    sys.exit(main())
