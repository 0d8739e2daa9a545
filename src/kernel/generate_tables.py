#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Writes lean_coefficients.hpp and multipole_table.hpp; run it with mpmath at hand: generate_tables.py FOLDER.

lean_coefficients: polynomials in z = s^2 for (2 atanh(s) - 2 s)/s^3 on |s| <= 0.2 and (atan(t) - t)/t^3 on
|t| <= tan(pi/8), interpolated at Chebyshev nodes, which is within a few per cent of the minimax error.

multipole_table: with u = x^2/R^2, v = y^2/R^2 the even derivatives of 1/R are
d_x^2a d_y^2b (1/R) = R^-(2(a+b)+1) * (polynomial of degree a+b in u and v), w = 1 - u - v eliminated;
the table holds its integer coefficients, found by exact arithmetic, and its values in some directions.
"""
import sys
from fractions import Fraction
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50
# steps of the grid of directions on which a multipole's largest size is looked for
GRID = 6
HEAD = ("// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The prismfield authors\n"
        "// Written by generate_tables.py: do not edit.\n// clang-format off\n#pragma once\n\n#include <array>\n\n")


def interpolate(f, z_max, n):
    """Coefficients of the polynomial of degree n - 1 through f at the Chebyshev nodes of [0, z_max]."""
    nodes = [z_max * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * n))) / 2 for k in range(n)]
    rows = mp.matrix(n, n)
    for r, z in enumerate(nodes):
        for c in range(n):
            rows[r, c] = z**c
    return list(mp.lu_solve(rows, mp.matrix([f(z) for z in nodes])))


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
        c = interpolate(f, z_max, n)
        text += f"\n/// largest error relative to the function: {mp.nstr(worst(f, c, z_max, weight), 2)}\n"
        text += f"inline constexpr std::array<{kind}, {n}> {name} = {{\n"
        suffix = "f" if kind == "float" else ""
        digits = 9 if kind == "float" else 17
        for x in c:
            text += f"    {mp.nstr(x, digits, min_fixed=0, max_fixed=0)}{suffix},\n"
        text += "};\n"
    return text + "\n}  // namespace prismfield::kernel\n"


def differentiate_twice(p, order, axis):
    """d^2/dx_axis^2 of p(X, Y, Z) s^(-order - 1/2), X = x^2, as (polynomial, order + 2)."""
    k = Fraction(2 * order + 1, 2)

    def add(q, powers, value):
        if value:
            q[powers] = q.get(powers, 0) + value

    def times(p, axis):
        q = {}
        for powers, c in p.items():
            w = list(powers)
            w[axis] += 1
            add(q, tuple(w), c)
        return q

    def times_s(p):
        q = {}
        for a in range(3):
            for powers, c in times(p, a).items():
                add(q, powers, c)
        return q

    def derivative(p):
        q = {}
        for powers, c in p.items():
            if powers[axis]:
                w = list(powers)
                w[axis] -= 1
                add(q, tuple(w), c * powers[axis])
        return q

    # F = p s^-k: F_xx = 2 F_X + 4 X F_XX
    p1, p2 = derivative(p), derivative(derivative(p))
    out = {}
    for part, factor in (
        (times_s(times_s(p1)), 2), (times_s(p), -2 * k),
        (times(times_s(times_s(p2)), axis), 4), (times(times_s(p1), axis), -8 * k), (times(p, axis), 4 * k * (k + 1)),
    ):
        for powers, c in part.items():
            add(out, powers, factor * c)
    return {w: c for w, c in out.items() if c}, order + 2


def multipole():
    text = HEAD + "namespace prismfield::kernel {\n"
    for m in range(1, 6):
        rows = []
        for a in range(m, -1, -1):
            p, order = {(0, 0, 0): Fraction(1)}, 0
            for axis, times in ((0, a), (1, m - a)):
                for _ in range(times):
                    p, order = differentiate_twice(p, order, axis)
            # on s = 1, w = 1 - u - v
            uv = {}
            for (i, j, k), c in p.items():
                for l in range(k + 1):
                    for q in range(k - l + 1):
                        # (1 - u - v)^k: multinomial
                        value = c * (-1) ** (l + q) * mp.factorial(k) / (mp.factorial(l) * mp.factorial(q) * mp.factorial(k - l - q))
                        uv[(i + l, j + q)] = uv.get((i + l, j + q), 0) + Fraction(int(value))
            assert all(i + j <= m for (i, j), c in uv.items() if c), "degree"
            assert all(c.denominator == 1 for c in uv.values())
            rows.append([int(uv.get((d - j, j), 0)) for d in range(m + 1) for j in range(d + 1)])
        n = len(rows[0])
        if m <= 4:
            text += (f"\n/// Row r: d_x^2({m}-r) d_y^2r (1/R) R^{2 * m + 1}; column (d, j): coefficient of u^(d-j) v^j,\n"
                     f"/// d = 0...{m}, j = 0...d.\n")
            text += f"inline constexpr double even_derivative_{2 * m}[{m + 1}][{n}] = {{\n"
            for row in rows:
                text += "    {" + ", ".join(f"{c}." for c in row) + "},\n"
            text += "};\n"
        text += f"\n/// The same rows' values on the unit sphere, at u = i/{GRID}, v = j/{GRID}, i + j <= {GRID}.\n"
        directions = [(Fraction(i, GRID), Fraction(j, GRID)) for i in range(GRID + 1) for j in range(GRID + 1 - i)]
        text += f"inline constexpr double even_derivative_{2 * m}_sampled[{m + 1}][{len(directions)}] = {{\n"
        for row in rows:
            values = []
            for u, v in directions:
                terms = ((d, j) for d in range(m + 1) for j in range(d + 1))
                values.append(sum(c * u ** (d - j) * v**j for c, (d, j) in zip(row, terms)))
            text += "    {" + ", ".join(f"{float(c):.17g}" for c in values) + "},\n"
        text += "};\n"
    return text + "\n}  // namespace prismfield::kernel\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "lean_coefficients.hpp").write_text(lean())
    (folder / "multipole_table.hpp").write_text(multipole())
