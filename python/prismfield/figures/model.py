# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws what an inversion comes to: figures.model MODEL.h5 FIGURE.png [STYLE]

From top to bottom: three sections through the cell that differs most, the same of the standard deviation and of the
depth of investigation where there are, each field observed and predicted with its residual, and how the inversion went.
Of several epochs it shows the last, the change from the first to it, and the data of both.
"""

import copy
import functools
import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from prismfield.field_names import symbol_of
from prismfield.figures import drawing
from prismfield.figures.drawing import GREY, NO_DATA, STYLE, Dataset, Undrawable, Variable

# inches: what fits on a page across, and the room around panels for labels and titles
PAGE_WIDTH = 10.4
LEFT, RIGHT, BAR, BELOW, ABOVE = 0.72, 0.12, 0.85, 0.52, 0.3
# characters
LONGEST_HEADING = 110
BLUE, RED = "#1f5a92", "#b2182b"
TICKS = {
    f"{axis}tick.{key}": value
    for axis in "xy"
    for key, value in (("labelsize", 7.5), ("major.size", 2.5), ("major.width", 0.5))
} | {"axes.linewidth": 0.6}
STAGES = {
    "cool": ("o", BLUE),
    "target": ("s", "#2a7f62"),
    "compact": ("^", "#7b4f9d"),
    "beta": ("D", RED),
}


class Panel:
    """What is drawn in a place of so many inches. `draw` gets its axes; `bar`: room for a colour bar is kept.

    `x_labels`, `y_labels`: whether it has labels of its own, or shares those of its neighbours.
    """

    def __init__(self, width, height, title, draw, bar=False):
        self.width, self.height, self.title, self.draw, self.bar = width, height, title, draw, bar
        self.x_labels = self.y_labels = True
        # inches beside and below
        self.left, self.bar_room, self.below, self.spare = LEFT, BAR, BELOW, 0.0

    def compact(self, x_labels, y_labels):
        """Makes it one of many small ones."""
        self.x_labels, self.y_labels = x_labels, y_labels
        self.left = LEFT if y_labels else 0.14
        self.bar_room = 0.5
        self.below = BELOW if x_labels else 0.12

    def room(self):
        return self.left + self.width + self.spare + (self.bar_room if self.bar else RIGHT)

    def unit(self, text):
        """What stands beside a colour bar: nothing where the title says it."""
        return text if self.bar_room == BAR else ""

    def title_lines(self):
        """In two lines where it would reach into the next panel's."""
        room = self.width + self.spare + (self.bar_room if self.bar else RIGHT) + (0.5 if self.bar_room == BAR else 0.0)
        seen = len(self.title.translate(str.maketrans("", "", "${}_")))
        return self.title if 0.062 * seen < room else self.title.replace(", ", ",\n", 1).replace(" (", "\n(", 1)

    def above(self):
        return ABOVE + (0.15 if "\n" in self.title_lines() else 0.0)


class Page:
    """Panels from left to right and from top to bottom, with headings; placed when all are known."""

    def __init__(self):
        self.lines = []

    def heading(self, text):
        self.lines.append(text)

    def row(self, panels):
        """A line of panels, or several where the page is too narrow for them."""
        line = []
        for panel in panels:
            if line and sum(p.room() for p in line) + panel.room() > PAGE_WIDTH + 0.1:
                self.lines.append(line)
                line = []
            line.append(panel)
        self.lines.append(line)

    def finish(self, title, what, source):
        is_plain = not STYLE.get("annotations", True)
        top, bottom, head = (0.12, 0.1, 0.26) if is_plain else (0.76, 0.22, 0.26)
        panels = [line for line in self.lines if not isinstance(line, str)]
        heights = [head] * len(self.lines)
        for k, line in enumerate(self.lines):
            if not isinstance(line, str):
                heights[k] = max(p.above() for p in line) + max(p.height + p.below for p in line)
        rooms = [sum(p.room() for p in line) for line in panels]
        headings = [0.4 + 0.085 * len(line) for line in self.lines if isinstance(line, str)]
        width = max([6.5, 0.11 * min(len(what), 60), *rooms, min(PAGE_WIDTH, max(headings, default=0.0))])
        height = top + sum(heights) + bottom
        plt.rcParams.update(TICKS)
        # Text is laid out once where the figure has the dots of the file from the beginning.
        figure = plt.figure(figsize=(width, height), dpi=STYLE["dpi"])
        if not is_plain:
            room = (width - 0.4) / 0.115
            size = min(13.0, max(9.0, 13.0 * room / max(len(title), 1)))
            longest = int(room * 13.0 / size)
            title = title if len(title) <= longest else title[: longest - 1].rstrip() + "…"
            drawing.write_line(figure, title, 0.2, 0.18, fontsize=size, fontweight="bold")
            drawing.write_line(figure, what, 0.2, 0.48, fontsize=8.5, color=GREY)
            drawing.write_line(figure, source, -0.12, -0.08, fontsize=6.5, color="0.6")
        y = height - top
        for line, taken in zip(self.lines, heights):
            if isinstance(line, str):
                figure.text(0.2 / width, (y - 0.1) / height, line, fontsize=10, fontweight="bold", va="top", ha="left")
            else:
                x = 0.0
                for panel in line:
                    up = y - max(p.above() for p in line) - panel.height
                    bottom_left = (x + panel.left) / width, up / height
                    axes = figure.add_axes([*bottom_left, panel.width / width, panel.height / height])
                    # With y given, matplotlib does not lay out all ticks to find a place above them.
                    axes.set_title(panel.title_lines(), fontsize=8.5, loc="left", pad=4, y=1.0)
                    panel.draw(axes, panel)
                    if not panel.x_labels:
                        axes.set_xlabel("")
                        axes.tick_params(labelbottom=False)
                    if not panel.y_labels:
                        axes.set_ylabel("")
                        axes.tick_params(labelleft=False)
                    x += panel.room()
            y -= taken
        return figure


