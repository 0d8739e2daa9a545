# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Studies made by hand, of every kind that report.py draws: write(FOLDER) makes FOLDER/NAME/study.json of each."""

import json
import pathlib
import sys

MACHINE = {
    "name": "made",
    "host": "made",
    "system": "Debian GNU/Linux 12",
    "processor": "AMD EPYC 9B45 128-Core Processor",
    "sockets": 1,
    "cores": 4,
    "hardware_threads": 8,
    "caches": [
        {"level": 1, "type": "data", "bytes": 49152, "shared_by": 1},
        {"level": 3, "type": "unified", "bytes": 33554432, "shared_by": 8},
    ],
    "simd": "AVX-512",
    "numa_nodes": 1,
    "memory_bytes": 25_000_000_000,
    "load": 0.4,
    "gpus": [],
    "compiler": "GNU 12.2.0",
    "kokkos": "4.7.00",
    "calibration": {"openmp": {"peak_double": 2.4e11, "peak_single": 4.7e11, "bandwidth": 4.1e10}},
}
GPU = dict(
    MACHINE,
    name="card",
    host="card",
    cores=16,
    gpus=[{"name": "NVIDIA H100 80GB HBM3", "memory": 85_000_000_000, "driver": "580.65"}] * 2,
    calibration={"cuda": {"peak_double": 3.1e13, "peak_single": 6.0e13, "bandwidth": 2.7e12}},
)
FIELDS = ("gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")


def spread(value, share=0.02, factor=1):
    """A median with an interval, as study.json has it."""
    low, high = value * (1 - share), value * (1 + share)
    return {"median": value, "low": low, "high": high, "least": low, "most": high, "all": [low, value, high]}


def ratio(value, share=0.02):
    return {"value": value, "low": value * (1 - share), "high": value * (1 + share)}


def ran(number, labels, seconds, **more):
    pairs = more.pop("pairs", 3779190000)
    point = {
        "id": number,
        "labels": labels,
        "status": "ok",
        "why": "",
        "oversubscribed": False,
        "problem": "p1",
        "runs": 5,
        "field_seconds": spread(seconds),
        "total_seconds": spread(1.02 * seconds),
        "process_seconds": spread(1.1 * seconds),
        "processor_seconds": spread(1.9 * seconds),
        "pairs_per_second": spread(pairs / seconds),
        "ranks": 1,
        "threads": 2,
        "devices": 0,
        "slots": 2,
        "batch": 64,
        "block": 1,
        "space": "openmp",
        "partition": "prisms",
        "precision": "double",
        "kernel": "auto",
        "pairs": pairs,
        "memory_bytes": 120_000_000,
        "energy_joules": None,
        "largest_error": 4e-15,
        "load": 0.3,
        "core_seconds": 2 * seconds,
    }
    point.update(more)
    return point


def gap(number, labels, why, status="not run", **more):
    point = {"id": number, "labels": labels, "status": status, "why": why, "oversubscribed": False, "runs": 0}
    point.update(more)
    return point


def study(title, axes, points, **more):
    data = {
        "schema": "prismfield-study",
        "version": 1,
        "title": title,
        "command": "run",
        "study_hash": "8c1f00d2",
        "program": {"version": "0.1.0", "git": "abc1234"},
        "started": "2026-11-22T00:00:00Z",
        "ended": "2026-11-22T00:20:00Z",
        "reduced": False,
        "machine": MACHINE,
        "rules": {
            "tolerance": 1e-9,
            "repeats": 5,
            "warmup": 1,
            "order": "random",
            "seed": 1,
            "budget_forbade": False,
            "notes": [],
        },
        "axes": [{"name": name, "values": values} for name, values in axes.items()],
        "problems": [{"id": "p1", "hash": "8f2b", "pairs": 3779190000}],
        "points": points,
        "fits": [],
        "errors": [],
        "histograms": [],
        "trace": [],
        "maps": [],
        "portability": [],
        "figures": [],
        "compare_with": [],
    }
    data.update(more)
    return data


