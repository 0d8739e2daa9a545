# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws a study: study.report FOLDER

Reads FOLDER/study.json, and the results that it names for maps, and writes FOLDER/report.html, which needs no other
file, and FOLDER/figures/NAME.png and NAME.svg.
"""

import base64
import html
import io
import itertools
import json
import math
import pathlib
import re
import textwrap

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from ..field_names import NATIVE, TENSOR, VECTOR, in_order, symbol_of
from ..figures.drawing import GREY, UNITS
from .texts import write_file

# Okabe and Ito's colours, which the colour-blind tell apart; yellow, faint on white, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
LINES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
PALE = "0.9"

# Every figure is as wide as a page of a journal; inches above the drawing for title and machine, and beside them.
PAGE_WIDTH = 7.2
HEADING_ROOM = 0.5
MARGIN = 0.08
# Texts are measured at the resolution that they are drawn at, since their sizes are rounded to pixels.
DPI = 170

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
    "memory": ("memory_bytes", "Peak memory of the processes", "MB", 1e-6),
    "setup_seconds": ("setup_seconds", "Time of the setup", "s", 1),
    "scratch": ("scratch_bytes", "Memory of a rank's grids", "MB", 1e-6),
    "energy": ("energy_joules", "Energy", "J", 1),
    "arithmetic_rate": ("arithmetic_rate", "Arithmetic rate", "GFLOP/s", 1e-9),
    "fraction_of_peak": ("fraction_of_peak", "Share of the measured peak", "%", 100),
}
# What the commands sensitivity and invert tell beside, and what they mean by the others.
QUANTITIES_OF = {
    "sensitivity": {
        "field_seconds": ("field_seconds", "Time of a product G m", "s", 1),
        "setup_seconds": ("setup_seconds", "Time of the setup, G included", "s", 1),
        "pairs_per_second": ("pairs_per_second", "Entries of G per second", "", 1),
        "stored_bytes": ("stored_bytes", "G as it is stored", "MB", 1e-6),
        "transposed_seconds": ("transposed_seconds", "Time of a product G' d", "s", 1),
        "anew_seconds": ("anew_seconds", "Time of a product G m computed anew", "s", 1),
        "pays_after": ("pays_after", "Products after which storing pays", "", 1),
    },
    "invert": {
        "field_seconds": ("field_seconds", "Time of the inversion", "s", 1),
        "setup_seconds": ("setup_seconds", "Time of the setup, G included", "s", 1),
        "pairs_per_second": ("pairs_per_second", "Entries of G in products per second", "", 1),
        "error": ("largest_error", "Model's error / largest density", "", 1),
        "stored_bytes": ("stored_bytes", "G as it is stored", "MB", 1e-6),
        "chi": ("chi", "Chi of the data", "", 1),
        "residual_rms": ("residual_rms", "RMS of residuals over sigma", "", 1),
        "solutions": ("solutions", "Solutions for a beta", "", 1),
        "products": ("products", "Products with G", "", 1),
    },
}
SCALING = ("speed_up", "efficiency", "karp_flatt")

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
    "stations": "Stations",
    "storage": "Sensitivities",
}
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
        self.command = str(self.data.get("command") or "run")
        QUANTITIES.update(QUANTITIES_OF.get(self.command, {}))
        machines = self.data.get("machines") or [self.data.get("machine") or {}]
        self.machines = [machine for machine in machines if isinstance(machine, dict)] or [{}]
        names = [str(m.get("name") or m.get("host") or f"machine {i + 1}") for i, m in enumerate(self.machines)]
        self.axes = {str(axis["name"]): [str(v) for v in axis.get("values", [])] for axis in self.data.get("axes", [])}
        self.points = self.data.get("points", [])
        self.numbers = {name: number for number, name in enumerate(names)}
        self.by_id = {point.get("id"): point for point in self.points}
        self.place = {id: place for place, id in enumerate(self.by_id)}
        self.joined = len(self.machines) > 1
        # A name such as "4 x H200" would say of runs on the processor that the cards computed.
        self.idle = [self.has_idle_cards(number) for number in range(len(names))]
        shown = [machine_text(self, number) if self.idle[number] else name for number, name in enumerate(names)]
        self.names = shown if len(set(shown)) == len(shown) else names
        called = dict(zip(names, self.names))
        if "machine" in self.axes:
            self.axes["machine"] = self.names
        for fit in self.data.get("fits") or []:
            if "machine" in (fit.get("group") or {}):
                fit["group"]["machine"] = called.get(fit["group"]["machine"])
        self.called = lambda name: called.get(name, name)

    def has_idle_cards(self, number):
        """Whether a machine has cards and all of its runs were on its processor."""
        spaces = {p.get("space") for p in self.points if p.get("status") == "ok" and self.machine(p) == number}
        return bool(self.machines[number].get("gpus") and spaces) and spaces <= {"serial", "openmp", "threads"}

    def rows(self, key):
        """The rows of a table that belong to points, in the order of the points, not in that of their runs."""
        found = [row for row in self.data.get(key) or [] if isinstance(row, dict) and row.get("point") in self.by_id]
        return sorted(found, key=lambda row: self.place[row["point"]])

    def machine(self, point):
        """The number of a point's machine."""
        own = point.get("machine", 0)
        if isinstance(own, int) and 0 <= own < len(self.machines):
            return own
        return self.numbers.get(own, 0)

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
    if last == "upward" and number_of(value) is not None:
        return f"at {float(value):,.10g} m".replace("-", "−")
    if last in COUNTED:
        one = COUNTED[last]
        count = f"{int(value):,}" if value.isdigit() else value
        return f"{count} {one}" if value == "1" else f"{count} {one}s"
    words = "space precision machine fields point hardware computed grid stations storage"
    if last in words.split():
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


def new_page(height=3.3, rows=1, columns=1, **keywords):
    """A figure of the one width that all have, and its axes; legend and notes are added below by finish()."""
    figure, axes = plt.subplots(
        rows, columns, figsize=(PAGE_WIDTH, height), dpi=DPI, squeeze=False, layout="constrained", **keywords
    )
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05)
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


def heading(figure, study, title, below=""):
    """The figure's title in bold and, smaller, the machine."""
    machine = "  ·  ".join(study.names) if study.joined else machine_text(study, 0)
    reduced = "reduced size" if study.data.get("reduced") else ""
    text = "  ·  ".join(part for part in (below, machine, reduced) if part)
    figure.heading = [
        figure.text(0, 0, plain(title), fontsize=10.5, fontweight="bold", ha="left", va="top"),
        figure.text(0, 0, plain(text), fontsize=8, color=GREY, ha="left", va="top"),
    ]
    for words in figure.heading:
        words.set_in_layout(False)
    place(figure, 0)


def place(figure, below):
    """Puts the heading to the top left of a page, whatever its height, cuts what is longer than the page is wide, and
    leaves `below` inches free under the drawing."""
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()
    for words, down in zip(figure.heading, (0.08, 0.29)):
        words.set_position((MARGIN / width, 1 - down / height))
    second = figure.heading[1]
    text = second.get_text()
    while len(text) > 20 and second.get_window_extent(renderer).width > (width - 2 * MARGIN) * figure.dpi:
        text = text[:-1]
        second.set_text(text.rstrip() + "…")
    figure.get_layout_engine().set(rect=(0, below / height, 1, 1 - (below + HEADING_ROOM) / height))


