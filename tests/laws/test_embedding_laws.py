"""Propositions 1 and 2 of the GEM paper and their kin, on embeddings, not only subspaces."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eigenfeat.moments import DenseMoments, DualMoments
from eigenfeat.quotients import Regularisation, contrast, fisher
from eigenfeat.solvers import solve


def two_classes(seed, d=5, n=120):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    return X * (1 + y[:, None] * np.linspace(0, 1, d)) + y[:, None], y, rng


CRITERIA = {
    "pair": lambda m: contrast(m, [(0, 1)])[0],
    "covariance": lambda m: contrast(m, [(2, 1)], noise="covariance")[0],
    "rest": lambda m: contrast(m, [(1, m.pool(np.arange(3) != 1))])[0],
    "fisher": fisher,
    "total": lambda m: fisher(m, "total"),
}


def embedding(criterion, X, y):
    quotient = CRITERIA[criterion](DenseMoments().update(X, y))
    found = solve([quotient])[0]
    return (X - (0 if quotient.origin is None else quotient.origin)) @ found.toarray(), found.values


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(sorted(CRITERIA)))
def test_proposition_1_an_invertible_map_leaves_embeddings_as_they_were(seed, criterion):
    X, y, rng = two_classes(seed)
    A = np.linalg.qr(rng.normal(size=(5, 5)))[0] * rng.uniform(0.5, 3, size=5)
    before, values = embedding(criterion, X, y)
    after, moved = embedding(criterion, X @ A.T, y)
    np.testing.assert_allclose(moved, values, rtol=1e-6)
    gaps = np.abs(np.diff(values)) / np.abs(values).max()
    assume(gaps.min(initial=1) > 1e-4)  # near ties leave directions, not the space, undetermined
    np.testing.assert_allclose(after, before, atol=1e-5 * np.abs(before).max())


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([0.0, 0.1, 2.0]), dual=st.booleans())
def test_proposition_2_responses_are_uncorrelated_under_the_noise(seed, ridge, dual):
    X, y, _ = two_classes(seed)
    moments = (DualMoments if dual else DenseMoments)().update(X, y)
    (quotient,) = contrast(moments, [(0, 1)], regularisation=Regularisation(ridge=ridge))
    V = solve([quotient])[0].toarray()
    np.testing.assert_allclose(V.T @ quotient.noise.toarray() @ V, np.eye(V.shape[1]), atol=1e-7)
    if ridge == 0:
        responses = X[y == 1] @ V
        np.testing.assert_allclose(responses.T @ responses / len(responses), np.eye(V.shape[1]), atol=1e-7)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_swapping_signal_and_noise_inverts_eigenvalues(seed):
    X, y, _ = two_classes(seed)
    there, back = solve(contrast(DenseMoments().update(X, y), [(0, 1), (1, 0)]))
    np.testing.assert_allclose(there.values, 1 / back.values[::-1], rtol=1e-7)


def test_relabelling_permutes_the_pairs():
    X, y, _ = two_classes(3)
    renamed = np.array([2, 0, 1])[y]
    rule = Regularisation(ridge=0.2)
    before = solve(contrast(DenseMoments().update(X, y), [(0, 1), (2, 0)], regularisation=rule))
    after = solve(contrast(DenseMoments().update(X, renamed), [(2, 0), (1, 2)], regularisation=rule))
    for a, b in zip(before, after):
        np.testing.assert_allclose(b.values, a.values, rtol=1e-10)
        np.testing.assert_allclose(b.toarray(), a.toarray(), atol=1e-8)


@pytest.mark.parametrize("n", [400, 1600])
def test_the_spectrum_of_a_null_pair_fills_the_random_matrix_interval(n):
    """Both classes from one centred Gaussian: all structure is sampling noise, and its edges are known."""
    d, n1, n2 = n // 8, n, n // 2
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n1 + n2, d))
    y = np.repeat([0, 1], [n1, n2])
    values = solve(contrast(DenseMoments().update(X, y), [(0, 1)]))[0].values
    c1, c2 = d / n1, d / n2
    h = np.sqrt(c1 + c2 - c1 * c2)
    low, high = ((1 - h) / (1 - c2)) ** 2, ((1 + h) / (1 - c2)) ** 2
    fluctuation = 3 * d ** (-2 / 3)
    assert values[0] == pytest.approx(high, rel=fluctuation)
    assert values[-1] == pytest.approx(low, rel=2 * fluctuation)
