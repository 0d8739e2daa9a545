# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The prisms and points of a case, as arrays for every program."""

import dataclasses

import numpy as np
import yaml


@dataclasses.dataclass
class Model:
    """Prisms west, east, south, north, bottom, top (n, 6) and their densities in kg/m3; the edges of the regular cells
    that they are among, easting, northing and upward, and which cells they are, easting fastest."""

    prisms: np.ndarray
    densities: np.ndarray
    edges: list
    cells: np.ndarray


def read_case(path):
    """The model of a case and its points, three flat arrays easting, northing, upward, easting fastest. For voxels of
    spheres on a flat grid only."""
    with open(path, encoding="utf-8") as file:
        case = yaml.safe_load(file)
    voxels = case["model"].get("voxels")
    if not voxels or voxels.get("density", 0) != 0 or "boxes" in voxels or "spheres" not in voxels:
        raise ValueError(f"{path}: only voxels of spheres without a background are understood here")
    edges, middles = [], []
    for low, high, n in (voxels[name] for name in ("easting", "northing", "upward")):
        # To the last bit the faces and centres that prismfield computes.
        width = (high - low) / n
        edges.append(np.append(low + np.arange(n) * width, high))
        middles.append(low + (np.arange(n) + 0.5) * width)
    density = np.zeros([len(m) for m in reversed(middles)])
    for sphere in voxels["spheres"]:
        squares = [(m - c) ** 2 for m, c in zip(middles, sphere["center"])]
        distance = squares[2][:, None, None] + squares[1][None, :, None] + squares[0][None, None, :]
        density[distance <= sphere["radius"] ** 2] = sphere["density"]
    k, j, i = np.nonzero(density)
    faces = [edges[0][i], edges[0][i + 1], edges[1][j], edges[1][j + 1], edges[2][k], edges[2][k + 1]]
    model = Model(
        np.ascontiguousarray(np.stack(faces, axis=1)), density[k, j, i], edges, np.flatnonzero(density.ravel() != 0)
    )

    grid = case["observations"].get("grid")
    if not grid or not isinstance(grid.get("upward"), (int, float)):
        raise ValueError(f"{path}: only a grid at one height is understood here")
    easting, northing = np.meshgrid(*(np.linspace(*grid[name]) for name in ("easting", "northing")))
    points = tuple(np.ascontiguousarray(a.ravel()) for a in (easting, northing, np.full(easting.shape, grid["upward"])))
    return model, points
