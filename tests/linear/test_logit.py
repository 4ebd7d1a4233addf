"""Which preconditioner rows get, and what the solver asks of them."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.linear import logit
from eigenfeat.linear.logit import PRECONDITIONERS, LogitSolver
from eigenfeat.rows import ArrayRows, LabelledRows, as_row_source


def wide_rows(n=60, d=400):
    return np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 3


def chosen(X, **options):
    return LogitSolver(as_row_source(X, np.arange(X.shape[0]) % 3), 3, **options).solver


def test_few_rows_are_solved_in_their_span_however_many_columns(monkeypatch):
    X, y = wide_rows()
    monkeypatch.setattr(logit, "MAX_GRAM_COLUMNS", 100)
    solver = LogitSolver(as_row_source(X, y), 3)
    assert solver.solver == "gram" and solver.objective.passes.n_columns <= len(X) + 1
    assert chosen(np.vstack([X] * 4)) == "diagonal"


def test_wide_sparse_rows_get_the_diagonal_behind_any_view():
    X = sparse.random_array((50, 1200), density=0.01, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(50) % 3
    assert chosen(X) == "diagonal" == LogitSolver(LabelledRows(ArrayRows(X), y), 3).solver
    assert chosen(X[:, :900]) == "gram"
    assert chosen(X, solver="gram") == "gram"


def test_the_table_names_its_solvers():
    assert PRECONDITIONERS.options == {"auto", "gram", "diagonal"}
    X, y = wide_rows()
    with pytest.raises(ValueError, match="choose one of auto, gram, diagonal"):
        LogitSolver(as_row_source(X, y), 3, solver="lbfgs")


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
