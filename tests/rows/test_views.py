"""Views give the rows, labels and weights of what they stand for, and can do what their source can."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.rows import ArrayRows, ChosenRows, LabelledRows, MappedRows, RowBlock, RowSource, as_row_source, held
from eigenfeat.stages import Affine, WithConstant

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
y, w = rng.integers(3, size=20), rng.exponential(size=20)
SOURCE = ArrayRows(X, y, w)


class Stream(RowSource):
    n_columns = 4
    dtype = np.dtype(np.float32)

    def blocks(self, batch_size=None):
        for start in (0, 8, 16):
            stop = min(start + 8, 20)
            yield RowBlock(start, X[start:stop], y[start:stop], w[start:stop])


def together(source, batch_size=None):
    blocks = list(source.blocks(batch_size))
    parts = ([getattr(block, name) for block in blocks] for name in ("rows", "labels", "weights"))
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
    np.testing.assert_array_equal(again.labels, y[index][::-1])


def test_chosen_rows_of_what_has_no_labels_have_none():
    assert ChosenRows(ArrayRows(X), np.array([1])).labels is None


@pytest.mark.parametrize("source", [SOURCE, Stream()], ids=["array", "stream"])
def test_labels_of_ones_own_replace_those_of_the_source(source):
    labelled = LabelledRows(source, labels=y[::-1], weights=None)
    rows, labels, weights = together(labelled, 8)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y[::-1])
    assert weights is None
    assert labelled.has_random_access == source.has_random_access


@pytest.mark.parametrize("source", [SOURCE, ArrayRows(X.astype(np.float32), y, w), Stream()])
def test_mapped_rows_are_the_map_of_the_rows(source):
    V = rng.normal(size=(4, 2)).astype(source.dtype)
    mapped = MappedRows(source, Affine.of(V))
    rows, labels, weights = together(mapped)
    np.testing.assert_allclose(rows, X @ V, atol=1e-5)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(weights, w)
    assert mapped.n_columns == 2 and mapped.dtype == rows.dtype == source.dtype
    assert (mapped.n_rows, mapped.has_random_access) == (source.n_rows, source.has_random_access)


def test_mapped_rows_in_any_order_and_maps_of_maps():
    mapped = MappedRows(MappedRows(SOURCE, WithConstant()), Affine.of(np.eye(5)[:, ::-1]))
    index = np.array([4, 4, 19])
    np.testing.assert_array_equal(mapped.rows(index), np.column_stack([np.ones(20), X[:, ::-1]])[index])
    np.testing.assert_array_equal(ChosenRows(mapped, index).labels, y[index])


def test_a_mapped_stream_can_still_only_be_read_in_order():
    mapped = MappedRows(Stream(), WithConstant())
    with pytest.raises(TypeError, match="in order"):
        mapped.rows(slice(0, 2))
    np.testing.assert_allclose(held(mapped), np.column_stack([X, np.ones(20)]), rtol=1e-6)


def test_integers_become_floats_before_they_are_mapped():
    small = MappedRows(ArrayRows(np.array([[200], [100]], dtype=np.uint8)), Affine.of(np.array([[2.0]])))
    np.testing.assert_array_equal(held(small), [[400], [200]])


def test_a_source_is_itself_and_an_array_becomes_one():
    assert as_row_source(SOURCE) is SOURCE
    assert isinstance(as_row_source(SOURCE, labels=y), LabelledRows)
    made = as_row_source(X, list(y), list(w))
    assert isinstance(made, ArrayRows) and isinstance(made.labels, np.ndarray) and made.weights.dtype == np.float64


def test_views_keep_the_names_of_columns_that_are_the_same():
    class Named(Stream):
        names = ("a", "b", "c", "d")

    assert LabelledRows(Named(), labels=y).names == ("a", "b", "c", "d")
    assert MappedRows(Named(), WithConstant()).names is None
