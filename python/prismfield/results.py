# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Results and models of the program as xarray, and their figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from prismfield.library import RunError

if TYPE_CHECKING:
    import xarray as xr


def open(path: str | os.PathLike[str]) -> xr.Dataset:
    """A result or model in netCDF-4 (.nc, .h5), whose arrays are read when they are used; units are attributes."""
    import xarray as xr

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
    with open(path) as dataset:
        is_model = any(name in dataset for name in ("density", "susceptibility", "magnetization_easting"))
        tool = "figures.model" if is_model else "figures.fields"
    code = f"import sys; from prismfield.{tool} import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(path), os.fspath(figure), json.dumps(style)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["not drawn"]
        raise RunError(f"{os.fspath(path)}: {lines[-1]}")
