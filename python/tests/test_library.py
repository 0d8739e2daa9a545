# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield as a library: fields, operators and inversions by the shared library that PRISMFIELD_LIBRARY names."""

import copy
import multiprocessing
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest

pytestmark = pytest.mark.skipif("PRISMFIELD_LIBRARY" not in os.environ, reason="PRISMFIELD_LIBRARY names no library")
if "PRISMFIELD_LIBRARY" in os.environ:
    pytest.importorskip("scipy")
    import prismfield as pf
    from prismfield import library
    from prismfield.library import LEVELS, library_file

G = 6.6743e-11
# With these all fields can be asked for.
MAGNETIC = {"magnetization": (1.0, -2.0, 3.0), "inducing_field": (-60.0, 10.0, 50000.0)}
CUBE = [[-50.0, 50.0, -50.0, 50.0, -350.0, -250.0]]


def ensemble(n=40, m=30, seed=1):
    """Cubes below points, and densities."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-100, 100, (n, 3)) - [0, 0, 200]
    prisms = np.empty((n, 6))
    prisms[:, 0::2], prisms[:, 1::2] = centres - 5, centres + 5
    points = np.c_[random.uniform(-100, 100, (m, 2)), np.full(m, 10.0)]
    return prisms, random.uniform(-300, 300, n), points


def python(code, **environment):
    """Runs code in another process of this Python."""
    path = str(pathlib.Path(__file__).resolve().parent.parent)
    return subprocess.Popen(
        [sys.executable, "-B", "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def test_a_cube_far_away_is_a_point_mass():
    at = [[0.0, 0.0, 99700.0], [30000.0, 0.0, -300.0]]
    down = pf.forward(CUBE, 500.0, at, "gz", units="mGal", axes="z_down")
    assert down[0] == pytest.approx(G * 5e8 / 1e10 * 1e5, rel=1e-9)
    assert pf.forward(CUBE, 500.0, at, ["gzz", "gx"])[1, 1] == pytest.approx(-G * 5e8 / 9e8, rel=1e-9)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_first_code_of_the_pages_runs(page):
    text = (pathlib.Path(__file__).resolve().parents[2] / page).read_text()
    names = {}
    exec(re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)[1], names)
    assert names["gz"].shape == (101, 101) and names["gz"].max() > 0
    if page == "README.md":
        assert np.array_equal(names["G"] @ [500, -300], names["gz"].ravel())


def test_few_and_many_pairs_are_the_same():
    prisms, density, points = ensemble(200, 150)
    whole = pf.forward(prisms, density, points, pf.FIELDS, **MAGNETIC)
    few = [pf.forward(prisms, density, some, pf.FIELDS, **MAGNETIC) for some in np.split(points, 50)]
    errors = np.abs(whole - np.concatenate(few, axis=1)).max(axis=1) / np.abs(whole).max(axis=1)
    assert errors.max() < 1e-11


def test_a_tolerance_is_kept():
    prisms, density, points = ensemble(200, 150)
    gravity = [name for name in pf.FIELDS if name == "potential" or name.startswith("g")]
    exact = pf.forward(prisms, density, points, gravity)
    fields = pf.forward(prisms, density, points, gravity, tolerance=1e-5)
    errors = np.abs(fields - exact).max(axis=1) / np.abs(exact).max(axis=1)
    assert 0 < errors.max() < 1e-5
    with pytest.raises(ValueError, match="tolerance"):
        pf.forward(prisms, density, points, tolerance=1)


def test_fields_come_in_the_order_asked_for_in_the_shape_of_the_coordinates():
    prisms, density, points = ensemble()
    both = pf.forward(prisms, density, points, ["gxy", "potential"])
    assert np.array_equal(both[::-1], pf.forward(prisms, density, points, ("potential", "gxy")))
    grid = pf.forward(prisms, density, tuple(points.T.reshape(3, 5, 6)), "gxy")
    assert np.array_equal(grid, both[0].reshape(5, 6))
    assert np.array_equal(pf.forward(prisms, density, (*points.T[:2], 10.0), "gxy"), both[0])


def test_a_singular_point_is_told():
    with pytest.warns(pf.SingularPointWarning, match="1 of 2 points"):
        pf.forward(CUBE, 500.0, [[50.0, 50.0, -300.0], [0.0, 0.0, 0.0]], "gxx")


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.astype(np.float32),
        lambda a: np.asfortranarray(a),
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a[::-1][::-1],
        lambda a: a.tolist(),
    ],
)
def test_arrays_of_any_layout(change):
    prisms, density, points = ensemble()
    prisms, points = np.round(prisms), np.round(points)
    expected = pf.forward(prisms, density, points, "gz")
    points.flags.writeable = False
    assert np.array_equal(pf.forward(change(prisms), density, change(points), "gz"), expected)


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch")
    prisms, density, points = ensemble()
    assert np.array_equal(
        pf.forward(torch.from_numpy(prisms), torch.from_numpy(density), torch.from_numpy(points)),
        pf.forward(prisms, density, points),
    )


class OfDLPack:
    """An array of a library that has DLPack alone."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class OfDevice(OfDLPack):
    """An array of a device, as PyTorch has it: the host's are made by cpu()."""

    __cuda_array_interface__ = None

    def __array__(self, *_, **__):
        raise TypeError("on the device")

    def cpu(self):
        return self._values


