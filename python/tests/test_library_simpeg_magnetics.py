# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield.simpeg.magnetics against SimPEG's own engines."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("simpeg", reason="SimPEG is not installed")
ours = pytest.importorskip("prismfield.simpeg.magnetics", reason="the library is not there", exc_type=ImportError)

import discretize  # noqa: E402
from scipy.sparse.linalg import LinearOperator  # noqa: E402
from simpeg import maps  # noqa: E402
from simpeg.potential_fields import magnetics  # noqa: E402
from test_library_simpeg import STORES, differ, make_mesh  # noqa: E402

import prismfield as pf  # noqa: E402

B = ["bx", "by", "bz"]
FIELD = {"inclination": -62.5, "declination": 11.25, "amplitude": 48250.0}


def survey_of(random, components=(["bz", "tmi", "bx", "by"], ["tmi"], ["by", "by", "tmi"]), height=8):
    receivers = [
        magnetics.receivers.Point(
            np.column_stack([random.uniform(-70, 70, (n, 2)), random.uniform(height, height + 22, n)]), names
        )
        for n, names in zip((9, 4, 3), components)
    ]
    return magnetics.survey.Survey(magnetics.sources.UniformBackgroundField(receivers, **FIELD))


class Case:
    """Ours and SimPEG's simulation of the same, and vectors for it."""

    def __init__(self, kind, store, model_type, folder, **options):
        self.random = np.random.default_rng(1)
        components = [B] * 3 if options.get("is_amplitude_data") else None
        survey = survey_of(self.random, components) if components else survey_of(self.random)
        mesh = make_mesh(kind)
        active = mesh.cell_centers[:, 2] < -5 - 0.1 * mesh.cell_centers[:, 0]
        self.n = int(active.sum()) * (3 if model_type == "vector" else 1)
        common = {
            "survey": survey, "active_cells": active, "sensitivity_dtype": np.float64, "model_type": model_type,
            "chiMap": maps.IdentityMap(nP=self.n),
        } | options  # fmt: skip
        self.ours = ours.Simulation3DIntegral(
            mesh, store_sensitivities=store, **({"sensitivity_path": str(folder / "ours")} | common)
        )
        self.theirs = magnetics.Simulation3DIntegral(mesh, engine="choclo", numba_parallel=False, **common)
        self.model, self.vector = self.random.uniform(0.001, 0.1, (2, self.n))
        self.data = self.random.normal(size=self.ours.nD)


@pytest.fixture(
    params=[(*case, kind) for case in (("tensor", "ram"), ("tree", "forward_only"), ("tensor", "disk"))
            for kind in ("scalar", "vector")],
    ids="-".join,
)  # fmt: skip
def case(request, tmp_path):
    return Case(*request.param, tmp_path)


def test_all_products(case):
    mine, theirs, m = case.ours, case.theirs, case.model
    assert mine.engine == "prismfield" and mine.G.shape == theirs.G.shape
    # cells are 10 to 80 m, receivers up to 200 m away
    assert differ(mine.fields(m), theirs.fields(m)) < 1e-10
    assert differ(mine.dpred(m), theirs.dpred(m)) < 1e-10
    assert differ(mine.Jvec(m, case.vector), theirs.Jvec(m, case.vector)) < 1e-10
    assert differ(mine.Jtvec(m, case.data), theirs.Jtvec(m, case.data)) < 1e-10
    jacobian, block = mine.getJ(m), np.column_stack([m, case.vector])
    assert isinstance(jacobian, LinearOperator) == (mine.store_sensitivities == "forward_only")
    assert differ(jacobian @ block, theirs.getJ(m) @ block) < 1e-10
    a = case.data @ mine.Jvec(m, case.vector)
    assert a == pytest.approx(case.vector @ mine.Jtvec(m, case.data), rel=1e-11)
    rows = np.asarray(theirs.G)
    for weights in (None, case.random.uniform(0.5, 3, case.data.size)):
        w = None if weights is None else sp.diags(weights)
        expected = (((1 if weights is None else weights[:, np.newaxis]) * rows) ** 2).sum(axis=0)
        assert differ(mine.getJtJdiag(m, w), expected) < 1e-10


