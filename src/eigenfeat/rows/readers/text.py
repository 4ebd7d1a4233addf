"""Tables in text files: delimiter and encoding found, cut at the ends of records into blocks that threads parse."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.csv

from eigenfeat.rows.read_ahead import map_ahead
from eigenfeat.rows.readers.locations import explained
from eigenfeat.rows.readers.options import MISSING_WORDS
from eigenfeat.rows.readers.tables import Part, TableSource, names_in_header

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
        codec = encoding or _encoding(head)
        text = codecs.getincrementaldecoder(codec)().decode(head)
    if "\x00" in text:
        raise ValueError(f"{place} is no text: it holds zero bytes")
    lines = text[: text.rfind("\n") + 1] or text
    delimiter = delimiter or _delimiter(lines)
    n_lines, header = next(_records(lines, delimiter), (0, []))
    names = names_in_header(header, place)
    file = TextFile(place, opened, codec, delimiter, names, n_lines, is_guessed=encoding is None)
    if file.is_guessed and codec == FALLBACK:
        file.note_fallback()
    schema = pa.schema([(name, pa.string()) for name in names])
    return TableSource(place, schema, file.parts, identity=identity, is_text=True, notes=file.notes)


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
    with suppress(csv.Error):  # a cell longer than csv has room for: what was read before decides
        for record in reader:
            if record:
                yield reader.line_num, record


# ---------------------------------------------------------------------- rows


@dataclass
class TextFile:
    """A text file of which the dialect is known.

    Attributes
    ----------
    place : str
    opened : callable
        Returns a context of the bytes, from their start.
    encoding, delimiter : str
    names : list of str
        Of the columns: blanks around them are dropped, columns without a name are numbered.
    header_lines : int
        Lines up to the end of the record that names the columns.
    is_guessed : bool
        The encoding was found, not given.
    notes : list of str
        What was decided and may be wrong.
    """

    place: str
    opened: Callable[[], AbstractContextManager[Any]]
    encoding: str
    delimiter: str
    names: list[str]
    header_lines: int
    is_guessed: bool
    notes: list[str] = field(default_factory=list)

    def parts(self, columns: list[str], numbers: Mapping[str, Any], filter: Any, size: int) -> Iterator[Part]:
        """Yield tables that threads parse, some parts ahead."""
        n_threads = min(MAX_THREADS, joblib.cpu_count())
        parse = partial(self._part, columns, numbers)
        with explained(self.place), self.opened() as stream, ThreadPoolExecutor(n_threads, "eigenfeat-parse") as pool:
            yield from map_ahead(pool, parse, self._blocks(stream), n_threads)

    def note_fallback(self) -> None:
        note = f"{self.place} is not all UTF-8: read as {FALLBACK} (another: --encoding)"
        if note not in self.notes:
            self.notes.append(note)

    def _blocks(self, stream: Any) -> Iterator[tuple[int, bytes]]:
        """Yield whole records in UTF-8, with the number of lines before them."""
        left, n_lines = b"", 0
        for chunk in self._chunks(stream):
            block = left + chunk
            end = _end_of_records(block, self.delimiter)
            if end:
                yield n_lines, block[:end]
                n_lines += block.count(b"\n", 0, end)
            left = block[end:]
            if len(left) > MAX_RECORD_BYTES and b'"' in left:
                raise ValueError(f"{self.place}: line {n_lines + 1}: a quote that is opened is never closed")
        if left:
            yield n_lines, left

    def _chunks(self, stream: Any) -> Iterator[bytes]:
        chunks = iter(partial(stream.read, PART_BYTES), b"")
        if self.encoding == "utf-8":
            yield from chunks
        else:
            decoder = codecs.getincrementaldecoder(self.encoding)()
            yield from (decoder.decode(chunk).encode() for chunk in chunks)
            yield decoder.decode(b"", final=True).encode()

    def _part(self, columns: list[str], numbers: Mapping[str, Any], lines: tuple[int, bytes]) -> Part:
        """Parse whole records: columns are text where some cell of them is no number."""
        n_before, block = lines
        with explained(self.place):
            try:
                table = self._table(columns, numbers, n_before, block)
            except pa.ArrowInvalid:
                if self.is_guessed:
                    mended = b"\n".join(map(_mended, block.split(b"\n")))
                    if mended != block:
                        self.note_fallback()
                    block = mended
                table = self._table(columns, {}, n_before, block)
        return Part(table, self.place, partial(self._line, n_before, block))

    def _table(self, columns: list[str], numbers: Mapping[str, Any], n_before: int, block: bytes) -> pa.Table:
        ragged: list[Any] = []

        def note(row: Any) -> str:
            ragged.append(row)
            return "skip"

        table = pyarrow.csv.read_csv(
            pa.BufferReader(block),
            pyarrow.csv.ReadOptions(
                block_size=len(block) + 1,
                use_threads=False,  # only then are lines numbered
                column_names=self.names,
                skip_rows=0 if n_before else self.header_lines,
            ),
            pyarrow.csv.ParseOptions(delimiter=self.delimiter, invalid_row_handler=note),
            pyarrow.csv.ConvertOptions(
                column_types={name: numbers.get(name, pa.string()) for name in columns},
                include_columns=columns,
                strings_can_be_null=False,
                null_values=NULLS,
            ),
        )
        if ragged:
            row, more = ragged[0], f", and {len(ragged) - 1} more such lines" if len(ragged) > 1 else ""
            raise ValueError(
                f"{self.place}: line {row.number + n_before}: {row.actual_columns} cells where the header has "
                f"{row.expected_columns} ({row.text[:40]!r}){more}. Quote cells that hold the delimiter, or mend the "
                "line"
            )
        return table

    def _line(self, n_before: int, block: bytes, index: int) -> str:
        """Return the line that the row of this index of a block ends in."""
        number = index if n_before else index + 1
        line, _ = next(islice(_records(block.decode(), self.delimiter), number, None), (number + 1, []))
        return f"line {n_before + line}"


def _mended(line: bytes) -> bytes:
    """Return a line in UTF-8, though it is not all written so."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode(FALLBACK).encode()
    return line


def _end_of_records(block: bytes, delimiter: str) -> int:
    """Return where the last whole record ends: the last end of a line that is not inside of a quoted cell."""
    end = block.rfind(b"\n") + 1
    if b'"' not in block:
        return end
    characters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    n_quotes = np.searchsorted(np.flatnonzero(characters == ord('"')), ends)
    if not (n_quotes % 2).any():
        return end
    # A quote inside of a cell that is not quoted, as in 5" pipes, is a character.
    quoted = re.compile(rb'(?<![^\r\n%b])"(?:[^"]++|"")*+(?:"|\Z)' % re.escape(delimiter.encode()))
    starts, stops = np.array([(-1, -1), *(match.span() for match in quoted.finditer(block))]).T
    ends = ends[ends >= stops[np.searchsorted(starts, ends) - 1]]
    return int(ends[-1]) + 1 if len(ends) else 0
