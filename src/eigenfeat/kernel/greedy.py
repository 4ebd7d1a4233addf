"""Squared loss over few terms, found one by one (thesis 3.5.2, figure 3.3).

Every step draws candidate rows at random, adds the one that lowers the objective most, and solves anew over the
rows chosen so far. With H = ΦᵀWΦ + alpha·P over these rows (Φ the centred kernel columns, which takes the intercept
out) and H = LLᵀ, a further row adds one row to L and one entry z to L⁻¹ΦᵀWy, and the objective falls by ½z². Nothing
is ever solved from scratch, and the gain of a candidate costs one column. All targets share the rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from eigenfeat.kernel.problem import KernelProblem, KernelSolution

SOLVES = frozenset({("squared", "function"), ("squared", "coefficients")})

# The best of 59 random candidates is among the best 5 % of all with probability 0.95 (thesis, lemma 3.2).
N_CANDIDATES = 59
# Steps over which the improvement is averaged before it is called small.
PATIENCE = 5


def solve(
    problem: KernelProblem,
    *,
    tol: float = 1e-3,
    max_terms: int = 500,
    random_state: np.random.RandomState | None = None,
) -> KernelSolution:
    """Add terms until the improvement, averaged over five steps, falls below ``tol`` times the objective."""
    random = np.random.RandomState(0) if random_state is None else random_state
    kernel, w = problem.kernel, problem.weights.astype(np.float64)
    n, n_targets = problem.targets.shape
    root = np.sqrt(w)[:, None]
    mean_y = w @ problem.targets / w.sum()
    y = root * (problem.targets - mean_y)
    max_terms = min(max_terms, n)

    columns = np.empty((n, max_terms), order="F")
    means = np.empty(max_terms)
    L = np.zeros((max_terms, max_terms))
    z = np.zeros((max_terms, n_targets))
    chosen = np.empty(max_terms, dtype=int)
    unused = np.ones(n, dtype=bool)
    objective = np.einsum("ij,ij->j", y, y) / 2
    improvements: list[float] = []
    m, converged = 0, False
    while m < max_terms and not converged:
        candidates = np.flatnonzero(unused)
        if len(candidates) > N_CANDIDATES:
            candidates = random.choice(candidates, N_CANDIDATES, replace=False)
        raw = kernel.columns(candidates).astype(np.float64)
        mean = w @ raw / w.sum()
        design = root * (raw - mean)
        penalty = _penalty(problem, raw, candidates, chosen[:m])
        inner = columns[:, :m].T @ design + penalty[:-1]
        rows = solve_triangular(L[:m, :m], inner, lower=True, check_finite=False) if m else inner
        squared = np.einsum("ij,ij->j", design, design) + penalty[-1]
        left = squared - np.einsum("ij,ij->j", rows, rows)
        worth = left > 1e-12 * np.maximum(squared, 1e-300)
        if not worth.any():
            unused[candidates] = False
            converged = not unused.any()
            if converged:
                break
            continue
        steps = (design.T @ y - rows.T @ z[:m]) / np.sqrt(np.where(worth, left, 1))[:, None]
        gains = np.where(worth, np.einsum("ij,ij->i", steps, steps), -1)
        best = int(np.argmax(gains))
        columns[:, m], means[m], chosen[m] = design[:, best], mean[best], candidates[best]
        L[m, :m], L[m, m], z[m] = rows[:, best], np.sqrt(left[best]), steps[best]
        unused[chosen[m]] = False
        m += 1
        objective = objective - steps[best] ** 2 / 2
        improvements.append(float(gains[best]) / 2)
        recent = improvements[-PATIENCE:]
        converged = len(recent) == PATIENCE and np.mean(recent) < tol * objective.sum()

    theta = solve_triangular(L[:m, :m], z[:m], lower=True, trans=1, check_finite=False)
    coefficients = np.zeros((n, n_targets))
    coefficients[chosen[:m]] = theta
    intercept = mean_y - means[:m] @ theta
    outputs = kernel.columns(chosen[:m]) @ theta + intercept
    return KernelSolution(coefficients, intercept, objective, bool(converged), m, "greedy", outputs=outputs)


def _penalty(problem: KernelProblem, columns: np.ndarray, candidates: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """``alpha·P`` between the chosen rows and the candidates, and in the last row its diagonal at the candidates."""
    if problem.penalty == "coefficients":
        P = np.zeros((len(chosen) + 1, len(candidates)))
        P[-1] = 1
    else:
        P = np.vstack([columns[chosen], columns[candidates, np.arange(len(candidates))]])
    return problem.alpha * P
