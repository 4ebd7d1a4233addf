"""Charts are whole SVG whose marks are as long as their numbers."""

from xml.etree import ElementTree

import numpy as np
import pytest

from eigenfeat.report.drawing.charts import MOST_POINTS, Series, bars, boxes, curve, lines, points
from eigenfeat.report.values.components import Box


def marks(svg, kind, tag="rect"):
    return [e for e in ElementTree.fromstring(svg).iter(tag) if kind in e.attrib.get("class", "").split()]


def test_bars_are_as_long_as_their_values():
    svg = bars(["a", "b", "c"], [4.0, 2.0, -1.0], "words", spread=[0.5, 0.0, 0.0])
    widths = [float(bar.attrib["width"]) for bar in marks(svg, "bar")]
    assert widths == pytest.approx([4 * widths[2], 2 * widths[2], widths[2]], rel=0.02)
    assert len(marks(svg, "down")) == 1
    assert len(marks(svg, "whisker", "path")) == 1
    assert ElementTree.fromstring(svg).attrib["aria-label"] == "words"


def test_boxes_span_the_middle_half():
    svg = boxes([Box("p", (0, 1, 2, 3, 4), 10), Box("q", (0, 2, 3, 4, 4), 10)], "words", ["q"])
    p, q = marks(svg, "box")
    assert float(p.attrib["width"]) == pytest.approx(float(q.attrib["width"]), abs=0.2)
    assert float(p.attrib["x"]) < float(q.attrib["x"])
    assert "b1" in q.attrib["class"] and "b1" not in p.attrib["class"]
    assert "median 2" in p.find("title").text


def test_lines_have_a_dot_a_value_and_a_band():
    x = np.array([1.0, 10.0, 100.0])
    one = Series("error", x, np.array([0.3, 0.2, 0.1]), np.array([0.2, 0.1, 0.1]), np.array([0.4, 0.3, 0.1]))
    svg = lines(
        [one, Series("other", x, np.array([0.1, 0.1, 0.1]))], "w", "rows", "wrong", log_x=True, percent=True, level=0.2
    )
    dots = [float(dot.attrib["cx"]) for dot in marks(svg, "l1", "circle")]
    assert np.diff(dots) == pytest.approx([dots[1] - dots[0]] * 2, abs=0.2)
    assert len(marks(svg, "l2", "circle")) == 3
    assert len(marks(svg, "band", "path")) == 1 and len(marks(svg, "level", "path")) == 1


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [5.0, 5.0]])
def test_lines_of_nothing_much_are_drawn(values):
    svg = lines([Series("s", np.arange(len(values), dtype=float), np.array(values))], "w", "x", "y", whole_x=True)
    ElementTree.fromstring(svg)
    assert "nan" not in svg


def test_clouds_are_bounded():
    rng = np.random.default_rng(0)
    svg = points(rng.normal(size=5000), rng.normal(size=5000), "w", "x", "y", diagonal=True)
    (cloud,) = marks(svg, "cloud", "path")
    assert cloud.attrib["d"].count("h0") == MOST_POINTS
    assert len(marks(svg, "strong", "path")) == 1
    assert "nan" not in points(np.ones(3), np.zeros(3), "w", "x", "y")


def test_curves_follow_their_axis_in_order():
    svg = curve(np.array([0.0, 1.0, -1.0]), np.array([2.0, 0.0, 1.0]), "w")
    (line,) = marks(svg, "line", "path")
    places = [float(point.split()[0]) for point in line.attrib["d"].lstrip("M").split("L")]
    assert places == sorted(places)
