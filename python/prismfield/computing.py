# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Fields of prisms, and the operator that makes them out of densities or magnetisations."""

from __future__ import annotations

import ctypes as ct
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from prismfield.arrays import HOST, Host, place_of
from prismfield.library import (
    REGULAR,
    UNITS,
    VACUUM_PERMEABILITY,
    Array,
    Fields,
    InputError,
    Progress,
    Run,
    RunError,
    Settings,
    SingularPointWarning,
    compute,
    known_fields,
    lib,
    on_host,
    point_columns,
    pointer,
    prism_rows,
    start,
)  # fmt: skip

if TYPE_CHECKING:
    import pylops

Points = npt.ArrayLike | tuple[npt.ArrayLike, ...]
_TOLERANCE = 1e-12
# The library's setting of each argument, and what it is where none is needed.
_SETTINGS: dict[str, tuple[str, object]] = {
    "precision": ("execution.precision", "double"),
    "space": ("execution.space", "default"),
    "method": ("execution.method", "auto"),
    "tolerance": ("execution.tolerance", _TOLERANCE),
    "gravitational_constant": ("gravitational_constant", None),
    "inducing_field": ("magnetic.inducing_field", None),
    "inside": ("magnetic.inside", "B"),
    "vacuum_permeability": ("magnetic.vacuum_permeability", VACUUM_PERMEABILITY),
}


def evaluate(
    prisms: npt.ArrayLike,
    density: npt.ArrayLike | None,
    points: Points,
    asked: Fields,
    *,
    magnetization: npt.ArrayLike | None = None,
    susceptibility: npt.ArrayLike | None = None,
    inducing_field: npt.ArrayLike | None = None,
    vacuum_permeability: float = VACUUM_PERMEABILITY,
    progress: Progress | None = None,
    **others: object,
) -> tuple[Array, Run, tuple[int, ...]]:
    """What forward() is made of: fields (fields, m) in SI and z up, in the library's order; what the run says of points
    in, on and at edges of prisms; and the shape of the points. Arguments are those of forward()."""
    of_prisms, _arrays = prism_rows(
        prisms, density=density, magnetization=magnetization, susceptibility=susceptibility,
        inducing_field=inducing_field,
    )  # fmt: skip
    of_points, _columns, shape = point_columns(points)
    others |= {"inducing_field": inducing_field, "vacuum_permeability": vacuum_permeability}
    keys = {
        _SETTINGS[name][0]: value
        for name, value in others.items()
        if value is not _SETTINGS[name][1] and np.any(value != _SETTINGS[name][1])
    }
    settings = Settings(keys, progress) if keys or progress is not None else None
    values = np.empty((asked.n, of_points.n))
    run = Run()
    compute(
        lib.pf_forward, ct.byref(of_prisms), ct.byref(of_points), asked.numbers, asked.n, settings and settings.handle,
        pointer(values), None, ct.byref(run), settings=settings,
    )  # fmt: skip
    return values, run, shape


