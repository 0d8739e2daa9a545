# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""harmonica's prism_gravity and the gravity of its layers of prisms, computed by prismfield.

Names, units, signs and shapes are harmonica's (0.7.0, and the keywords of the version after it), which need not be
installed. Where xarray is, datasets get the accessor `.prismfield`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prismfield.certificates import differences
from prismfield.computing import evaluate
from prismfield.library import UNITS, Array, InputError, SingularPointWarning, array, known_fields

#: The library's field of each of harmonica's, whose vertical vector points down.
FIELDS = {
    "potential": "potential", "g_e": "gx", "g_n": "gy", "g_z": "gz",
    "g_ee": "gxx", "g_nn": "gyy", "g_zz": "gzz", "g_en": "gxy", "g_ez": "gxz", "g_nz": "gyz",
}  # fmt: skip
_AXES = "enz"
_SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))
_GRAVITATIONAL_CONSTANT = 6.6743e-11
# Pairs of a point and a prism that are looked at in one go where points touch prisms: some 10 MB.
_PAIRS_AT_ONCE = 1 << 20


def prism_gravity(
    coordinates: Sequence[npt.ArrayLike],
    prisms: npt.ArrayLike,
    density: npt.ArrayLike,
    field: str,
    parallel: bool = True,
    dtype: npt.DTypeLike = "float64",
    progressbar: bool = False,
    disable_checks: bool = False,
) -> npt.NDArray[Any]:
    """harmonica.prism_gravity: one field of prisms at points.

    coordinates: easting, northing, upward, m, broadcast together; further ones are ignored. prisms: (6,) or (n, 6)
    west, east, south, north, bottom, top, m. density: (n,) or a number for one prism, kg/m3. field: a name of FIELDS.
    parallel: False computes in this thread alone. dtype: of the result; all is computed in double. progressbar: the
    part that is done, to standard error. disable_checks: no warning, and bounds may be in either order, each wrong
    one turning the sign.

    Returns the shape of the coordinates: J/kg, mGal, Eotvos; g_z, g_ez and g_nz are downward. Prisms without volume or
    density count for nothing. On a face diagonal tensor components are the limit from outside. Points on edges where
    the component has no value give NaN and a SingularPointWarning (a UserWarning), points that are not finite NaN
    alone. Raises InputError (a ValueError) for wrong arguments, RunError.
    """
    if field not in FIELDS:
        raise InputError(f"field: {field!r} is not a field; fields are {', '.join(FIELDS)}")
    columns = [np.asarray(column, dtype=np.float64) for column in coordinates[:3]]
    if len(columns) != 3:
        raise InputError(f"coordinates: {len(columns)} arrays; easting, northing and upward are needed")
    shape = np.broadcast(*columns).shape
    points = np.empty((3, *shape))
    for axis, column in enumerate(columns):
        points[axis] = column
    points = points.reshape(3, -1)
    # evaluate() looks for values that are not finite
    bounds = np.asarray(prisms, dtype=np.float64)
    bounds = bounds[np.newaxis] if bounds.ndim == 1 else bounds
    rho = np.asarray(density, dtype=np.float64).ravel()
    if bounds.ndim != 2 or bounds.shape[1] != 6:
        raise InputError(f"prisms: has the shape {np.shape(prisms)}, (6,) or (n, 6) is needed")
    if len(rho) != len(bounds):
        raise InputError(f"density: has {len(rho)} values for {len(bounds)} prisms")
    if not (bounds[:, ::2] < bounds[:, 1::2]).all() or not rho.all():
        bounds, rho = _upright(bounds, rho) if disable_checks else (_checked(bounds), rho)
        counts = (rho != 0) & (bounds[:, ::2] != bounds[:, 1::2]).all(axis=1)
        bounds, rho = bounds[counts], rho[counts]
    all_finite = bool(np.isfinite(points).all())
    finite = slice(None) if all_finite else np.isfinite(points).all(axis=0)
    there = points[:, finite]
    name = FIELDS[field]
    asked = known_fields(name)
    rows, run, _ = evaluate(
        bounds, rho, there.T, asked, space="default" if parallel else "serial", progress=_tell if progressbar else None
    )
    values = rows[0]
    if run.n_inside and name not in ("potential", "gx", "gy", "gz"):
        step, singular = _contacts(there, bounds, rho, _AXES.index(field[2]), _AXES.index(field[3]))
        values += step
        values[singular] = np.nan
        if singular.any() and not disable_checks:
            warnings.warn(
                f"Found observation points on edges or corners of prisms, where {field} has no value: "
                f"{np.count_nonzero(singular)} of {singular.size}, which are NaN",
                SingularPointWarning,
                stacklevel=2,
            )
    values *= asked.factors("mGal", "z_down")[0]
    if not all_finite:
        everywhere = np.full(points.shape[1], np.nan)
        everywhere[finite] = values
        values = everywhere
    return np.asarray(values.reshape(shape), dtype=dtype)


