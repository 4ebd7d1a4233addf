"""Tables as columns of Arrow, in parts: Parquet, Arrow and Feather files, tables in memory, and several files as one.

Cells of text files stay text: what they mean depends on the whole column, and on what a model has learnt of it, so
whoever reads them decides (`eigenfeat.rows.readers.columns`, `eigenfeat.tables`). Other formats have types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import joblib
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet

from eigenfeat.rows.readers.errors import BadFile, explained, listed
from eigenfeat.rows.readers.labels import spelling_of
from eigenfeat.rows.readers.locations import Location, check_partitions
from eigenfeat.rows.readers.options import row_number

PART_ROWS = 65_536
"""Rows of a part where nobody says how many."""

BUFFER_BYTES = 1 << 16
"""Bytes of every column that are read at a time: a row group need not fit into memory.

pyarrow's dataset scanner decodes row groups whole: a process that reads 200 MB of Parquet with it peaks at 600 to 680
MB, and with this at 290 to 340, the rows as an array included (`benchmarks/speed/readers.py`).
"""

MAX_THREADS = 4
"""Threads that parse text: one that decodes numbers does not keep up with more."""


@dataclass(frozen=True)
class Part:
    """Some consecutive rows of a table.

    Attributes
    ----------
    place : str
        What messages call the file, or the row group in it, that the rows are counted in.
    read : callable
        Returns the rows as a pyarrow.Table; several threads may call those of several parts.
    where : callable
        From the index of a row in that place to words.
    """

    place: str
    read: Callable[[], pa.Table]
    where: Callable[[int], str] = row_number


@dataclass
class TableSource(ABC):
    """A table that can be read, a part after the other.

    Attributes
    ----------
    place : str
        What messages call it.
    schema : pyarrow.Schema
        Its columns.
    notes : list of str
        What was decided about it, in words.
    is_text : bool
        Cells are text that may mean numbers; `parts` can be asked to read them as such.
    is_array : bool
        Columns have no names of their own but are numbered, x0 and so on.
    """

    place: str
    schema: pa.Schema
    notes: list[str] = field(default_factory=list)
    is_text: bool = False
    is_array: bool = False

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def identity(self) -> str:
        """What tells the file from others, and from what it was at another time."""
        return self.place

    def count_rows(self) -> int | None:
        """Return the number of rows where it is known without reading them."""
        return None

    @abstractmethod
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

    def tables(self, *args: Any, **kwargs: Any) -> Iterator[tuple[Part, pa.Table]]:
        """Yield the parts with their rows, in order; text is parsed in threads, some parts ahead."""
        parts = self.parts(*args, **kwargs)
        return _read_in_threads(parts) if self.is_text else ((part, part.read()) for part in parts)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows, of all columns or of some."""
        columns = self.names if columns is None else list(columns)
        tables = [table for _, table in self.tables(columns)]
        if not any(table.num_rows for table in tables):
            raise BadFile(self.place, ["it has no rows"])
        with explained(self.place):
            return pa.concat_tables(tables, promote_options="permissive")

    def check_names(self) -> None:
        """Refuse columns that names do not tell apart."""
        names = self.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadFile(self.place, [f"several columns are called {listed(twice)}: names must tell columns apart"])


def _read_in_threads(parts: Iterable[Part]) -> Iterator[tuple[Part, pa.Table]]:
    n_threads = min(MAX_THREADS, joblib.cpu_count())
    waiting: deque[tuple[Part, Future]] = deque()
    with ThreadPoolExecutor(n_threads, thread_name_prefix="eigenfeat-parse") as pool:
        try:
            for part in parts:
                waiting.append((part, pool.submit(part.read)))
                if len(waiting) > n_threads:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def given(table: pa.Table) -> pa.Table:
    """Return what is there already: the `read` of such a part."""
    return table


# ---------------------------------------------------------------------- formats with types


