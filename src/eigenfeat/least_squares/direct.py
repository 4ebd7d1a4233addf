"""Normal equations solved by one factorisation, on the side of the columns or of the rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, eigh, lapack

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import less_outer
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression
from eigenfeat.solvers.conventions import rank_cutoff


def solve_primal(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``(AᵀA + shift·I)† AᵀH`` through the d × d matrix."""
    return Regression.exact(solve_semidefinite(quotient.noise.toarray(), np.asarray(quotient.signal_factor)))


def solve_dual(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``Aᵀ (AAᵀ + shift·I)† H`` through the n × n matrix; the same directions."""
    rows, targets = quotient.rows, quotient.targets
    gram = rows.dual_gram()
    gram[np.diag_indices_from(gram)] += gram.dtype.type(quotient.shift)
    # Centred rows have a null vector, known beforehand and orthogonal to H: filled in, AAᵀ of full rank n - 1 can be
    # factored although it is singular.
    direction = rows.root / np.linalg.norm(rows.root)
    typical = gram.dtype.type(gram.trace() / len(gram))
    gram = less_outer(gram, -typical * direction, direction)
    empty = np.flatnonzero(gram.diagonal() == 0)  # rows of no weight, whose targets are zero too
    gram[empty, empty] = typical
    return Regression.exact(rows.transpose_times(solve_semidefinite(gram, targets.factor)))


def solve_semidefinite(matrix: np.ndarray, block: np.ndarray) -> np.ndarray:
    """``matrix† block`` by Cholesky where the matrix is well-conditioned, else by its eigenvectors.

    The matrix is positive semi-definite up to rounding, and overwritten.
    """
    potrf, pocon, lange = lapack.get_lapack_funcs(("potrf", "pocon", "lange"), (matrix,))
    diagonal = matrix.diagonal().copy()
    size = lange("1", matrix.T)
    # LAPACK reads and writes one triangle of the transpose; the other keeps the matrix for the second way.
    factor, failed = potrf(matrix.T, lower=False, overwrite_a=True, clean=False)
    if not failed:
        reciprocal_condition, _ = pocon(factor, size)
        if reciprocal_condition > len(matrix) * np.finfo(matrix.dtype).eps:
            return cho_solve((factor, False), block, check_finite=False)
    restored = np.triu(matrix, 1)
    restored += restored.T
    restored[np.diag_indices_from(restored)] = diagonal
    values, Q = eigh(restored, overwrite_a=True, check_finite=False)
    kept = values > rank_cutoff(values, matrix.dtype)
    return Q[:, kept] @ ((Q[:, kept].T @ block) / values[kept, None])
