"""Columns of Arrow as rows of numbers, labels and weights: what all tables share, files and dataframes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from eigenfeat.rows.block import Block, concatenate_and_free
from eigenfeat.rows.readers.errors import BadFile, explained
from eigenfeat.rows.readers.labels import LabelSpelling, is_text, labels_of, spelling_of
from eigenfeat.rows.readers.options import MISSING_WORDS, ReadOptions, floating, handle_missing, row_number
from eigenfeat.rows.readers.stream import FileRows
from eigenfeat.rows.readers.tables import PART_ROWS, Part, TableSource, filter_columns
from eigenfeat.rows.rows import Rows

TILE_ROWS = 1024
"""Rows that are written from columns at a time: they stay in cache until all of their columns are there."""


class TableRows(FileRows):
    """Rows of numbers of a table, with its labels and weights.

    Parameters
    ----------
    source : TableSource
    options : ReadOptions
    """

    def __init__(self, source: TableSource, options: ReadOptions) -> None:
        self.source, self.options, self.filter = source, options, as_expression(options.filter)
        self.columns = options.choose(source.names, source.place)
        kinds = [] if source.is_text else [numpy_type(source.schema.field(name).type) for name in self.columns.features]
        n_rows = None if self.filter is not None or options.missing == "drop" else source.count_rows()
        if n_rows == 0:
            raise ValueError(f"{source.place} has no rows.")
        dtype = floating(kinds, options.dtype)
        super().__init__(source.place, len(self.columns.features), dtype, options.batch_size, n_rows)

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.source.is_array else tuple(map(str, self.columns.features))

    @property
    def identity(self) -> str:
        return f"{super().identity}, {self.source.identity}"

    def with_label(self, name: str) -> Rows:
        return self if self.options.label == name else TableRows(self.source, replace(self.options, label=name))

    def batches(self, size: int) -> Iterator[Block]:
        columns = self.columns
        for part, first_row, table in self._parts(size, self._spellings):
            if not table.num_rows:
                continue
            place = part.place if self.filter is None else f"{part.place}, after the filter,"
            where = _shifted(part.where if self.filter is None else row_number, first_row)
            labels = [labels_of(table.column(name), name, place, where) for name in columns.labels]
            block = Block(
                self._features(table, place, where), columns.joined_labels(labels), self._weights(table, place, where)
            )
            yield handle_missing(block, self.options.missing, columns.features, place, where)

    def collect(self) -> Block:
        """Return all rows at once, missing features as NaN: one pass, also over what can be read only once."""
        blocks: list[Block] = []
        parts: list[tuple[str, Callable[[int], str]]] = []
        labels, ends = [], [0]
        for part, first_row, table in self._parts(PART_ROWS, {}):
            where = _shifted(part.where, first_row)
            parts.append((part.place, where))
            blocks.append(
                Block(self._features(table, part.place, where), None, self._weights(table, part.place, where))
            )
            labels.append(table.select(list(self.columns.labels)))
            ends.append(ends[-1] + len(table))
        if not ends[-1]:
            raise BadFile(self.place, ["it has no rows"])

        def place_of(index: int) -> str:
            number = bisect_right(ends, index) - 1
            place, where = parts[number]
            return where(index - ends[number]) + ("" if place == self.place else f" of {place}")

        together = pa.concat_tables(labels, promote_options="permissive")
        columns = [collected_labels(together.column(name), name, self.source, place_of) for name in self.columns.labels]
        return replace(concatenate_and_free(blocks), y=self.columns.joined_labels(columns))

    # ------------------------------------------------------------------ parts of a pass

    def _parts(
        self, size: int, spellings: Mapping[Any, tuple[LabelSpelling, str]]
    ) -> Iterator[tuple[Part, int, pa.Table]]:
        """Yield parts that pass the filter, labels converted, with the number of rows of their place before them."""
        wanted = [*dict.fromkeys([*self.columns.all, *filter_columns(self.filter, self.source.names)])]
        numbers = dict.fromkeys(self._numeric_columns(wanted), pa.from_numpy_dtype(self.dtype))
        if self.columns.weight is not None:
            numbers[self.columns.weight] = pa.float64()
        place, first_row = None, 0
        for part, table in self.source.tables(wanted, numbers, self.filter, size):
            first_row = first_row if part.place == place else 0
            place, n_rows = part.place, len(table)
            for name, (found, spelling) in spellings.items():
                column = found.convert(table.column(name), spelling)
                table = table.set_column(table.column_names.index(name), name, column)
            if self.filter is not None:
                with explained(part.place):
                    table = table.filter(self.filter)
            yield part, first_row, table
            first_row += n_rows

    def _numeric_columns(self, wanted: Iterable[Any]) -> list[Any]:
        """Return the columns of text that hold numbers: features, and what the filter compares with numbers."""
        others = [name for name in wanted if name not in self.columns.all]
        if others and self.source.is_text:
            _, head = next(iter(self.source.tables(others)), (None, None))
            others = [name for name in others if head is not None and _holds_numbers(head.column(name))]
        return [*self.columns.features, *others]

    @cached_property
    def _spellings(self) -> dict[Any, tuple[LabelSpelling, str]]:
        """How labels of text files are written, found in a pass over them, which ends where all are text."""
        schema = self.source.schema
        names = [name for name in self.columns.labels if self.source.is_text and is_text(schema.field(name).type)]
        found = {name: LabelSpelling(name, self.place) for name in names}
        n_rows = 0
        for _, table in self.source.tables(names) if names else ():
            n_rows += len(table)
            for name, spelling in found.items():
                spelling.update(table.column(name))
            if all(spelling.is_text for spelling in found.values()):
                break
        else:
            if names and self.filter is None and self.options.missing != "drop" and n_rows:
                self._n_rows = n_rows
        return {name: (spelling, spelling.finish()) for name, spelling in found.items()}

    # ------------------------------------------------------------------ decoding

    def _features(self, table: pa.Table, place: str, where: Callable[[int], str]) -> np.ndarray:
        problems, features = [], []
        for name in self.columns.features:
            try:
                features.append(as_numbers(table.column(name), name, self.dtype, where))
            except ValueError as problem:
                problems.append(str(problem))
        if problems:
            raise BadFile(place, problems)
        rows = np.empty((table.num_rows, len(features)), dtype=self.dtype)
        for start in range(0, len(rows), TILE_ROWS):
            tile = slice(start, start + TILE_ROWS)
            for j, values in enumerate(features):
                rows[tile, j] = values[tile]
        return rows

    def _weights(self, table: pa.Table, place: str, where: Callable[[int], str]) -> np.ndarray | None:
        name = self.columns.weight
        if name is None:
            return None
        weights = as_numbers(table.column(name), name, np.dtype(np.float64), where)
        if np.isnan(weights).any():
            row = where(int(np.argmax(np.isnan(weights))))
            raise ValueError(f"the weight column {name!r} of {place} is empty in {row}: every row needs its weight")
        return weights


def collected_labels(
    column: Any, name: Any, source: TableSource, where: Callable[[int], str] = row_number
) -> np.ndarray:
    """Return all labels of a column at once, cells of text files as what all of them together mean."""
    if source.is_text and is_text(column.type):
        found, spelling = spelling_of([column], name, source.place)
        column = found.convert(column, spelling)
    return labels_of(column, name, source.place, where)


def _shifted(where: Callable[[int], str], n_rows: int) -> Callable[[int], str]:
    return lambda index: where(n_rows + index)


# ---------------------------------------------------------------------- columns


def as_numbers(column: Any, name: Any, dtype: np.dtype, where: Callable[[int], str] = row_number) -> np.ndarray:
    """Return cells as floats, NaN where there is none.

    Raises
    ------
    ValueError
        For cells that are no numbers, by column and row, with what to do.
    """
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    column = pc.cast(column, kind) if column.type != kind else column
    wanted = pa.from_numpy_dtype(dtype)
    if numpy_type(kind) is not None:
        return pc.cast(column, wanted, safe=False).to_numpy()
    if is_text(kind):
        cells = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
        missing = pc.is_in(pc.utf8_lower(cells), pa.array(MISSING_WORDS))
        cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
        cells = pc.replace_substring_regex(cells, r"^\+", "")
        try:
            return pc.cast(cells, wanted).to_numpy()
        except pa.ArrowInvalid:
            found = _words_of(column, cells, where)
    else:
        found = f"cells of the type {kind}"
    raise ValueError(
        f"column {name!r} holds {found}: features must be numbers. Use eigenfeat.TableEncoder, which takes text and "
        f"dates, leave the column out (drop=[{name!r}]), mend the cell, or, if it is the label, say so (label={name!r})"
    )


def _words_of(column: Any, cells: Any, where: Callable[[int], str]) -> str:
    """Return the first cell that is no number, in words, and how many there are."""
    wrong = [i for i, cell in enumerate(cells.to_pylist()) if cell is not None and not _is_number(cell)]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return f"{column[wrong[0]].as_py()!r} in {where(wrong[0])}{more}"


def _is_number(cell: str) -> bool:
    try:
        pa.scalar(cell).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _holds_numbers(column: Any) -> bool:
    try:
        as_numbers(column, "", np.dtype(np.float64))
    except ValueError:
        return False
    return True


def numpy_type(kind: Any) -> np.dtype | None:
    """Return the numpy type of an Arrow type's numbers; None for what holds none."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return np.dtype(kind.to_pandas_dtype())
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return np.dtype(np.float64)
    return None


def as_expression(given: Any) -> Any:
    """Return a filter as pyarrow has it: an expression, or ``[("column", ">", value), ...]``."""
    if given is None or not isinstance(given, list | tuple):
        return given
    return pyarrow.parquet.filters_to_expression(list(given))
