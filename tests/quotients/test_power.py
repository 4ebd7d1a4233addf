"""Criteria of power against the matrices their definitions write out."""

import numpy as np
import pytest

from eigenfeat.moments import collect_moments
from eigenfeat.quotients import CRITERIA, Regularisation, comodulation, power_share
from eigenfeat.solvers import solve

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
y = rng.integers(3, size=300)
NONE = Regularisation()


def test_a_share_of_power():
    moments = collect_moments(X, y)
    (quotient,) = power_share(moments, [(0, 2)], ["0 vs 2"], NONE)
    one, other = (X[y == c].T @ X[y == c] / np.sum(y == c) for c in (0, 2))
    np.testing.assert_allclose(quotient.signal.toarray(), one / 2, atol=1e-12)
    np.testing.assert_allclose(quotient.noise.toarray(), (one + other) / 2, atol=1e-12)
    assert quotient.kind in CRITERIA and quotient.label == "0 vs 2"


@pytest.mark.parametrize("regularisation", [NONE, Regularisation(0.3), Regularisation(0.1, 0.5)])
def test_exchanging_the_sides_takes_a_share_from_one(regularisation):
    moments = collect_moments(X, y)
    rest = moments.pool(np.array([1, 2]))
    pair = power_share(moments, [(0, rest), (rest, 0)], ["", ""], regularisation)
    one, other = (found.values for found in solve(pair))
    np.testing.assert_allclose(one, 1 - other[::-1], atol=1e-12)


def test_comodulation_is_a_mean_weighted_by_the_target():
    w = rng.uniform(0.5, 2, size=300)
    z = rng.normal(size=300)
    z -= np.average(z, weights=w)
    z /= np.sqrt(np.average(z**2, weights=w))
    everything = collect_moments(X, None, w)
    sides = collect_moments(X, (z > 0).astype(int), w * np.abs(z))
    quotient = comodulation(everything, sides, Regularisation(0.1))
    np.testing.assert_allclose(quotient.signal.toarray(), np.einsum("n,ni,nj->ij", w * z, X, X) / w.sum(), atol=1e-10)
    mean = np.einsum("n,ni,nj->ij", w, X, X) / w.sum()
    np.testing.assert_allclose(quotient.noise.toarray(), mean + 0.02 * np.trace(mean) * np.eye(5), atol=1e-10)
    assert quotient.kind in CRITERIA
