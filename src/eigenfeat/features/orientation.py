"""Signs that the mean of a class does not settle: decided by the skewness of its rows' projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenfeat.features.pairs import Contrast
from eigenfeat.moments import Moments
from eigenfeat.quotients import Quotient
from eigenfeat.rows import RandomRows
from eigenfeat.solvers import Directions
from eigenfeat.solvers.signs import skewness_signs

SAYS_NOTHING = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""A mean's projection below this share of the root mean square of its class's is rounding, by the type of the rows."""

SAMPLE_ROWS = 4000
"""Rows of a class that skewness is judged by."""


def settle_by_rows(
    found: Sequence[Directions],
    quotients: Sequence[Quotient],
    mixtures: Sequence[Contrast],
    moments: Moments,
    rows: RandomRows,
) -> list[Directions]:
    """The same directions, those turned that the signal's mean does not orient.

    Where the projection of the numerator's mean is rounding beside the root mean square of its projections, √λ, the
    long tail of the numerator's rows is put on the positive side. Means, mean squares and third moments of projections
    do not change with the basis of the inputs, so neither do signs. Rows are labelled with indices into the
    classes of the moments.
    """
    samples: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    results = []
    for directions, quotient, (above, _) in zip(found, quotients, mixtures):
        unsettled = _unsettled(directions, quotient, rows.dtype)
        if len(unsettled):
            signs = np.ones(directions.n_directions, dtype=directions.vectors.dtype)
            signs[unsettled] = _tail_signs(directions, unsettled, moments.proportions(above), rows, samples)
            directions = replace(directions, vectors=directions.vectors.combined(np.diag(signs)))
        results.append(directions)
    return results


def _unsettled(directions: Directions, quotient: Quotient, dtype: np.dtype) -> np.ndarray:
    assert quotient.references is not None
    means = np.abs(directions.vectors.projected(quotient.references)).max(axis=0)
    return np.flatnonzero(means <= SAYS_NOTHING[np.dtype(dtype)] * np.sqrt(np.maximum(directions.values, 0)))


def _tail_signs(
    directions: Directions,
    columns: np.ndarray,
    shares: np.ndarray,
    rows: RandomRows,
    samples: dict[int, tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """Signs from the rows of a mixture of classes, each weighing its share."""
    projections, weights = [], []
    for c in np.flatnonzero(shares).tolist():
        if c not in samples:
            samples[c] = _sample(rows, c)
        index, row_weights = samples[c]
        projections.append(directions.vectors.columns(columns).projected(rows.rows(index)))
        weights.append(shares[c] * row_weights)
    together, weight = np.concatenate(projections).astype(np.float64), np.concatenate(weights)
    return skewness_signs(together - np.average(together, axis=0, weights=weight), weight)


def _sample(rows: RandomRows, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a class at equal distances, and weights that sum to one."""
    members = np.flatnonzero(np.asarray(rows.labels) == c)
    index = members[:: -(-len(members) // SAMPLE_ROWS)]
    weights = np.ones(len(index)) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)[index]
    return index, weights / weights.sum()