@pytest.mark.parametrize("kind", [OfDLPack, OfDevice])
def test_arrays_by_dlpack(kind):
    prisms, density, points = ensemble()
    expected = pf.forward(prisms, density, points)
    assert np.array_equal(pf.forward(kind(prisms), kind(density), kind(points)), expected)
    columns = tuple(kind(column.copy()) for column in points.T)
    assert np.array_equal(pf.forward(prisms, kind(density), columns), expected)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (lambda p, d, x: (p, np.ma.array(d, mask=d > 0), x), "density: has masked values"),
        (lambda p, d, x: (p, d, (np.ma.array(x[:, 0], mask=x[:, 0] > 0), *x.T[1:])), "points: has masked values"),
        (lambda p, d, x: (p, d, (OfDLPack(1j * x[:, 0]), *x.T[1:])), "points: has values of type complex128"),
        (lambda p, d, x: (p, d, x, "gw"), "'gw' is not a field"),
        (lambda p, d, x: (p, d, x, []), "at least one"),
        (lambda p, d, x: (p, d, x, ["gz", "gz"]), "once"),
        (lambda p, d, x: (p[:, :5], d, x), "(n, 6) is needed"),
        (lambda p, d, x: (p, d[1:], x), "(40,) is needed"),
        (lambda p, d, x: (p, d, x[:, :2]), "(n, 3) is needed"),
        (lambda p, d, x: (p, d, (x, x)), "easting, northing and upward"),
        (lambda p, d, x: (p, d * np.nan, x), "prism 0: density: is NaN"),
        (lambda p, d, x: (p, d * 1j, x), "real numbers"),
        (lambda p, d, x: (p, "heavy", x), "real numbers"),
        (lambda p, d, x: (p[:, ::-1], d, x), "is not below east"),
    ],
)
def test_what_is_wrong_is_named(arguments, text):
    with pytest.raises(ValueError) as error:
        pf.forward(*arguments(*ensemble()))
    assert text in str(error.value)


@pytest.mark.parametrize(
    "keyword, value", [("axes", "down"), ("units", "uGal"), ("space", "gpu"), ("precision", "half")]
)
def test_a_wrong_word_is_named(keyword, value):
    with pytest.raises(ValueError, match=value):
        pf.forward(*ensemble(), **{keyword: value})


@pytest.mark.parametrize("storage", [None, "double", "float", 1e-4])
def test_an_operator_is_its_matrix(storage):
    prisms, density, points = ensemble(300, 60)
    fields = ["gzz", "potential", "gx"]
    g = pf.Operator(prisms, points, fields, storage=storage, units="mGal", axes="z_down")
    exact = pf.forward(prisms, density, points, fields, units="mGal", axes="z_down").ravel()
    tolerance = {None: 1e-12, "double": 1e-12, "float": 1e-6}.get(storage, 1e-3)
    assert np.abs(g @ density - exact).max() <= tolerance * np.abs(exact).max()
    matrix = g.entries().reshape(g.shape)
    random = np.random.default_rng(2)
    data, block = random.normal(size=g.shape[0]), random.normal(size=(g.shape[0], 3))
    assert g.T @ data == pytest.approx(matrix.T @ data, rel=0, abs=tolerance * np.abs(matrix.T @ data).max() * 10)
    assert np.allclose(g.T @ block, np.stack([g.T @ column for column in block.T], axis=1), rtol=1e-9, atol=1e-12)
    left, right = data @ (g @ density), density @ (g.T @ data)
    assert abs(left - right) <= 1e-11 * np.linalg.norm(data) * np.linalg.norm(exact)
    weights = random.uniform(0.5, 2, g.shape[0])
    assert g.diagonal(weights) == pytest.approx(weights @ matrix**2, rel=max(10 * tolerance, 1e-11))
    assert (g.nbytes == 0) == (storage is None) and g.storage


