"""Each criterion against the matrices its definition writes out."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from eigenfeat.moments import DenseMoments, DualMoments, as_form, weighted_sum
from eigenfeat.quotients import (
    Regularisation,
    contrast,
    fisher,
    oriented,
    principal,
)
from eigenfeat.solvers import solve


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=90, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(90, 6)) * (1 + y[:, None] * [0, 1, 0, 2, 0, 1]) + y[:, None] * [1, 0, 0, 0, 2, 0], y


def second_moment(X, about=0.0):
    return (X - about).T @ (X - about) / len(X)


@pytest.fixture(params=[DenseMoments, DualMoments])
def moments(request, rows):
    return request.param().update(*rows)


def test_pairs_are_second_moments_of_two_classes(rows, moments):
    X, y = rows
    (quotient,) = contrast(moments, [(2, 0)], regularisation=Regularisation(ridge=0.1))
    below = second_moment(X[y == 0])
    np.testing.assert_allclose(quotient.signal.toarray(), second_moment(X[y == 2]), atol=1e-12)
    np.testing.assert_allclose(quotient.noise.toarray(), below + 0.1 * np.trace(below) / 6 * np.eye(6), atol=1e-12)
    assert quotient.label == "2 vs 0"
    assert quotient.origin is None


def test_covariance_noise_takes_the_numerator_about_the_noise_mean(rows, moments):
    X, y = rows
    (quotient,) = contrast(moments, [(2, 0)], noise="covariance")
    mean = X[y == 0].mean(0)
    np.testing.assert_allclose(quotient.signal.toarray(), second_moment(X[y == 2], mean), atol=1e-12)
    np.testing.assert_allclose(quotient.noise.toarray(), second_moment(X[y == 0], mean), atol=1e-12)
    np.testing.assert_allclose(quotient.origin, mean, atol=1e-12)


def test_pairs_of_one_noise_class_share_the_noise_object(moments):
    a, b, c = contrast(moments, [(1, 0), (2, 0), (0, 1)], regularisation=Regularisation(ridge=0.1))
    assert a.noise is b.noise
    assert a.noise is not c.noise
    assert c.signal is not a.signal


def test_a_second_moment_above_and_below_is_held_once(rows):
    below, above = contrast(DenseMoments().update(*rows), [(1, 0), (0, 1)], regularisation=Regularisation(ridge=0.1))
    assert below.noise.matrix is above.signal.matrix
    assert np.all(below.noise.shift > 0) and not np.any(above.signal.shift)


def test_rest_and_all_are_pools_of_rows(rows, moments):
    X, y = rows
    for c in range(3):
        rest, everyone = contrast(moments, [(c, moments.pool(np.arange(3) != c)), (c, moments.class_fractions)])
        np.testing.assert_allclose(rest.signal.toarray(), second_moment(X[y == c]), atol=1e-12)
        np.testing.assert_allclose(rest.noise.toarray(), second_moment(X[y != c]), atol=1e-12)
        np.testing.assert_allclose(everyone.noise.toarray(), second_moment(X), atol=1e-12)


def test_a_contraction_mixes_classes_by_a_vector(rows, moments):
    X, y = rows
    u = np.array([0.2, 0.0, 0.8])
    (quotient,) = contrast(moments, [(u, 1)], ["mix vs 1"])
    expected = 0.2 * second_moment(X[y == 0]) + 0.8 * second_moment(X[y == 2])
    np.testing.assert_allclose(quotient.signal.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("weighting", ["share", "equal"])
def test_fisher_writes_out_between_and_within(rows, moments, weighting):
    X, y = rows
    u = np.bincount(y) / len(y) if weighting == "share" else np.full(3, 1 / 3)
    means = np.array([X[y == c].mean(0) for c in range(3)])
    apart = means - u @ means
    within = sum(u[c] * np.cov(X[y == c].T, bias=True) for c in range(3))
    between = (apart.T * u) @ apart
    for noise, expected in (("within", within), ("total", within + between)):
        quotient = fisher(moments, noise, weighting)
        np.testing.assert_allclose(quotient.signal.toarray(), between, atol=1e-12)
        np.testing.assert_allclose(quotient.signal_factor @ quotient.signal_factor.T, between, atol=1e-12)
        np.testing.assert_allclose(quotient.noise.toarray(), expected, atol=1e-12)


def test_within_and_total_share_directions(rows):
    moments = DenseMoments().update(*rows)
    within, total = solve([fisher(moments), fisher(moments, "total")])
    assert subspace_angles(within.toarray()[:, :1], total.toarray()[:, :1]).max() < 1e-7
    np.testing.assert_allclose(total.values, within.values / (1 + within.values), rtol=1e-10)


def test_principal_and_per_class_are_covariances_over_the_identity(rows, moments):
    X, y = rows
    np.testing.assert_allclose(principal(moments).signal.toarray(), np.cov(X.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(principal(moments).noise.toarray(), np.eye(6))
    for c, quotient in enumerate(contrast(moments, [(c, "identity") for c in range(3)])):
        np.testing.assert_allclose(quotient.noise.toarray(), np.eye(6))
        np.testing.assert_allclose(quotient.signal.toarray(), second_moment(X[y == c]), atol=1e-12)


def test_a_weighted_sum_of_noises(rows, moments):
    X, y = rows
    noise = weighted_sum([moments.covariance(0), as_form(np.eye(6))], [2.0, 0.5])
    expected = 2 * np.cov(X[y == 0].T, bias=True) + 0.5 * np.eye(6)
    np.testing.assert_allclose(oriented(moments, noise).noise.toarray(), expected, atol=1e-12)
