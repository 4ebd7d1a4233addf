"""Some rows of every class, the same ones wherever the rows live."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np

from eigenfeat.rows.UNKNOWN import ChosenRows
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.rows import ArrayRows, RandomAccessRows, Rows
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


def class_samples(rows: Rows, asked: ClassShares) -> Iterator[tuple[int, Block]]:
    """Classes, ascending, with their rows, in their order, and weights; labels are indices into the classes."""
    found = _chosen(rows, asked)
    for c in np.flatnonzero(asked.shares).tolist():
        own = ChosenRows(found, np.flatnonzero(found.y == c))
        yield c, Block(own.rows(slice(None)), own.y, own.weight)


def _chosen(rows: Rows, asked: ClassShares) -> RandomAccessRows:
    """The rows of all classes: made at once, unless they are at hand, and then not copied."""
    if isinstance(rows, RandomAccessRows):
        chosen = ChosenRows(rows, asked.chosen(np.asarray(rows.y), rows.weight))
        if isinstance(rows, ArrayRows):
            return chosen
        return ArrayRows(chosen.rows(slice(None)), chosen.y, chosen.weight)
    kept = rows.reduce(Sampled(asked), "samples of classes").kept
    if not kept:
        return ArrayRows(np.empty((0, rows.n_columns)), np.empty(0, dtype=np.intp))
    block = concatenate(kept)
    return ArrayRows(block.X, block.y, block.weight)


@dataclass(eq=False)
class Sampled(Accumulator):
    """The rows that shares choose."""

    asked: ClassShares
    kept: list[Block] = field(default_factory=list)

    def update(self, block: Block) -> None:
        assert block.y is not None
        chosen = self.asked.chosen(block.y, block.weight, block.start)
        if len(chosen):
            self.kept.append(block.part(chosen))

    def merge(self, other: Sampled) -> None:
        self.kept = [*self.kept, *other.kept]