def finish(figure, handles=(), marks=(), notes=()):
    """Legends and notes under the drawing, in the width of the page, which grows downwards: first what was measured, a
    None among the handles begins a new line, then each paper's marks under its name, then in grey what the reader must
    know, as what did not run."""
    groups = []
    for none, own in itertools.groupby(handles, key=lambda entry: entry is None):
        groups += [] if none else [("", list(own))]
    for source, own in itertools.groupby(marks, key=lambda mark: mark[0]):
        own = [(handle, name) for _, handle, name in own]
        if len(own) > 1:
            own = [(handle, name or "the paper's values") for handle, name in own]
        # A single mark without a name is called after its paper.
        groups.append((source, own) if len(own) > 1 or own[0][1] else ("", [(own[0][0], source)]))
    renderer = figure.canvas.get_renderer()
    placed = []
    for title, entries in groups:
        # As many columns as fit, and of these no more than the lines need.
        for lines in range(math.ceil(len(entries) / 6), len(entries) + 1):
            columns = math.ceil(len(entries) / lines)
            legend = figure.legend(
                [handle for handle, _ in entries],
                [plain(name) for _, name in entries],
                title=plain(title) or None,
                ncols=columns,
                loc="upper left",
                alignment="left",
                fontsize=8,
                title_fontsize=8,
                frameon=False,
                handlelength=2.2,
                columnspacing=1.6,
                labelspacing=0.4,
                borderpad=0,
                borderaxespad=0,
            )
            legend.set_in_layout(False)
            box = legend.get_window_extent(renderer)
            if columns == 1 or box.width <= (PAGE_WIDTH - 2 * MARGIN) * figure.dpi:
                break
            legend.remove()
        placed.append((legend, box.height / figure.dpi))
    if notes:
        lines = [plain(textwrap.fill(note, 122)) for note in dict.fromkeys(notes)]
        words = figure.text(0, 0, "\n".join(lines), fontsize=7.5, color="0.35", va="top", linespacing=1.35)
        words.set_in_layout(False)
        placed.append((words, words.get_window_extent(renderer).height / figure.dpi))
    gap = 0.09
    below = sum(tall + gap for _, tall in placed) + (0.06 if placed else 0)
    height = figure.get_figheight() + below
    figure.set_size_inches(PAGE_WIDTH, height)
    place(figure, below)
    top = below - gap / 2
    for artist, tall in placed:
        at = (MARGIN / PAGE_WIDTH, top / height)
        if isinstance(artist, matplotlib.legend.Legend):
            artist.set_bbox_to_anchor(at)
        else:
            artist.set_position(at)
        top -= tall + gap


def machine_text(study, number):
    """A machine in a few words, without cards that no run used."""
    machine, parts = study.machines[number], []
    if machine.get("processor"):
        name = re.sub(r"\((R|TM|r|tm)\)|\bCPU\b|\b(\d+-Core )?Processor\b|@.*$", "", str(machine["processor"]))
        cores = machine.get("cores")
        parts.append(" ".join(name.split()) + (f", {cores} cores" if cores else ""))
    gpus = [str(gpu.get("name", "GPU")) for gpu in machine.get("gpus") or [] if isinstance(gpu, dict)]
    for name in dict.fromkeys([] if study.idle[number] else gpus):
        parts.append(f"{gpus.count(name)} × {name}")
    return "  ·  ".join(parts) or str(machine.get("name") or machine.get("host") or "")


def quantity_label(name):
    _, words, unit, _ = QUANTITIES[name]
    return f"{words} ({unit})" if unit else words


def number_tick(value, _position=None):
    """A tick of a logarithmic axis: 0.001 to 10,000 in digits, else a power."""
    if value <= 0:
        return ""
    exponent = math.log10(value)
    return f"{value:,.10g}" if -3 <= exponent < 5 else power(value)


