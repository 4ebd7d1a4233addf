"""The sparse penalty for a whole path of alpha: few terms at a large alpha are where the search for more begins.

Squared and Huber loss: a coefficient is zero where ``|K[:, j]ᵀτ| ≤ alpha``, τ the weighted slopes of the loss at the
residuals, so that a program over the terms at hand is solved, columns that break this join, and the optimum over few
columns is that over all once none does. Piecewise linear losses: column generation, whose linear program keeps its
columns and its basis from one alpha to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from eigenfeat.kernel import column_generation, lp
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.qp import SparsePrograms
from eigenfeat.kernel.used_rows import UsedRows

#: Columns that join in a round, at most, and as many as there are terms.
JOINING = 10
#: By how much a column may break its bound, as a share of alpha.
SLACK = 1e-7


def path(
    problem: KernelProblem, alphas: Sequence[float], request: KernelRequest = DEFAULTS
) -> Iterator[KernelSolution]:
    """The solution at every alpha, in the order given; inside, the largest is solved first.

    Parameters
    ----------
    problem : KernelProblem
        With the penalty "sparse".
    alphas : sequence of positive floats
    request : KernelRequest
        As for the solvers "qp" and "column_generation".
    """
    order = np.argsort(-np.asarray(alphas), kind="stable")
    descending = [float(alphas[i]) for i in order]
    if not problem.loss.is_piecewise_linear:
        found = _growing_sets(problem, descending, request)
    elif problem.centers is None and lp.has_highspy():
        found = column_generation.path(problem, descending, request)
    else:
        found = (lp.solve(_at(problem, alpha), request) for alpha in descending)
    solutions = dict(zip(order, found))
    yield from (solutions[i] for i in range(len(order)))


def _at(problem: KernelProblem, alpha: float) -> KernelProblem:
    return UsedRows.of(problem, dtype=None).at_alpha(alpha).problem


def _growing_sets(problem: KernelProblem, alphas: Sequence[float], request: KernelRequest) -> Iterator[KernelSolution]:
    wanted = request.filled(tol=1e-8, max_iter=100)
    used = UsedRows.of(problem)
    programs = SparsePrograms(used.problem)
    short = np.zeros((programs.columns.shape[1], used.problem.targets.shape[1]))
    for alpha in alphas:
        converged, n_iter = True, 0
        for t, y in enumerate(used.problem.targets.T):
            short[:, t], settled, rounds = _grown(programs, y, alpha, short[:, t], wanted)
            converged, n_iter = converged and settled, max(n_iter, rounds)
        yield used.at_alpha(alpha).solution(
            programs.expanded(short),
            programs.columns @ short,
            np.abs(short).sum(axis=0),
            converged=converged,
            n_iter=n_iter,
            solver="qp",
        )


def _grown(
    programs: SparsePrograms, y: np.ndarray, alpha: float, start: np.ndarray, wanted: KernelRequest
) -> tuple[np.ndarray, bool, int]:
    """Coefficients from those of another alpha; whether they are proven, and the programs it took."""
    assert wanted.tol is not None and wanted.max_iter is not None
    x, chosen, converged = start.copy(), np.flatnonzero(start), True
    for rounds in range(len(x) + 1):
        broken = np.abs(_pulls(programs, y, x))
        broken[chosen] = 0.0
        count = max(JOINING, len(chosen))
        worst = np.argsort(-broken, kind="stable")[:count]
        joining = worst[broken[worst] > alpha * (1 + SLACK)]
        if not len(joining) and rounds:
            return x, converged, rounds
        chosen = np.sort(np.concatenate([chosen, joining]))
        x = np.zeros_like(start)
        if len(chosen):
            x[chosen], point = programs.solved(y, alpha, wanted.tol, wanted.max_iter, chosen)
            converged = point.converged
    return x, False, len(x)


def _pulls(programs: SparsePrograms, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``Kᵀτ`` of every column, less what invariances pull back."""
    problem = programs.problem
    residuals = y - programs.columns @ x
    shift = problem.loss.intercept(residuals[:, None], problem.weights)[0]
    pulls = programs.columns.T @ (problem.weights * problem.loss.slopes(residuals - shift))
    if problem.invariance is None:
        return pulls
    return pulls - (problem.invariance[np.ix_(programs.distinct, programs.distinct)] @ x)
