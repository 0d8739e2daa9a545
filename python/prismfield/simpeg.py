# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""SimPEG's gravity simulations in integral form, computed by prismfield: import them from here in place of SimPEG's.

They are subclasses of SimPEG's with one more engine, which is the default. All of SimPEG's properties, maps and
directives work on them, with and without simpeg.dask.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator
from simpeg.potential_fields import gravity
from simpeg.utils import sdiag

from prismfield.certificates import differences
from prismfield.computing import Operator
from prismfield.library import FIELDS, UNITS, Array, InputError

ENGINE = "prismfield"
# SimPEG's densities are in g/cm3.
_DENSITY = 1000.0
# Bytes of entries in double that are made at once where G is stored; more leave the cache.
_BLOCK_BYTES = 1 << 23
# The library makes entries of so many locations at once: fewer cost as much.
_LOCATIONS_AT_ONCE = 8


class _Receivers:
    """Rows of G of one receiver object: (location, component), where the library's are (field, point)."""

    def __init__(self, prisms: Array, receiver: Any) -> None:
        components = list(receiver.components)
        # in the library's order, in which it makes blocks of entries without a copy
        fields = sorted(set(components), key=FIELDS.index)
        self._places = [fields.index(component) for component in components]
        locations = np.asarray(receiver.locations, dtype=np.float64)
        self._operator = Operator(prisms, locations, fields, units="mGal")
        self._n_points, self._n_fields, self._n_columns = len(locations), len(fields), len(prisms)
        self.n_rows = len(locations) * len(components)

    def apply(self, x: Array) -> Array:
        """(columns, k) to (rows, k)."""
        fields: Array = np.asarray(self._operator @ (_DENSITY * x)).reshape(self._n_fields, self._n_points, -1)
        rows: Array = fields[self._places].swapaxes(0, 1).reshape(self.n_rows, -1)
        return rows

    def transpose(self, y: Array) -> Array:
        """(rows, k) to (columns, k)."""
        return _DENSITY * np.asarray(self._operator.T @ self._by_field(y))

    def diagonal(self, weights: Array) -> Array:
        """Of G' diag(weights) G, (columns,)."""
        return _DENSITY**2 * self._operator.diagonal(self._by_field(weights[:, np.newaxis]).ravel())

    def _by_field(self, y: Array) -> Array:
        """(location, component) to (field, point), (rows, k); a component that is asked for twice is added up."""
        components: Array = y.reshape(self._n_points, len(self._places), -1).swapaxes(0, 1)
        fields = np.zeros((self._n_fields, self._n_points, y.shape[1]))
        for component, place in zip(components, self._places):
            fields[place] += component
        return fields.reshape(self._n_fields * self._n_points, -1)

    def fill(self, rows: npt.NDArray[np.floating[Any]]) -> None:
        """Writes the rows into a part of a stored G, so few locations at a time that doubles take little memory."""
        of_point = rows.reshape(self._n_points, len(self._places), self._n_columns)
        groups = _BLOCK_BYTES // (8 * _LOCATIONS_AT_ONCE * self._n_fields * max(1, self._n_columns))
        at_once = _LOCATIONS_AT_ONCE * max(1, groups)
        for begin in range(0, self._n_points, at_once):
            end = min(begin + at_once, self._n_points)
            entries = self._operator.entries(begin, end)
            for component, place in enumerate(self._places):
                np.multiply(entries[place], _DENSITY, out=of_point[begin:end, component], casting="same_kind")


def _finite(x: npt.ArrayLike) -> tuple[Array, Array]:
    """Vectors (n, k) with zeros for what is not finite, and of each 1, or NaN where it had such values: a model that
    overflowed in a step of an inversion has to give NaN, as a stored G does, and no error.
    """
    given = np.asarray(x, dtype=np.float64)
    good = np.isfinite(given)
    if good.all():
        return given, np.ones(given.shape[1])
    return np.where(good, given, 0.0), np.where(good.all(axis=0), 1.0, np.nan)


