"""Score tensors of an auto-encoder against finite differences of its reconstruction."""

import itertools

import numpy as np
import pytest
from scipy.special import expit
from score_models_for_tests import autoencoder, dense, gradient

from eigenfeat.scores.autoencoder import HiddenLayer, sigmoid_derivative


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


@pytest.mark.parametrize("sigmoid_output", [False, True])
def test_fourth_order_is_the_recursion_of_differences(sigmoid_output):
    """S4 = Σ over partitions of derivatives of s, the third one the symmetric part of differences of the second."""
    model, d = autoencoder(sigmoid_output, d=3), 3
    x = np.random.default_rng(4).normal(size=d)

    def symmetric(T):
        orders = list(itertools.permutations(range(T.ndim)))
        return sum(T.transpose(order) for order in orders) / len(orders)

    def jacobian(z):
        return (np.eye(d) - model.jacobian(z)) / model.corruption_variance

    S = model.score1(x[None])[0]
    H, K = symmetric(jacobian(x)), symmetric(gradient(jacobian, x, 1e-4))
    L = symmetric(gradient(lambda z: gradient(jacobian, z, 1e-3), x, 1e-3))
    expected = np.einsum("i,j,k,l->ijkl", S, S, S, S) - L
    for i, j, k, l in itertools.permutations("ijkl"):  # every distinct term is met 4 (HSS), 8 (HH) or 6 (KS) times
        expected -= np.einsum(f"{i}{j},{k},{l}->ijkl", H, S, S) / 4
        expected += np.einsum(f"{i}{j},{k}{l}->ijkl", H, H) / 8
        expected += np.einsum(f"{i}{j}{k},{l}->ijkl", K, S) / 6
    found = dense(model.tensors_at(x[None]), d, 4)[0]
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("sigmoid_output", [False, True])
def test_derivatives_of_any_order_are_those_written_out(sigmoid_output):
    """The general formulas at first and second order against the closed ones."""
    rng = np.random.default_rng(5)
    X, weights, (b, c, e) = rng.normal(size=(4, 5)), rng.normal(size=(4, 2)), rng.normal(size=(3, 5, 2))
    tensors = autoencoder(sigmoid_output).tensors_at(X)
    for vectors in [(b, c, e), (b, b, b), (b, b, c)]:
        np.testing.assert_allclose(tensors.derivative_form(*vectors), tensors.curvature_form(*vectors), atol=1e-12)
    for vectors in [(b, c), (b, b)]:
        expected = tensors.curvature_sum(weights, *vectors)
        np.testing.assert_allclose(tensors.derivative_sum(weights, *vectors), expected, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_derivatives_of_the_sigmoid(k):
    t = np.linspace(-3, 3, 7)
    step = 1e-5
    differences = (sigmoid_derivative(expit(t + step), k - 1) - sigmoid_derivative(expit(t - step), k - 1)) / (2 * step)
    np.testing.assert_allclose(sigmoid_derivative(expit(t), k), differences, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_hidden_layer_is_a_stage(dtype):
    model, X = autoencoder(False, d=5, h=3), np.random.default_rng(0).normal(size=(4, 5)).astype(dtype)
    layer = HiddenLayer(model)
    assert layer.n_columns(5) == 3
    hidden = layer.astype(X.dtype).apply(X)
    assert hidden.dtype == dtype
    np.testing.assert_array_equal(hidden, model.encode(X))