def colour_bar(axes, image, label, limits, extend="neither"):
    """A bar beside the panel; `limits`: the part of the scale that is shown."""
    bar = drawing.colour_bar(axes, image, limits, extend, 0.09, 0.11, 0.5)
    # Beside the bar: the panel's title may reach over it.
    bar.set_ylabel(label, fontsize=7.5, labelpad=3)


class Scale:
    """Colours of values: about `middle` in both directions, or from the least to the greatest."""

    def __init__(self, values, middle=None, limits=None):
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        if limits is not None:
            low, high = limits
        self.shown = low, high
        if middle is None:
            if high - low <= 1e-9 * max(abs(low), abs(high)):
                spread = 0.01 * abs(high) or 1.0
                low, high = low - spread, high + spread
            self.colours, self.low, self.high = drawing.colour_map(False), low, high
        else:
            reach = max(high - middle, middle - low) or 1.0
            self.colours, self.low, self.high = drawing.colour_map(True), middle - reach, middle + reach

    def arguments(self):
        return {"cmap": self.colours, "vmin": self.low, "vmax": self.high}


def shortened(text, longest):
    """Text for a heading: of a long one the beginning and the end; its dollar signs are no formulas."""
    half = max(longest // 2, 8)
    text = text if len(text) <= longest else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"
    return text.replace("$", r"\$")


def last_epoch(dataset, name):
    """Values on the cells, of several epochs those of the last."""
    values = dataset[name].values
    return values[-1] if "epoch" in dataset[name].dims else values


# What a model is of: the values that are drawn first, their words and unit.
QUANTITIES = {
    "density": ("density", "kg/m³"),
    "susceptibility": ("susceptibility", "SI"),
    "amplitude": ("magnitude of the magnetization", "A/m"),
}


def with_amplitude(dataset):
    """The dataset, with the magnitude of its magnetization where it has nothing else to draw first."""
    components = component_names(dataset)
    if len(components) < 3 or any(name in dataset for name in QUANTITIES):
        return dataset
    east = dataset[components[0]]
    values = np.sqrt(sum(dataset[name].values ** 2 for name in components))
    amplitude = Variable(east.dims, values, {"units": "A/m"})
    return Dataset({**dataset.variables, "amplitude": amplitude}, dataset.attrs)


def quantity(dataset):
    """The name of what is drawn first, its words and unit."""
    for name, (words, unit) in QUANTITIES.items():
        if name in dataset:
            return name, words, unit
    raise ValueError(f"the file holds no model: no {' and no '.join(QUANTITIES)}")


def component_names(dataset):
    """Names of the components of a magnetization; none of another model."""
    return [name for name in (f"magnetization_{direction}" for direction in Mesh.NAMES) if name in dataset]


def background(values):
    """The value about which a model's colours turn: 0, or the commonest of a model that is far from it."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0
    low, high = float(finite.min()), float(finite.max())
    is_far = min(abs(low), abs(high)) > high - low
    return float(np.median(finite)) if low * high > 0 and is_far else 0.0


class Mesh:
    """Edges of the cells, and where the sections cut them."""

    NAMES = ("easting", "northing", "upward")

    def __init__(self, dataset):
        self.edges = [self.edges_along(dataset, name + "_bounds") for name in self.NAMES]
        self.spans = [edges[-1] - edges[0] for edges in self.edges]
        self.counts = [len(edges) - 1 for edges in self.edges]
        self.horizontal = drawing.length_unit(self.spans[0], self.spans[1])
        self.vertical = drawing.length_unit(self.spans[2])
        name = quantity(dataset)[0]
        values = last_epoch(dataset, name)
        if list(values.shape) != self.counts[::-1]:
            made = f"the bounds make (upward, northing, easting) {tuple(self.counts[::-1])}"
            raise Undrawable(f"{name} is of shape {values.shape}; {made}")
        self.asked = [self.cell_at(k, STYLE.get("cut", {}).get(name)) for k, name in enumerate(self.NAMES)]
        self.cut = self.through(np.abs(values - background(values)))

    def cell_at(self, direction, place):
        """The cell that holds a place, of two that share it the upper one; None for no place."""
        if place is None:
            return None
        edges, name = self.edges[direction], self.NAMES[direction]
        if not edges[0] <= place <= edges[-1]:
            extent = f"{name} {edges[0]:,.10g} to {edges[-1]:,.10g} m"
            raise Undrawable(f"--{name} {place:,.10g} is outside the model, {extent}")
        return min(np.searchsorted(edges, place, side="right"), len(edges) - 1) - 1

    @staticmethod
    def edges_along(dataset, name):
        if name not in dataset:
            raise Undrawable(f"holds no {name}: the lower and the upper edge of each cell")
        bounds = dataset[name].values
        if bounds.ndim != 2 or bounds.shape[1] != 2:
            raise Undrawable(f"{name} is of shape {bounds.shape}; a lower and an upper edge a cell are needed")
        edges = np.append(bounds[:, 0], bounds[-1:, 1])
        if not (np.diff(edges) > 0).all():
            raise Undrawable(f"{name} do not rise; cells are numbered from the western, southern and lower end")
        return edges

    def through(self, values):
        """Easting, northing, upward of the cell to cut at: as asked for, else of the largest, which bounds make many,
        the middle one."""
        at = (0, 0, 0)
        if np.isfinite(values).any():
            largest = np.argwhere(values >= (1 - 1e-3) * np.nanmax(values))
            at = largest[np.argmin(np.sum((largest - np.median(largest, axis=0)) ** 2, axis=1))]
        return [largest if asked is None else asked for asked, largest in zip(self.asked, at[::-1])]

    def between(self, direction):
        """The cells of a section: "−120 to −80 m"."""
        low, high = self.edges[direction][self.cut[direction]], self.edges[direction][self.cut[direction] + 1]
        factor, unit = self.vertical if direction == 2 else self.horizontal
        # As many decimals as tell one cell from the next.
        decimals = max(0, 1 - math.floor(math.log10((high - low) * factor)))
        texts = [f"{value * factor:,.{decimals}f}" for value in (low, high)]
        if all("." in text and text.endswith("0") for text in texts):
            texts = [text.rstrip("0").rstrip(".") for text in texts]
        return f"{texts[0]} to {texts[1]} {unit}".replace("-", "−")


def number(value):
    """A number of three digits as one writes it: 0.25, 1,200, 6.3 × 10⁻⁶."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return (f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}").replace("-", "−")
    exponent = math.floor(math.log10(abs(value)))
    mantissa = f"{value / 10.0**exponent:.2g}"
    text = drawing.power_of_ten(exponent) if mantissa == "1" else f"{mantissa} × {drawing.power_of_ten(exponent)}"
    return text.replace("-", "−")


