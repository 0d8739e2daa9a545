# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The figures of a study: each function draws one kind and returns a page, or None for nothing."""

import functools
import itertools
import math
import textwrap
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from ..field_names import UNITS, in_order, symbol_of
from ..figures import fields
from ..figures.drawing import GREY, Dataset, Variable, open_file, scaled
from . import report_data
from .report_data import ONE_POINT, STATUS_WORDS, axis_name, curve_name, finite, last_word, number_of, same_text, short
from .texts import grouped

# Okabe and Ito's colours, which the colour-blind tell apart; yellow, faint on white, comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
LINES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
PAPER_STYLES = (
    {"marker": "D", "markerfacecolor": "0.25", "markeredgecolor": "0.25"},
    {"marker": "D", "markerfacecolor": "white", "markeredgecolor": "0.25"},
    {"marker": "v", "markerfacecolor": "0.55", "markeredgecolor": "0.25"},
    {"marker": "v", "markerfacecolor": "white", "markeredgecolor": "0.25"},
    {"marker": "P", "markerfacecolor": "0.4", "markeredgecolor": "white"},
    {"marker": "X", "markerfacecolor": "0.4", "markeredgecolor": "white"},
)
PALE = "0.9"
ROUND = [1, 2, 2.5, 5, 10]

# Every figure is as wide as a page of a journal; inches above the drawing for title and machine, beside them, and
# between what stands below.
PAGE_WIDTH = 7.2
HEADING_ROOM = 0.5
MARGIN, BETWEEN = 0.08, 0.09
SETTINGS = {
    # Texts are measured at the resolution that they are drawn at, since their sizes are rounded to pixels.
    **{"figure.dpi": 170, "savefig.dpi": "figure", "font.family": "DejaVu Sans", "axes.unicode_minus": True},
    **{"svg.fonttype": "path", "svg.hashsalt": "prismfield", "figure.max_open_warning": 0},
    **{"figure.constrained_layout.w_pad": 0.05, "figure.constrained_layout.h_pad": 0.05},
    **{f"{axis}tick.{key}": value for axis in "xy" for key, value in (("labelsize", 8.5), ("major.size", 3))},
    **{"xtick.major.width": 0.6, "ytick.major.width": 0.6, "axes.linewidth": 0.6, "axes.labelsize": 9},
    **{"axes.grid": True, "grid.color": PALE, "grid.linewidth": 0.6, "axes.axisbelow": True},
    **{"axes.spines.top": False, "axes.spines.right": False, "errorbar.capsize": 2},
    **{"legend.fontsize": 8, "legend.title_fontsize": 8, "legend.frameon": False, "legend.handlelength": 2.2},
    **{"legend.columnspacing": 1.6, "legend.labelspacing": 0.4, "legend.borderpad": 0, "legend.borderaxespad": 0},
}


class Page(NamedTuple):
    """One figure: its drawing, and what stands below it on the report's page."""

    name: str
    title: str
    figure: Figure
    caption: str = ""


def plain(text):
    """A text of the study's in a figure: its dollar signs are no formulas."""
    return str(text).replace("$", r"\$")


def told_of(study):
    """What the heading of each figure says of its study."""
    machine = "  ·  ".join(study.names) if study.joined else study.machine_text(0)
    return [machine, *(["reduced size"] if study.data.get("reduced") else [])]


def new_page(study, below, height=3.3, rows=1, columns=1, **keywords):
    """A figure of the one width that all have and its axes; in its top left corner the study's title in bold and,
    smaller and cut at the margin, `below` and the machine. finished() adds legend and notes under it."""
    keywords |= {"figsize": (PAGE_WIDTH, height), "squeeze": False, "layout": "constrained"}
    figure, axes = plt.subplots(rows, columns, **keywords)

    def head(words, down, **looks):
        corner = figure.transFigure + ScaledTranslation(MARGIN, -down, figure.dpi_scale_trans)
        return figure.text(0, 1, plain(words), va="top", in_layout=False, transform=corner, **looks)

    head(study.title, 0.08, fontsize=10.5, fontweight="bold")
    second = head("  ·  ".join(filter(None, (below, *told_of(study)))), 0.29, fontsize=8, color=GREY)
    while second.get_window_extent().width > (PAGE_WIDTH - 2 * MARGIN) * figure.dpi:
        second.set_text(second.get_text().rstrip(" …")[:-1].rstrip() + "…")
    return figure, axes


def legend_groups(handles, marks):
    """(title, entries) of each legend below a figure."""
    groups = [("", list(own)) for none, own in itertools.groupby(handles, lambda entry: entry is None) if not none]
    for source, own in itertools.groupby(marks, key=lambda mark: mark[0]):
        own = [(handle, name) for _, handle, name in own]
        if len(own) > 1:
            groups.append((source, [(handle, name or "the paper's values") for handle, name in own]))
        else:
            # A single mark without a name is called after its paper.
            groups.append((source, own) if own[0][1] else ("", [(own[0][0], source)]))
    return groups


def finished(name, title, figure, caption="", handles=(), marks=(), notes=()):
    """The page, with legends and notes under the drawing, in its width, so that it grows downwards: first what was
    measured, a None among the handles begins a new line, then each paper's marks under its name, then in grey what the
    reader must know, as what did not run."""
    # from the lower edge upwards, inches
    inches, below = figure.dpi_scale_trans, 0.0
    if notes:
        lines = "\n".join(plain(textwrap.fill(note, 122)) for note in dict.fromkeys(notes))
        looks = {"fontsize": 7.5, "color": "0.35", "linespacing": 1.35, "va": "bottom"}
        words = figure.text(MARGIN, BETWEEN, lines, transform=inches, in_layout=False, **looks)
        below = BETWEEN + words.get_window_extent().height / figure.dpi
    for heading, entries in reversed(legend_groups(handles, marks)):
        artists, names = [handle for handle, _ in entries], [plain(name) for _, name in entries]
        place = {"loc": "lower left", "bbox_to_anchor": (MARGIN, below + BETWEEN), "bbox_transform": inches}
        # As many columns as fit, and of these no more than the lines need.
        for lines in range(math.ceil(len(entries) / 6), len(entries) + 1):
            columns = math.ceil(len(entries) / lines)
            looks = {"title": plain(heading) or None, "ncols": columns, "alignment": "left"}
            legend = figure.legend(artists, names, **place, **looks)
            legend.set_in_layout(False)
            box = legend.get_window_extent()
            if columns == 1 or box.width <= (PAGE_WIDTH - 2 * MARGIN) * figure.dpi:
                break
            legend.remove()
        below += BETWEEN + box.height / figure.dpi
    below += BETWEEN / 2
    height = figure.get_figheight() + below
    figure.set_size_inches(PAGE_WIDTH, height)
    figure.get_layout_engine().set(rect=(0, below / height, 1, 1 - (below + HEADING_ROOM) / height))
    return Page(name, title, figure, caption)


# handles of the legend
line = functools.partial(Line2D, [], [])
mark = functools.partial(line, linestyle="none")


def number_tick(value, _position=None):
    """A tick of a logarithmic axis: 0.001 to 10,000 in digits, else a power."""
    return f"{value:,.10g}" if 1e-3 <= value < 1e5 else power(value)


