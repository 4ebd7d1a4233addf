"""Least squares over centres: the written-out minimum, and leave-one-out with the centres kept."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import check_minimum, small_problem, two_classes, without_row

from eigenfeat.kernel import subset

PENALTIES = ["function", "coefficients"]


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("alpha", [0.03, 3.0])
def test_reaches_the_written_out_minimum(penalty, alpha):
    problem = small_problem("squared", penalty, alpha)
    assert check_minimum(problem, subset.solve(problem)).converged


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("as_points", [True, False])
def test_leave_one_out_in_the_restricted_expansion(penalty, as_points):
    problem = two_classes(penalty, 0.2, n=25)
    X, kernel = problem.kernel.rows, problem.kernel.kernel
    index = np.arange(0, 25, 3)
    points = X[index]
    solution = subset.solve(replace(problem, centers=points if as_points else index))
    for i in range(25):
        fit = subset.solve(replace(without_row(problem, i), centers=points))
        expected = kernel(X[i : i + 1], points) @ fit.coefficients + fit.intercept
        np.testing.assert_allclose(solution.loo_outputs[i], expected[0], atol=1e-8)
