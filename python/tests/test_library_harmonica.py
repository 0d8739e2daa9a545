# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield.harmonica against harmonica itself."""

import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

hm = pytest.importorskip("harmonica", reason="harmonica is not installed")
ours = pytest.importorskip("prismfield.harmonica", reason="the library is not there", exc_type=ImportError)

TENSOR = [field for field in ours.FIELDS if len(field) == 4]
PRISM = np.array([-10.0, 30.0, 5.0, 25.0, -40.0, -8.0])


def both(coordinates, prisms, density, field, **kwargs):
    """Ours and harmonica's values; harmonica alone may take its warning for its own matter."""
    mine = ours.prism_gravity(coordinates, prisms, density, field, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = hm.prism_gravity(coordinates, prisms, density, field, **(kwargs | {"parallel": False}))
    assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
    return mine, theirs


def assert_close(mine, theirs, error=1e-11):
    assert np.array_equal(np.isnan(mine), np.isnan(theirs))
    there = ~np.isnan(theirs)
    assert np.abs(mine - theirs)[there].max() <= error * np.abs(theirs[there]).max()


def model(n, seed=3):
    random = np.random.default_rng(seed)
    low = random.uniform(-100, 100, (n, 3))
    prisms = np.stack([low, low + random.uniform(5, 60, (n, 3))], axis=-1).reshape(n, 6)
    return prisms, random.uniform(-2000, 3000, n), random


@pytest.mark.parametrize("field", ours.FIELDS)
def test_random_pairs(field):
    # Up to 500 m from prisms of 10 to 100 m: beyond, harmonica's closed forms lose the digits that are compared here.
    prisms, density, random = model(40)
    points = tuple(random.uniform(-400, 400, (3, 70)))
    mine, theirs = both(points, prisms, density, field)
    assert_close(mine, theirs)


def test_certificate(capsys):
    relative = ours.certificate(n=100, seed=5)
    every = [*ours.FIELDS, *ours.MAGNETIC_FIELDS]
    assert list(relative) == every and max(relative.values()) < 1e-11
    lines = capsys.readouterr().out.splitlines()
    assert "100 pairs" in lines[0] and len(lines) == 2 + len(every)


@pytest.mark.parametrize("field", ours.FIELDS)
def test_inside(field):
    low, high = PRISM[::2], PRISM[1::2]
    points = tuple((low + np.random.default_rng(0).uniform(0.05, 0.95, (20, 3)) * (high - low)).T)
    assert_close(*both(points, PRISM, 2670.0, field))


@pytest.mark.parametrize("field", ours.FIELDS)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", range(2))
def test_faces_are_seen_from_outside(field, axis, side):
    inner = np.random.default_rng(1).uniform(0.1, 0.9, (3, 8))
    points = PRISM[::2, np.newaxis] + inner * (PRISM[1::2] - PRISM[::2])[:, np.newaxis]
    points[axis] = PRISM[2 * axis + side]
    assert_close(*both(tuple(points), PRISM, 2670.0, field))


@pytest.mark.parametrize("field", ours.FIELDS)
def test_faces_that_prisms_share(field):
    prisms = np.array([[0, 10, 0, 10, -10, 0], [0, 10, 0, 10, 0, 5], [10, 20, 0, 10, -10, 0], [0, 5, 0, 10, 5, 9.0]])
    points = (np.array([3, 10, 7, 5, 0]), np.array([4.0, 5, 2, 0, 7]), np.array([0.0, -3, 5, -2, -4]))
    assert_close(*both(points, prisms, [1000.0, -500, 2000, 700], field))


@pytest.mark.parametrize("field", ours.FIELDS)
def test_edges_and_corners(field):
    places = [np.array([low, low + 0.3 * (high - low), high]) for low, high in PRISM.reshape(3, 2)]
    points = tuple(np.stack(np.meshgrid(*places, indexing="ij")).reshape(3, -1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mine = ours.prism_gravity(points, PRISM, 1000.0, field)
    _, theirs = both(points, PRISM, 1000.0, field, disable_checks=True)
    assert_close(mine, theirs)
    is_tensor = field in TENSOR
    assert np.isnan(mine).any() == is_tensor
    assert [issubclass(one.category, UserWarning) for one in told] == [True] * is_tensor
    assert all("Found observation point" in str(one.message) for one in told)


@pytest.mark.parametrize("field", TENSOR)
def test_no_warning_without_checks_or_touch(field):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        on_edge = ours.prism_gravity((-10.0, 5.0, -8.0), PRISM, 1000.0, field, disable_checks=True)
        above = ours.prism_gravity((-10.0, 5.0, 8.0), PRISM, 1000.0, field)
    assert np.isnan(on_edge) and np.isfinite(above)


def test_edges_of_prisms_that_cancel():
    # Four equal quarters around a vertical edge: the sum has a value there, harmonica's convention is NaN.
    quarters = np.array([[x, x + 5, y, y + 5, -9, -3.0] for x in (0, 5) for y in (0, 5)])
    for field in ("g_ee", "g_en"):
        with pytest.warns(UserWarning, match="NaN"):
            mine = ours.prism_gravity((5.0, 5.0, -5.0), quarters, np.full(4, 300.0), field)
        assert np.isnan(mine)


def test_many_points_on_faces_in_blocks(monkeypatch):
    prisms = np.array([[x, x + 1, 0, 4, -2, 0.0] for x in range(6)])
    points = (np.linspace(0.25, 5.75, 12), np.full(12, 2.0), np.zeros(12))
    mine, theirs = both(points, prisms, np.arange(1.0, 7.0) * 100, "g_zz")
    assert_close(mine, theirs)
    monkeypatch.setattr(ours, "_PAIRS_AT_ONCE", 7)
    assert np.array_equal(mine, ours.prism_gravity(points, prisms, np.arange(1.0, 7.0) * 100, "g_zz"))


@pytest.mark.parametrize("field", ours.FIELDS)
def test_prisms_without_volume_or_density(field):
    prisms, density, random = model(12)
    prisms[2, 1], prisms[5, 2], prisms[7, 4], density[9] = prisms[2, 0], prisms[5, 3], prisms[7, 5], 0.0
    points = tuple(random.uniform(-300, 300, (3, 15)))
    assert_close(*both(points, prisms, density, field))
    nothing = ours.prism_gravity(points, prisms[[2, 5, 7, 9]], density[[2, 5, 7, 9]], field)
    assert nothing.shape == (15,) and not nothing.any()


@pytest.mark.parametrize(
    "coordinates",
    [
        (0.0, 1.0, 2.0),
        ([0, 20], [1, 30], [2, 50]),
        (np.zeros((3, 2)), np.arange(6).reshape(3, 2), np.full((3, 2), 40.0)),
        (np.arange(4), np.arange(4), np.arange(4), "a fourth"),
    ],
    ids=["scalars", "lists of integers", "2-D", "four"],
)
@pytest.mark.parametrize("options", [{}, {"parallel": False}, {"dtype": "float32"}], ids=str)
def test_shapes_and_types(coordinates, options):
    mine, theirs = both(coordinates, list(PRISM), 2670, "g_z", **options)
    assert_close(mine, theirs, 1e-6 if "dtype" in options else 1e-11)


def test_coordinates_are_broadcast():
    easting, northing = np.linspace(-50, 50, 4), np.linspace(-40, 40, 3)[:, np.newaxis]
    grid = np.meshgrid(easting, northing[:, 0])
    assert np.array_equal(
        ours.prism_gravity((easting, northing, 7.0), PRISM, 1.0, "g_z"),
        ours.prism_gravity((*grid, np.full((3, 4), 7.0)), PRISM, 1.0, "g_z"),
    )


def test_points_that_are_not_finite():
    upward = np.array([10.0, np.nan, -8.0, np.inf])
    mine = ours.prism_gravity((np.zeros(4), np.full(4, 10.0), upward), PRISM, 1000.0, "g_zz")
    assert np.array_equal(np.isnan(mine), [False, True, False, True])
    assert_close(*both((np.zeros(2), np.full(2, 10.0), upward[[0, 2]]), PRISM, 1000.0, "g_zz"))


@pytest.mark.parametrize(
    "prisms, density, field, text",
    [
        (PRISM, 1.0, "g_up", "field: 'g_up'"),
        (PRISM, [1.0, 2.0], "g_z", "density: has 2 values for 1 prisms"),
        ([[3, 1, 0, 1, 0, 1]], 1.0, "g_z", "west is above east in 1 of 1"),
        ([[0, 1, 3, 1, 0, 1]], 1.0, "g_z", "south is above north"),
        ([[0, 1, 0, 1, 3, 1]], 1.0, "g_z", "bottom is above top"),
    ],
)
def test_errors(prisms, density, field, text):
    with pytest.raises(ValueError, match=text):
        ours.prism_gravity((0.0, 0.0, 50.0), prisms, density, field)
    with pytest.raises(ValueError):
        hm.prism_gravity((0.0, 0.0, 50.0), prisms, density, field)


@pytest.mark.parametrize(
    "prisms, density, text",
    [
        (PRISM[:5], 1.0, r"prisms: has the shape \(5,\)"),
        ([PRISM[:5]], 1.0, r"prisms: has the shape \(1, 5\)"),
        ([0, 1, 0, 1, 0, np.nan], 1.0, "prism 0: top: is NaN"),
        (PRISM, np.nan, "prism 0: density: is NaN"),
    ],
)
def test_errors_that_harmonica_does_not_see(prisms, density, text):
    with pytest.raises(ValueError, match=text):
        ours.prism_gravity((0.0, 0.0, 50.0), prisms, density, "g_z")


def test_in_this_thread():
    prisms, density, random = model(300)
    points = tuple(random.uniform(-300, 300, (3, 70)))
    mine = [ours.prism_gravity(points, prisms, density, "g_z", parallel=parallel) for parallel in (True, False)]
    assert_close(*mine, 1e-13)


def test_bounds_in_any_order_without_checks():
    for turned in ([1, 0, 2, 3, 4, 5], [1, 0, 3, 2, 4, 5], [1, 0, 3, 2, 5, 4]):
        assert_close(*both(([50.0], [3.0], [9.0]), PRISM[turned], 800.0, "g_z", disable_checks=True))


def test_progress(capsys):
    prisms, density, random = model(300)
    for points in (random.uniform(-300, 300, (3, 2)), random.uniform(-300, 300, (3, 70))):
        mine = [ours.prism_gravity(tuple(points), prisms, density, "g_z", progressbar=bar) for bar in (True, False)]
        assert np.array_equal(*mine)
        assert capsys.readouterr().err.endswith("100 %\n")


def layer():
    random = np.random.default_rng(2)
    easting, northing = np.linspace(0, 1000, 6), np.linspace(0, 800, 5)
    made = hm.prism_layer(
        (easting, northing), random.uniform(-50, 50, (5, 6)), reference=0.0,
        properties={"density": random.uniform(2000, 3000, (5, 6)), "other": np.full((5, 6), 100.0)},
    )  # fmt: skip
    grid = np.meshgrid(np.linspace(-100, 1100, 4), np.linspace(0, 800, 3))
    return made, (*grid, np.full_like(grid[0], 80.0))


@pytest.mark.parametrize("field", ours.FIELDS)
def test_layer(field):
    made, coordinates = layer()
    theirs = made.prism_layer.gravity(coordinates, field, parallel=False)
    assert_close(made.prismfield.gravity(coordinates, field), theirs)
    assert_close(ours.prism_layer_gravity(made, coordinates, field, parallel=False), theirs)


def test_layer_keywords_of_both_versions():
    made, coordinates = layer()
    for arguments, options in (
        ((False, "other", 20.0), {"dtype": "float64"}),
        ((), {"density_name": "other", "thickness_threshold": 20.0, "parallel": False, "progressbar": False}),
    ):
        theirs = made.prism_layer.gravity(coordinates, "g_z", *arguments, **options)
        assert_close(made.prismfield.gravity(coordinates, "g_z", *arguments, **options), theirs)


def test_layer_with_holes():
    made, coordinates = layer()
    made.top.values[0, 1] = made.bottom.values[2, 3] = np.nan
    theirs = made.prism_layer.gravity(coordinates, "g_z", parallel=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_close(made.prismfield.gravity(coordinates, "g_z"), theirs)
    made.density.values[0, 1] = made.density.values[4, 4] = np.nan
    with pytest.warns(UserWarning, match="missing values"):
        theirs = made.prism_layer.gravity(coordinates, "g_z", parallel=False)
    with pytest.warns(UserWarning, match="1 columns of the layer have NaN as 'density'"):
        assert_close(made.prismfield.gravity(coordinates, "g_z"), theirs)


def test_layer_that_was_transposed():
    made, coordinates = layer()
    turned = made.transpose("easting", "northing")
    assert turned.top.shape == (6, 5)
    expected = made.prismfield.gravity(coordinates, "g_z")
    assert np.array_equal(turned.prismfield.gravity(coordinates, "g_z"), expected)


def test_layer_is_evenly_spaced():
    made, coordinates = layer()
    uneven = made.assign_coords(easting=[0.0, 200, 400, 600, 800, 1001])
    with pytest.raises(ValueError, match="easting: is not evenly spaced"):
        uneven.prismfield.gravity(coordinates, "g_z")
    with pytest.raises(ValueError, match="northing: has 1 values"):
        made.isel(northing=[0]).prismfield.gravity(coordinates, "g_z")


def test_the_benchmark_beside_the_others_runs():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    script = root / "perf" / "peers" / "drop_in.py"
    if not script.is_file():
        pytest.skip("the benchmarks are not there")
    wanted = ["prism_gravity, 1 x 1", "g_zz, 100 columns", "Jvec, ram"]
    words = [sys.executable, str(script), "--quick", "--turns", "1", *(w for text in wanted for w in ("--only", text))]
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    table = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(table) >= 3 and all(len(line.split("|")) == 9 for line in table)
