# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Plans: cases, problems, how runs are started, and the hash by which a study goes on."""

import math
from pathlib import Path

import pytest
from made_spec import CASE, FakeProgram, host

from prismfield.study.folder import ReportFolder
from prismfield.study.plan import Start, case_text, launch_of, plan_study, study_text
from prismfield.study.program import Program
from prismfield.study.runs import RunFiles, estimate_in, run_environment, run_words, seconds_in
from prismfield.study.texts import duration_text

BODIES = "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n"
BODIES_CASE = "model: {prisms: {file: bodies.csv}}\nobservations: {stations: {random: 3}}\nfields: [gz]\n"


def text_at(tree, *keys):
    for key in keys:
        tree = tree and tree.find(key)
    return tree and tree.text


def why_not(folder, text, machine=None):
    return [planned.job.start.why_not for planned in folder.plan(text, machine).points]


def test_points_of_one_problem_have_one_reference(folder):
    plan = folder.plan("sweep: {execution.precision: [double, single], threads: [1, 2]}\n")
    assert (len(plan.points), len(plan.problems)) == (4, 1)
    # two precisions, and the reference, which is the double one but for kernel: auto
    assert len(plan.cases) == 3
    reference = plan.cases[plan.problems[0].reference.case].tree
    assert text_at(reference, "execution", "precision") == "double" and reference.find("output") is None
    assert len(folder.plan("sweep: {fields: [[gz], all], axes: [z_up, z_down]}\n").problems) == 4
    assert len(folder.plan("sweep: {model.voxels.density: [300, 200]}\n").problems) == 2
    assert [planned.is_rounded for planned in plan.points] == [False, False, True, True]


def test_the_program_is_asked_once_for_all_points_and_once_for_all_references(folder):
    program = FakeProgram()
    text = "base: case.yaml\nsweep: {execution.slots: [1, 2, 3, 4], fields: [[gz], [gxx]]}\n"
    plan_study(folder.read(text), host(), program)
    assert program.asked == 2


def test_stored_sensitivities_are_compared_with_a_run(folder):
    folder.write("case.yaml", CASE + "sensitivity: {file: G.h5, store: memory}\ninversion: {data: no.csv}\n")
    sweep = "sweep: {sensitivity.store: [memory, none], fields: [[gz], [gzz]]}\n"
    plan = folder.plan("command: sensitivity\n" + sweep)
    # how G is kept is no other problem
    assert (len(plan.points), len(plan.problems)) == (4, 2)
    reference = plan.problems[0].reference
    assert reference.start.command == "run" and plan.cases[reference.case].tree.find("sensitivity") is None
    for planned in plan.points:
        tree = plan.cases[planned.job.case].tree
        assert planned.job.start.command == "sensitivity"
        assert tree.find("sensitivity").find("file") is None and tree.find("inversion") is None
    other = "command: sensitivity\nsweep: {sensitivity.store: [memory, auto], fields: [[gz], [gzz]]}\n"
    assert folder.plan(other).hash != plan.hash
    assert "sweep.sensitivity.store.0: changes nothing that a study measures" in folder.errors(folder.plan, sweep)[0]


def test_models_are_compared_with_that_of_g_in_double(folder):
    folder.write("case.yaml", CASE + "sensitivity: {compression: 1e-4}\ninversion: {data: d.csv}\n")
    folder.write("d.csv", "one")
    plan = folder.plan("command: invert\nsweep: {sensitivity.precision: [float, double], inversion.norm: [1, 2]}\n")
    reference = plan.problems[0].reference
    tree = plan.cases[reference.case].tree
    assert len(plan.problems) == 2 and reference.start.command == "invert"
    assert (
        text_at(tree, "sensitivity", "precision") == "double" and tree.find("sensitivity").find("compression") is None
    )
    assert tree.find("observations") is None
    # other data are another problem
    folder.write("d.csv", "another")
    other = folder.plan("command: invert\nsweep: {inversion.norm: [1, 2]}\n")
    assert other.problems[0].hash not in [problem.hash for problem in plan.problems]


