"""Streams: blocks of equal length whatever the batches, counted, refused when empty or changing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import X, assert_same, chunkings
from scipy import sparse

import eigenfeat.rows
from eigenfeat.rows import Block, FileRows


class Cut(FileRows):
    """Rows of an array in batches cut at given places."""

    def __init__(self, rows, edges, **options):
        super().__init__("a test", 4, np.dtype(np.float64), **options)
        self.stored, self.edges = rows, edges

    def batches(self, size):
        for part in np.split(self.stored, self.edges):
            yield Block(part)


@settings(deadline=None)  # threads start when they can
@given(st.lists(st.integers(0, 211), max_size=8).map(sorted), st.sampled_from([None, 1, 7, 211, 500]))
def test_blocks_do_not_depend_on_the_batches(edges, batch_size):
    assert_same(Cut(X, edges), batch_size=batch_size)


@chunkings
def test_a_size_of_ones_own(batch_size):
    sizes = [block.X.shape[0] for block in Cut(X, [100], batch_size=60).blocks(batch_size)]
    assert sizes[0] == min(batch_size or 60, 211) and sum(sizes) == 211


def test_rows_are_counted_by_a_whole_pass():
    source = Cut(X, [10])
    assert source.n_rows is None
    next(source.blocks(5))
    assert source.n_rows is None
    list(source.blocks())
    assert source.n_rows == 211


def test_rows_that_come_or_go_between_passes_are_noticed():
    source = Cut(X, [10])
    list(source.blocks())
    source.stored = X[:100]
    with pytest.raises(ValueError, match="had 211 rows before and has 100 now"):
        list(source.blocks())


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="a test has no rows"):
        list(Cut(X[:0], []).blocks())


def test_sparse_batches_stay_sparse():
    parts = [(sparse.csr_matrix(part), part[:, 0]) for part in np.split(X, [3, 90])]
    source = eigenfeat.rows.open(lambda: parts)
    blocks = list(source.blocks(50))
    assert all(sparse.issparse(block.X) and block.X.format == "csr" for block in blocks)
    assert_same(source, labels=X[:, 0], batch_size=50)
