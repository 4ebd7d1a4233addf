"""The kernel problem written out for a general convex solver, and small problems to try it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np

from eigenfeat.kernel import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Huber,
    Loss,
    PiecewisePolynomial,
    Polynomial,
    Squared,
)
from eigenfeat.kernel.losses import as_loss
from eigenfeat.kernel.problem import DEFAULTS, PENALTIES, KernelProblem, KernelSolution
from eigenfeat.solvers.contract import Solver
from eigenfeat.stages.kernels import Kernel, KernelRows


def small_problem(
    loss: str | Loss,
    penalty: str,
    alpha: float,
    n: int = 40,
    kernel: Kernel | None = None,
    seed: int = 0,
    weighted: bool = True,
) -> KernelProblem:
    """A noisy two-class target and a smooth one over the same rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    targets = np.column_stack([np.sign(X[:, 0] + 0.5 * rng.normal(size=n)), np.sin(2 * X[:, 1])])
    weights = rng.uniform(0.2, 2.0, size=n) if weighted else np.ones(n)
    return KernelProblem(KernelRows(kernel or Kernel("rbf", 0.5), X), targets, weights, alpha, as_loss(loss), penalty)


def two_classes(
    penalty: str, alpha: float, n: int = 40, weights: np.ndarray | None = None, seed: int = 0
) -> KernelProblem:
    """Squared loss to labels and to their negatives: targets that an eigenproblem solves too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    weights = rng.uniform(0.2, 2, size=n) if weights is None else weights
    targets = np.column_stack([y, -y])
    return KernelProblem(KernelRows(Kernel("rbf", 0.4), X), targets, weights, alpha, penalty=penalty)


def without_row(problem: KernelProblem, row: int) -> KernelProblem:
    kept = np.arange(problem.n_rows) != row
    return replace(
        problem,
        kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows[kept]),
        targets=problem.targets[kept],
        weights=problem.weights[kept],
    )


def repeated_rows(problem: KernelProblem, index: np.ndarray) -> KernelProblem:
    """The problem over these of its rows, some of them several times, each with weight one."""
    return replace(
        problem,
        kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows[index]),
        targets=problem.targets[index],
        weights=np.ones(len(index)),
    )


def cells(solver: Solver) -> list[tuple[str, str]]:
    """The (loss, penalty) pairs a solver says it solves."""
    pairs = [(loss, penalty) for loss in LOSSES for penalty in PENALTIES]
    return [pair for pair in pairs if not solver.unmet(small_problem(*pair, 1.0), DEFAULTS)]


def written_loss(loss: Loss, residuals: cp.Expression) -> cp.Expression:
    """The losses that have a name, each as a textbook has it."""
    match loss:
        case Squared():
            return cp.square(residuals) / 2
        case Absolute():
            return cp.abs(residuals)
        case Huber(sigma):
            return cp.huber(residuals, sigma) / (2 * sigma)
        case EpsilonInsensitive(epsilon):
            return cp.pos(cp.abs(residuals) - epsilon)
        case Polynomial(p):
            return cp.power(cp.abs(residuals), p) / p
        case PiecewisePolynomial(p, sigma):
            # The smallest sum of the power of one part of the residual and the size of the other.
            bent = cp.Variable(residuals.shape)
            return cp.power(cp.abs(bent), p) / (p * sigma ** (p - 1)) + cp.abs(residuals - bent)
    raise TypeError(f"{loss!r} is not written out")


def square_root(matrix: np.ndarray) -> np.ndarray:
    """R with RRᵀ the matrix, of negative eigenvalues nothing."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def optimum(
    problem: KernelProblem, written: Callable[[Loss, cp.Expression], cp.Expression] = written_loss
) -> np.ndarray:
    """The least objective of every target, by Clarabel on the written-out program."""
    K = problem.columns()
    root = square_root(problem.kernel.between(problem.expanded_over))
    best = []
    for y in problem.targets.T:
        coefficients, intercept = cp.Variable(K.shape[1]), cp.Variable()
        residuals = y - K @ coefficients - intercept
        loss = written(problem.loss, residuals)
        if problem.penalty == "function":
            penalty = cp.sum_squares(root.T @ coefficients) / 2
        elif problem.penalty == "coefficients":
            penalty = cp.sum_squares(coefficients) / 2
        else:
            penalty = cp.norm1(coefficients)
        objective = cp.sum(cp.multiply(problem.weights, loss)) + problem.alpha * penalty
        for change in problem.tangents:
            objective += cp.sum_squares((np.sqrt(problem.weights)[:, None] * change) @ coefficients) / 2
        program = cp.Problem(cp.Minimize(objective))
        program.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        best.append(program.value)
    return np.array(best)


def check_minimum(problem: KernelProblem, solution: KernelSolution) -> KernelSolution:
    """A solution at the written-out optimum, with the outputs of its own coefficients where it has any."""
    np.testing.assert_allclose(solution.objective, optimum(problem), rtol=1e-6)
    if solution.outputs is not None:
        K = problem.kernel.matrix()
        np.testing.assert_allclose(solution.outputs, K @ solution.coefficients + solution.intercept, atol=1e-6)
    return solution


def outputs(rng: np.random.RandomState, n: int = 300, share: float = 0.4, gap: float = 2.0):
    """One-dimensional outputs of two classes, which of them are positive, and integer weights."""
    positive = rng.rand(n) < share
    return rng.randn(n) + gap * positive, positive, rng.randint(1, 4, size=n).astype(float)
