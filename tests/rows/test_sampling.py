"""Samples that depend on the rows alone: not on their order, their blocks, or whether they are repeated or weighted."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import row_keys, sampled

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3)).round(1)


class InBlocks(Rows):
    """An array that can only be read in order, in blocks of a given length."""

    def __init__(self, array, step):
        self.array, self.step = ArrayRows(array), step

    n_columns = property(lambda self: self.array.n_columns)
    dtype = property(lambda self: self.array.dtype)

    def blocks(self, batch_size=None):
        return self.array.blocks(self.step)


def table(sample):
    """The different rows of a sample with their weights, in ascending order."""
    rows = sample.X.toarray() if sparse.issparse(sample.X) else sample.X
    different, place = np.unique(rows, axis=0, return_inverse=True)
    return np.column_stack([different, np.bincount(place.ravel(), sample.weight)])


@pytest.mark.parametrize("count", [60, 1000])
def test_neither_order_nor_blocks_nor_storage_of_repetitions_matters(count):
    weights = rng.integers(0, 4, size=500)
    repeated = np.repeat(X, weights, axis=0)
    expected = table(sampled(ArrayRows(X, None, weights.astype(float)), count, row_keys))
    np.testing.assert_array_equal(table(sampled(ArrayRows(repeated), count, row_keys)), expected)
    shuffled = repeated[rng.permutation(len(repeated))]
    for step in (7, 90, 10_000):
        np.testing.assert_array_equal(table(sampled(InBlocks(shuffled, step), count, row_keys)), expected)


def test_a_sample_is_bounded_and_uniform():
    values = np.arange(50_000.0).reshape(-1, 1)
    sample = sampled(ArrayRows(values), 2000, row_keys)
    assert len(sample.X) == len(np.unique(sample.X)) == 2000
    assert abs(sample.X.mean() / 25_000 - 1) < 5 / np.sqrt(3 * 2000)  # five standard errors of a uniform law


def test_the_range_is_that_of_all_rows_that_count():
    values = np.arange(50_000.0).reshape(-1, 1)
    sample = sampled(ArrayRows(values, None, (values[:, 0] > 0).astype(float)), 10, row_keys)
    assert (sample.low, sample.high) == (1, 49_999)


def test_sparse_rows_stay_sparse():
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    sample = sampled(ArrayRows(thin), 40, row_keys)
    assert sparse.issparse(sample.X) and sample.X.shape == (40, 3)
    assert sample.low.tolist() == [0, 0, 0] and sample.high.tolist() == X.max(axis=0).tolist()


def test_rows_without_weight_are_refused():
    with pytest.raises(ValueError, match="no row of positive weight"):
        sampled(ArrayRows(X, None, np.zeros(500)), 10, row_keys)