def power(value, digits=3):
    """A number as a power of ten: 10⁻⁷, 2.3 × 10⁻⁷."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = f"{float(mantissa):g}"
    ten = f"10^{{{int(exponent)}}}"
    return f"${ten}$" if mantissa == "1" else f"${mantissa}\\times{ten}$"


def logarithmic(axis, low, high):
    """Ticks of a logarithmic axis that are neither one alone nor a crowd."""
    decades = math.log10(high / low) if low > 0 else 1
    subs = (1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(number_tick))
    axis.set_minor_locator(NullLocator() if decades > 7 else LogLocator(base=10, subs=range(2, 10), numticks=99))
    axis.set_minor_formatter(NullFormatter())


class Style:
    """Colour, marker and line of the curves of a figure, each a tuple of labels. Up to five curves differ in all three;
    of more, one label chooses the colour, and the others marker and line, so that the legend is no tower."""

    def __init__(self, axes, keys):
        self.axes, self.keys = axes, list(dict.fromkeys(keys))
        values = [list(dict.fromkeys(key[i] for key in self.keys)) for i in range(len(axes))]
        several = [i for i in range(len(axes)) if len(values[i]) > 1]
        self.factor = None
        if len(self.keys) > 5 and len(several) > 1:
            self.factor = max(several, key=lambda i: len(values[i]) if len(values[i]) <= len(COLOURS) else 0)
            self.colours = values[self.factor]
            self.lines = list(dict.fromkeys(self.rest(key) for key in self.keys))

    def rest(self, key):
        return key[: self.factor] + key[self.factor + 1 :]

    def of(self, key):
        if self.factor is None:
            colour = marker = self.keys.index(key)
            line = colour // len(COLOURS)
        else:
            colour = self.colours.index(key[self.factor])
            marker = line = self.lines.index(self.rest(key))
        return {
            "color": COLOURS[colour % len(COLOURS)],
            "marker": MARKERS[marker % len(MARKERS)],
            "linestyle": LINES[line % len(LINES)],
        }

    def entries(self, single="measured", line=True):
        """Handles and names for the legend."""

        def handle(**looks):
            looks = looks if line else {**looks, "linestyle": "none"}
            return Line2D([], [], **{"markersize": 5, "linewidth": 1.5, **looks})

        if self.factor is None:
            return [(handle(**self.of(key)), curve_name(self.axes, key) or single) for key in self.keys]
        axis = self.axes[self.factor]
        found = []
        for number, value in enumerate(self.colours):
            colour = COLOURS[number % len(COLOURS)]
            found.append((Patch(color=colour), value_text(axis, value) if value is not None else single))
        found.append(None)
        others = [name for name in self.axes if name != axis]
        for number, values in enumerate(self.lines):
            looks = {"marker": MARKERS[number % len(MARKERS)], "linestyle": LINES[number % len(LINES)]}
            found.append((handle(color="0.25", **looks), curve_name(others, values) or single))
        return found


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
    """(source, name, {x: value}, style) of every series of the papers that belongs to a figure of y."""
    number = itertools.count()
    for entry in comparisons(study, y, first):
        for name, values in series_of(entry):
            if values:
                yield source_text(entry), name, values, PAPER_STYLES[next(number) % len(PAPER_STYLES)]


def paper_handle(looks):
    return Line2D([], [], linestyle="none", markersize=6, **looks)


def gap_reasons(points):
    """(state, why, points) of those that have no value; reasons that differ in their digits alone are one."""
    reasons = {}
    for point in points:
        if point.get("status") != "ok":
            key = (str(point.get("status")), re.sub(r"\d+", "#", str(point.get("why") or "")))
            reasons.setdefault(key, []).append(point)
    for (status, _), gone in reasons.items():
        whys = list(dict.fromkeys(str(point.get("why") or "") for point in gone))
        state = "not run here" if status == "not run" else STATUS_WORDS.get(status, status)
        yield state, whys[0] + (", and so on" if len(whys) > 1 else ""), gone


def gap_notes(study, points, axes):
    """Sentences on the points that have no value: which, and why."""
    notes = []
    for state, why, gone in gap_reasons(points):
        because = f" ({shorten(why, 100)})" if why else ""
        notes.append(f"{state[0].upper()}{state[1:]}: {named_points(study, points, gone, axes)}{because}.")
    return notes


def named_points(study, points, gone, axes, most=3):
    """The points of `gone` in few words: the values of one axis if these are all that have them, else each."""
    if len(gone) == len(points):
        return "all points" if len(points) > 1 else "the point"
    lost = {id(point) for point in gone}
    for axis in axes:
        values = list(dict.fromkeys(study.label(point, axis) for point in gone))
        if all(id(point) in lost for point in points if study.label(point, axis) in values):
            order = list(dict.fromkeys(study.label(point, axis) for point in points))
            places = [order.index(value) for value in values]
            numbers = None not in map(number_of, values)
            if numbers and len(values) > 2 and places == list(range(places[0], places[0] + len(places))):
                return f"{axis_name(axis).lower()} {values[0]} to {values[-1]}"
            return ", ".join(value_text(axis, value) for value in values)
    names = list(dict.fromkeys(point_text(study, point, axes) for point in gone))
    return "; ".join(names) if len(names) <= most else f"{len(names)} points, named in the report"


def sweep_figure(study, spec, number, used_names):
    """A figure of the study: one quantity against an axis, a curve for each combination of the others."""
    x, y = str(spec.get("x", "")), str(spec.get("y", "field_seconds"))
    if y not in QUANTITIES or not x:
        return None
    points = [p for p in study.points if study.label(p, x) is not None]
    # Without a value there is something to be seen only where points could not run: their gaps and a paper's marks.
    if all(p.get("status") == "ok" and quantity(p, y) is None for p in points):
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
    figure, ((axes,),) = new_page()
    heading(figure, study, study.title, repeats_text(study))
    every = [point for points in curves.values() for point in points]
    present = [key for key, points in curves.items() if any(quantity(p, y) for p in points)]
    style, extra, all_x, all_y, seen_at, laws = Style(curve_axes, present), [], [], [], set(), {}
    over_shown, gap_words, marked_x, marks = False, [], [], []
    for point in every:
        if quantity(point, y):
            seen_at.add(number_of(study.label(point, x)))
    for values, points in curves.items():
        points = sorted(points, key=lambda p: number_of(study.label(p, x)))
        xs = np.array([number_of(study.label(p, x)) for p in points])
        all_x += list(xs)
        if values not in present:
            continue
        looks = style.of(values)
        found = [quantity(p, y) for p in points]
        over = np.array([bool(p.get("oversubscribed")) for p in points])
        good = np.array([f is not None for f in found])
        middle, low, high = (np.array([f[i] if f else np.nan for f in found]) for i in range(3))
        all_y += list(low[good]) + list(high[good])
        # Curves stand a little beside each other, so that whiskers at one place can be told apart.
        beside = 2.2 / 72 * (present.index(values) - (len(present) - 1) / 2)
        moved = axes.transData + ScaledTranslation(beside, 0, figure.dpi_scale_trans)
        line = np.where(over, np.nan, middle)
        axes.plot(xs, line, linewidth=1.4, color=looks["color"], linestyle=looks["linestyle"], transform=moved)
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
                    markersize=4.5,
                    elinewidth=0.9,
                    capsize=2,
                    zorder=3,
                    transform=moved,
                )
        law = amdahl_line(axes, study, x, curve_axes, values, xs[good], looks["color"]) if y == "speed_up" else None
        if law:
            laws[values] = law
        over_shown |= bool((good & over).any())
        # A curve's own gap, where others have a value: a cross on the lower edge in its colour.
        gaps = [(at, p) for at, f, p in zip(xs, found, points) if not f and p.get("status") != "ok" and at in seen_at]
        if gaps:
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
    for source, name, values, looks in paper_series(study, y, first):
        at = {number_of(k): v * paper_factor(y) for k, v in values.items() if number_of(k) is not None}
        level = {k: v * paper_factor(y) for k, v in values.items() if number_of(k) is None}
        all_y += list(at.values()) + list(level.values())
        all_x += list(at)
        marked_x += list(at)
        if at:
            axes.plot(list(at), list(at.values()), linestyle="none", markersize=6, zorder=4, **looks)
            marks.append((source, paper_handle(looks), name))
        for words, value in level.items():
            dashes = {"color": "0.35", "linewidth": 1, "linestyle": (0, (5, 2))}
            axes.axhline(value, zorder=1, **dashes)
            marks.append((source, Line2D([], [], **dashes), f"{name}, {words}" if name else words))
    dashed = {"color": "0.55", "linewidth": 1, "linestyle": (0, (4, 3))}
    if y == "speed_up" and seen_at and is_count(x):
        start = min(seen_at)
        ends = np.geomspace(start, max([*seen_at, *marked_x]), 50)
        axes.plot(ends, ends / start, zorder=0.5, **dashed)
        extra.append((Line2D([], [], **dashed), "ideal"))
        all_y.append(ends[-1] / start)
    if y == "efficiency":
        axes.axhline(100, zorder=0.5, **dashed)
        all_y.append(100)
    log_x, log_y = axis_scales(spec, all_x, all_y)
    # What was measured shall not sit in a corner because a paper had many times the threads: the ideal is a straight
    # line on two logarithmic axes too.
    if is_count(x) and seen_at and min(all_x) > 0 and max(all_x) > 4 * max(seen_at):
        log_x, log_y = True, log_y or y == "speed_up"
    scale_x(axes, sorted(set(all_x)), sorted({number_of(t) for t in texts} | set(marked_x)), log_x)
    # What is exactly right has no place on a logarithmic axis.
    without_error = y == "error" and log_y and min(all_y, default=1) <= 0 < max(all_y, default=0)
    scale_y(axes, [v for v in all_y if v > 0] if without_error else all_y, log_y, y)
    show_gaps(axes, study, every, x, y, seen_at)
    axes.set_xlabel(plain(axis_name(x)), fontsize=9)
    axes.set_ylabel(quantity_label(y), fontsize=9)
    if over_shown:
        hollow = Line2D([], [], linestyle="none", marker="o", color=GREY, markerfacecolor="white", markersize=5)
        extra.append((hollow, "more threads than cores"))
    if gap_words:
        cross = Line2D([], [], linestyle="none", marker="x", color=GREY, markersize=5)
        extra.append((cross, ", ".join(dict.fromkeys(gap_words))))
    handles = style.entries()
    if len(present) == 1:
        handles += laws.values()
    elif laws:
        # With several curves each one's fraction stands at its name, where curves have names of their own.
        if style.factor is None:
            handles = [
                (handle, f"{name} ({laws[key][1].split(', ')[1].split(' (')[0]})" if key in laws else name)
                for key, (handle, name) in zip(present, handles)
            ]
        extra.insert(0, (Line2D([], [], color=GREY, linewidth=1, linestyle=(0, (1, 1.5))), "Amdahl's law"))
    handles += [None, *extra] if style.factor is not None and extra else extra
    notes = gap_notes(study, every, [*curve_axes, x])
    if without_error:
        notes.append("Points without any error are left out.")
    if y in SCALING and any(p.get("oversubscribed") and p.get("status") == "ok" for p in every):
        notes.append("Points with more threads than cores have no speed-up and are left out.")
    finish(figure, handles if len(handles) > 1 or marks or curve_axes else [], marks, notes)
    return figure, figure_caption(study, y, first, over_shown)


def is_count(x):
    return x.rsplit(".", 1)[-1] in ("threads", "ranks", "devices", "cards", "nodes")


def paper_factor(y):
    """The papers' values are given in the units of study.json: bytes, shares."""
    return QUANTITIES[y][3]


def shorten(text, longest):
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def amdahl_line(axes, study, x, curve_axes, values, xs, colour):
    """Draws the speed-up that Amdahl's law allows with the serial fraction that was fitted, and the band of its
    interval; its entry of the legend, or None. A fraction that is none, below 0 or above 1, is not drawn."""
    wanted = dict(zip(curve_axes, values))
    for fit in study.data.get("fits") or []:
        group = fit.get("group") or {}
        law = fit.get("amdahl") or {}
        other = any(not same_text(group[k], wanted[k]) for k in wanted if k in group)
        if fit.get("along") != x or other or not finite(law.get("serial")) or not 0 <= law["serial"] <= 1:
            continue
        fine = np.linspace(min(xs), max(xs), 100)
        n = fine / min(xs)

        def speed_up(serial):
            return 1 / (serial + (1 - serial) / n)

        text = f"Amdahl, {short(100 * law['serial'], 2)} % serial"
        low, high = law.get("low"), law.get("high")
        if finite(low) and finite(high) and low < high:
            least, most = (min(max(value, 0), 1) for value in (low, high))
            axes.fill_between(fine, speed_up(most), speed_up(least), color=colour, alpha=0.13, linewidth=0)
            text += f" ({short(100 * low, 2)} to {short(100 * high, 2)} %)".replace("-", "−")
        dots = {"color": colour, "linewidth": 1, "linestyle": (0, (1, 1.5))}
        axes.plot(fine, speed_up(law["serial"]), **dots)
        return Line2D([], [], **dots), text
    return None


