# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""study.json with questions to it, and its values in words, for the figures and tables of the report."""

import json
import math
import pathlib
import re

from .spec import last_word
from .study_data import quantities_of
from .study_files import middle_of
from .texts import grouped

# other names of quantities, by which studies ask for them
ALIASES = {"time": "total_seconds", "error": "largest_error"}
# drawn for points that are not oversubscribed alone
SCALING = ("speed_up", "efficiency")

AXIS_NAMES = {
    "block": "Threads per block",
    "block_size": "Threads per block",
    "blocks": "Blocks of 32 threads",
    "slots": "Slots (grids of their own)",
    "devices": "GPUs",
    "cards": "GPUs",
    "computed": "Computed by",
    "batch": "Prisms per batch",
    "pairs": "Prism-point pairs",
    "space": "Execution space",
    "bind": "Binding of threads",
    "storage": "Sensitivities",
}
OWN_NAMES = "threads ranks nodes hardware prisms cells partition precision kernel fields machine stations"
AXIS_NAMES |= {name: name.capitalize() for name in OWN_NAMES.split()}
# axes of counts, and what one of them is called
COUNTED = {name: name[:-1] for name in ("threads", "ranks", "nodes", "slots", "cells", "prisms", "blocks")}
COUNTED |= {"devices": "GPU", "cards": "GPU"}
# axes whose values need no name
SAYING = "space precision machine fields point hardware computed grid stations storage".split()
PARTITIONS = {"prisms": "by prisms", "points": "by points", "points_per_prism": "by points, a region a prism"}
STATUS_WORDS = {
    "ok": "ran",
    "not run": "not run",
    "failed": "failed",
    "wrong": "outside the tolerance",
    "out of budget": "out of budget",
}
ONE_POINT = "the case as it stands"
PAPERS = {
    "A": "Couder-Castañeda et al. 2013",
    "B": "Moorkamp et al. 2010",
    "C": "Couder-Castañeda et al. 2014",
}


