"""Cross-moments: the operator against its dense tensor, and Stein's identity."""

import numpy as np
import pytest
from score_models_for_tests import autoencoder, dense, mixture, spd

from eigenfeat.scores import cross_tensor
from eigenfeat.scores.cross_tensor import DenseTensor, StreamedTensor, centred_labels, score_second_moment
from eigenfeat.scores.gaussian import DensePrecision, GaussianMixtureDensity


@pytest.mark.parametrize("model", [mixture("full", 2, d=6), autoencoder(True, d=6), autoencoder(False, d=6)])
@pytest.mark.parametrize("order", [2, 3])
def test_products_over_row_blocks_are_those_of_the_dense_tensor(model, order, monkeypatch):
    rng = np.random.default_rng(0)
    n, d, k, r = 40, 6, 3, 5
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, k))
    labels = centred_labels(Y, rng.uniform(size=n))
    T = np.einsum("nc,n...->c...", labels, dense(model.tensors_at(X), d, order))
    monkeypatch.setattr(cross_tensor, "BLOCK_BYTES", 7 * d * 8)  # seven rows a block
    basis = rng.normal(size=(d, 4))
    for tensor, B in [(StreamedTensor(model, X, labels, order), np.eye(d)), (None, basis)]:
        tensor = tensor or StreamedTensor(model, X, labels, order).in_basis(basis)
        U, vectors = rng.normal(size=(k, r)), [rng.normal(size=(B.shape[1], r)) for _ in range(order)]
        images = [B @ v for v in vectors]
        if order == 2:
            expected = np.einsum("cij,ir,jr->cr", T, *images)
            expected_vectors = B.T @ np.einsum("cij,cr,jr->ir", T, U, images[1])
        else:
            expected = np.einsum("cijk,ir,jr,kr->cr", T, *images)
            expected_vectors = B.T @ np.einsum("cijk,cr,jr,kr->ir", T, U, *images[1:])
        scale = np.abs(T).max()
        np.testing.assert_allclose(tensor.label_products(*vectors), expected, atol=1e-10 * scale)
        np.testing.assert_allclose(tensor.vector_products(U, *vectors[1:]), expected_vectors, atol=1e-10 * scale)
    np.testing.assert_allclose(StreamedTensor(model, X, labels, order).toarray(), T, atol=1e-10 * scale)


@pytest.mark.parametrize(
    "model", [mixture("full", 1, d=6), mixture("full", 2, d=6), autoencoder(True, d=6), autoencoder(False, d=6)]
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_prepared_moments_are_the_same_moments(model, order, monkeypatch):
    """In a basis of a basis, with value and slope from shared projections."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 3))
    monkeypatch.setattr(cross_tensor, "PREPARED_BLOCK_ROWS", 7)
    first, second = rng.normal(size=(6, 5)), rng.normal(size=(5, 4))
    tensor = StreamedTensor(model, X, centred_labels(Y), order).in_basis(first)
    prepared, tensor = tensor.prepared().in_basis(second), tensor.in_basis(second)
    V, U = rng.normal(size=(4, 5)), rng.normal(size=(3, 5))
    scale = np.abs(tensor.toarray()).max()
    shared, separate = prepared.along(V), tensor.along(V)
    np.testing.assert_allclose(shared.label_products(), separate.label_products(), atol=1e-10 * scale)
    np.testing.assert_allclose(shared.vector_products(U), separate.vector_products(U), atol=1e-10 * scale)
    np.testing.assert_allclose(prepared.toarray(), tensor.toarray(), atol=1e-10 * scale)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_products_along_vectors_from_half_of_an_array(order):
    """Values and slopes share a contraction; both are those of the whole array."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    tensor = DenseTensor(StreamedTensor(mixture("full", 2, d=5), X, centred_labels(Y), order).toarray())
    V, U = rng.normal(size=(5, 7)), rng.normal(size=(3, 7))
    along, scale = tensor.along(V), np.abs(tensor.array).max()
    np.testing.assert_allclose(along.label_products(), tensor.label_products(*[V] * order), atol=1e-10 * scale)
    expected = tensor.vector_products(U, *[V] * (order - 1))
    np.testing.assert_allclose(along.vector_products(U), expected, atol=1e-10 * scale)


def test_batches_average_to_the_whole():
    rng = np.random.default_rng(0)
    X, Y, V = rng.normal(size=(30, 5)), rng.normal(size=(30, 2)), rng.normal(size=(5, 3))
    tensor = StreamedTensor(autoencoder(False), X, centred_labels(Y), 3)
    parts = [tensor.batch(rows).label_products(V, V, V) for rows in np.split(rng.permutation(30), 5)]
    np.testing.assert_allclose(np.mean(parts, axis=0), tensor.label_products(V, V, V), rtol=1e-10)


@pytest.mark.parametrize("n_mixture", [1, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_steins_identity(n_mixture, order):
    """E[G(x) S_m(x)(v, ..., v)] = E[∂ᵐG along v] within five standard errors, G a cubic."""
    rng = np.random.default_rng(order)
    n, d = 400_000, 3
    means = 0.7 * rng.normal(size=(n_mixture, d))
    covariances = [spd(rng, d) for _ in range(n_mixture)]
    density = GaussianMixtureDensity(
        np.full(n_mixture, 1 / n_mixture), means, tuple(DensePrecision(C) for C in covariances)
    )
    which = rng.integers(n_mixture, size=n)
    roots = np.array([np.linalg.cholesky(C) for C in covariances])
    X = means[which] + np.einsum("nij,nj->ni", roots[which], rng.normal(size=(n, d)))
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    v = w[:, None] + 0.2 * rng.normal(size=(d, 1))
    t = X @ w
    G = t**3 / 6 + t**2 / 2 + t + rng.normal(size=n)
    derivative = {1: t**2 / 2 + t + 1, 2: t + 1, 3: np.ones(n)}[order] * (w @ v) ** order
    difference = (G - G.mean())[:, None] * density.tensors_at(X).form(*[v] * order) - derivative[:, None]
    assert abs(difference.mean()) < 5 * difference.std() / np.sqrt(n)
    assert abs(derivative.mean()) > 5 * difference.std() / np.sqrt(n)  # the test can tell


def test_score_second_moment_of_a_gaussian_is_its_precision():
    rng = np.random.default_rng(0)
    C = spd(rng, 4)
    density = GaussianMixtureDensity(np.ones(1), np.zeros((1, 4)), (DensePrecision(C),))
    X = rng.multivariate_normal(np.zeros(4), C, size=200_000)
    np.testing.assert_allclose(score_second_moment(density, X).toarray(), np.linalg.inv(C), atol=0.05)
