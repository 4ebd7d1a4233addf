"""A problem without its rows of weight zero, and the way back: for the solvers of any loss over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.stages.kernels import KernelRows


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The problem over its rows of positive weight, ``index`` among the ``n_rows`` given."""

    problem: KernelProblem
    index: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, problem: KernelProblem, dtype: type | None = np.float64) -> UsedRows:
        """A row of weight zero is not there.

        Parameters
        ----------
        dtype : type, optional
            Rows are cast to it before any kernel is computed; None leaves them.
        """
        kernel, index = problem.kernel, np.flatnonzero(problem.weights > 0)
        rows = kernel.rows if dtype is None else kernel.rows.astype(dtype, copy=False)
        if len(index) < problem.n_rows:
            rows = rows[np.ix_(index, index)] if kernel.precomputed else rows[index]
        kept = replace(
            problem,
            kernel=kernel if rows is kernel.rows else KernelRows(kernel.kernel, rows, kernel.precomputed),
            targets=problem.targets[index].astype(np.float64),
            weights=problem.weights[index].astype(np.float64),
        )
        return cls(kept, index, problem.n_rows)

    def solution(
        self,
        coefficients: np.ndarray,
        outputs: np.ndarray,
        penalty: np.ndarray,
        *,
        converged: bool,
        n_iter: int,
        solver: str,
    ) -> KernelSolution:
        """The solution with the best intercept for these coefficients, and the true primal objective.

        Parameters
        ----------
        coefficients, outputs : (n, m) arrays
            α and Kα.
        penalty : (m,) array
            P of each column.
        """
        problem = self.problem
        residuals = problem.targets - outputs
        intercept = problem.loss.intercept(residuals, problem.weights)
        objective = problem.weights @ problem.loss.values(residuals - intercept) + problem.alpha * penalty
        full = np.zeros((self.n_rows, coefficients.shape[1]))
        full[self.index] = coefficients
        # Rows of weight zero have no output here: the caller who wants them expands the kernel.
        at_rows = outputs + intercept if len(self.index) == self.n_rows else None
        return KernelSolution(full, intercept, objective, converged, n_iter, solver, outputs=at_rows)
