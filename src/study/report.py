# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws a study: python3 - FOLDER

Reads FOLDER/study.json, and the results that it names for maps, and writes FOLDER/report.html, which needs no other
file, and FOLDER/figures/NAME.png and NAME.svg. The program holds this text and hands it to Python on standard input.
Exit codes: 0 drawn, 77 this Python lacks a module, 1 anything else; the last line of standard error says why.
"""

import sys

# A script from standard input finds modules in the working folder first; a random.py lying there must not be taken.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import base64
import html
import io
import itertools
import json
import math
import os
import pathlib
import re

MISSING_MODULE = 77

# Whatever backend the user's settings name, this draws without a display.
os.environ["MPLBACKEND"] = "Agg"
try:
    import matplotlib
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
except Exception as error:  # modules built for another NumPy fail in many ways
    print(str(error).replace("\n", " "), file=sys.stderr)
    sys.exit(MISSING_MODULE)

# Okabe and Ito's colours, which the colour-blind tell apart; yellow, faint on white, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
GREY = "0.45"
PALE = "0.9"

PAPERS = {
    "A": "Couder-Castañeda et al. 2013",
    "B": "Moorkamp et al. 2010",
    "C": "Couder-Castañeda et al. 2014",
}

# What may stand on the vertical axis: key of a point, name, unit, factor to that unit. Those of SCALING are drawn for
# points that are not oversubscribed alone.
QUANTITIES = {
    "field_seconds": ("field_seconds", "Field time", "s", 1),
    "total_seconds": ("total_seconds", "Total time", "s", 1),
    "time": ("total_seconds", "Total time", "s", 1),
    "process_seconds": ("process_seconds", "Time of the process", "s", 1),
    "processor_seconds": ("processor_seconds", "Processor time", "s", 1),
    "core_seconds": ("core_seconds", "Cost, field time × cores", "core s", 1),
    "pairs_per_second": ("pairs_per_second", "Pairs per second", "", 1),
    "speed_up": ("speed_up", "Speed-up", "", 1),
    "efficiency": ("efficiency", "Efficiency", "%", 100),
    "karp_flatt": ("karp_flatt", "Serial fraction by Karp and Flatt", "%", 100),
    "error": ("largest_error", "Largest error / largest value", "", 1),
    "memory": ("memory_bytes", "Peak memory", "MB", 1e-6),
    "energy": ("energy_joules", "Energy", "J", 1),
    "arithmetic_rate": ("arithmetic_rate", "Arithmetic rate", "GFLOP/s", 1e-9),
    "fraction_of_peak": ("fraction_of_peak", "Share of the measured peak", "%", 100),
}
SCALING = ("speed_up", "efficiency", "karp_flatt")
SPEEDS = set(QUANTITIES) - {"error"}

AXIS_NAMES = {
    "block": "Threads per block",
    "block_size": "Threads per block",
    "blocks": "Blocks of 32 threads",
    "slots": "Slots (grids of their own)",
    "threads": "Threads",
    "ranks": "Ranks",
    "devices": "GPUs",
    "cards": "GPUs",
    "nodes": "Nodes",
    "hardware": "Hardware",
    "computed": "Computed by",
    "batch": "Prisms per batch",
    "pairs": "Prism-point pairs",
    "prisms": "Prisms",
    "cells": "Cells",
    "space": "Execution space",
    "partition": "Partition",
    "precision": "Precision",
    "kernel": "Kernel",
    "balance": "Balance",
    "bind": "Binding of threads",
    "fields": "Fields",
    "machine": "Machine",
}
SYMBOLS = {
    "potential": "$V$",
    "gx": "$g_x$",
    "gy": "$g_y$",
    "gz": "$g_z$",
    "gxx": "$g_{xx}$",
    "gyy": "$g_{yy}$",
    "gzz": "$g_{zz}$",
    "gxy": "$g_{xy}$",
    "gxz": "$g_{xz}$",
    "gyz": "$g_{yz}$",
}
UNITS = {"Eotvos": "Eötvös", "m2 s-2": "m² s⁻²"}
# Axes of counts, and what one of them is called.
COUNTED = {
    "threads": "thread",
    "ranks": "rank",
    "devices": "GPU",
    "cards": "GPU",
    "nodes": "node",
    "slots": "slot",
    "cells": "cell",
    "prisms": "prism",
    "blocks": "block",
}
PARTITIONS = {
    "prisms": "by prisms",
    "points": "by points",
    "points_per_prism": "by points, a region a prism",
}
STATUS_WORDS = {
    "ok": "ran",
    "not run": "not run",
    "failed": "failed",
    "wrong": "outside the tolerance",
    "too slow": "over the limit of a run",
    "out of budget": "out of budget",
}


# ---- the study


def finite(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number_of(text):
    """The number that a text is, or None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def short(value, digits=3):
    """A number for reading: 0.0123, 12.3, 12,300, 1.2e-9."""
    if not finite(value):
        return ""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:,.{decimals}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def plain(text):
    """A text of the study's in a figure: its dollar signs are no formulas."""
    return str(text).replace("$", r"\$")


class Study:
    """study.json, with questions to it. A point knows its machine; without --join there is one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        with open(self.folder / "study.json", encoding="utf-8") as file:
            self.data = json.load(file)
        if self.data.get("schema") != "prismfield-study":
            raise ValueError(f"{self.folder / 'study.json'} is not a study of prismfield")
        if self.data.get("version") != 1:
            raise ValueError(
                f"{self.folder / 'study.json'} has version {self.data.get('version')}, 1 is understood here"
            )
        self.title = str(self.data.get("title") or "Study")
        machines = self.data.get("machines") or [self.data.get("machine") or {}]
        self.machines = [machine for machine in machines if isinstance(machine, dict)] or [{}]
        self.names = [str(m.get("name") or m.get("host") or f"machine {i + 1}") for i, m in enumerate(self.machines)]
        self.axes = {str(axis["name"]): [str(v) for v in axis.get("values", [])] for axis in self.data.get("axes", [])}
        self.points = self.data.get("points", [])
        self.by_id = {point.get("id"): point for point in self.points}
        self.place = {id: place for place, id in enumerate(self.by_id)}
        self.joined = len(self.machines) > 1

    def rows(self, key):
        """The rows of a table that belong to points, in the order of the points, not in that of their runs."""
        found = [row for row in self.data.get(key) or [] if isinstance(row, dict) and row.get("point") in self.by_id]
        return sorted(found, key=lambda row: self.place[row["point"]])

    def machine(self, point):
        """The number of a point's machine."""
        own = point.get("machine", 0)
        if isinstance(own, int) and 0 <= own < len(self.machines):
            return own
        return self.names.index(own) if own in self.names else 0

    def label(self, point, axis):
        """A point's text on an axis, which is an axis of the sweep, a key moved by one, or a property; or None."""
        if axis == "machine":
            return self.names[self.machine(point)]
        labels = point.get("labels") or {}
        if axis in labels:
            return str(labels[axis])
        for text in labels.values():
            found = re.search(rf"(?:^|[\s{{,.]){re.escape(axis)}\s*[:=]\s*([^,}}\]]+)", str(text))
            if found:
                return found[1].strip()
        value = point.get(axis.rsplit(".", 1)[-1])
        return None if value is None or value == -1 or isinstance(value, (dict, list)) else str(value)

    def varying(self, points):
        """The axes on which some points differ, the machine before all."""
        names = (["machine"] if self.joined else []) + list(self.axes)
        return [name for name in names if len({self.label(point, name) for point in points}) > 1]


def quantity(point, name):
    """(value, low, high) of a point's quantity in its unit, or None where it has none."""
    key, _, _, factor = QUANTITIES[name]
    if point.get("status") != "ok" and not (name == "error" and point.get("status") == "wrong"):
        return None
    if name in SCALING and point.get("oversubscribed"):
        return None
    found = point.get(key)
    if isinstance(found, dict):
        middle = found.get("median", found.get("value"))
        low, high = found.get("low"), found.get("high")
    else:
        middle = low = high = found
    if not finite(middle):
        return None
    low, high = (low if finite(low) else middle), (high if finite(high) else middle)
    return middle * factor, low * factor, high * factor


def axis_name(name):
    last = name.rsplit(".", 1)[-1]
    return AXIS_NAMES.get(last, name.replace("_", " "))


def value_text(name, value):
    """A value with as much of its axis' name as it needs to be understood."""
    last = name.rsplit(".", 1)[-1]
    value = str(value)
    if last == "partition":
        return PARTITIONS.get(value, f"partition {value}")
    if last == "kernel":
        return f"kernel {value}"
    if last in COUNTED:
        one = COUNTED[last]
        count = f"{int(value):,}" if value.isdigit() else value
        return f"{count} {one}" if value == "1" else f"{count} {one}s"
    if last in ("space", "precision", "machine", "fields", "point", "hardware", "computed", "grid"):
        return value.strip("[]{}") if value != "auto" else f"{last} auto"
    return f"{axis_name(name).lower() if last in AXIS_NAMES else last} {value}"


def point_text(study, point, axes=None):
    axes = study.varying(study.points) if axes is None else axes
    parts = [value_text(name, study.label(point, name)) for name in axes if study.label(point, name) is not None]
    return ", ".join(parts) or "the case as it stands"


# ---- drawing


class Page:
    """One figure: its title, what stands below it, and its drawing."""

    def __init__(self, name, title, figure, caption=""):
        self.name, self.title, self.figure, self.caption = name, title, figure, caption


def new_page(width=6.6, height=3.9, rows=1, columns=1, **keywords):
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained", **keywords)
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    for one in axes.flat:
        clean(one)
    return figure, axes


def clean(axes):
    axes.tick_params(labelsize=8.5, length=3, width=0.6)
    axes.grid(color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_linewidth(0.6)
        spine.set_visible(side in ("left", "bottom"))


# Inches above the drawing, for title and machine.
HEADING_ROOM = 0.52


def heading(figure, study, title, below=""):
    """The figure's title in bold and, smaller, the machine."""
    machine = "  ·  ".join(study.names) if study.joined else machine_text(study.machines[0])
    text = "  ·  ".join(part for part in (below, machine) if part)
    figure.heading = [
        figure.text(0, 0, plain(title), fontsize=11, fontweight="bold", ha="left", va="top"),
        figure.text(0, 0, plain(text), fontsize=8, color=GREY, ha="left", va="top"),
    ]
    for words in figure.heading:
        words.set_in_layout(False)
    keep_heading(figure)


def keep_heading(figure):
    """Puts the heading to the top left of a page, whatever its size, and cuts what is longer than the page."""
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()
    for words, down in zip(figure.heading, (0.08, 0.3)):
        words.set_position((0.08 / width, 1 - down / height))
    below = figure.heading[1]
    full = getattr(below, "full_text", None) or below.get_text()
    below.full_text, text = full, full
    below.set_text(text)
    while len(text) > 20 and below.get_window_extent(renderer).width > (width - 0.16) * figure.dpi:
        text = text[:-1]
        below.set_text(text.rstrip() + "…")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - HEADING_ROOM / height))