def test_a_product_of_the_wrong_length_is_an_error():
    g = pf.Operator(*ensemble()[::2])
    with pytest.raises(ValueError):
        g @ np.ones(7)


def test_pylops():
    pylops = pytest.importorskip("pylops")
    prisms, density, points = ensemble()
    g = pf.Operator(prisms, points, ["gz", "gxx"], units="mGal")
    wrapped = g.pylops((5, 8))
    assert pylops.utils.dottest(wrapped, *wrapped.shape, rtol=1e-9, atol=0)
    assert (wrapped @ density.reshape(5, 8)).shape == (2, 30)


def test_an_inversion_finds_a_cell():
    edges, down = np.arange(0, 501, 100.0), np.arange(-300, 1, 100.0)
    west, south, bottom = (a.ravel() for a in np.meshgrid(edges[:-1], edges[:-1], down[:-1]))
    order = np.lexsort((west, south, bottom))
    west, south, bottom = west[order], south[order], bottom[order]
    prisms = np.c_[west, west + 100, south, south + 100, bottom, bottom + 100]
    truth = np.zeros((3, 5, 5))
    truth[1, 2, 2] = 400
    at = (*np.meshgrid(np.arange(-50, 551, 100.0), np.arange(-50, 551, 100.0)), 10.0)
    fields = ["gzz", "gz"]
    values = pf.forward(prisms, truth.ravel(), at, fields, units="mGal", axes="z_down")
    data = pf.Data(at, fields, values, [0.01, 1e-4], units="mGal", axes="z_down")
    told = []
    model = pf.invert(pf.Cells(edges, edges, down), data, settings={"bounds": [0, 400]}, progress=told.append)
    assert np.unravel_index(model.density.argmax(), model.density.shape)[1:] == (2, 2)
    assert model.density.min() >= 0 and model.density.max() <= 400
    assert model.predicted[0].shape == values.shape and told
    assert model.on_target or model.message
    assert len(model.convergence["beta"]) == len(model.convergence["chi"]) > 0
    active = np.ones((3, 5, 5), dtype=bool)
    active[2] = False
    inactive = pf.invert(pf.Cells(edges, edges, down, active), data, settings={"max_iterations": 3})
    assert np.array_equal(np.isnan(inactive.density), ~active)
    wrong = (({"bonds": [0, 1]}, "inversion.bounds"), ({"bounds": [0]}, "2 numbers"), ({"trend": "up"}, "linear"))
    for settings, text in wrong:
        with pytest.raises(ValueError, match=text):
            pf.invert(pf.Cells(edges, edges, down), data, settings=settings)


LONG_CALLS = """
    import numpy as np, prismfield as pf, time
    n = 1000000
    x = np.arange(n, dtype=float)
    prisms = np.c_[x, x + 1, 0 * x, 0 * x + 1, 0 * x - 2, 0 * x - 1]
    points = np.c_[x, 0 * x, 0 * x + 10]
    g = pf.Operator(prisms, points, ["gzz", "gz"])
    edges = np.arange(101.0)
    cells = pf.Cells(edges, edges, edges[:21] - 20)
    data = pf.Data(points, "gz", 1e-7 + 0 * x, 1e-9)
    for call in (
        lambda: pf.forward(prisms, 100.0, points, ["gzz", "gz"]),
        lambda: g @ np.ones(n),
        lambda: g.T @ np.ones(2 * n),
        lambda: g.diagonal(),
        lambda: pf.invert(cells, data, settings={"sensitivity.store": "none"}),
    ):
        try:
            print("ready", flush=True)
            call()
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
    print(pf.forward(prisms[:2], 100.0, points[:2]).shape, flush=True)
"""


