"""Samples of classes are the same rows wherever these live, and all of them where they are few."""

import numpy as np

from eigenfeat.features.class_samples import ClassShares, class_samples
from eigenfeat.rows import ArrayRows, Block, Rows
from eigenfeat.stages import Affine

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2000, 2)), rng.integers(0, 3, 2000)
W = rng.integers(0, 3, 2000).astype(float)
COUNTS = np.bincount(Y[W > 0])


class Stream(Rows):
    n_columns, dtype = 2, np.dtype(np.float64)

    def blocks(self, batch_size=None):
        for start in range(0, 2000, 300):
            part = slice(start, min(start + 300, 2000))
            yield Block(X[part], Y[part], W[part], start=start)


def test_a_stream_has_the_sample_of_its_rows():
    asked = ClassShares.of([0, 2], COUNTS, 100, seed=5)
    held, streamed = dict(class_samples(ArrayRows(X, Y, W), asked)), dict(class_samples(Stream(), asked))
    assert list(held) == list(streamed) == [0, 2]
    for c, block in held.items():
        assert np.array_equal(block.X, streamed[c].X) and np.array_equal(block.weight, streamed[c].weight)
        assert 60 < block.n_rows < 140 and block.weight.min() > 0


def test_few_rows_are_all_taken():
    found = dict(class_samples(ArrayRows(X, Y, W), ClassShares.of([1], COUNTS, 10**4, seed=5)))
    assert np.array_equal(found[1].X, X[(Y == 1) & (W > 0)])


def test_rows_at_hand_are_copied_a_class_at_a_time_and_others_are_made_once():
    class Counted(ArrayRows):
        asked = []

        def rows(self, selection):
            block = super().rows(selection)
            self.asked.append(len(block))
            return block

    asked = ClassShares.of([0, 1, 2], COUNTS, 100, seed=5)
    at_hand = [block.n_rows for _, block in class_samples(Counted(X, Y, W), asked)]
    assert Counted.asked == at_hand
    Counted.asked.clear()
    made = Counted(X, Y, W).apply(Affine.of(np.eye(2)))
    assert [block.n_rows for _, block in class_samples(made, asked)] == at_hand
    assert Counted.asked == [sum(at_hand)]
