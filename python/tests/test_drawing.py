# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Numbers, ticks, levels, lines and areas of stations, and how figures are saved."""

import json
import os

import matplotlib.pyplot as plt
import numpy as np
import pytest

from prismfield.figures import drawing, fields


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.9761, "0.976"), (-0.642, "−0.642"), (99.96, "100"), (12345, "12,345"), (-1e-5, "−1e−05")],
)
def test_short_numbers_have_three_digits(value, text):
    assert drawing.short(value) == text


@pytest.mark.parametrize(("exponent", "text"), [(-6, "10⁻⁶"), (12, "10¹²"), (-30, "10⁻³⁰")])
def test_power_of_ten(exponent, text):
    assert drawing.power_of_ten(exponent) == text


@pytest.mark.parametrize(
    ("largest", "factor", "unit"),
    [
        (0.01, 1, "mGal"),
        (9999.0, 1, "mGal"),
        (0.009, 1e3, "10⁻³ mGal"),
        (1e4, 1e-3, "10³ mGal"),
        (2.5e-5, 1e6, "10⁻⁶ mGal"),
    ],
)
def test_scaled_values_are_short(largest, factor, unit):
    values, scaled_unit = drawing.scaled(np.array([-largest, np.nan, largest / 2]), "mGal")
    assert scaled_unit == unit
    np.testing.assert_allclose(values, np.array([-largest, np.nan, largest / 2]) * factor, rtol=1e-14)


def test_scaled_without_values_keeps_the_unit():
    for values in (np.array([np.nan]), np.zeros(3), np.array([])):
        assert drawing.scaled(values, "Eotvos")[1] == "Eötvös"


@pytest.mark.parametrize(("names", "lines"), [(["tmi"], 1), (["bxx", "tmi_z"], 1), (["bx", "bxx"], 0)])
def test_inducing_field_where_fields_depend_on_its_direction(names, lines):
    said = {"inducing_field_intensity": 5e4, "inducing_field_inclination": 60.0, "inducing_field_declination": 10.0}
    told = fields.field_text(drawing.Dataset({}, said), names)
    assert told == ["inducing field 50,000 nT, inclination 60°, declination 10°"] * lines


def test_kilometres_from_two_on():
    assert drawing.length_unit(1999.0, 5.0) == (1.0, "m")
    assert drawing.length_unit(5.0, 2000.0) == (1e-3, "km")


def test_both_signs_other_than_by_rounding():
    assert drawing.is_signed(np.array([-1.0, np.nan, 2.0]))
    assert not drawing.is_signed(np.array([-1e-4, 1.0]))
    assert not drawing.is_signed(np.array([0.0, 1.0]))
    assert not drawing.is_signed(np.array([np.nan]))


def test_colour_maps(style):
    assert (drawing.colour_map(True), drawing.colour_map(False)) == ("RdBu_r", "viridis")
    style["colour_map"] = "PuOr_r"
    assert (drawing.colour_map(True), drawing.colour_map(False)) == ("PuOr_r", "viridis")
    style["colour_map"] = "cividis"
    assert (drawing.colour_map(True), drawing.colour_map(False)) == ("RdBu_r", "cividis")


def test_unknown_colour_maps_are_refused_with_near_names(style):
    style["colour_map"] = "virids"
    with pytest.raises(ValueError, match=r"^'virids' is no colour map of matplotlib; did you mean viridis"):
        drawing.check_colour_map()
    style["colour_map"] = "qqqqqq"
    with pytest.raises(ValueError, match="viridis, cividis and RdBu_r are three of them"):
        drawing.check_colour_map()
    style["colour_map"] = "viridis"
    drawing.check_colour_map()


def test_contour_levels(style):
    levels = drawing.contour_levels(0, 1, 4)
    assert 2 <= levels.size <= 5
    assert (levels > 0).all() and (levels < 1).all()
    assert drawing.contour_levels(1, 1, 4).size == 0
    for asked, expected in ((False, []), (0, []), ([0.5, -3, 0.2, 9], [200, 500])):
        style["contours"] = asked
        assert drawing.contour_levels(0, 1000, 4, exponent=-3).tolist() == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (12500, "12,500"), (-12500, "−12,500"), (1234567, "1,234,567"), (0.25, "0.25"), (999, "999")],
)
def test_ticks_are_plain_with_commas_between_thousands(axes, value, text):
    formatter = drawing.PlainFormatter()
    formatter.set_axis(axes.xaxis)
    formatter.set_locs([0, value])
    assert formatter(value) == text


def ticks_of(axis):
    return axis.get_major_formatter().format_ticks(axis.get_majorticklocs())


def test_long_coordinates_are_counted_from_kilometres_in_the_label(axes):
    axes.set_xlim(500000, 501000)
    axes.set_ylim(6.9e6, 6.901e6)
    drawing.style_coordinate(axes.xaxis, "Easting", "m", 5, 3.0, fontsize=8)
    drawing.style_coordinate(axes.yaxis, "Northing", "m", 5, 1.0, fontsize=8)
    assert axes.get_xlabel() == "Easting − 500 km (m)"
    assert axes.get_ylabel() == "N − 6,900 km (m)"
    assert "1,000" in ticks_of(axes.xaxis)


def test_short_coordinates_stay(axes):
    axes.set_xlim(-400, 600)
    drawing.style_coordinate(axes.xaxis, "Easting", "m", 5, 3.0)
    assert axes.get_xlabel() == "Easting (m)"
    assert "−200" in ticks_of(axes.xaxis)


