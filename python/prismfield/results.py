# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Results and models of the program as xarray, and their figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import prismfield
from prismfield.library import InputError, RunError

if TYPE_CHECKING:
    import h5py
    import xarray as xr


def _opened(path: str | os.PathLike[str]) -> h5py.File:
    from prismfield.hdf5_file import open_hdf5

    try:
        return open_hdf5(path)
    except ValueError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None


def open(path: str | os.PathLike[str]) -> xr.Dataset:
    """A result or model in netCDF-4 (.nc, .h5), whose arrays are read when they are used; units are attributes.

    Raises InputError for one whose values lie in other files, OSError for what is no such file.
    """
    import xarray as xr

    _opened(path).close()
    lazy: xr.Dataset = xr.open_dataset(path)
    return lazy


def read(path: str | os.PathLike[str]) -> xr.Dataset:
    """A result or model in netCDF-4 (.nc, .h5) in memory; the file is closed."""
    with open(path) as lazy:
        held: xr.Dataset = lazy.load()
    return held


def plot(path: str | os.PathLike[str], figure: str | os.PathLike[str], **style: object) -> None:
    """Draws the figure of a result or model, .png, .svg or .pdf, as `prismfield plot` does.

    style: fields (a list of names) and dpi. It runs in a process of its own, so that matplotlib here stays as it is.
    Raises RunError with the reason for what cannot be drawn.
    """
    with _opened(path) as file:
        is_model = any(name in file for name in ("density", "susceptibility", "magnetization_easting"))
        tool = "figures.model" if is_model else "figures.fields"
    # Nothing of the working folder is run or read, as `prismfield plot` has it: no matplotlib.py, no matplotlibrc.
    here = os.getcwd()
    folders = [folder for folder in map(os.path.abspath, sys.path) if folder != here]
    folders += [os.path.dirname(folder) for folder in map(os.path.abspath, prismfield.__path__)]
    code = f"import sys; sys.path[:] = {folders!r}; from prismfield.{tool} import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.abspath(path), os.path.abspath(figure), json.dumps(style)],
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["not drawn"]
        raise RunError(f"{os.fspath(path)}: {lines[-1].removeprefix(os.path.abspath(path) + ': ')}")
