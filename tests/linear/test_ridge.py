"""Ridge with a chosen penalty against scikit-learn's, and weights as copies of rows."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from eigenfeat.linear.ridge import fit_ridge, fit_ridge_moments
from eigenfeat.moments import collect_cross_moments

ALPHAS = np.logspace(-2, 3, 11)


@pytest.mark.parametrize("shape", [(80, 12), (30, 50)])
def test_it_is_ridge_on_standardised_columns(shape):
    rng = np.random.default_rng(0)
    F = rng.normal(size=shape) * rng.uniform(0.1, 10, size=shape[1]) + 3
    Y = F[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(shape[0], 2))
    fit = fit_ridge(F, Y, None, ALPHAS[4:5])
    standard = StandardScaler().fit_transform(F) * np.minimum(F.std(0) / (0.1 * np.median(F.std(0))), 1)
    reference = RidgeCV(ALPHAS[4:5]).fit(standard, Y)
    np.testing.assert_allclose(F @ fit.coef + fit.intercept, reference.predict(standard))


def test_the_score_is_generalized_cross_validation():
    rng = np.random.default_rng(1)
    F, Y = rng.normal(size=(40, 8)), rng.normal(size=(40, 1))
    Y += 2 * F[:, :1]
    Z = (F - F.mean(0)) / F.std(0)
    scores = []
    for alpha in ALPHAS:
        hat = Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(8), Z.T) + 1 / 40
        residual = Y - hat @ Y
        scores.append(np.sum(residual**2) / (1 - np.trace(hat) / 40) ** 2)
    assert fit_ridge(F, Y, None, ALPHAS).alpha == ALPHAS[np.argmin(scores)]


def test_a_weight_is_that_many_copies():
    rng = np.random.default_rng(2)
    F, Y, counts = rng.normal(size=(30, 40)), rng.normal(size=(30, 1)), rng.integers(0, 4, size=30)
    weighted = fit_ridge(F, Y, counts.astype(float), ALPHAS)
    copied = fit_ridge(np.repeat(F, counts, axis=0), np.repeat(Y, counts, axis=0), None, ALPHAS)
    assert weighted.alpha == copied.alpha
    np.testing.assert_allclose(weighted.coef, copied.coef, atol=1e-9)


def test_a_constant_column_has_no_part_in_the_fit():
    rng = np.random.default_rng(0)
    F, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 1))
    weights = rng.uniform(0.5, 2, size=60)  # a weighted mean of equal numbers is off by rounding
    constant = np.column_stack([F[:, :2], np.full(60, 0.1), F[:, 2:]])
    plain, with_constant = (fit_ridge(X, Y, weights, np.array([0.3])) for X in (F, constant))
    np.testing.assert_array_equal(with_constant.coef[2], 0)
    np.testing.assert_allclose(np.delete(with_constant.coef, 2, axis=0), plain.coef, rtol=1e-10)
    np.testing.assert_allclose(with_constant.intercept, plain.intercept, rtol=1e-10)


def test_a_column_that_hardly_varies_is_not_blown_up():
    """A pixel that one row has: its coefficient is that of a column in units of a tenth of the median spread."""
    rng = np.random.default_rng(0)
    F, Y = rng.normal(size=(60, 5)), rng.normal(size=(60, 1))
    F[:, 4] = 0
    F[7, 4] = 0.01
    fit = fit_ridge(F, Y, None, np.array([1.0]))
    scale = np.append(F[:, :4].std(0), 0.1 * np.median(F.std(0)))
    reference = RidgeCV([1.0]).fit((F - F.mean(0)) / scale, Y)
    np.testing.assert_allclose(fit.coef[:, 0], reference.coef_.ravel() / scale, rtol=1e-8)
    own = RidgeCV([1.0]).fit(StandardScaler().fit_transform(F), Y)
    assert abs(fit.coef[4, 0]) < 0.1 * abs(own.coef_.ravel()[4] / F[:, 4].std())


def test_from_moments_it_is_the_same_fit():
    rng = np.random.default_rng(3)
    F, weights = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6)) + 2, rng.exponential(size=80)
    F[:, 5] *= 1e-4
    Y = F[:, :2] ** 2 + rng.normal(size=(80, 2))
    alphas = np.logspace(-2, 3, 6)
    for w in (None, weights):
        expected, found = fit_ridge(F, Y, w, alphas), fit_ridge_moments(collect_cross_moments(F, Y, w), alphas)
        assert found.alpha == expected.alpha
        np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.intercept, expected.intercept, rtol=1e-8)
