# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The programs that prismfield is timed beside. Each computes fields of a Model at points in mGal and Eotvos, z down,
with its own gravitational constant."""

import importlib.metadata
import os
import pathlib
import resource
import shutil
import subprocess

import numpy as np

FIELDS = ("gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")


def processor_seconds():
    """Of this process with all its threads, and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Program:
    """One program. compute() is what is timed; prepare() and a first compute(), which compiles, are not."""

    name = ""
    # what it has of FIELDS
    fields = FIELDS
    constant = 6.6743e-11
    # whether it computes several fields for less than one after the other
    together = False
    many_threads = True
    # how many times --seconds it needs until what it does once no longer counts
    patience = 1
    note = ""

    def __init__(self, work):
        self.work = pathlib.Path(work)

    def version(self):
        return importlib.metadata.version(self.name)

    def missing(self):
        """Why it cannot be timed here, or ''."""
        return ""

    def threads_among(self, threads):
        """The numbers of threads that it can use."""
        return threads if self.many_threads else [n for n in threads if n == 1]

    def prepare(self, model):
        self.model = model

    def compute(self, fields, points, threads):
        """{field: values} at points (easting, northing, upward)."""
        raise NotImplementedError


def use_numba_threads(threads):
    import numba

    numba.set_num_threads(threads)


class Harmonica(Program):
    """One pass over all pairs for each field, as its users do it."""

    name = "harmonica"
    note = "on choclo, a pass a field"
    own = {
        "gx": "g_e",
        "gy": "g_n",
        "gz": "g_z",
        "gxx": "g_ee",
        "gyy": "g_nn",
        "gzz": "g_zz",
        "gxy": "g_en",
        "gxz": "g_ez",
        "gyz": "g_nz",
    }

    def compute(self, fields, points, threads):
        import harmonica

        use_numba_threads(threads)
        return {
            field: harmonica.prism_gravity(
                points,
                self.model.prisms,
                self.model.densities,
                self.own[field],
                parallel=threads > 1,
                disable_checks=True,
            )
            for field in fields
        }


