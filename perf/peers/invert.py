#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Inverts two published cases with prismfield and, side by side in the same run, with SimPEG.

    invert.py build/openmp/bin/prismfield --data FOLDER                       # prismfield alone
    invert.py build/openmp/bin/prismfield --data FOLDER --simpeg ENV/bin/python
    invert.py PROGRAM --data FOLDER --cases tutorial --turns 3

    invert.py PROGRAM --data FOLDER --cases scale --simpeg ENV/bin/python

FOLDER holds simpeg_tutorial (gravity_data.obs, gravity_topo.txt, true_model.txt: 289 gz, 50 x 50 x 20 cells) and
noddy_ellipsoid (data_grid.txt, model_grid.txt.gz, model_values.txt: 1,600 stations, 32,000 cells), as their projects
publish them. ENV is an environment with simpeg and choclo from PyPI. The tutorial is inverted smooth and compact as its
text does it, with sensitivity weights and a hundredth of the largest datum as sigma; the ellipsoid gets data from
prismfield with normal noise, and bounds; scale is 2,000 stations over 64 x 64 x 20 cells as perf/inversion_scale.py makes
them, smooth. Prints what each came to: chi, RMS and correlation with the true model, seconds
of processor and clock, memory. Needs numpy and h5py.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

TUTORIAL_SIGMA = 1.9211e-4
ELLIPSOID_SIGMA = 0.0063768
NORMS = {"smooth": None, "p 0111": [0, 1, 1, 1], "p 0222": [0, 2, 2, 2]}


def tutorial_widths():
    growing = [5 * 1.3**k for k in range(5, 0, -1)]
    flat = growing + 40 * [5.0] + growing[::-1]
    return flat, growing + 15 * [5.0]


