"""Theorems 1 and 2 of the LS paper, and their extension to any rank: every solver, every model, one answer."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ls_problems import MODELS, brute_force, factor, inputs, largest_angle, problem
from scipy import sparse
from scipy.linalg import null_space
from sklearn.exceptions import ConvergenceWarning

from eigenfeat import solvers
from eigenfeat.least_squares.quotient import pose
from eigenfeat.least_squares.rows import centre, centre_kernel
from eigenfeat.least_squares.solution import LeastSquaresRequest, orient
from eigenfeat.least_squares.solve import SOLVERS, choose, solve
from eigenfeat.least_squares.targets import reduce

EXACT = LeastSquaresRequest(tol=1e-13)
SHAPES = {"wide": (24, 40, None), "tall": (60, 9, None), "deficient": (40, 30, 7)}


@pytest.mark.parametrize("model", MODELS)
def test_theorem_1_and_2_at_full_row_rank(model):
    """rank(X) = n - 1: eigenvalues are the squared singular values of H, eigenvectors regressions on its targets."""
    rng = np.random.default_rng(1)
    n = 20
    X = inputs(rng, n, 35)
    one = problem(X, *factor(model, rng, n))
    A, T = one.rows.matrix, one.targets.orthonormal
    regression = np.linalg.pinv(A) @ T
    assert np.linalg.matrix_rank(A) == n - 1
    for solver in SOLVERS.names:
        solution = solve(one, solver, EXACT)
        np.testing.assert_allclose(solution.values, one.targets.scale**2, rtol=1e-9)
        assert largest_angle(solution.vectors, regression) < 1e-8
        np.testing.assert_allclose(solution.scores.T @ solution.scores, np.eye(one.targets.rank), atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", MODELS)
def test_every_solver_solves_the_eigenproblem_at_any_rank(model, shape, shift):
    rng = np.random.default_rng(2)
    n, d, rank = SHAPES[shape]
    X = inputs(rng, n, d, rank)
    H, project = factor(model, rng, n)
    values, vectors = brute_force(X, H, project, shift)
    A = X - X.mean(axis=0)
    for is_sparse in (False, True):
        one = problem(X, H, project, shift, is_sparse=is_sparse)
        for solver in SOLVERS.names:
            solution = solve(one, solver, EXACT)
            np.testing.assert_allclose(solution.values, values, rtol=1e-8, atol=1e-10 * values.max())
            assert largest_angle(solution.vectors, vectors) < 1e-8
            assert largest_angle(solution.vectors[:, :1], vectors[:, :1]) < 1e-7 or np.diff(values[:2])[0] > -1e-6
            gram = solution.vectors.T @ (A.T @ A + shift * np.eye(d)) @ solution.vectors
            np.testing.assert_allclose(gram, np.eye(len(values)), atol=1e-8)
            assert solution.residuals.max() < 1e-8


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(8, 30),
    d=st.integers(2, 30),
    rank=st.integers(1, 12),
    shift=st.sampled_from([0.0, 0.1]),
    model=st.sampled_from(MODELS),
)
def test_solvers_agree_entry_by_entry(seed, n, d, rank, shift, model):
    """Order, scale, sign and the basis of tied eigenvalues are conventions: the directions themselves must agree."""
    rng = np.random.default_rng(seed)
    one = problem(inputs(rng, n, d, min(rank, d)), *factor(model, rng, n), shift)
    reference = solve(one, "eigen")
    gaps = -np.diff(reference.values, append=0) / reference.values[0]
    # nearly tied or nearly vanishing values leave directions ill-determined
    assume(reference.values[-1] > 1e-4 * reference.values[0] and not np.any((gaps > 1e-9) & (gaps < 1e-3)))
    for solver in ("primal", "dual", "block_cg", "lsqr"):
        solution = solve(one, solver, EXACT)
        np.testing.assert_allclose(solution.values, reference.values, rtol=1e-7)
        np.testing.assert_allclose(solution.scores, reference.scores, atol=1e-8)


@pytest.mark.parametrize("model", ["lda", "cca", "opls"])
def test_integer_weights_equal_repeated_rows(model):
    rng = np.random.default_rng(3)
    X = inputs(rng, 30, 12)
    H, project = factor(model, rng, 30)
    weight = rng.integers(1, 4, size=30)
    values, _ = brute_force(X, H, project, 0.5, weight)
    repeated = problem(X.repeat(weight, axis=0), H.repeat(weight, axis=0), project, 0.5)
    for is_sparse in (False, True):
        weighted = solve(problem(X, H, project, 0.5, weight.astype(float), is_sparse))
        np.testing.assert_allclose(weighted.values, values, rtol=1e-9)
        np.testing.assert_allclose(weighted.vectors, solve(repeated).vectors, atol=1e-9)


def test_tied_eigenvalues_take_the_limit_of_a_vanishing_ridge():
    """In LDA on wide data every eigenvalue is one; the basis is the one that small ridges converge to."""
    rng = np.random.default_rng(4)
    X = inputs(rng, 20, 50)
    H, project = factor("lda", rng, 20)
    tied = solve(problem(X, H, project))
    np.testing.assert_allclose(tied.values, 1)
    assert np.all(np.diff(np.linalg.norm(tied.vectors, axis=0)) > 0)
    nearly = solve(problem(X, H, project, 1e-6))
    np.testing.assert_allclose(nearly.vectors, tied.vectors, atol=1e-6 * np.abs(tied.vectors).max())


def test_a_change_of_basis_moves_directions_and_not_scores():
    rng = np.random.default_rng(5)
    X, (H, project) = inputs(rng, 50, 8), factor("cca", rng, 50)
    B = rng.normal(size=(8, 8))
    plain, moved = solve(problem(X, H, project)), solve(problem(X @ B, H, project))
    np.testing.assert_allclose(moved.scores, plain.scores, atol=1e-8)


def test_linear_kernel_gives_the_linear_scores():
    rng = np.random.default_rng(6)
    X, (H, project) = inputs(rng, 25, 40), factor("star", rng, 25)
    weight = rng.uniform(0.5, 2, size=25)
    rows = centre_kernel(X @ X.T, weight)
    in_feature_space = pose(rows, reduce(H, rows.root, project=project)).shifted(0.3)
    for solver in ("eigen", "dual"):
        solution = solve(in_feature_space, solver)
        linear = solve(problem(X, H, project, 0.3, weight))
        np.testing.assert_allclose(solution.scores, linear.scores, atol=1e-8)
        assert solution.residuals.max() < 1e-8


def test_unconverged_targets_are_reported():
    rng = np.random.default_rng(10)
    one = problem(inputs(rng, 60, 50), *factor("any", rng, 60))
    with pytest.warns(ConvergenceWarning, match="3 of 3 targets did not reach tol=1e-12 in max_iter=2"):
        solution = solve(one, "block_cg", LeastSquaresRequest(tol=1e-12, max_iter=2))
    assert not solution.converged.any()
    assert solution.n_iter == 2


def test_a_neighbouring_solution_is_a_head_start():
    rng = np.random.default_rng(11)
    X, (H, project) = rng.normal(size=(80, 60)) * np.geomspace(1, 30, 60), factor("any", rng, 80)
    near = solve(problem(X, H, project, 1.1), "block_cg")
    cold = solve(problem(X, H, project, 1.0), "block_cg", LeastSquaresRequest(tol=1e-4))
    warm = solve(problem(X, H, project, 1.0), "block_cg", LeastSquaresRequest(tol=1e-4, start=near.vectors))
    assert warm.n_iter < cold.n_iter
    # tol=1e-4 of residuals, times the square root of the condition of XᵀX + I, 83, at most
    assert largest_angle(warm.vectors, solve(problem(X, H, project, 1.0)).vectors) < 1e-2


def test_auto_reads_shape_sparsity_and_shift():
    rng = np.random.default_rng(12)

    def choice(n, d, shift, is_sparse):
        X = sparse.random_array((n, d), density=1e-4, random_state=rng, format="csr") if is_sparse else np.ones((n, d))
        rows = centre(X)
        one = pose(rows, reduce(np.arange(n)[:, None], rows.root)).shifted(shift)
        return choose(one, EXACT).name

    assert choice(50, 20, 0.0, False) == "eigen"
    assert choice(50, 20, 1.0, False) == "primal"
    assert choice(20, 50, 1.0, True) == "dual"
    assert choice(9000, 9500, 1.0, True) == "block_cg"


def test_a_direction_no_target_correlates_with_has_its_largest_entry_positive():
    """The rule of every solver, where what correlation there is is rounding."""
    rng = np.random.default_rng(13)
    one = problem(inputs(rng, 30, 8), *factor("opls", rng, 30))
    vectors = null_space(one.targets.orthonormal.T @ one.rows.matrix)
    assert vectors.shape[1]
    expected = solvers.orient(vectors, None)
    for sign in (1, -1):
        found, scores = orient(one, sign * vectors, one.rows.times(sign * vectors))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(scores, one.rows.times(expected), atol=1e-12)
