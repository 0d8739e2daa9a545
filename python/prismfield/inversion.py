# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Inversion of fields for the densities, susceptibilities or magnetisations of a mesh."""

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

# What can be inverted for, and the numbers that a cell has of it.
_COMPONENTS = {"density": 1, "susceptibility": 1, "magnetization": 3}


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

    density, kg/m3, or susceptibility, SI: (upward, northing, easting), or magnetization, A/m: (upward, northing,
    easting, 3) along easting, northing, upward; NaN in inactive cells, and None of what was not the unknown. Its
    standard deviation, named likewise with _sigma, and depth_of_investigation, (upward, northing, easting), where they
    were asked for, else None. predicted: of each data set, in its shape, units and axes. convergence: columns of the
    table of solutions by name (beta, phi_d, phi_m, chi, products, seconds). on_target: whether the misfit reached its
    target; message says why not.
    """

    on_target: bool
    message: str
    predicted: list[Array]
    convergence: dict[str, Array]
    density: Array | None = None
    susceptibility: Array | None = None
    magnetization: Array | None = None
    density_sigma: Array | None = None
    susceptibility_sigma: Array | None = None
    magnetization_sigma: Array | None = None
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
    unknown: str = "density",
    inducing_field: tuple[float, float, float] | None = None,
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
    """What cells are made of that make the data: as `prismfield invert` finds it, in memory.

    unknown: "density" (kg/m3), "susceptibility" (SI) or "magnetization" (A/m, three components a cell); data of the
    last two are of bx, by, bz, tmi and their derivatives. inducing_field: as forward() has it, for susceptibilities and
    what is along it. reference, start_model, lower, upper, in the unit of the unknown, and cell_weights: (upward,
    northing, easting), or one number; of a magnetization, but for cell_weights, (upward, northing, easting, 3), or (3,)
    or one number. Bounds may be infinite. progress: called with the part that is done of each step. settings: keys of
    the program's inversion section without its name and what they take, e.g. {"bounds": [0, 500], "smoothness":
    [1, 1, 1], "weighting.kind": "depth"}, and keys of "sensitivity.", "execution." and "magnetic.";
    include/prismfield/prismfield.h lists them. Raises InputError, RunError, KeyboardInterrupt.
    """
    if unknown not in _COMPONENTS:
        raise InputError(f"unknown: {unknown!r} is none of {', '.join(_COMPONENTS)}")
    if settings and "unknown" in settings:
        raise InputError("settings: unknown is an argument of its own")
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

    def of_cells(name: str, values: npt.ArrayLike | None, components: int) -> Array | None:
        if values is None:
            return None
        given = on_host(name, values)
        wanted = (*shape, components) if components > 1 else shape
        whole = np.broadcast_to(given, wanted) if given.shape in ((), wanted[3:]) else given
        if whole.shape != wanted:
            raise InputError(f"{name}: has the shape {whole.shape}, {wanted} is needed")
        # component by component
        flat = np.ravel(whole[active].T)
        return array(name, flat, None, allowed="infinite" if name in ("lower", "upper") else "finite")

    kept = [
        of_cells(name, values, 1 if name == "cell_weights" else _COMPONENTS[unknown])
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
        key if key.startswith(("sensitivity.", "execution.", "magnetic.")) else f"inversion.{key}": value
        for key, value in (settings or {}).items()
    }
    if threads:
        start(threads)
    of_call = Settings(
        {
            "sensitivity.store": "auto", "execution.space": space, "magnetic.inducing_field": inducing_field, **keys,
            "inversion.unknown": unknown,
        },
        progress,
    )  # fmt: skip
    handle = ct.c_void_p()
    arrays = (DataArrays * len(sets))(*(one.arrays for one in sets))
    compute(
        lib.pf_invert, ct.byref(mesh), arrays, len(sets), ct.byref(model), of_call.handle, ct.byref(handle),
        settings=of_call,
    )  # fmt: skip
    try:
        return _model(handle, sets, active, unknown)
    finally:
        lib.pf_inversion_delete(handle)


def _model(handle: ct.c_void_p, sets: list[_Set], active: npt.NDArray[np.bool_], unknown: str) -> Model:
    """Copies a result out of the library."""

    def values(name: str) -> Array:
        out = np.empty(lib.pf_inversion_values(handle, name.encode(), None))
        lib.pf_inversion_values(handle, name.encode(), pointer(out))
        return out

    def on_mesh(name: str) -> Array | None:
        found = values(name)
        if not found.size:
            return None
        of_cells = found.reshape(-1, np.count_nonzero(active)).T
        whole = np.full((*active.shape, of_cells.shape[1]), np.nan)
        whole[active] = of_cells
        return whole if of_cells.shape[1] > 1 else whole[..., 0]

    predicted = []
    for number, one in enumerate(sets):
        rows = values(f"predicted/{number}").reshape(len(one.places), -1) * one.factors[:, np.newaxis]
        predicted.append(rows[one.places].reshape(one.shape))
    return Model(
        on_target=bool(lib.pf_inversion_on_target(handle)),
        message=lib.pf_inversion_message(handle).decode(),
        predicted=predicted,
        convergence={name: values(name) for name in ("beta", "phi_d", "phi_m", "chi", "products", "seconds")},
        **{name: on_mesh(name) for name in (unknown, f"{unknown}_sigma", "depth_of_investigation")},
    )