@pytest.mark.parametrize("model_type", ["scalar", "vector"])
def test_each_pair(model_type, tmp_path):
    """Every entry of more than 500 pairs, relative to the largest of its component."""
    case = Case("tensor", "ram", model_type, tmp_path)
    begin = pairs = 0
    for receiver in case.ours.survey.source_field.receiver_list:
        n = len(receiver.components)
        for i in range(n):
            rows = slice(begin + i, begin + receiver.nD, n)
            assert differ(case.ours.G[rows], case.theirs.G[rows]) < 1e-10
        pairs += len(receiver.locations) * case.ours.nC
        begin += receiver.nD
    assert pairs > 500


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("model_type", ["scalar", "vector"])
def test_amplitudes(store, model_type, tmp_path):
    case = Case("tensor", store, model_type, tmp_path, is_amplitude_data=True)
    mine, theirs, m = case.ours, case.theirs, case.model
    assert differ(mine.dpred(m), theirs.dpred(m)) < 1e-10
    assert differ(mine.Jvec(m, case.vector), theirs.Jvec(m, case.vector)) < 1e-10
    assert differ(mine.Jtvec(m, case.data), theirs.Jtvec(m, case.data)) < 1e-10
    if store == "forward_only":
        with pytest.raises(NotImplementedError, match="needs a stored G"):
            mine.getJtJdiag(m)
        return
    for model in (m, case.vector):
        # without weights SimPEG takes those of all components, of which there are three times as many: IndexError
        weights = sp.diags(case.random.uniform(0.5, 3, case.data.size))
        assert differ(mine.getJtJdiag(model, weights), theirs.getJtJdiag(model, weights)) < 1e-10
        assert differ(mine.getJtJdiag(model), theirs.getJtJdiag(model, sp.eye(case.data.size))) < 1e-10


def test_remanence_and_geoana(tmp_path):
    """Of another magnetisation than the inducing field's direction; by SimPEG's default engine too."""
    case = Case("tensor", "ram", "scalar", tmp_path)
    moments = case.random.normal(size=(case.n, 3)) * 1e4
    geoana = magnetics.Simulation3DIntegral(
        case.ours.mesh, survey=case.ours.survey, active_cells=case.ours.active_cells, chiMap=case.ours.chiMap,
        sensitivity_dtype=np.float64,
    )  # fmt: skip
    for simulation in (case.ours, geoana):
        simulation.M = moments
    assert differ(case.ours.dpred(case.model), geoana.dpred(case.model)) < 1e-8


def test_units_and_copies(tmp_path):
    """The same as pf.forward of susceptibilities, by any value of mu0: it cancels."""
    case = Case("tensor", "forward_only", "scalar", tmp_path)
    prisms = case.ours.mesh.cell_bounds[case.ours.active_cells]
    field = (FIELD["inclination"], FIELD["declination"], FIELD["amplitude"])
    receiver = case.ours.survey.source_field.receiver_list[1]
    expected = pf.forward(
        prisms, None, receiver.locations, "tmi", susceptibility=case.model, inducing_field=field, units="nT"
    )
    # behind the nine locations with four components of the first
    assert case.ours.dpred(case.model)[36:40] == pytest.approx(expected, rel=1e-11)
    assert np.array_equal(pickle.loads(pickle.dumps(case.ours.G)) @ case.model, case.ours.G @ case.model)


def test_inside_and_on_faces():
    """Inside of cells it is mu0 H, as in SimPEG and unlike pf.forward; on faces the mean of both sides, as geoana's."""
    mesh = discretize.TensorMesh([[20.0] * 3] * 3, origin="CCC")
    at = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 30.0]])
    receiver = magnetics.receivers.Point(at, B)
    survey = magnetics.survey.Survey(magnetics.sources.UniformBackgroundField([receiver], **FIELD))
    common = {"survey": survey, "chiMap": maps.IdentityMap(nP=27), "sensitivity_dtype": np.float64}
    model = np.full(27, 0.05)
    mine = ours.Simulation3DIntegral(mesh, **common).dpred(model)
    geoana, choclo = (
        magnetics.Simulation3DIntegral(mesh, engine=name, **common).dpred(model) for name in ("geoana", "choclo")
    )
    assert mine == pytest.approx(geoana, rel=1e-9)
    assert mine[:3] == pytest.approx(choclo[:3], rel=1e-9) and not mine[3:] == pytest.approx(choclo[3:], rel=0.1)
    forward = pf.forward(
        [[-30, 30] * 3], None, at, B, susceptibility=0.05, units="nT",
        inducing_field=(FIELD["inclination"], FIELD["declination"], FIELD["amplitude"]),
    )  # fmt: skip
    inner = 0.05 * survey.source_field.b0
    assert forward[:, 0] - mine[:3] == pytest.approx(inner, rel=1e-9)
    assert forward[:, 1] - mine[3:] == pytest.approx(0.5 * inner, rel=1e-9)


