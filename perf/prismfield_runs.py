# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Runs prismfield and reads its results; shared by the scripts of this folder."""

import os
import resource
import shutil
import statistics
import subprocess
import time

FIELDS = ("gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")


class RunFailed(Exception):
    """A run of prismfield ended with another code than 0."""


def read_result(path, fields=()):
    """Fields and coordinates of a result as arrays (float64, (northing, easting) for a grid), and the attributes of its
    group /performance. Needs h5py or netCDF4."""
    try:
        import h5py
    except ImportError:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            arrays = {name: file[name][...] for name in fields}
            group = file["performance"]
            return arrays, {name: _plain(group.getncattr(name)) for name in group.ncattrs()}
    with h5py.File(path) as file:
        arrays = {name: file[name][...] for name in fields}
        return arrays, {name: _plain(value) for name, value in file["performance"].attrs.items()}


def read_case(path):
    """A case's prisms (n, 6) west, east, south, north, bottom, top and densities (n), and its points, three arrays of
    shape (northing, easting). For voxels of spheres and a flat grid only. Needs numpy and PyYAML."""
    import numpy as np
    import yaml

    with open(path, encoding="utf-8") as file:
        case = yaml.safe_load(file)
    voxels = case["model"]["voxels"]
    if voxels.get("density", 0) != 0 or "boxes" in voxels:
        raise ValueError(f"{path}: only voxels of spheres without a background are understood here")
    edges, middles = [], []
    for low, high, n in (voxels[name] for name in ("easting", "northing", "upward")):
        width = (high - low) / n
        # to the last bit the faces that prismfield computes
        edges.append(np.append(low + np.arange(n) * width, high))
        middles.append(low + (np.arange(n) + 0.5) * width)
    density = np.zeros([len(m) for m in reversed(middles)])
    for sphere in voxels["spheres"]:
        squares = [(m - c) ** 2 for m, c in zip(middles, sphere["center"])]
        distance = squares[2][:, None, None] + squares[1][None, :, None] + squares[0][None, None, :]
        density[distance <= sphere["radius"] ** 2] = sphere["density"]
    k, j, i = np.nonzero(density)
    faces = [edges[0][i], edges[0][i + 1], edges[1][j], edges[1][j + 1], edges[2][k], edges[2][k + 1]]

    grid = case["observations"]["grid"]
    easting, northing = np.meshgrid(*(np.linspace(*grid[name]) for name in ("easting", "northing")))
    upward = np.full(easting.shape, float(grid["upward"]))
    return np.ascontiguousarray(np.stack(faces, axis=1)), density[k, j, i], (easting, northing, upward)


def _plain(value):
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if hasattr(value, "item") else value


def run(prismfield, case, settings, output, threads=None):
    """Runs a case with --set settings ("key=value") into `output`, without its figure. Returns the attributes of
    /performance and, of the whole process, `process_seconds` (wall) and `cpu_seconds` (all threads)."""
    program = shutil.which(os.path.abspath(prismfield)) or shutil.which(str(prismfield))
    if program is None:
        raise RunFailed(f"{prismfield}: there is no such program")
    command = [program, "run", str(case), "--quiet", "--output", str(output), "--set", "output.figure=null"]
    for setting in settings:
        command += ["--set", setting]
    environment = dict(os.environ)
    if threads:
        environment["OMP_NUM_THREADS"] = str(threads)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise RunFailed(f"{' '.join(command)}\nended with {process.returncode}:\n{process.stdout}{process.stderr}")
    _, performance = read_result(output)
    performance["process_seconds"] = seconds
    performance["cpu_seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return performance


def spread(values):
    """Smallest, median and largest of some numbers."""
    return min(values), statistics.median(values), max(values)


def load_note():
    """What this machine was doing besides: cores and load average, in words."""
    try:
        cores = len(os.sched_getaffinity(0))
        return f"{cores} cores, load average {os.getloadavg()[0]:.1f}"
    except (AttributeError, OSError):
        return "load unknown"


def processor():
    """The processor's name, as the machine gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown processor"
