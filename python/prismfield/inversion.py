# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Inversion of fields for the densities of a mesh."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prismfield.library import (
    Array,
    CellArrays,
    DataArrays,
    InputError,
    Progress,
    Settings,
    StartModel,
    array,
    compute,
    known_fields,
    lib,
    on_host,
    point_columns,
    pointer,
    start,
)


@dataclass
class Data:
    """Measurements: fields at points, (fields, m) or, of one name, (m,); sigma likewise, or a number, or one a field.

    points, fields, units and axes as forward() has them, with a tuple of coordinates their shape in place of m; units
    and axes are those of values and sigma.
    """

    points: npt.ArrayLike | tuple[npt.ArrayLike, ...]
    fields: str | Iterable[str]
    values: npt.ArrayLike
    sigma: npt.ArrayLike
    units: str = "SI"
    axes: str = "z_up"
    name: str = "data"


@dataclass
class Cells:
    """A mesh between edges that rise, m.

    active: (upward, northing, easting), bool, which cells may change; None: all.
    """

    easting: npt.ArrayLike
    northing: npt.ArrayLike
    upward: npt.ArrayLike
    active: npt.ArrayLike | None = None


@dataclass
class Model:
    """What an inversion came to.

    density: (upward, northing, easting), kg/m3, NaN in inactive cells; density_sigma and depth_of_investigation
    likewise where they were asked for, else None. predicted: of each data set, in its shape, units and axes.
    convergence: columns of the table of solutions by name (beta, phi_d, phi_m, chi, products, seconds). on_target:
    whether the misfit reached its target; message says why not.
    """

    density: Array
    on_target: bool
    message: str
    predicted: list[Array]
    convergence: dict[str, Array]
    density_sigma: Array | None = None
    depth_of_investigation: Array | None = None


@dataclass
class _Set:
    """A data set as the library takes it, and what has to live as long."""

    of: Data
    arrays: DataArrays
    factors: Array
    places: list[int]
    shape: tuple[int, ...]
    held: list[object] = field(default_factory=list)


def _data_set(of: Data) -> _Set:
    asked = known_fields(of.fields if isinstance(of.fields, str) else tuple(of.fields))
    points, columns, shape = point_columns(of.points)
    factors = asked.factors(of.units, of.axes)

    whole = shape if asked.is_one else (asked.n, *shape)

    def rows(name: str, values: npt.ArrayLike) -> Array:
        given = array(f"{of.name}: {name}", values, *whole)
        own = np.empty((asked.n, points.n))
        own[asked.places] = given.reshape(asked.n, points.n)
        return own

    values = rows("values", of.values) / factors[:, np.newaxis]
    spread = on_host(f"{of.name}: sigma", of.sigma)
    if spread.shape in ((), (asked.n,)) and spread.shape != whole:
        spread = np.broadcast_to(spread.reshape(-1, *(1,) * len(shape)), (asked.n, *shape)).reshape(whole)
    sigma = rows("sigma", spread) / np.abs(factors[:, np.newaxis])
    name = of.name.encode()
    arrays = DataArrays(
        name, points, ct.cast(asked.numbers, ct.c_void_p), asked.n, pointer(values), pointer(sigma)
    )
    return _Set(of, arrays, factors, asked.places, whole, [asked, columns, values, sigma, name])