def block_size():
    """Numbers on the axis, two spaces of which one is not there, a point that failed, the paper's marks."""
    axes = {
        "execution.space": ["openmp", "cuda"],
        "execution.precision": ["double", "single"],
        "block_size": ["32", "64", "128", "256", "512"],
    }
    points = []
    for space in axes["execution.space"]:
        for precision in axes["execution.precision"]:
            for block in map(int, axes["block_size"]):
                labels = {"execution.space": space, "execution.precision": precision, "block_size": str(block)}
                number = len(points) + 1
                if space == "cuda":
                    points.append(gap(number, labels, "this program has no space cuda"))
                elif precision == "single" and block == 256:
                    points.append(gap(number, labels, "largest difference 3e-2 of the largest value", "wrong"))
                else:
                    seconds = (12 if precision == "double" else 5) * (1 + 20 / block)
                    points.append(
                        ran(number, labels, seconds, block=1, slots=14 * block, memory_bytes=14 * block * 120000 + 30e6)
                    )
    return study(
        "Seven spheres: block size",
        axes,
        points,
        figures=[{"x": "block_size", "y": "field_seconds", "log": "xy"}, {"x": "execution.slots", "y": "memory"}],
        compare_with=[
            {
                "paper": "A1",
                "figure": "7",
                "values": {"double": {"512": 81}, "single": {"512": 37}},
                "note": "One Tesla C2070, 14 blocks",
            },
            {
                "paper": "A3",
                "figure": "8",
                "y": "memory",
                "values": {"double": {"7168": 889e6}, "single": {"7168": 471e6}},
            },
        ],
    )


def threads(machine=MACHINE, speed=1.0, first=1):
    """Scaling with an oversubscribed point, fits and efficiencies."""
    axes = {"execution.kernel": ["auto", "corners"], "threads": ["1", "2", "4", "8"]}
    points, fits = [], []
    for kernel, serial, t1 in (("auto", 0.02, 12), ("corners", 0.004, 900)):
        ids = []
        for n in (1, 2, 4, 8):
            s = 1 / (serial + (1 - serial) / min(n, 4)) * (1.1 if n == 8 else 1)
            labels = {"execution.kernel": kernel, "threads": str(n)}
            point = ran(first + len(points), labels, t1 / s / speed, threads=n, oversubscribed=n == 8, kernel=kernel)
            if n < 8:
                point["speed_up"], point["efficiency"], point["karp_flatt"] = (
                    ratio(s),
                    ratio(s / n),
                    ratio(serial) if n > 1 else None,
                )
                ids.append(point["id"])
            point["arithmetic_rate"], point["fraction_of_peak"] = 6e10 * s / 4 * speed, 0.25 * s / 4
            point["roofline"] = {"intensity": 130 if kernel == "auto" else 900, "bound": "arithmetic"}
            point["machine"] = machine["name"]
            points.append(point)
        law = {"serial": serial, "low": 0.8 * serial, "high": 1.3 * serial}
        fits.append(
            {
                "along": "threads",
                "group": {"execution.kernel": kernel},
                "amdahl": law,
                "seconds_of_one": t1,
                "gustafson": law,
                "points": ids,
            }
        )
    return study(
        "One to eight threads",
        axes,
        points,
        fits=fits,
        machine=machine,
        figures=[{"x": "threads", "y": y} for y in ("field_seconds", "speed_up", "efficiency")],
        compare_with=[
            {
                "paper": "C2",
                "figure": "10",
                "y": "speed_up",
                "values": {"4": 3.9},
                "note": "35 threads of 40 cores: 31.31",
            }
        ],
    )


def joined():
    one, two = threads(), threads(dict(MACHINE, name="larger", cores=16), 1.7, 100)
    data = dict(one, machines=[MACHINE, dict(MACHINE, name="larger", cores=16)], points=one["points"] + two["points"])
    data["fits"] = [
        dict(f, group=dict(f["group"], machine=m)) for m, s in (("made", one), ("larger", two)) for f in s["fits"]
    ]
    data["portability"] = [
        {
            "efficiency": "architectural",
            "problem": "p1",
            "application": {},
            "value": 0.31,
            "platforms": [{"platform": "made", "efficiency": 0.25}, {"platform": "larger", "efficiency": 0.41}],
        },
        {
            "efficiency": "application",
            "problem": "p1",
            "application": {},
            "value": 0.9,
            "platforms": [{"platform": "made", "efficiency": 1.0}, {"platform": "larger", "efficiency": 0.82}],
        },
    ]
    del data["machine"]
    return data


