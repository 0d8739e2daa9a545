# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield.simpeg against SimPEG's own engines."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("simpeg", reason="SimPEG is not installed")
ours = pytest.importorskip("prismfield.simpeg", reason="the library is not there", exc_type=ImportError)

import discretize  # noqa: E402
from scipy.sparse.linalg import LinearOperator  # noqa: E402
from simpeg import maps  # noqa: E402
from simpeg.potential_fields import gravity  # noqa: E402

ALL = ["gx", "gy", "gz", "gxx", "gxy", "gxz", "gyy", "gyz", "gzz", "guv"]
STORES = ["ram", "disk", "forward_only"]


def differ(mine, theirs):
    return float(np.abs(np.asarray(mine) - np.asarray(theirs)).max() / np.abs(np.asarray(theirs)).max())


def survey_of(random, components=(ALL, ["guv", "gz"], ["gz", "gz", "gyz"])):
    receivers = [
        gravity.receivers.Point(np.column_stack([random.uniform(-70, 70, (n, 2)), random.uniform(8, 30, n)]), names)
        for n, names in zip((9, 4, 3), components)
    ]
    return gravity.survey.Survey(gravity.sources.SourceField(receivers))


def make_mesh(kind):
    if kind == "tree":
        mesh = discretize.TreeMesh([[10.0] * 16] * 3, origin=[-80, -80, -160], diagonal_balance=True)
        mesh.refine_box([-30, -30, -60], [30, 30, -10], levels=-1, finalize=True)
        return mesh
    return discretize.TensorMesh([[20.0] * 6, [25.0] * 5, [10.0] * 4], origin=[-60, -62.5, -40])


class Case:
    """Ours and SimPEG's simulation of the same, and vectors for it."""

    def __init__(self, kind, store, folder, **options):
        self.random = np.random.default_rng(1)
        mesh = make_mesh(kind)
        active = mesh.cell_centers[:, 2] < -5 - 0.1 * mesh.cell_centers[:, 0]
        self.n = int(active.sum())
        common = {
            "survey": survey_of(self.random), "active_cells": active, "sensitivity_dtype": np.float64,
            "rhoMap": maps.IdentityMap(nP=self.n),
        } | options  # fmt: skip
        self.ours = ours.Simulation3DIntegral(
            mesh, store_sensitivities=store, **({"sensitivity_path": str(folder / "ours")} | common)
        )
        self.theirs = gravity.Simulation3DIntegral(mesh, engine="choclo", numba_parallel=False, **common)
        self.model, self.vector = self.random.normal(size=(2, self.n))
        self.data = self.random.normal(size=self.ours.survey.nD)


@pytest.fixture(params=[(kind, store) for kind in ("tensor", "tree") for store in STORES], ids="-".join)
def case(request, tmp_path):
    return Case(*request.param, tmp_path)


def test_all_products(case):
    mine, theirs, m = case.ours, case.theirs, case.model
    assert mine.engine == "prismfield"
    # cells are 10 to 80 m, receivers up to 200 m away
    assert differ(mine.fields(m), theirs.fields(m)) < 1e-11
    assert differ(mine.dpred(m), theirs.dpred(m)) < 1e-11
    assert differ(mine.Jvec(m, case.vector), theirs.Jvec(m, case.vector)) < 1e-11
    assert differ(mine.Jtvec(m, case.data), theirs.Jtvec(m, case.data)) < 1e-11
    jacobian, block = mine.getJ(m), np.column_stack([m, case.vector])
    assert isinstance(jacobian, LinearOperator) == (mine.store_sensitivities == "forward_only")
    assert differ(jacobian @ block, theirs.getJ(m) @ block) < 1e-11
    assert differ(jacobian.T @ case.data, theirs.getJ(m).T @ case.data) < 1e-11


def test_adjoint(case):
    a = case.data @ case.ours.Jvec(case.model, case.vector)
    assert a == pytest.approx(case.vector @ case.ours.Jtvec(case.model, case.data), rel=1e-12)


