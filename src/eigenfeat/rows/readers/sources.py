"""The table at a path, whatever its format, of several files, or on the standard input, known by its first bytes."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet

from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.readers.arrays import MemoryMapRows, load_npy, matrix_columns, npz_columns
from eigenfeat.rows.readers.batches import batch_rows
from eigenfeat.rows.readers.columns import TableRows, filter_columns
from eigenfeat.rows.readers.excel import read_spreadsheet
from eigenfeat.rows.readers.labels import spelling_of
from eigenfeat.rows.readers.locations import COMPRESSIONS, FORMATS, Location, explained, locate
from eigenfeat.rows.readers.options import Given, ReadOptions, listed, usual_label
from eigenfeat.rows.readers.svmlight import SvmlightRows
from eigenfeat.rows.readers.tables import Part, TableSource, arrow_source, memory_source, parquet_source
from eigenfeat.rows.readers.text import HEAD_BYTES, text_source
from eigenfeat.rows.rows import Rows

STANDARD_INPUT = "-"


def open_rows(given: Any, options: ReadOptions) -> Rows:
    """Open rows that can be read again at every pass: what `eigenfeat.rows.open` returns."""
    if isinstance(given, np.ndarray):
        return MemoryMapRows(given, options)
    if callable(given):
        return batch_rows(given, options)
    if not isinstance(given, str | os.PathLike | list | tuple):
        raise ValueError(
            f"Rows are opened from a path, or a function that makes batches anew for every pass; got "
            f"{type(given).__name__}. Wrap what makes the batches: open(lambda: ...)."
        )
    locations = [] if given == STANDARD_INPUT else locate(given)
    if not locations or any(location.is_pipe for location in locations):
        place = "the standard input" if given == STANDARD_INPUT else given
        raise ValueError(f"{place} cannot be read again at every pass: write what it holds to a file.")
    if all(location.format == "svmlight" for location in locations):
        return SvmlightRows(locations, options)
    if len(locations) == 1 and locations[0].format == "npy":
        return MemoryMapRows(load_npy(locations[0]), options, locations[0].place, locations[0].identity)
    return TableRows(open_source(given, options.delimiter, options.encoding), options)


def read_rows(given: Given, options: ReadOptions) -> tuple[Block, tuple[str, ...] | None]:
    """Read all rows into memory, and return the names of their columns, if any."""
    if is_svmlight(given):
        return concatenate(list(SvmlightRows(locate(given), options).blocks())), None
    source = open_source(given, options.delimiter, options.encoding)
    if options.label is None:
        columns = () if isinstance(options.columns, int | None) else options.columns
        others = [name for name in source.names if name not in {*options.drop, *columns}]
        options = replace(options, label=usual_label(others))
    rows = TableRows(source, options)
    return rows.collect(), rows.names


def open_source(given: Given, delimiter: str | None = None, encoding: str | None = None) -> TableSource:
    """Open the table of a path, or of the standard input where the path is ``-``.

    Parameters
    ----------
    given : path, or list of paths
        As in `eigenfeat.rows.open`.
    delimiter, encoding : str, optional
        Of text files; found by default.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For a format that is not known, and a file or header that is wrong.
    """
    if given == STANDARD_INPUT:
        return _of_stream(sys.stdin.buffer, "the standard input", delimiter, encoding)
    locations = locate(given)
    first = locations[0]
    if len(locations) == 1 and first.is_pipe:
        return _of_stream(open(first.path, "rb"), first.place, delimiter, encoding)
    open_one = partial(_of_file, delimiter=delimiter, encoding=encoding)
    if len(locations) == 1 and not first.partitions:
        return open_one(first)
    place = ", ".join(map(str, given)) if isinstance(given, list | tuple) else os.fspath(given)  # type: ignore[arg-type]
    return JoinedSource(place, locations, open_one)


def is_svmlight(given: Given) -> bool:
    """Return whether rows are sparse and have no named columns, so that they are no table."""
    return given != STANDARD_INPUT and all(location.format == "svmlight" for location in locate(given))


def _of_file(location: Location, delimiter: str | None, encoding: str | None) -> TableSource:
    place, kind, identity = location.place, location.format, location.identity
    if kind == "parquet":
        return parquet_source(location)
    if kind == "arrow":
        return arrow_source(location)
    if kind == "npy":
        return memory_source(place, pa.table(matrix_columns(load_npy(location))), identity, is_array=True)
    if kind == "npz":
        return memory_source(place, pa.table(npz_columns(place, location.read())), identity, is_array=True)
    if kind == "excel":
        return memory_source(place, read_spreadsheet(place, location.read()), identity)
    if kind == "text" or (kind is None and delimiter is not None):
        with explained(place), location.stream() as stream:
            head = stream.read(HEAD_BYTES)
        return text_source(place, head, location.stream, delimiter, encoding, identity)
    if kind == "svmlight":
        raise ValueError(f"{place} is svmlight, whose columns have no names: open it on its own")
    raise ValueError(
        f"{place} has the suffix {os.path.splitext(place)[1]!r}; tables are read from {', '.join(FORMATS)}, text also "
        f"compressed ({', '.join(COMPRESSIONS)}), and with delimiter= from any text file whose first line names its "
        "columns"
    )


def _of_stream(given: Any, place: str, delimiter: str | None, encoding: str | None) -> TableSource:
    """Open a table of bytes that can be read once."""
    stream: Any = io.BufferedReader(given, HEAD_BYTES)
    with explained(place):
        if stream.peek().startswith(b"\x1f\x8b"):
            stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), HEAD_BYTES)
        head = stream.peek()
        if not head.startswith((b"PAR1", b"ARROW1", b"PK\x03\x04")):
            return text_source(place, head, partial(nullcontext, stream), delimiter, encoding)
        content = stream.read()
        if head.startswith(b"PAR1"):
            return memory_source(place, pyarrow.parquet.read_table(io.BytesIO(content)))
        if head.startswith(b"ARROW1"):
            return memory_source(place, pa.ipc.open_file(content).read_all())
        if b"[Content_Types].xml" in content:
            return memory_source(place, read_spreadsheet(place, content))
        return memory_source(place, pa.table(npz_columns(place, content)), is_array=True)


# ---------------------------------------------------------------------- several files


class JoinedSource(TableSource):
    """Several files, the rows of one after those of the other; names of folders, ``name=value``, are columns.

    The first file says which columns there are. One that another file lacks is missing there.
    """

    def __init__(self, place: str, locations: Sequence[Location], open_one: Callable[[Location], TableSource]) -> None:
        self.locations, self._open_one = locations, open_one
        self._first = open_one(locations[0])
        self._values = _partition_values(locations)
        stored = [field for field in self._first.schema if field.name not in self._values]
        folders = [pa.field(name, values[0].type) for name, values in self._values.items()]
        identity = "; ".join(location.identity for location in locations)
        super().__init__(
            place,
            pa.schema([*stored, *folders]),
            self._read_parts,
            self._count_rows,
            identity,
            self._first.is_text,
            notes=self._first.notes,
        )

    def _source_at(self, index: int) -> TableSource:
        return self._open_one(self.locations[index]) if index else self._first

    def _count_rows(self) -> int | None:
        if self._first.count_rows() is None:
            return None
        return sum(self._source_at(index).count_rows() or 0 for index in range(len(self.locations)))

    def _read_parts(self, columns: list[str], numbers: Mapping[str, Any], filter: Any, size: int) -> Iterator[Part]:
        for index in self._passing(filter):
            source = self._source_at(index)
            stored = {*source.names} - {*self._values}
            is_complete = stored.issuperset(filter_columns(filter, self.names))
            present = [name for name in columns if name in stored]
            for part in source.parts(present, numbers, filter if is_complete else None, size):
                yield replace(part, table=self._completed(part.table.select(present), columns, index))

    def _completed(self, table: pa.Table, columns: list[str], index: int) -> pa.Table:
        """Return rows with the columns that are names of folders, or missing in this file."""
        for name in columns:
            if name not in table.column_names:
                none = pa.scalar(None, self.schema.field(name).type)
                value = self._values[name][index] if name in self._values else none
                table = table.append_column(name, pa.repeat(value, len(table)))
        return table.select(columns)

    def _passing(self, filter: Any) -> Collection[int]:
        """Return the files but for those whose folders say that no row passes the filter."""
        if filter is None or not self._values:
            return range(len(self.locations))
        kind, filesystem = ds.ParquetFileFormat(), self.locations[0].filesystem  # of any format: nothing is opened
        fragments = []
        for index in range(len(self.locations)):
            said = [ds.field(name) == values[index] for name, values in self._values.items() if values[index].is_valid]
            fragments.append(kind.make_fragment(str(index), filesystem, reduce(and_, said, ds.scalar(True))))
        is_folder = self._values.__contains__
        # What the cells of text mean is not known yet: nothing but folders is compared.
        schema = pa.schema([field if is_folder(field.name) else field.with_type(pa.null()) for field in self.schema])
        dataset = ds.FileSystemDataset(fragments, schema, kind, filesystem)
        return sorted(int(fragment.path) for fragment in dataset.get_fragments(filter))


def _partition_values(locations: Sequence[Location]) -> dict[str, list[Any]]:
    """Return the columns that the folders say of every file, spelt as labels are, as scalars."""
    first = locations[0]
    for location in locations:
        if [*location.partitions] != [*first.partitions]:
            raise ValueError(
                f"the folders of {location.place} say the columns {listed(location.partitions) or 'none'}, those of "
                f"{first.place} {listed(first.partitions) or 'none'}: partition all files alike"
            )
    found = {}
    for name in first.partitions:
        cells = pa.array([location.partitions[name] for location in locations], pa.string())
        found[name] = list(spelling_of(cells, name, first.place).convert(cells))
    return found
