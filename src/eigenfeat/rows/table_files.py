"""Tables in files of the usual formats, or on the standard input, as columns of Arrow: whole, or some rows at a time.

Cells of text files stay text: what they mean depends on the whole column, and on what a model has learnt of it, so
whoever reads them decides (`eigenfeat.tables`). Other formats have types.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from eigenfeat.rows.bad_tables import BadTable, explained, ragged
from eigenfeat.rows.dialects import FALLBACK, HEAD, Dialect, find_dialect
from eigenfeat.rows.joined_stream import JoinedStream, filled

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".npz": "npz",
    **dict.fromkeys((".svmlight", ".libsvm", ".svm"), "svmlight"),
}
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"PK\x03\x04", "npz"))
BLOCK = 4 << 20
"""Bytes of text parsed at a time."""

NOTHING_THERE = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"]
"""Cells among numbers that say that there is none; of text, whoever uses it decides."""

BATCH = 65_536
STANDARD_INPUT = "-"


@dataclass
class TableFile:
    """A table that can be read.

    Attributes
    ----------
    place : str
        What messages call it.
    kind : {"text", "parquet", "arrow", "npz", "svmlight"}
    names : list of str
        Its columns; none are known of svmlight files.
    notes : list of str
        What was decided about it, in words.
    """

    place: str
    kind: str
    names: list[str]
    notes: list[str] = field(default_factory=list)
    _path: Path | None = None
    _stream: Any = None
    _dialect: Dialect | None = None
    _compression: str | None = None

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows, of all columns or of some."""
        with explained(self.place):
            if self.kind == "text":
                return self._read_text(columns)
            tables = list(self.batches(columns))
            return _refuse_none(pa.concat_tables(tables) if tables else None, self.place)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Some ten thousand rows after the other."""
        columns = list(self.names if columns is None else columns)
        with explained(self.place):
            if self.kind == "text":
                yield from self._streamed(self._opened(), columns)
            elif self.kind == "parquet":
                file = pyarrow.parquet.ParquetFile(self._path or self._stream)
                for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                    yield pa.Table.from_batches([batch]).select(columns)
            elif self.kind == "arrow":
                for batch in _arrow_batches(self._path or self._stream):
                    yield pa.Table.from_batches([batch]).select(columns)
            else:
                yield _npz_table(self._path or self._stream, self.place).select(columns)

    def parts(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[Callable[[], pa.Table]]:
        """What `batches` yields, as functions that return one of them each: several threads may call them.

        Parameters
        ----------
        columns : sequence of str
        numbers : sequence of str
            Columns that are expected to hold numbers, in text files: read as such where all cells of a part are.
        """
        if self.kind == "text" and self._cuts_at_lines():
            with explained(self.place):
                yield from self._text_parts(list(columns), frozenset(numbers))
            return
        for table in self.batches(columns):
            yield partial(_given, table)

    # ------------------------------------------------------------------ text

    def _cuts_at_lines(self) -> bool:
        """Whether bytes can be cut into lines before they are decoded."""
        assert self._dialect is not None
        return all(sign.encode(self._dialect.encoding) == sign.encode() for sign in '\n"')

    def _text_parts(self, columns: list[str], numbers: frozenset[str]) -> Iterator[Callable[[], pa.Table]]:
        assert self._dialect is not None
        stream, left, n_lines, header = self._opened(), b"", 0, None
        while True:
            found = stream.read(BLOCK)
            block = left + found
            if _may_break_cells(block, header is None):
                rest = pa.PythonFile(JoinedStream(block, stream), mode="r")
                for table in self._streamed(rest, columns, header, n_lines):
                    yield partial(_given, table)
                return
            cut = block.rfind(b"\n") + 1 if found else len(block)
            block, left = block[:cut], block[cut:]
            if block:
                yield partial(self._parsed, block, columns, numbers, header, n_lines)
                header, n_lines = self._dialect.header, n_lines + block.count(b"\n")
            if not found:
                return

    def _parsed(
        self, block: bytes, columns: list[str], numbers: frozenset[str], header: Sequence[str] | None, n_lines: int
    ) -> pa.Table:
        """The rows of a block of lines; text where some cell of it is no number."""
        for typed in (numbers, frozenset[str]()) if numbers else (numbers,):
            wrong: list[Any] = []
            try:
                with explained(self.place):
                    options = self._options(columns, wrong, threads=False, numbers=typed, header=header)
                    options[0].block_size = max(BLOCK, len(block) + 1)
                    table = pyarrow.csv.read_csv(pa.BufferReader(block), *options)
            except ValueError:
                if not typed:
                    raise
                continue
            if wrong:
                raise BadTable(self.place, ragged(wrong, n_lines))
            return table.rename_columns(columns)
        raise AssertionError("text can always be read as text")

    def _streamed(
        self, stream: Any, columns: Sequence[str], header: Sequence[str] | None = None, n_lines: int = 0
    ) -> Iterator[pa.Table]:
        """Tables of a stream of text, the first line of which names the columns unless that was read already."""
        wrong: list[Any] = []
        names = self._chosen(columns)
        with pyarrow.csv.open_csv(stream, *self._options(columns, wrong, threads=False, header=header)) as reader:
            for batch in reader:
                if wrong:
                    break
                yield pa.Table.from_batches([batch]).rename_columns(names)
        if wrong:
            raise BadTable(self.place, ragged(wrong, n_lines))

    def _read_text(self, columns: Sequence[str] | None) -> pa.Table:
        wrong: list[Any] = []
        try:
            table = pyarrow.csv.read_csv(self._opened(), *self._options(columns, wrong, threads=True))
        except pa.ArrowInvalid as problem:
            if "UTF" not in str(problem) or self._path is None:
                raise
            self._read_as_fallback()
            wrong.clear()
            table = pyarrow.csv.read_csv(self._opened(), *self._options(columns, wrong, threads=True))
        if wrong:
            if self._path is not None:  # once more, in one thread: only then are lines numbered
                wrong.clear()
                pyarrow.csv.read_csv(self._opened(), *self._options(columns, wrong, threads=False))
            raise BadTable(self.place, ragged(wrong))
        return _refuse_none(table.rename_columns(self._chosen(columns)), self.place)

    def _read_as_fallback(self) -> None:
        assert self._dialect is not None
        self._dialect = Dialect(FALLBACK, self._dialect.delimiter, self._dialect.header)
        self.notes.append(f"{self.place} is not all UTF-8: read as {FALLBACK} (another: --encoding)")

    def _chosen(self, columns: Sequence[str] | None) -> list[str]:
        return list(self.names if columns is None else columns)

    def _opened(self) -> Any:
        if self._path is not None:
            return _opened(self._path, self._compression)
        stream, self._stream = self._stream, None
        if stream is None:
            raise ValueError("the standard input can be read once only")
        return stream

    def _options(
        self,
        columns: Sequence[str] | None,
        wrong: list[Any],
        threads: bool,
        numbers: frozenset[str] = frozenset(),
        header: Sequence[str] | None = None,
    ) -> tuple[Any, Any, Any]:
        dialect = self._dialect
        assert dialect is not None
        raw = dict(zip(self.names, dialect.header))
        chosen = [raw[name] for name in self._chosen(columns)]

        def note(row: Any) -> str:
            if len(wrong) <= 1000:
                wrong.append(row)
            return "skip"

        csv = pyarrow.csv
        types = {raw[name]: pa.float64() if name in numbers else pa.string() for name in self.names}
        return (
            csv.ReadOptions(
                block_size=BLOCK,
                use_threads=threads,
                encoding=dialect.encoding,
                column_names=None if header is None else list(header),
            ),
            csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=self._may_quote(), invalid_row_handler=note
            ),
            csv.ConvertOptions(
                column_types=types,
                include_columns=chosen,
                strings_can_be_null=False,
                null_values=NOTHING_THERE,
            ),
        )

    def _may_quote(self) -> bool:
        """Whether lines may end inside of a cell, which makes reading slower."""
        if self._path is None or self._compression is not None or not self._path.is_file():
            return True
        with self._path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b'"') >= 0


def open_table(place: str | os.PathLike, delimiter: str | None = None, encoding: str | None = None) -> TableFile:
    """A table at a path, or on the standard input where the path is ``-``.

    Parameters
    ----------
    place : path
        ``.csv``, ``.tsv``, ``.txt`` and the like with a header line, also compressed (``.gz``, ``.bz2``, ``.zst``,
        ``.lz4``); ``.parquet``; ``.arrow`` or ``.feather``; ``.npz`` with an array ``X``; ``.svmlight``. Capitals are
        the same. The standard input is recognised by its first bytes.
    delimiter, encoding : str, optional
        Of text files; found by default.

    Returns
    -------
    `TableFile`

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For a format that is not known, and for all that is wrong with a header, in one message.
    """
    if os.fspath(place) == STANDARD_INPUT:
        return _from_stream(sys.stdin.buffer, "the standard input", delimiter, encoding)
    path = Path(place)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file: name a file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    compression = COMPRESSIONS.get(path.suffix.lower())
    suffix = Path(path.stem).suffix.lower() if compression else path.suffix.lower()
    if suffix not in KINDS:
        raise ValueError(f"{path} has the suffix {path.suffix!r}; tables are read from {', '.join(KINDS)}")
    kind = KINDS[suffix]
    with explained(str(path)):
        if kind == "text" and not path.is_file():  # a pipe, which can be read once
            return _from_stream(path.open("rb"), str(path), delimiter, encoding)
        if kind == "text":
            head = _opened(path, compression).read(HEAD)
            return _text_file(str(path), head, delimiter, encoding, _path=path, _compression=compression)
        if compression:
            raise ValueError(f"compressed tables are text; {suffix} files are compressed inside: unpack it first")
        return _typed_file(str(path), kind, path, None)


def _from_stream(stream: BinaryIO, place: str, delimiter: str | None, encoding: str | None) -> TableFile:
    """A table of a stream that can be read once, known by its first bytes."""
    head = filled(stream, b"", HEAD)
    if head.startswith(b"\x1f\x8b"):
        unpacked = pa.CompressedInputStream(pa.PythonFile(JoinedStream(head, stream), mode="r"), "gzip")
        head, stream = unpacked.read(HEAD), unpacked
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return _typed_file(place, kind, None, io.BytesIO(head + stream.read()))
    with explained(place):
        return _text_file(place, head, delimiter, encoding, _stream=pa.PythonFile(JoinedStream(head, stream), mode="r"))


def _text_file(place: str, head: bytes, delimiter: str | None, encoding: str | None, **source: Any) -> TableFile:
    if not head.strip():
        raise BadTable(place, ["it is empty: no rows, and no feature columns"])
    dialect = find_dialect(head, delimiter, encoding, whole=len(head) < HEAD)
    if dialect.problems():
        raise BadTable(place, dialect.problems())
    notes = [f"{place}: {note}" for note in dialect.notes]
    return TableFile(place, "text", dialect.names, notes, _dialect=dialect, **source)


def _typed_file(place: str, kind: str, path: Path | None, stream: Any) -> TableFile:
    with explained(place):
        source = path or stream
        if kind == "svmlight":
            return TableFile(place, kind, [], _path=path)
        if kind == "parquet":
            names = pyarrow.parquet.ParquetFile(source).schema_arrow.names
        elif kind == "arrow":
            names = _arrow_schema(source).names
        else:
            names = _npz_table(source, place).column_names
        twice = sorted({repr(name) for name in names if names.count(name) > 1})
        if twice:
            raise BadTable(place, [f"several columns are called {', '.join(twice)}: names must tell columns apart"])
        return TableFile(place, kind, list(names), _path=path, _stream=stream)


def _arrow_reader(source: Any) -> Any:
    if isinstance(source, io.BytesIO):
        source.seek(0)
    try:
        return pa.ipc.open_file(source if isinstance(source, io.BytesIO) else pa.OSFile(str(source)))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(source if isinstance(source, io.BytesIO) else pa.OSFile(str(source)))


def _arrow_schema(source: Any) -> Any:
    return _arrow_reader(source).schema


def _arrow_batches(source: Any) -> Iterator[Any]:
    reader = _arrow_reader(source)
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        yield from reader


def _npz_table(source: Any, place: str) -> pa.Table:
    """The columns of X, called x0, x1 and so on, and every other array that has an entry a row."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with np.load(source, allow_pickle=False) as arrays:
        if "X" not in arrays:
            raise BadTable(place, [f"it has no array 'X'; it has {', '.join(map(repr, arrays.files)) or 'none'}"])
        X, others = arrays["X"], {name: arrays[name] for name in arrays.files if name != "X"}
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise BadTable(place, [f"the array 'X' must be rows and columns of numbers; it is {X.dtype} of {X.shape}"])
    columns = {f"x{j}": pa.array(np.ascontiguousarray(X[:, j])) for j in range(X.shape[1])}
    return pa.table(columns | {name: pa.array(a) for name, a in others.items() if a.shape == X.shape[:1]})


def _opened(path: Path, compression: str | None) -> Any:
    return pa.input_stream(str(path), compression=compression)


def _may_break_cells(block: bytes, has_header: bool) -> bool:
    """Whether a line may end inside of a quoted cell, so that only who reads on from the beginning knows.

    Names of columns are often quoted where cells are not: a first line whose quotes are all closed is one line.
    """
    end = block.find(b"\n") if has_header else -1
    return (end >= 0 and block.count(b'"', 0, end) % 2 == 1) or block.find(b'"', end + 1) >= 0


def _given(table: pa.Table) -> pa.Table:
    return table


def _refuse_none(table: pa.Table | None, place: str) -> pa.Table:
    if table is None or table.num_rows == 0:
        raise BadTable(place, ["it has no rows"])
    return table
