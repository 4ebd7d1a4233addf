"""A kernel expansion: types, storage, precomputed values, nothing held as a whole."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from eigenfeat.stages import Chain, KernelExpansion
from eigenfeat.stages.kernels import Kernel

RNG = np.random.RandomState(0)
POINTS, ROWS = RNG.randn(30, 4), RNG.randn(50, 4)
COEFFICIENTS, BIAS = RNG.randn(30, 2), RNG.randn(2)
EXPECTED = rbf_kernel(ROWS, POINTS, gamma=0.3) @ COEFFICIENTS + BIAS


@pytest.mark.parametrize("of_points", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("of_rows", [np.asarray, sparse.csr_matrix])
def test_points_and_rows_may_be_stored_differently(of_points, of_rows):
    expansion = KernelExpansion(Kernel("rbf", 0.3), of_points(POINTS), COEFFICIENTS, BIAS)
    np.testing.assert_allclose(expansion.apply(of_rows(ROWS)), EXPECTED, atol=1e-12)
    assert expansion.n_columns(4) == 2


@pytest.mark.parametrize("of_model", [np.float32, np.float64])
@pytest.mark.parametrize("of_rows", [np.float32, np.float64])
def test_the_result_has_the_type_of_the_rows_in_one_block_and_in_many(of_model, of_rows):
    points, coefficients, bias = (array.astype(of_model) for array in (POINTS, COEFFICIENTS, BIAS))
    chain = Chain((KernelExpansion(Kernel("rbf", 0.3), points, coefficients, bias),))
    rows = np.tile(ROWS, (4000, 1)).astype(of_rows)
    few, many = chain.at(rows[:50]), chain.at(rows)
    assert few.dtype == many.dtype == of_rows
    np.testing.assert_allclose(few, EXPECTED, atol=1e-4)
    np.testing.assert_allclose(many, np.tile(few, (4000, 1)), atol=1e-4 if np.float32 in (of_model, of_rows) else 1e-12)


def test_precomputed_values_are_chosen_by_column():
    values = rbf_kernel(ROWS, np.vstack([POINTS, POINTS]), gamma=0.3)
    expansion = KernelExpansion(Kernel("linear"), np.arange(30, 60), COEFFICIENTS, BIAS)
    np.testing.assert_allclose(expansion.apply(values), EXPECTED, atol=1e-12)


def test_an_expansion_of_no_terms_is_its_bias():
    nothing = KernelExpansion(Kernel("rbf", 0.3), POINTS[:0], COEFFICIENTS[:0], BIAS)
    np.testing.assert_array_equal(nothing.apply(ROWS), np.tile(BIAS, (50, 1)))
