"""Batches that a function makes anew for every pass: pandas, polars and Arrow tables, arrays and sparse matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from eigenfeat.rows.readers.arrays import MatrixRows
from eigenfeat.rows.readers.options import ReadOptions
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
    from eigenfeat.rows.readers.columns import TableRows
    from eigenfeat.rows.readers.tables import BatchSource

    def tables() -> Iterator[tuple[str, Any]]:
        return ((name, _arrow_table(*parts)) for name, *parts in batches())

    source = BatchSource(place, _arrow_table(*parts).schema, tables)
    beside = (("label", LABEL), ("weight", WEIGHT))
    found: dict[str, Any] = {
        role: name for role, name in beside if name in source.names and getattr(options, role) is None
    }
    return TableRows(source, replace(options, **found))


def _parts(given: Any, place: str) -> tuple[Any, Any, Any]:
    """Return rows, labels and weights of a batch."""
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


def _arrow_table(frame: Any, labels: Any, weights: Any) -> Any:
    """Return a batch as an Arrow table, labels and weights that come beside it as columns."""
    import pyarrow as pa

    if hasattr(frame, "reset_index"):
        frame = frame.reset_index(drop=True)  # pandas would make a column of it
    elif hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()  # polars': in types that pyarrow can filter
    table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else pa.table(frame)
    for name, values in ((LABEL, labels), (WEIGHT, weights)):
        if values is not None:
            table = table.append_column(name, pa.array(np.asarray(values)))
    return table


def _described(batch: Any) -> str:
    shape = getattr(batch, "shape", None)
    return type(batch).__name__ if shape is None else f"{type(batch).__name__} of shape {shape}"
