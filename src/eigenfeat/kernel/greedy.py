"""Squared loss over few terms, found one by one (thesis 3.5.2, figure 3.3).

Every step draws candidate rows at random, adds the one that lowers the objective most, and solves anew over the
rows chosen so far. With H = ΦᵀWΦ + alpha·P over these rows (Φ the centred kernel columns, which takes the intercept
out) and H = LLᵀ, a further row adds one row to L and one entry z to L⁻¹ΦᵀWy, and the objective falls by ½z². Nothing
is ever solved from scratch, and the gain of a candidate costs one column. All targets share the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from eigenfeat.kernel.needs import ALL_ROWS, QUADRATIC_PENALTY, SQUARED_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.solvers.contract import Solver, never

# The best of 59 random candidates is among the best 5 % of all with probability 0.95 (thesis, lemma 3.2).
N_CANDIDATES = 59
# Steps over which the improvement is averaged before it is called small.
PATIENCE = 5


@dataclass(frozen=True, eq=False)
class _Candidates:
    """What some rows would add: their centred, weighted columns, the entries of L and z, and how much they gain."""

    index: np.ndarray
    design: np.ndarray
    mean: np.ndarray
    rows: np.ndarray
    """Their rows of L, left of the diagonal, as columns."""
    left: np.ndarray
    """The squares of their entries on the diagonal of L."""
    steps: np.ndarray
    gains: np.ndarray
    """Twice what the objective falls by; -1 where the terms span the candidate already."""


class _Terms:
    """The rows chosen so far: their columns, the factor L of H over them, and z = L⁻¹ΦᵀWy."""

    def __init__(self, problem: KernelProblem, max_terms: int) -> None:
        n, n_targets = problem.targets.shape
        self.problem = problem
        self.weights = problem.weights.astype(np.float64)
        self.root = np.sqrt(self.weights)[:, None]
        self.mean_y = self.weights @ problem.targets / self.weights.sum()
        self.y = self.root * (problem.targets - self.mean_y)
        self.columns = np.empty((n, max_terms), order="F")
        self.means = np.empty(max_terms)
        self.L = np.zeros((max_terms, max_terms))
        self.z = np.zeros((max_terms, n_targets))
        self.chosen = np.empty(max_terms, dtype=int)
        self.n_terms = 0

    def assessed(self, candidates: np.ndarray) -> _Candidates:
        m = self.n_terms
        raw = self.problem.kernel.columns(candidates).astype(np.float64)
        mean = self.weights @ raw / self.weights.sum()
        design = self.root * (raw - mean)
        penalty = _penalty(self.problem, raw, candidates, self.chosen[:m])
        inner = self.columns[:, :m].T @ design + penalty[:-1]
        rows = solve_triangular(self.L[:m, :m], inner, lower=True, check_finite=False) if m else inner
        squared = np.einsum("ij,ij->j", design, design) + penalty[-1]
        left = squared - np.einsum("ij,ij->j", rows, rows)
        worth = left > 1e-12 * np.maximum(squared, 1e-300)
        steps = (design.T @ self.y - rows.T @ self.z[:m]) / np.sqrt(np.where(worth, left, 1))[:, None]
        gains = np.where(worth, np.einsum("ij,ij->i", steps, steps), -1)
        return _Candidates(candidates, design, mean, rows, left, steps, gains)

    def add(self, candidates: _Candidates, best: int) -> None:
        m = self.n_terms
        self.columns[:, m], self.means[m] = candidates.design[:, best], candidates.mean[best]
        self.chosen[m] = candidates.index[best]
        self.L[m, :m], self.L[m, m] = candidates.rows[:, best], np.sqrt(candidates.left[best])
        self.z[m] = candidates.steps[best]
        self.n_terms += 1

    def solution(self, objective: np.ndarray, converged: bool) -> KernelSolution:
        m = self.n_terms
        theta = solve_triangular(self.L[:m, :m], self.z[:m], lower=True, trans=1, check_finite=False)
        coefficients = np.zeros(self.problem.targets.shape)
        coefficients[self.chosen[:m]] = theta
        intercept = self.mean_y - self.means[:m] @ theta
        outputs = self.problem.kernel.columns(self.chosen[:m]) @ theta + intercept
        return KernelSolution(coefficients, intercept, objective, converged, m, "greedy", outputs=outputs)


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """Add terms, at most ``max_terms`` (500), until they no longer help.

    That is when the improvement, averaged over five steps, falls below ``tol`` (1e-3) times the objective.
    """
    wanted, draw = request.filled(tol=1e-3, max_terms=500), request.draw()
    unused = problem.weights > 0  # a row of weight zero is not there
    max_terms = min(wanted.max_terms, np.count_nonzero(unused))
    terms = _Terms(problem, max_terms)
    objective = np.einsum("ij,ij->j", terms.y, terms.y) / 2
    improvements: list[float] = []
    converged = False
    while terms.n_terms < max_terms and not converged:
        candidates = problem.in_order(np.flatnonzero(unused))
        if len(candidates) > N_CANDIDATES:
            candidates = draw.choice(candidates, N_CANDIDATES, replace=False)
        assessed = terms.assessed(candidates)
        best = int(np.argmax(assessed.gains))
        if assessed.gains[best] < 0:  # all candidates are spanned already
            unused[candidates] = False
            converged = not unused.any()
            continue
        terms.add(assessed, best)
        unused[candidates[best]] = False
        objective = objective - assessed.steps[best] ** 2 / 2
        improvements.append(float(assessed.gains[best]) / 2)
        recent = improvements[-PATIENCE:]
        converged = bool(len(recent) == PATIENCE and np.mean(recent) < wanted.tol * objective.sum())
    return terms.solution(objective, converged)


def _penalty(problem: KernelProblem, columns: np.ndarray, candidates: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """``alpha·P`` between the chosen rows and the candidates, and in the last row its diagonal at the candidates."""
    if problem.penalty == "coefficients":
        P = np.zeros((len(chosen) + 1, len(candidates)))
        P[-1] = 1
    else:
        P = np.vstack([columns[chosen], columns[candidates, np.arange(len(candidates))]])
    return problem.alpha * P


# An approximation: only where it is asked for.
SOLVER = Solver("greedy", solve, (SQUARED_LOSS, QUADRATIC_PENALTY, ALL_ROWS), suits=never)
