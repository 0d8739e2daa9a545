# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What is measured of runs: tables, comparisons with the reference, the machine, and processes."""

import json
import math
import os
import subprocess
import sys
import time
from math import inf, nan, pi

import h5py
import numpy as np
import pytest

from prismfield.study.machine import Devices, EnergyMeter, Machine, count_of, machine_json, record_machine
from prismfield.study.program import MEASURE, Stopped, run_measured
from prismfield.study.runs import (
    Unreadable,
    compare_fields,
    difference_of,
    model_difference,
    trace_rows,
)
from prismfield.study.study_data import (
    FORMS,
    MEASURES,
    POINT_TABLES,
    RunRow,
    append_lines,
    axis_column,
    axis_of_column,
    csv_value,
    csv_word,
    point_line,
    read_points,
    read_runs,
    run_header,
    run_line,
)
from prismfield.study.texts import Progress, cut, duration_text

AXES = ["execution.precision", "fields", "point"]
GRAVITY = 6.6743e-11


def full_row():
    return RunRow(
        run=12,
        point=3,
        repeat=2,
        kind="warmup",
        status="wrong",
        why='gz differs, "much"\nindeed',
        started="2026-01-02T03:04:05Z",
        problem="0123456789abcdef",
        values=["double", "[gz, gxx]", " a"],
        space="openmp",
        device="host",
        partition="prisms",
        precision="double",
        kernel="auto",
        method="direct",
        ranks=1,
        threads=2,
        slots=2,
        batch=64,
        block=1,
        pairs=123456789012,
        **{f"pairs_{form}": i + 1 for i, form in enumerate(FORMS)},
        setup_seconds=0.1,
        field_seconds=1 / 3,
        output_seconds=1e-9,
        total_seconds=2.0,
        pairs_per_second=1.23e10,
        busy_least=0.3,
        busy_most=0.4,
        process_seconds=2.5,
        processor_seconds=4.5,
        peak_memory_bytes=1 << 20,
        scratch_bytes=1 << 18,
        energy_joules=17.25,
        load=0.5,
        oversubscribed=True,
        largest_error=1e-12,
    )


def read_back(tmp_path, text):
    (tmp_path / "runs.csv").write_text(text, encoding="utf-8")
    return read_runs(tmp_path / "runs.csv")


def test_every_value_comes_back_bit_by_bit(tmp_path):
    row, empty = full_row(), RunRow(run=13, values=["", "", ""])
    axes, rows, is_cut = read_back(tmp_path, run_header(AXES) + run_line(row) + run_line(empty))
    assert axes == AXES and not is_cut
    row.why = 'gz differs, "much"?indeed'
    assert run_line(rows[0]) == run_line(row)
    assert rows[0].field_seconds == 1 / 3
    assert [vars(rows[0])[f"pairs_{form}"] for form in FORMS] == [i + 1 for i in range(len(FORMS))]
    assert math.isnan(rows[1].field_seconds) and rows[1].pairs == -1
    # all else: a line that was read is the line that was written
    assert run_line(rows[1]) == run_line(empty)


def test_columns_are_those_of_the_manual():
    assert run_header(["threads"]) == (
        "run,point,repeat,kind,status,why,started,problem,axis.threads,space,device,ranks,threads,slots,batch,block,"
        "partition,precision,kernel,method,pairs,setup_seconds,field_seconds,output_seconds,total_seconds,"
        "process_seconds,processor_seconds,pairs_per_second,peak_memory_bytes,scratch_bytes,energy_joules,load,"
        "oversubscribed,largest_error,busy_least,busy_most,pairs_compact,pairs_difference_free,pairs_multipole_12,"
        "pairs_multipole_10,pairs_multipole_8,pairs_multipole_6,pairs_multipole_4,pairs_multipole_2,pairs_multipole_0,"
        "pairs_corners\n"
    )


def test_studies_of_other_commands_have_measures(tmp_path):
    row = full_row()
    vars(row).update({measure.name: 0.1 * (i + 1) for i, measure in enumerate(MEASURES)}, anew_seconds=nan)
    axes, (found,), _ = read_back(tmp_path, run_header(AXES, True) + run_line(row, True))
    assert axes == AXES
    assert run_line(found, True)[20:] == run_line(row, True)[20:]
    assert math.isnan(found.anew_seconds)
    assert found.products == row.products
    # an axis of such a name is another column
    assert axis_of_column(axis_column("chi")) == "chi" and axis_column("chi") == "axis.chi"
    assert read_back(tmp_path, run_header(["chi", "products"]))[0] == ["chi", "products"]


