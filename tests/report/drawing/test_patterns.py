"""Patterns are drawn as what the user says their columns are."""

import numpy as np
import pytest

from eigenfeat.report.drawing.patterns import N_BARS, PatternStyle, largest

PATTERN, NAMES = np.linspace(-1, 0.9, 12), [f"c{j}" for j in range(12)]


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ({}, '<rect class="bar'),
        ({"image_shape": (3, 4)}, '<img class="pixels"'),
        ({"time_axis": np.arange(12)}, 'class="line l1"'),
        ({"positions": np.random.default_rng(0).normal(size=(12, 2))}, 'class="head"'),
    ],
    ids=["bars", "image", "curve", "map"],
)
def test_each_kind(said, mark):
    text = PatternStyle.of(12, **said).draw(PATTERN, NAMES, "component 1")
    assert mark in text
    assert "component 1" in text and "c0 lower (-1)" in text


def test_bars_are_the_largest():
    text = PatternStyle.of(12).draw(PATTERN, NAMES, "it")
    assert text.count('class="bar') == N_BARS
    assert largest(PATTERN, NAMES, 2) == "c0 lower (-1), c11 higher (0.9)"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"image_shape": (3, 5)}, "15 pixels, not 12"),
        ({"time_axis": np.arange(5)}, "one number a column"),
        ({"positions": np.zeros((12, 3))}, "x and y of each"),
    ],
)
def test_what_does_not_fit_is_refused(said, words):
    with pytest.raises(ValueError, match=words):
        PatternStyle.of(12, **said)
