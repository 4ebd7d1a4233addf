"""Probabilities from a fit to smoothed labels: one temperature, found on rows that were left out.

Smoothed labels ask for modest scores, so their softmax is too cautious by design; how much too cautious depends on
how well the rows are fitted, which only rows that were not can tell.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from eigenfeat.rows.sampling import parts_of

TEMPERATURES = (0.1, 100.0)
"""The range that is searched."""

MANY_ROWS = 5000
"""From here on a tenth of the rows, or about so many, is left out once; fewer rows are left out fold by fold."""
N_FOLDS = 5

DOUBT = 1e-3
"""Share of every label that may be any class: it keeps the temperature finite where every row is right."""


def parts_to_leave_out(n_rows: int) -> tuple[int, int]:
    """In how many parts rows are cut by their keys, and how many of these are left out, one at a time."""
    return (max(10, n_rows // MANY_ROWS), 1) if n_rows > MANY_ROWS else (N_FOLDS, N_FOLDS)


def left_out_parts(keys: np.ndarray) -> list[np.ndarray]:
    """Rows to leave out, one part at a time.

    Rows of equal key are left out together, and whether a row is does not depend on the others, so that a repeated row
    is as good as a row of twice the weight.
    """
    n_parts, n_left_out = parts_to_leave_out(len(keys))
    part_of = parts_of(keys, n_parts)
    parts = [np.flatnonzero(part_of == part) for part in range(n_left_out)]
    return [part for part in parts if 0 < len(part) < len(keys)]


def is_at_bound(temperature: float) -> bool:
    """Whether a temperature is at an end of the range that is searched: the best one may be beyond."""
    low, high = TEMPERATURES
    return not 1.01 * low < temperature < high / 1.01


def best_temperature(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """τ such that ``softmax(τ s)`` has the least log loss."""

    def log_loss(log_temperature: float) -> float:
        log_p = log_softmax(np.exp(log_temperature) * scores, axis=1)
        own = log_p[np.arange(len(labels)), labels]
        return -float(weights @ ((1 - DOUBT) * own + DOUBT * log_p.mean(axis=1)))

    return float(np.exp(minimize_scalar(log_loss, bounds=np.log(TEMPERATURES), method="bounded").x))