def power(value, digits=3):
    """A number as a power of ten: 10⁻⁷, 2.3 × 10⁻⁷."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    factor = f"{float(mantissa):g}\\times".removeprefix("1\\times")
    return f"${factor}10^{{{int(exponent)}}}$" if value else "0"


def logarithmic(axis, low, high):
    """Ticks of a logarithmic axis that are neither one alone nor a crowd."""
    decades = math.log10(high / low) if low > 0 else 1
    subs = (1.0, 2.0, 5.0) if decades < 2.5 else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(number_tick))
    axis.set_minor_locator(NullLocator() if decades > 7 else LogLocator(base=10, subs=range(2, 10), numticks=99))
    axis.set_minor_formatter(NullFormatter())


def decades(axis, locator):
    """Ticks of a logarithmic axis at its decades alone."""
    axis.set_major_locator(locator)
    axis.set_minor_locator(NullLocator())


class Style:
    """Colour, marker and line of the curves of a figure, each a tuple of labels. Up to five curves differ in all three;
    of more, one label, `factor`, chooses the colour, and the others marker and line, so that the legend is no tower."""

    def __init__(self, axes, keys):
        self.axes, self.factor, keys = axes, None, list(dict.fromkeys(keys))
        values = [list(dict.fromkeys(labels)) for labels in zip(*keys)]
        several = [i for i, own in enumerate(values) if len(own) > 1]
        if len(keys) > 5 and len(several) > 1:
            self.factor = max(several, key=lambda i: len(values[i]) if len(values[i]) <= len(COLOURS) else 0)
            self.colours = values[self.factor]
            self.lines = list(dict.fromkeys(map(self.rest, keys)))
        self.by_key = {key: self.looks(*self.numbers(number, key)) for number, key in enumerate(keys)}

    def rest(self, key):
        return key[: self.factor] + key[self.factor + 1 :]

    def numbers(self, number, key):
        """Of colour, marker and line."""
        if self.factor is None:
            return number, number, number // len(COLOURS)
        shape = self.lines.index(self.rest(key))
        return self.colours.index(key[self.factor]), shape, shape

    @staticmethod
    def looks(colour, shape, dashes):
        own = {"color": COLOURS[colour % len(COLOURS)], "marker": MARKERS[shape % len(MARKERS)]}
        return own | {"linestyle": LINES[dashes % len(LINES)]}

    def of(self, key):
        return self.by_key[key]

    def entries(self, single="measured", has_line=True):
        """Handles and names for the legend."""

        def entry(axes, key, looks):
            looks = {"markersize": 5, "linewidth": 1.5} | looks | ({} if has_line else {"linestyle": "none"})
            return Line2D([], [], **looks), curve_name(axes, key) or single

        if self.factor is None:
            return [entry(self.axes, key, looks) for key, looks in self.by_key.items()]
        axis, others = self.axes[self.factor], self.rest(self.axes)
        lines = [entry(others, key, self.looks(0, i, i) | {"color": "0.25"}) for i, key in enumerate(self.lines)]
        colours = zip(itertools.cycle(COLOURS), self.colours)
        return [*((Patch(color=own), curve_name([axis], [text]) or single) for own, text in colours), None, *lines]


class PaperSeries(NamedTuple):
    """What a paper found in a figure's place."""

    values: dict  # by text of x
    looks: dict
    entry: tuple  # source, handle and name, for the legend


def papers_of(study, y, first=False):
    """Every series of the papers that belongs to a figure of y."""
    return [
        PaperSeries(values, looks, (source, mark(markersize=6, **looks), name))
        for (source, name, values), looks in zip(study.paper_series(y, first), itertools.cycle(PAPER_STYLES))
    ]


# ---- one quantity against an axis


def sweep_figure(study, spec, number, used_names):
    """A figure of the study: one quantity against an axis, a curve for each combination of the others."""
    x, y = spec["x"], spec["y"]
    if y not in study.quantities:
        return None
    points = [p for p in study.points if study.label(p, x) is not None]
    # Without a value there is something to be seen only where points could not run: their gaps and a paper's marks.
    if all(p["status"] == "ok" and study.quantity(p, y) is None for p in points):
        return None
    texts = list(dict.fromkeys(study.label(p, x) for p in points))
    if own_order := study.axes.get(x):
        texts.sort(key=lambda text: own_order.index(text) if text in own_order else len(own_order))
    # An axis that x moves along, as a `point` that holds block and slots, makes no curves.
    curve_axes = [
        name
        for name in study.varying(points)
        if name != x and len({study.labels(p, (x, name)) for p in points}) > len(texts)
    ]
    asked = spec.get("curves") or []
    others = [name for name in curve_axes if name not in asked]
    curve_axes = [name for name in asked if name in curve_axes]
    worst_only = y == "error" and bool(asked) and bool(others)
    if not worst_only:
        # Times of different things are never drawn as one; of errors the worst is what counts.
        curve_axes += others
    curves = grouped(points, lambda point: study.labels(point, curve_axes))

    def error(point):
        return (study.quantity(point, "error") or [-math.inf])[0]

    if worst_only:
        for key, own in curves.items():
            places = grouped(own, lambda point: study.label(point, x)).values()
            curves[key] = [max(same, key=error) for same in places]
    drawn = bar_figure if None in map(number_of, texts) else line_figure
    over_shown, figure, *below = drawn(study, spec, x, y, texts, curve_axes, curves, number == 0)
    hollow = "Hollow points have more threads than cores and are on no curve." if over_shown else ""
    caption = study.caption(y, number == 0, hollow)
    if worst_only:
        caption = f"The worst over {', '.join(axis_name(name).lower() for name in others)}. {caption}".strip()
    name = f"{y}_by_{last_word(x)}"
    while name in used_names:
        name += "_"
    return finished(name, f"{study.quantities[y].words} by {axis_name(x).lower()}", figure, caption, *below)


def axis_scales(log, xs, ys):
    """Whether x and y are logarithmic: as the study says, else by the range of the numbers."""
    if log is not None:
        return "x" in log, "y" in log
    log_x = len(xs) > 2 and min(xs) > 0 and max(xs) >= 32 * min(xs)
    return log_x, len(ys) > 0 and min(ys) > 0 and max(ys) > 30 * min(ys)


def is_count(x):
    return last_word(x) in ("threads", "ranks", "devices", "cards", "nodes")


def repeats_text(study):
    if not (runs := study.runs_a_point()):
        return ""
    return "one run each" if runs[-1] == 1 else f"median of {report_data.range_text(runs)}, 95 % intervals"


