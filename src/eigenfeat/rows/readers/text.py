"""Tables in text files: delimiter and encoding found, cut at the ends of records into blocks that threads parse."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.csv

from eigenfeat.rows.read_ahead import map_ahead
from eigenfeat.rows.readers.locations import explained
from eigenfeat.rows.readers.options import MISSING_WORDS
from eigenfeat.rows.readers.tables import Part, TableSource

DELIMITERS = (",", ";", "\t", "|", " ")
HEAD_BYTES = 1 << 18
"""Bytes that a dialect is found from."""

MAX_RECORDS = 200
"""Records that a delimiter is judged by."""

BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
FALLBACK = "cp1252"
"""Encoding of text that is not UTF-8: Western European Windows, in which nearly every byte is a letter."""

PART_BYTES = 1 << 20
"""Bytes of text parsed at a time: parts of 4 MB took longer, and more memory (`benchmarks/speed/readers.py`)."""

MAX_RECORD_BYTES = 4 << 20
"""Bytes after which a quote that was opened counts as one that is never closed."""

MAX_THREADS = 4
"""Threads that parse text: one that decodes numbers does not keep up with more."""

NULLS = sorted({f(word) for word in MISSING_WORDS for f in (str, str.upper, str.capitalize)} | {"NaN", "NaT", "N/a"})


def text_source(
    place: str,
    head: bytes,
    opened: Callable[[], AbstractContextManager[Any]],
    delimiter: str | None = None,
    encoding: str | None = None,
    identity: str = "",
) -> TableSource:
    """Open a text file with a header, or a stream of one that can be read once.

    Parameters
    ----------
    place : str
    head : bytes
        Its first bytes.
    opened : callable
        Returns a context of the bytes, from their start.
    delimiter, encoding : str, optional
        Found from the first bytes by default.
    identity : str
    """
    if not head.strip():
        raise ValueError(f"{place}: it is empty: no rows, and no feature columns")
    with explained(place):
        dialect = find_dialect(head, delimiter, encoding)
    if all(_is_number(name) for name in dialect.names):
        raise ValueError(
            f"{place}: the first line holds numbers; it must name the columns. Write names into a line before it"
        )
    notes = [_note(place)] if encoding is None and dialect.encoding == FALLBACK else []
    parts = partial(_parts, place, opened, dialect, notes)
    schema = pa.schema([(name, pa.string()) for name in dialect.names])
    return TableSource(place, schema, parts, identity=identity, is_text=True, notes=notes)


def _parts(
    place: str,
    opened: Callable[[], AbstractContextManager[Any]],
    dialect: Dialect,
    notes: list[str],
    columns: list[str],
    numbers: Mapping[str, Any],
    filter: Any,
    size: int,
) -> Iterator[Part]:
    parse = partial(_parsed, place, dialect, notes, columns, numbers)
    n_threads = min(MAX_THREADS, joblib.cpu_count())
    with explained(place), opened() as stream, ThreadPoolExecutor(n_threads, "eigenfeat-parse") as pool:
        blocks = _blocks(place, _as_utf8(stream, dialect.encoding), dialect.delimiter)
        yield from map_ahead(pool, parse, blocks, n_threads)


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


def find_dialect(head: bytes, delimiter: str | None = None, encoding: str | None = None) -> Dialect:
    """Find how a file is written whose first bytes these are; what is given is taken as it is.

    Raises
    ------
    ValueError
        For bytes that are no text in the encoding.
    """
    is_guessed = encoding is None
    encoding = encoding or _encoding(head)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; usual ones are utf-8, cp1252, latin-1, utf-16") from None
    except UnicodeDecodeError as problem:
        raise ValueError(f"it is no text in {encoding} ({problem.reason} at byte {problem.start})") from None
    if "\x00" in text:
        raise ValueError("it is no text: it holds zero bytes")
    lines = text[: text.rfind("\n") + 1] or text
    delimiter = delimiter or _delimiter(lines)
    n_lines, header = next(_records(lines, delimiter), (0, []))
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
    scores = dict.fromkeys(DELIMITERS, (0.0, 0))
    for delimiter in DELIMITERS:
        if delimiter == " " and max(scores.values())[0] > 0.5:
            break  # blanks stand in cells, too
        widths = Counter(len(cells) for _, cells in islice(_records(text, delimiter), MAX_RECORDS))
        width, count = max(widths.items(), key=lambda item: item[1], default=(0, 0))
        if width > 1:
            scores[delimiter] = (count / widths.total(), width)
    return max(scores, key=lambda delimiter: scores[delimiter])


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of text that are not empty, with the number of the line they end in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
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


# ---------------------------------------------------------------------- blocks of records


@dataclass(frozen=True)
class Lines:
    """Whole records of a text file in UTF-8, and the number of lines before them."""

    content: bytes
    n_before: int


def _as_utf8(stream: Any, encoding: str) -> Iterator[bytes]:
    chunks = iter(partial(stream.read, PART_BYTES), b"")
    if encoding == "utf-8":
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _blocks(place: str, chunks: Iterable[bytes], delimiter: str) -> Iterator[Lines]:
    left, n_lines = b"", 0
    for chunk in chunks:
        content = left + chunk
        end = _end_of_records(content, delimiter)
        if end:
            yield Lines(content[:end], n_lines)
            n_lines += content.count(b"\n", 0, end)
        left = content[end:]
        if len(left) > MAX_RECORD_BYTES and b'"' in left:
            raise ValueError(f"{place}: line {n_lines + 1}: a quote that is opened is never closed")
    if left:
        yield Lines(left, n_lines)


def _end_of_records(content: bytes, delimiter: str) -> int:
    """Return where the last whole record ends: the last end of a line that is not inside of a quoted cell."""
    end = content.rfind(b"\n") + 1
    if b'"' not in content:
        return end
    characters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    n_quotes = np.searchsorted(np.flatnonzero(characters == ord('"')), ends)
    if not (n_quotes % 2).any():
        return end
    spans = [match.span() for match in _quoted_cells(delimiter).finditer(content)]
    starts, stops = np.array([(-1, -1), *spans]).T
    is_end = ends >= stops[np.searchsorted(starts, ends) - 1]
    return int(ends[is_end][-1]) + 1 if is_end.any() else 0


@cache
def _quoted_cells(delimiter: str) -> re.Pattern[bytes]:
    """Return a regular expression of quoted cells; a quote inside of another cell, as in 5" pipes, is a character."""
    return re.compile(rb'(?<![^\r\n%b])"(?:[^"]++|"")*+(?:"|\Z)' % re.escape(delimiter.encode()))