def machine_text(machine):
    """A machine in a few words."""
    parts = []
    if machine.get("processor"):
        name = re.sub(r"\((R|TM|r|tm)\)|\bCPU\b|\b(\d+-Core )?Processor\b|@.*$", "", str(machine["processor"]))
        cores = machine.get("cores")
        parts.append(" ".join(name.split()) + (f", {cores} cores" if cores else ""))
    gpus = [str(gpu.get("name", "GPU")) for gpu in machine.get("gpus") or [] if isinstance(gpu, dict)]
    for name in dict.fromkeys(gpus):
        parts.append(f"{gpus.count(name)} × {name}")
    return "  ·  ".join(parts) or str(machine.get("name") or machine.get("host") or "")


def quantity_label(name):
    _, words, unit, _ = QUANTITIES[name]
    return f"{words} ({unit})" if unit else words


def number_tick(value, _position=None):
    """A tick of a logarithmic axis: 0.01 to 100,000 in digits, else a power."""
    if value <= 0:
        return ""
    exponent = math.log10(value)
    if -3 <= exponent < 5:
        return f"{value:,.10g}"
    whole = math.floor(exponent + 1e-9)
    mantissa = value / 10.0**whole
    return f"$10^{{{whole}}}$" if abs(mantissa - 1) < 1e-6 else f"${mantissa:.3g}\\times10^{{{whole}}}$"


def logarithmic(axis, low, high):
    """Ticks of a logarithmic axis that are neither one alone nor a crowd."""
    decades = math.log10(high / low) if low > 0 else 1
    subs = (1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(number_tick))
    axis.set_minor_locator(NullLocator() if decades > 7 else LogLocator(base=10, subs=range(2, 10), numticks=99))
    axis.set_minor_formatter(NullFormatter())


