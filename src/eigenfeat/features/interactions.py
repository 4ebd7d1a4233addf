"""Which pairs of columns tell classes apart beyond what each column does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

BINS = 3
"""Of a column, by which pairs are judged: nine cells a pair."""

FEWEST_IN_CELL = 5.0
"""Rows of a cell below which it is not judged."""

BEYOND_CHANCE = 4.0
"""Standard deviations above what columns without an interaction have, from which a pair is taken. Without pairs the log
loss of seven tables is 8 % more, with those beyond 2 deviations 3 %, beyond 8 the same (benchmarks/gem_constants.py
--only BEYOND_CHANCE --sets "made, codes" "made, switches" ...)."""

MOST_TARGETS = 16
"""Classes that are told apart one by one; residuals of a thousand would take longer than the fit."""

ADDITIVE_RIDGE = 1e-3
"""Of the additive model, relative to the mean diagonal of its second moments."""


def telling_pairs(
    bins: Sequence[np.ndarray], additive: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> list[tuple[int, int]]:
    r"""Pairs of columns with an interaction, the strongest first.

    With R what a least-squares fit of functions of single columns leaves of the class indicators, of variance
    :math:`\sigma_c^2`, a cell of the pair (i, j) holds the rows r that are in bin a of one and bin b of the other:

    .. math:: t_{abc} = \sum_{r \in ab} w_r R_c(r), \quad v_{abc} = \sigma_c^2 \sum_{r \in ab} w_r

    Where there is no interaction, :math:`\sum_{ab} t^2 / v` is nearly :math:`\chi^2` of :math:`(q_i - 1)(q_j - 1)`
    degrees of freedom. Its mean over classes, less these and over their standard deviation, is the strength of a pair.
    (As FAST of Lou, Caruana, Gehrke & Hooker 2013 ranks pairs by what they explain of the residuals of an additive
    model.)

    Parameters
    ----------
    bins : sequence of (n, q) arrays
        Of every column: whether a row is in the bin.
    additive : (n, m) array
        Functions of single columns, which the additive model is made of beside the bins.
    targets : (n, k) array
        Class indicators, or sums of them.
    weights : (n,) array
        Summing to the number of rows that count as evidence.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(1000, 3))
    >>> y = X[:, 0] ^ X[:, 2]
    >>> bins = [np.eye(2)[column] for column in X.T]
    >>> telling_pairs(bins, X.astype(float), np.eye(2)[y], np.ones(1000))
    [(0, 2)]
    """
    H = np.hstack(bins)
    residuals = _residuals(np.hstack([additive, H]), targets, weights)
    rows_of_cells = H.T @ (weights[:, None] * H)
    statistic = np.zeros_like(rows_of_cells)
    for residual in residuals.T:
        variance = weights @ residual**2 / weights.sum()
        if variance > 0:
            statistic += (H.T @ ((weights * residual)[:, None] * H)) ** 2 / variance
    judged = rows_of_cells > FEWEST_IN_CELL
    statistic = np.divide(statistic, len(residuals.T) * rows_of_cells, out=np.zeros_like(statistic), where=judged)
    sizes = np.array([part.shape[1] for part in bins])
    starts = np.append(0, np.cumsum(sizes)[:-1])
    of_pairs = np.add.reduceat(np.add.reduceat(statistic, starts, axis=0), starts, axis=1)
    first, second = np.triu_indices(len(bins), 1)
    freedom = np.maximum((sizes[first] - 1) * (sizes[second] - 1), 1)
    strength = (of_pairs[first, second] - freedom) / np.sqrt(2 * freedom)
    order = np.argsort(-strength, kind="stable")
    chosen = order[strength[order] > BEYOND_CHANCE]
    return list(zip(first[chosen].tolist(), second[chosen].tolist()))


def class_targets(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, k) indicators of the classes, or of many `MOST_TARGETS` sums of them, of random sign each."""
    if n_classes <= MOST_TARGETS:
        return np.eye(n_classes)[labels]
    return np.random.RandomState(0).choice([-1.0, 1.0], size=(n_classes, MOST_TARGETS))[labels]


def binned(column: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(n, q) whether a row is in a bin: up to the first edge, up to the next, ..., beyond the last."""
    return np.eye(len(edges) + 1)[np.searchsorted(edges, column)]


def _residuals(functions: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What a ridge regression on the functions, and a constant, leaves of the targets."""
    total = weights.sum()
    S, Y = (part - weights @ part / total for part in (functions, targets))
    moments = S.T @ (weights[:, None] * S)
    moments[np.diag_indices_from(moments)] += ADDITIVE_RIDGE * np.trace(moments) / len(moments) or 1.0
    return Y - S @ linalg.solve(moments, S.T @ (weights[:, None] * Y), assume_a="pos")