def forward(
    prisms: npt.ArrayLike,
    density: npt.ArrayLike | None,
    points: Points,
    fields: str | Iterable[str] = "gz",
    *,
    magnetization: npt.ArrayLike | None = None,
    susceptibility: npt.ArrayLike | None = None,
    inducing_field: tuple[float, float, float] | None = None,
    inside: str = "B",
    axes: str = "z_up",
    units: str = "SI",
    precision: str = "double",
    space: str = "default",
    method: str = "auto",
    tolerance: float = _TOLERANCE,
    threads: int = 0,
    gravitational_constant: float | None = None,
    vacuum_permeability: float = VACUUM_PERMEABILITY,
    progress: Progress | None = None,
) -> Array:
    """Fields of prisms at points.

    prisms: (n, 6) west, east, south, north, bottom, top, m. density: (n,) or one number, kg/m3; None where all fields
    are magnetic. points: (m, 3) easting, northing, upward, m, or a tuple of these three, which are broadcast together.
    fields: one name or several of FIELDS.

    Magnetic fields (bx, by, bz, tmi, their derivatives, tmi_exact, amplitude) are of the remanent and the induced
    magnetisation. magnetization: (n, 3), or (3,) for all prisms, A/m along easting, northing, upward. susceptibility:
    (n,) or one number, SI, without demagnetisation. inducing_field: inclination, degrees, positive downward,
    declination, degrees east of grid north, and intensity, nT; tmi, its derivatives, tmi_exact and susceptibilities
    need it. inside: what is written at points inside prisms, "B", "H" (mu0 H), "nan", "cavity", "borehole"; faces have
    the mean of both sides.

    axes: "z_up" or "z_down", along which z vectors and tensors point; coordinates and magnetisations are always upward.
    units: "SI", or "mGal" or "nT": mGal, Eotvos for gradients, J/kg for the potential, nT, and nT/m for gradients of B
    and tmi. precision: "double" or "single". space: "default", "serial", "openmp", "cuda", "hip". tolerance:
    the error that may be made for speed, relative to the largest value of each field; it is checked at 100 points, and
    a RuntimeWarning says where prisms cancel so far that it is larger. method: "direct", "tree", "fft", or "auto", the
    fastest that the tolerance lets serve. threads: of the library's start, see start(). progress: called with the part
    that is done.

    Returns (fields, m), or (m,) for one name; with a tuple of coordinates their shape in place of m. On faces the
    tensor is the mean of both sides; points on edges give a SingularPointWarning. Raises InputError (a ValueError) for
    wrong arguments, RunError, and KeyboardInterrupt within a fraction of a second of Ctrl-C.
    """
    asked = known_fields(fields if isinstance(fields, str) else tuple(fields))
    if threads:
        start(threads)
    values, run, shape = evaluate(
        prisms, density, points, asked, magnetization=magnetization, susceptibility=susceptibility,
        inducing_field=inducing_field, vacuum_permeability=vacuum_permeability, inside=inside, precision=precision,
        space=space, method=method, tolerance=tolerance, gravitational_constant=gravitational_constant,
        progress=progress,
    )  # fmt: skip
    if run.n_singular and not REGULAR.issuperset(asked.names):
        warnings.warn(
            f"{run.n_singular} of {values.shape[1]} points lie on edges or corners of prisms, where the gradient "
            "tensor and magnetic fields have no value: their finite part is returned",
            SingularPointWarning,
            stacklevel=2,
        )
    if run.error > tolerance:
        warnings.warn(
            f"errors may be larger than the tolerance {tolerance:g}: up to {run.error:.1e} of a field's largest value; "
            "the prisms' fields cancel each other to fewer digits than double precision has",
            RuntimeWarning,
            stacklevel=2,
        )
    if units != "SI" or axes != "z_up":
        values *= asked.factors(units, axes)[:, np.newaxis]
    ordered: Array = values if asked.in_order else values[asked.places]
    return ordered.reshape(shape if asked.is_one else (asked.n, *shape))


class _Products(LinearOperator):  # type: ignore[misc]
    """Products with vectors on the host, which SciPy makes of products with blocks, and on a card."""

    shape: tuple[int, int]
    space: str

    def _matvec(self, x: Any) -> Any:
        return self._matmat(np.reshape(x, (self.shape[1], 1)))[:, 0]

    def _rmatvec(self, x: Any) -> Any:
        return self._rmatmat(np.reshape(x, (self.shape[0], 1)))[:, 0]

    def dot(self, x: Any) -> Any:
        place = place_of(x)
        if place is HOST:
            return super().dot(x)
        if self.space not in ("cuda", "hip"):
            return place.from_host(super().dot(on_host("x", x)))
        product = self._matmat(x.reshape(len(x), 1) if x.ndim == 1 else x)
        return product[:, 0] if x.ndim == 1 else product


class _Transposed(_Products):
    """G' of an operator."""

    def __init__(self, of: Operator) -> None:
        self._of = of
        self.space = of.space
        super().__init__(of.dtype, of.shape[::-1])

    def _matmat(self, x: Any) -> Any:
        return self._of._rmatmat(x)

    def _rmatmat(self, x: Any) -> Any:
        return self._of._matmat(x)

    def _transpose(self) -> LinearOperator:
        return self._of

    _adjoint = _transpose