class ParquetSource(TableSource):
    """A Parquet file, a row group after the other; only the columns that are asked for are read."""

    def __init__(self, location: Location) -> None:
        with explained(location.place), location.file() as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            super().__init__(location.place, file.schema_arrow)
        self.location, self._n_rows = location, file.metadata.num_rows
        self.check_names()

    def count_rows(self) -> int:
        return self._n_rows

    @property
    def identity(self) -> str:
        return self.location.identity

    def parts(
        self, columns: Sequence[str], numbers: Any = None, filter: Any = None, size: int = PART_ROWS
    ) -> Iterator[Part]:
        with explained(self.place), self.location.file() as stream:
            file = pyarrow.parquet.ParquetFile(
                stream, buffer_size=BUFFER_BYTES if self.location.is_local else 0, pre_buffer=not self.location.is_local
            )
            for group in self._row_groups(file, filter):
                place = f"{self.place}, row group {group}"
                with explained(place):
                    for batch in file.iter_batches(size, row_groups=[group], columns=list(columns)):
                        table = pa.Table.from_batches([batch]).select(list(columns))
                        yield Part(place, partial(given, table))

    def _row_groups(self, file: Any, filter: Any) -> Iterable[int]:
        """Return the row groups but for those whose statistics say that no row passes the filter."""
        if filter is None:
            return range(file.num_row_groups)
        fragment = ds.ParquetFileFormat().make_fragment(self.location.path, self.location.filesystem)
        return [piece.row_groups[0].id for piece in fragment.split_by_row_group(filter, self.schema)]


class ArrowSource(TableSource):
    """An Arrow file or stream, which is also what Feather files are, a record batch after the other."""

    def __init__(self, location: Location) -> None:
        self.location = location
        with explained(location.place), self._reader() as reader:
            super().__init__(location.place, reader.schema)
            self._is_stream = not hasattr(reader, "num_record_batches")
        self.check_names()

    def count_rows(self) -> int | None:
        if self._is_stream:
            return None
        with explained(self.place):
            return ds.IpcFileFormat().make_fragment(self.location.path, self.location.filesystem).count_rows()

    @property
    def identity(self) -> str:
        return self.location.identity

    def _reader(self, columns: Sequence[str] | None = None) -> Any:
        included = None if columns is None else sorted(self.schema.get_field_index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=included, use_threads=False)
        file = self.location.filesystem.open_input_file(self.location.path)
        try:
            return pa.ipc.open_file(file, options=options)
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file, options=options)

    def parts(
        self, columns: Sequence[str], numbers: Any = None, filter: Any = None, size: int = PART_ROWS
    ) -> Iterator[Part]:
        with explained(self.place), self._reader(columns) as reader:
            n_batches = getattr(reader, "num_record_batches", None)
            batches = reader if n_batches is None else map(reader.get_batch, range(n_batches))
            for batch in batches:
                table = pa.Table.from_batches([batch]).select(list(columns))
                for start in range(0, len(table), size):
                    yield Part(self.place, partial(given, table.slice(start, size)))


class MemorySource(TableSource):
    """A table that a format can only be read into memory as: spreadsheets, archives of arrays."""

    def __init__(self, place: str, table: pa.Table, identity: str = "", is_array: bool = False) -> None:
        super().__init__(place, table.schema, is_array=is_array)
        self._table, self._identity = table, identity or place
        self.check_names()

    def count_rows(self) -> int:
        return len(self._table)

    @property
    def identity(self) -> str:
        return self._identity

    def parts(
        self, columns: Sequence[str], numbers: Any = None, filter: Any = None, size: int = PART_ROWS
    ) -> Iterator[Part]:
        chosen = self._table.select(list(columns))
        for start in range(0, len(chosen), size):
            yield Part(self.place, partial(given, chosen.slice(start, size)))


class BatchSource(TableSource):
    """Tables that a function makes anew for every pass, each with its name."""

    def __init__(self, place: str, schema: pa.Schema, make: Callable[[], Iterable[tuple[str, pa.Table]]]) -> None:
        super().__init__(place, schema)
        self._make = make

    def parts(
        self, columns: Sequence[str], numbers: Any = None, filter: Any = None, size: int = PART_ROWS
    ) -> Iterator[Part]:
        for place, table in self._make():
            absent = [name for name in columns if name not in table.column_names]
            if absent:
                raise ValueError(f"{place} has no column {absent[0]!r}, which the first has.")
            yield Part(place, partial(given, table.select(list(columns))))


