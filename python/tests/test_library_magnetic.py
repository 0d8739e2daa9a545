# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Magnetic fields of the library: against formulas, choclo, harmonica and magpylib.

Peers are compared at up to some five sizes of a prism: further away their closed forms lose digits.
"""

import json
import os
import subprocess
import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.skipif("PRISMFIELD_LIBRARY" not in os.environ, reason="PRISMFIELD_LIBRARY names no library")
if "PRISMFIELD_LIBRARY" in os.environ:
    pytest.importorskip("scipy")
    import prismfield as pf
    from prismfield.library import VACUUM_PERMEABILITY as MU0

B = ["bx", "by", "bz"]
CUBE = np.array([-50.0, 50.0, -50.0, 50.0, -50.0, 50.0])
FIELD = (-62.5, 11.25, 48250.0)
PRISM = np.array([-10.0, 30.0, 5.0, 25.0, -40.0, -8.0])
M = np.array([0.3, -0.2, 1.0])


def pairs(n=500, seed=1):
    """Prisms, one point each within some sizes of it, some inside, and magnetisations."""
    random = np.random.default_rng(seed)
    low = random.uniform(-50, 50, (n, 3))
    high = low + random.uniform(10, 60, (n, 3))
    prisms = np.stack([low, high], axis=-1).reshape(n, 6)
    points = 0.5 * (low + high) + random.uniform(-150, 150, (n, 3)) * random.uniform(0, 1, (n, 1))
    return prisms, points, random.uniform(-5, 5, (n, 3))


def of_pairs(function, prisms, points, moments):
    return np.array([function(prism, point, moment) for prism, point, moment in zip(prisms, points, moments)])


def inside(prisms, points):
    return ((prisms[:, ::2] < points) & (points < prisms[:, 1::2])).all(axis=1)


def largest(mine, theirs):
    """The largest difference of vectors relative to the length of theirs."""
    return (np.linalg.norm(mine - theirs, axis=1) / np.linalg.norm(theirs, axis=1)).max()


def ours_of_pairs(prisms, points, moments, **options):
    return of_pairs(
        lambda p, x, m: pf.forward([p], None, [x], B, magnetization=m, units="nT", **options)[:, 0],
        prisms, points, moments,
    )  # fmt: skip


def direction(inclination, declination):
    i, d = np.radians([inclination, declination])
    return np.array([np.cos(i) * np.sin(d), np.cos(i) * np.cos(d), -np.sin(i)])


def test_what_is_made_of_b():
    prisms, points, moments = pairs(20)
    every = pf.forward(prisms, None, points, [*B, "tmi", "tmi_exact", "amplitude"], magnetization=moments,
                       inducing_field=FIELD, units="nT")  # fmt: skip
    b, f = every[:3], direction(*FIELD[:2])
    assert every[3] == pytest.approx(f @ b, rel=1e-12, abs=1e-9)
    exact = np.linalg.norm(FIELD[2] * f[:, np.newaxis] + b, axis=0) - FIELD[2]
    assert every[4] == pytest.approx(exact, abs=1e-9)
    assert every[5] == pytest.approx(np.linalg.norm(b, axis=0), rel=1e-12)
    si = pf.forward(prisms, None, points, ["bz", "bx"], magnetization=moments, axes="z_down")
    assert si[0] == pytest.approx(-1e-9 * b[2], rel=1e-14) and si[1] == pytest.approx(1e-9 * b[0], rel=1e-14)


def test_magnetisation_is_remanent_and_induced():
    prisms, points, moments = pairs(20)
    chi = np.linspace(0, 0.1, 20)
    total = moments + chi[:, np.newaxis] * direction(*FIELD[:2]) * 1e-9 * FIELD[2] / MU0
    expected = pf.forward(prisms, None, points, B, magnetization=total)
    mine = pf.forward(prisms, None, points, B, magnetization=moments, susceptibility=chi, inducing_field=FIELD)
    assert np.abs(mine - expected).max() < 1e-14 * np.abs(expected).max()
    one = pf.forward(prisms, None, points, B, susceptibility=0.1, inducing_field=FIELD)
    each = pf.forward(prisms, None, points, B, susceptibility=np.full(20, 0.1), inducing_field=np.array(FIELD))
    assert np.array_equal(one, each) and one.any()


def test_beside_gravity():
    prisms, points, moments = pairs(20)
    both = pf.forward(prisms, 500.0, points, ["gz", "bx"], magnetization=M)
    assert both[0] == pytest.approx(pf.forward(prisms, 500.0, points, "gz"), rel=1e-12)
    assert both[1] == pytest.approx(pf.forward(prisms, None, points, "bx", magnetization=M), rel=1e-12)


def test_inside():
    at = [[0.0, 0.0, 0.0]]
    # the demagnetising factor of a cube is 1/3
    parts = {"B": [2 / 3] * 3, "H": [-1 / 3] * 3, "cavity": [0] * 3, "borehole": [1 / 6, 1 / 6, -1 / 3]}
    for word, part in parts.items():
        mine = pf.forward([CUBE], None, at, B, magnetization=M, inside=word)[:, 0]
        assert mine == pytest.approx(MU0 * M * part, abs=1e-15 * MU0 + 1e-21)
    assert np.isnan(pf.forward([CUBE], None, at, B, magnetization=M, inside="nan")).all()
    with pytest.warns(pf.SingularPointWarning, match="magnetic"):
        pf.forward([CUBE], None, [[50.0, 50.0, 0.0]], "bx", magnetization=M)


@pytest.mark.parametrize("storage", [None, "double", "float", 1e-4])
def test_operators(storage):
    prisms, points, moments = pairs(60)
    points = points + [0, 0, 200]
    fields, error = ["tmi", "bz", "bx"], {None: 1e-12, "double": 1e-12, "float": 1e-6}.get(storage, 1e-3)
    common = {"inducing_field": FIELD, "units": "nT", "axes": "z_down"}
    amounts = 0.1 * np.random.default_rng(3).normal(size=60)

    def close(mine, theirs):
        return np.abs(mine - theirs).max() <= error * np.abs(theirs).max()

    chi = pf.Operator(prisms, points, fields, storage=storage, **common)
    assert close(chi @ amounts, pf.forward(prisms, None, points, fields, susceptibility=amounts, **common).ravel())
    own = pf.Operator(prisms, points, fields, storage=storage, magnetization=moments, **common)
    scaled = amounts[:, np.newaxis] * moments
    assert close(own @ amounts, pf.forward(prisms, None, points, fields, magnetization=scaled, **common).ravel())
    vector = [pf.Operator(prisms, points, fields, storage=storage, magnetization=d, **common) for d in np.eye(3)]
    total = sum(g @ m for g, m in zip(vector, moments.T))
    assert close(total, pf.forward(prisms, None, points, fields, magnetization=moments, **common).ravel())
    data = np.random.default_rng(4).normal(size=own.shape[0])
    left, right = data @ (own @ amounts), amounts @ (own.T @ data)
    assert abs(left - right) <= 1e-11 * np.linalg.norm(data) * np.linalg.norm(own @ amounts)
    assert own.diagonal() == pytest.approx((own.entries().reshape(own.shape) ** 2).sum(axis=0), rel=10 * error)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"fields": "bx"}, "no magnetization"),
        ({"fields": "bx", "magnetization": M[:2]}, "magnetization: has the shape"),
        ({"fields": "bx", "magnetization": np.ones((4, 3))}, "magnetization: has the shape"),
        ({"fields": "bx", "magnetization": M * np.nan}, "magnetization_easting: is NaN"),
        ({"fields": "bx", "susceptibility": 0.1}, "susceptibility: needs inducing_field"),
        ({"fields": "bx", "susceptibility": [0, -3], "inducing_field": FIELD}, "^prism 1: susceptibility: is -3; a "),
        ({"fields": "bx", "susceptibility": 1e9, "inducing_field": FIELD}, r"susceptibility from -1 to 1e\+06"),
        ({"fields": "bx", "susceptibility": [0, np.nan], "inducing_field": FIELD}, "^prism 1: susceptibility: is NaN"),
        ({"fields": "bx", "susceptibility": 1, "inducing_field": FIELD, "vacuum_permeability": 0.0}, "ability: is"),
        ({"fields": "bx", "susceptibility": [0.1] * 4, "inducing_field": FIELD}, "susceptibility: has the shape"),
        ({"fields": "tmi", "magnetization": M}, "^inducing_field: is missing"),
        ({"fields": "tmi", "magnetization": M, "inducing_field": (-62, 11, 5e-5)}, "^inducing_field: .*in T: write 50"),
        ({"fields": "tmi", "magnetization": M, "inducing_field": (-95, 11, 5e4)}, "inclination from -90"),
        ({"fields": "tmi", "magnetization": M, "inducing_field": (-62, 11)}, "3 numbers"),
        ({"fields": "bx", "magnetization": M, "inside": "b"}, "magnetic.inside"),
        ({"fields": "bx", "magnetization": M, "vacuum_permeability": -1.0}, "magnetic.vacuum_permeability"),
        ({"fields": ["gz", "bx"], "magnetization": M}, "density: is missing; gz needs it"),
        ({"fields": "bx", "magnetization": M, "units": "T"}, "units: 'T'"),
    ],
)
def test_errors(options, text):
    with pytest.raises(ValueError, match=text):
        pf.forward([CUBE, CUBE + 200], None, [[0.0, 0.0, 90.0]], **options)


@pytest.mark.parametrize(
    "fields, options, text",
    [
        (["bx", "gz"], {"magnetization": M}, "multiplies one of the two"),
        ("amplitude", {"magnetization": M}, "no linear function"),
        ("bx", {}, "bx: needs inducing_field=.* or magnetization"),
        ("bx", {"magnetization": M, "inside": "nan"}, "magnetic.inside"),
    ],
)
def test_errors_of_operators(fields, options, text):
    with pytest.raises(ValueError, match=text):
        pf.Operator([CUBE], [[0.0, 0.0, 90.0]], fields, **options)


EDGES = np.linspace(0, 600, 7), np.linspace(0, 500, 6), np.linspace(-300, 0, 4)
ACTIVE = np.arange(90).reshape(3, 5, 6) > 3
STATIONS = tuple(a.ravel() for a in np.meshgrid(np.linspace(20, 580, 9), np.linspace(30, 470, 9), 25.0))


def block(of):
    """What cells have of a block of `of`, and of the others 0."""
    cells = np.zeros((3, 5, 6, *np.shape(of)))
    cells[1, 1:3, 2:4] = of
    return cells


def fields_of_block(fields, magnetization):
    """nT, bz down, of the block's magnetisation."""
    upward, northing, easting = np.meshgrid(*(e[:-1] for e in EDGES[::-1]), indexing="ij")
    prisms = np.stack([easting, easting + 100, northing, northing + 100, upward, upward + 100], axis=-1)
    return pf.forward(prisms.reshape(-1, 6), None, STATIONS, fields, magnetization=block(magnetization).reshape(-1, 3),
                      inducing_field=FIELD, units="nT", axes="z_down")  # fmt: skip


