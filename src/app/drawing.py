# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What figures of results and of models have in common: it comes before figure.py or model_figure.py.

The program holds the two as one text and hands it to Python on standard input: python3 - FILE FIGURE.png
Exit codes: 0 drawn, 77 this Python lacks a module, 1 anything else; the last line of standard error says why.
"""

import sys

# A script from standard input finds modules in the working folder first; a random.py lying there must not be taken.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import copy
import math
import os
import pathlib
import secrets
import stat
import string

MISSING_MODULE = 77

# Whatever backend the user's settings name, this draws without a display.
os.environ["MPLBACKEND"] = "Agg"
try:
    import matplotlib.pyplot as plt
    import numpy as np
    import xarray as xr
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
except Exception as error:  # modules built for another NumPy fail in many ways
    print(str(error).replace("\n", " "), file=sys.stderr)
    sys.exit(MISSING_MODULE)

SYMBOLS = {
    "potential": "Potential $V$",
    "gx": "$g_x$",
    "gy": "$g_y$",
    "gz": "$g_z$",
    "gxx": "$g_{xx}$",
    "gyy": "$g_{yy}$",
    "gzz": "$g_{zz}$",
    "gxy": "$g_{xy}$",
    "gxz": "$g_{xz}$",
    "gyz": "$g_{yz}$",
}
UNITS = {"Eotvos": "Eötvös", "1e-9 s-2": "Eötvös", "m2 s-2": "m² s⁻²"}
GREY = "0.45"


def open_file(path, group=None):
    """The dataset, by the first engine of xarray that is installed for netCDF-4."""
    for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
        try:
            __import__(module)
        except Exception:
            continue
        with xr.open_dataset(path, engine=engine, group=group) as dataset:
            return dataset.load()
    print("xarray needs netCDF4 or h5netcdf to open the file", file=sys.stderr)
    sys.exit(MISSING_MODULE)


def scaled(values, unit):
    """Values and unit with a power of ten taken out, so that every tick is a short number."""
    finite = np.abs(values[np.isfinite(values)])
    largest = finite.max() if finite.size else 0.0
    unit = UNITS.get(unit, unit)
    if largest == 0 or 0.01 <= largest < 1e4:
        return values, unit
    exponent = 3 * math.floor(math.log10(largest) / 3)
    return values / 10.0**exponent, f"$10^{{{exponent}}}$ {unit}"


def length_unit(*spans):
    """Kilometres for a survey of kilometres, else metres."""
    return (1e-3, "km") if max(spans) >= 2000 else (1.0, "m")


def plain_ticks(axis, count=5):
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_scientific(False)
    axis.set_major_formatter(formatter)
    axis.set_major_locator(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]))


def count_text(n):
    return "1 station" if n == 1 else f"{n:,} stations".replace(",", " ")


def new_file_beside(target):
    """A new file's name and the file, with the permissions of the one that it will replace, else the usual ones; no
    link that somebody put there is followed."""
    old = stat.S_IMODE(os.stat(target).st_mode) & 0o777 if target.exists() else None
    while True:
        word = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(6))
        part = target.with_name(f".{target.name}.part-{word}")
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR
        try:
            descriptor = os.open(part, flags, 0o666 if old is None else 0o600)
        except FileExistsError:
            continue
        if old is not None:
            os.fchmod(descriptor, old)
        return part, os.fdopen(descriptor, "w+b")


def save(page, figure):
    target = pathlib.Path(figure)
    # A link is written through; beside the target, so that the rename stays within one file system.
    target = pathlib.Path(os.path.realpath(target))
    part, stream = new_file_beside(target)
    try:
        with stream:
            page.savefig(stream, format=target.suffix[1:], dpi=180, facecolor="white")
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


def main(draw_file):
    """Draws the first argument, a file, by the function given, and saves it as the second."""
    try:
        plt.rcParams.update({"font.family": "DejaVu Sans", "svg.fonttype": "path", "pdf.fonttype": 42})
        save(draw_file(sys.argv[1]), sys.argv[2])
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr)
        sys.exit(1)
