#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Writes lean_coefficients.hpp and multipole_table.hpp; run it with SymPy at hand: generate_tables.py FOLDER.

lean_coefficients: polynomials in z = s^2 for (2 atanh(s) - 2 s)/s^3 on |s| <= 0.2 and (atan(t) - t)/t^3 on
|t| <= tan(pi/8), interpolated at Chebyshev nodes, which is within a few per cent of the minimax error.

multipole_table: with u = x^2/R^2, v = y^2/R^2 the even derivatives of 1/R are
d_x^2a d_y^2b (1/R) = R^-(2(a+b)+1) * (polynomial of degree a+b in u and v), w = 1 - u - v eliminated;
the table holds its integer coefficients, found by exact arithmetic. multipole_weight bounds what each order adds to the
gradient tensor in any direction: docs/numerics.md, Ranges of the multipoles, has the proof that weights() follows.
"""
import math
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import sympy as sp

mp.mp.dps = 50
# steps of the grid of shapes, and of directions in radians, of the multipoles' weights
SHAPES = 12
DIRECTIONS = math.radians(0.7)
# half orders with a weight of their own; the last one's includes all that follow from the distance squared on, in
# longest half edges squared, below which no multipole is used
WEIGHTS = 7
NEAREST = 25
HEAD = ("// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The prismfield authors\n"
        "// Written by generate_tables.py: do not edit.\n// clang-format off\n#pragma once\n\n#include <array>\n\n")


def worst(f, coefficients, z_max, weight):
    """Largest error of the polynomial relative to the function that it completes."""
    err = mp.mpf(0)
    for k in range(1, 2001):
        z = z_max * k / 2000
        p = mp.polyval(coefficients[::-1], z)
        err = max(err, abs((p - f(z)) * weight(z)))
    return err


def lean():
    log_tail = lambda z: (2 * mp.atanh(mp.sqrt(z)) - 2 * mp.sqrt(z)) / mp.sqrt(z) ** 3
    atan_tail = lambda z: (mp.atan(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z) ** 3
    tables = [
        ("log_tail_double", "double", log_tail, mp.mpf("0.041"), 9, lambda z: z / 2),
        ("log_tail_float", "float", log_tail, mp.mpf("0.041"), 3, lambda z: z / 2),
        ("atan_tail_double", "double", atan_tail, mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001"), 11, lambda z: z),
        ("atan_tail_float", "float", atan_tail, mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001"), 5, lambda z: z),
    ]
    text = HEAD + "namespace prismfield::kernel {\n"
    for name, kind, f, z_max, n, weight in tables:
        c = mp.chebyfit(f, [0, z_max], n)[::-1]
        text += f"\n/// largest error relative to the function: {mp.nstr(worst(f, c, z_max, weight), 2)}\n"
        text += f"inline constexpr std::array<{kind}, {n}> {name} = {{\n"
        suffix = "f" if kind == "float" else ""
        digits = 9 if kind == "float" else 17
        for x in c:
            text += f"    {mp.nstr(x, digits, min_fixed=0, max_fixed=0)}{suffix},\n"
        text += "};\n"
    return text + "\n}  // namespace prismfield::kernel\n"


def grid_of_directions():
    """Unit vectors of an octant: none is further than DIRECTIONS/sqrt(2) from one of them."""
    vectors = []
    n = math.ceil(math.pi / 2 / DIRECTIONS)
    for i in range(n + 1):
        polar = math.pi / 2 * i / n
        steps = max(1, math.ceil(math.pi / 2 * math.sin(polar) / DIRECTIONS))
        for j in range(steps + 1):
            azimuth = math.pi / 2 * j / steps
            vectors.append((math.sin(polar) * math.cos(azimuth), math.sin(polar) * math.sin(azimuth), math.cos(polar)))
    return np.array(vectors)


def derivatives_of_inverse_distance(vectors, order):
    """Each d_x^a d_y^b d_z^c (1/R), a + b + c <= order, on the unit sphere, by its three-term recurrence. Vectors are
    numbers or symbols."""
    found = {(0, 0, 0): np.ones(len(vectors), vectors.dtype)}
    for n in range(1, order + 1):
        for a in range(n + 1):
            for b in range(n + 1 - a):
                powers = (a, b, n - a - b)
                total = np.zeros(len(vectors), vectors.dtype)
                for axis, power in enumerate(powers):
                    less = lambda by: tuple(p - by * (d == axis) for d, p in enumerate(powers))
                    if power >= 1:
                        total += (2 * n - 1) * power * vectors[:, axis] * found[less(1)]
                    if power >= 2:
                        total += (n - 1) * power * (power - 1) * found[less(2)]
                found[powers] = -total / n
    return found


def control_points(m):
    """The triangles of the grid of shapes, and the polynomials of degree m on them by Bezier's control points: the
    points' places in a triangle, the powers of the monomials, and (triangle, point, monomial) that gives the points."""
    places = [(m - a - b, a, b) for a in range(m + 1) for b in range(m + 1 - a)]
    inside = np.array(places) / m
    f = math.factorial
    bernstein = [[f(m) / (f(k[0]) * f(k[1]) * f(k[2])) * np.prod([p[d] ** k[d] for d in range(3)]) for k in places]
                 for p in inside]
    inverse = np.linalg.inv(np.array(bernstein))
    triangles = []
    for i in range(SHAPES):
        for j in range(i + 1):
            triangles.append(((i, j), (i + 1, j), (i + 1, j + 1)))
            if j < i:
                triangles.append(((i, j), (i, j + 1), (i + 1, j + 1)))
    monomials = [(j, k) for j in range(m + 1) for k in range(m + 1 - j)]
    points = []
    for triangle in triangles:
        shapes = inside @ (np.array(triangle) / SHAPES)
        points.append(inverse @ np.array([[p[0] ** j * p[1] ** k for j, k in monomials] for p in shapes]))
    return triangles, inside, monomials, np.array(points)


