"""The kernel problem written out for a general convex solver, and small problems to try it on."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.stages.kernels import Kernel, KernelRows


def small_problem(
    loss: str,
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
    return KernelProblem(KernelRows(kernel or Kernel("rbf", 0.5), X), targets, weights, alpha, loss, penalty)


def optimum(problem: KernelProblem) -> np.ndarray:
    """The least objective of every target, by Clarabel on the written-out program."""
    K = problem.kernel.matrix()
    eigenvalues, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    best = []
    for y in problem.targets.T:
        coefficients, intercept = cp.Variable(len(y)), cp.Variable()
        residuals = y - K @ coefficients - intercept
        if problem.loss == "squared":
            loss = cp.square(residuals) / 2
        elif problem.loss == "absolute":
            loss = cp.abs(residuals)
        elif problem.loss == "huber":
            loss = cp.huber(residuals, problem.huber_sigma) / (2 * problem.huber_sigma)
        else:
            loss = cp.pos(cp.abs(residuals) - problem.epsilon)
        if problem.penalty == "function":
            penalty = cp.sum_squares(root.T @ coefficients) / 2
        elif problem.penalty == "coefficients":
            penalty = cp.sum_squares(coefficients) / 2
        else:
            penalty = cp.norm1(coefficients)
        objective = cp.sum(cp.multiply(problem.weights, loss)) + problem.alpha * penalty
        program = cp.Problem(cp.Minimize(objective))
        program.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        best.append(program.value)
    return np.array(best)
