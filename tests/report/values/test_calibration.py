"""Probabilities that mean what they say have no gap; boasts and doubts are told apart."""

import numpy as np
import pytest

from eigenfeat.report.values.calibration import calibration
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Rows


def said(power, n=20_000):
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, n)
    truth = (rng.random(n) < p).astype(int)
    q = p**power / (p**power + (1 - p) ** power)
    return Predictions(
        Rows(np.zeros((n, 1)), truth), (q > 0.5).astype(int), np.c_[1 - q, q], np.array([0, 1]), False, ""
    )


def test_honest_boastful_and_timid():
    honest, boastful, timid = (calibration(said(power)) for power in (1, 3, 0.3))
    assert honest.gap < 0.015 and abs(honest.too_sure) < 0.01
    assert boastful.too_sure > 0.05 and timid.too_sure < -0.05
    assert boastful.gap == pytest.approx(boastful.too_sure, abs=0.01)


def test_bins_have_equal_numbers_and_intervals():
    found = calibration(said(1, 105))
    assert found.n_rows.sum() == 105 and np.ptp(found.n_rows) <= 1
    assert np.all(np.diff(found.said) >= 0)
    assert all(one.low <= one.value <= one.high for one in found.right)


def test_none_without_probabilities():
    rows = Rows(np.zeros((2, 1)), np.array([0, 1]))
    assert calibration(Predictions(rows, np.array([0, 1]), None, np.array([0, 1]), False, "")) is None