def test_each_component(tmp_path):
    case = Case("tree", "ram", tmp_path)
    begin = 0
    for receiver in case.ours.survey.source_field.receiver_list:
        n = len(receiver.components)
        for i in range(n):
            rows = slice(begin + i, begin + receiver.nD, n)
            assert differ(case.ours.G[rows], case.theirs.G[rows]) < 1e-11
        begin += receiver.nD


def test_diagonal_with_weights(case):
    rows = np.asarray(case.theirs.G)
    for weights in (None, *case.random.uniform(0.5, 3, (2, case.data.size))):
        w = None if weights is None else sp.diags(weights)
        expected = (((1 if weights is None else weights[:, np.newaxis]) * rows) ** 2).sum(axis=0)
        assert differ(case.ours.getJtJdiag(case.model, w), expected) < 1e-11
        assert np.array_equal(case.ours.getJtJdiag(case.model, w), case.ours.getJtJdiag(case.model, w))


def test_copies(tmp_path):
    case = Case("tensor", "forward_only", tmp_path)
    expected = case.ours.dpred(case.model)
    for made in (copy.deepcopy(case.ours.G), pickle.loads(pickle.dumps(case.ours.G))):
        assert np.array_equal(made @ case.model, expected)


def test_maps(tmp_path):
    case = Case("tensor", "forward_only", tmp_path)
    for simulation in (case.ours, case.theirs):
        simulation.rhoMap = maps.ExpMap(nP=case.n)
    m = 0.3 * case.model
    assert differ(case.ours.dpred(m), case.theirs.dpred(m)) < 1e-11
    assert differ(case.ours.Jvec(m, case.vector), case.theirs.Jvec(m, case.vector)) < 1e-11
    assert differ(case.ours.getJtJdiag(m), case.theirs.getJtJdiag(m)) < 1e-11


def test_models_that_overflowed(tmp_path):
    case = Case("tensor", "forward_only", tmp_path)
    block = np.column_stack([case.model, case.vector])
    block[3, 1] = np.inf
    products = case.ours.G @ block
    assert np.array_equal(products[:, 0], case.ours.G @ case.model) and np.isnan(products[:, 1]).all()
    assert np.isnan(case.ours.dpred(block[:, 1])).all()
    assert np.isnan(case.ours.Jtvec(case.model, case.data * np.nan)).all()


def test_storage(tmp_path, monkeypatch):
    whole = Case("tensor", "ram", tmp_path).ours.G
    monkeypatch.setattr("prismfield.simpeg.engine._BLOCK_BYTES", 20_000)
    ram, disk = (Case("tensor", store, tmp_path, sensitivity_dtype=np.float32).ours for store in ("ram", "disk"))
    assert type(ram.G) is np.ndarray and type(disk.G) is np.memmap and (tmp_path / "ours").is_file()
    assert ram.G.dtype == disk.G.dtype == np.float32
    assert np.array_equal(ram.G, whole.astype(np.float32)) and np.array_equal(disk.G, ram.G)
    folder = tmp_path / "folder"
    folder.mkdir()
    in_folder = Case("tensor", "disk", tmp_path, sensitivity_dtype=np.float32, sensitivity_path=str(folder)).ours
    assert type(in_folder.G) is np.memmap and np.array_equal(np.load(folder / "sensitivity.npy"), ram.G)
    weights = sp.diags(np.linspace(1, 2, ram.survey.nD))
    assert differ(ram.getJtJdiag(np.zeros(ram.nC), weights), ((weights @ whole) ** 2).sum(axis=0)) < 1e-6


