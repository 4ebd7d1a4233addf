"""Row sources: matrices that are asked for a block of rows at a time, and may not exist as a whole.

A *row source* is anything with ``n_rows``, ``n_columns``, ``dtype`` and ``rows(selection)``, which returns
the chosen rows as a dense array or CSR matrix. Arrays, memory maps and CSR matrices are sources through
``as_row_source``; ``Projection`` and ``Expansion`` build on other sources, so deep compositions stay lazy.
Whatever streams over rows (the logit, predictions, moments of a second layer) needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from eigenfeat.features.maps import FeatureMap

Selection = slice | np.ndarray
"""Rows by a slice of step one or an array of indices."""

Block = Any
"""Some rows: a dense (n, d) array or a CSR matrix (which has no types to check)."""

# A block of this many bytes stays in the caches of one core between the two products it is used in.
BLOCK_BYTES = 4_000_000


@runtime_checkable
class RowSource(Protocol):
    """What every consumer of rows asks for; ``rows`` must be safe to call from several threads."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...

    def rows(self, selection: Selection) -> Block: ...


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows of an array, memory map or CSR matrix, read in the floating type that products run in."""

    array: Block

    @property
    def n_rows(self) -> int:
        return self.array.shape[0]

    @property
    def n_columns(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.array.dtype == np.float32 else np.float64)

    def rows(self, selection: Selection) -> Block:
        block = self.array[selection]
        if sparse.issparse(block):
            return block.astype(self.dtype, copy=False)
        return np.asarray(block, dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class Projection:
    """``(x - offset) · component`` for every row x of a source and every row of ``components``."""

    source: RowSource
    components: np.ndarray
    offsets: np.ndarray | None = None  # component · offset, one a component

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return len(self.components)

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(self.source.dtype, self.components.dtype)

    def rows(self, selection: Selection) -> np.ndarray:
        projected = self.source.rows(selection) @ self.components.T
        if self.offsets is not None:
            projected -= self.offsets.astype(projected.dtype, copy=False)
        return projected


@dataclass(frozen=True, eq=False)
class Expansion:
    """The features of projections: ``[inputs, 1, map(projections)]``, made when rows are asked for.

    Parameters
    ----------
    projections : RowSource
        Projections held as an array (``as_row_source``) or computed from inputs (``Projection``).
    feature_map : FeatureMap
        Fitted, if it has to be.
    inputs : RowSource, optional
        Columns kept as they are, put first.
    constant : bool
        Whether a column of ones stands between the inputs and the expanded columns.
    """

    projections: RowSource
    feature_map: FeatureMap
    inputs: RowSource | None = None
    constant: bool = False

    @property
    def n_rows(self) -> int:
        return self.projections.n_rows

    @property
    def n_columns(self) -> int:
        return self._n_plain + self.feature_map.n_columns(self.projections.n_columns)

    @property
    def dtype(self) -> np.dtype:
        return self.projections.dtype

    @property
    def _n_plain(self) -> int:
        return (0 if self.inputs is None else self.inputs.n_columns) + self.constant

    def rows(self, selection: Selection) -> np.ndarray:
        projected = np.ascontiguousarray(self.projections.rows(selection))
        block = np.empty((len(projected), self.n_columns), self.dtype)
        if self.inputs is not None:
            kept = self.inputs.rows(selection)
            block[:, : kept.shape[1]] = kept.toarray() if sparse.issparse(kept) else kept
        if self.constant:
            block[:, self._n_plain - 1] = 1
        self.feature_map.write(projected, block, self._n_plain)
        return block

    def toarray(self) -> np.ndarray:
        """All rows, formed."""
        return self.rows(slice(0, self.n_rows))


def as_row_source(rows: RowSource | Block) -> RowSource:
    """A source of whatever holds rows: sparse matrices of other formats become CSR once."""
    if isinstance(rows, RowSource):
        return rows
    return ArrayRows(rows.tocsr() if sparse.issparse(rows) else np.asanyarray(rows))


def row_blocks(n_rows: int, n_columns: int, itemsize: int, batch_size: int | None = None) -> list[slice]:
    """Consecutive slices that cover the rows, each small enough for a block to stay in cache."""
    if batch_size is None:
        batch_size = min(4096, max(32, BLOCK_BYTES // max(1, n_columns * itemsize)))
    return [slice(start, min(start + batch_size, n_rows)) for start in range(0, n_rows, batch_size)]


def iterate_blocks(source: RowSource, batch_size: int | None = None) -> Iterator[tuple[slice, Block]]:
    """``(slice, rows of that slice)`` in order: one pass over the source."""
    for chosen in row_blocks(source.n_rows, source.n_columns, source.dtype.itemsize, batch_size):
        yield chosen, source.rows(chosen)
