"""Keys say which rows are equal, wherever and however they are stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.rows.sampling import distinct_keys, row_keys


@given(st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5]), min_size=3, max_size=3), min_size=1, max_size=20))
def test_equal_rows_have_equal_keys_and_others_other_ones(rows):
    rows = np.array(rows)
    keys = row_keys(rows)
    _, code = np.unique(rows + 0.0, axis=0, return_inverse=True)
    same_row, same_key = code[:, None] == code, keys[:, None] == keys
    np.testing.assert_array_equal(same_row, same_key)
    np.testing.assert_array_equal(row_keys(rows[::-1]), keys[::-1])


def test_keys_of_sparse_rows_tell_rows_apart_too():
    rows = np.array([[0.0, 1, 2], [0, 1, 2], [1, 0, 2], [0, 0, 0]])
    keys = row_keys(sparse.csr_array(rows))
    np.testing.assert_array_equal(keys == keys[0], [True, True, False, False])


def test_keys_do_not_depend_on_storage():
    rows = np.random.default_rng(0).integers(-1, 2, size=(20, 6)).astype(float)
    with_zeros = sparse.csr_array(np.ones_like(rows))
    with_zeros.data[:] = rows.ravel()
    np.testing.assert_array_equal(row_keys(sparse.csr_array(rows)), row_keys(rows))
    np.testing.assert_array_equal(row_keys(with_zeros), row_keys(rows))


@pytest.mark.parametrize("shape", [(1, 1), (1025, 3), (7, 40)])
def test_compiled_sums_are_those_of_arrays(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    with np.errstate(over="ignore"):
        columns = mixed(np.arange(shape[1], dtype=np.uint64))
        sums = mixed(rows.view(np.uint64) ^ columns).sum(axis=1, dtype=np.uint64)
        expected = (mixed(sums) >> np.uint64(33)).astype(np.int64)
    np.testing.assert_array_equal(row_keys(rows), expected)


def mixed(bits):
    """The finaliser of splitmix64, by numpy."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def test_distinct_keys_sort_alike_in_both_types():
    rows = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    np.testing.assert_array_equal(distinct_keys(rows)[:, 0], distinct_keys(rows.astype(np.float64) + 1e-12)[:, 0])