def test_what_is_not_finite_is_empty(tmp_path):
    row = full_row()
    row.largest_error = inf
    assert math.isnan(read_back(tmp_path, run_header(AXES) + run_line(row))[1][0].largest_error)


def test_errors_and_histograms():
    error, histogram = difference_of("gz", "mGal", np.array([1, 1.5, 0.5, 1 + 2e-3]), np.array([1.0, 1, 1, 1]))
    assert (error["field"], error["unit"]) == ("gz", "mGal")
    assert error["rms_difference"] == pytest.approx(0.35355, abs=1e-5)
    assert histogram["lowest"] == -16
    # below the first decade, from 1e-16, ..., from 1
    assert histogram["negative"] == [0] * 16 + [1, 0]
    assert histogram["positive"] == [0] * 14 + [1, 0, 1, 0]
    assert histogram["equal"] == 1


def test_points_come_back_without_a_cut_line(tmp_path):
    points = [{"point": number, **{name: [] for name in POINT_TABLES}} for number in (1, 2)]
    points[1]["errors"] = [{"relative": inf, "field": "gz"}]
    (tmp_path / "points.jsonl").write_text(point_line(points[0]))
    append_lines(tmp_path / "points.jsonl", point_line(points[1]))
    append_lines(tmp_path / "points.jsonl", point_line(points[0])[:-1], sync=False)
    assert read_points(tmp_path / "points.jsonl") == points
    assert read_points(tmp_path / "none.jsonl") == []
    with pytest.raises(OSError):
        append_lines(tmp_path / "no_folder/t.csv", "a\n")


def result(path, places=(0, 1, 2), units="mGal", **fields):
    with h5py.File(path, "w") as file:
        for name in ("easting", "northing", "upward"):
            file[name] = np.array(places, dtype=float)
        for name, values in fields.items():
            file[name] = np.array(values, dtype=float)
            file[name].attrs["units"] = units
    return path


def test_fields_differ_by_parts_of_the_largest_value(tmp_path):
    reference = result(tmp_path / "b.h5", gz=[1, nan, -4], gx=[0, 0, 0])
    one = result(tmp_path / "a.h5", gz=[1, nan, -3], gx=[0, 0, 1e-9])
    ((gx, of_gx), (gz, of_gz)), wrong = compare_fields(one, reference)
    assert wrong == "" and (gx["field"], gx["relative"]) == ("gx", inf)
    assert [gz[key] for key in ("unit", "largest_difference", "largest_reference", "relative")] == ["mGal", 1, 4, 0.25]
    assert gz["rms_difference"] == pytest.approx(math.sqrt(1 / 2), rel=1e-15)
    assert (of_gz["equal"], sum(of_gz["positive"]), sum(of_gz["negative"])) == (1, 1, 0)
    # a value that differs where the reference is 0 counts in the highest decade
    assert of_gx["positive"][-1] == 1
    assert [error["relative"] for error, _ in compare_fields(reference, reference)[0]] == [0, 0]


@pytest.mark.parametrize(
    "change, why",
    [
        ({"gz": [1, 2]}, "gx is missing in the result"),
        ({"gz": [1, nan], "gx": [1, 2]}, "gz: 1 points are NaN in one file only"),
        ({"gz": [1, 2], "gx": [1, 2], "gy": [1, 2]}, "gy is missing in the reference"),
        ({"gz": [1, 2], "gx": [1, 2], "units": "m"}, "gx: units differ from those of the reference"),
        ({"gz": [1, 2], "gx": [1, 2], "places": (0, 2)}, "easting differs from that of the reference"),
    ],
)
def test_what_no_tolerance_allows(tmp_path, change, why):
    reference = result(tmp_path / "b.h5", places=(0, 1), gz=[1, 2], gx=[1, 2])
    assert compare_fields(result(tmp_path / "a.h5", **{"places": (0, 1)} | change), reference)[1] == why


def test_files_that_are_no_result_are_unreadable(tmp_path):
    (tmp_path / "a.h5").write_text("no result")
    for file in ("a.h5", "none.h5"):
        with pytest.raises(Unreadable):
            compare_fields(tmp_path / file, tmp_path / file)


def test_models_differ_by_parts_of_the_largest_density(tmp_path):
    model = result(tmp_path / "m.h5", density=[1, nan, -4, 2])

    def difference(values, reference=model):
        return model_difference(result(tmp_path / "a.h5", density=values), reference)

    assert difference([1, nan, -4, 2]) == 0
    assert difference([1, nan, -4, 3]) == 0.25
    assert difference([1, 0, -4, 2]) == inf
    assert difference([1, nan, -4]) == inf
    nothing = result(tmp_path / "n.h5", density=[0, 0])
    assert difference([0, 0], nothing) == 0
    assert difference([0, 1e-9], nothing) == inf
    with pytest.raises(Unreadable):
        model_difference(result(tmp_path / "f.h5", gz=[1]), model)


