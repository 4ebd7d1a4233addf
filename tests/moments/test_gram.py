"""Rows kept as they are, and inner products between them."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import GramCache

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 25)) < 0.2, rng.normal(size=(40, 25)), 0.0)
X[:, :2] = rng.normal(size=(40, 2))  # two frequent columns among rare ones
LEFT, RIGHT = np.array([3, 0, 17]), np.array([5, 3])


@pytest.fixture(params=["dense", "sparse"])
def rows(request):
    return GramCache(X.copy() if request.param == "dense" else sparse.csr_array(X))


def test_every_product_is_that_of_the_rows(rows):
    V, C, w = rng.normal(size=(25, 2)), rng.normal(size=(3, 2)), rng.exponential(size=3)
    np.testing.assert_allclose(rows.times(LEFT, V), X[LEFT] @ V, atol=1e-12)
    np.testing.assert_allclose(rows.transpose_times(LEFT, C), X[LEFT].T @ C, atol=1e-12)
    np.testing.assert_allclose(rows.weighted_squares(LEFT, w), w @ X[LEFT] ** 2, atol=1e-12)
    np.testing.assert_allclose(rows.squared_norms(LEFT), (X[LEFT] ** 2).sum(1), atol=1e-12)
    np.testing.assert_allclose(rows.gram(LEFT, RIGHT), X[LEFT] @ X[RIGHT].T, atol=1e-12)
    assert (rows.n_rows, rows.n_columns, rows.dtype) == (40, 25, np.float64)


def test_a_gram_matrix_is_the_same_whether_it_is_kept_or_not(rows):
    kept = rows.gram(LEFT, RIGHT)
    rows = GramCache(rows.X)
    rows.cache_bytes = 0
    np.testing.assert_allclose(rows.gram(LEFT, RIGHT), kept, atol=1e-12)
    assert rows._gram is None


@pytest.mark.parametrize("fraction", [0.0, 0.1, 1.0])
def test_where_columns_are_split_does_not_matter(fraction):
    rows = GramCache(sparse.csr_array(X))
    rows.dense_column_fraction = fraction
    np.testing.assert_allclose(rows.gram(np.arange(40), np.arange(40)), X @ X.T, atol=1e-12)


def test_threads_share_one_gram_matrix(rows):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: rows.gram(LEFT, RIGHT), range(8)))
    for gram in found:
        np.testing.assert_array_equal(gram, found[0])


def test_scaled_columns(rows):
    scale = np.linspace(0.5, 2, 25)
    scaled = rows.with_scaled_columns(scale)
    np.testing.assert_allclose(scaled.gram(LEFT, RIGHT), (X[LEFT] * scale) @ (X[RIGHT] * scale).T, atol=1e-12)
    assert scaled._gram is None


def test_rows_are_pickled_without_its_gram_matrix(rows):
    rows.gram(LEFT, RIGHT)
    again = pickle.loads(pickle.dumps(rows))
    assert again._gram is None
    np.testing.assert_allclose(again.gram(LEFT, RIGHT), rows.gram(LEFT, RIGHT))