class Style:
    """Colour and marker of the curves of a figure: the first is the same in every figure."""

    def __init__(self):
        self.order = {}

    def of(self, key):
        number = self.order.setdefault(key, len(self.order))
        colour = COLOURS[number % len(COLOURS)]
        return {
            "color": colour,
            "marker": MARKERS[number % len(MARKERS)],
            "linestyle": ("-", "--", ":")[number // 8 % 3],
        }


def same_text(a, b):
    """Texts that mean one value: 2 and 2.0, double and double."""
    if a is None or b is None:
        return False
    x, y = number_of(a), number_of(b)
    return x == y if x is not None and y is not None else str(a).strip() == str(b).strip()


def comparisons(study, y, first):
    """Those of compare_with that belong to a figure of y; one that names none belongs to the study's first figure."""
    entries = study.data.get("compare_with") or []
    entries = entries if isinstance(entries, list) else [entries]
    for entry in entries:
        if isinstance(entry, dict):
            own = entry.get("y")
            if own == y or (own is None and first):
                yield entry


def source_text(entry):
    """The paper and its figure: Couder-Castañeda et al. 2013, Fig. 7."""
    paper = str(entry.get("paper", ""))
    words = PAPERS.get(paper[:1], paper) if re.fullmatch(r"[ABC]\d+\w*", paper) else paper
    figure = str(entry.get("figure") or "")
    return words + (f", Fig. {figure}" if figure[:1].isdigit() else f", {figure}" if figure else "")


def series_of(entry):
    """(name, {x: value}) of each series of a comparison: one without a name, or several with."""
    values = entry.get("values")
    if not isinstance(values, dict) or not values:
        return []
    if all(isinstance(v, dict) for v in values.values()):
        return [(str(name), {str(k): v for k, v in own.items() if finite(v)}) for name, own in values.items()]
    return [("", {str(k): v for k, v in values.items() if finite(v)})]


PAPER_STYLES = (
    {"marker": "D", "markerfacecolor": "0.25", "markeredgecolor": "0.25"},
    {"marker": "D", "markerfacecolor": "white", "markeredgecolor": "0.25"},
    {"marker": "v", "markerfacecolor": "0.55", "markeredgecolor": "0.25"},
    {"marker": "v", "markerfacecolor": "white", "markeredgecolor": "0.25"},
    {"marker": "P", "markerfacecolor": "0.4", "markeredgecolor": "white"},
    {"marker": "X", "markerfacecolor": "0.4", "markeredgecolor": "white"},
)


def paper_series(study, y, first):
    """(label, {x: value}, style, number) of every series of the papers that belongs to a figure of y."""
    number = itertools.count()
    for entry in comparisons(study, y, first):
        for name, values in series_of(entry):
            if values:
                label = source_text(entry) + (f": {name}" if name else "")
                yield label, values, PAPER_STYLES[next(number) % len(PAPER_STYLES)]


def why_not(points):
    """The reasons why points were not run, the most frequent first."""
    reasons = [str(p.get("why") or STATUS_WORDS.get(p.get("status"), p.get("status"))) for p in points]
    return sorted(dict.fromkeys(reasons), key=lambda text: -reasons.count(text))


def sweep_figure(study, spec, number, used_names):
    """A figure of the study: one quantity against an axis, a curve for each combination of the others."""
    x, y = str(spec.get("x", "")), str(spec.get("y", "field_seconds"))
    if y not in QUANTITIES or not x:
        return None
    points = [p for p in study.points if study.label(p, x) is not None]
    if not points:
        return None
    texts = list(dict.fromkeys(study.label(p, x) for p in points))
    own_order = study.axes.get(x)
    if own_order:
        texts.sort(key=lambda text: own_order.index(text) if text in own_order else len(own_order))
    # An axis that x moves along, as a `point` that holds block and slots, makes no curves.
    curve_axes = [
        name
        for name in study.varying(points)
        if name != x and len({(study.label(p, x), study.label(p, name)) for p in points}) > len(texts)
    ]
    asked = [str(name) for name in spec.get("curves") or []]
    others = [name for name in curve_axes if name not in asked]
    curve_axes = [name for name in asked if name in curve_axes]
    worst_only = y == "error" and bool(asked) and bool(others)
    if not worst_only:
        # Times of different things are never drawn as one; of errors the worst is what counts.
        curve_axes += others
    curves = {}
    for point in points:
        curves.setdefault(tuple(study.label(point, name) for name in curve_axes), []).append(point)
    if worst_only:
        curves = {key: worst_points(study, own, x) for key, own in curves.items()}
    first = number == 0
    numbers = [number_of(text) for text in texts]
    drawn = line_figure if None not in numbers else bar_figure
    figure, caption = drawn(study, spec, x, y, texts, curve_axes, curves, first)
    if worst_only:
        caption = f"The worst over {', '.join(axis_name(name).lower() for name in others)}. {caption}".strip()
    name = f"{y}_by_{x.rsplit('.', 1)[-1]}"
    while name in used_names:
        name += "_"
    return Page(name, f"{QUANTITIES[y][1]} by {axis_name(x).lower()}", figure, caption)


def worst_points(study, points, x):
    """Of the points at each place along x the one with the largest error, or any where none has one."""
    found = {}
    for point in points:
        place, own = study.label(point, x), quantity(point, "error")
        before = quantity(found[place], "error") if place in found else None
        if place not in found or (own and (before is None or own[0] > before[0])):
            found[place] = point
    return list(found.values())


def curve_name(axes, values):
    return ", ".join(value_text(name, value) for name, value in zip(axes, values) if value is not None)


def axis_scales(spec, xs, ys):
    """Whether x and y are logarithmic: as the study says, else by the range of the numbers."""
    log = spec.get("log")
    if log is not None:
        return "x" in str(log), "y" in str(log)
    positive = [v for v in xs if v > 0]
    log_x = len(positive) == len(xs) and len(xs) > 2 and max(xs) >= 32 * min(xs)
    positive = [v for v in ys if v > 0]
    log_y = len(positive) == len(ys) > 0 and max(ys) > 30 * min(ys)
    return log_x, log_y


def line_figure(study, spec, x, y, texts, curve_axes, curves, first):
    figure, ((axes,),) = new_page(7.2, 4.0)
    heading(figure, study, study.title, repeats_text(study))
    style, handles, all_x, all_y, notes = Style(), [], [], [], []
    seen_at, absent, gap_words, marked_x = set(), {}, [], []
    crowded = len(curves) > 1
    marks = list(paper_series(study, y, first))
    for values, points in curves.items():
        looks = style.of(values)
        points = sorted(points, key=lambda p: number_of(study.label(p, x)))
        xs = np.array([number_of(study.label(p, x)) for p in points])
        found = [quantity(p, y) for p in points]
        over = np.array([bool(p.get("oversubscribed")) for p in points])
        good = np.array([f is not None for f in found])
        name = plain(curve_name(curve_axes, values) or QUANTITIES[y][1])
        all_x += list(xs)
        if not good.any():
            missing = [p for p in points if p.get("status") != "ok"]
            absent.setdefault(why_not(missing)[0] if missing else "oversubscribed", []).append(name)
            continue
        middle, low, high = (np.array([f[i] if f else np.nan for f in found]) for i in range(3))
        seen_at.update(xs[good])
        all_y += list(low[good]) + list(high[good])
        line = np.where(over, np.nan, middle)
        axes.plot(xs, line, linewidth=1.5, markersize=0, **{k: v for k, v in looks.items() if k != "marker"})
        errors = np.abs(np.vstack([middle - low, high - middle]))
        for some, face in ((good & ~over, looks["color"]), (good & over, "white")):
            if some.any():
                axes.errorbar(
                    xs[some],
                    middle[some],
                    yerr=errors[:, some] if errors[:, some].any() else None,
                    fmt=looks["marker"],
                    color=looks["color"],
                    markerfacecolor=face,
                    markersize=5,
                    elinewidth=1,
                    capsize=2.5,
                    zorder=3,
                )
        law = amdahl_line(axes, study, x, curve_axes, values, xs[good], looks["color"]) if y == "speed_up" else None
        if law and crowded:
            name += f" ({law[1].split(' (')[0]})"
        handles.append((Line2D([], [], markersize=5, linewidth=1.5, **looks), name))
        if law and not crowded:
            handles.append(law)
        if (good & over).any():
            notes.append("oversubscribed")
        # A curve's own gap, where others have a value: a cross on the lower edge in its colour.
        gaps = [(xi, p) for xi, ok, p in zip(xs, good, points) if not ok and p.get("status") != "ok"]
        if gaps and crowded:
            gap_words += [STATUS_WORDS.get(p.get("status"), "not run") for _, p in gaps]
            axes.plot(
                [xi for xi, _ in gaps],
                [0.012] * len(gaps),
                "x",
                color=looks["color"],
                markersize=5,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
            )
    for label, values, looks in marks:
        at = {number_of(k): v * paper_factor(y) for k, v in values.items() if number_of(k) is not None}
        level = {k: v * paper_factor(y) for k, v in values.items() if number_of(k) is None}
        all_y += list(at.values()) + list(level.values())
        all_x += list(at)
        marked_x += list(at)
        if at:
            axes.plot(list(at), list(at.values()), linestyle="none", markersize=6.5, zorder=4, **looks)
            handles.append((Line2D([], [], linestyle="none", markersize=6.5, **looks), plain(label)))
        for name, value in level.items():
            axes.axhline(value, color="0.35", linewidth=1, linestyle=(0, (5, 2)), zorder=1)
            handles.append(
                (Line2D([], [], color="0.35", linewidth=1, linestyle=(0, (5, 2))), plain(f"{label}: {name}"))
            )
    if y == "speed_up" and seen_at and is_count(x):
        start = min(seen_at)
        ends = np.array([start, max([*seen_at, *marked_x])])
        axes.plot(ends, ends / start, color="0.6", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        handles.append((Line2D([], [], color="0.6", linewidth=1, linestyle=(0, (4, 3))), "ideal"))
        all_y.append(ends[-1] / start)
    if y == "efficiency":
        axes.axhline(100, color="0.6", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        all_y.append(100)
    log_x, log_y = axis_scales(spec, all_x, all_y)
    scale_x(axes, sorted(set(all_x)), sorted({number_of(t) for t in texts}), log_x)
    scale_y(axes, all_y, log_y, y)
    show_gaps(axes, study, curves, x, seen_at, log_x)
    axes.set_xlabel(plain(axis_name(x)), fontsize=9.5)
    axes.set_ylabel(quantity_label(y), fontsize=9.5)
    if "oversubscribed" in notes:
        handles.append(
            (Line2D([], [], linestyle="none", marker="o", color=GREY, markerfacecolor="white"), "oversubscribed")
        )
    if gap_words:
        cross = Line2D([], [], linestyle="none", marker="x", color=GREY, markersize=5)
        handles.append((cross, ", ".join(dict.fromkeys(gap_words))))
    if seen_at:
        for why, names in absent.items():
            handles.append(
                (Line2D([], [], linestyle="none"), f"not run: {'; '.join(names)} ({plain(shorten(why, 60))})")
            )
    show_legend(figure, axes, handles)
    return figure, figure_caption(study, y, first, notes)


def is_count(x):
    return x.rsplit(".", 1)[-1] in ("threads", "ranks", "devices", "cards", "nodes")


def paper_factor(y):
    """The papers' values are given in the units of study.json: bytes, shares."""
    return QUANTITIES[y][3]


def shorten(text, longest):
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def amdahl_line(axes, study, x, curve_axes, values, xs, colour):
    """Draws the speed-up that Amdahl's law allows with the serial fraction that was fitted, and the band of its
    interval; its entry of the legend, or None."""
    wanted = dict(zip(curve_axes, values))
    for fit in study.data.get("fits") or []:
        group = fit.get("group") or {}
        law = fit.get("amdahl") or {}
        other = any(not same_text(group[k], wanted[k]) for k in wanted if k in group)
        if fit.get("along") != x or other or not finite(law.get("serial")):
            continue
        fine = np.linspace(min(xs), max(xs), 100)
        n = fine / min(xs)

        def speed_up(serial):
            return 1 / (serial + (1 - serial) / n)

        text = f"Amdahl: {short(100 * law['serial'], 2)} \N{NO-BREAK SPACE}% serial"
        if finite(law.get("low")) and finite(law.get("high")):
            axes.fill_between(fine, speed_up(law["high"]), speed_up(law["low"]), color=colour, alpha=0.13, linewidth=0)
            text += f" ({short(100 * law['low'], 2)} to {short(100 * law['high'], 2)}\N{NO-BREAK SPACE}%)"
        axes.plot(fine, speed_up(law["serial"]), color=colour, linewidth=0.9, linestyle=(0, (1, 1.5)))
        return Line2D([], [], color=colour, linewidth=0.9, linestyle=(0, (1, 1.5))), text
    return None


def scale_x(axes, all_x, ticks, log_x):
    low, high = min(all_x), max(all_x)
    if log_x:
        axes.set_xscale("log")
        ratio = (high / low) ** 0.04 if high > low else 1.5
        axes.set_xlim(low / ratio, high * ratio)
        if len(ticks) <= 9 and all(b >= 1.25 * a for a, b in zip(ticks, ticks[1:])):
            axes.xaxis.set_major_locator(FixedLocator(ticks))
            axes.xaxis.set_major_formatter(FuncFormatter(number_tick))
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            logarithmic(axes.xaxis, low, high)
        return
    room = 0.04 * (high - low) or 0.5
    axes.set_xlim(low - room, high + room)
    apart = 0.045 * (high - low)
    if len(ticks) <= 12 and all(b - a >= apart for a, b in zip(ticks, ticks[1:])):
        axes.xaxis.set_major_locator(FixedLocator(ticks))
    else:
        axes.xaxis.set_major_locator(
            MaxNLocator(8, steps=[1, 2, 5, 10], integer=all(float(t).is_integer() for t in ticks))
        )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}"))


def scale_y(axes, all_y, log_y, y):
    values = [v for v in all_y if finite(v)]
    if not values:
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_locator(NullLocator())
        return
    low, high = min(values), max(values)
    if log_y and low > 0:
        axes.set_yscale("log")
        ratio = max((high / low) ** 0.08, 1.12)
        axes.set_ylim(low / ratio, high * ratio)
        logarithmic(axes.yaxis, low, high)
        return
    axes.set_ylim(min(0, low), 1.08 * high if high > 0 else 1)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    if high >= 1e5 and y != "speed_up":
        exponent = 3 * math.floor(math.log10(high) / 3)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / 10.0**exponent:,.6g}"))
        _, words, unit, _ = QUANTITIES[y]
        axes.annotate(
            f"$10^{{{exponent}}}$",
            (0, 1),
            (-4, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8.5,
            ha="right",
            va="bottom",
        )
    else:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.6g}"))


def show_gaps(axes, study, curves, x, seen_at, log_x):
    """A pale band where no curve has a value, with why; words alone where the whole figure has none."""
    every = [p for points in curves.values() for p in points]
    if not seen_at:
        gone = [point for point in every if point.get("status") != "ok"]
        words = ["not run here:", *(shorten(w, 60) for w in why_not(gone)[:2])] if gone else ["nothing to compare"]
        axes.text(
            0.5,
            0.5,
            plain("\n".join(words)),
            transform=axes.transAxes,
            ha="center",
            va="center",
            fontsize=9.5,
            color=GREY,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            zorder=5,
        )
        return
    empty = {}
    for point in every:
        at = number_of(study.label(point, x))
        if at not in seen_at and (point.get("status") != "ok" or point.get("oversubscribed")):
            empty.setdefault(at, []).append(point)
    low, high = axes.get_xlim()
    for at, points in empty.items():
        if log_x:
            half = (high / low) ** 0.013
            axes.axvspan(at / half, at * half, color="0.93", linewidth=0, zorder=0)
        else:
            half = 0.013 * (high - low)
            axes.axvspan(at - half, at + half, color="0.93", linewidth=0, zorder=0)
        words = (
            STATUS_WORDS.get(points[0].get("status"), "not run")
            if points[0].get("status") != "ok"
            else "oversubscribed"
        )
        axes.text(
            at,
            0.97,
            words,
            transform=axes.get_xaxis_transform(),
            rotation=90,
            ha="center",
            va="top",
            fontsize=7.5,
            color=GREY,
            zorder=1,
        )


def show_legend(figure, axes, handles):
    """The legend to the right of everything; the page grows by its width."""
    if len(handles) < 2 and not any("not run" in label for _, label in handles):
        if not handles or handles[0][1] in (q[1] for q in QUANTITIES.values()):
            return
    width, height = figure.get_size_inches()
    top = 1 - HEADING_ROOM / height
    legend = figure.legend(
        [handle for handle, _ in handles],
        [wrap_label(label) for _, label in handles],
        loc="upper right",
        bbox_to_anchor=(1, top),
        fontsize=8,
        frameon=False,
        handlelength=2.2,
        labelspacing=0.7,
        borderaxespad=0.3,
    )
    legend.set_in_layout(False)
    box = legend.get_window_extent(figure.canvas.get_renderer())
    room, tall = box.width / figure.dpi + 0.12, box.height / figure.dpi + HEADING_ROOM + 0.15
    figure.set_size_inches(width + room, max(height, tall))
    keep_heading(figure)
    whole = figure.get_figheight()
    legend.set_bbox_to_anchor((1, 1 - HEADING_ROOM / whole))
    figure.get_layout_engine().set(rect=(0, 0, width / (width + room), 1 - HEADING_ROOM / whole))


def wrap_label(label, width=30):
    """A legend's label in lines of some thirty characters."""
    lines, line = [], ""
    for word in label.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def repeats_text(study):
    rules = study.data.get("rules") or {}
    repeats = rules.get("repeats")
    if not repeats:
        return ""
    return "one run each" if repeats == 1 else f"median of {repeats}, 95 % intervals"


def figure_caption(study, y, first, notes=()):
    sentences = []
    for entry in comparisons(study, y, first):
        if entry.get("note"):
            sentences.append(f"{source_text(entry)}: {str(entry['note']).strip()}")
    if "oversubscribed" in notes:
        sentences.append("Hollow points have more threads than cores and are on no curve.")
    return " ".join(s if s.endswith(".") else s + "." for s in sentences)


def bar_figure(study, spec, x, y, texts, curve_axes, curves, first):
    """Values of an axis that are no numbers: a row each, bars from zero, or points where the range is large."""
    marks = list(paper_series(study, y, first))
    rows = list(texts) + [k for _, values, _ in marks for k in values if not any(same_text(k, t) for t in texts)]
    rows = list(dict.fromkeys(rows))
    n = max(len(curves), 1)
    height = 1.25 + len(rows) * (0.24 + 0.2 * n)
    figure, ((axes,),) = new_page(7.2, min(max(height, 2.4), 11))
    heading(figure, study, study.title, repeats_text(study))
    style, handles, found_y = Style(), [], []
    for values, points in curves.items():
        for p in points:
            if quantity(p, y):
                found_y += list(quantity(p, y))
    found_y += [v * paper_factor(y) for _, values, _ in marks for v in values.values()]
    _, log = axis_scales({"log": spec["log"]} if spec.get("log") is not None else {}, [1], found_y)
    log = log and min(found_y, default=1) > 0
    low = min(found_y, default=1) / 2
    thickness = 0.8 / n
    notes = []
    for c, (values, points) in enumerate(curves.items()):
        looks = style.of(values)
        name = curve_name(curve_axes, values)
        for point in points:
            row = texts.index(study.label(point, x)) + (c - (n - 1) / 2) * thickness
            found = quantity(point, y)
            if found is None:
                words = STATUS_WORDS.get(point.get("status"), "") if point.get("status") != "ok" else "oversubscribed"
                why = point.get("why") if point.get("status") != "ok" else ""
                axes.text(
                    0.01,
                    row,
                    plain(shorten(f"{words}: {why}" if why else words, 70)),
                    fontsize=7.5,
                    color=GREY,
                    va="center",
                    transform=axes.get_yaxis_transform(),
                )
                continue
            middle, least, most = found
            over = bool(point.get("oversubscribed"))
            if log:
                axes.plot([low, middle], [row, row], color=looks["color"], linewidth=1, alpha=0.5)
                axes.plot(
                    [middle],
                    [row],
                    looks["marker"],
                    color=looks["color"],
                    markersize=6,
                    markerfacecolor="white" if over else looks["color"],
                )
            else:
                axes.barh(
                    row,
                    middle,
                    0.86 * thickness,
                    color="white" if over else looks["color"],
                    linewidth=1,
                    edgecolor=looks["color"],
                )
            if most > least:
                axes.plot(
                    [least, most],
                    [row, row],
                    color="0.15",
                    linewidth=1.1,
                    solid_capstyle="butt",
                    zorder=1.9 if log else 4,
                )
            unit = QUANTITIES[y][2]
            text = short(middle) + (f" {unit}" if unit else "") + (" (oversubscribed)" if over else "")
            axes.annotate(text, (max(most, middle), row), (5, 0), textcoords="offset points", fontsize=8, va="center")
        if name:
            handles.append((Patch(color=looks["color"]), plain(name)))
    for label, values, looks in marks:
        at = [(v * paper_factor(y), next(i for i, r in enumerate(rows) if same_text(r, k))) for k, v in values.items()]
        axes.plot(*zip(*at), linestyle="none", markersize=6.5, zorder=5, clip_on=False, **looks)
        handles.append((Line2D([], [], linestyle="none", markersize=6.5, **looks), plain(label)))
    axes.set_yticks(range(len(rows)), [wrap_label(plain(row_text(x, row)), 26) for row in rows])
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    if log:
        axes.set_xscale("log")
        axes.set_xlim(low, max(found_y) * 3)
        logarithmic(axes.xaxis, low, max(found_y))
    else:
        axes.set_xlim(0, 1.2 * max(found_y, default=1))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        if not found_y:
            axes.xaxis.set_major_locator(NullLocator())
        elif max(found_y) >= 1e5:
            axes.xaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.set_xlabel(quantity_label(y), fontsize=9.5)
    show_legend(figure, axes, handles)
    return figure, figure_caption(study, y, first, notes)


def row_text(x, row):
    return value_text(x, row) if x.rsplit(".", 1)[-1] in ("partition", "kernel", "precision", "space", "point") else row


# ---- figures of one kind


def roofline_figure(study):
    placed = []
    for point in study.points:
        intensity, rate = (point.get("roofline") or {}).get("intensity"), quantity(point, "arithmetic_rate")
        if finite(intensity) and intensity > 0 and rate and rate[0] > 0 and not point.get("oversubscribed"):
            placed.append((point, intensity, rate))
    roofs = {}
    for m, machine in enumerate(study.machines):
        for space, own in (machine.get("calibration") or {}).items():
            if isinstance(own, dict) and finite(own.get("bandwidth")):
                roofs[m, str(space)] = own
    roofs = {key: own for key, own in roofs.items() if any(on_roof(study, p, key) for p, _, _ in placed)}
    if not placed or not roofs:
        return None
    figure, ((axes,),) = new_page(7.2, 4.2)
    heading(figure, study, study.title, "roofline of the measured peak and bandwidth")
    handles, style = [], Style()
    xs = [intensity for _, intensity, _ in placed]
    ridge = [
        own[k] / own["bandwidth"]
        for own in roofs.values()
        for k in ("peak_double", "peak_single")
        if finite(own.get(k))
    ]
    low, high = min(xs + ridge) / 4, max(xs + ridge) * 6
    grid = np.geomspace(low, high, 200)
    top = []
    for number, ((m, space), own) in enumerate(roofs.items()):
        colour, peaks = ("0.2", "0.5", "0.65")[number % 3], []
        for key, dash, words in (("peak_double", "-", "double"), ("peak_single", (0, (4, 2)), "single")):
            if not finite(own.get(key)):
                continue
            roof = np.minimum(grid * own["bandwidth"], own[key]) * 1e-9
            axes.plot(grid, roof, color=colour, linewidth=1.3, linestyle=dash)
            top.append(own[key] * 1e-9)
            peaks.append(f"{short(own[key] * 1e-9)} {words}")
        where = f"{study.names[m]}, {space}" if study.joined else space
        text = f"{where}: {', '.join(peaks)} (dashed) GFLOP/s, {short(own['bandwidth'] * 1e-9)} GB/s"
        handles.append((Line2D([], [], color=colour, linewidth=1.3), plain(text)))
    varying = study.varying([p for p, _, _ in placed])
    colour_axes = [
        name for name in varying if name.rsplit(".", 1)[-1] in ("machine", "space", "precision", "kernel", "fields")
    ]
    for point, intensity, (rate, least, most) in placed:
        key = tuple(study.label(point, name) for name in colour_axes)
        fresh = key not in style.order
        looks = style.of(key)
        axes.errorbar(
            [intensity],
            [rate],
            yerr=[[rate - least], [most - rate]],
            fmt=looks["marker"],
            color=looks["color"],
            markersize=6,
            elinewidth=1,
            capsize=2,
            zorder=3,
        )
        if fresh:
            name = curve_name(colour_axes, key) or "runs"
            handles.append(
                (Line2D([], [], linestyle="none", marker=looks["marker"], color=looks["color"]), plain(name))
            )
    rates = [rate for _, _, (rate, _, _) in placed]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(min(rates + [min(top) / 20]) / 2, max(top) * 2)
    logarithmic(axes.xaxis, low, high)
    logarithmic(axes.yaxis, *axes.get_ylim())
    axes.set_xlabel("Operations per byte (FLOP/B)", fontsize=9.5)
    axes.set_ylabel("Arithmetic rate (GFLOP/s)", fontsize=9.5)
    show_legend(figure, axes, handles)
    return Page(
        "roofline",
        "Roofline",
        figure,
        "Operations are those of the kernel's own forms, counted; the roofs were measured in the same study.",
    )


def on_roof(study, point, key):
    return (study.machine(point), str(point.get("space"))) == key


def errors_of(study):
    """{point: {field: row}} of the errors against the reference."""
    found = {}
    for row in study.rows("errors"):
        if finite(row.get("rms_difference")):
            found.setdefault(row["point"], {})[row.get("field")] = row
    return found


def errors_figure(study):
    found = errors_of(study)
    chosen = list(found)
    if not chosen:
        return None
    # Many runs of one problem differ in ways that errors hardly know: then a bar each of what they do know.
    axes_of = study.varying([study.by_id[i] for i in chosen])
    telling = [a for a in axes_of if a.rsplit(".", 1)[-1] in ("machine", "precision", "kernel", "space", "partition")]
    if len(chosen) > 8 and telling:
        worst = {}
        for i in chosen:
            key = tuple(study.label(study.by_id[i], a) for a in telling)
            size = max(row["rms_difference"] for row in found[i].values())
            if key not in worst or size > worst[key][0]:
                worst[key] = (size, i)
        chosen, axes_of = [i for _, i in worst.values()], telling
    dropped = max(0, len(chosen) - 8)
    chosen = chosen[:8]
    fields = [f for f in SYMBOLS if any(f in found[i] for i in chosen)]
    groups = [
        [f for f in fields if f == "potential"],
        [f for f in fields if len(f) == 2],
        [f for f in fields if len(f) == 3],
    ]
    groups = [g for g in groups if g]
    figure, axes = new_page(
        9.4, 4.2, 1, len(groups), width_ratios=[len(g) + 0.6 for g in groups], sharey=len(groups) == 1
    )
    heading(figure, study, study.title, "RMS difference from the reference")
    marks = [(l, v, s) for l, v, s in paper_series(study, "errors", False)]
    style, handles = Style(), []
    for i in chosen:
        looks = style.of(i)
        handles.append((Patch(color=looks["color"]), plain(point_text(study, study.by_id[i], axes_of))))
    handles += [(Line2D([], [], linestyle="none", markersize=6, **looks), plain(label)) for label, _, looks in marks]
    thickness = 0.82 / len(chosen)
    bounds = []
    for group, own in zip(groups, axes.flat):
        values = [found[i][f]["rms_difference"] for i in chosen for f in group if f in found[i]]
        values += [v[f] for _, v, _ in marks for f in group if f in v]
        values = [v for v in values if v > 0]
        bounds += [min(values, default=1e-16), max(values, default=1.0)]
    low, high = 10 ** (math.floor(math.log10(min(bounds))) - 0.5), 10 ** math.ceil(math.log10(max(bounds)) + 0.2)
    for group, own in zip(groups, axes.flat):
        own.set_yscale("log")
        own.set_ylim(low, high)
        for c, i in enumerate(chosen):
            for f, field in enumerate(group):
                row = found[i].get(field)
                if row is None:
                    continue
                at = f + (c - (len(chosen) - 1) / 2) * thickness
                if row["rms_difference"] > 0:
                    own.bar(at, row["rms_difference"], 0.9 * thickness, color=COLOURS[c % len(COLOURS)], linewidth=0)
                else:
                    own.text(at, low * 1.3, "0", ha="center", va="bottom", fontsize=7, color=COLOURS[c % len(COLOURS)])
        for _, values, looks in marks:
            at = [(f, values[field]) for f, field in enumerate(group) if field in values]
            if at:
                own.plot(*zip(*at), linestyle="none", markersize=5.5, zorder=5, **looks)
        unit = next((found[i][group[0]].get("unit", "") for i in chosen if group[0] in found[i]), "")
        own.set_xticks(range(len(group)), [SYMBOLS[f] for f in group], fontsize=11)
        own.set_xlim(-0.6, len(group) - 0.4)
        own.grid(False, axis="x")
        own.tick_params(axis="x", length=0)
        own.set_ylabel(f"RMS difference ({UNITS.get(unit, unit)})", fontsize=9.5)
        own.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        own.yaxis.set_minor_locator(NullLocator())
    show_legend(figure, axes.flat[-1], handles)
    caption = figure_caption(study, "errors", False)
    if len(found) > len(chosen) and not dropped:
        caption = f"The worst of the points that differ in nothing else. {caption}"
    if dropped:
        caption += f" {dropped} more points are in the table."
    return Page("errors", "Errors by field", figure, caption.strip())


def decade_names(lowest, n):
    return [f"<$10^{{{lowest}}}$"] + [f"$10^{{{lowest + i - 1}}}$" for i in range(1, n)]


def pooled_histograms(study, most=8):
    """{text: (lowest, negative, equal, positive), texts of labels}, fields added up. Where there are more than `most`,
    points that differ in their problem alone are added up too, as a paper's five random models are."""
    rows = study.rows("histograms")
    points = {row["point"]: study.by_id[row["point"]] for row in rows}

    def within_a_problem(name):
        seen = {}
        for point in points.values():
            seen.setdefault(point.get("problem"), set()).add(study.label(point, name))
        return any(len(labels) > 1 for labels in seen.values())

    within = study.varying(list(points.values()))
    others = [name for name in within if not within_a_problem(name)]
    for name in sorted(others, key=lambda name: -len({study.label(point, name) for point in points.values()})):
        if len({tuple(study.label(point, axis) for axis in within) for point in points.values()}) > most:
            within.remove(name)
    pooled, labels = {}, {}
    for row in rows:
        point = points[row["point"]]
        text = point_text(study, point, within)
        negative, positive = np.array(row["negative"], float), np.array(row["positive"], float)
        if text in pooled:
            lowest, n, e, p = pooled[text]
            pooled[text] = (lowest, n + negative, e + row.get("equal", 0), p + positive)
        else:
            pooled[text] = (int(row.get("lowest", -16)), negative, row.get("equal", 0), positive)
            labels[text] = [study.label(point, name) for name in within]
    return pooled, labels


def histogram_place(value, lowest, n):
    """Where a signed relative difference stands on the axis of decades: equal at 0, 10^lowest at 1."""
    size = min(max(math.log10(abs(value)) - lowest + 1, 0.5), n)
    return math.copysign(size + 0.5, value)


def histogram_figure(study):
    pooled, labels = pooled_histograms(study)
    if not pooled:
        return None
    chosen = list(pooled)[:8]
    columns = 1 if len(chosen) == 1 else 2
    rows = math.ceil(len(chosen) / columns)
    figure, axes = new_page(4.9 * columns + 0.6, 2.5 * rows + 0.8, rows, columns, sharex=True, sharey=True)
    heading(figure, study, study.title, "relative differences from the reference, all fields and points together")
    marks = [(entry, series) for entry in comparisons(study, "histogram", False) for series in series_of(entry)]
    for number, (i, own) in enumerate(itertools.zip_longest(chosen, axes.flat)):
        if i is None:
            own.set_visible(False)
            continue
        lowest, negative, equal, positive = pooled[i]
        n = len(positive)
        counts = np.concatenate([negative[::-1], [equal], positive])
        share = 100 * counts / max(counts.sum(), 1)
        places = np.arange(-n, n + 1)
        colour = np.array([COLOURS[1]] * n + ["0.55"] + [COLOURS[0]] * n)
        shown = share > 0
        own.bar(places[shown], share[shown], 0.86, color=colour[shown], linewidth=0)
        own.set_yscale("log")
        smallest = 100 / max(counts.sum(), 1)
        # Room above for the words of what a paper shows.
        own.set_ylim(max(smallest / 2, 1e-6), 5000 if marks else 250)
        own.yaxis.set_major_locator(FixedLocator([10.0**k for k in range(-6, 3, 1 if smallest > 1e-3 else 2)]))
        own.yaxis.set_major_formatter(FuncFormatter(number_tick))
        own.yaxis.set_minor_locator(NullLocator())
        large = negative[n - 2 :].sum() + positive[n - 2 :].sum()
        text = f"{i}: {short(100 * large / max(counts.sum(), 1), 2)} % off by 0.1 or more"
        own.set_title(plain(text), fontsize=9, loc="left")
        steps = list(range(5, n, 4))
        ticks = [-s - 0.5 for s in reversed(steps)] + [0] + [s + 0.5 for s in steps]
        words = (
            [f"$-10^{{{lowest + s - 1}}}$" for s in reversed(steps)]
            + ["equal"]
            + [f"$10^{{{lowest + s - 1}}}$" for s in steps]
        )
        own.set_xticks(ticks, words, fontsize=7.5)
        own.set_xlim(-n - 0.7, n + 0.7)
        own.grid(False, axis="x")
        for entry, (name, values) in marks:
            if name and not any(same_text(name, label) for label in labels[i]):
                continue
            for what, value in values.items():
                at = histogram_place(value, lowest, n)
                own.axvline(at, color="0.25", linewidth=1, linestyle=(0, (4, 2)))
                own.annotate(
                    plain(what),
                    (at, 0.97),
                    (3 if value > 0 else -3, 0),
                    xycoords=own.get_xaxis_transform(),
                    textcoords="offset points",
                    rotation=90,
                    va="top",
                    ha="left" if value > 0 else "right",
                    fontsize=7,
                    color="0.25",
                    bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
                )
        if number % columns == 0:
            own.set_ylabel("Share of values (%)", fontsize=9.5)
        if number >= len(chosen) - columns:
            own.set_xlabel("Relative difference", fontsize=9.5)
            own.tick_params(labelbottom=True)
    caption = figure_caption(study, "histogram", False)
    if marks:
        caption += " Dashed lines: what the paper's figure shows."
    return Page("histogram", "Relative differences", figure, caption.strip())


def exceedance_figure(study):
    """The share of values that are off by at least so much: what a single-precision run is worth, at a glance."""
    pooled, _ = pooled_histograms(study)
    if len(pooled) < 2:
        return None
    figure, ((axes,),) = new_page(7.2, 3.9)
    heading(figure, study, study.title, "all fields and points together")
    style, handles = Style(), []
    lowest_share = 100.0
    for i, (lowest, negative, equal, positive) in pooled.items():
        counts = negative + positive
        total = counts.sum() + equal
        if total == 0:
            continue
        share = 100 * np.cumsum(counts[::-1])[::-1] / total
        sizes = 10.0 ** (lowest + np.arange(len(counts)) - 1)
        looks = style.of(i)
        shown = (share > 0) & (np.arange(len(counts)) > 0)
        lowest_share = min(lowest_share, 100 / total)
        axes.plot(sizes[shown], share[shown], markersize=4.5, linewidth=1.5, **looks)
        handles.append((Line2D([], [], markersize=4.5, linewidth=1.5, **looks), plain(i)))
    for label, values, looks in paper_series(study, "share", False):
        at = [(number_of(k), 100 * v) for k, v in values.items() if number_of(k)]
        axes.plot(*zip(*at), linestyle="none", markersize=7, zorder=5, **looks)
        handles.append((Line2D([], [], linestyle="none", markersize=7, **looks), plain(label)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(max(lowest_share / 2, 1e-6), 170)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1,), numticks=10))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("Relative difference from the reference", fontsize=9.5)
    axes.set_ylabel("Values off by at least that (%)", fontsize=9.5)
    show_legend(figure, axes, handles)
    return Page("share_off", "How many values are off by how much", figure, figure_caption(study, "share", False))


