"""Rows kept as they are, and inner products between them."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.rows.store import RowStore

rng = np.random.default_rng(0)
X = np.where(rng.random((40, 25)) < 0.2, rng.normal(size=(40, 25)), 0.0)
X[:, :2] = rng.normal(size=(40, 2))  # two frequent columns among rare ones
LEFT, RIGHT = np.array([3, 0, 17]), np.array([5, 3])


@pytest.fixture(params=["dense", "sparse"])
def store(request):
    return RowStore(X.copy() if request.param == "dense" else sparse.csr_array(X))


def test_every_product_is_that_of_the_rows(store):
    V, C, w = rng.normal(size=(25, 2)), rng.normal(size=(3, 2)), rng.exponential(size=3)
    np.testing.assert_allclose(store.times(LEFT, V), X[LEFT] @ V, atol=1e-12)
    np.testing.assert_allclose(store.transpose_times(LEFT, C), X[LEFT].T @ C, atol=1e-12)
    np.testing.assert_allclose(store.weighted_squares(LEFT, w), w @ X[LEFT] ** 2, atol=1e-12)
    np.testing.assert_allclose(store.squared_norms(LEFT), (X[LEFT] ** 2).sum(1), atol=1e-12)
    np.testing.assert_allclose(store.gram(LEFT, RIGHT), X[LEFT] @ X[RIGHT].T, atol=1e-12)
    assert (store.n_rows, store.n_columns, store.dtype) == (40, 25, np.float64)


def test_a_gram_matrix_is_the_same_whether_it_is_kept_or_not(store):
    kept = store.gram(LEFT, RIGHT)
    store = RowStore(store.rows)
    store.cache_bytes = 0
    np.testing.assert_allclose(store.gram(LEFT, RIGHT), kept, atol=1e-12)
    assert store._gram is None


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_where_columns_are_split_does_not_matter(share):
    store = RowStore(sparse.csr_array(X))
    store.dense_column_share = share
    np.testing.assert_allclose(store.gram(np.arange(40), np.arange(40)), X @ X.T, atol=1e-12)


def test_threads_share_one_gram_matrix(store):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: store.gram(LEFT, RIGHT), range(8)))
    for gram in found:
        np.testing.assert_array_equal(gram, found[0])


def test_scaled_columns(store):
    scale = np.linspace(0.5, 2, 25)
    scaled = store.scaled_columns(scale)
    np.testing.assert_allclose(scaled.gram(LEFT, RIGHT), (X[LEFT] * scale) @ (X[RIGHT] * scale).T, atol=1e-12)
    assert scaled._gram is None


def test_a_store_is_pickled_without_its_gram_matrix(store):
    store.gram(LEFT, RIGHT)
    again = pickle.loads(pickle.dumps(store))
    assert again._gram is None
    np.testing.assert_allclose(again.gram(LEFT, RIGHT), store.gram(LEFT, RIGHT))