def largest_ratio(tensors, order, vectors):
    """Bound over all directions of a multipole's tensor relative to the mass's, by the root of the sum of squares of
    all nine components and of six; tensors (shape, xx yy zz xy xz yz, vector), their spherical order."""
    apart = order * DIRECTIONS / math.sqrt(2)
    squares = tensors**2
    nine = np.sqrt(squares[:, :3].sum(1) + 2 * squares[:, 3:].sum(1))
    six = np.sqrt(squares.sum(1))
    largest = six.max(1) / math.cos(apart)
    # between the vectors, by the inequality of Bernstein and Szego; likewise what six components of the mass's give
    angle = np.arcsin(np.clip(six / np.maximum(largest, 1e-300)[:, None], 0, 1)) + apart
    six = largest[:, None] * np.where(angle < math.pi / 2, np.sin(angle), 1)
    n = vectors**2
    pairs = n[:, 0] * n[:, 1] + n[:, 0] * n[:, 2] + n[:, 1] * n[:, 2]
    angle = np.arcsin(np.clip(6 * pairs - 1, -1, 1)) + 4 * DIRECTIONS / math.sqrt(2)
    pairs = np.where(angle < math.pi / 2, 1 + np.sin(angle), 2) / 6
    return np.maximum(nine.max(1) / math.cos(apart) / math.sqrt(6), (six / np.sqrt(6 - 9 * pairs)).max(1))


def mean_power(m, y, z):
    """Mean of |r|^2m over the box of half edges 1, sqrt(y), sqrt(z)."""
    f = math.factorial
    return sum(f(m) // (f(m - j - k) * f(j) * f(k)) * y**j * z**k / ((2 * (m - j - k) + 1) * (2 * j + 1) * (2 * k + 1))
               for j in range(m + 1) for k in range(m + 1 - j))


