#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Whether inversions end on their target: 290 small seeded cases, from data of little to data of great precision.

    perf/inversion_targets.py build/openmp/bin/prismfield --jobs 2
    perf/inversion_targets.py PROGRAM --only '^smooth' --exact 6
    perf/inversion_targets.py PROGRAM --only 20 --set inversion.max_iterations=60

Cases 1 to 90 are a block under 24 x 24 stations: 5 variants, 6 ratios of the largest gz to sigma, 3 seeds. The other
200 draw meshes (padded or not), stations (on a grid or scattered), fields (of one data set or two), bounds, norms and
weights at random, and the ratio of the largest value to sigma over four decades. `prismfield run` makes the data of
each case with noise, `prismfield invert` inverts them. A case is on target where the program ends with 0 and chi is 1
within 2 %, by the convergence and by the residuals in the model's file. It may end with 1 and a message; all else is
wrong.

--surveys inverts instead 60 seeded cases of what real surveys have: bounds that bind, an offset, a slope with and
without a trend, correlated noise and outliers by Huber's norm, compact models and intervals, relief of 800 m, padding.

--exact N solves N cases (smooth, unbounded, at most 6,000 cells) without the program's solver: the beta of the target,
from the G of `prismfield sensitivity` and the R of docs/inversion.md ("What is minimised").

--ground inverts instead, on five meshes from 50 to 5 m cells, 300 stations 1 m and 30 m above a surface of +-70 m that
is their topography, and prints each model's RMS difference from the true one.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import h5py
import numpy

