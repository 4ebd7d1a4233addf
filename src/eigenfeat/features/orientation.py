"""Signs that the mean of a class does not settle: decided by the skewness of its rows' projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenfeat.moments import Contrast, Moments
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.sampling import class_samples
from eigenfeat.solvers import Directions
from eigenfeat.solvers.canonical import skewness_signs

SAYS_NOTHING = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""A mean's projection below this share of the root mean square of its class's is rounding, by the type of the rows."""

Weighted = tuple[np.ndarray, np.ndarray]
"""Projections of some rows, and what each row weighs."""

SAMPLE_ROWS = 4000
"""Rows of a class that skewness is judged by."""


def orient_by_skewness(
    found: Sequence[Directions],
    references: Sequence[np.ndarray | None],
    mixtures: Sequence[Contrast],
    moments: Moments,
    rows: Rows,
) -> list[Directions]:
    """The same directions, those turned that the signal's mean does not orient.

    Where the projection of the numerator's mean is rounding beside the root mean square of its projections, √λ, the
    long tail of the numerator's rows is put on the positive side. Means, mean squares and third moments of projections
    do not change with the basis of the inputs, so neither do signs. The references are those of the quotients, rows are
    labelled with indices into the classes of the moments.
    """
    unsettled = [_unsettled(directions, means, rows.dtype) for directions, means in zip(found, references)]
    shares = [moments.proportions(above) for above, _ in mixtures]
    wanted = {c for places, share in zip(unsettled, shares) if len(places) for c in np.flatnonzero(share).tolist()}
    if not wanted:
        return list(found)
    seen: list[list[Weighted]] = [[] for _ in found]
    most = np.where(np.isin(np.arange(moments.n_classes), list(wanted)), SAMPLE_ROWS, 0)
    for c, sample in class_samples(rows, most, seed=0):
        own = np.ones(sample.n_rows) if sample.weight is None else sample.weight
        for directions, places, share, parts in zip(found, unsettled, shares, seen):
            if len(places) and share[c]:
                projections = directions.vectors.columns(places).projected(sample.X)
                parts.append((projections, share[c] * own / own.sum()))
    return [_turned(*found_and_seen) for found_and_seen in zip(found, unsettled, seen)]


def _unsettled(directions: Directions, references: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    assert references is not None
    means = np.abs(directions.vectors.projected(references)).max(axis=0)
    return np.flatnonzero(means <= SAYS_NOTHING[np.dtype(dtype)] * np.sqrt(np.maximum(directions.values, 0)))


def _turned(directions: Directions, places: np.ndarray, parts: Sequence[Weighted]) -> Directions:
    """With the signs at these places from what rows of classes project to, each class weighing its share."""
    if not len(places):
        return directions
    together, weight = (np.concatenate(values) for values in zip(*parts))
    together = together.astype(np.float64)
    signs = np.ones(directions.n_directions, dtype=directions.vectors.dtype)
    signs[places] = skewness_signs(together - np.average(together, axis=0, weights=weight), weight)
    return replace(directions, vectors=directions.vectors.combined(np.diag(signs)))
