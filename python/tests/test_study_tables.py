# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Tables of studies that were never run."""

import json
import math

import pytest

from prismfield.study import study_files as tables
from prismfield.study.analysis import analyse
from prismfield.study.read_study import read_study


def analysed(made, axes=("execution.precision", "threads")):
    made.write_all(list(axes))
    study = read_study(made.folder)
    analyse(study)
    return study


def record_of(made, *axes):
    """study.json"""
    return json.loads(tables.study_json(analysed(made, *axes), {}))


@pytest.fixture
def threads(made):
    made.yaml = "title: Threads & 100 %\nsweep: {execution.precision: [double, single], threads: [1, 2]}\nrepeats: 2\n"
    made.add_runs(1, ["double", "1"], 1, [8, 8])
    made.add_runs(2, ["double", "2"], 2, [4, 5])
    made.add_runs(3, ["single", "1"], 1, [3, 3])
    made.leave_out(4, ["single", "2"], "not run", "2 threads | 1 core <b>")
    made.add_error(1, "gz", "mGal", 1.25e-09, 2e-9, 4, 5e-10)
    made.add_error(1, "gzz", "Eotvos", 0, 0, 4, 0)
    made.add_error(3, "gz", "mGal", 0.5, 1, 4, 0.25)
    return made


def cells(table):
    return [dict(zip(table.header, row)) for row in table.rows]


def test_every_point_has_a_row(threads):
    points = tables.study_tables(record_of(threads))[0]
    assert points.title == "Points"
    assert [column.is_text for column in points.columns[:3]] == [True, True, False]
    one, two, _, left = cells(points)
    assert (two["threads"], two["runs"]) == ("2", "2")
    assert two["field time (s)"] == "4.5 (4 to 5)"
    assert two["pairs/s"] == "2.25e+08"
    assert two["speed-up"] == "1.778 (1.6 to 2)"
    assert two["efficiency (%)"] == "88.89 (80 to 100)"
    assert two["peak memory (MB)"] == "100"
    assert one["largest error"] == "1e-15"
    assert left["state"] == "not run: 2 threads | 1 core <b>"
    assert left["field time (s)"] == ""
    assert "energy (J)" not in points.header, "a column that nobody has"


def test_errors_by_field(threads):
    found = tables.study_tables(record_of(threads))
    assert len(found) == 4
    assert found[1].header == ["execution.precision", "threads", "gz (mGal)", "gzz (Eötvös)"]
    assert found[1].rows == [["double", "1", "1.25e-09", "0"], ["single", "1", "0.5", ""]]
    assert found[3].header == ["execution.precision", "threads", "gz", "gzz"]
    assert found[3].rows[1] == ["single", "1", "0.25", ""]


def test_errors_as_a_file(threads):
    threads.tables[1]["errors"][1]["relative"] = math.inf
    assert tables.errors_csv(analysed(threads)) == (
        "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n"
        "1,gz,mGal,1.25e-09,2e-09,4,5e-10\n1,gzz,Eotvos,0,0,4,inf\n3,gz,mGal,0.5,1,4,0.25\n"
    )


