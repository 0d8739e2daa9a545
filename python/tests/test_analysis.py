# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import json
from math import isinf, isnan, nan

import pytest
from pytest import approx

from prismfield.study.analysis import (
    FIELD_SETS,
    OPERATIONS,
    analyse,
    bytes_of_pair,
    operations_of_pair,
    point_list,
    sets_of,
    workers_of,
)
from prismfield.study.read_study import read_study
from prismfield.study.study_data import FORMS


def analysed(made, axes):
    made.write_all(axes)
    study = read_study(made.folder)
    analyse(study)
    return study


def point(study, number):
    return next(point for point in study.points if point["id"] == number)


def test_takes_medians_of_timed_runs_only(made):
    made.yaml = "sweep: {threads: [1]}\n"
    made.add_runs(1, ("1",), 1, [5, 1, 4, 2, 3])
    made.add(1, ("1",), 1, 100, kind="warmup")
    made.add(1, ("1",), 1, 200, kind="reference")
    (p,) = analysed(made, ("threads",)).points
    assert p["status"] == "ok"
    assert [p["field_seconds"][key] for key in ("median", "low", "high")] == [3, 1, 5]
    assert p["field_seconds"]["all"] == [5, 1, 4, 2, 3]
    assert p["pairs_per_second"]["median"] == approx(1e9 / 3)
    assert p["total_seconds"]["median"] == approx(3.1)
    assert p["processor_seconds"] is None
    assert p["memory_bytes"] == 50_000_000
    assert p["largest_error"] == 1e-15
    assert p["core_seconds"] == approx(3.2)
    assert isnan(p["energy_joules"])
    # an axis of one value is no scaling
    assert p["speed_up"] is None


def test_computes_rates_that_the_program_did_not_report(made):
    made.yaml = "sweep: {threads: [1]}\n"
    made.add(1, ("1",), 1, 4.0, pairs_per_second=nan)
    assert analysed(made, ("threads",)).points[0]["pairs_per_second"]["median"] == 1e9 / 4


def test_computes_speed_ups_by_hand(made):
    made.yaml = "sweep: {threads: [1, 2, 4]}\n"
    made.add_runs(1, ("1",), 1, [10, 10, 10])
    made.add_runs(2, ("2",), 2, [5.5, 5.5, 5.5])
    made.add_runs(3, ("4",), 4, [2.5, 3, 4])
    study = analysed(made, ("threads",))
    one, two, four = study.points
    assert one["speed_up"] == one["efficiency"] == {"value": 1, "low": 1, "high": 1}
    assert one["karp_flatt"] is None
    assert two["baseline"] == 1
    assert two["speed_up"]["value"] == two["speed_up"]["low"] == approx(10 / 5.5)
    assert two["efficiency"]["value"] == approx(10 / 11)
    assert two["karp_flatt"]["value"] == approx((5.5 / 10 - 0.5) / 0.5, abs=1e-15)
    # of three runs the median of three draws is the least with P(Bin(3, 1/3) >= 2) = 26 %
    assert list(four["speed_up"].values()) == approx([10 / 3, 10 / 4, 10 / 2.5])
    assert four["efficiency"]["high"] == approx(1)
    # the least serial fraction belongs to the largest speed-up
    fractions = [(0.3 - 0.25) / 0.75, 0, (0.4 - 0.25) / 0.75]
    assert list(four["karp_flatt"].values()) == approx(fractions, abs=1e-15)