def section_sizes(mesh):
    """Inches of plan view, west-east and south-north section: the sections as high as they are true, larger than the
    plan where they would be too thin to read, and higher than true where the page is too narrow for that."""
    east, north, up = mesh.spans
    across = PAGE_WIDTH - 3 * LEFT - 2 * RIGHT - BAR
    alone = PAGE_WIDTH - LEFT - BAR
    scale = min(across / (2 * east + north), 3.8 / north)
    if scale * north < 1.1:
        # too long towards east for a line of three: below each other
        scale = min(alone / east, 3.8 / north)
    plan = scale * east, scale * north
    scale = float(np.clip(scale, min(0.7 / up, alone / max(east, north)), 2.8 / up))
    height = max(scale * up, 0.3)
    return plan, (scale * east, height), (scale * north, height)


def draw_section(axes, panel, mesh, values, directions, scale, unit, has_others):
    """Cells of one section with their true edges."""
    units = [mesh.vertical if d == 2 else mesh.horizontal for d in directions]
    x, y = (mesh.edges[d] * units[i][0] for i, d in enumerate(directions))
    axes.set_facecolor(NO_DATA)
    shown = np.ma.masked_invalid(values)
    image = axes.pcolormesh(x, y, shown, rasterized=True, **scale.arguments())
    names = ("Easting", "Northing", "Height")
    x_count = 1 if panel.width < 0.5 else 2 if panel.width < 1.1 else 4 if panel.width < 3 else 6
    y_count = 1 if panel.height < 0.5 else 3 if panel.height < 1.3 else 5
    drawing.style_coordinate(axes.xaxis, names[directions[0]], units[0][1], x_count, panel.width, fontsize=8.5)
    drawing.style_coordinate(axes.yaxis, names[directions[1]], units[1][1], y_count, panel.height, fontsize=8.5)
    # where the other sections cut this one
    for line, direction, factor in (
        (axes.axvline, directions[0], units[0][0]),
        (axes.axhline, directions[1], units[1][0]),
    ):
        if has_others and mesh.counts[direction] > 1:
            edges = mesh.edges[direction]
            middle = (edges[mesh.cut[direction]] + edges[mesh.cut[direction] + 1]) / 2
            line(middle * factor, color="0.15", linewidth=0.5, linestyle=(0, (6, 4)), alpha=0.7)
    factor = (panel.height / mesh.spans[directions[1]]) / (panel.width / mesh.spans[directions[0]])
    if factor > 1.05:
        place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top", "ha": "right"}
        below = 0, -20 if panel.width > 3 else -30
        axes.annotate(f"vertical ×{float(f'{factor:.2g}'):g}", (1, 0), below, fontsize=7, color=GREY, **place)
    if panel.bar:
        colour_bar(axes, image, unit, scale.shown)


