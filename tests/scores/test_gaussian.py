"""Score tensors of Gaussians and mixtures against finite differences of their densities."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from score_models_for_tests import dense, gradient, mixture, standard_gaussian

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
