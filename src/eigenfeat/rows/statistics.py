"""What is summed over rows: updated with a block at a time, merged with the same of other rows, then read.

A pass over rows is `Rows.reduce(statistic)`: whoever holds the rows updates a copy of the (empty) statistic with
blocks of them, wherever they are, and merges what came of it in the order of the rows. Statistics are pickled to get
there, so they hold nothing but numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from eigenfeat.rows.source import Block, held_bytes

Lens = Callable[[Block], Iterable[Block]]
"""What a view makes of a block of its source."""


class Accumulator(ABC):
    """Begins empty; two that have seen different rows merge."""

    @abstractmethod
    def update(self, block: Block) -> None:
        """Adds the rows of a block."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Adds what another has seen, of rows that come after."""

    def result(self) -> Accumulator:
        """The same without what only updates need: what workers send each other, and here."""
        return self

    def __sizeof__(self) -> int:
        return held_bytes(self)


AnyAccumulator = TypeVar("AnyAccumulator", bound=Accumulator)


@dataclass(eq=False)
class Seen(Accumulator):
    """A statistic that sees blocks through a lens."""

    statistic: Accumulator
    lens: Lens

    def update(self, block: Block) -> None:
        for part in self.lens(block):
            if part.n_rows:
                self.statistic.update(part)

    def merge(self, other: Seen) -> None:
        self.statistic.merge(other.statistic)

    def inner(self) -> Accumulator:
        return self.statistic

    def result(self) -> Accumulator:
        return Seen(self.statistic.result(), no_lens)


def no_lens(block: Block) -> Iterable[Block]:
    """Stands for the lens of a statistic that sees nothing more."""
    raise TypeError("This statistic is a result: update an empty one.")


@dataclass(frozen=True, eq=False)
class OfClasses:
    """A lens: rows whose labels, indices into classes, are from ``first`` to below ``last``."""

    first: int
    last: int

    def __call__(self, block: Block) -> tuple[Block]:
        labels = np.asarray(block.y)
        return (block.part(np.flatnonzero((self.first <= labels) & (labels < self.last))),)


@dataclass(eq=False)
class ClassTotals(Accumulator):
    """Rows and weight of every label.

    Attributes
    ----------
    classes : (k,) array
        Labels in ascending order.
    counts : (k,) array of int
        Rows of positive weight.
    weights : (k,) array
    n_rows : int
        Also those without weight.
    """

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_rows: int = 0

    def update(self, block: Block) -> None:
        labels = np.zeros(block.X.shape[0]) if block.y is None else np.asarray(block.y)
        classes, codes = np.unique(labels, return_inverse=True)
        present = None if block.weight is None else block.weight > 0
        counts = np.bincount(codes.ravel(), present, minlength=len(classes)).astype(np.int64)
        weights = np.bincount(codes.ravel(), block.weight, minlength=len(classes)).astype(np.float64)
        self.merge(ClassTotals(classes, counts, weights, len(labels)))

    def merge(self, other: ClassTotals) -> None:
        if not len(other.classes):
            return
        mine = self.classes if len(self.classes) else other.classes[:0]
        classes = np.union1d(mine, other.classes)
        counts, weights = np.zeros(len(classes), dtype=np.int64), np.zeros(len(classes))
        for known, part in ((mine, self), (other.classes, other)):
            places = np.searchsorted(classes, known)
            counts[places] += part.counts
            weights[places] += part.weights
        self.classes, self.counts, self.weights = classes, counts, weights
        self.n_rows += other.n_rows
