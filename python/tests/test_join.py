# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import json

import pytest
from made_study import MadeStudy, errors_of
from pytest import approx

from prismfield.study.analysis import analyse
from prismfield.study.read_study import join


def machine(name, peak, threads):
    return json.dumps({"name": name, "calibration": {"openmp": {"peak_double": peak, "threads": threads}}})


@pytest.fixture
def small(made):
    made.yaml = "title: Small\nsweep: {threads: [1, 2]}\nrepeats: 2\n"
    made.machine = machine("small", 1e11, 2)
    made.add_runs(1, ("1",), 1, [8, 8])
    made.add_runs(2, ("2",), 2, [4, 4])
    return made


@pytest.fixture
def large(tmp_path):
    made = MadeStudy(tmp_path / "other")
    made.yaml = "title: Large\nsweep: {threads: [1, 2, 4]}\nrepeats: 2\ntolerance: 1e-6\n"
    made.machine = machine("large", 8e11, 4)
    made.add(0, ("",), 1, 4, kind="reference")
    made.add_runs(1, ("1",), 1, [4, 4])
    made.add_runs(2, ("2",), 2, [2, 2])
    made.add_runs(3, ("4",), 4, [1, 1])
    return made


def joined(*studies):
    study = join([made.folder for made in studies])
    analyse(study)
    return study


def write(small, large):
    small.add_error(2, "gz", "mGal", 0, 0, 1, 0)
    large.add_error(3, "gz", "mGal", 0, 0, 1, 0)
    large.add_rows(3, "maps", {"file": "results/3.h5", "fields": ["gz"]})
    small.write_all(("threads",))
    large.write_all(("threads",))
    large.write("runs.csv", large.runs_csv(("threads",)) + "7,")


def test_names_the_machine_of_each_point(small, large):
    write(small, large)
    study = joined(small, large)
    assert study.title == "Small"
    assert study.joined
    assert [machine["name"] for machine in study.machines] == ["small", "large"]
    assert [(axis.name, axis.values) for axis in study.axes] == [("threads", ["1", "2", "4"])]
    assert study.axes[0].settings_of("4") == {"threads": "4"}
    assert [p["id"] for p in study.points] == [1, 2, 3, 4, 5]
    assert [row.run for row in study.runs] == list(range(1, 12))
    # the reference of the second machine is no point of the first
    assert [p["machine"] for p in study.points] == ["small", "small", "large", "large", "large"]
    first, *_, last = study.points
    assert (first["labels"], first["machine"]) == ({"threads": "1"}, "small")
    assert (last["labels"], last["machine"]) == ({"threads": "4"}, "large")
    # scaling is each machine's own
    assert last["speed_up"]["value"] == approx(4)
    assert last["baseline"] == 3
    assert [fit["group"] for fit in study.fits] == [{"machine": "large"}]
    assert study.errors[1]["point"] == 5
    assert study.maps[0]["file"] == str(large / "results/3.h5")
    assert "large: the tolerance is 1e-06, not 1e-09" in study.rules.notes
    assert (
        "large: the last line of runs.csv is incomplete: the study was stopped while it was written"
        in study.rules.notes
    )
    assert (study.started, study.ended) == ("2026-11-22T00:00:11Z", "2026-11-22T00:00:17Z")


def test_rates_portability_over_machines(small, large):
    write(small, large)
    architectural, application = joined(small, large).portability
    platforms = architectural["platforms"]
    assert [(on["platform"], on["point"]) for on in platforms] == [("small, openmp", 2), ("large, openmp", 5)]
    # 46 operations a pair, 1e9 pairs: in 4 s of 1e11/s, and in 1 s of 8e11/s
    assert [on["efficiency"] for on in platforms] == approx([0.115, 0.0575])
    assert architectural["value"] == approx(2 / (1 / 0.115 + 1 / 0.0575))
    assert application["value"] == approx(1)


def test_names_machines_of_one_name_apart(small, large, tmp_path):
    large.machine = small.machine
    write(small, large)
    third = MadeStudy(tmp_path / "third")
    third.yaml, third.machine, third.rows = small.yaml, small.machine, small.rows
    third.write_all(("threads",))
    study = joined(small, large, third)
    assert [machine["name"] for machine in study.machines] == ["small", "small (2)", "small (3)"]
    assert len(study.runs) == 15


def test_counts_no_folder_twice(small, large):
    write(small, large)
    said = errors_of(lambda: join([small.folder, large.folder, small.folder / ".." / "report"]))
    assert small.without_folder(said) == "--join: names report/../report twice; its runs count once"


def test_notes_other_problems(small, large):
    for row in large.rows:
        row.problem = "p2"
    write(small, large)
    assert (
        "large: none of its problems is one of the machines before it; their times cannot be compared"
        in joined(small, large).rules.notes
    )


def test_rates_portability_zero_where_nothing_ran(small, large):
    large.rows.clear()
    for point, threads in enumerate(("1", "2", "4"), 1):
        large.leave_out(point, (threads,), "not run", "no such space")
    small.write_all(("threads",))
    large.write_all(("threads",))
    _, application = joined(small, large).portability
    assert application["platforms"][1]["platform"] == "large"
    assert application["value"] == 0


def test_refuses_other_studies(small, large):
    large.yaml = "sweep: {ranks: [1, 2, 4]}\n"
    large.write_all(("ranks",))
    small.write_all(("threads",))
    said = small.without_folder(errors_of(lambda: join([small.folder, large.folder, small / "none"])))
    assert said.splitlines() == [
        "other/study.yaml: sweep: has the axes ranks, report/study.yaml has threads; only runs of one study can be "
        "joined",
        "report/none: is no folder; the report folder of a study is expected",
    ]
    large.yaml = "command: invert\nsweep: {threads: [1, 2, 4]}\n"
    large.write_all(("threads",))
    assert small.without_folder(errors_of(lambda: join([small.folder, large.folder]))) == (
        "other/study.yaml: command: is invert, that of report/study.yaml is run; only runs of one study can be joined"
    )
    assert errors_of(lambda: join([])) == "--join: names no folder"
