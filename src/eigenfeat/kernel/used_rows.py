"""A problem without its rows of weight zero, and the way back: for the solvers of any loss over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.kernel.basis import full_length
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.stages.kernels import KernelRows


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The problem over its rows of positive weight, ``index`` among the rows of the problem ``given``."""

    problem: KernelProblem
    index: np.ndarray
    given: KernelProblem

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
        return cls(replace(kept, centers=_kept_centers(problem, index)), index, problem)

    def at_alpha(self, alpha: float) -> UsedRows:
        """The same rows with another weight of the penalty."""
        return replace(self, problem=replace(self.problem, alpha=alpha))

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
        coefficients : (q, m) array
            α over the rows used, or over the centres.
        outputs : (n, m) array
            Kα.
        penalty : (m,) array
            P of each column.
        """
        problem = self.problem
        residuals = problem.targets - outputs
        intercept = problem.loss.intercept(residuals, problem.weights)
        objective = problem.weights @ problem.loss.values(residuals - intercept) + problem.alpha * penalty
        if problem.invariance is not None:
            objective += np.einsum("ij,ij->j", coefficients, problem.invariance @ coefficients) / 2
        full = full_length(coefficients, self.given)
        if self.given.centers is None:
            full = np.zeros((self.given.n_rows, coefficients.shape[1]))
            full[self.index] = coefficients
        # Rows of weight zero have no output here: the caller who wants them expands the kernel.
        at_rows = outputs + intercept if len(self.index) == self.given.n_rows else None
        return KernelSolution(full, intercept, objective, converged, n_iter, solver, outputs=at_rows)


def _kept_centers(problem: KernelProblem, index: np.ndarray) -> np.ndarray | None:
    """The centres among the rows kept: their new numbers, or their points where one of them is left aside."""
    centers = problem.centers
    if centers is None or centers.ndim == 2 or len(index) == problem.n_rows:
        return centers
    if np.isin(centers, index).all():
        return np.searchsorted(index, centers)
    if problem.kernel.precomputed:
        raise ValueError(
            "centers of weight zero cannot be taken with kernel='precomputed' and this loss: give centers among the "
            "rows of positive weight."
        )
    return problem.kernel.points(centers)