def survey(magnetization, sigma=0.1):
    """Two data sets: anomalies of one flight and components of another."""
    common = {"sigma": sigma, "units": "nT", "axes": "z_down"}
    return [
        pf.Data(STATIONS, fields, fields_of_block(fields, magnetization), name=name, **common)
        for name, fields in (("tmi", "tmi"), ("b", ["bz", "bx", "by"]))
    ]


INDUCED = 1e-9 * FIELD[2] / MU0 * direction(*FIELD[:2]) if "PRISMFIELD_LIBRARY" in os.environ else None


def test_a_susceptibility_is_found():
    chi = 0.02
    data = survey(chi * INDUCED)
    model = pf.invert(pf.Cells(*EDGES, ACTIVE), data, unknown="susceptibility", inducing_field=FIELD,
                      settings={"bounds": [0, 1.5 * chi], "depth_of_investigation": 1, "uncertainty.samples": 3},
                      )  # fmt: skip
    assert model.density is None and model.magnetization is None and model.density_sigma is None
    assert model.susceptibility.shape == model.susceptibility_sigma.shape == (3, 5, 6)
    assert model.depth_of_investigation.shape == (3, 5, 6)
    assert np.array_equal(np.isnan(model.susceptibility), ~ACTIVE)
    found = np.nan_to_num(model.susceptibility)
    assert found.min() >= 0 and 0.3 * chi < found.max() <= 1.5 * chi
    assert block(1.0).ravel()[found.argmax()] == 1
    assert model.on_target and [p.shape for p in model.predicted] == [(81,), (3, 81)]
    assert all(np.abs(p - d.values).max() < 1 for p, d in zip(model.predicted, data))


