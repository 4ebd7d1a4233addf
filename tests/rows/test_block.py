"""How rows are cut into blocks, shared among threads and joined; sums do not depend on the number of threads."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info

from eigenfeat.rows import Block
from eigenfeat.rows.block import CACHE_BYTES, N_PARTS, concatenate, concatenate_and_free, dense, map_parts, row_blocks


@given(st.integers(1, 20_000), st.integers(1, 10_000), st.sampled_from([4, 8]), st.sampled_from([None, 1, 333]))
def test_blocks_cover_the_rows_once_and_fit_the_cache(n_rows, n_columns, itemsize, batch_size):
    blocks = row_blocks(n_rows, n_columns, itemsize, batch_size)
    assert blocks[0].start == 0 and blocks[-1].stop == n_rows
    assert all(a.stop == b.start for a, b in pairwise(blocks))
    longest = max(b.stop - b.start for b in blocks)
    if batch_size is None:
        assert longest * n_columns * itemsize <= max(CACHE_BYTES, 32 * n_columns * itemsize)
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

    alone = map_parts(gram, blocks, n_jobs=1)
    assert len(alone) == min(N_PARTS, n_blocks)
    for n_jobs in (2, 5, -1, None):
        for one, other in zip(alone, map_parts(gram, blocks, n_jobs)):
            np.testing.assert_array_equal(one, other)


def test_parts_run_with_one_blas_thread_each():
    def threads(part):
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    assert map_parts(threads, row_blocks(16, 1, 8, 2), n_jobs=2) == [1] * 8


def test_an_error_in_a_part_is_not_lost():
    def fail(part):
        raise RuntimeError("no such row")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="no such row"):
            map_parts(fail, row_blocks(10, 1, 8, 2), n_jobs)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_joined_blocks_are_the_rows_and_may_be_freed_meanwhile(kind, has_weights):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(9, 4)).astype(np.float32), rng.uniform(size=9) if has_weights else None
    whole = Block(kind(X), np.arange(9), weight)
    parts = [whole.take(slice(*edges)) for edges in pairwise([0, 3, 3, 8, 9])]
    assert [part.start for part in parts] == [0, 3, 3, 8]
    assert concatenate(parts[:1]) is parts[0]
    for joined in (concatenate(parts), concatenate_and_free(parts)):
        assert joined.X.dtype == np.float32 and joined.start == 0
        np.testing.assert_array_equal(dense(joined.X), X)
        np.testing.assert_array_equal(joined.y, np.arange(9))
        assert (joined.weight is not None) == has_weights
    assert kind is not np.array or not parts


def test_a_block_knows_where_it_stands_and_gives_some_of_its_rows():
    block = Block(np.arange(10.0).reshape(5, 2), np.arange(5), start=7)
    assert block.positions == slice(7, 12) and block.take(slice(2, 4)).positions == slice(9, 11)
    chosen = block.take(np.array([4, 0]))
    assert chosen.y.tolist() == [4, 0] and chosen.weight is None
    assert dense(block.X) is block.X
