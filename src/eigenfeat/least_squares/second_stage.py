"""From any basis of the least-squares solutions to eigenvectors: an r × r problem."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression, Solution, finish, orient
from eigenfeat.solvers.canonical import rank_cutoff, shortest_first


def tie_of(dtype: np.dtype) -> float:
    """Relative difference up to which eigenvalues are tied: what is left of them once a solver was at work."""
    return float(np.sqrt(np.finfo(dtype).eps))


def eigenvectors(
    quotient: LeastSquaresQuotient, regression: Regression, request: LeastSquaresRequest, solver: str
) -> Solution:
    """The regression's columns rotated to eigenvectors, the first of them kept."""
    basis = regression.vectors
    scores = quotient.rows.times(basis)
    values, rotation = rayleigh_ritz(quotient, basis, scores)
    kept = slice(0, request.n_components)
    values, rotation = values[kept].astype(basis.dtype), rotation[:, kept].astype(basis.dtype)
    vectors, scores = orient(quotient, basis @ rotation, scores @ rotation)
    return finish(quotient, vectors, scores, values, solver, regression.n_iter, regression.converged)


def rayleigh_ritz(
    quotient: LeastSquaresQuotient, basis: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and the rotation to eigenvectors within the span of the basis.

    The span of ``W₁ = (AᵀA + shift·I)† AᵀH`` holds every eigenvector of a nonzero eigenvalue, at any rank of A: if
    ``HᵀAW₁ u = λu``, then w = W₁u solves ``AᵀHHᵀA w = λ (AᵀA + shift·I) w``. Solving in the span by Rayleigh and Ritz,
    instead of through HᵀAW₁, keeps ``Wᵀ(AᵀA + shift·I)W = I`` exact and the error of the eigenvalues quadratic when W₁
    comes from an iterative solver.

    Returns
    -------
    values : (q,) array
        Descending.
    rotation : (r, q) array
        ``basis @ rotation`` are the eigenvectors.
    """
    scores64 = scores.astype(np.float64)
    inner = np.asarray(quotient.rows.inner(basis, scores), dtype=np.float64)
    noise = scores64.T @ scores64 + quotient.shift * inner
    # Columns of a basis may differ by orders of magnitude (weak targets): scale before the rank is judged.
    size = np.sqrt(np.maximum(noise.diagonal(), np.finfo(np.float64).tiny))
    spread, Q = eigh(noise / np.outer(size, size), check_finite=False)
    kept = spread > rank_cutoff(spread, scores.dtype)
    whiten = (Q[:, kept] / np.sqrt(spread[kept])) / size[:, None]
    left, s, _ = svd(
        whiten.T @ np.asarray(quotient.targets.transpose_times(scores64), dtype=np.float64).T,
        full_matrices=False,
        check_finite=False,
    )
    values = s**2
    real = values > rank_cutoff(values, scores.dtype)
    values, rotation = values[real], whiten @ left[:, real]
    among_ties = shortest_first(values, rotation.T @ inner @ rotation, tie_of(scores.dtype))
    return values, rotation if among_ties is None else rotation @ among_ties
