"""The exact linear system: kernel ridge, the Rayleigh direction, leave-one-out, and whole paths of alpha."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from written_out import check_minimum, repeated_rows, small_problem, two_classes, without_row

from eigenfeat.kernel import linear
from eigenfeat.kernel.scatter import class_means, within_scatter
from eigenfeat.stages.kernels import Kernel, KernelRows

PENALTIES = ["function", "coefficients"]


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("alpha", [0.03, 3.0])
def test_reaches_the_written_out_minimum(penalty, alpha):
    problem = small_problem("squared", penalty, alpha)
    assert check_minimum(problem, linear.solve(problem)).converged


@pytest.mark.parametrize("penalty", PENALTIES)
def test_solution_points_along_the_rayleigh_direction(penalty):
    """(3.31) with N + alpha·I or N + alpha·K, unnormalised: N⁻¹(μ₂ - μ₁), cosine one in function space."""
    problem = two_classes(penalty, 0.5)
    K, codes = problem.kernel.matrix(), (problem.targets[:, 0] > 0).astype(int)
    means, _ = class_means(K, codes, problem.weights)
    noise = within_scatter(K, codes, problem.weights, means) + 0.5 * (K if penalty == "function" else np.eye(len(K)))
    direction = K @ np.linalg.solve(noise, means[1] - means[0])
    ours = K @ linear.solve(problem).coefficients[:, 0]
    cosine = direction @ ours / np.linalg.norm(direction) / np.linalg.norm(ours)
    assert cosine == pytest.approx(1, abs=1e-9)


def test_function_penalty_is_kernel_ridge_with_intercept():
    problem = two_classes("function", 0.7)
    solution = linear.solve(problem)
    ridge = KernelRidge(alpha=0.7, kernel="rbf", gamma=0.4)
    X = problem.kernel.rows
    ridge.fit(X, problem.targets - solution.intercept, sample_weight=problem.weights)
    np.testing.assert_allclose(solution.outputs, ridge.predict(X) + solution.intercept, atol=1e-10)
    gradient = problem.weights @ (problem.targets - solution.outputs)
    np.testing.assert_allclose(gradient, 0, atol=1e-10)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(PENALTIES), st.sampled_from([0.03, 1.0, 30.0]))
def test_leave_one_out_is_refitting_without_the_row(seed, penalty, alpha):
    problem = two_classes(penalty, alpha, n=25, seed=seed)
    X = problem.kernel.rows
    expected = np.empty_like(problem.targets)
    for i in range(len(X)):
        without = without_row(problem, i)
        fit = linear.solve(without)
        expected[i] = problem.kernel.kernel(X[i : i + 1], without.kernel.rows) @ fit.coefficients + fit.intercept
    by_factor = next(linear.path(problem, [alpha])).loo_outputs
    by_spectrum = list(linear.path(problem, [alpha] * 30))[-1].loo_outputs
    np.testing.assert_allclose(by_factor, expected, atol=1e-8)
    np.testing.assert_allclose(by_spectrum, expected, atol=1e-8)


def test_leaving_out_one_of_several_copies():
    copies = np.random.default_rng(0).integers(1, 4, size=20)
    problem = two_classes("function", 0.3, n=20, weights=copies.astype(float))
    weighted = linear.solve(replace(problem, copies=copies))
    repeated = linear.solve(repeated_rows(problem, np.repeat(np.arange(20), copies)))
    np.testing.assert_allclose(np.repeat(weighted.loo_outputs, copies, axis=0), repeated.loo_outputs, atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_whole_path_equals_single_solutions(penalty):
    problem = two_classes(penalty, 1.0)
    alphas = np.geomspace(1e-3, 1e2, 25)
    for alpha, solution in zip(alphas, linear.path(problem, alphas)):
        alone = linear.solve(replace(problem, alpha=alpha))
        np.testing.assert_allclose(solution.objective, alone.objective, rtol=1e-7)
        np.testing.assert_allclose(solution.outputs, alone.outputs, atol=1e-7)


def test_singular_kernel_matrix_and_vanishing_penalty():
    """A linear kernel on 40 rows of 3 columns has rank 3; alpha = 0 is plain least squares."""
    problem = replace(
        two_classes("function", 0.0), kernel=KernelRows(Kernel("linear"), two_classes("function", 1).kernel.rows)
    )
    X, w, y = problem.kernel.rows, problem.weights, problem.targets
    design = np.sqrt(w)[:, None] * np.column_stack([X, np.ones(len(X))])
    coefficients = np.linalg.lstsq(design, np.sqrt(w)[:, None] * y, rcond=None)[0]
    expected = np.column_stack([X, np.ones(len(X))]) @ coefficients
    np.testing.assert_allclose(linear.solve(problem).outputs, expected, atol=1e-8)