def test_the_reference_is_asked_for_by_keys_of_execution(folder):
    plan = folder.plan(
        "sweep: {execution.kernel: [auto, corners], execution.slots: [1, 2]}\nreference: {execution.kernel: corners, "
        "execution.space: serial, threads: 1}\n"
    )
    reference = plan.problems[0].reference
    execution = plan.cases[reference.case].tree.find("execution")
    assert {key: node.text for key, node in execution.entries.items()} == {
        "kernel": "corners",
        "precision": "double",
        "space": "serial",
    }
    assert reference.start.threads == 1
    end = (
        "would make the reference another problem; only keys of execution and sensitivity, threads, ranks, devices "
        "and bind are allowed"
    )
    assert folder.errors(folder.plan, "reference: {fields: [gz], observations.grid.upward: 3}\n") == [
        f"study.yaml:2: reference.{key}: {end}" for key in ("fields", "observations.grid.upward")
    ]


def test_what_the_study_draws_has_to_be_computed(folder):
    assert folder.errors(folder.plan, "maps: [gz, gx]\ntrace: true\nsweep: {fields: [gz, all]}\n") == [
        "study.yaml:2: maps: has gx, which is not among the fields of every point",
        "study.yaml:3: trace: needs gxx, gyy and gzz among the fields of every point",
    ]


def test_points_that_the_machine_cannot_run_are_kept(folder, monkeypatch):
    spaces = why_not(folder, "sweep: {execution.space: [openmp, serial, cuda]}\n")
    assert spaces == ["", "", "this build has no space cuda, only openmp, serial"]
    threads = why_not(folder, "sweep: {threads: [8, 16, 17]}\n")
    assert threads == ["", "", "1 rank x 17 threads need 17 hardware threads, there are 16 here"]
    ranks = why_not(folder, "sweep: {ranks: [8, 32]}\n")
    assert ranks == ["", "32 ranks x 1 thread need 32 hardware threads, there are 16 here"]
    assert why_not(folder, "oversubscribe: true\nsweep: {threads: [17]}\n") == [""]
    assert why_not(folder, "sweep: {devices: [1]}\n") == ["the space openmp has no devices"]
    devices = why_not(folder, "sweep: {devices: [1, 4, 5]}\n", host(4))
    assert devices == ["", "", "5 devices asked for, there are 4 here"]
    no_card = host(0, spaces=["cuda", "openmp"], default_space="cuda")
    assert why_not(folder, "", no_card) == ["1 device asked for, there is none here"]
    alone = host(0, mpi="not built in")
    assert why_not(folder, "sweep: {ranks: [1, 2]}\n", alone) == ["", "this build has no MPI, which several ranks need"]
    monkeypatch.setenv("PATH", "/nowhere")
    assert why_not(folder, "sweep: {ranks: [1, 2]}\n") == ["", "mpirun, which starts ranks, is not on PATH"]


def test_ranks_and_threads_that_nobody_names_are_chosen(folder, monkeypatch):
    ranks = folder.plan("sweep: {ranks: [1, 2, 3, 8]}\n")
    assert [planned.job.start.threads for planned in ranks.points] == [8, 4, 2, 1]
    assert folder.plan("sweep: {execution.space: [serial]}\n").points[0].job.start.threads == 1
    # a rank a device
    start = folder.plan("sweep: {devices: [2]}\n", host(4)).points[0].job.start
    assert (start.ranks, start.devices, start.on_device) == (2, 2, True)
    assert folder.errors(folder.plan, "sweep:\n  devices: [2]\n  ranks: [1]\n", host(4)) == [
        "study.yaml:4: devices: 2 devices with 1 rank: a rank computes on one device; leave ranks out, or have as many"
    ]
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert folder.plan("").points[0].job.start.threads == 3


def test_more_than_the_cores_is_oversubscribed(folder):
    starts = [p.job.start for p in folder.plan("oversubscribe: true\nsweep: {threads: [8, 16, 17]}\n").points]
    found = [(start.oversubscribed, start.hyper_threads) for start in starts]
    assert found == [(False, False), (True, True), (True, False)]


def test_rank_grids_need_their_ranks(folder):
    wrong = folder.errors(folder.plan, "sweep: {execution.partition: [prisms, {ranks: [4, 2]}]}\n")
    assert (
        "execution.partition: 4 x 2 ranks asked for, but points with it have 1 rank; an axis of maps moves both "
        "together, with values such as {ranks: 8, execution.partition: {ranks: [4, 2]}}" in wrong[0]
    )
    assert not folder.errors(folder.plan, "sweep: {point: [{ranks: 8, execution.partition: {ranks: [4, 2]}}]}\n")


