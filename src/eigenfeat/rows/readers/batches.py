"""Batches that a function makes anew for every pass: pandas, polars and Arrow tables, arrays and sparse matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from eigenfeat.rows.block import Block
from eigenfeat.rows.readers.arrays import block_of_matrix, by_index
from eigenfeat.rows.readers.columns import TableRows
from eigenfeat.rows.readers.options import ReadOptions, check_columns, floating, handle_missing
from eigenfeat.rows.readers.stream import FileRows
from eigenfeat.rows.readers.tables import Part, TableSource, cut
from eigenfeat.rows.rows import Rows

Factory = Callable[[], Iterable[Any]]
"""Called at every pass, returns the batches of it."""

LABEL, WEIGHT = "(label)", "(weight)"
"""Columns of labels and weights that come beside a frame."""


def batch_rows(factory: Factory, options: ReadOptions) -> Rows:
    """Return rows of the batches of a factory, of the kind its first batch shows.

    Raises
    ------
    ValueError
        For a factory without batches, or batches of something else than tables.
    """
    place = f"the batches of {getattr(factory, '__name__', type(factory).__name__)}()"
    first = next(iter(factory()), None)
    if first is None:
        raise ValueError(f"{place} are none: at least one batch is needed.")
    parts = _parts(first, place)

    def batches() -> Iterator[tuple[str, Any, Any, Any]]:
        for number, batch in enumerate(factory()):
            name = f"batch {number} of {place}"
            yield name, *_parts(batch, name)

    if not _is_frame(parts[0]):
        return MatrixRows(batches, options, place, parts)

    def tables(columns: list[str], numbers: Any, filter: Any, size: int) -> Iterator[Part]:
        for name, *batch in batches():
            table = _arrow_table(*batch)
            check_columns(name, table.column_names, columns, "that the first has")
            yield from cut(name, [table], columns, size)

    source = TableSource(place, _arrow_table(*parts).schema, tables)
    label = LABEL if LABEL in source.names and options.label is None else options.label
    weight = WEIGHT if WEIGHT in source.names and options.weight is None else options.weight
    return TableRows(source, replace(options, label=label, weight=weight))


class MatrixRows(FileRows):
    """Batches of arrays or sparse matrices, each X, (X, y) or (X, y, weights)."""

    def __init__(self, batches: Any, options: ReadOptions, place: str, first: tuple[Any, Any, Any]) -> None:
        X, *beside = first
        self._batches, self.options = batches, by_index(options, X.shape[1])
        self.is_sparse, self._beside = sparse.issparse(X), [part is not None for part in beside]
        if options.filter is not None or (self.is_sparse and options.missing != "refuse"):
            raise ValueError(f"{place} are matrices: choose rows, and fill in sparse ones, where they are made.")
        self.columns = self.options.choose(range(X.shape[1]), place)
        self._n_stored = X.shape[1]
        super().__init__(place, len(self.columns.features), floating([X.dtype], options.dtype), options.batch_size)

    def batches(self, size: int) -> Iterator[Block]:
        for place, X, labels, weights in self._batches():
            if sparse.issparse(X) != self.is_sparse or X.shape[1] != self._n_stored:
                shape = f"{type(X).__name__} of shape {X.shape}"
                raise ValueError(f"{place} is {shape}; the first has {self._n_stored} columns.")
            if self._beside != [labels is not None, weights is not None]:
                raise ValueError(f"{place} has labels or weights where the first has none, or none where it has.")
            block = block_of_matrix(X.tocsr() if self.is_sparse else X, self.columns, self.dtype)
            if labels is not None and block.y is None:
                block = replace(block, y=np.asarray(labels))
            if weights is not None and block.weight is None:
                block = replace(block, weight=np.asarray(weights, dtype=np.float64))
            if not self.is_sparse:
                block = handle_missing(block, self.options.missing, self.columns.features, place)
            yield block


def _parts(given: Any, place: str) -> tuple[Any, Any, Any]:
    """Return rows, labels and weights of a batch."""
    parts = given if isinstance(given, tuple) else (given,)
    shape = getattr(parts[0], "shape", ())
    if len(parts) > 3 or not (_is_frame(parts[0]) or len(shape) == 2):
        raise ValueError(
            f"{place} must be tables (arrays, sparse matrices, pandas, polars or Arrow), alone or as (X, y) or "
            f"(X, y, weights); got {type(parts[0]).__name__} of shape {shape}, and {len(parts) - 1} more."
        )
    if any(len(part) != parts[0].shape[0] for part in parts[1:] if part is not None):
        raise ValueError(f"{place}: every row needs its label and its weight, and their numbers differ.")
    return (*parts, None, None)[:3]


def _is_frame(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")


def _arrow_table(frame: Any, labels: Any, weights: Any) -> Any:
    """Return a batch as an Arrow table, labels and weights that come beside it as columns."""
    if hasattr(frame, "reset_index"):
        frame = frame.reset_index(drop=True)  # pandas would make a column of it
    elif hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()  # polars': in types that pyarrow can filter
    table = pa.table(frame)
    for name, values in ((LABEL, labels), (WEIGHT, weights)):
        if values is not None:
            table = table.append_column(name, pa.array(np.asarray(values)))
    return table