def test_negative_long_coordinates_are_counted_from_below(axes):
    axes.set_xlim(-6.901e6, -6.9e6)
    drawing.style_coordinate(axes.xaxis, "Easting", "m", 5, 3.0)
    assert axes.get_xlabel() == "Easting + 6,910 km (m)"
    assert not any(tick.startswith("−") for tick in ticks_of(axes.xaxis))


def test_count_text():
    assert drawing.count_text(1) == "1 station"
    assert drawing.count_text(12000) == "12,000 stations"


ALONG = np.linspace(0, 1000, 11)


@pytest.mark.parametrize(
    ("easting", "northing", "upward", "name"),
    [
        (ALONG, 0 * ALONG, 0 * ALONG + 5, "easting"),
        (0 * ALONG + 7, ALONG, 0 * ALONG, "northing"),
        (ALONG, 0.005 * ALONG, 0 * ALONG, "easting"),
        (0 * ALONG, 0 * ALONG, -ALONG, "upward"),
    ],
)
def test_lines_along_an_axis_keep_it(easting, northing, upward, name):
    positions, along = drawing.profile_along(easting, northing, upward)
    assert along == name
    np.testing.assert_array_equal(positions, {"easting": easting, "northing": northing, "upward": upward}[name])


@pytest.mark.parametrize("northward", [-4, -1, 1, 4])
def test_oblique_lines_are_measured_from_their_western_end(northward):
    easting, northing = 1e6 - 3 * ALONG, northward * ALONG
    positions, along = drawing.profile_along(easting, northing, 0 * ALONG)
    assert along == "distance"
    # far above the rounding of coordinates of 1e6 m
    np.testing.assert_allclose(positions, np.hypot(3, northward) * ALONG[::-1], atol=1e-6)


def test_areas_places_and_lines_back_and_forth_are_no_profile():
    x, y = (values.ravel() for values in np.meshgrid(ALONG, ALONG))
    assert drawing.profile_along(x, y, 0 * x) is None
    assert drawing.profile_along(*np.ones((3, 4))) is None
    assert drawing.profile_along(*np.ones((3, 1))) is None
    again = np.tile(ALONG, 4)
    assert drawing.profile_along(again, 0 * again, 0 * again) is None


def test_triangles_cover_an_area_and_no_line():
    x, y = (values.ravel() + 3 * np.sin(np.arange(121)) for values in np.meshgrid(100 * np.arange(11.0), ALONG))
    triangles = drawing.triangles_of(x, y)
    assert triangles is not None
    assert drawing.triangles_of(x[:39], y[:39]) is None, "too few"
    assert drawing.triangles_of(np.arange(99.0), 2 * np.arange(99.0)) is None, "a line"
    roads = np.concatenate([np.arange(200.0) * 5, np.zeros(200)]), np.concatenate([np.zeros(200), np.arange(200.0) * 5])
    assert drawing.triangles_of(*roads) is None, "two roads"


def test_sides_around_a_survey_are_left_out_and_gaps_within_it_stay():
    x, y = (values.ravel() for values in np.meshgrid(np.arange(21.0), np.arange(21.0)))
    is_within = np.maximum(abs(x - 10), abs(y - 10)) > 2
    one_far = np.append(x[is_within], 28.0), np.append(y[is_within], 10.0)
    triangles = drawing.triangles_of(*one_far)
    shown = triangles.get_masked_triangles()
    assert len(x[is_within]) not in shown, "the far one is in no triangle that is drawn"
    middle = one_far[0][shown].mean(axis=1), one_far[1][shown].mean(axis=1)
    assert (np.hypot(middle[0] - 10, middle[1] - 10) < 2).any(), "the gap is drawn"


class Failing:
    """A page that cannot be drawn."""

    def savefig(self, stream, **_):
        stream.write(b"half")
        raise OSError("no room")


def test_an_old_figure_stays_if_drawing_fails(tmp_path):
    figure = tmp_path / "f.svg"
    figure.write_bytes(b"old")
    drawing.STYLE["dpi"] = 100
    with pytest.raises(OSError, match="no room"):
        drawing.save(Failing(), figure)
    assert figure.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["f.svg"]


def test_a_new_figure_has_the_permissions_of_the_old(axes, tmp_path):
    figure = tmp_path / "f.png"
    figure.write_bytes(b"old")
    os.chmod(figure, 0o640)
    drawing.STYLE["dpi"] = 50
    drawing.save(axes.figure, figure)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert figure.stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 1


def test_draw_into_takes_the_style_and_says_why_a_file_is_not_drawn(axes, tmp_path, style, capsys):
    def refuse(_):
        raise drawing.Undrawable("holds\nnothing")

    figure = str(tmp_path / "f.png")
    with pytest.raises(SystemExit) as ended:
        drawing.draw_into(["r.nc", figure], refuse)
    assert ended.value.code == "r.nc: holds nothing"
    assert style["dpi"] == 300
    drawing.draw_into(["r.nc", figure, json.dumps({"dpi": 40})], lambda _: axes.figure, dpi=180)
    width, height = axes.figure.get_size_inches() * 40
    assert plt.imread(figure).shape[:2] == (height, width)
    drawing.draw_into(["", "", json.dumps({"colour_map": "cividis"})], refuse)
