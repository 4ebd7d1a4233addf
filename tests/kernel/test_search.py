"""The choice of alpha and gamma by outputs left out."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import small_problem

from eigenfeat.kernel import linear, search
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.thresholds import one_vs_rest
from eigenfeat.stages.kernels import Kernel, KernelRows


def one_by_one(function, gammas):
    return [function(gamma) for gamma in gammas]


def spirals(n, noise=0.15, seed=0):
    """Two classes that a wide kernel cannot tell apart."""
    rng = np.random.RandomState(seed)
    codes = np.arange(n) % 2
    angle = rng.uniform(0.5, 9, size=n)
    X = (angle * np.array([np.cos(angle), np.sin(angle)])).T * np.where(codes, 1, -1)[:, None] / 4
    X += noise * rng.randn(n, 2)
    return KernelProblem(KernelRows(Kernel("rbf", 0.5), X), one_vs_rest(codes), np.ones(n), 1.0)


def test_the_alpha_has_the_least_score_of_its_grid_and_its_solution_comes_along():
    problem = spirals(200)
    score = search.classification_error("margin")
    found = search.best_alpha(problem, score)
    scores = [score(problem, s) for s in linear.path(problem, list(search.ALPHAS))]
    assert found.score == min(scores)
    expected = linear.solve(replace(problem, alpha=found.alpha))
    np.testing.assert_allclose(found.solution.coefficients, expected.coefficients, rtol=1e-5, atol=1e-8)


def test_many_rows_are_screened_and_the_walk_ends_where_no_neighbour_is_better(monkeypatch):
    monkeypatch.setattr(search, "FEW_ROWS", 100)
    problem = spirals(400, noise=0.4)
    few = search.screened(problem)
    assert few.n_rows in (100, 101) and abs(few.targets.mean()) < 0.05
    score = search.squared_residual
    found = search.best_alpha(problem, score)
    step = search.ALPHAS[1] / search.ALPHAS[0]
    around = [found.alpha / step, found.alpha, found.alpha * step]
    scores = [score(problem, s) for s in linear.path(problem, around)]
    assert min(scores) == scores[1] == pytest.approx(found.score)
    assert search.screened(spirals(100)).n_rows == 100


def test_rare_classes_are_screened_too(monkeypatch):
    monkeypatch.setattr(search, "FEW_ROWS", 40)
    codes = np.zeros(400, dtype=int)
    codes[[5, 17]], codes[200:] = 2, 1
    problem = replace(spirals(400), targets=one_vs_rest(codes))
    assert set(search.codes_of(search.screened(problem).targets)) == {0, 1, 2}


def test_an_edge_of_the_grid_is_moved_and_said_so():
    problem = spirals(200)
    wide = search.at_gamma(problem, 0.005)
    found = search.best_pair(wide, search.classification_error("margin"), one_by_one)
    assert "gamma above" in found.extended
    assert found.gammas[-1] > 4 * 0.005 and len(found.gammas) == found.scores.shape[0]
    assert found.best.gamma < found.gammas[-1] or len(found.gammas) == 5 + search.MOST_EXTENSIONS
    assert found.scores[..., 0].min() == found.best.score[0]
    near = search.best_pair(search.at_gamma(problem, found.best.gamma), search.squared_residual, one_by_one)
    assert near.n_rows == 200 and "gamma below" not in near.extended


def test_the_pair_of_many_rows_is_refined_on_all(monkeypatch):
    monkeypatch.setattr(search, "FEW_ROWS", 100)
    problem = spirals(400, noise=0.3)
    found = search.best_pair(problem, search.squared_residual, one_by_one)
    assert found.n_rows in (100, 101) and 5 <= len(found.trials) <= search.MOST_FITS + 4
    at_best = search.at_gamma(problem, found.best.gamma)
    assert found.best.score == pytest.approx(
        search.squared_residual(at_best, linear.solve(replace(at_best, alpha=found.best.alpha)))
    )
    assert found.best.score == min(trial.score for trial in found.trials)


def test_alphas_are_in_units_of_the_kernel():
    problem = small_problem("squared", "function", 1.0, weighted=False)
    assert search.alpha_unit(problem) == pytest.approx(1.0)
    linear_kernel = replace(problem, kernel=KernelRows(Kernel("linear"), 100 * problem.kernel.rows))
    assert search.alpha_unit(linear_kernel) == pytest.approx(np.mean((100 * problem.kernel.rows) ** 2) * 3)
    coefficients = replace(problem, penalty="coefficients", weights=2 * problem.weights)
    assert search.alpha_unit(coefficients) == pytest.approx(np.mean((problem.kernel.matrix() ** 2).sum(axis=1)))


def test_a_kernel_without_a_width_has_one_gamma():
    problem = replace(spirals(60), kernel=KernelRows(Kernel("linear"), spirals(60).kernel.rows))
    found = search.best_pair(problem, search.squared_residual, one_by_one)
    assert len(found.gammas) == 1
