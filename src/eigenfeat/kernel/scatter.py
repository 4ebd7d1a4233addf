"""Scatter of the kernel columns of classes: the matrices of a Rayleigh coefficient over an expansion (3.28-3.30)."""

from __future__ import annotations

import numpy as np

from eigenfeat.kernel.problem import KernelProblem


def class_means(K: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(c, q) weighted means of the rows of K, and the (c,) total weights."""
    indicator = np.zeros((codes.max() + 1, len(codes)), dtype=K.dtype)
    indicator[codes, np.arange(len(codes))] = weights
    totals = indicator.sum(axis=1)
    return indicator @ K / totals[:, None], totals


def within_scatter(K: np.ndarray, codes: np.ndarray, weights: np.ndarray, means: np.ndarray) -> np.ndarray:
    """``N = Σ w (k - m_class)(k - m_class)ᵀ`` (3.30)."""
    centred = K - means[codes]
    return centred.T @ (weights.astype(K.dtype)[:, None] * centred)


def between_factor(means: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """(q, c) H with ``HHᵀ = Σ_classes total (m_class - m)(m_class - m)ᵀ``."""
    mean = totals @ means / totals.sum()
    return ((means - mean) * np.sqrt(totals)[:, None]).T


def penalty_matrix(problem: KernelProblem, alpha: float) -> np.ndarray:
    """What (3.33), (3.34) and (3.24) add to the within-class scatter: ``alpha·P + T``."""
    kernel, centers = problem.kernel, problem.centers
    n_centers = len(kernel) if centers is None else centers.shape[0]
    if problem.penalty == "function":
        P = kernel.between(np.arange(n_centers) if centers is None else centers)
    else:
        P = np.eye(n_centers, dtype=kernel.dtype)
    P *= P.dtype.type(alpha)
    return P if problem.invariance is None else P + problem.invariance