def partitions():
    """An axis of words, the paper's values in its rows."""
    words = ["prisms", "points", "points_per_prism"]
    axes = {"execution.partition": words, "execution.precision": ["double", "single"]}
    points = []
    for word, seconds in zip(words, (12, 13, 60)):
        for precision in axes["execution.precision"]:
            labels = {"execution.partition": word, "execution.precision": precision}
            points.append(ran(len(points) + 1, labels, seconds / (1 if precision == "double" else 2)))
    return study(
        "By prisms or by points",
        axes,
        points,
        figures=[{"x": "execution.partition", "y": "field_seconds"}],
        compare_with=[{"paper": "C1", "figure": "9", "values": {"prisms": 235, "points_per_prism": 757}}],
    )


def nothing_ran():
    axes = {"cards": ["1", "2", "4", "8"]}
    points = [gap(n + 1, {"cards": d}, f"{d} devices, 0 are here") for n, d in enumerate(axes["cards"])]
    return study(
        "One to eight cards",
        axes,
        points,
        figures=[{"x": "cards", "y": "field_seconds"}, {"x": "cards", "y": "speed_up"}],
        compare_with=[{"paper": "A5", "figure": "11", "values": {"1": 81, "4": 23, "8": 13, "29-node cluster": 30}}],
    )


def errors():
    axes = {"execution.kernel": ["corners", "auto"], "execution.precision": ["double", "single"]}
    points, rows = [], []
    sizes = {"corners": (3e-12, 2e-3), "auto": (1e-15, 3e-7)}
    for kernel in axes["execution.kernel"]:
        for precision, size in zip(axes["execution.precision"], sizes[kernel]):
            status = "ok" if size < 1e-3 else "wrong"
            point = ran(
                len(points) + 1, {"execution.kernel": kernel, "execution.precision": precision}, 10, largest_error=size
            )
            point["status"], point["why"] = status, "" if status == "ok" else "gz differs by 1e-3 of its largest value"
            points.append(point)
            for number, field in enumerate(FIELDS):
                own = 0.0 if (kernel, precision, field) == ("auto", "double", "gxy") else size * (1 + 0.3 * number)
                rows.append(
                    {
                        "point": point["id"],
                        "field": field,
                        "unit": "mGal" if number < 3 else "Eotvos",
                        "rms_difference": own,
                        "largest_difference": 4 * own,
                        "largest_reference": 5.0,
                        "relative": 0.8 * own,
                    }
                )
    double = dict(
        zip(
            FIELDS,
            (1.7107e-9, 1.1162e-9, 2.0582e-9, 7.7994e-11, 8.8905e-11, 4.6290e-11, 5.3476e-11, 9.2797e-10, 2.7225e-10),
        )
    )
    single = dict(zip(FIELDS, (0.8929, 0.9275, 1.3080, 0.0385, 0.0392, 0.0310, 0.0743, 0.3085, 0.3148)))
    values = {}
    for name, own in (("double", double), ("single", single)):
        values[f"{name}, as printed"] = own
        values[f"{name} / 122.5"] = {k: v / 15000**0.5 for k, v in own.items()}
    return study(
        "Errors in three precisions",
        axes,
        points,
        errors=rows,
        figures=[{"x": "execution.precision", "y": "error"}],
        compare_with=[
            {
                "paper": "A7",
                "figure": "Tables 1 to 4",
                "y": "errors",
                "values": values,
                "note": "An RMS above the largest error is impossible",
            }
        ],
    )


def histograms():
    axes = {"execution.kernel": ["auto", "corners"], "execution.precision": ["double", "single"]}
    points, rows = [], []
    centres = {("auto", "double"): 1, ("auto", "single"): 9, ("corners", "double"): 4, ("corners", "single"): 15}
    for (kernel, precision), centre in centres.items():
        number = len(points) + 1
        points.append(ran(number, {"execution.kernel": kernel, "execution.precision": precision}, 1))
        for field in ("gxx", "gzz"):
            counts = [int(4000 * 2.0 ** -abs(i - centre)) for i in range(18)]
            rows.append(
                {
                    "point": number,
                    "field": field,
                    "lowest": -16,
                    "negative": counts,
                    "equal": 900,
                    "positive": counts[:],
                }
            )
    return study(
        "Relative differences",
        axes,
        points,
        histograms=rows,
        figures=[],
        compare_with=[
            {
                "paper": "B5",
                "figure": "6",
                "y": "histogram",
                "values": {
                    "double": {
                        "peak's edge −5e-13": -5e-13,
                        "peak's edge 5e-13": 5e-13,
                        "least −5e-10": -5e-10,
                        "most 1e-10": 1e-10,
                    }
                },
            },
            {
                "paper": "B6",
                "y": "share",
                "values": {"single": {"0.1": 0.1}},
                "note": "More than 10 % of the values are off by 0.1 or more",
            },
        ],
    )


