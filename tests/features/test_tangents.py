"""Tangents as noise: directions that do not see a transformation."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import RBFSampler

from eigenfeat import GEMClassifier, GEMFeatures
from eigenfeat.features.tangents import tangent_moment, transformed, weighted_transformations
from eigenfeat.kernel.invariances import Translation
from eigenfeat.rows import ArrayRows

SHIFT = Translation((8, 8), right=1.0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return X / 16, y


def tangents(X):
    change = X - SHIFT(X)
    return change.T @ change / len(X)


def test_the_moment_is_that_of_the_changes(digits):
    X, y = digits
    weights = np.linspace(0.5, 2, len(X))
    change = X - SHIFT(X)
    expected = 3 * (change * weights[:, None]).T @ change / weights.sum()
    found = tangent_moment(ArrayRows(X, y, weights), [(3.0, SHIFT)])
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    with_constant = tangent_moment(ArrayRows(X, y), [(1.0, SHIFT)], constant=True).toarray()
    assert with_constant.shape == (65, 65)
    assert not with_constant[-1].any()
    assert tangent_moment(None, []) is None
    assert weighted_transformations([SHIFT, (2.0, SHIFT)]) == [(1.0, SHIFT), (2.0, SHIFT)]
    with pytest.raises(ValueError, match="same shape"):
        transformed(X, lambda rows: rows[:, :3])


@pytest.mark.parametrize("weight", [0.5, 20.0])
def test_directions_solve_the_problem_with_tangents_below(digits, weight):
    X, y = digits
    model = GEMFeatures(3, ridge=0.2, invariances=[(weight, SHIFT)]).fit(X, y)
    second = [X[y == c].T @ X[y == c] / np.sum(y == c) for c in range(3)]
    for start in range(0, 18, 3):
        above, below = model.pairs_[start]
        noise = second[below] + 0.2 * np.trace(second[below]) / 64 * np.eye(64) + weight * tangents(X)
        exact = eigh(second[above], noise, eigvals_only=True)[::-1][:3]
        np.testing.assert_allclose(model.eigenvalues_[start : start + 3], exact, rtol=1e-8)


def test_directions_see_less_of_a_transformation_the_more_it_weighs(digits):
    X, y = digits
    sensitivity = []
    for weight in (0.0, 0.1, 1.0, 10.0, 1e4):
        V = GEMFeatures(2, invariances=[(weight, SHIFT)]).fit(X, y).components_
        change, size = (X - SHIFT(X)) @ V.T, X @ V.T
        sensitivity.append(float(np.mean((change**2).sum(axis=0) / (size**2).sum(axis=0))))
    assert sensitivity == sorted(sensitivity, reverse=True)
    assert sensitivity[-1] < 1e-3 * sensitivity[0]


def test_classifiers_take_them_but_not_behind_a_base_map(digits):
    X, y = digits
    model = GEMClassifier(1, invariances=[SHIFT], constant=True, n_layers=2).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.95
    with pytest.raises(ValueError, match="base_map stands between"):
        GEMClassifier(1, invariances=[SHIFT], base_map=RBFSampler(n_components=20)).fit(X, y)
    with pytest.raises(ValueError, match="found from rows"):
        GEMFeatures(1, invariances=[SHIFT]).fit_moments(model.moments_)
