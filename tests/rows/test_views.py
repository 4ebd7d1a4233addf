"""Views give the rows, labels and weights of what they stand for, and can do what their source can."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.rows import (
    ArrayRows,
    Block,
    ChosenRows,
    ChosenStream,
    LabelledRows,
    MappedRows,
    MappedStream,
    RandomRows,
    Rows,
    as_row_source,
    first_block,
    held,
    mapped,
)
from eigenfeat.stages import Affine, WithConstant

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
y, w = rng.integers(3, size=20), rng.exponential(size=20)
SOURCE = ArrayRows(X, y, w)


class Stream(Rows):
    n_columns = 4
    dtype = np.dtype(np.float32)

    def blocks(self, batch_size=None):
        for start in (0, 8, 16):
            stop = min(start + 8, 20)
            yield Block(X[start:stop], y[start:stop], w[start:stop], start=start)


def together(source, batch_size=None):
    blocks = list(source.blocks(batch_size))
    parts = ([getattr(block, name) for block in blocks] for name in ("X", "y", "weight"))
    return tuple(None if part[0] is None else np.concatenate(part) for part in parts)


@given(st.lists(st.integers(0, 19), min_size=1, max_size=30), st.sampled_from([None, 1, 4]))
def test_chosen_rows_carry_labels_and_weights(index, batch_size):
    index = np.array(index)
    chosen = ChosenRows(SOURCE, index)
    for got, expected in zip(together(chosen, batch_size), (X, y, w)):
        np.testing.assert_array_equal(got, expected[index])
    assert chosen.n_rows == len(index) and chosen.n_columns == 4
    np.testing.assert_array_equal(chosen.rows(slice(0, 1)), X[index[:1]])
    again = ChosenRows(chosen, np.arange(len(index))[::-1])
    np.testing.assert_array_equal(again.y, y[index][::-1])


def test_chosen_rows_of_what_has_no_labels_have_none():
    assert ChosenRows(ArrayRows(X), np.array([1])).y is None


@pytest.mark.parametrize("source", [SOURCE, Stream()], ids=["array", "stream"])
def test_labels_of_ones_own_replace_those_of_the_source(source):
    labelled = as_row_source(source, labels=y[::-1])
    rows, labels, weights = together(labelled, 8)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y[::-1])
    assert weights is None
    assert isinstance(labelled, RandomRows) == isinstance(source, RandomRows)


@pytest.mark.parametrize("source", [SOURCE, ArrayRows(X.astype(np.float32), y, w), Stream()])
def test_mapped_rows_are_the_map_of_the_rows(source):
    V = rng.normal(size=(4, 2)).astype(source.dtype)
    view = mapped(source, Affine.of(V))
    rows, labels, weights = together(view)
    np.testing.assert_allclose(rows, X @ V, atol=1e-5)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(weights, w)
    assert view.n_columns == 2 and view.dtype == rows.dtype == source.dtype
    assert (view.n_rows, isinstance(view, RandomRows)) == (source.n_rows, isinstance(source, RandomRows))


def test_mapped_rows_in_any_order_and_maps_of_maps():
    view = MappedRows(MappedRows(SOURCE, WithConstant()), Affine.of(np.eye(5)[:, ::-1]))
    index = np.array([4, 4, 19])
    np.testing.assert_array_equal(view.rows(index), np.column_stack([np.ones(20), X[:, ::-1]])[index])
    np.testing.assert_array_equal(ChosenRows(view, index).y, y[index])


def test_a_view_of_a_stream_is_a_stream():
    view = mapped(mapped(Stream(), WithConstant()), Affine.of(np.eye(5)))
    assert isinstance(view, MappedStream)
    assert view.n_rows is None and not hasattr(view, "rows")
    np.testing.assert_allclose(held(view), np.column_stack([X, np.ones(20)]), rtol=1e-6)


def test_integers_become_floats_before_they_are_mapped():
    small = MappedRows(ArrayRows(np.array([[200], [100]], dtype=np.uint8)), Affine.of(np.array([[2.0]])))
    np.testing.assert_array_equal(held(small), [[400], [200]])


def test_a_source_is_itself_and_an_array_becomes_one():
    assert as_row_source(SOURCE) is SOURCE
    assert isinstance(as_row_source(SOURCE, labels=y), LabelledRows)
    made = as_row_source(X, list(y), list(w))
    assert isinstance(made, ArrayRows) and isinstance(made.y, np.ndarray) and made.weight.dtype == np.float64


def test_views_keep_the_names_of_columns_that_are_the_same():
    class Named(Stream):
        names = ("a", "b", "c", "d")

    assert as_row_source(Named(), labels=y).names == ("a", "b", "c", "d")
    assert mapped(Named(), WithConstant()).names is None and mapped(SOURCE, WithConstant()).names is None


def test_chosen_rows_of_a_stream_have_places_of_their_own():
    index = np.array([1, 2, 17, 19])
    chosen = ChosenStream(Stream(), index)
    assert chosen.n_rows == 4
    blocks = list(chosen.blocks())
    assert [block.start for block in blocks] == [0, 2, 2]
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X[index])
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y[index])
    assert first_block(chosen, 3).n_rows == 3 and first_block(chosen, 9).y.tolist() == y[index].tolist()
