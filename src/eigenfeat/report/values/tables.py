"""Rows in a table of any kind: taken, read a column at a time, one column put in another order; nothing is modified."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def kind_of(X: Any) -> str:
    """ "pandas", "polars", "arrow", "sparse" or "array", which may have more than two axes."""
    if sparse.issparse(X):
        return "sparse"
    library = type(X).__module__.split(".")[0]
    return {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}.get(library, "array")


def take(X: Any, index: np.ndarray) -> Any:
    """Some rows, in this order."""
    kind = kind_of(X)
    if kind == "pandas":
        return X.iloc[index]
    if kind == "polars":
        return X[index.tolist()]
    return X.take(index) if kind == "arrow" else X[index]


def names_of(X: Any) -> list[str] | None:
    """Names of the columns, where the table has any."""
    kind = kind_of(X)
    if kind in ("pandas", "polars"):
        return [str(name) for name in X.columns]
    return list(X.column_names) if kind == "arrow" else None


def column_of(X: Any, j: int) -> np.ndarray:
    """One column of a frame: numbers, dates, or objects with None for what is missing."""
    kind = kind_of(X)
    column = X.column(j) if kind == "arrow" else X.iloc[:, j] if kind == "pandas" else X[:, j]
    values = np.asarray(column)
    return values if values.dtype.kind in "biufmM" else np.asarray(list(values), dtype=object)


def with_shuffled(X: Any, j: int, order: np.ndarray) -> Any:
    """The table with one column in another order."""
    kind = kind_of(X)
    if kind == "pandas":
        X = X.copy(deep=False)
        X.isetitem(j, X.iloc[order, j].set_axis(X.index))
        return X
    if kind == "polars":
        name = X.columns[j]
        return X.with_columns(X[name][order.tolist()].alias(name))
    if kind == "arrow":
        return X.set_column(j, X.field(j), X.column(j).take(order))
    if kind == "sparse":
        X = X.tocsc()
        return sparse.hstack([X[:, :j], X[:, [j]].tocsr()[order], X[:, j + 1 :]], format="csr")
    X = np.array(X)
    X[:, j] = X[order, j]
    return X
