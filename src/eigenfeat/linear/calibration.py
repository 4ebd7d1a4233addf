"""Probabilities from a fit to smoothed labels: one temperature, found on rows that were left out.

Smoothed labels ask for modest scores, so their softmax is too cautious by design; how much too cautious depends on
how well the rows are fitted, which only rows that were not can tell.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

TEMPERATURES = (0.1, 100.0)
"""The range that is searched."""

MANY_ROWS = 5000
"""From here on a tenth of the rows, at most so many, is left out once; fewer rows are left out fold by fold."""
N_FOLDS = 5


def left_out_parts(n_rows: int, rng: np.random.RandomState) -> list[np.ndarray]:
    """Rows to leave out, one part at a time."""
    order = rng.permutation(n_rows)
    if n_rows > MANY_ROWS:
        return [np.sort(order[: min(n_rows // 10, MANY_ROWS)])]
    return [np.sort(order[fold::N_FOLDS]) for fold in range(min(N_FOLDS, n_rows))]


def best_temperature(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """τ such that ``softmax(τ s)`` has the least log loss."""
    # One more row, of no class in particular, keeps the temperature finite where every row is right.
    doubt = 1.0 / (len(scores) + 1)

    def log_loss(log_temperature: float) -> float:
        log_p = log_softmax(np.exp(log_temperature) * scores, axis=1)
        own = log_p[np.arange(len(labels)), labels]
        return -float(weights @ ((1 - doubt) * own + doubt * log_p.mean(axis=1)))

    return float(np.exp(minimize_scalar(log_loss, bounds=np.log(TEMPERATURES), method="bounded").x))
