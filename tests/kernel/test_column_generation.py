"""Column generation: the full linear program's objective from a fraction of the kernel's columns."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import cells, small_problem

from eigenfeat.kernel import Absolute, column_generation, lp
from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.stages.kernels import Kernel, KernelRows


class CountingRows(KernelRows):
    """Counts the kernel columns that are formed."""

    def __init__(self, *args):
        super().__init__(*args)
        self.n_formed = 0

    def columns(self, centers):
        self.n_formed += len(centers)
        return super().columns(centers)


def counting(problem, targets):
    return replace(problem, targets=targets, kernel=CountingRows(problem.kernel.kernel, problem.kernel.rows))


@pytest.fixture
def sampled(monkeypatch):
    """The form for kernel matrices that do not fit."""
    monkeypatch.setattr(column_generation, "MAX_KEPT_ROWS", 0)


@pytest.mark.parametrize("max_kept", [0, 8000])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
@pytest.mark.parametrize(("loss", "penalty"), cells(column_generation.SOLVER))
def test_reaches_the_objective_of_the_full_program(loss, penalty, alpha, max_kept, monkeypatch):
    monkeypatch.setattr(column_generation, "MAX_KEPT_ROWS", max_kept)
    problem = small_problem(loss, penalty, alpha, n=150)
    solution = column_generation.solve(problem, KernelRequest(random_state=0))
    assert solution.converged
    np.testing.assert_allclose(solution.objective, lp.solve(problem).objective, rtol=1e-6)


def test_columns_do_not_leave_and_join_for_ever():
    """A kernel narrower than the distances: rows are worth the same, and the optima are many."""
    y = np.where(np.arange(160) < 0.53 * 160, 1.0, -1.0)
    rows = np.random.RandomState(1).randn(160, 20) * np.where(y > 0, 2, 1)[:, None]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    problem = KernelProblem(KernelRows(Kernel("rbf", 1.0), rows), y[:, None], np.ones(160), 1.0, Absolute(), "sparse")
    alphas = [1.0, 0.55, 0.3]
    for alpha, found in zip(alphas, column_generation.path(problem, alphas, KernelRequest(max_iter=500))):
        assert found.converged
        np.testing.assert_allclose(found.objective, lp.solve(replace(problem, alpha=alpha)).objective, rtol=3e-6)


@pytest.mark.parametrize("loss", ["absolute", "epsilon"])
def test_a_sparse_solution_needs_few_columns(loss, sampled):
    plain, n_formed = small_problem(loss, "sparse", 4.0, n=800), []
    for seed in range(5):
        problem = counting(plain, plain.targets[:, :1])
        solution = column_generation.solve(problem, KernelRequest(random_state=seed))
        n_formed.append(problem.kernel.n_formed)
        assert (solution.coefficients == 0).mean() >= 0.95
    assert np.mean(n_formed) <= 0.2 * 800
    np.testing.assert_allclose(solution.objective, lp.solve(problem).objective, rtol=1e-6)


def test_the_seed_decides_the_way_and_not_the_optimum(sampled):
    problem = small_problem("absolute", "sparse", 1.0, n=150)
    first, again, other = (column_generation.solve(problem, KernelRequest(random_state=seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    np.testing.assert_allclose(first.objective, other.objective, rtol=1e-6)


def test_targets_share_the_columns(sampled):
    problem = small_problem("absolute", "sparse", 1.0, n=150)
    twice = counting(problem, np.repeat(problem.targets[:, :1], 2, axis=1))
    once = counting(problem, problem.targets[:, :1])
    column_generation.solve(twice, KernelRequest(random_state=0))
    column_generation.solve(once, KernelRequest(random_state=0))
    assert twice.kernel.n_formed == once.kernel.n_formed


def test_columns_that_leave_at_once_do_not_change_the_optimum():
    problem = small_problem("epsilon", "sparse", 0.5, n=100)
    hasty = column_generation.solve(problem, KernelRequest(random_state=0), max_idle=0)
    assert hasty.converged
    np.testing.assert_allclose(hasty.objective, lp.solve(problem).objective, rtol=1e-6)


def test_a_precomputed_kernel_serves_as_well():
    problem = small_problem("absolute", "sparse", 1.0, n=80)
    matrix = KernelRows(problem.kernel.kernel, problem.kernel.matrix(), True)
    precomputed = column_generation.solve(replace(problem, kernel=matrix), KernelRequest(random_state=0))
    np.testing.assert_allclose(precomputed.objective, lp.solve(problem).objective, rtol=1e-6)


def test_all_columns_are_priced_where_they_are_kept():
    """The most violated join first: fewer rounds than with samples, and an asymmetric matrix is read by columns."""
    problem = small_problem("absolute", "sparse", 1.0, n=150)
    assert column_generation.solve(problem).n_iter < 40
    K = np.random.default_rng(0).normal(size=(150, 150))
    given = replace(problem, kernel=KernelRows(problem.kernel.kernel, K, precomputed=True))
    np.testing.assert_allclose(column_generation.solve(given).objective, lp.solve(given).objective, rtol=1e-6)


@pytest.mark.parametrize("max_kept", [0, 8000])
def test_the_columns_of_a_quarter_of_the_rows_come_first(max_kept, monkeypatch):
    monkeypatch.setattr(column_generation, "MAX_KEPT_ROWS", max_kept)
    problem = small_problem("absolute", "sparse", 1.0, n=240)
    cold = column_generation.solve(problem)
    monkeypatch.setattr(column_generation, "MAX_UNSAMPLED_ROWS", 100)
    warm = column_generation.solve(problem)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-6)
    assert warm.n_iter < cold.n_iter


def test_positions_of_columns_in_the_pool(sampled):
    problem = small_problem("absolute", "sparse", 2.0, n=40)
    pool = column_generation.ColumnPool(problem.kernel)
    pool.add(np.array([7, 3]))
    at = pool.positions(np.array([3, 5, 7]))
    np.testing.assert_array_equal(pool.index[at], [3, 5, 7])
    np.testing.assert_allclose(pool.columns[:, at], problem.kernel.matrix()[:, [3, 5, 7]])


def test_terms_of_rounding_are_none():
    """A penalty too strong for any term: multipliers of constraints that are met as it happens are rounding."""
    draw = np.random.RandomState(2)
    rows, y = draw.randn(300, 20), np.where(draw.uniform(size=(300, 1)) < 0.3, 1.0, -1.0)
    problem = KernelProblem(KernelRows(Kernel("rbf", 0.03), rows), y, np.ones(300), 1.0, Absolute(), "sparse")
    for solution in column_generation.path(problem, [10.0, 5.5, 3.0, 1.7]):
        np.testing.assert_allclose(solution.objective, 2 * (y > 0).sum())
        assert not solution.coefficients.any()
