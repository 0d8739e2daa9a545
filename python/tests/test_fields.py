# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Maps and curves of results: their arrangement, colours, words, and the datasets that are drawn."""

import math

import numpy as np
import pytest

from prismfield.figures import drawing, fields
from prismfield.figures.drawing import Dataset, Undrawable, Variable, profile_along

MAGNETIC = ["bx", "by", "bz", "tmi", "tmi_exact", "amplitude"]
TENSOR = ["gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]


def grid(**more):
    """A grid of 4 by 3 nodes; `more`: variables and attributes."""
    attrs = {name: more.pop(name) for name in list(more) if not isinstance(more[name], Variable)}
    places = {
        "easting": Variable(["easting"], np.arange(4.0), {}),
        "northing": Variable(["northing"], 10 * np.arange(3.0), {}),
        "upward": Variable(["northing", "easting"], np.zeros((3, 4)), {}),
        "gz": Variable(["northing", "easting"], np.arange(12.0).reshape(3, 4), {"units": "mGal"}),
    }
    return Dataset({**places, **more}, attrs)


def stations(easting, northing, upward, **more):
    columns = {"easting": easting, "northing": northing, "upward": upward, "gz": np.ones(len(easting))}
    columns.update({name: more.pop(name) for name in list(more) if isinstance(more[name], np.ndarray)})
    return Dataset({name: Variable(["station"], np.asarray(values), {}) for name, values in columns.items()}, more)


@pytest.mark.parametrize(
    ("names", "ratio", "rows"),
    [
        (["gz"], 1.0, [["gz"]]),
        (["potential", "gz", "gzz"], 1.0, [["potential", "gz", "gzz"]]),
        (
            ["potential", "gx", "gy", "gz", *TENSOR],
            1.0,
            [["potential", "gx", "gy", "gz"], ["gxx", "gyy", "gzz"], ["gxy", "gxz", "gyz"]],
        ),
        (TENSOR, 1.0, [TENSOR[:3], TENSOR[3:]]),
        (["gx", "gy", "gz", *TENSOR, "guv"], 1.0, [["gx", "gy", "gz"], TENSOR[:3], TENSOR[3:], ["guv"]]),
        (MAGNETIC, 1.0, [["bx", "by", "bz"], ["tmi", "tmi_exact", "amplitude"]]),
        (["gx", "gzz", "gxy", "gxz"], 1.0, [["gx", "gzz"], ["gxy", "gxz"]]),
        (["gz", "bouguer_slab", "terrain_correction"], 1.0, [["gz", "bouguer_slab", "terrain_correction"]]),
        (["gx", "gy", "gz"], 0.2, [["gx"], ["gy"], ["gz"]]),
        (TENSOR, 0.2, [TENSOR[:2], TENSOR[2:4], TENSOR[4:]]),
        (TENSOR, 0.1, [[name] for name in TENSOR]),
    ],
)
def test_arrangement_of_panels(names, ratio, rows):
    assert fields.arrange(names, ratio) == rows


def test_fields_are_known_by_name_and_long_name():
    """A sum of native fields needs no line of Python; a station's own variable is none."""
    flat = ["northing", "easting"], np.zeros((3, 4))
    guv = Variable(*flat, {"long_name": "gravity gradient, (northing-northing - easting-easting) / 2"})
    more = {name: Variable(*flat, {}) for name in ("gyy", "bouguer_slab", "gps", "gz_sigma")}
    dataset = grid(guv=guv, **more)
    assert fields.drawn_fields(dataset) == ["gz", "bouguer_slab", "gyy", "guv"]
    assert [drawing.title_of(name) for name in ("potential", "gz", "guv")] == ["Potential $V$", "$g_z$", "$g_{uv}$"]
    long_names = {
        "tmi": "total-field anomaly, along the inducing field",
        "bz": "magnetic flux density, vertical component",
        "amplitude": "magnitude of the anomalous magnetic flux density",
    }
    dataset = grid(
        by=Variable(*flat, {}), **{name: Variable(*flat, {"long_name": long_names[name]}) for name in long_names}
    )
    assert fields.drawn_fields(dataset) == ["gz", "bz", "tmi", "amplitude"], "by of a station is no field"
    titles = ["$B_z$", r"TMI $\Delta T$", r"TMI $\Delta T_\mathrm{exact}$", "$|B|$"]
    assert [drawing.title_of(name) for name in ("bz", "tmi", "tmi_exact", "amplitude")] == titles


class Values:
    def __init__(self, *values):
        self.values = np.array(values)


BOTH, ONE, MINUS, ROUNDED = Values(-1.0, 2.0), Values(1.0, 2.0), Values(-2.0, -1.0), Values(-1e-4, 1.0)


def scheme(*variables):
    return fields.Scheme(dict(enumerate(variables)), range(len(variables)))


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ([BOTH], "RdBu_r"),
        ([ONE], "viridis"),
        ([ONE, MINUS], "viridis"),
        ([ONE, BOTH], "RdBu_r"),
        ([ROUNDED], "viridis"),
    ],
)
def test_a_figure_has_one_colour_map(variables, name):
    assert scheme(*variables).name == name


