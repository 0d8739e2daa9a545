#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Inverts published cases with prismfield and, side by side in the same run, with SimPEG.

    invert.py build/openmp/bin/prismfield --data FOLDER                       # prismfield alone
    invert.py build/openmp/bin/prismfield --data FOLDER --simpeg ENV/bin/python
    invert.py PROGRAM --data FOLDER --cases tutorial --turns 3

    invert.py PROGRAM --cases scale magnetics two_bodies --simpeg ENV/bin/python

FOLDER holds simpeg_tutorial (gravity_data.obs, gravity_topo.txt, true_model.txt: 289 gz, 50 x 50 x 20 cells) and
noddy_ellipsoid (data_grid.txt, model_grid.txt.gz, model_values.txt: 1,600 stations, 32,000 cells), as their projects
publish them. ENV is an environment with simpeg and choclo from PyPI. The tutorial is inverted smooth and compact as its
text does it, with sensitivity weights and a hundredth of the largest datum as sigma; the ellipsoid gets data from
prismfield with normal noise, and bounds; scale is 2,000 stations over 64 x 64 x 20 cells as perf/inversion_scale.py
makes them, smooth. magnetics is SimPEG's tutorial of induced magnetics, a sphere below a hollow, and two_bodies
Tomofast-x's two magnetised cells of 50 m, both made here from their descriptions; these and scale need no FOLDER.
Prints what each came to: chi, RMS and correlation with the true model, how far bodies are off, seconds of processor and
clock, memory. Needs numpy and h5py.
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
NORMS = {"smooth": None, "p 0111": [0, 1, 1, 1], "p 0222": [0, 2, 2, 2], "p 0000": [0, 0, 0, 0], "p 0": [0, 2, 2, 2]}
SIMPEG_START = 1e-4
DIRECTIONS = ("easting", "northing", "upward")


def tutorial_widths():
    growing = [5 * 1.3**k for k in range(5, 0, -1)]
    flat = growing + 40 * [5.0] + growing[::-1]
    return flat, growing + 15 * [5.0]


def measured(command, environment=None, good=(0,)):
    """Seconds by the clock, of the processor, and peak memory in MB, of a process."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in good:
        sys.exit(f"{' '.join(map(str, command))} ended with {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def magnitude(model):
    """Of a magnetisation, (component, upward, northing, easting), or the model itself."""
    return np.linalg.norm(model, axis=0) if model.ndim > 3 else model


def score(model, truth):
    """RMS difference and correlation, of active cells, and the largest value."""
    active = ~np.isnan(model)
    difference = model[active] - truth[active]
    correlation = np.corrcoef(model[active], truth[active])[0, 1]
    return np.sqrt(np.mean(difference**2)), correlation, np.nanmax(magnitude(model))


def body_found(model, truth, places, where):
    """How far a body among the cells `where` is off, from the cells of at least three tenths of the largest magnitude
    there, the sum of its magnetisation over the true one, and the angle between both. `places`: of the cells,
    (direction, upward, northing, easting), alike in size around bodies."""

    def of(values, least):
        sizes = np.where(where, np.nan_to_num(magnitude(values)), 0)
        weights = np.where(sizes >= least * sizes.max(), sizes, 0)
        total = np.where(weights > 0, np.nan_to_num(values), 0).reshape(-1, sizes.size).sum(axis=1)
        return (weights * places).reshape(3, -1).sum(axis=1) / weights.sum(), total

    (center, total), (true_center, true_total) = of(model, 0.3), of(truth, 0.3)
    sizes = np.linalg.norm(total), np.linalg.norm(true_total)
    offset = ", ".join(f"{round(component)}" for component in center - true_center)
    text = f"off ({offset}) m, {sizes[0] / sizes[1]:.2f} of its sum"
    if len(total) == 1:
        return text
    return f"{text}, {np.degrees(np.arccos(np.clip(total @ true_total / sizes[0] / sizes[1], -1, 1))):.1f} degrees"


def read_model(file):
    import h5py

    with h5py.File(file) as model:
        scalar = [model[name][...] for name in ("density", "susceptibility") if name in model]
        values = scalar[0] if scalar else np.array([model[f"magnetization_{name}"][...] for name in DIRECTIONS])
        return values, float(model["convergence/chi"][-1]), int(model["convergence/products"][-1])


def row(name, chi, rms, correlation, most, clock, processor, memory, note=""):
    print(
        f"{name:<44} {chi:6.3f} {rms:10.5g} {correlation:6.3f} {most:9.4g} {clock:8.2f} {processor:8.2f} {memory:7.0f}"
        f"  {note}",
        flush=True,
    )


def against(truth, places=None, bodies=()):
    """What prints a model beside its truth, and each of the bodies, which are where these masks of cells are."""

    def report(name, chi, model, clock, processor, memory, note=""):
        row(name, chi, *score(model, truth), clock, processor, memory, note)
        for where in bodies:
            print(f"    {body_found(model, truth, places, where)}", flush=True)

    return report


def mesh_lines(edges):
    """A mesh's lines in a case: {direction: its entry}."""
    return ["model:", "  mesh:"] + [f"    {direction}: {json.dumps(entry)}" for direction, entry in edges.items()]