def scale_x(axes, all_x, ticks, log_x):
    low, high = min(all_x), max(all_x)
    if log_x:
        axes.set_xscale("log")
        ratio = (high / low) ** 0.04 if high > low else 1.5
        axes.set_xlim(low / ratio, high * ratio)
    else:
        room = 0.04 * (high - low) or 0.5
        axes.set_xlim(low - room, high + room)
    # Ticks at the study's own values, the first and the last always; of others that would touch, the former stays.
    at = math.log if log_x else float
    wide = {t: (0.014 * len(f"{t:,.10g}") + 0.012) * (at(high) - at(low)) for t in ticks}

    def touch(a, b):
        return at(b) - at(a) < (wide[a] + wide[b]) / 2

    kept = ticks[:1]
    for t in ticks[1:]:
        if not touch(kept[-1], t) and (t == ticks[-1] or not touch(t, ticks[-1])):
            kept.append(t)
    if len(ticks) <= 16 and len(kept) >= min(2, len(ticks)):
        axes.xaxis.set_major_locator(FixedLocator(kept))
        axes.xaxis.set_minor_locator(FixedLocator(ticks))
    elif log_x:
        logarithmic(axes.xaxis, low, high)
        return
    else:
        axes.xaxis.set_major_locator(
            MaxNLocator(8, steps=[1, 2, 5, 10], integer=all(float(t).is_integer() for t in ticks))
        )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}" if v < 1e7 else power(v)))
    axes.xaxis.set_minor_formatter(NullFormatter())


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


def show_gaps(axes, study, every, x, y, seen_at):
    """Pale bands where no curve has a value, neighbours in one; words where the whole figure has none."""
    state = {}
    for point in every:
        at = number_of(study.label(point, x))
        if at not in seen_at:
            over = point.get("status") == "ok"
            words = "oversubscribed" if over else STATUS_WORDS.get(point.get("status"), "not run")
            state.setdefault(at, words)
    if not seen_at:
        words = "not run here" if any(p.get("status") != "ok" for p in every) else "nothing to compare"
        axes.text(0.02, 0.04, words, transform=axes.transAxes, fontsize=9, color=GREY)
    to_share = axes.transScale + axes.transLimits

    def share(at):
        return to_share.transform((at, axes.get_ylim()[1]))[0]

    places = sorted({number_of(study.label(point, x)) for point in every} | set(seen_at))
    runs = []
    for number, at in enumerate(places):
        if at in state:
            # Half the way to a neighbour, and never wide.
            sides = [abs(share(at) - share(places[n])) for n in (number - 1, number + 1) if 0 <= n < len(places)]
            half = min([0.02, *(side / 2 for side in sides)])
            before = number > 0 and state.get(places[number - 1])
            if before == state[at]:
                runs[-1][1] = share(at) + half
            else:
                runs.append([share(at) - half, share(at) + half, state[at]])
    for left, right, words in runs:
        left, right = max(left, 0), min(right, 1)
        band = Rectangle((left, 0), right - left, 1, color="0.945", linewidth=0, zorder=0, transform=axes.transAxes)
        axes.add_patch(band)
        if not seen_at:
            continue
        across = right - left > 0.014 * len(words)
        axes.text(
            (left + right) / 2,
            0.97,
            words,
            transform=axes.transAxes,
            rotation=0 if across else 90,
            ha="center",
            va="top",
            fontsize=7.5,
            color=GREY,
            zorder=1,
        )


def repeats_text(study):
    runs = runs_a_point(study)
    if not runs:
        return ""
    return "one run each" if runs[-1] == 1 else f"median of {range_text(runs)}, 95 % intervals"


def runs_a_point(study):
    """How many timed runs the points have that have any, in ascending order: joined studies differ."""
    return sorted({point["runs"] for point in study.points if point.get("runs")})


def range_text(numbers):
    """numbers: ascending."""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def figure_caption(study, y, first, over_shown=False):
    sentences = []
    for entry in comparisons(study, y, first):
        if entry.get("note"):
            sentences.append(f"{source_text(entry)}: {str(entry['note']).strip()}")
    if over_shown:
        sentences.append("Hollow points have more threads than cores and are on no curve.")
    return " ".join(s if s.endswith(".") else s + "." for s in sentences)


def dot_rows(axes, names, width=30):
    """Rows with a name each, from the top down, and a pale line along each for the eye."""
    axes.set_yticks(range(len(names)), [plain(textwrap.fill(name, width)) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0, pad=6)
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color=PALE, linewidth=0.6, zorder=0)