def test_engines_of_simpeg():
    mesh, random = make_mesh("tensor"), np.random.default_rng(4)
    common = {"survey": survey_of(random), "rhoMap": maps.IdentityMap(nP=mesh.n_cells)}
    model = random.normal(size=mesh.n_cells)
    expected = ours.Simulation3DIntegral(mesh, **common).fields(model)
    for engine in ("geoana", "choclo"):
        other = ours.Simulation3DIntegral(mesh, engine=engine, **common)
        assert other.engine == engine and differ(other.fields(model), expected) < 1e-5
        assert differ(other.getJtJdiag(model), ours.Simulation3DIntegral(mesh, **common).getJtJdiag(model)) < 1e-5
    with pytest.raises(ValueError, match="engine: 'prismfield' is the default"):
        ours.Simulation3DIntegral(mesh, engine="abacus", **common)
    with pytest.warns(UserWarning, match="n_processes is not used"):
        assert ours.Simulation3DIntegral(mesh, n_processes=2, **common).n_processes is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kind", ["tensor", "tree"])
def test_equivalent_source_layer(kind, store, tmp_path):
    random = np.random.default_rng(7)
    if kind == "tree":
        mesh = discretize.TreeMesh([[20.0] * 8] * 2, origin="CC", diagonal_balance=True)
        mesh.refine_box([-40, -40], [40, 40], levels=-1, finalize=True)
    else:
        mesh = discretize.TensorMesh([[20.0] * 6, [25.0] * 5], origin="CC")
    active = mesh.cell_centers[:, 0] < 50
    n = int(active.sum())
    top = random.uniform(-8, 0, n)
    common = {
        "survey": survey_of(random), "active_cells": active, "rhoMap": maps.IdentityMap(nP=n), "cell_z_top": top,
        "cell_z_bottom": top - random.uniform(5, 20, n), "sensitivity_dtype": np.float64,
    }  # fmt: skip
    mine = ours.SimulationEquivalentSourceLayer(
        mesh, store_sensitivities=store, sensitivity_path=str(tmp_path / "g"), **common
    )
    theirs = gravity.SimulationEquivalentSourceLayer(mesh, engine="choclo", numba_parallel=False, **common)
    m, v, d = *random.normal(size=(2, n)), random.normal(size=mine.survey.nD)
    assert differ(mine.dpred(m), theirs.dpred(m)) < 1e-11
    assert differ(mine.Jvec(m, v), theirs.Jvec(m, v)) < 1e-11
    assert differ(mine.Jtvec(m, d), theirs.Jtvec(m, d)) < 1e-11
    assert d @ mine.Jvec(m, v) == pytest.approx(v @ mine.Jtvec(m, d), rel=1e-12)
    weights = sp.diags(random.uniform(0.5, 3, mine.survey.nD))
    assert differ(mine.getJtJdiag(m, weights), theirs.getJtJdiag(m, weights)) < 1e-11
    common |= {"cell_z_top": 0.0, "cell_z_bottom": -5.0}
    flat = [
        kind.SimulationEquivalentSourceLayer(mesh, engine=engine, **common).fields(m)
        for kind, engine in ((ours, "prismfield"), (gravity, "geoana"))
    ]
    assert differ(*flat) < 1e-11