def test_ctrl_c_stops_a_call_and_python_goes_on():
    process = python(LONG_CALLS)
    for _ in range(5):
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        # the bound asked for is 0.3 s on a quiet machine
        assert float(process.stdout.readline()) - sent < 10
    assert process.stdout.readline() == "(2,)\n"
    assert process.wait(timeout=120) == 0


def test_an_error_of_the_progress_function_is_raised():
    def tell(_):
        raise KeyError("told")

    prisms, density, points = ensemble(400, 400)
    with pytest.raises(KeyError, match="told"):
        pf.forward(prisms, density, points, progress=tell)


def test_a_progress_function_may_drop_operators_and_not_compute():
    prisms, density, points = ensemble(400, 400)
    held = [pf.Operator(prisms, points)]
    pf.forward(prisms, density, points, progress=lambda _: held.clear())
    with pytest.raises(ValueError, match="may not compute"):
        pf.forward(prisms, density, points, progress=lambda _: pf.forward(prisms, density, points))
    assert pf.forward(prisms, density, points).shape == (400,)


def products_are_those_of(g, module, array):
    """Products with arrays that array(NumPy's) makes are of their module and those of NumPy's, bit for bit."""
    density = np.linspace(-100, 200, g.shape[1])
    block = np.c_[density, density[::-1]]
    for product, vectors in ((g, density), (g, block), (g.T, g @ density), (g.H, g @ block), (g.T.T, density)):
        made = product @ array(vectors)
        assert type(made).__module__.partition(".")[0] == module.__name__
        np.testing.assert_array_equal(np.asarray(made.get() if hasattr(made, "get") else made.cpu()), product @ vectors)
    with pytest.raises(ValueError, match="x: has the shape" if g.space == "cuda" else "(?i)dimension mismatch"):
        g @ array(density[1:])


@pytest.mark.parametrize("space", ["serial", "cuda"])
@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_vectors_on_a_card_stay_there(name, space):
    if "cuda" not in pf.library.SPACES:
        pytest.skip("the library has no CUDA")
    module = pytest.importorskip(name)
    where = {"device": "cuda"} if name == "torch" else {}
    g = pf.Operator(*ensemble()[::2], ["gzz", "gx"], units="mGal", axes="z_down", space=space)
    assert g.space == g.T.space == space
    products_are_those_of(g, module, lambda values: module.asarray(values, **where))


@pytest.mark.parametrize("space", ["serial", "cuda"])
def test_tensors_are_taken_as_those_on_a_card_are(monkeypatch, space):
    torch = pytest.importorskip("torch")
    from prismfield import arrays, computing

    place_of = computing.place_of
    monkeypatch.setattr(
        computing, "place_of", lambda x: arrays.TorchCard(x) if isinstance(x, torch.Tensor) else place_of(x)
    )
    g = pf.Operator(*ensemble()[::2], ["gzz", "gx"], units="mGal", axes="z_down")
    g.space = space
    products_are_those_of(g, torch, torch.asarray)
    if space == "cuda":
        products_are_those_of(g, torch, lambda values: torch.asarray(np.float64(values)).requires_grad_())


def test_vectors_of_other_libraries_are_taken_as_the_hosts():
    class Elsewhere:
        __cuda_array_interface__ = {}

        def __array__(self, dtype=None, copy=None):
            return density

    prisms, density, points = ensemble()
    g = pf.Operator(prisms, points)
    np.testing.assert_array_equal(g @ Elsewhere(), g @ density)


def test_an_operator_is_copied_as_itself():
    g = pf.Operator(*ensemble()[::2])
    assert copy.copy(g) is g and copy.deepcopy(g) is g
    with pytest.raises(TypeError, match="anew"):
        pickle.dumps(g)


@pytest.mark.parametrize(
    "change, text",
    [
        ({"upward": [0.0, -100.0, -200.0]}, "have to rise"),
        ({"upward": [0.0]}, "two edges"),
        ({"active": np.zeros((2, 2, 2), dtype=bool)}, "no cell is active"),
        ({"active": np.ones((2, 2), dtype=bool)}, "is needed"),
    ],
)
def test_wrong_cells_are_named(change, text):
    edges = {"easting": [0.0, 100, 200], "northing": [0.0, 100, 200], "upward": [-200.0, -100, 0]}
    data = pf.Data([[50.0, 50, 10]], "gz", [1e-6], 1e-8)
    with pytest.raises(ValueError, match=text):
        pf.invert(pf.Cells(**{**edges, **change}), data)