def test_the_trace_is_that_of_poisson(tmp_path):
    def poisson(density):
        return -4 * pi * GRAVITY * density * 1e9

    a, b = poisson(300) / 3, poisson(200) / 3
    # inside, inside, outside twice, on a face, without a value
    file = result(tmp_path / "r.h5", gxx=[a, b + 3, 7, 2, 9, nan], gyy=[a, b, -4, -1, 9, 9], gzz=[a, b, -3, -2, 9, 9])
    outside, inside = trace_rows(file, [300, 200, 0, 0, None, 300], GRAVITY)
    assert list(outside.values()) == ["outside", 2, pytest.approx(math.sqrt(0.5)), 1, 7]
    assert inside == {
        "where": "inside",
        "n": 2,
        "rms": pytest.approx(3 / math.sqrt(2)),
        "largest": pytest.approx(3),
        "scale": pytest.approx(-poisson(300)),
    }


def put(root, file, text):
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)


def make_machine(root):
    """Every core has two hardware threads, 0 and 1, 2 and 3, ..."""
    put(root, "etc/os-release", 'NAME=x\nPRETTY_NAME="Debian GNU/Linux 12"\n')
    cpu = "processor\t: 0\nmodel name\t: A processor\nflags\t\t: fpu hypervisor sse\ncpu MHz\t\t: 2000.5\n"
    put(root, "proc/cpuinfo", cpu)
    put(root, "sys/class/dmi/id/sys_vendor", "Maker\n")
    put(root, "sys/class/dmi/id/product_name", "Box\n")
    put(root, "sys/devices/system/node/online", "0-1\n")
    for cpu in os.sched_getaffinity(0):
        folder, first = f"sys/devices/system/cpu/cpu{cpu}", cpu // 2 * 2
        put(root, f"{folder}/topology/thread_siblings_list", f"{first}-{first + 1}\n")
        put(root, f"{folder}/topology/physical_package_id", "0\n")
        for name, text in (("level", "1"), ("type", "Data"), ("size", "48K"), ("shared_cpu_list", "0,2-3")):
            put(root, f"{folder}/cache/index0/{name}", text + "\n")
        put(root, f"{folder}/cpufreq/scaling_cur_freq", "3100000\n")
        put(root, f"{folder}/cpufreq/scaling_governor", "performance\n")


def test_the_machine_is_recorded(tmp_path):
    make_machine(tmp_path)
    machine = record_machine({"version": "1", "devices": [], "host_threads": 2}, "fast", tmp_path)
    record = machine.record
    assert (record["name"], record["system"], record["processor"]) == ("fast", "Debian GNU/Linux 12", "A processor")
    assert (record["hypervisor"], record["numa_nodes"], record["sockets"]) == ("Maker Box", 2, 1)
    assert record["hardware_threads"] == len(os.sched_getaffinity(0)) >= record["cores"]
    assert record["caches"] == [{"level": 1, "type": "Data", "bytes": 48 * 1024, "shared_by": 3}]
    assert record["frequency"]["current"] == 3100 and math.isnan(record["frequency"]["max"])
    assert record["governor"] == "performance" and record["version"] == "1" and "host_threads" not in record
    text = json.loads(machine_json(machine, {"study_hash": "hash", "study_title": "title", "reduced": True}))
    assert text["frequency"]["max"] is None and text["reduced"] is True
    assert text["machine_kind"].startswith("A processor, 1 node x ")


def test_a_system_that_says_nothing_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    machine = record_machine({"devices": ["A card"]}, "", tmp_path)
    assert machine.name == machine.record["host"] and machine.cores == machine.hardware_threads
    assert machine.record["caches"] == [] and machine.record["gpus"][0]["name"] == "A card"
    assert machine.devices == ["A card"]


def test_counts():
    assert [count_of(text) for text in ("0-3,8", "", "0", "x", "0-y")] == [5, 0, 1, 0, 0]
    assert Machine(cores=4, nodes=3).all_cores == 12


class Cards(Devices):
    """Two cards that count their energy, millijoules."""

    def __init__(self):
        self.handles, self.taken = [0, 1], 1000

    def ask(self, call, *arguments):
        return self.taken if call == "nvmlDeviceGetTotalEnergyConsumption" else None


