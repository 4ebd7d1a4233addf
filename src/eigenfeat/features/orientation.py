"""Signs that the mean of a class does not settle: decided by the skewness of its rows' projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenfeat.features.class_samples import ClassShares, class_samples
from eigenfeat.features.pairs import Contrast
from eigenfeat.moments import Moments
from eigenfeat.quotients import Quotient
from eigenfeat.rows import RowBlock, RowSource
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
    rows: RowSource,
) -> list[Directions]:
    """The same directions, those turned that the signal's mean does not orient.

    Where the projection of the numerator's mean is rounding beside the root mean square of its projections, √λ, the
    long tail of the numerator's rows is put on the positive side. Means, mean squares and third moments of projections
    do not change with the basis of the inputs, so neither do signs. Rows are labelled with indices into the
    classes of the moments.
    """
    unsettled = [_unsettled(directions, quotient, rows.dtype) for directions, quotient in zip(found, quotients)]
    shares = [moments.proportions(above) for above, _ in mixtures]
    wanted = {c for places, share in zip(unsettled, shares) if len(places) for c in np.flatnonzero(share).tolist()}
    if not wanted:
        return list(found)
    samples = class_samples(rows, ClassShares.of(wanted, moments.counts, SAMPLE_ROWS, seed=0))
    results = []
    for directions, places, share in zip(found, unsettled, shares):
        if len(places):
            signs = np.ones(directions.n_directions, dtype=directions.vectors.dtype)
            signs[places] = _tail_signs(directions, places, share, samples)
            directions = replace(directions, vectors=directions.vectors.combined(np.diag(signs)))
        results.append(directions)
    return results


def _unsettled(directions: Directions, quotient: Quotient, dtype: np.dtype) -> np.ndarray:
    assert quotient.references is not None
    means = np.abs(directions.vectors.projected(quotient.references)).max(axis=0)
    return np.flatnonzero(means <= SAYS_NOTHING[np.dtype(dtype)] * np.sqrt(np.maximum(directions.values, 0)))


def _tail_signs(
    directions: Directions, columns: np.ndarray, shares: np.ndarray, samples: dict[int, RowBlock]
) -> np.ndarray:
    """Signs from the rows of a mixture of classes, each weighing its share."""
    projections, weights = [], []
    for c in np.flatnonzero(shares).tolist():
        sample = samples[c]
        projections.append(directions.vectors.columns(columns).projected(sample.rows))
        own = np.ones(sample.n_rows) if sample.weights is None else sample.weights
        weights.append(shares[c] * own / own.sum())
    together, weight = np.concatenate(projections).astype(np.float64), np.concatenate(weights)
    return skewness_signs(together - np.average(together, axis=0, weights=weight), weight)
