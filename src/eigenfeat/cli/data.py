"""The rows of a command: a table and its labels, from a file to what estimators take."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.model_selection import train_test_split

from eigenfeat.rows.files import check_columns, label_column, labels_of, read_table
from eigenfeat.rows.table_files import STANDARD_INPUT, TableFile, open_table
from eigenfeat.tables import Task, find_task
from eigenfeat.tables.cells import has_text, notation_of, numbers, text


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with its labels.

    Attributes
    ----------
    X : pyarrow.Table, or CSR matrix of an svmlight file
    y : (n,) or (n, q) array, or None
    labels : tuple of str
        Columns of y.
    place : str
        Where it was read.
    notes : tuple of str
        What was decided on reading, in words.
    """

    X: Any
    y: np.ndarray | None
    labels: tuple[str, ...]
    place: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_table(self) -> bool:
        return isinstance(self.X, pa.Table)

    def take(self, places: np.ndarray) -> Rows:
        X = self.X.take(pa.array(places)) if self.is_table else self.X[places]
        return replace(self, X=X, y=None if self.y is None else self.y[places])


@dataclass(frozen=True)
class Reading:
    """What a command says about its file."""

    labels: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    kinds: dict[str, str] = field(default_factory=dict)

    def open(self, place: str) -> TableFile:
        return open_table(place, self.delimiter, self.encoding)


def read_rows(place: str, reading: Reading, features: Sequence[str] | None = None, task: str | None = None) -> Rows:
    """All rows of a file: the features (all columns but labels and those dropped, or those a model has), and labels."""
    file = reading.open(place)
    if file.kind == "svmlight":
        table = read_table(place)
        return Rows(table.X, table.y, ("label",), place)
    usual = label_column(file.place, [name for name in file.names if name not in reading.drop], None)
    found = reading.labels or tuple(filter(None, [usual]))
    for name in found:
        label_column(file.place, file.names, name)
    absent = [name for name in reading.drop if name not in file.names]
    if absent:
        raise ValueError(
            f"{file.place} has no column {', '.join(map(repr, absent))} to drop; it has {_some(file.names)}"
        )
    if features is None:
        features = [name for name in file.names if name not in found and name not in reading.drop]
    check_columns(file.place, file.names, features)
    apart = [name for name in found if name not in features]
    table = file.read([*features, *apart])
    X, notes = table.select(list(features)), list(file.notes)
    if not found:
        return Rows(X, None, (), place, tuple(notes))
    there = _labelled(table, found)
    if not there.all():
        notes.append(f"{int((~there).sum()):,} of {len(there):,} rows have no label: left out")
        X, table = X.filter(pa.array(there)), table.filter(pa.array(there))
    if not len(X):
        raise ValueError(f"{file.place}: no row has a label in {', '.join(found)}")
    y = target(table, found, file.place, task)
    return Rows(X, y, found, place, tuple(notes))


def target(table: pa.Table, names: Sequence[str], place: str, task: str | None) -> np.ndarray:
    """The column of labels as numbers or text, several side by side as numbers."""
    columns = []
    for name in names:
        column = table.column(name)
        if task == "regression" or len(names) > 1:
            column = pa.chunked_array([pa.array(_as_numbers(column, name, place))])
        elif has_text(column):
            notation, share = notation_of(text(column))
            if share == 1 and notation != "plain":  # 1,200 and 12 % are numbers, too
                column = pa.chunked_array([pa.array(numbers(column, notation))])
        columns.append(labels_of(column, name, place))
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _as_numbers(column: Any, name: str, place: str) -> np.ndarray:
    notation = notation_of(text(column))[0] if has_text(column) else "plain"
    values = numbers(column, notation)
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise ValueError(
            f"the label column {name!r} of {place} holds {column[row].as_py()!r} in row {row + 1}: to predict numbers, "
            "all labels have to be some. Mend the cell, or say --task classification"
        )
    return values


def _labelled(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Rows that have all their labels."""
    there = np.ones(table.num_rows, dtype=bool)
    for name in names:
        column = table.column(name)
        known = pc.is_valid(text(column)) if has_text(column) else pc.is_valid(column)
        there &= np.asarray(known.to_numpy(), dtype=bool)
        if pa.types.is_floating(column.type):
            there &= ~np.isnan(column.to_numpy())
    return there


def task_of(rows: Rows, asked: str | None) -> Task:
    """The task that was asked for, or the one y shows."""
    assert rows.y is not None
    if asked is not None:
        return Task(asked)
    return find_task(rows.y)


def split(rows: Rows, share: float, seed: int, task: Task) -> tuple[Rows, Rows]:
    """Rows to fit on, and a share of them to evaluate on: of every class where there are classes."""
    if not 0 < share < 1:
        raise ValueError(f"--holdout {share} must be a share between 0 and 1, as 0.2; a file; or cv")
    groups = None
    if task.name == "classification":
        assert rows.y is not None
        values, index, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
        if counts.min() < 2:
            alone = [str(value) for value in values[counts < 2][:5]]
            raise ValueError(
                f"{len(counts[counts < 2])} class(es) of {rows.place} have one row only ({', '.join(alone)}): nothing "
                "can be learnt and held out of one row. Drop such rows, pool rare classes, or say --task regression"
            )
        groups = index
    n_test = round(share * len(rows))
    if groups is not None and len(np.unique(groups)) > min(n_test, len(rows) - n_test):
        groups = None
    if not 0 < n_test < len(rows):
        raise ValueError(f"{rows.place} has {len(rows)} rows: too few to hold {share:.0%} out. Say --holdout cv or 0")
    kept, held = train_test_split(np.arange(len(rows)), test_size=n_test, random_state=seed, stratify=groups)
    return rows.take(np.sort(kept)), rows.take(np.sort(held))


def file_hash(place: str) -> str:
    """SHA-256 of a file; empty for what can be read once only."""
    if place == STANDARD_INPUT or not Path(place).is_file():
        return ""
    with Path(place).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
