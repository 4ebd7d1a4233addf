"""Coordinates in the span of the rows do not change the penalised problem."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat import MultinomialLogit
from eigenfeat.linear import logit
from eigenfeat.linear.row_basis import RowBasis
from eigenfeat.rows import as_rows


def wide_rows(n=60, d=400, rank=None, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) if rank is None else rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    return X.astype(dtype), np.arange(n) % 3


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_the_basis_is_orthonormal_and_spans_the_rows(store):
    X, _ = wide_rows(n=30, rank=7)
    basis = RowBasis.of(as_rows(store(X)))
    Q = basis.combination(np.eye(len(basis.chosen)))
    assert Q.shape == (7, 400)
    np.testing.assert_allclose(Q @ Q.T, np.eye(7), atol=1e-8)
    np.testing.assert_allclose(basis.rows.X @ Q, X, atol=1e-8)
    np.testing.assert_allclose(basis.coordinates(Q), np.eye(7), atol=1e-8)


@pytest.mark.parametrize("alpha", [1e-1, 1e-4])
def test_the_minimum_is_that_of_all_columns(alpha, monkeypatch):
    X, y = wide_rows()
    reduced = MultinomialLogit(alpha, tol=1e-10).fit(X, y)
    monkeypatch.setattr(logit, "is_wide", lambda source: False)
    full = MultinomialLogit(alpha, tol=1e-10).fit(X, y)
    assert reduced.objective_ == pytest.approx(full.objective_, rel=1e-8)
    np.testing.assert_allclose(reduced.coef_, full.coef_, atol=1e-4 * np.abs(full.coef_).max())


def test_a_path_starts_each_fit_where_the_last_ended():
    X, y = wide_rows()
    path = list(MultinomialLogit(tol=1e-9).alpha_path(X, y, [1e-1, 1e-2]))
    alone = MultinomialLogit(1e-2, tol=1e-9).fit(X, y)
    assert path[1].objective_ == pytest.approx(alone.objective_, rel=1e-7)


def test_repeated_rows_add_no_direction():
    X, _ = wide_rows(n=20)
    basis = RowBasis.of(as_rows(np.vstack([X, X, 0 * X])))
    assert sorted(basis.chosen % 20) == list(range(20))
    np.testing.assert_allclose(basis.rows.X[20:40], basis.rows.X[:20], atol=1e-10)
    assert not basis.rows.X[40:].any()


def test_float32_keeps_the_directions_of_float64():
    """Singular values over five decades: squares over ten, which float32 could not hold."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(size, 60)))[0] for size in (60, 400))
    X = ((U * np.geomspace(1, 1e-5, 60)) @ V.T).astype(np.float32)
    y = np.arange(60) % 3
    assert len(RowBasis.of(as_rows(X)).chosen) == 60
    single = MultinomialLogit(1e-9, tol=1e-3, max_iter=500).fit(X, y)
    double = MultinomialLogit(1e-9, tol=1e-3, max_iter=500).fit(X.astype(np.float64), y)
    assert single.objective_ == pytest.approx(double.objective_, rel=2e-3)
    np.testing.assert_array_equal(single.predict(X), double.predict(X))