def trace_figure(study):
    rows = [r for r in study.rows("trace") if finite(r.get("rms"))]
    if not rows:
        return None
    order = list(dict.fromkeys(r["point"] for r in rows))
    names = study.varying([study.by_id[i] for i in order])
    figure, ((axes,),) = new_page(7.2, 1.5 + 0.52 * len(order))
    heading(figure, study, study.title, "gxx + gyy + gzz against Poisson's equation")
    colours = {"outside": COLOURS[0], "inside": COLOURS[1]}
    shift = {"outside": -0.15, "inside": 0.15}
    every = []
    for r in rows:
        scale = r.get("scale") if finite(r.get("scale")) and r.get("scale") else 1.0
        at = order.index(r["point"]) + shift.get(r.get("where"), 0)
        rms, largest = abs(r["rms"] / scale), abs((r.get("largest") or 0) / scale)
        colour = colours.get(r.get("where"), "0.4")
        if largest > 0:
            axes.plot([max(rms, 1e-18), largest], [at, at], color=colour, linewidth=1.2)
            axes.plot([largest], [at], "|", color=colour, markersize=9, markeredgewidth=1.6)
            every.append(largest)
        if rms > 0:
            axes.plot([rms], [at], "o" if r.get("where") == "outside" else "s", color=colour, markersize=6)
            every.append(rms)
        else:
            axes.text(
                0.01, at, "exactly 0", transform=axes.get_yaxis_transform(), fontsize=7.5, color=colour, va="center"
            )
    axes.set_yticks(range(len(order)), [wrap_label(plain(point_text(study, study.by_id[i], names)), 28) for i in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xscale("log")
    low, high = min(every, default=1e-16), max(every, default=1)
    axes.set_xlim(low / 4, high * 4)
    logarithmic(axes.xaxis, low, high)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(r"|trace − expected| / scale  (outside: 0; inside: $-4\pi G\rho$)", fontsize=9.5)
    handles = [
        (Line2D([], [], linestyle="none", marker=m, color=colours[w]), f"{w}, RMS")
        for w, m in (("outside", "o"), ("inside", "s"))
        if any(r.get("where") == w for r in rows)
    ]
    handles.append(
        (Line2D([], [], linestyle="none", marker="|", color=GREY, markersize=9, markeredgewidth=1.6), "largest")
    )
    show_legend(figure, axes, handles)
    return Page("trace", "Trace of the tensor", figure, figure_caption(study, "trace", False))


def busy_figure(study):
    rows = study.rows("busy")
    if not rows:
        return None
    order = list(dict.fromkeys(r["point"] for r in rows))[:6]
    names = study.varying([study.by_id[i] for i in order])
    workers = {i: sorted({(r["rank"], r["slot"]) for r in rows if r["point"] == i}) for i in order}
    heights = [min(max(len(workers[i]), 2), 24) for i in order]
    figure, axes = new_page(7.2, 0.9 + sum(0.2 * h + 0.62 for h in heights), len(order), 1, height_ratios=heights)
    heading(figure, study, study.title, "when slots or devices worked")
    for i, own in zip(order, axes.flat):
        mine = [r for r in rows if r["point"] == i]
        end = max(max(r["end"] for r in mine), (quantity(study.by_id[i], "field_seconds") or [0])[0])
        scale, unit = (1e3, "ms") if end < 0.5 else (1, "s")
        begin = min(0, min(r["begin"] for r in mine))
        busy = 0.0
        for row, (rank, slot) in enumerate(workers[i]):
            spans = [
                (scale * r["begin"], scale * (r["end"] - r["begin"]))
                for r in mine
                if (r["rank"], r["slot"]) == (rank, slot)
            ]
            busy += sum(width for _, width in spans) / scale
            own.broken_barh(spans, (row - 0.4, 0.8), color=COLOURS[rank % 7], linewidth=0)
        last = max(r["end"] for r in mine)
        share = 100 * busy / ((last - begin) * len(workers[i])) if last > begin else 0
        own.set_title(
            plain(f"{point_text(study, study.by_id[i], names)}: busy {share:.1f} % of the time"), fontsize=9, loc="left"
        )
        labels = [
            f"rank {r}" if s < 0 else (f"slot {s}" if len({w[0] for w in workers[i]}) == 1 else f"rank {r}, slot {s}")
            for r, s in workers[i]
        ]
        step = max(1, math.ceil(len(labels) / 16))
        own.set_yticks(range(0, len(labels), step), labels[::step], fontsize=7.5)
        own.set_ylim(len(labels) - 0.4, -0.6)
        own.set_xlim(scale * begin, scale * last * 1.01)
        own.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        own.grid(False, axis="y")
        own.tick_params(axis="y", length=0)
        own.set_xlabel(f"Time since the fields began ({unit})", fontsize=9)
    return Page("busy", "Load of every slot over time", figure, figure_caption(study, "busy", False))


def portability_figure(study):
    """Efficiencies of each platform, and their harmonic mean, as Pennycook et al. define performance portability."""
    rows = [r for r in study.data.get("portability") or [] if isinstance(r, dict)]
    panels = []
    for row in rows:
        platforms = row.get("platforms") or []
        if isinstance(platforms, dict):
            platforms = [{"machine": name, "efficiency": value} for name, value in platforms.items()]
        pairs = [(str(p.get("machine") or p.get("platform")), p.get("efficiency", p.get("value"))) for p in platforms]
        if pairs:
            panels.append((row, pairs))
    if not panels:
        return None
    panels = panels[:8]
    names = list(dict.fromkeys(name for _, pairs in panels for name, _ in pairs))
    figure, ((axes,),) = new_page(7.2, 1.5 + 0.42 * len(panels) * max(1, 0.45 * len(names)))
    heading(figure, study, study.title, "performance portability")
    style, handles = Style(), []
    for name in names:
        looks = style.of(name)
        handles.append((Patch(color=looks["color"]), plain(name)))
    thickness = 0.8 / len(names)
    for row_number, (row, pairs) in enumerate(panels):
        for name, value in pairs:
            at = row_number + (names.index(name) - (len(names) - 1) / 2) * thickness
            if finite(value):
                axes.barh(at, 100 * value, 0.88 * thickness, color=style.of(name)["color"], linewidth=0)
                axes.text(
                    1 if value > 0.1 else 100 * value + 1,
                    at,
                    f"{100 * value:.3g} %",
                    va="center",
                    fontsize=8,
                    color="white" if value > 0.1 else "0.2",
                )
            else:
                axes.text(0.5, at, "not run", va="center", fontsize=7.5, color=GREY)
        whole = row.get("value", row.get("portability"))
        if finite(whole):
            axes.plot([100 * whole] * 2, [row_number - 0.45, row_number + 0.45], color="black", linewidth=1.8)
    if any(finite(row.get("value", row.get("portability"))) for row, _ in panels):
        handles.append((Line2D([], [], color="black", linewidth=1.8), "portability (harmonic mean)"))
    words = []
    for row, _ in panels:
        kept = ", ".join(value_text(str(k), v) for k, v in (row.get("application") or {}).items())
        several = len({str(other.get("problem")) for other, _ in panels}) > 1
        problem = f"problem {str(row.get('problem'))[:8]}" if several and row.get("problem") else ""
        kind = f"{row.get('efficiency') or ''} efficiency".strip()
        words.append(", ".join(part for part in (kind, kept, problem) if part))
    axes.set_yticks(range(len(panels)), [wrap_label(plain(w), 30) for w in words])
    axes.set_ylim(len(panels) - 0.5, -0.5)
    axes.set_xlim(0, 112)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Efficiency (%)", fontsize=9.5)
    show_legend(figure, axes, handles)
    return Page(
        "portability",
        "Performance portability",
        figure,
        "Architectural: share of the machine's limit; application: share of the best that was measured on it.",
    )


# ---- maps


def read_map(path, fields):
    """(easting, northing, {field: (values, unit)}) of a grid's result, coordinates in km; by h5py or netCDF4."""
    try:
        import h5py
    except Exception:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            names = [f for f in fields if f in file.variables and file[f].ndim == 2]
            found = {f: (np.array(file[f][...], float), str(file[f].units)) for f in names}
            return np.array(file["easting"][...]) / 1e3, np.array(file["northing"][...]) / 1e3, found
    with h5py.File(path) as file:
        names = [f for f in fields if f in file and file[f].ndim == 2]
        unit = {f: file[f].attrs.get("units", "") for f in names}
        unit = {f: u.decode() if isinstance(u, bytes) else str(u) for f, u in unit.items()}
        return (
            file["easting"][...] / 1e3,
            file["northing"][...] / 1e3,
            {f: (file[f][...].astype(float), unit[f]) for f in names},
        )


def map_colours(values):
    top = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
    if top == 0:
        return {"cmap": "RdBu_r", "vmin": -1, "vmax": 1}
    low, high = np.nanmin(values), np.nanmax(values)
    if low < 0 < high and min(-low, high) > 1e-3 * top:
        return {"cmap": "RdBu_r", "vmin": -top, "vmax": top}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def scaled(values, unit):
    """Values and unit with a power of ten taken out, so that every tick is a short number."""
    top = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
    unit = UNITS.get(unit, unit)
    if top == 0 or 0.01 <= top < 1e4:
        return values, unit
    exponent = 3 * math.floor(math.log10(top) / 3)
    return values / 10.0**exponent, f"$10^{{{exponent}}}$ {unit}"


def draw_map(figure, own, easting, northing, values, unit, title):
    values, unit = scaled(values, unit)
    half_e = (easting[-1] - easting[0]) / max(len(easting) - 1, 1) / 2
    half_n = (northing[-1] - northing[0]) / max(len(northing) - 1, 1) / 2
    extent = (easting[0] - half_e, easting[-1] + half_e, northing[0] - half_n, northing[-1] + half_n)
    image = own.imshow(
        values, origin="lower", extent=extent, interpolation="nearest", aspect="equal", **map_colours(values)
    )
    own.grid(False)
    for spine in own.spines.values():
        spine.set_visible(True)
    bar = figure.colorbar(image, ax=own, shrink=0.9, pad=0.02, aspect=22)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7, length=2, width=0.5)
    bar.locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    bar.update_ticks()
    bar.ax.set_title(unit, fontsize=7.5, loc="right", pad=5)
    own.set_title(title, fontsize=10, loc="left", pad=5)
    own.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    own.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def label_outer(axes):
    for row in axes:
        for own in row:
            own.label_outer()
    for own in axes[-1]:
        own.set_xlabel("Easting (km)", fontsize=8.5)
    for row in axes:
        row[0].set_ylabel("Northing (km)", fontsize=8.5)


def map_pages(study, problems):
    """All components of the first point, what the others differ by, and zooms where roughness shows."""
    loaded = []
    for row in study.rows("maps"):
        path = study.folder / str(row.get("file"))
        try:
            fields = [f for f in SYMBOLS if f in (row.get("fields") or SYMBOLS)]
            easting, northing, values = read_map(path, fields)
        except Exception as error:
            problems.append(f"no maps of {row.get('file')}: {type(error).__name__}: {error}")
            continue
        if values and len(easting) > 1 and len(northing) > 1:
            loaded.append((row["point"], easting, northing, values))
    # Maps of different problems, as of two heights, have nothing to be subtracted from each other.
    groups = {}
    for entry in loaded:
        groups.setdefault((study.by_id[entry[0]].get("problem"), entry[1].size, entry[2].size), []).append(entry)
    for number, group in enumerate(groups.values()):
        yield from pages_of_problem(study, group, f"_{number + 1}" if len(groups) > 1 else "")


def pages_of_problem(study, loaded, suffix):
    """The fields of the most exact point, what up to three others differ by, the worst first, and zooms."""
    names = study.varying([study.by_id[i] for i, *_ in loaded])
    everywhere = study.varying([study.by_id[row["point"]] for row in study.rows("maps")])
    which = point_text(study, study.by_id[loaded[0][0]], [name for name in everywhere if name not in names])
    which = f", {which}" if suffix else ""

    def called(i):
        return point_text(study, study.by_id[i], names)

    def error(entry):
        found = study.by_id[entry[0]].get("largest_error")
        return found if finite(found) else math.inf

    ordered = sorted(loaded, key=error)
    base, others = ordered[0], ordered[:0:-1][:3]
    first, easting, northing, values = base
    yield nine_maps(
        study, f"maps{suffix}", f"The fields: {called(first)}{which}", easting, northing, values, called(first) + which
    )
    for number, (i, _, _, own) in enumerate(others):
        difference = {f: (own[f][0] - values[f][0], values[f][1]) for f in own if f in values}
        words = f"{called(i)} less {called(first)}{which}"
        name = f"map_differences{suffix}_{number + 1}"
        yield nine_maps(study, name, f"Differences: {words}", easting, northing, difference, words)
    for field in [f for f in ("gz", "gzz") if f in values] or list(values)[:1]:
        page = zoom_page(study, field, base, others, called, suffix, which)
        if page:
            yield page


def nine_maps(study, name, title, easting, northing, values, words):
    rows = [
        [f for f in group if f in values]
        for group in (("potential",), ("gx", "gy", "gz"), ("gxx", "gyy", "gzz"), ("gxy", "gxz", "gyz"))
    ]
    rows = [row for row in rows if row]
    columns = max(map(len, rows))
    ratio = (northing[-1] - northing[0]) / (easting[-1] - easting[0])
    width = {1: 5.0, 2: 4.0}.get(columns, 3.1)
    figure, axes = new_page(
        width * columns + 0.5, (width - 0.75) * ratio * len(rows) + 0.4 * len(rows) + 0.9, len(rows), columns
    )
    heading(figure, study, study.title, words)
    for row, fields in zip(axes, rows):
        for own, field in itertools.zip_longest(row, fields):
            if field is None:
                own.set_visible(False)
            else:
                draw_map(figure, own, easting, northing, values[field][0], values[field][1], SYMBOLS[field])
    label_outer(axes)
    return Page(name, title, figure)


def roughness(values):
    """RMS of what a map departs by from the mean of a node's four neighbours."""
    inner = values[1:-1, 1:-1] - (values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:]) / 4
    return float(np.sqrt(np.nanmean(inner**2)))


