"""Decomposition: planted components come back, and what tensorly finds on the dense tensor is found from products."""

import itertools

import numpy as np
import pytest
import tensorly
from score_models_for_tests import autoencoder, mixture, standard_gaussian
from tensorly.decomposition import parafac

from eigenfeat.scores.components import Components, fit_label_factors, refine, unit_columns
from eigenfeat.scores.cross_tensor import StreamedTensor, DenseTensor, centred_labels
from eigenfeat.scores.decomposition import Deflated, Search, decompose, distinct, power_method
from eigenfeat.scores.quality import fit_quality
from eigenfeat.scores.spectral import extreme_components, singular_components
from eigenfeat.scores.stochastic import Batches, decompose_stochastically

SEARCH = Search(n_init=8, max_iter=300, tol=1e-9)


def incoherent(rng, d, r, most=0.6):
    """Unit columns, no two of which have a larger cosine."""
    columns = []
    while len(columns) < r:
        w = rng.normal(size=d)
        w /= np.linalg.norm(w)
        if all(abs(w @ other) <= most for other in columns):
            columns.append(w)
    return np.array(columns).T


def planted(W, n, seed, n_labels=1, link=lambda t: t**3 / 6):
    """y = Σ_r a_r g(w_r·x) under a standard Gaussian, and the tensor that should show the w_r."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(W)))
    A = rng.uniform(1, 2, size=(n_labels, W.shape[1])) * rng.choice([-1, 1], size=(n_labels, W.shape[1]))
    return StreamedTensor(standard_gaussian(len(W)), X, centred_labels(link(X @ W) @ A.T), 3)


def worst_cosine(W, found):
    return np.abs(W.T @ found.vectors).max(axis=1).min()


CASES = {
    "orthogonal": lambda rng: np.linalg.qr(rng.normal(size=(10, 10)))[0],
    "not orthogonal": lambda rng: incoherent(rng, 10, 8),
    "more than dimensions": lambda rng: incoherent(rng, 8, 12),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_components_come_back(case, seed):
    W = CASES[case](np.random.default_rng(seed))
    tensor = planted(W, 100_000, seed).condensed()
    found = decompose(tensor, W.shape[1], np.random.default_rng(0), SEARCH).components
    assert found.count == W.shape[1]
    assert worst_cosine(W, found) > 0.95


def test_planted_components_of_a_saturating_link_and_several_labels():
    W = incoherent(np.random.default_rng(2), 8, 10)
    tensor = planted(W, 100_000, 2, n_labels=4, link=lambda t: np.tanh(2 * t)).condensed()
    found = decompose(tensor, 10, np.random.default_rng(0), SEARCH).components
    assert worst_cosine(W, found) > 0.95


def test_stochastic_updates_recover_planted_components():
    W = incoherent(np.random.default_rng(3), 10, 6)
    tensor = planted(W, 50_000, 3)
    batches = Batches(size=4000, n_batches=10)
    found = decompose_stochastically(tensor, 6, np.random.default_rng(0), batches, Search(max_iter=30)).components
    assert worst_cosine(W, found) > 0.95


@pytest.mark.parametrize("model", [mixture("full", 2, d=6), autoencoder(False, d=6)])
def test_fit_is_as_good_as_tensorlys_on_the_dense_tensor(model):
    """tensorly is free to use three different vectors a component, which can only help it."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 6)), rng.normal(size=(300, 2))
    tensor = StreamedTensor(model, X, centred_labels(Y), 3)
    T = tensor.toarray()
    found = decompose(tensor.condensed(), 6, np.random.default_rng(0), SEARCH).components
    ours = np.einsum("kr,ir,jr,lr->kijl", found.labels, *[found.vectors] * 3)
    theirs = tensorly.cp_to_tensor(parafac(T, 6, n_iter_max=500, tol=1e-10, random_state=0))
    assert np.linalg.norm(T - ours) <= 1.01 * np.linalg.norm(T - theirs)


