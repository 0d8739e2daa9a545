# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""STUDY.yaml, and the sweep in it."""

import pathlib
import random
import re

import pytest
import yaml
from made_spec import CASE

from prismfield.study.spec import FIGURE_KEYS, KEYS, PAPER_KEYS, PLACEMENTS, points_of
from prismfield.study.texts import InputError, Problems
from prismfield.study.yaml_nodes import parse_yaml, put_or_report, read_override, to_yaml

BASE = "base: case.yaml\n"
CASE_PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/case.md"


def sweep(folder, text):
    return folder.read(BASE + "sweep:\n" + "".join(f"  {line}\n" for line in text.splitlines())).axes


def labels(axis):
    return [value.label for value in axis.values]


def test_defaults_are_those_of_the_manual(folder):
    spec = folder.read(BASE)
    assert (spec.title, spec.repeats, spec.warmup, spec.time_budget) == ("study", 5, 1, None)
    assert (spec.order, spec.seed, spec.tolerance, spec.launcher) == ("random", 1, 1e-9, [])
    assert str(spec.report) == "study" and not spec.keeps_results
    assert "model" in spec.base.entries and spec.base_file == folder.path / "case.yaml"


def test_every_key_is_read(folder):
    spec = folder.read(
        "title: Blocks\nbase: case.yaml\nsweep: {threads: [1, 2], execution.precision: [double, single]}\nrepeats: 3\n"
        "warmup: 0\ntime_budget: 20 min\norder: as_written\nseed: 7\ntolerance: 1e-12\n"
        "reference: {execution.space: serial, threads: 1}\nlauncher: srun -n {ranks} --label 'two words' {program}\n"
        "oversubscribe: true\nbaseline: {threads: 2}\nscaling: threads\nweak: true\ntrace: true\n"
        "histogram: true\nbusy: true\nmaps: [gz, tensor]\n"
        "figure: {x: threads, y: speed_up, curves: [execution.precision], log: xy}\n"
        'compare_with: {paper: C2, figure: "9", values: {1: 1, 2: 1.9}, note: by eye}\nreport: c2/\n'
    )
    assert (spec.title, len(spec.axes), spec.repeats, spec.warmup) == ("Blocks", 2, 3, 0)
    assert (spec.time_budget, spec.order, spec.seed, spec.tolerance) == (1200, "as_written", 7, 1e-12)
    assert spec.reference.placement == {"threads": 1} and list(spec.reference.settings) == ["execution.space"]
    assert spec.launcher == ["srun", "-n", "{ranks}", "--label", "two words", "{program}"]
    assert spec.oversubscribe and spec.weak and spec.keeps_results and spec.trace and spec.histogram and spec.busy
    assert spec.maps == ["gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]
    assert str(spec.report) == "c2"


def test_errors_are_reported_all_at_once_by_line(folder):
    text = (
        "base: case.yaml\nrepeat: 3\nrepeats: 0\nwarmup: many\ntime_budget: 20\norder: shuffled\n"
        "tolerance: -1\nsweep: {threads: [1, 2]}\nbaseline: {threads: 4, ranks: 1}\nscaling: ranks\n"
        "figure: {x: thread, y: speed, curves: [threads]}\nreference: double\nlauncher: mpirun {rank} {program}\n"
        "maps: [gzzz]\nexecution: {slots: 4}\nreport: [a]\n"
    )
    assert folder.errors(folder.read, text) == [
        f"study.yaml:2: repeat: is no known key; did you mean repeats? Allowed: {', '.join(KEYS)}",
        "study.yaml:3: repeats: is '0'; a whole number from 1 to 10000 is expected",
        "study.yaml:4: warmup: is 'many'; a whole number is expected",
        "study.yaml:5: time_budget: is '20', without a unit; allowed: ms, s, min, h",
        "study.yaml:6: order: is 'shuffled'; allowed: random, as_written",
        "study.yaml:7: tolerance: is -1; a number of at least 0 is expected",
        "study.yaml:9: baseline.threads: is '4', no value of this axis, which has 1, 2",
        "study.yaml:9: baseline.ranks: is 'ranks', no axis of the study; allowed: threads",
        "study.yaml:10: scaling: is ranks, which no axis of the study moves",
        "study.yaml:11: figure.x: is 'thread', no axis of the study; did you mean threads? Allowed: threads",
        "study.yaml:11: figure.y: is 'speed'; did you mean speed_up? Allowed: field_seconds, pairs_per_second, "
        "speed_up, efficiency, error, memory, scratch, time",
        "study.yaml:12: reference: is 'double'; a map of keys of the case is expected",
        "study.yaml:13: launcher: has '{rank}', which stands for nothing; did you mean {ranks}? Allowed: {ranks}, "
        "{threads}, {program}",
        "study.yaml:14: maps.0: is 'gzzz', no known field; did you mean gzz? Allowed: all, vector, tensor, potential, "
        "gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, bx, by, bz, tmi, tmi_exact, amplitude, bxx, byy, bzz, bxy, bxz, "
        "byz, tmi_x, tmi_y, tmi_z",
        "study.yaml:15: execution: belongs to the case: write it below base, or vary it below sweep, as in {sweep: "
        "{execution.slots: [1, 2]}}",
        "study.yaml:16: report: is a list; the name of a file is expected",
    ]


@pytest.mark.parametrize(
    "text, line",
    [
        ("", "study.yaml:1: is empty; a study has at least base and sweep"),
        ("- 1\n", "study.yaml:1: is a list; a study is a map with the keys " + ", ".join(KEYS)),
        (CASE, "study.yaml: is a case, not a study; write prismfield run, or name it as the base of a study"),
        (
            "sweep: {threads: [1]}\n",
            "study.yaml:1: base: is missing; the name of a case, or the case itself, is expected",
        ),
        ("sweep: {threads: [1]}\nbase: 7.yaml\n", "study.yaml:2: base: 7.yaml: there is no such file"),
        ("base: [1]\n", "study.yaml:1: base: is a list; the name of a case, or the case itself, is expected"),
        ("base: .\n", "study.yaml:1: base: : is a folder; a YAML file is expected"),
        ("base: a\nbase: b\n", "study.yaml:2: base: is written twice, first in line 1; keep one"),
        ("base: case.yaml\ntitle: !x a\n", "study.yaml:2: title: the tag '!x' has no meaning here; leave it out"),
        (
            "base: case.yaml\n? [a]\n: 1\n",
            "study.yaml:2: a key must be a word; a list, a map or nothing stands before the ':'",
        ),
        ("base: case.yaml\nrepeats:\n", "study.yaml:2: repeats: has no value; write one or leave the key out"),
    ],
)
def test_files_that_are_no_study_end_clearly(folder, text, line):
    assert line in folder.errors(folder.read, text)


def test_yaml_that_takes_too_much_is_refused(folder):
    aliases = "base: case.yaml\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 9):
        aliases += f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
    assert "too many values, or too long ones, once aliases (*) are expanded" in folder.errors(folder.read, aliases)[0]
    for deep in ("a: " + "[" * 70 + "]" * 70, "a: " + "- " * 900 + "x", "a: &x [*x]"):
        assert "nested too deeply" in " ".join(folder.errors(folder.read, BASE + deep + "\n")) or "YAML" in " ".join(
            folder.errors(folder.read, BASE + deep + "\n")
        )
    folder.write("none.yaml", "")
    (folder.path / "bytes.yaml").write_bytes(b"base: a\n\xff\n")
    assert folder.errors(folder.read, "base: bytes.yaml\n")[0].startswith("bytes.yaml:2: holds bytes that are no UTF-8")
    assert folder.errors(folder.read, "base: [\n")[0].startswith("study.yaml:1: this is no valid YAML")


def test_launchers_are_checked_for_what_they_need(folder):
    def refused(text):
        return folder.errors(folder.read, BASE + f"launcher: {text}\n")[0]

    assert "has to have {program} as a word of its own, once" in refused("mpirun -n {ranks}")
    assert "as a word of its own" in refused("mpirun -n {ranks} x{program}")
    assert "lacks {ranks}" in refused("mpirun {program}")
    assert "has '{ranks', which stands for nothing" in refused("mpirun '{ranks' {program}")
    assert "has a quote that is never closed" in refused('"mpirun \'a {program}"')
    words = folder.read(BASE + "launcher: [a b, '-n{ranks}', '{program}']\n").launcher
    assert words == ["a b", "-n{ranks}", "{program}"]


def test_the_base_may_be_the_case_itself(folder):
    spec = folder.read("base:\n  title: Inside\n  fields: [gz]\n")
    assert spec.base.find("title").text == "Inside" and spec.base_file == folder.path / "study.yaml"
    assert spec.base.find("fields").place == f"{folder.path}/study.yaml:3"


def test_set_changes_study_and_case(folder):
    text = BASE + "sweep: {execution.precision: [double, single]}\n"
    changes = ("repeats=2", "fields=[gz]", "base.execution.slots=3", "sweep.threads=[1, 2]")
    spec = folder.read(text, *changes, "sweep.execution.precision=[single]", output="elsewhere")
    assert spec.repeats == 2 and spec.base.find("fields").items[0].text == "gz"
    assert spec.base.find("execution").find("slots").text == "3"
    assert [labels(axis) for axis in spec.axes] == [["single"], ["1", "2"]]
    assert str(spec.report) == "elsewhere"
    assert folder.errors(folder.read, text, "repeats=none", "nothing", "sweep=null") == [
        "--set: 'nothing' has no key.path=value form, such as execution.slots=4",
        "--set repeats: is 'none'; a whole number is expected",
    ]
    assert folder.errors(folder.read, text, "fields.gz=1") == [
        "--set fields.gz: fields is a list of 4, numbered from 0"
    ]


def test_reduced_changes_study_and_case(folder):
    text = (
        "base: case.yaml\nsweep: {threads: [1, 2, 4], execution.slots: [1, 2]}\nreduced:\n"
        "  observations.grid.easting: [0, 300, 2]\n  repeats: 1\n  sweep.threads: [1]\n  sweep.execution.slots: [3]\n"
    )
    assert folder.read(text).repeats == 5
    spec = folder.read(text, reduced=True)
    assert spec.reduced and spec.repeats == 1 and [labels(axis) for axis in spec.axes] == [["1"], ["3"]]
    easting = spec.base.find("observations").find("grid").find("easting")
    assert easting.items[2].text == "2" and easting.place == f"{folder.path}/study.yaml:4"
    assert spec.tree.find("reduced") is None
    # the command line has the last word
    assert folder.read(text, "repeats=4", reduced=True).repeats == 4
    assert folder.errors(folder.read, BASE, reduced=True) == [
        "--reduced: study.yaml has no key reduced, which says what a reduced study changes"
    ]
    wrong = folder.errors(folder.read, BASE + "reduced: {repeat: 1, observation.grid: 1}\n")
    assert wrong[0].startswith(
        "study.yaml:2: reduced.repeat: is no key of the study or the case; did you mean repeats?"
    )
    assert "reduced.observation.grid: is no key of the study or the case; did you mean observations?" in wrong[1]
    assert folder.errors(folder.read, BASE + "reduced: 1\n") == [
        "study.yaml:2: reduced: is '1'; a map of keys of the study and the case is expected, such as {repeats: 1}"
    ]


def test_papers_have_one_curve_or_several(folder):
    base = BASE + "compare_with: "
    folder.read(base + "[{paper: A1}, {paper: A2, values: {double: {32: 1}, single: {32: 2}}}]\n")
    assert folder.errors(folder.read, base + "{figure: 7, values: {32: fast, single: {32: 2}}}\n") == [
        "study.yaml:2: compare_with.paper: is missing; the experiment, such as A1 is expected",
        "study.yaml:2: compare_with.values.32: is 'fast'; a map is expected, as the other curves have",
    ]
    wrong = folder.errors(folder.read, base + "{paper: A1, values: [1]}\n")
    assert "compare_with.values: is a list; a map of values" in wrong[0]


def test_every_combination_the_last_axis_fastest(folder):
    points = points_of(sweep(folder, "execution.precision: [double, single]\nthreads: [1, 2, 4]\n"))
    assert [point.labels for point in points[:2]] == [["double", "1"], ["double", "2"]] and len(points) == 6
    last = points[5]
    assert (last.id, last.labels, last.placement) == (6, ["single", "4"], {"threads": 4})
    assert {key: value.text for key, value in last.settings.items()} == {"execution.precision": "single"}
    assert str(last) == "point 6 (single, 4)"
    assert [str(point) for point in points_of([])] == ["the one point"]


def test_maps_move_several_keys(folder):
    axes = sweep(
        folder,
        "point:\n  - {execution.block: 32, execution.slots: 448}\n"
        "  - {label: wide, ranks: 2, threads: 1, bind: close, execution.slots: 896}\n",
    )
    assert labels(axes[0]) == ["block=32, slots=448", "wide"]
    points = points_of(axes)
    assert len(points[0].settings) == 2 and len(points[1].settings) == 1
    assert points[1].placement == {"ranks": 2, "threads": 1, "bind": "close"}
    # keys of one last word are told apart
    both = sweep(folder, "n: [{model.voxels.easting: 1, observations.grid.easting: 2}]")
    assert labels(both[0]) == ["model.voxels.easting=1, observations.grid.easting=2"]


def test_values_of_a_key_may_be_lists_and_maps_and_nested_keys_are_paths(folder):
    axes = sweep(folder, "fields: [all, [gz, gxx]]\nexecution: {partition: [prisms, {ranks: [4, 2]}], slots: [1]}\n")
    assert [(axis.name, labels(axis)) for axis in axes] == [
        ("fields", ["all", "[gz, gxx]"]),
        ("execution.partition", ["prisms", "{ranks: [4, 2]}"]),
        ("execution.slots", ["1"]),
    ]


def test_errors_of_axes(folder):
    text = (
        "threads: [1, two]\nranks: 4\nprecision: [double]\nbind: [wide]\nexecution.slots: []\nfields: [gz, gz]\n"
        "devices: [0]\noutput.file: [a.h5]\ntitle: [a]\nthreds: [1]\nexecution.block: [null]\n"
    )
    placements = ", ".join(PLACEMENTS)
    assert folder.errors(sweep, folder, text) == [
        "study.yaml:3: sweep.threads.1: is 'two'; a whole number is expected",
        "study.yaml:4: sweep.ranks: is '4'; a list of values is expected",
        f"study.yaml:5: sweep.precision.0: is neither a key of the case nor {placements}; did you mean "
        "execution.precision?",
        "study.yaml:6: sweep.bind.0: is 'wide'; allowed: spread, close, primary, none",
        "study.yaml:7: sweep.execution.slots: is an empty list; a value or more is expected",
        "study.yaml:8: sweep.fields.1: is 'gz' like value 0 of this axis; take one out, or name maps by a label",
        "study.yaml:9: sweep.devices.0: is '0'; a whole number from 1 to 1000000 is expected",
        "study.yaml:10: sweep.output.file.0: changes nothing that a study measures; take output out",
        "study.yaml:11: sweep.title.0: changes nothing that a study measures; take title out",
        f"study.yaml:12: sweep.threds.0: is neither a key of the case nor {placements}; did you mean threads?",
        "study.yaml:13: sweep.execution.block.0: has no value; write one or take it out of the list",
    ]
    assert folder.errors(folder.read, BASE + "sweep: [1, 2]\n") == [
        "study.yaml:2: sweep: is a list; a map of axes is expected, such as {threads: [1, 2]}"
    ]


def test_axes_may_not_set_what_another_sets(folder):
    text = "execution.slots: [1, 2]\npoint: [{execution.slots: 4, threads: 2}]\nthreads: [1]\n"
    assert folder.errors(sweep, folder, text) == [
        "study.yaml:4: sweep.point: sets execution.slots, which the axis execution.slots sets too",
        "study.yaml:5: sweep.threads: sets threads, which the axis point sets too",
    ]
    density, model = "model.voxels.density: [1, 2]\n", "model: [{voxels: 1}, {voxels: 2}]\n"
    assert folder.errors(sweep, folder, density + model) == [
        "study.yaml:4: sweep.model: sets model as a whole behind the axis model.voxels.density, which sets "
        "model.voxels.density; write this axis above that one"
    ]
    assert folder.errors(sweep, folder, model + density) == []
    assert folder.errors(sweep, folder, "execution: {slots: [1]}\nexecution.slots: [2]\n") == [
        "study.yaml:4: sweep.execution.slots: is an axis twice; keep one"
    ]


def test_many_points_end_clearly(folder):
    text = "".join(f"execution.a{axis}: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" for axis in range(5))
    axes = sweep(folder, text)
    assert folder.errors(points_of, axes) == [
        "study.yaml:3: sweep: has 59,049 points; 10,000 are the most of one study"
    ]
    text += "".join(f"execution.b{axis}: [1]\n" for axis in range(15))
    assert folder.errors(sweep, folder, text)[0] == "study.yaml:2: sweep: has 20 axes; 16 are the most of one study"


def test_the_manual_has_these_keys_and_examples_that_are_read(folder):
    page = CASE_PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^##+ study: (\S+)\n(.*?)(?=^##)", page + "##", re.MULTILINE | re.DOTALL)
    examples = {key: yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1]) for key, text in found}
    assert [key for key in examples if "." not in key] == KEYS
    for section, known in (("figure", FIGURE_KEYS), ("compare_with", PAPER_KEYS), ("sweep", PLACEMENTS)):
        own = [key.removeprefix(f"{section}.") for key in examples if key.startswith(f"{section}.")]
        assert sorted(own) == sorted(known), section
    whole = {"base": "case.yaml", "sweep": {"threads": [1, 2], "execution.precision": ["double", "single"]}}
    for key, example in examples.items():
        folder.read(yaml.safe_dump(whole | example, sort_keys=False))
    defaults = dict(re.findall(r"^## study: (\S+)\n\n- type: .*\n- default: `(.+)`$", page, re.MULTILINE))
    written = {
        key: yaml.safe_load(text) for key, text in defaults.items() if key in ("repeats", "warmup", "seed", "order")
    }
    bare = folder.read(BASE)
    assert written == {key: getattr(bare, key) for key in ("repeats", "warmup", "order", "seed")}


