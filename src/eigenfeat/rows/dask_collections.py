"""From Dask arrays, dataframes and lists of delayed blocks to rows on workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.dask_rows import DaskRows, shapes_of
from eigenfeat.rows.dask_tasks import cluster, dask_module
from eigenfeat.rows.dask_waiting import awaited
from eigenfeat.rows.source import Block


def is_dask(X: Any) -> bool:
    """Whether rows are a Dask collection, or a list of delayed ones; looks at names, so that Dask is not imported."""
    if isinstance(X, list | tuple) and len(X) and type(X[0]).__module__.startswith("dask."):
        return True
    return type(X).__module__.startswith("dask") and hasattr(X, "__dask_graph__")


def dask_rows(X: Any, y: Any = None, sample_weight: Any = None, label: str | None = None) -> DaskRows:
    """A source of a Dask array or dataframe, or of a list of delayed blocks, whose partitions are made by the workers.

    Parameters
    ----------
    X : Dask array, dataframe, or list of delayed arrays, dataframes or tuples ``(X, y)`` or ``(X, y, weights)``
        Arrays may be cut in columns too, and lengths of partitions need not be known.
    y, sample_weight : Dask array or series, list of delayed, or str, optional
        In as many partitions as X, or of known lengths; of a dataframe the name of a column.
    label : str, optional
        The column of a dataframe that holds labels: the same as ``y="column"``.

    Raises
    ------
    ValueError
        For a partition that cannot be read, by its number, and for parts that do not go together.
    """
    label = y if isinstance(y, str) else label
    weight = sample_weight if isinstance(sample_weight, str) else None
    y, sample_weight = (None if isinstance(part, str) else part for part in (y, sample_weight))
    parts, names, dtype = _parts(X, {label, weight})
    sides = [_beside(part, X, len(parts), name) for part, name in ((y, "y"), (sample_weight, "sample_weight"))]
    client, delayed = cluster(), dask_module("dask").delayed
    recipes = [Partition(i, dtype or np.dtype(np.float64), names, label, weight) for i in range(len(parts))]
    if dtype is None:
        (first,) = awaited([client.compute(delayed(_type_of)(parts[0]))], "the first partition")
        recipes = [replace(recipe, dtype=first) for recipe in recipes]
    made = [
        delayed(recipe.block)(part, *(None if side is None else side[i] for side in sides))
        for i, (recipe, part) in enumerate(zip(recipes, parts))
    ]
    blocks = client.compute(made)
    shapes = shapes_of(blocks)
    widths = {width for _, width in shapes}
    if len(widths) > 1:
        odd = next(i for i, (_, width) in enumerate(shapes) if width != shapes[0][1])
        raise ValueError(f"Partition {odd} has {shapes[odd][1]} columns where partition 0 has {shapes[0][1]}.")
    starts = [0, *accumulate(length for length, _ in shapes)]
    if not starts[-1]:
        raise ValueError("There are no rows in any partition.")
    return DaskRows(blocks, starts, shapes[0][1], recipes[0].dtype, names)


def _parts(X: Any, apart: set) -> tuple[list[Any], tuple[str, ...] | None, np.dtype | None]:
    """Delayed partitions, names of columns and the type of rows, where these are known."""
    if isinstance(X, list | tuple):
        return list(X), None, None
    if hasattr(X, "to_dask_array"):  # a dataframe
        absent = [name for name in apart if name is not None and name not in list(X.columns)]
        if absent:
            raise ValueError(f"The dataframe has no column {absent[0]!r}; it has {list(X.columns)[:8]}.")
        names = tuple(str(name) for name in X.columns if name not in apart)
        kinds = {str(X.dtypes[name]) for name in names}
        return X.to_delayed(), names, np.dtype(np.float32 if kinds == {"float32"} else np.float64)
    if X.ndim != 2:
        raise ValueError(f"Rows must be a Dask array of two dimensions, got {X.ndim}.")
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return X.to_delayed()[:, 0].tolist(), None, np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def _beside(part: Any, X: Any, n_parts: int, name: str) -> list[Any] | None:
    """Partitions of what goes with the rows."""
    if part is None:
        return None
    if not isinstance(part, list | tuple) and not hasattr(part, "to_delayed"):
        raise ValueError(
            f"{name} of Dask rows must be a Dask array or series, a list of delayed blocks or the name of a column; "
            f"got {type(part).__name__}. Make one of it: dask.array.from_array({name}, chunks=X.chunks[0])."
        )
    chunks = getattr(X, "chunks", None)
    if chunks is not None and hasattr(part, "rechunk") and not np.isnan([*chunks[0], *part.chunks[0]]).any():
        part = part.rechunk({0: chunks[0]})
    blocks = list(part) if isinstance(part, list | tuple) else np.ravel(part.to_delayed()).tolist()
    if len(blocks) != n_parts:
        raise ValueError(f"{name} has {len(blocks)} partitions and X has {n_parts}: cut them alike.")
    return blocks


@dataclass(frozen=True, eq=False)
class Partition:
    """How a partition's rows, labels and weights become a block.

    Attributes
    ----------
    number : int
        Of the partition: errors name it.
    dtype : dtype
        Of the rows.
    names : tuple of str or None
        Columns that are rows, of a dataframe.
    label, weight : str or None
        Columns that are not.
    """

    number: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None

    def block(self, rows: Any, labels: Any = None, weights: Any = None) -> Block:
        if isinstance(rows, tuple):
            rows, labels, weights = (*rows, None, None)[:3]
        if self.label is not None:
            labels = rows[self.label]
        if self.weight is not None:
            weights = rows[self.weight]
        if self.names is not None:
            rows = rows[list(self.names)]
        rows = rows.tocsr().astype(self.dtype) if sparse.issparse(rows) else np.asarray(rows, dtype=self.dtype)
        labels, weights = _vector(labels), _vector(weights)
        for name, values in (("labels", labels), ("weights", weights)):
            if values is not None and len(values) != rows.shape[0]:
                raise ValueError(
                    f"Partition {self.number} has {rows.shape[0]} rows and {len(values)} {name}: cut X and y alike."
                )
        return Block(rows, labels, None if weights is None else weights.astype(np.float64))


def _vector(values: Any) -> np.ndarray | None:
    if values is None:
        return None
    values = np.asarray(values)
    return values.astype(np.str_) if values.dtype.kind in "OT" else values


def _type_of(part: Any) -> np.dtype:
    rows = part[0] if isinstance(part, tuple) else part
    return np.dtype(np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)
