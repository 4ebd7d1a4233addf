"""Sparse penalties against scikit-learn's on the same targets, and their limits."""

import numpy as np
import pytest
from ls_problems import inputs
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, MultiTaskLasso

from eigenfeat.least_squares.coordinate_descent import Descent, Penalty
from eigenfeat.least_squares.rows import centre


def objective(X, T, W, penalty):
    smooth = 0.5 * np.sum(((X - X.mean(axis=0)) @ W - T) ** 2) + 0.5 * penalty.l2 * np.sum(W**2)
    return smooth + penalty.l1 * (np.linalg.norm(W, axis=1).sum() if penalty.group else np.abs(W).sum())


# The last is wide and dense: columns, not a Gram matrix, yet without implicit centring.
@pytest.mark.parametrize("shape", [(80, 20, False), (80, 20, True), (30, 60, True), (15, 4100, False)])
@pytest.mark.parametrize("kind", ["lasso", "elasticnet", "group"])
def test_minimisers_are_scikit_learns(kind, shape):
    n, d, is_sparse = shape
    rng = np.random.default_rng(0)
    X = inputs(rng, n, d)
    T = rng.normal(size=(n, 3))
    T -= T.mean(axis=0)
    descent = Descent(centre(sparse.csr_array(X) if is_sparse else X), T)
    alpha = 0.2 * descent.largest_alpha(kind == "group")
    precise = {"tol": 1e-10, "max_iter": 50_000}
    if kind == "group":
        penalty = Penalty(alpha, group=True)
        reference = MultiTaskLasso(alpha / n, **precise).fit(X, T).coef_.T
    else:
        ratio = 1.0 if kind == "lasso" else 0.6
        penalty = Penalty(alpha * ratio, alpha * (1 - ratio))
        single = Lasso(alpha / n, **precise) if kind == "lasso" else ElasticNet(alpha / n, l1_ratio=ratio, **precise)
        reference = np.column_stack([single.fit(X, t).coef_ for t in T.T])
    fit = descent.solve(penalty, None, 1e-10, 5000)
    assert fit.gaps.max() <= 1e-10
    assert objective(X, T, fit.vectors, penalty) <= objective(X, T, reference, penalty) + 1e-8
    np.testing.assert_allclose(fit.vectors, reference, atol=1e-8 * np.abs(reference).max())


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(1)
    X, T, weight = inputs(rng, 30, 50), rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    T -= np.average(T, axis=0, weights=weight)
    weighted = Descent(centre(sparse.csr_array(X), weight.astype(float)), np.sqrt(weight)[:, None] * T)
    repeated = Descent(centre(X.repeat(weight, axis=0)), T.repeat(weight, axis=0))
    one, other = (d.solve(Penalty(2.0), None, 1e-12, 5000).vectors for d in (weighted, repeated))
    np.testing.assert_allclose(one, other, atol=1e-6)