def line_figure(study, spec, x, y, texts, curve_axes, curves, first):
    """Whether it has hollow points, the figure, and what stands below it: handles, marks and notes."""
    figure, ((axes,),) = new_page(study, repeats_text(study))
    every = [point for points in curves.values() for point in points]
    present = [key for key, points in curves.items() if any(study.quantity(p, y) for p in points)]
    style, extra, all_x, all_y, laws = Style(curve_axes, present), [], [], [], {}
    over_shown, gap_words, marked_x, marks = False, [], [], []
    factor = study.quantities[y].factor

    def at_x(point):
        return number_of(study.label(point, x))

    seen_at = {at_x(point) for point in every if study.quantity(point, y)}
    for values, points in curves.items():
        points = sorted(points, key=at_x)
        xs = np.array([at_x(p) for p in points])
        all_x += list(xs)
        if values not in present:
            continue
        looks = style.of(values)
        colour = looks["color"]
        found = [study.quantity(p, y) for p in points]
        over = np.array([p["oversubscribed"] for p in points], bool)
        good = np.array([f is not None for f in found])
        middle, low, high = (np.array([f[i] if f else np.nan for f in found]) for i in range(3))
        all_y += [*low[good], *high[good]]
        # Curves stand a little beside each other, so that whiskers at one place can be told apart.
        beside = 2.2 / 72 * (present.index(values) - (len(present) - 1) / 2)
        moved = axes.transData + ScaledTranslation(beside, 0, figure.dpi_scale_trans)
        curve = np.where(over, np.nan, middle)
        axes.plot(xs, curve, linewidth=1.4, color=colour, linestyle=looks["linestyle"], transform=moved)
        errors = np.abs(np.vstack([middle - low, high - middle]))
        for some, face in ((good & ~over, colour), (good & over, "white")):
            if some.any():
                bars = errors[:, some] if errors[:, some].any() else None
                dot = {"fmt": looks["marker"], "color": colour, "markerfacecolor": face, "markersize": 4.5}
                axes.errorbar(xs[some], middle[some], yerr=bars, elinewidth=0.9, zorder=3, transform=moved, **dot)
        if y == "speed_up" and (law := amdahl_line(axes, study, x, dict(zip(curve_axes, values)), xs[good], colour)):
            laws[values] = law
        over_shown |= bool((good & over).any())
        # A curve's own gap, where others have a value: a cross on the lower edge in its colour.
        gaps = [(at, p) for at, f, p in zip(xs, found, points) if not f and p["status"] != "ok" and at in seen_at]
        gap_words += [STATUS_WORDS[p["status"]] for _, p in gaps]
        if gaps:
            cross = {"color": colour, "markersize": 5, "transform": axes.get_xaxis_transform(), "clip_on": False}
            axes.plot([at for at, _ in gaps], [0.012] * len(gaps), "x", **cross)
    for values, looks, entry in papers_of(study, y, first):
        at = {number_of(k): v * factor for k, v in values.items() if number_of(k) is not None}
        all_y += [v * factor for v in values.values()]
        marked_x += at
        if at:
            axes.plot(list(at), list(at.values()), linestyle="none", markersize=6, zorder=4, **looks)
            marks.append(entry)
        for words in (k for k in values if number_of(k) is None):
            level = axes.axhline(values[words] * factor, zorder=1, color="0.35", linewidth=1, linestyle=(0, (5, 2)))
            marks.append((entry[0], level, ", ".join(filter(None, (entry[2], words)))))
    all_x += marked_x
    dashed = {"color": "0.55", "linewidth": 1, "linestyle": (0, (4, 3))}
    if y == "speed_up" and seen_at and is_count(x):
        start = min(seen_at)
        ends = np.geomspace(start, max([*seen_at, *marked_x]), 50)
        axes.plot(ends, ends / start, zorder=0.5, **dashed)
        extra.append((line(**dashed), "ideal"))
        all_y.append(ends[-1] / start)
    if y == "efficiency":
        axes.axhline(100, zorder=0.5, **dashed)
        all_y.append(100)
    log_x, log_y = axis_scales(spec.get("log"), all_x, all_y)
    # What was measured shall not sit in a corner because a paper had many times the threads: the ideal is a straight
    # line on two logarithmic axes too.
    if is_count(x) and seen_at and min(all_x) > 0 and max(all_x) > 4 * max(seen_at):
        log_x, log_y = True, log_y or y == "speed_up"
    scale_x(axes, all_x, sorted({number_of(t) for t in texts} | set(marked_x)), log_x)
    # What is exactly right has no place on a logarithmic axis.
    without_error = y == "error" and log_y and min(all_y, default=1) <= 0 < max(all_y, default=0)
    scale_y(axes, [v for v in all_y if v > 0] if without_error else all_y, log_y)
    show_gaps(axes, {at_x(point): point for point in reversed(every)}, seen_at)
    axes.set(xlabel=plain(axis_name(x)), ylabel=study.quantity_label(y))
    if over_shown:
        extra.append((mark(marker="o", color=GREY, markerfacecolor="white", markersize=5), "more threads than cores"))
    if gap_words:
        extra.append((mark(marker="x", color=GREY, markersize=5), ", ".join(dict.fromkeys(gap_words))))
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
        extra.insert(0, (line(color=GREY, linewidth=1, linestyle=(0, (1, 1.5))), "Amdahl's law"))
    handles += [None, *extra] if style.factor is not None and extra else extra
    notes = study.gap_notes(every, [*curve_axes, x])
    if without_error:
        notes.append("Points without any error are left out.")
    if y in report_data.SCALING and any(p["oversubscribed"] and p["status"] == "ok" for p in every):
        notes.append("Points with more threads than cores have no speed-up and are left out.")
    return over_shown, figure, handles if len(handles) > 1 or marks or curve_axes else [], marks, notes


def amdahl_line(axes, study, x, wanted, xs, colour):
    """Draws the speed-up that Amdahl's law allows with the serial fraction that was fitted, and the band of its
    interval; its entry of the legend, or None. A fraction that is none, below 0 or above 1, is not drawn."""
    for fit in study.fits:
        law = fit["amdahl"] or {}
        other = any(not same_text(fit["group"][k], wanted[k]) for k in wanted if k in fit["group"])
        if fit["along"] != x or other or not finite(law.get("serial")) or not 0 <= law["serial"] <= 1:
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
        return line(**dots), text
    return None


def scale_x(axes, all_x, ticks, log_x):
    low, high = min(all_x), max(all_x)
    if log_x:
        ratio = (high / low) ** 0.04 if high > low else 1.5
        axes.set(xscale="log", xlim=(low / ratio, high * ratio))
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
        is_whole = all(float(t).is_integer() for t in ticks)
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=is_whole))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}" if v < 1e7 else power(v)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def scale_y(axes, values, log_y):
    if not values:
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_locator(NullLocator())
        return
    low, high = min(values), max(values)
    if log_y and low > 0:
        ratio = max((high / low) ** 0.08, 1.12)
        axes.set(yscale="log", ylim=(low / ratio, high * ratio))
        logarithmic(axes.yaxis, low, high)
        return
    axes.set_ylim(min(0, low), 1.08 * high if high > 0 else 1)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=ROUND))
    axes.ticklabel_format(axis="y", scilimits=(-9, 5), useMathText=True)


