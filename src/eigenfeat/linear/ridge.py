"""Ridge regression with its penalty chosen by generalized cross-validation, from one eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.moments import CrossMoments

LEAST_SPREAD = 0.1
"""Of the median spread: a column with less is not brought to that of the others, for a few rows would decide with it
(GEM features of pixels that are nearly always blank: benchmarks/gem_regression.py)."""


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """``y ≈ x · coef + intercept``: (d, q) coefficients and (q,) intercepts in the units of the columns."""

    coef: np.ndarray
    intercept: np.ndarray
    alpha: float


def fit_ridge(F: np.ndarray, Y: np.ndarray, weights: np.ndarray | None, alphas: np.ndarray) -> RidgeFit:
    """Minimise ``Σ w (y - f)² + alpha ‖coef‖²`` over standardised columns, alpha by generalized cross-validation.

    Columns that hardly vary are divided by a tenth of the median spread, not by their own.

    The score of an alpha is ``Σ w r² / (1 - t/W)²`` with residuals r, W the total weight and t the trace of the hat
    matrix, intercept included (Golub, Heath & Wahba 1979). An integer weight is that many copies of a row.
    """
    w = np.ones(len(F)) if weights is None else weights
    W = w.sum()
    mean, target_mean = (w @ F) / W, (w @ Y) / W
    spread = _spread(mean, w @ (F - mean) ** 2 / W)
    root = np.sqrt(w)[:, None]
    A, B = root * (F - mean) / spread, root * (Y - target_mean)
    U, s, Vt = _thin_svd(A)
    along = U.T @ B
    outside = np.sum(B**2) - np.sum(along**2)
    kept = [s**2 / (s**2 + alpha) for alpha in alphas]
    scores = [
        (max(outside, 0.0) + np.sum(((1 - share)[:, None] * along) ** 2)) / max(1 - (1 + share.sum()) / W, 1e-12) ** 2
        for share in kept
    ]
    best = int(np.argmin(scores))
    coef = (Vt.T @ ((kept[best] / s)[:, None] * along)) / spread[:, None]
    return RidgeFit(coef, target_mean - mean @ coef, float(alphas[best]))


def fit_ridge_moments(moments: CrossMoments, alphas: np.ndarray) -> RidgeFit:
    """`fit_ridge` from the joint moments of features and targets: what one pass over rows leaves of them."""
    W = moments.weight
    mean, target_mean = moments.input_mean, moments.target_mean
    covariance, cross, target_covariance = moments.input_covariance(), moments.cross(), moments.target_covariance()
    spread = _spread(mean, np.diagonal(covariance))
    values, vectors = np.linalg.eigh(W * covariance / np.outer(spread, spread))
    keep = values > len(values) * np.finfo(np.float64).eps * values.max(initial=0)
    values, vectors = values[keep], vectors[:, keep]
    along = vectors.T @ (W * cross / spread[:, None]) / np.sqrt(values)[:, None]
    outside = W * np.trace(np.atleast_2d(target_covariance)) - np.sum(along**2)
    kept = [values / (values + alpha) for alpha in alphas]
    scores = [
        (max(outside, 0.0) + np.sum(((1 - share)[:, None] * along) ** 2)) / max(1 - (1 + share.sum()) / W, 1e-12) ** 2
        for share in kept
    ]
    best = int(np.argmin(scores))
    coef = (vectors @ ((kept[best] / np.sqrt(values))[:, None] * along)) / spread[:, None]
    return RidgeFit(coef, target_mean - mean @ coef, float(alphas[best]))


def _spread(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """What columns are divided by: their spread, unless that is small beside those of the others."""
    spread = np.sqrt(np.maximum(variance, 0))
    # What rounding leaves of a constant column is no spread: divided by it, the column would be noise of unit size.
    varies = spread > 1e-12 * np.abs(mean)
    least = LEAST_SPREAD * np.median(spread[varies]) if varies.any() else 0.0
    return np.where(varies, np.maximum(spread, least), np.inf)


def _thin_svd(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular vectors of nonzero singular values, from the smaller Gram matrix."""
    n, d = A.shape
    values, vectors = np.linalg.eigh(A @ A.T if n <= d else A.T @ A)
    keep = values > max(n, d) * np.finfo(values.dtype).eps * values.max(initial=0)
    s, vectors = np.sqrt(values[keep]), vectors[:, keep]
    if n <= d:
        return vectors, s, (A.T @ vectors / s).T
    return A @ vectors / s, s, vectors.T
