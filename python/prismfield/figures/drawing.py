# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What figures of results and of models have in common.

A figure's style is a dictionary, all of its keys optional: contours (a number of lines, levels, or false), colour_map,
dpi, model_outline, annotations, fields and cut ({direction: metres}, sections of a model).
"""

import difflib
import json
import math
import pathlib
import re
import sys

import h5py
import matplotlib.pyplot as plt
import matplotlib.tri as mtri
import numpy as np
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from PIL import Image

from prismfield.field_names import NATIVE, TENSOR, UNITS, in_order, symbol_of
from prismfield.hdf5_file import open_hdf5
from prismfield.new_file import new_file

TERRAIN = {"bouguer_slab": "Infinite Bouguer slab", "terrain_correction": "DEM's terrain correction"}
TITLE_WORDS = {"potential": "Potential ", "tmi": "TMI ", "tmi_exact": "TMI "}
# what long_name of a field begins with
FIELD_WORDS = (
    "gravity (potential|vector|gradient)|magnetic flux density|total-field anomaly|magnitude of the anomalous magnetic"
    "|gradient of the magnetic"
)
GREY = "0.45"
# the ground of maps, where there is no value: darker than the palest colour of any map
NO_DATA = "0.78"
# behind words in maps
PALE_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.45, "pad": 0.3}
ALONG = {"easting": "Easting", "northing": "Northing", "upward": "Height", "distance": "Distance"}

# what the case or the command line says of the figure
STYLE = {}
DIVERGING = "PiYG PRGn BrBG PuOr RdGy RdBu RdYlBu RdYlGn Spectral coolwarm bwr seismic berlin managua vanimo".split()


class Undrawable(Exception):
    """Why the file cannot be drawn, in words for who made it."""


def is_diverging(name):
    return name.removesuffix("_r") in DIVERGING


def colour_map(diverging):
    """The figure's colour map of that kind: the one asked for where it is of the kind, else the usual one."""
    asked = STYLE.get("colour_map", "")
    if asked and is_diverging(asked) == diverging:
        return asked
    return "RdBu_r" if diverging else "viridis"


