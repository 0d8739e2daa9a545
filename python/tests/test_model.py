# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The figure of a model: its numbers, sections, and how panels are laid out."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from prismfield.figures import model
from prismfield.figures.drawing import Dataset, Undrawable, Variable


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (-0.001, "−0.001"),
        (999.4, "999"),
        (999.6, "1,000"),
        (1234.0, "1,234"),
        (6.3e-6, "6.3 × 10⁻⁶"),
        (1e-9, "10⁻⁹"),
        (2.5e7, "2.5 × 10⁷"),
    ],
)
def test_numbers(value, text):
    assert model.number(value) == text


def test_long_names_keep_beginning_and_end():
    assert model.shortened("short", 16) == "short"
    assert model.shortened("a" * 20 + "b" * 20, 20) == "a" * 10 + "…" + "b" * 10
    assert model.shortened("costs $5", 20) == r"costs \$5"


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.0, 0.0, 300.0], 0.0), ([-100.0, 300.0], 0.0), ([2600.0, 2670.0, 2670.0, 2700.0], 2670.0), ([np.nan], 0.0)],
)
def test_densities_turn_colours_about_0_or_the_commonest(values, expected):
    assert model.background(np.array(values)) == expected


def dataset_of(density, /, widths=(100.0, 100.0, 50.0), **more):
    """A model of equal cells, from 0 east- and northward and down from 0."""
    variables = {"density": Variable(["upward", "northing", "easting"], density, {})}
    for name, n, width in zip(model.Mesh.NAMES, density.shape[::-1], widths):
        edges = width * (np.arange(n + 1.0) - (n if name == "upward" else 0))
        variables[name + "_bounds"] = Variable([name, "nv"], np.stack([edges[:-1], edges[1:]], axis=1), {})
    return Dataset({**variables, **more})


def one_cell(shape, at):
    density = np.zeros(shape)
    density[at] = 300
    return density


def test_sections_go_through_the_cell_that_differs_most():
    mesh = model.Mesh(dataset_of(one_cell((6, 5, 4), (1, 2, 3))))
    assert mesh.counts == [4, 5, 6]
    assert mesh.cut == [3, 2, 1]
    assert [mesh.between(k) for k in range(3)] == ["300 to 400 m", "200 to 300 m", "−250 to −200 m"]


def test_of_many_equal_cells_the_middle_one_is_cut():
    density = np.zeros((9, 9, 9))
    density[2:7, 2:7, 2:7] = -5
    assert model.Mesh(dataset_of(density)).cut == [4, 4, 4]
    assert model.Mesh(dataset_of(np.full((3, 3, 3), np.nan))).cut == [0, 0, 0]


def test_sections_where_they_are_asked_for(style):
    style["cut"] = {"easting": 100.0, "upward": 0.0}
    mesh = model.Mesh(dataset_of(one_cell((6, 5, 4), (1, 2, 3))))
    assert mesh.cut == [1, 2, 5], "of two cells the upper one, at the end the last"
    style["cut"] = {"northing": 501.0}
    with pytest.raises(Undrawable, match=r"^--northing 501 is outside the model, northing 0 to 500 m$"):
        model.Mesh(dataset_of(one_cell((6, 5, 4), (1, 2, 3))))


def test_kilometres_keep_the_decimals_that_tell_cells_apart():
    mesh = model.Mesh(dataset_of(one_cell((2, 3, 40), (0, 0, 1)), widths=(250.0, 2000.0, 50.0)))
    assert mesh.between(0) == "0.25 to 0.50 km"
    assert mesh.between(1) == "0 to 2 km"


def test_models_of_other_shapes_are_refused():
    density = np.zeros((2, 3, 4))
    other = Variable(["upward", "northing", "easting"], np.zeros((2, 3, 5)), {})
    with pytest.raises(Undrawable, match=r"density is of shape \(2, 3, 5\); .* \(2, 3, 4\)$"):
        model.Mesh(dataset_of(density, density=other))
    bounds = dataset_of(density)["upward_bounds"].values
    for name, values, why in (("falling", -bounds, "do not rise"), ("flat", bounds[:, 0], "a lower and an upper edge")):
        with pytest.raises(Undrawable, match=why):
            model.Mesh(dataset_of(density, upward_bounds=Variable([name], values, {})))


