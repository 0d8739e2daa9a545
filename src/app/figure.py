# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws every field of a prismfield result: python3 - RESULT.nc FIGURE.png

Follows drawing.py in the text that the program hands to Python. A grid becomes maps, stations become coloured
points, and a grid of one row or column, stations along an axis or a borehole become curves.
"""


def arrange(names, ratio=1.0):
    """Rows of field names: potential and vector, diagonal, mixed derivatives; a plain wrap where that wastes room.

    Panels much wider than high (ratio is height over width) go below each other, in one or two columns.
    """
    if ratio < 0.3:
        columns = 1 if ratio < 0.12 or len(names) <= 4 else 2
        return [list(names[i : i + columns]) for i in range(0, len(names), columns)]
    groups = (("potential", "gx", "gy", "gz"), ("gxx", "gyy", "gzz"), ("gxy", "gxz", "gyz"))
    rows = [row for row in ([n for n in group if n in names] for group in groups) if row]
    if len(names) <= 3:
        return [list(names)]
    columns = math.ceil(math.sqrt(len(names)))
    wrapped = [list(names[i : i + columns]) for i in range(0, len(names), columns)]

    def blanks(layout):
        return len(layout) * max(map(len, layout)) - len(names)

    return rows if blanks(rows) <= blanks(wrapped) + 1 else wrapped


def colours(values):
    """Colour map, limits and the ends at which values lie beyond them.

    A field of both signs takes a diverging map centred at zero. A few outliers, as near an edge of the model, must not
    bleach the rest of the map.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0 or np.all(finite == 0):
        return "RdBu_r", -1.0, 1.0, "neither"
    low, high = float(finite.min()), float(finite.max())
    largest = max(-low, high)
    if low < 0 < high and min(-low, high) > 1e-3 * largest:
        limit = largest
        bulk = float(np.percentile(np.abs(finite), 99.5))
        if bulk > 0 and largest > 4 * bulk:
            limit = 1.5 * bulk
        below, above = low < -limit, high > limit
        return "RdBu_r", -limit, limit, "both" if below and above else "min" if below else "max" if above else "neither"
    if high - low <= 1e-12 * largest:
        low, high = low - 0.01 * largest, high + 0.01 * largest
    return "viridis", low, high, "neither"


def edges_of(centres, spacing_else):
    """Outer edges of the cells around evenly spaced centres."""
    step = (centres[-1] - centres[0]) / (len(centres) - 1) if len(centres) > 1 else spacing_else
    return centres[0] - step / 2, centres[-1] + step / 2


