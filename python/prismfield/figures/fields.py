# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws every field of a prismfield result: figures.fields RESULT.nc FIGURE.png [STYLE]

A grid becomes maps; stations that cover an area become triangulated maps, others coloured points; points on one line
and boreholes become curves. Sizes are those of a page: a panel alone fits a column, three beside each other a page.
"""

import math
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator

from prismfield.field_names import ANOMALIES, ANOMALY_GRADIENT, FLUX_DENSITY, FLUX_GRADIENT, TENSOR, VECTOR
from prismfield.figures import drawing
from prismfield.figures.drawing import GREY, NO_DATA, STYLE, Dataset, Undrawable, Variable

# inches: pages by columns of panels, and the room around panels
PAGE_WIDTHS = {1: 3.6, 2: 5.7, 3: 7.6, 4: 9.6}
LEFT, BAR_ROOM, CURVE_ROOM, STRIP_WIDTH = 0.6, 0.56, 0.6, 7.6
SMALL, USUAL, LARGE = 6.5, 7.5, 9.5
LINE = 0.115


def arrange(names, ratio=1.0):
    """Rows of field names: potential and vector, diagonal, mixed derivatives; a plain wrap where that wastes room.

    Panels much wider than high (ratio is height over width) go below each other, in one or two columns.
    """
    if ratio < 0.3:
        columns = 1 if ratio < 0.12 or len(names) <= 4 else 2
        return [list(names[i : i + columns]) for i in range(0, len(names), columns)]
    groups = [("potential", *VECTOR), tuple(drawing.TERRAIN), TENSOR[:3], TENSOR[3:], FLUX_DENSITY, tuple(ANOMALIES)]
    groups += [FLUX_GRADIENT[:3], FLUX_GRADIENT[3:], tuple(ANOMALY_GRADIENT)]
    groups.append([name for name in names if not any(name in group for group in groups)])
    rows = [row for row in ([n for n in group if n in names] for group in groups) if row]
    if len(names) <= 3:
        return [list(names)]
    columns = min(4, math.ceil(math.sqrt(len(names))))
    wrapped = [list(names[i : i + columns]) for i in range(0, len(names), columns)]

    def blanks(layout):
        return len(layout) * max(map(len, layout)) - len(names)

    return rows if blanks(rows) <= blanks(wrapped) + 1 else wrapped


class Scheme:
    """The one colour map of a figure: a diverging one about 0 when any of its fields has both signs."""

    def __init__(self, dataset, names):
        asked = STYLE.get("colour_map", "")
        signed = any(drawing.is_signed(dataset[name].values) for name in names)
        self.diverges = drawing.is_diverging(asked) if asked else signed
        self.name = drawing.colour_map(self.diverges)

    def limits(self, values):
        """Limits of the colours, the part of them that is shown, and the ends at which values lie beyond them.

        A few outliers, as near an edge of the model, must not bleach the rest of the map. A field of one sign far from
        zero takes one half of a diverging map, from its least value to its greatest.
        """
        finite = values[np.isfinite(values)]
        if finite.size == 0 or np.all(finite == 0):
            return (-1.0, 1.0), (-1.0, 1.0), "neither"
        low, high = float(finite.min()), float(finite.max())
        largest = max(-low, high)
        if high - low <= 1e-12 * largest:
            low, high = low - 0.01 * largest, high + 0.01 * largest
        if not self.diverges:
            return (low, high), (low, high), "neither"
        if drawing.is_signed(values):
            limit = largest
            bulk = float(np.percentile(np.abs(finite), 99.5))
            if bulk > 0 and largest > 4 * bulk:
                limit = 1.5 * bulk
            below, above = low < -limit, high > limit
            ends = "both" if below and above else "min" if below else "max" if above else "neither"
            return (-limit, limit), (max(low, -limit), min(high, limit)), ends
        if high - low > 0.4 * largest:
            return (-largest, largest), (min(low, 0.0) if low < 0 else low, high), "neither"
        whole = (2 * low - high, high) if high > 0 else (low, 2 * high - low)
        return whole, (low, high), "neither"


def statistics(values):
    """ "min −0.642, max 0.976, RMS 0.332" of what is drawn, in its unit."""
    finite = values[np.isfinite(values)].astype(float)
    if finite.size == 0:
        return "no values"
    rms = math.sqrt(np.mean(finite**2))
    return f"min {drawing.short(finite.min())}, max {drawing.short(finite.max())}, RMS {drawing.short(rms)}"


def edges_of(centres, spacing_else):
    """Outer edges of the cells around evenly spaced centres."""
    step = (centres[-1] - centres[0]) / (len(centres) - 1) if len(centres) > 1 else spacing_else
    return centres[0] - step / 2, centres[-1] + step / 2


def is_plain():
    """Whether the figure has no words but what names panels, axes and colours."""
    return not STYLE.get("annotations", True)


class Sheet:
    """A page of equal panels, each with room for a colour bar, placed in inches."""

    def __init__(self, rows, ratio, colour_bars, x_label_every_row=False):
        columns = max(map(len, rows))
        room = BAR_ROOM if colour_bars else CURVE_ROOM
        page = STRIP_WIDTH if ratio < 0.3 else PAGE_WIDTHS[columns]
        width = (page - LEFT - columns * room + (room - 0.15 if not colour_bars else 0.0)) / columns
        height = max(width * ratio, 0.75)
        tallest = {1: 4.2, 2: 3.4}.get(len(rows), 2.6)
        if height > tallest:
            height, width = tallest, max(tallest / ratio, 0.6)
        self.width, self.height, self.rows, self.columns = width, height, rows, columns
        # A line of statistics in narrow panels is broken.
        self.narrow = width + room < 1.75
        self.bottom = 0.58
        # What stands above is wider than a panel that is far higher than wide.
        wider = 0.45 if width < 0.9 else 0.0
        self.gap_x = room + wider
        self.above = 0.17 + (0 if is_plain() else 3 if self.narrow else 1) * LINE
        self.gap_y = self.above + (0.5 if x_label_every_row else 0.2)
        content = LEFT + columns * width + (columns - 1) * self.gap_x + (self.gap_x if colour_bars else 0.15 + wider)
        self.page_width = max(content, PAGE_WIDTHS[1])
        self.places = {}
        for r, row in enumerate(rows):
            # A row of three below one of four stands below its last three: the vector's components above the tensor's.
            shift = columns - len(row) if columns == 4 and len(row) == 3 else 0
            for c, name in enumerate(row):
                self.places[name] = (r, c + shift)
        self.figure = None
        self.panels = {}

    def begin(self, dataset, what):
        """Writes title and lines below it, which take as much room as they need, and makes the panels."""
        title = str(dataset.attrs.get("title", "")).strip()
        longest = max(int((self.page_width - 0.3) / 0.092), 12)
        titles = textwrap.wrap(title, longest, max_lines=3, placeholder="…") or [""]
        lines = []
        for part in what:
            if lines and len(lines[-1]) + len(part) + 5 <= (self.page_width - 0.25) / 0.052:
                lines[-1] += "  ·  " + part
            else:
                lines.append(part)
        top = 0.26 + 0.17 * len(titles) + 0.12 * len(lines) + self.above
        source = str(dataset.attrs.get("source", ""))
        if is_plain():
            titles, lines, source, top, self.bottom = [], [], "", 0.12 + self.above, 0.46
        n_rows = len(self.rows)
        self.page_height = self.bottom + n_rows * self.height + (n_rows - 1) * self.gap_y + top
        self.top = top
        self.figure = plt.figure(figsize=(self.page_width, self.page_height))
        for k, text in enumerate(titles):
            drawing.write_line(self.figure, text, 0.12, 0.12 + 0.17 * k, fontsize=LARGE, fontweight="bold")
        for k, text in enumerate(lines):
            y = 0.14 + 0.17 * len(titles) + 0.12 * k
            drawing.write_line(self.figure, text, 0.12, y, fontsize=SMALL, color=GREY)
        drawing.write_line(self.figure, source, -0.08, -0.06, fontsize=5, color="0.6")
        self.panels = {name: self.add(row, column) for name, (row, column) in self.places.items()}

    def add(self, row, column):
        x = LEFT + column * (self.width + self.gap_x)
        y = self.page_height - self.top - (row + 1) * self.height - row * self.gap_y
        place = np.array([x, y, self.width, self.height]) / np.tile(self.figure.get_size_inches(), 2)
        axes = self.figure.add_axes(place)
        for spine in axes.spines.values():
            spine.set_linewidth(0.5)
        axes.tick_params(labelsize=SMALL, length=2.2, width=0.5, pad=2)
        return axes

    def lowest_in_column(self, name):
        row, column = self.places[name]
        return not any(r > row and c == column for r, c in self.places.values())

    def first_in_row(self, name):
        return any(row[0] == name for row in self.rows)

    def title(self, name, axes, values, unit, words):
        """Symbol and unit, and below them, unless the figure is plain, what every panel tells of its values."""
        symbol = words.get(name, drawing.title_of(name))
        if self.width + self.gap_x < 1.4:
            symbol = symbol.split()[-1]
        style = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points", "ha": "left"}
        up = 5
        if not is_plain():
            text = statistics(values)
            text = text.replace(", ", "\n") if self.narrow else text
            small = {"fontsize": SMALL - 0.5, "color": "0.35", "linespacing": 1.1, "va": "bottom"}
            axes.annotate(text, xytext=(0, 3), **small, **style)
            up = 6 + 72 * LINE * (text.count("\n") + 1) * 0.95
        text = f"{symbol} ({unit})" if unit else symbol
        axes.annotate(text, xytext=(0, up), fontsize=USUAL + 1, va="baseline", **style)

    def colour_bar(self, axes, image, shown, extend):
        # Beside what is drawn: equal scales may have made the map smaller than its place.
        axes.apply_aspect()
        bar = drawing.colour_bar(axes, image, shown, extend, 0.05, 0.08, 0.4)
        bar.minorticks_off()
        bar.tick_params(labelsize=SMALL, length=2, width=0.4, pad=1.5)


def style_map(sheet, name, axes, unit):
    counts = 5 if sheet.width > 1.4 else 2 if sheet.width > 0.5 else 1, 5 if sheet.height > 1.4 else 3
    drawing.style_coordinate(axes.xaxis, "Easting", unit, counts[0], sheet.width, fontsize=USUAL)
    drawing.style_coordinate(axes.yaxis, "Northing", unit, counts[1], sheet.height, fontsize=USUAL)
    axes.tick_params(labelleft=sheet.first_in_row(name), labelbottom=sheet.lowest_in_column(name))
    axes.yaxis.label.set_visible(sheet.first_in_row(name))
    axes.xaxis.label.set_visible(sheet.lowest_in_column(name))


def axes_text(dataset, names):
    """Which way is positive, of results that say it."""
    down = {"z_down": "down", "z_up": "up"}.get(str(dataset.attrs.get("axes", "")))
    if down is None or all(name in ANOMALIES for name in names):
        return []
    vertical = [name for name in ("gz", "bz") if name in names]
    return [f"{' and '.join(vertical) or 'z'} positive {down}"]


def field_text(dataset, names):
    """The inducing field, of results with anomalies along it, and the standard deviations of what was measured."""
    said = [dataset.attrs.get("inducing_field_" + name) for name in ("intensity", "inclination", "declination")]
    lines = []
    if None not in said and any(name in ANOMALIES or name in ANOMALY_GRADIENT for name in names):
        intensity, inclination, declination = map(float, said)
        lines.append(f"inducing field {intensity:,.6g} nT, inclination {inclination:g}°, declination {declination:g}°")
    for name in names:
        sigma = dataset[name + "_sigma"].values if name + "_sigma" in dataset else np.array([])
        sigma = sigma[np.isfinite(sigma)]
        if sigma.size:
            values, unit = drawing.scaled(np.array([sigma.min(), sigma.max()]), dataset[name].units)
            texts = dict.fromkeys(drawing.short(value) for value in values)
            lines.append(f"σ of {name} {' to '.join(texts)} {unit}")
    return [line.replace("-", "−") for line in lines]


def model_box(dataset):
    """West, east, south, north, bottom and top of the model, where the result holds them and they are to be drawn."""
    bounds = np.atleast_1d(dataset.attrs.get("model_bounds", []))
    return bounds if bounds.size == 6 and STYLE.get("model_outline", True) else None


def bodies_of(dataset):
    """Spheres (easting, northing, upward, radius) and boxes (west, east, south, north, bottom, top) of the model, where
    the result tells them; heights that it does not tell are not finite."""

    def rows(name, columns, upward):
        bodies = np.atleast_1d(dataset.attrs.get(name, [])).reshape(-1, columns)
        heights = np.atleast_1d(dataset.attrs.get(name + "_upward", np.full(upward * len(bodies), np.nan)))
        return bodies, heights.reshape(-1, upward)

    spheres, heights = rows("model_spheres", 3, 1)
    return np.hstack([spheres[:, :2], heights, spheres[:, 2:]]), np.hstack(rows("model_boxes", 4, 2))


class Outline:
    """What of a model is drawn in maps of some limits: its bodies where the result tells them, else the box around it;
    nothing where that would be all around the map or outside of it."""

    def __init__(self, dataset, west, east, south, north):
        self.circles, self.boxes, self.text = np.empty((0, 3)), np.empty((0, 4)), []
        box = model_box(dataset)
        if box is None:
            return
        spheres, boxes = bodies_of(dataset)
        x, y, _, radius = spheres.T
        is_within = (x + radius > west) & (x - radius < east) & (y + radius > south) & (y - radius < north)
        self.circles = spheres[is_within][:, [0, 1, 3]]
        self.boxes = self.crossing(boxes[:, :4], west, east, south, north)
        if spheres.size + boxes.size == 0:
            self.boxes = self.crossing(box[None, :4], west, east, south, north)
        if self.circles.size + self.boxes.size:
            self.text = ["dashed: bodies of the model" if spheres.size + boxes.size else "dashed: extent of the model"]

    @staticmethod
    def crossing(boxes, west, east, south, north):
        """Boxes of which a side is within the limits."""
        w, e, s, n = boxes.T
        overlaps = (w < east) & (e > west) & (s < north) & (n > south)
        covers = (w <= west) & (e >= east) & (s <= south) & (n >= north)
        return boxes[overlaps & ~covers]

    def draw(self, axes, factor):
        # White below: it is seen on dark colours too.
        for style in ({"edgecolor": "white", "linewidth": 1.1, "alpha": 0.6}, {"edgecolor": "0.1", "linewidth": 0.55}):
            style.update(fill=False, linestyle="-" if style["edgecolor"] == "white" else (0, (5, 3)))
            for x, y, radius in self.circles * factor:
                axes.add_patch(Circle((x, y), radius, **style))
            for west, east, south, north in self.boxes * factor:
                axes.add_patch(Rectangle((west, south), east - west, north - south, **style))


def height_text(height):
    """What to say of the heights of points, and the levels of their contours: none for one height."""
    low, high = float(height.min()), float(height.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return f"height {low:,.6g} m".replace("-", "−"), np.array([])
    levels = MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, high)
    return f"heights {low:,.0f} to {high:,.0f} m".replace("-", "−"), levels[(levels > low) & (levels < high)]


def draw_maps(dataset, names, words, limits, scale, what, draw):
    """Maps within limits in metres; `scale`: factor and unit of length. `draw` gets the sheet, axes, name, values and
    how they are coloured, and returns what a colour bar is made of."""
    factor, unit = scale
    ratio = (limits[3] - limits[2]) / (limits[1] - limits[0])
    sheet = Sheet(arrange(names, ratio), ratio, colour_bars=True)
    outline = Outline(dataset, *limits)
    sheet.begin(dataset, [*what, *axes_text(dataset, names), *field_text(dataset, names), *outline.text])
    scheme = Scheme(dataset, names)
    for name, axes in sheet.panels.items():
        values, label = drawing.scaled(dataset[name].values, dataset[name].units)
        sheet.title(name, axes, values, label, words)
        (low, high), shown, extend = scheme.limits(values)
        axes.set_facecolor(NO_DATA)
        axes.set(xlim=np.multiply(limits[:2], factor), ylim=np.multiply(limits[2:], factor), aspect="equal")
        axes.apply_aspect()
        image = draw(sheet, axes, name, values, shown, {"cmap": scheme.name, "vmin": low, "vmax": high})
        style_map(sheet, name, axes, unit)
        sheet.colour_bar(axes, image, shown, extend)
        outline.draw(axes, factor)
    return sheet.figure


def draw_grid(dataset, names, words, lines=(), contours=8):
    """`lines`: what stands before all that is said of the grid; `contours`: how many where nobody says."""
    easting, northing = dataset["easting"].values, dataset["northing"].values
    spans = easting[-1] - easting[0], northing[-1] - northing[0]
    factor, unit = drawing.length_unit(*spans)
    limits = *edges_of(easting, spans[1] / 20), *edges_of(northing, spans[0] / 20)
    height = dataset["upward"].values
    heights, levels = height_text(height)
    # Two families of lines cannot be told apart: those of a draped grid are its heights unless others are asked for, or
    # none. A plain figure has no words to say what they are.
    is_draped = levels.size > 0 and "contours" not in STYLE
    draws_heights = is_draped and not is_plain()
    if draws_heights and levels.size > 1:
        heights += f", a line every {levels[1] - levels[0]:g} m"
    usual_lines = contours if min(len(easting), len(northing)) >= 10 else 0
    # More nodes than dots of the page only cost time.
    step = max(1, math.ceil(max(dataset.sizes["easting"], dataset.sizes["northing"]) / 3000))

    def draw(sheet, axes, name, values, shown, colours):
        values = values[::step, ::step]
        extent = np.multiply(limits, factor)
        image = axes.imshow(values, extent=extent, origin="lower", interpolation="nearest", **colours)
        places = easting[::step] * factor, northing[::step] * factor
        if draws_heights:
            axes.contour(*places, height[::step, ::step], levels=levels, **drawing.LINES)
        elif "contours" in STYLE or not (is_draped or name + "_sigma" in dataset):
            field_levels = drawing.contour_levels(*shown, usual_lines, drawing.exponent_of(dataset[name].values))
            if field_levels.size and min(values.shape) > 1:
                drawing.label_lines(axes, axes.contour(*places, values, levels=field_levels, **drawing.LINES))
        return image

    what = [*lines, f"{len(easting)} × {len(northing)} points", heights]
    return draw_maps(dataset, names, words, limits, (factor, unit), what, draw)


def survey_lines(dataset):
    """Names of survey lines and which stations each has, in the file's order; nothing where the result tells no two.

    Stations without a name belong to no line.
    """
    columns = {str(name).lower(): name for name in dataset.variables}
    for column in (columns[word] for word in ("line", "segment") if word in columns):
        if dataset[column].dims == ("station",):
            labels = dataset[column].values
            is_number = np.issubdtype(labels.dtype, np.floating)
            texts = np.array([f"{label:.12g}" if is_number else str(label).strip() for label in labels])
            is_named = np.isfinite(labels) if is_number else texts != ""
            lines = [(name, np.flatnonzero(texts == name)) for name in dict.fromkeys(texts[is_named])]
            return lines if 1 < len(lines) <= is_named.sum() / 3 else []
    return []


def name_lines(axes, lines, easting, northing):
    """Writes their names at the western or northern ends of survey lines, of many lines those of some: on the side of
    the line where the frame does not cut them and fewer stations are hidden."""
    stations = axes.transData.transform(np.stack([easting, northing], axis=1))
    # offset, and which side of the text it is of
    above, below = ((-2, 2.5), "left", "bottom"), ((-2, -2.5), "left", "top")
    right, left = ((2.5, -1), "left", "top"), ((-2.5, -1), "right", "top")
    for name, those in lines[:: 1 + len(lines) // 12]:
        x, y = easting[those], northing[those]
        goes_east = np.ptp(x) >= np.ptp(y)
        end = np.argmin(x) if goes_east else np.argmax(y)
        style = {"textcoords": "offset points", "fontsize": 5, "color": "0.1", "zorder": 3, "bbox": drawing.PALE_BOX}
        text = axes.annotate(drawing.plain(name), (x[end], y[end]), (0, 0), **style)

        drawing.place_well(axes, text, (above, below) if goes_east else (right, left), stations)
        text.xyann = np.array(text.xyann) + drawing.overhang(axes, text)


def dot_size(sheet, n, n_lines):
    """Square points of a dot on a map of so many stations; along survey lines as the room between lines allows."""
    area = sheet.width * sheet.height * 5184
    if n_lines:
        return float(np.clip(0.4 * math.sqrt(area) / n_lines, 1.3, 3.0)) ** 2
    return float(np.clip(area / 12 / max(n, 1), 3, 26))


def draw_stations(dataset, names, words):
    easting, northing = dataset["easting"].values, dataset["northing"].values
    span_e, span_n = np.ptp(easting), np.ptp(northing)
    factor, unit = drawing.length_unit(span_e, span_n)
    # A margin shows the outer stations whole; a line of stations still gets a strip.
    margin = 0.06 * max(span_e, span_n, 1.0)
    half_e, half_n = max(span_e / 2, 0.1 * span_n) + margin, max(span_n / 2, 0.1 * span_e) + margin
    middle_e, middle_n = (easting.min() + easting.max()) / 2, (northing.min() + northing.max()) / 2
    limits = middle_e - half_e, middle_e + half_e, middle_n - half_n, middle_n + half_n
    triangles = drawing.triangles_of(easting * factor, northing * factor)
    heights, _ = height_text(dataset["upward"].values)
    lines = survey_lines(dataset)
    stations = drawing.count_text(len(easting)) + (f" on {len(lines)} lines" if lines else "")
    on_none = len(easting) - sum(len(those) for _, those in lines)
    if lines and on_none:
        stations += f", {on_none} on none"

    def draw(sheet, axes, name, values, shown, colours):
        if triangles is not None and np.isfinite(values).all():
            image = drawing.draw_triangles(axes, triangles, values, shown, colours)
            levels = drawing.contour_levels(*shown, 8, drawing.exponent_of(dataset[name].values))
            if levels.size:
                drawing.label_lines(axes, axes.tricontour(triangles, values, levels=levels, **drawing.LINES))
        else:
            size = dot_size(sheet, len(easting), len(lines))
            image = drawing.draw_dots(axes, easting * factor, northing * factor, values, size, colours)
        name_lines(axes, lines, easting * factor, northing * factor)
        return image

    return draw_maps(dataset, names, words, limits, (factor, unit), [stations, heights], draw)


def spans_along(dataset, along, position):
    """Parts of a line, as positions in metres, and what is there: bodies of the model below the line or, of a borehole,
    around it; the model's extent where the result tells no bodies. Without those that are all of the line."""
    box = model_box(dataset)
    if box is None:
        return [], []
    spheres, boxes = bodies_of(dataset)
    # Ground and air have bodies below them, whatever their depth.
    axes = [0, 1, 2] if along == "upward" else [0, 1]
    known = np.append(spheres[:, axes[-1]], boxes[:, 2 * axes[-1]])
    has_bodies = known.size > 0 and np.isfinite(known).all()
    if not has_bodies:
        spheres, boxes = spheres[:0], box[None, :]
    names = ("easting", "northing", "upward")
    places = [dataset[name].values for name in names]
    if along == "distance":
        first, last = np.argmin(places[0]), np.argmax(places[0])
        start = np.array([values[first] for values in places])
        towards = np.array([values[last] for values in places]) - start
        towards /= np.linalg.norm(towards[axes])
    else:
        towards = np.eye(3)[names.index(along)]
        start = np.array([np.mean(values) for values in places]) * (1 - towards)
    offset = spheres[:, axes] - start[axes]
    middle = offset @ towards[axes]
    half = np.sqrt(np.maximum(spheres[:, 3] ** 2 - np.sum(offset**2, axis=1) + middle**2, 0))
    low, high = np.full(len(boxes), -math.inf), np.full(len(boxes), math.inf)
    for k in axes:
        sides = boxes[:, 2 * k : 2 * k + 2] - start[k]
        if towards[k] == 0:
            low[(sides[:, 0] >= 0) | (sides[:, 1] <= 0)] = math.inf
        else:
            sides = np.sort(sides / towards[k], axis=1)
            low, high = np.maximum(low, sides[:, 0]), np.minimum(high, sides[:, 1])
    spans = zip(np.append(middle - half, low), np.append(middle + half, high))
    begin, end = position[0], position[-1]
    spans = [(a, b) for a, b in spans if a < min(b, end) and b > begin and (a > begin or b < end)]
    return spans, [f"grey: {'bodies' if has_bodies else 'extent'} of the model"] if spans else []