class Operator(_Products):
    """G of prisms and points: rows (field, point), fields in the order asked for, columns the prisms.

    A SciPy LinearOperator: `G @ density`, `G.T @ fields`, blocks of vectors in one pass, lsmr, svds. Arguments are
    those of forward(). Of bx, by, bz, tmi and their derivatives the model is in place of densities susceptibilities
    (SI) in the inducing field or, with `magnetization`, factors of each prism's own: three operators of unit vectors,
    side by side, are that of magnetisation vectors (A/m). storage: None computes entries anew in every product, or
    products by `method` to `tolerance` of their largest values where densities are of one size; "double", "float" and
    "float16" keep entries in memory; a number compresses them to that error relative to the norm of G. SI entries are
    1e-9 and less: solvers with absolute tolerances want units="mGal" or "nT". Products of CuPy's and PyTorch's arrays
    on a card are theirs too, made there where the operator's `space` is the card; by "default" few prisms and points,
    and a compressed G, are computed on the host.
    """

    def __init__(
        self,
        prisms: npt.ArrayLike,
        points: Points,
        fields: str | Iterable[str] = "gz",
        *,
        magnetization: npt.ArrayLike | None = None,
        inducing_field: tuple[float, float, float] | None = None,
        inside: str = "B",
        storage: str | float | None = None,
        axes: str = "z_up",
        units: str = "SI",
        space: str = "default",
        method: str = "auto",
        tolerance: float = _TOLERANCE,
        threads: int = 0,
        gravitational_constant: float | None = None,
        vacuum_permeability: float = VACUUM_PERMEABILITY,
    ) -> None:
        self._fields = known_fields(fields if isinstance(fields, str) else tuple(fields))
        self._factors = self._fields.factors(units, axes)
        magnetic = [name for name in self._fields.names if UNITS[name][0].startswith("nT")]
        if magnetic and magnetization is None and inducing_field is None:
            raise InputError(
                f"{magnetic[0]}: needs inducing_field=(inclination, declination, intensity in nT) for a model of "
                "susceptibilities, or magnetization for factors of it"
            )
        of_prisms, _arrays = prism_rows(
            prisms, magnetization=magnetization, inducing_field=inducing_field,
            susceptibility=None if magnetization is not None or inducing_field is None else 1.0,
        )  # fmt: skip
        of_points, _columns, self._point_shape = point_columns(points)
        if threads:
            start(threads)
        keys: dict[str, object] = {
            "execution.space": space, "execution.method": method, "execution.tolerance": tolerance,
            "gravitational_constant": gravitational_constant, "magnetic.inducing_field": inducing_field,
            "magnetic.inside": inside, "magnetic.vacuum_permeability": vacuum_permeability,
        }  # fmt: skip
        if isinstance(storage, str):
            if storage not in ("double", "float", "float16"):
                raise InputError(
                    f"storage: {storage!r}; None, 'double', 'float', 'float16' or a relative error is needed"
                )
            keys |= {"sensitivity.store": "memory", "sensitivity.precision": storage}
        elif storage is not None:
            keys |= {"sensitivity.store": "auto", "sensitivity.compression": storage}
        settings = Settings(keys)
        handle = ct.c_void_p()
        compute(
            lib.pf_operator_new, ct.byref(of_prisms), ct.byref(of_points), self._fields.numbers, self._fields.n,
            settings.handle, ct.byref(handle),
        )  # fmt: skip
        self._kept: ct.c_void_p | None = handle
        self.space = lib.pf_operator_space(handle).decode()
        self.n_points: int = of_points.n
        super().__init__(np.dtype(np.float64), (self._fields.n * of_points.n, of_prisms.n))

    @property
    def _handle(self) -> ct.c_void_p:
        if self._kept is None:
            raise RunError("the Operator was freed: its finaliser ran before this use of it")
        return self._kept

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the rows."""
        return tuple(self._fields.names)

    @property
    def nbytes(self) -> int:
        """Bytes of the entries that are kept; 0 where none are."""
        return int(lib.pf_operator_bytes(self._handle))

    @property
    def storage(self) -> str:
        """How the entries are kept, and why, in one line."""
        return str(lib.pf_operator_storage(self._handle).decode())

    def _rows_in(self, place: Host, name: str, rows: Any, square: bool = False) -> Any:
        """(rows, k) of a caller as the library's transposed products take them, (k, rows)."""
        of_rows = place.rows(name, rows, self.shape[0])
        given = of_rows.reshape(len(of_rows), self._fields.n, self.n_points)
        own = place.empty(*given.shape)
        own[:, self._fields.places] = given
        own *= place.from_host((self._factors**2 if square else self._factors)[:, np.newaxis])
        return own

    def _matmat(self, x: Any) -> Any:
        place = place_of(x)
        vectors = place.rows("x", x, self.shape[1])
        rows = place.empty(len(vectors), self._fields.n, self.n_points)
        compute(lib.pf_operator_apply, self._handle, place.address(vectors), place.address(rows), len(vectors))
        rows *= place.from_host(self._factors[:, np.newaxis])
        ordered = rows if self._fields.in_order else rows[:, self._fields.places]
        return ordered.reshape(len(vectors), self.shape[0]).T

    def _rmatmat(self, x: Any) -> Any:
        place = place_of(x)
        rows = self._rows_in(place, "x", x)
        vectors = place.empty(len(rows), self.shape[1])
        compute(lib.pf_operator_apply_transpose, self._handle, place.address(rows), place.address(vectors), len(rows))
        return vectors.T

    def _transpose(self) -> LinearOperator:
        return _Transposed(self)

    _adjoint = _transpose

    def diagonal(self, weights: npt.ArrayLike | None = None) -> Array:
        """The diagonal of G' diag(weights) G, (columns,); weights: (rows,), None: ones."""
        ones = np.ones(self.shape[0]) if weights is None else weights
        rows = self._rows_in(HOST, "weights", on_host("weights", ones).reshape(-1, 1), square=True)
        diagonal = np.empty(self.shape[1])
        compute(lib.pf_operator_diagonal, self._handle, pointer(rows), pointer(diagonal), 1)
        return diagonal

    def entries(self, begin: int = 0, end: int | None = None) -> Array:
        """Rows of G at the points [begin, end), (fields, points, columns)."""
        last = self.n_points if end is None else end
        out = np.empty((self._fields.n, max(last - begin, 0), self.shape[1]))
        compute(lib.pf_operator_entries, self._handle, begin, last, pointer(out))
        out *= self._factors[:, np.newaxis, np.newaxis]
        return out if self._fields.in_order else out[self._fields.places]

    def pylops(self, dims: tuple[int, ...] | None = None, name: str = "G") -> pylops.LinearOperator:
        """G as an operator of PyLops: models of the shape `dims`, else (columns,); data of (fields, points...)."""
        import pylops

        base: Any = pylops.LinearOperator
        of = self

        class Wrapped(base):  # type: ignore[misc, unused-ignore]
            def _matvec(self, x: Any) -> Any:
                return of._matvec(x)

            def _rmatvec(self, x: Any) -> Any:
                return of._rmatvec(x)

        shape = (self._fields.n, *self._point_shape)
        return Wrapped(dtype=np.float64, dims=dims or (self.shape[1],), dimsd=shape, name=name)

    def __copy__(self) -> Operator:
        # it never changes
        return self

    def __deepcopy__(self, _: object) -> Operator:
        return self

    def __reduce__(self) -> str:
        raise TypeError("an Operator cannot be pickled: make it anew in the other process")

    def __del__(self, delete: Callable[[ct.c_void_p], None] = lib.pf_operator_delete) -> None:
        # kept: of this module nothing may be there at the interpreter's end
        handle, self._kept = getattr(self, "_kept", None), None
        if handle:
            delete(handle)