def weights(m):
    """The least weights at the grid of shapes that bound, interpolated in the triangles, the order 2 m of every shape:
    {(i, j): weight}."""
    vectors = grid_of_directions()
    derivatives = derivatives_of_inverse_distance(vectors, 2 * m + 2)
    triangles, inside, monomials, points = control_points(m)
    f = math.factorial
    parts = []
    for j, k in monomials:
        powers = (2 * (m - j - k), 2 * j, 2 * k)
        scale = 1 / np.prod([float(f(p + 1)) for p in powers])
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        parts.append([scale * derivatives[tuple(p + (d == a) + (d == b) for d, p in enumerate(powers))]
                      for a, b in pairs])
    parts = np.array(parts)
    flat = points.reshape(-1, len(monomials))
    bounds = np.concatenate([largest_ratio(np.tensordot(flat[i:i + 64], parts, 1), 2 * m + 2, vectors)
                             for i in range(0, len(flat), 64)]).reshape(len(triangles), -1)
    found = {}
    for corners, bound in zip(triangles, bounds):
        for v, corner in enumerate(corners):
            found[corner] = max(found.get(corner, 0.0), bound[np.argmax(inside[:, v])])
    # a polynomial lies within its control points: they all have to be below the plane through the triangle's weights
    for _ in range(10000):
        worst = 0
        for corners, bound in zip(triangles, bounds):
            plane = np.array([found[c] for c in corners])
            above = bound - inside @ plane
            p = np.argmax(above)
            if above[p] > 1e-9 * bound[p]:
                worst = max(worst, above[p])
                raised = plane + above[p] * (1 + 1e-9) * inside[p] / (inside[p] @ inside[p])
                found.update(zip(corners, raised))
        if worst == 0:
            break
    else:
        raise SystemExit("weights that do not settle")
    found = {c: 0.0 if w < 1e-12 else w for c, w in found.items()}
    if m == WEIGHTS:
        # the orders that follow, by the mean of |r|^2m, taken at the furthest corner of the shapes around
        for i, j in found:
            y, z = min(1, (i + 1) / SHAPES), min(1, (j + 1) / SHAPES)
            found[(i, j)] += sum(math.sqrt(2 / 3) * (2 * n + 1) * (2 * n + 2) * mean_power(n, y, z) *
                                 NEAREST ** float(m - n) for n in range(m + 1, m + 40))
    return found


def even_derivative(inverse_distance, a, b):
    """d_x^2a d_y^2b (1/R) on the unit sphere as integer coefficients of u^(d-j) v^j, d = 0...a+b, j = 0...d."""
    x, y, z, u, v = sp.symbols("x y z u v")
    terms = sp.Poly(inverse_distance[(2 * a, 2 * b, 0)][0], x, y, z).terms()
    p = sp.Poly(sum(c * u ** (i // 2) * v ** (j // 2) * (1 - u - v) ** (k // 2) for (i, j, k), c in terms), u, v)
    assert p.total_degree() <= a + b and all(c.is_Integer for c in p.coeffs())
    return [int(p.coeff_monomial(u ** (d - j) * v**j)) for d in range(a + b + 1) for j in range(d + 1)]


def multipole():
    text = HEAD + "namespace prismfield::kernel {\n"
    symbols = derivatives_of_inverse_distance(np.array([sp.symbols("x y z")]), 12)
    for m in range(1, 7):
        rows = [even_derivative(symbols, a, m - a) for a in range(m, -1, -1)]
        n = len(rows[0])
        text += (f"\n/// Row r: d_x^2({m}-r) d_y^2r (1/R) R^{2 * m + 1}; column (d, j): coefficient of u^(d-j) v^j,\n"
                 f"/// d = 0...{m}, j = 0...d.\n")
        text += f"inline constexpr double even_derivative_{2 * m}[{m + 1}][{n}] = {{\n"
        for row in rows:
            text += "    {" + ", ".join(f"{c}." for c in row) + "},\n"
        text += "};\n"
    text += f"""
/// Shapes of the weights: steps of each squared ratio of edges.
inline constexpr int weight_steps = {SHAPES};
/// Largest half order with a weight.
inline constexpr int weight_orders = {WEIGHTS};
/// Distance squared from which the weights hold, in longest half edges squared.
inline constexpr double weight_reach = {NEAREST};

/// Row i (i + 1)/2 + j: the edges' squares as 1, i/{SHAPES}, j/{SHAPES}, j <= i; column m - 1: what the multipole of order 2 m
/// adds at most to the gradient tensor at a distance of one longest half edge, relative to what the mass gives.
inline constexpr double multipole_weight[{(SHAPES + 1) * (SHAPES + 2) // 2}][{WEIGHTS}] = {{
"""
    columns = [weights(m) for m in range(1, WEIGHTS + 1)]
    for i in range(SHAPES + 1):
        for j in range(i + 1):
            # rounded up
            row = (0.0 if c[(i, j)] == 0 else float(f"{c[(i, j)] * (1 + 1e-6):.7g}") for c in columns)
            text += "    {" + ", ".join(f"{w:.7g}" for w in row) + "},\n"
    text += "};\n"
    return text + "\n}  // namespace prismfield::kernel\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "lean_coefficients.hpp").write_text(lean())
    (folder / "multipole_table.hpp").write_text(multipole())
