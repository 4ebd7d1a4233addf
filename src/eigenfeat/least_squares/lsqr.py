"""LSQR (Paige & Saunders 1982): one target at a time, by products with A and Aᵀ alone."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression

#: scipy's codes for having solved the equations, or the least-squares problem, to the tolerance or to rounding.
CONVERGED = (0, 1, 2, 4, 5)


def solve_lsqr(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``(AᵀA + shift·I)† AᵀH``, every target on its own: memory O(nnz + n + d) beside the result.

    It works on A, not on AᵀA, whose condition number is the square: slower than block conjugate gradients, and more
    exact where A is ill-conditioned. The ridge is LSQR's damping, √shift.
    """
    rows, H = quotient.rows, quotient.targets.factor.astype(np.float64)
    operator = LinearOperator(rows.shape, matvec=_flat(rows.times), rmatvec=_flat(rows.transpose_times), dtype=H.dtype)
    tol = request.reachable_tol(rows.dtype)
    damp = float(np.sqrt(quotient.shift))
    vectors = np.empty((rows.shape[1], H.shape[1]), dtype=rows.dtype)
    stops, iterations = [], [0]
    for j, target in enumerate(H.T):
        found = lsqr(operator, target, damp=damp, atol=tol, btol=tol, conlim=0, iter_lim=request.max_iter)
        vectors[:, j] = found[0]
        stops.append(found[1])
        iterations.append(found[2])
    return Regression(vectors, np.isin(stops, CONVERGED), max(iterations))


def _flat(times):
    """From products with blocks to products with a vector."""
    return lambda vector: times(vector.reshape(-1, 1))[:, 0]