class _Matrix(LinearOperator):  # type: ignore[misc, unused-ignore]
    """G of all receiver objects, one below another, computed anew in every product."""

    def __init__(self, prisms: Array, receivers: list[Any]) -> None:
        self._made_of = (prisms, receivers)
        self.receivers = [_Receivers(prisms, receiver) for receiver in receivers]
        super().__init__(np.dtype(np.float64), (sum(r.n_rows for r in self.receivers), len(prisms)))

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for other processes, which have no use for this one's operators."""
        return _Matrix, self._made_of

    def parts(self) -> Iterator[tuple[_Receivers, slice]]:
        """Receiver objects and their rows."""
        begin = 0
        for receivers in self.receivers:
            yield receivers, slice(begin, begin + receivers.n_rows)
            begin += receivers.n_rows

    def _matmat(self, x: npt.ArrayLike) -> Array:
        given, is_finite = _finite(x)
        return np.concatenate([receivers.apply(given) for receivers in self.receivers]) * is_finite

    def _rmatmat(self, x: npt.ArrayLike) -> Array:
        given, is_finite = _finite(x)
        columns = np.zeros((self.shape[1], given.shape[1]))
        for receivers, rows in self.parts():
            columns += receivers.transpose(given[rows])
        return columns * is_finite

    def _matvec(self, x: npt.ArrayLike) -> Array:
        return self._matmat(np.reshape(x, (-1, 1))).ravel()

    def _rmatvec(self, x: npt.ArrayLike) -> Array:
        return self._rmatmat(np.reshape(x, (-1, 1))).ravel()

    def diagonal(self, weights: Array) -> Array:
        """Of G' diag(weights) G, (columns,)."""
        diagonal = np.zeros(self.shape[1])
        for receivers, rows in self.parts():
            diagonal += receivers.diagonal(weights[rows])
        return diagonal


_Base: Any = object


