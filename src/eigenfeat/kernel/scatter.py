"""Scatter of classes over an expansion: the matrices of a Rayleigh coefficient in kernel space (3.28-3.30)."""

from __future__ import annotations

import numpy as np


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