def test_fits_the_laws_that_made_the_times(made):
    made.yaml = "sweep:\n  execution.precision: [double, single]\n  threads: [1, 2, 4, 8, 16]\n"
    number = 0
    for precision, serial in (("double", 0.1), ("single", 0.02)):
        for n in (1, 2, 4, 8, 16):
            number += 1
            t = 8 * (serial + (1 - serial) / n)
            made.add_runs(number, (precision, str(n)), n, [t, t * 1.01, t * 0.99])
    study = analysed(made, ("execution.precision", "threads"))
    double, single = study.fits
    assert (double["along"], double["key"], double["group"]) == (
        "threads",
        "threads",
        {"execution.precision": "double"},
    )
    assert double["points"] == [1, 2, 3, 4, 5]
    assert double["amdahl"]["serial"] == approx(0.1, abs=1e-12)
    assert double["seconds_of_one"] == approx(8, abs=1e-10)
    assert single["amdahl"]["serial"] == approx(0.02, abs=1e-12)
    # s of 1 - S/n = s (1 - 1/n), S = 1/(0.1 + 0.9/n)
    x = [1 - 1 / n for n in (2, 4, 8, 16)]
    y = [1 - 1 / (0.1 * n + 0.9) for n in (2, 4, 8, 16)]
    assert double["gustafson"]["serial"] == approx(sum(a * b for a, b in zip(x, y)) / sum(a * a for a in x), abs=1e-12)
    for fit in study.fits:
        assert fit["amdahl"]["low"] < fit["amdahl"]["serial"] < fit["amdahl"]["high"]
        # times known to 1 % give the fraction to about that
        assert fit["amdahl"]["high"] - fit["amdahl"]["low"] < 0.03
        assert fit["gustafson"]["low"] < fit["gustafson"]["serial"] < fit["gustafson"]["high"]
    # speed-ups are relative to the same precision
    assert point(study, 7)["baseline"] == 6
    # the same runs, the same intervals
    again = analysed(made, ("execution.precision", "threads"))
    assert again.fits == study.fits
    assert again.points[3]["speed_up"] == study.points[3]["speed_up"]
    made.yaml += "seed: 2\n"
    assert analysed(made, ("execution.precision", "threads")).fits != study.fits


def test_takes_rates_in_weak_scaling(made):
    made.yaml = (
        "weak: true\nscaling: ranks\nsweep:\n"
        "  point: [{ranks: 1, model: a}, {ranks: 4, model: b}, {ranks: 16, model: c}]\n"
    )
    for number, label, ranks, seconds in ((1, "one", 1, 2), (2, "four", 4, 2.5), (3, "sixteen", 16, 2.5)):
        for _ in range(2):
            made.add(
                number,
                (label,),
                1,
                seconds,
                ranks=ranks,
                pairs=10**9 * ranks,
                pairs_per_second=1e9 * ranks / seconds,
                problem=f"p{number}",
            )
    study = analysed(made, ("point",))
    assert point(study, 2)["speed_up"]["value"] == approx(4 * 2 / 2.5)
    assert point(study, 2)["efficiency"]["value"] == approx(0.8)
    (fit,) = study.fits
    assert (fit["along"], fit["key"]) == ("point", "ranks")
    assert fit["amdahl"] is None
    # each efficiency is 0.8: 1 - 0.8 = s (1 - 1/n)
    assert fit["gustafson"]["serial"] == approx(0.2 * (0.75 + 0.9375) / (0.75**2 + 0.9375**2), abs=1e-14)


def test_fits_no_law_through_two_points(made):
    made.yaml = "sweep: {threads: [1, 2]}\n"
    made.add_runs(1, ("1",), 1, [1, 1.1])
    made.add_runs(2, ("2",), 2, [1.2, 1.3])
    assert analysed(made, ("threads",)).fits == []


def test_fits_no_law_where_the_study_wants_none(made):
    made.yaml = "scaling: none\nsweep: {threads: [1, 2, 4]}\n"
    for number, n in enumerate((1, 2, 4), 1):
        made.add_runs(number, (str(n),), n, [8 / n])
    assert analysed(made, ("threads",)).fits == []
    made.yaml = made.yaml.replace("none", "threads")
    assert len(analysed(made, ("threads",)).fits) == 1


def test_keeps_oversubscribed_points_out_of_scaling(made):
    made.yaml = "sweep: {threads: [1, 2, 8, 4]}\n"
    made.add_runs(1, ("1",), 1, [8])
    made.add_runs(2, ("2",), 2, [4])
    made.add(3, ("8",), 8, 3, oversubscribed=True)
    made.add_runs(4, ("4",), 4, [2])
    study = analysed(made, ("threads",))
    p = point(study, 3)
    assert p["oversubscribed"]
    assert p["speed_up"]["value"] == approx(8 / 3)
    assert p["efficiency"] is None and p["karp_flatt"] is None
    (fit,) = study.fits
    assert fit["points"] == [1, 2, 4]
    assert fit["amdahl"]["serial"] == approx(0, abs=1e-14)
    # one run each
    assert "low" not in fit["amdahl"]
    assert "point 3: more ranks x threads than cores, left out of all fits" in study.rules.notes


