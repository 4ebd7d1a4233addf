"""Tables in text files: delimiter and encoding found, cut at lines into parts that threads parse."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from eigenfeat.rows.readers.errors import BadFile, explained, listed
from eigenfeat.rows.readers.locations import Location
from eigenfeat.rows.readers.options import MISSING_WORDS, row_number
from eigenfeat.rows.readers.tables import PART_ROWS, Part, TableSource, given

DELIMITERS = (",", ";", "\t", "|", " ")
HEAD_BYTES = 1 << 18
"""Bytes that a dialect is found from."""

MAX_RECORDS = 200
"""Records that a delimiter is judged by."""

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
FALLBACK = "cp1252"
"""Encoding of text that is not UTF-8: Western European Windows, in which nearly every byte is a letter."""

PART_BYTES = 1 << 20
"""Bytes of text parsed at a time: parts of 4 MB took longer, and more memory (`benchmarks/speed/readers.py`)."""

STREAMED_BYTES = 4 << 20
"""Bytes of a block where lines may end inside of cells: the longest record that can be read."""

MAX_NOTED = 1000
"""Ragged lines that are remembered."""

NULLS = sorted({f(word) for word in MISSING_WORDS for f in (str, str.upper, str.capitalize)} | {"NaN", "NaT", "N/a"})


# ---------------------------------------------------------------------- dialects


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding, delimiter : str
    header : tuple of str
        The cells of the first record.
    header_lines : int
        Lines up to its end.
    is_guessed : bool
        The encoding was found, not given.
    """

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    header_lines: int
    is_guessed: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns: blanks around them are dropped, columns without a name are numbered."""
        return [cell.strip() or f"column {j + 1}" for j, cell in enumerate(self.header)]

    @property
    def notes(self) -> list[str]:
        """What was decided and may be wrong, in words."""
        is_fallback = self.is_guessed and self.encoding == FALLBACK
        return [f"it is no UTF-8: read as {FALLBACK} (another: --encoding)"] if is_fallback else []

    def problems(self) -> list[str]:
        """What is wrong with the header, in words."""
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        found = []
        if twice:
            found.append(f"several columns are called {listed(twice)}: names must tell columns apart. Rename them")
        if self.header and all(_is_number(cell) for cell in self.header):
            found.append("the first line holds numbers; it must name the columns. Write names into a line before it")
        return found


def find_dialect(
    head: bytes, delimiter: str | None = None, encoding: str | None = None, is_whole: bool = False
) -> Dialect:
    """Find how a file is written whose first bytes these are; what is given is taken as it is.

    Raises
    ------
    ValueError
        For bytes that are no text in the encoding.
    """
    is_guessed = encoding is None
    encoding = encoding or _encoding(head)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, is_whole).removeprefix("\ufeff")
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; usual ones are utf-8, cp1252, latin-1, utf-16") from None
    except UnicodeDecodeError as problem:
        raise ValueError(f"it is no text in {encoding} ({problem.reason} at byte {problem.start})") from None
    if "\x00" in text:
        raise ValueError("it is no text: it holds zero bytes")
    lines = text if is_whole or "\n" not in text else text[: text.rindex("\n") + 1]
    delimiter = delimiter or _delimiter(lines)
    n_lines, header = next(_records(io.StringIO(lines, newline=""), delimiter), (0, []))
    return Dialect(encoding, delimiter, tuple(header), n_lines, is_guessed)


def _encoding(head: bytes) -> str:
    for mark, name in BOMS:
        if head.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return FALLBACK
    return "utf-8"


def _delimiter(text: str) -> str:
    """Return what cuts most records into the same number of cells, and into more than one."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        records = zip(range(MAX_RECORDS), _records(io.StringIO(text, newline=""), delimiter))
        widths = Counter(len(cells) for _, (_, cells) in records)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        score = (count / widths.total(), width) if width > 1 else (0.0, 0)
        if score[0] > best_score[0] + 1e-9 or (score[0] > best_score[0] - 1e-9 and score[1] > best_score[1]):
            best, best_score = delimiter, score
        if delimiter == "|" and best_score[0] > 0.5:
            break  # blanks stand in cells, too
    return best