def show_gaps(axes, first_at, seen_at):
    """Pale bands where no curve has a value, neighbours in one; words where the whole figure has none. `first_at` has
    the first point at each place."""
    state = {
        at: "oversubscribed" if point["status"] == "ok" else STATUS_WORDS[point["status"]]
        for at, point in first_at.items()
        if at not in seen_at
    }
    if not seen_at:
        words = "not run here" if any(p["status"] != "ok" for p in first_at.values()) else "nothing to compare"
        axes.text(0.02, 0.04, words, transform=axes.transAxes, fontsize=9, color=GREY)
    to_share = axes.transScale + axes.transLimits
    places = sorted(first_at)
    shares = to_share.transform([(at, axes.get_ylim()[1]) for at in places])[:, 0]
    # Half the way to a neighbour, and never wide.
    ways = np.diff(shares, prepend=-1, append=2) / 2
    halves = np.minimum(np.minimum(ways[:-1], ways[1:]), 0.02)
    for words, own in itertools.groupby(range(len(places)), lambda i: state.get(places[i])):
        if words is None:
            continue
        own = list(own)
        left, right = max(shares[own[0]] - halves[own[0]], 0), min(shares[own[-1]] + halves[own[-1]], 1)
        band = {"color": "0.945", "linewidth": 0, "zorder": 0, "transform": axes.transAxes}
        axes.add_patch(Rectangle((left, 0), right - left, 1, **band))
        if seen_at:
            turned = {"rotation": 0 if right - left > 0.014 * len(words) else 90, "ha": "center", "va": "top"}
            looks = {"fontsize": 7.5, "color": GREY, "zorder": 1, "transform": axes.transAxes}
            axes.text((left + right) / 2, 0.97, words, **turned, **looks)


def dot_rows(axes, names, width=30):
    """Rows with a name each, from the top down, and a pale line along each for the eye."""
    axes.set_yticks(range(len(names)), [plain(textwrap.fill(name, width)) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0, pad=6)
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color=PALE, linewidth=0.6, zorder=0)


def row_word(axes, x, row, words, **looks):
    """Words at the left or right end of a row."""
    axes.text(x, row, words, **{"fontsize": 7.5, "va": "center", "transform": axes.get_yaxis_transform(), **looks})


def bar_figure(study, spec, x, y, texts, curve_axes, curves, first):
    """Values of an axis that are no numbers: a row each, bars from zero, or points where the range is large."""
    papers = papers_of(study, y, first)
    own = [k for series in papers for k in series.values if not any(same_text(k, t) for t in texts)]
    rows = list(dict.fromkeys([*texts, *own]))
    every = [point for points in curves.values() for point in points]
    present = [key for key, points in curves.items() if any(study.quantity(p, y) for p in points)] or list(curves)[:1]
    n = len(present)
    figure, ((axes,),) = new_page(study, repeats_text(study), min(1.05 + len(rows) * (0.16 + 0.17 * n), 8))
    name_of_y, unit, factor = (getattr(study.quantities[y], key) for key in ("words", "axis_unit", "factor"))
    style, found_y = Style(curve_axes, present), [v for p in every for v in study.quantity(p, y) or ()]
    found_y += [v * factor for series in papers for v in series.values.values()]
    # Short times are told in milliseconds.
    in_unit = 1
    if unit == "s" and max(found_y, default=1) < 0.1:
        unit, in_unit = "ms", 1e3
        found_y = [in_unit * value for value in found_y]
    # Of errors some are 0, which no logarithmic axis shows: they stand hollow on its edge.
    positive = [v for v in found_y if v > 0] if y == "error" else found_y
    # There is one axis of numbers here, which log: x and log: y both mean.
    log = axis_scales(None, [1], positive)[1] if spec.get("log") is None else any(axis_scales(spec["log"], [], []))
    log = log and min(positive, default=0) > 0
    low, high = (min(positive), max(positive)) if log else (0, max(found_y, default=1))
    edge = min(low / (high / low) ** 0.05, low / 1.5) if log else 0
    thickness, over_shown = 0.8 / n, False
    named = last_word(x) in ("partition", "kernel", "precision", "space", "point")
    dot_rows(axes, [report_data.value_text(x, row) if named else row for row in rows], 26)
    for c, values in enumerate(present):
        looks = style.of(values)
        for point in curves[values]:
            row = texts.index(study.label(point, x)) + (c - (n - 1) / 2) * thickness
            if (found := study.quantity(point, y)) is None:
                words = "oversubscribed" if point["status"] == "ok" else STATUS_WORDS[point["status"]]
                row_word(axes, 0.008, row, words, color=GREY)
                continue
            middle, least, most = (in_unit * value for value in found)
            over = point["oversubscribed"]
            over_shown |= over
            face = "white" if over or (log and middle <= 0) else looks["color"]
            if log:
                dot = {"color": looks["color"], "markerfacecolor": face, "markersize": 5.5, "clip_on": False}
                axes.plot([max(middle, edge)], [row], looks["marker"], **dot)
            else:
                axes.barh(row, middle, 0.86 * thickness, color=face, linewidth=1, edgecolor=looks["color"])
            if most > least:
                whisker = {"color": "0.15", "linewidth": 1.1, "solid_capstyle": "butt", "zorder": 1.9 if log else 4}
                axes.plot([least, most], [row, row], **whisker)
            text = power(middle, 2 if y == "error" else 3) if abs(middle) < 1e-3 else short(middle)
            text = f"{text} {unit}".strip() + (" (oversubscribed)" if over else "")
            beside = {"textcoords": "offset points", "fontsize": 7.5, "va": "center"}
            axes.annotate(text, (max(most, middle, edge), row), (6, 0), **beside)
    for values, looks, _ in papers:
        at = [next(i for i, row in enumerate(rows) if same_text(row, text)) for text in values]
        sizes = [v * factor * in_unit for v in values.values()]
        axes.plot(sizes, at, linestyle="none", markersize=6, zorder=5, clip_on=False, **looks)
    if log:
        axes.set(xscale="log", xlim=(edge, high * max((high / low) ** 0.13, 2.5)))
        logarithmic(axes.xaxis, *axes.get_xlim())
    else:
        axes.set_xlim(0, 1.2 * high or 1)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=ROUND) if found_y else NullLocator())
        if found_y and not 1e-3 <= high < 1e5:
            axes.xaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.set_xlabel(f"{name_of_y} ({unit})" if unit else name_of_y)
    handles = style.entries(has_line=False)
    if not log:
        # Bars have no markers, so that of two labels both are told by the colour.
        handles = [(Patch(color=style.of(key)["color"]), curve_name(curve_axes, key) or "measured") for key in present]
    shown = len(handles) > 1 or papers or any(curve_axes)
    marks = [series.entry for series in papers]
    return over_shown, figure, handles if shown else [], marks, study.gap_notes(every, [*curve_axes, x])


# ---- figures of one kind