def _tell(done: float) -> None:
    """A progress function that writes one line to standard error."""
    print(f"\rprismfield: {100 * done:3.0f} %", end="\n" if done >= 1 else "", file=sys.stderr, flush=True)


def _checked(bounds: Array) -> Array:
    """The bounds; InputError where one is above its opposite."""
    wrong = bounds[:, ::2] > bounds[:, 1::2]
    if wrong.any():
        prism, axis = np.argwhere(wrong)[0]
        low, high = _SIDES[axis]
        raise InputError(
            f"prisms: {low} is above {high} in {np.count_nonzero(wrong[:, axis])} of {len(bounds)}, first in prism "
            f"{prism}: {low} {bounds[prism, 2 * axis]}, {high} {bounds[prism, 2 * axis + 1]}"
        )
    return bounds


def _upright(bounds: Array, rho: Array) -> tuple[Array, Array]:
    """Prisms whose bounds rise and densities for which they have the fields of the given ones."""
    low, high = bounds[:, ::2], bounds[:, 1::2]
    turned = low > high
    if not turned.any():
        return bounds, rho
    made = np.stack([np.minimum(low, high), np.maximum(low, high)], axis=-1).reshape(-1, 6)
    return made, np.where(turned.sum(axis=1) % 2 == 1, -rho, rho)


def _is_at(places: Array, faces: Array) -> npt.NDArray[np.bool_]:
    """Whether coordinates are those of faces to the ulp within which the library takes a point to lie on a face."""
    ulps = 4
    larger = np.maximum(np.abs(places), np.abs(faces))
    power = np.exp2(np.floor(np.log2(np.where(larger > 0, larger, 1))))
    near: npt.NDArray[np.bool_] = np.abs(places - faces) <= ulps * np.finfo(np.float64).eps * power
    return near


def _meets(places: Array, others: Array) -> npt.NDArray[np.bool_]:
    """Whether each coordinate is that of any of the others, to these ulp."""
    rising = np.unique(others)
    after = np.searchsorted(rising, places)
    last = len(rising) - 1
    return _is_at(places, rising[np.clip(after - 1, 0, last)]) | _is_at(places, rising[np.clip(after, 0, last)])


