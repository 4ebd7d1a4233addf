"""The interior point: every cell against the written-out program, SVR, repeated rows and bad kernels."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVR
from written_out import cells, check_minimum, optimum, repeated_rows, small_problem

from eigenfeat.kernel import Huber, qp
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem
from eigenfeat.stages.kernels import Kernel, KernelRows


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
@pytest.mark.parametrize(("loss", "penalty"), cells(qp.SOLVER))
def test_reaches_the_optimum_of_the_written_out_program(loss, penalty, alpha):
    problem = small_problem(loss, penalty, alpha)
    assert check_minimum(problem, qp.solve(problem)).converged


@pytest.mark.parametrize(("loss", "penalty"), cells(qp.SOLVER))
def test_objective_is_that_of_the_returned_model(loss, penalty):
    problem = small_problem(loss, penalty, 0.3)
    solution = qp.solve(problem)
    K = problem.kernel.matrix()
    a = solution.coefficients
    size = {"function": a * (K @ a) / 2, "coefficients": a**2 / 2, "sparse": np.abs(a)}[penalty].sum(axis=0)
    loss_of_model = problem.weights @ problem.loss.values(problem.targets - K @ a - solution.intercept)
    np.testing.assert_allclose(solution.objective, loss_of_model + 0.3 * size, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 2.0, 10.0])
def test_absolute_loss_is_support_vector_regression_without_a_tube(alpha):
    """No worse than LIBSVM's model, and equal to its dual objective, which no model can undercut."""
    problem = small_problem("absolute", "function", alpha, n=80, weighted=False)
    solution = qp.solve(problem)
    K = problem.kernel.matrix()
    for t, y in enumerate(problem.targets.T):
        svr = SVR(kernel="precomputed", epsilon=0.0, C=1 / alpha, tol=1e-10).fit(K, y)
        a = np.zeros(len(y))
        a[svr.support_] = svr.dual_coef_[0]
        residuals = y - K @ a
        penalty = alpha * a @ K @ a / 2
        above = np.abs(residuals - np.median(residuals)).sum() + penalty
        below = alpha * y @ a - penalty
        assert solution.objective[t] <= above * (1 + 1e-9)
        assert solution.objective[t] == pytest.approx(below, rel=1e-6)


def test_sparse_solutions_have_exact_zeros_and_satisfy_their_optimality_conditions():
    problem = small_problem("squared", "sparse", 1.0, n=80)
    solution = qp.solve(problem)
    K = problem.kernel.matrix()
    residuals = problem.targets - K @ solution.coefficients - solution.intercept
    correlation = K @ (problem.weights[:, None] * residuals)
    zero = solution.coefficients == 0
    assert zero.mean() > 0.5
    np.testing.assert_allclose(correlation[~zero], np.sign(solution.coefficients[~zero]), rtol=1e-6)
    assert np.abs(correlation[zero]).max() <= 1.0 + 1e-6


@pytest.mark.parametrize(("loss", "penalty"), [cell for cell in cells(qp.SOLVER) if cell[1] != "coefficients"])
def test_a_weight_counts_as_repeated_rows_and_zero_as_none(loss, penalty):
    problem = small_problem(loss, penalty, 0.5, n=30)
    counts = np.arange(30) % 4
    repeats = np.repeat(np.arange(30), counts)
    weighted = qp.solve(replace(problem, weights=counts.astype(float)))
    repeated = qp.solve(repeated_rows(problem, repeats))
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-6)
    assert not weighted.coefficients[counts == 0].any()


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_of_equal_rows_one_carries_the_sparse_coefficient(loss):
    problem = small_problem(loss, "sparse", 0.3, n=20)
    thrice = np.tile(np.arange(20), 3)
    repeated = replace(
        problem,
        kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows[thrice]),
        targets=problem.targets[thrice],
        weights=problem.weights[thrice],
    )
    solution = qp.solve(repeated)
    assert not solution.coefficients[20:].any()
    np.testing.assert_allclose(solution.objective, optimum(repeated), rtol=1e-6)


