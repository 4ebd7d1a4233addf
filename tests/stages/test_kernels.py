"""Kernel blocks against scikit-learn's pairwise kernels, whatever the storage."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel, pairwise_kernels

from eigenfeat.stages.kernels import Kernel, KernelRows, default_gamma

RNG = np.random.RandomState(0)
X = RNG.randn(60, 5) + 3.0
Z = RNG.randn(7, 5)
PARAMETERS = {"gamma": 0.3, "degree": 2, "coef0": 1.5}


def reference(name, A, B):
    if name == "inverse_multiquadric":
        return (1.5 + 0.3 * euclidean_distances(A, B, squared=True)) ** -0.5
    return pairwise_kernels(A, B, metric=name, filter_params=True, **PARAMETERS)


@pytest.mark.parametrize("name", ["rbf", "inverse_multiquadric", "poly", "sigmoid", "linear", "laplacian"])
@pytest.mark.parametrize("storage", ["dense", "sparse", "float32"])
def test_blocks_agree_with_scikit_learn(name, storage):
    convert = {"dense": np.asarray, "sparse": sparse.csr_matrix, "float32": np.float32}[storage]
    tolerance = 2e-4 if storage == "float32" else 1e-12
    kernel = KernelRows(Kernel(name, **PARAMETERS), convert(X))
    K, index = reference(name, X, X), np.array([3, 40, 8])
    coefficients = RNG.randn(60, 2)
    for ours, theirs in [
        (kernel.matrix(), K),
        (kernel.columns(index), K[:, index]),
        (kernel.columns(np.arange(20, 40)), K[:, 20:40]),
        (kernel.columns(convert(Z)), reference(name, X, Z)),
        (kernel.to_rows(convert(Z)), reference(name, Z, X)),
        (kernel.between(index), K[np.ix_(index, index)]),
        (kernel.block(index, np.arange(9)), K[index, :9]),
        (kernel.diagonal(), np.diag(K)),
        (kernel.expand(convert(Z), coefficients), reference(name, Z, X) @ coefficients),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def test_precomputed_and_callable():
    K = laplacian_kernel(X, gamma=0.2)
    index = np.array([1, 5])
    for kernel in (
        KernelRows(Kernel(), K, precomputed=True),
        KernelRows(Kernel(lambda a, b: np.exp(-0.2 * np.abs(a - b).sum())), X),
        KernelRows(Kernel("laplacian", gamma=0.2), X),
    ):
        np.testing.assert_allclose(kernel.columns(index), K[:, index])
        np.testing.assert_allclose(kernel.matrix(), K)
        np.testing.assert_allclose(kernel.diagonal(), np.ones(60))


def test_rbf_keeps_its_digits_far_from_the_origin():
    far = (X + 1000).astype(np.float32)
    exact = pairwise_kernels(far.astype(np.float64), metric="rbf", gamma=0.3)
    np.testing.assert_allclose(KernelRows(Kernel("rbf", gamma=0.3), far).matrix(), exact, atol=1e-5)


def test_only_the_sigmoid_is_indefinite():
    for name, coef0, indefinite in [("sigmoid", -1, True), ("rbf", 1, False), ("poly", 1, False)]:
        kernel = KernelRows(Kernel(name, gamma=0.3, degree=2, coef0=coef0), X - 3)
        precomputed = KernelRows(Kernel(), kernel.matrix(), precomputed=True)
        assert kernel.is_indefinite() == precomputed.is_indefinite() == indefinite


def test_default_gamma_counts_weights_as_copies():
    weights = RNG.randint(0, 4, size=60)
    repeated = np.repeat(X, weights, axis=0)
    expected = 1 / (5 * repeated.var())
    assert default_gamma(X, weights) == pytest.approx(expected)
    assert default_gamma(sparse.csr_matrix(X), weights) == pytest.approx(expected)