def inverted(simulation_type, store, **options):
    """A block of 0.5 g/cm3 from gz and gzz with noise, by SimPEG's inversion."""
    from simpeg import data, data_misfit, directives, inverse_problem, inversion, optimization, regularization

    mesh = discretize.TensorMesh([[60.0] * 7, [60.0] * 6, [50.0] * 4], origin=[-210, -180, -200])
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-190, 190, 6), np.linspace(-170, 170, 6)))
    receiver = gravity.receivers.Point(np.column_stack([x, y, np.full(x.size, 10.0)]), components=["gz", "gzz"])
    survey = gravity.survey.Survey(gravity.sources.SourceField([receiver]))
    common = {"survey": survey, "rhoMap": maps.IdentityMap(nP=mesh.n_cells), "sensitivity_dtype": np.float64}
    true = np.where((np.abs(mesh.cell_centers - [0, 0, -125]) < [80, 80, 60]).all(axis=1), 0.5, 0.0)
    clean = gravity.Simulation3DIntegral(mesh, **common).dpred(true)
    sigma = np.tile([0.02, 1.0], x.size)
    noise = np.random.default_rng(0).normal(size=clean.size)
    observed = data.Data(survey, dobs=clean + sigma * noise, standard_deviation=sigma)
    simulation = simulation_type(mesh, store_sensitivities=store, **common, **options)
    misfit = data_misfit.L2DataMisfit(data=observed, simulation=simulation)
    optimizer = optimization.ProjectedGNCG(maxIter=5, lower=-1.0, upper=1.0, maxIterLS=10, cg_maxiter=15, cg_rtol=1e-3)
    problem = inverse_problem.BaseInvProblem(misfit, regularization.WeightedLeastSquares(mesh), optimizer)
    steps = [
        directives.UpdateSensitivityWeights(every_iteration=False),
        directives.BetaEstimate_ByEig(beta0_ratio=10, random_seed=1),
        directives.BetaSchedule(coolingFactor=5, coolingRate=1),
        directives.UpdatePreconditioner(),
        directives.TargetMisfit(),
    ]
    return inversion.BaseInversion(problem, directiveList=steps).run(np.zeros(mesh.n_cells))


def test_inversion():
    theirs = inverted(gravity.Simulation3DIntegral, "ram", engine="choclo", numba_parallel=False)
    assert np.abs(theirs).max() > 0.1
    for store in ("ram", "forward_only"):
        assert differ(inverted(ours.Simulation3DIntegral, store), theirs) < 1e-5


@pytest.mark.parametrize("before", [True, False])
def test_beside_simpeg_dask(before):
    pytest.importorskip("dask", reason="dask is not installed")
    imports = ["import simpeg.dask", "import prismfield.simpeg as ours, prismfield.simpeg.magnetics"]
    code = "\n".join([
        *(imports if before else reversed(imports)),
        "import discretize, numpy as np, scipy.sparse as sp",
        "from simpeg import maps",
        "from simpeg.potential_fields import gravity, magnetics",
        "mesh = discretize.TensorMesh([[5.0] * 3] * 3, origin='CCN')",
        "receiver = gravity.receivers.Point(np.array([[0.0, 1, 2], [3, 1, 2]]), components=['gz', 'guv'])",
        "survey = gravity.survey.Survey(gravity.sources.SourceField([receiver]))",
        "made = [ours.Simulation3DIntegral(mesh, survey=survey, store_sensitivities=store,",
        "        sensitivity_dtype=np.float64, rhoMap=maps.IdentityMap(nP=27)) for store in ('ram', 'forward_only')]",
        "receiver = magnetics.receivers.Point(receiver.locations, ['tmi', 'bx'])",
        "survey = magnetics.survey.Survey(magnetics.sources.UniformBackgroundField([receiver], 5e4, 60, 10))",
        "made += [ours.magnetics.Simulation3DIntegral(mesh, survey=survey, store_sensitivities=store,",
        "         sensitivity_dtype=np.float64, chiMap=maps.IdentityMap(nP=27)) for store in ('ram', 'forward_only')]",
        "m, w = np.arange(27.0), sp.diags([1.0, 2, 3, 4])",
        "for f in (lambda s: s.dpred(m), lambda s: s.Jvec(m, m), lambda s: s.Jtvec(m, np.arange(4.0)),",
        "          lambda s: s.getJtJdiag(m, w), lambda s: s.linear_operator() @ m):",
        "    for stored, free in (made[:2], made[2:]):",
        "        assert np.allclose(f(stored), f(free), rtol=1e-10, atol=0)",
    ])  # fmt: skip
    path = str(pathlib.Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr


def test_certificate(capsys):
    for engine in ("choclo", "geoana"):
        relative = ours.certificate(n=20, seed=2, engine=engine)
        assert sorted(relative) == sorted(ALL) and max(relative.values()) < 1e-11
        assert engine in capsys.readouterr().out
