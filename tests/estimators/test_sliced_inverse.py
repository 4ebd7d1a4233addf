"""Sliced inverse regression against statsmodels."""

import numpy as np
from scipy.linalg import subspace_angles
from statsmodels.regression.dimred import SlicedInverseReg

from eigenfeat import SlicedInverseRegression


def test_sliced_inverse_regression_is_statsmodels():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 6)) @ rng.normal(size=(6, 6))
    y = X[:, 0] ** 3 + (X @ [0, 1, 1, 0, 0, 0]) + 0.1 * rng.normal(size=1000)
    ours = SlicedInverseRegression(n_components=2, n_slices=20).fit(X, y)
    theirs = SlicedInverseReg(y, X).fit(slice_n=50)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigs[:2], rtol=1e-6)
    assert subspace_angles(ours.components_.T, theirs.params[:, :2]).max() < 1e-6


def test_slices_have_equal_weight_and_ties_stay_together():
    y = np.array([0.0] * 10 + list(range(1, 31)))
    X = np.random.default_rng(4).normal(size=(40, 2))
    model = SlicedInverseRegression(n_slices=4).fit(X, y)
    np.testing.assert_array_equal(model.moments_.counts, [10, 10, 10, 10])
    by_name = SlicedInverseRegression(n_slices=4).fit(X, np.where(y < 5, "low", "high"))
    assert by_name.slice_edges_ is None