@pytest.mark.parametrize("n_features", [5, 14])
def test_reported_error_is_the_dense_one(n_features):
    """Exactly where every coordinate can be probed, to a few per cent where probes are random."""
    rng = np.random.default_rng(0)
    n_labels = 2 if n_features == 5 else 12
    T = rng.normal(size=(n_labels,) + (n_features,) * 3)
    T = sum(
        T.transpose(0, *(1 + np.array(p))) for p in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
    )
    tensor = DenseTensor(T)
    found = refine(tensor, fit_label_factors(tensor, unit_columns(rng.normal(size=(n_features, 4)))).components, 50, 1e-9)
    quality = fit_quality(tensor, found.components, np.random.default_rng(1))
    full = np.einsum("kr,ir,jr,lr->kijl", found.components.labels, *[found.components.vectors] * 3)
    rtol = 1e-10 if n_features == 5 else 0.1
    np.testing.assert_allclose(quality.relative_error, np.linalg.norm(T - full) / np.linalg.norm(T), rtol=rtol)
    np.testing.assert_allclose(quality.squared_norm, np.sum(T**2), rtol=2 * rtol)
    assert quality.residuals.max() < 1e-2


def test_the_joint_fit_never_raises_the_error_and_its_gradient_vanishes():
    rng = np.random.default_rng(0)
    tensor = planted(incoherent(rng, 6, 5), 5000, 0).condensed()
    start = fit_label_factors(tensor, unit_columns(rng.normal(size=(6, 5))))
    errors = [refine(tensor, start.components, n, 0.0).error for n in (1, 5, 25, 125)]
    assert all(later <= earlier + 1e-12 for earlier, later in zip([start.error, *errors], errors))
    at_end = refine(tensor, start.components, 500, 0.0).components
    assert fit_quality(tensor, at_end, rng).residuals.max() < 2e-3  # the label ridge leaves a thousandth


def test_every_start_of_the_power_method_climbs():
    rng = np.random.default_rng(0)
    tensor = planted(incoherent(rng, 6, 9), 5000, 0).condensed()
    V = unit_columns(rng.normal(size=(6, 30)))
    tensor = Deflated(tensor, Components.none(tensor))
    values = [power_method(tensor, V, n, 0.0)[1] for n in (1, 3, 10, 100)]
    assert all((later >= earlier - 1e-12).all() for earlier, later in itertools.pairwise(values))
    tops, _ = power_method(tensor, V, 300, 1e-10)
    along = tensor.along(tops)
    slopes = along.vector_products(unit_columns(along.label_products()))
    np.testing.assert_allclose(unit_columns(slopes), tops, atol=1e-6)


def test_deflation_takes_off_what_was_found():
    W = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0][:, :3]
    tensor = np.einsum("r,ir,jr,lr->ijl", [3.0, 2.0, 1.0], W, W, W)[None]
    tensor = DenseTensor(tensor)
    left = Deflated(tensor, Components(W[:, :2], np.array([[3.0, 2.0]]), 3))
    V = np.random.default_rng(1).normal(size=(6, 4))
    np.testing.assert_allclose(left.along(V).label_products(), (W[:, 2] @ V)[None] ** 3, atol=1e-12)


def test_distinct_columns_ignore_sign_and_scale_of_noise():
    V = np.eye(4)[:, [0, 1, 0, 2, 1]] * [1, 1, -1, 1, -1]
    assert distinct(V).tolist() == [0, 1, 3]
    assert distinct(V, np.eye(4)[:, [2]]).tolist() == [0, 1]


def test_first_order_is_the_svd_of_the_moment():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 5)), rng.normal(size=(200, 3))
    tensor = StreamedTensor(standard_gaussian(5), X, centred_labels(Y), 1)
    found = singular_components(tensor, 3)
    np.testing.assert_allclose(found.labels @ found.vectors.T, (Y - Y.mean(0)).T @ X / 200, atol=1e-12)


def test_second_order_components_sum_to_each_labels_matrix():
    """Σ λ w wᵀ over all components of a label is its matrix, whatever the noise it was a quotient with."""
    from eigenfeat.moments.forms import DenseForm

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=(300, 1))
    tensor = StreamedTensor(mixture("full", 2), X, centred_labels(y), 2)
    A = rng.normal(size=(4, 4))
    N = A @ A.T + np.eye(4)
    K = np.linalg.inv(np.linalg.cholesky(N)).T
    found = extreme_components(tensor, DenseForm(N), K, 4)
    W = N @ K @ found.vectors
    M = tensor.matrix(np.ones(1))
    assert np.linalg.eigvalsh(M)[0] < 0 < np.linalg.eigvalsh(M)[-1]
    np.testing.assert_allclose((W * found.labels[0]) @ W.T, M, atol=1e-10)
    assert (np.diff(np.abs(found.labels[0])) <= 1e-12).all()
