# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""SimPEG's gravity simulations in integral form, computed by prismfield: import them from here in place of SimPEG's.

They are subclasses of SimPEG's with one more engine, which is the default. All of SimPEG's properties, maps and
directives work on them, with and without simpeg.dask. That of magnetics is in prismfield.simpeg.magnetics.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from simpeg.potential_fields import gravity

from prismfield.certificates import differences
from prismfield.computing import Operator
from prismfield.library import UNITS, Array
from prismfield.simpeg.engine import ENGINE, Maker, PrismfieldEngine


class _Gravity(PrismfieldEngine):
    """SimPEG's densities are in g/cm3."""

    _property = "rho"
    _scale = 1000.0

    def _makers(self) -> list[Maker]:
        return [functools.partial(Operator, self._prisms(), units="mGal")]


class Simulation3DIntegral(_Gravity, gravity.Simulation3DIntegral):  # type: ignore[misc, unused-ignore]
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


class SimulationEquivalentSourceLayer(_Gravity, gravity.SimulationEquivalentSourceLayer):  # type: ignore[misc, unused-ignore]
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
    components = ["gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz", "guv"]
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
