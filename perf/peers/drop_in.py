#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Times prismfield's Python package beside harmonica, choclo and SimPEG, whose functions it has, in one run.

    drop_in.py
    drop_in.py --data FOLDER --threads 2 --turns 5
    drop_in.py --quick

Start it with a Python that has prismfield (installed, or python on PYTHONPATH and PRISMFIELD_LIBRARY) and those of the
others that shall be compared; what is not there is skipped, with its reason. FOLDER is SimPEG's tutorial of gravity
(gravity_data.obs, gravity_topo.txt); without it a block and a sphere in the same mesh make the data. The first call of
each side, which compiles or starts threads, is not counted; its values are compared. Then the sides take turns, on the
same threads and in the same precision, short calls repeated; threads that wait sleep, unless OMP_WAIT_POLICY says
otherwise. What is printed are seconds of a call on all processors, the ratios of theirs to ours, median [least, most]
by turns, and the largest difference over the largest value. What needs memory or long runs has a process a side, after
a small case in it that is not counted either; memory is the peak of the whole process (VmHWM), packages included.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare  # noqa: E402

NINE = ("gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
# Shorter calls are repeated until their turn takes so long.
SECONDS_OF_A_TURN = 0.2
# Options of the small case that is run before one of a process.
SMALL = argparse.Namespace(quick=True, data=None)


class Missing(Exception):
    """A package is not there."""


def need(*packages):
    """Missing where one of them cannot be imported."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise Missing(f"{package} is not installed")


def processor_seconds(call, repeats):
    """Of one call: all threads, and by the clock."""
    begin = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin[1]) / repeats, (time.perf_counter() - begin[0]) / repeats


def difference(ours, theirs):
    """Largest, relative to the largest value."""
    import numpy as np

    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


class Table:
    """Prints a line a comparison."""

    def __init__(self, options):
        self.options = options
        print("| what | ours, processor s | theirs | processor | clock | difference | memory, ours, theirs, MB |")
        print("|---|---|---|---|---|---|---|", flush=True)

    def wants(self, name):
        return not self.options.only or any(text in name for text in self.options.only)

    def compare(self, name, ours, theirs):
        """A line for two functions that return the same, in this process."""
        if not self.wants(name):
            return
        found = difference(ours(), theirs())
        times = []
        for side in (ours, theirs):
            taken = processor_seconds(side, 1)[1]
            times.append((side, max(1, int(SECONDS_OF_A_TURN / max(taken, 1e-7))), []))
        for _ in range(self.options.turns):
            for side, repeats, taken in times:
                taken.append(processor_seconds(side, repeats))
        self.line(name, times[0][2], times[1][2], found)

    def compare_processes(self, name, ours, theirs, turns=None):
        """A line for two tasks of CHILDREN with their arguments, a process each."""
        import numpy as np

        if not self.wants(name):
            return
        times, memory, values = ([], []), ([], []), [None, None]
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(turns or self.options.turns):
                for side, task in enumerate((ours, theirs)):
                    path = pathlib.Path(folder) / f"{side}.npy"
                    words = [*task, "--values", str(path), "--threads", str(self.options.threads)]
                    words += ["--quick"] * self.options.quick
                    words += ["--data", str(self.options.data)] if self.options.data else []
                    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True)
                    if done.returncode != 0:
                        raise RuntimeError(f"{name}: {done.stderr}")
                    told = json.loads(done.stdout.splitlines()[-1])
                    times[side].append((told["processor"], told["clock"]))
                    memory[side].append(told["memory"])
                    values[side] = np.load(path)
        largest = ", ".join(f"{max(one):,.0f}" for one in memory)
        self.line(name, *times, difference(*values), largest)

    def line(self, name, ours, theirs, found, memory=""):
        ratios = []
        for of in (0, 1):
            low_high = compare.spread([their[of] / our[of] for our, their in zip(ours, theirs)])
            ratios.append("{} [{}, {}]".format(*map(compare.number, low_high)))
        seconds = [compare.spread([one[0] for one in side])[0] for side in (ours, theirs)]
        cells = [name, *(f"{one:.3g}" for one in seconds), *ratios, f"{found:.1e}", memory]
        print("| " + " | ".join(cells) + " |", flush=True)


def small_calls(table):
    import numpy as np

    import prismfield as pf
    from prismfield import harmonica as ours

    random = np.random.default_rng(1)
    prisms, density = random_prisms(random, 100)
    points = tuple(random.uniform(-1000, 1000, (2, 100))) + (random.uniform(1200, 1500, 100),)
    need("harmonica")
    import harmonica as theirs

    for n in (1, 100):
        some = prisms[:n], density[:n], tuple(column[:n] for column in points)
        call = some[2], some[0], some[1], "g_z"

        def theirs_call(call=call):
            return theirs.prism_gravity(*call, parallel=False)

        def forward_call(some=some):
            return pf.forward(*some, "gz", units="mGal", axes="z_down")

        table.compare(f"forward, {n} x {n}, harmonica's prism_gravity", forward_call, theirs_call)
        table.compare(f"prism_gravity, {n} x {n}", lambda call=call: ours.prism_gravity(*call), theirs_call)


def choclo_scalars(table):
    need("choclo", "numba")
    import choclo
    import numba
    import numpy as np

    import prismfield.choclo as ours

    random = np.random.default_rng(2)
    prisms, density = random_prisms(random, 100)
    points = random.uniform(-1000, 1000, (100, 3)) + [0, 0, 2300]

    @numba.njit
    def field(kernel, points, prisms, density):
        out = np.zeros(len(points))
        for p in range(len(points)):
            for m in range(len(prisms)):
                w, e, s, n, b, t = prisms[m]
                out[p] += kernel(points[p, 0], points[p, 1], points[p, 2], w, e, s, n, b, t, density[m])
        return out

    for name in ("gravity_u", "gravity_uu"):
        kernels = getattr(ours, name), getattr(choclo.prism, name)
        calls = [lambda kernel=kernel: field(kernel, points, prisms, density) for kernel in kernels]
        table.compare(f"choclo's {name} in a loop of numba, 100 x 100", *calls)


def random_prisms(random, n):
    """Prisms of 20 to 200 m in a box of 2 km, and densities."""
    import numpy as np

    low = random.uniform(-1000, 1000, (n, 3))
    return np.stack([low, low + random.uniform(20, 200, (n, 3))], axis=-1).reshape(n, 6), random.uniform(0, 3000, n)


def grid(n, half, height):
    import numpy as np

    easting, northing = np.meshgrid(np.linspace(-half, half, n), np.linspace(-half, half, n))
    return easting, northing, np.full_like(easting, height)


def lists(table):
    """harmonica's prism_gravity and choclo's kernels in a loop of ours, parallel over points."""
    import types

    import numpy as np
    import programs

    import prismfield as pf
    from prismfield import harmonica as ours

    quick = table.options.quick
    n, m = (200, 5) if quick else (20_000, 20)
    prisms, density = random_prisms(np.random.default_rng(3), n)
    points = grid(m, 1000, 1300.0)
    size = f"{n:,} prisms x {m * m:,} points"
    parallel = table.options.threads > 1
    arguments = points, prisms, density
    need("harmonica")
    import harmonica as theirs

    for fields in (["g_z"], ["g_zz"], list(ours.FIELDS)):
        calls = [
            lambda module=module, fields=fields: [
                module.prism_gravity(*arguments, field, parallel=parallel) / scale_of(field) for field in fields
            ]
            for module in (ours, theirs)
        ]
        name = fields[0] if len(fields) == 1 else "ten fields, one after the other"
        table.compare(f"harmonica's prism_gravity, {name}, {size}", *calls)
    need("choclo")
    choclo = programs.Choclo(".")
    choclo.prepare(types.SimpleNamespace(prisms=prisms, densities=density))
    columns = tuple(column.ravel() for column in points)
    for fields in (("gz",), NINE):
        calls = [
            lambda fields=fields: [
                *(row / scale_of(field) for row, field in zip(forward(pf, prisms, density, columns, fields), fields))
            ],
            lambda fields=fields: [
                values / scale_of(field)
                for field, values in choclo.compute(fields, columns, table.options.threads).items()
            ],
        ]
        name = fields[0] if len(fields) == 1 else "nine fields side by side"
        table.compare(f"forward beside choclo in a loop, {name}, {size}", *calls)


def forward(pf, prisms, density, points, fields):
    return pf.forward(prisms, density, points, list(fields), units="mGal", axes="z_down")


def scale_of(field):
    """So that fields of unlike units can be compared in one array: some 10 mGal, 100 Eotvos, 0.1 J/kg."""
    letters = field.removeprefix("g_") if "_" in field else field[1:]
    return {1: 10.0, 2: 100.0}.get(len(letters), 0.1)


def layers(table):
    need("harmonica", "xarray")
    import harmonica
    import numpy as np

    import prismfield.harmonica as ours

    parallel = table.options.threads > 1
    sizes = [(10, 5, False)] if table.options.quick else [(100, 30, False), (320, 40, True)]
    for n, m, only_gz in sizes:
        edges = np.linspace(-10_000, 10_000, n)
        e, north = np.meshgrid(edges, edges)
        surface = 300 + 250 * np.sin(e / 1700) * np.cos(north / 2300)
        layer = harmonica.prism_layer((edges, edges), surface, reference=0.0, properties={"density": 0 * e + 2670.0})
        points = grid(m, 9000, 700.0)
        for fields in [["g_z"]] if only_gz else [["g_z"], ["g_zz"], list(ours.FIELDS)]:
            calls = [
                lambda accessor=accessor, fields=fields: [
                    accessor.gravity(points, field, parallel=parallel) / scale_of(field) for field in fields
                ]
                for accessor in (layer.prismfield, layer.prism_layer)
            ]
            name = fields[0] if len(fields) == 1 else "ten fields, one after the other"
            table.compare(f"harmonica's prism layer, {name}, {n * n:,} columns x {m * m:,} points", *calls)
    if not table.options.quick:
        table.compare_processes("memory of harmonica's layer, g_z, 102,400 columns x 100 points", *(
            ["--child", "layer", "--side", side] for side in ("prismfield", "harmonica")
        ))  # fmt: skip


def child_layer(options):
    """A layer's g_z, by the side's accessor."""
    import harmonica
    import numpy as np

    import prismfield.harmonica  # noqa: F401

    def run(n):
        edges = np.linspace(-10_000, 10_000, n)
        e, _ = np.meshgrid(edges, edges)
        layer = harmonica.prism_layer((edges, edges), 300 + e / 50, 0.0, properties={"density": 0 * e + 2670.0})
        accessor = layer.prismfield if options.side == "prismfield" else layer.prism_layer
        return lambda: accessor.gravity(grid(10, 9000, 700.0), "g_z", parallel=options.threads > 1)

    run(10)()
    return run(320)


def simpeg_mesh(options):
    """The mesh, stations and topography of SimPEG's tutorial; those of the file, or a plane with a grid of stations."""
    import invert
    import numpy as np
    from discretize import TensorMesh
    from discretize.utils import active_from_xyz

    if options.quick:
        return TensorMesh([[20.0] * 8, [20.0] * 7, [20.0] * 5], "CCN"), None, np.ones(280, dtype=bool), quick_stations()
    flat, down = invert.tutorial_widths()
    mesh = TensorMesh([np.array(flat), np.array(flat), np.array(down)], "CCN")
    if options.data:
        observed = np.loadtxt(options.data / "gravity_data.obs")
        active = active_from_xyz(mesh, np.loadtxt(options.data / "gravity_topo.txt"))
        return mesh, observed[:, 3], active, observed[:, :3]
    stations = np.stack([column.ravel() for column in grid(17, 80, 3.0)], axis=1)
    return mesh, None, np.ones(mesh.n_cells, dtype=bool), stations


def quick_stations():
    import numpy as np

    return np.stack([column.ravel() for column in grid(5, 60, 3.0)], axis=1)


def simulation(side, store, mesh, active, stations, components, **options):
    """A simulation of SimPEG's with one of its engines, or ours."""
    from simpeg import maps
    from simpeg.potential_fields import gravity

    survey = gravity.Survey(gravity.SourceField([gravity.Point(stations, components=list(components))]))
    common = {
        "survey": survey, "rhoMap": maps.IdentityMap(nP=int(active.sum())), "active_cells": active,
        "store_sensitivities": store, **options,
    }  # fmt: skip
    if side == "prismfield":
        from prismfield.simpeg import Simulation3DIntegral

        return Simulation3DIntegral(mesh, **common)
    return gravity.Simulation3DIntegral(mesh, engine=side, **common)


def simpeg_products(table):
    need("simpeg", "discretize", "choclo", "geoana")
    import numpy as np

    mesh, _, active, stations = simpeg_mesh(table.options)
    parallel = table.options.threads > 1
    n = int(active.sum())
    vector = np.random.default_rng(4).normal(size=n)
    six = ("gz", "gxx", "gxy", "gxz", "gyy", "gyz", "gzz")
    for components, some in ((("gz",), stations), (six, stations[::6])):
        size = f"{n:,} cells x {len(some)} stations, {'gz' if len(components) == 1 else 'gz and tensor'}"
        data = np.random.default_rng(5).normal(size=len(some) * len(components))

        def made(side, store, some=some, components=components):
            own = {} if side == "geoana" else {"numba_parallel": parallel}
            return simulation(side, store, mesh, active, some, components, **own)

        for engine in ("choclo", "geoana"):
            table.compare(
                f"SimPEG, {engine}: G in ram, {size}",
                lambda made=made: made("prismfield", "ram").G,
                lambda made=made, engine=engine: made(engine, "ram").G,
            )
        kept = [made(side, "ram") for side in ("prismfield", "choclo")]
        anew = [made(side, "forward_only") for side in ("prismfield", "choclo")]
        for store, pair in (("ram", kept), ("forward_only", anew)):
            for method, given in (("Jvec", vector), ("Jtvec", data)):
                calls = [lambda s=s, method=method, given=given: getattr(s, method)(vector, given) for s in pair]
                table.compare(f"SimPEG, choclo: {method}, {store}, {size}", *calls)
        calls = [lambda s=made(side, "forward_only"): s.dpred(vector) for side in ("prismfield", "geoana")]
        table.compare(f"SimPEG, geoana: dpred, forward_only, {size}", *calls)


def simpeg_inversions(table):
    need("simpeg", "discretize", "choclo", "geoana")
    for engine, store in (("choclo", "ram"), ("geoana", "ram"), ("choclo", "forward_only")):
        tasks = (["--child", "inversion", "--side", side, "--store", store] for side in ("prismfield", engine))
        name = f"SimPEG, {engine}: the tutorial's inversion, {store}"
        table.compare_processes(name, *tasks, turns=1 if store == "forward_only" else None)
    tasks = (["--child", "matrix", "--side", side, "--store", "ram"] for side in ("prismfield", "choclo"))
    table.compare_processes("SimPEG, choclo: memory of G in ram, gz", *tasks)


def child_matrix(options):
    """G of the tutorial."""

    def run(mesh, _, active, stations):
        return lambda: simulation(options.side, options.store, mesh, active, stations, ["gz"]).G

    run(*simpeg_mesh(SMALL))()
    return run(*simpeg_mesh(options))


def child_inversion(options):
    """A smooth inversion as SimPEG's tutorial does it, sigma a hundredth of the largest datum."""
    import contextlib
    import io

    import invert
    import numpy as np

    own = {} if options.side == "geoana" else {"numba_parallel": options.threads > 1}

    def run(mesh, observed, active, stations):
        if observed is None:
            centres = mesh.cell_centers
            block = (np.abs(centres - [-30, 0, -22]) < [15, 25, 12]).all(axis=1)
            sphere = ((centres - [35, 0, -25]) ** 2).sum(axis=1) < 15**2
            truth = (0.2 * sphere - 0.2 * block)[active]
            observed = simulation("prismfield", "ram", mesh, active, stations, ["gz"]).dpred(truth)
            sigma = 0.01 * np.abs(observed).max()
            observed = observed + sigma * np.random.default_rng(6).normal(size=observed.size)
        sigma = 0.01 * np.abs(observed).max()
        made = simulation(options.side, options.store, mesh, active, stations, ["gz"], **own)
        return lambda: invert.simpeg_inversion(made, mesh, active, observed, sigma)

    with contextlib.redirect_stdout(io.StringIO()):
        run(*simpeg_mesh(SMALL))()
    return run(*simpeg_mesh(options))


CHILDREN = {"layer": child_layer, "matrix": child_matrix, "inversion": child_inversion}


def peak_memory():
    """Of this process, MB."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def be_child(options):
    """Runs a task of CHILDREN, saves its values and prints what it took as JSON."""
    import numpy as np

    run = CHILDREN[options.child](options)
    begin = time.perf_counter(), time.process_time()
    values = run()
    told = {"processor": time.process_time() - begin[1], "clock": time.perf_counter() - begin[0]}
    np.save(options.values, values)
    print("\n" + json.dumps(told | {"memory": peak_memory()}))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="folder of SimPEG's tutorial")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of both; default: all cores")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small cases: whether everything runs")
    parser.add_argument("--only", action="append", metavar="TEXT", help="lines with this text; may be repeated")
    for name in ("child", "side", "store", "values"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    # Before NumPy, numba and the library start their threads. Those that wait sleep: on a busy machine they would count
    # for seconds of processor time by waiting for one that another program keeps from its core.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    if options.child:
        be_child(options)
        return 0
    try:
        need("numpy", "prismfield")
    except Missing as why:
        print(f"nothing is compared: {why}")
        return 77
    print(f"{compare.processor_name()}, {options.threads} threads, {compare.load_text()} at the start\n")
    table = Table(options)
    notes = []
    for group in (small_calls, choclo_scalars, lists, layers, simpeg_products, simpeg_inversions):
        try:
            group(table)
        except Missing as why:
            notes.append(f"{group.__name__}: left out, {why}")
    versions = []
    for name in ("prismfield", "harmonica", "choclo", "numba", "simpeg", "geoana", "numpy"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    print("\n" + "\n".join([*notes, ", ".join(versions), f"{compare.load_text()} at the end"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
