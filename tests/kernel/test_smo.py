"""SMO: against the interior point, bounded memory, weights, and the thesis' stopping rule."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from written_out import cells, check_minimum, repeated_rows, small_problem

from eigenfeat.kernel import qp, smo
from eigenfeat.kernel.losses import as_loss
from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.stages.kernels import Kernel, KernelRows

OURS = [loss for loss, penalty in cells(smo.SOLVER) if penalty == "function"]


@pytest.mark.parametrize("alpha", [0.1, 1.0])
@pytest.mark.parametrize(("loss", "penalty"), cells(smo.SOLVER))
def test_reaches_the_optimum_of_the_written_out_program(loss, penalty, alpha):
    problem = small_problem(loss, penalty, alpha)
    assert check_minimum(problem, smo.solve(problem, KernelRequest(tol=1e-8))).converged


@pytest.mark.parametrize("loss", OURS)
def test_agrees_with_the_interior_point_through_a_cache_far_smaller_than_the_kernel(loss):
    problem = small_problem(loss, "function", 1.0, n=120)
    tiny = smo.solve(problem, KernelRequest(tol=1e-6), cache_size=20 * 120 * 8 / 1e6, batch_size=4)
    assert tiny.converged
    np.testing.assert_allclose(tiny.objective, qp.solve(problem).objective, rtol=2e-6)  # tol is 1e-6


def test_one_pair_at_a_time_is_the_same_minimum():
    problem = small_problem("squared", "function", 1.0)
    pair = smo.solve(problem, KernelRequest(tol=1e-6), cache_size=2 * 40 * 8 / 1e6, batch_size=2)
    assert pair.converged
    np.testing.assert_allclose(pair.objective, qp.solve(problem).objective, rtol=2e-6)  # tol is 1e-6


@pytest.mark.parametrize("figures", [1, 2, 4])
def test_significant_figures_are_kept(figures):
    problem = small_problem("squared", "function", 0.1, n=200)
    solution = smo.solve(problem, KernelRequest(tol=10.0**-figures), cache_size=40 * 200 * 8 / 1e6, batch_size=8)
    best = qp.solve(problem).objective
    assert (np.abs(solution.objective - best) / (np.abs(best) + 1) <= 10.0**-figures).all()


@pytest.mark.parametrize("loss", OURS)
def test_a_weight_counts_as_repeated_rows_and_zero_as_none(loss):
    problem = small_problem(loss, "function", 0.5, n=30)
    counts = np.arange(30) % 4
    repeats = np.repeat(np.arange(30), counts)
    weighted = smo.solve(replace(problem, weights=counts.astype(float)), KernelRequest(tol=1e-8))
    repeated = smo.solve(repeated_rows(problem, repeats), KernelRequest(tol=1e-8))
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-6)
    assert not weighted.coefficients[counts == 0].any()


def test_tube_leaves_exact_zeros_and_bounds_are_exact():
    problem = small_problem("epsilon", "function", 1.0, n=80)
    magnitudes = np.abs(smo.solve(problem, KernelRequest(tol=1e-6)).coefficients)
    assert (magnitudes == 0).mean() > 0.2
    assert (magnitudes == problem.weights[:, None]).mean() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["squared", "epsilon"])
def test_memory_stays_below_200_megabytes_at_7291_rows(loss, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7291, 8)).astype(dtype)
    y = np.sign(X[:, :1] * X[:, 1:2] + 0.1 * rng.normal(size=(7291, 1)))
    problem = KernelProblem(KernelRows(Kernel("rbf", 0.05), X), y, np.ones(7291), 10.0, as_loss(loss), "function")
    tracemalloc.start()
    # Enough batches to fill the cache and start evicting: the peak does not grow after that.
    smo.solve(problem, KernelRequest(tol=1e-9, max_iter=10), batch_size=300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_indefinite_kernel_is_refused():
    rng = np.random.default_rng(0)
    indefinite = rng.normal(size=(40, 40))
    kernel = KernelRows(Kernel(), indefinite + indefinite.T, precomputed=True)
    problem = replace(small_problem("squared", "function", 0.01), kernel=kernel)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        smo.solve(problem)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_single_precision_rows_lead_to_the_same_objective(loss):
    problem = small_problem(loss, "function", 0.5, n=100)
    single = replace(problem, kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows.astype(np.float32)))
    found, expected = (smo.solve(p, KernelRequest(tol=1e-5)).objective for p in (single, problem))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
