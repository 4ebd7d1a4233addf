"""How a pass is cut, and that the cut does not depend on the number of threads."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from eigenfeat.rows import ArrayRows, MappedRows, dense, first_rows, held, in_proportion, open, over_parts, row_blocks
from eigenfeat.rows.blocks import BLOCK_BYTES, N_PARTS
from eigenfeat.stages import WithConstant


@given(st.integers(1, 20_000), st.integers(1, 10_000), st.sampled_from([4, 8]), st.sampled_from([None, 1, 333]))
def test_blocks_cover_the_rows_once_and_fit_the_cache(n_rows, n_columns, itemsize, batch_size):
    blocks = row_blocks(n_rows, n_columns, itemsize, batch_size)
    assert blocks[0].start == 0 and blocks[-1].stop == n_rows
    assert all(a.stop == b.start for a, b in pairwise(blocks))
    longest = max(b.stop - b.start for b in blocks)
    if batch_size is None:
        assert longest * n_columns * itemsize <= max(BLOCK_BYTES, 32 * n_columns * itemsize)
    else:
        assert longest <= batch_size


@pytest.mark.parametrize("n_blocks", [1, 3, 8, 50])
def test_sums_over_parts_do_not_depend_on_the_number_of_threads(n_blocks):
    X = np.random.default_rng(0).normal(size=(n_blocks * 100, 7)).astype(np.float32)
    blocks = row_blocks(len(X), 7, 4, 100)

    def gram(part):
        total = np.zeros((7, 7), np.float32)
        for chosen in part:
            total += X[chosen].T @ X[chosen]
        return total

    alone = over_parts(blocks, gram, n_jobs=1)
    assert len(alone) == min(N_PARTS, n_blocks)
    for n_jobs in (2, 5, -1, None):
        for one, other in zip(alone, over_parts(blocks, gram, n_jobs)):
            np.testing.assert_array_equal(one, other)


def test_parts_run_with_one_blas_thread_each():
    def threads(part):
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    assert over_parts(row_blocks(16, 1, 8, 2), threads, n_jobs=2) == [1] * 8


def test_an_error_in_a_part_is_not_lost():
    def fail(part):
        raise RuntimeError("no such row")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="no such row"):
            over_parts(row_blocks(10, 1, 8, 2), fail, n_jobs)


def test_held_rows_are_all_rows_in_the_type_of_the_source():
    X = np.arange(60, dtype=np.uint8).reshape(20, 3)
    for source, n_threads in product((ArrayRows(X), ArrayRows(sparse.csr_array(X))), (1, 2)):
        for batch_size in (1, 6, None):
            with threadpool_limits(n_threads, user_api="blas"):
                rows = held(source, batch_size)
            assert rows.dtype == np.float64 and rows.flags.c_contiguous
            np.testing.assert_array_equal(rows, X)
    assert held(MappedRows(ArrayRows(X.astype(np.float32)), WithConstant())).dtype == np.float32


@pytest.mark.parametrize("count", [1, 7, 20, 50])
def test_the_first_rows_of_any_source(count):
    X = np.arange(60, dtype=np.float32).reshape(20, 3)
    for source in (ArrayRows(X), open(lambda: [X[:5], X[5:]])):
        rows = first_rows(source, count)
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, X[:count])


def test_dense_leaves_arrays_alone():
    X = np.eye(3)
    assert dense(X) is X
    np.testing.assert_array_equal(dense(sparse.csr_array(X)), X)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30).filter(any))
def test_indices_in_proportion_to_weights(weights):
    weights = np.array(weights, dtype=float)
    chosen = in_proportion(weights)
    assert (weights[chosen] > 0).all() and len(chosen) == np.count_nonzero(weights)
    times = np.bincount(chosen, minlength=len(weights))
    np.testing.assert_array_less(np.abs(times - weights * len(chosen) / weights.sum()), 1 + 1e-9)
    np.testing.assert_array_equal(in_proportion((weights > 0).astype(float)), np.flatnonzero(weights))
