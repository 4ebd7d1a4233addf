"""Which columns of a table are features, labels and weights, and how it is read: what a user says when opening one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.streams import Batch

Name = str | int
"""A column: by its name, or in an array by its index."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table that are read, by what they are for.

    Attributes
    ----------
    features : tuple of names
    labels : tuple of names
        None, one, or several: targets side by side.
    weight : name or None
    flat : bool
        Whether labels are a vector.
    """

    features: tuple[Name, ...]
    labels: tuple[Name, ...] = ()
    weight: Name | None = None
    flat: bool = True

    @property
    def all(self) -> list[Name]:
        return [*self.features, *self.labels, *(() if self.weight is None else (self.weight,))]

    def of_matrix(self, X: Any, dtype: np.dtype) -> Batch:
        """Rows of an array or CSR matrix, whose columns go by their index."""
        rows = X if len(self.features) == X.shape[1] else X[:, list(self.features)]
        return Batch(rows.astype(dtype, copy=False), self.labels_of(X), self.weights_of(X))

    def labels_of(self, X: Any) -> np.ndarray | None:
        return self.together([_column(X, j) for j in self.labels])

    def weights_of(self, X: Any) -> np.ndarray | None:
        return None if self.weight is None else _column(X, self.weight).astype(np.float64)

    def together(self, labels: Sequence[np.ndarray]) -> np.ndarray | None:
        """Columns of labels as a vector, side by side, or None where there are none."""
        return None if not labels else labels[0] if self.flat else np.column_stack(labels)


@dataclass(frozen=True, eq=False)
class Reading:
    """How a source is read; see `eigenfeat.rows.open` for the meaning of each."""

    label: Name | Sequence[Name] | None = None
    weight: Name | None = None
    columns: Sequence[Name] | int | None = None
    drop: Collection[Name] = ()
    filter: Any = None
    missing: str | float | Mapping[Name, float] = "refuse"
    batch_size: int | None = None
    dtype: np.dtype | None = None

    def chosen(self, names: Sequence[Name], place: str) -> Columns:
        """The columns that are read, of those there are.

        Raises
        ------
        ValueError
            For a column that is absent, there twice or asked for twice, or when no feature is left.
        """
        there = Counter(names)
        twice = [name for name, count in there.items() if count > 1]
        if twice:
            raise ValueError(f"{place} has several columns called {shown(twice)}: names must tell columns apart.")
        flat = self.label is None or isinstance(self.label, str | int | np.integer)
        labels: tuple = () if self.label is None else (self.label,) if flat else tuple(self.label)  # type: ignore[arg-type]
        weights = () if self.weight is None else (self.weight,)
        if isinstance(self.columns, int | str):
            raise ValueError(f"columns must be a list of columns of {place}, got {self.columns!r}.")
        for part, asked in (
            ("label", labels),
            ("weight", weights),
            ("columns", self.columns or ()),
            ("drop", self.drop),
        ):
            absent = [name for name in asked if name not in there]
            if absent:
                raise ValueError(f"{place} has no column {shown(absent)} ({part}=); it has {shown(names)}.")
        apart = {*labels, *weights, *self.drop}
        if self.columns is None:
            features = tuple(name for name in names if name not in apart)
        else:
            features = tuple(self.columns)
            both = [name for name in features if name in apart]
            if both:
                raise ValueError(f"{shown(both)} of {place} cannot be a feature and a label, a weight or dropped.")
        if not features:
            raise ValueError(f"{place} has no feature columns besides {shown(sorted(apart, key=str))}.")
        return Columns(features, labels, self.weight, flat)


def shown(names: Collection[Any], limit: int = 8) -> str:
    """Some names in words."""
    first = ", ".join(repr(name) for name in list(names)[:limit])
    return first if len(names) <= limit else f"{first} and {len(names) - limit} more"


def floating(dtypes: Collection[Any], chosen: np.dtype | None) -> np.dtype:
    """The type rows are read in: the one that was chosen, or float32 where every column is that already."""
    if chosen is not None:
        return np.dtype(chosen)
    return np.dtype(np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64)


def _column(X: Any, index: Name) -> np.ndarray:
    column = X[:, [index]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