def test_energy_counts_packages_with_their_new_beginnings_and_cards(tmp_path):
    zone = "sys/class/powercap/intel-rapl:0"
    put(tmp_path, f"{zone}/name", "package-0\n")
    put(tmp_path, f"{zone}/energy_uj", "1000000\n")
    put(tmp_path, f"{zone}/max_energy_range_uj", "5000000\n")
    put(tmp_path, f"{zone}:0/name", "core\n")
    put(tmp_path, f"{zone}:0/energy_uj", "7\n")
    cards = Cards()
    meter = EnergyMeter(tmp_path, cards)
    assert meter.description() == "1 processor, devices"
    meter.start()
    put(tmp_path, f"{zone}/energy_uj", "4000000\n")
    meter.look()
    put(tmp_path, f"{zone}/energy_uj", "500000\n")
    cards.taken = 3000
    assert meter.joules() == pytest.approx(3 + 1.5 + 2 * 2)
    meter.start()
    assert meter.joules() == 0
    no_cards = Cards()
    no_cards.handles = []
    assert math.isnan(EnergyMeter(tmp_path / "none", no_cards).joules())


def measured(tmp_path, *words, **keywords):
    with open(tmp_path / "log", "wb") as log:
        outcome = run_measured(list(words), os.environ, log, **keywords)
    return outcome, (tmp_path / "log").read_text()


def test_a_run_is_measured(tmp_path):
    block = 100 << 20
    outcome, log = measured(
        tmp_path, sys.executable, "-c", f"print('out'); x = b'1' * {block}; import sys; sys.exit(5)"
    )
    assert (outcome.code, str(outcome), log) == (5, "ended with 5", "out\n")
    assert 0 < outcome.processor_seconds and 0 < outcome.seconds
    assert block < outcome.peak_memory_bytes < 3 * block
    # what this process held is not the run's
    held = b"1" * (400 << 20)
    outcome, _ = measured(tmp_path, sys.executable, "-c", f"x = b'1' * {block}")
    assert outcome.peak_memory_bytes < len(held)
    assert str(measured(tmp_path, "sh", "-c", "kill -11 $$")[0]) == "was ended by signal 11 (Segmentation fault)"
    outcome, log = measured(tmp_path, "/no/such/program")
    assert (outcome.code, log) == (127, "No such file or directory\n")


def wait_for_end(pid):
    """Waits until a process runs no more: its parent may not have asked for its code yet."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] in "ZX":
                    return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} still runs")


def test_a_run_that_is_stopped_ends_with_its_children(tmp_path):
    log = tmp_path / "log"

    def stop_when_begun():
        if log.read_text().endswith("\n"):
            raise Stopped

    with pytest.raises(Stopped):
        measured(tmp_path, "sh", "-c", "(trap '' TERM; exec sleep 1000) & echo $!; wait", watch=stop_when_begun)
    wait_for_end(int(log.read_text()))


def test_no_run_outlives_its_study(tmp_path):
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, subprocess, sys\n"
            "subprocess.run([sys.executable, '-I', '-S', sys.argv[1], str(os.getpid()), '9', 'sh', '-c',\n"
            "                f'echo $$ > {sys.argv[2]}; exec sleep 1000'])",
            MEASURE,
            str(tmp_path / "pid"),
        ]
    )
    deadline = time.monotonic() + 300
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    run = int((tmp_path / "pid").read_text())
    parent.kill()
    parent.wait()
    wait_for_end(run)


def test_durations_and_lines_fit():
    texts = {0.0005: "0.5 ms", 0.123: "0.12 s", 43: "43 s", 200: "3 min 20 s", 7500: "2 h 5 min", 273600: "3 d 4 h"}
    assert {seconds: duration_text(seconds) for seconds in texts} == texts
    assert duration_text(nan) == duration_text(-1) == "?"
    assert cut("abcdef", 6) == "abcdef" and cut("abcdefg", 6) == "abc..." and cut("üüüüüüü", 6) == "üüü..."
    assert cut("漢漢漢漢", 6) == "漢..."


def test_a_log_has_a_line_a_tenth(capsys):
    with Progress(quiet=False) as progress:
        for i in range(101):
            progress.show(i / 100, f"{i} %")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"progress: {i} %" for i in range(0, 101, 10)]
    with Progress(quiet=True) as progress:
        progress.show(1, "done")
    assert capsys.readouterr().err == ""


def test_words_of_tables_are_no_formulas():
    for text in ("=1+1", "+x", "-x", "@sum", "'=x", "''-5", "plain", "it's", "-5", "+1e3", "-.5"):
        written = csv_value(text)
        assert csv_word(written) == text
        assert written == text if text[-1] in "53" and text[0] != "'" else written[0] not in "=+-@"
