"""Sums over rows: updated with a block at a time, merged with the same of other rows, then read.

A pass over rows is `Rows.reduce(accumulator)`: whoever has the rows updates copies of the (empty) accumulator with
blocks of them, and merges the copies in the order of the rows. Accumulators are pickled to get to the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Block, array_bytes, concatenate_and_free

BlockFunction = Callable[[Block], Block]
"""A function of a block, picklable: checks, labels, selections and stages of models are such functions."""


class Accumulator(ABC):
    """A sum over rows, empty at first."""

    @abstractmethod
    def update(self, block: Block) -> Any:
        """Add the rows of a block."""

    @abstractmethod
    def merge(self, other: Any) -> Any:
        """Add the sum over rows that come after."""

    def result(self) -> Accumulator:
        """Return the sum without what only updates need: workers send each other this."""
        return self

    def __sizeof__(self) -> int:
        return array_bytes(self)


AnyAccumulator = TypeVar("AnyAccumulator", bound=Accumulator)


@dataclass(eq=False)
class MappedAccumulator(Accumulator):
    """A sum over what a function makes of blocks, of at most ``step`` rows where that is given."""

    accumulator: Any
    function: BlockFunction | None
    step: int | None = None

    def update(self, block: Block) -> None:
        assert self.function is not None, "this accumulator is a result: update an empty one"
        for part in map_blocks(self.function, block, self.step):
            self.accumulator.update(part)

    def merge(self, other: MappedAccumulator) -> None:
        self.accumulator.merge(other.accumulator)

    def result(self) -> MappedAccumulator:
        return MappedAccumulator(self.accumulator.result(), None)

    def __deepcopy__(self, memo: dict) -> MappedAccumulator:
        """Copy the sum; the function, which may be a large model, is a value that copies share."""
        return MappedAccumulator(deepcopy(self.accumulator, memo), self.function, self.step)


def map_blocks(function: BlockFunction, block: Block, step: int | None) -> Iterator[Block]:
    """Apply a function to a block, or to parts of it of ``step`` rows; parts without rows are left out."""
    for start in range(0, block.n_rows, step or max(1, block.n_rows)):
        part = function(block if step is None else block.take(slice(start, start + step)))
        if part.n_rows:
            yield part


@dataclass(eq=False)
class Collect(Accumulator):
    """The rows themselves, or those that a function leaves of them."""

    function: BlockFunction | None = None
    blocks: list[Block] = field(default_factory=list)

    def update(self, block: Block) -> None:
        block = block if self.function is None else self.function(block)
        if block.n_rows:
            self.blocks.append(block)

    def merge(self, other: Collect) -> None:
        self.blocks = [*self.blocks, *other.blocks]

    def block(self) -> Block | None:
        """Return all rows as one block, or None of no rows; the blocks are freed."""
        return concatenate_and_free(self.blocks) if self.blocks else None


@dataclass(eq=False)
class RowCount(Accumulator):
    """How many rows there are, and whether they are sparse."""

    n_rows: int = 0
    is_sparse: bool = False

    def update(self, block: Block) -> None:
        self.n_rows += block.n_rows
        self.is_sparse |= sparse.issparse(block.X)

    def merge(self, other: RowCount) -> None:
        self.n_rows += other.n_rows
        self.is_sparse |= other.is_sparse


@dataclass(eq=False)
class ClassCounts(Accumulator):
    """Rows and weight of every class.

    Attributes
    ----------
    classes : (k,) array
        Labels in ascending order.
    counts : (k,) array of int
        Rows of positive weight.
    weights : (k,) array
    n_rows : int
        Also those of weight zero.
    """

    classes: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_rows: int = 0

    @classmethod
    def of(cls, labels: np.ndarray, weights: np.ndarray | None = None, n_classes: int | None = None) -> ClassCounts:
        """Count labels; with ``n_classes`` they are codes of so many classes, some of which may have no row."""
        if n_classes is None:
            classes, codes = np.unique(labels, return_inverse=True)
            n_classes, codes = len(classes), codes.ravel()
        else:
            classes, codes = np.arange(n_classes), labels
        counts = np.bincount(codes, None if weights is None else weights > 0, minlength=n_classes)
        return cls(
            classes,
            counts.astype(np.int64),
            np.bincount(codes, weights, minlength=n_classes).astype(np.float64),
            len(codes),
        )

    def update(self, block: Block) -> None:
        labels = np.zeros(block.n_rows) if block.y is None else np.asarray(block.y)
        self.merge(ClassCounts.of(labels, block.weight))

    def merge(self, other: ClassCounts) -> None:
        if not len(other.classes):
            return
        mine = self.classes if len(self.classes) else other.classes[:0]
        classes = np.union1d(mine, other.classes)
        counts, weights = np.zeros(len(classes), dtype=np.int64), np.zeros(len(classes))
        for known, part in ((mine, self), (other.classes, other)):
            positions = np.searchsorted(classes, known)
            counts[positions] += part.counts
            weights[positions] += part.weights
        self.classes, self.counts, self.weights = classes, counts, weights
        self.n_rows += other.n_rows

    def coded(self, class_weights: np.ndarray | None = None) -> ClassCounts:
        """Return the counts of codes instead of labels, weights multiplied by one number a class."""
        weights = self.weights if class_weights is None else self.weights * class_weights
        return ClassCounts(np.arange(len(self.classes)), self.counts, weights, self.n_rows)
