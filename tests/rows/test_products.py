"""Products with blocks, and with chosen rows of them, are products with the rows."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.rows import ArrayRows
from eigenfeat.rows.products import BlockProducts, products_with
from eigenfeat.rows.rows import TakenRows


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_blocks_and_chosen_rows(store):
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(20, 4)), rng.normal(size=(4, 3))
    index = np.array([7, 2, 2, 19, 0])
    for source, rows in ((ArrayRows(store(X)), X), (TakenRows(ArrayRows(store(X)), index), X[index])):
        products = products_with(source, C)
        total = np.zeros((4, 3))
        for selection in (slice(0, 3), slice(3, 5), np.array([4, 1])):
            scores = products.scores(selection)
            np.testing.assert_allclose(scores, rows[selection] @ C)
            products.add(scores)
            total += rows[selection].T @ scores
        np.testing.assert_allclose(products.total(), total)


def test_sums_of_threads_add_up():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(20, 4)), rng.normal(size=(4, 3))
    for source in (ArrayRows(X), TakenRows(ArrayRows(X), np.arange(20))):
        whole = products_with(source, C)
        for part in (slice(0, 12), slice(12, 20)):
            products = whole.anew()
            products.add(products.scores(part))
            whole.merge(products)
        np.testing.assert_allclose(whole.total(), X.T @ (X @ C))


def test_coefficients_take_the_type_of_the_rows():
    products = products_with(ArrayRows(np.ones((2, 3), np.float32)), np.ones((3, 2)))
    assert isinstance(products, BlockProducts)
    assert products.scores(slice(0, 2)).dtype == np.float32
    products.add(np.ones((2, 2), np.float32))
    assert products.total().dtype == np.float64