def _contacts(points: Array, bounds: Array, rho: Array, a: int, b: int) -> tuple[Array, npt.NDArray[np.bool_]]:
    """What component (a, b) of the tensor needs at points (3, m) that touch prisms, (m,) each: the step from the
    library's value, which is the mean of both sides of a face, to the limit from the point's side, of the face itself
    from outside; and where it has no value.
    """
    step, singular = np.zeros(points.shape[1]), np.zeros(points.shape[1], dtype=bool)
    if not len(bounds):
        return step, singular
    # Only points with a coordinate that is a bound can be on faces or edges, and only those prisms can have them.
    touching = np.flatnonzero(
        _meets(points[a], bounds[:, 2 * a : 2 * a + 2]) & _meets(points[b], bounds[:, 2 * b : 2 * b + 2])
    )
    if not touching.size:
        return step, singular
    touched = _meets(bounds[:, 2 * a : 2 * a + 2], points[a, touching]).any(axis=1)
    bounds, rho = bounds[touched], rho[touched]
    at_once = max(1, _PAIRS_AT_ONCE // max(1, len(bounds)))
    for begin in range(0, touching.size, at_once):
        some = touching[begin : begin + at_once]
        holds = np.ones((some.size, len(bounds)), dtype=bool)
        at, inside = [], []
        for axis in range(3):
            place, low, high = points[axis, some, np.newaxis], bounds[:, 2 * axis], bounds[:, 2 * axis + 1]
            at.append(_is_at(place, low) | _is_at(place, high))
            inside.append((low < place) & (place < high))
            holds &= at[axis] | inside[axis]
        if a != b:
            singular[some] = (holds & at[a] & at[b]).any(axis=1)
            continue
        on_edge = at[(a + 1) % 3] | at[(a + 2) % 3]
        on_face = holds & at[a]
        singular[some] = (on_face & on_edge).any(axis=1)
        sign = (on_face & ~on_edge) * np.where(inside[a], -1.0, 1.0)
        step[some] = 2 * np.pi * _GRAVITATIONAL_CONSTANT * (sign @ rho)
    return step, singular


def prism_layer_gravity(
    layer: Any,
    coordinates: Sequence[npt.ArrayLike],
    field: str,
    *,
    density_name: str = "density",
    thickness_threshold: float | None = None,
    progressbar: bool = False,
    parallel: bool = True,
    **kwargs: Any,
) -> npt.NDArray[Any]:
    """One field of a layer that harmonica.prism_layer made: what its `.prism_layer.gravity` returns.

    layer: an xarray.Dataset with evenly spaced easting and northing of the columns' centres and top and bottom
    along both, m. density_name: the variable with densities, kg/m3. thickness_threshold: columns thinner than
    it are left out, m. Columns with NaN as top, bottom or density are left out; NaN as density alone gives a
    UserWarning. Other arguments, the result and errors are those of prism_gravity().
    """
    easting, northing = _edges(layer, "easting"), _edges(layer, "northing")
    # a layer that was transposed too
    top, bottom, rho = (
        np.asarray(layer[name].transpose("northing", "easting").values) for name in ("top", "bottom", density_name)
    )
    has_shape = ~(np.isnan(top) | np.isnan(bottom))
    has_density = ~np.isnan(rho)
    if not has_density[has_shape].all():
        warnings.warn(
            f"{np.count_nonzero(has_shape & ~has_density)} columns of the layer have NaN as {density_name!r} and are "
            "left out",
            UserWarning,
            stacklevel=2,
        )
    kept = has_shape & has_density
    if thickness_threshold is not None:
        kept &= ~(top - bottom < thickness_threshold)
    n, e = np.nonzero(kept)
    prisms = np.column_stack([*easting[:, e], *northing[:, n], bottom[kept], top[kept]])
    return prism_gravity(
        coordinates, prisms, rho[kept], field, parallel=parallel, progressbar=progressbar, **kwargs
    )  # fmt: skip


def _edges(layer: Any, axis: str) -> Array:
    """Lower and upper edges of a layer's columns along an axis, (2, n)."""
    centres = array(axis, layer[axis].values, None)
    if len(centres) < 2:
        raise InputError(f"{axis}: has {len(centres)} values; a layer needs two or more for its spacing")
    spacing = centres[1] - centres[0]
    if not np.allclose(np.diff(centres), spacing):
        raise InputError(f"{axis}: is not evenly spaced, as the columns of a layer are")
    return np.stack([centres - spacing / 2, centres + spacing / 2])


class LayerAccessor:
    """`.prismfield` of an xarray.Dataset."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def gravity(
        self,
        coordinates: Sequence[npt.ArrayLike],
        field: str,
        progressbar: bool = False,
        density_name: str = "density",
        thickness_threshold: float | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[Any]:
        """prism_layer_gravity() of this layer, with the arguments of harmonica's `.prism_layer.gravity`."""
        return prism_layer_gravity(
            self._layer, coordinates, field, progressbar=progressbar, density_name=density_name,
            thickness_threshold=thickness_threshold, **kwargs,
        )  # fmt: skip


try:
    import xarray
except ImportError:
    pass
else:
    xarray.register_dataset_accessor("prismfield")(LayerAccessor)  # type: ignore[no-untyped-call, unused-ignore]


def certificate(n: int = 200, seed: int = 0) -> dict[str, float]:
    """Compares all fields with harmonica's, which has to be installed, at n random pairs of a prism and a point.

    Prisms have sides of 10 to 100 m and points are up to 500 m away in each direction, some inside: further away
    harmonica's closed forms lose digits. Prints a table and returns of each field the largest difference, relative to
    the field's largest value.
    """
    import harmonica

    random = np.random.default_rng(seed)
    low = random.uniform(-50, 50, (n, 3))
    prisms = np.stack([low, low + random.uniform(10, 100, (n, 3))], axis=-1).reshape(n, 6)
    points = low + random.uniform(-500, 500, (n, 3)) * random.uniform(0, 1, (n, 1))
    rho = random.uniform(-3000, 3000, n)

    def of_each(function: Any, field: str) -> Array:
        return np.array([
            float(function(point, prism, density, field, parallel=False))
            for point, prism, density in zip(points, prisms, rho)
        ])  # fmt: skip

    return differences(
        f"prismfield - harmonica {harmonica.__version__}, {n} pairs",
        {field: (of_each(prism_gravity, field), of_each(harmonica.prism_gravity, field)) for field in FIELDS},
        {field: UNITS[name][0] for field, name in FIELDS.items()},
    )