def roofline_figure(study):
    placed = []
    for point in study.points:
        intensity, rate = (point.get("roofline") or {}).get("intensity"), study.quantity(point, "arithmetic_rate")
        if finite(intensity) and intensity > 0 and rate and rate[0] > 0 and not point["oversubscribed"]:
            placed.append((point, intensity, rate[0]))
    used = {(study.machine(point), point.get("space")) for point, _, _ in placed}
    roofs = {
        (m, space): own
        for m, machine in enumerate(study.machines)
        for space, own in (machine.get("calibration") or {}).items()
        if (m, space) in used and finite(own.get("bandwidth"))
    }
    if not roofs:
        return None
    figure, ((axes,),) = new_page(study, "roofline of the measured peak and bandwidth", 3.6)
    xs = [intensity for _, intensity, _ in placed]
    kinds = ("peak_double", "peak_single")
    peaks = [(own[key], own["bandwidth"]) for own in roofs.values() for key in kinds if finite(own.get(key))]
    ridge = [peak / bandwidth for peak, bandwidth in peaks]
    low, high = min(xs + ridge) / 4, max(xs + ridge) * 6
    grid = np.geomspace(low, high, 400)
    extra = []
    for number, ((m, space), own) in enumerate(roofs.items()):
        colour, texts = ("0.2", "0.5", "0.7")[number % 3], []
        for key, dash, words in (("peak_double", "-", "double"), ("peak_single", (0, (4, 2)), "single")):
            if finite(own.get(key)):
                roof = np.minimum(grid * own["bandwidth"], own[key]) * 1e-9
                axes.plot(grid, roof, color=colour, linewidth=1.2, linestyle=dash, zorder=1.5)
                texts.append(f"{short(own[key] * 1e-9)} GFLOP/s {words}")
        where = f"{study.names[m]}, {space}" if study.joined else space
        text = f"limits of {where}: {', '.join(texts)} (dashed), {short(own['bandwidth'] * 1e-9)} GB/s"
        extra.append(("", line(color=colour, linewidth=1.2), text))
    varying = study.varying([p for p, _, _ in placed])
    telling = [name for name in varying if last_word(name) in ("machine", "space", "precision", "kernel", "fields")]
    style = Style(telling, [study.labels(point, telling) for point, _, _ in placed])
    for point, intensity, rate in placed:
        looks = style.of(study.labels(point, telling))
        axes.plot([intensity], [rate], looks["marker"], color=looks["color"], markersize=5, zorder=3)
    top = [1e-9 * peak for peak, _ in peaks]
    bottom = min([*(rate for _, _, rate in placed), min(top) / 20]) / 2
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(bottom, max(top) * 2))
    logarithmic(axes.xaxis, low, high)
    logarithmic(axes.yaxis, *axes.get_ylim())
    axes.set(xlabel="Operations per byte (FLOP/B)", ylabel="Arithmetic rate (GFLOP/s)")
    caption = "Operations are those of the kernel's own forms, counted; the roofs were measured in the same study."
    handles = style.entries(single="runs of the study", has_line=False)
    return finished("roofline", "Roofline", figure, caption, handles, extra)


def is_seed(axis):
    """Whether an axis holds models that differ in their random numbers alone: they are one case."""
    return last_word(axis) in ("seed", "mesh")


def errors_of(study):
    """{point: {field: row}} of the errors against the reference."""
    found = {}
    for row in study.rows("errors"):
        if finite(row["rms_difference"]):
            found.setdefault(row["point"], {})[row["field"]] = row
    return found


def chosen_errors(study, found):
    """Points of the errors figure, and the axes that tell them apart. Many runs of one problem differ in ways that
    errors hardly know: then the worst of each of what they do know."""

    def labels(i, axes):
        return study.labels(study.by_id[i], axes)

    axes_of = study.varying_of(found)
    telling = [a for a in axes_of if not is_seed(a)] or axes_of
    for known in (("machine", "precision", "kernel", "space", "partition"), ("precision", "kernel")):
        if len({labels(i, telling) for i in found}) > 8:
            telling = [a for a in telling if last_word(a) in known] or telling
    if telling == axes_of:
        return list(found), axes_of
    worst = {}
    for i in found:
        size = max(row["rms_difference"] for row in found[i].values())
        key = labels(i, telling)
        if key not in worst or size > worst[key][0]:
            worst[key] = (size, i)
    return [i for _, i in worst.values()], telling


def errors_figure(study):
    """RMS differences of every field, a dot each: lengths of bars would mean nothing on a logarithmic axis."""
    found = errors_of(study)
    specs = study.data.get("figures") or []
    papers = papers_of(study, "errors")
    # A study of times has its errors in a table; they are no news there.
    if not found or not (not specs or any(spec["y"] == "error" for spec in specs) or papers):
        return None
    chosen, axes_of = chosen_errors(study, found)
    dropped = max(0, len(chosen) - 8)
    chosen = chosen[:8]
    fields = in_order({f for i in chosen for f in found[i]})
    groups = [[f for f in fields if f == "potential"], *([f for f in fields if len(f) == n] for n in (2, 3))]
    groups = [g for g in groups if g]
    ratios = [len(g) + 0.6 for g in groups]
    below = "RMS difference from the reference"
    figure, axes = new_page(study, below, 3.5, 1, len(groups), width_ratios=ratios)
    keys = [study.labels(study.by_id[i], axes_of) for i in chosen]
    style = Style(axes_of, keys)
    places = len(chosen) + len(papers)
    every = [found[i][f]["rms_difference"] for i in chosen for f in fields if f in found[i]]
    every += [series.values[f] for series in papers for f in fields if f in series.values]
    positive = [v for v in every if v > 0] or [1e-16]
    low, high = 10 ** (math.floor(math.log10(min(positive))) - 0.5), 10 ** math.ceil(math.log10(max(positive)) + 0.2)
    zero = False
    for group, own in zip(groups, axes.flat):
        own.set(yscale="log", ylim=(low, high))
        for f, field in enumerate(group):
            if f % 2 == 0:
                own.axvspan(f - 0.5, f + 0.5, color="0.965", linewidth=0, zorder=0)
            for c, (i, key) in enumerate(zip(chosen, keys)):
                if field in found[i]:
                    value = found[i][field]["rms_difference"]
                    zero |= value == 0
                    looks = style.of(key) | {"linestyle": "none", "markersize": 4.5, "zorder": 3}
                    looks |= {} if value > 0 else {"markerfacecolor": "white", "clip_on": False}
                    own.plot([f + (c - (places - 1) / 2) * 0.84 / places], [max(value, low)], **looks)
        for c, (values, looks, _) in enumerate(papers, len(chosen)):
            shift = (c - (places - 1) / 2) * 0.84 / places
            if at := [(f + shift, values[field]) for f, field in enumerate(group) if field in values]:
                own.plot(*zip(*at), linestyle="none", markersize=5, zorder=4, **looks)
        unit = next((found[i][group[0]]["unit"] for i in chosen if group[0] in found[i]), "")
        own.set_xticks(range(len(group)), [symbol_of(f) for f in group], fontsize=10.5)
        own.grid(False, axis="x")
        own.tick_params(axis="x", length=0)
        own.set(xlim=(-0.5, len(group) - 0.5), ylabel=f"RMS difference ({UNITS.get(unit, unit)})")
        decades(own.yaxis, LogLocator(base=10, numticks=9))
    text = "Hollow marks on the lower edge: exactly 0, as where a point is computed as its reference is."
    marks = [series.entry for series in papers]
    handles = style.entries(single="runs of the study", has_line=False)
    caption = study.caption("errors")
    if dropped:
        caption += f" {dropped} more points are in the table."
    elif len(found) > len(chosen):
        caption = f"The worst of the points that differ in nothing else. {caption}"
    return finished("errors", "Errors by field", figure, caption.strip(), handles, marks, [text] if zero else [])


