"""Score tensors of an auto-encoder against finite differences of its reconstruction."""

import itertools

import numpy as np
import pytest
from score_models_for_tests import autoencoder, dense, gradient

from eigenfeat.scores.autoencoder import HiddenLayer


@pytest.mark.parametrize("sigmoid_output", [False, True])
def test_autoencoder_scores_are_derivatives_of_its_reconstruction(sigmoid_output):
    """S1 = (x - r)/σ²; H and K are the symmetric parts of its first and second derivative."""
    model, d = autoencoder(sigmoid_output), 5
    x = np.random.default_rng(3).normal(size=d)

    def s(point):
        return (point - model.reconstruct(point[None])[0]) / model.corruption_variance

    tensors = model.tensors_at(x[None])
    np.testing.assert_allclose(model.jacobian(x), gradient(lambda z: model.reconstruct(z[None])[0], x), atol=1e-8)
    H = gradient(s, x)
    K = gradient(lambda z: (np.eye(d) - model.jacobian(z)) / model.corruption_variance, x)
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_hidden_layer_is_a_stage(dtype):
    model, X = autoencoder(False, d=5, h=3), np.random.default_rng(0).normal(size=(4, 5)).astype(dtype)
    layer = HiddenLayer(model)
    assert layer.n_columns(5) == 3
    hidden = layer.astype(X.dtype).apply(X)
    assert hidden.dtype == dtype
    np.testing.assert_array_equal(hidden, model.encode(X))
