"""The sparse penalty's linear program by column generation: few kernel columns are kept (thesis, 3.5.6).

A kernel column whose constraint ``|K[:, j]ᵀτ| ≤ alpha`` holds without being asked for has coefficient zero and need not
be in the program. The program starts with the columns that a quarter of the rows has a use for, or without any where
rows are few; columns whose constraint is violated join, the most violated first, those idle for some rounds leave as
long as the optimum moves. Where K fits, all its columns are priced in every round. Where it does not, violators are
looked for among the columns already formed, then among a few random rows, then by a scan of all rows that computes
``Kτ`` block by block and keeps nothing. The last look finds none, which proves the optimum.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, section 3.5.6; A. Demiriz, K. Bennett and J. Shawe-Taylor,
"Linear programming boosting via column generation", Machine Learning 46, 2002.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.kernel.lp import MultiplierProgram
from eigenfeat.kernel.needs import ALL_ROWS, PIECEWISE_LINEAR_LOSS, SPARSE_PENALTY
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.search import over_rows
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver
from eigenfeat.stages.kernels import KernelRows

#: Up to this many rows the whole kernel matrix is kept (0.5 GB) and every column is priced in every round: the columns
#: that join are the most violated of all. Beyond, they are looked for in samples.
MAX_KEPT_ROWS = 8000
#: Above this many rows the first columns are those of the solution for a quarter of the rows: most of what the program
#: will need, at a tenth of its cost.
MAX_UNSAMPLED_ROWS = 1000
#: Share of the optimum by which a round must move it for columns to leave after it.
PROGRESS = 1e-9


class ColumnPool:
    """Kernel columns formed so far, shared by all targets."""

    def __init__(self, kernel: KernelRows) -> None:
        self.kernel = kernel
        keeps_all = len(kernel) <= MAX_KEPT_ROWS
        self.index = np.arange(len(kernel)) if keeps_all else np.empty(0, dtype=int)
        if not keeps_all:
            self._storage = np.empty((len(kernel), 64), order="F")
        else:  # a symmetric matrix in C order is its transpose, in the order that columns are read in
            self._storage = np.asfortranarray(kernel.rows) if kernel.precomputed else kernel.matrix().T

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

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """Where the columns of these rows are, formed now where they are not in the pool."""
        missing = np.setdiff1d(rows, self.index)
        if len(missing):
            self.add(missing)
        order = np.argsort(self.index)
        return order[np.searchsorted(self.index[order], rows)]

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


@dataclass(frozen=True, eq=False)
class _Search:
    """Where violated columns are looked for: the pool, then random candidates, then all rows."""

    problem: KernelProblem
    pool: ColumnPool
    limit: float
    draw: np.random.RandomState
    n_candidates: int
    n_columns: int

    def violators(self, inside: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Positions in the pool of violated columns not in the program, formed now where they are new."""
        pool = self.pool
        products = pool.columns.T @ tau
        products[inside] = 0.0
        known = _worst(products, self.limit, self.n_columns)
        if len(known):
            return known
        others = pool.others()
        sample = self.draw.permutation(self.problem.in_order(others))[: self.n_candidates]
        for rows in (sample, others):
            if len(rows):
                violated = rows[_worst(_products(pool.kernel, rows, tau), self.limit, self.n_columns)]
                if len(violated):
                    return pool.add(violated)
        return np.empty(0, dtype=int)


