# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The maps of a study: the fields of its most exact point, what others differ by, and zooms where roughness shows."""

import itertools
import math
import textwrap

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..field_names import NATIVE, TENSOR, VECTOR, in_order, symbol_of
from ..figures.drawing import UNITS, is_signed, open_file, scaled
from .report_charts import COLOURS, PAGE_WIDTH, ROUND, Page, new_page, plain, power
from .report_data import finite


def read_map(path, fields):
    """(easting, northing, {field: (values, unit)}) of a grid's result, coordinates in km."""
    found = open_file(path)
    names = [name for name in fields if name in found and found[name].ndim == 2]
    values = {name: (found[name].values.astype(float), str(found[name].attrs.get("units", ""))) for name in names}
    return found["easting"].values / 1e3, found["northing"].values / 1e3, values


def draw_map(figure, own, easting, northing, values, unit, title):
    values, unit = scaled(values, unit)
    half_e, half_n = ((axis[-1] - axis[0]) / max(len(axis) - 1, 1) / 2 for axis in (easting, northing))
    extent = (easting[0] - half_e, easting[-1] + half_e, northing[0] - half_n, northing[-1] + half_n)
    top = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
    limits = {"cmap": "viridis", "vmin": np.nanmin(values), "vmax": np.nanmax(values)} if top else {}
    if top == 0 or is_signed(values):
        limits = {"cmap": "RdBu_r", "vmin": -(top or 1), "vmax": top or 1}
    image = own.imshow(values, origin="lower", extent=extent, interpolation="nearest", aspect="equal", **limits)
    own.grid(False)
    own.spines[:].set_visible(True)
    own.tick_params(labelsize=7.5)
    bar = figure.colorbar(image, ax=own, shrink=0.95, pad=0.03, aspect=20)
    bar.outline.set_linewidth(0.5)
    bar.ax.tick_params(labelsize=7, length=2, width=0.5)
    bar.locator = MaxNLocator(5, steps=ROUND)
    bar.update_ticks()
    own.set_title(f"{title} ({unit})", fontsize=8.5, loc="left", pad=4)
    for axis in (own.xaxis, own.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=ROUND))


def map_pages(study, problems):
    loaded = []
    for row in study.rows("maps"):
        try:
            easting, northing, values = read_map(study.folder / row["file"], in_order(row["fields"]))
        except Exception as error:
            problems.append(f"no maps of {row['file']}: {type(error).__name__}: {error}")
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
    names = study.varying_of([i for i, *_ in loaded])
    everywhere = study.varying_of([row["point"] for row in study.rows("maps")])
    which = study.point_text(study.by_id[loaded[0][0]], [name for name in everywhere if name not in names])
    which = f", {which}" if suffix else ""

    def called(i):
        return study.point_text(study.by_id[i], names)

    def error(entry):
        found = study.by_id[entry[0]].get("largest_error")
        return found if finite(found) else math.inf

    ordered = sorted(loaded, key=error)
    base, others = ordered[0], ordered[:0:-1][:3]
    first, easting, northing, values = base
    words = called(first) + which
    yield nine_maps(study, f"maps{suffix}", f"The fields: {words}", easting, northing, values, words)
    for number, (i, _, _, own) in enumerate(others):
        difference = {f: (own[f][0] - values[f][0], values[f][1]) for f in own if f in values}
        words = f"{called(i)} less {called(first)}{which}"
        name = f"map_differences{suffix}_{number + 1}"
        yield nine_maps(study, name, f"Differences: {words}", easting, northing, difference, words)
    for field in [f for f in ("gz", "gzz") if f in values] or list(values)[:1]:
        if page := zoom_page(study, field, base, others, called, suffix, which):
            yield page


def nine_maps(study, name, title, easting, northing, values, words):
    groups = [("potential",), VECTOR, TENSOR[:3], TENSOR[3:], [f for f in values if f not in NATIVE]]
    rows = [row for row in ([f for f in group if f in values] for group in groups) if row]
    columns = max(map(len, rows))
    ratio = (northing[-1] - northing[0]) / (easting[-1] - easting[0])
    # What a map is wide beside its bar and the labels, in inches.
    width = min((PAGE_WIDTH - 0.5) / columns - 0.55, 4.5)
    figure, axes = new_page(study, words, (width * ratio + 0.3) * len(rows) + 0.85, len(rows), columns)
    for row, fields in zip(axes, rows):
        for own, field in itertools.zip_longest(row, fields):
            if field is None:
                own.set_visible(False)
            else:
                draw_map(figure, own, easting, northing, *values[field], symbol_of(field))
            own.label_outer()
        row[0].set_ylabel("Northing (km)", fontsize=8.5)
    for own in axes[-1]:
        own.set_xlabel("Easting (km)", fontsize=8.5)
    return Page(name, title, figure)


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
    first, easting, northing, values = base
    others = [entry for entry in others if field in entry[3]]
    if not others or len(easting) < 16 or len(northing) < 16:
        return None
    reference, unit = values[field]
    # A square of a sixth of the map, and of twelve nodes at least.
    steps = [abs(axis[-1] - axis[0]) / (len(axis) - 1) for axis in (easting, northing)]
    side = max(abs(easting[-1] - easting[0]) / 6, 11 * max(steps))
    wide, high = (min(len(axis), round(side / step) + 1) for axis, step in zip((easting, northing), steps))
    window = flattest_window(reference, high, wide)
    e, n = easting[window[1]], northing[window[0]]
    shown = [(first, reference[window])] + [(entry[0], entry[3][field][0][window]) for entry in others]
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
    return Page(f"zoom_{field}{suffix}", f"Zoom of {field}", figure, caption)
