"""From any basis of the least-squares solutions to eigenvectors: an r × r problem."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.problem import Problem
from eigenfeat.solvers.conventions import rank_cutoff


def rayleigh_ritz(problem: Problem, basis: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    inner = np.asarray(problem.rows.inner(basis, scores), dtype=np.float64)
    noise = scores64.T @ scores64 + problem.shift * inner
    # Columns of a basis may differ by orders of magnitude (weak targets): scale before the rank is judged.
    size = np.sqrt(np.maximum(noise.diagonal(), np.finfo(np.float64).tiny))
    spread, Q = eigh(noise / np.outer(size, size), check_finite=False)
    kept = spread > rank_cutoff(spread, scores.dtype)
    whiten = (Q[:, kept] / np.sqrt(spread[kept])) / size[:, None]
    left, s, _ = svd(
        whiten.T @ (scores64.T @ problem.targets.factor.astype(np.float64)),
        full_matrices=False,
        check_finite=False,
    )
    values = s**2
    real = values > rank_cutoff(values, scores.dtype)
    values, rotation = values[real], whiten @ left[:, real]
    return values, rotation @ settle_ties(values, rotation.T @ inner @ rotation, scores.dtype)


def settle_ties(values: np.ndarray, inner: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A rotation within groups of equal eigenvalues that makes the eigenvectors unique: shortest first.

    Among directions of one signal-to-noise ratio, as all are in LDA and CCA when rank(A) = n - 1, those of smallest ‖w‖
    carry the largest variance. A ridge that tends to zero picks the same ones: to first order it takes ``λ shift wᵀw``
    from an eigenvalue.

    Parameters
    ----------
    values : (q,) array
        Descending.
    inner : (q, q) array
        ``WᵀW``.
    """
    rotation = np.eye(len(values))
    near = np.sqrt(np.finfo(dtype).eps) * values.max(initial=0.0)
    edges = np.flatnonzero(-np.diff(values) > near) + 1
    for group in np.split(np.arange(len(values)), edges):
        if len(group) > 1:
            rotation[np.ix_(group, group)] = eigh(inner[np.ix_(group, group)], check_finite=False)[1]
    return rotation