def test_serial_fractions_where_runs_get_faster(made):
    made.yaml = "title: s\nsweep:\n  execution.precision: [double, single]\n  threads: [1, 2, 4]\nrepeats: 2\n"
    for precision, slower in (("double", 0.9), ("single", 1.5)):
        for i, threads in enumerate((1, 2, 4)):
            made.add_runs(len(made.rows) // 2 + 1, [precision, str(threads)], threads, [8 * slower**i] * 2)
    fractions = tables.study_tables(record_of(made))[1]
    assert fractions.title == "Serial fractions"
    double, single = cells(fractions)
    assert (double["of"], single["of"]) == ("execution.precision=double", "execution.precision=single")
    for law in ("Amdahl (%)", "Gustafson (%)"):
        assert double[law] != "no speed-up"
        assert single[law] == "no speed-up"
    assert (double["along"], double["points"]) == ("threads", "3")


def test_markdown(threads):
    text = tables.tables_as_markdown(record_of(threads))
    assert text.startswith("# Threads & 100 %\n\n- made: prismfield 1.2.3 (git abc)\n")
    assert "medians of 2 repeats after 1 warm-up" in text
    assert "## Points\n\n| execution.precision | threads | runs | field time (s) |" in text
    assert "\n|---|---|---:|---:|" in text
    assert "not run: 2 threads \\| 1 core &lt;b> |" in text
    assert "## Notes\n\n- 2 repeats are asked for, 5 are the rule\n" in text


def test_titles_are_text_in_markdown(threads):
    record = record_of(threads)
    record["title"] = "![a](http://b) <script> *c* `d` e_f\\"
    expected = "# !\\[a\\](http://b) \\<script\\> \\*c\\* \\`d\\` e\\_f\\\\\n\n"
    assert tables.tables_as_markdown(record).startswith(expected)


def test_what_hides_text_is_not_shown(threads):
    record = record_of(threads)
    record["title"] = "red\x1b[31m \u202eback"
    assert tables.tables_as_markdown(record).startswith("# red?\\[31m ?back\n")


def test_the_terminal(threads):
    text = tables.tables_as_text(record_of(threads))
    assert text.startswith("precision  threads  field time (s)  ")
    assert "\ndouble     2          4.5 (4 to 5)  " in text
    assert "\nnot run: precision=single, threads=2: 2 threads | 1 core <b>\n" in text
    assert "\nnote: 2 repeats are asked for, 5 are the rule\n" in text
    assert "\nsingle     2" not in text, "a point without numbers has no row"


def test_many_axes_fit_a_terminal(made):
    label = "a label of a point that is longer than anybody will want to read in a table"
    made.yaml = (
        "title: many\nsweep:\n  threads: [1, 2, 3, 4]\n  execution.space: [openmp]\n"
        f"  mesh.name: [{label}, other]\nrepeats: 2\n"
    )
    made.add_runs(1, ["1", "openmp", label], 1, [8.123456, 8.234567])
    made.add_runs(2, ["1", "openmp", "other"], 1, [4.123456, 5.234567])
    for point in range(3, 9):
        threads = str((point + 1) // 2)
        why = (
            f"{threads} threads need more hardware threads than there are on this machine, which is a reason that "
            "fills more than one line of a terminal"
        )
        made.leave_out(point, [threads, "openmp", label if point % 2 else "other"], "not run", why)
    study = record_of(made, ("threads", "execution.space", "mesh.name"))
    text = tables.tables_as_text(study)
    assert text.startswith("everywhere: space=openmp\n\nthreads  name  ")
    assert "\n1        a label of a point that is..  " in text
    # reasons that differ in their numbers alone are said once
    assert "\nnot run: 6 points, the first threads=2, name=a label of a point that is..: 2\n  " in text
    assert "3 threads need" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert label in tables.tables_as_markdown(study), "nothing is lost"


def test_labels_that_fill_a_terminal_alone_are_cut(made):
    label = "thirty characters of a label, "
    axes = ("model", "fields", "mesh")
    made.yaml = "title: many\nsweep:\n" + "".join(f"  {axis}: ['{label}1', '{label}2']\n" for axis in axes)
    for point in range(8):
        made.add_runs(point + 1, [label + "12"[point >> bit & 1] for bit in (2, 1, 0)], 1, [8.123456, 8.2])
    text = tables.tables_as_text(record_of(made, axes))
    assert max(map(len, text.splitlines())) <= 80


def test_latex(threads):
    text = tables.tables_as_latex(record_of(threads))
    assert "\\caption{Threads \\& 100 \\%: Points}" in text
    assert "1.25$\\times 10^{-9}$ & 0 \\\\" in text
    assert "\\begin{tabular}{llrr}" in text
    assert "e-09" not in text
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 4


def test_latex_of_any_text():
    assert tables.latex_cell("a_b e-12 2e+05 ~\\{") == (
        "a\\_b e-12 2$\\times 10^{5}$ \\textasciitilde{}\\textbackslash{}\\{"
    )


def test_p3_has_the_fastest_points(threads):
    double, single = "prismfield execution.precision=double", "prismfield execution.precision=single"
    rest = 'Threads & 100 % p1,"made, openmp"\n'
    assert tables.p3_csv(analysed(threads)) == (
        "date,fom,application,problem,platform\n"
        f"2026-11-22T00:00:13Z,250000000,{double},{rest}"
        f"2026-11-22T00:00:14Z,200000000,{double},{rest}"
        f"2026-11-22T00:00:15Z,333333333.3333333,{single},{rest}"
        f"2026-11-22T00:00:16Z,333333333.3333333,{single},{rest}"
    )


def test_a_figure_of_merit_per_line(threads):
    text = tables.fom_lines(record_of(threads))
    assert "FOM field_seconds[execution.precision=double,threads=2]: 4.5 s\n" in text
    assert "FOM pairs_per_second[execution.precision=double,threads=2]: 225000000 1/s\n" in text
    assert "FOM largest_error[execution.precision=single,threads=1]: 1e-15 1\n" in text
    assert "precision=single,threads=2" not in text