def zoom_page(study, field, base, others, called, suffix, which):
    """The part of the map where the field varies least, by lines of equal value: rough where rounding shows."""
    first, easting, northing, values = base
    others = [entry for entry in others if field in entry[3]][:3]
    if not others or len(easting) < 16 or len(northing) < 16:
        return None
    reference, unit = values[field]
    # A square of a sixth of the map, and of twelve nodes at least.
    steps = [abs(axis[-1] - axis[0]) / (len(axis) - 1) for axis in (easting, northing)]
    side = max(abs(easting[-1] - easting[0]) / 6, 11 * max(steps))
    wide, high = (min(len(axis), round(side / step) + 1) for axis, step in zip((easting, northing), steps))
    best, corner = math.inf, (0, 0)
    # Near the largest value, as the papers zoom, and there where the field is flattest.
    top = np.unravel_index(np.nanargmax(np.abs(reference)), reference.shape)
    for j in range(max(0, top[0] - high), min(len(northing) - high, top[0]) + 1):
        for i in range(max(0, top[1] - wide), min(len(easting) - wide, top[1]) + 1):
            window = reference[j : j + high, i : i + wide]
            span = np.nanmax(window) - np.nanmin(window)
            if span < best:
                best, corner = span, (j, i)
    j, i = corner
    window = slice(j, j + high), slice(i, i + wide)
    e, n = easting[window[1]], northing[window[0]]
    shown = [(first, reference[window])] + [(entry[0], entry[3][field][0][window]) for entry in others]
    figure, axes = new_page(2.75 * len(shown) + 0.4, 5.4, 2, len(shown), height_ratios=[1.3, 1])
    heading(
        figure,
        study,
        study.title,
        f"{field} zoomed: easting {e[0]:.3g} to {e[-1]:.3g} km, northing {n[0]:.3g} to {n[-1]:.3g} km{which}",
    )
    levels = MaxNLocator(14).tick_values(np.nanmin(shown[0][1]), np.nanmax(shown[0][1]))
    middle = shown[0][1].shape[0] // 2
    smooth = shown[0][1]
    for column, (point, own_values) in enumerate(shown):
        own = axes[0][column]
        own.contourf(e, n, own_values, levels=levels, cmap="viridis", extend="both")
        own.contour(e, n, own_values, levels=levels, colors="black", linewidths=0.5, linestyles="solid")
        own.set_aspect("equal")
        own.grid(False)
        rough = roughness(own_values - smooth) if column else 0.0
        size = UNITS.get(unit, unit)
        own.set_title(wrap_label(plain(called(point)), 26), fontsize=9, loc="left")
        own.xaxis.set_major_locator(MaxNLocator(4))
        own.yaxis.set_major_locator(MaxNLocator(5))
        own.set_xlabel("Easting (km)", fontsize=8.5)
        below = axes[1][column]
        if column == 0:
            own.set_ylabel("Northing (km)", fontsize=8.5)
            below.plot(e, own_values[middle], color=COLOURS[0], linewidth=1.4)
            below.set_ylabel(f"{SYMBOLS[field]}, middle row ({size})", fontsize=8.5)
            below.yaxis.set_major_locator(MaxNLocator(5))
        else:
            difference = own_values[middle] - smooth[middle]
            difference, label = scaled(difference, unit)
            below.axhline(0, color="0.6", linewidth=0.7)
            below.plot(e, difference, color=COLOURS[column % 7], linewidth=1, marker="o", markersize=2.5)
            below.set_ylabel(f"difference ({label})", fontsize=8.5)
            below.set_title(plain(f"roughness {short(rough, 2)} {size}"), fontsize=8.5, loc="left")
            below.yaxis.set_major_locator(MaxNLocator(5))
        below.set_xlabel("Easting (km)", fontsize=8.5)
        below.xaxis.set_major_locator(MaxNLocator(4))
    return Page(
        f"zoom_{field}{suffix}",
        f"Zoom of {field}",
        figure,
        "Above: lines of equal value where the field is flattest beside its extreme. Below: the middle row, and what "
        "the others differ by along it. Roughness is the RMS departure of that difference from the mean of a "
        "node's four neighbours.",
    )


