"""Intervals agree with scipy's, and cover what they should."""

import numpy as np
import pytest
from scipy.stats import binomtest

from eigenfeat.report.values.intervals import mean_of_shares, resampled, share


@pytest.mark.parametrize(("count", "total"), [(0, 20), (3, 20), (20, 20), (500, 1000)])
def test_shares_have_wilson_intervals(count, total):
    expected = binomtest(count, total).proportion_ci(method="wilson")
    found = share(count, total)
    assert (found.value, found.low, found.high) == pytest.approx(
        (count / total, expected.low, expected.high), abs=1e-12
    )


def test_a_mean_of_shares():
    assert mean_of_shares(np.array([3]), np.array([20])) == share(3, 20)
    perfect = mean_of_shares(np.array([5, 5]), np.array([5, 5]))
    assert perfect.high == 1 and 0.5 < perfect.low < 1


def test_mean_of_shares_covers_the_truth():
    rng, truth = np.random.default_rng(0), np.array([0.9, 0.6, 0.99])
    totals = np.array([20, 30, 25])
    found = [mean_of_shares(rng.binomial(totals, truth), totals) for _ in range(500)]
    assert np.mean([one.low <= truth.mean() <= one.high for one in found]) > 0.92


def test_the_bootstrap_is_about_the_normal_interval_of_a_mean():
    x = np.random.default_rng(0).normal(size=400)
    found = resampled(lambda rows: float(x[rows].mean()), len(x))
    assert found.value == pytest.approx(x.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * x.std() / 20, rel=0.15)
