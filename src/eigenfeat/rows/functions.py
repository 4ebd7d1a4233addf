"""Functions of a block that `Rows.map` applies: rows are selected, labelled, encoded, transformed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from eigenfeat.rows.block import Block, Matrix, take


class RowMap(Protocol):
    """A function of rows that treats every row alike: a stage of a fitted model, say."""

    def apply(self, rows: Matrix) -> Matrix: ...

    def n_columns(self, n_inputs: int) -> int:
        """Return the number of columns made of rows of this width."""


@dataclass(frozen=True, eq=False)
class ApplyRowMap:
    """Transform the rows of a block, which are cast to the floating type of a pass first."""

    row_map: RowMap
    dtype: np.dtype
    row_wise = True

    def __call__(self, block: Block) -> Block:
        X = block.X if block.X.dtype == self.dtype else block.X.astype(self.dtype)
        return replace(block, X=self.row_map.apply(X))


@dataclass(frozen=True, eq=False)
class SelectRows:
    """Keep the rows at some positions, ascending; the first of them becomes row 0."""

    index: np.ndarray

    def __call__(self, block: Block) -> Block:
        first, last = np.searchsorted(self.index, [block.start, block.start + block.n_rows])
        return replace(block.take(self.index[first:last] - block.start), start=int(first))


@dataclass(frozen=True, eq=False)
class WithLabels:
    """Give the rows other labels and weights, by their positions."""

    y: Any
    weight: np.ndarray | None

    def __call__(self, block: Block) -> Block:
        return replace(block, y=take(self.y, block.positions), weight=take(self.weight, block.positions))


@dataclass(frozen=True, eq=False)
class WithKeys:
    """Give the rows keys, by their positions."""

    keys: np.ndarray

    def __call__(self, block: Block) -> Block:
        return replace(block, keys=self.keys[block.positions])


@dataclass(frozen=True, eq=False)
class EncodeLabels:
    """Turn labels into indices into the classes, and multiply weights by one number a class."""

    classes: np.ndarray
    class_weights: np.ndarray | None = None

    def __call__(self, block: Block) -> Block:
        labels = np.asarray(block.y)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        if (self.classes[codes] != labels).any():
            unknown = labels[self.classes[codes] != labels].tolist()[0]
            raise ValueError(f"A source has a label {unknown!r} that it did not have before: it must not change.")
        weight = block.weight
        if self.class_weights is not None:
            weight = self.class_weights[codes] if weight is None else weight * self.class_weights[codes]
        return replace(block, y=codes, weight=weight)


def centred_trials(trials: np.ndarray) -> np.ndarray:
    """Subtract the mean over time from every channel of (n, channels, time) trials."""
    return trials - trials.mean(axis=-1, keepdims=True, dtype=None if trials.dtype.kind == "f" else np.float64)


def time_samples(block: Block) -> Block:
    """Turn (n, channels, time) trials into rows of channels, one a sample, each trial about its own mean.

    A sample has its trial's label and an equal share of its weight: the second moment of these rows is the weighted
    mean of the covariances of the trials.
    """
    n, n_channels, n_samples = block.X.shape
    samples = centred_trials(block.X).transpose(0, 2, 1).reshape(n * n_samples, n_channels)
    labels = None if block.y is None else np.repeat(block.y, n_samples)
    weights = None if block.weight is None else np.repeat(block.weight / n_samples, n_samples)
    return Block(samples, labels, weights, block.start * n_samples)