# ---- all figures of a study


def default_figures(study):
    """For a study.json that resolved none: time against the axis with the most numbers."""
    numeric = [name for name, values in study.axes.items() if len(values) > 1 and None not in map(number_of, values)]
    names = numeric or [name for name, values in study.axes.items() if len(values) > 1] or list(study.axes)
    if not names:
        return []
    x = max(names, key=lambda name: len(study.axes[name]))
    found = [{"x": x, "y": "field_seconds"}]
    if x in ("threads", "ranks", "devices"):
        found += [{"x": x, "y": "speed_up"}, {"x": x, "y": "efficiency"}]
    return found


def all_pages(study, problems):
    used = set()
    specs = [spec for spec in study.data.get("figures") or default_figures(study) if isinstance(spec, dict)]
    for number, spec in enumerate(specs):
        page = sweep_figure(study, spec, number, used)
        if page is None:
            problems.append(f"no figure of {spec.get('y', 'field_seconds')} by {spec.get('x')}: no point has them")
            continue
        used.add(page.name)
        yield page
    for draw in (
        roofline_figure,
        errors_figure,
        histogram_figure,
        exceedance_figure,
        trace_figure,
        busy_figure,
        portability_figure,
    ):
        page = draw(study)
        if page is not None:
            yield page
    yield from map_pages(study, problems)


