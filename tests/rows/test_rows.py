"""What every kind of rows promises: arrays, streams, and what functions of blocks make of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.moments import collect_moments
from eigenfeat.rows import ArrayRows, Block, ClassCounts, RandomAccessRows, Rows, as_rows
from eigenfeat.rows.accumulators import Collect
from eigenfeat.rows.functions import EncodeLabels, centred_trials, time_samples
from eigenfeat.stages import Affine, WithConstant

rng = np.random.default_rng(0)
N = 20
X = rng.normal(size=(N, 4))
y, w = rng.integers(3, size=N), rng.exponential(size=N)


class Stream(Rows):
    """Blocks of eight rows, of a number that nobody knows."""

    n_columns = 4
    dtype = np.dtype(np.float64)

    def __init__(self, labels=y):
        self.labels = labels

    def blocks(self, batch_size=None):
        for start in range(0, N, 8):
            part = slice(start, min(start + 8, N))
            yield Block(X[part], None if self.labels is None else self.labels[part], w[part], start=start)


class Squares(RandomAccessRows):
    """Rows that exist when they are asked for: n, n²."""

    n_columns = 2
    dtype = np.dtype(np.float64)
    n_rows = 25
    y = np.arange(25) % 2

    def block(self, selection):
        n = np.arange(25.0)[selection]
        start = selection.start or 0 if isinstance(selection, slice) else 0
        return Block(np.column_stack([n, n**2]), self.y[selection], start=start)


KINDS = {"array": ArrayRows(X, y, w), "stream": Stream(), "loaded": Stream().load(), "cached": Stream().cache()}
every_kind = pytest.mark.parametrize("rows", KINDS.values(), ids=KINDS)


def together(rows, batch_size=None):
    """Rows, labels and weights of a pass, whose blocks say where they stand."""
    blocks = list(rows.blocks(batch_size))
    assert [b.start for b in blocks] == np.cumsum([0, *(b.n_rows for b in blocks[:-1])]).tolist()
    parts = ([getattr(block, name) for block in blocks] for name in ("X", "y", "weight"))
    return tuple(None if part[0] is None else np.concatenate(part) for part in parts)


def assert_same(rows, *expected, batch_size=None):
    for found, wanted in zip(together(rows, batch_size), expected):
        assert (found is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---------------------------------------------------------------------- every kind


@every_kind
@pytest.mark.parametrize("batch_size", [None, 1, 7, 100])
def test_a_pass_gives_every_row_once_in_order(rows, batch_size):
    assert_same(rows, X, y, w, batch_size=batch_size)
    assert rows.n_rows in (None, N) and rows.is_local and not rows.is_sparse


@every_kind
def test_reduce_returns_a_new_accumulator_and_leaves_the_given_one_empty(rows):
    empty = ClassCounts()
    counts = rows.reduce(empty)
    assert empty.n_rows == 0 and not len(empty.classes)
    assert counts.n_rows == N and counts.counts.tolist() == np.bincount(y).tolist()
    np.testing.assert_allclose(counts.weights, np.bincount(y, w))


@every_kind
def test_to_array_load_and_head(rows):
    np.testing.assert_array_equal(rows.to_array(), X)
    loaded = rows.load()
    assert loaded.random_access
    assert_same(loaded, X, y, w)
    for count in (1, 9, N, 50):
        head = rows.head(count)
        np.testing.assert_array_equal(head.X, X[:count])
        np.testing.assert_array_equal(head.y, y[:count])


@every_kind
@given(chosen=st.sets(st.integers(0, N - 1), min_size=1))
def test_taken_rows_carry_labels_and_weights_and_positions_of_their_own(rows, chosen):
    index = np.array(sorted(chosen))
    taken = rows.take(index)
    assert (taken.n_rows, taken.n_columns) == (len(index), 4)
    found = taken.reduce(Collect()).block()
    for name, values in (("X", X), ("y", y), ("weight", w)):
        np.testing.assert_array_equal(getattr(found, name), values[index])
    np.testing.assert_array_equal(taken.to_array(), X[index])
    np.testing.assert_array_equal(taken.head(2).X, X[index[:2]])


@every_kind
def test_labels_of_ones_own_replace_those_of_the_source(rows):
    labelled = as_rows(rows, y[::-1])
    assert_same(labelled, X, y[::-1], None)
    assert labelled.random_access == rows.random_access


@every_kind
def test_applied_rows_are_the_map_of_the_rows(rows):
    V = rng.normal(size=(4, 2))
    applied = rows.apply(Affine.of(V))
    assert_same(applied, X @ V, y, w)
    assert applied.n_columns == 2 and applied.dtype == rows.dtype
    assert (applied.n_rows, applied.random_access) == (rows.n_rows, rows.random_access)
    nested = rows.apply(WithConstant()).apply(Affine.of(np.eye(5)))
    np.testing.assert_allclose(nested.to_array(), np.column_stack([X, np.ones(N)]))
    np.testing.assert_array_equal(nested.reduce(ClassCounts()).counts, np.bincount(y))


@every_kind
def test_encoded_labels_are_indices_into_the_classes_and_weights_are_multiplied(rows):
    names = np.array(["iris", "rose", "tulip"])
    text = as_rows(rows, names[y], w)
    encoded = text.map(EncodeLabels(names, np.array([1.0, 10.0, 0.0])))
    assert_same(encoded, X, y, w * np.array([1.0, 10.0, 0.0])[y])
    with pytest.raises(ValueError, match="a label 'tulip' that it did not have before"):
        together(text.map(EncodeLabels(names[:2])))


@every_kind
def test_an_iteration_that_is_left_early_leaves_nothing_behind(rows):
    assert next(iter(rows.blocks(3))).start == 0
    assert_same(rows, X, y, w)


# ---------------------------------------------------------------------- what a new kind gets


@pytest.mark.parametrize("batch_size", [None, 1, 7, 25, 100])
def test_random_access_rows_are_read_in_blocks(batch_size):
    X, y, weight = together(Squares(), batch_size)
    np.testing.assert_array_equal(X, Squares().rows(slice(None)))
    np.testing.assert_array_equal(y, Squares.y)
    assert weight is None and Squares().random_access
    np.testing.assert_array_equal(Squares().take(np.array([3, 3, 1])).rows(slice(None)), [[3, 9], [3, 9], [1, 1]])


def test_a_stream_may_not_know_its_length_and_has_no_random_access():
    assert Stream().n_rows is None and not Stream().random_access
    with pytest.raises(TypeError, match="Stream is read in order"):
        Stream().rows(slice(0, 2))


def test_columns_without_names_are_no_labels():
    with pytest.raises(TypeError, match=r"Stream has no column 'kind' to take labels from.*as_rows"):
        Stream().with_label("kind")


def test_rows_without_a_pass_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Rows,), {"n_columns": 1})()


def test_names_of_columns_stay_while_the_columns_do():
    class Named(Stream):
        names = ("a", "b", "c", "d")

    assert as_rows(Named(), y).names == Named().take(np.array([1])).names == ("a", "b", "c", "d")
    assert Named().apply(WithConstant()).names is None and ArrayRows(X).apply(WithConstant()).names is None


def test_a_function_that_leaves_out_all_rows_of_a_block():
    odd = Stream().map(lambda block: block.take(np.flatnonzero(block.X[:, 0] > 1)), n_rows=None)
    assert odd.n_rows is None
    np.testing.assert_array_equal(odd.reduce(Collect()).block().X, X[X[:, 0] > 1])


# ---------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    ("stored", "read"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.uint8, np.float64), (np.int64, np.float64)],
)
def test_arrays_are_read_in_a_floating_type_and_passed_as_they_are_stored(stored, read):
    whole = np.arange(30).reshape(10, 3)
    rows = ArrayRows(whole.astype(stored))
    assert rows.dtype == read and rows.rows(slice(2, 4)).dtype == read
    assert {block.X.dtype for block in rows.blocks(3)} == {np.dtype(stored)}
    assert rows.to_array().dtype == read
    doubled = rows.apply(Affine.of(2 * np.eye(3)))  # integers become floats before that
    np.testing.assert_array_equal(doubled.to_array(), 2 * whole)


def test_an_array_is_one_block_without_a_copy():
    (block,) = ArrayRows(X).blocks()
    assert block.X is X
    assert as_rows(KINDS["array"]) is KINDS["array"]
    made = as_rows(X, list(y), list(w))
    assert isinstance(made.y, np.ndarray) and made.weight.dtype == np.float64


def test_random_access_in_any_order_and_through_maps():
    rows = ArrayRows(X, y, w)
    index = np.array([4, 4, 19])
    taken = rows.take(index)
    np.testing.assert_array_equal(taken.y, y[index])
    np.testing.assert_array_equal(taken.take(np.arange(3)[::-1]).weight, w[index][::-1])
    reversed_columns = rows.apply(WithConstant()).apply(Affine.of(np.eye(5)[:, ::-1]))
    np.testing.assert_array_equal(reversed_columns.rows(index), np.column_stack([np.ones(N), X[:, ::-1]])[index])
    np.testing.assert_array_equal(reversed_columns.take(index).y, y[index])
    assert ArrayRows(X).take(index).y is None


def test_sparse_rows_stay_sparse():
    thin = np.where(X > 0, X, 0).astype(np.float32)
    rows = as_rows(sparse.coo_array(thin))
    assert rows.is_sparse and rows.dtype == np.float32
    chosen = rows.rows(np.array([7, 0, 7]))
    assert sparse.issparse(chosen) and chosen.dtype == np.float32
    np.testing.assert_array_equal(chosen.toarray(), thin[[7, 0, 7]])
    np.testing.assert_array_equal(rows.to_array(), thin)
    assert rows.cache() is rows


def test_memory_maps_are_not_read_as_a_whole(tmp_path):
    stored = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    rows = as_rows(stored)
    assert isinstance(rows.X, np.memmap)
    np.testing.assert_array_equal(rows.rows(slice(5, 8)), X[5:8])


# ---------------------------------------------------------------------- trials

TRIALS = rng.normal(size=(12, 3, 20)) + rng.normal(size=(12, 3, 1))


def samples(trials, *labels_and_weights):
    return as_rows(trials, *labels_and_weights).map(time_samples, n_columns=trials.shape[1], n_rows=None)


def test_second_moments_of_samples_are_weighted_means_of_covariances():
    labels, weights = np.arange(12) % 2, rng.uniform(0.5, 2, size=12)
    moments = collect_moments(samples(TRIALS, labels, weights))
    covariances = np.array([np.cov(trial, bias=True) for trial in TRIALS])
    for c in range(2):
        expected = np.average(covariances[labels == c], axis=0, weights=weights[labels == c])
        np.testing.assert_allclose(moments.second_moment(c).toarray(), expected, rtol=1e-10)
        assert moments.weights[c] == pytest.approx(weights[labels == c].sum())


@pytest.mark.parametrize("batch_size", [None, 1, 5])
def test_samples_of_trials_are_rows_in_order(batch_size):
    labels, weights = np.arange(12) % 2, np.linspace(1, 2, 12)
    expected = centred_trials(TRIALS).transpose(0, 2, 1).reshape(240, 3)
    rows = samples(TRIALS, labels, weights)
    assert_same(rows, expected, np.repeat(labels, 20), np.repeat(weights, 20) / 20, batch_size=batch_size)
    assert rows.n_rows is None and rows.dtype == np.float64
    assert samples(TRIALS.astype(np.float32)).dtype == np.float32


def test_trials_are_as_wide_as_their_numbers():
    trials = ArrayRows(np.zeros((5, 3, 7), dtype=np.float32))
    assert (trials.n_rows, trials.n_columns) == (5, 21)
    assert trials.rows(slice(0, 2)).shape == (2, 3, 7)
    np.testing.assert_allclose(centred_trials((100 * TRIALS).astype(np.int16)).mean(-1), 0, atol=1e-12)