def bar_figure(study, spec, x, y, texts, curve_axes, curves, first):
    """Values of an axis that are no numbers: a row each, bars from zero, or points where the range is large."""
    papers = list(paper_series(study, y, first))
    rows = list(texts) + [k for *_, values, _ in papers for k in values if not any(same_text(k, t) for t in texts)]
    rows = list(dict.fromkeys(rows))
    every = [point for points in curves.values() for point in points]
    present = [key for key, points in curves.items() if any(quantity(p, y) for p in points)] or list(curves)[:1]
    n = len(present)
    figure, ((axes,),) = new_page(min(1.05 + len(rows) * (0.16 + 0.17 * n), 8))
    heading(figure, study, study.title, repeats_text(study))
    style, found_y = Style(curve_axes, present), []
    for p in every:
        found_y += list(quantity(p, y) or ())
    found_y += [v * paper_factor(y) for *_, values, _ in papers for v in values.values()]
    # Short times are told in milliseconds.
    unit, in_unit = QUANTITIES[y][2], 1
    if unit == "s" and max(found_y, default=1) < 0.1:
        unit, in_unit = "ms", 1e3
        found_y = [in_unit * value for value in found_y]
    # Of errors some are 0, which no logarithmic axis shows: they stand hollow on its edge.
    positive = [v for v in found_y if v > 0] if y == "error" else found_y
    # There is one axis of numbers here, which log: x and log: y both mean.
    log = axis_scales({}, [1], positive)[1] if spec.get("log") is None else any(axis_scales(spec, [], []))
    log = log and min(positive, default=0) > 0
    low, high = (min(positive), max(positive)) if log else (0, max(found_y, default=1))
    edge = min(low / (high / low) ** 0.05, low / 1.5) if log else 0
    thickness, over_shown = 0.8 / n, False
    dot_rows(axes, [row_text(x, row) for row in rows], 26)
    for c, values in enumerate(present):
        looks = style.of(values)
        for point in curves[values]:
            row = texts.index(study.label(point, x)) + (c - (n - 1) / 2) * thickness
            found = quantity(point, y)
            if found is None:
                words = STATUS_WORDS.get(point.get("status"), "") if point.get("status") != "ok" else "oversubscribed"
                axes.text(
                    0.008, row, words, fontsize=7.5, color=GREY, va="center", transform=axes.get_yaxis_transform()
                )
                continue
            middle, least, most = (in_unit * value for value in found)
            over = bool(point.get("oversubscribed"))
            over_shown |= over
            face = "white" if over else looks["color"]
            if log:
                face = face if middle > 0 else "white"
                at = max(middle, edge)
                dot = {"color": looks["color"], "markerfacecolor": face, "markersize": 5.5, "clip_on": False}
                axes.plot([at], [row], looks["marker"], **dot)
            else:
                axes.barh(row, middle, 0.86 * thickness, color=face, linewidth=1, edgecolor=looks["color"])
            if most > least:
                whisker = {"color": "0.15", "linewidth": 1.1, "solid_capstyle": "butt", "zorder": 1.9 if log else 4}
                axes.plot([least, most], [row, row], **whisker)
            text = power(middle, 2 if y == "error" else 3) if abs(middle) < 1e-3 else short(middle)
            axes.annotate(
                f"{text} {unit}".strip() + (" (oversubscribed)" if over else ""),
                (max(most, middle, edge), row),
                (6, 0),
                textcoords="offset points",
                fontsize=7.5,
                va="center",
            )
    marks = []
    for source, name, values, looks in papers:
        at = [next(i for i, row in enumerate(rows) if same_text(row, text)) for text in values]
        sizes = [v * paper_factor(y) * in_unit for v in values.values()]
        axes.plot(sizes, at, linestyle="none", markersize=6, zorder=5, clip_on=False, **looks)
        marks.append((source, paper_handle(looks), name))
    if log:
        axes.set_xscale("log")
        axes.set_xlim(edge, high * max((high / low) ** 0.13, 2.5))
        logarithmic(axes.xaxis, *axes.get_xlim())
    else:
        axes.set_xlim(0, 1.2 * high or 1)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        if not found_y:
            axes.xaxis.set_major_locator(NullLocator())
        elif not 1e-3 <= high < 1e5:
            axes.xaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.set_xlabel(f"{QUANTITIES[y][1]} ({unit})" if unit else QUANTITIES[y][1], fontsize=9)
    handles = style.entries(line=False)
    if not log:
        # Bars have no markers, so that of two labels both are told by the colour.
        handles = [(Patch(color=style.of(key)["color"]), curve_name(curve_axes, key) or "measured") for key in present]
    shown = len(handles) > 1 or marks or any(curve_axes)
    finish(figure, handles if shown else [], marks, gap_notes(study, every, [*curve_axes, x]))
    return figure, figure_caption(study, y, first, over_shown)


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
    figure, ((axes,),) = new_page(3.6)
    heading(figure, study, study.title, "roofline of the measured peak and bandwidth")
    xs = [intensity for _, intensity, _ in placed]
    ridge = [
        own[k] / own["bandwidth"]
        for own in roofs.values()
        for k in ("peak_double", "peak_single")
        if finite(own.get(k))
    ]
    low, high = min(xs + ridge) / 4, max(xs + ridge) * 6
    grid = np.geomspace(low, high, 400)
    top, extra = [], []
    for number, ((m, space), own) in enumerate(roofs.items()):
        colour, peaks = ("0.2", "0.5", "0.7")[number % 3], []
        for key, dash, words in (("peak_double", "-", "double"), ("peak_single", (0, (4, 2)), "single")):
            if not finite(own.get(key)):
                continue
            roof = np.minimum(grid * own["bandwidth"], own[key]) * 1e-9
            axes.plot(grid, roof, color=colour, linewidth=1.2, linestyle=dash, zorder=1.5)
            top.append(own[key] * 1e-9)
            peaks.append(f"{short(own[key] * 1e-9)} GFLOP/s {words}")
        where = f"{study.names[m]}, {space}" if study.joined else space
        text = f"limits of {where}: {', '.join(peaks)} (dashed), {short(own['bandwidth'] * 1e-9)} GB/s"
        extra.append((Line2D([], [], color=colour, linewidth=1.2), text))
    varying = study.varying([p for p, _, _ in placed])
    colour_axes = [
        name for name in varying if name.rsplit(".", 1)[-1] in ("machine", "space", "precision", "kernel", "fields")
    ]
    keys = [tuple(study.label(point, name) for name in colour_axes) for point, _, _ in placed]
    style = Style(colour_axes, keys)
    for key, (_, intensity, (rate, least, most)) in zip(keys, placed):
        looks = style.of(key)
        axes.errorbar(
            [intensity],
            [rate],
            yerr=[[rate - least], [most - rate]],
            fmt=looks["marker"],
            color=looks["color"],
            markersize=5,
            elinewidth=0.9,
            capsize=2,
            zorder=3,
        )
    rates = [rate for _, _, (rate, _, _) in placed]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(min(rates + [min(top) / 20]) / 2, max(top) * 2)
    logarithmic(axes.xaxis, low, high)
    logarithmic(axes.yaxis, *axes.get_ylim())
    axes.set_xlabel("Operations per byte (FLOP/B)", fontsize=9)
    axes.set_ylabel("Arithmetic rate (GFLOP/s)", fontsize=9)
    finish(figure, style.entries(single="runs of the study", line=False), [("", *entry) for entry in extra])
    return Page(
        "roofline",
        "Roofline",
        figure,
        "Operations are those of the kernel's own forms, counted; the roofs were measured in the same study.",
    )


def on_roof(study, point, key):
    return (study.machine(point), str(point.get("space"))) == key


def is_seed(axis):
    """Whether an axis holds models that differ in their random numbers alone: they are one case."""
    return axis.rsplit(".", 1)[-1] in ("seed", "mesh")


def errors_of(study):
    """{point: {field: row}} of the errors against the reference."""
    found = {}
    for row in study.rows("errors"):
        if finite(row.get("rms_difference")):
            found.setdefault(row["point"], {})[row.get("field")] = row
    return found


def errors_figure(study):
    """RMS differences of every field, a dot each: lengths of bars would mean nothing on a logarithmic axis."""
    found = errors_of(study)
    chosen = list(found)
    specs = study.data.get("figures") or []
    # A study of times has its errors in a table; they are no news there.
    asked = not specs or any(spec.get("y") == "error" for spec in specs) or any(paper_series(study, "errors", False))
    if not chosen or not asked:
        return None
    # Many runs of one problem differ in ways that errors hardly know: then a dot each of what they do know.
    axes_of = study.varying([study.by_id[i] for i in chosen])
    telling = [a for a in axes_of if not is_seed(a)] or axes_of
    for known in (("machine", "precision", "kernel", "space", "partition"), ("precision", "kernel")):
        if len({tuple(study.label(study.by_id[i], a) for a in telling) for i in chosen}) > 8:
            telling = [a for a in telling if a.rsplit(".", 1)[-1] in known] or telling
    if telling != axes_of:
        worst = {}
        for i in chosen:
            key = tuple(study.label(study.by_id[i], a) for a in telling)
            size = max(row["rms_difference"] for row in found[i].values())
            if key not in worst or size > worst[key][0]:
                worst[key] = (size, i)
        chosen, axes_of = [i for _, i in worst.values()], telling
    dropped = max(0, len(chosen) - 8)
    chosen = chosen[:8]
    fields = in_order({f for i in chosen for f in found[i]})
    groups = [[f for f in fields if f == "potential"], *([f for f in fields if len(f) == n] for n in (2, 3))]
    groups = [g for g in groups if g]
    figure, axes = new_page(3.5, 1, len(groups), width_ratios=[len(g) + 0.6 for g in groups])
    heading(figure, study, study.title, "RMS difference from the reference")
    papers = list(paper_series(study, "errors", False))
    keys = [tuple(study.label(study.by_id[i], name) for name in axes_of) for i in chosen]
    style = Style(axes_of, keys)
    places = len(chosen) + len(papers)
    every = [found[i][f]["rms_difference"] for i in chosen for f in fields if f in found[i]]
    every += [v[f] for _, _, v, _ in papers for f in fields if f in v]
    positive = [v for v in every if v > 0] or [1e-16]
    low, high = 10 ** (math.floor(math.log10(min(positive))) - 0.5), 10 ** math.ceil(math.log10(max(positive)) + 0.2)
    zero = False
    for group, own in zip(groups, axes.flat):
        own.set_yscale("log")
        own.set_ylim(low, high)
        for f, field in enumerate(group):
            if f % 2 == 0:
                own.axvspan(f - 0.5, f + 0.5, color="0.965", linewidth=0, zorder=0)
            for c, (i, key) in enumerate(zip(chosen, keys)):
                value = found[i].get(field, {}).get("rms_difference")
                if value is None:
                    continue
                looks = {k: v for k, v in style.of(key).items() if k != "linestyle"}
                at = f + (c - (places - 1) / 2) * 0.84 / places
                zero |= value == 0
                face = {} if value > 0 else {"markerfacecolor": "white", "clip_on": False}
                own.plot([at], [max(value, low)], linestyle="none", markersize=4.5, zorder=3, **looks, **face)
        for c, (_, _, values, looks) in enumerate(papers, len(chosen)):
            shift = (c - (places - 1) / 2) * 0.84 / places
            at = [(f + shift, values[field]) for f, field in enumerate(group) if field in values]
            if at:
                own.plot(*zip(*at), linestyle="none", markersize=5, zorder=4, **looks)
        unit = next((found[i][group[0]].get("unit", "") for i in chosen if group[0] in found[i]), "")
        own.set_xticks(range(len(group)), [symbol_of(f) for f in group], fontsize=10.5)
        own.set_xlim(-0.5, len(group) - 0.5)
        own.grid(False, axis="x")
        own.tick_params(axis="x", length=0)
        own.set_ylabel(f"RMS difference ({UNITS.get(unit, unit)})", fontsize=9)
        own.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        own.yaxis.set_minor_locator(NullLocator())
    text = "Hollow marks on the lower edge: exactly 0, as where a point is computed as its reference is."
    notes = [text] if zero else []
    marks = [(source, paper_handle(looks), name) for source, name, _, looks in papers]
    finish(figure, style.entries(single="runs of the study", line=False), marks, notes)
    caption = figure_caption(study, "errors", False)
    if len(found) > len(chosen) and not dropped:
        caption = f"The worst of the points that differ in nothing else. {caption}"
    if dropped:
        caption += f" {dropped} more points are in the table."
    return Page("errors", "Errors by field", figure, caption.strip())