def trace():
    axes = {"execution.kernel": ["auto", "corners"], "execution.precision": ["double", "single"]}
    points, rows = [], []
    for kernel in axes["execution.kernel"]:
        for precision in axes["execution.precision"]:
            size = {"autodouble": 1e-15, "autosingle": 1e-7, "cornersdouble": 3e-12, "cornerssingle": 2e-3}[
                kernel + precision
            ]
            points.append(ran(len(points) + 1, {"execution.kernel": kernel, "execution.precision": precision}, 1))
            for where, factor in (("outside", 1), ("inside", 4)):
                rms = 0.0 if (size, where) == (1e-15, "outside") else 800 * size * factor
                rows.append(
                    {"point": len(points), "where": where, "n": 5000, "rms": rms, "largest": 5 * rms, "scale": 800.0}
                )
    return study("Trace of the tensor", axes, points, trace=rows)


def busy():
    axes = {"threads": ["2", "4"]}
    points = [ran(n + 1, {"threads": t}, 12 / int(t), threads=int(t)) for n, t in enumerate(axes["threads"])]
    rows = []
    for point in points:
        for slot in range(point["threads"]):
            end = point["field_seconds"]["median"] * (1 - 0.02 * slot)
            rows += [
                {"point": point["id"], "rank": 0, "slot": slot, "begin": b * end, "end": e * end}
                for b, e in ((0, 0.4), (0.41, 1))
            ]
    return study("Load of every core", axes, points, busy=rows)


def maps(folder):
    """Results as the program writes them, as far as a map needs them; none of them without h5py."""
    axes = {"execution.precision": ["double", "single"]}
    points = [
        ran(n + 1, {"execution.precision": p}, 1, largest_error=e)
        for n, (p, e) in enumerate((("double", 1e-15), ("single", 1e-3)))
    ]
    rows = [{"point": n + 1, "file": f"results/{n + 1}.h5", "fields": list(FIELDS)} for n in range(2)]
    try:
        import h5py
        import numpy as np
    except ImportError:
        return study("Maps", axes, points, maps=rows)
    (folder / "results").mkdir(exist_ok=True)
    easting, northing = np.linspace(0, 22000, 90), np.linspace(0, 22000, 60)
    e, n = np.meshgrid(easting, northing)
    for number, noise in ((1, 0), (2, 2e-3)):
        random = np.random.default_rng(number)
        with h5py.File(folder / f"results/{number}.h5", "w") as file:
            file["easting"], file["northing"], file["upward"] = easting, northing, np.full(e.shape, 100.0)
            for name in ("easting", "northing"):
                file[name].make_scale(name)
            for k, field in enumerate(FIELDS):
                values = np.exp(-((e - 9000 - 500 * k) ** 2 + (n - 11000) ** 2) / 2e7) - (0.5 if k % 2 else 0) * np.exp(
                    -((e - 16000) ** 2 + (n - 8000) ** 2) / 1e7
                )
                file[field] = values + noise * random.standard_normal(values.shape)
                file[field].attrs["units"] = "mGal" if k < 3 else "Eotvos"
                for axis, name in enumerate(("northing", "easting")):
                    file[field].dims[axis].attach_scale(file[name])
    return study("Maps", axes, points, maps=rows)


def write(folder):
    folder = pathlib.Path(folder)
    made = {
        f.__name__: f
        for f in (block_size, threads, joined, partitions, nothing_ran, errors, histograms, trace, busy, maps)
    }
    for name, function in made.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        data = function(folder / name) if name == "maps" else function()
        (folder / name / "study.json").write_text(json.dumps(data), encoding="utf-8")
    return list(made)


if __name__ == "__main__":
    print(*write(sys.argv[1]))
