"""The generalized eigenproblem itself: the same solution as least squares."""

import numpy as np
import pytest
from written_out import two_classes

from eigenfeat.kernel import eigen, linear

PENALTIES = ["function", "coefficients"]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_eigen_is_the_least_squares_solution(penalty):
    problem = two_classes(penalty, 0.5)
    by_eigen, by_system = eigen.solve(problem), linear.solve(problem)
    np.testing.assert_allclose(by_eigen.objective, by_system.objective, rtol=1e-9)
    np.testing.assert_allclose(by_eigen.outputs, by_system.outputs, atol=1e-6)