def test_limits_of_colours(style):
    assert scheme(ONE, BOTH).limits(ONE.values)[0] == (-2.0, 2.0)
    assert scheme(ONE, MINUS).limits(MINUS.values)[0] == (-2.0, -1.0)
    style["colour_map"] = "PuOr"
    assert scheme(ONE).name == "PuOr"
    assert [scheme(ONE, MINUS).limits(v.values)[0] for v in (ONE, MINUS)] == [(-2.0, 2.0), (-2.0, 2.0)]


def test_a_few_outliers_do_not_bleach_a_map():
    values = np.append(np.tile([-1.0, 1.0], 500), 100.0)
    limits, shown, extend = scheme(BOTH).limits(values)
    assert (limits, shown, extend) == ((-1.5, 1.5), (-1.0, 1.5), "max")
    limits, _, extend = scheme(BOTH).limits(-values)
    assert (limits, extend) == ((-1.5, 1.5), "min")


def test_limits_of_constant_and_missing_values():
    for values in (np.zeros(3), np.full(3, np.nan)):
        assert scheme(ONE).limits(values) == ((-1.0, 1.0), (-1.0, 1.0), "neither")
    (low, high), _, _ = scheme(ONE).limits(np.full(3, 5.0))
    assert low < 5 < high


def test_statistics():
    assert fields.statistics(np.array([-3.0, np.nan, 4.0])) == "min −3, max 4, RMS 3.54"
    assert fields.statistics(np.array([np.nan])) == "no values"


def test_edges_of_cells_around_nodes():
    assert fields.edges_of(np.array([0.0, 10.0, 20.0]), 1.0) == (-5.0, 25.0)
    assert fields.edges_of(np.array([7.0]), 4.0) == (5.0, 9.0)


def test_heights():
    text, levels = fields.height_text(np.full(3, -1234.5))
    assert (text, levels.size) == ("height −1,234.5 m", 0)
    text, levels = fields.height_text(np.array([-50.0, 1950.0]))
    assert text == "heights −50 to 1,950 m"
    assert 4 <= levels.size <= 10
    assert levels.min() > -50 and levels.max() < 1950


def test_which_way_is_positive():
    assert fields.axes_text(grid(axes="z_down"), ["gz"]) == ["gz positive down"]
    assert fields.axes_text(grid(axes="z_up"), ["gxx"]) == ["z positive up"]
    assert fields.axes_text(grid(axes="z_up"), ["gz", "bz", "tmi"]) == ["gz and bz positive up"]
    assert fields.axes_text(grid(), ["gz"]) == []


def test_where_a_line_is():
    along = np.array([0.0, 1000.0, 2000.0])
    assert fields.line_text(along, np.full(3, -5.0), "easting") == "northing −5 m"
    assert fields.line_text(along, np.array([0.0, 1.0, 2.0]), "easting") == "northing 0 to 2 m"
    assert fields.line_text(np.full(3, 7.5), along, "northing") == "easting 7.5 m"
    assert fields.line_text(np.full(3, 7.0), np.full(3, 8.0), "upward") == "easting 7 m, northing 8 m"
    assert fields.line_text(along[::-1], along, "distance") == "from (0; 2,000) to (2,000; 0) m"


def test_components_that_are_nothing_beside_others_are_0():
    tiny = Variable(["northing", "easting"], np.full((3, 4), 1e-13), {})
    changed = fields.without_rounding(grid(gx=tiny, gyz=tiny))
    assert not changed["gx"].values.any(), "beside gz of 11"
    assert changed["gyz"].values.all(), "alone of its kind"
    assert changed["gz"].values.max() == 11


def test_survey_lines_in_the_order_of_the_file():
    names = np.array(["L2"] * 4 + [" "] + ["L1"] * 4, dtype=object)
    lines = fields.survey_lines(stations(*np.zeros((3, 9)), Line=names))
    assert [(name, those.tolist()) for name, those in lines] == [("L2", [0, 1, 2, 3]), ("L1", [5, 6, 7, 8])]
    numbers = np.array([10.0] * 4 + [np.nan] + [20.0] * 4)
    assert [name for name, _ in fields.survey_lines(stations(*np.zeros((3, 9)), segment=numbers))] == ["10", "20"]


def test_one_name_and_a_name_a_station_are_no_survey_lines():
    for names in (["L"] * 9, [str(k) for k in range(9)]):
        assert fields.survey_lines(stations(*np.zeros((3, 9)), line=np.array(names, dtype=object))) == []
    assert fields.survey_lines(stations(*np.zeros((3, 9)))) == []


def test_fields_to_draw(style):
    dataset = grid(gzz=Variable(["northing", "easting"], np.zeros((3, 4)), {}))
    assert fields.drawn_fields(dataset) == ["gz", "gzz"]
    style["fields"] = ["gzz"]
    assert fields.drawn_fields(dataset) == ["gzz"]
    style["fields"] = ["gx", "gz"]
    with pytest.raises(ValueError, match="holds no gx; it holds gz, gzz"):
        fields.drawn_fields(dataset)
    with pytest.raises(ValueError, match="no field"):
        fields.drawn_fields(Dataset())