def draw_arrows(axes, panel, mesh, components, directions, longest):
    """Arrows of the two components of a vector that lie in a section, one in about a sixth of an inch; `longest`: the
    magnitude of an arrow that reaches to the next. Directions are stretched as the section is."""
    places, nearest, stretch = [], [], []
    for direction, inches in zip(directions, (panel.width, panel.height)):
        edges = mesh.edges[direction]
        n = max(int(inches / 0.17), 1)
        centres = (edges[:-1] + edges[1:]) / 2
        if len(centres) > n:
            centres = np.linspace(edges[0], edges[-1], 2 * n + 1)[1::2]
        places.append(centres * (mesh.vertical if direction == 2 else mesh.horizontal)[0])
        nearest.append(np.searchsorted(edges, centres, side="right") - 1)
        stretch.append(inches / mesh.spans[direction])
    along, up = (np.nan_to_num(component[np.ix_(nearest[1], nearest[0])]) for component in components)
    x, y = np.meshgrid(*places)
    those = np.hypot(along, up) > 0.08 * longest
    x, y, along, up = x[those], y[those], along[those], up[those]
    length = np.hypot(along, up) / np.hypot(along * stretch[0], up * stretch[1])
    looks = {"color": "white", "edgecolor": "0.1", "linewidth": 0.3, "width": 0.02, "headwidth": 3.5, "pivot": "mid"}
    units = {"angles": "uv", "units": "inches", "scale_units": "inches", "scale": longest / 0.2}
    axes.quiver(x, y, along * stretch[0] * length, up * stretch[1] * length, minlength=0, **looks, **units)


def add_sections(page, heading, mesh, values, scale, unit, stations=(), vectors=()):
    """Plan view, west-east and south-north section of values on the cells; those of one cell across are left out.

    `vectors`: easting, northing and upward component on the cells of what is drawn as arrows.
    """
    longest = float(np.nanmax(np.sqrt(sum(np.square(v) for v in vectors)), initial=0.0)) if len(vectors) else 0.0
    sizes = section_sizes(mesh)
    east, north, up = mesh.cut
    sections = []
    if mesh.counts[0] > 1 and mesh.counts[1] > 1 or mesh.counts[2] == 1:
        sections.append((sizes[0], f"Plan, height {mesh.between(2)}", values[up], (0, 1)))
    if mesh.counts[2] > 1 and (mesh.counts[0] > 1 or mesh.counts[1] == 1):
        sections.append((sizes[1], f"West–east, northing {mesh.between(1)}", values[:, north, :], (0, 2)))
    if mesh.counts[2] > 1 and mesh.counts[1] > 1:
        sections.append((sizes[2], f"South–north, easting {mesh.between(0)}", values[:, :, east], (1, 2)))
    panels = []
    cuts = {(0, 1): np.s_[up], (0, 2): np.s_[:, north, :], (1, 2): np.s_[:, :, east]}
    for k, ((width, height), title, cells, directions) in enumerate(sections):

        def draw(axes, panel, cells=cells, directions=directions):
            draw_section(axes, panel, mesh, cells, directions, scale, unit, has_others=len(sections) > 1)
            axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
            if longest > 0:
                within = [vectors[direction][cuts[directions]] for direction in directions]
                draw_arrows(axes, panel, mesh, within, directions, longest)
            factor, dots = mesh.horizontal[0], {"markersize": 2, "alpha": 0.7, "markeredgewidth": 0}
            for easting, northing in stations if directions == (0, 1) else ():
                axes.plot(easting * factor, northing * factor, ".", color="0.1", **dots)

        panels.append(Panel(width, height, title, draw))
        # Titles and labels of narrow ones reach over their edge.
        panels[-1].spare = max(1.3 - width, 0)
        # a line more below: how it is stretched
        if width <= 3:
            panels[-1].below += 0.12
    page.heading(heading)
    # One bar a line of panels that share it: the last of a line has it.
    taken = 0.0
    for k, panel in enumerate(panels):
        taken += panel.room()
        follows = panels[k + 1].room() + (BAR - RIGHT) if k + 1 < len(panels) else math.inf
        if taken + follows > PAGE_WIDTH + 0.1:
            panel.bar, taken = True, 0.0
    page.row(panels)