def test_data_have_the_shape_of_their_points():
    cells = pf.Cells([0.0, 100, 200], [0.0, 100, 200], [-200.0, -100, 0])
    points = np.c_[ensemble()[2]]
    with pytest.raises(ValueError, match="values: has the shape"):
        pf.invert(cells, pf.Data(points, ["gz", "gxx"], np.ones((30, 2)), 1.0))
    with pytest.raises(ValueError, match="sigma: has masked values"):
        pf.invert(cells, pf.Data(points, "gz", np.ones(30), np.ma.array(np.ones(30), mask=points[:, 0] > 0)))
    data = pf.Data(points, "gz", np.full(30, -1e-6), 1e-7)
    with pytest.raises(ValueError, match="reference: has masked values"):
        pf.invert(cells, data, reference=np.ma.array(np.ones((2, 2, 2)), mask=np.eye(2)[np.newaxis].repeat(2, axis=0)))
    one_sided = pf.invert(cells, data, lower=0.0, settings={"max_iterations": 2})
    assert one_sided.density.min() >= 0


def test_points_within_rounding_of_a_face_are_on_their_own_side():
    numba = pytest.importorskip("numba")
    assert numba
    import prismfield.choclo as ours
    import prismfield.harmonica as hm

    face = 0.1 * 3
    box = (-1.0, face, -1.0, 1.0, -1.0, 1.0)
    on, inside, outside = face, np.nextafter(face, 0), np.nextafter(face, 1)
    jump = 4 * np.pi * G * 1000
    values = [ours.gravity_ee(x, 0.2, 0.1, *box, 1000.0) for x in (inside, on, outside)]
    assert values[1] == values[2] and values[1] - values[0] == pytest.approx(jump, rel=1e-9)
    theirs = hm.prism_gravity(([inside, on, outside], [0.2] * 3, [0.1] * 3), box, 1000.0, "g_ee")
    assert theirs == pytest.approx(np.array(values) * 1e9, rel=1e-9)


