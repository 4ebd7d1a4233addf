"""SMO over a basis chosen greedily: sparse expansions with any loss (thesis, end of 3.5.3).

The expansion grows a few rows at a time; each time the dual is re-optimised from the multipliers at hand.
With the basis rows as pivots of an incomplete Cholesky factor V, the problem restricted to the expansion has
the kernel ``VVᵀ``, so `eigenfeat.kernel.smo` solves it unchanged, and nothing of the size of the basis is
inverted.

A new basis row adds one orthonormal feature, the column v of V. At multipliers τ its coefficient lowers the
objective by ``(vᵀτ)² / (2 (alpha + Σ w v² / s))`` at least, s being the curvature of the loss' conjugate; for
the losses with s = 0 the candidates are ranked by ``(vᵀτ)² / (2 alpha)``.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, sections 3.5.2 and 3.5.3; A. Smola and B. Schölkopf, "Sparse
greedy matrix approximation for machine learning", ICML 2000.
"""

from __future__ import annotations

import numpy as np

from eigenfeat.kernel import smo
from eigenfeat.kernel.incomplete_cholesky import IncompleteCholesky
from eigenfeat.kernel.needs import ALL_ROWS, FUNCTION_PENALTY, PARABOLIC_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver, never


class FactoredColumns:
    """Columns of ``VVᵀ``."""

    def __init__(self, factor: np.ndarray) -> None:
        self.factor = factor
        self.dtype = factor.dtype

    def __len__(self) -> int:
        return len(self.factor)

    def columns(self, centers: np.ndarray) -> np.ndarray:
        return self.factor @ self.factor[centers].T


def solve(
    problem: KernelProblem,
    request: KernelRequest = DEFAULTS,
    *,
    n_candidates: int = 59,
    n_added: int = 5,
    patience: int = 5,
    cache_size: float = 20.0,
    batch_size: int = 128,
) -> KernelSolution:
    """Grow the expansion until the objective, summed over the targets, stops falling.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-2) is that of SMO on each expansion, and the relative decrease of the objective a round, averaged
        over the last ``patience`` rounds, below which the expansion is left as it is. ``max_iter`` (10,000) counts
        batches of columns of SMO on each expansion, ``max_terms`` (500) rows in the expansion.
    n_candidates : int
        Random rows a round that compete.
    n_added : int
        Rows a round that join, the best of the candidates one after another.
    patience : int
        Rounds averaged over.
    cache_size, batch_size
        Of SMO.
    """
    wanted = request.filled(tol=1e-2, max_iter=10_000, max_terms=500)
    used, draw = UsedRows.of(problem), request.draw()
    problem, most = used.problem, min(wanted.max_terms, len(used.index))
    basis = IncompleteCholesky(problem.kernel, most)
    tau = np.zeros_like(problem.targets)
    objectives: list[float] = []
    point = None
    while len(basis.pivots) < most:
        if not _extend(basis, problem, tau, draw, n_candidates, min(n_added, most - len(basis.pivots))):
            break
        factor = basis.factor
        point = smo.minimise(
            problem,
            FactoredColumns(factor),
            tau,
            factor @ (factor.T @ tau) / problem.alpha,
            tol=wanted.tol,
            max_iter=wanted.max_iter,
            cache_size=cache_size,
            batch_size=batch_size,
        )
        tau = point.tau
        objectives.append(float(point.primal.sum()))
        if len(objectives) > patience and _mean_decrease(objectives, patience) < wanted.tol:
            break
    v = basis.factor.T @ tau / problem.alpha
    converged = point is not None and len(point.open_targets(wanted.tol)) == 0
    terms, outputs, penalty = basis.expansion(v), basis.factor @ v, (v**2).sum(axis=0) / 2
    return used.solution(terms, outputs, penalty, converged=converged, n_iter=len(objectives), solver="greedy_smo")


def _extend(
    basis: IncompleteCholesky,
    problem: KernelProblem,
    tau: np.ndarray,
    draw: np.random.RandomState,
    n_candidates: int,
    n_added: int,
) -> int:
    """Add the best of some random candidates to the basis, one after another; how many."""
    candidates = draw.permutation(problem.in_order(np.flatnonzero(basis.independent)))[:n_candidates]
    columns = basis.residual_columns(candidates)
    loss = problem.loss
    # At τ = 0 nothing tells the candidates apart: the residuals of the constant model do.
    slopes = tau if tau.any() else problem.weights[:, None] * (problem.targets - _means(problem))
    added = 0
    while added < n_added and len(candidates):
        norms = columns[candidates, np.arange(len(candidates))]
        spread = (problem.weights @ columns**2) / loss.curvature if loss.curvature else 0.0
        gains = ((columns.T @ slopes) ** 2).sum(axis=1) / (problem.alpha * norms + spread)
        best = int(np.argmax(gains))
        pivot, column = int(candidates[best]), columns[:, best]
        basis.add(pivot, column)
        added += 1
        last = basis.factor[:, -1]
        columns = columns - np.outer(last, last[candidates])
        keep = basis.independent[candidates]
        candidates, columns = candidates[keep], columns[:, keep]
    return added


def _means(problem: KernelProblem) -> np.ndarray:
    return problem.weights @ problem.targets / problem.weights.sum()


def _mean_decrease(objectives: list[float], patience: int) -> float:
    """Relative decrease a round over the last rounds."""
    return (objectives[-1 - patience] - objectives[-1]) / (patience * abs(objectives[-1]) + np.finfo(float).tiny)


# An approximation: only where it is asked for.
SOLVER = Solver("greedy_smo", solve, (PARABOLIC_LOSS, FUNCTION_PENALTY, ALL_ROWS), suits=never)