def tutorial_mesh():
    flat, down = tutorial_widths()
    widths = dict(zip(DIRECTIONS, (flat, flat, down)))
    return {d: {"origin": -sum(w) / (1 if d == "upward" else 2), "widths": w} for d, w in widths.items()}


def write_tutorial(folder, data):
    lines = ["title: SimPEG's tutorial", "axes: z_up", "fields: gz", *mesh_lines(tutorial_mesh())]
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
    result.unlink(missing_ok=True)
    # 1: the target is out of reach; the model is there
    used = measured(command, {"OMP_NUM_THREADS": str(options.threads)}, good=(0, 1))
    model, chi, products = read_model(result)
    return model, chi, products, *used


def side_by_side(options, case, problem, report, norms, note="", settings=(), own_unit=1, peer_unit=1):
    """Inverts a case by each of these of NORMS in turn with prismfield and what write_simpeg() made of it with SimPEG,
    and reports both. The units are of their models, in those of the truth; without a `problem` SimPEG is left out."""
    for norm in norms:
        powers = NORMS[norm]
        name = f"{norm}{note}"
        for _ in range(options.turns):
            chosen = [*settings, *([] if powers is None else [f"inversion.norm={powers}"])]
            model, chi, products, *used = invert(options, case, case.with_suffix(".h5"), chosen)
            report(f"prismfield, {name}", chi, model * own_unit, *used, f"{products} products")
            if options.simpeg is None or problem is None:
                continue
            output = problem.with_suffix(".json")
            words = [str(options.simpeg), __file__, "simpeg", str(problem), str(output), json.dumps(powers)]
            peer_used = measured(words, {"OMP_NUM_THREADS": str(options.threads)})
            found = json.loads(output.read_text())
            peer = np.array(found["model"], dtype=float).reshape(model.shape) * peer_unit
            ratios = [theirs / ours for theirs, ours in zip(peer_used, used)]
            note_of_peer = f"{ratios[0]:.1f} times the clock, {ratios[1]:.1f} times the processor"
            report(f"SimPEG, {name}", found["chi"], peer, *peer_used, note_of_peer)


def tutorial(options, folder):
    data = options.data / "simpeg_tutorial"
    truth = np.loadtxt(data / "true_model.txt").reshape(20, 50, 50)
    problem = folder / "simpeg.npz"
    flat, down = tutorial_widths()
    observed, topography = np.loadtxt(data / "gravity_data.obs"), np.loadtxt(data / "gravity_topo.txt")
    write_simpeg(problem, (flat, flat, down), observed, TUTORIAL_SIGMA, "CCN", topography)
    norms = ("smooth", "p 0111", "p 0222")
    side_by_side(options, write_tutorial(folder, data), problem, against(truth), norms, own_unit=1e-3)