def profile_of(dataset):
    """Positions of points on a line, or of one station, and what they are called; None for others."""
    if dataset.sizes.get("station") == 1:
        return dataset["easting"].values, "easting"
    return drawing.profile_of(dataset)


def name_axes(axes, x, y):
    axes.set_xlabel(x, fontsize=8.5, labelpad=2)
    axes.set_ylabel(y, fontsize=8.5, labelpad=2)
    axes.grid(color="0.92", linewidth=0.6)


def style_profile(axes, panel, label, unit, x):
    name_axes(axes, label, unit)
    axes.set_axisbelow(True)
    drawing.plain_ticks(axes.xaxis, 6 if panel.width > 3 else 4)
    drawing.plain_ticks(axes.yaxis, 5)
    margin = 0.02 * np.ptp(x) or 1.0
    axes.set_xlim(x[0] - margin, x[-1] + margin)


def add_profile(page, dataset, name, position, along, wide):
    """Observed with its deviation and predicted along a line, and the residual below or beside."""
    factor, length = drawing.length_unit(np.ptp(position))
    label = f"{drawing.ALONG[along]} ({length})"
    order = np.argsort(position, kind="stable")
    x = position[order] * factor
    observed, predicted, sigma, residual = (
        dataset[name + suffix].values.ravel()[order] for suffix in ("", "_predicted", "_sigma", "_residual")
    )
    everything, unit = drawing.scaled(np.concatenate([observed, predicted, sigma]), dataset[name].units)
    observed, predicted, sigma = np.split(everything, 3)
    size = float(np.clip(160 / max(len(x), 1), 1.5, 4))

    def draw_both(axes, panel):
        bars = {"elinewidth": 0.6, "ecolor": "0.55"}
        axes.errorbar(x, observed, sigma, fmt="o", markersize=size, color="0.2", label="observed", **bars)
        axes.plot(x, predicted, color=RED, linewidth=1.3, label="predicted", marker="_" if len(x) == 1 else "")
        style_profile(axes, panel, label, unit, x)
        handles, labels = axes.get_legend_handles_labels()
        place = {"ncol": 2, "loc": "lower right", "bbox_to_anchor": (1.0, 0.97), "borderpad": 0.2}
        axes.legend(handles[::-1], labels[::-1], fontsize=7.5, frameon=False, **place)

    def draw_residual(axes, panel):
        reach = max(3.0, 1.1 * float(np.nanmax(np.abs(residual))) if np.isfinite(residual).any() else 3.0)
        axes.axhspan(-1, 1, color="0.93", linewidth=0, zorder=0)
        axes.axhline(0, color="0.5", linewidth=0.6)
        axes.vlines(x, 0, residual, color=BLUE, linewidth=0.7)
        axes.plot(x, residual, "o", color=BLUE, markersize=size)
        axes.set_ylim(-reach, reach)
        style_profile(axes, panel, label, "residual / σ", x)

    symbol = symbol_of(name)
    width = PAGE_WIDTH - LEFT - RIGHT if wide else (PAGE_WIDTH - 2 * LEFT - 2 * RIGHT) / 2
    page.row([Panel(width, 2.1, symbol, draw_both), Panel(width, 1.3 if wide else 2.1, "Residual", draw_residual)])


def map_edges(centres, spacing_else):
    """Edges half way between the nodes of a grid."""
    if len(centres) == 1:
        return np.array([centres[0] - spacing_else / 2, centres[0] + spacing_else / 2])
    halves = np.diff(centres) / 2
    return np.concatenate([[centres[0] - halves[0]], centres[:-1] + halves, [centres[-1] + halves[-1]]])


class Frame:
    """Where maps of one data set lie: limits in metres, a margin around stations included."""

    def __init__(self, dataset, columns):
        easting, northing = dataset["easting"].values, dataset["northing"].values
        self.is_grid = "station" not in dataset.sizes
        self.is_small = columns == 6
        if self.is_grid:
            steps = [np.ptp(values) / max(len(values) - 1, 1) for values in (easting, northing)]
            self.nodes = map_edges(easting, steps[1]), map_edges(northing, steps[0])
            self.limits = [(edges[0], edges[-1]) for edges in self.nodes]
        else:
            self.nodes = easting, northing
            margin = 0.05 * max(np.ptp(easting), np.ptp(northing), 1.0)
            self.limits = [(values.min() - margin, values.max() + margin) for values in (easting, northing)]
        spans = [high - low for low, high in self.limits]
        self.factor, self.unit = drawing.length_unit(*spans)
        width = (PAGE_WIDTH - 3 * (LEFT + RIGHT) - 2 * (BAR - RIGHT)) / 3 if columns == 3 else 1.12
        tallest = 3.0 if columns == 3 else 1.5
        self.is_strip = spans[1] / spans[0] < 0.25
        if self.is_strip:
            width = PAGE_WIDTH - LEFT - BAR
        scale = min(width / spans[0], tallest / spans[1])
        self.size = max(scale * spans[0], 0.7), max(scale * spans[1], 0.6)
        area = self.size[0] * self.size[1] * 5184
        self.triangles = None if self.is_grid else drawing.triangles_of(easting * self.factor, northing * self.factor)
        self.marker = float(np.clip(area / 3 / max(easting.size, 1), 2.5, 50))