def test_gives_wrong_points_no_speed(made):
    made.yaml = "sweep: {threads: [1, 2, 4]}\n"
    made.add_runs(1, ("1",), 1, [8] * 5)
    made.add_runs(2, ("2",), 2, [4] * 4)
    made.add(2, ("2",), 2, 4, status="wrong", why="gz is off by 0.1", largest_error=0.1)
    made.leave_out(3, ("4",), "not run", "4 threads, 2 hardware threads are here")
    study = analysed(made, ("threads",))
    _, wrong, left = study.points
    assert (wrong["status"], wrong["why"], wrong["largest_error"]) == ("wrong", "gz is off by 0.1", 0.1)
    assert wrong["field_seconds"] is None
    assert wrong["pairs_per_second"] is None and wrong["speed_up"] is None
    assert left["status"] == "not run"
    # by its label
    assert left["threads"] == 4
    assert study.fits == []
    assert study.rules.notes == [
        "point 3: not run here, left out of all fits",
        "point 2: outside the tolerance, therefore without a speed",
    ]


def test_reports_runs_that_failed_among_good_ones(made):
    made.yaml = "repeats: 3\nsweep: {threads: [1, 2]}\n"
    made.add_runs(1, ("1",), 1, [8, 8, 8])
    vars(made.rows[1]).update(status="failed", why="exit code 1", field_seconds=nan)
    made.add_runs(2, ("2",), 2, [8])
    made.leave_out(2, ("2",), "out of budget", "", repeat=2)
    study = analysed(made, ("threads",))
    one, two = study.points
    assert (one["status"], one["why"], one["field_seconds"]["all"]) == ("ok", "1 of 3 runs failed: exit code 1", [8, 8])
    assert (two["status"], two["why"]) == ("ok", "1 of 2 runs out of budget")
    assert study.rules.budget_forbade
    assert study.rules.notes == [
        "3 repeats are asked for, 5 are the rule",
        "points 1, 2: fewer than 3 timed runs, the time budget was spent",
    ]


def test_judges_points_without_a_timed_run(made):
    made.yaml = "sweep: {threads: [1, 2]}\n"
    made.add(1, ("1",), 1, 8, kind="warmup")
    made.add(2, ("2",), 2, 8, status="failed", why="exit code 1")
    made.add(2, ("2",), 2, 8, status="out of budget")
    one, two = analysed(made, ("threads",)).points
    assert (one["status"], one["why"]) == ("out of budget", "no timed run yet")
    assert (two["status"], two["why"]) == ("failed", "exit code 1")


def test_lists_points_shortly():
    assert point_list([3]) == "point 3"
    assert point_list(list(range(1, 13))) == "points 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"
    assert point_list(list(range(1, 20))) == "points 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 7 more"


def test_keeps_infinite_errors(made):
    made.yaml = "sweep: {threads: [1]}\n"
    made.add(1, ("1",), 1, 8, largest_error=float("inf"))
    made.add(1, ("1",), 1, 8, largest_error=nan)
    assert isinf(analysed(made, ("threads",)).points[0]["largest_error"])


def test_takes_the_baseline_that_the_study_names(made):
    made.yaml = (
        "baseline: {execution.partition: points}\nsweep:\n  execution.partition: [prisms, points]\n"
        "  execution.precision: [double, single]\n"
    )
    made.add_runs(1, ("prisms", "double"), 2, [2])
    made.add_runs(2, ("prisms", "single"), 2, [1])
    made.add_runs(3, ("points", "double"), 2, [6])
    made.add_runs(4, ("points", "single"), 2, [5])
    study = analysed(made, ("execution.partition", "execution.precision"))
    assert [p["speed_up"]["value"] for p in study.points] == approx([3, 5, 1, 1])
    assert study.fits == []


def test_counts_devices_as_workers(made):
    made.yaml = "sweep: {devices: [1, 2, 3]}\n"
    for n, seconds in ((1, 8), (2, 4.4), (3, 3)):
        for _ in range(2):
            made.add(n, (str(n),), 1, seconds, space="cuda", device="A card", ranks=n)
    study = analysed(made, ("devices",))
    assert (point(study, 2)["devices"], workers_of(point(study, 2))) == (2, 2)
    assert point(study, 2)["efficiency"]["value"] == approx(8 / 4.4 / 2)
    assert [fit["key"] for fit in study.fits] == ["devices"]