class _PrismfieldEngine(_Base):  # type: ignore[misc, unused-ignore]
    """What both simulations have in place of SimPEG's; SimPEG's own where another engine is asked for."""

    @property
    def engine(self) -> str:
        """Name of the engine: "prismfield", or one of SimPEG's."""
        return ENGINE if self._is_prismfield else str(super().engine)

    @engine.setter
    def engine(self, value: str) -> None:
        self._is_prismfield = value == ENGINE
        if self._is_prismfield:
            return
        try:
            super(_PrismfieldEngine, type(self)).engine.fset(self, value)
        except ValueError as error:
            raise InputError(f"engine: {ENGINE!r} is the default; SimPEG's own: {error}") from None

    def _check_arguments(self, n_processes: object) -> None:
        """A warning where processes are asked for."""
        if self._is_prismfield and n_processes not in (None, 1):
            warnings.warn(
                f"n_processes is not used with engine={ENGINE!r}: OMP_NUM_THREADS or prismfield.start() say how many "
                "threads compute",
                UserWarning,
                stacklevel=3,
            )
            self.n_processes = None

    def _prisms(self) -> Array:
        """Active cells as (n, 6): west, east, south, north, bottom, top."""
        return np.asarray(self.mesh.cell_bounds[self.active_cells], dtype=np.float64)

    @property
    def G(self) -> Any:
        """G: an array or a memmap of sensitivity_dtype, or with "forward_only" a LinearOperator of float64."""
        if not self._is_prismfield:
            return super().G
        if not hasattr(self, "_G"):
            matrix = _Matrix(self._prisms(), self.survey.source_field.receiver_list)
            self._G = matrix if self.store_sensitivities == "forward_only" else self._stored(matrix)
        return self._G

    def _stored(self, matrix: _Matrix) -> Any:
        made: Any
        if self.store_sensitivities == "disk" and os.path.isdir(self.sensitivity_path):
            # where and as SimPEG's "geoana", its default, has it
            path = os.path.join(self.sensitivity_path, "sensitivity.npy")
            made = np.lib.format.open_memmap(path, "w+", self.sensitivity_dtype, matrix.shape)
        elif self.store_sensitivities == "disk":
            made = np.memmap(self.sensitivity_path, self.sensitivity_dtype, "w+", shape=matrix.shape)
        else:
            made = np.empty(matrix.shape, self.sensitivity_dtype)
        for receivers, rows in matrix.parts():
            receivers.fill(made[rows])
        return made

    def linear_operator(self) -> Any:
        """G."""
        return self.G if self._is_prismfield else super().linear_operator()

    def fields(self, m: Any) -> Array:
        """What a model gives at the receivers, (nD,), mGal and Eotvos."""
        if not self._is_prismfield:
            return np.asarray(super().fields(m))
        self.model = m
        return np.asarray(self.G @ self.rho.astype(self.sensitivity_dtype, copy=False))

    def getJtJdiag(self, m: Any, W: Any = None, f: Any = None) -> Array:
        """Diagonal of J' W' W J, (nP,). That of G' W' W G is kept until other weights are asked for.

        Where several cells share a parameter it is SimPEG's approximation, the sum of their diagonals.
        """
        if not self._is_prismfield:
            return np.asarray(super().getJtJdiag(m, W=W, f=f))
        self.model = m
        weights = np.ones(self.survey.nD) if W is None else np.asarray(W.diagonal(), dtype=np.float64) ** 2
        kept = getattr(self, "_prismfield_diagonal", None)
        if kept is None or not np.array_equal(kept[0], weights):
            self._prismfield_diagonal = kept = (weights, self._diagonal(weights))
        return np.asarray((sdiag(np.sqrt(kept[1])) @ self.rhoDeriv).power(2).sum(axis=0)).ravel()

    def _diagonal(self, weights: Array) -> Array:
        if isinstance(self.G, _Matrix):
            return self.G.diagonal(weights)
        diagonal = np.zeros(self.nC)
        at_once = max(1, _BLOCK_BYTES // (8 * max(1, self.nC)))
        for begin in range(0, len(weights), at_once):
            rows = slice(begin, begin + at_once)
            diagonal += weights[rows] @ np.square(self.G[rows], dtype=np.float64)
        return diagonal


class Simulation3DIntegral(_PrismfieldEngine, gravity.Simulation3DIntegral):  # type: ignore[misc, unused-ignore]
    """simpeg.potential_fields.gravity.Simulation3DIntegral with engine="prismfield".

    Arguments are SimPEG's: a TensorMesh or TreeMesh, densities in g/cm3, z up (gz above a mass is negative), results in
    mGal and Eotvos, rows by receiver object, location, component. engine: "prismfield", or SimPEG's "geoana" and
    "choclo". store_sensitivities: "ram" and "disk" keep G as sensitivity_dtype, "disk" in the file sensitivity_path, or
    in a folder in its sensitivity.npy; "forward_only" computes it anew in every product, and inverts as well. On faces
    of cells tensors are the mean of both sides. Raises ValueError for wrong arguments.
    """

    def __init__(
        self,
        mesh: Any,
        rho: Any = None,
        rhoMap: Any = None,
        engine: str = ENGINE,
        numba_parallel: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(mesh, rho=rho, rhoMap=rhoMap, engine=engine, numba_parallel=numba_parallel, **kwargs)
        self._check_arguments(kwargs.get("n_processes"))


class SimulationEquivalentSourceLayer(_PrismfieldEngine, gravity.SimulationEquivalentSourceLayer):  # type: ignore[misc, unused-ignore]
    """simpeg.potential_fields.gravity.SimulationEquivalentSourceLayer with engine="prismfield".

    A 2-D mesh whose cells lie between cell_z_bottom and cell_z_top, one number or one of each active cell, m. Otherwise
    as Simulation3DIntegral.
    """

    def __init__(
        self,
        mesh: Any,
        cell_z_top: Any,
        cell_z_bottom: Any,
        engine: str = ENGINE,
        numba_parallel: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(mesh, cell_z_top, cell_z_bottom, engine=engine, numba_parallel=numba_parallel, **kwargs)
        self._check_arguments(kwargs.get("n_processes"))

    def _prisms(self) -> Array:
        return np.column_stack([super()._prisms(), self.cell_z_bottom, self.cell_z_top])


def certificate(n: int = 50, seed: int = 0, engine: str = "choclo") -> dict[str, float]:
    """Compares G of all components with that of one of SimPEG's engines, for n receivers above 60 random cells.

    Prints a table and returns of each component the largest difference, relative to the component's largest entry.
    """
    import discretize
    import simpeg

    random = np.random.default_rng(seed)
    mesh = discretize.TensorMesh([random.uniform(5, 40, k) for k in (5, 4, 3)], origin="CCN")
    locations = np.column_stack([random.uniform(-150, 150, (n, 2)), random.uniform(1, 60, n)])
    components = [name for name in UNITS if name != "potential"]
    receiver = gravity.receivers.Point(locations, components=components)
    survey = gravity.survey.Survey(gravity.sources.SourceField([receiver]))

    def matrix(name: str) -> Array:
        made = Simulation3DIntegral(mesh, survey=survey, engine=name, sensitivity_dtype=np.float64)
        return np.asarray(made.G).reshape(n, len(components), -1)

    ours, theirs = matrix(ENGINE), matrix(engine)
    return differences(
        f"prismfield - SimPEG {simpeg.__version__} ({engine}), {n} receivers, {mesh.n_cells} cells of 1 g/cm3",
        {name: (ours[:, i], theirs[:, i]) for i, name in enumerate(components)},
        {name: UNITS[name][0] for name in components},
    )