def draw_map(axes, panel, frame, what, extend="neither", filled=True):
    """A map of `what`: values at points, their scale and unit; `filled`: between stations that cover an area, too."""
    values, scale, unit = what
    east, north = (values * frame.factor for values in frame.nodes)
    axes.set_facecolor(NO_DATA)
    if frame.is_grid:
        image = axes.pcolormesh(east, north, np.ma.masked_invalid(values), rasterized=True, **scale.arguments())
    elif filled and frame.triangles is not None and np.isfinite(values).all() and scale.shown[0] < scale.shown[1]:
        image = drawing.draw_triangles(axes, frame.triangles, values, scale.shown, scale.arguments())
    else:
        image = drawing.draw_dots(axes, east, north, values, frame.marker, scale.arguments())
    axes.set_xlim(*(limit * frame.factor for limit in frame.limits[0]))
    axes.set_ylim(*(limit * frame.factor for limit in frame.limits[1]))
    x_count, y_count = 2 if panel.width < 1.2 else 4 if panel.width < 3.5 else 6, 3 if panel.height < 1.5 else 5
    drawing.style_coordinate(axes.xaxis, "Easting", frame.unit, x_count, panel.width, fontsize=8.5)
    drawing.style_coordinate(axes.yaxis, "Northing", frame.unit, y_count, panel.height, fontsize=8.5)
    if panel.bar:
        colour_bar(axes, image, panel.unit(unit), scale.shown, extend)


def maps_of_field(dataset, name, frame):
    """Panels of a field: observed and predicted in one scale, and the residual."""
    observed, predicted = dataset[name].values, dataset[name + "_predicted"].values
    both, unit = drawing.scaled(np.stack([observed, predicted]), dataset[name].units)
    scale = Scale(both, middle=0.0 if drawing.is_signed(both) else None)
    residual = dataset[name + "_residual"].values
    residuals = Scale(np.array([-3.0, 3.0]), middle=0.0)
    low, high = (np.nanmin(residual), np.nanmax(residual)) if np.isfinite(residual).any() else (0.0, 0.0)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((low < -3, high > 3), "neither")
    in_unit = f" ({unit})" if frame.is_small else ""

    def panel(word, bar, *what, **keywords):
        draw = functools.partial(draw_map, frame=frame, what=what, **keywords)
        return Panel(*frame.size, f"{symbol_of(name)} {word}", draw, bar)

    return [
        panel("observed", False, both[0], scale, unit),
        panel("predicted" + in_unit, True, both[1], scale, unit),
        panel("residual", True, residual, residuals, "residual / σ", extend=extend, filled=False),
    ]


def add_data(page, which, dataset):
    names = drawing.fields_of(dataset)
    name = str(dataset.attrs.get("name", ""))
    epoch = str(dataset.attrs.get("epoch", name))
    name += f" ({epoch})" if epoch != name else ""
    squares = np.concatenate([dataset[field + "_residual"].values.ravel() ** 2 for field in names])
    chi = float(np.mean(squares)) if squares.size else 0.0
    n = dataset["upward"].values.size
    points = drawing.count_text(n)
    if "station" not in dataset.sizes:
        points = f"{dataset.sizes['easting']} × {dataset.sizes['northing']} points"
    rest = f", {points}, mean square of the residuals {chi:.3g}"
    page.heading(f"Data {which}: {shortened(name, LONGEST_HEADING - 10 - len(rest))}{rest}")
    profile = profile_of(dataset)
    if profile is not None:
        for field in names:
            add_profile(page, dataset, field, *profile, wide=n > 150)
        return
    columns = 3 if len(names) <= 3 else 6
    frame = Frame(dataset, columns)
    panels = [maps_of_field(dataset, field, frame) for field in names]
    if frame.is_strip:
        # below each other
        strips = [panel for field in panels for panel in field]
        for panel in strips:
            panel.bar = True
            if panel is not strips[-1]:
                panel.x_labels, panel.below = False, 0.12
            page.row([panel])
        return
    a_line = columns // 3
    groups = [panels[first : first + a_line] for first in range(0, len(panels), a_line)]
    lines = [[panel for field in group for panel in field] for group in groups]
    if columns == 6:
        share_labels(lines)
    for line in lines:
        page.row(line)