class _GrowingProgram:
    """The program of the columns that have joined and not left; they stay from one target to the next."""

    def __init__(self, problem: KernelProblem, tol: float, max_idle: int) -> None:
        self.program = MultiplierProgram(problem, 0.01 * tol, many_runs=True)
        self.max_idle = max_idle
        self.inside = np.empty(0, dtype=int)
        """Positions in the pool of the program's constraints, in its order."""

    def join(self, columns: np.ndarray, pool: ColumnPool) -> None:
        """Take columns in, by their positions in the pool."""
        self.program.add_constraints(pool.columns[:, columns])
        self.inside = np.concatenate([self.inside, columns])

    def optimised(self, y: np.ndarray, search: _Search, max_iter: int) -> tuple[np.ndarray, np.ndarray, bool, int]:
        """Coefficients over all rows and outputs of one target; whether that is proven, and the rounds it took."""
        program, pool = self.program, search.pool
        program.set_targets(y)
        idle = np.zeros(len(self.inside), dtype=int)
        coefficients, outputs, reached = np.zeros(len(y)), np.zeros(len(y)), -np.inf
        for iteration in range(1, max_iter + 1):
            if not program.run(1_000_000):
                return coefficients, outputs, False, iteration
            tau, values = program.multipliers(), program.coefficients()
            coefficients[:] = 0.0
            coefficients[pool.index[self.inside]] = values
            outputs = pool.columns[:, self.inside] @ values
            idle = np.where(values != 0, 0, idle + 1)
            stale, before, reached = np.flatnonzero(idle > self.max_idle), reached, program.objective
            # Of many optima the same columns would leave and join for ever: none leaves while the value stands still.
            if len(stale) and reached > before + PROGRESS * abs(before):
                program.drop_constraints(stale)
                self.inside, idle = np.delete(self.inside, stale), np.delete(idle, stale)
            joining = search.violators(self.inside, tau)
            if len(joining) == 0:
                return coefficients, outputs, True, iteration
            self.join(joining, pool)
            idle = np.concatenate([idle, np.zeros(len(joining), dtype=int)])
        return coefficients, outputs, False, max_iter


def solve(
    problem: KernelProblem,
    request: KernelRequest = DEFAULTS,
    *,
    n_candidates: int = 59,
    n_columns: int = 30,
    max_idle: int = 5,
) -> KernelSolution:
    """Solve by column generation; all targets share the columns formed.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-7) is the largest relative violation ``|K[:, j]ᵀτ| / alpha - 1`` left over all rows, which bounds
        the relative duality gap; ``max_iter`` (10,000) counts rounds a target, one warm-started run of HiGHS each.
    n_candidates : int
        Random rows looked at before all are, where K is not kept: 59 hold one of the best 5 % with probability 0.95.
    n_columns : int
        Violators that join in a round, at most.
    max_idle : int
        Rounds with coefficient zero after which a column leaves the program.
    """
    return next(
        path(problem, [problem.alpha], request, n_candidates=n_candidates, n_columns=n_columns, max_idle=max_idle)
    )


def path(
    problem: KernelProblem,
    alphas: Sequence[float],
    request: KernelRequest = DEFAULTS,
    *,
    n_candidates: int = 59,
    n_columns: int = 30,
    max_idle: int = 5,
) -> Iterator[KernelSolution]:
    """The solution at every alpha, in the order given, each from the columns and the basis of the one before.

    Largest alphas first is quickest: terms join, and few of them leave.
    """
    wanted = request.filled(tol=1e-7, max_iter=10_000)
    used = UsedRows.of(problem)
    growing = _GrowingProgram(used.problem, wanted.tol, max_idle)
    search = _Search(used.problem, ColumnPool(used.problem.kernel), 0.0, request.draw(), n_candidates, n_columns)
    first = _first_rows(used.at_alpha(alphas[0]).problem, request)
    if len(first):
        growing.join(search.pool.positions(first), search.pool)
    for alpha in alphas:
        growing.program.set_alpha(alpha)
        search = replace(search, limit=alpha * (1.0 + wanted.tol))
        found = [growing.optimised(y, search, wanted.max_iter) for y in used.problem.targets.T]
        coefficients, outputs = (np.column_stack(parts) for parts in list(zip(*found))[:2])
        yield used.at_alpha(alpha).solution(
            coefficients,
            outputs,
            np.abs(coefficients).sum(axis=0),
            converged=all(proven for _, _, proven, _ in found),
            n_iter=sum(n_iter for *_, n_iter in found),
            solver="column_generation",
        )


def _first_rows(problem: KernelProblem, request: KernelRequest) -> np.ndarray:
    """Rows whose columns the solution for a quarter of the rows has a use for; none where rows are few."""
    if problem.n_rows <= MAX_UNSAMPLED_ROWS:
        return np.empty(0, dtype=int)
    rows = np.sort(problem.order[np.random.RandomState(0).permutation(problem.n_rows)[: problem.n_rows // 4]])
    share = problem.weights[rows].sum() / problem.weights.sum()
    part = over_rows(replace(problem, alpha=problem.alpha * share), rows, None)
    return rows[solve(part, request).coefficients.any(axis=1)]


SOLVER = Solver("column_generation", solve, (PIECEWISE_LINEAR_LOSS, SPARSE_PENALTY, ALL_ROWS))
