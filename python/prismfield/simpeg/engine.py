# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The engine "prismfield" of SimPEG's simulations in integral form."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator
from simpeg.utils import sdiag

from prismfield.computing import Operator
from prismfield.library import FIELDS, Array, InputError

ENGINE = "prismfield"
#: Makes an operator of points and fields. It can be pickled.
Maker = Callable[[Array, list[str]], Operator]
# Bytes of entries in double that are made at once where G is stored; more leave the cache.
_BLOCK_BYTES = 1 << 23
# The library makes entries of so many locations at once: fewer cost as much.
_LOCATIONS_AT_ONCE = 8


class _Receivers:
    """Rows of G of one receiver object: (location, component), where the library's are (field, point).

    makers: of operators side by side, each with a block of the columns. scale: of the model, to the library's units.
    """

    def __init__(self, makers: list[Maker], scale: float, receiver: Any) -> None:
        components = list(receiver.components)
        for component in components:
            if component not in FIELDS:
                raise InputError(f"components: {component!r} is computed by SimPEG's engines only, as engine='choclo'")
        # in the library's order, in which it makes blocks of entries without a copy
        fields = sorted(set(components), key=FIELDS.index)
        self._places = [fields.index(component) for component in components]
        locations = np.asarray(receiver.locations, dtype=np.float64)
        self._operators = [maker(locations, fields) for maker in makers]
        self._scale, self._n_points, self._n_fields = scale, len(locations), len(fields)
        self.n_columns = sum(operator.shape[1] for operator in self._operators)
        self.n_rows = len(locations) * len(components)

    def apply(self, x: Array) -> Array:
        """(columns, k) to (rows, k)."""
        fields: Array = np.zeros((self._n_fields * self._n_points, x.shape[1]))
        for operator, block in zip(self._operators, np.split(self._scale * x, len(self._operators))):
            fields += operator @ block
        by_field = fields.reshape(self._n_fields, self._n_points, -1)
        rows: Array = by_field[self._places].swapaxes(0, 1).reshape(self.n_rows, -1)
        return rows

    def transpose(self, y: Array) -> Array:
        """(rows, k) to (columns, k)."""
        of_field = self._by_field(y)
        return self._scale * np.concatenate([operator.T @ of_field for operator in self._operators])

    def diagonal(self, weights: Array) -> Array:
        """Of G' diag(weights) G, (columns,)."""
        of_field = self._by_field(weights[:, np.newaxis]).ravel()
        return self._scale**2 * np.concatenate([operator.diagonal(of_field) for operator in self._operators])

    def _by_field(self, y: Array) -> Array:
        """(location, component) to (field, point), (rows, k); a component that is asked for twice is added up."""
        components: Array = y.reshape(self._n_points, len(self._places), -1).swapaxes(0, 1)
        fields = np.zeros((self._n_fields, self._n_points, y.shape[1]))
        for component, place in zip(components, self._places):
            fields[place] += component
        return fields.reshape(self._n_fields * self._n_points, -1)

    def fill(self, rows: npt.NDArray[np.floating[Any]]) -> None:
        """Writes the rows into a part of a stored G, so few locations at a time that doubles take little memory."""
        of_point = rows.reshape(self._n_points, len(self._places), len(self._operators), -1)
        groups = _BLOCK_BYTES // (8 * _LOCATIONS_AT_ONCE * self._n_fields * max(1, of_point.shape[-1]))
        at_once = _LOCATIONS_AT_ONCE * max(1, groups)
        for begin in range(0, self._n_points, at_once):
            end = min(begin + at_once, self._n_points)
            for block, operator in enumerate(self._operators):
                entries = operator.entries(begin, end)
                for component, place in enumerate(self._places):
                    out = of_point[begin:end, component, block]
                    np.multiply(entries[place], self._scale, out=out, casting="same_kind")


def _finite(x: npt.ArrayLike) -> tuple[Array, Array]:
    """Vectors (n, k) with zeros for what is not finite, and of each 1, or NaN where it had such values: a model that
    overflowed in a step of an inversion has to give NaN, as a stored G does, and no error.
    """
    given = np.asarray(x, dtype=np.float64)
    good = np.isfinite(given)
    if good.all():
        return given, np.ones(given.shape[1])
    return np.where(good, given, 0.0), np.where(good.all(axis=0), 1.0, np.nan)


class Matrix(LinearOperator):  # type: ignore[misc, unused-ignore]
    """G of all receiver objects, one below another, computed anew in every product."""

    def __init__(self, makers: list[Maker], scale: float, receivers: list[Any]) -> None:
        self._made_of = (makers, scale, receivers)
        self.receivers = [_Receivers(makers, scale, receiver) for receiver in receivers]
        super().__init__(
            np.dtype(np.float64), (sum(r.n_rows for r in self.receivers), self.receivers[0].n_columns)
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for other processes, which have no use for this one's operators."""
        return Matrix, self._made_of

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


class PrismfieldEngine(_Base):  # type: ignore[misc, unused-ignore]
    """What all simulations have in place of SimPEG's; SimPEG's own where another engine is asked for."""

    #: SimPEG's name of the model's property, and this property in the library's units
    _property: str
    _scale: float = 1.0

    def _makers(self) -> list[Maker]:
        """Of operators side by side, each with a block of the columns of G."""
        raise NotImplementedError

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
            super(PrismfieldEngine, type(self)).engine.fset(self, value)
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
            matrix = Matrix(self._makers(), self._scale, self.survey.source_field.receiver_list)
            self._G = matrix if self.store_sensitivities == "forward_only" else self._stored(matrix)
        return self._G

    def _stored(self, matrix: Matrix) -> Any:
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
        """What a model gives at the receivers, (nD,), mGal and Eotvos, or nT."""
        if not self._is_prismfield:
            return np.asarray(super().fields(m))
        self.model = m
        return np.asarray(self.G @ getattr(self, self._property).astype(self.sensitivity_dtype, copy=False))

    def getJtJdiag(self, m: Any, W: Any = None, f: Any = None) -> Array:
        """Diagonal of J' W' W J, (nP,). That of G' W' W G is kept until other weights are asked for.

        Where several cells share a parameter it is SimPEG's approximation, the sum of their diagonals.
        """
        if not self._is_prismfield:
            return np.asarray(super().getJtJdiag(m, W=W, f=f))
        self.model = m
        # of amplitudes there are fewer than the survey's
        n = getattr(self, "nD", self.survey.nD)
        weights = np.ones(n) if W is None else np.asarray(W.diagonal(), dtype=np.float64) ** 2
        kept = getattr(self, "_prismfield_diagonal", None)
        if kept is None or not np.array_equal(kept[0], weights):
            self._prismfield_diagonal = kept = (weights, self._diagonal(weights))
        derivative = getattr(self, f"{self._property}Deriv")
        return np.asarray((sdiag(np.sqrt(kept[1])) @ derivative).power(2).sum(axis=0)).ravel()

    def _diagonal(self, weights: Array) -> Array:
        if isinstance(self.G, Matrix):
            return self.G.diagonal(weights)
        diagonal = np.zeros(self.G.shape[1])
        at_once = max(1, _BLOCK_BYTES // (8 * max(1, diagonal.size)))
        for begin in range(0, len(weights), at_once):
            rows = slice(begin, begin + at_once)
            diagonal += weights[rows] @ np.square(self.G[rows], dtype=np.float64)
        return diagonal