def draw_curves(dataset, names, words, along, position, what):
    """Curves over a coordinate; down a borehole the coordinate is the vertical axis."""
    borehole = along == "upward"
    factor, unit = drawing.length_unit(np.ptp(position))
    order = np.argsort(position, kind="stable")
    position = position[order] * factor
    marker = "o" if len(position) <= 60 else ""
    sheet = Sheet(arrange(names), 1.35 if borehole else 0.62, colour_bars=False, x_label_every_row=borehole)
    label = f"{drawing.ALONG[along]} ({unit})"
    spans, legend = spans_along(dataset, along, position / factor)
    sheet.begin(dataset, [*what, *axes_text(dataset, names), *field_text(dataset, names), *legend])
    for name, axes in sheet.panels.items():
        values, field_unit = drawing.scaled(dataset[name].values.ravel(), dataset[name].units)
        sheet.title(name, axes, values, field_unit, words)
        values = values[order]
        # depth is upright
        xy, swap = (position, values), slice(None, None, -1 if borehole else 1)
        limit_along, limit_values = (axes.set_xlim, axes.set_ylim)[swap]
        zero, band = (axes.axvline, axes.axhspan) if borehole else (axes.axhline, axes.axvspan)
        label_along, label_values = (axes.set_xlabel, axes.set_ylabel)[swap]
        axes.plot(*xy[swap], color="#1f5a92", linewidth=1.0, marker=marker, markersize=2)
        zero(0, color="0.6", linewidth=0.5, zorder=0)
        label_values(field_unit, fontsize=USUAL, labelpad=1.5)
        drawing.plain_ticks(axes.xaxis, 3 if borehole or sheet.width < 1.2 else 5)
        drawing.plain_ticks(axes.yaxis, 4 if sheet.height < 1.5 else 6)
        is_labelled = sheet.first_in_row(name) if borehole else sheet.lowest_in_column(name)
        axes.tick_params(**{"labelleft" if borehole else "labelbottom": is_labelled})
        axes.grid(color="0.9", linewidth=0.5)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
        axes.margins(0.04 if borehole else 0.02, 0.02 if borehole else 0.08)
        has_value = np.isfinite(values)
        if not values[has_value].any():
            limit_values(-1, 1)
        # also where some have no values
        margin = 0.02 * np.ptp(position) or 1.0
        limit_along(position[0] - margin, position[-1] + margin)
        for low, high in np.clip(np.reshape(spans, (-1, 2)) * factor, position[0] - margin, position[-1] + margin):
            band(low, high, color="0.93", linewidth=0, zorder=-1)
        if borehole and is_labelled:
            label_along(label, fontsize=USUAL, labelpad=2)
        elif is_labelled:
            count = 3 if sheet.width < 1.2 else 5
            drawing.style_coordinate(axes.xaxis, drawing.ALONG[along], unit, count, sheet.width, fontsize=USUAL)
    return sheet.figure


