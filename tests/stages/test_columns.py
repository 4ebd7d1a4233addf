"""Treated columns: shifted, multiplied or bent, sparse where they can be."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.stages import TreatedColumns

NONE = np.empty(0, dtype=np.int64), np.empty((0, 0)), np.empty((0, 0))
BENT = TreatedColumns(
    np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.array([1]), np.array([[0.0, 1.0, 3.0, 3.0]]),
    np.array([[-1.0, 0.0, 1.0, 1.0]]),
)  # fmt: skip


def test_columns_are_shifted_and_multiplied_or_interpolated():
    rows = np.array([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]])
    np.testing.assert_allclose(BENT.apply(rows), [[0, -1], [2, 0.5], [-2, 1]])


def test_bent_columns_are_constant_outside_of_their_knots():
    assert BENT.apply(np.array([[0.0, -1e9], [0.0, 1e9]]))[:, 1].tolist() == [-1, 1]


def test_float32_rows_lose_nothing_to_a_large_shift():
    """Exact up to the rounding of the result: differences are taken in float64."""
    rows = (np.float32(1e6) + np.arange(4, dtype=np.float32)).reshape(-1, 1)
    stage = TreatedColumns(np.array([1e6 + 0.3]), np.array([1.0]), *NONE)
    treated = stage.apply(rows)
    assert treated.dtype == np.float32
    np.testing.assert_allclose(treated[:, 0], np.arange(4) - 0.3, rtol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_sparse_rows_stay_sparse_where_zeros_stay_zero(shift):
    stage = TreatedColumns(np.array([shift, 0.0]), np.array([2.0, 0.0]), *NONE)
    rows = np.array([[0.0, 1.0], [3.0, 0.0]])
    treated = stage.apply(sparse.csr_array(rows))
    assert sparse.issparse(treated) == (shift == 0)
    np.testing.assert_array_equal(treated.toarray() if shift == 0 else treated, stage.apply(rows))