def share_labels(lines):
    """Small maps have labels on the left and below alone, and their unit in the title."""
    for k, line in enumerate(lines):
        for column, panel in enumerate(line):
            below = k + 1 < len(lines) and column < len(lines[k + 1])
            panel.compact(x_labels=not below, y_labels=column == 0)


def style_logarithmic(axis, limits):
    """A few plain numbers on a logarithmic axis with these limits: decades, and 2 and 5 between where these are few."""
    low, high = limits
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**k for k in exponents for m in (1, 2, 5) if low <= m * 10.0**k <= high]
    if len(ticks) > 4:
        decades = [10.0**k for k in exponents if low <= 10.0**k <= high]
        ticks = decades[:: math.ceil(len(decades) / 5)] if len(decades) > 1 else ticks
    if len(ticks) < 2:
        ticks = [value for value in MaxNLocator(3).tick_values(low, high) if low <= value <= high]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_locator(NullLocator())


def stages_of(rows):
    return np.array([str(stage) for stage in rows["stage_name"].values])


def draw_stages(axes, rows, x, y, usable=True):
    """Marks of each stage, in the order in which the stages came."""
    stages = stages_of(rows)
    for stage in dict.fromkeys(stages):
        marker, colour = STAGES.get(stage, ("o", "0.4"))
        those = (stages == stage) & usable
        axes.plot(x[those], y[those], marker, color=colour, markersize=4.5, linestyle="none", label=stage)


def draw_l_curve(axes, panel, rows):
    phi_m, phi_d, beta = (rows[name].values for name in ("phi_m", "phi_d", "beta"))
    usable = (phi_m > 0) & (phi_d > 0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    quadratic = usable & (stages_of(rows) != "compact")
    order = np.argsort(phi_m[quadratic])
    axes.plot(phi_m[quadratic][order], phi_d[quadratic][order], color="0.7", linewidth=1.0, zorder=1)
    draw_stages(axes, rows, phi_m, phi_d, usable)
    # Labels stand on the right of their points, and above.
    axes.margins(x=0.06, y=0.16)
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.5)
    chosen = [k for k in range(len(beta)) if usable[k]]
    last = chosen[-1] if chosen else None
    if len(chosen) > 6:
        step = math.ceil(len(chosen) / 5)
        chosen = chosen[:1] + [k for k in chosen[step:-1:step]]
    legend = axes.legend(fontsize=7.5, frameon=False, loc="upper right").get_window_extent()
    points = 72 / axes.figure.dpi
    placed = [(x * points, y * points) for x in (legend.x0, legend.x1) for y in np.linspace(legend.y0, legend.y1, 6)]
    marks = axes.transData.transform(np.stack([phi_m[usable], phi_d[usable]], axis=1))
    right, left = (6, "left"), (-6, "right")
    places = [((x, y), side, edge) for y, edge in ((5, "bottom"), (-5, "top")) for x, side in (right, left)]
    for k in dict.fromkeys([last, *chosen] if last is not None else []):
        at = axes.transData.transform((phi_m[k], phi_d[k])) * 72 / axes.figure.dpi
        # A label that would lie on another, on the legend or on a mark is left out, but for the last one's.
        if k != last and any(abs(at[0] - x) < 66 and abs(at[1] - y) < 13 for x, y in placed):
            continue
        word = "β = " + number(float(f"{beta[k]:.2g}"))
        looks = {"textcoords": "offset points", "fontsize": 7, "color": "black" if k == last else GREY}
        looks["bbox"] = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        text = axes.annotate(word, (phi_m[k], phi_d[k]), (0, 0), **looks)
        if any(drawing.place_well(axes, text, places, marks)) and k != last:
            text.remove()
        else:
            placed.append(at)
    name_axes(axes, r"regularisation $\phi_m$", r"misfit $\phi_d$")
    style_logarithmic(axes.xaxis, axes.get_xlim())
    style_logarithmic(axes.yaxis, axes.get_ylim())


def draw_convergence(axes, panel, rows):
    chi, products = rows["chi"].values, rows["products"].values
    axes.set_yscale("log")
    axes.plot(products, chi, color="0.7", linewidth=1.0, zorder=1)
    draw_stages(axes, rows, products, chi)
    axes.axhline(1, color="0.4", linewidth=0.7, linestyle=(0, (4, 3)))
    name_axes(axes, r"products with $G^T W G$", r"$\chi = \phi_d / N$")
    style_logarithmic(axes.yaxis, axes.get_ylim())
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def draw_extremes(axes, panel, rows, label):
    products = rows["products"].values
    for name, colour in (("maximum", RED), ("minimum", BLUE)):
        axes.plot(products, rows[name].values, "o-", color=colour, markersize=3.5, linewidth=1.0, label=name)
    axes.axhline(0, color="0.6", linewidth=0.6, zorder=0)
    name_axes(axes, r"products with $G^T W G$", label)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.legend(fontsize=7.5, frameon=False, loc="best")