# ---- the page

CSS = """
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; max-width: 1060px; margin: 2em auto;
  padding: 0 1.2em; }
h1 { font-size: 1.7em; margin-bottom: 0.1em; }
h2 { font-size: 1.2em; margin-top: 2.2em; border-bottom: 1px solid #ddd; }
.sub, figcaption, .note { color: #666; font-size: 0.9em; }
figure { margin: 1.6em 0; } figure img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86em; margin: 0.8em 0; }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid #888; padding: 3px 12px 3px 0;
  vertical-align: bottom; }
td { border-bottom: 1px solid #eee; padding: 3px 12px 3px 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.gap td { color: #888; }
"""


def cell(value):
    """Text of a table, numbers to the right."""
    text, numeric = value if isinstance(value, tuple) else (value, False)
    return f'<td class="n">{html.escape(text)}</td>' if numeric else f"<td>{html.escape(str(text))}</td>"


def table(heads, rows, pale=()):
    if not rows:
        return ""
    numeric = [isinstance(value, tuple) for value in rows[0]]
    parts = ['<div class="wide"><table><thead><tr>']
    parts += [
        f'<th class="n">{html.escape(h)}</th>' if n else f"<th>{html.escape(h)}</th>" for h, n in zip(heads, numeric)
    ]
    parts.append("</tr></thead><tbody>")
    for number, row in enumerate(rows):
        parts.append(f'<tr{" class=gap" if number in pale else ""}>' + "".join(map(cell, row)) + "</tr>")
    return "".join(parts) + "</tbody></table></div>"


def right(text):
    return (str(text), True)


def with_interval(found, digits=3, unit=""):
    if found is None:
        return right("")
    middle, low, high = found
    text = short(middle, digits) + unit
    return right(text if low == high else f"{text} [{short(low, digits)}, {short(high, digits)}]")


def points_table(study):
    axes = study.varying(study.points) or list(study.axes)
    wanted = [
        "field_seconds",
        "total_seconds",
        "pairs_per_second",
        "speed_up",
        "efficiency",
        "memory",
        "error",
        "fraction_of_peak",
        "energy",
    ]
    shown = [q for q in wanted if any(quantity(p, q) for p in study.points)]
    heads = [axis_name(a) for a in axes] + ["Runs"] + [quantity_label(q) for q in shown] + ["State"]
    rows, pale = [], set()
    for number, point in enumerate(study.points):
        row = []
        for a in axes:
            text = study.label(point, a) or ""
            row.append(right(text) if number_of(text) is not None else text)
        row.append(right(point.get("runs") or 0))
        row += [with_interval(quantity(point, q)) for q in shown]
        state = STATUS_WORDS.get(point.get("status"), str(point.get("status")))
        if point.get("oversubscribed"):
            state += ", oversubscribed"
        if point.get("status") != "ok":
            pale.add(number)
            state += f": {point['why']}" if point.get("why") else ""
        rows.append(row + [state])
    # A column is set to the right when the first row's cell is: one of texts alone must not decide for numbers.
    return table(heads, rows, pale)


def fits_table(study):
    rows = []
    for fit in study.data.get("fits") or []:
        group = ", ".join(value_text(k, v) for k, v in (fit.get("group") or {}).items())
        row = [axis_name(str(fit.get("along"))), group]
        for law in ("amdahl", "gustafson"):
            own = fit.get(law) or {}
            serial = own.get("serial")
            if finite(serial):
                row.append(
                    with_interval((100 * serial, 100 * own.get("low", serial), 100 * own.get("high", serial)), 2, " %")
                )
            else:
                row.append(right(""))
        rows.append(row + [right(len(fit.get("points") or []))])
    return table(["Along", "For", "Serial fraction by Amdahl", "by Gustafson", "Points"], rows)


