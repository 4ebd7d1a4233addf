"""Transformations that should not matter: their tangents, as noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.moments import DenseForm
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block, dense
from eigenfeat.rows.rows import Rows

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
    rows: Rows | None, transformations: Sequence[tuple[float, Transformation]], constant: bool = False
) -> DenseForm | None:
    """``T = Σ_L weight · mean over rows of (x - Lx)(x - Lx)ᵀ``; None without transformations.

    vᵀTv is by how much the projection on v changes under the transformations, squared, on average. ``constant`` adds a
    last column that no transformation changes.
    """
    if not transformations:
        return None
    assert rows is not None
    d = rows.n_columns
    changes = rows.reduce(Changes(transformations, np.zeros((d, d))), "invariances")
    T = np.zeros((d + constant, d + constant))
    T[:d, :d] = changes.squares / changes.total
    return DenseForm(T)


@dataclass(eq=False)
class Changes(Accumulator):
    """``Σ_L weight · Σ (x - Lx)(x - Lx)ᵀ`` over rows, and their weight."""

    transformations: Sequence[tuple[float, Transformation]]
    squares: np.ndarray
    total: float = 0.0

    def update(self, block: Block) -> None:
        X = dense(block.X)
        weights = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        self.total += float(weights.sum())
        for strength, transformation in self.transformations:
            change = (X - transformed(X, transformation)).astype(np.float64) * np.sqrt(strength * weights)[:, None]
            self.squares += change.T @ change

    def merge(self, other: Changes) -> None:
        self.squares += other.squares
        self.total += other.total