def measured(command, environment=None):
    """Output, seconds by the clock, of the processor, and peak memory in MB, of a process."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {os.waitstatus_to_exitcode(status)}")
    return output, time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def score(model, truth):
    """RMS difference and correlation, of active cells."""
    active = ~np.isnan(model)
    difference = model[active] - truth[active]
    return np.sqrt(np.mean(difference**2)), np.corrcoef(model[active], truth[active])[0, 1], model[active].max()


def read_model(file):
    import h5py

    with h5py.File(file) as model:
        return model["density"][...], float(model["convergence/chi"][-1]), int(model["convergence/products"][-1])


def row(name, chi, rms, correlation, most, clock, processor, memory, note=""):
    print(
        f"{name:<34} {chi:6.3f} {rms:10.5g} {correlation:6.3f} {most:9.4g} {clock:8.2f} {processor:8.2f} {memory:7.0f}"
        f"  {note}",
        flush=True,
    )


def write_tutorial(folder, data):
    flat, down = tutorial_widths()
    widths = {"easting": flat, "northing": flat, "upward": down}
    lines = ["title: SimPEG's tutorial", "axes: z_up", "fields: gz", "model:", "  mesh:"]
    for direction, values in widths.items():
        origin = -sum(values) / 2 if direction != "upward" else -sum(values)
        lines.append(f"    {direction}: {{origin: {origin!r}, widths: {json.dumps(values)}}}")
    lines += [
        "inversion:",
        f"  data: {{file: {data / 'gravity_data.obs'}, columns: [easting, northing, upward, gz]}}",
        f"  sigma: {{floor: {{gz: {TUTORIAL_SIGMA}}}}}",
        f"  topography: {{file: {data / 'gravity_topo.txt'}, columns: [easting, northing, upward]}}",
    ]
    case = folder / "tutorial.yaml"
    case.write_text("\n".join(lines) + "\n")
    return case


def invert(options, case, result, settings):
    command = [options.program, "invert", str(case), "--quiet", "--output", str(result)]
    for setting in settings:
        command += ["--set", setting]
    threads = {"OMP_NUM_THREADS": str(options.threads)}
    _, clock, processor, memory = measured(command, threads)
    model, chi, products = read_model(result)
    return model, chi, products, clock, processor, memory


def beside_simpeg(options, problem, norm, powers, truth, clock, processor, unit=1):
    """Runs SimPEG and prints what it came to beside prismfield's seconds. `truth`: (upward, northing, easting), with
    `unit` of its units a g/cm3."""
    output = problem.with_suffix(".json")
    words = [str(options.simpeg), __file__, "simpeg", str(problem), str(output), json.dumps(powers)]
    _, peer_clock, peer_processor, memory = measured(words, {"OMP_NUM_THREADS": str(options.threads)})
    found = json.loads(output.read_text())
    peer = np.array([np.nan if value is None else value for value in found["model"]]).reshape(truth.shape) * unit
    rms, correlation, most = score(peer, truth)
    note = f"{peer_clock / clock:.1f} times the clock, {peer_processor / processor:.1f} times the processor"
    row(f"SimPEG, {norm}", found["chi"], rms, correlation, most, peer_clock, peer_processor, memory, note)


def tutorial(options, folder):
    data = options.data / "simpeg_tutorial"
    case = write_tutorial(folder, data)
    truth = np.loadtxt(data / "true_model.txt").reshape(20, 50, 50)
    for norm, powers in NORMS.items():
        for _ in range(options.turns):
            settings = [] if powers is None else [f"inversion.norm={powers}"]
            model, chi, products, clock, processor, memory = invert(options, case, folder / "tutorial.h5", settings)
            rms, correlation, most = score(model / 1000, truth)
            name = f"prismfield, {norm}, {options.threads} threads"
            row(name, chi, rms, correlation, most, clock, processor, memory, f"{products} products")
            if options.simpeg is None:
                continue
            problem = folder / "simpeg.npz"
            write_simpeg_tutorial(data, problem)
            beside_simpeg(options, problem, norm, powers, truth, clock, processor)


def write_simpeg(file, widths, observed, sigma, origin="00N", topography=(), bounds=(-1, 1), weights=()):
    """What run_simpeg() needs: a mesh by its cells' widths, stations with gz upwards in mGal as rows, sigma; bounds in
    g/cm3; `weights`: one a cell, with easting fastest, in place of those by sensitivity."""
    widths = np.array([*map(list, widths), []], dtype=object)[:3]
    arrays = {"observed": observed, "topography": topography, "bounds": bounds, "weights": weights}
    np.savez(file, widths=widths, origin=origin, sigma=sigma, **arrays)


def write_simpeg_tutorial(data, file):
    flat, down = tutorial_widths()
    observed, topography = np.loadtxt(data / "gravity_data.obs"), np.loadtxt(data / "gravity_topo.txt")
    write_simpeg(file, (flat, flat, down), observed, TUTORIAL_SIGMA, "CCN", topography)


def run_simpeg(problem, output, powers):
    """The problem in SimPEG, in a process of its own."""
    import simpeg.potential_fields.gravity as gravity
    from discretize import TensorMesh
    from discretize.utils import active_from_xyz
    from simpeg import maps

    given = np.load(problem, allow_pickle=True)
    origin = given["origin"]
    origin = str(origin) if origin.ndim == 0 else origin
    mesh = TensorMesh([np.array(w, dtype=float) for w in given["widths"]], origin)
    topography = given["topography"]
    active = active_from_xyz(mesh, topography) if topography.size else np.ones(mesh.nC, dtype=bool)
    observed, sigma = given["observed"], given["sigma"]
    receivers = gravity.receivers.Point(observed[:, :3], components=["gz"])
    survey = gravity.survey.Survey(gravity.sources.SourceField([receivers]))
    simulation = gravity.simulation.Simulation3DIntegral(
        survey=survey,
        mesh=mesh,
        rhoMap=maps.IdentityMap(nP=int(active.sum())),
        active_cells=active,
        engine="choclo",
    )
    weights, bounds = given["weights"], given["bounds"]
    model = simpeg_inversion(simulation, mesh, active, observed[:, 3], sigma, powers, weights, bounds)
    residual = (simulation.dpred(model) - observed[:, 3]) / sigma
    whole = np.full(mesh.nC, np.nan)
    whole[active] = model
    result = {
        "model": [None if np.isnan(value) else float(value) for value in whole],
        "chi": float(np.mean(residual**2)),
    }
    output.write_text(json.dumps(result))


def simpeg_inversion(simulation, mesh, active, observed, sigma, powers=None, weights=(), bounds=(-1, 1)):
    """The model of active cells by SimPEG: start, steps and, where none are given, weights as its tutorial has them."""
    from simpeg import data, data_misfit, directives, inverse_problem, inversion, optimization, regularization

    measured_data = data.Data(simulation.survey, dobs=observed, standard_deviation=sigma)
    misfit = data_misfit.L2DataMisfit(data=measured_data, simulation=simulation)
    own_weights = {"depth": weights} if len(weights) else None
    if powers is None:
        term = regularization.WeightedLeastSquares(mesh, active_cells=active, weights=own_weights)
        last = [directives.BetaSchedule(coolingFactor=2, coolingRate=1), directives.TargetMisfit(chifact=1)]
        iterations = 40
    else:
        term = regularization.Sparse(mesh, active_cells=active, gradient_type="total", weights=own_weights)
        term.norms = powers
        last = [directives.UpdateIRLS(max_irls_iterations=25, chifact_start=1, irls_cooling_factor=1.2)]
        iterations = 60
    steps = optimization.ProjectedGNCG(
        maxIter=iterations, lower=bounds[0], upper=bounds[1], maxIterLS=20, cg_maxiter=10, cg_rtol=1e-3
    )
    problem = inverse_problem.BaseInvProblem(misfit, term, steps)
    told = [
        *([] if own_weights else [directives.UpdateSensitivityWeights(every_iteration=False)]),
        directives.BetaEstimate_ByEig(beta0_ratio=10, random_seed=1),
        *last,
        directives.UpdatePreconditioner(),
    ]
    return inversion.BaseInversion(problem, told).run(np.full(int(active.sum()), 1e-4))


def ellipsoid_noise(n):
    k = np.arange(1, n + 1)
    u, v = np.modf(0.6180339887498949 * k)[0], np.modf(0.7548776662466927 * k)[0]
    return ELLIPSOID_SIGMA * np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * np.pi * v)


def write_ellipsoid(folder, data):
    """Its mesh turned z up, its truth as a density file, its stations. Returns the case, the truth and the edges."""
    with gzip.open(data / "model_grid.txt.gz", "rt") as file:
        grid = np.loadtxt(file, skiprows=1)
    values = np.loadtxt(data / "model_values.txt", skiprows=1)
    stations = np.loadtxt(data / "data_grid.txt", skiprows=1)
    edges = [np.unique(np.concatenate([grid[:, 2 * d], grid[:, 2 * d + 1]])) for d in range(3)]
    edges[2] = -edges[2][::-1]
    counts = [len(e) - 1 for e in edges]
    truth = np.zeros(counts[::-1])
    place = [np.searchsorted(edges[d], (grid[:, 2 * d] + grid[:, 2 * d + 1]) / 2) - 1 for d in range(2)]
    layer = np.searchsorted(edges[2], -(grid[:, 4] + grid[:, 5]) / 2) - 1
    truth[layer, place[1], place[0]] = values
    (folder / "truth.txt").write_text("\n".join(f"{value:.17g}" for value in truth.ravel()) + "\n")
    table = ["easting,northing,upward"] + [f"{x},{y},{-z}" for x, y, z in stations[:, :3]]
    (folder / "stations.csv").write_text("\n".join(table) + "\n")
    lines = ["title: Noddy's ellipsoid", "fields: gz", "model:", "  mesh:"]
    for name, e in zip(("easting", "northing", "upward"), edges):
        lines.append(f"    {name}: {{edges: {json.dumps(list(map(float, e)))}}}")
    lines += [
        "    density: {file: truth.txt}",
        "observations: {stations: {file: stations.csv}}",
        "inversion:",
        "  data: {file: data.csv}",
        f"  sigma: {{floor: {{gz: {ELLIPSOID_SIGMA}}}}}",
        "  weighting: {depth: {power: 2, z0: 11}}",
        "  bounds: [0, 400]",
    ]
    case = folder / "ellipsoid.yaml"
    case.write_text("\n".join(lines) + "\n")
    return case, truth, edges


def ellipsoid(options, folder):
    case, truth, edges = write_ellipsoid(folder, options.data / "noddy_ellipsoid")
    clean = folder / "clean.csv"
    subprocess.run([options.program, "run", str(case), "--quiet", "--output", str(clean)], check=True)
    rows = np.loadtxt(clean, delimiter=",", skiprows=1)
    rows[:, 3] += ellipsoid_noise(len(rows))
    np.savetxt(folder / "data.csv", rows, delimiter=",", header="easting,northing,upward,gz", comments="", fmt="%.17g")
    problem = folder / "simpeg.npz"
    up = np.column_stack([rows[:, :3], -rows[:, 3]])
    depth = edges[2][-1] - (edges[2][1:] + edges[2][:-1]) / 2
    weights = np.repeat((depth + 11) ** -2.0, truth[0].size)
    widths = [np.diff(e) for e in edges]
    origin = [e[0] for e in edges]
    write_simpeg(problem, widths, up, ELLIPSOID_SIGMA, origin, (), (0, 0.4), weights / weights.max())
    for norm in ("smooth", "p 0222"):
        settings = [] if NORMS[norm] is None else [f"inversion.norm={NORMS[norm]}"]
        for _ in range(options.turns):
            model, chi, products, clock, processor, memory = invert(options, case, folder / "ellipsoid.h5", settings)
            rms, correlation, most = score(model, truth)
            name = f"prismfield, {norm}, bounds, {options.threads} threads"
            row(name, chi, rms, correlation, most, clock, processor, memory, f"{products} products")
            if options.simpeg is not None:
                beside_simpeg(options, problem, f"{norm}, bounds", NORMS[norm], truth, clock, processor, 1000)


def scale_truth(cells):
    """The bodies of perf/inversion_scale.py, g/cm3, (upward, northing, easting)."""
    easting, northing, depth = 50 * cells[0], 50 * cells[1], 25 * cells[2]
    x = (np.arange(cells[0]) + 0.5)[None, None, :] * 50
    y = (np.arange(cells[1]) + 0.5)[None, :, None] * 50
    z = (np.arange(cells[2]) + 0.5)[:, None, None] * 25 - depth
    truth = np.zeros(cells[::-1])
    truth[(x - 0.3 * easting) ** 2 + (y - 0.6 * northing) ** 2 + (z + 0.3 * depth) ** 2 <= (0.12 * depth + 150) ** 2] = 0.4
    truth[(x - 0.7 * easting) ** 2 + (y - 0.3 * northing) ** 2 + (z + 0.4 * depth) ** 2 <= (0.15 * depth + 150) ** 2] = -0.3
    inside = (0.5 * easting <= x) & (x < 0.54 * easting) & (0.4 * northing <= y) & (y < 0.9 * northing)
    truth[inside & (-0.5 * depth <= z) & (z < -100)] = 0.25
    return truth


def scale(options, folder):
    """2,000 stations over 81,920 cells, from perf/inversion_scale.py."""
    import h5py

    cells = (64, 64, 20)
    script = pathlib.Path(__file__).parent.parent / "inversion_scale.py"
    words = [sys.executable, str(script), options.program, "--stations", "2000", "--cells", "64,64,20"]
    subprocess.run([*words, "--folder", str(folder)], check=True, stdout=subprocess.DEVNULL)
    case = folder / "scale.yaml"
    truth = scale_truth(cells)
    with h5py.File(folder / "data.h5") as file:
        places = np.array([file[name][...] for name in ("easting", "northing", "upward")]).T
        observed, sigma = file["gz"][...], file["gz_sigma"][...]
    problem = folder / "simpeg.npz"
    widths = [[width] * n for width, n in zip((50.0, 50.0, 25.0), cells)]
    write_simpeg(problem, widths, np.column_stack([places, -observed]), sigma)
    for _ in range(options.turns):
        model, chi, products, clock, processor, memory = invert(options, case, folder / "model.h5", [])
        rms, correlation, most = score(model / 1000, truth)
        name = f"prismfield, smooth, {options.threads} threads"
        row(name, chi, rms, correlation, most, clock, processor, memory, f"{products} products")
        if options.simpeg is not None:
            beside_simpeg(options, problem, "smooth", None, truth, clock, processor)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "simpeg":
        run_simpeg(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), json.loads(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="prismfield")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the two cases")
    parser.add_argument("--simpeg", type=pathlib.Path, help="the Python of an environment with SimPEG")
    parser.add_argument("--cases", nargs="+", default=["tutorial", "ellipsoid"], choices=["tutorial", "ellipsoid", "scale"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args()
    options.data = options.data.resolve()
    for case in options.cases:
        print(f"\n{case}: densities in {'kg/m3' if case == 'ellipsoid' else 'g/cm3'}")
        heading = f"{'':<34} {'chi':>6} {'RMS':>10} {'corr.':>6} {'max':>9} {'clock s':>8} {'proc. s':>8} {'MB':>7}"
        print(heading, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            {"tutorial": tutorial, "ellipsoid": ellipsoid, "scale": scale}[case](options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
