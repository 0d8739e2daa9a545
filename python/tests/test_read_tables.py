# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import math

import pytest
from made_study import errors_of

from prismfield.study.study_data import axis_column, axis_of_column, read_runs
from prismfield.study.texts import Problems


def read(made, how, text, name="t.csv"):
    """The rows of a text, and what is wrong with it."""
    problems = Problems()
    rows = []

    def action():
        rows.append(how(made.write(name, text), problems))
        problems.raise_if_any()

    said = made.without_folder(errors_of(action)).replace("report/t.csv", "t.csv")
    return rows[0] if rows else None, said


def good(made, how, text, name="t.csv"):
    rows, said = read(made, how, text, name)
    assert said == ""
    return rows


def test_reads_every_column_of_runs(made):
    made.add(
        3,
        ("2", "a, b"),
        2,
        0.125,
        setup_seconds=1.0,
        output_seconds=2.0,
        processor_seconds=3.0,
        energy_joules=4.0,
        busy_least=5.0,
        busy_most=6.0,
        why='say "no"',
        oversubscribed=True,
    )
    made.add(3, ("2", "a, b"), 2, 0.25, kind="warmup")
    table = good(made, read_runs, made.runs_csv(("threads", "point")))
    assert table.axes == ["threads", "point"]
    assert table.lines == [2, 3]
    assert not table.cut
    found = table.rows[0]
    assert (found.point, found.repeat, found.kind, found.status, found.why) == (3, 1, "timed", "ok", 'say "no"')
    assert found.values == ["2", "a, b"]
    assert (found.space, found.threads, found.field_seconds) == ("openmp", 2, 0.125)
    assert (found.setup_seconds, found.output_seconds, found.processor_seconds) == (1, 2, 3)
    assert (found.energy_joules, found.busy_least, found.busy_most) == (4, 5, 6)
    assert (found.peak_memory_bytes, found.scratch_bytes) == (100_000_000, 2_000_000)
    assert found.oversubscribed
    assert (found.pairs_multipole_4, found.pairs_compact) == (10**9, 0)
    assert math.isnan(found.chi)
    assert table.rows[1].kind == "warmup"


def test_reads_measures_of_sensitivities_and_inversions(made):
    row = made.add(1, ("1",), 1, 1.0)
    row.chi, row.stored_bytes = 0.5, 8.0
    found = good(made, read_runs, made.runs_csv(("threads",), with_measures=True)).rows[0]
    assert (found.chi, found.stored_bytes) == (0.5, 8)
    assert math.isnan(found.products)


def test_names_columns_of_axes():
    assert axis_column("threads") == "axis.threads"
    assert axis_column("point") == "axis.point"
    assert axis_column("execution.slots") == "execution.slots"
    for axis in ("threads", "execution.slots", "axis.x", "chi"):
        assert axis_of_column(axis_column(axis)) == axis


def test_leaves_a_cut_last_line_out(made):
    made.add(1, ("1",), 1, 1.0)
    made.add(1, ("1",), 1, 2.0)
    text = made.runs_csv(("threads",))
    second = text.index("\n2,") + 1
    # the last character but the end of the line makes it whole to look at, not to trust
    for length in (*range(second + 1, len(text), 7), len(text) - 1):
        table = good(made, read_runs, text[:length])
        assert table.cut and len(table.rows) == 1
    assert len(good(made, read_runs, text).rows) == 2


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_takes_tables_of_other_systems(made, end):
    made.add(1, ("1",), 1, 1.0)
    text = "\ufeff" + made.runs_csv(("threads",)).replace("\n", end + end)
    assert len(good(made, read_runs, text).rows) == 1


def test_reports_what_is_wrong_by_line_and_column(made):
    made.add(1, ("1",), 1, 1.5)
    made.add(2, ("2",), 2, 0.75)
    text = made.runs_csv(("threads",))

    def bad(old, new):
        assert old in text
        return read(made, read_runs, text.replace(old, new, 1))[1]

    assert read(made, read_runs, "")[1] == ("t.csv: is empty; a first line with the names of the columns is expected")
    assert bad("run,point", "run,place").startswith(
        "t.csv:1: column 2 is 'place', not point; the columns of this file are run,point,"
    )
    assert read(made, read_runs, "run,point,repeat\n")[1].startswith("t.csv:1: column 4 is missing, not kind")
    assert bad(",1.5,", ",fast,") == "t.csv:2: field_seconds: is 'fast'; a finite number, or nothing is expected"
    for text_of_number in ("inf", "nan", "1e999", "0x10", "1_000", "1e", "--1", "\u0663", "1.5 "):
        assert bad(",0.75,", f",{text_of_number},") == (
            f"t.csv:3: field_seconds: is '{text_of_number}'; a finite number, or nothing is expected"
        )
    for number in ("+3.", "-.5", "1.5E-3"):
        assert bad(",0.75,", f",{number},") == ""
    assert bad("1,1,1,timed,ok", "1,1,0,timed,ok") == (
        "t.csv:2: repeat: is '0'; a whole number of at least 1 is expected"
    )
    assert bad("1,1,1,timed,ok", f"1,{2**63},1,timed,ok") == (
        f"t.csv:2: point: is '{2**63}'; a whole number of at least 0, or nothing is expected"
    )
    assert bad("timed,ok", "timed,fine") == (
        "t.csv:2: status: is 'fine'; one of ok, not run, failed, wrong, too slow, out of budget is expected"
    )
    assert bad("timed", "late") == "t.csv:2: kind: is 'late'; one of reference, warmup, timed is expected"
    assert bad("2,2,1,timed,ok", "2,2,1,timed,ok,more") == "t.csv:3: has 45 fields, the header has 44"
    assert bad("1,1,1,timed", '1,1,1,"timed') == (
        "t.csv:2: is not valid CSV: a quote is not closed, or has text behind it"
    )
    assert bad("timed", "\x1b[31m").startswith("t.csv:2: kind: is '?[31m';")


def test_finds_runs_that_are_there_twice(made):
    made.add(1, ("1",), 1, 1.5)
    made.add(1, ("1",), 1, 1.5, repeat=1)

    def bad():
        return read(made, read_runs, made.runs_csv(("threads",)))[1]

    assert bad() == "t.csv:3: repeat: point 1, timed 1 was done in line 2 already"
    # what failed may be run again
    made.rows[0].status = "failed"
    assert bad() == ""
    made.rows[1].run = 1
    assert bad() == "t.csv:3: run: run 1 is in line 2 already"
    made.rows[1].run = 2
    made.rows[1].values = ["2"]
    assert bad() == "t.csv:3: point: the values of point 1 are 2 here and 1 in line 2"


def test_reports_many_errors_shortly(made):
    for _ in range(500):
        made.add(1, ("1",), 1, 1.0)
    text = made.runs_csv(("threads",)).replace(",1,1,64,", ",1,x,64,")
    lines = read(made, read_runs, text)[1].splitlines()
    assert len(lines) == 21
    assert lines[-1] == "t.csv: 480 more of this kind: values that cannot be read"
