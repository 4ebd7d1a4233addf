"""A Gram matrix and a Cholesky factor of it with a damping, in one square array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

BLOCK = 256
"""Rows that are mirrored at a time."""


@dataclass(frozen=True, eq=False)
class DampedGram:
    """G and, once `damped` has made it, a factor of G + ρ: another ρ costs a factorisation and no second array.

    Attributes
    ----------
    triangles : (d, d) array, Fortran order
        G above its diagonal, the factor on and below it; overwritten by every factorisation.
    diagonal : (d,) array
        Of G.
    """

    triangles: np.ndarray
    diagonal: np.ndarray

    @classmethod
    def of(cls, gram: np.ndarray, lower: bool = False) -> DampedGram:
        """Of the upper or lower triangle of G; the other one is overwritten."""
        diagonal = np.diagonal(gram).copy()
        if lower:
            _mirror(gram.T)
        return cls(gram, diagonal)

    def damped(self, damping: float) -> DampedGram:
        """With the factor of G + ρ, or of a little more where rounding has made that indefinite."""
        A, d = self.triangles, len(self.triangles)
        potrf = linalg.get_lapack_funcs("potrf", (A,))
        floor = float(np.finfo(A.dtype).eps) * d * float(self.diagonal.mean()) or 1.0
        while True:
            _mirror(A)
            A[np.diag_indices(d)] = self.diagonal + A.dtype.type(damping)
            A, info = potrf(A, lower=True, clean=False, overwrite_a=True)
            if info == 0:
                return DampedGram(A, self.diagonal)
            damping = max(10 * damping, floor)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """``(G + ρ)⁻¹ right``, in the type of the matrix."""
        right = np.asarray(right, self.triangles.dtype, order="F")
        return linalg.cho_solve((self.triangles, True), right, check_finite=False)

    def half_solve(self, right: np.ndarray) -> np.ndarray:
        """``L⁻¹ right`` for ``G + ρ = L Lᵀ``: products of two such have ``(G + ρ)⁻¹`` between them."""
        right = np.asarray(right, self.triangles.dtype, order="F")
        return linalg.solve_triangular(self.triangles, right, lower=True, check_finite=False)


def _mirror(A: np.ndarray) -> None:
    """Put what is above the diagonal below it; the diagonal is lost."""
    for start in range(0, len(A), BLOCK):
        stop = min(start + BLOCK, len(A))
        upper = np.triu(A[start:stop, start:stop], 1)
        A[start:stop, start:stop] = upper + upper.T
        A[stop:, start:stop] = A[start:stop, stop:].T