def histogram_axes(study, most=8):
    """The axes that histograms are told apart by. Where there are more than `most`, axes along which only the problem
    differs are added up, as a paper's five random models are: those with the most values first, and the later ones."""
    points = {row["point"]: study.by_id[row["point"]] for row in study.rows("histograms")}

    def within_a_problem(name):
        seen = {}
        for point in points.values():
            seen.setdefault(point.get("problem"), set()).add(study.label(point, name))
        return any(len(labels) > 1 for labels in seen.values())

    within = study.varying(list(points.values()))
    others = [name for name in reversed(within) if not within_a_problem(name)]
    for name in sorted(others, key=lambda name: -len({study.label(point, name) for point in points.values()})):
        if is_seed(name) or len({tuple(study.label(p, axis) for axis in within) for p in points.values()}) > most:
            within.remove(name)
    return within


def pooled_histograms(study):
    """{text: (lowest, negative, equal, positive)} with fields added up, and {text: the labels on histogram_axes}."""
    rows = study.rows("histograms")
    points = {row["point"]: study.by_id[row["point"]] for row in rows}
    within = histogram_axes(study)
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
    figure, axes = new_page(0.9 + 1.35 * rows, rows, columns, sharex=True, sharey=True)
    heading(figure, study, study.title, "relative differences from the reference, all fields and points together")
    marks = [(entry, series) for entry in comparisons(study, "histogram", False) for series in series_of(entry)]
    # The axis ends where the last difference of any panel does, or a paper's mark.
    lowest, used = min(pooled[i][0] for i in chosen), 4
    for i in chosen:
        filled = np.flatnonzero(pooled[i][1] + pooled[i][3])
        used = max(used, filled[-1] + 1 if len(filled) else 0)
    for _, (_, values) in marks:
        used = max([used, *(math.ceil(abs(histogram_place(v, lowest, 99))) for v in values.values())])
    failing, labelled = {}, False
    for i in chosen:
        _, negative, equal, positive = pooled[i]
        large = negative[len(negative) - 2 :].sum() + positive[len(positive) - 2 :].sum()
        failing[i] = 100 * large / max(negative.sum() + equal + positive.sum(), 1)
    smallest = min(100 / max(pooled[i][1].sum() + pooled[i][2] + pooled[i][3].sum(), 1) for i in chosen)
    for number, (i, own) in enumerate(itertools.zip_longest(chosen, axes.flat)):
        if i is None:
            own.set_visible(False)
            continue
        _, negative, equal, positive = pooled[i]
        n = len(positive)
        share = 100 * np.concatenate([negative[::-1], [equal], positive])
        share = share / max(negative.sum() + equal + positive.sum(), 1)
        places = np.arange(-n, n + 1)
        colour = np.array([COLOURS[1]] * n + ["0.55"] + [COLOURS[0]] * n)
        shown = share > 0
        own.bar(places[shown], share[shown], 0.86, color=colour[shown], linewidth=0)
        own.set_yscale("log")
        own.set_ylim(max(smallest / 2, 1e-6), 200)
        own.yaxis.set_major_locator(FixedLocator([10.0**k for k in range(-6, 3, 1 if smallest > 1e-2 else 2)]))
        own.yaxis.set_major_formatter(FuncFormatter(number_tick))
        own.yaxis.set_minor_locator(NullLocator())
        # What is said of one panel is said of all, and of none where nothing is off by so much.
        tail = f": {short(failing[i], 2)} % off by ≥ 0.1" if any(failing.values()) else ""
        own.set_title(plain(i + tail), fontsize=7.5, loc="left", pad=3)
        steps = list(range(5, used + 2, 6 if used > 12 else 4))
        ticks = [-s - 0.5 for s in reversed(steps)] + [0] + [s + 0.5 for s in steps]
        words = [f"$-10^{{{lowest + s - 1}}}$" for s in reversed(steps)] + ["equal"]
        words += [f"$10^{{{lowest + s - 1}}}$" for s in steps]
        own.set_xticks(ticks, words, fontsize=7.5)
        own.set_xlim(-used - 0.8, used + 0.8)
        own.grid(False, axis="x")
        for entry, (name, values) in marks:
            if name and not any(same_text(name, label) for label in labels[i]):
                continue
            for what, value in values.items():
                at = histogram_place(value, lowest, n)
                own.axvline(at, color="0.25", linewidth=0.9, linestyle=(0, (4, 2)))
                if not labelled:
                    own.annotate(
                        plain(what),
                        (at, 0.98),
                        (2 if value > 0 else -2, 0),
                        xycoords=own.get_xaxis_transform(),
                        textcoords="offset points",
                        rotation=90,
                        va="top",
                        ha="left" if value > 0 else "right",
                        fontsize=7,
                        color="0.25",
                        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
                    )
            labelled = True
        if number % columns == 0:
            own.set_ylabel("Share (%)", fontsize=8.5)
        if number >= len(chosen) - columns:
            own.set_xlabel("Relative difference", fontsize=8.5)
            own.tick_params(labelbottom=True)
    dashes = Line2D([], [], color="0.25", linewidth=0.9, linestyle=(0, (4, 2)))
    sources = dict.fromkeys(source_text(entry) for entry, _ in marks)
    finish(figure, [], [(source, dashes, "") for source in sources])
    return Page("histogram", "Relative differences", figure, figure_caption(study, "histogram", False))


def exceedance_figure(study):
    """The share of values that are off by at least so much: what a single-precision run is worth, at a glance."""
    pooled, labels = pooled_histograms(study)
    if len(pooled) < 2:
        return None
    figure, ((axes,),) = new_page()
    heading(figure, study, study.title, "all fields and points together")
    names = histogram_axes(study)
    keys = {i: tuple(labels[i]) for i in pooled}
    style = Style(names, keys.values())
    lowest_share = 100.0
    for i, (lowest, negative, equal, positive) in pooled.items():
        counts = negative + positive
        total = counts.sum() + equal
        if total == 0:
            continue
        share = 100 * np.cumsum(counts[::-1])[::-1] / total
        sizes = 10.0 ** (lowest + np.arange(len(counts)) - 1)
        shown = (share > 0) & (np.arange(len(counts)) > 0)
        lowest_share = min(lowest_share, 100 / total)
        axes.plot(sizes[shown], share[shown], markersize=4, linewidth=1.4, **style.of(keys[i]))
    marks = []
    for source, name, values, looks in paper_series(study, "share", False):
        at = [(number_of(k), 100 * v) for k, v in values.items() if number_of(k)]
        axes.plot(*zip(*at), linestyle="none", markersize=6.5, zorder=5, **looks)
        marks.append((source, paper_handle(looks), name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(max(lowest_share / 2, 1e-6), 170)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1,), numticks=10))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("Relative difference from the reference", fontsize=9)
    axes.set_ylabel("Values off by at least that (%)", fontsize=9)
    finish(figure, style.entries(), marks)
    return Page("share_off", "How many values are off by how much", figure, figure_caption(study, "share", False))


