#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The gravity of a seeded elevation model by prismfield, harmonica's prism_layer and GMT's gravprisms, in one run.

    terrain.py build/openmp/bin/prismfield
    terrain.py build/openmp/bin/prismfield --nodes 500 --stations 1000 --turns 3 --threads 2

All three read the same classic netCDF grid (GMT holds grids as floats, so heights are whole eighths of a metre) and
compute gz in mGal of the terrain above 0 m at the same stations 100 m above it. Gravitational constants are made equal.
harmonica computes the same DEM lowered by 700 m and filled with water too, as in its examples. Times are by the clock,
of GMT and prismfield with their start and their files, of harmonica after a call that compiles. Writes terrain.md into
--output. Exit codes: 0, 1 when answers disagree.
"""

import argparse
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare

ROCK, WATER, DEEPER = 2670.0, 1040.0, 700.0
STEP = 200.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prismfield", help="the program")
    parser.add_argument("--work", type=pathlib.Path, default=compare.ROOT / "build" / "peers", help="folder of files")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("peers"), help="folder of the table")
    parser.add_argument("--nodes", type=int, default=500, help="of the DEM along easting and northing")
    parser.add_argument("--stations", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tolerance", type=float, default=1e-9, help="largest difference / largest value")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def make_heights(nodes, seed):
    """Hills of 10 to 3000 m, whole eighths of a metre."""
    import numpy as np

    random = np.random.default_rng(seed)
    x = np.arange(nodes) * STEP
    heights = np.zeros((nodes, nodes))
    for _ in range(60):
        e, n = random.uniform(0, x[-1], 2)
        width, top = random.uniform(2000, 15000), random.uniform(100, 900)
        heights += top * np.exp(-((x[None, :] - e) ** 2 + (x[:, None] - n) ** 2) / (2 * width**2))
    heights += random.uniform(10, 60, heights.shape)
    return x, np.round(8 * np.minimum(heights, 3000)) / 8


def write_grid(path, x, heights):
    from scipy.io import netcdf_file

    with netcdf_file(path, "w", version=2) as file:
        for name in ("y", "x"):
            file.createDimension(name, x.size)
            variable = file.createVariable(name, "d", (name,))
            variable.units = "m"
            variable[:] = x
        variable = file.createVariable("z", "f", ("y", "x"))
        variable.units = "m"
        variable[:] = heights


class Ours:
    name = "prismfield"

    def __init__(self, options, name, water):
        self.command = [str(pathlib.Path(options.prismfield).resolve()), "run", f"{name}.yaml", "--quiet"]
        self.work, self.output = options.work, options.work / f"{name}.csv"
        self.command += ["--output", str(self.output), f"--kokkos-num-threads={options.threads}"]
        filled = f", water_density: {WATER}" if water else ""
        (self.work / f"{name}.yaml").write_text(
            f"model: {{terrain: {{file: {name}.nc, density: {ROCK}{filled}}}}}\n"
            "observations: {stations: {file: stations.csv}}\nfields: [gz]\n", encoding="utf-8")

    def compute(self):
        import numpy as np

        subprocess.run(self.command, cwd=self.work, check=True)
        with open(self.output, encoding="utf-8") as file:
            return np.array([float(row["gz [mGal]"]) for row in csv.DictReader(file)])


class Harmonica:
    name = "harmonica"

    def __init__(self, options, x, heights, stations, water):
        import harmonica
        import numba
        import numpy as np

        numba.set_num_threads(options.threads)
        density = np.where(heights >= 0, ROCK, WATER - ROCK) if water else np.full(heights.shape, ROCK)
        self.layer = harmonica.prism_layer((x, x), surface=heights, reference=0, properties={"density": density})
        self.stations = stations
        # compiles
        self.layer.prism_layer.gravity(tuple(c[:2] for c in stations), field="g_z")

    def compute(self):
        return self.layer.prism_layer.gravity(self.stations, field="g_z")


class Gravprisms:
    name = "gravprisms"

    def __init__(self, options, name):
        self.work = options.work
        self.command = ["gmt", "gravprisms", "-C", f"-T{name}.nc", "-L0", f"-D{ROCK}", "-A", "-Ff", "-Nstations.txt",
                        "--FORMAT_FLOAT_OUT=%.17g"]

    def compute(self):
        import numpy as np

        done = subprocess.run(self.command, cwd=self.work, check=True, capture_output=True, text=True)
        return np.array([float(line.split()[3]) for line in done.stdout.splitlines() if line.strip()])


def measure(title, peers, options, constants):
    """Rows of the table of one DEM; the first program is ours."""
    import numpy as np

    seconds, found = {peer.name: [] for peer in peers}, {}
    for _ in range(options.turns):
        for peer in peers:
            begin = time.perf_counter()
            found[peer.name] = peer.compute()
            seconds[peer.name].append(time.perf_counter() - begin)
    ours, rows, agree = found[peers[0].name], [], True
    for peer in peers:
        values = np.asarray(found[peer.name]) * constants.get(peer.name, 1)
        worst = float(np.abs(values - ours).max() / np.abs(ours).max())
        agree = agree and worst <= options.tolerance
        took = statistics.median(seconds[peer.name])
        spread = f"[{min(seconds[peer.name]):.3g}, {max(seconds[peer.name]):.3g}]"
        ratio = took / statistics.median(seconds[peers[0].name])
        rows.append(f"| {title} | {peer.name} | {took:.3g} {spread} | {ratio:.3g} | "
                    f"{'' if peer is peers[0] else f'{worst:.1e}'} |")
    return rows, agree


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        import harmonica
    except ImportError:
        compare.enter_environment(options.work)
    import choclo
    import numpy as np

    x, heights = make_heights(options.nodes, options.seed)
    write_grid(options.work / "land.nc", x, heights)
    write_grid(options.work / "sea.nc", x, heights - DEEPER)
    # over the inner half, at nodes and between them
    random = np.random.default_rng(options.seed + 1)
    e, n = random.uniform(x[-1] / 4, 3 * x[-1] / 4, (2, options.stations))
    nearest = heights[np.round(n / STEP).astype(int), np.round(e / STEP).astype(int)]
    stations = (e, n, nearest + 100)
    table = np.stack(stations, axis=1)
    np.savetxt(options.work / "stations.csv", table, fmt="%.17g", delimiter=",", header="easting,northing,upward",
               comments="")
    np.savetxt(options.work / "stations.txt", table, fmt="%.17g")
    constants = {"harmonica": 6.6743e-11 / choclo.constants.GRAVITATIONAL_CONST}
    land = [Ours(options, "land", False), Harmonica(options, x, heights, stations, False)]
    if shutil.which("gmt"):
        land.append(Gravprisms(options, "land"))
    sea = [Ours(options, "sea", True), Harmonica(options, x, heights - DEEPER, stations, True)]
    lines = [f"{options.nodes} x {options.nodes} nodes x {options.stations} stations, {options.threads} threads, "
             f"{options.turns} turns, gz in double precision, by the clock: median [least, most]", "",
             "| terrain | program | seconds | times ours | largest difference / largest value |",
             "|---|---|---|---|---|"]
    agreed = True
    for title, peers in (("land", land), ("land and water", sea)):
        rows, agree = measure(title, peers, options, constants)
        lines += rows
        agreed = agreed and agree
    text = "\n".join(lines) + "\n"
    (options.output / "terrain.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