def test_a_magnetisation_is_found():
    remanence = 2 * direction(-35, 130)
    options = {"unknown": "magnetization", "inducing_field": FIELD}
    cells, data = pf.Cells(*EDGES, ACTIVE), survey(remanence)
    model = pf.invert(cells, data, settings={"uncertainty.samples": 3}, **options)
    assert model.susceptibility is None and model.magnetization.shape == (3, 5, 6, 3)
    assert model.magnetization_sigma.shape == (3, 5, 6, 3) and model.depth_of_investigation is None
    assert np.array_equal(np.isnan(model.magnetization), np.repeat(~ACTIVE[..., np.newaxis], 3, axis=-1))
    found = np.nan_to_num(model.magnetization)
    # a smooth model lies deep
    column = np.linalg.norm(found, axis=-1).sum(axis=0)
    assert block(1.0)[1].ravel()[column.argmax()] == 1
    total = found.sum(axis=(0, 1, 2))
    assert total @ remanence > 0.98 * np.linalg.norm(total) * np.linalg.norm(remanence)
    # what the model makes is what it is said to predict
    upward, northing, easting = (i[ACTIVE] for i in np.meshgrid(*(e[:-1] for e in EDGES[::-1]), indexing="ij"))
    prisms = np.stack([easting, easting + 100, northing, northing + 100, upward, upward + 100], axis=-1)
    again = pf.forward(prisms, None, STATIONS, ["bz", "bx", "by"], magnetization=model.magnetization[ACTIVE],
                       units="nT", axes="z_down")  # fmt: skip
    assert model.predicted[1] == pytest.approx(again, abs=1e-4 * np.abs(again).max())

    half = np.linalg.norm(found, axis=-1).max() / 2
    weak = pf.invert(cells, data, settings={"bounds.amplitude": half}, **options).magnetization
    assert np.nanmax(np.linalg.norm(weak, axis=-1)) <= half * (1 + 1e-12)

    # one component is held, by bounds of each; a reference for all cells and one for each are the same
    most = np.abs(block(remanence)) + [0.5, 0, 0.5]
    held = pf.invert(cells, data, lower=-most, upper=most, cell_weights=2.0, **options).magnetization
    assert not held[ACTIVE & (block(1.0) == 0), 1].any() and (np.abs(held) <= most)[ACTIVE].all()
    wanted = [0.1, 0.2, -0.3]
    one, each = (pf.invert(cells, data, reference=r, **options).magnetization
                 for r in (wanted, np.broadcast_to(wanted, (3, 5, 6, 3))))  # fmt: skip
    assert np.array_equal(one, each, equal_nan=True) and not np.allclose(one, model.magnetization, equal_nan=True)


