# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import math

import pytest
from made_study import errors_of

from prismfield.study.study_data import axis_column, axis_of_column, read_runs


def read(made, text):
    """The axes and rows of a text, and whether its last line is cut."""
    return read_runs(made.write("t.csv", text))


def bad(made, text):
    return made.without_folder(errors_of(lambda: read(made, text))).replace("report/t.csv", "t.csv")


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
    axes, (found, other), is_cut = read(made, made.runs_csv(("threads", "point")))
    assert axes == ["threads", "point"]
    assert not is_cut
    assert (found.point, found.repeat, found.kind, found.status, found.why) == (3, 1, "timed", "ok", 'say "no"')
    assert found.values == ["2", "a, b"]
    assert (found.space, found.threads, found.field_seconds) == ("openmp", 2, 0.125)
    assert (found.setup_seconds, found.output_seconds, found.processor_seconds) == (1, 2, 3)
    assert (found.energy_joules, found.busy_least, found.busy_most) == (4, 5, 6)
    assert (found.peak_memory_bytes, found.scratch_bytes) == (100_000_000, 2_000_000)
    assert found.oversubscribed
    assert (found.pairs_multipole_4, found.pairs_compact) == (10**9, 0)
    assert math.isnan(found.chi)
    assert other.kind == "warmup"


def test_reads_measures_of_sensitivities_and_inversions(made):
    row = made.add(1, ("1",), 1, 1.0)
    row.chi, row.stored_bytes = 0.5, 8.0
    _, (found,), _ = read(made, made.runs_csv(("threads",), with_measures=True))
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
        _, rows, is_cut = read(made, text[:length])
        assert is_cut and len(rows) == 1
    assert len(read(made, text)[1]) == 2


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_takes_tables_of_other_systems(made, end):
    made.add(1, ("1",), 1, 1.0)
    text = "\ufeff" + made.runs_csv(("threads",)).replace("\n", end + end)
    assert len(read(made, text)[1]) == 1


def test_reports_what_is_wrong_by_line_and_column(made):
    made.add(1, ("1",), 1, 1.5)
    made.add(2, ("2",), 2, 0.75)
    text = made.runs_csv(("threads",))

    def said(old, new):
        assert old in text
        return bad(made, text.replace(old, new, 1))

    assert said("run,point", "run,place") == "t.csv:2: point: cannot be read"
    assert said(",1.5,", ",fast,") == "t.csv:2: field_seconds: cannot be read"
    assert said(",0.75,", ",1e,") == "t.csv:3: field_seconds: cannot be read"
    assert said("2,2,1,timed,ok", "2,2.5,1,timed,ok") == "t.csv:3: point: cannot be read"
    assert said("timed,ok", "timed,fine") == "t.csv:2: status: cannot be read"
    assert said("timed", "late") == "t.csv:2: kind: cannot be read"
    assert said(",false,", ",no,") == "t.csv:2: oversubscribed: cannot be read"
    # of another length
    assert said("2,2,1,timed,ok", "2,2,1,timed,ok,more") == "t.csv:3: cannot be read"
    assert said("2,2,1,timed,ok", "2,2,timed,ok") == "t.csv:3: cannot be read"
    assert said("1,1,1,timed", '1,1,1,"timed') == "t.csv:2: cannot be read"
    assert said("1,1,1,timed", '1,1,1,"timed"x') == "t.csv:2: cannot be read"
