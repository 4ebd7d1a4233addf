"""Labels in units of their spread, and rows with and without labels side by side."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.estimators.score_tensor_base import beside, in_spreads


def test_labels_are_in_units_of_their_spread():
    rng = np.random.default_rng(0)
    Y, share = rng.normal(size=(200, 3)) * [1, 10, 0], rng.random(200)
    scaled = in_spreads(Y, share)
    mean = np.average(scaled, axis=0, weights=share)
    np.testing.assert_allclose(np.average((scaled - mean) ** 2, axis=0, weights=share), [1, 1, 0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_without_labels_weigh_as_much_as_the_mean_row(kind):
    X, U = kind(np.eye(3)), kind(np.ones((2, 3)))
    rows, share = beside(X, np.array([1.0, 2.0, 3.0]), U)
    assert rows.shape == (5, 3)
    np.testing.assert_array_equal(share, [1, 2, 3, 2, 2])
    alone, same = beside(X, share[:3], None)
    assert alone is X
    np.testing.assert_array_equal(same, [1, 2, 3])