def test_inputs_are_known_by_what_they_hold(folder):
    folder.write("bodies.csv", BODIES)
    folder.write("others.csv", BODIES)
    folder.write("others.txt", BODIES)
    folder.write("case.yaml", BODIES_CASE)
    first = folder.plan("")
    assert len(folder.plan("sweep: {model.prisms.file: [bodies.csv, others.csv]}\n").problems) == 1
    # the suffix says how a file is read
    assert len(folder.plan("sweep: {model.prisms.file: [bodies.csv, others.txt]}\n").problems) == 2
    folder.write("bodies.csv", BODIES.replace("300", "301"))
    other = folder.plan("")
    assert other.problems[0].hash != first.problems[0].hash and other.hash != first.hash
    assert folder.errors(folder.plan, "sweep:\n  model.prisms.file: [bodies.csv, none.csv]\n") == [
        "study.yaml:3: model.prisms.file: 'none.csv' cannot be read: there is no such file"
    ]


@pytest.mark.parametrize(
    "other",
    [
        "seed: 2\n",
        "busy: true\n",
        "reference: {threads: 1}\n",
        "order: as_written\n",
        "launcher: mpiexec -n {ranks} {program}\n",
    ],
)
def test_the_hash_tells_studies_apart_that_cannot_go_on(folder, other):
    text = "sweep: {threads: [1, 2]}\n"
    assert folder.plan(text + other).hash != folder.plan(text).hash


def test_the_hash_is_that_of_what_runs_compute(folder, monkeypatch):
    text = "sweep: {threads: [1, 2]}\n"
    own = folder.plan(text).hash
    same = "title: Another\nrepeats: 9\ntime_budget: 1 h\nreport: x\ntolerance: 1e-3\n"
    assert folder.plan(text + same).hash == own
    # what a finished run did not leave is not made later
    assert len({folder.plan(text + more).hash for more in ("", "histogram: true\n", "maps: [gz]\n")}) == 3
    assert folder.plan("sweep: {threads: [1, 3]}\n").hash != own
    assert folder.plan(text, host(0, git="def")).hash != own
    # threads that nobody names are those of OMP_NUM_THREADS
    unnamed = "sweep: {execution.slots: [1, 2]}\n"
    before = folder.plan(unnamed).hash
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert folder.plan(text).hash == own and folder.plan(unnamed).hash != before


def test_cases_and_studies_of_a_report_find_their_inputs(folder):
    folder.write("bodies.csv", BODIES)
    folder.write("case.yaml", BODIES_CASE + "output: {file: 'x.h5'}\n")
    spec = folder.read("base: case.yaml\nsweep: {threads: [1, 2]}\n")
    plan = plan_study(spec, host(), FakeProgram())
    text = case_text(spec, plan.cases[0], folder.path / "report")
    assert 'file: "../bodies.csv"' in text and 'title: "case"' in text and "output" not in text
    folder.write("report/study.yaml", study_text(spec, FakeProgram(), folder.path / "report"))
    from made_spec import CASE_KEYS

    from prismfield.study.spec import read_study_file

    copy = read_study_file(folder.path / "report/study.yaml", CASE_KEYS)
    assert plan_study(copy, host(), FakeProgram()).hash == plan.hash


