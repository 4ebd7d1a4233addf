"""What a user says about the rows of a file: features, labels and weights, missing values, number types."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.rows.block import Block
from eigenfeat.rows.rows import Rows

Given = str | os.PathLike | Sequence[str | os.PathLike]
"""A path, a URI, a glob, a folder, or a list of these."""

Name = str | int
"""A column: by its name, or in an array by its index."""

MISSING_WORDS = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "missing", "<na>", "nat")
"""Cells of text among numbers that say that there is none, in lower case."""

USUAL_LABELS = ("label", "target", "class", "y")
"""Columns that `read_table` and the command take for the label where none is named."""

LISTED = 8
"""Names that a message lists."""


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
    missing: Any = "refuse"
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

    def renamed(self, aliases: Mapping[Any, Any]) -> ReadOptions:
        """Return the same options, columns that go by an alias by their names."""

        def name(given: Any) -> Any:
            return [*map(name, given)] if isinstance(given, list | tuple) else aliases.get(given, given)

        label, weight, drop = name(self.label), name(self.weight), name([*self.drop])
        columns = self.columns if isinstance(self.columns, int) else name(self.columns)
        missing = self.missing
        if isinstance(missing, Mapping):
            missing = {name(key): fill for key, fill in missing.items()}
        return replace(self, label=label, weight=weight, columns=columns, drop=drop, missing=missing)

    def choose(self, names: Sequence[Any], place: str) -> Columns:
        """Choose the columns that are read, of those there are.

        Raises
        ------
        ValueError
            For a column that is absent or asked for twice, or when no feature is left.
        """
        is_vector = self.label is None or isinstance(self.label, str | int | np.integer)
        labels: tuple = () if self.label is None else (self.label,) if is_vector else tuple(self.label)  # type: ignore[arg-type]
        weights = () if self.weight is None else (self.weight,)
        if isinstance(self.columns, int | str):
            raise ValueError(f"columns must be a list of columns of {place}, got {self.columns!r}.")
        for purpose, asked in (("for the label", labels), ("for the weights", weights), ("to drop", self.drop)):
            check_columns(place, names, asked, purpose)
        apart = {*labels, *weights, *self.drop}
        features = tuple(name for name in names if name not in apart) if self.columns is None else tuple(self.columns)
        if not features:
            raise ValueError(f"{place} has no feature columns; it has {listed(names)}.")
        check_columns(place, names, features)
        both = [name for name in features if name in apart]
        if both:
            raise ValueError(f"{listed(both)} of {place} cannot be a feature and a label, a weight or dropped.")
        return Columns(features, labels, self.weight, is_vector)


def check_names(place: str, names: Collection[Any]) -> None:
    """Refuse columns that names do not tell apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{place}: several columns are called {listed(twice)}: names must tell columns apart.")


def check_columns(
    place: str, names: Collection[Any], asked: Collection[Any], purpose: str = "for the features"
) -> None:
    """Refuse a table that lacks columns."""
    present = set(names)
    absent = [name for name in asked if name not in present]
    if absent:
        raise ValueError(f"{place} has no column {listed(absent)} {purpose}; it has {listed(names)}.")


def usual_label(names: Collection[Any]) -> str | None:
    """Return the column that has one of the usual names of labels, if there is one."""
    return next((name for name in USUAL_LABELS if name in names), None)


def floating(dtypes: Collection[Any], chosen: np.dtype | None) -> np.dtype:
    """Return the type rows are read in: the chosen one, or float32 where every column is that already."""
    if chosen is not None:
        return np.dtype(chosen)
    return np.dtype(np.float32 if dtypes and all(dtype == np.float32 for dtype in dtypes) else np.float64)


def listed(names: Collection[Any]) -> str:
    """Return some names in words."""
    first = ", ".join(repr(name) for name in list(names)[:LISTED])
    return first if len(names) <= LISTED else f"{first} and {len(names) - LISTED} more"


# ---------------------------------------------------------------------- missing values

Where = Callable[[int], str]
"""From the index of a row to words that say where it is in its file."""


def row_number(index: int, start: int = 0) -> str:
    """Return where the row of this index is, as people count."""
    return f"row {start + index + 1}"


def handle_missing(block: Block, missing: Any, names: Sequence[Any], place: str, where: Where = row_number) -> Block:
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
    if isinstance(missing, str) and missing == "drop":
        return block.take(np.flatnonzero(~gaps.any(axis=1)))
    fills = [missing.get(name, "refuse") if isinstance(missing, Mapping) else missing for name in names]
    is_refused = np.array([isinstance(fill, str) for fill in fills])
    if gaps[:, is_refused].any():
        row, column = np.argwhere(gaps & is_refused)[0].tolist()
        name = names[column]
        raise ValueError(
            f"column {name!r} of {place} has a missing value in {where(row)}: fill it in (missing=0.0, "
            f'missing="mean" or missing={{{name!r}: 0.0}}), leave such rows out (missing="drop"), or the column '
            f"(drop=[{name!r}])."
        )
    values = np.array([0.0 if isinstance(fill, str) else fill for fill in fills], dtype=block.X.dtype)
    return replace(block, X=np.where(gaps, values, block.X))


def column_means(rows: Rows) -> np.ndarray:
    """Return the mean of what is present in every column, in one pass over rows with NaN where nothing is.

    Raises
    ------
    ValueError
        For a column that is missing in every row.
    """
    totals, counts = np.zeros(rows.n_columns), np.zeros(rows.n_columns)
    for block in rows.blocks():
        totals += np.nansum(block.X, axis=0, dtype=np.float64)
        counts += np.count_nonzero(~np.isnan(block.X), axis=0)
    if not counts.all():
        empty = int(np.argmin(counts))
        name = repr(rows.names[empty]) if rows.names else str(empty)
        raise ValueError(f"column {name} is missing in every row and has no mean: leave it out (drop=[{name}]).")
    return totals / counts