def _records(lines: Any, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of text that are not empty, with the number of the line they end in."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for record in reader:
            if record:
                yield reader.line_num, record
    except csv.Error:
        return  # a cell longer than csv has room for: what was read before decides


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------- files


class TextSource(TableSource):
    """A text file with a header, or a stream of one that can be read once.

    Parameters
    ----------
    place : str
    opened : callable
        Returns a context of the bytes, from their start.
    delimiter, encoding : str, optional
        Found from the first bytes by default.
    location : Location, optional
        Where the file is; none of a stream.
    """

    def __init__(
        self,
        place: str,
        opened: Callable[[], AbstractContextManager[Any]],
        delimiter: str | None = None,
        encoding: str | None = None,
        location: Location | None = None,
    ) -> None:
        with explained(place), opened() as stream:
            head = read_up_to(stream, HEAD_BYTES)
            if location is None:
                rest = JoinedStream(head, stream)
                opened = partial(nullcontext, rest)
            if not head.strip():
                raise BadFile(place, ["it is empty: no rows, and no feature columns"])
            self.dialect = find_dialect(head, delimiter, encoding, is_whole=len(head) < HEAD_BYTES)
        if self.dialect.problems():
            raise BadFile(place, self.dialect.problems())
        schema = pa.schema([(name, pa.string()) for name in self.dialect.names])
        notes = [f"{place}: {note}" for note in self.dialect.notes]
        super().__init__(place, schema, notes, is_text=True)
        self._opened, self._location = opened, location
        # Two columns may differ in blanks that are no part of names: the parser knows them by numbers.
        self._keys = {name: f"{j}" for j, name in enumerate(self.names)}

    @property
    def identity(self) -> str:
        return self.place if self._location is None else self._location.identity

    def parts(
        self,
        columns: Sequence[str],
        numbers: Mapping[str, Any] | None = None,
        filter: Any = None,
        size: int = PART_ROWS,
    ) -> Iterator[Part]:
        # Text of which bytes cannot be cut into lines before they are decoded is parsed in order.
        is_cut = all(sign.encode(self.dialect.encoding) == sign.encode() for sign in '\n"')
        with explained(self.place), self._opened() as stream:
            if is_cut:
                yield from self._cut_parts(stream, list(columns), dict(numbers or {}))
            else:
                yield from self._streamed_parts(stream, list(columns), 0)

    def _cut_parts(self, stream: Any, columns: list[str], numbers: dict[str, Any]) -> Iterator[Part]:
        left, n_lines = b"", 0
        while True:
            read = stream.read(PART_BYTES)
            block = left + read
            cut = _end_of_records(block, self.dialect.delimiter) if read else len(block)
            if cut is None:
                yield from self._streamed_parts(JoinedStream(block, stream), columns, n_lines)
                return
            block, left = block[:cut], block[cut:]
            if block:
                yield Part(self.place, partial(self._parsed, block, columns, numbers, n_lines), self.where)
                n_lines += block.count(b"\n")
            if not read:
                return

    def _parsed(self, block: bytes, columns: list[str], numbers: dict[str, Any], n_lines: int) -> pa.Table:
        """Return the rows of a block of lines; text where some cell of it is no number."""
        with explained(self.place):
            ragged: list[Any] = []
            options = self._options(columns, ragged, n_lines, len(block) + 1, numbers)
            options[1].newlines_in_values = False
            try:
                table = pyarrow.csv.read_csv(pa.BufferReader(block), *options)
            except pa.ArrowInvalid:
                if not numbers:
                    raise
                return self._parsed(block, columns, {}, n_lines)
            self._refuse_ragged(ragged, n_lines)
            return self._decoded(table, columns)

    def _streamed_parts(self, stream: Any, columns: list[str], n_lines: int) -> Iterator[Part]:
        """Yield tables of a stream in order, as only who has read all from the beginning knows where cells end."""
        ragged: list[Any] = []
        options = self._options(columns, ragged, n_lines, STREAMED_BYTES)
        with pyarrow.csv.open_csv(pa.PythonFile(stream, mode="r"), *options) as reader:
            for batch in reader:
                if ragged:
                    break
                table = self._decoded(pa.Table.from_batches([batch]), columns)
                yield Part(self.place, partial(given, table), self.where)
        self._refuse_ragged(ragged, n_lines)

    def _options(
        self,
        columns: list[str],
        ragged: list[Any],
        n_lines: int,
        n_bytes: int,
        numbers: Mapping[str, Any] | None = None,
    ) -> tuple[Any, Any, Any]:
        dialect, numbers = self.dialect, numbers or {}

        def note(row: Any) -> str:
            if len(ragged) <= MAX_NOTED:
                ragged.append(row)
            return "skip"

        text = pa.binary() if dialect.encoding == "utf-8" else pa.string()
        return (
            pyarrow.csv.ReadOptions(
                block_size=n_bytes,
                use_threads=False,  # only then are lines numbered
                encoding=dialect.encoding,
                column_names=list(self._keys.values()),
                skip_rows=dialect.header_lines if n_lines == 0 else 0,
            ),
            pyarrow.csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True, invalid_row_handler=note),
            pyarrow.csv.ConvertOptions(
                column_types={self._keys[name]: numbers.get(name, text) for name in columns},
                include_columns=[self._keys[name] for name in columns],
                strings_can_be_null=False,
                null_values=NULLS,
            ),
        )

    def _decoded(self, table: pa.Table, columns: list[str]) -> pa.Table:
        """Return a table with the names of its columns, bytes as text."""
        arrays = [self._as_text(column) if column.type == pa.binary() else column for column in table.columns]
        return pa.table(arrays, names=columns) if columns else table

    def _as_text(self, column: Any) -> Any:
        try:
            return pc.cast(column, pa.string())
        except pa.ArrowInvalid:
            if not self.dialect.is_guessed:
                raise
        note = f"{self.place} is not all UTF-8: read as {FALLBACK} (another: --encoding)"
        if note not in self.notes:
            self.notes.append(note)
        return pa.chunked_array([pa.array([cell.decode(FALLBACK) for cell in column.to_pylist()], pa.string())])

    def _refuse_ragged(self, ragged: Sequence[Any], n_lines: int) -> None:
        if not ragged:
            return
        raise BadFile(
            self.place,
            [
                f"{f'line {row.number + n_lines}' if row.number else 'a line'}: {row.actual_columns} cells where the "
                f"header has {row.expected_columns} ({row.text[:40]!r}). Quote cells that hold the delimiter, or mend "
                "the line"
                for row in sorted(ragged, key=lambda row: row.number or 0)
            ],
        )

    def where(self, index: int) -> str:
        """Return the line that the row of this index ends in."""
        if self._location is None:
            return row_number(index)
        with self._opened() as stream:
            text = io.TextIOWrapper(io.BufferedReader(JoinedStream(b"", stream)), self.dialect.encoding, "replace", "")
            for count, (line, _) in enumerate(_records(text, self.dialect.delimiter)):
                if count == index + 1:
                    return f"line {line}"
        return row_number(index)