def trace_figure(study):
    rows = [r for r in study.rows("trace") if finite(r.get("rms"))]
    if not rows:
        return None
    order = list(dict.fromkeys(r["point"] for r in rows))
    names = study.varying([study.by_id[i] for i in order])
    figure, ((axes,),) = new_page(1.05 + 0.31 * len(order))
    heading(figure, study, study.title, "gxx + gyy + gzz against Poisson's equation")
    looks = {"outside": (COLOURS[0], "o", -0.17), "inside": (COLOURS[1], "s", 0.17)}
    dot_rows(axes, [point_text(study, study.by_id[i], names) for i in order], 40)
    every = []
    for r in rows:
        scale = r.get("scale") if finite(r.get("scale")) and r.get("scale") else 1.0
        colour, marker, shift = looks.get(r.get("where"), ("0.4", "o", 0))
        at = order.index(r["point"]) + shift
        rms, largest = abs(r["rms"] / scale), abs((r.get("largest") or 0) / scale)
        if largest > 0:
            axes.plot([max(rms, 1e-18), largest], [at, at], color=colour, linewidth=1.1)
            axes.plot([largest], [at], "|", color=colour, markersize=6, markeredgewidth=1.4)
            every.append(largest)
        if rms > 0:
            axes.plot([rms], [at], marker, color=colour, markersize=4.5)
            every.append(rms)
        else:
            axes.text(
                0.01, at, "exactly 0", transform=axes.get_yaxis_transform(), fontsize=7, color=colour, va="center"
            )
    axes.set_xscale("log")
    low, high = min(every, default=1e-16), max(every, default=1)
    axes.set_xlim(low / 4, high * 4)
    logarithmic(axes.xaxis, low, high)
    axes.set_xlabel(r"|trace − expected| / scale  (outside: 0; inside: $-4\pi G\rho$)", fontsize=9)
    handles = [
        (Line2D([], [], linestyle="none", marker=marker, markersize=4.5, color=colour), f"{where}, RMS")
        for where, (colour, marker, _) in looks.items()
        if any(r.get("where") == where for r in rows)
    ]
    bar = Line2D([], [], linestyle="none", marker="|", color=GREY, markersize=6, markeredgewidth=1.4)
    finish(figure, [*handles, (bar, "largest")])
    return Page("trace", "Trace of the tensor", figure, figure_caption(study, "trace", False))


def busy_figure(study):
    rows = study.rows("busy")
    if not rows:
        return None
    order = list(dict.fromkeys(r["point"] for r in rows))[:6]
    names = study.varying([study.by_id[i] for i in order])
    workers = {i: sorted({(r["rank"], r["slot"]) for r in rows if r["point"] == i}) for i in order}
    ends = {i: max(r["end"] for r in rows if r["point"] == i) for i in order}
    # One unit for all, and one axis if the shortest can still be read on it.
    scale, unit = (1e3, "ms") if max(ends.values()) < 0.5 else (1, "s")
    together = max(ends.values()) <= 8 * min(ends.values())
    heights = [min(max(len(workers[i]), 2), 24) for i in order]
    tall = 0.9 + sum(0.16 * h + (0.28 if together else 0.42) for h in heights)
    figure, axes = new_page(tall, len(order), 1, height_ratios=heights, sharex=together)
    heading(figure, study, study.title, "when slots or devices worked")
    for i, own in zip(order, axes.flat):
        mine = [r for r in rows if r["point"] == i]
        begin = min(0, min(r["begin"] for r in mine))
        busy = 0.0
        for row, worker in enumerate(workers[i]):
            spans = [
                (scale * r["begin"], scale * (r["end"] - r["begin"]))
                for r in mine
                if (r["rank"], r["slot"]) == worker
            ]
            busy += sum(width for _, width in spans) / scale
            own.broken_barh(spans, (row - 0.4, 0.8), color=COLOURS[worker[0] % 7], linewidth=0)
        share = 100 * busy / ((ends[i] - begin) * len(workers[i])) if ends[i] > begin else 0
        title = f"{point_text(study, study.by_id[i], names)}: busy {share:.1f} % of the time"
        own.set_title(plain(title), fontsize=8, loc="left", pad=3)
        labels = [
            f"rank {r}" if s < 0 else (f"slot {s}" if len({w[0] for w in workers[i]}) == 1 else f"rank {r}, slot {s}")
            for r, s in workers[i]
        ]
        step = max(1, math.ceil(len(labels) / 16))
        own.set_yticks(range(0, len(labels), step), labels[::step], fontsize=7.5)
        own.set_ylim(len(labels) - 0.4, -0.6)
        if not together:
            own.set_xlim(scale * begin, scale * ends[i] * 1.01)
        own.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        own.grid(False, axis="y")
        own.tick_params(axis="y", length=0)
    if together:
        own.set_xlim(scale * min(0, min(r["begin"] for r in rows)), scale * max(ends.values()) * 1.01)
    own.set_xlabel(f"Time since the fields began ({unit})", fontsize=9)
    finish(figure)
    return Page("busy", "Load of every slot over time", figure, figure_caption(study, "busy", False))