def test_threads_give_the_same_bits():
    prisms, density, points = ensemble(300, 200)
    expected = pf.forward(prisms, density, points, pf.FIELDS, **MAGNETIC)
    found = [None] * 4

    def compute(i):
        found[i] = pf.forward(prisms, density, points, pf.FIELDS, **MAGNETIC)

    threads = [threading.Thread(target=compute, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(expected, values) for values in found)


def norm_of_field(_):
    return float(np.linalg.norm(pf.forward(*ensemble(300, 200))))


def test_a_forked_process_is_refused_and_a_spawned_one_computes():
    expected = norm_of_field(0)
    with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(pf.RunError, match="spawn"):
        pool.map(norm_of_field, [0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(norm_of_field, [0]) == [expected]


def test_a_process_forked_while_another_thread_starts_does_not_wait():
    process = python("""
        import os, sys, threading, time
        import numpy as np, prismfield as pf
        from prismfield.computing import Operator, forward, lib
        prisms = [[0.0, 1.0, 0.0, 1.0, -2.0, -1.0]] * 3000
        at = (np.linspace(0, 1000, 30000), 0.0, 10.0)
        thread = threading.Thread(target=lambda: forward(prisms, 1.0, at, "gz"))
        thread.start()
        while not lib.pf_threads() and thread.is_alive():
            child = os.fork()
            if child == 0:
                try:
                    Operator(prisms[:5], (0.0, 0.0, 0.0), "gz")
                except pf.RunError:
                    os._exit(7)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 7)
        thread.join()
    """)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def test_an_operator_that_is_freed_is_not_used():
    process = python("""
        import gc, prismfield as pf
        class Last:
            def __init__(self, g):
                self.g, self.me = g, self
            def __del__(self):
                try:
                    self.g @ [1.0]
                except pf.RunError as error:
                    print("refused:", error)
        Last(pf.Operator([[0, 1, 0, 1, 0, 1]], [[0, 0, 5]], storage="float"))
        gc.collect()
    """)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and not errors
    assert output == "" or output.startswith("refused: the Operator was freed")


def test_the_c_abi_refuses_what_is_missing_or_impossible():
    lib, ct = library.lib, library.ct
    columns = np.array([0.0, 1.0])
    bounds, at = np.array(CUBE), library.Points(*[library.pointer(columns)] * 3, 2)
    cube = library.Prisms(library.pointer(bounds), None, 1)
    field, made, values = (ct.c_int * 1)(3), ct.c_void_p(), np.zeros(8)
    assert lib.pf_operator_new(ct.byref(cube), ct.byref(at), field, 1, None, ct.byref(made)) == 0
    out = library.pointer(values)
    refused = [
        lib.pf_forward(None, ct.byref(at), field, 1, None, out, None, None),
        lib.pf_forward(ct.byref(cube), None, field, 1, None, out, None, None),
        lib.pf_operator_new(ct.byref(cube), ct.byref(at), field, 1, None, None),
        lib.pf_operator_new(None, ct.byref(at), field, 1, None, ct.byref(ct.c_void_p())),
        lib.pf_operator_apply(made, out, None, 1), lib.pf_operator_apply(made, None, out, 1),
        lib.pf_operator_apply(None, out, out, 1), lib.pf_operator_apply(made, out, out, 2**62),
        lib.pf_operator_apply_transpose(made, out, None, 1), lib.pf_operator_diagonal(made, out, None, 1),
        lib.pf_operator_entries(made, 0, 2, None), lib.pf_operator_entries(made, -(2**63), 2**63 - 1, out),
        lib.pf_set_numbers(None, b"execution.batch", out, 1), lib.pf_set_text(None, b"execution.method", b"direct"),
        lib.pf_invert(None, None, 1, None, None, ct.byref(ct.c_void_p())), lib.pf_start(-1),
    ]  # fmt: skip
    for n in (2**62, 2**61, -1):
        many = library.Prisms(library.pointer(bounds), None, n)
        refused.append(lib.pf_operator_new(ct.byref(many), ct.byref(at), field, 1, None, ct.byref(ct.c_void_p())))
    assert set(refused) == {1}, refused
    lib.pf_set_progress(None, library._Progress(), None)
    assert lib.pf_operator_rows(None) == 0 and lib.pf_inversion_values(None, b"density", None) == 0
    lib.pf_operator_delete(made)


@pytest.mark.parametrize("settings", [
    {"weighting.kind": "depth", "weighting.power": -1}, {"weighting.kind": "depth", "weighting.power": np.nan},
    {"weighting.kind": "distance", "weighting.power": 1e300}, {"weighting.kind": "distance", "weighting.z0": np.inf},
    {"bounds": [np.inf, np.inf]}, {"bounds": [-np.inf, -np.inf]}, {"uncertainty.samples": 1e9},
    {"uncertainty.rank": 2**32 + 5}, {"uncertainty.seed": -1},
])  # fmt: skip
def test_settings_of_inversions_are_checked_as_those_of_cases(settings):
    edges = np.linspace(0.0, 100.0, 3)
    data = pf.Data((np.array([20.0, 70.0]), 50.0, 10.0), "gz", [1e-6, 2e-6], 1e-8)
    with pytest.raises(pf.InputError, match="inversion"):
        pf.invert(pf.Cells(edges, edges, edges - 100), data, settings=settings)


def test_masks_of_arrays_in_lists_are_seen():
    with pytest.raises(pf.InputError, match="masked"):
        pf.forward(CUBE, 500.0, [np.ma.array([0.0, 0.0, 1.0], mask=[False, True, False])], "gz")


def test_a_number_of_threads_is_not_cut():
    with pytest.raises(pf.InputError, match="threads"):
        pf.start(2**32 + 1)


def test_a_figure_runs_nothing_of_the_working_folder(tmp_path):
    pytest.importorskip("matplotlib")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "r.nc", "w") as file:
        file["gz"], file["upward"] = np.outer(range(4), range(4)), 10.0
        for place, name in enumerate(("northing", "easting")):
            file[name] = np.arange(4.0)
            file[name].make_scale(name)
            file["gz"].dims[place].attach_scale(file[name])
    for name in ("matplotlib.py", "numpy.py", "h5py.py", "json.py"):
        (tmp_path / name).write_text("open('run', 'w'); raise SystemExit(3)")
    path = str(pathlib.Path(__file__).resolve().parent.parent)
    # with the working folder behind all others, so that this process is not deceived
    code = f"import sys; sys.path[:] = [{path!r}, *sys.path[1:], '']; import prismfield as pf; pf.plot('r.nc', 'f.png')"
    process = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "f.png").exists() and not (tmp_path / "run").exists()


def test_a_process_ends_well():
    process = python("import prismfield as pf; pf.start(2); g = pf.Operator([[0,1,0,1,0,1]], [[0,0,5]])")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and not errors


def test_a_thousand_operators_leave_nothing():
    prisms, _, points = ensemble(100, 100)

    def make(n):
        for _ in range(n):
            pf.Operator(prisms, points, storage="double")

    make(50)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    make(1000)
    # 80 kB each would be 80 MB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000


def test_the_library_is_that_of_the_machine(tmp_path):
    with_gpu = frozenset().union(*LEVELS.values())
    processor = with_gpu - LEVELS["cuda"]
    for level in LEVELS:
        (tmp_path / f"libprismfield_{level}.so").touch()
    assert library_file(tmp_path, None, with_gpu).name == "libprismfield_cuda.so"
    assert library_file(tmp_path, "avx512", with_gpu).name == "libprismfield_avx512.so"
    assert library_file(tmp_path, None, processor).name == "libprismfield_native.so"
    with pytest.raises(ImportError, match="this machine lacks a driver of NVIDIA's"):
        library_file(tmp_path, "cuda", processor)
    (tmp_path / "libprismfield_native.so").unlink()
    assert library_file(tmp_path, None, processor).name == "libprismfield_avx512.so"
    assert library_file(tmp_path, "avx2", processor).name == "libprismfield_avx2.so"
    assert library_file(tmp_path, None, LEVELS["avx2"]).name == "libprismfield_avx2.so"
    assert library_file(tmp_path, None, frozenset()).name == "libprismfield_scalar.so"
    with pytest.raises(ImportError, match="this machine lacks avx512bw"):
        library_file(tmp_path, "avx512", LEVELS["avx2"])
    with pytest.raises(ImportError, match="levels are"):
        library_file(tmp_path, "sse", processor)
    (tmp_path / "libprismfield_avx2.so").unlink()
    with pytest.raises(ImportError, match="no library of prismfield for avx2"):
        library_file(tmp_path, "avx2", processor)


def test_library_of_another_version(monkeypatch):
    path = pathlib.Path(os.environ["PRISMFIELD_LIBRARY"])
    for shift, age in ((1, "older"), (-1, "newer")):
        with monkeypatch.context() as patch, pytest.raises(ImportError, match=f"is {age} than the package prismfield"):
            patch.setattr(library, "ABI_VERSION", library.ABI_VERSION + shift)
            library.load(path)
    lacking = types.SimpleNamespace(pf_abi_version=lambda: library.ABI_VERSION)
    monkeypatch.setattr(library.ct, "CDLL", lambda *_, **__: lacking)
    with pytest.raises(ImportError, match="older than the package prismfield and lacks pf_version"):
        library.load(path)


def test_choclo_in_loops_of_numba():
    numba = pytest.importorskip("numba")
    import prismfield.choclo as ours

    @numba.njit
    def total(function, n):
        result = 0.0
        for i in range(n):
            result += function(0.1 * i, 0.0, 3.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1000.0)
        return result

    points = np.c_[0.1 * np.arange(20), np.zeros(20), np.full(20, 3.0)]
    expected = pf.forward([[-1, 1, -1, 1, -1, 1]], 1000.0, points).sum()
    assert total(ours.gravity_u, 20) == pytest.approx(expected, rel=1e-13)
    choclo = pytest.importorskip("choclo")
    box = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)
    on_faces = [(1, 0.2, 0.1), (0.3, -1, 0.1), (0.3, 0.2, 1)]
    on_edges = [(1, 1, 0.2), (1, 0.2, 1), (0.2, 1, 1), (1, 1, 1)]
    for at in [*on_faces, *on_edges, (0.1, 0.2, 0.3)]:
        for name in (name for name in ours.__all__ if name.startswith("gravity")):
            mine = getattr(ours, name)(*map(float, at), *box, 1000.0)
            theirs = getattr(choclo.prism, name)(*map(float, at), *box, 1000.0)
            assert mine == pytest.approx(theirs, rel=1e-10, abs=1e-18, nan_ok=True), (name, at)
    assert np.isnan(ours.gravity_u(0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0))
