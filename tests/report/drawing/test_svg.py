"""Scales, ticks and numbers; words are escaped."""

from xml.etree import ElementTree

import pytest

from eigenfeat.report.drawing.svg import Canvas, Scale, clipped, log_ticks, nice_ticks, number


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17), (1e-7, 3e-7), (0, 12345), (5, 5)])
def test_ticks_are_round_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


def test_ticks_of_logarithms():
    assert log_ticks(0.9, 1100) == [1, 10, 100, 1000]
    assert log_ticks(3, 40) == [3, 10, 30]
    assert len(log_ticks(42, 84)) >= 3


def test_scales_map_ends_to_ends():
    linear, log = Scale(2, 6, 10, 50), Scale(1, 100, 0, 10, log=True)
    assert [linear(2), linear(4), linear(6)] == [10, 30, 50]
    assert log(10) == pytest.approx(5)
    assert Scale(3, 3, 0, 10)(3) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.25"), (12345, "12,345"), (3e-6, "3e-6"), (1.5e7, "1.5e7"), (float("nan"), "–"), (-2.0, "-2")],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_words_are_escaped_and_clipped():
    canvas = Canvas(50)
    canvas.words(1, 2, "<b> & more")
    canvas.rect(0, 0, 1, 1, "bar", 'tip "x" <')
    tree = ElementTree.fromstring(canvas.text('a "figure" <of> it'))
    assert tree.attrib["aria-label"] == 'a "figure" <of> it'
    assert tree.find("text").text == "<b> & more"
    assert clipped("abcdef", 4) == "ab…f" and clipped("abcd", 4) == "abcd"