def test_grids_are_put_in_order():
    usual = grid()
    falling = Dataset(
        {
            "easting": usual["easting"],
            "northing": Variable(["northing"], usual["northing"].values[::-1], {}),
            "upward": usual["upward"],
            "gz": Variable(["easting", "northing"], usual["gz"].values[::-1].T, {}),
        }
    )
    ordered = fields.in_order(falling, "r.nc")
    np.testing.assert_array_equal(ordered["gz"].values, usual["gz"].values)
    np.testing.assert_array_equal(ordered["northing"].values, usual["northing"].values)


def test_lists_of_points_are_refused_with_the_command_that_helps():
    points = {name: Variable(["point"], np.zeros(3), {}) for name in ("easting", "northing", "upward", "gz")}
    with pytest.raises(Undrawable, match=r"'prismfield convert a\.nc other\.nc' makes a file"):
        fields.in_order(Dataset(points), "a.nc")
    del points["easting"]
    with pytest.raises(Undrawable, match="holds no easting"):
        fields.in_order(Dataset(points), "a.nc")


SPHERE = {"model_bounds": [-200, 200, -200, 200, -300, 0], "model_spheres": [0, 0, 100], "model_spheres_upward": [-150]}

SMALL_SPHERE = {**SPHERE, "model_spheres": [50, 0, 20]}


def test_outlines_in_maps(style):
    sphere = grid(**SPHERE)
    outline = fields.Outline(sphere, -500, 500, -500, 500)
    assert outline.circles.tolist() == [[0, 0, 100]]
    assert outline.text == ["dashed: bodies of the model"]
    assert fields.Outline(sphere, 500, 600, -500, 500).text == [], "outside"
    box = grid(model_bounds=SPHERE["model_bounds"])
    assert fields.Outline(box, -500, 500, -500, 500).boxes.tolist() == [[-200, 200, -200, 200]]
    assert fields.Outline(box, -100, 100, -100, 100).text == [], "all around"
    style["model_outline"] = False
    assert fields.Outline(box, -500, 500, -500, 500).text == []


def test_bodies_down_a_borehole_and_along_a_line():
    depth = np.linspace(-500, 0, 51)
    hole = stations(np.full(51, 60.0), np.zeros(51), depth, **SPHERE)
    (span,), text = fields.spans_along(hole, "upward", depth)
    # 60 m from the axis of a sphere of 100 m
    assert span == pytest.approx((-150 - 80, -150 + 80), abs=1e-9)
    assert text == ["grey: bodies of the model"]
    along = np.linspace(-1000, 1000, 41)
    # 80 m beside the centre; its depth does not matter
    line = stations(along, np.full(41, 80.0), np.full(41, 5.0), **SPHERE)
    (span,), _ = fields.spans_along(line, "easting", along)
    assert span == pytest.approx((-60, 60), abs=1e-9)
    assert fields.spans_along(stations(along, np.full(41, 101.0), along, **SPHERE), "easting", along) == ([], [])


@pytest.mark.parametrize("northward", [-2.0, 0.5, 2.0])
def test_bodies_along_an_oblique_line_lie_where_its_positions_do(northward):
    easting = np.linspace(0, 300, 31)
    northing = northward * (easting - 50)
    positions, along = profile_along(easting, northing, 0 * easting)
    (span,), _ = fields.spans_along(stations(easting, northing, 0 * easting, **SMALL_SPHERE), along, positions)
    nearest = positions[np.argmin(np.hypot(easting - 50, northing))]
    assert span == pytest.approx((nearest - 20, nearest + 20), abs=1e-6)


@pytest.mark.parametrize(("n", "n_lines"), [(1, 0), (100, 0), (100000, 0), (100, 5), (100, 500)])
def test_dots_are_seen_and_hide_no_neighbours(n, n_lines):
    sheet = fields.Sheet([["gz"]], 1.0, colour_bars=True)
    size = fields.dot_size(sheet, n, n_lines)
    assert 1.3**2 <= size <= 26
    if n == 100000:
        assert size == 3
    if n_lines == 500:
        assert math.sqrt(size) == pytest.approx(1.3)


@pytest.mark.parametrize("ratio", [0.05, 0.25, 0.7, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("names", [["gz"], TENSOR[:2], TENSOR, ["potential", "gx", "gy", "gz", *TENSOR]])
def test_panels_lie_on_the_page_and_not_on_each_other(names, ratio):
    sheet = fields.Sheet(fields.arrange(names, ratio), ratio, colour_bars=True)
    sheet.begin(grid(title="A title of some length " * 9), ["4 × 3 points", "height 0 m"])
    boxes = {name: axes.get_position() for name, axes in sheet.panels.items()}
    assert set(boxes) == set(names)
    for name, box in boxes.items():
        assert 0 < box.x0 < box.x1 < 1 and 0 < box.y0 < box.y1 < 1, name
        assert not any(box.overlaps(other) for key, other in boxes.items() if key != name)
    assert max(sheet.page_width, 1) <= max(fields.PAGE_WIDTHS.values()) + 1.5
    fields.plt.close(sheet.figure)
