"""The choice of alpha from errors at rows left out: ties, the default grid, folds."""

import numpy as np
from ls_problems import inputs, problem
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score

from eigenfeat.estimators.least_squares_choice import Choice, by_leave_one_out, on_folds
from eigenfeat.least_squares.paths import Settings


def small():
    rng = np.random.default_rng(0)
    X = inputs(rng, 40, 6)
    Y = X[:, :2] + rng.normal(size=(40, 2))
    return X, Y - Y.mean(axis=0)


def test_of_equal_errors_the_largest_alpha_is_best_and_rounding_makes_none_unequal():
    alphas = np.array([1.0, 100.0, 10.0])
    assert Choice(alphas, np.array([[2.0, 1.0, 1.0 - 1e-15]])).best == 100.0
    assert Choice(alphas, np.array([[2.0, 1.0, 1.0], [0.0, 3.0, 2.0]])).best == 1.0


def test_candidates_are_given_or_a_grid_and_thirds_of_its_decades():
    one = problem(*small(), False)
    found = by_leave_one_out(one)
    given = by_leave_one_out(one, found.alphas)
    np.testing.assert_allclose(given.errors, found.errors, rtol=1e-12)
    assert found.best == found.alphas[np.argmin(found.errors[0])] == given.best
    assert found.errors.shape == (1, len(found.alphas)) and found.spectrum is not None
    assert np.ptp(np.log10(found.alphas)) > 3


def test_folds_are_those_of_ridge_regression():
    X, Y = small()
    alphas, folds = np.array([0.1, 10.0]), KFold(4)
    choice = on_folds(
        X, Y, None, problem(X, Y, False), alphas, Settings("ridge"), folds, classes=False, order=np.arange(len(X))
    )
    for alpha, errors in zip(alphas, choice.errors.T):
        scores = cross_val_score(Ridge(alpha), X, Y, cv=folds, scoring="neg_mean_squared_error")
        np.testing.assert_allclose(errors, -2 * scores, rtol=1e-8)
