"""Which preconditioner rows get, and what the solver asks of them."""

import numpy as np
import pytest

from eigenfeat.linear.logit import LogitSolver
from eigenfeat.rows import as_row_source


def wide_rows(n=60, d=400):
    return np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 3


def test_rows_without_weight_are_not_there():
    X, y = wide_rows(d=5)
    weights = (np.arange(60) % 4 > 0).astype(float)
    some = LogitSolver(as_row_source(X, y, weights), 3).fit(0.1, tol=1e-10)
    others = LogitSolver(as_row_source(X[weights > 0], y[weights > 0]), 3).fit(0.1, tol=1e-10)
    np.testing.assert_allclose(some.coef, others.coef, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_estimated_gap_is_not_below_the_true_one(dtype):
    """Columns of very different sizes and overlapping classes, where a Gram matrix of the start serves badly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 40)) * np.geomspace(1, 1e-2, 40)
    y = np.argmax(X @ (rng.normal(size=(40, 5)) * 20) + rng.gumbel(size=(800, 5)), axis=1)
    rows = as_row_source(X.astype(dtype), y)
    minimum = LogitSolver(as_row_source(X, y), 5).fit(1e-7, tol=1e-12).objective
    for tol in (1e-2, 1e-3, 1e-4):
        fit = LogitSolver(rows, 5).fit(1e-7, tol=tol)
        assert fit.converged and fit.objective <= minimum * (1 + tol)