class Sheet:
    """A page of equal panels, each with room for a colour bar, placed in inches."""

    def __init__(self, rows, ratio, colour_bars, x_label_every_row=False):
        columns = max(map(len, rows))
        width = {1: 5.6, 2: 4.2, 3: 3.4}.get(columns, 2.9) * (1.4 if ratio < 0.3 else 1.0)
        height = max(width * ratio, 0.75)
        tallest = {1: 5.6, 2: 4.2}.get(len(rows), 3.4)
        if height > tallest:
            height, width = tallest, max(tallest / ratio, 0.7)
        self.width, self.height, self.colour_bars = width, height, colour_bars
        self.left, self.bottom, self.top = 0.75, 0.72, 1.0
        self.gap_x = 0.98 if colour_bars else 0.75
        self.gap_y = 0.78 if x_label_every_row else 0.5
        right = 0.95 if colour_bars else 0.3
        self.page_width = max(self.left + columns * width + (columns - 1) * self.gap_x + right, 4.2)
        self.page_height = self.bottom + len(rows) * height + (len(rows) - 1) * self.gap_y + self.top
        self.figure = plt.figure(figsize=(self.page_width, self.page_height))
        self.rows = rows
        self.columns = columns
        self.places = {}
        for r, row in enumerate(rows):
            # A row of three below one of four stands below its last three: the vector's components above the tensor's.
            shift = columns - len(row) if columns == 4 and len(row) == 3 else 0
            for c, name in enumerate(row):
                self.places[name] = (r, c + shift)
        self.panels = {name: self.add(row, column) for name, (row, column) in self.places.items()}

    def add(self, row, column):
        x = self.left + column * (self.width + self.gap_x)
        y = self.page_height - self.top - (row + 1) * self.height - row * self.gap_y
        return self.figure.add_axes(
            [x / self.page_width, y / self.page_height, self.width / self.page_width, self.height / self.page_height]
        )

    def lowest_in_column(self, name):
        row, column = self.places[name]
        return not any(r > row and c == column for r, c in self.places.values())

    def first_in_row(self, name):
        return any(row[0] == name for row in self.rows)

    def title(self, name):
        axes = self.panels[name]
        axes.set_title(SYMBOLS[name] if self.width > 2 else SYMBOLS[name].split()[-1], fontsize=11, loc="left", pad=5)

    def table(self, dataset):
        """Minimum, maximum and RMS of every field in the first free place, where there is one that is large enough."""
        free = [
            (r, c)
            for r in range(len(self.rows))
            for c in range(self.columns)
            if (r, c) not in self.places.values()
        ]
        names = list(self.places)
        need = 0.19 * (len(names) + 2)
        if not free or self.width < 2.6 or need > self.height:
            return
        axes = self.add(*free[0])
        axes.axis("off")
        stops = (0.0, 0.5, 0.75, 1.0)
        top = 1.0 if free[0][0] == 0 else 1 - 0.62 / self.height

        def line(number, cells, colour):
            for stop, cell in zip(stops, cells):
                axes.text(
                    stop,
                    top - number * 0.19 / self.height,
                    cell,
                    transform=axes.transAxes,
                    fontsize=8,
                    color=colour,
                    va="top",
                    ha="left" if stop == 0 else "right",
                )

        line(0, ("", "minimum", "maximum", "RMS"), GREY)
        for number, name in enumerate(names, start=1):
            values = dataset[name].values[np.isfinite(dataset[name].values)].astype(float)
            unit = UNITS.get(dataset[name].attrs.get("units", ""), dataset[name].attrs.get("units", ""))
            symbol = SYMBOLS[name].split()[-1]
            if values.size:
                numbers = (values.min(), values.max(), math.sqrt(np.mean(values**2)))
                line(number, (f"{symbol}  {unit}", *(f"{v:.4g}".replace("-", "−") for v in numbers)), "0.2")

    def colour_bar(self, axes, image, unit, extend):
        # Beside what is drawn: equal scales may have made the map smaller than its place.
        axes.apply_aspect()
        box = axes.get_position()
        bar = self.figure.add_axes([box.x1 + 0.08 / self.page_width, box.y0, 0.11 / self.page_width, box.height])
        colour_bar = self.figure.colorbar(image, cax=bar, extend=extend)
        colour_bar.outline.set_linewidth(0.5)
        colour_bar.locator = MaxNLocator(5 if box.height * self.page_height > 1.2 else 3, steps=[1, 2, 2.5, 5, 10])
        formatter = ScalarFormatter(useOffset=False)
        formatter.set_scientific(False)
        colour_bar.formatter = formatter
        colour_bar.update_ticks()
        bar.tick_params(labelsize=8, length=2.5, width=0.5)
        axes.annotate(
            unit,
            (1, 1),
            (4, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8,
            va="bottom",
            ha="left",
        )

    def finish(self, dataset, what):
        title = str(dataset.attrs.get("title", "")).strip()
        # About 0.12 inches a letter of 13 points: a long title is set smaller, a very long one is cut.
        room = (self.page_width - self.left - 0.2) / 0.12
        size = min(13.0, max(9.0, 13.0 * room / max(len(title), 1)))
        longest = int(room * 13.0 / size)
        title = title if len(title) <= longest else title[: longest - 1].rstrip() + "…"
        x = self.left / self.page_width
        # A title is text: its dollar signs are no formulas.
        self.figure.text(
            x,
            1 - 0.2 / self.page_height,
            title.replace("$", r"\$"),
            fontsize=size,
            fontweight="bold",
            va="top",
            ha="left",
        )
        self.table(dataset)
        vertical = {"z_down": "z down", "z_up": "z up"}.get(str(dataset.attrs.get("axes", "")), "")
        self.figure.text(
            x,
            1 - 0.48 / self.page_height,
            "  ·  ".join(part for part in (what, vertical) if part),
            fontsize=8.5,
            color=GREY,
            va="top",
            ha="left",
        )
        self.figure.text(
            1 - 0.15 / self.page_width,
            0.1 / self.page_height,
            str(dataset.attrs.get("source", "")).replace("$", r"\$"),
            fontsize=6.5,
            color="0.6",
            va="bottom",
            ha="right",
        )
        return self.figure


def style_map(sheet, name, axes, unit):
    sheet.title(name)
    plain_ticks(axes.xaxis, 5 if sheet.width > 2 else 2)
    plain_ticks(axes.yaxis, 5 if sheet.height > 2 else 3)
    axes.tick_params(
        labelsize=8, length=3, width=0.6, labelleft=sheet.first_in_row(name), labelbottom=sheet.lowest_in_column(name)
    )
    if sheet.first_in_row(name):
        axes.set_ylabel(f"Northing ({unit})", fontsize=9)
    if sheet.lowest_in_column(name):
        axes.set_xlabel(f"Easting ({unit})", fontsize=9)
    for spine in axes.spines.values():
        spine.set_linewidth(0.6)


def height_text(height):
    """What to say of the heights of a grid, and the levels of their contours: none for one height."""
    low, high = float(height.min()), float(height.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return f"height {low:,.6g} m".replace(",", " "), np.array([])
    levels = MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, high)
    levels = levels[(levels > low) & (levels < high)]
    text = f"heights {low:.0f} to {high:.0f} m"
    return text + (f", a contour every {levels[1] - levels[0]:g} m" if levels.size > 1 else ""), levels


def draw_maps(dataset, names):
    easting, northing = dataset["easting"].values, dataset["northing"].values
    spans = easting[-1] - easting[0], northing[-1] - northing[0]
    factor, unit = length_unit(*spans)
    west, east = edges_of(easting * factor, spans[1] * factor / 20)
    south, north = edges_of(northing * factor, spans[0] * factor / 20)
    ratio = (north - south) / (east - west)
    sheet = Sheet(arrange(names, ratio), ratio, colour_bars=True)
    height = dataset["upward"].values
    heights, levels = height_text(height)
    # More nodes than dots of the page only cost time.
    step = max(1, math.ceil(max(dataset.sizes["easting"], dataset.sizes["northing"]) / 3000))
    for name, axes in sheet.panels.items():
        values, label = scaled(dataset[name].values[::step, ::step], dataset[name].attrs.get("units", ""))
        colour_map, low, high, extend = colours(values)
        axes.set_facecolor("0.85")
        image = axes.imshow(
            values,
            origin="lower",
            extent=(west, east, south, north),
            cmap=colour_map,
            vmin=low,
            vmax=high,
            interpolation="nearest",
            aspect="equal",
        )
        style_map(sheet, name, axes, unit)
        sheet.colour_bar(axes, image, label, extend)
        if levels.size:
            axes.contour(
                easting[::step] * factor,
                northing[::step] * factor,
                height[::step, ::step],
                levels=levels,
                colors="black",
                linewidths=0.35,
                alpha=0.55,
            )
    return sheet.finish(dataset, f"{len(easting)} × {len(northing)} points  ·  {heights}")


def draw_stations(dataset, names):
    easting, northing = dataset["easting"].values, dataset["northing"].values
    span_e, span_n = np.ptp(easting), np.ptp(northing)
    factor, unit = length_unit(span_e, span_n)
    # A margin shows the outer stations whole; a line of stations still gets a strip.
    margin = 0.06 * max(span_e, span_n, 1.0)
    half_e, half_n = max(span_e / 2, 0.1 * span_n) + margin, max(span_n / 2, 0.1 * span_e) + margin
    middle_e, middle_n = (easting.min() + easting.max()) / 2, (northing.min() + northing.max()) / 2
    sheet = Sheet(arrange(names, half_n / half_e), half_n / half_e, colour_bars=True)
    size = float(np.clip(sheet.width * sheet.height * 5184 / 12 / max(len(easting), 1), 2, 60))
    for name, axes in sheet.panels.items():
        values, label = scaled(dataset[name].values, dataset[name].attrs.get("units", ""))
        colour_map, low, high, extend = colours(values)
        image = axes.scatter(
            easting * factor,
            northing * factor,
            c=values,
            s=size,
            cmap=colour_map,
            vmin=low,
            vmax=high,
            edgecolors="0.25" if size > 8 else "none",
            linewidths=0.5,
            rasterized=len(easting) > 5000,
        )
        axes.set_xlim((middle_e - half_e) * factor, (middle_e + half_e) * factor)
        axes.set_ylim((middle_n - half_n) * factor, (middle_n + half_n) * factor)
        axes.set_aspect("equal")
        # White is a colour of the scale, so it cannot be the ground as well.
        axes.set_facecolor("0.92")
        axes.grid(color="white", linewidth=0.8)
        axes.set_axisbelow(True)
        style_map(sheet, name, axes, unit)
        sheet.colour_bar(axes, image, label, extend)
    return sheet.finish(dataset, count_text(len(easting)))


def draw_curves(dataset, names, along, position, what):
    """Curves over a coordinate; down a borehole the coordinate is the vertical axis."""
    borehole = along == "upward"
    factor, unit = length_unit(np.ptp(position))
    order = np.argsort(position, kind="stable")
    position = position[order] * factor
    marker = "o" if len(position) <= 60 else ""
    sheet = Sheet(arrange(names), 1.35 if borehole else 0.6, colour_bars=False, x_label_every_row=borehole)
    label = {"easting": "Easting", "northing": "Northing", "upward": "Height"}[along] + f" ({unit})"
    for name, axes in sheet.panels.items():
        values, field_unit = scaled(dataset[name].values.ravel(), dataset[name].attrs.get("units", ""))
        values = values[order]
        style = {"color": "#1f5a92", "linewidth": 1.4, "marker": marker, "markersize": 3}
        if borehole:
            axes.plot(values, position, **style)
            axes.axvline(0, color="0.6", linewidth=0.6, zorder=0)
            axes.set_xlabel(field_unit, fontsize=9)
        else:
            axes.plot(position, values, **style)
            axes.axhline(0, color="0.6", linewidth=0.6, zorder=0)
            axes.set_ylabel(field_unit, fontsize=9, labelpad=2)
        sheet.title(name)
        plain_ticks(axes.xaxis, 4 if borehole else 5)
        plain_ticks(axes.yaxis, 5)
        axes.tick_params(labelsize=8, length=3, width=0.6)
        axes.grid(color="0.9", linewidth=0.6)
        for side, spine in axes.spines.items():
            spine.set_linewidth(0.6)
            spine.set_visible(side in ("left", "bottom"))
        axes.margins(0.04 if borehole else 0.02, 0.02 if borehole else 0.08)
        if borehole and sheet.first_in_row(name):
            axes.set_ylabel(label, fontsize=9)
        if not borehole and sheet.lowest_in_column(name):
            axes.set_xlabel(label, fontsize=9)
    return sheet.finish(dataset, what)


def fixed(name, values):
    return f"{name} {values[0]:,.6g} m".replace(",", " ")


def draw(dataset):
    names = [name for name in SYMBOLS if name in dataset]
    if not names:
        raise ValueError("the result holds no field")
    easting, northing, upward = (dataset[c].values for c in ("easting", "northing", "upward"))
    if "station" in dataset.sizes:
        same = [len(values) > 1 and np.all(values == values[0]) for values in (easting, northing)]
        points = count_text(len(easting))
        if all(same) and np.ptp(upward) > 0:
            what = f"{points} at {fixed('easting', easting)}, {fixed('northing', northing)}"
            return draw_curves(dataset, names, "upward", upward, what)
        if same[0] and not same[1]:
            return draw_curves(dataset, names, "northing", northing, f"{points} at {fixed('easting', easting)}")
        if same[1] and not same[0]:
            return draw_curves(dataset, names, "easting", easting, f"{points} at {fixed('northing', northing)}")
        return draw_stations(dataset, names)
    if len(northing) == 1:
        what = f"{len(easting)} points at {fixed('northing', northing)}"
        return draw_curves(dataset, names, "easting", easting, what)
    if len(easting) == 1:
        what = f"{len(northing)} points at {fixed('easting', easting)}"
        return draw_curves(dataset, names, "northing", northing, what)
    return draw_maps(dataset, names)


if __name__ == "__main__":
    main(lambda result: draw(open_file(result)))