def portability_figure(study):
    """Efficiencies of each platform, and their harmonic mean, as Pennycook et al. define performance portability."""
    rows = [r for r in study.data.get("portability") or [] if isinstance(r, dict)]
    panels = []
    for row in rows:
        platforms = row.get("platforms") or []
        if isinstance(platforms, dict):
            platforms = [{"machine": name, "efficiency": value} for name, value in platforms.items()]
        pairs = [
            (study.called(str(p.get("machine") or p.get("platform"))), p.get("efficiency", p.get("value")))
            for p in platforms
        ]
        if pairs:
            panels.append((row, pairs))
    if not panels:
        return None
    panels = panels[:8]
    names = list(dict.fromkeys(name for _, pairs in panels for name, _ in pairs))
    figure, ((axes,),) = new_page(1.05 + len(panels) * (0.16 + 0.17 * len(names)))
    heading(figure, study, study.title, "performance portability")
    words = []
    for row, _ in panels:
        kept = ", ".join(value_text(str(k), v) for k, v in (row.get("application") or {}).items())
        several = len({str(other.get("problem")) for other, _ in panels}) > 1
        problem = f"problem {str(row.get('problem'))[:8]}" if several and row.get("problem") else ""
        kind = f"{row.get('efficiency') or ''} efficiency".strip()
        words.append(", ".join(part for part in (kind, kept, problem) if part))
    dot_rows(axes, words)
    style = Style(["machine"], [(name,) for name in names])
    thickness = 0.8 / len(names)
    handles = [(Patch(color=style.of((name,))["color"]), name) for name in names]
    for row_number, (row, pairs) in enumerate(panels):
        for name, value in pairs:
            at = row_number + (names.index(name) - (len(names) - 1) / 2) * thickness
            if finite(value):
                axes.barh(at, 100 * value, 0.86 * thickness, color=style.of((name,))["color"], linewidth=0)
            text = f"{100 * value:.3g} %" if finite(value) else "not run"
            axes.text(1.005, at, text, va="center", fontsize=7.5, transform=axes.get_yaxis_transform())
        whole = row.get("value", row.get("portability"))
        if finite(whole):
            axes.plot([100 * whole] * 2, [row_number - 0.44, row_number + 0.44], color="black", linewidth=1.8)
    if any(finite(row.get("value", row.get("portability"))) for row, _ in panels):
        handles.append((Line2D([], [], color="black", linewidth=1.8), "portability (harmonic mean)"))
    axes.set_xlim(0, 100.5)
    axes.set_xlabel("Efficiency (%)", fontsize=9)
    finish(figure, handles)
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
    if top == 0 or 0.1 <= top < 1e4:
        return values, unit
    exponent = math.floor(math.log10(top))
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
    own.tick_params(labelsize=7.5)
    bar = figure.colorbar(image, ax=own, shrink=0.95, pad=0.03, aspect=20)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7, length=2, width=0.5)
    bar.locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    bar.update_ticks()
    own.set_title(f"{title} ({unit})", fontsize=8.5, loc="left", pad=4)
    own.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    own.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))


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
            fields = in_order(row.get("fields") or NATIVE)
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
    groups = [("potential",), VECTOR, TENSOR[:3], TENSOR[3:], [f for f in values if f not in NATIVE]]
    rows = [row for row in ([f for f in group if f in values] for group in groups) if row]
    columns = max(map(len, rows))
    ratio = (northing[-1] - northing[0]) / (easting[-1] - easting[0])
    # What a map is wide beside its bar and the labels, in inches.
    width = min((PAGE_WIDTH - 0.5) / columns - 0.55, 4.5)
    figure, axes = new_page((width * ratio + 0.3) * len(rows) + 0.85, len(rows), columns)
    heading(figure, study, study.title, words)
    for row, fields in zip(axes, rows):
        for own, field in itertools.zip_longest(row, fields):
            if field is None:
                own.set_visible(False)
            else:
                draw_map(figure, own, easting, northing, values[field][0], values[field][1], symbol_of(field))
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
    figure, axes = new_page({2: 5.0, 3: 4.7}.get(len(shown), 4.3), 2, len(shown), height_ratios=[1.3, 1])
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
        filled = own.contourf(e, n, own_values, levels=levels, cmap="viridis", extend="both")
        own.contour(e, n, own_values, levels=levels, colors="black", linewidths=0.5, linestyles="solid")
        own.set_aspect("equal")
        own.grid(False)
        rough = roughness(own_values - smooth) if column else 0.0
        size = UNITS.get(unit, unit)
        own.set_title(plain(textwrap.fill(called(point), 22)), fontsize=7.5, loc="left")
        own.xaxis.set_major_locator(MaxNLocator(4))
        own.yaxis.set_major_locator(MaxNLocator(5))
        own.set_xlabel("Easting (km)", fontsize=8)
        own.tick_params(labelleft=column == 0)
        below = axes[1][column]
        for one in (own, below):
            one.tick_params(labelsize=7.5)
        if column == 0:
            own.set_ylabel("Northing (km)", fontsize=8)
            below.plot(e, own_values[middle], color=COLOURS[0], linewidth=1.4)
            below.set_ylabel(f"{symbol_of(field)}, middle row ({size})", fontsize=8)
            below.yaxis.set_major_locator(MaxNLocator(5))
        else:
            difference = own_values[middle] - smooth[middle]
            difference, label = scaled(difference, unit)
            below.axhline(0, color="0.6", linewidth=0.7)
            below.plot(e, difference, color=COLOURS[column % 7], linewidth=1, marker="o", markersize=2.5)
            below.set_ylabel(f"difference ({label})", fontsize=8)
            below.set_title(f"roughness {power(rough, 2)}\n{size}", fontsize=7.5, loc="left")
            below.yaxis.set_major_locator(MaxNLocator(5))
        below.set_xlabel("Easting (km)", fontsize=8)
        below.xaxis.set_major_locator(MaxNLocator(4))
    # one for all: they have the same levels
    bar = figure.colorbar(filled, ax=list(axes[0]), pad=0.02, aspect=18)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7.5, length=2, width=0.5)
    bar.set_label(f"{symbol_of(field)} ({size})", fontsize=8)
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
    page = roofline_figure(study)
    if page is not None:
        yield page


# ---- the page

CSS = """
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; max-width: 1060px; margin: 2em auto;
  padding: 0 1.2em; }
h1 { font-size: 1.7em; margin-bottom: 0.1em; }
h2 { font-size: 1.2em; margin-top: 2.2em; border-bottom: 1px solid #ddd; }
.sub, figcaption, .note { color: #666; font-size: 0.9em; }
figure { margin: 1.8em 0; } figure img { width: 100%; max-width: 880px; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86em; margin: 0.8em 0; }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid #888; padding: 3px 12px 3px 0;
  vertical-align: bottom; }
td { border-bottom: 1px solid #eee; padding: 3px 12px 3px 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
figcaption { max-width: 880px; }
td.n { white-space: nowrap; }
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
    if study.command != "run":
        wanted += ["setup_seconds", *(q for q in QUANTITIES_OF[study.command] if q not in wanted)]
        wanted = list(dict.fromkeys(wanted))
    shown = [q for q in wanted if any(quantity(p, q) for p in study.points)]
    heads = [axis_name(a) for a in axes] + ["State", "Runs"] + [quantity_label(q) for q in shown]
    rows, pale = [], set()
    for number, point in enumerate(study.points):
        row = []
        for a in axes:
            text = study.label(point, a) or ""
            row.append(right(text) if number_of(text) is not None else text)
        state = STATUS_WORDS.get(point.get("status"), str(point.get("status")))
        if point.get("oversubscribed"):
            state += ", oversubscribed"
        if point.get("status") != "ok":
            pale.add(number)
        row += [state.replace("not run", "not\N{NO-BREAK SPACE}run"), right(point.get("runs") or "")]
        row += [with_interval(quantity(point, q)) for q in shown]
        rows.append(row)
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
            if finite(serial) and serial > 1:
                row.append(right("no speed-up"))
            elif finite(serial):
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
    fields = in_order({f for rows in found.values() for f in rows})
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
    axes = study.varying(study.points)
    rows = [
        [state, why, named_points(study, study.points, gone, axes, len(gone))]
        for state, why, gone in gap_reasons(study.points)
    ]
    return table(["State", "Why", "Points"], rows)


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
        what = "model differs" if study.command == "invert" else "fields differ"
        lines.append(
            f"A run whose {what} from the reference by more than {rules['tolerance']:g} of the largest value "
            "has no speed."
        )
    runs = runs_a_point(study)
    if runs:
        lines.append(
            f"{range_text(runs)} timed runs a point, {rules.get('warmup', 0)} warm-ups before them, which do not count."
        )
    if rules.get("order"):
        seed = f", seed {rules['seed']}" if rules.get("order") == "random" and rules.get("seed") is not None else ""
        lines.append(f"Order of the runs: {str(rules['order']).replace('_', ' ')}{seed}, repeat by repeat.")
    if rules.get("budget_forbade"):
        lines.append("The time budget forbade some repeats: such points have fewer runs, as their column says.")
    if runs and runs[0] < 5:
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
            of = {"sensitivity": "a product", "invert": "inversion"}.get(study.command, "field time")
            lines.append(f"Fastest: {point_text(study, fastest)}, {short(q[0])} s of {of}.")
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
    for page, png, svg in pictures:
        caption = f"<b>{html.escape(page.title)}.</b> {html.escape(page.caption)}"
        figures.append(
            f'<figure><img alt="{html.escape(page.title)}" '
            f'src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            f'<figcaption>{caption} <a download="{page.name}.svg" '
            f'href="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">SVG</a></figcaption></figure>'
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
    write_file(study.folder / "report.html", text)


def save(figure, kind, **keywords):
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, facecolor="white", **keywords)
    return stream.getvalue()


def main(words):
    """Draws the study in the folder words[0]."""
    matplotlib.rcParams.update(
        {"font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "prismfield", "axes.unicode_minus": True,
         "figure.max_open_warning": 0}
    )
    study = Study(words[0])
    figures = study.folder / "figures"
    figures.mkdir(exist_ok=True)
    pictures, problems = [], []
    pages = list(all_pages(study, problems))
    for number, page in enumerate(pages, 1):
        # the program shows it on a terminal
        print(f"drawing {number} of {len(pages)}", flush=True)
        png = save(page.figure, "png", dpi=DPI)
        write_file(figures / f"{page.name}.png", png)
        svg = save(page.figure, "svg", metadata={"Date": None})
        write_file(figures / f"{page.name}.svg", svg)
        plt.close(page.figure)
        pictures.append((page, png, svg))
    write_html(study, pictures, problems)
