# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Fields of a homogeneous right rectangular prism in many-digit arithmetic: the oracle of the reference tests.

G = rho = 1, z up, the eight-corner form with the gauge sign(x) ln((|x| + r)/sqrt(y^2 + z^2)). The form loses a factor
R^3/volume at a corner distance R; of 60 digits more than 35 are left for every pair in these files.
Coordinates are doubles and are taken as the exact numbers that they are.

Run as a program it compares itself with prisms.json and, at twice the digits, with itself.
"""

import itertools
import json
import math
import pathlib
import sys

import mpmath

FIELDS = ("V", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
DIGITS = 60


def edge_log(context, along, others_squared, r):
    """ln(along + r) in the gauge that changes sign with `along`, without its divergent part on the edge's line."""
    if along == 0:
        return context.mpf(0)
    divisor = 1 if others_squared == 0 else context.sqrt(others_squared)
    value = context.ln((abs(along) + r) / divisor)
    return value if along > 0 else -value


def face_angle(context, x, y, z, r):
    """atan(y z / (x r)), its mean value 0 in the plane of the face."""
    return context.mpf(0) if x == 0 else context.atan(y * z / (x * r))


def fields(prism, point, digits=DIGITS):
    """Ten values in the order of FIELDS, None where the component has no limit.

    prism = (x1, x2, y1, y2, z1, z2), point = (px, py, pz). On faces the tensor is the mean of both sides. On an edge
    the mixed component of the two directions across it diverges and their diagonal ones depend on the direction of
    approach; at a corner every component does.
    """
    mp = mpmath.mp.clone()
    mp.dps = digits
    sides = [[mp.mpf(prism[2 * d + i]) - mp.mpf(point[d]) for i in (0, 1)] for d in range(3)]
    sums = [mp.mpf(0)] * 10
    for i, j, k in itertools.product((0, 1), repeat=3):
        x, y, z = sides[0][i], sides[1][j], sides[2][k]
        xx, yy, zz = x * x, y * y, z * z
        r = mp.sqrt(xx + yy + zz)
        lx, ly, lz = edge_log(mp, x, yy + zz, r), edge_log(mp, y, zz + xx, r), edge_log(mp, z, xx + yy, r)
        ax, ay, az = face_angle(mp, x, y, z, r), face_angle(mp, y, z, x, r), face_angle(mp, z, x, y, r)
        corner = (
            x * y * lz + y * z * lx + z * x * ly - (xx * ax + yy * ay + zz * az) / 2,
            -(y * lz + z * ly - x * ax),
            -(z * lx + x * lz - y * ay),
            -(x * ly + y * lx - z * az),
            -ax, -ay, -az, lz, ly, lx,
        )
        sign = 1 if (i + j + k) % 2 == 1 else -1
        sums = [total + sign * term for total, term in zip(sums, corner)]

    def within(d):
        return sides[d][0] <= 0 <= sides[d][1]

    on_side = [sides[d][0] == 0 or sides[d][1] == 0 for d in range(3)]
    if all(within(d) for d in range(3)) and sum(on_side) >= 2:
        along = [d for d in range(3) if not on_side[d]]
        if along:
            # the components that hold the edge's own direction have limits, the diagonal one included
            keep = {"x": 0, "y": 1, "z": 2}
            for index, name in enumerate(FIELDS[4:], start=4):
                if along[0] not in (keep[name[1]], keep[name[2]]):
                    sums[index] = None
        else:
            sums[4:] = [None] * 6
    return sums


def on_faces(prism, point):
    """The point, moved onto the prism's faces where it lies on them to 4 ulp: docs/numerics.md, Faces, edges and corners."""
    moved = list(point)
    for d in range(3):
        nearer = min(prism[2 * d : 2 * d + 2], key=lambda face: abs(face - point[d]))
        if abs(nearer - point[d]) <= 4 * math.ulp(max(abs(nearer), abs(point[d]))):
            moved[d] = nearer
    touches = all(prism[2 * d] <= moved[d] <= prism[2 * d + 1] for d in range(3))
    return moved if touches else list(point)


def text(value, digits=17):
    """Decimal text of a value, empty for None."""
    if value is None:
        return ""
    return "0" if value == 0 else mpmath.nstr(value, digits, min_fixed=0, max_fixed=0).replace("e+", "e")


def check():
    """Largest relative differences to prisms.json and to twice the digits."""
    table = json.loads((pathlib.Path(__file__).parent / "prisms.json").read_text())
    worst = mpmath.mpf(0)
    with mpmath.workdps(DIGITS):
        for case in table["cases"]:
            mine, more = (fields(case["prism"], case["point"], digits) for digits in (DIGITS, 2 * DIGITS))
            for name, value, precise in zip(FIELDS, mine, more):
                expected = case["values"][name]
                if expected is None or value is None:
                    if expected is not None or value is not None:
                        sys.exit(f"{case['name']}: {name} has a value here or there only")
                    continue
                expected = mpmath.mpf(expected)
                scale = abs(expected) if expected != 0 else mpmath.mpf(1)
                worst = max(worst, abs(value - expected) / scale)
                if abs(precise - value) > mpmath.mpf(10) ** -35 * scale:
                    sys.exit(f"{case['name']}: {name} changes with the number of digits")
    print(f"prisms.json: {len(table['cases'])} cases, worst relative difference {mpmath.nstr(worst, 2)}")
    if worst > mpmath.mpf("1e-24"):
        sys.exit("the oracle differs from prisms.json by more than 1e-24")


if __name__ == "__main__":
    check()
