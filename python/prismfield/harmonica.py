# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""harmonica's prism_gravity, prism_magnetic and the gravity of its layers of prisms, computed by prismfield.

Names, units, signs and shapes are harmonica's (0.7.0, and the keywords of the version after it), which need not be
installed. Where xarray is, datasets get the accessor `.prismfield`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prismfield.certificates import differences
from prismfield.computing import evaluate
from prismfield.library import (
    REGULAR,
    UNITS,
    VACUUM_PERMEABILITY,
    Array,
    InputError,
    SingularPointWarning,
    array,
    known_fields,
)

#: The library's field of each of harmonica's, whose vertical vector points down.
FIELDS = {
    "potential": "potential", "g_e": "gx", "g_n": "gy", "g_z": "gz",
    "g_ee": "gxx", "g_nn": "gyy", "g_zz": "gzz", "g_en": "gxy", "g_ez": "gxz", "g_nz": "gyz",
}  # fmt: skip
#: Likewise of B, whose vertical component points up.
MAGNETIC_FIELDS = {"b_e": "bx", "b_n": "by", "b_u": "bz"}
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
    points = _Points(coordinates)
    bounds, rho = _counted(prisms, "density", np.asarray(density, dtype=np.float64).reshape(-1, 1), disable_checks)
    rho = rho[:, 0]
    name = FIELDS[field]
    asked = known_fields(name)
    rows, run, _ = evaluate(
        bounds, rho, points.finite.T, asked, space="default" if parallel else "serial",
        progress=_tell if progressbar else None,
    )  # fmt: skip
    values = rows[0]
    if run.n_inside and name not in REGULAR:
        step, singular = _contacts(points.finite, bounds, rho, _AXES.index(field[2]), _AXES.index(field[3]))
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
    return points.everywhere(values, dtype)


def prism_magnetic(
    coordinates: Sequence[npt.ArrayLike],
    prisms: npt.ArrayLike,
    magnetization: Sequence[npt.ArrayLike],
    field: str,
    parallel: bool = True,
    dtype: npt.DTypeLike = "float64",
    progressbar: bool = False,
    disable_checks: bool = False,
) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
    """harmonica.prism_magnetic: B of prisms at points, nT.

    magnetization: along easting, northing and upward, (n,) each or numbers for one prism, A/m. field: "b_e", "b_n",
    "b_u", or "b", a tuple of these three. Other arguments and errors are those of prism_gravity().

    Returns the shape of the coordinates. B on a face is the limit from outside; in prisms and on their edges it is NaN,
    without a warning, as at points that are not finite.
    """
    if field != "b" and field not in MAGNETIC_FIELDS:
        raise InputError(f"field: {field!r} is not a field; fields are b, {', '.join(MAGNETIC_FIELDS)}")
    points = _Points(coordinates)
    if len(magnetization) != 3:
        raise InputError(f"magnetization: has {len(magnetization)} components; easting, northing and upward are needed")
    given = [np.asarray(component, dtype=np.float64).ravel() for component in magnetization]
    if len({len(component) for component in given}) > 1:
        raise InputError(f"magnetization: has components of {', '.join(str(len(m)) for m in given)} values")
    bounds, moments = _counted(prisms, "magnetization", np.stack(given, axis=1), disable_checks)
    asked = known_fields(tuple(MAGNETIC_FIELDS.values()) if field == "b" else MAGNETIC_FIELDS[field])
    axes = [tuple(MAGNETIC_FIELDS.values()).index(name) for name in asked.names]

    def computed(at: Array, inside: str, progress: Any = None) -> Array:
        space = "default" if parallel else "serial"
        rows, _, _ = evaluate(
            bounds, None, at.T, asked, magnetization=moments, inside=inside, space=space, progress=progress
        )  # fmt: skip
        return rows

    values = computed(points.finite, "nan", _tell if progressbar else None)
    touching = np.flatnonzero(np.isnan(values[0]))
    if touching.size:
        step, singular = _magnetic_contacts(points.finite[:, touching], bounds, moments)
        faces = touching[~singular]
        values[:, faces] = computed(points.finite[:, faces], "H") + step[axes][:, ~singular]
    values *= asked.factors("nT", "z_up")[:, np.newaxis]
    made = tuple(points.everywhere(row, dtype) for row in values)
    return made if field == "b" else made[0]


