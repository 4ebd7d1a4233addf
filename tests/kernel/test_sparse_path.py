"""Paths of alpha for the sparse penalty: at every alpha the optimum that a single program finds."""

import numpy as np
import pytest
from written_out import optimum, small_problem

from eigenfeat.kernel import lp, qp, sparse_path
from eigenfeat.kernel.problem import DEFAULTS
from eigenfeat.kernel.used_rows import UsedRows

ALPHAS = [0.1, 3.0, 0.5, 1.0]
LOSSES = ["squared", "absolute", "huber", "epsilon"]


def at(problem, alpha):
    return UsedRows.of(problem, None).at_alpha(alpha).problem


@pytest.mark.parametrize("loss", LOSSES)
def test_every_alpha_has_the_optimum_of_the_written_out_program_in_the_order_given(loss):
    problem = small_problem(loss, "sparse", 7.0)
    for alpha, solution in zip(ALPHAS, sparse_path.path(problem, ALPHAS), strict=True):
        assert solution.converged
        np.testing.assert_allclose(solution.objective, optimum(at(problem, alpha)), rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_paths_agree_with_one_solve_an_alpha(loss):
    problem = small_problem(loss, "sparse", 1.0, n=150)
    solve = qp.solve if loss in ("squared", "huber") else lp.solve
    for alpha, solution in zip(ALPHAS, sparse_path.path(problem, ALPHAS)):
        np.testing.assert_allclose(solution.objective, solve(at(problem, alpha)).objective, rtol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_coefficients_that_are_zero_satisfy_their_optimality_condition(loss):
    problem = small_problem(loss, "sparse", 1.0, n=80)
    (solution,) = sparse_path.path(problem, [1.0])
    residuals = problem.targets - solution.outputs
    pulls = problem.kernel.matrix() @ (problem.weights[:, None] * problem.loss.slopes(residuals))
    zero = solution.coefficients == 0
    assert zero.mean() > 0.5 and np.abs(pulls[zero]).max() <= 1 + 1e-6
    np.testing.assert_allclose(pulls[~zero], np.sign(solution.coefficients[~zero]), rtol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_no_terms_above_the_alpha_that_allows_none(loss):
    problem = small_problem(loss, "sparse", 1.0)
    for solution in sparse_path.path(problem, [1e4, 1e3]):
        assert not solution.coefficients.any()


def test_over_centres_and_without_highspy(monkeypatch):
    problem = small_problem("absolute", "sparse", 1.0, n=60)
    whole = [s.objective for s in sparse_path.path(problem, ALPHAS)]
    monkeypatch.setattr(lp, "has_highspy", lambda: False)
    np.testing.assert_allclose([s.objective for s in sparse_path.path(problem, ALPHAS)], whole, rtol=1e-7)
    assert DEFAULTS.tol is None
