"""One pass over any source of the same rows gives the same moments."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import DenseMoments, DualMoments, collect_moments, empty_moments
from eigenfeat.rows import ArrayRows, Block, Rows
from eigenfeat.stages import Affine

rng = np.random.default_rng(0)
N, D = 90, 6
X = np.where(rng.random((N, D)) < 0.6, rng.normal(size=(N, D)) + 1, 0.0)
y = rng.integers(3, size=N)
w = rng.exponential(size=N)
MIX = rng.normal(size=(D, D)) + 3 * np.eye(D)


class Stream(Rows):
    """Rows in order, in batches of uneven size, of a length nobody has counted."""

    n_columns = D
    dtype = np.dtype(np.float64)

    def blocks(self, batch_size=None):
        for start, stop in ((0, 1), (1, 40), (40, 41), (41, N)):
            yield Block(X[start:stop], y[start:stop], w[start:stop], start=start)


def memory_map(tmp_path):
    stored = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


order = rng.permutation(N)
SOURCES = {
    "array": lambda path: (X, y, w),
    "Fortran order": lambda path: (np.asfortranarray(X), y, w),
    "CSR": lambda path: (sparse.csr_array(X), y, w),
    "CSC": lambda path: (sparse.csc_array(X), y, w),
    "memory map": lambda path: (memory_map(path), y, w),
    "array with labels of its own": lambda path: (ArrayRows(X, y, w), None, None),
    "labelled": lambda path: (ArrayRows(X, y[::-1]).with_labels(y, w), None, None),
    "labels given beside a source": lambda path: (ArrayRows(X), y, w),
    "chosen, in another order": lambda path: (ArrayRows(X, y, w).take(order), None, None),
    "mapped": lambda path: (ArrayRows(X @ np.linalg.inv(MIX), y, w).apply(Affine.of(MIX)), None, None),
    "stream": lambda path: (Stream(), None, None),
    "stream with labels given": lambda path: (Stream().with_labels(y, w), None, None),
    "mapped stream": lambda path: (Stream().apply(Affine.of(np.eye(D))), None, None),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_of_the_same_rows_gives_the_same_moments(kind, tmp_path):
    rows, labels, weights = SOURCES[kind](tmp_path)
    expected = DenseMoments(track_fourth=True).update(X, y, w)
    moments = collect_moments(rows, labels, weights, track_fourth=True)
    assert isinstance(moments, DenseMoments)
    np.testing.assert_array_equal(moments.classes, expected.classes)
    np.testing.assert_array_equal(moments.counts, expected.counts)
    np.testing.assert_allclose(moments.weights, expected.weights)
    np.testing.assert_allclose(moments.means, expected.means, atol=1e-10)
    for c in range(3):
        np.testing.assert_allclose(moments.covariance(c).toarray(), expected.covariance(c).toarray(), atol=1e-10)
    assert moments.fourth_moment(center="class") == pytest.approx(expected.fourth_moment(center="class"))


def test_the_form_follows_the_shape():
    wide = X[:4]
    assert isinstance(collect_moments(wide), DualMoments)
    assert isinstance(collect_moments(X), DenseMoments)
    # A part of more rows to come, and a stream of unknown length, are kept as matrices.
    assert isinstance(collect_moments(wide, n_rows=N), DenseMoments)
    assert isinstance(empty_moments(None, 1000), DenseMoments)
    np.testing.assert_allclose(
        collect_moments(wide).covariance().toarray(), collect_moments(wide, n_rows=N).covariance().toarray(), atol=1e-12
    )


def test_classes_known_beforehand_are_there_without_rows():
    moments = collect_moments(X, y, classes=np.array([0, 1, 2, 7]))
    np.testing.assert_array_equal(moments.classes, [0, 1, 2, 7])
    assert moments.counts[3] == 0


def test_without_labels_all_rows_are_one_class():
    moments = collect_moments(X)
    assert moments.n_classes == 1
    np.testing.assert_allclose(moments.covariance(0).toarray(), np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("empty", [DenseMoments, DualMoments], ids=lambda cls: cls.__name__)
def test_moments_are_accumulators_of_blocks(empty):
    expected = empty().update(X[:40], y[:40], w[:40]).merge(empty().update(X[40:], y[40:], w[40:]))
    by_blocks = empty().update(Block(X[:40], y[:40], w[:40])).merge(empty().update(Block(X[40:], y[40:], w[40:], 40)))
    for moments in (by_blocks, Stream().reduce(empty())):
        np.testing.assert_allclose(moments.means, expected.means, atol=1e-12)
        np.testing.assert_allclose(moments.covariance().toarray(), expected.covariance().toarray(), atol=1e-12)
