"""Samples and splits depend on the rows alone: not on order or blocks, nor on whether rows are weighted or repeated."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from eigenfeat.rows import ArrayRows, Block, Rows
from eigenfeat.rows.keys import copy_keys, row_keys
from eigenfeat.rows.sampling import (
    ClassBounds,
    DifferentRows,
    class_samples,
    parts_of,
    ranked_splits,
    sampled,
    sampled_by_class,
    splits_in_order,
)
from eigenfeat.stages import Affine

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
    expected = table(sampled(ArrayRows(X, None, weights.astype(float)), count))
    np.testing.assert_array_equal(table(sampled(ArrayRows(repeated), count)), expected)
    shuffled = repeated[rng.permutation(len(repeated))]
    for step in (7, 90, 10_000):
        np.testing.assert_array_equal(table(sampled(InBlocks(shuffled, step), count)), expected)


def test_a_sample_is_bounded_and_uniform():
    values = np.arange(50_000.0).reshape(-1, 1)
    sample = sampled(ArrayRows(values), 2000)
    assert len(sample.X) == len(np.unique(sample.X)) == 2000
    assert abs(sample.X.mean() / 25_000 - 1) < 5 / np.sqrt(3 * 2000)  # five standard errors of a uniform law


def test_the_range_is_that_of_all_rows_that_count():
    values = np.arange(50_000.0).reshape(-1, 1)
    sample = sampled(ArrayRows(values, None, (values[:, 0] > 0).astype(float)), 10)
    assert (sample.low, sample.high) == (1, 49_999)


def test_sparse_rows_stay_sparse():
    thin = sparse.csr_array(np.where(X > 0, X, 0))
    sample = sampled(ArrayRows(thin), 40)
    assert sparse.issparse(sample.X) and sample.X.shape == (40, 3)
    assert sample.low.tolist() == [0, 0, 0] and sample.high.tolist() == X.max(axis=0).tolist()


def test_rows_without_weight_are_refused():
    with pytest.raises(ValueError, match="no row of positive weight"):
        sampled(ArrayRows(X, None, np.zeros(500)), 10)


def test_a_sample_is_in_the_order_of_its_keys_to_the_last_bit():
    for count in (60, 1000):
        one, two = (sampled(InBlocks(X[order], 90), count) for order in (slice(None), rng.permutation(500)))
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.weight, two.weight)


# ---------------------------------------------------------------------- of every class

Z, Y = rng.normal(size=(2000, 2)), rng.integers(0, 3, 2000)
W = rng.integers(0, 3, 2000).astype(float)


class Stream(Rows):
    """Labelled rows that can only be read in order."""

    n_columns, dtype = 2, np.dtype(np.float64)

    def __init__(self, Z, Y, W, step=300):
        self.rows, self.step = ArrayRows(Z, Y, W), step

    def blocks(self, batch_size=None):
        for block in self.rows.blocks(self.step):
            yield Block(block.X, block.y, block.weight, block.start)


@pytest.mark.parametrize("most", [100, 10**4])
def test_samples_of_classes_are_the_same_rows_wherever_they_live(most):
    counts, order = np.array([most, 0, most]), rng.permutation(2000)
    found = [
        list(class_samples(rows, counts, seed=5))
        for rows in (ArrayRows(Z, Y, W), Stream(Z, Y, W), Stream(Z[order], Y[order], W[order], 70))
    ]
    for (c, block), *others in zip(*found):
        assert c in (0, 2) and block.n_rows == min(most, np.sum((c == Y) & (W > 0))) and block.weight.min() > 0
        for other_class, other in others:
            assert other_class == c
            np.testing.assert_array_equal(other.X, block.X)
            np.testing.assert_array_equal(other.weight, block.weight)
    other_seed = dict(class_samples(ArrayRows(Z, Y, W), counts, seed=6))
    assert not np.array_equal(other_seed[0].X, found[0][0][1].X)


def test_equal_rows_of_a_class_are_one_row_of_their_weight():
    cells = np.repeat(np.arange(3.0), 50)[:, None]
    ((_, block),) = class_samples(ArrayRows(cells, np.zeros(150, dtype=int)), np.array([10]), seed=0)
    assert sorted(block.X.ravel()) == [0, 1, 2] and block.weight.tolist() == [50, 50, 50]


def test_only_rows_that_are_chosen_are_made():
    class Counted(ArrayRows):
        asked = []

        def rows(self, selection):
            block = super().rows(selection)
            self.asked.append(len(block))
            return block

    made = Counted(Z, Y, W).apply(Affine.of(np.eye(2)))
    sizes = [block.n_rows for _, block in class_samples(made, np.array([100, 100, 100]), seed=5)]
    assert Counted.asked == sizes == [100, 100, 100]


def seen_of(rows):
    return rows.reduce(DifferentRows())


def test_a_sample_by_class_is_of_different_rows_in_any_order_with_some_of_every_class():
    n, count = 12_000, 3000
    X, y = rng.normal(size=(n, 2)), (np.arange(n) % 2000 == 0).astype(int)
    keys = row_keys(X)
    chosen = ClassBounds.within(keys, y, None, count)
    assert abs(len(chosen) - count) < 5 and np.sum(y[chosen]) == 2
    order = rng.permutation(n)
    assert set(order[ClassBounds.within(keys[order], y[order], None, count)]) == set(chosen)
    stream = Stream(X[order], y[order], np.ones(n))
    block = sampled_by_class(stream, seen_of(stream), count)
    assert set(map(tuple, block.X)) == set(map(tuple, X[chosen])) and set(block.keys) == set(keys[chosen])
    repeated = np.repeat(np.arange(n), 1 + np.arange(n) % 3)
    again = ClassBounds.within(keys[repeated], y[repeated], None, count)
    assert set(repeated[again]) == set(chosen) and len(again) == np.sum(1 + chosen % 3)
    weights = np.ones(n)
    weights[chosen[:100]] = 0
    assert not set(ClassBounds.within(keys, y, weights, count)) & set(chosen[:100])


@pytest.mark.parametrize("count", [300, 10**4])
def test_of_cells_that_many_rows_fall_into_a_stream_has_the_copies_that_memory_has(count):
    cells = rng.integers(0, 3, size=(2000, 2)).astype(float)
    keys = copy_keys(row_keys(cells), Y, W)
    chosen = ClassBounds.within(keys, Y, W, count)
    expected = sorted(zip(map(tuple, cells[chosen]), Y[chosen], W[chosen], keys[chosen]))
    for order, step in ((np.arange(2000), 300), (rng.permutation(2000), 70)):
        stream = Stream(cells[order], Y[order], W[order], step)
        block = sampled_by_class(stream, seen_of(stream), count)
        assert sorted(zip(map(tuple, block.X), block.y, block.weight, block.keys)) == expected


# ---------------------------------------------------------------------- splits


@pytest.mark.parametrize("n_parts", [2, 5, 50])
def test_parts_are_known_from_a_key_alone_and_about_equally_large(n_parts):
    keys = row_keys(rng.normal(size=(20_000, 2)))
    parts = parts_of(keys, n_parts)
    np.testing.assert_array_equal(parts_of(keys[7:8], n_parts), parts[7:8])
    counts = np.bincount(parts, minlength=n_parts)
    assert len(counts) == n_parts and np.abs(counts * n_parts / 20_000 - 1).max() < 5 * np.sqrt(n_parts / 20_000)


def test_splits_by_rank_leave_every_row_out_once_and_equal_rows_together():
    keys, labels = np.repeat(row_keys(Z), 2), np.repeat(Y, 2)
    splits = ranked_splits(keys, labels, 3)
    np.testing.assert_array_equal(np.sort(np.concatenate([out for _, out in splits])), np.arange(4000))
    for train, out in splits:
        assert not set(keys[train]) & set(keys[out])


def test_a_class_is_never_left_out_whole():
    y = np.array([0] * 20 + [1])
    splits = ranked_splits(np.arange(21), y, 5)
    assert len(splits) == 5 and all(1 in y[train] for train, _ in splits)
    assert ranked_splits(np.zeros(6, dtype=int), np.arange(6) % 2, 5) == []


def test_folds_of_a_splitter_are_the_same_rows_in_any_order():
    splitter, order = StratifiedKFold(4), rng.permutation(2000)
    keys = row_keys(Z)
    splits = list(splits_in_order(splitter, np.argsort(keys), Y))
    again = splits_in_order(splitter, np.argsort(keys[order]), Y[order])
    for (train, out), (train_again, out_again) in zip(splits, again, strict=True):
        assert set(order[train_again]) == set(train) and set(order[out_again]) == set(out)
        assert np.abs(np.bincount(Y[out]) - np.bincount(Y) / 4).max() <= 1
