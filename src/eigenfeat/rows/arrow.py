"""Arrow's columns as rows of numbers, labels and weights: what Parquet, Feather, CSV and dataframes share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from eigenfeat.rows.columns import Name, Reading, floating
from eigenfeat.rows.missing import without_gaps
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.streams import Batch, FileRows

# Rows that are written from columns at a time: the rows stay in cache until all of their columns are there.
TILE_ROWS = 1024


class ArrowRows(FileRows):
    """Base of the streams of Arrow tables: a subclass yields the tables of a pass, each with its place.

    Parameters
    ----------
    place : str
        What errors call the source.
    schema : pyarrow.Schema
        Of the tables, columns that are not read included.
    reading : Reading
        How the source is read.
    n_rows : int, optional
        Where it is known.
    """

    def __init__(self, place: str, schema: Any, reading: Reading, n_rows: int | None = None) -> None:
        self.reading, self.filter = reading, as_expression(reading.filter)
        self.columns = reading.chosen(schema.names, place)
        types = {name: numpy_type(_value_type(schema.field(name).type)) for name in self.columns.features}
        n_rows = None if reading.missing == "drop" else n_rows
        super().__init__(place, len(types), floating(types.values(), reading.dtype), reading.batch_size, n_rows)
        self._text = [name for name, kind in types.items() if kind is None]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.columns.features))

    def with_label(self, name: str) -> Rows:
        return self if self.reading.label == name else self.reopened(replace(self.reading, label=name))

    @abstractmethod
    def reopened(self, reading: Reading) -> Rows:
        """The same rows, read otherwise."""

    @abstractmethod
    def tables(self, size: int) -> Iterator[tuple[str, int, Any]]:
        """One pass: places, numbers of the first row there, and tables."""

    def batches(self, size: int) -> Iterator[Batch]:
        if self._text:  # only now: until the first pass, the column may still be named as the label
            self._refuse_text(self._text[0])
        for place, first_row, table in self.tables(size):
            if table.num_rows:
                place = place if self.filter is None else f"{place}, after the filter,"
                batch = self._decoded(table, place, first_row)
                yield without_gaps(batch, self.reading.missing, self.columns.features, place, first_row)

    def _decoded(self, table: Any, place: str, first_row: int) -> Batch:
        columns = self.columns
        features = [self._numbers(table.column(name), name, place) for name in columns.features]
        rows = np.empty((table.num_rows, len(features)), dtype=self.dtype)
        for start in range(0, len(rows), TILE_ROWS):
            tile = slice(start, start + TILE_ROWS)
            for j, values in enumerate(features):
                rows[tile, j] = values[tile]
        labels = [label_values(table.column(name), name, place, first_row) for name in columns.labels]
        weights = None
        if columns.weight is not None:
            weights = label_values(table.column(columns.weight), columns.weight, place, first_row).astype(np.float64)
        return Batch(rows, columns.together(labels), weights)

    def _numbers(self, column: Any, name: Name, place: str) -> np.ndarray:
        """A column in the type of the rows, NaN where nothing is."""
        with named_errors(f"column {name!r} of {place}"):
            return _plain(column).cast(pyarrow().from_numpy_dtype(self.dtype), safe=False).to_numpy()

    def _refuse_text(self, name: Name) -> None:
        cells = (
            (first_row + i + 1, cell)
            for _, first_row, table in self.tables(TILE_ROWS)
            for i, cell in enumerate(table.column(name).to_pylist())
        )
        row, cell = next((found for found in cells if not is_number(found[1])), (1, "text"))
        raise ValueError(
            f"column {name!r} of {self.place} holds {cell!r} in row {row}: features must be numbers. Leave it out "
            f"(drop=[{name!r}]), encode it, or, if it is the label, say so (label={name!r})."
        )


def label_values(column: Any, name: Name, place: str, first_row: int) -> np.ndarray:
    """Labels as numpy has them: numbers, or text of fixed width; dictionaries by their values."""
    column = _plain(column)
    if column.null_count:
        row = first_row + column.is_null().to_pylist().index(True) + 1
        raise ValueError(
            f"column {name!r} of {place} is empty in row {row}: every row needs its label and its weight. Mend the "
            "file, or leave such rows out with a filter."
        )
    values = column.to_numpy()
    return values.astype(np.str_) if values.dtype == object else values


def as_expression(given: Any) -> Any:
    """A filter as pyarrow has it: an expression, or ``[("column", ">", value), ...]``."""
    if given is None or not isinstance(given, list | tuple):
        return given
    return pyarrow("pyarrow.parquet").parquet.filters_to_expression(list(given))


def numpy_type(kind: Any) -> np.dtype | None:
    """The numpy type of an Arrow type's numbers; None for what holds none."""
    types = pyarrow().types
    if types.is_floating(kind) or types.is_integer(kind):
        return np.dtype(kind.to_pandas_dtype())
    if types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return np.dtype(np.float64)
    return None


def is_number(cell: Any) -> bool:
    """Whether a cell says a number, or nothing."""
    try:
        float("nan" if cell in ("", None) else cell)
    except (ValueError, TypeError):
        return False
    return True


@contextmanager
def named_errors(place: str) -> Iterator[None]:
    """What pyarrow refuses, said with the place it was found at and what to do."""
    try:
        yield
    except (ValueError, OSError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"{place} cannot be read: {error}. It may be truncated, damaged or of another format: write it again."
        ) from error


def pyarrow(*modules: str) -> Any:
    """pyarrow, with some of its modules imported.

    Raises
    ------
    ImportError
        Where it is not installed, with how to.
    """
    try:
        for module in modules:
            import_module(module)
        return import_module("pyarrow")
    except ImportError as missing:
        raise ImportError(
            "Parquet, Feather, CSV and dataframes are streamed by pyarrow: pip install pyarrow"
        ) from missing


def _plain(column: Any) -> Any:
    """A column whose dictionary, if it has one, is replaced by its values."""
    kind = column.type
    return column.cast(kind.value_type) if pyarrow().types.is_dictionary(kind) else column


def _value_type(kind: Any) -> Any:
    return kind.value_type if pyarrow().types.is_dictionary(kind) else kind