def line_text(easting, northing, along):
    """Where a line of points is."""
    if along == "distance":
        first, last = np.argmin(easting), np.argmax(easting)
        ends = (f"({easting[k]:,.0f}; {northing[k]:,.0f})" for k in (first, last))
        return "from {} to {} m".format(*ends).replace("-", "−")
    across = {"easting": easting, "northing": northing}
    across.pop(along, None)
    parts = (
        f"{name} {values[0]:,.6g} m" if np.ptp(values) == 0 else f"{name} {values.min():,.0f} to {values.max():,.0f} m"
        for name, values in across.items()
    )
    return ", ".join(parts).replace("-", "−")


def without_rounding(dataset):
    """The dataset with 0 for components that are nothing beside the largest of their kind, as gyz is above a line of
    symmetry."""
    changed = {}
    for kind in (VECTOR, TENSOR, FLUX_DENSITY, FLUX_GRADIENT):
        largest = {}
        for name in kind:
            if name in dataset:
                values = np.abs(dataset[name].values)
                largest[name] = float(values[np.isfinite(values)].max(initial=0.0))
        least = 1e-12 * max(largest.values(), default=0.0)
        for name in (name for name, value in largest.items() if 0 < value < least):
            field = dataset[name]
            changed[name] = Variable(field.dims, np.zeros_like(field.values), field.attrs)
    return Dataset({**dataset.variables, **changed}, dataset.attrs)


