"""Which preconditioner rows get, and what it is thought to cost."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.linear import preconditioner_table
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.linear.preconditioner_table import PRECONDITIONERS, build_cost, preconditioner_bytes, rows_to_draw
from eigenfeat.rows import ArrayRows, as_rows


def wide_rows(n=60, d=400):
    return np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 3


def chosen(X, **options):
    return LogitSolver(as_rows(X, np.arange(X.shape[0]) % 3), 3, **options).solver


def test_few_rows_are_solved_in_their_span_however_many_columns(monkeypatch):
    X, y = wide_rows()
    monkeypatch.setattr(preconditioner_table, "MAX_GRAM_COLUMNS", 100)
    monkeypatch.setattr(preconditioner_table, "MIN_SAMPLE_COLUMNS", 100)
    solver = LogitSolver(as_rows(X, y), 3)
    assert solver.solver == "gram" and solver.objective.passes.n_columns <= len(X) + 1
    assert chosen(np.vstack([X] * 4)) == "sample"
    monkeypatch.setattr(preconditioner_table, "MAX_SAMPLE_COLUMNS", 200)
    assert chosen(np.vstack([X] * 4)) == "diagonal"


def test_wide_sparse_rows_get_the_diagonal_behind_any_view():
    X = sparse.random_array((50, 1200), density=0.01, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(50) % 3
    assert chosen(X) == "diagonal" == LogitSolver(ArrayRows(X, y), 3).solver
    assert chosen(X[:, :900]) == "gram"
    assert chosen(X, solver="gram") == "gram"


def test_the_table_names_its_solvers():
    assert PRECONDITIONERS.options == {"auto", "classes", "gram", "sample", "diagonal"}
    X, y = wide_rows()
    with pytest.raises(ValueError, match="choose one of auto, classes, sample, gram, diagonal"):
        LogitSolver(as_rows(X, y), 3, solver="lbfgs")


def test_where_a_sample_is_drawn_it_costs_less_than_the_gram_matrix():
    n, k = 60_000, 10
    for d in (preconditioner_table.MIN_SAMPLE_COLUMNS, preconditioner_table.MAX_SAMPLE_COLUMNS):
        assert build_cost("sample", n, d, k) < build_cost("gram", n, d, k)
        assert rows_to_draw("sample", d) < rows_to_draw("gram", d)
    assert build_cost("gram", 50, 3, 2) == 0 < build_cost("diagonal", n, 100, k) <= 1


@pytest.mark.parametrize(("alpha", "solver"), [(1e-1, "sample"), (1e-7, "gram")])
def test_weak_penalties_need_the_gram_matrix(alpha, solver, monkeypatch):
    monkeypatch.setattr(preconditioner_table, "MIN_SAMPLE_COLUMNS", 100)
    monkeypatch.setattr(preconditioner_table, "PROBE_ROWS", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 200)).astype(np.float32)
    rows = as_rows(X, np.argmax(X[:, :3] + rng.normal(size=(600, 3)), axis=1))
    free = LogitSolver(rows, 3)
    assert free.solver == "sample"  # until there is a penalty
    fit = free.fit(alpha, tol=1e-6)
    assert fit.solver == solver and fit.converged
    assert LogitSolver(rows, 3, solver="sample").fit(alpha, max_iter=3).solver == "sample"  # a user's word counts
    exact = LogitSolver(rows, 3, solver="gram").fit(alpha, tol=1e-6)
    assert fit.objective == pytest.approx(exact.objective, rel=1e-4)


def test_own_rows_are_for_smoothed_labels_of_crowded_classes():
    rng, k = np.random.default_rng(0), 60
    rows = as_rows(rng.normal(size=(4 * k, 40)), np.arange(4 * k) % k)
    scarce, many = (as_rows(rng.normal(size=(n, 40)), np.arange(n) % k) for n in (2 * k, 40 * k))
    assert LogitSolver(scarce, k, smoothing=0.2).solver == "classes"
    assert LogitSolver(scarce, k).solver == LogitSolver(many, k, smoothing=0.2).solver == "gram"
    assert LogitSolver(rows, k, smoothing=0.2).solver == "gram"  # 10 classes times columns a row
    wide = as_rows(rng.normal(size=(1000, 950)), np.arange(1000) % 25)
    assert LogitSolver(wide, 25, smoothing=0.2).solver == "gram"  # 38 columns a class


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "numbers"),
    [
        (60_000, 3000, 1.6 * 3000**2),
        (60_000, 30_000, 4000 * 30_000 + 4000**2),
        (10**6, 10**5, 0),
        (1000, 8000, 1000 * 8000 + 2 * 1000**2),
    ],
    ids=["gram", "sample", "diagonal", "few rows"],
)
def test_what_is_held_is_known_beforehand(n_rows, n_columns, numbers):
    assert preconditioner_bytes(n_rows, n_columns, 4) == pytest.approx(4 * numbers)
