"""Ridge and shrinkage against scikit-learn's covariance estimators, and their laws."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf, oas

from eigenfeat.moments import DenseMoments, DualMoments
from eigenfeat.quotients import Regularisation


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12)) @ rng.normal(size=(12, 12)) + rng.normal(size=12)
    return X, rng.integers(3, size=60)


@pytest.mark.parametrize("empty", [lambda: DenseMoments(track_fourth=True), DualMoments], ids=["dense", "rows"])
@pytest.mark.parametrize(("shrinkage", "estimate"), [("auto", ledoit_wolf), ("oas", oas)])
def test_shrinkage_is_that_of_the_rows_the_noise_is_made_of(rows, empty, shrinkage, estimate):
    X, y = rows
    moments = empty().update(X, y)
    rule = Regularisation(shrinkage=shrinkage)
    chosen = X[y == 1]
    np.testing.assert_allclose(rule.noise(moments, 1, "covariance").toarray(), estimate(chosen)[0], rtol=1e-8)
    np.testing.assert_allclose(
        rule.noise(moments, 1, "second_moment").toarray(), estimate(chosen, assume_centered=True)[0], rtol=1e-8
    )
    centred = X - moments.means[y]
    np.testing.assert_allclose(
        rule.noise(moments, None, "within").toarray(), estimate(centred, assume_centered=True)[0], rtol=1e-8
    )


def test_a_given_factor_draws_towards_a_multiple_of_the_identity(rows):
    X, y = rows
    moments = DenseMoments().update(X, y)
    plain = moments.within().matrix
    shrunk = Regularisation(shrinkage=0.3).noise(moments, None, "within").toarray()
    np.testing.assert_allclose(shrunk, 0.7 * plain + 0.3 * np.trace(plain) / 12 * np.eye(12))
    assert np.trace(shrunk) == pytest.approx(np.trace(plain))


def test_ridge_is_relative_to_the_mean_diagonal(rows):
    X, y = rows
    for scale in (1e-3, 1.0, 1e3):
        moments = DenseMoments().update(X * scale, y)
        plain = moments.second_moment(2).matrix
        ridged = Regularisation(ridge=0.5).noise(moments, 2).toarray()
        np.testing.assert_allclose(ridged - plain, 0.5 * np.trace(plain) / 12 * np.eye(12), atol=1e-9 * scale**2)


def test_a_diagonal_ridge_moves_with_the_units_of_each_column(rows):
    X, y = rows
    units = np.logspace(-3, 3, 12)
    rule = Regularisation(ridge=0.2, shape="diagonal")
    plain, rescaled = DenseMoments().update(X, y), DenseMoments().update(X * units, y)
    expected = rule.noise(plain, 0).toarray() * np.outer(units, units)
    np.testing.assert_allclose(rule.noise(rescaled, 0).toarray(), expected, rtol=1e-9)


def test_a_column_of_zeros_gets_a_ridge_too(rows):
    X, y = rows
    X = X.copy()
    X[:, 3] = 0
    noise = Regularisation(ridge=0.1, shape="diagonal").noise(DenseMoments().update(X, y), 0).toarray()
    assert np.linalg.eigvalsh(noise).min() > 0


@pytest.mark.parametrize("empty", [lambda: DenseMoments(track_fourth=True), DualMoments], ids=["dense", "rows"])
def test_data_driven_shrinkage_of_a_pool_of_classes(rows, empty):
    """A mixture is an array, which must not be compared with a word."""
    X, y = rows
    moments = empty().update(X, y)
    rule = Regularisation(shrinkage="auto")
    np.testing.assert_allclose(
        rule.noise(moments, moments.class_fractions, "covariance").toarray(), ledoit_wolf(X)[0], rtol=1e-8
    )