VARIANTS = {
    "smooth": {"smoothness": [1, 1, 1]},
    "depth": {"weighting": "depth"},
    "bounds": {"bounds": [0, 400]},
    "compact": {"bounds": [0, 400], "norm": [0, 2, 2, 2]},
    "trend": {"trend": "linear"},
}
RATIOS = [32, 130, 317, 632, 1400, 3156]
TENSOR = ["gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]

# surveys: for each data set its observations and fields; boxes: ranges along easting, northing, upward, and density
# files: texts that the case reads, by name
Case = collections.namedtuple("Case", "name edges boxes surveys ratio seed settings files spoil", defaults=[{}, ""])
Result = collections.namedtuple("Result", "case verdict text chi products seconds beta")


def block_cases():
    edges = [[50 * i for i in range(25)], [50 * i for i in range(25)], [50 * i for i in range(-10, 1)]]
    boxes = [([450, 750], [500, 700], [-300, -100], 400)]
    grid = {"grid": {"easting": [25, 1175, 24], "northing": [25, 1175, 24], "upward": 2}}
    for variant, settings in VARIANTS.items():
        for ratio in RATIOS:
            for seed in (1, 2, 3):
                name = f"{variant}-{ratio}-{seed}"
                yield Case(name, edges, boxes, [(grid, ["gz"])], ratio, seed, settings)


def mixed_case(number):
    draw = random.Random(number)
    cells = [draw.randint(14, 20), draw.randint(14, 20), draw.randint(6, 9)]
    widths = [[draw.choice([40, 50, 60])] * n for n in cells]
    extent = [sum(w) for w in widths]
    words = []
    if draw.random() < 0.5:
        words.append("padded")
        wider = [round(widths[0][0] * 1.5 ** (i + 1)) for i in range(3)]
        widths = [wider[::-1] + widths[0] + wider, wider[::-1] + widths[1] + wider, wider[::-1] + widths[2]]
    starts = [-sum(wider) if words else 0] * 2 + [-sum(widths[2])]
    edges = [[start + sum(w[:i]) for i in range(len(w) + 1)] for start, w in zip(starts, widths)]
    settings = {"weighting": draw.choice(["sensitivity", "sensitivity", "depth", "distance"]), "smoothness": [1, 1, 1]}
    sign = draw.choice([[1], [1, -1]])
    boxes = []
    for _ in range(draw.randint(1, 3)):
        low = [draw.uniform(0.1, 0.6) * extent[axis] for axis in range(3)]
        high = [low[axis] + draw.uniform(0.15, 0.35) * extent[axis] for axis in range(3)]
        density = draw.choice(sign) * draw.uniform(100, 500)
        boxes.append(([low[0], high[0]], [low[1], high[1]], [-high[2], -low[2]], density))
    fields = draw.choice([["gz"], ["gz"], TENSOR, ["gzz"], ["gz", "gzz"], "joint"])
    words.append("joint" if fields == "joint" else "tensor" if len(fields) == 6 else "+".join(fields))
    surveys = []
    for part in [["gz"], ["gzz"]] if fields == "joint" else [fields]:
        ranges = {"easting": [25, round(extent[0]) - 25], "northing": [25, round(extent[1]) - 25]}
        if draw.random() < 0.5:
            words.append("irregular")
            ranges = {"random": draw.randint(120, 400), **ranges, "upward": [2, 60], "seed": number + 1}
            surveys.append(({"stations": ranges}, part))
        else:
            counts = [draw.randint(10, 20), draw.randint(10, 20)]
            grid = {key: [*ends, count] for (key, ends), count in zip(ranges.items(), counts)}
            surveys.append(({"grid": {**grid, "upward": draw.choice([2, 20, 50])}}, part))
    if draw.random() < 0.5:
        words.append("bounded")
        settings["bounds"] = [min(0, *(b[3] for b in boxes)), max(0, *(b[3] for b in boxes))]
    if draw.random() < 0.3:
        words.append("compact")
        settings["norm"] = draw.choice([[0, 2, 2, 2], [0, 1, 1, 1], [1, 1, 1, 1]])
    name = f"mixed-{number:03d}-" + "-".join(dict.fromkeys(words))
    return Case(name, edges, boxes, surveys, 10 ** draw.uniform(0.5, 4.5), number + 1, settings)


def survey_cases():
    """What real surveys have: 10 kinds, 6 seeds each."""
    kinds = {
        "bounds": ("", {"bounds": [0, 300]}),
        "offset": ("offset", {}),
        "slope": ("slope", {}),
        "slope_trend": ("slope", {"trend": "linear"}),
        "correlated": ("correlated", {"data_norm": "huber"}),
        "outliers": ("outliers", {"data_norm": "huber"}),
        "compact": ("", {"bounds": [0, 400], "norm": [0, 2, 2, 2]}),
        "intervals": ("", {"bounds": {"intervals": [[0, 20], [380, 400]]}}),
        "relief": ("", {"topography": {"file": "terrain.csv"}}),
        "padded": ("", {"bounds": [0, 400], "weighting": "depth"}),
    }

    def surface(x, y):
        return 400 * math.sin(2 * math.pi * x / 900) * math.cos(2 * math.pi * y / 1300)

    outwards = [round(50 * 1.4 ** (i + 1)) for i in range(8)]
    for kind, (spoil, settings) in kinds.items():
        for seed in range(1, 7):
            draw = random.Random(f"{kind} {seed}")
            edges = [[50 * i for i in range(21)], [50 * i for i in range(21)], [50 * i for i in range(-8, 1)]]
            observations = {"grid": {"easting": [25, 975, 18], "northing": [25, 975, 18], "upward": 5}}
            files, top = {}, 0
            if kind == "relief":
                grid = [(x, y) for x in range(0, 1001, 25) for y in range(0, 1001, 25)]
                places = [(draw.uniform(20, 980), draw.uniform(20, 980)) for _ in range(324)]
                for name, points, up in (("terrain", grid, 0), ("stations", places, 1)):
                    rows = [f"{x!r},{y!r},{surface(x, y) + up!r}\n" for x, y in points]
                    files[f"{name}.csv"] = "easting,northing,upward\n" + "".join(rows)
                observations = {"stations": {"file": "stations.csv"}}
                edges[2], top = [50 * i for i in range(-16, 9)], -400
            if kind == "padded":
                for axis in (0, 1, 2):
                    for width in outwards:
                        edges[axis] = [edges[axis][0] - width, *edges[axis], *([edges[axis][-1] + width] * (axis < 2))]
            boxes = []
            for _ in range(draw.randint(1, 3)):
                low = [draw.uniform(200, 600), draw.uniform(200, 600), draw.uniform(50, 150)]
                size = [draw.uniform(100, 300), draw.uniform(100, 300), draw.uniform(100, 200)]
                ranges = [[low[0], low[0] + size[0]], [low[1], low[1] + size[1]]]
                boxes.append((*ranges, [top - low[2] - size[2], top - low[2]], 400))
            ratio = 10 ** draw.uniform(1.3, 2.5)
            name = f"survey_{kind}-{seed}"
            yield Case(name, edges, boxes, [(observations, ["gz"])], ratio, seed, settings, files, spoil)


def ground_cases():
    def surface(x, y):
        return 70 * math.sin(2 * math.pi * x / 370) * math.cos(2 * math.pi * y / 430)

    def even(width):
        return [[width * i for i in range(round(low / width), round(high / width) + 1)] for low, high in extent]

    extent = [(0, 600), (0, 600), (-250, 100)]
    growing = [-250, -200, -160, -130, -110, -95, -80, *range(-70, 71, 10), 80, 100]
    meshes = {"50 m": even(50), "25 m": even(25), "tensor": [*even(20)[:2], growing], "10 m": even(10), "5 m": even(5)}
    boxes = [([200, 350], [250, 400], [-200, -100], 400)]
    grid = [(x, y) for x in range(0, 601, 10) for y in range(0, 601, 10)]
    terrain = "easting,northing,upward\n" + "".join(f"{x},{y},{surface(x, y)!r}\n" for x, y in grid)
    draw = random.Random(1)
    places = [(draw.uniform(20, 580), draw.uniform(20, 580)) for _ in range(300)]
    for name, edges in meshes.items():
        for height in (1, 30):
            rows = [f"{x!r},{y!r},{surface(x, y) + height!r}\n" for x, y in places]
            files = {"terrain.csv": terrain, "stations.csv": "easting,northing,upward\n" + "".join(rows)}
            settings = {"topography": {"file": "terrain.csv"}}
            surveys = [({"stations": {"file": "stations.csv"}}, ["gz"])]
            yield Case(f"ground, {name}, {height} m up", edges, boxes, surveys, 100, 1, settings, files)


def compare_ground(options):
    print("| cells, stations | code | active cells | chi | RMS from the truth, kg/m3 | of a model of 0 |\n|---|---|---|---|---|---|")
    for case in ground_cases():
        result = invert(options, case)
        if not result.chi:
            print(f"| {case.name} | {result.text} |")
            continue
        with h5py.File(pathlib.Path(options.folder).resolve() / case.name / "model.h5") as file:
            model = file["density"][...].ravel()
        active = ~numpy.isnan(model)
        truth = densities(case)[active]
        rms = [float(numpy.sqrt(((m - truth) ** 2).mean())) for m in (model[active], 0)]
        code = 0 if result.verdict == "on target" else 1
        print(f"| {case.name} | {code} | {active.sum():,} | {result.chi[0]:.3f} | {rms[0]:.1f} | {rms[1]:.1f} |", flush=True)


def densities(case):
    centres = [(numpy.array(e[1:]) + e[:-1]) / 2 for e in case.edges]
    model = numpy.zeros([len(c) for c in centres[::-1]])
    for *ranges, density in case.boxes:
        inside = [(low <= c) & (c < high) for c, (low, high) in zip(centres, ranges)]
        model[numpy.ix_(*inside[::-1])] = density
    return model.ravel()


def call(options, words, folder, **keys):
    settings = [word for key, value in keys.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    return subprocess.run([*words, "--quiet", *settings], cwd=folder, env=environment, text=True, capture_output=True)


def read_table(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    values = numpy.array(rows, float)
    return header, {word.split(" ")[0]: values[:, column] for column, word in enumerate(header)}


def spoilt(case, table):
    """What is added to gz, mGal."""
    draw = numpy.random.default_rng(case.seed)
    x, y, sigma = table["easting"], table["northing"], table["gz_sigma"]
    if case.spoil == "offset":
        return 2.0
    if case.spoil == "correlated":
        waves = [(draw.uniform(0.01, 0.03, 2), draw.uniform(0, 6, 2)) for _ in range(6)]
        noise = sum(numpy.sin(k[0] * x + p[0]) * numpy.cos(k[1] * y + p[1]) for k, p in waves)
        return sigma * noise / noise.std()
    if case.spoil == "outliers":
        return 30 * sigma * numpy.where(draw.random(len(x)) < 0.05, draw.choice([-1, 1], len(x)), 0)
    return 3 + 0.002 * x - 0.001 * y


def make_data(options, case, folder):
    """Data set by data set: sigma from the field without noise, then the field with noise, and the plane of a trend."""
    for number, (observations, fields) in enumerate(case.surveys, start=1):
        words = [options.program, "run", "case.yaml", "--output", f"data_{number}.csv"]
        call(options, words, folder, observations=observations, fields=fields).check_returncode()
        table = read_table(folder / f"data_{number}.csv")[1]
        noise = {field: float(abs(table[field]).max()) / case.ratio for field in fields}
        noise["seed"] = 10 * case.seed + number
        call(options, words, folder, observations={**observations, "noise": noise}, fields=fields).check_returncode()
        if "trend" in case.settings or case.spoil:
            header, table = read_table(folder / f"data_{number}.csv")
            table["gz"] += spoilt(case, table)
            columns = numpy.column_stack(list(table.values()))
            numpy.savetxt(folder / f"data_{number}.csv", columns, "%.17g", ",", header=",".join(header), comments="")


def write_case(case, folder):
    axes = ("easting", "northing", "upward")
    data = [{"file": f"data_{i}.csv", "fields": fields} for i, (_, fields) in enumerate(case.surveys, start=1)]
    keys = {
        "title": case.name,
        "fields": sorted({field for _, fields in case.surveys for field in fields}),
        "model": {"mesh": {axis: {"edges": edges} for axis, edges in zip(axes, case.edges)}},
        "observations": case.surveys[0][0],
        "inversion": {"data": data, **case.settings},
        "output": {"file": "model.h5"},
    }
    keys["model"]["mesh"]["density"] = {"file": "density.txt"}
    (folder / "case.yaml").write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in keys.items()) + "\n")
    numpy.savetxt(folder / "density.txt", densities(case), "%.17g")


def invert(options, case):
    folder = pathlib.Path(options.folder).resolve() / case.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.h5").unlink(missing_ok=True)
    write_case(case, folder)
    for name, text in case.files.items():
        (folder / name).write_text(text)
    make_data(options, case, folder)
    begin = time.time()
    ended = call(options, [options.program, "invert", "case.yaml", *options.settings], folder)
    seconds = time.time() - begin
    if not (folder / "model.h5").exists():
        return Result(case, "failed", f"code {ended.returncode}: {ended.stderr.strip()}", [], 0, seconds, None)
    with h5py.File(folder / "model.h5") as file:
        names = [f"data_{i + 1}/{field}_residual" for i, (_, fields) in enumerate(case.surveys) for field in fields]
        squares = numpy.concatenate([file[name][...].ravel() ** 2 for name in names])
        chi = [float(file["convergence/chi"][-1]), float(squares.mean())]
        products, beta = int(file["convergence/products"][-1]), float(file["convergence/beta"][-1])
    text = f"chi {chi[0]:.4g} by the convergence, {chi[1]:.4g} by the residuals, beta {beta:.3e}"
    if case.settings.get("data_norm") == "huber":
        chi = chi[:1]
    verdict = "on target" if all(abs(c - 1) < 0.02 for c in chi) else "wrong"
    text += "".join(f"; {line}" for line in ended.stderr.splitlines() if line.startswith("warning: "))
    if ended.returncode != 0:
        told = re.search(r"^error: (.*)", ended.stderr, re.M) or re.search(r"^(.+)", ended.stderr, re.M)
        verdict = "message" if ended.returncode == 1 and told else "failed"
        text += f", code {ended.returncode}: {told[1] if told else 'no message'}"
    return Result(case, verdict, text, chi, products, seconds, beta)


def regularisation(case, g_over_sigma):
    """R of docs/inversion.md with sensitivity weights and smoothness [1, 1, 1], dense; cells with easting fastest."""
    widths = [numpy.diff(e) for e in case.edges]
    volume = numpy.einsum("k,j,i->kji", *widths[::-1])
    weight = numpy.sqrt((g_over_sigma**2).sum(axis=0)) / volume.ravel()
    weight = (weight / weight.max()).reshape(volume.shape)
    number = numpy.arange(volume.size).reshape(volume.shape)
    r = numpy.diag((volume * weight).ravel())
    for axis in range(3):
        low, high = [numpy.moveaxis(number, 2 - axis, 0)[part].ravel() for part in (slice(-1), slice(1, None))]
        centres = numpy.convolve(case.edges[axis], [0.5, 0.5], "valid")
        distance = numpy.repeat(numpy.diff(centres), low.size // (len(centres) - 1))
        v, w = [(a.ravel()[low] + a.ravel()[high]) / 2 for a in (volume, weight)]
        factor = min(w.min() for w in widths) ** 2 * v * w / distance**2
        for a, b, sign in ((low, low, 1), (high, high, 1), (low, high, -1), (high, low, -1)):
            numpy.add.at(r, (a, b), sign * factor)
    return r


def compare_exact(options, result):
    case, folder = result.case, pathlib.Path(options.folder).resolve() / result.case.name
    words = [options.program, "sensitivity", "case.yaml", "--output", "fields.h5"]
    call(options, words, folder, sensitivity={"store": "file", "file": "G.h5"}).check_returncode()
    table = read_table(folder / "data_1.csv")[1]
    with h5py.File(folder / "G.h5") as file:
        fields = re.findall(r"\w+", file["G"].attrs["fields"].decode())
        sigma = numpy.concatenate([table[f"{field}_sigma"] for field in fields])
        g = file["G"][...].reshape(len(sigma), -1) / sigma[:, None]
    d = numpy.concatenate([table[field] for field in fields]) / sigma
    values, vectors = numpy.linalg.eigh(g @ numpy.linalg.solve(regularisation(case, g), g.T))
    parts = vectors.T @ d

    def chi(beta):
        return (((beta / (numpy.maximum(values, 0) + beta)) * parts) ** 2).mean()

    low, high = 1e-30, 1e30
    while high / low > 1 + 1e-9:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if chi(middle) < 1 else (low, middle)
    print(f"{case.name}: beta {result.beta:.4e}, exact {low:.4e}, ratio {result.beta / low:.4f}; "
          f"chi {result.chi[0]:.4f}, exact at this beta {chi(result.beta):.4f}")


def summarise(results):
    groups = collections.defaultdict(list)
    for result in results:
        groups[result.case.name.split("-")[0]].append(result)
    groups["all"] = results
    print("\n| cases | | on target | message | wrong | failed | products, median | largest | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, group in groups.items():
        counts = collections.Counter(result.verdict for result in group)
        products = [result.products for result in group]
        columns = [counts[verdict] for verdict in ("on target", "message", "wrong", "failed")]
        columns += [f"{numpy.median(products):.0f}", max(products), f"{sum(result.seconds for result in group):.1f}"]
        print(f"| {name} | {len(group)} | " + " | ".join(map(str, columns)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="the first so many cases, or a regular expression of their names")
    parser.add_argument("--exact", type=int, default=0, help="cases to solve without the program too")
    parser.add_argument("--ground", action="store_true", help="stations over relief on five meshes instead")
    parser.add_argument("--surveys", action="store_true", help="60 cases of what real surveys have instead")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--threads", type=int, default=1, help="of each inversion")
    parser.add_argument("--folder", default="inversion_targets")
    parser.add_argument("--set", action="append", default=[], help="a key of the case, as of prismfield invert")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.settings = [word for key in options.set for word in ("--set", key)]
    if options.ground:
        compare_ground(options)
        return
    cases = [*survey_cases()] if options.surveys else [*block_cases(), *map(mixed_case, range(200))]
    if options.only.isdigit():
        cases = cases[: int(options.only)]
    cases = [case for case in cases if options.only.isdigit() or re.search(options.only, case.name)]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda case: invert(options, case), cases):
            results.append(result)
            if result.verdict != "on target" or "warning" in result.text:
                print(f"{result.verdict}: {result.case.name}: {result.text}", flush=True)
    if not results:
        sys.exit(f"no case is named as {options.only}")
    summarise(results)
    plain = {"smoothness": [1, 1, 1], "weighting": "sensitivity"}
    exact = [r for r in results if {**plain, **r.case.settings} == plain and len(r.case.surveys) == 1 and r.beta]
    exact = [r for r in exact if densities(r.case).size <= 6000]
    for result in exact[:: max(1, len(exact) // max(1, options.exact))][: options.exact]:
        compare_exact(options, result)
    sys.exit(any(result.verdict in ("wrong", "failed") for result in results))


if __name__ == "__main__":
    main()
