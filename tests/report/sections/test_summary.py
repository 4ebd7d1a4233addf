"""The answer first, warnings in plain words."""

from dataclasses import replace

import numpy as np
import pytest

from eigenfeat.report.sections.summary import summary, warnings_of
from eigenfeat.report.values.intervals import Estimate


def test_the_figures_stand_beside_the_baseline(measured_wine):
    body, result = summary(measured_wine).body, measured_wine.classification
    assert f"{result.n_rows - result.n_wrong} were given their true class" in body
    assert f"{100 * result.baseline_error:.1f} %" in body
    assert "Balanced accuracy" in body and "Log loss" in body and "95 % interval" in body


def test_a_regression_has_its_own_figures(measured_diabetes):
    body = summary(measured_diabetes).body
    assert "mean absolute error" in body and "R²" in body and "median" in body


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"predictions": {"seen": True}}, "how well it remembers"),
        ({"classification": {"error": Estimate(0.5, 0.4, 0.9)}}, "not clearly better than always saying"),
        ({"classification": {"counts": np.array([[5, 0, 0], [5, 0, 0], [0, 0, 5]])}}, "Never predicted"),
        ({"importance": {"rise": np.eye(13)[3], "spread": np.zeros(13)}}, "Nearly everything rests on the column"),
    ],
    ids=["seen", "baseline", "never", "dominant"],
)
def test_warnings(measured_wine, change, words):
    ((name, values),) = change.items()
    changed = replace(measured_wine, **{name: replace(getattr(measured_wine, name), **values)})
    assert any(words in note for note in warnings_of(changed))
    assert words not in summary(measured_wine).body


def test_few_rows_are_said(measured_wine):
    assert any("Only 72 rows" in note for note in warnings_of(measured_wine))
