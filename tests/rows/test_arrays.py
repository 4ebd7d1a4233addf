"""Rows of arrays, memory maps and sparse matrices."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.rows import ArrayRows, as_row_source

X = np.arange(30).reshape(10, 3)


@pytest.mark.parametrize(
    ("stored", "read"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.uint8, np.float64), (np.int64, np.float64)],
)
def test_rows_are_read_in_a_floating_type_and_passed_as_they_are_stored(stored, read):
    source = ArrayRows(X.astype(stored))
    assert source.dtype == read and source.rows(slice(2, 4)).dtype == read
    assert {block.X.dtype for block in source.blocks(3)} == {np.dtype(stored)}


def test_one_block_without_a_copy_unless_asked_otherwise():
    source = ArrayRows(X)
    (block,) = source.blocks()
    assert block.X is X
    assert [block.X.shape[0] for block in source.blocks(4)] == [4, 4, 2]
    assert [block.X.shape[0] for block in source.blocks(10)] == [10]


def test_labels_and_weights_go_with_their_rows():
    labels, weights = np.array(list("abcdefghij")), np.linspace(0, 1, 10)
    source = ArrayRows(X, labels, weights)
    for block in source.blocks(4):
        np.testing.assert_array_equal(block.y, labels[block.selection])
        np.testing.assert_array_equal(block.weight, weights[block.selection])
        np.testing.assert_array_equal(block.X, X[block.selection])


def test_sparse_rows_stay_sparse():
    source = as_row_source(sparse.coo_array(X.astype(np.float32)))
    assert source.is_sparse and source.dtype == np.float32
    chosen = source.rows(np.array([7, 0, 7]))
    assert sparse.issparse(chosen) and chosen.dtype == np.float32
    np.testing.assert_array_equal(chosen.toarray(), X[[7, 0, 7]])


def test_memory_maps_are_not_read_as_a_whole(tmp_path):
    stored = np.memmap(tmp_path / "rows", dtype=np.int16, mode="w+", shape=X.shape)
    stored[:] = X
    source = as_row_source(stored)
    assert isinstance(source.X, np.memmap)
    np.testing.assert_array_equal(source.rows(slice(5, 8)), X[5:8])


def test_rows_of_more_dimensions_are_as_wide_as_their_numbers():
    trials = ArrayRows(np.zeros((5, 3, 7), dtype=np.float32))
    assert (trials.n_rows, trials.n_columns) == (5, 21)
    assert trials.rows(slice(0, 2)).shape == (2, 3, 7)