def test_garbled_studies_end_clearly(folder):
    """Bytes that were changed, taken out or doubled give a study or an error, never anything else."""
    text = (
        'title: "A study"\nbase: case.yaml\nsweep:\n  execution.precision: [double, single]\n  point:\n'
        "    - {label: a, threads: 1, execution.slots: &n 2}\n    - {label: b, ranks: *n}\nreference: {threads: 1}\n"
        "figure: [{x: point, y: time, log: xy}]\ncompare_with: {paper: A, values: {a: 1}}\nbaseline: {point: a}\n"
        "launcher: mpirun -n {ranks} {program}\nreduced: {repeats: 1, sweep.point: [{label: c}]}\ntime_budget: 3 min\n"
    )
    dice = random.Random(7)
    signs = ":-[]{}&*!?|>'\"%@`#,\n\t 0aé\x00=."
    for _ in range(1500):
        garbled = list(text)
        for _ in range(dice.randrange(1, 5)):
            at = dice.randrange(len(garbled))
            garbled[at : at + dice.randrange(3)] = dice.choice(signs) * dice.randrange(3)
        try:
            folder.read("".join(garbled), reduced=dice.random() < 0.5)
        except InputError as error:
            assert str(error)


def test_elements_that_are_taken_out_leave_the_others_their_numbers():
    def changed(*assignments):
        problems = Problems()
        root = parse_yaml("a: [{d: 1}, {d: 2}, {d: 3}]", "s.yaml", problems)
        for assignment in assignments:
            path, value = read_override(assignment, problems)
            put_or_report(root, path, value, problems)
        return yaml.safe_load(to_yaml(root))["a"], [problem.what for problem in problems]

    assert changed("a.0=null", "a.1.d=9") == ([{"d": 9}, {"d": 3}], [])
    assert changed("a.0=null", "a.1=null", "a.2.d=7") == ([{"d": 7}], [])
    assert changed("a.0=null", "a.0.d=7") == ([{"d": 7}, {"d": 2}, {"d": 3}], [])
    assert changed("a.0=null", "a.3=1") == ([{"d": 2}, {"d": 3}], ["a is a list of 3, numbered from 0"])
