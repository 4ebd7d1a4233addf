"""The rows of a command: a table and its labels, from a file to what estimators take."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.model_selection import train_test_split

from eigenfeat.rows import read_table
from eigenfeat.rows.readers.columns import collected_labels
from eigenfeat.rows.readers.labels import missing_labels
from eigenfeat.rows.readers.options import ReadOptions, check_columns, usual_label
from eigenfeat.rows.readers.sources import STANDARD_INPUT, is_svmlight, open_source
from eigenfeat.rows.readers.tables import TableSource
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

    def open(self, place: str) -> TableSource:
        return open_source(place, self.delimiter, self.encoding)


def read_rows(place: str, reading: Reading, features: Sequence[str] | None = None, task: str | None = None) -> Rows:
    """All rows of a file: the features (all columns but labels and those dropped, or those a model has), and labels."""
    if is_svmlight(place):
        table = read_table(place)
        return Rows(table.X, table.y, ("label",), place)
    file = reading.open(place)
    usual = usual_label([name for name in file.names if name not in reading.drop])
    found = reading.labels or tuple(filter(None, [usual]))
    if features is None:
        options = ReadOptions(found, drop=reading.drop)
        features = options.choose(file.names, file.place).features
    else:
        ReadOptions(found).choose([*file.names], file.place)
        check_columns(file.place, file.names, features)
    apart = [name for name in found if name not in features]
    table = file.read([*features, *apart])
    X, notes = table.select(list(features)), list(file.notes)
    if not found:
        return Rows(X, None, (), place, tuple(notes))
    there = _labelled(table, found, task)
    if not there.all():
        notes.append(f"{int((~there).sum()):,} of {len(there):,} rows have no label: left out")
        X, table = X.filter(pa.array(there)), table.filter(pa.array(there))
    if not len(X):
        raise ValueError(f"{file.place}: no row has a label in {', '.join(found)}")
    y = target(table, found, file, task)
    return Rows(X, y, found, place, tuple(notes))


def target(table: pa.Table, names: Sequence[str], file: TableSource, task: str | None) -> np.ndarray:
    """The column of labels as numbers or text, several side by side as numbers."""
    columns = []
    for name in names:
        column = table.column(name)
        if _is_numeric(names, task):
            column = pa.chunked_array([pa.array(_as_numbers(column, name, file.place))])
        columns.append(collected_labels(column, name, file))
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _is_numeric(names: Sequence[str], task: str | None) -> bool:
    """Whether labels are numbers whatever they look like."""
    return task == "regression" or len(names) > 1


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


def _labelled(table: pa.Table, names: Sequence[str], task: str | None) -> np.ndarray:
    """Rows that have all their labels."""
    there = np.ones(table.num_rows, dtype=bool)
    for name in names:
        column = table.column(name)
        if _is_numeric(names, task) and has_text(column):
            column = text(column)
        there &= ~missing_labels(column)
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
