"""What a user says about the rows of a file: features, labels and weights, missing values, number types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.rows.block import Block
from eigenfeat.rows.readers.errors import listed
from eigenfeat.rows.rows import Rows

Name = str | int
"""A column: by its name, or in an array by its index."""

MISSING_WORDS = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "missing", "<na>", "nat")
"""Cells of text among numbers that say that there is none, in lower case."""

USUAL_LABELS = ("label", "target", "class", "y")
"""Columns that `read_table` and the command take for the label where none is named."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns that are read, by what they are for.

    Attributes
    ----------
    features : tuple of names
    labels : tuple of names
        None, one, or several: targets side by side.
    weight : name or None
    is_vector : bool
        Labels are one column, not several side by side.
    """

    features: tuple[Any, ...]
    labels: tuple[Any, ...] = ()
    weight: Name | None = None
    is_vector: bool = True

    @property
    def all(self) -> list[Any]:
        return [*self.features, *self.labels, *(() if self.weight is None else (self.weight,))]

    def joined_labels(self, labels: Sequence[np.ndarray]) -> np.ndarray | None:
        """Return columns of labels as a vector, side by side, or None where there are none."""
        return None if not labels else labels[0] if self.is_vector else np.column_stack(labels)


@dataclass(frozen=True, eq=False)
class ReadOptions:
    """How rows are read; see `eigenfeat.rows.open` for the meaning of each."""

    label: Name | Sequence[Name] | None = None
    weight: Name | None = None
    columns: Sequence[Name] | int | None = None
    drop: Collection[Name] = ()
    filter: Any = None
    missing: str | float | Mapping[Name, float] = "refuse"
    batch_size: int | None = None
    dtype: Any = None
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        dtype = None if self.dtype is None else np.dtype(self.dtype)
        if dtype not in (None, np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {dtype}.")
        if isinstance(self.missing, str) and self.missing not in ("refuse", "drop", "mean"):
            raise ValueError(
                f'missing must be "refuse", "drop", "mean", a number or numbers by column, got {self.missing!r}.'
            )
        object.__setattr__(self, "dtype", dtype)

    def renamed(self, rename: Callable[[Any], Any]) -> ReadOptions:
        """Return the same options with other names for columns."""

        def some(names: Any) -> Any:
            return [*map(rename, names)] if isinstance(names, list | tuple) else rename(names)

        missing = self.missing
        if isinstance(missing, Mapping):
            missing = {rename(name): value for name, value in missing.items()}
        return replace(
            self,
            label=some(self.label),
            weight=rename(self.weight),
            columns=self.columns if isinstance(self.columns, int | str) else some(self.columns),
            drop=[*map(rename, self.drop)],
            missing=missing,
        )

    def choose(self, names: Sequence[Any], place: str) -> Columns:
        """Choose the columns that are read, of those there are.

        Raises
        ------
        ValueError
            For a column that is absent, there twice or asked for twice, or when no feature is left.
        """
        counts = Counter(names)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"{place}: several columns are called {listed(twice)}: names must tell columns apart.")
        is_vector = self.label is None or isinstance(self.label, str | int | np.integer)
        labels: tuple = () if self.label is None else (self.label,) if is_vector else tuple(self.label)  # type: ignore[arg-type]
        weights = () if self.weight is None else (self.weight,)
        if isinstance(self.columns, int | str):
            raise ValueError(f"columns must be a list of columns of {place}, got {self.columns!r}.")
        for purpose, asked in (("for the label", labels), ("for the weights", weights), ("to drop", self.drop)):
            absent = [name for name in asked if name not in counts]
            if absent:
                raise ValueError(f"{place} has no column {listed(absent)} {purpose}; it has {listed(names)}.")
        apart = {*labels, *weights, *self.drop}
        features = tuple(name for name in names if name not in apart) if self.columns is None else tuple(self.columns)
        check_columns(place, names, features)
        both = [name for name in features if name in apart]
        if both:
            raise ValueError(f"{listed(both)} of {place} cannot be a feature and a label, a weight or dropped.")
        return Columns(features, labels, self.weight, is_vector)


def check_columns(place: str, names: Sequence[Any], features: Sequence[Any]) -> None:
    """Refuse a table that lacks columns."""
    if not len(features):
        raise ValueError(f"{place} has no feature columns; it has {listed(names)}")
    present = set(names)
    missing = [name for name in features if name not in present]
    if missing:
        raise ValueError(
            f"{place} lacks {len(missing)} of the {len(features)} features asked for: {listed(missing)}. It has "
            f"{listed(names)}"
        )


def usual_label(names: Collection[Any]) -> str | None:
    """Return the column that has one of the usual names of labels, if there is one."""
    return next((name for name in USUAL_LABELS if name in names), None)


def floating(dtypes: Collection[Any], chosen: np.dtype | None) -> np.dtype:
    """Return the type rows are read in: the chosen one, or float32 where every column is that already."""
    if chosen is not None:
        return np.dtype(chosen)
    return np.dtype(np.float32 if dtypes and all(dtype == np.float32 for dtype in dtypes) else np.float64)


# ---------------------------------------------------------------------- missing values


def row_number(index: int) -> str:
    """Return where the row of this index is, as people count."""
    return f"row {index + 1}"


def handle_missing(
    block: Block, missing: Any, names: Sequence[Any], place: str, where: Callable[[int], str] = row_number
) -> Block:
    """Refuse, drop or fill in the missing values (NaN) of a block of dense rows.

    Parameters
    ----------
    block : Block
    missing : "refuse", "drop", number or mapping
        Columns that a mapping does not name are refused.
    names : sequence
        Of the columns.
    place : str
        Where the rows come from.
    where : callable
        From the index of a row to words.
    """
    gaps = np.isnan(block.X)
    if not gaps.any():
        return block
    if missing == "drop":
        return block.take(np.flatnonzero(~gaps.any(axis=1)))
    if isinstance(missing, Mapping):
        fillable = np.array([name in missing for name in names])
        fills = np.array([missing.get(name, np.nan) for name in names])
    else:
        fillable = np.full(len(names), missing != "refuse")
        fills = np.full(len(names), np.nan if missing == "refuse" else missing, dtype=np.float64)
    refused = gaps[:, ~fillable]
    if refused.any():
        row = int(np.argmax(refused.any(axis=1)))
        name = [name for name, is_fillable in zip(names, fillable) if not is_fillable][int(np.argmax(refused[row]))]
        raise ValueError(
            f"column {name!r} of {place} has a missing value in {where(row)}: fill it in (missing=0.0, "
            f'missing="mean" or missing={{{name!r}: 0.0}}), leave such rows out (missing="drop"), or the column '
            f"(drop=[{name!r}])."
        )
    return replace(block, X=np.where(gaps, fills.astype(block.X.dtype), block.X))


def column_means(rows: Rows) -> np.ndarray:
    """Return the mean of what is present in every column, in one pass over rows with NaN where nothing is.

    Raises
    ------
    ValueError
        For a column that is missing in every row.
    """
    totals, counts = np.zeros(rows.n_columns), np.zeros(rows.n_columns)
    for block in rows.blocks():
        present = ~np.isnan(block.X)
        totals += np.where(present, block.X, 0).sum(axis=0, dtype=np.float64)
        counts += present.sum(axis=0)
    if not counts.all():
        empty = int(np.argmin(counts))
        name = repr(rows.names[empty]) if rows.names else str(empty)
        raise ValueError(f"column {name} is missing in every row and has no mean: leave it out (drop=[{name}]).")
    return totals / counts
