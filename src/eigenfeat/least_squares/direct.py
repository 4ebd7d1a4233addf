"""Normal equations solved by one factorisation, on the side of the columns or of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, eigh, lapack, solve_triangular, svd

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import CentredKernel, less_outer
from eigenfeat.least_squares.second_stage import tie_of
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression
from eigenfeat.solvers.canonical import rank_cutoff

# Eigenvalues of a matrix times its transpose, relative to the largest, whose vectors are still as exact as the rest.
DISTINCT = 1e-4


def solve_primal(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``(AᵀA + shift·I)† AᵀH`` through the d × d matrix; of many targets only the combinations that are asked for.

    With a root ``N = LLᵀ`` of the noise and the singular value decomposition ``L⁻¹AᵀH = Z diag(√λ) Pᵀ``, the regression
    on HP has the eigenvectors ``L⁻ᵀZ`` for columns. The leading ones span what is asked for, and no product with the
    rows has to be taken of the others.
    """
    F = np.asarray(quotient.signal_factor)
    d, r = F.shape
    n_leading = min(d, r, request.n_components or r)
    root = NoiseRoot.of(quotient.noise.toarray())
    if n_leading == r:
        return Regression.exact(root.solve(F).astype(F.dtype, copy=False))
    Z = leading_left(root.whiten(F), n_leading, tie_of(F.dtype))
    return Regression(root.unwhiten(Z).astype(F.dtype, copy=False), np.ones(r, dtype=bool))


def leading_left(M: np.ndarray, n_leading: int, tie: float) -> np.ndarray:
    """Left singular vectors of the largest singular values, and of all those tied with the last of them."""
    wide = M.shape[0] <= M.shape[1]
    size = min(M.shape)
    if n_leading < size:
        squares = M @ M.T if wide else M.T @ M
        values, Q = eigh(squares, subset_by_index=[size - n_leading - 1, size - 1], check_finite=False)
        next_one, last, largest = values[0], values[1], values[-1]
        if last > DISTINCT * largest and last - next_one > tie * largest:
            return Q[:, 1:] if wide else M @ (Q[:, 1:] / np.sqrt(values[1:]))
    Z, s, _ = svd(M, full_matrices=False, check_finite=False)
    values = s**2
    last = values[:n_leading].min(initial=np.inf)
    return Z[:, values >= last - tie * values.max(initial=0.0)]


def solve_dual(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``Aᵀ (AAᵀ + shift·I)† H`` through the n × n matrix; the same directions."""
    rows, targets = quotient.rows, quotient.targets
    gram = rows.dual_gram()
    gram[np.diag_indices_from(gram)] += quotient.shift
    # Centred rows have a null vector, known beforehand and orthogonal to H: filled in, AAᵀ of full rank n - 1 can be
    # factored although it is singular.
    direction = rows.root / np.linalg.norm(rows.root)
    typical = gram.trace() / len(gram)
    gram = less_outer(gram, -typical * direction, direction)
    empty = np.flatnonzero(gram.diagonal() == 0)  # rows of no weight, whose targets are zero too
    gram[empty, empty] = typical
    coefficients = NoiseRoot.of(gram, _digits(quotient)).solve(targets.factor)
    return Regression.exact(rows.transpose_times(coefficients).astype(rows.dtype, copy=False))


def _digits(quotient: LeastSquaresQuotient) -> np.dtype:
    """The type whose rounding a Gram matrix has: that of a kernel's values, or of sums in float64."""
    return quotient.rows.dtype if isinstance(quotient.rows, CentredKernel) else np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class NoiseRoot:
    """``N = LLᵀ`` of a positive semi-definite matrix: a Cholesky factor, else eigenvectors of nonzero eigenvalue.

    Attributes
    ----------
    factor : (d, q) array
        Lᵀ, upper triangular, or eigenvectors.
    values : (q,) array or None
        Eigenvalues; None for a triangle.
    """

    factor: np.ndarray
    values: np.ndarray | None = None

    @classmethod
    def of(cls, matrix: np.ndarray, digits: np.dtype | None = None) -> NoiseRoot:
        """The root of a matrix, which is overwritten; ``digits`` is the type whose rounding is in it."""
        digits = matrix.dtype if digits is None else digits
        potrf, pocon, lange = lapack.get_lapack_funcs(("potrf", "pocon", "lange"), (matrix,))
        diagonal = matrix.diagonal().copy()
        size = lange("1", matrix.T)
        # LAPACK reads and writes one triangle of the transpose; the other keeps the matrix for the second way.
        factor, failed = potrf(matrix.T, lower=False, overwrite_a=True, clean=False)
        if not failed:
            reciprocal_condition, _ = pocon(factor, size)
            if reciprocal_condition > len(matrix) * np.finfo(digits).eps:
                return cls(factor)
        restored = np.triu(matrix, 1)
        restored += restored.T
        restored[np.diag_indices_from(restored)] = diagonal
        values, Q = eigh(restored, overwrite_a=True, check_finite=False)
        kept = values > rank_cutoff(values, digits)
        return cls(Q[:, kept], values[kept])

    def whiten(self, block: np.ndarray) -> np.ndarray:
        """``L⁻¹ block``."""
        if self.values is None:
            return solve_triangular(self.factor, block, trans=1, check_finite=False)
        return (self.factor.T @ block) / np.sqrt(self.values)[:, None]

    def unwhiten(self, block: np.ndarray) -> np.ndarray:
        """``L⁻ᵀ block``."""
        if self.values is None:
            return solve_triangular(self.factor, block, check_finite=False)
        return self.factor @ (block / np.sqrt(self.values)[:, None])

    def solve(self, block: np.ndarray) -> np.ndarray:
        """``N† block``."""
        if self.values is None:
            return cho_solve((self.factor, False), block, check_finite=False)
        return self.factor @ ((self.factor.T @ block) / self.values[:, None])
