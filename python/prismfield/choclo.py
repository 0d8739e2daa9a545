# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""choclo.prism's functions of gravity by prismfield, for loops of numba's nopython code and for Python.

Each takes easting, northing, upward of a point, west, east, south, north, bottom, top of a prism, m, and its density,
kg/m3, and returns a field of SI units, z up. As in choclo gradients on a face are the limit from outside, and NaN on
edges where they have none. Unlike choclo, gradients keep 1e-12 of the tensor's size far from a prism too, and a prism
without a volume gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numba

from prismfield.library import FIELDS, lib

__all__ = [
    "gravity_e", "gravity_ee", "gravity_en", "gravity_eu", "gravity_n", "gravity_nn", "gravity_nu", "gravity_pot",
    "gravity_u", "gravity_uu",
]  # fmt: skip

Scalar = Callable[[float, float, float, float, float, float, float, float, float, float], float]
_gravity = lib.pf_gravity


def _function(field: str) -> Scalar:
    number = FIELDS.index(field)

    def gravity(easting, northing, upward, west, east, south, north, bottom, top, density):  # type: ignore
        return _gravity(number, easting, northing, upward, west, east, south, north, bottom, top, density)

    compiled: Scalar = numba.njit(gravity)
    return compiled


gravity_pot = _function("potential")
gravity_e = _function("gx")
gravity_n = _function("gy")
gravity_u = _function("gz")
gravity_ee = _function("gxx")
gravity_nn = _function("gyy")
gravity_uu = _function("gzz")
gravity_en = _function("gxy")
gravity_eu = _function("gxz")
gravity_nu = _function("gyz")
