"""Some rows of every class, the same ones wherever the rows live."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.rows.accumulators import Collect
from eigenfeat.rows.block import Block
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import uniforms


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Which rows of some classes are taken: all, or where they are more than ``most`` about so many, drawn by place.

    Attributes
    ----------
    shares : (k,) array
        Of every class, zero for those that are not asked for.
    seed : int
    """

    shares: np.ndarray
    seed: int

    @classmethod
    def of(cls, wanted: Collection[int], counts: np.ndarray, most: int, seed: int) -> ClassShares:
        shares = np.zeros(len(counts))
        places = np.array(sorted(wanted), dtype=np.intp)
        shares[places] = np.minimum(1.0, most / np.maximum(counts[places], 1))
        return cls(shares, seed)

    def chosen(self, labels: np.ndarray, weights: np.ndarray | None, start: int = 0) -> np.ndarray:
        """Places of rows, the first of which stands at ``start``; one without weight is never taken."""
        taken = uniforms(self.seed, start, len(labels)) < self.shares[labels]
        return np.flatnonzero(taken if weights is None else taken & (weights > 0))

    def __call__(self, block: Block) -> Block:
        """Return the rows of a block that are taken."""
        return block.take(self.chosen(block.y, block.weight, block.start))


def class_samples(rows: Rows, asked: ClassShares) -> Iterator[tuple[int, Block]]:
    """Classes, ascending, with their rows, in their order, and weights; labels are indices into the classes."""
    found = _chosen(rows, asked)
    for c in np.flatnonzero(asked.shares).tolist():
        yield c, found.take(np.flatnonzero(found.y == c)).block(slice(None))


def _chosen(rows: Rows, asked: ClassShares) -> Rows:
    """The rows of all classes: made at once, unless they are in memory, and then not copied."""
    if isinstance(rows, ArrayRows):
        return rows.take(asked.chosen(np.asarray(rows.y), rows.weight))
    if rows.random_access:
        block = rows.take(asked.chosen(np.asarray(rows.y), rows.weight)).block(slice(None))
    else:
        found = rows.reduce(Collect(asked), "samples of classes").block()
        block = Block(np.empty((0, rows.n_columns)), np.empty(0, dtype=np.intp)) if found is None else found
    return ArrayRows(block.X, block.y, block.weight)