def invert(
    cells: Cells,
    data: Data | Sequence[Data],
    *,
    reference: npt.ArrayLike | None = None,
    start_model: npt.ArrayLike | None = None,
    lower: npt.ArrayLike | None = None,
    upper: npt.ArrayLike | None = None,
    cell_weights: npt.ArrayLike | None = None,
    settings: Mapping[str, object] | None = None,
    space: str = "default",
    threads: int = 0,
    progress: Progress | None = None,
) -> Model:
    """The densities of cells that make the data: as `prismfield invert` finds them, in memory.

    reference, start_model, lower, upper, cell_weights: (upward, northing, easting), or one number; bounds may be
    infinite. progress: called with the part that is done of each step. settings: keys of
    the program's inversion section without its name and what they take, e.g. {"bounds": [0, 500], "smoothness":
    [1, 1, 1], "weighting.kind": "depth"}, and keys of "sensitivity." and "execution."; include/prismfield/prismfield.h
    lists them. Raises InputError, RunError, KeyboardInterrupt.
    """
    edges = [array(n, values, None) for n, values in zip(("easting", "northing", "upward"), vars(cells).values())]
    shape = tuple(len(edge) - 1 for edge in reversed(edges))
    if min(shape) < 1:
        raise InputError(f"cells: {shape} cells upward, northing and easting; two edges or more each way are needed")
    active = np.ones(shape, dtype=bool) if cells.active is None else np.asarray(cells.active)
    if active.shape != shape or active.dtype != bool:
        raise InputError(f"active: has the shape {active.shape} of {active.dtype}; {shape} of bool is needed")
    if not active.any():
        raise InputError("active: no cell is active")
    numbers = np.flatnonzero(active)
    sets = [_data_set(of) for of in ([data] if isinstance(data, Data) else data)]

    def of_cells(name: str, values: npt.ArrayLike | None) -> Array | None:
        if values is None:
            return None
        given = on_host(name, values)
        whole = given if given.ndim else np.broadcast_to(given, shape)
        if whole.shape != shape:
            raise InputError(f"{name}: has the shape {whole.shape}, {shape} is needed")
        return array(name, whole[active], None, allowed="infinite" if name in ("lower", "upper") else "finite")

    kept = [
        of_cells(name, values)
        for name, values in (
            ("reference", reference),
            ("start_model", start_model),
            ("lower", lower),
            ("upper", upper),
            ("cell_weights", cell_weights),
        )
    ]
    model = StartModel(*(None if values is None else pointer(values) for values in kept))
    mesh = CellArrays(
        (ct.c_void_p * 3)(*(pointer(edge) for edge in edges)),
        (ct.c_int64 * 3)(*reversed(shape)),
        pointer(numbers),
        len(numbers),
    )
    keys = {
        key if key.startswith(("sensitivity.", "execution.")) else f"inversion.{key}": value
        for key, value in (settings or {}).items()
    }
    if threads:
        start(threads)
    of_call = Settings({"sensitivity.store": "auto", "execution.space": space, **keys}, progress)
    handle = ct.c_void_p()
    arrays = (DataArrays * len(sets))(*(one.arrays for one in sets))
    compute(
        lib.pf_invert, ct.byref(mesh), arrays, len(sets), ct.byref(model), of_call.handle, ct.byref(handle),
        settings=of_call,
    )  # fmt: skip
    try:
        return _model(handle, sets, active)
    finally:
        lib.pf_inversion_delete(handle)


def _model(handle: ct.c_void_p, sets: list[_Set], active: npt.NDArray[np.bool_]) -> Model:
    """Copies a result out of the library."""

    def values(name: str) -> Array:
        out = np.empty(lib.pf_inversion_values(handle, name.encode(), None))
        lib.pf_inversion_values(handle, name.encode(), pointer(out))
        return out

    def on_mesh(name: str) -> Array | None:
        found = values(name)
        if not found.size:
            return None
        whole = np.full(active.shape, np.nan)
        whole[active] = found
        return whole

    predicted = []
    for number, one in enumerate(sets):
        rows = values(f"predicted/{number}").reshape(len(one.places), -1) * one.factors[:, np.newaxis]
        predicted.append(rows[one.places].reshape(one.shape))
    density = on_mesh("density")
    assert density is not None
    return Model(
        density=density,
        on_target=bool(lib.pf_inversion_on_target(handle)),
        message=lib.pf_inversion_message(handle).decode(),
        predicted=predicted,
        convergence={name: values(name) for name in ("beta", "phi_d", "phi_m", "chi", "products", "seconds")},
        density_sigma=on_mesh("density_sigma"),
        depth_of_investigation=on_mesh("depth_of_investigation"),
    )
