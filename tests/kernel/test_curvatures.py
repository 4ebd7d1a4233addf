"""The matrices of the quadratic programs: what is multiplied is what is factored."""

import numpy as np
import pytest

from eigenfeat.kernel.curvatures import DenseCurvature, IndefiniteError, ResidualCurvature

RNG = np.random.default_rng(0)
HALF = RNG.normal(size=(8, 8))


@pytest.mark.parametrize(
    "curvature",
    [
        DenseCurvature(HALF @ HALF.T),
        ResidualCurvature(HALF[:4, :4], RNG.uniform(0.5, 2, size=4)),
    ],
    ids=["dense", "residuals"],
)
def test_a_factor_solves_with_the_matrix_and_the_diagonal(curvature):
    diagonal, right = RNG.uniform(0.5, 2, size=8), RNG.normal(size=8)
    x = curvature.factor(diagonal)(right)
    np.testing.assert_allclose(curvature.times(x) + diagonal * x, right, atol=1e-12)


def test_an_indefinite_matrix_is_noticed():
    with pytest.raises(IndefiniteError):
        DenseCurvature(-np.eye(3)).factor(np.full(3, 0.5))
