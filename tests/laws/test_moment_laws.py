"""Any split and order of the rows gives the same moments, of classes and of targets."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.moments import CrossMoments, DenseMoments


def labelled_rows(rng, n=200, d=4, k=3, shift=0.0):
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d) + shift
    return X, rng.integers(k, size=n)


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(0, 200), max_size=5), weighted=st.booleans())
def test_any_split_and_order_merges_to_the_same_moments(seed, cuts, weighted):
    rng = np.random.default_rng(seed)
    X, y = labelled_rows(rng)
    weights = rng.exponential(size=len(X)) if weighted else np.ones(len(X))
    order = rng.permutation(len(X))
    edges = [0, *sorted(cuts), len(X)]
    whole = DenseMoments(track_fourth=True).update(X, y, weights)
    merged = DenseMoments(track_fourth=True)
    for a, b in pairwise(edges):
        part = order[a:b]
        merged.merge(DenseMoments(track_fourth=True).update(X[part], y[part], weights[part]))
    for c in range(3):
        assert relative(merged.covariance(c).matrix, whole.covariance(c).matrix) < 1e-12
        assert relative(merged.second_moment(c).matrix, whole.second_moment(c).matrix) < 1e-12
    assert merged.fourth_moment() == pytest.approx(whole.fourth_moment(), rel=1e-11)
    assert merged.weights.sum() == pytest.approx(weights.sum())


@pytest.mark.parametrize("as_sparse", [False, True])
def test_cross_moments_against_numpy(as_sparse):
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(400, 5)) + 2, rng.normal(size=(400, 3))
    X[X < 1] = 0
    given_rows = sparse.csr_array(X) if as_sparse else X
    moments = CrossMoments().update(given_rows[:150], Y[:150]).merge(CrossMoments().update(given_rows[150:], Y[150:]))
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(moments.input_covariance(), joint[:5, :5], atol=1e-12)
    np.testing.assert_allclose(moments.cross(), joint[:5, 5:], atol=1e-12)
    np.testing.assert_allclose(moments.target_covariance(), joint[5:, 5:], atol=1e-12)
    np.testing.assert_allclose(moments.input_mean, X.mean(0))
