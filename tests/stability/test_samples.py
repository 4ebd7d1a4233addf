"""Finite-sample bounds of the covariance behind a model."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigvalsh, subspace_angles

from eigenfeat import FisherLDA, KernelFisherClassifier, OrientedKernelPCA, OrientedPCA
from eigenfeat.stability import sample_bounds


def rows(rng, n):
    """Points of the unit ball with one long axis."""
    X = rng.standard_normal((n, 3)) * [3.0, 0.3, 0.3]
    return X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))


def test_the_bounds_hold_and_sharp_ones_are_smaller():
    rng = np.random.default_rng(0)
    many = rows(rng, 300_000)
    truth = np.cov(many, rowvar=False, bias=True)
    axis = np.linalg.eigh(truth)[1][:, -1:]
    for _ in range(20):
        X = rows(rng, 2000)
        bounds = sample_bounds(OrientedPCA(1).fit(X), X)
        found = np.cov(X, rowvar=False, bias=True)
        assert np.linalg.norm(found - truth, 2) <= bounds.moment[0] < bounds.moment[1]
        angle = subspace_angles(np.linalg.eigh(found)[1][:, -1:], axis)[0]
        assert np.sin(angle) <= bounds.subspace[0].distance < 1
        assert bounds.largest == pytest.approx(eigvalsh(found)[-1])
        assert bounds.eigenvalues[0] < bounds.eigenvalues[1]


def test_kernel_space_is_that_of_the_fitted_kernel():
    X = rows(np.random.default_rng(1), 60)
    by_linear = sample_bounds(OrientedKernelPCA(1, kernel="linear").fit(X), X)
    by_inputs = sample_bounds(OrientedPCA(1).fit(X), X)
    assert (by_linear.space, by_inputs.space) == ("kernel", "input")
    for name in ("radius", "largest", "trace", "moment", "eigenvalues"):
        np.testing.assert_allclose(getattr(by_linear, name), getattr(by_inputs, name), rtol=1e-6)
    K = X @ X.T
    precomputed = KernelFisherClassifier(kernel="precomputed").fit(K, X[:, 0] > 0)
    assert sample_bounds(precomputed, K).trace == pytest.approx(by_inputs.trace)


def test_sparse_rows_are_as_dense_ones_and_trials_have_none():
    X = rows(np.random.default_rng(2), 60)
    model = FisherLDA().fit(X, X[:, 0] > 0)
    assert str(sample_bounds(model, sparse.csr_matrix(X))) == str(sample_bounds(model, X))
    assert sample_bounds(model, np.zeros((3, 2, 5))) is None
