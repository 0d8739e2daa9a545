# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Writes seven_spheres_pairs.csv: 1,000 random prism-point pairs of the case inputs/seven_spheres.yaml with the
oracle's values for density 1.

Columns: number of the prism in the ensemble (cells with density, easting fastest, then northing, then upward), its
density, its six faces, the point, ten values. Edges and points are computed in doubles as the program computes them.
"""

import math
import pathlib
import random

import prism_oracle

SEED = 251946
PAIRS = 1000
BOX = ((0.0, 22000.0, 700), (0.0, 22000.0, 700), (-8000.0, 0.0, 50))
SPHERES = (
    ((11000.0, 11000.0, -4000.0), 1080.0, 300.0),
    ((17500.0, 11000.0, -2000.0), 1090.0, -200.0),
    ((14250.0, 16629.0, -2600.0), 1110.0, 250.0),
    ((7750.0, 16629.0, -3200.0), 1130.0, 400.0),
    ((4500.0, 11000.0, -3800.0), 1120.0, -300.0),
    ((7750.0, 5371.0, -4400.0), 1110.0, 500.0),
    ((14250.0, 5371.0, -5000.0), 1110.0, 350.0),
)
GRID = ((0.0, 22000.0, 150), (0.0, 22000.0, 100))
HEIGHT = 100.0


def edge(axis, i):
    low, high, cells = BOX[axis]
    return high if i == cells else low + i * ((high - low) / cells)


def centre(axis, i):
    low, high, cells = BOX[axis]
    return low + (i + 0.5) * ((high - low) / cells)


def cells_with_density():
    """(upward, northing, easting index, density) of every cell with density, in the order of the ensemble."""
    found = {}
    for middle, radius, density in SPHERES:
        ranges = []
        for axis in range(3):
            low, high, cells = BOX[axis]
            width = (high - low) / cells
            first = max(0, math.floor((middle[axis] - radius - low) / width) - 1)
            last = min(cells, math.ceil((middle[axis] + radius - low) / width) + 1)
            ranges.append(range(first, last))
        for k in ranges[2]:
            for j in ranges[1]:
                for i in ranges[0]:
                    offsets = [centre(axis, n) - middle[axis] for axis, n in enumerate((i, j, k))]
                    if sum(d * d for d in offsets) <= radius * radius:
                        found[(k, j, i)] = density
    return [(k, j, i, found[(k, j, i)]) for k, j, i in sorted(found)]


def coordinate(axis, i):
    low, high, n = GRID[axis]
    return high if i == n - 1 else low + i * ((high - low) / (n - 1))


def main():
    prism_oracle.check()
    cells = cells_with_density()
    if len(cells) != 251946:
        raise SystemExit(f"{len(cells)} cells with density instead of 251,946")
    draw = random.Random(SEED).random
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# SPDX-FileCopyrightText: The prismfield authors",
        f"# written by seven_spheres_pairs.py, seed {SEED}; m, G = 1, values for density 1, z up",
    ]
    for _ in range(PAIRS):
        number = int(draw() * len(cells))
        k, j, i, density = cells[number]
        prism = [edge(0, i), edge(0, i + 1), edge(1, j), edge(1, j + 1), edge(2, k), edge(2, k + 1)]
        point = [coordinate(0, int(draw() * GRID[0][2])), coordinate(1, int(draw() * GRID[1][2])), HEIGHT]
        values = prism_oracle.fields(prism, point)
        words = [str(number), repr(density)] + [repr(c) for c in prism + point]
        lines.append(",".join(words + [prism_oracle.text(v) for v in values]))
    (pathlib.Path(__file__).parent / "seven_spheres_pairs.csv").write_text("\n".join(lines) + "\n")
    print(f"seven_spheres_pairs.csv: {PAIRS} pairs")


if __name__ == "__main__":
    main()
