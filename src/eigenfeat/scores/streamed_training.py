"""Training of the auto-encoder on rows that are read a block at a time: an epoch is a pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block
from eigenfeat.scores.training import AutoencoderTrainer, column_moments


@dataclass(eq=False)
class ColumnSums(Accumulator):
    """Rows, weight, mean and variance of every column, merged by the pairwise formula; least and largest value.

    Means and squares about them are in float64.
    """

    n_rows: int = 0
    weight: float = 0.0
    mean: Any = 0.0
    squares: Any = 0.0
    low: float = np.inf
    high: float = -np.inf

    def update(self, block: Block) -> None:
        weights = np.ones(block.n_rows) if block.weight is None else block.weight
        total = float(weights.sum())
        if total > 0:
            mean, variance = column_moments(block.X, weights)
            low, high = float(block.X.min()), float(block.X.max())
            self.merge(ColumnSums(block.n_rows, total, mean, total * variance, low, high))

    def merge(self, other: ColumnSums) -> None:
        if not other.weight:
            return
        total, change = self.weight + other.weight, other.mean - self.mean
        self.squares = self.squares + other.squares + np.square(change) * (self.weight * other.weight / total)
        self.mean = self.mean + change * (other.weight / total)
        self.n_rows, self.weight = self.n_rows + other.n_rows, total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean, self.squares / self.weight


@dataclass(eq=False)
class StreamedEpoch(Accumulator):
    """One pass over blocks, each in random order; rows whose key is at most ``held_out`` are for validation.

    ``unit`` is the mean weight of a row.
    """

    trainer: AutoencoderTrainer
    batch_size: int
    keys: Callable[[np.ndarray], np.ndarray]
    held_out: int
    unit: float

    def update(self, block: Block) -> None:
        taken = self.keys(block.X) > self.held_out
        weight = None
        if block.weight is not None:
            taken &= block.weight > 0
            weight = (block.weight[taken] / self.unit).astype(np.float32)
        self.trainer.epoch(block.X[taken].astype(np.float32, copy=False), self.batch_size, weight)

    def merge(self, other: StreamedEpoch) -> None:
        raise TypeError("Steps of gradient descent come one after the other: two passes do not merge.")
