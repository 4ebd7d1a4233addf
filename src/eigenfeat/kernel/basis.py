"""Coordinates of a kernel expansion in which its penalty is half the squared length.

For ½αᵀKα a pivoted Cholesky factor of the centres' kernel matrix, K[p, p] = LLᵀ, gives the design
Φ = K(rows, p) L⁻ᵀ and α[p] = L⁻ᵀθ. Centres that add nothing to the span are dropped there, so that a singular
kernel matrix needs no jitter and eigenproblems over it are well conditioned. For ½‖α‖² nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular

from eigenfeat.kernel.problem import KernelProblem


@dataclass(frozen=True, eq=False)
class Basis:
    """A design whose coefficients θ have penalty ½‖θ‖², and the way back to α."""

    design: np.ndarray
    n_centers: int
    chosen: np.ndarray | None = None
    factor: np.ndarray | None = None

    def coefficients(self, theta: np.ndarray) -> np.ndarray:
        """α of θ."""
        if self.factor is None:
            return theta
        alpha = np.zeros((self.n_centers, theta.shape[1]), dtype=theta.dtype)
        alpha[self.chosen] = solve_triangular(self.factor, theta, lower=True, trans=1, check_finite=False)
        return alpha

    def coordinates(self, K: np.ndarray) -> np.ndarray:
        """Rows of kernel values with the centres as rows of the design."""
        if self.factor is None:
            return K
        factor = self.factor.astype(K.dtype, copy=False)
        return solve_triangular(factor, K[:, self.chosen].T, lower=True, check_finite=False).T

    def penalty(self, alpha: float, invariance: np.ndarray | None) -> np.ndarray:
        """What (3.33), (3.34) and (3.24) add to the within-class scatter, in θ: ``alpha·I`` and the invariances."""
        penalty = self.design.dtype.type(alpha) * np.eye(self.design.shape[1], dtype=self.design.dtype)
        return penalty if invariance is None else penalty + self.congruent(invariance)

    def congruent(self, matrix: np.ndarray) -> np.ndarray:
        """A quadratic form in α as one in θ, in double precision."""
        if self.factor is None or self.chosen is None:
            return matrix
        factor = self.factor.astype(np.float64)
        half = solve_triangular(factor, matrix[np.ix_(self.chosen, self.chosen)], lower=True)
        return solve_triangular(factor, half.T, lower=True)


def full_length(coefficients: np.ndarray, problem: KernelProblem) -> np.ndarray:
    """α over all rows when the centres are rows."""
    if problem.centers is None or problem.centers.ndim == 2:
        return coefficients
    full = np.zeros((len(problem.kernel), coefficients.shape[1]), dtype=coefficients.dtype)
    full[problem.centers] = coefficients
    return full


def basis_of(problem: KernelProblem) -> Basis:
    """The basis of the problem's expansion and penalty."""
    kernel, centers = problem.kernel, problem.expanded_over
    K = kernel.columns(centers)
    if problem.penalty == "coefficients":
        return Basis(K, centers.shape[0])
    chosen, factor = pivoted_cholesky(kernel.between(centers))
    design = solve_triangular(factor, K[:, chosen].T, lower=True, overwrite_b=True, check_finite=False).T
    return Basis(design, centers.shape[0], chosen, factor)


def pivoted_cholesky(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows p and a lower factor L with ``K[p, p] = LLᵀ``, as many as K has numerical rank."""
    (factorise,) = get_lapack_funcs(("pstrf",), (K,))
    factor, pivots, rank, _ = factorise(K.T, tol=4 * len(K) * np.finfo(K.dtype).eps * K.diagonal().max(), lower=1)
    return pivots[:rank] - 1, np.tril(factor[:rank, :rank])