def drawn_fields(dataset):
    names = drawing.fields_of(dataset)
    if not names:
        raise ValueError("the result holds no field")
    asked = STYLE.get("fields")
    if not asked:
        return names
    missing = [name for name in asked if name not in names]
    if missing:
        raise ValueError(f"the result holds no {', '.join(missing)}; it holds {', '.join(names)}")
    return [name for name in names if name in asked]


def draw(dataset):
    names = drawn_fields(dataset)
    dataset = without_rounding(dataset)
    # of terrain, gz is what all of it pulls, beside a slab of the same height
    words = {"gz": "Terrain effect $g_z$"} if "terrain_correction" in dataset else {}
    has_stations, line = "station" in dataset.sizes, drawing.profile_of(dataset)
    if line is None:
        return draw_stations(dataset, names, words) if has_stations else draw_grid(dataset, names, words)
    position, along = line
    points = drawing.count_text(len(position)) if has_stations else f"{len(position)} points"
    what = [points, line_text(dataset["easting"].values, dataset["northing"].values, along)]
    what += [] if along == "upward" else [height_text(dataset["upward"].values)[0]]
    return draw_curves(dataset, names, words, along, position, what)


def in_order(dataset, path):
    """The dataset of a file, of a grid with rising coordinates and its variables over (northing, easting).

    Raises Undrawable where the fields are neither at stations nor on a grid.
    """
    missing = [name for name in ("easting", "northing", "upward") if name not in dataset]
    if missing:
        raise Undrawable(f"holds no {', '.join(missing)}, without which the places of its fields are unknown")
    for name in drawn_fields(dataset):
        field, places = dataset[name], (dataset["easting"], dataset["northing"])
        is_at_stations = all(variable.dims == ("station",) for variable in (field, *places))
        is_on_grid = sorted(field.dims) == [*places[0].dims, *places[1].dims] == ["easting", "northing"]
        if is_at_stations or is_on_grid:
            continue
        begin = f"{name} has the dimensions ({', '.join(map(str, field.dims))}), where a figure needs "
        if {field.shape} == {variable.shape for variable in (*places, dataset["upward"])} and field.ndim == 1:
            raise Undrawable(f"{begin}(station); 'prismfield convert {path} other.nc' makes a file that has it")
        raise Undrawable(f"{begin}(northing, easting) or (station); write the file with those names of dimensions")
    if "station" in dataset.sizes:
        return dataset
    variables = {}
    for name, variable in dataset.variables.items():
        dims, values = list(variable.dims), variable.values
        for k, dim in enumerate(dims):
            if dim in ("easting", "northing") and (np.diff(dataset[dim].values) < 0).any():
                values = values.take(np.argsort(dataset[dim].values, kind="stable"), axis=k)
        order = sorted(dims, key=lambda dim: {"northing": 1, "easting": 2}.get(dim, 0))
        values = values.transpose([dims.index(dim) for dim in order])
        variables[name] = Variable(order, values, variable.attrs)
    return Dataset(variables, dataset.attrs)


def main(words):
    """Draws a result, a file, into a figure; words as of drawing.draw_into()."""
    drawing.draw_into(words, lambda path: draw(in_order(drawing.open_file(path), path)))
