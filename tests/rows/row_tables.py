"""A small table in memory, and what a source of the same rows must give."""

import numpy as np
import pytest

from eigenfeat.moments import collect_moments
from eigenfeat.rows import as_rows
from eigenfeat.rows.block import dense

rng = np.random.default_rng(0)
N = 211
NAMES = ["a", "b", "c", "d"]
X = np.round(rng.normal(size=(N, 4)) * [1, 5, 0.1, 2] + [0, 100, 3, -1], 6)
TEXT = np.array(["rose", "tulip", "iris"])[rng.integers(3, size=N)]
CODES = np.searchsorted(["iris", "rose", "tulip"], TEXT)
WEIGHTS = np.round(rng.exponential(size=N), 6)

chunkings = pytest.mark.parametrize("batch_size", [None, 1, 50, 211, 1000])


def table(dtype=np.float64):
    """All columns by name, as pyarrow, pandas and polars take them."""
    features = {name: X[:, j].astype(dtype) for j, name in enumerate(NAMES)}
    return {**features, "kind": TEXT, "code": CODES, "w": WEIGHTS}


def assert_same(source, rows=X, labels=None, weights=None, batch_size=None):
    """A pass gives these rows, labels and weights in order, and their moments to 1e-12, twice."""
    for _ in range(2):
        blocks = list(source.blocks(batch_size))
        assert [block.start for block in blocks] == list(np.cumsum([0, *(len_of(b) for b in blocks)])[:-1])
        if batch_size is not None:
            assert {len_of(block) for block in blocks[:-1]} <= {batch_size}
        together = np.concatenate([dense(block.X) for block in blocks])
        assert together.dtype == source.dtype and together.shape == (len(rows), source.n_columns)
        np.testing.assert_array_equal(together, rows.astype(source.dtype))
        for part, expected in (("y", labels), ("weight", weights)):
            found = [getattr(block, part) for block in blocks]
            if expected is None:
                assert set(map(type, found)) == {type(None)}
            else:
                np.testing.assert_array_equal(np.concatenate(found), expected)
        assert source.n_rows == len(rows)
    assert_same_moments(source, rows, labels, weights)


def assert_same_moments(source, rows, labels=None, weights=None):
    found = collect_moments(source)
    expected = collect_moments(as_rows(rows.astype(source.dtype)), labels, weights)
    np.testing.assert_array_equal(found.classes, expected.classes)
    np.testing.assert_array_equal(found.counts, expected.counts)
    tolerance = 1e-12 if source.dtype == np.float64 else 1e-6
    for c in range(len(found.classes)):
        np.testing.assert_allclose(found.means[c], expected.means[c], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(
            found.covariance(c).toarray(), expected.covariance(c).toarray(), rtol=tolerance, atol=30 * tolerance
        )


def len_of(block):
    return block.X.shape[0]
