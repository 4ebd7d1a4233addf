"""Squared loss with quadratic penalties: every solver against the written-out program, and leave-one-out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from written_out import optimum, small_problem

from eigenfeat.kernel import eigen, greedy, linear, nystrom, subset
from eigenfeat.kernel.inverses import product
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.scatter import class_means, within_scatter
from eigenfeat.stages.kernels import Kernel, KernelRows

PENALTIES = ["function", "coefficients"]


def two_classes(penalty, alpha, n=40, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    weights = rng.uniform(0.2, 2, size=n) if weights is None else weights
    targets = np.column_stack([y, -y])
    return KernelProblem(KernelRows(Kernel("rbf", 0.4), X), targets, weights, alpha, penalty=penalty)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("alpha", [0.03, 3.0])
def test_solvers_reach_the_written_out_minimum(penalty, alpha):
    problem = small_problem("squared", penalty, alpha)
    best = optimum(problem)
    for solution in (
        linear.solve(problem),
        subset.solve(problem),
        nystrom.solve(problem, tol=1e-9, max_iter=200),
        greedy.solve(problem, tol=0, max_terms=40),
    ):
        np.testing.assert_allclose(solution.objective, best, rtol=1e-6)
        K = problem.kernel.matrix()
        np.testing.assert_allclose(solution.outputs, K @ solution.coefficients + solution.intercept, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_eigen_is_the_least_squares_solution(penalty):
    problem = two_classes(penalty, 0.5)
    by_eigen, by_system = eigen.solve(problem), linear.solve(problem)
    np.testing.assert_allclose(by_eigen.objective, by_system.objective, rtol=1e-9)
    np.testing.assert_allclose(by_eigen.outputs, by_system.outputs, atol=1e-6)


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
    X, kernel = problem.kernel.rows, problem.kernel.kernel
    expected = np.empty_like(problem.targets)
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        without = replace(
            problem,
            kernel=KernelRows(kernel, X[kept]),
            targets=problem.targets[kept],
            weights=problem.weights[kept],
        )
        fit = linear.solve(without)
        expected[i] = kernel(X[i : i + 1], X[kept]) @ fit.coefficients + fit.intercept
    by_factor = next(linear.path(problem, [alpha])).loo_outputs
    by_spectrum = list(linear.path(problem, [alpha] * 30))[-1].loo_outputs
    np.testing.assert_allclose(by_factor, expected, atol=1e-8)
    np.testing.assert_allclose(by_spectrum, expected, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("as_points", [True, False])
def test_leave_one_out_in_the_restricted_expansion(penalty, as_points):
    problem = two_classes(penalty, 0.2, n=25)
    X, kernel = problem.kernel.rows, problem.kernel.kernel
    index = np.arange(0, 25, 3)
    points = X[index]
    solution = subset.solve(replace(problem, centers=points if as_points else index))
    for i in range(25):
        kept = np.arange(25) != i
        fit = subset.solve(
            replace(
                problem,
                kernel=KernelRows(kernel, X[kept]),
                targets=problem.targets[kept],
                weights=problem.weights[kept],
                centers=points,
            )
        )
        expected = kernel(X[i : i + 1], points) @ fit.coefficients + fit.intercept
        np.testing.assert_allclose(solution.loo_outputs[i], expected[0], atol=1e-8)


def test_leaving_out_one_of_several_copies():
    copies = np.random.default_rng(0).integers(1, 4, size=20)
    problem = two_classes("function", 0.3, n=20, weights=copies.astype(float))
    weighted = linear.solve(replace(problem, copies=copies))
    repeated = linear.solve(
        replace(
            problem,
            kernel=KernelRows(problem.kernel.kernel, np.repeat(problem.kernel.rows, copies, axis=0)),
            targets=np.repeat(problem.targets, copies, axis=0),
            weights=np.ones(copies.sum()),
        )
    )
    np.testing.assert_allclose(np.repeat(weighted.loo_outputs, copies, axis=0), repeated.loo_outputs, atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_whole_path_equals_single_solutions(penalty):
    problem = two_classes(penalty, 1.0)
    alphas = np.geomspace(1e-3, 1e2, 25)
    for alpha, solution in zip(alphas, linear.path(problem, alphas)):
        alone = linear.solve(replace(problem, alpha=alpha))
        np.testing.assert_allclose(solution.objective, alone.objective, rtol=1e-7)
        np.testing.assert_allclose(solution.outputs, alone.outputs, atol=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_nystrom_and_subset_agree_over_centres(penalty):
    problem = replace(two_classes(penalty, 0.1, n=300), centers=np.arange(0, 300, 5))
    iterated, direct = nystrom.solve(problem, tol=1e-8), subset.solve(problem)
    np.testing.assert_allclose(iterated.objective, direct.objective, rtol=1e-6)
    np.testing.assert_allclose(iterated.outputs, direct.outputs, atol=1e-4)


def test_nystrom_never_holds_the_kernel_block(monkeypatch):
    """Only blocks of at most `block_entries` values exist, whatever the number of rows."""
    problem = replace(two_classes("function", 1.0, n=2000), centers=np.arange(100))
    monkeypatch.setattr(KernelRows, "block_entries", 5000)
    seen = []
    original = Kernel.of_products

    def spy(self, products):
        seen.append(products.size)
        return original(self, products)

    monkeypatch.setattr(Kernel, "of_products", spy)
    nystrom.solve(problem, tol=1e-2)
    assert max(seen) <= 100 * 100


def test_greedy_stops_early_and_falls_monotonically():
    problem = two_classes("function", 1.0, n=300)
    loose, tight = greedy.solve(problem, tol=1e-2), greedy.solve(problem, tol=1e-4)
    full = linear.solve(problem).objective.sum()
    assert loose.n_iter < tight.n_iter < 300
    assert full <= tight.objective.sum() <= loose.objective.sum()
    assert tight.objective.sum() < 1.02 * full
    assert (tight.coefficients.any(axis=1)).sum() == tight.n_iter


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


def test_a_product_with_a_wider_block_keeps_its_precision():
    rng = np.random.default_rng(0)
    rows, block = rng.normal(size=(2500, 7)).astype(np.float32), rng.normal(size=(7, 3))
    assert product(rows, block).dtype == np.float64
    np.testing.assert_allclose(product(rows, block), rows.astype(np.float64) @ block, rtol=1e-12)
