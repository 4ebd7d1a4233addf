"""Incomplete Cholesky factor of a kernel matrix, grown a column at a time: ``K ≈ VVᵀ`` without forming K."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from eigenfeat.stages.kernels import KernelRows


class IncompleteCholesky:
    """``K ≈ VVᵀ``, exact on the columns of the pivots.

    V is also the map into an orthonormal basis of the span of the pivots in feature space, so a linear model
    ``f = Vv`` is the kernel expansion over the pivots with coefficients ``L⁻ᵀv``, L = V[pivots], and has the
    norm ‖v‖: solving with V is solving the problem restricted to that expansion (3.57 of Mika's thesis).

    Parameters
    ----------
    kernel : KernelRows
    max_rank : int
    """

    def __init__(self, kernel: KernelRows, max_rank: int) -> None:
        self.kernel = kernel
        self._storage = np.empty((len(kernel), max_rank), order="F")
        self.pivots: list[int] = []
        self.residual_diagonal = np.array(kernel.diagonal(), dtype=float)
        self._smallest = 1e-10 * max(float(self.residual_diagonal.max()), 0.0)

    @property
    def factor(self) -> np.ndarray:
        """V, one column a pivot."""
        return self._storage[:, : len(self.pivots)]

    def residual_columns(self, index: np.ndarray) -> np.ndarray:
        """``(K - VVᵀ)[:, index]``."""
        return self.kernel.columns(index) - self.factor @ self.factor[index].T

    @property
    def independent(self) -> np.ndarray:
        """Mask of the rows that the pivots do not span already."""
        return self.residual_diagonal > self._smallest

    def add(self, pivot: int, residual_column: np.ndarray) -> None:
        """Append the pivot, given its column of ``K - VVᵀ``."""
        column = residual_column / np.sqrt(residual_column[pivot])
        self._storage[:, len(self.pivots)] = column
        self.pivots.append(pivot)
        self.residual_diagonal = np.maximum(self.residual_diagonal - column**2, 0.0)
        self.residual_diagonal[pivot] = 0.0

    def grow(self, rank: int, tol: float) -> None:
        """Add the row of largest residual until the rank, or a residual trace below tol of K's."""
        trace = float(np.sum(self.residual_diagonal) + np.sum(self.factor**2))
        while len(self.pivots) < rank and self.residual_diagonal.sum() > tol * trace:
            pivot = int(np.argmax(self.residual_diagonal))
            if self.residual_diagonal[pivot] <= self._smallest:
                break
            self.add(pivot, self.residual_columns(np.array([pivot]))[:, 0])

    def expansion(self, v: np.ndarray) -> np.ndarray:
        """Coefficients over all rows, zero but at the pivots, of the linear models with weights v (r, m)."""
        pivots = np.array(self.pivots, dtype=int)
        coefficients = np.zeros((len(self.kernel), v.shape[1]))
        coefficients[pivots] = solve_triangular(self.factor[pivots], v, lower=True, trans="T")
        return coefficients
