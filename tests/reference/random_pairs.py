# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Writes random_pairs.csv (aspect up to 100:1) and extreme_pairs.csv (100:1 to 1000:1): random prisms, ten points each,
with the oracle's values.

A line `prism,shape,x1,x2,y1,y2,z1,z2` is followed by the lines of its points, `kind,px,py,pz,V,gx,...,gyz`, a value
empty where the component has no limit. Every coordinate is the shortest decimal of a double and the values belong to
that very double, or to the face that it is within 4 ulp of. Half of the prisms lie at coordinates of the size of UTM's. Only random() is drawn, so that the files
are the same on every machine.
"""

import pathlib
import random

import prism_oracle

HERE = pathlib.Path(__file__).parent
FILES = (
    # name, seed, prisms, decades of the aspect
    ("random_pairs.csv", 20130401, 400, (0.0, 2.0)),
    ("extreme_pairs.csv", 20140701, 100, (2.0, 3.0)),
)
SHAPES = ("cube", "box", "slab", "needle", "blade")


class Draw:
    """The few distributions that are needed, from random() alone."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def uniform(self, low, high):
        return low + (high - low) * self.random()

    def power(self, low, high):
        """Log-uniform between 10^low and 10^high."""
        return 10.0 ** self.uniform(low, high)

    def choice(self, items):
        return items[int(self.random() * len(items))]

    def sign(self):
        return self.choice((-1.0, 1.0))

    def direction(self):
        """Along an axis, a face's or the body's diagonal, or anywhere."""
        kind = self.choice(("axis", "face", "body", "any", "any", "any"))
        if kind == "any":
            while True:
                v = [self.uniform(-1, 1) for _ in range(3)]
                if 0.01 < sum(c * c for c in v) <= 1:
                    break
        else:
            v = [self.sign() for _ in range(3)]
            zeros = {"axis": 2, "face": 1, "body": 0}[kind]
            first = int(3 * self.random())
            for n in range(zeros):
                v[(first + n) % 3] = 0.0
        norm = sum(c * c for c in v) ** 0.5
        return [c / norm for c in v]


def draw_prism(draw, shape, decades):
    """Edge lengths and place of a prism of the given shape, as doubles (x1, x2, y1, y2, z1, z2)."""
    short = 10.0 ** -draw.uniform(*decades)
    if shape == "cube":
        relative = [1.0, 1.0, 1.0]
    elif shape == "box":
        relative = [1.0, draw.uniform(0.4, 1), draw.uniform(0.4, 1)]
    elif shape == "slab":
        relative = [1.0, draw.uniform(0.5, 1), short]
    elif shape == "needle":
        relative = [1.0, short, short * draw.uniform(1, 1.4)]
    else:
        relative = [1.0, short ** draw.uniform(0.2, 0.8), short]
    turn = int(3 * draw.random())
    relative = relative[turn:] + relative[:turn]
    if draw.random() < 0.5:
        relative[0], relative[1] = relative[1], relative[0]

    at_utm = draw.random() < 0.5
    longest = draw.power(0, 4) if at_utm else draw.power(-2, 5)
    if at_utm:
        corner = [draw.uniform(160e3, 840e3), draw.uniform(0, 10e6), draw.uniform(-20e3, 2e3)]
    else:
        corner = [draw.uniform(-3, 3) * longest for _ in range(3)]
    if shape == "cube":
        # Powers of two keep the three edges equal in doubles.
        longest = 2.0 ** round(draw.uniform(0, 13))
        corner = [round(c) + 0.0 for c in corner]
    prism = []
    for c, size in zip(corner, relative):
        prism += [c, c + size * longest]
    return prism


