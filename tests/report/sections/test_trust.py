"""Calibration, importance and learning curve, or why there is none."""

from dataclasses import replace

import numpy as np

from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.sections.trust import inputs, learning, probabilities


def test_calibration(measured_wine, measured_diabetes):
    body = probabilities(measured_wine).body
    assert "eight times of ten" in body and "what it should be" in body
    assert probabilities(measured_diabetes) is None
    assert "without probabilities" in probabilities(replace(measured_wine, calibration=None)).body


def test_importance_has_names_spread_and_numbers(measured_wine):
    known = measured_wine.importance
    body = inputs(measured_wine, PatternStyle()).body
    assert body.index(known.names[known.order[0]]) < body.index(known.names[known.order[-1]])
    assert 'class="whisker"' in body and "wrong rows, points" in body
    picture = inputs(measured_wine, PatternStyle(time_axis=np.arange(13.0))).body
    assert "where they are" in picture


def test_learning_curve(measured_wine, measured_diabetes):
    body = learning(measured_wine).body
    assert "106" in body and "Probably" in body
    assert "unexplained variance" in learning(measured_diabetes).body
    flat = replace(measured_wine.learning, loss=np.full(len(measured_wine.learning.loss), 0.1), complete=False)
    body = learning(replace(measured_wine, learning=flat)).body
    assert "Probably not much" in body and "left out" in body


def test_reasons(measured_wine):
    for name, section in (("importance", lambda found: inputs(found, PatternStyle())), ("learning", learning)):
        assert "no rows &lt;" in section(replace(measured_wine, **{name: "no rows <"})).body
