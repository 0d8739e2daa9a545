# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import pathlib
import re

import pytest
from made_study import errors_of

from prismfield.study.read_study import CASE_KEYS, read_study
from prismfield.study.study_data import SpacePeak, StudyRules

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
    assert study.setting(["double", "both"], "execution.slots") == "16"
    assert study.setting(["double", "both"], "ranks") == ""
    assert len(study.runs) == 4
    assert (study.machines[0].name, study.machines[0].version) == ("made", "1.2.3")
    assert study.started == "2026-11-22T00:00:11Z"
    assert study.ended == "2026-11-22T00:00:14Z"
    assert len(study.hash) == 32
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
    made.machine = """{"host": "h1", "study_hash": "h", "reduced": true,
        "calibration": {"openmp": {"peak_double": 1e11, "peak_single": 2e11, "bandwidth": 3e10, "threads": 2},
                        "note": 1}}"""
    made.write_all(AXES)
    study = read_study(made.folder)
    assert study.machines[0].name == "h1"
    assert study.hash == "h"
    assert study.reduced
    assert study.machines[0].peaks == {"openmp": SpacePeak(1e11, 2e11, 3e10, 2)}


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


def test_knows_the_sections_of_a_case():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/case.md"
    # those of a study are "study: KEY" there
    assert set(re.findall(r"(?m)^## (\w+)$", page.read_text())) - {"title"} == set(CASE_KEYS)


def test_reports_every_error_at_once(made):
    made.yaml = (
        "title: [a]\nsweep: 3\nrepeats: 0\ntolerance: -1\norder: sorted\nseed: x\nweak: maybe\n"
        "scaling: cores\nbaseline: 7\n"
    )
    made.machine = '{"name": "made",\n "cores": }'
    made.write_all(AXES)
    assert bad(made).splitlines() == [
        "report/machine.json:2: is not valid JSON from here on",
        "report/study.yaml:1: title: is a list; a line of text is expected",
        "report/study.yaml:2: sweep: is '3'; a map of axes is expected, such as {threads: [1, 2]}",
        "report/study.yaml:3: repeats: is '0'; a whole number from 1 to 10000 is expected",
        "report/study.yaml:5: order: is 'sorted'; allowed: random, as_written",
        "report/study.yaml:6: seed: is 'x'; a whole number is expected",
        "report/study.yaml:4: tolerance: is -1; a number of at least 0 is expected",
        "report/study.yaml:7: weak: is 'maybe'; allowed: true, false",
        "report/study.yaml:9: baseline: is '7'; a map of axes and values is expected, such as {threads: 1}",
        "report/study.yaml:8: scaling: is 'cores'; allowed: threads, ranks, devices, none",
    ]


@pytest.mark.parametrize(
    "yaml, message",
    [
        ("sweep:\n  threads: []\n", ":2: sweep.threads: is an empty list; a value or more is expected"),
        ("sweep:\n  threads: 2\n", ":2: sweep.threads: is '2'; a list of values is expected"),
        ("seed: 1\nseed: 2\n", ":2: seed: is written twice, first in line 1; keep one"),
        (
            "sweep:\n  point: [{threads: 1}, {bind: close, bind: none}]\n",
            ":2: sweep.point.1.bind: is written twice, first in line 2; keep one",
        ),
        ("? [a]\n: 1\n", ":1: a key must be a word; a list, a map or nothing stands before the ':'"),
        ("a: [1\nb: 2\n", ":2: this is no valid YAML: "),
        ("a: 1\n---\nb: 1\n", ":2: this is no valid YAML: "),
        ("a: \x01\n", ":1: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"),
        ("&a [*a]", ":1: lists or maps are nested too deeply; 64 levels are the most"),
        ("[1]\n", ": holds no map of keys"),
        ("", ": holds no map of keys"),
    ],
)
def test_reports_what_is_no_study(made, yaml, message):
    made.yaml = yaml
    made.write_all(AXES)
    # libraries have words of their own for what they cannot parse
    assert bad(made).startswith(f"report/study.yaml{message}") and bad(made).count("\n") == 0


def test_refuses_what_does_not_belong_together(made):
    made.write_all(("execution.precision", "place"))
    assert bad(made) == (
        "report/runs.csv:1: has the axes execution.precision, place, study.yaml beside it has "
        "execution.precision, point: they are of two studies"
    )
    made.rows[2].values = ["double", "both"]
    made.write_all(AXES)
    assert bad(made) == "report/runs.csv:4: point: point 3 of study.yaml has other values than double, both"
    made.rows[2].values = ["single", "threads=1, slots=8"]
    for point in (0, 5):
        made.rows[2].point = point
        made.write_all(AXES)
        assert bad(made).startswith(f"report/runs.csv:4: point: point {point} of study.yaml has other values")


def test_needs_its_files(made):
    assert made.without_folder(errors_of(lambda: read_study(made / "none"))) == (
        "report/none: is no folder; the report folder of a study is expected"
    )
    lines = bad(made).splitlines()
    assert lines[0].startswith("report/machine.json: cannot be read; a report folder of prismfield study has it")
    assert [line.partition(":")[0] for line in lines] == ["report/machine.json", "report/study.yaml", "report/runs.csv"]


@pytest.mark.parametrize(
    "machine, message",
    [
        ("[1]", "holds no JSON object"),
        ('{"calibration": 5}', "calibration: is no JSON object"),
        (
            '{"calibration": {"openmp": {"peak_double": 0}}}',
            "calibration.openmp.peak_double: is 0; a number above 0 is expected",
        ),
        (
            '{"calibration": {"openmp": {"bandwidth": "fast"}}}',
            'calibration.openmp.bandwidth: is "fast"; a number above 0 is expected',
        ),
        *(
            (
                f'{{"calibration": {{"openmp": {{"threads": {threads}}}}}}}',
                f"calibration.openmp.threads: is {shown}; a whole number of at least 1 is expected",
            )
            for threads, shown in (
                ("0", "0"),
                ("1.5", "1.5"),
                ("1e300", "1e+300"),
                ('"two"', '"two"'),
                ("true", "true"),
            )
        ),
    ],
)
def test_refuses_records_that_are_none(made, machine, message):
    made.machine = machine
    made.write_all(AXES)
    assert bad(made) == f"report/machine.json: {message}"


def test_refuses_a_record_with_nan(made):
    made.machine = '{"load": NaN}'
    made.write_all(AXES)
    assert bad(made) == "report/machine.json:1: is not valid JSON from here on"
