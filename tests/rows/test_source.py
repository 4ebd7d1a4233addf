"""What every source of rows promises, and what a new kind of source gets for a width, a type and a pass."""

import numpy as np
import pytest

from eigenfeat.rows import Block, RandomRows, Rows, joined_and_freed, joined_blocks
from eigenfeat.rows.source import part_of


class Squares(RandomRows):
    """Rows that exist when they are asked for: n, n²."""

    n_columns = 2
    dtype = np.dtype(np.float64)
    n_rows = 25
    default_batch = 10

    @property
    def y(self):
        return np.arange(25) % 2

    def rows(self, selection):
        n = np.arange(25.0)[selection]
        return np.column_stack([n, n**2])


class Stream(Rows):
    n_columns = 1
    dtype = np.dtype(np.float64)

    def blocks(self, batch_size=None):
        yield Block(np.zeros((2, 1)))
        yield Block(np.ones((3, 1)), start=2)


@pytest.mark.parametrize("batch_size", [None, 1, 7, 25, 100])
def test_a_pass_covers_every_row_once_in_order(batch_size):
    blocks = list(Squares().blocks(batch_size))
    assert [block.start for block in blocks] == list(range(0, 25, batch_size or 10))
    np.testing.assert_array_equal(np.concatenate([b.X for b in blocks]), Squares().rows(slice(None)))
    np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), Squares().y)
    assert all(block.weight is None for block in blocks)


def test_a_block_knows_where_it_stands():
    whole = np.empty((5, 1))
    for block in Stream().blocks():
        whole[block.selection] = block.X
    np.testing.assert_array_equal(whole[:, 0], [0, 0, 1, 1, 1])


def test_a_stream_may_not_know_its_length_and_has_no_random_access():
    assert Stream().n_rows is None
    assert not isinstance(Stream(), RandomRows)


def test_columns_without_names_hold_no_labels():
    assert Stream().names is None
    with pytest.raises(TypeError, match=r"Stream has no column 'kind' to take labels from.*as_row_source"):
        Stream().with_label("kind")


def test_a_source_without_a_pass_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Rows,), {"n_columns": 1})()


def test_part_of_what_is_not_there_is_not_there():
    assert part_of(None, slice(0, 3)) is None
    np.testing.assert_array_equal(part_of(np.arange(5), np.array([3, 1])), [3, 1])


@pytest.mark.parametrize("has_weights", [False, True])
def test_joined_blocks_are_freed_meanwhile(has_weights):
    rng = np.random.default_rng(0)
    sizes = [3, 0, 5, 1]
    blocks = [
        Block(rng.normal(size=(n, 4)).astype(np.float32), np.arange(n), rng.uniform(size=n), start=7 * i)
        for i, n in enumerate(sizes)
    ]
    if not has_weights:
        blocks = [Block(block.X, block.y, start=block.start) for block in blocks]
    expected = joined_blocks(blocks)
    found = joined_and_freed(blocks)
    assert not blocks and found.X.dtype == np.float32
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.y, expected.y)
    assert has_weights == (found.weight is not None)
