#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Times prismfield beside choclo, the fastest open CPU program for prisms, on the same case and the same threads.

    against_choclo.py build/openmp/bin/prismfield --work /some/folder --threads 2

Makes a Python environment of its own in the work folder (choclo, numba, h5py, PyYAML from PyPI) and installs nothing
elsewhere. prismfield computes the whole case. choclo, which would need many minutes for it, computes all its prisms
at a random subset of its points; both are compared by time per prism-point pair. The two run in turns, and each turn
gives one ratio. The fields of both must agree at the subset's points. Exit codes: 0, 1 when they do not agree.

choclo's kernels run in a loop compiled by numba, parallel over points. `--loop passes` is harmonica's way, one pass
over all pairs for each of the nine fields; `--loop fused` computes the nine fields of a pair side by side, in one
pass.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import prismfield_runs as runs

CASE = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "seven_spheres.yaml"
PACKAGES = ("choclo", "numba", "h5py", "PyYAML")
# z is down in the result and up in choclo: gz, gxz and gyz change their sign
KERNELS = {
    "gx": ("gravity_e", 1e5),
    "gy": ("gravity_n", 1e5),
    "gz": ("gravity_u", -1e5),
    "gxx": ("gravity_ee", 1e9),
    "gyy": ("gravity_nn", 1e9),
    "gzz": ("gravity_uu", 1e9),
    "gxy": ("gravity_en", 1e9),
    "gxz": ("gravity_eu", -1e9),
    "gyz": ("gravity_nu", -1e9),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prismfield", type=pathlib.Path, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the environment and results")
    parser.add_argument("--case", type=pathlib.Path, default=CASE, help="a case of voxels with spheres on a flat grid")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--points", type=int, default=150, help="points that choclo computes")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--loop", choices=("passes", "fused"), default="passes")
    parser.add_argument("--seed", type=int, default=1, help="of the random subset")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="max|difference| of a field / its largest value")
    return parser.parse_args()