def finite(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number_of(text):
    """The number that a text is, or None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def same_text(a, b):
    """Texts that mean one value: 2 and 2.0, double and double."""
    x, y = number_of(a), number_of(b)
    return a is not None and b is not None and (x == y if None not in (x, y) else str(a).strip() == str(b).strip())


def short(value, digits=3):
    """A number for reading: 0.0123, 12.3, 12,300, 1.2e-9."""
    if not finite(value):
        return ""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def range_text(numbers):
    """numbers: ascending."""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


class Study:
    """study.json. A point knows its machine; without --join there is one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        file = self.folder / "study.json"
        self.data = json.loads(file.read_text(encoding="utf-8"))
        if self.data.get("schema") != "prismfield-study":
            raise ValueError(f"{file} is not a study of prismfield")
        if self.data.get("version") != 1:
            raise ValueError(f"{file} has version {self.data.get('version')}, 1 is understood here")
        self.title, self.command = self.data["title"] or "Study", self.data.get("command", "run")
        self.quantities = quantities_of(self.command)
        self.quantities |= {alias: self.quantities[name] for alias, name in ALIASES.items()}
        self.machines = self.data.get("machines") or [self.data.get("machine") or {}]
        names = [m.get("name") or m.get("host") or f"machine {i + 1}" for i, m in enumerate(self.machines)]
        self.axes = {axis["name"]: axis["values"] for axis in self.data["axes"]}
        self.points = self.data["points"]
        self.numbers = {name: number for number, name in enumerate(names)}
        self.by_id = {point["id"]: point for point in self.points}
        self.joined = len(self.machines) > 1
        # A name such as "4 x H200" would say of runs on the processor that the cards computed.
        self.idle = [self.has_idle_cards(number) for number in range(len(names))]
        shown = [self.machine_text(number) if self.idle[number] else name for number, name in enumerate(names)]
        self.names = shown if len(set(shown)) == len(shown) else names
        called = dict(zip(names, self.names))
        self.called = lambda name: called.get(name, name)
        self.numbers |= {name: number for number, name in enumerate(self.names)}
        self.fits = self.data.get("fits") or []
        for named in (*self.points, *(fit["group"] for fit in self.fits)):
            if "machine" in named:
                named["machine"] = self.called(named["machine"])

    def has_idle_cards(self, number):
        """Whether a machine has cards and all of its runs were on its processor."""
        spaces = {p.get("space") for p in self.points if p["status"] == "ok" and self.machine(p) == number}
        return bool(self.machines[number].get("gpus") and spaces) and spaces <= {"serial", "openmp", "threads"}

    def machine_text(self, number):
        """A machine in a few words, without cards that no run used."""
        machine, parts = self.machines[number], []
        if machine.get("processor"):
            name = re.sub(r"\((R|TM|r|tm)\)|\bCPU\b|\b(\d+-Core )?Processor\b|@.*$", "", machine["processor"])
            cores = machine.get("cores")
            parts.append(" ".join(name.split()) + (f", {cores} cores" if cores else ""))
        gpus = [gpu.get("name", "GPU") for gpu in machine.get("gpus") or []]
        for name in dict.fromkeys([] if self.idle[number] else gpus):
            parts.append(f"{gpus.count(name)} × {name}")
        return "  ·  ".join(parts) or machine.get("name") or machine.get("host") or ""

    def rows(self, key):
        """The rows of a table that belong to points, in the order of the points, not in that of their runs."""
        place = {id: place for place, id in enumerate(self.by_id)}
        found = [row for row in self.data.get(key) or [] if row["point"] in place]
        return sorted(found, key=lambda row: place[row["point"]])

    def machine(self, point):
        """The number of a point's machine."""
        return self.numbers.get(point.get("machine"), 0)

    def label(self, point, axis):
        """A point's text on an axis, which is an axis of the sweep, a key moved by one, or a property; or None."""
        if axis == "machine":
            return self.names[self.machine(point)]
        labels = point["labels"]
        if axis in labels:
            return labels[axis]
        for text in labels.values():
            if found := re.search(rf"(?:^|[\s{{,.]){re.escape(axis)}\s*[:=]\s*([^,}}\]]+)", text):
                return found[1].strip()
        value = point.get(last_word(axis))
        return None if value is None or isinstance(value, (dict, list)) else str(value)

    def labels(self, point, axes):
        return tuple(self.label(point, name) for name in axes)

    def varying(self, points):
        """The axes on which some points differ, the machine before all."""
        names = (["machine"] if self.joined else []) + list(self.axes)
        return [name for name in names if len({self.label(point, name) for point in points}) > 1]

    def varying_of(self, ids):
        return self.varying([self.by_id[id] for id in ids])

    def quantity(self, point, name):
        """(value, low, high) of a point's quantity in its unit, or None where it has none."""
        if point["status"] != "ok" and not (name == "error" and point["status"] == "wrong"):
            return None
        if name in SCALING and point["oversubscribed"]:
            return None
        own = self.quantities[name]
        found, middle = own.of(point), middle_of(own.of(point))
        if not finite(middle):
            return None
        bounds = (found[key] for key in ("low", "high")) if isinstance(found, dict) else ()
        low, high = [bound if finite(bound) else middle for bound in bounds] or (middle, middle)
        return middle * own.factor, low * own.factor, high * own.factor

    def quantity_label(self, name):
        own = self.quantities[name]
        return f"{own.words} ({own.axis_unit})" if own.axis_unit else own.words

    def point_text(self, point, axes=None):
        axes = self.varying(self.points) if axes is None else axes
        return curve_name(axes, self.labels(point, axes)) or ONE_POINT

    def runs_a_point(self):
        """How many timed runs the points have that have any, in ascending order: joined studies differ."""
        return sorted({point["runs"] for point in self.points if point["runs"]})

    def figures(self):
        """What the study asks for; of one that asks for nothing time against the axis with the most numbers."""
        if self.data.get("figures"):
            return self.data["figures"]
        several = [name for name, values in self.axes.items() if len(values) > 1]
        numeric = [name for name in several if None not in map(number_of, self.axes[name])]
        names = numeric or several or list(self.axes)
        x = max(names, key=lambda name: len(self.axes[name]), default="")
        ys = ("field_seconds", "speed_up", "efficiency") if x in ("threads", "ranks", "devices") else ("field_seconds",)
        return [{"x": x, "y": y} for y in ys] if names else []

    # ---- what papers found

    def comparisons(self, y, first):
        """Those of compare_with that belong to a figure of y; one that names none belongs to the first figure."""
        entries = self.data.get("compare_with") or []
        return [entry for entry in entries if (entry["y"] == y if entry.get("y") else first)]

    def paper_series(self, y, first):
        """(source, name, {x: value}) of every series of the papers that belongs to a figure of y."""
        of = [(source_text(entry), *series) for entry in self.comparisons(y, first) for series in series_of(entry)]
        return [series for series in of if series[2]]

    def caption(self, y, first=False, *more):
        sentences = [
            f"{source_text(entry)}: {str(entry['note']).strip()}"
            for entry in self.comparisons(y, first)
            if entry.get("note")
        ]
        return " ".join(s if s.endswith(".") else s + "." for s in [*sentences, *filter(None, more)])

    # ---- what has no value

    def gap_notes(self, points, axes):
        """Sentences on the points that have no value: which, and why."""
        notes = []
        for state, why, gone in gap_reasons(points):
            why = why if len(why) <= 100 else why[:99].rstrip() + "…"
            because = f" ({why})" if why else ""
            notes.append(f"{state[0].upper()}{state[1:]}: {self.named_points(points, gone, axes)}{because}.")
        return notes

    def named_points(self, points, gone, axes, most=3):
        """The points of `gone` in few words: the values of one axis if these are all that have them, else each."""
        if len(gone) == len(points):
            return "all points" if len(points) > 1 else "the point"
        lost = {id(point) for point in gone}
        for axis in axes:
            values = list(dict.fromkeys(self.label(point, axis) for point in gone))
            if all(id(point) in lost for point in points if self.label(point, axis) in values):
                order = list(dict.fromkeys(self.label(point, axis) for point in points))
                places = [order.index(value) for value in values]
                is_range = len(values) > 2 and places == list(range(places[0], places[0] + len(places)))
                if is_range and None not in map(number_of, values):
                    return f"{axis_name(axis).lower()} {values[0]} to {values[-1]}"
                return ", ".join(value_text(axis, value) for value in values)
        names = list(dict.fromkeys(self.point_text(point, axes) for point in gone))
        return "; ".join(names) if len(names) <= most else f"{len(names)} points, named in the report"


def gap_reasons(points):
    """(state, why, points) of those that have no value; reasons that differ in their digits alone are one."""
    gaps = (point for point in points if point["status"] != "ok")
    reasons = grouped(gaps, lambda point: (point["status"], re.sub(r"\d+", "#", point["why"])))
    for (status, _), gone in reasons.items():
        whys = list(dict.fromkeys(point["why"] for point in gone))
        state = "not run here" if status == "not run" else STATUS_WORDS[status]
        yield state, whys[0] + (", and so on" if len(whys) > 1 else ""), gone


def source_text(entry):
    """The paper and its figure: Couder-Castañeda et al. 2013, Fig. 7."""
    paper, figure = str(entry.get("paper", "")), str(entry.get("figure") or "")
    words = PAPERS.get(paper[:1], paper) if re.fullmatch(r"[ABC]\d+\w*", paper) else paper
    return words + (f", Fig. {figure}" if figure[:1].isdigit() else f", {figure}" if figure else "")


def series_of(entry):
    """(name, {x: value}) of each series of a comparison: one without a name, or several with."""
    values = entry.get("values") or {}
    has_names = bool(values) and all(isinstance(value, dict) for value in values.values())
    series = values if has_names else {"": values} if values else {}
    return [(name, {k: v for k, v in own.items() if finite(v)}) for name, own in series.items()]


def axis_name(name):
    return AXIS_NAMES.get(last_word(name), name.replace("_", " "))


def value_text(name, value):
    """A value with as much of its axis' name as it needs to be understood."""
    last, value = last_word(name), str(value)
    if last == "partition":
        return PARTITIONS.get(value, f"partition {value}")
    if last == "kernel":
        return f"kernel {value}"
    if last == "upward" and number_of(value) is not None:
        return f"at {float(value):,.10g} m".replace("-", "−")
    if last in COUNTED:
        count = f"{int(value):,}" if value.isdigit() else value
        return f"{count} {COUNTED[last]}{'' if value == '1' else 's'}"
    if last in SAYING:
        return value.strip("[]{}") if value != "auto" else f"{last} auto"
    return f"{axis_name(name).lower() if last in AXIS_NAMES else last} {value}"


def curve_name(axes, values):
    return ", ".join(value_text(name, value) for name, value in zip(axes, values) if value is not None)
