"""What is asked of a least-squares problem, and what solving it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.solvers.canonical import largest_entry_signs, reference_signs, relative_residuals


@dataclass(frozen=True, eq=False)
class LeastSquaresRequest:
    """How many directions, and how exact.

    Attributes
    ----------
    n_components : int or None
        How many; all by default.
    tol : float
        At which an iterative solver stops, relative.
    max_iter : int
        Its limit of iterations.
    start : (d, k) array or None
        Directions near the solution, such as those of a neighbouring shift, for a solver that can start there.
    """

    n_components: int | None = None
    tol: float = 1e-8
    max_iter: int = 1000
    start: np.ndarray | None = None

    def reachable_tol(self, dtype: np.dtype) -> float:
        """The tolerance, as far as the floating type allows it."""
        return max(self.tol, 10 * float(np.finfo(dtype).eps))


@dataclass(frozen=True, eq=False)
class Regression:
    """``(AᵀA + shift·I)† AᵀH``, one target a column: whose regressions converged, and after how many iterations."""

    vectors: np.ndarray
    converged: np.ndarray
    n_iter: int = 1

    @classmethod
    def exact(cls, vectors: np.ndarray) -> Regression:
        return cls(vectors, np.ones(vectors.shape[1], dtype=bool))


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


def orient(quotient: LeastSquaresQuotient, vectors: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions and scores with the sign that makes the first column of H that stands out correlate positively.

    The choice depends neither on the basis of the inputs nor on the order of the rows; for a direction no column of H
    correlates with it is that of the largest entry, the rule of `eigenfeat.solvers.canonical.orient`.
    """
    projections = quotient.references.of_scores(scores).astype(scores.dtype)
    reach = quotient.targets.largest_column * np.linalg.norm(scores, axis=0)
    signs = reference_signs(projections, reach)
    signs = np.where(signs == 0, largest_entry_signs(vectors), signs).astype(scores.dtype)
    return vectors * signs, scores * signs


def finish(
    quotient: LeastSquaresQuotient,
    vectors: np.ndarray,
    scores: np.ndarray,
    values: np.ndarray,
    solver: str,
    n_iter: int = 1,
    converged: np.ndarray | None = None,
) -> Solution:
    """Residuals of directions that are ordered, scaled and oriented already."""
    signal_products, noise_products = quotient.signal.of_scores(scores), quotient.noise.of_scores(scores, vectors)
    mean_value = float(values.mean()) if len(values) else 0.0
    residuals = relative_residuals(signal_products, noise_products, values, np.asarray(mean_value))
    if converged is None:
        converged = np.ones(quotient.targets.rank, dtype=bool)
    return Solution(vectors, scores, values, residuals, quotient.shift, solver, n_iter, converged)
