"""Transformations that should not matter: their tangents, as noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eigenfeat.moments import DenseForm
from eigenfeat.rows import RowSource, dense

Transformation = Callable[[np.ndarray], np.ndarray]


def weighted_transformations(
    invariances: Sequence[Transformation | tuple[float, Transformation]],
) -> list[tuple[float, Transformation]]:
    """``(weight, transformation)`` pairs, a bare transformation weighing one."""
    return [item if isinstance(item, tuple) else (1.0, item) for item in invariances]


def transformed(rows: np.ndarray, transformation: Transformation) -> np.ndarray:
    """The transformed rows, in the dtype of the rows; never the caller's array."""
    moved = np.asarray(transformation(rows.copy()), dtype=rows.dtype)
    if moved.shape != rows.shape:
        raise ValueError(
            f"A transformation must map rows to rows of the same shape: it was given {rows.shape} and returned "
            f"{moved.shape}."
        )
    return moved


def tangent_moment(
    rows: RowSource | None, transformations: Sequence[tuple[float, Transformation]], constant: bool = False
) -> DenseForm | None:
    """``T = Σ_L weight · mean over rows of (x - Lx)(x - Lx)ᵀ``; None without transformations.

    vᵀTv is by how much the projection on v changes under the transformations, squared, on average. ``constant`` adds a
    last column that no transformation changes.
    """
    if not transformations:
        return None
    assert rows is not None
    d = rows.n_columns
    T, total = np.zeros((d + constant, d + constant)), 0.0
    for block in rows.blocks():
        X = dense(block.rows)
        weights = np.ones(len(X)) if block.weights is None else np.asarray(block.weights, dtype=np.float64)
        total += weights.sum()
        for strength, transformation in transformations:
            change = (X - transformed(X, transformation)).astype(np.float64) * np.sqrt(strength * weights)[:, None]
            T[:d, :d] += change.T @ change
    return DenseForm(T / total)