def draw_points(draw, prism):
    """(kind, point) ten times.

    c: from the centre, s: from the surface, e: about an edge's line, n: nearer than 1e-6, i: inside, o: exactly on.
    """
    low, high = prism[0::2], prism[1::2]
    longest = max(h - l for l, h in zip(low, high))
    centre = [l + (h - l) / 2 for l, h in zip(low, high)]

    def inside():
        return [l + (h - l) * draw.random() for l, h in zip(low, high)]

    def about_centre():
        """Off the centre by a power of ten of each edge, or of one edge alone: where g is small beside its terms."""
        only = draw.choice((0, 1, 2, None))
        offset = draw.power(-6, -0.5)
        return [
            c + (0.0 if only not in (None, d) else offset * draw.sign() * (h - l))
            for d, (c, l, h) in enumerate(zip(centre, low, high))
        ]

    def from_centre(distance):
        return [c + distance * longest * d for c, d in zip(centre, draw.direction())]

    def on_surface(sides):
        """A place on a face, an edge or a corner (1, 2 or 3 sides) and the directions in which its sides look."""
        place, outward = inside(), [0.0] * 3
        first = int(3 * draw.random())
        for n in range(sides):
            axis = (first + n) % 3
            outward[axis] = draw.sign()
            place[axis] = high[axis] if outward[axis] > 0 else low[axis]
        return place, outward

    def from_surface(low_power, high_power):
        place, outward = on_surface(draw.choice((1, 1, 2, 3)))
        distance = draw.power(low_power, high_power) * longest
        if draw.random() < 0.5:
            way = outward
        else:
            way = draw.direction()
        if distance < longest and draw.random() < 0.3:
            way = [-w for w in way]
        return [p + distance * w for p, w in zip(place, way)]

    def edge_line(beside, beyond):
        """Beside an edge's line by `beside` longest edges and, where `beyond` is given, past its end by that many."""
        place, outward = on_surface(2)
        axis = outward.index(0.0)
        if beyond is not None:
            place[axis] = high[axis] + beyond * longest if draw.random() < 0.5 else low[axis] - beyond * longest
        for d in range(3):
            if d != axis:
                place[d] += draw.uniform(-1, 1) * beside * longest
        return place

    def exactly_on():
        what = draw.choice(("face", "edge", "corner", "edge line", "face plane", "centre plane"))
        if what in ("face", "edge", "corner"):
            return on_surface({"face": 1, "edge": 2, "corner": 3}[what])[0]
        if what == "edge line":
            return edge_line(0.0, draw.power(-6, 4))
        place = on_surface(1)[0]
        axis = next(d for d in range(3) if place[d] in (low[d], high[d]))
        if what == "centre plane":
            place[axis] = centre[axis]
        way = draw.direction()
        distance = draw.power(-3, 3) * longest
        return [p if d == axis else p + distance * w for d, (p, w) in enumerate(zip(place, way))]

    return [
        ("c", from_centre(draw.power(-6, 4))),
        ("c", from_centre(draw.power(-0.5, 3))),
        ("c", from_centre(draw.power(0, 1.5))),
        ("s", from_surface(-6, 4)),
        ("s", from_surface(-6, 0)),
        ("e", edge_line(draw.power(-6, 0), draw.power(-6, 4) if draw.random() < 0.7 else None)),
        ("n", from_surface(-16, -6) if draw.random() < 0.5 else edge_line(draw.power(-16, -6), draw.power(-6, 2))),
        ("i", inside() if draw.random() < 0.5 else about_centre()),
        ("o", exactly_on()),
        ("o", exactly_on()),
    ]


def write(name, seed, n_prisms, decades):
    draw = Draw(seed)
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# SPDX-FileCopyrightText: The prismfield authors",
        f"# written by random_pairs.py, seed {seed}; m, G = density = 1, z up",
    ]
    n_points = 0
    for n in range(n_prisms):
        # An aspect of 100:1 and more has no cubes and boxes.
        shape = SHAPES[n % 5] if decades[0] == 0 else SHAPES[2 + n % 3]
        prism = draw_prism(draw, shape, decades)
        lines.append(",".join(["prism", shape] + [repr(c) for c in prism]))
        for kind, point in draw_points(draw, prism):
            values = prism_oracle.fields(prism, prism_oracle.on_faces(prism, point))
            lines.append(",".join([kind] + [repr(c) for c in point] + [prism_oracle.text(v) for v in values]))
            n_points += 1
    (HERE / name).write_text("\n".join(lines) + "\n")
    print(f"{name}: {n_prisms} prisms, {n_points} points")


if __name__ == "__main__":
    prism_oracle.check()
    for file in FILES:
        write(*file)
