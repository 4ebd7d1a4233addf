"""Columns of Arrow as rows of numbers, labels and weights: what all tables share, files and dataframes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from eigenfeat.rows.block import Block, concatenate_and_free
from eigenfeat.rows.readers.labels import (
    LabelSpelling,
    Spelling,
    is_number,
    is_text,
    labels_of,
    refuse_missing_labels,
    spelling_of,
    value_type,
)
from eigenfeat.rows.readers.locations import explained
from eigenfeat.rows.readers.options import MISSING_WORDS, ReadOptions, Where, floating, handle_missing, row_number
from eigenfeat.rows.readers.stream import FileRows
from eigenfeat.rows.readers.tables import PART_ROWS, Part, TableSource
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
        if source.is_array:
            options = options.renamed(dict(enumerate(source.names)))
        self.source, self.options, self.filter = source, options, as_expression(options.filter)
        self.columns = options.choose(source.names, source.place)
        kinds = [] if source.is_text else [numpy_type(source.schema.field(name).type) for name in self.columns.features]
        n_rows = None if self.filter is not None or options.missing == "drop" else source.count_rows()
        if n_rows == 0:
            raise ValueError(f"{source.place} has no rows.")
        dtype = floating(kinds, options.dtype)
        super().__init__(source.place, len(self.columns.features), dtype, options.batch_size, n_rows, source.identity)

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.source.is_array else tuple(map(str, self.columns.features))

    def with_label(self, name: str) -> Rows:
        return self if self.options.label == name else TableRows(self.source, replace(self.options, label=name))

    def batches(self, size: int) -> Iterator[Block]:
        for part in self._parts(size, self._spellings):
            if len(part.table):
                columns = [labels_of(part.table[name], name, part.place, part.where) for name in self.columns.labels]
                block = Block(self._features(part), self.columns.joined_labels(columns), self._weights(part))
                yield handle_missing(block, self.options.missing, self.columns.features, part.place, part.where)

    def collect(self) -> Block:
        """Return all rows at once, missing features as NaN: one pass, also over what can be read only once."""
        blocks, labels = [], []
        for part in self._parts(PART_ROWS, {}):
            blocks.append(Block(self._features(part)))
            labels.append(part.table.select(list(self.columns.labels)))
            for name in self.columns.labels:
                refuse_missing_labels(part.table[name], name, part.place, part.where)
        if not any(block.n_rows for block in blocks):
            raise ValueError(f"{self.place} has no rows")
        together = pa.concat_tables(labels, promote_options="permissive")
        columns = [collected_labels(together[name], name, self.source) for name in self.columns.labels]
        return replace(concatenate_and_free(blocks), y=self.columns.joined_labels(columns))

    # ------------------------------------------------------------------ parts of a pass

    def _parts(self, size: int, spellings: Mapping[Any, Spelling]) -> Iterator[Part]:
        """Yield parts, labels converted, without the rows that do not pass the filter."""
        numbers = dict.fromkeys([*self.columns.features, *self._filtered_numbers], pa.from_numpy_dtype(self.dtype))
        if self.columns.weight is not None:
            numbers[self.columns.weight] = pa.float64()
        columns = [*dict.fromkeys([*self.columns.all, *filter_columns(self.filter, self.source.names)])]
        for part in self.source.parts(columns, numbers, self.filter, size):
            table = part.table
            for name, spelling in spellings.items():
                table = table.set_column(columns.index(name), name, spelling.convert(table[name]))
            if self.filter is None:
                yield replace(part, table=table)
            else:
                with explained(part.place):
                    table = table.filter(self.filter)
                yield Part(table, f"{part.place}, after the filter,", row_number)

    @cached_property
    def _filtered_numbers(self) -> list[str]:
        """Columns of text that only the filter is about and that begin with numbers."""
        if not self.source.is_text:
            return []
        numbers = []
        for name in filter_columns(self.filter, self.source.names):
            first = next(self.source.parts([name], {name: pa.float64()}), None)
            if name not in self.columns.all and first is not None and not is_text(first.table[name].type):
                numbers.append(name)
        return numbers

    @cached_property
    def _spellings(self) -> dict[Any, Spelling]:
        """How labels of text files are written, found in a pass over them, which ends where all are text."""
        schema = self.source.schema
        names = [name for name in self.columns.labels if self.source.is_text and is_text(schema.field(name).type)]
        found = {name: LabelSpelling() for name in names}
        n_rows = 0
        for part in self.source.parts(names) if names else ():
            n_rows += len(part.table)
            for name, spelling in found.items():
                spelling.update(part.table[name])
            if all(spelling.is_text for spelling in found.values()):
                break
        else:
            if self.filter is None and self.options.missing != "drop" and n_rows:
                self._n_rows = n_rows
        return {name: spelling.finish(name, self.place) for name, spelling in found.items()}

    # ------------------------------------------------------------------ decoding

    def _features(self, part: Part) -> np.ndarray:
        features = [
            as_numbers(part.table[name], name, self.dtype, part.place, part.where) for name in self.columns.features
        ]
        rows = np.empty((len(part.table), len(features)), dtype=self.dtype)
        for start in range(0, len(rows), TILE_ROWS):
            tile = slice(start, start + TILE_ROWS)
            for j, values in enumerate(features):
                rows[tile, j] = values[tile]
        return rows

    def _weights(self, part: Part) -> np.ndarray | None:
        name = self.columns.weight
        if name is None:
            return None
        weights = as_numbers(part.table[name], name, np.dtype(np.float64), part.place, part.where)
        if np.isnan(weights).any():
            row = part.where(int(np.argmax(np.isnan(weights))))
            raise ValueError(
                f"the weight column {name!r} of {part.place} is empty in {row}: every row needs its weight"
            )
        return weights


def collected_labels(column: Any, name: Any, source: TableSource) -> np.ndarray:
    """Return all labels of a column at once, cells of text files as what all of them together mean."""
    if source.is_text and is_text(column.type):
        column = spelling_of(column, name, source.place).convert(column)
    return labels_of(column, name, source.place)


# ---------------------------------------------------------------------- columns


def as_numbers(column: Any, name: Any, dtype: np.dtype, place: str, where: Where = row_number) -> np.ndarray:
    """Return cells as floats, NaN where there is none.

    Raises
    ------
    ValueError
        For cells that are no numbers, by column and row, with what to do.
    """
    kind = value_type(column.type)
    column = pc.cast(column, kind)
    wanted = pa.from_numpy_dtype(dtype)
    if numpy_type(kind) is not None:
        return pc.cast(column, wanted, safe=False).to_numpy()
    found = f"cells of the type {kind}"
    if is_text(kind):
        cells = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
        missing = pc.is_in(pc.utf8_lower(cells), pa.array(MISSING_WORDS))
        cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
        cells = pc.replace_substring_regex(cells, r"^\+", "")
        try:
            return pc.cast(cells, wanted).to_numpy()
        except pa.ArrowInvalid:
            wrong = [i for i, cell in enumerate(cells.to_pylist()) if cell is not None and not is_number(cell)]
            more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            found = f"{column[wrong[0]].as_py()!r} in {where(wrong[0])}{more}"
    raise ValueError(
        f"{place}: column {name!r} holds {found}: features must be numbers. Use eigenfeat.TableEncoder, which takes "
        f"text and dates, leave the column out (drop=[{name!r}]), mend the cell, or, if it is the label, say so "
        f"(label={name!r})"
    )


def numpy_type(kind: Any) -> np.dtype | None:
    """Return the numpy type of an Arrow type's numbers; None for what holds none."""
    kind = value_type(kind)
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


def filter_columns(filter: Any, names: list[str]) -> list[str]:
    """Return the columns a filter is about: all whose names it shows."""
    shown = "" if filter is None else str(filter)
    return [name for name in names if name in shown]