def test_repeated_rows_in_single_precision_are_no_obstacle():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0).astype(np.float32)
    y = np.sign(rng.normal(size=(60, 1)))
    K = KernelRows(Kernel("rbf", 0.5), X).matrix()
    problem = KernelProblem(KernelRows(Kernel(), K, precomputed=True), y, np.ones(60), 0.1, Huber(), "function")
    solution = qp.solve(problem)
    assert solution.converged
    np.testing.assert_allclose(solution.objective, optimum(problem), rtol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_indefinite_kernel_is_refused_for_the_function_penalty_only(loss):
    problem = small_problem(loss, "function", 0.01)
    rng = np.random.default_rng(0)
    indefinite = rng.normal(size=(40, 40))
    kernel = KernelRows(Kernel(), indefinite + indefinite.T, precomputed=True)
    with pytest.raises(ValueError, match=r"not positive semidefinite.*penalty='coefficients'"):
        qp.solve(replace(problem, kernel=kernel))
    allowed = replace(problem, kernel=kernel, penalty="coefficients")
    np.testing.assert_allclose(qp.solve(allowed).objective, optimum(allowed), rtol=1e-6)


@pytest.mark.parametrize(("loss", "penalty"), cells(qp.SOLVER))
def test_a_constant_target_needs_the_intercept_only(loss, penalty):
    problem = small_problem(loss, penalty, 1.0, n=5)
    for n in (1, 5):
        kernel = KernelRows(problem.kernel.kernel, problem.kernel.rows[:n])
        constant = replace(problem, kernel=kernel, targets=np.full((n, 1), 2.0), weights=np.ones(n))
        solution = qp.solve(constant)
        np.testing.assert_allclose(solution.objective, 0.0, atol=1e-7)
        np.testing.assert_allclose(solution.coefficients, 0.0, atol=1e-6)


def shift(rows):
    return rows + np.array([0.2, 0.0, 0.0])


CENTERS = {"rows": np.arange(0, 40, 3), "points": np.random.RandomState(5).randn(12, 3), "all": None}


@pytest.mark.parametrize("moves", [(), ((0.5, shift),)])
@pytest.mark.parametrize("centers", CENTERS)
@pytest.mark.parametrize(("loss", "penalty"), cells(qp.SOLVER))
def test_centres_and_invariances_reach_the_optimum_of_the_written_out_program(loss, penalty, centers, moves):
    problem = replace(small_problem(loss, penalty, 0.3), centers=CENTERS[centers], invariances=moves)
    if qp.SOLVER.unmet(problem, DEFAULTS):
        assert (loss, penalty) == ("huber", "sparse") and moves
        return
    solution = qp.solve(problem)
    assert solution.converged
    np.testing.assert_allclose(solution.objective, optimum(problem), rtol=1e-6)
    over = np.arange(40) if centers == "all" else CENTERS[centers]
    coefficients = solution.coefficients if over.ndim == 2 else solution.coefficients[over]
    outputs = problem.kernel.columns(over) @ coefficients + solution.intercept
    np.testing.assert_allclose(solution.outputs, outputs, atol=1e-6)


def test_centres_that_are_all_rows_change_nothing():
    problem = small_problem("huber", "function", 0.3)
    over_all = qp.solve(replace(problem, centers=np.arange(40)))
    np.testing.assert_allclose(over_all.objective, qp.solve(problem).objective, rtol=1e-8)
    np.testing.assert_allclose(over_all.outputs, qp.solve(problem).outputs, atol=1e-5)


@pytest.mark.parametrize("weightless", [[1], [3]])
def test_a_row_of_weight_zero_is_not_there_but_may_be_a_centre(weightless):
    problem = replace(small_problem("absolute", "function", 0.3), centers=np.arange(0, 40, 3))
    weights = problem.weights.copy()
    weights[weightless] = 0
    solution = qp.solve(replace(problem, weights=weights))
    kept = weights > 0
    alone = replace(
        problem,
        kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows[kept]),
        targets=problem.targets[kept],
        weights=weights[kept],
        centers=problem.kernel.rows[problem.centers],
    )
    np.testing.assert_allclose(solution.objective, qp.solve(alone).objective, rtol=1e-7)
    np.testing.assert_allclose(solution.coefficients[problem.centers], qp.solve(alone).coefficients, atol=1e-4)
