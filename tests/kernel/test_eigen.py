"""The generalized eigenproblem itself: the same solution as least squares."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import two_classes, without_row

from eigenfeat.kernel import eigen, linear

PENALTIES = ["function", "coefficients"]
CELLS = [(penalty, centers) for penalty in PENALTIES for centers in (False, True)]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_eigen_is_the_least_squares_solution(penalty):
    problem = two_classes(penalty, 0.5)
    by_eigen, by_system = eigen.solve(problem), linear.solve(problem)
    np.testing.assert_allclose(by_eigen.objective, by_system.objective, rtol=1e-9)
    np.testing.assert_allclose(by_eigen.outputs, by_system.outputs, atol=1e-6)


def shift(rows):
    return rows + np.array([0.2, 0.0, 0.0])


@pytest.mark.parametrize("invariances", [(), ((0.7, shift),)])
@pytest.mark.parametrize(("penalty", "centers"), CELLS)
def test_left_out_scores_of_classes_told_apart_jointly(penalty, centers, invariances):
    """As fitted without the row; up to a term that all classes have."""
    n = 30
    problem = two_classes(penalty, 0.3, n=n)
    X, kernel = problem.kernel.rows, problem.kernel.kernel
    codes = np.where(X[:, 2] > 0.3, 2, X[:, 1] > 0).astype(int)
    codes[4] = 3  # a class of one row
    points = X[::3] if centers else X if invariances else None
    problem = replace(problem, centers=points, invariances=invariances)
    left_out = eigen.solve(replace(problem, classes=codes)).loo_outputs
    for i in range(n):
        kept = np.arange(n) != i
        rest = replace(without_row(problem, i), classes=np.unique(codes[kept], return_inverse=True)[1])
        fit = eigen.solve(rest)
        at = X[kept] if points is None else points
        expected = (kernel(X[i : i + 1], at) @ fit.coefficients + fit.intercept)[0]
        if i == 4:
            np.testing.assert_allclose(left_out[i, :3] - left_out[i, 0], expected - expected[0], rtol=0.2, atol=0.5)
            assert left_out[i].argmax() != 3
        else:
            np.testing.assert_allclose(left_out[i], expected, atol=1e-7)
