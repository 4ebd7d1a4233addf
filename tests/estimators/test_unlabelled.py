"""Rows without labels beside those with."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.estimators.unlabelled import beside

X, U = np.arange(6.0).reshape(3, 2), np.full((2, 2), 9.0)
SHARE = np.array([1.0, 2.0, 6.0])


def test_rows_without_labels_come_last_and_weigh_as_the_mean():
    rows, share = beside(X, SHARE, U)
    np.testing.assert_array_equal(rows, np.vstack([X, U]))
    np.testing.assert_array_equal(share, [1, 2, 6, 3, 3])
    few, of_few = beside(sparse.csr_matrix(X), SHARE, sparse.csr_matrix(U))
    np.testing.assert_array_equal(few.toarray(), rows)
    np.testing.assert_array_equal(of_few, share)


def test_without_them_nothing_changes_and_the_float_type_is_that_of_the_others():
    rows, share = beside(X, SHARE, None)
    assert rows is X and share is SHARE
    assert beside(X.astype(np.float32), SHARE, U)[0].dtype == np.float32


def test_sparse_and_dense_rows_do_not_mix():
    with pytest.raises(ValueError, match="both be sparse or both be dense"):
        beside(X, SHARE, sparse.csr_matrix(U))
