"""Transformed copies of the rows that are nearly on the wrong side: what should not matter, told by examples.

Copies of every row waste an expansion on rows far from any border. Those of least margin at rows left out are where a
transformation may change the answer, as support vectors are where virtual ones of a support vector machine come from.

References
----------
B. Schölkopf, C. Burges and V. Vapnik, "Incorporating invariances in support vector learning machines", ICANN 1996.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenfeat.features.tangents import Transformation, transformed


def margins(decision: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """By how much every row is on the right side: its own decision value less the largest of the others'."""
    if decision.shape[1] == 1:
        return np.where(codes == 1, decision[:, 0], -decision[:, 0])
    row = np.arange(len(codes))
    others = decision.copy()
    others[row, codes] = -np.inf
    return decision[row, codes] - others.max(axis=1)


def least_margins(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Numbers of so many rows of least margin, ascending; rows of weight zero are not there."""
    there = np.flatnonzero(weights > 0)
    order = np.argsort(margins(decision, codes)[there], kind="stable")
    return np.sort(there[order[:count]])


def with_copies(
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    chosen: np.ndarray,
    transformations: Sequence[tuple[float, Transformation]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, codes and weights with the copies behind: one of each chosen row a transformation, of its weight."""
    copies = [transformed(rows[chosen], move) for _, move in transformations]
    strengths = np.concatenate([strength * weights[chosen] for strength, _ in transformations])
    return (
        np.vstack([rows, *copies]),
        np.concatenate([codes, np.tile(codes[chosen], len(copies))]),
        np.concatenate([weights, strengths]),
    )