def _end_of_records(block: bytes, delimiter: str) -> int | None:
    """Return where the last whole record of a block that begins with one ends, None where quotes leave it open.

    A line ends a record where the quotes before it are even in number. That is certain where they stand at the ends of
    cells only: others, such as the inches of 5" pipes, are characters to a parser.
    """
    if b'"' not in block:
        return block.rfind(b"\n") + 1
    content = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    is_end = np.searchsorted(np.flatnonzero(content == ord('"')), ends) % 2 == 0
    if not is_end.all() and _stray_quotes(delimiter).search(block):
        return None
    cut = int(ends[is_end][-1]) + 1 if is_end.any() else 0
    return cut if len(block) - cut <= STREAMED_BYTES else None


@cache
def _stray_quotes(delimiter: str) -> re.Pattern[bytes]:
    beside = re.escape(delimiter.encode()) + rb'\r\n"'
    return re.compile(rb'(?<=[^%b])"(?=[^%b])' % (beside, beside))


def read_up_to(stream: Any, size: int) -> bytes:
    """Return as many bytes of a stream, or all there are."""
    parts, missing = [], size
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class JoinedStream(io.RawIOBase):
    """Bytes that were read already, and then the rest of their stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def read(self, size: int = -1) -> bytes:
        """Return no fewer bytes than asked for before the end: a parser takes what it gets for a block of lines."""
        head = bytes(self._head if size < 0 else self._head[:size])
        self._head = self._head[len(head) :]
        return head + (self._rest.read() if size < 0 else read_up_to(self._rest, size - len(head)))
