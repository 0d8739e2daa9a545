# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import pytest
from made_study import errors_of

from prismfield.study.read_study import read_study
from prismfield.study.study_data import StudyRules

AXES = ("execution.precision", "point")
BUSY = {"rank": 0, "slot": 1, "begin": 0, "end": 1}


@pytest.fixture
def made(made):
    made.yaml = (
        "title: Two axes\nsweep:\n  execution.precision: [double, single]\n  point:\n"
        "    - {threads: 1, execution.slots: 8}\n    - {threads: 2, execution.slots: 16, label: both}\n"
        "repeats: 3\nwarmup: 0\ntolerance: 1e-6\norder: as_written\nseed: 7\nweak: true\nscaling: threads\n"
        "baseline: {point: both}\nfigure: {x: point, y: speed_up}\n"
        "compare_with: [{paper: A1, values: {'7': 1e-3}}]\n"
    )
    made.add(1, ("double", "threads=1, slots=8"), 1, 4)
    made.add(2, ("double", "both"), 2, 2)
    made.add(3, ("single", "threads=1, slots=8"), 1, 3)
    made.add(4, ("single", "both"), 2, 1)
    return made


def bad(made):
    return made.without_folder(errors_of(lambda: read_study(made.folder)))


def test_takes_rules_axes_and_runs(made):
    made.write_all(AXES)
    study = read_study(made.folder)
    assert study.title == "Two axes"
    assert study.rules == StudyRules(
        repeats=3,
        warmup=0,
        tolerance=1e-6,
        order="as_written",
        seed=7,
        weak=True,
        scaling="threads",
        baseline={"point": "both"},
    )
    precision, point = study.axes
    assert precision.keys == ["execution.precision"]
    assert point.keys == ["threads", "execution.slots"]
    assert point.values == ["threads=1, slots=8", "both"]
    assert point.settings_of("both") == {"threads": "2", "execution.slots": "16"}
    assert precision.settings_of("single") == {"execution.precision": "single"}
    assert point.settings_of("neither") == {}
    assert study.setting({"execution.precision": "double", "point": "both"}, "execution.slots") == "16"
    assert study.setting({"execution.precision": "double", "point": "both"}, "ranks") == ""
    assert len(study.runs) == 4
    assert (study.machines[0]["name"], study.machines[0]["version"]) == ("made", "1.2.3")
    assert study.started == "2026-11-22T00:00:11Z"
    assert study.ended == "2026-11-22T00:00:14Z"
    assert study.hash == ""
    assert study.figures == [{"x": "point", "y": "speed_up"}]
    assert study.compare_with == [{"paper": "A1", "values": {"7": 1e-3}}]
    assert not study.reduced


def test_has_defaults(made):
    made.yaml = "sweep: {execution.precision: [double], point: [{threads: 1}]}\n"
    del made.rows[1:]
    made.write_all(AXES)
    study = read_study(made.folder)
    assert study.title == "report"
    assert study.rules == StudyRules()
    assert (study.rules.repeats, study.rules.warmup, study.rules.tolerance, study.rules.order, study.rules.seed) == (
        5,
        1,
        1e-9,
        "random",
        1,
    )


def test_takes_the_record_of_the_machine(made):
    made.machine = """{"name": "h1", "study_hash": "h", "reduced": true,
        "calibration": {"openmp": {"peak_double": 1e11, "peak_single": 2e11, "bandwidth": 3e10, "threads": 2},
                        "note": 1}}"""
    made.write_all(AXES)
    study = read_study(made.folder)
    assert study.machines[0]["name"] == "h1"
    assert study.hash == "h"
    assert study.reduced
    assert study.machines[0]["calibration"]["openmp"]["bandwidth"] == 3e10


def test_notes_a_cut_line(made):
    made.write_all(AXES)
    made.write("runs.csv", made.runs_csv(AXES)[:-5])
    study = read_study(made.folder)
    assert len(study.runs) == 3
    assert study.rules.notes == ["the last line of runs.csv is incomplete: the study was stopped while it was written"]


def test_reads_tables_that_are_there(made):
    made.add_error(2, "gz", "mGal", 1, 2, 4, 0.5)
    made.add_rows(1, "busy", BUSY)
    made.write_all(AXES)
    study = read_study(made.folder)
    assert (len(study.errors), len(study.busy), len(study.histograms)) == (1, 1, 0)
    assert study.busy == [{"point": 1} | BUSY]
    # the last line was cut when the study was stopped
    made.write("points.jsonl", made.points_jsonl()[:-1])
    assert (len(read_study(made.folder).errors), len(read_study(made.folder).busy)) == (1, 0)
    made.write("points.jsonl", made.points_jsonl() + '{"point": 3}\n')
    assert bad(made) == "report/points.jsonl:3: cannot be read"
    (made / "points.jsonl").unlink()
    assert read_study(made.folder).errors == []


def test_leaves_out_what_a_stopped_run_wrote_before_its_row(made):
    made.rows.pop()
    made.add_rows(3, "busy", BUSY)
    made.add_rows(4, "busy", BUSY, BUSY)
    made.write_all(AXES)
    assert [row["point"] for row in read_study(made.folder).busy] == [3]


def test_takes_axes_as_the_study_may_write_them(made):
    made.yaml = "sweep:\n  execution: {slots: [8], partition: [prisms, {ranks: [1, 1]}]}\n  point: [{threads: 1}]\n"
    made.rows.clear()
    made.add(1, ("8", "prisms", "threads=1"), 1, 4)
    made.add(2, ("8", "{ranks: [1, 1]}", "threads=1"), 1, 2)
    made.write_all(("execution.slots", "execution.partition", "point"))
    slots, partition, _ = read_study(made.folder).axes
    assert slots.name == "execution.slots"
    # its map is a value, not a number of ranks
    assert partition.keys == ["execution.partition"]
    assert partition.settings_of("{ranks: [1, 1]}") == {"execution.partition": "{ranks: [1, 1]}"}


def test_refuses_what_does_not_belong_together(made):
    made.write_all(("execution.precision", "place"))
    assert bad(made) == (
        "report/runs.csv:1: has the axes execution.precision, place, study.yaml beside it has "
        "execution.precision, point: they are of two studies"
    )


def test_needs_its_files(made):
    assert made.without_folder(errors_of(lambda: read_study(made / "none"))) == (
        "report/none: is no folder; the report folder of a study is expected"
    )
    made.write_all(AXES)
    for name in ("rules.json", "runs.csv", "machine.json"):
        (made / name).unlink()
        assert bad(made) == (
            f"report/{name}: there is no such file; a report folder of this version of prismfield study has it"
        )


def test_refuses_records_that_are_none(made):
    made.write_all(AXES)
    for name in ("rules.json", "machine.json"):
        for text, line in (("[1]", 1), ('{"name": "made",\n "cores": }', 2), ('{"name": ', 1)):
            made.write(name, text)
            assert bad(made) == f"report/{name}:{line}: cannot be read"
        made.write_all(AXES)
    made.write("rules.json", made.rules_json().replace("tolerance", "accuracy"))
    assert bad(made) == "report/rules.json: is of another version"
