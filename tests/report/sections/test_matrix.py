"""Cells are buttons with words, shaded by shares."""

import re
from dataclasses import replace

import numpy as np

from eigenfeat.report.sections.matrix import MOST_CLASSES, confusion_matrix, eigenvalue_matrix, most_confused, pair_key


def test_cells_are_buttons_with_words(measured_wine):
    counts = np.array([[8, 2, 0], [0, 9, 1], [0, 0, 10]])
    result = replace(measured_wine.classification, counts=counts)
    text = confusion_matrix(result)
    assert text.count("<button") == 9
    assert 'aria-label="true red &lt;&amp;&gt;, predicted rosé: 2 (20.0 % of the class).' in text
    assert re.findall(r'class="cell wrong[^"]*" style="--s:([\d.]+)"', text)[:2] == ["1.00", "0.00"]
    assert "wrong: 0 to 20.0 %" in text
    assert "No row is wrong" in confusion_matrix(replace(result, counts=np.diag([3, 4, 5])))


def test_both_orders_have_one_panel():
    assert pair_key(3, 1) == pair_key(1, 3) == "1-3"


def test_of_many_classes_the_most_confused_are_shown(measured_wine):
    counts = np.diag(np.full(40, 5))
    counts[30, 31] = 4
    result = replace(measured_wine.classification, classes=np.arange(40), counts=counts)
    chosen = most_confused(result)
    assert len(chosen) == MOST_CLASSES and {30, 31} <= set(chosen)


def test_eigenvalues_of_pairs():
    values = np.array([[np.nan, 100.0], [2.0, np.nan]])
    text = eigenvalue_matrix(np.array(["a", "b"]), values)
    assert "a over b: largest eigenvalue 100" in text and "b over b: not compared" in text
