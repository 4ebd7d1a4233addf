"""The problem as a value, and what solving it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.least_squares.rows import CentredRows, KernelRows
from eigenfeat.least_squares.targets import Targets
from eigenfeat.solvers.conventions import relative_residuals
from eigenfeat.solvers.signs import reference_signs


@dataclass(frozen=True, eq=False)
class Problem:
    """``Aᵀ S A w = λ (AᵀA + shift·I) w`` with ``S = HHᵀ``; equally, A regressed on H under a ridge.

    Parameters
    ----------
    rows : CentredRows or KernelRows
        A.
    targets : Targets
        H, reduced.
    shift : float
        The ridge, absolute; at 0 the problem lives in the range of Aᵀ (the pseudo-inverse).
    """

    rows: CentredRows | KernelRows
    targets: Targets
    shift: float = 0.0

    @property
    def is_kernel(self) -> bool:
        return isinstance(self.rows, KernelRows)


@dataclass(frozen=True, eq=False)
class Solution:
    """Directions in their final order, scale and sign.

    Attributes
    ----------
    vectors : (d, k) array
        One direction w a column, or (n, k) coefficients c of ``w = Aᵀc`` for kernel rows.
    scores : (n, k) array
        A w on the training rows.
    values : (k,) array
        ``wᵀAᵀSAw / wᵀ(AᵀA + shift·I)w``: eigenvalues, or the quotients that penalised directions attain.
    residuals : (k,) array
        Of the eigenvalue equation, relative.
    shift : float
        The ridge of the problem that was solved.
    solver : str
    n_iter : int
        Iterations or sweeps; 1 for direct solvers.
    converged : (r,) array of bool
        Whether the regression on each target met the tolerance.
    """

    vectors: np.ndarray
    scores: np.ndarray
    values: np.ndarray
    residuals: np.ndarray
    shift: float
    solver: str
    n_iter: int
    converged: np.ndarray


def orient(problem: Problem, vectors: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions and scores with the sign that makes the first column of H that stands out correlate positively.

    The choice depends neither on the basis of the inputs nor on the order of the rows.
    """
    targets = problem.targets
    along_targets = targets.singular_values[:, None] * (targets.orthonormal.T @ scores)
    sign = reference_signs((targets.loadings @ along_targets).astype(scores.dtype)).astype(scores.dtype)
    sign[sign == 0] = 1  # a direction no target correlates with keeps the sign it came with
    return vectors * sign, scores * sign


def finish(
    problem: Problem,
    vectors: np.ndarray,
    scores: np.ndarray,
    values: np.ndarray,
    solver: str,
    n_iter: int = 1,
    converged: np.ndarray | None = None,
) -> Solution:
    """Residuals of directions that are ordered, scaled and oriented already."""
    H = problem.targets.factor
    signal_products = problem.rows.combine(H @ (H.T @ scores), np.zeros_like(vectors))
    noise_products = problem.rows.combine(scores, scores.dtype.type(problem.shift) * vectors)
    mean_value = float(values.mean()) if len(values) else 0.0
    residuals = relative_residuals(signal_products, noise_products, values, np.asarray(mean_value))
    if converged is None:
        converged = np.ones(problem.targets.rank, dtype=bool)
    return Solution(vectors, scores, values, residuals, problem.shift, solver, n_iter, converged)