def test_engines_and_errors():
    mesh, random = make_mesh("tensor"), np.random.default_rng(4)
    common = {"chiMap": maps.IdentityMap(nP=mesh.n_cells)}
    model = random.uniform(0, 0.1, mesh.n_cells)
    survey = survey_of(random)
    expected = ours.Simulation3DIntegral(mesh, survey=survey, **common).fields(model)
    for engine in ("geoana", "choclo"):
        other = ours.Simulation3DIntegral(mesh, engine=engine, survey=survey, **common)
        assert other.engine == engine and differ(other.fields(model), expected) < 1e-5
    with pytest.raises(ValueError, match="engine: 'prismfield' is the default"):
        ours.Simulation3DIntegral(mesh, engine="abacus", survey=survey, **common)
    gradients = survey_of(random, (["bx", "bxx", "bxz", "tmi_x", "tmi_z"],))
    common |= {"survey": gradients, "sensitivity_dtype": np.float64}
    of_engines = [
        ours.Simulation3DIntegral(mesh, **engine, **common).fields(model) for engine in ({}, {"engine": "choclo"})
    ]
    assert differ(*of_engines) < 1e-9


@pytest.mark.parametrize("model_type", ["scalar", "vector"])
def test_inversion(model_type):
    """Steps of SimPEG's inversion from a model of its own are those by its engine."""
    from simpeg import data, data_misfit, directives, inverse_problem, inversion, optimization, regularization

    mesh = discretize.TensorMesh([[60.0] * 5, [60.0] * 4, [50.0] * 3], origin=[-150, -120, -150])
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-150, 150, 5), np.linspace(-130, 130, 5)))
    receiver = magnetics.receivers.Point(np.column_stack([x, y, np.full(x.size, 30.0)]), components=["tmi"])
    survey = magnetics.survey.Survey(magnetics.sources.UniformBackgroundField([receiver], **FIELD))
    size = mesh.n_cells * (3 if model_type == "vector" else 1)
    common = {"survey": survey, "chiMap": maps.IdentityMap(nP=size), "model_type": model_type}
    common["sensitivity_dtype"] = np.float64
    true = np.tile(np.where((np.abs(mesh.cell_centers - [0, 0, -75]) < [70, 70, 30]).all(axis=1), 0.05, 0.0),
                   size // mesh.n_cells)  # fmt: skip
    clean = magnetics.Simulation3DIntegral(mesh, **common).dpred(true)
    observed = data.Data(survey, dobs=clean + np.random.default_rng(0).normal(size=clean.size), standard_deviation=1.0)

    def found(simulation):
        misfit = data_misfit.L2DataMisfit(data=observed, simulation=simulation)
        optimizer = optimization.ProjectedGNCG(maxIter=3, lower=-1.0, upper=1.0, cg_maxiter=15, cg_rtol=1e-3)
        smooth = regularization.WeightedLeastSquares(mesh, mapping=maps.IdentityMap(nP=mesh.n_cells))
        if model_type == "vector":
            wires = maps.Wires(*((name, mesh.n_cells) for name in "xyz"))
            smooth = sum(
                (regularization.WeightedLeastSquares(mesh, mapping=wire) for wire in (wires.y, wires.z)),
                start=regularization.WeightedLeastSquares(mesh, mapping=wires.x),
            )
        problem = inverse_problem.BaseInvProblem(misfit, smooth, optimizer)
        steps = [
            directives.UpdateSensitivityWeights(every_iteration=False),
            directives.BetaEstimate_ByEig(beta0_ratio=0.1, random_seed=1),
            directives.UpdatePreconditioner(),
        ]
        return inversion.BaseInversion(problem, directiveList=steps).run(np.full(size, 1e-4))

    theirs = found(magnetics.Simulation3DIntegral(mesh, engine="choclo", numba_parallel=False, **common))
    assert np.abs(theirs).max() > 0.005
    for store in ("ram", "forward_only"):
        assert differ(found(ours.Simulation3DIntegral(mesh, store_sensitivities=store, **common)), theirs) < 1e-5