def enter_environment(work, threads):
    """Starts this script again with the work folder's own Python, made when it is not there; returns inside it."""
    folder = (work / "choclo").resolve()
    python = folder / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == folder:
        return
    ready = folder / "ready"
    if not ready.exists():
        print(f"making {folder} with {', '.join(PACKAGES)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True
        )
        ready.touch()
    environment = dict(os.environ, NUMBA_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
    os.execve(python, [str(python), *sys.argv], environment)


def choclo_loops(loop):
    """A function (points, prisms, densities) -> (9, n) fields in SI units, z up, compiled and parallel over points."""
    import choclo
    import numba
    import numpy as np

    kernels = [getattr(choclo.prism, name) for name, _ in KERNELS.values()]

    @numba.jit(nopython=True, parallel=True)
    def one_field(easting, northing, upward, prisms, densities, kernel, out):
        for p in numba.prange(easting.size):
            for m in range(prisms.shape[0]):
                out[p] += kernel(
                    easting[p],
                    northing[p],
                    upward[p],
                    prisms[m, 0],
                    prisms[m, 1],
                    prisms[m, 2],
                    prisms[m, 3],
                    prisms[m, 4],
                    prisms[m, 5],
                    densities[m],
                )

    def passes(points, prisms, densities):
        out = np.zeros((len(kernels), points[0].size))
        for kernel, row in zip(kernels, out):
            one_field(*points, prisms, densities, kernel, row)
        return out

    k0, k1, k2, k3, k4, k5, k6, k7, k8 = kernels

    @numba.jit(nopython=True, parallel=True)
    def all_fields(easting, northing, upward, prisms, densities, out):
        for p in numba.prange(easting.size):
            e, n, u = easting[p], northing[p], upward[p]
            for m in range(prisms.shape[0]):
                w, x, s, t, b, h = prisms[m, 0], prisms[m, 1], prisms[m, 2], prisms[m, 3], prisms[m, 4], prisms[m, 5]
                d = densities[m]
                out[0, p] += k0(e, n, u, w, x, s, t, b, h, d)
                out[1, p] += k1(e, n, u, w, x, s, t, b, h, d)
                out[2, p] += k2(e, n, u, w, x, s, t, b, h, d)
                out[3, p] += k3(e, n, u, w, x, s, t, b, h, d)
                out[4, p] += k4(e, n, u, w, x, s, t, b, h, d)
                out[5, p] += k5(e, n, u, w, x, s, t, b, h, d)
                out[6, p] += k6(e, n, u, w, x, s, t, b, h, d)
                out[7, p] += k7(e, n, u, w, x, s, t, b, h, d)
                out[8, p] += k8(e, n, u, w, x, s, t, b, h, d)

    def fused(points, prisms, densities):
        out = np.zeros((len(kernels), points[0].size))
        all_fields(*points, prisms, densities, out)
        return out

    return passes if loop == "passes" else fused


def line(name, values, unit):
    low, middle, high = runs.spread(values)
    print(f"| {name} | {middle:.4g} {unit} | {low:.4g} ... {high:.4g} |")


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    enter_environment(options.work, options.threads)

    import choclo
    import numba
    import numpy as np

    numba.set_num_threads(options.threads)
    prisms, densities, grid = runs.read_case(options.case)
    n_grid = grid[0].size
    chosen = np.random.default_rng(options.seed).choice(n_grid, min(options.points, n_grid), replace=False)
    points = tuple(np.ascontiguousarray(c.ravel()[chosen]) for c in grid)
    settings = [f"gravitational_constant={choclo.constants.GRAVITATIONAL_CONST!r}", "fields=[vector, tensor]"]
    settings += ["axes=z_down", "execution.precision=double"]
    compute = choclo_loops(options.loop)
    compute(tuple(p[: options.threads] for p in points), prisms[:10], densities[:10])
    output = options.work / "prismfield.h5"
    n_pairs = len(prisms) * len(chosen)
    print(f"{runs.processor()}, {runs.load_note()} at the start; {options.threads} threads each")
    print(
        f"choclo {choclo.__version__}, numba {numba.__version__} ({numba.threading_layer()} threads), "
        f"loop: {options.loop}; {len(prisms):,} prisms x {len(chosen)} of {n_grid:,} points"
    )

    ours, theirs, ours_cpu, theirs_cpu = [], [], [], []
    for repeat in range(options.repeats):
        seen = runs.run(options.prismfield, options.case, settings, output, options.threads)
        if seen["pairs"] != len(prisms) * n_grid:
            raise ValueError(f"prismfield counts {seen['pairs']:,} pairs, this script {len(prisms) * n_grid:,}")
        begin, begin_cpu = time.perf_counter(), time.process_time()
        values = compute(points, prisms, densities)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
        ours.append(1e9 * seen["field_seconds"] / seen["pairs"])
        ours_cpu.append(1e9 * seen["cpu_seconds"] / seen["pairs"])
        theirs.append(1e9 * seconds / n_pairs)
        theirs_cpu.append(1e9 * cpu / n_pairs)
        ratio = theirs[-1] / ours[-1]
        print(
            f"turn {repeat + 1}: prismfield {ours[-1]:.2f}, choclo {theirs[-1]:.0f} ns per pair: {ratio:.1f}",
            file=sys.stderr,
        )

    print(f"\nnine fields, double, {options.repeats} turns, all times per prism-point pair\n")
    print("| | median | smallest ... largest |")
    print("|---|---|---|")
    line("prismfield, wall time of the fields", ours, "ns")
    line("choclo, wall time", theirs, "ns")
    line("**choclo / prismfield**, wall time", [b / a for a, b in zip(ours, theirs)], "times")
    line("prismfield, processor time of the whole program", ours_cpu, "ns")
    line("choclo, processor time", theirs_cpu, "ns")
    line("choclo / prismfield, processor time", [b / a for a, b in zip(ours_cpu, theirs_cpu)], "times")

    result, _ = runs.read_result(output, KERNELS)
    differences = []
    print(f"\nagreement at the {len(chosen)} points\n\n| field | max abs(difference) / largest value |\n|---|---|")
    for row, (field, (_, factor)) in zip(values, KERNELS.items()):
        scale = np.abs(result[field]).max()
        differences.append(np.abs(factor * row - result[field].ravel()[chosen]).max() / scale)
        print(f"| {field} | {differences[-1]:.1e} |")
    # NaN, choclo's value at singular points, is a disagreement
    agree = all(difference <= options.tolerance for difference in differences)
    print(f"\n{'within' if agree else 'OUTSIDE'} the tolerance {options.tolerance:g}; {runs.load_note()} at the end")
    return 0 if agree else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (runs.RunFailed, OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"against_choclo.py: {error}")
