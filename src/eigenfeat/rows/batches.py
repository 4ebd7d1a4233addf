"""Rows that a function yields: batches of arrays, sparse matrices or dataframes, made anew for every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.arrow import ArrowRows, pyarrow
from eigenfeat.rows.columns import Reading, floating
from eigenfeat.rows.missing import without_gaps
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.streams import Batch, FileRows

Factory = Callable[[], Iterable[Any]]
"""Called at every pass, gives the batches of it."""

# What labels and weights that come beside a frame are called in it.
LABEL, WEIGHT = "(label)", "(weight)"


def batch_rows(factory: Factory, reading: Reading) -> Rows:
    """A source of the batches of a factory, of the kind its first batch shows.

    Raises
    ------
    ValueError
        For a factory without batches, or batches of something else than tables.
    """
    place = f"the batches of {getattr(factory, '__name__', type(factory).__name__)}()"
    first = next(iter(factory()), None)
    if first is None:
        raise ValueError(f"{place} are none: at least one batch is needed.")
    kind = FrameRows if _is_frame(_parts(first, place)[0]) else MatrixRows
    return kind(factory, reading, place, first)


class FrameRows(ArrowRows):
    """Batches of pandas, polars or Arrow tables, alone, with labels or with labels and weights beside them."""

    def __init__(self, factory: Factory, reading: Reading, place: str, first: Any) -> None:
        self.factory, self._first = factory, first
        schema = _arrow_table(first, place).schema
        beside = (("label", LABEL), ("weight", WEIGHT))
        found: dict[str, Any] = {
            part: name for part, name in beside if name in schema.names and getattr(reading, part) is None
        }
        super().__init__(place, schema, replace(reading, **found))

    def reopened(self, reading: Reading) -> FrameRows:
        return FrameRows(self.factory, reading, self.place, self._first)

    def tables(self, size: int) -> Iterator[tuple[str, int, Any]]:
        first_row = 0
        for number, frame in enumerate(self.factory()):
            table = _arrow_table(frame, self.place)
            absent = [name for name in self.columns.all if name not in table.column_names]
            if absent:
                raise ValueError(f"batch {number} of {self.place} has no column {absent[0]!r}, which the first has.")
            table = table if self.filter is None else table.filter(self.filter)
            yield self.place, first_row, table
            first_row += table.num_rows


class MatrixRows(FileRows):
    """Batches of arrays or sparse matrices, each X, (X, y) or (X, y, weights)."""

    def __init__(self, factory: Factory, reading: Reading, place: str, first: Any) -> None:
        self.factory, self.reading = factory, reading
        X, *beside = _parts(first, place)
        self.is_sparse, self._beside = sparse.issparse(X), [part is not None for part in beside]
        if reading.filter is not None or (self.is_sparse and reading.missing != "refuse"):
            raise ValueError(f"{place} are matrices: choose rows, and fill in sparse ones, where they are made.")
        self.columns = reading.chosen(range(X.shape[1]), place)
        self._n_stored = X.shape[1]
        super().__init__(place, len(self.columns.features), floating([X.dtype], reading.dtype), reading.batch_size)

    def batches(self, size: int) -> Iterator[Batch]:
        for number, given in enumerate(self.factory()):
            place = f"batch {number} of {self.place}"
            X, labels, weights = _parts(given, place)
            if sparse.issparse(X) != self.is_sparse or X.shape[1] != self._n_stored:
                raise ValueError(f"{place} is {_described(X)}; the first has {self._n_stored} columns.")
            if self._beside != [labels is not None, weights is not None]:
                raise ValueError(f"{place} has labels or weights where the first has none, or none where it has.")
            batch = self.columns.of_matrix(X.tocsr() if self.is_sparse else X, self.dtype)
            if labels is not None and batch.y is None:
                batch = batch._replace(y=np.asarray(labels))
            if weights is not None and batch.weight is None:
                batch = batch._replace(weight=np.asarray(weights, dtype=np.float64))
            if not self.is_sparse:
                batch = without_gaps(batch, self.reading.missing, self.columns.features, place, 0)
            yield batch


def _parts(given: Any, place: str) -> tuple[Any, Any, Any]:
    """Rows, labels and weights of a batch."""
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3 or not (_is_frame(parts[0]) or len(getattr(parts[0], "shape", ())) == 2):
        raise ValueError(
            f"{place} must be tables (arrays, sparse matrices, pandas, polars or Arrow), alone or as (X, y) or "
            f"(X, y, weights); got {_described(parts[0] if len(parts) == 1 else given)}."
        )
    if any(len(part) != parts[0].shape[0] for part in parts[1:] if part is not None):
        raise ValueError(f"{place}: every row needs its label and its weight, and their numbers differ.")
    return (*parts, None, None)[:3]


def _is_frame(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")


def _arrow_table(given: Any, place: str) -> Any:
    """A batch as an Arrow table, labels and weights that come beside it as columns."""
    arrow = pyarrow()
    frame, labels, weights = _parts(given, place)
    if hasattr(frame, "reset_index"):
        frame = frame.reset_index(drop=True)  # pandas would make a column of it
    elif hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()  # polars': in types that pyarrow can filter
    table = arrow.Table.from_batches([frame]) if isinstance(frame, arrow.RecordBatch) else arrow.table(frame)
    for name, values in ((LABEL, labels), (WEIGHT, weights)):
        if values is not None:
            table = table.append_column(name, arrow.array(np.asarray(values)))
    return table


def _described(batch: Any) -> str:
    shape = getattr(batch, "shape", None)
    return type(batch).__name__ if shape is None else f"{type(batch).__name__} of shape {shape}"