def write_simpeg(file, widths, observed, sigma, origin="00N", topography=(), **more):
    """What run_simpeg() needs: a mesh by its cells' widths, stations with their data as rows, gz upwards in mGal or tmi
    in nT, and sigma. `more`: bounds in g/cm3 or SI; `weights`, one a cell with easting fastest, in place of those by
    sensitivity; `reference`, usually SimPEG's start; `inducing`, nT, inclination and declination, of magnetic data;
    `vector`, for a magnetisation in the place of a susceptibility; `smoothness` in shortest edges."""
    widths = np.array([*map(list, widths), []], dtype=object)[:3]
    usual = {"bounds": (-1, 1), "weights": (), "reference": SIMPEG_START, "inducing": ()}
    usual |= {"vector": False, "smoothness": 1}
    arrays = {"observed": observed, "topography": topography, **usual, **more}
    np.savez(file, widths=widths, origin=origin, sigma=sigma, **arrays)


def simpeg_simulation(given, mesh, active):
    from simpeg import maps
    from simpeg.potential_fields import gravity, magnetics

    places, n = given["observed"][:, :3], int(active.sum())
    common = {"mesh": mesh, "active_cells": active, "engine": "choclo"}
    if given["inducing"].size == 0:
        survey = gravity.Survey(gravity.SourceField([gravity.Point(places, components=["gz"])]))
        return gravity.Simulation3DIntegral(survey=survey, rhoMap=maps.IdentityMap(nP=n), **common)
    receivers = magnetics.Point(places, components=["tmi"])
    survey = magnetics.Survey(magnetics.UniformBackgroundField([receivers], *given["inducing"]))
    kind, n = ("vector", 3 * n) if given["vector"] else ("scalar", n)
    return magnetics.Simulation3DIntegral(survey=survey, chiMap=maps.IdentityMap(nP=n), model_type=kind, **common)