class _Points:
    """Coordinates of harmonica's functions."""

    def __init__(self, coordinates: Sequence[npt.ArrayLike]) -> None:
        columns = [np.asarray(column, dtype=np.float64) for column in coordinates[:3]]
        if len(columns) != 3:
            raise InputError(f"coordinates: {len(columns)} arrays; easting, northing and upward are needed")
        self._shape = np.broadcast(*columns).shape
        points = np.empty((3, *self._shape))
        for axis, column in enumerate(columns):
            points[axis] = column
        points = points.reshape(3, -1)
        good = np.isfinite(points).all(axis=0)
        self._finite = None if good.all() else good
        #: (3, m), those that are finite
        self.finite: Array = points if self._finite is None else points[:, good]

    def everywhere(self, values: Array, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Values of the finite points in the shape of the coordinates, NaN elsewhere."""
        if self._finite is not None:
            everywhere = np.full(self._finite.size, np.nan)
            everywhere[self._finite] = values
            values = everywhere
        return np.asarray(values.reshape(self._shape), dtype=dtype)


def _counted(prisms: npt.ArrayLike, name: str, weights: Array, disable_checks: bool) -> tuple[Array, Array]:
    """Bounds and weights, (n, k), of the prisms that have a volume and a weight. evaluate() looks for NaN."""
    bounds = np.asarray(prisms, dtype=np.float64)
    bounds = bounds[np.newaxis] if bounds.ndim == 1 else bounds
    if bounds.ndim != 2 or bounds.shape[1] != 6:
        raise InputError(f"prisms: has the shape {np.shape(prisms)}, (6,) or (n, 6) is needed")
    if len(weights) != len(bounds):
        raise InputError(f"{name}: has {len(weights)} values for {len(bounds)} prisms")
    if (bounds[:, ::2] < bounds[:, 1::2]).all() and weights.any(axis=1).all():
        return bounds, weights
    bounds, weights = _upright(bounds, weights) if disable_checks else (_checked(bounds), weights)
    counts = weights.any(axis=1) & (bounds[:, ::2] != bounds[:, 1::2]).all(axis=1)
    return bounds[counts], weights[counts]


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


def _upright(bounds: Array, weights: Array) -> tuple[Array, Array]:
    """Prisms whose bounds rise and weights, (n, k), for which they have the fields of the given ones."""
    low, high = bounds[:, ::2], bounds[:, 1::2]
    turned = low > high
    if not turned.any():
        return bounds, weights
    made = np.stack([np.minimum(low, high), np.maximum(low, high)], axis=-1).reshape(-1, 6)
    return made, np.where(turned.sum(axis=1, keepdims=True) % 2 == 1, -weights, weights)


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
    for touch in _touches(points[:, touching], bounds):
        some = touching[touch.some]
        if a != b:
            singular[some] = (touch.holds & touch.at[a] & touch.at[b]).any(axis=1)
            continue
        on_edge = touch.at[(a + 1) % 3] | touch.at[(a + 2) % 3]
        on_face = touch.holds & touch.at[a]
        singular[some] = (on_face & on_edge).any(axis=1)
        sign = (on_face & ~on_edge) * np.where(touch.inside[a], -1.0, 1.0)
        step[some] = 2 * np.pi * _GRAVITATIONAL_CONSTANT * (sign @ rho)
    return step, singular


def _magnetic_contacts(points: Array, bounds: Array, moments: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """What B needs at points (3, m) that touch prisms: the step from mu0 H to the limit from outside of faces, (3, m),
    and where harmonica has no value, (m,): in prisms and on their edges.
    """
    step, singular = np.zeros(points.shape), np.zeros(points.shape[1], dtype=bool)
    for touch in _touches(points, bounds):
        on_faces = np.sum(touch.at, axis=0)
        is_inside = np.all(touch.inside, axis=0)
        singular[touch.some] = (touch.holds & (is_inside | (on_faces > 1))).any(axis=1)
        for axis in range(3):
            # along a face mu0 H is that of outside, across it the mean of both sides, which differ by mu0 M
            step[axis, touch.some] = (touch.holds & touch.at[axis]) @ (0.5 * VACUUM_PERMEABILITY * moments[:, axis])
    return step, singular


class _Touch(NamedTuple):
    """How some of the points touch prisms, (points, prisms) each."""

    some: slice
    holds: npt.NDArray[np.bool_]
    #: along each axis, whether it is on a face and whether it is between both
    at: list[npt.NDArray[np.bool_]]
    inside: list[npt.NDArray[np.bool_]]


def _touches(points: Array, bounds: Array) -> Iterator[_Touch]:
    """Of points (3, m), so many at once as are looked at in one go."""
    at_once = max(1, _PAIRS_AT_ONCE // max(1, len(bounds)))
    for begin in range(0, points.shape[1], at_once):
        some = slice(begin, begin + at_once)
        holds = np.ones((points[0, some].size, len(bounds)), dtype=bool)
        at, inside = [], []
        for axis in range(3):
            place, low, high = points[axis, some, np.newaxis], bounds[:, 2 * axis], bounds[:, 2 * axis + 1]
            at.append(_is_at(place, low) | _is_at(place, high))
            inside.append((low < place) & (place < high))
            holds &= at[axis] | inside[axis]
        yield _Touch(some, holds, at, inside)


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
    rho, moments = random.uniform(-3000, 3000, n), random.uniform(-5, 5, (n, 3))

    def of_each(function: Any, weights: Array, field: str) -> Array:
        return np.array([
            float(function(point, prism, weight, field, parallel=False))
            for point, prism, weight in zip(points, prisms, weights)
        ])  # fmt: skip

    compared: dict[str, tuple[Array, Array]] = {
        field: (of_each(prism_gravity, rho, field), of_each(harmonica.prism_gravity, rho, field)) for field in FIELDS
    }
    outside = ~((prisms[:, ::2] <= points) & (points <= prisms[:, 1::2])).all(axis=1)
    for field in MAGNETIC_FIELDS:
        ours, theirs = (of_each(f, moments, field)[outside] for f in (prism_magnetic, harmonica.prism_magnetic))
        compared[field] = (ours, theirs)
    return differences(
        f"prismfield - harmonica {harmonica.__version__}, {n} pairs",
        compared,
        {field: UNITS[name][0] for field, name in (FIELDS | MAGNETIC_FIELDS).items()},
    )