def test_fits_no_law_to_cores_and_devices_together(made):
    made.yaml = (
        "sweep: {hardware: [{label: core, ranks: 1}, {label: card, ranks: 1}, {label: two cards, ranks: 2, "
        "devices: 2}, {label: three cards, ranks: 3, devices: 3}]}\n"
    )
    made.add_runs(1, ("core",), 1, [100, 100])
    for number, label, seconds in ((2, "card", 8), (3, "two cards", 4.4), (4, "three cards", 3)):
        for _ in range(2):
            made.add(number, (label,), 1, seconds, space="cuda", device="A card", ranks=number - 1)
    study = analysed(made, ("hardware",))
    assert [fit["points"] for fit in study.fits] == [[2, 3, 4]]
    # a core is no baseline of a card's efficiency
    assert point(study, 2)["efficiency"] is None


def test_fits_no_law_to_ranks_that_share_the_cores(made):
    made.yaml = "sweep: {ranks: [1, 2, 4]}\n"
    for number, ranks in enumerate((1, 2, 4), 1):
        for _ in range(2):
            made.add(number, (str(ranks),), 4 // ranks, 1, ranks=ranks)
    study = analysed(made, ("ranks",))
    # four workers each
    assert study.fits == []
    assert point(study, 3)["efficiency"]["value"] == 1


def test_places_points_on_the_roofline(made):
    made.machine = json.dumps(
        {
            "name": "m",
            "calibration": {"openmp": {"peak_double": 4e11, "peak_single": 8e11, "bandwidth": 2e10, "threads": 4}},
        }
    )
    made.yaml = "sweep: {threads: [1, 2]}\n"
    made.add_runs(1, ("1",), 1, [2])
    made.add_runs(2, ("2",), 2, [1])
    for number in (1, 2):
        made.add_error(number, "gz", "mGal", 0, 0, 1, 0)
    one, two = analysed(made, ("threads",)).points
    # 46 operations of gz by the multipole of order 4 in double
    assert (one["double_operations"], one["single_operations"], one["operations"]) == (46e9, 0, 46e9)
    assert one["arithmetic_rate"] == approx(23e9)
    # of one of four threads
    assert one["fraction_of_peak"] == approx(23e9 / 1e11)
    # 8 bytes of three coordinates and of one field there and back, once in 64 prisms
    assert one["roofline"]["intensity"] == approx(46 / (8 * 5 / 64))
    assert one["roofline"]["bound"] == "arithmetic"
    assert two["fraction_of_peak"] == approx(46e9 / 2e11)
    # a memory that is slower than the arithmetic
    made.machine = made.machine.replace("20000000000.0", "1e8")
    assert analysed(made, ("threads",)).points[0]["roofline"]["bound"] == "memory"
    # operations of a product with a stored G are not those of the kernel
    made.yaml += "command: sensitivity\n"
    assert isnan(analysed(made, ("threads",)).points[0]["double_operations"])


def test_counts_operations_of_pairs():
    assert operations_of_pair("corners", "all", "double") == (2507, 0)
    assert operations_of_pair("compact", "tensor", "single") == (0, 924)
    assert isnan(operations_of_pair("compact", "gz", "half")[0])
    assert bytes_of_pair("vector_tensor", "single", 64) == 4 * 21 / 64
    assert isnan(bytes_of_pair("gz", "double", None)) and isnan(bytes_of_pair("gz", "half", 64))
    assert [set(sets) for sets in OPERATIONS.values()] == [set(FIELD_SETS)] * 2
    assert {len(forms) for sets in OPERATIONS.values() for forms in sets.values()} == {len(FORMS)}
    for name, fields in {
        "gz": "gz",
        "vector": "gx",
        "tensor": "guv",
        "vector_tensor": "gz gzz",
        "all": "potential",
        "magnetic": "amplitude",
        "magnetic_gradient": "bx tmi_x",
        "gz magnetic": "gz tmi",
        "tensor magnetic_gradient": "guv bxy",
    }.items():
        assert sets_of(fields.split()) == name.split()
    assert bytes_of_pair("magnetic_gradient", "double", 64) == 8 * 21 / 64


@pytest.mark.parametrize("precision", OPERATIONS)
def test_operations_grow_with_the_fields_and_the_order(precision):
    total = {name: [sum(count) for count in forms] for name, forms in OPERATIONS[precision].items()}
    for less, more in (
        ("gz", "vector"),
        ("vector", "vector_tensor"),
        ("tensor", "vector_tensor"),
        ("vector_tensor", "all"),
        ("tensor", "magnetic"),
        ("magnetic", "magnetic_gradient"),
    ):
        *formulas, corners = zip(total[less], total[more])
        assert all(a < b for a, b in formulas)
        # corners compute one set of a kind
        assert corners[0] <= corners[1]
    for counts in total.values():
        multipoles = counts[FORMS.index("multipole_12") : FORMS.index("multipole_0") + 1]
        assert multipoles == sorted(set(multipoles), reverse=True)
    for forms in OPERATIONS[precision].values():
        # no floats in double precision and no doubles in single
        assert not any(count[precision == "double"] for count in forms)


def test_rates_portability_over_spaces(made):
    made.machine = json.dumps(
        {"name": "m", "calibration": {"openmp": {"peak_double": 1e12}, "serial": {"peak_double": 1e11}}}
    )
    made.yaml = "sweep:\n  execution.kernel: [auto, corners]\n  execution.space: [openmp, serial]\n"
    made.add_runs(1, ("auto", "openmp"), 1, [0.1])
    made.add(2, ("auto", "serial"), 1, 0.8, space="serial")
    made.add_runs(3, ("corners", "openmp"), 1, [1])
    made.leave_out(4, ("corners", "serial"), "failed", "exit code 1")
    for number in (1, 2, 3):
        made.add_error(number, "gz", "mGal", 0, 0, 1, 0)
    architectural, fast, _, slow = analysed(made, ("execution.kernel", "execution.space")).portability
    assert [own["efficiency"] for own in (architectural, fast, slow)] == ["architectural", "application", "application"]
    assert architectural["application"] == fast["application"] == {"execution.kernel": "auto"}
    assert [on["platform"] for on in architectural["platforms"]] == ["m, openmp", "m, serial"]
    efficiencies = [46e9 / 0.1 / 1e12, 46e9 / 0.8 / 1e11]
    assert [on["efficiency"] for on in architectural["platforms"]] == approx(efficiencies)
    assert architectural["value"] == approx(2 / (1 / 0.46 + 1 / 0.575))
    assert fast["value"] == approx(1)
    # it failed on the other one
    assert [on["efficiency"] for on in slow["platforms"]] == approx([0.1, 0])
    assert [on["point"] for on in slow["platforms"]] == [3, None]
    assert slow["value"] == 0


@pytest.mark.parametrize("status, value", [("failed", 0), ("not run", 0), ("out of budget", nan)])
def test_rates_portability_zero_for_a_device_where_runs_failed(made, status, value):
    made.machine = '{"name": "m"}'
    made.yaml = "sweep:\n  execution.kernel: [auto, corners]\n  execution.space: [openmp, cuda]\n"
    made.add_runs(1, ("auto", "openmp"), 1, [0.1])
    made.add(2, ("auto", "cuda"), 1, 0.01, space="cuda", device="a device")
    made.add_runs(3, ("corners", "openmp"), 1, [1])
    # it does not report the device
    made.leave_out(4, ("corners", "cuda"), status, "exit code 1")
    _, fast, _, slow = analysed(made, ("execution.kernel", "execution.space")).portability
    assert fast["platforms"][1]["platform"] == "m, a device"
    assert fast["value"] == 1
    assert slow["platforms"][1]["efficiency"] == approx(value, nan_ok=True)
    assert slow["value"] == approx(value, nan_ok=True)


def test_leaves_out_how_long_a_wrong_point_was_busy(made):
    made.yaml = "sweep: {threads: [1, 2]}\n"
    made.add_runs(1, ("1",), 1, [8, 8])
    made.add_runs(2, ("2",), 2, [4])
    made.add(2, ("2",), 2, 4, status="wrong")
    for number, end in ((1, 8), (2, 4)):
        made.add_rows(number, "busy", {"rank": 0, "slot": 0, "begin": 0, "end": end})
    assert [row["point"] for row in analysed(made, ("threads",)).busy] == [1]


def test_takes_medians_of_measures(made):
    made.yaml = "command: invert\nsweep: {threads: [1]}\n"
    for chi in (3.0, 1.0, 2.0):
        made.add(1, ("1",), 1, 8).chi = chi
    made.write_all(("threads",), with_measures=True)
    study = read_study(made.folder)
    analyse(study)
    assert study.points[0]["chi"] == 2
    assert isnan(study.points[0]["products"])


def test_takes_a_study_without_axes_or_runs(made):
    made.yaml = "base: case.yaml\n"
    assert analysed(made, ()).points == []
    made.add_runs(1, (), 2, [1] * 5)
    study = analysed(made, ())
    assert len(study.points) == 1
    assert study.rules.notes == []