def test_ranks_are_started_with_cores_of_their_own(folder, monkeypatch):
    def words(text, machine=None):
        machine = machine or host()
        spec = folder.read("base: case.yaml\n" + text)
        start = plan_study(spec, machine, FakeProgram()).points[0].job.start
        return " ".join(launch_of(spec, machine, start, "/bin/prismfield").words)

    assert words("sweep: {threads: [4]}\n") == "/bin/prismfield"
    two = "sweep: {ranks: [2], threads: [%d]}\n"
    assert words(two % 4) == "mpirun -n 2 --map-by slot:PE=4 /bin/prismfield"
    assert words(two % 8) == "mpirun -n 2 --use-hwthread-cpus --map-by slot:PE=8 /bin/prismfield"
    unbound = "mpirun -n 2 --oversubscribe --bind-to none /bin/prismfield"
    assert words("oversubscribe: true\n" + two % 9) == unbound
    assert words("sweep: {devices: [2]}\n", host(2)) == unbound
    own = "launcher: mpiexec -np {ranks} -x A={threads} {program} -- more\nsweep: {ranks: [2]}\n"
    folder.write("bin/mpiexec", "#!/bin/sh\n").chmod(0o755)
    assert words(own) == "mpiexec -np 2 -x A=4 /bin/prismfield -- more"
    assert words("sweep: {ranks: [2]}\n", host(0, mpi="MPICH")) == "mpirun -n 2 /bin/prismfield"
    folder.write("bin/srun", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert words("sweep: {ranks: [2]}\n") == "srun -n 2 -c 4 /bin/prismfield"


def test_runs_get_their_words_and_variables(folder, monkeypatch):
    spec = folder.read("base: case.yaml\nlauncher: wrap {ranks} {program} --tail\nsweep: {ranks: [2]}\n")
    files = RunFiles(Path("c.yaml"), Path("-r.h5"), Path("log"))
    words = run_words(spec, host(), Program("/bin/p", ["--kokkos-x"]), Start(ranks=2), files)
    assert " ".join(words) == "wrap 2 /bin/p run c.yaml --quiet --output ./-r.h5 --kokkos-x --tail"
    monkeypatch.setenv("GOMP_CPU_AFFINITY", "0")

    def variables(start, machine=None):
        environment = run_environment(spec, machine or host(), start)
        assert "GOMP_CPU_AFFINITY" not in environment
        return [environment.get(f"OMP_{name}") for name in ("NUM_THREADS", "PROC_BIND", "PLACES")]

    # nobody knows how this launcher binds
    assert variables(Start(ranks=2, threads=3)) == ["3", "false", None]
    assert variables(Start(threads=3)) == ["3", "spread", "cores"]
    assert variables(Start(bind="none")) == ["1", "false", None]
    assert variables(Start(bind="close", hyper_threads=True, oversubscribed=True)) == ["1", "close", "threads"]
    device = Start(on_device=True, devices=2)
    assert run_environment(spec, host(4), device)["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert "CUDA_VISIBLE_DEVICES" not in run_environment(spec, host(2), device)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5,7,9")
    assert run_environment(spec, host(4), device)["CUDA_VISIBLE_DEVICES"] == "3,5"


def test_every_block_holds_every_point_once(folder):
    text = "repeats: 3\nwarmup: 2\nsweep: {threads: [1, 2, 3, 4, 17], execution.slots: [1, 2]}\n"
    runs = folder.plan(text).schedule(folder.read("base: case.yaml\n" + text))
    # two of ten points cannot be run
    blocks = [runs[8 * i : 8 * i + 8] for i in range(5)]
    assert len(runs) == 40
    for (kind, repeat), block in zip((("warmup", 1), ("warmup", 2), ("timed", 1), ("timed", 2), ("timed", 3)), blocks):
        assert {(run.kind, run.repeat) for run in block} == {(kind, repeat)}
        assert sorted(run.point for run in block) == list(range(8))
    assert len({tuple(run.point for run in block) for block in blocks}) > 3


def test_more_repeats_change_nothing_of_those_before(folder):
    def runs(text):
        text += "sweep: {threads: [1, 2, 3, 4, 5, 6]}\n"
        planned = folder.plan(text).schedule(folder.read("base: case.yaml\n" + text))
        return [run.point for run in planned if run.kind == "timed"]

    few, many = runs("repeats: 2\n"), runs("repeats: 4\nwarmup: 3\n")
    assert many[: len(few)] == few != runs("repeats: 2\nseed: 2\n")
    assert runs("repeats: 1\norder: as_written\n") == list(range(6))


def test_estimates_are_what_a_dry_run_prints():
    text = (
        "Title\n  model             voxels\n  memory            23.5 MiB, on the device 1 GiB\n"
        "  memory limit      2 GiB\n  estimated time    2 h 5 min\n"
    )
    assert estimate_in(text) == (7500, "23.5 MiB")
    assert math.isnan(estimate_in("")[0])
    for seconds in (0.0005, 0.25, 43.0, 200.0, 7500.0, 3 * 86400.0 + 4 * 3600.0, 5000 * 86400.0):
        assert seconds_in(duration_text(seconds)) == pytest.approx(seconds, rel=1e-9)
    for other in ("", "?", "soon", "3", "3 weeks", "x s"):
        assert math.isnan(seconds_in(other)), other


class Report:
    """A report folder of a study in the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder.path / "report"

    def of(self, text="", machine=None, resume=False, report=None, **keywords):
        text = f"base: case.yaml\n{text}report: {report or self.path}\n"
        spec = self.folder.read(text, **keywords)
        machine = machine or host()
        return ReportFolder(spec, plan_study(spec, machine, FakeProgram()), machine, resume)

    def refusal(self, *arguments, **keywords):
        return self.folder.errors(self.of(*arguments, **keywords).holds_this_study)

    def begin(self):
        made = self.of()
        made.take()
        made.begin(FakeProgram())
        made.release()
        (self.path / "runs.csv").write_text("old")


@pytest.fixture
def report(folder):
    return Report(folder)


def test_a_study_knows_its_own_folder(report):
    assert not report.of().holds_this_study()
    report.begin()
    assert report.of(resume=True).holds_this_study()
    assert not (report.path / ".lock").exists()
    assert report.refusal("seed: 2\n") == [
        "study.yaml:3: report: report holds another study, 'study', or this one with other points, inputs, rules or "
        "OMP_NUM_THREADS; choose another folder by --output"
    ]
    assert report.refusal(machine=host(0, git="def"), resume=True) == [
        "study.yaml:2: report: report holds runs of prismfield 1 (git abc), this is 1 (git def); choose another folder "
        "by --output"
    ]
    other = host()
    other.processor = "Another"
    kind = "report holds runs of another machine, A processor, 1 node x 8 cores (16 hardware threads), this is Another"
    assert kind in report.refusal(machine=other, resume=True)[0]
    assert report.refusal(machine=other) == []


def test_other_peoples_files_stay(report):
    where, other = "study.yaml:2: report:", "choose another folder by --output"
    report.path.write_text("a file")
    assert report.refusal() == [f"{where} report is no folder, and a study has many files; {other}"]
    report.path.unlink()
    report.path.mkdir()
    assert report.refusal() == []
    (report.path / ".machine.json.part-abc123").touch()
    assert report.refusal() == []
    (report.path / "thesis.txt").write_text("years of work")
    left = f"{where} report holds files that are no report of a study, and is left alone; {other}"
    assert report.refusal() == [left]
    (report.path / "machine.json").write_text('{"name": "mine"}')
    assert report.refusal(resume=True) == [left]
    link = report.folder.path / "link"
    link.symlink_to("nowhere")
    assert report.refusal(report=link) == [f"{where} link is a link to nothing; {other}"]
    none = report.refusal(report=report.folder.path / "no/report")
    assert none == [f"{where} no/report cannot be made: the folder no does not exist; make it first"]


def test_a_study_that_is_replaced_leaves_its_tables(report):
    report.begin()
    (report.path / "figures").mkdir()
    made = report.of()
    made.take()
    assert (made.goes_on, made.replaces) == (False, True)
    assert not (report.path / "runs.csv").exists() and not (report.path / "figures").exists()
    assert (report.path / "previous/runs.csv").read_text() == "old" and (report.path / "machine.json").exists()
    # a kill at this place
    made.release()
    assert report.refusal() == []
    report.begin()
    assert (report.path / "previous/runs.csv").exists()


def test_a_folder_is_one_studys_at_a_time(report):
    first = report.of()
    first.take()
    assert report.folder.errors(report.of().take) == [
        "study.yaml:2: report: report is used by another study; wait for its end, or choose another folder by --output"
    ]
    first.release()
    report.of().take()


def test_a_study_does_not_replace_itself(report):
    report.folder.write("report/study.yaml", "base: ../case.yaml\n")
    from made_spec import CASE_KEYS

    from prismfield.study.spec import read_study_file

    spec = read_study_file(report.path / "study.yaml", CASE_KEYS, output=str(report.path))
    made = ReportFolder(spec, plan_study(spec, host(), FakeProgram()), host(), False)
    assert report.folder.errors(made.holds_this_study) == [
        "--output: report holds report/study.yaml itself, which would be replaced; choose another folder by --output"
    ]