def errors_table(study):
    found = errors_of(study)
    if not found:
        return ""
    names = study.varying([study.by_id[i] for i in found])
    fields = [f for f in SYMBOLS if any(f in rows for rows in found.values())]
    parts = []
    for words, key in (("RMS difference", "rms_difference"), ("Largest difference", "largest_difference")):
        rows = []
        for i, own in found.items():
            cells = [right(f"{own[f][key]:.1e}" if f in own and finite(own[f].get(key)) else "") for f in fields]
            rows.append([point_text(study, study.by_id[i], names), *cells])
        units = [next(own[f].get("unit", "") for own in found.values() if f in own) for f in fields]
        named = ", ".join(dict.fromkeys(UNITS.get(unit, unit) for unit in units))
        parts.append(f"<p>{words} from the reference, {html.escape(named)}</p>")
        parts.append(table(["Point", *fields], rows))
    return "".join(parts)


def paper_table(study):
    """The papers' values beside those found at the same place."""
    rows = []
    specs = [s for s in study.data.get("figures") or default_figures(study) if isinstance(s, dict)]
    for number, spec in enumerate(specs):
        x, y = str(spec.get("x", "")), str(spec.get("y", "field_seconds"))
        if y not in QUANTITIES:
            continue
        for entry in comparisons(study, y, number == 0):
            for name, values in series_of(entry):
                for at, value in values.items():
                    points = [p for p in study.points if same_text(study.label(p, x), at)]
                    narrower = [
                        p for p in points if name and any(same_text(name, t) for t in (p.get("labels") or {}).values())
                    ]
                    good = [(p, quantity(p, y)) for p in narrower or points]
                    good = [(p, q) for p, q in good if q]
                    best = min(good, key=lambda pq: pq[1][0], default=None)
                    if y in ("speed_up", "efficiency", "pairs_per_second"):
                        best = max(good, key=lambda pq: pq[1][0], default=None)
                    factor = paper_factor(y)
                    unit = QUANTITIES[y][2]
                    rows.append(
                        [
                            source_text(entry) + (f": {name}" if name else ""),
                            f"{axis_name(x)} {at}",
                            QUANTITIES[y][1],
                            right(f"{short(value * factor)} {unit}".strip()),
                            right(f"{short(best[1][0])} {unit}".strip() if best else "not run"),
                            right(short(value * factor / best[1][0]) if best and best[1][0] else ""),
                            point_text(study, best[0]) if best else "",
                        ]
                    )
    return table(["Paper", "At", "Quantity", "Paper's", "Here", "Paper's / here", "Point"], rows)


def trace_table(study):
    rows = []
    for r in study.rows("trace"):
        scale = r.get("scale")
        relative = r["largest"] / scale if finite(r.get("largest")) and finite(scale) and scale else None
        rows.append(
            [
                point_text(study, study.by_id[r["point"]]),
                str(r.get("where")),
                right(r.get("n", "")),
                right(short(r.get("rms"), 2)),
                right(short(r.get("largest"), 2)),
                right(short(scale, 3)),
                right(short(relative, 2)),
            ]
        )
    return table(
        ["Point", "Where", "Points", "RMS (Eötvös)", "Largest (Eötvös)", "Scale (Eötvös)", "Largest / scale"],
        rows,
    )


def gaps_table(study):
    rows = {}
    for point in study.points:
        if point.get("status") != "ok":
            key = (STATUS_WORDS.get(point.get("status"), str(point.get("status"))), str(point.get("why") or ""))
            if study.joined:
                key += (study.names[study.machine(point)],)
            rows.setdefault(key, []).append(point_text(study, point))
    return table(
        ["State", "Why", *(["Machine"] if study.joined else []), "Points"],
        [
            [
                *key,
                "; ".join(points) if len(points) <= 12 else "; ".join(points[:12]) + f"; and {len(points) - 12} more",
            ]
            for key, points in rows.items()
        ],
    )


def flat(value):
    """A value of the machine record as text."""
    if isinstance(value, dict):
        return ", ".join(f"{k}: {flat(v)}" for k, v in value.items() if v not in (None, "", [], {}))
    if isinstance(value, list):
        return "; ".join(flat(v) for v in value)
    if isinstance(value, float):
        return short(value, 4)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10000:
        return f"{value:,}"
    return str(value)


def machines_section(study):
    parts = []
    for name, machine in zip(study.names, study.machines):
        rows = [
            [key.replace("_", " "), flat(value)] for key, value in machine.items() if value not in (None, "", [], {})
        ]
        parts.append((f"<h3>{html.escape(name)}</h3>" if study.joined else "") + table(["", ""], rows))
    return "".join(parts)


def rules_section(study):
    rules = study.data.get("rules") or {}
    lines = []
    if study.data.get("study_hash"):
        lines.append(f"The study is fixed by the hash {study.data['study_hash']}.")
    for problem in study.data.get("problems") or []:
        pairs = problem.get("pairs")
        hashed = f"hash {problem.get('hash')}" if problem.get("hash") else ""
        words = ", ".join(w for w in (f"{pairs:,} pairs" if isinstance(pairs, int) else "", hashed) if w)
        if words:
            lines.append(f"Problem {problem.get('id')}: {words}.")
    if finite(rules.get("tolerance")):
        lines.append(
            f"A run whose fields differ from the reference by more than {rules['tolerance']:g} of the largest value "
            "has no speed."
        )
    if rules.get("repeats"):
        lines.append(
            f"{rules['repeats']} timed runs a point, {rules.get('warmup', 0)} warm-ups before them, which do not count."
        )
    if rules.get("order"):
        seed = f", seed {rules['seed']}" if rules.get("order") == "random" and rules.get("seed") is not None else ""
        lines.append(f"Order of the runs: {str(rules['order']).replace('_', ' ')}{seed}, repeat by repeat.")
    if rules.get("budget_forbade"):
        lines.append("The time budget forbade some repeats: such points have fewer runs, as their column says.")
    few = (rules.get("repeats") or 5) < 5
    if few:
        lines.append("Fewer than five repeats: intervals are wide or missing, and small differences mean nothing.")
    lines += [str(note) for note in rules.get("notes") or []]
    lines.append("Intervals are 95 %, by bootstrap of the median. Every run is in runs.csv.")
    return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"


def in_short(study):
    states = [p.get("status") for p in study.points]
    parts = [f"{states.count('ok')} of {len(states)} points ran"]
    for state in ("not run", "wrong", "failed", "too slow", "out of budget"):
        if states.count(state):
            parts.append(f"{states.count(state)} {STATUS_WORDS[state]}")
    over = sum(bool(p.get("oversubscribed")) for p in study.points if p.get("status") == "ok")
    if over:
        parts.append(f"{over} oversubscribed")
    lines = [", ".join(parts) + "."]
    timed = [(p, quantity(p, "field_seconds")) for p in study.points if not p.get("oversubscribed")]
    timed = [(p, q) for p, q in timed if q]
    for problem in dict.fromkeys(p.get("problem") for p, _ in timed):
        own = [(p, q) for p, q in timed if p.get("problem") == problem]
        if len(own) > 1 and len({p.get("problem") for p, _ in timed}) == 1:
            fastest, q = min(own, key=lambda pq: pq[1][0])
            lines.append(f"Fastest: {point_text(study, fastest)}, {short(q[0])} s of field time.")
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def section(title, body):
    return f"<h2>{html.escape(title)}</h2>{body}" if body else ""


def write_html(study, pictures, problems):
    program = study.data.get("program") or {}
    version = " ".join(str(v) for v in (program.get("version"), program.get("git")) if v)
    when = " to ".join(str(t) for t in dict.fromkeys([study.data.get("started"), study.data.get("ended")]) if t)
    sub = "  ·  ".join(t for t in (", ".join(study.names), f"prismfield {version}" if version else "", when) if t)
    if study.data.get("reduced"):
        sub += "  ·  reduced size"
    figures = []
    for page, png in pictures:
        caption = f"<b>{html.escape(page.title)}.</b> {html.escape(page.caption)}"
        figures.append(
            f'<figure><img alt="{html.escape(page.title)}" '
            f'src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            f'<figcaption>{caption} <a href="figures/{page.name}.svg">SVG</a></figcaption></figure>'
        )
    notes = "".join(f'<p class="note">{html.escape(problem)}</p>' for problem in problems)
    body = [
        f"<h1>{html.escape(study.title)}</h1>",
        f'<p class="sub">{html.escape(sub)}</p>',
        in_short(study),
        section("Figures", "".join(figures) + notes),
        section("Beside the paper", paper_table(study)),
        section("Points", points_table(study)),
        section("Scaling laws", fits_table(study)),
        section("Errors", errors_table(study)),
        section("Trace", trace_table(study)),
        section("What did not run", gaps_table(study)),
        section("Rules kept", rules_section(study)),
        section("Machines" if study.joined else "Machine", machines_section(study)),
        section(
            "Files beside this one",
            "<p>study.yaml, machine.json, runs.csv, errors.csv, study.json, study.h5, tables.md, tables.tex, "
            "p3.csv, foms.txt and figures/.</p>",
        ),
    ]
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(study.title)}</title><style>{CSS}</style></head><body>"
        + "\n".join(body)
        + "\n</body></html>\n"
    )
    replace(study.folder / "report.html", text.encode())


def replace(path, content):
    """Writes a file under another name and renames it, so that no reader sees half of it."""
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with open(part, "xb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def save(figure, kind, **keywords):
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, facecolor="white", **keywords)
    return stream.getvalue()


def main(folder):
    matplotlib.rcParams.update(
        {"font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "prismfield", "axes.unicode_minus": True}
    )
    study = Study(folder)
    figures = study.folder / "figures"
    figures.mkdir(exist_ok=True)
    pictures, problems = [], []
    for page in all_pages(study, problems):
        png = save(page.figure, "png", dpi=170)
        replace(figures / f"{page.name}.png", png)
        replace(figures / f"{page.name}.svg", save(page.figure, "svg", metadata={"Date": None}))
        plt.close(page.figure)
        pictures.append((page, png))
    write_html(study, pictures, problems)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr)
        sys.exit(1)
