#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Writes lean_functions.csv: arguments and 25-digit values of ln(1 + d/b) and atan2(y, x) over the ranges that a prism
can pass (src/kernel/lean.hpp). Columns: function, first and second argument (exact, hexadecimal), value.

    /usr/bin/python3 lean_functions.py > lean_functions.csv      (needs mpmath)
"""
import random

import mpmath as mp

mp.mp.dps = 50
draw = random.Random(20261120)


def logarithm(d, b):
    return mp.log1p(mp.mpf(d) / mp.mpf(b))


def angle(y, x):
    return mp.atan2(mp.mpf(y), mp.mpf(x))


def sign():
    return draw.choice((-1.0, 1.0))


def pairs():
    # edges: d/b from far away (2e over the sum of distances) to next to the edge (2e over a tiny excess)
    for _ in range(1500):
        b = 10.0 ** draw.uniform(-18, 14)
        yield "log1p_quotient", b * 10.0 ** draw.uniform(-17, 17), b
    # differences of logarithms are of either sign
    for _ in range(500):
        b = 10.0 ** draw.uniform(-8, 14)
        yield "log1p_quotient", -b * draw.uniform(0, 0.9999), b
    # around the quotients where the power of two changes
    for k in range(-6, 7):
        for _ in range(40):
            b = draw.uniform(1, 2)
            yield "log1p_quotient", b * (2.0**k * draw.choice((2 / 3, 3 / 4, 1, 4 / 3, 3 / 2)) * draw.uniform(0.999, 1.001) - 1), b
    for _ in range(1500):
        yield "atan2", sign() * 10.0 ** draw.uniform(-12, 12), sign() * 10.0 ** draw.uniform(-12, 12)
    for _ in range(500):
        yield "atan2", draw.uniform(-1, 1), draw.uniform(-1, 1)
    # around the octants and the reduction at tan(pi/8)
    for _ in range(500):
        t = draw.choice((1.0, float(mp.tan(mp.pi / 8)), float(1 / mp.tan(mp.pi / 8)))) * draw.uniform(0.9999, 1.0001)
        yield "atan2", sign() * t, sign()


print("# Written by lean_functions.py: do not edit.")
print("function,first,second,value")
for name, first, second in pairs():
    value = logarithm(first, second) if name == "log1p_quotient" else angle(first, second)
    print(f"{name},{first.hex()},{second.hex()},{mp.nstr(value, 25)}")
