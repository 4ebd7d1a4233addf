"""Directions as numbers and as combinations of rows answer alike."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import GramCache
from eigenfeat.solvers import DenseVectors, Directions, DualVectors

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(12, 30))
INDEX, C = np.array([0, 4, 5, 11]), rng.normal(size=(4, 3))
X = np.where(np.abs(rng.normal(size=(6, 30))) > 1, 1.5, 0.0)
V = ROWS[INDEX].T @ C

KINDS = {
    "dense": lambda: DenseVectors(V),
    "dual": lambda: DualVectors(GramCache(ROWS), INDEX, C),
    "dual over sparse rows": lambda: DualVectors(GramCache(sparse.csr_array(ROWS)), INDEX, C),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_every_answer_is_that_of_the_matrix(kind):
    vectors = KINDS[kind]()
    assert vectors.shape == (30, 3) and vectors.dtype == np.float64
    np.testing.assert_allclose(vectors.toarray(), V, atol=1e-12)
    for rows in (X, sparse.csr_array(X)):
        made = vectors.projected(rows)
        products = made.toarray() if sparse.issparse(made) else np.asarray(made)
        np.testing.assert_allclose(products, X @ V, atol=1e-12)
    for keep in (slice(1, 3), np.array([2, 0])):
        np.testing.assert_allclose(vectors.columns(keep).toarray(), V[:, keep], atol=1e-12)
    M = rng.normal(size=(3, 2))
    np.testing.assert_allclose(vectors.combined(M).toarray(), V @ M, atol=1e-12)
    assert type(vectors.combined(M)) is type(vectors.columns(slice(0, 1))) is type(vectors)


@every_kind
def test_directions_of_several_problems_side_by_side(kind):
    vectors = KINDS[kind]()
    joined = type(vectors).joined([vectors, vectors.columns(slice(0, 1)), vectors.combined(2 * np.eye(3))])
    np.testing.assert_allclose(joined.toarray(), np.hstack([V, V[:, :1], 2 * V]), atol=1e-12)
    assert joined.shape == (30, 7)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_combinations_of_many_rows_become_numbers(as_sparse):
    """Of more rows than columns the numbers are fewer; of fewer rows they stay combinations."""
    rows = np.vstack([ROWS] * 3)
    many = DualVectors(GramCache(sparse.csr_array(rows) if as_sparse else rows), INDEX, C)
    assert isinstance(many.economical, DenseVectors)
    np.testing.assert_allclose(many.economical.toarray(), V, atol=1e-12)
    for kind in ("dense", "dual"):
        vectors = KINDS[kind]()
        assert vectors.economical is vectors


def test_a_row_that_occurs_twice_counts_twice():
    twice = DualVectors(GramCache(ROWS), np.array([3, 3]), np.ones((2, 1)))
    np.testing.assert_allclose(DualVectors.joined([twice]).toarray(), 2 * ROWS[[3]].T)


@every_kind
def test_float32_rows_are_projected(kind):
    vectors = KINDS[kind]().astype(np.dtype(np.float32))
    np.testing.assert_allclose(vectors.projected(X.astype(np.float32)), X @ V, rtol=1e-4, atol=1e-4)


def test_numbers_take_another_type_and_stay_where_they_have_it():
    vectors = DenseVectors(V)
    assert vectors.astype(np.dtype(np.float64)) is vectors
    assert vectors.astype(np.dtype(np.float32)).dtype == np.float32


@every_kind
def test_some_directions_keep_what_is_known_of_them(kind):
    found = Directions(KINDS[kind](), np.array([3.0, 2.0, 1.0]), np.array([1e-9, 2e-9, 3e-9]), True, "dense", 30, "a")
    some = found.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.values, [1, 3])
    np.testing.assert_array_equal(some.residuals, [3e-9, 1e-9])
    np.testing.assert_allclose(some.toarray(), V[:, [2, 0]], atol=1e-12)
    assert (some.label, some.solver, some.noise_rank) == ("a", "dense", 30)
    assert found.first(2).n_directions == 2 and found.first(9).n_directions == found.n_directions == 3