class Choclo(Program):
    """choclo's kernels of the nine fields side by side in one compiled loop over prisms, parallel over points."""

    name = "choclo"
    note = "its kernels in a loop of ours, all fields of a pair side by side"
    together = True
    # z is up in choclo: gz, gxz and gyz change their sign
    own = {
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

    def prepare(self, model):
        import choclo
        import numba

        super().prepare(model)
        kernels = [getattr(choclo.prism, self.own[field][0]) for field in FIELDS]
        k0, k1, k2, k3, k4, k5, k6, k7, k8 = kernels

        @numba.jit(nopython=True, parallel=True)
        def one(easting, northing, upward, prisms, densities, kernel, out):
            for p in numba.prange(easting.size):
                for m in range(prisms.shape[0]):
                    w, x, s, t, b, h = prisms[m]
                    out[p] += kernel(easting[p], northing[p], upward[p], w, x, s, t, b, h, densities[m])

        @numba.jit(nopython=True, parallel=True)
        def nine(easting, northing, upward, prisms, densities, out):
            for p in numba.prange(easting.size):
                e, n, u = easting[p], northing[p], upward[p]
                for m in range(prisms.shape[0]):
                    w, x, s, t, b, h = prisms[m]
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

        self.kernels, self.one, self.nine = dict(zip(FIELDS, kernels)), one, nine

    def compute(self, fields, points, threads):
        use_numba_threads(threads)
        if tuple(fields) == FIELDS:
            out = np.zeros((9, points[0].size))
            self.nine(*points, self.model.prisms, self.model.densities, out)
            return {field: self.own[field][1] * row for field, row in zip(FIELDS, out)}
        found = {}
        for field in fields:
            out = np.zeros(points[0].size)
            self.one(*points, self.model.prisms, self.model.densities, self.kernels[field], out)
            found[field] = self.own[field][1] * out
        return found


class Simpeg(Program):
    """SimPEG's forward operator on the mesh of all cells, those with density active; engine choclo, nothing stored."""

    name = "simpeg"
    note = "a mesh: every node once for the cells around it; engine choclo, nothing stored"
    together = True
    patience = 4
    own_sign = {"gz": -1, "gxz": -1, "gyz": -1}

    def prepare(self, model):
        import discretize

        super().prepare(model)
        widths = [np.diff(edge) for edge in model.edges]
        self.mesh = discretize.TensorMesh(widths, origin=[edge[0] for edge in model.edges])
        self.active = np.zeros(self.mesh.n_cells, dtype=bool)
        # Its cells count as ours do: easting fastest, upward from the bottom.
        self.active[model.cells] = True
        self.simulations = {}

    def compute(self, fields, points, threads):
        from simpeg import maps
        from simpeg.potential_fields import gravity

        use_numba_threads(threads)
        key = (tuple(fields), points[0].size, threads)
        if key not in self.simulations:
            # Made once a shape, as in an inversion.
            receivers = gravity.receivers.Point(np.stack(points, axis=1), components=list(fields))
            survey = gravity.survey.Survey(gravity.sources.SourceField(receiver_list=[receivers]))
            self.simulations[key] = gravity.simulation.Simulation3DIntegral(
                survey=survey,
                mesh=self.mesh,
                rhoMap=maps.IdentityMap(nP=int(self.active.sum())),
                active_cells=self.active,
                store_sensitivities="forward_only",
                engine="choclo",
                numba_parallel=threads > 1,
            )
        # A field a column, the points of one receiver after the other; g/cm3.
        values = self.simulations[key].fields(1e-3 * self.model.densities).reshape(-1, len(fields))
        return {field: self.own_sign.get(field, 1) * values[:, i] for i, field in enumerate(fields)}


class PolyhedralGravity(Program):
    """A polyhedron of twelve triangles a prism; all fields come at once."""

    name = "polyhedral-gravity"
    note = "twelve triangles a prism; potential and nine fields always at once"
    together = True
    always_all = True
    own = {
        "gx": (1, 0, 1e5),
        "gy": (1, 1, 1e5),
        "gz": (1, 2, -1e5),
        "gxx": (2, 0, 1e9),
        "gyy": (2, 1, 1e9),
        "gzz": (2, 2, 1e9),
        "gxy": (2, 3, 1e9),
        "gxz": (2, 4, -1e9),
        "gyz": (2, 5, -1e9),
    }
    faces = [
        [0, 2, 1],
        [0, 3, 2],
        [4, 5, 6],
        [4, 6, 7],
        [0, 1, 5],
        [0, 5, 4],
        [1, 2, 6],
        [1, 6, 5],
        [2, 3, 7],
        [2, 7, 6],
        [3, 0, 4],
        [3, 4, 7],
    ]

    def prepare(self, model):
        import polyhedral_gravity as pg

        super().prepare(model)
        self.bodies = []
        for (w, e, s, n, b, t), density in zip(model.prisms.tolist(), model.densities.tolist()):
            corners = [[w, s, b], [e, s, b], [e, n, b], [w, n, b], [w, s, t], [e, s, t], [e, n, t], [w, n, t]]
            body = pg.Polyhedron(
                (corners, self.faces), density, pg.NormalOrientation.OUTWARDS, pg.PolyhedronIntegrity.DISABLE
            )
            self.bodies.append(pg.GravityEvaluable(body))

    def compute(self, fields, points, threads):
        places = np.stack(points, axis=1).tolist()
        total = np.zeros((len(places), 9))
        for body in self.bodies:
            for row, (_, vector, tensor) in zip(total, body(places, threads > 1)):
                row += (*vector, *tensor)
        total = np.ascontiguousarray(total.T)
        return {
            field: self.own[field][2] * total[(self.own[field][0] - 1) * 3 + self.own[field][1]] for field in fields
        }


class Gravprisms(Program):
    """GMT's gravprisms, a process a field, files included."""

    name = "gravprisms"
    fields = ("gz", "gzz")
    many_threads = False
    note = "GMT; a process a field, reading and writing included; one thread"
    # With heights upward (-A) its gzz has the other sign.
    own = {"gz": ("-Ff", 1), "gzz": ("-Fv", -1)}

    def version(self):
        return subprocess.run(["gmt", "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def missing(self):
        if not shutil.which("gmt"):
            return "no gmt on PATH (Debian: gmt)"
        listed = subprocess.run(["gmt", "gravprisms"], capture_output=True, text=True)
        return "" if "gravprisms" in listed.stdout + listed.stderr else "this gmt has no gravprisms (6.4 has)"

    def prepare(self, model):
        super().prepare(model)
        w, e, s, n, b, t = model.prisms.T
        table = np.stack([(w + e) / 2, (s + n) / 2, b, t, e - w, n - s, model.densities], axis=1)
        self.table = self.work / "gravprisms.txt"
        np.savetxt(self.table, table, fmt="%.17g")

    def compute(self, fields, points, threads):
        places = self.work / "gravprisms_points.txt"
        np.savetxt(places, np.stack(points, axis=1), fmt="%.17g")
        found = {}
        for field in fields:
            command = ["gmt", "gravprisms", str(self.table), "-A", self.own[field][0], f"-N{places}"]
            command.append("--FORMAT_FLOAT_OUT=%.17g")
            done = subprocess.run(command, capture_output=True, text=True, cwd=self.work)
            if done.returncode != 0:
                raise RuntimeError(f"gmt gravprisms ended with {done.returncode}: {done.stderr.strip()}")
            values = [float(line.split()[3]) for line in done.stdout.splitlines() if line.strip()]
            found[field] = self.own[field][1] * np.array(values)
        return found


class Tesseroids(Program):
    """The prism programs of tesseroids (prismgx ... prismgzz), a process a field, files included."""

    name = "tesseroids"
    constant = 6.673e-11
    many_threads = False
    note = "a process a field, reading and writing included; one thread"
    # Its x is north, its y east and its z down: programs by that, signs by ours.
    own = {
        "gx": "prismgy",
        "gy": "prismgx",
        "gz": "prismgz",
        "gxx": "prismgyy",
        "gyy": "prismgxx",
        "gzz": "prismgzz",
        "gxy": "prismgxy",
        "gxz": "prismgyz",
        "gyz": "prismgxz",
    }

    def version(self):
        said = subprocess.run(["prismgz", "--version"], capture_output=True, text=True)
        return (said.stdout or said.stderr).split("\n")[0].strip()[:60]

    def missing(self):
        lacking = [program for program in self.own.values() if not shutil.which(program)]
        return f"not on PATH: {', '.join(lacking)}" if lacking else ""

    def prepare(self, model):
        super().prepare(model)
        w, e, s, n, b, t = model.prisms.T
        self.table = self.work / "tesseroids.txt"
        np.savetxt(self.table, np.stack([s, n, w, e, -t, -b, model.densities], axis=1), fmt="%.17g")

    def compute(self, fields, points, threads):
        easting, northing, upward = points
        places = "\n".join("%.17g %.17g %.17g" % row for row in zip(northing, easting, -upward)) + "\n"
        found = {}
        for field in fields:
            done = subprocess.run([self.own[field], str(self.table)], input=places, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{self.own[field]} ended with {done.returncode}: {done.stderr.strip()}")
            rows = [line.split() for line in done.stdout.splitlines() if line.strip() and not line.startswith("#")]
            found[field] = np.array([float(row[3]) for row in rows])
        return found


class Prismfield(Program):
    """This project's program, a process a set of fields; its field time is what counts, the whole grid computed."""

    name = "prismfield"
    together = True

    def __init__(self, work, program, case):
        super().__init__(work)
        self.program, self.case = program, case

    def version(self):
        said = subprocess.run([self.program, "info"], capture_output=True, text=True, check=True).stdout
        return said.split("\n")[0].split()[1]

    def run(self, fields, threads, precision="double"):
        """Field seconds, processor seconds of the whole program, pairs, and {field: values of the whole grid}."""
        import h5py

        output = self.work / "prismfield.h5"
        settings = [f"gravitational_constant={self.constant!r}", f"fields=[{', '.join(fields)}]", "axes=z_down"]
        settings += [f"execution.precision={precision}", "output.figure=null"]
        command = [self.program, "run", str(self.case), "--quiet", "--output", str(output)]
        for setting in settings:
            command += ["--set", setting]
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        before = processor_seconds()
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        spent = processor_seconds() - before
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
        with h5py.File(output) as file:
            attributes = file["performance"].attrs
            values = {field: file[field][...].ravel() for field in fields}
            return float(attributes["field_seconds"]), spent, int(attributes["pairs"]), values


PEERS = {program.name: program for program in (Harmonica, Choclo, Simpeg, PolyhedralGravity, Gravprisms, Tesseroids)}
