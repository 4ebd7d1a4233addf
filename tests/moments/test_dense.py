"""Moments as matrices: precision, weights, types, labels."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import DenseMoments, DualMoments, collect_moments, merged_moments


def labelled_rows(rng, n=200, d=4, k=3, shift=0.0):
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d) + shift
    return X, rng.integers(k, size=n)


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def brute_force(X, y, label, weights):
    chosen, w = X[y == label].astype(np.longdouble), weights[y == label].astype(np.longdouble)
    mean = (w[:, None] * chosen).sum(0) / w.sum()
    centred = chosen - mean
    return mean, np.einsum("ni,nj,n->ij", centred, centred, w) / w.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_a_million_spreads_away_costs_no_precision(weighted):
    rng = np.random.default_rng(0)
    X, y = labelled_rows(rng, n=3000, shift=1e6)
    X[y == 1] -= 5e5  # each class far from zero and from the others
    weights = rng.exponential(size=len(X)) if weighted else np.ones(len(X))
    streamed = DenseMoments()
    for start in range(0, len(X), 170):
        rows = slice(start, start + 170)
        streamed.update(X[rows], y[rows], weights[rows])
    merged = DenseMoments().update(X[:1000], y[:1000], weights[:1000])
    merged.merge(DenseMoments().update(X[1000:], y[1000:], weights[1000:]))
    for c in range(3):
        mean, covariance = brute_force(X, y, c, weights)
        for moments in (streamed, merged):
            assert relative(moments.covariance(c).matrix, covariance.astype(float)) < 1e-10
            assert relative(moments.means[c], mean.astype(float)) < 1e-14


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(1)
    X, y = labelled_rows(rng)
    counts = rng.integers(0, 4, size=len(X))
    weighted = DenseMoments(track_fourth=True).update(X, y, counts.astype(float))
    repeated = DenseMoments(track_fourth=True).update(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert relative(weighted.within().matrix, repeated.within().matrix) < 1e-12
    assert weighted.fourth_moment(center="class") == pytest.approx(repeated.fourth_moment(center="class"))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int64, np.bool_])
def test_integers_are_not_multiplied_in_their_own_type(dtype):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2 if dtype == np.bool_ else 120, size=(500, 5)).astype(dtype)
    y = rng.integers(2, size=500)
    expected = DenseMoments().update(X.astype(float), y).second_moment(1).matrix
    assert relative(DenseMoments().update(X, y).second_moment(1).matrix, expected) < 1e-6


def test_float32_rows_are_summed_in_float64_across_blocks():
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(200_000, 3)) + 3).astype(np.float32)
    moments = DenseMoments().update(X)
    expected = X.astype(np.float64).T @ X.astype(np.float64) / len(X)
    assert relative(moments.second_moment(0).matrix, expected) < 1e-6
    assert moments.second_moment(0).dtype == np.float64


def test_sparse_rows_give_the_moments_of_dense_ones():
    rng = np.random.default_rng(4)
    X = sparse.random_array((300, 8), density=0.2, random_state=rng, format="csr")
    y = rng.integers(3, size=300)
    dense = DenseMoments(track_fourth=True).update(X.toarray(), y)
    mixed = DenseMoments(track_fourth=True).update(X[:100].toarray(), y[:100]).update(X[100:], y[100:])
    for moments in (DenseMoments(track_fourth=True).update(X, y), mixed):
        assert relative(moments.covariance().matrix, dense.covariance().matrix) < 1e-12
        assert moments.fourth_moment() == pytest.approx(dense.fourth_moment())


@pytest.mark.parametrize("labels", [["b", "a", "c"], [2.5, -1.0, 7.0], [True, False]])
def test_labels_of_any_type_and_classes_that_arrive_late(labels):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.array(labels)[rng.integers(len(labels), size=60)]
    late = np.argsort(y == labels[0], kind="stable")  # the first label only comes at the end
    streamed = DenseMoments().update(X[late][:20], y[late][:20]).update(X[late][20:], y[late][20:])
    whole = DenseMoments().update(X, y)
    np.testing.assert_array_equal(streamed.classes, np.unique(y))
    np.testing.assert_allclose(streamed.means, whole.means, rtol=1e-12)
    np.testing.assert_allclose(streamed.within().matrix, whole.within().matrix, rtol=1e-11)


def test_what_does_not_fit_is_refused():
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match="3 columns, the new rows 2"):
        DenseMoments().update(X).update(X[:, :2])
    with pytest.raises(TypeError, match="not with ndarray"):
        DenseMoments().update(X).merge(X)
    with pytest.raises(ValueError, match="track_fourth"):
        DenseMoments().update(X).fourth_moment()


def test_rows_kept_as_rows_join_the_matrices_of_the_others():
    """A last partition may have fewer rows than columns."""
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(60, 5)), rng.integers(3, size=60), rng.exponential(size=60)
    parts = [collect_moments(X[a:b], y[a:b], w[a:b]) for a, b in ((0, 3), (3, 57), (57, 60))]
    assert [type(part) for part in parts] == [DualMoments, DenseMoments, DualMoments]
    whole, expected = merged_moments(parts), DenseMoments().update(X, y, w)
    np.testing.assert_allclose(whole.weights, expected.weights)
    for c in range(3):
        np.testing.assert_allclose(whole.second_moment(c).toarray(), expected.second_moment(c).toarray(), rtol=1e-12)
    assert [int(part.counts.sum()) for part in parts] == [3, 54, 3]  # the parts are as they were
    with pytest.raises(ValueError, match="no moments to merge"):
        merged_moments([])