def summary(dataset, mesh, rows):
    """A line on the mesh, the model's values and the end of the inversion."""
    cells = " × ".join(str(n) for n in mesh.counts)
    name, words, unit = quantity(dataset)
    values = dataset[name].values
    active = int(np.isfinite(last_epoch(dataset, name)).sum())
    parts = [f"{cells} cells, {active:,} active"]
    if "epoch" in dataset[name].dims:
        parts.append(f"{len(values)} epochs")
    if active:
        low, high = (float(f(values)) for f in (np.nanmin, np.nanmax))
        parts.append(f"{words} {low:.4g} to {high:.4g} {unit}".replace("-", "−"))
    if rows.sizes.get("iteration", 0):
        chi, beta = (float(rows[name].values[-1]) for name in ("chi", "beta"))
        parts.append(f"χ = {number(chi)}, β = {number(beta)}")
    if "resolution_trace" in dataset.attrs:
        error = dataset.attrs.get("resolution_trace_error")
        text = f"trace of the resolution {dataset.attrs['resolution_trace']:.3g}"
        parts.append(text + (f" ± {error:.2g}" if error is not None else ""))
    return "  ·  ".join(parts)


def in_words(name):
    """Density, Magnetization, easting component."""
    what, _, direction = name.partition("_")
    return what.capitalize() + (f", {direction} component" if direction else "")


def draw_model(path):
    dataset = with_amplitude(drawing.open_file(path))
    name, words, unit = quantity(dataset)
    has_inversion = "data_sets" in dataset.attrs
    rows = drawing.open_file(path, "convergence") if has_inversion else Dataset()
    sets = [drawing.open_file(path, f"data_{k + 1}") for k in range(int(dataset.attrs.get("data_sets", 0)))]
    mesh = Mesh(dataset)
    model = last_epoch(dataset, name)
    stations = [
        (data["easting"].values, data["northing"].values)
        for data in sets
        if "station" in data.sizes and data.sizes["station"] <= 2000
    ]
    page = Page()
    components = component_names(dataset)
    vectors = [last_epoch(dataset, component) for component in components] if name == "amplitude" else []
    is_plain = name == "amplitude"
    scale = Scale(model, limits=(0.0, float(np.nanmax(model, initial=0.0)))) if is_plain else Scale(
        model, middle=background(model)
    )
    names = [str(name) for name in dataset["epoch"].values] if "epoch" in dataset else []
    epochs = [shortened(name, LONGEST_HEADING // 3) for name in names]
    of_last = f", {epochs[-1]}" if epochs else ""
    heading = words.capitalize() + (" and its direction" if len(vectors) == 3 else "") + of_last
    add_sections(page, heading, mesh, model, scale, unit, stations=stations, vectors=vectors)
    if epochs:
        values = model - dataset[name].values[0]
        heading = f"Change of the {words} from {epochs[0]} to {epochs[-1]}"
        there = copy.copy(mesh)
        there.cut = mesh.through(np.abs(values))
        add_sections(page, heading, there, values, Scale(values, middle=0.0), unit)
    for one in components or [name]:
        if f"{one}_sigma" not in dataset:
            continue
        values = last_epoch(dataset, f"{one}_sigma")
        heading = f"Standard deviation of the {in_words(one).lower()}{of_last}"
        add_sections(page, heading, mesh, values, Scale(values), unit)
    if "depth_of_investigation" in dataset:
        values = last_epoch(dataset, "depth_of_investigation")
        heading = f"Depth of investigation: 0 where the data determine the {words}, 1 where the reference does"
        add_sections(page, heading, mesh, values, Scale(values, limits=(0.0, 1.0)), "0 data, 1 reference")
    for k, data in enumerate(sets):
        if not epochs or str(data.attrs.get("epoch")) in (names[0], names[-1]):
            add_data(page, k + 1, data)
    if rows.sizes.get("iteration", 0):
        page.heading("Convergence")
        width = (PAGE_WIDTH - 3 * (LEFT + RIGHT)) / 3
        extremes = functools.partial(draw_extremes, label=f"{words} ({unit})")
        charts = {"L-curve": draw_l_curve, "Misfit": draw_convergence, "Least and greatest value": extremes}
        page.row([Panel(width, 2.3, name, functools.partial(draw, rows=rows)) for name, draw in charts.items()])
    title = str(dataset.attrs.get("title", "")).strip()
    return page.finish(title, summary(dataset, mesh, rows), str(dataset.attrs.get("source", "")))


def main(words):
    """Draws a model, a file, into a figure; words as of drawing.draw_into()."""
    drawing.draw_into(words, draw_model, dpi=180)
