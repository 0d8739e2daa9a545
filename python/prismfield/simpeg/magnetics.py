# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""SimPEG's magnetic simulation in integral form, computed by prismfield: import it from here in place of SimPEG's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy.constants import mu_0
from simpeg.potential_fields import magnetics

from prismfield.computing import Operator
from prismfield.library import Array
from prismfield.simpeg.engine import ENGINE, Maker, PrismfieldEngine


class Simulation3DIntegral(PrismfieldEngine, magnetics.Simulation3DIntegral):  # type: ignore[misc, unused-ignore]
    """simpeg.potential_fields.magnetics.Simulation3DIntegral with engine="prismfield".

    Arguments are SimPEG's: model_type="scalar", susceptibilities (SI), or "vector", effective susceptibilities
    mu0 M/|F0| along x of all cells, then y, then z, z up; components bx, by, bz, tmi and their gradients in the unit
    of the source field's amplitude, nT, rows by receiver object, location, component; is_amplitude_data. engine and
    store_sensitivities are those of prismfield.simpeg.Simulation3DIntegral. As in SimPEG, at points inside cells it is
    mu0 H; on faces it is the mean of both sides. Raises ValueError for wrong arguments, other components among them,
    and NotImplementedError for getJtJdiag() of amplitudes with "forward_only", as SimPEG does.
    """

    _property = "chi"

    def __init__(
        self,
        mesh: Any,
        chi: Any = None,
        chiMap: Any = None,
        model_type: str = "scalar",
        is_amplitude_data: bool = False,
        engine: str = ENGINE,
        numba_parallel: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            mesh, chi=chi, chiMap=chiMap, model_type=model_type, is_amplitude_data=is_amplitude_data, engine=engine,
            numba_parallel=numba_parallel, **kwargs,
        )  # fmt: skip
        self._check_arguments(kwargs.get("n_processes"))

    def _makers(self) -> list[Maker]:
        source = self.survey.source_field
        # nT of B0 per SI of susceptibility
        fields = source.amplitude * np.eye(3) if self.model_type == "vector" else [np.asarray(self.M)]
        # of the inducing field tmi takes the direction alone
        along = (source.inclination, source.declination % 360, 1.0)
        return [
            functools.partial(
                Operator, self._prisms(), magnetization=1e-9 / mu_0 * field, inducing_field=along, inside="H",
                vacuum_permeability=mu_0, units="nT",
            )
            for field in fields
        ]  # fmt: skip

    def fields(self, m: Any) -> Array:
        """What a model gives at the receivers, (nD,), nT."""
        made = super().fields(m)
        if self._is_prismfield and self.is_amplitude_data:
            return np.asarray(self.compute_amplitude(made))
        return made

    @property
    def _delete_on_model_update(self) -> list[str]:
        """That of G' W' W G too where G is of amplitudes, whose derivative depends on the model."""
        return [*super()._delete_on_model_update, *(["_prismfield_diagonal"] if self.is_amplitude_data else [])]

    def _diagonal(self, weights: Array) -> Array:
        if not self.is_amplitude_data:
            return super()._diagonal(weights)
        if self.store_sensitivities == "forward_only":
            raise NotImplementedError("getJtJdiag of amplitudes needs a stored G: store_sensitivities='ram' or 'disk'")
        along = self.ampDeriv
        diagonal = np.zeros(self.G.shape[1])
        for i, weight in enumerate(weights):
            diagonal += weight * (along[:, i] @ self.G[3 * i : 3 * i + 3]) ** 2
        return diagonal