def run_simpeg(problem, output, powers):
    """The problem in SimPEG, in a process of its own."""
    from discretize import TensorMesh
    from discretize.utils import active_from_xyz

    given = np.load(problem, allow_pickle=True)
    origin = given["origin"]
    origin = str(origin) if origin.ndim == 0 else origin
    mesh = TensorMesh([np.array(w, dtype=float) for w in given["widths"]], origin)
    topography = given["topography"]
    active = active_from_xyz(mesh, topography) if topography.size else np.ones(mesh.nC, dtype=bool)
    simulation = simpeg_simulation(given, mesh, active)
    model = simpeg_inversion(simulation, mesh, active, given, powers)
    residual = (simulation.dpred(model) - given["observed"][:, 3]) / given["sigma"]
    # blocks of a magnetisation's components
    whole = np.full((len(model) // int(active.sum()), mesh.nC), np.nan)
    whole[:, active] = model.reshape(len(whole), -1)
    result = {
        "model": [None if np.isnan(value) else float(value) for value in whole.ravel()],
        "chi": float(np.mean(residual**2)),
    }
    output.write_text(json.dumps(result))


def simpeg_inversion(simulation, mesh, active, given, powers):
    """The model of active cells by SimPEG: start, steps and, where none are given, weights as its tutorial has them."""
    from simpeg import data, data_misfit, directives, inverse_problem, inversion, maps, optimization, regularization

    measured_data = data.Data(simulation.survey, dobs=given["observed"][:, 3], standard_deviation=given["sigma"])
    misfit = data_misfit.L2DataMisfit(data=measured_data, simulation=simulation)
    unknowns = int(active.sum()) * (3 if given["vector"] else 1)
    common = {
        "active_cells": active,
        "weights": {"depth": given["weights"]} if given["weights"].size else None,
        "reference_model": np.full(unknowns, float(given["reference"])),
        **{f"length_scale_{axis}": float(given["smoothness"]) for axis in "xyz"},
    }
    if given["vector"]:
        mapping = maps.IdentityMap(nP=unknowns)
        term = regularization.VectorAmplitude(mesh, mapping, gradient_type="components", **common)
    elif powers is None:
        term = regularization.WeightedLeastSquares(mesh, **common)
    else:
        term = regularization.Sparse(mesh, gradient_type="total", **common)
    if powers is None:
        last = [directives.BetaSchedule(coolingFactor=2, coolingRate=1), directives.TargetMisfit(chifact=1)]
        iterations = 40
    else:
        term.norms = powers
        last = [directives.UpdateIRLS(max_irls_iterations=25, chifact_start=1, irls_cooling_factor=1.2)]
        iterations = 60
    lower, upper = given["bounds"]
    steps = optimization.ProjectedGNCG(
        maxIter=iterations, lower=lower, upper=upper, maxIterLS=20, cg_maxiter=10, cg_rtol=1e-3
    )
    problem = inverse_problem.BaseInvProblem(misfit, term, steps)
    told = [
        *([] if given["weights"].size else [directives.UpdateSensitivityWeights(every_iteration=False)]),
        directives.BetaEstimate_ByEig(beta0_ratio=10, random_seed=1),
        *last,
        directives.UpdatePreconditioner(),
    ]
    return inversion.BaseInversion(problem, told).run(np.full(unknowns, SIMPEG_START))


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
    entries = {d: {"edges": list(map(float, e))} for d, e in zip(DIRECTIONS, edges)}
    lines = ["title: Noddy's ellipsoid", "fields: gz", *mesh_lines(entries)]
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


def observe(options, case, field, noise):
    """Writes data.csv beside a case: its fields and noise, a function of the values. Returns places and data."""
    clean = case.with_name("clean.csv")
    subprocess.run([options.program, "run", str(case), "--quiet", "--output", str(clean)], check=True)
    rows = np.loadtxt(clean, delimiter=",", skiprows=1)
    rows[:, 3] += noise(rows[:, 3])
    header = f"easting,northing,upward,{field}"
    np.savetxt(case.with_name("data.csv"), rows, delimiter=",", header=header, comments="", fmt="%.17g")
    return rows


def ellipsoid(options, folder):
    case, truth, edges = write_ellipsoid(folder, options.data / "noddy_ellipsoid")
    rows = observe(options, case, "gz", lambda values: ellipsoid_noise(len(values)))
    problem = folder / "simpeg.npz"
    up = np.column_stack([rows[:, :3], -rows[:, 3]])
    depth = edges[2][-1] - (edges[2][1:] + edges[2][:-1]) / 2
    weights = np.repeat((depth + 11) ** -2.0, truth[0].size)
    widths = [np.diff(e) for e in edges]
    more = {"bounds": (0, 0.4), "weights": weights / weights.max()}
    write_simpeg(problem, widths, up, ELLIPSOID_SIGMA, [e[0] for e in edges], **more)
    side_by_side(options, case, problem, against(truth), ("smooth", "p 0222"), ", bounds", peer_unit=1000)


def scale_truth(cells):
    """The bodies of perf/inversion_scale.py, g/cm3, (upward, northing, easting)."""
    easting, northing, depth = 50 * cells[0], 50 * cells[1], 25 * cells[2]
    x = (np.arange(cells[0]) + 0.5)[None, None, :] * 50
    y = (np.arange(cells[1]) + 0.5)[None, :, None] * 50
    z = (np.arange(cells[2]) + 0.5)[:, None, None] * 25 - depth
    truth = np.zeros(cells[::-1])
    truth[
        (x - 0.3 * easting) ** 2 + (y - 0.6 * northing) ** 2 + (z + 0.3 * depth) ** 2 <= (0.12 * depth + 150) ** 2
    ] = 0.4
    truth[
        (x - 0.7 * easting) ** 2 + (y - 0.3 * northing) ** 2 + (z + 0.4 * depth) ** 2 <= (0.15 * depth + 150) ** 2
    ] = -0.3
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
    side_by_side(options, case, problem, against(truth), ["smooth"], own_unit=1e-3)


def magnetic_lines(title, inducing):
    field = "intensity: {}, inclination: {}, declination: {}".format(*inducing)
    return [f"title: {title}", "fields: tmi", f"magnetic: {{inducing_field: {{{field}}}}}"]


def magnetics(options, folder):
    """SimPEG's tutorial of induced magnetics: a sphere of 0.01 SI in a host of 0.0001 below a hollow of 15 m, 289
    stations 10 m above the ground, noise of 2 % of the largest datum."""
    inducing, host = (50000, 90, 0), 1e-4
    entries = tutorial_mesh()
    edges = [e["origin"] + np.append(0, np.cumsum(e["widths"])) for e in entries.values()]
    upward, northing, easting = np.meshgrid(*((e[1:] + e[:-1]) / 2 for e in edges[::-1]), indexing="ij")

    def with_ground(half, n, above):
        x, y = (a.ravel() for a in np.meshgrid(*2 * [np.linspace(-half, half, n)]))
        return np.column_stack([x, y, above - 15 * np.exp(-(x**2 + y**2) / 80**2)])

    truth = np.where(upward < -15 * np.exp(-(easting**2 + northing**2) / 80**2), host, 0)
    truth[easting**2 + northing**2 + (upward + 45) ** 2 <= 15**2] = 0.01
    np.savetxt(folder / "truth.txt", truth.ravel())
    topography, header = with_ground(200, 41, 0), ",".join(DIRECTIONS)
    for name, places in {"ground": topography, "stations": with_ground(80, 17, 10)}.items():
        np.savetxt(folder / f"{name}.csv", places, delimiter=",", header=header, comments="", fmt="%.17g")
    lines = [*magnetic_lines("SimPEG's tutorial of magnetics", inducing), *mesh_lines(entries)]
    lines += [
        "    susceptibility: {file: truth.txt}",
        "observations: {stations: {file: stations.csv}}",
        "inversion:",
        "  unknown: susceptibility",
        "  data: {file: data.csv}",
        "  topography: {file: ground.csv}",
        "  bounds: [0, 1]",
        f"  reference: {host}",
    ]
    case = folder / "magnetics.yaml"
    case.write_text("\n".join(lines) + "\n")
    random = np.random.default_rng(1)
    part = 0.02
    rows = observe(options, case, "tmi", lambda tmi: part * np.abs(tmi).max() * random.standard_normal(len(tmi)))
    sigma = part * np.abs(rows[:, 3]).max()
    problem = folder / "simpeg.npz"
    more = {"inducing": inducing, "bounds": (0, 1), "reference": host}
    write_simpeg(problem, [e["widths"] for e in entries.values()], rows, sigma, "CCN", topography, **more)
    report = against(truth, np.array([easting, northing, upward]), [True])
    settings = [f"inversion.sigma={sigma}"]
    side_by_side(options, case, problem, report, ("smooth", "p 0000", "p 0222"), settings=settings)


TWO_BODIES_FIELD = (55000, -60, 2)
# lower corners of the cells, susceptibilities, inclination and declination of the remanence
TWO_BODIES = (((1000, 700, -150), 0.05, (-60, 2)), ((1000, 1200, -150), 0.1, (60, 90)))


def induced_magnetization():
    """A/m for a susceptibility of 1."""
    return TWO_BODIES_FIELD[0] * 1e-9 / 1.25663706212e-6


def along(inclination, declination):
    i, d = np.radians([inclination, declination])
    return np.array([np.cos(i) * np.sin(d), np.cos(i) * np.cos(d), -np.sin(i)])[:, None, None, None]


def write_two_bodies(folder, has_remanence):
    lines = [*magnetic_lines("Tomofast-x's two bodies", TWO_BODIES_FIELD), "model:", "  voxels:"]
    lines += ["    easting: [0, 2050, 41]", "    northing: [0, 2050, 41]", "    upward: [-1000, 0, 20]"]
    lines += ["    susceptibility: 1.0e-5", "    boxes:"]
    for corner, susceptibility, (inclination, declination) in TWO_BODIES:
        box = ", ".join(f"{direction}: [{low}, {low + 50}]" for direction, low in zip(DIRECTIONS, corner))
        own = susceptibility * induced_magnetization() if has_remanence else 0
        vector = f"{{inclination: {inclination}, declination: {declination}, intensity: {own}}}"
        lines.append(f"      - {{{box}, susceptibility: {susceptibility}, magnetization: {vector}}}")
    lines.append("observations: {grid: {easting: [23, 2023, 41], northing: [23, 2023, 41], upward: 5}}")
    lines.append("inversion: {data: {file: data.csv}}")
    case = folder / "two_bodies.yaml"
    case.write_text("\n".join(lines) + "\n")
    return case


def report_two_bodies(shift, has_remanence):
    """What reports a model of their mesh, `shift` metres to the north-east of where a cell is a body."""
    map_middles = np.arange(25, 2050, 50) + shift
    upward, northing, easting = np.meshgrid(np.arange(-975, 0, 50), map_middles, map_middles, indexing="ij")
    places = np.array([easting, northing, upward])
    truth = np.zeros(places.shape)
    for corner, susceptibility, own in TWO_BODIES:
        direction = along(*TWO_BODIES_FIELD[1:]) + (along(*own) if has_remanence else 0)
        off = np.abs(places - np.array(corner)[:, None, None, None] - 25) / 50
        truth += susceptibility * induced_magnetization() * direction * np.clip(1 - off, 0, 1).prod(axis=0)
    return against(truth, places, [northing < 975, northing > 975])


def two_bodies(options, folder):
    """Tomofast-x's: cells of 50 m with their tops 100 m deep, of 0.05 and 0.1 SI in a host of 1e-5, magnetised by the
    inducing field and, where there is remanence, as much again: the first along this field, the second against it. Each
    with and without smoothing (p 0), which Tomofast-x has not, and by a mesh that is half a cell off."""
    noise, problem = 0.25, folder / "simpeg.npz"
    as_vector = induced_magnetization() * along(*TWO_BODIES_FIELD[1:])
    susceptibility = ["inversion.unknown=susceptibility", "inversion.bounds=[0, null]", f"inversion.sigma={noise}"]
    magnetization = ["inversion.unknown=magnetization", f"inversion.sigma={noise}"]
    for has_remanence in (False, True):
        case = write_two_bodies(folder, has_remanence)
        random = np.random.default_rng(1)
        rows = observe(options, case, "tmi", lambda tmi: noise * random.standard_normal(len(tmi)))
        name, unknown, bound, own_unit, peer_unit = (
            ("remanent", magnetization, -np.inf, 1, induced_magnetization())
            if has_remanence
            else ("induced", susceptibility, 0, as_vector, as_vector)
        )
        for smoothness, shift in ((1, 0), (0, 0), (0, 25)):
            more = {"smoothness": smoothness, "vector": has_remanence, "bounds": (bound, np.inf), "reference": 0}
            widths, origin = [[50.0] * n for n in (41, 41, 20)], (shift, shift, -1000)
            write_simpeg(problem, widths, rows, noise, origin, inducing=TWO_BODIES_FIELD, **more)
            side = f"[{shift}, {shift + 2050}, 41]"
            mesh = f"model.voxels={{easting: {side}, northing: {side}, upward: [-1000, 0, 20]}}"
            settings = [*unknown, f"inversion.smoothness={smoothness}", mesh]
            note = f", {name}" + (", half a cell off" if shift else "")
            norms = ("smooth", "p 0222") if smoothness else ["p 0"]
            report, peer = report_two_bodies(shift, has_remanence), None if shift else problem
            side_by_side(options, case, peer, report, norms, note, settings, own_unit, peer_unit)
    report = report_two_bodies(0, True)
    note = ", remanent, susceptibility"
    side_by_side(options, case, None, report, ["p 0222"], note, susceptibility, as_vector)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "simpeg":
        run_simpeg(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), json.loads(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="prismfield")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the tutorial and the ellipsoid")
    parser.add_argument("--simpeg", type=pathlib.Path, help="the Python of an environment with SimPEG")
    cases = {case.__name__: case for case in (tutorial, ellipsoid, scale, magnetics, two_bodies)}
    parser.add_argument("--cases", nargs="+", default=["tutorial", "ellipsoid"], choices=cases)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args()
    if options.data is None and {"tutorial", "ellipsoid"} & set(options.cases):
        parser.error("tutorial and ellipsoid need --data")
    options.data = options.data and options.data.resolve()
    units = {"ellipsoid": "kg/m3", "magnetics": "SI", "two_bodies": "A/m"}
    for case in options.cases:
        name = f"{case}, {units.get(case, 'g/cm3')}, {options.threads} threads"
        heading = f"{name:<44} {'chi':>6} {'RMS':>10} {'corr.':>6} {'max':>9} {'clock s':>8} {'proc. s':>8} {'MB':>7}"
        print(f"\n{heading}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            cases[case](options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
