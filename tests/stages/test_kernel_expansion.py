"""Sums of kernels as a stage."""

import numpy as np
import pytest
from chains import X, rng
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from eigenfeat.stages import KernelExpansion
from eigenfeat.stages.kernels import Kernel

Z, A, B = X[:9].copy(), rng.normal(size=(9, 2)), rng.normal(size=2)


@pytest.mark.parametrize("points_sparse", [False, True])
@pytest.mark.parametrize("rows_sparse", [False, True])
@pytest.mark.parametrize("name", ["rbf", "linear", "laplacian"])
def test_a_sum_of_kernels_and_a_bias(name, points_sparse, rows_sparse):
    expected_kernel = pairwise_kernels(X, Z, metric=name, **({} if name == "linear" else {"gamma": 0.3}))
    points = sparse.csr_matrix(Z) if points_sparse else Z
    rows = sparse.csr_matrix(X) if rows_sparse else X
    made = KernelExpansion(Kernel(name, 0.3), points, A, B).apply(rows)
    np.testing.assert_allclose(made, expected_kernel @ A + B, atol=1e-10)


def test_kernel_values_that_come_from_outside_are_chosen_by_column():
    K = rng.normal(size=(12, 20))
    columns = np.array([3, 19, 0])
    stage = KernelExpansion(Kernel("precomputed"), columns, A[:3], B)
    np.testing.assert_allclose(stage.apply(K), K[:, columns] @ A[:3] + B)


def test_the_kernel_matrix_does_not_count_as_wide():
    stage = KernelExpansion(Kernel(), Z, A, B)
    assert stage.widest(5) == 5 and stage.n_columns(5) == 2
