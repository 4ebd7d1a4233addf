"""Least squares over centres: the written-out minimum, and leave-one-out with the centres kept."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import check_minimum, repeated_rows, small_problem, two_classes, without_row

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


def shift(rows):
    return rows + np.array([0.2, 0.0, 0.0])


@pytest.mark.parametrize("n_alphas", [1, 30])  # by a factor, and by the spectrum
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_row_left_out_takes_its_tangents_along(penalty, n_alphas):
    problem = two_classes(penalty, 0.2, n=25)
    X, kernel = problem.kernel.rows, problem.kernel.kernel
    moves = ((0.5, shift), (2.0, lambda rows: rows * 1.1))
    problem = replace(problem, centers=X[::3], invariances=moves)
    solution = list(subset.path(problem, [0.2] * n_alphas))[-1]
    for i in range(25):
        fit = subset.solve(without_row(problem, i))
        expected = kernel(X[i : i + 1], X[::3]) @ fit.coefficients + fit.intercept
        np.testing.assert_allclose(solution.loo_outputs[i], expected[0], atol=1e-8)


def test_one_of_several_copies_takes_its_share_of_the_tangents_along():
    problem = two_classes("function", 0.2, n=25)
    X = problem.kernel.rows
    copies = np.arange(25) % 3 + 1.0
    settings = {"centers": X[::3], "invariances": ((0.5, shift),)}
    weighted = subset.solve(replace(problem, weights=copies, copies=copies, **settings))
    repeated = subset.solve(replace(repeated_rows(problem, np.repeat(np.arange(25), copies.astype(int))), **settings))
    expected = np.repeat(weighted.loo_outputs, copies.astype(int), axis=0)
    np.testing.assert_allclose(expected, repeated.loo_outputs, atol=1e-8)