# ---------------------------------------------------------------------- several files


def filter_columns(filter: Any, names: Collection[str]) -> list[str]:
    """Return the columns a filter is about: all whose names it shows."""
    shown = "" if filter is None else str(filter)
    return [name for name in names if name in shown]


class JoinedSource(TableSource):
    """Several files, the rows of one after those of the other; names of folders, ``name=value``, are columns.

    The first file says which columns there are. One that another file lacks is missing there.
    """

    def __init__(self, place: str, locations: Sequence[Location], open_one: Callable[[Location], TableSource]) -> None:
        self.locations, self._open_one = locations, open_one
        self._first = open_one(locations[0])
        folders = check_partitions(locations)
        fields = [self._first.schema.field(name) for name in self._first.names if name not in folders]
        self._values = {name: self._partition_values(name) for name in folders}
        fields += [pa.field(name, values[0].type) for name, values in self._values.items()]
        super().__init__(place, pa.schema(fields), self._first.notes, is_text=self._first.is_text)
        self.check_names()

    @property
    def identity(self) -> str:
        return "; ".join(location.identity for location in self.locations)

    def count_rows(self) -> int | None:
        counts = [self._first.count_rows()]
        if counts[0] is not None:
            counts += [self._source_at(i).count_rows() for i in range(1, len(self.locations))]
        return None if None in counts else sum(counts)  # type: ignore[arg-type]

    def parts(
        self, columns: Sequence[str], numbers: Any = None, filter: Any = None, size: int = PART_ROWS
    ) -> Iterator[Part]:
        for index in self._passing(filter):
            source = self._source_at(index)
            present = [name for name in columns if name in source.names and name not in self._values]
            elsewhere = set(filter_columns(filter, self.names)) - ({*source.names} - {*self._values})
            for part in source.parts(present, numbers, None if elsewhere else filter, size):
                yield Part(part.place, partial(self._completed, part, columns, index), part.where)

    def _source_at(self, index: int) -> TableSource:
        return self._open_one(self.locations[index]) if index else self._first

    def _partition_values(self, name: str) -> list[Any]:
        """Return what the folders of every file say as scalars of one type, spelt as labels are."""
        cells = pa.array([dict(location.partitions)[name] for location in self.locations], pa.string())
        found, spelling = spelling_of([cells], name, self.locations[0].place)
        return list(found.convert(cells, spelling))

    def _passing(self, filter: Any) -> Collection[int]:
        """Return the files but for those whose folders say that no row passes the filter."""
        if filter is None or not self._values:
            return range(len(self.locations))
        kind = ds.ParquetFileFormat()  # fragments of any: nothing is opened
        fragments = []
        for index in range(len(self.locations)):
            said = [ds.field(name) == values[index] for name, values in self._values.items() if values[index].is_valid]
            guarantee = said[0] if said else ds.scalar(True)
            for other in said[1:]:
                guarantee = guarantee & other
            fragments.append(kind.make_fragment(str(index), self.locations[index].filesystem, guarantee))
        schema = self.schema
        if self.is_text:  # what their cells mean is not known yet: nothing is compared with null
            schema = pa.schema(
                [field if field.name in self._values else field.with_type(pa.null()) for field in schema]
            )
        dataset = ds.FileSystemDataset(fragments, schema, kind, self.locations[0].filesystem)
        return sorted(int(fragment.path) for fragment in dataset.get_fragments(filter))

    def _completed(self, part: Part, columns: Sequence[str], index: int) -> pa.Table:
        """Return the rows of a part with the columns that are names of folders, or missing in this file."""
        table = part.read()
        arrays = []
        for name in columns:
            if name in self._values:
                arrays.append(pa.repeat(self._values[name][index], len(table)))
            elif name in table.column_names:
                arrays.append(table.column(name))
            else:
                arrays.append(pa.nulls(len(table), self.schema.field(name).type))
        return pa.table(arrays, names=list(columns))