def histogram_axes(study, most=8):
    """The axes that histograms are told apart by. Where there are more than `most`, axes along which only the problem
    differs are added up, as a paper's five random models are: those with the most values first, and the later ones."""
    points = list({row["point"]: study.by_id[row["point"]] for row in study.rows("histograms")}.values())

    def within_a_problem(name):
        problems = grouped(points, lambda point: point.get("problem")).values()
        return any(len({study.label(point, name) for point in own}) > 1 for own in problems)

    within = study.varying(points)
    others = [name for name in reversed(within) if not within_a_problem(name)]
    for name in sorted(others, key=lambda name: -len({study.label(point, name) for point in points})):
        if is_seed(name) or len({study.labels(p, within) for p in points}) > most:
            within.remove(name)
    return within


def pooled_histograms(study):
    """The axes and {labels on them: (lowest, negative, equal, positive)} with fields added up."""
    within, pooled = histogram_axes(study), {}
    for row in study.rows("histograms"):
        labels = study.labels(study.by_id[row["point"]], within)
        counts = np.array(row["negative"], float), row["equal"], np.array(row["positive"], float)
        lowest, *before = pooled.get(labels, (row["lowest"], 0, 0, 0))
        pooled[labels] = (lowest, *(a + b for a, b in zip(before, counts)))
    return within, pooled


def histogram_place(value, lowest, n):
    """Where a signed relative difference stands on the axis of decades: equal at 0, 10^lowest at 1."""
    size = min(max(math.log10(abs(value)) - lowest + 1, 0.5), n)
    return math.copysign(size + 0.5, value)


