"""Samples of trials: moments of them are mean covariances of trials, whatever the blocks."""

import numpy as np
import pytest

from eigenfeat.moments import collect_moments
from eigenfeat.rows import ArrayRows, TimeSamples, as_row_source, centred_trials

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3, 20)) + rng.normal(size=(12, 3, 1))
y, w = np.arange(12) % 2, rng.uniform(0.5, 2, size=12)


def test_second_moments_are_weighted_means_of_covariances():
    moments = collect_moments(TimeSamples(as_row_source(X, y, w), 3))
    C = np.array([np.cov(trial, bias=True) for trial in X])
    for c in range(2):
        expected = np.average(C[y == c], axis=0, weights=w[y == c])
        np.testing.assert_allclose(moments.second_moment(c).toarray(), expected, rtol=1e-10)
        assert moments.weights[c] == pytest.approx(w[y == c].sum())


@pytest.mark.parametrize("batch_size", [None, 1, 5])
def test_blocks_hold_whole_trials_in_order(batch_size):
    blocks = list(TimeSamples(ArrayRows(X, y, w), 3).blocks(batch_size))
    rows = np.concatenate([block.X for block in blocks])
    np.testing.assert_allclose(rows, centred_trials(X).transpose(0, 2, 1).reshape(240, 3))
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), np.repeat(y, 20))
    np.testing.assert_allclose(np.concatenate([block.weight for block in blocks]), np.repeat(w, 20) / 20)
    assert [block.start for block in blocks] == np.cumsum([0] + [len(block.X) for block in blocks[:-1]]).tolist()


def test_no_block_is_larger_than_a_few_trials():
    long = np.broadcast_to(np.float32(1), (50, 8, 100_000))
    assert max(len(block.X) for block in TimeSamples(ArrayRows(long), 8).blocks()) == 100_000


def test_types():
    assert centred_trials(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(centred_trials((100 * X).astype(np.int16)).mean(-1), 0, atol=1e-12)
    assert TimeSamples(ArrayRows(X.astype(np.float32)), 3).dtype == np.float32
