# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""choclo.prism's functions of gravity, B and its gradient by prismfield, for Python and for numba's nopython code.

Each takes easting, northing, upward of a point, west, east, south, north, bottom, top of a prism, m, and its density,
kg/m3, or the components of its magnetisation, A/m, and returns a field of SI units, z up; magnetic_field returns the
three components of B, T. As in choclo gradients and B on a face are the limit from outside. Gradients of gravity are
NaN on edges where they have no limit; B and its gradient are NaN on all edges and inside a prism. Unlike choclo, all
keep 1e-12 of their size far from a prism too, and a prism without a volume gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from prismfield.library import FIELDS, lib

__all__ = [
    "gravity_e", "gravity_ee", "gravity_en", "gravity_eu", "gravity_n", "gravity_nn", "gravity_nu", "gravity_pot",
    "gravity_u", "gravity_uu", "magnetic_e", "magnetic_ee", "magnetic_en", "magnetic_eu", "magnetic_field",
    "magnetic_n", "magnetic_nn", "magnetic_nu", "magnetic_u", "magnetic_uu",
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


_magnetic = lib.pf_magnetic


@numba.njit
def magnetic_field(easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up):  # type: ignore
    """B of one prism at one point, T: its components along easting, northing and upward."""
    b = np.empty(3)
    _magnetic(easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up, b.ctypes)
    return b[0], b[1], b[2]


def _component(number: int) -> Callable[..., float]:
    def magnetic(easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up):  # type: ignore
        return magnetic_field(
            easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up
        )[number]  # fmt: skip

    compiled: Callable[..., float] = numba.njit(magnetic)
    return compiled


magnetic_e = _component(0)
magnetic_n = _component(1)
magnetic_u = _component(2)


_magnetic_gradient = lib.pf_magnetic_gradient


def _gradient(field: str) -> Callable[..., float]:
    number = FIELDS.index(field)

    def gradient(easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up):  # type: ignore
        return _magnetic_gradient(
            number, easting, northing, upward, west, east, south, north, bottom, top, m_east, m_north, m_up
        )

    compiled: Callable[..., float] = numba.njit(gradient)
    return compiled


magnetic_ee = _gradient("bxx")
magnetic_nn = _gradient("byy")
magnetic_uu = _gradient("bzz")
magnetic_en = _gradient("bxy")
magnetic_eu = _gradient("bxz")
magnetic_nu = _gradient("byz")
