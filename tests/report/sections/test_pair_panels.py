"""A panel a pair and a class, one of them open, the figures with words."""

import re
from dataclasses import replace

import numpy as np

from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.sections import pair_panels
from eigenfeat.report.sections.pair_panels import panels


def test_every_cell_has_its_panel(measured_wine):
    names = measured_wine.classification.classes
    text = panels(measured_wine, [0, 1, 2], names, PatternStyle())
    assert sorted(re.findall(r'id="pair-(\d-\d)"', text)) == ["0-0", "0-1", "0-2", "1-1", "1-2", "2-2"]
    assert text.count(" hidden>") == 5
    assert "rows of rosé were taken for white" in text
    assert "λ = " in text and "s spectrum. λ is" in text
    assert text.count("<svg") == text.count('role="img"') == text.count("aria-label")


def test_the_most_confused_pair_is_open(measured_wine):
    counts = np.array([[8, 0, 0], [0, 9, 6], [0, 0, 10]])
    found = replace(measured_wine, classification=replace(measured_wine.classification, counts=counts))
    text = panels(found, [0, 1, 2], found.classification.classes, PatternStyle())
    assert re.search(r'data-pair="1-2"><h3', text)


def test_a_model_without_directions_shows_how_columns_differ(measured_wine):
    found = replace(measured_wine, components="It has no directions.")
    text = panels(found, [0, 1], found.classification.classes, PatternStyle())
    assert "It has no directions." in text and "Columns in which the two differ most" in text


def test_panels_stay_within_their_share_of_the_page(measured_wine, monkeypatch):
    monkeypatch.setattr(pair_panels, "MOST_CHARACTERS", 10)
    text = panels(measured_wine, [0, 1, 2], measured_wine.classification.classes, PatternStyle())
    assert text.count("Left out to keep this page small") == 2