@pytest.mark.skipif("PRISMFIELD_PROGRAM" not in os.environ, reason="PRISMFIELD_PROGRAM names no program")
@pytest.mark.parametrize("unknown, names", [
    ("susceptibility", ["susceptibility"]),
    ("magnetization", ["magnetization_easting", "magnetization_northing", "magnetization_upward"]),
])  # fmt: skip
def test_inversions_are_those_of_the_program(tmp_path, unknown, names):
    h5py = pytest.importorskip("h5py")
    data = survey(0.02 * INDUCED + (unknown == "magnetization") * np.array([0.3, 0, 0]))
    for of, fields in zip(data, (["tmi"], ["bz", "bx", "by"])):
        rows = np.vstack([*STATIONS, np.reshape(of.values, (-1, 81))]).T
        header = ",".join(["easting", "northing", "upward", *fields])
        np.savetxt(tmp_path / f"{of.name}.csv", rows, "%.17g", ",", header=header, comments="")
    mesh = {way: {"edges": edges.tolist()} for way, edges in zip(("easting", "northing", "upward"), EDGES)}
    case = {
        "magnetic": {"inducing_field": dict(zip(("inclination", "declination", "intensity"), FIELD))},
        "model": {"mesh": mesh},
        "inversion": {"unknown": unknown, "data": [{"file": "tmi.csv"}, {"file": "b.csv"}], "beta": 1e-3,
                      "sigma": {"floor": dict.fromkeys(("tmi", "bx", "by", "bz"), 0.1)}},
        "sensitivity": {"store": "memory"},
        "output": {"file": "model.h5"},
    }  # fmt: skip
    (tmp_path / "case.yaml").write_text(json.dumps(case))
    subprocess.run([os.environ["PRISMFIELD_PROGRAM"], "invert", "case.yaml"], cwd=tmp_path, check=True)
    with h5py.File(tmp_path / "model.h5") as file:
        theirs = np.stack([file[name][...] for name in names], axis=-1)
    mine = pf.invert(pf.Cells(*EDGES), data, unknown=unknown, inducing_field=FIELD,
                     settings={"beta": 1e-3, "sensitivity.store": "memory"})  # fmt: skip
    # the program reads nT from text
    assert getattr(mine, unknown).reshape(theirs.shape) == pytest.approx(theirs, abs=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, "has tmi, which is no field of a density; set unknown to susceptibility or magnetization"),
        ({"unknown": "chi"}, "unknown: 'chi' is none of density, susceptibility, magnetization"),
        ({"unknown": "susceptibility"}, "inducing_field: unknown is susceptibility"),
        ({"unknown": "magnetization"}, "inducing_field: data[0] has tmi, which needs the inducing field"),
        ({"unknown": "magnetization", "inducing_field": (0, 0, 5e-5)}, "intensity in nT"),
        ({"unknown": "magnetization", "lower": np.zeros((3, 5, 6))}, "lower: has the shape (3, 5, 6), (3, 5, 6, 3) is"),
        ({"unknown": "magnetization", "cell_weights": np.ones(3)}, "cell_weights: has the shape (3,), (3, 5, 6) is"),
        ({"unknown": "susceptibility", "reference": np.zeros(3)}, "reference: has the shape (3,), (3, 5, 6) is"),
        ({"settings": {"unknown": "susceptibility"}}, "settings: unknown is an argument of its own"),
    ],
)  # fmt: skip
def test_errors_of_inversions(options, text):
    with pytest.raises(ValueError) as error:
        pf.invert(pf.Cells(*EDGES), survey(INDUCED), **options)
    assert text in str(error.value)