@pytest.mark.parametrize("spans", [(1, 1, 1), (100, 1, 1), (1, 100, 1), (5, 4, 0.01), (1, 1, 50), (300, 200, 20)])
def test_sections_fit_the_page_and_are_seen(spans):
    mesh = model.Mesh(dataset_of(np.zeros((1, 1, 1)), widths=[1000.0 * span for span in spans]))
    plan, west_east, south_north = model.section_sizes(mesh)
    for width, height in (plan, west_east, south_north):
        assert width <= model.PAGE_WIDTH - model.LEFT - model.BAR + 1e-9
        assert height <= 3.8 + 1e-9
    assert west_east[1] == south_north[1] >= 0.3
    assert plan[0] / plan[1] == pytest.approx(spans[0] / spans[1])


def test_edges_half_way_between_nodes():
    assert model.map_edges(np.array([0.0, 10.0, 40.0]), 1.0).tolist() == [-5, 5, 25, 55]
    assert model.map_edges(np.array([3.0]), 4.0).tolist() == [1, 5]


@pytest.mark.parametrize(
    ("limits", "texts"),
    [
        ((0.5, 30.0), ["1", "10"]),
        ((1.5, 8.0), ["2", "5"]),
        ((1e-6, 1e6), ["10⁻⁶", "0.001", "1", "1,000", "10⁶"]),
    ],
)
def test_logarithmic_axes_have_a_few_plain_numbers(limits, texts):
    figure, axes = plt.subplots()
    axes.set_xscale("log")
    axes.set_xlim(limits)
    model.style_logarithmic(axes.xaxis, limits)
    assert axes.xaxis.get_major_formatter().format_ticks(axes.xaxis.get_majorticklocs()) == texts
    assert len(axes.xaxis.get_minorticklocs()) == 0
    plt.close(figure)


def panel(width):
    return model.Panel(width, 1.0, "title", lambda axes, panel: None)


def test_a_line_of_panels_breaks_where_the_page_ends():
    page = model.Page()
    page.heading("Data")
    page.row([panel(3.0) for _ in range(5)])
    assert page.lines[0] == "Data"
    assert [len(line) for line in page.lines[1:]] == [2, 2, 1]
    for line in page.lines[1:]:
        assert sum(p.room() for p in line) <= model.PAGE_WIDTH + 0.1


def test_long_titles_of_narrow_panels_have_two_lines():
    narrow, wide = (model.Panel(width, 1.0, "West–east, northing 200 to 300 m", None) for width in (0.6, 4.0))
    assert narrow.title_lines() == "West–east,\nnorthing 200 to 300 m"
    assert wide.title_lines() == wide.title
    assert narrow.above() > wide.above()


def test_small_maps_share_labels():
    lines = [[panel(1.1) for _ in range(6)], [panel(1.1) for _ in range(3)]]
    model.share_labels(lines)
    assert [p.y_labels for p in lines[0]] == [True] + 5 * [False]
    assert [p.x_labels for p in lines[0]] == 3 * [False] + 3 * [True]
    assert all(p.x_labels for p in lines[1])


def test_scale_of_colours():
    assert model.Scale(np.array([-1.0, 4.0]), middle=0.0).arguments() == {"cmap": "RdBu_r", "vmin": -4.0, "vmax": 4.0}
    assert model.Scale(np.array([1.0, np.nan, 4.0])).arguments() == {"cmap": "viridis", "vmin": 1.0, "vmax": 4.0}
    assert model.Scale(np.array([0.3]), limits=(0.0, 1.0)).shown == (0.0, 1.0)
    same = model.Scale(np.full(3, 2670.0))
    assert same.low < 2670 < same.high