def is_signed(values):
    """Whether the values have both signs, other than by rounding."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return False
    low, high = float(finite.min()), float(finite.max())
    return low < 0 < high and min(-low, high) > 1e-3 * max(-low, high)


def check_colour_map():
    asked, known = STYLE.get("colour_map", ""), {name.lower(): name for name in plt.colormaps()}
    if asked and asked not in known.values():
        near = [known[word] for word in difflib.get_close_matches(asked.lower(), known, n=3)]
        meant = f"did you mean {', '.join(near)}?" if near else "viridis, cividis and RdBu_r are three of them"
        raise ValueError(f"'{asked}' is no colour map of matplotlib; {meant}")


def short(value):
    """A number of three digits, as it stands in a line of text."""
    text = f"{value:,.0f}" if 100 <= abs(value) < 1e5 else f"{value:.3g}"
    return text.replace("-", "−")


def contour_levels(low, high, usual, exponent=0):
    """Levels of lines between two values, in their unit; `usual`: how many where nobody says; `exponent`: of the power
    of ten that was taken out of the values, for levels that are asked for."""
    asked = STYLE.get("contours", usual)
    if isinstance(asked, list):
        levels = np.array(sorted(asked), dtype=float) / 10.0**exponent
    elif not asked or not low < high:
        return np.array([])
    else:
        levels = MaxNLocator(int(asked) + 1, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1).tick_values(low, high)
    return levels[(levels > low) & (levels < high)]


def profile_along(easting, northing, upward):
    """Positions along the line that points are on, and what they are called; None where they are on no line.

    A line along an axis keeps the axis; any other is measured from its western end, a borehole by height.
    """
    span_e, span_n, span_u = (float(np.ptp(values)) for values in (easting, northing, upward))
    if len(easting) < 2 or max(span_e, span_n, span_u) == 0:
        return None
    if span_e == span_n == 0:
        return upward, "upward"
    middle = np.array([easting.mean(), northing.mean()])
    offsets = np.stack([easting, northing], axis=1) - middle
    direction = np.linalg.svd(offsets, full_matrices=False)[2][0]
    direction = direction if direction[0] > 0 else -direction
    along = offsets @ direction
    across = offsets @ np.array([-direction[1], direction[0]])
    if np.ptp(across) > 0.01 * np.ptp(along):
        return None
    if len(np.unique(along)) < 0.5 * len(along):
        return None
    if min(span_e, span_n) <= 0.01 * max(span_e, span_n):
        return (easting, "easting") if span_e >= span_n else (northing, "northing")
    return along - along.min(), "distance"


def profile_of(dataset):
    """As of profile_along(), of the stations or the grid of a dataset."""
    easting, northing, upward = (dataset[name].values for name in ("easting", "northing", "upward"))
    if "station" in dataset.sizes:
        return profile_along(easting, northing, upward)
    along = "easting" if len(northing) == 1 else "northing"
    return (dataset[along].values, along) if min(len(easting), len(northing)) == 1 else None


def triangles_of(easting, northing):
    """Triangles between stations that cover an area well, those around it with a side too long for their spacing left
    out; None for others: a few stations, lines and roads."""
    n = len(easting)
    if n < 40 or n > 200000:
        return None
    x, y = easting - easting.mean(), northing - northing.mean()
    try:
        mesh = mtri.Triangulation(x, y)
    except (RuntimeError, ValueError):
        return None
    corners = np.stack([x[mesh.triangles], y[mesh.triangles]], axis=2)
    along = corners - np.roll(corners, 1, axis=1)
    sides = np.linalg.norm(along, axis=2)
    (a_x, a_y), (b_x, b_y) = along[:, 0].T, along[:, 1].T
    areas = np.abs(a_x * b_y - a_y * b_x) / 2
    if areas.sum() <= 0:
        return None
    # of stations spread evenly, a side is about the root of the area of each
    spacing = math.sqrt(areas.sum() / n)
    nearest = np.full(n, np.inf)
    for ends in (mesh.triangles, np.roll(mesh.triangles, 1, axis=1)):
        np.minimum.at(nearest, ends, sides)
    is_long = sides.max(axis=1) > 3.5 * spacing
    # On roads neighbours are far closer than the area would have them.
    is_even = np.median(nearest) > 0.3 * spacing
    if not is_even or areas[~is_long].sum() < 0.75 * areas.sum():
        return None
    # Those with other triangles all around are a gap in the survey, no part of its surroundings.
    outside, before = is_long & (mesh.neighbors < 0).any(axis=1), None
    while before is None or (outside != before).any():
        before, outside = outside, outside | is_long & (outside[mesh.neighbors] & (mesh.neighbors >= 0)).any(axis=1)
    return mtri.Triangulation(easting, northing, mesh.triangles, mask=outside)


def draw_triangles(axes, triangles, values, shown, colours):
    """Colours between stations, and where the stations are; returns what a colour bar is made of."""
    levels = np.linspace(*shown, 41)
    # Matplotlib leaves a triangle out whose corners all have the last level.
    levels[-1] = np.nextafter(levels[-1], np.inf)
    # Between neighbouring levels the ground shows as white hairlines; below lies the same with its seams elsewhere.
    below = np.concatenate([levels[:1], (levels[:-1] + levels[1:]) / 2, levels[-1:]])
    for bounds in (below, levels):
        axes.tricontourf(triangles, np.clip(values, *shown), levels=bounds, **colours)
    # Dark dots with a white rim, seen on every colour; smaller where there are many.
    room = math.sqrt(axes.bbox.width * axes.bbox.height / len(triangles.x)) * 72 / axes.figure.dpi
    size = float(np.clip(0.2 * room, 0.4, 1.4))
    for colour, wider in (("white", 1.7), ("0.05", 1.0)):
        axes.plot(triangles.x, triangles.y, "o", color=colour, markersize=wider * size, markeredgewidth=0)
    return plt.cm.ScalarMappable(plt.Normalize(colours["vmin"], colours["vmax"]), colours["cmap"])


# of lines of equal value
LINES = {"colors": "black", "linewidths": 0.35, "alpha": 0.55, "negative_linestyles": "solid"}


def overhang(axes, text):
    """How far an annotation has to move, right and up in points, to lie within the frame."""
    frame, own = axes.get_window_extent().padded(-0.02 * axes.figure.dpi), text.get_window_extent()
    return (np.maximum(frame.min - own.min, 0) + np.minimum(frame.max - own.max, 0)) * 72 / axes.figure.dpi


def place_well(axes, text, places, marks):
    """Puts an annotation at the first of the places (offset, horizontal and vertical alignment) where it does least
    harm; returns this: whether the frame cuts it, and how many marks, in pixels, it hides."""

    def put(place):
        text.xyann = place[0]
        text.set(ha=place[1], va=place[2])
        return overhang(axes, text).any(), text.get_window_extent().count_contains(marks)

    return put(min(places, key=put))


def label_lines(axes, lines):
    """Writes its value on each line of equal value that is long enough."""
    texts = axes.clabel(lines, fontsize=4.5, inline_spacing=1.5, fmt=lambda value: f"{value:g}".replace("-", "−"))
    for text in texts:
        text.set(alpha=1, color="0.1", bbox=PALE_BOX)


def draw_dots(axes, easting, northing, values, size, colours):
    """Coloured points of so many square points, each with a dark rim, as white is a colour of the scale
    too; where points are many, rims that hide no neighbour. Points without a value are small hollow rings."""
    has_value = np.isfinite(values)

    def dots(those, **looks):
        return axes.scatter(easting[those], northing[those], rasterized=len(easting) > 5000, **looks)

    dots(~has_value, s=0.5 * size, zorder=2.3, facecolors="none", edgecolors=GREY, linewidths=0.4)
    rim = {"edgecolors": "0.1", "linewidths": 0.4} if size > 9 else {"edgecolors": "none"}
    if size <= 9:
        dots(has_value, s=1.7 * size, c="0.2", edgecolors="none", zorder=2.4)
    return dots(has_value, c=values[has_value], s=size, zorder=2.5, **rim, **colours)


class Variable:
    """An array with the names of its dimensions and its attributes."""

    def __init__(self, dims, values, attrs):
        self.dims, self.values, self.attrs = tuple(dims), values, attrs
        self.shape, self.ndim, self.units = values.shape, values.ndim, str(attrs.get("units", ""))


class Dataset:
    """Variables by name and attributes, of a file or a group."""

    def __init__(self, variables=(), attrs=()):
        self.variables, self.attrs = dict(variables), dict(attrs)
        self.sizes = {dim: n for v in self.variables.values() for dim, n in zip(v.dims, v.shape)}

    def __contains__(self, name):
        return name in self.variables

    def __getitem__(self, name):
        return self.variables[name]


def title_of(name):
    if name in TERRAIN:
        return TERRAIN[name]
    return TITLE_WORDS.get(name, "") + symbol_of(name)


def fields_of(dataset):
    """Names of the dataset's fields, and of what belongs to terrain, in the order of panels. Of variables that are no
    native fields of gravity long_name says whether they are fields: stations may bring their own."""

    def says_field(name):
        return re.match(FIELD_WORDS, str(dataset[name].attrs.get("long_name", "")))

    names = in_order(name for name in dataset.variables if name in NATIVE or says_field(name))
    after = sum(name not in TENSOR for name in names if name in NATIVE)
    return [*names[:after], *(name for name in TERRAIN if name in dataset), *names[after:]]


def open_file(path, group=None):
    """The dataset of a netCDF-4 file or a group of it. xarray would take longer to import than to read most files."""

    def plain(value):
        value = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        return value.decode() if isinstance(value, bytes) else value

    def attributes(of):
        lists = ("DIMENSION_LIST", "REFERENCE_LIST")
        return {name: plain(value) for name, value in of.attrs.items() if name not in lists}

    def dimension(variable, k):
        is_scale = plain(variable.attrs.get("CLASS", "")) == "DIMENSION_SCALE"
        scales = [variable] if is_scale and variable.ndim == 1 else variable.dims[k].values()
        return scales[0].name.rsplit("/", 1)[-1] if scales else f"dim_{k}"

    try:
        opened = open_hdf5(path)
    except ValueError as error:
        raise Undrawable(str(error)) from None
    with opened as file:
        place = file[group] if group else file
        variables = {}
        for name, variable in place.items():
            attrs = attributes(variable)
            is_bare = str(attrs.get("NAME", "")).startswith("This is a netCDF dimension but not a netCDF variable")
            if not isinstance(variable, h5py.Dataset) or is_bare:
                continue
            values = variable.asstr()[...] if h5py.check_string_dtype(variable.dtype) else variable[...]
            if values.dtype.kind in "fiu":
                packed = values
                if any(key in attrs for key in ("scale_factor", "add_offset")):
                    values = packed * attrs.get("scale_factor", 1.0) + attrs.get("add_offset", 0.0)
                for key in ("_FillValue", "missing_value"):
                    if key in attrs and (packed == attrs[key]).any():
                        values = np.where(packed == attrs[key], np.nan, values)
            dims = [dimension(variable, k) for k in range(variable.ndim)]
            variables[name] = Variable(dims, values, attrs)
        return Dataset(variables, attributes(place))


def power_of_ten(exponent):
    """10⁻⁶ as plain text, which is laid out many times as fast as a formula."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def exponent_of(values):
    """The power of ten, of a thousand, that is taken out of values so that every tick is a short number."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return 0 if largest == 0 or 0.01 <= largest < 1e4 else 3 * math.floor(math.log10(largest) / 3)


def plain(text):
    """The text with no dollar sign that would begin a formula."""
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def scaled(values, unit):
    """Values with a power of ten taken out, and their unit, which any program may have written: one short line."""
    exponent, unit = exponent_of(values), " ".join(unit.split())
    unit = UNITS.get(unit) or plain(unit if len(unit) <= 24 else unit[:23] + "…")
    return (values / 10.0**exponent, f"{power_of_ten(exponent)} {unit}") if exponent else (values, unit)


def length_unit(*spans):
    """Kilometres for a survey of kilometres, else metres."""
    return (1e-3, "km") if max(spans) >= 2000 else (1.0, "m")


class PlainFormatter(ScalarFormatter):
    """Ticks without powers of ten, with commas between thousands, less an offset that the axis tells in its label."""

    def __init__(self, offset=False):
        super().__init__(useOffset=offset)
        self.set_scientific(False)

    def get_offset(self):
        return ""

    def __call__(self, value, position=None):
        return re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", super().__call__(value, position), count=1)


def plain_ticks(axis, count=5):
    axis.set_major_formatter(PlainFormatter())
    axis.set_major_locator(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]))


def style_coordinate(axis, name, unit, count, panel_inches, **style):
    """Ticks and label of an easting or northing in metres or kilometres, whose limits are set already.

    Long coordinates, such as UTM's, are told from a round number of kilometres that stands in the label.
    """
    plain_ticks(axis, count)
    ticks = axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
    longest = max((len(text.replace(",", "")) for text in ticks), default=0)
    text = f"{name} ({unit})"
    if longest > 5:
        kilometre = 1000.0 if unit == "m" else 1.0
        low, high = sorted(axis.get_view_interval())
        origin = 10 * math.floor((low + high) / 2 / (10 * kilometre))
        # A map around it would have ticks of both signs.
        if low < origin * kilometre - 0.2 * (high - low):
            origin -= 10
        axis.set_major_formatter(PlainFormatter(origin * kilometre))
        short_name = name if panel_inches >= 1.3 else name[0]
        text = f"{short_name} {'−' if origin >= 0 else '+'} {abs(origin):,d} km ({unit})"
    axis.set_label_text(text, **style)
    axis.labelpad = 2


def colour_bar(axes, image, limits, extend, gap, width, line):
    """The axes of a bar of so many inches beside what is drawn, framed by so thick a line; `limits`: the part of the
    scale that is shown."""
    figure = axes.figure
    inches = figure.get_figwidth()
    box = axes.get_position()
    bar = figure.add_axes([box.x1 + gap / inches, box.y0, width / inches, box.height])
    figure.colorbar(image, cax=bar, extend=extend)
    bar.spines["outline"].set_linewidth(line)
    if limits[0] < limits[1]:
        bar.set_ylim(*limits)
    plain_ticks(bar.yaxis, 5 if box.height * figure.get_figheight() > 1.15 else 3)
    return bar


def write_line(figure, text, x, y, **style):
    """A line of text so many inches from the left and the top of a page, below 0 from the right and the bottom. Dollar
    signs in it are no formulas."""
    width, height = figure.get_size_inches()
    looks = {"ha": "right" if x < 0 else "left", "va": "bottom" if y < 0 else "top"}
    figure.text(x % width / width, -y % height / height, plain(text), **looks, **style)


def count_text(n):
    return "1 station" if n == 1 else f"{n:,} stations"


def save(page, figure):
    # The caller has followed links.
    target, dpi = pathlib.Path(figure), STYLE["dpi"]
    kind = target.suffix[1:].lower()
    with new_file(target) as stream:
        if kind != "png":
            page.savefig(stream, format=kind, dpi=dpi, facecolor="white")
            return
        # savefig would store an opaque fourth channel, and compress harder: twice the time for the same size.
        page.set(dpi=dpi, facecolor="white")
        page.canvas.draw()
        pixels = np.asarray(page.canvas.buffer_rgba())[..., :3]
        Image.fromarray(np.ascontiguousarray(pixels)).save(stream, "png", dpi=(dpi, dpi), compress_level=3)


def draw_into(words, draw_file, dpi=300):
    """Draws words[0], a file, by a function, and saves it as words[1] in the style words[2], which is JSON.

    `dpi`: dots per inch where the style has none. If words[1] is empty, the style alone is checked.
    """
    STYLE["dpi"] = dpi
    STYLE.update(json.loads(words[2]) if len(words) > 2 else {})
    check_colour_map()
    if not words[1]:
        return
    plt.rcParams.update({"font.family": "DejaVu Sans", "svg.fonttype": "path", "pdf.fonttype": 42})
    try:
        save(draw_file(words[0]), words[1])
    except Undrawable as error:
        sys.exit(f"{words[0]}: {error}".replace("\n", " "))
