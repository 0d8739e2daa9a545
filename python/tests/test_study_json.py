# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""study.json of studies that were never run."""

import json
import math

import pytest
from made_study import MadeStudy

from prismfield.study.analysis import analyse
from prismfield.study.read_study import join, read_study
from prismfield.study.study_files import study_json

PROGRAM = {"version": "9", "git": "def"}


def as_json(study):
    analyse(study)
    return json.loads(study_json(study, PROGRAM))


@pytest.fixture
def threads(made):
    made.yaml = (
        "title: Threads\nsweep: {threads: [1, 2, 4, 8]}\nrepeats: 2\nfigure: {x: threads, y: speed_up, log: x}\n"
        "compare_with: {paper: C2, values: {\"2\": 1.9, one: 1e3}, note: '007', real: true, nothing: null}\n"
    )
    made.add_runs(1, ["1"], 1, [8, 10])
    made.add_runs(2, ["2"], 2, [4, 5])
    made.leave_out(3, ["4"], "not run", 'no "room"')
    made.add_runs(4, ["8"], 8, [1, 1.25])
    return made


def json_of(made):
    made.write_all(["threads"])
    return as_json(read_study(made.folder))


def test_it_has_the_schema(threads):
    threads.add_error(1, "gz", "mGal", 1, 2, 4, 0.5)
    threads.add_error(1, "gx", "mGal", 1, 2, 0, math.inf)
    histogram = {"field": "gz", "lowest": -16, "negative": [1, 3], "equal": 5, "positive": [2, 4]}
    threads.add_rows(1, "histograms", histogram)
    threads.add_rows(1, "trace", {"where": "outside", "n": 7, "rms": 1e-3, "largest": 2e-3, "scale": 10})
    threads.add_rows(1, "maps", {"file": "results/1.h5", "fields": ["gz", "gzz"]})
    threads.add_rows(1, "busy", {"rank": 0, "slot": -1, "begin": 0.25, "end": 1})
    study = json_of(threads)
    assert list(study) == [
        *("schema", "version", "title", "command", "study_hash", "program", "analysed_by", "started", "ended"),
        *("reduced", "machine", "rules", "axes", "problems", "points", "fits", "errors", "histograms", "trace", "maps"),
        *("busy", "portability", "figures", "compare_with"),
    ]
    assert (study["schema"], study["version"], study["title"]) == ("prismfield-study", 1, "Threads")
    assert study["reduced"] is False
    assert study["program"] == {"version": "1.2.3", "git": "abc"}
    assert study["analysed_by"] == PROGRAM
    assert study["machine"]["cores"] == 4, "as machine.json has it"
    assert study["rules"]["tolerance"] == 1e-9
    assert study["rules"]["repeats"] == 2
    assert study["axes"] == [{"name": "threads", "values": ["1", "2", "4", "8"]}]
    assert study["problems"] == [{"id": "p1", "hash": "p1", "pairs": 10**9}]
    assert study["errors"][0] == {
        "point": 1,
        "field": "gz",
        "unit": "mGal",
        "rms_difference": 1,
        "largest_difference": 2,
        "largest_reference": 4,
        "relative": 0.5,
    }
    assert study["errors"][1]["relative"] is None, "JSON has no infinity"
    assert study["histograms"] == [
        {"point": 1, "field": "gz", "lowest": -16, "negative": [1, 3], "equal": 5, "positive": [2, 4]}
    ]
    assert study["trace"] == [{"point": 1, "where": "outside", "n": 7, "rms": 1e-3, "largest": 2e-3, "scale": 10}]
    assert study["maps"] == [{"point": 1, "file": "results/1.h5", "fields": ["gz", "gzz"]}]
    assert study["busy"] == [{"point": 1, "rank": 0, "slot": -1, "begin": 0.25, "end": 1}]
    assert study["figures"] == [{"x": "threads", "y": "speed_up", "log": "x"}]
    assert study["compare_with"] == [
        {"paper": "C2", "values": {"2": 1.9, "one": 1000}, "note": "007", "real": True, "nothing": None}
    ]
    assert study["portability"] == []


def test_it_has_points_and_fits(threads):
    study = json_of(threads)
    first, two, left, _ = study["points"]
    assert (two["id"], two["labels"], two["status"], two["runs"]) == (2, {"threads": "2"}, "ok", 2)
    assert two["field_seconds"] == {"median": 4.5, "low": 4, "high": 5, "least": 4, "most": 5, "all": [4, 5]}
    assert two["speed_up"] == {"value": 2, "low": 8 / 5, "high": 10 / 4}
    assert two["efficiency"]["value"] == 1
    assert two["threads"] == 2
    for key in ("devices", "energy_joules", "processor_seconds"):
        assert two[key] is None, key
    assert two["operations"] is None, "nothing states the fields"
    assert two["pairs_by_form"]["multipole_4"] == 10**9
    assert "chi" not in two, "a study of runs"
    assert first["karp_flatt"] is None
    assert (left["status"], left["why"], left["runs"]) == ("not run", 'no "room"', 0)
    assert left["field_seconds"] is None
    (fit,) = study["fits"]
    assert (fit["along"], fit["group"], fit["points"]) == ("threads", {}, [1, 2, 4])
    assert fit["amdahl"]["serial"] == pytest.approx(0, abs=1e-15)
    assert fit["amdahl"]["low"] < fit["amdahl"]["high"]


def test_bounds_that_are_not_known_are_left_out(threads):
    del threads.rows[3], threads.rows[1]
    study = json_of(threads)
    assert study["points"][0]["field_seconds"]["low"] is None
    assert "low" not in study["fits"][0]["amdahl"]
    assert "serial" in study["fits"][0]["amdahl"]


def test_bytes_that_are_no_text_are_survived(threads):
    threads.write_all(["threads"])
    study = read_study(threads.folder)
    analyse(study)
    study.points[0]["device"] = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert json.loads(study_json(study, PROGRAM))["points"][0]["device"] == "caf\ufffd"


def test_a_joined_study_names_its_machines(threads, tmp_path):
    other = MadeStudy(tmp_path / "other")
    other.yaml, other.rows = threads.yaml, threads.rows
    for made in (threads, other):
        made.write_all(["threads"])
    joined = as_json(join([threads.folder, other.folder]))
    assert "machine" not in joined
    assert [machine["name"] for machine in joined["machines"]] == ["made", "made (2)"]
    assert len(joined["axes"]) == 1, "points state their machine themselves"
    assert joined["points"][6]["machine"] == "made (2)"
    assert joined["points"][6]["labels"] == {"threads": "4"}
    assert joined["fits"][1]["group"] == {"machine": "made (2)"}
    architectural, application = joined["portability"]
    assert (application["efficiency"], application["value"]) == ("application", 1)
    assert application["platforms"][0]["platform"] == "made, openmp"
    assert architectural["value"] is None, "nobody measured the peak"