def histogram_figure(study):
    within, pooled = pooled_histograms(study)
    if not pooled:
        return None
    chosen = list(pooled)[:8]
    columns = 1 if len(chosen) == 1 else 2
    rows = math.ceil(len(chosen) / columns)
    below = "relative differences from the reference, all fields and points together"
    figure, axes = new_page(study, below, 0.9 + 1.35 * rows, rows, columns, sharex=True, sharey=True)
    entries = study.comparisons("histogram", False)
    marks = [(entry, series) for entry in entries for series in report_data.series_of(entry)]
    # The axis ends where the last difference of any panel does, or a paper's mark.
    lowest, used = min(pooled[i][0] for i in chosen), 4
    totals, failing = {}, {}
    for i in chosen:
        _, negative, equal, positive = pooled[i]
        filled = np.flatnonzero(negative + positive)
        used = max(used, filled[-1] + 1 if len(filled) else 0)
        totals[i] = max(negative.sum() + equal + positive.sum(), 1)
        last = len(negative) - 2
        failing[i] = 100 * (negative[last:].sum() + positive[last:].sum()) / totals[i]
    for _, (_, values) in marks:
        used = max([used, *(math.ceil(abs(histogram_place(v, lowest, 99))) for v in values.values())])
    smallest, labelled = min(100 / total for total in totals.values()), False
    dashes = {"color": "0.25", "linewidth": 0.9, "linestyle": (0, (4, 2))}
    for number, (i, own) in enumerate(itertools.zip_longest(chosen, axes.flat)):
        if i is None:
            own.set_visible(False)
            continue
        _, negative, equal, positive = pooled[i]
        n = len(positive)
        share = 100 * np.concatenate([negative[::-1], [equal], positive]) / totals[i]
        colour = np.array([COLOURS[1]] * n + ["0.55"] + [COLOURS[0]] * n)
        shown = share > 0
        own.bar(np.arange(-n, n + 1)[shown], share[shown], 0.86, color=colour[shown], linewidth=0)
        own.set(yscale="log", ylim=(max(smallest / 2, 1e-6), 200))
        decades(own.yaxis, FixedLocator([10.0**k for k in range(-6, 3, 1 if smallest > 1e-2 else 2)]))
        own.yaxis.set_major_formatter(FuncFormatter(number_tick))
        # What is said of one panel is said of all, and of none where nothing is off by so much.
        tail = f": {short(failing[i], 2)} % off by ≥ 0.1" if any(failing.values()) else ""
        own.set_title(plain((curve_name(within, i) or ONE_POINT) + tail), fontsize=7.5, loc="left", pad=3)
        steps = list(range(5, used + 2, 6 if used > 12 else 4))
        ticks = [-s - 0.5 for s in reversed(steps)] + [0] + [s + 0.5 for s in steps]
        words = [f"$-10^{{{lowest + s - 1}}}$" for s in reversed(steps)] + ["equal"]
        words += [f"$10^{{{lowest + s - 1}}}$" for s in steps]
        own.set_xticks(ticks, words, fontsize=7.5)
        own.set_xlim(-used - 0.8, used + 0.8)
        own.grid(False, axis="x")
        for entry, (name, values) in marks:
            if name and not any(same_text(name, label) for label in i):
                continue
            for what, value in values.items():
                at = histogram_place(value, lowest, n)
                own.axvline(at, **dashes)
                if not labelled:
                    side, away = ("left", 2) if value > 0 else ("right", -2)
                    looks = {"rotation": 90, "va": "top", "ha": side, "fontsize": 7, "color": "0.25"}
                    looks["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6}
                    place = {"xycoords": own.get_xaxis_transform(), "textcoords": "offset points"}
                    own.annotate(plain(what), (at, 0.98), (away, 0), **place, **looks)
            labelled = True
        if number % columns == 0:
            own.set_ylabel("Share (%)", fontsize=8.5)
        if number >= len(chosen) - columns:
            own.set_xlabel("Relative difference", fontsize=8.5)
            own.tick_params(labelbottom=True)
    sources = dict.fromkeys(report_data.source_text(entry) for entry, _ in marks)
    marks = [(source, line(**dashes), "") for source in sources]
    return finished("histogram", "Relative differences", figure, study.caption("histogram"), [], marks)


def exceedance_figure(study):
    """The share of values that are off by at least so much: what a single-precision run is worth, at a glance."""
    within, pooled = pooled_histograms(study)
    if len(pooled) < 2:
        return None
    figure, ((axes,),) = new_page(study, "all fields and points together")
    style, lowest_share = Style(within, pooled), 100.0
    for labels, (lowest, negative, equal, positive) in pooled.items():
        counts = negative + positive
        total = counts.sum() + equal
        if total == 0:
            continue
        share = 100 * np.cumsum(counts[::-1])[::-1] / total
        sizes = 10.0 ** (lowest + np.arange(len(counts)) - 1)
        shown = (share > 0) & (np.arange(len(counts)) > 0)
        lowest_share = min(lowest_share, 100 / total)
        axes.plot(sizes[shown], share[shown], markersize=4, linewidth=1.4, **style.of(labels))
    papers = papers_of(study, "share")
    for values, looks, _ in papers:
        at = [(number_of(k), 100 * v) for k, v in values.items() if number_of(k)]
        axes.plot(*zip(*at), linestyle="none", markersize=6.5, zorder=5, **looks)
    axes.set(xscale="log", yscale="log", ylim=(max(lowest_share / 2, 1e-6), 170))
    decades(axes.xaxis, LogLocator(base=10, subs=(1,), numticks=10))
    decades(axes.yaxis, LogLocator(base=10, numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(number_tick))
    axes.set(xlabel="Relative difference from the reference", ylabel="Values off by at least that (%)")
    marks, title = [series.entry for series in papers], "How many values are off by how much"
    return finished("share_off", title, figure, study.caption("share"), style.entries(), marks)


def trace_figure(study):
    rows = [r for r in study.rows("trace") if finite(r["rms"])]
    if not rows:
        return None
    order = list(dict.fromkeys(r["point"] for r in rows))
    names = study.varying_of(order)
    figure, ((axes,),) = new_page(study, "gxx + gyy + gzz against Poisson's equation", 1.05 + 0.31 * len(order))
    looks = {"outside": (COLOURS[0], "o", -0.17), "inside": (COLOURS[1], "s", 0.17)}
    dot_rows(axes, [study.point_text(study.by_id[i], names) for i in order], 40)
    every = []
    for r in rows:
        colour, marker, shift = looks[r["where"]]
        at = order.index(r["point"]) + shift
        rms, largest = (abs((r[key] or 0) / (r["scale"] or 1.0)) for key in ("rms", "largest"))
        if largest > 0:
            axes.plot([max(rms, 1e-18), largest], [at, at], color=colour, linewidth=1.1)
            axes.plot([largest], [at], "|", color=colour, markersize=6, markeredgewidth=1.4)
        if rms > 0:
            axes.plot([rms], [at], marker, color=colour, markersize=4.5)
        else:
            row_word(axes, 0.01, at, "exactly 0", fontsize=7, color=colour)
        every += [value for value in (largest, rms) if value > 0]
    low, high = min(every, default=1e-16), max(every, default=1)
    axes.set(xscale="log", xlim=(low / 4, high * 4))
    logarithmic(axes.xaxis, low, high)
    axes.set_xlabel(r"|trace − expected| / scale  (outside: 0; inside: $-4\pi G\rho$)")
    handles = [
        (mark(marker=marker, markersize=4.5, color=colour), f"{where}, RMS")
        for where, (colour, marker, _) in looks.items()
        if any(r["where"] == where for r in rows)
    ]
    bar = mark(marker="|", color=GREY, markersize=6, markeredgewidth=1.4)
    return finished("trace", "Trace of the tensor", figure, study.caption("trace"), [*handles, (bar, "largest")])


def busy_figure(study):
    of = grouped(study.rows("busy"), lambda row: row["point"])
    if not of:
        return None
    order = list(of)[:6]
    names = study.varying_of(order)
    workers = {i: sorted({(r["rank"], r["slot"]) for r in of[i]}) for i in order}
    ends = {i: max(r["end"] for r in of[i]) for i in order}
    # One unit for all, and one axis if the shortest can still be read on it.
    scale, unit = (1e3, "ms") if max(ends.values()) < 0.5 else (1, "s")
    together = max(ends.values()) <= 8 * min(ends.values())
    heights = [min(max(len(workers[i]), 2), 24) for i in order]
    tall = 0.9 + sum(0.16 * h + (0.28 if together else 0.42) for h in heights)
    below = "when slots or devices worked"
    figure, axes = new_page(study, below, tall, len(order), 1, height_ratios=heights, sharex=together)
    for i, own in zip(order, axes.flat):
        begin = min(0, min(r["begin"] for r in of[i]))
        busy = 0.0
        for row, worker in enumerate(workers[i]):
            mine = [r for r in of[i] if (r["rank"], r["slot"]) == worker]
            spans = [(scale * r["begin"], scale * (r["end"] - r["begin"])) for r in mine]
            busy += sum(width for _, width in spans) / scale
            own.broken_barh(spans, (row - 0.4, 0.8), color=COLOURS[worker[0] % 7], linewidth=0)
        share = 100 * busy / ((ends[i] - begin) * len(workers[i])) if ends[i] > begin else 0
        title = f"{study.point_text(study.by_id[i], names)}: busy {share:.1f} % of the time"
        own.set_title(plain(title), fontsize=8, loc="left", pad=3)
        alone = len({rank for rank, _ in workers[i]}) == 1
        labels = [f"rank {r}" if s < 0 else f"slot {s}" if alone else f"rank {r}, slot {s}" for r, s in workers[i]]
        step = max(1, math.ceil(len(labels) / 16))
        own.set_yticks(range(0, len(labels), step), labels[::step], fontsize=7.5)
        own.set_ylim(len(labels) - 0.4, -0.6)
        if not together:
            own.set_xlim(scale * begin, scale * ends[i] * 1.01)
        own.xaxis.set_major_locator(MaxNLocator(7, steps=ROUND))
        own.grid(False, axis="y")
        own.tick_params(axis="y", length=0)
    if together:
        begin = min(0, min(r["begin"] for rows in of.values() for r in rows))
        own.set_xlim(scale * begin, scale * max(ends.values()) * 1.01)
    own.set_xlabel(f"Time since the fields began ({unit})")
    return finished("busy", "Load of every slot over time", figure, study.caption("busy"))


def portability_figure(study):
    """Efficiencies of each platform, and their harmonic mean, as Pennycook et al. define performance portability."""
    rows = (study.data.get("portability") or [])[:8]
    if not rows:
        return None
    panels = [[(study.called(p["platform"]), p["efficiency"]) for p in row["platforms"]] for row in rows]
    names = list(dict.fromkeys(name for pairs in panels for name, _ in pairs))
    figure, ((axes,),) = new_page(study, "performance portability", 1.05 + len(rows) * (0.16 + 0.17 * len(names)))
    several = len({row["problem"] for row in rows}) > 1
    words = []
    for row in rows:
        kept = ", ".join(report_data.value_text(k, v) for k, v in row["application"].items())
        problem = f"problem {row['problem'][:8]}" if several else ""
        words.append(", ".join(part for part in (f"{row['efficiency']} efficiency", kept, problem) if part))
    dot_rows(axes, words)
    style = Style(["machine"], [(name,) for name in names])
    thickness = 0.8 / len(names)
    handles = [(Patch(color=style.of((name,))["color"]), name) for name in names]
    for number, (row, pairs) in enumerate(zip(rows, panels)):
        for name, value in pairs:
            at = number + (names.index(name) - (len(names) - 1) / 2) * thickness
            if finite(value):
                axes.barh(at, 100 * value, 0.86 * thickness, color=style.of((name,))["color"], linewidth=0)
            row_word(axes, 1.005, at, f"{100 * value:.3g} %" if finite(value) else "not run")
        if finite(row["value"]):
            axes.plot([100 * row["value"]] * 2, [number - 0.44, number + 0.44], color="black", linewidth=1.8)
    if any(finite(row["value"]) for row in rows):
        handles.append((line(color="black", linewidth=1.8), "portability (harmonic mean)"))
    axes.set(xlim=(0, 100.5), xlabel="Efficiency (%)")
    caption = "Architectural: share of the machine's limit; application: share of the best that was measured on it."
    return finished("portability", "Performance portability", figure, caption, handles)


def all_charts(study, problems):
    """The figures that the study asks for, those of one kind and maps; says to `problems` which there are none of."""
    used = set()
    for number, spec in enumerate(study.figures()):
        if page := sweep_figure(study, spec, number, used):
            used.add(page.name)
            yield page
        else:
            problems.append(f"no figure of {spec['y']} by {spec['x']}: no point has them")
    kinds = (errors_figure, histogram_figure, exceedance_figure, trace_figure, busy_figure, portability_figure)
    yield from filter(None, (draw(study) for draw in kinds))
    yield from map_pages(study, problems)
    if page := roofline_figure(study):
        yield page


def map_pages(study, problems):
    # Maps of different problems, as of two heights, have nothing to be subtracted from each other.
    groups = {}
    for row in study.rows("maps"):
        try:
            path = study.folder / row["file"]
            found = fields.in_order(open_file(path), path)
        except Exception as error:
            problems.append(f"no maps of {row['file']}: {type(error).__name__}: {error}")
            continue
        names = [name for name in in_order(row["fields"]) if name in found and found[name].ndim == 2]
        if names and min(shape := found[names[0]].shape) > 1:
            problem = study.by_id[row["point"]].get("problem"), shape
            groups.setdefault(problem, []).append((row["point"], found, names))
    for number, group in enumerate(groups.values()):
        yield from pages_of_problem(study, group, f"_{number + 1}" if len(groups) > 1 else "")


def pages_of_problem(study, loaded, suffix):
    """The fields of the most exact point, what up to three others differ by, the worst first, and zooms."""
    names = study.varying_of([i for i, *_ in loaded])
    everywhere = study.varying_of([row["point"] for row in study.rows("maps")])
    which = study.point_text(study.by_id[loaded[0][0]], [name for name in everywhere if name not in names])
    which = f", {which}" if suffix else ""

    def called(i):
        return study.point_text(study.by_id[i], names)

    def error(entry):
        found = study.by_id[entry[0]].get("largest_error")
        return found if finite(found) else math.inf

    def page(name, title, words, dataset, own, contours):
        dataset.attrs["title"] = study.title
        with plt.style.context("default"):
            figure = fields.draw_grid(dataset, own, {}, [*textwrap.wrap(words, 90), *told_of(study)], contours)
        return Page(name, f"{title}: {words}", figure)

    ordered = sorted(loaded, key=error)
    base, others = ordered[0], ordered[:0:-1][:3]
    first, exact, own = base
    yield page(f"maps{suffix}", "The fields", called(first) + which, exact, own, 8)
    for number, (i, found, theirs) in enumerate(others):
        differing = [name for name in theirs if name in own]
        less = {f: Variable(exact[f].dims, found[f].values - exact[f].values, exact[f].attrs) for f in differing}
        words = f"{called(i)} less {called(first)}{which}"
        difference = Dataset({**exact.variables, **less})
        # lines through rounding would hide it
        yield page(f"map_differences{suffix}_{number + 1}", "Differences", words, difference, differing, 0)
    for field in [f for f in ("gz", "gzz") if f in own] or own[:1]:
        if zoom := zoom_page(study, field, base, others, called, suffix, which):
            yield zoom


def roughness(values):
    """RMS of what a map departs by from the mean of a node's four neighbours."""
    inner = values[1:-1, 1:-1] - (values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:]) / 4
    return float(np.sqrt(np.nanmean(inner**2)))


def flattest_window(values, high, wide):
    """Of the windows of so many rows and columns that hold the largest value, as the papers zoom, that where the field
    varies least."""
    top = np.unravel_index(np.nanargmax(np.abs(values)), values.shape)
    windows = [
        (slice(j, j + high), slice(i, i + wide))
        for j in range(max(0, top[0] - high), min(len(values) - high, top[0]) + 1)
        for i in range(max(0, top[1] - wide), min(values.shape[1] - wide, top[1]) + 1)
    ]
    return min(windows, key=lambda window: np.nanmax(values[window]) - np.nanmin(values[window]))


def zoom_page(study, field, base, others, called, suffix, which):
    """The part of the map where the field varies least, by lines of equal value: rough where rounding shows."""
    first, exact, _ = base
    easting, northing = exact["easting"].values / 1e3, exact["northing"].values / 1e3
    others = [(i, found[field].values) for i, found, names in others if field in names]
    if not others or len(easting) < 16 or len(northing) < 16:
        return None
    reference, unit = exact[field].values, exact[field].units
    # A square of a sixth of the map, and of twelve nodes at least.
    steps = [abs(axis[-1] - axis[0]) / (len(axis) - 1) for axis in (easting, northing)]
    side = max(abs(easting[-1] - easting[0]) / 6, 11 * max(steps))
    wide, high = (min(len(axis), round(side / step) + 1) for axis, step in zip((easting, northing), steps))
    window = flattest_window(reference, high, wide)
    e, n = easting[window[1]], northing[window[0]]
    shown = [(first, reference[window])] + [(i, values[window]) for i, values in others]
    below = f"{field} zoomed: easting {e[0]:.3g} to {e[-1]:.3g} km, northing {n[0]:.3g} to {n[-1]:.3g} km{which}"
    tall = {2: 5.0, 3: 4.7}.get(len(shown), 4.3)
    figure, axes = new_page(study, below, tall, 2, len(shown), height_ratios=[1.3, 1])
    smooth, size = shown[0][1], UNITS.get(unit, unit)
    levels = MaxNLocator(14).tick_values(np.nanmin(smooth), np.nanmax(smooth))
    middle = len(smooth) // 2
    for column, (point, own_values) in enumerate(shown):
        own, profile = axes[:, column]
        filled = own.contourf(e, n, own_values, levels=levels, cmap="viridis", extend="both")
        own.contour(e, n, own_values, levels=levels, colors="black", linewidths=0.5, linestyles="solid")
        own.set_aspect("equal")
        own.grid(False)
        own.set_title(plain(textwrap.fill(called(point), 22)), fontsize=7.5, loc="left")
        own.yaxis.set_major_locator(MaxNLocator(5))
        own.tick_params(labelleft=column == 0)
        if column == 0:
            own.set_ylabel("Northing (km)", fontsize=8)
            profile.plot(e, own_values[middle], color=COLOURS[0], linewidth=1.4)
            profile.set_ylabel(f"{symbol_of(field)}, middle row ({size})", fontsize=8)
        else:
            difference, label = scaled(own_values[middle] - smooth[middle], unit)
            profile.axhline(0, color="0.6", linewidth=0.7)
            profile.plot(e, difference, color=COLOURS[column % 7], linewidth=1, marker="o", markersize=2.5)
            profile.set_ylabel(f"difference ({label})", fontsize=8)
            rough = power(roughness(own_values - smooth), 2)
            profile.set_title(f"roughness {rough}\n{size}", fontsize=7.5, loc="left")
        profile.yaxis.set_major_locator(MaxNLocator(5))
        for one in (own, profile):
            one.tick_params(labelsize=7.5)
            one.set_xlabel("Easting (km)", fontsize=8)
            one.xaxis.set_major_locator(MaxNLocator(4))
    # one for all: they have the same levels
    bar = figure.colorbar(filled, ax=list(axes[0]), pad=0.02, aspect=18)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7.5, length=2, width=0.5)
    bar.set_label(f"{symbol_of(field)} ({size})", fontsize=8)
    caption = (
        "Above: lines of equal value where the field is flattest beside its extreme. Below: the middle row, and what "
        "the others differ by along it. Roughness is the RMS departure of that difference from the mean of a "
        "node's four neighbours."
    )
    return finished(f"zoom_{field}{suffix}", f"Zoom of {field}", figure, caption)
