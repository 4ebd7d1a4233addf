"""Tables as columns of Arrow, in parts: Parquet, Arrow and Feather files, and tables in memory.

Cells of text files stay text: what they mean depends on the whole column, and on what a model has learnt of it, so
whoever reads them decides (`eigenfeat.rows.readers.columns`, `eigenfeat.tables`). Other formats have types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet

from eigenfeat.rows.readers.labels import is_number
from eigenfeat.rows.readers.locations import Location, explained
from eigenfeat.rows.readers.options import Where, check_names, row_number

PART_ROWS = 65_536
"""Rows of a part where nobody says how many."""

BUFFER_BYTES = 1 << 16
"""Bytes of every column that are read at a time: a row group need not fit into memory.

pyarrow's dataset scanner decodes row groups whole: a process that reads 200 MB of Parquet with it peaks at 600 to 680
MB, and with this at 290 to 340, the rows as an array included (`benchmarks/speed/readers.py`).
"""


@dataclass(frozen=True)
class Part:
    """Some consecutive rows of a table.

    Attributes
    ----------
    table : pyarrow.Table
    place : str
        What messages call the file, or the row group in it.
    where : callable
        From the index of a row in this part to words.
    """

    table: pa.Table
    place: str
    where: Where


def not_counted() -> int | None:
    """Return the number of rows where only reading them tells it: None."""
    return None


@dataclass
class TableSource:
    """A table that can be read, a part after the other.

    Attributes
    ----------
    place : str
        What messages call it.
    schema : pyarrow.Schema
        Its columns.
    read_parts : callable
        What `parts` calls.
    count_rows : callable
        Returns the number of rows where it is known without reading them, else None.
    identity : str
        What tells the file from others, and from what it is at another time.
    is_text : bool
        Cells are text that may mean numbers; `parts` can be asked to read them as such.
    is_array : bool
        Columns have no names of their own but are numbered, x0 and so on.
    notes : list of str
        What was decided about it, in words.
    """

    place: str
    schema: pa.Schema
    read_parts: Callable[[list[str], Mapping[str, Any], Any, int], Iterator[Part]]
    count_rows: Callable[[], int | None] = not_counted
    identity: str = ""
    is_text: bool = False
    is_array: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_names(self.place, self.names)

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def parts(
        self,
        columns: Sequence[str],
        numbers: Mapping[str, Any] | None = None,
        filter: Any = None,
        size: int = PART_ROWS,
    ) -> Iterator[Part]:
        """Yield the rows of some columns, about ``size`` at a time.

        Parameters
        ----------
        columns : sequence of str
        numbers : mapping of str to pyarrow.DataType, optional
            Columns of text that are expected to hold numbers: read as such where all cells of a part are.
        filter : pyarrow.compute.Expression, optional
            Parts without rows that pass it may be left out.
        size : int
        """
        return self.read_parts(list(columns), numbers or {}, filter, size)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows, of all columns or of some."""
        tables = [part.table for part in self.parts(self.names if columns is None else columns)]
        if not any(table.num_rows for table in tables):
            raise ValueError(f"{self.place} has no rows")
        with explained(self.place):
            return pa.concat_tables(tables, promote_options="permissive")


def names_in_header(cells: Sequence[Any], place: str) -> list[str]:
    """Return the names of columns: without blanks around them, numbered where there is none.

    Raises
    ------
    ValueError
        For a header of numbers, which is none.
    """
    names = [str(cell or "").strip() or f"column {j + 1}" for j, cell in enumerate(cells)]
    if all(map(is_number, names)):
        raise ValueError(
            f"{place}: the first line holds numbers; it must name the columns. Write names into a line before it"
        )
    return names


def memory_source(place: str, table: pa.Table, identity: str = "", is_array: bool = False) -> TableSource:
    """Return a table in memory."""
    return TableSource(
        place, table.schema, partial(_memory_parts, place, table), partial(len, table), identity, is_array=is_array
    )


def _memory_parts(
    place: str, table: pa.Table, columns: list[str], numbers: Any, filter: Any, size: int
) -> Iterator[Part]:
    return cut(place, [table], columns, size)


def cut(place: str, tables: Iterable[pa.Table], columns: list[str], size: int) -> Iterator[Part]:
    """Yield some columns of consecutive tables, at most ``size`` rows at a time."""
    n_rows = 0
    for table in tables:
        chosen = table.select(columns)
        for start in range(0, len(chosen), size):
            yield Part(chosen.slice(start, size), place, partial(row_number, start=n_rows + start))
        n_rows += len(chosen)


def _as_table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


# ---------------------------------------------------------------------- Parquet


def parquet_source(location: Location) -> TableSource:
    """Open a Parquet file: a row group after the other; only the columns that are asked for are read."""
    with explained(location.place), location.file() as stream:
        file = pyarrow.parquet.ParquetFile(stream)
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    count = partial(int, n_rows)
    return TableSource(location.place, schema, partial(_parquet_parts, location), count, location.identity)


def _parquet_parts(location: Location, columns: list[str], numbers: Any, filter: Any, size: int) -> Iterator[Part]:
    buffer_size = BUFFER_BYTES if location.is_local else 0
    with explained(location.place), location.file() as stream:
        file = pyarrow.parquet.ParquetFile(stream, buffer_size=buffer_size, pre_buffer=not location.is_local)
        groups: Iterable[int] = range(file.num_row_groups)
        if filter is not None:  # without those whose statistics say that no row passes
            fragment = ds.ParquetFileFormat().make_fragment(location.path, location.filesystem)
            groups = [piece.row_groups[0].id for piece in fragment.split_by_row_group(filter, file.schema_arrow)]
        for group in groups:
            place = f"{location.place}, row group {group}"
            with explained(place):
                batches = file.iter_batches(size, row_groups=[group], columns=columns)
                yield from cut(place, map(_as_table, batches), columns, size)


# ---------------------------------------------------------------------- Arrow


def arrow_source(location: Location) -> TableSource:
    """Open an Arrow file or stream, which is also what Feather files are: a record batch after the other."""
    with explained(location.place), _arrow_reader(location) as reader:
        schema, is_file = reader.schema, hasattr(reader, "num_record_batches")
    count = partial(_arrow_rows, location) if is_file else not_counted
    return TableSource(location.place, schema, partial(_arrow_parts, location, schema), count, location.identity)


def _arrow_reader(location: Location, fields: list[int] | None = None) -> Any:
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    file = location.filesystem.open_input_file(location.path)
    try:
        return pa.ipc.open_file(file, options=options)
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file, options=options)


def _arrow_rows(location: Location) -> int:
    with explained(location.place):
        return ds.IpcFileFormat().make_fragment(location.path, location.filesystem).count_rows()


def _arrow_parts(
    location: Location, schema: pa.Schema, columns: list[str], numbers: Any, filter: Any, size: int
) -> Iterator[Part]:
    fields = sorted(map(schema.get_field_index, columns))
    with explained(location.place), _arrow_reader(location, fields) as reader:
        n_batches = getattr(reader, "num_record_batches", None)
        batches = reader if n_batches is None else map(reader.get_batch, range(n_batches))
        yield from cut(location.place, map(_as_table, batches), columns, size)