def choclo_of(choclo, prism, point, moment):
    return np.array(choclo.magnetic_field(*point, *prism, *moment))


def test_choclo():
    """choclo has NaN inside of prisms, where pf.forward has B."""
    theirs = pytest.importorskip("choclo").prism
    import prismfield.choclo as ours

    prisms, points, moments = pairs()
    mine, other = (of_pairs(lambda *a, k=k: choclo_of(k, *a), prisms, points, moments) for k in (ours, theirs))
    hidden = inside(prisms, points)
    assert 20 < hidden.sum() < 400
    assert np.isnan(mine[hidden]).all() and np.isnan(other[hidden]).all()
    assert largest(mine[~hidden], other[~hidden]) < 1e-10
    assert largest(ours_of_pairs(prisms, points, moments)[~hidden], 1e9 * mine[~hidden]) < 1e-13
    for prism, point, moment, b in zip(prisms[:20], points[:20], moments[:20], mine):
        each = [f(*point, *prism, *moment) for f in (ours.magnetic_e, ours.magnetic_n, ours.magnetic_u)]
        assert np.array_equal(each, b, equal_nan=True)


GRADIENTS = {"ee": "bxx", "nn": "byy", "uu": "bzz", "en": "bxy", "eu": "bxz", "nu": "byz"}


