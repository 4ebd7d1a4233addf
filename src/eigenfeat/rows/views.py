"""Views of other sources: some of their rows, their rows with labels, and functions of their rows.

What is done to rows one by one (a constant added, columns scaled or projected, a transformer, a feature map) is not a
view of its own but a *row map*, which `MappedRows` applies to every block; the stages of a fitted model are such maps
(`eigenfeat.stages`), so that what is fitted on and what is predicted from are made by the same code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from eigenfeat.rows.arrays import ArrayRows
from eigenfeat.rows.source import Block, RandomRows, RowBlock, RowSource, Selection, part_of


class RowMap(Protocol):
    """A function of rows that treats every row alike."""

    def apply(self, rows: Block) -> Block: ...

    def n_columns(self, n_inputs: int) -> int:
        """Columns made of rows of this width."""


@dataclass(frozen=True, eq=False)
class RowView(RandomRows):
    """A view with a row for every row of its source; it can do what the source can."""

    source: RowSource

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.source.names

    @property
    def has_random_access(self) -> bool:
        return self.source.has_random_access

    @property
    def labels(self) -> np.ndarray | None:
        return getattr(self.source, "labels", None)

    @property
    def weights(self) -> np.ndarray | None:
        return getattr(self.source, "weights", None)

    def rows(self, selection: Selection) -> Block:
        return self.source.rows(selection)


@dataclass(frozen=True, eq=False)
class ChosenRows(RowView):
    """Some rows of a source, in the order of ``index``, with their labels and weights."""

    index: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.index)

    @property
    def labels(self) -> np.ndarray | None:
        return part_of(super().labels, self.index)

    @property
    def weights(self) -> np.ndarray | None:
        return part_of(super().weights, self.index)

    def rows(self, selection: Selection) -> Block:
        return self.source.rows(self.index[selection])


@dataclass(frozen=True, eq=False)
class LabelledRows(RowView):
    """The rows of a source with labels and weights of their own."""

    labels: np.ndarray | None = None
    weights: np.ndarray | None = None

    def blocks(self, batch_size: int | None = None) -> Iterator[RowBlock]:
        for block in self.source.blocks(batch_size):
            chosen = block.selection
            yield RowBlock(block.start, block.rows, part_of(self.labels, chosen), part_of(self.weights, chosen))


@dataclass(frozen=True, eq=False)
class MappedRows(RowView):
    """The rows of a source after a row map, made when they are asked for."""

    row_map: RowMap

    @property
    def n_columns(self) -> int:
        return self.row_map.n_columns(self.source.n_columns)

    @property
    def names(self) -> None:
        return None  # columns of its own

    def rows(self, selection: Selection) -> Block:
        return self.row_map.apply(self.source.rows(selection))

    def blocks(self, batch_size: int | None = None) -> Iterator[RowBlock]:
        for block in self.source.blocks(batch_size or self.default_batch):
            rows = block.rows
            if rows.dtype != self.dtype:
                rows = rows.astype(self.dtype)
            yield RowBlock(block.start, self.row_map.apply(rows), block.labels, block.weights)


def as_row_source(
    rows: RowSource | Block, labels: np.ndarray | None = None, weights: np.ndarray | None = None
) -> RowSource:
    """A source of whatever holds rows: sparse matrices of other formats become CSR once."""
    if isinstance(rows, RowSource):
        return rows if labels is None and weights is None else LabelledRows(rows, labels, weights)
    labels = None if labels is None else np.asarray(labels)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    return ArrayRows(rows.tocsr() if sparse.issparse(rows) else np.asanyarray(rows), labels, weights)
