"""Score tensors against finite differences of the densities and fields they come from."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_models_for_tests import autoencoder, dense, gradient, mixture, standard_gaussian

KINDS = ["full", "diag", "tied", "factor"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_mixture", [1, 3])
def test_mixture_scores_are_derivatives_of_the_density(kind, n_mixture):
    """S1 = -∇p/p and S_m = s ⊗ S_{m-1} - ∇S_{m-1}, for m up to four."""
    density, d = mixture(kind, n_mixture), 4
    x = np.random.default_rng(1).normal(size=d)

    def at(point, order):
        return dense(density.tensors_at(point[None]), d, order)[0]

    p = np.exp(density.log_density(x[None]))[0]
    dp = gradient(lambda z: np.exp(density.log_density(z[None]))[0], x)
    np.testing.assert_allclose(at(x, 1), -dp / p, atol=1e-6)
    np.testing.assert_allclose(density.score1(x[None])[0], at(x, 1), atol=1e-12)
    d2p = gradient(lambda z: -np.exp(density.log_density(z[None]))[0] * density.score1(z[None])[0], x)
    np.testing.assert_allclose(at(x, 2), d2p / p, atol=1e-6)
    for order in (3, 4):
        lower = at(x, order - 1)
        expected = np.multiply.outer(lower, at(x, 1)) - gradient(lambda z, m=order - 1: at(z, m), x)
        np.testing.assert_allclose(at(x, order), expected, atol=1e-6 * np.abs(expected).max())


def test_log_density_is_scipys():
    from scipy.stats import multivariate_normal

    density = mixture("full", 2)
    X = np.random.default_rng(0).normal(size=(7, 4))
    covariances = [np.linalg.inv(precision.matrix) for precision in density.precisions]
    parts = [w * multivariate_normal(m, C).pdf(X) for w, m, C in zip(density.weights, density.means, covariances)]
    np.testing.assert_allclose(density.log_density(X), np.log(sum(parts)), rtol=1e-10)


def test_standard_gaussian_tensors_are_hermites():
    d = 3
    x = np.random.default_rng(0).normal(size=d)
    tensors, eye = standard_gaussian(d).tensors_at(x[None]), np.eye(d)
    cube = np.einsum("i,j,k->ijk", x, x, x)
    transpositions = np.einsum("ij,k->ijk", eye, x) + np.einsum("ik,j->ijk", eye, x) + np.einsum("jk,i->ijk", eye, x)
    np.testing.assert_allclose(dense(tensors, d, 1)[0], x)
    np.testing.assert_allclose(dense(tensors, d, 2)[0], np.outer(x, x) - eye)
    np.testing.assert_allclose(dense(tensors, d, 3)[0], cube - transpositions, atol=1e-14)


@pytest.mark.parametrize("sigmoid_output", [False, True])
def test_autoencoder_scores_are_derivatives_of_its_reconstruction(sigmoid_output):
    """S1 = (x - r)/σ²; H and K are the symmetric parts of its first and second derivative."""
    model, d = autoencoder(sigmoid_output), 5
    x = np.random.default_rng(3).normal(size=d)

    def s(point):
        return (point - model.reconstruct(point[None])[0]) / model.noise_variance

    tensors = model.tensors_at(x[None])
    np.testing.assert_allclose(model.jacobian(x), gradient(lambda z: model.reconstruct(z[None])[0], x), atol=1e-8)
    H = gradient(s, x)
    K = gradient(lambda z: (np.eye(d) - model.jacobian(z)) / model.noise_variance, x)
    assert np.allclose(H, H.T, atol=1e-8) != sigmoid_output
    H = (H + H.T) / 2
    K = sum(K.transpose(order) for order in itertools.permutations(range(3))) / 6
    S = s(x)
    S3 = np.einsum("i,j,k->ijk", S, S, S) + K
    for spec in ("ij,k->ijk", "ik,j->ijk", "jk,i->ijk"):
        S3 -= np.einsum(spec, H, S)
    np.testing.assert_allclose(model.score1(x[None])[0], S)
    np.testing.assert_allclose(dense(tensors, d, 1)[0], S)
    np.testing.assert_allclose(dense(tensors, d, 2)[0], np.outer(S, S) - H, atol=1e-6)
    np.testing.assert_allclose(dense(tensors, d, 3)[0], S3, atol=1e-6)


MODELS = {
    "gaussian": lambda: mixture("full", 1, d=5),
    "mixture": lambda: mixture("factor", 3, d=5),
    "linear": lambda: autoencoder(False),
    "sigmoid": lambda: autoencoder(True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16), equal=st.booleans())
def test_weighted_sums_agree_with_the_dense_tensor(name, order, seed, equal):
    rng = np.random.default_rng(seed)
    n, d, r = 6, 5, 4
    X, weights = rng.normal(size=(n, d)), rng.normal(size=(n, r))
    tensors = MODELS[name]().tensors_at(X)
    one = rng.normal(size=(d, r))
    vectors = [one if equal else rng.normal(size=(d, r)) for _ in range(order)]
    full = dense(tensors, d, order)
    if order == 1:
        expected_form, expected_sum = full @ vectors[0], full.T @ weights
    elif order == 2:
        expected_form = np.einsum("nij,ir,jr->nr", full, *vectors)
        expected_sum = np.einsum("nij,nr,jr->ir", full, weights, vectors[1])
    else:
        expected_form = np.einsum("nijk,ir,jr,kr->nr", full, *vectors)
        expected_sum = np.einsum("nijk,nr,jr,kr->ir", full, weights, *vectors[1:])
    np.testing.assert_allclose(tensors.form(*vectors), expected_form, rtol=1e-10, atol=1e-10 * np.abs(full).max())
    np.testing.assert_allclose(
        tensors.weighted_sum(weights, *vectors[1:]), expected_sum, atol=1e-10 * np.abs(expected_sum).max()
    )


@pytest.mark.parametrize("name", MODELS)
def test_float32_rows_give_float32_products(name):
    X = np.random.default_rng(0).normal(size=(4, 5))
    model, V = MODELS[name](), np.random.default_rng(1).normal(size=(5, 2))
    single = model.tensors_at(X.astype(np.float32))
    products = [
        single.form(*[V.astype(np.float32)] * 3),
        single.weighted_sum(np.ones((4, 2), np.float32), V.astype(np.float32), V.astype(np.float32)),
    ]
    double = model.tensors_at(X)
    exact = [double.form(V, V, V), double.weighted_sum(np.ones((4, 2)), V, V)]
    for product, reference in zip(products, exact):
        assert product.dtype == np.float32
        np.testing.assert_allclose(product, reference, rtol=1e-3, atol=1e-4 * np.abs(reference).max())