def gradient_of(choclo, prism, point, moment):
    return np.array([getattr(choclo, f"magnetic_{pair}")(*point, *prism, *moment) for pair in GRADIENTS])


def test_choclo_has_nothing_else():
    """Of its functions of magnetic fields, with the same arguments."""
    theirs = pytest.importorskip("choclo").prism
    import prismfield.choclo as ours

    names = [name for name in dir(theirs) if name.startswith(("gravity_", "magnetic_"))]
    assert sorted(names) == ours.__all__ and len(names) == 20
    for name in names:
        mine, other = (getattr(k, name).py_func.__code__ for k in (ours, theirs))
        assert mine.co_argcount == other.co_argcount


def test_gradients_of_choclo():
    theirs = pytest.importorskip("choclo").prism
    import prismfield.choclo as ours

    prisms, points, moments = pairs()
    mine, other = (of_pairs(lambda *a, k=k: gradient_of(k, *a), prisms, points, moments) for k in (ours, theirs))
    hidden = inside(prisms, points)
    assert np.isnan(mine[hidden]).all() and np.isnan(other[hidden]).all()
    assert largest(mine[~hidden], other[~hidden]) < 1e-10
    fields = of_pairs(
        lambda p, x, m: pf.forward([p], None, [x], list(GRADIENTS.values()), magnetization=m)[:, 0],
        prisms, points, moments,
    )  # fmt: skip
    assert largest(fields[~hidden], mine[~hidden]) < 1e-13


def test_choclo_far_away():
    """At 1000 sizes choclo keeps six digits of B, prismfield all: of a cube it is that of a dipole to 1e-12."""
    theirs = pytest.importorskip("choclo").prism
    import prismfield.choclo as ours

    at = np.array([30_000.0, -60_000.0, 75_000.0])
    r = np.linalg.norm(at)
    dipole = MU0 / (4 * np.pi) * 1e6 * (3 * (M @ at) * at / r**5 - M / r**3)
    mine, other = (choclo_of(k, CUBE, at, M) for k in (ours, theirs))
    assert np.linalg.norm(mine - dipole) < 1e-11 * np.linalg.norm(dipole)
    assert 1e-9 < np.linalg.norm(other - dipole) / np.linalg.norm(dipole) < 1e-4


def places():
    """Points of a prism's faces, edges, corners and interior, in it and around it."""
    along = [np.array([low - 3, low, low + 0.3 * (high - low), high, high + 4]) for low, high in PRISM.reshape(3, 2)]
    return np.stack(np.meshgrid(*along, indexing="ij")).reshape(3, -1)


def test_choclo_on_faces_and_edges():
    """On faces both have the limit from outside, on edges and inside NaN."""
    theirs = pytest.importorskip("choclo").prism
    import prismfield.choclo as ours

    found = {k: np.array([choclo_of(k, PRISM, at, M) for at in places().T]) for k in (ours, theirs)}
    assert found[ours] == pytest.approx(found[theirs], rel=1e-10, abs=1e-18, nan_ok=True)
    # of 125 places 8 corners, 12 edges and 1 of the interior
    assert np.isnan(found[ours]).any(axis=1).sum() == 8 + 12 + 1
    assert np.isnan(ours.magnetic_field(0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, *M)).all()
    found = {k: np.array([gradient_of(k, PRISM, at, M) for at in places().T]) for k in (ours, theirs)}
    assert found[ours] == pytest.approx(found[theirs], rel=1e-10, abs=1e-18, nan_ok=True)
    assert np.isnan(found[ours]).any(axis=1).sum() == 8 + 12 + 1
    assert np.isnan(ours.magnetic_en(0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, *M))
    # pf.forward has the mean of both sides, which along a face differ by mu0 M
    top = np.array([[0.0, 10.0, PRISM[5]]])
    mean = pf.forward([PRISM], None, top, B, magnetization=M)[:, 0]
    assert mean - choclo_of(ours, PRISM, top[0], M) == pytest.approx(0.5 * MU0 * M * [1, 1, 0], abs=1e-14 * MU0)