def _parsed(
    place: str, dialect: Dialect, notes: list[str], columns: list[str], numbers: Mapping[str, Any], lines: Lines
) -> Part:
    """Parse a block; its columns are text where some cell of it is no number."""
    with explained(place):
        try:
            table = _table(place, dialect, columns, numbers, lines)
        except pa.ArrowInvalid:
            if dialect.is_guessed:
                content = b"\n".join(map(_mended, lines.content.split(b"\n")))
                if content != lines.content and _note(place) not in notes:
                    notes.append(_note(place))
                lines = replace(lines, content=content)
            table = _table(place, dialect, columns, {}, lines)
    return Part(table, place, partial(_line, dialect, lines))


def _table(place: str, dialect: Dialect, columns: list[str], numbers: Mapping[str, Any], lines: Lines) -> pa.Table:
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "skip"

    table = pyarrow.csv.read_csv(
        pa.BufferReader(lines.content),
        pyarrow.csv.ReadOptions(
            block_size=len(lines.content) + 1,
            use_threads=False,  # only then are lines numbered
            column_names=dialect.names,
            skip_rows=0 if lines.n_before else dialect.header_lines,
        ),
        pyarrow.csv.ParseOptions(delimiter=dialect.delimiter, invalid_row_handler=note),
        pyarrow.csv.ConvertOptions(
            column_types={name: numbers.get(name, pa.string()) for name in columns},
            include_columns=columns,
            strings_can_be_null=False,
            null_values=NULLS,
        ),
    )
    if ragged:
        row = ragged[0]
        more = f" ({len(ragged) - 1} more such lines follow)" if len(ragged) > 1 else ""
        raise ValueError(
            f"{place}: line {row.number + lines.n_before}: {row.actual_columns} cells where the header has "
            f"{row.expected_columns} ({row.text[:40]!r}){more}. Quote cells that hold the delimiter, or mend the line"
        )
    return table


def _mended(line: bytes) -> bytes:
    """Return a line in UTF-8, though it is not all written so."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode(FALLBACK).encode()
    return line


def _note(place: str) -> str:
    return f"{place} is not all UTF-8: read as {FALLBACK} (another: --encoding)"


def _line(dialect: Dialect, lines: Lines, index: int) -> str:
    """Return the line that the row of this index ends in."""
    records = _records(lines.content.decode(), dialect.delimiter)
    n_header = 0 if lines.n_before else 1
    line, _ = next(islice(records, index + n_header, None), (index + n_header + 1, []))
    return f"line {lines.n_before + line}"
