"""Any table in memory as columns of Arrow: pandas, polars, Arrow itself, arrays with and without names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse


def is_frame(X: Any) -> bool:
    """Whether this is a table with names, rather than an array."""
    return isinstance(X, pa.Table | Mapping) or hasattr(X, "__arrow_c_stream__") or _names_of(X) is not None


def as_arrow(X: Any) -> pa.Table:
    """A table with names as columns of Arrow, numbers shared with it where that is possible.

    Raises
    ------
    ValueError
        For a name that two columns have, or something that is no table.
    """
    if isinstance(X, pa.Table):
        table = X
    elif isinstance(X, Mapping):
        table = pa.table({str(name): _column(values) for name, values in X.items()})
    elif isinstance(X, np.ndarray):
        table = pa.table({name: _column(X[name]) for name in X.dtype.names or ()})
    elif hasattr(X, "dtypes") and hasattr(X, "index"):  # pandas: cell by cell where a column mixes types
        table = pa.table([_column(X.iloc[:, j]) for j in range(X.shape[1])], names=list(map(str, X.columns)))
    else:
        table = pa.table(X)
    table = _with_plain_text(table)
    twice = sorted({name for name in table.column_names if table.column_names.count(name) > 1})
    if twice:
        raise ValueError(f"The table has several columns called {', '.join(map(repr, twice))}: rename them.")
    return table


def _with_plain_text(table: pa.Table) -> pa.Table:
    """Views of text, as polars has them, as text: few functions of Arrow know them."""
    views = [j for j, field in enumerate(table.schema) if field.type == pa.string_view()]
    for j in views:
        table = table.set_column(j, table.column_names[j], pc.cast(table.column(j), pa.string()))
    return table


def array_columns(X: np.ndarray) -> list[pa.Array]:
    """The columns of a matrix."""
    return [_column(np.ascontiguousarray(X[:, j])) for j in range(X.shape[1])]


def _column(values: Any) -> pa.Array:
    """Cells as one Arrow array. Cells of several types become text, which says what each of them is."""
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        cells = [None if _is_missing(cell) else str(cell) for cell in values]
        column = pa.array(cells, pa.string())
    return column


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and cell != cell)


def _names_of(X: Any) -> tuple[str, ...] | None:
    if sparse.issparse(X):
        return None
    return getattr(getattr(X, "dtype", None), "names", None)
