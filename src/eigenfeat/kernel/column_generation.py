"""The sparse penalty's linear program by column generation: few kernel columns are kept (thesis, 3.5.6).

A kernel column whose constraint ``|K[:, j]ᵀτ| ≤ alpha`` holds without being asked for has coefficient zero
and need not be in the program. The program starts without any; columns whose constraint is violated join,
those idle for some rounds leave. Violators are looked for among the columns already formed, then among a few
random rows, then by a scan of all rows that computes ``Kτ`` block by block and keeps nothing; the last scan
finds none, which proves the optimum.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, section 3.5.6; A. Demiriz, K. Bennett and J. Shawe-Taylor,
"Linear programming boosting via column generation", Machine Learning 46, 2002.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat.kernel.losses import plain_rows, primal_solution
from eigenfeat.kernel.lp import SOLVES as SOLVES
from eigenfeat.kernel.lp import MultiplierProgram
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.stages.kernels import KernelRows


class ColumnPool:
    """Kernel columns formed so far, shared by all targets."""

    def __init__(self, kernel: KernelRows) -> None:
        self.kernel = kernel
        self.index = np.empty(0, dtype=int)
        self._storage = np.empty((len(kernel), 64), order="F")

    @property
    def columns(self) -> np.ndarray:
        return self._storage[:, : len(self.index)]

    def add(self, rows: np.ndarray) -> np.ndarray:
        """Form the columns of these rows, none of them in the pool yet; their positions in it."""
        first, last = len(self.index), len(self.index) + len(rows)
        if last > self._storage.shape[1]:
            grown = np.empty((len(self.kernel), max(last, 2 * self._storage.shape[1])), order="F")
            grown[:, :first] = self.columns
            self._storage = grown
        self._storage[:, first:last] = self.kernel.columns(rows)
        self.index = np.concatenate([self.index, rows])
        return np.arange(first, last)

    def others(self) -> np.ndarray:
        """Rows whose column has not been formed."""
        return np.setdiff1d(np.arange(len(self.kernel)), self.index, assume_unique=True)


def _products(kernel: KernelRows, rows: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """``K[rows] @ tau`` in blocks, over the rows where tau is not zero."""
    support = np.flatnonzero(tau)
    step = max(16, kernel.block_entries // max(1, len(support)))
    blocks = [rows[start : start + step] for start in range(0, len(rows), step)]
    return np.concatenate([kernel.block(block, support) @ tau[support] for block in blocks])


def _worst(products: np.ndarray, limit: float, count: int) -> np.ndarray:
    """Positions of the products beyond the limit, at most count, the furthest first."""
    size = np.abs(products)
    order = np.argsort(-size, kind="stable")[:count]
    return order[size[order] > limit]


def solve(
    problem: KernelProblem,
    *,
    tol: float = 1e-7,
    max_iter: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
    n_candidates: int = 59,
    n_columns: int = 10,
    max_idle: int = 5,
) -> KernelSolution:
    """Solve by column generation; all targets share the columns formed.

    Parameters
    ----------
    problem : KernelProblem
    tol : float
        Largest relative violation ``|K[:, j]ᵀτ| / alpha - 1`` left over all rows, which bounds the relative
        duality gap.
    max_iter : int
        Rounds a target: one warm-started run of HiGHS each.
    random_state : int, RandomState or None
        Draws the candidates.
    n_candidates : int
        Random rows looked at before all are: 59 hold one of the best 5 % with probability 0.95.
    n_columns : int
        Violators that join in a round, at most.
    max_idle : int
        Rounds with coefficient zero after which a column leaves the program.
    """
    n_rows = len(problem.weights)
    problem, index = plain_rows(problem, "column_generation")
    draw = check_random_state(random_state)
    program = MultiplierProgram(problem, 0.01 * tol, many_runs=True)
    pool = ColumnPool(problem.kernel)
    limit = problem.alpha * (1.0 + tol)
    inside = np.empty(0, dtype=int)  # positions in the pool of the program's constraints, in its order
    coefficients, outputs = np.zeros(problem.targets.shape), np.zeros(problem.targets.shape)
    converged, n_iter = True, 0
    for t, y in enumerate(problem.targets.T):
        program.set_targets(y)
        idle = np.zeros(len(inside), dtype=int)
        proven = False
        for _ in range(max_iter):
            n_iter += 1
            if not program.run(1_000_000):
                break
            tau, values = program.multipliers(), program.coefficients()
            coefficients[:, t] = 0.0
            coefficients[pool.index[inside], t] = values
            outputs[:, t] = pool.columns[:, inside] @ values
            idle = np.where(values != 0, 0, idle + 1)
            stale = np.flatnonzero(idle > max_idle)
            if len(stale):
                program.drop_constraints(stale)
                inside, idle = np.delete(inside, stale), np.delete(idle, stale)
            joining = _violators(pool, inside, tau, limit, draw, n_candidates, n_columns)
            proven = len(joining) == 0
            if proven:
                break
            program.add_constraints(pool.columns[:, joining])
            inside = np.concatenate([inside, joining])
            idle = np.concatenate([idle, np.zeros(len(joining), dtype=int)])
        converged &= proven
    return primal_solution(
        problem,
        index,
        n_rows,
        coefficients,
        outputs,
        np.abs(coefficients).sum(axis=0),
        converged=converged,
        n_iter=n_iter,
        solver="column_generation",
    )


def _violators(
    pool: ColumnPool,
    inside: np.ndarray,
    tau: np.ndarray,
    limit: float,
    draw: np.random.RandomState,
    n_candidates: int,
    n_columns: int,
) -> np.ndarray:
    """Positions in the pool of violated columns: from the pool, from random candidates, or from all rows."""
    products = pool.columns.T @ tau
    products[inside] = 0.0
    known = _worst(products, limit, n_columns)
    if len(known):
        return known
    others = pool.others()
    sample = draw.permutation(others)[:n_candidates]
    for rows in (sample, others):
        if len(rows):
            violated = rows[_worst(_products(pool.kernel, rows, tau), limit, n_columns)]
            if len(violated):
                return pool.add(violated)
    return np.empty(0, dtype=int)
