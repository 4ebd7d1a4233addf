"""The incomplete Cholesky factor: exact on its pivots, a linear model is an expansion over them."""

import numpy as np
from written_out import small_problem

from eigenfeat.kernel.incomplete_cholesky import IncompleteCholesky
from eigenfeat.stages.kernels import Kernel, KernelRows


def grown(n=60, rank=12, gamma=0.2):
    kernel = small_problem("squared", "function", 1.0, n=n, kernel=Kernel("rbf", gamma)).kernel
    cholesky = IncompleteCholesky(kernel, rank)
    cholesky.grow(rank, 0.0)
    return kernel.matrix(), cholesky


def test_pivot_columns_are_exact_and_the_rest_is_the_schur_complement():
    K, cholesky = grown()
    V, pivots = cholesky.factor, np.array(cholesky.pivots)
    np.testing.assert_allclose((V @ V.T)[:, pivots], K[:, pivots], atol=1e-12)
    projected = K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots])
    np.testing.assert_allclose(V @ V.T, projected, atol=1e-8)
    np.testing.assert_allclose(cholesky.residual_diagonal, np.diag(K - V @ V.T), atol=1e-12)


def test_a_linear_model_is_the_expansion_with_its_norm():
    K, cholesky = grown()
    v = np.random.default_rng(1).normal(size=(12, 2))
    coefficients = cholesky.expansion(v)
    np.testing.assert_allclose(K @ coefficients, cholesky.factor @ v, atol=1e-8)
    np.testing.assert_allclose((coefficients * (K @ coefficients)).sum(axis=0), (v**2).sum(axis=0), rtol=1e-8)


def test_a_kernel_of_low_rank_is_exhausted():
    X = np.random.default_rng(0).normal(size=(50, 3))
    cholesky = IncompleteCholesky(KernelRows(Kernel("linear"), X), 50)
    cholesky.grow(50, 0.0)
    assert len(cholesky.pivots) == 3
    np.testing.assert_allclose(cholesky.factor @ cholesky.factor.T, X @ X.T, atol=1e-10)