def test_choclo_in_loops_of_numba():
    numba = pytest.importorskip("numba")
    import prismfield.choclo as ours

    @numba.njit(parallel=True)
    def total(upward):
        b = np.zeros((upward.size, 5))
        for i in numba.prange(upward.size):
            at = (1.0, 2.0, upward[i], -10.0, 30.0, 5.0, 25.0, -40.0, -8.0, 0.3, -0.2, 1.0)
            b[i, 0], b[i, 1], b[i, 2] = ours.magnetic_field(*at)
            b[i, 3] = ours.magnetic_u(*at)
            b[i, 4] = ours.magnetic_nu(*at)
        return b

    upward = np.linspace(0, 200, 300)
    b = total(upward)
    expected = pf.forward([PRISM], None, (1.0, 2.0, upward), B, magnetization=M)
    assert b[:, :3].T == pytest.approx(expected, rel=1e-12) and np.array_equal(b[:, 2], b[:, 3])
    gradient = pf.forward([PRISM], None, (1.0, 2.0, upward), "byz", magnetization=M)
    assert b[:, 4] == pytest.approx(gradient, rel=1e-12)


def harmonica_both(points, prisms, moments, field, **options):
    hm = pytest.importorskip("harmonica")
    import prismfield.harmonica as ours

    mine = ours.prism_magnetic(points, prisms, moments, field, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = hm.prism_magnetic(points, prisms, moments, field, **(options | {"parallel": False}))
    assert type(mine) is type(theirs)
    if field != "b":
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
    return np.asarray(mine), np.asarray(theirs)


def assert_close(mine, theirs, error=1e-10):
    assert np.array_equal(np.isnan(mine), np.isnan(theirs))
    there = ~np.isnan(theirs)
    assert np.abs(mine - theirs)[there].max(initial=0) <= error * np.abs(theirs[there]).max(initial=0)


@pytest.mark.parametrize("field", ["b", "b_e", "b_n", "b_u"])
def test_harmonica(field):
    prisms, points, moments = pairs()
    for some in range(0, 500, 50):
        part = slice(some, some + 50)
        # each of these points is far from most of these prisms, and in some
        assert_close(*harmonica_both(tuple(points[part].T), prisms[part][:9], tuple(moments[part][:9].T), field))
    assert_close(*harmonica_both(tuple(places()), PRISM, M, field))
    assert_close(*harmonica_both(([1.0, 2], [3.0, 4], [50.0, 60]), list(PRISM), list(M), field, dtype="float32"), 1e-6)


def test_harmonica_by_pairs():
    prisms, points, moments = pairs()
    mine, theirs = np.transpose(of_pairs(
        lambda p, x, m: np.stack(harmonica_both(tuple(x), p, tuple(m), "b"), axis=-1), prisms, points, moments,
    ), (2, 0, 1))  # fmt: skip
    hidden = inside(prisms, points)
    assert np.array_equal(np.isnan(mine), np.isnan(theirs)) and np.isnan(mine[hidden]).all()
    assert largest(mine[~hidden], theirs[~hidden]) < 1e-10


def test_harmonica_on_faces_that_prisms_share(monkeypatch):
    prisms = np.array([[0, 10, 0, 10, -10, 0], [0, 10, 0, 10, 0, 5], [10, 20, 0, 10, -10, 0], [0, 5, 0, 10, 5, 9.0]])
    points = (np.array([3, 10, 7, 5, 0]), np.array([4.0, 5, 2, 0, 7]), np.array([0.0, -3, 5, -2, -4]))
    moments = np.random.default_rng(2).normal(size=(3, 4))
    mine, theirs = harmonica_both(points, prisms, moments, "b")
    assert_close(mine, theirs)
    monkeypatch.setattr("prismfield.harmonica._PAIRS_AT_ONCE", 7)
    assert np.array_equal(mine, harmonica_both(points, prisms, moments, "b")[0])


def test_harmonica_of_odd_input():
    prisms, points, moments = pairs(12)
    prisms[2, 1], prisms[5, 2], prisms[7, 4], moments[9] = prisms[2, 0], prisms[5, 3], prisms[7, 5], 0.0
    at = tuple(points.T + 200)
    assert_close(*harmonica_both(at, prisms, moments.T, "b_u"))
    nothing = [2, 5, 7, 9]
    assert not harmonica_both(at, prisms[nothing], moments[nothing].T, "b")[0].any()
    for turned in ([1, 0, 2, 3, 4, 5], [1, 0, 3, 2, 4, 5], [1, 0, 3, 2, 5, 4]):
        assert_close(*harmonica_both((50.0, 3.0, 9.0), PRISM[turned], M, "b", disable_checks=True))
    import prismfield.harmonica as ours

    b = ours.prism_magnetic((0.0, 10.0, np.array([10.0, np.nan, -20.0])), PRISM, M, "b_u")
    assert np.array_equal(np.isnan(b), [False, True, True])


@pytest.mark.parametrize(
    "prisms, moments, field, text",
    [
        (PRISM, M, "b_z", "field: 'b_z'"),
        (PRISM, M[:2], "b", "magnetization: has 2 components"),
        (PRISM, np.ones((3, 2)), "b", "magnetization: has 2 values for 1 prisms"),
        ([[3, 1, 0, 1, 0, 1]], M, "b", "west is above east in 1 of 1"),
    ],
)
def test_errors_of_harmonica(prisms, moments, field, text):
    hm = pytest.importorskip("harmonica")
    import prismfield.harmonica as ours

    with pytest.raises(ValueError, match=text):
        ours.prism_magnetic((0.0, 0.0, 50.0), prisms, moments, field)
    with pytest.raises(ValueError):
        hm.prism_magnetic((0.0, 0.0, 50.0), prisms, moments, field)


def test_magpylib():
    """Its B inside is that of pf.forward; it takes the polarisation mu0 M."""
    magpylib = pytest.importorskip("magpylib")
    prisms, points, moments = pairs()
    low, high = prisms[:, ::2], prisms[:, 1::2]

    def cuboid(get):
        return of_pairs(
            lambda p, x, m: getattr(
                magpylib.magnet.Cuboid(position=0.5 * (p[::2] + p[1::2]), dimension=p[1::2] - p[::2],
                                       polarization=MU0 * m),
                get,
            )(x),
            prisms, points, moments,
        )  # fmt: skip

    assert inside(prisms, points).any() and (low < high).all()
    assert largest(ours_of_pairs(prisms, points, moments), 1e9 * cuboid("getB")) < 1e-10


def test_magpylib_on_faces_and_edges():
    """On a face magpylib has B of inside, pf.forward the mean of both sides; on edges 0, and a finite part."""
    magpylib = pytest.importorskip("magpylib")
    magnet = magpylib.magnet.Cuboid(dimension=(100, 100, 100), polarization=MU0 * M)
    at = np.array([[10.0, 20.0, 50.0], [10.0, -50.0, 20.0]])
    mean = pf.forward([CUBE], None, at, B, magnetization=M).T
    across = np.array([[0, 0, 1.0], [0, 1, 0]])
    inner = mean + 0.5 * MU0 * M * (1 - across)
    assert magnet.getB(at) == pytest.approx(inner, rel=1e-10)
    assert not magnet.getB([50.0, 50.0, 0.0]).any()
